//! VkDevice, as applications hold it: the device and its queue.

use std::ops::Deref;
use std::sync::Arc;

use ash::vk;

use super::queue::Queue;
use crate::foundation::error::Error;
use crate::foundation::handle::{Object, OwnedHandle};
use crate::objects::device::Device;

/// A logical device with its only queue. Objects made from it hold the [`Device`]; the queue ends with the handle.
pub struct OpenDevice {
    device: Arc<Device>,
    queue: OwnedHandle<Queue>,
}

impl Object for OpenDevice {
    type Handle = vk::Device;
    const SCOPE: vk::SystemAllocationScope = vk::SystemAllocationScope::DEVICE;
}

impl OpenDevice {
    /// Opens `device`.
    pub fn new(device: Arc<Device>) -> Result<OpenDevice, Error> {
        let queue = OwnedHandle::new(device.allocator(), Queue::new(device.clone()))?;
        Ok(OpenDevice { device, queue })
    }

    /// The queue, and its handle.
    pub fn queue(&self) -> &OwnedHandle<Queue> {
        &self.queue
    }
}

impl Deref for OpenDevice {
    type Target = Arc<Device>;

    fn deref(&self) -> &Arc<Device> {
        &self.device
    }
}
