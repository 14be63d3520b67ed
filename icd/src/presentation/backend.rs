//! What shows the pictures of a swapchain: one interface, and two kinds of storage for pictures on their way.

use std::time::Duration;

use ash::vk;

use super::bell::Bell;
use super::frame::Frame;
use super::shared_image::SharedImage;
use super::timing::Sight;
use crate::foundation::error::Error;

/// Where pictures are on their way to the screen.
#[derive(Debug)]
pub(super) enum Storage<'a> {
    /// In memory that the presenter copies them into: rows without gaps, four bytes a pixel. `None` if nobody looks at them.
    Host(Option<&'a mut [u8]>),
    /// Where they were drawn: the image is the display's until that gives it back.
    Native,
}

/// What a back end has to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// An image of the swapchain is on no screen any more.
    Free(u32),
    /// Pictures should have this size from now on.
    Extent(vk::Extent2D),
    /// Another swapchain would be shown with less work.
    Suboptimal,
    /// The picture with this number had its turn: it was seen, or another one came before anybody saw it.
    Turn(u64, Option<Sight>),
}

/// Shows pictures on a window, a screen or nothing. Its calls come from one thread, the presenter's.
pub(super) trait Backend: Send {
    /// Where the next picture is to be. Of host storage, only once [`Backend::is_ready`] holds.
    fn storage(&mut self) -> Storage<'_>;

    /// The way that pictures go, for people.
    fn path(&self) -> String;

    /// Whether alpha in host storage would be seen through.
    fn has_alpha(&self) -> bool {
        false
    }

    /// Whether [`Backend::is_ready`] keeps the display's pace.
    fn has_pace(&self) -> bool {
        false
    }

    /// Whether it tells by [`News::Turn`] that pictures had their turn. Otherwise they have it as soon as they are shown.
    fn tells_turns(&self) -> bool {
        false
    }

    /// Whether the window may be touched only while the application presents. Toolkits on Wayland destroy surfaces as soon as no
    /// present is on its way, whatever swapchains they still have (Qt does), and requests for these read memory that is gone.
    fn is_tied(&self) -> bool {
        false
    }

    /// Whether who reads its images waits for the jobs that draw them.
    fn is_waited_for(&self) -> bool {
        false
    }

    /// Whether it hands on sync files of pictures that are not complete.
    fn takes_fences(&self) -> bool {
        false
    }

    /// Whether the next picture may be shown; in a hurry, nothing but what must not be done yet is waited for.
    fn is_ready(&mut self, _hurry: bool) -> bool {
        true
    }

    /// Shows a picture: what is in host storage, or an image. Whether it did, or left it out.
    fn show(&mut self, frame: Frame) -> Result<bool, Error>;

    /// What happened since it was asked last.
    fn news(&mut self) -> Option<News>;

    /// Waits until something happens, the bell rings or the time is over.
    fn wait(&mut self, bell: &Bell, limit: Option<Duration>) -> Result<(), Error> {
        bell.wait(limit);
        Ok(())
    }
}

/// A back end that is still to get the images of its swapchain.
pub(super) trait Native {
    /// The layouts that it can show images of the swapchain's format in, by their DRM modifiers.
    fn modifiers(&self) -> &[u64];

    /// The size that pictures should have, where that is not the swapchain's to say.
    fn extent(&self) -> Option<vk::Extent2D> {
        None
    }

    /// Takes the images.
    fn take(self: Box<Self>, images: &[SharedImage]) -> Result<Box<dyn Backend>, Error>;
}
