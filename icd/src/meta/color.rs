//! Colours of texels on the CPU: packing and unpacking of every colour format.

use vc4::image::format::Format as Texel;
use vc4::qpu::pack::{f16_to_f32, f32_to_f16};

use crate::error::Error;
use crate::format::FormatRow;

/// A component's lowest bit and width.
type Bits = (u32, u32);

/// Where red, green, blue and alpha stand in a texel.
fn fields(texel: Texel) -> Option<[Option<Bits>; 4]> {
    let rgba = |r, g, b, a| Some([Some(r), Some(g), Some(b), Some(a)]);
    match texel {
        Texel::R8G8B8A8 => rgba((0, 8), (8, 8), (16, 8), (24, 8)),
        Texel::B8G8R8A8 => rgba((16, 8), (8, 8), (0, 8), (24, 8)),
        Texel::R8G8B8X8 => Some([Some((0, 8)), Some((8, 8)), Some((16, 8)), None]),
        Texel::B8G8R8X8 => Some([Some((16, 8)), Some((8, 8)), Some((0, 8)), None]),
        Texel::R5G6B5 => Some([Some((11, 5)), Some((5, 6)), Some((0, 5)), None]),
        Texel::B5G6R5 => Some([Some((0, 5)), Some((5, 6)), Some((11, 5)), None]),
        Texel::R4G4B4A4 => rgba((12, 4), (8, 4), (4, 4), (0, 4)),
        Texel::B4G4R4A4 => rgba((4, 4), (8, 4), (12, 4), (0, 4)),
        Texel::A4R4G4B4 => rgba((8, 4), (4, 4), (0, 4), (12, 4)),
        Texel::R5G5B5A1 => rgba((11, 5), (6, 5), (1, 5), (0, 1)),
        Texel::B5G5R5A1 => rgba((1, 5), (6, 5), (11, 5), (0, 1)),
        Texel::R8 => Some([Some((0, 8)), None, None, None]),
        Texel::R8G8 => Some([Some((0, 8)), Some((8, 8)), None, None]),
        Texel::A2B10G10R10 => rgba((0, 10), (10, 10), (20, 10), (30, 2)),
        Texel::R16G16F => Some([Some((0, 16)), Some((16, 16)), None, None]),
        Texel::Etc1 | Texel::Z24S8 | Texel::Z24X8 => None,
    }
}

/// Packs and unpacks texels of one format.
#[derive(Clone, Copy, Debug)]
pub struct ColorCodec {
    fields: [Option<Bits>; 4],
    srgb: bool,
    /// Components are float16.
    half: bool,
    /// Bytes of a texel.
    pub bytes: usize,
}

impl ColorCodec {
    /// The codec of a format; an error for formats without colours.
    pub fn new(row: &FormatRow) -> Result<ColorCodec, Error> {
        let fields = row.texel.and_then(fields);
        let fields = fields.ok_or_else(|| Error::InvalidUse(format!("{:?} as a colour", row.format)))?;
        let half = row.texel == Some(Texel::R16G16F);
        Ok(ColorCodec { fields, srgb: row.srgb, half, bytes: row.bytes as usize })
    }

    /// The texel of a colour R, G, B, A: clamped to 0..1, NaN is 0, rounded to nearest; float16 as programs pack them.
    pub fn encode(&self, rgba: [f32; 4]) -> u32 {
        let mut word = 0;
        for (component, (field, value)) in self.fields.into_iter().zip(rgba).enumerate() {
            let Some((bit, width)) = field else { continue };
            if self.half {
                word |= f32_to_f16(value.to_bits()) << bit;
                continue;
            }
            let value = if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) };
            let value = if self.srgb && component < 3 { to_srgb(value) } else { value };
            word |= ((value * ((1u32 << width) - 1) as f32).round() as u32) << bit;
        }
        word
    }

    /// The colour of a texel; components that the format lacks are 0, 0, 0, 1.
    pub fn decode(&self, word: u32) -> [f32; 4] {
        let mut rgba = [0.0, 0.0, 0.0, 1.0];
        for (component, (field, value)) in self.fields.into_iter().zip(&mut rgba).enumerate() {
            let Some((bit, width)) = field else { continue };
            if self.half {
                *value = f32::from_bits(f16_to_f32(word >> bit & 0xffff));
                continue;
            }
            let most = (1u32 << width) - 1;
            let fraction = (word >> bit & most) as f32 / most as f32;
            *value = if self.srgb && component < 3 { from_srgb(fraction) } else { fraction };
        }
        rgba
    }
}

fn to_srgb(linear: f32) -> f32 {
    if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 }
}

fn from_srgb(coded: f32) -> f32 {
    if coded <= 0.040_45 { coded / 12.92 } else { ((coded + 0.055) / 1.055).powf(2.4) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::row;
    use ash::vk;

    fn codec(format: vk::Format) -> ColorCodec {
        ColorCodec::new(row(format).unwrap()).unwrap()
    }

    #[test]
    fn texels_are_packed_as_the_formats_are_named() {
        let color = [1.0, 0.0, 0.5, 0.0];
        assert_eq!(codec(vk::Format::R8G8B8A8_UNORM).encode(color), 0x0080_00ff);
        assert_eq!(codec(vk::Format::B8G8R8A8_UNORM).encode(color), 0x00ff_0080);
        assert_eq!(codec(vk::Format::R5G6B5_UNORM_PACK16).encode(color), 0xf810);
        assert_eq!(codec(vk::Format::R5G5B5A1_UNORM_PACK16).encode(color), 0xf820);
        assert_eq!(codec(vk::Format::A2B10G10R10_UNORM_PACK32).encode([1.0, 0.0, 0.5, 1.0]), 0xe000_03ff);
        assert_eq!(codec(vk::Format::R16G16_SFLOAT).encode([-2.0, 0.5, 0.0, 0.0]), 0x3800_c000);
        assert_eq!(codec(vk::Format::R16G16_SFLOAT).decode(0x3800_c000), [-2.0, 0.5, 0.0, 1.0]);
        assert_eq!(codec(vk::Format::R8_UNORM).encode([f32::NAN, 1.0, 1.0, 1.0]), 0);
        assert_eq!(codec(vk::Format::R8G8B8A8_SRGB).encode([0.5, 0.0, 0.0, 0.5]), 0x8000_00bc);
        assert!(ColorCodec::new(row(vk::Format::D16_UNORM).unwrap()).is_err());
    }

    #[test]
    fn every_colour_texel_survives() {
        for format in [vk::Format::R5G6B5_UNORM_PACK16, vk::Format::B4G4R4A4_UNORM_PACK16] {
            let codec = codec(format);
            for word in 0..=0xffff {
                assert_eq!(codec.encode(codec.decode(word)), word);
            }
        }
        let srgb = codec(vk::Format::B8G8R8A8_SRGB);
        for byte in 0..=255 {
            assert_eq!(srgb.encode(srgb.decode(byte * 0x0101_0101)), byte * 0x0101_0101);
        }
    }
}
