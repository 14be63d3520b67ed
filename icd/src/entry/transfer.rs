//! Copies, clears and resolves.

use std::ffi::c_void;

use ash::vk;

use super::guard::entry_points;
use super::read::slice;
use crate::foundation::handle::get;
use crate::objects::buffer::Buffer;
use crate::objects::image::Image;
use crate::recording::command_buffer::CommandBuffer;
use crate::recording::pass::ClearAttachment;
use crate::transfers::fill::ClearWords;

/// The words of a clear value. Every member of the union is plain 32-bit words, and the color member
/// covers it all.
pub(super) fn words(value: &vk::ClearColorValue) -> ClearWords {
    // SAFETY: any bits are valid words.
    ClearWords(unsafe { value.uint32 })
}

unsafe fn read_clear(info: &vk::ClearAttachment) -> ClearAttachment {
    ClearAttachment {
        aspects: info.aspect_mask,
        color: info.color_attachment,
        // SAFETY: as in `words`.
        value: words(unsafe { &info.clear_value.color }),
    }
}

entry_points! {
    fn vkCmdCopyBuffer(
        commands: vk::CommandBuffer,
        src: vk::Buffer,
        dst: vk::Buffer,
        count: u32,
        regions: *const vk::BufferCopy,
    ) {
        let regions = slice(regions, count);
        get::<CommandBuffer>(commands).copy_buffer(get::<Buffer>(src), get::<Buffer>(dst), regions);
    }

    fn vkCmdCopyImage(
        commands: vk::CommandBuffer,
        src: vk::Image,
        _src_layout: vk::ImageLayout,
        dst: vk::Image,
        _dst_layout: vk::ImageLayout,
        count: u32,
        regions: *const vk::ImageCopy,
    ) {
        let regions = slice(regions, count);
        get::<CommandBuffer>(commands).copy_image(get::<Image>(src), get::<Image>(dst), regions);
    }

    fn vkCmdBlitImage(
        commands: vk::CommandBuffer,
        src: vk::Image,
        _src_layout: vk::ImageLayout,
        dst: vk::Image,
        _dst_layout: vk::ImageLayout,
        count: u32,
        regions: *const vk::ImageBlit,
        filter: vk::Filter,
    ) {
        let regions = slice(regions, count);
        get::<CommandBuffer>(commands).blit_image(get::<Image>(src), get::<Image>(dst), regions, filter);
    }

    fn vkCmdCopyBufferToImage(
        commands: vk::CommandBuffer,
        src: vk::Buffer,
        dst: vk::Image,
        _dst_layout: vk::ImageLayout,
        count: u32,
        regions: *const vk::BufferImageCopy,
    ) {
        let regions = slice(regions, count);
        get::<CommandBuffer>(commands).copy_buffer_to_image(get::<Buffer>(src), get::<Image>(dst), regions);
    }

    fn vkCmdCopyImageToBuffer(
        commands: vk::CommandBuffer,
        src: vk::Image,
        _src_layout: vk::ImageLayout,
        dst: vk::Buffer,
        count: u32,
        regions: *const vk::BufferImageCopy,
    ) {
        let regions = slice(regions, count);
        get::<CommandBuffer>(commands).copy_image_to_buffer(get::<Image>(src), get::<Buffer>(dst), regions);
    }

    fn vkCmdUpdateBuffer(
        commands: vk::CommandBuffer,
        dst: vk::Buffer,
        offset: vk::DeviceSize,
        size: vk::DeviceSize,
        data: *const c_void,
    ) {
        // At most 65536 bytes by valid usage.
        let data = slice(data.cast::<u8>(), size.min(65536) as u32);
        get::<CommandBuffer>(commands).update_buffer(get::<Buffer>(dst), offset, data);
    }

    fn vkCmdFillBuffer(
        commands: vk::CommandBuffer,
        dst: vk::Buffer,
        offset: vk::DeviceSize,
        size: vk::DeviceSize,
        word: u32,
    ) {
        get::<CommandBuffer>(commands).fill_buffer(get::<Buffer>(dst), offset, size, word);
    }

    fn vkCmdClearColorImage(
        commands: vk::CommandBuffer,
        image: vk::Image,
        _layout: vk::ImageLayout,
        color: *const vk::ClearColorValue,
        count: u32,
        ranges: *const vk::ImageSubresourceRange,
    ) {
        let ranges = slice(ranges, count);
        get::<CommandBuffer>(commands).clear_color_image(get::<Image>(image), words(&*color), ranges);
    }

    fn vkCmdClearDepthStencilImage(
        commands: vk::CommandBuffer,
        image: vk::Image,
        _layout: vk::ImageLayout,
        value: *const vk::ClearDepthStencilValue,
        count: u32,
        ranges: *const vk::ImageSubresourceRange,
    ) {
        let value = ClearWords([(*value).depth.to_bits(), (*value).stencil, 0, 0]);
        let ranges = slice(ranges, count);
        get::<CommandBuffer>(commands).clear_depth_stencil_image(get::<Image>(image), value, ranges);
    }

    fn vkCmdClearAttachments(
        commands: vk::CommandBuffer,
        count: u32,
        attachments: *const vk::ClearAttachment,
        rect_count: u32,
        rects: *const vk::ClearRect,
    ) {
        let attachments: Vec<_> = slice(attachments, count).iter().map(|info| read_clear(info)).collect();
        get::<CommandBuffer>(commands).clear_attachments(&attachments, slice(rects, rect_count));
    }

    fn vkCmdResolveImage(
        commands: vk::CommandBuffer,
        src: vk::Image,
        _src_layout: vk::ImageLayout,
        dst: vk::Image,
        _dst_layout: vk::ImageLayout,
        count: u32,
        regions: *const vk::ImageResolve,
    ) {
        let regions = slice(regions, count);
        get::<CommandBuffer>(commands).resolve_image(get::<Image>(src), get::<Image>(dst), regions);
    }
}
