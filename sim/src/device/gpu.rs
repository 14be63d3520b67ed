//! The simulator as a device of the driver's process.

use std::ops::Range;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use nix::errno::Errno;
use vc4_kernel_abi::uapi::MAX_PERF_COUNTERS;
use vc4_kernel_abi::{BoHandle, Gpu, GpuError, Ident, Mapping, PerfmonId, Seqno, Submit};

use super::cached::Cached;
use super::queue::Watch;
use super::simulator::Simulator;
use crate::kernel::Bo;
use crate::kernel::backing::{Inode, bo_file_size};
use crate::lock::lock;
use crate::stats::Perfmon;

impl Gpu for Simulator {
    fn description(&self) -> String {
        "simulated VideoCore IV".into()
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn simulation_time(&self) -> Duration {
        self.shared.state().simulation_time()
    }

    fn ident(&self) -> Result<Ident, GpuError> {
        Ok(Ident::REFERENCE)
    }

    fn memory_size(&self) -> u64 {
        self.bo_bytes
    }

    fn create_bo(&self, size: u32) -> Result<BoHandle, GpuError> {
        self.add_bo(self.new_bo(size)?)
    }

    fn has_cached_memory(&self) -> bool {
        true
    }

    fn create_cached_bo(&self, size: u32) -> Result<BoHandle, GpuError> {
        let memory = self.new_bo(size)?;
        let cached = Cached::new(memory.clone())?;
        let bo = self.add_bo(memory)?;
        lock(&self.cached).insert(bo, Arc::new(cached));
        Ok(bo)
    }

    fn write_back(&self, bo: BoHandle, bytes: Range<usize>) {
        if let Some(cached) = self.cached(bo) {
            cached.maintain(bytes, false);
        }
    }

    fn forget(&self, bo: BoHandle, bytes: Range<usize>) {
        if let Some(cached) = self.cached(bo) {
            cached.maintain(bytes, true);
        }
    }

    fn label_bo(&self, bo: BoHandle, name: &str) {
        if let Ok(bo) = self.bo(bo) {
            name.clone_into(&mut lock(&bo.label));
        }
    }

    fn create_shader_bo(&self, code: &[u64]) -> Result<BoHandle, GpuError> {
        self.add_bo(self.new_shader_bo(code)?)
    }

    #[expect(unsafe_code, reason = "a mapping is memory that the driver's process shares with the GPU")]
    fn map_bo(&self, bo: BoHandle) -> Result<Mapping, GpuError> {
        if let Some(cached) = self.cached(bo) {
            return Ok(cached.view());
        }
        let bo = self.bo(bo)?;
        if bo.shader.is_some() {
            return Err(GpuError::Refused("a shader BO is immutable and cannot be mapped".into()));
        }
        let ptr = NonNull::new(self.shared.memory.host_ptr(bo.pages.address()));
        let ptr = ptr.ok_or(GpuError::OutOfMemory("mapping"))?;
        // SAFETY: the BO's pages lie inside of the bus memory's atomic words, which are readable and
        // writable through a shared reference and live as long as this simulator; they stay this BO's
        // until its handle is closed.
        Ok(unsafe { Mapping::new(ptr, bo.pages.bytes() as usize) })
    }

    fn close_bo(&self, bo: BoHandle) {
        let cached = lock(&self.cached).remove(&bo);
        let closed = self.shared.state().bos.remove(&bo);
        // Outside of the lock: this may return the pages.
        drop((closed, cached));
    }

    fn shares_bos(&self) -> bool {
        self.backing.is_some()
    }

    fn export_bo(&self, handle: BoHandle) -> Result<OwnedFd, GpuError> {
        let bo = self.bo(handle)?;
        if self.cached(handle).is_some() {
            return Err(GpuError::Refused("memory that the CPU caches is not shared".into()));
        }
        if bo.shader.is_some() {
            return Err(GpuError::Refused("a shader BO cannot be shared".into()));
        }
        let backing = self.sharing_backing()?;
        let failed = |errno: Errno| GpuError::Os { call: "BO export", source: errno.into() };
        if bo.file().is_none() {
            let file = backing.create(bo.pages.address(), bo.pages.bytes()).map_err(failed)?;
            // Under the lock nobody else attaches one.
            let _ = bo.file.set(file);
        }
        let file = bo.file().ok_or_else(|| failed(Errno::EINVAL))?;
        file.seal().and_then(|()| file.duplicate()).map_err(failed)
    }

    fn import_bo(&self, fd: BorrowedFd<'_>) -> Result<(BoHandle, u64), GpuError> {
        let failed = |errno: Errno| GpuError::Os { call: "BO import", source: errno.into() };
        let size = bo_file_size(fd).ok_or_else(|| failed(Errno::EINVAL))?;
        let inode = Inode::of(fd).map_err(failed)?;
        let backing = self.sharing_backing()?;
        let is_it = |bo: &Arc<Bo>| bo.file().is_some_and(|file| file.inode() == inode);
        let known = self.shared.state().bos.iter().find(|(_, bo)| is_it(bo)).map(|(handle, _)| *handle);
        if let Some(handle) = known {
            return Ok((handle, size.into()));
        }
        let copy = fd.try_clone_to_owned().map_err(|source| GpuError::Os { call: "BO import", source })?;
        let bo = self.new_bo(size)?;
        let file = backing.adopt(copy, bo.pages.address(), bo.pages.bytes()).map_err(failed)?;
        let _ = bo.file.set(file);
        Ok((self.add_bo(bo)?, size.into()))
    }

    fn signalled_sync_file(&self) -> Option<OwnedFd> {
        // A socket without another end is always readable.
        UnixStream::pair().ok().map(|(file, _)| file.into())
    }

    fn submit(&self, job: &Submit) -> Result<Seqno, GpuError> {
        let perfmon = job.perfmon.map(|perfmon| self.perfmon(perfmon)).transpose()?;
        let mut order = self.prepare(job)?;
        order.counted = perfmon.as_ref().is_some_and(|perfmon| perfmon.counts_caches());
        let watch: Watch = Box::new(move |result| {
            if let (Ok(stats), Some(perfmon)) = (result, &perfmon) {
                perfmon.add(stats);
            }
        });
        self.enqueue(order, watch)
    }

    fn create_perfmon(&self, events: &[u8]) -> Result<PerfmonId, GpuError> {
        let perfmon =
            Perfmon::new(events).ok_or_else(|| GpuError::Refused(format!("a monitor of {events:?}")))?;
        let mut state = self.shared.state();
        state.last_perfmon += 1;
        let id = PerfmonId(state.last_perfmon);
        state.perfmons.insert(id, Arc::new(perfmon));
        Ok(id)
    }

    fn perfmon_values(&self, perfmon: PerfmonId) -> Result<[u64; MAX_PERF_COUNTERS], GpuError> {
        self.perfmon(perfmon).map(|perfmon| perfmon.values())
    }

    fn destroy_perfmon(&self, perfmon: PerfmonId) {
        self.shared.state().perfmons.remove(&perfmon);
    }

    fn wait_seqno(&self, seqno: Seqno, timeout: Option<Duration>) -> Result<bool, GpuError> {
        if !self.wait_until(timeout, |finished| finished.has(seqno)) {
            return Ok(false);
        }
        match &self.shared.state().hang {
            Some((hung, what)) if *hung <= seqno.0 => Err(GpuError::Hang(what.clone())),
            _ => Ok(true),
        }
    }
}
