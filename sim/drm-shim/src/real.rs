//! The functions that the hooks stand in front of, found behind this library in the search order.

use std::ffi::CStr;
use std::process::abort;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use libc::{
    DIR, FILE, c_char, c_int, c_uint, c_ulong, c_void, dirent64, epoll_event, fd_set, mode_t, nfds_t,
    off64_t, pollfd, pthread_attr_t, pthread_t, sigset_t, size_t, ssize_t, stat64, timespec, timeval,
};

#[cfg(target_pointer_width = "32")]
use crate::time64::{StatTime64, TimespecTime64, TimevalTime64};

fn next(name: &CStr) -> *mut c_void {
    // SAFETY: the name ends with zero; RTLD_NEXT needs no library handle.
    let address = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if address.is_null() {
        // Without the real function the process cannot go on, and nothing can be printed reliably.
        abort();
    }
    address
}

/// Declares the real functions. Variadic ones take their optional argument always: on x86-64 and ARM it travels
/// in the register where the callee looks for it.
macro_rules! real {
    ($($symbol:literal fn $name:ident($($arg:ident: $ty:ty),*) -> $ret:ty;)*) => {$(
        #[doc = concat!("The real `", stringify!($name), "`.")]
        ///
        /// # Safety
        /// That of the C function.
        pub unsafe fn $name($($arg: $ty),*) -> $ret {
            static ADDRESS: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
            let mut address = ADDRESS.load(Relaxed);
            if address.is_null() {
                address = next($symbol);
                ADDRESS.store(address, Relaxed);
            }
            // SAFETY: the symbol is the C library's function of this name and signature; its arguments are those of
            // the caller, who vouches for them.
            unsafe {
                let function =
                    std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($ty),*) -> $ret>(address);
                function($($arg),*)
            }
        }
    )*};
}

real! {
    c"open64" fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int;
    c"openat64" fn openat(dir: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int;
    c"fopen64" fn fopen(path: *const c_char, mode: *const c_char) -> *mut FILE;
    c"close" fn close(fd: c_int) -> c_int;
    c"ioctl" fn ioctl(fd: c_int, request: c_ulong, arg: *mut c_void) -> c_int;
    c"mmap64" fn mmap(
        address: *mut c_void, length: size_t, protection: c_int, flags: c_int, fd: c_int, offset: off64_t
    ) -> *mut c_void;
    c"read" fn read(fd: c_int, out: *mut c_void, size: size_t) -> ssize_t;
    c"dup2" fn dup2(from: c_int, to: c_int) -> c_int;
    c"dup3" fn dup3(from: c_int, to: c_int, flags: c_int) -> c_int;
    c"close_range" fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int;
    c"lseek64" fn lseek(fd: c_int, offset: off64_t, whence: c_int) -> off64_t;
    c"stat64" fn stat(path: *const c_char, out: *mut stat64) -> c_int;
    c"lstat64" fn lstat(path: *const c_char, out: *mut stat64) -> c_int;
    c"fstat64" fn fstat(fd: c_int, out: *mut stat64) -> c_int;
    c"fstatat64" fn fstatat(dir: c_int, path: *const c_char, out: *mut stat64, flags: c_int) -> c_int;
    c"statx" fn statx(
        dir: c_int, path: *const c_char, flags: c_int, mask: c_uint, out: *mut libc::statx
    ) -> c_int;
    c"access" fn access(path: *const c_char, mode: c_int) -> c_int;
    c"faccessat" fn faccessat(dir: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int;
    c"chmod" fn chmod(path: *const c_char, mode: mode_t) -> c_int;
    c"fchmodat" fn fchmodat(dir: c_int, path: *const c_char, mode: mode_t, flags: c_int) -> c_int;
    c"readlink" fn readlink(path: *const c_char, out: *mut c_char, size: size_t) -> ssize_t;
    c"readlinkat" fn readlinkat(dir: c_int, path: *const c_char, out: *mut c_char, size: size_t) -> ssize_t;
    c"realpath" fn realpath(path: *const c_char, out: *mut c_char) -> *mut c_char;
    c"opendir" fn opendir(path: *const c_char) -> *mut DIR;
    c"readdir64" fn readdir(dir: *mut DIR) -> *mut dirent64;
    c"closedir" fn closedir(dir: *mut DIR) -> c_int;
    c"rewinddir" fn rewinddir(dir: *mut DIR) -> ();
    c"pthread_create" fn pthread_create(
        thread: *mut pthread_t, attributes: *const pthread_attr_t, start: *mut c_void, argument: *mut c_void
    ) -> c_int;
    c"dirfd" fn dirfd(dir: *mut DIR) -> c_int;
    c"poll" fn poll(set: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int;
    c"ppoll" fn ppoll(
        set: *mut pollfd, count: nfds_t, timeout: *const timespec, mask: *const sigset_t
    ) -> c_int;
    c"epoll_ctl" fn epoll_ctl(epoll: c_int, operation: c_int, fd: c_int, event: *mut epoll_event) -> c_int;
    c"select" fn select(
        count: c_int, read: *mut fd_set, write: *mut fd_set, other: *mut fd_set, timeout: *mut timeval
    ) -> c_int;
    c"pselect" fn pselect(
        count: c_int, read: *mut fd_set, write: *mut fd_set, other: *mut fd_set, timeout: *const timespec,
        mask: *const sigset_t
    ) -> c_int;
}

// What programs call where machines have 32 bits, besides.
#[cfg(target_pointer_width = "32")]
real! {
    c"__ioctl_time64" fn ioctl_time64(fd: c_int, request: c_ulong, arg: *mut c_void) -> c_int;
    c"readdir" fn readdir_32(dir: *mut DIR) -> *mut libc::dirent;
    c"stat" fn stat_32(path: *const c_char, out: *mut libc::stat) -> c_int;
    c"lstat" fn lstat_32(path: *const c_char, out: *mut libc::stat) -> c_int;
    c"fstat" fn fstat_32(fd: c_int, out: *mut libc::stat) -> c_int;
    c"fstatat" fn fstatat_32(dir: c_int, path: *const c_char, out: *mut libc::stat, flags: c_int) -> c_int;
    c"__ppoll64" fn ppoll_time64(
        set: *mut pollfd, count: nfds_t, timeout: *const TimespecTime64, mask: *const sigset_t
    ) -> c_int;
    c"__select64" fn select_time64(
        count: c_int, read: *mut fd_set, write: *mut fd_set, other: *mut fd_set, timeout: *mut TimevalTime64
    ) -> c_int;
    c"__pselect64" fn pselect_time64(
        count: c_int, read: *mut fd_set, write: *mut fd_set, other: *mut fd_set,
        timeout: *const TimespecTime64, mask: *const sigset_t
    ) -> c_int;
    c"__stat64_time64" fn stat_time64(path: *const c_char, out: *mut StatTime64) -> c_int;
    c"__lstat64_time64" fn lstat_time64(path: *const c_char, out: *mut StatTime64) -> c_int;
    c"__fstat64_time64" fn fstat_time64(fd: c_int, out: *mut StatTime64) -> c_int;
    c"__fstatat64_time64" fn fstatat_time64(
        dir: c_int, path: *const c_char, out: *mut StatTime64, flags: c_int
    ) -> c_int;
}

/// Sets errno.
pub fn set_errno(errno: c_int) {
    // SAFETY: the C library's errno of this thread, always there.
    unsafe { *libc::__errno_location() = errno }
}

/// -1 with this errno.
pub fn fail(errno: c_int) -> c_int {
    set_errno(errno);
    -1
}
