//! Listing directories of ours: a stream of our own, told from the C library's by its address.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use libc::{DIR, c_char, c_int, dirent64};

use super::{bytes, hooks};
use crate::real::{self, fail};
use crate::state::Inside;
use crate::tree::{self, Item};

hooks! {
    fn opendir(path: *const c_char) -> *mut DIR = opendir_hook;
    fn readdir, readdir64(dir: *mut DIR) -> *mut dirent64 = readdir_hook;
    fn closedir(dir: *mut DIR) -> c_int = closedir_hook;
    fn rewinddir(dir: *mut DIR) -> () = rewinddir_hook;
    fn dirfd(dir: *mut DIR) -> c_int = dirfd_hook;
}

/// An open directory of ours. Its address is the caller's `DIR *`.
pub struct Stream {
    entries: Vec<(String, u8)>,
    next: usize,
    current: dirent64,
}

/// Open streams by address.
static STREAMS: Mutex<BTreeMap<usize, Box<Stream>>> = Mutex::new(BTreeMap::new());
static OPEN: AtomicUsize = AtomicUsize::new(0);

fn streams() -> MutexGuard<'static, BTreeMap<usize, Box<Stream>>> {
    STREAMS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The open streams, held across a fork.
pub type StreamsGuard = MutexGuard<'static, BTreeMap<usize, Box<Stream>>>;

/// Waits for the open streams.
pub fn streams_guard() -> StreamsGuard {
    streams()
}

/// Calls `with` on a stream of ours.
fn ours<T>(dir: *mut DIR, with: impl FnOnce(&mut Stream) -> T) -> Option<T> {
    if OPEN.load(Relaxed) == 0 {
        return None;
    }
    let _inside = Inside::enter()?;
    streams().get_mut(&(dir as usize)).map(|stream| with(stream))
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
    let found = ours.and_then(|path| Some((tree::find(path, true)?, Inside::enter()?)));
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
    // SAFETY: all bits zero is a value of the struct.
    let current = unsafe { std::mem::zeroed() };
    let stream = Box::new(Stream { entries, next: 0, current });
    let address = &raw const *stream as usize;
    let mut streams = streams();
    streams.insert(address, stream);
    OPEN.store(streams.len(), Relaxed);
    address as *mut DIR
}

impl Stream {
    fn read(&mut self) -> *mut dirent64 {
        let Some((name, kind)) = self.entries.get(self.next) else { return std::ptr::null_mut() };
        self.next += 1;
        self.current.d_ino = self.next as libc::ino64_t;
        self.current.d_off = self.next as libc::off64_t;
        self.current.d_reclen = size_of::<dirent64>() as u16;
        self.current.d_type = *kind;
        let room = self.current.d_name.len() - 1;
        self.current.d_name.fill(0);
        for (to, from) in self.current.d_name[..room].iter_mut().zip(name.bytes()) {
            *to = from as c_char;
        }
        &raw mut self.current
    }
}

unsafe fn readdir_hook(dir: *mut DIR) -> *mut dirent64 {
    // SAFETY: the caller's.
    ours(dir, Stream::read).unwrap_or_else(|| unsafe { real::readdir(dir) })
}

unsafe fn rewinddir_hook(dir: *mut DIR) {
    // SAFETY: the caller's.
    ours(dir, |stream| stream.next = 0).unwrap_or_else(|| unsafe { real::rewinddir(dir) })
}

unsafe fn dirfd_hook(dir: *mut DIR) -> c_int {
    // SAFETY: the caller's. A stream of ours has no descriptor.
    ours(dir, |_| fail(libc::EINVAL)).unwrap_or_else(|| unsafe { real::dirfd(dir) })
}

unsafe fn closedir_hook(dir: *mut DIR) -> c_int {
    let closed = Inside::enter().filter(|_| OPEN.load(Relaxed) > 0).and_then(|_inside| {
        let mut streams = streams();
        let closed = streams.remove(&(dir as usize));
        OPEN.store(streams.len(), Relaxed);
        closed
    });
    match closed {
        Some(_) => 0,
        // SAFETY: the caller's.
        None => unsafe { real::closedir(dir) },
    }
}
