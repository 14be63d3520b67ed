//! Logic on masks that selects have just made becomes selects.
//!
//! Booleans in registers are words of zeros or ones ([`crate::pass::lower::boolean`]). Where one is made only to be combined with
//! another word, its condition may as well choose the result: an operation less, and what stands behind `&&` and `||` is
//! seen to be needed on one side only ([`super::branch`]).

use cranelift_entity::SecondaryMap;
use smallvec::smallvec;

use super::dce;
use crate::ir::{Block, Inst, Op, Shader, Type, Value};
use crate::pass::lower::boolean::TRUE;

/// Terms of a conjunction that are followed; the rest stays as it is.
const MAX_TERMS: u32 = 8;

/// Runs the pass. Returns whether anything changed.
pub fn run(shader: &mut Shader) -> bool {
    let blocks = shader.blocks_in_order();
    let combines = |inst: &Inst| {
        let data = &shader.insts[*inst];
        let selects = || data.args.iter().any(|&arg| shader.op(arg) == Op::Select);
        matches!(data.op, Op::And | Op::Or) && selects()
    };
    if !blocks.iter().flat_map(|&block| &shader.blocks[block].insts).any(combines) {
        return false;
    }
    let uses = shader.use_counts();
    let mut changed = false;
    for block in blocks {
        let insts = std::mem::take(&mut shader.blocks[block].insts);
        let mut masks = Masks { shader, uses: &uses, local: SecondaryMap::new(), block };
        for inst in insts {
            changed |= masks.combine(inst, MAX_TERMS);
            masks.shader.blocks[block].insts.push(inst);
            masks.local[inst] = true;
        }
    }
    // The selects whose place was taken.
    changed && dce::run(shader)
}

struct Masks<'a> {
    shader: &'a mut Shader,
    uses: &'a SecondaryMap<Value, u32>,
    /// Instructions of this block: elsewhere a word may have been made to be used again and again.
    local: SecondaryMap<Inst, bool>,
    block: Block,
}

impl Masks<'_> {
    /// Makes a select of a conjunction or disjunction.
    fn combine(&mut self, inst: Inst, terms: u32) -> bool {
        let data = &self.shader.insts[inst];
        let (op, &[x, y]) = (data.op, &data.args[..]) else { return false };
        if terms == 0 || !matches!(op, Op::And | Op::Or) {
            return false;
        }
        let Some((select, other)) =
            [(x, y), (y, x)].into_iter().find(|&(select, _)| self.is_mask(select, op))
        else {
            return false;
        };
        let &[condition, yes, no] = self.shader.args(select) else { return false };
        self.shader.insts[inst].args = if op == Op::And {
            smallvec![condition, self.conjunction(inst, yes, other, terms - 1), no]
        } else {
            smallvec![condition, yes, other]
        };
        self.shader.insts[inst].op = Op::Select;
        true
    }

    /// Whether nothing else uses a select that decides the operation on one of its sides.
    fn is_mask(&self, value: Value, op: Op) -> bool {
        let inst = self.shader.values[value].inst;
        let [_, yes, no] = self.shader.insts[inst].args[..] else { return false };
        let constants = (self.shader.const_of(yes), self.shader.const_of(no));
        let decides = match op {
            Op::And => constants.1 == Some(0),
            _ => constants == (Some(TRUE), Some(0)),
        };
        let is_select = self.shader.insts[inst].op.is(Op::Select);
        is_select && decides && self.uses[value] == 1 && self.local[inst]
    }

    /// `x & y` in front of `inst`.
    fn conjunction(&mut self, inst: Inst, x: Value, y: Value, terms: u32) -> Value {
        if self.shader.const_of(x) == Some(TRUE) {
            return y;
        }
        self.shader.line = self.shader.insts[inst].line;
        let both = self.shader.make_inst(Op::And, smallvec![x, y], &[Type::Word], false);
        self.combine(both, terms);
        self.shader.blocks[self.block].insts.push(both);
        self.local[both] = true;
        self.shader.insts[both].results[0]
    }
}
