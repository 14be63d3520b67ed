//! Descriptors, and the images that are looked at through them.

/// Texels of a view of a buffer are no more: direct lookups reach any offset.
pub const MAX_BUFFER_TEXELS: u32 = 1 << 27;

/// Bytes of a buffer that a descriptor names are no more.
pub const MAX_BUFFER_BYTES: u32 = 1 << 27;

/// Edges, layers, levels and samples of images are no more.
pub const MAX_IMAGE_TEXELS: u32 = vc4::image::tiling::MAX_EDGE;

/// A descriptor as a shader names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Descriptor {
    /// Descriptor set number.
    pub set: u32,
    /// Binding number in the set.
    pub binding: u32,
    /// Element of an arrayed binding.
    pub element: u32,
}

/// A set that no application has: what is in it is the driver's own.
const HIDDEN_SET: u32 = u32::MAX;

impl Descriptor {
    /// What a vertex stage that the CPU runs has stored, word by word and vertex by vertex (T-VARY).
    pub const OUTPUTS: Descriptor = Descriptor { set: HIDDEN_SET, binding: 0, element: 0 };
    /// Its attributes: of each vertex four words for every location that it reads, and the vertex index.
    pub const ATTRIBUTES: Descriptor = Descriptor { set: HIDDEN_SET, binding: 1, element: 0 };

    /// Whether it is the driver's own.
    pub const fn is_hidden(&self) -> bool {
        self.set == HIDDEN_SET
    }
}

/// An image and what it is looked at through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Texture {
    /// A sampled image, combined image sampler, storage image, input attachment or texel buffer.
    pub image: Descriptor,
    /// The sampler, the same descriptor for a combined one; `None` where texels are fetched by number.
    pub sampler: Option<Descriptor>,
}

impl Texture {
    /// A combined image sampler.
    pub const fn combined(image: Descriptor) -> Texture {
        Texture { image, sampler: Some(image) }
    }

    /// An image without a sampler.
    pub const fn alone(image: Descriptor) -> Texture {
        Texture { image, sampler: None }
    }
}

/// What a request to the texture unit reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lookup {
    /// The image.
    pub texture: Texture,
    /// Single texels of every level of the image, wrapped as the sampler says: the program filters. Otherwise what the
    /// sampler says of filters holds, too.
    pub texels: bool,
}

impl Lookup {
    /// A lookup through a combined image sampler that the texture unit filters.
    pub const fn combined(image: Descriptor) -> Lookup {
        Lookup { texture: Texture::combined(image), texels: false }
    }
}

/// A number that a view and a sampler have, for programs that find texels or levels themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TextureValue {
    /// f32: texels of the view's first level along axis 0 (width) or 1 (height).
    Size(u8),
    /// Integer: the same; axis 2 is the depth of a 3D view, or the layers (cubes count once) of an array.
    Extent(u8),
    /// Integer: levels of the view.
    Levels,
    /// Integer: samples per texel.
    Samples,
    /// f32: the image's level that is the view's first.
    BaseLevel,
    /// f32: the last level that a sample reaches, counted from the view's first.
    LastLevel,
    /// f32: the sampler's bias.
    LodBias,
    /// f32: smallest level of detail.
    LodMin,
    /// f32: largest level of detail.
    LodMax,
    /// f32: samples of a footprint at most.
    Anisotropy,
    /// f32: what a level of detail is moved by before it is rounded down to a level.
    MipRounding,
    /// f32: weight that the fraction of a level of detail has, 1 between levels and 0 at the nearest one.
    MipBlend,
    /// The border colour as a lookup's result: register R of a lookup (textures.md §2).
    Border,
    /// Component 0–3 of the border colour, in the texel's order and in the kind of number that the format has.
    BorderColor(u8),
    /// Integer: bytes per row of every level of an image in raster order; of a multisampled image, per row of tiles.
    Stride,
    /// Integer: twice the rows of level 0's container of an image in raster order
    /// ([`vc4::image::layout`]): level n begins at row this - (this >> n) + n.
    LevelRows,
    /// Integer: pages from one layer or slice to the next.
    LayerPages,
    /// f32: the image's layer that is the view's first, where layers are faces to the texture unit.
    BaseLayer,
    /// Integer: bytes from one plane to the next.
    PlaneBytes,
    /// Integer: pages from one panel of columns to the next ([`vc4::image::tiling::MAX_SURFACE`]).
    PanelPages,
    /// f32: texels from strip to strip, of an image that is folded.
    FoldStep,
    /// f32: strips in a texel.
    FoldStrips,
    /// f32: what a texel is along axis 0 or 1 of the texture that an image is folded into, whose edges are 0 and 1.
    FoldTexel(u8),
}

impl TextureValue {
    /// All, by number.
    pub const ALL: [TextureValue; 30] = [
        TextureValue::Size(0),
        TextureValue::Size(1),
        TextureValue::Extent(0),
        TextureValue::Extent(1),
        TextureValue::Extent(2),
        TextureValue::Levels,
        TextureValue::Samples,
        TextureValue::BaseLevel,
        TextureValue::LastLevel,
        TextureValue::LodBias,
        TextureValue::LodMin,
        TextureValue::LodMax,
        TextureValue::Anisotropy,
        TextureValue::MipRounding,
        TextureValue::MipBlend,
        TextureValue::Border,
        TextureValue::BorderColor(0),
        TextureValue::BorderColor(1),
        TextureValue::BorderColor(2),
        TextureValue::BorderColor(3),
        TextureValue::Stride,
        TextureValue::LevelRows,
        TextureValue::LayerPages,
        TextureValue::BaseLayer,
        TextureValue::PlaneBytes,
        TextureValue::PanelPages,
        TextureValue::FoldStep,
        TextureValue::FoldStrips,
        TextureValue::FoldTexel(0),
        TextureValue::FoldTexel(1),
    ];

    /// Its name behind `tex.` in text.
    pub const fn name(self) -> &'static str {
        match self {
            TextureValue::Size(0) => "width",
            TextureValue::Size(_) => "height",
            TextureValue::Extent(0) => "extent.x",
            TextureValue::Extent(1) => "extent.y",
            TextureValue::Extent(_) => "extent.z",
            TextureValue::Levels => "levels",
            TextureValue::Samples => "samples",
            TextureValue::BaseLevel => "level.base",
            TextureValue::LastLevel => "level.last",
            TextureValue::LodBias => "lod.bias",
            TextureValue::LodMin => "lod.min",
            TextureValue::LodMax => "lod.max",
            TextureValue::Anisotropy => "anisotropy",
            TextureValue::MipRounding => "mip.rounding",
            TextureValue::MipBlend => "mip.blend",
            TextureValue::Border => "border",
            TextureValue::BorderColor(0) => "border.r",
            TextureValue::BorderColor(1) => "border.g",
            TextureValue::BorderColor(2) => "border.b",
            TextureValue::BorderColor(_) => "border.a",
            TextureValue::Stride => "stride",
            TextureValue::LevelRows => "level.rows",
            TextureValue::LayerPages => "layer.pages",
            TextureValue::BaseLayer => "layer.base",
            TextureValue::PlaneBytes => "plane.bytes",
            TextureValue::PanelPages => "panel.pages",
            TextureValue::FoldStep => "fold.step",
            TextureValue::FoldStrips => "fold.strips",
            TextureValue::FoldTexel(0) => "fold.texel.x",
            TextureValue::FoldTexel(_) => "fold.texel.y",
        }
    }
}
