//! Blending of one sample on four bytes at once, with the mul unit's byte operations (qpu.md §2.4).
//!
//! The product of a source and a factor that does not depend on the destination is made in floats, because packing
//! multiplies for nothing; products with the destination are byte products. Byte operations round, so this is for
//! equations whose rounding errors keep a byte less than 3/2 from the exact value: less than 2 from the exactly
//! rounded byte, that is, at most 1.

use super::equation::{BlendEquation, BlendFactor, BlendOp};
use super::floats::{self, Factor};
use super::output::ColorOutput;
use super::sources::Sources;
use crate::qpu::{AddOp, MulOp, Unpack};
use crate::state::emitter::{Emitter, StateUniform};

/// Errors in 1/10000 of a byte's step: packing a float, and the quotient of `v8muld` (127/255).
const PACKED: u32 = 5001;
const PRODUCT: u32 = 4981;
/// Errors up to here are allowed.
const ALLOWED: u32 = 15_000;

const ALPHA: usize = 3;
const ALPHA_BYTE: u32 = 0xff00_0000;

/// Whether blending works on four bytes at once.
pub fn blends_bytes(output: &ColorOutput) -> bool {
    output.blends() && !output.precise && applies(output)
}

/// Whether all equations are exact enough on bytes.
fn applies(output: &ColorOutput) -> bool {
    let Some(order) = output.encoding.byte_order() else { return false };
    // Alpha is told apart by its byte.
    let alpha_on_top = output.encoding.has_alpha() == (order[3] == Some(ALPHA));
    alpha_on_top && (0..4).all(|n| !output.writes(n) || error(output.equation(n)) < ALLOWED)
}

/// The largest error of an equation. Factors are at most 1, so the error of an operand enters as it is.
fn error(equation: BlendEquation) -> u32 {
    use BlendFactor as F;
    if matches!(equation.op, BlendOp::Min | BlendOp::Max) {
        return PACKED;
    }
    let source = match equation.src {
        F::Zero => 0,
        F::SrcAlphaSaturate => PACKED + PACKED + PRODUCT,
        factor if factor.reads_dst() => PACKED + PRODUCT,
        _ => PACKED,
    };
    let destination = match equation.dst {
        F::Zero | F::One => 0,
        F::DstColor | F::OneMinusDstColor | F::DstAlpha | F::OneMinusDstAlpha => PRODUCT,
        _ => PACKED + PRODUCT,
    };
    source + destination
}

/// A word of bytes, or one that costs nothing.
#[derive(Clone, Copy)]
enum Bytes<V> {
    Zeros,
    Ones,
    Word(V),
}

struct Context<'a, E: Emitter> {
    e: &'a mut E,
    output: &'a ColorOutput,
    sources: &'a mut Sources<E::Value>,
    order: [Option<usize>; 4],
    dst: E::Value,
}

/// The word of the blended colour; the caller has asked [`applies`].
pub(super) fn emit<E: Emitter>(
    e: &mut E,
    output: &ColorOutput,
    sources: &mut Sources<E::Value>,
    dst: Option<E::Value>,
) -> E::Value {
    let zero = e.word(0);
    let order = output.encoding.byte_order().unwrap_or([None; 4]);
    // What is not written need not be computed apart from what is.
    let equations = match (output.writes(ALPHA), (0..3).any(|n| output.writes(n))) {
        (true, true) => [output.equation(0), output.equation(ALPHA)],
        (true, false) => [output.equation(ALPHA); 2],
        (false, _) => [output.equation(0); 2],
    };
    let mut context = Context { e, output, sources, order, dst: dst.unwrap_or(zero) };
    let [color, alpha] = equations;
    if color.op == alpha.op {
        return context.combine(color, alpha);
    }
    let rgb = context.combine(color, color);
    let a = context.combine(alpha, alpha);
    context.with_alpha(rgb, a)
}

