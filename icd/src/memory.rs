//! VkDeviceMemory: one BO each.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ash::vk;
use vc4_kernel_abi::Mapping;

use crate::bo::Bo;
use crate::device::Device;
use crate::error::Error;
use crate::object::Object;

/// Device memory.
pub struct DeviceMemory {
    device: Arc<Device>,
    bo: Arc<Bo>,
    size: u64,
    mapped: AtomicBool,
}

impl Object for DeviceMemory {
    type Handle = vk::DeviceMemory;
}

impl DeviceMemory {
    /// Allocates `size` bytes of memory type `memory_type`.
    pub fn new(device: &Arc<Device>, size: u64, memory_type: u32) -> Result<DeviceMemory, Error> {
        if size == 0 {
            return Err(Error::InvalidUse(
                "an allocation of 0 bytes; allocationSize must be positive".into(),
            ));
        }
        if memory_type != 0 {
            return Err(Error::InvalidUse(format!("memory type {memory_type}; the device has only type 0")));
        }
        device.count_allocation()?;
        let bo = device.create_bo("vkAllocateMemory", size).inspect_err(|_| device.uncount_allocation())?;
        Ok(DeviceMemory { device: device.clone(), bo, size, mapped: AtomicBool::new(false) })
    }

    /// The BO behind it.
    pub fn bo(&self) -> &Arc<Bo> {
        &self.bo
    }

    /// Bytes asked for.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// vkMapMemory: the mapping and the byte in it that `offset` names.
    pub fn map(&self, offset: u64, size: u64) -> Result<(Mapping, usize), Error> {
        let end = if size == vk::WHOLE_SIZE { Some(self.size) } else { offset.checked_add(size) };
        let inside = offset < self.size && size != 0 && end.is_some_and(|end| end <= self.size);
        if !inside {
            let why = format!("{size} bytes at {offset} of an allocation of {} bytes", self.size);
            return Err(Error::MemoryMap(why));
        }
        if self.mapped.swap(true, Ordering::Relaxed) {
            return Err(Error::MemoryMap("it is mapped already".into()));
        }
        let mapping = self.bo.map().map_err(|error| Error::MemoryMap(error.to_string()));
        let mapping = mapping.inspect_err(|_| self.unmap())?;
        Ok((mapping, offset as usize))
    }

    /// vkUnmapMemory. The address range stays mapped: BOs are mapped once.
    pub fn unmap(&self) {
        self.mapped.store(false, Ordering::Relaxed);
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        self.device.uncount_allocation();
    }
}

/// Where a buffer or an image lies: set once by vkBind…Memory (or by a swapchain).
#[derive(Clone, Debug)]
pub struct Binding {
    /// The BO.
    pub bo: Arc<Bo>,
    /// Byte offset in it.
    pub offset: u64,
}

impl Binding {
    /// Checks that `size` bytes at `offset` with that alignment lie in `memory`.
    pub fn new(memory: &DeviceMemory, offset: u64, size: u64, alignment: u64) -> Result<Binding, Error> {
        if offset % alignment != 0 {
            return Err(Error::InvalidUse(format!("offset {offset} is no multiple of {alignment}")));
        }
        // The BO is rounded up to pages, the application's view of it is not.
        if offset.checked_add(size).is_none_or(|end| end > memory.size()) {
            let size_ = memory.size();
            return Err(Error::InvalidUse(format!(
                "{size} bytes at {offset} leave an allocation of {size_}"
            )));
        }
        Ok(Binding { bo: memory.bo().clone(), offset })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::device;

    #[test]
    fn impossible_sizes_give_the_right_error() {
        let device = device();
        let result = |size| DeviceMemory::new(&device, size, 0).err().map(|error| error.result());
        assert_eq!(result(0), Some(vk::Result::ERROR_VALIDATION_FAILED_EXT));
        assert_eq!(result(u64::MAX), Some(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY));
        assert_eq!(result(1 << 40), Some(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY));
        assert_eq!(result(1), None);
    }

    #[test]
    fn a_map_stays_inside_and_happens_once() {
        let memory = DeviceMemory::new(&device(), 100, 0).unwrap();
        assert!(memory.map(0, 101).is_err());
        assert!(memory.map(100, 1).is_err());
        assert!(memory.map(u64::MAX, 2).is_err());
        let (mapping, at) = memory.map(10, vk::WHOLE_SIZE).unwrap();
        assert_eq!((mapping.len(), at), (4096, 10));
        assert!(memory.map(0, 1).is_err());
        memory.unmap();
        memory.map(99, 1).unwrap();
    }

    #[test]
    fn more_allocations_than_the_limit_are_refused_until_one_is_freed() {
        let device = device();
        let limit = device.physical().properties().limits.max_memory_allocation_count;
        let mut all: Vec<_> = (0..limit).map(|_| DeviceMemory::new(&device, 1, 0).unwrap()).collect();
        let refused = DeviceMemory::new(&device, 1, 0).err().unwrap();
        assert_eq!(refused.result(), vk::Result::ERROR_TOO_MANY_OBJECTS);
        all.pop();
        DeviceMemory::new(&device, 1, 0).unwrap();
    }
}
