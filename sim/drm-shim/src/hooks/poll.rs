//! Waiting for descriptors. A dma-buf may be read when the jobs are done that write it, and written when all are done
//! that use it (the kernel's dma_buf_poll; kernel-abi.md §11). Its file is always ready, so a sync_file of those jobs
//! takes its place in what the C library is asked.

use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

use libc::{c_int, c_short, fd_set, nfds_t, pollfd, sigset_t, size_t, timespec, timeval};
use vc4_sim::drm::backing::{Inode, Kept};

use super::hooks;
use crate::inside::Inside;
use crate::real::{self, fail};
use crate::state;
#[cfg(target_pointer_width = "32")]
use crate::time64::{TimespecTime64, TimevalTime64};

hooks! {
    fn poll(set: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int = poll_hook;
    fn __poll_chk(set: *mut pollfd, count: nfds_t, timeout: c_int, _room: size_t) -> c_int = poll_checked;
    fn ppoll(set: *mut pollfd, count: nfds_t, timeout: *const timespec, mask: *const sigset_t) -> c_int =
        ppoll_hook;
    fn __ppoll_chk(
        set: *mut pollfd, count: nfds_t, timeout: *const timespec, mask: *const sigset_t, _room: size_t
    ) -> c_int = ppoll_checked;
    fn select(
        count: c_int, read: *mut fd_set, write: *mut fd_set, other: *mut fd_set, timeout: *mut timeval
    ) -> c_int = select_hook;
    fn pselect(
        count: c_int, read: *mut fd_set, write: *mut fd_set, other: *mut fd_set, timeout: *const timespec,
        mask: *const sigset_t
    ) -> c_int = pselect_hook;
}

#[cfg(target_pointer_width = "32")]
hooks! {
    fn __ppoll64(
        set: *mut pollfd, count: nfds_t, timeout: *const TimespecTime64, mask: *const sigset_t
    ) -> c_int = ppoll_time64_hook;
    fn __ppoll64_chk(
        set: *mut pollfd, count: nfds_t, timeout: *const TimespecTime64, mask: *const sigset_t, _room: size_t
    ) -> c_int = ppoll_time64_checked;
    fn __select64(
        count: c_int, read: *mut fd_set, write: *mut fd_set, other: *mut fd_set, timeout: *mut TimevalTime64
    ) -> c_int = select_time64_hook;
    fn __pselect64(
        count: c_int, read: *mut fd_set, write: *mut fd_set, other: *mut fd_set,
        timeout: *const TimespecTime64, mask: *const sigset_t
    ) -> c_int = pselect_time64_hook;
}

/// A dma-buf in a set: its place there, the events asked for, and the fences of each.
struct Buffer {
    place: usize,
    read: Option<Option<Kept>>,
    write: Option<Option<Kept>>,
}

/// Whether a sync_file has signalled.
pub(super) fn has_signalled(file: &Kept) -> bool {
    let mut entry = pollfd { fd: file.as_fd().as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one element, which is ours.
    unsafe { real::poll(&mut entry, 1, 0) == 1 }
}

impl Buffer {
    fn new(place: usize, inode: Inode, events: c_short) -> Buffer {
        let file = |event: c_short, write| (events & event != 0).then(|| state::fence_file(inode, write));
        Buffer { place, read: file(libc::POLLIN, false), write: file(libc::POLLOUT, true) }
    }

    /// The events that have come.
    fn events(&self) -> c_short {
        // Of a buffer without a fence, nothing is to be waited for.
        let has_come = |file: &Option<Option<_>>| {
            file.as_ref().is_some_and(|file| file.as_ref().is_none_or(has_signalled))
        };
        let came = |file, event| if has_come(file) { event } else { 0 };
        came(&self.read, libc::POLLIN) | came(&self.write, libc::POLLOUT)
    }

    /// The descriptor that says when the first of its events comes: who writes is done before all are.
    fn awaited(&self) -> Option<c_int> {
        let file = self.read.as_ref().or(self.write.as_ref())?;
        file.as_ref().map(|file| file.as_fd().as_raw_fd())
    }
}

/// A set in which sync_files stand for dma-bufs.
struct Set {
    entries: Vec<pollfd>,
    buffers: Vec<Buffer>,
    /// Whether one of them is ready, so that nobody waits.
    ready: bool,
}

impl Set {
    /// `None` when nothing in the set is ours.
    fn of(set: &[pollfd]) -> Option<Set> {
        if !state::may_have_ours() {
            return None;
        }
        let _inside = Inside::enter()?;
        let is_buffer = |entry: &pollfd| state::dma_buf(entry.fd).is_some();
        set.iter().any(is_buffer).then(|| {
            let mut entries = set.to_vec();
            let mut buffers = Vec::new();
            let mut ready = false;
            for (place, entry) in entries.iter_mut().enumerate() {
                let Some(inode) = state::dma_buf(entry.fd) else { continue };
                let buffer = Buffer::new(place, inode, entry.events);
                let came = buffer.events() != 0;
                // An entry without a descriptor is left alone.
                let awaited = if came { None } else { buffer.awaited() };
                *entry = pollfd { fd: awaited.unwrap_or(-1), events: libc::POLLIN, revents: 0 };
                ready |= came;
                buffers.push(buffer);
            }
            Set { entries, buffers, ready }
        })
    }

    /// Tells of the events in the caller's set; what poll returns for `result`, which came for this one.
    fn finish(mut self, set: &mut [pollfd], result: c_int) -> c_int {
        if result < 0 {
            let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINTR);
            let _inside = Inside::enter();
            drop(self);
            return fail(errno);
        }
        let _inside = Inside::enter();
        for buffer in &self.buffers {
            self.entries[buffer.place].revents = buffer.events();
        }
        for (to, from) in set.iter_mut().zip(&self.entries) {
            to.revents = from.revents;
        }
        self.entries.iter().filter(|entry| entry.revents != 0).count() as c_int
    }
}

/// Calls `real` on a set, or on what stands for it, with `true` if nobody is to wait.
///
/// # Safety
/// `count` elements at `set`.
unsafe fn wait(
    set: *mut pollfd,
    count: nfds_t,
    real: impl FnOnce(*mut pollfd, nfds_t, bool) -> c_int,
) -> c_int {
    if set.is_null() || count == 0 || count > c_int::MAX as nfds_t {
        return real(set, count, false);
    }
    // SAFETY: the caller's.
    let entries = unsafe { std::slice::from_raw_parts_mut(set, count as usize) };
    let Some(mut ours) = Set::of(entries) else { return real(set, count, false) };
    let result = real(ours.entries.as_mut_ptr(), count, ours.ready);
    ours.finish(entries, result)
}

unsafe fn poll_hook(set: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    // SAFETY: the caller's.
    unsafe { wait(set, count, |set, count, ready| real::poll(set, count, if ready { 0 } else { timeout })) }
}

/// Ends the program when the set is larger than what it lies in, as the C library does.
fn check_room(count: nfds_t, room: size_t) {
    if room / size_of::<pollfd>() < count as usize {
        std::process::abort();
    }
}

unsafe fn poll_checked(set: *mut pollfd, count: nfds_t, timeout: c_int, room: size_t) -> c_int {
    check_room(count, room);
    // SAFETY: the caller's.
    unsafe { poll_hook(set, count, timeout) }
}

/// A time to wait for.
trait Time: Sized {
    /// No time at all.
    const ZERO: Self;
    /// `None` for what is no time.
    fn duration(&self) -> Option<Duration>;
    /// The other way round.
    fn set(&mut self, duration: Duration);
}

macro_rules! times {
    ($($ty:ty: $zero:expr, $fraction:ident, $per_second:literal;)*) => {$(
        impl Time for $ty {
            const ZERO: $ty = $zero;

            #[allow(clippy::unnecessary_cast, reason = "on 32-bit systems some numbers are shorter")]
            fn duration(&self) -> Option<Duration> {
                let parts = u64::from($per_second as u32);
                let fraction = u64::try_from(self.$fraction as i64).ok().filter(|&part| part < parts)?;
                let nanoseconds = fraction * (1_000_000_000 / parts);
                Some(Duration::new(u64::try_from(self.tv_sec as i64).ok()?, nanoseconds as u32))
            }

            fn set(&mut self, duration: Duration) {
                self.tv_sec = duration.as_secs() as _;
                self.$fraction = (duration.subsec_nanos() / (1_000_000_000 / $per_second)) as _;
            }
        }
    )*};
}
times! {
    timespec: timespec { tv_sec: 0, tv_nsec: 0 }, tv_nsec, 1_000_000_000;
    timeval: timeval { tv_sec: 0, tv_usec: 0 }, tv_usec, 1_000_000;
}
#[cfg(target_pointer_width = "32")]
times! {
    TimespecTime64: TimespecTime64::ZERO, tv_nsec, 1_000_000_000;
    TimevalTime64: TimevalTime64 { tv_sec: 0, tv_usec: 0 }, tv_usec, 1_000_000;
}

unsafe fn ppoll_hook(
    set: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        wait(set, count, |set, count, ready| {
            real::ppoll(set, count, if ready { &timespec::ZERO } else { timeout }, mask)
        })
    }
}

