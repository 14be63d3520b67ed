//! How surfaces lie in memory, as jobs see them.

use vc4::hw::TILE_MS_PX;
use vc4::image::layout::MsaaLayout;
use vc4::image::tiling::{Level, MAX_SURFACE, Tiling};

use crate::foundation::facts::target_px;

/// Where surfaces of tiles may begin: the machine is taken to ignore the bits below (v3d.md §10).
pub const SURFACE_ALIGNMENT: u32 = 16;

/// How an attachment lies in its BO.
#[derive(Clone, Copy, Debug)]
pub enum Placement {
    /// One sample per pixel.
    Level(Level),
    /// Four samples per pixel.
    Blocks {
        /// The blocks.
        layout: MsaaLayout,
        /// Their first byte.
        offset: u32,
        /// Pixels per row.
        width: u32,
        /// Rows.
        height: u32,
    },
}

impl Placement {
    /// Pixels per row.
    pub fn width(&self) -> u32 {
        match self {
            Placement::Level(level) => level.width,
            Placement::Blocks { width, .. } => *width,
        }
    }

    /// Pixels per row of a panel.
    fn panel_width(&self) -> u32 {
        self.width().min(MAX_SURFACE)
    }

    /// The same at the start of a BO.
    pub fn at_start(self) -> Placement {
        match self {
            Placement::Level(level) => Placement::Level(Level { offset: 0, ..level }),
            Placement::Blocks { layout, width, height, .. } => {
                Placement::Blocks { layout, offset: 0, width, height }
            }
        }
    }

    /// Byte offset in the BO of the surface that begins at a pixel, the first of a tile, and has rows like this one; `None`
    /// where such surfaces do not lie in rows.
    pub fn offset_from(&self, [x, y]: [u32; 2]) -> Option<u32> {
        match self {
            Placement::Level(level) if [x, y] == [0, 0] => Some(level.offset),
            Placement::Level(level) => (level.tiling == Tiling::Raster).then(|| level.offset_of(x, y)),
            Placement::Blocks { layout, offset, .. } => Some(offset + layout.offset_of(x, y, 0)),
        }
    }

    /// Bytes that jobs may reach: those in memory, and the rest of a row that begins at a part ([`vc4::image::layout`]).
    pub fn surface_size(&self) -> u32 {
        match self {
            Placement::Level(level) if level.width > target_px() => level.size + level.stride,
            Placement::Level(level) => level.size,
            Placement::Blocks { layout, .. } => layout.size,
        }
    }

    /// Rows.
    pub fn height(&self) -> u32 {
        match self {
            Placement::Level(level) => level.height,
            Placement::Blocks { height, .. } => *height,
        }
    }

    /// Pixels per row of a panel in memory.
    pub fn padded_width(&self) -> u32 {
        match self {
            Placement::Level(level) => level.padded_width.min(MAX_SURFACE),
            Placement::Blocks { layout, .. } => layout.tiles_x * TILE_MS_PX,
        }
    }

    /// Whether surfaces like this one have the same row pitch in a job of that width (v3d.md §10.6).
    pub fn has_pitch_of(&self, width: u32) -> bool {
        match self {
            Placement::Level(level) => Level::new(level.tiling, level.cpp, width, level.height)
                .is_ok_and(|other| other.padded_width == self.padded_width()),
            Placement::Blocks { layout, .. } => width.div_ceil(TILE_MS_PX) == layout.tiles_x,
        }
    }
}

/// The width of a job on all of these surfaces, which get their row pitch from it (v3d.md §10.6); `None` if no width
/// serves them all.
pub fn common_width(places: &[Placement]) -> Option<u32> {
    let widths = places.iter().map(Placement::panel_width);
    let padded = places.iter().map(Placement::padded_width);
    widths.chain(padded).find(|width| places.iter().all(|place| place.has_pitch_of(*width)))
}
