//! The special function unit, bit for bit (qpu.md §4.4).
//!
//! All four functions look up a quadratic interpolation of sixteen segments; only how the float is taken
//! apart and put together differs.

use super::alu::Lanes;
use super::isa::Waddr;

/// A function of the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SfuOp {
    /// 1/x.
    Recip,
    /// 1/√|x|.
    Rsqrt,
    /// 2^x.
    Exp2,
    /// log2 |x|.
    Log2,
}

impl SfuOp {
    /// The function that a write to this address requests.
    pub const fn from_waddr(waddr: Waddr) -> Option<SfuOp> {
        match waddr {
            Waddr::SFU_RECIP => Some(SfuOp::Recip),
            Waddr::SFU_RSQRT => Some(SfuOp::Rsqrt),
            Waddr::SFU_EXP2 => Some(SfuOp::Exp2),
            Waddr::SFU_LOG2 => Some(SfuOp::Log2),
            _ => None,
        }
    }

    /// The word that r4 receives for operand `x`.
    pub const fn apply(self, x: u32) -> u32 {
        match self {
            SfuOp::Recip => recip(x),
            SfuOp::Rsqrt => rsqrt(x),
            SfuOp::Exp2 => exp2(x),
            SfuOp::Log2 => log2(x),
        }
    }

    /// What the function looks up.
    pub const fn table(self) -> &'static Table {
        match self {
            SfuOp::Recip => &RECIP,
            SfuOp::Rsqrt => &RSQRT,
            SfuOp::Exp2 => &EXP2,
            SfuOp::Log2 => &LOG2,
        }
    }

    /// [`SfuOp::apply`] on all elements.
    pub fn apply_lanes(self, x: &Lanes) -> Lanes {
        // One loop per function, with nothing to decide for each element.
        match self {
            SfuOp::Recip => x.map(recip),
            SfuOp::Rsqrt => x.map(rsqrt),
            SfuOp::Exp2 => x.map(exp2),
            SfuOp::Log2 => x.map(log2),
        }
    }
}

/// Coefficients of the sixteen segments.
#[derive(Debug)]
pub struct Table {
    /// Values at the segments' starts, 15 bits.
    pub c0: [u32; 16],
    /// Slopes, 12 bits.
    pub c1: [u32; 16],
    /// Weights of the bow, 6 bits.
    pub c2: [u32; 16],
}

/// The bow of a parabola over a segment, by the upper six bits of the place in it, to nearest: 6 bits.
const SQ: [u32; 64] = {
    let mut bow = [0; 64];
    let mut place = 0;
    while place < bow.len() {
        let of_1024 = (place * (64 - place)) as u32;
        let to_nearest = (of_1024 + 8) >> 4;
        bow[place] = if to_nearest < 63 { to_nearest } else { 63 };
        place += 1;
    }
    bow
};

#[rustfmt::skip]
static RECIP: Table = Table {
    c0: [0x7ffc, 0x70ee, 0x638c, 0x5792, 0x4ccb, 0x430b, 0x3a2e, 0x3215, 0x2aaa, 0x23d6, 0x1d8a, 0x17b4, 0x1249, 0x0d3e, 0x0889, 0x0421],
    c1: [0xf0b, 0xd60, 0xbf8, 0xac5, 0x9bf, 0x8dc, 0x818, 0x76a, 0x6d3, 0x64c, 0x5d6, 0x56b, 0x50b, 0x4b5, 0x468, 0x421],
    c2: [0x1d, 0x18, 0x15, 0x12, 0x0f, 0x0d, 0x0c, 0x0a, 0x09, 0x08, 0x07, 0x06, 0x06, 0x05, 0x05, 0x04],
};

#[rustfmt::skip]
static RSQRT: Table = Table {
    c0: [0x7ffb, 0x7158, 0x64f6, 0x5a4f, 0x5104, 0x48d2, 0x4184, 0x3af4, 0x3501, 0x2aa8, 0x21e7, 0x1a5f, 0x13cc, 0x0e00, 0x08d5, 0x0433],
    c1: [0xe9e, 0xc5f, 0xaa5, 0x949, 0x831, 0x74d, 0x68f, 0x5ef, 0xa56, 0x8bf, 0x787, 0x692, 0x5cb, 0x52a, 0x4a2, 0x433],
    c2: [0x29, 0x1f, 0x18, 0x13, 0x10, 0x0d, 0x0b, 0x09, 0x1d, 0x16, 0x11, 0x0e, 0x0b, 0x09, 0x08, 0x07],
};

