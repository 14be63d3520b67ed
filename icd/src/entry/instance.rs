//! VkInstance and VkPhysicalDevice.

use std::ffi::{CStr, c_char};

use ash::vk;

use super::debug_utils::first_messenger;
use super::guard::entry_points;
use super::read::{enumerate, names, slice, text};
use crate::foundation::error::Error;
use crate::foundation::extension::{self, Level};
use crate::foundation::format::{self, ImageQuery};
use crate::foundation::handle::{self, HostAllocator, get};
use crate::foundation::messages::{self, Kind, Severity};
use crate::foundation::{limits, version};
use crate::objects::instance::Instance;
use crate::objects::physical_device::{self, PhysicalDevice};

/// Makes an instance.
unsafe fn make(info: &vk::InstanceCreateInfo<'_>, allocator: HostAllocator) -> Result<vk::Instance, Error> {
    // SAFETY: the caller passes a valid structure.
    unsafe {
        if let Some(layer) = slice(info.pp_enabled_layer_names, info.enabled_layer_count).first() {
            return Err(Error::LayerNotPresent(text(*layer)));
        }
        let mut extensions = Vec::new();
        for name in names(info.pp_enabled_extension_names, info.enabled_extension_count) {
            let found = extension::find(Level::Instance, name, true);
            extensions.push(found.ok_or_else(|| Error::ExtensionNotPresent(name.to_string_lossy().into()))?);
        }
        let application = info.p_application_info.as_ref();
        let version = application.map_or(0, |application| application.api_version);
        let engine = application.map(|application| application.p_engine_name).filter(|name| !name.is_null());
        let claimed = version::claimed(engine.map_or(&[][..], |name| CStr::from_ptr(name).to_bytes()));
        let instance = Instance::new(extensions, version, claimed, allocator);
        handle::create(allocator, instance.into())
    }
}

/// Tells the messenger of an instance that could not be made; the log tells everybody else.
fn tell_nobody_else(text: &str) {
    let nobody = Some(vk::Instance::null());
    messages::send_to(nobody, Severity::ERROR, Kind::GENERAL, "vc4::api", text);
}

entry_points! {
    fn vkCreateInstance(
        info: *const vk::InstanceCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Instance,
    ) -> vk::Result {
        crate::foundation::debug::start_logging();
        let info = &*info;
        // Hears what goes wrong here; from then on messengers of the instance's own listen.
        let messenger = first_messenger(info.p_next);
        let made = make(info, HostAllocator::new(callbacks)).map(|handle| out.write(handle));
        if let (Some(_), Err(error)) = (&messenger, &made) {
            tell_nobody_else(&format!("vkCreateInstance: {error}"));
        }
        made
    }

    fn vkDestroyInstance(instance: vk::Instance, callbacks: *const vk::AllocationCallbacks<'_>) {
        if instance != vk::Instance::null() {
            messages::end(instance);
        }
        super::read::destroy::<Instance>(instance, callbacks);
    }

    fn vkEnumerateInstanceVersion(out: *mut u32) -> vk::Result {
        out.write(limits::API_VERSION);
        Ok(())
    }

    fn vkEnumerateInstanceExtensionProperties(
        layer: *const c_char,
        count: *mut u32,
        out: *mut vk::ExtensionProperties,
    ) -> vk::Result {
        if !layer.is_null() {
            return Err(Error::LayerNotPresent(text(layer)));
        }
        Ok(enumerate(count, out, &extension::properties(Level::Instance, true)))
    }

    fn vkEnumerateInstanceLayerProperties(count: *mut u32, out: *mut vk::LayerProperties) -> vk::Result {
        Ok(enumerate(count, out, &[]))
    }

    fn vkEnumeratePhysicalDevices(
        instance: vk::Instance,
        count: *mut u32,
        out: *mut vk::PhysicalDevice,
    ) -> vk::Result {
        let devices = get::<Instance>(instance).physical_devices()?;
        let handles: Vec<_> = devices.iter().map(|device| device.handle()).collect();
        Ok(enumerate(count, out, &handles))
    }

    fn vkGetPhysicalDeviceFeatures(device: vk::PhysicalDevice, out: *mut vk::PhysicalDeviceFeatures) {
        out.write(get::<PhysicalDevice>(device).features());
    }

    fn vkGetPhysicalDeviceProperties(device: vk::PhysicalDevice, out: *mut vk::PhysicalDeviceProperties) {
        out.write(*get::<PhysicalDevice>(device).properties());
    }

    fn vkGetPhysicalDeviceQueueFamilyProperties(
        _device: vk::PhysicalDevice,
        count: *mut u32,
        out: *mut vk::QueueFamilyProperties,
    ) {
        let _ = enumerate(count, out, &physical_device::queue_families());
    }

    fn vkGetPhysicalDeviceMemoryProperties(
        device: vk::PhysicalDevice,
        out: *mut vk::PhysicalDeviceMemoryProperties,
    ) {
        out.write(get::<PhysicalDevice>(device).memory());
    }

    fn vkGetPhysicalDeviceFormatProperties(
        _device: vk::PhysicalDevice,
        format: vk::Format,
        out: *mut vk::FormatProperties,
    ) {
        out.write(format::properties(format));
    }

    fn vkGetPhysicalDeviceImageFormatProperties(
        device: vk::PhysicalDevice,
        format: vk::Format,
        ty: vk::ImageType,
        tiling: vk::ImageTiling,
        usage: vk::ImageUsageFlags,
        flags: vk::ImageCreateFlags,
        out: *mut vk::ImageFormatProperties,
    ) -> vk::Result {
        out.write(vk::ImageFormatProperties::default());
        let query = ImageQuery { format, ty, tiling, modifier: None, usage, flags };
        out.write(query.answer(get::<PhysicalDevice>(device).heap_size())?.1);
        Ok(())
    }

    fn vkGetPhysicalDeviceSparseImageFormatProperties(
        _device: vk::PhysicalDevice,
        _format: vk::Format,
        _ty: vk::ImageType,
        _samples: vk::SampleCountFlags,
        _usage: vk::ImageUsageFlags,
        _tiling: vk::ImageTiling,
        count: *mut u32,
        out: *mut vk::SparseImageFormatProperties,
    ) {
        let _ = enumerate(count, out, &[]);
    }
}
