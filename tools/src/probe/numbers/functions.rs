//! The special functions, beside the tables of `src/qpu/sfu.rs`.

use vc4::cl::packets::Tiling;
use vc4::qpu::sfu::SfuOp;

use super::super::experiments::common::{CLEAR, EDGE, all, draw, run};
use crate::jobs::bench::{Bench, Failure};
use crate::jobs::job::{Draw, Target};
use crate::jobs::programs::{NOP, fragment};

/// What a function gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name in assembly.
    pub name: &'static str,
    /// How many words it was asked.
    pub asked: u32,
    /// How many results are others than the tables say.
    pub differing: u32,
    /// The first of them: operand, result, and what was expected.
    pub first: Option<[u32; 3]>,
}

/// Functions, and the first word of each range that they are asked for: two powers of two, in steps of [`STEP`]. More would tell
/// nothing new: they look at the mantissa and the last bit of the exponent, `exp2` at the fraction.
const RANGES: [(SfuOp, &str, &[u32]); 4] = [
    (SfuOp::Recip, "sfu_recip", &[0x3f80_0000]),
    (SfuOp::Rsqrt, "sfu_recipsqrt", &[0x3f80_0000]),
    (SfuOp::Exp2, "sfu_exp", &[0x3f80_0000, 0xbf80_0000]),
    (SfuOp::Log2, "sfu_log", &[0x3f80_0000]),
];
const STEP: u32 = 1 << 9;
const PIXELS: u32 = EDGE * EDGE;
/// Jobs for a range.
const PARTS: u32 = (1 << 24) / STEP / PIXELS;

/// The results of a job whose pixels have operands from one word on.
fn results(bench: &Bench<'_>, target: &Target<'_>, name: &str, first: u32) -> Result<Vec<u32>, Failure> {
    let body = format!(
        "sig_none ; r0 = or.always(a, a, x_pix) ; nop = nop() ;\n\
         sig_none ; r1 = or.always(b, b, nop, y_pix) ; nop = nop() ;\n\
         sig_small_imm ; r1 = shl.always(r1, b, nop, 6) ; nop = nop() ;\n\
         sig_none ; r0 = add.always(r0, r1) ; nop = nop() ;\n\
         sig_small_imm ; r0 = shl.always(r0, b, nop, 9) ; nop = nop() ;\n\
         sig_none ; r0 = add.always(r0, a, uni) ; nop = nop() ;\n\
         sig_none ; {name} = or.always(r0, r0) ; nop = nop() ;\n{NOP}{NOP}\
         sig_none ; r0 = or.always(r4, r4) ; nop = nop() ;\n"
    );
    let one = Draw { fragment: fragment(&body), uniforms: vec![first], ..draw(all(0.5)) };
    run(bench, target, &target.draw(CLEAR, &[one])?)?;
    Ok(target.picture()?.words)
}

/// Asks all of them.
pub fn compare(bench: &Bench<'_>) -> Result<Vec<Function>, Failure> {
    const { assert!(EDGE == 1 << 6 && STEP == 1 << 9) };
    let target = Target::new(bench, Tiling::Raster, EDGE, EDGE)?;
    let mut functions = Vec::new();
    for (function, name, ranges) in RANGES {
        let mut told = Function { name, asked: 0, differing: 0, first: None };
        for part in ranges.iter().flat_map(|first| (0..PARTS).map(move |n| first + n * PIXELS * STEP)) {
            let seen = results(bench, &target, name, part)?;
            for (operand, seen) in (part..).step_by(STEP as usize).zip(seen) {
                let expected = function.apply(operand);
                told.asked += 1;
                if seen != expected {
                    told.differing += 1;
                    told.first.get_or_insert([operand, seen, expected]);
                }
            }
        }
        functions.push(told);
    }
    Ok(functions)
}