#[rustfmt::skip]
static LOG2: Table = Table {
    c0: [0x7fff, 0x74cd, 0x6a3f, 0x6043, 0x56cb, 0x4dc9, 0x4531, 0x3cfc, 0x3520, 0x2d96, 0x2658, 0x1f60, 0x18a9, 0x122e, 0x0beb, 0x05dd],
    c1: [0xb31, 0xa8d, 0x9fb, 0x978, 0x902, 0x898, 0x835, 0x7dc, 0x78a, 0x73e, 0x6f8, 0x6b7, 0x67b, 0x643, 0x60e, 0x5dd],
    c2: [0x0b, 0x0a, 0x09, 0x08, 0x07, 0x06, 0x06, 0x05, 0x05, 0x05, 0x04, 0x04, 0x04, 0x03, 0x03, 0x03],
};

#[rustfmt::skip]
static EXP2: Table = Table {
    c0: [0x0000, 0x05ab, 0x0b96, 0x11c4, 0x1838, 0x1ef5, 0x25ff, 0x2d58, 0x3505, 0x3d09, 0x4567, 0x4e25, 0x5745, 0x60cd, 0x6ac1, 0x7524],
    c1: [0x5ab, 0x5eb, 0x62e, 0x674, 0x6bd, 0x70a, 0x759, 0x7ad, 0x804, 0x85e, 0x8be, 0x920, 0x988, 0x9f4, 0xa64, 0xadc],
    c2: [0x04, 0x04, 0x04, 0x04, 0x05, 0x05, 0x05, 0x05, 0x06, 0x06, 0x06, 0x06, 0x07, 0x07, 0x07, 0x08],
};

const SIGN: u32 = 0x8000_0000;
const INF: u32 = 0x7f80_0000;
const MANTISSA: u32 = 0x007f_ffff;

const fn exponent(x: u32) -> u32 {
    x >> 23 & 0xff
}

/// The interpolator: 15 bits of argument to 15 bits of function.
const fn interpolate(table: &Table, m: u32, rising: bool) -> u32 {
    let i = (m >> 11 & 15) as usize;
    let linear = ((table.c1[i] * (m & 0x7ff)) >> 11) & 0xfff;
    let linear = if rising { !linear & 0x7fff } else { linear };
    let bow = ((table.c2[i] * SQ[(m >> 5 & 63) as usize]) >> 5) & 0x7f;
    table.c0[i].wrapping_sub(linear).wrapping_sub(bow) & 0x7fff
}

/// 1/x; ±Inf for zeros and denormals, ±0 from 2^126 on.
///
/// UNVERIFIED: is the reciprocal of 1 exact? So it is printed by who asked a board, and so Mesa's vertices are where they are seen
/// although products are truncated; the table has 0x3f7ffc00 (qpu.md §4.4).
pub const fn recip(x: u32) -> u32 {
    let sign = x & SIGN;
    match exponent(x) {
        127 if x & MANTISSA == 0 => x,
        0 => sign | INF,
        253.. => sign,
        e => sign | (253 - e) << 23 | interpolate(&RECIP, (x & MANTISSA) >> 8, false) << 8,
    }
}

/// 1/√|x|; +Inf for zeros and denormals, 0 for infinities and NaN.
pub const fn rsqrt(x: u32) -> u32 {
    let e = exponent(x);
    match e {
        0 => INF,
        255 => 0,
        _ => {
            let twice = (!e).wrapping_sub(127) & 0xff;
            let half = twice >> 1 | (twice >> 1 & 0x40) << 1;
            let m = (!e & 1) << 14 | (x & MANTISSA) >> 9;
            ((126 + half) & 0xff) << 23 | interpolate(&RSQRT, m, false) << 8
        }
    }
}

/// log2 |x|; -Inf for zeros and denormals, +Inf for infinities and NaN.
pub const fn log2(x: u32) -> u32 {
    let e = exponent(x);
    match e {
        0 => return SIGN | INF,
        255 => return INF,
        _ => {}
    }
    let fraction = !(interpolate(&LOG2, (x & MANTISSA) >> 8, false) << 8) & MANTISSA;
    // Fixed point; bit 16 weighs 1.
    let fixed = (((e + 1) & 127) << 16 | fraction >> 7) & !1;
    let (sign, fixed) = if e < 127 { (SIGN, !fixed & MANTISSA) } else { (0, fixed) };
    if fixed == 0 {
        return 0;
    }
    let left = fixed.leading_zeros() - 9;
    sign | (133 - left) << 23 | (fixed << left & (MANTISSA >> 1)) << 1
}

