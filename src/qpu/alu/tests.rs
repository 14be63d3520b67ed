//! The operations against independent models and the values that the manual records.

use super::*;
use proptest::prelude::*;

/// Sum truncated toward zero in integers: 80 guard bits and a sticky bit stand for the rest.
fn reference_fadd(a: u32, b: u32) -> u32 {
    let split = |w: u32| {
        let e = exponent(w);
        let m = if e == 0 { 0 } else { i128::from(w & MANTISSA | 0x80_0000) };
        (e, if w & SIGN != 0 { -m } else { m })
    };
    let ((ea, ma), (eb, mb)) = (split(a), split(b));
    let ((eh, mh), (el, ml)) = if ea >= eb { ((ea, ma), (eb, mb)) } else { ((eb, mb), (ea, ma)) };
    let gap = eh - el;
    // Below the guard bits only the sign of the small operand matters.
    let low = if gap > 80 { ml.signum() } else { ml << (80 - gap) };
    let sum = (mh << 80) + low;
    let (sign, magnitude) = (if sum < 0 { SIGN } else { 0 }, sum.unsigned_abs());
    if magnitude == 0 {
        return 0;
    }
    let top = 127 - magnitude.leading_zeros() as i32;
    let exponent = eh as i32 + top - (80 + 23);
    if exponent <= 0 {
        return 0;
    }
    if exponent >= 255 {
        return sign | INF;
    }
    let mantissa = if top >= 23 { magnitude >> (top - 23) } else { magnitude << (23 - top) };
    sign | (exponent as u32) << 23 | (mantissa as u32 & MANTISSA)
}

fn finite() -> impl Strategy<Value = u32> {
    any::<u32>().prop_map(|w| if exponent(w) == 255 { w & !0x4000_0000 } else { w })
}

