//! Words of a buffer at places that differ by constants: all of a block share one clamped offset.
//!
//! A direct lookup wants its offset clamped so that it stays in the buffer (SHD-19), and how far that may reach is up to what is
//! added behind the clamp. Where a place outside of the buffer must not disturb lookups at others, each of `rows[3 * b]`,
//! `rows[3 * b + 1]` and the columns of `bones[b]` has a clamp of its own. Without robustBufferAccess it is the application's to see to
//! that no place is outside. Then the lowest place of a block is inside as all others are, and one clamp of it, which leaves room for
//! the highest, does for all.
//!
//! Blocks have to be those of the module: behind passes that join them a place may be computed that the module does not look at.

use std::collections::BTreeMap;

use smallvec::{SmallVec, smallvec};
use vc4::qpu::MulOp;
use vc4::qpu::alu::MUL24_BITS;

use crate::binding::{Descriptor, MAX_BUFFER_BYTES};
use crate::ir::{Block, Builder, Inst, Op, Shader, Value};
use crate::work;

/// Operations that a place is followed through.
const DEPTH: u32 = 8;
/// Terms of a place.
const TERMS: usize = 4;

/// A word as a sum of values, each times a constant, and a constant; all modulo 2^32.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    /// Sorted by value, each once, none times 0.
    terms: Terms,
    constant: u32,
}

type Terms = SmallVec<[(Value, u32); TERMS]>;

/// A lookup of a group.
struct Lookup {
    inst: Inst,
    constant: u32,
    offset: u32,
    last: u32,
}

/// Runs the pass. Returns whether anything changed.
pub fn run(shader: &mut Shader) -> bool {
    let mut changed = false;
    for block in shader.blocks_in_order() {
        let mut groups: BTreeMap<(Descriptor, Terms), Vec<Lookup>> = BTreeMap::new();
        for &inst in &shader.blocks[block].insts {
            let data = &shader.insts[inst];
            if let Op::LoadUboDynamic { buffer, offset, last } = data.op {
                let place = Place::of(shader, data.args[0], DEPTH);
                let lookup = Lookup { inst, constant: place.constant, offset, last };
                groups.entry((buffer, place.terms)).or_default().push(lookup);
            }
        }
        for ((buffer, terms), lookups) in groups {
            // A constant place is a word of the stream.
            if !terms.is_empty() {
                changed |= join(shader, block, buffer, &terms, &lookups);
            }
        }
    }
    changed
}

/// Gives the lookups of a block, which are in its order, one offset. Returns whether that is a change.
fn join(
    shader: &mut Shader,
    block: Block,
    buffer: Descriptor,
    terms: &[(Value, u32)],
    lookups: &[Lookup],
) -> bool {
    let first = &lookups[0];
    let beyond_first = |lookup: &Lookup| lookup.constant.wrapping_sub(first.constant) as i32;
    let lowest = lookups.iter().map(beyond_first).min().unwrap_or(0);
    // Modulo 2^32 like all of a place.
    let beyond = |lookup: &Lookup| beyond_first(lookup).wrapping_sub(lowest) as u32;
    let moved: Vec<(u32, u32)> = lookups
        .iter()
        .map(|lookup| {
            let beyond = beyond(lookup);
            (lookup.offset.wrapping_add(beyond), lookup.last.wrapping_add(beyond))
        })
        .collect();
    let last = moved.iter().map(|&(_, last)| last).max().unwrap_or(0);
    let lowest = Place { terms: terms.into(), constant: first.constant.wrapping_add(lowest as u32) };
    let is_same = |other: &Lookup| (other.constant, other.last) == (first.constant, first.last);
    if lookups.iter().all(is_same) && lowest.short_product().is_none() {
        return false;
    }
    let at = shader.blocks[block].insts.iter().position(|&inst| inst == first.inst);
    let rest = shader.blocks[block].insts.split_off(at.unwrap_or(0));
    let mut b = Builder::new(shader, block);
    let value = lowest.emit(&mut b);
    shader.blocks[block].insts.extend(rest);
    for (lookup, (offset, _)) in lookups.iter().zip(moved) {
        let data = &mut shader.insts[lookup.inst];
        data.op = Op::LoadUboDynamic { buffer, offset, last };
        data.args[0] = value;
    }
    true
}

