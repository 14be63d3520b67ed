//! Texels as words of memory, and as the four components that kernels see.

use ash::vk;
use vc4::hw::DEPTH_MAX;
use vc4::image::texel::{Color, TexelInfo};
use vc4::image::{ColorKind, Field};

use crate::foundation::format::{FormatRow, Storage, Stored};

/// A texel as it lies in memory, low word first.
pub(super) type Raw = [u32; 4];

/// 1 as a float.
const ONE: u32 = 0x3f80_0000;

/// What the words of a texel mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    /// So many components of a word each; the fourth, if it is not there, is this.
    Words(usize, u32),
    /// Fractions of 255, each above this bit.
    Bytes([u32; 4]),
    /// Anything else that has a colour.
    Fields(TexelInfo),
    /// Depth in the upper 24 bits.
    Depth24,
    /// Stencil in the low byte.
    Stencil8,
}

impl Codec {
    /// Of an image's texels, as a view of one aspect sees them.
    pub fn of_image(row: &FormatRow, stored: Stored, aspects: vk::ImageAspectFlags) -> Codec {
        match (stored.storage, row.info) {
            (Storage::Depth16 | Storage::Depth24 | Storage::Depth24Stencil8 | Storage::DepthFloat, _) => {
                match aspects.contains(vk::ImageAspectFlags::DEPTH) {
                    true => Codec::Depth24,
                    false => Codec::Stencil8,
                }
            }
            (Storage::Expanded1555, _) => Codec::Bytes([0, 8, 16, 24]),
            (_, Some(info)) => Codec::of_color(info),
            // A depth of 32 bits that only programs look at.
            (_, None) => Codec::Words(1, ONE),
        }
    }

    /// Of colours.
    pub fn of_color(info: TexelInfo) -> Codec {
        let one = if info.is_integer() { 1 } else { ONE };
        let in_order = |width: u8| {
            let mut fields = info.fields.iter().flatten().zip(0u8..);
            let components = info.fields.iter().take_while(|field| field.is_some()).count();
            let plain = |(field, n): (&Field, u8)| field.width == width && field.bit == width * n;
            fields.all(plain).then_some(components)
        };
        if let (Some(components), false) = (in_order(32), info.shared_exponent) {
            return Codec::Words(components, one);
        }
        match info.fields {
            [Some(r), Some(g), Some(b), Some(a)]
                if info.kind == ColorKind::Unorm && [r, g, b, a].iter().all(|field| field.width == 8) =>
            {
                Codec::Bytes([r, g, b, a].map(|field| field.bit.into()))
            }
            _ => Codec::Fields(info),
        }
    }

    /// Whether components are integers.
    pub fn is_integer(&self) -> bool {
        match self {
            Codec::Words(_, one) => *one == 1,
            Codec::Bytes(_) | Codec::Depth24 => false,
            Codec::Fields(info) => info.is_integer(),
            Codec::Stencil8 => true,
        }
    }

    /// 1 in the components' kind.
    pub fn one(&self) -> u32 {
        if self.is_integer() { 1 } else { ONE }
    }

    /// The colour outside of images with such texels.
    pub fn border(&self, color: Color) -> Color {
        let fraction = |bits| f32::from_bits(bits).clamp(0.0, 1.0).to_bits();
        self.restrict(match self {
            Codec::Depth24 | Codec::Bytes(_) => color.map(fraction),
            Codec::Stencil8 => color.map(|stencil| stencil & 0xff),
            Codec::Words(..) => color,
            Codec::Fields(info) => info.clamp(color),
        })
    }

    /// A colour without the components that texels do not have.
    fn restrict(&self, color: Color) -> Color {
        let has = match self {
            Codec::Words(components, _) => [0, 1, 2, 3].map(|n| n < *components),
            Codec::Bytes(_) => [true; 4],
            Codec::Fields(info) => info.fields.map(|field| field.is_some()),
            Codec::Depth24 | Codec::Stencil8 => [true, false, false, false],
        };
        let absent = [0, 0, 0, self.one()];
        [0, 1, 2, 3].map(|n| if has[n] { color[n] } else { absent[n] })
    }

    /// Whether a reference of a comparison is clamped as such depths are.
    pub fn is_fraction(&self) -> bool {
        match self {
            Codec::Words(..) | Codec::Stencil8 => false,
            Codec::Bytes(_) | Codec::Depth24 => true,
            Codec::Fields(info) => info.kind == ColorKind::Unorm,
        }
    }

