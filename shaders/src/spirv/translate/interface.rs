//! Global variables: stage inputs and outputs by location or built-in, buffers, push constants, images.

use std::rc::Rc;

use rustc_hash::FxHashSet;
use spirv::{BuiltIn, StorageClass};

use super::env::{Entity, Initial, OutputSlot, Place, Pointer, SubgroupMask};
use super::memory::PLAIN;
use super::translator::Translator;
use super::words;
use crate::binding::{Descriptor, DrawWord};
use crate::ir::{
    BuiltinInput, CLIP_DISTANCES, CULL_DISTANCES, Interpolation, Invocation, MAX_DISTANCES, Op, Output,
    SUBGROUP, Shader, Stage, Type, Value,
};
use crate::spirv::binary::Inst;
use crate::spirv::error::Result;
use crate::spirv::module::Global;
use crate::spirv::module::decoration::Marks;
use crate::spirv::types::{Kind, Ty};

const OUTPUTS: &str = "the built-ins gl_Position, gl_PointSize, gl_ClipDistance, gl_CullDistance, gl_FragDepth, gl_SampleMask; every location; \
    index 1 at location 0";

/// Locations that a stage interface may use.
const MAX_LOCATION: u32 = CLIP_DISTANCES;

/// Makes slots for variables and pointers for everything. What is wrong with a variable is an error where the entry
/// point uses it: it may belong to another one.
pub fn declare_globals(t: &mut Translator<'_>) {
    let module = t.module;
    let mut clear = false;
    for global in &module.globals {
        clear |= global.class == StorageClass::Workgroup && global.initializer.is_some();
        match declare(t, global) {
            Ok(pointer) => t.env.set_id((0, global.inst.id), Entity::Pointer(Rc::new(pointer))),
            Err(error) => {
                t.lacking.insert(global.inst.id, error);
            }
        }
    }
    if clear && t.shader.workgroup.shared_bytes > 0 {
        words::clear_shared(t);
    }
}

fn declare(t: &mut Translator<'_>, global: &Global) -> Result<Pointer> {
    match global.class {
        StorageClass::Private if t.residence.is_in_memory(global.inst.id) => in_scratch(t, global),
        StorageClass::Input | StorageClass::Output | StorageClass::Private => variable(t, global),
        StorageClass::Workgroup if t.shader.stage == Stage::Compute => shared(t, global),
        StorageClass::Uniform
        | StorageClass::StorageBuffer
        | StorageClass::UniformConstant
        | StorageClass::PushConstant => bound(t, global),
        class => {
            let supported = "Input, Output, Private, Uniform, StorageBuffer, UniformConstant, PushConstant, in compute \
                             shaders Workgroup";
            Err(global.inst.unsupported(format!("storage class {class:?}"), supported))
        }
    }
}

/// A variable that the workgroup shares, if anything uses it; its only initializer is null.
fn shared(t: &mut Translator<'_>, global: &Global) -> Result<Pointer> {
    let inst = &global.inst;
    if !t.module.types.is_plain(global.ty) {
        return Err(inst.unsupported("a variable of this type", PLAIN));
    }
    if !t.residence.names(inst.id) {
        return Err(inst.invalid("nothing uses the variable"));
    }
    let words = global.initializer.and_then(|id| t.module.constants.get(id)).map(|constant| &constant.words);
    if global.initializer.is_some() && !words.is_some_and(|words| words.iter().all(|&word| word == 0)) {
        return Err(inst.unsupported("an initializer of a Workgroup variable", "OpConstantNull"));
    }
    let place = words::reserve_shared(t, global.ty, inst)?;
    Ok(Pointer::new(place, global.class, global.ty))
}

/// A private variable that lives in memory.
fn in_scratch(t: &mut Translator<'_>, global: &Global) -> Result<Pointer> {
    let inst = &global.inst;
    if !t.module.types.is_plain(global.ty) {
        return Err(inst.unsupported("a variable of this type", PLAIN));
    }
    let place = match t.residence.table(inst.id) {
        Some(constant) => words::table(t, constant, global.ty, inst)?,
        None => words::reserve_scratch(t, global.ty, inst)?,
    };
    if let (Place::Words { base, .. }, Some(id)) = (place, global.initializer) {
        let words = t.module.constants.get(id).map(|constant| constant.words.clone());
        match words.filter(|words| words.len() == t.module.types.scalars(global.ty) as usize) {
            Some(words) => words::fill(t, base, &words),
            None => return Err(inst.invalid("the initializer does not fit the variable")),
        }
    }
    Ok(Pointer::new(place, global.class, global.ty))
}