impl Place {
    fn constant(constant: u32) -> Place {
        Place { terms: Terms::new(), constant }
    }

    /// Of a value, through at most so many operations.
    fn of(shader: &Shader, value: Value, depth: u32) -> Place {
        work::count(1);
        let itself = || Place { terms: smallvec![(value, 1)], constant: 0 };
        let Some(depth) = depth.checked_sub(1) else { return itself() };
        let args = shader.args(value);
        let of = |n: usize| Place::of(shader, args[n], depth);
        let constant = |n: usize| match shader.op(args[n]) {
            Op::Const(word) => Some(word),
            _ => None,
        };
        let place = match shader.op(value) {
            Op::Const(word) => Some(Place::constant(word)),
            Op::IAdd => of(0).plus(&of(1)),
            Op::ISub => of(0).plus(&of(1).times(u32::MAX)),
            Op::Shl => constant(1).filter(|&by| by < u32::BITS).map(|by| of(0).times(1 << by)),
            Op::IMul => match (constant(0), constant(1)) {
                (_, Some(by)) => Some(of(0).times(by)),
                (Some(by), None) => Some(of(1).times(by)),
                (None, None) => None,
            },
            _ => None,
        };
        place.unwrap_or_else(itself)
    }

    /// The sum; `None` if it has too many terms.
    fn plus(mut self, other: &Place) -> Option<Place> {
        for &(value, times) in &other.terms {
            match self.terms.binary_search_by_key(&value, |&(value, _)| value) {
                Ok(at) => self.terms[at].1 = self.terms[at].1.wrapping_add(times),
                Err(at) => self.terms.insert(at, (value, times)),
            }
        }
        self.terms.retain(|&mut (_, times)| times != 0);
        self.constant = self.constant.wrapping_add(other.constant);
        (self.terms.len() <= TERMS).then_some(self)
    }

    fn times(mut self, by: u32) -> Place {
        self.terms.iter_mut().for_each(|(_, times)| *times = times.wrapping_mul(by));
        self.terms.retain(|&mut (_, times)| times != 0);
        self.constant = self.constant.wrapping_mul(by);
        self
    }

    /// The value that a place is a multiple of, and the factor. Where nothing is added to the product a place in a buffer means that
    /// the value is no negative number, and one of so few bits that a single multiplication does.
    fn short_product(&self) -> Option<(Value, u32)> {
        let &[(value, times)] = &self.terms[..] else { return None };
        let times_is_plain = (MAX_BUFFER_BYTES >> MUL24_BITS..1 << MUL24_BITS).contains(&times);
        let is_nothing_added = self.constant.wrapping_neg() < MAX_BUFFER_BYTES;
        (times_is_plain && !times.is_power_of_two() && is_nothing_added).then_some((value, times))
    }

