//! Heads of loops: what an iteration begins with to find out whether there is one.
//!
//! A loop that has its exit at the end would run once more than it goes round, in full, to learn that no element goes on. So the head runs
//! ahead: once in front of the loop, which nobody enters whom it turns away, and then at each iteration's end, on what the next
//! one begins with. Inside, it stays as far as others use what it makes; its guards let everybody pass.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::Lower;
use super::facts::{Facts, Leaver};
use crate::ir::{Block, Builder, Inst, InstData, LineId, Node, Op, Region, Shader, Signature, Value};

/// Instructions that a head may have: they run twice where others use what they make.
const MOST: usize = 16;

/// An instruction of a head, on the operands that it had before its loop was lowered.
struct Step {
    op: Op,
    args: SmallVec<[Value; 4]>,
    result: Value,
    relaxed: bool,
    exact: bool,
    line: LineId,
}

/// An `if` one of whose arms leaves the loop at once.
struct Guard {
    cond: Value,
    /// What the condition is for elements that pass.
    passes: bool,
    /// The block that the others leave by.
    exit: Block,
}

/// The head of a loop; without guards there is none.
#[derive(Default)]
pub struct Head {
    steps: Vec<Step>,
    guards: Vec<Guard>,
}

impl Head {
    /// The head of a loop's body.
    pub fn of(shader: &Shader, body: &Region) -> Head {
        let mut head = Head::default();
        let mut steps = Vec::new();
        let mut is_first = true;
        for node in body {
            let other = match node {
                &Node::Block(block) => {
                    if !take(shader, block, is_first, &mut steps) {
                        break;
                    }
                    is_first = false;
                    continue;
                }
                Node::If { cond, then, otherwise } => {
                    let (exit, passes, other) = match (exit(shader, then), exit(shader, otherwise)) {
                        (Some(exit), None) => (exit, false, otherwise),
                        (None, Some(exit)) => (exit, true, then),
                        _ => break,
                    };
                    if head.steps.len() + steps.len() > MOST {
                        break;
                    }
                    head.guards.push(Guard { cond: *cond, passes, exit });
                    head.steps.append(&mut steps);
                    other
                }
                _ => break,
            };
            let plain = match **other {
                [Node::Block(block)] => take(shader, block, false, &mut steps),
                _ => false,
            };
            if !plain {
                break;
            }
        }
        head
    }

    /// Whether there is one.
    pub fn is_some(&self) -> bool {
        !self.guards.is_empty()
    }

    /// The blocks by which elements leave that a guard turns away.
    pub fn exits(&self) -> impl Iterator<Item = Block> {
        self.guards.iter().map(|guard| guard.exit)
    }
}

/// The block of an arm that does nothing but leave the loop.
fn exit(shader: &Shader, arm: &Region) -> Option<Block> {
    match **arm {
        [Node::Block(block), Node::Break] if shader.blocks[block].insts.is_empty() => Some(block),
        _ => None,
    }
}

/// Takes a block's instructions, if all of them may run ahead; phis only where they are the loop's.
fn take(shader: &Shader, block: Block, is_first: bool, steps: &mut Vec<Step>) -> bool {
    shader.blocks[block].insts.iter().all(|&inst| {
        let data = &shader.insts[inst];
        if data.op.is(Op::Phi) {
            return is_first;
        }
        let fits = runs_ahead(data);
        if fits {
            let InstData { op, relaxed, exact, line, .. } = *data;
            steps.push(Step { op, args: data.args.clone(), result: data.results[0], relaxed, exact, line });
        }
        fits
    })
}

/// Whether an instruction does the same in front of the loop and at its end.
fn runs_ahead(data: &InstData) -> bool {
    let plain = matches!(data.op.signature(), Signature::Fixed { .. } | Signature::Select);
    plain && data.results.len() == 1 && data.op.is_pure() && !data.op.crosses_elements()
}

/// A head that has run ahead.
pub struct Ahead {
    /// What stands for the loop's phis and what the head makes.
    values: BTreeMap<Value, Value>,
    /// For each guard the elements that it lets pass.
    passes: Vec<Value>,
}

impl Lower<'_> {
    /// Runs a head where `phis` of the loop are `values`.
    pub fn run_ahead(&mut self, head: &Head, phis: &[Inst], values: &[Value]) -> Ahead {
        let results = phis.iter().map(|&inst| self.shader.insts[inst].results[0]);
        let mut ahead = Ahead { values: results.zip(values.iter().copied()).collect(), passes: Vec::new() };
        let around = self.shader.line;
        for step in &head.steps {
            let args: SmallVec<[Value; 4]> =
                step.args.iter().map(|&arg| self.seen_ahead(&ahead, arg)).collect();
            self.shader.line = step.line;
            let block = self.current;
            let mut builder =
                Builder { relaxed: step.relaxed, exact: step.exact, ..Builder::new(self.shader, block) };
            ahead.values.insert(step.result, builder.op(step.op, &args));
        }
        self.shader.line = around;
        for guard in &head.guards {
            let cond = self.seen_ahead(&ahead, guard.cond);
            ahead.passes.push(if guard.passes { cond } else { self.not(cond) });
        }
        ahead
    }

    /// What stands for a value after a head has run ahead.
    fn seen_ahead(&mut self, ahead: &Ahead, value: Value) -> Value {
        match ahead.values.get(&value) {
            Some(&value) => value,
            None => self.map.resolve(value),
        }
    }

    /// Of `running`, the elements that all guards let pass.
    pub fn passing(&mut self, ahead: &Ahead, running: Value) -> Value {
        let mut passing = running;
        for &passes in &ahead.passes {
            passing = self.builder().op(Op::BAnd, &[passing, passes]);
        }
        passing
    }

    /// What leaves the loop with elements that a guard turns away.
    pub fn turned_away(&mut self, head: &Head, ahead: &Ahead, leaver: Leaver) -> Option<Value> {
        let inst = match leaver {
            Leaver::Value(value) => return Some(self.seen_ahead(ahead, value)),
            Leaver::Phi(inst) => inst,
        };
        let mut chosen = None;
        for (guard, &passes) in head.guards.iter().zip(&ahead.passes).rev() {
            let data = &self.shader.insts[inst];
            let Some(way) = data.phi_blocks.iter().position(|&from| from == guard.exit) else { continue };
            let value = data.args[way];
            let value = self.seen_ahead(ahead, value);
            chosen = Some(match chosen {
                Some(later) => self.builder().select(passes, later, value),
                None => value,
            });
        }
        chosen
    }

    /// What the phis that carry leavers start with, where some elements do not enter the loop: `starts` are those of the header's
    /// phis, which `running` elements begin with.
    pub fn start_ahead(&mut self, facts: &Facts, ahead: &Ahead, running: Value, starts: &mut [Value]) {
        let mut own = facts.header.len();
        for (&leaver, &keeper) in facts.leavers.iter().zip(&facts.keepers) {
            let phi = keeper.unwrap_or(own);
            own += usize::from(keeper.is_none());
            let Some(value) = self.turned_away(&facts.head, ahead, leaver) else { continue };
            starts[phi] = match keeper {
                Some(_) => self.builder().select(running, starts[phi], value),
                None => value,
            };
        }
    }
}
