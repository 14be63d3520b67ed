//! Full precision only where it can be seen.
//!
//! A colour of eight bits per component may be either of the two numbers next to the exact one (Vulkan 1.0, conversion
//! to normalized fixed point). So what only such colours depend on, through operations that do not magnify relative
//! errors, may take the SFU's estimates as long as the errors stay below half a step together; a quarter is used.

use cranelift_entity::{EntitySet, SecondaryMap};

use crate::ir::{Inst, Op, Shader, Value};
use crate::pass::analysis::range::Range;

/// Relative error that the colour may have: a quarter of a step at 1.0.
const BUDGET: f32 = 0.25 / 255.0;

/// Relative errors of estimates (qpu.md §4.4), the operand's loss of bits included.
const RECIP: f32 = 0.000_1;
const RSQRT: f32 = 0.000_11;
const EXP2: f32 = 0.000_14;
/// Absolute error of the estimate of a logarithm.
const LOG2: f32 = 0.000_17;

/// Largest exponent whose logarithm may be an estimate.
const MAX_EXPONENT: f32 = 4.0;

/// Attempts to stay within the budget.
const ATTEMPTS: usize = 4;

/// Marks operations whose estimate is good enough.
pub fn run(shader: &mut Shader) {
    let order = shader.insts_in_order();
    let mut refused = EntitySet::new();
    for _ in 0..ATTEMPTS {
        let plan = Plan::new(shader, &order, &refused);
        let errors = plan.errors(shader, &order);
        let mut fits = true;
        for &color in &plan.colors {
            if errors[color] > BUDGET {
                refused.insert(color);
                fits = false;
            }
        }
        if fits {
            for inst in order.into_iter().filter(|&inst| plan.relaxed.contains(inst)) {
                shader.insts[inst].relaxed = true;
            }
            return;
        }
    }
}

/// What could be relaxed.
struct Plan {
    /// Components of 8-bit colours.
    colors: Vec<Value>,
    /// Operations that take estimates.
    relaxed: EntitySet<Inst>,
    /// Products with a logarithm that are the exponents of powers.
    exponents: EntitySet<Value>,
}

impl Plan {
    /// Follows colours, other than `refused` ones, to what computes them.
    fn new(shader: &Shader, order: &[Inst], refused: &EntitySet<Value>) -> Plan {
        let mut exact: EntitySet<Value> = EntitySet::new();
        let mut used: EntitySet<Value> = EntitySet::new();
        // What is written as it is.
        let mut words: EntitySet<Value> = EntitySet::new();
        let mut plan = Plan { colors: Vec::new(), relaxed: EntitySet::new(), exponents: EntitySet::new() };
        // Uses that may stand in front of what they use.
        for &inst in order.iter().filter(|&&inst| shader.insts[inst].op == Op::Phi) {
            shader.insts[inst].args.iter().for_each(|&arg| {
                exact.insert(arg);
            });
        }
        crate::ir::for_each_condition(&shader.body, &mut |condition| {
            exact.insert(condition);
        });
        for &inst in order.iter().rev() {
            let data = &shader.insts[inst];
            let result = data.results.first().copied();
            let is_word = result.is_some_and(|result| words.contains(result));
            // Of words only those tolerate anything that are made of colours.
            let tolerant = result.is_some_and(|result| used.contains(result) && !exact.contains(result))
                && (!is_word || matches!(data.op, Op::PackUnorm8x4 | Op::Select));
            if data.op == Op::PackUnorm8x4 {
                for &arg in &data.args {
                    used.insert(arg);
                    let is_logarithm = shader.op(arg) == Op::FLog2 || has_logarithm(shader, arg);
                    if !tolerant || is_logarithm || refused.contains(arg) {
                        exact.insert(arg);
                    } else {
                        plan.colors.push(arg);
                    }
                }
                continue;
            }
            let writes = matches!(data.op, Op::TlbColorWrite | Op::TlbColorWriteSample);
            if writes || is_word && data.op == Op::Select {
                words.extend(data.args.iter().copied());
            }
            let mask = if writes {
                !0
            } else if tolerant {
                plan.tolerance(shader, inst)
            } else {
                0
            };
            // A logarithm's error is absolute, which only the exponent of a power tolerates; there it is all that is tolerated.
            let is_exponent = result.is_some_and(|result| plan.exponents.contains(result));
            for (index, &arg) in data.args.iter().enumerate() {
                used.insert(arg);
                let logarithmic = match shader.op(arg) {
                    Op::FLog2 => is_exponent,
                    _ if has_logarithm(shader, arg) => data.op == Op::FExp2,
                    _ => !is_exponent,
                };
                if mask >> index & 1 == 0 || !logarithmic {
                    exact.insert(arg);
                }
            }
        }
        plan
    }

