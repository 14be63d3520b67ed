//! Conditions under which a kernel writes at all: the usual one that its place is inside of something.

use std::collections::BTreeSet;

use super::host::HostSum;
use super::linear::Linear;
use crate::ir::{Node, Op, Region, Shader, Value};

/// An axis along which only invocations below a number write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Axis.
    pub axis: u8,
    /// The number; a signed one is 0 if it is negative.
    pub below: HostSum,
    /// Whether it is compared as a signed one.
    pub signed: bool,
}

/// What every write is behind: the limits, and comparisons with their results there.
#[derive(Clone, Debug, Default)]
pub struct Guards {
    /// Limits.
    pub limits: Vec<Limit>,
    /// Comparisons whose result is known where the limits hold.
    pub known: Vec<(Value, bool)>,
}

/// A condition and what it is.
type Fact = (Value, bool);

/// The guards of a shader's writes.
pub fn find(shader: &Shader) -> Guards {
    let mut paths = Paths { shader, common: None };
    paths.region(&shader.body, &mut Vec::new());
    let mut guards = Guards::default();
    for (cond, holds) in paths.common.unwrap_or_default() {
        if let Some(limit) = limit(shader, cond, holds) {
            guards.limits.push(limit);
            guards.known.push((cond, holds));
        }
    }
    guards
}

struct Paths<'a> {
    shader: &'a Shader,
    /// What holds at all writes so far.
    common: Option<BTreeSet<Fact>>,
}

impl Paths<'_> {
    /// Walks a region where `facts` hold; whether control reaches its end. Afterwards `facts` are those that hold there.
    fn region(&mut self, region: &Region, facts: &mut Vec<Fact>) -> bool {
        for node in region {
            match node {
                Node::Block(block) => {
                    let mut insts = self.shader.blocks[*block].insts.iter();
                    if insts.any(|&inst| is_write(self.shader.insts[inst].op)) {
                        self.write(facts);
                    }
                }
                Node::If { cond, then, otherwise } => {
                    let [through_then, through_otherwise] =
                        [(then, true), (otherwise, false)].map(|(arm, holds)| {
                            let mut inside = facts.clone();
                            implied(self.shader, *cond, holds, &mut inside);
                            self.region(arm, &mut inside)
                        });
                    match (through_then, through_otherwise) {
                        (true, true) => {}
                        (true, false) => implied(self.shader, *cond, true, facts),
                        (false, true) => implied(self.shader, *cond, false, facts),
                        (false, false) => return false,
                    }
                }
                // What holds in front of a loop holds in every iteration.
                Node::Loop(body) => {
                    self.region(body, &mut facts.clone());
                }
                Node::Break | Node::Continue | Node::Return | Node::Discard => return false,
            }
        }
        true
    }

    fn write(&mut self, facts: &[Fact]) {
        let here: BTreeSet<Fact> = facts.iter().copied().collect();
        self.common = Some(match self.common.take() {
            Some(common) => common.intersection(&here).copied().collect(),
            None => here,
        });
    }
}

/// Whether an operation writes memory.
fn is_write(op: Op) -> bool {
    matches!(op, Op::Store { .. } | Op::ImageWrite(_))
}

/// Adds what follows from a condition.
fn implied(shader: &Shader, cond: Value, holds: bool, facts: &mut Vec<Fact>) {
    facts.push((cond, holds));
    let args = shader.args(cond);
    let both = match (shader.op(cond), holds) {
        (Op::BNot, _) => return implied(shader, args[0], !holds, facts),
        (Op::BAnd, true) | (Op::BOr, false) => [(args[0], holds), (args[1], holds)],
        // c && b and c || b as choices: one side is known to be what the choice is not, so it was not taken.
        (Op::Select, _) => {
            let is_other = |side: Value, taken: bool| {
                shader.const_of(side).map(|word| word != 0) == Some(!holds)
                    || side == args[0] && taken != holds
                    || is_opposite(shader, side, args[0]) && taken == holds
            };
            match (is_other(args[1], true), is_other(args[2], false)) {
                (_, true) => [(args[0], true), (args[1], holds)],
                (true, _) => [(args[0], false), (args[2], holds)],
                (false, false) => return,
            }
        }
        _ => return,
    };
    both.into_iter().for_each(|(part, holds)| implied(shader, part, holds, facts));
}

/// Whether of two comparisons always one is true.
fn is_opposite(shader: &Shader, a: Value, b: Value) -> bool {
    let is_not = |a: Value, b: Value| shader.op(a) == Op::BNot && shader.args(a) == [b];
    if is_not(a, b) || is_not(b, a) {
        return true;
    }
    match (shader.op(a).opposite(), shader.args(a)) {
        // Of a NaN both may be false.
        (Some((op, exchanged)), &[x, y]) if !matches!(op, Op::FLt | Op::FLe) => {
            let operands = if exchanged { [y, x] } else { [x, y] };
            shader.op(b) == op && shader.args(b) == operands
        }
        _ => false,
    }
}

/// The limit that a comparison with a result sets.
fn limit(shader: &Shader, cond: Value, holds: bool) -> Option<Limit> {
    let (op, args) = (shader.op(cond), shader.args(cond));
    let first = HostSum { constant: 1, ..HostSum::default() };
    let (place, below) = match (op, holds) {
        (Op::ULt | Op::SLt, true) => (args[0], Linear::of(shader, args[1])?.host()?),
        (Op::ULe | Op::SLe, false) => (args[1], Linear::of(shader, args[0])?.host()?),
        // What is less than 1.
        (Op::IEq, true) | (Op::INe, false) if shader.const_of(args[1]) == Some(0) => (args[0], first),
        _ => return None,
    };
    let place = Linear::of(shader, place)?;
    let axis = (0..3).find(|axis| place == Linear::global(shader, *axis))?;
    Some(Limit { axis, below, signed: matches!(op, Op::SLt | Op::SLe) })
}
