//! The program's descriptors.

use std::os::fd::{BorrowedFd, IntoRawFd, OwnedFd, RawFd};

use libc::c_int;

use crate::real;

/// What a real fstat says.
pub fn real_fstat(fd: RawFd) -> Option<libc::stat64> {
    let mut out = std::mem::MaybeUninit::<libc::stat64>::zeroed();
    // SAFETY: `out` has room for the result; all bits zero is a value of the struct.
    unsafe { (real::fstat(fd, out.as_mut_ptr()) == 0).then(|| out.assume_init()) }
}

/// A descriptor of the caller's.
pub fn borrow(fd: RawFd) -> Option<BorrowedFd<'static>> {
    // SAFETY: open now; if another thread closes it meanwhile, calls on it fail or meet its successor, as they
    // would in the kernel.
    (fd >= 0 && real_fstat(fd).is_some()).then(|| unsafe { BorrowedFd::borrow_raw(fd) })
}

/// Whether a socket may be ours: all of ours are of this type.
pub fn is_packet_socket(fd: RawFd) -> bool {
    let option = |name| {
        let mut value: c_int = 0;
        let mut length = size_of::<c_int>() as libc::socklen_t;
        // SAFETY: room for the value and its length.
        let result =
            unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, name, (&raw mut value).cast(), &mut length) };
        (result == 0).then_some(value)
    };
    option(libc::SO_DOMAIN) == Some(libc::AF_UNIX) && option(libc::SO_TYPE) == Some(libc::SOCK_SEQPACKET)
}

/// Gives a new descriptor the wanted behaviour on exec.
pub fn hand_out(fd: OwnedFd, close_on_exec: bool) -> RawFd {
    let fd = fd.into_raw_fd();
    if !close_on_exec {
        // SAFETY: a plain call on a descriptor that we just made.
        unsafe { libc::fcntl(fd, libc::F_SETFD, 0) };
    }
    fd
}
