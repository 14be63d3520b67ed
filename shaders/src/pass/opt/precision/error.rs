//! Errors of values, followed forwards from estimates to colours.
//!
//! An error is bounded twice, absolutely and relatively: products add relative errors, whatever the factors are, sums of one sign
//! have no larger relative error than their terms, other sums add absolute ones. Bounds of what is computed and seen make one of
//! the other.

use std::f32::consts::{LN_2, LOG2_E};
use std::ops::Range as Indices;

use cranelift_entity::SecondaryMap;

use super::estimate::{BUDGET, COMPONENTS, Off, SMALL, most_of_product, product};
use super::sight::Sights;
use super::switch::Switch;
use crate::ir::{Inst, Op, Shader, Value};
use crate::pass::analysis::range::Range;

/// Room for squares of errors.
const SQUARES: f32 = 1.0 + SMALL;

/// What a value may be off by.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Error {
    absolute: f32,
    relative: f32,
}

impl Error {
    const UNBOUNDED: Error = Error { absolute: f32::INFINITY, relative: f32::INFINITY };

    fn absolute(absolute: f32) -> Error {
        Error { absolute, relative: f32::INFINITY }
    }

    fn relative(relative: f32) -> Error {
        Error { absolute: f32::INFINITY, relative }
    }

    fn max(self, other: Error) -> Error {
        Error { absolute: self.absolute.max(other.absolute), relative: self.relative.max(other.relative) }
    }

    /// Of what has both errors, one after the other.
    fn and(self, other: Error) -> Error {
        Error {
            absolute: self.absolute + other.absolute,
            relative: (self.relative + other.relative) * SQUARES,
        }
    }

    /// With what bounds of the value say of one form by the other.
    fn within(self, range: Range) -> Error {
        if self == Error::default() {
            return self;
        }
        let absolute = self.absolute.min(product(self.relative, range.most()));
        let relative = self.relative.min(product(absolute, 1.0 / range.least()));
        let relative = if relative < SMALL { relative } else { f32::INFINITY };
        Error { absolute, relative }
    }
}

/// An operation on the way from estimates to colours.
struct Step {
    op: Op,
    /// Operands that errors come from.
    args: [Value; 2],
    result: Value,
    /// What is seen of operands and result.
    visible: [Range; 3],
    /// Whether operands never have different signs.
    one_sign: bool,
    /// Which estimate it may be.
    estimate: Option<usize>,
    /// What decides between pieces of a curve.
    switch: Option<Switch>,
}

/// What colours are made of, as far as errors can reach it, in order.
pub struct Path<'a> {
    shader: &'a Shader,
    sights: &'a Sights,
    steps: Vec<Step>,
    /// Components of colours, and their values.
    colors: Vec<(usize, Value)>,
}

