//! A lock for what the API already makes its callers lock.
//!
//! Command buffers are externally synchronised (Vulkan 1.0 §2.6), so nobody ever waits here; the latch is what makes
//! that safe to rely on. It costs one atomic exchange where a mutex costs two, and nothing where the API's rule is
//! taken at its word: an exchange takes as long as fifty other instructions.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};

/// A value that one thread at a time has.
pub struct Latch<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `taken` lets one thread at a time at the value, which may move between threads.
unsafe impl<T: Send> Sync for Latch<T> {}

impl<T> Latch<T> {
    /// A value that nobody has.
    pub fn new(value: T) -> Latch<T> {
        Latch { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Takes the value until the result is dropped, panics included.
    #[inline]
    pub fn take(&self) -> Taken<'_, T> {
        while self.taken.swap(true, Ordering::Acquire) {
            std::thread::yield_now();
        }
        Taken(self)
    }

    /// As [`Latch::take`] for callers who know that they are alone.
    ///
    /// # Safety
    /// No other thread has or takes the value until the result is dropped.
    #[inline]
    pub unsafe fn take_alone(&self) -> Taken<'_, T> {
        assert!(!self.taken.load(Ordering::Acquire), "a value that is taken is not taken again");
        self.taken.store(true, Ordering::Relaxed);
        Taken(self)
    }
}

/// A value that this thread has.
pub struct Taken<'a, T>(&'a Latch<T>);

impl<T> Deref for Taken<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: whoever made this found the latch open and closed it.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Taken<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for Taken<'_, T> {
    fn drop(&mut self) {
        self.0.taken.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_at_a_time_has_the_value() {
        let latch = Latch::new((0u64, 0u64));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        let (ahead, behind) = &mut *latch.take();
                        *ahead += 1;
                        assert_eq!(*ahead, *behind + 1);
                        *behind += 1;
                    }
                });
            }
        });
        assert_eq!(*latch.take(), (4000, 4000));
    }

    #[test]
    fn a_panic_gives_the_value_back() {
        let latch = Latch::new(1);
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _taken = latch.take();
            std::panic::resume_unwind(Box::new(()));
        }));
        assert!(caught.is_err());
        assert_eq!(*latch.take(), 1);
    }
}
