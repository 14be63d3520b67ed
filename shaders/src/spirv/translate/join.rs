//! Where ways meet: phis for slots and ids, at the end of an if, at the start of a loop, and those that the module has.

use std::rc::Rc;

use smallvec::SmallVec;

use super::env::{Chosen, Entity, Initial, Layer, Slot};
use super::translator::Translator;
use crate::ir::{Block, Value};
use crate::spirv::binary::{Id, Inst};
use crate::spirv::error::Result;
use crate::spirv::module::function::Block as SpvBlock;

/// Joins ways that meet at the start of the current block.
pub fn join(t: &mut Translator<'_>, edges: Vec<(Block, Layer)>, inst: &Inst) -> Result<()> {
    let mut edges = edges;
    if edges.len() <= 1 {
        if let Some((_, changes)) = edges.pop() {
            t.env.absorb(changes);
        }
        return Ok(());
    }
    let mut slots: Vec<u32> = edges.iter().flat_map(|(_, changes)| changes.slots.keys().copied()).collect();
    slots.sort_unstable();
    slots.dedup();
    slots.retain(|&slot| is_alive(t, slot));
    t.pay(inst, slots.len() * edges.len() / 4)?;
    for slot in slots {
        let mut args = SmallVec::<[(Block, Value); 2]>::new();
        for (block, changes) in &edges {
            let value = match changes.slots.get(&slot) {
                Some(&value) => value,
                None => t.read_slot(slot, inst)?,
            };
            args.push((*block, value));
        }
        let value = meet(t, &args);
        t.env.set_slot(slot, value);
    }
    join_ids(t, &edges, inst)
}

/// One value for all ways, by a phi where they differ.
fn meet(t: &mut Translator<'_>, args: &[(Block, Value)]) -> Value {
    let first = args[0].1;
    if args.iter().all(|&(_, value)| value == first) {
        return first;
    }
    let ty = t.shader.values[first].ty;
    t.builder().phi(ty, args)
}

fn join_ids(t: &mut Translator<'_>, edges: &[(Block, Layer)], inst: &Inst) -> Result<()> {
    let mut keys: Vec<_> = edges.iter().flat_map(|(_, changes)| changes.ids.keys().copied()).collect();
    keys.sort_unstable();
    keys.dedup();
    let frame = t.frame()?;
    let (copy, function) = (frame.copy, frame.function);
    for key in keys {
        let entities: Vec<Option<Entity>> = edges
            .iter()
            .map(|(_, changes)| changes.ids.get(&key).or_else(|| t.env.id(key)).cloned())
            .collect();
        let Some(known) = entities.iter().flatten().next().cloned() else {
            continue;
        };
        if entities.iter().all(|entity| entity.as_ref().is_some_and(|entity| entity.is(&known))) {
            t.env.set_id(key, known);
            continue;
        }
        // An id that one way does not define is only used where that way did not lead; its phi argument is any value.
        if key.0 != copy || !function.crossing.contains(&key.1) {
            continue;
        }
        let joined = meaning(t, edges, &entities, &known, inst)?;
        t.env.set_id(key, joined);
    }
    Ok(())
}

/// What an id means where ways meet that `known` comes from, among others.
fn meaning(
    t: &mut Translator<'_>,
    edges: &[(Block, Layer)],
    entities: &[Option<Entity>],
    known: &Entity,
    inst: &Inst,
) -> Result<Entity> {
    Ok(match known {
        Entity::Image { .. } | Entity::Sampler(_) => known.clone(),
        Entity::Data(values) => {
            t.pay(inst, values.len() / 4)?;
            let values: Vec<Value> = (0..values.len())
                .map(|at| {
                    meet_parts(t, edges, entities, values[at], |entity| match entity {
                        Entity::Data(values) => values.get(at).copied(),
                        _ => None,
                    })
                })
                .collect();
            Entity::Data(values.into())
        }
        Entity::Pointer(pointer) => {
            let mut joined = (**pointer).clone();
            for (at, step) in joined.dynamic.iter_mut().enumerate() {
                step.index = meet_parts(t, edges, entities, step.index, |entity| match entity {
                    Entity::Pointer(pointer) => pointer.dynamic.get(at).map(|step| step.index),
                    _ => None,
                });
            }
            Entity::Pointer(Rc::new(joined))
        }
        Entity::Texel(pointer) => {
            let mut joined = (**pointer).clone();
            for (at, coordinate) in joined.coordinates.iter_mut().enumerate() {
                *coordinate = meet_parts(t, edges, entities, *coordinate, |entity| match entity {
                    Entity::Texel(pointer) => pointer.coordinates.get(at).copied(),
                    _ => None,
                });
            }
            Entity::Texel(Rc::new(joined))
        }
        Entity::Chosen(chosen) => {
            t.pay(inst, chosen.elements.len())?;
            let index = meet_parts(t, edges, entities, chosen.index, |entity| match entity {
                Entity::Chosen(chosen) => Some(chosen.index),
                _ => None,
            });
            let mut elements = Vec::with_capacity(chosen.elements.len());
            for (at, known) in chosen.elements.iter().enumerate() {
                let entities: Vec<Option<Entity>> = entities
                    .iter()
                    .map(|entity| match entity {
                        Some(Entity::Chosen(chosen)) => chosen.elements.get(at).cloned(),
                        _ => None,
                    })
                    .collect();
                elements.push(meaning(t, edges, &entities, known, inst)?);
            }
            Entity::Chosen(Rc::new(Chosen { index, elements }))
        }
    })
}