fn variable(t: &mut Translator<'_>, global: &Global) -> Result<Pointer> {
    let inst = &global.inst;
    if !t.module.types.is_plain(global.ty) {
        return Err(inst.unsupported("a variable of this type", PLAIN));
    }
    let place = t.reserve(global.ty, inst)?;
    let Place::Slots { base, count } = place else {
        return Err(inst.invalid("no slots"));
    };
    match global.class {
        StorageClass::Input => {
            for (slot, leaf) in (base..).zip(leaves(t, global)?) {
                let ty = t.slots[slot as usize].ty;
                t.slots[slot as usize].initial = input(t, &leaf, ty, inst)?;
            }
        }
        StorageClass::Output => {
            for (slot, leaf) in (base..).zip(leaves(t, global)?) {
                let target = output(t.shader.stage, &leaf, inst)?;
                if t.slots[slot as usize].ty == Type::Bool {
                    return Err(inst.invalid("an output cannot be a boolean"));
                }
                t.outputs.push(OutputSlot { slot, target });
            }
        }
        _ => {}
    }
    if let Some(id) = global.initializer {
        let Some(constant) =
            t.module.constants.get(id).filter(|constant| constant.words.len() == count as usize)
        else {
            return Err(inst.invalid("the initializer does not fit the variable"));
        };
        for (slot, &word) in (base..).zip(constant.words.iter()) {
            let value = t.constant(t.slots[slot as usize].ty, word);
            t.env.set_initial(slot, value);
        }
    }
    Ok(Pointer::new(place, global.class, global.ty))
}

/// Stores every output that was written.
pub fn store_outputs(t: &mut Translator<'_>, inst: &Inst) -> Result<()> {
    let mut stores = Vec::new();
    for OutputSlot { slot, target } in t.outputs.clone() {
        let Some(value) = t.env.slot(slot).filter(|&value| !is_undefined(&t.shader, value)) else {
            continue;
        };
        match target {
            Ok(output) => stores.push((output, value)),
            Err(what) => return Err(inst.unsupported(what, OUTPUTS)),
        }
    }
    stores.sort_by_key(|&(output, _)| output);
    for (output, value) in stores {
        t.builder().store_output(output, value);
    }
    Ok(())
}

/// Whether nothing was ever stored on any way to a value: a loop that calls functions has phis for all outputs.
fn is_undefined(shader: &Shader, value: Value) -> bool {
    let (mut seen, mut open) = (FxHashSet::default(), vec![value]);
    while let Some(value) = open.pop() {
        match shader.op(value) {
            Op::Undef => {}
            Op::Phi if seen.insert(value) => open.extend(&shader.insts[shader.values[value].inst].args),
            Op::Phi => {}
            _ => return false,
        }
    }
    true
}

fn bound(t: &Translator<'_>, global: &Global) -> Result<Pointer> {
    let (inst, types) = (&global.inst, &t.module.types);
    let mut core = global.ty;
    while let Kind::Array { of, .. } = *types.kind(core) {
        core = of;
    }
    let marks = t.module.decorations.of(inst.id);
    let descriptor = || match (marks.set, marks.binding) {
        (set, Some(binding)) => Ok(Descriptor { set: set.unwrap_or(0), binding, element: 0 }),
        _ => Err(inst.invalid("the variable has no Binding decoration")),
    };
    let place = match (global.class, types.kind(core)) {
        (StorageClass::PushConstant, Kind::Struct { .. }) => Place::Push,
        (class @ (StorageClass::Uniform | StorageClass::StorageBuffer), Kind::Struct { .. }) => {
            let stored = class == StorageClass::StorageBuffer
                || t.module.decorations.of(types.info(core).id).buffer_block;
            match t.shader.stage == Stage::Compute && stored {
                true => Place::Buffer(descriptor()?),
                false => Place::Ubo(descriptor()?),
            }
        }
        (StorageClass::UniformConstant, Kind::SampledImage(_) | Kind::Image(_) | Kind::Sampler) => {
            Place::Image(descriptor()?)
        }
        (class, kind) => {
            let supported = "blocks as buffers and push constants, images and samplers";
            return Err(inst.unsupported(format!("{kind:?} in storage class {class:?}"), supported));
        }
    };
    Ok(Pointer::new(place, global.class, global.ty))
}

