//! Atomic operations on buffers, shared memory and texels, and what orders accesses to memory.

use spirv::{MemorySemantics, Op as Spv, Scope};

use super::env::{Entity, Place, TexelPointer};
use super::translator::Translator;
use super::words::{self, Located};
use crate::ir::{Atomic, Memory, Op, Stage, Type, Value};
use crate::spirv::binary::Inst;
use crate::spirv::error::Result;

const SUPPORTED: &str = "in compute shaders OpAtomicLoad, Store, Exchange, CompareExchange, IIncrement, IDecrement, IAdd, \
    ISub, SMin, UMin, SMax, UMax, And, Or and Xor";

/// Whether an instruction is an atomic operation, known or not.
pub fn is_atomic(op: Spv) -> bool {
    let known = Spv::AtomicLoad as u32..=Spv::AtomicXor as u32;
    known.contains(&(op as u32))
        || matches!(
            op,
            Spv::AtomicFlagTestAndSet
                | Spv::AtomicFlagClear
                | Spv::AtomicFAddEXT
                | Spv::AtomicFMinEXT
                | Spv::AtomicFMaxEXT
        )
}

/// Where an atomic operation happens.
enum At {
    /// In a word of memory.
    Word(Memory, Value, u32),
    /// In a texel.
    Texel(std::rc::Rc<TexelPointer>),
}

/// Translates an atomic operation.
pub fn atomic(t: &mut Translator<'_>, inst: &Inst) -> Result<()> {
    if t.shader.stage != Stage::Compute {
        return Err(inst.unsupported(
            "an atomic operation (vertexPipelineStoresAndAtomics and fragmentStoresAndAtomics are off)",
            SUPPORTED,
        ));
    }
    let at = place(t, inst)?;
    let orders = orders_memory(t, inst, 2);
    if orders {
        t.builder().emit(Op::Fence, &[]);
    }
    let before = perform(t, &at, inst)?;
    if orders {
        t.builder().emit(Op::Fence, &[]);
    }
    match before {
        Some(value) => t.define_data(inst, vec![value]),
        None => Ok(()),
    }
}

fn perform(t: &mut Translator<'_>, at: &At, inst: &Inst) -> Result<Option<Value>> {
    let (action, operands): (Atomic, &[usize]) = match inst.op {
        Spv::AtomicLoad => return Ok(Some(load(t, at))),
        Spv::AtomicStore => {
            let value = t.scalar(inst.id_at(3)?, Type::Word, inst)?;
            store(t, at, value);
            return Ok(None);
        }
        Spv::AtomicIIncrement => return Ok(Some(step(t, at, 1))),
        Spv::AtomicIDecrement => return Ok(Some(step(t, at, u32::MAX))),
        Spv::AtomicISub => {
            let (value, zero) = (t.scalar(inst.id_at(3)?, Type::Word, inst)?, t.constant(Type::Word, 0));
            let negated = t.builder().isub(zero, value);
            return Ok(Some(change(t, at, Atomic::Add, &[negated])));
        }
        Spv::AtomicCompareExchange => (Atomic::CompareExchange, &[4, 5]),
        Spv::AtomicExchange => (Atomic::Exchange, &[3]),
        Spv::AtomicIAdd => (Atomic::Add, &[3]),
        Spv::AtomicSMin => (Atomic::SMin, &[3]),
        Spv::AtomicUMin => (Atomic::UMin, &[3]),
        Spv::AtomicSMax => (Atomic::SMax, &[3]),
        Spv::AtomicUMax => (Atomic::UMax, &[3]),
        Spv::AtomicAnd => (Atomic::And, &[3]),
        Spv::AtomicOr => (Atomic::Or, &[3]),
        Spv::AtomicXor => (Atomic::Xor, &[3]),
        op => return Err(inst.unsupported(format!("Op{op:?}"), SUPPORTED)),
    };
    let mut values = Vec::with_capacity(2);
    for &operand in operands {
        values.push(t.scalar(inst.id_at(operand)?, Type::Word, inst)?);
    }
    Ok(Some(change(t, at, action, &values)))
}

