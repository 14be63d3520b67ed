//! Signs of sums and products, moved to where they cost nothing.
//!
//! The QPU negates by a subtraction of its own, but a sum takes a negated term as a difference, and rounding is the same on
//! both sides of zero: −x · y is −(x · y), −x + −y is −(x + y), to the bit.

use crate::ir::{Builder, Op, Value};

/// How to get what a value is the opposite of, at no more cost than the value itself.
enum Opposite {
    /// A value that there is.
    Of(Value),
    /// A product.
    Product(Value, Value),
    /// A product whose first factor is one of a value and a constant.
    Scaled(Value, f32, Value),
}

impl Opposite {
    /// Of `value`, if there is a sign in it.
    fn find(b: &Builder<'_>, value: Value) -> Option<Opposite> {
        let args = b.shader.args(value);
        match (b.shader.op(value), args) {
            (Op::FNeg, &[x]) => Some(Opposite::Of(x)),
            (Op::FMul, &[x, y]) => Opposite::of_factor(b, x, y).or_else(|| Opposite::of_factor(b, y, x)),
            _ => None,
        }
    }

    /// Of the product of `x` and `y`, by a sign in `x`.
    fn of_factor(b: &Builder<'_>, x: Value, y: Value) -> Option<Opposite> {
        let constant = |value| b.shader.const_of(value).map(f32::from_bits);
        match (b.shader.op(x), b.shader.args(x)) {
            (Op::FNeg, &[x]) => Some(Opposite::Product(x, y)),
            (Op::FMul, &[z, c]) => {
                let factor = constant(c).filter(|&factor| factor < 0.0)?;
                Some(Opposite::Scaled(z, -factor, y))
            }
            _ => None,
        }
    }

    fn make(self, b: &mut Builder<'_>) -> Value {
        match self {
            Opposite::Of(value) => value,
            Opposite::Product(x, y) => b.fmul(x, y),
            Opposite::Scaled(z, factor, y) => {
                let factor = b.float(factor);
                let scaled = b.fmul(z, factor);
                b.fmul(scaled, y)
            }
        }
    }
}

/// x + y with the signs outside.
pub fn sum(b: &mut Builder<'_>, x: Value, y: Value) -> Option<Value> {
    match (Opposite::find(b, x), Opposite::find(b, y)) {
        (Some(x), Some(y)) => {
            let (x, y) = (x.make(b), y.make(b));
            let sum = b.fadd(x, y);
            Some(b.fneg(sum))
        }
        (None, Some(y)) => {
            let y = y.make(b);
            Some(b.fsub(x, y))
        }
        (Some(x), None) => {
            let x = x.make(b);
            Some(b.fsub(y, x))
        }
        (None, None) => None,
    }
}

/// x − y with the signs outside.
pub fn difference(b: &mut Builder<'_>, x: Value, y: Value) -> Option<Value> {
    match (Opposite::find(b, x), Opposite::find(b, y)) {
        (Some(x), Some(y)) => {
            let (x, y) = (x.make(b), y.make(b));
            Some(b.fsub(y, x))
        }
        (None, Some(y)) => {
            let y = y.make(b);
            Some(b.fadd(x, y))
        }
        (_, None) => None,
    }
}

/// The opposite of a difference is the difference the other way round.
pub fn negation(b: &mut Builder<'_>, x: Value) -> Option<Value> {
    match (b.shader.op(x), b.shader.args(x)) {
        (Op::FNeg, &[x]) => Some(x),
        (Op::FSub, &[x, y]) => Some(b.fsub(y, x)),
        _ => None,
    }
}
