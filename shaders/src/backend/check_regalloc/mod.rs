//! An independent check of everything behind selection: ordering, allocation, pairing, emission.
//!
//! The selected operations and the finished instruction words are both executed symbolically. A value is a term
//! over stream words, FIFO results and constants; equal terms have equal numbers. Registers hold terms, a
//! partial or conditional write makes a term of the old and the new content. Both executions must hand the same
//! terms to the same peripherals in the same order. Nothing of the allocator's or scheduler's own
//! bookkeeping is used; that distances between instructions suffice is `vc4::qpu::rules`' business.

mod code;
mod machine;
mod selected;
mod terms;
mod ways;

use vc4::qpu::{Access, Inst, Waddr};

use super::virt::{Unit, VirtProgram};
use crate::program::{Program, SampleBo};
use code::Stream;
use machine::{Channel, Machine};
use terms::Terms;
use ways::Ways;

/// Compares a selected program with the code made of it. Both run each loop twice, because what an iteration
/// destroys is missed by the next, and ifs in several ways.
///
/// # Errors
/// The first difference in what the outside sees.
pub fn check(selected: &VirtProgram, program: &Program) -> Result<(), String> {
    let divides = selected.ops.iter().any(|op| matches!(op.unit, Unit::If(_)));
    for ways in Ways::all().take(if divides { usize::MAX } else { 1 }) {
        let mut terms = Terms::default();
        let mut wanted = Machine { ways: ways.clone(), ..Machine::default() };
        wanted.run_selected(&mut terms, selected);
        let mut done = Machine { ways, ..Machine::default() };
        let mut stream = Stream { words: &program.uniforms, next: 0, end: 0 };
        done.run_code(&mut terms, program, &mut stream)?;
        if !divides && stream.end != program.uniforms.len() {
            return Err("words are left in the uniform stream".into());
        }
        compare(&wanted, &done)?;
    }
    compare_requests(selected, program)
}

fn compare(wanted: &Machine, done: &Machine) -> Result<(), String> {
    let mut channels: Vec<Channel> = wanted.events.keys().chain(done.events.keys()).copied().collect();
    channels.sort_unstable();
    channels.dedup();
    for channel in channels {
        let empty = Vec::new();
        let a = wanted.events.get(&channel).unwrap_or(&empty);
        let b = done.events.get(&channel).unwrap_or(&empty);
        if let Some(index) = (0..a.len().max(b.len())).find(|&index| a.get(index) != b.get(index)) {
            return Err(format!(
                "{channel:?}, access {index}: {:?} wanted, {:?} found",
                a.get(index),
                b.get(index)
            ));
        }
    }
    let counts = |m: &Machine| (m.tmu_results, m.colors, m.varyings, m.rows);
    if counts(wanted) != counts(done) {
        return Err(format!("FIFO reads: {:?} wanted, {:?} found", counts(wanted), counts(done)));
    }
    Ok(())
}

/// The request list names the requests in program order; those of different TMUs may change places.
fn compare_requests(selected: &VirtProgram, program: &Program) -> Result<(), String> {
    let sends = |waddr: Waddr| waddr.tmu().filter(|_| matches!(waddr, Waddr::TMU0_S | Waddr::TMU1_S));
    let wanted = selected.ops.iter().filter_map(|op| Some((op.port().and_then(sends)?, op.sample?)));
    let sent = program.code.iter().filter_map(|&word| Access::of(&Inst::decode(word).ok()?).tmu_write());
    let found = sent.filter_map(sends).zip(program.samples.iter().copied());
    let (wanted, found): (Vec<_>, Vec<_>) = (wanted.collect(), found.collect());
    let of_tmu = |requests: &[(u8, SampleBo)], wanted: u8| -> Vec<SampleBo> {
        requests.iter().filter(|(tmu, _)| *tmu == wanted).map(|&(_, sample)| sample).collect()
    };
    let is_same = |tmu| of_tmu(&wanted, tmu) == of_tmu(&found, tmu);
    if found.len() == program.samples.len() && (0..2).all(is_same) {
        Ok(())
    } else {
        Err("the request list differs from the requests".into())
    }
}
