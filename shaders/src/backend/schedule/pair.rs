//! One instruction out of one or two operations and a signal, if the word's fields allow it
//! (qpu.md §2.1, §2.11, §5.1 rules 16–20).

use smallvec::SmallVec;
use vc4::qpu::{
    AddOp, AluInst, Inst, LoadImmInst, MulOp, Mux, Pack, Raddr, RaddrB, RegFile, Signal, SmallImm, Unpack,
    Waddr,
};

use crate::backend::bits::bits;
use crate::backend::regalloc::Assignment;
use crate::backend::virt::{Dst, Loc, Operand, Operation, Reg, Src, StreamWord, Unit};

/// What an operation takes of an instruction that has it once.
#[derive(Clone, Copy)]
pub struct Claims {
    /// A bit per thing that an instruction does once.
    once: u16,
    /// Operations of the add or mul unit.
    alu: u8,
    port_a: Option<Raddr>,
    port_b: Option<RaddrB>,
    /// The word of the stream.
    word: Option<StreamWord>,
    /// It is a parameter of a lookup, which nobody shares.
    parameter: bool,
}

impl Claims {
    /// A unit that shares r4 or a queue with others (qpu.md §5.1 rule 16).
    const SHARED: u16 = 1;
    const VPM_READ: u16 = 1 << 1;
    const VPM_WRITE: u16 = 1 << 2;
    /// What a set-up takes: it stands alone, where a read and a write may share an instruction, as Mesa has them do on boards
    /// (qpu.md §4.9).
    const VPM: u16 = Claims::VPM_READ | Claims::VPM_WRITE;
    const VARYING: u16 = 1 << 3;
    const FLAGS: u16 = 1 << 4;
    const SIGNAL: u16 = 1 << 5;
    const ADD: u16 = 1 << 6;
    const MUL: u16 = 1 << 7;
    /// Things that an instruction does once.
    const KINDS: u16 = 8;

    /// What each of some operations takes.
    ///
    /// # Panics
    /// If operands of one are in each other's way: allocation puts copies between them.
    pub fn of_all(ops: &[Operation], assignment: &Assignment) -> Vec<Claims> {
        let of = |op: &Operation| {
            Claims::of(op, op.uniform(), assignment).unwrap_or_else(|| no_encoding(op, assignment))
        };
        ops.iter().map(of).collect()
    }

    /// What an operation takes; `None` if its own operands are in each other's way.
    fn of(op: &Operation, word: Option<StreamWord>, assignment: &Assignment) -> Option<Claims> {
        let parameter = op.parameter.is_some();
        let mut claims = Claims { once: 0, alu: 1, port_a: None, port_b: None, word, parameter };
        match op.unit {
            Unit::LoadImm(_) | Unit::StreamOffset => {
                (claims.once, claims.alu) = ((1 << Claims::KINDS) - 1, 2)
            }
            Unit::Signal => claims.alu = 0,
            _ if mul_unit(op).is_none() => claims.once = Claims::ADD,
            _ if add_unit(op).is_none() => claims.once = Claims::MUL,
            _ => {}
        }
        let mut take = |bit: u16, taken: bool| claims.once |= if taken { bit } else { 0 };
        take(Claims::SHARED, op.r4_latency().is_some());
        take(Claims::FLAGS, op.sets_flags);
        take(Claims::SIGNAL, op.signal != Signal::None);
        if let Some(waddr) = op.port() {
            take(Claims::SHARED, waddr.is_tmu() || waddr.is_tlb() || waddr.is_sfu());
            take(Claims::VPM_WRITE, waddr == Waddr::VPM);
            take(Claims::VPM, waddr == Waddr::VPM_SETUP);
            // The kernel wants the address of the stream set without a signal (SHD-20).
            take(Claims::SIGNAL, waddr == Waddr::UNIF_ADDR);
        }
        for operand in op.src.iter() {
            if let Src::Port(raddr, _) = operand.src {
                take(Claims::VPM_READ, raddr == Raddr::VPM);
                take(Claims::VARYING, raddr == Raddr::VARYING);
            }
        }
        if op.rotate != 0 {
            claims.claim_b(RaddrB::Imm(SmallImm::rotate(op.rotate)))?;
        }
        for operand in op.src.iter() {
            match operand.src {
                Src::Reg(reg) => match assignment[reg]? {
                    Loc::A(n) => claims.claim_a(Raddr::reg(n))?,
                    Loc::B(n) => claims.claim_b(RaddrB::Reg(Raddr::reg(n)))?,
                    Loc::Acc(_) | Loc::R4 => {}
                },
                Src::Imm(imm) => claims.claim_b(RaddrB::Imm(imm))?,
                Src::Port(raddr, Some(RegFile::A)) => claims.claim_a(raddr)?,
                Src::Port(raddr, Some(RegFile::B)) => claims.claim_b(RaddrB::Reg(raddr))?,
                Src::R4 | Src::R5 | Src::Uniform(_) | Src::Port(_, None) => {}
            }
        }
        Some(claims)
    }

