//! Control flow for a machine without per-element program counters (qpu.md §1.5): what loops and the ifs around them
//! do per element becomes data.
//!
//! Afterwards only loops remain. Each carries a truth value that says which elements still run, and has one exit,
//! at its end, taken when none does. Ifs run both arms. Values that leave a loop are carried through it and
//! chosen as elements leave. Output stores and discards wait for the end of the shader, where one of each
//! remains per output.
//!
//! Elements that left a loop run on with values that nobody looks at.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::{EntitySet, SecondaryMap};

use crate::ir::{
    Block, Builder, Inst, Node, Op, Output, Region, Replacements, Shader, Type, Value, collect_blocks,
    for_each_condition,
};

/// Lowers a shader that is more than one block.
pub fn run(shader: &mut Shader) {
    if shader.single_block().is_some() {
        return;
    }
    let mut facts = BTreeMap::new();
    collect_facts(shader, &shader.body, &mut facts);
    let body = std::mem::take(&mut shader.body);
    let entry = shader.blocks.push(Default::default());
    let mut lower = Lower {
        shader,
        region: vec![Node::Block(entry)],
        current: entry,
        at: entry,
        edges: SecondaryMap::new(),
        loops: Vec::new(),
        facts,
        done: EntitySet::new(),
        state: State::default(),
        map: Replacements::default(),
    };
    lower.nodes(body, None);
    lower.finish();
}

/// What is stored, discarded or returned so far; carried through loops.
#[derive(Clone, Default)]
struct State {
    outputs: BTreeMap<Output, Value>,
    /// Discarded elements.
    killed: Option<Value>,
    /// Elements that returned inside of a loop.
    returned: Option<Value>,
}

/// Elements that take a way; `None`: all that run.
type Mask = Option<Value>;

/// Where elements leave the innermost loop or start it again.
#[derive(Default)]
struct Exits {
    breaks: Vec<(Block, Mask)>,
    continues: Vec<(Block, Mask)>,
}

struct Lower<'a> {
    shader: &'a mut Shader,
    /// The region under construction.
    region: Region,
    /// The block under construction.
    current: Block,
    /// The original block whose instructions came last.
    at: Block,
    /// Which elements took the way out of an original block that ends an arm.
    edges: SecondaryMap<Block, Mask>,
    loops: Vec<Exits>,
    /// By first block.
    facts: BTreeMap<Block, Facts>,
    /// Phis that a loop has taken care of.
    done: EntitySet<Inst>,
    state: State,
    map: Replacements,
}

