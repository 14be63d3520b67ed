//! The library's own descriptors: at high numbers, and closed by nobody else.

use std::collections::BTreeSet;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};

use libc::c_int;
use vc4_sim::drm::backing::Descriptors;

use crate::inside::{Inside, lock};
use crate::real;

/// Our descriptors begin here if they can, out of the way of programs that expect small numbers.
const FIRST_FD: c_int = 512;

static INTERNAL: Mutex<BTreeSet<RawFd>> = Mutex::new(BTreeSet::new());
/// How many there are, so that processes without a device pay for nothing.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Keeps the device's descriptors in this process.
pub struct Keeper;

impl Descriptors for Keeper {
    fn keep(&self, fd: OwnedFd) -> OwnedFd {
        let _inside = Inside::enter();
        // SAFETY: a plain call; the new descriptor is nobody else's.
        let high = unsafe {
            match libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, FIRST_FD) {
                high if high < 0 => fd,
                high => OwnedFd::from_raw_fd(high),
            }
        };
        let mut internal = lock(&INTERNAL);
        internal.insert(high.as_raw_fd());
        COUNT.store(internal.len(), Relaxed);
        high
    }

    fn release(&self, fd: OwnedFd) {
        let _inside = Inside::enter();
        let mut internal = lock(&INTERNAL);
        // Under the lock: the number must not be given out in between.
        if internal.remove(&fd.as_raw_fd()) {
            drop(fd);
        } else {
            // Closed by a child of fork, which forgot it.
            let _ = fd.into_raw_fd();
        }
        COUNT.store(internal.len(), Relaxed);
    }
}

/// Whether a descriptor is one that only this library knows.
pub fn is_internal(fd: RawFd) -> bool {
    COUNT.load(Relaxed) > 0 && lock(&INTERNAL).contains(&fd)
}

/// Those from `first` to `last`.
pub fn internal_between(first: RawFd, last: RawFd) -> Vec<RawFd> {
    if COUNT.load(Relaxed) == 0 || first > last {
        return Vec::new();
    }
    lock(&INTERNAL).range(first..=last).copied().collect()
}

/// The set, held across a fork.
pub struct Guard(MutexGuard<'static, BTreeSet<RawFd>>);

/// Waits for the set.
pub fn guard() -> Guard {
    Guard(lock(&INTERNAL))
}

impl Guard {
    /// In a child of fork: the parent's descriptors are not its business.
    pub fn close_all(&mut self) {
        for fd in std::mem::take(&mut *self.0) {
            // SAFETY: a descriptor that only this library knows, and that it forgets here.
            unsafe { real::close(fd) };
        }
        COUNT.store(0, Relaxed);
    }
}
