//! Operations, and what the rest of the compiler needs to know about them: operand and result types, effects.

use smallvec::{SmallVec, smallvec};
use vc4::qpu::{AddOp, MulOp, Unpack};

use super::entity::Type;
use super::image::{Fetch, Lod, Sample, Texel, TmuR};
use super::interface::{BuiltinInput, Interpolation, Output};
use super::memory::{Atomic, Memory};
use crate::binding::{Descriptor, Lookup, UniformSlot};

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
    /// One argument per predecessor; see [`InstData::phi_blocks`](super::InstData::phi_blocks).
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

    // --- compute: memory that changes, and what orders the invocations of a workgroup
    /// Word at byte a + `offset`, which is outside from 2^32 on.
    Load {
        /// Of what.
        memory: Memory,
        /// Constant part of the place.
        offset: u32,
    },
    /// Stores word b at byte a + `offset`.
    Store {
        /// To what.
        memory: Memory,
        /// Constant part of the place.
        offset: u32,
    },
    /// Changes the word at byte a + `offset` by the operands behind it at once, and returns what it was (0 outside).
    Atomic {
        /// In what.
        memory: Memory,
        /// Constant part of the place.
        offset: u32,
        /// How.
        action: Atomic,
    },
    /// A texel's four components as words of the format's kind; 0, 0, 0, 1 of what it lacks, all 0 outside.
    ImageRead(Texel),
    /// Stores the four words behind the coordinates as a texel; nothing outside.
    ImageWrite(Texel),
    /// [`Op::Atomic`] on a texel of one word.
    ImageAtomic(Texel, Atomic),
    /// What this invocation did to memory comes before what it does behind.
    Fence,
    /// A word with a bit for each invocation of the subgroup: whether it comes by, too, and a (`Bool`) holds there.
    Ballot,
    /// a of the subgroup's invocation b, taken modulo their number; anything where that one does not come by.
    Shuffle,
    /// [`Op::Fence`], and no invocation of the workgroup goes on before all are here. Control flow around it is the same
    /// for all of them.
    Barrier,

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
    /// Direct 32-bit lookup at byte a + `offset`; a is a [`Op::ClampDirect`].
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

/// Operand and result types of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signature {
    /// Fixed types; operands beyond `required` may be missing.
    Fixed {
        /// Operand types.
        args: SmallVec<[Type; 4]>,
        /// How many of them must be present.
        required: usize,
        /// Result types.
        results: SmallVec<[Type; 4]>,
    },
    /// `Bool`, then two operands of the result's type.
    Select,
    /// Any number of operands of the result's type.
    Phi,
    /// No operands, one result of either type.
    Undef,
}

const W: Type = Type::Word;
const B: Type = Type::Bool;

fn fixed(args: SmallVec<[Type; 4]>, results: SmallVec<[Type; 4]>) -> Signature {
    Signature::Fixed { required: args.len(), args, results }
}

fn words(args: usize, results: usize) -> Signature {
    fixed(SmallVec::from_elem(W, args), SmallVec::from_elem(W, results))
}

