//! Full precision only where it can be seen.
//!
//! A colour of eight bits per component may be either of the two numbers next to the exact one (Vulkan 1.0, conversion
//! to normalized fixed point). So what only such colours depend on may take the SFU's estimates as long as their errors make
//! less than half a step together; a quarter is used.
//!
//! What an error becomes is followed backwards, from colours to what computes them: how much a component changes at most for
//! an absolute error of a value, and for a relative one. Products hand relative errors on whatever the other factor is, sums of
//! different signs only absolute ones; bounds of the values make one of the other. Those are bounds of what is computed, and
//! of what is seen: beyond 0 and 1 a colour does not change, so 1 - x is looked at for x from 0 to 1, whatever x may be.

use std::f32::consts::{LN_2, LOG2_E};

use cranelift_entity::{EntitySet, SecondaryMap};

use crate::ir::{Inst, Op, Shader, Value};
use crate::pass::analysis::bounds::Ranges;
use crate::pass::analysis::range::Range;

/// Error that a component may have: a quarter of a step.
const BUDGET: f32 = 0.25 / 255.0;

/// Relative error of the estimate of a reciprocal (qpu.md §4.4), the operand's loss of bits included.
pub const RECIP: f32 = 0.000_1;
/// That of a reciprocal root.
pub const RSQRT: f32 = 0.000_11;
/// That of a power of two.
pub const EXP2: f32 = 0.000_14;
/// Absolute error of the estimate of a logarithm.
pub const LOG2: f32 = 0.000_17;
/// Absolute error of the short series of a sine.
pub const SINE: f32 = 0.000_02;

/// Marks operations whose estimate is good enough.
pub fn run(shader: &mut Shader) {
    let order = shader.insts_in_order();
    let has_colors = order.iter().any(|&inst| shader.insts[inst].op.is(Op::PackUnorm8x4));
    if !has_colors || !order.iter().any(|&inst| cost(shader.insts[inst].op) > 0) {
        return;
    }
    let influences = Influences::of(shader, &order);
    let mut estimates: Vec<(f32, Inst, [f32; 4])> = Vec::new();
    for &inst in &order {
        let data = &shader.insts[inst];
        let &[value] = &data.results[..] else { continue };
        let errors = influences.errors(shader, value);
        let most = errors.into_iter().fold(0.0, f32::max);
        // What no colour sees has no errors, and is needed by something else.
        if cost(data.op) > 0 && most > 0.0 && most <= BUDGET {
            estimates.push((most / cost(data.op) as f32, inst, errors));
        }
    }
    // Those come first that save most for their errors.
    estimates.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut sums = [0.0; 4];
    for (_, inst, errors) in estimates {
        let with = std::array::from_fn(|component| sums[component] + errors[component]);
        if with.iter().all(|&sum| sum <= BUDGET) {
            sums = with;
            shader.insts[inst].relaxed = true;
        }
    }
}

/// Instructions that an estimate saves, about; 0 for what has none.
fn cost(op: Op) -> u32 {
    match op {
        Op::FLog2 => 15,
        Op::FExp2 => 10,
        Op::FDiv | Op::FSqrt | Op::FRsqrt | Op::FInverseLength => 4,
        Op::FSin | Op::FCos => 2,
        _ => 0,
    }
}

/// What a component of a colour changes by, at most, for a small error of a value; for each component.
#[derive(Clone, Copy, Default)]
struct Influence {
    /// For each unit of an absolute error.
    absolute: [f32; 4],
    /// For each unit of a relative error.
    relative: [f32; 4],
}

impl Influence {
    /// Something else than a colour sees the value: no error is small enough.
    const UNBOUNDED: Influence = Influence { absolute: [f32::INFINITY; 4], relative: [f32::INFINITY; 4] };

    /// Both forms by factors; what is no number is unbounded.
    fn scaled(self, absolute: f32, relative: f32) -> Influence {
        Influence {
            absolute: self.absolute.map(|influence| product(influence, absolute)),
            relative: self.relative.map(|influence| product(influence, relative)),
        }
    }

    /// With what bounds of the value say of one form by the other.
    fn within(self, range: Range) -> Influence {
        let (least, most) = (range.least(), range.most());
        Influence {
            absolute: std::array::from_fn(|n| self.absolute[n].min(product(self.relative[n], 1.0 / least))),
            relative: std::array::from_fn(|n| self.relative[n].min(product(self.absolute[n], most))),
        }
    }

