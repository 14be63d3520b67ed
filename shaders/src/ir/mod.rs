//! The intermediate form: scalar SSA over 32-bit words and booleans, structured control flow.
//!
//! A [`Shader`] is a tree of regions whose leaves are basic blocks. Values are defined once and
//! dominate their uses. Control flow is never a graph: an `If` has two regions, a `Loop` one; a region
//! may end in `Break`, `Continue`, `Return` or `Discard`. A region is never empty: its first node is a `Block`, and a
//! `Block` follows every `If` and `Loop` (an empty one where control cannot get). Phis stand at the start of the block that
//! follows an `If` or `Loop` and at the start of a loop body's first block; each argument names the block it comes from.
//! Only blocks that control can leave count as predecessors ([`cfg::Cfg`] computes them).
//!
//! Operations come in three groups. *Generic* ones have SPIR-V's meaning. *Interface* ones name what the
//! application sees (inputs, outputs, buffers, images). *Machine* ones name what the QPU sees. Lowering
//! passes turn the first two into the third; the back end takes machine operations and the generic
//! operations that have a QPU instruction of the same meaning.

pub mod builder;
pub mod cfg;
pub mod eval;
mod image;
pub mod interp;
mod line;
mod op;
mod print;
mod shader;
pub mod uniform;
pub mod verify;

use std::sync::Arc;

use cranelift_entity::{PrimaryMap, entity_impl};
use smallvec::SmallVec;
use vc4::qpu::{AddOp, MulOp, Unpack};

use crate::binding::{Descriptor, Lookup, UniformSlot};

pub use builder::Builder;
pub use image::{Fetch, ImageDim, Lod, Sample, TmuR};
pub use line::{LineId, SourceLine};
pub use op::Signature;
pub use shader::{Replacements, collect_blocks, for_each_condition};

/// An SSA value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(u32);
entity_impl!(Value, "v");

/// An instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Inst(u32);
entity_impl!(Inst, "inst");

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Block(u32);
entity_impl!(Block, "block");

/// Type of a value. Words carry no signedness: operations do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// 32 bits: float, signed or unsigned integer.
    Word,
    /// A per-element truth value.
    Bool,
}

/// Pipeline stage of a shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Vertex; lowered twice, for the vertex and the coordinate program.
    Vertex,
    /// Fragment.
    Fragment,
}

/// How a fragment input is interpolated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// Perspective-correct.
    Smooth,
    /// Linear in screen space.
    NoPerspective,
    /// The provoking vertex's value.
    Flat,
    /// Perspective-correct, at a place of the pixel that the primitive covers.
    Centroid,
    /// Linear in screen space, at a place of the pixel that the primitive covers.
    NoPerspectiveCentroid,
}

impl Interpolation {
    /// The same at the pixel's centre, which is where the hardware interpolates.
    pub const fn at_center(self) -> Interpolation {
        match self {
            Interpolation::Centroid => Interpolation::Smooth,
            Interpolation::NoPerspectiveCentroid => Interpolation::NoPerspective,
            other => other,
        }
    }
}

/// Built-in input of a stage, one component each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BuiltinInput {
    /// gl_VertexIndex.
    VertexIndex,
    /// gl_InstanceIndex.
    InstanceIndex,
    /// gl_FragCoord.xyzw by component.
    FragCoord(u8),
    /// gl_FrontFacing (a `Bool`).
    FrontFacing,
    /// gl_PointCoord.xy by component.
    PointCoord(u8),
    /// gl_SampleMaskIn, bits 3:0.
    SampleMask,
    /// gl_HelperInvocation (a `Bool`).
    HelperInvocation,
}

/// Output of a stage, one component each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Output {
    /// gl_Position by component.
    Position(u8),
    /// gl_PointSize.
    PointSize,
    /// A user output: vertex varying or fragment colour.
    User {
        /// Location.
        location: u32,
        /// Component 0–3.
        component: u8,
    },
    /// Second colour of location 0 (index 1), the second source of blending.
    SecondColor(u8),
    /// gl_FragDepth.
    FragDepth,
    /// gl_SampleMask, bits 3:0.
    SampleMask,
}

