//! Operations of subgroups, each of which is a single invocation: what it asks of the others it knows itself.
//!
//! So votes are what the invocation votes, scans up to and with it are its own value, and those that end before it are
//! the operation's identity. Other invocations of a subgroup can only be asked for with results that Vulkan leaves open.

use spirv::{GroupOperation, Op as Spv, Scope};

use super::env::Entity;
use super::translator::Translator;
use crate::ir::{Op, Stage, Type, Value};
use crate::spirv::binary::{Inst, Operand};
use crate::spirv::error::Result;

const SUPPORTED: &str = "in compute shaders OpGroupNonUniform: Elect; All, Any, AllEqual; Broadcast, BroadcastFirst and Ballot*; \
    Shuffle*; reductions, scans and clusters of IAdd, FAdd, IMul, FMul, *Min, *Max, Bitwise* and Logical*";

/// Invocations of a subgroup.
pub const SIZE: u32 = 1;

/// Whether an instruction asks something of a subgroup.
pub fn is_group(op: Spv) -> bool {
    (Spv::GroupNonUniformElect as u32..=Spv::GroupNonUniformQuadSwap as u32).contains(&(op as u32))
}

/// Translates an operation of a subgroup.
pub fn group(t: &mut Translator<'_>, inst: &Inst) -> Result<()> {
    if t.shader.stage != Stage::Compute {
        return Err(inst.unsupported("an operation of a subgroup outside compute shaders", SUPPORTED));
    }
    let scope = t.module.constants.word(inst.id_at(0)?);
    if scope != Some(Scope::Subgroup as u32) {
        return Err(inst.invalid("its scope is not the subgroup"));
    }
    let values = match inst.op {
        Spv::GroupNonUniformElect => vec![t.constant(Type::Bool, 1)],
        Spv::GroupNonUniformAll | Spv::GroupNonUniformAny => {
            vec![t.scalar(inst.id_at(1)?, Type::Bool, inst)?]
        }
        Spv::GroupNonUniformAllEqual => vec![equals_itself(t, inst)?],
        Spv::GroupNonUniformBroadcast
        | Spv::GroupNonUniformBroadcastFirst
        | Spv::GroupNonUniformShuffle
        | Spv::GroupNonUniformShuffleXor
        | Spv::GroupNonUniformShuffleUp
        | Spv::GroupNonUniformShuffleDown => return itself(t, inst, 1),
        Spv::GroupNonUniformBallot => {
            let vote = t.scalar(inst.id_at(1)?, Type::Bool, inst)?;
            let (one, zero) = (t.constant(Type::Word, 1), t.constant(Type::Word, 0));
            vec![t.builder().select(vote, one, zero), zero, zero, zero]
        }
        Spv::GroupNonUniformInverseBallot => {
            let bit = own_bit(t, inst, 1)?;
            vec![is_set(t, bit)]
        }
        Spv::GroupNonUniformBallotBitExtract => {
            let index = t.scalar(inst.id_at(2)?, Type::Word, inst)?;
            let (word, one) = (first_word(t, inst, 1)?, t.constant(Type::Word, 1));
            let moved = t.builder().op(Op::Shr, &[word, index]);
            let bit = t.builder().op(Op::And, &[moved, one]);
            vec![is_set(t, bit)]
        }
        Spv::GroupNonUniformBallotBitCount => match group_operation(inst)? {
            GroupOperation::ExclusiveScan => vec![t.constant(Type::Word, 0)],
            _ => vec![own_bit(t, inst, 2)?],
        },
        // Without a bit the result is open.
        Spv::GroupNonUniformBallotFindLSB | Spv::GroupNonUniformBallotFindMSB => {
            vec![t.constant(Type::Word, 0)]
        }
        op => return arithmetic(t, inst, op),
    };
    t.define_data(inst, values)
}

/// Defines the result as an operand.
fn itself(t: &mut Translator<'_>, inst: &Inst, operand: usize) -> Result<()> {
    let value = t.data(inst.id_at(operand)?, inst)?;
    t.define(inst, Entity::Data(value.values))
}

