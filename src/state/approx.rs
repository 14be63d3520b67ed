//! Functions for emitters without a better way: polynomials and the layout of floats.

use super::{Emitter, Flag};
use crate::qpu::AddOp;

const MANTISSA: u32 = 23;
const ONE: u32 = 0x3f80_0000;
/// log2(1 + x) on 0..1, highest power first and nothing below x: within 1.1e-4.
const LOG2: [f32; 4] = [-0.084_767_56, 0.325_593_6, -0.679_942_85, 1.439_014_5];
/// 2^x on 0..1, highest power first: within 7.5e-5 of the result.
const EXP2: [f32; 4] = [0.078_024_14, 0.226_067_7, 0.695_833_4, 0.999_925_2];

/// The polynomial with these coefficients, highest power first.
fn polynomial<E: Emitter + ?Sized>(e: &mut E, coefficients: &[f32], x: E::Value) -> E::Value {
    let mut sum = e.float(coefficients[0]);
    for &coefficient in &coefficients[1..] {
        let (product, coefficient) = (e.fmul(sum, x), e.float(coefficient));
        sum = e.fadd(product, coefficient);
    }
    sum
}

/// Exponent, and the polynomial of the mantissa.
pub(super) fn log2<E: Emitter + ?Sized>(e: &mut E, a: E::Value) -> E::Value {
    let (magnitude, low, one) = (e.word(0x7fff_ffff), e.word((1 << MANTISSA) - 1), e.word(ONE));
    let a = e.and(a, magnitude);
    let (exponent, bias) = (e.shr(a, MANTISSA), e.word(127));
    let exponent = e.add(AddOp::Sub, exponent, bias);
    let exponent = e.itof(exponent);
    let mantissa = e.and(a, low);
    let mantissa = e.or(mantissa, one);
    let fraction = e.fsub(mantissa, one);
    let log = polynomial(e, &LOG2, fraction);
    let log = e.fmul(log, fraction);
    e.fadd(exponent, log)
}

/// The polynomial of the fraction, with the whole part added to its exponent.
pub(super) fn exp2<E: Emitter + ?Sized>(e: &mut E, a: E::Value) -> E::Value {
    let bias = e.float(127.0);
    let positive = e.fadd(a, bias);
    let whole = e.ftoi(positive);
    let floor = e.itof(whole);
    let fraction = e.fsub(positive, floor);
    let power = polynomial(e, &EXP2, fraction);
    let (exponent, bias) = (e.shl(whole, MANTISSA), e.word(ONE));
    let exponent = e.add(AddOp::Sub, exponent, bias);
    e.add(AddOp::Add, power, exponent)
}

/// A float16 in bits 15:0, rounded to nearest even as [`crate::qpu::pack::f32_to_f16`] does.
pub(super) fn half<E: Emitter + ?Sized>(e: &mut E, a: E::Value) -> E::Value {
    let (sign, magnitude) = (e.word(0x8000), e.word(0x7fff_ffff));
    let top = e.shr(a, 16);
    let sign = e.and(top, sign);
    let magnitude = e.and(a, magnitude);
    let kept = e.shr(magnitude, 13);
    let (one, almost_half) = (e.word(1), e.word(0xfff));
    let odd = e.and(kept, one);
    let bias = e.add(AddOp::Add, odd, almost_half);
    // An infinity must not overflow into the sign.
    let most = e.word(0x7f80_0000);
    let magnitude = e.add(AddOp::Min, magnitude, most);
    let rounded = e.add(AddOp::Add, magnitude, bias);
    let rebase = e.word(112 << MANTISSA);
    let rebased = e.add(AddOp::Sub, rounded, rebase);
    let (normal, infinity) = (e.shr(rebased, 13), e.word(0x7c00));
    let normal = e.add(AddOp::Min, normal, infinity);
    let signed = e.or(normal, sign);
    let smallest = e.word(113 << MANTISSA);
    let room = e.add(AddOp::Sub, rounded, smallest);
    let zero = e.word(0);
    e.select(Flag::Negative, room, zero, signed)
}
