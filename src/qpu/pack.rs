//! Pack and unpack (qpu.md §2.11): how parts of a word become operands and results become parts of a word.
//!
//! `pm` = 0: [`unpack`] on the file-A read, [`pack_a`] on the file-A write, after [`saturated`] where an
//! integer addition overflowed. `pm` = 1: [`unpack`] with `float` on r4, [`pack_mul`] on the mul result.

use super::alu::{AluResult, Lanes, add_carry, add_overflow, per_code};
use super::isa::{AddOp, Pack, Unpack};
use crate::hw::LANES;

const SIGN: u32 = 0x8000_0000;
const INF: u32 = 0x7f80_0000;
/// What a float16 exponent field lacks to the float32 field of the same number, in place.
const REBIAS: u32 = (127 - 15) << 23;

/// v/255 for a byte v, truncated to a float32 (qpu.md §2.11). v/255 is 0.vvv… in base 256: three digits are
/// 24 bits, below which the truncated float has nothing; for 255 the digits go on to 1.
#[inline]
pub const fn byte_to_float(v: u32) -> u32 {
    let digits = v * 0x01_0101 + ((v + 1) >> 8);
    (digits as i32 as f32 / 16_777_216.0).to_bits()
}

/// float16 to float32. Denormals are not normalised: they become float32 denormals, which arithmetic takes for 0.
#[inline]
pub const fn f16_to_f32(half: u32) -> u32 {
    let (sign, rest) = ((half & 0x8000) << 16, (half & 0x7fff) << 13);
    match half >> 10 & 31 {
        0 => sign | rest,
        31 => sign | INF | rest,
        _ => sign | (rest + REBIAS),
    }
}

/// float32 to float16: overflow, infinities and NaN to ±Inf; what lies below the smallest normal float16 to +0.
///
/// UNVERIFIED: which way are values between two float16 rounded? Away from zero: VC4C's tests of stores of halves, whose author ran them on
/// a board, correct a pack that does so, and its comments say that tests have shown it (qpu.md §2.11 assumed nearest even). Pack
/// 0x3f801000 (1 + half an ulp) and 0x3f800001 with 16a and look.
#[inline]
pub const fn f32_to_f16(word: u32) -> u32 {
    rounded_f16(word, 0x1fff)
}

/// The same, rounded to nearest even.
#[inline]
pub const fn f32_to_f16_nearest(word: u32) -> u32 {
    rounded_f16(word, 0xfff + (word >> 13 & 1))
}

/// The half of a word whose magnitude grows by `up`, of which the bits that a half has no room for are cut off.
#[inline(always)]
const fn rounded_f16(word: u32, up: u32) -> u32 {
    let sign = word >> 16 & 0x8000;
    let magnitude = word & !SIGN;
    let rounded = magnitude.wrapping_add(up);
    if magnitude >= INF || rounded >= (127 + 16) << 23 {
        sign | 0x7c00
    } else if rounded < (127 - 14) << 23 {
        0
    } else {
        sign | (rounded - REBIAS) >> 13
    }
}

/// One operand through the unpacker. `float`: an ALU that consumes the value executes a float operation
/// ([`AddOp::reads_float`], `MulOp::reads_float`); for r4 (`pm` = 1) it is always true.
#[inline]
pub const fn unpack(code: Unpack, word: u32, float: bool) -> u32 {
    match code {
        Unpack::Nop => word,
        Unpack::Half0 => unpack_half(word & 0xffff, float),
        Unpack::Half1 => unpack_half(word >> 16, float),
        Unpack::Rep8d => (word >> 24) * 0x0101_0101,
        Unpack::Byte0 => unpack_byte(word & 255, float),
        Unpack::Byte1 => unpack_byte(word >> 8 & 255, float),
        Unpack::Byte2 => unpack_byte(word >> 16 & 255, float),
        Unpack::Byte3 => unpack_byte(word >> 24, float),
    }
}

#[inline(always)]
const fn unpack_half(half: u32, float: bool) -> u32 {
    if float { f16_to_f32(half) } else { half as u16 as i16 as i32 as u32 }
}

#[inline(always)]
const fn unpack_byte(byte: u32, float: bool) -> u32 {
    if float { byte_to_float(byte) } else { byte }
}

