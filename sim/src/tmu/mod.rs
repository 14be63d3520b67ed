//! The texture and memory unit: requests, configuration words and the result FIFO (qpu.md §4.5, §4.6;
//! textures.md §1, §2).

mod etc1;
mod picture;
mod sample;
#[cfg(test)]
mod tests;
mod texel;
mod texture;
mod trace;
mod unit;

pub use picture::TexturePicture;
pub use unit::{Tmu, TmuFault, UNVERIFIED};
