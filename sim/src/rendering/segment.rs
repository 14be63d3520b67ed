//! What a render list asks of the tile buffer, in segments that do not depend on each other.

use super::surface::Surface;
use super::tlb::ClearValues;

/// What a load or store moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A buffer of the tile, from or to its place in an image; the flag asks for averaged samples.
    Image(Surface, bool),
    /// All samples of a buffer (depth and stencil if set), from or to a block of its own.
    Block {
        /// Depth and stencil, not colour.
        zs: bool,
        /// Bus address of the block.
        address: u32,
    },
}

/// A step of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Fills the tile buffer, in part.
    Load(Target),
    /// Draws a tile list, by its number.
    List(usize),
    /// Stores the tile buffer, in part.
    Store(Target),
    /// Clears colour, then depth and stencil, to these values.
    Clear(Option<u32>, Option<u32>),
}

/// The steps from one complete clear of the tile buffer to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Content of the tile buffer at the start.
    pub initial: ClearValues,
    /// Tile mode.
    pub multisample: bool,
    /// Steps with the tile coordinates in force.
    pub steps: Vec<((u8, u8), Step)>,
}
