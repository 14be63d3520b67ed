//! Devices with faults, for tests of what uses devices.

use std::io;
use std::ops::Range;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use vc4_kernel_abi::{BoHandle, Gpu, GpuError, Ident, Mapping, PerfmonId, Seqno, Submit};
use vc4_sim::Simulator;

/// What is wrong with a device.
#[derive(Clone, Copy, PartialEq)]
pub enum Fault {
    /// BOs cannot be made: the kernel's answer.
    NoBos(i32),
    /// Jobs are refused: the kernel's answer.
    NoJobs(i32),
    /// Jobs with programs do not end, others do.
    DrawsHang,
    /// Nothing ends any more.
    AllHangs,
    /// One bit of what is read from large BOs is wrong.
    OneBit,
    /// One bit of a known picture, which is 133 pixels wide, is wrong.
    OneKnownBit,
    /// The registers are another GPU's.
    OtherIdent,
    /// Caches forget nothing.
    StaleCaches,
    /// Caches forget what was not written back.
    LossyCaches,
}

/// A simulator with a fault.
pub struct Faulty {
    gpu: Simulator,
    fault: Fault,
    hangs: AtomicBool,
}

impl Faulty {
    pub fn new(gpu: Simulator, fault: Fault) -> Faulty {
        Faulty { gpu, fault, hangs: AtomicBool::new(false) }
    }
}

fn answer(call: &'static str, errno: i32) -> GpuError {
    GpuError::Os { call, source: io::Error::from_raw_os_error(errno) }
}

impl Gpu for Faulty {
    fn description(&self) -> String {
        "a GPU with a fault".into()
    }
    fn is_simulated(&self) -> bool {
        false
    }
    fn ident(&self) -> Result<Ident, GpuError> {
        match self.fault {
            Fault::OtherIdent => Ok(Ident { ident0: 0x0444_3356, ..Ident::REFERENCE }),
            _ => self.gpu.ident(),
        }
    }
    fn memory_size(&self) -> u64 {
        self.gpu.memory_size()
    }
    fn memory_free(&self) -> u64 {
        self.gpu.memory_free()
    }
    fn create_bo(&self, size: u32) -> Result<BoHandle, GpuError> {
        match self.fault {
            Fault::NoBos(errno) => Err(answer("DRM_IOCTL_VC4_CREATE_BO", errno)),
            _ => self.gpu.create_bo(size),
        }
    }
    fn has_cached_memory(&self) -> bool {
        matches!(self.fault, Fault::StaleCaches | Fault::LossyCaches)
    }
    fn create_cached_bo(&self, size: u32) -> Result<BoHandle, GpuError> {
        self.gpu.create_cached_bo(size)
    }
    fn write_back(&self, bo: BoHandle, bytes: Range<usize>) {
        self.gpu.write_back(bo, bytes);
    }
    fn forget(&self, bo: BoHandle, bytes: Range<usize>) {
        if self.fault == Fault::StaleCaches {
            return;
        }
        self.gpu.forget(bo, bytes);
        // As the kernel's call for dma-bufs, which knows whole buffers.
        let map = self.gpu.map_bo(bo).expect("a BO of ours");
        map.write_u32(map.len() / 2, map.read_u32(0));
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
        false
    }
    fn export_bo(&self, bo: BoHandle) -> Result<OwnedFd, GpuError> {
        self.gpu.export_bo(bo)
    }
    fn import_bo(&self, fd: BorrowedFd<'_>) -> Result<(BoHandle, u64), GpuError> {
        self.gpu.import_bo(fd)
    }
    fn signalled_sync_file(&self) -> Option<OwnedFd> {
        None
    }
    fn submit(&self, job: &Submit) -> Result<Seqno, GpuError> {
        if let Fault::NoJobs(errno) = self.fault {
            return Err(answer("DRM_IOCTL_VC4_SUBMIT_CL", errno));
        }
        self.hangs.store(!job.bin_cl.is_empty() || self.fault == Fault::AllHangs, Ordering::Relaxed);
        let seqno = self.gpu.submit(job)?;
        let is_wrong = match self.fault {
            Fault::OneBit => job.width == 640,
            Fault::OneKnownBit => job.width == 133,
            _ => false,
        };
        if let Some(surface) = job.color_write.filter(|_| is_wrong) {
            self.gpu.wait_seqno(seqno, None)?;
            let map = self.gpu.map_bo(job.bos[surface.bo_index as usize])?;
            let at = surface.offset as usize + 4000;
            map.write_u32(at, map.read_u32(at) ^ 1 << 9);
        }
        Ok(seqno)
    }
    fn create_perfmon(&self, events: &[u8]) -> Result<PerfmonId, GpuError> {
        self.gpu.create_perfmon(events)
    }
    fn perfmon_values(&self, perfmon: PerfmonId) -> Result<[u64; 16], GpuError> {
        self.gpu.perfmon_values(perfmon)
    }
    fn destroy_perfmon(&self, perfmon: PerfmonId) {
        self.gpu.destroy_perfmon(perfmon);
    }
    fn wait_seqno(&self, seqno: Seqno, timeout: Option<Duration>) -> Result<bool, GpuError> {
        assert!(timeout.is_some(), "a check waits without a limit");
        let hangs = matches!(self.fault, Fault::DrawsHang | Fault::AllHangs);
        if hangs && self.hangs.load(Ordering::Relaxed) {
            Ok(false)
        } else {
            self.gpu.wait_seqno(seqno, timeout)
        }
    }
}
