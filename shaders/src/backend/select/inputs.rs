//! Varyings and attribute rows, which the hardware delivers in order (qpu.md §4.2, §4.9).

use vc4::cl::Count;
use vc4::cl::words::VpmRead;
use vc4::qpu::{AddOp, MulOp, Raddr, RegFile, Waddr};

use super::selector::Selector;
use crate::backend::error::BackendError;
use crate::backend::virt::{Dst, Operation, Src, Unit};
use crate::binding::UniformSlot;
use crate::ir::{Op, Stage, Value};

/// The inputs that the hardware delivers, used or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// Attribute rows, or varyings with the implicit ones.
    pub count: u32,
    /// Bit n: varying n is flat, its C coefficient is its value.
    pub flat: u64,
}

/// Reads varyings and attribute rows in hardware order, ahead of all other code; the scheduler
/// moves them to where they are wanted. Appends in reverse like everything else.
pub fn read_inputs(s: &mut Selector<'_>, inputs: Inputs) -> Result<(), BackendError> {
    let mut values: Vec<Option<Value>> = vec![None; inputs.count as usize];
    for inst in s.shader.insts_in_order() {
        let data = &s.shader.insts[inst];
        if let Op::Varying(n) | Op::VpmRead(n) = data.op {
            match values.get_mut(n as usize) {
                Some(slot @ None) => *slot = Some(data.results[0]),
                _ => return Err(BackendError::InputOrder(n)),
            }
        }
    }
    for (index, value) in values.iter().enumerate() {
        let value = value.filter(|&value| s.uses[value] > 0);
        match s.shader.stage {
            Stage::Fragment => varying(s, value, inputs.flat >> index & 1 != 0),
            Stage::Vertex => vpm_read(s, index, values.len(), value),
            // It reads nothing but memory and built-ins.
            Stage::Compute => {}
        }
    }
    s.flush();
    Ok(())
}

/// Value = VP·W + C (qpu.md §4.2); of a flat varying C, untouched by arithmetic that would flush integers.
pub fn varying(s: &mut Selector<'_>, value: Option<Value>, flat: bool) {
    let vary = Src::Port(Raddr::VARYING, None);
    let Some(value) = value.filter(|_| !flat) else {
        s.push(Operation::mov(Dst::None, vary));
        if let Some(value) = value {
            let reg = s.reg_of(value);
            s.push(Operation::mov(Dst::Reg(reg), Src::R5));
        }
        return;
    };
    let w = s.payload(true);
    let product = s.program.reg();
    let reg = s.reg_of(value);
    let operands = [vary.into(), Src::Reg(w).into()];
    s.push(Operation::new(Unit::Mul(MulOp::Fmul), Dst::Reg(product), &operands));
    let operands = [Src::Reg(product).into(), Src::R5.into()];
    s.push(Operation::new(Unit::Add(AddOp::Fadd), Dst::Reg(reg), &operands));
}

/// Reads row `index` of `total`; `value` is what it is, if anybody wants it.
pub fn vpm_read(s: &mut Selector<'_>, index: usize, total: usize, value: Option<Value>) {
    if index % Count::<4>::MAX.get() as usize == 0 {
        // One set-up delivers so many vectors at most (qpu.md §4.9), the last one what is left.
        let count = Count::new((total - index) as u32).unwrap_or(Count::MAX);
        let setup = VpmRead { count, address: index as u8, ..Default::default() };
        let setup = vpm_setup(s, setup.bits(), RegFile::A);
        s.seq.push(setup);
    }
    let dst = value.map_or(Dst::None, |value| Dst::Reg(s.reg_of(value)));
    s.push(Operation::mov(dst, Src::Port(Raddr::VPM, None)));
}

/// A stream word, so that it may share an instruction; where it does not, it becomes an immediate.
pub fn vpm_setup(s: &mut Selector<'_>, word: u32, file: RegFile) -> Operation {
    let word = s.uniform_word(UniformSlot::Const(word));
    Operation::mov(Dst::Port(Waddr::VPM_SETUP, Some(file)), word)
}
