//! Opening: nodes become descriptors of ours, files of the tree become memfds with their content.

use std::os::fd::RawFd;

use libc::{FILE, c_char, c_int, mode_t};

use super::{bytes, hooks};
use crate::inside::Inside;
use crate::real::{self, fail};
use crate::tree::{self, Item};
use crate::{heap, state};

hooks! {
    fn open, open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int = open_hook;
    fn __open_2, __open64_2(path: *const c_char, flags: c_int) -> c_int = open_without_mode;
    fn openat, openat64(dir: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int = openat_hook;
    fn __openat_2, __openat64_2(dir: c_int, path: *const c_char, flags: c_int) -> c_int = openat_without_mode;
    fn fopen, fopen64(path: *const c_char, mode: *const c_char) -> *mut FILE = fopen_hook;
}

/// A descriptor for a path of ours, or `None` when it is not.
///
/// # Safety
/// A string or null.
unsafe fn open_ours(path: *const c_char, flags: c_int) -> Option<Result<RawFd, c_int>> {
    // SAFETY: the caller's.
    let path = unsafe { bytes(path) }.filter(|path| tree::may_be_ours(path))?;
    let _inside = Inside::enter()?;
    if tree::is_kernel_log(path) && flags & libc::O_ACCMODE == libc::O_RDONLY {
        return state::open_log(flags).map(|opened| opened.map_err(|errno| errno as c_int));
    }
    let close_on_exec = flags & libc::O_CLOEXEC != 0;
    match tree::find(path, true)? {
        Item::Node(_) if flags & libc::O_DIRECTORY != 0 => Some(Err(libc::ENOTDIR)),
        Item::Node(node) => Some(state::open(node, flags).map_err(|errno| errno as c_int)),
        Item::File(_) if flags & libc::O_ACCMODE != libc::O_RDONLY => Some(Err(libc::EACCES)),
        Item::File(content) => Some(content_file(content.as_bytes(), close_on_exec)),
        Item::Heap => Some(heap::open(close_on_exec)),
        Item::Absent => Some(Err(libc::ENOENT)),
        Item::Dir(..) | Item::Link(_) => None,
    }
}

/// A descriptor that reads `content`.
fn content_file(content: &[u8], close_on_exec: bool) -> Result<RawFd, c_int> {
    let errno = || std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
    let flags = if close_on_exec { libc::MFD_CLOEXEC } else { 0 };
    // SAFETY: the name ends with zero; the write is from a slice to a descriptor that only we know.
    unsafe {
        let fd = libc::memfd_create(c"vc4-sysfs".as_ptr(), flags);
        if fd < 0 {
            return Err(errno());
        }
        let written = libc::pwrite64(fd, content.as_ptr().cast(), content.len(), 0);
        if usize::try_from(written) != Ok(content.len()) {
            let errno = errno();
            real::close(fd);
            return Err(errno);
        }
        Ok(fd)
    }
}

unsafe fn open_hook(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        match open_ours(path, flags) {
            Some(result) => result.unwrap_or_else(fail),
            None => real::open(path, flags, mode),
        }
    }
}

unsafe fn open_without_mode(path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: the caller's; no mode is needed.
    unsafe { open_hook(path, flags, 0) }
}

unsafe fn openat_hook(dir: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the caller's. Paths of ours are absolute, so `dir` does not matter to them.
    unsafe {
        match open_ours(path, flags) {
            Some(result) => result.unwrap_or_else(fail),
            None => real::openat(dir, path, flags, mode),
        }
    }
}

unsafe fn openat_without_mode(dir: c_int, path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: the caller's; no mode is needed.
    unsafe { openat_hook(dir, path, flags, 0) }
}

unsafe fn fopen_hook(path: *const c_char, mode: *const c_char) -> *mut FILE {
    // SAFETY: the caller's; `mode` is a string.
    unsafe {
        let writes = bytes(mode).is_some_and(|mode| mode.iter().any(|c| b"wa+".contains(c)));
        let keep = bytes(mode).is_some_and(|mode| mode.contains(&b'e'));
        let access = if writes { libc::O_RDWR } else { libc::O_RDONLY };
        match open_ours(path, access | if keep { libc::O_CLOEXEC } else { 0 }) {
            None => real::fopen(path, mode),
            Some(Err(errno)) => {
                real::set_errno(errno);
                std::ptr::null_mut()
            }
            Some(Ok(fd)) => libc::fdopen(fd, mode),
        }
    }
}
