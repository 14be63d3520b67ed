//! One instruction: to the family that it belongs to, or as one operation.

use vc4::qpu::{AddOp, MulOp, Raddr, RegFile, Signal, Waddr};

use super::inputs::{VPM_SETUP, vpm_setup};
use super::selector::{Selector, not_lowered};
use crate::backend::error::BackendError;
use crate::backend::virt::{Dst, Operand, Operation, Src, Unit};
use crate::ir::{Inst, Op, Value};

impl Selector<'_> {
    /// Selects an instruction that something needs.
    pub fn inst(&mut self, inst: Inst) -> Result<(), BackendError> {
        let data = &self.shader.insts[inst];
        if !self.live.contains(inst) || self.covered.contains(inst) {
            return Ok(());
        }
        let args = &data.args[..];
        match data.op {
            // Inputs are read ahead of everything, phis are the loop's.
            Op::Varying(_) | Op::VpmRead(_) | Op::Phi => {}
            // Tile writes in front of the discard are for all elements.
            Op::DiscardIf => self.kill = None,
            // Looked at where they are used.
            op if op.is_leaf() || op.opposite().is_some() => {}
            Op::PayloadW | Op::PayloadZ | Op::BAny => {}
            Op::Select => self.select_value(data.results[0], args)?,
            Op::PackUnorm8x4 => self.pack_unorm8(data.results[0], args),
            Op::PackHalves => self.pack_halves(data.results[0], args),
            Op::PackHalfFloats => self.pack_half_floats(data.results[0], args),
            Op::SfuRecip => self.sfu(data.results[0], args[0], Waddr::SFU_RECIP),
            Op::SfuRsqrt => self.sfu(data.results[0], args[0], Waddr::SFU_RSQRT),
            Op::SfuExp2 => self.sfu(data.results[0], args[0], Waddr::SFU_EXP2),
            Op::SfuLog2 => self.sfu(data.results[0], args[0], Waddr::SFU_LOG2),
            Op::Rotate(n) => self.rotate(data.results[0], args[0], n),
            Op::Ddx => self.derivative(data.results[0], args[0], 15),
            Op::Ddy => self.derivative(data.results[0], args[0], 14),
            Op::TmuSample { lookup, r, lod } => self.sample(data.results[0], args, lookup, r, lod)?,
            Op::ClampDirect { .. } => self.clamp_direct(data.results[0]),
            Op::TmuDirect { buffer, offset } => self.direct(data.results[0], args[0], buffer, offset)?,
            Op::TlbColorRead => {
                let reg = self.reg_of(data.results[0]);
                self.load_r4(reg, Operation::signal(Signal::ColorLoad));
            }
            Op::TlbColorWrite => self.tile_write(args[0], Waddr::TLB_COLOR_ALL)?,
            Op::TlbColorWriteSample => self.tile_write(args[0], Waddr::TLB_COLOR_MS)?,
            Op::Coverage => {
                let reg = self.reg_of(data.results[0]);
                let flags = Src::Port(Raddr::MS_REV_FLAGS, Some(RegFile::A));
                self.push(Operation::mov(Dst::Reg(reg), flags));
            }
            Op::CoverageWrite => self.value_to_port(args[0], Waddr::MS_REV_FLAGS, Some(RegFile::A)),
            Op::TlbZWrite => self.tile_write(args[0], Waddr::TLB_Z)?,
            Op::TlbStencilWrite => self.value_to_port(args[0], Waddr::TLB_STENCIL_SETUP, None),
            Op::VpmWrite(row) => {
                self.value_to_port(args[0], Waddr::VPM, None);
                if row == 0 {
                    // Before everything that this row's value needs there may stand other code.
                    let setup = vpm_setup(VPM_SETUP, RegFile::B);
                    let at = self.seq.len() - 1;
                    self.seq.insert(at, setup);
                }
            }
            _ => {
                let value = *data.results.first().ok_or_else(|| not_lowered(data.op))?;
                if self.single(value).is_none() {
                    return Err(not_lowered(data.op));
                }
                let reg = self.reg_of(value);
                let op = self.build(value, Dst::Reg(reg));
                self.push(op);
            }
        }
        Ok(())
    }

    fn sfu(&mut self, result: Value, arg: Value, waddr: Waddr) {
        let reg = self.reg_of(result);
        self.value_to_port(arg, waddr, None);
        self.program.regs[reg].places.r4 = !self.not_in_r4.contains(reg);
        self.push(Operation::mov(Dst::Reg(reg), Src::R4));
    }

    fn rotate(&mut self, result: Value, arg: Value, n: u8) {
        let reg = self.reg_of(result);
        let source = self.unpackable(arg);
        let mut op = Operation::new(Unit::Mul(MulOp::V8min), Dst::Reg(reg), &[Src::Reg(source).into(); 2]);
        op.rotate = n & 15;
        self.push(op);
    }

    /// The difference of a neighbour and the first pixel, made the whole quad's by r5's per-quad write
    /// (qpu.md §1.3, §3.2). Rotating down by `16 - rotation` brings the right or lower neighbour.
    fn derivative(&mut self, result: Value, arg: Value, rotation: u8) {
        let (reg, neighbour) = (self.reg_of(result), self.program.reg());
        let source = self.unpackable(arg);
        let operand = Operand::from(Src::Reg(source));
        let mut rotate = Operation::new(Unit::Mul(MulOp::V8min), Dst::Reg(neighbour), &[operand; 2]);
        rotate.rotate = rotation;
        self.push(rotate);
        let r5 = Dst::Port(Waddr::R5, Some(RegFile::A));
        self.push(Operation::new(Unit::Add(AddOp::Fsub), r5, &[Src::Reg(neighbour).into(), operand]));
        self.push(Operation::mov(Dst::Reg(reg), Src::R5));
    }
}
