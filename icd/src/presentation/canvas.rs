//! What pictures are shown on.

use std::sync::atomic::AtomicBool;

use ash::vk;

use super::{capture, wayland, x11};
use crate::foundation::error::Error;

/// A window, or nothing.
pub(super) enum Canvas {
    /// A window of X11.
    X11(x11::Target),
    /// A surface of Wayland.
    Wayland(Box<wayland::Target>),
    /// Nothing. The pixels are there only when somebody captures them.
    Headless(Option<Vec<u8>>),
}

impl Canvas {
    /// A canvas that shows nothing.
    pub fn headless(extent: vk::Extent2D) -> Canvas {
        let bytes = extent.width as usize * extent.height as usize * 4;
        Canvas::Headless(capture::active().map(|_| vec![0; bytes]))
    }

    /// Whether alpha would be seen through.
    pub fn has_alpha(&self) -> bool {
        matches!(self, Canvas::X11(target) if target.has_alpha())
    }

    /// Whether [`Canvas::wait`] keeps the display's pace.
    pub fn has_pace(&self) -> bool {
        matches!(self, Canvas::Wayland(_))
    }

    /// Waits until the next picture may be written; until `hurry` at most.
    pub fn wait(&mut self, hurry: &AtomicBool) -> Result<(), Error> {
        match self {
            Canvas::Wayland(target) => target.wait(hurry),
            Canvas::X11(_) | Canvas::Headless(_) => Ok(()),
        }
    }

    /// Where the next picture goes: rows without gaps, four bytes a pixel; `None` if nobody looks at it.
    pub fn pixels(&mut self) -> Option<&mut [u8]> {
        match self {
            Canvas::X11(target) => Some(target.pixels()),
            Canvas::Wayland(target) => Some(target.pixels()),
            Canvas::Headless(pixels) => pixels.as_deref_mut(),
        }
    }

    /// Shows the pixels. Answers the size that pictures should have from now on, if there is one.
    pub fn show(&mut self) -> Result<Option<vk::Extent2D>, Error> {
        match self {
            Canvas::X11(target) => target.put().map(Some),
            // Surfaces take every size.
            Canvas::Wayland(target) => target.show().map(|()| None),
            Canvas::Headless(_) => Ok(None),
        }
    }
}
