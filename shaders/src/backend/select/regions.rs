//! Walking the regions backwards: blocks, loops, and ifs whose arms are jumped over where no element takes them.
//!
//! The QPU has one program counter for 16 elements. Where the condition is the same in all of them, one arm is run.
//! Where it may differ, an arm is run by all elements as soon as one takes it, and results are kept where it was taken.
//! Loops see to that themselves; the condition in front of them is [`Op::BAny`].

use vc4::qpu::{BranchCond, Cond};

use super::selector::Selector;
use super::{conditions, operation};
use crate::backend::error::BackendError;
use crate::backend::virt::{Dst, Operation, Reg, Src, Unit};
use crate::ir::arms::Arms;
use crate::ir::uniform::Uniform;
use crate::ir::{Block, LineId, Node, Op, Region, Value};

/// A phi at the start of a loop.
struct HeaderPhi {
    value: Value,
    reg: Reg,
    first: Value,
    next: Value,
}

/// A phi behind an if: its register, and the values of the arm that runs first and of the one that may replace it.
struct Merge {
    reg: Reg,
    first: Value,
    second: Value,
    /// A loop in the second arm carries it in this register.
    carried: bool,
}

/// An if ([`Arms`]).
struct Choice<'a> {
    cond: Value,
    inverted: bool,
    guarded: &'a Region,
    /// The other arm, if it has any code.
    other: Option<&'a Region>,
    merges: Vec<Merge>,
    before: Block,
}

/// Selects a region from its end.
pub fn region(s: &mut Selector<'_>, region: &[Node]) -> Result<(), BackendError> {
    for (index, node) in region.iter().enumerate().rev() {
        match node {
            Node::Block(block) => select_block(s, *block)?,
            Node::Loop(body) => endless_loop(s, body)?,
            Node::If { cond, then, otherwise } => {
                let around =
                    (index.checked_sub(1).and_then(|before| region.get(before)), region.get(index + 1));
                let (Some(&Node::Block(before)), Some(&Node::Block(join))) = around else {
                    return Err(BackendError::ControlFlow);
                };
                choice(s, *cond, [then, otherwise], [before, join])?;
            }
            Node::Return => {}
            _ => return Err(BackendError::ControlFlow),
        }
    }
    Ok(())
}

fn select_block(s: &mut Selector<'_>, block: Block) -> Result<(), BackendError> {
    s.current = Some(block);
    for &inst in s.shader.blocks[block].insts.iter().rev() {
        s.line = s.shader.insts[inst].line;
        operation::select_inst(s, inst)?;
        s.flush();
    }
    s.line = LineId::NONE;
    Ok(())
}

/// A loop: copies of what its phis start with, the body, the flags of its exit, copies for the next iteration.
fn endless_loop(s: &mut Selector<'_>, body: &[Node]) -> Result<(), BackendError> {
    let [rest @ .., Node::If { cond, then, otherwise }, Node::Block(back)] = body else {
        return Err(BackendError::ControlFlow);
    };
    let (Some(&Node::Block(header)), Some(&Node::Block(last))) = (rest.first(), rest.last()) else {
        return Err(BackendError::ControlFlow);
    };
    let (true, true) = (is_exit(s, then), is_empty_arm(s, otherwise)) else {
        return Err(BackendError::ControlFlow);
    };
    let phis = header_phis(s, header, *back);
    let branch = s.program.ops.len();
    next_iteration(s, &phis);
    s.flush();
    s.current = Some(last);
    let leave = conditions::flags(s, *cond)?;
    s.flush();
    let again = BranchCond::any(leave.inverse()).ok_or(BackendError::ControlFlow)?;
    let end = Operation::new(Unit::LoopEnd(again), Dst::None, &[]);
    s.program.ops.insert(branch, end);
    select_block(s, *back)?;
    region(s, rest)?;
    s.program.ops.push(Operation::new(Unit::LoopStart, Dst::None, &[]));
    for phi in &phis {
        if s.started.contains(phi.value) {
            continue;
        }
        let operand = s.operand(phi.first);
        s.push(Operation::mov(Dst::Reg(phi.reg), operand));
    }
    s.flush();
    Ok(())
}

fn is_exit(s: &Selector<'_>, arm: &[Node]) -> bool {
    matches!(arm, [Node::Block(block), Node::Break] if s.shader.blocks[*block].insts.is_empty())
}

