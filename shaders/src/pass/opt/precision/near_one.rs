//! Logarithms whose error is a share of them.
//!
//! The SFU's estimate is off by as much near 1, where logarithms vanish, as elsewhere. An exponent that nobody knows makes
//! as much of that as it likes, but of a relative error only what y · 2^y makes of it, which no exponent makes large. So near 1 a
//! product takes the estimate's place.

use std::f32::consts::LOG2_E;

use super::estimate::{LOG2, LOG2_NEAR_ONE};
use crate::ir::{Builder, Op, Value};

/// Largest |x - 1| at which x is near 1.
pub const NEAR: f32 = 0.089;

// Of the two places at which the estimate begins the logarithm is smaller at 1 + NEAR, and ln(1 + t) is more than t - t²/2.
const _: () = assert!(LOG2 < LOG2_NEAR_ONE * LOG2_E * (NEAR - NEAR * NEAR / 2.0));

/// Coefficients of log2(1 + t)/t, ascending: minimax of the relative error.
const SERIES: [f32; 2] = [1.444_640_9, -0.722_462_7];

/// The logarithm.
pub fn log2(b: &mut Builder, x: Value) -> Value {
    let estimate = b.op(Op::SfuLog2, &[x]);
    let [one, near] = [1.0, NEAR].map(|number| b.float(number));
    let [constant, slope] = SERIES.map(|coefficient| b.float(coefficient));
    let t = b.fsub(x, one);
    let slope = b.fmul(t, slope);
    let series = b.fadd(slope, constant);
    let product = b.fmul(series, t);
    let distance = b.fabs(t);
    let is_near = b.flt(distance, near);
    b.select(is_near, product, estimate)
}
