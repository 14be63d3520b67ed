//! Register allocation: files A and B, the accumulators r0–r3, and r4 where a result may stay.
//!
//! Live ranges are intervals of the operation order. Accumulators go to the shortest ranges first.
//! The rest is coloured in order of definition, each value in the file where the fewest of its
//! partners live, because an operation reads at most one register of each file. A pair that still
//! ends up in one file gets a copy in front of the operation, and allocation starts again. There is
//! no spilling: a program that does not fit is an error that names the tightest point. What fits with values that move
//! between places is up to another allocator (`moving`).

use std::cmp::Reverse;

use cranelift_entity::{PrimaryMap, SecondaryMap};
use smallvec::SmallVec;

use super::conflicts::{Assignment, find_conflicts, insert_copies};
use super::idle::Idle;
use super::ranges::{Points, Range, ranges};
use super::split;
use crate::backend::bits::bits;
use crate::backend::error::BackendError;
use crate::backend::virt::{Dst, Loc, Operation, Reg, Src, Threads, Unit, VirtProgram};
use crate::ir::LineId;
use crate::work;

/// No instruction of a program's end may touch this register of either file (qpu.md §5.1 rule 3).
pub const LAST_CHOICE: u8 = 14;

/// Operations that are looked at in all rounds until values are split no more: half a second of the compiler's time on a PC.
const MOST_VISITS: usize = 1 << 22;

/// Allocates all registers of `program`, inserting copies where an operation could not read its
/// operands, and leaving out copies that became idle. Returns where the registers are, and those copies.
///
/// # Errors
/// Where too many values are alive.
pub fn allocate(program: &mut VirtProgram, threads: Threads) -> Result<(Assignment, Idle), BackendError> {
    // Each round gives values their freedom, or an operation an operand that no file holds, and either once.
    let mut visits = 0;
    for _ in 0..=program.ops.len() + program.regs.len() {
        work::count(program.ops.len());
        visits += program.ops.len();
        let allocator = Allocator::new(program, threads);
        if let Some(pressure) = allocator.overfull() {
            return Err(pressure.error(program));
        }
        let assignment = match allocator.run() {
            Ok(assignment) => assignment,
            Err(Pressure { live, .. }) if visits < MOST_VISITS && split::free(program, &live) => continue,
            Err(pressure) => return Err(pressure.error(program)),
        };
        let conflicts = find_conflicts(program, &assignment);
        if conflicts.is_empty() {
            let idle = Idle::leave_out(program, &assignment);
            return Ok((assignment, idle));
        }
        insert_copies(program, &conflicts);
    }
    Err(BackendError::RegisterConflicts)
}

/// The error of a program in whose order more values are alive than there are places.
pub fn overfull(program: &VirtProgram, threads: Threads) -> Option<BackendError> {
    Allocator::new(program, threads).overfull().map(|pressure| pressure.error(program))
}

/// The bit that [`Files`] has for a register of a file.
fn file_index(loc: Loc) -> Option<usize> {
    match loc {
        Loc::A(n) => Some(usize::from(n)),
        Loc::B(n) => Some(32 + usize::from(n)),
        Loc::Acc(_) | Loc::R4 => None,
    }
}

/// Where registers of the files are taken: per point a bit for each, file A in the low half.
struct Files {
    taken: Vec<u64>,
    /// The last point at which each was ever taken, 0 for those of the set `idle`.
    last: [u32; 64],
    idle: u64,
}

impl Files {
    fn new(points: usize) -> Files {
        Files { taken: vec![0; points], last: [0; 64], idle: !0 }
    }

    /// The registers that are taken somewhere in a range.
    fn taken(&self, range: &Range) -> u64 {
        range.parts().fold(0, |taken, (start, end)| {
            self.taken[start as usize..=end as usize].iter().fold(taken, |taken, bits| taken | bits)
        })
    }

    fn take(&mut self, register: usize, range: &Range) {
        for (start, end) in range.parts() {
            self.taken[start as usize..=end as usize].iter_mut().for_each(|bits| *bits |= 1 << register);
            self.last[register] = end.max(self.last[register]);
        }
        if self.last[register] > 0 {
            self.idle &= !(1 << register);
        }
    }

    /// Of some registers of a file, the one whose last value ended first, and when: the first of those that never had one, if there
    /// are any. The last choice comes behind all others.
    fn longest_idle(&self, free: u32, b: bool) -> Option<(bool, u32, u8)> {
        let shift = 32 * u32::from(b);
        let idle = (self.idle >> shift) as u32 & free & !(1 << LAST_CHOICE);
        if idle != 0 {
            return Some((false, 0, idle.trailing_zeros() as u8));
        }
        let last = &self.last[shift as usize..];
        bits(free).map(|n| (n == LAST_CHOICE, last[usize::from(n)], n)).min()
    }

