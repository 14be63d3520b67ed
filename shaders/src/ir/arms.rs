//! The arms of an if, in the order of the program.

use super::{Inst, Node, Op, Region, Shader, Value};

/// Arms as the machine runs them. The guarded one is the one that is jumped over however many there are.
#[derive(Clone, Copy)]
pub struct Arms<'a> {
    /// The guarded arm is that of elements in which the condition does not hold.
    pub inverted: bool,
    /// The arm that is jumped over.
    pub guarded: &'a Region,
    /// The other one.
    pub other: &'a Region,
    /// Whether the other one has any code.
    pub has_other: bool,
    /// The condition is the same in all elements, which run one arm, the guarded one in front. Where it may differ, the other one
    /// stands in front, and both are run.
    pub one_arm: bool,
}

impl<'a> Arms<'a> {
    /// Of an if. `one_arm`: whether its condition is the same in all elements. `is_needed`: whether an instruction becomes code.
    pub fn of(
        shader: &Shader,
        cond: Value,
        one_arm: bool,
        [then, otherwise]: [&'a Region; 2],
        is_needed: impl Fn(Inst) -> bool,
    ) -> Arms<'a> {
        let asks_all = shader.op(cond) == Op::BAny;
        let has_code = [then, otherwise].map(|arm| has_code(shader, arm, &is_needed));
        // Of two arms that run one after the other, what the first one leaves waits for the second: the deeper one comes first.
        let is_deeper = !one_arm && depth(then) > depth(otherwise);
        let inverted = !asks_all && (!has_code[0] || (has_code[1] && is_deeper));
        let (guarded, other) = if inverted { (otherwise, then) } else { (then, otherwise) };
        Arms { inverted, guarded, other, has_other: has_code[usize::from(!inverted)], one_arm }
    }

    /// Both, the one in front first.
    pub fn in_order(&self) -> [&'a Region; 2] {
        if self.one_arm { [self.guarded, self.other] } else { [self.other, self.guarded] }
    }
}

/// Whether there is anything to jump over.
fn has_code(shader: &Shader, arm: &Region, is_needed: impl Fn(Inst) -> bool) -> bool {
    let has_code = |&inst: &Inst| is_needed(inst) && !shader.insts[inst].op.is_leaf();
    match arm[..] {
        [Node::Block(block)] => shader.blocks[block].insts.iter().any(has_code),
        _ => true,
    }
}

/// How many ifs and loops of a region are within each other.
fn depth(region: &Region) -> usize {
    let inner = |node: &Node| match node {
        Node::If { then, otherwise, .. } => 1 + depth(then).max(depth(otherwise)),
        Node::Loop(body) => 1 + depth(body),
        _ => 0,
    };
    region.iter().map(inner).max().unwrap_or(0)
}
