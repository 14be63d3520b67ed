//! Devices for unit tests.

use std::sync::Arc;

use crate::device::Device;
use crate::object::HostAllocator;
use crate::physical_device::PhysicalDevice;

/// A device of its own.
pub fn device() -> Arc<Device> {
    let gpu = Arc::new(crate::plain_gpu::PlainGpu::default());
    let physical = Arc::new(PhysicalDevice::new(gpu, HostAllocator::default()));
    let device = Device::new(physical, Vec::new(), Default::default(), HostAllocator::default());
    Arc::new(device.expect("no features are asked for"))
}
