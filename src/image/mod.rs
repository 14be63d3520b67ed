//! Where texels lie in memory and what the chip can do with them (manual: textures.md).
//!
//! [`tiling`] maps the coordinates of one level to byte offsets and copies rectangles, [`layout`] places the
//! levels, faces and samples of a whole image, [`mod@format`] is the table of texel formats,
//! [`texel`] packs and unpacks the API's texels, [`etc2`] decodes compressed ones,
//! and [`surface`] makes the words by which a submission describes its targets.

mod component;
mod error;
pub mod etc2;
pub mod format;
pub mod layout;
pub mod surface;
pub mod texel;
pub mod tiling;

pub use component::{ColorKind, Field};
pub use error::LayoutError;
pub use format::{Decode, Format, FormatInfo, TileFormat};
pub use layout::{ImageLayout, ImageShape, MsaaLayout};
pub use texel::TexelInfo;
pub use tiling::{CopyError, Level, Rect, Tiling};
