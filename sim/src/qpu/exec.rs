//! Running a flattened program on sixteen elements.

use vc4::facts::{BranchElement, MulFlags};
use vc4::hw::LANES;
use vc4::qpu::alu::{add_carry_lanes, add_value_lanes, mul_lanes, mul_value_lanes};
use vc4::qpu::pack::{pack_a_lanes, pack_mul_lanes, saturate_lanes, unpack_lanes};
use vc4::qpu::variant;
use vc4::qpu::{AddOp, BranchCond, Cond, MulOp};

use super::fault::{Fault, unsupported};
use super::flatten::reverse_element;
use super::op::{Action, BRANCH_SLOTS, Branch, Dest, Op, Port, SWITCH_SLOTS, extra, slot};
use super::ports::Ports;
use super::program::Program;
use super::state::{LOST_IN_SWITCH, Qpu};
use crate::lanes::{ALL, LaneMask, Lanes, immediate, select, turn, turn_quads, turn_quads_mask};
use crate::memory::Memory;
use crate::tmu::TmuFault;

/// UNVERIFIED: which element of a file-A register is the target of a register branch? A hardware
/// experiment says 15, the architecture guide 0 (qpu.md §2.8).
const fn register_branch_element(fact: BranchElement) -> usize {
    match fact {
        BranchElement::Last => 15,
        BranchElement::First => 0,
    }
}

/// What a unit has no answer for, at an instruction.
pub(super) fn of_tmu(fault: TmuFault, index: u32) -> Fault {
    match fault {
        TmuFault::Bus(error) => Fault::Bus(error),
        TmuFault::Unsupported(what) => unsupported(index, what),
    }
}

/// What happens when the delay slots of an instruction are over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    Jump(usize),
    End,
    Switch,
}

/// What an instruction asks for after its delay slots: the event and how many instructions still run.
pub(super) type Control = Option<(Event, usize)>;

/// Sees each executed instruction.
pub(super) trait Observer<P> {
    /// It is about to run.
    fn before(&mut self, _: &Qpu, _index: usize) {}
    /// It ran.
    fn after(&mut self, _: &mut Qpu, _: &mut P, _: &Op, _index: usize) {}
    /// A thread switch took effect.
    fn switched(&mut self) {}
}

impl<P> Observer<P> for () {}

/// One instance of a program on its QPU.
pub(super) struct Instance<'a, P> {
    pub q: &'a mut Qpu,
    pub memory: &'a Memory,
    pub ports: &'a mut P,
    /// Lookups of 16 elements so far.
    pub lookups: u64,
    /// Instructions so far.
    pub executed: u64,
    /// Instructions after which it counts as hung.
    pub limit: u64,
}

