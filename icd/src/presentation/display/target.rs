//! A plane as a swapchain draws to it.

use std::collections::HashMap;
use std::io::{Error as IoError, ErrorKind};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::time::Duration;

use ash::vk;
use drm::control::atomic::AtomicModeReq;
use drm::control::{
    AtomicCommitFlags, Device as _, Mode, ModeFlags, PageFlipFlags, RawResourceHandle, connector, plane,
    property,
};

use super::session::{Framebuffer, Session, Shown};
use crate::foundation::error::Error;
use crate::presentation::backend::{Backend, Native, News, Storage};
use crate::presentation::bell::{Bell, poll};
use crate::presentation::frame::Frame;
use crate::presentation::shared_image::SharedImage;
use crate::presentation::timing::Sight;

/// How often a target looks for events that another one of its session has read.
const LOOK: Duration = Duration::from_millis(20);

/// Where pictures are to be seen.
#[derive(Clone, Copy, Debug)]
pub(in crate::presentation) struct Place {
    /// The display.
    pub connector: connector::Handle,
    /// The plane, of the session's CRTC.
    pub plane: plane::Handle,
    /// How the display is driven.
    pub mode: Mode,
}

/// A plane that still is to get its images.
pub(in crate::presentation) struct Planned {
    /// The session that the plane's CRTC is in.
    pub session: Arc<Session>,
    /// Where.
    pub place: Place,
    /// Layouts that the plane shows.
    pub modifiers: Vec<u64>,
    /// As swapchains say it.
    pub mode: vk::PresentModeKHR,
}

/// Numbers of an object's properties by their names.
struct Properties(RawResourceHandle, HashMap<String, property::Info>);

impl Properties {
    fn set(&self, request: &mut AtomicModeReq, name: &str, value: u64) -> std::io::Result<()> {
        let missing = || IoError::new(ErrorKind::Unsupported, format!("no property {name}"));
        request.add_raw_property(self.0, self.1.get(name).ok_or_else(missing)?.handle(), value);
        Ok(())
    }
}

struct Target {
    session: Arc<Session>,
    place: Place,
    framebuffers: Vec<Framebuffer>,
    extent: vk::Extent2D,
    layout: &'static str,
    plane: Properties,
    crtc: Properties,
    connector: Properties,
    number: u64,
    tears: bool,
    /// Whether the display is driven as this target wants it.
    set_up: bool,
}

impl Native for Planned {
    fn modifiers(&self) -> &[u64] {
        &self.modifiers
    }

    fn take(self: Box<Self>, images: &[SharedImage]) -> Result<Box<dyn Backend>, Error> {
        let extent = images.first().map(|image| image.extent).unwrap_or_default();
        let target = Target::new(*self, images).and_then(|target| target.try_out().map(|()| target));
        let target = target.map_err(|error| {
            let why = format!("the plane does not show {} x {} pixels: {error}", extent.width, extent.height);
            Error::Result(vk::Result::ERROR_INITIALIZATION_FAILED, why)
        })?;
        Ok(Box::new(target))
    }
}

impl Target {
    fn new(planned: Planned, images: &[SharedImage]) -> std::io::Result<Target> {
        let Planned { session, place, mode, .. } = planned;
        let card = session.card.clone();
        let framebuffers = images.iter().map(|image| Framebuffer::new(&card, image));
        let framebuffers = framebuffers.collect::<std::io::Result<Vec<_>>>()?;
        let number = session.flips().number();
        Ok(Target {
            framebuffers,
            extent: images.first().map(|image| image.extent).unwrap_or_default(),
            layout: images.first().map_or("none", SharedImage::layout),
            plane: Properties(place.plane.into(), card.get_properties(place.plane)?.as_hashmap(&*card)?),
            crtc: Properties(session.crtc().into(), card.get_properties(session.crtc())?.as_hashmap(&*card)?),
            connector: Properties(
                place.connector.into(),
                card.get_properties(place.connector)?.as_hashmap(&*card)?,
            ),
            number,
            tears: mode == vk::PresentModeKHR::IMMEDIATE,
            set_up: false,
            session,
            place,
        })
    }

    /// All that the display has to be told once. The blob of the mode is the caller's to destroy.
    fn set_up(&self, request: &mut AtomicModeReq, blob: u64) -> std::io::Result<()> {
        let (width, height) = self.place.mode.size();
        let crtc = u64::from(u32::from(self.session.crtc()));
        self.connector.set(request, "CRTC_ID", crtc)?;
        self.crtc.set(request, "MODE_ID", blob)?;
        self.crtc.set(request, "ACTIVE", 1)?;
        let sides = [
            ("CRTC_ID", crtc),
            ("CRTC_X", 0),
            ("CRTC_Y", 0),
            ("CRTC_W", width.into()),
            ("CRTC_H", height.into()),
            ("SRC_X", 0),
            ("SRC_Y", 0),
            ("SRC_W", u64::from(self.extent.width) << 16),
            ("SRC_H", u64::from(self.extent.height) << 16),
        ];
        sides.into_iter().try_for_each(|(name, value)| self.plane.set(request, name, value))
    }

