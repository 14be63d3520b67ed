//! The end of a program: uniform stream, request list, end sequence (qpu.md §5.1, §8.4).

use vc4::qpu::{AluInst, Inst, Signal, Waddr};

use super::schedule::Slot;
use super::virt::{Operation, Unit, VirtProgram};
use crate::ir::Stage;
use crate::program::Program;

/// Packs scheduled instructions, appends the end sequence and lists the stream in program order, which is
/// the order in which the kernel counts it.
pub fn emit(program: &VirtProgram, slots: &[Slot], stage: Stage) -> Program {
    let mut result = Program::default();
    for slot in slots {
        let ops = || slot.ops.iter().map(|&op| &program.ops[op]);
        let mut inst = slot.inst;
        if let (Inst::LoadImm(load), true) = (&mut inst, ops().any(|op| op.unit == Unit::StreamOffset)) {
            // Behind the address word, which the reset itself takes (qpu.md §5.3).
            load.imm = 4 * result.uniforms.len() as u32 + 4;
        }
        result.code.push(inst.encode());
        result.uniforms.extend(ops().find_map(Operation::uniform));
        result.samples.extend(ops().filter_map(|op| op.sample));
    }
    let writes_z = |slot: &Slot| slot.ops.iter().any(|&op| program.ops[op].port() == Some(Waddr::TLB_Z));
    // HW-2806: one instruction between the Z write and the end signal.
    if slots.last().is_some_and(writes_z) {
        result.code.push(Inst::NOP.encode());
    }
    let last = if stage == Stage::Fragment { Signal::UnlockScoreboard } else { Signal::None };
    for sig in [Signal::End, Signal::None, last] {
        result.code.push(Inst::Alu(AluInst { sig, ..AluInst::NOP }).encode());
    }
    result
}
