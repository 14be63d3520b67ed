//! No window at all. The pixels are there only when somebody captures them.

use ash::vk;

use super::backend::{Backend, News, Storage};
use super::capture;
use super::frame::Frame;
use crate::foundation::error::Error;

/// Shows nothing.
pub(super) struct Target(Option<Vec<u8>>);

impl Target {
    /// For pictures of `extent`.
    pub fn new(extent: vk::Extent2D) -> Target {
        let bytes = extent.width as usize * extent.height as usize * 4;
        Target(capture::active().map(|_| vec![0; bytes]))
    }
}

impl Backend for Target {
    fn storage(&mut self) -> Storage<'_> {
        Storage::Host(self.0.as_deref_mut())
    }

    fn path(&self) -> String {
        "no window".into()
    }

    fn show(&mut self, _: Frame) -> Result<bool, Error> {
        Ok(true)
    }

    fn news(&mut self) -> Option<News> {
        None
    }
}
