//! Operations that are one of their operands, or a cheaper operation, by the laws of arithmetic.
//!
//! Vulkan 1.0 does not ask for signed zeros, infinities or NaNs to be preserved, so x + 0 is x and x · 0 is 0. The CPU has
//! IEEE arithmetic, though, and its compute shaders keep it: there only laws hold that hold to the bit.

use std::convert::Infallible;

use vc4::qpu::{AddOp, Unpack};

use crate::ir::{Builder, InstData, Op, Shader, Stage, Type, Value};
use crate::pass::analysis::bounds;
use crate::pass::analysis::span::Span;
use crate::pass::rewrite::{Action, rewrite};
use crate::pass::rewrite::{choice, negation};

/// Runs the pass. Returns whether anything changed.
pub fn run(shader: &mut Shader) -> bool {
    let mut changed = false;
    let outcome: Result<(), Infallible> = rewrite(shader, |b, data| {
        let value = match data.results.len() {
            1 => simpler(b, data),
            _ => None,
        };
        changed |= value.is_some();
        Ok(value.map_or(Action::Keep, Action::with))
    });
    match outcome {
        Ok(()) => changed,
        Err(never) => match never {},
    }
}

fn simpler(b: &mut Builder<'_>, data: &InstData) -> Option<Value> {
    match data.args[..] {
        [a] => unary(b, data.op, a),
        [x, y] if !data.op.is(Op::Phi) => binary(b, data.op, x, y),
        [c, x, y] if data.op.is(Op::Select) => select(b, c, x, y),
        _ => None,
    }
}

/// The operand of a value's definition if that is a certain unary operation.
fn under(b: &Builder<'_>, op: Op, value: Value) -> Option<Value> {
    b.shader.op(value).is(op).then(|| b.shader.args(value)[0])
}

/// Whether only laws of IEEE arithmetic hold.
fn is_strict(b: &Builder<'_>) -> bool {
    b.shader.stage == Stage::Compute
}

fn word(b: &Builder<'_>, value: Value) -> Option<u32> {
    b.shader.const_of(value)
}

fn float(b: &Builder<'_>, value: Value) -> Option<f32> {
    word(b, value).map(f32::from_bits)
}

fn unary(b: &mut Builder<'_>, op: Op, a: Value) -> Option<Value> {
    let inner = b.shader.op(a);
    match op {
        Op::FNeg if is_strict(b) => under(b, Op::FNeg, a),
        Op::FNeg => negation::negation(b, a),
        Op::FAbs if inner == Op::FAbs => Some(a),
        Op::FAbs if !is_strict(b) && bounds::range(b.shader, a).is_positive() => Some(a),
        Op::FAbs => under(b, Op::FNeg, a).map(|x| b.fabs(x)),
        Op::Not => under(b, Op::Not, a),
        Op::BNot => under(b, Op::BNot, a).or_else(|| opposite(b, a)),
        Op::FFloor | Op::FCeil | Op::FTrunc | Op::FRoundEven => {
            let whole = matches!(
                inner,
                Op::SToF | Op::UToF | Op::FFloor | Op::FCeil | Op::FTrunc | Op::FRoundEven | Op::FSign
            );
            whole.then_some(a)
        }
        Op::LoadUboDynamic { buffer, offset, .. } => {
            let offset = word(b, a)?.checked_add(offset).filter(|offset| offset % 4 == 0)?;
            Some(b.emit(Op::LoadUbo { buffer, offset }, &[])[0])
        }
        _ => None,
    }
}

/// The comparison that holds where the given one does not. Float order stays: NaN is on neither side.
fn opposite(b: &mut Builder<'_>, comparison: Value) -> Option<Value> {
    let (op, swap) = b.shader.op(comparison).opposite().filter(|(op, _)| !matches!(op, Op::FLt | Op::FLe))?;
    let (x, y) = (b.shader.args(comparison)[0], b.shader.args(comparison)[1]);
    Some(if swap { b.op(op, &[y, x]) } else { b.op(op, &[x, y]) })
}