    fn add(&mut self, other: Influence) {
        for n in 0..4 {
            self.absolute[n] += other.absolute[n];
            self.relative[n] += other.relative[n];
        }
    }
}

/// A product of two bounds: nothing is made of nothing, and unknown is unknown.
fn product(a: f32, b: f32) -> f32 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

/// The influences of all values.
struct Influences {
    ranges: Ranges,
    of: SecondaryMap<Value, Influence>,
    /// Beyond these bounds all numbers of a sign make the same colours.
    seen: SecondaryMap<Value, Option<Range>>,
}

impl Influences {
    fn of(shader: &Shader, order: &[Inst]) -> Influences {
        let ranges = Ranges::of(shader, order);
        let mut influences = Influences { ranges, of: SecondaryMap::new(), seen: SecondaryMap::new() };
        // What is written as it is.
        let mut words: EntitySet<Value> = EntitySet::new();
        // Uses that may stand in front of what they use.
        for &inst in order.iter().filter(|&&inst| shader.insts[inst].op.is(Op::Phi)) {
            shader.insts[inst].args.iter().for_each(|&arg| influences.unbound(arg));
        }
        crate::ir::for_each_condition(&shader.body, &mut |condition| {
            influences.of[condition] = Influence::UNBOUNDED;
        });
        for &inst in order.iter().rev() {
            let data = &shader.insts[inst];
            let is_word = data.results.first().is_some_and(|&result| words.contains(result));
            match data.op {
                Op::TlbColorWrite | Op::TlbColorWriteSample => words.extend(data.args.iter().copied()),
                Op::PackUnorm8x4 if is_word && influences.is_seen_by_words_only(data.results[0]) => {
                    for (component, &arg) in data.args.iter().enumerate() {
                        // Beyond the ends of their range colours do not change.
                        let mut color = Influence::default();
                        (color.absolute[component], color.relative[component]) = (1.0, 1.0);
                        influences.see(arg, Range::UNIT);
                        influences.add(arg, color);
                    }
                }
                Op::Select if is_word => {
                    influences.of[data.args[0]] = Influence::UNBOUNDED;
                    words.extend(data.args[1..].iter().copied());
                    // A word that is something else, too, is as good as unbounded for what it is made of.
                    if !influences.is_seen_by_words_only(data.results[0]) {
                        data.args.iter().for_each(|&arg| influences.unbound(arg));
                    }
                }
                // A word that is no colour is seen to its last bit, whatever colours make of it besides.
                _ if is_word => {
                    let seen = data.results.iter().chain(&data.args);
                    seen.for_each(|&value| influences.unbound(value));
                }
                _ => {
                    influences.look(shader, inst);
                    influences.follow(shader, inst);
                }
            }
        }
        influences
    }

    /// Whether nothing but words of colours takes a value.
    fn is_seen_by_words_only(&self, value: Value) -> bool {
        self.of[value].absolute == [0.0; 4]
    }

    fn add(&mut self, value: Value, influence: Influence) {
        let influence = influence.within(self.ranges.range(value));
        self.of[value].add(influence);
    }

    /// Something else than colours sees a value.
    fn unbound(&mut self, value: Value) {
        self.of[value] = Influence::UNBOUNDED;
        self.seen[value] = Some(Range::ALL);
    }

    /// One more use sees these numbers of a value.
    fn see(&mut self, value: Value, range: Range) {
        let seen = &mut self.seen[value];
        *seen = Some(seen.map_or(range, |other| other.hull(range)));
    }

    /// Bounds of what is computed and seen of a value whose uses are all known.
    fn visible(&self, value: Value) -> Range {
        let range = self.ranges.range(value);
        self.seen[value].map_or(range, |seen| range.clamped(seen))
    }

