//! Float operations that the QPU has not: division, roots, exponentials, trigonometry, rounding.
//!
//! Errors and their bounds are those of vulkan-on-vc4.md §9. RelaxedPrecision takes the SFU's estimate as it is.

use vc4::qpu::AddOp;

use super::emitter::recip;
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

/// Quotients err upwards, so that the floor of a whole quotient is the quotient: programs divide pixel coordinates by
/// tile sizes.
fn divide(b: &mut Builder, dividend: Value, divisor: Value) -> Value {
    if let Some(inverse) = b.shader.const_of(divisor).and_then(inverse_away_from_zero) {
        let inverse = b.float(inverse);
        return b.op(Op::FMul, &[dividend, inverse]);
    }
    if b.shader.const_of(dividend) == Some(1f32.to_bits()) {
        return if b.relaxed { b.op(Op::SfuRecip, &[divisor]) } else { recip(b, divisor) };
    }
    let r = b.op(Op::SfuRecip, &[divisor]);
    let q = b.op(Op::FMul, &[dividend, r]);
    if b.relaxed {
        return q;
    }
    // q += (a - b·q)·r, which the truncating sum would leave low: the rest is enlarged by a little more than half a
    // unit of the quotient. -1.0 to 2.0 ULP, where 2.5 are allowed.
    let unit = b.float(1.125 / 16_777_216.0);
    let more = b.op(Op::FMul, &[dividend, unit]);
    let back = b.op(Op::FMul, &[divisor, q]);
    let rest = b.op(Op::FSub, &[dividend, back]);
    let rest = b.op(Op::FAdd, &[rest, more]);
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

/// sqrt(x) = x·r with one step of s += (x - s²)·r/2: 1.3 ULP. A zero stays zero, because a product with a
/// zero is zero even if the other factor is the infinity that the SFU gives (qpu.md §2.4, §4.4).
fn sqrt(b: &mut Builder, x: Value) -> Value {
    let r = b.op(Op::SfuRsqrt, &[x]);
    let s = b.op(Op::FMul, &[x, r]);
    if b.relaxed {
        return s;
    }
    let square = b.op(Op::FMul, &[s, s]);
    let rest = b.op(Op::FSub, &[x, square]);
    let half = b.float(0.5);
    let half_r = b.op(Op::FMul, &[r, half]);
    let step = b.op(Op::FMul, &[rest, half_r]);
    b.op(Op::FAdd, &[s, step])
}

/// One step of e = 1 - (x·r)·r, r += (r/2)·e: 2 ULP, exceeded by a hundredth for two mantissas of 2^24.
fn rsqrt(b: &mut Builder, x: Value) -> Value {
    let r = b.op(Op::SfuRsqrt, &[x]);
    if b.relaxed {
        return r;
    }
    let (one, half) = (b.float(1.0), b.float(0.5));
    let product = b.op(Op::FMul, &[x, r]);
    let product = b.op(Op::FMul, &[product, r]);
    let error = b.op(Op::FSub, &[one, product]);
    let half_r = b.op(Op::FMul, &[r, half]);
    let step = b.op(Op::FMul, &[half_r, error]);
    b.op(Op::FAdd, &[r, step])
}

/// Coefficients of 2^f on [0, 1), ascending: minimax, relative error below 2^-23.6.
const EXP2: [f32; 6] = [0.999_999_9, 0.693_153_1, 0.240_153_62, 0.055_826_32, 0.008_989_34, 0.001_877_576_7];

/// 2^x = 2^⌊x⌋ · p(x - ⌊x⌋); the power is added to the exponent bits. From 128 on that makes an infinity, at -127 a zero.
fn exp2(b: &mut Builder, x: Value) -> Value {
    if b.relaxed {
        return b.op(Op::SfuExp2, &[x]);
    }
    let (low, high, bias) = (b.float(-127.0), b.float(128.0), b.float(128.0));
    let clamped = b.op(Op::FMax, &[x, low]);
    let clamped = b.op(Op::FMin, &[clamped, high]);
    // Of a positive number the truncation is the floor, and the truncated sum has the same.
    let positive = b.op(Op::FAdd, &[clamped, bias]);
    let whole = b.op(Op::FToS, &[positive]);
    let floor = b.op(Op::SToF, &[whole]);
    let floor = b.op(Op::FSub, &[floor, bias]);
    let fraction = b.op(Op::FSub, &[clamped, floor]);
    let mantissa = polynomial(b, fraction, &EXP2);
    let (bias, shift) = (b.word(128), b.word(23));
    let exponent = b.op(Op::ISub, &[whole, bias]);
    let exponent = b.op(Op::Shl, &[exponent, shift]);
    b.op(Op::IAdd, &[mantissa, exponent])
}

/// log2(x) = e + log2(m) with m in [√½, √2): 2/ln 2 · artanh((m - 1)/(m + 1)). A zero gives -127, so that its powers
/// vanish; of negative numbers the result is undefined.
fn log2(b: &mut Builder, x: Value) -> Value {
    if b.relaxed {
        return b.op(Op::SfuLog2, &[x]);
    }
    // Subtracting the bits of √½ leaves the exponent of x/√½ in the upper bits.
    let base = b.word(std::f32::consts::FRAC_1_SQRT_2.to_bits());
    let offset = b.op(Op::ISub, &[x, base]);
    let shift = b.word(23);
    let exponent = b.op(Op::Asr, &[offset, shift]);
    let exponent_bits = b.op(Op::Shl, &[exponent, shift]);
    let m = b.op(Op::ISub, &[x, exponent_bits]);
    let one = b.float(1.0);
    let numerator = b.op(Op::FSub, &[m, one]);
    let denominator = b.op(Op::FAdd, &[m, one]);
    let r = recip(b, denominator);
    let t = b.op(Op::FMul, &[numerator, r]);
    let square = b.op(Op::FMul, &[t, t]);
    let series = polynomial(b, square, &ARTANH);
    let fraction = b.op(Op::FMul, &[t, series]);
    let whole = b.op(Op::SToF, &[exponent]);
    b.op(Op::FAdd, &[whole, fraction])
}

/// Coefficients of 2/ln 2 · artanh(t)/t in t², for |t| below (√2 - 1)/(√2 + 1): minimax, error below 2^-28.
const ARTANH: [f32; 4] = [2.885_39, 0.961_798_85, 0.576_713_9, 0.431_747_6];

/// Sine of x + phase turns. The argument is reduced to s in [-½, ½] turns; the odd polynomial in s has an
/// absolute error below 2^-16, where 2^-11 is allowed.
fn sine(b: &mut Builder, x: Value, phase: f32) -> Value {
    let turns = b.float(std::f32::consts::FRAC_1_PI / 2.0);
    let mut t = b.op(Op::FMul, &[x, turns]);
    if phase != 0.0 {
        let phase = b.float(phase);
        t = b.op(Op::FAdd, &[t, phase]);
    }
    // Removing the whole turns leaves (-1, 1); the half turn nearest to zero is subtracted once more.
    let whole = b.op(Op::FToS, &[t]);
    let whole = b.op(Op::SToF, &[whole]);
    let rest = b.op(Op::FSub, &[t, whole]);
    let doubled = b.op(Op::FAdd, &[rest, rest]);
    let half_turns = b.op(Op::FToS, &[doubled]);
    let half_turns = b.op(Op::SToF, &[half_turns]);
    let s = b.op(Op::FSub, &[rest, half_turns]);
    let square = b.op(Op::FMul, &[s, s]);
    let series = polynomial(b, square, &SINE);
    b.op(Op::FMul, &[s, series])
}

/// Coefficients of sin(2πs)/s in s², on s in [-½, ½]: minimax, absolute error of the sine below 2^-17.
const SINE: [f32; 5] = [6.283_056, -41.331_215, 81.366_82, -74.478_005, 32.781_4];

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

/// ⌊x⌋ as an integer and as a float, for x in the range of integers.
fn small_floor(b: &mut Builder, x: Value) -> (Value, Value) {
    let toward_zero = b.op(Op::FToS, &[x]);
    let float = b.op(Op::SToF, &[toward_zero]);
    let above = b.op(Op::FLt, &[x, float]);
    let (minus_one, one) = (b.word(u32::MAX), b.float(1.0));
    let lower = b.op(Op::IAdd, &[toward_zero, minus_one]);
    let lower_float = b.op(Op::FSub, &[float, one]);
    let whole = b.select(above, lower, toward_zero);
    (whole, b.select(above, lower_float, float))
}

/// `rounded`, or x itself where it is too large to have a fraction.
fn keep_large(b: &mut Builder, x: Value, rounded: Value) -> Value {
    if b.relaxed {
        return rounded;
    }
    let magnitude = b.op(Op::FAbs, &[x]);
    let limit = b.float(INTEGERS_FROM);
    let fits = b.op(Op::FLt, &[magnitude, limit]);
    b.select(fits, rounded, x)
}

fn floor(b: &mut Builder, x: Value) -> Value {
    let (_, floor) = small_floor(b, x);
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
    let (whole, floor) = small_floor(b, x);
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
