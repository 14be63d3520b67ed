//! Functions of GLSL.std.450 that take a numerical method: exponentials, inverse trigonometry, splitting floats.
//!
//! The polynomials are minimax fits of this project (Remez exchange on x², weighted for relative error); Vulkan
//! allows 4096 ULP for atan and what follows from it for asin and acos.

use std::f32::consts::{FRAC_PI_2, LN_2, LOG2_E, PI};

use spirv::GlslStd450Op as Glsl;

use crate::ir::eval::INTEGERS_FROM;
use crate::ir::{Builder, Op, Stage, Value};
use crate::spirv::error::Result;
use crate::spirv::expression::emit::{Emit, Scalars, Typed};
use crate::spirv::expression::emit::{map, map2};

/// (asin(x)/x - 1)/x² over x² in [0, 0.25]; relative error of asin 9.2e-8.
const ASIN: [f32; 4] = [0.166_655_63, 0.075_409_36, 0.040_007_174, 0.050_010_875];

/// (atan(x)/x - 1)/x² over x² in [0, 1]; relative error of atan 1.1e-7.
const ATAN: [f32; 7] =
    [-0.333_323_92, 0.199_742_15, -0.140_413_28, 0.099_684_73, -0.060_203_13, 0.024_734_066, -0.004_822_535];

/// Translates functions with a numerical method; `None` for every other one.
pub fn math(e: &mut Emit<'_>, op: Glsl, args: &[Typed]) -> Result<Option<Scalars>> {
    Ok(Some(match op {
        Glsl::Tan => map(e, args, |b, x| {
            let (sine, cosine) = (b.fsin(x), b.fcos(x));
            b.fdiv(sine, cosine)
        })?,
        Glsl::Asin => map(e, args, asin)?,
        Glsl::Acos => map(e, args, acos)?,
        Glsl::Atan => map(e, args, |b, x| {
            let one = b.float(1.0);
            let magnitude = b.fabs(x);
            let angle = angle(b, magnitude, one);
            with_sign_of(b, angle, x)
        })?,
        Glsl::Atan2 => map2(e, args, atan2)?,
        Glsl::Exp => map(e, args, exp)?,
        Glsl::Log => map(e, args, log)?,
        Glsl::Pow => map2(e, args, pow)?,
        Glsl::Round => map(e, args, round)?,
        Glsl::Sinh => map(e, args, |b, x| hyperbolic(b, x, Op::FSub))?,
        Glsl::Cosh => map(e, args, |b, x| hyperbolic(b, x, Op::FAdd))?,
        Glsl::Tanh => map(e, args, tanh)?,
        Glsl::Asinh => map(e, args, |b, x| {
            let magnitude = b.fabs(x);
            let result = inverse_hyperbolic(b, magnitude, 1.0);
            with_sign_of(b, result, x)
        })?,
        Glsl::Acosh => map(e, args, |b, x| inverse_hyperbolic(b, x, -1.0))?,
        Glsl::Atanh => map(e, args, |b, x| {
            let (one, half) = (b.float(1.0), b.float(0.5));
            let (above, below) = (b.fadd(one, x), b.fsub(one, x));
            let quotient = b.fdiv(above, below);
            let log = log(b, quotient);
            b.fmul(log, half)
        })?,
        Glsl::Modf | Glsl::ModfStruct => modf(e, args)?,
        Glsl::Frexp | Glsl::FrexpStruct => frexp(e, args)?,
        Glsl::Ldexp => map2(e, args, ldexp)?,
        _ => return Ok(None),
    }))
}

/// c0 + c1·x + c2·x² + …
fn polynomial(b: &mut Builder<'_>, x: Value, coefficients: &[f32]) -> Value {
    let mut sum = None;
    for &coefficient in coefficients.iter().rev() {
        let coefficient = b.float(coefficient);
        sum = Some(sum.map_or(coefficient, |sum| b.fmad(sum, x, coefficient)));
    }
    sum.unwrap_or_else(|| b.float(0.0))
}

