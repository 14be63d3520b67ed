//! Words of the stream that instructions take are kept in a register where that costs nothing: a unit rests beside the first of
//! several that take it or in front of them, and a register is free from there to the others; or an instruction in front of a
//! constant's readers does nothing at all, and loads it. The stream gets shorter, and no instruction moves.

use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;
use vc4::qpu::rules::{FILE_LATENCY, SIGNAL_SLOTS};
use vc4::qpu::{
    Access, AddOp, AluInst, Cond, Inst, LoadImmInst, MulOp, Mux, Pack, Raddr, RaddrB, RegFile, Unpack, Waddr,
};

use super::pair;
use super::slot::{Slot, Word};
use crate::backend::regalloc::LAST_CHOICE;
use crate::backend::virt::{Loc, Operation, StreamWord, Threads, Unit, VirtProgram};
use crate::binding::UniformSlot;
use crate::work;

/// Instructions in front of a word's first reader that may load it, and readers behind it that may find it in a register: they
/// bound the work, not the gain.
const REACH: usize = 32;

/// Instructions up to the last one of those readers.
const FAR: usize = 512;

/// Instructions in front that are tried.
const HOSTS: usize = 4;

/// Instructions that read a word, in order.
type Readers = SmallVec<[usize; 8]>;

/// Keeps words of a scheduled program. Where there are branches, they all stay in the stream.
pub fn keep(program: &VirtProgram, slots: &mut [Slot], threads: Threads) {
    if program.ops.iter().any(Operation::is_marker) {
        return;
    }
    let is_constant = |word: StreamWord| matches!(program.words[word], UniformSlot::Const(_));
    let mut readers = readers(program, slots);
    readers.retain(|(word, readers)| readers.len() > 1 || is_constant(*word));
    if readers.is_empty() {
        return;
    }
    let mut places = Places::of(slots, threads);
    for (word, readers) in readers {
        let is_constant = is_constant(word);
        for (start, &first) in readers.iter().enumerate() {
            let near = &readers[start..readers.len().min(start + 1 + REACH)];
            let is_left = |&reader: &usize| reader - first <= FAR && slots[reader].word != Word::Kept;
            let near: Readers = near.iter().copied().filter(is_left).collect();
            if near.first() != Some(&first) || near.len() < 2 && !is_constant {
                continue;
            }
            if let Some(plan) = places.best(program, slots, word, &near) {
                places.carry_out(program, slots, word, plan);
            }
        }
    }
}

/// The instructions that read each word as an operand, in order.
fn readers(program: &VirtProgram, slots: &[Slot]) -> Vec<(StreamWord, Readers)> {
    let mut numbers: SecondaryMap<StreamWord, Option<usize>> = program.per_word();
    let mut readers: Vec<(StreamWord, Readers)> = Vec::new();
    for (at, slot) in slots.iter().enumerate() {
        let ops = || slot.ops.iter().map(|&op| &program.ops[op]);
        // A constant that is moved alone takes no word.
        let is_copy = matches!(slot.ops[..], [op] if program.ops[op].unit == Unit::Move);
        let Some(word) = ops().find_map(Operation::uniform) else { continue };
        if is_copy || ops().any(is_bound) || port(&slot.inst).is_none() {
            continue;
        }
        let number = *numbers[word].get_or_insert_with(|| {
            readers.push((word, Readers::new()));
            readers.len() - 1
        });
        readers[number].1.push(at);
    }
    readers
}

/// Whether an operation's operands and words stay as they are: the kernel knows what guards a lookup by them, and a parameter takes
/// its word itself (qpu.md §5.3).
fn is_bound(op: &Operation) -> bool {
    op.ordered || op.parameter.is_some() || op.rotate != 0 || op.port().is_some_and(Waddr::is_tmu)
}

/// The port through which an instruction reads the stream.
fn port(inst: &Inst) -> Option<RegFile> {
    let Inst::Alu(alu) = inst else { return None };
    match (alu.raddr_a == Raddr::UNIFORM, alu.raddr_b == RaddrB::Reg(Raddr::UNIFORM)) {
        (true, false) => Some(RegFile::A),
        (false, true) => Some(RegFile::B),
        _ => None,
    }
}

