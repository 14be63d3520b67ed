//! vkCmdDispatch and vkCmdDispatchIndirect, when they run.

use std::sync::Arc;
use std::time::Instant;

use vc4_shaders_cpu as cpu;

use super::bindings::{Bindings, Bound};
use super::images::{BoundImages, Surfaces};
use super::picture::{self, Request};
use crate::foundation::debug::{Debug, flags, slow, tells_slow};
use crate::foundation::error::Error;
use crate::foundation::limits::MAX_WORKGROUPS;
use crate::foundation::timeout;
use crate::foundation::traffic::Cause;
use crate::objects::buffer::Buffer;
use crate::objects::device::Device;
use crate::objects::memory::Binding;
use crate::objects::query::Drawn;
use crate::pipeline::{ComputePipeline, Rectangles};
use crate::segments::{CpuCommand, Drawing, Part, Touch};

/// How many workgroups.
pub enum Groups {
    /// These.
    Direct(Part),
    /// Three words of a buffer say so when the dispatch runs.
    Indirect {
        /// The buffer.
        buffer: Arc<Buffer>,
        /// First byte.
        offset: u64,
    },
}

/// Bytes of the parameters in memory (VkDispatchIndirectCommand).
const PARAMETER_BYTES: u64 = 12;

impl Groups {
    fn part(&self) -> Result<Part, Error> {
        let part = match self {
            Groups::Direct(part) => *part,
            Groups::Indirect { buffer, offset } => {
                let (memory, at) = buffer.access(*offset, PARAMETER_BYTES, Cause::Indirect)?;
                Part { first: [0; 3], groups: [0, 4, 8].map(|byte| memory.read_u32(at + byte)) }
            }
        };
        let mut axes = part.first.iter().zip(&part.groups);
        match axes.all(|(first, count)| first.checked_add(*count).is_some_and(|end| end <= MAX_WORKGROUPS)) {
            true => Ok(part),
            false => {
                let Part { first, groups } = part;
                let what =
                    format!("{groups:?} workgroups from {first:?} on; at most {MAX_WORKGROUPS} an axis");
                Err(Error::InvalidUse(what))
            }
        }
    }
}

/// A dispatch with the state of its recording.
pub struct Dispatch {
    /// What runs.
    pub pipeline: Arc<ComputePipeline>,
    /// What it works on.
    pub bindings: Bindings,
    /// Push constants.
    pub push: Vec<u32>,
    /// How often.
    pub groups: Groups,
}

impl CpuCommand for Dispatch {
    fn describe(&self) -> String {
        let of = self.pipeline.name.get().map_or(String::new(), |name| format!(" of {name:?}"));
        match &self.groups {
            Groups::Direct(Part { first: [0, 0, 0], groups: [x, y, z] }) => {
                format!("dispatch{of} {x} x {y} x {z} workgroups")
            }
            Groups::Direct(Part { first, groups: [x, y, z] }) => {
                format!("dispatch{of} {x} x {y} x {z} workgroups from {first:?} on")
            }
            Groups::Indirect { buffer, offset } => {
                format!("dispatch{of} as byte {offset} of buffer{} says", buffer.name())
            }
        }
    }

    fn touches(&self) -> Touch {
        let kernel = self.pipeline.kernel();
        let buffers = kernel.buffers().iter().filter_map(|place| self.bindings.memory(*place));
        let images = kernel.images().iter().filter_map(super::images::image);
        let images = images.filter_map(|place| self.bindings.memory(place));
        let mut spans: Vec<_> = buffers.chain(images).collect();
        if let Groups::Indirect { buffer, .. } = &self.groups {
            spans.extend(buffer.binding().ok().map(Binding::span));
        }
        Touch::Memory(spans)
    }

    fn run(&self, device: &Arc<Device>) -> Result<(), Error> {
        let part = self.groups.part()?;
        match part.groups.contains(&0) {
            true => Ok(()),
            false => self.run_part(device, &part),
        }
    }

    fn drawn(&self) -> Result<Drawn, Error> {
        let workgroup = self.pipeline.kernel().workgroup();
        let sizes = self.groups.part()?.groups.into_iter().chain(workgroup.size);
        let invocations = sizes.map(u64::from).fold(1, u64::saturating_mul);
        Ok(Drawn { invocations, ..Drawn::default() })
    }

    fn may_be_drawn(&self) -> bool {
        self.pipeline.drawn().is_some()
    }

    fn drawing(&self, rectangles: &mut Rectangles) -> Result<Option<Drawing>, Error> {
        let drawing = match self.groups {
            Groups::Direct(Part { first: [0, 0, 0], groups }) => {
                // Too many for the CPU are too many for all.
                self.groups.part()?;
                let request =
                    Request { pipeline: &self.pipeline, bindings: &self.bindings, push: &self.push, groups };
                picture::drawing(&request, rectangles)
            }
            Groups::Direct(_) => Err("its first workgroup is not the first of all".into()),
            Groups::Indirect { .. } => Err("its parameters are in memory".into()),
        };
        match &drawing {
            Ok(drawing) if flags().contains(Debug::PERF) => {
                eprintln!("perf: {} is drawn by {} jobs", self.describe(), drawing.renders.len());
            }
            Err(why) if tells_slow() => slow(format_args!("{} runs on the CPU: {why}", self.describe())),
            _ => {}
        }
        Ok(drawing.ok())
    }

    fn run_part(&self, _: &Arc<Device>, part: &Part) -> Result<(), Error> {
        let count = self.groups.part()?.groups;
        let kernel = self.pipeline.kernel();
        let buffers = kernel.buffers().iter().map(|place| self.bindings.range(*place));
        let buffers = buffers.collect::<Result<Vec<_>, Error>>()?;
        let surfaces = Surfaces::new(kernel.images(), &self.bindings)?;
        let images = BoundImages::new(kernel.images(), &surfaces, &self.bindings);
        let dispatch = cpu::Dispatch {
            base: part.first,
            groups: part.groups,
            count,
            push: &self.push,
            buffers: &buffers,
            images: &images,
            deadline: timeout::compute().and_then(|most| Instant::now().checked_add(most)),
        };
        // SAFETY: the ranges lie in mapped BOs: the bindings hold the buffers, whose memory stays while they do, and
        // `Bindings::range` cut them to it; rows are those of images that are bound. That nobody else accesses it in ways that Vulkan forbids is the
        // application's affair, and this thread has waited for the GPU.
        let run = unsafe { kernel.run(&dispatch) };
        run.map_err(|halt| Error::Dispatch(format!("{}: {halt}", self.describe())))
    }
}
