//! VkBuffer and VkBufferView.

use ash::vk;

use super::guard::entry_points;
use super::read::{destroy, extension, give};
use crate::execution::open_device::OpenDevice;
use crate::foundation::handle::get;
use crate::objects::buffer::{Buffer, BufferView};
use crate::objects::memory::DeviceMemory;

/// Whether a buffer's memory may be shared with others.
///
/// # Safety
/// `info` has a valid chain.
pub(super) unsafe fn is_shared(info: &vk::BufferCreateInfo<'_>) -> bool {
    // SAFETY: by the contract.
    let external = unsafe { extension::<vk::ExternalMemoryBufferCreateInfo<'_>>(info.p_next) };
    external.is_some_and(|external| !external.handle_types.is_empty())
}

entry_points! {
    fn vkCreateBuffer(
        device: vk::Device,
        info: *const vk::BufferCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Buffer,
    ) -> vk::Result {
        let device = get::<OpenDevice>(device);
        give(device.allocator(), callbacks, out, Buffer::new_for(device, &*info, is_shared(&*info))?)
    }

    fn vkDestroyBuffer(_device: vk::Device, buffer: vk::Buffer, callbacks: *const vk::AllocationCallbacks<'_>) {
        destroy::<Buffer>(buffer, callbacks);
    }

    fn vkBindBufferMemory(
        _device: vk::Device,
        buffer: vk::Buffer,
        memory: vk::DeviceMemory,
        offset: vk::DeviceSize,
    ) -> vk::Result {
        get::<Buffer>(buffer).bind(get::<DeviceMemory>(memory), offset)
    }

    fn vkGetBufferMemoryRequirements(
        _device: vk::Device,
        buffer: vk::Buffer,
        out: *mut vk::MemoryRequirements,
    ) {
        out.write(get::<Buffer>(buffer).requirements());
    }

    fn vkCreateBufferView(
        device: vk::Device,
        info: *const vk::BufferViewCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::BufferView,
    ) -> vk::Result {
        let info = &*info;
        let view = BufferView::new(get::<Buffer>(info.buffer), info.format, info.offset, info.range)?;
        give(get::<OpenDevice>(device).allocator(), callbacks, out, view)
    }

    fn vkDestroyBufferView(
        _device: vk::Device,
        view: vk::BufferView,
        callbacks: *const vk::AllocationCallbacks<'_>,
    ) {
        destroy::<BufferView>(view, callbacks);
    }
}
