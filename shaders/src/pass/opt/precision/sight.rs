//! What is seen of values, followed backwards from colours to what computes them.
//!
//! Beyond 0 and 1 a colour does not change, so 1 - x is looked at for x from 0 to 1, whatever x may be: beyond the bounds of what
//! is seen of a value, all numbers on a side make the same colours.

use cranelift_entity::{EntitySet, SecondaryMap};

use super::switch::Switch;
use crate::ir::{Inst, Op, Shader, Value};
use crate::pass::analysis::bounds::Ranges;
use crate::pass::analysis::range::Range;

/// Who sees a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum By {
    /// Nobody so far.
    #[default]
    Nobody,
    /// Colours of eight bits, by operations that errors can be followed through.
    Colors,
    /// Something else, to its last bit: conditions, coordinates, words.
    Others,
}

/// What is seen of all values.
pub struct Sights {
    /// Bounds of what is computed.
    pub ranges: Ranges,
    by: SecondaryMap<Value, By>,
    seen: SecondaryMap<Value, Option<Range>>,
}

impl Sights {
    /// Of a shader whose varyings have these bounds.
    pub fn of(shader: &Shader, order: &[Inst], varyings: &[Range]) -> Sights {
        let ranges = Ranges::of(shader, order, |op| match op {
            Op::Varying(n) => varyings.get(n as usize).copied(),
            _ => None,
        });
        let mut sights = Sights { ranges, by: SecondaryMap::new(), seen: SecondaryMap::new() };
        // What is written as it is.
        let mut words: EntitySet<Value> = EntitySet::new();
        // Uses that may stand in front of what they use.
        for &inst in order.iter().filter(|&&inst| shader.insts[inst].op.is(Op::Phi)) {
            sights.see_to_the_last_bit(&shader.insts[inst].args);
        }
        crate::ir::for_each_condition(&shader.body, &mut |condition| {
            sights.see_to_the_last_bit(&[condition]);
        });
        for &inst in order.iter().rev() {
            let data = &shader.insts[inst];
            let is_word = data.results.first().is_some_and(|&result| words.contains(result));
            match data.op {
                Op::TlbColorWrite | Op::TlbColorWriteSample => words.extend(data.args.iter().copied()),
                Op::PackUnorm8x4 if is_word && sights.is_seen_by_words_only(data.results[0]) => {
                    data.args.iter().for_each(|&arg| sights.see(arg, Range::UNIT));
                }
                Op::Select if is_word => {
                    sights.see_to_the_last_bit(&data.args[..1]);
                    words.extend(data.args[1..].iter().copied());
                    // A word that is something else, too, is as good as that for what it is made of.
                    if !sights.is_seen_by_words_only(data.results[0]) {
                        sights.see_to_the_last_bit(&data.args);
                    }
                }
                // A word that is no colour is seen to its last bit, whatever colours make of it besides.
                _ if is_word => {
                    sights.see_to_the_last_bit(&data.results);
                    sights.see_to_the_last_bit(&data.args);
                }
                _ => sights.look(shader, inst),
            }
        }
        sights
    }

    /// Whether colours see a value, and nothing else does.
    pub fn is_of_colors(&self, value: Value) -> bool {
        self.by[value] == By::Colors
    }

    /// Bounds of what is computed and seen of a value.
    pub fn visible(&self, value: Value) -> Range {
        let range = self.ranges.range(value);
        self.seen[value].map_or(range, |seen| range.clamped(seen))
    }

    /// Whether nothing but words of colours takes a value.
    fn is_seen_by_words_only(&self, value: Value) -> bool {
        self.by[value] == By::Nobody
    }

    /// Something else than colours sees values.
    fn see_to_the_last_bit(&mut self, values: &[Value]) {
        for &value in values {
            self.by[value] = By::Others;
            self.seen[value] = Some(Range::ALL);
        }
    }

    /// One more use, by colours, sees these numbers of a value.
    fn see(&mut self, value: Value, range: Range) {
        self.by[value] = self.by[value].max(By::Colors);
        let seen = &mut self.seen[value];
        *seen = Some(seen.map_or(range, |other| other.hull(range)));
    }

    /// Hands what is seen of an instruction's results on to its operands.
    fn look(&mut self, shader: &Shader, inst: Inst) {
        let data = &shader.insts[inst];
        let by = data.results.iter().map(|&result| self.by[result]).max();
        match by {
            // Nothing that has no effect is looked at by what nothing looks at.
            Some(By::Nobody) if data.op.is_pure() => {}
            Some(By::Colors) if follows(data.op) => {
                let seen = self.visible(data.results[0]);
                if data.op.is(Op::Select) {
                    self.decide(shader, inst);
                }
                for n in usize::from(data.op.is(Op::Select))..data.args.len() {
                    let range = self.operand(data.op, &data.args, n, seen);
                    self.see(data.args[n], range);
                }
            }
            // Selects have seen what is compared.
            Some(By::Colors) if matches!(data.op, Op::FLt | Op::FLe) => {}
            _ => self.see_to_the_last_bit(&data.args),
        }
    }

    /// Looks at the condition of a select that only colours see.
    fn decide(&mut self, shader: &Shader, select: Inst) {
        let condition = shader.insts[select].args[0];
        match Switch::of(shader, select) {
            Some(switch) => {
                self.see(condition, Range::ALL);
                self.see(switch.value, switch.seen());
            }
            None => self.see_to_the_last_bit(&[condition]),
        }
    }

    /// What is seen of an operand, where numbers of `seen` are seen of the result: beyond that the result is at an end of `seen` or
    /// beyond it, whatever the other operand is.
    fn operand(&self, op: Op, args: &[Value], n: usize, seen: Range) -> Range {
        let other = || self.ranges.range(args[1 - n]);
        match op {
            Op::FMul if args[0] == args[1] => seen.roots(),
            Op::FMul => seen.divided(other()),
            Op::FAdd if args[0] != args[1] => Range::sum(seen, other().negated()),
            Op::FSub if n == 0 => Range::sum(seen, other()),
            Op::FSub => Range::sum(seen.negated(), other()),
            Op::FDiv if n == 0 => seen.multiplied(other()),
            Op::FNeg => seen.negated(),
            Op::FAbs => seen.magnitudes(),
            // What is larger than the other one is not taken.
            Op::FMin => seen.below(other().high),
            Op::FMax => seen.above(other().low),
            Op::Select => seen,
            Op::FExp2 if seen.high > 0.0 => seen.log2(),
            Op::FLog2 => seen.exp2(),
            _ => Range::ALL,
        }
    }
}

/// Whether `error` knows what errors of an operation's operands make of its result.
fn follows(op: Op) -> bool {
    matches!(
        op,
        Op::FAdd
            | Op::FSub
            | Op::FMul
            | Op::FDiv
            | Op::FMin
            | Op::FMax
            | Op::FNeg
            | Op::FAbs
            | Op::FSqrt
            | Op::FRsqrt
            | Op::FInverseLength
            | Op::FLog2
            | Op::FExp2
            | Op::FSin
            | Op::FCos
            | Op::Select
    )
}