    /// What an operation takes, in the form in which it reads past a copy that shares its instruction; `self` is what it takes
    /// otherwise. `None` if what is copied can be read once and the operation has its own of the kind.
    pub fn past(&self, copy: &Claims, form: &Operation, assignment: &Assignment) -> Option<Claims> {
        if self.once & Claims::VPM != 0
            || self.word.is_some_and(|word| copy.word.is_some_and(|other| other != word))
        {
            return None;
        }
        let mut claims = Claims::of(form, self.word.or(copy.word), assignment)?;
        claims.once &= !Claims::VPM;
        Some(claims)
    }

    fn claim_a(&mut self, raddr: Raddr) -> Option<()> {
        (*self.port_a.get_or_insert(raddr) == raddr).then_some(())
    }

    fn claim_b(&mut self, raddr: RaddrB) -> Option<()> {
        (*self.port_b.get_or_insert(raddr) == raddr).then_some(())
    }

    /// What both take together; `None` if they cannot share an instruction.
    pub fn with(&self, other: &Claims) -> Option<Claims> {
        if self.once & other.once != 0 || self.alu + other.alu > 2 {
            return None;
        }
        let words = self.word.zip(other.word);
        if words.is_some_and(|(mine, theirs)| mine != theirs || self.parameter || other.parameter) {
            return None;
        }
        let mut both = *self;
        both.once |= other.once;
        both.alu += other.alu;
        both.word = self.word.or(other.word);
        both.parameter |= other.parameter;
        if let Some(raddr) = other.port_a {
            both.claim_a(raddr)?;
        }
        if let Some(raddr) = other.port_b {
            both.claim_b(raddr)?;
        }
        Some(both)
    }
}

/// How often each thing is wanted that an instruction does once, or twice: what operations need at least.
#[derive(Clone, Copy, Default)]
pub struct Demand {
    once: [u32; Claims::KINDS as usize],
    alu: u32,
}

impl Demand {
    /// Of operations that take these.
    pub fn of(all: &[Claims]) -> Demand {
        let mut demand = Demand::default();
        for claims in all {
            demand.alu += u32::from(claims.alu);
            demand.count(claims, |count| *count += 1);
        }
        demand
    }

    /// Without an operation that takes these.
    pub fn remove(&mut self, claims: &Claims) {
        self.alu -= u32::from(claims.alu);
        self.count(claims, |count| *count -= 1);
    }

    fn count(&mut self, claims: &Claims, change: impl Fn(&mut u32)) {
        bits(claims.once.into()).for_each(|kind| change(&mut self.once[usize::from(kind)]));
    }

    /// Instructions without which there is no room.
    pub fn instructions(&self) -> usize {
        self.once.into_iter().fold(self.alu.div_ceil(2), u32::max) as usize
    }
}

/// What selection and allocation rule out: an operation that no instruction performs.
pub fn no_encoding(op: &Operation, assignment: &Assignment) -> ! {
    let places: Vec<(Reg, Option<Loc>)> =
        op.reads().chain(op.writes()).map(|reg| (reg, assignment[reg])).collect();
    panic!("selection and allocation leave every operation with an encoding, but not {op:?} with {places:?}")
}

