//! Final scheduling: list scheduling of allocated operations into instructions, pairing the add and
//! the mul unit, with every distance of qpu.md §5.1–§5.2 kept by construction.

use std::cmp::Reverse;
use std::ops::Range;

use smallvec::SmallVec;
use vc4::qpu::Inst;
use vc4::qpu::rules::SIGNAL_SLOTS;

use super::flow::Flow;
use super::pair::{Claims, Demand, combine, no_encoding};
use super::slot::Slot;
use crate::backend::dag::{Dag, Edge, Place};
use crate::backend::regalloc::Assignment;
use crate::backend::virt::{Operation, Threads, VirtProgram, segments};
use crate::work;

/// The first instruction that may touch the tile buffer (qpu.md §5.1 rule 7).
const FIRST_TILE_ACCESS: usize = 2;

/// A scheduled program.
pub struct Schedule {
    /// Its instructions.
    pub slots: Vec<Slot>,
    /// The first instruction of the last piece: behind all branches and their delay slots.
    pub tail: usize,
    /// The program's operations, markers among them, in the order in which they are issued.
    pub order: Vec<usize>,
}

/// An allocated program with all that its schedules have in common.
pub struct Scheduler {
    /// The program.
    pub program: VirtProgram,
    assignment: Assignment,
    pieces: Vec<Piece>,
}

/// A piece without branches.
struct Piece {
    range: Range<usize>,
    dag: Dag,
    /// Slots from each operation to the end of the piece that nothing can shorten.
    least: Vec<u32>,
    /// What each operation takes.
    claims: Vec<Claims>,
    /// The thread switches, in order.
    switches: Vec<usize>,
    /// What they take together.
    demand: Demand,
}

impl Scheduler {
    /// Of an allocated program.
    pub fn new(program: VirtProgram, assignment: Assignment, threads: Threads) -> Scheduler {
        let place = |reg| Place::Physical(assignment[reg].expect("every accessed register is allocated"));
        let piece = |range: Range<usize>| {
            let ops = &program.ops[range.clone()];
            let dag = Dag::allocated(ops, threads, place);
            let least = dag.least_heights(ops);
            let claims = Claims::of_all(ops, &assignment);
            let demand = Demand::of(&claims);
            let switches = (0..ops.len()).filter(|&op| ops[op].is_switch()).collect();
            Piece { range, dag, least, claims, switches, demand }
        };
        let pieces = segments(&program.ops).into_iter().map(piece).collect();
        Scheduler { program, assignment, pieces }
    }

    /// Instructions without which it has no room, wherever its values are.
    pub fn instructions(&self) -> usize {
        self.pieces.iter().map(|piece| piece.demand.instructions()).sum()
    }

    /// Schedules it into at most `limit` instructions; `None` if it takes more. What lies on long ways to the end goes
    /// first; that says little about shared ports, so each `preference` but 0 shifts the priorities in its own way.
    pub fn schedule(&self, preference: u32, limit: usize) -> Option<Schedule> {
        let schedule = self.within(preference, limit);
        let length = |limit| self.within(preference, limit).map(|schedule| schedule.slots.len());
        debug_assert!(match &schedule {
            Some(schedule) => length(schedule.slots.len()).is_some(),
            None => length(usize::MAX).is_none_or(|length| length > limit),
        });
        schedule
    }

    fn within(&self, preference: u32, limit: usize) -> Option<Schedule> {
        if self.instructions() > limit {
            return None;
        }
        let ops = &self.program.ops;
        let mut flow = Flow::new(ops);
        let mut order = Vec::with_capacity(ops.len());
        for piece in &self.pieces {
            flow.piece(self.straight(piece, preference, flow.slots.len(), limit, &mut order)?);
            if let Some(marker) = ops.get(piece.range.end) {
                flow.marker(marker.unit, piece.range.start);
                order.push(piece.range.end);
            }
        }
        let (slots, tail) = flow.finish();
        (slots.len() <= limit).then_some(Schedule { slots, tail, order })
    }

    /// Schedules a piece, and appends its operations to those `issued`; `base` instructions stand before it.
    fn straight(
        &self,
        piece: &Piece,
        preference: u32,
        base: usize,
        limit: usize,
        issued: &mut Vec<usize>,
    ) -> Option<Vec<Slot>> {
        let ops = &self.program.ops[piece.range.clone()];
        // Switches may come into instructions that are there already.
        let mut demand = piece.demand;
        piece.switches.iter().for_each(|&switch| demand.remove(&piece.claims[switch]));
        let mut list = List {
            ops,
            piece,
            assignment: &self.assignment,
            height: (0..).zip(&piece.dag.height).map(|(op, height)| height + shift(op, preference)).collect(),
            waiting: piece.dag.predecessors.clone(),
            earliest: vec![(0, 0); ops.len()],
            ready: Vec::new(),
            base,
            slots: Vec::with_capacity(ops.len()),
            issued,
            switched: 0,
            switches: 0,
            demand,
        };
        (0..ops.len()).filter(|&op| piece.dag.predecessors[op] == 0).for_each(|op| list.make_ready(op));
        if !list.run(limit) {
            return None;
        }
        for slot in &mut list.slots {
            slot.ops.iter_mut().for_each(|op| *op += piece.range.start);
        }
        Some(list.slots)
    }
}

