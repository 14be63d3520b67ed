//! Texels as the API's formats describe them: bit fields of numbers in up to sixteen bytes, packed and unpacked on
//! the CPU. How an image holds them is another matter (`format`).

use std::sync::LazyLock;

use super::component::{ColorKind, Field};

/// What the bits of a texel mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TexelInfo {
    /// Bytes of a texel: 1, 2, 4, 8 or 16.
    pub bytes: u32,
    /// Kind of all components.
    pub kind: ColorKind,
    /// Places of R, G, B and A; `None` if the format has no such component.
    pub fields: [Option<Field>; 4],
    /// The five bits above the fields are an exponent that all components share (E5B9G9R9).
    pub shared_exponent: bool,
}

/// R, G, B and A as 32-bit words: floats, or integers for integer kinds.
pub type Color = [u32; 4];

/// Bits of the exponent in float16 and smaller, and of the shared one.
const EXPONENT_BITS: u32 = 5;
/// Bias of that exponent.
const EXPONENT_BIAS: i32 = 15;
/// The largest exponent code: infinities and NaN in float16 and smaller.
const EXPONENT_MAX: u32 = 31;
/// Mantissa bits of a component with a shared exponent.
const SHARED_MANTISSA_BITS: u32 = 9;

impl TexelInfo {
    /// The format that a name in the API's grammar describes: components with their bits, from the lowest bit up, or
    /// from the highest down before `_PACKn`; then what their numbers are. `None` for formats that are no
    /// colours of such numbers.
    pub fn of_name(name: &str) -> Option<TexelInfo> {
        let mut parts = name.split('_');
        let mut components = components(parts.next()?)?;
        let kind = match parts.next()? {
            "UNORM" => ColorKind::Unorm,
            "SNORM" => ColorKind::Snorm,
            "UINT" => ColorKind::Uint,
            "SINT" => ColorKind::Sint,
            "SFLOAT" | "UFLOAT" => ColorKind::Float,
            "SRGB" => ColorKind::Srgb,
            _ => return None,
        };
        match parts.next() {
            Some(packed) if packed.starts_with("PACK") => components.reverse(),
            Some(_) => return None,
            None => {}
        }
        let (mut fields, mut bit, mut shared_exponent) = ([None; 4], 0, false);
        for (letter, width) in components {
            match "RGBA".find(letter) {
                Some(component) => fields[component] = Some(Field { bit, width }),
                None => shared_exponent = true,
            }
            bit += width;
        }
        let bytes = u32::from(bit).div_ceil(8);
        let power = bytes.is_power_of_two() && bytes <= 16;
        power.then_some(TexelInfo { bytes, kind, fields, shared_exponent })
    }

    /// Whether colours are integers.
    pub fn is_integer(&self) -> bool {
        matches!(self.kind, ColorKind::Uint | ColorKind::Sint)
    }

    /// The texel in the first `bytes` bytes, little-endian.
    pub fn load(&self, bytes: &[u8]) -> u128 {
        let mut whole = [0; 16];
        let count = (self.bytes as usize).min(bytes.len());
        whole[..count].copy_from_slice(&bytes[..count]);
        u128::from_le_bytes(whole)
    }

    /// The colour of a texel; components that the format lacks are 0, 0, 0, 1.
    pub fn decode(&self, texel: u128) -> Color {
        let one = if self.is_integer() { 1 } else { 1f32.to_bits() };
        let mut color = [0, 0, 0, one];
        for (component, value) in color.iter_mut().enumerate() {
            let Some(field) = self.fields[component] else { continue };
            let raw = raw(texel, field);
            *value = match self.kind {
                _ if self.shared_exponent => shared(raw, (texel >> 27) as u32 & EXPONENT_MAX).to_bits(),
                ColorKind::Srgb if component < 3 => from_srgb(raw, field.width).to_bits(),
                ColorKind::Unorm | ColorKind::Srgb => unorm(raw, field.width).to_bits(),
                ColorKind::Snorm => snorm(raw, field.width).to_bits(),
                ColorKind::Float if field.width == 32 => raw,
                ColorKind::Float => from_small_float(raw, field.width).to_bits(),
                ColorKind::Uint => raw,
                ColorKind::Sint => sign_extended(raw, field.width) as u32,
            };
        }
        color
    }

