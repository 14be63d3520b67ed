//! Devices for unit tests.

use std::sync::Arc;

use ash::vk;
use vc4_kernel_abi::{Gpu, Noop};

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
    device_on(Arc::new(vc4_sim::Simulator::sharing(vc4_sim::Config::default()).expect("there is memory")))
}

/// A device on this GPU.
pub fn device_on(gpu: Arc<dyn Gpu>) -> Arc<Device> {
    of(gpu, Default::default())
}

/// As [`device`], with these features.
pub fn device_with(features: vk::PhysicalDeviceFeatures) -> Arc<Device> {
    of(Arc::new(Noop::new()), features)
}

fn of(gpu: Arc<dyn Gpu>, features: vk::PhysicalDeviceFeatures) -> Arc<Device> {
    let physical = Arc::new(PhysicalDevice::new(gpu, API_VERSION, 0, HostAllocator::default()));
    let device = Device::new(physical, Vec::new(), features, HostAllocator::default());
    Arc::new(device.expect("features that there are"))
}