impl Op {
    /// Whether it is this one. Most often even the kinds differ, which is seen without a call.
    #[inline]
    pub fn is(self, other: Op) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other) && self == other
    }

    /// Operand and result types.
    pub fn signature(self) -> Signature {
        match self {
            Op::Undef => Signature::Undef,
            Op::Phi => Signature::Phi,
            Op::Select => Signature::Select,
            Op::ConstBool(_) => fixed(smallvec![], smallvec![B]),
            Op::FEq | Op::FNe | Op::FLt | Op::FLe => fixed(smallvec![W, W], smallvec![B]),
            Op::IEq | Op::INe | Op::SLt | Op::SLe | Op::ULt | Op::ULe => fixed(smallvec![W, W], smallvec![B]),
            Op::BAnd | Op::BOr | Op::BXor => fixed(smallvec![B, B], smallvec![B]),
            Op::BNot | Op::BAny => fixed(smallvec![B], smallvec![B]),
            Op::Ballot => fixed(smallvec![B], smallvec![W]),
            Op::LoadBuiltin(BuiltinInput::FrontFacing | BuiltinInput::HelperInvocation) => {
                fixed(smallvec![], smallvec![B])
            }
            Op::StoreOutput(_) => words(1, 0),
            Op::DiscardIf => fixed(smallvec![B], smallvec![]),
            Op::Sample(sample) => words(sample.arguments(), sample.results()),
            Op::Gather { sample, .. } => words(sample.arguments(), 4),
            Op::Fetch(fetch) => words(fetch.arguments(), 4),
            Op::ImageLod(sample) => words(sample.arguments(), 2),
            Op::Load { .. } => words(1, 1),
            Op::Store { .. } => words(2, 0),
            Op::Atomic { action, .. } => words(1 + action.operands(), 1),
            Op::ImageRead(texel) => words(texel.coordinates(), 4),
            Op::ImageWrite(texel) => words(texel.coordinates() + 4, 0),
            Op::ImageAtomic(texel, action) => words(texel.coordinates() + action.operands(), 1),
            Op::Fence | Op::Barrier => words(0, 0),
            Op::VpmWrite(_) | Op::TlbZWrite | Op::TlbStencilWrite | Op::CoverageWrite => words(1, 0),
            Op::TlbColorWrite | Op::TlbColorWriteSample => words(1, 0),
            // Coordinate s stands alone for one-dimensional images; t, r and b follow as the lookup needs.
            Op::TmuSample { .. } => {
                Signature::Fixed { args: smallvec![W, W, W, W], required: 1, results: smallvec![W] }
            }
            // Unary operations may repeat their operand on the b side.
            Op::Add(op) => {
                let required = op.operands();
                Signature::Fixed { args: smallvec![W, W], required, results: smallvec![W] }
            }
            _ => words(self.word_operands(), 1),
        }
    }

    /// Operand count of the operations from words to one word.
    fn word_operands(self) -> usize {
        match self {
            Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FMin | Op::FMax => 2,
            Op::IAdd | Op::ISub | Op::IMul | Op::UDiv | Op::SDiv | Op::UMod | Op::SMod | Op::SRem => 2,
            Op::Shl | Op::Shr | Op::Asr | Op::And | Op::Or | Op::Xor => 2,
            Op::SMin | Op::SMax | Op::UMin | Op::UMax | Op::Mul(_) => 2,
            Op::PackHalves | Op::PackHalfFloats | Op::Shuffle => 2,
            Op::FNeg | Op::FAbs | Op::FSign | Op::FFloor | Op::FCeil | Op::FTrunc | Op::FRoundEven => 1,
            Op::FRsqrt | Op::FInverseLength | Op::FSqrt | Op::FExp2 | Op::FLog2 | Op::FSin | Op::FCos => 1,
            Op::Not | Op::Clz | Op::FToS | Op::FToU | Op::SToF | Op::UToF | Op::Ddx | Op::Ddy => 1,
            Op::LoadUboDynamic { .. } | Op::ClampDirect { .. } | Op::TmuDirect { .. } => 1,
            Op::Rotate(_) | Op::ImageSize { .. } => 1,
            Op::SfuRecip | Op::SfuRsqrt | Op::SfuExp2 | Op::SfuLog2 => 1,
            Op::UnpackInt(_) | Op::UnpackFloat(_) => 1,
            Op::PackUnorm8x4 => 4,
            _ => 0,
        }
    }

    /// Whether the operation acts on something outside its results: it must stay, once, in order.
    pub const fn has_effect(self) -> bool {
        matches!(
            self,
            Op::StoreOutput(_)
                | Op::DiscardIf
                | Op::Store { .. }
                | Op::Atomic { .. }
                | Op::ImageWrite(_)
                | Op::ImageAtomic(..)
                | Op::Fence
                | Op::Barrier
                | Op::VpmWrite(_)
                | Op::TlbColorWrite
                | Op::TlbColorWriteSample
                | Op::CoverageWrite
                | Op::TlbZWrite
                | Op::TlbStencilWrite
        )
    }

    /// Whether equal operands always give equal results, so that one instruction may serve for two.
    pub const fn is_pure(self) -> bool {
        !self.has_effect()
            && !self.reads_memory()
            && !self.asks_subgroup()
            && !matches!(self, Op::Phi | Op::TlbColorRead | Op::Coverage)
    }

    /// Whether it reads what other instructions change: it may be left out, but not moved or joined with its like.
    pub const fn reads_memory(self) -> bool {
        matches!(self, Op::Load { .. } | Op::ImageRead(_))
    }

    /// Whether it depends on who comes by together: it may be left out, but not moved past branches or joined with its like.
    pub const fn asks_subgroup(self) -> bool {
        matches!(self, Op::Ballot | Op::Shuffle)
    }

    /// Whether the result depends on other elements.
    pub const fn crosses_elements(self) -> bool {
        match self {
            Op::Ddx | Op::Ddy | Op::Rotate(_) | Op::ImageLod(_) | Op::BAny | Op::Ballot | Op::Shuffle => true,
            Op::Sample(sample) => sample.lod.is_implicit(),
            Op::TmuSample { lod, .. } => lod.is_implicit(),
            _ => false,
        }
    }

    /// Whether elements get different results from equal operands.
    pub const fn differs_by_element(self) -> bool {
        if let Op::LoadBuiltin(BuiltinInput::Invocation(place)) = self {
            return !place.is_shared();
        }
        if let Op::LoadBuiltin(BuiltinInput::Draw(_)) = self {
            return false;
        }
        matches!(
            self,
            Op::LoadInput { .. }
                | Op::LoadBuiltin(_)
                | Op::Atomic { .. }
                | Op::ImageAtomic(..)
                | Op::Shuffle
                | Op::Varying(_)
                | Op::VpmRead(_)
                | Op::PayloadW
                | Op::PayloadZ
                | Op::PixelX
                | Op::PixelY
                | Op::RevFlag
                | Op::ElementNumber
                | Op::TlbColorRead
                | Op::Coverage
        )
    }

    /// Whether a result is in a register: not a word of the stream, and no immediate.
    pub const fn takes_register(self) -> bool {
        !matches!(self, Op::Const(_) | Op::ConstBool(_) | Op::Uniform(_) | Op::Undef)
    }

    /// Whether every operand can read the value afresh, so that it needs no code and no register.
    pub const fn is_leaf(self) -> bool {
        matches!(
            self,
            Op::Const(_)
                | Op::ConstBool(_)
                | Op::Undef
                | Op::Uniform(_)
                | Op::ElementNumber
                | Op::PixelX
                | Op::PixelY
                | Op::RevFlag
        )
    }

    /// The comparison that is true where this one is false, and whether its operands are exchanged. Of numbers: both are
    /// false of a NaN, except the opposite of equality.
    pub const fn opposite(self) -> Option<(Op, bool)> {
        Some(match self {
            Op::FEq => (Op::FNe, false),
            Op::FNe => (Op::FEq, false),
            Op::FLt => (Op::FLe, true),
            Op::FLe => (Op::FLt, true),
            Op::IEq => (Op::INe, false),
            Op::INe => (Op::IEq, false),
            Op::SLt => (Op::SLe, true),
            Op::SLe => (Op::SLt, true),
            Op::ULt => (Op::ULe, true),
            Op::ULe => (Op::ULt, true),
            _ => return None,
        })
    }

    /// Whether exchanging the first two operands leaves the result as it is.
    pub const fn commutes(self) -> bool {
        match self {
            Op::FAdd | Op::FMul | Op::FMin | Op::FMax | Op::FEq | Op::FNe => true,
            Op::IAdd | Op::IMul | Op::And | Op::Or | Op::Xor => true,
            Op::SMin | Op::SMax | Op::UMin | Op::UMax | Op::IEq | Op::INe => true,
            Op::BAnd | Op::BOr | Op::BXor => true,
            Op::Add(op) => op.commutes(),
            Op::Mul(op) => op.commutes(),
            _ => false,
        }
    }

    /// Whether this is a constant of either type.
    pub const fn is_const(self) -> bool {
        matches!(self, Op::Const(_) | Op::ConstBool(_))
    }
}
