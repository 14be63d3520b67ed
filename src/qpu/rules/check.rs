//! Applying the rules.

use super::hazards::Hazard;
use super::paths;
use super::program::{Declared, Program, Stage};
use super::rule::{Check, Findings, Violation};
use super::table::RULES;
use crate::qpu::inst::Inst;
use std::fmt::Write;

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
