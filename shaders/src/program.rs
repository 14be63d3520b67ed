//! What the compiler hands to the driver: code, and what each word of its uniform stream is.

use std::fmt::{self, Display, Formatter};

use vc4::state::StateUniform;

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
    /// f32: what a level of detail is moved by before it is rounded down to a level.
    MipRounding,
    /// f32: weight that the fraction of a level of detail has, 1 between levels and 0 at the nearest one.
    MipBlend,
    /// The border colour as a lookup's result: register R of a lookup (textures.md §2).
    Border,
    /// Red, green and blue of the border colour, in the kind of number that the format has.
    BorderColor,
    /// Alpha of the border colour.
    BorderAlpha,
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
}

impl TextureValue {
    /// All, by number.
    pub const ALL: [TextureValue; 22] = [
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
        TextureValue::MipRounding,
        TextureValue::MipBlend,
        TextureValue::Border,
        TextureValue::BorderColor,
        TextureValue::BorderAlpha,
        TextureValue::Stride,
        TextureValue::LevelRows,
        TextureValue::LayerPages,
        TextureValue::BaseLayer,
        TextureValue::PlaneBytes,
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
            TextureValue::MipRounding => "mip.rounding",
            TextureValue::MipBlend => "mip.blend",
            TextureValue::Border => "border",
            TextureValue::BorderColor => "border.rgb",
            TextureValue::BorderAlpha => "border.a",
            TextureValue::Stride => "stride",
            TextureValue::LevelRows => "level.rows",
            TextureValue::LayerPages => "layer.pages",
            TextureValue::BaseLayer => "layer.base",
            TextureValue::PlaneBytes => "plane.bytes",
        }
    }
}

/// What one word of a uniform stream is. The driver resolves these when a draw is built
/// (constants, state) or when its segment runs (buffer contents).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UniformSlot {
    /// A constant.
    Const(u32),
    /// A word that pipeline state defines.
    State(StateUniform),
    /// The push-constant word at this byte offset.
    Push(u32),
    /// The word at byte `offset` of a uniform buffer, read when the segment runs.
    Ubo {
        /// The buffer.
        buffer: Descriptor,
        /// Byte offset in the bound range.
        offset: u32,
    },
    /// Elements of `stride` bytes that a storage buffer's bound range has from byte `offset` on.
    BufferElements {
        /// The buffer.
        buffer: Descriptor,
        /// Where the elements begin.
        offset: u32,
        /// Bytes per element, not 0.
        stride: u32,
    },
    /// Start of what a direct lookup reads - a buffer's bound range, a texel view, an image -: the stream word is the
    /// byte offset in the BO, the kernel adds the BO's address (qpu.md §5.3).
    UboBase {
        /// The buffer.
        buffer: Descriptor,
        /// Byte in it that the lookup begins at; where it has fewer, its last word.
        offset: u32,
    },
    /// Largest offset that a direct lookup may add to [`UniformSlot::UboBase`]: its bytes - 4 - the largest `offset`.
    UboLimit {
        /// The buffer.
        buffer: Descriptor,
        /// Largest `offset` of the lookups.
        last: u32,
    },
    /// Texture configuration word 0 of a sampled image; the kernel adds the BO's address.
    TextureP0(Lookup),
    /// Texture configuration word 1.
    TextureP1(Lookup),
    /// Texture configuration word 2: cube stride, and explicit LOD when `explicit_lod`.
    TextureP2 {
        /// The lookup.
        lookup: Lookup,
        /// Bit 0 (BSLOD): register B replaces the automatic LOD.
        explicit_lod: bool,
    },
    /// A number of a texture.
    Texture {
        /// The texture.
        texture: Texture,
        /// Which.
        value: TextureValue,
    },
    /// Value to add to the fetched index to get gl_VertexIndex (T-VID).
    VertexIndexBias,
    /// gl_InstanceIndex of the draw (T-INST a).
    InstanceIndex,
    /// Raw word `word` of an instance-rate attribute (T-INST a).
    InstanceAttribute {
        /// Vertex input location.
        location: u32,
        /// Word of the attribute, 0–3.
        word: u8,
    },
    /// Address of the stream itself, filled by the kernel (uniform reset, qpu.md §5.3).
    StreamAddress,
}

