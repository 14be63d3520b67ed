//! Bus memory: one flat range that BOs, kernel copies and binner memory are carved from.
//!
//! The CPU side (applications, the driver) and the simulated GPU share it without locks, as on the
//! chip, so every word is an atomic accessed with relaxed order. Pages cost host memory only once
//! they are touched.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use vc4::hw::LANES;

use crate::lanes::Lanes;

/// BOs are made of these (kernel-abi.md §4.3).
pub const PAGE_BYTES: u32 = 4096;

/// First page handed out; bus address 0 stays invalid.
const FIRST_PAGE: u32 = 1;

/// Pages of the largest power of two at whose multiples allocations begin: Linux' allocator of contiguous memory places each at a
/// multiple of its own size, rounded up to a power of two, up to this one (CONFIG_CMA_ALIGNMENT as it comes).
const MOST_ALIGNED: u32 = 1 << 8;

/// Access outside of bus memory: on the chip this reads garbage or stalls the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bus address {address:#010x} lies outside of the simulated memory")]
pub struct BusError {
    /// The faulting address.
    pub address: u32,
}

/// Words at places. For itself, and a vector after the other: among code for vectors, all would be loaded before the first is
/// put into one.
///
/// # Safety
/// All places are inside.
#[inline(never)]
#[expect(unsafe_code, reason = "textures are read word by word")]
unsafe fn pick(words: &[AtomicU32], places: &[Lanes], out: &mut [Lanes]) {
    for (out, places) in out.iter_mut().zip(places) {
        for (out, &place) in out.iter_mut().zip(places) {
            // SAFETY: the caller vouches for it.
            let word = unsafe { words.get_unchecked(place as usize) };
            *out = u32::from_le(word.load(Relaxed));
        }
    }
}

/// Bus memory with a page allocator that places BOs as Linux does: the first fit at a multiple of what is asked for.
pub struct Memory {
    storage: Storage,
    discard: Option<Discard>,
    pages: Mutex<Pages>,
}

/// Makes that many bytes at an address zero by dropping their pages; `false` when it cannot.
pub type Discard = Box<dyn Fn(u32, u32) -> bool + Send + Sync>;

/// From this many pages on, dropping them is cheaper than clearing them.
const DISCARD_PAGES: u32 = 64;

/// Whose the words are; the variants look alike, so that telling them apart costs nothing.
enum Storage {
    Owned(Box<[AtomicU32]>),
    Lent(&'static [AtomicU32]),
}

struct Pages {
    /// Free page runs: first page to page count, never adjacent.
    free: BTreeMap<u32, u32>,
    /// Pages from here on were never handed out and are still zero.
    untouched: u32,
}

impl Memory {
    /// A memory of `bytes` bytes (rounded down to pages, at least two).
    pub fn new(bytes: u32) -> Memory {
        let pages = (bytes / PAGE_BYTES).max(FIRST_PAGE + 1);
        let words = bytemuck::zeroed_slice_box((pages * (PAGE_BYTES / 4)) as usize);
        Memory::with(Storage::Owned(words), None, pages)
    }

    /// A memory made of these zeroed words (rounded down to pages, below 4 GiB), e.g. a mapped file that
    /// others can map too. `None` when they are fewer than two pages.
    pub fn lent(words: &'static [AtomicU32], discard: Option<Discard>) -> Option<Memory> {
        let pages = (words.len() / (PAGE_BYTES as usize / 4)).min((u32::MAX / PAGE_BYTES) as usize);
        let words = &words[..pages * (PAGE_BYTES as usize / 4)];
        (pages > FIRST_PAGE as usize).then(|| Memory::with(Storage::Lent(words), discard, pages as u32))
    }

    fn with(storage: Storage, discard: Option<Discard>, pages: u32) -> Memory {
        let free = BTreeMap::from([(FIRST_PAGE, pages - FIRST_PAGE)]);
        Memory { storage, discard, pages: Mutex::new(Pages { free, untouched: FIRST_PAGE }) }
    }

    #[inline]
    fn words(&self) -> &[AtomicU32] {
        match &self.storage {
            Storage::Owned(words) => words,
            Storage::Lent(words) => words,
        }
    }

    /// Size in bytes.
    pub fn size(&self) -> u32 {
        (self.words().len() * 4) as u32
    }

    /// Bytes in free pages.
    pub fn available(&self) -> u32 {
        let pages = self.pages.lock().expect("no panic while the list is held");
        pages.free.values().sum::<u32>() * PAGE_BYTES
    }