/// A set of places, a bit for each by [`Loc::index`].
type Set = u128;

const fn bit(loc: Loc) -> Set {
    1 << loc.index()
}

/// No instruction of a program's end may touch these.
const LAST_CHOICES: Set = bit(Loc::A(LAST_CHOICE)) | bit(Loc::B(LAST_CHOICE));
const FILE_A: Set = (bit(Loc::B(0)) - bit(Loc::A(0))) & !LAST_CHOICES;
const FILE_B: Set = (bit(Loc::Acc(0)) - bit(Loc::B(0))) & !LAST_CHOICES;
const ACCUMULATORS: Set = bit(Loc::R4) - bit(Loc::Acc(0));

/// The places that hold something.
struct Places {
    /// Those whose values are read behind each instruction.
    live: Vec<Set>,
    /// Those whose values end with it.
    written: Vec<Set>,
    /// Registers of the files that there are.
    registers: Set,
}

impl Places {
    fn of(slots: &[Slot], threads: Threads) -> Places {
        let of_file = (1 << threads.file_registers()) - 1;
        let registers = of_file | of_file << Loc::B(0).index();
        let mut places = Places { live: vec![0; slots.len()], written: vec![0; slots.len()], registers };
        let mut live = 0;
        for (at, slot) in slots.iter().enumerate().rev() {
            let access = Access::of(&slot.inst);
            let (mut read, mut begun, mut written) = (0, 0, 0);
            if access.selects_a && access.raddr_a.is_reg() {
                read |= bit(Loc::A(access.raddr_a.code()));
            }
            if access.selects_b && access.raddr_b.is_reg() {
                read |= bit(Loc::B(access.raddr_b.code()));
            }
            read |= (Set::from(access.accumulators) << Loc::Acc(0).index()) & ACCUMULATORS;
            for write in access.written() {
                let loc = match (write.accumulator(), write.file) {
                    (Some(n), _) if n < Loc::ACCUMULATORS => Loc::Acc(n),
                    (None, RegFile::A) if write.waddr.is_reg() => Loc::A(write.waddr.code()),
                    (None, RegFile::B) if write.waddr.is_reg() => Loc::B(write.waddr.code()),
                    _ => continue,
                };
                written |= bit(loc);
                // Others keep part of the old value.
                if write.cond == Cond::Always && write.pack == Pack::Nop {
                    begun |= bit(loc);
                }
            }
            places.live[at] = live;
            places.written[at] |= written;
            live = live & !begun | read | written & !begun;
            // Accumulators hold nothing from when the other thread has had the QPU (qpu.md §1.4).
            if access.is_switch() {
                for gone in places.written.iter_mut().skip(at).take(1 + SIGNAL_SLOTS) {
                    *gone |= ACCUMULATORS;
                }
            }
        }
        places
    }

    /// How most words go that these instructions take.
    fn best(
        &self,
        program: &VirtProgram,
        slots: &[Slot],
        word: StreamWord,
        readers: &[usize],
    ) -> Option<Plan> {
        let first = readers[0];
        let beside = copy_beside(&slots[first].inst).map(|host| (first, host));
        let before = || (first.saturating_sub(REACH)..first).rev();
        let takes_none = |slot: &Slot| {
            let ops = || slot.ops.iter().map(|&op| &program.ops[op]);
            slot.word == Word::OfOperations && !ops().any(|op| is_bound(op) || op.uniform().is_some())
        };
        let in_front = before()
            .filter(|&at| readers.len() > 1 && takes_none(&slots[at]))
            .filter_map(|at| Some((at, copy_in_front(&slots[at].inst)?)))
            .take(HOSTS);
        let is_constant = matches!(program.words[word], UniformSlot::Const(_));
        let idle = before().find(|&at| is_constant && slots[at].inst == Inst::NOP).map(|at| (at, Host::Idle));
        let mut best: Option<Plan> = None;
        for (at, host) in beside.into_iter().chain(in_front).chain(idle) {
            let others = if at == first { &readers[1..] } else { readers };
            let most = best.as_ref().map_or(0, Plan::gain);
            if others.len() > host.cost(at != first) + most {
                best = self
                    .plan(slots, (at, host), others, at != first)
                    .filter(|plan| plan.gain() > most)
                    .or(best);
            }
        }
        best
    }

