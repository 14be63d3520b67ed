//! Listing directories of ours: a stream of our own.

use std::ffi::CStr;

use libc::{DIR, c_char, c_int, dirent64};

use super::{bytes, hooks};
use crate::inside::Inside;
use crate::real::{self, fail};
use crate::streams::{self, Stream, ours};
use crate::tree::{self, Item};

hooks! {
    fn opendir(path: *const c_char) -> *mut DIR = opendir_hook;
    fn readdir64(dir: *mut DIR) -> *mut dirent64 = readdir_hook;
    fn closedir(dir: *mut DIR) -> c_int = closedir_hook;
    fn rewinddir(dir: *mut DIR) -> () = rewinddir_hook;
    fn dirfd(dir: *mut DIR) -> c_int = dirfd_hook;
}

#[cfg(target_pointer_width = "64")]
hooks! {
    fn readdir(dir: *mut DIR) -> *mut dirent64 = readdir_hook;
}

#[cfg(target_pointer_width = "32")]
hooks! {
    fn readdir(dir: *mut DIR) -> *mut libc::dirent = readdir_32_hook;
}

/// Entries that really are there, without those that ours replace.
///
/// # Safety
/// A string.
unsafe fn add_real_entries(path: *const c_char, entries: &mut Vec<(String, u8)>) {
    // SAFETY: the caller's; the stream is ours until it is closed, entries are read before the next call.
    unsafe {
        let dir = real::opendir(path);
        if dir.is_null() {
            return;
        }
        while let Some(entry) = real::readdir(dir).as_ref() {
            let name = CStr::from_ptr(entry.d_name.as_ptr()).to_string_lossy().into_owned();
            if entries.iter().all(|(ours, _)| *ours != name) {
                entries.push((name, entry.d_type));
            }
        }
        real::closedir(dir);
    }
}

unsafe fn opendir_hook(path: *const c_char) -> *mut DIR {
    // SAFETY: the caller's.
    let ours = unsafe { bytes(path) }.filter(|path| tree::may_be_ours(path));
    let found = ours.and_then(|path| {
        let inside = Inside::enter()?;
        Some((tree::find(path, true)?, inside))
    });
    // SAFETY: the caller's.
    let Some((item, _inside)) = found else { return unsafe { real::opendir(path) } };
    let Item::Dir(mut entries, merge) = item else {
        real::set_errno(if item == Item::Absent { libc::ENOENT } else { libc::ENOTDIR });
        return std::ptr::null_mut();
    };
    if merge && tree::shows_real() {
        // SAFETY: the caller's.
        unsafe { add_real_entries(path, &mut entries) };
    }
    for name in ["..", "."] {
        if entries.iter().all(|(entry, _)| entry != name) {
            entries.insert(0, (name.to_owned(), libc::DT_DIR));
        }
    }
    streams::open(entries)
}

unsafe fn readdir_hook(dir: *mut DIR) -> *mut dirent64 {
    // SAFETY: the caller's.
    ours(dir, Stream::read).unwrap_or_else(|| unsafe { real::readdir(dir) })
}

#[cfg(target_pointer_width = "32")]
unsafe fn readdir_32_hook(dir: *mut DIR) -> *mut libc::dirent {
    // SAFETY: the caller's.
    ours(dir, Stream::read).unwrap_or_else(|| unsafe { real::readdir_32(dir) })
}

unsafe fn rewinddir_hook(dir: *mut DIR) {
    // SAFETY: the caller's.
    ours(dir, Stream::rewind).unwrap_or_else(|| unsafe { real::rewinddir(dir) })
}

unsafe fn dirfd_hook(dir: *mut DIR) -> c_int {
    // SAFETY: the caller's.
    ours(dir, |stream| stream.fd().unwrap_or_else(|| fail(libc::EINVAL)))
        .unwrap_or_else(|| unsafe { real::dirfd(dir) })
}

unsafe fn closedir_hook(dir: *mut DIR) -> c_int {
    if streams::close(dir) {
        return 0;
    }
    // SAFETY: the caller's.
    unsafe { real::closedir(dir) }
}
