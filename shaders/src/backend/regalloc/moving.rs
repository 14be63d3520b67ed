//! Places for values that move: the last resort for programs that keep more values alive than the files hold.
//!
//! Elsewhere a value has one place for its whole life, and one that lives long finds no accumulator that is idle for as
//! long: the files are full while accumulators idle. Here the program is walked once. Where a value begins and no
//! register of a file is free, one of those alive moves to the accumulator that stays idle for longest, and on from
//! there when that one is wanted. What is read where its operation cannot read it is copied in front of it.
//!
//! Ways that meet have to agree where values are: what is alive where a loop or an arm begins is brought back where it
//! ends. The program that comes out has one register per place.

use std::rc::Rc;

use cranelift_entity::SecondaryMap;
use vc4::qpu::{AddOp, Pack, Unpack};

use super::allocate::{Allocator, LAST_CHOICE};
use super::conflicts::Assignment;
use super::idle::Idle;
use super::split::allowed;
use crate::backend::virt::{
    Dst, Loc, Operand, Operation, Places, Reg, RegInfo, Src, Threads, Unit, VirtProgram,
};
use crate::work;

/// How many accumulators values of short lives get for themselves, in the order of trial.
const SHORT_LIVED: [u8; 3] = [4, 3, 2];

/// Allocates all registers of a program for one thread, with moves where there is no other way; `None` if there is none.
pub fn allocate(program: &VirtProgram) -> Option<(VirtProgram, Assignment)> {
    // What stays in r4 is the same with any number of them.
    let most = Allocator::with_short_lived(program, 0).most_in_places();
    if most > Threads::One.places() {
        return None;
    }
    SHORT_LIVED.into_iter().find_map(|accumulators| {
        work::count(program.ops.len());
        let still = Allocator::with_short_lived(program, accumulators);
        let (mut moved, assignment) = Walk::new(program, still).run()?;
        Idle::leave_out(&mut moved, &assignment);
        Some((moved, assignment))
    })
}

/// A set of places, a bit each.
type Set = u128;

/// The program up to some operation.
struct Walk<'a> {
    program: &'a VirtProgram,
    /// What never moves: results in r4, short lives in accumulators; and when all values are alive.
    still: Allocator<'a>,
    /// Operations that read a part of a value, or pack it: file A has to hold it there.
    in_a: SecondaryMap<Reg, Vec<u32>>,
    /// What the kernel follows through the clamps of addresses, but not through moves.
    pinned: SecondaryMap<Reg, bool>,
    /// Where values are that may move, and who is where.
    place: SecondaryMap<Reg, Option<Loc>>,
    holder: [Option<Reg>; Loc::COUNT],
    /// Places that the operation at hand still reads though nothing is alive there behind it: its result may go there,
    /// no move in front of it.
    read_here: Set,
    /// Values alive where the loops and arms around began, and where they were.
    nests: Vec<Vec<(Reg, Loc)>>,
    moved: VirtProgram,
    /// The register that stands for each place in what comes out.
    register: [Reg; Loc::COUNT],
}

/// The place with this number ([`Loc::index`]).
fn loc(index: usize) -> Loc {
    match index {
        0..=31 => Loc::A(index as u8),
        32..=63 => Loc::B(index as u8 - 32),
        64..=67 => Loc::Acc(index as u8 - 64),
        _ => Loc::R4,
    }
}

fn bit(loc: Loc) -> Set {
    1 << loc.index()
}

fn registers(a: bool, b: bool) -> impl Iterator<Item = Loc> {
    let file = |wanted: bool, loc: fn(u8) -> Loc| (0..32).filter(move |_| wanted).map(loc);
    file(a, Loc::A).chain(file(b, Loc::B))
}

