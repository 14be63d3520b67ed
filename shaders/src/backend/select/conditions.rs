//! Comparisons, selects and conditional writes: everything that sets or looks at the flags (qpu.md §2.6–§2.7).

use vc4::qpu::{AddOp, Cond, Unpack, Waddr};

use super::selector::{Selector, not_lowered};
use crate::backend::error::BackendError;
use crate::backend::virt::{Dst, Operation, Unit};
use crate::ir::{Op, Value};

/// A write that discarded elements skip.
pub fn tile_write(s: &mut Selector<'_>, value: Value, waddr: Waddr) -> Result<(), BackendError> {
    let Some(kill) = s.kill else {
        s.value_to_port(value, waddr, None);
        return Ok(());
    };
    let operand = s.operand(value);
    let killed = flags(s, kill)?;
    let mut op = Operation::mov(Dst::Port(waddr, None), operand);
    op.cond = killed.inverse();
    s.push(op);
    Ok(())
}

/// Selects a select.
pub fn select(s: &mut Selector<'_>, result: Value, args: &[Value]) -> Result<(), BackendError> {
    let &[condition, mut yes, mut no] = args else { unreachable!("the verifier counts operands") };
    let reg = s.reg_of(result);
    // The operand that is overwritten where the condition holds should be the one that can be
    // computed in place; the other may then still become a conditional operation.
    let mut invert = false;
    let in_place = !(s.foldable(no) || s.can_alias(no)) && s.can_alias(yes) && !s.foldable(yes);
    // What is known ahead goes first, so that nothing waits for its copy.
    let known = s.op(yes).is_leaf() && s.foldable(no);
    if in_place || known {
        (yes, no, invert) = (no, yes, true);
    }
    s.value_to_reg(no, reg);
    let conditional = if s.foldable(yes) && yes != no {
        s.fold(yes, Dst::Reg(reg))
    } else {
        let operand = s.operand(yes);
        Operation::mov(Dst::Reg(reg), operand)
    };
    let cond = flags(s, condition)?;
    let cond = if invert { cond.inverse() } else { cond };
    s.push(Operation { cond, ..conditional });
    Ok(())
}

/// Sets the flags from a comparison; the condition that holds where it is true.
pub fn flags(s: &mut Selector<'_>, condition: Value) -> Result<Cond, BackendError> {
    let op = s.op(condition);
    let args = s.args(condition);
    if let Op::ConstBool(truth) = op {
        let mut zero = Operation::new(Unit::Add(AddOp::Or), Dst::None, &[s.constant(0); 2]);
        zero.sets_flags = true;
        s.push(zero);
        return Ok(if truth { Cond::Zs } else { Cond::Zc });
    }
    let zero = |this: &Selector<'_>, value: Value| matches!(this.op(value), Op::Const(0));
    if matches!(op, Op::IEq | Op::INe) && (zero(s, args[1]) || zero(s, args[0])) {
        let word = if zero(s, args[1]) { args[0] } else { args[1] };
        flags_of_word(s, word);
        return Ok(if op == Op::IEq { Cond::Zs } else { Cond::Zc });
    }
    if op == Op::SLt && zero(s, args[1]) {
        flags_of_word(s, args[0]);
        return Ok(Cond::Ns);
    }
    if op == Op::SLe && zero(s, args[0]) {
        flags_of_word(s, args[1]);
        return Ok(Cond::Nc);
    }
    let (unit, swap, cond) = match op {
        // fmax and max set C when a > b, exactly and for all operands (qpu.md §2.3).
        Op::FLt => (AddOp::Fmax, true, Cond::Cs),
        Op::FLe => (AddOp::Fmax, false, Cond::Cc),
        Op::SLt => (AddOp::Max, true, Cond::Cs),
        Op::SLe => (AddOp::Max, false, Cond::Cc),
        // sub sets C on unsigned borrow.
        Op::ULt => (AddOp::Sub, false, Cond::Cs),
        Op::ULe => (AddOp::Sub, true, Cond::Cc),
        Op::FEq => (AddOp::Fsub, false, Cond::Zs),
        Op::FNe => (AddOp::Fsub, false, Cond::Zc),
        Op::IEq => (AddOp::Sub, false, Cond::Zs),
        Op::INe => (AddOp::Sub, false, Cond::Zc),
        _ => return Err(not_lowered(op)),
    };
    let (unit, args) = match (unit == AddOp::Fmax).then(|| magnitudes(s, args)).flatten() {
        Some(args) => (AddOp::Fmaxabs, args),
        None => (unit, [args[0], args[1]]),
    };
    let mut operands = args.map(|arg| s.operand(arg));
    if swap {
        operands.swap(0, 1);
    }
    let mut compare = Operation::new(Unit::Add(unit), Dst::None, &operands);
    compare.sets_flags = true;
    s.push(compare);
    Ok(cond)
}

/// What two operands are the magnitudes of, if nothing else needs one of these: fmaxabs compares magnitudes as fmax does numbers.
fn magnitudes(s: &mut Selector<'_>, args: &[Value]) -> Option<[Value; 2]> {
    let is_magnitude = |value: Value| match s.op(value) {
        Op::FAbs => true,
        Op::Const(word) => f32::from_bits(word) >= 0.0,
        _ => false,
    };
    let &[x, y] = args else { return None };
    let of = |value: Value| (s.op(value) == Op::FAbs && s.foldable(value)).then(|| s.args(value)[0]);
    let (of_x, of_y) = (of(x), of(y));
    if !is_magnitude(x) || !is_magnitude(y) || of_x.or(of_y).is_none() {
        return None;
    }
    for (value, of) in [(x, of_x), (y, of_y)] {
        if of.is_some() {
            s.covered.insert(s.shader.values[value].inst);
        }
    }
    Some([of_x.unwrap_or(x), of_y.unwrap_or(y)])
}

/// Sets Z and N from a word, in the operation that computes it if that is its only use.
pub fn flags_of_word(s: &mut Selector<'_>, word: Value) {
    let add_unit = matches!(s.single(word), Some((Unit::Add(_), Unpack::Nop)));
    let mut op = if add_unit && s.foldable(word) {
        s.fold(word, Dst::None)
    } else {
        let operand = s.operand(word);
        Operation::new(Unit::Add(AddOp::Or), Dst::None, &[operand, operand])
    };
    op.sets_flags = true;
    s.push(op);
}

/// Whether operations do the same, for whatever line.
fn is_same(a: &Operation, b: &Operation) -> bool {
    Operation { line: b.line, ..*a } == *b
}

/// Removes flag settings that repeat the one before them.
pub fn drop_repeated_flags(ops: &mut Vec<Operation>) {
    let mut current: Option<Operation> = None;
    ops.retain(|op| {
        if op.is_marker() {
            current = None;
        }
        if op.sets_flags {
            let repeated = op.dst == Dst::None
                && op.cond == Cond::Always
                && current.as_ref().is_some_and(|last| is_same(last, op));
            if repeated {
                return false;
            }
            current = (op.dst == Dst::None).then_some(*op);
        }
        // A register that the comparison read may have changed since.
        if let (Some(reg), Some(flags)) = (op.writes(), &current) {
            if flags.reads().any(|read| read == reg) {
                current = None;
            }
        }
        true
    });
}
