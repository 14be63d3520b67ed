//! Registers for a lowered patch, one pass from its first operation to its last. Values that must be unpacked get file
//! A, others accumulators first; two operands do not end up in the same file where that can be seen ahead, and are moved
//! apart where not.

use super::lower::{Dst, Lowered, Op, Src, Virtual, Work};
use super::registers::{Reg, RegSet};
use crate::qpu::isa::RegFile;
use crate::qpu::{Cond, Pack};

/// Which kind of register was missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing(pub &'static str);

/// An operation with its registers.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// The operation; its virtual registers no longer count.
    pub op: Op,
    /// Operands.
    pub src: [Operand; 2],
    /// Destination, if it is a register.
    pub dst: Option<Reg>,
}

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// Anything else.
    Other(Src),
}

/// Registers that a patch may use.
#[derive(Clone, Copy, Debug)]
pub struct Pool {
    /// Not among these.
    pub busy: RegSet,
    /// Registers of each file: 32, or 16 with two threads.
    pub per_file: u8,
}

/// Values that live longer than this many operations leave the accumulators to others.
const SHORT: usize = 16;

/// Gives every value a register.
pub fn allocate(lowered: &Lowered, pool: Pool) -> Result<Vec<Placed>, Missing> {
    let mut allocator = Allocator::new(lowered, pool);
    for index in 0..lowered.ops.len() {
        allocator.step(index)?;
    }
    Ok(allocator.out)
}

struct Allocator<'a> {
    ops: &'a [Op],
    virtuals: &'a [Virtual],
    pool: Pool,
    busy: RegSet,
    places: Vec<Option<Reg>>,
    last: Vec<usize>,
    out: Vec<Placed>,
}

impl<'a> Allocator<'a> {
    fn new(lowered: &'a Lowered, pool: Pool) -> Self {
        let mut last = vec![0; lowered.virtuals.len()];
        for (index, op) in lowered.ops.iter().enumerate() {
            for v in op.src.iter().filter_map(virtual_of).chain(written(op)) {
                last[v] = index;
            }
        }
        let mut busy = pool.busy;
        for v in &lowered.virtuals {
            if let Some(reg) = v.fixed {
                busy.add(RegSet::one(reg));
            }
        }
        let places = lowered.virtuals.iter().map(|v| v.fixed).collect();
        Allocator {
            ops: &lowered.ops,
            virtuals: &lowered.virtuals,
            pool,
            busy,
            places,
            last,
            out: Vec::new(),
        }
    }

    fn step(&mut self, index: usize) -> Result<(), Missing> {
        let op = self.ops[index];
        let mut src = op.src.map(|src| self.operand(src));
        if let (Some(a), Some(b)) = (port(src[0]), port(src[1])) {
            if a == b && src[0] != src[1] {
                src[1] = self.move_apart(src[1], a)?;
            }
        }
        let used = op.src.iter().filter_map(virtual_of);
        for v in used.filter(|&v| self.last[v] == index && !self.virtuals[v].given) {
            if let Some(reg) = self.places[v].filter(|reg| !self.pool.busy.meets(RegSet::one(*reg))) {
                self.busy.remove(RegSet::one(reg));
            }
        }
        let dst = match op.dst {
            Dst::Virtual(v) => Some(self.destination(v, index)?),
            Dst::None | Dst::Port(_) => None,
        };
        self.out.push(Placed { op, src, dst });
        if let (Dst::Virtual(v), Some(reg)) = (op.dst, dst) {
            if self.last[v] == index && !self.virtuals[v].given && !self.pool.busy.meets(RegSet::one(reg)) {
                self.busy.remove(RegSet::one(reg));
            }
        }
        Ok(())
    }

    fn operand(&self, src: Src) -> Operand {
        match src {
            Src::Virtual(v) => self.places[v].map_or(Operand::Other(src), Operand::Reg),
            other => Operand::Other(other),
        }
    }

