//! The extensions that the driver offers: one row each.

use std::ffi::CStr;

use ash::vk;

/// An extension that the driver knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Extension {
    /// VK_KHR_get_physical_device_properties2.
    GetPhysicalDeviceProperties2,
    /// VK_KHR_surface.
    Surface,
    /// VK_KHR_xcb_surface.
    XcbSurface,
    /// VK_KHR_xlib_surface.
    XlibSurface,
    /// VK_EXT_headless_surface.
    HeadlessSurface,
    /// VK_KHR_swapchain.
    Swapchain,
}

/// Whether an instance or a device enables the extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// vkCreateInstance.
    Instance,
    /// vkCreateDevice.
    Device,
}

struct Row {
    extension: Extension,
    level: Level,
    name: &'static CStr,
    version: u32,
}

const fn row(extension: Extension, level: Level, name: &'static CStr, version: u32) -> Row {
    Row { extension, level, name, version }
}

const ROWS: &[Row] = &[
    row(
        Extension::GetPhysicalDeviceProperties2,
        Level::Instance,
        ash::khr::get_physical_device_properties2::NAME,
        2,
    ),
    row(Extension::Surface, Level::Instance, ash::khr::surface::NAME, 25),
    row(Extension::XcbSurface, Level::Instance, ash::khr::xcb_surface::NAME, 6),
    row(Extension::XlibSurface, Level::Instance, ash::khr::xlib_surface::NAME, 6),
    row(Extension::HeadlessSurface, Level::Instance, ash::ext::headless_surface::NAME, 1),
    row(Extension::Swapchain, Level::Device, ash::khr::swapchain::NAME, 70),
];

/// The extensions of a level as applications enumerate them.
pub fn properties(level: Level) -> Vec<vk::ExtensionProperties> {
    let rows = ROWS.iter().filter(|row| row.level == level);
    rows.map(|row| {
        let mut properties = vk::ExtensionProperties { spec_version: row.version, ..Default::default() };
        for (to, from) in properties.extension_name.iter_mut().zip(row.name.to_bytes()) {
            *to = *from as std::ffi::c_char;
        }
        properties
    })
    .collect()
}

/// The offered extension of that level and name.
pub fn find(level: Level, name: &CStr) -> Option<Extension> {
    ROWS.iter().find(|row| row.level == level && row.name == name).map(|row| row.extension)
}
