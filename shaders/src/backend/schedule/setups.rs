//! VPM write set-ups leave the stream where an instruction of their own takes no time: in the wait behind a read set-up, or in one
//! that does nothing. Each draw's stream gets shorter, which the CPU writes, the kernel copies and every instance reads.

use smallvec::smallvec;
use vc4::qpu::cost::{self, Event};
use vc4::qpu::{
    Access, AddOp, AluInst, Cond, Inst, LoadImmInst, MulOp, Mux, Raddr, RaddrB, RegFile, Unpack, Waddr,
};

use super::slot::{Slot, Word};
use crate::backend::virt::{Dst, Operation, VirtProgram};
use crate::binding::UniformSlot;

/// Loads write set-ups of a scheduled program without branches.
pub fn load(program: &VirtProgram, slots: &mut Vec<Slot>) {
    if program.ops.iter().any(Operation::is_marker) {
        return;
    }
    let mut at = 0;
    while at < slots.len() {
        if let Some(setup) = Setup::of(program, &slots[at]) {
            if let Some(idle) = idle(slots, at) {
                setup.leave(&mut slots[at]);
                slots[idle] = setup.alone();
            } else if let Some(wait) = wait(slots, at) {
                setup.leave(&mut slots[at]);
                slots.insert(wait, setup.alone());
                at += 1;
            }
        }
        at += 1;
    }
}

/// An instruction that does nothing, between the accesses that a set-up stands between.
fn idle(slots: &[Slot], at: usize) -> Option<usize> {
    let is_idle = |slot: &Slot| slot.inst == Inst::NOP && slot.ops.is_empty();
    let accesses = |slot: &Slot| writes_vpm(&Access::of(&slot.inst));
    let before = slots[..at].iter().rposition(accesses).map_or(0, |last| last + 1);
    let behind = slots[at + 1..].iter().position(accesses).map_or(slots.len(), |next| at + 1 + next);
    (before..behind).find(|&place| is_idle(&slots[place]))
}

/// Where an instruction more would wait less for the first vector that is read, in front of all that is written.
fn wait(slots: &[Slot], at: usize) -> Option<usize> {
    let access = |place: usize| Access::of(&slots[place].inst);
    let reads = (0..at).find(|&place| sets_up(&access(place), RegFile::A))?;
    let first = (reads..slots.len()).find(|&place| access(place).reads_vpm())?;
    let waits = first - reads < cost::slots(Event::VpmReadSetup) as usize;
    let is_first = (0..at).all(|place| !writes_vpm(&access(place)));
    (waits && is_first).then_some(reads + 1)
}

/// Whether an instruction sets up reads, of file A, or writes.
fn sets_up(access: &Access, file: RegFile) -> bool {
    access.written().any(|write| write.waddr == Waddr::VPM_SETUP && write.file == file)
}

/// Whether an instruction has its place among those that write to the VPM.
fn writes_vpm(access: &Access) -> bool {
    access.writes_to(Waddr::VPM) || sets_up(access, RegFile::B)
}

/// A write set-up that shares an instruction with another operation.
struct Setup {
    /// The operation.
    op: usize,
    /// The set-up itself.
    word: u32,
    /// The instruction without it.
    rest: AluInst,
}

impl Setup {
    fn of(program: &VirtProgram, slot: &Slot) -> Option<Setup> {
        // One that is alone takes no word.
        if slot.ops.len() < 2 || slot.word != Word::OfOperations {
            return None;
        }
        let of_writes =
            |&op: &usize| matches!(program.ops[op].dst, Dst::Port(Waddr::VPM_SETUP, Some(RegFile::B)));
        let op = slot.ops.iter().copied().find(of_writes)?;
        let UniformSlot::Const(word) = program.words[program.ops[op].uniform()?] else { return None };
        Some(Setup { op, word, rest: without(&slot.inst)? })
    }

    /// What it leaves of its instruction.
    fn leave(&self, slot: &mut Slot) {
        slot.inst = Inst::Alu(self.rest);
        slot.ops.retain(|op| *op != self.op);
    }

