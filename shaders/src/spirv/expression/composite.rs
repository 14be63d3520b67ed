//! Building, taking apart and rearranging composites.

use spirv::Op as Spv;

use super::emit::{Emit, Scalars, Typed};
use crate::ir::Value;
use crate::spirv::error::Result;
use crate::spirv::types::Ty;

/// Translates composite instructions; `None` for every other one.
pub fn composite(e: &mut Emit<'_>, op: Spv, args: &[Typed], literals: &[u32]) -> Result<Option<Scalars>> {
    Ok(Some(match op {
        // One scalar too many is enough to find that the parts do not fit.
        Spv::CompositeConstruct => {
            args.iter().flat_map(|arg| arg.values.iter().copied()).take(e.width() + 1).collect()
        }
        Spv::CompositeExtract => extract(e, e.arg(args, 0)?, literals)?,
        Spv::CompositeInsert => insert(e, e.arg(args, 0)?, e.arg(args, 1)?, literals)?,
        Spv::CopyObject | Spv::CopyLogical => e.arg(args, 0)?.values.to_vec(),
        Spv::VectorShuffle => shuffle(e, e.arg(args, 0)?, e.arg(args, 1)?, literals)?,
        Spv::VectorExtractDynamic => extract_dynamic(e, args)?,
        Spv::VectorInsertDynamic => insert_dynamic(e, args)?,
        Spv::Transpose => transpose(e, args)?,
        _ => return Ok(None),
    }))
}

/// Type and first scalar of the part that a list of indices leads to.
fn locate(e: &Emit<'_>, mut ty: Ty, indices: &[u32]) -> Result<(Ty, usize)> {
    let mut offset = 0;
    for &index in indices {
        let Some((member, before)) = e.types.member(ty, index) else {
            return Err(e.invalid(format!("index {index} is outside the composite")));
        };
        ty = member;
        offset += before as usize;
    }
    Ok((ty, offset))
}

fn extract(e: &Emit<'_>, whole: &Typed, indices: &[u32]) -> Result<Scalars> {
    let (part, offset) = locate(e, whole.ty, indices)?;
    Ok(whole.values[offset..offset + e.types.scalars(part) as usize].to_vec())
}

fn insert(e: &Emit<'_>, object: &Typed, whole: &Typed, indices: &[u32]) -> Result<Scalars> {
    let (part, offset) = locate(e, whole.ty, indices)?;
    if e.types.scalars(part) as usize != object.values.len() {
        return Err(e.invalid("the inserted object does not fit its place"));
    }
    let mut values = whole.values.to_vec();
    values[offset..offset + object.values.len()].copy_from_slice(&object.values);
    Ok(values)
}

fn shuffle(e: &Emit<'_>, a: &Typed, b: &Typed, indices: &[u32]) -> Result<Scalars> {
    let both: Vec<Value> = a.values.iter().chain(b.values.iter()).copied().collect();
    let pick = |&index: &u32| match index {
        // "No source": any value will do.
        u32::MAX => both.first().copied(),
        index => both.get(index as usize).copied(),
    };
    let picked: Option<Scalars> = indices.iter().map(pick).collect();
    picked.ok_or_else(|| e.invalid("a component is outside both vectors"))
}

fn extract_dynamic(e: &mut Emit<'_>, args: &[Typed]) -> Result<Scalars> {
    let (vector, index) = (e.arg(args, 0)?.values.clone(), e.scalar(args, 1)?);
    let Some((&last, before)) = vector.split_last() else {
        return Err(e.invalid("an empty vector"));
    };
    let mut chosen = last;
    for (at, &component) in before.iter().enumerate().rev() {
        let number = e.b.word(at as u32);
        let here = e.b.ieq(index, number);
        chosen = e.b.select(here, component, chosen);
    }
    Ok(vec![chosen])
}

fn insert_dynamic(e: &mut Emit<'_>, args: &[Typed]) -> Result<Scalars> {
    let (vector, object) = (e.arg(args, 0)?.values.clone(), e.arg(args, 1)?.values.clone());
    let index = e.scalar(args, 2)?;
    let &[object] = &object[..] else {
        return Err(e.invalid("the inserted component is not a scalar"));
    };
    let mut values = Vec::with_capacity(vector.len());
    for (at, &component) in vector.iter().enumerate() {
        let number = e.b.word(at as u32);
        let here = e.b.ieq(index, number);
        values.push(e.op(crate::ir::Op::Select, &[here, object, component])?);
    }
    Ok(values)
}

fn transpose(e: &mut Emit<'_>, args: &[Typed]) -> Result<Scalars> {
    let matrix = e.arg(args, 0)?;
    let Some((column, columns)) = e.types.parts(matrix.ty) else {
        return Err(e.invalid("the operand is not a matrix"));
    };
    let (rows, columns) = (e.types.scalars(column) as usize, columns as usize);
    let at = |row: usize, column: usize| matrix.values[column * rows + row];
    Ok((0..rows).flat_map(|row| (0..columns).map(move |column| at(row, column))).collect())
}