/// An operation. Argument order is the order of the comment's letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    // --- generic: constants and data flow
    /// A 32-bit constant.
    Const(u32),
    /// A boolean constant.
    ConstBool(bool),
    /// Any value.
    Undef,
    /// One argument per predecessor; see [`InstData::phi_blocks`].
    Phi,
    /// c ? a : b, with c a `Bool`; a and b of either type.
    Select,

    // --- generic: float
    /// a + b.
    FAdd,
    /// a - b.
    FSub,
    /// a * b.
    FMul,
    /// a / b.
    FDiv,
    /// -a.
    FNeg,
    /// |a|.
    FAbs,
    /// Sign of a: -1, 0 or 1.
    FSign,
    /// Smaller of a, b.
    FMin,
    /// Larger of a, b.
    FMax,
    /// Largest integer not above a.
    FFloor,
    /// Smallest integer not below a.
    FCeil,
    /// a without its fraction.
    FTrunc,
    /// Nearest integer, ties to even.
    FRoundEven,
    /// 1 / sqrt(a).
    FRsqrt,
    /// 1 / sqrt(a) as a factor that normalizes: the precision of x / length(x) is enough.
    FInverseLength,
    /// sqrt(a).
    FSqrt,
    /// 2^a.
    FExp2,
    /// log2(a).
    FLog2,
    /// sin(a), radians.
    FSin,
    /// cos(a), radians.
    FCos,

    // --- generic: integer
    /// a + b.
    IAdd,
    /// a - b.
    ISub,
    /// Low word of a * b.
    IMul,
    /// Unsigned quotient.
    UDiv,
    /// Signed quotient.
    SDiv,
    /// Unsigned remainder.
    UMod,
    /// Signed remainder with the sign of b (OpSMod).
    SMod,
    /// Signed remainder with the sign of a (OpSRem).
    SRem,
    /// a << b, b taken modulo 32.
    Shl,
    /// Logical a >> b.
    Shr,
    /// Arithmetic a >> b.
    Asr,
    /// a & b.
    And,
    /// a | b.
    Or,
    /// a ^ b.
    Xor,
    /// ~a.
    Not,
    /// Signed minimum.
    SMin,
    /// Signed maximum.
    SMax,
    /// Unsigned minimum.
    UMin,
    /// Unsigned maximum.
    UMax,
    /// Leading zeros of a, 32 for 0.
    Clz,

    // --- generic: comparisons, `Bool` results; float ones are false on NaN except FNe
    /// a == b as floats.
    FEq,
    /// a != b as floats (true on NaN).
    FNe,
    /// a < b as floats.
    FLt,
    /// a <= b as floats.
    FLe,
    /// a == b as words.
    IEq,
    /// a != b as words.
    INe,
    /// Signed a < b.
    SLt,
    /// Signed a <= b.
    SLe,
    /// Unsigned a < b.
    ULt,
    /// Unsigned a <= b.
    ULe,
    /// Both.
    BAnd,
    /// Either.
    BOr,
    /// Exactly one.
    BXor,
    /// Not a.
    BNot,
    /// a in any of the elements that run. Only a condition of an `If` once booleans are lowered: it is what a branch looks
    /// at.
    BAny,

    // --- generic: conversions
    /// Float to signed integer, truncating.
    FToS,
    /// Float to unsigned integer, truncating.
    FToU,
    /// Signed integer to float.
    SToF,
    /// Unsigned integer to float.
    UToF,

    // --- generic: quad operations
    /// Horizontal screen derivative.
    Ddx,
    /// Vertical screen derivative.
    Ddy,

    // --- interface
    /// Vertex attribute or fragment varying component.
    LoadInput {
        /// Location.
        location: u32,
        /// Component 0–3.
        component: u8,
        /// Fragment stage only.
        interpolation: Interpolation,
    },
    /// Built-in input.
    LoadBuiltin(BuiltinInput),
    /// Stores a: the last store before the end counts.
    StoreOutput(Output),
    /// Ends the elements in which a (`Bool`) is true: nothing they do has an effect any more, but they stay helpers of
    /// their quad until they would start another iteration of a loop.
    DiscardIf,
    /// Word at a constant byte offset of a uniform buffer.
    LoadUbo {
        /// The buffer.
        buffer: Descriptor,
        /// Byte offset.
        offset: u32,
    },
    /// Word at byte a + `offset` of a uniform buffer.
    LoadUboDynamic {
        /// The buffer.
        buffer: Descriptor,
        /// Constant part of the place.
        offset: u32,
        /// Largest `offset` of the words that are in bounds or out of bounds together with this one: those of a vector.
        last: u32,
    },
    /// Word at a constant byte offset of the push constants.
    LoadPush(u32),
    /// Bytes from a constant place of a storage buffer on, in elements (OpArrayLength).
    BufferElements {
        /// The buffer.
        buffer: Descriptor,
        /// Where the elements begin.
        offset: u32,
        /// Bytes per element.
        stride: u32,
    },
    /// Samples an image. Four results, r, g, b and a, or with a comparison one.
    Sample(Sample),
    /// The four texels that a linear filter would weigh, in the order (0, 1), (1, 1), (1, 0), (0, 0): one component of
    /// them, or with a comparison its results. Four results; arguments are those of [`Op::Sample`] without a level.
    Gather {
        /// What is looked at; its level is [`Lod::Auto`].
        sample: Sample,
        /// Component 0-3; of no account in a comparison.
        component: u8,
    },
    /// Fetches one texel. Arguments: integer coordinates, layer, level (0 where there are none) and the offset along
    /// each axis if there is one. Four results.
    Fetch(Fetch),
    /// Texels along an axis of level a, or layers (cubes count once), as an integer.
    ImageSize {
        /// The image.
        image: Descriptor,
        /// 0 width, 1 height, 2 depth or layers.
        axis: u8,
        /// Levels halve it.
        halves: bool,
    },
    /// Number of levels.
    ImageLevels(Descriptor),
    /// Number of samples per texel.
    ImageSamples(Descriptor),
    /// The level that a sample without bias would access, and the one before clamping; arguments are its coordinates.
    ImageLod(Sample),

    // --- machine
    /// An add-unit operation on words.
    Add(AddOp),
    /// A mul-unit operation on words.
    Mul(MulOp),
    /// SFU estimate of 1/a, about 13 bits.
    SfuRecip,
    /// SFU estimate of 1/sqrt(|a|).
    SfuRsqrt,
    /// SFU estimate of 2^a.
    SfuExp2,
    /// SFU estimate of log2(|a|).
    SfuLog2,
    /// A byte or half of a as an integer (zero- or sign-extended).
    UnpackInt(Unpack),
    /// A byte (v/255) or half (float16) of a as a float.
    UnpackFloat(Unpack),
    /// Four floats to bytes, clamped and rounded as the mul pack does; a is byte 0.
    PackUnorm8x4,
    /// Low halves of a (bits 15:0) and b (bits 31:16).
    PackHalves,
    /// Floats a (bits 15:0) and b (bits 31:16) as float16.
    PackHalfFloats,
    /// Next word of the uniform stream with this content. Freely movable and repeatable.
    Uniform(UniformSlot),
    /// Varying n: hardware order is fixed, the back end reads them in order. Result is VP*W + C.
    Varying(u32),
    /// Row n of the attribute words in the VPM.
    VpmRead(u32),
    /// Writes a as output row n; rows are written in order.
    VpmWrite(u32),
    /// Payload W (ra15).
    PayloadW,
    /// Payload Z (rb15), 24-bit integer.
    PayloadZ,
    /// Pixel x as an integer.
    PixelX,
    /// Pixel y as an integer.
    PixelY,
    /// 1 on back faces, 0 on front faces.
    RevFlag,
    /// Value of the element to the other side of the quad: `Rotate(1)` element i gets i-1's, quad-local in effect.
    Rotate(u8),
    /// SIMD element number 0–15.
    ElementNumber,
    /// Byte a, moved to where a direct lookup of the words up to a + `last` stays in its buffer. The kernel has to see how
    /// a lookup's place was clamped (qpu.md §5.3), so this serves direct lookups only.
    ClampDirect {
        /// The buffer.
        buffer: Descriptor,
        /// Largest `offset` of the lookups.
        last: u32,
    },
    /// Direct 32-bit lookup on TMU1 at byte a + `offset`; a is a [`Op::ClampDirect`].
    TmuDirect {
        /// The buffer.
        buffer: Descriptor,
        /// Constant part of the place.
        offset: u32,
    },
    /// Texture lookup on TMU0: arguments s, t, and as the lookup needs r and b; result is the raw word in r4.
    TmuSample {
        /// What is looked at.
        lookup: Lookup,
        /// Register R's meaning, if it is written.
        r: TmuR,
        /// LOD mode; bias or LOD is the last argument. The texture unit takes no gradients.
        lod: Lod,
    },
    /// Destination colour word from the tile buffer; of a multisampled target that of the next sample.
    TlbColorRead,
    /// Writes colour word a where the element is not discarded, to all samples.
    TlbColorWrite,
    /// Writes colour word a to the next sample of a multisampled target where the element is not discarded.
    TlbColorWriteSample,
    /// The samples that are covered and have not failed, bits 3:0.
    Coverage,
    /// Makes a the samples that are covered; in front of the depth write.
    CoverageWrite,
    /// Starts the depth/stencil test with 24-bit Z a.
    TlbZWrite,
    /// Stencil set-up word a.
    TlbStencilWrite,
}

