//! Registering a dma-buf with epoll: a sync_file of the jobs that use it takes its place ([`crate::registered`]). It
//! tells of the jobs that were there when the program registered or modified it; later ones make it wait again only
//! then.

use std::os::fd::{AsFd, AsRawFd, RawFd};

use libc::{c_int, epoll_event};
use vc4_sim::drm::backing::{Inode, Kept};

use super::hooks;
use super::poll::has_signalled;
use crate::inside::Inside;
use crate::real::{self, fail};
use crate::{registered, state};

hooks! {
    fn epoll_ctl(epoll: c_int, operation: c_int, fd: c_int, event: *mut epoll_event) -> c_int = epoll_ctl_hook;
}

/// More messages than fit into the smallest socket.
const MOST_MESSAGES: usize = 256;

/// Makes a sync_file one that can be written only when it has signalled: its socket is full until the device takes out
/// what is in it.
fn fill(file: &Kept) {
    let fd = file.as_fd().as_raw_fd();
    let least: c_int = 1;
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: a number and its size; a byte.
    unsafe {
        let size = size_of::<c_int>() as libc::socklen_t;
        libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_SNDBUF, (&raw const least).cast(), size);
        for _ in 0..MOST_MESSAGES {
            if libc::send(fd, c"".as_ptr().cast(), 1, flags) != 1 {
                break;
            }
        }
    }
}

/// What stands for a dma-buf that is to be watched for these events.
fn stand_in(buffer: Inode, events: u32) -> Option<Kept> {
    let write = events & libc::EPOLLOUT as u32 != 0;
    let file = state::fence_file(buffer, write)?;
    if !write {
        return Some(file);
    }
    fill(&file);
    // If it signalled meanwhile, nobody may empty it any more.
    if has_signalled(&file) { state::fence_file(buffer, write) } else { Some(file) }
}

/// Does the same to what stands for a dma-buf; `None` when `fd` is none.
///
/// # Safety
/// That of epoll_ctl.
unsafe fn control(epoll: RawFd, operation: c_int, fd: RawFd, event: *mut epoll_event) -> Option<c_int> {
    if !state::may_have_ours() {
        return None;
    }
    let _inside = Inside::enter()?;
    let buffer = state::dma_buf(fd)?;
    let mut table = registered::guard();
    let known = table.get(epoll, fd).map(|file| file.as_fd().as_raw_fd());
    // SAFETY: the caller's; the event is there where the kernel reads one.
    unsafe {
        let add = |file: &Kept| real::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, file.as_fd().as_raw_fd(), event);
        Some(match (operation, known) {
            (libc::EPOLL_CTL_ADD, Some(_)) => fail(libc::EEXIST),
            (libc::EPOLL_CTL_MOD | libc::EPOLL_CTL_DEL, None) => fail(libc::ENOENT),
            (libc::EPOLL_CTL_ADD | libc::EPOLL_CTL_MOD, _) if event.is_null() => fail(libc::EFAULT),
            (libc::EPOLL_CTL_ADD | libc::EPOLL_CTL_MOD, _) => {
                let file = stand_in(buffer, (*event).events)?;
                let result = add(&file);
                // What stood there goes with its descriptor.
                if result == 0 {
                    table.insert(epoll, fd, file);
                }
                result
            }
            (_, Some(file)) => {
                let result = real::epoll_ctl(epoll, operation, file, event);
                if result == 0 {
                    table.remove(epoll, fd);
                }
                result
            }
            (_, None) => fail(libc::EINVAL),
        })
    }
}

unsafe fn epoll_ctl_hook(epoll: c_int, operation: c_int, fd: c_int, event: *mut epoll_event) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        control(epoll, operation, fd, event).unwrap_or_else(|| real::epoll_ctl(epoll, operation, fd, event))
    }
}