/// x·(1 + x²·P(x²)), the shape of asin and atan near zero.
fn odd(b: &mut Builder<'_>, x: Value, square: Value, coefficients: &[f32]) -> Value {
    let tail = polynomial(b, square, coefficients);
    let cube = b.fmul(x, square);
    b.fmad(cube, tail, x)
}

/// A value that is not negative, with the sign of another.
fn with_sign_of(b: &mut Builder<'_>, magnitude: Value, sign: Value) -> Value {
    let mask = b.word(1 << 31);
    let sign = b.and(sign, mask);
    b.or(magnitude, sign)
}

/// atan(y/x) for y and x that are not negative: the smaller over the larger, mirrored at 45 degrees.
fn angle(b: &mut Builder<'_>, y: Value, x: Value) -> Value {
    let (small, large) = (b.fmin(x, y), b.fmax(x, y));
    let ratio = b.fdiv(small, large);
    let square = b.fmul(ratio, ratio);
    let near = odd(b, ratio, square, &ATAN);
    let right = b.float(FRAC_PI_2);
    let mirrored = b.fsub(right, near);
    let steep = b.flt(x, y);
    b.select(steep, mirrored, near)
}

fn atan2(b: &mut Builder<'_>, y: Value, x: Value) -> Value {
    let (mut height, mut width) = (b.fabs(y), b.fabs(x));
    if b.shader.stage == Stage::Compute {
        // Infinities have no quotient, though the angle between them is known. Kernels may have some.
        let (largest, zero) = (b.float(f32::MAX), b.float(0.0));
        let flat = b.flt(largest, width);
        let tall = b.flt(largest, height);
        (height, width) = (b.fmin(height, largest), b.fmin(width, largest));
        // Of one that is infinite the other one is nothing.
        let (level, upright) = (b.select(tall, height, zero), b.select(flat, width, zero));
        (height, width) = (b.select(flat, level, height), b.select(tall, upright, width));
    }
    let right = angle(b, height, width);
    let (half_turn, zero) = (b.float(PI), b.float(0.0));
    let left = b.fsub(half_turn, right);
    let behind = b.flt(x, zero);
    let angle = b.select(behind, left, right);
    with_sign_of(b, angle, y)
}

/// Whether |x| exceeds a half, and asin of |x| there or of sqrt((1-|x|)/2) beyond: asin(x) = pi/2 - 2·asin(sqrt((1-x)/2)).
fn half_asin(b: &mut Builder<'_>, x: Value) -> (Value, Value) {
    let (half, one) = (b.float(0.5), b.float(1.0));
    let magnitude = b.fabs(x);
    let far = b.flt(half, magnitude);
    let rest = b.fsub(one, magnitude);
    let far_square = b.fmul(rest, half);
    let near_square = b.fmul(x, x);
    let square = b.select(far, far_square, near_square);
    let root = b.fsqrt(far_square);
    let argument = b.select(far, root, magnitude);
    (far, odd(b, argument, square, &ASIN))
}

fn asin(b: &mut Builder<'_>, x: Value) -> Value {
    let (far, part) = half_asin(b, x);
    let right = b.float(FRAC_PI_2);
    let twice = b.fadd(part, part);
    let mirrored = b.fsub(right, twice);
    let magnitude = b.select(far, mirrored, part);
    with_sign_of(b, magnitude, x)
}

fn acos(b: &mut Builder<'_>, x: Value) -> Value {
    let (far, part) = half_asin(b, x);
    let (right, half_turn, zero) = (b.float(FRAC_PI_2), b.float(PI), b.float(0.0));
    let signed = with_sign_of(b, part, x);
    let near = b.fsub(right, signed);
    let twice = b.fadd(part, part);
    let beyond = b.fsub(half_turn, twice);
    let negative = b.flt(x, zero);
    let far_result = b.select(negative, beyond, twice);
    b.select(far, far_result, near)
}

