//! Memory mapped into this process: the BOs of a device file, or anonymous pages for devices without one.

use crate::gpu::Mapping;
use nix::errno::Errno;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;

/// Mapped pages, unmapped when dropped. Its owner keeps it as long as there may be copies of its [`Mapping`]: a device until
/// `close_bo`.
#[derive(Debug)]
pub struct MappedMemory {
    ptr: NonNull<u8>,
    len: usize,
}

// SAFETY: an address range; all access goes through `Mapping`, which may be used from any thread.
unsafe impl Send for MappedMemory {}
// SAFETY: as above; nothing in it changes.
unsafe impl Sync for MappedMemory {}

impl MappedMemory {
    /// `len` bytes of a device file from `offset` on, as an ioctl named it.
    pub(crate) fn of_device(fd: BorrowedFd<'_>, offset: u64, len: usize) -> nix::Result<MappedMemory> {
        Self::map(libc::MAP_SHARED, fd.as_raw_fd(), offset, len)
    }

    /// Zeroed pages of this process.
    pub fn anonymous(len: usize) -> nix::Result<MappedMemory> {
        Self::map(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0, len)
    }

    fn map(flags: libc::c_int, fd: libc::c_int, offset: u64, len: usize) -> nix::Result<MappedMemory> {
        let offset = libc::off64_t::try_from(offset).map_err(|_| Errno::EOVERFLOW)?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: without an address and MAP_FIXED no existing mapping is touched; the kernel checks the rest.
        // mmap64, since device offsets exceed 32 bits on 32-bit systems too.
        let address = unsafe { libc::mmap64(std::ptr::null_mut(), len, protection, flags, fd, offset) };
        if address == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        NonNull::new(address.cast()).map(|ptr| MappedMemory { ptr, len }).ok_or(Errno::EINVAL)
    }

    /// Access to the pages, good until this is dropped.
    pub fn mapping(&self) -> Mapping {
        // SAFETY: the pages are mapped for reading and writing until `self` goes, which its owner lets happen only where
        // nobody uses the mapping any more, as the type says.
        unsafe { Mapping::new(self.ptr, self.len) }
    }
}

impl Drop for MappedMemory {
    fn drop(&mut self) {
        // SAFETY: exactly the range that `map` got; nobody uses it after `close_bo`.
        if unsafe { libc::munmap(self.ptr.as_ptr().cast(), self.len) } != 0 {
            log::error!(target: "vc4::drm", "munmap of {} bytes: {}", self.len, Errno::last());
        }
    }
}
