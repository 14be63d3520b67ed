//! The retire thread: waits for jobs in order and tells who waits for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use vc4_kernel_abi::Seqno;

use crate::foundation::error::Error;
use crate::foundation::shared_flag::SharedFlag;
use crate::objects::device::Device;
use crate::objects::query::{QueryChange, QueryPool};
use crate::objects::sync::Fence;
use crate::objects::timeline::Timeline;

/// How long one job may take before the device counts as lost. Linux ends hung jobs by itself within a fraction of a
/// second and does not say so (kernel-abi.md §11); this is for jobs that never end. The simulator ends every job and
/// says how, and may take long for one on a busy host.
const HANG_TIMEOUT: Duration = Duration::from_secs(30);

/// How far the queue is: counts of work.
#[derive(Default)]
pub(super) struct Progress {
    pub(super) pushed: AtomicU64,
    pub(super) complete: AtomicU64,
}

/// What happens when everything before it is complete.
pub(super) enum Retire {
    /// A job was submitted.
    Job(Seqno),
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

/// How often a thread that waits for a job looks whether the device was lost meanwhile.
const LOOK: Duration = Duration::from_millis(200);

/// Waits for a job from another thread than this one, which watches the time.
pub(super) fn wait_watched(device: &Device, seqno: Seqno) -> Result<(), Error> {
    while !device.gpu().wait_seqno(seqno, Some(LOOK))? {
        device.check()?;
    }
    Ok(())
}

/// Waits for the oldest job; an error if it does not end well.
fn wait(device: &Device, seqno: Seqno) -> Result<(), Error> {
    let timeout = Some(HANG_TIMEOUT).filter(|_| !device.gpu().is_simulated());
    match device.gpu().wait_seqno(seqno, timeout)? {
        true => Ok(()),
        false => {
            let what = format!("job {} took longer than {} s", seqno.0, HANG_TIMEOUT.as_secs());
            Err(Error::Gpu(vc4_kernel_abi::GpuError::Hang(what)))
        }
    }
}

/// Runs until the queue thread has ended. Fences behind a loss stay unsignalled: waits for them answer
/// VK_ERROR_DEVICE_LOST.
pub(super) fn run(device: &Device, progress: &Progress, retires: &Receiver<Retire>) {
    for retire in retires {
        if !device.is_lost() {
            match retire {
                Retire::Job(seqno) => {
                    if let Err(error) = wait(device, seqno) {
                        device.lose(&error);
                    }
                }
                Retire::Query(pool, change) => {
                    if let Err(error) = pool.change(device, &change) {
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
