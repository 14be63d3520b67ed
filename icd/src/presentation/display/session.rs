//! The time during which the driver decides what a screen shows: it begins with the first swapchain of a surface and ends with
//! the surface, or with the last swapchain, whichever is later. Then the screen is as it was before.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ash::vk;
use drm::buffer::{self, DrmFourcc, DrmModifier, PlanarBuffer};
use drm::control::{Device as _, Event, FbCmd2Flags, Mode, connector, crtc, framebuffer};
use vc4_kernel_abi::Card;

use crate::foundation::error::Error;
use crate::objects::display::Kms;
use crate::presentation::shared_image::SharedImage;

/// An image that the display driver can show.
pub(super) struct Framebuffer {
    card: Arc<Card>,
    /// Its number.
    pub handle: framebuffer::Handle,
    buffer: buffer::Handle,
}

/// An image with the handle that the node gives its BO.
struct Buffer<'a>(&'a SharedImage, buffer::Handle);

impl PlanarBuffer for Buffer<'_> {
    fn size(&self) -> (u32, u32) {
        (self.0.extent.width, self.0.extent.height)
    }
    fn format(&self) -> DrmFourcc {
        self.0.format
    }
    fn modifier(&self) -> Option<DrmModifier> {
        Some(DrmModifier::from(self.0.modifier))
    }
    fn pitches(&self) -> [u32; 4] {
        [self.0.stride, 0, 0, 0]
    }
    fn handles(&self) -> [Option<buffer::Handle>; 4] {
        [Some(self.1), None, None, None]
    }
    fn offsets(&self) -> [u32; 4] {
        [self.0.offset, 0, 0, 0]
    }
}

impl Framebuffer {
    /// Of an image.
    pub fn new(card: &Arc<Card>, image: &SharedImage) -> std::io::Result<Framebuffer> {
        let buffer = card.prime_fd_to_buffer(image.fd.as_fd())?;
        let added = card.add_planar_framebuffer(&Buffer(image, buffer), FbCmd2Flags::MODIFIERS);
        let close = |_: &std::io::Error| drop(card.close_buffer(buffer));
        Ok(Framebuffer { card: card.clone(), handle: added.inspect_err(close)?, buffer })
    }
}

impl Drop for Framebuffer {
    fn drop(&mut self) {
        // Fails only for a node that is gone.
        let _ = self.card.destroy_framebuffer(self.handle);
        let _ = self.card.close_buffer(self.buffer);
    }
}

/// Which swapchain's target, and which of its images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    /// The target's number.
    pub target: u64,
    /// The image.
    pub index: u32,
}

/// A picture that was seen.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// The target's number.
    target: u64,
    picture: u64,
    /// When the screen began to show it.
    at: Duration,
}

/// What is on the screen and on its way there.
#[derive(Default)]
pub(super) struct Flips {
    /// Numbers of targets given out.
    targets: u64,
    /// What a commit put there, until its event comes: the image, and the picture's number.
    pub pending: Option<(Shown, u64)>,
    on_screen: Option<Shown>,
    /// Images that are on the screen no more, until their targets have heard of it.
    freed: Vec<Shown>,
    /// Pictures that were seen, until their targets have heard of it.
    seen: Vec<Seen>,
    /// Framebuffers of targets that ended while the screen showed them.
    kept: Vec<Framebuffer>,
}

impl Flips {
    /// A number for a target.
    pub fn number(&mut self) -> u64 {
        self.targets += 1;
        self.targets
    }

    /// The picture that was on its way is on the screen.
    fn complete(&mut self, at: Duration) {
        let Some((now, picture)) = self.pending.take() else { return };
        self.seen.push(Seen { target: now.target, picture, at });
        if let Some(before) = self.on_screen.replace(now) {
            if before != now {
                self.freed.push(before);
            }
            if before.target != now.target {
                self.kept.clear();
            }
        }
    }

    /// An image of a target that is on the screen no more.
    pub fn freed(&mut self, target: u64) -> Option<u32> {
        let place = self.freed.iter().position(|shown| shown.target == target)?;
        Some(self.freed.swap_remove(place).index)
    }

    /// A picture of a target that was seen, and since when by CLOCK_MONOTONIC.
    pub fn seen(&mut self, target: u64) -> Option<(u64, Duration)> {
        let place = self.seen.iter().position(|seen| seen.target == target)?;
        let Seen { picture, at, .. } = self.seen.remove(place);
        Some((picture, at))
    }