    /// Operands, as bits, whose relative errors become errors of the same size or less; chooses estimates.
    fn tolerance(&mut self, shader: &Shader, inst: Inst) -> u32 {
        let data = &shader.insts[inst];
        let args = &data.args[..];
        match data.op {
            Op::FMul | Op::FMin | Op::FMax => 0b11,
            Op::FNeg | Op::FAbs => 1,
            Op::Select => 0b110,
            // Sums of numbers of one sign have no larger relative error than the numbers.
            Op::FAdd if args.iter().all(|&arg| Range::of(shader, arg).is_positive()) => 0b11,
            Op::FDiv => {
                self.relaxed.insert(inst);
                0b11
            }
            Op::FSqrt | Op::FRsqrt | Op::FInverseLength => {
                self.relaxed.insert(inst);
                1
            }
            Op::FExp2 => {
                self.relaxed.insert(inst);
                match power(shader, inst) {
                    Some(_) => {
                        self.exponents.insert(args[0]);
                        1
                    }
                    None => 0,
                }
            }
            Op::FLog2 => {
                self.relaxed.insert(inst);
                1
            }
            _ => 0,
        }
    }

    /// Relative errors of values that colours depend on; of a logarithm the absolute one.
    fn errors(&self, shader: &Shader, order: &[Inst]) -> SecondaryMap<Value, f32> {
        let mut errors: SecondaryMap<Value, f32> = SecondaryMap::new();
        for &inst in order {
            let data = &shader.insts[inst];
            let &[result] = &data.results[..] else { continue };
            let of = |n: usize| errors[data.args[n]];
            let estimated = |error: f32| if self.relaxed.contains(inst) { error } else { 0.0 };
            errors[result] = match data.op {
                Op::FMul => of(0) + of(1),
                Op::FDiv => of(0) + of(1) + estimated(RECIP),
                Op::FMin | Op::FMax | Op::FAdd => of(0).max(of(1)),
                Op::Select => of(1).max(of(2)),
                Op::FNeg | Op::FAbs => of(0),
                Op::FSqrt | Op::FRsqrt | Op::FInverseLength => of(0) / 2.0 + estimated(RSQRT),
                Op::FLog2 => of(0) * std::f32::consts::LOG2_E + estimated(LOG2),
                Op::FExp2 => {
                    let argument = power(shader, inst).map_or(0.0, |(log, exponent)| errors[log] * exponent);
                    argument * std::f32::consts::LN_2 + estimated(EXP2)
                }
                _ => 0.0,
            };
        }
        errors
    }
}

/// Whether a value is a product with a logarithm.
fn has_logarithm(shader: &Shader, value: Value) -> bool {
    shader.op(value) == Op::FMul && shader.args(value).iter().any(|&arg| shader.op(arg) == Op::FLog2)
}

/// The logarithm, and a bound of the exponent, if a power of two is a power of a small exponent.
fn power(shader: &Shader, inst: Inst) -> Option<(Value, f32)> {
    let product = shader.insts[inst].args[0];
    if shader.op(product) != Op::FMul {
        return None;
    }
    let args = shader.args(product);
    [(args[0], args[1]), (args[1], args[0])].into_iter().find_map(|(log, exponent)| {
        let range = Range::of(shader, exponent);
        let bound = range.high.max(-range.low);
        (shader.op(log) == Op::FLog2 && bound <= MAX_EXPONENT).then_some((log, bound))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Builder, Stage};

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
            let one = b.float(1.0);
            b.fsub(root, one)
        }));
        // A decision.
        assert!(!is_relaxed(Op::FSqrt, |b, root| {
            let (half, one) = (b.float(0.5), b.float(1.0));
            let below = b.flt(root, half);
            b.select(below, root, one)
        }));
        // The argument of a power of two, and a logarithm that is no exponent.
        assert!(!is_relaxed(Op::FSqrt, |b, root| b.op(Op::FExp2, &[root])));
        assert!(!is_relaxed(Op::FLog2, |_, log| log));
    }

    /// Colours of 32 bits are floats as they are.
    #[test]
    fn words_do_not() {
        assert!(!is_relaxed_in_word(Op::FSqrt, |_, root| root));
        assert!(!is_relaxed_in_word(Op::FSqrt, |b, root| b.fmul(root, root)));
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