/// [`unpack`] on all elements.
pub fn unpack_lanes(code: Unpack, words: &Lanes, float: bool) -> Lanes {
    per_code!(code, Unpack: [Nop Half0 Half1 Rep8d Byte0 Byte1 Byte2 Byte3], |CODE| {
        let mut out = *words;
        for word in &mut out {
            *word = if float { unpack(CODE, *word, true) } else { unpack(CODE, *word, false) };
        }
        out
    })
}

/// The register after a result was written to file A with `pm` = 0; `old` is its word before. `float`: the result
/// comes from a float operation ([`AddOp::writes_float`]; on the mul unit `fmul`). Load immediates count as integer.
/// Overflowed integer sums go through [`saturated`] first.
#[inline]
pub const fn pack_a(code: Pack, value: u32, old: u32, float: bool) -> u32 {
    match code {
        Pack::Nop | Pack::Sat => value,
        Pack::Half0 => old & 0xffff_0000 | to_half(value, float),
        Pack::Half1 => old & 0x0000_ffff | to_half(value, float) << 16,
        Pack::Half0Sat => old & 0xffff_0000 | to_half_saturated(value, float),
        Pack::Half1Sat => old & 0x0000_ffff | to_half_saturated(value, float) << 16,
        Pack::Rep8 | Pack::Byte0 | Pack::Byte1 | Pack::Byte2 | Pack::Byte3 => {
            insert_byte(code, value & 255, old)
        }
        Pack::Rep8Sat | Pack::Byte0Sat | Pack::Byte1Sat | Pack::Byte2Sat | Pack::Byte3Sat => {
            insert_byte(code, to_byte_saturated(value), old)
        }
    }
}

#[inline(always)]
const fn to_half(value: u32, float: bool) -> u32 {
    if float { f32_to_f16(value) } else { value & 0xffff }
}

#[inline(always)]
const fn to_half_saturated(value: u32, float: bool) -> u32 {
    let clamped = match value as i32 {
        ..-0x8000 => -0x8000,
        0x8000.. => 0x7fff,
        v => v,
    };
    to_half(if float { value } else { clamped as u32 }, float)
}

#[inline(always)]
const fn to_byte_saturated(value: u32) -> u32 {
    match value as i32 {
        ..0 => 0,
        256.. => 255,
        _ => value,
    }
}

/// Puts a byte where the code says; codes that are no byte codes leave the register alone.
#[inline(always)]
const fn insert_byte(code: Pack, byte: u32, old: u32) -> u32 {
    match code {
        Pack::Rep8 | Pack::Rep8Sat => byte * 0x0101_0101,
        Pack::Byte0 | Pack::Byte0Sat => old & !0xff | byte,
        Pack::Byte1 | Pack::Byte1Sat => old & !0xff00 | byte << 8,
        Pack::Byte2 | Pack::Byte2Sat => old & !0xff_0000 | byte << 16,
        Pack::Byte3 | Pack::Byte3Sat => old & !0xff00_0000 | byte << 24,
        _ => old,
    }
}

/// The integer that enters [`pack_a`] when `add` or `sub` gave `result`: without overflow the result itself,
/// otherwise the end of the packed width that the C flag chooses, which is the wrong end for `sub` (qpu.md §2.11). The saturating 16- and
/// 8-bit codes look at the sum of 32 bits as well: if that is beyond the other end, 0 comes of it.
///
/// UNVERIFIED: what do the saturating 16- and 8-bit packs make of sums that overflow? This rule fits all 6,750 sums and differences that
/// were recorded on silicon (VC4C's `opcode_pack_test.h`); no sum among them tells it from 0 for all but the two largest.
#[inline]
pub const fn saturated(code: Pack, result: AluResult) -> u32 {
    if !result.overflow || matches!(code, Pack::Nop) {
        return result.value;
    }
    let (low, high) = match code {
        Pack::Nop | Pack::Sat => (SIGN, !SIGN),
        Pack::Half0 | Pack::Half1 | Pack::Half0Sat | Pack::Half1Sat => (0xffff_8000, 0x7fff),
        _ => (0, 0xff),
    };
    let sum = result.value as i32;
    let is_beyond_other = if result.carry { sum > high as i32 } else { sum < low as i32 };
    if code.code() > Pack::Sat.code() && is_beyond_other {
        0
    } else if result.carry {
        low
    } else {
        high
    }
}

