//! Control flow: the tree of regions becomes branches where all elements agree, and masks where they may not.
//!
//! A masked `If` runs both arms one after the other, each branched around when no element takes it. A masked loop runs until
//! no element is left; `Break`, `Continue` and `Return` take elements off the mask and jump to the end of the innermost
//! construct, [`Generator::skip`]. A phi there is a variable that each way assigns for its elements.

use cranelift_codegen::ir::{self as clif, InstBuilder, types};
use cranelift_frontend::Variable;
use vc4_shaders::ir::{Block, Node, Op, Region, Value};

use super::state::{Generator, LoopFrame, Mask, Masked};
use crate::layout::{Context, STOPPED};

/// Iterations between two questions whether to go on.
const FUEL: u32 = 1 << 14;

/// How the way into a block assigns its phis.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    /// No other way did before.
    First,
    /// For the elements of the mask; the others keep what they have.
    Merge(Variable),
}

/// What the arms of a masked `If` leave behind.
struct Ways {
    /// Elements that take each.
    masks: [Variable; 2],
    /// Elements that come out.
    out: Variable,
    /// Whether control gets to their ends.
    reach: [bool; 2],
    /// Whether elements of an arm with an end leave it otherwise.
    fewer: bool,
    /// Whether control comes here only if an element does.
    guarded: bool,
}

impl Generator<'_, '_> {
    /// Generates a region. Returns whether control gets to its end.
    pub fn region(&mut self, region: &Region) -> bool {
        for (index, node) in region.iter().enumerate() {
            let behind = match region.get(index + 1) {
                Some(&Node::Block(block)) => Some(block),
                _ => None,
            };
            let goes_on = match node {
                &Node::Block(block) => {
                    self.enter(block);
                    self.instructions(block);
                    true
                }
                Node::If { cond, then, otherwise } if self.is_uniform(*cond) => {
                    self.uniform_if(*cond, [then, otherwise], behind)
                }
                Node::If { cond, then, otherwise } => self.masked_if(*cond, [then, otherwise], behind),
                Node::Loop(body) => {
                    self.needs.loops = true;
                    let index = self.next_loop;
                    self.next_loop += 1;
                    if self.shapes.is_divergent_loop(index) {
                        self.masked_loop(body, behind, self.shapes.repeats(index))
                    } else {
                        self.uniform_loop(body, behind)
                    }
                }
                Node::Break => {
                    self.leave_loop(false);
                    false
                }
                Node::Continue => {
                    self.leave_loop(true);
                    false
                }
                Node::Return | Node::Discard => {
                    self.jump(self.skip);
                    false
                }
            };
            if !goes_on {
                // Loops of what is left out keep their numbers.
                self.next_loop += region[index + 1..].iter().map(loops_in).sum::<usize>();
                return false;
            }
        }
        true
    }

    /// Begins a block of the shader: its phis have been assigned on the ways to it.
    fn enter(&mut self, block: Block) {
        self.block = Some(block);
        self.stretch += 1;
        for phi in self.phis(block) {
            if let Some(variable) = self.slots[phi].variable {
                let held = self.b.use_var(variable);
                self.slots[phi].local = Some((self.stretch, held));
                self.keep(phi);
            }
        }
    }

    fn phis(&self, block: Block) -> Vec<Value> {
        let insts = self.shader.blocks[block].insts.iter().map(|&inst| &self.shader.insts[inst]);
        insts.take_while(|data| data.op == Op::Phi).map(|data| data.results[0]).collect()
    }

    /// Assigns the phis of `to` for the way from the block under construction.
    fn edge(&mut self, to: Option<Block>, edge: Edge) {
        let (Some(from), Some(to)) = (self.block, to) else {
            return;
        };
        let mut values: Vec<(Variable, clif::Value)> = Vec::new();
        for phi in self.phis(to) {
            let data = &self.shader.insts[self.shader.values[phi].inst];
            let Some(index) = data.phi_blocks.iter().position(|&block| block == from) else {
                continue;
            };
            let given = self.as_form(data.args[index], phi);
            let slot = self.slots[phi];
            if let Some(variable) = slot.next.or(slot.variable) {
                let merged = match edge {
                    Edge::Merge(mask) if self.form(phi) == types::I32X4 => {
                        let (mask, old) = (self.b.use_var(mask), self.b.use_var(variable));
                        self.b.ins().bitselect(mask, given, old)
                    }
                    _ => given,
                };
                values.push((variable, merged));
            }
        }
        // Only now: a phi may be another's operand.
        for (variable, value) in values {
            self.b.def_var(variable, value);
        }
    }

