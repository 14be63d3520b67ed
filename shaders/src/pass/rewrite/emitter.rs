//! Pipeline-state patches written into the IR: `vc4::state`'s emitter on top of the builder.

use vc4::qpu::{AddOp, MulOp, Unpack};
use vc4::state::{Emitter, Flag, SampleEmitter, StateUniform, refined};

use crate::binding::UniformSlot;
use crate::ir::{Builder, Op, Value};
use crate::pass::analysis::bounds;

/// Emits patches at the end of a block.
pub struct IrEmitter<'a, 'b> {
    /// Where operations go.
    pub builder: &'b mut Builder<'a>,
    /// The next output row of a vertex or coordinate program.
    pub next_row: u32,
}

impl<'a, 'b> IrEmitter<'a, 'b> {
    /// An emitter that starts at output row 0.
    pub fn new(builder: &'b mut Builder<'a>) -> Self {
        IrEmitter { builder, next_row: 0 }
    }
}

/// The generic operation of the same meaning, which passes understand.
fn generic(op: AddOp) -> Op {
    match op {
        AddOp::Fadd => Op::FAdd,
        AddOp::Fsub => Op::FSub,
        AddOp::Fmin => Op::FMin,
        AddOp::Fmax => Op::FMax,
        AddOp::Ftoi => Op::FToS,
        AddOp::Itof => Op::SToF,
        AddOp::Add => Op::IAdd,
        AddOp::Sub => Op::ISub,
        AddOp::Shr => Op::Shr,
        AddOp::Asr => Op::Asr,
        AddOp::Shl => Op::Shl,
        AddOp::Min => Op::SMin,
        AddOp::Max => Op::SMax,
        AddOp::And => Op::And,
        AddOp::Or => Op::Or,
        AddOp::Xor => Op::Xor,
        AddOp::Not => Op::Not,
        AddOp::Clz => Op::Clz,
        _ => Op::Add(op),
    }
}

/// 1/a from the SFU's estimate r and one step of r(2 - ar): within 2 ULP (vulkan-on-vc4.md §9). What [`Emitter::recip`] costs more makes
/// powers of two exact.
pub fn recip(b: &mut Builder, a: Value) -> Value {
    let r = b.op(Op::SfuRecip, &[a]);
    let two = b.float(2.0);
    let product = b.op(Op::FMul, &[a, r]);
    let factor = b.op(Op::FSub, &[two, product]);
    b.op(Op::FMul, &[r, factor])
}

impl Emitter for IrEmitter<'_, '_> {
    type Value = Value;

    fn word(&mut self, bits: u32) -> Value {
        self.builder.word(bits)
    }

    fn uniform(&mut self, slot: StateUniform) -> Value {
        self.builder.op(Op::Uniform(UniformSlot::State(slot)), &[])
    }

    fn is_limited(&self, value: Value) -> bool {
        let is_uniform = matches!(self.builder.shader.op(value), Op::Uniform(_));
        is_uniform || bounds::range(self.builder.shader, value).high <= 1.0
    }

    fn add(&mut self, op: AddOp, a: Value, b: Value) -> Value {
        let args = [a, b];
        self.builder.op(generic(op), &args[..op.operands()])
    }

    fn mul(&mut self, op: MulOp, a: Value, b: Value) -> Value {
        let op = if op == MulOp::Fmul { Op::FMul } else { Op::Mul(op) };
        self.builder.op(op, &[a, b])
    }

    fn recip(&mut self, a: Value) -> Value {
        if let Some(word) = self.builder.shader.const_of(a) {
            return self.builder.float(1.0 / f32::from_bits(word));
        }
        refined(self, a, |e, a| e.builder.op(Op::SfuRecip, &[a]))
    }

    fn unpack(&mut self, from: Value, part: Unpack, float: bool) -> Value {
        let op = if float { Op::UnpackFloat(part) } else { Op::UnpackInt(part) };
        self.builder.op(op, &[from])
    }

    fn pack_unorm8(&mut self, rgba: [Value; 4]) -> Value {
        self.builder.op(Op::PackUnorm8x4, &rgba)
    }

    fn pack_half_floats(&mut self, low: Value, high: Value) -> Value {
        self.builder.op(Op::PackHalfFloats, &[low, high])
    }

    fn log2(&mut self, a: Value) -> Value {
        self.builder.op(Op::SfuLog2, &[a])
    }

    fn exp2(&mut self, a: Value) -> Value {
        self.builder.op(Op::SfuExp2, &[a])
    }

    fn pack_halves(&mut self, low: Value, high: Value) -> Value {
        self.builder.op(Op::PackHalves, &[low, high])
    }

    fn select(&mut self, flag: Flag, on: Value, yes: Value, no: Value) -> Value {
        let zero = self.builder.word(0);
        let condition = match flag {
            Flag::Zero => self.builder.op(Op::IEq, &[on, zero]),
            Flag::NotZero => self.builder.op(Op::INe, &[on, zero]),
            Flag::Negative => self.builder.op(Op::SLt, &[on, zero]),
            Flag::NotNegative => self.builder.op(Op::SLe, &[zero, on]),
        };
        self.builder.select(condition, yes, no)
    }

    fn tlb_color(&mut self) -> Value {
        self.builder.emit(Op::TlbColorRead, &[])[0]
    }

    fn write_tlb_color(&mut self, value: Value) {
        self.builder.emit(Op::TlbColorWrite, &[value]);
    }

    fn write_tlb_z(&mut self, z: Value) {
        self.builder.emit(Op::TlbZWrite, &[z]);
    }

    fn write_tlb_stencil(&mut self, word: Value) {
        self.builder.emit(Op::TlbStencilWrite, &[word]);
    }

    fn write_vpm(&mut self, value: Value) {
        self.builder.emit(Op::VpmWrite(self.next_row), &[value]);
        self.next_row += 1;
    }

    fn payload_z(&mut self) -> Value {
        self.builder.op(Op::PayloadZ, &[])
    }
}

impl SampleEmitter for IrEmitter<'_, '_> {
    fn write_tlb_color_sample(&mut self, value: Value) {
        self.builder.emit(Op::TlbColorWriteSample, &[value]);
    }

    fn coverage(&mut self) -> Value {
        self.builder.emit(Op::Coverage, &[])[0]
    }

    fn reverse(&mut self) -> Value {
        self.builder.op(Op::RevFlag, &[])
    }

    fn write_coverage(&mut self, mask: Value) {
        self.builder.emit(Op::CoverageWrite, &[mask]);
    }
}
