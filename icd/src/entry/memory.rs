//! VkDeviceMemory.

use std::ffi::{c_int, c_void};
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};

use ash::vk::{self, Handle};

use super::guard::entry_points;
use super::read::{destroy, extension, give, slice};
use crate::execution::open_device::OpenDevice;
use crate::foundation::error::Error;
use crate::foundation::handle::get;
use crate::objects::memory::{DeviceMemory, Origin};
use crate::objects::memory_type::MemoryType;
use crate::objects::physical_device::EXTERNAL_TYPES;

/// Does something with ranges of mapped memory.
unsafe fn for_each(
    count: u32,
    ranges: *const vk::MappedMemoryRange<'_>,
    act: fn(&DeviceMemory, u64, u64) -> Result<(), Error>,
) -> Result<(), Error> {
    // SAFETY: the caller passes as many ranges as it says.
    let mut ranges = unsafe { slice(ranges, count) }.iter();
    // SAFETY: the ranges name live memory.
    ranges.try_for_each(|range| act(unsafe { get::<DeviceMemory>(range.memory) }, range.offset, range.size))
}

fn check_types(types: vk::ExternalMemoryHandleTypeFlags) -> Result<(), Error> {
    match types & !EXTERNAL_TYPES {
        rest if rest.is_empty() => Ok(()),
        _ => Err(Error::Result(
            vk::Result::ERROR_INVALID_EXTERNAL_HANDLE,
            format!("memory of handle type {types:?}; file descriptors of BOs are all there is"),
        )),
    }
}

/// The descriptor that an allocation imports.
unsafe fn read_import(info: &vk::MemoryAllocateInfo<'_>) -> Result<Option<OwnedFd>, Error> {
    // SAFETY: the caller passes a valid chain.
    let import = unsafe { extension::<vk::ImportMemoryFdInfoKHR<'_>>(info.p_next) };
    let Some(import) = import.filter(|import| !import.handle_type.is_empty()) else { return Ok(None) };
    check_types(import.handle_type)?;
    if import.fd < 0 {
        let why = format!("the file descriptor {}", import.fd);
        return Err(Error::Result(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE, why));
    }
    // SAFETY: the application hands an open descriptor over.
    Ok(Some(unsafe { OwnedFd::from_raw_fd(import.fd) }))
}

/// What else an allocation is to be.
unsafe fn read_origin(info: &vk::MemoryAllocateInfo<'_>) -> Result<Origin<'static>, Error> {
    // SAFETY: the caller passes a valid chain.
    unsafe {
        let export = extension::<vk::ExportMemoryAllocateInfo<'_>>(info.p_next);
        if let Some(export) = export.filter(|export| !export.handle_types.is_empty()) {
            check_types(export.handle_types)?;
            return Ok(Origin::Exportable);
        }
        let dedicated = extension::<vk::MemoryDedicatedAllocateInfo<'_>>(info.p_next);
        let is_alone = dedicated.is_some_and(|info| !info.buffer.is_null() || !info.image.is_null());
        Ok(if is_alone { Origin::Alone } else { Origin::Shared })
    }
}

entry_points! {
    fn vkAllocateMemory(
        device: vk::Device,
        info: *const vk::MemoryAllocateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::DeviceMemory,
    ) -> vk::Result {
        let device = get::<OpenDevice>(device);
        let (info, import) = (&*info, read_import(&*info)?);
        let origin = match &import {
            Some(fd) => Origin::Imported(fd.as_fd()),
            None => read_origin(info)?,
        };
        let ty = MemoryType::of_index(info.memory_type_index, device.physical().memory_types());
        let memory = ty.and_then(|ty| DeviceMemory::new(device, info.allocation_size, ty, origin));
        let done = memory.and_then(|memory| give(device.allocator(), callbacks, out, memory));
        if let (Some(fd), Err(_)) = (import, &done) {
            // Only a success takes the descriptor over.
            let _ = fd.into_raw_fd();
        }
        done
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
        for_each(count, ranges, DeviceMemory::flush)
    }

    fn vkInvalidateMappedMemoryRanges(
        _device: vk::Device,
        count: u32,
        ranges: *const vk::MappedMemoryRange<'_>,
    ) -> vk::Result {
        for_each(count, ranges, DeviceMemory::invalidate)
    }

    fn vkGetMemoryFdKHR(
        _device: vk::Device,
        info: *const vk::MemoryGetFdInfoKHR<'_>,
        out: *mut c_int,
    ) -> vk::Result {
        check_types((*info).handle_type)?;
        out.write(get::<DeviceMemory>((*info).memory).export()?.into_raw_fd());
        Ok(())
    }

    fn vkGetMemoryFdPropertiesKHR(
        device: vk::Device,
        handle_type: vk::ExternalMemoryHandleTypeFlags,
        fd: c_int,
        out: *mut vk::MemoryFdPropertiesKHR<'_>,
    ) -> vk::Result {
        check_types(handle_type)?;
        let invalid = || {
            let why = format!("file descriptor {fd}");
            Error::Result(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE, why)
        };
        if fd < 0 {
            return Err(invalid());
        }
        let bos = get::<OpenDevice>(device).physical().shared_bos();
        // All shared memory is of one type; the question is whether the descriptor is any BO's.
        bos.import(BorrowedFd::borrow_raw(fd)).map_err(|_| invalid())?;
        (*out).memory_type_bits = MemoryType::OF_SHARED;
        Ok(())
    }

    fn vkGetDeviceMemoryCommitment(_device: vk::Device, memory: vk::DeviceMemory, out: *mut vk::DeviceSize) {
        out.write(get::<DeviceMemory>(memory).size());
    }
}