    /// Makes the phis of a block something before the first way to it.
    fn clear_phis(&mut self, block: Option<Block>) {
        for phi in block.map(|block| self.phis(block)).unwrap_or_default() {
            if let Some(variable) = self.slots[phi].variable {
                let zero = match self.form(phi) {
                    types::I32X4 => self.vector([0; 4]),
                    types::F32 => self.b.ins().f32const(0.0),
                    form => self.b.ins().iconst(form, 0),
                };
                self.b.def_var(variable, zero);
                self.held.push(variable);
            }
        }
    }

    fn uniform_if(&mut self, cond: Value, arms: [&Region; 2], behind: Option<Block>) -> bool {
        let (before, held) = (self.mask, self.hold_mask());
        let truth = self.truth(cond);
        let joined = arms.iter().any(|arm| leaves(arm, 0)).then(|| {
            let joined = self.variable(types::I32X4);
            let mask = self.mask_value(before);
            self.b.def_var(joined, mask);
            self.held.push(joined);
            joined
        });
        let [yes, no, join] = [(); 3].map(|()| self.b.create_block());
        self.branch(truth, yes, no);
        let (mut reaches, mut changed) = (false, false);
        for (arm, entry) in arms.into_iter().zip([yes, no]) {
            self.switch(entry);
            self.b.seal_block(entry);
            self.mask = before;
            if self.region(arm) {
                self.edge(behind, Edge::First);
                if let (Mask::Variable(now), Some(joined)) = (self.mask, joined) {
                    if !is_same(self.mask, before) {
                        let mask = self.b.use_var(now);
                        self.b.def_var(joined, mask);
                        changed = true;
                    }
                }
                reaches = true;
                self.jump(join);
            }
        }
        self.held.truncate(held);
        self.mask = before;
        if let (true, Some(joined)) = (changed, joined) {
            self.mask = Mask::Variable(joined);
        }
        if reaches {
            self.switch(join);
            self.b.seal_block(join);
        }
        reaches
    }

    /// Holds the mask for what comes after a construct; returns what was held before.
    fn hold_mask(&mut self) -> usize {
        let held = self.held.len();
        if let Mask::Variable(mask) = self.mask {
            self.held.push(mask);
        }
        held
    }

    fn masked_if(&mut self, cond: Value, arms: [&Region; 2], behind: Option<Block>) -> bool {
        let (before, held, skip) = (self.mask, self.hold_mask(), self.skip);
        let masks = self.part(cond);
        let out = self.empty();
        self.held.extend([masks[0], masks[1], out]);
        self.clear_phis(behind);
        let is_empty = arms.map(|arm| self.is_empty(arm));
        // What an arm without code assigns needs no mask if it comes first.
        let order = if is_empty[1] { [1, 0] } else { [0, 1] };
        let mut ways = Ways { masks, out, reach: [false; 2], fewer: false, guarded: false };
        for at in order {
            let after = self.b.create_block();
            if !is_empty[at] {
                let entry = self.b.create_block();
                let mask = self.b.use_var(masks[at]);
                let any = self.any(mask);
                self.branch(any, entry, after);
                self.switch(entry);
                self.b.seal_block(entry);
            }
            // Where one arm's elements all leave and the other has no code, only those can have left none behind.
            let check = (is_empty[1 - at] && ends_in_jump(arms[at])).then(|| self.b.create_block());
            self.skip = check.unwrap_or(after);
            self.mask = Mask::Variable(masks[at]);
            if self.region(arms[at]) {
                let edge = if ways.reach[1 - at] { Edge::Merge(masks[at]) } else { Edge::First };
                self.edge(behind, edge);
                ways.reach[at] = true;
                // Even a jump of all its elements brings them here.
                ways.fewer |= leaves(arms[at], 0);
                let (mask, others) = (self.mask_value(self.mask), self.b.use_var(out));
                let all = self.b.ins().bor(others, mask);
                self.b.def_var(out, all);
                self.jump(after);
            }
            if let Some(check) = check {
                self.switch(check);
                self.b.seal_block(check);
                let mask = self.b.use_var(masks[1 - at]);
                let any = self.any(mask);
                self.branch(any, after, skip);
                ways.guarded = true;
            }
            self.switch(after);
            self.b.seal_block(after);
        }
        (self.skip, self.mask) = (skip, before);
        self.held.truncate(held);
        self.behind_if(ways)
    }

