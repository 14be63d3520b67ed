//! The descriptors of a dispatch or a draw, and the memory behind them.

use std::sync::Arc;

use smallvec::SmallVec;
use vc4_shaders::binding;
use vc4_shaders_cpu::Range;

use crate::foundation::error::Error;
use crate::objects::buffer::Buffer;
use crate::objects::descriptor::{Descriptor, DescriptorSet, Descriptors};
use crate::objects::memory;
use crate::segments::Snapshot;

/// A bound set with its share of the dynamic offsets, and what it held when the dispatch was recorded: sets must not
/// change between binding and execution.
pub struct BoundSet {
    /// The set.
    pub set: Arc<DescriptorSet>,
    /// Its content.
    pub content: Descriptors,
    /// Its dynamic offsets.
    pub offsets: SmallVec<[u32; 4]>,
}

/// The sets of a dispatch, by number.
#[derive(Default)]
pub struct Bindings {
    /// The sets.
    pub sets: Vec<Option<BoundSet>>,
}

/// Where a kernel finds what it works on.
pub trait Bound {
    /// A descriptor and its dynamic offset. What is not bound is as what was never written.
    fn find(&self, place: binding::Descriptor) -> (&Descriptor, u32);

    /// The bytes that a buffer descriptor binds; none if it was never written.
    fn range(&self, place: binding::Descriptor) -> Result<Range, Error> {
        let (Descriptor::Buffer { buffer, offset, range }, dynamic) = self.find(place) else {
            return Ok(Range::EMPTY);
        };
        bytes(buffer, offset.saturating_add(dynamic.into()), *range)
    }
}

impl Bound for Bindings {
    fn find(&self, place: binding::Descriptor) -> (&Descriptor, u32) {
        self.written(place).unwrap_or((&Descriptor::Empty, 0))
    }
}

impl Bound for Snapshot<'_> {
    fn find(&self, place: binding::Descriptor) -> (&Descriptor, u32) {
        let bound = self.descriptor(place.set, place.binding, place.element);
        bound.map_or((&Descriptor::Empty, 0), |bound| (bound.descriptor, bound.offset))
    }
}

impl Bindings {
    fn written(&self, place: binding::Descriptor) -> Option<(&Descriptor, u32)> {
        let bound = self.sets.get(place.set as usize)?.as_ref()?;
        let binding = bound.set.layout().binding(place.binding)?;
        if place.element >= binding.slots() {
            return None;
        }
        let descriptor = bound.content.get((binding.slot + place.element) as usize)?;
        let dynamic = binding.is_dynamic().then(|| (binding.dynamic + place.element) as usize);
        let offset = dynamic.map_or(Some(0), |dynamic| bound.offsets.get(dynamic).copied())?;
        Some((descriptor, offset))
    }

    /// The memory behind a descriptor.
    pub(super) fn memory(&self, place: binding::Descriptor) -> Option<memory::Span> {
        let binding: Result<&memory::Binding, Error> = match self.find(place).0 {
            Descriptor::Empty | Descriptor::Sampler(_) => return None,
            Descriptor::Image { view, .. } => view.as_ref()?.image.binding(),
            Descriptor::Buffer { buffer, .. } => buffer.binding(),
            Descriptor::Texels(view) => view.buffer.binding(),
        };
        binding.ok().map(memory::Binding::span)
    }
}

/// At most `range` bytes of a buffer from `start` on.
fn bytes(buffer: &Buffer, start: u64, range: u64) -> Result<Range, Error> {
    let bytes = buffer.clamp(start, range);
    if bytes == 0 {
        return Ok(Range::EMPTY);
    }
    if start % 4 != 0 {
        return Err(Error::InvalidUse(format!("a buffer bound at byte {start}, which is no multiple of 4")));
    }
    let (mapping, at) = buffer.place(start, bytes)?;
    // A BO has less than 4 GiB.
    Ok(Range { address: mapping.as_ptr().wrapping_add(at), bytes: u32::try_from(bytes).unwrap_or(u32::MAX) })
}
