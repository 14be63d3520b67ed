//! Arrays of descriptors with an index that is not constant: an instruction on an element stands once for each of them.
//!
//! The chip's programs find buffers and textures in their uniform streams, by place, so that nothing can be indexed there. What
//! only names a descriptor is done for all elements; what accesses one stands in a tree of branches on the index's bits, whose
//! leaves are its elements. As branches take invocations apart, it need not be the same for all of them.

use std::rc::Rc;

use smallvec::SmallVec;
use spirv::Op;

use super::construct::Flow;
use super::env::{Chosen, Entity, Layer, Place};
use super::translator::Translator;
use super::{instruction, label};
use crate::ir::{Type, Value};
use crate::spirv::binary::{Id, Inst};
use crate::spirv::error::Result;
use crate::spirv::types::Kind;

/// Words that are read and chosen from rather than branched to, where reading is one uniform.
const FREE_WORDS: usize = 64;

/// An instruction with operands that one index chooses.
struct Access<'a> {
    inst: &'a Inst,
    index: Value,
    operands: SmallVec<[(Id, Rc<Chosen>); 2]>,
}

/// Translates an instruction that control goes on after: all but calls.
pub fn translate(t: &mut Translator<'_>, inst: &Inst) -> Result<()> {
    let Some(access) = Access::of(t, inst)? else {
        return instruction::translate(t, inst);
    };
    let result = t.module.types_of.get(&inst.id).map(|&ty| (ty, t.module.types.kind(ty)));
    match result {
        Some((_, Kind::Pointer { .. } | Kind::Image(_) | Kind::SampledImage(_) | Kind::Sampler)) => {
            access.name(t)
        }
        Some((ty, _)) => {
            if access.is_free(t) {
                let values = access.read(t, 0, access.bits())?;
                return t.define_data(inst, values);
            }
            let slots = match t.reserve(ty, inst)? {
                Place::Slots { base, count } => base..base + count,
                _ => 0..0,
            };
            access.branch(t, 0, access.bits(), slots.start)?;
            let values: Result<Vec<Value>> = slots.clone().map(|slot| t.read_slot(slot, inst)).collect();
            t.define_data(inst, values?)?;
            t.env.forget(slots.start, u32::MAX);
            t.slots.truncate(slots.start as usize);
            Ok(())
        }
        None => access.branch(t, 0, access.bits(), 0),
    }
}

impl<'a> Access<'a> {
    /// The first index among the operands, and all that it chooses.
    fn of(t: &Translator<'_>, inst: &'a Inst) -> Result<Option<Access<'a>>> {
        if !t.has_choices {
            return Ok(None);
        }
        let copy = t.frame()?.copy;
        let mut access: Option<Access<'a>> = None;
        for id in inst.ids() {
            let Some(Entity::Chosen(chosen)) = t.env.id((copy, id)) else {
                continue;
            };
            let access =
                access.get_or_insert_with(|| Access { inst, index: chosen.index, operands: SmallVec::new() });
            if access.index == chosen.index {
                access.operands.push((id, chosen.clone()));
            }
        }
        Ok(access)
    }

    fn count(&self) -> usize {
        self.operands.iter().map(|(_, chosen)| chosen.elements.len()).max().unwrap_or(1)
    }

    /// Bits of the index that tell elements apart.
    fn bits(&self) -> u32 {
        self.count().next_power_of_two().trailing_zeros()
    }

    /// Translates the instruction for an element. What its result stands for, if it has one.
    fn element(&self, t: &mut Translator<'_>, number: usize) -> Result<Option<Entity>> {
        t.pay(self.inst, 1)?;
        let copy = t.frame()?.copy;
        let mut layer = Layer::default();
        for (id, chosen) in &self.operands {
            let element = &chosen.elements[number.min(chosen.elements.len() - 1)];
            layer.ids.insert((copy, *id), element.clone());
        }
        t.env.push(layer);
        let done = translate(t, self.inst);
        let mut layer = t.env.pop();
        done?;
        let result = layer.ids.remove(&(copy, self.inst.id));
        layer.ids.clear();
        t.env.absorb(layer);
        Ok(result)
    }

    /// Names what each element leads to.
    fn name(&self, t: &mut Translator<'_>) -> Result<()> {
        let mut elements = Vec::with_capacity(self.count());
        for number in 0..self.count() {
            elements.extend(self.element(t, number)?);
        }
        t.define(self.inst, Entity::Chosen(Rc::new(Chosen { index: self.index, elements })))
    }

    /// Whether a bit of the index is set, if there is an element from `number` on that has it.
    fn test(&self, t: &mut Translator<'_>, number: usize, bit: u32) -> Option<Value> {
        if number + (1 << bit) >= self.count() {
            return None;
        }
        let [mask, zero] = [1 << bit, 0].map(|word| t.constant(Type::Word, word));
        let set = t.builder().and(self.index, mask);
        Some(t.builder().ine(set, zero))
    }

    /// Branches to the element from `number` on that the lower `bits` of the index name. Its result goes to slots.
    fn branch(&self, t: &mut Translator<'_>, number: usize, bits: u32, slots: u32) -> Result<()> {
        if bits == 0 {
            if let Some(Entity::Data(values)) = self.element(t, number)? {
                for (slot, &value) in (slots..).zip(values.iter()) {
                    t.env.set_slot(slot, value);
                }
            }
            return Ok(());
        }
        let bit = bits - 1;
        let Some(set) = self.test(t, number, bit) else {
            return self.branch(t, number, bit, slots);
        };
        let to = |number: usize| {
            move |t: &mut Translator<'_>| {
                self.branch(t, number, bit, slots)?;
                Ok(Flow::live())
            }
        };
        let upper = label::arm(t, to(number + (1 << bit)))?;
        let lower = label::arm(t, to(number))?;
        label::close_if(t, set, upper, lower, self.inst)?;
        Ok(())
    }

    /// Whether reading all elements costs less than branching.
    fn is_free(&self, t: &Translator<'_>) -> bool {
        let is_uniform = |entity: &Entity| match entity {
            Entity::Pointer(pointer) => {
                matches!(pointer.place, Place::Ubo(_))
                    && pointer.dynamic.is_empty()
                    && self.count() * t.module.types.scalars(pointer.ty) as usize <= FREE_WORDS
            }
            _ => false,
        };
        self.inst.op == Op::Load
            && self.operands.iter().all(|(_, chosen)| chosen.elements.iter().all(is_uniform))
    }

    /// As [`Access::branch`], without branches.
    fn read(&self, t: &mut Translator<'_>, number: usize, bits: u32) -> Result<Vec<Value>> {
        if bits == 0 {
            return match self.element(t, number)? {
                Some(Entity::Data(values)) => Ok(values.to_vec()),
                _ => Err(self.inst.invalid("what is loaded is no data")),
            };
        }
        let bit = bits - 1;
        let Some(set) = self.test(t, number, bit) else {
            return self.read(t, number, bit);
        };
        let upper = self.read(t, number + (1 << bit), bit)?;
        let lower = self.read(t, number, bit)?;
        let both = upper.into_iter().zip(lower);
        Ok(both.map(|(upper, lower)| t.builder().select(set, upper, lower)).collect())
    }
}
