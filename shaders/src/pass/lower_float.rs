//! Float operations that the QPU has not: division, roots, exponentials, trigonometry, rounding.
//!
//! Errors and their bounds are those of vulkan-on-vc4.md §9. RelaxedPrecision takes the SFU's estimate as it is.

use vc4::qpu::AddOp;

use super::emitter::recip;
use super::range::Range;
use super::rewrite::{Action, rewrite};
use crate::ir::{Builder, InstData, Op, Shader, Value};

/// From 2^23 on every float is an integer, and `ftoi` soon leaves its range (qpu.md §2.3).
const INTEGERS_FROM: f32 = 8_388_608.0;

/// Replaces float operations by sequences of machine operations.
pub fn run(shader: &mut Shader) {
    let result = rewrite(shader, |b, data| {
        let value = lower(b, data);
        Ok::<_, std::convert::Infallible>(value.map_or(Action::Keep, Action::with))
    });
    let Ok(()) = result;
}

fn lower(b: &mut Builder, data: &InstData) -> Option<Value> {
    let arg = |n: usize| data.args[n];
    Some(match data.op {
        Op::FDiv => divide(b, arg(0), arg(1)),
        Op::FSqrt => sqrt(b, arg(0)),
        Op::FRsqrt => rsqrt(b, arg(0)),
        Op::FInverseLength => inverse_length(b, arg(0)),
        Op::FExp2 => exp2(b, arg(0)),
        Op::FLog2 => log2(b, arg(0)),
        Op::FSin => sine(b, arg(0), 0.0),
        Op::FCos => sine(b, arg(0), 0.25),
        Op::FSign => sign(b, arg(0)),
        Op::FFloor => floor(b, arg(0)),
        Op::FCeil => ceil(b, arg(0)),
        Op::FTrunc => trunc(b, arg(0)),
        Op::FRoundEven => round_even(b, arg(0)),
        _ => return None,
    })
}

/// Quotients by constants err away from zero, so that the floor of a whole quotient is the quotient: programs divide
/// pixel coordinates by tile sizes.
fn divide(b: &mut Builder, dividend: Value, divisor: Value) -> Value {
    if let Some(inverse) = b.shader.const_of(divisor).and_then(inverse_away_from_zero) {
        let inverse = b.float(inverse);
        return b.op(Op::FMul, &[dividend, inverse]);
    }
    if b.shader.const_of(dividend) == Some(1f32.to_bits()) {
        return if b.relaxed { b.op(Op::SfuRecip, &[divisor]) } else { recip(b, divisor) };
    }
    if b.relaxed {
        let r = b.op(Op::SfuRecip, &[divisor]);
        return b.op(Op::FMul, &[dividend, r]);
    }
    // q = a·r, then q += (a - b·q)·r: 1.5 ULP, where a·r alone is off by 2.8.
    let r = recip(b, divisor);
    let q = b.op(Op::FMul, &[dividend, r]);
    let back = b.op(Op::FMul, &[divisor, q]);
    let rest = b.op(Op::FSub, &[dividend, back]);
    let step = b.op(Op::FMul, &[rest, r]);
    b.op(Op::FAdd, &[q, step])
}

/// 1/x rounded away from zero, if that and x are normal numbers.
fn inverse_away_from_zero(word: u32) -> Option<f32> {
    let exact = 1.0 / f64::from(f32::from_bits(word));
    let nearest = exact as f32;
    let short = f64::from(nearest.abs()) < exact.abs();
    let inverse = f32::from_bits(nearest.to_bits() + u32::from(short));
    (inverse.is_normal() && f32::from_bits(word).is_normal()).then_some(inverse)
}

