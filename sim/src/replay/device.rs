//! A replay on any device.

use std::time::{Duration, Instant};

use vc4_kernel_abi::{Gpu, GpuError};

use super::bos::{Bos, ReplayError};
use super::replayed::Replayed;
use crate::capture::read::{Capture, Done, Entry};

/// A device that runs the submissions of a capture in order.
pub struct DeviceReplay<'a> {
    capture: &'a Capture,
    gpu: &'a dyn Gpu,
    bos: Bos,
    next: usize,
}

impl Drop for DeviceReplay<'_> {
    fn drop(&mut self) {
        self.bos.close(self.gpu);
    }
}

impl<'a> DeviceReplay<'a> {
    /// Begins with the first submission.
    pub fn new(capture: &'a Capture, gpu: &'a dyn Gpu) -> DeviceReplay<'a> {
        DeviceReplay { capture, gpu, bos: Bos::default(), next: 0 }
    }

    /// Number of the next submission.
    pub fn position(&self) -> usize {
        self.next
    }

    /// Runs the next submission; `None` behind the last. One that is not done within `limit` counts as hung. The counts
    /// of what it did stay 0: only the simulator knows them.
    ///
    /// # Errors
    /// When the submission cannot be put together; one that is refused or hangs is no error.
    pub fn step(&mut self, limit: Duration) -> Option<Result<Replayed, ReplayError>> {
        let entry = self.capture.entries.get(self.next)?;
        self.next += 1;
        Some(self.run(entry, limit))
    }

    /// Content of a BO, from `offset` on, as much as there is of `size` bytes.
    pub fn contents(&self, key: u32, offset: u32, size: usize) -> Option<Vec<u8>> {
        self.bos.contents(key, offset, size)
    }

    fn run(&mut self, entry: &Entry, limit: Duration) -> Result<Replayed, ReplayError> {
        let submit = self.bos.prepare(self.gpu, self.capture, entry)?;
        let start = Instant::now();
        let seqno = match self.gpu.submit(&submit) {
            Ok(seqno) => seqno,
            Err(error @ (GpuError::Refused(_) | GpuError::OutOfMemory(_))) => {
                return Ok(Replayed { refused: Some(error.to_string()), ..Replayed::default() });
            }
            Err(error) => return Err(error.into()),
        };
        let hang = match self.gpu.wait_seqno(seqno, Some(limit)) {
            Ok(true) => None,
            Ok(false) => Some(format!("it is not done after {limit:?}")),
            Err(GpuError::Hang(what)) => Some(what),
            Err(error) => return Err(error.into()),
        };
        let nanoseconds = start.elapsed().as_nanos() as u64;
        let written = self.bos.written(entry);
        let done = Done { seqno: seqno.0, nanoseconds, hang, written, ..Done::default() };
        Ok(Replayed { done: Some(done), ..Replayed::default() })
    }
}
