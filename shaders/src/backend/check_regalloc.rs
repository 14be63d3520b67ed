//! An independent check of everything behind selection: ordering, allocation, pairing, emission.
//!
//! The selected operations and the finished instruction words are both executed symbolically. A value is a term
//! over stream words, FIFO results and constants; equal terms have equal numbers. Registers hold terms, a
//! partial or conditional write makes a term of the old and the new content. Both executions must hand the same
//! terms to the same peripherals in the same order. Nothing of the allocator's or scheduler's own
//! bookkeeping is used; that distances between instructions suffice is `vc4::qpu::rules`' business.

use rustc_hash::FxHashMap;
use vc4::qpu::rules::SIGNAL_SLOTS;
use vc4::qpu::{
    Access, AddOp, AluInst, BranchCond, Cond, Inst, LoadImmInst, MulOp, Mux, Pack, Raddr, RaddrB, RegFile,
    Signal, Unpack, Waddr,
};

use super::virt::{Dst, Loc, Operand, Operation, Src, Unit, VirtProgram};
use crate::program::{Program, SampleBo, UniformSlot};

/// Number of a term.
type Term = u32;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Node {
    /// What stands in a place that nobody wrote.
    Undefined(Place),
    Const(u32),
    Uniform(UniformSlot),
    Add(AddOp, Term, Term),
    Mul(MulOp, Term, Term),
    /// N, Z and C of an operation; `None`: the flags at the start.
    AddFlags(AddOp, Term, Term),
    MulFlags(MulOp, Term, Term),
    ImmFlags(u32),
    Unpack(Unpack, bool, Term),
    /// Pack code, whether the mul unit packs, whether the result counts as a float, the result.
    Pack(Pack, bool, bool, Term),
    /// A word of four bytes of their own, and a byte of a word.
    Bytes([Term; 4]),
    Byte(u8, Term),
    /// Condition, flags, new and old content.
    Conditional(Cond, Term, Term, Term),
    Rotate(u8, Term),
    /// A result of the SFU register with this address.
    Sfu(u8, Term),
    /// The n-th result of a TMU, tile colour, varying, its C, or VPM row.
    Tmu(u8, u32),
    Color(u32),
    Varying(u32),
    VaryingC(u32),
    VpmRow(u32),
    /// The sample mask behind so many tile accesses.
    Coverage(usize),
    /// A peripheral that always reads the same.
    Fixed(u8, RegFile),
    /// r5 after a write through file A or B.
    R5(RegFile, Term),
}

/// A place that holds a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    Virtual(super::virt::Reg),
    Physical(Loc),
    R5,
    Flags,
}

/// Something the outside sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Event {
    waddr: u8,
    file: Option<RegFile>,
    value: Term,
    cond: Cond,
    /// Flags, when conditional.
    flags: Option<Term>,
    parameter: Option<UniformSlot>,
}

/// Peripherals that keep an order of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Channel {
    Tmu(u8),
    Tile,
    VpmRead,
    VpmWrite,
    Branch,
    Other,
}

/// A symbolic execution.
#[derive(Default)]
struct Machine {
    places: FxHashMap<Place, Term>,
    events: FxHashMap<Channel, Vec<Event>>,
    tmu_results: [u32; 2],
    colors: u32,
    varyings: u32,
    rows: u32,
}

#[derive(Default)]
struct Terms {
    numbers: FxHashMap<Node, Term>,
    nodes: Vec<Node>,
}

impl Terms {
    fn number(&mut self, node: Node) -> Term {
        let next = self.nodes.len() as Term;
        let number = *self.numbers.entry(node).or_insert(next);
        if number == next {
            self.nodes.push(node);
        }
        number
    }