fn binary(b: &mut Builder<'_>, op: Op, x: Value, y: Value) -> Option<Value> {
    if let Some(truth) = known(b, op, x, y) {
        return Some(b.truth(truth));
    }
    // A constant first operand of a commutative operation is looked at as the second.
    if op.commutes() && word(b, x).is_some() && word(b, y).is_none() {
        return constant(b, op, y, x).or_else(|| shape(b, op, y, x));
    }
    constant(b, op, x, y).or_else(|| same(b, op, x, y)).or_else(|| shape(b, op, x, y))
}

/// The outcome of a comparison with a constant that the bounds of the other word tell.
fn known(b: &Builder<'_>, op: Op, x: Value, y: Value) -> Option<bool> {
    let compares = matches!(op, Op::IEq | Op::INe | Op::SLt | Op::SLe | Op::ULt | Op::ULe);
    if !compares || word(b, x).is_some() == word(b, y).is_some() {
        return None;
    }
    Span::compare(op, bounds::span_near(b.shader, x), bounds::span_near(b.shader, y))
}

/// Laws with a constant second operand.
fn constant(b: &mut Builder<'_>, op: Op, x: Value, y: Value) -> Option<Value> {
    let c = word(b, y)?;
    let f = f32::from_bits(c);
    match op {
        // Of a sum only the zero of the other sign, of a product nothing, of a quotient only what is exact.
        Op::FAdd if is_strict(b) => (c == 1 << 31).then_some(x),
        Op::FSub if is_strict(b) => (c == 0).then_some(x),
        Op::FMul if is_strict(b) && f == 0.0 => None,
        Op::FMin | Op::FMax if is_strict(b) => None,
        Op::FDiv if is_strict(b) && c & 0x7f_ffff != 0 => None,
        Op::FAdd | Op::FSub if f == 0.0 => Some(x),
        Op::FMul if f == 1.0 => Some(x),
        Op::FMul if f == -1.0 => Some(b.fneg(x)),
        Op::FMul if f == 0.0 => Some(b.float(0.0)),
        Op::FMax if bounds::range(b.shader, x).low >= f => Some(x),
        Op::FMin if bounds::range(b.shader, x).high <= f => Some(x),
        Op::FMul => under(b, Op::FNeg, x).map(|x| {
            let c = b.float(-f);
            b.fmul(x, c)
        }),
        Op::FDiv if f.is_normal() && (1.0 / f).is_normal() => {
            let inverse = b.float(1.0 / f);
            Some(b.fmul(x, inverse))
        }
        Op::IAdd | Op::ISub | Op::Or | Op::Xor | Op::Shl | Op::Shr | Op::Asr | Op::BOr | Op::BXor
            if c == 0 =>
        {
            Some(x)
        }
        Op::BXor => Some(b.bnot(x)),
        Op::BAnd | Op::IMul | Op::UDiv | Op::SDiv if c == 1 => Some(x),
        Op::And | Op::BAnd | Op::IMul if c == 0 => Some(y),
        Op::BOr => Some(y),
        Op::And if c == !0 => Some(x),
        Op::Or if c == !0 => Some(y),
        Op::UMod | Op::SMod | Op::SRem if c == 1 => Some(b.word(0)),
        Op::ISub => {
            let negated = b.word(c.wrapping_neg());
            Some(b.iadd(x, negated))
        }
        Op::IAdd => {
            let inner = outer_constant(b, Op::IAdd, x)?;
            let sum = b.word(c.wrapping_add(inner.1));
            Some(b.iadd(inner.0, sum))
        }
        Op::Shl => {
            let inner = outer_constant(b, Op::Shl, x)?;
            let by = (c & 31) + (inner.1 & 31);
            let by = (by < 32).then_some(by)?;
            let by = b.word(by);
            Some(b.shl(inner.0, by))
        }
        _ if c.is_power_of_two() => power_of_two(b, op, x, c),
        _ => None,
    }
}

