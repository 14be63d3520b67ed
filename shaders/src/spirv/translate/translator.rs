//! The state of a translation, and what every instruction does with it: operands, results, slots, constants.
//! Who translates what is in the files above; this one knows none of them.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::construct::{Frame, Label, LoopFrame};
use super::env::{BUILTINS, Entity, Env, Initial, OutputSlot, Place, Pointer, Slot, SubgroupMask};
use super::residence::Residence;
use crate::ir::{
    Block, Builder, BuiltinInput, Invocation, LineId, Node, Op, Region, SUBGROUP, Shader, Stage, Type, Value,
};
use crate::spirv::binary::{Id, Inst};
use crate::spirv::error::{Result, SpirvError};
use crate::spirv::expression::emit::{Emit, Typed};
use crate::spirv::module::Module;
use crate::spirv::types::{MAX_SCALARS, Ty};

/// Work that a module may cause, in instructions and scalars moved. Inlining multiplies instructions, so the
/// limit is on what is translated rather than on the module's length.
const BUDGET: usize = 400_000;

/// Instructions that the shader may have before optimisation.
const MAX_INSTRUCTIONS: usize = 150_000;

/// A constant in scratch memory.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Byte where it begins.
    pub base: u32,
    /// It is stored there.
    pub filled: bool,
}

/// A translation under way.
pub struct Translator<'m> {
    /// The module.
    pub module: &'m Module,
    /// The shader being made.
    pub shader: Shader,
    /// Constants and inputs.
    prologue: Block,
    /// Nodes of the current region.
    pub region: Region,
    /// Where instructions go; stands at the end of `region`.
    pub block: Block,
    /// Meaning of slots and ids.
    pub env: Env,
    /// All slots.
    pub slots: Vec<Slot>,
    /// Places that control may leave for, outermost first.
    pub labels: Vec<Label>,
    /// IR loops around the current place.
    pub loops: Vec<LoopFrame>,
    /// Functions being inlined, outermost first.
    pub frames: Vec<Frame<'m>>,
    /// Slots of outputs.
    pub outputs: Vec<OutputSlot>,
    /// Global variables that have no place, and why.
    pub lacking: FxHashMap<Id, SpirvError>,
    /// Copies of functions made so far.
    pub copies: u32,
    /// Which variables of a compute shader live in memory.
    pub residence: Residence,
    /// Byte of scratch memory from which on there is room.
    pub scratch_end: u32,
    /// Constants in scratch memory, by id.
    pub tables: FxHashMap<Id, Table>,
    /// Some id stands for one of several things.
    pub has_choices: bool,
    constants: FxHashMap<(Type, u32), Value>,
    constant_entities: FxHashMap<Id, Entity>,
    undefs: FxHashMap<Type, Value>,
    budget: usize,
}

impl<'m> Translator<'m> {
    /// A translation of a module's entry point that has not begun.
    pub fn new(module: &'m Module, stage: Stage) -> Translator<'m> {
        let mut shader = Shader::new(stage);
        // Most ids become some scalars.
        let ids = module.types_of.len();
        shader.insts.reserve(2 * ids);
        shader.values.reserve(2 * ids);
        shader.early_fragment_tests = module.early_fragment_tests;
        shader.lines = module.lines.as_slice().into();
        let prologue = shader.blocks.push(Default::default());
        let first = shader.blocks.push(Default::default());
        Translator {
            module,
            shader,
            prologue,
            region: vec![Node::Block(first)],
            block: first,
            env: Env::default(),
            slots: Vec::new(),
            labels: Vec::new(),
            loops: Vec::new(),
            frames: Vec::new(),
            outputs: Vec::new(),
            lacking: FxHashMap::default(),
            copies: 0,
            residence: match stage {
                Stage::Compute => Residence::of(module),
                _ => Residence::default(),
            },
            scratch_end: 0,
            tables: FxHashMap::default(),
            has_choices: false,
            constants: FxHashMap::default(),
            constant_entities: FxHashMap::default(),
            undefs: FxHashMap::default(),
            budget: BUDGET,
        }
    }

    /// The shader that was made, with constants and inputs in front.
    pub fn into_shader(self) -> Shader {
        let mut shader = self.shader;
        shader.line = LineId::NONE;
        shader.body = vec![Node::Block(self.prologue)];
        shader.body.extend(self.region);
        shader
    }

    /// The function being translated.
    pub fn frame(&self) -> Result<&Frame<'m>> {
        self.frames.last().ok_or_else(|| SpirvError::Invalid {
            word: 0,
            instruction: "OpFunction".into(),
            reason: "no function is being translated".into(),
        })
    }

