//! Early Z (v3d.md §9.5): a coarse copy of the tile's depth that lets the rasteriser drop quads before they are shaded.
//!
//! It must never be seen in a picture, so it is only used for programs of which that is certain; what a driver gets
//! wrong about it is a finding.

use vc4::cl::packets::CompareFunc;
use vc4::hw::DEPTH_MAX;

use super::tlb::{Samples, TILE_SAMPLES, Tile};
use crate::stats::Note;

/// Programs that compute depth.
pub const SHADER_DEPTH: Note = Note {
    id: "early-z-shader-depth",
    manual: "v3d.md §9.5",
    text: "early Z is off for programs that write a depth of their own",
};

/// Stencil operations on depth failure.
pub const STENCIL: Note = Note {
    id: "early-z-stencil",
    manual: "v3d.md §9.5",
    text: "early Z is off when a failing depth test changes the stencil",
};

/// Of a tile.
const QUADS: usize = TILE_SAMPLES / 4;

/// The largest depth of each quad of a tile.
pub struct Shadow {
    max: Box<[u32; QUADS]>,
}

impl Default for Shadow {
    fn default() -> Shadow {
        Shadow { max: Box::new([DEPTH_MAX; QUADS]) }
    }
}

/// Place of the quad whose first pixel has this index in a tile without multisampling.
#[inline]
fn quad_of(pixel: usize) -> usize {
    pixel / 4 % QUADS
}

impl Shadow {
    /// The tile was cleared to this depth and stencil word.
    pub fn clear(&mut self, zs: u32) {
        self.max.fill(zs >> 8);
    }

    /// The tile was filled from memory.
    pub fn load(&mut self, tile: &Tile) {
        if tile.multisample() {
            return;
        }
        for quad in 0..QUADS {
            self.update(tile.zs(), quad * 4);
        }
    }

    /// The quad with this first pixel was written.
    #[inline]
    pub fn update(&mut self, zs: &Samples, pixel: usize) {
        let quad = quad_of(pixel);
        let at = |i: usize| zs[quad * 4 + i] >> 8;
        self.max[quad] = at(0).max(at(1)).max(at(2)).max(at(3));
    }

    /// Whether no pixel of the quad can pass that lies at `z` or farther.
    #[inline]
    pub fn rejects(&self, func: CompareFunc, pixel: usize, z: u32) -> bool {
        let max = self.max[quad_of(pixel)];
        match func {
            CompareFunc::Less => z >= max,
            CompareFunc::LessOrEqual => z > max,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quad_is_dropped_behind_its_farthest_pixel() {
        let (mut shadow, mut tile) = (Shadow::default(), Tile::default());
        let pixel = tile.pixel(2, 4);
        for (at, z) in [(0, 5), (1, 9), (2, 3), (3, 4)] {
            tile.zs_mut()[pixel + at] = z << 8 | 0xff;
        }
        shadow.update(tile.zs(), pixel);
        let seen = |func, z| shadow.rejects(func, pixel, z);
        assert!(seen(CompareFunc::Less, 9) && !seen(CompareFunc::Less, 8));
        assert!(seen(CompareFunc::LessOrEqual, 10) && !seen(CompareFunc::LessOrEqual, 9));
        assert!(!seen(CompareFunc::Greater, 10));
        tile.clear(None, Some(7 << 8));
        shadow.load(&tile);
        assert!(shadow.rejects(CompareFunc::Less, tile.pixel(62, 62), 7));
    }
}