impl<'a> Walk<'a> {
    fn new(program: &'a VirtProgram, still: Allocator<'a>) -> Self {
        let mut moved = VirtProgram { words: Rc::clone(&program.words), ..VirtProgram::default() };
        moved.ops.reserve(program.ops.len());
        let register = std::array::from_fn(|index| {
            moved.regs.push(RegInfo { fixed: Some(loc(index)), places: Places::ANY })
        });
        let mut walk = Walk {
            program,
            still,
            in_a: program.per_register(),
            pinned: program.per_register(),
            place: program.per_register(),
            holder: [None; Loc::COUNT],
            read_here: 0,
            nests: Vec::new(),
            moved,
            register,
        };
        for (index, op) in program.ops.iter().enumerate() {
            for operand in op.src.iter() {
                if let (Src::Reg(reg), true) = (operand.src, operand.unpack != Unpack::Nop) {
                    walk.in_a[reg].push(index as u32);
                }
            }
            if let (Dst::Reg(reg), true) = (op.dst, packs_in_a(op)) {
                walk.in_a[reg].push(index as u32);
            }
            if op.ordered {
                op.reads().chain(op.writes()).for_each(|reg| walk.pinned[reg] = true);
            }
        }
        for (reg, info) in &program.regs {
            if let (Some(loc), true) = (info.fixed, walk.still.ranges[reg].accessed) {
                walk.hold(reg, loc);
            }
        }
        walk
    }

    fn run(mut self) -> Option<(VirtProgram, Assignment)> {
        let ends = self.ends();
        let mut ends = ends.into_iter().peekable();
        for (index, op) in self.program.ops.iter().enumerate() {
            let at = index as u32;
            while let Some((_, reg)) = ends.next_if(|&(point, _)| point < 2 * at) {
                self.release(reg);
            }
            self.read_here = 0;
            self.leave_accumulators(at)?;
            self.marker(op, at)?;
            let mut op = *op;
            self.enter_a(&op, at)?;
            self.operands(&mut op, at)?;
            while let Some((_, reg)) = ends.next_if(|&(point, _)| point == 2 * at) {
                self.read_here |= self.place[reg].map_or(0, bit);
                self.release(reg);
            }
            if let Dst::Reg(reg) = op.dst {
                self.begin(reg, at)?;
                op.dst = Dst::Reg(self.register[self.place_of(reg)?.index()]);
            }
            self.moved.ops.push(op);
        }
        let mut assignment: Assignment = self.moved.per_register();
        for (index, &reg) in self.register.iter().enumerate() {
            assignment[reg] = Some(loc(index));
        }
        Some((self.moved, assignment))
    }

    /// The points at which values that may move are alive for the last time, or before a gap, in order.
    fn ends(&self) -> Vec<(u32, Reg)> {
        let ranges = &self.still.ranges;
        let moves = |&reg: &Reg| ranges[reg].accessed && self.still.assignment[reg].is_none();
        let regs = self.program.regs.keys().filter(moves);
        let mut ends: Vec<(u32, Reg)> =
            regs.flat_map(|reg| ranges[reg].parts().map(move |(_, end)| (end, reg))).collect();
        ends.sort_unstable();
        ends
    }

    fn place_of(&self, reg: Reg) -> Option<Loc> {
        self.still.assignment[reg].or(self.place[reg])
    }

    fn hold(&mut self, reg: Reg, loc: Loc) {
        self.place[reg] = Some(loc);
        self.holder[loc.index()] = Some(reg);
    }

    fn release(&mut self, reg: Reg) {
        if let Some(loc) = self.place[reg].take() {
            self.holder[loc.index()] = None;
        }
    }

    /// Moves a value in front of the operation at hand.
    fn go(&mut self, reg: Reg, to: Loc) {
        if let Some(from) = self.place[reg] {
            let [from, to] = [from, to].map(|loc| self.register[loc.index()]);
            self.moved.ops.push(Operation::mov(Dst::Reg(to), Src::Reg(from)));
        }
        self.release(reg);
        self.hold(reg, to);
    }

    /// Whether a move in front of operation `at` may go to this place, and stay until the operation has written.
    fn is_idle(&self, loc: Loc, at: u32) -> bool {
        let still = match loc {
            Loc::Acc(n) => {
                let taken = &self.still.accumulators[usize::from(n)];
                taken.is_taken(2 * at) || taken.is_taken(2 * at + 1)
            }
            Loc::A(_) | Loc::B(_) => false,
            Loc::R4 => true,
        };
        !still && self.holder[loc.index()].is_none() && self.read_here & bit(loc) == 0
    }

    /// The point up to which a value that comes to an accumulator may stay; the last one of all if it never has to leave.
    fn stay(&self, reg: Reg, n: u8, at: u32) -> u32 {
        let wanted = self.still.accumulators[usize::from(n)].next_from(2 * at + 1).unwrap_or(u32::MAX);
        let until = wanted.min(self.next_in_a(reg, at).map_or(u32::MAX, |next| 2 * next));
        if until >= self.still.ranges[reg].end { u32::MAX } else { until }
    }