impl<P: Ports> Instance<'_, P> {
    /// Runs from an instruction to the end.
    pub fn run_loop(
        &mut self,
        program: &Program,
        start: usize,
        observer: &mut impl Observer<P>,
    ) -> Result<(), Fault> {
        let (mut pc, mut stop, mut event) = (start, usize::MAX, Event::End);
        let available = self.limit - self.executed;
        let mut budget = available;
        let result = loop {
            if pc == stop {
                stop = usize::MAX;
                match event {
                    Event::End => break Ok(()),
                    Event::Jump(target) => pc = target,
                    Event::Switch => {
                        self.lose_accumulators();
                        observer.switched();
                    }
                }
            }
            let Some(op) = program.ops.get(pc) else {
                break Err(unsupported(pc as u32, "execution runs behind the program end"));
            };
            if budget == 0 {
                break Err(Fault::Endless(self.limit));
            }
            budget -= 1;
            observer.before(self.q, pc);
            let control = match self.execute(op, pc as u32, program) {
                Ok(control) => control,
                Err(fault) => break Err(fault.at(pc as u32)),
            };
            observer.after(self.q, self.ports, op, pc);
            if let Some((next, slots)) = control {
                if stop != usize::MAX {
                    let what = "branch, thread switch or program end inside of the delay slots of another";
                    break Err(unsupported(pc as u32, what));
                }
                (event, stop) = (next, pc + slots + 1);
            }
            pc += 1;
        };
        self.q.pc = pc.min(program.ops.len().saturating_sub(1));
        self.executed += available - budget;
        result
    }

    #[inline(always)]
    fn reg(&self, s: u8) -> &Lanes {
        &self.q.regs[usize::from(s) & (slot::COUNT - 1)].0
    }

    #[inline(always)]
    fn reg_mut(&mut self, s: u8) -> &mut Lanes {
        &mut self.q.regs[usize::from(s) & (slot::COUNT - 1)].0
    }

    /// The elements in which a condition holds.
    #[inline(always)]
    pub fn condition(&self, cond: Cond) -> LaneMask {
        match cond {
            Cond::Never => 0,
            Cond::Always => ALL,
            Cond::Zs => self.q.z,
            Cond::Zc => !self.q.z,
            Cond::Ns => self.q.n,
            Cond::Nc => !self.q.n,
            Cond::Cs => self.q.c,
            Cond::Cc => !self.q.c,
        }
    }

    /// Runs one instruction.
    #[inline(always)]
    pub fn execute(&mut self, op: &Op, index: u32, program: &Program) -> Result<Control, Fault> {
        let mut varying_c = None;
        if op.extras & (extra::PORTS | extra::UNPACK) != 0 {
            if op.extras & extra::PORTS != 0 {
                self.read_ports(op, &mut varying_c)?;
            }
            if op.extras & extra::UNPACK != 0 {
                let value = unpack_lanes(op.unpack, self.reg(op.unpack_from), op.unpack_float);
                *self.reg_mut(slot::UNPACKED) = value;
            }
        }
        // Both units see the flags and registers as they were before the instruction.
        let (add_mask, mul_mask) = (self.condition(op.add_cond), self.condition(op.mul_cond));
        let mul = (op.mul != MulOp::Nop).then(|| self.mul(op, mul_mask));
        let add = (op.add != AddOp::Nop).then(|| self.add(op, add_mask));
        // Already there if a result is refused; and no result can replace it.
        self.show_varying(varying_c.as_ref());
        if let Some(add) = add {
            self.write(op, op.add_dest, add_mask, &add, op.add.writes_float(), index)?;
            self.show_varying(varying_c.as_ref());
        }
        if let Some(mul) = mul {
            self.write(op, op.mul_dest, mul_mask, &mul, op.mul == MulOp::Fmul, index)?;
            self.show_varying(varying_c.as_ref());
        }
        if op.extras & extra::ACTION != 0 { self.act(op, index, program) } else { Ok(None) }
    }

    /// The second part of a varying, if one was read, appears in r5.
    #[inline(always)]
    fn show_varying(&mut self, c: Option<&Lanes>) {
        if let Some(c) = c {
            *self.reg_mut(slot::R5) = *c;
        }
    }

    #[inline(always)]
    fn add(&mut self, op: &Op, mask: LaneMask) -> Lanes {
        let (a, b) = (self.reg(op.add_a), self.reg(op.add_b));
        let mut value = add_value_lanes(op.add, a, b);
        if op.extras & (extra::FLAGS | extra::VARIANT) != 0 {
            if op.extras & extra::VARIANT != 0 {
                variant::add_lanes(&self.q.facts, op.add, a, b, &mut value);
            }
            if op.extras & extra::FLAGS != 0 && !op.flags_from_mul {
                let carry = add_carry_lanes(op.add, a, b, &value);
                self.set_flags(&value, carry, mask);
            }
        }
        if matches!(op.add_dest, Dest::Packed(_)) {
            let (a, b) = (self.reg(op.add_a), self.reg(op.add_b));
            match op.extras & extra::VARIANT {
                0 => saturate_lanes(op.pack, op.add, a, b, &mut value),
                _ => variant::saturate_lanes(&self.q.facts, op.pack, op.add, a, b, &mut value),
            }
        }
        value
    }

    #[inline(always)]
    fn mul(&mut self, op: &Op, mask: LaneMask) -> Lanes {
        let (a, b) = (self.reg(op.mul_a), self.reg(op.mul_b));
        if op.extras & (extra::ROTATE | extra::FLAGS | extra::VARIANT) == 0 {
            return mul_value_lanes(op.mul, a, b);
        }
        let flags = op.extras & extra::FLAGS != 0 && op.flags_from_mul;
        let (mut value, mut carry) =
            if flags { mul_lanes(op.mul, a, b) } else { (mul_value_lanes(op.mul, a, b), 0) };
        if op.extras & extra::VARIANT != 0 {
            variant::mul_lanes(&self.q.facts, op.mul, a, b, &mut value, &mut carry);
        }
        let unrotated = (value, carry);
        if let Some(rotate) = op.rotate {
            let by = match rotate.by {
                Some(n) => u32::from(n),
                None => self.reg(slot::R5)[0] & 15,
            };
            (value, carry) = if rotate.quad {
                (turn_quads(&value, by), turn_quads_mask(carry, by))
            } else {
                (turn(&value, by), carry.rotate_left(by))
            };
        }
        if flags {
            self.flags_of_mul(&unrotated, &(value, carry), mask);
        }
        value
    }

    /// UNVERIFIED: do flags follow the mul result before or after its rotation and pack? After the rotation and
    /// before the pack is assumed (qpu.md §2.7).
    fn flags_of_mul(&mut self, unrotated: &(Lanes, LaneMask), rotated: &(Lanes, LaneMask), mask: LaneMask) {
        let (value, carry) = match self.q.facts.mul_flags {
            MulFlags::Rotated => rotated,
            MulFlags::Unrotated => unrotated,
        };
        self.set_flags(value, *carry, mask);
    }

    #[inline(always)]
    fn set_flags(&mut self, value: &Lanes, carry: LaneMask, mask: LaneMask) {
        let (mut zero, mut negative) = (0u32, 0u32);
        for (i, &word) in value.iter().enumerate() {
            zero |= if word == 0 { 1 << i } else { 0 };
            negative |= if word >> 31 != 0 { 1 << i } else { 0 };
        }
        let merge = |old: LaneMask, new: LaneMask| old & !mask | new & mask;
        self.q.z = merge(self.q.z, zero as LaneMask);
        self.q.n = merge(self.q.n, negative as LaneMask);
        self.q.c = merge(self.q.c, carry);
    }

    /// Fetches what the read ports deliver. A varying has a second part, which r5 shows behind the instruction.
    pub fn read_ports(&mut self, op: &Op, varying_c: &mut Option<Lanes>) -> Result<(), Fault> {
        for (port, s) in [(op.port_a, slot::PORT_A), (op.port_b, slot::PORT_B)] {
            let value = match port {
                Port::None => continue,
                Port::Uniform => [self.uniform()?; LANES],
                Port::Varying => {
                    let (partial, c) = self.ports.varying()?;
                    *varying_c = Some(c);
                    partial
                }
                Port::PixelX => self.ports.pixel_xy().0,
                Port::PixelY => self.ports.pixel_xy().1,
                Port::MsFlags => self.ports.ms_flags(),
                Port::RevFlag => self.ports.rev_flag(),
                Port::Vpm => self.ports.vpm_read()?,
                Port::Imm(mode) => immediate(mode, op.imm),
            };
            *self.reg_mut(s) = value;
        }
        Ok(())
    }

    fn uniform(&mut self) -> Result<u32, Fault> {
        let word = self.memory.read(self.q.uniforms)?;
        self.q.uniforms = self.q.uniforms.wrapping_add(4);
        Ok(word)
    }

    #[inline(always)]
    fn write(
        &mut self,
        op: &Op,
        dest: Dest,
        mask: LaneMask,
        value: &Lanes,
        float: bool,
        index: u32,
    ) -> Result<(), Fault> {
        match dest {
            Dest::None => Ok(()),
            Dest::Slot(s) if op.extras & extra::MUL_PACK == 0 => {
                select(self.reg_mut(s), mask, value);
                Ok(())
            }
            _ => self.write_special(op, dest, mask, value, float, index),
        }
    }

    #[inline(never)]
    fn write_special(
        &mut self,
        op: &Op,
        dest: Dest,
        mask: LaneMask,
        value: &Lanes,
        float: bool,
        index: u32,
    ) -> Result<(), Fault> {
        // The add result of an instruction with a mul pack is not packed; equal destinations are undefined.
        let packed;
        let mut value = value;
        if op.extras & extra::MUL_PACK != 0 && dest == op.mul_dest {
            let old = match dest {
                Dest::Slot(s) => *self.reg(s),
                Dest::R5All | Dest::R5Quad => *self.reg(slot::R5),
                _ => [0; LANES],
            };
            let unpacked = match op.extras & extra::VARIANT {
                0 => *value,
                _ => variant::before_pack_mul(&self.q.facts, op.pack, value),
            };
            packed = pack_mul_lanes(op.pack, &unpacked, &old).unwrap_or(old);
            value = &packed;
        }
        self.deliver(op, dest, mask, value, float, index)
    }

    /// Puts a result where it goes.
    pub fn deliver(
        &mut self,
        op: &Op,
        dest: Dest,
        mask: LaneMask,
        value: &Lanes,
        float: bool,
        index: u32,
    ) -> Result<(), Fault> {
        match dest {
            Dest::None => {}
            Dest::Slot(s) => select(self.reg_mut(s), mask, value),
            Dest::Packed(s) => {
                let value = match op.extras & extra::VARIANT {
                    0 => *value,
                    _ if !float => *value,
                    _ => variant::before_pack_a(&self.q.facts, op.pack, value),
                };
                let packed = pack_a_lanes(op.pack, &value, self.reg(s), float);
                select(self.reg_mut(s), mask, &packed);
            }
            Dest::R5Quad => {
                for (i, lane) in self.reg_mut(slot::R5).iter_mut().enumerate() {
                    if mask >> (i & !3) & 1 != 0 {
                        *lane = value[i & !3];
                    }
                }
            }
            Dest::R5All => {
                if mask & 1 != 0 {
                    *self.reg_mut(slot::R5) = [value[0]; LANES];
                }
            }
            Dest::UnifAddr => self.q.uniforms = value[0],
            Dest::MsFlags => self.ports.set_ms_flags(mask, value),
            // The condition of the element whose bit counts decides, as with r5 (VC4C's Register.h).
            Dest::RevFlag => {
                let element = reverse_element(self.q.facts.rev_flag);
                if mask >> element & 1 != 0 {
                    self.ports.set_reverse(value[element] & 1 != 0);
                }
            }
            Dest::TlbStencil => self.ports.tlb_stencil(value[0])?,
            Dest::TlbZ => self.ports.tlb_z(mask, value)?,
            Dest::TlbColor { all } => self.ports.tlb_color_write(mask, value, all)?,
            // FIFO-type peripherals take conditional writes as unconditional ones (qpu.md §3.4).
            Dest::Vpm => self.ports.vpm_write(value)?,
            Dest::VpmReadSetup => self.ports.vpm_read_setup(value[0])?,
            Dest::VpmWriteSetup => self.ports.vpm_write_setup(value[0])?,
            Dest::Sfu(function) => {
                let mut result = function.apply_lanes(value);
                if op.extras & extra::VARIANT != 0 {
                    variant::sfu_lanes(&self.q.facts, function, value, &mut result);
                }
                *self.reg_mut(slot::R4) = result;
            }
            Dest::Tmu(unit, parameter) => self.tmu_write(op, unit, parameter, value, index)?,
        }
        Ok(())
    }

    fn tmu_write(
        &mut self,
        op: &Op,
        unit: u8,
        parameter: u8,
        value: &Lanes,
        index: u32,
    ) -> Result<(), Fault> {
        let unit = usize::from(unit);
        let config = if self.q.tmus[unit].is_direct(parameter) {
            0
        } else if op.port_a == Port::Uniform || op.port_b == Port::Uniform {
            let what =
                "TMU parameter write together with a uniform read; its own configuration word is a uniform";
            return Err(unsupported(index, what));
        } else {
            self.uniform()?
        };
        self.lookups += u64::from(parameter == 0);
        let result = self.q.tmus[unit].write(self.memory, parameter, value, config);
        result.map_err(|fault| of_tmu(fault, index))
    }

    /// Does what the signal asks for.
    pub fn act(&mut self, op: &Op, index: u32, program: &Program) -> Result<Control, Fault> {
        match op.action {
            Action::None => Ok(None),
            Action::End => Ok(Some((Event::End, SWITCH_SLOTS))),
            Action::Switch => Ok(Some((Event::Switch, SWITCH_SLOTS))),
            Action::ColorLoad => {
                let color = self.ports.tlb_color_read()?;
                *self.reg_mut(slot::R4) = color;
                Ok(None)
            }
            Action::LoadTmu(unit) => match self.q.tmus[usize::from(unit)].load() {
                Some(result) => {
                    *self.reg_mut(slot::R4) = result;
                    Ok(None)
                }
                None => {
                    let what =
                        format!("load from TMU{unit} without a request stalls for ever; send one first");
                    Err(unsupported(index, what))
                }
            },
            Action::Semaphore { number, decrement } => {
                let count = &mut self.q.semaphores[usize::from(number)];
                let next = if decrement { count.checked_sub(1) } else { Some(*count + 1) };
                *count = next.filter(|&n| n < 16).ok_or_else(|| {
                    unsupported(index, format!("semaphore {number} stalls for ever; no other QPU changes it"))
                })?;
                Ok(None)
            }
            Action::Branch(branch) => self.branch(&branch, index, program),
        }
    }

    fn branch(&mut self, branch: &Branch, index: u32, program: &Program) -> Result<Control, Fault> {
        let (z, n, c) = (self.q.z, self.q.n, self.q.c);
        let taken = match branch.cond {
            BranchCond::AllZs => z == ALL,
            BranchCond::AllZc => z == 0,
            BranchCond::AnyZs => z != 0,
            BranchCond::AnyZc => z != ALL,
            BranchCond::AllNs => n == ALL,
            BranchCond::AllNc => n == 0,
            BranchCond::AnyNs => n != 0,
            BranchCond::AnyNc => n != ALL,
            BranchCond::AllCs => c == ALL,
            BranchCond::AllCc => c == 0,
            BranchCond::AnyCs => c != 0,
            BranchCond::AnyCc => c != ALL,
            BranchCond::Always => true,
        };
        if !taken {
            return Ok(None);
        }
        let register = branch
            .reg
            .map_or(0, |r| self.reg(slot::RA + r)[register_branch_element(self.q.facts.branch_element)]);
        let offset = branch.base.wrapping_add(register).wrapping_sub(program.address);
        for s in branch.link_to.into_iter().flatten() {
            *self.reg_mut(s) = [branch.link; LANES];
        }
        if branch.sets_flags {
            self.set_flags(&[branch.link; LANES], 0, ALL);
        }
        let target = offset as usize / 8;
        if offset % 8 != 0 || target >= program.ops.len() {
            return Err(unsupported(index, format!("branch to byte {offset:#x}, outside of the program")));
        }
        Ok(Some((Event::Jump(target), BRANCH_SLOTS)))
    }

    /// A thread switch takes effect.
    pub fn lose_accumulators(&mut self) {
        for s in slot::ACC..=slot::R5 {
            *self.reg_mut(s) = [LOST_IN_SWITCH.word; LANES];
        }
        [self.q.z, self.q.n, self.q.c] = LOST_IN_SWITCH.flags;
    }
}