/// sqrt(x) = s·(1.5 - s·r/2) with r the estimate of 1/sqrt(x) and s = x·r: -2.5 to 1.3 ULP, where the 2 of 1/sqrt and the
/// 2.5 of a quotient are allowed. A zero stays zero, because a product with a zero is zero even if the other factor
/// is the infinity that the SFU gives (qpu.md §2.4, §4.4).
fn sqrt(b: &mut Builder, x: Value) -> Value {
    let r = b.op(Op::SfuRsqrt, &[x]);
    let s = b.op(Op::FMul, &[x, r]);
    if b.relaxed {
        return s;
    }
    let factor = newton_factor(b, s, r);
    b.op(Op::FMul, &[s, factor])
}

/// 1.5 - a·b/2 of factors whose product is near 1.
fn newton_factor(b: &mut Builder, x: Value, y: Value) -> Value {
    let (half, three_halves) = (b.float(0.5), b.float(1.5));
    let product = b.op(Op::FMul, &[x, y]);
    let product = b.op(Op::FMul, &[product, half]);
    b.op(Op::FSub, &[three_halves, product])
}

/// One step of e = 1 - (x·r)·r, r += (r/2)·e, where one unit above 1 makes up for the truncation of sums: -1.1 to
/// 1.95 ULP, where 2 are allowed.
fn rsqrt(b: &mut Builder, x: Value) -> Value {
    let r = b.op(Op::SfuRsqrt, &[x]);
    if b.relaxed {
        return r;
    }
    let (one, half) = (b.float(1.0 + f32::EPSILON), b.float(0.5));
    let product = b.op(Op::FMul, &[x, r]);
    let product = b.op(Op::FMul, &[product, r]);
    let error = b.op(Op::FSub, &[one, product]);
    let half_r = b.op(Op::FMul, &[r, half]);
    let step = b.op(Op::FMul, &[half_r, error]);
    b.op(Op::FAdd, &[r, step])
}

/// r·(1.5 - x·r·r/2): -2.7 to 1.5 ULP.
fn inverse_length(b: &mut Builder, x: Value) -> Value {
    let r = b.op(Op::SfuRsqrt, &[x]);
    if b.relaxed {
        return r;
    }
    // Not r·r first, which the largest x make a denormal.
    let product = b.op(Op::FMul, &[x, r]);
    let factor = newton_factor(b, product, r);
    b.op(Op::FMul, &[r, factor])
}

/// Coefficients of 2^f on [0, 1), ascending: minimax with p(0) = 1, relative error below 2^-23.5; the second and third are
/// two units larger, as the sums are truncated.
const EXP2: [f32; 6] = [1.0, 0.693_151_4, 0.240_164_47, 0.055_799_916, 0.009_017_029, 0.001_867_130_7];

/// 1.5 · 2^23: the sum with a number of up to 22 bits before the point is truncated to its floor, in the low bits of the
/// word, as an integer and, with this subtracted again, as a float (qpu.md §2.3).
const FLOOR: f32 = 12_582_912.0;

/// 2^x = 2^⌊x⌋ · p(x - ⌊x⌋); the power is added to the exponent bits. At 128 that makes an infinity, at -127 a zero.
/// 0.84 of the 3 + 2|x| ULP that are allowed.
fn exp2(b: &mut Builder, x: Value) -> Value {
    if b.relaxed {
        return b.op(Op::SfuExp2, &[x]);
    }
    let (lowest, highest) = (-127.0, 128.0);
    let range = Range::of(b.shader, x);
    let mut clamped = x;
    if range.low < lowest {
        let low = b.float(lowest);
        clamped = b.op(Op::FMax, &[clamped, low]);
    }
    if range.high > highest {
        let high = b.float(highest);
        clamped = b.op(Op::FMin, &[clamped, high]);
    }
    let magic = b.float(FLOOR);
    let whole = b.op(Op::Add(AddOp::Fadd), &[clamped, magic]);
    let floor = b.op(Op::Add(AddOp::Fsub), &[whole, magic]);
    let fraction = b.op(Op::FSub, &[clamped, floor]);
    let mantissa = polynomial(b, fraction, &EXP2);
    let shift = b.word(MANTISSA_BITS);
    let exponent = b.op(Op::Shl, &[whole, shift]);
    b.op(Op::IAdd, &[mantissa, exponent])
}

