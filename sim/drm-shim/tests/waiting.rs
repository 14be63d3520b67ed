//! What a process that waits for a dma-buf is told, and when: after the jobs that write it, as igt-gpu-tools'
//! vc4_dmabuf_poll expects.

mod node;
mod preload;

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};

use libc::{c_int, c_short, pollfd};
use nix::errno::Errno;
use node::open;
use node::raw::*;
use preload::preloaded;
use vc4_kernel_abi::ioctl::{self, Lists};
use vc4_kernel_abi::uapi::{SubmitCl, SubmitRclSurface};

/// Pixels of an edge, and bytes.
const EDGE: u16 = 1024;
const BYTES: u32 = 4 << 20;

/// A BO of a node and its dma-buf.
struct Buffer {
    node: File,
    bo: u32,
    file: OwnedFd,
}

impl Buffer {
    fn new() -> Buffer {
        let node = open("renderD128");
        let bo = ioctl::create_bo(node.as_fd(), BYTES).unwrap();
        let mut arg = [bo, libc::O_CLOEXEC as u32 | libc::O_RDWR as u32, 0];
        // SAFETY: a struct of the right size; the descriptor that comes back is nobody else's.
        let file = unsafe {
            handle_to_fd(node.as_raw_fd(), &mut arg).unwrap();
            OwnedFd::from_raw_fd(arg[2] as RawFd)
        };
        Buffer { node, bo, file }
    }

    /// Has jobs clear it, some of which are not done when this returns.
    fn clear(&self) {
        let absent = SubmitRclSurface { hindex: u32::MAX, ..SubmitRclSurface::default() };
        let frame = SubmitCl {
            color_write: SubmitRclSurface { bits: 1 << 2, ..SubmitRclSurface::default() },
            color_read: absent,
            zs_read: absent,
            zs_write: absent,
            msaa_color_write: absent,
            msaa_zs_write: absent,
            width: EDGE,
            height: EDGE,
            max_x_tile: (EDGE / 64 - 1) as u8,
            max_y_tile: (EDGE / 64 - 1) as u8,
            flags: 1,
            ..SubmitCl::default()
        };
        for _ in 0..4 {
            let lists = Lists { bin_cl: &[], shader_rec: &[], uniforms: &[], bo_handles: &[self.bo] };
            ioctl::submit_cl(self.node.as_fd(), &frame, lists).unwrap();
        }
        assert!(!self.is_idle(), "jobs that are done at once prove nothing");
    }

    fn is_idle(&self) -> bool {
        ioctl::wait_bo(self.node.as_fd(), self.bo, 0) != Err(Errno::ETIME)
    }

    fn entry(&self, events: c_short) -> pollfd {
        pollfd { fd: self.file.as_raw_fd(), events, revents: 0 }
    }
}

fn poll(set: &mut [pollfd], timeout: c_int) -> c_int {
    // SAFETY: a set of that many elements.
    unsafe { libc::poll(set.as_mut_ptr(), set.len() as libc::nfds_t, timeout) }
}

/// A pipe that may be written.
fn pipe() -> (OwnedFd, OwnedFd) {
    nix::unistd::pipe().unwrap()
}

