//! Float operations that the QPU has not: division, roots, exponentials, trigonometry, rounding.
//!
//! Errors and their bounds are those of vulkan-on-vc4.md §9. RelaxedPrecision takes the SFU's estimate as it is.

use vc4::qpu::AddOp;

use crate::ir::eval::INTEGERS_FROM;
use crate::ir::{Builder, InstData, Op, Shader, Stage, Value};
use crate::pass::analysis::bounds;
use crate::pass::rewrite::emitter::recip;
use crate::pass::rewrite::{Action, rewrite};

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
        Op::FCos => sine(b, arg(0), 0.5),
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
    // q = a·r, then q += (a - b·q)·r: -1 to 1.9 ULP, where a·r alone is off by 3.6. That is what is left where the dividend is below 2^-102,
    // for then the rest is no normal number.
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

/// sqrt(x) = s/2·(3 - s·r) with r the estimate of 1/sqrt(x) and s = x·r: -1.3 to 3 ULP, where the 2 of 1/sqrt and the
/// 2.5 of a quotient are allowed. One unit above 3 makes up for what is cut off, so that powers of four have exact roots. A zero stays zero, because a product with a zero is zero even if the other factor
/// is the infinity that the SFU gives (qpu.md §2.4, §4.4).
fn sqrt(b: &mut Builder, x: Value) -> Value {
    let r = b.op(Op::SfuRsqrt, &[x]);
    let s = b.op(Op::FMul, &[x, r]);
    if b.relaxed {
        return s;
    }
    newton_step(b, s, [s, r], 3.0 + 2.0 * f32::EPSILON)
}

/// x/2·(3 - a·b), of factors whose product is near 1; half of x is ready before that.
fn newton_step(b: &mut Builder, x: Value, [factor, other]: [Value; 2], three: f32) -> Value {
    let (half, three) = (b.float(0.5), b.float(three));
    let half_x = b.op(Op::FMul, &[x, half]);
    let product = b.op(Op::FMul, &[factor, other]);
    let correction = b.op(Op::FSub, &[three, product]);
    b.op(Op::FMul, &[half_x, correction])
}

/// One step of e = 1 - (x·r)·r, r += (r/2)·e: -1.1 to 1.96 ULP, where 2 are allowed.
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

/// r/2·(3 - x·r·r): -2.5 to 2 ULP.
fn inverse_length(b: &mut Builder, x: Value) -> Value {
    let r = b.op(Op::SfuRsqrt, &[x]);
    if b.relaxed {
        return r;
    }
    // Not r·r first, which the largest x make a denormal.
    let product = b.op(Op::FMul, &[x, r]);
    newton_step(b, r, [product, r], 3.0)
}

/// Where the estimates of 2^(n + this) and of 2^(n + this + ½) have the same error, for every whole n, to 2^-25: the
/// middle of one of the 2^15 steps that the SFU tells apart (qpu.md §4.4), so that n may have either sign.
const EXP2_PHASE: f32 = 14_325.5 / 32_768.0;

/// Coefficients of 2^f / [`SfuOp::Exp2`]([`EXP2_PHASE`]) on [0, ½), ascending: minimax of the share of what is allowed,
/// with the exact value at 0, for one chain and for two side by side: products and sums are cut off, so coefficients lean upwards.
const EXP2_CHAIN: [f32; 5] = [0.738_583_6, 0.511_940_9, 0.177_534_98, 0.040_388_077, 0.008_458_702];
const EXP2_CHAINS: [f32; 5] = [0.738_583_7, 0.511_940_96, 0.177_534_74, 0.040_388_077, 0.008_458_702];

/// 1.5 · 2^22: the sum with a number of up to 21 bits before the point is truncated to its floor in steps of ½, which this
/// subtracted again leaves (qpu.md §2.3), if the fact `fadd-truncation` is so.
const FLOOR_OF_HALVES: f32 = 6_291_456.0;

/// 2^x = 2^h · p(x - h), h in steps of ½: the SFU's error at h is the polynomial's, too. Zeros below -126 and the
/// infinity from 128 on are the SFU's. 0.9 of the 3 + 2|x| ULP that are allowed.
fn exp2(b: &mut Builder, x: Value) -> Value {
    if b.relaxed {
        return b.op(Op::SfuExp2, &[x]);
    }
    let (magic, phase) = (b.float(FLOOR_OF_HALVES), b.float(EXP2_PHASE));
    let raised = b.op(Op::Add(AddOp::Fadd), &[x, magic]);
    let floor = b.op(Op::Add(AddOp::Fsub), &[raised, magic]);
    let place = b.op(Op::Add(AddOp::Fadd), &[floor, phase]);
    let power = b.op(Op::SfuExp2, &[place]);
    let rest = exp2_above(b, x, floor);
    b.op(Op::FMul, &[rest, power])
}