    /// What a host does for most of these instructions, by a place of one of the three kinds.
    fn plan(
        &self,
        slots: &[Slot],
        (at, host): (usize, Host),
        readers: &[usize],
        in_front: bool,
    ) -> Option<Plan> {
        let files = match host {
            Host::Copy { file: Some(RegFile::A), .. } => FILE_A,
            Host::Copy { file: Some(RegFile::B), .. } => FILE_B,
            _ => FILE_A | FILE_B,
        };
        let mut free = (files & self.registers | ACCUMULATORS) & !(self.live[at] | self.written[at]);
        // Per kind: places that are free up to the last instruction that they serve, and those instructions.
        let kinds = [(ACCUMULATORS, Loc::Acc(0)), (FILE_A, Loc::A(0)), (FILE_B, Loc::B(0))];
        let mut served: [(Set, SmallVec<[usize; 8]>); 3] = Default::default();
        let mut reached = at;
        for &reader in readers {
            work::count(reader - reached);
            for written in &self.written[reached + 1..=reader] {
                free &= !written;
            }
            reached = reader;
            if free == 0 {
                break;
            }
            for ((kind, loc), (places, served)) in kinds.into_iter().zip(&mut served) {
                if free & kind != 0 && reads_instead(&slots[reader].inst, loc, reader - at).is_some() {
                    *places = free & kind;
                    served.push(reader);
                }
            }
        }
        // Of equals the first.
        let (places, served) = served.into_iter().rev().max_by_key(|(_, served)| served.len())?;
        Some(Plan { at, host, loc: first(places)?, served, cost: host.cost(in_front) })
    }

    fn carry_out(&mut self, program: &VirtProgram, slots: &mut [Slot], word: StreamWord, plan: Plan) {
        let Plan { at, host, loc, served, cost } = plan;
        let Some((waddr, file)) = loc.written_by() else { return };
        let slot = &mut slots[at];
        slot.inst = match (host, program.words[word], slot.inst) {
            (Host::Idle, UniformSlot::Const(word), _) => Inst::LoadImm(LoadImmInst::word(waddr, file, word)),
            (Host::Copy { unit, from, .. }, _, Inst::Alu(alu)) => {
                Inst::Alu(with_copy(alu, (unit, from), (waddr, file)))
            }
            (_, _, inst) => inst,
        };
        if cost > 0 {
            slot.word = Word::Other(word);
        }
        self.written[at] |= bit(loc);
        for &reader in &served {
            if let Some(inst) = reads_instead(&slots[reader].inst, loc, reader - at) {
                (slots[reader].inst, slots[reader].word) = (inst, Word::Kept);
            }
        }
        if let Some(&last) = served.last() {
            self.live[at..last].iter_mut().for_each(|live| *live |= bit(loc));
        }
    }
}

/// The first of some places.
fn first(places: Set) -> Option<Loc> {
    let index = places.trailing_zeros() as usize;
    let from = |first: Loc| (index - first.index()) as u8;
    match index {
        index if index < Loc::B(0).index() => Some(Loc::A(from(Loc::A(0)))),
        index if index < Loc::Acc(0).index() => Some(Loc::B(from(Loc::B(0)))),
        index if index < Loc::R4.index() => Some(Loc::Acc(from(Loc::Acc(0)))),
        _ => None,
    }
}

/// What becomes of a word.
struct Plan {
    /// Where it is written to a register, and how.
    at: usize,
    host: Host,
    loc: Loc,
    /// The instructions that read it there.
    served: SmallVec<[usize; 8]>,
    /// Words that the host takes for it.
    cost: usize,
}

impl Plan {
    /// Words less.
    fn gain(&self) -> usize {
        self.served.len().saturating_sub(self.cost)
    }
}

