//! Structured control flow: from SPIR-V's blocks with merge instructions to the IR's region tree.
//!
//! A construct (if, switch case, loop body, function) is a *label* that control inside it may leave for. The IR knows
//! no such labels, only falling out of a region and breaking the innermost loop. An exit that is neither sets the
//! label's flag and falls out; code that must not run then goes into the arm that did not exit, or, if both
//! an exit and normal control reach it, under an `If` on the flag. Flags are slots like any variable.

use smallvec::SmallVec;
use spirv::Op;

use super::env::{Entity, Initial, Layer, Slot};
use super::translator::Translator;
use crate::ir::{Block, Node, Region, Type, Value};
use crate::spirv::binary::{Id, Inst};
use crate::spirv::error::Result;
use crate::spirv::module::function::{Block as SpvBlock, Merge};

/// Nesting of constructs that may be open at once.
const MAX_NESTING: usize = 160;

/// Where a label is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A block.
    Block(Id),
    /// The end of the function.
    Return,
}

/// A place that control may leave for.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    /// Where it is.
    pub target: Target,
    /// Leaving for it is the IR's `Break`.
    pub breaks_loop: bool,
    /// Slot that is true after an exit that could not be expressed otherwise.
    pub flag: u32,
    /// IR loops around it (around its inside, for a loop's merge).
    pub loop_depth: usize,
}

/// An IR loop being made.
#[derive(Debug)]
pub struct LoopFrame {
    /// Layers of the environment outside.
    depth: usize,
    /// Where `Break`s are and what changed until there.
    breaks: Vec<(Block, Layer)>,
    /// Whether one of them is for the loop's own merge.
    left: bool,
    /// Outer labels that others are for.
    pending: Pending,
}

type Pending = SmallVec<[usize; 2]>;

/// How control leaves a piece of code.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// It may reach the innermost label.
    pub live: bool,
    /// Labels further out that it may be on the way to, with their flags set.
    pending: Pending,
}

impl Flow {
    /// Control goes on.
    pub fn live() -> Flow {
        Flow { live: true, pending: Pending::new() }
    }

    /// Control does not go on.
    pub fn closed() -> Flow {
        Flow::default()
    }

    /// Whether control reaches the end of the IR region.
    pub fn is_open(&self) -> bool {
        self.live || !self.pending.is_empty()
    }

    /// Both ways of leaving.
    pub fn union(mut self, other: &Flow) -> Flow {
        self.live |= other.live;
        self.pending.extend(other.pending.iter().copied());
        self.pending.sort_unstable();
        self.pending.dedup();
        self
    }

    /// Without control on the way to the labels from `first` on.
    pub fn below(mut self, first: usize) -> Flow {
        self.pending.retain(|pending| *pending < first);
        self
    }

    /// The same at the place of a label: control on the way there has arrived.
    pub fn resolved(mut self, label: usize) -> Flow {
        let before = self.pending.len();
        self.pending.retain(|pending| *pending != label);
        self.live |= self.pending.len() != before;
        self
    }
}

/// What follows a block's branch.
pub enum Next {
    /// Another block in the same region.
    Goto(Id),
    /// Nothing more.
    Done(Flow),
    /// A construct ended; its merge block follows for those that reach it.
    After(Flow, Id),
}

/// One side of an `If`.
pub struct Arm {
    region: Region,
    last: Block,
    changes: Layer,
    /// How control leaves it.
    pub flow: Flow,
}

impl<'m> Translator<'m> {
    pub(super) fn push_label(&mut self, target: Target, breaks_loop: bool) -> usize {
        let flag = self.slots.len() as u32;
        self.slots.push(Slot { ty: Type::Bool, initial: Initial::False });
        self.labels.push(Label { target, breaks_loop, flag, loop_depth: self.loops.len() });
        self.labels.len() - 1
    }

    /// Opens the label of a function's end.
    pub fn push_return_label(&mut self) -> usize {
        self.push_label(Target::Return, false)
    }

    pub(super) fn find_label(&self, id: Id) -> Result<Option<usize>> {
        let first = self.frame()?.first_label;
        let found = self.labels[first..].iter().rposition(|label| label.target == Target::Block(id));
        Ok(found.map(|index| first + index))
    }