fn is_empty_arm(s: &Selector<'_>, arm: &[Node]) -> bool {
    matches!(arm, [Node::Block(block)] if s.shader.blocks[*block].insts.is_empty())
}

/// Each phi that matters.
fn header_phis(s: &mut Selector<'_>, header: Block, back: Block) -> Vec<HeaderPhi> {
    let mut phis = Vec::new();
    for &inst in &s.shader.blocks[header].insts {
        let data = &s.shader.insts[inst];
        if !data.op.is(Op::Phi) || !s.live.contains(inst) {
            continue;
        }
        let again = data.phi_blocks.iter().position(|&from| from == back);
        let first = data.phi_blocks.iter().position(|&from| from != back);
        if let (Some(again), Some(first)) = (again, first) {
            let value = data.results[0];
            let reg = s.reg_of(value);
            phis.push(HeaderPhi { value, reg, first: data.args[first], next: data.args[again] });
        }
    }
    phis
}

/// All phis change at once: one that another takes over is saved first.
fn next_iteration(s: &mut Selector<'_>, phis: &[HeaderPhi]) {
    let mut copies = Vec::new();
    for &HeaderPhi { reg, next, .. } in phis {
        let operand = s.operand(next);
        if operand.src == Src::Reg(reg) {
            continue;
        }
        if phis.iter().any(|other| operand.src == Src::Reg(other.reg)) {
            let saved = s.program.reg();
            s.push(Operation::mov(Dst::Reg(saved), operand));
            copies.push((reg, Src::Reg(saved).into()));
        } else {
            copies.push((reg, operand));
        }
    }
    for (reg, operand) in copies {
        s.push(Operation::mov(Dst::Reg(reg), operand));
    }
}

/// Selects an if from its end. `blocks`: in front of it and behind it.
fn choice(
    s: &mut Selector<'_>,
    cond: Value,
    [then, otherwise]: [&Region; 2],
    [before, join]: [Block; 2],
) -> Result<(), BackendError> {
    let one_arm = s.uniform.get_or_insert_with(|| Uniform::of(s.shader)).contains(cond);
    let arms = Arms::of(s.shader, cond, one_arm, [then, otherwise], |inst| s.live.contains(inst));
    let Arms { inverted, guarded, .. } = arms;
    let other = arms.has_other.then_some(arms.other);
    let mut merges = merges(s, guarded, join)?;
    if let (None, [_, Node::Loop(body), Node::Block(_)]) = (other, &guarded[..]) {
        merges.iter_mut().for_each(|merge| merge.carried = one_arm && carry(s, merge, body));
    }
    let cond = if s.op(cond) == Op::BAny { s.args(cond)[0] } else { cond };
    let choice = Choice { cond, inverted, guarded, other, merges, before };
    if one_arm { take_one_arm(s, &choice) } else { run_both_arms(s, &choice) }
}

/// Lets a loop carry what is merged behind it in the merge's register: what it starts with is what is there if it is
/// never entered.
fn carry(s: &mut Selector<'_>, merge: &Merge, body: &Region) -> bool {
    let (Some(&Node::Block(header)), Some(&Node::Block(back))) = (body.first(), body.last()) else {
        return false;
    };
    for inst in s.shader.blocks[header].insts.iter().copied() {
        let data = &s.shader.insts[inst];
        let (Op::Phi, &[value], &[a, b]) = (data.op, &data.results[..], &data.args[..]) else { continue };
        let (next, first) = if data.phi_blocks[0] == back { (a, b) } else { (b, a) };
        if next == merge.second && first == merge.first && s.regs[value].is_none() {
            s.regs[value] = merge.reg.into();
            s.started.insert(value);
            return true;
        }
    }
    false
}

/// The phis of `join` that matter; `guarded` is the arm that runs second.
fn merges(s: &mut Selector<'_>, guarded: &Region, join: Block) -> Result<Vec<Merge>, BackendError> {
    let Some(&Node::Block(last)) = guarded.last() else { return Err(BackendError::ControlFlow) };
    let mut merges = Vec::new();
    for &inst in &s.shader.blocks[join].insts {
        let data = &s.shader.insts[inst];
        if !data.op.is(Op::Phi) || !s.live.contains(inst) {
            continue;
        }
        let &[a, b] = &data.args[..] else { return Err(BackendError::ControlFlow) };
        let (second, first) = if data.phi_blocks[0] == last { (a, b) } else { (b, a) };
        let reg = s.reg_of(data.results[0]);
        merges.push(Merge { reg, first, second, carried: false });
    }
    Ok(merges)
}

