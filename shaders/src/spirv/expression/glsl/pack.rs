//! Packing and unpacking of GLSL.std.450.

use spirv::GlslStd450Op as Glsl;
use vc4::qpu::Unpack;

use crate::ir::{Builder, Op, Stage, Value};
use crate::spirv::error::Result;
use crate::spirv::expression::emit::{Emit, Scalars, Typed};

/// Translates packing functions; `None` for every other one.
pub fn pack(e: &mut Emit<'_>, op: Glsl, args: &[Typed]) -> Result<Option<Scalars>> {
    let fields = match op {
        Glsl::PackUnorm4x8 | Glsl::PackSnorm4x8 => 4,
        Glsl::PackUnorm2x16 | Glsl::PackSnorm2x16 | Glsl::PackHalf2x16 => 2,
        Glsl::UnpackUnorm4x8 | Glsl::UnpackSnorm4x8 => 1,
        Glsl::UnpackUnorm2x16 | Glsl::UnpackSnorm2x16 | Glsl::UnpackHalf2x16 => 1,
        _ => return Ok(None),
    };
    let values = e.words(args, 0)?;
    if values.len() != fields {
        return Err(e.invalid("the operand has the wrong size"));
    }
    let b = &mut e.b;
    // The CPU has none of the QPU's units for this, nor their ways with small numbers.
    if b.shader.stage == Stage::Compute {
        match op {
            Glsl::PackUnorm4x8 => {
                return Ok(Some(vec![pack_fields(b, &values, |b, x| normalized(b, x, 0.0, 255.0))]));
            }
            Glsl::PackHalf2x16 => return Ok(Some(vec![pack_fields(b, &values, exact_half)])),
            Glsl::UnpackUnorm4x8 => return Ok(Some(unpack_fields(b, values[0], 4, Op::Shr, 255.0))),
            Glsl::UnpackHalf2x16 => return Ok(Some(exact_halves(b, values[0]))),
            _ => {}
        }
    }
    Ok(Some(match op {
        Glsl::PackUnorm4x8 => vec![b.op(Op::PackUnorm8x4, &values)],
        Glsl::PackSnorm4x8 => vec![pack_fields(b, &values, |b, x| normalized(b, x, -1.0, 127.0))],
        Glsl::PackUnorm2x16 => vec![pack_fields(b, &values, |b, x| normalized(b, x, 0.0, 65535.0))],
        Glsl::PackSnorm2x16 => vec![pack_fields(b, &values, |b, x| normalized(b, x, -1.0, 32767.0))],
        Glsl::PackHalf2x16 => vec![pack_fields(b, &values, half)],
        Glsl::UnpackUnorm4x8 => {
            let bytes = [Unpack::Byte0, Unpack::Byte1, Unpack::Byte2, Unpack::Byte3];
            bytes.into_iter().map(|part| b.op(Op::UnpackFloat(part), &[values[0]])).collect()
        }
        Glsl::UnpackHalf2x16 => {
            let halves = [Unpack::Half0, Unpack::Half1];
            halves.into_iter().map(|part| b.op(Op::UnpackFloat(part), &[values[0]])).collect()
        }
        Glsl::UnpackUnorm2x16 => unpack_fields(b, values[0], 2, Op::Shr, 65535.0),
        Glsl::UnpackSnorm2x16 => unpack_fields(b, values[0], 2, Op::Asr, 32767.0),
        _ => unpack_fields(b, values[0], 4, Op::Asr, 127.0),
    }))
}

/// Puts equal fields into a word, the first into the lowest bits.
fn pack_fields(b: &mut Builder<'_>, values: &[Value], f: impl Fn(&mut Builder<'_>, Value) -> Value) -> Value {
    let bits = 32 / values.len() as u32;
    let mask = b.word(u32::MAX >> (32 - bits));
    let mut word = b.word(0);
    for (at, &value) in values.iter().enumerate() {
        let field = f(b, value);
        let (field, by) = (b.and(field, mask), b.word(at as u32 * bits));
        let placed = b.shl(field, by);
        word = b.or(word, placed);
    }
    word
}

/// The nearest integer to x, limited to [least, 1], times `scale`.
fn normalized(b: &mut Builder<'_>, x: Value, least: f32, scale: f32) -> Value {
    let (least, most, scale) = (b.float(least), b.float(1.0), b.float(scale));
    let x = b.fmax(x, least);
    let x = b.fmin(x, most);
    let scaled = b.fmul(x, scale);
    let whole = b.op(Op::FRoundEven, &[scaled]);
    b.ftos(whole)
}