/// What selects the accumulators.
pub const ACCUMULATORS: [Mux; Loc::ACCUMULATORS as usize] = [Mux::R0, Mux::R1, Mux::R2, Mux::R3];

/// The instruction that performs all of `ops`, which take `claims` together; `None` if there is none.
pub fn combine(ops: &[&Operation], claims: &Claims, assignment: &Assignment) -> Option<Inst> {
    if let [op] = ops {
        match op.unit {
            Unit::LoadImm(imm) => return load_imm(op, imm, assignment),
            // The offset is known when the code in front of it is.
            Unit::StreamOffset => return load_imm(op, 0, assignment),
            _ => {}
        }
    }
    let mut alu = ops.iter().copied().filter(|op| op.unit != Unit::Signal);
    let (one, other) = (alu.next(), alu.next());
    if alu.next().is_some() {
        return None;
    }
    [[one, other], [other, one]].into_iter().take(if one.is_none() { 1 } else { 2 }).find_map(|halves| {
        let [add, mul] = halves;
        if add.is_some_and(|op| add_unit(op).is_none()) || mul.is_some_and(|op| mul_unit(op).is_none()) {
            return None;
        }
        let ways = [false, true].into_iter().filter(|&ws| may_write(halves, ws, assignment));
        ways.map(|ws| Encoder::new(assignment, claims, ws)).find_map(|encoder| encoder.encode(ops, halves))
    })
}

/// The add unit's way to do an operation.
fn add_unit(op: &Operation) -> Option<AddOp> {
    match op.unit {
        Unit::Add(add) => Some(add),
        Unit::Mul(MulOp::V8adds) if op.rotate == 0 && !op.mul_pack => Some(AddOp::V8adds),
        Unit::Mul(MulOp::V8subs) if op.rotate == 0 && !op.mul_pack => Some(AddOp::V8subs),
        Unit::Move => Some(AddOp::Or),
        _ => None,
    }
}

/// The mul unit's way to do an operation.
fn mul_unit(op: &Operation) -> Option<MulOp> {
    match op.unit {
        Unit::Mul(mul) => Some(mul),
        Unit::Add(AddOp::V8adds) if !op.sets_flags => Some(MulOp::V8adds),
        Unit::Add(AddOp::V8subs) if !op.sets_flags => Some(MulOp::V8subs),
        Unit::Move => Some(MulOp::V8min),
        _ => None,
    }
}

fn load_imm(op: &Operation, imm: u32, assignment: &Assignment) -> Option<Inst> {
    let (waddr, file) = destination(op, assignment)?;
    let load = LoadImmInst::word(waddr, file, imm);
    Some(Inst::LoadImm(LoadImmInst { cond_add: op.cond, sf: op.sets_flags, ..load }))
}

/// The write address, and the file if only one will do.
fn destination(op: &Operation, assignment: &Assignment) -> Option<(Waddr, Option<RegFile>)> {
    Some(match op.dst {
        Dst::None => (Waddr::NOP, None),
        Dst::Port(waddr, file) => (waddr, file),
        Dst::Reg(reg) => assignment[reg]?.written_by()?,
    })
}

/// The file that the add or the mul unit writes.
const fn written_file(is_mul: bool, ws: bool) -> RegFile {
    if is_mul == ws { RegFile::A } else { RegFile::B }
}

/// Whether both units write the files that they have to.
fn may_write(halves: [Option<&Operation>; 2], ws: bool, assignment: &Assignment) -> bool {
    [false, true].into_iter().zip(halves).all(|(is_mul, half)| {
        let file = half.and_then(|op| destination(op, assignment)).and_then(|(_, file)| file);
        file.is_none_or(|file| file == written_file(is_mul, ws))
    })
}

