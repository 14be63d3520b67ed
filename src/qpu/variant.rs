//! Results on machines that behave otherwise than assumed: what the functions of [`alu`](super::alu), [`pack`] and
//! [`sfu`](super::sfu) compute is corrected where [`Facts`] say so. Only a simulator of such a machine asks.

use super::alu::{Lanes, add_overflow, fadd};
use super::isa::{AddOp, MulOp, Pack};
use super::pack::{self, byte_to_float, f16_to_f32, f32_to_f16_nearest, float_to_unorm8};
use super::sfu::{SfuOp, recip};
use crate::facts::*;
use crate::hw::LANES;

const SIGN: u32 = 0x8000_0000;
const INF: u32 = 0x7f80_0000;
const NAN: u32 = 0x7fc0_0000;
const ONE: u32 = 0x3f80_0000;

const fn is_wide(word: u32) -> bool {
    word & INF == INF
}

/// Corrects the results of an add operation.
pub fn add_lanes(facts: &Facts, op: AddOp, a: &Lanes, b: &Lanes, value: &mut Lanes) {
    for i in 0..LANES {
        value[i] = match op {
            AddOp::Fadd => sum(facts, a[i], b[i], value[i]),
            AddOp::Fsub => sum(facts, a[i], b[i] ^ SIGN, value[i]),
            AddOp::Ftoi => whole(facts.ftoi_range, a[i], value[i]),
            _ => return,
        };
    }
}

fn sum(facts: &Facts, a: u32, b: u32, value: u32) -> u32 {
    let is_nan = |word: u32| word & !SIGN > INF;
    match facts.infinite_sums {
        InfiniteSums::FirstWins if is_wide(a) => a & SIGN | INF,
        InfiniteSums::Nan if is_nan(a) || is_nan(b) || is_wide(a) && is_wide(b) && a != b => NAN,
        _ if facts.small_sums == SmallSums::Dropped && !is_wide(a) && !is_wide(b) => guarded_sum(a, b, value),
        _ => value,
    }
}

/// Bits below the larger number's last one that [`SmallSums::Dropped`] keeps of the smaller number.
const GUARD_BITS: u32 = 2;

/// A sum of which the smaller number lost what lies far below the larger one; `value` where that is nothing.
fn guarded_sum(a: u32, b: u32, value: u32) -> u32 {
    let (larger, smaller) = if a & !SIGN >= b & !SIGN { (a, b) } else { (b, a) };
    let exponent = |word: u32| (word & INF) >> 23;
    let lost = (exponent(larger) - exponent(smaller)).saturating_sub(GUARD_BITS);
    if exponent(smaller) == 0 || lost == 0 {
        return value;
    }
    // All of it from 24 bits on.
    let kept = if lost >= 24 { 0 } else { smaller & !((1 << lost) - 1) };
    fadd(larger, kept)
}

fn whole(fact: FtoiRange, word: u32, value: u32) -> u32 {
    // From 2^31 up, infinities with them.
    let is_large = word & INF >= 158 << 23 && word & !SIGN <= INF;
    match fact {
        FtoiRange::Zero if is_large => 0,
        FtoiRange::Saturated if is_large && word & SIGN != 0 => 1 << 31,
        FtoiRange::Saturated if is_large => !(1 << 31),
        _ => value,
    }
}

/// Corrects the results and C flags of a mul operation.
pub fn mul_lanes(facts: &Facts, op: MulOp, a: &Lanes, b: &Lanes, value: &mut Lanes, carry: &mut u16) {
    for i in 0..LANES {
        match op {
            MulOp::Fmul if facts.fmul_rounding == FmulRounding::NearestEven => {
                value[i] = nearest_product(a[i], b[i], value[i]);
            }
            MulOp::Mul24 if facts.mul24_carry == Mul24Carry::Above32 => {
                let product = u64::from(a[i] & 0xff_ffff) * u64::from(b[i] & 0xff_ffff);
                *carry = *carry & !(1 << i) | u16::from(product > u64::from(u32::MAX)) << i;
            }
            _ => return,
        }
    }
}