/// Bits below a float's exponent.
const MANTISSA_BITS: u32 = 23;

/// log2(x) = e + log2(m) with m in [√½, √2): 2/ln 2 · artanh((m - 1)/(m + 1)). 0.6 of the 3 ULP, or 2^-21 around 1, that
/// are allowed; -∞ for zeros.
fn log2(b: &mut Builder, x: Value) -> Value {
    if b.relaxed {
        return b.op(Op::SfuLog2, &[x]);
    }
    // Subtracting the bits of √½ leaves the exponent of x/√½ in the upper bits.
    let base = b.word(std::f32::consts::FRAC_1_SQRT_2.to_bits());
    let offset = b.op(Op::ISub, &[x, base]);
    let shift = b.word(MANTISSA_BITS);
    let exponent = b.op(Op::Asr, &[offset, shift]);
    let exponent_bits = b.op(Op::Shl, &[exponent, shift]);
    let m = b.op(Op::ISub, &[x, exponent_bits]);
    let (one, two) = (b.float(1.0), b.float(2.0));
    let numerator = b.op(Op::FSub, &[m, one]);
    let denominator = b.op(Op::FAdd, &[m, one]);
    let r = b.op(Op::SfuRecip, &[denominator]);
    let quotient = b.op(Op::FMul, &[numerator, r]);
    let product = b.op(Op::FMul, &[denominator, r]);
    let factor = b.op(Op::FSub, &[two, product]);
    let t = b.op(Op::FMul, &[quotient, factor]);
    let square = b.op(Op::FMul, &[t, t]);
    let series = polynomial(b, square, &ARTANH);
    let fraction = b.op(Op::FMul, &[t, series]);
    let whole = b.op(Op::SToF, &[exponent]);
    let sum = b.op(Op::FAdd, &[whole, fraction]);
    if Range::of(b.shader, x).low > 0.0 {
        return sum;
    }
    // The word of all ones is a negative NaN, which the machine treats as -∞ (qpu.md §2.3).
    let (zero, infinity) = (b.word(0), b.word(u32::MAX));
    let none = b.op(Op::IEq, &[x, zero]);
    b.select(none, infinity, sum)
}

/// Coefficients of 2/ln 2 · artanh(t)/t in t², for |t| below (√2 - 1)/(√2 + 1): minimax, error below 2^-25.
const ARTANH: [f32; 3] = [2.885_391_2, 0.961_470_8, 0.598_973_9];

/// Sine of x + phase turns: -sin(2πu) with u the fraction of the turns minus a half. The odd polynomial's absolute error is
/// below 2^-11.9, where 2^-11 is allowed.
fn sine(b: &mut Builder, x: Value, phase: f32) -> Value {
    let turns = b.float(std::f32::consts::FRAC_1_PI / 2.0);
    let mut t = b.op(Op::FMul, &[x, turns]);
    if phase != 0.0 {
        let phase = b.float(phase);
        t = b.op(Op::FAdd, &[t, phase]);
    }
    let fraction = small_fraction(b, t);
    let half = b.float(0.5);
    let u = b.op(Op::FSub, &[fraction, half]);
    let square = b.op(Op::FMul, &[u, u]);
    let series = polynomial(b, square, &SINE);
    b.op(Op::FMul, &[u, series])
}

/// Coefficients of -sin(2πu)/u in u², on u in [-½, ½]: minimax.
const SINE: [f32; 4] = [-6.278_635_5, 41.093_727, -77.930_336, 56.086_376];

fn polynomial(b: &mut Builder, x: Value, ascending: &[f32]) -> Value {
    let mut terms = ascending.iter().rev();
    let mut sum = b.float(*terms.next().expect("a polynomial has a term"));
    for &term in terms {
        let product = b.op(Op::FMul, &[sum, x]);
        let term = b.float(term);
        sum = b.op(Op::FAdd, &[product, term]);
    }
    sum
}

