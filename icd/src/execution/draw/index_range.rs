//! Parts of index buffers.

use ash::vk;
use vc4_kernel_abi::BoHandle;

use crate::foundation::error::Error;
use crate::segments::IndexBinding;

/// Part of an index buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct IndexRange {
    bo: BoHandle,
    ty: vk::IndexType,
    /// Byte of the first index in the BO.
    address: u64,
    /// Indices that a draw asks for …
    count: u32,
    /// … and those that the buffer holds.
    have: u32,
}

impl IndexRange {
    /// `count` indices from number `first` on.
    pub fn new(binding: &IndexBinding, first: u32, count: u32) -> Result<IndexRange, Error> {
        let size = match binding.ty {
            vk::IndexType::UINT8_KHR => 1,
            vk::IndexType::UINT16 => 2,
            vk::IndexType::UINT32 => 4,
            other => return Err(Error::InvalidUse(format!("indices of type {other:?}"))),
        };
        let place = binding.buffer.binding()?;
        let start = binding.offset.saturating_add(u64::from(first) * size);
        let there = binding.buffer.size().saturating_sub(start) / size;
        // What lies behind the end is index 0, again and again: no primitive after the first few has an area.
        let count = u64::from(count).min(there + 3) as u32;
        let have = there.min(u64::from(count)) as u32;
        let (bo, address) = (place.bo.handle(), place.offset.saturating_add(start));
        Ok(IndexRange { bo, ty: binding.ty, address, count, have })
    }

    /// Byte of the first index in the BO.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// How many there are; what a draw asks for far behind the buffer's end is left out.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// How many of them the buffer holds.
    pub fn have(&self) -> usize {
        self.have as usize
    }

    /// The buffer holds all of them.
    pub fn is_complete(&self) -> bool {
        self.have == self.count
    }

    /// Bytes of an index.
    pub fn index_bytes(&self) -> usize {
        match self.ty {
            vk::IndexType::UINT8_KHR => 1,
            vk::IndexType::UINT16 => 2,
            _ => 4,
        }
    }

    /// The index that restarts.
    pub fn restart(&self) -> u32 {
        match self.ty {
            vk::IndexType::UINT8_KHR => 0xff,
            vk::IndexType::UINT16 => 0xffff,
            _ => u32::MAX,
        }
    }
}
