//! What the compiler hands to the driver: the programs of a pipeline, and what their shader record says.

pub use crate::binding::{Descriptor, DrawWord, Lookup, Texture, TextureValue, UniformSlot};
pub use crate::ir::computed::Step;

/// Which program of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramKind {
    /// Coordinate shader, made of the vertex stage.
    Coordinate,
    /// Vertex shader.
    Vertex,
    /// Fragment shader.
    Fragment,
}

impl std::fmt::Display for ProgramKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ProgramKind::Coordinate => "vertex stage (coordinate program)",
            ProgramKind::Vertex => "vertex stage (vertex program)",
            ProgramKind::Fragment => "fragment stage",
        })
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

/// One QPU program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Instruction words; the program starts at the first and holds its end signal.
    pub code: Vec<u64>,
    /// The uniform stream, in consumption order.
    pub uniforms: Vec<UniformSlot>,
    /// What the CPU computes for [`UniformSlot::Computed`] words.
    pub computed: Vec<Step>,
    /// TMU requests in program order.
    pub samples: Vec<SampleBo>,
    /// Whether a fragment program switches threads (shader record flag 0 is the opposite).
    pub threaded: bool,
}

impl Pipeline {
    /// Whether vertices are fetched as corners of their primitives.
    pub fn has_corners(&self) -> bool {
        let is_corner = |array: &AttributeArray| {
            let source = array.source;
            matches!(source, AttributeSource::Corner { .. } | AttributeSource::CornerIndex(_))
                || source == AttributeSource::Place
        };
        self.attributes.iter().any(is_corner)
    }

    /// Whether the fragment program reads outputs of the vertex stage from memory ([`crate::relay`]).
    pub fn is_relayed(&self) -> bool {
        self.attributes.iter().any(|array| array.source == AttributeSource::Place)
    }
}

impl Program {
    /// Clocks that the only thread of a QPU waits for a lookup, if it has something left to do meanwhile.
    pub(crate) const WAIT: usize = 12;

    /// Clocks that the code takes of a QPU as it stands: with one thread, its lookups are waited for.
    pub(crate) fn clocks(&self) -> usize {
        self.code.len() + if self.threaded { 0 } else { Program::WAIT * self.samples.len() }
    }

    /// What the words of the stream are taken from, those that the CPU computes with included.
    pub fn words(&self) -> impl Iterator<Item = &UniformSlot> {
        let taken = self.computed.iter().filter_map(|step| match step {
            Step::Word(slot) => Some(slot),
            Step::Op { .. } => None,
        });
        self.uniforms.iter().chain(taken)
    }

    /// Textures that words of the stream are taken from.
    pub fn textures(&self) -> Vec<Texture> {
        self.words().filter_map(UniformSlot::texture).collect()
    }
}

/// Where the words of one attribute array come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttributeSource {
    /// A vertex input location.
    Location(u32),
    /// The index buffer's value: an array of consecutive 32-bit integers (T-VID).
    VertexIndex,
    /// A vertex input location of one of the corners of the vertex's triangle ([`crate::state::Polygon`]).
    Corner {
        /// Which corner, 0 for the provoking one.
        corner: u8,
        /// The location.
        location: u32,
    },
    /// The number of one of the corners, as [`AttributeSource::VertexIndex`].
    CornerIndex(u8),
    /// Bits 1:0 which corner of its primitive the vertex is, the others the byte where the outputs of the first corner stand
    /// ([`crate::relay`]).
    Place,
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
    /// The fragment shader wants an invocation per sample.
    pub per_sample: bool,
    /// The fragment shader reads the tile's colour (blending, partial write mask).
    pub reads_color: bool,
    /// What the stages look at, used or not, in order and each once: what a draw's texture keys are made of.
    pub textures: Vec<Texture>,
}
