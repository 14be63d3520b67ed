//! Framebuffers: a BO with a size, a format and a layout.

use std::sync::Arc;

use crate::drm::object::Object;

/// A format by its four letters.
pub const fn fourcc(name: &[u8; 4]) -> u32 {
    u32::from_le_bytes(*name)
}

/// A format that planes can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Its four letters.
    pub code: u32,
    /// Bytes of a pixel.
    pub cpp: u32,
    /// Bits and first bit of red, green, blue and alpha; no bits of alpha is opaque.
    pub channels: [(u32, u32); 4],
    /// Whether it may be T-tiled (kernel-abi.md §13.5).
    pub tiled: bool,
}

const fn format(name: &[u8; 4], cpp: u32, channels: [(u32, u32); 4]) -> Format {
    Format { code: fourcc(name), cpp, channels, tiled: cpp != 3 }
}

/// What is supported, as the kernel lists it (kernel-abi.md §13.5), without YUV and ten-bit formats.
pub const FORMATS: [Format; 10] = [
    format(b"XR24", 4, [(8, 16), (8, 8), (8, 0), (0, 0)]),
    format(b"AR24", 4, [(8, 16), (8, 8), (8, 0), (8, 24)]),
    format(b"AB24", 4, [(8, 0), (8, 8), (8, 16), (8, 24)]),
    format(b"XB24", 4, [(8, 0), (8, 8), (8, 16), (0, 0)]),
    format(b"RG16", 2, [(5, 11), (6, 5), (5, 0), (0, 0)]),
    format(b"BG16", 2, [(5, 0), (6, 5), (5, 11), (0, 0)]),
    format(b"AR15", 2, [(5, 10), (5, 5), (5, 0), (1, 15)]),
    format(b"XR15", 2, [(5, 10), (5, 5), (5, 0), (0, 0)]),
    format(b"RG24", 3, [(8, 16), (8, 8), (8, 0), (0, 0)]),
    format(b"BG24", 3, [(8, 0), (8, 8), (8, 16), (0, 0)]),
];

/// A framebuffer.
pub struct Framebuffer {
    pub id: u32,
    /// The file that made it.
    pub owner: u64,
    pub width: u32,
    pub height: u32,
    pub format: Format,
    pub tiled: bool,
    pub pitch: u32,
    pub offset: u32,
    pub object: Arc<Object>,
}
