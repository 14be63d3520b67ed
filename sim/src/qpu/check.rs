//! Watches the executed instruction stream for broken programming rules (qpu.md §5.1). The simulator
//! gives such programs a meaning; the chip does not.

use vc4::qpu::{AluInst, Cond, Inst, LoadImmInst, MulOp, Mux, Raddr, RaddrB, Signal, Waddr};

use super::exec::Facts;

pub(super) const TMU_LEFT_OVER: &str = "§5.1.6: all TMU results must be loaded before the program ends";

const REGISTER_TOO_EARLY: &str = "§5.1.9: no read of a file register in the instruction after its write";
const R4_TOO_EARLY: &str =
    "§5.1.10: r4 is neither read nor written in the two instructions after an SFU write";
const UNIFORM_TOO_EARLY: &str = "§5.1.11: no uniform in the two instructions after a unif_addr write";
const ROTATE_TOO_EARLY: &str = "§5.1.12: no rotate directly after writing the rotated accumulator or r5";
const MS_FLAGS_TOO_EARLY: &str = "§5.1.13: no read of ms_flags in the two instructions after tlb_z";
const TILE_TOO_EARLY: &str = "§5.1.7: no scoreboard wait or tile access in instructions 0 and 1";
const SAME_DESTINATION: &str = "§5.1.18: both ALUs write the same accumulator or peripheral";
const CONDITIONAL: &str = "§5.1.19: no conditional write to TMU, VPM, SFU, set-up or address registers";
const STALE_READ: &str = "§3.4: an operand reads address 39, whose value is undefined";
const END_ACCESS: &str = "§5.1.1: no uniform, varying or VPM access in the last three instructions";
const END_REGISTER: &str = "§5.1.2: the end-signalling instruction must not write a file register";
const END_PAYLOAD: &str = "§5.1.3: the last three instructions must not touch ra14 or rb14";

/// What an instruction writes, as sets.
#[derive(Clone, Copy, Default)]
struct Writes {
    file_a: u32,
    file_b: u32,
    /// r0–r3 in bits 0–3, r5 in bit 5.
    accumulators: u8,
    sfu: bool,
    unif_addr: bool,
    tlb_z: bool,
}

/// Remembers the two instructions before the current one.
pub(super) struct Checker {
    history: [Writes; 2],
    executed: u64,
    /// Instructions since the end signal, counting itself.
    ending: u8,
}

impl Checker {
    pub fn new() -> Checker {
        Checker { history: Default::default(), executed: 0, ending: 0 }
    }

