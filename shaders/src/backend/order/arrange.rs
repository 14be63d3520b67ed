//! Ordering before allocation: which operation comes when, seen by latency and by the number of live values.
//!
//! The order decides what lives how long; allocation follows it, and the final scheduler starts from its result.
//! So it already issues an add and a mul operation per step, as the final code will.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use cranelift_entity::{PrimaryMap, SecondaryMap};
use smallvec::SmallVec;
use vc4::qpu::Signal;

use super::threads::{self, Plan};
use crate::backend::dag::{Dag, Histories};
use crate::backend::virt::{Operation, Reg, RegInfo, Src, Threads, Unit, VirtProgram, segments};
use crate::work;

/// Candidates that a step looks at: enough for every choice that matters, and a bound on the work of a step.
const WINDOW: usize = 64;

/// Operations in an order.
pub struct Ordered {
    /// The operations, with thread switches.
    pub ops: Vec<Operation>,
    /// Most values that were alive at once.
    pub peak: usize,
}

/// A program with all that its orders have in common.
pub struct Orders<'a> {
    program: &'a VirtProgram,
    pieces: Vec<Piece>,
    /// What each operation takes of a step.
    shares: Vec<Share>,
    /// The registers that each operation uses, and how often.
    accesses: Vec<Accesses>,
    /// How often each register is used, and by which operations.
    uses: SecondaryMap<Reg, u32>,
    users: PrimaryMap<Reg, SmallVec<[u32; 4]>>,
}

/// Uses that an operation makes of a register at the most. As long as a register has more of them left, one less changes nothing for
/// the others.
const MOST_USES: u32 = 3;

type Accesses = SmallVec<[(Reg, u32); 3]>;

/// A straight piece of the program.
struct Piece {
    range: Range<usize>,
    dag: Dag,
    plan: Option<Plan>,
    /// Readers of r4, r5 and the flags that each operation waits for and is one of.
    opens: Vec<u32>,
    closes: Vec<u32>,
}

impl Piece {
    fn new(
        program: &VirtProgram,
        range: Range<usize>,
        histories: &mut Histories,
        threads: Threads,
    ) -> Option<Piece> {
        let ops = &program.ops[range.clone()];
        let mut dag = Dag::selected(ops, histories, threads);
        let plan = match threads {
            Threads::One => None,
            Threads::Two => Some(threads::plan(ops, &mut dag, program.ops.get(range.end))?),
        };
        let nodes = dag.predecessors.len();
        let (mut opens, mut closes) = (vec![0; nodes], vec![0; nodes]);
        for &(writer, reader) in &dag.transients {
            opens[writer] += 1;
            closes[reader] += 1;
        }
        Some(Piece { range, dag, plan, opens, closes })
    }

    /// The operation that a node of the graph stands for.
    fn operation(&self, ops: &[Operation], node: usize) -> Operation {
        let last = self.plan.as_ref().and_then(|plan| plan.nodes.last().filter(|_| plan.ends));
        ops.get(node).copied().unwrap_or_else(|| threads::switch(last == Some(&node)))
    }
}

