//! Ordering before allocation: which operation comes when, seen by latency and by the number of live values.
//!
//! The order decides what lives how long; allocation follows it, and the final scheduler starts from its result.
//! So it already issues an add and a mul operation per step, as the final code will.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;
use vc4::qpu::Signal;

use super::dag::{Dag, Place};
use super::virt::{Operation, Reg, Threads, Unit, VirtProgram, segments};
use super::{threads, work};

/// Candidates that a step looks at: enough for every choice that matters, and a bound on the work of a step.
const WINDOW: usize = 64;

/// Operations in an order.
pub struct Ordered {
    /// The operations, with thread switches.
    pub ops: Vec<Operation>,
    /// Most values that were alive at once.
    pub peak: usize,
}

/// Returns the operations of `program` in an order that hides latency while fewer than `pressure` values are
/// alive, and frees registers first from then on. `None` if they cannot be divided by thread switches.
pub fn reorder(program: &VirtProgram, threads: Threads, pressure: usize) -> Option<Ordered> {
    let mut lives = Lives { begins_anew: begins_anew(program), ..Lives::default() };
    for (index, op) in program.ops.iter().enumerate() {
        let accessed: SmallVec<[Reg; 3]> = lives.accessed(index, op).collect();
        accessed.into_iter().for_each(|reg| lives.remaining[reg] += 1);
    }
    let mut ops = Vec::with_capacity(program.ops.len());
    for segment in segments(&program.ops) {
        let marker = program.ops.get(segment.end);
        let piece = &program.ops[segment.clone()];
        let mut dag = Dag::new(piece, program.regs.len(), threads, Place::Virtual);
        let plan = match threads {
            Threads::One => None,
            Threads::Two => Some(threads::plan(piece, &mut dag, marker.is_none())?),
        };
        let mut state = Order::new(piece, segment.start, dag, pressure, &mut lives);
        state.run();
        let order = state.order;
        ops.extend(order.into_iter().map(|node| match (piece.get(node), &plan) {
            (Some(op), _) => op.clone(),
            (None, plan) => {
                let last = plan.as_ref().and_then(|plan| plan.nodes.last().filter(|_| plan.ends));
                threads::switch(last == Some(&node))
            }
        }));
        ops.extend(marker.cloned());
    }
    Some(Ordered { ops, peak: lives.peak })
}

/// Operations that set what a loop carries for its next iteration. The old value may have died before; to count these
/// writes as its last use would keep it alive.
fn begins_anew(program: &VirtProgram) -> Vec<bool> {
    let mut begins = vec![false; program.ops.len()];
    let mut written: SecondaryMap<Reg, bool> = SecondaryMap::new();
    for piece in segments(&program.ops) {
        let ends_loop = program.ops.get(piece.end).is_some_and(|op| op.unit != Unit::LoopStart);
        for index in piece.clone() {
            let op = &program.ops[index];
            let carried = op.unit == Unit::Move && op.writes().is_some_and(|reg| written[reg]);
            begins[index] = ends_loop && carried && !op.is_partial();
        }
        program.ops[piece].iter().filter_map(Operation::writes).for_each(|reg| written[reg] = true);
    }
    begins
}

/// Which values are alive, and how often they will be accessed.
#[derive(Default)]
struct Lives {
    begins_anew: Vec<bool>,
    remaining: SecondaryMap<Reg, u32>,
    live: SecondaryMap<Reg, bool>,
    count: usize,
    peak: usize,
}

impl Lives {
    /// The registers that the operation at this position of the program uses.
    fn accessed(&self, position: usize, op: &Operation) -> impl Iterator<Item = Reg> {
        let written = op.writes().filter(|_| !self.begins_anew[position]);
        op.reads().chain(written)
    }
}

struct Order<'a> {
    ops: &'a [Operation],
    /// Where the operations begin in the program.
    start: usize,
    dag: Dag,
    pressure: usize,
    waiting: Vec<u32>,
    earliest: Vec<(u32, u32)>,
    /// What may be issued, by height and by position.
    by_height: BTreeSet<(Reverse<u32>, usize)>,
    by_position: BTreeSet<usize>,
    /// The next thread switch, when all its requests are sent.
    switch: Option<usize>,
    order: Vec<usize>,
    /// Readers of r4, r5 and the flags that each operation waits for and is one of.
    opens: Vec<u32>,
    closes: Vec<u32>,
    /// Such readers of issued writers.
    open: u32,
    lives: &'a mut Lives,
}

impl<'a> Order<'a> {
    fn new(ops: &'a [Operation], start: usize, dag: Dag, pressure: usize, lives: &'a mut Lives) -> Self {
        let nodes = dag.predecessors.len();
        let (mut opens, mut closes) = (vec![0; nodes], vec![0; nodes]);
        for &(writer, reader) in &dag.transients {
            opens[writer] += 1;
            closes[reader] += 1;
        }
        let mut order = Order {
            ops,
            start,
            pressure,
            waiting: dag.predecessors.clone(),
            earliest: vec![(0, 0); nodes],
            by_height: BTreeSet::new(),
            by_position: BTreeSet::new(),
            switch: None,
            order: Vec::with_capacity(nodes),
            opens,
            closes,
            open: 0,
            dag,
            lives,
        };
        for node in 0..nodes {
            if order.waiting[node] == 0 {
                order.make_ready(node);
            }
        }
        order
    }

