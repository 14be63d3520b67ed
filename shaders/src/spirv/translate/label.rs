//! Labels: opening them, leaving for them, and the arms of an `If` that control leaves.

use super::construct::{Arm, Flow, Label, LoopFrame, Pending, Target};
use super::env::{Initial, Layer, Slot};
use super::join;
use super::translator::Translator;
use crate::ir::{Node, Type, Value};
use crate::spirv::binary::{Id, Inst};
use crate::spirv::error::Result;

/// Opens a label inside all others.
pub fn open(t: &mut Translator<'_>, target: Target, breaks_loop: bool) -> usize {
    let flag = t.slots.len() as u32;
    t.slots.push(Slot { ty: Type::Bool, initial: Initial::False });
    t.labels.push(Label { target, breaks_loop, flag, loop_depth: t.loops.len() });
    t.labels.len() - 1
}

/// Opens the label of a function's end.
pub fn open_return(t: &mut Translator<'_>) -> usize {
    open(t, Target::Return, false)
}

/// The innermost label of the function being translated that is a block.
pub fn find(t: &Translator<'_>, id: Id) -> Result<Option<usize>> {
    let first = t.frame()?.first_label;
    let found = t.labels[first..].iter().rposition(|label| label.target == Target::Block(id));
    Ok(found.map(|index| first + index))
}

/// Leaves for a label.
pub fn exit(t: &mut Translator<'_>, index: usize) -> Flow {
    let label = t.labels[index];
    let here = label.loop_depth == t.loops.len();
    if here && !label.breaks_loop && index + 1 == t.labels.len() {
        return Flow::live();
    }
    if here && label.breaks_loop {
        native_break(t, |frame| frame.left = true);
        return Flow::closed();
    }
    let truth = t.constant(Type::Bool, 1);
    t.env.set_slot(label.flag, truth);
    if here {
        return Flow { live: false, pending: Pending::from_slice(&[index]) };
    }
    native_break(t, |frame| frame.pending.push(index));
    Flow::closed()
}

fn native_break(t: &mut Translator<'_>, note: impl FnOnce(&mut LoopFrame)) {
    if let Some(frame) = t.loops.last_mut() {
        frame.breaks.push((t.block, t.env.changes(frame.depth)));
        note(frame);
        t.region.push(Node::Break);
    }
}

/// Makes an arm of an `If`.
pub fn arm(t: &mut Translator<'_>, f: impl FnOnce(&mut Translator<'_>) -> Result<Flow>) -> Result<Arm> {
    let (region, block) = (std::mem::take(&mut t.region), t.block);
    t.env.push(Layer::default());
    t.start_block();
    let flow = f(t)?;
    let changes = t.env.pop();
    let arm = Arm { region: std::mem::replace(&mut t.region, region), last: t.block, changes, flow };
    t.block = block;
    Ok(arm)
}

/// Goes on at the end of an arm.
pub fn extend(
    t: &mut Translator<'_>,
    arm: Arm,
    f: impl FnOnce(&mut Translator<'_>) -> Result<Flow>,
) -> Result<Arm> {
    let (region, block) = (std::mem::replace(&mut t.region, arm.region), t.block);
    t.env.push(arm.changes);
    t.block = arm.last;
    let flow = f(t)?;
    let changes = t.env.pop();
    let arm = Arm { region: std::mem::replace(&mut t.region, region), last: t.block, changes, flow };
    t.block = block;
    Ok(arm)
}

/// Puts an `If` of two arms into the region and goes on behind it.
pub fn close_if(t: &mut Translator<'_>, cond: Value, then: Arm, otherwise: Arm, inst: &Inst) -> Result<Flow> {
    let mut edges = Vec::new();
    let flow = then.flow.clone().union(&otherwise.flow);
    for arm in [&then, &otherwise] {
        if arm.flow.is_open() {
            edges.push((arm.last, arm.changes.clone()));
        }
    }
    t.region.push(Node::If { cond, then: then.region, otherwise: otherwise.region });
    t.start_block();
    join::join(t, edges, inst)?;
    Ok(flow)
}
