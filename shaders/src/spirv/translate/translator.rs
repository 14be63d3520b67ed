//! State of a translation, and the dispatch of instructions.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use spirv::{GlslStd450Op, Op};

use super::env::{Entity, Env, Initial, Layer, Place, Slot};
use super::flow::{Label, LoopFrame};
use super::interface::OutputSlot;
use super::{image, interface};
use crate::ir::{self, Block, Builder, LineId, Node, Region, Shader, Stage, Type, Value};
use crate::spirv::binary::{Id, Inst, Operand};
use crate::spirv::error::{Result, SpirvError};
use crate::spirv::expression::emit::{Emit, Typed};
use crate::spirv::expression::expression;
use crate::spirv::expression::glsl;
use crate::spirv::module::Module;
use crate::spirv::module::function::Function;
use crate::spirv::types::{Kind, MAX_SCALARS, Ty};

/// Work that a module may cause, in instructions and scalars moved. Inlining multiplies instructions, so the
/// limit is on what is translated rather than on the module's length.
const BUDGET: usize = 400_000;

/// Instructions that the shader may have before optimisation.
const MAX_INSTRUCTIONS: usize = 150_000;

/// A function being inlined.
pub struct Frame<'m> {
    /// The function.
    pub function: &'m Function,
    /// Number of this copy; its ids live under it.
    pub copy: u32,
    /// The first label that belongs to it: its return label.
    pub first_label: usize,
    /// Slots of the return value.
    pub result: std::ops::Range<u32>,
    /// Blocks that were translated.
    pub visited: FxHashSet<Id>,
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
    copies: u32,
    constants: FxHashMap<(Type, u32), Value>,
    constant_entities: FxHashMap<Id, Entity>,
    undefs: FxHashMap<Type, Value>,
    budget: usize,
}

/// Translates a module's entry point.
pub fn translate(module: &Module, stage: Stage) -> Result<Shader> {
    let mut shader = Shader::new(stage);
    shader.early_fragment_tests = module.early_fragment_tests;
    shader.lines = module.lines.as_slice().into();
    let prologue = shader.blocks.push(Default::default());
    let first = shader.blocks.push(Default::default());
    let mut t = Translator {
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
        constants: FxHashMap::default(),
        constant_entities: FxHashMap::default(),
        undefs: FxHashMap::default(),
        budget: BUDGET,
    };
    interface::declare_globals(&mut t);
    let entry = module.functions.get(&module.entry).ok_or_else(|| SpirvError::Invalid {
        word: 0,
        instruction: "OpEntryPoint".into(),
        reason: format!("function %{} is not defined", module.entry),
    })?;
    if let Some(parameter) = entry.parameters.first() {
        return Err(entry.inst.invalid(format!("the entry point has a parameter, %{parameter}")));
    }
    if t.run_function(entry, Vec::new(), 0..0)? {
        t.shader.line = LineId::NONE;
        interface::store_outputs(&mut t, &entry.inst)?;
    }
    let mut shader = t.shader;
    shader.line = LineId::NONE;
    shader.body = vec![Node::Block(prologue)];
    shader.body.append(&mut t.region);
    Ok(shader)
}