    /// Shows an image, or asks only whether that would do.
    fn commit(&self, index: u32, frame: Option<&Frame>) -> std::io::Result<()> {
        let card = &*self.session.card;
        let mut request = AtomicModeReq::new();
        let fb = self.framebuffers.get(index as usize).ok_or(ErrorKind::InvalidInput)?;
        self.plane.set(&mut request, "FB_ID", u32::from(fb.handle).into())?;
        if let Some(fence) = frame.and_then(|frame| frame.fence.as_ref()) {
            self.plane.set(&mut request, "IN_FENCE_FD", fence.as_raw_fd() as u64)?;
        }
        let mut flags = match frame {
            Some(_) => AtomicCommitFlags::PAGE_FLIP_EVENT,
            None => AtomicCommitFlags::TEST_ONLY,
        };
        if self.set_up {
            return card.atomic_commit(flags | AtomicCommitFlags::NONBLOCK, request);
        }
        // Waits for what somebody else may have begun.
        flags |= AtomicCommitFlags::ALLOW_MODESET;
        let blob = u64::from(card.create_property_blob(&self.place.mode)?);
        let done = self.set_up(&mut request, blob).and_then(|()| card.atomic_commit(flags, request));
        // What shows it keeps it.
        card.destroy_property_blob(blob)?;
        done
    }

    /// Asks the driver whether it can show the images.
    fn try_out(&self) -> std::io::Result<()> {
        self.commit(0, None)
    }

    fn flip(&mut self, frame: &Frame) -> std::io::Result<()> {
        let Some(fb) = self.framebuffers.get(frame.index as usize).filter(|_| self.tears && self.set_up)
        else {
            return self.commit(frame.index, Some(frame));
        };
        // The kernel waits for the jobs of the image by itself.
        let flags = PageFlipFlags::EVENT | PageFlipFlags::ASYNC;
        self.session.card.page_flip(self.session.crtc(), fb.handle, flags, None)
    }
}

/// Nanoseconds between two refreshes, exactly as the mode has it.
fn refresh_ns(mode: &Mode) -> Option<u64> {
    let lines = u64::from(mode.vsync().2);
    // A picture is seen from any of its two fields on.
    let lines = if mode.flags().contains(ModeFlags::INTERLACE) { lines / 2 } else { lines };
    let lines = if mode.flags().contains(ModeFlags::DBLSCAN) { lines * 2 } else { lines };
    // The clock is in kHz.
    (u64::from(mode.hsync().2) * lines * 1_000_000).checked_div(mode.clock().into())
}

/// The screen is lost: unplugged, or another program became master.
fn lost(error: &IoError) -> Error {
    Error::Result(vk::Result::ERROR_SURFACE_LOST_KHR, format!("the display: {error}"))
}

impl Backend for Target {
    fn storage(&mut self) -> Storage<'_> {
        Storage::Native
    }

    fn path(&self) -> String {
        format!("display, images shown as they are ({})", self.layout)
    }

    fn has_pace(&self) -> bool {
        true
    }

    fn tells_turns(&self) -> bool {
        true
    }

    fn takes_fences(&self) -> bool {
        true
    }

    fn is_ready(&mut self, _: bool) -> bool {
        self.session.flips().pending.is_none()
    }

    fn show(&mut self, frame: Frame) -> Result<bool, Error> {
        // Its event may come before this call is back: nobody reads it meanwhile.
        let session = self.session.clone();
        let mut flips = session.flips();
        self.flip(&frame).map_err(|error| lost(&error))?;
        flips.pending = Some((Shown { target: self.number, index: frame.index }, frame.number));
        self.set_up = true;
        Ok(true)
    }

    fn news(&mut self) -> Option<News> {
        let mut flips = self.session.flips();
        if let Some(index) = flips.freed(self.number) {
            return Some(News::Free(index));
        }
        let (picture, at) = flips.seen(self.number)?;
        let at = u64::try_from(at.as_nanos()).ok();
        Some(News::Turn(picture, Some(Sight { at, refresh: refresh_ns(&self.place.mode) })))
    }

    fn wait(&mut self, bell: &Bell, limit: Option<Duration>) -> Result<(), Error> {
        let expects = self.session.flips().pending.is_some();
        let limit = if expects { Some(limit.map_or(LOOK, |limit| limit.min(LOOK))) } else { limit };
        poll([self.session.card.as_fd(), bell.fd()], limit);
        self.session.read_events().map_err(|error| lost(&error))
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let framebuffers = std::mem::take(&mut self.framebuffers);
        self.session.flips().keep(self.number, framebuffers);
    }
}
