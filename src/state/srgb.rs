//! The sRGB transfer functions. Their powers go through base-2 logarithm and exponential, whose errors of the SFU
//! (2^-12.6 and 2^-13.6, qpu.md §4.4) are 0.04 of a step of an 8-bit colour in either direction.

use super::emitter::{Emitter, Flag};

/// 1/1.055, by which the curve's coded colours shrink before 0.055/1.055 is added.
const SCALE: f32 = 1.0 / 1.055;

/// As the other, for programs, which compare with 1: no result is above it, and that of 1 is 1.
pub fn texel_to_linear<E: Emitter>(e: &mut E, c: E::Value) -> E::Value {
    let (linear, one) = (to_linear(e, c), e.float(1.0));
    // The exponential of 0 is a little more than 1.
    e.fmin(linear, one)
}

/// c/12.92 up to 0.04045, ((c + 0.055)/1.055)^2.4 above.
pub(super) fn to_linear<E: Emitter>(e: &mut E, c: E::Value) -> E::Value {
    let (slope, limit) = (e.float(1.0 / 12.92), e.float(0.04045));
    // Together they are 1 without rounding.
    let (scale, offset, power) = (e.float(SCALE), e.float(1.0 - SCALE), e.float(0.4));
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

#[cfg(test)]
mod tests {
    use super::super::{StateWords, model::Model};
    use super::*;

    #[test]
    fn bytes_become_linear_and_the_ends_exactly() {
        let mut model = Model::new(StateWords::default());
        let mut linear = |coded: f32| f32::from_bits(texel_to_linear(&mut model, coded.to_bits()));
        assert_eq!([linear(0.0), linear(1.0)], [0.0, 1.0]);
        for byte in 0..=255 {
            let coded = f64::from(byte) / 255.0;
            let exact = if coded <= 0.04045 { coded / 12.92 } else { ((coded + 0.055) / 1.055).powf(2.4) };
            let have = f64::from(linear(coded as f32));
            assert!((have - exact).abs() <= exact * 2f64.powi(-12), "{byte}: {have} instead of {exact}");
        }
    }
}