impl Lower<'_> {
    fn builder(&mut self) -> Builder<'_> {
        Builder::new(self.shader, self.current)
    }

    fn and(&mut self, a: Mask, b: Mask) -> Mask {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.builder().op(Op::BAnd, &[a, b])),
            (a, b) => a.or(b),
        }
    }

    fn not(&mut self, a: Value) -> Value {
        self.builder().op(Op::BNot, &[a])
    }

    /// The elements of a mask as a value.
    fn truth(&mut self, mask: Mask) -> Value {
        mask.unwrap_or_else(|| self.builder().truth(true))
    }

    fn any(&mut self, masks: &[(Block, Mask)]) -> Value {
        let mut any = self.builder().truth(false);
        for &(_, mask) in masks {
            let mask = self.truth(mask);
            any = self.builder().op(Op::BOr, &[any, mask]);
        }
        any
    }

    /// Lowers nodes that the elements of `mask` run; the elements that reach the end, unless none can.
    fn nodes(&mut self, region: Region, mask: Mask) -> Option<Mask> {
        let mut mask = mask;
        for node in region {
            match node {
                Node::Block(block) => self.block(block, mask),
                Node::If { cond, then, otherwise } => {
                    mask = self.choice(cond, then, otherwise, mask)?;
                }
                Node::Loop(body) => mask = self.endless_loop(body, mask),
                Node::Break | Node::Continue => {
                    let at = self.at;
                    let exits = self.loops.last_mut().expect("the verifier keeps jumps inside loops");
                    let list =
                        if matches!(node, Node::Break) { &mut exits.breaks } else { &mut exits.continues };
                    list.push((at, mask));
                    self.edges[at] = mask;
                    return None;
                }
                Node::Return => {
                    self.leave(mask);
                    return None;
                }
                Node::Discard => {
                    self.kill(mask, None);
                    self.leave(mask);
                    return None;
                }
            }
        }
        self.edges[self.at] = mask;
        Some(mask)
    }

    /// Elements of `mask` leave the shader. Outside of loops the structure itself says so.
    fn leave(&mut self, mask: Mask) {
        if !self.loops.is_empty() {
            let gone = self.truth(mask);
            let before = self.state.returned;
            self.state.returned = Some(self.either(before, gone));
        }
    }

    fn kill(&mut self, mask: Mask, condition: Option<Value>) {
        let gone = self.and(mask, condition);
        let gone = self.truth(gone);
        let before = self.state.killed;
        self.state.killed = Some(self.either(before, gone));
    }

    fn either(&mut self, before: Option<Value>, now: Value) -> Value {
        match before {
            Some(before) => self.builder().op(Op::BOr, &[before, now]),
            None => now,
        }
    }

    fn block(&mut self, block: Block, mask: Mask) {
        self.at = block;
        for inst in std::mem::take(&mut self.shader.blocks[block].insts) {
            for arg in &mut self.shader.insts[inst].args {
                *arg = self.map.resolve(*arg);
            }
            match self.shader.insts[inst].op {
                // Loops take their own phis; these choose between the arms of an if.
                Op::Phi if self.done.contains(inst) => {}
                Op::Phi => self.merge(inst),
                Op::StoreOutput(output) => self.store(output, self.shader.insts[inst].args[0], mask),
                Op::DiscardIf => self.kill(mask, Some(self.shader.insts[inst].args[0])),
                _ => self.shader.blocks[self.current].insts.push(inst),
            }
        }
    }

    fn store(&mut self, output: Output, value: Value, mask: Mask) {
        let value = match (mask, self.state.outputs.get(&output).copied()) {
            (Some(mask), Some(before)) => self.builder().select(mask, value, before),
            _ => value,
        };
        self.state.outputs.insert(output, value);
    }

    /// The phi behind an if.
    fn merge(&mut self, inst: Inst) {
        let data = &self.shader.insts[inst];
        let ways: Vec<(Block, Value)> =
            data.phi_blocks.iter().copied().zip(data.args.iter().copied()).collect();
        let result = data.results[0];
        let value = self.choose(&ways, None);
        if let Some(value) = value {
            self.map.insert(result, value);
        }
    }

    /// The value that each element brings from the way it took; elements of no way get `otherwise`.
    fn choose(&mut self, ways: &[(Block, Value)], otherwise: Option<Value>) -> Option<Value> {
        let mut chosen = otherwise;
        for &(from, value) in ways {
            let value = self.map.resolve(value);
            chosen = Some(match (chosen, self.edges[from]) {
                (Some(other), Some(mask)) => self.builder().select(mask, value, other),
                _ => value,
            });
        }
        chosen
    }

    fn choice(&mut self, cond: Value, then: Region, otherwise: Region, mask: Mask) -> Option<Mask> {
        let cond = self.map.resolve(cond);
        let opposite = self.not(cond);
        let yes = self.and(mask, Some(cond));
        let no = self.and(mask, Some(opposite));
        let end_yes = self.nodes(then, yes);
        let from_yes = self.at;
        let end_no = self.nodes(otherwise, no);
        let from_no = self.at;
        // An arm that nobody leaves halfway is told by the condition alone.
        if end_yes == Some(yes) {
            self.edges[from_yes] = Some(cond);
        }
        if end_no == Some(no) {
            self.edges[from_no] = Some(opposite);
        }
        match (end_yes, end_no) {
            (Some(a), Some(b)) if a == yes && b == no => Some(mask),
            (Some(a), Some(b)) => {
                let (a, b) = (self.truth(a), self.truth(b));
                Some(Some(self.builder().op(Op::BOr, &[a, b])))
            }
            (a, b) => a.or(b),
        }
    }

    fn endless_loop(&mut self, body: Region, mask: Mask) -> Mask {
        let before = self.current;
        let outer = std::mem::take(&mut self.region);
        let facts = self.facts.remove(&first_block(&body)).unwrap_or_default();
        let running = self.truth(mask);
        let initial = self.initial_state(&facts);
        let starts = self.initial_values(&facts);

        self.current = self.shader.blocks.push(Default::default());
        self.region.push(Node::Block(self.current));
        let mut phis = Vec::new();
        let active = self.carry(&mut phis, before, running);
        let values: Vec<Value> =
            starts.into_iter().map(|start| self.carry(&mut phis, before, start)).collect();
        self.carry_state(&initial, before, &mut phis);
        let (header, leaving) = values.split_at(facts.header.len());
        for (&inst, &phi) in facts.header.iter().zip(header) {
            let result = self.shader.insts[inst].results[0];
            self.map.insert(result, phi);
            self.done.insert(inst);
        }

        self.loops.push(Exits::default());
        let end = self.nodes(body, Some(active));
        let mut exits = self.loops.pop().expect("pushed above");
        if let Some(mask) = end {
            exits.continues.push((self.at, mask));
        }
        let mut next = vec![self.still_active(&exits)];
        for (&inst, &phi) in facts.header.iter().zip(header) {
            let ways = self.ways(inst, &facts.inside);
            next.push(self.choose(&ways, None).unwrap_or(phi));
        }
        let last = self.left_values(&facts, leaving, &exits);
        next.extend(last.iter().copied());
        next.extend(initial.values(&self.state));
        let exit = self.close_loop(&phis, &next);
        for (leaver, &value) in facts.leavers.iter().zip(&last) {
            let left = match *leaver {
                Leaver::Value(value) => value,
                Leaver::Phi(inst) => {
                    self.done.insert(inst);
                    self.shader.insts[inst].results[0]
                }
            };
            self.map.insert(left, value);
        }

        let inner = std::mem::replace(&mut self.region, outer);
        self.region.push(Node::Loop(inner));
        self.current = exit;
        self.region.push(Node::Block(exit));
        match self.state.returned {
            Some(returned) => {
                let stayed = self.not(returned);
                self.and(mask, Some(stayed))
            }
            None => mask,
        }
    }

    /// A phi of the loop header under construction.
    fn carry(&mut self, phis: &mut Vec<Value>, before: Block, start: Value) -> Value {
        let ty = self.shader.values[start].ty;
        let phi = self.builder().phi(ty, &[(before, start)]);
        phis.push(phi);
        phi
    }

    /// What each value that the loop carries starts with: header phis first, then what leaves.
    fn initial_values(&mut self, facts: &Facts) -> Vec<Value> {
        let mut values = Vec::new();
        for &inst in &facts.header {
            let data = &self.shader.insts[inst];
            let outside = data.phi_blocks.iter().position(|&from| !facts.inside.contains(from));
            let start = outside.map(|index| data.args[index]);
            let ty = self.shader.values[data.results[0]].ty;
            values.push(match start {
                Some(start) => self.map.resolve(start),
                None => self.builder().undef(ty),
            });
        }
        for leaver in &facts.leavers {
            let value = match *leaver {
                Leaver::Value(value) => value,
                Leaver::Phi(inst) => self.shader.insts[inst].results[0],
            };
            let ty = self.shader.values[value].ty;
            values.push(self.builder().undef(ty));
        }
        values
    }

    /// The parts of the state that the loop changes, with their values in front of it.
    fn initial_state(&mut self, facts: &Facts) -> State {
        let mut initial = State::default();
        for &output in &facts.stores {
            let value = match self.state.outputs.get(&output) {
                Some(&value) => value,
                None => self.builder().undef(Type::Word),
            };
            initial.outputs.insert(output, value);
        }
        if facts.kills {
            initial.killed = Some(self.state.killed.unwrap_or_else(|| self.builder().truth(false)));
        }
        if facts.returns {
            initial.returned = Some(self.state.returned.unwrap_or_else(|| self.builder().truth(false)));
        }
        initial
    }

    fn carry_state(&mut self, initial: &State, before: Block, phis: &mut Vec<Value>) {
        for (&output, &start) in &initial.outputs {
            let phi = self.carry(phis, before, start);
            self.state.outputs.insert(output, phi);
        }
        if let Some(start) = initial.killed {
            self.state.killed = Some(self.carry(phis, before, start));
        }
        if let Some(start) = initial.returned {
            self.state.returned = Some(self.carry(phis, before, start));
        }
    }

    /// Elements that run the next iteration.
    fn still_active(&mut self, exits: &Exits) -> Value {
        let active = self.any(&exits.continues);
        match self.state.killed {
            // A discarded element helps its quad, but must not keep a loop alive.
            Some(killed) => {
                let alive = self.not(killed);
                self.builder().op(Op::BAnd, &[active, alive])
            }
            None => active,
        }
    }

    /// The edges of a phi from inside of its loop.
    fn ways(&self, inst: Inst, inside: &EntitySet<Block>) -> Vec<(Block, Value)> {
        let data = &self.shader.insts[inst];
        let ways = data.phi_blocks.iter().copied().zip(data.args.iter().copied());
        ways.filter(|&(from, _)| inside.contains(from)).collect()
    }

    /// Values that leave the loop: those of this iteration where an element leaves now, else the earlier ones.
    fn left_values(&mut self, facts: &Facts, earlier: &[Value], exits: &Exits) -> Vec<Value> {
        let left = self.any(&exits.breaks);
        let mut values = Vec::new();
        for (leaver, &before) in facts.leavers.iter().zip(earlier) {
            values.push(match *leaver {
                Leaver::Value(value) => {
                    let value = self.map.resolve(value);
                    self.builder().select(left, value, before)
                }
                Leaver::Phi(inst) => {
                    let ways = self.ways(inst, &facts.inside);
                    self.choose(&ways, Some(before)).unwrap_or(before)
                }
            });
        }
        values
    }

    /// Ends the body: the loop is left when no element is active. Returns the block behind it.
    fn close_loop(&mut self, phis: &[Value], next: &[Value]) -> Block {
        let leave = self.not(next[0]);
        let [out, stay, back, exit] = [(); 4].map(|()| self.shader.blocks.push(Default::default()));
        self.region.push(Node::If {
            cond: leave,
            then: vec![Node::Block(out), Node::Break],
            otherwise: vec![Node::Block(stay)],
        });
        self.region.push(Node::Block(back));
        for (&phi, &value) in phis.iter().zip(next) {
            self.builder().add_phi_arg(phi, back, value);
        }
        exit
    }

    /// Ends the shader with its discard and its stores.
    fn finish(mut self) {
        if let Some(killed) = self.state.killed {
            self.builder().discard_if(killed);
        }
        for (output, value) in std::mem::take(&mut self.state.outputs) {
            self.builder().store_output(output, value);
        }
        // Operands were renamed as instructions moved; a later sweep would confuse what a value is inside and
        // behind its loop.
        self.shader.body = self.region;
    }
}