/// Applies [`saturated`] to the results `value` of `op` on all elements; only `add` and `sub` change.
pub fn saturate_lanes(code: Pack, op: AddOp, a: &Lanes, b: &Lanes, value: &mut Lanes) {
    if code == Pack::Nop || !matches!(op, AddOp::Add | AddOp::Sub) {
        return;
    }
    for i in 0..LANES {
        let overflow = add_overflow(op, a[i], b[i], value[i]);
        let carry = add_carry(op, a[i], b[i], value[i]);
        value[i] = saturated(code, AluResult { value: value[i], carry, overflow });
    }
}

/// [`pack_a`] on all elements.
pub fn pack_a_lanes(code: Pack, value: &Lanes, old: &Lanes, float: bool) -> Lanes {
    per_code!(code, Pack: [Nop Half0 Half1 Rep8 Byte0 Byte1 Byte2 Byte3 Sat Half0Sat Half1Sat Rep8Sat Byte0Sat
        Byte1Sat Byte2Sat Byte3Sat], |CODE| {
        let mut out = *value;
        for i in 0..LANES {
            out[i] = if float { pack_a(CODE, out[i], old[i], true) } else { pack_a(CODE, out[i], old[i], false) };
        }
        out
    })
}

/// Float to a byte of a unorm8 colour: clamp(round(f × 255), 0, 255).
///
/// UNVERIFIED: how are exact halves rounded, and what do NaN and infinities give? Here halves go up,
/// and words with exponent 255 give 255, or 0 with the sign set (qpu.md §2.11).
#[inline]
pub const fn float_to_unorm8(word: u32) -> u32 {
    const ONE: u32 = 0x3f80_0000;
    let magnitude = word & !SIGN;
    let x = if magnitude > ONE { ONE } else { magnitude };
    // Both halves have exact products with 255, and the sum whose sign decides cannot round across zero.
    let high = f32::from_bits(x & 0xffff_ff00);
    let low = f32::from_bits(x) - high;
    let scaled = high * 255.0;
    // Rounds to the nearest whole number in a way that vectorises, unlike a cast.
    const ROUNDER: f32 = 8_388_608.0;
    let near = scaled + ROUNDER;
    let above_half = (scaled - (near - ROUNDER) - 0.5) + low * 255.0;
    let rounded = near.to_bits() - ROUNDER.to_bits() + (above_half >= 0.0) as u32;
    if word & SIGN != 0 { 0 } else { rounded }
}

/// Whether `code` exists on the mul result (`pm` = 1).
pub const fn exists_on_mul(code: Pack) -> bool {
    matches!(code, Pack::Nop | Pack::Rep8 | Pack::Byte0 | Pack::Byte1 | Pack::Byte2 | Pack::Byte3)
}

/// The destination after a mul result was written with `pm` = 1; `old` is its word before. `None` for codes that
/// do not exist here ([`exists_on_mul`]).
#[inline]
pub fn pack_mul(code: Pack, value: u32, old: u32) -> Option<u32> {
    match code {
        Pack::Nop => Some(value),
        _ if exists_on_mul(code) => Some(insert_byte(code, float_to_unorm8(value), old)),
        _ => None,
    }
}

