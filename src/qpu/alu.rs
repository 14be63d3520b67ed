//! What the add and mul units compute, per element (qpu.md §2.3, §2.4, §2.7).
//!
//! Every operation is a pure function of two words. The `*_lanes` forms run one operation over all
//! sixteen elements; they are written as plain loops without branches so that they vectorise.

use super::isa::{AddOp, MulOp};
use crate::hw::LANES;

/// One value per SIMD element.
pub type Lanes = [u32; LANES];

/// Result of one operation on one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AluResult {
    /// The 32-bit result before any pack.
    pub value: u32,
    /// The C flag.
    pub carry: bool,
    /// Signed overflow of `add` and `sub`, which a file-A pack saturates on (qpu.md §2.11).
    pub overflow: bool,
}

impl AluResult {
    /// The N flag.
    pub const fn negative(self) -> bool {
        self.value >> 31 != 0
    }

    /// The Z flag.
    pub const fn zero(self) -> bool {
        self.value == 0
    }
}

/// UNVERIFIED: above which product does `mul24` set C, 0xffffff or 0xffffffff? Multiply 0x1000 by 0x1000
/// with `.sf` and write a register under `cs` (qpu.md §2.4).
pub const MUL24_CARRY_ABOVE: u64 = 0x00ff_ffff;

const SIGN: u32 = 0x8000_0000;
const INF: u32 = 0x7f80_0000;
const MANTISSA: u32 = 0x007f_ffff;

const fn exponent(w: u32) -> u32 {
    w >> 23 & 0xff
}

/// Inputs and results without a normal exponent count as +0 (qpu.md §2.3).
#[inline(always)]
const fn flush(w: u32) -> u32 {
    if w & INF == 0 { 0 } else { w }
}

/// Sum of two finite words, truncated. The float sum is rounded to nearest; its exact error says whether it
/// went away from zero, and then the truncated sum is one word below. Sums near the smallest normal
/// number are exact, so the step never leaves the normal range.
///
/// UNVERIFIED: does `fadd` truncate sums of every size, and of either sign of the smaller number, toward zero? Here it does.
#[inline(always)]
fn fadd_finite(a: u32, b: u32) -> u32 {
    let (x, y) = (f32::from_bits(flush(a)), f32::from_bits(flush(b)));
    let sum = x + y;
    let y_part = sum - x;
    let error = (x - (sum - y_part)) + (y - y_part);
    let away = (error != 0.0) & ((error.to_bits() ^ sum.to_bits()) >> 31 != 0);
    flush(sum.to_bits().wrapping_sub(away as u32))
}

/// Whether [`fadd_finite`] may be wrong: a NaN, an infinity, or operands whose sum can overflow.
#[inline(always)]
const fn fadd_is_wide(a: u32, b: u32) -> bool {
    (a & INF >= 254 << 23) | (b & INF >= 254 << 23)
}

/// Sums at the upper end of the range, in double precision.
///
/// UNVERIFIED: what is the sum of +Inf and -Inf, of a NaN and an infinity, and of two numbers whose sum
/// exceeds the largest float? Here operand b's infinity wins over operand a's and an overflow gives an
/// infinity (qpu.md §2.3).
#[cold]
fn fadd_wide(a: u32, b: u32) -> u32 {
    if exponent(b) == 255 {
        return b & SIGN | INF;
    }
    if exponent(a) == 255 {
        return a & SIGN | INF;
    }
    let (x, y) = (f64::from(f32::from_bits(flush(a))), f64::from(f32::from_bits(flush(b))));
    let sum = x + y;
    let y_part = sum - x;
    let error = (x - (sum - y_part)) + (y - y_part);
    let away = error != 0.0 && (error < 0.0) != (sum < 0.0);
    let bits = sum.to_bits() - u64::from(away);
    // The conversion is exact for what fits, and turns 2^128 and above into an infinity.
    flush((f64::from_bits(bits & DOUBLE_AS_SINGLE) as f32).to_bits())
}

