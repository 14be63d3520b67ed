//! Variables in slots: declaration, access chains, loads, stores.

use std::collections::BTreeSet;
use std::rc::Rc;

use smallvec::{SmallVec, smallvec};
use spirv::{GlslStd450Op, Op, StorageClass};

use super::env::{Entity, MatrixLayout, Place, Pointer, Step};
use super::translator::Translator;
use crate::binding::Texture;
use crate::ir::{Type, Value};
use crate::spirv::binary::{Id, Inst, Operand};
use crate::spirv::error::{Result, SpirvError};
use crate::spirv::types::{Kind, Ty};

/// What variables may hold.
pub const PLAIN: &str = "numbers, booleans and composites of them";

/// Scalars that one access with dynamic indices may choose from.
const MAX_CHOICES: usize = 8192;

impl Pointer {
    /// A pointer to all of a place.
    pub fn new(place: Place, class: StorageClass, ty: Ty) -> Pointer {
        Pointer {
            place,
            class,
            offset: 0,
            dynamic: SmallVec::new(),
            ty,
            matrix: MatrixLayout::default(),
            component_stride: 4,
        }
    }

    /// Distances from `offset` that the dynamic steps may lead to, with the steps' numbers.
    fn choices(&self) -> Vec<(u32, SmallVec<[u32; 2]>)> {
        let mut choices = vec![(0u32, smallvec![])];
        for step in &self.dynamic {
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
}

impl<'m> Translator<'m> {
    /// A pointer operand.
    pub fn pointer(&mut self, id: Id, user: &Inst) -> Result<Rc<Pointer>> {
        match self.entity(id, user)? {
            Entity::Pointer(pointer) => Ok(pointer),
            _ => Err(user.invalid(format!("%{id} is not a pointer"))),
        }
    }

    /// Declares a variable of a function.
    pub fn local_variable(&mut self, inst: &Inst) -> Result<()> {
        let Kind::Pointer { class, to } = *self.module.types.kind(self.module.type_of(inst.id, inst)?) else {
            return Err(inst.invalid("a variable's type is a pointer"));
        };
        if class != StorageClass::Function {
            return Err(inst.invalid("a variable in a function has storage class Function"));
        }
        if !self.module.types.is_plain(to) {
            return Err(inst.unsupported("a local variable of this type", PLAIN));
        }
        let place = self.reserve(to, inst)?;
        let pointer = Pointer::new(place, class, to);
        if inst.operands.len() > 1 {
            let initial = self.data(inst.id_at(1)?, inst)?;
            self.store_to(&pointer, &initial.values, inst)?;
        } else if let Place::Slots { base, count } = place {
            // A variable declared in a loop begins each iteration anew.
            for slot in base..base + count {
                let undef = self.undef(self.slots[slot as usize].ty);
                self.env.set_slot(slot, undef);
            }
        }
        self.define(inst, Entity::Pointer(Rc::new(pointer)))
    }

    /// Follows an access chain.
    pub fn access_chain(&mut self, inst: &Inst) -> Result<()> {
        let mut ids = inst.ids();
        let base = ids.next().ok_or_else(|| inst.invalid("the base is missing"))?;
        let indices: Vec<Id> = ids.collect();
        let mut pointer = (*self.pointer(base, inst)?).clone();
        for id in indices {
            let index = self.scalar(id, Type::Word, inst)?;
            match self.shader.const_of(index) {
                Some(number) => self.constant_step(&mut pointer, number, inst)?,
                None => self.dynamic_step(&mut pointer, index, inst)?,
            }
        }
        self.check_pointee(&pointer, inst)?;
        self.define(inst, Entity::Pointer(Rc::new(pointer)))
    }

    /// The result type's pointee must be what the chain leads to.
    fn check_pointee(&self, pointer: &Pointer, inst: &Inst) -> Result<()> {
        let types = &self.module.types;
        match *types.kind(self.module.type_of(inst.id, inst)?) {
            Kind::Pointer { to, .. } if to == pointer.ty || types.kind(to) == types.kind(pointer.ty) => {
                Ok(())
            }
            _ => Err(inst.invalid("the result type is not a pointer to what the indices lead to")),
        }
    }

    fn constant_step(&mut self, pointer: &mut Pointer, number: u32, inst: &Inst) -> Result<()> {
        let types = &self.module.types;
        let Some((part, scalars)) = types.member(pointer.ty, number) else {
            return Err(inst.invalid(format!("index {number} is outside the composite")));
        };
        match &mut pointer.place {
            Place::Slots { .. } => pointer.offset += scalars,
            Place::Image(descriptor) => {
                descriptor.element = self.descriptor_element(descriptor.element, pointer.ty, number);
            }
            Place::Ubo(descriptor) if self.is_descriptor_array(pointer.ty) => {
                descriptor.element = self.descriptor_element(descriptor.element, pointer.ty, number);
            }
            Place::Ubo(_) | Place::Push => return self.buffer_step(pointer, part, number, inst),
        }
        pointer.ty = part;
        Ok(())
    }

    fn dynamic_step(&mut self, pointer: &mut Pointer, index: Value, inst: &Inst) -> Result<()> {
        let types = &self.module.types;
        let parts = match *types.kind(pointer.ty) {
            Kind::RuntimeArray { of } => Some((of, u32::MAX)),
            _ => types.parts(pointer.ty),
        };
        let Some((part, count)) = parts else {
            return Err(inst.invalid("only arrays, matrices and vectors take a dynamic index"));
        };
        let stride = match pointer.place {
            Place::Slots { .. } => types.scalars(part),
            Place::Image(_) => return Err(dynamic_descriptor(inst)),
            Place::Ubo(_) if self.is_descriptor_array(pointer.ty) => return Err(dynamic_descriptor(inst)),
            Place::Ubo(_) | Place::Push => self.buffer_stride(pointer, inst)?,
        };
        if matches!(pointer.place, Place::Ubo(_) | Place::Push) {
            self.buffer_step(pointer, part, 0, inst)?;
        }
        pointer.ty = part;
        pointer.dynamic.push(Step { index, stride, count });
        Ok(())
    }

    /// Number of an element of a (nested) descriptor array, row by row.
    fn descriptor_element(&self, outer: u32, array: Ty, number: u32) -> u32 {
        let count = self.module.types.parts(array).map_or(1, |(_, count)| count);
        outer.saturating_mul(count).saturating_add(number)
    }

    /// Whether a type is an array of blocks or images rather than data in a block.
    fn is_descriptor_array(&self, ty: Ty) -> bool {
        let types = &self.module.types;
        match types.parts(ty) {
            Some((of, _)) => {
                types.info(ty).id != 0
                    && self.module.decorations.of(types.info(ty).id).array_stride.is_none()
                    && (matches!(types.kind(of), Kind::Struct { .. }) || self.is_descriptor_array(of))
            }
            None => false,
        }
    }

    /// Loads through a pointer.
    pub fn load(&mut self, inst: &Inst) -> Result<()> {
        let pointer = self.pointer(inst.id_at(0)?, inst)?;
        self.load_from(&pointer, inst)
    }

    fn load_from(&mut self, pointer: &Pointer, inst: &Inst) -> Result<()> {
        match pointer.place {
            Place::Slots { base, .. } => {
                let values = self.read_slots(pointer, base, inst)?;
                self.define_data(inst, values)
            }
            Place::Image(descriptor) => match *self.module.types.kind(pointer.ty) {
                Kind::SampledImage(image) => {
                    self.define(inst, Entity::Image { texture: Texture::combined(descriptor), image })
                }
                Kind::Image(image) => {
                    self.define(inst, Entity::Image { texture: Texture::alone(descriptor), image })
                }
                Kind::Sampler => self.define(inst, Entity::Sampler(descriptor)),
                _ => Err(inst.invalid("what is loaded is neither an image nor a sampler")),
            },
            Place::Ubo(_) | Place::Push => {
                let values = self.load_buffer(pointer, inst)?;
                self.define_data(inst, values)
            }
        }
    }

    fn read_slots(&mut self, pointer: &Pointer, base: u32, inst: &Inst) -> Result<Vec<Value>> {
        let width = self.module.types.scalars(pointer.ty);
        let first = base + pointer.offset;
        self.pay_for_choices(pointer, width, inst)?;
        if pointer.dynamic.is_empty() {
            return (first..first + width).map(|slot| self.read_slot(slot, inst)).collect();
        }
        let choices = pointer.choices();
        let hits = self.hits(pointer, &choices);
        let mut values = Vec::with_capacity(width as usize);
        for at in 0..width {
            let mut chosen = None;
            // An index outside the array may yield anything: the last element needs no test.
            for ((offset, _), &hit) in choices.iter().zip(&hits).rev() {
                let value = self.read_slot(first + offset + at, inst)?;
                chosen = Some(match chosen {
                    Some(others) => self.builder().select(hit, value, others),
                    None => value,
                });
            }
            values.extend(chosen);
        }
        Ok(values)
    }

    fn pay_for_choices(&mut self, pointer: &Pointer, width: u32, inst: &Inst) -> Result<()> {
        let choices = pointer
            .dynamic
            .iter()
            .fold(width as usize, |product, step| product.saturating_mul(step.count as usize));
        if choices > MAX_CHOICES {
            return Err(inst.too_large("number of scalars to choose from by dynamic indices", MAX_CHOICES));
        }
        self.pay(inst, choices / 4)
    }

    /// For every choice, whether the indices lead to it.
    fn hits(&mut self, pointer: &Pointer, choices: &[(u32, SmallVec<[u32; 2]>)]) -> Vec<Value> {
        let mut hits = Vec::with_capacity(choices.len());
        for (_, numbers) in choices {
            let mut all = self.constant(Type::Bool, 1);
            for (step, &number) in pointer.dynamic.iter().zip(numbers) {
                let number = self.constant(Type::Word, number);
                let hit = self.builder().ieq(step.index, number);
                all = self.builder().band(all, hit);
            }
            hits.push(all);
        }
        hits
    }

    /// Chooses one of several values by a pointer's dynamic steps; `f` yields the values at an offset.
    pub fn choose(
        &mut self,
        pointer: &Pointer,
        width: u32,
        inst: &Inst,
        mut f: impl FnMut(&mut Self, u32) -> Result<Vec<Value>>,
    ) -> Result<Vec<Value>> {
        self.pay_for_choices(pointer, width, inst)?;
        let choices = pointer.choices();
        let hits = self.hits(pointer, &choices);
        let mut chosen: Vec<Value> = Vec::new();
        for ((offset, _), &hit) in choices.iter().zip(&hits).rev() {
            let values = f(self, *offset)?;
            chosen = match chosen.is_empty() {
                true => values,
                false => {
                    let both = values.into_iter().zip(chosen);
                    both.map(|(value, others)| self.builder().select(hit, value, others)).collect()
                }
            };
        }
        Ok(chosen)
    }

    /// Stores through a pointer.
    pub fn store(&mut self, inst: &Inst) -> Result<()> {
        let pointer = self.pointer(inst.id_at(0)?, inst)?;
        let object = self.data(inst.id_at(1)?, inst)?;
        self.store_to(&pointer, &object.values, inst)
    }

    /// Stores values through a pointer.
    pub fn store_to(&mut self, pointer: &Pointer, values: &[Value], inst: &Inst) -> Result<()> {
        let writable =
            matches!(pointer.class, StorageClass::Function | StorageClass::Private | StorageClass::Output);
        let Place::Slots { base, .. } = pointer.place else {
            return Err(inst.unsupported(
                "a store into a buffer (vertexPipelineStoresAndAtomics and fragmentStoresAndAtomics are off)",
                "stores to variables and outputs",
            ));
        };
        if !writable {
            return Err(inst.invalid(format!("storage class {:?} cannot be written", pointer.class)));
        }
        let made = values.iter().map(|&value| self.shader.values[value].ty);
        if !made.eq(self.module.types.flatten(pointer.ty)) {
            return Err(inst.invalid("the object does not fit the variable"));
        }
        self.pay_for_choices(pointer, values.len() as u32, inst)?;
        let first = base + pointer.offset;
        if pointer.dynamic.is_empty() {
            for (slot, &value) in (first..).zip(values) {
                self.env.set_slot(slot, value);
            }
            return Ok(());
        }
        let choices = pointer.choices();
        let hits = self.hits(pointer, &choices);
        for ((offset, _), hit) in choices.iter().zip(hits) {
            for (slot, &value) in (first + offset..).zip(values) {
                let old = self.read_slot(slot, inst)?;
                let new = self.builder().select(hit, value, old);
                self.env.set_slot(slot, new);
            }
        }
        Ok(())
    }

    /// OpCopyMemory: a load and a store.
    pub fn copy_memory(&mut self, inst: &Inst) -> Result<()> {
        let (target, source) = (self.pointer(inst.id_at(0)?, inst)?, self.pointer(inst.id_at(1)?, inst)?);
        let values = match source.place {
            Place::Slots { base, .. } => self.read_slots(&source, base, inst)?,
            Place::Ubo(_) | Place::Push => self.load_buffer(&source, inst)?,
            Place::Image(_) => return Err(inst.invalid("images cannot be copied")),
        };
        self.store_to(&target, &values, inst)
    }

    fn global_slots(&self) -> Vec<u32> {
        let writable = |class: StorageClass| matches!(class, StorageClass::Private | StorageClass::Output);
        let globals = self.module.globals.iter().filter(|global| writable(global.class));
        let mut slots = Vec::new();
        for global in globals {
            if let Some(Entity::Pointer(pointer)) = self.env.id((0, global.inst.id)) {
                if let Place::Slots { base, count } = pointer.place {
                    slots.extend(base..base + count);
                }
            }
        }
        slots
    }

    /// Slots that a loop may write, so that its header needs phis for them. `merge` ends the loop.
    pub fn written_slots(&mut self, header: Id, merge: Id, user: &Inst) -> Result<Vec<u32>> {
        let frame = self.frame()?;
        let (function, copy) = (frame.function, frame.copy);
        let mut slots = BTreeSet::new();
        for block in function.reach(header, merge) {
            self.pay(user, 1 + block.body.len() / 8)?;
            for inst in &block.body {
                let roots: SmallVec<[Id; 4]> = match inst.op {
                    Op::Store | Op::CopyMemory => smallvec![inst.id_at(0)?],
                    Op::FunctionCall => {
                        slots.extend(self.global_slots());
                        inst.ids().skip(1).collect()
                    }
                    Op::ExtInst if writes_memory(inst) => inst.ids().skip(1).collect(),
                    _ => continue,
                };
                for root in roots {
                    let root = function.root(root);
                    let entity = self.env.id((copy, root)).or_else(|| self.env.id((0, root)));
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
}

fn writes_memory(inst: &Inst) -> bool {
    let number = |op: GlslStd450Op| op as u32;
    let found = inst.operands.get(1);
    matches!(
        found,
        Some(&Operand::LiteralExtInstInteger(op))
            if op == number(GlslStd450Op::Modf) || op == number(GlslStd450Op::Frexp)
    )
}

fn dynamic_descriptor(inst: &Inst) -> SpirvError {
    inst.unsupported("a dynamic index into an array of descriptors", "constant indices")
}