fn nearest_product(a: u32, b: u32, truncated: u32) -> u32 {
    let rounded = (f32::from_bits(a) * f32::from_bits(b)).to_bits();
    // Zeros, infinities and what is too small are as they are.
    if is_wide(a) || is_wide(b) || truncated & !SIGN == 0 || rounded & INF == 0 { truncated } else { rounded }
}

/// What enters the pack of an integer sum ([`pack::saturate_lanes`]).
pub fn saturate_lanes(facts: &Facts, code: Pack, op: AddOp, a: &Lanes, b: &Lanes, value: &mut Lanes) {
    let sums = *value;
    pack::saturate_lanes(code, op, a, b, value);
    if op != AddOp::Add
        || code.code() <= Pack::Sat.code()
        || facts.saturating_packs == SaturatingPacks::Compared
    {
        return;
    }
    for i in 0..LANES {
        // 0x80000000 twice and 0x7fffffff twice.
        let is_extreme = matches!(sums[i], 0 | 0xffff_fffe);
        if add_overflow(op, a[i], b[i], sums[i]) && !is_extreme {
            value[i] = 0;
        }
    }
}

/// What to pack instead of a float so that the result is as that machine's.
pub fn before_pack_a(facts: &Facts, code: Pack, value: &Lanes) -> Lanes {
    let halves = matches!(code, Pack::Half0 | Pack::Half1 | Pack::Half0Sat | Pack::Half1Sat);
    if !halves {
        return *value;
    }
    value.map(|word| {
        // The bits that a float16 has no room for, and half of what they can be.
        let (cut, half) = (word & !0x1fff, 0x1000);
        match facts.f16_rounding {
            _ if is_wide(word) => word,
            F16Rounding::AwayFromZero => word,
            F16Rounding::NearestEven => f16_to_f32(f32_to_f16_nearest(word)),
            F16Rounding::TiesAway if word & 0x1fff < half => cut,
            F16Rounding::TiesAway => word,
            F16Rounding::TowardZero => cut,
        }
    })
}

/// The same for the colour packs of mul results.
pub fn before_pack_mul(facts: &Facts, code: Pack, value: &Lanes) -> Lanes {
    if code == Pack::Nop || facts.unorm8_halves == Unorm8Halves::Up {
        return *value;
    }
    value.map(|word| {
        let exact = f64::from(f32::from_bits(word)) * 255.0;
        let near = float_to_unorm8(word);
        let is_half = exact.fract() == 0.5 && (0.0..255.0).contains(&exact);
        byte_to_float(if is_half { near - 1 } else { near })
    })
}

