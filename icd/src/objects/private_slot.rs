//! VkPrivateDataSlot: a number that no other slot ever has, so that what an earlier one left beside objects stays unseen.

use std::sync::atomic::{AtomicU64, Ordering};

use ash::vk;

use crate::foundation::handle::Object;

/// A slot.
pub struct PrivateSlot(u64);

impl Object for PrivateSlot {
    type Handle = vk::PrivateDataSlot;
}

impl PrivateSlot {
    /// A new one.
    pub fn new() -> PrivateSlot {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        PrivateSlot(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Its number.
    pub fn number(&self) -> u64 {
        self.0
    }
}

impl Default for PrivateSlot {
    fn default() -> Self {
        PrivateSlot::new()
    }
}
