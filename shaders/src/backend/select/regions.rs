//! Walking the regions backwards: blocks, loops, and ifs whose arms are jumped over where no element takes them.
//!
//! The QPU has one program counter for 16 elements. Where the condition is the same in all of them, one arm is run.
//! Where it may differ, an arm is run by all elements as soon as one takes it, and results are kept where it was taken.
//! Loops see to that themselves; the condition in front of them is [`Op::BAny`].

use vc4::qpu::{BranchCond, Cond};

use super::selector::Selector;
use crate::backend::error::BackendError;
use crate::backend::virt::{Dst, Operation, Reg, Src, Unit};
use crate::ir::uniform::Uniform;
use crate::ir::{Block, Inst, LineId, Node, Op, Region, Value};

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

/// An if. The guarded arm is the one that is jumped over however many there are.
struct Choice<'a> {
    cond: Value,
    /// The guarded arm is that of elements in which the condition does not hold.
    inverted: bool,
    guarded: &'a Region,
    /// The other arm, if it has any code.
    other: Option<&'a Region>,
    merges: Vec<Merge>,
    before: Block,
}

impl Selector<'_> {
    /// Selects a region from its end.
    pub fn region(&mut self, region: &[Node]) -> Result<(), BackendError> {
        for (index, node) in region.iter().enumerate().rev() {
            match node {
                Node::Block(block) => self.block(*block)?,
                Node::Loop(body) => self.endless_loop(body)?,
                Node::If { cond, then, otherwise } => {
                    let around =
                        (index.checked_sub(1).and_then(|before| region.get(before)), region.get(index + 1));
                    let (Some(&Node::Block(before)), Some(&Node::Block(join))) = around else {
                        return Err(BackendError::ControlFlow);
                    };
                    self.choice(*cond, [then, otherwise], [before, join])?;
                }
                Node::Return => {}
                _ => return Err(BackendError::ControlFlow),
            }
        }
        Ok(())
    }

    fn block(&mut self, block: Block) -> Result<(), BackendError> {
        self.current = Some(block);
        for &inst in self.shader.blocks[block].insts.iter().rev() {
            self.line = self.shader.insts[inst].line;
            self.inst(inst)?;
            self.flush();
        }
        self.line = LineId::NONE;
        Ok(())
    }

    /// A loop: copies of what its phis start with, the body, the flags of its exit, copies for the next iteration.
    fn endless_loop(&mut self, body: &[Node]) -> Result<(), BackendError> {
        let [rest @ .., Node::If { cond, then, otherwise }, Node::Block(back)] = body else {
            return Err(BackendError::ControlFlow);
        };
        let (Some(&Node::Block(header)), Some(&Node::Block(last))) = (rest.first(), rest.last()) else {
            return Err(BackendError::ControlFlow);
        };
        let (true, true) = (self.is_exit(then), self.is_empty_arm(otherwise)) else {
            return Err(BackendError::ControlFlow);
        };
        let phis = self.header_phis(header, *back);
        let branch = self.program.ops.len();
        self.next_iteration(&phis);
        self.flush();
        self.current = Some(last);
        let leave = self.flags(*cond)?;
        self.flush();
        let again = BranchCond::any(leave.inverse()).ok_or(BackendError::ControlFlow)?;
        let end = Operation::new(Unit::LoopEnd(again), Dst::None, &[]);
        self.program.ops.insert(branch, end);
        self.block(*back)?;
        self.region(rest)?;
        self.program.ops.push(Operation::new(Unit::LoopStart, Dst::None, &[]));
        for phi in &phis {
            if self.started.contains(phi.value) {
                continue;
            }
            let operand = self.operand(phi.first);
            self.push(Operation::mov(Dst::Reg(phi.reg), operand));
        }
        self.flush();
        Ok(())
    }

    fn is_exit(&self, arm: &[Node]) -> bool {
        matches!(arm, [Node::Block(block), Node::Break] if self.shader.blocks[*block].insts.is_empty())
    }

    fn is_empty_arm(&self, arm: &[Node]) -> bool {
        matches!(arm, [Node::Block(block)] if self.shader.blocks[*block].insts.is_empty())
    }

    /// Each phi that matters.
    fn header_phis(&mut self, header: Block, back: Block) -> Vec<HeaderPhi> {
        let mut phis = Vec::new();
        for &inst in &self.shader.blocks[header].insts {
            let data = &self.shader.insts[inst];
            if data.op != Op::Phi || !self.live.contains(inst) {
                continue;
            }
            let again = data.phi_blocks.iter().position(|&from| from == back);
            let first = data.phi_blocks.iter().position(|&from| from != back);
            if let (Some(again), Some(first)) = (again, first) {
                let value = data.results[0];
                let reg = self.reg_of(value);
                phis.push(HeaderPhi { value, reg, first: data.args[first], next: data.args[again] });
            }
        }
        phis
    }

    /// All phis change at once: one that another takes over is saved first.
    fn next_iteration(&mut self, phis: &[HeaderPhi]) {
        let mut copies = Vec::new();
        for &HeaderPhi { reg, next, .. } in phis {
            let operand = self.operand(next);
            if operand.src == Src::Reg(reg) {
                continue;
            }
            if phis.iter().any(|other| operand.src == Src::Reg(other.reg)) {
                let saved = self.program.reg();
                self.push(Operation::mov(Dst::Reg(saved), operand));
                copies.push((reg, Src::Reg(saved).into()));
            } else {
                copies.push((reg, operand));
            }
        }
        for (reg, operand) in copies {
            self.push(Operation::mov(Dst::Reg(reg), operand));
        }
    }
}

