//! What a rule is, and what breaking it gives.

use super::hazards::Hazard;
use super::paths::PathFault;
use super::program::{Program, Stage};
use crate::qpu::access::Access;
use crate::qpu::inst::Inst;
use std::fmt;

/// How a rule is checked.
pub enum Check {
    /// Two instructions stand too close together, delay slots and branches followed.
    Hazard(&'static Hazard),
    /// One instruction is wrong wherever it stands; the text says how.
    Instruction(fn(Stage, &Inst, &Access) -> Option<&'static str>),
    /// The program as a whole.
    Program(fn(&Program<'_>, &mut Findings)),
    /// A fault on a path through the program.
    Path(PathFault),
}

/// A restriction.
pub struct Rule {
    /// Short stable name.
    pub id: &'static str,
    /// Where the manual says so.
    pub manual: &'static str,
    /// The restriction in one sentence.
    pub text: &'static str,
    /// How it is checked.
    pub check: Check,
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rule({})", self.id)
    }
}

/// A rule that a program breaks.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The broken rule.
    pub rule: &'static Rule,
    /// The instruction that breaks it.
    pub index: usize,
    /// The earlier instruction that makes it wrong, for rules about two.
    pub other: Option<usize>,
    /// What this program does wrong.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "instruction {}: {} ({}, qpu.md {})",
            self.index, self.message, self.rule.id, self.rule.manual
        )
    }
}

/// Collects what a program check finds.
#[derive(Default)]
pub struct Findings(pub(super) Vec<(usize, Option<usize>, String)>);

impl Findings {
    /// Instruction `index` breaks the rule.
    pub fn at(&mut self, index: usize, message: impl Into<String>) {
        self.0.push((index, None, message.into()));
    }

    /// Instruction `index` breaks the rule because of `other`.
    pub fn pair(&mut self, index: usize, other: usize, message: impl Into<String>) {
        self.0.push((index, Some(other), message.into()));
    }
}