impl<'a> Orders<'a> {
    /// Of `program`; `None` if it cannot be divided by thread switches.
    pub fn new(program: &'a VirtProgram, threads: Threads) -> Option<Orders<'a>> {
        let mut histories = Histories::new(program.regs.len());
        let pieces = segments(&program.ops).into_iter();
        let pieces = pieces.map(|range| Piece::new(program, range, &mut histories, threads));
        let pieces = pieces.collect::<Option<_>>()?;
        let begins = begins_anew(program);
        let mut uses: SecondaryMap<Reg, u32> = program.per_register();
        let mut users: PrimaryMap<Reg, SmallVec<[u32; 4]>> = program.lists();
        let accesses = (0..).zip(&program.ops).zip(begins).map(|((index, op), begins)| {
            let mut accesses = Accesses::new();
            for reg in op.reads().chain(op.writes().filter(|_| !begins)) {
                uses[reg] += 1;
                match accesses.iter_mut().find(|(other, _)| *other == reg) {
                    Some((_, count)) => *count += 1,
                    None => {
                        accesses.push((reg, 1));
                        users[reg].push(index);
                    }
                }
            }
            accesses
        });
        let accesses = accesses.collect();
        let shares = program.ops.iter().map(Share::of).collect();
        Some(Orders { program, pieces, shares, accesses, uses, users })
    }

    /// The order that hides latency while fewer than `pressure` values are alive, and frees registers first from then
    /// on; with `r4_first`, what reads r4 comes before all that takes as many. `None` where more than `most` values would want
    /// a place at once, those that may stay in r4 left out: no allocation takes such an order.
    pub fn order(&self, pressure: usize, r4_first: bool, most: usize) -> Option<Ordered> {
        let mut lives = Lives {
            regs: &self.program.regs,
            remaining: self.uses.clone(),
            live: self.program.per_register(),
            count: 0,
            peak: 0,
            placed: 0,
            most,
        };
        let mut ops = Vec::with_capacity(self.program.ops.len());
        for piece in &self.pieces {
            let source = &self.program.ops[piece.range.clone()];
            let mut state = Order::new(self, piece, pressure, r4_first, &mut lives);
            if !state.run() {
                return None;
            }
            ops.extend(state.order.into_iter().map(|node| piece.operation(source, node)));
            ops.extend(self.program.ops.get(piece.range.end));
        }
        Some(Ordered { ops, peak: lives.peak })
    }
}

/// Operations that set what a loop carries for its next iteration. The old value may have died before; to count these
/// writes as its last use would keep it alive.
fn begins_anew(program: &VirtProgram) -> Vec<bool> {
    let mut begins = vec![false; program.ops.len()];
    let mut written: SecondaryMap<Reg, bool> = program.per_register();
    for piece in segments(&program.ops) {
        let ends_loop = program.ops.get(piece.end).is_some_and(|op| matches!(op.unit, Unit::LoopEnd(_)));
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
struct Lives<'a> {
    regs: &'a PrimaryMap<Reg, RegInfo>,
    remaining: SecondaryMap<Reg, u32>,
    live: SecondaryMap<Reg, bool>,
    count: usize,
    peak: usize,
    /// Of these, what never stays in r4, and how many such an order may have.
    placed: usize,
    most: usize,
}

impl Lives<'_> {
    /// Notes one use of a register, which lives from the first to the last. Returns whether that may matter to its other uses.
    fn access(&mut self, reg: Reg) -> bool {
        self.remaining[reg] -= 1;
        let was_live = self.live[reg];
        let live = self.remaining[reg] > 0;
        if live != self.live[reg] {
            self.live[reg] = live;
            let placed = usize::from(!self.regs[reg].places.r4);
            (self.count, self.placed) = match live {
                true => (self.count + 1, self.placed + placed),
                false => (self.count - 1, self.placed - placed),
            };
            self.peak = self.peak.max(self.count);
        }
        live && (!was_live || self.remaining[reg] <= MOST_USES)
    }
}

/// A queue whose first [`WINDOW`] entries stand in order.
struct Queue<K> {
    front: Vec<K>,
    rest: BinaryHeap<Reverse<K>>,
}

impl<K: Ord + Copy> Queue<K> {
    fn new() -> Queue<K> {
        Queue { front: Vec::with_capacity(WINDOW + 1), rest: BinaryHeap::new() }
    }

    fn insert(&mut self, key: K) {
        if self.front.len() == WINDOW && self.front.last() < Some(&key) {
            self.rest.push(Reverse(key));
            return;
        }
        let at = self.front.partition_point(|other| *other < key);
        self.front.insert(at, key);
        if self.front.len() > WINDOW {
            self.rest.extend(self.front.pop().map(Reverse));
        }
    }

