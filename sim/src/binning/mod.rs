//! Binning: the draws of a list are shaded to positions, assembled, clipped, and put into the lists of the tiles that
//! they touch.

mod ptb;
mod tile_alloc;

pub use ptb::{Binned, BinnedPrimitive, Decoded, Draw, Indices, Ptb, TileItem};
pub use tile_alloc::{Group, Overflow, TileAlloc};
