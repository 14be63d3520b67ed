//! Binning: a list's draws are shaded to positions, assembled, clipped, and put into the lists of the tiles that they
//! touch. [`bin`] takes a binning list and leaves a [`Binned`] to rendering.
//!
//! Stands on the vertices and the geometry; knows nothing of tiles' content.

mod binned;
mod early_z;
mod ptb;
mod thread;
mod tile_alloc;

pub use binned::{Binned, BinnedPrimitive, Draw, TileItem};
pub use thread::bin;
pub use tile_alloc::Overflow;