    fn free(&mut self, register: usize, range: &Range) {
        for (start, end) in range.parts() {
            self.taken[start as usize..=end as usize].iter_mut().for_each(|bits| *bits &= !(1 << register));
        }
    }
}

pub struct Allocator<'a> {
    program: &'a VirtProgram,
    threads: Threads,
    pub ranges: SecondaryMap<Reg, Range>,
    /// Other registers that an operation reads together with this one.
    pub partners: PrimaryMap<Reg, SmallVec<[Reg; 4]>>,
    /// The register that this one is a copy of.
    pub copied_from: SecondaryMap<Reg, Option<Reg>>,
    pub assignment: Assignment,
    files: Files,
    pub accumulators: [Points; Loc::ACCUMULATORS as usize],
    /// Operations that leave something in r4, thread switches, and what divides the program.
    r4_writes: Vec<u32>,
    switches: Vec<u32>,
    markers: Vec<u32>,
}

/// Whether one of the sorted positions lies in `range`.
fn any_within(positions: &[u32], range: std::ops::Range<u32>) -> bool {
    let first = positions.partition_point(|&position| position < range.start);
    positions.get(first).is_some_and(|&position| position < range.end)
}

impl<'a> Allocator<'a> {
    pub fn new(program: &'a VirtProgram, threads: Threads) -> Self {
        let at = |test: &dyn Fn(&Operation) -> bool| {
            let found = program.ops.iter().enumerate().filter(|(_, op)| test(op));
            found.map(|(index, _)| index as u32).collect()
        };
        let points = 2 * program.ops.len() + 1;
        let mut allocator = Allocator {
            program,
            threads,
            ranges: ranges(program),
            partners: program.lists(),
            copied_from: program.per_register(),
            assignment: program.per_register(),
            files: Files::new(points),
            accumulators: std::array::from_fn(|_| Points::new(points)),
            r4_writes: at(&|op| op.r4_latency().is_some()),
            switches: at(&Operation::is_switch),
            markers: at(&Operation::is_marker),
        };
        allocator.collect_partners();
        allocator
    }

    fn collect_partners(&mut self) {
        for op in &self.program.ops {
            if let [a, b] = op.src[..] {
                if let (Src::Reg(a), Src::Reg(b)) = (a.src, b.src) {
                    if a != b {
                        self.partners[a].push(b);
                        self.partners[b].push(a);
                    }
                }
            }
            if let (Unit::Move, Dst::Reg(to), [from]) = (op.unit, op.dst, &op.src[..]) {
                if let Src::Reg(from) = from.src {
                    self.copied_from[to] = Some(from);
                }
            }
        }
    }

    fn run(mut self) -> Result<Assignment, Pressure> {
        let mut order: Vec<Reg> = self.program.regs.keys().filter(|&reg| self.ranges[reg].accessed).collect();
        for &reg in &order {
            if let Some(loc) = self.program.regs[reg].fixed {
                self.place(reg, loc);
            }
        }
        self.stay_in_r4(&order);
        // Sorted with what they are sorted by: large programs come here many times.
        let of = |&reg: &Reg| (self.ranges[reg].length(), self.ranges[reg].start, reg);
        let mut by_length: Vec<(u32, u32, Reg)> = order.iter().map(of).collect();
        by_length.sort_unstable();
        for &(_, _, reg) in &by_length {
            self.accumulator(reg);
        }
        let in_files = |reg: Reg| self.assignment[reg].is_none_or(|loc| file_index(loc).is_some());
        let by_length = by_length.into_iter().filter(|&(.., reg)| in_files(reg));
        let mut by_start: Vec<(u32, Reg)> = by_length.map(|(_, start, reg)| (start, reg)).collect();
        by_start.sort_unstable();
        order.clear();
        order.extend(by_start.iter().map(|&(_, reg)| reg));
        for &reg in &order {
            if self.assignment[reg].is_none() {
                let loc = self.file_register(reg).ok_or_else(|| self.pressure(self.ranges[reg].start))?;
                self.place(reg, loc);
            }
        }
        self.improve(&order);
        Ok(self.assignment)
    }