impl State {
    /// The values in `of` of what this state names, in the order of [`Lower::carry_state`].
    fn values(&self, of: &State) -> Vec<Value> {
        let outputs = self.outputs.keys().map(|output| of.outputs[output]);
        let killed = self.killed.and(of.killed);
        outputs.chain(killed).chain(self.returned.and(of.returned)).collect()
    }
}

/// A value that is used behind its loop.
#[derive(Clone, Copy)]
enum Leaver {
    /// One that every iteration computes.
    Value(Value),
    /// A phi behind the loop.
    Phi(Inst),
}

/// What lowering must know of a loop in advance.
#[derive(Default)]
struct Facts {
    /// Its blocks.
    inside: EntitySet<Block>,
    /// Phis of its first block.
    header: Vec<Inst>,
    leavers: Vec<Leaver>,
    /// Outputs that it stores.
    stores: BTreeSet<Output>,
    kills: bool,
    returns: bool,
}

fn first_block(body: &Region) -> Block {
    match body.first() {
        Some(&Node::Block(block)) => block,
        _ => unreachable!("the verifier has regions start with a block"),
    }
}

fn collect_facts(shader: &Shader, region: &Region, all: &mut BTreeMap<Block, Facts>) {
    for (index, node) in region.iter().enumerate() {
        match node {
            Node::If { then, otherwise, .. } => {
                collect_facts(shader, then, all);
                collect_facts(shader, otherwise, all);
            }
            Node::Loop(body) => {
                let behind = match region.get(index + 1) {
                    Some(&Node::Block(block)) => Some(block),
                    _ => None,
                };
                all.insert(first_block(body), loop_facts(shader, body, behind));
                collect_facts(shader, body, all);
            }
            _ => {}
        }
    }
}