    /// A target ends: what the screen shows of it stays until something else is shown.
    pub fn keep(&mut self, target: u64, framebuffers: Vec<Framebuffer>) {
        let seen = [self.pending.map(|(shown, _)| shown), self.on_screen];
        let seen =
            |index: usize| seen.iter().flatten().any(|it| it.target == target && it.index as usize == index);
        self.kept
            .extend(framebuffers.into_iter().enumerate().filter(|(index, _)| seen(*index)).map(|(_, fb)| fb));
        self.freed.retain(|shown| shown.target != target);
        self.seen.retain(|seen| seen.target != target);
    }
}

/// What a CRTC showed.
struct Before {
    crtc: crtc::Info,
    connectors: Vec<connector::Handle>,
}

/// The time during which the driver decides what a screen shows.
pub(in crate::presentation) struct Session {
    /// The node of which this process is the master.
    pub(super) card: Arc<Card>,
    /// Whether it became master for this.
    owned: bool,
    before: Before,
    flips: Mutex<Flips>,
}

/// The display is somebody else's.
fn busy(path: &std::path::Path, error: &std::io::Error) -> Error {
    let why = format!(
        "{}: {error}: another program is the display's master; end it (a desktop, or another full-screen program), or \
         present to its window",
        path.display()
    );
    Error::Result(vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR, why)
}

impl Session {
    /// Takes the screen that a CRTC feeds.
    pub fn begin(kms: &Kms, connector: connector::Handle, crtc: crtc::Handle) -> Result<Arc<Session>, Error> {
        let (card, owned) = match kms.lent(connector) {
            Some(card) => (card, false),
            None => {
                let path = kms.card().path();
                // Who opens a node that has no master may become its master again later.
                let card = kms.card().reopen().map_err(|error| busy(path, &error))?;
                drm::Device::acquire_master_lock(&card).map_err(|error| busy(path, &error))?;
                (Arc::new(card), true)
            }
        };
        let before = Before::new(&card, crtc).map_err(|error| busy(card.path(), &error))?;
        Ok(Arc::new(Session { card, owned, before, flips: Mutex::default() }))
    }

    /// The CRTC.
    pub(super) fn crtc(&self) -> crtc::Handle {
        self.before.crtc.handle()
    }

    pub(super) fn flips(&self) -> MutexGuard<'_, Flips> {
        self.flips.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the events that are there: any of the session's targets may.
    pub(super) fn read_events(&self) -> std::io::Result<()> {
        let mut flips = self.flips();
        while is_readable(self.card.as_fd()) {
            for event in self.card.receive_events()? {
                if let Event::PageFlip(flip) = event {
                    if flip.crtc == self.crtc() {
                        flips.complete(flip.duration);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Whether a read would not wait.
fn is_readable(fd: BorrowedFd<'_>) -> bool {
    let mut poll = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one record, of a descriptor that is borrowed for the call.
    unsafe { libc::poll(&raw mut poll, 1, 0) == 1 && poll.revents & libc::POLLIN != 0 }
}

impl Before {
    fn new(card: &Card, crtc: crtc::Handle) -> std::io::Result<Before> {
        let mut connectors = Vec::new();
        for &handle in card.resource_handles()?.connectors() {
            let encoder = card.get_connector(handle, false)?.current_encoder();
            let fed = encoder.map(|encoder| card.get_encoder(encoder)).transpose()?;
            if fed.is_some_and(|encoder| encoder.crtc() == Some(crtc)) {
                connectors.push(handle);
            }
        }
        Ok(Before { crtc: card.get_crtc(crtc)?, connectors })
    }

    fn restore(&self, card: &Card) -> std::io::Result<()> {
        let mode: Option<Mode> = self.crtc.mode().filter(|_| self.crtc.framebuffer().is_some());
        let crtc = self.crtc.handle();
        match mode {
            Some(mode) => {
                let fb = self.crtc.framebuffer();
                card.set_crtc(crtc, fb, self.crtc.position(), &self.connectors, Some(mode))
            }
            None => card.set_crtc(crtc, None, (0, 0), &[], None),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Err(error) = self.before.restore(&self.card) {
            log::warn!(target: "vc4::wsi", "the screen's former picture does not come back: {error}");
        }
        self.flips.get_mut().unwrap_or_else(PoisonError::into_inner).kept.clear();
        if self.owned {
            self.card.resign();
        }
    }
}