/// The one word that the instruction's pointer points to.
fn place(t: &mut Translator<'_>, inst: &Inst) -> Result<At> {
    let pointer = match t.entity(inst.id_at(0)?, inst)? {
        Entity::Texel(pointer) => return Ok(At::Texel(pointer)),
        Entity::Pointer(pointer) => pointer,
        _ => return Err(inst.invalid("the first operand is not a pointer")),
    };
    let shared = matches!(pointer.place, Place::Words { memory: Memory::Shared, .. });
    if !shared && !matches!(pointer.place, Place::Buffer(_)) {
        let what = format!("an atomic operation in storage class {:?}", pointer.class);
        return Err(inst.unsupported(what, "storage buffers, shared memory and texels"));
    }
    let Located { memory, address, scalars } = words::locate(t, &pointer, inst)?;
    match scalars[..] {
        [(offset, Type::Word)] => Ok(At::Word(memory, address, offset)),
        _ => Err(inst.invalid("the pointer does not lead to a number")),
    }
}

fn load(t: &mut Translator<'_>, at: &At) -> Value {
    match at {
        &At::Word(memory, address, offset) => t.builder().emit(Op::Load { memory, offset }, &[address])[0],
        At::Texel(pointer) => t.builder().emit(Op::ImageRead(pointer.texel), &pointer.coordinates)[0],
    }
}

fn store(t: &mut Translator<'_>, at: &At, value: Value) {
    match at {
        &At::Word(memory, address, offset) => {
            t.builder().emit(Op::Store { memory, offset }, &[address, value]);
        }
        At::Texel(pointer) => {
            let zero = t.constant(Type::Word, 0);
            let args: Vec<Value> =
                pointer.coordinates.iter().copied().chain([value, zero, zero, zero]).collect();
            t.builder().emit(Op::ImageWrite(pointer.texel), &args);
        }
    }
}

fn step(t: &mut Translator<'_>, at: &At, by: u32) -> Value {
    let by = t.constant(Type::Word, by);
    change(t, at, Atomic::Add, &[by])
}

fn change(t: &mut Translator<'_>, at: &At, action: Atomic, operands: &[Value]) -> Value {
    let mut args = Vec::with_capacity(6);
    let op = match at {
        &At::Word(memory, address, offset) => {
            args.push(address);
            Op::Atomic { memory, offset, action }
        }
        At::Texel(pointer) => {
            args.extend_from_slice(&pointer.coordinates);
            Op::ImageAtomic(pointer.texel, action)
        }
    };
    args.extend_from_slice(operands);
    t.builder().emit(op, &args)[0]
}

/// Whether the memory semantics of operand `index` order other accesses, as they do if they are not known.
fn orders_memory(t: &Translator<'_>, inst: &Inst, index: usize) -> bool {
    let ordering = MemorySemantics::ACQUIRE
        | MemorySemantics::RELEASE
        | MemorySemantics::ACQUIRE_RELEASE
        | MemorySemantics::SEQUENTIALLY_CONSISTENT;
    let word = inst.id_at(index).ok().and_then(|id| t.module.constants.word(id));
    word.is_none_or(|word| word & ordering.bits() != 0)
}

/// OpControlBarrier: waits for the workgroup. The invocations of a subgroup that are there at all are never apart.
pub fn control_barrier(t: &mut Translator<'_>, inst: &Inst) -> Result<()> {
    if t.shader.stage != Stage::Compute {
        return Err(
            inst.unsupported("OpControlBarrier outside compute shaders", "barriers in compute shaders")
        );
    }
    let scope = inst.id_at(0)?;
    let Some(scope) = t.module.constants.word(scope) else {
        return Err(inst.invalid("the scope is not a constant"));
    };
    let alone = scope == Scope::Subgroup as u32 || scope == Scope::Invocation as u32;
    t.builder().emit(if alone { Op::Fence } else { Op::Barrier }, &[]);
    Ok(())
}

/// OpMemoryBarrier. Stages that store nothing have nothing to order.
pub fn memory_barrier(t: &mut Translator<'_>) {
    if t.shader.stage == Stage::Compute {
        t.builder().emit(Op::Fence, &[]);
    }
}
