//! The end of a program: uniform stream, request list, end sequence (qpu.md §5.1, §8.4).

use vc4::qpu::rules::SIGNAL_SLOTS;
use vc4::qpu::{Access, Inst, LoadImmInst, LoadMode, Pack, RegFile, Signal, Waddr};

use super::schedule::{Schedule, Slot, Word};
use super::virt::{Dst, Operation, Threads, Unit, VirtProgram};
use crate::binding::UniformSlot;
use crate::ir::Stage;
use crate::program::Program;

/// Registers that the payload of the next instance arrives in (qpu.md §4.3).
const NEXT_PAYLOAD: u8 = 14;

/// Whether the end signal may hide among a program's last instructions.
fn hides_end(stage: Stage) -> bool {
    stage == Stage::Fragment
}

/// Instructions that [`end`] adds at least.
pub fn least_end(stage: Stage) -> usize {
    if hides_end(stage) { 0 } else { 1 + SIGNAL_SLOTS }
}

/// Packs scheduled instructions that [`end`] ended, and lists the stream in program order, which is the order in which the
/// kernel counts it.
pub fn emit(program: &VirtProgram, slots: &[Slot], threads: Threads) -> Program {
    let mut result = Program { threaded: threads == Threads::Two, ..Program::default() };
    for slot in slots {
        let ops = || slot.ops.iter().map(|&op| &program.ops[op]);
        let mut inst = slot.inst;
        if let (Inst::LoadImm(load), true) = (&mut inst, ops().any(|op| op.unit == Unit::StreamOffset)) {
            // Behind the address word, which the reset itself takes (qpu.md §5.3).
            load.imm = 4 * result.uniforms.len() as u32 + 4;
        }
        let own = ops().find_map(Operation::uniform).filter(|_| slot.word == Word::OfOperations);
        let own = own.map(|word| program.words[word]);
        let mut uniform = if let Word::Other(word) = slot.word { Some(program.words[word]) } else { own };
        if let (Some(UniformSlot::Const(word)), [op]) = (own, &slot.ops[..]) {
            if let Some(load) = as_immediate(&slot.inst, &program.ops[*op], word) {
                (inst, uniform) = (load, None);
            }
        }
        result.code.push(inst.encode());
        result.uniforms.extend(uniform);
        result.samples.extend(ops().filter_map(|op| op.sample));
    }
    result
}

/// The instruction that moves a constant without the stream, if `inst` does only that.
fn as_immediate(inst: &Inst, op: &Operation, word: u32) -> Option<Inst> {
    let Inst::Alu(alu) = inst else { return None };
    let plain = op.unit == Unit::Move && op.pack == Pack::Nop && op.parameter.is_none();
    let place = matches!(op.dst, Dst::Reg(_) | Dst::Port(Waddr::VPM_SETUP, _));
    (plain && place && alu.sig == Signal::None).then_some(Inst::LoadImm(LoadImmInst {
        mode: LoadMode::Word,
        pm: false,
        pack: Pack::Nop,
        cond_add: alu.cond_add,
        cond_mul: alu.cond_mul,
        sf: alu.sf,
        ws: alu.ws,
        waddr_add: alu.waddr_add,
        waddr_mul: alu.waddr_mul,
        imm: word,
    }))
}

/// Ends the program as early as its last instructions allow: up to two of them run behind the end signal.
pub fn end(schedule: Schedule, stage: Stage) -> Vec<Slot> {
    let Schedule { mut slots, tail, .. } = schedule;
    let length = slots.len();
    let first = if hides_end(stage) { length.saturating_sub(1 + SIGNAL_SLOTS).max(tail) } else { length };
    let ends = (first..length).find(|&at| {
        let mut last: Vec<Slot> = slots[at..].to_vec();
        last.resize(1 + SIGNAL_SLOTS, Slot::nop());
        let before = &slots[at.saturating_sub(SIGNAL_SLOTS)..at];
        let fits = ends_here(before, &last) && signals(&mut last, stage);
        if fits {
            slots.splice(at.., last);
        }
        fits
    });
    if ends.is_none() {
        // HW-2806: one instruction between the Z write and the end signal.
        if slots.last().is_some_and(|slot| Access::of(&slot.inst).writes_to(Waddr::TLB_Z)) {
            slots.push(Slot::nop());
        }
        let mut last = vec![Slot::nop(); 1 + SIGNAL_SLOTS];
        signals(&mut last, stage);
        slots.extend(last);
    }
    slots
}

/// Puts the signals of a program's end into its last three instructions.
fn signals(last: &mut [Slot], stage: Stage) -> bool {
    last[0].add_signal(Signal::End)
        && (stage != Stage::Fragment || last[SIGNAL_SLOTS].add_signal(Signal::UnlockScoreboard))
}

/// Whether the end signal may stand in the first of the program's last three instructions (qpu.md §5.1 rules 1–5).
fn ends_here(before: &[Slot], last: &[Slot]) -> bool {
    let of = |slots: &[Slot]| slots.iter().map(|slot| Access::of(&slot.inst)).collect::<Vec<_>>();
    let (before, accesses) = (of(before), of(last));
    // Its delay slots are not a switch's (rule 14).
    let switches = before.iter().any(Access::is_switch);
    let quiet = accesses.iter().all(|access| {
        let payload = [RegFile::A, RegFile::B].into_iter().any(|file| {
            access.reads_register(file, NEXT_PAYLOAD)
                || access.written().any(|write| write.file == file && write.waddr == Waddr::reg(NEXT_PAYLOAD))
        });
        let waits = access.touches_vpm()
            || access.reads_varying()
            || access.takes_uniform()
            || access.tmu_write().is_some()
            || access.tmu_load().is_some()
            || access.is_switch()
            || access.is_branch;
        !payload && !waits
    });
    let writes_z = |access: &Access| access.writes_to(Waddr::TLB_Z);
    let writes_register = accesses[0].written().any(|write| write.waddr.is_reg());
    // The scoreboard may not be waited for in the end's own instruction; other shipping compilers keep it free of any
    // tile access.
    let touches_tile = accesses[0].takes_scoreboard();
    let z = accesses.iter().chain(before.last()).any(writes_z);
    quiet && !switches && !writes_register && !touches_tile && !z
}
