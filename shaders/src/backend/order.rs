//! Ordering before allocation: which operation comes when, seen by latency and by the number of live values.
//!
//! The order decides what lives how long; allocation follows it, and the final scheduler starts from its result.
//! So it already issues an add and a mul operation per step, as the final code will.

use cranelift_entity::SecondaryMap;
use vc4::qpu::Signal;

use super::dag::{Dag, Place};
use super::virt::{Operation, Reg, Unit, VirtProgram};

/// Returns the operations of `program` in an order that hides latency while fewer than `pressure` values are
/// alive, and frees registers first from then on.
pub fn reorder(program: &VirtProgram, pressure: usize) -> Vec<Operation> {
    let dag = Dag::new(&program.ops, Place::Virtual);
    let mut state = Order::new(program, dag, pressure);
    state.run();
    state.order.iter().map(|&op| program.ops[op].clone()).collect()
}

struct Order<'a> {
    ops: &'a [Operation],
    dag: Dag,
    pressure: usize,
    waiting: Vec<usize>,
    earliest: Vec<(u32, u32)>,
    ready: Vec<usize>,
    order: Vec<usize>,
    /// Accesses of each register that are still to come.
    remaining: SecondaryMap<Reg, u32>,
    live: SecondaryMap<Reg, bool>,
    live_count: usize,
}

impl<'a> Order<'a> {
    fn new(program: &'a VirtProgram, dag: Dag, pressure: usize) -> Self {
        let ops = &program.ops;
        let mut remaining: SecondaryMap<Reg, u32> = SecondaryMap::new();
        for op in ops {
            accessed(op).for_each(|reg| remaining[reg] += 1);
        }
        Order {
            ops,
            pressure,
            waiting: dag.predecessors.clone(),
            earliest: vec![(0, 0); ops.len()],
            ready: (0..ops.len()).filter(|&op| dag.predecessors[op] == 0).collect(),
            order: Vec::with_capacity(ops.len()),
            dag,
            remaining,
            live: SecondaryMap::new(),
            live_count: 0,
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
        let tight = self.live_count >= self.pressure;
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
            let stays = self.remaining[reg] > accesses;
            growth += i32::from(stays) - i32::from(self.live[reg]);
        }
        growth
    }

    fn issue(&mut self, index: usize, now: u32) {
        self.ready.retain(|&other| other != index);
        self.order.push(index);
        for reg in accessed(&self.ops[index]) {
            self.remaining[reg] -= 1;
            let live = self.remaining[reg] > 0;
            if live != self.live[reg] {
                self.live[reg] = live;
                self.live_count = if live { self.live_count + 1 } else { self.live_count - 1 };
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
            Unit::LoadImm(_) => !self.add && !self.mul && self.moves == 0,
            Unit::Signal => true,
        };
        unit && !(self.signal && op.signal != Signal::None) && !(self.uniform && op.uniform().is_some())
    }

    fn take(&mut self, op: &Operation) {
        match op.unit {
            Unit::Add(_) => self.add = true,
            Unit::Mul(_) => self.mul = true,
            Unit::Move => self.moves += 1,
            Unit::LoadImm(_) => (self.add, self.mul) = (true, true),
            Unit::Signal => {}
        }
        self.signal |= op.signal != Signal::None;
        self.uniform |= op.uniform().is_some();
    }
}
