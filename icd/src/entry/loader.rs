//! What the loader calls before any command: the symbols that the library exports.

use std::ffi::c_char;

use ash::vk;

use super::table::{Scope, named, vkGetInstanceProcAddr};
use crate::foundation::debug::start_logging;

/// Version 5 of the loader's interface is the newest that a 1.1 driver with physical-device
/// extension commands needs; version 6 and 7 add enumeration orders and optional exports.
const LOADER_INTERFACE: u32 = 5;

/// Agrees on the version of the loader's interface.
///
/// # Safety
/// `version` points to the newest version that the loader speaks.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdNegotiateLoaderICDInterfaceVersion(version: *mut u32) -> vk::Result {
    start_logging();
    // SAFETY: by the contract.
    let Some(version) = (unsafe { version.as_mut() }) else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    // Before 3 the loader made the surfaces, in structures of its own.
    if *version < 3 {
        log::error!(target: "vc4::api", "the loader speaks interface {version}, this driver 3 to {LOADER_INTERFACE}");
        return vk::Result::ERROR_INCOMPATIBLE_DRIVER;
    }
    *version = (*version).min(LOADER_INTERFACE);
    vk::Result::SUCCESS
}

/// The loader's way to every command.
///
/// # Safety
/// As for `vkGetInstanceProcAddr`.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdGetInstanceProcAddr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: by the contract.
    unsafe { vkGetInstanceProcAddr(instance, name) }
}

/// Commands whose first parameter is a VkPhysicalDevice, so that the loader can tell unknown ones apart.
///
/// # Safety
/// As for `vkGetInstanceProcAddr`.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdGetPhysicalDeviceProcAddr(
    _instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    named(name, |row| row.scope == Scope::PhysicalDevice)
}
