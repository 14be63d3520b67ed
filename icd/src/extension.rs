//! The extensions that the driver offers: one row each.

use std::ffi::CStr;

use ash::vk;

/// An extension that the driver knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Extension {
    /// VK_KHR_get_physical_device_properties2.
    GetPhysicalDeviceProperties2,
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

const ROWS: &[Row] = &[Row {
    extension: Extension::GetPhysicalDeviceProperties2,
    level: Level::Instance,
    name: ash::khr::get_physical_device_properties2::NAME,
    version: 2,
}];

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
