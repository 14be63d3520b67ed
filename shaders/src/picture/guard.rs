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
    let truth = |value: Value| shader.const_of(value).map(|word| word != 0);
    let both = match (shader.op(cond), holds) {
        (Op::BNot, _) => return implied(shader, args[0], !holds, facts),
        (Op::BAnd, true) | (Op::BOr, false) => [args[0], args[1]],
        // c && b and c || b as choices.
        (Op::Select, true) if args[2] == args[0] || truth(args[2]) == Some(false) => [args[0], args[1]],
        (Op::Select, false) if args[1] == args[0] || truth(args[1]) == Some(true) => [args[0], args[2]],
        _ => return,
    };
    both.into_iter().for_each(|part| implied(shader, part, holds, facts));
}

/// The limit that a comparison with a result sets.
fn limit(shader: &Shader, cond: Value, holds: bool) -> Option<Limit> {
    let (op, args) = (shader.op(cond), shader.args(cond));
    let (place, below) = match (op, holds) {
        (Op::ULt | Op::SLt, true) => (args[0], args[1]),
        (Op::ULe | Op::SLe, false) => (args[1], args[0]),
        _ => return None,
    };
    let place = Linear::of(shader, place)?;
    let axis = (0..3).find(|axis| place == Linear::global(shader, *axis))?;
    let below = Linear::of(shader, below)?.host()?;
    Some(Limit { axis, below, signed: matches!(op, Op::SLt | Op::SLe) })
}
