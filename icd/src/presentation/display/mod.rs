//! Displays without a window system: the kernel's planes show the images of a swapchain as they are.

mod session;
mod target;

pub(super) use session::Session;
pub(super) use target::{Place, Planned};
