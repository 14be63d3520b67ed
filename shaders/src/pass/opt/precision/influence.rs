//! What a component of a colour changes by, at most, for a small error of each value alone, followed backwards from colours.
//! It tells which estimates cost least for what they save; whether all of them together are exact enough tells `error`.

use std::f32::consts::{LN_2, LOG2_E};

use cranelift_entity::SecondaryMap;

use super::estimate::{COMPONENTS, Off, most_of_product, product};
use super::sight::Sights;
use super::switch::Switch;
use crate::ir::{Inst, Op, Shader, Value};
use crate::pass::analysis::range::Range;

/// The influence of a value on each component.
#[derive(Clone, Copy, Default)]
struct Influence {
    /// For each unit of an absolute error.
    absolute: [f32; COMPONENTS],
    /// For each unit of a relative error.
    relative: [f32; COMPONENTS],
}

impl Influence {
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
        for n in 0..COMPONENTS {
            self.absolute[n] += other.absolute[n];
            self.relative[n] += other.relative[n];
        }
    }
}

/// The influences of all values that only colours see.
pub struct Influences(SecondaryMap<Value, Influence>);

impl Influences {
    pub fn of(shader: &Shader, order: &[Inst], sights: &Sights) -> Influences {
        let mut influences = Influences(SecondaryMap::new());
        for &inst in order.iter().rev() {
            let data = &shader.insts[inst];
            match data.results[..] {
                [_] if data.op.is(Op::PackUnorm8x4) => {
                    for (component, &arg) in data.args.iter().enumerate() {
                        let mut color = Influence::default();
                        (color.absolute[component], color.relative[component]) = (1.0, 1.0);
                        influences.add(sights, arg, color);
                    }
                }
                [result] if sights.is_of_colors(result) => influences.follow(shader, sights, inst),
                _ => {}
            }
        }
        influences
    }

    /// What the estimate of a value alone makes of a component.
    pub fn error(&self, value: Value, off: Off, component: usize) -> f32 {
        let influence = self.0[value];
        match off {
            Off::Absolute(error) => influence.absolute[component] * error,
            Off::Relative(error) => influence.relative[component] * error,
        }
    }

    fn add(&mut self, sights: &Sights, value: Value, influence: Influence) {
        self.0[value].add(influence.within(sights.visible(value)));
    }

    /// Hands what is known of an instruction's result on to its operands.
    fn follow(&mut self, shader: &Shader, sights: &Sights, inst: Inst) {
        let data = &shader.insts[inst];
        let result = self.0[data.results[0]];
        let args = &data.args[..];
        let range = |n: usize| sights.visible(args[n]);
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
                let quotient = sights.visible(data.results[0]).most();
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
                let most = most_of_product(range(0));
                let relative = result.absolute.map(|influence| product(influence, LN_2 * most));
                [Influence { absolute, relative }; 2]
            }
            Op::FSin | Op::FCos => [result.scaled(1.0, f32::INFINITY); 2],
            Op::Select => {
                self.add(sights, args[1], result);
                self.add(sights, args[2], result);
                if let Some(switch) = Switch::of(shader, inst) {
                    let by = STEP * if switch.at == 0.0 { 1.0 } else { switch.at.abs() };
                    let width = switch.both(shader, &sights.ranges, by).width();
                    self.add(sights, switch.value, result.scaled(width / by, f32::INFINITY));
                }
                return;
            }
            _ => return,
        };
        for (n, &arg) in args.iter().enumerate() {
            self.add(sights, arg, own[n.min(1)]);
        }
    }
}

/// A small error, by which influences on decisions are measured.
const STEP: f32 = 0.000_1;

/// What cannot be bounded, unless it is nothing.
fn unknown(influence: [f32; COMPONENTS]) -> [f32; COMPONENTS] {
    influence.map(|influence| product(influence, f32::INFINITY))
}
