//! Descriptors beside the device file and their own ioctls: sync_files and dma-bufs (drm-shim.md §3).

use bytemuck::{Zeroable, bytes_of};
use nix::errno::Errno;

use super::request::Request;
use crate::drm::node::Answer;
use crate::drm::object::DmaBuf;
use crate::drm::process::{Exported, Process};
use crate::drm::sync_file::{SyncFile, padded};
use crate::drm::uapi::{DmaBufSync, SyncFenceInfo, SyncFileInfo, SyncMerge};

/// Type bytes and numbers of the ioctls.
const SYNC_TYPE: u8 = b'>';
const SYNC_MERGE: u8 = 3;
const SYNC_FILE_INFO: u8 = 4;
const DMA_BUF_TYPE: u8 = b'b';
const DMA_BUF_SYNC: u8 = 0;
/// `flags` of DMA_BUF_IOCTL_SYNC: read, write, end.
const DMA_BUF_SYNC_FLAGS: u64 = 7;
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

impl DmaBuf {
    /// Answers an ioctl of such a file.
    ///
    /// # Errors
    /// `EINVAL` for unknown flags; `ENOTTY` for what is no ioctl of a dma-buf.
    pub fn ioctl(request: u32, arg: u64, process: &dyn Process) -> Answer {
        let request = Request(request);
        if (request.kind(), request.number()) != (DMA_BUF_TYPE, DMA_BUF_SYNC) {
            return Err(Errno::ENOTTY);
        }
        // CPU and simulated GPU see the same memory: there is nothing to flush.
        request.with(arg, process, |arg: &mut DmaBufSync| {
            let valid = arg.flags & !DMA_BUF_SYNC_FLAGS == 0 && arg.flags & DMA_BUF_SYNC_ACCESS != 0;
            if valid { Ok(()) } else { Err(Errno::EINVAL) }
        })
    }
}
