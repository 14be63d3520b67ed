//! Final scheduling: list scheduling of allocated operations into instructions, pairing the add and
//! the mul unit, with every distance of qpu.md §5.1–§5.2 kept by construction.

use std::ops::Range;

use vc4::qpu::{BranchCond, BranchInst, Inst, Signal, Waddr};

use super::dag::{Dag, Place};
use super::pair::combine;
use super::regalloc::Assignment;
use super::virt::{Operation, Unit, VirtProgram, segments};

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
    let mut slots: Vec<Slot> = Vec::new();
    let mut loops: Vec<usize> = Vec::new();
    for segment in segments(&program.ops) {
        let piece = straight(program, assignment, segment.clone(), slots.len());
        match program.ops.get(segment.end).map(|marker| &marker.unit) {
            Some(Unit::LoopEnd(cond)) => {
                let start = loops.pop().expect("loops nest");
                slots.extend(piece);
                close_loop(program, &mut slots, segment.start, *cond, start);
            }
            Some(_) => {
                slots.extend(piece);
                // The next instruction may read a file register that the last one wrote (qpu.md §5.1 rule 9).
                slots.push(Slot { inst: Inst::NOP, ops: Vec::new() });
                loops.push(slots.len());
            }
            None => slots.extend(piece),
        }
    }
    slots
}

/// Instructions behind a branch that run in any case.
const DELAY_SLOTS: usize = 3;

/// Puts the branch back to `start` behind the instruction that sets its flags; up to three instructions behind
/// that run in its delay slots. `first_op`: where the operations of the last piece begin.
fn close_loop(program: &VirtProgram, slots: &mut Vec<Slot>, first_op: usize, cond: BranchCond, start: usize) {
    let sets_flags = |slot: &Slot| slot.ops.iter().any(|&op| op >= first_op && program.ops[op].sets_flags);
    let flags = slots.iter().rposition(sets_flags).expect("a loop's condition is flags");
    let at = (flags + 1).max(slots.len().saturating_sub(DELAY_SLOTS));
    let branch = BranchInst {
        cond,
        rel: true,
        reg: None,
        unused_raddr_a: 0,
        ws: false,
        waddr_add: Waddr::NOP,
        waddr_mul: Waddr::NOP,
        offset: (start as i32 - (at + 1 + DELAY_SLOTS) as i32) * 8,
    };
    slots.insert(at, Slot { inst: Inst::Branch(branch), ops: Vec::new() });
    while slots.len() < at + 1 + DELAY_SLOTS {
        slots.push(Slot { inst: Inst::NOP, ops: Vec::new() });
    }
}

/// Schedules a piece without branches; `base` instructions stand before it.
fn straight(program: &VirtProgram, assignment: &Assignment, segment: Range<usize>, base: usize) -> Vec<Slot> {
    let place = |reg| Place::Physical(assignment[reg].expect("every accessed register is allocated"));
    let ops = &program.ops[segment.clone()];
    let dag = Dag::new(ops, place);
    let mut list = List {
        ops,
        assignment,
        waiting: dag.predecessors.clone(),
        earliest: vec![(0, 0); ops.len()],
        ready: (0..ops.len()).filter(|&op| dag.predecessors[op] == 0).collect(),
        dag,
        base,
        slots: Vec::new(),
    };
    list.run();
    for slot in &mut list.slots {
        slot.ops.iter_mut().for_each(|op| *op += segment.start);
    }
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
    base: usize,
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
            let waits = |&op: &usize| self.earliest[op].0 > now || !self.may_start(op, now);
            assert!(
                !chosen.is_empty() || self.ready.iter().any(waits),
                "selection and allocation leave every operation with an encoding"
            );
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
        !tile || self.base + now as usize >= FIRST_TILE_ACCESS
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
