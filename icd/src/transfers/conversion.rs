//! How texels in buffers and words in images differ (vulkan-on-vc4.md §6.1).

use ash::vk;
use vc4::hw::DEPTH_MAX;
use vc4::image::format::depth_to_unorm24;

use crate::foundation::format::{FormatRow, Storage};

/// The difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conversion {
    /// None.
    None,
    /// Texels of this many bytes at the bottom of words.
    Widened(usize),
    /// A1R5G5B5 as bytes R, G, B, A.
    Expanded1555,
    /// 16-bit depth.
    Depth16,
    /// 24-bit depth; the word's low byte is left alone if it is stencil.
    Depth24 {
        /// Whether it is.
        stencil: bool,
    },
    /// 32-bit float depth.
    DepthFloat,
    /// Stencil bytes.
    Stencil,
}

impl Conversion {
    /// What copies of an aspect go through.
    pub fn new(row: &FormatRow, storage: Storage, aspect: vk::ImageAspectFlags) -> Conversion {
        match storage {
            Storage::Plain | Storage::Planes(_) | Storage::Blocks(_) => Conversion::None,
            Storage::Widened => Conversion::Widened(row.bytes as usize),
            Storage::Expanded1555 => Conversion::Expanded1555,
            Storage::Depth16 => Conversion::Depth16,
            Storage::Depth24 => Conversion::Depth24 { stencil: false },
            Storage::Depth24Stencil8 if aspect == vk::ImageAspectFlags::STENCIL => Conversion::Stencil,
            Storage::Depth24Stencil8 => Conversion::Depth24 { stencil: true },
            Storage::DepthFloat => Conversion::DepthFloat,
        }
    }

    /// Bits of an image's word that a copy replaces.
    pub fn mask(self) -> u32 {
        match self {
            Conversion::Depth24 { stencil: true } => !0xff,
            Conversion::Stencil => 0xff,
            _ => u32::MAX,
        }
    }

    /// Texels as words.
    pub fn to_words(self, texels: &[u8]) -> Vec<u8> {
        match self {
            Conversion::None => texels.to_vec(),
            Conversion::Widened(1) => each::<1>(texels, |[byte]| u32::from(byte)),
            Conversion::Widened(_) => each::<2>(texels, |b| u32::from(u16::from_le_bytes(b))),
            Conversion::Expanded1555 => each::<2>(texels, |b| expand_1555(u16::from_le_bytes(b))),
            Conversion::Depth16 => each::<2>(texels, |b| depth16_to_24(u16::from_le_bytes(b).into()) << 8),
            Conversion::Depth24 { .. } => each::<4>(texels, |[a, b, c, _]| u32::from_le_bytes([0, a, b, c])),
            Conversion::DepthFloat => each::<4>(texels, |b| depth_to_unorm24(f32::from_le_bytes(b)) << 8),
            Conversion::Stencil => each::<1>(texels, |[byte]| u32::from(byte)),
        }
    }

    /// Words as texels.
    pub fn to_texels(self, words: Vec<u8>) -> Vec<u8> {
        match self {
            Conversion::None => words,
            Conversion::Widened(1) | Conversion::Stencil => every(&words, |word| [word as u8]),
            Conversion::Widened(_) => every(&words, |word| (word as u16).to_le_bytes()),
            Conversion::Expanded1555 => every(&words, |word| reduce_1555(word).to_le_bytes()),
            Conversion::Depth16 => every(&words, |word| (depth24_to_16(word >> 8) as u16).to_le_bytes()),
            Conversion::Depth24 { .. } => every(&words, |word| (word >> 8).to_le_bytes()),
            Conversion::DepthFloat => every(&words, |word| depth_to_float(word >> 8).to_le_bytes()),
        }
    }
}

fn each<const N: usize>(texels: &[u8], word: impl Fn([u8; N]) -> u32) -> Vec<u8> {
    let texels = texels.chunks_exact(N).filter_map(|texel| texel.first_chunk::<N>());
    texels.flat_map(|texel| word(*texel).to_le_bytes()).collect()
}

