//! VkDeviceMemory.

use std::ffi::c_void;

use ash::vk;

use super::entry_points;
use super::read::{destroy, give, slice};
use crate::device::Device;
use crate::error::Error;
use crate::memory::DeviceMemory;
use crate::object::get;

/// Flushing and invalidating have nothing to do: all memory is coherent.
unsafe fn check_ranges(count: u32, ranges: *const vk::MappedMemoryRange<'_>) -> Result<(), Error> {
    // SAFETY: the caller passes as many ranges as it says.
    for range in unsafe { slice(ranges, count) } {
        // SAFETY: the ranges name live memory.
        let memory = unsafe { get::<DeviceMemory>(range.memory) };
        if range.offset >= memory.size() {
            return Err(Error::InvalidUse(format!("a range at {} of {} bytes", range.offset, memory.size())));
        }
    }
    Ok(())
}

entry_points! {
    fn vkAllocateMemory(
        device: vk::Device,
        info: *const vk::MemoryAllocateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::DeviceMemory,
    ) -> vk::Result {
        let device = get::<Device>(device);
        let memory = DeviceMemory::new(device, (*info).allocation_size, (*info).memory_type_index)?;
        give(device.allocator(), callbacks, out, memory)
    }

    fn vkFreeMemory(
        _device: vk::Device,
        memory: vk::DeviceMemory,
        callbacks: *const vk::AllocationCallbacks<'_>,
    ) {
        destroy::<DeviceMemory>(memory, callbacks);
    }

    fn vkMapMemory(
        _device: vk::Device,
        memory: vk::DeviceMemory,
        offset: vk::DeviceSize,
        size: vk::DeviceSize,
        _flags: vk::MemoryMapFlags,
        out: *mut *mut c_void,
    ) -> vk::Result {
        let (mapping, offset) = get::<DeviceMemory>(memory).map(offset, size)?;
        out.write(mapping.as_ptr().add(offset).cast());
        Ok(())
    }

    fn vkUnmapMemory(_device: vk::Device, memory: vk::DeviceMemory) {
        get::<DeviceMemory>(memory).unmap();
    }

    fn vkFlushMappedMemoryRanges(
        _device: vk::Device,
        count: u32,
        ranges: *const vk::MappedMemoryRange<'_>,
    ) -> vk::Result {
        check_ranges(count, ranges)
    }

    fn vkInvalidateMappedMemoryRanges(
        _device: vk::Device,
        count: u32,
        ranges: *const vk::MappedMemoryRange<'_>,
    ) -> vk::Result {
        check_ranges(count, ranges)
    }

    fn vkGetDeviceMemoryCommitment(_device: vk::Device, memory: vk::DeviceMemory, out: *mut vk::DeviceSize) {
        out.write(get::<DeviceMemory>(memory).size());
    }
}