/// Reductions and scans.
fn arithmetic(t: &mut Translator<'_>, inst: &Inst, op: Spv) -> Result<()> {
    let Some((ty, identity)) = identity(op) else {
        return Err(inst.unsupported(format!("Op{op:?}"), SUPPORTED));
    };
    let operand = t.data(inst.id_at(2)?, inst)?;
    if operand.values.iter().any(|&value| t.shader.values[value].ty != ty) {
        return Err(inst.invalid("the operand has the wrong type"));
    }
    match group_operation(inst)? {
        GroupOperation::ExclusiveScan => {
            let identity = t.constant(ty, identity);
            t.define_data(inst, vec![identity; operand.values.len()])
        }
        _ => t.define(inst, Entity::Data(operand.values)),
    }
}

/// What an operation makes of nothing, with the type that it works on.
fn identity(op: Spv) -> Option<(Type, u32)> {
    Some(match op {
        Spv::GroupNonUniformIAdd
        | Spv::GroupNonUniformFAdd
        | Spv::GroupNonUniformUMax
        | Spv::GroupNonUniformBitwiseOr
        | Spv::GroupNonUniformBitwiseXor => (Type::Word, 0),
        Spv::GroupNonUniformIMul => (Type::Word, 1),
        Spv::GroupNonUniformFMul => (Type::Word, 1.0f32.to_bits()),
        Spv::GroupNonUniformSMin => (Type::Word, i32::MAX as u32),
        Spv::GroupNonUniformUMin | Spv::GroupNonUniformBitwiseAnd => (Type::Word, u32::MAX),
        Spv::GroupNonUniformFMin => (Type::Word, f32::INFINITY.to_bits()),
        Spv::GroupNonUniformSMax => (Type::Word, i32::MIN as u32),
        Spv::GroupNonUniformFMax => (Type::Word, f32::NEG_INFINITY.to_bits()),
        Spv::GroupNonUniformLogicalAnd => (Type::Bool, 1),
        Spv::GroupNonUniformLogicalOr | Spv::GroupNonUniformLogicalXor => (Type::Bool, 0),
        _ => return None,
    })
}

/// How far a reduction reaches. A cluster is one invocation, too.
fn group_operation(inst: &Inst) -> Result<GroupOperation> {
    match inst.operands.get(1) {
        Some(&Operand::GroupOperation(
            operation @ (GroupOperation::Reduce
            | GroupOperation::InclusiveScan
            | GroupOperation::ExclusiveScan
            | GroupOperation::ClusteredReduce),
        )) => Ok(operation),
        Some(Operand::GroupOperation(other)) => {
            Err(inst.unsupported(format!("group operation {other:?}"), SUPPORTED))
        }
        _ => Err(inst.invalid("a group operation is missing")),
    }
}

/// Whether a value is equal to itself: all but NaNs are.
fn equals_itself(t: &mut Translator<'_>, inst: &Inst) -> Result<Value> {
    let operand = t.data(inst.id_at(1)?, inst)?;
    let mut equal = t.constant(Type::Bool, 1);
    if t.module.types.is_float(operand.ty) {
        for &value in &*operand.values {
            let same = t.builder().op(Op::FEq, &[value, value]);
            equal = t.builder().op(Op::BAnd, &[equal, same]);
        }
    }
    Ok(equal)
}

/// The word of a ballot that holds the bits of all invocations that there are.
fn first_word(t: &mut Translator<'_>, inst: &Inst, operand: usize) -> Result<Value> {
    match t.data(inst.id_at(operand)?, inst)?.values[..] {
        [word, _, _, _] if t.shader.values[word].ty == Type::Word => Ok(word),
        _ => Err(inst.invalid("a ballot is a vector of four integers")),
    }
}

/// The invocation's bit of a ballot, 0 or 1.
fn own_bit(t: &mut Translator<'_>, inst: &Inst, operand: usize) -> Result<Value> {
    let (word, one) = (first_word(t, inst, operand)?, t.constant(Type::Word, 1));
    Ok(t.builder().op(Op::And, &[word, one]))
}

fn is_set(t: &mut Translator<'_>, bit: Value) -> Value {
    let zero = t.constant(Type::Word, 0);
    t.builder().op(Op::INe, &[bit, zero])
}