    /// With places only for results that stay in r4 and for values that live in one of the first `accumulators`
    /// accumulators from the first write to the last read, the shortest first: they leave the other ones idle for as long as can be.
    pub fn with_short_lived(program: &'a VirtProgram, accumulators: u8) -> Self {
        let mut allocator = Allocator::new(program, Threads::One);
        let ranges = &allocator.ranges;
        let is_free = |&reg: &Reg| ranges[reg].accessed && program.regs[reg].fixed.is_none();
        let mut order: Vec<Reg> = program.regs.keys().filter(is_free).collect();
        order.sort_by_key(|&reg| (ranges[reg].length(), ranges[reg].start, reg));
        allocator.stay_in_r4(&order);
        for reg in order {
            let range = allocator.ranges[reg];
            if allocator.assignment[reg].is_none() && program.regs[reg].places.acc {
                let first =
                    (0..accumulators).find(|&n| allocator.accumulators[usize::from(n)].is_free(&range));
                first.into_iter().for_each(|n| allocator.place(reg, Loc::Acc(n)));
            }
        }
        allocator
    }

    fn place(&mut self, reg: Reg, loc: Loc) {
        let range = self.ranges[reg];
        self.assignment[reg] = Some(loc);
        match (file_index(loc), loc) {
            (Some(register), _) => self.files.take(register, &range),
            (None, Loc::Acc(n)) => self.accumulators[usize::from(n)].take(&range),
            // What stays in r4 was found undisturbed.
            _ => {}
        }
    }

    /// Whether a thread switch stands between the first write and the last read: only the files keep such a value.
    fn crosses_switch(&self, range: &Range) -> bool {
        range.parts().any(|(start, end)| any_within(&self.switches, start / 2..end.div_ceil(2)))
    }

    /// Results of loads and the SFU that are read before r4 is needed again stay there.
    fn stay_in_r4(&mut self, order: &[Reg]) {
        for &reg in order {
            let range = self.ranges[reg];
            let (first, last) = (range.start / 2, range.end / 2);
            let from_r4 =
                self.program.ops[first as usize].src.first().map(|operand| operand.src) == Some(Src::R4);
            // The load's own instruction and an SFU request still read the old r4.
            let undisturbed = !any_within(&self.r4_writes, range.start.div_ceil(2)..range.end.div_ceil(2))
                && !any_within(&self.markers, first..last)
                && !self.crosses_switch(&range);
            if self.program.regs[reg].places.r4 && range.writes == 1 && from_r4 && undisturbed {
                self.place(reg, Loc::R4);
            }
        }
    }

    fn accumulator(&mut self, reg: Reg) {
        let range = self.ranges[reg];
        if self.assignment[reg].is_some() || !self.program.regs[reg].places.acc || self.crosses_switch(&range)
        {
            return;
        }
        let free = (0..Loc::ACCUMULATORS).filter(|&n| self.accumulators[usize::from(n)].is_free(&range));
        // The one idle for longest leaves the scheduler most freedom.
        if let Some(n) = free.min_by_key(|&n| self.accumulators[usize::from(n)].last_before(range.start)) {
            self.place(reg, Loc::Acc(n));
        }
    }

    /// Partners of `reg` that live in the file (`b` or A), or can live nowhere else.
    fn partners_in(&self, reg: Reg, b: bool) -> usize {
        work::count(self.partners[reg].len());
        self.partners[reg]
            .iter()
            .filter(|&&partner| match self.assignment[partner] {
                Some(Loc::A(_)) => !b,
                Some(Loc::B(_)) => b,
                Some(_) => false,
                None => {
                    let places = self.program.regs[partner].places;
                    if b { places.b && !places.a } else { places.a && !places.b }
                }
            })
            .count()
    }

    fn file_register(&self, reg: Reg) -> Option<Loc> {
        let places = self.program.regs[reg].places;
        let taken = self.files.taken(&self.ranges[reg]);
        if let Some(from) = self.copied_from[reg].and_then(|from| self.assignment[from]) {
            let allowed = match from {
                Loc::A(_) => places.a,
                Loc::B(_) => places.b,
                Loc::Acc(_) | Loc::R4 => false,
            };
            if allowed && file_index(from).is_some_and(|register| taken >> register & 1 == 0) {
                return Some(from);
            }
        }
        let best_of = |b: bool| {
            let free = self.free_in(taken, b);
            let (last_choice, last, n) = self.files.longest_idle(free, b)?;
            let loc = if b { Loc::B(n) } else { Loc::A(n) };
            Some(((self.partners_in(reg, b), free.count_zeros(), last_choice, last), loc))
        };
        let of_a = places.a.then(|| best_of(false)).flatten();
        let of_b = places.b.then(|| best_of(true)).flatten();
        of_a.into_iter().chain(of_b).min_by_key(|&(key, _)| key).map(|(_, loc)| loc)
    }

    /// The registers of a file that may be used and are not `taken`.
    fn free_in(&self, taken: u64, b: bool) -> u32 {
        let all = u32::MAX >> (32 - self.threads.file_registers());
        !(taken >> (32 * u32::from(b))) as u32 & all
    }

