//! Final scheduling: list scheduling of allocated operations into instructions, pairing the add and
//! the mul unit, with every distance of qpu.md §5.1–§5.2 kept by construction.

use std::cmp::Reverse;
use std::ops::Range;

use smallvec::SmallVec;
use vc4::qpu::rules::{BRANCH_SLOTS, SIGNAL_SLOTS};
use vc4::qpu::{BranchCond, BranchInst, Inst, RaddrB, Signal, Waddr};

use super::dag::{Dag, Edge, Place};
use super::pair::{Claims, combine};
use super::regalloc::Assignment;
use super::virt::{Loc, Operation, Reg, Threads, Unit, VirtProgram, segments};
use super::work;

/// The first instruction that may touch the tile buffer (qpu.md §5.1 rule 7).
const FIRST_TILE_ACCESS: usize = 2;

/// An instruction and the operations in it, as indices into the program.
#[derive(Clone, Debug)]
pub struct Slot {
    /// The instruction.
    pub inst: Inst,
    /// Its operations; empty for a no-operation.
    pub ops: SmallVec<[usize; 2]>,
}

impl Slot {
    /// A slot without operations.
    pub fn nop() -> Slot {
        Slot { inst: Inst::NOP, ops: SmallVec::new() }
    }

    /// Lets the instruction carry a signal too, if its word has room for one.
    pub fn add_signal(&mut self, signal: Signal) -> bool {
        match &mut self.inst {
            Inst::Alu(alu) if alu.sig == Signal::None && !matches!(alu.raddr_b, RaddrB::Imm(_)) => {
                alu.sig = signal;
                true
            }
            _ => false,
        }
    }
}

/// A scheduled program.
pub struct Schedule {
    /// Its instructions.
    pub slots: Vec<Slot>,
    /// The first instruction behind the last loop and its delay slots.
    pub tail: usize,
}

/// Schedules an allocated program. What lies on long ways to the end goes first; that says little about shared ports, so each
/// `preference` but 0 shifts the priorities in its own way.
pub fn schedule(
    program: &VirtProgram,
    assignment: &Assignment,
    threads: Threads,
    preference: u32,
) -> Schedule {
    let mut slots: Vec<Slot> = Vec::new();
    let mut loops: Vec<usize> = Vec::new();
    let mut tail = 0;
    for segment in segments(&program.ops) {
        tail = slots.len();
        let piece = straight(program, assignment, threads, preference, segment.clone(), slots.len());
        match program.ops.get(segment.end).map(|marker| &marker.unit) {
            Some(Unit::LoopEnd(cond)) => {
                let start = loops.pop().expect("loops nest");
                slots.extend(piece);
                close_loop(program, &mut slots, segment.start, *cond, start);
            }
            Some(_) => {
                slots.extend(piece);
                // The next instruction may read a file register that the last one wrote (qpu.md §5.1 rule 9).
                slots.push(Slot::nop());
                loops.push(slots.len());
            }
            None => slots.extend(piece),
        }
    }
    Schedule { slots, tail }
}

/// Puts the branch back to `start` behind the instruction that sets its flags; up to three instructions behind
/// that run in its delay slots. `first_op`: where the operations of the last piece begin.
fn close_loop(program: &VirtProgram, slots: &mut Vec<Slot>, first_op: usize, cond: BranchCond, start: usize) {
    // The piece that comes next, here or at the start, sets the stream's position in its second instruction, with a word
    // of the stream: too early behind a position set in the last one (qpu.md §5.1 rule 11).
    let sets_stream =
        |slot: &Slot| slot.ops.iter().any(|&op| program.ops[op].port() == Some(Waddr::UNIF_ADDR));
    if slots.last().is_some_and(sets_stream) {
        slots.push(Slot::nop());
    }
    let sets_flags = |slot: &Slot| slot.ops.iter().any(|&op| op >= first_op && program.ops[op].sets_flags);
    let flags = slots.iter().rposition(sets_flags).expect("a loop's condition is flags");
    let at = (flags + 1).max(slots.len().saturating_sub(BRANCH_SLOTS));
    let branch = BranchInst {
        cond,
        rel: true,
        reg: None,
        unused_raddr_a: 0,
        ws: false,
        waddr_add: Waddr::NOP,
        waddr_mul: Waddr::NOP,
        offset: (start as i32 - (at + 1 + BRANCH_SLOTS) as i32) * 8,
    };
    slots.insert(at, Slot { inst: Inst::Branch(branch), ops: SmallVec::new() });
    while slots.len() < at + 1 + BRANCH_SLOTS {
        slots.push(Slot::nop());
    }
}

