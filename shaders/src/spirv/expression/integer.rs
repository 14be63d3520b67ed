//! Integer instructions that take several IR operations.

use spirv::Op as Spv;

use super::emit::{Emit, Scalars, Typed};
use crate::ir::{Builder, Op, Value};
use crate::spirv::error::Result;

/// Translates multi-step integer instructions; `None` for every other one.
pub fn integer(e: &mut Emit<'_>, op: Spv, args: &[Typed]) -> Result<Option<Scalars>> {
    Ok(Some(match op {
        Spv::SNegate => {
            let values = e.like_result(args, 0)?;
            let zero = e.b.word(0);
            values.iter().map(|&value| e.b.isub(zero, value)).collect()
        }
        Spv::BitCount => e.like_result(args, 0)?.iter().map(|&value| bit_count(&mut e.b, value)).collect(),
        Spv::BitReverse => {
            e.like_result(args, 0)?.iter().map(|&value| bit_reverse(&mut e.b, value)).collect()
        }
        Spv::BitFieldInsert => field_insert(e, args)?,
        Spv::BitFieldSExtract => field_extract(e, args, Op::Asr)?,
        Spv::BitFieldUExtract => field_extract(e, args, Op::Shr)?,
        Spv::IAddCarry => pairs(e, args, |b, x, y| {
            let sum = b.iadd(x, y);
            let carry = b.ult(sum, x);
            (sum, as_word(b, carry))
        })?,
        Spv::ISubBorrow => pairs(e, args, |b, x, y| {
            let borrow = b.ult(x, y);
            (b.isub(x, y), as_word(b, borrow))
        })?,
        Spv::UMulExtended => pairs(e, args, |b, x, y| (b.imul(x, y), mul_high(b, x, y)))?,
        Spv::SMulExtended => pairs(e, args, |b, x, y| (b.imul(x, y), signed_mul_high(b, x, y)))?,
        _ => return Ok(None),
    }))
}

fn as_word(b: &mut Builder<'_>, truth: Value) -> Value {
    let (one, zero) = (b.word(1), b.word(0));
    b.select(truth, one, zero)
}

/// A structure of two results per scalar: all first ones, then all second ones.
fn pairs(
    e: &mut Emit<'_>,
    args: &[Typed],
    f: impl Fn(&mut Builder<'_>, Value, Value) -> (Value, Value),
) -> Result<Scalars> {
    let (a, b) = (e.words(args, 0)?, e.words(args, 1)?);
    if a.len() != b.len() {
        return Err(e.invalid("the operands differ in size"));
    }
    let (mut low, high): (Vec<_>, Vec<_>) = a.iter().zip(b.iter()).map(|(&x, &y)| f(&mut e.b, x, y)).unzip();
    low.extend(high);
    Ok(low)
}

/// High word of an unsigned product, by 16-bit halves.
fn mul_high(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    let (sixteen, mask) = (b.word(16), b.word(0xffff));
    let (xl, xh) = (b.and(x, mask), b.shr(x, sixteen));
    let (yl, yh) = (b.and(y, mask), b.shr(y, sixteen));
    let low = b.imul(xl, yl);
    let low_carry = b.shr(low, sixteen);
    let cross = b.imul(xh, yl);
    let middle = b.iadd(cross, low_carry);
    let (middle_low, middle_high) = (b.and(middle, mask), b.shr(middle, sixteen));
    let cross = b.imul(xl, yh);
    let middle = b.iadd(cross, middle_low);
    let carry = b.shr(middle, sixteen);
    let high = b.imul(xh, yh);
    let high = b.iadd(high, middle_high);
    b.iadd(high, carry)
}

/// The unsigned high word, less each operand where the other is negative.
fn signed_mul_high(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    let high = mul_high(b, x, y);
    let sign = b.word(31);
    let (x_sign, y_sign) = (b.asr(x, sign), b.asr(y, sign));
    let (from_x, from_y) = (b.and(x_sign, y), b.and(y_sign, x));
    let high = b.isub(high, from_x);
    b.isub(high, from_y)
}

/// Number of set bits, by adding neighbours in ever wider fields.
pub fn bit_count(b: &mut Builder<'_>, value: Value) -> Value {
    let (one, two, four, eight, sixteen) = (b.word(1), b.word(2), b.word(4), b.word(8), b.word(16));
    let (fives, threes, nibbles) = (b.word(0x5555_5555), b.word(0x3333_3333), b.word(0x0f0f_0f0f));
    let shifted = b.shr(value, one);
    let odd = b.and(shifted, fives);
    let twos = b.isub(value, odd);
    let shifted = b.shr(twos, two);
    let (high, low) = (b.and(shifted, threes), b.and(twos, threes));
    let fours = b.iadd(high, low);
    let shifted = b.shr(fours, four);
    let sum = b.iadd(fours, shifted);
    let bytes = b.and(sum, nibbles);
    let shifted = b.shr(bytes, eight);
    let halves = b.iadd(bytes, shifted);
    let shifted = b.shr(halves, sixteen);
    let sum = b.iadd(halves, shifted);
    let mask = b.word(63);
    b.and(sum, mask)
}

/// Bits in opposite order, by exchanging ever wider neighbours.
fn bit_reverse(b: &mut Builder<'_>, mut value: Value) -> Value {
    let masks: [(u32, u32); 5] =
        [(1, 0x5555_5555), (2, 0x3333_3333), (4, 0x0f0f_0f0f), (8, 0x00ff_00ff), (16, 0x0000_ffff)];
    for (by, mask) in masks {
        let (by, mask) = (b.word(by), b.word(mask));
        let down = b.shr(value, by);
        let (down, up) = (b.and(down, mask), b.and(value, mask));
        let up = b.shl(up, by);
        value = b.or(down, up);
    }
    value
}

/// `count` low bits set, for any count from 0 to 32 (shifts count modulo 32).
fn low_bits(b: &mut Builder<'_>, count: Value) -> Value {
    let (ones, zero, width) = (b.word(!0), b.word(0), b.word(32));
    let gap = b.isub(width, count);
    let mask = b.shr(ones, gap);
    let empty = b.ieq(count, zero);
    b.select(empty, zero, mask)
}

fn field_insert(e: &mut Emit<'_>, args: &[Typed]) -> Result<Scalars> {
    let (base, insert) = (e.like_result(args, 0)?, e.like_result(args, 1)?);
    let (offset, count) = (e.scalar(args, 2)?, e.scalar(args, 3)?);
    let low = low_bits(&mut e.b, count);
    let mask = e.b.shl(low, offset);
    let keep = e.b.not(mask);
    let one = |(&base, &insert): (&Value, &Value)| {
        let moved = e.b.shl(insert, offset);
        let (kept, taken) = (e.b.and(base, keep), e.b.and(moved, mask));
        e.b.or(kept, taken)
    };
    Ok(base.iter().zip(insert.iter()).map(one).collect())
}

/// The field is moved to the top, then down again with zeros or its sign.
fn field_extract(e: &mut Emit<'_>, args: &[Typed], down: Op) -> Result<Scalars> {
    let values = e.like_result(args, 0)?;
    let (offset, count) = (e.scalar(args, 1)?, e.scalar(args, 2)?);
    let (width, zero) = (e.b.word(32), e.b.word(0));
    let right = e.b.isub(width, count);
    let left = e.b.isub(right, offset);
    let empty = e.b.ieq(count, zero);
    let one = |&value: &Value| {
        let top = e.b.shl(value, left);
        let field = e.b.op(down, &[top, right]);
        e.b.select(empty, zero, field)
    };
    Ok(values.iter().map(one).collect())
}
