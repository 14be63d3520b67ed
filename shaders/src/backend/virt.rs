//! The back end's program: operations of one unit each, on virtual registers.
//!
//! Selection makes it, register allocation gives each [`Reg`] a [`Loc`], the scheduler pairs its
//! operations into instructions. The order of operations is one valid execution order; data flow
//! through registers, r4, r5 and the flags is what the order says, not single assignment: a
//! partially written register (pack, condition) is written several times.

use std::ops::{Deref, DerefMut, Index, Range};
use std::rc::Rc;

use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use vc4::qpu::{
    AddOp, BranchCond, Cond, MulOp, Pack, Raddr, RegFile, Signal, SmallImm, Unpack, Waddr, rules,
};

use crate::binding::UniformSlot;
use crate::ir::LineId;
use crate::program::SampleBo;

/// A virtual register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(u32);
entity_impl!(Reg, "t");

/// A word of the stream, by its number among those of a program. Operations are copied and compared often, and what a word is takes
/// more room than all else of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamWord(u32);
entity_impl!(StreamWord, "w");

/// What operations take from the stream, each word once.
#[derive(Clone, Debug, Default)]
pub struct StreamWords {
    slots: PrimaryMap<StreamWord, UniformSlot>,
    numbers: FxHashMap<UniformSlot, StreamWord>,
}

impl Index<StreamWord> for StreamWords {
    type Output = UniformSlot;

    fn index(&self, word: StreamWord) -> &UniformSlot {
        &self.slots[word]
    }
}

/// How many instances of a fragment program share a QPU (qpu.md §1.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// One, with the whole of both files and of the TMU's queues.
    One,
    /// Two, which take turns at thread switches, with half of everything.
    Two,
}

impl Threads {
    /// Registers of each file.
    pub const fn file_registers(self) -> u8 {
        match self {
            Threads::One => 32,
            Threads::Two => 16,
        }
    }

    /// Places for values that no particular operation leaves or reads: the files and the accumulators r0 to r3.
    pub const fn places(self) -> usize {
        2 * self.file_registers() as usize + Loc::ACCUMULATORS as usize
    }

    /// Parameter slots of a TMU's request queue, and requests whose results it holds (qpu.md §4.6).
    pub const fn tmu_queues(self) -> (usize, usize) {
        match self {
            Threads::One => (8, 4),
            Threads::Two => (4, 2),
        }
    }
}

/// A physical place of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Loc {
    /// Register of file A.
    A(u8),
    /// Register of file B.
    B(u8),
    /// Accumulator r0–r3.
    Acc(u8),
    /// r4: only values that a load or the SFU left there.
    R4,
}

impl Loc {
    /// Number of accumulators that hold any value.
    pub const ACCUMULATORS: u8 = 4;
    /// Number of places.
    pub const COUNT: usize = Loc::R4.index() + 1;

    /// The address that writes it, and the file if it is in one; `None` for r4, which no operation writes by address.
    pub const fn written_by(self) -> Option<(Waddr, Option<RegFile>)> {
        match self {
            Loc::A(n) => Some((Waddr::reg(n), Some(RegFile::A))),
            Loc::B(n) => Some((Waddr::reg(n), Some(RegFile::B))),
            Loc::Acc(n) => Some((Waddr::acc(n), None)),
            Loc::R4 => None,
        }
    }

    /// Number of the place: file A, file B, accumulators, r4.
    pub const fn index(self) -> usize {
        match self {
            Loc::A(n) => n as usize,
            Loc::B(n) => 32 + n as usize,
            Loc::Acc(n) => 64 + n as usize,
            Loc::R4 => 64 + Loc::ACCUMULATORS as usize,
        }
    }
}

/// Which places a register may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// File A.
    pub a: bool,
    /// File B.
    pub b: bool,
    /// Accumulators.
    pub acc: bool,
    /// Staying in r4.
    pub r4: bool,
}

impl Places {
    /// Either file or an accumulator.
    pub const ANY: Places = Places { a: true, b: true, acc: true, r4: false };
}

/// What allocation must know of a register.
#[derive(Clone, Copy, Debug)]
pub struct RegInfo {
    /// The place is given (payload).
    pub fixed: Option<Loc>,
    /// Allowed places.
    pub places: Places,
}