/// An instruction with room for a word.
#[derive(Clone, Copy)]
enum Host {
    /// A unit rests that can copy what this port reads, to this file or to either.
    Copy { unit: Resting, from: RegFile, file: Option<RegFile> },
    /// It does nothing.
    Idle,
}

impl Host {
    /// Words that it takes for itself: in front of the first reader, a copy takes one.
    fn cost(self, in_front: bool) -> usize {
        usize::from(matches!(self, Host::Copy { .. }) && in_front)
    }
}

#[derive(Clone, Copy)]
enum Resting {
    Add,
    Mul,
}

/// The unit that copies the word that an instruction takes.
fn copy_beside(inst: &Inst) -> Option<Host> {
    let Inst::Alu(alu) = inst else { return None };
    copy_from(alu, port(inst)?)
}

/// The unit and the port that take a word in an instruction that takes none.
fn copy_in_front(inst: &Inst) -> Option<Host> {
    let Inst::Alu(alu) = inst else { return None };
    let free_b = alu.raddr_b == RaddrB::Reg(Raddr::NOP);
    let port = if free_b { RegFile::B } else { RegFile::A };
    (free_b || alu.raddr_a == Raddr::NOP).then(|| copy_from(alu, port)).flatten()
}

/// The unit that can copy what a port reads.
fn copy_from(alu: &AluInst, from: RegFile) -> Option<Host> {
    // An unpack would change what is read, and flags come from a unit that works. A pack is the other unit's: either what the mul
    // unit makes has it, or what goes to file A, and the other unit writes file B.
    if alu.unpack != Unpack::Nop && from == RegFile::A {
        return None;
    }
    let (add, mul) = if alu.ws { (RegFile::B, RegFile::A) } else { (RegFile::A, RegFile::B) };
    // The files may be exchanged if that is the same to the unit that works.
    let file_of =
        |own: RegFile, worker: Waddr| (worker.differs_by_file() || alu.pack != Pack::Nop).then_some(own);
    let mul_rests = alu.op_mul == MulOp::Nop && alu.waddr_mul == Waddr::NOP;
    let add_rests = alu.op_add == AddOp::Nop && alu.waddr_add == Waddr::NOP;
    match (add_rests, mul_rests) {
        _ if alu.sf && add_rests => None,
        (_, true) => Some(Host::Copy { unit: Resting::Mul, from, file: file_of(mul, alu.waddr_add) }),
        (true, false) => Some(Host::Copy { unit: Resting::Add, from, file: file_of(add, alu.waddr_mul) }),
        (false, false) => None,
    }
}

/// The instruction with a copy of its word to a place that the unit can write.
fn with_copy(
    mut alu: AluInst,
    (unit, from): (Resting, RegFile),
    (waddr, file): (Waddr, Option<RegFile>),
) -> AluInst {
    let mux = match from {
        RegFile::A => {
            alu.raddr_a = Raddr::UNIFORM;
            Mux::A
        }
        RegFile::B => {
            alu.raddr_b = RaddrB::Reg(Raddr::UNIFORM);
            Mux::B
        }
    };
    // With the files exchanged, the mul unit writes file A.
    match (unit, file) {
        (Resting::Add, Some(RegFile::A)) | (Resting::Mul, Some(RegFile::B)) => alu.ws = false,
        (Resting::Add, Some(RegFile::B)) | (Resting::Mul, Some(RegFile::A)) => alu.ws = true,
        (_, None) => {}
    }
    match unit {
        Resting::Add => {
            (alu.op_add, alu.add_a, alu.add_b) = (AddOp::Or, mux, mux);
            (alu.cond_add, alu.waddr_add) = (Cond::Always, waddr);
        }
        Resting::Mul => {
            (alu.op_mul, alu.mul_a, alu.mul_b) = (MulOp::V8min, mux, mux);
            (alu.cond_mul, alu.waddr_mul) = (Cond::Always, waddr);
        }
    }
    alu
}

