//! VkQueue: submissions in order.

use std::sync::Arc;

use ash::vk;

use crate::command_buffer::CommandBuffer;
use crate::device::Device;
use crate::error::Error;
use crate::object::Object;
use crate::sync::{Fence, Semaphore};

/// One VkSubmitInfo.
#[derive(Default)]
pub struct Batch {
    /// Semaphores waited for before anything of the batch runs.
    pub waits: Vec<Arc<Semaphore>>,
    /// Primary command buffers.
    pub command_buffers: Vec<Arc<CommandBuffer>>,
    /// Semaphores signalled at its end.
    pub signals: Vec<Arc<Semaphore>>,
}

/// The queue of a device.
pub struct Queue {
    device: Arc<Device>,
}

impl Object for Queue {
    type Handle = vk::Queue;
    const SCOPE: vk::SystemAllocationScope = vk::SystemAllocationScope::DEVICE;
}

impl Queue {
    /// Starts the queue of `device`.
    pub fn new(device: Arc<Device>) -> Arc<Queue> {
        Arc::new(Queue { device })
    }

    /// Its device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// vkQueueSubmit.
    pub fn submit(&self, batches: Vec<Batch>, fence: Option<Arc<Fence>>) -> Result<(), Error> {
        self.device.check()?;
        for batch in batches {
            for semaphore in &batch.waits {
                semaphore.wait(&self.device)?;
            }
            if let Some(index) = batch.command_buffers.iter().position(|buffer| !buffer.is_executable()) {
                return Err(Error::InvalidUse(format!(
                    "command buffer {index} of a batch is not executable"
                )));
            }
            batch.signals.iter().for_each(|semaphore| semaphore.signal());
        }
        if let Some(fence) = fence {
            fence.signal();
        }
        Ok(())
    }

    /// vkQueueWaitIdle.
    pub fn wait_idle(&self) -> Result<(), Error> {
        self.device.check()
    }
}
