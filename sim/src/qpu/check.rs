//! Watches the executed instruction stream for hazards (qpu.md §5.1, §5.2): the rules of [`vc4::qpu::rules`] about two
//! instructions that come too close, on the path that was really taken. The simulator gives such programs a
//! meaning; the chip does not. What one instruction or the program as a whole does wrong is
//! [`vc4::qpu::rules::check_program`]'s business.

use std::collections::VecDeque;

use vc4::qpu::access::{Access, link_tmu};
use vc4::qpu::rules::{Check, Hazard, RULES};

use super::program::Program;

/// Reported for the last instruction.
pub(super) const TMU_LEFT_OVER: &str = "all TMU results must be loaded before the program ends";

/// Remembers the instructions before the current one.
pub(super) struct Checker {
    accesses: Vec<Access>,
    rules: Vec<(&'static str, &'static Hazard)>,
    /// Executed instructions, the latest first.
    history: VecDeque<usize>,
    /// Instructions that some hazard looks back.
    reach: usize,
}

impl Checker {
    pub fn new(program: &Program) -> Checker {
        let mut accesses: Vec<Access> = program.insts().iter().map(Access::of).collect();
        link_tmu(&mut accesses);
        let hazard = |check: &Check| match check {
            Check::Hazard(hazard) => Some(*hazard),
            _ => None,
        };
        let rules: Vec<_> = RULES.iter().filter_map(|rule| Some((rule.text, hazard(&rule.check)?))).collect();
        let reach = rules.iter().map(|(_, hazard)| hazard.distance as usize - 1).max().unwrap_or(0);
        Checker { accesses, rules, history: VecDeque::new(), reach }
    }

    /// Judges one executed instruction; `report` gets the text of each broken rule.
    pub fn instruction(&mut self, index: usize, mut report: impl FnMut(&'static str)) {
        let access = &self.accesses[index];
        for (text, hazard) in &self.rules {
            let near = self.history.iter().take(hazard.distance as usize - 1);
            if near.into_iter().any(|&first| (hazard.applies)(&self.accesses[first], access)) {
                report(text);
            }
        }
        self.history.push_front(index);
        self.history.truncate(self.reach);
    }
}