    /// Computes it, for lookups that are in the buffer.
    fn emit(&self, b: &mut Builder<'_>) -> Value {
        let scaled = |b: &mut Builder<'_>, value: Value, times: u32| match times {
            1 => value,
            times if times.is_power_of_two() => {
                let by = b.word(times.trailing_zeros());
                b.shl(value, by)
            }
            times => {
                let times = b.word(times);
                b.imul(value, times)
            }
        };
        let mut sum = None;
        for &(value, times) in &self.terms {
            let term = match self.short_product() {
                Some((value, times)) => {
                    let times = b.word(times);
                    b.op(Op::Mul(MulOp::Mul24), &[value, times])
                }
                None => scaled(b, value, times),
            };
            sum = Some(sum.map_or(term, |sum| b.iadd(sum, term)));
        }
        match (sum, self.constant) {
            (Some(sum), 0) => sum,
            (Some(sum), constant) => {
                let constant = b.word(constant);
                b.iadd(sum, constant)
            }
            (None, constant) => b.word(constant),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{BuiltinInput, Stage};

    const BUFFER: Descriptor = Descriptor { set: 0, binding: 0, element: 0 };

    /// A vertex stage that looks at `offset` from each place that `places` makes of a number, and what the pass makes of it:
    /// for each lookup its offset and the largest, and how many offsets there are.
    fn joined(places: impl FnOnce(&mut Builder<'_>, Value) -> Vec<(Value, u32)>) -> (Vec<(u32, u32)>, usize) {
        let mut shader = Shader::new(Stage::Vertex);
        let block = shader.entry().unwrap();
        let mut b = Builder::new(&mut shader, block);
        let number = b.op(Op::LoadBuiltin(BuiltinInput::VertexIndex), &[]);
        for (n, (place, offset)) in places(&mut b, number).into_iter().enumerate() {
            let word = b.op(Op::LoadUboDynamic { buffer: BUFFER, offset, last: offset }, &[place]);
            let output = crate::ir::Output::User { location: n as u32, component: 0 };
            b.store_output(output, word);
        }
        run(&mut shader);
        crate::ir::verify::verify(&shader).unwrap();
        let mut lookups = Vec::new();
        let mut values = std::collections::BTreeSet::new();
        for inst in shader.insts_in_order() {
            if let Op::LoadUboDynamic { offset, last, .. } = shader.insts[inst].op {
                lookups.push((offset, last));
                values.insert(shader.insts[inst].args[0]);
            }
        }
        (lookups, values.len())
    }

    #[test]
    fn neighbours_share_the_lowest_place() {
        let rows = |order: [u32; 3]| {
            joined(|b, number| {
                let three = b.word(3);
                let first = b.imul(number, three);
                let mut row = |n: u32| {
                    let n = b.word(n);
                    let row = b.iadd(first, n);
                    let four = b.word(4);
                    (b.shl(row, four), 64)
                };
                order.map(&mut row).into()
            })
        };
        assert_eq!(rows([0, 1, 2]), (vec![(64, 96), (80, 96), (96, 96)], 1));
        assert_eq!(rows([2, 0, 1]), (vec![(96, 96), (64, 96), (80, 96)], 1));
        // Nothing is known of the row in front of the lowest one.
        assert_eq!(rows([6, 5, 5]), (vec![(80, 80), (64, 80), (64, 80)], 1));
    }

    #[test]
    fn members_and_columns_share_their_element() {
        let members = joined(|b, number| {
            let stride = b.word(48);
            let place = b.imul(number, stride);
            vec![(place, 0), (place, 16), (place, 44)]
        });
        assert_eq!(members, (vec![(0, 44), (16, 44), (44, 44)], 1));
    }

    #[test]
    fn other_elements_have_offsets_of_their_own() {
        let apart = joined(|b, number| {
            let (four, five) = (b.word(4), b.word(5));
            vec![(b.shl(number, four), 0), (b.shl(number, five), 0), (number, 0), (four, 0)]
        });
        assert_eq!(apart, (vec![(0, 0); 4], 4));
    }

    #[test]
    fn products_are_short_where_the_number_is_no_negative_one() {
        let is_short = |before: u32| {
            let mut shader = Shader::new(Stage::Vertex);
            let block = shader.entry().unwrap();
            let mut b = Builder::new(&mut shader, block);
            let number = b.op(Op::LoadBuiltin(BuiltinInput::VertexIndex), &[]);
            let (before, stride) = (b.word(before), b.word(48));
            let element = b.isub(number, before);
            let place = b.imul(element, stride);
            b.emit(Op::LoadUboDynamic { buffer: BUFFER, offset: 64, last: 64 }, &[place]);
            run(&mut shader);
            let inst = shader
                .insts_in_order()
                .into_iter()
                .find(|&inst| shader.insts[inst].op.is(Op::Mul(MulOp::Mul24)));
            inst.is_some()
        };
        // The number is that of an element, of the one behind it, or of the one in front of it, which the first has none.
        assert_eq!([0, 1, u32::MAX].map(is_short), [true, true, false]);
    }

    #[test]
    fn differences_wrap() {
        let around = joined(|b, number| {
            let (one, four) = (b.word(1), b.word(4));
            let before = b.op(Op::ISub, &[number, one]);
            vec![(b.shl(number, four), 32), (b.shl(before, four), 32)]
        });
        assert_eq!(around, (vec![(48, 48), (32, 48)], 1));
    }
}
