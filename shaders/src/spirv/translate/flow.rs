//! Structured control flow: from SPIR-V's blocks with merge instructions to the IR's region tree.
//!
//! The walk is one recursion: a block ends in a construct, whose sides are blocks; an instruction may be a call, whose
//! function is blocks again, inlined. What constructs are is in [`super::construct`].

use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use spirv::Op;

use super::construct::{Arm, Flow, Frame, Label, LoopFrame, Next, Pending, Target};
use super::env::{Entity, Layer, Place};
use super::translator::Translator;
use super::{descriptors, join, label, memory, switch};
use crate::ir::{Node, Stage, Type, Value};
use crate::spirv::binary::{Id, Inst};
use crate::spirv::error::Result;
use crate::spirv::module::function::{Block as SpvBlock, Function, Merge};
use crate::spirv::types::Kind;

/// Nesting of constructs that may be open at once.
const MAX_NESTING: usize = 160;

/// Inlines a function. Returns whether control comes back.
pub fn run_function<'m>(
    t: &mut Translator<'m>,
    function: &'m Function,
    args: Vec<(Id, Entity)>,
    result: std::ops::Range<u32>,
) -> Result<bool> {
    if t.frames.iter().any(|frame| frame.function.id == function.id) {
        return Err(function.inst.invalid("the function calls itself"));
    }
    let Some(entry) = function.blocks.first() else {
        return Err(function.inst.invalid("the function has no body"));
    };
    t.copies += 1;
    let copy = t.copies;
    let first_slot = t.slots.len() as u32;
    let scratch = t.scratch_end;
    for (id, entity) in args {
        t.env.set_id((copy, id), entity);
    }
    let first_label = label::open_return(t);
    t.frames.push(Frame { function, copy, first_label, result, visited: FxHashSet::default() });
    let flow = sequence(t, entry.label, &function.inst)?;
    t.frames.pop();
    t.labels.truncate(first_label);
    t.env.forget(first_slot, copy);
    t.scratch_end = scratch;
    Ok(flow.resolved(first_label).live)
}

fn call(t: &mut Translator<'_>, inst: &Inst) -> Result<bool> {
    let module = t.module;
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
        args.push((parameter, t.entity(id, inst)?));
    }
    let ty = module.type_of(inst.id, inst)?;
    let void = *module.types.kind(ty) == Kind::Void;
    let result = match t.reserve(ty, inst)? {
        Place::Slots { base, count } => base..base + count,
        _ => 0..0,
    };
    let returns = run_function(t, function, args, result.clone())?;
    if returns && !void {
        let values: Result<Vec<Value>> = result.clone().map(|slot| t.read_slot(slot, inst)).collect();
        t.define_data(inst, values?)?;
    }
    t.env.forget(result.start, u32::MAX);
    t.slots.truncate(result.start as usize);
    Ok(returns)
}

/// Translates blocks from `start` until control leaves for a label.
fn sequence(t: &mut Translator<'_>, start: Id, user: &Inst) -> Result<Flow> {
    match label::find(t, start)? {
        Some(index) => Ok(label::exit(t, index)),
        None => sequence_at(t, start, user),
    }
}

/// Translates the block `start`, even if it is a label, and what follows until control leaves for a label.
fn sequence_at(t: &mut Translator<'_>, start: Id, user: &Inst) -> Result<Flow> {
    if t.env.depth() + t.frames.len() > MAX_NESTING {
        return Err(user.too_large("nesting of control flow", MAX_NESTING));
    }
    let mut label = start;
    loop {
        let block = enter(t, label, user)?;
        let next = match block.merge {
            Some(Merge::Loop { merge, next }) => make_loop(t, block, merge, next)?,
            _ => run_block(t, block)?,
        };
        label = match next {
            Next::Goto(label) => label,
            Next::Done(flow) => return Ok(flow),
            Next::After(flow, _) if !flow.live => return Ok(flow),
            Next::After(flow, merge) if flow.pending.is_empty() => merge,
            Next::After(flow, merge) => return guarded(t, flow, merge, &block.end),
        };
        if let Some(index) = label::find(t, label)? {
            return Ok(label::exit(t, index));
        }
    }
}

