//! Instructions with one IR operation per scalar, and those with a short sequence of them.

use spirv::Op as Spv;

use super::emit::{Emit, Scalars, Typed};
use crate::ir::{Op, Stage, Value};
use crate::spirv::error::Result;

/// The IR operation per scalar, the operands' order, and whether the result is negated.
fn plain(op: Spv) -> Option<(Op, &'static [usize], bool)> {
    const A: &[usize] = &[0];
    const AB: &[usize] = &[0, 1];
    const BA: &[usize] = &[1, 0];
    Some(match op {
        Spv::FNegate => (Op::FNeg, A, false),
        Spv::Not => (Op::Not, A, false),
        Spv::LogicalNot => (Op::BNot, A, false),
        Spv::ConvertFToS => (Op::FToS, A, false),
        Spv::ConvertFToU => (Op::FToU, A, false),
        Spv::ConvertSToF => (Op::SToF, A, false),
        Spv::ConvertUToF => (Op::UToF, A, false),
        Spv::DPdx | Spv::DPdxFine | Spv::DPdxCoarse => (Op::Ddx, A, false),
        Spv::DPdy | Spv::DPdyFine | Spv::DPdyCoarse => (Op::Ddy, A, false),
        Spv::FAdd => (Op::FAdd, AB, false),
        Spv::FSub => (Op::FSub, AB, false),
        Spv::FMul => (Op::FMul, AB, false),
        Spv::FDiv => (Op::FDiv, AB, false),
        Spv::IAdd => (Op::IAdd, AB, false),
        Spv::ISub => (Op::ISub, AB, false),
        Spv::IMul => (Op::IMul, AB, false),
        Spv::UDiv => (Op::UDiv, AB, false),
        Spv::SDiv => (Op::SDiv, AB, false),
        Spv::UMod => (Op::UMod, AB, false),
        Spv::SMod => (Op::SMod, AB, false),
        Spv::SRem => (Op::SRem, AB, false),
        Spv::ShiftLeftLogical => (Op::Shl, AB, false),
        Spv::ShiftRightLogical => (Op::Shr, AB, false),
        Spv::ShiftRightArithmetic => (Op::Asr, AB, false),
        Spv::BitwiseAnd => (Op::And, AB, false),
        Spv::BitwiseOr => (Op::Or, AB, false),
        Spv::BitwiseXor => (Op::Xor, AB, false),
        Spv::LogicalAnd => (Op::BAnd, AB, false),
        Spv::LogicalOr => (Op::BOr, AB, false),
        Spv::LogicalNotEqual => (Op::BXor, AB, false),
        Spv::LogicalEqual => (Op::BXor, AB, true),
        Spv::IEqual => (Op::IEq, AB, false),
        Spv::INotEqual => (Op::INe, AB, false),
        Spv::SLessThan => (Op::SLt, AB, false),
        Spv::SLessThanEqual => (Op::SLe, AB, false),
        Spv::SGreaterThan => (Op::SLt, BA, false),
        Spv::SGreaterThanEqual => (Op::SLe, BA, false),
        Spv::ULessThan => (Op::ULt, AB, false),
        Spv::ULessThanEqual => (Op::ULe, AB, false),
        Spv::UGreaterThan => (Op::ULt, BA, false),
        Spv::UGreaterThanEqual => (Op::ULe, BA, false),
        // Vulkan leaves NaN support open (vulkan-on-vc4.md §9): equality takes the cheap form of each pair, except on the
        // CPU, which knows NaNs anyway.
        Spv::FOrdEqual | Spv::FUnordEqual => (Op::FEq, AB, false),
        Spv::FOrdNotEqual | Spv::FUnordNotEqual => (Op::FNe, AB, false),
        Spv::FOrdLessThan => (Op::FLt, AB, false),
        Spv::FOrdLessThanEqual => (Op::FLe, AB, false),
        Spv::FOrdGreaterThan => (Op::FLt, BA, false),
        Spv::FOrdGreaterThanEqual => (Op::FLe, BA, false),
        Spv::FUnordLessThan => (Op::FLe, BA, true),
        Spv::FUnordLessThanEqual => (Op::FLt, BA, true),
        Spv::FUnordGreaterThan => (Op::FLe, AB, true),
        Spv::FUnordGreaterThanEqual => (Op::FLt, AB, true),
        _ => return None,
    })
}

/// Translates arithmetic, bit operations, comparisons, conversions, selections and derivatives; last of all, so that
/// what it does not know is not supported.
pub fn arithmetic(e: &mut Emit<'_>, op: Spv, args: &[Typed]) -> Result<Scalars> {
    if e.b.shader.stage == Stage::Compute && matches!(op, Spv::FOrdNotEqual | Spv::FUnordEqual) {
        let differs = ordered_and_different(e, args)?;
        return Ok(if op == Spv::FUnordEqual { negated(e, differs) } else { differs });
    }
    if let Some((ir, order, negate)) = plain(op) {
        let values = e.each(ir, args, order)?;
        return Ok(if negate { negated(e, values) } else { values });
    }
    match op {
        Spv::FMod => float_remainder(e, Op::FFloor, args),
        Spv::FRem => float_remainder(e, Op::FTrunc, args),
        Spv::IsNan => is_nan(e, args),
        Spv::IsInf => is_infinite(e, args),
        Spv::QuantizeToF16 => quantized(e, args),
        Spv::Any => fold_bools(e, Op::BOr, args),
        Spv::All => fold_bools(e, Op::BAnd, args),
        Spv::Select => select(e, args),
        Spv::Fwidth | Spv::FwidthFine | Spv::FwidthCoarse => derivative_sum(e, args),
        Spv::Bitcast => Ok(e.like_result(args, 0)?.to_vec()),
        Spv::Dot => {
            let (a, b) = (e.words(args, 0)?, e.words(args, 1)?);
            if a.len() != b.len() {
                return Err(e.invalid("the vectors differ in size"));
            }
            Ok(vec![e.dot(&a, &b)])
        }
        op => {
            let supported = "the arithmetic, bit, comparison, conversion, composite and derivative instructions of \
                             the Shader capability on 32-bit types";
            Err(e.inst.unsupported(format!("Op{op:?}"), supported))
        }
    }
}

