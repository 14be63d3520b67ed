//! Integer operations that the QPU has not: 32-bit products, division, unsigned minimum, conversions of
//! unsigned words.

use vc4::qpu::MulOp;

use crate::ir::{Builder, InstData, Op, Shader, Value};
use crate::pass::rewrite::emitter::recip;
use crate::pass::rewrite::{Action, rewrite};

/// Bits that `mul24` reads of each factor.
const MUL24_BITS: u32 = 24;

/// Replaces integer operations by sequences of machine operations.
pub fn run(shader: &mut Shader) {
    let Ok(()) = rewrite(shader, |b, data| {
        let value = lower(b, data);
        Ok::<_, std::convert::Infallible>(value.map_or(Action::Keep, Action::with))
    });
}

fn lower(b: &mut Builder, data: &InstData) -> Option<Value> {
    let arg = |n: usize| data.args[n];
    Some(match data.op {
        Op::IMul => multiply(b, arg(0), arg(1)),
        Op::UDiv => divide(b, arg(0), arg(1)).0,
        Op::UMod => divide(b, arg(0), arg(1)).1,
        Op::SDiv => signed_divide(b, arg(0), arg(1), Signed::Quotient),
        Op::SRem => signed_divide(b, arg(0), arg(1), Signed::Remainder),
        Op::SMod => signed_divide(b, arg(0), arg(1), Signed::Modulo),
        Op::UMin => {
            let below = b.op(Op::ULt, &[arg(0), arg(1)]);
            b.select(below, arg(0), arg(1))
        }
        Op::UMax => {
            let below = b.op(Op::ULt, &[arg(0), arg(1)]);
            b.select(below, arg(1), arg(0))
        }
        Op::FToU => float_to_unsigned(b, arg(0)),
        Op::UToF => unsigned_to_float(b, arg(0)),
        _ => return None,
    })
}

/// An upper bound of the significant bits of a word.
fn bits(shader: &Shader, value: Value, depth: u32) -> u32 {
    if depth == 0 {
        return 32;
    }
    let args = shader.args(value);
    let of = |n: usize| bits(shader, args[n], depth - 1);
    match shader.op(value) {
        Op::Const(word) => 32 - word.leading_zeros(),
        Op::And => of(0).min(of(1)),
        Op::Or | Op::Xor => of(0).max(of(1)),
        Op::IAdd => (of(0).max(of(1)) + 1).min(32),
        Op::Shr => match shader.const_of(args[1]) {
            Some(count) => of(0).saturating_sub(count & 31),
            None => of(0),
        },
        Op::Shl => match shader.const_of(args[1]) {
            Some(count) => (of(0) + (count & 31)).min(32),
            None => 32,
        },
        Op::Select => bits(shader, args[1], depth - 1).max(bits(shader, args[2], depth - 1)),
        Op::UnpackInt(unpack) if unpack.code() >= 4 => 8,
        Op::Clz => 6,
        Op::RevFlag => 1,
        Op::ElementNumber => 4,
        Op::PixelX | Op::PixelY => 11,
        Op::PayloadZ => 24,
        Op::Mul(MulOp::Mul24) => (of(0).min(MUL24_BITS) + of(1).min(MUL24_BITS)).min(32),
        _ => 32,
    }
}

/// The low word of a product. With a = ah·2^24 + al: al·bl + ((ah·bl + al·bh) << 24).
fn multiply(b: &mut Builder, x: Value, y: Value) -> Value {
    const DEPTH: u32 = 8;
    let product = b.op(Op::Mul(MulOp::Mul24), &[x, y]);
    let shift = b.word(MUL24_BITS);
    let mut cross: Option<Value> = None;
    for (value, other) in [(x, y), (y, x)] {
        if bits(b.shader, value, DEPTH) <= MUL24_BITS {
            continue;
        }
        let high = b.op(Op::Shr, &[value, shift]);
        let part = b.op(Op::Mul(MulOp::Mul24), &[high, other]);
        cross = Some(match cross {
            Some(sum) => b.op(Op::IAdd, &[sum, part]),
            None => part,
        });
    }
    match cross {
        Some(cross) => {
            let high = b.op(Op::Shl, &[cross, shift]);
            b.op(Op::IAdd, &[product, high])
        }
        None => product,
    }
}

