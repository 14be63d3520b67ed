//! VK_KHR_display, VK_KHR_get_display_properties2, VK_EXT_direct_mode_display and VK_EXT_acquire_drm_display.

use std::os::fd::BorrowedFd;

use ash::vk;

use super::guard::entry_points;
use super::read::{enumerate, enumerate_into};
use super::wsi::give_surface;
use crate::foundation::error::Error;
use crate::foundation::handle::get;
use crate::objects::display::{Display, DisplayInfo, DisplayMode, Kms};
use crate::objects::instance::Instance;
use crate::objects::physical_device::PhysicalDevice;
use crate::presentation::Surface;

/// The displays that are plugged in; none where the device has no display driver.
fn displays(device: &PhysicalDevice) -> Result<Vec<DisplayInfo>, Error> {
    device.displays().map_or(Ok(Vec::new()), |displays| displays.connected())
}

/// The planes, each with the display that it shows pictures on.
fn planes(device: &PhysicalDevice) -> Result<Vec<vk::DisplayPlanePropertiesKHR>, Error> {
    let Some(all) = device.displays() else { return Ok(Vec::new()) };
    let connected = all.connected()?;
    let shown = |index: usize| {
        let crtc = all.kms().planes()[index].crtc;
        let shown = connected.iter().find(|info| all.kms().is_fed_by(info.display.connector, crtc));
        shown.map_or(vk::DisplayKHR::null(), |info| info.properties.display)
    };
    // Each is the lowest plane of its own CRTC.
    let planes = 0..all.kms().planes().len();
    Ok(planes
        .map(|index| vk::DisplayPlanePropertiesKHR { current_display: shown(index), current_stack_index: 0 })
        .collect())
}

/// What a plane can do in a mode: it fills the screen with a picture of any size.
fn capabilities(mode: &DisplayMode, plane: u32) -> Result<vk::DisplayPlaneCapabilitiesKHR, Error> {
    mode.kms.plane(plane)?;
    Ok(vk::DisplayPlaneCapabilitiesKHR {
        supported_alpha: vk::DisplayPlaneAlphaFlagsKHR::OPAQUE,
        min_src_extent: vk::Extent2D { width: 1, height: 1 },
        max_src_extent: mode.kms.max_extent,
        min_dst_extent: mode.extent(),
        max_dst_extent: mode.extent(),
        ..Default::default()
    })
}

fn check_stack(kms: &Kms, info: &vk::DisplaySurfaceCreateInfoKHR<'_>) -> Result<(), Error> {
    kms.plane(info.plane_index)?;
    let offered = [
        ("transform", info.transform == vk::SurfaceTransformFlagsKHR::IDENTITY),
        ("alphaMode", info.alpha_mode == vk::DisplayPlaneAlphaFlagsKHR::OPAQUE),
    ];
    match offered.iter().find(|(_, fits)| !fits) {
        None => Ok(()),
        Some((name, _)) => Err(Error::InvalidUse(format!("a value of {name} that the plane does not offer"))),
    }
}

