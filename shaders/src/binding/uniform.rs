//! What each word of a uniform stream is.

use std::fmt::{self, Display, Formatter};

use vc4::state::StateUniform;

use super::descriptor::{Descriptor, Lookup, Texture, TextureValue};

/// What a draw command says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DrawWord {
    /// gl_BaseVertex: the first vertex, or what is added to indices.
    BaseVertex,
    /// gl_BaseInstance.
    BaseInstance,
    /// gl_DrawID: the number of the draw in its command.
    DrawIndex,
    /// gl_ViewIndex.
    ViewIndex,
}

impl DrawWord {
    /// All of them.
    pub const ALL: [DrawWord; 4] =
        [DrawWord::BaseVertex, DrawWord::BaseInstance, DrawWord::DrawIndex, DrawWord::ViewIndex];

    /// Its name in text.
    pub const fn name(self) -> &'static str {
        match self {
            DrawWord::BaseVertex => "vertex",
            DrawWord::BaseInstance => "instance",
            DrawWord::DrawIndex => "index",
            DrawWord::ViewIndex => "view",
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
    /// What the draw says of itself.
    Draw(DrawWord),
    /// The word that the CPU computed in this step of [`crate::program::Program::computed`].
    Computed(u32),
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

impl UniformSlot {
    /// Whether the CPU can compute with the word: it knows it when it writes the stream.
    pub const fn is_step_word(&self) -> bool {
        matches!(
            self,
            UniformSlot::Const(_)
                | UniformSlot::Push(_)
                | UniformSlot::Ubo { .. }
                | UniformSlot::BufferElements { .. }
                | UniformSlot::Texture { .. }
                | UniformSlot::Computed(_)
        )
    }

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
            UniformSlot::Draw(word) => write!(f, "draw.{}", word.name()),
            UniformSlot::Computed(step) => write!(f, "computed[{step}]"),
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
        StateUniform::Corner(axis) => write!(f, "corner.{}", if axis == 0 { 'x' } else { 'y' }),
        StateUniform::DepthScale => f.write_str("depth.scale"),
        StateUniform::DepthBias => f.write_str("depth.bias"),
        StateUniform::BiasConstant => f.write_str("bias.constant"),
        StateUniform::BiasSlope => f.write_str("bias.slope"),
        StateUniform::BiasLow => f.write_str("bias.low"),
        StateUniform::BiasHigh => f.write_str("bias.high"),
        StateUniform::BlendConstant(n) => write!(f, "blend.{}", component(n)),
        StateUniform::BlendConstantUnclamped(n) => write!(f, "blend.unclamped.{}", component(n)),
        StateUniform::BlendConstantBytes([a, b, c, d]) => write!(f, "blend.bytes[{a}][{b}][{c}][{d}]"),
        StateUniform::StencilFront => f.write_str("stencil.front"),
        StateUniform::StencilBack => f.write_str("stencil.back"),
        StateUniform::StencilMasks => f.write_str("stencil.masks"),
        StateUniform::StencilBackMasks => f.write_str("stencil.back.masks"),
        StateUniform::SampleMask => f.write_str("sample.mask"),
        StateUniform::QuadPixel => f.write_str("quad.pixel"),
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
