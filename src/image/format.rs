//! THE table of texel formats that the chip serves natively: how they lie in memory, what the texture unit and
//! the tile buffer make of them, and which component stands where (textures.md §3, §4.6).
//!
//! The table knows bit layouts only; transfer functions (sRGB) and API names are the user's business.

use crate::cl::packets::{FrameFormat, LoadStoreFormat};
use crate::cl::words::TextureType;
use crate::hw::DEPTH_MAX;

/// Where a component of a colour comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Component {
    /// Byte 0–3 of the word, as v/255.
    Byte(u8),
    /// Constant 0.
    Zero,
    /// Constant 1.
    One,
}

use Component::{Byte, One, Zero};

/// How the word of a texture lookup becomes a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decode {
    /// Bytes of the word as fractions of 255, for R, G, B and A.
    Unorm8([Component; 4]),
    /// Depth in bits 31:8 of the word, as a fraction of 0xffffff. Only nearest texels make sense.
    Depth24,
    /// A word that the program unpacks, as it is in memory.
    Word,
}

/// A format that the tile buffer can load and store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TileFormat {
    /// 32-bit colour: the tile's word as it is.
    Rgba8888,
    /// 16-bit colour, byte 0 of the tile's word to bits 15:11.
    Bgr565,
    /// Depth and stencil.
    DepthStencil,
}

bitflags::bitflags! {
    /// What the chip can do with a format.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Uses: u8 {
        /// Lookups by the texture unit.
        const SAMPLED = 1;
        /// Filtered lookups.
        const FILTERED = 2;
        /// Colour target; blending happens in the program, so every target can be blended.
        const COLOR_TARGET = 4;
        /// Depth target.
        const DEPTH_TARGET = 8;
        /// Stencil target.
        const STENCIL_TARGET = 16;
    }
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FormatInfo {
    /// The format.
    pub format: Format,
    /// Name in listings: components from the highest bit of the little-endian unit down, or bytes in memory order
    /// for formats made of bytes.
    pub name: &'static str,
    /// Bytes per element.
    pub cpp: u32,
    /// Edge of an element in pixels.
    pub block: u32,
    /// Type for the texture unit.
    pub texture: TextureType,
    /// From lookup word to colour. For a colour target also the tile's word: component c stands in the byte that
    /// `Unorm8` names.
    pub decode: Decode,
    /// Format for the tile buffer.
    pub tile: Option<TileFormat>,
    /// What can be done with it.
    pub uses: Uses,
}

const TEXTURE: Uses = Uses::SAMPLED.union(Uses::FILTERED);
const TARGET: Uses = TEXTURE.union(Uses::COLOR_TARGET);
const DEPTH: Uses = Uses::SAMPLED.union(Uses::DEPTH_TARGET);

