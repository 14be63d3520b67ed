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

fn divide(b: &mut Builder, dividend: Value, divisor: Value) -> Value {
    if let Some(word) = b.shader.const_of(divisor) {
        // One rounding of the reciprocal and one of the product: within 1.5 ULP.
        let inverse = 1.0 / f32::from_bits(word);
        if inverse.is_normal() {
            let inverse = b.float(inverse);
            return b.op(Op::FMul, &[dividend, inverse]);
        }
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

/// sqrt(x) = s = x·r with one step of s += s·(½ - s·r/2), which no x overflows. A zero stays zero, because a product with
/// a zero is zero even if the other factor is the infinity that the SFU gives (qpu.md §2.4, §4.4).
fn sqrt(b: &mut Builder, x: Value) -> Value {
    let r = b.op(Op::SfuRsqrt, &[x]);
    let s = b.op(Op::FMul, &[x, r]);
    if b.relaxed {
        return s;
    }
    let half = b.float(0.5);
    let half_r = b.op(Op::FMul, &[r, half]);
    let product = b.op(Op::FMul, &[s, half_r]);
    let error = b.op(Op::FSub, &[half, product]);
    let step = b.op(Op::FMul, &[s, error]);
    b.op(Op::FAdd, &[s, step])
}

/// Two steps of e = 1 - (x·r)·r, r += (r/2)·e: 1.7 ULP; one step is at the limit of 2.
fn rsqrt(b: &mut Builder, x: Value) -> Value {
    let mut r = b.op(Op::SfuRsqrt, &[x]);
    if b.relaxed {
        return r;
    }
    for _ in 0..2 {
        let one = b.float(1.0);
        let half = b.float(0.5);
        let product = b.op(Op::FMul, &[x, r]);
        let product = b.op(Op::FMul, &[product, r]);
        let error = b.op(Op::FSub, &[one, product]);
        let half_r = b.op(Op::FMul, &[r, half]);
        let step = b.op(Op::FMul, &[half_r, error]);
        r = b.op(Op::FAdd, &[r, step]);
    }
    r
}

/// The linear coefficient: three units below ln 2.
const EXP2_LINEAR: f32 = f32::from_bits(std::f32::consts::LN_2.to_bits() - 3);

/// Coefficients of 2^f on [0, 1), ascending: minimax, relative error below 2^-28.
const EXP2: [f32; 7] =
    [1.0, EXP2_LINEAR, 0.240_229_84, 0.055_483_34, 0.009_678_841, 0.001_243_968_8, 0.000_217_022_56];

/// 2^x = 2^⌊x⌋ · p(x - ⌊x⌋); the power is added to the exponent bits.
fn exp2(b: &mut Builder, x: Value) -> Value {
    if b.relaxed {
        return b.op(Op::SfuExp2, &[x]);
    }
    let low = b.float(-126.0);
    let high = b.float(128.0);
    let clamped = b.op(Op::FMax, &[x, low]);
    let clamped = b.op(Op::FMin, &[clamped, high]);
    let (whole, floor) = small_floor(b, clamped);
    let fraction = b.op(Op::FSub, &[clamped, floor]);
    let mantissa = polynomial(b, fraction, &EXP2);
    let shift = b.word(23);
    let exponent = b.op(Op::Shl, &[whole, shift]);
    let scaled = b.op(Op::IAdd, &[mantissa, exponent]);
    // At the lower clamp and below, flush like the machine's own arithmetic.
    let zero = b.word(0);
    let tiny = b.op(Op::FLe, &[x, low]);
    b.select(tiny, zero, scaled)
}

/// log2(x) = e + log2(m) with m in [√½, √2): 2/ln 2 · artanh((m - 1)/(m + 1)).
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
    let sum = b.op(Op::FAdd, &[whole, fraction]);
    // Zero, infinity and denormals as the SFU has them.
    let estimate = b.op(Op::SfuLog2, &[x]);
    let smallest = b.float(f32::MIN_POSITIVE);
    let infinity = b.float(f32::INFINITY);
    let tiny = b.op(Op::FLt, &[x, smallest]);
    let sum = b.select(tiny, estimate, sum);
    let finite = b.op(Op::FLt, &[x, infinity]);
    b.select(finite, sum, estimate)
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