    /// The next operation that wants a value in file A.
    fn next_in_a(&self, reg: Reg, at: u32) -> Option<u32> {
        let wants = &self.in_a[reg];
        wants.get(wants.partition_point(|&want| want < at)).copied()
    }

    /// The files that may hold a value.
    fn files(&self, reg: Reg, at: u32) -> (bool, bool) {
        let Places { a, b, .. } = self.program.regs[reg].places;
        match self.pinned[reg] {
            true => (a, b),
            false => (true, self.next_in_a(reg, at).is_none()),
        }
    }

    /// The best of free registers for a value: in the file that its uses want, and where the fewest of its partners are.
    fn best(&self, reg: Reg, at: u32, is_free: impl Fn(Loc) -> bool) -> Option<Loc> {
        let (a, b) = self.files(reg, at);
        if let Some(from) = self.still.copied_from[reg].and_then(|from| self.place_of(from)) {
            if registers(a, b).any(|loc| loc == from) && is_free(from) {
                return Some(from);
            }
        }
        let Places { a: likes_a, b: likes_b, .. } = self.program.regs[reg].places;
        let partners = &self.still.partners[reg];
        work::count(partners.len());
        let in_b = |reg: Reg| self.place_of(reg).map(|loc| matches!(loc, Loc::B(_)));
        let price = |b: bool| {
            let likes = if b { likes_b } else { likes_a };
            let beside = partners.iter().filter(|&&partner| in_b(partner) == Some(b)).count();
            let free = registers(!b, b).filter(|&loc| is_free(loc)).count();
            (!likes, beside, 32 - free)
        };
        let prices = [price(false), price(true)];
        registers(a, b).filter(|&loc| is_free(loc)).min_by_key(|&loc| match loc {
            Loc::B(n) => (prices[1], n == LAST_CHOICE),
            Loc::A(n) => (prices[0], n == LAST_CHOICE),
            Loc::Acc(_) | Loc::R4 => (prices[0], true),
        })
    }

    /// The value, among those in registers of these files, and the idle accumulator in which it can stay for longest.
    fn best_to_leave(&self, (a, b): (bool, bool), at: u32) -> Option<(u32, Reg, Loc)> {
        let idle = || (0..Loc::ACCUMULATORS).filter(|&n| self.is_idle(Loc::Acc(n), at));
        let held = registers(a, b).filter_map(|loc| self.holder[loc.index()]);
        let may_leave = held.filter(|&reg| !self.pinned[reg]);
        let stays = may_leave.flat_map(|reg| idle().map(move |n| (self.stay(reg, n, at), reg, Loc::Acc(n))));
        stays.filter(|&(until, ..)| until > 2 * at + 1).max_by_key(|&(until, reg, loc)| (until, loc, reg))
    }

    /// A value that goes to the other file, where only one of them has room.
    fn best_to_change(&self, (a, b): (bool, bool), at: u32) -> Option<(Reg, Loc)> {
        let to = registers(!a, !b).find(|&loc| self.is_idle(loc, at))?;
        let mut held = registers(a, b).filter_map(|loc| self.holder[loc.index()]);
        let changes = |&reg: &Reg| !self.pinned[reg] && self.next_in_a(reg, at).is_none();
        Some((held.find(changes)?, to))
    }

    /// Makes room in one of these files for what is there from operation `at` on.
    fn make_room(&mut self, files: (bool, bool), at: u32) -> Option<Loc> {
        let (reg, to) = match self.best_to_change(files, at) {
            Some(change) => change,
            None => self.best_to_leave(files, at).map(|(_, reg, to)| (reg, to))?,
        };
        let room = self.place[reg]?;
        self.go(reg, to);
        Some(room)
    }