unsafe fn ppoll_checked(
    set: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
    room: size_t,
) -> c_int {
    check_room(count, room);
    // SAFETY: the caller's.
    unsafe { ppoll_hook(set, count, timeout, mask) }
}

#[cfg(target_pointer_width = "32")]
unsafe fn ppoll_time64_hook(
    set: *mut pollfd,
    count: nfds_t,
    timeout: *const TimespecTime64,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        wait(set, count, |set, count, ready| {
            real::ppoll_time64(set, count, if ready { &TimespecTime64::ZERO } else { timeout }, mask)
        })
    }
}

#[cfg(target_pointer_width = "32")]
unsafe fn ppoll_time64_checked(
    set: *mut pollfd,
    count: nfds_t,
    timeout: *const TimespecTime64,
    mask: *const sigset_t,
    room: size_t,
) -> c_int {
    check_room(count, room);
    // SAFETY: the caller's.
    unsafe { ppoll_time64_hook(set, count, timeout, mask) }
}

/// The three sets of select with what each means to poll: events to ask for, and those that count.
const SELECTED: [(c_short, c_short); 3] = [
    (libc::POLLIN | libc::POLLRDNORM | libc::POLLRDBAND, libc::POLLHUP | libc::POLLERR),
    (libc::POLLOUT | libc::POLLWRNORM | libc::POLLWRBAND, libc::POLLERR),
    (libc::POLLPRI, 0),
];

