//! Small allocations share BOs: programs make thousands of allocations, and a BO costs the kernel a handle, an mmap
//! offset and contiguous memory of its own (kernel-abi.md §4.3), the process a mapping.
//!
//! Images begin at pages, so pages are what is dealt out.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::foundation::bo::Bo;
use crate::foundation::error::Error;

/// Bytes of a page.
pub const PAGE: u64 = 4096;
/// Bytes of a shared BO: as many pages as its map has bits.
const BLOCK: u64 = PAGE * u64::BITS as u64;
/// Largest allocation that shares one: four fill a block, so little of it can be lost between them.
const MAX_SHARE: u64 = BLOCK / 4;

/// The shared BOs of a device.
#[derive(Default)]
pub struct Heap {
    blocks: Mutex<Vec<Block>>,
}

struct Block {
    bo: Arc<Bo>,
    /// Bit n: page n is taken.
    taken: u64,
}

/// Memory that is somebody's as long as this lives.
#[derive(Debug)]
pub struct Lease {
    /// The BO that it lies in.
    pub bo: Arc<Bo>,
    /// First byte in it.
    pub offset: u64,
    /// Pages in the map of a block, and the heap that has it; `None` if nothing else lies in the BO.
    share: Option<(u64, Weak<Heap>)>,
    /// How often the host got or gave up an address of it: odd while it has one.
    host: AtomicU64,
}

impl Heap {
    fn blocks(&self) -> MutexGuard<'_, Vec<Block>> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `bytes` of memory that may share a BO; `create` makes one of that many bytes.
    pub fn lease(
        self: &Arc<Heap>,
        bytes: u64,
        create: impl Fn(u64) -> Result<Arc<Bo>, Error>,
    ) -> Result<Arc<Lease>, Error> {
        if bytes > MAX_SHARE {
            return create(bytes).map(Lease::whole);
        }
        let pages = bytes.div_ceil(PAGE).max(1) as u32;
        let mut blocks = self.blocks();
        let found = (0..).zip(blocks.iter()).find_map(|(n, block)| Some((n, free_run(block.taken, pages)?)));
        let (index, run) = match found {
            Some(found) => found,
            None => match create(BLOCK) {
                Ok(bo) => {
                    blocks.push(Block { bo, taken: 0 });
                    (blocks.len() - 1, (1 << pages) - 1)
                }
                // Memory for a whole block is not there any more; for this may be.
                Err(_) => return create(bytes).map(Lease::whole),
            },
        };
        let block = &mut blocks[index];
        block.taken |= run;
        let offset = u64::from(run.trailing_zeros()) * PAGE;
        Ok(Arc::new(Lease {
            bo: block.bo.clone(),
            offset,
            share: Some((run, Arc::downgrade(self))),
            host: AtomicU64::new(0),
        }))
    }

    /// Takes pages back. One empty block stays, for who allocates and frees by turns.
    fn give_back(&self, bo: &Arc<Bo>, run: u64) {
        let mut blocks = self.blocks();
        if let Some(block) = blocks.iter_mut().find(|block| Arc::ptr_eq(&block.bo, bo)) {
            block.taken &= !run;
        }
        let mut kept = 0;
        blocks.retain(|block| {
            kept += u32::from(block.taken == 0);
            block.taken != 0 || kept == 1
        });
    }
}

/// The first `pages` pages in a row that are free.
fn free_run(taken: u64, pages: u32) -> Option<u64> {
    // Bit n of `starts`: pages n to n + k are free, for growing k.
    let starts = (1..pages).fold(!taken, |starts, _| starts & (starts >> 1));
    let first = starts.trailing_zeros();
    (first < u64::BITS).then(|| ((1 << pages) - 1) << first)
}

impl Lease {
    /// A BO that nothing else lies in.
    pub fn whole(bo: Arc<Bo>) -> Arc<Lease> {
        Arc::new(Lease { bo, offset: 0, share: None, host: AtomicU64::new(0) })
    }

    /// Gives the BO a name, if nothing else lies in it.
    pub fn label(&self, name: &str) {
        if self.share.is_none() {
            self.bo.label(name);
        }
    }

    /// The host gets an address of it, or gives it up: it does the one after the other.
    pub fn pass_host(&self) {
        self.host.fetch_add(1, Ordering::Relaxed);
    }

    /// Another number whenever somebody else than the queue may have written; `None` as long as somebody may.
    pub fn host_version(&self) -> Option<u64> {
        // Submissions follow what the host does before them, and order it.
        let version = self.host.load(Ordering::Relaxed);
        (version % 2 == 0 && !self.bo.is_shared()).then_some(version)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some((run, heap)) = &self.share {
            if let Some(heap) = heap.upgrade() {
                heap.give_back(&self.bo, *run);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::device;

    #[test]
    fn runs_are_the_first_that_fit() {
        assert_eq!(free_run(0, 1), Some(1));
        assert_eq!(free_run(0b1011, 1), Some(0b100));
        assert_eq!(free_run(0b1011, 2), Some(0b11_0000));
        assert_eq!(free_run(u64::MAX >> 1, 1), Some(1 << 63));
        assert_eq!(free_run(u64::MAX >> 1, 2), None);
        assert_eq!(free_run(u64::MAX >> 16, 16), Some(0xffff << 48));
        assert_eq!(free_run(u64::MAX, 1), None);
    }

    #[test]
    fn small_leases_share_and_never_overlap() {
        let (device, heap) = (device(), Arc::<Heap>::default());
        let lease = |bytes| heap.lease(bytes, |size| device.create_bo("test", size)).unwrap();
        let mut live: Vec<(Arc<Lease>, u64)> = Vec::new();
        // A generator of its own, so that the order never changes.
        let mut state = 1u32;
        for _ in 0..2000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if state >> 31 == 0 || live.is_empty() {
                let bytes = u64::from(state >> 8) % MAX_SHARE + 1;
                let new = lease(bytes);
                assert!(new.offset % PAGE == 0 && new.offset + bytes <= new.bo.size());
                let meets = |(old, size): &(Arc<Lease>, u64)| {
                    Arc::ptr_eq(&old.bo, &new.bo)
                        && new.offset < old.offset + size
                        && old.offset < new.offset + bytes
                };
                assert!(!live.iter().any(meets));
                live.push((new, bytes));
            } else {
                let index = state as usize >> 8;
                live.swap_remove(index % live.len());
            }
        }
        live.clear();
        assert_eq!(heap.blocks().len(), 1);
    }

    #[test]
    fn large_ones_are_alone_and_few_bos_serve_many_small_ones() {
        let (device, heap) = (device(), Arc::<Heap>::default());
        let lease = |bytes| heap.lease(bytes, |size| device.create_bo("test", size)).unwrap();
        assert_eq!(lease(MAX_SHARE + 1).bo.size(), MAX_SHARE + PAGE);
        assert!(heap.blocks().is_empty());
        let small: Vec<_> = (0..640).map(|_| lease(1)).collect();
        assert_eq!(heap.blocks().len(), 10);
        drop(heap);
        // The heap may go first.
        drop(small);
    }

    #[test]
    fn without_memory_for_a_block_the_allocation_is_alone() {
        let (device, heap) = (device(), Arc::<Heap>::default());
        let create = |size| match size {
            BLOCK => Err(Error::OutOfDeviceMemory { what: "test", bytes: size, available: 0 }),
            size => device.create_bo("test", size),
        };
        assert_eq!(heap.lease(PAGE, create).unwrap().bo.size(), PAGE);
    }
}
