//! Operations of subgroups, made of two: a ballot of those that come by together, and the value of another invocation.

use spirv::{GroupOperation, Op as Spv, Scope};

use super::env::{Entity, SubgroupMask};
use super::translator::Translator;
use crate::ir::{BuiltinInput, Invocation, Op, SUBGROUP, Stage, Type, Value};
use crate::spirv::binary::{Inst, Operand};
use crate::spirv::error::Result;
use crate::spirv::expression::glsl::{highest_bit, lowest_bit};
use crate::spirv::expression::integer::bit_count;

const SUPPORTED: &str = "in compute shaders OpGroupNonUniform: Elect; All, Any, AllEqual; Broadcast, BroadcastFirst and Ballot*; \
    Shuffle*; Quad*; reductions, scans and clusters of IAdd, FAdd, IMul, FMul, *Min, *Max, Bitwise* and Logical*";

/// Invocations of a quad.
const QUAD: u32 = 4;
/// Bits of a ballot that mean something.
const ALL: u32 = (1 << SUBGROUP) - 1;

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
    match inst.op {
        Spv::GroupNonUniformElect
        | Spv::GroupNonUniformAll
        | Spv::GroupNonUniformAny
        | Spv::GroupNonUniformAllEqual => {
            let truth = vote(t, inst)?;
            t.define_data(inst, [truth])
        }
        Spv::GroupNonUniformBallot => {
            let vote = t.scalar(inst.id_at(1)?, Type::Bool, inst)?;
            let (votes, zero) = (ballot(t, vote), t.constant(Type::Word, 0));
            t.define_data(inst, [votes, zero, zero, zero])
        }
        Spv::GroupNonUniformInverseBallot
        | Spv::GroupNonUniformBallotBitExtract
        | Spv::GroupNonUniformBallotBitCount
        | Spv::GroupNonUniformBallotFindLSB
        | Spv::GroupNonUniformBallotFindMSB => {
            let value = of_ballot(t, inst)?;
            t.define_data(inst, [value])
        }
        Spv::GroupNonUniformBroadcast
        | Spv::GroupNonUniformBroadcastFirst
        | Spv::GroupNonUniformShuffle
        | Spv::GroupNonUniformShuffleXor
        | Spv::GroupNonUniformShuffleUp
        | Spv::GroupNonUniformShuffleDown
        | Spv::GroupNonUniformQuadBroadcast
        | Spv::GroupNonUniformQuadSwap => {
            let operand = t.data(inst.id_at(1)?, inst)?;
            let from = source(t, inst)?;
            let values: Vec<Value> = operand.values.iter().map(|&value| shuffle(t, value, from)).collect();
            t.define(inst, Entity::Data(values.into()))
        }
        op => arithmetic(t, inst, op),
    }
}

/// The invocation's number in its subgroup.
fn number(t: &mut Translator<'_>, inst: &Inst) -> Result<Value> {
    t.input(Op::LoadBuiltin(BuiltinInput::Invocation(Invocation::SubgroupInvocation)), inst)
}

/// Where a truth holds, of those that come by.
fn ballot(t: &mut Translator<'_>, vote: Value) -> Value {
    t.builder().op(Op::Ballot, &[vote])
}

/// Who comes by.
fn present(t: &mut Translator<'_>) -> Value {
    let yes = t.constant(Type::Bool, 1);
    ballot(t, yes)
}

/// A scalar of another invocation.
fn shuffle(t: &mut Translator<'_>, value: Value, from: Value) -> Value {
    if t.shader.values[value].ty == Type::Word {
        return t.builder().op(Op::Shuffle, &[value, from]);
    }
    let (one, zero) = (t.constant(Type::Word, 1), t.constant(Type::Word, 0));
    let mut b = t.builder();
    let word = b.select(value, one, zero);
    let word = b.op(Op::Shuffle, &[word, from]);
    b.op(Op::INe, &[word, zero])
}

/// The truths that a subgroup agrees on.
fn vote(t: &mut Translator<'_>, inst: &Inst) -> Result<Value> {
    let zero = t.constant(Type::Word, 0);
    match inst.op {
        Spv::GroupNonUniformElect => {
            let (present, own) = (present(t), number(t, inst)?);
            let mut b = t.builder();
            let lowest = lowest_bit(&mut b, present);
            Ok(b.op(Op::IEq, &[lowest, own]))
        }
        Spv::GroupNonUniformAny => {
            let vote = t.scalar(inst.id_at(1)?, Type::Bool, inst)?;
            let votes = ballot(t, vote);
            Ok(t.builder().op(Op::INe, &[votes, zero]))
        }
        Spv::GroupNonUniformAll => {
            let vote = t.scalar(inst.id_at(1)?, Type::Bool, inst)?;
            Ok(nobody_lacks(t, vote))
        }
        _ => {
            let operand = t.data(inst.id_at(1)?, inst)?;
            let float = t.module.types.is_float(operand.ty);
            let present = present(t);
            let first = lowest_bit(&mut t.builder(), present);
            let mut equal = t.constant(Type::Bool, 1);
            for &value in &*operand.values {
                let other = shuffle(t, value, first);
                let is_word = t.shader.values[value].ty == Type::Word;
                let mut b = t.builder();
                let same = match (is_word, float) {
                    (true, true) => b.op(Op::FEq, &[value, other]),
                    (true, false) => b.op(Op::IEq, &[value, other]),
                    (false, _) => {
                        let differ = b.op(Op::BXor, &[value, other]);
                        b.op(Op::BNot, &[differ])
                    }
                };
                equal = b.op(Op::BAnd, &[equal, same]);
            }
            Ok(nobody_lacks(t, equal))
        }
    }
}

