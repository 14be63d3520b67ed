//! Bounds of values, by what computes them: of floats a [`Range`], of words a [`Span`].

use cranelift_entity::SecondaryMap;
use vc4::image::tiling::MAX_SURFACE;
use vc4::qpu::alu::MUL24_BITS;
use vc4::qpu::{AddOp, MulOp, Unpack};

use super::range::Range;
use super::span::Span;
use crate::binding::{MAX_BUFFER_TEXELS, MAX_IMAGE_TEXELS, TextureValue, UniformSlot};
use crate::ir::{Inst, Op, Shader, Value};

/// Steps that an analysis follows operands.
const DEPTH: u32 = 8;

/// The same for a shorter look.
const NEAR: u32 = 4;

/// More than the absolute error of the estimate of a logarithm (qpu.md §4.4).
const LOGARITHM: f32 = 0.000_2;

/// The ranges of all values.
pub struct Ranges(SecondaryMap<Value, Range>);

impl Ranges {
    /// Of a shader whose instructions in program order are `insts`, with what is known of its `inputs`.
    pub fn of(shader: &Shader, insts: &[Inst], inputs: impl Fn(Op) -> Option<Range>) -> Ranges {
        let mut ranges = SecondaryMap::with_default(Range::ALL);
        for &inst in insts {
            // What a phi merges may come later.
            if let ([value], true) = (&shader.insts[inst].results[..], !shader.insts[inst].op.is(Op::Phi)) {
                if let Some(range) = inputs(shader.insts[inst].op) {
                    ranges[*value] = range;
                    continue;
                }
                let of = |arg: Value| ranges[arg];
                let span = |word| follow_span(shader, word, NEAR, &|arg, _| ranges[arg]);
                ranges[*value] = range_by(shader, *value, of, span);
            }
        }
        Ranges(ranges)
    }

    /// Of a value.
    pub fn range(&self, value: Value) -> Range {
        self.0[value]
    }

    /// Of a value where `known` lies in `range`, as far as a few steps tell.
    pub fn given(&self, shader: &Shader, value: Value, (known, range): (Value, Range)) -> Range {
        self.follow(shader, value, (known, range), DEPTH)
    }

    fn follow(&self, shader: &Shader, value: Value, given: (Value, Range), depth: u32) -> Range {
        if value == given.0 {
            return given.1;
        }
        let is_known = shader.op(value).is(Op::Phi) || shader.args(value).is_empty();
        let Some(depth) = depth.checked_sub(1).filter(|_| !is_known) else {
            return self.range(value);
        };
        let of = |arg| self.follow(shader, arg, given, depth);
        let span = |word| follow_span(shader, word, NEAR, &|arg, _| self.0[arg]);
        range_by(shader, value, of, span)
    }
}

/// The range of a float.
pub fn range(shader: &Shader, value: Value) -> Range {
    follow_range(shader, value, DEPTH)
}

/// The span of a word.
pub fn span(shader: &Shader, value: Value) -> Span {
    follow_span(shader, value, DEPTH, &|arg, depth| follow_range(shader, arg, depth))
}

/// The same by a shorter look.
pub fn span_near(shader: &Shader, value: Value) -> Span {
    follow_span(shader, value, NEAR, &|arg, depth| follow_range(shader, arg, depth))
}

/// The range of a float as far as so many steps tell.
fn follow_range(shader: &Shader, value: Value, depth: u32) -> Range {
    let Some(depth) = depth.checked_sub(1) else { return Range::ALL };
    let of = |arg| follow_range(shader, arg, depth);
    let span = |word| follow_span(shader, word, depth, &|arg, depth| follow_range(shader, arg, depth));
    range_by(shader, value, of, span)
}

