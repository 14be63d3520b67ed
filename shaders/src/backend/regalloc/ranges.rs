//! When values are alive: intervals of the operation order, with a gap for what a loop carries.

use cranelift_entity::SecondaryMap;

use crate::backend::virt::{Operation, Reg, Unit, VirtProgram, segments};

/// When a value is live, in points: operation i reads at 2i and writes at 2i + 1.
#[derive(Clone, Copy, Debug, Default)]
pub struct Range {
    pub start: u32,
    pub end: u32,
    pub writes: u32,
    pub accessed: bool,
    /// The points around a gap: the last one before and the first one behind. A value that a loop carries is not
    /// alive between its last use in an iteration and where the next one comes in.
    pub gap: Option<(u32, u32)>,
}

impl Range {
    pub fn length(&self) -> u32 {
        self.end - self.start
    }

    /// First and last points of what is left and right of the gap.
    pub fn parts(&self) -> impl Iterator<Item = (u32, u32)> {
        let (first, second) = match self.gap {
            Some((last, next)) => ((self.start, last), Some((next, self.end))),
            None => ((self.start, self.end), None),
        };
        [Some(first), second].into_iter().flatten()
    }

    pub fn contains(&self, point: u32) -> bool {
        self.accessed && self.parts().any(|(start, end)| start <= point && point <= end)
    }
}

/// Where an accumulator is taken: a bit per point.
pub struct Points(Vec<u64>);

impl Points {
    pub fn new(points: usize) -> Points {
        Points(vec![0; points.div_ceil(64)])
    }

    /// The words that hold the points of `part`, first and last included, and its bits in each.
    fn masks((start, end): (u32, u32)) -> impl Iterator<Item = (usize, u64)> {
        let (first, last) = (start / 64, end / 64);
        (first..=last).map(move |word| {
            let from = if word == first { !0 << (start % 64) } else { !0 };
            let to = if word == last { !0 >> (63 - end % 64) } else { !0 };
            (word as usize, from & to)
        })
    }

    pub fn is_free(&self, range: &Range) -> bool {
        range.parts().flat_map(Points::masks).all(|(word, mask)| self.0[word] & mask == 0)
    }

    pub fn take(&mut self, range: &Range) {
        range.parts().flat_map(Points::masks).for_each(|(word, mask)| self.0[word] |= mask);
    }

    /// Whether a point is taken.
    pub fn is_taken(&self, point: u32) -> bool {
        self.0.get(point as usize / 64).is_some_and(|word| word >> (point % 64) & 1 != 0)
    }

    /// The first point from `point` on that is taken.
    pub fn next_from(&self, point: u32) -> Option<u32> {
        let first = point as usize / 64;
        let masks = std::iter::once(!0 << (point % 64)).chain(std::iter::repeat(!0));
        let mut words = self.0.iter().enumerate().skip(first).zip(masks);
        words.find_map(|((word, bits), mask)| {
            let taken = bits & mask;
            (taken != 0).then(|| 64 * word as u32 + taken.trailing_zeros())
        })
    }

    /// The last point before `point` that is taken.
    pub fn last_before(&self, point: u32) -> Option<u32> {
        let below =
            |word: u32, mask: u64| (self.0[word as usize] & mask).checked_ilog2().map(|bit| 64 * word + bit);
        let (word, bit) = (point / 64, point % 64);
        below(word, (1 << bit) - 1).or_else(|| (0..word).rev().find_map(|word| below(word, !0)))
    }
}

/// When each register is alive.
pub fn ranges(program: &VirtProgram) -> SecondaryMap<Reg, Range> {
    let mut ranges: SecondaryMap<Reg, Range> = program.per_register();
    let mut touch = |reg: Reg, point: u32, write: bool| {
        let range = &mut ranges[reg];
        if !range.accessed {
            let live_in = program.regs[reg].fixed.is_some();
            let start = if live_in { 0 } else { point };
            *range = Range { start, end: point, accessed: true, ..Range::default() };
        }
        range.end = range.end.max(point);
        range.writes += u32::from(write);
    };
    for (index, op) in program.ops.iter().enumerate() {
        let point = 2 * index as u32;
        op.reads().for_each(|reg| touch(reg, point, false));
        op.writes().into_iter().for_each(|reg| touch(reg, point + 1, true));
    }
    extend_over_loops(program, &mut ranges);
    find_gaps(program, &mut ranges);
    ranges
}