    /// Moves values between the files while that removes conflicts.
    fn improve(&mut self, order: &[Reg]) {
        for &reg in order {
            let (Some(loc), None) = (self.assignment[reg], self.program.regs[reg].fixed) else { continue };
            let in_b = match loc {
                Loc::A(_) => false,
                Loc::B(_) => true,
                _ => continue,
            };
            let places = self.program.regs[reg].places;
            let other_allowed = if in_b { places.a } else { places.b };
            if !other_allowed || self.partners_in(reg, in_b) <= self.partners_in(reg, !in_b) {
                continue;
            }
            let range = self.ranges[reg];
            let free = self.free_in(self.files.taken(&range), !in_b);
            if free != 0 {
                let n = free.trailing_zeros() as u8;
                let to = if in_b { Loc::A(n) } else { Loc::B(n) };
                file_index(loc).into_iter().for_each(|register| self.files.free(register, &range));
                self.place(reg, to);
            }
        }
    }

    /// Most values that are alive at once, those left out that were found to stay in r4.
    pub fn most_in_places(&self) -> usize {
        self.alive(|reg| self.assignment[reg] != Some(Loc::R4)).into_iter().max().unwrap_or(0)
    }

    /// How many values are alive at each point, of those that take a place.
    fn alive(&self, takes_place: impl Fn(Reg) -> bool) -> Vec<usize> {
        let points = self.files.taken.len() + 1;
        let (mut starts, mut ends) = (vec![0; points], vec![0; points]);
        for reg in self.program.regs.keys().filter(|&reg| self.ranges[reg].accessed && takes_place(reg)) {
            for (start, end) in self.ranges[reg].parts() {
                starts[start as usize] += 1;
                ends[end as usize + 1] += 1;
            }
        }
        let mut alive = 0;
        let count = |(start, end)| {
            alive = alive + start - end;
            alive
        };
        starts.into_iter().zip(ends).map(count).collect()
    }

    /// Where most values are alive, if these are more than there are places for: no assignment is worth looking for.
    fn overfull(&self) -> Option<Pressure> {
        // What may stay in r4 is left out: two values may be the same there.
        let alive = self.alive(|reg| !self.program.regs[reg].places.r4);
        let (most, Reverse(point)) = alive.into_iter().zip((0..).map(Reverse)).max()?;
        (most > self.threads.places()).then(|| self.pressure(point))
    }

    fn pressure(&self, point: u32) -> Pressure {
        let live = self.program.regs.keys().filter(|&other| self.ranges[other].contains(point)).collect();
        Pressure { operation: (point / 2) as usize, live }
    }
}

/// The point at which a value found no place.
pub struct Pressure {
    operation: usize,
    /// The values alive there.
    live: Vec<Reg>,
}

impl Pressure {
    fn error(&self, program: &VirtProgram) -> BackendError {
        let mut makers: SecondaryMap<Reg, Option<usize>> = program.per_register();
        for (index, op) in program.ops.iter().enumerate().rev() {
            op.writes().into_iter().for_each(|reg| makers[reg] = Some(index));
        }
        let mut kinds = [0; 3];
        for &reg in &self.live {
            let sources = makers[reg].map(|maker| program.ops[maker].src);
            let source = |n: usize| sources.as_ref()?.get(n).map(|operand| operand.src);
            let kind = match (sources.is_some(), source(0), source(1)) {
                (false, ..) | (_, Some(Src::R5 | Src::Port(..)), _) => 0,
                (_, Some(Src::R4), _) => 1,
                (_, _, Some(Src::R5)) => 0,
                _ => 2,
            };
            kinds[kind] += 1;
        }
        let [inputs, results, computed] = kinds;
        let mut lines = program.ops[..=self.operation].iter().rev().map(|op| op.line);
        BackendError::RegisterPressure {
            live: self.live.len(),
            inputs,
            results,
            computed,
            operation: self.operation,
            total: program.ops.len(),
            line: lines.find(|line| *line != LineId::NONE).unwrap_or_default(),
            place: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Registers that never held a value are found without a look at the others, which changes nothing.
        #[test]
        fn the_register_that_is_idle_for_longest_is_the_first_of_such(
            values in prop::collection::vec((0..64_usize, 0..90_u32, 0..10_u32), 0..80),
            free in any::<u32>(),
            b in any::<bool>(),
        ) {
            let mut files = Files::new(100);
            for (register, start, length) in values {
                files.take(register, &Range { start, end: start + length, ..Range::default() });
            }
            let last = |n: u8| files.last[usize::from(n) + if b { 32 } else { 0 }];
            let first = bits(free).map(|n| (n == LAST_CHOICE, last(n), n)).min();
            prop_assert_eq!(files.longest_idle(free, b), first);
        }
    }
}
