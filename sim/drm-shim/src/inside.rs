//! Being inside: code of ours, whose calls are nobody's business but the C library's.

use std::cell::Cell;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A lock whose data are consistent between statements.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// While it lives, hooks of this thread pass everything on: what our own code calls is never ours, and a
/// signal handler or allocator must not wait for a lock that its own thread holds.
pub struct Inside(());

impl Inside {
    /// `None` when this thread is inside already.
    pub fn enter() -> Option<Inside> {
        // At a thread's end its variables are gone, and so is its business with us.
        let entered = INSIDE.try_with(|inside| !inside.replace(true)).unwrap_or(false);
        entered.then(|| Inside(()))
    }

    /// For a thread of our own: for ever.
    pub fn stay() {
        std::mem::forget(Inside::enter());
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let _ = INSIDE.try_with(|inside| inside.set(false));
    }
}
