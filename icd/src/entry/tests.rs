use std::ffi::CStr;

use ash::vk;

use super::guard::{guard, guard_void};
use super::loader::*;
use super::sync;
use super::table::*;
use crate::foundation::error::Error;

/// Debian's libvulkan-dev puts the registry here; without it the comparison with it is left out.
const REGISTRY: &str = "/usr/share/vulkan/registry/vk.xml";

/// Versions in the registry, what makes their commands available and how many each has.
const VERSIONS: [(&str, Reveal, usize); 3] = [
    ("VK_VERSION_1_0", Reveal::Core, 137),
    ("VK_VERSION_1_1", Reveal::Core11, 28),
    ("VK_VERSION_1_2", Reveal::Core12, 13),
];

#[test]
fn every_name_is_there_once() {
    let mut names: Vec<_> = TABLE.iter().map(|row| row.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    for (version, reveal, commands) in VERSIONS {
        assert_eq!(TABLE.iter().filter(|row| row.reveal == reveal).count(), commands, "{version}");
    }
}

/// The text between `start` and `end` after the first `start`.
fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let text = &text[text.find(start)? + start.len()..];
    Some(&text[..text.find(end)?])
}

/// Type of a command's first parameter, from its definition.
fn first_parameter<'a>(registry: &'a str, name: &str) -> Option<&'a str> {
    let definition = between(registry, &format!("<name>{name}</name></proto>"), "</command>")?;
    between(definition, "<type>", "</type>")
}

#[test]
fn the_table_has_what_the_registry_requires() {
    let Ok(registry) = std::fs::read_to_string(REGISTRY) else {
        eprintln!("no {REGISTRY}: not compared");
        return;
    };
    for (version, reveal, commands) in VERSIONS {
        let start = format!("name=\"{version}\" number");
        let feature = between(&registry, &start, "</feature>").expect("the version is in the registry");
        let mut required = 0;
        for part in feature.split("<command name=\"").skip(1) {
            let name = part.split('"').next().expect("split yields one part");
            let row =
                TABLE.iter().find(|row| row.name == name).unwrap_or_else(|| panic!("{name} is missing"));
            assert_eq!(row.reveal, reveal, "{name}");
            let scope = match first_parameter(&registry, name).expect("every command is defined") {
                _ if name == "vkGetInstanceProcAddr" => Scope::Global,
                "VkInstance" => Scope::Instance,
                "VkPhysicalDevice" => Scope::PhysicalDevice,
                "VkDevice" | "VkQueue" | "VkCommandBuffer" => Scope::Device,
                _ => Scope::Global,
            };
            assert_eq!(row.scope, scope, "{name}");
            required += 1;
        }
        assert_eq!(required, commands, "{version}");
    }
}

#[test]
fn names_are_handed_out_by_scope() {
    let global = |name: &CStr| named(name.as_ptr(), |row| row.scope == Scope::Global).is_some();
    assert!(global(c"vkCreateInstance") && !global(c"vkCreateDevice") && !global(c"vkNothing"));
    // SAFETY: the names are terminated; no instance is looked at.
    unsafe {
        let instance = vk::Instance::null();
        assert!(vk_icdGetPhysicalDeviceProcAddr(instance, c"vkGetPhysicalDeviceFeatures".as_ptr()).is_some());
        assert!(vk_icdGetPhysicalDeviceProcAddr(instance, c"vkCreateBuffer".as_ptr()).is_none());
        assert!(vk_icdGetInstanceProcAddr(instance, c"vkEnumerateInstanceVersion".as_ptr()).is_some());
        assert!(vk_icdGetInstanceProcAddr(instance, std::ptr::null()).is_none());
        assert!(vkGetDeviceProcAddr(vk::Device::null(), c"vkCreateBuffer".as_ptr()).is_none());
    }
}

#[test]
fn the_loader_interface_is_agreed_on() {
    let negotiate = |mut version: u32| {
        // SAFETY: the version is valid for reading and writing.
        let result = unsafe { vk_icdNegotiateLoaderICDInterfaceVersion(&raw mut version) };
        (result, version)
    };
    assert_eq!(negotiate(7), (vk::Result::SUCCESS, 5));
    assert_eq!(negotiate(3), (vk::Result::SUCCESS, 3));
    assert_eq!(negotiate(1).0, vk::Result::ERROR_INCOMPATIBLE_DRIVER);
}

#[test]
fn a_panic_ends_at_the_guard() {
    let result = guard("vkTest", || -> Result<(), Error> { panic!("deliberate") });
    assert_eq!(result, vk::Result::ERROR_UNKNOWN);
    guard_void("vkTest", || panic!("deliberate {}", 1));
    assert_eq!(guard("vkTest", || Ok(vk::Result::NOT_READY)), vk::Result::NOT_READY);
}

#[test]
fn a_null_handle_is_the_application_s_mistake() {
    // SAFETY: the null handle is what is tested; the device is not looked at.
    let result = unsafe { sync::vkGetFenceStatus(vk::Device::null(), vk::Fence::null()) };
    assert_eq!(result, vk::Result::ERROR_VALIDATION_FAILED_EXT);
}