    /// The mask behind a masked `If`, if control gets there.
    fn behind_if(&mut self, ways: Ways) -> bool {
        let Ways { masks, out, reach, fewer, guarded } = ways;
        match (reach, fewer) {
            ([false, false], _) => {
                self.jump(self.skip);
                return false;
            }
            ([true, true], false) => return true,
            (_, false) => self.mask = Mask::Variable(masks[usize::from(reach[1])]),
            (_, true) => self.mask = Mask::Variable(out),
        }
        if !guarded || fewer {
            self.guard();
        }
        true
    }

    /// The masks of the elements in which a condition holds and in which not.
    fn part(&mut self, cond: Value) -> [Variable; 2] {
        let truth = self.lanes(cond);
        let (yes, no) = match self.mask {
            Mask::All => (truth, self.b.ins().bnot(truth)),
            mask => {
                let mask = self.mask_value(mask);
                (self.b.ins().band(mask, truth), self.b.ins().band_not(mask, truth))
            }
        };
        [yes, no].map(|mask| {
            let variable = self.variable(types::I32X4);
            self.b.def_var(variable, mask);
            variable
        })
    }

    /// Goes on only if an element runs.
    fn guard(&mut self) {
        let mask = self.mask_value(self.mask);
        let any = self.any(mask);
        let on = self.b.create_block();
        self.branch(any, on, self.skip);
        self.switch(on);
        self.b.seal_block(on);
    }

    /// Whether a region is a block without instructions.
    fn is_empty(&self, region: &Region) -> bool {
        matches!(region[..], [Node::Block(block)] if self.shader.blocks[block].insts.is_empty())
    }

    fn uniform_loop(&mut self, body: &Region, behind: Option<Block>) -> bool {
        let (before, held) = (self.mask, self.hold_mask());
        let [header, exit] = [(); 2].map(|()| self.b.create_block());
        let first = first_block(body);
        self.edge(first, Edge::First);
        self.jump(header);
        self.switch(header);
        self.loops.push(LoopFrame { header, exit, first, behind, masked: None });
        if self.region(body) {
            self.leave_loop(true);
        }
        self.loops.pop();
        self.b.seal_block(header);
        self.mask = before;
        self.held.truncate(held);
        let reaches = behind.is_some_and(|block| self.cfg.is_reachable(block));
        if reaches {
            self.switch(exit);
            self.b.seal_block(exit);
        }
        reaches
    }