/// 2^(x·log2 e), which is a unit up because the product is cut off.
fn exp(b: &mut Builder<'_>, x: Value) -> Value {
    let scale = b.float(f32::from_bits(LOG2_E.to_bits() + 1));
    let exponent = b.fmul(x, scale);
    b.fexp2(exponent)
}

/// log2(x)·ln 2, which is a unit up because the product is cut off.
fn log(b: &mut Builder<'_>, x: Value) -> Value {
    let scale = b.float(f32::from_bits(LN_2.to_bits() + 1));
    let log = b.flog2(x);
    b.fmul(log, scale)
}

/// 2^(y·log2(x)), or products when y is a constant that takes few of them.
fn pow(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    let constant = b.shader.const_of(y).map(f32::from_bits);
    if let Some(power) = constant.and_then(|y| power_by_products(b, x, y)) {
        return power;
    }
    let log = b.flog2(x);
    let exponent = b.fmul(log, y);
    b.fexp2(exponent)
}

/// Products that a power may take: a logarithm and a power of two take some thirty instructions, their estimates three.
const MAX_PRODUCTS: u32 = 8;
const MAX_PRODUCTS_RELAXED: u32 = 4;

/// x to the halves of whole numbers, as products of x, its root or its inverse. Each product is off by less than a unit, a root by
/// less than three, an inverse by less than two: less than what an error of 2^-21 of a logarithm makes of the power, which is allowed.
fn power_by_products(b: &mut Builder<'_>, x: Value, y: f32) -> Option<Value> {
    let halves = 2.0 * y.abs();
    let most = if b.relaxed { MAX_PRODUCTS_RELAXED } else { MAX_PRODUCTS };
    // Larger ones take too many products anyway.
    if halves.fract() != 0.0 || halves == 0.0 || halves > 1024.0 {
        return None;
    }
    let (whole, has_half) = (halves as u32 / 2, halves as u32 % 2 == 1);
    match (y > 0.0, has_half) {
        (true, false) if products(whole) <= most => Some(power_of(b, x, whole)),
        (true, true) if whole == 0 => Some(b.fsqrt(x)),
        (true, true) if products(whole) < most => {
            let root = b.fsqrt(x);
            let power = power_of(b, x, whole);
            Some(b.fmul(root, power))
        }
        // The errors of inverses add up: more of them would lose more than a logarithm.
        (false, false) if whole <= 4 => {
            let one = b.float(1.0);
            let inverse = b.fdiv(one, x);
            Some(power_of(b, inverse, whole))
        }
        (false, true) if whole <= 1 => {
            let inverse = b.frsqrt(x);
            Some(power_of(b, inverse, 2 * whole + 1))
        }
        _ => None,
    }
}

/// Products that [`power_of`] takes.
fn products(power: u32) -> u32 {
    power.ilog2() + power.count_ones() - 1
}

/// x to a whole power by squaring.
fn power_of(b: &mut Builder<'_>, x: Value, power: u32) -> Value {
    if power == 1 {
        return x;
    }
    let half = power_of(b, x, power / 2);
    let square = b.fmul(half, half);
    if power % 2 == 0 { square } else { b.fmul(square, x) }
}

/// The floor of x + ½, which may take either side of a tie; a sum that is cut off stays below the next integer (fact
/// `fadd-truncation`). Kernels have IEEE sums, and machines that round to the even side at once.
fn round(b: &mut Builder<'_>, x: Value) -> Value {
    if b.shader.stage == Stage::Compute {
        return b.op(Op::FRoundEven, &[x]);
    }
    let half = b.float(0.5);
    let sum = b.op(Op::FAdd, &[x, half]);
    // The floor's own look at large numbers would be a second one.
    let relaxed = std::mem::replace(&mut b.relaxed, true);
    let floor = b.op(Op::FFloor, &[sum]);
    b.relaxed = relaxed;
    if relaxed {
        return floor;
    }
    let (magnitude, limit) = (b.op(Op::FAbs, &[x]), b.float(INTEGERS_FROM));
    let fits = b.op(Op::FLt, &[magnitude, limit]);
    b.select(fits, floor, x)
}

