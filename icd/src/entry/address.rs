//! Addresses of buffers: Vulkan 1.2 has the commands, and this driver no such feature, as programs address buffers by
//! descriptors.

use ash::vk;

use crate::foundation::error::Error;

/// Refuses a command, which has no other way of saying so than the null address.
fn refuse(command: &str) -> u64 {
    Error::FeatureNotPresent("buffer_device_address").report(command);
    0
}

#[allow(non_snake_case, reason = "the API's own name")]
pub(crate) unsafe extern "system" fn vkGetBufferDeviceAddress(
    _device: vk::Device,
    _info: *const vk::BufferDeviceAddressInfo<'_>,
) -> vk::DeviceAddress {
    refuse("vkGetBufferDeviceAddress")
}

#[allow(non_snake_case, reason = "the API's own name")]
pub(crate) unsafe extern "system" fn vkGetBufferOpaqueCaptureAddress(
    _device: vk::Device,
    _info: *const vk::BufferDeviceAddressInfo<'_>,
) -> u64 {
    refuse("vkGetBufferOpaqueCaptureAddress")
}

#[allow(non_snake_case, reason = "the API's own name")]
pub(crate) unsafe extern "system" fn vkGetDeviceMemoryOpaqueCaptureAddress(
    _device: vk::Device,
    _info: *const vk::DeviceMemoryOpaqueCaptureAddressInfo<'_>,
) -> u64 {
    refuse("vkGetDeviceMemoryOpaqueCaptureAddress")
}
