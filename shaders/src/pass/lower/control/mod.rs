//! Control flow for a machine without per-element program counters (qpu.md §1.5): what loops and the ifs around them
//! do per element becomes data.
//!
//! Afterwards only loops remain, and ifs around those that no element may enter. Each loop carries a truth value that
//! says which elements still run, and has one exit, at its end, taken when none does; what it begins with to find out whether
//! an element goes on runs ahead (`head.rs`). Other ifs run both arms until
//! [`crate::pass::opt::branch`] finds what is worth a branch. Values that leave a loop are carried through it and chosen as
//! elements leave. Output stores and discards wait for the end of the shader, where one of each remains per output.
//!
//! Elements that left a loop run on with values that nobody looks at.

mod ahead;
mod facts;
mod head;
mod turns;

use std::collections::BTreeMap;

use cranelift_entity::{EntitySet, SecondaryMap};

use crate::ir::{Block, Builder, Inst, Node, Op, Output, Region, Replacements, Shader, Type, Value};
use ahead::Ahead;
use facts::{Facts, Leaver, collect_facts, first_block};
use head::Head;
use turns::Turn;

/// Lowers a shader that is more than one block.
pub fn run(shader: &mut Shader) {
    if shader.single_block().is_some() {
        return;
    }
    let facts = collect_facts(shader);
    if facts.is_empty() {
        lower(shader, facts);
        return;
    }
    let before = shader.clone();
    let (entry, loops) = lower(shader, facts);
    let dear = turns::settle(shader, entry, &loops);
    if !dear.is_empty() {
        *shader = before;
        let mut facts = collect_facts(shader);
        for (_, facts) in facts.iter_mut().filter(|(first, _)| dear.contains(**first)) {
            facts.head = Head::default();
        }
        let (entry, loops) = lower(shader, facts);
        turns::settle(shader, entry, &loops);
    }
}

/// Lowers a shader with what is known of its loops. Returns its first block, and what became of the loops.
fn lower(shader: &mut Shader, facts: BTreeMap<Block, Facts>) -> (Block, Vec<Turn>) {
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
        passed: EntitySet::new(),
        turns: Vec::new(),
        state: State::default(),
        map: Replacements::default(),
    };
    lower.nodes(body, None);
    (entry, lower.finish())
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
struct Exits {
    /// Elements that run the iteration.
    active: Value,
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
    /// Where nobody leaves the loop, as its head ran ahead.
    passed: EntitySet<Block>,
    /// What became of loops so far.
    turns: Vec<Turn>,
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
        if self.passed.contains(first_block(&then)) {
            return self.nodes(otherwise, mask);
        }
        if self.passed.contains(first_block(&otherwise)) {
            return self.nodes(then, mask);
        }
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
        // An iteration is started for some element, but what an element does before it gets here may end it.
        let mut may_be_idle = mask.filter(|&mask| self.loops.last().is_none_or(|exits| exits.active != mask));
        let facts = self.facts.remove(&first_block(&body)).unwrap_or_default();
        let mut running = self.truth(mask);
        let initial = self.initial_state(&facts);
        let mut starts = self.initial_values(&facts);
        if facts.head.is_some() {
            let mut b = Builder::new(self.shader, self.current);
            let ahead = Ahead::run(&facts.head, &mut b, &self.map, &facts.header, &starts);
            let entering = ahead.passing(&mut b, running);
            ahead.start(&mut b, &self.map, &facts, entering, &mut starts);
            if entering != running {
                (running, may_be_idle) = (entering, Some(entering));
            }
            for exit in facts.head.exits() {
                self.passed.insert(exit);
            }
        }
        let in_front = self.current;
        let around = std::mem::take(&mut self.region);
        if may_be_idle.is_some() {
            self.current = self.shader.blocks.push(Default::default());
            self.region.push(Node::Block(self.current));
        }
        let before = self.current;
        let outer = std::mem::take(&mut self.region);

        self.current = self.shader.blocks.push(Default::default());
        self.region.push(Node::Block(self.current));
        let mut phis = Vec::new();
        let active = self.carry(&mut phis, before, running);
        let is_short = facts.head.is_some() && facts.size < turns::LONG;
        self.turns.push(Turn { first: first_block(&body), header: self.current, active, is_short });
        let values: Vec<Value> = starts.iter().map(|&start| self.carry(&mut phis, before, start)).collect();
        self.carry_state(&initial, before, &mut phis);
        let header = &values[..facts.header.len()];
        for (&inst, &phi) in facts.header.iter().zip(header) {
            let result = self.shader.insts[inst].results[0];
            self.map.insert(result, phi);
            self.done.insert(inst);
        }

        self.loops.push(Exits { active, breaks: Vec::new(), continues: Vec::new() });
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
        let ahead = facts.head.is_some().then(|| {
            let mut b = Builder::new(self.shader, self.current);
            Ahead::run(&facts.head, &mut b, &self.map, &facts.header, &next[1..])
        });
        let (mut last, instead) =
            self.left_values(&facts, &exits, (&values, &starts), ahead.as_ref(), &mut next);
        next.extend(initial.values(&self.state));
        let exit = self.close_loop(&phis, &next);
        let inner = std::mem::replace(&mut self.region, outer);
        self.region.push(Node::Loop(inner));
        self.current = exit;
        self.region.push(Node::Block(exit));
        let region = std::mem::replace(&mut self.region, around);
        match may_be_idle {
            Some(mask) => self.enter_if(mask, in_front, region, (&mut last, &instead), &initial),
            None => self.region.extend(region),
        }
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