/// Whether a truth holds in all that come by.
fn nobody_lacks(t: &mut Translator<'_>, vote: Value) -> Value {
    let against = t.builder().op(Op::BNot, &[vote]);
    let (votes, zero) = (ballot(t, against), t.constant(Type::Word, 0));
    t.builder().op(Op::IEq, &[votes, zero])
}

/// What is asked of the bits of a ballot, which need not come from one.
fn of_ballot(t: &mut Translator<'_>, inst: &Inst) -> Result<Value> {
    let (zero, one) = (t.constant(Type::Word, 0), t.constant(Type::Word, 1));
    let bit = |t: &mut Translator<'_>, word: Value, index: Value| {
        let moved = t.builder().op(Op::Shr, &[word, index]);
        let bit = t.builder().op(Op::And, &[moved, one]);
        t.builder().op(Op::INe, &[bit, zero])
    };
    match inst.op {
        Spv::GroupNonUniformInverseBallot => {
            let (word, own) = (first_word(t, inst, 1)?, number(t, inst)?);
            Ok(bit(t, word, own))
        }
        Spv::GroupNonUniformBallotBitExtract => {
            let index = t.scalar(inst.id_at(2)?, Type::Word, inst)?;
            let word = first_word(t, inst, 1)?;
            Ok(bit(t, word, index))
        }
        Spv::GroupNonUniformBallotBitCount => {
            let reach = reach(t, inst, None)?;
            let word = first_word(t, inst, 2)?;
            let counted = match reach {
                Reach::All | Reach::Cluster(_) => t.constant(Type::Word, ALL),
                Reach::UpTo => t.subgroup_mask(SubgroupMask::Le, inst)?,
                Reach::Before => t.subgroup_mask(SubgroupMask::Lt, inst)?,
            };
            let mut b = t.builder();
            let bits = b.and(word, counted);
            Ok(bit_count(&mut b, bits))
        }
        // Without a bit the result is open.
        op => {
            let (word, all) = (first_word(t, inst, 1)?, t.constant(Type::Word, ALL));
            let mut b = t.builder();
            let bits = b.and(word, all);
            let find = if op == Spv::GroupNonUniformBallotFindLSB { lowest_bit } else { highest_bit };
            Ok(find(&mut b, bits))
        }
    }
}

/// The number of the invocation whose value is wanted. Beyond the subgroup it may be anybody's.
fn source(t: &mut Translator<'_>, inst: &Inst) -> Result<Value> {
    if inst.op == Spv::GroupNonUniformBroadcastFirst {
        let present = present(t);
        return Ok(lowest_bit(&mut t.builder(), present));
    }
    let operand = t.scalar(inst.id_at(2)?, Type::Word, inst)?;
    if matches!(inst.op, Spv::GroupNonUniformBroadcast | Spv::GroupNonUniformShuffle) {
        return Ok(operand);
    }
    let own = number(t, inst)?;
    let (one, outside) = (t.constant(Type::Word, 1), t.constant(Type::Word, !(QUAD - 1)));
    let mut b = t.builder();
    Ok(match inst.op {
        Spv::GroupNonUniformShuffleXor => b.xor(own, operand),
        Spv::GroupNonUniformShuffleUp => b.isub(own, operand),
        Spv::GroupNonUniformShuffleDown => b.iadd(own, operand),
        Spv::GroupNonUniformQuadBroadcast => {
            let first = b.and(own, outside);
            b.iadd(first, operand)
        }
        // Directions are numbered: across, down, both.
        _ => {
            let bits = b.iadd(operand, one);
            b.xor(own, bits)
        }
    })
}

