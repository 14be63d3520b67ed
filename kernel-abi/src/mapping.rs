//! Memory mapped into this process: the BOs of a device file, or anonymous pages for devices without one.

use crate::gpu::Mapping;
use nix::errno::Errno;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
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

    /// The same pages as a file of memory, with what is in them: others can map it, too. Mappings stay where they are.
    pub(crate) fn become_file(&self) -> nix::Result<File> {
        // SAFETY: the name is a string; the flag makes a descriptor of this process only.
        let fd = unsafe { libc::memfd_create(c"bo".as_ptr(), libc::MFD_CLOEXEC) };
        if fd < 0 {
            return Err(Errno::last());
        }
        // SAFETY: nobody else has the new descriptor.
        let mut file = File::from(unsafe { OwnedFd::from_raw_fd(fd) });
        let failed = |error: std::io::Error| error.raw_os_error().map_or(Errno::EIO, Errno::from_raw);
        let mut content = vec![0; self.len];
        self.mapping().read(0, &mut content);
        file.write_all(&content).map_err(failed)?;
        let (flags, protection) = (libc::MAP_SHARED | libc::MAP_FIXED, libc::PROT_READ | libc::PROT_WRITE);
        // SAFETY: the pages that are replaced are exactly those of `self`, with the same content behind them; access goes
        // through raw copies. 0 is an offset in every file.
        let address = unsafe { libc::mmap64(self.ptr.as_ptr().cast(), self.len, protection, flags, fd, 0) };
        if address == libc::MAP_FAILED { Err(Errno::last()) } else { Ok(file) }
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