fn sign(b: &mut Builder, x: Value) -> Value {
    let (zero, one, minus) = (b.word(0), b.float(1.0), b.float(-1.0));
    let positive = b.op(Op::FLt, &[zero, x]);
    let negative = b.op(Op::FLt, &[x, zero]);
    let low = b.select(negative, minus, zero);
    b.select(positive, one, low)
}

/// x - ⌊x⌋ for x in the range of integers.
fn small_fraction(b: &mut Builder, x: Value) -> Value {
    let toward_zero = b.op(Op::FToS, &[x]);
    let toward_zero = b.op(Op::SToF, &[toward_zero]);
    let rest = b.op(Op::FSub, &[x, toward_zero]);
    if Range::of(b.shader, x).low >= 0.0 {
        return rest;
    }
    let (zero, one) = (b.word(0), b.float(1.0));
    let negative = b.op(Op::SLt, &[rest, zero]);
    let above = b.op(Op::FAdd, &[rest, one]);
    b.select(negative, above, rest)
}

/// ⌊x⌋ for x in the range of integers.
fn small_floor(b: &mut Builder, x: Value) -> Value {
    let toward_zero = b.op(Op::FToS, &[x]);
    let toward_zero = b.op(Op::SToF, &[toward_zero]);
    if Range::of(b.shader, x).low >= 0.0 {
        return toward_zero;
    }
    let one = b.float(1.0);
    let above = b.op(Op::FLt, &[x, toward_zero]);
    let lower = b.op(Op::FSub, &[toward_zero, one]);
    b.select(above, lower, toward_zero)
}

/// `rounded`, or x itself where it is too large to have a fraction.
fn keep_large(b: &mut Builder, x: Value, rounded: Value) -> Value {
    let range = Range::of(b.shader, x);
    if b.relaxed || range.low > -INTEGERS_FROM && range.high < INTEGERS_FROM {
        return rounded;
    }
    let magnitude = b.op(Op::FAbs, &[x]);
    let limit = b.float(INTEGERS_FROM);
    let fits = b.op(Op::FLt, &[magnitude, limit]);
    b.select(fits, rounded, x)
}

fn floor(b: &mut Builder, x: Value) -> Value {
    let floor = small_floor(b, x);
    keep_large(b, x, floor)
}

fn ceil(b: &mut Builder, x: Value) -> Value {
    let toward_zero = b.op(Op::FToS, &[x]);
    let float = b.op(Op::SToF, &[toward_zero]);
    let below = b.op(Op::FLt, &[float, x]);
    let one = b.float(1.0);
    let upper = b.op(Op::FAdd, &[float, one]);
    let ceil = b.select(below, upper, float);
    keep_large(b, x, ceil)
}

fn trunc(b: &mut Builder, x: Value) -> Value {
    let whole = b.op(Op::FToS, &[x]);
    let float = b.op(Op::SToF, &[whole]);
    keep_large(b, x, float)
}

fn round_even(b: &mut Builder, x: Value) -> Value {
    let floor = small_floor(b, x);
    let whole = b.op(Op::FToS, &[floor]);
    let fraction = b.op(Op::FSub, &[x, floor]);
    let (half, one) = (b.float(0.5), b.word(1));
    // Exactly between: up if that makes it even.
    let odd = b.op(Op::And, &[whole, one]);
    let (zero, above, tie) =
        (b.word(0), b.op(Op::FLt, &[half, fraction]), b.op(Op::Add(AddOp::Sub), &[fraction, half]));
    let tied = b.op(Op::IEq, &[tie, zero]);
    let up = b.select(tied, odd, zero);
    let up = b.select(above, one, up);
    let rounded = b.op(Op::IAdd, &[whole, up]);
    let rounded = b.op(Op::SToF, &[rounded]);
    keep_large(b, x, rounded)
}
