//! Bounds of float values, by what computes them.

use cranelift_entity::SecondaryMap;
use vc4::qpu::Unpack;

use crate::ir::{Inst, Op, Shader, Value};

/// Steps that an analysis follows operands.
const DEPTH: u32 = 8;

/// More than the relative error of any estimate, and than the absolute one of a logarithm's (qpu.md §4.4).
const ESTIMATE: f32 = 0.001;
const LOGARITHM: f32 = 0.001;

/// Screen coordinates lie below this (v3d.md §14).
const PIXELS: f32 = 4096.0;

/// A closed interval that a float value lies in, whatever the inputs are; NaNs count as infinities of their sign, as the
/// machine has it. Bounds allow for the rounding of the operation that they belong to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Lower bound.
    pub low: f32,
    /// Upper bound.
    pub high: f32,
}

/// The ranges of all values.
pub struct Ranges(SecondaryMap<Value, Range>);

impl Ranges {
    /// Of a shader whose instructions in program order are `insts`.
    pub fn of(shader: &Shader, insts: &[Inst]) -> Ranges {
        let mut ranges = SecondaryMap::with_default(Range::ALL);
        for &inst in insts {
            // What a phi merges may come later.
            if let ([value], true) = (&shader.insts[inst].results[..], !shader.insts[inst].op.is(Op::Phi)) {
                ranges[*value] = Range::by(shader, *value, |arg| ranges[arg]);
            }
        }
        Ranges(ranges)
    }

    /// Of a value.
    pub fn range(&self, value: Value) -> Range {
        self.0[value]
    }
}

impl Range {
    /// Any float.
    pub const ALL: Range = Range { low: f32::NEG_INFINITY, high: f32::INFINITY };
    /// From 0 to 1.
    pub const UNIT: Range = Range { low: 0.0, high: 1.0 };

    /// From a bound to another.
    const fn new(low: f32, high: f32) -> Range {
        Range { low, high }
    }

    /// The range of a value.
    pub fn of(shader: &Shader, value: Value) -> Range {
        Self::follow(shader, value, DEPTH)
    }

    /// Whether no value is below zero.
    pub fn is_positive(self) -> bool {
        self.low >= 0.0
    }

    /// The same, as far as so many steps tell.
    pub(super) fn follow(shader: &Shader, value: Value, depth: u32) -> Range {
        let Some(depth) = depth.checked_sub(1) else { return Range::ALL };
        Self::by(shader, value, |arg| Self::follow(shader, arg, depth))
    }

    /// The range of a value, by those of its operands.
    fn by(shader: &Shader, value: Value, range: impl Fn(Value) -> Range) -> Range {
        let args = shader.args(value);
        let of = |n: usize| range(args[n]);
        let positive = Range::new(0.0, f32::INFINITY);
        match shader.op(value) {
            Op::Const(word) => Self::constant(f32::from_bits(word)),
            Op::FAdd => Self::sum(of(0), of(1)),
            Op::FSub => Self::sum(of(0), of(1).negated()),
            Op::FNeg => of(0).negated(),
            Op::FAbs => match of(0) {
                Range { low, high } if low >= 0.0 => Range::new(low, high),
                Range { low, high } => Range::new(0.0, high.max(-low)),
            },
            // A square; negative zeros do not matter.
            Op::FMul if args[0] == args[1] => {
                let Range { low, high } = of(0);
                Self::widened(0.0, high.abs().max(low.abs()).powi(2))
            }
            Op::FMul => Self::product(of(0), of(1)),
            Op::FDiv => match of(1) {
                Range { low, high } if low > 0.0 => {
                    Self::product(of(0), Range::new(1.0 / high, 1.0 / low)).estimated()
                }
                _ => Range::ALL,
            },
            Op::FMin => {
                let (x, y) = (of(0), of(1));
                Range::new(x.low.min(y.low), x.high.min(y.high))
            }
            Op::FMax => {
                let (x, y) = (of(0), of(1));
                Range::new(x.low.max(y.low), x.high.max(y.high))
            }
            Op::Select => {
                let (yes, no) = (of(1), of(2));
                Range::new(yes.low.min(no.low), yes.high.max(no.high))
            }
            Op::FSqrt => match of(0) {
                Range { low, high } if low >= 0.0 => Range::new(low.sqrt(), high.sqrt()).estimated(),
                _ => positive,
            },
            Op::FRsqrt => match of(0) {
                Range { low, high } if low > 0.0 => {
                    Range::new(1.0 / high.sqrt(), 1.0 / low.sqrt()).estimated()
                }
                _ => positive,
            },
            Op::FExp2 | Op::SfuExp2 => {
                let Range { low, high } = of(0);
                Range::new(low.exp2(), high.exp2()).estimated()
            }
            Op::FLog2 => match of(0) {
                Range { low, high } if low >= 0.0 => {
                    Range::new(low.log2() - LOGARITHM, high.log2() + LOGARITHM)
                }
                _ => Range::ALL,
            },
            Op::FInverseLength | Op::SfuRsqrt => positive,
            Op::FSin | Op::FCos => Range::new(-1.001, 1.001),
            Op::FSign => Range::new(-1.0, 1.0),
            Op::UnpackFloat(Unpack::Byte0 | Unpack::Byte1 | Unpack::Byte2 | Unpack::Byte3) => {
                Range::new(0.0, 1.0)
            }
            Op::SToF | Op::UToF => Self::whole(shader, args[0]),
            Op::FFloor | Op::FTrunc | Op::FCeil | Op::FRoundEven => {
                let Range { low, high } = of(0);
                Self::widened(low - 1.0, high + 1.0)
            }
            _ => Range::ALL,
        }
    }

