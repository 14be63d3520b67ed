//! What an instruction touches: the facts that the rules, the scheduler and the cost model reason with.
//!
//! A half that never writes or does nothing touches nothing; naming a read address without selecting it reads no
//! register, but does wake peripherals (qpu.md §3.1, §5.3).

use super::inst::{AluInst, Inst, RaddrB};
use super::isa::{AddOp, BranchCond, Cond, MulOp, Mux, Pack, Raddr, RegFile, Signal, Waddr};

/// One destination that an instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// The file whose meaning of the address counts.
    pub file: RegFile,
    /// The address; never `nop`.
    pub waddr: Waddr,
    /// When it is written; never `never`.
    pub cond: Cond,
    /// The pack that applies to this write.
    pub pack: Pack,
}

impl Write {
    /// Whether the write goes to anything but a file register or accumulator. r5 counts as an accumulator.
    pub fn is_peripheral(&self) -> bool {
        !self.waddr.is_reg() && self.accumulator().is_none()
    }

    /// The accumulator written, if it is one.
    pub fn accumulator(&self) -> Option<u8> {
        match self.waddr {
            Waddr::R5 => Some(5),
            waddr => (32..36).contains(&waddr.code()).then(|| waddr.code() - 32),
        }
    }
}

/// What one instruction reads and writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The signal.
    pub signal: Signal,
    /// The named file-A address; `nop` for none.
    pub raddr_a: Raddr,
    /// The named file-B address; `nop` for none or an immediate.
    pub raddr_b: Raddr,
    /// Whether an operand selects the file-A value.
    pub selects_a: bool,
    /// Whether an operand selects the file-B value.
    pub selects_b: bool,
    /// Accumulators that operands select, bit n for rn.
    pub accumulators: u8,
    /// Accumulators whose values are rotated, bit n for rn.
    pub rotated: u8,
    /// The rotation is by r5.
    pub rotates_by_r5: bool,
    /// A condition or branch depends on the flags.
    pub reads_flags: bool,
    /// Flags are set, in all elements or some.
    pub sets_flags: bool,
    /// The destinations, add unit first.
    pub writes: [Option<Write>; 2],
    /// A branch, taken or not.
    pub is_branch: bool,
    /// A semaphore operation.
    pub is_semaphore: bool,
    /// A TMU parameter write takes a uniform. For an `s` write alone this cannot be told from one instruction
    /// and is assumed; [`link_tmu`] refines it.
    pub tmu_takes_uniform: bool,
}

impl Access {
    /// The facts of `inst`.
    pub fn of(inst: &Inst) -> Access {
        let mut out = Access {
            signal: inst.signal(),
            raddr_a: Raddr::NOP,
            raddr_b: Raddr::NOP,
            selects_a: false,
            selects_b: false,
            accumulators: 0,
            rotated: 0,
            rotates_by_r5: false,
            reads_flags: false,
            sets_flags: false,
            writes: [None; 2],
            is_branch: false,
            is_semaphore: false,
            tmu_takes_uniform: false,
        };
        match inst {
            Inst::Alu(alu) => out.alu(alu),
            Inst::LoadImm(i) => {
                out.destinations(i.ws, [i.waddr_add, i.waddr_mul], [i.cond_add, i.cond_mul], i.pack, i.pm);
                out.sets_flags = i.sf && (i.cond_add != Cond::Never || i.cond_mul != Cond::Never);
            }
            Inst::Semaphore(i) => {
                out.destinations(i.ws, [i.waddr_add, i.waddr_mul], [i.cond_add, i.cond_mul], i.pack, i.pm);
                out.sets_flags = i.sf;
                out.is_semaphore = true;
            }
            Inst::Branch(i) => {
                out.is_branch = true;
                out.reads_flags = i.cond != BranchCond::Always;
                out.sets_flags = i.reg.unwrap_or(i.unused_raddr_a) & 1 != 0;
                if let Some(reg) = i.reg {
                    out.raddr_a = Raddr::reg(reg);
                    out.selects_a = true;
                }
                out.destinations(i.ws, [i.waddr_add, i.waddr_mul], [Cond::Always; 2], Pack::Nop, false);
            }
        }
        out.tmu_takes_uniform = out.tmu_write().is_some();
        out
    }