    /// `old` with the bytes replaced that a pack writes. Bytewise, so that a word whose parts were all
    /// written does not depend on what stood there before.
    fn packed(&mut self, write: &Write, old: Term) -> Term {
        let part = self.number(Node::Pack(write.pack, write.mul_pack, write.float, write.value));
        let written: &[usize] = match write.pack {
            Pack::Half0 | Pack::Half0Sat => &[0, 1],
            Pack::Half1 | Pack::Half1Sat => &[2, 3],
            Pack::Byte0 | Pack::Byte0Sat => &[0],
            Pack::Byte1 | Pack::Byte1Sat => &[1],
            Pack::Byte2 | Pack::Byte2Sat => &[2],
            Pack::Byte3 | Pack::Byte3Sat => &[3],
            Pack::Nop => return write.value,
            Pack::Rep8 | Pack::Sat | Pack::Rep8Sat => return part,
        };
        let mut bytes = match self.nodes[old as usize] {
            Node::Bytes(bytes) => bytes,
            _ => [0, 1, 2, 3].map(|byte| self.number(Node::Byte(byte, old))),
        };
        written.iter().for_each(|&byte| bytes[byte] = part);
        self.number(Node::Bytes(bytes))
    }
}

/// The uniform stream with its position.
struct Stream<'a> {
    words: &'a [UniformSlot],
    next: usize,
    /// Words that were read at all.
    end: usize,
}

impl Stream<'_> {
    fn pop(&mut self) -> Result<UniformSlot, String> {
        let slot = *self.words.get(self.next).ok_or("the uniform stream ended")?;
        self.next += 1;
        self.end = self.end.max(self.next);
        Ok(slot)
    }
}

/// Compares a selected program with the code made of it. Both run each loop twice, because what an iteration
/// destroys is missed by the next.
///
/// # Errors
/// The first difference in what the outside sees.
pub fn check(selected: &VirtProgram, program: &Program) -> Result<(), String> {
    let mut terms = Terms::default();
    let mut wanted = Machine::default();
    wanted.run_selected(&mut terms, selected);
    let mut done = Machine::default();
    let mut stream = Stream { words: &program.uniforms, next: 0, end: 0 };
    done.run_code(&mut terms, program, &mut stream)?;
    if stream.end != program.uniforms.len() {
        return Err("words are left in the uniform stream".into());
    }
    compare(&wanted, &done)?;
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
    let wanted: Vec<SampleBo> = selected.ops.iter().filter_map(|op| op.sample).collect();
    let of_kind = |samples: &[SampleBo], ubo: bool| -> Vec<SampleBo> {
        samples.iter().copied().filter(|sample| matches!(sample, SampleBo::Ubo(_)) == ubo).collect()
    };
    for ubo in [false, true] {
        if of_kind(&wanted, ubo) != of_kind(&program.samples, ubo) {
            return Err("the request list differs from the requests".into());
        }
    }
    Ok(())
}

/// A result on its way to a destination.
struct Write {
    value: Term,
    float: bool,
    pack: Pack,
    mul_pack: bool,
    cond: Cond,
    parameter: Option<UniformSlot>,
}

impl Machine {
    fn get(&mut self, terms: &mut Terms, place: Place) -> Term {
        *self.places.entry(place).or_insert_with(|| terms.number(Node::Undefined(place)))
    }

    fn store(&mut self, terms: &mut Terms, place: Place, flags: Term, write: &Write) {
        let old = self.get(terms, place);
        let mut value = terms.packed(write, old);
        if write.cond != Cond::Always {
            value = terms.number(Node::Conditional(write.cond, flags, value, old));
        }
        self.places.insert(place, value);
    }