    /// Removes an entry. Those that only wait for room go when they get it, if `is_gone` says so then.
    fn remove(&mut self, key: K, is_gone: impl Fn(K) -> bool) {
        let Ok(at) = self.front.binary_search(&key) else { return };
        self.front.remove(at);
        while let Some(Reverse(next)) = self.rest.pop() {
            if !is_gone(next) {
                self.front.push(next);
                break;
            }
        }
    }
}

/// Operations that wait for no other one, by height and by position.
struct Ready {
    by_height: Queue<(Reverse<u32>, usize)>,
    by_position: Queue<usize>,
}

impl Ready {
    fn new() -> Ready {
        Ready { by_height: Queue::new(), by_position: Queue::new() }
    }
}

struct Order<'a, 'p> {
    shares: &'a [Share],
    piece: &'a Piece,
    accesses: &'a [Accesses],
    users: &'a PrimaryMap<Reg, SmallVec<[u32; 4]>>,
    pressure: usize,
    r4_first: bool,
    waiting: Vec<u32>,
    /// Live values more, or less, after each operation that is ready.
    growth: Vec<i8>,
    earliest: Vec<(u32, u32)>,
    issued: Vec<bool>,
    /// What may be issued, and what may when r4 is free.
    ready: [Ready; 2],
    /// Of these, what reads r4.
    r4_ready: SmallVec<[usize; 4]>,
    /// How many of these need neither unit.
    unitless: usize,
    /// The next thread switch, when all its requests are sent.
    switch: Option<usize>,
    order: Vec<usize>,
    /// Readers of r4, r5 and the flags that issued writers still wait for.
    open: u32,
    /// Those of them that read r4.
    r4_readers: u32,
    lives: &'a mut Lives<'p>,
}

impl<'a, 'p> Order<'a, 'p> {
    fn new(
        orders: &'a Orders<'_>,
        piece: &'a Piece,
        pressure: usize,
        r4_first: bool,
        lives: &'a mut Lives<'p>,
    ) -> Self {
        let nodes = piece.dag.predecessors.len();
        let mut order = Order {
            shares: &orders.shares[piece.range.clone()],
            piece,
            accesses: &orders.accesses[piece.range.clone()],
            users: &orders.users,
            pressure,
            r4_first,
            waiting: piece.dag.predecessors.clone(),
            growth: vec![0; nodes],
            earliest: vec![(0, 0); nodes],
            issued: vec![false; nodes],
            ready: [Ready::new(), Ready::new()],
            r4_ready: SmallVec::new(),
            unitless: 0,
            switch: None,
            order: Vec::with_capacity(nodes),
            open: 0,
            r4_readers: 0,
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
        if node >= self.shares.len() {
            self.switch = Some(node);
            return;
        }
        if self.shares[node].reads_r4 {
            self.r4_ready.push(node);
        }
        self.unitless += usize::from(self.shares[node].alu == 0);
        self.growth[node] = self.growth_of(node);
        let height = self.height(node);
        let ready = &mut self.ready[usize::from(self.piece.dag.writes_r4(node))];
        ready.by_height.insert((height, node));
        ready.by_position.insert(node);
    }

    /// What comes first is higher.
    fn height(&self, node: usize) -> Reverse<u32> {
        Reverse(self.piece.dag.height[node])
    }

    /// Whether all came into an order with no more values alive than may be.
    fn run(&mut self) -> bool {
        let mut now = 0;
        while self.ready.iter().any(|ready| !ready.by_position.front.is_empty()) || self.switch.is_some() {
            let mut taken = Share::default();
            while let Some(node) = self.pick(now, taken) {
                if let Some(share) = self.shares.get(node) {
                    taken = taken.with(share);
                }
                let alone = self.is_tight();
                self.issue(node, now);
                if self.lives.placed > self.lives.most {
                    return false;
                }
                if alone {
                    break;
                }
            }
            now += 1;
        }
        true
    }

    fn is_tight(&self) -> bool {
        self.lives.count >= self.pressure
    }

    fn pick(&self, now: u32, taken: Share) -> Option<usize> {
        if self.is_tight() {
            return self.relief();
        }
        if taken.alu == Share::UNITS && self.unitless == 0 && self.switch.is_none() {
            return None;
        }
        work::count(self.allowed().iter().map(|ready| ready.by_height.front.len()).sum());
        let possible = |node: usize| {
            let room = self.shares.get(node).map_or(self.open == 0, |share| taken.leaves_room_for(share));
            room && self.earliest[node].0 <= now
        };
        let stalls = |node: usize| self.earliest[node].1 > now;
        // They stand in order of height: the first that does not stall, or else the first.
        let best = |ready: &Ready| {
            let mut first = None;
            let mut nodes =
                ready.by_height.front.iter().map(|&(_, node)| node).filter(|&node| possible(node));
            let without_stall = nodes.find(|&node| {
                first.get_or_insert(node);
                !stalls(node)
            });
            without_stall.or(first)
        };
        let best = self.allowed().iter().filter_map(best);
        let switch = self.switch.filter(|&switch| possible(switch));
        best.chain(switch).min_by_key(|&node| (stalls(node), self.height(node), node))
    }

    /// What frees registers, or takes the fewest. Latency is left to the final scheduler: to fill a wait with something
    /// that takes a register would be no relief. Of equals the first in the source: sums that are made one after the
    /// other need an accumulator each only while they are made. With `r4_first`, of equals what reads r4
    /// comes before others: it is what all requests wait for, and it may stand late in the source.
    fn relief(&self) -> Option<usize> {
        work::count(self.allowed().iter().map(|ready| ready.by_position.front.len()).sum());
        let nodes = self.allowed().iter().flat_map(|ready| ready.by_position.front.iter().copied());
        let readers = self.r4_ready.iter().copied().filter(|_| self.r4_first);
        nodes.chain(readers).chain(self.switch.filter(|_| self.open == 0)).min_by_key(|&node| self.cost(node))
    }

    /// What [`Order::relief`] goes by, as one number: it is compared more often than anything else.
    fn cost(&self, node: usize) -> i64 {
        debug_assert!(self.accesses.get(node).is_none() || self.growth[node] == self.growth_of(node));
        let comes_later = self.r4_first && !self.reads_r4(node);
        i64::from(self.growth[node]) << 33 | i64::from(comes_later) << 32 | node as i64
    }

    fn reads_r4(&self, node: usize) -> bool {
        self.shares.get(node).is_some_and(|share| share.reads_r4)
    }

    /// What leaves r4 as it is, and what writes it if it is free. What frees it waits for nothing else.
    fn allowed(&self) -> &[Ready] {
        if self.r4_readers == 0 { &self.ready } else { &self.ready[..1] }
    }

    /// Live values more, or less, after an operation.
    fn growth_of(&self, node: usize) -> i8 {
        let accesses = self.accesses[node].iter();
        let growth = accesses.map(|&(reg, accesses)| {
            let stays = self.lives.remaining[reg] > accesses;
            i8::from(stays) - i8::from(self.lives.live[reg])
        });
        growth.sum()
    }

    /// Looks again what becomes of a register when the operations that use it are issued.
    fn access(&mut self, reg: Reg, accesses: u32) {
        let mut matters = false;
        for _ in 0..accesses {
            matters |= self.lives.access(reg);
        }
        if !matters {
            return;
        }
        let users = &self.users[reg];
        work::count(users.len());
        for &user in users {
            let node = (user as usize).wrapping_sub(self.piece.range.start);
            if self.waiting.get(node) == Some(&0) && node < self.shares.len() {
                self.growth[node] = self.growth_of(node);
            }
        }
    }

    fn issue(&mut self, node: usize, now: u32) {
        self.issued[node] = true;
        let (height, issued) = (self.height(node), &self.issued);
        let ready = &mut self.ready[usize::from(self.piece.dag.writes_r4(node))];
        ready.by_height.remove((height, node), |(_, node)| issued[node]);
        ready.by_position.remove(node, |node| issued[node]);
        if let Some(share) = self.shares.get(node) {
            self.unitless -= usize::from(share.alu == 0);
        }
        self.r4_ready.retain(|&mut other| other != node);
        self.switch = self.switch.filter(|&switch| switch != node);
        self.order.push(node);
        self.open = self.open + self.piece.opens[node] - self.piece.closes[node];
        if self.piece.dag.writes_r4(node) {
            self.r4_readers += self.piece.opens[node];
        } else if self.reads_r4(node) {
            self.r4_readers -= 1;
        }
        let accesses = self.accesses;
        for &(reg, accesses) in accesses.get(node).into_iter().flatten() {
            self.access(reg, accesses);
        }
        let piece = self.piece;
        for edge in &piece.dag.successors[node] {
            let (hard, soft) = &mut self.earliest[edge.to()];
            *hard = (*hard).max(now + edge.hard());
            *soft = (*soft).max(now + edge.soft());
            self.waiting[edge.to()] -= 1;
            if self.waiting[edge.to()] == 0 {
                self.make_ready(edge.to());
            }
        }
    }
}

/// What operations take of a step: an add, a mul, a signal, a stream word.
#[derive(Clone, Copy, Default)]
struct Share {
    /// A bit per thing that a step has once.
    once: u8,
    /// Operations of the add or mul unit.
    alu: u8,
    reads_r4: bool,
}

impl Share {
    const ADD: u8 = 1;
    const MUL: u8 = 1 << 1;
    const SIGNAL: u8 = 1 << 2;
    const WORD: u8 = 1 << 3;
    /// The add unit and the mul unit.
    const UNITS: u8 = 2;