    /// Allocates zeroed, contiguous pages for `bytes` bytes; `None` when no run is long enough behind a multiple of them.
    pub fn allocate(&self, bytes: u32) -> Option<u32> {
        let count = bytes.checked_add(PAGE_BYTES - 1)? / PAGE_BYTES;
        let (first, dirty) = {
            let mut pages = self.pages.lock().expect("no panic while the list is held");
            let aligned = count.checked_next_power_of_two()?.min(MOST_ALIGNED);
            let fit = |(&free, &run): (&u32, &u32)| {
                let first = free.next_multiple_of(aligned);
                (count > 0 && first + count <= free + run).then_some((free, run, first))
            };
            let (free, run, first) = pages.free.iter().find_map(fit)?;
            pages.free.remove(&free);
            for (from, to) in [(free, first), (first + count, free + run)] {
                if from < to {
                    pages.free.insert(from, to - from);
                }
            }
            let dirty = pages.untouched.saturating_sub(first).min(count);
            pages.untouched = pages.untouched.max(first + count);
            (first, dirty)
        };
        self.clear_pages(first, dirty);
        Some(first * PAGE_BYTES)
    }

    fn clear_pages(&self, first: u32, count: u32) {
        let discard = self.discard.as_ref().filter(|_| count >= DISCARD_PAGES);
        if discard.is_some_and(|discard| discard(first * PAGE_BYTES, count * PAGE_BYTES)) {
            return;
        }
        let start = (first * (PAGE_BYTES / 4)) as usize;
        for word in &self.words()[start..start + (count * (PAGE_BYTES / 4)) as usize] {
            // Reading first keeps pages that were never written out of the resident set.
            if word.load(Relaxed) != 0 {
                word.store(0, Relaxed);
            }
        }
    }

    /// Returns the pages that [`Memory::allocate`] gave for `bytes` bytes at `address`.
    pub fn release(&self, address: u32, bytes: u32) {
        let mut first = address / PAGE_BYTES;
        let mut count = bytes.div_ceil(PAGE_BYTES);
        let mut pages = self.pages.lock().expect("no panic while the list is held");
        if let Some(next) = pages.free.remove(&(first + count)) {
            count += next;
        }
        if let Some((&before, &run)) = pages.free.range(..first).next_back() {
            if before + run == first {
                pages.free.remove(&before);
                first = before;
                count += run;
            }
        }
        pages.free.insert(first, count);
    }

    /// Host address of a bus address, for mapping a BO into the driver.
    pub fn host_ptr(&self, address: u32) -> *mut u8 {
        // From the slice, not from one word: the pointer must be good for the whole BO.
        self.words().as_ptr().cast::<u8>().cast_mut().wrapping_add(address as usize)
    }

    /// The word at `address`; the two low bits are ignored as the bus does.
    #[inline]
    pub fn read(&self, address: u32) -> Result<u32, BusError> {
        match self.words().get((address / 4) as usize) {
            Some(word) => Ok(u32::from_le(word.load(Relaxed))),
            None => Err(BusError { address }),
        }
    }

    /// Reads the words at addresses whose two low bits do not matter; `false` if one of them is outside.
    #[inline(always)]
    pub fn gather<const N: usize>(&self, at: &[Lanes; N], out: &mut [Lanes; N]) -> bool {
        let words = self.words();
        // Closures would not be compiled for wide vectors.
        let mut places = [[0; LANES]; N];
        let mut most = [0; LANES];
        for n in 0..N {
            for i in 0..LANES {
                let place = at[n][i] / size_of::<u32>() as u32;
                places[n][i] = place;
                most[i] = if place > most[i] { place } else { most[i] };
            }
        }
        let mut last = 0;
        for place in most {
            last = if place > last { place } else { last };
        }
        let inside = (last as usize) < words.len();
        if inside {
            #[expect(unsafe_code, reason = "textures are read word by word")]
            // SAFETY: no place is behind the last one.
            unsafe {
                pick(words, &places, out);
            }
        }
        inside
    }

    /// Writes the word at `address`.
    #[inline]
    pub fn write(&self, address: u32, value: u32) -> Result<(), BusError> {
        match self.words().get((address / 4) as usize) {
            Some(word) => {
                word.store(value.to_le(), Relaxed);
                Ok(())
            }
            None => Err(BusError { address }),
        }
    }

    /// The byte at `address`.
    #[inline]
    pub fn read_u8(&self, address: u32) -> Result<u8, BusError> {
        Ok((self.read(address)? >> (8 * (address & 3))) as u8)
    }

    /// The little-endian half word at `address`, any alignment.
    pub fn read_u16(&self, address: u32) -> Result<u16, BusError> {
        Ok(u16::from_le_bytes([self.read_u8(address)?, self.read_u8(address.wrapping_add(1))?]))
    }

