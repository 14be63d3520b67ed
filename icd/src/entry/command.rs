//! VkCommandPool, VkCommandBuffer, and the commands that are no transfers or queries.

use std::ffi::c_void;
use std::sync::Arc;

use ash::vk;

use super::guard::entry_points;
use super::read::{extension, give, objects, slice};
use crate::execution::open_device::OpenDevice;
use crate::foundation::error::Error;
use crate::foundation::handle::{self, HostAllocator, get, opt};
use crate::objects::buffer::Buffer;
use crate::objects::command_pool::CommandPool;
use crate::objects::descriptor::DescriptorSet;
use crate::objects::device::Device;
use crate::objects::render_pass::{Framebuffer, RenderPass};
use crate::objects::sync::Event;
use crate::pipeline::PipelineObject;
use crate::pipeline::layout::PipelineLayout;
use crate::recording::command_buffer::{CommandBuffer, Inheritance};
use crate::recording::pass::PassBegin;
use crate::segments::IndirectDraw;

use super::transfer::words;

/// Allocates all command buffers or none.
unsafe fn allocate(
    device: &Arc<Device>,
    pool: &CommandPool,
    level: vk::CommandBufferLevel,
    count: u32,
) -> Result<Vec<vk::CommandBuffer>, Error> {
    let mut made = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let commands = Arc::new(CommandBuffer::new(device, level));
        match handle::create(pool.allocator(), commands) {
            Ok(handle) => {
                pool.keep(handle);
                made.push(handle);
            }
            Err(error) => {
                // SAFETY: the command buffers were just made and nobody knows them yet.
                unsafe { free(pool, &made) };
                return Err(error);
            }
        }
    }
    Ok(made)
}

unsafe fn free(pool: &CommandPool, handles: &[vk::CommandBuffer]) {
    for handle in handles {
        if pool.forget(*handle) {
            // SAFETY: the pool knew the handle, so it is live.
            drop(unsafe { handle::take::<CommandBuffer>(*handle, HostAllocator::default()) });
        }
    }
}

unsafe fn read_inheritance(info: *const vk::CommandBufferInheritanceInfo<'_>) -> Option<Inheritance> {
    // SAFETY: the caller passes null or a valid structure with live handles.
    unsafe {
        let info = info.as_ref()?;
        Some(Inheritance {
            render_pass: opt::<RenderPass>(info.render_pass).cloned(),
            subpass: info.subpass,
            framebuffer: opt::<Framebuffer>(info.framebuffer).cloned(),
        })
    }
}

/// The area of a pass: that of the only device of a group, if the chain has one of its own.
pub(super) unsafe fn read_area(next: *const c_void, area: vk::Rect2D) -> vk::Rect2D {
    // SAFETY: the caller passes a valid chain.
    unsafe {
        let group = extension::<vk::DeviceGroupRenderPassBeginInfo<'_>>(next);
        let areas = group.map(|group| slice(group.p_device_render_areas, group.device_render_area_count));
        areas.and_then(<[_]>::first).copied().unwrap_or(area)
    }
}

unsafe fn read_begin(info: &vk::RenderPassBeginInfo<'_>) -> Result<PassBegin, Error> {
    // SAFETY: the caller passes a valid structure with live handles.
    unsafe {
        let framebuffer = get::<Framebuffer>(info.framebuffer);
        let framebuffer = match extension::<vk::RenderPassAttachmentBeginInfo<'_>>(info.p_next) {
            Some(given) if given.attachment_count > 0 => {
                Arc::new(framebuffer.with(objects(given.p_attachments, given.attachment_count))?)
            }
            _ => framebuffer.clone(),
        };
        Ok(PassBegin {
            render_pass: get::<RenderPass>(info.render_pass).clone(),
            framebuffer,
            area: read_area(info.p_next, info.render_area),
            clears: slice(info.p_clear_values, info.clear_value_count)
                .iter()
                .map(|value| words(&value.color))
                .collect(),
            suspends: false,
        })
    }
}

/// Records a draw whose parameters lie in a buffer from an offset on, one `stride` behind the other: `count` of them, or
/// fewer if a word of another buffer says so.
unsafe fn draw_indirect(
    command: &'static str,
    indexed: bool,
    commands: vk::CommandBuffer,
    (buffer, offset, stride): (vk::Buffer, u64, u32),
    count: u32,
    counted: Option<(vk::Buffer, u64)>,
) {
    // SAFETY: the handles are live by valid usage.
    unsafe {
        let buffer = get::<Buffer>(buffer).clone();
        let counted = counted.map(|(buffer, offset)| (get::<Buffer>(buffer).clone(), offset));
        let draw = IndirectDraw { buffer, offset, count, counted, stride, indexed };
        get::<CommandBuffer>(commands).draw_indirect(command, draw);
    }
}

