//! The words by which a submission describes its surfaces (kernel-abi.md §5.2): the low halves of packets 113,
//! 28 and 29.

use super::format::TileFormat;
use super::tiling::Tiling;
use crate::cl::Packet;
use crate::cl::packets::{
    Decimate, FrameFormat, LoadGeneral, StoreGeneral, TileBuffer, TileRenderingModeConfig,
};

/// First bit of the flags in packet 113.
const FRAME_FLAGS: u32 = 64;

/// `color_write.bits`: packet 113. A multisampled job sets its mode here even if it stores no colour; then
/// `format` is `None`.
pub fn color_write_bits(format: Option<TileFormat>, tiling: Tiling, multisample: bool) -> u16 {
    let frame = TileRenderingModeConfig {
        format: format.and_then(TileFormat::frame).unwrap_or(FrameFormat::Bgr565Dithered),
        tiling,
        multisample,
        decimate: if multisample { Decimate::X4 } else { Decimate::X1 },
        ..Default::default()
    };
    (frame.payload() >> FRAME_FLAGS) as u16
}

/// The buffer of the tile that a surface of this format belongs to.
fn buffer(format: TileFormat) -> TileBuffer {
    match format {
        TileFormat::DepthStencil => TileBuffer::DepthStencil,
        TileFormat::Rgba8888 | TileFormat::Bgr565 => TileBuffer::Color,
    }
}

/// `color_read.bits` or `zs_read.bits`: packet 29.
pub fn load_bits(format: TileFormat, tiling: Tiling) -> u16 {
    let load =
        LoadGeneral { buffer: buffer(format), tiling, format: format.load_store(), ..Default::default() };
    load.payload() as u16
}

/// `zs_write.bits`: packet 28.
pub fn zs_write_bits(tiling: Tiling) -> u16 {
    StoreGeneral { buffer: TileBuffer::DepthStencil, tiling, ..Default::default() }.payload() as u16
}

/// The tile's word of a texel. RGB565 is held in 32 bits: the high bits of each channel are repeated below them, so
/// that the store gives the texel again however it rounds.
pub fn tile_word(format: TileFormat, texel: u32) -> u32 {
    if format != TileFormat::Bgr565 {
        return texel;
    }
    let five = |v: u32| v << 3 | v >> 2;
    let (high, middle, low) = (texel >> 11 & 31, texel >> 5 & 63, texel & 31);
    u32::from_le_bytes([five(high), middle << 2 | middle >> 4, five(low), 255].map(|byte| byte as u8))
}

/// The texel of a tile's word that [`tile_word`] gives, or that a program wrote for this format.
pub fn texel_of_tile_word(format: TileFormat, word: u32) -> u32 {
    if format != TileFormat::Bgr565 {
        return word;
    }
    let [high, middle, low, _] = word.to_le_bytes().map(u32::from);
    (high >> 3) << 11 | (middle >> 2) << 5 | low >> 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texels_survive_the_tile() {
        for texel in 0..=0xffff {
            assert_eq!(texel_of_tile_word(TileFormat::Bgr565, tile_word(TileFormat::Bgr565, texel)), texel);
        }
        assert_eq!(tile_word(TileFormat::Rgba8888, 0x0102_0304), 0x0102_0304);
        assert_eq!(tile_word(TileFormat::Bgr565, 0xf800), 0xff00_00ff);
    }

    #[test]
    fn words_match_the_manual() {
        // v3d.md §11.3.
        let rgba = TileFormat::Rgba8888;
        assert_eq!(color_write_bits(Some(rgba), Tiling::T, false), 0x0044);
        assert_eq!(color_write_bits(Some(rgba), Tiling::Lt, false), 0x0084);
        assert_eq!(color_write_bits(Some(rgba), Tiling::Raster, false), 0x0004);
        assert_eq!(color_write_bits(Some(rgba), Tiling::T, true), 0x0055);
        assert_eq!(color_write_bits(None, Tiling::Raster, true), 0x0011);
        let words = [Tiling::T, Tiling::Lt, Tiling::Raster].map(|tiling| load_bits(rgba, tiling));
        assert_eq!(words, [0x0011, 0x0021, 0x0001]);
        assert_eq!([zs_write_bits(Tiling::T), zs_write_bits(Tiling::Lt)], [0x0012, 0x0022]);
        assert_eq!(load_bits(TileFormat::DepthStencil, Tiling::T), 0x0012);
        // kernel-abi.md §5.2: the two formats number differently.
        assert_eq!(color_write_bits(Some(TileFormat::Bgr565), Tiling::Raster, false), 2 << 2);
        assert_eq!(load_bits(TileFormat::Bgr565, Tiling::Raster), 2 << 8 | 1);
    }
}