    /// An instruction of its own.
    fn alone(&self) -> Slot {
        let load = LoadImmInst::word(Waddr::VPM_SETUP, Some(RegFile::B), self.word);
        Slot { inst: Inst::LoadImm(load), ops: smallvec![self.op], word: Word::Kept }
    }
}

/// An instruction without the copy to the set-up, if nothing else in it reads the stream.
fn without(inst: &Inst) -> Option<AluInst> {
    let Inst::Alu(mut alu) = *inst else { return None };
    if alu.unpack != Unpack::Nop {
        return None;
    }
    if alu.waddr_add == Waddr::VPM_SETUP {
        (alu.op_add, alu.cond_add, alu.waddr_add) = (AddOp::Nop, Cond::Never, Waddr::NOP);
        (alu.add_a, alu.add_b) = (Mux::R0, Mux::R0);
    } else if alu.waddr_mul == Waddr::VPM_SETUP {
        (alu.op_mul, alu.cond_mul, alu.waddr_mul) = (MulOp::Nop, Cond::Never, Waddr::NOP);
        (alu.mul_a, alu.mul_b) = (Mux::R0, Mux::R0);
    } else {
        return None;
    }
    let left = [alu.add_a, alu.add_b, alu.mul_a, alu.mul_b];
    let port = if alu.raddr_a == Raddr::UNIFORM {
        alu.raddr_a = Raddr::NOP;
        Mux::A
    } else if alu.raddr_b == RaddrB::Reg(Raddr::UNIFORM) {
        alu.raddr_b = RaddrB::Reg(Raddr::NOP);
        Mux::B
    } else {
        return None;
    };
    (!left.contains(&port)).then_some(alu)
}

#[cfg(test)]
mod tests {
    use vc4::qpu::{Cost, Inst};

    use crate::backend::{Inputs, compile};
    use crate::ir::{Builder, Op, Shader, Stage, Value};
    use crate::program::Program;

    /// A vertex program that reads rows, and writes what is made of them.
    fn program(rows: u32, write: impl FnOnce(&mut Builder, &[Value])) -> Program {
        let mut shader = Shader::new(Stage::Vertex);
        let block = shader.entry().expect("a new shader has a block");
        let mut b = Builder::new(&mut shader, block);
        let values: Vec<_> = (0..rows).map(|row| b.op(Op::VpmRead(row), &[])).collect();
        write(&mut b, &values);
        compile(&shader, Inputs { count: rows, flat: 0 }).expect("few values are alive")
    }

    fn squared(b: &mut Builder, value: Value, times: usize) -> Value {
        (0..times).fold(value, |value, _| b.op(Op::FMul, &[value; 2]))
    }

    #[test]
    fn the_first_set_up_of_writes_is_loaded_while_reads_wait() {
        for rows in [&[0, 1, 2][..], &[2, 1, 0], &[0, 1]] {
            let program = program(rows.len() as u32, |b, values| {
                let values: Vec<Value> = values.iter().map(|&value| squared(b, value, 4)).collect();
                rows.iter().for_each(|&row| b.emit(Op::VpmWrite(row), &[values[row as usize]]).clear());
            });
            let insts: Vec<Inst> = program.code.iter().map(|&word| Inst::decode(word).unwrap()).collect();
            assert!(matches!(insts[..2], [Inst::LoadImm(_), Inst::LoadImm(_)]), "{rows:?}");
            // It would have waited for two.
            let cost = Cost::of(&insts);
            assert_eq!(cost.slots() - cost.instructions, 1, "{rows:?}");
        }
    }

    #[test]
    fn another_set_up_is_loaded_where_an_instruction_rests() {
        let program = program(4, |b, values| {
            b.emit(Op::VpmWrite(1), &[values[3]]);
            let [x, y] = [values[0], values[1]].map(|value| {
                let square = squared(b, value, 3);
                b.op(Op::FToS, &[square])
            });
            let packed = b.op(Op::PackHalves, &[x, y]);
            b.emit(Op::VpmWrite(0), &[packed]);
        });
        assert_eq!(program.uniforms, []);
    }
}