/// Unsigned quotient and remainder.
///
/// The first estimate from floats, a little too small by construction, leaves a remainder of at most about
/// 2^-20 of the dividend; the second estimate is exact to one, which a comparison repairs.
fn divide(b: &mut Builder, dividend: Value, divisor: Value) -> (Value, Value) {
    let float = unsigned_to_float(b, divisor);
    let inverse = recip(b, float);
    // Subtracting four units in the last place keeps every estimate at or below the quotient.
    let four = b.word(4);
    let inverse = b.op(Op::ISub, &[inverse, four]);
    let first = estimate(b, dividend, inverse);
    let back = multiply(b, first, divisor);
    let rest = b.op(Op::ISub, &[dividend, back]);
    let second = estimate(b, rest, inverse);
    let back = multiply(b, second, divisor);
    let rest = b.op(Op::ISub, &[rest, back]);
    let quotient = b.op(Op::IAdd, &[first, second]);
    let one = b.word(1);
    let short = b.op(Op::ULe, &[divisor, rest]);
    let more = b.op(Op::IAdd, &[quotient, one]);
    let less = b.op(Op::ISub, &[rest, divisor]);
    (b.select(short, more, quotient), b.select(short, less, rest))
}

fn estimate(b: &mut Builder, dividend: Value, inverse: Value) -> Value {
    let float = unsigned_to_float(b, dividend);
    let quotient = b.op(Op::FMul, &[float, inverse]);
    float_to_unsigned(b, quotient)
}

/// Which result of a signed division.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Signed {
    Quotient,
    /// With the sign of the dividend.
    Remainder,
    /// With the sign of the divisor.
    Modulo,
}

fn signed_divide(b: &mut Builder, dividend: Value, divisor: Value, what: Signed) -> Value {
    let (dividend_sign, divisor_sign) = (sign_mask(b, dividend), sign_mask(b, divisor));
    let magnitude = negate_where(b, dividend, dividend_sign);
    let divisor_magnitude = negate_where(b, divisor, divisor_sign);
    let (quotient, remainder) = divide(b, magnitude, divisor_magnitude);
    match what {
        Signed::Quotient => {
            let sign = b.op(Op::Xor, &[dividend_sign, divisor_sign]);
            negate_where(b, quotient, sign)
        }
        Signed::Remainder => negate_where(b, remainder, dividend_sign),
        Signed::Modulo => {
            let remainder = negate_where(b, remainder, dividend_sign);
            let zero = b.word(0);
            let differs = b.op(Op::Xor, &[remainder, divisor]);
            let differs = b.op(Op::SLt, &[differs, zero]);
            let moved = b.op(Op::IAdd, &[remainder, divisor]);
            let moved = b.select(differs, moved, remainder);
            let none = b.op(Op::IEq, &[remainder, zero]);
            b.select(none, zero, moved)
        }
    }
}

/// All ones for negative words, else zero.
fn sign_mask(b: &mut Builder, word: Value) -> Value {
    let shift = b.word(31);
    b.op(Op::Asr, &[word, shift])
}

/// -word where the mask is all ones: (word ^ mask) - mask.
fn negate_where(b: &mut Builder, word: Value, mask: Value) -> Value {
    let flipped = b.op(Op::Xor, &[word, mask]);
    b.op(Op::ISub, &[flipped, mask])
}

/// `ftoi` is signed: from 2^31 on, 2^31 is taken off and put back as the top bit.
fn float_to_unsigned(b: &mut Builder, x: Value) -> Value {
    let half_range = b.float(2_147_483_648.0);
    let top = b.word(0x8000_0000);
    let small = b.op(Op::FToS, &[x]);
    let low = b.op(Op::FSub, &[x, half_range]);
    let low = b.op(Op::FToS, &[low]);
    let large = b.op(Op::Xor, &[low, top]);
    let is_small = b.op(Op::FLt, &[x, half_range]);
    b.select(is_small, small, large)
}

/// `itof` is signed: words with the top bit are halved first, which only drops a bit that truncation drops.
fn unsigned_to_float(b: &mut Builder, x: Value) -> Value {
    const DEPTH: u32 = 8;
    let plain = b.op(Op::SToF, &[x]);
    if bits(b.shader, x, DEPTH) < 32 {
        return plain;
    }
    let (zero, one) = (b.word(0), b.word(1));
    let half = b.op(Op::Shr, &[x, one]);
    let half = b.op(Op::SToF, &[half]);
    let doubled = b.op(Op::FAdd, &[half, half]);
    let large = b.op(Op::SLt, &[x, zero]);
    b.select(large, doubled, plain)
}