/// An instruction's content.
#[derive(Debug)]
pub struct InstData {
    /// What it does.
    pub op: Op,
    /// Operands.
    pub args: SmallVec<[Value; 4]>,
    /// For `Phi`: the predecessor block of each argument.
    pub phi_blocks: SmallVec<[Block; 2]>,
    /// Defined values.
    pub results: SmallVec<[Value; 1]>,
    /// RelaxedPrecision: short sequences are allowed.
    pub relaxed: bool,
    /// NoContraction, or part of what has to be invariant: rounded as written, not as what the rest of the shader makes cheap.
    pub exact: bool,
    /// Where in the source it came from.
    pub line: LineId,
}

impl Default for InstData {
    /// An undefined value that nothing uses.
    fn default() -> InstData {
        InstData {
            op: Op::Undef,
            args: SmallVec::new(),
            phi_blocks: SmallVec::new(),
            results: SmallVec::new(),
            relaxed: false,
            exact: false,
            line: LineId::NONE,
        }
    }
}

// Derived, it would clone the lists element by element.
impl Clone for InstData {
    fn clone(&self) -> InstData {
        InstData {
            args: SmallVec::from_slice(&self.args),
            phi_blocks: SmallVec::from_slice(&self.phi_blocks),
            results: SmallVec::from_slice(&self.results),
            ..*self
        }
    }
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug)]
pub struct ValueData {
    /// Defining instruction.
    pub inst: Inst,
    /// Which of its results.
    pub result: u8,
    /// Type.
    pub ty: Type,
}