/// The bits of a double whose mantissa has only the bits of a single.
const DOUBLE_AS_SINGLE: u64 = !0x1fff_ffff;

/// a + b, truncated toward zero.
#[inline]
pub fn fadd(a: u32, b: u32) -> u32 {
    if fadd_is_wide(a, b) { fadd_wide(a, b) } else { fadd_finite(a, b) }
}

/// a - b, truncated toward zero.
#[inline]
pub fn fsub(a: u32, b: u32) -> u32 {
    fadd(a, b ^ SIGN)
}

/// Key that orders float words as sign-magnitude integers, with -0 equal to +0.
#[inline(always)]
const fn float_order(w: u32) -> i32 {
    let magnitude = (w & !SIGN) as i32;
    if w & SIGN != 0 { -magnitude } else { magnitude }
}

/// Smaller operand word; a when equal. Neither flushes nor quietens.
#[inline]
pub const fn fmin(a: u32, b: u32) -> u32 {
    if float_order(a) > float_order(b) { b } else { a }
}

/// Larger operand word; b when equal.
#[inline]
pub const fn fmax(a: u32, b: u32) -> u32 {
    if float_order(a) > float_order(b) { a } else { b }
}

/// Smaller magnitude, sign cleared.
#[inline]
pub const fn fminabs(a: u32, b: u32) -> u32 {
    let (a, b) = (a & !SIGN, b & !SIGN);
    if a > b { b } else { a }
}

/// Larger magnitude, sign cleared.
#[inline]
pub const fn fmaxabs(a: u32, b: u32) -> u32 {
    let (a, b) = (a & !SIGN, b & !SIGN);
    if a > b { a } else { b }
}

/// Float to signed integer, truncating; 0 for magnitudes of 2^32 and above, infinities and NaN.
///
/// UNVERIFIED: what does `ftoi` give for 2^31 ≤ |x| < 2^32 and for infinities? Here the mantissa is
/// shifted into place and negated modulo 2^32, so that ±2^31 give 0x80000000; infinities give 0 (qpu.md §2.3).
#[inline]
pub const fn ftoi(a: u32) -> u32 {
    let in_range = f32::from_bits(a) as i32 as u32;
    let top = (a & MANTISSA | 0x0080_0000) << 8;
    let top = if a & SIGN != 0 { top.wrapping_neg() } else { top };
    let e = exponent(a);
    let near = if e == 158 { top } else { in_range };
    if e > 158 { 0 } else { near }
}

/// Signed integer to float, truncated toward zero.
#[inline]
pub fn itof(a: u32) -> u32 {
    let exact = f64::from(a as i32);
    (f64::from_bits(exact.to_bits() & DOUBLE_AS_SINGLE) as f32).to_bits()
}

/// Logical shift right by the low five bits of b.
#[inline]
pub const fn shr(a: u32, b: u32) -> u32 {
    a >> (b & 31)
}

/// Arithmetic shift right by the low five bits of b.
#[inline]
pub const fn asr(a: u32, b: u32) -> u32 {
    (a as i32 >> (b & 31)) as u32
}

/// Rotate right by the low five bits of b.
#[inline]
pub const fn ror(a: u32, b: u32) -> u32 {
    a.rotate_right(b & 31)
}

/// Shift left by the low five bits of b.
#[inline]
pub const fn shl(a: u32, b: u32) -> u32 {
    a << (b & 31)
}

/// Signed minimum.
#[inline]
pub const fn min(a: u32, b: u32) -> u32 {
    if (a as i32) < (b as i32) { a } else { b }
}

/// Signed maximum.
#[inline]
pub const fn max(a: u32, b: u32) -> u32 {
    if (a as i32) > (b as i32) { a } else { b }
}

const HIGH_BITS: u32 = 0x8080_8080;