/// One value of what an id stands for on all ways; any value on ways that do not define it.
fn meet_parts(
    t: &mut Translator<'_>,
    edges: &[(Block, Layer)],
    entities: &[Option<Entity>],
    known: Value,
    part: impl Fn(&Entity) -> Option<Value>,
) -> Value {
    let ty = t.shader.values[known].ty;
    let mut args = SmallVec::<[(Block, Value); 2]>::new();
    for ((block, _), entity) in edges.iter().zip(entities) {
        let value = entity.as_ref().and_then(&part);
        args.push((*block, value.unwrap_or_else(|| t.undef(ty))));
    }
    meet(t, &args)
}

/// Whether a slot may still be read: exit flags die with their label.
fn is_alive(t: &Translator<'_>, slot: u32) -> bool {
    match t.slots.get(slot as usize) {
        Some(Slot { initial: Initial::False, .. }) => t.labels.iter().any(|label| label.flag == slot),
        Some(_) => true,
        None => false,
    }
}

/// Gives the phis of block `to` the values that they have when control comes from block `from`.
pub fn edge(t: &mut Translator<'_>, from: Id, to: Id, user: &Inst) -> Result<()> {
    let frame = t.frame()?;
    let copy = frame.copy;
    let Some(block) = frame.function.block(to) else {
        return Err(user.invalid(format!("block %{to} is not defined")));
    };
    let mut meanings = Vec::with_capacity(block.phis.len());
    for phi in &block.phis {
        t.pay(phi, 1)?;
        let ids: Vec<Id> = phi.ids().collect();
        let Some(pair) = ids.chunks_exact(2).find(|pair| pair[1] == from) else {
            return Err(phi.invalid(format!("no operand for block %{from}")));
        };
        let values = t.data(pair[0], phi)?.values;
        let types = t.module.types.flatten(t.module.type_of(phi.id, phi)?);
        if !values.iter().map(|&value| t.shader.values[value].ty).eq(types) {
            return Err(phi.invalid("an operand does not fit the result type"));
        }
        meanings.push(((copy, phi.id), Entity::Data(values)));
    }
    for (key, entity) in meanings {
        t.env.set_id(key, entity);
    }
    Ok(())
}

/// Phis at the start of a loop for the slots that it may write.
pub fn slot_phis(
    t: &mut Translator<'_>,
    written: &[u32],
    before: Block,
    inst: &Inst,
) -> Result<Vec<(u32, Value)>> {
    let mut phis = Vec::with_capacity(written.len());
    for &slot in written {
        t.pay(inst, 1)?;
        let value = t.read_slot(slot, inst)?;
        let ty = t.shader.values[value].ty;
        let phi = t.builder().phi(ty, &[(before, value)]);
        t.env.set_slot(slot, phi);
        phis.push((slot, phi));
    }
    Ok(phis)
}

/// The phis of a loop's header.
pub fn id_phis(t: &mut Translator<'_>, header: &SpvBlock, before: Block) -> Result<Vec<(Id, Vec<Value>)>> {
    let mut phis = Vec::new();
    for inst in &header.phis {
        let values = t.data(inst.id, inst)?.values;
        let mut made = Vec::with_capacity(values.len());
        for &value in values.iter() {
            let ty = t.shader.values[value].ty;
            made.push(t.builder().phi(ty, &[(before, value)]));
        }
        t.define_data(inst, made.clone())?;
        phis.push((inst.id, made));
    }
    Ok(phis)
}

/// Adds the back edge to the header's phis.
pub fn close_phis(
    t: &mut Translator<'_>,
    slots: &[(u32, Value)],
    ids: &[(Id, Vec<Value>)],
    inst: &Inst,
) -> Result<()> {
    let from = t.block;
    for &(slot, phi) in slots {
        let value = t.read_slot(slot, inst)?;
        t.builder().add_phi_arg(phi, from, value);
    }
    for (id, phis) in ids {
        let values = t.data(*id, inst)?.values;
        for (&phi, &value) in phis.iter().zip(values.iter()) {
            t.builder().add_phi_arg(phi, from, value);
        }
    }
    Ok(())
}