    fn of(op: &Operation) -> Share {
        let (units, alu) = match op.unit {
            Unit::Add(_) => (Share::ADD, 1),
            Unit::Mul(_) => (Share::MUL, 1),
            Unit::Move => (0, 1),
            Unit::LoadImm(_) | Unit::StreamOffset => (Share::ADD | Share::MUL, Share::UNITS),
            _ => (0, 0),
        };
        let signal = if op.signal == Signal::None { 0 } else { Share::SIGNAL };
        let word = if op.uniform().is_none() { 0 } else { Share::WORD };
        let reads_r4 = op.src.iter().any(|operand| operand.src == Src::R4);
        Share { once: units | signal | word, alu, reads_r4 }
    }

    const fn leaves_room_for(self, other: &Share) -> bool {
        self.once & other.once == 0 && self.alu + other.alu <= Share::UNITS
    }

    const fn with(self, other: &Share) -> Share {
        Share { once: self.once | other.once, alu: self.alu + other.alu, reads_r4: false }
    }
}

#[cfg(test)]
mod tests {
    use vc4::qpu::{MulOp, Raddr, RegFile, Waddr};

    use super::*;
    use crate::backend::virt::Dst;

    /// Asks the SFU for the reciprocal of a value, and gives it away.
    fn reciprocal(program: &mut VirtProgram, of: Reg) {
        let result = program.reg();
        program.ops.extend([
            Operation::mov(Dst::Port(Waddr::SFU_RECIP, None), Src::Reg(of)),
            Operation::mov(Dst::Reg(result), Src::R4),
            Operation::mov(Dst::Port(Waddr::VPM, None), Src::Reg(result)),
        ]);
    }

