//! Numbers that conditions are made into.
//!
//! Programs choose with factors of 0 and 1: x · (1 - s) + y · s, where s is `step` or a truth as a float. The QPU chooses at
//! once by the condition's flags, and a choice is neither rounded nor multiplied.

use crate::ir::eval::eval;
use crate::ir::{Builder, Op, Value};

/// A value where a condition is `when`, zero elsewhere.
struct Term {
    condition: Value,
    when: bool,
    value: Value,
}

impl Term {
    /// What a value is as such a term.
    fn of(b: &Builder<'_>, value: Value) -> Option<Term> {
        match (b.shader.op(value), b.shader.args(value)) {
            (Op::FMul, &[x, y]) => {
                let term =
                    |(value, by)| factor(b, by).map(|(condition, when)| Term { condition, when, value });
                term((x, y)).or_else(|| term((y, x)))
            }
            (Op::Select, &[condition, x, y]) if is(b, y, 0.0) => {
                Some(Term { condition, when: true, value: x })
            }
            (Op::Select, &[condition, x, y]) if is(b, x, 0.0) => {
                Some(Term { condition, when: false, value: y })
            }
            _ => None,
        }
    }
}

/// The condition that a value, or 1 less it, is 1 for and 0 otherwise; or the other way round.
fn factor(b: &Builder<'_>, value: Value) -> Option<(Value, bool)> {
    let (truth, is_rest) = match (b.shader.op(value), b.shader.args(value)) {
        (Op::FSub, &[one, rest]) if is(b, one, 1.0) => (rest, true),
        _ => (value, false),
    };
    match (b.shader.op(truth), b.shader.args(truth)) {
        (Op::Select, &[condition, x, y]) if is(b, x, 1.0) && is(b, y, 0.0) => Some((condition, !is_rest)),
        (Op::Select, &[condition, x, y]) if is(b, x, 0.0) && is(b, y, 1.0) => Some((condition, is_rest)),
        _ => None,
    }
}

fn is(b: &Builder<'_>, value: Value, constant: f32) -> bool {
    b.shader.const_of(value) == Some(constant.to_bits())
}

/// x + y of two terms of which one is zero in each element, or of a value and its distance from another one by a factor.
pub fn sum(b: &mut Builder<'_>, x: Value, y: Value) -> Option<Value> {
    let (of_x, of_y) = (Term::of(b, x), Term::of(b, y));
    if let (Some(a), Some(c)) = (&of_x, &of_y) {
        if a.condition == c.condition && a.when != c.when {
            let (yes, no) = if a.when { (a.value, c.value) } else { (c.value, a.value) };
            return Some(b.select(a.condition, yes, no));
        }
    }
    moved(b, x, of_y).or_else(|| moved(b, y, of_x))
}

/// `from` + (`to` - `from`) by a factor, which is `from` or `to`.
fn moved(b: &mut Builder<'_>, from: Value, way: Option<Term>) -> Option<Value> {
    let Term { condition, when, value } = way.filter(|_| !b.exact)?;
    let to = match (b.shader.op(value), b.shader.args(value)) {
        (Op::FSub, &[to, start]) if start == from => to,
        _ => return None,
    };
    let (yes, no) = if when { (to, from) } else { (from, to) };
    Some(b.select(condition, yes, no))
}

/// A comparison of a choice of two constants with a constant: the condition, its opposite, or neither.
pub fn comparison(b: &mut Builder<'_>, op: Op, x: Value, y: Value) -> Option<Value> {
    let ((of_x, xs), (of_y, ys)) = (choice(b, x)?, choice(b, y)?);
    let condition = match (of_x, of_y) {
        (Some(condition), None) | (None, Some(condition)) => condition,
        (Some(condition), Some(other)) if condition == other => condition,
        _ => return None,
    };
    let [yes, no] = [0, 1].map(|n| eval(op, &[xs[n], ys[n]]).map(|truth| truth != 0));
    Some(match (yes?, no?) {
        (true, false) => condition,
        (false, true) => b.bnot(condition),
        (truth, _) => b.truth(truth),
    })
}

/// The two constants that a value is, and the condition for the first one unless they are the same constant.
fn choice(b: &Builder<'_>, value: Value) -> Option<(Option<Value>, [u32; 2])> {
    if let Some(word) = b.shader.const_of(value) {
        return Some((None, [word; 2]));
    }
    match (b.shader.op(value), b.shader.args(value)) {
        (Op::Select, &[condition, x, y]) => {
            Some((Some(condition), [b.shader.const_of(x)?, b.shader.const_of(y)?]))
        }
        _ => None,
    }
}
