//! Calls on paths: access, chmod, readlink, realpath.

use libc::{c_char, c_int, mode_t, size_t, ssize_t};

use super::{bytes, hooks};
use crate::inside::Inside;
use crate::real::{self, fail};
use crate::tree::{self, Item};

hooks! {
    fn access, eaccess, euidaccess(path: *const c_char, mode: c_int) -> c_int = access_hook;
    fn faccessat(dir: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int = faccessat_hook;
    fn chmod(path: *const c_char, mode: mode_t) -> c_int = chmod_hook;
    fn fchmodat(dir: c_int, path: *const c_char, mode: mode_t, flags: c_int) -> c_int = fchmodat_hook;
    fn readlink(path: *const c_char, out: *mut c_char, size: size_t) -> ssize_t = readlink_hook;
    fn __readlink_chk(path: *const c_char, out: *mut c_char, size: size_t, _room: size_t) -> ssize_t =
        readlink_checked;
    fn readlinkat(dir: c_int, path: *const c_char, out: *mut c_char, size: size_t) -> ssize_t = readlinkat_hook;
    fn realpath(path: *const c_char, out: *mut c_char) -> *mut c_char = realpath_hook;
    fn __realpath_chk(path: *const c_char, out: *mut c_char, _room: size_t) -> *mut c_char = realpath_checked;
    fn canonicalize_file_name(path: *const c_char) -> *mut c_char = canonicalize;
}

/// # Safety
/// A string or null.
unsafe fn find(path: *const c_char, follow: bool) -> Option<Item> {
    // SAFETY: the caller's.
    let path = unsafe { bytes(path) }.filter(|path| tree::may_be_ours(path))?;
    let _inside = Inside::enter()?;
    tree::find(path, follow)
}

fn allowed(item: &Item, mode: c_int) -> c_int {
    let denied = match item {
        Item::Absent => return fail(libc::ENOENT),
        Item::Node(_) | Item::Heap => libc::X_OK,
        Item::Dir(..) | Item::Link(_) => libc::W_OK,
        Item::File(_) => libc::W_OK | libc::X_OK,
    };
    if mode & denied == 0 { 0 } else { fail(libc::EACCES) }
}

unsafe fn access_hook(path: *const c_char, mode: c_int) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        match find(path, true) {
            Some(item) => allowed(&item, mode),
            None => real::access(path, mode),
        }
    }
}

unsafe fn faccessat_hook(dir: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        match find(path, true) {
            Some(item) => allowed(&item, mode),
            None => real::faccessat(dir, path, mode, flags),
        }
    }
}

/// Who may set a node's permissions: the superuser, who loses and gains nothing by them, so they stay as they are.
fn set_permissions(item: &Item) -> c_int {
    // SAFETY: a plain call.
    match (item, unsafe { libc::geteuid() }) {
        (Item::Absent, _) => fail(libc::ENOENT),
        (_, 0) => 0,
        _ => fail(libc::EPERM),
    }
}

unsafe fn chmod_hook(path: *const c_char, mode: mode_t) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        match find(path, true) {
            Some(item) => set_permissions(&item),
            None => real::chmod(path, mode),
        }
    }
}

unsafe fn fchmodat_hook(dir: c_int, path: *const c_char, mode: mode_t, flags: c_int) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        match find(path, true) {
            Some(item) => set_permissions(&item),
            None => real::fchmodat(dir, path, mode, flags),
        }
    }
}

/// # Safety
/// `size` bytes at `out`.
unsafe fn give_link(item: &Item, out: *mut c_char, size: size_t) -> ssize_t {
    let target = match item {
        Item::Link(target) => target,
        Item::Absent => return fail(libc::ENOENT) as ssize_t,
        _ => return fail(libc::EINVAL) as ssize_t,
    };
    let length = target.len().min(size);
    // SAFETY: the caller's; a link's text is given without a zero.
    unsafe { std::ptr::copy_nonoverlapping(target.as_ptr(), out.cast(), length) };
    length as ssize_t
}

unsafe fn readlink_hook(path: *const c_char, out: *mut c_char, size: size_t) -> ssize_t {
    // SAFETY: the caller's.
    unsafe {
        match find(path, false) {
            Some(item) => give_link(&item, out, size),
            None => real::readlink(path, out, size),
        }
    }
}

unsafe fn readlink_checked(path: *const c_char, out: *mut c_char, size: size_t, room: size_t) -> ssize_t {
    // SAFETY: the caller's, of which no more than `room` is used.
    unsafe { readlink_hook(path, out, size.min(room)) }
}

unsafe fn readlinkat_hook(dir: c_int, path: *const c_char, out: *mut c_char, size: size_t) -> ssize_t {
    // SAFETY: the caller's.
    unsafe {
        match find(path, false) {
            Some(item) => give_link(&item, out, size),
            None => real::readlinkat(dir, path, out, size),
        }
    }
}

unsafe fn realpath_hook(path: *const c_char, out: *mut c_char) -> *mut c_char {
    // SAFETY: the caller's: `out` is null or has PATH_MAX bytes, more than any path of ours.
    unsafe {
        let canonical = bytes(path)
            .filter(|path| tree::may_be_ours(path))
            .and_then(|path| Inside::enter().and_then(|_inside| tree::canonical(path)));
        let Some(canonical) = canonical else { return real::realpath(path, out) };
        if canonical.is_empty() {
            real::set_errno(libc::ENOENT);
            return std::ptr::null_mut();
        }
        let out = if out.is_null() { libc::malloc(canonical.len() + 1).cast() } else { out };
        if !out.is_null() {
            std::ptr::copy_nonoverlapping(canonical.as_ptr(), out.cast(), canonical.len());
            out.add(canonical.len()).write(0);
        }
        out
    }
}

unsafe fn realpath_checked(path: *const c_char, out: *mut c_char, _: size_t) -> *mut c_char {
    // SAFETY: the caller's.
    unsafe { realpath_hook(path, out) }
}

unsafe fn canonicalize(path: *const c_char) -> *mut c_char {
    // SAFETY: the caller's.
    unsafe { realpath_hook(path, std::ptr::null_mut()) }
}
