//! Logic operations on the words of source and destination, which replace blending.

use super::equation::LogicOp;
use crate::qpu::AddOp;
use crate::state::emitter::Emitter;

/// A logic operation on whole words.
pub(super) fn logic<E: Emitter>(e: &mut E, op: LogicOp, s: E::Value, dst: Option<E::Value>) -> E::Value {
    let d = dst.unwrap_or(s);
    match op {
        LogicOp::Clear => e.word(0),
        LogicOp::Set => e.word(u32::MAX),
        LogicOp::Copy => s,
        LogicOp::NoOp => d,
        LogicOp::And => e.and(s, d),
        LogicOp::Or => e.or(s, d),
        LogicOp::Xor => e.add(AddOp::Xor, s, d),
        LogicOp::CopyInverted => not(e, s),
        LogicOp::Invert => not(e, d),
        LogicOp::AndReverse => {
            let d = not(e, d);
            e.and(s, d)
        }
        LogicOp::AndInverted => {
            let s = not(e, s);
            e.and(s, d)
        }
        LogicOp::OrReverse => {
            let d = not(e, d);
            e.or(s, d)
        }
        LogicOp::OrInverted => {
            let s = not(e, s);
            e.or(s, d)
        }
        LogicOp::Nor => {
            let word = e.or(s, d);
            not(e, word)
        }
        LogicOp::Equivalent => {
            let word = e.add(AddOp::Xor, s, d);
            not(e, word)
        }
        LogicOp::Nand => {
            let word = e.and(s, d);
            not(e, word)
        }
    }
}

fn not<E: Emitter>(e: &mut E, a: E::Value) -> E::Value {
    e.add(AddOp::Not, a, a)
}