/// One scalar of an interface variable.
struct Leaf {
    /// Built-in, or location with component.
    what: What,
    interpolation: Interpolation,
    per_sample: bool,
}

enum What {
    /// Built-in and the scalar's number in it.
    Builtin(BuiltIn, u32),
    /// Location, component, and whether it is dual-source blending's second colour.
    User(u32, u32, bool),
    /// Neither was given.
    Nothing,
}

fn interpolation(marks: &Marks, outer: Interpolation) -> Interpolation {
    use Interpolation::{Centroid, Flat, NoPerspective, NoPerspectiveCentroid, Smooth};
    let linear = marks.no_perspective || matches!(outer, NoPerspective | NoPerspectiveCentroid);
    let centroid = marks.centroid || matches!(outer, Centroid | NoPerspectiveCentroid);
    match (marks.flat || outer == Flat, linear, centroid) {
        (true, ..) => Flat,
        (_, true, true) => NoPerspectiveCentroid,
        (_, true, false) => NoPerspective,
        (_, false, true) => Centroid,
        (_, false, false) => Smooth,
    }
}

/// The scalars of an interface variable in slot order.
fn leaves(t: &Translator<'_>, global: &Global) -> Result<Vec<Leaf>> {
    let marks = t.module.decorations.of(global.inst.id);
    let mut walk = Walk { t, inst: &global.inst, leaves: Vec::new(), next: marks.location };
    walk.variable(global.ty, marks, interpolation(marks, Interpolation::Smooth), marks.per_sample)?;
    Ok(walk.leaves)
}

struct Walk<'t, 'm> {
    t: &'t Translator<'m>,
    inst: &'t Inst,
    leaves: Vec<Leaf>,
    /// The next free location.
    next: Option<u32>,
}

impl Walk<'_, '_> {
    fn variable(&mut self, ty: Ty, marks: &Marks, outer: Interpolation, per_sample: bool) -> Result<()> {
        let types = &self.t.module.types;
        if let Kind::Struct { members } = types.kind(ty) {
            for (number, &member) in (0u32..).zip(members) {
                let marks = self.t.module.decorations.member(types.info(ty).id, number);
                self.next = marks.location.or(self.next);
                self.variable(member, marks, interpolation(marks, outer), per_sample || marks.per_sample)?;
            }
            return Ok(());
        }
        if let Some(builtin) = marks.builtin {
            for number in 0..types.scalars(ty) {
                let what = What::Builtin(builtin, number);
                self.leaves.push(Leaf { what, interpolation: outer, per_sample });
            }
            return Ok(());
        }
        let second = marks.index.is_some_and(|index| index != 0);
        self.located(ty, marks.component.unwrap_or(0), second, outer, per_sample)
    }

    fn located(
        &mut self,
        ty: Ty,
        first: u32,
        second: bool,
        interpolation: Interpolation,
        per_sample: bool,
    ) -> Result<()> {
        let types = &self.t.module.types;
        let count = match *types.kind(ty) {
            Kind::Matrix { of, count } | Kind::Array { of, count } => {
                for _ in 0..count {
                    self.located(of, first, second, interpolation, per_sample)?;
                }
                return Ok(());
            }
            Kind::Struct { .. } => return self.variable(ty, &Marks::default(), interpolation, per_sample),
            Kind::Vector { count, .. } => count,
            _ => 1,
        };
        let location = self.next;
        self.next = location.map(|location| location.saturating_add(1));
        if first + count > 4 || location.is_some_and(|location| location >= MAX_LOCATION) {
            let reason =
                format!("location {location:?}, component {first}, {count} scalars: outside the interface");
            return Err(self.inst.invalid(reason));
        }
        for component in first..first + count {
            let what = location.map_or(What::Nothing, |location| What::User(location, component, second));
            self.leaves.push(Leaf { what, interpolation, per_sample });
        }
        Ok(())
    }
}

