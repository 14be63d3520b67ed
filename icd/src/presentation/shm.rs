//! Memory that an X server or a Wayland compositor can share.

use std::ffi::c_void;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;

/// Zeroed memory with a descriptor, so that it vanishes with its users, unlike System V segments.
pub(super) struct SharedMemory {
    fd: OwnedFd,
    ptr: NonNull<u8>,
    len: usize,
}

// SAFETY: plain memory of this process that only the owner hands out.
unsafe impl Send for SharedMemory {}

impl SharedMemory {
    /// `len` bytes, at least one.
    pub fn new(len: usize) -> std::io::Result<SharedMemory> {
        // SAFETY: the name is terminated.
        let fd = unsafe { libc::memfd_create(c"vc4-present".as_ptr(), libc::MFD_CLOEXEC) };
        if fd < 0 {
            return Err(std::io::Error::last_os_error());
        }
        // SAFETY: the descriptor is fresh and nobody else's.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        std::fs::File::from(fd.try_clone()?).set_len(len as u64)?;
        let ptr = map(fd.as_fd(), len)?;
        Ok(SharedMemory { fd, ptr, len })
    }

    /// The descriptor, to be sent to the server.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// The bytes. The server only reads them, between a put and the answer that the presenter waits for.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: mapped with this length until drop, and attached read-only by the server.
        unsafe { std::slice::from_raw_parts_mut(self.ptr.as_ptr(), self.len) }
    }
}

fn map(fd: BorrowedFd<'_>, len: usize) -> std::io::Result<NonNull<u8>> {
    use std::os::fd::AsRawFd;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping of a file of that length.
    let ptr =
        unsafe { libc::mmap(std::ptr::null_mut(), len, protection, libc::MAP_SHARED, fd.as_raw_fd(), 0) };
    match NonNull::new(ptr.cast::<u8>()) {
        Some(mapped) if ptr != libc::MAP_FAILED => Ok(mapped),
        _ => Err(std::io::Error::last_os_error()),
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: mapped in `new` with this length; no borrow of the bytes outlives the owner.
        unsafe { libc::munmap(self.ptr.as_ptr().cast::<c_void>(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_mapping_sees_the_bytes() {
        let mut memory = SharedMemory::new(5000).unwrap();
        memory.bytes()[4999] = 7;
        let mut other = SharedMemory {
            ptr: map(memory.fd(), 5000).unwrap(),
            fd: memory.fd.try_clone().unwrap(),
            len: 5000,
        };
        assert_eq!((other.bytes()[0], other.bytes()[4999]), (0, 7));
    }

    #[test]
    fn impossible_sizes_are_errors() {
        assert!(SharedMemory::new(0).is_err());
        assert!(SharedMemory::new(usize::MAX & !0xfff).is_err());
    }
}
