//! One instruction: to the family that it belongs to, or as one operation.

use vc4::cl::words::VpmWrite;
use vc4::qpu::{AddOp, MulOp, Raddr, RegFile, Signal, Waddr};

use super::inputs::vpm_setup;
use super::selector::{Selector, not_lowered};
use super::{conditions, packs, requests};
use crate::backend::error::BackendError;
use crate::backend::virt::{Dst, Operand, Operation, Src, Unit};
use crate::ir::{Inst, Op, Value};

/// Selects an instruction that something needs.
pub fn select_inst(s: &mut Selector<'_>, inst: Inst) -> Result<(), BackendError> {
    let data = &s.shader.insts[inst];
    if !s.live.contains(inst) || s.covered.contains(inst) {
        return Ok(());
    }
    let args = &data.args[..];
    match data.op {
        // Inputs are read ahead of everything, phis are the loop's.
        Op::Varying(_) | Op::VpmRead(_) | Op::Phi => {}
        // Tile writes in front of the discard are for all elements.
        Op::DiscardIf => s.kill = None,
        // Looked at where they are used.
        op if op.is_leaf() || op.opposite().is_some() => {}
        Op::PayloadW | Op::PayloadZ | Op::BAny => {}
        Op::Select => conditions::select(s, data.results[0], args)?,
        Op::PackUnorm8x4 => packs::pack_unorm8(s, data.results[0], args),
        Op::PackHalves => packs::pack_halves(s, data.results[0], args),
        Op::PackHalfFloats => packs::pack_half_floats(s, data.results[0], args),
        Op::SfuRecip => sfu(s, data.results[0], args[0], Waddr::SFU_RECIP),
        Op::SfuRsqrt => sfu(s, data.results[0], args[0], Waddr::SFU_RSQRT),
        Op::SfuExp2 => sfu(s, data.results[0], args[0], Waddr::SFU_EXP2),
        Op::SfuLog2 => sfu(s, data.results[0], args[0], Waddr::SFU_LOG2),
        Op::Rotate(n) => rotate(s, data.results[0], args[0], n),
        Op::Ddx => derivative(s, data.results[0], args[0], 15),
        Op::Ddy => derivative(s, data.results[0], args[0], 14),
        Op::TmuSample { lookup, r, lod } => requests::sample(s, data.results[0], args, lookup, r, lod)?,
        Op::ClampDirect { .. } => requests::clamp_direct(s, data.results[0]),
        Op::TmuDirect { buffer, offset } => requests::direct(s, data.results[0], args[0], buffer, offset)?,
        Op::TlbColorRead => {
            let reg = s.reg_of(data.results[0]);
            s.load_r4(reg, Operation::signal(Signal::ColorLoad));
        }
        Op::TlbColorWrite => conditions::tile_write(s, args[0], Waddr::TLB_COLOR_ALL)?,
        Op::TlbColorWriteSample => conditions::tile_write(s, args[0], Waddr::TLB_COLOR_MS)?,
        Op::Coverage => {
            let reg = s.reg_of(data.results[0]);
            let flags = Src::Port(Raddr::MS_REV_FLAGS, Some(RegFile::A));
            s.push(Operation::mov(Dst::Reg(reg), flags));
        }
        Op::CoverageWrite => s.value_to_port(args[0], Waddr::MS_REV_FLAGS, Some(RegFile::A)),
        Op::TlbZWrite => conditions::tile_write(s, args[0], Waddr::TLB_Z)?,
        Op::TlbStencilWrite => s.value_to_port(args[0], Waddr::TLB_STENCIL_SETUP, None),
        Op::VpmWrite(row) => {
            s.value_to_port(args[0], Waddr::VPM, None);
            if s.first_rows.contains(inst) {
                // Before everything that this row's value needs there may stand other code.
                let setup = VpmWrite { address: row as u8, ..Default::default() };
                let at = s.seq.len() - 1;
                let setup = vpm_setup(s, setup.bits(), RegFile::B);
                s.seq.insert(at, setup);
            }
        }
        _ => {
            let value = *data.results.first().ok_or_else(|| not_lowered(data.op))?;
            if s.single(value).is_none() {
                return Err(not_lowered(data.op));
            }
            let reg = s.reg_of(value);
            let op = s.build(value, Dst::Reg(reg));
            s.push(op);
        }
    }
    Ok(())
}

fn sfu(s: &mut Selector<'_>, result: Value, arg: Value, waddr: Waddr) {
    let reg = s.reg_of(result);
    s.value_to_port(arg, waddr, None);
    s.program.regs[reg].places.r4 = !s.not_in_r4.contains(reg);
    s.push(Operation::mov(Dst::Reg(reg), Src::R4));
}

fn rotate(s: &mut Selector<'_>, result: Value, arg: Value, n: u8) {
    let reg = s.reg_of(result);
    let source = s.unpackable(arg);
    let mut op = Operation::new(Unit::Mul(MulOp::V8min), Dst::Reg(reg), &[Src::Reg(source).into(); 2]);
    op.rotate = n & 15;
    s.push(op);
}

/// The difference of a neighbour and the first pixel, made the whole quad's by r5's per-quad write
/// (qpu.md §1.3, §3.2). Rotating down by `16 - rotation` brings the right or lower neighbour.
fn derivative(s: &mut Selector<'_>, result: Value, arg: Value, rotation: u8) {
    let (reg, neighbour) = (s.reg_of(result), s.program.reg());
    let source = s.unpackable(arg);
    let operand = Operand::from(Src::Reg(source));
    let mut rotate = Operation::new(Unit::Mul(MulOp::V8min), Dst::Reg(neighbour), &[operand; 2]);
    rotate.rotate = rotation;
    s.push(rotate);
    let r5 = Dst::Port(Waddr::R5, Some(RegFile::A));
    s.push(Operation::new(Unit::Add(AddOp::Fsub), r5, &[Src::Reg(neighbour).into(), operand]));
    s.push(Operation::mov(Dst::Reg(reg), Src::R5));
}