    fn port(&mut self, terms: &mut Terms, waddr: Waddr, file: Option<RegFile>, flags: Term, write: &Write) {
        let nothing = terms.number(Node::Const(0));
        let value = terms.packed(write, nothing);
        if waddr.is_sfu() {
            let result = terms.number(Node::Sfu(waddr.code(), value));
            self.places.insert(Place::Physical(Loc::R4), result);
            return;
        }
        if waddr == Waddr::UNIF_ADDR {
            return;
        }
        if waddr == Waddr::R5 {
            let result = terms.number(Node::R5(file.unwrap_or(RegFile::A), value));
            self.places.insert(Place::R5, result);
            return;
        }
        // Of these the file decides what is written.
        let distinct = matches!(waddr, Waddr::VPM_SETUP | Waddr::MS_REV_FLAGS | Waddr::UNIF_ADDR);
        let event = Event {
            waddr: waddr.code(),
            file: file.filter(|_| distinct),
            value,
            cond: write.cond,
            flags: (write.cond != Cond::Always).then_some(flags),
            parameter: write.parameter,
        };
        self.events.entry(channel(waddr, file)).or_default().push(event);
    }

    fn signal(&mut self, terms: &mut Terms, signal: Signal) {
        let node = match signal {
            Signal::LoadTmu0 | Signal::LoadTmu1 => {
                let tmu = usize::from(signal == Signal::LoadTmu1);
                self.tmu_results[tmu] += 1;
                Node::Tmu(tmu as u8, self.tmu_results[tmu])
            }
            Signal::ColorLoad => {
                self.colors += 1;
                // A read has its place among the writes.
                let nothing = terms.number(Node::Const(0));
                let event = Event {
                    waddr: 0,
                    file: None,
                    value: nothing,
                    cond: Cond::Always,
                    flags: None,
                    parameter: None,
                };
                self.events.entry(Channel::Tile).or_default().push(event);
                Node::Color(self.colors)
            }
            _ => return,
        };
        let result = terms.number(node);
        self.places.insert(Place::Physical(Loc::R4), result);
    }

    fn read_port(&mut self, terms: &mut Terms, raddr: Raddr, file: RegFile) -> Term {
        match raddr {
            Raddr::VARYING => {
                self.varyings += 1;
                let c = terms.number(Node::VaryingC(self.varyings));
                self.places.insert(Place::R5, c);
                terms.number(Node::Varying(self.varyings))
            }
            Raddr::VPM => {
                self.rows += 1;
                let nothing = terms.number(Node::Const(0));
                let event = Event {
                    waddr: 0,
                    file: None,
                    value: nothing,
                    cond: Cond::Always,
                    flags: None,
                    parameter: None,
                };
                self.events.entry(Channel::VpmRead).or_default().push(event);
                terms.number(Node::VpmRow(self.rows))
            }
            Raddr::MS_REV_FLAGS if file == RegFile::A => {
                let accesses = self.events.get(&Channel::Tile).map_or(0, Vec::len);
                terms.number(Node::Coverage(accesses))
            }
            _ => terms.number(Node::Fixed(raddr.code(), file)),
        }
    }

    fn run_selected(&mut self, terms: &mut Terms, program: &VirtProgram) {
        // Start and number of the iteration of each open loop.
        let mut open: Vec<(usize, u32)> = Vec::new();
        let mut index = 0;
        while let Some(op) = program.ops.get(index) {
            index += 1;
            match op.unit {
                Unit::LoopStart => open.push((index, 1)),
                Unit::LoopEnd(cond) => {
                    let (start, iteration) = open.pop().expect("loops nest");
                    self.branch(terms, cond);
                    if iteration == 1 {
                        open.push((start, 2));
                        index = start;
                    }
                }
                _ => self.operation(terms, program, op),
            }
        }
    }