    /// Hands what is seen of an instruction's result on to its operands.
    fn look(&mut self, shader: &Shader, inst: Inst) {
        let data = &shader.insts[inst];
        let seen = match (&data.results[..], data.op) {
            // What phis merge may be used in front of them.
            (&[result], op) if op != Op::Phi => self.visible(result),
            _ => Range::ALL,
        };
        let constant = |n: usize| shader.const_of(data.args[n]).map(f32::from_bits);
        for (n, &arg) in data.args.iter().enumerate() {
            let other = (data.args.len() == 2).then(|| constant(1 - n)).flatten();
            let range = match (data.op, other) {
                (Op::FAdd, Some(c)) => seen.moved(-c),
                (Op::FSub, Some(c)) if n == 0 => seen.moved(c),
                (Op::FSub, Some(c)) => seen.moved(-c).negated(),
                (Op::FMul, Some(c)) if c.is_normal() => seen.scaled(1.0 / c),
                (Op::FNeg, _) => seen.negated(),
                (Op::FMin | Op::FMax, _) => seen,
                (Op::Select, _) if n > 0 => seen,
                (Op::FExp2, _) if seen.high > 0.0 => seen.log2(),
                _ => Range::ALL,
            };
            self.see(arg, range);
        }
    }

    /// Hands what is known of an instruction's result on to its operands.
    fn follow(&mut self, shader: &Shader, inst: Inst) {
        let data = &shader.insts[inst];
        let result = match data.results[..] {
            [result] => self.of[result].within(self.visible(result)),
            _ => Influence::UNBOUNDED,
        };
        let args = &data.args[..];
        let range = |n: usize| self.ranges.range(args[n]);
        let own: [Influence; 2] = match data.op {
            Op::FMul if args[0] == args[1] => [result.scaled(range(0).most(), 1.0); 2],
            Op::FMul => [result.scaled(range(1).most(), 1.0), result.scaled(range(0).most(), 1.0)],
            Op::FAdd | Op::FSub => {
                let same = match data.op {
                    Op::FAdd => range(0).has_sign_of(range(1)),
                    _ => range(0).has_sign_of(range(1).negated()),
                };
                // Sums of numbers of one sign have no larger relative error than the numbers.
                [result.scaled(1.0, if same { 1.0 } else { f32::INFINITY }); 2]
            }
            Op::FMin | Op::FMax | Op::FNeg | Op::FAbs => [result; 2],
            Op::FDiv => {
                let inverse = 1.0 / range(1).least();
                let quotient = self.ranges.range(data.results[0]).most();
                [result.scaled(inverse, 1.0), result.scaled(product(quotient, inverse), 1.0)]
            }
            Op::FSqrt | Op::FRsqrt | Op::FInverseLength => [result.scaled(f32::INFINITY, 0.5); 2],
            // Logarithms make absolute errors of relative ones, powers of two relative errors of absolute ones.
            Op::FLog2 => {
                let relative = result.absolute.map(|influence| product(influence, LOG2_E));
                [Influence { absolute: unknown(relative), relative }; 2]
            }
            Op::FExp2 => {
                let absolute = result.relative.map(|influence| product(influence, LN_2));
                let most = most_of_product(self.visible(args[0]));
                let relative = result.absolute.map(|influence| product(influence, LN_2 * most));
                [Influence { absolute, relative }; 2]
            }
            Op::FSin | Op::FCos => [result.scaled(1.0, f32::INFINITY); 2],
            Op::Select => {
                self.of[args[0]] = Influence::UNBOUNDED;
                self.add(args[1], result);
                self.add(args[2], result);
                return;
            }
            // Nothing that has no effect is looked at by what nothing looks at.
            _ if data.op.is_pure() && result.absolute == [0.0; 4] => return,
            _ => [Influence::UNBOUNDED; 2],
        };
        for (n, &arg) in args.iter().enumerate() {
            self.add(arg, own[n.min(1)]);
        }
    }

    /// What the estimate of a value makes of each component.
    fn errors(&self, shader: &Shader, value: Value) -> [f32; 4] {
        let influence = self.of[value].within(self.visible(value));
        let relative = |error: f32| influence.relative.map(|influence| influence * error);
        let absolute = |error: f32| influence.absolute.map(|influence| influence * error);
        match shader.op(value) {
            Op::FDiv => relative(RECIP),
            Op::FSqrt | Op::FRsqrt | Op::FInverseLength => relative(RSQRT),
            Op::FExp2 => relative(EXP2),
            Op::FLog2 => absolute(LOG2),
            Op::FSin | Op::FCos => absolute(SINE),
            _ => [f32::INFINITY; 4],
        }
    }
}

/// What cannot be bounded, unless it is nothing.
fn unknown(influence: [f32; 4]) -> [f32; 4] {
    influence.map(|influence| product(influence, f32::INFINITY))
}