    /// The largest magnitude.
    pub fn most(self) -> f32 {
        self.high.abs().max(self.low.abs())
    }

    /// The smallest magnitude.
    pub fn least(self) -> f32 {
        if self.low > 0.0 || self.high < 0.0 { self.high.abs().min(self.low.abs()) } else { 0.0 }
    }

    /// Whether numbers of this range and of another one never have different signs.
    pub fn has_sign_of(self, other: Range) -> bool {
        self.low >= 0.0 && other.low >= 0.0 || self.high <= 0.0 && other.high <= 0.0
    }

    /// Room for an estimate's relative error.
    fn estimated(self) -> Range {
        let away = |x: f32, out: bool| if out { x * (1.0 + ESTIMATE) } else { x * (1.0 - ESTIMATE) };
        Range::new(away(self.low, self.low < 0.0), away(self.high, self.high > 0.0))
    }

    /// Of the numbers with the other sign.
    pub fn negated(self) -> Range {
        Range::new(-self.high, -self.low)
    }

    /// Both ranges and what lies between them.
    pub fn hull(self, other: Range) -> Range {
        Range::new(self.low.min(other.low), self.high.max(other.high))
    }

    /// What numbers of this range are when those beyond `bounds` become the bounds.
    pub fn clamped(self, bounds: Range) -> Range {
        let clamp = |x: f32| x.max(bounds.low).min(bounds.high);
        Range::new(clamp(self.low), clamp(self.high))
    }

    /// Of the numbers more by `c`.
    pub fn moved(self, c: f32) -> Range {
        Self::sum(self, Self::constant(c))
    }

    /// Of the numbers times `c`.
    pub fn scaled(self, c: f32) -> Range {
        Self::product(self, Self::constant(c))
    }

    /// Of the logarithms to base 2 of numbers of which some are above zero.
    pub fn log2(self) -> Range {
        Self::widened(self.low.max(0.0).log2(), self.high.log2())
    }

    fn sum(a: Range, b: Range) -> Range {
        Self::widened(a.low + b.low, a.high + b.high)
    }

    fn constant(x: f32) -> Range {
        if x.is_nan() { Range::ALL } else { Range::new(x, x) }
    }

    /// Integers as floats.
    fn whole(shader: &Shader, value: Value) -> Range {
        match shader.op(value) {
            Op::PixelX | Op::PixelY => Range::new(0.0, PIXELS),
            Op::RevFlag => Range::new(0.0, 1.0),
            _ => Range::new(-2_147_483_648.0, 4_294_967_296.0),
        }
    }

    /// Room for the rounding of one operation.
    fn widened(low: f32, high: f32) -> Range {
        let (low, high) = (
            if low.is_nan() { f32::NEG_INFINITY } else { low },
            if high.is_nan() { f32::INFINITY } else { high },
        );
        // Relative, so that zeros stay.
        let away = |x: f32, out: bool| if out { x * (1.0 + f32::EPSILON) } else { x * (1.0 - f32::EPSILON) };
        Range::new(away(low, low < 0.0), away(high, high > 0.0))
    }

    /// A product with a zero is zero, whatever the other factor is.
    fn product(a: Range, b: Range) -> Range {
        let times = |x: f32, y: f32| if x == 0.0 || y == 0.0 { 0.0 } else { x * y };
        let corners =
            [times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high)];
        let low = corners.into_iter().fold(f32::INFINITY, f32::min);
        let high = corners.into_iter().fold(f32::NEG_INFINITY, f32::max);
        Self::widened(low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Builder, Stage};

    fn range(build: impl FnOnce(&mut Builder) -> Value) -> Range {
        let mut shader = Shader::new(Stage::Fragment);
        let block = shader.entry().expect("a new shader has a block");
        let value = build(&mut Builder::new(&mut shader, block));
        Range::of(&shader, value)
    }

    fn unknown(b: &mut Builder) -> Value {
        b.emit(Op::Varying(0), &[])[0]
    }

    #[test]
    fn bounds_follow_operations() {
        let square = range(|b| {
            let x = unknown(b);
            b.fmul(x, x)
        });
        assert_eq!(square, Range::new(0.0, f32::INFINITY));
        let clamped = range(|b| {
            let (x, low, high) = (unknown(b), b.float(-2.0), b.float(3.0));
            let x = b.op(Op::FMax, &[x, low]);
            b.op(Op::FMin, &[x, high])
        });
        assert_eq!(clamped, Range::new(-2.0, 3.0));
        let negated = range(|b| {
            let x = unknown(b);
            let root = b.op(Op::FSqrt, &[x]);
            b.fneg(root)
        });
        assert!(negated.high == 0.0 && negated.low == f32::NEG_INFINITY);
        assert_eq!(range(unknown), Range::ALL);
    }

    /// An infinity less another one is no number, so nothing is known.
    #[test]
    fn infinite_differences_are_unknown() {
        let difference = range(|b| {
            let (x, y) = (unknown(b), unknown(b));
            let (x, y) = (b.op(Op::FAbs, &[x]), b.op(Op::FAbs, &[y]));
            b.fsub(x, y)
        });
        assert_eq!(difference, Range::ALL);
    }

    #[test]
    fn bounds_allow_for_rounding() {
        let third = range(|b| {
            let (a, c) = (b.float(0.1), b.float(0.2));
            b.emit(Op::FAdd, &[a, c])[0]
        });
        assert!(third.low < 0.1 + 0.2 && third.high > 0.1 + 0.2);
    }
}
