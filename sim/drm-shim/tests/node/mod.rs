//! A node by its bare calls.

#![allow(dead_code, reason = "each test file uses its part")]

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Mutex;

use nix::errno::Errno;
use vc4_kernel_abi::ioctl::{self, Lists};
use vc4_kernel_abi::uapi::{MAX_PERF_COUNTERS, SubmitCl};
use vc4_kernel_abi::validate::frame::to_uapi;
use vc4_kernel_abi::{BoHandle, Gpu, GpuError, Ident, Mapping, PerfmonId, Seqno, Submit};

pub mod raw {
    #![allow(missing_docs, reason = "the macro leaves no place for them")]
    nix::ioctl_readwrite!(handle_to_fd, b'd', 0x2d, [u32; 3]);
    nix::ioctl_readwrite!(fd_to_handle, b'd', 0x2e, [u32; 3]);
    nix::ioctl_readwrite!(gem_flink, b'd', 0x0a, [u32; 2]);
    nix::ioctl_readwrite!(gem_open, b'd', 0x0b, [u32; 4]);
    nix::ioctl_write_ptr!(gem_close, b'd', 0x09, [u32; 2]);
    nix::ioctl_readwrite!(syncobj_create, b'd', 0xbf, [u32; 2]);
    nix::ioctl_readwrite!(syncobj_handle_to_fd, b'd', 0xc1, [u32; 4]);
    nix::ioctl_write_ptr!(dma_buf_sync, b'b', 0, u64);
    nix::ioctl_readwrite!(dma_buf_export_sync_file, b'b', 2, [u32; 2]);
}
pub fn open(node: &str) -> File {
    File::options().read(true).write(true).open(format!("/dev/dri/{node}")).unwrap()
}

pub fn map(fd: RawFd, offset: u64, length: usize, protection: libc::c_int) -> Result<*mut u8, Errno> {
    // SAFETY: a new mapping where there is room.
    let at = unsafe {
        libc::mmap64(std::ptr::null_mut(), length, protection, libc::MAP_SHARED, fd, offset as libc::off64_t)
    };
    if at == libc::MAP_FAILED { Err(Errno::last()) } else { Ok(at.cast()) }
}

pub const BOTH: libc::c_int = libc::PROT_READ | libc::PROT_WRITE;

/// A node by its bare calls, with the fields of a submission that [`Submit`] lacks.
pub struct Bare {
    pub file: File,
    pub extra: Mutex<SubmitCl>,
}

impl Bare {
    pub fn new(node: &str) -> Bare {
        Bare { file: open(node), extra: Mutex::default() }
    }
}

impl Gpu for Bare {
    fn description(&self) -> String {
        "bare calls".into()
    }

    fn is_simulated(&self) -> bool {
        false
    }

    fn ident(&self) -> Result<Ident, GpuError> {
        Ok(Ident::REFERENCE)
    }

    fn memory_size(&self) -> u64 {
        0
    }

    fn create_bo(&self, size: u32) -> Result<BoHandle, GpuError> {
        Ok(BoHandle(ioctl::create_bo(self.file.as_fd(), size).unwrap()))
    }

    fn create_shader_bo(&self, code: &[u64]) -> Result<BoHandle, GpuError> {
        Ok(BoHandle(ioctl::create_shader_bo(self.file.as_fd(), code).unwrap()))
    }

    fn map_bo(&self, bo: BoHandle) -> Result<Mapping, GpuError> {
        let offset = ioctl::mmap_bo(self.file.as_fd(), bo.0).unwrap();
        // The whole BO: mmap refuses more than there is.
        let all = (1..)
            .map(|pages| pages << 12)
            .map_while(|length| map(self.file.as_raw_fd(), offset, length, BOTH).ok().map(|at| (at, length)));
        let (at, length) = all.last().unwrap();
        // SAFETY: never unmapped.
        Ok(unsafe { Mapping::new(std::ptr::NonNull::new(at).unwrap(), length) })
    }

    fn close_bo(&self, _: BoHandle) {}

    fn shares_bos(&self) -> bool {
        false
    }

    fn export_bo(&self, _: BoHandle) -> Result<OwnedFd, GpuError> {
        unreachable!("tests of sharing make the calls themselves")
    }

    fn import_bo(&self, _: BorrowedFd<'_>) -> Result<(BoHandle, u64), GpuError> {
        unreachable!("tests of sharing make the calls themselves")
    }

    fn signalled_sync_file(&self) -> Option<OwnedFd> {
        None
    }

    fn submit(&self, job: &Submit) -> Result<Seqno, GpuError> {
        let handles: Vec<u32> = job.bos.iter().map(|bo| bo.0).collect();
        let lists = Lists {
            bin_cl: &job.bin_cl,
            shader_rec: &job.shader_rec,
            uniforms: &job.uniforms,
            bo_handles: &handles,
        };
        let extra = *self.extra.lock().unwrap();
        let frame = SubmitCl { perfmonid: extra.perfmonid, out_sync: extra.out_sync, ..to_uapi(job) };
        let seqno = ioctl::submit_cl(self.file.as_fd(), &frame, lists).unwrap();
        ioctl::wait_seqno(self.file.as_fd(), seqno, u64::MAX).unwrap();
        Ok(Seqno(seqno))
    }

    fn create_perfmon(&self, events: &[u8]) -> Result<PerfmonId, GpuError> {
        Ok(PerfmonId(ioctl::perfmon_create(self.file.as_fd(), events).unwrap()))
    }

    fn perfmon_values(&self, perfmon: PerfmonId) -> Result<[u64; MAX_PERF_COUNTERS], GpuError> {
        Ok(ioctl::perfmon_get_values(self.file.as_fd(), perfmon.0).unwrap())
    }

    fn destroy_perfmon(&self, perfmon: PerfmonId) {
        ioctl::perfmon_destroy(self.file.as_fd(), perfmon.0).unwrap();
    }

    fn wait_seqno(&self, _: Seqno, _: Option<std::time::Duration>) -> Result<bool, GpuError> {
        Ok(true)
    }
}