    /// Copies an operand away from a file that the other operand takes.
    fn move_apart(&mut self, from: Operand, file: RegFile) -> Result<Operand, Missing> {
        let other = if file == RegFile::A { RegFile::B } else { RegFile::A };
        let free = self.pick(&self.kinds(None, Some(other), None));
        let to = free.ok_or(Missing("an accumulator or a register of the other file"))?;
        let (Operand::Reg(_) | Operand::Other(_)) = from;
        let op = Op {
            work: Work::Move,
            dst: Dst::None,
            cond: Cond::Always,
            sf: false,
            pack: Pack::Nop,
            uniform: None,
            ..self.ops[0]
        };
        let op = Op { unpack: crate::qpu::Unpack::Nop, signal: crate::qpu::Signal::None, ..op };
        self.out.push(Placed { op, src: [from; 2], dst: Some(to) });
        Ok(Operand::Reg(to))
    }

    fn destination(&mut self, v: usize, index: usize) -> Result<Reg, Missing> {
        if let Some(reg) = self.places[v] {
            return Ok(reg);
        }
        let kinds = if self.virtuals[v].file_a {
            self.kinds(Some(RegFile::A), None, None)
        } else {
            let avoid = self.avoided(v, index);
            let long = self.last[v] - index > SHORT;
            let good = [RegFile::B, RegFile::A].into_iter().find(|file| !avoid.contains(file));
            let mut kinds = self.kinds(None, good, Some(long && good.is_some()));
            kinds.extend(self.kinds(None, Some(RegFile::B), None));
            kinds.extend(self.kinds(None, Some(RegFile::A), None));
            kinds
        };
        let reg = self.pick(&kinds);
        let need =
            if self.virtuals[v].file_a { "a register of file A" } else { "an accumulator or file register" };
        let reg = reg.ok_or(Missing(need))?;
        self.places[v] = Some(reg);
        self.busy.add(RegSet::one(reg));
        Ok(reg)
    }

    /// Candidates: those of file `only`, or accumulators and those of `file`; `file_first` puts the file in front.
    fn kinds(&self, only: Option<RegFile>, file: Option<RegFile>, file_first: Option<bool>) -> Vec<Reg> {
        let regs = |file: RegFile| {
            (0..self.pool.per_file).map(move |n| if file == RegFile::A { Reg::A(n) } else { Reg::B(n) })
        };
        if let Some(only) = only {
            return regs(only).collect();
        }
        let accumulators = (0..4).map(Reg::Acc);
        match file {
            None => accumulators.collect(),
            Some(file) if file_first == Some(true) => regs(file).chain(accumulators).collect(),
            Some(file) => accumulators.chain(regs(file)).collect(),
        }
    }

    fn pick(&self, candidates: &[Reg]) -> Option<Reg> {
        candidates.iter().copied().find(|&reg| !self.busy.meets(RegSet::one(reg)))
    }

    /// Files that operands beside this value will take.
    fn avoided(&self, v: usize, index: usize) -> Vec<RegFile> {
        let mut out = Vec::new();
        for op in &self.ops[index + 1..=self.last[v].max(index)] {
            let partner = match (op.src[0], op.src[1]) {
                (Src::Virtual(a), other) if a == v => other,
                (other, Src::Virtual(b)) if b == v => other,
                _ => continue,
            };
            let file = match partner {
                Src::Virtual(p) if p == v => None,
                Src::Virtual(p) if self.virtuals[p].file_a => Some(RegFile::A),
                partner => port(self.operand(partner)),
            };
            out.extend(file);
        }
        out
    }
}

fn virtual_of(src: &Src) -> Option<usize> {
    match *src {
        Src::Virtual(v) => Some(v),
        _ => None,
    }
}

fn written(op: &Op) -> Option<usize> {
    match op.dst {
        Dst::Virtual(v) => Some(v),
        Dst::None | Dst::Port(_) => None,
    }
}

/// The read port that an operand takes; an immediate takes that of file B.
fn port(operand: Operand) -> Option<RegFile> {
    match operand {
        Operand::Reg(reg) => reg.file(),
        Operand::Other(Src::Imm(_)) => Some(RegFile::B),
        Operand::Other(Src::Port(file, _)) => Some(file),
        Operand::Other(Src::Virtual(_) | Src::R4 | Src::Uniform) => None,
    }
}
