//! Bus memory: one flat range that BOs, kernel copies and binner memory are carved from.
//!
//! The CPU side (applications, the driver) and the simulated GPU share it without locks, as on the
//! chip, so every word is an atomic accessed with relaxed order. Pages cost host memory only once
//! they are touched.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// BOs are made of these (kernel-abi.md §4.3).
pub const PAGE_BYTES: u32 = 4096;

/// First bus address handed out; address 0 stays invalid.
const FIRST_PAGE: u32 = 1;

/// Access outside of bus memory: on the chip this reads garbage or stalls the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bus address {address:#010x} lies outside of the simulated memory")]
pub struct BusError {
    /// The faulting address.
    pub address: u32,
}

/// Bus memory with a first-fit page allocator.
pub struct Memory {
    words: Box<[AtomicU32]>,
    /// Free page runs: first page to page count, never adjacent.
    free: Mutex<BTreeMap<u32, u32>>,
}

impl Memory {
    /// A memory of `bytes` bytes (rounded down to pages).
    pub fn new(bytes: u32) -> Memory {
        let pages = bytes / PAGE_BYTES;
        let words = bytemuck::zeroed_slice_box((pages * (PAGE_BYTES / 4)) as usize);
        Memory { words, free: Mutex::new(BTreeMap::from([(FIRST_PAGE, pages - FIRST_PAGE)])) }
    }

    /// Size in bytes.
    pub fn size(&self) -> u32 {
        (self.words.len() * 4) as u32
    }

    /// Allocates zeroed, contiguous pages for `bytes` bytes; `None` when no run is long enough.
    pub fn allocate(&self, bytes: u32) -> Option<u32> {
        let pages = bytes.checked_add(PAGE_BYTES - 1)? / PAGE_BYTES;
        let first = {
            let mut free = self.free.lock().expect("no panic while the list is held");
            let (&first, &run) = free.iter().find(|&(_, &run)| run >= pages && pages > 0)?;
            free.remove(&first);
            if run > pages {
                free.insert(first + pages, run - pages);
            }
            first
        };
        let address = first * PAGE_BYTES;
        for word in self.range(address, pages * PAGE_BYTES) {
            // Reading first keeps pages that were never used out of the resident set.
            if word.load(Relaxed) != 0 {
                word.store(0, Relaxed);
            }
        }
        Some(address)
    }

    /// Returns the pages that [`Memory::allocate`] gave for `bytes` bytes at `address`.
    pub fn release(&self, address: u32, bytes: u32) {
        let mut first = address / PAGE_BYTES;
        let mut pages = bytes.div_ceil(PAGE_BYTES);
        let mut free = self.free.lock().expect("no panic while the list is held");
        if let Some(next) = free.remove(&(first + pages)) {
            pages += next;
        }
        if let Some((&before, &run)) = free.range(..first).next_back() {
            if before + run == first {
                free.remove(&before);
                first = before;
                pages += run;
            }
        }
        free.insert(first, pages);
    }

    /// Host address of a bus address, for mapping a BO into the driver.
    pub fn host_ptr(&self, address: u32) -> *mut u8 {
        self.words[(address / 4) as usize].as_ptr().cast()
    }

    /// The word at `address`; the two low bits are ignored as the bus does.
    #[inline]
    pub fn read(&self, address: u32) -> Result<u32, BusError> {
        match self.words.get((address / 4) as usize) {
            Some(word) => Ok(u32::from_le(word.load(Relaxed))),
            None => Err(BusError { address }),
        }
    }

    /// Writes the word at `address`.
    #[inline]
    pub fn write(&self, address: u32, value: u32) -> Result<(), BusError> {
        match self.words.get((address / 4) as usize) {
            Some(word) => {
                word.store(value.to_le(), Relaxed);
                Ok(())
            }
            None => Err(BusError { address }),
        }
    }

    /// The byte at `address`.
    pub fn read_u8(&self, address: u32) -> Result<u8, BusError> {
        Ok((self.read(address)? >> (8 * (address & 3))) as u8)
    }

    /// The little-endian half word at `address`, any alignment.
    pub fn read_u16(&self, address: u32) -> Result<u16, BusError> {
        Ok(u16::from_le_bytes([self.read_u8(address)?, self.read_u8(address.wrapping_add(1))?]))
    }

    /// Copies bytes out.
    pub fn read_bytes(&self, address: u32, out: &mut [u8]) -> Result<(), BusError> {
        for (i, byte) in out.iter_mut().enumerate() {
            *byte = self.read_u8(address.wrapping_add(i as u32))?;
        }
        Ok(())
    }

    /// Copies bytes in; not atomic with respect to other bytes of the first and last word.
    pub fn write_bytes(&self, address: u32, bytes: &[u8]) -> Result<(), BusError> {
        for (i, &byte) in bytes.iter().enumerate() {
            let at = address.wrapping_add(i as u32);
            let shift = 8 * (at & 3);
            let old = self.read(at)?;
            self.write(at, (old & !(0xff << shift)) | (u32::from(byte) << shift))?;
        }
        Ok(())
    }

    /// The words of `bytes` bytes at `address`, both word aligned.
    pub fn range(&self, address: u32, bytes: u32) -> &[AtomicU32] {
        &self.words[(address / 4) as usize..((address + bytes) / 4) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn released_pages_join_and_come_back_zeroed() {
        let memory = Memory::new(16 * PAGE_BYTES);
        let a = memory.allocate(2 * PAGE_BYTES).unwrap();
        let b = memory.allocate(1).unwrap();
        assert_eq!(b, a + 2 * PAGE_BYTES);
        memory.write(a + 4, 7).unwrap();
        memory.release(a, 2 * PAGE_BYTES);
        memory.release(b, 1);
        let whole = memory.allocate(15 * PAGE_BYTES).unwrap();
        assert_eq!(whole, a);
        assert_eq!(memory.read(a + 4), Ok(0));
        assert_eq!(memory.allocate(1), None);
    }
}