    fn run_code(&mut self, terms: &mut Terms, program: &Program, stream: &mut Stream) -> Result<(), String> {
        // Branches that were taken once, and what to do behind the delay slots of the last one.
        let mut taken: Vec<usize> = Vec::new();
        let mut jump: Option<(usize, usize)> = None;
        // Where a thread switch takes effect: behind its delay slots.
        let mut switch: Option<usize> = None;
        let mut index = 0;
        while let Some(&word) = program.code.get(index) {
            if switch == Some(index) {
                self.switch_threads();
            }
            let inst = Inst::decode(word).map_err(|error| format!("instruction {index}: {error}"))?;
            if let Inst::Branch(branch) = inst {
                self.branch(terms, branch.cond);
                let target = index as i64 + 4 + i64::from(branch.offset) / 8;
                if taken.last() == Some(&index) {
                    taken.pop();
                } else {
                    taken.push(index);
                    let target = usize::try_from(target).map_err(|_| "a branch leaves the program")?;
                    jump = Some((index + 3, target));
                }
            } else {
                self.instruction(terms, &inst, stream)
                    .map_err(|error| format!("instruction {index}: {error}"))?;
            }
            if Access::of(&inst).is_switch() {
                switch = Some(index + 1 + SIGNAL_SLOTS);
            }
            index = match jump {
                Some((last, target)) if last == index => {
                    jump = None;
                    target
                }
                _ => index + 1,
            };
        }
        Ok(())
    }

    /// The other thread leaves nothing in the accumulators and flags (qpu.md §1.4).
    fn switch_threads(&mut self) {
        let accumulators = (0..4).map(Loc::Acc).chain([Loc::R4]).map(Place::Physical);
        for place in accumulators.chain([Place::R5, Place::Flags]) {
            self.places.remove(&place);
        }
    }

    /// A branch looks at the flags.
    fn branch(&mut self, terms: &mut Terms, cond: BranchCond) {
        let flags = self.get(terms, Place::Flags);
        let event = Event {
            waddr: cond.code(),
            file: None,
            value: flags,
            cond: Cond::Always,
            flags: None,
            parameter: None,
        };
        self.events.entry(Channel::Branch).or_default().push(event);
    }

    /// Executes a selected operation.
    fn operation(&mut self, terms: &mut Terms, program: &VirtProgram, op: &Operation) {
        let flags = self.get(terms, Place::Flags);
        let float = op.reads_float();
        // r5 as it was: a varying read shows its C only to the next instruction.
        let mut values = Vec::new();
        let mut read: Option<(Src, Term)> = None;
        for operand in op.src.iter() {
            let value = match read {
                Some((src, value)) if src == operand.src => value,
                _ => self.source(terms, program, operand),
            };
            read = Some((operand.src, value));
            values.push(unpacked(terms, operand.unpack, float, value));
        }
        let (a, b) = (values.first().copied().unwrap_or(0), values.get(1).copied());
        let result = match op.unit {
            Unit::Signal => {
                self.signal(terms, op.signal);
                return;
            }
            // The stream is read by name here; where its words stand is the finished code's business.
            Unit::StreamOffset | Unit::LoopStart | Unit::LoopEnd(_) => return,
            Unit::LoadImm(word) => {
                Computed { value: terms.number(Node::Const(word)), flags: Node::ImmFlags(word), float: false }
            }
            Unit::Move => Computed { value: a, flags: Node::AddFlags(AddOp::Or, a, a), float: false },
            Unit::Add(add) => add_result(terms, add, a, b.unwrap_or(a)),
            Unit::Mul(mul) => mul_result(terms, mul, a, b.unwrap_or(a), op.rotate),
        };
        let write = Write {
            value: result.value,
            float: result.float,
            pack: op.pack,
            mul_pack: op.mul_pack,
            cond: op.cond,
            parameter: op.parameter,
        };
        match op.dst {
            Dst::None => {}
            Dst::Reg(reg) => self.store(terms, virtual_place(program, reg), flags, &write),
            Dst::Port(waddr, file) => self.port(terms, waddr, file, flags, &write),
        }
        if op.sets_flags {
            self.set_flags(terms, result.flags, op.cond, flags);
        }
    }

    fn set_flags(&mut self, terms: &mut Terms, node: Node, cond: Cond, old: Term) {
        let mut value = terms.number(node);
        if cond != Cond::Always {
            value = terms.number(Node::Conditional(cond, old, value, old));
        }
        self.places.insert(Place::Flags, value);
    }

