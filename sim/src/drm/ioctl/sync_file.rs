//! Descriptors beside the device file and their own ioctls: sync_files and dma-bufs (drm-shim.md §3).

use std::sync::Arc;

use bytemuck::{Zeroable, bytes_of};
use nix::errno::Errno;

use super::request::Request;
use super::wait::wait;
use crate::drm::device::Device;
use crate::drm::fence::Fence;
use crate::drm::node::Answer;
use crate::drm::object::DmaBuf;
use crate::drm::process::{Exported, Process};
use crate::drm::sync_file::{SyncFile, padded};
use crate::drm::uapi::{DmaBufSync, DmaBufSyncFile, SyncFenceInfo, SyncFileInfo, SyncMerge};

/// Type bytes and numbers of the ioctls.
const SYNC_TYPE: u8 = b'>';
const SYNC_MERGE: u8 = 3;
const SYNC_FILE_INFO: u8 = 4;
const DMA_BUF_TYPE: u8 = b'b';
const DMA_BUF_SYNC: u8 = 0;
const DMA_BUF_EXPORT_SYNC_FILE: u8 = 2;
const DMA_BUF_IMPORT_SYNC_FILE: u8 = 3;
/// `flags` of DMA_BUF_IOCTL_SYNC: read, write, end.
const DMA_BUF_SYNC_FLAGS: u64 = 7;
const DMA_BUF_SYNC_WRITE: u64 = 2;
const DMA_BUF_SYNC_END: u64 = 4;
/// Read or write, at least one of which must be given.
const DMA_BUF_SYNC_ACCESS: u64 = 3;

impl SyncFile {
    /// Answers an ioctl of this file.
    ///
    /// # Errors
    /// The kernel's errno; `ENOTTY` for what is no ioctl of a sync_file.
    pub fn ioctl(&self, request: u32, arg: u64, process: &dyn Process) -> Answer {
        let request = Request(request);
        match (request.kind(), request.number()) {
            (SYNC_TYPE, SYNC_MERGE) => request.with(arg, process, |arg| self.merge(arg, process)),
            (SYNC_TYPE, SYNC_FILE_INFO) => request.with(arg, process, |arg| self.info(arg, process)),
            _ => Err(Errno::ENOTTY),
        }
    }

    fn merge(&self, arg: &mut SyncMerge, process: &dyn Process) -> Answer {
        if arg.flags != 0 || arg.pad != 0 {
            return Err(Errno::EINVAL);
        }
        let Ok(Exported::SyncFile(other)) = process.exported(arg.fd2) else {
            return Err(Errno::ENOENT);
        };
        let mut name = arg.name;
        name[31] = 0;
        let merged = SyncFile { device: self.device.clone(), fence: self.fence.and(other.fence), name };
        arg.fence = process.install(Exported::SyncFile(merged), true)?;
        Ok(())
    }

    fn info(&self, arg: &mut SyncFileInfo, process: &dyn Process) -> Answer {
        if arg.flags != 0 || arg.pad != 0 {
            return Err(Errno::EINVAL);
        }
        let status = self.fence.signalled(&self.device.simulator.finished()).into();
        if arg.fence_count > 0 {
            let fence = SyncFenceInfo {
                object_name: padded("vc4-v3d"),
                driver_name: padded("vc4"),
                status,
                ..SyncFenceInfo::zeroed()
            };
            process.write(arg.fences, bytes_of(&fence))?;
        }
        (arg.name, arg.status, arg.fence_count) = (self.name, status, 1);
        Ok(())
    }
}

/// What DMA_BUF_IOCTL_SYNC is to wait for: nothing at the end of an access, at its start what is before reading
/// or, if that is the word inside, writing.
fn access_of(flags: u64) -> Result<Option<bool>, Errno> {
    if flags & !DMA_BUF_SYNC_FLAGS != 0 || flags & DMA_BUF_SYNC_ACCESS == 0 {
        return Err(Errno::EINVAL);
    }
    Ok((flags & DMA_BUF_SYNC_END == 0).then_some(flags & DMA_BUF_SYNC_WRITE != 0))
}

/// Whether DMA_BUF_IOCTL_EXPORT_SYNC_FILE and its like mean writing.
fn usage_of(flags: u32) -> Result<bool, Errno> {
    let flags = u64::from(flags);
    let valid = flags & !DMA_BUF_SYNC_ACCESS == 0 && flags != 0;
    if valid { Ok(flags & DMA_BUF_SYNC_WRITE != 0) } else { Err(Errno::EINVAL) }
}

impl DmaBuf {
    /// Whether an ioctl is one of such files.
    pub fn has_ioctl(request: u32) -> bool {
        Request(request).kind() == DMA_BUF_TYPE
    }

    /// Answers an ioctl of a buffer that no device uses.
    ///
    /// # Errors
    /// `EINVAL` for unknown flags; `ENOTTY` for what is no ioctl of a dma-buf or gives a file of a device's.
    pub fn ioctl_unused(request: u32, arg: u64, process: &dyn Process) -> Answer {
        let request = Request(request);
        match (request.kind(), request.number()) {
            (DMA_BUF_TYPE, DMA_BUF_SYNC) => {
                request.with(arg, process, |arg: &mut DmaBufSync| access_of(arg.flags).map(drop))
            }
            _ => Err(Errno::ENOTTY),
        }
    }
}

impl Device {
    /// Answers an ioctl of a dma-buf; without `buffer`, of one that this device does not use.
    ///
    /// # Errors
    /// `EINVAL` for unknown flags; `ENOTTY` for what is no ioctl of a dma-buf.
    pub fn dma_buf_ioctl(
        self: &Arc<Device>,
        buffer: Option<&DmaBuf>,
        request: u32,
        arg: u64,
        process: &dyn Process,
    ) -> Answer {
        let request = Request(request);
        let before = |write| buffer.map_or(Fence::Signalled, |buffer| buffer.fences().before(write));
        match (request.kind(), request.number()) {
            // CPU and simulated GPU see the same memory: nothing is to be flushed, but jobs are waited for, as
            // __dma_buf_begin_cpu_access does.
            (DMA_BUF_TYPE, DMA_BUF_SYNC) => request.with(arg, process, |arg: &mut DmaBufSync| {
                let Some(write) = access_of(arg.flags)? else { return Ok(()) };
                let fence = before(write);
                wait(self, process, None, |finished| fence.signalled(finished))
            }),
            (DMA_BUF_TYPE, DMA_BUF_EXPORT_SYNC_FILE) => {
                request.with(arg, process, |arg: &mut DmaBufSyncFile| {
                    let fence = before(usage_of(arg.flags)?);
                    arg.fd = process.install(Exported::SyncFile(SyncFile::new(self, fence)), true)?;
                    Ok(())
                })
            }
            (DMA_BUF_TYPE, DMA_BUF_IMPORT_SYNC_FILE) => {
                request.with(arg, process, |arg: &mut DmaBufSyncFile| {
                    let write = usage_of(arg.flags)?;
                    let Ok(Exported::SyncFile(file)) = process.exported(arg.fd) else {
                        return Err(Errno::EINVAL);
                    };
                    if let Some(buffer) = buffer {
                        buffer.add_fence(file.fence(), write);
                    }
                    Ok(())
                })
            }
            _ => Err(Errno::ENOTTY),
        }
    }
}
