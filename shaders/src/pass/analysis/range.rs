//! Intervals of floats.

use super::span::Span;

/// More than the relative error of any estimate (qpu.md §4.4).
const ESTIMATE: f32 = 0.000_2;

/// A closed interval that a float value lies in, whatever the inputs are; NaNs count as infinities of their sign, as the
/// machine has it. Bounds allow for the rounding of the operation that they belong to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Lower bound.
    pub low: f32,
    /// Upper bound.
    pub high: f32,
}

impl Range {
    /// Any float.
    pub const ALL: Range = Range { low: f32::NEG_INFINITY, high: f32::INFINITY };
    /// From 0 to 1.
    pub const UNIT: Range = Range { low: 0.0, high: 1.0 };

    /// From a bound to another.
    pub(super) const fn new(low: f32, high: f32) -> Range {
        Range { low, high }
    }

    /// Whether no value is below zero.
    pub fn is_positive(self) -> bool {
        self.low >= 0.0
    }

    /// The largest magnitude.
    pub fn most(self) -> f32 {
        self.high.abs().max(self.low.abs())
    }

    /// Whether nothing lies outside of `other`.
    pub(super) fn is_in(self, other: Range) -> bool {
        self.low >= other.low && self.high <= other.high
    }

    /// The difference of the bounds.
    pub fn width(self) -> f32 {
        self.high - self.low
    }

    /// The numbers that are no further than `by` from `x`.
    pub fn around(x: f32, by: f32) -> Range {
        Self::widened(x - by, x + by)
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
    pub(super) fn estimated(self) -> Range {
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

    /// Of numbers that a number of `other` makes no longer: beyond, each product with one of `other` is beyond this range or at its
    /// end. Nothing is known unless those have one sign.
    pub fn divided(self, other: Range) -> Range {
        if other.high <= 0.0 && other.low < 0.0 {
            return self.divided(other.negated()).negated();
        }
        if other.low < 0.0 {
            return Range::ALL;
        }
        // A zero of either sign.
        let end = |end: f32| if end == 0.0 { 0.0 } else { end / other.low.abs() };
        Self::widened(
            if self.low <= 0.0 { end(self.low) } else { f32::NEG_INFINITY },
            if self.high >= 0.0 { end(self.high) } else { f32::INFINITY },
        )
    }

    /// The same of quotients by numbers of `other`.
    pub fn multiplied(self, other: Range) -> Range {
        if other.high <= 0.0 && other.low < 0.0 {
            return self.multiplied(other.negated()).negated();
        }
        if other.low < 0.0 {
            return Range::ALL;
        }
        let end = |end: f32| if end == 0.0 { 0.0 } else { end * other.high };
        Self::widened(
            if self.low <= 0.0 { end(self.low) } else { f32::NEG_INFINITY },
            if self.high >= 0.0 { end(self.high) } else { f32::INFINITY },
        )
    }

    /// Of numbers whose squares lie in this range or below.
    pub fn roots(self) -> Range {
        let high = self.high.max(0.0).sqrt();
        Self::widened(-high, high)
    }

    /// Of numbers whose magnitudes do.
    pub fn magnitudes(self) -> Range {
        let high = self.high.max(0.0);
        Range::new(-high, high)
    }

    /// Without what is above `high`.
    pub fn below(self, high: f32) -> Range {
        Range::new(self.low, self.high.min(high))
    }

    /// Without what is below `low`.
    pub fn above(self, low: f32) -> Range {
        Range::new(self.low.max(low), self.high)
    }

    /// Of the logarithms to base 2 of numbers of which some are above zero.
    pub fn log2(self) -> Range {
        Self::widened(self.low.max(0.0).log2(), self.high.log2())
    }

    /// Of numbers whose logarithms lie in this range; what is below is not told apart from negative numbers.
    pub fn exp2(self) -> Range {
        Range::new(f32::NEG_INFINITY, self.high.exp2()).estimated()
    }

    /// Of sums.
    pub fn sum(a: Range, b: Range) -> Range {
        Self::widened(a.low + b.low, a.high + b.high)
    }

    pub(super) fn constant(x: f32) -> Range {
        if x.is_nan() { Range::ALL } else { Range::new(x, x) }
    }

    /// Of integers.
    pub(super) fn whole(span: Span) -> Range {
        Self::widened(span.low as f32, span.high as f32)
    }

    /// Room for the rounding of one operation.
    pub(super) fn widened(low: f32, high: f32) -> Range {
        let (low, high) = (
            if low.is_nan() { f32::NEG_INFINITY } else { low },
            if high.is_nan() { f32::INFINITY } else { high },
        );
        // Relative, so that zeros stay.
        let away = |x: f32, out: bool| if out { x * (1.0 + f32::EPSILON) } else { x * (1.0 - f32::EPSILON) };
        Range::new(away(low, low < 0.0), away(high, high > 0.0))
    }

    /// A product with a zero is zero, whatever the other factor is.
    pub(super) fn product(a: Range, b: Range) -> Range {
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

    #[test]
    fn bounds_of_operands_follow_from_those_of_results() {
        let (negative, positive) = (Range::new(f32::NEG_INFINITY, 0.0), Range::new(0.0, f32::INFINITY));
        // Nothing tells how large a factor is whose partner may be small, but its sign.
        assert_eq!(Range::UNIT.divided(positive), positive);
        assert_eq!(Range::UNIT.divided(positive.negated()), negative);
        assert_eq!(Range::UNIT.divided(Range::ALL), Range::ALL);
        let half = Range::UNIT.divided(Range::constant(-2.0));
        assert!(half.low <= -0.5 && half.low > -0.6 && half.high == 0.0);
        // Quotients by numbers up to 2.
        let double = Range::UNIT.multiplied(Range::new(0.0, 2.0));
        assert!(double.low == 0.0 && double.high >= 2.0 && double.high < 2.1);
        assert_eq!(Range::UNIT.multiplied(Range::ALL), Range::ALL);
        // What lies on one side of zero says nothing of the other side.
        assert_eq!(Range::new(1.0, 2.0).divided(positive).low, f32::NEG_INFINITY);
    }
}
