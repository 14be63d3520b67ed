//! What the driver knows of the CPU's caches, for BOs whose memory those hold.

use std::sync::atomic::{AtomicBool, Ordering};

/// What the caches hold of a BO, beside what the application is responsible for: what it writes and reads through its own
/// mapping, it flushes and invalidates.
#[derive(Debug, Default)]
pub struct Cache {
    is_stale: AtomicBool,
    is_dirty: AtomicBool,
}

impl Cache {
    /// Jobs may write to the memory behind it.
    pub fn stale(&self) {
        self.is_stale.store(true, Ordering::Relaxed);
    }

    /// Whether jobs may have written since the caches were told.
    pub fn take_stale(&self) -> bool {
        self.is_stale.swap(false, Ordering::Relaxed)
    }

    /// The driver has written through it.
    pub fn dirty(&self) {
        self.is_dirty.store(true, Ordering::Relaxed);
    }

    /// Whether the driver has written what jobs do not see yet.
    pub fn take_dirty(&self) -> bool {
        self.is_dirty.swap(false, Ordering::Relaxed)
    }
}