/// A basic block: instructions in order.
#[derive(Clone, Debug, Default)]
pub struct BlockData {
    /// Instructions; phis first.
    pub insts: Vec<Inst>,
}

/// A sequence of nodes; control enters at the first.
pub type Region = Vec<Node>;

/// A step of a region.
#[derive(Clone, Debug)]
pub enum Node {
    /// A basic block.
    Block(Block),
    /// Two-way branch per element; a `Block` follows it in the region.
    If {
        /// The condition, a `Bool`.
        cond: Value,
        /// Where the condition holds.
        then: Region,
        /// Where it does not.
        otherwise: Region,
    },
    /// Endless loop left by `Break`; a `Block` follows it in the region.
    Loop(Region),
    /// Leaves the innermost loop. Last of its region.
    Break,
    /// Next iteration of the innermost loop. Last of its region.
    Continue,
    /// Leaves the shader. Last of its region.
    Return,
    /// Ends the element without effect. Last of its region.
    Discard,
}

/// A shader in SSA form.
#[derive(Clone, Debug)]
pub struct Shader {
    /// Pipeline stage.
    pub stage: Stage,
    /// The fragment tests come before the shader although it discards or writes its depth.
    pub early_fragment_tests: bool,
    /// All instructions ever made; only those in blocks of `body` are alive.
    pub insts: PrimaryMap<Inst, InstData>,
    /// All values.
    pub values: PrimaryMap<Value, ValueData>,
    /// All blocks.
    pub blocks: PrimaryMap<Block, BlockData>,
    /// The program.
    pub body: Region,
    /// Source lines that instructions name.
    pub lines: Arc<[SourceLine]>,
    /// The line of instructions made from now on.
    pub line: LineId,
}
