//! Colour output: packing for the target's format, blending, logic operations and the write mask (v3d.md §13,
//! T-BLEND). The machine writes words; everything else is done here, on floats, per sample where the
//! destination takes part.

use super::raster::StateError;
use super::{Emitter, SampleEmitter, StateUniform};
use crate::image::layout::MSAA_SAMPLES;
use crate::image::{FormatInfo, TileFormat};
use crate::qpu::{AddOp, Unpack};

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

/// What happens between the fragment program's colour and the tile buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColorOutput {
    /// Format of the target.
    pub format: &'static FormatInfo,
    /// Components that are written, R, G, B, A.
    pub write: [bool; 4],
    /// Blending; `None` writes the source.
    pub blend: Option<Blend>,
    /// Logic operation; replaces blending.
    pub logic_op: Option<LogicOp>,
    /// The target has four samples.
    pub multisample: bool,
}

/// A word of state or a number that costs nothing.
#[derive(Clone, Copy)]
enum Factor<V> {
    Zero,
    One,
    Value(V),
}

/// Colours of one sample.
struct Operands<V> {
    src: [V; 4],
    src1: Option<[V; 4]>,
    dst: [V; 4],
}

impl BlendFactor {
    fn reads_dst(self) -> bool {
        use BlendFactor::{DstAlpha, DstColor, OneMinusDstAlpha, OneMinusDstColor, SrcAlphaSaturate};
        matches!(self, DstColor | OneMinusDstColor | DstAlpha | OneMinusDstAlpha | SrcAlphaSaturate)
    }

    fn reads_src1(self) -> bool {
        use BlendFactor::{OneMinusSrc1Alpha, OneMinusSrc1Color, Src1Alpha, Src1Color};
        matches!(self, Src1Color | OneMinusSrc1Color | Src1Alpha | OneMinusSrc1Alpha)
    }
}

impl BlendEquation {
    /// The equation of a target that is not blended.
    pub const REPLACE: BlendEquation =
        BlendEquation { src: BlendFactor::One, dst: BlendFactor::Zero, op: BlendOp::Add };

    fn uses_factors(self) -> bool {
        !matches!(self.op, BlendOp::Min | BlendOp::Max)
    }

    fn reads_dst(self) -> bool {
        !self.uses_factors() || self.src.reads_dst() || self.dst != BlendFactor::Zero
    }

    fn reads_src1(self) -> bool {
        self.uses_factors() && (self.src.reads_src1() || self.dst.reads_src1())
    }
}

impl LogicOp {
    fn reads_dst(self) -> bool {
        !matches!(self, LogicOp::Clear | LogicOp::Copy | LogicOp::CopyInverted | LogicOp::Set)
    }
}

impl ColorOutput {
    /// An unblended target.
    pub fn plain(format: &'static FormatInfo, multisample: bool) -> Self {
        ColorOutput { format, write: [true; 4], blend: None, logic_op: None, multisample }
    }

    /// The equation of a component, 0–3.
    fn equation(&self, component: usize) -> BlendEquation {
        match self.blend {
            Some(blend) if component < 3 => blend.color,
            Some(blend) => blend.alpha,
            None => BlendEquation::REPLACE,
        }
    }

    /// Whether the target keeps component `component`, so that it matters.
    fn stores(&self, component: usize) -> bool {
        component < 3 || self.format.has_alpha()
    }

    /// Whether some component that the target keeps is not written.
    fn masks(&self) -> bool {
        (0..4).any(|component| self.stores(component) && !self.write[component])
    }

    /// Whether the program's colour reaches the target at all.
    pub fn writes_color(&self) -> bool {
        (0..4).any(|component| self.stores(component) && self.write[component])
    }

    /// Whether some component is the result of an equation other than the source itself.
    fn blends(&self) -> bool {
        self.logic_op.is_none() && (0..4).any(|n| self.equation(n) != BlendEquation::REPLACE)
    }