    fn source(&mut self, terms: &mut Terms, program: &VirtProgram, operand: &Operand) -> Term {
        match operand.src {
            Src::Reg(reg) => self.get(terms, virtual_place(program, reg)),
            Src::R4 => self.get(terms, Place::Physical(Loc::R4)),
            Src::R5 => self.get(terms, Place::R5),
            Src::Imm(imm) => terms.number(Node::Const(imm.value())),
            Src::Uniform(slot) => uniform(terms, slot),
            Src::Port(raddr, file) => self.read_port(terms, raddr, file.unwrap_or(RegFile::A)),
        }
    }

    /// Executes a finished instruction.
    fn instruction(&mut self, terms: &mut Terms, inst: &Inst, stream: &mut Stream) -> Result<(), String> {
        match inst {
            Inst::Alu(alu) => self.alu(terms, alu, stream),
            Inst::LoadImm(load) => {
                self.load_imm(terms, load);
                Ok(())
            }
            Inst::Semaphore(_) | Inst::Branch(_) => Err("no semaphores are generated".into()),
        }
    }

    fn load_imm(&mut self, terms: &mut Terms, load: &LoadImmInst) {
        let flags = self.get(terms, Place::Flags);
        let value = terms.number(Node::Const(load.imm));
        let write =
            |cond| Write { value, float: false, pack: load.pack, mul_pack: load.pm, cond, parameter: None };
        let [file_add, file_mul] = files(load.ws);
        self.destination(terms, load.waddr_add, file_add, flags, &write(load.cond_add));
        self.destination(terms, load.waddr_mul, file_mul, flags, &write(load.cond_mul));
        if load.sf {
            self.set_flags(terms, Node::ImmFlags(load.imm), load.cond_add, flags);
        }
    }

    fn destination(&mut self, terms: &mut Terms, waddr: Waddr, file: RegFile, flags: Term, write: &Write) {
        if write.cond == Cond::Never || waddr == Waddr::NOP {
            return;
        }
        let code = waddr.code();
        match code {
            0..=31 if file == RegFile::A => self.store(terms, Place::Physical(Loc::A(code)), flags, write),
            0..=31 => self.store(terms, Place::Physical(Loc::B(code)), flags, write),
            32..=35 => self.store(terms, Place::Physical(Loc::Acc(code - 32)), flags, write),
            _ => self.port(terms, waddr, Some(file), flags, write),
        }
    }