/// Most values that are alive where pieces of the program meet, those left out that may stay in r4 or are carried by a loop, which may
/// share their registers with what comes next: so many places it takes in whatever order its pieces are.
pub fn least_places(program: &VirtProgram) -> usize {
    let markers: Vec<u32> =
        (0..).zip(&program.ops).filter(|(_, op)| op.is_marker()).map(|(index, _)| 2 * index).collect();
    let mut is_left_out: SecondaryMap<Reg, bool> = program.per_register();
    program.regs.iter().for_each(|(reg, info)| is_left_out[reg] = info.places.r4);
    for piece in segments(&program.ops) {
        if program.ops.get(piece.end).is_some_and(|op| matches!(op.unit, Unit::LoopEnd(_))) {
            let copies = program.ops[piece].iter().filter(|op| op.unit == Unit::Move);
            copies.filter_map(Operation::writes).for_each(|reg| is_left_out[reg] = true);
        }
    }
    let mut changes = vec![0_i32; markers.len() + 1];
    let ranges = ranges(program);
    for reg in program.regs.keys().filter(|&reg| !is_left_out[reg]) {
        for (start, end) in ranges[reg].parts().filter(|_| ranges[reg].accessed) {
            changes[markers.partition_point(|&marker| marker < start)] += 1;
            changes[markers.partition_point(|&marker| marker <= end)] -= 1;
        }
    }
    let alive = changes.into_iter().scan(0, |alive, change| {
        *alive += change;
        Some(*alive)
    });
    alive.max().unwrap_or(0) as usize
}

/// What a loop carries and sets anew in its last straight piece is free from its last use before that.
fn find_gaps(program: &VirtProgram, ranges: &mut SecondaryMap<Reg, Range>) {
    let mut starts = Vec::new();
    for piece in segments(&program.ops) {
        match program.ops.get(piece.end).map(|op| op.unit) {
            Some(Unit::LoopStart) => starts.push(piece.end),
            Some(Unit::LoopEnd(_)) => {
                let start = starts.pop().expect("loops nest");
                // Per register the first write of an iteration, how many there are, and the last read up to the first.
                let mut found: SecondaryMap<Reg, (usize, usize, usize)> = SecondaryMap::new();
                for (index, op) in program.ops[start..piece.end].iter().enumerate() {
                    for reg in op.reads() {
                        let (_, writes, read) = &mut found[reg];
                        *read = if *writes == 0 { start + index } else { *read };
                    }
                    if let Some(reg) = op.writes() {
                        let (first, count, _) = &mut found[reg];
                        *first = if *count == 0 { start + index } else { *first };
                        *count += 1;
                    }
                }
                for index in piece.clone() {
                    let op = &program.ops[index];
                    let Some(reg) = op.writes() else { continue };
                    let (first, count, read) = found[reg];
                    let last = 2 * read.max(piece.start) as u32;
                    let next = 2 * index as u32 + 1;
                    let range = &mut ranges[reg];
                    let carried = range.start < 2 * start as u32 && range.end >= 2 * piece.end as u32;
                    let begins = first == index && count == 1 && !op.is_partial();
                    if carried && begins && range.gap.is_none() && last + 1 < next {
                        range.gap = Some((last, next));
                    }
                }
            }
            _ => {}
        }
    }
}

/// What comes into a loop and is used there is needed by every iteration.
fn extend_over_loops(program: &VirtProgram, ranges: &mut SecondaryMap<Reg, Range>) {
    let mut starts = Vec::new();
    for (end, op) in program.ops.iter().enumerate() {
        match op.unit {
            Unit::LoopStart => starts.push(end),
            Unit::LoopEnd(_) => {
                let start = starts.pop().expect("loops nest");
                for op in &program.ops[start..end] {
                    for reg in op.reads().chain(op.writes()) {
                        let range = &mut ranges[reg];
                        if range.start < 2 * start as u32 {
                            range.end = range.end.max(2 * end as u32 + 1);
                        }
                    }
                }
            }
            _ => {}
        }
    }
}