fn input(t: &Translator<'_>, leaf: &Leaf, ty: Type, inst: &Inst) -> Result<Initial> {
    let (fragment, vertex) = (t.shader.stage == Stage::Fragment, t.shader.stage == Stage::Vertex);
    let compute = t.shader.stage == Stage::Compute;
    let component = |number: u32| number as u8;
    let op = match leaf.what {
        What::Nothing => return Err(inst.invalid("the input has neither Location nor BuiltIn")),
        What::User(..) if compute => return Err(inst.invalid("a compute shader has no inputs of its own")),
        What::User(location, component, _) => {
            if ty == Type::Bool {
                return Err(inst.invalid("an input cannot be a boolean"));
            }
            let interpolation = match leaf.interpolation {
                Interpolation::Smooth | Interpolation::Centroid if leaf.per_sample => Interpolation::Sample,
                Interpolation::NoPerspective | Interpolation::NoPerspectiveCentroid if leaf.per_sample => {
                    Interpolation::NoPerspectiveSample
                }
                other => other,
            };
            Op::LoadInput { location, component: component as u8, interpolation }
        }
        What::Builtin(builtin @ (BuiltIn::FragCoord | BuiltIn::PointCoord), _)
            if t.module.origin_lower_left =>
        {
            let what = format!("reading built-in {builtin:?} with execution mode OriginLowerLeft");
            return Ok(Initial::Unsupported(what));
        }
        // Groups are of one device.
        What::Builtin(BuiltIn::DeviceIndex, 0) if ty == Type::Word => return Ok(Initial::Known(0)),
        What::Builtin(BuiltIn::GlobalInvocationId, number @ 0..=2) if compute && ty == Type::Word => {
            return Ok(Initial::Global(component(number)));
        }
        What::Builtin(builtin, number) if compute => {
            let computed = subgroup_builtin(t, builtin, number).filter(|_| ty == Type::Word);
            match (computed, invocation(builtin, number)) {
                (Some(initial), _) => return Ok(initial),
                (None, Some(what)) => Op::LoadBuiltin(BuiltinInput::Invocation(what)),
                (None, None) => return Ok(Initial::Unsupported(format!("reading built-in {builtin:?}"))),
            }
        }
        What::Builtin(builtin, number) if fragment && distance(builtin, number).is_some() => {
            let (location, component) = distance(builtin, number).unwrap_or_default();
            Op::LoadInput { location, component, interpolation: leaf.interpolation }
        }
        What::Builtin(builtin, number) => Op::LoadBuiltin(match (builtin, number) {
            (BuiltIn::VertexIndex, 0) if vertex => BuiltinInput::VertexIndex,
            (BuiltIn::InstanceIndex, 0) if vertex => BuiltinInput::InstanceIndex,
            (BuiltIn::BaseVertex, 0) if vertex => BuiltinInput::Draw(DrawWord::BaseVertex),
            (BuiltIn::BaseInstance, 0) if vertex => BuiltinInput::Draw(DrawWord::BaseInstance),
            (BuiltIn::DrawIndex, 0) if vertex => BuiltinInput::Draw(DrawWord::DrawIndex),
            (BuiltIn::ViewIndex, 0) => BuiltinInput::Draw(DrawWord::ViewIndex),
            (BuiltIn::FragCoord, 0..=3) if fragment => BuiltinInput::FragCoord(component(number)),
            (BuiltIn::FrontFacing, 0) if fragment && ty == Type::Bool => BuiltinInput::FrontFacing,
            (BuiltIn::PointCoord, 0..=1) if fragment => BuiltinInput::PointCoord(component(number)),
            (BuiltIn::SampleMask, 0) if fragment => BuiltinInput::SampleMask,
            (BuiltIn::SampleId, 0) if fragment => BuiltinInput::SampleId,
            (BuiltIn::SamplePosition, 0..=1) if fragment => BuiltinInput::SamplePosition(component(number)),
            (BuiltIn::HelperInvocation, 0) if fragment => BuiltinInput::HelperInvocation,
            (builtin, _) => return Ok(Initial::Unsupported(format!("reading built-in {builtin:?}"))),
        }),
    };
    let loads_bool =
        matches!(op, Op::LoadBuiltin(BuiltinInput::FrontFacing | BuiltinInput::HelperInvocation));
    if loads_bool != (ty == Type::Bool) {
        return Err(inst.invalid("the built-in has the wrong type"));
    }
    Ok(Initial::Load(op))
}