    /// The colour, moved into what texels reach from the smallest to the largest.
    pub fn clamp(&self, color: Color) -> Color {
        let within = |low: f32| color.map(|bits| f32::from_bits(bits).clamp(low, 1.0).to_bits());
        match self.kind {
            ColorKind::Unorm | ColorKind::Srgb => within(0.0),
            ColorKind::Snorm => within(-1.0),
            ColorKind::Uint | ColorKind::Sint => self.decode(self.encode(color)),
            ColorKind::Float => color,
        }
    }

    /// The texel of a colour: clamped to what the format can hold, rounded to nearest; NaN is 0 where there is none.
    pub fn encode(&self, color: Color) -> u128 {
        if self.shared_exponent {
            return u128::from(to_shared(color.map(f32::from_bits)));
        }
        let mut texel = 0;
        for (component, value) in color.into_iter().enumerate() {
            let Some(Field { bit, width }) = self.fields[component] else { continue };
            let float = f32::from_bits(value);
            let raw = match self.kind {
                ColorKind::Srgb if component < 3 => to_unorm(to_srgb(float), width),
                ColorKind::Unorm | ColorKind::Srgb => to_unorm(float, width),
                ColorKind::Snorm => to_snorm(float, width),
                ColorKind::Float if width == 32 => value,
                ColorKind::Float => to_small_float(float, width),
                ColorKind::Uint => value.min(mask(width)),
                ColorKind::Sint => {
                    let most = (mask(width) >> 1) as i32;
                    (value as i32).clamp(-most - 1, most) as u32 & mask(width)
                }
            };
            texel |= u128::from(raw) << bit;
        }
        texel
    }
}

/// Letters and bits of `R5G6B5`.
fn components(text: &str) -> Option<Vec<(char, u8)>> {
    let mut components: Vec<(char, u8)> = Vec::new();
    for c in text.chars() {
        match (c, c.to_digit(10)) {
            (_, Some(digit)) => {
                let width = &mut components.last_mut()?.1;
                *width = width.checked_mul(10)?.checked_add(digit as u8)?;
            }
            ('R' | 'G' | 'B' | 'A' | 'E', None) => components.push((c, 0)),
            _ => return None,
        }
    }
    let bits: u32 = components.iter().map(|(_, width)| u32::from(*width)).sum();
    let sound = components.iter().all(|(_, width)| (1..=32).contains(width));
    (sound && (8..=128).contains(&bits)).then_some(components)
}

/// The largest number of that many bits, 1 to 32.
fn mask(width: u8) -> u32 {
    u32::MAX >> (32 - u32::from(width))
}

fn raw(texel: u128, Field { bit, width }: Field) -> u32 {
    (texel >> bit) as u32 & mask(width)
}

fn sign_extended(raw: u32, width: u8) -> i32 {
    let unused = 32 - u32::from(width);
    (raw << unused) as i32 >> unused
}

fn unorm(raw: u32, width: u8) -> f32 {
    (f64::from(raw) / f64::from(mask(width))) as f32
}

fn to_unorm(value: f32, width: u8) -> u32 {
    // NaN becomes 0 in the conversion to an integer.
    (f64::from(value).clamp(0.0, 1.0) * f64::from(mask(width))).round() as u32
}

fn snorm(raw: u32, width: u8) -> f32 {
    let value = f64::from(sign_extended(raw, width)) / f64::from(mask(width) >> 1);
    value.max(-1.0) as f32
}

fn to_snorm(value: f32, width: u8) -> u32 {
    let scaled = (f64::from(value).clamp(-1.0, 1.0) * f64::from(mask(width) >> 1)).round();
    scaled as i32 as u32 & mask(width)
}

/// The sRGB curve of an encoded component.
fn from_srgb(raw: u32, width: u8) -> f32 {
    static BYTES: LazyLock<[f32; 256]> =
        LazyLock::new(|| std::array::from_fn(|byte| srgb_to_linear(unorm(byte as u32, 8))));
    match width {
        8 => BYTES[raw as usize & 255],
        _ => srgb_to_linear(unorm(raw, width)),
    }
}

fn srgb_to_linear(coded: f32) -> f32 {
    if coded <= 0.040_45 { coded / 12.92 } else { ((coded + 0.055) / 1.055).powf(2.4) }
}

/// The sRGB encoding of a component, both fractions of 1.
pub fn to_srgb(linear: f32) -> f32 {
    if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 }
}