entry_points! {
    fn vkCreateCommandPool(
        device: vk::Device,
        info: *const vk::CommandPoolCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::CommandPool,
    ) -> vk::Result {
        let device = get::<OpenDevice>(device);
        let allocator = HostAllocator::new(callbacks).or(device.allocator());
        give(device.allocator(), callbacks, out, CommandPool::new((*info).flags, allocator))
    }

    fn vkDestroyCommandPool(
        _device: vk::Device,
        pool: vk::CommandPool,
        callbacks: *const vk::AllocationCallbacks<'_>,
    ) {
        if let Some(pool) = handle::take::<CommandPool>(pool, HostAllocator::new(callbacks)) {
            free(&pool, &pool.handles());
        }
    }

    fn vkResetCommandPool(
        _device: vk::Device,
        pool: vk::CommandPool,
        flags: vk::CommandPoolResetFlags,
    ) -> vk::Result {
        for handle in get::<CommandPool>(pool).handles() {
            let keeps_memory = !flags.contains(vk::CommandPoolResetFlags::RELEASE_RESOURCES);
            get::<CommandBuffer>(handle).reset(keeps_memory);
        }
        Ok(())
    }

    fn vkTrimCommandPoolKHR(_device: vk::Device, pool: vk::CommandPool, _flags: vk::CommandPoolTrimFlags) {
        for handle in get::<CommandPool>(pool).handles() {
            get::<CommandBuffer>(handle).trim();
        }
    }

    fn vkAllocateCommandBuffers(
        device: vk::Device,
        info: *const vk::CommandBufferAllocateInfo<'_>,
        out: *mut vk::CommandBuffer,
    ) -> vk::Result {
        let info = &*info;
        let count = info.command_buffer_count;
        // On failure every element is the null handle.
        (0..count as usize).for_each(|index| out.add(index).write(vk::CommandBuffer::null()));
        let pool = get::<CommandPool>(info.command_pool);
        let made = allocate(get::<OpenDevice>(device), pool, info.level, count)?;
        std::ptr::copy_nonoverlapping(made.as_ptr(), out, made.len());
        Ok(())
    }

    fn vkFreeCommandBuffers(
        _device: vk::Device,
        pool: vk::CommandPool,
        count: u32,
        commands: *const vk::CommandBuffer,
    ) {
        free(get::<CommandPool>(pool), slice(commands, count));
    }

    fn vkBeginCommandBuffer(
        commands: vk::CommandBuffer,
        info: *const vk::CommandBufferBeginInfo<'_>,
    ) -> vk::Result {
        let commands = get::<CommandBuffer>(commands);
        // For primary command buffers the pointer is ignored and may be anything.
        let inheritance = match commands.level() {
            vk::CommandBufferLevel::SECONDARY => read_inheritance((*info).p_inheritance_info),
            _ => None,
        };
        commands.begin((*info).flags, inheritance)
    }

    fn vkEndCommandBuffer(commands: vk::CommandBuffer) -> vk::Result {
        get::<CommandBuffer>(commands).end()
    }

    fn vkResetCommandBuffer(commands: vk::CommandBuffer, flags: vk::CommandBufferResetFlags) -> vk::Result {
        let keeps_memory = !flags.contains(vk::CommandBufferResetFlags::RELEASE_RESOURCES);
        get::<CommandBuffer>(commands).reset(keeps_memory);
        Ok(())
    }

    fn vkCmdBindPipeline(commands: vk::CommandBuffer, point: vk::PipelineBindPoint, pipeline: vk::Pipeline) {
        get::<CommandBuffer>(commands).bind_pipeline(point, get::<PipelineObject>(pipeline));
    }

    fn vkCmdSetViewport(commands: vk::CommandBuffer, first: u32, count: u32, viewports: *const vk::Viewport) {
        get::<CommandBuffer>(commands).set_viewport(first, slice(viewports, count));
    }

    fn vkCmdSetScissor(commands: vk::CommandBuffer, first: u32, count: u32, scissors: *const vk::Rect2D) {
        get::<CommandBuffer>(commands).set_scissor(first, slice(scissors, count));
    }

    fn vkCmdSetLineWidth(commands: vk::CommandBuffer, width: f32) {
        get::<CommandBuffer>(commands).set_line_width(width);
    }

    fn vkCmdSetLineStippleEXT(_commands: vk::CommandBuffer, _factor: u32, _pattern: u16) {
        // No pipeline has lines with gaps.
    }

    fn vkCmdSetDepthBias(commands: vk::CommandBuffer, constant: f32, clamp: f32, slope: f32) {
        get::<CommandBuffer>(commands).set_depth_bias(constant, clamp, slope);
    }

    fn vkCmdSetBlendConstants(commands: vk::CommandBuffer, constants: *const [f32; 4]) {
        get::<CommandBuffer>(commands).set_blend_constants(*constants);
    }

    fn vkCmdSetDepthBounds(commands: vk::CommandBuffer, min: f32, max: f32) {
        get::<CommandBuffer>(commands).set_depth_bounds(min, max);
    }

    fn vkCmdSetStencilCompareMask(commands: vk::CommandBuffer, faces: vk::StencilFaceFlags, mask: u32) {
        get::<CommandBuffer>(commands).set_stencil_compare_mask(faces, mask);
    }

    fn vkCmdSetStencilWriteMask(commands: vk::CommandBuffer, faces: vk::StencilFaceFlags, mask: u32) {
        get::<CommandBuffer>(commands).set_stencil_write_mask(faces, mask);
    }

    fn vkCmdSetStencilReference(commands: vk::CommandBuffer, faces: vk::StencilFaceFlags, reference: u32) {
        get::<CommandBuffer>(commands).set_stencil_reference(faces, reference);
    }

    fn vkCmdBindDescriptorSets(
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        layout: vk::PipelineLayout,
        first: u32,
        count: u32,
        sets: *const vk::DescriptorSet,
        dynamic_count: u32,
        dynamic: *const u32,
    ) {
        let sets = slice(sets, count).iter().filter_map(|set| opt::<DescriptorSet>(*set));
        let layout = get::<PipelineLayout>(layout);
        let commands = get::<CommandBuffer>(commands);
        commands.bind_descriptor_sets(point, layout, first, sets, slice(dynamic, dynamic_count));
    }

    fn vkCmdBindIndexBuffer(
        commands: vk::CommandBuffer,
        buffer: vk::Buffer,
        offset: vk::DeviceSize,
        ty: vk::IndexType,
    ) {
        get::<CommandBuffer>(commands).bind_index_buffer(get::<Buffer>(buffer), offset, ty);
    }

    fn vkCmdBindVertexBuffers(
        commands: vk::CommandBuffer,
        first: u32,
        count: u32,
        buffers: *const vk::Buffer,
        offsets: *const vk::DeviceSize,
    ) {
        let buffers = slice(buffers, count).iter().filter_map(|buffer| opt::<Buffer>(*buffer));
        let bound = buffers.zip(slice(offsets, count).iter().copied());
        get::<CommandBuffer>(commands).bind_vertex_buffers(first, bound);
    }

    fn vkCmdPushConstants(
        commands: vk::CommandBuffer,
        layout: vk::PipelineLayout,
        stages: vk::ShaderStageFlags,
        offset: u32,
        size: u32,
        values: *const c_void,
    ) {
        let values = slice(values.cast::<u8>(), size);
        get::<CommandBuffer>(commands).push_constants(get::<PipelineLayout>(layout), stages, offset, values);
    }

    fn vkCmdDraw(
        commands: vk::CommandBuffer,
        vertices: u32,
        instances: u32,
        first_vertex: u32,
        first_instance: u32,
    ) {
        get::<CommandBuffer>(commands).draw(vertices, instances, first_vertex, first_instance);
    }

    fn vkCmdDrawIndexed(
        commands: vk::CommandBuffer,
        indices: u32,
        instances: u32,
        first_index: u32,
        vertex_offset: i32,
        first_instance: u32,
    ) {
        let commands = get::<CommandBuffer>(commands);
        commands.draw_indexed(indices, instances, first_index, vertex_offset, first_instance);
    }

    fn vkCmdDrawIndirect(
        commands: vk::CommandBuffer,
        buffer: vk::Buffer,
        offset: vk::DeviceSize,
        draws: u32,
        stride: u32,
    ) {
        draw_indirect("vkCmdDrawIndirect", false, commands, (buffer, offset, stride), draws, None);
    }

    fn vkCmdDrawIndexedIndirect(
        commands: vk::CommandBuffer,
        buffer: vk::Buffer,
        offset: vk::DeviceSize,
        draws: u32,
        stride: u32,
    ) {
        draw_indirect("vkCmdDrawIndexedIndirect", true, commands, (buffer, offset, stride), draws, None);
    }

    fn vkCmdDrawIndirectCountKHR(
        commands: vk::CommandBuffer,
        buffer: vk::Buffer,
        offset: vk::DeviceSize,
        count_buffer: vk::Buffer,
        count_offset: vk::DeviceSize,
        most: u32,
        stride: u32,
    ) {
        let counted = Some((count_buffer, count_offset));
        draw_indirect("vkCmdDrawIndirectCount", false, commands, (buffer, offset, stride), most, counted);
    }

    fn vkCmdDrawIndexedIndirectCountKHR(
        commands: vk::CommandBuffer,
        buffer: vk::Buffer,
        offset: vk::DeviceSize,
        count_buffer: vk::Buffer,
        count_offset: vk::DeviceSize,
        most: u32,
        stride: u32,
    ) {
        let counted = Some((count_buffer, count_offset));
        draw_indirect("vkCmdDrawIndexedIndirectCount", true, commands, (buffer, offset, stride), most, counted);
    }

    fn vkCmdDispatch(commands: vk::CommandBuffer, x: u32, y: u32, z: u32) {
        get::<CommandBuffer>(commands).dispatch([0; 3], [x, y, z]);
    }

    fn vkCmdDispatchIndirect(commands: vk::CommandBuffer, buffer: vk::Buffer, offset: vk::DeviceSize) {
        get::<CommandBuffer>(commands).dispatch_indirect(get::<Buffer>(buffer), offset);
    }

    fn vkCmdBeginRenderPass(
        commands: vk::CommandBuffer,
        info: *const vk::RenderPassBeginInfo<'_>,
        _contents: vk::SubpassContents,
    ) {
        get::<CommandBuffer>(commands).begin_render_pass(read_begin(&*info));
    }

    fn vkCmdBeginRenderPass2KHR(
        commands: vk::CommandBuffer,
        info: *const vk::RenderPassBeginInfo<'_>,
        _begin: *const vk::SubpassBeginInfo<'_>,
    ) {
        get::<CommandBuffer>(commands).begin_render_pass(read_begin(&*info));
    }

    fn vkCmdNextSubpass(commands: vk::CommandBuffer, _contents: vk::SubpassContents) {
        get::<CommandBuffer>(commands).next_subpass();
    }

    fn vkCmdNextSubpass2KHR(
        commands: vk::CommandBuffer,
        _begin: *const vk::SubpassBeginInfo<'_>,
        _end: *const vk::SubpassEndInfo<'_>,
    ) {
        get::<CommandBuffer>(commands).next_subpass();
    }

    fn vkCmdEndRenderPass(commands: vk::CommandBuffer) {
        get::<CommandBuffer>(commands).end_render_pass();
    }

    fn vkCmdEndRenderPass2KHR(commands: vk::CommandBuffer, _end: *const vk::SubpassEndInfo<'_>) {
        get::<CommandBuffer>(commands).end_render_pass();
    }

    fn vkCmdExecuteCommands(commands: vk::CommandBuffer, count: u32, secondaries: *const vk::CommandBuffer) {
        let secondaries = objects::<CommandBuffer>(secondaries, count);
        get::<CommandBuffer>(commands).execute_commands(&secondaries);
    }

    fn vkCmdSetEvent(commands: vk::CommandBuffer, event: vk::Event, stages: vk::PipelineStageFlags) {
        get::<CommandBuffer>(commands).set_event(get::<Event>(event), stages);
    }

    fn vkCmdResetEvent(commands: vk::CommandBuffer, event: vk::Event, stages: vk::PipelineStageFlags) {
        get::<CommandBuffer>(commands).reset_event(get::<Event>(event), stages);
    }

    fn vkCmdWaitEvents(
        commands: vk::CommandBuffer,
        count: u32,
        events: *const vk::Event,
        src: vk::PipelineStageFlags,
        dst: vk::PipelineStageFlags,
        _memory_count: u32,
        _memory: *const vk::MemoryBarrier<'_>,
        _buffer_count: u32,
        _buffers: *const vk::BufferMemoryBarrier<'_>,
        _image_count: u32,
        _images: *const vk::ImageMemoryBarrier<'_>,
    ) {
        get::<CommandBuffer>(commands).wait_events(&objects(events, count), src, dst);
    }

    fn vkCmdPipelineBarrier(
        commands: vk::CommandBuffer,
        src: vk::PipelineStageFlags,
        dst: vk::PipelineStageFlags,
        _flags: vk::DependencyFlags,
        _memory_count: u32,
        _memory: *const vk::MemoryBarrier<'_>,
        _buffer_count: u32,
        _buffers: *const vk::BufferMemoryBarrier<'_>,
        _image_count: u32,
        _images: *const vk::ImageMemoryBarrier<'_>,
    ) {
        get::<CommandBuffer>(commands).pipeline_barrier(src, dst);
    }
}