impl RegInfo {
    /// The places left when only `allowed` ones remain; `None` if there is none.
    pub fn within(&self, allowed: Places) -> Option<Places> {
        let rest = Places {
            a: self.places.a && allowed.a,
            b: self.places.b && allowed.b,
            acc: self.places.acc && allowed.acc,
            r4: self.places.r4 && allowed.r4,
        };
        // r4 is a chance, not a promise: another load may come too early.
        let possible = match self.fixed {
            Some(Loc::A(_)) => rest.a,
            Some(Loc::B(_)) => rest.b,
            Some(Loc::Acc(_)) => rest.acc,
            Some(Loc::R4) => rest.r4,
            None => rest.a || rest.b || rest.acc,
        };
        possible.then_some(rest)
    }
}

/// What an operand reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Src {
    /// A virtual register.
    Reg(Reg),
    /// The last load or SFU result.
    R4,
    /// The C coefficient of the last varying read.
    R5,
    /// A small immediate, through port B.
    Imm(SmallImm),
    /// The next word of the uniform stream; one that an operation reads twice is one word.
    Uniform(StreamWord),
    /// A peripheral, through the named port or either.
    Port(Raddr, Option<RegFile>),
}

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operand {
    /// What is read.
    pub src: Src,
    /// Unpack; needs the value in file A or r4.
    pub unpack: Unpack,
}

impl From<Src> for Operand {
    fn from(src: Src) -> Operand {
        Operand { src, unpack: Unpack::Nop }
    }
}

/// The operands of an operation: at most two, as each unit reads.
#[derive(Clone, Copy)]
pub struct Operands {
    list: [Operand; 2],
    count: u8,
}

impl Operands {
    /// Those of `list`, which are at most two.
    pub fn new(list: &[Operand]) -> Operands {
        let mut operands = Operands { list: [Operand::from(Src::R4); 2], count: list.len() as u8 };
        operands.list[..list.len()].copy_from_slice(list);
        operands
    }
}

impl Deref for Operands {
    type Target = [Operand];

    fn deref(&self) -> &[Operand] {
        &self.list[..usize::from(self.count)]
    }
}

impl DerefMut for Operands {
    fn deref_mut(&mut self) -> &mut [Operand] {
        &mut self.list[..usize::from(self.count)]
    }
}

impl PartialEq for Operands {
    fn eq(&self, other: &Operands) -> bool {
        **self == **other
    }
}

impl Eq for Operands {}

impl std::fmt::Debug for Operands {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

/// Where a result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dst {
    /// Nowhere; flags only, or a read for its side effect.
    None,
    /// A virtual register.
    Reg(Reg),
    /// A peripheral, through the named file or either.
    Port(Waddr, Option<RegFile>),
}

/// Which unit does what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Add unit.
    Add(AddOp),
    /// Mul unit.
    Mul(MulOp),
    /// Copies the operand's bits; either unit.
    Move,
    /// Loads an immediate; occupies both units.
    LoadImm(u32),
    /// Loads the byte offset behind the stream word that comes next: what a uniform reset adds to the address of the
    /// stream (qpu.md §5.3).
    StreamOffset,
    /// Only a signal.
    Signal,
    /// Where a loop's iterations start. Divides the program; no instruction.
    LoopStart,
    /// Back to the matching start under this condition; divides the program.
    LoopEnd(BranchCond),
    /// Over what follows, up to behind the matching [`Unit::Else`] or to the [`Unit::EndIf`], under this condition;
    /// divides the program.
    If(BranchCond),
    /// Over what follows up to the [`Unit::EndIf`]; divides the program.
    Else,
    /// Where the ways of an `If` meet. Divides the program; no instruction.
    EndIf,
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The unit and its operation.
    pub unit: Unit,
    /// Operands, as many as the operation reads.
    pub src: Operands,
    /// Destination.
    pub dst: Dst,
    /// Pack of the result; partial packs keep the rest of the destination.
    pub pack: Pack,
    /// The pack is the mul unit's float pack (`pm` = 1), not the file-A pack.
    pub mul_pack: bool,
    /// Write condition.
    pub cond: Cond,
    /// Sets the flags.
    pub sets_flags: bool,
    /// Signal.
    pub signal: Signal,
    /// The uniform word that a TMU parameter write pops.
    pub parameter: Option<StreamWord>,
    /// The request that this TMU S write sends.
    pub sample: Option<SampleBo>,
    /// Rotation of the mul result, 0–15 elements upwards.
    pub rotate: u8,
    /// The operands may not be exchanged though the operation commutes (kernel patterns, qpu.md §5.3).
    pub ordered: bool,
    /// Line of the source. Code must not depend on it.
    pub line: LineId,
}

