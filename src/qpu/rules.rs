//! What a program must not do (qpu.md §5.1, §5.4 and the sections that they cite), as data.
//!
//! [`RULES`] is the one list. [`check_program`] applies it; [`render`] prints what it found inside the listing;
//! [`min_distance`] answers the scheduler's question from the same facts. The Linux kernel's own
//! rules are not here: they belong to the kernel interface.

mod hazards;
mod paths;
mod table;

pub use hazards::{Hazard, min_distance, min_distance_of};
pub use paths::PathFault;
pub use table::RULES;

use super::access::{Access, link_tmu};
use super::inst::Inst;
use super::isa::BranchCond;
use std::collections::BTreeSet;
use std::fmt::{self, Write};

/// What a program is run for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// Fragment shader.
    Fragment,
    /// Vertex shader.
    Vertex,
    /// Coordinate shader: the binner's vertex shader.
    Coordinate,
}

/// What the shader record says about a program; `None` where it is not known, and not checked then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Declared {
    /// Scalar varyings of a fragment program (v3d.md §6.1).
    pub varyings: Option<u8>,
}

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
pub struct Findings(Vec<(usize, Option<usize>, String)>);

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

/// A program with everything the checks ask about it.
pub struct Program<'a> {
    /// What it runs for.
    pub stage: Stage,
    /// What its record says.
    pub declared: Declared,
    /// Its instructions up to the second one behind the end signal.
    pub insts: &'a [Inst],
    /// Their facts.
    pub accesses: Vec<Access>,
    /// The instruction with the end signal.
    pub end: Option<usize>,
    /// It contains a thread switch.
    pub threaded: bool,
}

/// Instructions behind a branch that are executed in any case (qpu.md §2.8).
pub const BRANCH_SLOTS: usize = 3;
/// Instructions behind a thread switch or end signal that still run (qpu.md §2.2).
pub const SIGNAL_SLOTS: usize = 2;
/// Bytes of an instruction.
const INST_BYTES: i64 = 8;

impl<'a> Program<'a> {
    /// Analyses a program; what stands behind its end is ignored.
    pub fn new(stage: Stage, insts: &'a [Inst]) -> Program<'a> {
        let mut accesses: Vec<Access> = insts.iter().map(Access::of).collect();
        let end = accesses.iter().position(Access::is_end);
        let len = end.map_or(insts.len(), |end| insts.len().min(end + SIGNAL_SLOTS + 1));
        accesses.truncate(len);
        link_tmu(&mut accesses);
        let threaded = accesses.iter().any(Access::is_switch);
        Program { stage, declared: Declared::default(), insts: &insts[..len], accesses, end, threaded }
    }

    /// The program with what its record says.
    pub fn declared(self, declared: Declared) -> Program<'a> {
        Program { declared, ..self }
    }

    /// Number of instructions.
    pub fn len(&self) -> usize {
        self.insts.len()
    }

    /// Whether there is no instruction.
    pub fn is_empty(&self) -> bool {
        self.insts.is_empty()
    }

    /// Where the branch at `index` goes; `None` if it is no branch, goes by a register or an absolute
    /// address, or leaves the program.
    pub fn branch_target(&self, index: usize) -> Option<usize> {
        match self.insts.get(index)? {
            Inst::Branch(branch) if branch.rel && branch.reg.is_none() => {
                let base = (index + BRANCH_SLOTS + 1) as i64 * INST_BYTES;
                let byte = base + i64::from(branch.offset);
                let target = usize::try_from(byte / INST_BYTES).ok()?;
                (byte >= 0 && byte % INST_BYTES == 0 && target < self.len()).then_some(target)
            }
            _ => None,
        }
    }