impl<'a> Path<'a> {
    pub fn of(shader: &'a Shader, order: &[Inst], sights: &'a Sights, estimates: &[Inst]) -> Path<'a> {
        let mut next = estimates.iter().copied().enumerate().peekable();
        let (mut steps, mut colors) = (Vec::new(), Vec::new());
        for &inst in order {
            let data = &shader.insts[inst];
            if data.op.is(Op::PackUnorm8x4) {
                let seen = data.args.iter().copied().enumerate();
                colors.extend(seen.filter(|&(_, arg)| sights.is_of_colors(arg)));
                continue;
            }
            let &[result] = &data.results[..] else { continue };
            if !sights.is_of_colors(result) {
                continue;
            }
            let args = match data.args[..] {
                [only] => [only; 2],
                [first, second] => [first, second],
                [_, yes, no] if data.op.is(Op::Select) => [yes, no],
                // Nothing that has other operands is seen through.
                _ => continue,
            };
            let [a, b] = args.map(|arg| sights.visible(arg));
            let one_sign = match data.op {
                Op::FSub => a.has_sign_of(b.negated()),
                _ => a.has_sign_of(b),
            };
            steps.push(Step {
                op: data.op,
                args,
                result,
                visible: [args[0], args[1], result].map(|value| sights.visible(value)),
                one_sign,
                estimate: next.next_if(|&(_, estimate)| estimate == inst).map(|(index, _)| index),
                switch: Switch::of(shader, inst),
            });
        }
        Path { shader, sights, steps, colors }
    }

    /// Whether these components of all colours are exact enough with the chosen estimates.
    pub fn is_within(&self, chosen: &[Option<Off>], components: Indices<usize>) -> bool {
        self.errors(chosen)[components].iter().all(|&error| error <= BUDGET)
    }

    /// The largest error of each component.
    fn errors(&self, chosen: &[Option<Off>]) -> [f32; COMPONENTS] {
        let mut errors: SecondaryMap<Value, Error> = SecondaryMap::new();
        for step in &self.steps {
            let [a, b] = step.args.map(|arg| errors[arg]);
            let estimate = step.estimate.and_then(|index| chosen[index]);
            let decision =
                step.switch.map_or(Error::default(), |switch| self.decision(switch, errors[switch.value]));
            if estimate.is_none() && [a, b, decision] == [Error::default(); 3] {
                continue;
            }
            // Each in both forms, before they add up.
            let visible = step.visible[2];
            let mut error = step.error(a, b).within(visible).and(decision.within(visible));
            if let Some(off) = estimate {
                error = error.and(Error::from(off).within(visible));
            }
            errors[step.result] = error.within(visible);
        }
        let mut most = [0.0; COMPONENTS];
        for &(component, value) in &self.colors {
            most[component] = f32::max(most[component], errors[value].absolute);
        }
        most
    }

    /// What it makes of a curve that the other piece is taken, where the number that decides has an error.
    fn decision(&self, switch: Switch, error: Error) -> Error {
        let relative = error.relative.is_finite().then_some(error.relative * SQUARES * switch.at.abs());
        let by = relative.map_or(error.absolute, |by| by.min(error.absolute));
        if by == 0.0 {
            return Error::default();
        }
        let both = switch.both(self.shader, &self.sights.ranges, by);
        Error { absolute: both.width(), relative: product(both.width(), 1.0 / both.least()) }
    }
}

impl From<Off> for Error {
    fn from(off: Off) -> Error {
        match off {
            Off::Absolute(error) => Error::absolute(error),
            Off::Relative(error) => Error::relative(error),
        }
    }
}

impl Step {
    /// What errors of the operands make of the result.
    fn error(&self, a: Error, b: Error) -> Error {
        if a == Error::default() && b == Error::default() {
            return a;
        }
        let [x, y, _] = self.visible;
        match self.op {
            Op::FMul if self.args[0] == self.args[1] => Error {
                absolute: 2.0 * SQUARES * product(a.absolute, x.most()),
                relative: 2.0 * SQUARES * a.relative,
            },
            Op::FMul => Error {
                absolute: product(a.absolute, y.most() + b.absolute) + product(b.absolute, x.most()),
                relative: (a.relative + b.relative) * SQUARES,
            },
            Op::FAdd | Op::FSub => Error {
                absolute: a.absolute + b.absolute,
                relative: if self.one_sign { a.relative.max(b.relative) } else { f32::INFINITY },
            },
            Op::FMin | Op::FMax | Op::Select => a.max(b),
            Op::FNeg | Op::FAbs => a,
            Op::FDiv => {
                // As long as the divisor's relative error is small, its absolute one is.
                let inverse = if b.relative < SMALL { SQUARES / y.least() } else { f32::INFINITY };
                let quotient = product(x.most(), 1.0 / y.least());
                Error {
                    absolute: product(a.absolute + product(quotient, b.absolute), inverse),
                    relative: (a.relative + b.relative) * SQUARES * SQUARES,
                }
            }
            Op::FSqrt | Op::FRsqrt | Op::FInverseLength => Error::relative(0.5 * SQUARES * a.relative),
            // Logarithms make absolute errors of relative ones, powers of two relative errors of absolute ones.
            Op::FLog2 => Error::absolute(LOG2_E * SQUARES * a.relative),
            Op::FExp2 => {
                let small = a.absolute < SMALL;
                let relative = if small { LN_2 * SQUARES * a.absolute } else { f32::INFINITY };
                let steep = product(LN_2 * SQUARES * a.relative, most_of_product(x));
                // The power may grow by what is no small error any more.
                let flat = product(a.relative, x.high.max(0.0)) < SMALL;
                Error { absolute: if flat { steep } else { f32::INFINITY }, relative }
            }
            Op::FSin | Op::FCos => Error::absolute(a.absolute),
            _ => Error::UNBOUNDED,
        }
    }
}
