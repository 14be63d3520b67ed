//! A place in a program for people: the instructions around it and what the registers of the one in question held.

use std::fmt::Write;

use vc4::qpu::{Declared, Stage, check_declared};

use super::facts::{bit, registers_read};
use super::op::{Port, slot};
use super::program::Program;
use super::state::Qpu;
use crate::stats::{Finding, Note, Stats};

/// Instructions shown before and behind the one in question.
const CONTEXT: usize = 3;

/// The place where the last instance of `program` stopped and what its registers held.
pub(crate) fn stopped(program: &Program, q: &Qpu) -> String {
    excerpt(program, q.pc, q)
}

/// The listing around instruction `index`, with the elements of the registers that it names.
pub(super) fn excerpt(program: &Program, index: usize, q: &Qpu) -> String {
    around(program, index, |out| state(out, program, index, q))
}

/// Reports a rule that machine code broke at an instruction.
#[cfg(feature = "jit")]
pub(super) fn noted(program: &Program, index: usize, rule: Note, stats: &mut Stats) {
    if !stats.knows(&rule, program.address(), index as u32) {
        let unknown = format_args!("        what registers held is not known: it ran as machine code");
        let report = around(program, index, |out| line(out, unknown));
        stats.report(Finding { rule, program: program.address(), index: index as u32, report });
    }
}

/// Reports what the rules say about a program without running it.
pub(crate) fn check(program: &Program, stage: Stage, varyings: usize, stats: &mut Stats) {
    let declared = Declared { varyings: u8::try_from(varyings).ok() };
    for violation in check_declared(stage, program.insts(), declared) {
        let index = violation.index.min(program.len().saturating_sub(1));
        let report = around(program, index, |out| line(out, format_args!("        {}", violation.message)));
        let (rule, index) = (Note::of(violation.rule), violation.index as u32);
        stats.report(Finding { rule, program: program.address(), index, report });
    }
}

fn around(program: &Program, index: usize, below: impl FnOnce(&mut String)) -> String {
    let mut below = Some(below);
    let mut out = String::new();
    let first = index.saturating_sub(CONTEXT);
    for (at, inst) in program.insts().iter().enumerate().take(index + CONTEXT + 1).skip(first) {
        let mark = if at == index { '>' } else { ' ' };
        line(&mut out, format_args!("{mark} {at:4}: {inst}"));
        if at == index {
            if let Some(below) = below.take() {
                below(&mut out);
            }
        }
    }
    out.pop();
    out
}

fn line(out: &mut String, text: std::fmt::Arguments) {
    writeln!(out, "{text}").expect("writing to a string does not fail");
}

fn state(out: &mut String, program: &Program, index: usize, q: &Qpu) {
    let op = &program.ops[index];
    let mut shown = Vec::new();
    let read = registers_read(op);
    for s in [op.add_a, op.add_b, op.mul_a, op.mul_b, op.unpack_from] {
        if let Some(name) = name(s) {
            if read & bit(s) != 0 && !shown.contains(&s) {
                shown.push(s);
                let words: Vec<String> = q.register(s).iter().map(|word| format!("{word:08x}")).collect();
                line(out, format_args!("        {name:5} {}", words.join(" ")));
            }
        }
    }
    let [z, n, c] = q.flags().map(|flags| format!("{:016b}", flags.reverse_bits()));
    line(out, format_args!("        flags z {z} n {n} c {c} (element 0 first)"));
    if op.port_a == Port::Uniform || op.port_b == Port::Uniform {
        line(out, format_args!("        uniform stream at {:#010x}", q.uniform_address()));
    }
}

fn name(s: u8) -> Option<String> {
    Some(match s {
        s if s < slot::RB => format!("ra{s}"),
        s if s < slot::ACC => format!("rb{}", s - slot::RB),
        s if s <= slot::R5 => format!("r{}", s - slot::ACC),
        _ => return None,
    })
}
