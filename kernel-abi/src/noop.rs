//! A device that does nothing: memory in this process, jobs that are done at once. For measuring everything
//! but the GPU.

use crate::gpu::{BoHandle, Gpu, GpuError, Ident, Mapping, PerfmonId, Seqno, Submit};
use crate::mapping::MappedMemory;
use crate::uapi::MAX_PERF_COUNTERS;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
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
    /// Those that others know.
    shared: BTreeMap<BoHandle, File>,
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
        Ok((self.state().add(memory), mapping))
    }
}

impl State {
    fn add(&mut self, memory: MappedMemory) -> BoHandle {
        self.last_handle += 1;
        let handle = BoHandle(self.last_handle);
        self.bos.insert(handle, memory);
        handle
    }
}

/// What tells files apart.
fn inode(file: &File) -> io::Result<(u64, u64)> {
    file.metadata().map(|data| (data.dev(), data.ino()))
}

fn invalid(call: &'static str) -> GpuError {
    GpuError::Os { call, source: io::ErrorKind::InvalidInput.into() }
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
        let mut state = self.state();
        state.bos.remove(&bo);
        state.shared.remove(&bo);
    }

    fn shares_bos(&self) -> bool {
        true
    }

    fn export_bo(&self, bo: BoHandle) -> Result<OwnedFd, GpuError> {
        const CALL: &str = "export_bo";
        let failed = |source: io::Error| GpuError::Os { call: CALL, source };
        let State { bos, shared, .. } = &mut *self.state();
        let memory = bos.get(&bo).ok_or_else(|| invalid(CALL))?;
        let file = match shared.entry(bo) {
            Entry::Occupied(file) => file.into_mut(),
            Entry::Vacant(place) => place.insert(memory.become_file().map_err(|error| failed(error.into()))?),
        };
        file.try_clone().map(OwnedFd::from).map_err(failed)
    }

    fn import_bo(&self, fd: BorrowedFd<'_>) -> Result<(BoHandle, u64), GpuError> {
        const CALL: &str = "import_bo";
        let failed = |source: io::Error| GpuError::Os { call: CALL, source };
        let file = File::from(fd.try_clone_to_owned().map_err(failed)?);
        let (size, own) = (file.metadata().map_err(failed)?.len(), inode(&file).map_err(failed)?);
        let mut state = self.state();
        let is_it = |(_, known): &(&BoHandle, &File)| inode(known).is_ok_and(|inode| inode == own);
        if let Some((handle, _)) = state.shared.iter().find(is_it) {
            return Ok((*handle, size));
        }
        if size == 0 || size % u64::from(PAGE) != 0 || size > MEMORY_SIZE {
            return Err(invalid(CALL));
        }
        let memory = MappedMemory::of_device(fd, 0, size as usize).map_err(|error| failed(error.into()))?;
        let handle = state.add(memory);
        state.shared.insert(handle, file);
        Ok((handle, size))
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
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn what_is_shared_is_one_memory() {
        let (gpu, other) = (Noop::new(), Noop::new());
        let bo = gpu.create_bo(5000).unwrap();
        let mapping = gpu.map_bo(bo).unwrap();
        mapping.write_u32(4096, 7);
        let fd = gpu.export_bo(bo).unwrap();
        assert_eq!(gpu.import_bo(gpu.export_bo(bo).unwrap().as_fd()).unwrap(), (bo, 8192));
        let (copy, size) = other.import_bo(fd.as_fd()).unwrap();
        let seen = other.map_bo(copy).unwrap();
        assert_eq!((size, seen.read_u32(4096)), (8192, 7));
        mapping.write_u32(0, 1);
        seen.write_u32(4, 2);
        assert_eq!((seen.read_u32(0), mapping.read_u32(4)), (1, 2));
        // It outlives the one that it came from.
        gpu.close_bo(bo);
        assert_eq!(seen.read_u32(4096), 7);
        assert!(gpu.export_bo(bo).is_err());
        assert!(gpu.import_bo(File::open("/dev/null").unwrap().as_fd()).is_err());
    }

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
