//! Dma-bufs that a program has registered with epoll, which takes no regular files: for each, the sync_file that stands
//! there in its place.

use std::collections::BTreeMap;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};

use vc4_sim::drm::backing::Kept;

use crate::inside::lock;

/// By the numbers of the epoll instance and the dma-buf.
type Table = BTreeMap<(RawFd, RawFd), Kept>;

static TABLE: Mutex<Table> = Mutex::new(BTreeMap::new());
/// How many there are, so that processes without any pay for nothing.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// The table, locked.
pub struct Guard(MutexGuard<'static, Table>);

/// Waits for the table.
pub fn guard() -> Guard {
    Guard(lock(&TABLE))
}

impl Guard {
    /// What stands for a dma-buf.
    pub fn get(&self, epoll: RawFd, buffer: RawFd) -> Option<&Kept> {
        self.0.get(&(epoll, buffer))
    }

    /// Has `file` stand for it.
    pub fn insert(&mut self, epoll: RawFd, buffer: RawFd, file: Kept) {
        self.0.insert((epoll, buffer), file);
        COUNT.store(self.0.len(), Relaxed);
    }

    /// Nothing stands for it any more.
    pub fn remove(&mut self, epoll: RawFd, buffer: RawFd) -> Option<Kept> {
        let removed = self.0.remove(&(epoll, buffer));
        COUNT.store(self.0.len(), Relaxed);
        removed
    }

    /// In a child of fork, which has none: all that the parent had registered.
    pub fn take(&mut self) -> Vec<Kept> {
        COUNT.store(0, Relaxed);
        std::mem::take(&mut *self.0).into_values().collect()
    }
}

/// Descriptors from `first` to `last` are closed: the kernel takes what is closed out of epoll.
pub fn closed(first: RawFd, last: RawFd) {
    if COUNT.load(Relaxed) == 0 {
        return;
    }
    let mut table = guard();
    let range = first..=last;
    table.0.retain(|(epoll, buffer), _| !range.contains(epoll) && !range.contains(buffer));
    COUNT.store(table.0.len(), Relaxed);
}
