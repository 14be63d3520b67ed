//! Quotients and remainders of words, which the QPU has not: by the reciprocal of the divisor as a float.
//!
//! An estimate that is a little too small by construction leaves a remainder that is repaired by one comparison. Bounds
//! of both numbers ([`Span`]) tell how much of that is needed: pixels and texels are few, and their quotients by constants are exact.

use vc4::qpu::MulOp;

use super::words::{float_to_unsigned, multiply_of, unsigned_to_float};
use crate::ir::{Builder, Op, Value};
use crate::pass::analysis::bounds;
use crate::pass::analysis::span::Span;

/// What is asked of a signed division.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Signed {
    Quotient,
    /// With the sign of the dividend.
    Remainder,
    /// With the sign of the divisor.
    Modulo,
}

/// A number without sign.
struct Operand {
    word: Value,
    /// The same as a float, cut off.
    float: Value,
    span: Span,
}

/// Up to this the floats of both numbers, and of products that are no larger, are exact.
const EXACT: i64 = 1 << 22;

/// Quotients below this are one too small at most after one estimate, whose relative error is below 9 units of 2^-23: four
/// that are taken off, two of the reciprocal, and what conversions and the product cut off.
const ONE_ESTIMATE: i64 = 1 << 19;

/// Numbers below this are exact floats.
const EXACT_FLOATS: i64 = 1 << 24;

/// Units that are taken off a reciprocal, so that no estimate exceeds the quotient.
const UNITS: u32 = 4;

/// Quotient and remainder of numbers without sign.
pub(super) fn unsigned(b: &mut Builder, dividend: Value, divisor: Value) -> (Value, Value) {
    let [dividend, divisor] = [dividend, divisor].map(|word| Operand {
        word,
        float: unsigned_to_float(b, word),
        span: bounds::span(b.shader, word).unsigned(),
    });
    divide(b, &dividend, &divisor)
}

/// One result of a signed division.
pub(super) fn signed(b: &mut Builder, dividend: Value, divisor: Value, what: Signed) -> Value {
    let (dividend_sign, dividend_magnitude) = magnitude(b, dividend);
    let (divisor_sign, divisor_magnitude) = magnitude(b, divisor);
    let (quotient, remainder) = divide(b, &dividend_magnitude, &divisor_magnitude);
    match what {
        Signed::Quotient => {
            let sign = match (dividend_sign, divisor_sign) {
                (Some(x), Some(y)) => Some(b.op(Op::Xor, &[x, y])),
                (x, y) => x.or(y),
            };
            negate_where(b, quotient, sign)
        }
        Signed::Remainder => negate_where(b, remainder, dividend_sign),
        Signed::Modulo => {
            let remainder = negate_where(b, remainder, dividend_sign);
            match (dividend_sign, divisor_sign) {
                (None, None) => remainder,
                (_, divisor_sign) => modulo(b, remainder, divisor, divisor_sign.is_none()),
            }
        }
    }
}

/// A remainder moved to the side of the divisor.
fn modulo(b: &mut Builder, remainder: Value, divisor: Value, is_positive: bool) -> Value {
    let zero = b.word(0);
    let moved = b.op(Op::IAdd, &[remainder, divisor]);
    if is_positive {
        let negative = b.op(Op::SLt, &[remainder, zero]);
        return b.select(negative, moved, remainder);
    }
    let differs = b.op(Op::Xor, &[remainder, divisor]);
    let differs = b.op(Op::SLt, &[differs, zero]);
    let moved = b.select(differs, moved, remainder);
    let none = b.op(Op::IEq, &[remainder, zero]);
    b.select(none, zero, moved)
}

/// All ones where a word is negative, if it may be, and its magnitude.
fn magnitude(b: &mut Builder, word: Value) -> (Option<Value>, Operand) {
    let span = bounds::span(b.shader, word);
    let float = b.op(Op::SToF, &[word]);
    if span.is_positive() {
        return (None, Operand { word, float, span });
    }
    let last = b.word(31);
    let sign = b.op(Op::Asr, &[word, last]);
    let magnitude = negate_where(b, word, Some(sign));
    let float = b.op(Op::FAbs, &[float]);
    (Some(sign), Operand { word: magnitude, float, span: span.magnitude() })
}