/// Less or greater: false where one is a NaN.
fn ordered_and_different(e: &mut Emit<'_>, args: &[Typed]) -> Result<Scalars> {
    let (less, greater) = (e.each(Op::FLt, args, &[0, 1])?, e.each(Op::FLt, args, &[1, 0])?);
    less.into_iter().zip(greater).map(|(less, greater)| e.op(Op::BOr, &[less, greater])).collect()
}

/// Negates every scalar of a boolean result.
fn negated(e: &mut Emit<'_>, values: Scalars) -> Scalars {
    values.into_iter().map(|value| e.b.bnot(value)).collect()
}

/// a - b * floor(a / b), or with truncation.
fn float_remainder(e: &mut Emit<'_>, round: Op, args: &[Typed]) -> Result<Scalars> {
    let (a, b) = (e.like_result(args, 0)?, e.like_result(args, 1)?);
    let one = |(&x, &y): (&Value, &Value)| {
        let quotient = e.b.fdiv(x, y);
        let whole = e.b.op(round, &[quotient]);
        let product = e.b.fmul(y, whole);
        e.b.fsub(x, product)
    };
    Ok(a.iter().zip(b.iter()).map(one).collect())
}

/// By the bits: comparisons subtract, and the difference of two equal infinities is a NaN, too.
fn is_nan(e: &mut Emit<'_>, args: &[Typed]) -> Result<Scalars> {
    let values = e.like_result(args, 0)?;
    let (mask, infinity) = (e.b.word(0x7fff_ffff), e.b.word(0x7f80_0000));
    let one = |&value: &Value| {
        let magnitude = e.b.and(value, mask);
        e.b.slt(infinity, magnitude)
    };
    Ok(values.iter().map(one).collect())
}

fn is_infinite(e: &mut Emit<'_>, args: &[Typed]) -> Result<Scalars> {
    let values = e.like_result(args, 0)?;
    let (mask, infinity) = (e.b.word(0x7fff_ffff), e.b.word(0x7f80_0000));
    let one = |&value: &Value| {
        let magnitude = e.b.and(value, mask);
        e.b.ieq(magnitude, infinity)
    };
    Ok(values.iter().map(one).collect())
}

/// Rounded to the nearest float16 (even), whose denormals become zero.
fn quantized(e: &mut Emit<'_>, args: &[Typed]) -> Result<Scalars> {
    let values = e.like_result(args, 0)?;
    let b = &mut e.b;
    let (magnitude_mask, sign_mask, infinity) = (b.word(0x7fff_ffff), b.word(1 << 31), b.word(0x7f80_0000));
    let (shift, one, almost_half, kept) = (b.word(13), b.word(1), b.word(0xfff), b.word(!0x1fff));
    // 2^-14, the smallest normal float16, and 2^16, which is none any more.
    let (smallest, overflow, zero) = (b.word(113 << 23), b.word(143 << 23), b.word(0));
    let one = |&value: &Value| {
        let (magnitude, sign) = (b.and(value, magnitude_mask), b.and(value, sign_mask));
        // Half a unit in the last place, less one bit where the kept mantissa is even.
        let last = b.shr(magnitude, shift);
        let odd = b.and(last, one);
        let bias = b.iadd(odd, almost_half);
        let biased = b.iadd(magnitude, bias);
        let rounded = b.and(biased, kept);
        let tiny = b.ult(rounded, smallest);
        let huge = b.op(Op::ULe, &[overflow, rounded]);
        let nan = b.ult(infinity, magnitude);
        let rounded = b.select(tiny, zero, rounded);
        let rounded = b.select(huge, infinity, rounded);
        let rounded = b.select(nan, magnitude, rounded);
        b.or(rounded, sign)
    };
    Ok(values.iter().map(one).collect())
}

fn fold_bools(e: &mut Emit<'_>, op: Op, args: &[Typed]) -> Result<Scalars> {
    let values = e.arg(args, 0)?.values.clone();
    let (&first, rest) = values.split_first().ok_or_else(|| e.invalid("an empty vector"))?;
    let mut all = first;
    for &value in rest {
        all = e.op(op, &[all, value])?;
    }
    Ok(vec![all])
}

/// One condition may choose between whole composites.
fn select(e: &mut Emit<'_>, args: &[Typed]) -> Result<Scalars> {
    let conditions = e.arg(args, 0)?.values.clone();
    let (yes, no) = (e.arg(args, 1)?.values.clone(), e.arg(args, 2)?.values.clone());
    let width = e.width();
    if yes.len() != width || no.len() != width || (conditions.len() != width && conditions.len() != 1) {
        return Err(e.invalid("operands and result differ in size"));
    }
    (0..width)
        .map(|at| {
            let condition = *conditions.get(at).unwrap_or(&conditions[0]);
            e.op(Op::Select, &[condition, yes[at], no[at]])
        })
        .collect()
}

fn derivative_sum(e: &mut Emit<'_>, args: &[Typed]) -> Result<Scalars> {
    let values = e.like_result(args, 0)?;
    let one = |&value: &Value| {
        let (dx, dy) = (e.b.ddx(value), e.b.ddy(value));
        let (dx, dy) = (e.b.fabs(dx), e.b.fabs(dy));
        e.b.fadd(dx, dy)
    };
    Ok(values.iter().map(one).collect())
}