impl<'m> Translator<'m> {
    /// The function being translated.
    pub fn frame(&self) -> Result<&Frame<'m>> {
        self.frames.last().ok_or(SpirvError::Invalid {
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
        b.relaxed = decorations.of(inst.id).relaxed;
        b.exact = decorations.of(inst.id).exact || decorations.invariant;
        Ok(Emit { b, types, inst, result })
    }

    fn in_prologue(&mut self, op: ir::Op) -> Value {
        let mut b = Builder::new(&mut self.shader, self.prologue);
        b.emit(op, &[])[0]
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
                let value = self.in_prologue(op);
                self.env.set_initial(slot, value);
                Ok(value)
            }
            Initial::Unsupported(what) => Err(inst.unsupported(what, interface::BUILTINS)),
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

    /// Inlines a function. Returns whether control comes back.
    pub fn run_function(
        &mut self,
        function: &'m Function,
        args: Vec<(Id, Entity)>,
        result: std::ops::Range<u32>,
    ) -> Result<bool> {
        if self.frames.iter().any(|frame| frame.function.id == function.id) {
            return Err(function.inst.invalid("the function calls itself"));
        }
        let Some(entry) = function.blocks.first() else {
            return Err(function.inst.invalid("the function has no body"));
        };
        self.copies += 1;
        let copy = self.copies;
        let first_slot = self.slots.len() as u32;
        for (id, entity) in args {
            self.env.set_id((copy, id), entity);
        }
        let first_label = self.push_return_label();
        self.frames.push(Frame { function, copy, first_label, result, visited: FxHashSet::default() });
        let flow = self.sequence(entry.label, &function.inst)?;
        self.frames.pop();
        self.labels.truncate(first_label);
        self.env.forget(first_slot, copy);
        Ok(flow.resolved(first_label).live)
    }

    fn call(&mut self, inst: &Inst) -> Result<bool> {
        let module = self.module;
        let id = inst.id_at(0)?;
        let Some(function) = module.functions.get(&id) else {
            return Err(inst.invalid(format!("function %{id} is not defined")));
        };
        let given: Vec<Id> = inst.ids().skip(1).collect();
        if given.len() != function.parameters.len() {
            return Err(inst.invalid("the call does not fit the function's parameters"));
        }
        let mut args = Vec::with_capacity(given.len());
        for (&parameter, id) in function.parameters.iter().zip(given) {
            let (wanted, ty) = (module.type_of(parameter, inst)?, module.type_of(id, inst)?);
            if wanted != ty && module.types.kind(wanted) != module.types.kind(ty) {
                return Err(inst.invalid(format!("argument %{id} does not fit parameter %{parameter}")));
            }
            args.push((parameter, self.entity(id, inst)?));
        }
        let ty = module.type_of(inst.id, inst)?;
        let void = *module.types.kind(ty) == Kind::Void;
        let result = match self.reserve(ty, inst)? {
            Place::Slots { base, count } => base..base + count,
            _ => 0..0,
        };
        let returns = self.run_function(function, args, result.clone())?;
        if returns && !void {
            let values: Result<Vec<Value>> = result.clone().map(|slot| self.read_slot(slot, inst)).collect();
            self.define_data(inst, values?)?;
        }
        self.env.forget(result.start, u32::MAX);
        self.slots.truncate(result.start as usize);
        Ok(returns)
    }

    /// Translates one instruction. Returns whether control goes on after it.
    pub fn instruction(&mut self, inst: &Inst) -> Result<bool> {
        self.shader.line = inst.line;
        let width = self.module.types_of.get(&inst.id).map_or(0, |&ty| self.module.types.scalars(ty));
        self.pay(inst, 1 + (width.min(MAX_SCALARS) / 16) as usize + inst.operands.len() / 16)?;
        if width > MAX_SCALARS {
            return Err(inst.too_large("number of scalars of a value", MAX_SCALARS as usize));
        }
        match inst.op {
            Op::Nop | Op::Line | Op::NoLine | Op::Name | Op::MemberName | Op::String => {}
            // Shaders write no memory that others read.
            Op::MemoryBarrier => {}
            Op::Variable => self.local_variable(inst)?,
            Op::Load => self.load(inst)?,
            Op::Store => self.store(inst)?,
            Op::CopyMemory => self.copy_memory(inst)?,
            Op::AccessChain | Op::InBoundsAccessChain => self.access_chain(inst)?,
            Op::FunctionCall => return self.call(inst),
            Op::ExtInst => self.extended(inst)?,
            Op::CopyObject => {
                let entity = self.entity(inst.id_at(0)?, inst)?;
                self.define(inst, entity)?;
            }
            Op::Undef => {
                let scalars = self.module.types.flatten(self.module.type_of(inst.id, inst)?);
                let values: Vec<Value> = scalars.into_iter().map(|ty| self.undef(ty)).collect();
                self.define_data(inst, values)?;
            }
            Op::DemoteToHelperInvocation => {
                let always = self.constant(Type::Bool, 1);
                self.builder().discard_if(always);
            }
            Op::ArrayLength => self.array_length(inst)?,
            op if image::is_image_op(op) => image::image(self, inst)?,
            op => {
                let args = self.operands(inst)?;
                let mut e = self.emit(inst)?;
                let values = expression(&mut e, op, &args, &inst.literals())?;
                self.define_data(inst, values)?;
            }
        }
        Ok(true)
    }

    fn operands(&mut self, inst: &Inst) -> Result<SmallVec<[Typed; 4]>> {
        inst.ids().map(|id| self.data(id, inst)).collect()
    }

    fn extended(&mut self, inst: &Inst) -> Result<()> {
        let set = inst.id_at(0)?;
        if self.module.ignored_sets.contains(&set) {
            return Ok(());
        }
        let number = match inst.operands.get(1) {
            Some(&Operand::LiteralExtInstInteger(number)) if self.module.glsl == Some(set) => number,
            _ => return Err(inst.invalid(format!("%{set} is not an imported instruction set"))),
        };
        let Some(op) = GlslStd450Op::from_u32(number) else {
            return Err(inst.invalid(format!("GLSL.std.450 has no instruction {number}")));
        };
        let stores = matches!(op, GlslStd450Op::Modf | GlslStd450Op::Frexp);
        let operands: Vec<Id> = inst.ids().skip(1).collect();
        let given = if stores { operands.len().min(1) } else { operands.len() };
        let args: Result<Vec<Typed>> = operands[..given].iter().map(|&id| self.data(id, inst)).collect();
        let mut e = self.emit(inst)?;
        let values = glsl::extended(&mut e, op, &args?)?;
        if !stores {
            let values = e.check(values)?;
            return self.define_data(inst, values);
        }
        let (result, stored) = values.split_at(values.len() / 2);
        let pointer = operands.get(1).copied().ok_or_else(|| inst.invalid("a pointer is missing"))?;
        let pointer = self.pointer(pointer, inst)?;
        self.store_to(&pointer, stored, inst)?;
        self.define_data(inst, result)
    }

    /// Joins ways that meet at the start of the current block.
    pub fn join(&mut self, edges: Vec<(Block, Layer)>, inst: &Inst) -> Result<()> {
        let mut edges = edges;
        if edges.len() <= 1 {
            if let Some((_, changes)) = edges.pop() {
                self.env.absorb(changes);
            }
            return Ok(());
        }
        let mut slots: Vec<u32> =
            edges.iter().flat_map(|(_, changes)| changes.slots.keys().copied()).collect();
        slots.sort_unstable();
        slots.dedup();
        slots.retain(|&slot| self.is_alive(slot));
        self.pay(inst, slots.len() * edges.len() / 4)?;
        for slot in slots {
            let mut args = SmallVec::<[(Block, Value); 2]>::new();
            for (block, changes) in &edges {
                let value = match changes.slots.get(&slot) {
                    Some(&value) => value,
                    None => self.read_slot(slot, inst)?,
                };
                args.push((*block, value));
            }
            let value = self.meet(&args);
            self.env.set_slot(slot, value);
        }
        self.join_ids(&edges, inst)
    }

    /// One value for all ways, by a phi where they differ.
    fn meet(&mut self, args: &[(Block, Value)]) -> Value {
        let first = args[0].1;
        if args.iter().all(|&(_, value)| value == first) {
            return first;
        }
        let ty = self.shader.values[first].ty;
        self.builder().phi(ty, args)
    }

    fn join_ids(&mut self, edges: &[(Block, Layer)], inst: &Inst) -> Result<()> {
        let mut keys: Vec<_> = edges.iter().flat_map(|(_, changes)| changes.ids.keys().copied()).collect();
        keys.sort_unstable();
        keys.dedup();
        let frame = self.frame()?;
        let (copy, function) = (frame.copy, frame.function);
        for key in keys {
            let entities: Vec<Option<Entity>> = edges
                .iter()
                .map(|(_, changes)| changes.ids.get(&key).or_else(|| self.env.id(key)).cloned())
                .collect();
            let Some(known) = entities.iter().flatten().next().cloned() else {
                continue;
            };
            if entities.iter().all(|entity| entity.as_ref().is_some_and(|entity| entity.is(&known))) {
                self.env.set_id(key, known);
                continue;
            }
            // An id that one way does not define is only used where that way did not lead; its phi argument is any value.
            if key.0 != copy || !function.crossing.contains(&key.1) {
                continue;
            }
            let joined = match &known {
                Entity::Image { .. } | Entity::Sampler(_) => known,
                Entity::Data(values) => {
                    self.pay(inst, values.len() / 4)?;
                    let values: Vec<Value> = (0..values.len())
                        .map(|at| {
                            self.meet_parts(edges, &entities, values[at], |entity| match entity {
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
                        step.index = self.meet_parts(edges, &entities, step.index, |entity| match entity {
                            Entity::Pointer(pointer) => pointer.dynamic.get(at).map(|step| step.index),
                            _ => None,
                        });
                    }
                    Entity::Pointer(Rc::new(joined))
                }
            };
            self.env.set_id(key, joined);
        }
        Ok(())
    }

    /// One value of what an id stands for on all ways; any value on ways that do not define it.
    fn meet_parts(
        &mut self,
        edges: &[(Block, Layer)],
        entities: &[Option<Entity>],
        known: Value,
        part: impl Fn(&Entity) -> Option<Value>,
    ) -> Value {
        let ty = self.shader.values[known].ty;
        let mut args = SmallVec::<[(Block, Value); 2]>::new();
        for ((block, _), entity) in edges.iter().zip(entities) {
            let value = entity.as_ref().and_then(&part);
            args.push((*block, value.unwrap_or_else(|| self.undef(ty))));
        }
        self.meet(&args)
    }

    /// Whether a slot may still be read: exit flags die with their label.
    fn is_alive(&self, slot: u32) -> bool {
        match self.slots.get(slot as usize) {
            Some(Slot { initial: Initial::False, .. }) => self.labels.iter().any(|label| label.flag == slot),
            Some(_) => true,
            None => false,
        }
    }
}
