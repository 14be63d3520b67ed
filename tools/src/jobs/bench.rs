//! The device while it is used: BOs that are closed again, jobs that have a limit.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use vc4_kernel_abi::{BoHandle, Gpu, GpuError, Mapping, Submit};

use super::picture::Picture;

/// How long a job may take. The kernel's own watch takes some tenths of a second; the slowest board needs less for any of
/// these jobs.
pub const LIMIT: Duration = Duration::from_secs(5);

/// The kernel ends jobs that do not move on for this long, and calls them done (kernel-abi.md §11).
const RESET: Duration = Duration::from_millis(100);

/// Why a check failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A call was answered with an error.
    #[error("{0}")]
    Call(#[from] GpuError),
    /// A job did not end.
    #[error("a job did not end within {} seconds: the GPU hangs", LIMIT.as_secs())]
    Hang,
    /// Something else than it must be was found.
    #[error("{0}")]
    Wrong(String),
    /// A picture is not what it must be.
    #[error("{why}")]
    Picture { why: String, seen: Box<Picture>, expected: Box<Picture> },
}

impl Failure {
    /// Whether the device may still be busy with the job.
    pub fn is_hang(&self) -> bool {
        matches!(self, Failure::Hang | Failure::Call(GpuError::Hang(_)))
    }
}

/// The device, and what a check made on it.
pub struct Bench<'a> {
    pub gpu: &'a dyn Gpu,
    bos: RefCell<Vec<BoHandle>>,
}

impl Drop for Bench<'_> {
    fn drop(&mut self) {
        self.bos.borrow().iter().for_each(|bo| self.gpu.close_bo(*bo));
    }
}

impl<'a> Bench<'a> {
    pub fn new(gpu: &'a dyn Gpu) -> Bench<'a> {
        Bench { gpu, bos: RefCell::default() }
    }

    fn keep(&self, bo: BoHandle) -> BoHandle {
        self.bos.borrow_mut().push(bo);
        bo
    }

    /// A BO until the check is over.
    pub fn bo(&self, size: u32) -> Result<BoHandle, GpuError> {
        Ok(self.keep(self.gpu.create_bo(size)?))
    }

    /// As [`Bench::bo`], of memory that the CPU caches.
    pub fn cached_bo(&self, size: u32) -> Result<BoHandle, GpuError> {
        Ok(self.keep(self.gpu.create_cached_bo(size)?))
    }

    /// A BO with this content.
    pub fn filled(&self, bytes: &[u8]) -> Result<BoHandle, GpuError> {
        let bo = self.bo(bytes.len().max(1) as u32)?;
        self.gpu.map_bo(bo)?.write(0, bytes);
        Ok(bo)
    }

    pub fn shader(&self, code: &[u64]) -> Result<BoHandle, GpuError> {
        Ok(self.keep(self.gpu.create_shader_bo(code)?))
    }

    pub fn map(&self, bo: BoHandle) -> Result<Mapping, GpuError> {
        self.gpu.map_bo(bo)
    }

    /// Runs a job to its end, and tells how long that took.
    pub fn run(&self, job: &Submit) -> Result<Duration, Failure> {
        let start = Instant::now();
        let seqno = self.gpu.submit(job)?;
        if self.gpu.wait_seqno(seqno, Some(LIMIT))? { Ok(start.elapsed()) } else { Err(Failure::Hang) }
    }

    /// What to say of a job with a wrong result that took so long.
    pub fn suspicion(&self, took: Duration) -> &'static str {
        if took >= RESET && !self.gpu.is_simulated() {
            "; the kernel may have ended the job because the GPU hung (`sudo dmesg` tells)"
        } else {
            ""
        }
    }
}