/// Schedules a piece without branches; `base` instructions stand before it.
fn straight(
    program: &VirtProgram,
    assignment: &Assignment,
    threads: Threads,
    preference: u32,
    segment: Range<usize>,
    base: usize,
) -> Vec<Slot> {
    let place = |reg| Place::Physical(assignment[reg].expect("every accessed register is allocated"));
    let ops = &program.ops[segment.clone()];
    let mut dag = Dag::allocated(ops, threads, place);
    for (op, height) in dag.height.iter_mut().enumerate() {
        *height += shift(op, preference);
    }
    let mut list = List {
        ops,
        claims: ops.iter().map(|op| Claims::of(op, assignment)).collect(),
        assignment,
        waiting: dag.predecessors.clone(),
        earliest: vec![(0, 0); ops.len()],
        ready: (0..ops.len()).filter(|&op| dag.predecessors[op] == 0).collect(),
        dag,
        base,
        slots: Vec::with_capacity(ops.len()),
        switched: 0,
    };
    list.run();
    for slot in &mut list.slots {
        slot.ops.iter_mut().for_each(|op| *op += segment.start);
    }
    list.slots
}

/// How much a preference raises an operation's height.
fn shift(op: usize, preference: u32) -> u32 {
    /// Shifts are less than this.
    const REACH: u32 = 4;
    // Multiplicative hashing: the upper bits of a product with 2^32 over the golden ratio.
    let mixed = (op as u32 + 1).wrapping_mul(preference).wrapping_mul(0x9e37_79b9);
    if preference == 0 { 0 } else { (mixed >> 16) % REACH }
}

struct List<'a> {
    ops: &'a [Operation],
    /// What each takes; `None` if its operands are in each other's way.
    claims: Vec<Option<Claims>>,
    assignment: &'a Assignment,
    dag: Dag,
    waiting: Vec<u32>,
    /// Slot from which an operation may be issued, and from which it does not stall.
    earliest: Vec<(u32, u32)>,
    /// Operations whose predecessors are issued. Allocation bounds them: what waits for nothing else has a register
    /// of its own or is next at its peripheral.
    ready: Vec<usize>,
    base: usize,
    slots: Vec<Slot>,
    /// The slot in which the last thread switch took effect.
    switched: usize,
}