/// The condition is the same in all elements.
fn take_one_arm(s: &mut Selector<'_>, choice: &Choice<'_>) -> Result<(), BackendError> {
    marker(s, Unit::EndIf);
    if let Some(other) = choice.other {
        set_first(s, choice, other)?;
        region(s, other)?;
        marker(s, Unit::Else);
    }
    s.current = last_block(choice.guarded);
    for merge in choice.merges.iter().filter(|merge| !merge.carried) {
        s.value_to_reg(merge.second, merge.reg);
        s.flush();
    }
    region(s, choice.guarded)?;
    skip_unless(s, choice, Some(choice.before), false)?;
    if choice.other.is_none() {
        set_first_before(s, choice);
    }
    Ok(())
}

/// Elements may differ: the other arm is run first, and where no element takes it, none keeps its results.
fn run_both_arms(s: &mut Selector<'_>, choice: &Choice<'_>) -> Result<(), BackendError> {
    marker(s, Unit::EndIf);
    s.current = last_block(choice.guarded);
    for merge in &choice.merges {
        replace_where_taken(s, choice, merge)?;
    }
    region(s, choice.guarded)?;
    match choice.other {
        Some(other) => {
            // The first arm may leave them unwritten, where no element keeps what was there. To whoever does not
            // know that, an accumulator would have to survive the thread switches in front.
            for merge in &choice.merges {
                s.program.regs[merge.reg].places.acc = false;
            }
            skip_unless(s, choice, None, false)?;
            marker(s, Unit::EndIf);
            set_first(s, choice, other)?;
            region(s, other)?;
            skip_unless(s, choice, Some(choice.before), true)?;
        }
        None => {
            skip_unless(s, choice, Some(choice.before), false)?;
            set_first_before(s, choice);
        }
    }
    Ok(())
}

/// Gives phis the values of the other arm, at its end.
fn set_first(s: &mut Selector<'_>, choice: &Choice<'_>, arm: &Region) -> Result<(), BackendError> {
    s.current = last_block(arm);
    if s.current.is_none() {
        return Err(BackendError::ControlFlow);
    }
    for merge in &choice.merges {
        s.value_to_reg(merge.first, merge.reg);
        s.flush();
    }
    Ok(())
}

/// Gives phis the values of elements that do not take the guarded arm, in front of it.
fn set_first_before(s: &mut Selector<'_>, choice: &Choice<'_>) {
    s.current = Some(choice.before);
    for merge in &choice.merges {
        s.value_to_reg(merge.first, merge.reg);
        s.flush();
    }
}

/// Keeps the guarded arm's result in the elements that take it.
fn replace_where_taken(s: &mut Selector<'_>, choice: &Choice<'_>, merge: &Merge) -> Result<(), BackendError> {
    let dst = Dst::Reg(merge.reg);
    let result = if s.foldable(merge.second) {
        s.fold(merge.second, dst)
    } else {
        let operand = s.operand(merge.second);
        Operation::mov(dst, operand)
    };
    let cond = taken(s, choice)?;
    s.push(Operation { cond, ..result });
    s.flush();
    Ok(())
}

/// Sets the flags; the condition that holds in elements that take the guarded arm.
fn taken(s: &mut Selector<'_>, choice: &Choice<'_>) -> Result<Cond, BackendError> {
    let cond = conditions::flags(s, choice.cond)?;
    Ok(if choice.inverted { cond.inverse() } else { cond })
}

/// The jump over the guarded arm, or over the other one, at the end of `block`.
fn skip_unless(
    s: &mut Selector<'_>,
    choice: &Choice<'_>,
    block: Option<Block>,
    other: bool,
) -> Result<(), BackendError> {
    let at = s.program.ops.len();
    s.current = block;
    let taken = taken(s, choice)?;
    s.flush();
    let skips = BranchCond::all(if other { taken } else { taken.inverse() });
    let skips = skips.ok_or(BackendError::ControlFlow)?;
    s.program.ops.insert(at, Operation::new(Unit::If(skips), Dst::None, &[]));
    Ok(())
}

fn marker(s: &mut Selector<'_>, unit: Unit) {
    s.program.ops.push(Operation::new(unit, Dst::None, &[]));
}

fn last_block(region: &Region) -> Option<Block> {
    match region.last() {
        Some(&Node::Block(block)) => Some(block),
        _ => None,
    }
}
