//! What commands bind and set, and the snapshot of it that a draw keeps.

use std::sync::Arc;

use ash::vk;
use smallvec::SmallVec;

use crate::foundation::error::Error;
use crate::foundation::limits::{MAX_ATTRIBUTES, MAX_PUSH_BYTES, MAX_SETS};
use crate::objects::buffer::Buffer;
use crate::objects::descriptor::{Descriptor, DescriptorSet, SetLayout};
use crate::pipeline::Pipeline;
use crate::pipeline::dynamic::Dynamic;
use crate::pipeline::kinds::Switches;
use crate::segments::{DrawCall, DrawList, DrawState, IndexBinding};

bitflags::bitflags! {
    /// State that changed since the last draw.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Changed: u8 {
        const SWITCHES = 64;
        const PIPELINE = 1;
        const DYNAMIC = 2;
        const VERTICES = 4;
        const INDICES = 8;
        const SETS = 16;
        const PUSH = 32;
    }
}

/// A bound descriptor set with its share of the dynamic offsets.
struct BoundSet {
    set: Arc<DescriptorSet>,
    offsets: SmallVec<[u32; 4]>,
}

/// What is bound and set while recording.
pub struct State {
    changed: Changed,
    pipeline: Option<Arc<Pipeline>>,
    /// What stands for it with the switches of the last draw.
    kind: Option<Arc<Pipeline>>,
    switches: Switches,
    dynamic: Dynamic,
    vertices: [Option<(Arc<Buffer>, u64)>; MAX_ATTRIBUTES as usize],
    indices: Option<IndexBinding>,
    sets: [Option<BoundSet>; MAX_SETS as usize],
    /// Those of `sets` that changed: bit n for set n.
    changed_sets: u32,
    push: [u32; MAX_PUSH_BYTES as usize / 4],
    /// Words up to the last that was ever pushed.
    pushed: usize,
}

impl Default for State {
    fn default() -> Self {
        State {
            changed: Changed::all(),
            pipeline: None,
            kind: None,
            switches: Switches::default(),
            dynamic: Dynamic::default(),
            vertices: Default::default(),
            indices: None,
            sets: Default::default(),
            changed_sets: u32::MAX,
            push: [0; MAX_PUSH_BYTES as usize / 4],
            pushed: 0,
        }
    }
}

impl State {
    /// Binds a graphics pipeline.
    pub fn bind_pipeline(&mut self, pipeline: &Arc<Pipeline>) {
        if !self.pipeline.as_ref().is_some_and(|old| Arc::ptr_eq(old, pipeline)) {
            self.pipeline = Some(pipeline.clone());
            self.changed |= Changed::PIPELINE;
        }
    }

    /// Samples of a pixel, as the pipeline says.
    pub fn samples(&self) -> Option<u32> {
        self.pipeline.as_ref().and_then(|pipeline| pipeline.samples())
    }

    /// The state that commands set.
    pub fn dynamic(&mut self) -> &mut Dynamic {
        self.changed |= Changed::DYNAMIC;
        &mut self.dynamic
    }

    /// The state that makes pipelines of other kinds.
    pub fn switches(&mut self) -> &mut Switches {
        self.changed |= Changed::SWITCHES;
        &mut self.switches
    }

