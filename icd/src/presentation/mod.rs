//! Presentation: surfaces, swapchains and what shows their pictures.
//!
//! A present's way: vkQueuePresentKHR makes a [`Present`] per swapchain, the queue hands it over in its
//! turn, and the swapchain's own thread waits for the GPU, keeps the pace and shows the picture. So
//! neither the application nor the queue waits for a display.
//!
//! Pictures travel by the CPU: rows of swapchain images, in raster order if nothing else is done with them, are copied into memory
//! that the X server or the Wayland compositor shares (or into requests).

mod canvas;
mod capture;
mod foreign;
mod pool;
mod presenter;
mod shm;
mod surface;
mod swapchain;
#[cfg(test)]
mod tests;
mod wayland;
mod x11;

pub use surface::{Surface, wayland_presents, xcb_presents, xlib_presents};
pub use swapchain::{Acquired, Present, Swapchain};
