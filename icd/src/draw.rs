//! Render segments become GPU jobs: bin list, shader records, uniform streams, surfaces (v3d.md §11.1,
//! kernel-abi.md §5).
//!
//! One draw of the API is one or more *pieces*: instances, runs of at most 65535 vertices. Each piece has a shader
//! record of its own, because attribute bases and uniforms stand in it.

mod bindings;
mod geometry;
mod indices;
mod iota;
mod job;
mod packets;
mod record;
mod surfaces;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use vc4::cl::packets::ClipWindow;
use vc4::hw::MAX_DRAWS_PER_BIN_LIST;

use crate::debug::{Debug, flags};
use crate::device::Device;
use crate::error::Error;
use crate::segment::{Draw, DrawCall, DrawParameters, RenderSegment, Start, Target};
use bindings::Bindings;
use geometry::Piece;
pub use iota::Iota;
pub use job::Job;
use job::JobBuilder;

/// Whether submissions are checked before they leave.
pub fn is_strict() -> bool {
    cfg!(debug_assertions) || flags().contains(Debug::STRICT)
}

/// Builds the jobs of a segment and gives them to `submit` in order, each as soon as it is finished.
pub fn build(
    device: &Arc<Device>,
    segment: &RenderSegment,
    submit: &mut dyn FnMut(Job) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut builder =
        Builder { device, target: &segment.target, job: JobBuilder::new(), is_first: true, submit };
    for draw in &segment.draws {
        builder.draw(draw)?;
    }
    builder.finish_job(true)
}

struct Builder<'a> {
    device: &'a Arc<Device>,
    target: &'a Target,
    job: JobBuilder,
    is_first: bool,
    submit: &'a mut dyn FnMut(Job) -> Result<(), Error>,
}

impl Builder<'_> {
    fn draw(&mut self, draw: &Draw) -> Result<(), Error> {
        let Some(compiled) = &draw.state.pipeline.compiled else { return Ok(()) };
        let Some(window) = packets::window(&draw.state, self.target) else { return Ok(()) };
        let bindings = Bindings::new(self.device, &draw.state, compiled)?;
        for call in calls(&draw.call)? {
            let pieces = geometry::pieces(self.device, &bindings, &call)?;
            for instance in 0..if pieces.is_empty() { 0 } else { call.instances } {
                for piece in &pieces {
                    self.make_room()?;
                    self.piece(&bindings, window, piece, call.first_instance.wrapping_add(instance))?;
                }
            }
        }
        Ok(())
    }

    /// Begins another job where the binner's state counters could wrap (HW-2116).
    fn make_room(&mut self) -> Result<(), Error> {
        if self.job.draws() < MAX_DRAWS_PER_BIN_LIST {
            return Ok(());
        }
        self.finish_job(false)
    }

    fn piece(
        &mut self,
        bindings: &Bindings<'_>,
        window: ClipWindow,
        piece: &Piece,
        instance: u32,
    ) -> Result<(), Error> {
        packets::state(&mut self.job, bindings, window)?;
        record::write(self.device, &mut self.job, bindings, piece, instance)?;
        packets::primitives(&mut self.job, bindings.mode(piece), &piece.primitives);
        Ok(())
    }

    fn finish_job(&mut self, is_last: bool) -> Result<(), Error> {
        let target = part(self.target, self.is_first, is_last);
        self.is_first = false;
        let job = std::mem::replace(&mut self.job, JobBuilder::new());
        (self.submit)(job.finish(self.device, &target)?)
    }
}

/// The target of one of several jobs: between them everything is stored and loaded.
fn part(target: &Target, first: bool, last: bool) -> Target {
    let mut part = target.clone();
    if !first {
        part.color_start = Start::Load;
        part.depth_stencil_start = Start::Load;
    }
    if !last {
        part.color_store = part.color.is_some();
        part.depth_stencil_store = part.depth_stencil.is_some();
    }
    part
}

/// The draws of a command; indirect ones are read now.
fn calls(call: &DrawCall) -> Result<Vec<DrawParameters>, Error> {
    let (buffer, offset, count, stride, indexed) = match call {
        DrawCall::Direct(parameters) => return Ok(vec![*parameters]),
        DrawCall::Indirect { buffer, offset, count, stride, indexed } => {
            (buffer, *offset, *count, *stride, *indexed)
        }
    };
    let binding = buffer.binding()?;
    let (mapping, size) = (binding.bo.map()?, if indexed { 20 } else { 16 });
    let read = |index: u32| {
        let at = offset + u64::from(index) * u64::from(stride);
        if at.checked_add(size).is_none_or(|end| end > buffer.size()) {
            return Err(Error::InvalidUse(format!("indirect draw {index} leaves its buffer")));
        }
        let word = |n: u64| mapping.read_u32((binding.offset + at + 4 * n) as usize);
        Ok(DrawParameters {
            count: word(0),
            instances: word(1),
            first: word(2),
            vertex_offset: indexed.then(|| word(3) as i32),
            first_instance: word(size / 4 - 1),
        })
    };
    (0..count).map(read).collect()
}
