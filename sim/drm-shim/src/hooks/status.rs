//! The stat family: nodes are character devices, the tree's directories, files and links are such.

use libc::{c_char, c_int, c_uint, mode_t, stat64 as Stat64};
use vc4_sim::drm::Node;

use super::{bytes, hooks};
use crate::heap;
use crate::inside::Inside;
use crate::real::{self, fail};
use crate::state::{self, Thing};
#[cfg(target_pointer_width = "32")]
use crate::time64::StatTime64;
use crate::tree::{self, Item};

hooks! {
    fn stat64(path: *const c_char, out: *mut Stat64) -> c_int = stat_hook;
    fn lstat64(path: *const c_char, out: *mut Stat64) -> c_int = lstat_hook;
    fn fstat64(fd: c_int, out: *mut Stat64) -> c_int = fstat_hook;
    fn fstatat64(dir: c_int, path: *const c_char, out: *mut Stat64, flags: c_int) -> c_int = fstatat_hook;
    fn __xstat64(_version: c_int, path: *const c_char, out: *mut Stat64) -> c_int = xstat_hook;
    fn __lxstat64(_version: c_int, path: *const c_char, out: *mut Stat64) -> c_int = lxstat_hook;
    fn __fxstat64(_version: c_int, fd: c_int, out: *mut Stat64) -> c_int = fxstat_hook;
    fn stat(path: *const c_char, out: *mut Plain) -> c_int = stat_hook;
    fn lstat(path: *const c_char, out: *mut Plain) -> c_int = lstat_hook;
    fn fstat(fd: c_int, out: *mut Plain) -> c_int = fstat_hook;
    fn fstatat(dir: c_int, path: *const c_char, out: *mut Plain, flags: c_int) -> c_int = fstatat_hook;
    fn __xstat(_version: c_int, path: *const c_char, out: *mut Plain) -> c_int = xstat_hook;
    fn __lxstat(_version: c_int, path: *const c_char, out: *mut Plain) -> c_int = lxstat_hook;
    fn __fxstat(_version: c_int, fd: c_int, out: *mut Plain) -> c_int = fxstat_hook;
    fn statx(dir: c_int, path: *const c_char, flags: c_int, mask: c_uint, out: *mut libc::statx) -> c_int =
        statx_hook;
}

#[cfg(target_pointer_width = "32")]
hooks! {
    fn __stat64_time64(path: *const c_char, out: *mut StatTime64) -> c_int = stat_hook;
    fn __lstat64_time64(path: *const c_char, out: *mut StatTime64) -> c_int = lstat_hook;
    fn __fstat64_time64(fd: c_int, out: *mut StatTime64) -> c_int = fstat_hook;
    fn __fstatat64_time64(dir: c_int, path: *const c_char, out: *mut StatTime64, flags: c_int) -> c_int =
        fstatat_hook;
}

/// What functions without a number in their names fill.
#[cfg(target_pointer_width = "64")]
type Plain = Stat64;
#[cfg(target_pointer_width = "32")]
type Plain = libc::stat;

/// A struct of the family, with the functions that fill it.
///
/// # Safety
/// Each does what the C library's does, and all bits zero is a value of the struct.
unsafe trait Stat: Sized {
    /// Of a path.
    unsafe fn path(path: *const c_char, out: *mut Self) -> c_int;
    /// Of a path that may be a link.
    unsafe fn link(path: *const c_char, out: *mut Self) -> c_int;
    /// Of a descriptor.
    unsafe fn descriptor(fd: c_int, out: *mut Self) -> c_int;
    /// Of a path below an open directory.
    unsafe fn below(dir: c_int, path: *const c_char, out: *mut Self, flags: c_int) -> c_int;
    /// Overlays what the kernel says of the thing behind it, or of nothing.
    fn overlay(&mut self, status: &Status);
}

