//! Colours as bits of texels that no target holds: what [`TexelInfo::encode`] gives on the CPU.

use smallvec::SmallVec;
use vc4::image::{Field, TexelInfo};
use vc4::state::ColorKind;
use vc4_shaders::ir::{Builder, Op, Value};

use super::programs::shifted;

/// Mantissa bits of a float of 32.
const MANTISSA: u32 = 23;
/// An infinity.
const INFINITY: u32 = 0xff << MANTISSA;
/// From the exponent of a float of 11 or 10 bits to that of one of 32.
const REBIAS: u32 = 127 - 15;
/// The largest value with a shared exponent.
const MOST_SHARED: f32 = 65_408.0;

/// The bits of a texel of fractions or of floats that are no whole bytes.
pub(super) fn bits(b: &mut Builder, info: &TexelInfo, color: &[Value]) -> Value {
    if info.shared_exponent {
        return shared(b, [color[0], color[1], color[2]]);
    }
    let none = b.word(0);
    let fields = info.fields.into_iter().zip(color).filter_map(|(field, value)| Some((field?, *value)));
    fields.fold(none, |texel, (Field { bit, width }, value)| {
        let raw = match info.kind {
            ColorKind::Float => small_float(b, value, u32::from(width)),
            _ => fraction(b, value, u32::from(width)),
        };
        let raw = shifted(b, Op::Shl, raw, bit.into());
        b.op(Op::Or, &[texel, raw])
    })
}

/// Integers as the format's, which end at its limits.
pub(super) fn limited(b: &mut Builder, info: &TexelInfo, color: &[Value]) -> SmallVec<[Value; 4]> {
    let one = |(field, value): (Option<Field>, &Value)| {
        let Some(Field { width, .. }) = field.filter(|field| field.width < 32) else { return *value };
        let most = u32::MAX >> (32 - u32::from(width));
        match info.kind {
            ColorKind::Sint => {
                let [least, most] = [!(most >> 1), most >> 1].map(|limit| b.word(limit));
                let value = b.smax(*value, least);
                b.smin(value, most)
            }
            _ => {
                let most = b.word(most);
                b.umin(*value, most)
            }
        }
    };
    info.fields.into_iter().zip(color).map(one).collect()
}

/// To nearest.
fn fraction(b: &mut Builder, value: Value, width: u32) -> Value {
    let (steps, half) = (b.float((u32::MAX >> (32 - width)) as f32), b.float(0.5));
    let value = b.saturate(value);
    let steps = b.fmad(value, steps, half);
    b.op(Op::FToS, &[steps])
}

/// To nearest, ties to even, of what has no sign: negative numbers are 0, and what is too large is the largest.
fn small_float(b: &mut Builder, value: Value, width: u32) -> Value {
    let mantissa = width - 5;
    let infinity = 31 << mantissa;
    let dropped = MANTISSA - mantissa;
    let [zero, one] = [0, 1].map(|word| b.word(word));
    // A carry of the rounding moves on to the exponent.
    let (rebias, below_half) = (b.word(REBIAS << MANTISSA), b.word((1 << (dropped - 1)) - 1));
    let moved = b.isub(value, rebias);
    let odd = shifted(b, Op::Shr, moved, dropped);
    let odd = b.and(odd, one);
    let rounded = b.iadd(moved, below_half);
    let rounded = b.iadd(rounded, odd);
    let rounded = shifted(b, Op::Shr, rounded, dropped);
    let most = b.word(infinity - 1);
    let normal = b.umin(rounded, most);
    // Below the smallest exponent are whole units of the last place.
    let scale = b.float((1u32 << (14 + mantissa)) as f32);
    let scaled = b.fmul(value, scale);
    let whole = b.op(Op::FToS, &[scaled]);
    let float = b.stof(whole);
    let (part, half) = (b.fsub(scaled, float), b.float(0.5));
    let (is_above, is_tie) = (b.flt(half, part), b.feq(half, part));
    let odd = b.and(whole, one);
    let (up, tie) = (b.select(is_above, one, zero), b.select(is_tie, odd, zero));
    let up = b.op(Op::Or, &[up, tie]);
    let small = b.iadd(whole, up);
    let least = b.word((REBIAS + 1) << MANTISSA);
    let is_small = b.ult(value, least);
    let finite = b.select(is_small, small, normal);
    let limit = b.word(0x8000_0000);
    let is_positive = b.ult(value, limit);
    let finite = b.select(is_positive, finite, zero);
    // Infinities and what is no number, of either sign.
    let [all, infinite] = [u32::MAX >> 1, INFINITY].map(|word| b.word(word));
    let [endless, no_number] = [infinity, infinity | 1 << (mantissa - 1)].map(|word| b.word(word));
    let size = b.and(value, all);
    let (is_endless, is_no_number) = (b.ieq(value, infinite), b.ult(infinite, size));
    let texel = b.select(is_endless, endless, finite);
    b.select(is_no_number, no_number, texel)
}