    /// The component in each byte of the tile's word, if this output can be written.
    fn check(&self, second_source: bool) -> Result<[usize; 4], StateError> {
        if self.reads_second_source() && !second_source {
            return Err(StateError::SecondSource);
        }
        self.format.tile_order().ok_or(StateError::NoColorTarget(self.format.name))
    }

    /// Whether the destination is read.
    pub fn reads_destination(&self) -> bool {
        let combined = match self.logic_op {
            Some(op) => op.reads_dst(),
            None => (0..4).any(|n| self.stores(n) && self.write[n] && self.equation(n).reads_dst()),
        };
        self.writes_color() && (combined || self.masks())
    }

    /// Whether blending uses the program's second colour.
    pub fn reads_second_source(&self) -> bool {
        self.logic_op.is_none()
            && (0..4).any(|n| self.stores(n) && self.write[n] && self.equation(n).reads_src1())
    }
}

/// Writes the colour of a fragment program to the tile buffer. `src` and `src1` are R, G, B, A as floats. A
/// multisampled target whose destination takes part needs [`emit_color_samples`].
///
/// Emits nothing if no component is written; such a program must touch the tile buffer in another way, by its depth
/// (UNVERIFIED: what does the machine do with a fragment program that never touches the tile buffer?).
pub fn emit_color<E: Emitter>(
    e: &mut E,
    output: &ColorOutput,
    src: [E::Value; 4],
    src1: Option<[E::Value; 4]>,
) -> Result<(), StateError> {
    let order = output.check(src1.is_some())?;
    if output.multisample && output.reads_destination() {
        return Err(StateError::Samples);
    }
    if output.writes_color() {
        let (src, src1) = prepared(e, output, src, src1);
        let dst = if output.reads_destination() { Some(e.tlb_color()) } else { None };
        let word = finish(e, output, order, src, src1, dst);
        e.write_tlb_color(word);
    }
    Ok(())
}

/// As [`emit_color`], for every target: where the destination takes part, each of the four samples is read, combined
/// and written in turn.
pub fn emit_color_samples<E: SampleEmitter>(
    e: &mut E,
    output: &ColorOutput,
    src: [E::Value; 4],
    src1: Option<[E::Value; 4]>,
) -> Result<(), StateError> {
    if !output.multisample || !output.reads_destination() {
        return emit_color(e, output, src, src1);
    }
    let order = output.check(src1.is_some())?;
    let (src, src1) = prepared(e, output, src, src1);
    for _ in 0..MSAA_SAMPLES {
        let dst = e.tlb_color();
        let word = finish(e, output, order, src, src1, Some(dst));
        e.write_tlb_color_sample(word);
    }
    Ok(())
}

/// The sources as operands of what follows.
fn prepared<E: Emitter>(
    e: &mut E,
    output: &ColorOutput,
    src: [E::Value; 4],
    src1: Option<[E::Value; 4]>,
) -> ([E::Value; 4], Option<[E::Value; 4]>) {
    if !output.blends() {
        return (src, None);
    }
    let second = src1.filter(|_| output.reads_second_source());
    (clamped(e, src), second.map(|src1| clamped(e, src1)))
}

/// The word of one sample.
fn finish<E: Emitter>(
    e: &mut E,
    output: &ColorOutput,
    order: [usize; 4],
    src: [E::Value; 4],
    src1: Option<[E::Value; 4]>,
    dst: Option<E::Value>,
) -> E::Value {
    let mut word = match (output.logic_op, output.blend) {
        (Some(op), _) => {
            let src = pack(e, order, src);
            logic(e, op, src, dst)
        }
        (None, Some(_)) if output.blends() => {
            let color = blended(e, output, order, src, src1, dst);
            pack(e, order, color)
        }
        (None, _) => pack(e, order, src),
    };
    if let (Some(dst), true) = (dst, output.masks()) {
        word = merge(e, output, order, word, dst);
    }
    word
}