/// Reductions and scans, one invocation after the other.
fn arithmetic(t: &mut Translator<'_>, inst: &Inst, op: Spv) -> Result<()> {
    let Some((ty, combine, identity)) = monoid(op) else {
        return Err(inst.unsupported(format!("Op{op:?}"), SUPPORTED));
    };
    let operand = t.data(inst.id_at(2)?, inst)?;
    if operand.values.iter().any(|&value| t.shader.values[value].ty != ty) {
        return Err(inst.invalid("the operand has the wrong type"));
    }
    let reach = reach(t, inst, Some(3))?;
    let (present, own) = (present(t), number(t, inst)?);
    let identity = t.constant(ty, identity);
    let mut sums = vec![identity; operand.values.len()];
    for other in 0..SUBGROUP {
        let (bit, zero) = (t.constant(Type::Word, 1 << other), t.constant(Type::Word, 0));
        let from = t.constant(Type::Word, other);
        let mut b = t.builder();
        let bit = b.and(present, bit);
        let comes = b.op(Op::INe, &[bit, zero]);
        let counts = match reach {
            Reach::All => comes,
            Reach::UpTo | Reach::Before => {
                let op = if reach == Reach::UpTo { Op::ULe } else { Op::ULt };
                let before = b.op(op, &[from, own]);
                b.op(Op::BAnd, &[comes, before])
            }
            Reach::Cluster(size) => {
                let (mask, home) = (b.word(!(size - 1)), b.word(other & !(size - 1)));
                let cluster = b.and(own, mask);
                let inside = b.op(Op::IEq, &[cluster, home]);
                b.op(Op::BAnd, &[comes, inside])
            }
        };
        for (sum, &value) in sums.iter_mut().zip(&*operand.values) {
            let value = shuffle(t, value, from);
            let mut b = t.builder();
            let with = b.op(combine, &[*sum, value]);
            *sum = b.select(counts, with, *sum);
        }
    }
    t.define_data(inst, sums)
}

/// The type that an operation works on, what joins two operands, and what it makes of nothing.
fn monoid(op: Spv) -> Option<(Type, Op, u32)> {
    Some(match op {
        Spv::GroupNonUniformIAdd => (Type::Word, Op::IAdd, 0),
        Spv::GroupNonUniformFAdd => (Type::Word, Op::FAdd, 0),
        Spv::GroupNonUniformIMul => (Type::Word, Op::IMul, 1),
        Spv::GroupNonUniformFMul => (Type::Word, Op::FMul, 1.0f32.to_bits()),
        Spv::GroupNonUniformSMin => (Type::Word, Op::SMin, i32::MAX as u32),
        Spv::GroupNonUniformUMin => (Type::Word, Op::UMin, u32::MAX),
        Spv::GroupNonUniformFMin => (Type::Word, Op::FMin, f32::INFINITY.to_bits()),
        Spv::GroupNonUniformSMax => (Type::Word, Op::SMax, i32::MIN as u32),
        Spv::GroupNonUniformUMax => (Type::Word, Op::UMax, 0),
        Spv::GroupNonUniformFMax => (Type::Word, Op::FMax, f32::NEG_INFINITY.to_bits()),
        Spv::GroupNonUniformBitwiseAnd => (Type::Word, Op::And, u32::MAX),
        Spv::GroupNonUniformBitwiseOr => (Type::Word, Op::Or, 0),
        Spv::GroupNonUniformBitwiseXor => (Type::Word, Op::Xor, 0),
        Spv::GroupNonUniformLogicalAnd => (Type::Bool, Op::BAnd, 1),
        Spv::GroupNonUniformLogicalOr => (Type::Bool, Op::BOr, 0),
        Spv::GroupNonUniformLogicalXor => (Type::Bool, Op::BXor, 0),
        _ => return None,
    })
}

/// Whose values an operation takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    All,
    /// The invocation's and those before it.
    UpTo,
    Before,
    /// Those of a part of the subgroup, of so many invocations.
    Cluster(u32),
}

/// Whose values are taken; the size of clusters is the operand `cluster`.
fn reach(t: &Translator<'_>, inst: &Inst, cluster: Option<usize>) -> Result<Reach> {
    match (inst.operands.get(1), cluster) {
        (Some(&Operand::GroupOperation(GroupOperation::Reduce)), _) => Ok(Reach::All),
        (Some(&Operand::GroupOperation(GroupOperation::InclusiveScan)), _) => Ok(Reach::UpTo),
        (Some(&Operand::GroupOperation(GroupOperation::ExclusiveScan)), _) => Ok(Reach::Before),
        (Some(&Operand::GroupOperation(GroupOperation::ClusteredReduce)), Some(at)) => {
            match t.module.constants.word(inst.id_at(at)?) {
                Some(size) if size >= SUBGROUP => Ok(Reach::All),
                Some(size) if size.is_power_of_two() => Ok(Reach::Cluster(size)),
                _ => Err(inst.invalid("the size of a cluster is a constant power of two")),
            }
        }
        (Some(Operand::GroupOperation(other)), _) => {
            Err(inst.unsupported(format!("group operation {other:?}"), SUPPORTED))
        }
        _ => Err(inst.invalid("a group operation is missing")),
    }
}

/// The word of a ballot that holds the bits of all invocations that there are.
fn first_word(t: &mut Translator<'_>, inst: &Inst, operand: usize) -> Result<Value> {
    match t.data(inst.id_at(operand)?, inst)?.values[..] {
        [word, _, _, _] if t.shader.values[word].ty == Type::Word => Ok(word),
        _ => Err(inst.invalid("a ballot is a vector of four integers")),
    }
}
