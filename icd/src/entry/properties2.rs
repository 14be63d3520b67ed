//! VK_KHR_get_physical_device_properties2: the 1.0 answers in extensible structures. Structures of a
//! chain that the driver does not know are left alone.

use std::ffi::c_void;

use ash::vk;

use super::features;
use super::guard::entry_points;
use super::image::stencil_usage;
use super::properties;
use super::read::{answer, enumerate, enumerate_into, extension};
use crate::foundation::error::Error;
use crate::foundation::format::{self, ImageQuery, MODIFIERS};
use crate::foundation::handle::get;
use crate::objects::physical_device::{self, PhysicalDevice};

/// Answers about the modifiers of a format's images.
///
/// # Safety
/// `next` is a valid chain.
unsafe fn modifiers(format: vk::Format, next: *mut c_void) {
    let offered =
        MODIFIERS.into_iter().filter(|&modifier| !format::modifier_features(format, modifier).is_empty());
    let offered: Vec<u64> = offered.collect();
    // SAFETY: by the contract.
    unsafe {
        if let Some(list) = answer::<vk::DrmFormatModifierPropertiesListEXT<'_>>(next) {
            let (count, out) =
                (&raw mut list.drm_format_modifier_count, list.p_drm_format_modifier_properties);
            let _ = enumerate_into(count, out, &offered, |out, &modifier| {
                *out = vk::DrmFormatModifierPropertiesEXT {
                    drm_format_modifier: modifier,
                    drm_format_modifier_plane_count: format::memory_planes(format),
                    drm_format_modifier_tiling_features: format::modifier_features(format, modifier),
                };
            });
        }
        if let Some(list) = answer::<vk::DrmFormatModifierPropertiesList2EXT<'_>>(next) {
            let (count, out) =
                (&raw mut list.drm_format_modifier_count, list.p_drm_format_modifier_properties);
            let _ = enumerate_into(count, out, &offered, |out, &modifier| {
                *out = vk::DrmFormatModifierProperties2EXT {
                    drm_format_modifier: modifier,
                    drm_format_modifier_plane_count: format::memory_planes(format),
                    drm_format_modifier_tiling_features: format::modifier_features2(format, modifier),
                };
            });
        }
    }
}

entry_points! {
    fn vkGetPhysicalDeviceFeatures2KHR(
        device: vk::PhysicalDevice,
        out: *mut vk::PhysicalDeviceFeatures2<'_>,
    ) {
        (*out).features = get::<PhysicalDevice>(device).features();
        features::report((*out).p_next);
    }

    fn vkGetPhysicalDeviceProperties2KHR(
        device: vk::PhysicalDevice,
        out: *mut vk::PhysicalDeviceProperties2<'_>,
    ) {
        (*out).properties = *get::<PhysicalDevice>(device).properties();
        properties::report(get::<PhysicalDevice>(device), (*out).p_next);
    }

    fn vkGetPhysicalDeviceFormatProperties2KHR(
        _device: vk::PhysicalDevice,
        format: vk::Format,
        out: *mut vk::FormatProperties2<'_>,
    ) {
        (*out).format_properties = format::properties(format);
        if let Some(more) = answer::<vk::FormatProperties3<'_>>((*out).p_next) {
            (more.linear_tiling_features, more.optimal_tiling_features, more.buffer_features) =
                format::features2(format);
        }
        modifiers(format, (*out).p_next);
    }

    fn vkGetPhysicalDeviceImageFormatProperties2KHR(
        device: vk::PhysicalDevice,
        info: *const vk::PhysicalDeviceImageFormatInfo2<'_>,
        out: *mut vk::ImageFormatProperties2<'_>,
    ) -> vk::Result {
        let vk::PhysicalDeviceImageFormatInfo2 { format, ty, tiling, usage, flags, .. } = *info;
        (*out).image_format_properties = vk::ImageFormatProperties::default();
        let usage = usage | stencil_usage(extension((*info).p_next));
        let modifier = extension::<vk::PhysicalDeviceImageDrmFormatModifierInfoEXT<'_>>((*info).p_next);
        let by_modifier = tiling == vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT;
        let modifier = modifier.filter(|_| by_modifier).map(|info| info.drm_format_modifier);
        let query = ImageQuery { format, ty, tiling, modifier, usage, flags };
        let device = get::<PhysicalDevice>(device);
        let external = extension::<vk::PhysicalDeviceExternalImageFormatInfo<'_>>((*info).p_next);
        let properties = match external.filter(|external| !external.handle_type.is_empty()) {
            Some(external) => {
                let properties = device.external_images(external.handle_type, tiling);
                let unknown = || Error::FormatNotSupported(format!("images in {:?}", external.handle_type));
                Some(properties.ok_or_else(unknown)?)
            }
            None => None,
        };
        (*out).image_format_properties = query.answer(device.heap_size())?.1;
        if let Some(out) = answer::<vk::SamplerYcbcrConversionImageFormatProperties<'_>>((*out).p_next) {
            out.combined_image_sampler_descriptor_count = 1;
        }
        if let Some(out) = answer::<vk::ExternalImageFormatProperties<'_>>((*out).p_next) {
            out.external_memory_properties = properties.unwrap_or_default();
        }
        Ok(())
    }

    fn vkGetPhysicalDeviceExternalBufferPropertiesKHR(
        device: vk::PhysicalDevice,
        info: *const vk::PhysicalDeviceExternalBufferInfo<'_>,
        out: *mut vk::ExternalBufferProperties<'_>,
    ) {
        let types = (*info).handle_type;
        let properties = get::<PhysicalDevice>(device).external_buffers(types);
        // What cannot be shared is still compatible with itself.
        let alone = vk::ExternalMemoryProperties { compatible_handle_types: types, ..Default::default() };
        (*out).external_memory_properties = properties.unwrap_or(alone);
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
        let device = get::<PhysicalDevice>(device);
        (*out).memory_properties = device.memory();
        if let Some(budget) = answer::<vk::PhysicalDeviceMemoryBudgetPropertiesEXT<'_>>((*out).p_next) {
            // Heaps that are not there have neither.
            (budget.heap_usage, budget.heap_budget) = Default::default();
            (budget.heap_usage[0], budget.heap_budget[0]) = device.usage_and_budget();
        }
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
