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
    /// Start of a uniform buffer's bound range for a direct lookup: the stream word is the byte offset in the BO,
    /// the kernel adds the BO's address (qpu.md §5.3).
    UboBase(Descriptor),
    /// Largest offset that a direct lookup may add to [`UniformSlot::UboBase`]: bound range - 4.
    UboLimit(Descriptor),
    /// Texture configuration word 0 of a sampled image; the kernel adds the BO's address.
    TextureP0(Descriptor),
    /// Texture configuration word 1.
    TextureP1(Descriptor),
    /// Texture configuration word 2: cube stride, and explicit LOD when `explicit_lod`.
    TextureP2 {
        /// The image.
        image: Descriptor,
        /// Bit 0 (BSLOD): register B replaces the automatic LOD.
        explicit_lod: bool,
    },
    /// Width or height of a level-0 texel grid as a float (`axis` 0 or 1), for texel addressing in the shader.
    TextureSize {
        /// The image.
        image: Descriptor,
        /// 0 width, 1 height.
        axis: u8,
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
            UniformSlot::UboBase(buffer) => write!(f, "ubo.base{}", Index(buffer)),
            UniformSlot::UboLimit(buffer) => write!(f, "ubo.limit{}", Index(buffer)),
            UniformSlot::TextureP0(image) => write!(f, "tex.p0{}", Index(image)),
            UniformSlot::TextureP1(image) => write!(f, "tex.p1{}", Index(image)),
            UniformSlot::TextureP2 { image, explicit_lod: false } => write!(f, "tex.p2{}", Index(image)),
            UniformSlot::TextureP2 { image, explicit_lod: true } => write!(f, "tex.p2.lod{}", Index(image)),
            UniformSlot::TextureSize { image, axis: 0 } => write!(f, "tex.width{}", Index(image)),
            UniformSlot::TextureSize { image, axis: 1 } => write!(f, "tex.height{}", Index(image)),
            UniformSlot::TextureSize { image, axis } => write!(f, "tex.size{}[{axis}]", Index(image)),
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
        StateUniform::DepthScale => f.write_str("depth.scale"),
        StateUniform::DepthBias => f.write_str("depth.bias"),
        StateUniform::BlendConstant(n) => write!(f, "blend.{}", component(n)),
        StateUniform::BlendConstantUnclamped(n) => write!(f, "blend.unclamped.{}", component(n)),
        StateUniform::BlendConstantBytes([a, b, c, d]) => write!(f, "blend.bytes[{a}][{b}][{c}][{d}]"),
        StateUniform::StencilFront => f.write_str("stencil.front"),
        StateUniform::StencilBack => f.write_str("stencil.back"),
        StateUniform::StencilMasks => f.write_str("stencil.masks"),
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

/// One TMU request of a program, in program order: the BO index word that its uniform block starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SampleBo {
    /// The BO of a sampled image.
    Texture(Descriptor),
    /// The BO of a uniform buffer read by direct lookup.
    Ubo(Descriptor),
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

/// One attribute array of a shader record; at most eight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttributeArray {
    /// What is fetched.
    pub source: AttributeSource,
    /// Bytes fetched per vertex, 1–256 as in memory.
    pub bytes: u32,
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
}
