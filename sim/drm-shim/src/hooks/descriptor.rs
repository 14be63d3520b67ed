//! Calls on descriptors: ioctl, mmap, lseek, and what closes them.

use std::panic::{AssertUnwindSafe, catch_unwind};

#[cfg(target_pointer_width = "32")]
use libc::off_t;
use libc::{c_int, c_uint, c_ulong, c_void, off64_t, size_t};
use vc4_sim::drm::Errno;

use super::hooks;
use crate::faults::{self, Call};
use crate::inside::Inside;
use crate::real::{self, fail};
use crate::state::{self, Thing};
use crate::{descriptors, registered};

hooks! {
    fn ioctl(fd: c_int, request: c_ulong, arg: *mut c_void) -> c_int = ioctl_hook;
    fn close(fd: c_int) -> c_int = close_hook;
    fn mmap64(
        address: *mut c_void, length: size_t, protection: c_int, flags: c_int, fd: c_int, offset: off64_t
    ) -> *mut c_void = mmap_hook;
    fn dup2(from: c_int, to: c_int) -> c_int = dup2_hook;
    fn dup3(from: c_int, to: c_int, flags: c_int) -> c_int = dup3_hook;
    fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int = close_range_hook;
    fn closefrom(first: c_int) -> () = closefrom_hook;
    fn lseek64(fd: c_int, offset: off64_t, whence: c_int) -> off64_t = lseek_hook;
}

#[cfg(target_pointer_width = "64")]
hooks! {
    fn mmap(
        address: *mut c_void, length: size_t, protection: c_int, flags: c_int, fd: c_int, offset: off64_t
    ) -> *mut c_void = mmap_hook;
    fn lseek(fd: c_int, offset: off64_t, whence: c_int) -> off64_t = lseek_hook;
}

#[cfg(target_pointer_width = "32")]
hooks! {
    fn __ioctl_time64(fd: c_int, request: c_ulong, arg: *mut c_void) -> c_int = ioctl_time64_hook;
    fn mmap(
        address: *mut c_void, length: size_t, protection: c_int, flags: c_int, fd: c_int, offset: off_t
    ) -> *mut c_void = mmap_32_hook;
    fn lseek(fd: c_int, offset: off_t, whence: c_int) -> off_t = lseek_32_hook;
}

unsafe fn ioctl_hook(fd: c_int, request: c_ulong, arg: *mut c_void) -> c_int {
    // SAFETY: the caller's.
    ioctl_ours(fd, request, arg).unwrap_or_else(|| unsafe { real::ioctl(fd, request, arg) })
}

/// What is asked of sockets differs from [`ioctl_hook`], what is asked of devices does not.
#[cfg(target_pointer_width = "32")]
unsafe fn ioctl_time64_hook(fd: c_int, request: c_ulong, arg: *mut c_void) -> c_int {
    // SAFETY: the caller's.
    ioctl_ours(fd, request, arg).unwrap_or_else(|| unsafe { real::ioctl_time64(fd, request, arg) })
}

/// Answers an ioctl on a descriptor of ours.
fn ioctl_ours(fd: c_int, request: c_ulong, arg: *mut c_void) -> Option<c_int> {
    let _inside = Inside::enter()?;
    let thing = state::find(fd)?;
    // The kernel looks at 32 bits.
    let (request, arg) = (request as u32, arg as usize as u64);
    if let (Thing::Node(..), Some(errno)) = (thing, faults::of(Call::Ioctl(request as u8))) {
        return Some(fail(errno as c_int));
    }
    let answer = catch_unwind(AssertUnwindSafe(|| state::ioctl(thing, request, arg)));
    // A panic has printed where it happened; unwinding must not reach the caller.
    Some(match answer.unwrap_or(Err(Errno::EIO)) {
        Ok(()) => 0,
        Err(errno) => fail(errno as c_int),
    })
}

unsafe fn close_hook(fd: c_int) -> c_int {
    let Some(_inside) = Inside::enter() else {
        // SAFETY: the caller's.
        return unsafe { real::close(fd) };
    };
    if descriptors::is_internal(fd) {
        return fail(libc::EBADF);
    }
    let ours = is_counted(fd);
    registered::closed(fd, fd);
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
    thing: Thing,
    address: *mut c_void,
    length: size_t,
    protection: c_int,
    flags: c_int,
    offset: off64_t,
) -> Option<Result<usize, Errno>> {
    let pages = (length as u64).checked_next_multiple_of(4096).filter(|&length| length > 0);
    let (Some(pages), Ok(offset)) = (pages, u64::try_from(offset)) else { return Some(Err(Errno::EINVAL)) };
    match thing {
        Thing::Node(inode, _) => {
            if let Some(errno) = faults::of(Call::Mmap) {
                return Some(Err(errno));
            }
            // SAFETY: the caller's.
            Some(unsafe { state::map(inode, address as usize, pages as usize, protection, flags, offset) })
        }
        // Its own file, but no more than there is.
        Thing::DmaBuf(_, size) if offset.checked_add(pages).is_some_and(|end| end <= size.into()) => None,
        Thing::DmaBuf(..) => Some(Err(Errno::EINVAL)),
        Thing::Sync(_) | Thing::Log | Thing::Heap => Some(Err(Errno::ENODEV)),
    }
}