    /// The little-endian word at `address`, any alignment.
    pub fn read_u32_unaligned(&self, address: u32) -> Result<u32, BusError> {
        if address & 3 == 0 {
            return self.read(address);
        }
        let mut bytes = [0; 4];
        self.read_bytes(address, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
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

    /// Copies words out; the two low address bits are ignored.
    #[inline]
    pub fn read_words(&self, address: u32, out: &mut [u32]) -> Result<(), BusError> {
        let words = self.words_at(address, out.len())?;
        for (value, word) in out.iter_mut().zip(words) {
            *value = u32::from_le(word.load(Relaxed));
        }
        Ok(())
    }

    /// Copies words in; the two low address bits are ignored.
    #[inline]
    pub fn write_words(&self, address: u32, values: &[u32]) -> Result<(), BusError> {
        let words = self.words_at(address, values.len())?;
        for (word, value) in words.iter().zip(values) {
            word.store(value.to_le(), Relaxed);
        }
        Ok(())
    }

    /// Fills `count` words with zero.
    pub fn zero_words(&self, address: u32, count: usize) -> Result<(), BusError> {
        for word in self.words_at(address, count)? {
            word.store(0, Relaxed);
        }
        Ok(())
    }

    fn words_at(&self, address: u32, count: usize) -> Result<&[AtomicU32], BusError> {
        let start = (address / 4) as usize;
        start.checked_add(count).and_then(|end| self.words().get(start..end)).ok_or(BusError { address })
    }
}

/// Pages that go back to the memory when the last owner is gone: a BO or a kernel copy.
pub struct Allocation {
    memory: Arc<Memory>,
    address: u32,
    bytes: u32,
}

impl Allocation {
    /// Zeroed pages for `bytes` bytes, or `None` when no run is long enough.
    pub fn new(memory: &Arc<Memory>, bytes: u32) -> Option<Allocation> {
        let address = memory.allocate(bytes)?;
        let bytes = bytes.div_ceil(PAGE_BYTES) * PAGE_BYTES;
        Some(Allocation { memory: memory.clone(), address, bytes })
    }

    /// Bus address of the first byte.
    pub fn address(&self) -> u32 {
        self.address
    }

    /// Size in bytes, whole pages.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// The memory that the pages are of.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.memory.release(self.address, self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn released_pages_join_and_come_back_zeroed() {
        let memory = Memory::new(16 * PAGE_BYTES);
        let a = memory.allocate(8 * PAGE_BYTES).unwrap();
        let b = memory.allocate(1).unwrap();
        assert_eq!((a, b), (8 * PAGE_BYTES, PAGE_BYTES));
        memory.write(b + 4, 7).unwrap();
        memory.release(a, 8 * PAGE_BYTES);
        memory.release(b, 1);
        let parts: Vec<_> = [8, 4, 2, 1].iter().map(|count| memory.allocate(count * PAGE_BYTES)).collect();
        assert_eq!(parts, [8, 4, 2, 1].map(|page| Some(page * PAGE_BYTES)), "the whole is one run again");
        assert_eq!(memory.read(b + 4), Ok(0));
        assert_eq!(memory.allocate(1), None);
    }

    #[test]
    fn allocations_begin_at_multiples_of_their_size_as_in_linux() {
        let memory = Memory::new(3 * MOST_ALIGNED * PAGE_BYTES);
        let page = |count: u32| memory.allocate(count * PAGE_BYTES).map(|address| address / PAGE_BYTES);
        assert_eq!([1, 3, 5, 2, 1, 64, 65].map(page), [1, 4, 8, 2, 7, 64, 128].map(Some));
        assert_eq!(
            page(MOST_ALIGNED + 1),
            Some(MOST_ALIGNED),
            "larger ones begin at multiples of the largest"
        );
        assert_eq!(page(MOST_ALIGNED), None, "there are as many pages, but not there");
    }

    #[test]
    fn an_allocation_returns_its_pages() {
        let memory = Arc::new(Memory::new(2 * PAGE_BYTES));
        let all = Allocation::new(&memory, PAGE_BYTES).unwrap();
        assert!(Allocation::new(&memory, 1).is_none());
        drop(all);
        assert!(Allocation::new(&memory, 1).is_some());
    }

    #[test]
    fn lent_words_are_the_memory() {
        let words: &'static [AtomicU32] = Box::leak(bytemuck::zeroed_slice_box(3 * 1024 + 5));
        let memory = Memory::lent(words, None).unwrap();
        assert_eq!((memory.size(), memory.available()), (3 * PAGE_BYTES, 2 * PAGE_BYTES));
        memory.write(8, 7u32).unwrap();
        assert_eq!(words[2].load(Relaxed), 7u32.to_le());
        assert!(Memory::lent(&words[..2047], None).is_none());
    }

    #[test]
    fn word_ranges_end_at_the_end_of_memory() {
        let memory = Memory::new(2 * PAGE_BYTES);
        let end = memory.size();
        assert_eq!(memory.write_words(end - 8, &[1, 2]), Ok(()));
        assert_eq!(memory.read_u32_unaligned(end - 6), Ok(0x2_0000));
        assert_eq!(memory.write_words(end - 4, &[1, 2]), Err(BusError { address: end - 4 }));
        assert_eq!(memory.read(0xffff_fffc), Err(BusError { address: 0xffff_fffc }));
    }
}
