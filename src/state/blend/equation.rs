//! Blend equations and logic operations.

/// What a colour is multiplied with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlendFactor {
    /// 0
    Zero,
    /// 1
    One,
    /// Source colour.
    SrcColor,
    /// 1 - source colour.
    OneMinusSrcColor,
    /// Destination colour.
    DstColor,
    /// 1 - destination colour.
    OneMinusDstColor,
    /// Source alpha.
    SrcAlpha,
    /// 1 - source alpha.
    OneMinusSrcAlpha,
    /// Destination alpha.
    DstAlpha,
    /// 1 - destination alpha.
    OneMinusDstAlpha,
    /// Blend constant.
    ConstantColor,
    /// 1 - blend constant.
    OneMinusConstantColor,
    /// Alpha of the blend constant.
    ConstantAlpha,
    /// 1 - alpha of the blend constant.
    OneMinusConstantAlpha,
    /// The smaller of source alpha and 1 - destination alpha; 1 for alpha.
    SrcAlphaSaturate,
    /// Second source colour.
    Src1Color,
    /// 1 - second source colour.
    OneMinusSrc1Color,
    /// Second source alpha.
    Src1Alpha,
    /// 1 - second source alpha.
    OneMinusSrc1Alpha,
}

/// How the products are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlendOp {
    /// Source + destination.
    Add,
    /// Source - destination.
    Subtract,
    /// Destination - source.
    ReverseSubtract,
    /// The smaller colour; factors are ignored.
    Min,
    /// The larger colour; factors are ignored.
    Max,
}

/// One equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlendEquation {
    /// Factor of the source.
    pub src: BlendFactor,
    /// Factor of the destination.
    pub dst: BlendFactor,
    /// Combination.
    pub op: BlendOp,
}

/// Blending of colour and alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Blend {
    /// For R, G and B.
    pub color: BlendEquation,
    /// For A.
    pub alpha: BlendEquation,
}

/// Bitwise combination of source and destination, which replaces blending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogicOp {
    /// 0
    Clear,
    /// s & d
    And,
    /// s & !d
    AndReverse,
    /// s
    Copy,
    /// !s & d
    AndInverted,
    /// d
    NoOp,
    /// s ^ d
    Xor,
    /// s | d
    Or,
    /// !(s | d)
    Nor,
    /// !(s ^ d)
    Equivalent,
    /// !d
    Invert,
    /// s | !d
    OrReverse,
    /// !s
    CopyInverted,
    /// !s | d
    OrInverted,
    /// !(s & d)
    Nand,
    /// All ones.
    Set,
}

impl BlendFactor {
    pub(super) fn reads_dst(self) -> bool {
        use BlendFactor::{DstAlpha, DstColor, OneMinusDstAlpha, OneMinusDstColor, SrcAlphaSaturate};
        matches!(self, DstColor | OneMinusDstColor | DstAlpha | OneMinusDstAlpha | SrcAlphaSaturate)
    }

    pub(super) fn reads_src1(self) -> bool {
        use BlendFactor::{OneMinusSrc1Alpha, OneMinusSrc1Color, Src1Alpha, Src1Color};
        matches!(self, Src1Color | OneMinusSrc1Color | Src1Alpha | OneMinusSrc1Alpha)
    }

    /// What the factor is for the alpha component: there colours are alphas, and the saturating factor is 1.
    pub(super) fn of_alpha(self) -> Self {
        use BlendFactor as F;
        match self {
            F::SrcColor => F::SrcAlpha,
            F::OneMinusSrcColor => F::OneMinusSrcAlpha,
            F::DstColor => F::DstAlpha,
            F::OneMinusDstColor => F::OneMinusDstAlpha,
            F::ConstantColor => F::ConstantAlpha,
            F::OneMinusConstantColor => F::OneMinusConstantAlpha,
            F::Src1Color => F::Src1Alpha,
            F::OneMinusSrc1Color => F::OneMinusSrc1Alpha,
            F::SrcAlphaSaturate => F::One,
            other => other,
        }
    }

    /// What the factor is for a target without alpha, whose alpha is 1. `clamped`: sources are not negative.
    pub(super) fn without_alpha(self, clamped: bool) -> Self {
        match self {
            BlendFactor::DstAlpha => BlendFactor::One,
            BlendFactor::OneMinusDstAlpha => BlendFactor::Zero,
            BlendFactor::SrcAlphaSaturate if clamped => BlendFactor::Zero,
            other => other,
        }
    }
}

impl BlendEquation {
    /// The equation of a target that is not blended.
    pub const REPLACE: BlendEquation =
        BlendEquation { src: BlendFactor::One, dst: BlendFactor::Zero, op: BlendOp::Add };

    fn uses_factors(self) -> bool {
        !matches!(self.op, BlendOp::Min | BlendOp::Max)
    }

    pub(super) fn reads_dst(self) -> bool {
        !self.uses_factors() || self.src.reads_dst() || self.dst != BlendFactor::Zero
    }

    pub(super) fn reads_src1(self) -> bool {
        self.uses_factors() && (self.src.reads_src1() || self.dst.reads_src1())
    }

    pub(super) fn map(self, f: impl Fn(BlendFactor) -> BlendFactor) -> Self {
        BlendEquation { src: f(self.src), dst: f(self.dst), op: self.op }
    }
}

impl LogicOp {
    pub(super) fn reads_dst(self) -> bool {
        !matches!(self, LogicOp::Clear | LogicOp::Copy | LogicOp::CopyInverted | LogicOp::Set)
    }
}
