//! What a shader names of the world outside, whoever runs it: descriptors, textures, and the words of a uniform stream
//! that are taken from them.
//!
//! A room of vocabulary at the bottom: it imports nothing of this crate.

mod descriptor;
mod uniform;

pub use descriptor::{
    Descriptor, Lookup, MAX_BUFFER_BYTES, MAX_BUFFER_TEXELS, MAX_IMAGE_TEXELS, Texture, TextureValue,
};
pub use uniform::{DrawWord, UniformSlot};