    /// Leaves for a label.
    fn exit(&mut self, index: usize) -> Flow {
        let label = self.labels[index];
        let here = label.loop_depth == self.loops.len();
        if here && !label.breaks_loop && index + 1 == self.labels.len() {
            return Flow::live();
        }
        if here && label.breaks_loop {
            self.native_break(|frame| frame.left = true);
            return Flow::closed();
        }
        let truth = self.constant(Type::Bool, 1);
        self.env.set_slot(label.flag, truth);
        if here {
            return Flow { live: false, pending: Pending::from_slice(&[index]) };
        }
        self.native_break(|frame| frame.pending.push(index));
        Flow::closed()
    }

    fn native_break(&mut self, note: impl FnOnce(&mut LoopFrame)) {
        if let Some(frame) = self.loops.last_mut() {
            frame.breaks.push((self.block, self.env.changes(frame.depth)));
            note(frame);
            self.region.push(Node::Break);
        }
    }

    /// Translates blocks from `start` until control leaves for a label.
    pub fn sequence(&mut self, start: Id, user: &Inst) -> Result<Flow> {
        match self.find_label(start)? {
            Some(index) => Ok(self.exit(index)),
            None => self.sequence_at(start, user),
        }
    }

    /// Translates the block `start`, even if it is a label, and what follows until control leaves for a label.
    pub(super) fn sequence_at(&mut self, start: Id, user: &Inst) -> Result<Flow> {
        if self.env.depth() + self.frames.len() > MAX_NESTING {
            return Err(user.too_large("nesting of control flow", MAX_NESTING));
        }
        let mut label = start;
        loop {
            let block = self.enter(label, user)?;
            let next = match block.merge {
                Some(Merge::Loop { merge, next }) => self.make_loop(block, merge, next)?,
                _ => self.run_block(block)?,
            };
            label = match next {
                Next::Goto(label) => label,
                Next::Done(flow) => return Ok(flow),
                Next::After(flow, _) if !flow.live => return Ok(flow),
                Next::After(flow, merge) if flow.pending.is_empty() => merge,
                Next::After(flow, merge) => return self.guarded(flow, merge, &block.end),
            };
            if let Some(index) = self.find_label(label)? {
                return Ok(self.exit(index));
            }
        }
    }