impl<E: Emitter> Context<'_, E> {
    /// Bytes 0 to 2 by the first equation, byte 3 by the second, which has the same operation.
    fn combine(&mut self, color: BlendEquation, alpha: BlendEquation) -> E::Value {
        let op = color.op;
        if matches!(op, BlendOp::Min | BlendOp::Max) {
            let src = self.source_word(BlendFactor::One, BlendFactor::One);
            let op = if op == BlendOp::Min { MulOp::V8min } else { MulOp::V8max };
            return self.e.mul(op, src, self.dst);
        }
        let dst_factor = self.factor_word(color.dst, alpha.dst);
        let d = self.scaled_destination(dst_factor);
        if color.src == BlendFactor::Zero && alpha.src == BlendFactor::Zero {
            let zero = self.e.word(0);
            return if op == BlendOp::Subtract { zero } else { d.unwrap_or(zero) };
        }
        let s = self.source_term(color.src, alpha.src);
        let Some(d) = d else {
            return if op == BlendOp::ReverseSubtract { self.e.word(0) } else { s };
        };
        match op {
            BlendOp::Subtract => self.e.add(AddOp::V8subs, s, d),
            BlendOp::ReverseSubtract => self.e.add(AddOp::V8subs, d, s),
            _ => self.e.add(AddOp::V8adds, s, d),
        }
    }

    fn scaled_destination(&mut self, factor: Bytes<E::Value>) -> Option<E::Value> {
        match factor {
            Bytes::Zeros => None,
            Bytes::Ones => Some(self.dst),
            Bytes::Word(factor) => Some(self.e.mul(MulOp::V8muld, self.dst, factor)),
        }
    }

    /// Source times factor.
    fn source_term(&mut self, color: BlendFactor, alpha: BlendFactor) -> E::Value {
        // Factors without the destination are in the packed word already.
        let rest = |factor: BlendFactor| if factor.reads_dst() { factor } else { BlendFactor::One };
        let premultiplied = |factor: BlendFactor| if factor.reads_dst() { BlendFactor::One } else { factor };
        let word = self.source_word(premultiplied(color), premultiplied(alpha));
        match self.factor_word(rest(color), rest(alpha)) {
            Bytes::Word(factor) => self.e.mul(MulOp::V8muld, word, factor),
            _ => word,
        }
    }

    /// The source times factors of the source or constants, packed.
    fn source_word(&mut self, color: BlendFactor, alpha: BlendFactor) -> E::Value {
        let limit = self.limits_bytes(color, alpha).then(|| self.packed_alpha(0));
        let bytes = self.order.map(|component| match component {
            None => self.e.word(0),
            Some(n) => self.product(n, if n == ALPHA { alpha } else { color }, limit.is_some()),
        });
        let word = self.e.pack_unorm8(bytes);
        limit.map_or(word, |limit| self.e.mul(MulOp::V8min, word, limit))
    }

    /// Whether components beyond 1 are limited as bytes: min(c, 1) * a is min(c * a, a) where a is not negative, and packing keeps
    /// order. One operation for all, and one for alpha's bytes, which blending by alpha has anyway. Alpha itself, and 0, stay what
    /// they are.
    fn limits_bytes(&self, color: BlendFactor, alpha: BlendFactor) -> bool {
        use BlendFactor as F;
        let source = self.sources.raw[0];
        let multiplied = self.order.iter().flatten().filter(|&&n| n != ALPHA || alpha == F::SrcAlpha);
        let unlimited = multiplied.filter(|&&n| !self.e.is_limited(source[n])).count();
        color == F::SrcAlpha && matches!(alpha, F::SrcAlpha | F::One | F::Zero) && unlimited > 2
    }

    /// One source component times a factor that is not negative, to be packed, which clamps; what is `limited` later may exceed 1.
    fn product(&mut self, component: usize, factor: BlendFactor, limited: bool) -> E::Value {
        let none = [self.dst; 4];
        match floats::factor(self.e, self.output, factor, self.sources, &none, component) {
            Factor::Zero => self.e.word(0),
            Factor::One => self.sources.raw[0][component],
            Factor::Value(factor) => {
                let mut source = self.sources.raw[0][component];
                if !limited {
                    let one = self.e.float(1.0);
                    source = self.e.fmin(source, one);
                }
                self.e.fmul(source, factor)
            }
        }
    }

    /// Bytes of the colour factor, with those of alpha's factor on top.
    fn factor_word(&mut self, color: BlendFactor, alpha: BlendFactor) -> Bytes<E::Value> {
        let alpha = if self.output.encoding.has_alpha() { alpha.of_alpha() } else { color };
        let natural = color != BlendFactor::SrcAlphaSaturate && color.of_alpha() == alpha;
        let rgb = self.factor_bytes(color);
        if alpha == color || natural {
            return rgb;
        }
        let a = self.factor_bytes(alpha);
        Bytes::Word(match (rgb, a) {
            (Bytes::Word(rgb), Bytes::Zeros) => self.masked(rgb, !ALPHA_BYTE),
            (Bytes::Word(rgb), Bytes::Ones) => self.filled(rgb, ALPHA_BYTE),
            (Bytes::Zeros, Bytes::Word(a)) => self.masked(a, ALPHA_BYTE),
            (Bytes::Ones, Bytes::Word(a)) => self.filled(a, !ALPHA_BYTE),
            (Bytes::Word(rgb), Bytes::Word(a)) => self.with_alpha(rgb, a),
            (Bytes::Zeros, _) => self.e.word(ALPHA_BYTE),
            (Bytes::Ones, _) => self.e.word(!ALPHA_BYTE),
        })
    }

    fn masked(&mut self, word: E::Value, mask: u32) -> E::Value {
        let mask = self.e.word(mask);
        self.e.and(word, mask)
    }

    fn filled(&mut self, word: E::Value, ones: u32) -> E::Value {
        let ones = self.e.word(ones);
        self.e.or(word, ones)
    }

    /// Bytes 0 to 2 of one word and byte 3 of another.
    fn with_alpha(&mut self, rgb: E::Value, a: E::Value) -> E::Value {
        let (rgb, a) = (self.masked(rgb, !ALPHA_BYTE), self.masked(a, ALPHA_BYTE));
        self.e.or(rgb, a)
    }

    /// The factor of every component in its byte.
    fn factor_bytes(&mut self, factor: BlendFactor) -> Bytes<E::Value> {
        use BlendFactor as F;
        let word = match factor {
            F::Zero => return Bytes::Zeros,
            F::One => return Bytes::Ones,
            F::SrcColor | F::OneMinusSrcColor => self.packed_color(0),
            F::Src1Color | F::OneMinusSrc1Color => self.packed_color(1),
            F::SrcAlpha | F::OneMinusSrcAlpha => self.packed_alpha(0),
            F::Src1Alpha | F::OneMinusSrc1Alpha => self.packed_alpha(1),
            F::DstColor | F::OneMinusDstColor => self.dst,
            F::DstAlpha | F::OneMinusDstAlpha => self.destination_alpha(),
            F::ConstantColor | F::OneMinusConstantColor => {
                let components = self.order.map(|component| component.unwrap_or(ALPHA) as u8);
                self.e.uniform(StateUniform::BlendConstantBytes(components))
            }
            F::ConstantAlpha | F::OneMinusConstantAlpha => {
                self.e.uniform(StateUniform::BlendConstantBytes([ALPHA as u8; 4]))
            }
            F::SrcAlphaSaturate => {
                let (alpha, old) = (self.packed_alpha(0), self.destination_alpha());
                let room = self.inverted(old);
                return Bytes::Word(self.e.mul(MulOp::V8min, alpha, room));
            }
        };
        let inverted = matches!(
            factor,
            F::OneMinusSrcColor
                | F::OneMinusSrc1Color
                | F::OneMinusSrcAlpha
                | F::OneMinusSrc1Alpha
                | F::OneMinusDstColor
                | F::OneMinusDstAlpha
                | F::OneMinusConstantColor
                | F::OneMinusConstantAlpha
        );
        Bytes::Word(if inverted { self.inverted(word) } else { word })
    }

    /// 1 - v in every byte.
    fn inverted(&mut self, word: E::Value) -> E::Value {
        self.e.add(AddOp::Not, word, word)
    }

    fn packed_color(&mut self, source: usize) -> E::Value {
        let zero = self.e.word(0);
        let color = self.sources.raw[source];
        self.e.pack_unorm8(self.order.map(|component| component.map_or(zero, |n| color[n])))
    }

    fn packed_alpha(&mut self, source: usize) -> E::Value {
        self.e.pack_unorm8([self.sources.raw[source][ALPHA]; 4])
    }

    fn destination_alpha(&mut self) -> E::Value {
        self.e.unpack(self.dst, Unpack::Rep8d, false)
    }
}