/// The instruction, so far behind the copy, with a place in place of the stream; `None` if its ports do not allow it.
fn reads_instead(inst: &Inst, loc: Loc, distance: usize) -> Option<Inst> {
    let (Inst::Alu(mut alu), Some(port)) = (*inst, port(inst)) else { return None };
    let (old, free_a, free_b) = match port {
        RegFile::A => (Mux::A, true, alu.raddr_b == RaddrB::Reg(Raddr::NOP)),
        RegFile::B => (Mux::B, alu.raddr_a == Raddr::NOP, true),
    };
    // An unpack is what reads through port A have in common.
    if alu.unpack != Unpack::Nop && (port == RegFile::A || !alu.pm) {
        return None;
    }
    match port {
        RegFile::A => alu.raddr_a = Raddr::NOP,
        RegFile::B => alu.raddr_b = RaddrB::Reg(Raddr::NOP),
    }
    let is_readable = distance >= FILE_LATENCY.distance as usize;
    let new = match loc {
        Loc::Acc(n) => pair::ACCUMULATORS[usize::from(n)],
        Loc::A(n) if free_a && is_readable => {
            alu.raddr_a = Raddr::reg(n);
            Mux::A
        }
        Loc::B(n) if free_b && is_readable => {
            alu.raddr_b = RaddrB::Reg(Raddr::reg(n));
            Mux::B
        }
        _ => return None,
    };
    for mux in [&mut alu.add_a, &mut alu.add_b, &mut alu.mul_a, &mut alu.mul_b] {
        if *mux == old {
            *mux = new;
        }
    }
    Some(Inst::Alu(alu))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use vc4::qpu::rules;

    use super::*;
    use crate::backend::regalloc::allocate;
    use crate::backend::schedule::Scheduler;
    use crate::backend::virt::{self, Dst, Reg, RegInfo, Src};
    use crate::backend::{check_regalloc, emit};
    use crate::ir::Stage;
    use crate::program::Program;

    /// The code of a vertex program, with all words in the stream and with those kept that may be. Both do what the operations say and
    /// break no rule.
    fn both(program: &VirtProgram) -> [Program; 2] {
        let mut allocated = program.clone();
        let (assignment, _) = allocate(&mut allocated, Threads::One).expect("few values are alive");
        let scheduler = Scheduler::new(allocated, assignment, Threads::One);
        let schedule = scheduler.schedule(0, usize::MAX).expect("there is no limit");
        let mut slots = emit::end(schedule, Stage::Vertex);
        let plain = emit::emit(&scheduler.program, &slots, Threads::One);
        keep(&scheduler.program, &mut slots, Threads::One);
        let kept = emit::emit(&scheduler.program, &slots, Threads::One);
        for code in [&plain, &kept] {
            check_regalloc::check(program, code).unwrap_or_else(|difference| panic!("{difference:?}"));
            let insts: Vec<Inst> = code.code.iter().map(|&word| Inst::decode(word).unwrap()).collect();
            let broken = rules::check_program(rules::Stage::Vertex, &insts);
            assert!(broken.is_empty(), "{}", rules::render(&insts, &broken));
        }
        assert_eq!(plain.code.len(), kept.code.len());
        [plain, kept]
    }

    struct Ops(VirtProgram);

    impl Ops {
        /// A program that begins with `count` values of the VPM.
        fn new(count: u32) -> (Ops, Vec<Reg>) {
            let mut ops = Ops(VirtProgram::default());
            let setup = Operation::new(
                Unit::LoadImm(0x1a00 | count << 20),
                Dst::Port(Waddr::VPM_SETUP, Some(RegFile::A)),
                &[],
            );
            ops.0.ops.push(setup);
            let values = (0..count).map(|_| ops.op(Unit::Move, &[Src::Port(Raddr::VPM, None)])).collect();
            let setup =
                Operation::new(Unit::LoadImm(0x1a00), Dst::Port(Waddr::VPM_SETUP, Some(RegFile::B)), &[]);
            ops.0.ops.push(setup);
            (ops, values)
        }

        fn op(&mut self, unit: Unit, src: &[Src]) -> Reg {
            let reg = self.0.reg();
            let operands: Vec<_> = src.iter().map(|&src| src.into()).collect();
            self.0.ops.push(Operation::new(unit, Dst::Reg(reg), &operands));
            reg
        }

        fn word(&mut self, slot: UniformSlot) -> Src {
            Src::Uniform(self.0.word(slot))
        }

        fn out(&mut self, reg: Reg) {
            self.0.ops.push(Operation::mov(Dst::Port(Waddr::VPM, None), Src::Reg(reg)));
        }
    }

    const WORD: UniformSlot = UniformSlot::Push(0);
    const OTHER: UniformSlot = UniformSlot::Push(4);
    const CONSTANT: UniformSlot = UniformSlot::Const(0x3eaa_aaab);

    #[test]
    fn a_word_beside_whose_first_reader_a_unit_rests_is_taken_once() {
        let (mut ops, values) = Ops::new(1);
        let mut sum = values[0];
        for word in [WORD, OTHER, WORD, WORD] {
            let word = ops.word(word);
            sum = ops.op(Unit::Add(AddOp::Fadd), &[Src::Reg(sum), word]);
        }
        ops.out(sum);
        let [plain, kept] = both(&ops.0);
        assert_eq!((plain.uniforms.len(), kept.uniforms.len()), (4, 2));
    }

    #[test]
    fn an_instruction_that_waits_loads_a_constant() {
        let (mut ops, values) = Ops::new(1);
        ops.0.ops.push(Operation::mov(Dst::Port(Waddr::SFU_RECIP, None), Src::Reg(values[0])));
        let constant = ops.word(CONSTANT);
        let product = ops.op(Unit::Mul(MulOp::Fmul), &[Src::R4, constant]);
        ops.out(product);
        let [plain, kept] = both(&ops.0);
        assert_eq!((plain.uniforms.len(), kept.uniforms.len()), (1, 0));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        /// Operations of both units on values, words and constants, some values alive for long, and waits for the SFU.
        #[test]
        fn words_are_those_that_were_written(
            steps in prop::collection::vec((0..8usize, 0..8usize, 0..8usize, 0..12u8), 1..60),
            alive in 1..8u32,
        ) {
            let (mut ops, mut values) = Ops::new(alive);
            for (a, b, to, kind) in steps {
                let value = |n: usize| Src::Reg(values[n % values.len()]);
                let words = [WORD, CONSTANT, OTHER, UniformSlot::Const(77_777)].map(|slot| ops.word(slot));
                let b = if b % 2 == 0 { value(b / 2) } else { words[b / 2] };
                let unit = if kind % 2 == 0 { Unit::Add(AddOp::Fadd) } else { Unit::Mul(MulOp::Fmul) };
                let made = match kind {
                    0 => {
                        ops.0.ops.push(Operation::mov(Dst::Port(Waddr::SFU_RECIP, None), value(a)));
                        ops.op(unit, &[Src::R4, b])
                    }
                    1 => ops.op(Unit::Move, &[b]),
                    // A choice by flags, which the mul unit sets if the add unit rests.
                    2 | 3 => {
                        let made = ops.op(Unit::Move, &[value(a)]);
                        let test = Operation { sets_flags: true, ..Operation::new(unit, Dst::None, &[b.into(), b.into()]) };
                        let choice = Operation { cond: Cond::Ns, ..Operation::mov(Dst::Reg(made), value(a / 2)) };
                        ops.0.ops.extend([test, choice]);
                        made
                    }
                    // A packed result lives in file A.
                    4 => {
                        let made = ops.0.regs.push(RegInfo { fixed: None, places: virt::Places { b: false, acc: false, ..virt::Places::ANY } });
                        let sum = Operation::new(unit, Dst::Reg(made), &[value(a).into(), b.into()]);
                        ops.0.ops.push(Operation { pack: Pack::Sat, ..sum });
                        made
                    }
                    _ => ops.op(unit, &[value(a), b]),
                };
                let at = to % values.len();
                values[at] = made;
            }
            values.into_iter().for_each(|value| ops.out(value));
            let [plain, kept] = both(&ops.0);
            prop_assert!(kept.uniforms.len() <= plain.uniforms.len());
        }
    }
}
