//! The straight runs of instructions that a program consists of.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use vc4::qpu::BranchCond;

use crate::qpu::op::{Action, BRANCH_SLOTS, Branch, Op, SWITCH_SLOTS};

/// Instructions that are run to the end once their first is.
#[derive(Debug)]
pub struct Trace {
    pub ops: Range<usize>,
    pub then: Then,
}

/// What follows a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// The program's end.
    End,
    /// The trace at an instruction.
    Next(usize),
    /// The same, behind a thread switch.
    Switched(usize),
    /// One of two traces: [`super::part::Part::Decide`] says which.
    Either { taken: usize, otherwise: usize },
}

impl Then {
    /// The traces that may follow.
    pub fn successors(self) -> impl Iterator<Item = usize> {
        let (first, second) = match self {
            Then::End => (None, None),
            Then::Next(next) | Then::Switched(next) => (Some(next), None),
            Then::Either { taken, otherwise } => (Some(taken), Some(otherwise)),
        };
        first.into_iter().chain(second)
    }
}

/// Longest program that is taken apart, in instructions: compiling takes 0.1 to 0.4 ms for each.
const MAX_INSTRUCTIONS: usize = 32_768;

/// Instructions of a function at most: the compiler's time and memory grow faster than functions.
pub const MAX_TOGETHER: usize = 1024;

/// Where a branch leads, or `None` if that is no place known beforehand.
fn target(branch: &Branch, ops: &[Op], address: u32) -> Option<usize> {
    if branch.reg.is_some() || branch.sets_flags || branch.link_to.iter().any(Option::is_some) {
        return None;
    }
    let offset = branch.base.wrapping_sub(address);
    let target = offset as usize / 8;
    (offset % 8 == 0 && target < ops.len()).then_some(target)
}

/// The traces of a program by their first instructions. `None` for programs that only the interpreter runs: those with
/// computed branches or links, with one jump in the shadow of another, and very long ones.
pub fn traces(ops: &[Op], address: u32) -> Option<BTreeMap<usize, Trace>> {
    if ops.len() > MAX_INSTRUCTIONS {
        return None;
    }
    let mut starts: BTreeSet<usize> = (0..ops.len()).step_by(MAX_TOGETHER).collect();
    for (at, op) in ops.iter().enumerate() {
        match op.action {
            Action::Branch(branch) => {
                starts.extend([target(&branch, ops, address)?, at + BRANCH_SLOTS + 1]);
            }
            Action::Switch => {
                starts.insert(at + SWITCH_SLOTS + 1);
            }
            _ => {}
        }
    }
    let (mut traces, mut open) = (BTreeMap::new(), vec![0]);
    while let Some(start) = open.pop() {
        if let Entry::Vacant(place) = traces.entry(start) {
            let trace = place.insert(trace(ops, address, start, &starts)?);
            open.extend(trace.then.successors());
        }
    }
    Some(traces)
}

fn trace(ops: &[Op], address: u32, start: usize, starts: &BTreeSet<usize>) -> Option<Trace> {
    let mut event: Option<(usize, Then)> = None;
    for at in start.. {
        match event {
            Some((end, then)) if end == at => return Some(Trace { ops: start..end, then }),
            None if at > start && starts.contains(&at) => {
                return Some(Trace { ops: start..at, then: Then::Next(at) });
            }
            _ => {}
        }
        let next = match ops.get(at)?.action {
            Action::End => (at + SWITCH_SLOTS + 1, Then::End),
            Action::Switch => (at + SWITCH_SLOTS + 1, Then::Switched(at + SWITCH_SLOTS + 1)),
            Action::Branch(branch) => {
                let (end, taken) = (at + BRANCH_SLOTS + 1, target(&branch, ops, address)?);
                let then = match branch.cond {
                    BranchCond::Always => Then::Next(taken),
                    _ => Then::Either { taken, otherwise: end },
                };
                (end, then)
            }
            _ => continue,
        };
        if event.replace(next).is_some() {
            return None;
        }
    }
    None
}