/// The name of the word in assembly text, as `.uniform` takes it: `ubo[SET][BINDING][BYTE]`, `viewport.x.scale`, ….
impl Display for UniformSlot {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            UniformSlot::Const(word) => write!(f, "const[{word:#010x}]"),
            UniformSlot::State(state) => write_state(f, state),
            UniformSlot::Push(offset) => write!(f, "push[{offset}]"),
            UniformSlot::Ubo { buffer: Descriptor { set, binding, element: 0 }, offset } => {
                write!(f, "ubo[{set}][{binding}][{offset}]")
            }
            UniformSlot::Ubo { buffer: Descriptor { set, binding, element }, offset } => {
                write!(f, "ubo[{set}][{binding}][{offset}][{element}]")
            }
            UniformSlot::UboBase { buffer, offset } => {
                write!(f, "ubo.base{}{}", Index(buffer), Distance('+', offset))
            }
            UniformSlot::UboLimit { buffer, last } => {
                write!(f, "ubo.limit{}{}", Index(buffer), Distance('-', last))
            }
            UniformSlot::TextureP0(lookup) => write_lookup(f, "p0", lookup),
            UniformSlot::TextureP1(lookup) => write_lookup(f, "p1", lookup),
            UniformSlot::TextureP2 { lookup, explicit_lod: false } => write_lookup(f, "p2", lookup),
            UniformSlot::TextureP2 { lookup, explicit_lod: true } => write_lookup(f, "p2.lod", lookup),
            UniformSlot::Texture { texture, value } => write!(f, "tex.{}{}", value.name(), Places(texture)),
            UniformSlot::BufferElements { buffer, offset, stride } => {
                write!(f, "buffer.elements{}+{offset}/{stride}", Index(buffer))
            }
            UniformSlot::VertexIndexBias => f.write_str("vertex.bias"),
            UniformSlot::InstanceIndex => f.write_str("instance.index"),
            UniformSlot::InstanceAttribute { location, word } => {
                write!(f, "instance.attribute[{location}][{word}]")
            }
            UniformSlot::StreamAddress => f.write_str("stream"),
        }
    }
}

fn write_state(f: &mut Formatter<'_>, state: StateUniform) -> fmt::Result {
    let component = |component: u8| ["r", "g", "b", "a"].get(usize::from(component)).copied().unwrap_or("x");
    match state {
        StateUniform::ViewportXScale => f.write_str("viewport.x.scale"),
        StateUniform::ViewportXBias => f.write_str("viewport.x.bias"),
        StateUniform::ViewportYScale => f.write_str("viewport.y.scale"),
        StateUniform::ViewportYBias => f.write_str("viewport.y.bias"),
        StateUniform::RasterScale => f.write_str("raster.scale"),
        StateUniform::ScreenXScale => f.write_str("screen.x.scale"),
        StateUniform::ScreenYScale => f.write_str("screen.y.scale"),
        StateUniform::DepthScale => f.write_str("depth.scale"),
        StateUniform::DepthBias => f.write_str("depth.bias"),
        StateUniform::BlendConstant(n) => write!(f, "blend.{}", component(n)),
        StateUniform::BlendConstantUnclamped(n) => write!(f, "blend.unclamped.{}", component(n)),
        StateUniform::BlendConstantBytes([a, b, c, d]) => write!(f, "blend.bytes[{a}][{b}][{c}][{d}]"),
        StateUniform::StencilFront => f.write_str("stencil.front"),
        StateUniform::StencilBack => f.write_str("stencil.back"),
        StateUniform::StencilMasks => f.write_str("stencil.masks"),
        StateUniform::StencilBackMasks => f.write_str("stencil.back.masks"),
        StateUniform::SampleMask => f.write_str("sample.mask"),
    }
}

/// `[SET][BINDING]`, and `[ELEMENT]` when it is not the first.
struct Index(Descriptor);

impl Display for Index {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Descriptor { set, binding, element } = self.0;
        write!(f, "[{set}][{binding}]")?;
        if element == 0 { Ok(()) } else { write!(f, "[{element}]") }
    }
}

/// Bytes further or less; nothing if there are none.
struct Distance(char, u32);

