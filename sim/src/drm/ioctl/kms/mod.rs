//! Calls of the display. All ways of changing the screen go through `commit.rs`.

mod atomic;
mod commit;
mod framebuffer;
mod legacy;
mod master;
mod property;
mod query;
mod vblank;
