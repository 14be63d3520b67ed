//! Reading a node's events, as igt-gpu-tools' drm_read expects of the kernel's drm_read.

mod node;
mod preload;

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::Duration;

use drm::buffer::DrmFourcc;
use drm::control::{Device, PageFlipFlags, crtc, framebuffer};
use nix::errno::Errno;
use preload::preloaded;

/// Bytes of an event.
const EVENT: usize = 32;

struct Card(File);

impl AsFd for Card {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl drm::Device for Card {}
impl Device for Card {}

impl Card {
    /// Has a picture on the screen.
    fn show(&self) -> (crtc::Handle, framebuffer::Handle) {
        let resources = self.resource_handles().unwrap();
        let (connector, crtc) = (resources.connectors()[0], resources.crtcs()[0]);
        let mode = *self.get_connector(connector, false).unwrap().modes().last().unwrap();
        let (width, height) = mode.size();
        let buffer = self.create_dumb_buffer((width.into(), height.into()), DrmFourcc::Xrgb8888, 32).unwrap();
        let fb = self.add_framebuffer(&buffer, 24, 32).unwrap();
        self.set_crtc(crtc, Some(fb), (0, 0), &[connector], Some(mode)).unwrap();
        (crtc, fb)
    }

    /// Has an event come.
    fn flip(&self, (crtc, fb): (crtc::Handle, framebuffer::Handle)) {
        while self.page_flip(crtc, fb, PageFlipFlags::EVENT, None).is_err() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn wait(&self) {
        let mut set = [libc::pollfd { fd: self.0.as_raw_fd(), events: libc::POLLIN, revents: 0 }];
        // SAFETY: a set of one element.
        assert_eq!(unsafe { libc::poll(set.as_mut_ptr(), 1, 10_000) }, 1);
    }

    fn read(&self, room: usize) -> std::io::Result<usize> {
        (&self.0).read(&mut vec![0; room])
    }
}

#[test]
fn events_are_read_whole() {
    preloaded("events_are_read_whole", || {
        let card = Card(node::open("card0"));
        let screen = card.show();
        let fault = |address: usize| {
            // SAFETY: an address that is nobody's, which the kernel tells.
            let read = unsafe { libc::read(card.0.as_raw_fd(), address as *mut _, 1024) };
            assert_eq!((read, Errno::last()), (-1, Errno::EFAULT));
        };
        // Without an event to wait for.
        fault(usize::MAX);
        card.flip(screen);
        card.wait();
        // What does not fit stays.
        assert_eq!(card.read(4).unwrap(), 0);
        fault(8);
        assert_eq!(card.read(EVENT + 8).unwrap(), EVENT);
        // Two flips: the second is only taken when the first has been seen.
        card.flip(screen);
        card.flip(screen);
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(card.read(EVENT + 8).unwrap(), EVENT);
        card.flip(screen);
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(card.read(1024).unwrap(), 2 * EVENT);
        // Who reads first waits.
        card.flip(screen);
        assert_eq!(card.read(1024).unwrap(), EVENT);
        // SAFETY: a plain call.
        unsafe { libc::fcntl(card.0.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
        assert_eq!(card.read(1024).unwrap_err().kind(), ErrorKind::WouldBlock);
    });
}