    fn alu(&mut self, terms: &mut Terms, alu: &AluInst, stream: &mut Stream) -> Result<(), String> {
        let flags = self.get(terms, Place::Flags);
        let accumulators = [0, 1, 2, 3].map(|n| self.get(terms, Place::Physical(Loc::Acc(n))));
        let (r4, r5) = (self.get(terms, Place::Physical(Loc::R4)), self.get(terms, Place::R5));
        let ports = self.read_ports(terms, alu, stream)?;
        let rotate = match alu.raddr_b {
            RaddrB::Imm(imm) => imm.rotation().flatten().unwrap_or(0),
            RaddrB::Reg(_) => 0,
        };
        let operand = |terms: &mut Terms, mux: Mux, float: bool| match mux {
            Mux::R0 | Mux::R1 | Mux::R2 | Mux::R3 => accumulators[usize::from(mux.code())],
            // r4 unpacks to floats, whoever reads it (qpu.md §2.11).
            Mux::R4 if alu.pm => unpacked(terms, alu.unpack, true, r4),
            Mux::R4 => r4,
            Mux::R5 => r5,
            Mux::A if !alu.pm => unpacked(terms, alu.unpack, float, ports[0]),
            Mux::A => ports[0],
            Mux::B => ports[1],
        };
        let [file_add, file_mul] = files(alu.ws);
        let mut results: Vec<(Computed, Waddr, RegFile, Cond, bool)> = Vec::new();
        if alu.op_add != AddOp::Nop {
            let float = alu.op_add.reads_float();
            let (a, b) = (operand(terms, alu.add_a, float), operand(terms, alu.add_b, float));
            let result = add_result(terms, alu.op_add, a, b);
            results.push((result, alu.waddr_add, file_add, alu.cond_add, false));
        }
        if alu.op_mul != MulOp::Nop {
            let float = alu.op_mul.reads_float();
            let (a, b) = (operand(terms, alu.mul_a, float), operand(terms, alu.mul_b, float));
            let result = mul_result(terms, alu.op_mul, a, b, rotate);
            results.push((result, alu.waddr_mul, file_mul, alu.cond_mul, true));
        }
        if alu.sf {
            let (result, _, _, cond, _) = results.first().ok_or("flags of nothing")?;
            self.set_flags(terms, result.flags, *cond, flags);
        }
        if alu.waddr_add == Waddr::UNIF_ADDR && alu.cond_add == Cond::Always {
            let (result, ..) = results.first().ok_or("a uniform reset without value")?;
            stream.next = reset_position(terms, result.value)?;
        }
        let parameter = self.parameter(alu, stream)?;
        for (result, waddr, file, cond, mul) in results {
            let packs = if alu.pm { mul } else { file == RegFile::A && waddr.is_reg() };
            let pack = if packs { alu.pack } else { Pack::Nop };
            let parameter = if waddr.is_tmu() { parameter } else { None };
            let write =
                Write { value: result.value, float: result.float, pack, mul_pack: alu.pm, cond, parameter };
            self.destination(terms, waddr, file, flags, &write);
        }
        self.signal(terms, alu.sig);
        Ok(())
    }

    /// The values of ports A and B; a uniform is one word, whoever reads it.
    fn read_ports(
        &mut self,
        terms: &mut Terms,
        alu: &AluInst,
        stream: &mut Stream,
    ) -> Result<[Term; 2], String> {
        let nothing = terms.number(Node::Undefined(Place::R5));
        let mut values = [nothing; 2];
        let raddr_b = match alu.raddr_b {
            RaddrB::Reg(raddr) => raddr,
            RaddrB::Imm(imm) => {
                values[1] = terms.number(Node::Const(imm.value()));
                Raddr::NOP
            }
        };
        if alu.raddr_a == Raddr::UNIFORM || raddr_b == Raddr::UNIFORM {
            let slot = stream.pop()?;
            let value = uniform(terms, slot);
            for (port, raddr) in [alu.raddr_a, raddr_b].into_iter().enumerate() {
                if raddr == Raddr::UNIFORM {
                    values[port] = value;
                }
            }
        }
        for (port, (raddr, file)) in
            [(alu.raddr_a, RegFile::A), (raddr_b, RegFile::B)].into_iter().enumerate()
        {
            if raddr == Raddr::NOP || raddr == Raddr::UNIFORM {
                continue;
            }
            let n = raddr.code();
            values[port] = match file {
                RegFile::A if raddr.is_reg() => self.get(terms, Place::Physical(Loc::A(n))),
                RegFile::B if raddr.is_reg() => self.get(terms, Place::Physical(Loc::B(n))),
                _ => self.read_port(terms, raddr, file),
            };
        }
        Ok(values)
    }

    /// The stream word of a TMU parameter: each pops one, except the S of a direct lookup.
    fn parameter(&mut self, alu: &AluInst, stream: &mut Stream) -> Result<Option<UniformSlot>, String> {
        let halves = [(alu.op_add != AddOp::Nop, alu.waddr_add), (alu.op_mul != MulOp::Nop, alu.waddr_mul)];
        let Some(waddr) = halves.into_iter().find(|(busy, waddr)| *busy && waddr.is_tmu()).map(|half| half.1)
        else {
            return Ok(None);
        };
        let tmu = waddr.tmu().expect("it is a TMU register");
        let pending = self.events.get(&Channel::Tmu(tmu)).and_then(|events| events.last());
        let first = pending.is_none_or(|event| is_s(event.waddr));
        if is_s(waddr.code()) && first {
            return Ok(None);
        }
        stream.pop().map(Some)
    }
}

