//! A program prepared for insertions: its end and its releases are taken off, branches know their targets by number, and
//! no place for a patch stands in the delay slots of a branch.

use super::error::SpliceError;
use super::flow::Flow;
use super::program::Source;
use super::registers::RegSet;
use crate::qpu::access::Access;
use crate::qpu::rules::{BRANCH_SLOTS, Program, SIGNAL_SLOTS};
use crate::qpu::{Inst, Signal, Waddr, uniform_reads};

/// Bytes of an instruction.
const INST_BYTES: i64 = 8;

/// A prepared program.
pub struct Normal<'a, U> {
    /// The instructions.
    pub insts: Vec<Inst>,
    /// Their numbers in the source; `None` for what was put into emptied delay slots.
    pub origins: Vec<Option<usize>>,
    /// Where branches go, by number in `insts`.
    pub targets: Vec<Option<usize>>,
    /// The uniforms that each instruction of the source takes.
    pub uniforms: Vec<Vec<&'a U>>,
    /// A word behind the last.
    pub extra: Option<&'a U>,
    /// It switches threads.
    pub threaded: bool,
    /// What it runs for.
    pub source: Source<'a, U>,
}

impl<'a, U> Normal<'a, U> {
    /// Prepares a program for patches at the instructions that `place` names.
    pub fn new(source: &Source<'a, U>, place: impl Fn(&Access) -> bool) -> Result<Self, SpliceError> {
        let program = Program::new(source.stage, source.insts);
        let Some(end) = program.end.filter(|end| end + SIGNAL_SLOTS < source.insts.len()) else {
            return Err(SpliceError::Whole {
                what: "the program has no end signal with two instructions behind it".into(),
                instead: "end it with sig_end and two more instructions",
            });
        };
        if program.accesses[end].signal == Signal::ColorLoadEnd {
            return Err(fault(
                end,
                "sig_color_load_end reads the tile's colour",
                "end the program with sig_end",
            ));
        }
        let (uniforms, extra) = uniforms(source, program.len())?;
        let targets = targets(&program)?;
        let mut out = Normal {
            insts: Vec::new(),
            origins: Vec::new(),
            targets: Vec::new(),
            uniforms,
            extra,
            threaded: program.threaded,
            source: Source { stage: source.stage, insts: source.insts, uniforms: source.uniforms },
        };
        out.reorder(&program, &targets, place)?;
        for inst in &mut out.insts {
            if let Inst::Alu(alu) = inst {
                if matches!(alu.sig, Signal::End | Signal::UnlockScoreboard) {
                    alu.sig = Signal::None;
                }
            }
        }
        Ok(out)
    }

    /// Copies the program; branches with a place in their delay slots move behind them.
    fn reorder(
        &mut self,
        program: &Program<'_>,
        targets: &[Option<usize>],
        place: impl Fn(&Access) -> bool,
    ) -> Result<(), SpliceError> {
        let mut position = vec![0; program.len()];
        let mut index = 0;
        while index < program.len() {
            let slots = index + 1..(index + 1 + BRANCH_SLOTS).min(program.len());
            let emptied =
                program.accesses[index].is_branch && slots.clone().any(|at| place(&program.accesses[at]));
            position[index] = self.insts.len();
            if !emptied {
                self.push(program.insts[index], Some(index), targets[index]);
                index += 1;
                continue;
            }
            movable(program, targets, index, slots.clone())?;
            for at in slots.clone() {
                position[at] = self.insts.len();
                self.push(program.insts[at], Some(at), None);
            }
            self.push(program.insts[index], Some(index), targets[index]);
            for _ in 0..BRANCH_SLOTS {
                self.push(Inst::NOP, None, None);
            }
            index = slots.end;
        }
        for target in self.targets.iter_mut().flatten() {
            *target = position[*target];
        }
        for at in 0..self.insts.len() {
            retarget(&mut self.insts[at], at, self.targets[at]);
        }
        Ok(())
    }

    fn push(&mut self, inst: Inst, origin: Option<usize>, target: Option<usize>) {
        self.insts.push(inst);
        self.origins.push(origin);
        self.targets.push(target);
    }

    /// The number in the source, for messages.
    pub fn number(&self, index: usize) -> usize {
        let known = self.origins.get(index).copied().flatten();
        known.unwrap_or_else(|| self.origins[..index.min(self.origins.len())].iter().flatten().count())
    }