impl Operation {
    /// An operation with result.
    pub fn new(unit: Unit, dst: Dst, src: &[Operand]) -> Operation {
        Operation {
            unit,
            src: Operands::new(src),
            dst,
            pack: Pack::Nop,
            mul_pack: false,
            cond: Cond::Always,
            sets_flags: false,
            signal: Signal::None,
            parameter: None,
            sample: None,
            rotate: 0,
            ordered: false,
            line: LineId::NONE,
        }
    }

    /// A copy.
    pub fn mov(dst: Dst, src: impl Into<Operand>) -> Operation {
        Operation::new(Unit::Move, dst, &[src.into()])
    }

    /// Only a signal.
    pub fn signal(signal: Signal) -> Operation {
        Operation { signal, ..Operation::new(Unit::Signal, Dst::None, &[]) }
    }

    /// What a plain copy to a register copies, if other operations of its instruction can read that as well.
    pub fn copied(&self) -> Option<Src> {
        let is_plain = self.unit == Unit::Move && self.cond == Cond::Always && self.pack == Pack::Nop;
        let [operand] = self.src[..] else { return None };
        let is_readable = match operand.src {
            Src::Uniform(_) | Src::Port(Raddr::VPM, _) => true,
            Src::Reg(_) | Src::R4 | Src::R5 | Src::Imm(_) | Src::Port(..) => false,
        };
        let is_copy = is_plain && operand.unpack == Unpack::Nop && self.writes().is_some();
        (is_copy && is_readable).then_some(operand.src)
    }

    /// The operation with the copied value in place of the copy; `None` if it reads the copy in some other way than as it is,
    /// or not at all.
    pub fn past(&self, copy: &Operation) -> Option<Operation> {
        let (register, source) = (copy.writes()?, copy.copied()?);
        if self.ordered || self.rotate != 0 {
            return None;
        }
        let mut form = *self;
        let mut reads = false;
        for operand in form.src.iter_mut().filter(|operand| operand.src == Src::Reg(register)) {
            if operand.unpack != Unpack::Nop {
                return None;
            }
            (operand.src, reads) = (source, true);
        }
        reads.then_some(form)
    }

    /// Whether the destination keeps part of its old content.
    pub fn is_partial(&self) -> bool {
        self.cond != Cond::Always || !matches!(self.pack, Pack::Nop | Pack::Rep8 | Pack::Sat | Pack::Rep8Sat)
    }

    /// The uniform word that the operation consumes, explicitly or as a TMU parameter.
    pub fn uniform(&self) -> Option<StreamWord> {
        self.parameter.or_else(|| {
            self.src.iter().find_map(|operand| match operand.src {
                Src::Uniform(word) => Some(word),
                _ => None,
            })
        })
    }

    /// The registers that the operands read.
    pub fn reads(&self) -> impl Iterator<Item = Reg> {
        self.src.iter().filter_map(|operand| match operand.src {
            Src::Reg(reg) => Some(reg),
            _ => None,
        })
    }

    /// The register that the result goes to.
    pub fn writes(&self) -> Option<Reg> {
        match self.dst {
            Dst::Reg(reg) => Some(reg),
            _ => None,
        }
    }

    /// Whether an unpacked operand is delivered as a float (qpu.md §2.11).
    pub fn reads_float(&self) -> bool {
        match self.unit {
            Unit::Add(op) => op.reads_float(),
            Unit::Mul(op) => op.reads_float(),
            _ => false,
        }
    }

    /// Whether this gives the QPU to the other thread.
    pub fn is_switch(&self) -> bool {
        matches!(self.signal, Signal::ThreadSwitch | Signal::LastThreadSwitch)
    }

    /// Whether this touches the tile buffer, which takes the scoreboard (qpu.md §4.7), or the sample mask that counts
    /// there.
    pub fn touches_tile(&self) -> bool {
        let writes = |waddr: Waddr| waddr.is_tlb() || waddr == Waddr::MS_REV_FLAGS;
        self.signal == Signal::ColorLoad || self.port().is_some_and(writes)
    }

    /// Whether this divides the program into straight pieces.
    pub fn is_marker(&self) -> bool {
        matches!(self.unit, Unit::LoopStart | Unit::LoopEnd(_) | Unit::If(_) | Unit::Else | Unit::EndIf)
    }

    /// The condition of the branch that a marker is.
    pub fn branches(&self) -> Option<BranchCond> {
        match self.unit {
            Unit::LoopEnd(cond) | Unit::If(cond) => Some(cond),
            Unit::Else => Some(BranchCond::Always),
            _ => None,
        }
    }

    /// The waddr when the destination is a peripheral.
    pub fn port(&self) -> Option<Waddr> {
        match self.dst {
            Dst::Port(waddr, _) => Some(waddr),
            _ => None,
        }
    }

