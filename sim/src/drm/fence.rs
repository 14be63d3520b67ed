//! What can be waited for: the ends of jobs, and places for them (kernel-abi.md §13.3).

use std::sync::Mutex;

use vc4_kernel_abi::Seqno;

use crate::device::Finished;
use crate::lock::lock;

/// What a syncobj or sync_file waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fence {
    /// Nothing any more.
    Signalled,
    /// The end of a job.
    Job(Seqno),
}

impl Fence {
    /// Whether it has signalled when these jobs are done.
    pub(super) fn signalled(self, finished: &Finished) -> bool {
        match self {
            Fence::Signalled => true,
            Fence::Job(seqno) => finished.has(seqno),
        }
    }

    /// A fence that signals when both have: jobs finish in order.
    pub fn and(self, other: Fence) -> Fence {
        match (self, other) {
            (Fence::Job(a), Fence::Job(b)) => Fence::Job(a.max(b)),
            (Fence::Signalled, fence) | (fence, Fence::Signalled) => fence,
        }
    }
}

/// The fences of a buffer, as the kernel's dma-resv keeps them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fences {
    /// Of those who write the buffer.
    writes: Fence,
    /// Of all who use it.
    all: Fence,
}

impl Fences {
    /// Those of a buffer that nobody uses.
    pub fn none() -> Fences {
        Fences { writes: Fence::Signalled, all: Fence::Signalled }
    }

    /// Adds the fence of somebody who reads the buffer, or writes it.
    pub fn add(&mut self, fence: Fence, write: bool) {
        self.all = self.all.and(fence);
        if write {
            self.writes = self.writes.and(fence);
        }
    }

    /// What whoever reads the buffer waits for, or whoever writes it: the kernel's dma_resv_usage_rw.
    pub fn before(&self, write: bool) -> Fence {
        if write { self.all } else { self.writes }
    }
}

/// A place for a fence.
#[derive(Default)]
pub struct Syncobj(Mutex<Option<Fence>>);

impl Syncobj {
    /// A place that holds this at first.
    pub(super) fn new(fence: Option<Fence>) -> Syncobj {
        Syncobj(Mutex::new(fence))
    }

    /// Puts another fence there.
    pub(super) fn set(&self, fence: Option<Fence>) {
        *lock(&self.0) = fence;
    }

    /// The fence, if it has one.
    pub fn fence(&self) -> Option<Fence> {
        *lock(&self.0)
    }
}