        match self.state.returned {
            Some(returned) => {
                let stayed = self.not(returned);
                self.and(mask, Some(stayed))
            }
            None => mask,
        }
    }

    /// What leaves the loop, and what stands for it if the loop is not entered. `carried` are the phis of an iteration for
    /// what [`Lower::initial_values`] lists, `starts`; `next` is what the next iteration begins with, active elements first, of
    /// which the head may turn some away.
    fn left_values(
        &mut self,
        facts: &Facts,
        exits: &Exits,
        (carried, starts): (&[Value], &[Value]),
        ahead: Option<&Ahead<'_>>,
        next: &mut Vec<Value>,
    ) -> (Vec<Value>, Vec<Value>) {
        let left = self.any(&exits.breaks);
        let stayed = next[0];
        if let Some(ahead) = ahead {
            next[0] = ahead.passing(&mut self.builder(), stayed);
        }
        let (mut last, mut instead) = (Vec::new(), Vec::new());
        // Those without keeper have phis of their own behind the header's.
        let mut own = facts.header.len();
        for (&leaver, &keeper) in facts.leavers.iter().zip(&facts.keepers) {
            let phi = keeper.unwrap_or(own);
            let value = self.left_value(facts, leaver, carried[phi], left);
            let mut b = Builder::new(self.shader, self.current);
            let away = ahead.and_then(|ahead| ahead.turned_away(&mut b, &self.map, leaver));
            // Elements that run go on with the phi's next value; nobody looks at what others keep for them.
            let going = match (keeper, away) {
                (Some(_), Some(away)) => Some(self.builder().select(next[0], next[1 + phi], away)),
                (Some(_), None) => Some(next[1 + phi]),
                (None, away) => away,
            };
            let value = match going {
                Some(going) => {
                    let goes = if away.is_some() { stayed } else { next[0] };
                    self.builder().select(goes, going, value)
                }
                None => value,
            };
            match keeper {
                Some(_) => next[1 + phi] = value,
                None => {
                    own += 1;
                    next.push(value);
                }
            }
            last.push(value);
            instead.push(starts[phi]);
        }
        (last, instead)
    }

    /// Puts a loop where it is jumped over if no element of `mask` enters it. `left`: what leaves it, and what does
    /// instead; `initial`: the state in front of it.
    fn enter_if(
        &mut self,
        mask: Value,
        in_front: Block,
        entered: Region,
        (left, instead): (&mut [Value], &[Value]),
        initial: &State,
    ) {
        let exit = self.current;
        let [skip, join] = [(); 2].map(|()| self.shader.blocks.push(Default::default()));
        let cond = Builder::new(self.shader, in_front).op(Op::BAny, &[mask]);
        self.region.push(Node::If { cond, then: entered, otherwise: vec![Node::Block(skip)] });
        self.region.push(Node::Block(join));
        self.current = join;
        let mut merge = |value: &mut Value, start: Value| {
            let ty = self.shader.values[start].ty;
            *value = Builder::new(self.shader, join).phi(ty, &[(exit, *value), (skip, start)]);
        };
        for (value, &start) in left.iter_mut().zip(instead) {
            merge(value, start);
        }
        for (output, &start) in &initial.outputs {
            self.state.outputs.entry(*output).and_modify(|value| merge(value, start));
        }
        for (value, start) in
            [(&mut self.state.killed, initial.killed), (&mut self.state.returned, initial.returned)]
        {
            if let (Some(value), Some(start)) = (value, start) {
                merge(value, start);
            }
        }
    }

    /// A phi of the loop header under construction.
    fn carry(&mut self, phis: &mut Vec<Value>, before: Block, start: Value) -> Value {
        let ty = self.shader.values[start].ty;
        let phi = self.builder().phi(ty, &[(before, start)]);
        phis.push(phi);
        phi
    }

    /// What each value that the loop carries starts with: header phis first, then what leaves and has no other keeper.
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
        let own = facts.leavers.iter().zip(&facts.keepers).filter(|(_, keeper)| keeper.is_none());
        for (leaver, _) in own {
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
        ways.filter(|&(from, _)| inside.contains(from) && !self.passed.contains(from)).collect()
    }

    /// A value that leaves the loop: that of this iteration where an element leaves now, as `left` says, else the one
    /// from `before`.
    fn left_value(&mut self, facts: &Facts, leaver: Leaver, before: Value, left: Value) -> Value {
        match leaver {
            Leaver::Value(value) => {
                let value = self.map.resolve(value);
                self.builder().select(left, value, before)
            }
            Leaver::Phi(inst) => {
                let ways = self.ways(inst, &facts.inside);
                self.choose(&ways, Some(before)).unwrap_or(before)
            }
        }
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

    /// Ends the shader with its discard and its stores. Returns what became of its loops.
    fn finish(mut self) -> Vec<Turn> {
        if let Some(killed) = self.state.killed {
            self.builder().discard_if(killed);
        }
        for (output, value) in std::mem::take(&mut self.state.outputs) {
            self.builder().store_output(output, value);
        }
        // Operands were renamed as instructions moved; a later sweep would confuse what a value is inside and
        // behind its loop.
        self.shader.body = self.region;
        self.turns
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
