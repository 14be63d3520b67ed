//! VK_KHR_get_memory_requirements2 with VK_KHR_dedicated_allocation, VK_KHR_bind_memory2, and requirements of what is not made
//! yet (VK_KHR_maintenance4).

use ash::vk;

use super::buffer;
use super::guard::entry_points;
use super::image;
use super::read::{answer, enumerate, extension, slice};
use crate::execution::open_device::OpenDevice;
use crate::foundation::error::Error;
use crate::foundation::handle::{get, opt};
use crate::objects::buffer::Buffer;
use crate::objects::image::Image;
use crate::objects::memory::DeviceMemory;
use crate::objects::memory_type::MemoryType;
use crate::presentation::Swapchain;

/// Fills an answer in. A dedicated allocation is neither needed nor better: what shares a BO loses nothing.
unsafe fn give(out: *mut vk::MemoryRequirements2<'_>, requirements: vk::MemoryRequirements) {
    // SAFETY: the caller passes a valid structure with a valid chain.
    unsafe {
        (*out).memory_requirements = requirements;
        if let Some(dedicated) = answer::<vk::MemoryDedicatedRequirements<'_>>((*out).p_next) {
            dedicated.prefers_dedicated_allocation = vk::FALSE;
            dedicated.requires_dedicated_allocation = vk::FALSE;
        }
    }
}

/// Binds everything it can; the first failure.
fn all(results: impl Iterator<Item = Result<(), Error>>) -> Result<(), Error> {
    let failures: Vec<Error> = results.filter_map(Result::err).collect();
    failures.into_iter().next().map_or(Ok(()), Err)
}

/// Binds an image to memory, or to that of a swapchain's image.
unsafe fn bind_image(info: &vk::BindImageMemoryInfo<'_>) -> Result<(), Error> {
    // SAFETY: the caller passes a valid structure with live handles.
    unsafe {
        let image = get::<Image>(info.image);
        let chained = extension::<vk::BindImageMemorySwapchainInfoKHR<'_>>(info.p_next);
        let chained = chained.and_then(|of| Some((opt::<Swapchain>(of.swapchain)?, of.image_index)));
        match chained {
            Some((swapchain, index)) => image.bind_to(swapchain.memory(index, image.requirements().size)?),
            None => image.bind(get::<DeviceMemory>(info.memory), info.memory_offset),
        }
    }
}

entry_points! {
    fn vkGetBufferMemoryRequirements2KHR(
        _device: vk::Device,
        info: *const vk::BufferMemoryRequirementsInfo2<'_>,
        out: *mut vk::MemoryRequirements2<'_>,
    ) {
        give(out, get::<Buffer>((*info).buffer).requirements());
    }

    fn vkGetImageMemoryRequirements2KHR(
        _device: vk::Device,
        info: *const vk::ImageMemoryRequirementsInfo2<'_>,
        out: *mut vk::MemoryRequirements2<'_>,
    ) {
        give(out, get::<Image>((*info).image).requirements());
    }

    fn vkGetImageSparseMemoryRequirements2KHR(
        _device: vk::Device,
        _info: *const vk::ImageSparseMemoryRequirementsInfo2<'_>,
        count: *mut u32,
        out: *mut vk::SparseImageMemoryRequirements2<'_>,
    ) {
        let _ = enumerate(count, out, &[]);
    }

    fn vkGetDeviceBufferMemoryRequirementsKHR(
        device: vk::Device,
        info: *const vk::DeviceBufferMemoryRequirements<'_>,
        out: *mut vk::MemoryRequirements2<'_>,
    ) {
        let info = &*(*info).p_create_info;
        let all = get::<OpenDevice>(device).physical().memory_types();
        let types = MemoryType::of_buffer(all, info.usage, buffer::is_shared(info));
        give(out, Buffer::requirements_of(info.size, types));
    }

    fn vkGetDeviceImageMemoryRequirementsKHR(
        device: vk::Device,
        info: *const vk::DeviceImageMemoryRequirements<'_>,
        out: *mut vk::MemoryRequirements2<'_>,
    ) {
        let (device, info) = (get::<OpenDevice>(device), &*(*info).p_create_info);
        let image = image::by_info(device, info, (Image::planned, Image::planned_presentable));
        // No memory will do for an image that cannot be.
        let none = |error: Error| {
            error.report("vkGetDeviceImageMemoryRequirementsKHR");
            vk::MemoryRequirements { alignment: 1, ..Default::default() }
        };
        give(out, image.map_or_else(none, |image| image.requirements()));
    }

    fn vkGetDeviceImageSparseMemoryRequirementsKHR(
        _device: vk::Device,
        _info: *const vk::DeviceImageMemoryRequirements<'_>,
        count: *mut u32,
        out: *mut vk::SparseImageMemoryRequirements2<'_>,
    ) {
        let _ = enumerate(count, out, &[]);
    }

    fn vkBindBufferMemory2KHR(
        _device: vk::Device,
        count: u32,
        infos: *const vk::BindBufferMemoryInfo<'_>,
    ) -> vk::Result {
        all(slice(infos, count).iter().map(|info| {
            get::<Buffer>(info.buffer).bind(get::<DeviceMemory>(info.memory), info.memory_offset)
        }))
    }

    fn vkBindImageMemory2KHR(
        _device: vk::Device,
        count: u32,
        infos: *const vk::BindImageMemoryInfo<'_>,
    ) -> vk::Result {
        all(slice(infos, count).iter().map(|info| bind_image(info)))
    }
}
