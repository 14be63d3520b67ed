//! Colour output: packing for the target's format, blending, logic operations and the write mask (v3d.md §13,
//! T-BLEND). The machine writes words; everything else is done here, per sample where the destination takes part: on
//! four bytes at once where that is exact enough ([`super::blend_bytes`]), else on floats ([`super::blend_floats`]).

use super::logic::logic;
use super::raster::StateError;
use super::target::{ColorKind, Encoding, encode};
use super::{Emitter, SampleEmitter, blend_bytes, blend_floats};
use crate::image::layout::MSAA_SAMPLES;
use crate::image::{FormatInfo, TileFormat};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ColorOutput {
    /// Format of the target's memory: how the tile buffer loads and stores it.
    pub format: &'static FormatInfo,
    /// What the bits of the tile's word mean.
    pub encoding: Encoding,
    /// Components that are written, R, G, B, A.
    pub write: [bool; 4],
    /// Blending; `None` writes the source.
    pub blend: Option<Blend>,
    /// Logic operation; replaces blending.
    pub logic_op: Option<LogicOp>,
    /// The target has four samples.
    pub multisample: bool,
    /// Blend in floats even where bytes are exact enough.
    pub precise: bool,
}

impl BlendFactor {
    pub(super) fn reads_dst(self) -> bool {
        use BlendFactor::{DstAlpha, DstColor, OneMinusDstAlpha, OneMinusDstColor, SrcAlphaSaturate};
        matches!(self, DstColor | OneMinusDstColor | DstAlpha | OneMinusDstAlpha | SrcAlphaSaturate)
    }

