//! Sharing BOs by file descriptor (kernel-abi.md §13.4).

use nix::errno::Errno;

use crate::drm::file::File;
use crate::drm::node::Answer;
use crate::drm::object::DmaBuf;
use crate::drm::process::{Exported, Process};
use crate::drm::uapi::PrimeHandle;

/// `flags` of PRIME_HANDLE_TO_FD: O_CLOEXEC and O_RDWR.
const CLOSE_ON_EXEC: u32 = 0o2000000;
const READ_WRITE: u32 = 2;

impl File {
    pub(super) fn prime_handle_to_fd(&self, arg: &mut PrimeHandle, process: &dyn Process) -> Answer {
        if arg.flags & !(CLOSE_ON_EXEC | READ_WRITE) != 0 {
            return Err(Errno::EINVAL);
        }
        let object = self.object(arg.handle).ok_or(Errno::ENOENT)?;
        object.export()?;
        let close_on_exec = arg.flags & CLOSE_ON_EXEC != 0;
        arg.fd = process.install(Exported::DmaBuf(DmaBuf::new(object)), close_on_exec)?;
        Ok(())
    }

    pub(super) fn prime_fd_to_handle(&self, arg: &mut PrimeHandle, process: &dyn Process) -> Answer {
        let Exported::DmaBuf(buffer) = process.exported(arg.fd)? else {
            return Err(Errno::EINVAL);
        };
        arg.handle = self.hold(buffer.object())?;
        Ok(())
    }
}
