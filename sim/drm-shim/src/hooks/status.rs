//! The stat family: nodes are character devices, the tree's directories, files and links are such.

use libc::{c_char, c_int, c_uint, mode_t, stat64 as Stat};
use vc4_sim::drm::Node;

use super::{bytes, hooks};
use crate::inside::Inside;
use crate::real::{self, fail};
use crate::state::{self, Thing};
use crate::tree::{self, Item};

hooks! {
    fn stat, stat64(path: *const c_char, out: *mut Stat) -> c_int = stat_hook;
    fn lstat, lstat64(path: *const c_char, out: *mut Stat) -> c_int = lstat_hook;
    fn fstat, fstat64(fd: c_int, out: *mut Stat) -> c_int = fstat_hook;
    fn fstatat, fstatat64(dir: c_int, path: *const c_char, out: *mut Stat, flags: c_int) -> c_int = fstatat_hook;
    fn __xstat, __xstat64(_version: c_int, path: *const c_char, out: *mut Stat) -> c_int = xstat_hook;
    fn __lxstat, __lxstat64(_version: c_int, path: *const c_char, out: *mut Stat) -> c_int = lxstat_hook;
    fn __fxstat, __fxstat64(_version: c_int, fd: c_int, out: *mut Stat) -> c_int = fxstat_hook;
    fn statx(dir: c_int, path: *const c_char, flags: c_int, mask: c_uint, out: *mut libc::statx) -> c_int =
        statx_hook;
}

/// What stat tells of something of ours.
struct Status {
    mode: mode_t,
    device: libc::dev_t,
    size: u64,
}

impl Status {
    fn node(node: Node) -> Status {
        // As udev sets them up, but open to everybody: there is no hardware to protect.
        Status { mode: libc::S_IFCHR | 0o666, device: tree::device_number(node), size: 0 }
    }

    /// `None` for what must not be found.
    fn item(item: &Item) -> Option<Status> {
        Some(match item {
            Item::Absent => return None,
            Item::Node(node) => Status::node(*node),
            Item::Dir(..) => Status { mode: libc::S_IFDIR | 0o755, device: 0, size: 0 },
            Item::File(content) => {
                Status { mode: libc::S_IFREG | 0o444, device: 0, size: content.len() as u64 }
            }
            Item::Link(target) => {
                Status { mode: libc::S_IFLNK | 0o777, device: 0, size: target.len() as u64 }
            }
        })
    }

    /// Of a descriptor, where the real object behind it tells something else.
    fn thing(thing: Thing) -> Option<Status> {
        match thing {
            Thing::Node(_, node) => Some(Status::node(node)),
            Thing::DmaBuf(_) | Thing::Sync(_) => None,
        }
    }

    /// Overlays what the kernel says of the thing behind it, or of nothing.
    fn write(&self, out: &mut Stat) {
        out.st_mode = self.mode;
        out.st_rdev = self.device;
        out.st_nlink = 1;
        out.st_size = self.size as libc::off64_t;
        out.st_blksize = 4096;
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
unsafe fn give(status: Option<&Status>, out: *mut Stat) -> c_int {
    let Some(status) = status else { return fail(libc::ENOENT) };
    // SAFETY: the caller's; all bits zero is a value of the struct.
    unsafe {
        out.write_bytes(0, 1);
        status.write(&mut *out);
    }
    0
}

unsafe fn stat_hook(path: *const c_char, out: *mut Stat) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        match of_path(path, true) {
            Some(status) => give(status.as_ref(), out),
            None => real::stat(path, out),
        }
    }
}

unsafe fn lstat_hook(path: *const c_char, out: *mut Stat) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        match of_path(path, false) {
            Some(status) => give(status.as_ref(), out),
            None => real::lstat(path, out),
        }
    }
}

unsafe fn fstat_hook(fd: c_int, out: *mut Stat) -> c_int {
    // SAFETY: the caller's. Inode and device stay those of the real object: they tell two apart.
    unsafe {
        let result = real::fstat(fd, out);
        if result == 0 {
            if let Some(status) = of_descriptor(fd) {
                status.write(&mut *out);
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

unsafe fn fstatat_hook(dir: c_int, path: *const c_char, out: *mut Stat, flags: c_int) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        if names_descriptor(path, flags) {
            return fstat_hook(dir, out);
        }
        match of_path(path, flags & libc::AT_SYMLINK_NOFOLLOW == 0) {
            Some(status) => give(status.as_ref(), out),
            None => real::fstatat(dir, path, out, flags),
        }
    }
}

unsafe fn xstat_hook(_: c_int, path: *const c_char, out: *mut Stat) -> c_int {
    // SAFETY: the caller's; 64-bit systems have one version of the struct.
    unsafe { stat_hook(path, out) }
}

unsafe fn lxstat_hook(_: c_int, path: *const c_char, out: *mut Stat) -> c_int {
    // SAFETY: as above.
    unsafe { lstat_hook(path, out) }
}

unsafe fn fxstat_hook(_: c_int, fd: c_int, out: *mut Stat) -> c_int {
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
        0
    }
}
