//! A device that does nothing: memory in this process, jobs that are done at once. For measuring everything
//! but the GPU.

use crate::gpu::{BoHandle, Gpu, GpuError, Ident, Mapping, PerfmonId, Seqno, Submit};
use crate::mapping::MappedMemory;
use crate::uapi::MAX_PERF_COUNTERS;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// BOs are made of pages.
const PAGE: u32 = 4096;
/// What it says it has, in bytes: a usual CMA area (kernel-abi.md §12). More may be used.
const MEMORY_SIZE: u64 = 256 << 20;

/// The device. It refuses nothing but handles that it does not know.
#[derive(Debug, Default)]
pub struct Noop {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    bos: BTreeMap<BoHandle, MappedMemory>,
    last_handle: u32,
    last_seqno: u64,
    perfmons: BTreeSet<PerfmonId>,
    last_perfmon: u32,
}

impl Noop {
    /// A device without BOs.
    pub fn new() -> Noop {
        Noop::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn create(&self, call: &'static str, size: u32) -> Result<(BoHandle, Mapping), GpuError> {
        if size == 0 {
            return Err(invalid(call));
        }
        let size = size.checked_next_multiple_of(PAGE).ok_or(GpuError::OutOfMemory(call))?;
        let memory = MappedMemory::anonymous(size as usize).map_err(|_| GpuError::OutOfMemory(call))?;
        let mapping = memory.mapping();
        let mut state = self.state();
        state.last_handle += 1;
        let handle = BoHandle(state.last_handle);
        state.bos.insert(handle, memory);
        Ok((handle, mapping))
    }
}

fn invalid(call: &'static str) -> GpuError {
    GpuError::Os { call, source: io::ErrorKind::InvalidInput.into() }
}

fn unshared(call: &'static str) -> GpuError {
    GpuError::Os { call, source: io::ErrorKind::Unsupported.into() }
}

impl Gpu for Noop {
    fn description(&self) -> String {
        "no GPU: jobs are dropped".to_owned()
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn ident(&self) -> Result<Ident, GpuError> {
        Ok(Ident::REFERENCE)
    }

    fn memory_size(&self) -> u64 {
        MEMORY_SIZE
    }

    fn create_bo(&self, size: u32) -> Result<BoHandle, GpuError> {
        self.create("create_bo", size).map(|(handle, _)| handle)
    }

    fn create_shader_bo(&self, code: &[u64]) -> Result<BoHandle, GpuError> {
        const CALL: &str = "create_shader_bo";
        let size = u32::try_from(size_of_val(code)).map_err(|_| GpuError::OutOfMemory(CALL))?;
        let (handle, mapping) = self.create(CALL, size)?;
        mapping.write(0, bytemuck::cast_slice(code));
        Ok(handle)
    }

    fn map_bo(&self, bo: BoHandle) -> Result<Mapping, GpuError> {
        self.state().bos.get(&bo).map(MappedMemory::mapping).ok_or_else(|| invalid("map_bo"))
    }

    fn close_bo(&self, bo: BoHandle) {
        self.state().bos.remove(&bo);
    }

    fn shares_bos(&self) -> bool {
        false
    }

    fn export_bo(&self, _: BoHandle) -> Result<OwnedFd, GpuError> {
        Err(unshared("export_bo"))
    }

    fn import_bo(&self, _: BorrowedFd<'_>) -> Result<(BoHandle, u64), GpuError> {
        Err(unshared("import_bo"))
    }

    fn signalled_sync_file(&self) -> Option<OwnedFd> {
        None
    }

    fn submit(&self, job: &Submit) -> Result<Seqno, GpuError> {
        let mut state = self.state();
        if let Some(bo) = job.bos.iter().find(|bo| !state.bos.contains_key(bo)) {
            return Err(GpuError::Refused(format!("BO handle {} is not known", bo.0)));
        }
        state.last_seqno += 1;
        Ok(Seqno(state.last_seqno))
    }

    fn create_perfmon(&self, _events: &[u8]) -> Result<PerfmonId, GpuError> {
        let mut state = self.state();
        state.last_perfmon += 1;
        let perfmon = PerfmonId(state.last_perfmon);
        state.perfmons.insert(perfmon);
        Ok(perfmon)
    }

    fn perfmon_values(&self, perfmon: PerfmonId) -> Result<[u64; MAX_PERF_COUNTERS], GpuError> {
        let known = self.state().perfmons.contains(&perfmon);
        known.then_some([0; MAX_PERF_COUNTERS]).ok_or_else(|| invalid("perfmon_values"))
    }

    fn destroy_perfmon(&self, perfmon: PerfmonId) {
        self.state().perfmons.remove(&perfmon);
    }

    fn wait_seqno(&self, seqno: Seqno, _timeout: Option<Duration>) -> Result<bool, GpuError> {
        Ok(seqno.0 <= self.state().last_seqno)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_there_and_jobs_are_done() {
        let gpu = Noop::new();
        let bo = gpu.create_bo(5000).unwrap();
        let mapping = gpu.map_bo(bo).unwrap();
        assert_eq!(mapping.len(), 8192);
        assert_eq!(mapping.read_u32(8188), 0);
        mapping.write_u32(8188, 7);
        assert_eq!(gpu.map_bo(bo).unwrap().read_u32(8188), 7);
        let code = gpu.create_shader_bo(&[1, 2]).unwrap();
        assert_eq!(gpu.map_bo(code).unwrap().read_u32(8), 2);

        let job = Submit { bos: vec![bo, code], ..Default::default() };
        let seqno = gpu.submit(&job).unwrap();
        assert!(gpu.wait_seqno(seqno, None).unwrap());
        assert!(!gpu.wait_seqno(Seqno(seqno.0 + 1), Some(Duration::ZERO)).unwrap());

        let perfmon = gpu.create_perfmon(&[6, 9]).unwrap();
        assert_eq!(gpu.perfmon_values(perfmon).unwrap(), [0; MAX_PERF_COUNTERS]);
        gpu.destroy_perfmon(perfmon);
        assert!(gpu.perfmon_values(perfmon).is_err());

        gpu.close_bo(bo);
        assert!(gpu.map_bo(bo).is_err());
        assert!(matches!(gpu.submit(&job), Err(GpuError::Refused(_))));
        assert!(gpu.create_bo(0).is_err());
        assert!(matches!(gpu.create_bo(u32::MAX), Err(GpuError::OutOfMemory(_))));
    }
}