impl List<'_> {
    fn run(&mut self) {
        let mut candidates: Vec<Candidate> = Vec::new();
        while !self.ready.is_empty() {
            let now = self.slots.len() as u32;
            let mut slot = Slot::nop();
            if let Some(switch) = self.ready.iter().copied().find(|&op| self.may_switch(op, now)) {
                self.switch(switch, now, &mut slot);
            }
            // The first one makes others ready that may share its instruction (distance 0).
            while let Some((op, combined)) = self.pick(now, &slot, &mut candidates) {
                slot.ops.push(op);
                slot.inst = combined;
                self.issue(op, |edge| (now + edge.hard, now + edge.soft));
            }
            let waits = |&op: &usize| self.earliest[op].0 > now || !self.may_start(op, now);
            assert!(
                !slot.ops.is_empty() || self.ready.is_empty() || self.ready.iter().any(waits),
                "selection and allocation leave every operation with an encoding, but not {:?}",
                self.without_encoding()
            );
            if slot.ops.is_empty() && self.ready.is_empty() {
                break;
            }
            self.slots.push(slot);
        }
        // What follows belongs behind the switch.
        while self.slots.len() < self.switched {
            self.slots.push(Slot::nop());
        }
    }

    /// The first operation that is ready and fits no instruction, with the places of what it accesses.
    fn without_encoding(&self) -> Option<(&Operation, impl std::fmt::Debug + use<>)> {
        let alone = |op: usize| combine(&[&self.ops[op]], &self.claims[op]?, self.assignment);
        let op = self.ready.iter().copied().find(|&op| alone(op).is_none()).map(|op| &self.ops[op])?;
        let places: Vec<(Reg, Option<Loc>)> =
            op.reads().chain(op.writes()).map(|reg| (reg, self.assignment[reg])).collect();
        Some((op, places))
    }

    fn may_switch(&self, op: usize, now: u32) -> bool {
        self.ops[op].is_switch() && self.earliest[op].0 <= now
    }

    /// A switch takes effect behind its two delay slots, which may be instructions that are there already.
    fn switch(&mut self, op: usize, now: u32, slot: &mut Slot) {
        let signal = self.ops[op].signal;
        let now = now as usize;
        let first = now.saturating_sub(1 + SIGNAL_SLOTS).max(self.switched);
        let at = (first..now).find(|&at| self.slots[at].add_signal(signal));
        let at = at.unwrap_or_else(|| {
            slot.ops.push(op);
            let alone =
                self.claims[op].and_then(|claims| combine(&[&self.ops[op]], &claims, self.assignment));
            slot.inst = alone.expect("a signal alone fits");
            now
        });
        self.switched = at + 1 + SIGNAL_SLOTS;
        let effect = self.switched as u32;
        self.issue(op, |_| (effect, effect));
    }

    /// The best operation that can join those of `slot` in it.
    fn pick(&self, now: u32, slot: &Slot, candidates: &mut Vec<Candidate>) -> Option<(usize, Inst)> {
        candidates.clear();
        work::count(self.ready.len());
        let mut taken = slot.ops.iter().map(|&op| self.claims[op]);
        let taken = taken.next().map(|first| taken.fold(first, |all, claims| all?.with(claims?)));
        let together = |op: usize| match taken {
            Some(taken) => taken?.with(self.claims[op]?),
            None => self.claims[op],
        };
        let possible = |&&op: &&usize| {
            self.earliest[op].0 <= now
                && together(op).is_some()
                && self.may_start(op, now)
                && !self.ops[op].is_switch()
        };
        candidates.extend(self.ready.iter().filter(possible).map(|&op| Candidate {
            stalls: self.earliest[op].1 > now,
            height: Reverse(self.dag.height[op]),
            op,
        }));
        if !slot.ops.is_empty() {
            // Sharing an instruction is no gain if it stalls.
            candidates.retain(|candidate| !candidate.stalls || self.ready.len() == 1);
        }
        candidates.sort_unstable();
        candidates.iter().find_map(|&Candidate { op, .. }| {
            let ops: SmallVec<[&Operation; 3]> =
                slot.ops.iter().chain([&op]).map(|&op| &self.ops[op]).collect();
            combine(&ops, &together(op)?, self.assignment).map(|inst| (op, inst))
        })
    }

    fn may_start(&self, op: usize, now: u32) -> bool {
        !self.ops[op].touches_tile() || self.base + now as usize >= FIRST_TILE_ACCESS
    }

    /// Notes that `op` is issued, and from when on its successors may be and do not stall.
    fn issue(&mut self, op: usize, from: impl Fn(&Edge) -> (u32, u32)) {
        let position = self.ready.iter().position(|&other| other == op).expect("it was ready");
        self.ready.swap_remove(position);
        for edge in &self.dag.successors[op] {
            let (least, best) = from(edge);
            let (hard, soft) = &mut self.earliest[edge.to];
            *hard = (*hard).max(least);
            *soft = (*soft).max(best);
            self.waiting[edge.to] -= 1;
            if self.waiting[edge.to] == 0 {
                self.ready.push(edge.to);
            }
        }
    }
}

/// An operation for a slot; the least one is the best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    stalls: bool,
    height: Reverse<u32>,
    op: usize,
}
