//! What commands bind at the compute bind point, and the snapshot of it that a dispatch keeps. It is apart from what draws
//! look at.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::compute::bindings::{Bindings, BoundSet};
use crate::compute::dispatch::{Dispatch, Groups};
use crate::foundation::error::Error;
use crate::foundation::limits::{MAX_PUSH_BYTES, MAX_SETS};
use crate::objects::descriptor::{Descriptor, DescriptorSet, SetLayout};
use crate::pipeline::ComputePipeline;

/// A bound descriptor set with its share of the dynamic offsets.
struct Set {
    set: Arc<DescriptorSet>,
    offsets: SmallVec<[u32; 4]>,
}

/// What is bound for dispatches while recording.
#[derive(Default)]
pub struct ComputeState {
    pipeline: Option<Arc<ComputePipeline>>,
    sets: [Option<Set>; MAX_SETS as usize],
    push: Vec<u32>,
}

impl ComputeState {
    /// Binds a pipeline.
    pub fn bind_pipeline(&mut self, pipeline: &Arc<ComputePipeline>) {
        self.pipeline = Some(pipeline.clone());
    }

    fn place(&mut self, number: usize) -> Result<&mut Option<Set>, Error> {
        let many = || Error::InvalidUse(format!("set number {number} of {MAX_SETS}"));
        self.sets.get_mut(number).ok_or_else(many)
    }

    /// Binds sets from number `first` on; they share the dynamic offsets in order.
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
            *self.place(first as usize + index)? = Some(Set { set: set.clone(), offsets: own.into() });
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
        let place = self.place(number as usize)?;
        let set = DescriptorSet::pushed(place.as_ref().map(|old| &*old.set), layout, writes)?;
        *place = Some(Set { set: Arc::new(set), offsets: SmallVec::new() });
        Ok(())
    }

    /// Sets push constants.
    pub fn push(&mut self, offset: u32, values: &[u8]) -> Result<(), Error> {
        let start = offset as usize;
        let end = start.checked_add(values.len()).filter(|end| *end <= MAX_PUSH_BYTES as usize);
        let outside = || Error::InvalidUse(format!("{} bytes of push constants at {offset}", values.len()));
        let end = end.ok_or_else(outside)?;
        if self.push.len() < end.div_ceil(4) {
            self.push.resize(end.div_ceil(4), 0);
        }
        bytemuck::cast_slice_mut::<u32, u8>(&mut self.push)[start..end].copy_from_slice(values);
        Ok(())
    }

    /// A dispatch with the state of this moment.
    pub fn dispatch(&self, groups: Groups) -> Result<Dispatch, Error> {
        let unbound = || Error::InvalidUse("a dispatch without a pipeline".into());
        let bound = |bound: &Set| BoundSet {
            set: bound.set.clone(),
            content: bound.set.content(),
            offsets: bound.offsets.clone(),
        };
        Ok(Dispatch {
            pipeline: self.pipeline.clone().ok_or_else(unbound)?,
            bindings: Bindings { sets: self.sets.iter().map(|set| set.as_ref().map(bound)).collect() },
            push: self.push.clone(),
            groups,
        })
    }
}
