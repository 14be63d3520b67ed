//! Presentation: surfaces, swapchains and what shows their pictures.
//!
//! A present's way: vkQueuePresentKHR makes a [`Present`] per swapchain, the queue hands it over in its
//! turn, and the swapchain's own thread waits for the GPU, keeps the pace and shows the picture. So
//! neither the application nor the queue waits for a display.
//!
//! A back end (`backend`) shows pictures in one of two ways. *Native* ones hand the images themselves on, as dma-bufs that
//! say how pixels lie in them; the CPU touches no pixel, and an image comes back when the display has no use for it any more.
//! *Host* ones have memory that the X server or the Wayland compositor shares (or requests), into which the present thread copies
//! the rows of an image, which lies in raster order if nothing but drawing is done with it: write-combined memory is slow to
//! read, but slower in pieces of tiles.

mod backend;
mod bell;
mod capture;
mod choice;
mod copying;
mod display;
mod foreign;
mod frame;
mod headless;
mod pool;
mod presenter;
mod shared_image;
mod shm;
mod surface;
mod swapchain;
#[cfg(test)]
pub(crate) mod tests;
mod timing;
mod wayland;
mod x11;

pub use pool::Fit;
pub use surface::{Surface, wayland_presents, xcb_presents, xlib_presents};
pub use swapchain::{Acquired, Handling, Present, Swapchain};
pub use timing::Tags;
