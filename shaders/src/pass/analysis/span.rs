//! Bounds of words, by what computes them.

use vc4::qpu::{AddOp, MulOp};

use super::range::Range;
use crate::binding::{TextureValue, UniformSlot};
use crate::ir::{Op, Shader, Value};

/// Steps that the analysis follows operands.
const DEPTH: u32 = 8;

/// The same for [`Span::near`].
const NEAR: u32 = 4;

/// Texels along an axis, layers and levels are fewer.
const MOST_TEXELS: i64 = 1 << 28;

/// Columns and rows of the render target that a job draws are fewer (v3d.md §14).
const PIXELS: i64 = 1 << 11;

/// A closed interval of numbers. A word's is that of the signed number that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Lower bound.
    pub low: i64,
    /// Upper bound.
    pub high: i64,
}

impl Span {
    /// Any word.
    pub const ALL: Span = Span::new(i32::MIN as i64, i32::MAX as i64);

    const fn new(low: i64, high: i64) -> Span {
        Span { low, high }
    }

    /// The signed number that a word is.
    pub fn of(shader: &Shader, value: Value) -> Span {
        Self::follow(shader, value, DEPTH)
    }

    /// The same by a shorter look.
    pub fn near(shader: &Shader, value: Value) -> Span {
        Self::follow(shader, value, NEAR)
    }

    /// Whether an operation compares numbers of these spans with the same outcome, whatever they are; `None` for every
    /// other operation, too.
    pub fn compare(op: Op, a: Span, b: Span) -> Option<bool> {
        let less = |a: Span, b: Span, equal: bool| match equal {
            _ if a.high < b.low => Some(true),
            _ if a.low > b.high => Some(false),
            true if a.high == b.low => Some(true),
            false if a.low == b.high => Some(false),
            _ => None,
        };
        let apart = a.high < b.low || b.high < a.low;
        match op {
            Op::IEq => apart.then_some(false),
            Op::INe => apart.then_some(true),
            Op::SLt => less(a, b, false),
            Op::SLe => less(a, b, true),
            Op::ULt => less(a.unsigned(), b.unsigned(), false),
            Op::ULe => less(a.unsigned(), b.unsigned(), true),
            _ => None,
        }
    }

    /// The same words as numbers without sign.
    pub const fn unsigned(self) -> Span {
        const WORDS: i64 = 1 << 32;
        match (self.low < 0, self.high < 0) {
            (true, true) => Span::new(self.low + WORDS, self.high + WORDS),
            (true, false) => Span::new(0, WORDS - 1),
            _ => self,
        }
    }

    /// The magnitudes.
    pub fn magnitude(self) -> Span {
        let (low, high) = (self.low.abs(), self.high.abs());
        let least = if self.low < 0 && self.high > 0 { 0 } else { low.min(high) };
        Span::new(least, low.max(high))
    }

    /// Significant bits of the words.
    pub const fn bits(self) -> u32 {
        if self.low < 0 { u32::BITS } else { i64::BITS - self.high.leading_zeros() }
    }

    /// Whether no number is below zero.
    pub const fn is_positive(self) -> bool {
        self.low >= 0
    }

    /// The same, as far as so many steps tell.
    pub(super) fn follow(shader: &Shader, value: Value, depth: u32) -> Span {
        let Some(depth) = depth.checked_sub(1) else { return Span::ALL };
        let args = shader.args(value);
        let of = |n: usize| Self::follow(shader, args[n], depth);
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
                let low_bits = |span: Span| match span.is_positive() && span.bits() <= 24 {
                    true => span,
                    false => Span::new(0, (1 << 24) - 1),
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
                (a, b) if a.is_positive() && b.is_positive() => {
                    Span::new(a.low.min(b.low), a.high.min(b.high))
                }
                (a, _) if a.is_positive() => Span::new(0, a.high),
                (_, b) if b.is_positive() => Span::new(0, b.high),
                _ => Span::ALL,
            },
            Op::UMax => match (of(0), of(1)) {
                (a, b) if a.is_positive() && b.is_positive() => {
                    Span::new(a.low.max(b.low), a.high.max(b.high))
                }
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
                let Range { low, high } = Range::follow(shader, args[0], depth);
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
            Op::PixelX | Op::PixelY => Span::new(0, PIXELS - 1),
            Op::PayloadZ => Span::new(0, (1 << 24) - 1),
            Op::ImageSize { .. } | Op::ImageLevels(_) | Op::ImageSamples(_) => Span::new(1, MOST_TEXELS),
            Op::Uniform(UniformSlot::Texture {
                value: TextureValue::Extent(_) | TextureValue::Levels | TextureValue::Samples,
                ..
            }) => Span::new(1, MOST_TEXELS),
            _ => Span::ALL,
        }
    }

    /// If all numbers are words without change, they; else any word.
    fn as_word(self) -> Span {
        if self.low >= Span::ALL.low && self.high <= Span::ALL.high { self } else { Span::ALL }
    }

    /// Products; they fit where those of two words do.
    fn times(self, other: Span) -> Span {
        let products =
            [self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high];
        let [mut low, mut high] = [products[0]; 2];
        for product in products {
            (low, high) = (low.min(product), high.max(product));
        }
        Span::new(low, high)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ir::eval::eval;
    use crate::ir::{Builder, Stage};

    fn shader() -> Shader {
        Shader::new(Stage::Fragment)
    }

    fn span(build: impl FnOnce(&mut Builder) -> Value) -> Span {
        let mut shader = shader();
        let block = shader.entry().expect("a new shader has a block");
        let value = build(&mut Builder::new(&mut shader, block));
        Span::of(&shader, value)
    }

    fn unknown(b: &mut Builder) -> Value {
        b.emit(Op::Varying(0), &[])[0]
    }

    #[test]
    fn bounds_follow_operations() {
        let half = span(|b| {
            let (pixel, one) = (b.emit(Op::PixelX, &[])[0], b.word(1));
            b.op(Op::Shr, &[pixel, one])
        });
        assert_eq!(half, Span::new(0, 1023));
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
                let (span, number) = (Span::of(&shader, value), i64::from(word as i32));
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
                    if let Some(outcome) = Span::compare(op, Span::of(&shader, x), Span::of(&shader, y)) {
                        prop_assert_eq!(eval(op, &[a, c]), Some(outcome.into()));
                    }
                }
            }
        }
    }
}
