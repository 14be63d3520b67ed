//! VkQueue: submissions in order.

use std::sync::Arc;

use ash::vk;
use vc4_kernel_abi::Seqno;

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

/// Something that the queue calls in its turn. The argument is the last job that was submitted to the device before.
pub type Call = Box<dyn FnOnce(Option<Seqno>) + Send>;

/// What the queue does, in the order of pushing.
pub enum Work {
    /// A call, for presentation.
    Call {
        /// Semaphores waited for before.
        waits: Vec<Arc<Semaphore>>,
        /// The call.
        run: Call,
    },
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

    /// Appends work.
    pub fn push(&self, work: Work) -> Result<(), Error> {
        self.device.check()?;
        let Work::Call { waits, run } = work;
        for semaphore in &waits {
            semaphore.wait(&self.device)?;
        }
        run(None);
        Ok(())
    }

    /// vkQueueWaitIdle.
    pub fn wait_idle(&self) -> Result<(), Error> {
        self.device.check()
    }
}
