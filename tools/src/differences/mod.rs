//! A surface that a device left and the simulator leaves otherwise: where, by pixel and tile; on which assumptions it rests; and
//! which instruction makes the difference.
//!
//! [`place`] draws the surface again on machines that behave otherwise, [`suspects`] looks for one that draws what was seen, and
//! [`instruction`] says where the two part.

mod instruction;
mod place;
mod suspects;

pub use place::Place;
pub use suspects::Suspects;