fn pack<E: Emitter>(e: &mut E, order: [usize; 4], color: [E::Value; 4]) -> E::Value {
    e.pack_unorm8(order.map(|component| color[component]))
}

/// Keeps the destination's bytes of the components that are not written.
fn merge<E: Emitter>(
    e: &mut E,
    output: &ColorOutput,
    order: [usize; 4],
    word: E::Value,
    dst: E::Value,
) -> E::Value {
    let mut bytes = [0u8; 4];
    for (byte, component) in order.into_iter().enumerate() {
        bytes[byte] = if output.write[component] { 0xff } else { 0 };
    }
    let written = u32::from_le_bytes(bytes);
    let (written, kept) = (e.word(written), e.word(!written));
    let new = e.and(word, written);
    let old = e.and(dst, kept);
    e.or(new, old)
}

/// Operands of blending are clamped on fixed-point targets; results are by packing.
fn clamped<E: Emitter>(e: &mut E, color: [E::Value; 4]) -> [E::Value; 4] {
    let (zero, one) = (e.word(0), e.float(1.0));
    color.map(|value| {
        let value = e.fmax(value, zero);
        e.fmin(value, one)
    })
}

/// The blended colour; components that are not written keep the source's value, as nobody looks at them.
fn blended<E: Emitter>(
    e: &mut E,
    output: &ColorOutput,
    order: [usize; 4],
    src: [E::Value; 4],
    src1: Option<[E::Value; 4]>,
    dst: Option<E::Value>,
) -> [E::Value; 4] {
    let (zero, one) = (e.word(0), e.float(1.0));
    let mut operands = Operands { src, src1, dst: [zero, zero, zero, one] };
    if let Some(dst) = dst {
        let bytes = [Unpack::Byte0, Unpack::Byte1, Unpack::Byte2, Unpack::Byte3];
        for (byte, component) in order.into_iter().enumerate() {
            // A format without alpha has alpha 1 whatever the tile holds.
            if output.stores(component) {
                operands.dst[component] = e.unpack(dst, bytes[byte], true);
            }
        }
    }
    let mut color = src;
    for (component, value) in color.iter_mut().enumerate() {
        if output.stores(component) && output.write[component] {
            *value = equation(e, output.equation(component), &operands, component);
        }
    }
    color
}

fn equation<E: Emitter>(
    e: &mut E,
    equation: BlendEquation,
    operands: &Operands<E::Value>,
    component: usize,
) -> E::Value {
    let (src, dst) = (operands.src[component], operands.dst[component]);
    match equation.op {
        BlendOp::Min => return e.fmin(src, dst),
        BlendOp::Max => return e.fmax(src, dst),
        BlendOp::Add | BlendOp::Subtract | BlendOp::ReverseSubtract => {}
    }
    let src_factor = factor(e, equation.src, operands, component);
    let dst_factor = factor(e, equation.dst, operands, component);
    let (s, d) = (scaled(e, src, src_factor), scaled(e, dst, dst_factor));
    let zero = e.word(0);
    match (equation.op, s, d) {
        (BlendOp::Add, Some(s), Some(d)) => e.fadd(s, d),
        (BlendOp::Subtract, Some(s), Some(d)) => e.fsub(s, d),
        (BlendOp::ReverseSubtract, Some(s), Some(d)) => e.fsub(d, s),
        (BlendOp::Add | BlendOp::Subtract, Some(s), None) => s,
        (BlendOp::Add | BlendOp::ReverseSubtract, None, Some(d)) => d,
        // The rest is zero or below, which packing makes zero.
        _ => zero,
    }
}

/// `value * factor`; `None` is zero.
fn scaled<E: Emitter>(e: &mut E, value: E::Value, factor: Factor<E::Value>) -> Option<E::Value> {
    match factor {
        Factor::Zero => None,
        Factor::One => Some(value),
        Factor::Value(factor) => Some(e.fmul(value, factor)),
    }
}