fn every<const N: usize>(words: &[u8], texel: impl Fn(u32) -> [u8; N]) -> Vec<u8> {
    let words = words.chunks_exact(4).filter_map(|word| word.first_chunk::<4>());
    words.flat_map(|word| texel(u32::from_le_bytes(*word))).collect()
}

/// Bits repeat below themselves, as the texture unit's expansion does.
fn expand_1555(texel: u16) -> u32 {
    let five = |bit: u32| {
        let value = u32::from(texel) >> bit & 31;
        value << 3 | value >> 2
    };
    let alpha = if texel >> 15 != 0 { 0xff00_0000 } else { 0 };
    alpha | five(0) << 16 | five(5) << 8 | five(10)
}

/// To nearest; what was expanded comes back.
fn reduce_1555(word: u32) -> u16 {
    let five = |byte: u32| ((word >> byte & 0xff) * 31 + 127) / 255;
    ((word >> 31) << 15 | five(0) << 10 | five(8) << 5 | five(16)) as u16
}

/// v / 65535 in steps of 1 / (2^24 - 1), to nearest.
fn depth16_to_24(depth: u32) -> u32 {
    ((u64::from(depth) * u64::from(DEPTH_MAX) + 0x7fff) / 0xffff) as u32
}

/// The inverse, to nearest.
fn depth24_to_16(depth: u32) -> u32 {
    ((u64::from(depth) * 0xffff + u64::from(DEPTH_MAX / 2)) / u64::from(DEPTH_MAX)) as u32
}

fn depth_to_float(depth: u32) -> f32 {
    (f64::from(depth) / f64::from(DEPTH_MAX)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_round_to_nearest_and_back() {
        assert_eq!((depth16_to_24(0xffff), depth16_to_24(0x8000)), (0xff_ffff, 0x80_0080));
        assert!((0..=0xffff).all(|depth| depth24_to_16(depth16_to_24(depth)) == depth));
        assert_eq!((depth_to_float(0xff_ffff), depth_to_float(0)), (1.0, 0.0));
        assert!((0..=0xff_ffff).step_by(997).all(|depth| depth_to_unorm24(depth_to_float(depth)) == depth));
    }

    /// What programs compute (`super::form`), as they do it.
    #[test]
    fn floats_and_a_correction_are_exact() {
        for depth in 0..=DEPTH_MAX {
            let below = depth as f32 * (1.0 / (1 << 24) as f32);
            let float = if depth == 0 { 0 } else { below.to_bits() + 1 };
            assert_eq!(float, depth_to_float(depth).to_bits(), "{depth:#x}");
            let low = (depth as f32 * (f64::from(0xffff) / f64::from(DEPTH_MAX)) as f32) as u32;
            let rest = depth.wrapping_mul(0xffff).wrapping_sub(low.wrapping_mul(DEPTH_MAX)) as i32;
            let nearest = low + u32::from(((DEPTH_MAX / 2) as i32) < rest);
            assert_eq!(nearest, depth24_to_16(depth), "{depth:#x}");
        }
        for depth in 0..=0xffff {
            let number = depth * 0xff + 0x7fff;
            assert_eq!(depth << 8 | (number + (number >> 16) + 1) >> 16, depth16_to_24(depth), "{depth:#x}");
        }
        let to_24 = |depth: f32| {
            let depth = if depth > 0.0 { depth.min(1.0) } else { 0.0 };
            let scaled = depth * (1 << 24) as f32;
            let part = scaled - scaled.trunc();
            scaled as u32 + u32::from(depth <= part - 0.5) - u32::from(part + 0.5 < depth)
        };
        let ends = [0.0, 0.5, 1.0, 1.5, -1.0, f32::NAN, f32::INFINITY, f32::MIN_POSITIVE];
        let all = (0..1.0f32.to_bits()).step_by(61).map(f32::from_bits).chain(ends);
        all.for_each(|depth| assert_eq!(to_24(depth), depth_to_unorm24(depth), "{depth:e}"));
    }

    #[test]
    fn texels_of_1555_survive() {
        assert_eq!(expand_1555(0xfc00), 0xff00_00ff);
        assert_eq!(expand_1555(0x001f), 0x00ff_0000);
        assert!((0..=0xffff).all(|texel| reduce_1555(expand_1555(texel)) == texel));
    }
}