    fn masked_loop(&mut self, body: &Region, behind: Option<Block>, repeats: bool) -> bool {
        let (before, held, skip) = (self.mask, self.hold_mask(), self.skip);
        let [header, latch, exit] = [(); 3].map(|()| self.b.create_block());
        let first = first_block(body);
        let next = repeats.then(|| self.empty());
        let left = returns(body).then(|| self.empty());
        let run = self.variable(types::I32X4);
        let mask = self.mask_value(before);
        self.b.def_var(run, mask);
        self.held.extend(next.into_iter().chain(left).chain([run]));
        self.clear_phis(behind);
        self.second_variables(first);
        self.edge(first, Edge::First);
        self.jump(header);
        self.switch(header);
        self.begin_iteration(first, next);

        let preds = first.map_or(0, |first| self.cfg.preds(first).len());
        let masked = Some(Masked { latch, run, next, left, merges: preds > 2 });
        self.loops.push(LoopFrame { header, exit, first, behind, masked });
        (self.skip, self.mask) = (latch, Mask::Variable(run));
        if self.region(body) {
            self.leave_loop(true);
        }
        self.loops.pop();
        self.switch(latch);
        self.b.seal_block(latch);
        match next {
            Some(next) => {
                let mask = self.b.use_var(next);
                self.b.def_var(run, mask);
                let any = self.any(mask);
                let again = self.b.create_block();
                self.branch(any, again, exit);
                self.switch(again);
                self.b.seal_block(again);
                self.poll();
                self.jump(header);
            }
            None => self.jump(exit),
        }
        self.b.seal_block(header);
        self.switch(exit);
        self.b.seal_block(exit);
        self.held.truncate(held);
        (self.skip, self.mask) = (skip, before);
        if !behind.is_some_and(|block| self.cfg.is_reachable(block)) {
            self.jump(skip);
            return false;
        }
        if let Some(left) = left {
            self.mask = Mask::Variable(left);
            self.guard();
        }
        true
    }

    /// Gives the phis of a masked loop's first block variables for the next iteration: elements that go on to it must not
    /// change what the others still see.
    fn second_variables(&mut self, first: Option<Block>) {
        for phi in first.map(|first| self.phis(first)).unwrap_or_default() {
            let form = self.form(phi);
            let next = self.variable(form);
            self.slots[phi].next = Some(next);
            self.held.push(next);
        }
    }

    fn begin_iteration(&mut self, first: Option<Block>, next: Option<Variable>) {
        for phi in first.map(|first| self.phis(first)).unwrap_or_default() {
            if let (Some(now), Some(next)) = (self.slots[phi].variable, self.slots[phi].next) {
                let value = self.b.use_var(next);
                self.b.def_var(now, value);
            }
        }
        if let Some(next) = next {
            let none = self.vector([0; 4]);
            self.b.def_var(next, none);
        }
    }

    /// Goes to the next iteration or out of the innermost loop.
    fn leave_loop(&mut self, again: bool) {
        let Some(&frame) = self.loops.last() else {
            return self.jump(self.skip);
        };
        let to = if again { frame.first } else { frame.behind };
        let Some(masked) = frame.masked else {
            self.edge(to, Edge::First);
            if again {
                self.poll();
            }
            return self.jump(if again { frame.header } else { frame.exit });
        };
        let leaving = self.mask_variable();
        let plain = again && !masked.merges;
        self.edge(to, if plain { Edge::First } else { Edge::Merge(leaving) });
        if plain && self.skip == masked.latch {
            // All that are left go on together.
            let mask = self.b.use_var(leaving);
            self.b.def_var(masked.run, mask);
            self.poll();
            return self.jump(frame.header);
        }
        if let Some(gathered) = if again { masked.next } else { masked.left } {
            let (others, these) = (self.b.use_var(gathered), self.b.use_var(leaving));
            let all = self.b.ins().bor(others, these);
            self.b.def_var(gathered, all);
        }
        self.jump(self.skip);
    }

    fn mask_variable(&mut self) -> Variable {
        if let Mask::Variable(variable) = self.mask {
            return variable;
        }
        let mask = self.mask_value(self.mask);
        let variable = self.variable(types::I32X4);
        self.b.def_var(variable, mask);
        variable
    }

    /// Counts an iteration, and asks the host now and then whether to go on.
    pub fn poll(&mut self) {
        let Some(fuel) = self.fuel else {
            return;
        };
        let old = self.b.use_var(fuel);
        let new = self.b.ins().iadd_imm(old, -1);
        self.b.def_var(fuel, new);
        let [ask, on] = [(); 2].map(|()| self.b.create_block());
        self.b.set_cold_block(ask);
        self.branch(new, on, ask);
        self.switch(ask);
        self.b.seal_block(ask);
        let stop = self.ask_host();
        self.refuel();
        self.branch(stop, self.stopped, on);
        self.switch(on);
        self.b.seal_block(on);
    }

