//! A program as the rules look at it.

use crate::qpu::access::{Access, link_tmu};
use crate::qpu::inst::Inst;
use crate::qpu::isa::BranchCond;
use std::collections::BTreeSet;

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