/// Per byte min(255, a + b).
#[inline]
pub const fn v8adds(a: u32, b: u32) -> u32 {
    let low = (a & !HIGH_BITS) + (b & !HIGH_BITS);
    let over = ((a & b) | ((a | b) & low)) & HIGH_BITS;
    (low ^ ((a ^ b) & HIGH_BITS)) | ((over << 1).wrapping_sub(over >> 7))
}

/// Per byte max(0, a - b).
#[inline]
pub const fn v8subs(a: u32, b: u32) -> u32 {
    !v8adds(!a, b)
}

/// Per byte unsigned minimum.
#[inline]
pub const fn v8min(a: u32, b: u32) -> u32 {
    a - v8subs(a, b)
}

/// Per byte unsigned maximum.
#[inline]
pub const fn v8max(a: u32, b: u32) -> u32 {
    b + v8subs(a, b)
}

/// Per byte (a·b + 127) / 255.
#[inline]
pub const fn v8muld(a: u32, b: u32) -> u32 {
    const fn byte(a: u32, b: u32, shift: u32) -> u32 {
        // (t + t / 256) / 256 with this bias equals the division for all inputs.
        let t = (a >> shift & 255) * (b >> shift & 255) + 128;
        ((t + (t >> 8)) >> 8) << shift
    }
    byte(a, b, 0) | byte(a, b, 8) | byte(a, b, 16) | byte(a, b, 24)
}

/// Float product, truncated toward zero. A zero or denormal operand wins over everything, then an infinity or NaN gives an infinity.
///
/// UNVERIFIED: does `fmul` round to nearest even or truncate? It truncates: GPU_FFT prints the error of its results, and of all
/// kinds of rounding only this gives what Raspberry Pis printed (qpu.md §2.4 had no source). 0x3f800001 × 0x3fc00001 is 0x3fc00002
/// truncated and 0x3fc00003 rounded.
#[inline]
pub fn fmul(a: u32, b: u32) -> u32 {
    // Without NaN inputs and with zeros kept apart the host product is never NaN.
    let quiet = |w: u32| if w & INF == INF { w & !MANTISSA } else { w };
    // Two singles have an exact product in a double.
    let exact = f64::from(f32::from_bits(quiet(a))) * f64::from(f32::from_bits(quiet(b)));
    let product = (f64::from_bits(exact.to_bits() & DOUBLE_AS_SINGLE) as f32).to_bits();
    // What is truncated only then would be rounded up to the smallest normal number.
    let below = exact.abs() < f64::from(f32::MIN_POSITIVE);
    if (a & INF == 0) | (b & INF == 0) | below { 0 } else { product }
}

/// Bits that `mul24` reads of each factor.
pub const MUL24_BITS: u32 = 24;

/// Low 32 bits of the product of the low [`MUL24_BITS`], unsigned.
#[inline]
pub const fn mul24(a: u32, b: u32) -> u32 {
    const MASK: u32 = (1 << MUL24_BITS) - 1;
    (a & MASK).wrapping_mul(b & MASK)
}

/// The result word of an add operation.
#[inline]
pub fn add_value(op: AddOp, a: u32, b: u32) -> u32 {
    match op {
        AddOp::Nop => 0,
        AddOp::Fadd => fadd(a, b),
        AddOp::Fsub => fsub(a, b),
        AddOp::Fmin => fmin(a, b),
        AddOp::Fmax => fmax(a, b),
        AddOp::Fminabs => fminabs(a, b),
        AddOp::Fmaxabs => fmaxabs(a, b),
        AddOp::Ftoi => ftoi(a),
        AddOp::Itof => itof(a),
        AddOp::Add => a.wrapping_add(b),
        AddOp::Sub => a.wrapping_sub(b),
        AddOp::Shr => shr(a, b),
        AddOp::Asr => asr(a, b),
        AddOp::Ror => ror(a, b),
        AddOp::Shl => shl(a, b),
        AddOp::Min => min(a, b),
        AddOp::Max => max(a, b),
        AddOp::And => a & b,
        AddOp::Or => a | b,
        AddOp::Xor => a ^ b,
        AddOp::Not => !a,
        AddOp::Clz => a.leading_zeros(),
        AddOp::V8adds => v8adds(a, b),
        AddOp::V8subs => v8subs(a, b),
    }
}

