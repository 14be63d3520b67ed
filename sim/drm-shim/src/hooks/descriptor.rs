//! Calls on descriptors: ioctl, close, mmap, munmap, lseek.

use std::panic::{AssertUnwindSafe, catch_unwind};

use libc::{c_int, c_ulong, c_void, off64_t, size_t};
use vc4_sim::drm::{Errno, Exported};

use super::hooks;
use crate::process::Caller;
use crate::real::{self, fail};
use crate::state::{self, Inside, Thing};

hooks! {
    fn ioctl(fd: c_int, request: c_ulong, arg: *mut c_void) -> c_int = ioctl_hook;
    fn close(fd: c_int) -> c_int = close_hook;
    fn mmap, mmap64(
        address: *mut c_void, length: size_t, protection: c_int, flags: c_int, fd: c_int, offset: off64_t
    ) -> *mut c_void = mmap_hook;
    fn munmap(address: *mut c_void, length: size_t) -> c_int = munmap_hook;
    fn lseek, lseek64(fd: c_int, offset: off64_t, whence: c_int) -> off64_t = lseek_hook;
}

unsafe fn ioctl_hook(fd: c_int, request: c_ulong, arg: *mut c_void) -> c_int {
    let ours = Inside::enter().and_then(|inside| state::find(fd).map(|thing| (thing, inside)));
    let Some((thing, _inside)) = ours else {
        // SAFETY: the caller's.
        return unsafe { real::ioctl(fd, request, arg) };
    };
    // The kernel looks at 32 bits.
    let (request, arg) = (request as u32, arg as usize as u64);
    let answer = catch_unwind(AssertUnwindSafe(|| match &thing {
        Thing::Node(file) => file.ioctl(request, arg, &Caller),
        Thing::Exported(Exported::DmaBuf(buffer)) => buffer.ioctl(request, arg, &Caller),
        Thing::Exported(Exported::SyncFile(file)) => file.ioctl(request, arg, &Caller),
        Thing::Exported(Exported::Syncobj(_)) => Err(Errno::ENOTTY),
        Thing::Inherited => Err(Errno::ENODEV),
    }));
    // A panic has printed where it happened; unwinding must not reach the caller.
    match answer.unwrap_or(Err(Errno::EIO)) {
        Ok(()) => 0,
        Err(errno) => fail(errno as c_int),
    }
}

unsafe fn close_hook(fd: c_int) -> c_int {
    let Some(_inside) = Inside::enter() else {
        // SAFETY: the caller's.
        return unsafe { real::close(fd) };
    };
    if state::is_internal(fd) {
        return fail(libc::EBADF);
    }
    let ours = state::find(fd).is_some();
    // SAFETY: the caller's.
    let result = unsafe { real::close(fd) };
    if ours {
        state::reap();
    }
    result
}

/// Maps a descriptor of ours.
///
/// # Safety
/// That of mmap.
unsafe fn map_ours(
    thing: &Thing,
    address: *mut c_void,
    length: size_t,
    protection: c_int,
    flags: c_int,
    offset: off64_t,
) -> Result<usize, c_int> {
    let pages =
        (length as u64).checked_next_multiple_of(4096).filter(|&length| length > 0).ok_or(libc::EINVAL)?;
    let offset = u64::try_from(offset).map_err(|_| libc::EINVAL)?;
    let write = protection & libc::PROT_WRITE != 0;
    let (window, offset) = match thing {
        Thing::Node(file) => (file.window(offset, pages, write), 0),
        Thing::Exported(Exported::DmaBuf(buffer)) => (buffer.window(offset, pages), offset),
        Thing::Exported(_) | Thing::Inherited => return Err(libc::ENODEV),
    };
    let window = window.map_err(|errno| errno as c_int)?;
    // SAFETY: the caller's.
    unsafe { state::map(address as usize, pages as usize, protection, flags, window, offset) }
}

unsafe fn mmap_hook(
    address: *mut c_void,
    length: size_t,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: off64_t,
) -> *mut c_void {
    let Some(_inside) = Inside::enter() else {
        // SAFETY: the caller's.
        return unsafe { real::mmap(address, length, protection, flags, fd, offset) };
    };
    let thing = if flags & libc::MAP_ANONYMOUS == 0 { state::find(fd) } else { None };
    if let Some(thing) = thing {
        // SAFETY: the caller's.
        return match unsafe { map_ours(&thing, address, length, protection, flags, offset) } {
            Ok(mapped) => mapped as *mut c_void,
            Err(errno) => {
                real::set_errno(errno);
                libc::MAP_FAILED
            }
        };
    }
    // SAFETY: the caller's.
    let map = || unsafe { real::mmap(address, length, protection, flags, fd, offset) };
    if flags & libc::MAP_FIXED == 0 {
        return map();
    }
    let mut mapped = libc::MAP_FAILED;
    state::unmap(address as usize, length, || {
        mapped = map();
        mapped != libc::MAP_FAILED
    });
    mapped
}

unsafe fn munmap_hook(address: *mut c_void, length: size_t) -> c_int {
    let Some(_inside) = Inside::enter() else {
        // SAFETY: the caller's.
        return unsafe { real::munmap(address, length) };
    };
    let mut result = -1;
    state::unmap(address as usize, length, || {
        // SAFETY: the caller's.
        result = unsafe { real::munmap(address, length) };
        result == 0
    });
    result
}

unsafe fn lseek_hook(fd: c_int, offset: off64_t, whence: c_int) -> off64_t {
    let thing = Inside::enter().and_then(|_inside| state::find(fd));
    match (thing, whence, offset) {
        (Some(Thing::Exported(Exported::DmaBuf(buffer))), libc::SEEK_END, 0) => buffer.size().into(),
        (Some(Thing::Exported(Exported::DmaBuf(_))), libc::SEEK_SET, 0) => 0,
        (Some(Thing::Exported(Exported::DmaBuf(_))), ..) => fail(libc::EINVAL).into(),
        // The nodes' position means nothing and never moves.
        (Some(Thing::Node(_)), ..) => 0,
        // SAFETY: the caller's.
        _ => unsafe { real::lseek(fd, offset, whence) },
    }
}