/// An operation's first operand and its constant second one.
fn outer_constant(b: &Builder<'_>, op: Op, value: Value) -> Option<(Value, u32)> {
    if b.shader.op(value) != op {
        return None;
    }
    let args = b.shader.args(value);
    match (word(b, args[0]), word(b, args[1])) {
        (None, Some(c)) => Some((args[0], c)),
        (Some(c), None) if op.commutes() => Some((args[1], c)),
        _ => None,
    }
}

/// Products and quotients of a power of two, which is not 1.
fn power_of_two(b: &mut Builder<'_>, op: Op, x: Value, c: u32) -> Option<Value> {
    let positive = c < 1 << 31;
    let (op, second) = match op {
        Op::IMul => (Op::Shl, c.trailing_zeros()),
        Op::UDiv => (Op::Shr, c.trailing_zeros()),
        Op::UMod => (Op::And, c - 1),
        Op::SMod if positive => (Op::And, c - 1),
        Op::SDiv if positive => return Some(signed_quotient(b, x, c)),
        Op::SRem if positive => {
            let quotient = signed_quotient(b, x, c);
            let by = b.word(c.trailing_zeros());
            let whole = b.shl(quotient, by);
            return Some(b.isub(x, whole));
        }
        _ => return None,
    };
    let second = b.word(second);
    Some(b.op(op, &[x, second]))
}

/// x / 2^n toward zero: negative x first gets 2^n - 1 more.
fn signed_quotient(b: &mut Builder<'_>, x: Value, c: u32) -> Value {
    let shift = c.trailing_zeros();
    let (sign_at, rest, by) = (b.word(31), b.word(32 - shift), b.word(shift));
    let sign = b.asr(x, sign_at);
    let more = b.shr(sign, rest);
    let sum = b.iadd(x, more);
    b.asr(sum, by)
}

/// Laws with equal operands.
fn same(b: &mut Builder<'_>, op: Op, x: Value, y: Value) -> Option<Value> {
    if x != y {
        return None;
    }
    match op {
        Op::FMin | Op::FMax | Op::SMin | Op::SMax | Op::UMin | Op::UMax => Some(x),
        Op::And | Op::Or | Op::BAnd | Op::BOr => Some(x),
        Op::ISub | Op::Xor => Some(b.word(0)),
        Op::IEq | Op::SLe | Op::ULe => Some(b.truth(true)),
        Op::INe | Op::SLt | Op::ULt | Op::BXor => Some(b.truth(false)),
        _ => None,
    }
}

/// Laws about what the operands are made of.
fn shape(b: &mut Builder<'_>, op: Op, x: Value, y: Value) -> Option<Value> {
    let negated = |b: &Builder<'_>| (under(b, Op::FNeg, x), under(b, Op::FNeg, y));
    match op {
        Op::FAdd | Op::FSub | Op::FMin | Op::FMax if is_strict(b) => difference_of_sum(b, op, x, y),
        Op::PackHalfFloats if !is_strict(b) => halves(b, x, y),
        Op::FAdd => negation::sum(b, x, y).or_else(|| choice::sum(b, x, y)),
        Op::FSub if float(b, x) == Some(0.0) => Some(b.fneg(y)),
        Op::FSub => negation::difference(b, x, y),
        Op::FMul | Op::FDiv => match negated(b) {
            (Some(x), Some(y)) => Some(b.op(op, &[x, y])),
            (Some(x), None) if x == y => opposite_square(b, op, x),
            (None, Some(y)) if x == y => opposite_square(b, op, x),
            (None, None) if x == y && op == Op::FMul && !is_strict(b) => square(b, x),
            _ => None,
        },
        Op::ISub => remainder(b, x, y),
        Op::SRem | Op::SMod => remainder_on_the_side_of_the_divisor(b, x, y),
        Op::BAnd | Op::BOr => {
            let contrary = under(b, Op::BNot, x) == Some(y) || under(b, Op::BNot, y) == Some(x);
            contrary.then(|| b.truth(op == Op::BOr))
        }
        Op::FMin | Op::FMax => {
            let op = if op == Op::FMin { AddOp::Fminabs } else { AddOp::Fmaxabs };
            let (x, y) = magnitudes(b, x, y)?;
            Some(b.op(Op::Add(op), &[x, y]))
        }
        Op::FEq | Op::FNe if matches!(negated(b), (Some(_), Some(_))) => {
            let (x, y) = negated(b);
            Some(b.op(op, &[x?, y?]))
        }
        _ if op.opposite().is_some() => choice::comparison(b, op, x, y),
        _ => None,
    }
}