    fn alu(&mut self, i: &AluInst) {
        let add = i.op_add != AddOp::Nop && i.cond_add != Cond::Never;
        let mul = i.op_mul != MulOp::Nop && i.cond_mul != Cond::Never;
        self.raddr_a = i.raddr_a;
        let mut operands = [None; 4];
        if add {
            operands[..i.op_add.operands()]
                .copy_from_slice(&[Some(i.add_a), Some(i.add_b)][..i.op_add.operands()]);
        }
        if mul {
            operands[2..].copy_from_slice(&[Some(i.mul_a), Some(i.mul_b)]);
        }
        for mux in operands.into_iter().flatten() {
            match mux {
                Mux::A => self.selects_a = true,
                Mux::B => self.selects_b = true,
                mux => self.accumulators |= 1 << mux.code(),
            }
        }
        match i.raddr_b {
            RaddrB::Reg(raddr) => self.raddr_b = raddr,
            RaddrB::Imm(imm) => {
                self.selects_b = false;
                if let (Some(by), true) = (imm.rotation(), mul) {
                    self.rotates_by_r5 = by.is_none();
                    for mux in operands[2..].iter().flatten() {
                        self.rotated |= if mux.code() < 6 { 1 << mux.code() } else { 0 };
                    }
                }
            }
        }
        // A nop on the add unit has no result; one on the mul unit writes a stale word (qpu.md §3.4).
        let cond_add = if add { i.cond_add } else { Cond::Never };
        self.destinations(i.ws, [i.waddr_add, i.waddr_mul], [cond_add, i.cond_mul], i.pack, i.pm);
        let flag_cond = if i.op_add == AddOp::Nop { i.cond_mul } else { i.cond_add };
        self.sets_flags = i.sf && flag_cond != Cond::Never;
        let depends = |cond| !matches!(cond, Cond::Always | Cond::Never);
        self.reads_flags = add && depends(i.cond_add) || mul && depends(i.cond_mul) || self.reads_flags;
    }

    fn destinations(&mut self, ws: bool, waddrs: [Waddr; 2], conds: [Cond; 2], pack: Pack, pm: bool) {
        for unit in 0..2 {
            if waddrs[unit] == Waddr::NOP || conds[unit] == Cond::Never {
                continue;
            }
            let file = if (unit == 0) == ws { RegFile::B } else { RegFile::A };
            // A pack belongs to the mul result with pm, to the file-A write without (qpu.md §2.11).
            let packed = if pm { unit == 1 } else { file == RegFile::A };
            let pack = if packed { pack } else { Pack::Nop };
            self.writes[unit] = Some(Write { file, waddr: waddrs[unit], cond: conds[unit], pack });
            self.reads_flags |= conds[unit] != Cond::Always;
        }
    }

    /// The destinations.
    pub fn written(&self) -> impl Iterator<Item = Write> + '_ {
        self.writes.iter().flatten().copied()
    }

    /// Whether an operand reads physical register `n` of `file`.
    pub fn reads_register(&self, file: RegFile, n: u8) -> bool {
        match file {
            RegFile::A => self.selects_a && self.raddr_a == Raddr::reg(n),
            RegFile::B => self.selects_b && self.raddr_b == Raddr::reg(n),
        }
    }

    /// Whether either read address is `raddr`, selected by an operand or not.
    pub fn names(&self, raddr: Raddr) -> bool {
        self.raddr_a == raddr || self.raddr_b == raddr
    }

    /// Whether some destination is `waddr` on either file.
    pub fn writes_to(&self, waddr: Waddr) -> bool {
        self.written().any(|write| write.waddr == waddr)
    }

    /// Accumulators whose new value the next instruction sees, bit n for rn; a varying read writes r5.
    pub fn written_accumulators(&self) -> u8 {
        let written = self.written().filter_map(|w| w.accumulator()).fold(0, |mask, n| mask | 1 << n);
        let r4 = u8::from(self.loads_r4()) << 4;
        let r5 = u8::from(self.reads_varying()) << 5;
        written | r4 | r5
    }

    /// A signal puts a result into r4.
    pub fn loads_r4(&self) -> bool {
        self.tmu_load().is_some() || self.tile_load() || matches!(self.signal, Signal::CoverageLoad)
    }

    /// The TMU whose result is loaded.
    pub fn tmu_load(&self) -> Option<u8> {
        match self.signal {
            Signal::LoadTmu0 => Some(0),
            Signal::LoadTmu1 => Some(1),
            _ => None,
        }
    }

    /// A colour or alpha mask is loaded from the tile.
    pub fn tile_load(&self) -> bool {
        matches!(self.signal, Signal::ColorLoad | Signal::ColorLoadEnd | Signal::AlphaMaskLoad)
    }

    /// The TMU parameter register that is written.
    pub fn tmu_write(&self) -> Option<Waddr> {
        self.written().map(|w| w.waddr).find(|w| w.is_tmu())
    }

    /// A tile-buffer register is written.
    pub fn tile_write(&self) -> bool {
        self.written().any(|w| w.waddr.is_tlb())
    }

    /// The first such access makes the instance wait for its turn in the tile buffer. Stencil set-up does not
    /// touch the tile.
    pub fn takes_scoreboard(&self) -> bool {
        self.signal == Signal::WaitScoreboard
            || self.tile_load()
            || matches!(self.signal, Signal::CoverageLoad)
            || self.written().any(|w| w.waddr.is_tlb() && w.waddr != Waddr::TLB_STENCIL_SETUP)
    }

    /// An SFU request is written.
    pub fn sfu_write(&self) -> bool {
        self.written().any(|w| w.waddr.is_sfu())
    }

    /// The uniform stream is read by address.
    pub fn reads_uniform(&self) -> bool {
        self.names(Raddr::UNIFORM)
    }

    /// A word of the uniform stream is consumed.
    pub fn takes_uniform(&self) -> bool {
        self.reads_uniform() || self.tmu_takes_uniform
    }

    /// A varying is read.
    pub fn reads_varying(&self) -> bool {
        self.names(Raddr::VARYING)
    }

    /// The VPM or its DMA is read, written, set up or waited for.
    pub fn touches_vpm(&self) -> bool {
        self.names(Raddr::VPM)
            || self.names(Raddr::VPM_BUSY)
            || self.names(Raddr::VPM_WAIT)
            || self.written().any(|w| matches!(w.waddr, Waddr::VPM | Waddr::VPM_SETUP | Waddr::VPM_ADDR))
    }

    /// A vector is popped from the VPM.
    pub fn reads_vpm(&self) -> bool {
        self.names(Raddr::VPM)
    }

    /// A thread switch, the last one or not.
    pub fn is_switch(&self) -> bool {
        matches!(self.signal, Signal::ThreadSwitch | Signal::LastThreadSwitch)
    }

    /// The program ends.
    pub fn is_end(&self) -> bool {
        matches!(self.signal, Signal::End | Signal::ColorLoadEnd)
    }
}