    /// The instructions that can be executed next after `index`.
    pub fn successors(&self, index: usize) -> Vec<usize> {
        let mut out = Vec::with_capacity(2);
        let branch = index.checked_sub(BRANCH_SLOTS).map(|at| (at, &self.insts[at]));
        let mut falls_through = true;
        if let Some((at, Inst::Branch(branch))) = branch {
            out.extend(self.branch_target(at));
            falls_through = branch.cond != BranchCond::Always;
        }
        if falls_through && index + 1 < self.len() && !out.contains(&(index + 1)) {
            out.push(index + 1);
        }
        out
    }

    /// The instructions that can follow `index` at exactly 1, 2, … `distance` slots: (instruction, slots).
    pub fn followers(&self, index: usize, distance: u32) -> BTreeSet<(usize, u32)> {
        let mut out = BTreeSet::new();
        let mut edge = vec![index];
        for slots in 1..=distance {
            edge = edge.iter().flat_map(|&at| self.successors(at)).collect();
            out.extend(edge.iter().map(|&at| (at, slots)));
        }
        out
    }
}

/// Applies all rules. Violations come in program order.
pub fn check_program(stage: Stage, insts: &[Inst]) -> Vec<Violation> {
    check(&Program::new(stage, insts))
}

/// Applies all rules, those about the shader record included. Violations come in program order.
pub fn check_declared(stage: Stage, insts: &[Inst], declared: Declared) -> Vec<Violation> {
    check(&Program::new(stage, insts).declared(declared))
}

fn check(program: &Program<'_>) -> Vec<Violation> {
    let faults = paths::walk(program);
    let mut out = Vec::new();
    for rule in RULES {
        let mut findings = Findings::default();
        match &rule.check {
            Check::Hazard(hazard) => check_hazard(program, hazard, &mut findings),
            Check::Instruction(check) => {
                for (index, access) in program.accesses.iter().enumerate() {
                    if let Some(message) = check(program.stage, &program.insts[index], access) {
                        findings.at(index, message);
                    }
                }
            }
            Check::Program(check) => check(program, &mut findings),
            Check::Path(kind) => {
                for (_, index) in faults.iter().filter(|(fault, _)| fault == kind) {
                    findings.at(*index, rule.text);
                }
            }
        }
        let violations = findings.0.into_iter();
        out.extend(violations.map(|(index, other, message)| Violation { rule, index, other, message }));
    }
    out.sort_by_key(|v| (v.index, v.other));
    out
}

fn check_hazard(program: &Program<'_>, hazard: &Hazard, findings: &mut Findings) {
    for first in 0..program.len() {
        for (second, slots) in program.followers(first, hazard.distance - 1) {
            if (hazard.applies)(&program.accesses[first], &program.accesses[second]) {
                let message = format!(
                    "{} after instruction {first}, at least {} needed",
                    match slots {
                        1 => "directly".to_string(),
                        slots => format!("{slots} slots"),
                    },
                    hazard.distance
                );
                findings.pair(second, first, message);
            }
        }
    }
}

/// The listing of a program with each violation under the line that it is about.
pub fn render(insts: &[Inst], violations: &[Violation]) -> String {
    let mut out = String::new();
    for (index, inst) in insts.iter().enumerate() {
        let here = || violations.iter().filter(move |v| v.index == index);
        let mark = match () {
            () if here().next().is_some() => '>',
            () if violations.iter().any(|v| v.other == Some(index)) => '*',
            () => ' ',
        };
        writeln!(out, "{mark} {index:4}: {inst}").expect("writing to a string does not fail");
        for violation in here() {
            let rule = violation.rule;
            let line = format!("        ^ {}: {}", rule.id, violation.message);
            let cite = format!("          {} (qpu.md {})", rule.text, rule.manual);
            writeln!(out, "{line}\n{cite}").expect("writing to a string does not fail");
        }
    }
    // Rules about what is missing can point behind the last instruction.
    for violation in violations.iter().filter(|v| v.index >= insts.len()) {
        writeln!(out, "> end: {violation}").expect("writing to a string does not fail");
    }
    out
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod vector_tests;
