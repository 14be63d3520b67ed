//! The retire thread: waits for jobs in order and tells who waits for them.

use std::sync::Arc;

use vc4_kernel_abi::{PerfmonId, Seqno};

use super::watch::{LOOK, Watch};
use crate::foundation::bo::Bo;
use crate::foundation::error::Error;
use crate::foundation::shared_flag::SharedFlag;
use crate::foundation::threads::{AtomicU64, Ordering, Receiver};
use crate::objects::device::Device;
use crate::objects::query::{QueryChange, QueryPool};
use crate::objects::sync::Fence;
use crate::objects::timeline::Timeline;

/// How far the queue is: counts of work.
#[derive(Default)]
pub(super) struct Progress {
    pub(super) pushed: AtomicU64,
    pub(super) complete: AtomicU64,
    /// Jobs that may still run.
    pub(super) watch: Watch,
}

/// What happens when everything before it is complete.
pub(super) enum Retire {
    /// A job was submitted, with this monitor of the watch's, and stores to these BOs that the CPU caches.
    Job(Seqno, Option<PerfmonId>, Vec<Arc<Bo>>),
    /// A query pool changes.
    Query(Arc<QueryPool>, QueryChange),
    /// A fence is signalled.
    Fence(Arc<Fence>),
    /// A semaphore that others may have is signalled.
    Shared(Arc<SharedFlag>),
    /// A timeline semaphore comes to a value.
    Value(Arc<Timeline>, u64),
    /// A piece of work is over.
    Work,
}

/// Waits for a job from another thread than this one, which watches the time.
pub(super) fn wait_watched(device: &Device, seqno: Seqno) -> Result<(), Error> {
    while !device.gpu().wait_seqno(seqno, Some(LOOK))? {
        device.check()?;
    }
    Ok(())
}

/// Runs until the queue thread has ended. Fences behind a loss stay unsignalled: waits for them answer
/// VK_ERROR_DEVICE_LOST.
pub(super) fn run(device: &Device, progress: &Progress, retires: &Receiver<Retire>) {
    for retire in retires {
        if !device.is_lost() {
            match retire {
                Retire::Job(seqno, monitor, stored) => {
                    if let Err(error) = progress.watch.wait(&**device.gpu(), seqno, monitor) {
                        device.lose(&error);
                    }
                    // Programs that wait for a job and invalidate nothing are many: most devices forgive them.
                    stored.iter().for_each(|bo| bo.forget(0..bo.size() as usize));
                }
                Retire::Query(pool, change) => {
                    if let Err(error) = pool.change(&change) {
                        device.lose(&error);
                    }
                }
                Retire::Fence(fence) => fence.signal(),
                Retire::Shared(shared) => shared.set(),
                Retire::Value(timeline, value) => timeline.complete(value),
                Retire::Work => {
                    progress.complete.fetch_add(1, Ordering::SeqCst);
                    device.waker().ring();
                }
            }
        }
    }
}