struct Encoder<'a> {
    assignment: &'a Assignment,
    inst: AluInst,
    port_a: Option<Raddr>,
    port_b: Option<RaddrB>,
    /// Unpack that every reader of port A, or of r4, must want.
    unpack_a: Option<(Unpack, bool)>,
    unpack_r4: Option<Unpack>,
    written: SmallVec<[Waddr; 2]>,
}

impl<'a> Encoder<'a> {
    fn new(assignment: &'a Assignment, claims: &Claims, ws: bool) -> Self {
        Encoder {
            assignment,
            inst: AluInst { ws, ..AluInst::NOP },
            // Operands that have a choice see what is left.
            port_a: claims.port_a,
            port_b: claims.port_b,
            unpack_a: None,
            unpack_r4: None,
            written: SmallVec::new(),
        }
    }

    fn encode(mut self, ops: &[&Operation], halves: [Option<&Operation>; 2]) -> Option<Inst> {
        let [add, mul] = halves;
        self.inst.sig =
            ops.iter().map(|op| op.signal).find(|&sig| sig != Signal::None).unwrap_or(Signal::None);
        if let Some(op) = add {
            self.add_half(op)?;
        }
        if let Some(op) = mul {
            self.mul_half(op, add.is_some())?;
        }
        self.unpacks()?;
        self.inst.raddr_a = self.port_a.unwrap_or(Raddr::NOP);
        self.inst.raddr_b = self.port_b.unwrap_or(RaddrB::Reg(Raddr::NOP));
        let immediate = matches!(self.inst.raddr_b, RaddrB::Imm(_));
        // The kernel knows a clamp or a lookup only without a small immediate of whatever use (SHD-19).
        let pattern = |op: &&Operation| op.ordered && op.uniform().is_some();
        let allowed = self.inst.sig == Signal::None && !ops.iter().any(pattern);
        (!immediate || allowed).then_some(Inst::Alu(self.inst))
    }

    /// The selector of an address that both files offer.
    fn either(&mut self, raddr: Raddr) -> Option<Mux> {
        // One instruction reads such an address once, through whichever port has it already.
        if self.port_a == Some(raddr) {
            return Some(Mux::A);
        }
        if self.port_b == Some(RaddrB::Reg(raddr)) {
            return Some(Mux::B);
        }
        if self.port_b.is_none() {
            self.port_b = Some(RaddrB::Reg(raddr));
            Some(Mux::B)
        } else if self.port_a.is_none() {
            self.port_a = Some(raddr);
            Some(Mux::A)
        } else {
            None
        }
    }

    fn mux(&mut self, operand: &Operand, reads_float: bool) -> Option<Mux> {
        let mux = match operand.src {
            Src::Reg(reg) => match self.assignment[reg]? {
                Loc::A(_) => Mux::A,
                Loc::B(_) => Mux::B,
                Loc::Acc(n) => ACCUMULATORS[usize::from(n)],
                Loc::R4 => Mux::R4,
            },
            Src::R4 => Mux::R4,
            Src::R5 => Mux::R5,
            Src::Imm(_) | Src::Port(_, Some(RegFile::B)) => Mux::B,
            Src::Port(_, Some(RegFile::A)) => Mux::A,
            Src::Uniform(_) => self.either(Raddr::UNIFORM)?,
            Src::Port(raddr, None) => self.either(raddr)?,
        };
        self.want_unpack(mux, operand.unpack, reads_float)?;
        Some(mux)
    }

    /// The unpack applies to everything read through port A, or to every use of r4.
    fn want_unpack(&mut self, mux: Mux, unpack: Unpack, reads_float: bool) -> Option<()> {
        match mux {
            Mux::A => match self.unpack_a {
                // When a float and an integer operation share it, both get the float (qpu.md §2.11).
                Some((wanted, float))
                    if wanted != unpack || (unpack != Unpack::Nop && float != reads_float) =>
                {
                    None
                }
                _ => {
                    self.unpack_a = Some((unpack, reads_float));
                    Some(())
                }
            },
            Mux::R4 => match self.unpack_r4 {
                Some(wanted) if wanted != unpack => None,
                _ => {
                    self.unpack_r4 = Some(unpack);
                    Some(())
                }
            },
            _ => (unpack == Unpack::Nop).then_some(()),
        }
    }