    #[test]
    fn what_is_in_r4_is_read_before_other_values_are_made() {
        let mut program = VirtProgram::default();
        let (a, last) = (program.reg(), program.reg());
        let vpm = Src::Port(Raddr::VPM, Some(RegFile::A));
        program.ops.extend([a, last].map(|reg| Operation::mov(Dst::Reg(reg), vpm)));
        for _ in 0..100 {
            let product = program.reg();
            program.ops.push(Operation::new(
                Unit::Mul(MulOp::Fmul),
                Dst::Reg(product),
                &[a, a].map(|reg| Src::Reg(reg).into()),
            ));
            reciprocal(&mut program, product);
        }
        // It dies of this request, which therefore could be the first: all others would wait for r4.
        reciprocal(&mut program, last);
        let orders = Orders::new(&program, Threads::One).expect("one thread is never divided");
        let peak = |r4_first| orders.order(0, r4_first, usize::MAX).expect("any number is allowed").peak;
        assert!(peak(true) <= 4, "{} values are alive", peak(true));
        assert!(peak(false) > 64, "this is no shader that needs it: {} values are alive", peak(false));
    }

    #[test]
    fn an_order_ends_where_too_many_values_are_alive() {
        let mut program = VirtProgram::default();
        let values: Vec<Reg> = (0..20).map(|_| program.reg()).collect();
        let vpm = Src::Port(Raddr::VPM, Some(RegFile::A));
        program.ops.extend(values.iter().map(|&reg| Operation::mov(Dst::Reg(reg), vpm)));
        program
            .ops
            .extend(values.iter().map(|&reg| Operation::mov(Dst::Port(Waddr::VPM, None), Src::Reg(reg))));
        let is_there = |program: &VirtProgram, most| {
            let orders = Orders::new(program, Threads::One).expect("one thread is never divided");
            orders.order(0, false, most).is_some()
        };
        let most = (0..=20).find(|&most| is_there(&program, most)).expect("there are 20 values");
        assert!(most > 0, "no value is counted");
        for info in program.regs.values_mut() {
            info.places.r4 = true;
        }
        assert!(is_there(&program, 0), "what may stay in r4 is counted");
    }
}
