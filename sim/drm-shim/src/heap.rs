//! The heap of contiguous memory (`linux/dma-heap.h`): what it gives becomes a BO when a node imports it.

use std::os::fd::{OwnedFd, RawFd};

use libc::c_int;
use vc4_kernel_abi::dma_heap::{DMA_HEAP_IOCTL_ALLOC, DmaHeapAllocation};
use vc4_sim::drm::backing::bo_file;
use vc4_sim::drm::{Answer, Errno};

use crate::fd::hand_out;

/// The name of the file that stands for the heap.
const NAME: &std::ffi::CStr = c"vc4-dma-heap";
/// Heaps have a major number that the kernel chooses.
const MAJOR: u32 = 251;
/// Bytes of a page.
const PAGE: u64 = 4096;

/// Its device number.
pub fn device_number() -> libc::dev_t {
    libc::makedev(MAJOR, 0)
}

/// Opens it.
pub fn open(close_on_exec: bool) -> Result<RawFd, c_int> {
    let flags = if close_on_exec { libc::MFD_CLOEXEC } else { 0 };
    // SAFETY: the name ends with zero.
    let fd = unsafe { libc::memfd_create(NAME.as_ptr(), flags) };
    if fd < 0 { Err(Errno::last() as c_int) } else { Ok(fd) }
}

/// Whether a descriptor of an unlinked file is the heap's.
pub fn is_one(fd: RawFd) -> bool {
    let target = std::fs::read_link(format!("/proc/self/fd/{fd}"));
    target.is_ok_and(|target| target.as_os_str() == "/memfd:vc4-dma-heap (deleted)")
}

/// Answers an ioctl.
///
/// # Errors
/// The kernel's errno.
pub fn ioctl(request: u32, arg: u64) -> Answer {
    if request != DMA_HEAP_IOCTL_ALLOC {
        return Err(Errno::ENOTTY);
    }
    let allocation = arg as usize as *mut DmaHeapAllocation;
    if allocation.is_null() {
        return Err(Errno::EFAULT);
    }
    // SAFETY: the caller's, as for the kernel: the structure of the request.
    let asked = unsafe { allocation.read_unaligned() };
    let known = (libc::O_CLOEXEC | libc::O_ACCMODE) as u32;
    if asked.fd != 0 || asked.fd_flags & !known != 0 || asked.heap_flags != 0 || asked.len == 0 {
        return Err(Errno::EINVAL);
    }
    let bytes = asked.len.checked_next_multiple_of(PAGE).and_then(|bytes| u32::try_from(bytes).ok());
    let file: OwnedFd = bo_file(bytes.ok_or(Errno::ENOMEM)?)?;
    let fd = hand_out(file, asked.fd_flags & libc::O_CLOEXEC as u32 != 0);
    // SAFETY: as above.
    unsafe { (&raw mut (*allocation).fd).write_unaligned(fd as u32) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::fd::{AsRawFd, FromRawFd};

    use super::*;

    fn alloc(allocation: &mut DmaHeapAllocation) -> Answer {
        ioctl(DMA_HEAP_IOCTL_ALLOC, std::ptr::from_mut(allocation) as usize as u64)
    }

    #[test]
    fn it_gives_files_of_whole_pages() {
        let flags = (libc::O_RDWR | libc::O_CLOEXEC) as u32;
        let mut asked = DmaHeapAllocation { len: 5000, fd_flags: flags, ..Default::default() };
        alloc(&mut asked).unwrap();
        // SAFETY: it was given to us.
        let file = std::fs::File::from(unsafe { OwnedFd::from_raw_fd(asked.fd as RawFd) });
        assert_eq!(file.metadata().unwrap().len(), 8192);
        assert!(!is_one(file.as_raw_fd()));
        let heap = open(true).unwrap();
        assert!(is_one(heap));
        // SAFETY: as above.
        drop(unsafe { OwnedFd::from_raw_fd(heap) });
    }

    #[test]
    fn it_refuses_what_the_kernel_refuses() {
        let refused = |len, fd, fd_flags, heap_flags| {
            alloc(&mut DmaHeapAllocation { len, fd, fd_flags, heap_flags }).unwrap_err()
        };
        assert_eq!(refused(0, 0, 0, 0), Errno::EINVAL);
        assert_eq!(refused(1, 1, 0, 0), Errno::EINVAL);
        assert_eq!(refused(1, 0, libc::O_APPEND as u32, 0), Errno::EINVAL);
        assert_eq!(refused(1, 0, 0, 1), Errno::EINVAL);
        assert_eq!(refused(u64::MAX, 0, 0, 0), Errno::ENOMEM);
        assert_eq!(ioctl(0, 0), Err(Errno::ENOTTY));
        assert_eq!(ioctl(DMA_HEAP_IOCTL_ALLOC, 0), Err(Errno::EFAULT));
    }
}
