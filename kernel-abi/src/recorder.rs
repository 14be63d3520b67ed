//! A device that keeps the submissions it saw, for tests that look at them or run them again.

use crate::gpu::{BoHandle, Gpu, GpuError, Ident, Mapping, PerfmonId, Seqno, Submit};
use crate::uapi::MAX_PERF_COUNTERS;
use std::ops::Range;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Passes every call on to another device. It keeps submissions, accepted or not, but no BO contents: running
/// them again on the same device needs the BOs to be as they were.
pub struct Recorder {
    gpu: Arc<dyn Gpu>,
    jobs: Mutex<Vec<Submit>>,
}

impl Recorder {
    /// Records what goes to `gpu`.
    pub fn new(gpu: Arc<dyn Gpu>) -> Recorder {
        Recorder { gpu, jobs: Mutex::default() }
    }

    /// The submissions so far, oldest first.
    pub fn submissions(&self) -> Vec<Submit> {
        self.jobs().clone()
    }

    /// As [`Recorder::submissions`], and forgets them.
    pub fn take(&self) -> Vec<Submit> {
        std::mem::take(&mut self.jobs())
    }

    fn jobs(&self) -> MutexGuard<'_, Vec<Submit>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gpu for Recorder {
    fn description(&self) -> String {
        format!("{}, recorded", self.gpu.description())
    }

    fn is_simulated(&self) -> bool {
        self.gpu.is_simulated()
    }

    fn ident(&self) -> Result<Ident, GpuError> {
        self.gpu.ident()
    }

    fn resets(&self) -> Option<u64> {
        self.gpu.resets()
    }

    fn memory_size(&self) -> u64 {
        self.gpu.memory_size()
    }

    fn memory_free(&self) -> u64 {
        self.gpu.memory_free()
    }

    fn create_bo(&self, size: u32) -> Result<BoHandle, GpuError> {
        self.gpu.create_bo(size)
    }

    fn has_cached_memory(&self) -> bool {
        self.gpu.has_cached_memory()
    }

    fn create_cached_bo(&self, size: u32) -> Result<BoHandle, GpuError> {
        self.gpu.create_cached_bo(size)
    }

    fn write_back(&self, bo: BoHandle, bytes: Range<usize>) {
        self.gpu.write_back(bo, bytes);
    }

    fn forget(&self, bo: BoHandle, bytes: Range<usize>) {
        self.gpu.forget(bo, bytes);
    }

    fn create_shader_bo(&self, code: &[u64]) -> Result<BoHandle, GpuError> {
        self.gpu.create_shader_bo(code)
    }

    fn map_bo(&self, bo: BoHandle) -> Result<Mapping, GpuError> {
        self.gpu.map_bo(bo)
    }

    fn close_bo(&self, bo: BoHandle) {
        self.gpu.close_bo(bo);
    }

    fn shares_bos(&self) -> bool {
        self.gpu.shares_bos()
    }

    fn export_bo(&self, bo: BoHandle) -> Result<OwnedFd, GpuError> {
        self.gpu.export_bo(bo)
    }

    fn set_tiling(&self, bo: BoHandle, modifier: u64) {
        self.gpu.set_tiling(bo, modifier);
    }

    fn label_bo(&self, bo: BoHandle, name: &str) {
        self.gpu.label_bo(bo, name);
    }

    fn import_bo(&self, fd: BorrowedFd<'_>) -> Result<(BoHandle, u64), GpuError> {
        self.gpu.import_bo(fd)
    }

    fn signalled_sync_file(&self) -> Option<OwnedFd> {
        self.gpu.signalled_sync_file()
    }

    fn submit(&self, job: &Submit) -> Result<Seqno, GpuError> {
        // Held over the call, so that the order is the device's.
        let mut jobs = self.jobs();
        jobs.push(job.clone());
        self.gpu.submit(job)
    }

    fn create_perfmon(&self, events: &[u8]) -> Result<PerfmonId, GpuError> {
        self.gpu.create_perfmon(events)
    }

    fn perfmon_values(&self, perfmon: PerfmonId) -> Result<[u64; MAX_PERF_COUNTERS], GpuError> {
        self.gpu.perfmon_values(perfmon)
    }

    fn destroy_perfmon(&self, perfmon: PerfmonId) {
        self.gpu.destroy_perfmon(perfmon);
    }

    fn wait_seqno(&self, seqno: Seqno, timeout: Option<Duration>) -> Result<bool, GpuError> {
        self.gpu.wait_seqno(seqno, timeout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noop::Noop;

    #[test]
    fn submissions_are_kept_in_order() {
        let recorder = Recorder::new(Arc::new(Noop::new()));
        let bo = recorder.create_bo(1).unwrap();
        for width in [1, 2] {
            recorder.submit(&Submit { width, bos: vec![bo], ..Default::default() }).unwrap();
        }
        assert!(
            recorder.submit(&Submit { width: 3, bos: vec![BoHandle(99)], ..Default::default() }).is_err()
        );
        let widths: Vec<u16> = recorder.submissions().iter().map(|job| job.width).collect();
        assert_eq!(widths, [1, 2, 3]);
        assert_eq!(recorder.take().len(), 3);
        assert!(recorder.submissions().is_empty());
    }
}