macro_rules! structs {
    ($($ty:ty: $path:ident, $link:ident, $descriptor:ident, $below:ident;)*) => {$(
        // SAFETY: the functions are the C library's for this struct, which holds numbers.
        unsafe impl Stat for $ty {
            unsafe fn path(path: *const c_char, out: *mut Self) -> c_int {
                // SAFETY: the caller's.
                unsafe { real::$path(path, out) }
            }

            unsafe fn link(path: *const c_char, out: *mut Self) -> c_int {
                // SAFETY: the caller's.
                unsafe { real::$link(path, out) }
            }

            unsafe fn descriptor(fd: c_int, out: *mut Self) -> c_int {
                // SAFETY: the caller's.
                unsafe { real::$descriptor(fd, out) }
            }

            unsafe fn below(dir: c_int, path: *const c_char, out: *mut Self, flags: c_int) -> c_int {
                // SAFETY: the caller's.
                unsafe { real::$below(dir, path, out, flags) }
            }

            fn overlay(&mut self, status: &Status) {
                self.st_mode = status.mode;
                self.st_rdev = status.device;
                self.st_nlink = 1;
                self.st_size = status.size as _;
                self.st_blksize = 4096;
                if let Some(inode) = status.inode {
                    (self.st_dev, self.st_ino) = (DEVTMPFS as _, inode as _);
                }
            }
        }
    )*};
}
structs! { Stat64: stat, lstat, fstat, fstatat; }
#[cfg(target_pointer_width = "32")]
structs! {
    libc::stat: stat_32, lstat_32, fstat_32, fstatat_32;
    StatTime64: stat_time64, lstat_time64, fstat_time64, fstatat_time64;
}

/// What stat tells of something of ours.
struct Status {
    mode: mode_t,
    device: libc::dev_t,
    size: u64,
    /// Which file of [`DEVTMPFS`] it is: one by any path and descriptor, whoever opened it.
    inode: Option<u64>,
}

/// The file system of device nodes.
const DEVTMPFS: libc::dev_t = libc::makedev(0, 5);
/// Numbers of our nodes there begin here; those of others are smaller.
const FIRST_INODE: u64 = 1 << 20;

/// The device node of this number.
fn device_node(permissions: mode_t, device: libc::dev_t) -> Status {
    let inode = FIRST_INODE | u64::from(libc::major(device)) << 8 | u64::from(libc::minor(device));
    Status { mode: libc::S_IFCHR | permissions, device, size: 0, inode: Some(inode) }
}

impl Status {
    fn node(node: Node) -> Status {
        // As udev sets them up, but open to everybody: there is no hardware to protect.
        device_node(0o666, tree::device_number(node))
    }

    fn plain(mode: mode_t, size: usize) -> Status {
        Status { mode, device: 0, size: size as u64, inode: None }
    }

    /// `None` for what must not be found.
    fn item(item: &Item) -> Option<Status> {
        Some(match item {
            Item::Absent => return None,
            Item::Node(node) => Status::node(*node),
            Item::Heap => device_node(0o660, heap::device_number()),
            Item::Dir(..) => Status::plain(libc::S_IFDIR | 0o755, 0),
            Item::File(content) => Status::plain(libc::S_IFREG | 0o444, content.len()),
            Item::Link(target) => Status::plain(libc::S_IFLNK | 0o777, target.len()),
        })
    }

    /// Of a descriptor, where the real object behind it tells something else.
    fn thing(thing: Thing) -> Option<Status> {
        match thing {
            Thing::Node(_, node) => Some(Status::node(node)),
            Thing::Heap => Some(device_node(0o660, heap::device_number())),
            Thing::DmaBuf(..) | Thing::Sync(_) | Thing::Log => None,
        }
    }
}

/// What stat tells of a path that is our business, `None` inside for what must not be found.
///
/// # Safety
/// A string or null.
unsafe fn of_path(path: *const c_char, follow: bool) -> Option<Option<Status>> {
    // SAFETY: the caller's.
    let path = unsafe { bytes(path) }.filter(|path| tree::may_be_ours(path))?;
    let _inside = Inside::enter()?;
    tree::find(path, follow).map(|item| Status::item(&item))
}