    /// The last instruction in front of those that only fill the end.
    pub fn last(&self) -> usize {
        let fills = |index: usize| {
            let slot = (1..=BRANCH_SLOTS).any(|n| {
                index
                    .checked_sub(n)
                    .is_some_and(|at| self.targets[at].is_some() || self.access(at).is_switch())
            });
            self.insts[index] == Inst::NOP && !slot && !self.targets.contains(&Some(index))
        };
        (1..self.insts.len()).rev().find(|&index| !fills(index)).unwrap_or(0)
    }

    /// Facts about the prepared program.
    pub fn flow(&self, extra: &[(usize, RegSet)]) -> Flow<'_> {
        Flow::new(self.source.stage, &self.insts, extra)
    }

    /// Facts about one instruction.
    pub fn access(&self, index: usize) -> Access {
        Access::of(&self.insts[index])
    }

    /// The instructions that satisfy a test.
    pub fn all(&self, test: impl Fn(&Access) -> bool) -> Vec<usize> {
        (0..self.insts.len()).filter(|&index| test(&self.access(index))).collect()
    }

    /// Registers of each file.
    pub fn per_file(&self) -> u8 {
        if self.threaded { 16 } else { 32 }
    }

    /// An error about an instruction.
    pub fn fault(&self, index: usize, what: impl Into<String>, instead: &'static str) -> SpliceError {
        fault(self.number(index), what, instead)
    }
}

/// An error about an instruction of the source.
pub fn fault(instruction: usize, what: impl Into<String>, instead: &'static str) -> SpliceError {
    SpliceError::Program { instruction, what: what.into(), instead }
}

/// Makes a relative branch at `at` go to `target`.
pub fn retarget(inst: &mut Inst, at: usize, target: Option<usize>) {
    if let (Inst::Branch(branch), Some(target)) = (inst, target) {
        let fall = (at + BRANCH_SLOTS + 1) as i64;
        branch.offset = ((target as i64 - fall) * INST_BYTES) as i32;
    }
}

type Uniforms<'a, U> = (Vec<Vec<&'a U>>, Option<&'a U>);

/// The uniforms by the instruction that takes them.
fn uniforms<'a, U>(source: &Source<'a, U>, len: usize) -> Result<Uniforms<'a, U>, SpliceError> {
    let reads = uniform_reads(&source.insts[..len]);
    if source.uniforms.len() != reads.len() && source.uniforms.len() != reads.len() + 1 {
        return Err(SpliceError::UniformCount { reads: reads.len(), given: source.uniforms.len() });
    }
    let mut out = vec![Vec::new(); len];
    for (read, uniform) in reads.iter().zip(source.uniforms) {
        out[read.instruction].push(uniform);
    }
    Ok((out, source.uniforms.get(reads.len())))
}

fn targets(program: &Program<'_>) -> Result<Vec<Option<usize>>, SpliceError> {
    let target = |index: usize| match program.insts[index] {
        Inst::Branch(_) => match program.branch_target(index) {
            Some(target) => Ok(Some(target)),
            None => Err(fault(
                index,
                "the branch goes to an absolute address, by a register or out of the program",
                "use a relative branch to a label",
            )),
        },
        _ => Ok(None),
    };
    (0..program.len()).map(target).collect()
}

/// Whether a branch may be executed behind its delay slots.
fn movable(
    program: &Program<'_>,
    targets: &[Option<usize>],
    branch: usize,
    slots: std::ops::Range<usize>,
) -> Result<(), SpliceError> {
    let access = &program.accesses[branch];
    let instead = "put it in front of the branch";
    for at in slots {
        let slot = &program.accesses[at];
        if access.reads_flags && slot.sets_flags {
            return Err(fault(
                at,
                "sets flags in the delay slots of a branch that a patch must move",
                instead,
            ));
        }
        if targets.iter().flatten().any(|&target| target == at) {
            return Err(fault(
                at,
                "a branch goes into the delay slots of another that a patch must move",
                instead,
            ));
        }
    }
    if access.written().any(|write| write.waddr != Waddr::NOP) {
        return Err(fault(
            branch,
            "the branch writes a link, but a patch must move it",
            "use a branch without a link",
        ));
    }
    Ok(())
}