    /// Gives a value a place where it begins, which is what operation `at` writes.
    fn begin(&mut self, reg: Reg, at: u32) -> Option<()> {
        if self.place_of(reg).is_some() {
            return Some(());
        }
        if let Some(loc) = self.best(reg, at, |loc| self.holder[loc.index()].is_none()) {
            self.hold(reg, loc);
            return Some(());
        }
        let files = self.files(reg, at);
        // An accumulator that the operation still reads is as good as an idle one.
        let idle = |&n: &u8| {
            let loc = Loc::Acc(n);
            let taken = self.still.accumulators[usize::from(n)].is_taken(2 * at + 1);
            !taken && self.holder[loc.index()].is_none() && !self.pinned[reg]
        };
        let begins = (0..Loc::ACCUMULATORS).filter(idle).map(|n| (self.stay(reg, n, at), n));
        let begins = begins.filter(|&(until, _)| until > 2 * at + 1).max();
        let leaves = self.best_to_leave(files, at);
        match begins {
            Some((until, n)) if leaves.is_none_or(|(other, ..)| other <= until) => {
                self.hold(reg, Loc::Acc(n));
            }
            _ => {
                let room = self.make_room(files, at)?;
                self.hold(reg, room);
            }
        }
        Some(())
    }

    /// Values leave accumulators that are wanted by what stays still.
    fn leave_accumulators(&mut self, at: u32) -> Option<()> {
        for n in 0..Loc::ACCUMULATORS {
            let Some(reg) = self.holder[Loc::Acc(n).index()] else { continue };
            let taken = &self.still.accumulators[usize::from(n)];
            let ends_here = self.still.ranges[reg].end <= 2 * at;
            if taken.is_taken(2 * at) || (taken.is_taken(2 * at + 1) && !ends_here) {
                self.leave(reg, at)?;
            }
        }
        Some(())
    }

    /// Moves a value out of its accumulator: into a file if there is room, or on to another one.
    fn leave(&mut self, reg: Reg, at: u32) -> Option<()> {
        if let Some(to) = self.best(reg, at, |loc| self.is_idle(loc, at)) {
            self.go(reg, to);
            return Some(());
        }
        let idle = (0..Loc::ACCUMULATORS).filter(|&n| self.is_idle(Loc::Acc(n), at));
        let stays = idle.map(|n| (self.stay(reg, n, at), n)).filter(|&(until, _)| until > 2 * at + 1);
        match stays.max() {
            Some((_, n)) => self.go(reg, Loc::Acc(n)),
            None => {
                let room = self.make_room(self.files(reg, at), at)?;
                self.go(reg, room);
            }
        }
        Some(())
    }

    /// Brings to file A what the operation reads a part of, or packs into.
    fn enter_a(&mut self, op: &Operation, at: u32) -> Option<()> {
        let parts = op.src.iter().filter(|operand| operand.unpack != Unpack::Nop);
        let parts = parts.filter_map(|operand| match operand.src {
            Src::Reg(reg) => Some(reg),
            _ => None,
        });
        for reg in parts.chain(op.writes().filter(|_| packs_in_a(op))) {
            if !matches!(self.place[reg], Some(Loc::Acc(_) | Loc::B(_))) {
                continue;
            }
            let free = registers(true, false).find(|&loc| self.is_idle(loc, at));
            let to = free.or_else(|| self.make_room((true, false), at))?;
            self.go(reg, to);
        }
        Some(())
    }

    /// Has the operation read its operands where they are, or copies of those that it cannot read there.
    fn operands(&mut self, op: &mut Operation, at: u32) -> Option<()> {
        for reg in op.reads().collect::<Vec<_>>() {
            // What an arm or an iteration that was not taken would have set is anything.
            self.begin(reg, at)?;
        }
        let before = *op;
        let mut places = [None; 2];
        for (n, operand) in before.src.iter().enumerate() {
            let Src::Reg(reg) = operand.src else { continue };
            if n > 0 && before.src[0] == *operand {
                (op.src[n], places[n]) = (op.src[0], places[0]);
                continue;
            }
            let place = self.place_of(reg)?;
            let allowed = allowed(&before, *operand);
            let readable = match place {
                Loc::A(_) => allowed.a && !(op.mul_pack && operand.unpack != Unpack::Nop),
                Loc::B(_) => allowed.b,
                Loc::Acc(_) | Loc::R4 => true,
            };
            op.src[n].src = Src::Reg(self.register[place.index()]);
            places[n] = Some(place);
            self.read_here |= bit(place);
            if !readable {
                (op.src[n], places[n]) = self.copy(op.src[n], at)?;
            }
        }
        let same_file = match places {
            [Some(Loc::A(m)), Some(Loc::A(n))] | [Some(Loc::B(m)), Some(Loc::B(n))] => m != n,
            _ => false,
        };
        if same_file {
            let n = usize::from(op.src[1].unpack == Unpack::Nop);
            (op.src[n], _) = self.copy(op.src[n], at)?;
        }
        Some(())
    }