/// Ifs.
impl Selector<'_> {
    /// Selects an if from its end. `blocks`: in front of it and behind it.
    fn choice(
        &mut self,
        cond: Value,
        [then, otherwise]: [&Region; 2],
        [before, join]: [Block; 2],
    ) -> Result<(), BackendError> {
        let asks_all = self.op(cond) == Op::BAny;
        let one_arm = self.uniform.get_or_insert_with(|| Uniform::of(self.shader)).contains(cond);
        let inverted = !asks_all && !self.has_code(then);
        let (guarded, other) = if inverted { (otherwise, then) } else { (then, otherwise) };
        let other = self.has_code(other).then_some(other);
        let mut merges = self.merges(guarded, join)?;
        if let (None, [_, Node::Loop(body), Node::Block(_)]) = (other, &guarded[..]) {
            merges.iter_mut().for_each(|merge| merge.carried = one_arm && self.carry(merge, body));
        }
        let cond = if asks_all { self.args(cond)[0] } else { cond };
        let choice = Choice { cond, inverted, guarded, other, merges, before };
        if one_arm { self.one_arm(&choice) } else { self.both_arms(&choice) }
    }

    /// Whether there is anything to jump over.
    fn has_code(&self, arm: &Region) -> bool {
        let has_code = |&inst: &Inst| self.live.contains(inst) && !self.shader.insts[inst].op.is_leaf();
        match arm[..] {
            [Node::Block(block)] => self.shader.blocks[block].insts.iter().any(has_code),
            _ => true,
        }
    }

    /// Lets a loop carry what is merged behind it in the merge's register: what it starts with is what is there if it is
    /// never entered.
    fn carry(&mut self, merge: &Merge, body: &Region) -> bool {
        let (Some(&Node::Block(header)), Some(&Node::Block(back))) = (body.first(), body.last()) else {
            return false;
        };
        for inst in self.shader.blocks[header].insts.iter().copied() {
            let data = &self.shader.insts[inst];
            let (Op::Phi, &[value], &[a, b]) = (data.op, &data.results[..], &data.args[..]) else { continue };
            let (next, first) = if data.phi_blocks[0] == back { (a, b) } else { (b, a) };
            if next == merge.second && first == merge.first && self.regs[value].is_none() {
                self.regs[value] = merge.reg.into();
                self.started.insert(value);
                return true;
            }
        }
        false
    }

    /// The phis of `join` that matter; `guarded` is the arm that runs second.
    fn merges(&mut self, guarded: &Region, join: Block) -> Result<Vec<Merge>, BackendError> {
        let Some(&Node::Block(last)) = guarded.last() else { return Err(BackendError::ControlFlow) };
        let mut merges = Vec::new();
        for &inst in &self.shader.blocks[join].insts {
            let data = &self.shader.insts[inst];
            if data.op != Op::Phi || !self.live.contains(inst) {
                continue;
            }
            let &[a, b] = &data.args[..] else { return Err(BackendError::ControlFlow) };
            let (second, first) = if data.phi_blocks[0] == last { (a, b) } else { (b, a) };
            let reg = self.reg_of(data.results[0]);
            merges.push(Merge { reg, first, second, carried: false });
        }
        Ok(merges)
    }

    /// The condition is the same in all elements.
    fn one_arm(&mut self, choice: &Choice<'_>) -> Result<(), BackendError> {
        self.marker(Unit::EndIf);
        if let Some(other) = choice.other {
            self.set_first(choice, other)?;
            self.region(other)?;
            self.marker(Unit::Else);
        }
        self.current = last_block(choice.guarded);
        for merge in choice.merges.iter().filter(|merge| !merge.carried) {
            self.value_to_reg(merge.second, merge.reg);
            self.flush();
        }
        self.region(choice.guarded)?;
        self.skip_unless(choice, Some(choice.before), false)?;
        if choice.other.is_none() {
            self.set_first_before(choice);
        }
        Ok(())
    }

    /// Elements may differ: the other arm is run first, and where no element takes it, none keeps its results.
    fn both_arms(&mut self, choice: &Choice<'_>) -> Result<(), BackendError> {
        self.marker(Unit::EndIf);
        self.current = last_block(choice.guarded);
        for merge in &choice.merges {
            self.replace_where_taken(choice, merge)?;
        }
        self.region(choice.guarded)?;
        match choice.other {
            Some(other) => {
                // The first arm may leave them unwritten, where no element keeps what was there. To whoever does not
                // know that, an accumulator would have to survive the thread switches in front.
                for merge in &choice.merges {
                    self.program.regs[merge.reg].places.acc = false;
                }
                self.skip_unless(choice, None, false)?;
                self.marker(Unit::EndIf);
                self.set_first(choice, other)?;
                self.region(other)?;
                self.skip_unless(choice, Some(choice.before), true)?;
            }
            None => {
                self.skip_unless(choice, Some(choice.before), false)?;
                self.set_first_before(choice);
            }
        }
        Ok(())
    }

    /// Gives phis the values of the other arm, at its end.
    fn set_first(&mut self, choice: &Choice<'_>, arm: &Region) -> Result<(), BackendError> {
        self.current = last_block(arm);
        if self.current.is_none() {
            return Err(BackendError::ControlFlow);
        }
        for merge in &choice.merges {
            self.value_to_reg(merge.first, merge.reg);
            self.flush();
        }
        Ok(())
    }

    /// Gives phis the values of elements that do not take the guarded arm, in front of it.
    fn set_first_before(&mut self, choice: &Choice<'_>) {
        self.current = Some(choice.before);
        for merge in &choice.merges {
            self.value_to_reg(merge.first, merge.reg);
            self.flush();
        }
    }

    /// Keeps the guarded arm's result in the elements that take it.
    fn replace_where_taken(&mut self, choice: &Choice<'_>, merge: &Merge) -> Result<(), BackendError> {
        let dst = Dst::Reg(merge.reg);
        let result = if self.foldable(merge.second) {
            self.fold(merge.second, dst)
        } else {
            let operand = self.operand(merge.second);
            Operation::mov(dst, operand)
        };
        let cond = self.taken(choice)?;
        self.push(Operation { cond, ..result });
        self.flush();
        Ok(())
    }

    /// Sets the flags; the condition that holds in elements that take the guarded arm.
    fn taken(&mut self, choice: &Choice<'_>) -> Result<Cond, BackendError> {
        let cond = self.flags(choice.cond)?;
        Ok(if choice.inverted { cond.inverse() } else { cond })
    }

    /// The jump over the guarded arm, or over the other one, at the end of `block`.
    fn skip_unless(
        &mut self,
        choice: &Choice<'_>,
        block: Option<Block>,
        other: bool,
    ) -> Result<(), BackendError> {
        let at = self.program.ops.len();
        self.current = block;
        let taken = self.taken(choice)?;
        self.flush();
        let skips = BranchCond::all(if other { taken } else { taken.inverse() });
        let skips = skips.ok_or(BackendError::ControlFlow)?;
        self.program.ops.insert(at, Operation::new(Unit::If(skips), Dst::None, &[]));
        Ok(())
    }

    fn marker(&mut self, unit: Unit) {
        self.program.ops.push(Operation::new(unit, Dst::None, &[]));
    }
}

fn last_block(region: &Region) -> Option<Block> {
    match region.last() {
        Some(&Node::Block(block)) => Some(block),
        _ => None,
    }
}
