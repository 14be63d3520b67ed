//! What the image operations name: shapes, levels of detail, and which arguments follow from them.

pub use spirv::ImageFormat;

use crate::binding::{Descriptor, Texture};

/// Shape of an image, without its layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageDim {
    /// One-dimensional.
    D1,
    /// Two-dimensional.
    D2,
    /// Three-dimensional.
    D3,
    /// Cube map.
    Cube,
    /// Texels of a buffer.
    Buffer,
}

impl ImageDim {
    /// Number of coordinates of a sample, without the layer.
    pub const fn coordinates(self) -> usize {
        match self {
            ImageDim::D1 | ImageDim::Buffer => 1,
            ImageDim::D2 => 2,
            ImageDim::D3 | ImageDim::Cube => 3,
        }
    }

    /// Number of axes that a level has: faces of a cube have two.
    pub const fn axes(self) -> usize {
        match self {
            ImageDim::Cube => 2,
            dim => dim.coordinates(),
        }
    }
}

/// How a sample operation's level of detail is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lod {
    /// From derivatives.
    Auto,
    /// From derivatives plus an argument.
    Bias,
    /// An argument.
    Explicit,
    /// From given derivatives: by x of every coordinate, then by y.
    Grad,
}

impl Lod {
    /// Whether it depends on the other elements of the quad.
    pub const fn is_implicit(self) -> bool {
        matches!(self, Lod::Auto | Lod::Bias)
    }
}

/// Samples that an anisotropic one is made of at most.
pub const MAX_TAPS: u32 = 16;

/// A sample operation. Its arguments are the coordinates, the layer of an array, what the level of detail takes, the
/// integer offset along every axis, and the reference of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sample {
    /// Image and sampler.
    pub texture: Texture,
    /// Shape.
    pub dim: ImageDim,
    /// Array of layers.
    pub arrayed: bool,
    /// LOD mode.
    pub lod: Lod,
    /// Moved by texels.
    pub offset: bool,
    /// Compared with a reference.
    pub compare: bool,
}

impl Sample {
    /// A sample of a combined image sampler that has neither layers, offset nor comparison.
    pub const fn plain(image: Descriptor, dim: ImageDim, lod: Lod) -> Sample {
        let texture = Texture::combined(image);
        Sample { texture, dim, arrayed: false, lod, offset: false, compare: false }
    }

    /// Coordinates with the layer.
    pub const fn coordinates(&self) -> usize {
        self.dim.coordinates() + self.arrayed as usize
    }

    /// Arguments of the level of detail.
    pub const fn lod_arguments(&self) -> usize {
        match self.lod {
            Lod::Auto => 0,
            Lod::Bias | Lod::Explicit => 1,
            Lod::Grad => 2 * self.dim.coordinates(),
        }
    }

    /// All arguments.
    pub const fn arguments(&self) -> usize {
        let offset = if self.offset { self.dim.axes() } else { 0 };
        self.coordinates() + self.lod_arguments() + offset + self.compare as usize
    }

    /// Results.
    pub const fn results(&self) -> usize {
        if self.compare { 1 } else { 4 }
    }
}

/// A fetch operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fetch {
    /// The image.
    pub image: Descriptor,
    /// Shape; cubes are fetched as arrays of faces.
    pub dim: ImageDim,
    /// Array of layers.
    pub arrayed: bool,
    /// Moved by texels.
    pub offset: bool,
}

impl Fetch {
    /// A fetch from an image that has neither layers nor offset.
    pub const fn plain(image: Descriptor, dim: ImageDim) -> Fetch {
        Fetch { image, dim, arrayed: false, offset: false }
    }

    /// Arguments in front of the level.
    pub const fn coordinates(&self) -> usize {
        self.dim.coordinates() + self.arrayed as usize
    }

    /// All arguments.
    pub const fn arguments(&self) -> usize {
        self.coordinates() + 1 + if self.offset { self.dim.axes() } else { 0 }
    }
}

/// What a lookup's register R holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TmuR {
    /// Nothing: it is not written.
    None,
    /// The third component of a cube's direction.
    Cube,
    /// The border colour of a two-dimensional texture.
    Border,
}

/// A read, write or atomic operation on single texels of a storage image or texel buffer. Arguments begin with the integer
/// coordinates and the layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Texel {
    /// The image.
    pub image: Descriptor,
    /// Shape; cubes are arrays of faces.
    pub dim: ImageDim,
    /// Array of layers.
    pub arrayed: bool,
    /// The sample's number follows the coordinates.
    pub multisampled: bool,
    /// What the shader says of its texels; `Unknown` leaves it to whoever binds the image.
    pub format: ImageFormat,
}

impl Texel {
    /// Texels of an image that has neither layers nor samples, of whatever format.
    pub const fn plain(image: Descriptor, dim: ImageDim) -> Texel {
        Texel { image, dim, arrayed: false, multisampled: false, format: ImageFormat::Unknown }
    }

    /// Coordinates with the layer and the sample.
    pub const fn coordinates(&self) -> usize {
        let dim = match self.dim {
            ImageDim::Cube => 3,
            dim => dim.coordinates() + self.arrayed as usize,
        };
        dim + self.multisampled as usize
    }
}