    /// Copies what the operation reads to an idle accumulator.
    fn copy(&mut self, operand: Operand, at: u32) -> Option<(Operand, Option<Loc>)> {
        let idle = |walk: &Self| (0..Loc::ACCUMULATORS).map(Loc::Acc).find(|&loc| walk.is_readable(loc, at));
        let to = match idle(self) {
            Some(to) => to,
            None => {
                self.clear_accumulator(at);
                idle(self)?
            }
        };
        self.read_here |= bit(to);
        let copy = self.register[to.index()];
        self.moved.ops.push(match operand.unpack {
            Unpack::Nop => Operation::mov(Dst::Reg(copy), operand),
            _ => Operation::new(Unit::Add(AddOp::Fmax), Dst::Reg(copy), &[operand, operand]),
        });
        Some((Src::Reg(copy).into(), Some(to)))
    }

    /// Whether operation `at` may read a copy in this accumulator.
    fn is_readable(&self, loc: Loc, at: u32) -> bool {
        let taken = match loc {
            Loc::Acc(n) => self.still.accumulators[usize::from(n)].is_taken(2 * at),
            _ => true,
        };
        !taken && self.holder[loc.index()].is_none() && self.read_here & bit(loc) == 0
    }

    /// Brings a value back to a file, if it is in an accumulator and there is room.
    fn clear_accumulator(&mut self, at: u32) {
        let moved = (0..Loc::ACCUMULATORS).find_map(|n| {
            let reg = self.holder[Loc::Acc(n).index()].filter(|_| self.read_here & bit(Loc::Acc(n)) == 0)?;
            let to = self.best(reg, at, |loc| self.is_idle(loc, at))?;
            Some((reg, to))
        });
        moved.into_iter().for_each(|(reg, to)| self.go(reg, to));
    }

    /// Where ways part, it is noted where values are; where they meet, values are brought back.
    fn marker(&mut self, op: &Operation, at: u32) -> Option<()> {
        match op.unit {
            Unit::LoopStart | Unit::If(_) => self.nests.push(self.alive()),
            Unit::LoopEnd(_) | Unit::EndIf => {
                let nest = self.nests.pop()?;
                self.bring_back(&nest, at)?;
            }
            Unit::Else => {
                let nest = self.nests.pop()?;
                self.bring_back(&nest, at)?;
                self.nests.push(self.alive());
            }
            _ => {}
        }
        Some(())
    }

    fn alive(&self) -> Vec<(Reg, Loc)> {
        self.holder.iter().enumerate().filter_map(|(index, held)| Some(((*held)?, loc(index)))).collect()
    }

    /// Moves values back to where they were, and out of the way what has come there.
    fn bring_back(&mut self, nest: &[(Reg, Loc)], at: u32) -> Option<()> {
        let homes: Set = nest
            .iter()
            .filter(|(reg, _)| self.place[*reg].is_some())
            .fold(0, |set, (_, loc)| set | bit(*loc));
        let anywhere = |walk: &Self, reg: Reg| {
            let accumulators = (0..Loc::ACCUMULATORS).map(Loc::Acc);
            let (a, b) = walk.files(reg, at);
            let places = registers(a, b).chain(accumulators.filter(|_| !walk.pinned[reg]));
            places.filter(|&loc| walk.is_idle(loc, at)).min_by_key(|&loc| homes & bit(loc) != 0)
        };
        loop {
            let away = |walk: &Self| {
                let mut away =
                    nest.iter().filter(|(reg, home)| walk.place[*reg].is_some_and(|place| place != *home));
                let free = away.clone().find(|(_, home)| walk.is_idle(*home, at));
                free.or_else(|| away.next()).copied()
            };
            let Some((reg, home)) = away(self) else { return Some(()) };
            // One that is in the way goes elsewhere: it is not from here, or waits for a place in turn.
            if let Some(other) = self.holder[home.index()] {
                let to = anywhere(self, other)?;
                self.go(other, to);
            }
            if !self.is_idle(home, at) {
                return None;
            }
            self.go(reg, home);
        }
    }
}

/// Whether a result is packed by file A, on its way into it.
fn packs_in_a(op: &Operation) -> bool {
    op.pack != Pack::Nop && !op.mul_pack
}
