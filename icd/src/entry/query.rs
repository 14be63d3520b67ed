//! VkQueryPool.

use std::ffi::c_void;

use ash::vk;

use super::guard::entry_points;
use super::read::{destroy, give};
use crate::execution::open_device::OpenDevice;
use crate::foundation::handle::get;
use crate::objects::buffer::Buffer;
use crate::objects::query::QueryPool;
use crate::recording::command_buffer::CommandBuffer;

entry_points! {
    fn vkCreateQueryPool(
        device: vk::Device,
        info: *const vk::QueryPoolCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::QueryPool,
    ) -> vk::Result {
        let device = get::<OpenDevice>(device);
        let pool = QueryPool::new(device, &*info)?;
        give(device.allocator(), callbacks, out, pool)
    }

    fn vkDestroyQueryPool(
        _device: vk::Device,
        pool: vk::QueryPool,
        callbacks: *const vk::AllocationCallbacks<'_>,
    ) {
        destroy::<QueryPool>(pool, callbacks);
    }

    fn vkGetQueryPoolResults(
        device: vk::Device,
        pool: vk::QueryPool,
        first: u32,
        count: u32,
        size: usize,
        out: *mut c_void,
        stride: vk::DeviceSize,
        flags: vk::QueryResultFlags,
    ) -> vk::Result {
        let size = if out.is_null() { 0 } else { size };
        let out = if size == 0 { &mut [] } else { std::slice::from_raw_parts_mut(out.cast::<u8>(), size) };
        let pool = get::<QueryPool>(pool);
        pool.read(get::<OpenDevice>(device), (first, count), out, stride as usize, flags)
    }

    fn vkResetQueryPoolEXT(_device: vk::Device, pool: vk::QueryPool, first: u32, count: u32) {
        get::<QueryPool>(pool).reset(first, count);
    }

    fn vkCmdBeginQuery(
        commands: vk::CommandBuffer,
        pool: vk::QueryPool,
        query: u32,
        flags: vk::QueryControlFlags,
    ) {
        get::<CommandBuffer>(commands).begin_query(get::<QueryPool>(pool), query, flags);
    }

    fn vkCmdEndQuery(commands: vk::CommandBuffer, pool: vk::QueryPool, query: u32) {
        get::<CommandBuffer>(commands).end_query(get::<QueryPool>(pool), query);
    }

    fn vkCmdResetQueryPool(commands: vk::CommandBuffer, pool: vk::QueryPool, first: u32, count: u32) {
        get::<CommandBuffer>(commands).reset_query_pool(get::<QueryPool>(pool), first, count);
    }

    fn vkCmdWriteTimestamp(
        commands: vk::CommandBuffer,
        stage: vk::PipelineStageFlags,
        pool: vk::QueryPool,
        query: u32,
    ) {
        get::<CommandBuffer>(commands).write_timestamp(get::<QueryPool>(pool), query, stage);
    }

    fn vkCmdCopyQueryPoolResults(
        commands: vk::CommandBuffer,
        pool: vk::QueryPool,
        first: u32,
        count: u32,
        buffer: vk::Buffer,
        offset: vk::DeviceSize,
        stride: vk::DeviceSize,
        flags: vk::QueryResultFlags,
    ) {
        let (pool, buffer) = (get::<QueryPool>(pool), get::<Buffer>(buffer));
        let commands = get::<CommandBuffer>(commands);
        commands.copy_query_pool_results(pool, (first, count), buffer, offset, stride, flags);
    }
}