    fn make_ready(&mut self, node: usize) {
        if node >= self.ops.len() {
            self.switch = Some(node);
            return;
        }
        self.by_height.insert((Reverse(self.dag.height[node]), node));
        self.by_position.insert(node);
    }

    fn run(&mut self) {
        let mut now = 0;
        while !self.by_position.is_empty() || self.switch.is_some() {
            let mut units = Units::default();
            while let Some(node) = self.pick(now, &units) {
                if let Some(op) = self.ops.get(node) {
                    units.take(op);
                }
                let alone = self.is_tight();
                self.issue(node, now);
                if alone {
                    break;
                }
            }
            now += 1;
        }
    }

    fn is_tight(&self) -> bool {
        self.lives.count >= self.pressure
    }

    fn pick(&self, now: u32, units: &Units) -> Option<usize> {
        work::count(WINDOW.min(self.by_position.len()));
        if self.is_tight() {
            return self.relief();
        }
        let possible = |node: &usize| {
            let room = self.ops.get(*node).map_or(self.open == 0, |op| units.has_room(op));
            room && self.earliest[*node].0 <= now
        };
        let nodes = self.by_height.iter().map(|&(_, node)| node).take(WINDOW).chain(self.switch);
        nodes
            .filter(possible)
            .min_by_key(|&node| (self.earliest[node].1 > now, Reverse(self.dag.height[node]), node))
    }

    /// What frees registers, or takes the fewest. Latency is left to the final scheduler: to fill a wait with something
    /// that takes a register would be no relief.
    fn relief(&self) -> Option<usize> {
        let nodes = self.by_position.iter().copied().take(WINDOW);
        nodes
            .chain(self.switch.filter(|_| self.open == 0))
            .min_by_key(|&node| (self.growth(node), Reverse(self.dag.height[node]), node))
    }

    fn accessed(&self, node: usize) -> SmallVec<[Reg; 3]> {
        self.ops.get(node).into_iter().flat_map(|op| self.lives.accessed(self.start + node, op)).collect()
    }

    /// Live values more, or less, after an operation.
    fn growth(&self, node: usize) -> i32 {
        let accessed = self.accessed(node);
        let mut growth = 0;
        for (index, &reg) in accessed.iter().enumerate() {
            if accessed[..index].contains(&reg) {
                continue;
            }
            let accesses = accessed.iter().filter(|&&other| other == reg).count() as u32;
            let stays = self.lives.remaining[reg] > accesses;
            growth += i32::from(stays) - i32::from(self.lives.live[reg]);
        }
        growth
    }

    fn issue(&mut self, node: usize, now: u32) {
        self.by_height.remove(&(Reverse(self.dag.height[node]), node));
        self.by_position.remove(&node);
        self.switch = self.switch.filter(|&switch| switch != node);
        self.order.push(node);
        self.open = self.open + self.opens[node] - self.closes[node];
        for reg in self.accessed(node) {
            let lives = &mut *self.lives;
            lives.remaining[reg] -= 1;
            let live = lives.remaining[reg] > 0;
            if live != lives.live[reg] {
                lives.live[reg] = live;
                lives.count = if live { lives.count + 1 } else { lives.count - 1 };
                lives.peak = lives.peak.max(lives.count);
            }
        }
        for index in 0..self.dag.successors[node].len() {
            let edge = self.dag.successors[node][index];
            let (hard, soft) = &mut self.earliest[edge.to];
            *hard = (*hard).max(now + edge.hard);
            *soft = (*soft).max(now + edge.soft);
            self.waiting[edge.to] -= 1;
            if self.waiting[edge.to] == 0 {
                self.make_ready(edge.to);
            }
        }
    }
}

/// What one step has room for: an add, a mul, a signal, a stream word.
#[derive(Default)]
struct Units {
    add: bool,
    mul: bool,
    moves: u32,
    signal: bool,
    uniform: bool,
}

impl Units {
    fn has_room(&self, op: &Operation) -> bool {
        let unit = match op.unit {
            Unit::Add(_) => !self.add && u32::from(self.mul) + self.moves < 2,
            Unit::Mul(_) => !self.mul && u32::from(self.add) + self.moves < 2,
            Unit::Move => u32::from(self.add) + u32::from(self.mul) + self.moves < 2,
            Unit::LoadImm(_) | Unit::StreamOffset => !self.add && !self.mul && self.moves == 0,
            _ => true,
        };
        unit && !(self.signal && op.signal != Signal::None) && !(self.uniform && op.uniform().is_some())
    }

    fn take(&mut self, op: &Operation) {
        match op.unit {
            Unit::Add(_) => self.add = true,
            Unit::Mul(_) => self.mul = true,
            Unit::Move => self.moves += 1,
            Unit::LoadImm(_) | Unit::StreamOffset => (self.add, self.mul) = (true, true),
            _ => {}
        }
        self.signal |= op.signal != Signal::None;
        self.uniform |= op.uniform().is_some();
    }
}
