//! What the rest of the compiler needs to know about an operation: operand and result types, effects.

use smallvec::{SmallVec, smallvec};

use super::{BuiltinInput, Op, Type};

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
            Op::LoadBuiltin(BuiltinInput::FrontFacing | BuiltinInput::HelperInvocation) => {
                fixed(smallvec![], smallvec![B])
            }
            Op::StoreOutput(_) => words(1, 0),
            Op::DiscardIf => fixed(smallvec![B], smallvec![]),
            Op::Sample(sample) => words(sample.arguments(), sample.results()),
            Op::Gather { sample, .. } => words(sample.arguments(), 4),
            Op::Fetch(fetch) => words(fetch.arguments(), 4),
            Op::ImageLod(sample) => words(sample.arguments(), 2),
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
            Op::PackHalves | Op::PackHalfFloats => 2,
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
        !self.has_effect() && !matches!(self, Op::Phi | Op::TlbColorRead | Op::Coverage)
    }

    /// Whether the result depends on other elements.
    pub const fn crosses_elements(self) -> bool {
        match self {
            Op::Ddx | Op::Ddy | Op::Rotate(_) | Op::ImageLod(_) | Op::BAny => true,
            Op::Sample(sample) => sample.lod.is_implicit(),
            Op::TmuSample { lod, .. } => lod.is_implicit(),
            _ => false,
        }
    }

    /// Whether elements get different results from equal operands.
    pub const fn differs_by_element(self) -> bool {
        matches!(
            self,
            Op::LoadInput { .. }
                | Op::LoadBuiltin(_)
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
