//! VkImage, VkImageView and VkSampler.

use ash::vk;

use super::guard::entry_points;
use super::read::{destroy, enumerate, extension, give, slice};
use crate::execution::open_device::OpenDevice;
use crate::foundation::error::Error;
use crate::foundation::format;
use crate::foundation::handle::{get, opt};
use crate::objects::conversion::SamplerConversion;
use crate::objects::device::Device;
use crate::objects::image::Image;
use crate::objects::image_view::ImageView;
use crate::objects::memory::DeviceMemory;
use crate::objects::sampler::Sampler;
use crate::presentation::Swapchain;

/// The create info with all that any aspect is used for: the driver does not tell them apart.
unsafe fn with_stencil_usage<'a>(info: &vk::ImageCreateInfo<'a>) -> vk::ImageCreateInfo<'a> {
    // SAFETY: the caller passes a valid chain.
    let stencil = unsafe { extension::<vk::ImageStencilUsageCreateInfo<'_>>(info.p_next) };
    vk::ImageCreateInfo { usage: info.usage | stencil_usage(stencil), ..*info }
}

/// A way to make an image.
type Way = fn(&Device, &vk::ImageCreateInfo<'_>) -> Result<Image, Error>;

/// A way to make an image that lies as those of a swapchain do, which are tiled or not.
type PresentableWay = fn(&Device, &vk::ImageCreateInfo<'_>, bool) -> Result<Image, Error>;

/// Makes an image of a create info, with all that stands in its chain, in one of two ways: as any image, or to lie as those
/// of swapchains do.
///
/// # Safety
/// `info` has a valid chain with live handles.
pub(super) unsafe fn by_info(
    device: &Device,
    info: &vk::ImageCreateInfo<'_>,
    (any, presentable): (Way, PresentableWay),
) -> Result<Image, Error> {
    // SAFETY: by the contract.
    unsafe {
        let info = &with_stencil_usage(info);
        if info.tiling == vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT {
            return by_modifier(device, info);
        }
        let chained = extension::<vk::ImageSwapchainCreateInfoKHR<'_>>(info.p_next);
        match chained.and_then(|chained| opt::<Swapchain>(chained.swapchain)) {
            Some(swapchain) => presentable(device, info, swapchain.is_tiled()),
            None => any(device, info),
        }
    }
}

/// Makes an image that lies as modifiers say.
///
/// # Safety
/// `info` has a valid chain.
unsafe fn by_modifier(device: &Device, info: &vk::ImageCreateInfo<'_>) -> Result<Image, Error> {
    // SAFETY: by the contract.
    let (list, explicit) = unsafe {
        (
            extension::<vk::ImageDrmFormatModifierListCreateInfoEXT<'_>>(info.p_next),
            extension::<vk::ImageDrmFormatModifierExplicitCreateInfoEXT<'_>>(info.p_next),
        )
    };
    if let Some(explicit) = explicit {
        // SAFETY: as many planes as it says.
        let planes = unsafe { slice(explicit.p_plane_layouts, explicit.drm_format_modifier_plane_count) };
        let (have, want) = (planes.len(), format::memory_planes(info.format));
        if have != want as usize {
            return Err(Error::PlaneLayout(format!(
                "{have} planes; images of {:?} have {want}",
                info.format
            )));
        }
        return Image::shared(device, info, &[explicit.drm_format_modifier], Some(planes));
    }
    let Some(list) = list else {
        return Err(Error::InvalidUse("an image by modifiers without a list of them".into()));
    };
    // SAFETY: as many as it says.
    let modifiers = unsafe { slice(list.p_drm_format_modifiers, list.drm_format_modifier_count) };
    Image::shared(device, info, modifiers, None)
}

/// What stencil is used for beside what is said of the image.
pub(super) fn stencil_usage(info: Option<&vk::ImageStencilUsageCreateInfo<'_>>) -> vk::ImageUsageFlags {
    info.map_or(vk::ImageUsageFlags::empty(), |info| info.stencil_usage)
}

entry_points! {
    fn vkCreateImage(
        device: vk::Device,
        info: *const vk::ImageCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Image,
    ) -> vk::Result {
        let device = get::<OpenDevice>(device);
        let image = by_info(device, &*info, (Image::new, Image::presentable))?;
        give(device.allocator(), callbacks, out, image)
    }

    fn vkDestroyImage(_device: vk::Device, image: vk::Image, callbacks: *const vk::AllocationCallbacks<'_>) {
        destroy::<Image>(image, callbacks);
    }

    fn vkBindImageMemory(
        _device: vk::Device,
        image: vk::Image,
        memory: vk::DeviceMemory,
        offset: vk::DeviceSize,
    ) -> vk::Result {
        get::<Image>(image).bind(get::<DeviceMemory>(memory), offset)
    }

    fn vkGetImageMemoryRequirements(_device: vk::Device, image: vk::Image, out: *mut vk::MemoryRequirements) {
        out.write(get::<Image>(image).requirements());
    }

    fn vkGetImageSparseMemoryRequirements(
        _device: vk::Device,
        _image: vk::Image,
        count: *mut u32,
        out: *mut vk::SparseImageMemoryRequirements,
    ) {
        let _ = enumerate(count, out, &[]);
    }

    fn vkGetImageSubresourceLayout(
        _device: vk::Device,
        image: vk::Image,
        subresource: *const vk::ImageSubresource,
        out: *mut vk::SubresourceLayout,
    ) {
        out.write(get::<Image>(image).subresource_layout(&*subresource));
    }

    fn vkGetImageDrmFormatModifierPropertiesEXT(
        _device: vk::Device,
        image: vk::Image,
        out: *mut vk::ImageDrmFormatModifierPropertiesEXT<'_>,
    ) -> vk::Result {
        (*out).drm_format_modifier = get::<Image>(image).modifier();
        Ok(())
    }

    fn vkCreateImageView(
        device: vk::Device,
        info: *const vk::ImageViewCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::ImageView,
    ) -> vk::Result {
        let view = ImageView::new(get::<Image>((*info).image), &*info)?;
        give(get::<OpenDevice>(device).allocator(), callbacks, out, view)
    }

    fn vkDestroyImageView(
        _device: vk::Device,
        view: vk::ImageView,
        callbacks: *const vk::AllocationCallbacks<'_>,
    ) {
        destroy::<ImageView>(view, callbacks);
    }

    fn vkCreateSampler(
        device: vk::Device,
        info: *const vk::SamplerCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Sampler,
    ) -> vk::Result {
        let device = get::<OpenDevice>(device);
        let sampler = Sampler::new(device, &*info)?;
        let custom = extension::<vk::SamplerCustomBorderColorCreateInfoEXT<'_>>((*info).p_next);
        let sampler = match custom {
            Some(custom) => sampler.with_border(custom.custom_border_color.uint32),
            None => sampler,
        };
        let conversion = extension::<vk::SamplerYcbcrConversionInfo<'_>>((*info).p_next);
        let sampler = match conversion.and_then(|info| opt::<SamplerConversion>(info.conversion)) {
            Some(conversion) => sampler.with_conversion(conversion),
            None => sampler,
        };
        give(device.allocator(), callbacks, out, sampler)
    }

    fn vkDestroySampler(
        _device: vk::Device,
        sampler: vk::Sampler,
        callbacks: *const vk::AllocationCallbacks<'_>,
    ) {
        destroy::<Sampler>(sampler, callbacks);
    }
}