/// x - (x / y) · y.
fn remainder(b: &mut Builder<'_>, x: Value, product: Value) -> Option<Value> {
    let (Op::IMul, &[p, q]) = (b.shader.op(product), b.shader.args(product)) else { return None };
    [(p, q), (q, p)].into_iter().find_map(|(quotient, divisor)| {
        let op = match b.shader.op(quotient) {
            Op::SDiv => Op::SRem,
            Op::UDiv => Op::UMod,
            _ => return None,
        };
        (b.shader.args(quotient) == [x, divisor]).then(|| b.op(op, &[x, divisor]))
    })
}

/// ((x % y) + y) % y with a y that is positive: of a remainder that has the sign of x the one that has none.
fn remainder_on_the_side_of_the_divisor(b: &mut Builder<'_>, sum: Value, divisor: Value) -> Option<Value> {
    let (Op::IAdd, &[p, q]) = (b.shader.op(sum), b.shader.args(sum)) else { return None };
    let remainder = match (p == divisor, q == divisor) {
        (false, true) => p,
        (true, false) => q,
        _ => return None,
    };
    let is_remainder = matches!(b.shader.op(remainder), Op::SRem | Op::SMod);
    let Span { low, high } = bounds::span(b.shader, divisor);
    // So that the sum is no number too large.
    if !is_remainder || b.shader.args(remainder)[1] != divisor || low <= 0 || high > 1 << 30 {
        return None;
    }
    let zero = b.word(0);
    let negative = b.op(Op::SLt, &[remainder, zero]);
    Some(b.select(negative, sum, remainder))
}

/// Halves that were halves before keep their bits. The ALU would make those that are denormal numbers 0.
fn halves(b: &mut Builder<'_>, low: Value, high: Value) -> Option<Value> {
    let half = |value: Value| match b.shader.op(value) {
        Op::UnpackFloat(Unpack::Half0) => Some((b.shader.args(value)[0], false)),
        Op::UnpackFloat(Unpack::Half1) => Some((b.shader.args(value)[0], true)),
        _ => (word(b, value) == Some(0)).then_some((value, false)),
    };
    let (low, high) = (half(low)?, half(high)?);
    if low.0 == high.0 && !low.1 && high.1 {
        return Some(low.0);
    }
    let [low, high] = [low, high].map(|(word, upper)| match upper {
        false => word,
        true => {
            let sixteen = b.word(16);
            b.op(Op::Shr, &[word, sixteen])
        }
    });
    Some(b.op(Op::PackHalves, &[low, high]))
}

/// x + −y and x − −y, which are x − y and x + y to the bit.
fn difference_of_sum(b: &mut Builder<'_>, op: Op, x: Value, y: Value) -> Option<Value> {
    let opposite = match op {
        Op::FAdd => Op::FSub,
        Op::FSub => Op::FAdd,
        _ => return None,
    };
    let y = under(b, Op::FNeg, y)?;
    Some(b.op(opposite, &[x, y]))
}

/// −x · x and −x / x.
fn opposite_square(b: &mut Builder<'_>, op: Op, x: Value) -> Option<Value> {
    let square = b.op(op, &[x, x]);
    Some(b.fneg(square))
}

/// x · x of a root, or of a product with one: what is under the root. Behind a negative number's root all is undefined.
fn square(b: &mut Builder<'_>, x: Value) -> Option<Value> {
    if b.exact {
        return None;
    }
    if let Some(radicand) = under(b, Op::FSqrt, x) {
        return Some(radicand);
    }
    let [p, q] = (b.shader.op(x) == Op::FMul).then(|| [b.shader.args(x)[0], b.shader.args(x)[1]])?;
    let (radicand, factor) = match (under(b, Op::FSqrt, p), under(b, Op::FSqrt, q)) {
        (Some(radicand), _) => (radicand, q),
        (None, Some(radicand)) => (radicand, p),
        (None, None) => return None,
    };
    let factor = b.fmul(factor, factor);
    Some(b.fmul(radicand, factor))
}

