//! Walking the regions backwards: what is live, blocks, loops.

use cranelift_entity::EntitySet;
use vc4::qpu::BranchCond;

use super::{Selector, has_effect};
use crate::backend::BackendError;
use crate::backend::virt::{Dst, Operation, Reg, Src, Unit};
use crate::ir::{Block, LineId, Node, Op, Value, for_each_condition};

/// A phi at the start of a loop.
pub(super) struct HeaderPhi {
    value: Value,
    reg: Reg,
    first: Value,
    next: Value,
}

impl Selector<'_> {
    /// Marks what effects and loop conditions need, and counts the uses of each value by marked instructions.
    pub(super) fn count_uses(&mut self) {
        let mut needed: Vec<Value> = Vec::new();
        for block in self.shader.blocks_in_order() {
            for &inst in &self.shader.blocks[block].insts {
                self.block_of[inst] = block.into();
                let data = &self.shader.insts[inst];
                if has_effect(data.op) {
                    self.live.insert(inst);
                    needed.extend(data.args.iter().copied());
                }
            }
        }
        for_each_condition(&self.shader.body, &mut |condition| needed.push(condition));
        find_headers(&self.shader.body, &mut self.headers);
        while let Some(value) = needed.pop() {
            self.uses[value] += 1;
            let inst = self.shader.values[value].inst;
            if self.live.insert(inst) {
                needed.extend(self.shader.insts[inst].args.iter().copied());
            }
        }
    }

    pub(super) fn find_kill(&mut self) -> Result<(), BackendError> {
        for inst in self.shader.insts_in_order() {
            let data = &self.shader.insts[inst];
            if data.op == Op::DiscardIf {
                if self.kill.is_some() {
                    return Err(BackendError::NotLowered { op: "a second discard".into() });
                }
                self.kill = Some(data.args[0]);
                // Each conditional tile write looks at the condition again.
                self.uses[data.args[0]] += 1;
            }
        }
        Ok(())
    }

    /// Selects a region from its end.
    pub(super) fn region(&mut self, region: &[Node]) -> Result<(), BackendError> {
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

    pub(super) fn block(&mut self, block: Block) -> Result<(), BackendError> {
        self.current = Some(block);
        for &inst in self.shader.blocks[block].insts.iter().rev() {
            self.line = self.shader.insts[inst].line;
            self.inst(inst)?;
            self.flush();
        }
        self.line = LineId::NONE;
        Ok(())
    }

    /// Takes over the sequence that the last step made, in reverse.
    pub(super) fn flush(&mut self) {
        let sequence = std::mem::take(&mut self.seq);
        let line = self.line;
        self.program.ops.extend(sequence.into_iter().rev().map(|op| Operation { line, ..op }));
    }

    /// A loop: copies of what its phis start with, the body, the flags of its exit, copies for the next iteration.
    pub(super) fn endless_loop(&mut self, body: &[Node]) -> Result<(), BackendError> {
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

    pub(super) fn is_exit(&self, arm: &[Node]) -> bool {
        matches!(arm, [Node::Block(block), Node::Break] if self.shader.blocks[*block].insts.is_empty())
    }

    pub(super) fn is_empty_arm(&self, arm: &[Node]) -> bool {
        matches!(arm, [Node::Block(block)] if self.shader.blocks[*block].insts.is_empty())
    }

    /// Each phi that matters.
    pub(super) fn header_phis(&mut self, header: Block, back: Block) -> Vec<HeaderPhi> {
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
    pub(super) fn next_iteration(&mut self, phis: &[HeaderPhi]) {
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

fn find_headers(region: &[Node], headers: &mut EntitySet<Block>) {
    for node in region {
        match node {
            Node::If { then, otherwise, .. } => {
                find_headers(then, headers);
                find_headers(otherwise, headers);
            }
            Node::Loop(body) => {
                if let Some(&Node::Block(header)) = body.first() {
                    headers.insert(header);
                }
                find_headers(body, headers);
            }
            _ => {}
        }
    }
}
