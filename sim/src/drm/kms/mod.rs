//! The display (kernel-abi.md §13.5): one connector with one encoder and one CRTC, a primary and a cursor plane, as
//! the atomic core of the kernel shows them. What is on the screen is a scene; every way of changing it makes a new
//! one. The calls that do so are `ioctl/kms`.

pub(super) mod clock;
mod compose;
pub(super) mod display;
pub(super) mod framebuffer;
pub(super) mod mode;
pub(super) mod objects;
pub(super) mod property;
pub(super) mod scene;

pub use compose::{Frame, Screen};
pub use display::Display;
pub(super) use display::{Events, Seat};
