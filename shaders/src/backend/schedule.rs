//! Final scheduling: list scheduling of allocated operations into instructions, pairing the add and
//! the mul unit, with every distance of qpu.md §5.1–§5.2 kept by construction.

use vc4::qpu::{Inst, Signal, Waddr};

use super::dag::{Dag, Place};
use super::pair::combine;
use super::regalloc::Assignment;
use super::virt::{Operation, VirtProgram};

/// The first instruction that may touch the tile buffer (qpu.md §5.1 rule 7).
const FIRST_TILE_ACCESS: usize = 2;

/// An instruction and the operations in it, as indices into the program.
#[derive(Clone, Debug)]
pub struct Slot {
    /// The instruction.
    pub inst: Inst,
    /// Its operations; empty for a no-operation.
    pub ops: Vec<usize>,
}

/// Schedules an allocated program.
pub fn schedule(program: &VirtProgram, assignment: &Assignment) -> Vec<Slot> {
    let place = |reg| Place::Physical(assignment[reg].expect("every accessed register is allocated"));
    let dag = Dag::new(&program.ops, place);
    let mut list = List {
        ops: &program.ops,
        assignment,
        waiting: dag.predecessors.clone(),
        earliest: vec![(0, 0); program.ops.len()],
        ready: (0..program.ops.len()).filter(|&op| dag.predecessors[op] == 0).collect(),
        dag,
        slots: Vec::new(),
    };
    list.run();
    list.slots
}

struct List<'a> {
    ops: &'a [Operation],
    assignment: &'a Assignment,
    dag: Dag,
    waiting: Vec<usize>,
    /// Slot from which an operation may be issued, and from which it does not stall.
    earliest: Vec<(u32, u32)>,
    ready: Vec<usize>,
    slots: Vec<Slot>,
}

impl List<'_> {
    fn run(&mut self) {
        while !self.ready.is_empty() {
            let now = self.slots.len() as u32;
            let mut chosen: Vec<usize> = Vec::new();
            let mut inst = Inst::NOP;
            // The first one makes others ready that may share its instruction (distance 0).
            while let Some((op, combined)) = self.pick(now, &chosen) {
                chosen.push(op);
                inst = combined;
                self.issue(op, now);
            }
            self.slots.push(Slot { inst, ops: chosen });
        }
    }

    /// The best operation that can join `chosen` in slot `now`.
    fn pick(&self, now: u32, chosen: &[usize]) -> Option<(usize, Inst)> {
        let mut candidates: Vec<usize> = self
            .ready
            .iter()
            .copied()
            .filter(|&op| self.earliest[op].0 <= now && self.may_start(op, now))
            .collect();
        candidates.sort_by_key(|&op| {
            let stalls = self.earliest[op].1 > now;
            (stalls, std::cmp::Reverse(self.dag.height[op]), op)
        });
        if !chosen.is_empty() {
            // Sharing an instruction is no gain if it stalls.
            candidates.retain(|&op| self.earliest[op].1 <= now || self.ready.len() == 1);
        }
        candidates.into_iter().find_map(|op| {
            let ops: Vec<&Operation> = chosen.iter().chain([&op]).map(|&op| &self.ops[op]).collect();
            combine(&ops, self.assignment).map(|inst| (op, inst))
        })
    }

    fn may_start(&self, op: usize, now: u32) -> bool {
        let op = &self.ops[op];
        let tile = op.port().is_some_and(Waddr::is_tlb) || op.signal == Signal::ColorLoad;
        !tile || now as usize >= FIRST_TILE_ACCESS
    }

    fn issue(&mut self, op: usize, now: u32) {
        self.ready.retain(|&other| other != op);
        for edge in &self.dag.successors[op] {
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
