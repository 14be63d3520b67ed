//! Changes of single instructions: other destinations and operands.

use super::registers::Reg;
use crate::qpu::access::Write;
use crate::qpu::isa::RegFile;
use crate::qpu::{AluInst, Inst, Mux, Pack, Raddr, RaddrB, Waddr};

/// The write of an instruction to one of the given addresses: which unit makes it, and the facts.
pub fn find_write(inst: &Inst, is: impl Fn(Waddr) -> bool) -> Option<(usize, Write)> {
    let access = crate::qpu::Access::of(inst);
    access
        .writes
        .iter()
        .enumerate()
        .find_map(|(unit, write)| write.filter(|w| is(w.waddr)).map(|w| (unit, w)))
}

/// Gives a unit another destination.
pub fn redirect(inst: &mut Inst, unit: usize, to: Waddr) {
    let (add, mul) = match inst {
        Inst::Alu(i) => (&mut i.waddr_add, &mut i.waddr_mul),
        Inst::LoadImm(i) => (&mut i.waddr_add, &mut i.waddr_mul),
        Inst::Semaphore(i) => (&mut i.waddr_add, &mut i.waddr_mul),
        Inst::Branch(i) => (&mut i.waddr_add, &mut i.waddr_mul),
    };
    *if unit == 0 { add } else { mul } = to;
}

/// Registers that a write can go to instead of a peripheral, best first.
pub fn targets(inst: &Inst, write: &Write, per_file: u8, file_first: bool) -> Vec<Reg> {
    let file = |n| if write.file == RegFile::A { Reg::A(n) } else { Reg::B(n) };
    let files = (0..per_file).map(file);
    let accumulators = (0..4).map(Reg::Acc);
    // Nobody knows whether the packer of file A works on accumulators.
    let packed = write.pack != Pack::Nop && !matches!(inst, Inst::Alu(AluInst { pm: true, .. }));
    match (packed, file_first) {
        (true, _) => files.collect(),
        (false, true) => files.chain(accumulators).collect(),
        (false, false) => accumulators.chain(files).collect(),
    }
}

/// Whether an operand of the instruction selects what `raddr` reads.
pub fn selects(inst: &Inst, raddr: Raddr) -> bool {
    let access = crate::qpu::Access::of(inst);
    access.selects_a && access.raddr_a == raddr || access.selects_b && access.raddr_b == raddr
}

/// Registers that can replace a read of `raddr`, best first.
pub fn sources(inst: &Inst, raddr: Raddr, per_file: u8) -> Vec<Reg> {
    let Inst::Alu(alu) = inst else { return Vec::new() };
    let through_a = alu.raddr_a == raddr;
    let through_b = alu.raddr_b == RaddrB::Reg(raddr);
    let file = |n| if through_a { Reg::A(n) } else { Reg::B(n) };
    let files = (0..per_file).map(file);
    let rotates = matches!(alu.raddr_b, RaddrB::Imm(imm) if imm.rotation().is_some());
    let unpacks = through_a && alu.unpack != crate::qpu::Unpack::Nop && !alu.pm;
    let accumulators = (0..4).map(Reg::Acc);
    match (through_a && through_b, rotates || unpacks) {
        (true, true) => Vec::new(),
        (true, false) => accumulators.collect(),
        (false, true) => files.collect(),
        (false, false) => accumulators.chain(files).collect(),
    }
}

/// Replaces the reads of `raddr` by a register; `None` by none, where no operand selects them.
pub fn replace_source(inst: &mut Inst, raddr: Raddr, by: Option<Reg>) {
    let Inst::Alu(alu) = inst else { return };
    let read = by.and_then(Reg::raddr).unwrap_or(Raddr::NOP);
    let mut muxes = [None; 2];
    if alu.raddr_a == raddr {
        alu.raddr_a = read;
        muxes[0] = Some(Mux::A);
    }
    if alu.raddr_b == RaddrB::Reg(raddr) {
        alu.raddr_b = RaddrB::Reg(read);
        muxes[1] = Some(Mux::B);
    }
    let Some(Reg::Acc(n)) = by else { return };
    let accumulator = [Mux::R0, Mux::R1, Mux::R2, Mux::R3][usize::from(n & 3)];
    for mux in [&mut alu.add_a, &mut alu.add_b, &mut alu.mul_a, &mut alu.mul_b] {
        if muxes.contains(&Some(*mux)) {
            *mux = accumulator;
        }
    }
}
