//! What a workgroup has of its own: shared memory, everyone's scratch memory, and everyone's place.

use crate::ir::interface::{Invocation, SUBGROUP};
use crate::ir::memory::Workgroup;

/// A workgroup's memories and its place in the dispatch.
#[derive(Debug)]
pub struct Local {
    size: [u32; 3],
    id: [u32; 3],
    count: [u32; 3],
    shared: Vec<u32>,
    /// One invocation's after the other.
    scratch: Vec<u32>,
    scratch_words: usize,
}

impl Local {
    /// Those of workgroup `id` of `count`, which has `elements` invocations. What memory holds at first is arbitrary.
    pub fn new(workgroup: &Workgroup, elements: usize, id: [u32; 3], count: [u32; 3]) -> Local {
        let words = |bytes: u32| bytes as usize / 4;
        let scratch_words = words(workgroup.scratch_bytes);
        Local {
            size: workgroup.size,
            id,
            count,
            shared: vec![0xdead_beef; words(workgroup.shared_bytes)],
            scratch: vec![0xbad_cafe; scratch_words * elements],
            scratch_words,
        }
    }

    /// The word of shared memory at a byte; `None` outside.
    pub fn shared(&mut self, place: u32) -> Option<&mut u32> {
        self.shared.get_mut(place as usize / 4)
    }

    /// The word of an element's scratch memory at a byte; `None` outside.
    pub fn scratch(&mut self, element: usize, place: u32) -> Option<&mut u32> {
        let all = self.scratch.get_mut(element * self.scratch_words..(element + 1) * self.scratch_words)?;
        all.get_mut(place as usize / 4)
    }

    /// What an element knows of its place.
    pub fn place(&self, what: Invocation, element: usize) -> u32 {
        let index = element as u32;
        let axis = |axis: u8| usize::from(axis).min(2);
        let [x, y, _] = self.size.map(|size| size.max(1));
        match what {
            Invocation::WorkgroupId(number) => self.id[axis(number)],
            Invocation::WorkgroupCount(number) => self.count[axis(number)],
            Invocation::LocalId(number) => [index % x, index / x % y, index / x / y][axis(number)],
            Invocation::LocalIndex => index,
            Invocation::SubgroupInvocation => index % SUBGROUP,
            Invocation::SubgroupId => index / SUBGROUP,
        }
    }
}