    fn reads_src1(self) -> bool {
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
    fn without_alpha(self, clamped: bool) -> Self {
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

    fn reads_dst(self) -> bool {
        !self.uses_factors() || self.src.reads_dst() || self.dst != BlendFactor::Zero
    }

    fn reads_src1(self) -> bool {
        self.uses_factors() && (self.src.reads_src1() || self.dst.reads_src1())
    }

    fn map(self, f: impl Fn(BlendFactor) -> BlendFactor) -> Self {
        BlendEquation { src: f(self.src), dst: f(self.dst), op: self.op }
    }
}

impl LogicOp {
    fn reads_dst(self) -> bool {
        !matches!(self, LogicOp::Clear | LogicOp::Copy | LogicOp::CopyInverted | LogicOp::Set)
    }
}

impl ColorOutput {
    /// An unblended target of a format that the table of formats describes.
    pub fn plain(format: &'static FormatInfo, multisample: bool) -> Self {
        let encoding = Encoding::of_format(format).unwrap_or(Encoding::RGBA8);
        ColorOutput {
            format,
            encoding,
            write: [true; 4],
            blend: None,
            logic_op: None,
            multisample,
            precise: false,
        }
    }

    /// An unblended target of 32-bit words that mean what `encoding` says.
    pub fn encoded(encoding: Encoding, multisample: bool) -> Self {
        ColorOutput { encoding, ..ColorOutput::plain(crate::image::Format::R8G8B8A8.info(), multisample) }
    }

    /// The logic operation, if it acts on this target.
    fn logic(&self) -> Option<LogicOp> {
        self.logic_op.filter(|_| self.encoding.has_logic())
    }

    /// The equation of a component, 0-3, in its simplest form. A logic operation turns blending off, even where it
    /// does not act.
    pub(super) fn equation(&self, component: usize) -> BlendEquation {
        let equation = match self.blend.filter(|_| self.logic_op.is_none()) {
            Some(blend) if component < 3 => blend.color,
            Some(blend) => blend.alpha.map(BlendFactor::of_alpha),
            None => BlendEquation::REPLACE,
        };
        let clamped = matches!(self.encoding.kind, ColorKind::Unorm | ColorKind::Srgb);
        if self.encoding.has_alpha() { equation } else { equation.map(|f| f.without_alpha(clamped)) }
    }

    /// Whether the target keeps component `component`, so that it matters.
    fn stores(&self, component: usize) -> bool {
        self.encoding.has(component)
    }

    /// Whether some component that the target keeps is not written.
    fn masks(&self) -> bool {
        (0..4).any(|component| self.stores(component) && !self.write[component])
    }

    /// Whether component `component` is written and kept.
    pub(super) fn writes(&self, component: usize) -> bool {
        self.stores(component) && self.write[component]
    }

    /// Whether the program's colour reaches the target at all.
    pub fn writes_color(&self) -> bool {
        (0..4).any(|component| self.writes(component))
    }

    /// Whether some component is the result of an equation other than the source itself.
    fn blends(&self) -> bool {
        (0..4).any(|n| self.writes(n) && self.equation(n) != BlendEquation::REPLACE)
    }

    /// Whether blending works on four bytes at once.
    pub fn blends_bytes(&self) -> bool {
        self.blends() && !self.precise && blend_bytes::applies(self)
    }

    /// Whether this output can be written.
    fn check(&self, second_source: bool) -> Result<(), StateError> {
        if self.reads_second_source() && !second_source {
            return Err(StateError::SecondSource);
        }
        if !matches!(self.format.tile, Some(TileFormat::Rgba8888 | TileFormat::Bgr565)) {
            return Err(StateError::NoColorTarget(self.format.name));
        }
        if self.blends() && !self.encoding.blends() {
            return Err(StateError::NoBlending);
        }
        Ok(())
    }

    /// Whether blending looks at the alpha of the destination, which with wide formats lies in another word than red.
    pub fn reads_destination_alpha(&self) -> bool {
        use BlendFactor::{DstAlpha, OneMinusDstAlpha, SrcAlphaSaturate};
        let reads = |factor| matches!(factor, DstAlpha | OneMinusDstAlpha | SrcAlphaSaturate);
        self.blend.is_some_and(|Blend { color, .. }| reads(color.src) || reads(color.dst))
    }

    /// Whether the destination is read.
    pub fn reads_destination(&self) -> bool {
        let combined = match self.logic() {
            Some(op) => op.reads_dst(),
            None => (0..4).any(|n| self.writes(n) && self.equation(n).reads_dst()),
        };
        self.writes_color() && (combined || self.masks())
    }

    /// Whether blending uses the program's second colour.
    pub fn reads_second_source(&self) -> bool {
        (0..4).any(|n| self.writes(n) && self.equation(n).reads_src1())
    }
}

/// Writes the colour of a fragment program to the tile buffer. `src` and `src1` are R, G, B, A as floats, or as
/// integers for integer targets. A multisampled target whose destination takes part needs [`emit_color_samples`].
///
/// Emits nothing if no component is written; such a program must touch the tile buffer in another way, by its depth
/// (UNVERIFIED: what does the machine do with a fragment program that never touches the tile buffer?).
pub fn emit_color<E: Emitter>(
    e: &mut E,
    output: &ColorOutput,
    src: [E::Value; 4],
    src1: Option<[E::Value; 4]>,
) -> Result<(), StateError> {
    output.check(src1.is_some())?;
    if output.multisample && output.reads_destination() {
        return Err(StateError::Samples);
    }
    if output.writes_color() {
        let mut sources = Sources::new(src, src1);
        let dst = if output.reads_destination() { Some(e.tlb_color()) } else { None };
        let word = finish(e, output, &mut sources, dst);
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
    output.check(src1.is_some())?;
    if output.writes_color() {
        let mut sources = Sources::new(src, src1);
        for _ in 0..MSAA_SAMPLES {
            let dst = e.tlb_color();
            let word = finish(e, output, &mut sources, Some(dst));
            e.write_tlb_color_sample(word);
        }
    }
    Ok(())
}

/// The program's colours, and what was computed of them for an earlier sample.
pub(super) struct Sources<V> {
    /// First and second colour; the second is the first where nothing reads it.
    pub raw: [[V; 4]; 2],
    clamped: [[Option<V>; 4]; 2],
    /// The packed word of the first colour.
    packed: Option<V>,
}

impl<V: Copy> Sources<V> {
    fn new(src: [V; 4], src1: Option<[V; 4]>) -> Self {
        Sources { raw: [src, src1.unwrap_or(src)], clamped: [[None; 4]; 2], packed: None }
    }

    /// A component within the bounds of the target's operands.
    pub fn operand<E: Emitter<Value = V>>(
        &mut self,
        e: &mut E,
        encoding: &Encoding,
        source: usize,
        component: usize,
    ) -> V {
        let raw = self.raw[source][component];
        *self.clamped[source][component].get_or_insert_with(|| clamped(e, encoding, raw))
    }

    /// The word of the first colour alone.
    fn word<E: Emitter<Value = V>>(&mut self, e: &mut E, encoding: &Encoding) -> V {
        let src = self.raw[0];
        *self.packed.get_or_insert_with(|| encode(e, encoding, src))
    }
}

/// Operands of blending are clamped on fixed-point targets; results are by packing.
pub(super) fn clamped<E: Emitter>(e: &mut E, encoding: &Encoding, value: E::Value) -> E::Value {
    let Some([low, high]) = encoding.bounds() else { return value };
    let (low, high) = (e.float(low), e.float(high));
    let value = e.fmax(value, low);
    e.fmin(value, high)
}

/// The word of one sample.
fn finish<E: Emitter>(
    e: &mut E,
    output: &ColorOutput,
    sources: &mut Sources<E::Value>,
    dst: Option<E::Value>,
) -> E::Value {
    let mut word = match output.logic() {
        Some(op) => {
            let src = sources.word(e, &output.encoding);
            let src = if output.encoding.stores_565 { round_565(e, src) } else { src };
            logic(e, op, src, dst)
        }
        None if output.blends_bytes() => blend_bytes::emit(e, output, sources, dst),
        None if output.blends() => blend_floats::emit(e, output, sources, dst),
        None => sources.word(e, &output.encoding),
    };
    if output.encoding.stores_565 {
        word = if output.logic().is_some() { fill_565(e, word) } else { expand_565(e, word) };
    }
    match dst {
        Some(dst) if output.masks() => merge(e, output, word, dst),
        _ => word,
    }
}

/// Keeps the destination's bits of the components that are not written.
fn merge<E: Emitter>(e: &mut E, output: &ColorOutput, word: E::Value, dst: E::Value) -> E::Value {
    let kept = output.encoding.mask(output.write.map(|write| !write));
    let (written, kept) = (e.word(!kept), e.word(kept));
    let new = e.and(word, written);
    let old = e.and(dst, kept);
    e.or(new, old)
}

/// Largest numbers of five-, six- and five-bit fields, in the bytes of the fields.
const MOST_565: u32 = 0x001f_3f1f;
/// The bits of bytes that RGB565 keeps.
const KEPT_565: u32 = 0x00f8_fcf8;

/// The high bits of the bytes 0 to 2 rounded to what RGB565 can keep, with zeros below them.
fn round_565<E: Emitter>(e: &mut E, word: E::Value) -> E::Value {
    let (most, fives) = (e.word(MOST_565), e.word(0x00ff_00ff));
    // Rounds to nearest (qpu.md §2.4).
    let fields = e.mul(crate::qpu::MulOp::V8muld, word, most);
    let green = e.shl(fields, 2);
    let again = e.and(green, fives);
    e.add(crate::qpu::AddOp::Add, green, again)
}

/// Repeats the high bits of the fields of `word` below them: however the store rounds and the load expands, the
/// pixel in memory is this one, and blending in the tile sees what a load would bring.
fn fill_565<E: Emitter>(e: &mut E, word: E::Value) -> E::Value {
    let kept = e.word(KEPT_565);
    let word = e.and(word, kept);
    let (fives, six) = (e.word(0x0007_0007), e.word(0x0000_0300));
    let low_fives = e.shr(word, 5);
    let low_six = e.shr(word, 6);
    let low_fives = e.and(low_fives, fives);
    let low_six = e.and(low_six, six);
    let low = e.or(low_fives, low_six);
    e.or(word, low)
}

/// Bytes 0 to 2 as RGB565 keeps them.
fn expand_565<E: Emitter>(e: &mut E, word: E::Value) -> E::Value {
    let word = round_565(e, word);
    fill_565(e, word)
}

/// Whether a logic operation acts on the bits that the target keeps.
pub fn logic_op_is_exact(format: &FormatInfo) -> bool {
    matches!(format.tile, Some(TileFormat::Rgba8888 | TileFormat::Bgr565))
}