/// The block with a label, which no other way of the same function may have entered.
fn enter<'m>(t: &mut Translator<'m>, label: Id, user: &Inst) -> Result<&'m SpvBlock> {
    let function = t.frame()?.function;
    let Some(block) = function.block(label) else {
        return Err(user.invalid(format!("block %{label} is not defined")));
    };
    if !t.frames.last_mut().is_some_and(|frame| frame.visited.insert(label)) {
        let reason = format!("control flow is not structured: block %{label} is reached without a merge");
        return Err(user.invalid(reason));
    }
    Ok(block)
}

/// The block at `merge` and what follows, for control that is not on its way to a pending label.
fn guarded(t: &mut Translator<'_>, flow: Flow, merge: Id, inst: &Inst) -> Result<Flow> {
    let mut exited = None;
    for &index in &flow.pending {
        let flag = t.read_slot(t.labels[index].flag, inst)?;
        exited = Some(match exited {
            Some(others) => t.builder().bor(others, flag),
            None => flag,
        });
    }
    let Some(exited) = exited else {
        return sequence(t, merge, inst);
    };
    let gone = Flow { live: false, pending: flow.pending };
    let skipped = label::arm(t, |_| Ok(gone))?;
    let rest = label::arm(t, |t| sequence(t, merge, inst))?;
    label::close_if(t, exited, skipped, rest, inst)
}

/// Translates a block and its branch.
fn run_block<'m>(t: &mut Translator<'m>, block: &'m SpvBlock) -> Result<Next> {
    for inst in &block.body {
        t.begin(inst)?;
        if inst.op != Op::FunctionCall {
            descriptors::translate(t, inst)?;
        } else if !call(t, inst)? {
            return Ok(Next::Done(Flow::closed()));
        }
    }
    let end = &block.end;
    t.shader.line = end.line;
    t.pay(end, 1 + end.operands.len() / 4)?;
    let from = block.label;
    match end.op {
        Op::Branch => {
            let to = end.id_at(0)?;
            join::edge(t, from, to, end)?;
            Ok(Next::Goto(to))
        }
        Op::BranchConditional => {
            let cond = t.scalar(end.id_at(0)?, Type::Bool, end)?;
            let (yes, no) = (end.id_at(1)?, end.id_at(2)?);
            // Where both ways are one, the condition is of no account.
            let known = if yes == no { Some(1) } else { t.shader.const_of(cond) };
            match (known, block.merge) {
                (Some(truth), Some(Merge::Selection(merge))) => {
                    let taken = if truth != 0 { yes } else { no };
                    let label = label::open(t, Target::Block(merge), false);
                    join::edge(t, from, taken, end)?;
                    let flow = sequence(t, taken, end)?;
                    t.labels.pop();
                    Ok(Next::After(flow.resolved(label), merge))
                }
                (Some(truth), _) => {
                    let taken = if truth != 0 { yes } else { no };
                    join::edge(t, from, taken, end)?;
                    Ok(Next::Goto(taken))
                }
                (None, Some(Merge::Selection(merge))) => selection(t, cond, from, (yes, no), merge, end),
                (None, _) => branch(t, cond, from, (yes, no), end),
            }
        }
        Op::Switch => switch(t, block),
        Op::Return | Op::Unreachable => {
            let label = t.frame()?.first_label;
            Ok(Next::Done(label::exit(t, label)))
        }
        Op::ReturnValue => return_value(t, end),
        _ if t.shader.stage == Stage::Compute => {
            Err(end.invalid("invocations are discarded in fragment shaders only"))
        }
        // OpKill and OpTerminateInvocation.
        _ => {
            t.region.push(Node::Discard);
            Ok(Next::Done(Flow::closed()))
        }
    }
}

fn return_value(t: &mut Translator<'_>, end: &Inst) -> Result<Next> {
    let values = t.data(end.id_at(0)?, end)?.values;
    let frame = t.frame()?;
    let (slots, label) = (frame.result.clone(), frame.first_label);
    if slots.len() != values.len() {
        return Err(end.invalid("the value does not fit the function's type"));
    }
    for (slot, &value) in slots.zip(values.iter()) {
        if t.slots[slot as usize].ty != t.shader.values[value].ty {
            return Err(end.invalid("the value does not fit the function's type"));
        }
        t.env.set_slot(slot, value);
    }
    Ok(Next::Done(label::exit(t, label)))
}