unsafe fn mmap_hook(
    address: *mut c_void,
    length: size_t,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: off64_t,
) -> *mut c_void {
    let inside = Inside::enter();
    let thing = if inside.is_some() && flags & libc::MAP_ANONYMOUS == 0 { state::find(fd) } else { None };
    // SAFETY: the caller's.
    unsafe {
        match thing.and_then(|thing| map_ours(thing, address, length, protection, flags, offset)) {
            None => real::mmap(address, length, protection, flags, fd, offset),
            Some(Ok(mapped)) => mapped as *mut c_void,
            Some(Err(errno)) => {
                real::set_errno(errno as c_int);
                libc::MAP_FAILED
            }
        }
    }
}

#[cfg(target_pointer_width = "32")]
unsafe fn mmap_32_hook(
    address: *mut c_void,
    length: size_t,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
) -> *mut c_void {
    // SAFETY: the caller's.
    unsafe { mmap_hook(address, length, protection, flags, fd, offset.into()) }
}

#[cfg(target_pointer_width = "32")]
unsafe fn lseek_32_hook(fd: c_int, offset: off_t, whence: c_int) -> off_t {
    // SAFETY: the caller's.
    let place = unsafe { lseek_hook(fd, offset.into(), whence) };
    off_t::try_from(place).unwrap_or_else(|_| fail(libc::EOVERFLOW))
}

unsafe fn lseek_hook(fd: c_int, offset: off64_t, whence: c_int) -> off64_t {
    let thing = Inside::enter().and_then(|_inside| state::find(fd));
    match (thing, whence, offset) {
        (Some(Thing::DmaBuf(_, size)), libc::SEEK_END, 0) => size.into(),
        (Some(Thing::DmaBuf(..)), libc::SEEK_SET, 0) => 0,
        (Some(Thing::DmaBuf(..)), ..) => fail(libc::EINVAL).into(),
        // The nodes' position means nothing and never moves.
        (Some(Thing::Node(..)), ..) => 0,
        // SAFETY: the caller's.
        _ => unsafe { real::lseek(fd, offset, whence) },
    }
}

/// Whether a descriptor is ours to be told when it goes.
fn is_counted(fd: c_int) -> bool {
    matches!(state::find(fd), Some(Thing::Node(..) | Thing::Sync(_) | Thing::Log))
}

/// Puts `from` under the number `to` by `duplicate`, unless one of the library's own would be lost.
fn replace(to: c_int, duplicate: impl FnOnce() -> c_int) -> c_int {
    let Some(_inside) = Inside::enter() else { return duplicate() };
    if descriptors::is_internal(to) {
        return fail(libc::EBUSY);
    }
    let counted = is_counted(to);
    let result = duplicate();
    if result >= 0 {
        registered::closed(to, to);
    }
    if counted && result >= 0 {
        state::reap();
    }
    result
}

unsafe fn dup2_hook(from: c_int, to: c_int) -> c_int {
    // SAFETY: the caller's.
    replace(to, || unsafe { real::dup2(from, to) })
}

unsafe fn dup3_hook(from: c_int, to: c_int, flags: c_int) -> c_int {
    // SAFETY: the caller's.
    replace(to, || unsafe { real::dup3(from, to, flags) })
}

/// Calls `change` on the parts of a range of descriptors between those that are the library's own.
fn around_internal(first: c_uint, last: c_uint, mut change: impl FnMut(c_uint, c_uint) -> c_int) -> c_int {
    let Some(_inside) = Inside::enter() else { return change(first, last) };
    let number = |fd: c_uint| c_int::try_from(fd).unwrap_or(c_int::MAX);
    let mut next = first;
    for ours in descriptors::internal_between(number(first), number(last)) {
        let ours = ours as c_uint;
        if next < ours && change(next, ours - 1) != 0 {
            return -1;
        }
        next = ours + 1;
    }
    // An empty rest of a range that was not empty; others go to the kernel, which knows what is wrong.
    let result = if next > last && next > first { 0 } else { change(next, last) };
    state::reap();
    result
}

/// As [`registered::closed`], for numbers as close_range has them.
fn forget_registered(first: c_uint, last: c_uint) {
    let number = |fd| c_int::try_from(fd).unwrap_or(c_int::MAX);
    if let Some(_inside) = Inside::enter() {
        registered::closed(number(first), number(last));
    }
}

unsafe fn close_range_hook(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    if flags & libc::CLOSE_RANGE_CLOEXEC as c_int == 0 {
        forget_registered(first, last);
    }
    // SAFETY: the caller's.
    around_internal(first, last, |first, last| unsafe { real::close_range(first, last, flags) })
}

unsafe fn closefrom_hook(first: c_int) {
    let first = c_uint::try_from(first).unwrap_or(0);
    forget_registered(first, c_uint::MAX);
    // SAFETY: the caller's.
    around_internal(first, c_uint::MAX, |first, last| unsafe { real::close_range(first, last, 0) });
}