/// The largest magnitude of y · 2^y. Below zero it has a maximum, at -1/ln 2, of 1/(e · ln 2).
fn most_of_product(y: Range) -> f32 {
    let below = if y.low < 0.0 { LOG2_E / std::f32::consts::E } else { 0.0 };
    let above = if y.high > 0.0 { y.high * y.high.exp2() } else { 0.0 };
    below.max(above)
}

#[cfg(test)]
mod tests {
    use vc4::qpu::Unpack;

    use super::*;
    use crate::ir::{Builder, Node, Stage, Type};

    /// Whether the root of a varying, made into a colour by `color`, may be an estimate.
    fn is_relaxed(op: Op, color: impl FnOnce(&mut Builder, Value) -> Value) -> bool {
        is_relaxed_in_word(op, |b, root| {
            let red = color(b, root);
            b.op(Op::PackUnorm8x4, &[red, red, red, red])
        })
    }

    /// Whether it may be in what `word` writes.
    fn is_relaxed_in_word(op: Op, word: impl FnOnce(&mut Builder, Value) -> Value) -> bool {
        let mut shader = Shader::new(Stage::Fragment);
        let block = shader.entry().expect("a new shader has a block");
        let mut b = Builder::new(&mut shader, block);
        let x = b.emit(Op::Varying(0), &[])[0];
        let value = b.op(op, &[x]);
        let word = word(&mut b, value);
        b.emit(Op::TlbColorWrite, &[word]);
        run(&mut shader);
        let inst = shader.values[value].inst;
        shader.insts[inst].relaxed
    }

    #[test]
    fn colours_take_estimates() {
        assert!(is_relaxed(Op::FSqrt, |_, root| root));
        assert!(is_relaxed(Op::FExp2, |b, power| b.fmul(power, power)));
        assert!(is_relaxed(Op::FRsqrt, |b, root| {
            let two = b.float(2.0);
            b.fadd(root, two)
        }));
    }

    #[test]
    fn what_magnifies_errors_does_not() {
        // A difference.
        assert!(!is_relaxed(Op::FSqrt, |b, root| {
            let ten = b.float(10.0);
            b.fsub(root, ten)
        }));
        // A sum that may be one.
        assert!(!is_relaxed(Op::FSqrt, |b, root| {
            let other = b.emit(Op::Varying(1), &[])[0];
            b.fadd(root, other)
        }));
        // A decision.
        assert!(!is_relaxed(Op::FSqrt, |b, root| {
            let (half, one) = (b.float(0.5), b.float(1.0));
            let below = b.flt(root, half);
            b.select(below, root, one)
        }));
        // The argument of a power of two, and a logarithm that much is made of.
        assert!(!is_relaxed(Op::FSqrt, |b, root| {
            let (power, scale) = (b.op(Op::FExp2, &[root]), b.float(1e-6));
            b.fmul(power, scale)
        }));
        assert!(!is_relaxed(Op::FLog2, |b, log| {
            let hundred = b.float(100.0);
            b.fmul(log, hundred)
        }));
    }

    /// Colours of 32 bits are floats as they are.
    #[test]
    fn words_do_not() {
        assert!(!is_relaxed_in_word(Op::FSqrt, |_, root| root));
        assert!(!is_relaxed_in_word(Op::FSqrt, |b, root| b.fmul(root, root)));
        // What is written as a word and seen by a colour, too.
        assert!(!is_relaxed_in_word(Op::FSqrt, |b, root| {
            b.emit(Op::TlbColorWrite, &[root]);
            b.op(Op::PackUnorm8x4, &[root, root, root, root])
        }));
        let masked = |b: &mut Builder, word| {
            let (old, half) = (b.emit(Op::Varying(1), &[])[0], b.float(0.5));
            let below = b.flt(old, half);
            b.select(below, word, old)
        };
        assert!(!is_relaxed_in_word(Op::FSqrt, masked));
        assert!(is_relaxed_in_word(Op::FSqrt, |b, root| {
            let word = b.op(Op::PackUnorm8x4, &[root, root, root, root]);
            masked(b, word)
        }));
    }

