//! Locks.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A lock whose data are consistent between statements, so that a panic elsewhere does not spoil them.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