/// What two operands are the magnitudes of, if both are magnitudes and not both constants.
fn magnitudes(b: &Builder<'_>, x: Value, y: Value) -> Option<(Value, Value)> {
    let of = |value| {
        let positive = float(b, value).filter(|&f| f >= 0.0);
        under(b, Op::FAbs, value).or(positive.map(|_| value))
    };
    (word(b, x).is_none() || word(b, y).is_none()).then(|| Some((of(x)?, of(y)?)))?
}

fn select(b: &mut Builder<'_>, c: Value, x: Value, y: Value) -> Option<Value> {
    if x == y || word(b, c).is_some_and(|c| c != 0) || b.shader.op(y) == Op::Undef {
        return Some(x);
    }
    if word(b, c) == Some(0) || b.shader.op(x) == Op::Undef {
        return Some(y);
    }
    if let Some(c) = under(b, Op::BNot, c) {
        return Some(b.select(c, y, x));
    }
    if b.shader.values[x].ty == Type::Bool {
        if let Some(truth) = select_bool(b, c, x, y) {
            return Some(truth);
        }
    }
    // The same condition again decides inside as it did outside.
    let again = |b: &Builder<'_>, value: Value, index: usize| {
        (b.shader.op(value) == Op::Select && b.shader.args(value)[0] == c)
            .then(|| b.shader.args(value)[index])
    };
    match (again(b, x, 1), again(b, y, 2)) {
        (None, None) => None,
        (inner_x, inner_y) => Some(b.select(c, inner_x.unwrap_or(x), inner_y.unwrap_or(y))),
    }
}

fn select_bool(b: &mut Builder<'_>, c: Value, x: Value, y: Value) -> Option<Value> {
    match (word(b, x), word(b, y)) {
        (Some(1), Some(0)) => Some(c),
        (Some(0), Some(1)) => Some(b.bnot(c)),
        (Some(1), _) => Some(b.bor(c, y)),
        (Some(0), _) => {
            let other = b.bnot(c);
            Some(b.band(other, y))
        }
        (_, Some(0)) => Some(b.band(c, x)),
        (_, Some(1)) => {
            let other = b.bnot(c);
            Some(b.bor(other, x))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Interpolation, Output};

    #[test]
    fn halves_are_copied_as_bits() {
        let mut shader = Shader::new(Stage::Fragment);
        let entry = shader.entry().unwrap();
        let b = &mut Builder::new(&mut shader, entry);
        let input = |component| Op::LoadInput { location: 0, component, interpolation: Interpolation::Flat };
        let [word, other] = [0, 1].map(|component| b.op(input(component), &[]));
        let low = b.op(Op::UnpackFloat(Unpack::Half0), &[word]);
        let high = b.op(Op::UnpackFloat(Unpack::Half1), &[word]);
        let another = b.op(Op::UnpackFloat(Unpack::Half0), &[other]);
        let (zero, sum) = (b.word(0), b.op(Op::FAdd, &[low, another]));
        let pairs = [[low, high], [high, low], [low, another], [low, zero], [sum, high]];
        for (component, pair) in (0..).zip(pairs) {
            let packed = b.op(Op::PackHalfFloats, &pair);
            b.store_output(Output::User { location: component, component: 0 }, packed);
        }
        run(&mut shader);
        let stores = shader.insts_in_order().into_iter().filter_map(|inst| match shader.insts[inst].op {
            Op::StoreOutput(_) => Some(shader.op(shader.insts[inst].args[0])),
            _ => None,
        });
        let expected = [input(0), Op::PackHalves, Op::PackHalves, Op::PackHalves, Op::PackHalfFloats];
        assert_eq!(stores.collect::<Vec<_>>(), expected);
    }
}
