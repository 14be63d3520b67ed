//! Heads of loops: what an iteration begins with to find out whether there is one.
//!
//! A loop that has its exit at the end would run once more than it goes round, in full, to learn that no element goes on. So the head runs
//! ahead: once in front of the loop, which nobody enters whom it turns away, and then at each iteration's end, on what the next
//! one begins with. Inside, it stays as far as others use what it makes; its guards let everybody pass.

use smallvec::SmallVec;

use crate::ir::{Block, InstData, LineId, Node, Op, Region, Shader, Signature, Value};

/// Instructions that a head may have: they run twice where others use what they make.
const MOST: usize = 16;

/// An instruction of a head, on the operands that it had before its loop was lowered.
pub struct Step {
    /// What it does.
    pub op: Op,
    /// Its operands.
    pub args: SmallVec<[Value; 4]>,
    /// What it makes.
    pub result: Value,
    /// As [`InstData::relaxed`].
    pub relaxed: bool,
    /// As [`InstData::exact`].
    pub exact: bool,
    /// Where in the source it came from.
    pub line: LineId,
}

/// An `if` one of whose arms leaves the loop at once.
pub struct Guard {
    /// Its condition.
    pub cond: Value,
    /// What the condition is for elements that pass.
    pub passes: bool,
    /// The block that the others leave by.
    pub exit: Block,
}

/// The head of a loop; without guards there is none.
#[derive(Default)]
pub struct Head {
    /// Everything up to the last guard.
    pub steps: Vec<Step>,
    /// The guards, in their order.
    pub guards: Vec<Guard>,
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
