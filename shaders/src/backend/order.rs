//! Ordering before allocation: which operation comes when, seen by latency and by the number of live values.
//!
//! The order decides what lives how long; allocation follows it, and the final scheduler starts from its result.
//! So it already issues an add and a mul operation per step, as the final code will.

use cranelift_entity::SecondaryMap;
use vc4::qpu::Signal;

use super::dag::{Dag, Place};
use super::virt::{Operation, Reg, Unit, VirtProgram, segments};

/// Returns the operations of `program` in an order that hides latency while fewer than `pressure` values are
/// alive, and frees registers first from then on.
pub fn reorder(program: &VirtProgram, pressure: usize) -> Vec<Operation> {
    let mut lives = Lives::default();
    for op in &program.ops {
        accessed(op).for_each(|reg| lives.remaining[reg] += 1);
    }
    let mut ordered = Vec::with_capacity(program.ops.len());
    for segment in segments(&program.ops) {
        let marker = program.ops.get(segment.end).cloned();
        let ops = &program.ops[segment];
        let mut state = Order::new(ops, Dag::new(ops, Place::Virtual), pressure, &mut lives);
        state.run();
        ordered.extend(state.order.iter().map(|&op| ops[op].clone()));
        ordered.extend(marker);
    }
    ordered
}

/// Which values are alive, and how often they will be accessed.
#[derive(Default)]
struct Lives {
    remaining: SecondaryMap<Reg, u32>,
    live: SecondaryMap<Reg, bool>,
    count: usize,
}

struct Order<'a> {
    ops: &'a [Operation],
    dag: Dag,
    pressure: usize,
    waiting: Vec<usize>,
    earliest: Vec<(u32, u32)>,
    ready: Vec<usize>,
    order: Vec<usize>,
    lives: &'a mut Lives,
}

impl<'a> Order<'a> {
    fn new(ops: &'a [Operation], dag: Dag, pressure: usize, lives: &'a mut Lives) -> Self {
        Order {
            ops,
            pressure,
            waiting: dag.predecessors.clone(),
            earliest: vec![(0, 0); ops.len()],
            ready: (0..ops.len()).filter(|&op| dag.predecessors[op] == 0).collect(),
            order: Vec::with_capacity(ops.len()),
            dag,
            lives,
        }
    }

    fn run(&mut self) {
        let mut now = 0;
        while !self.ready.is_empty() {
            let mut units = Units::default();
            while let Some(op) = self.pick(now, &units) {
                units.take(&self.ops[op]);
                self.issue(op, now);
            }
            now += 1;
        }
    }

    fn pick(&self, now: u32, units: &Units) -> Option<usize> {
        let tight = self.lives.count >= self.pressure;
        self.ready
            .iter()
            .copied()
            .filter(|&op| self.earliest[op].0 <= now && units.has_room(&self.ops[op]))
            .min_by_key(|&op| {
                let growth = self.growth(op);
                let stalls = self.earliest[op].1 > now;
                let height = std::cmp::Reverse(self.dag.height[op]);
                if tight { (false, growth, stalls, height, op) } else { (stalls, 0, false, height, op) }
            })
    }

    /// Live values more, or less, after an operation.
    fn growth(&self, op: usize) -> i32 {
        let op = &self.ops[op];
        let mut growth = 0;
        let mut seen: smallvec::SmallVec<[Reg; 3]> = smallvec::SmallVec::new();
        for reg in accessed(op) {
            if seen.contains(&reg) {
                continue;
            }
            seen.push(reg);
            let accesses = accessed(op).filter(|&other| other == reg).count() as u32;
            let stays = self.lives.remaining[reg] > accesses;
            growth += i32::from(stays) - i32::from(self.lives.live[reg]);
        }
        growth
    }

    fn issue(&mut self, index: usize, now: u32) {
        self.ready.retain(|&other| other != index);
        self.order.push(index);
        for reg in accessed(&self.ops[index]) {
            self.lives.remaining[reg] -= 1;
            let live = self.lives.remaining[reg] > 0;
            if live != self.lives.live[reg] {
                self.lives.live[reg] = live;
                self.lives.count = if live { self.lives.count + 1 } else { self.lives.count - 1 };
            }
        }
        for edge in &self.dag.successors[index] {
            let (hard, soft) = &mut self.earliest[edge.to];
            *hard = (*hard).max(now + edge.hard);
            *soft = (*soft).max(now + edge.soft);
            self.waiting[edge.to] -= 1;
            if self.waiting[edge.to] == 0 {
                self.ready.push(edge.to);
            }
        }
    }
}

fn accessed(op: &Operation) -> impl Iterator<Item = Reg> {
    op.reads().chain(op.writes())
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
