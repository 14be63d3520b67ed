//! Rendering: [`segments`] reads a render list; [`run`] sets the primitives of each tile's list up, finds the quads that
//! they cover, shades those against the tile buffer, and loads and stores tiles, many tiles at once.
//!
//! Stands on what binning left, the vertices and the QPU.

mod batch;
mod early_z;
mod fragment;
mod ports;
mod pse;
mod segment;
mod surface;
mod thread;
mod tiles;
pub mod tlb;

pub use segment::{Segment, Step, Target};
pub use surface::{Pixels, Surface};
pub use thread::segments;
pub use tiles::run;