/// Pairs whose exponents lie close together, where cancellation and rounding happen.
fn close_pair() -> impl Strategy<Value = (u32, u32)> {
    (finite(), any::<u32>(), -30i32..30).prop_map(|(a, b, gap)| {
        let e = (exponent(a) as i32 + gap).clamp(0, 254) as u32;
        (a, b & (SIGN | MANTISSA) | e << 23)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn fadd_truncates((a, b) in close_pair()) {
        prop_assert_eq!(fadd(a, b), reference_fadd(a, b), "{:#x} + {:#x}", a, b);
        prop_assert_eq!(fsub(a, b), reference_fadd(a, b ^ SIGN), "{:#x} - {:#x}", a, b);
    }

    #[test]
    fn fadd_truncates_far_operands(a in finite(), b in finite()) {
        prop_assert_eq!(fadd(a, b), reference_fadd(a, b), "{:#x} + {:#x}", a, b);
    }

    #[test]
    fn bytes_match_their_definitions(a: u32, b: u32) {
        let per_byte = |f: fn(u32, u32) -> u32| {
            let (x, y) = (a.to_le_bytes(), b.to_le_bytes());
            u32::from_le_bytes([0, 1, 2, 3].map(|i| f(x[i].into(), y[i].into()) as u8))
        };
        prop_assert_eq!(v8adds(a, b), per_byte(|a, b| (a + b).min(255)));
        prop_assert_eq!(v8subs(a, b), per_byte(|a, b| a.saturating_sub(b)));
        prop_assert_eq!(v8min(a, b), per_byte(|a, b| a.min(b)));
        prop_assert_eq!(v8max(a, b), per_byte(|a, b| a.max(b)));
        prop_assert_eq!(v8muld(a, b), per_byte(|a, b| (a * b + 127) / 255));
    }

    #[test]
    fn itof_truncates(a: i32) {
        let back = f64::from(f32::from_bits(itof(a as u32)));
        let exact = f64::from(a);
        prop_assert!(back.abs() <= exact.abs());
        prop_assert!(exact.abs() - back.abs() < 2f64.powi(8));
        let next = f64::from(f32::from_bits(itof(a as u32) + 1));
        prop_assert!(a == 0 || next.abs() > exact.abs());
    }

    #[test]
    fn integer_carries(a: u32, b: u32) {
        let carry = |op| add_op(op, a, b).carry;
        prop_assert_eq!(carry(AddOp::Add), a.checked_add(b).is_none());
        prop_assert_eq!(carry(AddOp::Sub), a.checked_sub(b).is_none());
        prop_assert_eq!(add_op(AddOp::Add, a, b).overflow, (a as i32).checked_add(b as i32).is_none());
        prop_assert_eq!(add_op(AddOp::Sub, a, b).overflow, (a as i32).checked_sub(b as i32).is_none());
        let n = b & 31;
        let out_right = (u64::from(a) << 32 >> n) >> 31 & 1 != 0;
        prop_assert_eq!(carry(AddOp::Shr), out_right);
        prop_assert_eq!(carry(AddOp::Asr), out_right);
        prop_assert_eq!(carry(AddOp::Shl), n != 0 && a >> (32 - n) & 1 != 0);
    }

    #[test]
    fn lanes_equal_scalars(a: [u32; 16], b: [u32; 16]) {
        for &op in AddOp::ALL {
            let (value, carry) = add_lanes(op, &a, &b);
            let overflow = add_overflow_lanes(op, &a, &b, &value);
            for i in 0..16 {
                let one = AluResult {
                    value: value[i], carry: carry >> i & 1 != 0, overflow: overflow >> i & 1 != 0,
                };
                prop_assert_eq!(one, add_op(op, a[i], b[i]), "{:?} {:#x} {:#x}", op, a[i], b[i]);
            }
        }
        for &op in MulOp::ALL {
            let (value, carry) = mul_lanes(op, &a, &b);
            for i in 0..16 {
                let one = AluResult { value: value[i], carry: carry >> i & 1 != 0, overflow: false };
                prop_assert_eq!(one, mul_op(op, a[i], b[i]), "{:?} {:#x} {:#x}", op, a[i], b[i]);
            }
        }
    }

    #[test]
    fn fmul_truncates(a in finite(), b in finite()) {
        if exponent(a) == 0 || exponent(b) == 0 {
            prop_assert_eq!(fmul(a, b), 0);
        } else if let Some(product) = reference_fmul(a, b) {
            prop_assert_eq!(fmul(a, b), product, "{:#x} * {:#x}", a, b);
        }
    }
}

/// The product of two normal numbers in integers; `None` if it is beyond the largest one.
fn reference_fmul(a: u32, b: u32) -> Option<u32> {
    let mantissa = |w: u32| u64::from(w & MANTISSA | 1 << 23);
    let product = mantissa(a) * mantissa(b);
    let carry = u32::from(product >> 47 != 0);
    let exponent = (exponent(a) + exponent(b) + carry).saturating_sub(127);
    let kept = (product >> (23 + carry)) as u32 & MANTISSA;
    match exponent {
        0 => Some(0),
        1..255 => Some((a ^ b) & SIGN | exponent << 23 | kept),
        _ => None,
    }
}

const ONE: u32 = 0x3f80_0000;
const NAN: u32 = 0x7fc0_0000;
const NEG_ZERO: u32 = SIGN;

#[test]
fn recorded_sums() {
    // qpu.md §2.3: 1.0 + (-2.5e-29).
    assert_eq!(fadd(ONE, (-2.5e-29f32).to_bits()), 0x3f7f_ffff);
    assert_eq!(fadd(NEG_ZERO, NEG_ZERO), 0);
    assert_eq!(fsub(ONE, ONE), 0);
    assert_eq!(fadd(0x0000_0001, ONE), ONE);
    assert_eq!(fadd(NAN, ONE), INF);
    assert_eq!(fadd(NAN | SIGN, ONE), INF | SIGN);
    assert_eq!(fadd(NAN | SIGN, NAN), INF);
    assert_eq!(fsub(NAN | SIGN, NAN), INF | SIGN);
    assert_eq!(itof(0x7fff_ffff), 0x4eff_ffff);
}

#[test]
fn products_below_the_smallest_normal_number_are_zero() {
    // One part of 2^24 below it or above it.
    let least = f32::MIN_POSITIVE.to_bits();
    let below_one = 0x3f7f_ffff;
    assert_eq!(fmul(least, below_one), 0);
    assert_eq!(fmul(least + 1, below_one), least);
    assert_eq!(fmul(least | SIGN, below_one), 0);
    assert_eq!(fmul(0x1f80_0001, 0x207f_ffff), 0x0080_0000);
    assert_eq!(fmul(0x1f80_0001, 0x207f_fffd), 0);
}

#[test]
fn sums_at_the_upper_end() {
    let max = f32::MAX.to_bits();
    assert_eq!(fadd(max, max), INF);
    assert_eq!(fadd(max | SIGN, max | SIGN), INF | SIGN);
    // A host addition would round this up to an infinity.
    assert_eq!(fadd(max, 0x7300_0000), max);
    assert_eq!(fadd(max, 0x0080_0000), max);
    assert_eq!(fsub(max, 0x0080_0000), max - 1);
}

#[test]
fn float_minimum_and_maximum_compare_words() {
    assert_eq!(fmax(0, NEG_ZERO), NEG_ZERO);
    assert_eq!(fmin(0, NEG_ZERO), 0);
    assert_eq!(fmax(NAN, INF), NAN);
    assert_eq!(fmin(NAN | SIGN, INF | SIGN), NAN | SIGN);
    assert_eq!(fmin(ONE | SIGN, ONE), ONE | SIGN);
    assert_eq!(fminabs(ONE | SIGN, 0x4000_0000), ONE);
    assert_eq!(fmaxabs(ONE, 0x4000_0000 | SIGN), 0x4000_0000);
    assert!(add_op(AddOp::Fmin, ONE, ONE | SIGN).carry);
    assert!(!add_op(AddOp::Fmax, 0, NEG_ZERO).carry);
    assert!(add_op(AddOp::Fmaxabs, ONE | SIGN, 0).carry);
}

#[test]
fn float_to_integer() {
    let of = |x: f32| ftoi(x.to_bits()) as i32;
    assert_eq!([of(0.99), of(-0.99), of(1.5), of(-1.5), of(16777215.0)], [0, 0, 1, -1, 16777215]);
    assert_eq!([of(1.6e29), of(-1.6e29), of(f32::NAN), of(1e-40)], [0; 4]);
    assert_eq!([of(2147483648.0), of(-2147483648.0)], [i32::MIN; 2]);
    assert_eq!(of(2147483520.0), 2147483520);
}

#[test]
fn products_with_special_operands() {
    assert_eq!(fmul(NEG_ZERO, NAN), 0);
    assert_eq!(fmul(INF, 0x0000_0001), 0);
    assert_eq!(fmul(NAN, ONE | SIGN), INF | SIGN);
    assert_eq!(fmul(INF | SIGN, INF | SIGN), INF);
    assert_eq!(fmul(0x0080_0000 | SIGN, 0x0080_0000), 0);
    assert_eq!(fmul(f32::MAX.to_bits(), 0x4000_0000 | SIGN), INF | SIGN);
    assert_eq!(mul24(0xffff_ffff, 0xff00_0003), 0x02ff_fffd);
}

#[test]
fn float_carries() {
    assert!(add_op(AddOp::Fadd, INF, ONE).carry);
    assert!(!add_op(AddOp::Fsub, ONE, ONE).carry);
    assert!(!add_op(AddOp::Fsub, 0, ONE).carry);
    assert!(add_op(AddOp::Itof, 1, 0).carry);
    assert!(!add_op(AddOp::Ftoi, ONE, 0).carry);
}