fn factor<E: Emitter>(
    e: &mut E,
    factor: BlendFactor,
    operands: &Operands<E::Value>,
    component: usize,
) -> Factor<E::Value> {
    use BlendFactor as F;
    const ALPHA: usize = 3;
    // The caller has checked that the second source is there if a factor reads it.
    let src1 = operands.src1.unwrap_or(operands.src);
    let value = match factor {
        F::Zero => return Factor::Zero,
        F::One => return Factor::One,
        F::SrcColor | F::OneMinusSrcColor => operands.src[component],
        F::DstColor | F::OneMinusDstColor => operands.dst[component],
        F::SrcAlpha | F::OneMinusSrcAlpha => operands.src[ALPHA],
        F::DstAlpha | F::OneMinusDstAlpha => operands.dst[ALPHA],
        F::ConstantColor | F::OneMinusConstantColor => {
            e.uniform(StateUniform::BlendConstant(component as u8))
        }
        F::ConstantAlpha | F::OneMinusConstantAlpha => e.uniform(StateUniform::BlendConstant(ALPHA as u8)),
        F::Src1Color | F::OneMinusSrc1Color => src1[component],
        F::Src1Alpha | F::OneMinusSrc1Alpha => src1[ALPHA],
        F::SrcAlphaSaturate if component == ALPHA => return Factor::One,
        F::SrcAlphaSaturate => {
            let room = complement(e, operands.dst[ALPHA]);
            return Factor::Value(e.fmin(operands.src[ALPHA], room));
        }
    };
    Factor::Value(match factor {
        F::OneMinusSrcColor
        | F::OneMinusDstColor
        | F::OneMinusSrcAlpha
        | F::OneMinusDstAlpha
        | F::OneMinusConstantColor
        | F::OneMinusConstantAlpha
        | F::OneMinusSrc1Color
        | F::OneMinusSrc1Alpha => complement(e, value),
        _ => value,
    })
}

/// 1 - value
fn complement<E: Emitter>(e: &mut E, value: E::Value) -> E::Value {
    let one = e.float(1.0);
    e.fsub(one, value)
}

/// A logic operation on whole words.
fn logic<E: Emitter>(e: &mut E, op: LogicOp, s: E::Value, dst: Option<E::Value>) -> E::Value {
    let d = dst.unwrap_or(s);
    match op {
        LogicOp::Clear => e.word(0),
        LogicOp::Set => e.word(u32::MAX),
        LogicOp::Copy => s,
        LogicOp::NoOp => d,
        LogicOp::And => e.and(s, d),
        LogicOp::Or => e.or(s, d),
        LogicOp::Xor => e.add(AddOp::Xor, s, d),
        LogicOp::CopyInverted => not(e, s),
        LogicOp::Invert => not(e, d),
        LogicOp::AndReverse => {
            let d = not(e, d);
            e.and(s, d)
        }
        LogicOp::AndInverted => {
            let s = not(e, s);
            e.and(s, d)
        }
        LogicOp::OrReverse => {
            let d = not(e, d);
            e.or(s, d)
        }
        LogicOp::OrInverted => {
            let s = not(e, s);
            e.or(s, d)
        }
        LogicOp::Nor => {
            let word = e.or(s, d);
            not(e, word)
        }
        LogicOp::Equivalent => {
            let word = e.add(AddOp::Xor, s, d);
            not(e, word)
        }
        LogicOp::Nand => {
            let word = e.and(s, d);
            not(e, word)
        }
    }
}

fn not<E: Emitter>(e: &mut E, a: E::Value) -> E::Value {
    e.add(AddOp::Not, a, a)
}

/// Whether a logic operation acts on the bits that the target keeps: a 16-bit target is converted when it is stored,
/// so its operation would act on other bits.
pub fn logic_op_is_exact(format: &FormatInfo) -> bool {
    format.tile == Some(TileFormat::Rgba8888)
}