/// Mantissa bits and whether there is a sign, of float16, unsigned float11 and unsigned float10.
fn small_float(width: u8) -> (u32, bool) {
    let signed = width == 16;
    (u32::from(width) - EXPONENT_BITS - u32::from(signed), signed)
}

fn from_small_float(raw: u32, width: u8) -> f32 {
    let (mantissa_bits, signed) = small_float(width);
    let (exponent, fraction) = (raw >> mantissa_bits & EXPONENT_MAX, raw & ((1 << mantissa_bits) - 1));
    let magnitude = match exponent {
        EXPONENT_MAX if fraction == 0 => f64::INFINITY,
        EXPONENT_MAX => f64::NAN,
        0 => scaled(f64::from(fraction), 1 - EXPONENT_BIAS - mantissa_bits as i32),
        _ => {
            let whole = fraction | 1 << mantissa_bits;
            scaled(f64::from(whole), exponent as i32 - EXPONENT_BIAS - mantissa_bits as i32)
        }
    };
    let negative = signed && raw >> (width - 1) & 1 != 0;
    (if negative { -magnitude } else { magnitude }) as f32
}

/// Rounds to nearest, ties to even. Unsigned formats hold 0 for negative numbers and stay finite.
fn to_small_float(value: f32, width: u8) -> u32 {
    let (mantissa_bits, signed) = small_float(width);
    let (infinity, sign) = (EXPONENT_MAX << mantissa_bits, u32::from(value.is_sign_negative()));
    if value.is_nan() {
        return infinity | 1 << (mantissa_bits - 1);
    }
    if !signed && sign != 0 {
        return 0;
    }
    let magnitude = f64::from(value.abs());
    let exponent = ((value.to_bits() >> 23 & 0xff) as i32 - 127).max(1 - EXPONENT_BIAS);
    let bits = match value.is_infinite() {
        true => infinity,
        false => {
            // Units of the last place; a carry of the rounding moves on to the exponent.
            let units = scaled(magnitude, mantissa_bits as i32 - exponent).round_ties_even() as u64;
            let bits = units + ((i64::from(exponent + EXPONENT_BIAS - 1) as u64) << mantissa_bits);
            bits.min(u64::from(infinity) - u64::from(!signed)) as u32
        }
    };
    bits | if signed { sign << (width - 1) } else { 0 }
}

/// value * 2^power
fn scaled(value: f64, power: i32) -> f64 {
    value * f64::from(power).exp2()
}

fn shared(raw: u32, exponent: u32) -> f32 {
    scaled(f64::from(raw), exponent as i32 - EXPONENT_BIAS - SHARED_MANTISSA_BITS as i32) as f32
}