entry_points! {
    fn vkGetPhysicalDeviceDisplayPropertiesKHR(
        device: vk::PhysicalDevice,
        count: *mut u32,
        out: *mut vk::DisplayPropertiesKHR<'_>,
    ) -> vk::Result {
        let displays = displays(get::<PhysicalDevice>(device))?;
        let rows: Vec<_> = displays.iter().map(|info| info.properties).collect();
        Ok(enumerate(count, out.cast(), &rows))
    }

    fn vkGetPhysicalDeviceDisplayProperties2KHR(
        device: vk::PhysicalDevice,
        count: *mut u32,
        out: *mut vk::DisplayProperties2KHR<'_>,
    ) -> vk::Result {
        let displays = displays(get::<PhysicalDevice>(device))?;
        Ok(enumerate_into(count, out, &displays, |out, info| out.display_properties = info.properties))
    }

    fn vkGetPhysicalDeviceDisplayPlanePropertiesKHR(
        device: vk::PhysicalDevice,
        count: *mut u32,
        out: *mut vk::DisplayPlanePropertiesKHR,
    ) -> vk::Result {
        Ok(enumerate(count, out, &planes(get::<PhysicalDevice>(device))?))
    }

    fn vkGetPhysicalDeviceDisplayPlaneProperties2KHR(
        device: vk::PhysicalDevice,
        count: *mut u32,
        out: *mut vk::DisplayPlaneProperties2KHR<'_>,
    ) -> vk::Result {
        let planes = planes(get::<PhysicalDevice>(device))?;
        Ok(enumerate_into(count, out, &planes, |out, plane| out.display_plane_properties = *plane))
    }

    fn vkGetDisplayPlaneSupportedDisplaysKHR(
        device: vk::PhysicalDevice,
        plane: u32,
        count: *mut u32,
        out: *mut vk::DisplayKHR,
    ) -> vk::Result {
        let device = get::<PhysicalDevice>(device);
        let none = || Error::InvalidUse(format!("plane {plane} of a device without displays"));
        let kms = device.displays().ok_or_else(none)?.kms();
        let crtc = kms.plane(plane)?.crtc;
        let displays = displays(device)?;
        let reached = displays.iter().filter(|info| kms.reaches(info.display.connector, crtc));
        let rows: Vec<_> = reached.map(|info| info.properties.display).collect();
        Ok(enumerate(count, out, &rows))
    }

    fn vkGetDisplayModePropertiesKHR(
        _device: vk::PhysicalDevice,
        display: vk::DisplayKHR,
        count: *mut u32,
        out: *mut vk::DisplayModePropertiesKHR,
    ) -> vk::Result {
        let modes = get::<Display>(display).modes()?;
        let row = |&(display_mode, parameters)| vk::DisplayModePropertiesKHR { display_mode, parameters };
        Ok(enumerate(count, out, &modes.iter().map(row).collect::<Vec<_>>()))
    }

    fn vkGetDisplayModeProperties2KHR(
        _device: vk::PhysicalDevice,
        display: vk::DisplayKHR,
        count: *mut u32,
        out: *mut vk::DisplayModeProperties2KHR<'_>,
    ) -> vk::Result {
        let modes = get::<Display>(display).modes()?;
        Ok(enumerate_into(count, out, &modes, |out, &(display_mode, parameters)| {
            out.display_mode_properties = vk::DisplayModePropertiesKHR { display_mode, parameters };
        }))
    }

    fn vkCreateDisplayModeKHR(
        _device: vk::PhysicalDevice,
        display: vk::DisplayKHR,
        info: *const vk::DisplayModeCreateInfoKHR<'_>,
        _callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::DisplayModeKHR,
    ) -> vk::Result {
        out.write(get::<Display>(display).create_mode(&(*info).parameters)?);
        Ok(())
    }

    fn vkGetDisplayPlaneCapabilitiesKHR(
        _device: vk::PhysicalDevice,
        mode: vk::DisplayModeKHR,
        plane: u32,
        out: *mut vk::DisplayPlaneCapabilitiesKHR,
    ) -> vk::Result {
        out.write(capabilities(get::<DisplayMode>(mode), plane)?);
        Ok(())
    }

    fn vkGetDisplayPlaneCapabilities2KHR(
        _device: vk::PhysicalDevice,
        info: *const vk::DisplayPlaneInfo2KHR<'_>,
        out: *mut vk::DisplayPlaneCapabilities2KHR<'_>,
    ) -> vk::Result {
        (*out).capabilities = capabilities(get::<DisplayMode>((*info).mode), (*info).plane_index)?;
        Ok(())
    }

    fn vkCreateDisplayPlaneSurfaceKHR(
        instance: vk::Instance,
        info: *const vk::DisplaySurfaceCreateInfoKHR<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::SurfaceKHR,
    ) -> vk::Result {
        let info = &*info;
        let mode = get::<DisplayMode>(info.display_mode);
        check_stack(&mode.kms, info)?;
        let surface = Surface::display(mode, info.plane_index, info.image_extent)?;
        give_surface(get::<Instance>(instance), callbacks, out, surface)
    }

    fn vkReleaseDisplayEXT(_device: vk::PhysicalDevice, display: vk::DisplayKHR) -> vk::Result {
        get::<Display>(display).release();
        Ok(())
    }

    fn vkAcquireDrmDisplayEXT(_device: vk::PhysicalDevice, fd: i32, display: vk::DisplayKHR) -> vk::Result {
        if fd < 0 {
            return Err(Error::InvalidUse(format!("descriptor {fd}")));
        }
        get::<Display>(display).acquire(BorrowedFd::borrow_raw(fd))?;
        Ok(())
    }

    fn vkGetDrmDisplayEXT(
        device: vk::PhysicalDevice,
        fd: i32,
        connector: u32,
        out: *mut vk::DisplayKHR,
    ) -> vk::Result {
        out.write(vk::DisplayKHR::null());
        let unknown = |why: String| Error::Result(vk::Result::ERROR_UNKNOWN, why);
        let displays = get::<PhysicalDevice>(device).displays().filter(|_| fd >= 0);
        let displays = displays.ok_or_else(|| unknown("the device has no displays".into()))?;
        if !displays.kms().is_same_device(BorrowedFd::borrow_raw(fd)) {
            return Err(unknown("the descriptor is another device's".into()));
        }
        let found = displays.by_connector(connector)?;
        out.write(found.ok_or_else(|| unknown(format!("connector {connector} does not exist")))?);
        Ok(())
    }
}