fn of_descriptor(fd: c_int) -> Option<Status> {
    let _inside = Inside::enter()?;
    Status::thing(state::find(fd)?)
}

/// # Safety
/// Room for a result.
unsafe fn give<S: Stat>(status: Option<&Status>, out: *mut S) -> c_int {
    let Some(status) = status else { return fail(libc::ENOENT) };
    // SAFETY: the caller's; all bits zero is a value of the struct.
    unsafe {
        out.write_bytes(0, 1);
        (*out).overlay(status);
    }
    0
}

unsafe fn stat_hook<S: Stat>(path: *const c_char, out: *mut S) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        match of_path(path, true) {
            Some(status) => give(status.as_ref(), out),
            None => S::path(path, out),
        }
    }
}

unsafe fn lstat_hook<S: Stat>(path: *const c_char, out: *mut S) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        match of_path(path, false) {
            Some(status) => give(status.as_ref(), out),
            None => S::link(path, out),
        }
    }
}

unsafe fn fstat_hook<S: Stat>(fd: c_int, out: *mut S) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        let result = S::descriptor(fd, out);
        if result == 0 {
            if let Some(status) = of_descriptor(fd) {
                (*out).overlay(&status);
            }
        }
        result
    }
}

/// # Safety
/// A string or null.
unsafe fn names_descriptor(path: *const c_char, flags: c_int) -> bool {
    // SAFETY: the caller's.
    flags & libc::AT_EMPTY_PATH != 0 && unsafe { bytes(path) }.is_none_or(<[u8]>::is_empty)
}

unsafe fn fstatat_hook<S: Stat>(dir: c_int, path: *const c_char, out: *mut S, flags: c_int) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        if names_descriptor(path, flags) {
            return fstat_hook(dir, out);
        }
        match of_path(path, flags & libc::AT_SYMLINK_NOFOLLOW == 0) {
            Some(status) => give(status.as_ref(), out),
            None => S::below(dir, path, out, flags),
        }
    }
}

unsafe fn xstat_hook<S: Stat>(_: c_int, path: *const c_char, out: *mut S) -> c_int {
    // SAFETY: the caller's; programs of today's systems ask for one version of each struct.
    unsafe { stat_hook(path, out) }
}

unsafe fn lxstat_hook<S: Stat>(_: c_int, path: *const c_char, out: *mut S) -> c_int {
    // SAFETY: as above.
    unsafe { lstat_hook(path, out) }
}

unsafe fn fxstat_hook<S: Stat>(_: c_int, fd: c_int, out: *mut S) -> c_int {
    // SAFETY: as above.
    unsafe { fstat_hook(fd, out) }
}

unsafe fn statx_hook(
    dir: c_int,
    path: *const c_char,
    flags: c_int,
    mask: c_uint,
    out: *mut libc::statx,
) -> c_int {
    // SAFETY: the caller's; all bits zero is a value of the struct.
    unsafe {
        let ours = if names_descriptor(path, flags) {
            of_descriptor(dir).map(Some)
        } else {
            of_path(path, flags & libc::AT_SYMLINK_NOFOLLOW == 0)
        };
        let Some(status) = ours else { return real::statx(dir, path, flags, mask, out) };
        let Some(status) = status else { return fail(libc::ENOENT) };
        if !names_descriptor(path, flags) || real::statx(dir, path, flags, mask, out) != 0 {
            out.write_bytes(0, 1);
        }
        let out = &mut *out;
        out.stx_mask = libc::STATX_BASIC_STATS;
        out.stx_mode = status.mode as u16;
        out.stx_nlink = 1;
        out.stx_size = status.size;
        out.stx_blksize = 4096;
        out.stx_rdev_major = libc::major(status.device);
        out.stx_rdev_minor = libc::minor(status.device);
        if let Some(inode) = status.inode {
            out.stx_ino = inode;
            (out.stx_dev_major, out.stx_dev_minor) = (libc::major(DEVTMPFS), libc::minor(DEVTMPFS));
        }
        0
    }
}