    /// Starts counting anew.
    pub fn refuel(&mut self) {
        if let Some(fuel) = self.fuel {
            let full = self.word(FUEL);
            self.b.def_var(fuel, full);
        }
    }

    /// Has the batch wait: what it needs later goes to its frame, and the call ends.
    pub fn wait(&mut self) {
        let Some((_, live)) = self.across.get(self.barrier) else {
            return;
        };
        let resumption = self.resumptions[self.barrier];
        self.barrier += 1;
        let mut kept: Vec<Variable> = self.held.clone();
        if let Mask::Variable(mask) = self.mask {
            kept.push(mask);
        }
        for &value in live {
            kept.extend(self.slots[value].variable.into_iter().chain(self.slots[value].kept));
        }
        kept.sort_by_key(|variable| variable.as_u32());
        kept.dedup();
        let frame = self.pointer(std::mem::offset_of!(Context, frames));
        let mut places = Vec::with_capacity(kept.len());
        for &variable in &kept {
            let value = self.b.use_var(variable);
            let ty = self.b.func.dfg.value_type(value);
            let place = self.place_in_frame(variable);
            self.b.ins().store(clif::MemFlags::trusted(), value, frame, place as i32);
            places.push((variable, ty, place));
        }
        let number = self.word(self.barrier as u32);
        self.b.ins().return_(&[number]);
        self.switch(resumption);
        self.b.seal_block(resumption);
        let frame = self.pointer(std::mem::offset_of!(Context, frames));
        for (variable, ty, place) in places {
            let value = self.b.ins().load(ty, clif::MemFlags::trusted(), frame, place as i32);
            self.b.def_var(variable, value);
        }
        self.stretch += 1;
    }

    fn place_in_frame(&mut self, variable: Variable) -> u32 {
        if let Some(place) = self.places[variable] {
            return place;
        }
        let place = self.needs.frame_bytes;
        self.needs.frame_bytes += 16;
        self.places[variable] = Some(place);
        place
    }

    /// Ends what [`Generator::stopped`] and [`Generator::done`] lead to.
    pub fn finish(&mut self, number: u32) {
        let number = self.word(number);
        self.b.ins().return_(&[number]);
    }

    /// The end of a call that was told to stop.
    pub fn finish_stopped(&mut self) {
        self.switch(self.stopped);
        self.b.seal_block(self.stopped);
        self.finish(STOPPED);
    }
}

fn is_same(a: Mask, b: Mask) -> bool {
    match (a, b) {
        (Mask::All, Mask::All) => true,
        (Mask::Start(a), Mask::Start(b)) => a == b,
        (Mask::Variable(a), Mask::Variable(b)) => a == b,
        _ => false,
    }
}

fn first_block(region: &Region) -> Option<Block> {
    match region.first() {
        Some(&Node::Block(block)) => Some(block),
        _ => None,
    }
}

fn ends_in_jump(region: &Region) -> bool {
    matches!(region.last(), Some(Node::Break | Node::Continue | Node::Return | Node::Discard))
}

/// Whether a jump leads out of a region that stands in `depth` loops of its own.
fn leaves(region: &Region, depth: usize) -> bool {
    region.iter().any(|node| match node {
        Node::Block(_) => false,
        Node::If { then, otherwise, .. } => leaves(then, depth) || leaves(otherwise, depth),
        Node::Loop(body) => leaves(body, depth + 1),
        Node::Break | Node::Continue => depth == 0,
        Node::Return | Node::Discard => true,
    })
}

/// Whether a region has returns.
fn returns(region: &Region) -> bool {
    region.iter().any(|node| match node {
        Node::If { then, otherwise, .. } => returns(then) || returns(otherwise),
        Node::Loop(body) => returns(body),
        Node::Return | Node::Discard => true,
        _ => false,
    })
}

fn loops_in(node: &Node) -> usize {
    match node {
        Node::If { then, otherwise, .. } => then.iter().chain(otherwise).map(loops_in).sum(),
        Node::Loop(body) => 1 + body.iter().map(loops_in).sum::<usize>(),
        _ => 0,
    }
}
