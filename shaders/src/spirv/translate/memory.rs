//! Variables in slots: declaration, access chains, loads, stores.

use std::collections::BTreeSet;
use std::rc::Rc;

use smallvec::{SmallVec, smallvec};
use spirv::{Op, StorageClass};

use super::env::{Chosen, Entity, Place, Pointer, Step};
use super::residence::writes_memory;
use super::translator::Translator;
use super::{buffer, choice, words};
use crate::binding::Texture;
use crate::ir::{Type, Value};
use crate::spirv::binary::{Id, Inst};
use crate::spirv::error::Result;
use crate::spirv::types::{Kind, Ty};

/// What variables may hold.
pub const PLAIN: &str = "numbers, booleans and composites of them";

/// Descriptors that one access may choose from: each makes the access once more.
const MAX_DESCRIPTORS: u32 = 256;

/// Declares a variable of a function.
pub fn local_variable(t: &mut Translator<'_>, inst: &Inst) -> Result<()> {
    let Kind::Pointer { class, to } = *t.module.types.kind(t.module.type_of(inst.id, inst)?) else {
        return Err(inst.invalid("a variable's type is a pointer"));
    };
    if class != StorageClass::Function {
        return Err(inst.invalid("a variable in a function has storage class Function"));
    }
    if !t.module.types.is_plain(to) {
        return Err(inst.unsupported("a local variable of this type", PLAIN));
    }
    let place = match t.residence.table(inst.id) {
        Some(constant) => words::table(t, constant, to, inst)?,
        None if t.residence.is_in_memory(inst.id) => words::reserve_scratch(t, to, inst)?,
        None => t.reserve(to, inst)?,
    };
    let pointer = Pointer::new(place, class, to);
    if inst.operands.len() > 1 {
        let initial = t.data(inst.id_at(1)?, inst)?;
        store_to(t, &pointer, &initial.values, inst)?;
    } else if let Place::Slots { base, count } = place {
        // A variable declared in a loop begins each iteration anew.
        for slot in base..base + count {
            let undef = t.undef(t.slots[slot as usize].ty);
            t.env.set_slot(slot, undef);
        }
    }
    t.define(inst, Entity::Pointer(Rc::new(pointer)))
}

/// Follows an access chain.
pub fn access_chain(t: &mut Translator<'_>, inst: &Inst) -> Result<()> {
    let mut ids = inst.ids();
    let base = ids.next().ok_or_else(|| inst.invalid("the base is missing"))?;
    let indices: SmallVec<[Id; 4]> = ids.collect();
    let pointer = (*t.pointer(base, inst)?).clone();
    let end = follow(t, pointer, &indices, inst)?;
    t.define(inst, end)
}

/// What an access chain from a pointer on leads to.
fn follow(t: &mut Translator<'_>, pointer: Pointer, indices: &[Id], inst: &Inst) -> Result<Entity> {
    let mut pointer = pointer;
    for (at, &id) in indices.iter().enumerate() {
        let index = t.scalar(id, Type::Word, inst)?;
        match t.shader.const_of(index) {
            Some(number) => constant_step(t, &mut pointer, number, inst)?,
            None if names_descriptors(t, &pointer) => {
                return follow_each(t, &pointer, index, &indices[at + 1..], inst);
            }
            None => dynamic_step(t, &mut pointer, index, inst)?,
        }
    }
    check_pointee(t, &pointer, inst)?;
    Ok(Entity::Pointer(Rc::new(pointer)))
}

/// What an access chain leads to from each element of an array of descriptors on.
fn follow_each(
    t: &mut Translator<'_>,
    array: &Pointer,
    index: Value,
    indices: &[Id],
    inst: &Inst,
) -> Result<Entity> {
    let Some((_, count)) = t.module.types.parts(array.ty) else {
        return Err(inst.unsupported("an array of descriptors without a length", "arrays with one"));
    };
    if count > MAX_DESCRIPTORS {
        return Err(inst.too_large("number of descriptors to choose from", MAX_DESCRIPTORS as usize));
    }
    let mut elements = Vec::with_capacity(count as usize);
    for number in 0..count {
        t.pay(inst, 1)?;
        let mut element = array.clone();
        constant_step(t, &mut element, number, inst)?;
        elements.push(follow(t, element, indices, inst)?);
    }
    if elements.is_empty() {
        return Err(inst.invalid("the array is empty"));
    }
    t.has_choices = true;
    Ok(Entity::Chosen(Rc::new(Chosen { index, elements })))
}

/// The result type's pointee must be what the chain leads to.
fn check_pointee(t: &Translator<'_>, pointer: &Pointer, inst: &Inst) -> Result<()> {
    let types = &t.module.types;
    match *types.kind(t.module.type_of(inst.id, inst)?) {
        Kind::Pointer { to, .. } if to == pointer.ty || types.kind(to) == types.kind(pointer.ty) => Ok(()),
        _ => Err(inst.invalid("the result type is not a pointer to what the indices lead to")),
    }
}