/// How much a preference raises an operation's height.
fn shift(op: u32, preference: u32) -> u32 {
    /// Shifts are less than this.
    const REACH: u32 = 4;
    // Multiplicative hashing: the upper bits of a product with 2^32 over the golden ratio.
    let mixed = (op + 1).wrapping_mul(preference).wrapping_mul(0x9e37_79b9);
    if preference == 0 { 0 } else { (mixed >> 16) % REACH }
}

struct List<'a> {
    ops: &'a [Operation],
    piece: &'a Piece,
    assignment: &'a Assignment,
    /// Heights as the preference has them.
    height: Vec<u32>,
    waiting: Vec<u32>,
    /// Slot from which an operation may be issued, and from which it does not stall.
    earliest: Vec<(u32, u32)>,
    /// Operations whose predecessors are issued, the best ones first. Allocation bounds them: what waits for nothing else
    /// has a register of its own or is next at its peripheral.
    ready: Vec<Ready>,
    base: usize,
    slots: Vec<Slot>,
    /// The program's operations that were issued.
    issued: &'a mut Vec<usize>,
    /// The slot in which the last thread switch took effect.
    switched: usize,
    /// Thread switches that were issued.
    switches: usize,
    /// What those of the other operations take together that were not.
    demand: Demand,
}

/// An operation that may be issued; what is higher comes first, and of equals what comes first in the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ready {
    height: Reverse<u32>,
    op: u32,
}

impl Ready {
    const fn op(&self) -> usize {
        self.op as usize
    }
}

/// The instruction that is being put together.
#[derive(Default)]
struct Open {
    ops: SmallVec<[usize; 2]>,
    /// What they are in this instruction, where that is not what they are alone.
    forms: SmallVec<[(usize, Operation); 1]>,
    /// What its operations take; `None` without operations.
    claims: Option<Claims>,
    /// What they are together; one operation alone has an instruction in any case.
    inst: Option<Inst>,
    /// Operations that could share the instruction with a copy, whose result they read, by reading what it copies.
    beside: SmallVec<[(usize, usize); 4]>,
}

impl Open {
    /// The copy beside which an operation may stand.
    fn copy_for(&self, op: usize) -> Option<usize> {
        self.beside.iter().find(|(reader, _)| *reader == op).map(|&(_, copy)| copy)
    }

    fn add(&mut self, op: usize, claims: Claims) {
        self.ops.push(op);
        self.claims = Some(claims);
    }

    /// An operation as it stands in this instruction.
    fn form<'a>(&'a self, ops: &'a [Operation], op: usize) -> &'a Operation {
        self.forms.iter().find(|(other, _)| *other == op).map_or(&ops[op], |(_, form)| form)
    }
}