macro_rules! formats {
    ($($(#[$meta:meta])* $name:ident $text:literal $cpp:literal $block:literal $texture:ident $decode:expr, $tile:expr, $uses:expr;)*) => {
        /// A texel format.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Format { $($(#[$meta])* $name,)* }

        /// The table.
        pub const FORMATS: &[FormatInfo] = &[$(FormatInfo {
            format: Format::$name,
            name: $text,
            cpp: $cpp,
            block: $block,
            texture: TextureType::$texture,
            decode: $decode,
            tile: $tile,
            uses: $uses,
        },)*];
    };
}

const RGBA: Decode = Decode::Unorm8([Byte(0), Byte(1), Byte(2), Byte(3)]);
const BGRA: Decode = Decode::Unorm8([Byte(2), Byte(1), Byte(0), Byte(3)]);
const RGB1: Decode = Decode::Unorm8([Byte(0), Byte(1), Byte(2), One]);
const BGR1: Decode = Decode::Unorm8([Byte(2), Byte(1), Byte(0), One]);
const ARGB: Decode = Decode::Unorm8([Byte(1), Byte(2), Byte(3), Byte(0)]);

formats! {
    /// Bytes R, G, B, A.
    R8G8B8A8 "r8g8b8a8" 4 1 Rgba8888 RGBA, Some(TileFormat::Rgba8888), TARGET;
    /// Bytes B, G, R, A.
    B8G8R8A8 "b8g8r8a8" 4 1 Rgba8888 BGRA, Some(TileFormat::Rgba8888), TARGET;
    /// Bytes R, G, B and one that is ignored.
    R8G8B8X8 "r8g8b8x8" 4 1 Rgbx8888 RGB1, Some(TileFormat::Rgba8888), TARGET;
    /// Bytes B, G, R and one that is ignored.
    B8G8R8X8 "b8g8r8x8" 4 1 Rgbx8888 BGR1, Some(TileFormat::Rgba8888), TARGET;
    /// R in bits 15:11.
    R5G6B5 "r5g6b5" 2 1 Rgb565 RGB1, Some(TileFormat::Bgr565), TARGET;
    /// B in bits 15:11.
    B5G6R5 "b5g6r5" 2 1 Rgb565 BGR1, Some(TileFormat::Bgr565), TARGET;
    /// R in bits 15:12.
    R4G4B4A4 "r4g4b4a4" 2 1 Rgba4444 RGBA, None, TEXTURE;
    /// B in bits 15:12.
    B4G4R4A4 "b4g4r4a4" 2 1 Rgba4444 BGRA, None, TEXTURE;
    /// A in bits 15:12.
    A4R4G4B4 "a4r4g4b4" 2 1 Rgba4444 ARGB, None, TEXTURE;
    /// R in bits 15:11, A in bit 0.
    R5G5B5A1 "r5g5b5a1" 2 1 Rgba5551 RGBA, None, TEXTURE;
    /// B in bits 15:11, A in bit 0.
    B5G5R5A1 "b5g5r5a1" 2 1 Rgba5551 BGRA, None, TEXTURE;
    /// One byte as the program finds it in memory.
    Word8 "w8" 1 1 Luminance Decode::Word, None, Uses::SAMPLED;
    /// Two bytes as they are in memory: the lookup has the low one in bits 7:0 and the high one in bits 31:24.
    Word16 "w16" 2 1 LumAlpha Decode::Word, None, Uses::SAMPLED;
    /// A word that programs pack and unpack.
    Word32 "w32" 4 1 Rgba8888 Decode::Word, Some(TileFormat::Rgba8888), Uses::SAMPLED.union(Uses::COLOR_TARGET);
    /// Two words, for programs that find them in memory.
    Word64 "w64" 8 1 Rgba8888 Decode::Word, None, Uses::empty();
    /// Four words, for programs that find them in memory; they have rows only.
    Word128 "w128" 16 1 Rgba8888 Decode::Word, None, Uses::empty();
    /// Byte R and three that are ignored: one component as a colour target.
    R8X24 "r8x24" 4 1 Rgba8888 Decode::Unorm8([Byte(0), Zero, Zero, One]), Some(TileFormat::Rgba8888), TARGET;
    /// Bytes R, G and two that are ignored: two components as a colour target.
    R8G8X16 "r8g8x16" 4 1 Rgba8888 Decode::Unorm8([Byte(0), Byte(1), Zero, One]), Some(TileFormat::Rgba8888), TARGET;
    /// One byte.
    R8 "r8" 1 1 Luminance Decode::Unorm8([Byte(0), Zero, Zero, One]), None, TEXTURE;
    /// Bytes R, G.
    R8G8 "r8g8" 2 1 LumAlpha Decode::Unorm8([Byte(0), Byte(3), Zero, One]), None, TEXTURE;
    /// 4x4 blocks of 8 bytes.
    Etc1 "etc1" 8 4 Etc1 RGB1, None, TEXTURE;
    /// Depth in bits 31:8, stencil in bits 7:0.
    Z24S8 "z24s8" 4 1 Rgba8888 Decode::Depth24, Some(TileFormat::DepthStencil), DEPTH.union(Uses::STENCIL_TARGET);
    /// Depth in bits 31:8; the low byte is ignored.
    Z24X8 "z24x8" 4 1 Rgba8888 Decode::Depth24, Some(TileFormat::DepthStencil), DEPTH;
}

impl Format {
    /// The row of this format.
    pub fn info(self) -> &'static FormatInfo {
        &FORMATS[self as usize]
    }

    /// The tile's word for a colour given as R, G, B, A; components outside 0..1 are clamped, NaN becomes 0. `None`
    /// for formats without a colour in bytes.
    pub fn color_word(self, rgba: [f32; 4]) -> Option<u32> {
        let Decode::Unorm8(components) = self.info().decode else { return None };
        let mut word = [0u8; 4];
        for (component, value) in components.into_iter().zip(rgba) {
            if let Byte(byte) = component {
                word[usize::from(byte)] = (value.clamp(0.0, 1.0) * 255.0).round() as u8;
            }
        }
        Some(u32::from_le_bytes(word))
    }
}

impl FormatInfo {
    /// For a colour target: the component (0 = R … 3 = A) that each byte of the tile's word holds. A byte that
    /// the format ignores holds alpha.
    pub fn tile_order(&self) -> Option<[usize; 4]> {
        let Decode::Unorm8(components) = self.decode else { return None };
        matches!(self.tile, Some(TileFormat::Rgba8888 | TileFormat::Bgr565)).then(|| {
            let mut order = [3; 4];
            for (index, component) in components.into_iter().enumerate() {
                if let Byte(byte) = component {
                    order[usize::from(byte)] = index;
                }
            }
            order
        })
    }

    /// Whether the format keeps alpha; without, the destination's alpha counts as 1 in blending.
    pub fn has_alpha(&self) -> bool {
        matches!(self.decode, Decode::Unorm8([_, _, _, Byte(_)]))
    }
}

impl TileFormat {
    /// The code of packet 113; `None` for depth.
    pub fn frame(self) -> Option<FrameFormat> {
        match self {
            TileFormat::Rgba8888 => Some(FrameFormat::Rgba8888),
            TileFormat::Bgr565 => Some(FrameFormat::Bgr565),
            TileFormat::DepthStencil => None,
        }
    }

    /// The code of packets 28 and 29; depth ignores it.
    pub fn load_store(self) -> LoadStoreFormat {
        match self {
            TileFormat::Bgr565 => LoadStoreFormat::Bgr565,
            TileFormat::Rgba8888 | TileFormat::DepthStencil => LoadStoreFormat::Rgba8888,
        }
    }
}

/// A depth 0..1 as the tile buffer's 24-bit number, rounded to nearest (v3d.md §9.7). Clamps; NaN becomes 0.
pub fn depth_to_unorm24(depth: f32) -> u32 {
    (f64::from(depth).clamp(0.0, 1.0) * f64::from(DEPTH_MAX)).round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::tiling::utile;

    #[test]
    fn the_table_is_in_order_and_consistent() {
        for (index, row) in FORMATS.iter().enumerate() {
            assert_eq!(row.format as usize, index, "{}", row.name);
            assert!(utile(row.cpp).is_some() || row.cpp == 16, "{}", row.name);
            let target = row.uses.intersects(Uses::COLOR_TARGET | Uses::DEPTH_TARGET);
            assert_eq!(target, row.tile.is_some(), "{}", row.name);
            let colors = row.tile_order().is_some() || (row.decode == Decode::Word && row.tile.is_some());
            assert_eq!(row.uses.contains(Uses::COLOR_TARGET), colors, "{}", row.name);
            if let (Some(order), Decode::Unorm8(components)) = (row.tile_order(), row.decode) {
                for (component, place) in components.into_iter().enumerate() {
                    let Byte(byte) = place else { continue };
                    assert_eq!(order[usize::from(byte)], component, "{}", row.name);
                }
            }
        }
    }

    #[test]
    fn colours_stand_in_the_bytes_of_their_format() {
        let color = [1.0, 0.5, 0.0, 0.2];
        assert_eq!(Format::R8G8B8A8.color_word(color), Some(0x3300_80ff));
        assert_eq!(Format::B8G8R8A8.color_word(color), Some(0x33ff_8000));
        assert_eq!(Format::R8G8B8A8.color_word([f32::NAN, 2.0, -1.0, 1.0]), Some(0xff00_ff00));
        assert_eq!(Format::Z24S8.color_word(color), None);
        assert_eq!(Format::B8G8R8A8.info().tile_order(), Some([2, 1, 0, 3]));
        assert!(!Format::R5G6B5.info().has_alpha() && Format::R8G8B8A8.info().has_alpha());
    }

    #[test]
    fn depth_rounds_to_nearest() {
        assert_eq!(depth_to_unorm24(1.0), 0xff_ffff);
        assert_eq!(depth_to_unorm24(0.5), 0x80_0000);
        assert_eq!(depth_to_unorm24(f32::NAN), 0);
    }
}