    /// The components of a texel; 0, 0, 0 and 1 where it has none.
    #[inline]
    pub fn decode(&self, raw: Raw) -> Color {
        match self {
            Codec::Words(4, _) => raw,
            Codec::Words(3, one) => [raw[0], raw[1], raw[2], *one],
            Codec::Words(2, one) => [raw[0], raw[1], 0, *one],
            Codec::Words(_, one) => [raw[0], 0, 0, *one],
            Codec::Bytes(bits) => bits.map(|bit| ((raw[0] >> bit & 0xff) as f32 / 255.0).to_bits()),
            Codec::Fields(info) => info.decode(whole(raw)),
            Codec::Depth24 => [((raw[0] >> 8) as f32 / DEPTH_MAX as f32).to_bits(), 0, 0, ONE],
            Codec::Stencil8 => [raw[0] & 0xff, 0, 0, 1],
        }
    }

    /// The texel of a colour. Depth and stencil have none.
    #[inline]
    pub fn encode(&self, color: Color) -> Raw {
        match self {
            Codec::Words(..) => color,
            Codec::Bytes(bits) => {
                let byte = |(bit, value): (&u32, u32)| {
                    // NaN becomes 0 in the conversion to an integer.
                    let scaled = f64::from(f32::from_bits(value)).clamp(0.0, 1.0) * 255.0;
                    ((scaled + 0.5) as u32) << bit
                };
                [bits.iter().zip(color).map(byte).fold(0, |word, byte| word | byte), 0, 0, 0]
            }
            Codec::Fields(info) => parts(info.encode(color)),
            Codec::Depth24 | Codec::Stencil8 => [0; 4],
        }
    }
}

fn whole(raw: Raw) -> u128 {
    raw.iter().rev().fold(0, |whole, word| whole << 32 | u128::from(*word))
}

fn parts(whole: u128) -> Raw {
    [0, 32, 64, 96].map(|bit| (whole >> bit) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codec(name: &str) -> (TexelInfo, Codec) {
        let info = TexelInfo::of_name(name).unwrap();
        (info, Codec::of_color(info))
    }

    /// Values around what formats can hold.
    const VALUES: [f32; 9] = [0.0, 1.0, -1.0, 0.25, 0.501, 2.0, -3.5, 1e-3, f32::NAN];

    #[test]
    fn short_ways_give_what_the_table_says() {
        let names = ["R32_UINT", "R32G32_SINT", "R32G32B32A32_SFLOAT", "R8G8B8A8_UNORM", "B8G8R8A8_UNORM"];
        for name in names {
            let (info, codec) = codec(name);
            assert!(!matches!(codec, Codec::Fields(_)), "{name}");
            for (n, value) in VALUES.iter().enumerate() {
                let color = [*value, VALUES[(n + 1) % 9], VALUES[(n + 2) % 9], VALUES[(n + 3) % 9]];
                let color = color.map(f32::to_bits);
                let words = info.bytes.div_ceil(4) as usize;
                assert_eq!(codec.encode(color)[..words], parts(info.encode(color))[..words], "{name}");
                let raw = [0x8040_20ff, 0x0123_4567, 0x89ab_cdef, 0x3f80_0000];
                assert_eq!(codec.decode(raw), info.decode(whole(raw)), "{name}");
            }
        }
    }

    #[test]
    fn other_formats_are_fields() {
        for name in [
            "R8_UNORM",
            "R16G16_SFLOAT",
            "A2B10G10R10_UINT_PACK32",
            "R8G8B8A8_SRGB",
            "E5B9G9R9_UFLOAT_PACK32",
        ] {
            let (info, codec) = codec(name);
            assert_eq!(codec, Codec::Fields(info));
        }
    }

    #[test]
    fn absent_components_are_those_of_texels() {
        let white = [ONE; 4];
        assert_eq!(codec("R8_UNORM").1.restrict(white), [ONE, 0, 0, ONE]);
        assert_eq!(codec("R8G8_UINT").1.restrict([1; 4]), [1, 1, 0, 1]);
        assert_eq!(codec("R32G32_SFLOAT").1.restrict([0; 4]), [0, 0, 0, ONE]);
        assert_eq!(codec("R8G8B8A8_UNORM").1.restrict([0; 4]), [0; 4]);
    }

    #[test]
    fn depths_and_stencils_are_red() {
        assert_eq!(Codec::Depth24.decode([0xffff_ff12, 0, 0, 0]), [ONE, 0, 0, ONE]);
        assert_eq!(Codec::Stencil8.decode([0xffff_ff12, 0, 0, 0]), [0x12, 0, 0, 1]);
    }
}