/// Corrects the results of the special function unit.
pub fn sfu_lanes(facts: &Facts, op: SfuOp, x: &Lanes, value: &mut Lanes) {
    if op == SfuOp::Recip && facts.recip_one == RecipOne::Table {
        for (value, x) in value.iter_mut().zip(x) {
            // The table does not tell 1 from the number beside it.
            *value = if x & !SIGN == ONE { recip(x | 1) } else { *value };
        }
    }
    if op == SfuOp::Exp2 && facts.exp2_nan == Exp2Nan::Nan {
        for (value, x) in value.iter_mut().zip(x) {
            *value = if x & !SIGN > INF { NAN } else { *value };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::alu::{add_value_lanes, fmul, ftoi};
    use super::super::pack::f32_to_f16;
    use super::*;
    use proptest::prelude::*;

    /// qpu.md §4.4.
    #[test]
    fn the_table_has_another_reciprocal_of_one() {
        let facts = read("recip-one = \"table\"").expect("a fact");
        let operands = [ONE, ONE | SIGN, ONE + 1].map(|x| [x; LANES]);
        let results = operands.map(|x| {
            let mut value = SfuOp::Recip.apply_lanes(&x);
            sfu_lanes(&facts, SfuOp::Recip, &x, &mut value);
            value[3]
        });
        assert_eq!(results, [0x3f7f_fc00, 0xbf7f_fc00, recip(ONE + 1)]);
    }

    proptest! {
        #[test]
        fn products_are_rounded(a: u32, b: u32) {
            let exact = f64::from(f32::from_bits(a)) * f64::from(f32::from_bits(b));
            let (truncated, word) = (fmul(a, b), nearest_product(a, b, fmul(a, b)));
            if !is_wide(a) && !is_wide(b) && exact.abs() > f64::from(f32::MIN_POSITIVE) && !is_wide(word) {
                let (low, near) = (f64::from(f32::from_bits(truncated)), f64::from(f32::from_bits(word)));
                prop_assert!(low.abs() <= exact.abs() && (near - exact).abs() <= (low - exact).abs(), "{a:#x} {b:#x}");
            }
        }
    }

    #[test]
    fn what_is_far_below_the_larger_number_is_dropped() {
        let of = |a: f32, b: f32| {
            let (a, b) = (a.to_bits(), b.to_bits());
            (f32::from_bits(fadd(a, b)), f32::from_bits(guarded_sum(a, b, fadd(a, b))))
        };
        let below_one = f32::from_bits(0x3f7f_ffff);
        assert_eq!(of(1.0, -f32::EPSILON / 16.0), (below_one, 1.0));
        assert_eq!(of(-f32::EPSILON / 16.0, 1.0), (below_one, 1.0));
        assert_eq!(of(1.0, -f32::EPSILON / 4.0), (below_one, below_one));
        assert_eq!(of(1.5, 1.25), (2.75, 2.75));
        assert_eq!(of(0.0, 1.25), (1.25, 1.25));
    }

    #[test]
    fn overflowing_sums_are_zero_where_they_are() {
        let (a, b) = ([i32::MAX as u32; LANES], [i32::MAX as u32 - 5; LANES]);
        let of = |saturating_packs, code| {
            let mut value = add_value_lanes(AddOp::Add, &a, &b);
            saturate_lanes(
                &Facts { saturating_packs, ..Facts::default() },
                code,
                AddOp::Add,
                &a,
                &b,
                &mut value,
            );
            value[3]
        };
        assert_eq!(of(SaturatingPacks::Compared, Pack::Half0Sat), 0x7fff);
        assert_eq!(of(SaturatingPacks::Extremes, Pack::Half0Sat), 0);
        assert_eq!(of(SaturatingPacks::Compared, Pack::Byte0Sat), 0);
        assert_eq!(of(SaturatingPacks::Compared, Pack::Half0), 0x7fff);
        assert_eq!(of(SaturatingPacks::Extremes, Pack::Half0), 0x7fff);
    }

    #[test]
    fn the_experiments_of_the_manual() {
        // qpu.md §2.4.
        assert_eq!(fmul(0x3f80_0001, 0x3fc0_0001), 0x3fc0_0002);
        assert_eq!(nearest_product(0x3f80_0001, 0x3fc0_0001, 0x3fc0_0002), 0x3fc0_0003);
        let two_31 = 0x4f00_0000;
        assert_eq!(whole(FtoiRange::Saturated, two_31, ftoi(two_31)), 0x7fff_ffff);
        assert_eq!(whole(FtoiRange::Zero, two_31 | SIGN, ftoi(two_31 | SIGN)), 0);
        let of = |f16_rounding, word| {
            let facts = Facts { f16_rounding, ..Facts::default() };
            f32_to_f16(before_pack_a(&facts, Pack::Half0, &[word; LANES])[0])
        };
        assert_eq!(of(F16Rounding::AwayFromZero, 0x3f80_0001), 0x3c01);
        assert_eq!(of(F16Rounding::TowardZero, 0x3f80_1fff), 0x3c00);
        assert_eq!([0x3f80_0fff, 0x3f80_1000].map(|word| of(F16Rounding::TiesAway, word)), [0x3c00, 0x3c01]);
        assert_eq!(
            [0x3f80_1000, 0x3f80_3000].map(|word| of(F16Rounding::NearestEven, word)),
            [0x3c00, 0x3c02]
        );
    }
}
