//! Accesses with dynamic indices: one of the values that a pointer's steps may lead to.

use smallvec::{SmallVec, smallvec};

use super::env::Pointer;
use super::translator::Translator;
use crate::ir::{Type, Value};
use crate::spirv::binary::Inst;
use crate::spirv::error::Result;

/// Scalars that one access with dynamic indices may choose from.
const MAX_CHOICES: usize = 8192;

/// Distances from `offset` that the dynamic steps may lead to, with the steps' numbers.
pub fn choices(pointer: &Pointer) -> Vec<(u32, SmallVec<[u32; 2]>)> {
    let mut choices = vec![(0u32, smallvec![])];
    for step in &pointer.dynamic {
        let longer = choices.iter().flat_map(|(offset, numbers): &(u32, SmallVec<[u32; 2]>)| {
            (0..step.count).map(move |number| {
                let mut numbers = numbers.clone();
                numbers.push(number);
                (offset + number * step.stride, numbers)
            })
        });
        choices = longer.collect();
    }
    choices
}

/// Pays for a choice by a pointer's steps.
pub fn pay_for_choices(t: &mut Translator<'_>, pointer: &Pointer, width: u32, inst: &Inst) -> Result<()> {
    let choices = pointer
        .dynamic
        .iter()
        .fold(width as usize, |product, step| product.saturating_mul(step.count as usize));
    if choices > MAX_CHOICES {
        return Err(inst.too_large("number of scalars to choose from by dynamic indices", MAX_CHOICES));
    }
    t.pay(inst, choices / 4)
}

/// For every choice, whether the indices lead to it.
pub fn hits(t: &mut Translator<'_>, pointer: &Pointer, choices: &[(u32, SmallVec<[u32; 2]>)]) -> Vec<Value> {
    let mut hits = Vec::with_capacity(choices.len());
    for (_, numbers) in choices {
        let mut all = t.constant(Type::Bool, 1);
        for (step, &number) in pointer.dynamic.iter().zip(numbers) {
            let number = t.constant(Type::Word, number);
            let hit = t.builder().ieq(step.index, number);
            all = t.builder().band(all, hit);
        }
        hits.push(all);
    }
    hits
}

/// Chooses one of several values by a pointer's dynamic steps; `f` yields the values at an offset.
pub fn choose(
    t: &mut Translator<'_>,
    pointer: &Pointer,
    width: u32,
    inst: &Inst,
    mut f: impl FnMut(&mut Translator<'_>, u32) -> Result<Vec<Value>>,
) -> Result<Vec<Value>> {
    pay_for_choices(t, pointer, width, inst)?;
    let choices = choices(pointer);
    let hits = hits(t, pointer, &choices);
    let mut chosen: Vec<Value> = Vec::new();
    for ((offset, _), &hit) in choices.iter().zip(&hits).rev() {
        let values = f(t, *offset)?;
        chosen = match chosen.is_empty() {
            true => values,
            false => {
                let both = values.into_iter().zip(chosen);
                both.map(|(value, others)| t.builder().select(hit, value, others)).collect()
            }
        };
    }
    Ok(chosen)
}
