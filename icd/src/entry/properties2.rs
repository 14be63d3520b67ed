//! VK_KHR_get_physical_device_properties2: the 1.0 answers in extensible structures. Structures of a
//! chain that the driver does not know are left alone.

use ash::vk;

use super::entry_points;
use super::read::{answer, enumerate, enumerate_into};
use crate::format::{self, ImageQuery};
use crate::limits::MAX_PUSH_DESCRIPTORS;
use crate::object::get;
use crate::physical_device::{self, PhysicalDevice};

entry_points! {
    fn vkGetPhysicalDeviceFeatures2KHR(
        device: vk::PhysicalDevice,
        out: *mut vk::PhysicalDeviceFeatures2<'_>,
    ) {
        (*out).features = get::<PhysicalDevice>(device).features();
    }

    fn vkGetPhysicalDeviceProperties2KHR(
        device: vk::PhysicalDevice,
        out: *mut vk::PhysicalDeviceProperties2<'_>,
    ) {
        (*out).properties = *get::<PhysicalDevice>(device).properties();
        if let Some(push) = answer::<vk::PhysicalDevicePushDescriptorPropertiesKHR<'_>>((*out).p_next) {
            push.max_push_descriptors = MAX_PUSH_DESCRIPTORS;
        }
    }

    fn vkGetPhysicalDeviceFormatProperties2KHR(
        _device: vk::PhysicalDevice,
        format: vk::Format,
        out: *mut vk::FormatProperties2<'_>,
    ) {
        (*out).format_properties = format::properties(format);
    }

    fn vkGetPhysicalDeviceImageFormatProperties2KHR(
        device: vk::PhysicalDevice,
        info: *const vk::PhysicalDeviceImageFormatInfo2<'_>,
        out: *mut vk::ImageFormatProperties2<'_>,
    ) -> vk::Result {
        let vk::PhysicalDeviceImageFormatInfo2 { format, ty, tiling, usage, flags, .. } = *info;
        (*out).image_format_properties = vk::ImageFormatProperties::default();
        let query = ImageQuery { format, ty, tiling, usage, flags };
        let answer = query.answer(get::<PhysicalDevice>(device).heap_size())?;
        (*out).image_format_properties = answer.1;
        Ok(())
    }

    fn vkGetPhysicalDeviceQueueFamilyProperties2KHR(
        _device: vk::PhysicalDevice,
        count: *mut u32,
        out: *mut vk::QueueFamilyProperties2<'_>,
    ) {
        let families = physical_device::queue_families();
        let _ = enumerate_into(count, out, &families, |out, family| out.queue_family_properties = *family);
    }

    fn vkGetPhysicalDeviceMemoryProperties2KHR(
        device: vk::PhysicalDevice,
        out: *mut vk::PhysicalDeviceMemoryProperties2<'_>,
    ) {
        (*out).memory_properties = get::<PhysicalDevice>(device).memory();
    }

    fn vkGetPhysicalDeviceSparseImageFormatProperties2KHR(
        _device: vk::PhysicalDevice,
        _info: *const vk::PhysicalDeviceSparseImageFormatInfo2<'_>,
        count: *mut u32,
        out: *mut vk::SparseImageFormatProperties2<'_>,
    ) {
        let _ = enumerate(count, out, &[]);
    }
}