    /// Pays for work, so that no module keeps the compiler busy for long.
    pub fn pay(&mut self, inst: &Inst, work: usize) -> Result<()> {
        self.budget = match self.budget.checked_sub(work) {
            Some(rest) => rest,
            None => return Err(inst.too_large("size of the shader after inlining", BUDGET)),
        };
        if self.shader.insts.len() > MAX_INSTRUCTIONS {
            return Err(inst.too_large("number of scalar instructions", MAX_INSTRUCTIONS));
        }
        Ok(())
    }

    /// Begins with an instruction: pays for it and for its result.
    pub fn begin(&mut self, inst: &Inst) -> Result<()> {
        self.shader.line = inst.line;
        let width = self.module.types_of.get(&inst.id).map_or(0, |&ty| self.module.types.scalars(ty));
        self.pay(inst, 1 + (width.min(MAX_SCALARS) / 16) as usize + inst.operands.len() / 16)?;
        if width > MAX_SCALARS {
            return Err(inst.too_large("number of scalars of a value", MAX_SCALARS as usize));
        }
        Ok(())
    }

    /// Begins a block at the end of the region.
    pub fn start_block(&mut self) {
        self.block = self.shader.blocks.push(Default::default());
        self.region.push(Node::Block(self.block));
    }

    /// A builder at the current place.
    pub fn builder(&mut self) -> Builder<'_> {
        Builder::new(&mut self.shader, self.block)
    }

    /// What an instruction with a result needs to emit IR.
    pub fn emit<'t>(&'t mut self, inst: &'t Inst) -> Result<Emit<'t>> {
        let types = &self.module.types;
        let result = self.module.type_of(inst.id, inst)?;
        let mut b = Builder::new(&mut self.shader, self.block);
        let decorations = &self.module.decorations;
        // What has to be invariant must not depend on whose estimates serve the same expression elsewhere.
        b.relaxed = decorations.of(inst.id).relaxed && !decorations.invariant;
        b.exact = decorations.of(inst.id).exact || decorations.invariant;
        Ok(Emit { b, types, inst, result })
    }

    /// Puts an instruction in front of all code, behind the constants that there are. Its result, if there is one.
    pub fn in_prologue(&mut self, op: Op, args: &[Value]) -> Option<Value> {
        let mut b = Builder::new(&mut self.shader, self.prologue);
        b.emit(op, args).first().copied()
    }

    /// An input, loaded in front of all code.
    pub fn input(&mut self, op: Op, inst: &Inst) -> Result<Value> {
        self.in_prologue(op, &[]).ok_or_else(|| inst.invalid("the input has no value"))
    }

    /// gl_GlobalInvocationID along an axis.
    fn global_id(&mut self, axis: u8, inst: &Inst) -> Result<Value> {
        let input = |what| Op::LoadBuiltin(BuiltinInput::Invocation(what));
        let group = self.input(input(Invocation::WorkgroupId(axis)), inst)?;
        let local = self.input(input(Invocation::LocalId(axis)), inst)?;
        let size = self.constant(Type::Word, self.shader.workgroup.size[usize::from(axis).min(2)]);
        let mut b = Builder::new(&mut self.shader, self.prologue);
        let first = b.imul(group, size);
        Ok(b.iadd(first, local))
    }

    /// The first word of a gl_Subgroup*Mask.
    pub fn subgroup_mask(&mut self, which: SubgroupMask, inst: &Inst) -> Result<Value> {
        let input = Op::LoadBuiltin(BuiltinInput::Invocation(Invocation::SubgroupInvocation));
        let number = self.input(input, inst)?;
        let [one, all] = [1, (1 << SUBGROUP) - 1].map(|word| self.constant(Type::Word, word));
        let mut b = Builder::new(&mut self.shader, self.prologue);
        let own = b.shl(one, number);
        let before = b.isub(own, one);
        let up_to = b.or(before, own);
        Ok(match which {
            SubgroupMask::Eq => own,
            SubgroupMask::Lt => before,
            SubgroupMask::Le => up_to,
            SubgroupMask::Ge => b.xor(before, all),
            SubgroupMask::Gt => b.xor(up_to, all),
        })
    }

    /// A constant, which stands at the start of the shader.
    pub fn constant(&mut self, ty: Type, word: u32) -> Value {
        if let Some(&value) = self.constants.get(&(ty, word)) {
            return value;
        }
        // A constant serves every place that wants it.
        let line = std::mem::take(&mut self.shader.line);
        let value = Builder::new(&mut self.shader, self.prologue).constant(word, ty);
        self.shader.line = line;
        self.constants.insert((ty, word), value);
        value
    }

    /// Any value.
    pub fn undef(&mut self, ty: Type) -> Value {
        if let Some(&value) = self.undefs.get(&ty) {
            return value;
        }
        let value = Builder::new(&mut self.shader, self.prologue).undef(ty);
        self.undefs.insert(ty, value);
        value
    }

    /// Reserves slots for a value of a type.
    pub fn reserve(&mut self, ty: Ty, inst: &Inst) -> Result<Place> {
        let count = self.module.types.scalars(ty);
        if count > MAX_SCALARS {
            return Err(inst.too_large("number of scalars of a variable", MAX_SCALARS as usize));
        }
        self.pay(inst, count as usize)?;
        let base = self.slots.len() as u32;
        let scalars = self.module.types.flatten(ty);
        self.slots.extend(scalars.into_iter().map(|ty| Slot { ty, initial: Initial::Undef }));
        Ok(Place::Slots { base, count })
    }

    /// The value of a slot.
    pub fn read_slot(&mut self, slot: u32, inst: &Inst) -> Result<Value> {
        if let Some(value) = self.env.slot(slot) {
            return Ok(value);
        }
        let Slot { ty, initial } = self.slots[slot as usize].clone();
        match initial {
            Initial::Undef => Ok(self.undef(ty)),
            Initial::False => Ok(self.constant(Type::Bool, 0)),
            Initial::Load(op) => {
                let value = self.input(op, inst)?;
                self.env.set_initial(slot, value);
                Ok(value)
            }
            Initial::Known(word) => Ok(self.constant(Type::Word, word)),
            Initial::SubgroupMask(which) => {
                let value = self.subgroup_mask(which, inst)?;
                self.env.set_initial(slot, value);
                Ok(value)
            }
            Initial::Global(axis) => {
                let value = self.global_id(axis, inst)?;
                self.env.set_initial(slot, value);
                Ok(value)
            }
            Initial::Unsupported(what) => Err(inst.unsupported(what, BUILTINS)),
        }
    }

    /// What an id stands for; constants become values.
    pub fn entity(&mut self, id: Id, user: &Inst) -> Result<Entity> {
        let copy = self.frame()?.copy;
        if let Some(entity) = self.env.id((copy, id)).or_else(|| self.env.id((0, id))) {
            return Ok(entity.clone());
        }
        if let Some(entity) = self.constant_entities.get(&id) {
            return Ok(entity.clone());
        }
        if let Some(error) = self.lacking.get(&id) {
            return Err(error.clone());
        }
        let Some(constant) = self.module.constants.get(id) else {
            return Err(user.invalid(format!("%{id} has no value here")));
        };
        self.pay(user, constant.words.len() / 4)?;
        let scalars = self.module.types.flatten(constant.ty);
        let values =
            scalars.into_iter().zip(constant.words.iter()).map(|(ty, &word)| self.constant(ty, word));
        let entity = Entity::Data(values.collect());
        self.constant_entities.insert(id, entity.clone());
        Ok(entity)
    }

    /// A value operand.
    pub fn data(&mut self, id: Id, user: &Inst) -> Result<Typed> {
        match self.entity(id, user)? {
            Entity::Data(values) => Ok(Typed { ty: self.module.type_of(id, user)?, values }),
            _ => Err(user.invalid(format!("%{id} is not a value"))),
        }
    }

    /// A scalar value operand of a type.
    pub fn scalar(&mut self, id: Id, ty: Type, user: &Inst) -> Result<Value> {
        match self.data(id, user)?.values[..] {
            [value] if self.shader.values[value].ty == ty => Ok(value),
            _ => Err(user.invalid(format!("%{id} is not a scalar of the right type"))),
        }
    }

    /// A pointer operand.
    pub fn pointer(&mut self, id: Id, user: &Inst) -> Result<Rc<Pointer>> {
        match self.entity(id, user)? {
            Entity::Pointer(pointer) => Ok(pointer),
            _ => Err(user.invalid(format!("%{id} is not a pointer"))),
        }
    }

    /// Defines an instruction's result.
    pub fn define(&mut self, inst: &Inst, entity: Entity) -> Result<()> {
        let copy = self.frame()?.copy;
        if let Entity::Data(values) = &entity {
            let ty = self.module.type_of(inst.id, inst)?;
            let made = values.iter().map(|&value| self.shader.values[value].ty);
            if !made.eq(self.module.types.flatten(ty)) {
                return Err(inst.invalid("the value does not fit the result type"));
            }
        }
        self.env.set_id((copy, inst.id), entity);
        Ok(())
    }

    /// Defines an instruction's result as a value.
    pub fn define_data(&mut self, inst: &Inst, values: impl Into<Rc<[Value]>>) -> Result<()> {
        self.define(inst, Entity::Data(values.into()))
    }
}
