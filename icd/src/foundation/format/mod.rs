//! VkFormat: what the driver offers, how images hold it, and what can be done with it.
//!
//! Adding a format: a row in `table`; if the chip has no such texel format, a row in `vc4::image::format`
//! first. What the bits of a colour mean is read from the format's name, and features follow from how images hold
//! its texels: they appear only when the whole way works, compiler, draw building and copies.

mod decode;
mod modifiers;
mod planes;
mod query;
mod table;
mod vertex;

pub use decode::{swizzled, texture_decode};
pub use modifiers::{MODIFIERS, memory_planes, modifier_features, modifier_features2};
pub use planes::{Plane, plane_of};
pub use query::ImageQuery;
pub use table::{FormatRow, Storage, Stored, WIDENED, buffer_features, features2, properties, row};