/// Each field over `scale`, not below -1. `down` brings a field from the top to the bottom.
fn unpack_fields(b: &mut Builder<'_>, word: Value, fields: u32, down: Op, scale: f32) -> Scalars {
    let bits = 32 / fields;
    let (right, least) = (b.word(32 - bits), b.float(-1.0));
    let (op, factor) = match b.shader.stage {
        Stage::Compute => (Op::FDiv, b.float(scale)),
        _ => (Op::FMul, b.float(1.0 / scale)),
    };
    let field = |at: u32| {
        let left = b.word(32 - bits * (at + 1));
        let top = b.shl(word, left);
        let field = b.op(down, &[top, right]);
        let float = b.stof(field);
        let value = b.op(op, &[float, factor]);
        b.fmax(value, least)
    };
    (0..fields).map(field).collect()
}

/// A float as float16 bits, to nearest even; results below the smallest normal float16 become zero, as in
/// the hardware's pack (qpu.md §2.11).
fn half(b: &mut Builder<'_>, x: Value) -> Value {
    let (sign_mask, magnitude_mask) = (b.word(0x8000), b.word(0x7fff_ffff));
    let (sixteen, thirteen, one) = (b.word(16), b.word(13), b.word(1));
    let top = b.shr(x, sixteen);
    let sign = b.and(top, sign_mask);
    let magnitude = b.and(x, magnitude_mask);
    // Half a unit in the last place, less one where the kept mantissa is even.
    let kept = b.shr(magnitude, thirteen);
    let odd = b.and(kept, one);
    let almost_half = b.word(0xfff);
    let bias = b.iadd(odd, almost_half);
    let rounded = b.iadd(magnitude, bias);
    let rebase = b.word(112 << 23);
    let rebased = b.isub(rounded, rebase);
    let normal = b.shr(rebased, thirteen);
    let (infinity, zero) = (b.word(0x7c00), b.word(0));
    let half = b.umin(normal, infinity);
    let smallest = b.word(113 << 23);
    let tiny = b.ult(rounded, smallest);
    let half = b.select(tiny, zero, half);
    b.or(sign, half)
}

/// A float as float16 bits, to nearest even, with denormals, infinities and NaNs.
fn exact_half(b: &mut Builder<'_>, x: Value) -> Value {
    let (sign_mask, magnitude_mask, infinity) = (b.word(0x8000), b.word(0x7fff_ffff), b.word(0x7f80_0000));
    let (sixteen, thirteen, one) = (b.word(16), b.word(13), b.word(1));
    let top = b.shr(x, sixteen);
    let sign = b.and(top, sign_mask);
    let magnitude = b.and(x, magnitude_mask);
    // Half a unit in the last place, less one where the kept mantissa is even.
    let kept = b.shr(magnitude, thirteen);
    let odd = b.and(kept, one);
    let bias = b.word(0xfff_u32.wrapping_sub(112 << 23));
    let bias = b.iadd(odd, bias);
    let rebased = b.iadd(magnitude, bias);
    let normal = b.shr(rebased, thirteen);
    let most = b.word(0x7c00);
    let normal = b.umin(normal, most);
    // The unit in the last place of a half is that of a float16 denormal: the addition rounds.
    let half = b.float(0.5);
    let moved = b.fadd(magnitude, half);
    let denormal = b.isub(moved, half);
    let smallest = b.word(113 << 23);
    let is_denormal = b.ult(magnitude, smallest);
    let finite = b.select(is_denormal, denormal, normal);
    let (is_nan, nan) = (b.ult(infinity, magnitude), b.word(0x7e00));
    let result = b.select(is_nan, nan, finite);
    b.or(sign, result)
}

/// The two float16s of a word as floats, with denormals, infinities and NaNs.
fn exact_halves(b: &mut Builder<'_>, word: Value) -> Scalars {
    let (sixteen, thirteen) = (b.word(16), b.word(13));
    let (sign_mask, magnitude_mask) = (b.word(1 << 31), b.word(0x7fff << 13));
    let (smallest, least_special) = (b.word(0x400 << 13), b.word(0x7c00 << 13));
    let (rebase, special) = (b.word(112 << 23), b.word(0xff << 23));
    let one = |b: &mut Builder<'_>, bits: Value| {
        let shifted = b.shl(bits, sixteen);
        let sign = b.and(shifted, sign_mask);
        let moved = b.shl(bits, thirteen);
        let magnitude = b.and(moved, magnitude_mask);
        let normal = b.iadd(magnitude, rebase);
        // The bits of a denormal count units of 2^-24.
        let units = b.shr(magnitude, thirteen);
        let units = b.utof(units);
        let unit = b.float(1.0 / 16_777_216.0);
        let denormal = b.fmul(units, unit);
        let is_small = b.ult(magnitude, smallest);
        let finite = b.select(is_small, denormal, normal);
        let infinite = b.or(magnitude, special);
        let is_finite = b.ult(magnitude, least_special);
        let result = b.select(is_finite, finite, infinite);
        b.or(sign, result)
    };
    let low = one(b, word);
    let high = b.shr(word, sixteen);
    vec![low, one(b, high)]
}
