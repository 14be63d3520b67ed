//! One instruction of a block: to the family that it belongs to.

use smallvec::SmallVec;
use spirv::{GlslStd450Op, Op};

use super::translator::Translator;
use super::{atomic, buffer, image, interpolation, memory, subgroup};
use crate::ir::{Stage, Type, Value};
use crate::spirv::binary::{Id, Inst, Operand};
use crate::spirv::error::Result;
use crate::spirv::expression::emit::Typed;
use crate::spirv::expression::{expression, glsl};

/// Translates an instruction that control goes on after: all but calls.
pub fn translate(t: &mut Translator<'_>, inst: &Inst) -> Result<()> {
    match inst.op {
        Op::Nop | Op::Line | Op::NoLine => {}
        Op::MemoryBarrier => atomic::memory_barrier(t),
        Op::ControlBarrier => atomic::control_barrier(t, inst)?,
        op if atomic::is_atomic(op) => atomic::atomic(t, inst)?,
        op if subgroup::is_group(op) => subgroup::group(t, inst)?,
        Op::PtrAccessChain | Op::InBoundsPtrAccessChain | Op::PtrEqual | Op::PtrNotEqual | Op::PtrDiff => {
            return Err(
                inst.unsupported(format!("Op{:?}", inst.op), "OpAccessChain and OpInBoundsAccessChain")
            );
        }
        op if needs_quads(op) && t.shader.stage == Stage::Compute => {
            return Err(inst.invalid("this exists in fragment shaders only"));
        }
        Op::Variable => memory::local_variable(t, inst)?,
        Op::Load => memory::load(t, inst)?,
        Op::Store => memory::store(t, inst)?,
        Op::CopyMemory => memory::copy_memory(t, inst)?,
        Op::AccessChain | Op::InBoundsAccessChain => memory::access_chain(t, inst)?,
        Op::ExtInst => extended(t, inst)?,
        Op::CopyObject => {
            let entity = t.entity(inst.id_at(0)?, inst)?;
            t.define(inst, entity)?;
        }
        Op::Undef => {
            let scalars = t.module.types.flatten(t.module.type_of(inst.id, inst)?);
            let values: Vec<Value> = scalars.into_iter().map(|ty| t.undef(ty)).collect();
            t.define_data(inst, values)?;
        }
        Op::DemoteToHelperInvocation => {
            let always = t.constant(Type::Bool, 1);
            t.builder().discard_if(always);
        }
        Op::ArrayLength => buffer::array_length(t, inst)?,
        op if image::is_image_op(op) => image::image(t, inst)?,
        op => {
            let args = operands(t, inst)?;
            let mut e = t.emit(inst)?;
            let values = expression(&mut e, op, &args, &inst.literals())?;
            t.define_data(inst, values)?;
        }
    }
    Ok(())
}

/// Whether an operation deals with the pixels of a quad.
const fn needs_quads(op: Op) -> bool {
    matches!(
        op,
        Op::DPdx
            | Op::DPdy
            | Op::Fwidth
            | Op::DPdxFine
            | Op::DPdyFine
            | Op::FwidthFine
            | Op::DPdxCoarse
            | Op::DPdyCoarse
            | Op::FwidthCoarse
            | Op::DemoteToHelperInvocation
    )
}

fn operands(t: &mut Translator<'_>, inst: &Inst) -> Result<SmallVec<[Typed; 4]>> {
    inst.ids().map(|id| t.data(id, inst)).collect()
}

fn extended(t: &mut Translator<'_>, inst: &Inst) -> Result<()> {
    let set = inst.id_at(0)?;
    if t.module.ignored_sets.contains(&set) {
        return Ok(());
    }
    let number = match inst.operands.get(1) {
        Some(&Operand::LiteralExtInstInteger(number)) if t.module.glsl == Some(set) => number,
        _ => return Err(inst.invalid(format!("%{set} is not an imported instruction set"))),
    };
    let Some(op) = GlslStd450Op::from_u32(number) else {
        return Err(inst.invalid(format!("GLSL.std.450 has no instruction {number}")));
    };
    let stores = matches!(op, GlslStd450Op::Modf | GlslStd450Op::Frexp);
    let operands: Vec<Id> = inst.ids().skip(1).collect();
    if interpolation::evaluates(op) {
        return interpolation::evaluate(t, inst, op, &operands);
    }
    let given = if stores { operands.len().min(1) } else { operands.len() };
    let args: Result<Vec<Typed>> = operands[..given].iter().map(|&id| t.data(id, inst)).collect();
    let mut e = t.emit(inst)?;
    let values = glsl::extended(&mut e, op, &args?)?;
    if !stores {
        let values = e.check(values)?;
        return t.define_data(inst, values);
    }
    let (result, stored) = values.split_at(values.len() / 2);
    let pointer = operands.get(1).copied().ok_or_else(|| inst.invalid("a pointer is missing"))?;
    let pointer = t.pointer(pointer, inst)?;
    memory::store_to(t, &pointer, stored, inst)?;
    t.define_data(inst, result)
}