#[test]
fn poll_waits_for_the_jobs_of_a_dma_buf() {
    preloaded("poll_waits_for_the_jobs_of_a_dma_buf", || {
        let buffer = Buffer::new();
        let (_read, free) = pipe();
        let both = libc::POLLIN | libc::POLLOUT;
        assert_eq!(poll(&mut [buffer.entry(both)], 0), 1, "nobody uses it");
        for events in [libc::POLLIN, libc::POLLOUT, both] {
            buffer.clear();
            let other = pollfd { fd: free.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
            let mut set = [buffer.entry(events), other];
            assert_eq!(poll(&mut set[..1], 0), 0);
            assert_eq!(poll(&mut set, -1), 1, "the other is ready");
            assert_eq!((set[0].revents, set[1].revents), (0, libc::POLLOUT));
            assert_eq!(poll(&mut set[..1], 60_000), 1);
            // Of both, one may come a moment before the other.
            assert!(set[0].fd == buffer.file.as_raw_fd() && set[0].revents & events != 0);
            assert!(buffer.is_idle());
            assert_eq!(poll(&mut set, -1), 2);
        }
        // Who asks for nothing is told nothing.
        assert_eq!(poll(&mut [buffer.entry(libc::POLLPRI)], 0), 0);
        let limit = libc::timespec { tv_sec: 60, tv_nsec: 0 };
        buffer.clear();
        // SAFETY: a set of one element, a time, no mask.
        let ready = unsafe { libc::ppoll(&mut buffer.entry(libc::POLLIN), 1, &limit, std::ptr::null()) };
        assert_eq!((ready, buffer.is_idle()), (1, true));
    });
}

#[test]
fn select_waits_for_the_jobs_of_a_dma_buf() {
    preloaded("select_waits_for_the_jobs_of_a_dma_buf", || {
        let buffer = Buffer::new();
        let fd = buffer.file.as_raw_fd();
        let (idle, _other) = pipe();
        let null = std::ptr::null_mut();
        // SAFETY: sets of descriptors below their size; times.
        unsafe {
            let mut set: libc::fd_set = std::mem::zeroed();
            libc::FD_SET(fd, &mut set);
            libc::FD_SET(idle.as_raw_fd(), &mut set);
            let count = fd.max(idle.as_raw_fd()) + 1;
            let mut time = libc::timeval { tv_sec: 0, tv_usec: 1000 };
            buffer.clear();
            assert_eq!(libc::select(count, &mut { set }, null, null, &mut time), 0);
            assert_eq!((time.tv_sec, time.tv_usec), (0, 0));
            time.tv_sec = 60;
            let mut read = set;
            assert_eq!(libc::select(count, &mut read, null, null, &mut time), 1);
            assert!(libc::FD_ISSET(fd, &read) && !libc::FD_ISSET(idle.as_raw_fd(), &read));
            assert!(buffer.is_idle() && (1..60).contains(&time.tv_sec));
            buffer.clear();
            libc::FD_CLR(idle.as_raw_fd(), &mut set);
            let limit = libc::timespec { tv_sec: 60, tv_nsec: 0 };
            assert_eq!(libc::pselect(count, null, &mut set, null, &limit, std::ptr::null()), 1);
            assert!(libc::FD_ISSET(fd, &set) && buffer.is_idle());
        }
    });
}

#[test]
fn access_by_the_cpu_waits_for_the_jobs_of_a_dma_buf() {
    preloaded("access_by_the_cpu_waits_for_the_jobs_of_a_dma_buf", || {
        let buffer = Buffer::new();
        let fd = buffer.file.as_raw_fd();
        // Read, write, both, from their start; the last is an end, which waits for nothing.
        for (flags, idle) in [(1u64, true), (2, true), (3, true), (5, false)] {
            buffer.clear();
            // SAFETY: a struct of the right size.
            assert_eq!(unsafe { dma_buf_sync(fd, &flags) }, Ok(0));
            assert_eq!(buffer.is_idle(), idle, "{flags}");
        }
        // The same as a file.
        buffer.clear();
        let mut arg = [1, 0];
        // SAFETY: a struct of the right size; the descriptor that comes back is nobody else's.
        let fence = unsafe {
            dma_buf_export_sync_file(fd, &mut arg).unwrap();
            OwnedFd::from_raw_fd(arg[1] as RawFd)
        };
        let mut set = [pollfd { fd: fence.as_raw_fd(), events: libc::POLLIN, revents: 0 }];
        assert_eq!((poll(&mut set, 60_000), set[0].revents), (1, libc::POLLIN));
        assert!(buffer.is_idle());
    });
}

/// Adds, modifies or deletes what an epoll instance watches.
fn control(epoll: &OwnedFd, operation: c_int, fd: RawFd, events: c_int) -> Result<(), Errno> {
    let mut event = libc::epoll_event { events: events as u32, u64: 77 };
    // SAFETY: an event.
    let result = unsafe { libc::epoll_ctl(epoll.as_raw_fd(), operation, fd, &mut event) };
    Errno::result(result).map(drop)
}

/// The events that have come within so many milliseconds.
fn epoll_wait(epoll: &OwnedFd, timeout: c_int) -> Option<c_int> {
    let mut event = libc::epoll_event { events: 0, u64: 0 };
    // SAFETY: room for one event.
    let count = unsafe { libc::epoll_wait(epoll.as_raw_fd(), &mut event, 1, timeout) };
    (count == 1).then(|| {
        assert_eq!({ event.u64 }, 77);
        event.events as c_int
    })
}

#[test]
fn epoll_watches_the_jobs_of_a_dma_buf() {
    use libc::{EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD, EPOLLIN, EPOLLOUT};
    preloaded("epoll_watches_the_jobs_of_a_dma_buf", || {
        let buffer = Buffer::new();
        let fd = buffer.file.as_raw_fd();
        // SAFETY: a new descriptor that is nobody else's.
        let epoll = unsafe { OwnedFd::from_raw_fd(libc::epoll_create1(0)) };
        assert_eq!(control(&epoll, EPOLL_CTL_DEL, fd, 0), Err(Errno::ENOENT));
        assert_eq!(control(&epoll, EPOLL_CTL_MOD, fd, 0), Err(Errno::ENOENT));
        for events in [EPOLLIN, EPOLLOUT, EPOLLIN | EPOLLOUT] {
            assert_eq!(control(&epoll, EPOLL_CTL_ADD, fd, events), Ok(()));
            assert_eq!(epoll_wait(&epoll, 0), Some(events), "nobody uses it");
            assert_eq!(control(&epoll, EPOLL_CTL_ADD, fd, events), Err(Errno::EEXIST));
            buffer.clear();
            assert_eq!(control(&epoll, EPOLL_CTL_MOD, fd, events), Ok(()));
            assert_eq!(epoll_wait(&epoll, 0), None);
            assert!(epoll_wait(&epoll, 60_000).is_some_and(|came| came & events != 0));
            assert!(buffer.is_idle());
            assert_eq!(control(&epoll, EPOLL_CTL_DEL, fd, 0), Ok(()));
            assert_eq!(epoll_wait(&epoll, 0), None);
        }
        // What is closed is not watched any more, and its number may be another's.
        assert_eq!(control(&epoll, EPOLL_CTL_ADD, fd, EPOLLIN), Ok(()));
        drop(buffer);
        assert_eq!(epoll_wait(&epoll, 0), None);
        let again = Buffer::new();
        assert_eq!(control(&epoll, EPOLL_CTL_ADD, again.file.as_raw_fd(), EPOLLIN), Ok(()));
    });
}
