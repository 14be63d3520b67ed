//! Notices that jobs hung. Linux resets a GPU whose lists stand still, then counts the job as done and says so in its log
//! only (kernel-abi.md §11): no call answers an error, and what the job was to draw is missing.
//!
//! So the log is looked at behind every job, which costs one call that finds nothing. Where users may not read it, a job
//! that took as long as a hang does makes the driver suspicious: from then on each job has a monitor of its own, and one
//! that took so long again without counting anything was not drawn.

use std::time::{Duration, Instant};

use vc4_kernel_abi::perfmon::Event;
use vc4_kernel_abi::{Gpu, GpuError, PerfmonId, Seqno};

use crate::foundation::error::Error;
use crate::foundation::threads::{AtomicBool, AtomicU64, Ordering::SeqCst};

/// How long one job may take before the device counts as lost: a binning job that hangs is started again and again. The
/// simulator ends every job and says how, and may take long for one on a busy host.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How often a thread that waits looks at what else happened.
pub(super) const LOOK: Duration = Duration::from_millis(200);
/// The shortest time in which the kernel sees a hang: one interval of its checks.
const SHORTEST_HANG: Duration = Duration::from_millis(100);
/// Clocks of idle and of busy QPUs: one of them counts whatever a job does. UNVERIFIED: do a reset's losses reach the
/// counters? The kernel takes the power away and reads them afterwards.
const CLOCKS: [u8; 3] = [Event::QpuIdle as u8, Event::QpuVertex as u8, Event::QpuFragment as u8];

/// What is known of the jobs that may still run.
#[derive(Default)]
pub(super) struct Watch {
    in_flight: AtomicU64,
    /// Resets that had been heard of when the first of them was submitted.
    resets: AtomicU64,
    suspicious: AtomicBool,
}

impl Watch {
    /// A job is about to be submitted: the monitor that it is to have, if any. One that has a query's gets none.
    pub fn begin(&self, gpu: &dyn Gpu, has_monitor: bool) -> Option<PerfmonId> {
        if self.in_flight.fetch_add(1, SeqCst) == 0 {
            // Those of others before our time.
            self.resets.store(gpu.resets().unwrap_or(0), SeqCst);
        }
        let wanted = self.suspicious.load(SeqCst) && !has_monitor;
        wanted.then(|| gpu.create_perfmon(&CLOCKS).ok()).flatten()
    }

    /// The job is over, or was not taken.
    pub fn end(&self, gpu: &dyn Gpu, monitor: Option<PerfmonId>) {
        self.in_flight.fetch_sub(1, SeqCst);
        if let Some(monitor) = monitor {
            gpu.destroy_perfmon(monitor);
        }
    }

    /// Waits for the oldest job, which has this monitor of [`Watch::begin`].
    ///
    /// # Errors
    /// [`GpuError::Hang`] if it hung, or may have: whose job the kernel gave up is not known.
    pub fn wait(&self, gpu: &dyn Gpu, job: Seqno, monitor: Option<PerfmonId>) -> Result<(), Error> {
        let done = self.wait_for(gpu, job, monitor);
        self.end(gpu, monitor);
        done.map_err(Error::Gpu)
    }

    fn wait_for(&self, gpu: &dyn Gpu, job: Seqno, monitor: Option<PerfmonId>) -> Result<(), GpuError> {
        let start = Instant::now();
        let mut done = false;
        while !done {
            done = gpu.wait_seqno(job, Some(LOOK))?;
            if gpu.resets().is_some_and(|resets| resets != self.resets.load(SeqCst)) {
                let what = format!("the kernel reset it while job {} was under way", job.0);
                return Err(GpuError::Hang(what));
            }
            if !done && !gpu.is_simulated() && start.elapsed() >= TIMEOUT {
                return Err(GpuError::Hang(format!(
                    "job {} took longer than {} s",
                    job.0,
                    TIMEOUT.as_secs()
                )));
            }
        }
        if gpu.resets().is_some() || start.elapsed() < SHORTEST_HANG {
            return Ok(());
        }
        match monitor {
            Some(monitor) if gpu.perfmon_values(monitor)?.iter().all(|count| *count == 0) => {
                Err(GpuError::Hang(format!(
                    "job {} took {} ms and its counters tell nothing",
                    job.0,
                    start.elapsed().as_millis()
                )))
            }
            Some(_) => Ok(()),
            None => {
                if !self.suspicious.swap(true, SeqCst) {
                    log::warn!(
                        target: "vc4::queue",
                        "job {} took {} ms. Whether the GPU hung only the kernel's log tells, which this user may not \
                         read (kernel.dmesg_restrict): jobs are counted from now on, which finds the next hang",
                        job.0,
                        start.elapsed().as_millis(),
                    );
                }
                Ok(())
            }
        }
    }
}
