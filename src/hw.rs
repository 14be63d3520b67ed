//! The chip's numbers, each with its place in the manual.

use crate::facts::{GuardBand, SamplePositions};

/// SIMD elements of a QPU (qpu.md §1.1).
pub const LANES: usize = 16;
/// Tile edge in pixels without multisampling, 32-bit colour (v3d.md §8).
pub const TILE_PX: u32 = 64;
/// Tile edge in pixels with 4x multisampling (v3d.md §8).
pub const TILE_MS_PX: u32 = 32;
/// Tile edge in pixels of one of both modes.
#[inline]
pub const fn tile_px(multisample: bool) -> u32 {
    if multisample { TILE_MS_PX } else { TILE_PX }
}
/// Attribute arrays of a shader record (v3d.md §6.1).
pub const ATTRIBUTE_ARRAYS: usize = 8;
/// Words of attributes one vertex program can declare: the size is a byte (v3d.md §6.1).
pub const ATTRIBUTE_WORDS: usize = 63;
/// Scalar varyings (v3d.md §14).
pub const VARYINGS: usize = 32;
/// Largest texture edge in texels (textures.md §5).
pub const TEXTURE_MAX_PX: u32 = 2048;
/// Largest edge of a render target that is proven (v3d.md §14).
pub const TARGET_MAX_PX: u32 = 2048;
/// Draws per bin list before the PTB's state counters wrap (HW-2116, v3d.md §12).
pub const MAX_DRAWS_PER_BIN_LIST: u32 = 0x1ef0;
/// Largest vertex number of an array draw (GFXH-515, v3d.md §12).
pub const MAX_VERTEX_INDEX: u32 = 0xffff;
/// Grid steps per pixel: four sub-pixel bits (v3d.md §9.1).
pub const SUBPIXELS: i64 = 16;
/// UNVERIFIED: where are the four samples of a pixel in 4x multisampling?
///
/// In [`SUBPIXELS`] from the pixel's upper left corner, x then y; V3D 3.3's are assumed (v3d.md §9.2).
pub const fn sample_positions_4x(fact: SamplePositions) -> &'static [(i64, i64); 4] {
    match fact {
        SamplePositions::Rotated => &[(10, 2), (2, 6), (14, 10), (6, 14)],
        SamplePositions::Mirrored => &[(6, 2), (14, 6), (2, 10), (10, 14)],
        SamplePositions::Grid => &[(4, 4), (12, 4), (4, 12), (12, 12)],
    }
}
/// The same in pixels from the pixel's centre.
pub fn sample_offsets_4x(fact: SamplePositions) -> [[f32; 2]; 4] {
    sample_positions_4x(fact).map(|(x, y)| [x, y].map(|axis| axis as f32 / SUBPIXELS as f32 - 0.5))
}
/// UNVERIFIED: how far from the viewport centre may X and Y reach before the PTB clips them?
///
/// In pixels. Anything inside ±2048 keeps coordinates representable in s12.4 (v3d.md §9.4).
pub const fn guard_band_px(fact: GuardBand) -> u16 {
    match fact {
        GuardBand::Px2047 => 2047,
        GuardBand::Px1023 => 1023,
        GuardBand::Px511 => 511,
    }
}
/// Largest 24-bit depth value (v3d.md §9.7).
pub const DEPTH_MAX: u32 = 0x00ff_ffff;
