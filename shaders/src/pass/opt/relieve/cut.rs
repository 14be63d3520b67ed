//! The fewest values that others can be made of.
//!
//! What is used behind a place is kept up to there, or made again behind it of what is. Whatever an order does, on each way from
//! what cannot be made again to a value that is used there is one that is kept: as many as there are ways that have no value in
//! common (Menger). Such ways are looked for one by one, each of which may turn those before it aside.

use std::collections::VecDeque;

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use rustc_hash::FxHashMap;

use crate::ir::Value;
use crate::work;

/// How far from what is wanted values are kept: a few instructions are made again rather than many.
const DISTANCES: [u32; 7] = [1, 2, 4, 8, 16, 32, u32::MAX];

/// How values are made.
struct Making<O, R> {
    operands: O,
    is_root: R,
}

/// Values of which all that are `wanted` can be made: up to `most`, near to them, or as few as there can be; `None` if even these
/// are more than `limit`. `operands` are those in registers of the instruction that makes a value, which is not made again if it
/// `is_fixed`.
pub fn kept<I: Iterator<Item = Value>>(
    wanted: &[Value],
    operands: impl Fn(Value) -> I,
    is_fixed: impl Fn(Value) -> bool,
    most: usize,
    limit: usize,
) -> Option<Vec<Value>> {
    let distances = distances(wanted, &operands, &is_fixed);
    let mut marks = Marks::default();
    let mut least = |far: u32, most: usize| {
        let is_root = |value| is_fixed(value) || distances[&value] >= far;
        least(wanted, Making { operands: &operands, is_root }, most, &mut marks)
    };
    let fewest = least(u32::MAX, limit)?;
    let most = most.max(fewest.len());
    DISTANCES.into_iter().find_map(|far| least(far, most))
}

/// Whether there are values, no more than `limit`, of which all that are `wanted` can be made; see [`kept`].
pub fn is_enough<I: Iterator<Item = Value>>(
    wanted: &[Value],
    operands: impl Fn(Value) -> I,
    is_fixed: impl Fn(Value) -> bool,
    limit: usize,
) -> bool {
    least(wanted, Making { operands, is_root: is_fixed }, limit, &mut Marks::default()).is_some()
}

/// How many instructions stand between each value and one that is wanted.
fn distances<I: Iterator<Item = Value>>(
    wanted: &[Value],
    operands: impl Fn(Value) -> I,
    is_fixed: impl Fn(Value) -> bool,
) -> FxHashMap<Value, u32> {
    let mut distances: FxHashMap<Value, u32> = wanted.iter().map(|&value| (value, 0)).collect();
    let mut open: VecDeque<Value> = wanted.iter().copied().collect();
    while let Some(value) = open.pop_front() {
        if is_fixed(value) {
            continue;
        }
        let next = distances[&value] + 1;
        for operand in operands(value) {
            distances.entry(operand).or_insert_with(|| {
                open.push_back(operand);
                next
            });
        }
    }
    work::count(distances.len());
    distances
}

/// A value on its way: where it is wanted, and where it is made, if it is not kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Wanted(Value),
    Made(Value),
}

/// What ways leave at values. The tables are as large as the shader: they are made once for several looks for ways.
#[derive(Default)]
struct Marks {
    /// Whether a way goes through a value, and which value wants it on this way.
    taken: SecondaryMap<Value, bool>,
    wants: SecondaryMap<Value, PackedOption<Value>>,
    /// Values that ways came to.
    on_ways: Vec<Value>,
    /// The search that came to each side of a value last, of all that there were.
    search: u32,
    wanted: SecondaryMap<Value, u32>,
    made: SecondaryMap<Value, u32>,
}

impl Marks {
    /// Takes all ways away.
    fn clear(&mut self) {
        for value in self.on_ways.drain(..) {
            self.taken[value] = false;
            self.wants[value] = None.into();
        }
        self.search += 1;
    }
}

/// Ways from wanted values to roots.
struct Ways<'a, O, R> {
    making: Making<O, R>,
    marks: &'a mut Marks,
    /// Where the search under way came to, and from which step.
    steps: Vec<(Side, usize)>,
}

/// The fewest values of which all that are `wanted` can be made, of such those nearest to them; `None` if they are more than
/// `most`.
fn least<I, O, R>(
    wanted: &[Value],
    making: Making<O, R>,
    most: usize,
    marks: &mut Marks,
) -> Option<Vec<Value>>
where
    I: Iterator<Item = Value>,
    O: Fn(Value) -> I,
    R: Fn(Value) -> bool,
{
    marks.clear();
    let mut ways = Ways { making, marks, steps: Vec::new() };
    let mut count = 0;
    for &value in wanted {
        if ways.search(value) {
            count += 1;
            if count > most {
                return None;
            }
            ways.marks.search += 1;
        }
    }
    // What is still to be reached can be made of what is not made itself.
    ways.marks.search += 1;
    wanted.iter().for_each(|&value| {
        ways.search(value);
    });
    let Marks { search, wanted, made, .. } = &*ways.marks;
    let ends = |value: &Value| wanted[*value] == *search && made[*value] != *search;
    Some(wanted.keys().filter(ends).collect())
}