fn phis(shader: &Shader, block: Block) -> impl Iterator<Item = Inst> {
    shader.blocks[block].insts.iter().copied().filter(|&inst| shader.insts[inst].op == Op::Phi)
}

fn loop_facts(shader: &Shader, body: &Region, behind: Option<Block>) -> Facts {
    let mut blocks = Vec::new();
    collect_blocks(body, &mut blocks);
    let mut facts = Facts::default();
    for &block in &blocks {
        facts.inside.insert(block);
    }
    facts.header = phis(shader, first_block(body)).collect();
    let exit_phis: Vec<Inst> = behind.into_iter().flat_map(|block| phis(shader, block)).collect();
    let mut defined: EntitySet<Value> = EntitySet::new();
    for &block in &blocks {
        for &inst in &shader.blocks[block].insts {
            let data = &shader.insts[inst];
            data.results.iter().for_each(|&result| {
                defined.insert(result);
            });
            match data.op {
                Op::StoreOutput(output) => {
                    facts.stores.insert(output);
                }
                Op::DiscardIf => facts.kills = true,
                _ => {}
            }
        }
    }
    leaves(body, &mut facts);
    facts.leavers = exit_phis.iter().map(|&inst| Leaver::Phi(inst)).collect();
    let mut used: BTreeSet<Value> = BTreeSet::new();
    for block in shader.blocks_in_order().into_iter().filter(|&block| !facts.inside.contains(block)) {
        for &inst in shader.blocks[block].insts.iter().filter(|inst| !exit_phis.contains(inst)) {
            used.extend(shader.insts[inst].args.iter().copied().filter(|&arg| defined.contains(arg)));
        }
    }
    let mut inner_conditions = BTreeMap::new();
    for_each_condition(body, &mut |cond| *inner_conditions.entry(cond).or_insert(0) += 1);
    let mut all_conditions = BTreeMap::new();
    for_each_condition(&shader.body, &mut |cond| *all_conditions.entry(cond).or_insert(0) += 1);
    used.extend(
        all_conditions
            .into_iter()
            .filter(|(cond, count)| defined.contains(*cond) && inner_conditions.get(cond) != Some(count))
            .map(|(cond, _)| cond),
    );
    facts.leavers.extend(used.into_iter().map(Leaver::Value));
    facts
}

fn leaves(region: &Region, facts: &mut Facts) {
    for node in region {
        match node {
            Node::Return => facts.returns = true,
            Node::Discard => (facts.returns, facts.kills) = (true, true),
            Node::If { then, otherwise, .. } => {
                leaves(then, facts);
                leaves(otherwise, facts);
            }
            Node::Loop(body) => leaves(body, facts),
            _ => {}
        }
    }
}
