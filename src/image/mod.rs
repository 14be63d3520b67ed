//! Where texels lie in memory and what the chip can do with them (manual: textures.md).
//!
//! [`tiling`] maps the coordinates of one level to byte offsets and copies rectangles, [`layout`] places the
//! levels, faces and samples of a whole image, [`mod@format`] is the table of texel formats,
//! and [`surface`] makes the words by which a submission describes its targets.

pub mod format;
pub mod layout;
pub mod surface;
pub mod tiling;

pub use format::{Decode, Format, FormatInfo, TileFormat};
pub use layout::{ImageLayout, ImageShape, LayoutError, MsaaLayout};
pub use tiling::{CopyError, Level, Rect, Tiling};
