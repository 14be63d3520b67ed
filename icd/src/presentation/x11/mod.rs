//! X11: windows on the application's connection.
//!
//! Where the server takes images as they are (DRI3 and Present), nobody copies a pixel; elsewhere pictures are put into the window.

mod connection;
mod events;
mod present;
mod put;
#[cfg(test)]
mod tests;

pub(super) use connection::Connection;
pub(super) use present::Planned;
pub(super) use put::Target;