/// The range of a float, by those of its operands.
fn range_by(
    shader: &Shader,
    value: Value,
    range: impl Fn(Value) -> Range,
    span: impl Fn(Value) -> Span,
) -> Range {
    let args = shader.args(value);
    let of = |n: usize| range(args[n]);
    let positive = Range::new(0.0, f32::INFINITY);
    match shader.op(value) {
        Op::Const(word) => Range::constant(f32::from_bits(word)),
        Op::FAdd => Range::sum(of(0), of(1)),
        Op::FSub => Range::sum(of(0), of(1).negated()),
        Op::FNeg => of(0).negated(),
        Op::FAbs => match of(0) {
            Range { low, high } if low >= 0.0 => Range::new(low, high),
            Range { low, high } => Range::new(0.0, high.max(-low)),
        },
        // A square; negative zeros do not matter.
        Op::FMul if args[0] == args[1] => {
            let Range { low, high } = of(0);
            Range::widened(0.0, high.abs().max(low.abs()).powi(2))
        }
        Op::FMul if smooth_step(shader, args).is_some_and(|t| range(t).is_in(Range::UNIT)) => Range::UNIT,
        Op::FMul => Range::product(of(0), of(1)),
        Op::FDiv => match of(1) {
            Range { low, high } if low > 0.0 => {
                Range::product(of(0), Range::new(1.0 / high, 1.0 / low)).estimated()
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
            Range { low, high } if low > 0.0 => Range::new(1.0 / high.sqrt(), 1.0 / low.sqrt()).estimated(),
            _ => positive,
        },
        Op::FExp2 | Op::SfuExp2 => {
            let Range { low, high } = of(0);
            Range::new(low.exp2(), high.exp2()).estimated()
        }
        Op::FLog2 => match of(0) {
            Range { low, high } if low >= 0.0 => Range::new(low.log2() - LOGARITHM, high.log2() + LOGARITHM),
            _ => Range::ALL,
        },
        Op::FInverseLength | Op::SfuRsqrt => positive,
        Op::FSin | Op::FCos => Range::new(-1.001, 1.001),
        Op::FSign => Range::new(-1.0, 1.0),
        Op::UnpackFloat(Unpack::Byte0 | Unpack::Byte1 | Unpack::Byte2 | Unpack::Byte3) => {
            Range::new(0.0, 1.0)
        }
        Op::SToF => Range::whole(span(args[0])),
        Op::UToF => Range::whole(span(args[0]).unsigned()),
        Op::FFloor | Op::FTrunc | Op::FCeil | Op::FRoundEven => {
            let Range { low, high } = of(0);
            Range::widened(low - 1.0, high + 1.0)
        }
        _ => Range::ALL,
    }
}

/// The t of t·t·(3 - 2·t), which grows from 0 to 1 with it; its products do not round beyond.
fn smooth_step(shader: &Shader, factors: &[Value]) -> Option<Value> {
    let args = |value: Value, op: Op| (shader.op(value) == op).then(|| shader.args(value));
    let is = |value: Value, x: f32| shader.const_of(value) == Some(x.to_bits());
    let &[first, second] = factors else { return None };
    let (square, rest) = if shader.op(second) == Op::FSub { (first, second) } else { (second, first) };
    let &[t, same] = args(square, Op::FMul)? else { return None };
    let &[three, twice] = args(rest, Op::FSub)? else { return None };
    let &[x, y] = shader.args(twice) else { return None };
    let is_twice = match shader.op(twice) {
        Op::FMul => x == t && is(y, 2.0) || y == t && is(x, 2.0),
        Op::FAdd => x == t && y == t,
        _ => false,
    };
    (t == same && is(three, 3.0) && is_twice).then_some(t)
}

/// The span of a word as far as so many steps tell, by the ranges of floats.
fn follow_span(shader: &Shader, value: Value, depth: u32, range: &dyn Fn(Value, u32) -> Range) -> Span {
    let Some(depth) = depth.checked_sub(1) else { return Span::ALL };
    let args = shader.args(value);
    let of = |n: usize| follow_span(shader, args[n], depth, range);
    let count = || shader.const_of(args[1]).map(|count| count & 31);
    match shader.op(value) {
        Op::Const(word) => Span::new((word as i32).into(), (word as i32).into()),
        Op::IAdd | Op::Add(AddOp::Add) => {
            let (a, b) = (of(0), of(1));
            Span::new(a.low + b.low, a.high + b.high).as_word()
        }
        Op::ISub | Op::Add(AddOp::Sub) => {
            let (a, b) = (of(0), of(1));
            Span::new(a.low - b.high, a.high - b.low).as_word()
        }
        Op::IMul => of(0).times(of(1)).as_word(),
        Op::Mul(MulOp::Mul24) => {
            let low_bits = |span: Span| match span.is_positive() && span.bits() <= MUL24_BITS {
                true => span,
                false => Span::new(0, (1 << MUL24_BITS) - 1),
            };
            low_bits(of(0)).times(low_bits(of(1))).as_word()
        }
        Op::And => match (of(0), of(1)) {
            (a, b) if a.is_positive() && b.is_positive() => Span::new(0, a.high.min(b.high)),
            (a, _) if a.is_positive() => Span::new(0, a.high),
            (_, b) if b.is_positive() => Span::new(0, b.high),
            _ => Span::ALL,
        },
        Op::Or | Op::Xor => match of(0).bits().max(of(1).bits()) {
            u32::BITS => Span::ALL,
            bits => Span::new(0, (1 << bits) - 1),
        },
        Op::Shl => match count() {
            Some(count) => of(0).times(Span::new(1 << count, 1 << count)).as_word(),
            None => Span::ALL,
        },
        Op::Shr => match (of(0), count()) {
            (a, None) if a.is_positive() => Span::new(0, a.high),
            (_, None) => Span::ALL,
            (a, Some(count)) => {
                let a = a.unsigned();
                Span::new(a.low >> count, a.high >> count).as_word()
            }
        },
        Op::Asr => match (of(0), count()) {
            (a, Some(count)) => Span::new(a.low >> count, a.high >> count),
            (a, None) => Span::new(a.low.min(0), a.high.max(-1)),
        },
        Op::Select => {
            let (yes, no) = (of(1), of(2));
            Span::new(yes.low.min(no.low), yes.high.max(no.high))
        }
        Op::SMin | Op::Add(AddOp::Min) => {
            let (a, b) = (of(0), of(1));
            Span::new(a.low.min(b.low), a.high.min(b.high))
        }
        Op::SMax | Op::Add(AddOp::Max) => {
            let (a, b) = (of(0), of(1));
            Span::new(a.low.max(b.low), a.high.max(b.high))
        }
        // Words with a sign are the largest.
        Op::UMin => match (of(0), of(1)) {
            (a, b) if a.is_positive() && b.is_positive() => Span::new(a.low.min(b.low), a.high.min(b.high)),
            (a, _) if a.is_positive() => Span::new(0, a.high),
            (_, b) if b.is_positive() => Span::new(0, b.high),
            _ => Span::ALL,
        },
        Op::UMax => match (of(0), of(1)) {
            (a, b) if a.is_positive() && b.is_positive() => Span::new(a.low.max(b.low), a.high.max(b.high)),
            _ => Span::ALL,
        },
        // Nothing is known of what a division by zero makes.
        Op::UDiv | Op::UMod | Op::SDiv | Op::SRem | Op::SMod => {
            let (a, b) = (of(0), of(1));
            match shader.op(value) {
                _ if !a.is_positive() || b.low <= 0 => Span::ALL,
                Op::UDiv | Op::SDiv => Span::new(a.low / b.high, a.high / b.low),
                _ => Span::new(0, a.high.min(b.high - 1)),
            }
        }
        op @ (Op::FToS | Op::FToU) => {
            let Range { low, high } = range(args[0], depth);
            // Beyond the integers nothing is known.
            let least = if op == Op::FToS { -2_147_483_648.0 } else { -1.0 };
            match low > least && high < 2_147_483_648.0 {
                true => Span::new(low as i64, high as i64),
                false => Span::ALL,
            }
        }
        Op::UnpackInt(unpack) if unpack.code() >= 4 => Span::new(0, 255),
        Op::Clz => Span::new(0, 32),
        Op::RevFlag => Span::new(0, 1),
        Op::ElementNumber => Span::new(0, 15),
        Op::PixelX | Op::PixelY => Span::new(0, i64::from(MAX_SURFACE) - 1),
        Op::PayloadZ => Span::new(0, (1 << 24) - 1),
        Op::ImageSize { axis: 0, halves: false, .. }
        | Op::Uniform(UniformSlot::Texture { value: TextureValue::Extent(0), .. }) => {
            // A buffer's one axis may be meant.
            Span::new(1, MAX_BUFFER_TEXELS.into())
        }
        Op::ImageSize { .. } | Op::ImageLevels(_) | Op::ImageSamples(_) => {
            Span::new(1, MAX_IMAGE_TEXELS.into())
        }
        Op::Uniform(UniformSlot::Texture {
            value: TextureValue::Extent(_) | TextureValue::Levels | TextureValue::Samples,
            ..
        }) => Span::new(1, MAX_IMAGE_TEXELS.into()),
        _ => Span::ALL,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ir::eval::eval;
    use crate::ir::{Builder, Stage};

    fn range(build: impl FnOnce(&mut Builder) -> Value) -> Range {
        let mut shader = Shader::new(Stage::Fragment);
        let block = shader.entry().expect("a new shader has a block");
        let value = build(&mut Builder::new(&mut shader, block));
        super::range(&shader, value)
    }

    fn unknown(b: &mut Builder) -> Value {
        b.emit(Op::Varying(0), &[])[0]
    }

    #[test]
    fn ranges_follow_operations() {
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

    fn shader() -> Shader {
        Shader::new(Stage::Fragment)
    }

    fn span(build: impl FnOnce(&mut Builder) -> Value) -> Span {
        let mut shader = shader();
        let block = shader.entry().expect("a new shader has a block");
        let value = build(&mut Builder::new(&mut shader, block));
        super::span(&shader, value)
    }

    #[test]
    fn spans_follow_operations() {
        let half = span(|b| {
            let (pixel, one) = (b.emit(Op::PixelX, &[])[0], b.word(1));
            b.op(Op::Shr, &[pixel, one])
        });
        assert_eq!(half, Span::new(0, 2047));
        let bounded = span(|b| {
            let (x, low, high) = (unknown(b), b.word(-3i32 as u32), b.word(9));
            let x = b.op(Op::SMax, &[x, low]);
            b.op(Op::SMin, &[x, high])
        });
        assert_eq!((bounded, bounded.magnitude(), bounded.bits()), (Span::new(-3, 9), Span::new(0, 9), 32));
        let texel = span(|b| {
            let (x, low, high) = (unknown(b), b.float(-0.5), b.float(63.5));
            let x = b.op(Op::FMax, &[x, low]);
            let x = b.op(Op::FMin, &[x, high]);
            b.op(Op::FToS, &[x])
        });
        assert_eq!(texel, Span::new(0, 63));
        assert_eq!(span(unknown), Span::ALL);
        assert_eq!(Span::ALL.unsigned(), Span::new(0, u32::MAX.into()));
        assert_eq!(Span::ALL.magnitude(), Span::new(0, 1 << 31));
    }

    const OPS: [Op; 20] = [
        Op::IAdd,
        Op::ISub,
        Op::IMul,
        Op::And,
        Op::Or,
        Op::Xor,
        Op::Shl,
        Op::Shr,
        Op::Asr,
        Op::SMin,
        Op::SMax,
        Op::UMin,
        Op::UMax,
        Op::UDiv,
        Op::UMod,
        Op::SDiv,
        Op::SRem,
        Op::SMod,
        Op::Mul(MulOp::Mul24),
        Op::Add(AddOp::Max),
    ];

    /// Words of all sizes and both signs.
    fn word() -> impl Strategy<Value = u32> {
        prop_oneof![
            (any::<u32>(), 0..32u32).prop_map(|(word, by)| word >> by),
            (0..64i32).prop_map(|n| -n as u32)
        ]
    }

    proptest! {
        /// Each operand is one of two words, which nobody knows, and may be the result of an earlier operation.
        #[test]
        fn every_word_lies_in_its_span(
            leaves in prop::collection::vec((word(), word(), any::<bool>()), 4),
            steps in prop::collection::vec((0..OPS.len(), 0..64usize, 0..64usize), 1..8),
        ) {
            let mut shader = shader();
            let block = shader.entry().expect("a new shader has a block");
            let mut b = Builder::new(&mut shader, block);
            let x = unknown(&mut b);
            let zero = b.word(0);
            let choice = b.emit(Op::IEq, &[x, zero])[0];
            let mut values: Vec<(Value, u32)> = Vec::new();
            for (yes, no, chosen) in leaves {
                let (first, second) = (b.word(yes), b.word(no));
                values.push((b.select(choice, first, second), if chosen { yes } else { no }));
            }
            for (op, first, second) in steps {
                let op = OPS[op];
                let ((x, a), (y, c)) = (values[first % values.len()], values[second % values.len()]);
                if let Some(result) = eval(op, &[a, c]) {
                    values.push((b.emit(op, &[x, y])[0], result));
                }
            }
            for &(value, word) in &values {
                let (span, number) = (super::span(&shader, value), i64::from(word as i32));
                prop_assert!((span.low..=span.high).contains(&number), "{number} is not in {span:?}");
                let number = i64::from(word);
                let unsigned = span.unsigned();
                prop_assert!((unsigned.low..=unsigned.high).contains(&number), "{number} is not in {unsigned:?}");
                prop_assert!(u32::BITS - word.leading_zeros() <= span.bits());
                let magnitude = i64::from((word as i32).unsigned_abs());
                prop_assert!((span.magnitude().low..=span.magnitude().high).contains(&magnitude));
            }
            let comparisons = [Op::IEq, Op::INe, Op::SLt, Op::SLe, Op::ULt, Op::ULe];
            for pair in values.windows(2) {
                let [(x, a), (y, c)] = [pair[0], pair[1]];
                for op in comparisons {
                    if let Some(outcome) = Span::compare(op, super::span(&shader, x), super::span(&shader, y)) {
                        prop_assert_eq!(eval(op, &[a, c]), Some(outcome.into()));
                    }
                }
            }
        }
    }
}