/// Location and component of a distance.
fn distance(builtin: BuiltIn, number: u32) -> Option<(u32, u8)> {
    let first = match builtin {
        BuiltIn::ClipDistance => CLIP_DISTANCES,
        BuiltIn::CullDistance => CULL_DISTANCES,
        _ => return None,
    };
    (number < MAX_DISTANCES).then_some((first + number / 4, (number % 4) as u8))
}

/// A component of a built-in of subgroups that is no input.
fn subgroup_builtin(t: &Translator<'_>, builtin: BuiltIn, number: u32) -> Option<Initial> {
    let mask = match builtin {
        BuiltIn::SubgroupSize if number == 0 => return Some(Initial::Known(SUBGROUP)),
        BuiltIn::NumSubgroups if number == 0 => {
            // A size that no device has is refused by name elsewhere.
            let invocations = t.shader.workgroup.size.into_iter().fold(1, u32::saturating_mul);
            return Some(Initial::Known(invocations.div_ceil(SUBGROUP)));
        }
        BuiltIn::SubgroupEqMask => SubgroupMask::Eq,
        BuiltIn::SubgroupGeMask => SubgroupMask::Ge,
        BuiltIn::SubgroupGtMask => SubgroupMask::Gt,
        BuiltIn::SubgroupLeMask => SubgroupMask::Le,
        BuiltIn::SubgroupLtMask => SubgroupMask::Lt,
        _ => return None,
    };
    match number {
        0 => Some(Initial::SubgroupMask(mask)),
        1..=3 => Some(Initial::Known(0)),
        _ => None,
    }
}

/// A component of a compute shader's built-in that says where an invocation stands.
const fn invocation(builtin: BuiltIn, number: u32) -> Option<Invocation> {
    let axis = number as u8;
    Some(match (builtin, number) {
        (BuiltIn::NumWorkgroups, 0..=2) => Invocation::WorkgroupCount(axis),
        (BuiltIn::WorkgroupId, 0..=2) => Invocation::WorkgroupId(axis),
        (BuiltIn::LocalInvocationId, 0..=2) => Invocation::LocalId(axis),
        (BuiltIn::LocalInvocationIndex, 0) => Invocation::LocalIndex,
        (BuiltIn::SubgroupLocalInvocationId, 0) => Invocation::SubgroupInvocation,
        (BuiltIn::SubgroupId, 0) => Invocation::SubgroupId,
        _ => return None,
    })
}

fn output(stage: Stage, leaf: &Leaf, inst: &Inst) -> Result<std::result::Result<Output, String>> {
    let fragment = stage == Stage::Fragment;
    Ok(match leaf.what {
        What::Nothing => return Err(inst.invalid("the output has neither Location nor BuiltIn")),
        What::User(0, component, true) if fragment => Ok(Output::SecondColor(component as u8)),
        What::User(location, _, true) => Err(format!("index 1 at location {location}")),
        What::User(location, component, false) => Ok(Output::User { location, component: component as u8 }),
        What::Builtin(BuiltIn::Position, number @ 0..=3) if !fragment => Ok(Output::Position(number as u8)),
        What::Builtin(BuiltIn::PointSize, 0) if !fragment => Ok(Output::PointSize),
        What::Builtin(builtin, number) if !fragment && distance(builtin, number).is_some() => {
            let (location, component) = distance(builtin, number).unwrap_or_default();
            Ok(Output::User { location, component })
        }
        What::Builtin(BuiltIn::FragDepth, 0) if fragment => Ok(Output::FragDepth),
        What::Builtin(BuiltIn::SampleMask, 0) if fragment => Ok(Output::SampleMask),
        What::Builtin(builtin, _) => Err(format!("writing built-in {builtin:?}")),
    })
}