impl Display for Distance {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.1 == 0 { Ok(()) } else { write!(f, "{}{}", self.0, self.1) }
    }
}

fn write_lookup(f: &mut Formatter<'_>, word: &str, lookup: Lookup) -> fmt::Result {
    let texels = if lookup.texels { "texel." } else { "" };
    write!(f, "tex.{texels}{word}{}", Places(lookup.texture))
}

/// The image, and the sampler behind `+` when it is another descriptor.
struct Places(Texture);

impl Display for Places {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Index(self.0.image))?;
        match self.0.sampler {
            Some(sampler) if sampler != self.0.image => write!(f, "+{}", Index(sampler)),
            _ => Ok(()),
        }
    }
}

/// One TMU request of a program, in program order: the BO index word that its uniform block starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SampleBo {
    /// The BO of an image that the texture unit looks at.
    Texture(Descriptor),
    /// The BO of a buffer or image read by direct lookup.
    Ubo(Descriptor),
}

impl UniformSlot {
    /// The texture that the word is taken from.
    pub const fn texture(&self) -> Option<Texture> {
        match *self {
            UniformSlot::TextureP0(lookup)
            | UniformSlot::TextureP1(lookup)
            | UniformSlot::TextureP2 { lookup, .. } => Some(lookup.texture),
            UniformSlot::Texture { texture, .. } => Some(texture),
            _ => None,
        }
    }
}

impl Program {
    /// Textures that words of the stream are taken from.
    pub fn textures(&self) -> Vec<Texture> {
        self.uniforms.iter().filter_map(UniformSlot::texture).collect()
    }
}

/// One QPU program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Instruction words; the program starts at the first and holds its end signal.
    pub code: Vec<u64>,
    /// The uniform stream, in consumption order.
    pub uniforms: Vec<UniformSlot>,
    /// TMU requests in program order.
    pub samples: Vec<SampleBo>,
    /// Whether a fragment program switches threads (shader record flag 0 is the opposite).
    pub threaded: bool,
}

/// Where the words of one attribute array come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttributeSource {
    /// A vertex input location.
    Location(u32),
    /// The index buffer's value: an array of consecutive 32-bit integers (T-VID).
    VertexIndex,
    /// Nothing: the machine demands one array (v3d.md §6.1). Any readable word, stride 0.
    Dummy,
}

/// One attribute array of a shader record, or with [`AttributeArray::joined`] a part of one. A record has at most eight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttributeArray {
    /// What is fetched.
    pub source: AttributeSource,
    /// Bytes fetched per vertex, 1–256 as in memory.
    pub bytes: u32,
    /// Shares the record's array with the one before: whoever draws puts the data of both side by side, each in whole
    /// words.
    pub joined: bool,
    /// VPM byte offset in the vertex shader; `None` when that shader does not load it.
    pub vertex_offset: Option<u8>,
    /// VPM byte offset in the coordinate shader.
    pub coordinate_offset: Option<u8>,
}

/// The three programs of a graphics pipeline and what their shader record says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pipeline {
    /// Runs in the render thread for every vertex.
    pub vertex: Program,
    /// Runs in the bin thread for every vertex.
    pub coordinate: Program,
    /// Runs for every batch of fragments.
    pub fragment: Program,
    /// Attribute arrays in record order.
    pub attributes: Vec<AttributeArray>,
    /// Attribute bytes of the vertex shader's VPM area, arrays rounded up to words.
    pub vertex_attribute_bytes: u32,
    /// The same for the coordinate shader.
    pub coordinate_attribute_bytes: u32,
    /// Scalar varyings, without the implicit ones of points and lines.
    pub varyings: u32,
    /// Bit n: varying n is flat.
    pub flat_varyings: u32,
    /// The vertex data carry a point size.
    pub point_size: bool,
    /// The fragment shader computes its own depth (early Z must be off).
    pub writes_depth: bool,
    /// The fragment shader may discard.
    pub discards: bool,
    /// The fragment shader reads the tile's colour (blending, partial write mask).
    pub reads_color: bool,
    /// What the stages look at, used or not, in order and each once: what a draw's texture keys are made of.
    pub textures: Vec<Texture>,
}
