//! Curves of two pieces: a line near zero and a power elsewhere. Where both pieces meet it does not matter which one is taken, so what
//! decides between them may have an error. Where they do not meet, all of the step between them is one; but a relative error does not
//! change a sign.

use super::estimate::SMALL;
use crate::ir::{Inst, Op, Shader, Value};
use crate::pass::analysis::bounds::Ranges;
use crate::pass::analysis::range::Range;

/// A select between pieces, on a number's side of a constant.
#[derive(Clone, Copy)]
pub struct Switch {
    /// The number.
    pub value: Value,
    /// The constant.
    pub at: f32,
    pieces: [Value; 2],
}

impl Switch {
    /// Of a select by a comparison with a constant.
    pub fn of(shader: &Shader, select: Inst) -> Option<Switch> {
        let &[condition, yes, no] = &shader.insts[select].args[..] else { return None };
        if !shader.insts[select].op.is(Op::Select) || !matches!(shader.op(condition), Op::FLt | Op::FLe) {
            return None;
        }
        let &[x, y] = shader.args(condition) else { return None };
        let constant = |value: Value| shader.const_of(value).map(f32::from_bits).filter(|x| x.is_finite());
        let (value, at) = match (constant(x), constant(y)) {
            (None, Some(at)) => (x, at),
            (Some(at), None) => (y, at),
            _ => return None,
        };
        Some(Switch { value, at, pieces: [yes, no] })
    }

    /// Numbers beyond which nothing is decided any more.
    pub fn seen(&self) -> Range {
        Range::around(self.at, if self.at == 0.0 { f32::MIN_POSITIVE } else { SMALL * self.at.abs() })
    }

    /// What both pieces are where the number is no further than `by` from the constant.
    pub fn both(&self, shader: &Shader, ranges: &Ranges, by: f32) -> Range {
        let near = (self.value, Range::around(self.at, by));
        let [yes, no] = self.pieces.map(|piece| ranges.given(shader, piece, near));
        yes.hull(no)
    }
}
