//! Integer operations that the QPU has not: 32-bit products, division, unsigned minimum, conversions of
//! unsigned words.

use super::division::{self, Signed};
use super::words::{float_to_unsigned, multiply, unsigned_to_float};
use crate::ir::{Builder, InstData, Op, Shader, Value};
use crate::pass::rewrite::{Action, rewrite};

/// Replaces integer operations by sequences of machine operations, and divisions by what takes reciprocals of floats. Returns
/// whether there were any.
pub fn run(shader: &mut Shader) -> bool {
    let mut divides = false;
    let Ok(()) = rewrite(shader, |b, data| {
        divides |= matches!(data.op, Op::UDiv | Op::UMod | Op::SDiv | Op::SRem | Op::SMod);
        let value = lower(b, data);
        Ok::<_, std::convert::Infallible>(value.map_or(Action::Keep, Action::with))
    });
    divides
}

fn lower(b: &mut Builder, data: &InstData) -> Option<Value> {
    let arg = |n: usize| data.args[n];
    Some(match data.op {
        Op::IMul => multiply(b, arg(0), arg(1)),
        Op::UDiv => division::unsigned(b, arg(0), arg(1)).0,
        Op::UMod => division::unsigned(b, arg(0), arg(1)).1,
        Op::SDiv => division::signed(b, arg(0), arg(1), Signed::Quotient),
        Op::SRem => division::signed(b, arg(0), arg(1), Signed::Remainder),
        Op::SMod => division::signed(b, arg(0), arg(1), Signed::Modulo),
        Op::UMin => {
            let below = b.op(Op::ULt, &[arg(0), arg(1)]);
            b.select(below, arg(0), arg(1))
        }
        Op::UMax => {
            let below = b.op(Op::ULt, &[arg(0), arg(1)]);
            b.select(below, arg(1), arg(0))
        }
        Op::FToU => float_to_unsigned(b, arg(0)),
        Op::UToF => unsigned_to_float(b, arg(0)),
        _ => return None,
    })
}
