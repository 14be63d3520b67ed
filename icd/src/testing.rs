//! Devices for unit tests.

use std::sync::Arc;

use ash::vk;
use vc4_kernel_abi::Noop;

use crate::foundation::handle::HostAllocator;
use crate::foundation::limits::API_VERSION;
use crate::objects::device::Device;
use crate::objects::physical_device::PhysicalDevice;

/// A device of its own.
pub fn device() -> Arc<Device> {
    device_with(Default::default())
}

/// A device whose BOs others can see.
pub fn sharing_device() -> Arc<Device> {
    let gpu = Arc::new(vc4_sim::Simulator::sharing(vc4_sim::Config::default()).expect("there is memory"));
    let physical = Arc::new(PhysicalDevice::new(gpu, API_VERSION, 0, HostAllocator::default()));
    let device = Device::new(physical, Vec::new(), Default::default(), HostAllocator::default());
    Arc::new(device.expect("no features are asked for"))
}

/// As [`device`], with these features.
pub fn device_with(features: vk::PhysicalDeviceFeatures) -> Arc<Device> {
    let gpu = Arc::new(Noop::new());
    let physical = Arc::new(PhysicalDevice::new(gpu, API_VERSION, 0, HostAllocator::default()));
    let device = Device::new(physical, Vec::new(), features, HostAllocator::default());
    Arc::new(device.expect("features that there are"))
}