    /// The block with a label, which no other way of the same function may have entered.
    fn enter(&mut self, label: Id, user: &Inst) -> Result<&'m SpvBlock> {
        let function = self.frame()?.function;
        let Some(block) = function.block(label) else {
            return Err(user.invalid(format!("block %{label} is not defined")));
        };
        if !self.frames.last_mut().is_some_and(|frame| frame.visited.insert(label)) {
            let reason = format!("control flow is not structured: block %{label} is reached without a merge");
            return Err(user.invalid(reason));
        }
        Ok(block)
    }

    /// The block at `merge` and what follows, for control that is not on its way to a pending label.
    fn guarded(&mut self, flow: Flow, merge: Id, inst: &Inst) -> Result<Flow> {
        let mut exited = None;
        for &index in &flow.pending {
            let flag = self.read_slot(self.labels[index].flag, inst)?;
            exited = Some(match exited {
                Some(others) => self.builder().bor(others, flag),
                None => flag,
            });
        }
        let Some(exited) = exited else {
            return self.sequence(merge, inst);
        };
        let gone = Flow { live: false, pending: flow.pending };
        let skipped = self.arm(|_| Ok(gone))?;
        let rest = self.arm(|t| t.sequence(merge, inst))?;
        self.close_if(exited, skipped, rest, inst)
    }

    pub(super) fn arm(&mut self, f: impl FnOnce(&mut Self) -> Result<Flow>) -> Result<Arm> {
        let (region, block) = (std::mem::take(&mut self.region), self.block);
        self.env.push(Layer::default());
        self.start_block();
        let flow = f(self)?;
        let changes = self.env.pop();
        let arm =
            Arm { region: std::mem::replace(&mut self.region, region), last: self.block, changes, flow };
        self.block = block;
        Ok(arm)
    }

    /// Goes on at the end of an arm.
    fn extend(&mut self, arm: Arm, f: impl FnOnce(&mut Self) -> Result<Flow>) -> Result<Arm> {
        let (region, block) = (std::mem::replace(&mut self.region, arm.region), self.block);
        self.env.push(arm.changes);
        self.block = arm.last;
        let flow = f(self)?;
        let changes = self.env.pop();
        let arm =
            Arm { region: std::mem::replace(&mut self.region, region), last: self.block, changes, flow };
        self.block = block;
        Ok(arm)
    }

    pub(super) fn close_if(&mut self, cond: Value, then: Arm, otherwise: Arm, inst: &Inst) -> Result<Flow> {
        let mut edges = Vec::new();
        let flow = then.flow.clone().union(&otherwise.flow);
        for arm in [&then, &otherwise] {
            if arm.flow.is_open() {
                edges.push((arm.last, arm.changes.clone()));
            }
        }
        self.region.push(Node::If { cond, then: then.region, otherwise: otherwise.region });
        self.start_block();
        self.join(edges, inst)?;
        Ok(flow)
    }

    /// Translates a block and its branch.
    fn run_block(&mut self, block: &'m SpvBlock) -> Result<Next> {
        for inst in &block.body {
            if !self.instruction(inst)? {
                return Ok(Next::Done(Flow::closed()));
            }
        }
        let end = &block.end;
        self.shader.line = end.line;
        self.pay(end, 1 + end.operands.len() / 4)?;
        let from = block.label;
        match end.op {
            Op::Branch => {
                let to = end.id_at(0)?;
                self.edge(from, to, end)?;
                Ok(Next::Goto(to))
            }
            Op::BranchConditional => {
                let cond = self.scalar(end.id_at(0)?, Type::Bool, end)?;
                let (yes, no) = (end.id_at(1)?, end.id_at(2)?);
                match (self.shader.const_of(cond), block.merge) {
                    (Some(truth), Some(Merge::Selection(merge))) => {
                        let taken = if truth != 0 { yes } else { no };
                        let label = self.push_label(Target::Block(merge), false);
                        self.edge(from, taken, end)?;
                        let flow = self.sequence(taken, end)?;
                        self.labels.pop();
                        Ok(Next::After(flow.resolved(label), merge))
                    }
                    (Some(truth), _) => {
                        let taken = if truth != 0 { yes } else { no };
                        self.edge(from, taken, end)?;
                        Ok(Next::Goto(taken))
                    }
                    (None, Some(Merge::Selection(merge))) => {
                        self.selection(cond, from, (yes, no), merge, end)
                    }
                    (None, _) => self.branch(cond, from, (yes, no), end),
                }
            }
            Op::Switch => self.switch(block),
            Op::Return | Op::Unreachable => {
                let label = self.frame()?.first_label;
                Ok(Next::Done(self.exit(label)))
            }
            Op::ReturnValue => self.return_value(end),
            // OpKill and OpTerminateInvocation.
            _ => {
                self.region.push(Node::Discard);
                Ok(Next::Done(Flow::closed()))
            }
        }
    }

    fn return_value(&mut self, end: &Inst) -> Result<Next> {
        let values = self.data(end.id_at(0)?, end)?.values;
        let frame = self.frame()?;
        let (slots, label) = (frame.result.clone(), frame.first_label);
        if slots.len() != values.len() {
            return Err(end.invalid("the value does not fit the function's type"));
        }
        for (slot, &value) in slots.zip(values.iter()) {
            if self.slots[slot as usize].ty != self.shader.values[value].ty {
                return Err(end.invalid("the value does not fit the function's type"));
            }
            self.env.set_slot(slot, value);
        }
        Ok(Next::Done(self.exit(label)))
    }

    /// Gives the phis of block `to` the values that they have when control comes from block `from`.
    pub(super) fn edge(&mut self, from: Id, to: Id, user: &Inst) -> Result<()> {
        let frame = self.frame()?;
        let copy = frame.copy;
        let Some(block) = frame.function.block(to) else {
            return Err(user.invalid(format!("block %{to} is not defined")));
        };
        let mut meanings = Vec::with_capacity(block.phis.len());
        for phi in &block.phis {
            self.pay(phi, 1)?;
            let ids: Vec<Id> = phi.ids().collect();
            let Some(pair) = ids.chunks_exact(2).find(|pair| pair[1] == from) else {
                return Err(phi.invalid(format!("no operand for block %{from}")));
            };
            let values = self.data(pair[0], phi)?.values;
            let types = self.module.types.flatten(self.module.type_of(phi.id, phi)?);
            if !values.iter().map(|&value| self.shader.values[value].ty).eq(types) {
                return Err(phi.invalid("an operand does not fit the result type"));
            }
            meanings.push(((copy, phi.id), Entity::Data(values)));
        }
        for (key, entity) in meanings {
            self.env.set_id(key, entity);
        }
        Ok(())
    }

    fn selection(
        &mut self,
        cond: Value,
        from: Id,
        (yes, no): (Id, Id),
        merge: Id,
        end: &Inst,
    ) -> Result<Next> {
        let label = self.push_label(Target::Block(merge), false);
        let mut sides = SmallVec::<[Arm; 2]>::new();
        for to in [yes, no] {
            let mut arm = self.arm(|t| {
                t.edge(from, to, end)?;
                t.sequence(to, end)
            })?;
            arm.flow = arm.flow.resolved(label);
            sides.push(arm);
        }
        self.labels.pop();
        let (Some(mut otherwise), Some(mut then)) = (sides.pop(), sides.pop()) else {
            return Ok(Next::Done(Flow::closed()));
        };
        let goes_on = |arm: &Arm| arm.flow.live && arm.flow.pending.is_empty();
        let has_left = |arm: &Arm| !arm.flow.live && arm.flow.is_open();
        if goes_on(&then) && has_left(&otherwise) {
            then = self.extend(then, |t| t.sequence(merge, end))?;
        } else if goes_on(&otherwise) && has_left(&then) {
            otherwise = self.extend(otherwise, |t| t.sequence(merge, end))?;
        } else {
            let flow = self.close_if(cond, then, otherwise, end)?;
            return Ok(Next::After(flow, merge));
        }
        Ok(Next::Done(self.close_if(cond, then, otherwise, end)?))
    }

    /// A conditional branch without merge: at least one side leaves for a label.
    fn branch(&mut self, cond: Value, from: Id, (yes, no): (Id, Id), end: &Inst) -> Result<Next> {
        let go = |to: Id| {
            move |t: &mut Self| {
                t.edge(from, to, end)?;
                t.sequence(to, end)
            }
        };
        for (leaving, staying, inverted) in [(yes, no, false), (no, yes, true)] {
            if self.find_label(leaving)?.is_none() {
                continue;
            }
            let left = self.arm(go(leaving))?;
            let stays = left.flow.is_open();
            let other = match stays {
                true => self.arm(go(staying))?,
                false => self.arm(|_| Ok(Flow::live()))?,
            };
            let (then, otherwise) = if inverted { (other, left) } else { (left, other) };
            let flow = self.close_if(cond, then, otherwise, end)?;
            if stays {
                return Ok(Next::Done(flow));
            }
            self.edge(from, staying, end)?;
            return Ok(Next::Goto(staying));
        }
        let then = self.arm(go(yes))?;
        let otherwise = self.arm(go(no))?;
        Ok(Next::Done(self.close_if(cond, then, otherwise, end)?))
    }

    /// A loop: header, body, then the code from the continue target on at the end of the IR's loop region.
    fn make_loop(&mut self, header: &'m SpvBlock, merge: Id, next: Id) -> Result<Next> {
        let end = &header.end;
        let written = self.written_slots(header.label, merge, end)?;
        let before = self.block;
        let outside = std::mem::take(&mut self.region);
        let depth = self.env.depth();
        self.env.push(Layer::default());
        let frame = LoopFrame { depth, breaks: Vec::new(), left: false, pending: Pending::new() };
        self.loops.push(frame);
        self.start_block();
        let slot_phis = self.slot_phis(&written, before, end)?;
        let id_phis = self.id_phis(header, before)?;

        self.push_label(Target::Block(merge), true);
        let reached = self.loop_body(header, next)?;
        if reached {
            self.close_phis(&slot_phis, &id_phis, end)?;
        }
        self.labels.pop();
        self.env.pop();
        let body = std::mem::replace(&mut self.region, outside);
        let Some(frame) = self.loops.pop() else {
            return Ok(Next::Done(Flow::closed()));
        };
        self.region.push(Node::Loop(body));
        self.start_block();
        self.join(frame.breaks, end)?;
        let flow = self.after_loop(frame.left, frame.pending, end)?;
        Ok(Next::After(flow, merge))
    }

    /// Translates one iteration. Returns whether control gets to its end.
    fn loop_body(&mut self, header: &'m SpvBlock, next: Id) -> Result<bool> {
        let label = self.push_label(Target::Block(next), false);
        let flow = match self.run_block(header)? {
            Next::Done(flow) => flow,
            Next::Goto(to) => self.sequence(to, &header.end)?,
            Next::After(flow, _) if !flow.live => flow,
            Next::After(flow, merge) if flow.pending.is_empty() => self.sequence(merge, &header.end)?,
            Next::After(flow, merge) => self.guarded(flow, merge, &header.end)?,
        };
        self.labels.pop();
        let flow = flow.resolved(label);
        if next == header.label || !flow.live {
            return Ok(flow.live);
        }
        let label = self.push_label(Target::Block(header.label), false);
        let flow = self.sequence(next, &header.end)?;
        self.labels.pop();
        Ok(flow.resolved(label).live)
    }

    /// Control that left the loop for a label further out goes on its way.
    fn after_loop(&mut self, live: bool, targets: Pending, inst: &Inst) -> Result<Flow> {
        let depth = self.loops.len();
        let here = |label: &Label| label.loop_depth == depth && !label.breaks_loop;
        let (near, far): (Pending, Pending) =
            targets.into_iter().partition(|&index| here(&self.labels[index]));
        let flow = Flow { live: false, pending: near }.union(&Flow { live, pending: Pending::new() });
        for (at, &index) in far.iter().enumerate() {
            if at + 1 == far.len() && !flow.is_open() {
                return Ok(self.exit(index));
            }
            let flag = self.read_slot(self.labels[index].flag, inst)?;
            let leaving = self.arm(|t| Ok(t.exit(index)))?;
            let staying = self.arm(|_| Ok(Flow::live()))?;
            self.close_if(flag, leaving, staying, inst)?;
        }
        Ok(flow)
    }

    fn slot_phis(&mut self, written: &[u32], before: Block, inst: &Inst) -> Result<Vec<(u32, Value)>> {
        let mut phis = Vec::with_capacity(written.len());
        for &slot in written {
            self.pay(inst, 1)?;
            let value = self.read_slot(slot, inst)?;
            let ty = self.shader.values[value].ty;
            let phi = self.builder().phi(ty, &[(before, value)]);
            self.env.set_slot(slot, phi);
            phis.push((slot, phi));
        }
        Ok(phis)
    }

    fn id_phis(&mut self, header: &SpvBlock, before: Block) -> Result<Vec<(Id, Vec<Value>)>> {
        let mut phis = Vec::new();
        for inst in &header.phis {
            let values = self.data(inst.id, inst)?.values;
            let mut made = Vec::with_capacity(values.len());
            for &value in values.iter() {
                let ty = self.shader.values[value].ty;
                made.push(self.builder().phi(ty, &[(before, value)]));
            }
            self.define_data(inst, made.clone())?;
            phis.push((inst.id, made));
        }
        Ok(phis)
    }

    /// Adds the back edge to the header's phis.
    fn close_phis(&mut self, slots: &[(u32, Value)], ids: &[(Id, Vec<Value>)], inst: &Inst) -> Result<()> {
        let from = self.block;
        for &(slot, phi) in slots {
            let value = self.read_slot(slot, inst)?;
            self.builder().add_phi_arg(phi, from, value);
        }
        for (id, phis) in ids {
            let values = self.data(*id, inst)?.values;
            for (&phi, &value) in phis.iter().zip(values.iter()) {
                self.builder().add_phi_arg(phi, from, value);
            }
        }
        Ok(())
    }
}
