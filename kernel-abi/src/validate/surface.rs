//! How many bytes a surface needs (kernel-abi.md §10 RCL-12): shared by render surfaces and textures. The
//! kernel's sums are those of the layouts themselves (textures.md §4.2), but it also knows empty surfaces.

use vc4::image::tiling::{self, Level, Tiling};

/// The layout that the texture unit takes for a level of this size (textures.md §4.3).
pub fn sampled(width: u32, height: u32, cpp: u32) -> Tiling {
    // All texel sizes of TEX-5 have a utile.
    tiling::tiling_for(cpp, width, height).unwrap_or(Tiling::Raster)
}

/// Bytes of a surface, padding included; `None` when it is larger than the kernel computes sizes for.
pub fn size(tiling: Tiling, width: u32, height: u32, cpp: u32) -> Option<u32> {
    if width > tiling::MAX_SURFACE || height > tiling::MAX_SURFACE {
        None
    } else if width == 0 || height == 0 {
        Some(0)
    } else {
        Level::new(tiling, cpp, width, height).ok().map(|level| level.size)
    }
}
