//! The binner's memory, in slots (kernel-abi.md §11).

use std::sync::{Arc, Condvar, Mutex};

use vc4_kernel_abi::uapi::{BINNER_SLOT_BYTES as SLOT_BYTES, BINNER_SLOTS as SLOTS};
use vc4_kernel_abi::validate::BinMemory;

use crate::memory::{Allocation, Memory};

/// Bytes of the binner's memory.
const BINNER_BYTES: u32 = SLOTS * SLOT_BYTES;

/// The binner memory, in slots that jobs hold from submission to their end.
pub struct Binner {
    memory: Allocation,
    /// Bit n: slot n is taken.
    taken: Mutex<u32>,
    freed: Condvar,
}

impl Binner {
    /// The kernel's 16 MiB; `None` when memory is too small.
    pub fn new(memory: &Arc<Memory>) -> Option<Arc<Binner>> {
        let memory = Allocation::new(memory, BINNER_BYTES)?;
        Some(Arc::new(Binner { memory, taken: Mutex::new(0), freed: Condvar::new() }))
    }

    /// Takes a slot for a job that outgrew its own, if one is free.
    pub(super) fn take_more(self: &Arc<Binner>) -> Option<Slot> {
        let mut taken = self.taken.lock().expect("no panic while the mask is held");
        let number = taken.trailing_ones();
        (number < SLOTS).then(|| {
            *taken |= 1 << number;
            Slot { binner: self.clone(), number }
        })
    }

    /// Takes a slot; waits while running jobs hold all of them.
    pub(super) fn take(self: &Arc<Binner>) -> Slot {
        let taken = self.taken.lock().expect("no panic while the mask is held");
        let mut taken = self
            .freed
            .wait_while(taken, |taken| *taken == u32::MAX)
            .expect("no panic while the mask is held");
        let number = taken.trailing_ones();
        *taken |= 1 << number;
        Slot { binner: self.clone(), number }
    }
}

/// A job's share of the binner memory.
pub struct Slot {
    pub(super) binner: Arc<Binner>,
    number: u32,
}

impl Slot {
    /// Its bytes.
    pub const BYTES: u32 = SLOT_BYTES;

    /// What the validator is told of it.
    pub(super) fn memory(&self) -> BinMemory {
        BinMemory {
            slot_address: self.binner.memory.address() + self.number * SLOT_BYTES,
            slot_size: SLOT_BYTES,
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut taken = self.binner.taken.lock().expect("no panic while the mask is held");
        *taken &= !(1 << self.number);
        self.binner.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_distinct_and_come_back() {
        let memory = Arc::new(Memory::new(BINNER_BYTES + (1 << 20)));
        let binner = Binner::new(&memory).unwrap();
        let mut slots: Vec<Slot> = (0..SLOTS).map(|_| binner.take()).collect();
        let mut addresses: Vec<u32> = slots.iter().map(|slot| slot.memory().slot_address).collect();
        let freed = addresses[7];
        addresses.sort_unstable();
        assert!(addresses.windows(2).all(|pair| pair[1] - pair[0] == SLOT_BYTES));
        slots.remove(7);
        let again = binner.take();
        assert_eq!(again.memory().slot_address, freed);
        assert!(binner.take_more().is_none());
        drop(again);
        assert_eq!(binner.take_more().map(|slot| slot.memory().slot_address), Some(freed));
    }
}