/// The C flag of an add operation with result `value` (qpu.md §2.3).
#[inline]
pub const fn add_carry(op: AddOp, a: u32, b: u32, value: u32) -> bool {
    match op {
        AddOp::Fadd | AddOp::Fsub | AddOp::Itof => value as i32 > 0,
        AddOp::Fmin | AddOp::Fmax => float_order(a) > float_order(b),
        AddOp::Fminabs | AddOp::Fmaxabs => a & !SIGN > b & !SIGN,
        AddOp::Add => value < a,
        AddOp::Sub => a < b,
        // Shifting by n - 1 modulo 32 brings the last bit out to the edge; n = 0 has none.
        AddOp::Shr | AddOp::Asr => b & 31 != 0 && a >> (b.wrapping_sub(1) & 31) & 1 != 0,
        AddOp::Shl => (a as u64) << (b & 31) >> 32 & 1 != 0,
        AddOp::Min | AddOp::Max => a as i32 > b as i32,
        AddOp::Nop
        | AddOp::Ftoi
        | AddOp::Ror
        | AddOp::And
        | AddOp::Or
        | AddOp::Xor
        | AddOp::Not
        | AddOp::Clz
        | AddOp::V8adds
        | AddOp::V8subs => false,
    }
}

/// Signed overflow of an add operation with result `value`; only `add` and `sub` signal it.
#[inline]
pub const fn add_overflow(op: AddOp, a: u32, b: u32, value: u32) -> bool {
    match op {
        AddOp::Add => (a ^ value) & (b ^ value) & SIGN != 0,
        AddOp::Sub => (a ^ b) & (a ^ value) & SIGN != 0,
        _ => false,
    }
}

/// The result word of a mul operation.
#[inline]
pub fn mul_value(op: MulOp, a: u32, b: u32) -> u32 {
    match op {
        MulOp::Nop => 0,
        MulOp::Fmul => fmul(a, b),
        MulOp::Mul24 => mul24(a, b),
        MulOp::V8muld => v8muld(a, b),
        MulOp::V8min => v8min(a, b),
        MulOp::V8max => v8max(a, b),
        MulOp::V8adds => v8adds(a, b),
        MulOp::V8subs => v8subs(a, b),
    }
}

/// The C flag of a mul operation (qpu.md §2.4).
#[inline]
pub const fn mul_carry(op: MulOp, a: u32, b: u32) -> bool {
    matches!(op, MulOp::Mul24) && (a & 0xff_ffff) as u64 * (b & 0xff_ffff) as u64 > MUL24_CARRY_ABOVE
}

/// One element through the add unit. `nop` yields 0; its result is never written.
#[inline]
pub fn add_op(op: AddOp, a: u32, b: u32) -> AluResult {
    let value = add_value(op, a, b);
    AluResult { value, carry: add_carry(op, a, b, value), overflow: add_overflow(op, a, b, value) }
}

/// One element through the mul unit. `nop` yields 0; the stale word that hardware would
/// write (qpu.md §3.4) is not modelled here.
#[inline]
pub fn mul_op(op: MulOp, a: u32, b: u32) -> AluResult {
    AluResult { value: mul_value(op, a, b), carry: mul_carry(op, a, b), overflow: false }
}

/// Runs `f` over all elements; with the operation a constant of the closure the loop vectorises.
#[inline(always)]
fn map(a: &Lanes, b: &Lanes, f: impl Fn(u32, u32) -> u32) -> Lanes {
    let mut out = [0; LANES];
    for i in 0..LANES {
        out[i] = f(a[i], b[i]);
    }
    out
}

