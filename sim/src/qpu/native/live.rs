//! Which registers somebody still looks at: only those have to be in memory.

use std::collections::BTreeMap;

use super::part::{FLAGS, Part, bit};
use super::trace::{Then, Trace};
use crate::qpu::op::slot;

/// Slots, by trace, whose content matters when the trace is entered.
#[derive(Debug)]
pub struct Live(BTreeMap<usize, u128>);

/// What a thread switch loses.
pub fn lost() -> u128 {
    (slot::ACC..=slot::R5).fold(FLAGS, |lost, s| lost | bit(s))
}

impl Live {
    /// Looks at all traces, whose parts are given by their starts, until nothing changes.
    pub fn of(traces: &BTreeMap<usize, Trace>, parts: &BTreeMap<usize, Vec<(usize, Part)>>) -> Live {
        let mut live = Live(traces.keys().map(|&start| (start, 0)).collect());
        loop {
            let mut changed = false;
            for (start, trace) in traces.iter().rev() {
                let entry = before(&parts[start], live.behind(trace.then));
                changed |= live.0.insert(*start, entry) != Some(entry);
            }
            if !changed {
                return live;
            }
        }
    }

    /// What matters at a trace's start.
    pub fn at(&self, start: usize) -> u128 {
        self.0.get(&start).copied().unwrap_or(u128::MAX)
    }

    /// What matters behind a trace: the flags always, as they are shown wherever the interpreter takes over and stops.
    pub fn behind(&self, then: Then) -> u128 {
        let all = then.successors().fold(0, |all, next| all | self.at(next) | FLAGS);
        if let Then::Switched(_) = then { all & !lost() } else { all }
    }
}

/// What matters before some parts, if this does behind them.
pub fn before(parts: &[(usize, Part)], behind: u128) -> u128 {
    parts.iter().rev().fold(behind, |live, (_, part)| live & !part.overwrites() | part.reads())
}
