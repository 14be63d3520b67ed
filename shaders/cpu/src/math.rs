//! Functions that kernels call for four elements.
//!
//! They are polynomials in double precision, rounded once: the same words on every machine, and within a unit in the last
//! place of the exact value.

use std::f64::consts::{FRAC_2_PI, LN_2, LOG2_E, SQRT_2};

use vc4_shaders::ir::Op;
use vc4_shaders::ir::eval::eval;

use crate::batch::Words;
use crate::layout::Function;

/// A function's number in [`FUNCTIONS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// 2^a.
    Exp2,
    /// log2(a).
    Log2,
    /// sin(a).
    Sin,
    /// cos(a).
    Cos,
    /// Floor, where the machine does not have it.
    Floor,
    /// Ceiling.
    Ceil,
    /// Truncation.
    Trunc,
    /// Nearest integer, ties to even.
    RoundEven,
}

impl Call {
    /// The function of an operation.
    pub const fn of(op: Op) -> Option<Call> {
        Some(match op {
            Op::FExp2 => Call::Exp2,
            Op::FLog2 => Call::Log2,
            Op::FSin => Call::Sin,
            Op::FCos => Call::Cos,
            Op::FFloor => Call::Floor,
            Op::FCeil => Call::Ceil,
            Op::FTrunc => Call::Trunc,
            Op::FRoundEven => Call::RoundEven,
            _ => return None,
        })
    }
}

/// By number.
pub static FUNCTIONS: [Function; 8] = [exp2, log2, sin, cos, floor, ceil, trunc, round_even];

macro_rules! functions {
    ($($name:ident $of_one:expr,)*) => {
        $(
            unsafe extern "C" fn $name(words: *mut Words) {
                // SAFETY: machine code passes four words on its stack.
                let words = unsafe { &mut *words };
                *words = words.map($of_one);
            }
        )*
    };
}

functions! {
    exp2 |a| exp2_of(f32::from_bits(a)).to_bits(),
    log2 |a| log2_of(f32::from_bits(a)).to_bits(),
    sin |a| sine(f32::from_bits(a), 0).to_bits(),
    cos |a| sine(f32::from_bits(a), 1).to_bits(),
    floor |a| eval(Op::FFloor, &[a]).unwrap_or(0),
    ceil |a| eval(Op::FCeil, &[a]).unwrap_or(0),
    trunc |a| eval(Op::FTrunc, &[a]).unwrap_or(0),
    round_even |a| eval(Op::FRoundEven, &[a]).unwrap_or(0),
}

/// c[0] + c[1] x + c[2] x^2 + ...
fn polynomial(x: f64, c: &[f64]) -> f64 {
    c.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// The nearest integer of what is far below 2^51.
fn nearest(x: f64) -> f64 {
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    (x + SHIFT) - SHIFT
}

/// 2^n for n of a double's normal exponents.
fn power_of_two(n: i64) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

fn exp2_of(a: f32) -> f32 {
    /// ln(2)^n / n!
    const C: [f64; 9] = {
        let mut c = [1.0; 9];
        let mut n = 1;
        while n < c.len() {
            c[n] = c[n - 1] * LN_2 / n as f64;
            n += 1;
        }
        c
    };
    if a.is_nan() {
        return a;
    }
    // Beyond, floats are 0 and infinite.
    let a = f64::from(a).clamp(-200.0, 200.0);
    let whole = nearest(a);
    (polynomial(a - whole, &C) * power_of_two(whole as i64)) as f32
}

fn log2_of(a: f32) -> f32 {
    /// Of the area tangent: 1, 1/3, 1/5, ...
    const C: [f64; 8] = [1.0, 1.0 / 3.0, 1.0 / 5.0, 1.0 / 7.0, 1.0 / 9.0, 1.0 / 11.0, 1.0 / 13.0, 1.0 / 15.0];
    // Of numbers below zero as of zero, so that their powers are zero: what the QPU's program does.
    if a <= 0.0 {
        return f32::NEG_INFINITY;
    }
    if !a.is_finite() {
        return a;
    }
    let bits = f64::from(a).to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    if mantissa > SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    (exponent as f64 + 2.0 * LOG2_E * s * polynomial(s * s, &C)) as f32
}

/// The sine of an angle and so many right angles more.
fn sine(a: f32, more: i64) -> f32 {
    /// A right angle in two parts; the first has 33 bits.
    const RIGHT: [f64; 2] = [1.570_796_326_734_125_6, 6.077_100_506_506_192e-11];
    /// (-1)^n / (2n + 1)! and (-1)^n / (2n)!
    const SIN: [f64; 6] = [1.0, -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362_880.0, -1.0 / 39_916_800.0];
    const COS: [f64; 7] =
        [1.0, -1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40_320.0, -1.0 / 3_628_800.0, 1.0 / 479_001_600.0];
    // Products with the first part are exact up to here.
    if a.abs() >= 1_048_576.0 || a.is_nan() {
        let a = f64::from(a);
        return if more == 0 { a.sin() as f32 } else { a.cos() as f32 };
    }
    let a = f64::from(a);
    let turns = nearest(a * FRAC_2_PI);
    let rest = (a - turns * RIGHT[0]) - turns * RIGHT[1];
    let square = rest * rest;
    let quarter = turns as i64 + more;
    let value = if quarter & 1 == 0 { rest * polynomial(square, &SIN) } else { polynomial(square, &COS) };
    (if quarter & 2 == 0 { value } else { -value }) as f32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(op: Op, word: u32) {
        let Some(call) = Call::of(op) else {
            panic!("{op} is a function");
        };
        let mut words = [word, word ^ 1, !word, word >> 1];
        let given = words;
        // SAFETY: a pointer to four words.
        unsafe { FUNCTIONS[call as usize](&mut words) };
        for (word, ours) in given.into_iter().zip(words) {
            let theirs = eval(op, &[word]).unwrap_or(0);
            let (a, b) = (f32::from_bits(ours), f32::from_bits(theirs));
            let close = ours.abs_diff(theirs) <= 1 || a.is_nan() && b.is_nan() || a == b;
            assert!(close, "{op} of {}: {a}, should be {b}", f32::from_bits(word));
        }
    }

    const OPS: [Op; 8] =
        [Op::FExp2, Op::FLog2, Op::FSin, Op::FCos, Op::FFloor, Op::FCeil, Op::FTrunc, Op::FRoundEven];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn functions_are_precise(word: u32, small in -200f32..200.0) {
            for op in OPS {
                check(op, word);
                check(op, small.to_bits());
            }
        }
    }

    #[test]
    fn functions_of_edges() {
        for op in OPS {
            for float in [
                0.0,
                1.0,
                2.0,
                0.5,
                126.0,
                127.5,
                149.0,
                150.5,
                1e-40,
                f32::MAX,
                f32::INFINITY,
                std::f32::consts::PI,
            ] {
                check(op, float.to_bits());
                check(op, (-float).to_bits());
            }
            check(op, f32::NAN.to_bits());
        }
    }
}
