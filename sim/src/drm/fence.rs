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
