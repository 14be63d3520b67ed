//! Binary syncobjs (kernel-abi.md §13.3).

use std::sync::Arc;
use std::time::Duration;

use nix::errno::Errno;

use super::wait::wait;
use crate::drm::fence::{Fence, Syncobj};
use crate::drm::file::File;
use crate::drm::node::Answer;
use crate::drm::process::{Exported, Process};
use crate::drm::sync_file::SyncFile;
use crate::drm::uapi::{SyncobjArray, SyncobjCreate, SyncobjDestroy, SyncobjHandle, SyncobjWait};
use crate::lock::lock;

/// `flags` of SYNCOBJ_CREATE.
const CREATE_SIGNALLED: u32 = 1;
/// `flags` of both conversions: the descriptor is a sync_file.
const SYNC_FILE: u32 = 1;
/// `flags` of SYNCOBJ_WAIT.
const WAIT_ALL: u32 = 1;
const WAIT_FOR_SUBMIT: u32 = 2;

impl File {
    pub(super) fn syncobj_create(&self, arg: &mut SyncobjCreate, _: &dyn Process) -> Answer {
        if arg.flags & !CREATE_SIGNALLED != 0 {
            return Err(Errno::EINVAL);
        }
        let fence = (arg.flags & CREATE_SIGNALLED != 0).then_some(Fence::Signalled);
        arg.handle = lock(&self.syncobjs).insert(Arc::new(Syncobj::new(fence)))?;
        Ok(())
    }

    pub(super) fn syncobj_destroy(&self, arg: &mut SyncobjDestroy, _: &dyn Process) -> Answer {
        if arg.pad != 0 {
            return Err(Errno::EINVAL);
        }
        lock(&self.syncobjs).remove(arg.handle).map(drop).ok_or(Errno::EINVAL)
    }

    pub(super) fn syncobj_handle_to_fd(&self, arg: &mut SyncobjHandle, process: &dyn Process) -> Answer {
        let syncobj = self.syncobj(arg.handle);
        let object = match (arg.pad, arg.flags) {
            (0, 0) => Exported::Syncobj(syncobj.ok_or(Errno::EINVAL)?),
            (0, SYNC_FILE) => {
                let fence = syncobj.ok_or(Errno::ENOENT)?.fence().ok_or(Errno::EINVAL)?;
                Exported::SyncFile(SyncFile::new(&self.device, fence))
            }
            _ => return Err(Errno::EINVAL),
        };
        arg.fd = process.install(object, true)?;
        Ok(())
    }

    pub(super) fn syncobj_fd_to_handle(&self, arg: &mut SyncobjHandle, process: &dyn Process) -> Answer {
        if arg.pad != 0 || arg.flags & !SYNC_FILE != 0 {
            return Err(Errno::EINVAL);
        }
        let exported = process.exported(arg.fd).map_err(|_| Errno::EINVAL)?;
        match exported {
            Exported::Syncobj(syncobj) if arg.flags == 0 => {
                arg.handle = lock(&self.syncobjs).insert(syncobj)?;
                Ok(())
            }
            Exported::SyncFile(file) if arg.flags == SYNC_FILE => {
                let syncobj = self.syncobj(arg.handle).ok_or(Errno::ENOENT)?;
                self.device.set_fence(&syncobj, Some(file.fence()));
                Ok(())
            }
            _ => Err(Errno::EINVAL),
        }
    }

    /// The syncobjs that an array of handles names.
    fn syncobj_array(
        &self,
        address: u64,
        count: u32,
        process: &dyn Process,
    ) -> Result<Vec<Arc<Syncobj>>, Errno> {
        if count == 0 {
            return Err(Errno::EINVAL);
        }
        let mut syncobjs = Vec::new();
        for number in 0..u64::from(count) {
            let mut handle = [0; 4];
            process.read(address.checked_add(number * 4).ok_or(Errno::EFAULT)?, &mut handle)?;
            syncobjs.push(self.syncobj(u32::from_le_bytes(handle)).ok_or(Errno::ENOENT)?);
        }
        Ok(syncobjs)
    }

    pub(super) fn syncobj_wait(&self, arg: &mut SyncobjWait, process: &dyn Process) -> Answer {
        if arg.flags & !(WAIT_ALL | WAIT_FOR_SUBMIT) != 0 {
            return Err(Errno::EINVAL);
        }
        let syncobjs = self.syncobj_array(arg.handles, arg.count, process)?;
        let for_submit = arg.flags & WAIT_FOR_SUBMIT != 0;
        // Those that have a fence now are waited for with that fence, whatever is put in later.
        let mut fences: Vec<Option<Fence>> = syncobjs.iter().map(|syncobj| syncobj.fence()).collect();
        if !for_submit && fences.contains(&None) {
            return Err(Errno::EINVAL);
        }
        let now = i64::try_from(process.monotonic_ns()).unwrap_or(i64::MAX);
        let left = u64::try_from(arg.timeout_ns.saturating_sub(now)).unwrap_or(0);
        let mut first = None;
        let done = wait(&self.device, process, Some(Duration::from_nanos(left)), |finished| {
            for (fence, syncobj) in fences.iter_mut().zip(&syncobjs) {
                *fence = fence.or_else(|| syncobj.fence());
            }
            let mut signalled =
                fences.iter().map(|fence| fence.is_some_and(|fence| fence.signalled(finished)));
            if arg.flags & WAIT_ALL != 0 {
                return signalled.all(|signalled| signalled);
            }
            first = signalled.position(|signalled| signalled);
            first.is_some()
        });
        arg.first_signalled = first.unwrap_or(0) as u32;
        done
    }

    pub(super) fn syncobj_reset(&self, arg: &mut SyncobjArray, process: &dyn Process) -> Answer {
        self.replace_fences(arg, None, process)
    }

    pub(super) fn syncobj_signal(&self, arg: &mut SyncobjArray, process: &dyn Process) -> Answer {
        self.replace_fences(arg, Some(Fence::Signalled), process)
    }

    fn replace_fences(&self, arg: &SyncobjArray, fence: Option<Fence>, process: &dyn Process) -> Answer {
        if arg.pad != 0 {
            return Err(Errno::EINVAL);
        }
        for syncobj in self.syncobj_array(arg.handles, arg.count, process)? {
            self.device.set_fence(&syncobj, fence);
        }
        Ok(())
    }
}
