//! Bus memory in a memfd.

use std::os::fd::RawFd;
use std::sync::atomic::AtomicU32;

use libc::c_int;
use vc4_sim::memory::Discard;

use crate::real;

/// Descriptors of ours begin here if they can, out of the way of programs that expect small numbers.
const FIRST_FD: c_int = 512;

/// Bus memory: its words in this process, and the file that others map parts of.
pub struct Storage {
    pub words: &'static [AtomicU32],
    pub fd: RawFd,
}

/// Moves a descriptor of ours to a high number.
pub fn out_of_the_way(fd: RawFd) -> RawFd {
    // SAFETY: plain descriptor calls on a descriptor that only we know.
    unsafe {
        let high = libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, FIRST_FD);
        if high < 0 {
            return fd;
        }
        real::close(fd);
        high
    }
}

impl Storage {
    /// Zeroed memory; pages cost something once they are touched. The mapping stays for the process's life: jobs may
    /// run until its end.
    pub fn new(bytes: u32) -> Result<Storage, c_int> {
        let errno = || std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::ENOMEM);
        // SAFETY: the name ends with zero.
        let fd = unsafe { libc::memfd_create(c"vc4-bus-memory".as_ptr(), libc::MFD_CLOEXEC) };
        if fd < 0 {
            return Err(errno());
        }
        let fd = out_of_the_way(fd);
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_NORESERVE);
        // SAFETY: a new file of ours, mapped where there is room.
        let address = unsafe {
            match libc::ftruncate64(fd, i64::from(bytes)) {
                0 => real::mmap(std::ptr::null_mut(), bytes as usize, protection, flags, fd, 0),
                _ => libc::MAP_FAILED,
            }
        };
        if address == libc::MAP_FAILED {
            let error = errno();
            // SAFETY: as above; nobody has seen the descriptor.
            unsafe { real::close(fd) };
            return Err(error);
        }
        // SAFETY: the mapping is that long, page aligned, readable and writable, never unmapped, and the file is
        // never shortened. Others change it at any time, hence atomics.
        let words = unsafe { std::slice::from_raw_parts(address.cast::<AtomicU32>(), bytes as usize / 4) };
        Ok(Storage { words, fd })
    }

    /// Drops pages, which read as zero afterwards.
    pub fn discard(&self) -> Discard {
        let fd = self.fd;
        Box::new(move |address, bytes| {
            let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
            // SAFETY: a plain call on our own file, which stays open.
            unsafe { libc::fallocate64(fd, mode, address.into(), bytes.into()) == 0 }
        })
    }
}