    /// A curve that is a line near zero and a power elsewhere, with a constant taken from it.
    #[test]
    fn selects_and_offsets_are_seen_through() {
        let curve = |offset: f32, scale: f32| {
            let mut shader = Shader::new(Stage::Fragment);
            let block = shader.entry().expect("a new shader has a block");
            let mut b = Builder::new(&mut shader, block);
            let word = b.emit(Op::Varying(0), &[])[0];
            let x = b.op(Op::UnpackFloat(Unpack::Byte0), &[word]);
            let (log, exponent) = (b.op(Op::FLog2, &[x]), b.float(1.0 / 2.4));
            let product = b.fmul(log, exponent);
            let power = b.op(Op::FExp2, &[product]);
            let (scale, offset) = (b.float(scale), b.float(offset));
            let scaled = b.fmul(power, scale);
            let above = b.fsub(scaled, offset);
            let (limit, slope) = (b.float(0.003_130_8), b.float(12.92));
            let line = b.fmul(x, slope);
            let is_below = b.flt(x, limit);
            let color = b.select(is_below, line, above);
            let word = b.op(Op::PackUnorm8x4, &[color; 4]);
            b.emit(Op::TlbColorWrite, &[word]);
            run(&mut shader);
            [log, power].map(|value| shader.insts[shader.values[value].inst].relaxed)
        };
        assert_eq!(curve(0.055, 1.055), [true; 2]);
        // The same shape, made steep: a hundredth of an error is visible.
        assert_eq!(curve(99.0, 100.0), [false; 2]);
    }

    /// What falls off exponentially tolerates what its distance is made of.
    #[test]
    fn distances_of_fog_take_estimates() {
        assert!(is_relaxed(Op::FSqrt, |b, distance| {
            let (square, density) = (b.fmul(distance, distance), b.float(-0.05));
            let exponent = b.fmul(square, density);
            let (one, power) = (b.float(1.0), b.op(Op::FExp2, &[exponent]));
            b.fsub(one, power)
        }));
        // It may as well grow, as far as that is seen.
        let grows = |scale: f32| {
            is_relaxed(Op::FSqrt, |b, distance| {
                let exponent = b.fmul(distance, distance);
                let (scale, power) = (b.float(scale), b.op(Op::FExp2, &[exponent]));
                b.fmul(power, scale)
            })
        };
        assert!(grows(0.5) && !grows(0.001));
    }

    /// What exposure makes of a brightness that may be anything, by a power that may grow.
    #[test]
    fn what_is_not_seen_may_be_anything() {
        let exposed = |most: f32| {
            is_relaxed(Op::FExp2, |b, power| {
                let most = b.float(most);
                b.fsub(most, power)
            })
        };
        assert_eq!([1.0, 2.0, 100.0].map(exposed), [true, true, false]);
        // In front of the difference something else looks at it.
        assert!(!is_relaxed_in_word(Op::FExp2, |b, power| {
            let (one, two) = (b.float(1.0), b.float(2.0));
            let bright = b.flt(two, power);
            let color = b.fsub(one, power);
            let word = b.op(Op::PackUnorm8x4, &[color; 4]);
            let white = b.word(!0);
            b.select(bright, white, word)
        }));
        // What is black whatever it is may be looked at elsewhere.
        assert!(!is_relaxed_in_word(Op::FSqrt, |b, root| {
            let square = b.fmul(root, root);
            let black = b.fneg(square);
            let word = b.op(Op::PackUnorm8x4, &[root, black, root, root]);
            let entry = b.block;
            b.block = b.shader.blocks.push(Default::default());
            b.shader.body.push(Node::Block(b.block));
            let merged = b.phi(Type::Word, &[(entry, black)]);
            b.emit(Op::TlbColorWrite, &[merged]);
            word
        }));
        // The smaller and larger of two numbers, and the opposite of one, are seen as far.
        assert!(is_relaxed(Op::FExp2, |b, power| {
            let (one, less, more) = (b.float(1.0), b.float(-2.0), b.float(50.0));
            let power = b.fneg(power);
            let power = b.op(Op::FMax, &[power, less]);
            let power = b.op(Op::FMin, &[power, more]);
            b.fadd(power, one)
        }));
    }

    #[test]
    fn powers_of_small_exponents_take_estimates() {
        let power = |exponent: f32| {
            is_relaxed(Op::FLog2, |b, log| {
                let exponent = b.float(exponent);
                let product = b.fmul(log, exponent);
                b.op(Op::FExp2, &[product])
            })
        };
        assert!(power(0.4545) && !power(8.0));
    }

    /// Errors add up until they could be seen.
    #[test]
    fn the_budget_is_kept() {
        let product = |count: usize| {
            is_relaxed(Op::FSqrt, |b, root| (0..count).fold(root, |product, _| b.fmul(product, root)))
        };
        assert!(product(2) && !product(40));
    }
}