fn selection(
    t: &mut Translator<'_>,
    cond: Value,
    from: Id,
    (yes, no): (Id, Id),
    merge: Id,
    end: &Inst,
) -> Result<Next> {
    let label = label::open(t, Target::Block(merge), false);
    let mut sides = SmallVec::<[Arm; 2]>::new();
    for to in [yes, no] {
        let mut arm = label::arm(t, |t| {
            join::edge(t, from, to, end)?;
            sequence(t, to, end)
        })?;
        arm.flow = arm.flow.resolved(label);
        sides.push(arm);
    }
    t.labels.pop();
    let (Some(mut otherwise), Some(mut then)) = (sides.pop(), sides.pop()) else {
        return Ok(Next::Done(Flow::closed()));
    };
    let goes_on = |arm: &Arm| arm.flow.live && arm.flow.pending.is_empty();
    let has_left = |arm: &Arm| !arm.flow.live && arm.flow.is_open();
    if goes_on(&then) && has_left(&otherwise) {
        then = label::extend(t, then, |t| sequence(t, merge, end))?;
    } else if goes_on(&otherwise) && has_left(&then) {
        otherwise = label::extend(t, otherwise, |t| sequence(t, merge, end))?;
    } else {
        let flow = label::close_if(t, cond, then, otherwise, end)?;
        return Ok(Next::After(flow, merge));
    }
    Ok(Next::Done(label::close_if(t, cond, then, otherwise, end)?))
}

/// A conditional branch without merge: at least one side leaves for a label.
fn branch(t: &mut Translator<'_>, cond: Value, from: Id, (yes, no): (Id, Id), end: &Inst) -> Result<Next> {
    let go = |to: Id| {
        move |t: &mut Translator<'_>| {
            join::edge(t, from, to, end)?;
            sequence(t, to, end)
        }
    };
    for (leaving, staying, inverted) in [(yes, no, false), (no, yes, true)] {
        if label::find(t, leaving)?.is_none() {
            continue;
        }
        let left = label::arm(t, go(leaving))?;
        let stays = left.flow.is_open();
        let other = match stays {
            true => label::arm(t, go(staying))?,
            false => label::arm(t, |_| Ok(Flow::live()))?,
        };
        let (then, otherwise) = if inverted { (other, left) } else { (left, other) };
        let flow = label::close_if(t, cond, then, otherwise, end)?;
        if stays {
            return Ok(Next::Done(flow));
        }
        join::edge(t, from, staying, end)?;
        return Ok(Next::Goto(staying));
    }
    let then = label::arm(t, go(yes))?;
    let otherwise = label::arm(t, go(no))?;
    Ok(Next::Done(label::close_if(t, cond, then, otherwise, end)?))
}

/// Each target is an `If` on its literals, or on falling through from a target before it. The literals are
/// disjoint, so the targets may stand one after the other.
fn switch<'m>(t: &mut Translator<'m>, block: &'m SpvBlock) -> Result<Next> {
    let end = &block.end;
    let Some(Merge::Selection(merge)) = block.merge else {
        return Err(end.invalid("a switch needs a selection merge"));
    };
    let selector = t.scalar(end.id_at(0)?, Type::Word, end)?;
    let mut cases = switch::cases(t, end, merge)?;
    let first = t.labels.len();
    for case in cases.iter_mut().rev() {
        if case.block != merge && label::find(t, case.block)?.is_none() {
            case.label = Some(label::open(t, Target::Block(case.block), false));
        }
    }
    // The innermost label: leaving for it is falling out of the target's region.
    let merge_label = label::open(t, Target::Block(merge), false);
    let matched: Vec<Option<Value>> =
        cases.iter().map(|case| switch::matches(t, selector, &case.literals)).collect();
    let mut total = Flow::closed();
    for (at, case) in cases.iter().enumerate() {
        let mut cond = if case.is_default {
            let others = matched.iter().enumerate().filter(|&(other, _)| other != at);
            let others: Vec<Value> = others.filter_map(|(_, &matched)| matched).collect();
            let any = switch::any(t, &others);
            t.builder().bnot(any)
        } else {
            switch::any(t, matched[at].as_slice())
        };
        let fell = match case.label {
            Some(label) => t.read_slot(t.labels[label].flag, end)?,
            None => t.constant(Type::Bool, 0),
        };
        cond = t.builder().bor(cond, fell);
        // A target that is never taken still defines what the code behind the switch names, be it reached or not.
        let flow = run_case(t, (cond, fell), block.label, case, end)?;
        total = total.union(&flow.resolved(merge_label));
    }
    t.labels.truncate(first);
    let total = total.below(first);
    // Control that skips every target goes on as well, even if the selector never lets it.
    let total = if total.is_open() { total } else { Flow::live() };
    Ok(Next::After(total, merge))
}

