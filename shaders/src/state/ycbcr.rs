//! Samplers that convert Y'CBCR: what of them becomes code.

use std::collections::BTreeMap;

use vc4::state::ycbcr::{ChromaLocation, Conversion};

use super::texture::TextureSwizzle;
use crate::binding::Texture;

/// The conversions of a pipeline's samplers, which set layouts fix: by the texture that shaders name, which is the image's first
/// plane to everything behind the conversion.
pub type Conversions = BTreeMap<Texture, YcbcrKey>;

/// The planes behind the first one, each a texture of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChromaPlanes {
    /// One with CB in red and CR in green.
    Together(Texture),
    /// One for each.
    Apart {
        /// CB, in red.
        blue: Texture,
        /// CR, in red.
        red: Texture,
    },
}

/// A sampler's conversion and the planes of the images that it is for.
///
/// Each plane is filtered by itself, as implicit reconstruction wants it: the first as the sampler says, the others by the chroma
/// filter, with edges clamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct YcbcrKey {
    /// Where CB and CR are.
    pub chroma: ChromaPlanes,
    /// Where chroma texels lie along the axes on which there are half as many as of luma.
    pub location: [Option<ChromaLocation>; 2],
    /// What of the image's colour is in front of the conversion.
    pub swizzle: [TextureSwizzle; 4],
    /// Range and model.
    pub conversion: Conversion,
}