impl List<'_> {
    /// Fills the slots; `false` if there will be more than `limit` with those in front.
    fn run(&mut self, limit: usize) -> bool {
        while let Some(first) = self.ready.first().map(Ready::op) {
            let now = self.slots.len() as u32;
            let left = self.demand.instructions().max(1 + self.piece.least[first] as usize);
            if self.base + now as usize + left > limit {
                return false;
            }
            let mut open = Open::default();
            if let Some(switch) = self.next_switch(now) {
                self.switch(switch, now, &mut open);
            }
            // The first one makes others ready that may share its instruction (distance 0).
            while let Some(op) = self.pick(now, &mut open) {
                open.beside.extend(self.readers(op, now).map(|reader| (reader, op)));
                self.issue(op, |edge| (now + edge.hard(), now + edge.soft()));
            }
            if open.ops.is_empty() && self.ready.is_empty() {
                break;
            }
            let inst = open.inst.or_else(|| open.ops.first().map(|&op| self.alone(op)));
            self.slots.push(Slot { inst: inst.unwrap_or(Inst::NOP), ops: open.ops, ..Slot::nop() });
        }
        // What follows belongs behind the switch.
        while self.slots.len() < self.switched {
            self.slots.push(Slot::nop());
        }
        true
    }

    /// The instruction of one operation.
    fn alone(&self, op: usize) -> Inst {
        let (op, claims) = (&self.ops[op], &self.piece.claims[op]);
        combine(&[op], claims, self.assignment).unwrap_or_else(|| no_encoding(op, self.assignment))
    }

    /// The next thread switch, if it may be issued.
    fn next_switch(&self, now: u32) -> Option<usize> {
        let next = self.piece.switches.get(self.switches).copied();
        next.filter(|&op| self.waiting[op] == 0 && self.earliest[op].0 <= now)
    }

    /// A switch takes effect behind its two delay slots, which may be instructions that are there already.
    fn switch(&mut self, op: usize, now: u32, open: &mut Open) {
        let signal = self.ops[op].signal;
        let now = now as usize;
        let first = now.saturating_sub(1 + SIGNAL_SLOTS).max(self.switched);
        let at = (first..now).find(|&at| self.slots[at].add_signal(signal));
        let at = at.unwrap_or_else(|| {
            open.add(op, self.piece.claims[op]);
            now
        });
        self.switched = at + 1 + SIGNAL_SLOTS;
        self.switches += 1;
        let effect = self.switched as u32;
        self.issue(op, |_| (effect, effect));
    }

    /// What waits for a copy only, to read it.
    fn readers(&self, copy: usize, now: u32) -> impl Iterator<Item = usize> {
        let copied = self.ops[copy].copied().is_some();
        let edges = self.piece.dag.successors[copy].iter().filter(move |_| copied);
        edges.map(Edge::to).filter(move |&to| {
            let (least, best) = self.earliest[to];
            self.waiting[to] == 1 && least <= now && best <= now
        })
    }

    /// Lets the best operation that can join those of `open` do so.
    fn pick(&self, now: u32, open: &mut Open) -> Option<usize> {
        work::count(self.ready.len());
        // Whether it stalls, if it may be issued at all.
        let stalls = |op: usize, open: &Open| {
            let (least, best) = if open.copy_for(op).is_some() { (now, now) } else { self.earliest[op] };
            let may_issue = least <= now && !self.ops[op].is_switch() && self.may_start(op, now);
            may_issue.then_some(best > now)
        };
        let mut some_stall = false;
        let ready = || self.ready.iter().map(Ready::op);
        let best = ready().find(|&op| {
            let stalls = stalls(op, open);
            some_stall |= stalls == Some(true);
            stalls == Some(false) && self.join(op, open)
        });
        // Sharing an instruction is no gain if it stalls.
        let may_stall = open.claims.is_none() || self.ready.len() == 1;
        if best.is_some() || !some_stall || !may_stall {
            return best;
        }
        ready().find(|&op| stalls(op, open) == Some(true) && self.join(op, open))
    }

    /// Adds an operation to those of `open` if they have an instruction together.
    fn join(&self, op: usize, open: &mut Open) -> bool {
        let claims = &self.piece.claims[op];
        let Some(taken) = &open.claims else {
            open.add(op, *claims);
            return true;
        };
        let beside = match open.copy_for(op) {
            Some(copy) => match self.beside(op, copy) {
                None => return false,
                beside => beside,
            },
            None => None,
        };
        let (form, claims) = beside.as_ref().map_or((&self.ops[op], claims), |(form, claims)| (form, claims));
        let Some(together) = taken.with(claims) else { return false };
        let others = open.ops.iter().map(|&other| open.form(self.ops, other));
        let ops: SmallVec<[&Operation; 3]> = others.chain([form]).collect();
        let Some(inst) = combine(&ops, &together, self.assignment) else { return false };
        drop(ops);
        open.forms.extend(beside.map(|(form, _)| (op, form)));
        open.add(op, together);
        open.inst = Some(inst);
        true
    }

    /// An operation that reads what a copy copies instead of the copy, and what it takes beside that.
    fn beside(&self, op: usize, copy: usize) -> Option<(Operation, Claims)> {
        let form = self.ops[op].past(&self.ops[copy])?;
        let claims = self.piece.claims[op].past(&self.piece.claims[copy], &form, self.assignment)?;
        Some((form, claims))
    }

    fn may_start(&self, op: usize, now: u32) -> bool {
        self.base + now as usize >= FIRST_TILE_ACCESS || !self.ops[op].touches_tile()
    }

    fn make_ready(&mut self, op: usize) {
        let ready = Ready { height: Reverse(self.height[op]), op: op as u32 };
        let at = self.ready.partition_point(|&other| other < ready);
        self.ready.insert(at, ready);
    }

    /// Notes that `op` is issued, and from when on its successors may be and do not stall.
    fn issue(&mut self, op: usize, from: impl Fn(&Edge) -> (u32, u32)) {
        let position = self.ready.iter().position(|other| other.op() == op).expect("it was ready");
        self.ready.remove(position);
        let piece = self.piece;
        if !self.ops[op].is_switch() {
            self.demand.remove(&piece.claims[op]);
        }
        self.issued.push(piece.range.start + op);
        for edge in &piece.dag.successors[op] {
            let (least, best) = from(edge);
            let (hard, soft) = &mut self.earliest[edge.to()];
            *hard = (*hard).max(least);
            *soft = (*soft).max(best);
            self.waiting[edge.to()] -= 1;
            if self.waiting[edge.to()] == 0 {
                self.make_ready(edge.to());
            }
        }
    }
}
