//! Intervals of integers.

use crate::ir::Op;

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

    pub(super) const fn new(low: i64, high: i64) -> Span {
        Span { low, high }
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

    /// If all numbers are words without change, they; else any word.
    pub(super) fn as_word(self) -> Span {
        if self.low >= Span::ALL.low && self.high <= Span::ALL.high { self } else { Span::ALL }
    }

    /// Products; they fit where those of two words do.
    pub(super) fn times(self, other: Span) -> Span {
        let products =
            [self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high];
        let [mut low, mut high] = [products[0]; 2];
        for product in products {
            (low, high) = (low.min(product), high.max(product));
        }
        Span::new(low, high)
    }
}