/// The stream position that a reset asks for: a constant offset added to the stream's address.
fn reset_position(terms: &Terms, value: Term) -> Result<usize, String> {
    if let Node::Add(AddOp::Add, offset, base) = terms.nodes[value as usize] {
        let base = terms.nodes[base as usize];
        if let (Node::Const(offset), Node::Uniform(UniformSlot::StreamAddress)) =
            (terms.nodes[offset as usize], base)
        {
            return Ok(offset as usize / 4);
        }
    }
    Err("a uniform reset of another form".into())
}

const fn is_s(waddr: u8) -> bool {
    waddr % 4 == 0
}

fn files(ws: bool) -> [RegFile; 2] {
    if ws { [RegFile::B, RegFile::A] } else { [RegFile::A, RegFile::B] }
}

fn channel(waddr: Waddr, file: Option<RegFile>) -> Channel {
    if let Some(tmu) = waddr.tmu() {
        Channel::Tmu(tmu)
    } else if waddr.is_tlb() || waddr == Waddr::MS_REV_FLAGS {
        Channel::Tile
    } else if waddr == Waddr::VPM || (waddr == Waddr::VPM_SETUP && file == Some(RegFile::B)) {
        Channel::VpmWrite
    } else if waddr == Waddr::VPM_SETUP {
        Channel::VpmRead
    } else {
        Channel::Other
    }
}

/// The payload stands in its registers before the program starts.
fn virtual_place(program: &VirtProgram, reg: super::virt::Reg) -> Place {
    match program.regs[reg].fixed {
        Some(loc) => Place::Physical(loc),
        None => Place::Virtual(reg),
    }
}

fn uniform(terms: &mut Terms, slot: UniformSlot) -> Term {
    terms.number(match slot {
        UniformSlot::Const(word) => Node::Const(word),
        slot => Node::Uniform(slot),
    })
}

fn unpacked(terms: &mut Terms, unpack: Unpack, float: bool, value: Term) -> Term {
    // A byte copied to all four is no number either way.
    let float = float && unpack != Unpack::Rep8d;
    if unpack == Unpack::Nop { value } else { terms.number(Node::Unpack(unpack, float, value)) }
}

struct Computed {
    value: Term,
    flags: Node,
    float: bool,
}

fn add_result(terms: &mut Terms, op: AddOp, a: Term, b: Term) -> Computed {
    let b = if op.operands() == 1 { a } else { b };
    // The larger of a float and itself is a copy, which unpacks on the way (qpu.md §2.3).
    if op == AddOp::Fmax && a == b {
        return Computed { value: a, flags: Node::AddFlags(op, a, b), float: true };
    }
    let value = match op {
        AddOp::Or if a == b => a,
        AddOp::V8adds => terms.number(Node::Mul(MulOp::V8adds, a, b)),
        AddOp::V8subs => terms.number(Node::Mul(MulOp::V8subs, a, b)),
        _ => terms.number(Node::Add(op, a, b)),
    };
    Computed { value, flags: Node::AddFlags(op, a, b), float: op.writes_float() }
}

fn mul_result(terms: &mut Terms, op: MulOp, a: Term, b: Term, rotate: u8) -> Computed {
    let mut value = match op {
        MulOp::V8min if a == b => a,
        _ => terms.number(Node::Mul(op, a, b)),
    };
    if rotate != 0 {
        value = terms.number(Node::Rotate(rotate, value));
    }
    // A move's flags are those of its value on either unit.
    let flags =
        if op == MulOp::V8min && a == b { Node::AddFlags(AddOp::Or, a, a) } else { Node::MulFlags(op, a, b) };
    Computed { value, flags, float: op == MulOp::Fmul }
}
