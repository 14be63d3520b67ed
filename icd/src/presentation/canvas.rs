//! What pictures are shown on.

use ash::vk;

use super::capture;
use super::x11::Target;
use crate::foundation::error::Error;

/// A window, or nothing.
pub(super) enum Canvas {
    /// A window.
    X11(Target),
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

    /// Where the next picture goes: rows without gaps, four bytes a pixel; `None` if nobody looks at it.
    pub fn pixels(&mut self) -> Option<&mut [u8]> {
        match self {
            Canvas::X11(target) => Some(target.pixels()),
            Canvas::Headless(pixels) => pixels.as_deref_mut(),
        }
    }

    /// Shows the pixels. Answers the size that pictures should have from now on, if there is one.
    pub fn show(&mut self) -> Result<Option<vk::Extent2D>, Error> {
        match self {
            Canvas::X11(target) => target.put().map(Some),
            Canvas::Headless(_) => Ok(None),
        }
    }
}