/// The polynomial at x - floor. In a fragment program hardly anything else is left to do while it is computed: two shorter
/// chains side by side end sooner. A vertex program has positions to transform, and gains by the operation less.
fn exp2_above(b: &mut Builder, x: Value, floor: Value) -> Value {
    if b.shader.stage == Stage::Vertex {
        let fraction = b.op(Op::FSub, &[x, floor]);
        return polynomial(b, fraction, &EXP2_CHAIN);
    }
    // The other way round: what becomes of ∞ - ∞ has the sign with which both chains end at the same infinity.
    let below = b.op(Op::FSub, &[floor, x]);
    let [c0, c1, c2, c3, c4] = EXP2_CHAINS;
    let square = b.op(Op::FMul, &[below, below]);
    let even = polynomial(b, square, &[c0, c2, c4]);
    let odd = polynomial(b, square, &[c1, c3]);
    let odd = b.op(Op::FMul, &[odd, below]);
    b.op(Op::FSub, &[even, odd])
}

/// A float's sign and exponent.
const EXPONENT_BITS: u32 = 0xff80_0000;

/// 1 in the bits of an exponent, over the word that it is there.
const EXPONENT_UNIT: f32 = 1.0 / 8_388_608.0;

/// log2(x) = e + log2(m) with m in [√½, √2): 2/ln 2 · artanh((m - 1)/(m + 1)). 0.6 of the 3 ULP, or 2^-21 around 1, that
/// are allowed; -∞ for zeros and negative numbers: powers of those are zero, as are the NaNs that other machines write to colours.
fn log2(b: &mut Builder, x: Value) -> Value {
    if b.relaxed {
        return b.op(Op::SfuLog2, &[x]);
    }
    // Subtracting the bits of √½ leaves the exponent of x/√½ in the upper bits.
    let base = b.word(std::f32::consts::FRAC_1_SQRT_2.to_bits());
    let offset = b.op(Op::ISub, &[x, base]);
    let upper = b.word(EXPONENT_BITS);
    let exponent = b.op(Op::And, &[offset, upper]);
    let m = b.op(Op::ISub, &[x, exponent]);
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
    let (whole, unit) = (b.op(Op::SToF, &[exponent]), b.float(EXPONENT_UNIT));
    let whole = b.op(Op::FMul, &[whole, unit]);
    let sum = b.op(Op::FAdd, &[whole, fraction]);
    let low = bounds::range(b.shader, x).low;
    if low > 0.0 {
        return sum;
    }
    // The word of all ones is a negative NaN, which the machine treats as -∞ (qpu.md §2.3).
    let (zero, infinity) = (b.word(0), b.word(u32::MAX));
    // The flags of what makes a number tell zeros without another operation.
    let positive = if low >= 0.0 { b.op(Op::INe, &[x, zero]) } else { b.op(Op::FLt, &[zero, x]) };
    b.select(positive, sum, infinity)
}

/// Coefficients of 2/ln 2 · artanh(t)/t in t², for |t| below (√2 - 1)/(√2 + 1): minimax, error below 2^-25, the first one a unit up for
/// what products lose.
const ARTANH: [f32; 3] = [2.885_391_5, 0.961_470_8, 0.598_973_9];

/// Sine of x + phase half-turns: with u the rest of the half-turns toward zero, sin(πu), negated in odd half-turns. Around 0 the
/// error is relative.
fn sine(b: &mut Builder, x: Value, phase: f32) -> Value {
    let turns = b.float(std::f32::consts::FRAC_1_PI);
    let mut t = b.op(Op::FMul, &[x, turns]);
    if phase != 0.0 {
        let phase = b.float(phase);
        t = b.op(Op::FAdd, &[t, phase]);
    }
    let whole = b.op(Op::FToS, &[t]);
    let toward_zero = b.op(Op::SToF, &[whole]);
    let u = b.op(Op::FSub, &[t, toward_zero]);
    let square = b.op(Op::FMul, &[u, u]);
    let series = if b.relaxed { polynomial(b, square, &SINE_RELAXED) } else { polynomial(b, square, &SINE) };
    let sine = b.op(Op::FMul, &[u, series]);
    let sign = b.word(SIGN_BIT);
    let odd = b.op(Op::Shl, &[whole, sign]);
    b.op(Op::Xor, &[sine, odd])
}

/// Where a float's sign stands.
const SIGN_BIT: u32 = 31;

/// Coefficients of sin(πu)/u in u², on u in (-1, 1): minimax of the error over u, so that it is below 2^-17.9 of the sine around
/// 0 and below 2^-16.3 anywhere, where 2^-11 is allowed.
const SINE: [f32; 5] = [3.141_580_5, -5.167_107, 2.545_261_2, -0.585_265_2, 0.065_542_61];

/// The same with an error below 2^-11.3, around 0 of the sine.
const SINE_RELAXED: [f32; 4] = [3.140_407_7, -5.145_242_7, 2.452_207_6, -0.447_769_22];

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

/// ⌊x⌋ for x in the range of integers.
fn small_floor(b: &mut Builder, x: Value) -> Value {
    let toward_zero = b.op(Op::FToS, &[x]);
    let toward_zero = b.op(Op::SToF, &[toward_zero]);
    if bounds::range(b.shader, x).low >= 0.0 {
        return toward_zero;
    }
    let one = b.float(1.0);
    let above = b.op(Op::FLt, &[x, toward_zero]);
    let lower = b.op(Op::FSub, &[toward_zero, one]);
    b.select(above, lower, toward_zero)
}

/// `rounded`, or x itself where it is too large to have a fraction.
fn keep_large(b: &mut Builder, x: Value, rounded: Value) -> Value {
    let range = bounds::range(b.shader, x);
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
