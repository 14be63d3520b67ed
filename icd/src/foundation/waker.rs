//! Waiting for states to change: everybody waits in one place, under one lock.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use crate::foundation::threads::{Condvar, Mutex};

/// Wakes everybody who waits for a state to change. One per device: waiting for any of several fences
/// is then waiting in one place.
#[derive(Default)]
pub struct Waker {
    lock: Mutex<()>,
    changed: Condvar,
}

impl Waker {
    /// Tells the waiters to look again. States change before this call.
    pub fn ring(&self) {
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }

    /// Waits until `ready` holds; false when the deadline came first. `None` waits for ever.
    pub fn wait_until(&self, deadline: Option<Instant>, mut ready: impl FnMut() -> bool) -> bool {
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if ready() {
                return true;
            }
            guard = match deadline {
                None => self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return false;
                    }
                    self.changed.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0
                }
            }
        }
    }
}

/// The moment `timeout` nanoseconds from now; `None` when that is beyond any clock.
pub fn deadline(timeout: u64) -> Option<Instant> {
    Instant::now().checked_add(Duration::from_nanos(timeout)).filter(|_| timeout != u64::MAX)
}
