//! The sRGB transfer functions. Their powers go through base-2 logarithm and exponential, whose errors of the SFU
//! (2^-12.6 and 2^-13.6, qpu.md §4.4) are 0.04 of a step of an 8-bit colour in either direction.

use super::emitter::{Emitter, Flag};

/// c/12.92 up to 0.04045, ((c + 0.055)/1.055)^2.4 above.
pub fn to_linear<E: Emitter>(e: &mut E, c: E::Value) -> E::Value {
    let (slope, limit) = (e.float(1.0 / 12.92), e.float(0.04045));
    let (scale, offset, power) = (e.float(1.0 / 1.055), e.float(0.055 / 1.055), e.float(0.4));
    let linear = e.fmul(c, slope);
    let base = e.fmul(c, scale);
    let base = e.fadd(base, offset);
    // The square is exact, which leaves the logarithm's error a sixth of its weight: differences of bright colours,
    // which may be dark, keep within a step.
    let square = e.fmul(base, base);
    let log = e.log2(base);
    let log = e.fmul(log, power);
    let curve = e.exp2(log);
    let curve = e.fmul(square, curve);
    let above = e.fsub(limit, c);
    e.select(Flag::Negative, above, curve, linear)
}

/// 12.92 c up to 0.0031308, 1.055 c^(1/2.4) - 0.055 above. Numbers below 0 give some number below 0.
pub(super) fn from_linear<E: Emitter>(e: &mut E, c: E::Value) -> E::Value {
    let (slope, limit) = (e.float(12.92), e.float(0.003_130_8));
    let (scale, offset, power) = (e.float(1.055), e.float(0.055), e.float(1.0 / 2.4));
    let linear = e.fmul(c, slope);
    let log = e.log2(c);
    let log = e.fmul(log, power);
    let curve = e.exp2(log);
    let curve = e.fmul(curve, scale);
    let curve = e.fsub(curve, offset);
    let above = e.fsub(limit, c);
    e.select(Flag::Negative, above, curve, linear)
}