    /// Whether a result of this operation arrives in r4: (yes, distance of the earliest reader).
    pub fn r4_latency(&self) -> Option<u32> {
        match self.signal {
            Signal::LoadTmu0 | Signal::LoadTmu1 | Signal::ColorLoad => Some(1),
            _ if self.port().is_some_and(Waddr::is_sfu) => Some(rules::SFU_R4.distance),
            _ => None,
        }
    }

    /// Whether the operation pops a vector of the VPM read FIFO.
    pub fn reads_port(&self, raddr: Raddr) -> bool {
        self.src.iter().any(|operand| matches!(operand.src, Src::Port(port, _) if port == raddr))
    }
}

/// The straight pieces between markers, as ranges of operations.
pub fn segments(ops: &[Operation]) -> SmallVec<[Range<usize>; 4]> {
    let mut segments = SmallVec::new();
    let mut start = 0;
    for (index, op) in ops.iter().enumerate() {
        if op.is_marker() {
            segments.push(start..index);
            start = index + 1;
        }
    }
    segments.push(start..ops.len());
    segments
}

/// A program: straight pieces, and loops and ifs that may nest but not cross.
#[derive(Clone, Debug, Default)]
pub struct VirtProgram {
    /// Operations in a valid order.
    pub ops: Vec<Operation>,
    /// Registers.
    pub regs: PrimaryMap<Reg, RegInfo>,
    /// The words that operations take from the stream; all orders of a program share them.
    pub words: Rc<StreamWords>,
}

impl VirtProgram {
    /// A table with an entry for each register.
    pub fn per_register<T: Clone + Default>(&self) -> SecondaryMap<Reg, T> {
        let mut table = SecondaryMap::with_capacity(self.regs.len());
        table.resize(self.regs.len());
        table
    }

    /// A table with an entry for each stream word.
    pub fn per_word<T: Clone + Default>(&self) -> SecondaryMap<StreamWord, T> {
        let mut table = SecondaryMap::with_capacity(self.words.slots.len());
        table.resize(self.words.slots.len());
        table
    }

    /// A list for each register.
    pub fn lists<T: Default>(&self) -> PrimaryMap<Reg, T> {
        self.regs.keys().map(|_| T::default()).collect()
    }

    /// The same registers and words with other operations.
    pub fn with_ops(&self, ops: Vec<Operation>) -> VirtProgram {
        VirtProgram { ops, regs: self.regs.clone(), words: Rc::clone(&self.words) }
    }

    /// The number of a word.
    pub fn word(&mut self, slot: UniformSlot) -> StreamWord {
        let words = Rc::make_mut(&mut self.words);
        *words.numbers.entry(slot).or_insert_with(|| words.slots.push(slot))
    }

    /// A fresh register that may live anywhere.
    pub fn reg(&mut self) -> Reg {
        self.regs.push(RegInfo { fixed: None, places: Places::ANY })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VPM: Src = Src::Port(Raddr::VPM, None);

    #[test]
    fn what_reads_a_copy_may_read_what_is_copied() {
        let mut program = VirtProgram::default();
        let [row, other, product] = [(); 3].map(|()| program.reg());
        let copy = Operation::mov(Dst::Reg(row), VPM);
        let fmul = |src: &[Operand]| Operation::new(Unit::Mul(MulOp::Fmul), Dst::Reg(product), src);
        let [read, beside] = [Src::Reg(row), Src::Reg(other)].map(Operand::from);
        assert_eq!(fmul(&[read, beside]).past(&copy), Some(fmul(&[VPM.into(), beside])));
        assert_eq!(fmul(&[read, read]).past(&copy), Some(fmul(&[VPM.into(); 2])));
        // It reads something else, a part of the copy, or the copy of other elements.
        assert_eq!(fmul(&[beside, beside]).past(&copy), None);
        let part = Operand { unpack: Unpack::Half0, ..read };
        assert_eq!(fmul(&[part, beside]).past(&copy), None);
        assert_eq!(Operation { rotate: 1, ..fmul(&[read, read]) }.past(&copy), None);
        // No plain copies: of some elements, packed, of what only one port shows.
        let some = Operation { cond: Cond::Zs, ..copy };
        let packed = Operation { pack: Pack::Sat, ..copy };
        let varying = Operation::mov(Dst::Reg(row), Src::Port(Raddr::VARYING, None));
        for no_copy in [some, packed, varying] {
            assert_eq!(fmul(&[read, beside]).past(&no_copy), None);
        }
    }
}
