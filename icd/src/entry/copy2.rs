//! VK_KHR_copy_commands2: copies, blits and resolves whose regions are extensible structures.

use ash::vk;

use super::guard::entry_points;
use super::read::slice;
use crate::foundation::handle::get;
use crate::objects::buffer::Buffer;
use crate::objects::image::Image;
use crate::recording::command_buffer::CommandBuffer;

/// The regions of a command in their first form.
unsafe fn regions<T, U>(first: *const T, count: u32, plain: impl Fn(&T) -> U) -> Vec<U> {
    // SAFETY: the caller passes a valid array.
    unsafe { slice(first, count) }.iter().map(plain).collect()
}

fn buffer_image(region: &vk::BufferImageCopy2<'_>) -> vk::BufferImageCopy {
    vk::BufferImageCopy {
        buffer_offset: region.buffer_offset,
        buffer_row_length: region.buffer_row_length,
        buffer_image_height: region.buffer_image_height,
        image_subresource: region.image_subresource,
        image_offset: region.image_offset,
        image_extent: region.image_extent,
    }
}

entry_points! {
    fn vkCmdCopyBuffer2KHR(commands: vk::CommandBuffer, info: *const vk::CopyBufferInfo2<'_>) {
        let info = &*info;
        let plain = |region: &vk::BufferCopy2<'_>| vk::BufferCopy {
            src_offset: region.src_offset,
            dst_offset: region.dst_offset,
            size: region.size,
        };
        let regions = regions(info.p_regions, info.region_count, plain);
        let (src, dst) = (get::<Buffer>(info.src_buffer), get::<Buffer>(info.dst_buffer));
        get::<CommandBuffer>(commands).copy_buffer(src, dst, &regions);
    }

    fn vkCmdCopyImage2KHR(commands: vk::CommandBuffer, info: *const vk::CopyImageInfo2<'_>) {
        let info = &*info;
        let plain = |region: &vk::ImageCopy2<'_>| vk::ImageCopy {
            src_subresource: region.src_subresource,
            src_offset: region.src_offset,
            dst_subresource: region.dst_subresource,
            dst_offset: region.dst_offset,
            extent: region.extent,
        };
        let regions = regions(info.p_regions, info.region_count, plain);
        let (src, dst) = (get::<Image>(info.src_image), get::<Image>(info.dst_image));
        get::<CommandBuffer>(commands).copy_image(src, dst, &regions);
    }

    fn vkCmdCopyBufferToImage2KHR(
        commands: vk::CommandBuffer,
        info: *const vk::CopyBufferToImageInfo2<'_>,
    ) {
        let info = &*info;
        let regions = regions(info.p_regions, info.region_count, buffer_image);
        let (src, dst) = (get::<Buffer>(info.src_buffer), get::<Image>(info.dst_image));
        get::<CommandBuffer>(commands).copy_buffer_to_image(src, dst, &regions);
    }

    fn vkCmdCopyImageToBuffer2KHR(
        commands: vk::CommandBuffer,
        info: *const vk::CopyImageToBufferInfo2<'_>,
    ) {
        let info = &*info;
        let regions = regions(info.p_regions, info.region_count, buffer_image);
        let (src, dst) = (get::<Image>(info.src_image), get::<Buffer>(info.dst_buffer));
        get::<CommandBuffer>(commands).copy_image_to_buffer(src, dst, &regions);
    }

    fn vkCmdBlitImage2KHR(commands: vk::CommandBuffer, info: *const vk::BlitImageInfo2<'_>) {
        let info = &*info;
        let plain = |region: &vk::ImageBlit2<'_>| vk::ImageBlit {
            src_subresource: region.src_subresource,
            src_offsets: region.src_offsets,
            dst_subresource: region.dst_subresource,
            dst_offsets: region.dst_offsets,
        };
        let regions = regions(info.p_regions, info.region_count, plain);
        let (src, dst) = (get::<Image>(info.src_image), get::<Image>(info.dst_image));
        get::<CommandBuffer>(commands).blit_image(src, dst, &regions, info.filter);
    }

    fn vkCmdResolveImage2KHR(commands: vk::CommandBuffer, info: *const vk::ResolveImageInfo2<'_>) {
        let info = &*info;
        let plain = |region: &vk::ImageResolve2<'_>| vk::ImageResolve {
            src_subresource: region.src_subresource,
            src_offset: region.src_offset,
            dst_subresource: region.dst_subresource,
            dst_offset: region.dst_offset,
            extent: region.extent,
        };
        let regions = regions(info.p_regions, info.region_count, plain);
        let (src, dst) = (get::<Image>(info.src_image), get::<Image>(info.dst_image));
        get::<CommandBuffer>(commands).resolve_image(src, dst, &regions);
    }
}
