//! The PICA200's 24-bit float.
//!
//! | bits | content |
//! |------|---------|
//! | 23 | sign |
//! | 22:16 | exponent, bias 63; 0 is zero (there are no denormals), 0x7F infinity or NaN |
//! | 15:0 | mantissa |
//!
//! Every float24 that is not a flushed denormal is exactly a float32; the way back truncates the mantissa,
//! turns what is too small into a signed zero and what is too large into infinity, as picasso does.

/// A 24-bit float in the low bits of a word; the upper eight are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Float24(u32);

/// Exponent bias of a float32 less that of a float24.
const BIAS: u32 = 127 - 63;
const SIGN: u32 = 1 << 23;
const INFINITY: u32 = 0x7F << 16;

impl Float24 {
    /// The value with these bits; `None` when any above bit 23 is set.
    pub fn from_bits(bits: u32) -> Option<Float24> {
        (bits < 1 << 24).then_some(Float24(bits))
    }

    /// The value in the low 24 bits of a word.
    pub fn from_low_bits(bits: u32) -> Float24 {
        Float24(bits & 0xFF_FFFF)
    }

    /// The 24 bits.
    pub fn to_bits(self) -> u32 {
        self.0
    }

    /// The nearest value towards zero; below the smallest normal number (2^-62) a signed zero, from 2^64 on
    /// infinity. A NaN stays one and keeps the upper 16 bits of its mantissa.
    pub fn from_f32(value: f32) -> Float24 {
        let bits = value.to_bits();
        let sign = bits >> 8 & SIGN;
        let (exponent, mantissa) = (bits >> 23 & 0xFF, bits >> 7 & 0xFFFF);
        Float24(
            sign | match exponent {
                // A NaN whose payload is all in the bits cut off must not become infinity.
                0xFF => INFINITY | mantissa | u32::from(value.is_nan() && mantissa == 0),
                0..=BIAS => 0,
                _ if exponent - BIAS >= 0x7F => INFINITY,
                _ => (exponent - BIAS) << 16 | mantissa,
            },
        )
    }

    /// The same value; a denormal is a signed zero, as in the hardware.
    pub fn to_f32(self) -> f32 {
        let sign = (self.0 & SIGN) << 8;
        let mantissa = (self.0 & 0xFFFF) << 7;
        f32::from_bits(
            sign | match self.0 >> 16 & 0x7F {
                0 => 0,
                0x7F => 0xFF << 23 | mantissa,
                exponent => (exponent + BIAS) << 23 | mantissa,
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_values_are_exact_and_come_back() {
        for bits in 0..1u32 << 24 {
            let value = Float24(bits).to_f32();
            let (exponent, mantissa) = (bits >> 16 & 0x7F, bits & 0xFFFF);
            let back = Float24::from_f32(value).to_bits();
            match (exponent, mantissa) {
                (0, _) => {
                    assert_eq!(value, 0.0, "{bits:06x}");
                    assert_eq!(back, bits & SIGN, "{bits:06x}");
                    continue;
                }
                (0x7F, 0) => assert!(value.is_infinite(), "{bits:06x}"),
                (0x7F, _) => assert!(value.is_nan(), "{bits:06x}"),
                _ => {
                    let sign = if bits & SIGN == 0 { 1.0 } else { -1.0 };
                    let exact =
                        sign * (1.0 + f64::from(mantissa) / 65536.0) * 2f64.powi(exponent as i32 - 63);
                    assert_eq!(f64::from(value), exact, "{bits:06x}");
                }
            }
            assert_eq!(back, bits);
        }
    }

    #[test]
    fn conversion_truncates_as_the_assembler_does() {
        // From the all-instructions sample and its source; the last rows are the limits of the format.
        for (value, bits) in [
            (1.0, 0x3F0000),
            (-1.0, 0xBF0000),
            (0.5, 0x3E0000),
            (2.0, 0x400000),
            (-2.5, 0xC04000),
            (0.125, 0x3C0000),
            (65504.0, 0x4EFFC0),
            (0.333_333_3, 0x3D5555),
            (3.0e-20, 0x000000),
            (-3.0e20, 0xFF0000),
            (-0.0, 0x800000),
            (f32::MIN_POSITIVE, 0x000000),
            (2f32.powi(-62), 0x010000),
            (2f32.powi(64), 0x7F0000),
            (f32::INFINITY, 0x7F0000),
        ] {
            assert_eq!(Float24::from_f32(value).to_bits(), bits, "{value}");
        }
        assert_eq!(Float24(0x3D5555).to_f32(), 0.333_332_06);
        assert_eq!(Float24::from_f32(f32::from_bits(0x7F80_0001)).to_bits(), 0x7F0001);
        assert_eq!(Float24::from_bits(1 << 24), None);
    }
}