/// Decides for the `s` writes of a program which take a uniform: all but direct lookups, which have no other
/// parameter before them (qpu.md §4.5). Parameters are counted in program order, as no request
/// spans a branch.
pub fn link_tmu(accesses: &mut [Access]) {
    let mut pending = [0u32; 2];
    for access in accesses {
        let Some(waddr) = access.tmu_write() else { continue };
        let count = &mut pending[usize::from(waddr.tmu().unwrap_or(0))];
        let is_s = matches!(waddr, Waddr::TMU0_S | Waddr::TMU1_S);
        access.tmu_takes_uniform = !is_s || *count > 0;
        *count = if is_s { 0 } else { *count + 1 };
    }
}

#[cfg(test)]
mod tests {
    use super::super::asm::assemble;
    use super::*;

    fn access(text: &str) -> Access {
        let words = assemble(text).expect(text).words;
        Access::of(&Inst::decode(words[0]).expect(text))
    }

    #[test]
    fn operands_count_when_their_half_works() {
        let a = access("sig_none ; r0 = or.always(a, r1, ra3, rb4) ; r2 = fmul(b, r3) ;");
        assert!(a.reads_register(RegFile::A, 3) && !a.reads_register(RegFile::B, 4));
        assert_eq!((a.accumulators, a.written_accumulators()), (0b10, 0b1));
        let a = access("sig_none ; r0 = not.always(r1, r2) ; nop = nop(r3, r3) ;");
        assert_eq!(a.accumulators, 0b10);
    }

    #[test]
    fn files_follow_the_swap() {
        let a = access("sig_none ; rx1.16a = or.always.ws(r0, r0) ; rx2 = fmul.zs(r1, r1) ;");
        let writes: Vec<_> = a.written().map(|w| (w.file, w.waddr.code(), w.pack)).collect();
        assert_eq!(writes, [(RegFile::B, 1, Pack::Nop), (RegFile::A, 2, Pack::Half0)]);
        assert!(a.reads_flags);
    }

    #[test]
    fn peripherals_wake_without_being_selected() {
        let a = access("sig_none ; nop = nop(r0, r0, uni, vary) ; nop = nop(r0, r0) ;");
        assert!(a.reads_uniform() && a.reads_varying());
        assert_eq!(a.written_accumulators(), 1 << 5);
    }

    #[test]
    fn rotates_name_their_accumulators() {
        let a = access("sig_small_imm ; nop = nop(r0, r0, nop, rot_r5) ; r1 = v8min.always(r0, r2) ;");
        assert_eq!((a.rotated, a.rotates_by_r5), (0b101, true));
        let a = access("sig_small_imm ; r1 = add.always(r0, b, nop, -1) ; nop = nop(r0, r0) ;");
        assert_eq!((a.rotated, a.rotates_by_r5), (0, false));
    }

    #[test]
    fn direct_lookups_take_no_uniform() {
        let texts = ["tmu0_t", "tmu0_s", "tmu0_s", "tmu1_s"];
        let mut all: Vec<_> = texts
            .iter()
            .map(|t| access(&format!("sig_none ; {t} = or.always(r0, r0) ; nop = nop(r0, r0) ;")))
            .collect();
        link_tmu(&mut all);
        assert_eq!(all.iter().map(Access::takes_uniform).collect::<Vec<_>>(), [true, true, false, false]);
    }
}