/// Bit i is what `f` says of element i.
#[inline(always)]
pub(super) fn mask(f: impl Fn(usize) -> bool) -> u16 {
    let mut bits = [0u32; LANES];
    for (i, bit) in bits.iter_mut().enumerate() {
        *bit = u32::from(f(i)) << i;
    }
    bits.iter().fold(0, |all, bit| all | bit) as u16
}

/// All elements of a sum whose second operand has its sign flipped by `flip`.
#[inline(always)]
fn fadd_lanes(a: &Lanes, b: &Lanes, flip: u32) -> Lanes {
    let (mut out, mut wide) = ([0; LANES], 0u32);
    for i in 0..LANES {
        wide |= u32::from(fadd_is_wide(a[i], b[i]));
        out[i] = fadd_finite(a[i], b[i] ^ flip);
    }
    if wide != 0 { map(a, b, |a, b| fadd(a, b ^ flip)) } else { out }
}

/// Expands a match so that each arm is its own loop over a known code.
macro_rules! per_code {
    ($op:expr, $ty:ident: [$($variant:ident)*], |$known:ident| $body:expr) => {
        match $op { $($ty::$variant => { const $known: $ty = $ty::$variant; $body })* }
    };
}

pub(super) use per_code;

/// The result words of an add operation on all elements.
pub fn add_value_lanes(op: AddOp, a: &Lanes, b: &Lanes) -> Lanes {
    match op {
        AddOp::Fadd => fadd_lanes(a, b, 0),
        AddOp::Fsub => fadd_lanes(a, b, SIGN),
        _ => per_code!(op, AddOp: [Nop Fadd Fsub Fmin Fmax Fminabs Fmaxabs Ftoi Itof Add Sub Shr Asr Ror Shl
            Min Max And Or Xor Not Clz V8adds V8subs], |OP| map(a, b, |a, b| add_value(OP, a, b))),
    }
}

/// The C flags of an add operation whose results are `value`; bit i is element i.
pub fn add_carry_lanes(op: AddOp, a: &Lanes, b: &Lanes, value: &Lanes) -> u16 {
    per_code!(op, AddOp: [Nop Fadd Fsub Fmin Fmax Fminabs Fmaxabs Ftoi Itof Add Sub Shr Asr Ror Shl Min Max And Or
        Xor Not Clz V8adds V8subs], |OP| mask(|i| add_carry(OP, a[i], b[i], value[i])))
}

/// Signed overflow of an add operation whose results are `value`; bit i is element i.
pub fn add_overflow_lanes(op: AddOp, a: &Lanes, b: &Lanes, value: &Lanes) -> u16 {
    match op {
        AddOp::Add | AddOp::Sub => mask(|i| add_overflow(op, a[i], b[i], value[i])),
        _ => 0,
    }
}

/// All elements through the add unit: values and C flags. Callers that do not set flags save time
/// with [`add_value_lanes`].
pub fn add_lanes(op: AddOp, a: &Lanes, b: &Lanes) -> (Lanes, u16) {
    let value = add_value_lanes(op, a, b);
    let carry = add_carry_lanes(op, a, b, &value);
    (value, carry)
}

/// The result words of a mul operation on all elements.
pub fn mul_value_lanes(op: MulOp, a: &Lanes, b: &Lanes) -> Lanes {
    per_code!(op, MulOp: [Nop Fmul Mul24 V8muld V8min V8max V8adds V8subs], |OP| map(a, b, |a, b| mul_value(OP, a, b)))
}

/// All elements through the mul unit: values and C flags.
pub fn mul_lanes(op: MulOp, a: &Lanes, b: &Lanes) -> (Lanes, u16) {
    (mul_value_lanes(op, a, b), mask(|i| mul_carry(op, a[i], b[i])))
}

#[cfg(test)]
mod tests;
