//! VK_KHR_device_group_creation and VK_KHR_device_group: every group is one device.

use ash::vk;

use super::guard::entry_points;
use super::read::{enumerate_into, slice};
use crate::execution::open_device::OpenDevice;
use crate::foundation::error::Error;
use crate::foundation::handle::get;
use crate::objects::instance::Instance;
use crate::recording::command_buffer::CommandBuffer;

/// The mask of the only device.
const MASK: u32 = 1;

/// Refuses a group that a device cannot be made of.
///
/// # Safety
/// The structure is valid.
pub(super) unsafe fn check(
    info: &vk::DeviceGroupDeviceCreateInfo<'_>,
    physical: vk::PhysicalDevice,
) -> Result<(), Error> {
    // SAFETY: by the contract.
    let devices = unsafe { slice(info.p_physical_devices, info.physical_device_count) };
    match devices.is_empty() || devices == [physical] {
        true => Ok(()),
        false => {
            Err(Error::InvalidUse(format!("a device of {} others; every group is one device", devices.len())))
        }
    }
}

entry_points! {
    fn vkEnumeratePhysicalDeviceGroupsKHR(
        instance: vk::Instance,
        count: *mut u32,
        out: *mut vk::PhysicalDeviceGroupProperties<'_>,
    ) -> vk::Result {
        let devices = get::<Instance>(instance).physical_devices()?;
        Ok(enumerate_into(count, out, devices, |out, device| {
            out.physical_device_count = 1;
            out.physical_devices = Default::default();
            out.physical_devices[0] = device.handle();
            out.subset_allocation = vk::FALSE;
        }))
    }

    fn vkGetDeviceGroupPeerMemoryFeaturesKHR(
        _device: vk::Device,
        _heap: u32,
        _local: u32,
        _remote: u32,
        out: *mut vk::PeerMemoryFeatureFlags,
    ) {
        // Local and remote device must differ, and there is but one.
        out.write(vk::PeerMemoryFeatureFlags::empty());
    }

    fn vkCmdSetDeviceMaskKHR(commands: vk::CommandBuffer, mask: u32) {
        if mask != MASK {
            let why = format!("the device mask {mask:#x}; a group is one device");
            get::<CommandBuffer>(commands).fail("vkCmdSetDeviceMask", Error::InvalidUse(why));
        }
    }

    fn vkCmdDispatchBaseKHR(
        commands: vk::CommandBuffer,
        first_x: u32,
        first_y: u32,
        first_z: u32,
        x: u32,
        y: u32,
        z: u32,
    ) {
        get::<CommandBuffer>(commands).dispatch([first_x, first_y, first_z], [x, y, z]);
    }

    fn vkGetDeviceGroupPresentCapabilitiesKHR(
        _device: vk::Device,
        out: *mut vk::DeviceGroupPresentCapabilitiesKHR<'_>,
    ) -> vk::Result {
        (*out).present_mask = Default::default();
        (*out).present_mask[0] = MASK;
        (*out).modes = vk::DeviceGroupPresentModeFlagsKHR::LOCAL;
        Ok(())
    }

    fn vkGetDeviceGroupSurfacePresentModesKHR(
        device: vk::Device,
        _surface: vk::SurfaceKHR,
        out: *mut vk::DeviceGroupPresentModeFlagsKHR,
    ) -> vk::Result {
        get::<OpenDevice>(device).check()?;
        out.write(vk::DeviceGroupPresentModeFlagsKHR::LOCAL);
        Ok(())
    }
}
