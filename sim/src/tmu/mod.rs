//! The texture and memory unit: requests, configuration words and the result FIFO (qpu.md §4.5, §4.6;
//! textures.md §1, §2). Configuration words become a texture, coordinates its texels, texels samples.

mod etc1;
mod fault;
mod lod;
mod picture;
mod sample;
#[cfg(test)]
mod tests;
mod texel;
mod texture;
mod together;
mod trace;
mod unit;

pub use fault::TmuFault;
pub use picture::TexturePicture;
pub use unit::{Tmu, place};