/// [`pack_mul`] on all elements.
pub fn pack_mul_lanes(code: Pack, value: &Lanes, old: &Lanes) -> Option<Lanes> {
    if !exists_on_mul(code) {
        return None;
    }
    if code == Pack::Nop {
        return Some(*value);
    }
    // A plain loop: an array's `map` does not vectorise.
    let mut out = [0; LANES];
    for i in 0..LANES {
        out[i] = float_to_unorm8(value[i]);
    }
    per_code!(code, Pack: [Nop Half0 Half1 Rep8 Byte0 Byte1 Byte2 Byte3 Sat Half0Sat Half1Sat Rep8Sat Byte0Sat
        Byte1Sat Byte2Sat Byte3Sat], |CODE| {
        for i in 0..LANES {
            out[i] = insert_byte(CODE, out[i], old[i]);
        }
    });
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::super::alu::add_op;
    use super::*;
    use half::f16;
    use proptest::prelude::*;

    #[test]
    fn bytes_to_floats_truncate() {
        // qpu.md §2.11.
        assert_eq!(
            [1, 127, 128, 255].map(byte_to_float),
            [0x3b80_8080, 0x3efe_fefe, 0x3f00_8080, 0x3f80_0000]
        );
        assert_eq!(byte_to_float(0), 0);
        for v in 1..256 {
            let (word, exact) = (byte_to_float(v), f64::from(v) / 255.0);
            assert!(
                f64::from(f32::from_bits(word)) <= exact && exact < f64::from(f32::from_bits(word + 1)),
                "{v}"
            );
        }
    }

    #[test]
    fn halves_unpack() {
        assert_eq!(f16_to_f32(0x7fff), 0x7fff_e000);
        assert_eq!(f16_to_f32(0x83ff), 0x807f_e000);
        for h in 0..=0xffffu16 {
            let exponent = h >> 10 & 31;
            if exponent != 0 && exponent != 31 {
                assert_eq!(f16_to_f32(h.into()), f16::from_bits(h).to_f32().to_bits());
                assert_eq!(f32_to_f16(f16_to_f32(h.into())), h.into());
            }
        }
        assert_eq!(unpack(Unpack::Half1, 0x8001_0000, false), 0xffff_8001);
        assert_eq!(unpack(Unpack::Half0, 0xffff_3c00, true), 0x3f80_0000);
    }

    #[test]
    fn halves_pack_as_recorded() {
        assert_eq!(f32_to_f16(0x3f7f_ffff), 0x3c00);
        assert_eq!(f32_to_f16(32767f32.to_bits()), 0x7800);
        assert_eq!(f32_to_f16(0x7fc0_0000), 0x7c00);
        assert_eq!(f32_to_f16(0xff80_0000), 0xfc00);
        assert_eq!(f32_to_f16((-1e6f32).to_bits()), 0xfc00);
        assert_eq!(f32_to_f16(0x8000_0000), 0);
        // A tie whose lower half is even.
        assert_eq!(f32_to_f16(0x4006_1000), 0x4031);
        assert_eq!(f32_to_f16((-1e-6f32).to_bits()), 0);
    }

    #[test]
    fn integer_packs() {
        let word = 0x4433_2211;
        assert_eq!(pack_a(Pack::Half0, 0x1_2345, word, false), 0x4433_2345);
        assert_eq!(pack_a(Pack::Half1, 0x1_2345, word, false), 0x2345_2211);
        assert_eq!(pack_a(Pack::Half0Sat, 0x1_2345, word, false), 0x4433_7fff);
        assert_eq!(pack_a(Pack::Half1Sat, -0x1_2345i32 as u32, word, false), 0x8000_2211);
        assert_eq!(pack_a(Pack::Rep8, 0x1ab, word, false), 0xabab_abab);
        assert_eq!(pack_a(Pack::Rep8Sat, 0x1ab, word, false), 0xffff_ffff);
        assert_eq!(pack_a(Pack::Byte2, 0x1ab, word, false), 0x44ab_2211);
        assert_eq!(pack_a(Pack::Byte3Sat, -5i32 as u32, word, false), 0x0033_2211);
        assert_eq!(pack_a(Pack::Half0Sat, 0x3f80_0000, word, true), 0x4433_3c00);
        // The raw float word counts as a signed integer.
        assert_eq!(pack_a(Pack::Byte0Sat, 0x3f80_0000, word, true), 0x4433_22ff);
    }

    #[test]
    fn overflow_saturates_by_the_carry() {
        let of = |code, op, a: u32, b: u32| pack_a(code, saturated(code, add_op(op, a, b)), 0, false);
        const MIN: u32 = 0x8000_0000;
        const MAX: u32 = 0x7fff_ffff;
        assert_eq!(of(Pack::Nop, AddOp::Add, MAX, 1), MIN);
        assert_eq!(of(Pack::Sat, AddOp::Add, MAX, 1), MAX);
        assert_eq!(of(Pack::Sat, AddOp::Add, MIN, MIN + 1), MIN);
        assert_eq!(of(Pack::Half0, AddOp::Add, MAX, 1), 0x7fff);
        assert_eq!(of(Pack::Byte0, AddOp::Add, MIN, MIN), 0);
        // Backwards for sub.
        assert_eq!(of(Pack::Sat, AddOp::Sub, MIN, 1), MAX);
        assert_eq!(of(Pack::Half0Sat, AddOp::Add, MAX, 1), 0);
        assert_eq!(of(Pack::Half0Sat, AddOp::Add, MIN, MIN), 0x8000);
        assert_eq!(of(Pack::Half0Sat, AddOp::Add, MAX, MAX), 0x7fff);
        assert_eq!(of(Pack::Sat, AddOp::Add, 3, 4), 7);
    }

    #[test]
    fn colours_pack() {
        let of = |x: f32| float_to_unorm8(x.to_bits());
        assert_eq!([of(0.0), of(-1.0), of(0.5), of(1.0), of(2.0), of(0.25)], [0, 0, 128, 255, 255, 64]);
        assert_eq!(pack_mul(Pack::Rep8, 1f32.to_bits(), 0), Some(0xffff_ffff));
        assert_eq!(pack_mul(Pack::Byte1, 1f32.to_bits(), 0), Some(0xff00));
        assert_eq!(pack_mul(Pack::Half0, 0, 0), None);
        // Every unorm8 survives the way through a float.
        for v in 0..256u32 {
            assert_eq!(float_to_unorm8(byte_to_float(v)), v);
        }
    }

    proptest! {
        #[test]
        fn packs_leave_the_rest_alone(value: u32, old: u32, float: bool) {
            for &code in Pack::ALL {
                let kept = match code {
                    Pack::Half0 | Pack::Half0Sat => 0xffff_0000,
                    Pack::Half1 | Pack::Half1Sat => 0x0000_ffff,
                    Pack::Byte0 | Pack::Byte0Sat => 0xffff_ff00,
                    Pack::Byte1 | Pack::Byte1Sat => 0xffff_00ff,
                    Pack::Byte2 | Pack::Byte2Sat => 0xff00_ffff,
                    Pack::Byte3 | Pack::Byte3Sat => 0x00ff_ffff,
                    _ => 0,
                };
                prop_assert_eq!(pack_a(code, value, old, float) & kept, old & kept);
            }
        }

        #[test]
        fn halves_pack_away_from_zero(word: u32) {
            let value = f32::from_bits(word);
            let near = f16::from_f32(value);
            if near.is_normal() {
                prop_assert_eq!(f32_to_f16_nearest(word), u32::from(near.to_bits()));
                let short = near.to_f32().abs() < value.abs();
                prop_assert_eq!(f32_to_f16(word), u32::from(near.to_bits()) + u32::from(short));
            }
        }

        #[test]
        fn unorm8_is_the_rounded_product(near in 0..255u32, ulps in -40..40i32, any in 0..0x3f80_0001u32) {
            // Around the middle between two bytes, and anywhere.
            let middle = ((f64::from(near) + 0.5) / 255.0) as f32;
            for word in [middle.to_bits().wrapping_add_signed(ulps), any] {
                let exact = f64::from(f32::from_bits(word)) * 255.0;
                prop_assert_eq!(float_to_unorm8(word), (exact + 0.5) as u32, "{:#x}", word);
            }
        }

        #[test]
        fn lanes_equal_scalars(a: [u32; 16], b: [u32; 16], float: bool) {
            for &code in Pack::ALL {
                let packed = pack_a_lanes(code, &a, &b, float);
                let colours = pack_mul_lanes(code, &a, &b);
                for i in 0..16 {
                    prop_assert_eq!(packed[i], pack_a(code, a[i], b[i], float));
                    prop_assert_eq!(colours.map(|c| c[i]), pack_mul(code, a[i], b[i]));
                }
                for op in [AddOp::Add, AddOp::Sub] {
                    let mut value = super::super::alu::add_value_lanes(op, &a, &b);
                    saturate_lanes(code, op, &a, &b, &mut value);
                    for i in 0..16 {
                        prop_assert_eq!(value[i], saturated(code, add_op(op, a[i], b[i])));
                    }
                }
            }
            for &code in Unpack::ALL {
                let words = unpack_lanes(code, &a, float);
                for i in 0..16 {
                    prop_assert_eq!(words[i], unpack(code, a[i], float));
                }
            }
        }
    }
}