/// Three mantissas of nine bits below an exponent.
fn shared(b: &mut Builder, color: [Value; 3]) -> Value {
    let (zero, most, half) = (b.float(0.0), b.float(MOST_SHARED), b.float(0.5));
    let color = color.map(|value| {
        // What is no number is 0.
        let is_above = b.flt(zero, value);
        let value = b.select(is_above, value, zero);
        b.fmin(value, most)
    });
    let [red, green, blue] = color;
    let largest = b.fmax(red, green);
    let largest = b.fmax(largest, blue);
    // Below 2^-16 the exponent is 0.
    let (least, bias) = (b.word(127 - 16), b.word(127 - 16));
    let exponent = shifted(b, Op::Shr, largest, MANTISSA);
    let exponent = b.smax(exponent, least);
    let exponent = b.isub(exponent, bias);
    // Units are 2^(exponent - 24).
    let highest = b.word(127 + 24);
    let scale = b.isub(highest, exponent);
    let scale = shifted(b, Op::Shl, scale, MANTISSA);
    let units = |b: &mut Builder, value: Value, scale: Value| {
        let units = b.fmad(value, scale, half);
        b.op(Op::FToS, &[units])
    };
    // What rounds up to the next power of two is counted in larger ones.
    let [full, one, none] = [512, 1, 0].map(|word| b.word(word));
    let most = units(b, largest, scale);
    let is_full = b.ieq(most, full);
    let more = b.select(is_full, one, none);
    let exponent = b.iadd(exponent, more);
    let more = shifted(b, Op::Shl, more, MANTISSA);
    let scale = b.isub(scale, more);
    let exponent = shifted(b, Op::Shl, exponent, 27);
    (0..).zip(color).fold(exponent, |texel, (number, value)| {
        let units = units(b, value, scale);
        let units = shifted(b, Op::Shl, units, 9 * number);
        b.op(Op::Or, &[texel, units])
    })
}

#[cfg(test)]
mod tests {
    use vc4_shaders::ir::{Shader, Stage};

    use super::*;

    /// What a program makes of a colour: with constants it is done when it is built.
    fn made<const N: usize>(
        color: [u32; 4],
        program: impl Fn(&mut Builder, &[Value]) -> [Value; N],
    ) -> [u32; N] {
        let mut shader = Shader::new(Stage::Fragment);
        let entry = shader.entry().unwrap();
        let b = &mut Builder::new(&mut shader, entry);
        let color = color.map(|word| b.word(word));
        let values = program(b, &color);
        values.map(|value| shader.const_of(value).expect("computed from constants"))
    }

    #[test]
    fn texels_are_those_of_the_cpu() {
        let ends =
            [0.0, 1.0, -1.0, 0.5, 1.5, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 65_408.0, 65_520.0, 1e30];
        let small =
            [1e-5, 2e-5, 6.1e-5, 3.0e-5, 1e-8, 2.0f32.powi(-20), 3.0 * 2.0f32.powi(-21), 511.9, 1023.0];
        let some = (0..2000).map(|n| (n as f32 * 0.37 - 20.0) * 0.003);
        let floats: Vec<f32> = ends.into_iter().chain(small).chain(some).collect();
        for name in [
            "R4G4B4A4_UNORM_PACK16",
            "B4G4R4A4_UNORM_PACK16",
            "R5G5B5A1_UNORM_PACK16",
            "B10G11R11_UFLOAT_PACK32",
            "E5B9G9R9_UFLOAT_PACK32",
        ] {
            let info = TexelInfo::of_name(name).unwrap();
            for (at, first) in floats.iter().enumerate() {
                let other = |by: usize| floats[(at * 7 + by) % floats.len()];
                let color = [*first, other(3), other(11), other(29)];
                let words = color.map(f32::to_bits);
                let [made] = made(words, |b, color| [bits(b, &info, color)]);
                assert_eq!(u128::from(made), info.encode(words), "{name} of {color:?}");
            }
        }
    }

    #[test]
    fn integers_end_at_the_limits_of_the_cpu() {
        for name in ["R8G8B8A8_UINT", "R8_SINT", "A2B10G10R10_UINT_PACK32", "R16G16_SINT", "R32_UINT"] {
            let info = TexelInfo::of_name(name).unwrap();
            for value in
                [0, 1, 3, 4, 127, 128, 255, 256, 1023, 1024, 40_000, 70_000, 1 << 31, u32::MAX, !127, !128]
            {
                let made = made([value; 4], |b, color| {
                    let color = limited(b, &info, color);
                    [0, 1, 2, 3].map(|n| color[n])
                });
                assert_eq!(info.clamp(made), info.clamp([value; 4]), "{name} of {value:#x}");
                assert_eq!(info.encode(made), info.encode([value; 4]), "{name} of {value:#x}");
                let texel = info.encode([value; 4]);
                let has = |n: usize| info.fields[n].is_none() || made[n] == info.decode(texel)[n];
                assert!((0..4).all(has), "{name} of {value:#x}: {made:x?}");
            }
        }
    }
}