/// -word where the mask is all ones: (word ^ mask) - mask.
fn negate_where(b: &mut Builder, word: Value, mask: Option<Value>) -> Value {
    let Some(mask) = mask else { return word };
    let flipped = b.op(Op::Xor, &[word, mask]);
    b.op(Op::ISub, &[flipped, mask])
}

/// Quotient and remainder.
fn divide(b: &mut Builder, dividend: &Operand, divisor: &Operand) -> (Value, Value) {
    // By zero any word will do.
    let (most, least) = (dividend.span.high, divisor.span.low.max(1));
    if most < 2 * least {
        let zero = b.word(0);
        return repaired(b, divisor.word, zero, dividend.word);
    }
    let constant = b.shader.const_of(divisor.word).map(i64::from).filter(|&by| by != 0);
    if let Some(by) = constant.filter(|&by| most.max(by) <= EXACT) {
        // By the unit that the reciprocal is more, quotients that are whole stay whole, and none reaches the next one: that is
        // 1 / divisor away at least, and quotient · 2^-23 is less.
        let inverse = b.float(above(by));
        let quotient = b.op(Op::FMul, &[dividend.float, inverse]);
        let quotient = b.op(Op::FToS, &[quotient]);
        let back = b.op(Op::Mul(MulOp::Mul24), &[quotient, divisor.word]);
        return (quotient, b.op(Op::ISub, &[dividend.word, back]));
    }
    let inverse = inverse(b, divisor, constant);
    let first = b.op(Op::FMul, &[dividend.float, inverse]);
    // What was taken off the reciprocal keeps the estimate of 2^31 / 1 below 2^31.
    let first = if most / least <= 1 << 31 { b.op(Op::FToS, &[first]) } else { float_to_unsigned(b, first) };
    let divisor_bits = divisor.span.bits();
    let back =
        multiply_of(b, [first, divisor.word], [Span { low: 0, high: most / least }.bits(), divisor_bits]);
    let mut rest = b.op(Op::ISub, &[dividend.word, back]);
    let mut quotient = first;
    if most >= EXACT_FLOATS || most / least >= ONE_ESTIMATE {
        // The rest is less than the divisor and 2^-19 of the dividend, the second estimate below 2^13.
        // A rest of 2^31 is a dividend whose first estimate was 0: the second one is, too, whatever its sign.
        let float = match most <= 1 << 31 || divisor.span.high + (most >> 19) < 1 << 31 {
            true => b.op(Op::SToF, &[rest]),
            false => unsigned_to_float(b, rest),
        };
        let second = b.op(Op::FMul, &[float, inverse]);
        let second = b.op(Op::FToS, &[second]);
        let back = multiply_of(b, [second, divisor.word], [14, divisor_bits]);
        rest = b.op(Op::ISub, &[rest, back]);
        quotient = b.op(Op::IAdd, &[quotient, second]);
    }
    repaired(b, divisor.word, quotient, rest)
}

/// Quotient and rest where the quotient is one too small if the rest is no less than the divisor.
fn repaired(b: &mut Builder, divisor: Value, quotient: Value, rest: Value) -> (Value, Value) {
    let one = b.word(1);
    let short = b.op(Op::ULe, &[divisor, rest]);
    let more = b.op(Op::IAdd, &[quotient, one]);
    let less = b.op(Op::ISub, &[rest, divisor]);
    (b.select(short, more, quotient), b.select(short, less, rest))
}

/// A float above the reciprocal of a number, by a unit at most.
fn above(number: i64) -> f32 {
    let nearest = 1.0 / number as f32;
    let short = f64::from(nearest) * number as f64 <= 1.0;
    f32::from_bits(nearest.to_bits() + u32::from(short))
}

/// A float below the reciprocal of a divisor.
fn inverse(b: &mut Builder, divisor: &Operand, constant: Option<i64>) -> Value {
    if let Some(by) = constant {
        let nearest = 1.0 / by as f32;
        return b.word(nearest.to_bits() - UNITS);
    }
    // Colours may take estimates, words not: this is not the shader's own operation.
    let relaxed = std::mem::replace(&mut b.relaxed, false);
    let one = b.float(1.0);
    let inverse = b.op(Op::FDiv, &[one, divisor.float]);
    b.relaxed = relaxed;
    let units = b.word(UNITS);
    b.op(Op::ISub, &[inverse, units])
}