fn run_case(
    t: &mut Translator<'_>,
    (cond, fell): (Value, Value),
    from: Id,
    case: &switch::Case,
    end: &Inst,
) -> Result<Flow> {
    let to = case.block;
    let taken = label::arm(t, |t| {
        switch::edge_or_fall(t, fell, from, to, end)?;
        match case.label {
            Some(_) => sequence_at(t, to, end),
            None => sequence(t, to, end),
        }
    })?;
    let flow = taken.flow.clone();
    let skipped = label::arm(t, |_| Ok(Flow::live()))?;
    label::close_if(t, cond, taken, skipped, end)?;
    Ok(flow)
}

/// A loop: header, body, then the code from the continue target on at the end of the IR's loop region.
fn make_loop<'m>(t: &mut Translator<'m>, header: &'m SpvBlock, merge: Id, next: Id) -> Result<Next> {
    let end = &header.end;
    let written = memory::written_slots(t, header.label, merge, end)?;
    let before = t.block;
    let outside = std::mem::take(&mut t.region);
    let depth = t.env.depth();
    t.env.push(Layer::default());
    let frame = LoopFrame { depth, breaks: Vec::new(), left: false, pending: Pending::new() };
    t.loops.push(frame);
    t.start_block();
    let slot_phis = join::slot_phis(t, &written, before, end)?;
    let id_phis = join::id_phis(t, header, before)?;

    label::open(t, Target::Block(merge), true);
    let reached = loop_body(t, header, next)?;
    if reached {
        join::close_phis(t, &slot_phis, &id_phis, end)?;
    }
    t.labels.pop();
    t.env.pop();
    let body = std::mem::replace(&mut t.region, outside);
    let Some(frame) = t.loops.pop() else {
        return Ok(Next::Done(Flow::closed()));
    };
    t.region.push(Node::Loop(body));
    t.start_block();
    join::join(t, frame.breaks, end)?;
    let flow = after_loop(t, frame.left, frame.pending, end)?;
    Ok(Next::After(flow, merge))
}

/// Translates one iteration. Returns whether control gets to its end.
fn loop_body<'m>(t: &mut Translator<'m>, header: &'m SpvBlock, next: Id) -> Result<bool> {
    let label = label::open(t, Target::Block(next), false);
    let flow = match run_block(t, header)? {
        Next::Done(flow) => flow,
        Next::Goto(to) => sequence(t, to, &header.end)?,
        Next::After(flow, _) if !flow.live => flow,
        Next::After(flow, merge) if flow.pending.is_empty() => sequence(t, merge, &header.end)?,
        Next::After(flow, merge) => guarded(t, flow, merge, &header.end)?,
    };
    t.labels.pop();
    let flow = flow.resolved(label);
    if next == header.label || !flow.live {
        return Ok(flow.live);
    }
    let label = label::open(t, Target::Block(header.label), false);
    let flow = sequence(t, next, &header.end)?;
    t.labels.pop();
    Ok(flow.resolved(label).live)
}

/// Control that left the loop for a label further out goes on its way.
fn after_loop(t: &mut Translator<'_>, live: bool, targets: Pending, inst: &Inst) -> Result<Flow> {
    let depth = t.loops.len();
    let here = |label: &Label| label.loop_depth == depth && !label.breaks_loop;
    let (near, far): (Pending, Pending) = targets.into_iter().partition(|&index| here(&t.labels[index]));
    let flow = Flow { live: false, pending: near }.union(&Flow { live, pending: Pending::new() });
    for (at, &index) in far.iter().enumerate() {
        if at + 1 == far.len() && !flow.is_open() {
            return Ok(label::exit(t, index));
        }
        let flag = t.read_slot(t.labels[index].flag, inst)?;
        let leaving = label::arm(t, |t| Ok(label::exit(t, index)))?;
        let staying = label::arm(t, |_| Ok(Flow::live()))?;
        label::close_if(t, flag, leaving, staying, inst)?;
    }
    Ok(flow)
}