    fn unpacks(&mut self) -> Option<()> {
        let a = self.unpack_a.map_or(Unpack::Nop, |(unpack, _)| unpack);
        let r4 = self.unpack_r4.unwrap_or(Unpack::Nop);
        let mul_packs = self.inst.pm;
        let file_packs = !self.inst.pm && self.inst.pack != Pack::Nop;
        match (a != Unpack::Nop, r4 != Unpack::Nop) {
            (true, true) => return None,
            (true, false) if mul_packs => return None,
            (true, false) => self.inst.unpack = a,
            (false, true) if file_packs => return None,
            (false, true) => (self.inst.pm, self.inst.unpack) = (true, r4),
            (false, false) => {}
        }
        Some(())
    }

    /// Destination and pack of a half that writes file `file`.
    fn write(&mut self, op: &Operation, file: RegFile) -> Option<Waddr> {
        let (waddr, needed) = destination(op, self.assignment)?;
        if needed.is_some_and(|needed| needed != file) {
            return None;
        }
        // Equal addresses are different places only where the files differ.
        if waddr != Waddr::NOP && needed.is_none() && self.written.contains(&waddr) {
            return None;
        }
        self.written.push(waddr);
        if op.pack != Pack::Nop {
            if self.inst.pack != Pack::Nop || (!op.mul_pack && file != RegFile::A) {
                return None;
            }
            (self.inst.pack, self.inst.pm) = (op.pack, op.mul_pack);
        }
        Some(waddr)
    }

    fn add_half(&mut self, op: &Operation) -> Option<()> {
        let add = add_unit(op)?;
        let reads_float = add.reads_float();
        let a = self.mux(op.src.first()?, reads_float)?;
        let b = match op.src.get(1) {
            Some(operand) => self.mux(operand, reads_float)?,
            None => a,
        };
        let file = written_file(false, self.inst.ws);
        self.inst.waddr_add = self.write(op, file)?;
        (self.inst.op_add, self.inst.add_a, self.inst.add_b) = (add, a, b);
        self.inst.cond_add = op.cond;
        self.inst.sf |= op.sets_flags;
        Some(())
    }

    fn mul_half(&mut self, op: &Operation, add_busy: bool) -> Option<()> {
        let mul = mul_unit(op)?;
        // Flags come from the add unit unless it rests (qpu.md §2.7).
        if op.sets_flags && add_busy {
            return None;
        }
        let reads_float = mul.reads_float();
        let a = self.mux(op.src.first()?, reads_float)?;
        let b = match op.src.get(1) {
            Some(operand) => self.mux(operand, reads_float)?,
            None => a,
        };
        let file = written_file(true, self.inst.ws);
        self.inst.waddr_mul = self.write(op, file)?;
        (self.inst.op_mul, self.inst.mul_a, self.inst.mul_b) = (mul, a, b);
        self.inst.cond_mul = op.cond;
        self.inst.sf |= op.sets_flags;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether an instruction has room for both.
    fn share(one: &Operation, other: &Operation) -> bool {
        let claims =
            [one, other].map(|op| Claims::of(op, None, &Assignment::new()).expect("each has an encoding"));
        claims[0].with(&claims[1]).is_some()
    }

    #[test]
    fn the_vpm_is_read_beside_a_write_and_set_up_alone() {
        let read = Operation::mov(Dst::Reg(Reg::from_u32(0)), Src::Port(Raddr::VPM, None));
        let write = Operation::mov(Dst::Port(Waddr::VPM, None), Src::R5);
        let set_up = Operation::mov(Dst::Port(Waddr::VPM_SETUP, Some(RegFile::B)), Src::R5);
        assert!(share(&read, &write));
        for (one, other) in
            [(&read, &read), (&write, &write), (&read, &set_up), (&write, &set_up), (&set_up, &set_up)]
        {
            assert!(!share(one, other), "{one:?} beside {other:?}");
        }
    }
}