/// (e^x ± e^-x)/2.
fn hyperbolic(b: &mut Builder<'_>, x: Value, join: Op) -> Value {
    let half = b.float(0.5);
    let negated = b.fneg(x);
    let (up, down) = (exp(b, x), exp(b, negated));
    let sum = b.op(join, &[up, down]);
    b.fmul(sum, half)
}

/// (e^2x - 1)/(e^2x + 1), whose dividend is exact around 0, of an x that is no larger than what it takes for 1.
fn tanh(b: &mut Builder<'_>, x: Value) -> Value {
    let (one, limit) = (b.float(1.0), b.float(16.0));
    let limited = b.fmin(x, limit);
    let twice = b.fadd(limited, limited);
    let power = exp(b, twice);
    let dividend = b.fsub(power, one);
    let divisor = b.fadd(power, one);
    b.fdiv(dividend, divisor)
}

/// log(x + sqrt(x² + c)).
fn inverse_hyperbolic(b: &mut Builder<'_>, x: Value, c: f32) -> Value {
    let c = b.float(c);
    let square = b.fmad(x, x, c);
    let root = b.fsqrt(square);
    let sum = b.fadd(x, root);
    log(b, sum)
}

/// Fractions, then whole parts.
fn modf(e: &mut Emit<'_>, args: &[Typed]) -> Result<Scalars> {
    let values = e.words(args, 0)?;
    let whole: Scalars = values.iter().map(|&x| e.b.ftrunc(x)).collect();
    let mut both: Scalars = values.iter().zip(&whole).map(|(&x, &whole)| e.b.fsub(x, whole)).collect();
    both.extend(whole);
    Ok(both)
}

/// Mantissas in [0.5, 1), then exponents; zero stays zero with exponent zero.
fn frexp(e: &mut Emit<'_>, args: &[Typed]) -> Result<Scalars> {
    let values = e.words(args, 0)?;
    let b = &mut e.b;
    let (zero, shift, bias) = (b.word(0), b.word(23), b.word(126));
    let (exponent_mask, keep, half) = (b.word(0xff), b.word(0x807f_ffff), b.word(126 << 23));
    let sign = b.word(1 << 31);
    let (mut mantissas, mut exponents) = (Vec::new(), Vec::new());
    for &x in values.iter() {
        let top = b.shr(x, shift);
        let biased = b.and(top, exponent_mask);
        // Denormals count as zero, as they do in the arithmetic units; zeros keep their sign.
        let is_zero = b.ieq(biased, zero);
        let signed_zero = b.and(x, sign);
        let fraction = b.and(x, keep);
        let mantissa = b.or(fraction, half);
        mantissas.push(b.select(is_zero, signed_zero, mantissa));
        let exponent = b.isub(biased, bias);
        exponents.push(b.select(is_zero, zero, exponent));
    }
    mantissas.extend(exponents);
    Ok(mantissas)
}

/// x·2^n in three steps: two, so that every n whose result is a normal number works, and one for what is below all numbers.
fn ldexp(b: &mut Builder<'_>, x: Value, n: Value) -> Value {
    let (one, least, most) = (b.word(1), b.word(-126i32 as u32), b.word(127));
    let limited = |b: &mut Builder<'_>, n: Value| {
        let n = b.smax(n, least);
        b.smin(n, most)
    };
    let half = b.asr(n, one);
    let first = limited(b, half);
    let rest = b.isub(n, first);
    let second = limited(b, rest);
    let rest = b.isub(rest, second);
    let third = limited(b, rest);
    [first, second, third].into_iter().fold(x, |x, n| times_power_of_two(b, x, n))
}

/// x·2^n for n from -126 to 127.
fn times_power_of_two(b: &mut Builder<'_>, x: Value, n: Value) -> Value {
    let (bias, shift) = (b.word(127), b.word(23));
    let biased = b.iadd(n, bias);
    let power = b.shl(biased, shift);
    b.fmul(x, power)
}
