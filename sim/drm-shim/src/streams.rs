//! Directory streams of ours, told from the C library's by their address.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};

use libc::{DIR, c_char, dirent64};

use crate::inside::{Inside, lock};

/// An open directory of ours. Its address is the caller's `DIR *`.
pub struct Stream {
    entries: Vec<(String, u8)>,
    next: usize,
    current: dirent64,
}

/// Open streams by address.
static STREAMS: Mutex<BTreeMap<usize, Box<Stream>>> = Mutex::new(BTreeMap::new());
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// The open streams, held across a fork.
pub type Guard = MutexGuard<'static, BTreeMap<usize, Box<Stream>>>;

/// Waits for the open streams.
pub fn guard() -> Guard {
    lock(&STREAMS)
}

/// Opens a stream of these entries.
pub fn open(entries: Vec<(String, u8)>) -> *mut DIR {
    // SAFETY: all bits zero is a value of the struct.
    let current = unsafe { std::mem::zeroed() };
    let stream = Box::new(Stream { entries, next: 0, current });
    let address = &raw const *stream as usize;
    let mut streams = guard();
    streams.insert(address, stream);
    OPEN.store(streams.len(), Relaxed);
    address as *mut DIR
}

/// Closes a stream of ours; whether it was one.
pub fn close(dir: *mut DIR) -> bool {
    let closed = Inside::enter().filter(|_| OPEN.load(Relaxed) > 0).and_then(|_inside| {
        let mut streams = guard();
        let closed = streams.remove(&(dir as usize));
        OPEN.store(streams.len(), Relaxed);
        closed
    });
    closed.is_some()
}

/// Calls `with` on a stream of ours.
pub fn ours<T>(dir: *mut DIR, with: impl FnOnce(&mut Stream) -> T) -> Option<T> {
    if OPEN.load(Relaxed) == 0 {
        return None;
    }
    let _inside = Inside::enter()?;
    guard().get_mut(&(dir as usize)).map(|stream| with(stream))
}

impl Stream {
    /// Begins again.
    pub fn rewind(&mut self) {
        self.next = 0;
    }

    /// The next entry.
    pub fn read(&mut self) -> *mut dirent64 {
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
