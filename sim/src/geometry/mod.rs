//! Primitives before they have pixels: assembled out of vertices, clipped, outlined on the grid of sixteenths of a
//! pixel, and the state of the draw that decides about it. The binner and the primitive setup agree on what stands
//! here.

mod assembly;
mod clip;
mod outline;
mod raster;
pub mod state;

pub use assembly::{Kind, primitive_count, primitive_vertices};
pub use clip::{Clipped, ClipperScales, Corner, NewVertex, clip};
pub use outline::{is_reverse, outline, unpack_xy, window_position};
pub use raster::{GridPoint, Rect, Shape, twice_area};
pub use state::State;
