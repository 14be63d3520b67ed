//! Estimates and their errors, and what all that follows errors shares.

use std::f32::consts::{E, LOG2_E};

use crate::ir::Op;
use crate::pass::analysis::range::Range;

/// Error that a component may have: below half a step, which rounding to the nearest takes; what is left is for the rounding of
/// everything else.
pub const BUDGET: f32 = 0.4 / 255.0;

/// Larger relative errors are not followed: what is left out of formulas is their squares.
pub const SMALL: f32 = 0.01;

/// Components of a colour.
pub const COMPONENTS: usize = 4;

/// Relative error of the estimate of a reciprocal (qpu.md §4.4), the operand's loss of bits included.
pub const RECIP: f32 = 0.000_1;
/// That of a reciprocal root.
pub const RSQRT: f32 = 0.000_11;
/// That of a power of two.
pub const EXP2: f32 = 0.000_14;
/// Absolute error of the estimate of a logarithm.
pub const LOG2: f32 = 0.000_17;
/// Absolute error of the short series of a sine.
pub const SINE: f32 = 0.000_02;

/// Relative error of logarithms whose estimate is replaced near 1 (`near_one`): of the product there, and of the SFU's estimate
/// elsewhere.
pub const LOG2_NEAR_ONE: f32 = 0.001_4;

/// An operation's estimate.
#[derive(Clone, Copy)]
pub struct Estimate {
    /// Instructions that it saves, about.
    pub saves: u32,
    /// What it is off by.
    pub off: Off,
}

/// An error of one form.
#[derive(Clone, Copy)]
pub enum Off {
    Absolute(f32),
    Relative(f32),
}

/// The estimate that an operation has.
pub fn estimate(op: Op) -> Option<Estimate> {
    let (saves, off) = match op {
        Op::FLog2 => (15, Off::Absolute(LOG2)),
        Op::FExp2 => (10, Off::Relative(EXP2)),
        Op::FDiv => (4, Off::Relative(RECIP)),
        Op::FSqrt | Op::FRsqrt | Op::FInverseLength => (4, Off::Relative(RSQRT)),
        Op::FSin | Op::FCos => (2, Off::Absolute(SINE)),
        _ => return None,
    };
    Some(Estimate { saves, off })
}

/// The estimate that a logarithm has where the SFU's is too far off.
pub fn better(op: Op) -> Option<Estimate> {
    op.is(Op::FLog2).then_some(Estimate { saves: 10, off: Off::Relative(LOG2_NEAR_ONE) })
}

/// A product of two bounds: nothing is made of nothing, and unknown is unknown.
pub fn product(a: f32, b: f32) -> f32 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

/// The largest magnitude of y · 2^y. Below zero it has a maximum, at -1/ln 2, of 1/(e · ln 2).
pub fn most_of_product(y: Range) -> f32 {
    let below = if y.low < 0.0 { LOG2_E / E } else { 0.0 };
    let above = if y.high > 0.0 { y.high * y.high.exp2() } else { 0.0 };
    below.max(above)
}