impl<I, O, R> Ways<'_, O, R>
where
    I: Iterator<Item = Value>,
    O: Fn(Value) -> I,
    R: Fn(Value) -> bool,
{
    /// Looks for one more way, from `value` to a root, and takes it. What a search has seen in vain others need not see until
    /// there is a new way.
    fn search(&mut self, value: Value) -> bool {
        self.steps.clear();
        self.come(Side::Wanted(value), usize::MAX);
        let mut open: Vec<usize> = (0..self.steps.len()).collect();
        while let Some(at) = open.pop() {
            let first = self.steps.len();
            match self.steps[at].0 {
                Side::Wanted(value) if !self.marks.taken[value] => self.come(Side::Made(value), at),
                // The way through it may begin here, and what wanted it up to now be made of something else.
                Side::Wanted(value) => {
                    if let Some(user) = self.marks.wants[value].expand() {
                        self.come(Side::Made(user), at);
                    }
                }
                Side::Made(value) if (self.making.is_root)(value) => {
                    self.take(at);
                    return true;
                }
                Side::Made(value) => {
                    work::count(1);
                    (self.making.operands)(value).for_each(|operand| self.come(Side::Wanted(operand), at));
                    if self.marks.taken[value] {
                        self.come(Side::Wanted(value), at);
                    }
                }
            }
            open.extend(first..self.steps.len());
        }
        false
    }

    /// Notes where a search comes to, if it was not there.
    fn come(&mut self, side: Side, from: usize) {
        let seen = match side {
            Side::Wanted(value) => &mut self.marks.wanted[value],
            Side::Made(value) => &mut self.marks.made[value],
        };
        if *seen != self.marks.search {
            *seen = self.marks.search;
            self.steps.push((side, from));
        }
    }

    /// Takes the way that ends with a step.
    fn take(&mut self, end: usize) {
        let mut at = end;
        let mut way = Vec::new();
        while let Some(&(side, from)) = self.steps.get(at) {
            way.push(side);
            at = from;
        }
        way.reverse();
        let Marks { taken, wants, on_ways, .. } = &mut *self.marks;
        if let Some(&Side::Wanted(first)) = way.first() {
            wants[first] = None.into();
        }
        for pair in way.windows(2) {
            match *pair {
                [Side::Wanted(value), Side::Made(same)] if value == same => {
                    on_ways.push(value);
                    taken[value] = true;
                }
                [Side::Made(value), Side::Wanted(same)] if value == same => taken[value] = false,
                [Side::Made(value), Side::Wanted(operand)] => {
                    on_ways.push(operand);
                    wants[operand] = value.into();
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use cranelift_entity::EntityRef;

    use super::*;

    /// What is kept of values that are made as listed, of roots where nothing is.
    fn kept_of(makers: &[&[usize]], wanted: &[usize], most: usize, limit: usize) -> Option<Vec<usize>> {
        let values = |of: &[usize]| of.iter().map(|&n| Value::new(n)).collect::<Vec<_>>();
        let operands: Vec<Vec<Value>> = makers.iter().map(|of| values(of)).collect();
        let is_fixed = |value: Value| operands[value.index()].is_empty();
        let kept =
            kept(&values(wanted), |value| operands[value.index()].iter().copied(), is_fixed, most, limit)?;
        Some(kept.into_iter().map(EntityRef::index).collect())
    }

    #[test]
    fn products_are_made_of_their_factors() {
        let makers: [&[usize]; 9] = [&[], &[], &[], &[0, 1], &[1, 2], &[0, 2], &[0, 1], &[1, 2], &[0, 2]];
        assert_eq!(kept_of(&makers, &[3, 4, 5, 6, 7, 8], 3, 9), Some(vec![0, 1, 2]));
        assert_eq!(kept_of(&makers, &[3, 4, 5, 6, 7, 8], 0, 2), None, "there is no way with two");
        assert_eq!(kept_of(&makers, &[3, 4], 0, 9), Some(vec![3, 4]), "their factors are more");
    }

    #[test]
    fn what_is_near_is_kept() {
        // 4 and 5 are made of 3, at the end of a chain from 0.
        let makers: [&[usize]; 6] = [&[], &[0], &[1], &[2], &[3], &[3]];
        assert_eq!(kept_of(&makers, &[4, 5], 1, 9), Some(vec![3]));
    }

    #[test]
    fn later_ways_turn_earlier_ones_aside() {
        // 3 finds 0 through 2 first, which is the only way of 4.
        let makers: [&[usize]; 5] = [&[], &[], &[0], &[1, 2], &[2]];
        assert_eq!(kept_of(&makers, &[3, 4], 0, 9), Some(vec![3, 4]));
        let makers: [&[usize]; 6] = [&[], &[], &[0], &[1, 2], &[2], &[1, 2]];
        assert_eq!(kept_of(&makers, &[3, 4, 5], 2, 9), Some(vec![1, 2]));
    }
}
