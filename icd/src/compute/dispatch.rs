//! vkCmdDispatch and vkCmdDispatchIndirect, when they run.

use std::sync::Arc;
use std::time::Instant;

use vc4_shaders_cpu as cpu;

use super::bindings::Bindings;
use super::images::{BoundImages, Surfaces};
use crate::foundation::error::Error;
use crate::foundation::limits::MAX_WORKGROUPS;
use crate::foundation::timeout;
use crate::objects::buffer::Buffer;
use crate::objects::device::Device;
use crate::pipeline::ComputePipeline;
use crate::segments::{CpuCommand, Touch};

/// How many workgroups.
pub enum Groups {
    /// As many along each axis.
    Direct([u32; 3]),
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
    fn count(&self) -> Result<[u32; 3], Error> {
        let groups = match self {
            Groups::Direct(groups) => *groups,
            Groups::Indirect { buffer, offset } => {
                let (mapping, at) = buffer.place(*offset, PARAMETER_BYTES)?;
                [0, 4, 8].map(|byte| mapping.read_u32(at + byte))
            }
        };
        match groups.iter().all(|count| *count <= MAX_WORKGROUPS) {
            true => Ok(groups),
            false => {
                Err(Error::InvalidUse(format!("{groups:?} workgroups; at most {MAX_WORKGROUPS} an axis")))
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
        match &self.groups {
            Groups::Direct([x, y, z]) => format!("dispatch {x} x {y} x {z} workgroups"),
            Groups::Indirect { offset, .. } => format!("dispatch as byte {offset} of a buffer says"),
        }
    }

    fn touches(&self) -> Touch {
        let kernel = self.pipeline.kernel();
        let buffers = kernel.buffers().iter().filter_map(|place| self.bindings.memory(*place));
        let images = kernel.images().iter().filter_map(super::images::image);
        let images = images.filter_map(|place| self.bindings.memory(place));
        let mut bos: Vec<_> = buffers.chain(images).collect();
        if let Groups::Indirect { buffer, .. } = &self.groups {
            bos.extend(buffer.binding().ok().map(|binding| binding.bo.handle()));
        }
        bos.sort_unstable_by_key(|bo| bo.0);
        bos.dedup();
        Touch::Bos(bos)
    }

    fn run(&self, _: &Arc<Device>) -> Result<(), Error> {
        let groups = self.groups.count()?;
        if groups.contains(&0) {
            return Ok(());
        }
        let kernel = self.pipeline.kernel();
        let buffers = kernel.buffers().iter().map(|place| self.bindings.range(*place));
        let buffers = buffers.collect::<Result<Vec<_>, Error>>()?;
        let surfaces = Surfaces::new(kernel.images(), &self.bindings)?;
        let images = BoundImages::new(kernel.images(), &surfaces, &self.bindings);
        let dispatch = cpu::Dispatch {
            base: [0; 3],
            groups,
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
