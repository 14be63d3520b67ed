//! Directory streams of ours, told from the C library's by their address.

use std::collections::BTreeMap;
use std::mem::offset_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};

use libc::{DIR, c_char, dirent, dirent64};

use crate::inside::{Inside, lock};
use crate::real;

/// An open directory of ours. Its address is the caller's `DIR *`.
pub struct Stream {
    entries: Vec<(String, u8)>,
    next: usize,
    current: Current,
    /// What the stream is to calls on descriptors: some directory. Where there is none, nothing.
    fd: Option<OwnedFd>,
}

/// The entry that was read last, in the form of who reads.
#[repr(C)]
pub union Current {
    wide: dirent64,
    narrow: dirent,
}

/// A form of entries.
pub trait Entry: Copy {
    /// This form of the current one.
    fn of(current: &mut Current) -> *mut Self;

    /// Says what the entry with this number is.
    fn fill(&mut self, number: usize, name: &str, kind: u8);
}

macro_rules! entries {
    ($($ty:ident $field:ident)*) => {$(
        impl Entry for $ty {
            fn of(current: &mut Current) -> *mut $ty {
                const { assert!(offset_of!(Current, $field) == 0) };
                std::ptr::from_mut(current).cast()
            }

            fn fill(&mut self, number: usize, name: &str, kind: u8) {
                self.d_ino = number as _;
                self.d_off = number as _;
                self.d_reclen = size_of::<$ty>() as u16;
                self.d_type = kind;
                let room = self.d_name.len() - 1;
                self.d_name.fill(0);
                for (to, from) in self.d_name[..room].iter_mut().zip(name.bytes()) {
                    *to = from as c_char;
                }
            }
        }
    )*};
}
entries! { dirent64 wide dirent narrow }

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
    let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
    // SAFETY: a string; the descriptor is ours.
    let fd = unsafe {
        let fd = real::open(c"/".as_ptr(), flags, 0);
        (fd >= 0).then(|| OwnedFd::from_raw_fd(fd))
    };
    let stream = Box::new(Stream { entries, next: 0, current, fd });
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

    /// Its descriptor, which programs ask whether it is open; names are not found below it.
    pub fn fd(&self) -> Option<RawFd> {
        self.fd.as_ref().map(AsRawFd::as_raw_fd)
    }

    /// The next entry.
    pub fn read<E: Entry>(&mut self) -> *mut E {
        let Some((name, kind)) = self.entries.get(self.next) else { return std::ptr::null_mut() };
        self.next += 1;
        let entry = E::of(&mut self.current);
        // SAFETY: it lies in this stream, which nobody else looks at; all bits are values of its fields.
        unsafe { (*entry).fill(self.next, name, *kind) };
        entry
    }
}