/// 2^x; 0 from -126 down, +Inf from 128 up.
///
/// UNVERIFIED: what is exp2(NaN)? Here a NaN counts as an overflow of its sign, like an infinity (qpu.md §4.4).
pub const fn exp2(x: u32) -> u32 {
    let e = exponent(x);
    // Zeros and denormals of either sign are one operand.
    let x = if e == 0 { 0 } else { x };
    let significand = 0x0080_0000 | x & MANTISSA;
    // Fixed point with 15 fraction bits.
    let (magnitude, overflow) = if e >= 128 {
        let shifted = significand >> (!e & 7);
        (shifted & 0x003f_ffff, e & 0x78 != 0 || shifted >> 22 != 0)
    } else if e >> 4 == 7 {
        (significand >> (!e & 15) >> 8, false)
    } else {
        (0, false)
    };
    let (fixed, exponent) = if x & SIGN != 0 {
        let fixed = !magnitude & 0x003f_ffff;
        let k = fixed >> 15;
        if overflow || k < 2 {
            return 0;
        }
        (fixed, k - 1)
    } else if overflow {
        return INF;
    } else {
        (magnitude, ((magnitude >> 15) + 127) & 0xff)
    };
    exponent << 23 | interpolate(&EXP2, fixed & 0x7fff, true) << 8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(x: f32) -> u32 {
        x.to_bits()
    }

    #[test]
    fn most_trivial_points_are_not_exact() {
        assert_eq!([recip(word(1.0)), recip(word(-1.0))], [word(1.0), word(-1.0)]);
        assert_eq!(recip(word(2.0)), 0x3eff_fc00);
        assert_eq!(rsqrt(word(1.0)), 0x3f7f_fb00);
        assert_eq!(exp2(word(0.0)), 0x3f80_0100);
        assert_eq!(exp2(word(1.0)), 0x4000_0100);
        assert_eq!(log2(word(0.5)), 0xbf7f_ff00);
        assert_eq!(log2(word(1.0)), 0);
        assert_eq!(log2(word(2.0)), word(1.0));
    }

    #[test]
    fn special_operands() {
        let denormal = 0x8000_0001;
        assert_eq!([recip(0), recip(denormal)], [INF, INF | SIGN]);
        assert_eq!([recip(word(-8.6e37)), recip(INF), recip(0xffc0_0000)], [SIGN, 0, SIGN]);
        assert_eq!(recip(word(-2f32.powi(126))), SIGN);
        assert_ne!(recip(word(2f32.powi(125))), 0);
        assert_eq!([rsqrt(0), rsqrt(denormal), rsqrt(INF), rsqrt(0x7fc0_0000)], [INF, INF, 0, 0]);
        assert_eq!(rsqrt(word(-4.0)), rsqrt(word(4.0)));
        assert_eq!([log2(0), log2(INF), log2(0xffc0_0000)], [INF | SIGN, INF, INF]);
        assert_eq!(log2(word(-8.0)), word(3.0));
        assert_eq!([exp2(word(128.0)), exp2(INF), exp2(word(1e9))], [INF; 3]);
        assert_eq!([exp2(word(-126.0)), exp2(INF | SIGN), exp2(word(-1e9))], [0; 3]);
        assert_ne!(exp2(word(-125.99)), 0);
        assert_eq!(exp2(denormal), exp2(0));
    }

    /// Worst relative error of `f` over two octaves, as a power of two.
    fn worst(f: fn(u32) -> u32, exact: fn(f64) -> f64, from: f32, to: f32, relative: bool) -> f64 {
        let mut worst = 0f64;
        for bits in (word(from)..word(to)).step_by(37) {
            let truth = exact(f64::from(f32::from_bits(bits)));
            let error = (f64::from(f32::from_bits(f(bits))) - truth).abs();
            worst = worst.max(if relative { error / truth.abs() } else { error });
        }
        worst.log2()
    }

    #[test]
    fn errors_are_those_of_the_manual() {
        let near = |got: f64, manual: f64| assert!((got - manual).abs() < 0.06, "2^{got}, manual 2^{manual}");
        near(worst(recip, |x| 1.0 / x, 1.0, 2.0, true), -13.45);
        near(worst(rsqrt, |x| 1.0 / x.sqrt(), 1.0, 4.0, true), -13.3);
        near(worst(exp2, f64::exp2, 1.0, 2.0, true), -13.6);
        near(worst(log2, f64::log2, 1.0, 2.0, false), -12.6);
    }

    #[test]
    fn errors_stay_bounded_over_the_range() {
        for e in -120..120 {
            let x = 2f32.powi(e);
            for scale in [1.0, 1.3, 1.7] {
                let x = x * scale;
                let relative = |got: u32, truth: f64| (f64::from(f32::from_bits(got)) / truth - 1.0).abs();
                assert!(relative(recip(word(x)), 1.0 / f64::from(x)) < 2f64.powf(-13.0), "recip {x}");
                assert!(relative(rsqrt(word(x)), 1.0 / f64::from(x).sqrt()) < 2f64.powf(-13.0), "rsqrt {x}");
                let log = f64::from(f32::from_bits(log2(word(x))));
                assert!((log - f64::from(x).log2()).abs() < 2f64.powf(-12.5), "log2 {x}");
                let power = e as f32 * scale;
                if power.abs() < 125.0 {
                    // The operand is cut to 15 fraction bits first.
                    assert!(
                        relative(exp2(word(power)), f64::from(power).exp2()) < 2f64.powf(-12.9),
                        "exp2 {power}"
                    );
                }
            }
        }
    }
}