fn constant_step(t: &mut Translator<'_>, pointer: &mut Pointer, number: u32, inst: &Inst) -> Result<()> {
    let types = &t.module.types;
    let Some((part, scalars)) = types.member(pointer.ty, number) else {
        return Err(inst.invalid(format!("index {number} is outside the composite")));
    };
    match &mut pointer.place {
        Place::Slots { .. } | Place::Words { .. } | Place::Table { .. } => pointer.offset += scalars,
        Place::Image(descriptor) => {
            descriptor.element = descriptor_element(t, descriptor.element, pointer.ty, number);
        }
        Place::Ubo(descriptor) | Place::Buffer(descriptor) if is_descriptor_array(t, pointer.ty) => {
            descriptor.element = descriptor_element(t, descriptor.element, pointer.ty, number);
        }
        Place::Ubo(_) | Place::Buffer(_) | Place::Push => {
            return buffer::descend(t, pointer, part, number, inst);
        }
    }
    pointer.ty = part;
    Ok(())
}

fn dynamic_step(t: &mut Translator<'_>, pointer: &mut Pointer, index: Value, inst: &Inst) -> Result<()> {
    let types = &t.module.types;
    let parts = match *types.kind(pointer.ty) {
        Kind::RuntimeArray { of } => Some((of, u32::MAX)),
        _ => types.parts(pointer.ty),
    };
    let Some((part, count)) = parts else {
        return Err(inst.invalid("only arrays, matrices and vectors take a dynamic index"));
    };
    let stride = match pointer.place {
        Place::Slots { .. } | Place::Words { .. } | Place::Table { .. } => types.scalars(part),
        Place::Image(_) => return Err(inst.invalid("images have no parts to point to")),
        Place::Ubo(_) | Place::Buffer(_) | Place::Push => buffer::stride(t, pointer, inst)?,
    };
    if matches!(pointer.place, Place::Ubo(_) | Place::Buffer(_) | Place::Push) {
        buffer::descend(t, pointer, part, 0, inst)?;
    }
    pointer.ty = part;
    pointer.dynamic.push(Step { index, stride, count });
    Ok(())
}

/// Number of an element of a (nested) descriptor array, row by row.
fn descriptor_element(t: &Translator<'_>, outer: u32, array: Ty, number: u32) -> u32 {
    let count = t.module.types.parts(array).map_or(1, |(_, count)| count);
    outer.saturating_mul(count).saturating_add(number)
}

/// Whether the parts of what a pointer points to are descriptors.
fn names_descriptors(t: &Translator<'_>, pointer: &Pointer) -> bool {
    match pointer.place {
        Place::Image(_) => true,
        Place::Ubo(_) | Place::Buffer(_) => is_descriptor_array(t, pointer.ty),
        _ => false,
    }
}

/// Whether a type is an array of blocks or images rather than data in a block.
fn is_descriptor_array(t: &Translator<'_>, ty: Ty) -> bool {
    let types = &t.module.types;
    match types.parts(ty) {
        Some((of, _)) => {
            types.info(ty).id != 0
                && t.module.decorations.of(types.info(ty).id).array_stride.is_none()
                && (matches!(types.kind(of), Kind::Struct { .. }) || is_descriptor_array(t, of))
        }
        None => false,
    }
}

/// Loads through a pointer.
pub fn load(t: &mut Translator<'_>, inst: &Inst) -> Result<()> {
    let pointer = t.pointer(inst.id_at(0)?, inst)?;
    load_from(t, &pointer, inst)
}

fn load_from(t: &mut Translator<'_>, pointer: &Pointer, inst: &Inst) -> Result<()> {
    match pointer.place {
        Place::Image(descriptor) => match *t.module.types.kind(pointer.ty) {
            Kind::SampledImage(image) => {
                t.define(inst, Entity::Image { texture: Texture::combined(descriptor), image })
            }
            Kind::Image(image) => {
                t.define(inst, Entity::Image { texture: Texture::alone(descriptor), image })
            }
            Kind::Sampler => t.define(inst, Entity::Sampler(descriptor)),
            _ => Err(inst.invalid("what is loaded is neither an image nor a sampler")),
        },
        _ => {
            let values = load_values(t, pointer, inst)?;
            t.define_data(inst, values)
        }
    }
}

/// The scalars of what a pointer points to.
pub fn load_values(t: &mut Translator<'_>, pointer: &Pointer, inst: &Inst) -> Result<Vec<Value>> {
    match pointer.place {
        Place::Slots { base, .. } => read_slots(t, pointer, base, inst),
        Place::Ubo(_) | Place::Push => buffer::load(t, pointer, inst),
        Place::Buffer(_) | Place::Words { .. } | Place::Table { .. } => words::load(t, pointer, inst),
        Place::Image(_) => Err(inst.invalid("images cannot be copied")),
    }
}