    /// Binds sets from number `first` on; they share the dynamic offsets in order.
    #[inline]
    pub fn bind_sets<'a>(
        &mut self,
        first: u32,
        sets: impl Iterator<Item = &'a Arc<DescriptorSet>>,
        mut dynamic: &[u32],
    ) -> Result<(), Error> {
        for (index, set) in sets.enumerate() {
            let count = set.layout().dynamics() as usize;
            let few = || Error::InvalidUse(format!("descriptor set {index} lacks dynamic offsets"));
            let (own, rest) = dynamic.split_at_checked(count).ok_or_else(few)?;
            dynamic = rest;
            let many = || Error::InvalidUse(format!("set number {first} + {index} of {MAX_SETS}"));
            let place = self.sets.get_mut(first as usize + index).ok_or_else(many)?;
            match place {
                Some(old) if Arc::ptr_eq(&old.set, set) => {
                    // A comparison of slices is a call.
                    if old.offsets.iter().eq(own) {
                        continue;
                    }
                    old.offsets.copy_from_slice(own);
                }
                place => *place = Some(BoundSet { set: set.clone(), offsets: own.into() }),
            }
            self.changed |= Changed::SETS;
            self.changed_sets |= 1 << (first as usize + index);
        }
        Ok(())
    }

    /// Pushes descriptors to a set: those of the last push of the same layout stay where nothing is written.
    pub fn push_descriptors(
        &mut self,
        number: u32,
        layout: &Arc<SetLayout>,
        writes: Vec<(u32, u32, Vec<Descriptor>)>,
    ) -> Result<(), Error> {
        let many = || Error::InvalidUse(format!("set number {number} of {MAX_SETS}"));
        let place = self.sets.get_mut(number as usize).ok_or_else(many)?;
        let set = DescriptorSet::pushed(place.as_ref().map(|old| &*old.set), layout, writes)?;
        *place = Some(BoundSet { set: Arc::new(set), offsets: SmallVec::new() });
        self.changed |= Changed::SETS;
        self.changed_sets |= 1 << number;
        Ok(())
    }

    /// Binds vertex buffers from binding `first` on.
    pub fn bind_vertices<'a>(
        &mut self,
        first: u32,
        buffers: impl Iterator<Item = (&'a Arc<Buffer>, u64)>,
    ) -> Result<(), Error> {
        for (index, (buffer, offset)) in buffers.enumerate() {
            let many = || Error::InvalidUse(format!("vertex binding {first} + {index} of {MAX_ATTRIBUTES}"));
            let place = self.vertices.get_mut(first as usize + index).ok_or_else(many)?;
            match place {
                Some((old, at)) if Arc::ptr_eq(old, buffer) && *at == offset => continue,
                Some((old, at)) if Arc::ptr_eq(old, buffer) => *at = offset,
                place => *place = Some((buffer.clone(), offset)),
            }
            self.changed |= Changed::VERTICES;
        }
        Ok(())
    }

    /// Binds an index buffer.
    pub fn bind_indices(&mut self, buffer: &Arc<Buffer>, offset: u64, ty: vk::IndexType) {
        match &mut self.indices {
            Some(old) if Arc::ptr_eq(&old.buffer, buffer) => {
                if (old.offset, old.ty) == (offset, ty) {
                    return;
                }
                (old.offset, old.ty) = (offset, ty);
            }
            place => *place = Some(IndexBinding { buffer: buffer.clone(), offset, ty }),
        }
        self.changed |= Changed::INDICES;
    }

    /// Sets push constants.
    pub fn push(&mut self, offset: u32, values: &[u8]) -> Result<(), Error> {
        let start = offset as usize;
        let outside = || Error::InvalidUse(format!("{} bytes of push constants at {offset}", values.len()));
        let end = start.checked_add(values.len()).ok_or_else(outside)?;
        let bytes = bytemuck::cast_slice_mut::<u32, u8>(&mut self.push);
        bytes.get_mut(start..end).ok_or_else(outside)?.copy_from_slice(values);
        self.pushed = self.pushed.max(end.div_ceil(4));
        self.changed |= Changed::PUSH;
        Ok(())
    }

    /// Appends a draw with the state of this moment.
    #[inline]
    pub fn draw(&mut self, list: &mut DrawList, call: DrawCall) -> Result<(), Error> {
        if !self.changed.is_empty() || list.is_empty() {
            self.write(list)?;
        }
        list.push(call);
        Ok(())
    }

    /// Writes the pipeline that draws with the switches of this moment, and what it leaves to commands. Out of line: it happens
    /// once for many draws.
    #[cold]
    #[inline(never)]
    fn rebind(&mut self, list: &mut DrawList, changed: Changed, state: &mut DrawState) -> Result<(), Error> {
        let pipeline = self.pipeline.as_ref().ok_or_else(unbound)?;
        let rebound = changed.intersects(Changed::PIPELINE) || pipeline.has_kinds();
        if rebound {
            let kind = pipeline.kind(&self.switches)?;
            state.pipeline = list.add_pipeline(&kind);
            self.kind = Some(kind);
        }
        if rebound || changed.intersects(Changed::DYNAMIC) {
            let kind = self.kind.as_ref().unwrap_or(pipeline);
            state.dynamic = list.add_dynamic(kind.fix(self.dynamic));
        }
        Ok(())
    }

    /// Writes what changed since the last draw of `list`, everything if it has none.
    #[inline(never)]
    fn write(&mut self, list: &mut DrawList) -> Result<(), Error> {
        let last = list.last();
        // A list knows nothing of those before it.
        let (changed, sets) = match last {
            Some(_) => (self.changed, self.changed_sets),
            None => (Changed::all(), u32::MAX),
        };
        let mut state = last.unwrap_or(DrawState::NOTHING);
        if changed.intersects(Changed::PIPELINE | Changed::SWITCHES) {
            self.rebind(list, changed, &mut state)?;
        } else if changed.intersects(Changed::DYNAMIC) {
            let kind = self.kind.as_ref().ok_or_else(unbound)?;
            state.dynamic = list.add_dynamic(kind.fix(self.dynamic));
        }
        if changed.intersects(Changed::VERTICES) {
            state.vertices = list.add_vertices(&self.vertices);
        }
        if changed.intersects(Changed::INDICES) {
            state.indices = list.add_indices(self.indices.as_ref());
        }
        if changed.intersects(Changed::SETS) {
            let bound =
                |number: usize| self.sets[number].as_ref().map(|bound| (&bound.set, &bound.offsets[..]));
            state.sets = list.add_sets(state.sets, sets, bound);
            self.changed_sets = 0;
        }
        if changed.intersects(Changed::PUSH) {
            state.push = list.add_push(&self.push[..self.pushed]);
        }
        self.changed = Changed::empty();
        list.add_state(state);
        Ok(())
    }
}

#[cold]
fn unbound() -> Error {
    Error::InvalidUse("a draw without a pipeline".into())
}