    /// Judges one executed instruction; `report` gets the text of each broken rule.
    pub fn instruction(&mut self, inst: &Inst, facts: Facts, mut report: impl FnMut(&'static str)) {
        if inst.signal() == Signal::End || self.ending > 0 {
            self.ending += 1;
        }
        let writes = self.writes(inst, &mut report);
        if let Inst::Alu(alu) = inst {
            self.reads(alu, &mut report);
        }
        if facts.popped && self.history.iter().any(|w| w.unif_addr) {
            report(UNIFORM_TOO_EARLY);
        }
        if facts.popped && self.ending > 0 {
            report(END_ACCESS);
        }
        let waits = inst.signal() == Signal::WaitScoreboard || inst.signal() == Signal::ColorLoad;
        if self.executed < 2 && waits {
            report(TILE_TOO_EARLY);
        }
        let loads_r4 = matches!(inst.signal(), Signal::ColorLoad | Signal::LoadTmu0 | Signal::LoadTmu1);
        if (loads_r4 || writes.sfu) && self.history.iter().any(|w| w.sfu) {
            report(R4_TOO_EARLY);
        }
        self.history = [writes, self.history[0]];
        self.executed += 1;
    }

    fn writes(&self, inst: &Inst, report: &mut impl FnMut(&'static str)) -> Writes {
        let (waddrs, conds, ws) = match *inst {
            Inst::Alu(AluInst { waddr_add, waddr_mul, cond_add, cond_mul, ws, .. })
            | Inst::LoadImm(LoadImmInst { waddr_add, waddr_mul, cond_add, cond_mul, ws, .. }) => {
                ([waddr_add, waddr_mul], [cond_add, cond_mul], ws)
            }
            Inst::Branch(b) => ([b.waddr_add, b.waddr_mul], [Cond::Always; 2], b.ws),
            Inst::Semaphore(_) => return Writes::default(),
        };
        let mut writes = Writes::default();
        for (unit, (waddr, cond)) in waddrs.into_iter().zip(conds).enumerate() {
            if cond != Cond::Never {
                self.write(&mut writes, waddr, cond, (unit == 0) != ws, report);
            }
        }
        let shared = !waddrs[0].is_reg() && waddrs[0] != Waddr::NOP && !differs_by_file(waddrs[0]);
        if shared && waddrs[0] == waddrs[1] && !conds.contains(&Cond::Never) {
            report(SAME_DESTINATION);
        }
        if self.ending == 1 && (writes.file_a | writes.file_b) != 0 {
            report(END_REGISTER);
        }
        if self.ending > 0 && (writes.file_a | writes.file_b) & 1 << 14 != 0 {
            report(END_PAYLOAD);
        }
        writes
    }

    fn write(
        &self,
        writes: &mut Writes,
        waddr: Waddr,
        cond: Cond,
        file_a: bool,
        report: &mut impl FnMut(&'static str),
    ) {
        match waddr {
            w if w.is_reg() && file_a => writes.file_a |= 1 << w.code(),
            w if w.is_reg() => writes.file_b |= 1 << w.code(),
            Waddr::R0 | Waddr::R1 | Waddr::R2 | Waddr::R3 | Waddr::R5 => {
                writes.accumulators |= 1 << (waddr.code() - Waddr::R0.code());
            }
            Waddr::TLB_Z => writes.tlb_z = true,
            Waddr::UNIF_ADDR => writes.unif_addr = true,
            w if w.is_sfu() => writes.sfu = true,
            _ => {}
        }
        let fifo = waddr.is_tmu()
            || waddr.is_sfu()
            || matches!(waddr, Waddr::VPM | Waddr::VPM_SETUP | Waddr::UNIF_ADDR | Waddr::TLB_STENCIL_SETUP);
        if fifo && cond != Cond::Always {
            report(CONDITIONAL);
        }
        if waddr.is_tlb() && waddr != Waddr::TLB_STENCIL_SETUP && self.executed < 2 {
            report(TILE_TOO_EARLY);
        }
        if matches!(waddr, Waddr::VPM | Waddr::VPM_SETUP) && self.ending > 0 {
            report(END_ACCESS);
        }
    }

    fn reads(&self, alu: &AluInst, report: &mut impl FnMut(&'static str)) {
        let uses = |mux| operands(alu).any(|operand| operand == mux);
        let b = match alu.raddr_b {
            RaddrB::Reg(reg) if uses(Mux::B) => Some(reg),
            _ => None,
        };
        let a = uses(Mux::A).then_some(alu.raddr_a);
        let last = &self.history[0];
        let hit = |reg: Option<Raddr>, written: u32| {
            reg.is_some_and(|r| r.is_reg() && written >> r.code() & 1 != 0)
        };
        if hit(a, last.file_a) || hit(b, last.file_b) {
            report(REGISTER_TOO_EARLY);
        }
        if self.ending > 0 && (hit(a, 1 << 14) || hit(b, 1 << 14)) {
            report(END_PAYLOAD);
        }
        if a == Some(Raddr::NOP) || b == Some(Raddr::NOP) {
            report(STALE_READ);
        }
        if uses(Mux::R4) && self.history.iter().any(|w| w.sfu) {
            report(R4_TOO_EARLY);
        }
        // Reading through file B the same address is the facing bit, which tlb_z leaves alone.
        if a == Some(Raddr::MS_REV_FLAGS) && self.history.iter().any(|w| w.tlb_z) {
            report(MS_FLAGS_TOO_EARLY);
        }
        if self.ending > 0 && [a, b].iter().any(|r| matches!(*r, Some(Raddr::VARYING | Raddr::VPM))) {
            report(END_ACCESS);
        }
        if let RaddrB::Imm(imm) = alu.raddr_b {
            let rotated = [alu.mul_a, alu.mul_b].iter().fold(0u8, |set, mux| set | 1 << mux.code());
            let early = match imm.rotation() {
                Some(None) => last.accumulators & (rotated | 1 << Mux::R5.code()),
                Some(Some(_)) => last.accumulators & rotated,
                None => 0,
            };
            if early & 0x2f != 0 {
                report(ROTATE_TOO_EARLY);
            }
        }
    }
}

/// Operands that an executing unit reads.
fn operands(alu: &AluInst) -> impl Iterator<Item = Mux> {
    let add = [alu.add_a, alu.add_b].into_iter().take(alu.op_add.operands());
    let mul = [alu.mul_a, alu.mul_b].into_iter().take(if alu.op_mul == MulOp::Nop { 0 } else { 2 });
    add.chain(mul)
}

/// Addresses that mean different things on the two files.
fn differs_by_file(waddr: Waddr) -> bool {
    matches!(
        waddr,
        Waddr::R5
            | Waddr::UNIF_ADDR
            | Waddr::QUAD_XY
            | Waddr::MS_REV_FLAGS
            | Waddr::VPM_SETUP
            | Waddr::VPM_ADDR
    )
}
