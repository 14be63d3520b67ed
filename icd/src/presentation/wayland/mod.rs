//! Wayland: the application's display, borrowed, with an event queue of our own, so that no event of ours reaches the
//! application and none of its events is taken from it. libwayland may be used from any thread.

mod alias;
mod connection;
mod dmabuf;
mod state;
mod target;
#[cfg(test)]
mod tests;

pub(super) use connection::Connection;
pub(super) use target::{Manner, Planned, Target};