/// The sets as poll takes them, if a dma-buf is among what is to be read or written.
///
/// # Safety
/// Each is null or a set.
unsafe fn as_entries(count: c_int, sets: [*mut fd_set; 3]) -> Option<Vec<pollfd>> {
    // Programs may make sets larger than the C library's, which have no form here.
    if !state::may_have_ours() || !(1..=libc::FD_SETSIZE as c_int).contains(&count) {
        return None;
    }
    // SAFETY: the caller's; the number lies in the set.
    let is_in = |set: *mut fd_set, fd: c_int| !set.is_null() && unsafe { libc::FD_ISSET(fd, set) };
    let entries = (0..count).filter_map(|fd| {
        let asked = sets.iter().zip(SELECTED).filter(|(set, _)| is_in(**set, fd));
        let events = asked.fold(0, |events, (_, (ask, _))| events | ask);
        (events != 0).then_some(pollfd { fd, events, revents: 0 })
    });
    let entries: Vec<pollfd> = entries.collect();
    let _inside = Inside::enter()?;
    entries.iter().any(|entry| state::dma_buf(entry.fd).is_some()).then_some(entries)
}

/// As select, by way of poll; `None` when there is no dma-buf to wait for.
///
/// # Safety
/// Each set is null or a set; `mask` is null or one.
unsafe fn select_by_poll<T: Time>(
    count: c_int,
    sets: [*mut fd_set; 3],
    limit: Option<&T>,
    mask: *const sigset_t,
) -> Option<c_int> {
    let mut time = timespec::ZERO;
    if let Some(limit) = limit {
        time.set(limit.duration()?);
    }
    let timeout = if limit.is_some() { &raw const time } else { std::ptr::null() };
    // SAFETY: the caller's; the entries are ours.
    unsafe {
        let mut entries = as_entries(count, sets)?;
        let result = ppoll_hook(entries.as_mut_ptr(), entries.len() as nfds_t, timeout, mask);
        if result < 0 {
            return Some(result);
        }
        if entries.iter().any(|entry| entry.revents & libc::POLLNVAL != 0) {
            return Some(fail(libc::EBADF));
        }
        let mut selected = 0;
        for (set, (ask, more)) in sets.into_iter().zip(SELECTED).filter(|(set, _)| !set.is_null()) {
            libc::FD_ZERO(set);
            for entry in &entries {
                if entry.events & ask != 0 && entry.revents & (ask | more) != 0 {
                    libc::FD_SET(entry.fd, set);
                    selected += 1;
                }
            }
        }
        Some(selected)
    }
}

/// As [`select_by_poll`], and tells how much time is left.
///
/// # Safety
/// That of select.
unsafe fn select_and_count<T: Time>(count: c_int, sets: [*mut fd_set; 3], timeout: *mut T) -> Option<c_int> {
    let start = Instant::now();
    // SAFETY: the caller's.
    unsafe {
        let result = select_by_poll(count, sets, timeout.as_ref(), std::ptr::null())?;
        if let Some(timeout) = timeout.as_mut() {
            let left = timeout.duration().unwrap_or_default().saturating_sub(start.elapsed());
            timeout.set(left);
        }
        Some(result)
    }
}

unsafe fn select_hook(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    other: *mut fd_set,
    timeout: *mut timeval,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        select_and_count(count, [read, write, other], timeout)
            .unwrap_or_else(|| real::select(count, read, write, other, timeout))
    }
}

unsafe fn pselect_hook(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    other: *mut fd_set,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        select_by_poll(count, [read, write, other], timeout.as_ref(), mask)
            .unwrap_or_else(|| real::pselect(count, read, write, other, timeout, mask))
    }
}

#[cfg(target_pointer_width = "32")]
unsafe fn select_time64_hook(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    other: *mut fd_set,
    timeout: *mut TimevalTime64,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        select_and_count(count, [read, write, other], timeout)
            .unwrap_or_else(|| real::select_time64(count, read, write, other, timeout))
    }
}

#[cfg(target_pointer_width = "32")]
unsafe fn pselect_time64_hook(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    other: *mut fd_set,
    timeout: *const TimespecTime64,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        select_by_poll(count, [read, write, other], timeout.as_ref(), mask)
            .unwrap_or_else(|| real::pselect_time64(count, read, write, other, timeout, mask))
    }
}