fn read_slots(t: &mut Translator<'_>, pointer: &Pointer, base: u32, inst: &Inst) -> Result<Vec<Value>> {
    let width = t.module.types.scalars(pointer.ty);
    let first = base + pointer.offset;
    choice::pay_for_choices(t, pointer, width, inst)?;
    if pointer.dynamic.is_empty() {
        return (first..first + width).map(|slot| t.read_slot(slot, inst)).collect();
    }
    let choices = choice::choices(pointer);
    let hits = choice::hits(t, pointer, &choices);
    let mut values = Vec::with_capacity(width as usize);
    for at in 0..width {
        let mut chosen = None;
        // An index outside the array may yield anything: the last element needs no test.
        for ((offset, _), &hit) in choices.iter().zip(&hits).rev() {
            let value = t.read_slot(first + offset + at, inst)?;
            chosen = Some(match chosen {
                Some(others) => t.builder().select(hit, value, others),
                None => value,
            });
        }
        values.extend(chosen);
    }
    Ok(values)
}

/// Stores through a pointer.
pub fn store(t: &mut Translator<'_>, inst: &Inst) -> Result<()> {
    let pointer = t.pointer(inst.id_at(0)?, inst)?;
    let object = t.data(inst.id_at(1)?, inst)?;
    store_to(t, &pointer, &object.values, inst)
}

/// Stores values through a pointer.
pub fn store_to(t: &mut Translator<'_>, pointer: &Pointer, values: &[Value], inst: &Inst) -> Result<()> {
    let in_memory = words::is_memory(pointer.place);
    let writable =
        matches!(pointer.class, StorageClass::Function | StorageClass::Private | StorageClass::Output);
    let base = match pointer.place {
        Place::Slots { base, .. } => base,
        _ if in_memory => 0,
        _ => {
            return Err(inst.unsupported(
                "a store into a buffer (vertexPipelineStoresAndAtomics and fragmentStoresAndAtomics are off)",
                "stores to variables and outputs, in compute shaders to storage buffers and shared memory",
            ));
        }
    };
    if !writable && !in_memory {
        return Err(inst.invalid(format!("storage class {:?} cannot be written", pointer.class)));
    }
    let made = values.iter().map(|&value| t.shader.values[value].ty);
    if !made.eq(t.module.types.flatten(pointer.ty)) {
        return Err(inst.invalid("the object does not fit the variable"));
    }
    if in_memory {
        return words::store(t, pointer, values, inst);
    }
    choice::pay_for_choices(t, pointer, values.len() as u32, inst)?;
    let first = base + pointer.offset;
    if pointer.dynamic.is_empty() {
        for (slot, &value) in (first..).zip(values) {
            t.env.set_slot(slot, value);
        }
        return Ok(());
    }
    let choices = choice::choices(pointer);
    let hits = choice::hits(t, pointer, &choices);
    for ((offset, _), hit) in choices.iter().zip(hits) {
        for (slot, &value) in (first + offset..).zip(values) {
            let old = t.read_slot(slot, inst)?;
            let new = t.builder().select(hit, value, old);
            t.env.set_slot(slot, new);
        }
    }
    Ok(())
}

/// OpCopyMemory: a load and a store.
pub fn copy_memory(t: &mut Translator<'_>, inst: &Inst) -> Result<()> {
    let (target, source) = (t.pointer(inst.id_at(0)?, inst)?, t.pointer(inst.id_at(1)?, inst)?);
    let values = load_values(t, &source, inst)?;
    store_to(t, &target, &values, inst)
}

fn global_slots(t: &Translator<'_>) -> Vec<u32> {
    let writable = |class: StorageClass| matches!(class, StorageClass::Private | StorageClass::Output);
    let globals = t.module.globals.iter().filter(|global| writable(global.class));
    let mut slots = Vec::new();
    for global in globals {
        if let Some(Entity::Pointer(pointer)) = t.env.id((0, global.inst.id)) {
            if let Place::Slots { base, count } = pointer.place {
                slots.extend(base..base + count);
            }
        }
    }
    slots
}

/// Slots that a loop may write, so that its header needs phis for them. `merge` ends the loop.
pub fn written_slots(t: &mut Translator<'_>, header: Id, merge: Id, user: &Inst) -> Result<Vec<u32>> {
    let frame = t.frame()?;
    let (function, copy) = (frame.function, frame.copy);
    let mut slots = BTreeSet::new();
    for block in function.reach(header, merge) {
        t.pay(user, 1 + block.body.len() / 8)?;
        for inst in &block.body {
            let roots: SmallVec<[Id; 4]> = match inst.op {
                Op::Store | Op::CopyMemory => smallvec![inst.id_at(0)?],
                Op::FunctionCall => {
                    slots.extend(global_slots(t));
                    inst.ids().skip(1).collect()
                }
                Op::ExtInst if writes_memory(inst) => inst.ids().skip(1).collect(),
                _ => continue,
            };
            for root in roots {
                let root = function.root(root);
                let entity = t.env.id((copy, root)).or_else(|| t.env.id((0, root)));
                if let Some(Entity::Pointer(pointer)) = entity {
                    if let Place::Slots { base, count } = pointer.place {
                        slots.extend(base..base + count);
                    }
                }
            }
        }
    }
    Ok(slots.into_iter().collect())
}