/// E5B9G9R9 (Vulkan 1.0 §15.3.3 "shared exponent").
fn to_shared(rgba: [f32; 4]) -> u32 {
    let steps = f64::from(1u32 << SHARED_MANTISSA_BITS);
    let most = scaled((steps - 1.0) / steps, EXPONENT_MAX as i32 - EXPONENT_BIAS);
    // The larger of a NaN and 0 is 0.
    let rgb = [0, 1, 2].map(|n: usize| f64::from(rgba[n]).max(0.0).min(most));
    let largest = rgb[0].max(rgb[1]).max(rgb[2]);
    let floor_log2 = ((largest.to_bits() >> 52) as i32 - 1023).max(-EXPONENT_BIAS - 1);
    let mut exponent = floor_log2 + 1 + EXPONENT_BIAS;
    let units = |value: f64, exponent: i32| {
        (scaled(value, EXPONENT_BIAS + SHARED_MANTISSA_BITS as i32 - exponent) + 0.5).floor()
    };
    if units(largest, exponent) == steps {
        exponent += 1;
    }
    let [r, g, b] = rgb.map(|value| units(value, exponent) as u32);
    r | g << SHARED_MANTISSA_BITS | b << (2 * SHARED_MANTISSA_BITS) | (exponent as u32) << 27
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn info(name: &str) -> TexelInfo {
        TexelInfo::of_name(name).unwrap_or_else(|| panic!("{name}"))
    }

    fn floats(color: Color) -> [f32; 4] {
        color.map(f32::from_bits)
    }

    fn encode(name: &str, color: [f32; 4]) -> u128 {
        info(name).encode(color.map(f32::to_bits))
    }

    const ALL: [&str; 46] = [
        "R8_UNORM",
        "R8_SNORM",
        "R8_UINT",
        "R8_SINT",
        "R8G8_UNORM",
        "R8G8_SNORM",
        "R8G8_UINT",
        "R8G8_SINT",
        "R8G8B8A8_UNORM",
        "R8G8B8A8_SNORM",
        "R8G8B8A8_UINT",
        "R8G8B8A8_SINT",
        "R8G8B8A8_SRGB",
        "B8G8R8A8_UNORM",
        "B8G8R8A8_SRGB",
        "A8B8G8R8_SRGB_PACK32",
        "R4G4B4A4_UNORM_PACK16",
        "B4G4R4A4_UNORM_PACK16",
        "R5G6B5_UNORM_PACK16",
        "B5G6R5_UNORM_PACK16",
        "R5G5B5A1_UNORM_PACK16",
        "A1R5G5B5_UNORM_PACK16",
        "A2B10G10R10_UNORM_PACK32",
        "A2B10G10R10_UINT_PACK32",
        "A2R10G10B10_SNORM_PACK32",
        "R16_UNORM",
        "R16_SNORM",
        "R16_UINT",
        "R16_SINT",
        "R16_SFLOAT",
        "R16G16_UNORM",
        "R16G16_SNORM",
        "R16G16_SINT",
        "R16G16_SFLOAT",
        "R16G16B16A16_UNORM",
        "R16G16B16A16_SNORM",
        "R16G16B16A16_UINT",
        "R16G16B16A16_SINT",
        "R16G16B16A16_SFLOAT",
        "R32_UINT",
        "R32_SFLOAT",
        "R32G32_SINT",
        "R32G32_SFLOAT",
        "R32G32B32A32_UINT",
        "R32G32B32A32_SFLOAT",
        "B10G11R11_UFLOAT_PACK32",
    ];

    #[test]
    fn names_say_where_components_stand() {
        let field = |bit, width| Some(Field { bit, width });
        let packed = info("R5G6B5_UNORM_PACK16");
        assert_eq!((packed.bytes, packed.fields), (2, [field(11, 5), field(5, 6), field(0, 5), None]));
        let bytes = info("B8G8R8A8_SRGB");
        assert_eq!(
            (bytes.kind, bytes.fields[0], bytes.fields[3]),
            (ColorKind::Srgb, field(16, 8), field(24, 8))
        );
        let wide = info("R32G32B32A32_SINT");
        assert_eq!((wide.bytes, wide.fields[3]), (16, field(96, 32)));
        assert!(info("E5B9G9R9_UFLOAT_PACK32").shared_exponent);
        assert_eq!(info("E5B9G9R9_UFLOAT_PACK32").fields[2], field(18, 9));
        let none = [
            "D16_UNORM",
            "X8_D24_UNORM_PACK32",
            "R8",
            "R8_USCALED",
            "ETC2_R8G8B8_UNORM_BLOCK",
            "R32G32B32_UINT",
        ];
        assert!(none.iter().all(|name| TexelInfo::of_name(name).is_none()));
    }

    #[test]
    fn known_texels() {
        let color = [1.0, 0.0, 0.5, 0.0];
        assert_eq!(encode("R8G8B8A8_UNORM", color), 0x0080_00ff);
        assert_eq!(encode("B8G8R8A8_UNORM", color), 0x00ff_0080);
        assert_eq!(encode("R5G6B5_UNORM_PACK16", color), 0xf810);
        assert_eq!(encode("A1R5G5B5_UNORM_PACK16", [1.0, 0.0, 0.5, 1.0]), 0xfc10);
        assert_eq!(encode("A2B10G10R10_UNORM_PACK32", [1.0, 0.0, 0.5, 1.0]), 0xe000_03ff);
        assert_eq!(encode("R16G16_SFLOAT", [-2.0, 0.5, 0.0, 0.0]), 0x3800_c000);
        assert_eq!(encode("R8_SNORM", [-1.0; 4]), 0x81);
        assert_eq!(encode("R8_UNORM", [f32::NAN; 4]), 0);
        assert_eq!(encode("R8G8B8A8_SRGB", [0.5, 0.0, 0.0, 0.5]), 0x8000_00bc);
        assert_eq!(encode("R16_SFLOAT", [65520.0; 4]), 0x7c00);
        assert_eq!(encode("R16_SFLOAT", [6.0e-8; 4]), 1);
        assert_eq!(encode("B10G11R11_UFLOAT_PACK32", [1.0, -1.0, 1e9, 0.0]), 0x3c0 | 0x3df << 22);
        assert_eq!(encode("E5B9G9R9_UFLOAT_PACK32", [1.0, 0.5, 0.0, 0.0]), 16 << 27 | 128 << 9 | 256);
        assert_eq!(floats(info("R8_SNORM").decode(0x80)), [-1.0, 0.0, 0.0, 1.0]);
        assert_eq!(info("R8_SINT").decode(0x80), [-128i32 as u32, 0, 0, 1]);
        assert_eq!(info("R8_SINT").encode([300, 0, 0, 0]), 127);
        assert_eq!(info("R8_UINT").encode([300, 0, 0, 0]), 255);
        assert_eq!(info("R8_SINT").encode([-300i32 as u32, 0, 0, 0]), 0x80);
    }

    /// Halves of all bit patterns, against the crate that implements IEEE 754 binary16.
    #[test]
    fn halves_are_ieee_s() {
        for bits in 0..=0xffffu16 {
            let expected = half::f16::from_bits(bits);
            let got = from_small_float(bits.into(), 16);
            assert!(got == expected.to_f32() || got.is_nan() && expected.is_nan(), "{bits:#x}");
        }
    }

    proptest! {
        #[test]
        fn halves_are_rounded_as_ieee_says(bits: u32) {
            let value = f32::from_bits(bits);
            let expected = half::f16::from_f32(value);
            if !value.is_nan() {
                prop_assert_eq!(to_small_float(value, 16), u32::from(expected.to_bits()));
            }
        }

        /// What a texel holds is what comes out again, except for numbers with two codes.
        #[test]
        fn texels_survive(name in prop::sample::select(ALL.to_vec()), texel: u128) {
            let info = info(name);
            let texel = if info.bytes == 16 { texel } else { texel & ((1 << (info.bytes * 8)) - 1) };
            let color = info.decode(texel);
            let again = info.decode(info.encode(color));
            let nan = |v: u32| info.kind == ColorKind::Float && f32::from_bits(v).is_nan();
            for (a, b) in color.into_iter().zip(again) {
                prop_assert!(a == b || nan(a) && nan(b), "{name}: {texel:#x}");
            }
        }

        /// No neighbouring code is nearer than the chosen one.
        #[test]
        fn unorm_and_snorm_are_nearest(value in -1.5f32..1.5, width in prop::sample::select(vec![1u8, 2, 4, 5, 6, 8, 10, 16])) {
            let far = |got: f32, low: f64| (f64::from(got) - f64::from(value).clamp(low, 1.0)).abs();
            let step = 1.0 / f64::from(mask(width));
            prop_assert!(far(unorm(to_unorm(value, width), width), 0.0) <= step / 2.0 + 1e-7);
            if width > 1 {
                let step = 1.0 / f64::from(mask(width) >> 1);
                prop_assert!(far(snorm(to_snorm(value, width), width), -1.0) <= step / 2.0 + 1e-7);
            }
        }

        /// The shared exponent leaves at most half a unit of the largest component's last place.
        #[test]
        fn shared_exponents_keep_nine_bits(rgb in prop::array::uniform3(0.0f32..70000.0)) {
            let info = info("E5B9G9R9_UFLOAT_PACK32");
            let [r, g, b] = rgb;
            let got = floats(info.decode(info.encode([r, g, b, 0.0].map(f32::to_bits))));
            let clamped = rgb.map(|v| v.min(65408.0));
            let unit = clamped.iter().fold(0.0f32, |a, b| a.max(*b)) / 256.0;
            for (got, wanted) in got.iter().zip(clamped) {
                prop_assert!((got - wanted).abs() <= unit / 2.0 + 1e-6, "{got} for {wanted}");
            }
        }

        /// Unsigned floats of 11 and 10 bits are the nearest of their neighbours.
        #[test]
        fn small_floats_are_nearest(value in 0.0f32..70000.0, width in prop::sample::select(vec![10u8, 11])) {
            let code = to_small_float(value, width);
            let error = |code: u32| (from_small_float(code, width) - value).abs();
            let top = (EXPONENT_MAX << small_float(width).0) - 1;
            prop_assert!(code == 0 || error(code) <= error(code - 1));
            prop_assert!(code == top || error(code) <= error(code + 1));
        }
    }
}
