//! Texture and direct lookups (qpu.md §4.5–§4.6, §5.3).

use vc4::qpu::{AddOp, Signal, Waddr};

use super::selector::{Selector, not_lowered};
use crate::backend::error::BackendError;
use crate::backend::virt::{Dst, Operand, Operation, Reg, Src, Unit};
use crate::binding::{Descriptor, Lookup, UniformSlot};
use crate::ir::{InstData, Lod, Op, TmuR, Value};
use crate::program::SampleBo;

/// What sends a request of one word to each TMU, and the signal that loads its result.
const TMUS: [(Waddr, Signal); 2] = [(Waddr::TMU0_S, Signal::LoadTmu0), (Waddr::TMU1_S, Signal::LoadTmu1)];
/// Bytes of a vector in a buffer.
const VECTOR_BYTES: u32 = 16;

/// Writes a TMU parameter, which pops the stream word `parameter` and so excludes another uniform.
pub fn tmu_parameter(s: &mut Selector<'_>, value: Value, waddr: Waddr, parameter: UniformSlot) {
    let dst = Dst::Port(waddr, None);
    let mut op = if s.foldable(value) {
        s.fold(value, dst)
    } else {
        let operand = s.operand(value);
        Operation::mov(dst, operand)
    };
    for i in 0..op.src.len() {
        if let Src::Uniform(word) = op.src[i].src {
            let temp = s.program.reg();
            s.seq.push(Operation::mov(Dst::Reg(temp), Src::Uniform(word)));
            op.src[i].src = Src::Reg(temp);
        }
    }
    op.parameter = Some(s.program.word(parameter));
    s.push(op);
}

/// A request to the texture unit.
pub fn sample(
    s: &mut Selector<'_>,
    result: Value,
    args: &[Value],
    lookup: Lookup,
    r: TmuR,
    lod: Lod,
) -> Result<(), BackendError> {
    let coordinates = if r == TmuR::None { 2 } else { 3 };
    let extra = usize::from(lod != Lod::Auto);
    if args.len() != coordinates + extra || lod == Lod::Grad {
        return Err(not_lowered(Op::TmuSample { lookup, r, lod }));
    }
    let p2 = if r == TmuR::Cube || lod == Lod::Explicit {
        UniformSlot::TextureP2 { lookup, explicit_lod: lod == Lod::Explicit }
    } else {
        UniformSlot::Const(0)
    };
    let mut words =
        [UniformSlot::TextureP0(lookup), UniformSlot::TextureP1(lookup), p2, UniformSlot::Const(0)]
            .into_iter();
    let mut next = || words.next().expect("a request has at most four parameters");
    tmu_parameter(s, args[1], Waddr::TMU0_T, next());
    if coordinates == 3 {
        tmu_parameter(s, args[2], Waddr::TMU0_R, next());
    }
    if extra == 1 {
        tmu_parameter(s, args[coordinates], Waddr::TMU0_B, next());
    }
    tmu_parameter(s, args[0], Waddr::TMU0_S, next());
    let sample = SampleBo::Texture(lookup.texture.image);
    s.seq.last_mut().expect("the parameter was just written").sample = Some(sample);
    let reg = s.reg_of(result);
    s.load_r4(reg, Operation::signal(Signal::LoadTmu0));
    Ok(())
}

/// The offset of direct lookups, in the form that the kernel demands: max and min of exactly these operands (SHD-19).
fn clamp(s: &mut Selector<'_>, offset: Value, buffer: Descriptor, last: u32, clamped: Reg) {
    let low = s.program.reg();
    let offset = match s.operand(offset) {
        operand @ Operand { src: Src::Reg(_), .. } => operand,
        // The clamp's immediate and an access of the stream are not allowed in one instruction (SHD-19).
        operand => {
            let temp = s.program.reg();
            s.push(Operation::mov(Dst::Reg(temp), operand));
            Src::Reg(temp).into()
        }
    };
    let limit = s.uniform_word(UniformSlot::UboLimit { buffer, last });
    let zero = s.constant(0);
    let max = Operation::new(Unit::Add(AddOp::Max), Dst::Reg(low), &[offset, zero]);
    let min = Operation::new(Unit::Add(AddOp::Min), Dst::Reg(clamped), &[Src::Reg(low).into(), limit]);
    s.push(Operation { ordered: true, ..max });
    s.push(Operation { ordered: true, ..min });
}

/// The clamp that lookups of this block share, if there are any.
pub fn clamp_direct(s: &mut Selector<'_>, result: Value) {
    if let (Some(reg), Op::ClampDirect { buffer, last }) = (s.regs[result].expand(), s.op(result)) {
        clamp(s, s.args(result)[0], buffer, last, reg);
    }
}

/// The TMU of a direct lookup at an offset from what is clamped. Vectors go to each in turn, so that twice as many words are on
/// their way (qpu.md §4.6), and the words of one find their line in one cache. Beside filtered samples it is always the second
/// one: on their own a direct lookup would spoil the kernel's view of them (SHD-24).
fn direct_tmu(s: &mut Selector<'_>, at: Value, offset: u32) -> usize {
    let is_filtered = |data: &InstData| matches!(data.op, Op::TmuSample { .. });
    let filters = *s.filters.get_or_insert_with(|| s.shader.insts.values().any(is_filtered));
    let next = if filters { 1 } else { (s.direct_tmus.len() + 1) % TMUS.len() };
    *s.direct_tmus.entry((at, offset / VECTOR_BYTES)).or_insert(next)
}

/// The kernel forgets at branch targets what was clamped, so that only lookups of one block share a clamp.
pub fn direct(
    s: &mut Selector<'_>,
    result: Value,
    at: Value,
    buffer: Descriptor,
    offset: u32,
) -> Result<(), BackendError> {
    let Op::ClampDirect { buffer: clamped_for, last } = s.op(at) else {
        return Err(not_lowered(Op::TmuDirect { buffer, offset }));
    };
    let clamped = if s.is_local(at) {
        s.reg_of(at)
    } else {
        let reg = s.program.reg();
        clamp(s, s.args(at)[0], clamped_for, last, reg);
        reg
    };
    let base = s.uniform_word(UniformSlot::UboBase { buffer, offset });
    let (port, signal) = TMUS[direct_tmu(s, at, offset)];
    let address =
        Operation::new(Unit::Add(AddOp::Add), Dst::Port(port, None), &[Src::Reg(clamped).into(), base]);
    s.push(Operation { ordered: true, sample: Some(SampleBo::Ubo(buffer)), ..address });
    let reg = s.reg_of(result);
    s.load_r4(reg, Operation::signal(signal));
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::backend::{Inputs, compile};
    use crate::binding::Descriptor;
    use crate::ir::{Builder, Op, Shader, Stage};

    #[test]
    fn a_lookup_at_a_place_of_the_stream() {
        let buffer = Descriptor { set: 0, binding: 0, element: 0 };
        // A small immediate, and a word that must come through the stream.
        for offset in [4, 204] {
            let mut shader = Shader::new(Stage::Fragment);
            let block = shader.entry().expect("a new shader has a block");
            let mut b = Builder::new(&mut shader, block);
            let offset = b.word(offset);
            let at = b.op(Op::ClampDirect { buffer, last: 0 }, &[offset]);
            let texel = b.op(Op::TmuDirect { buffer, offset: 0 }, &[at]);
            b.emit(Op::TlbColorWrite, &[texel]);
            let program = compile(&shader, Inputs::default()).expect("every operand has a place");
            assert_eq!(program.samples.len(), 1);
        }
    }
}
