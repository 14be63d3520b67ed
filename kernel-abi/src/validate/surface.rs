//! How many bytes a surface needs (kernel-abi.md §10 RCL-12, textures.md §4): shared by render surfaces and
//! textures.

use vc4::cl::packets::Tiling;

/// Largest edge of a render surface or texture that the kernel computes sizes for, in pixels.
pub const MAX_EDGE: u32 = 4096;

/// Width and height of a utile in pixels (textures.md §4.1) for 1, 2, 4 or 8 bytes per pixel.
fn utile(cpp: u32) -> (u32, u32) {
    match cpp {
        1 => (8, 8),
        2 => (8, 4),
        4 => (4, 4),
        _ => (2, 4),
    }
}

/// Whether the texture unit takes a level of this size for LT (textures.md §4.3).
pub fn is_lt(width: u32, height: u32, cpp: u32) -> bool {
    let (utile_width, utile_height) = utile(cpp);
    width <= 4 * utile_width || height <= 4 * utile_height
}

/// Bytes of a surface of at most [`MAX_EDGE`] pixels a side, padding included (textures.md §4.2).
pub fn size(tiling: Tiling, width: u32, height: u32, cpp: u32) -> u32 {
    let (utile_width, utile_height) = utile(cpp);
    let (columns, rows) = match tiling {
        Tiling::Raster => (utile_width, 1),
        Tiling::T => (utile_width * 8, utile_height * 8),
        Tiling::Lt => (utile_width, utile_height),
    };
    width.next_multiple_of(columns) * cpp * height.next_multiple_of(rows)
}
