//! One level of an image: raster, LT and T address maps and rectangle copies (textures.md §4.1–§4.3).
//!
//! Coordinates count *elements*: pixels, or the 4x4 blocks of ETC1. Row 0 comes first in memory.

pub use crate::cl::packets::Tiling;

use super::error::LayoutError;

/// Bytes of a utile.
pub const UTILE_BYTES: u32 = 64;
/// Utiles along the edge of a T tile.
const TILE_UTILES: u32 = 8;
/// Bytes of a T tile.
const TILE_BYTES: u32 = 4096;
/// Bytes of a subtile, a quarter of a T tile.
const SUBTILE_BYTES: u32 = 1024;
/// Number of the subtile at [row of tiles is odd][lower half][right half] (textures.md §4.2).
const SUBTILES: [[[u32; 2]; 2]; 2] = [[[0, 3], [1, 2]], [[2, 1], [3, 0]]];
/// Largest edge of a surface of a job in elements (kernel-abi.md §5.7), and the columns of a panel: levels in raster order that
/// are wider lie in panels of so many columns, one behind the other, each with rows of its own (T-BIG).
pub const MAX_SURFACE: u32 = 4096;
/// Largest edge of a level in elements.
pub const MAX_EDGE: u32 = 8192;

/// Bytes of the largest elements, which have rows but no utiles.
const RASTER_ONLY_CPP: u32 = 16;

/// Width and height of a utile in elements of `cpp` bytes; `None` unless `cpp` is 1, 2, 4 or 8.
pub const fn utile(cpp: u32) -> Option<(u32, u32)> {
    match cpp {
        1 => Some((8, 8)),
        2 => Some((8, 4)),
        4 => Some((4, 4)),
        8 => Some((2, 4)),
        _ => None,
    }
}

/// The layout that the texture unit assumes for a level of this size (textures.md §4.3).
pub const fn tiling_for(cpp: u32, width: u32, height: u32) -> Option<Tiling> {
    match utile(cpp) {
        Some((uw, uh)) if width <= 4 * uw || height <= 4 * uh => Some(Tiling::Lt),
        Some(_) => Some(Tiling::T),
        None => None,
    }
}

/// Where one level of an image lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Level {
    /// Layout.
    pub tiling: Tiling,
    /// Bytes per element: 1, 2, 4 or 8; in raster order also 16.
    pub cpp: u32,
    /// Columns that the layout is made for; the level's own size may be smaller (textures.md §4.4).
    pub width: u32,
    /// Rows that the layout is made for.
    pub height: u32,
    /// Columns with padding.
    pub padded_width: u32,
    /// Rows with padding.
    pub padded_height: u32,
    /// Bytes from one row of elements to the next in raster layout; padded width, at most a panel's, times `cpp` in all.
    pub stride: u32,
    /// Bytes from one panel of columns to the next; 0 if all columns stand in one row.
    pub panel_stride: u32,
    /// Byte offset of the level in its image.
    pub offset: u32,
    /// Bytes of the level.
    pub size: u32,
}

/// A rectangle in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rect {
    /// First column.
    pub x: u32,
    /// First row.
    pub y: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

/// Why a rectangle cannot be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CopyError {
    /// The rectangle leaves the level's padded area.
    #[error("{rect:?} leaves a level of {width} x {height} elements")]
    Rect {
        /// The rectangle.
        rect: Rect,
        /// Padded columns.
        width: u32,
        /// Padded rows.
        height: u32,
    },
    /// Rows of linear memory overlap.
    #[error("a stride of {stride} bytes is shorter than a row of {row} bytes")]
    Stride {
        /// The stride.
        stride: usize,
        /// Bytes of a row.
        row: usize,
    },
    /// Linear memory or the image's memory ends too early.
    #[error("the {what} memory has {have} bytes, {need} are needed")]
    Memory {
        /// "linear" or "image".
        what: &'static str,
        /// Bytes needed.
        need: usize,
        /// Bytes there.
        have: usize,
    },
}

/// A piece of a row that is contiguous in the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    /// Byte offset in the image.
    offset: u32,
    /// First column, counted from the rectangle's.
    x: u32,
    /// Row, counted from the rectangle's.
    y: u32,
    /// Elements.
    count: u32,
}

impl Level {
    /// A level at offset 0 with the padding of textures.md §4.2.
    pub fn new(tiling: Tiling, cpp: u32, width: u32, height: u32) -> Result<Level, LayoutError> {
        let rows_only = (tiling == Tiling::Raster && cpp == RASTER_ONLY_CPP).then_some((1, 1));
        let (uw, uh) = utile(cpp).or(rows_only).ok_or(LayoutError::Cpp(cpp))?;
        let most = if tiling == Tiling::Raster { MAX_EDGE } else { MAX_SURFACE };
        if width == 0 || height == 0 || width > most || height > most {
            return Err(LayoutError::Size { width, height });
        }
        let (pad_x, pad_y) = match tiling {
            Tiling::T => (TILE_UTILES * uw, TILE_UTILES * uh),
            Tiling::Lt => (uw, uh),
            Tiling::Raster => (uw, 1),
        };
        let (padded_width, padded_height) = (width.next_multiple_of(pad_x), height.next_multiple_of(pad_y));
        let stride = padded_width.min(MAX_SURFACE) * cpp;
        let panel = stride * padded_height;
        let panels = padded_width.div_ceil(MAX_SURFACE);
        Ok(Level {
            tiling,
            cpp,
            width,
            height,
            padded_width,
            padded_height,
            stride,
            panel_stride: if panels > 1 { panel } else { 0 },
            offset: 0,
            size: panels * panel,
        })
    }

    /// A level at offset 0 in the layout that the texture unit assumes (textures.md §4.3).
    pub fn sampled(cpp: u32, width: u32, height: u32) -> Result<Level, LayoutError> {
        let tiling = tiling_for(cpp, width, height).ok_or(LayoutError::Cpp(cpp))?;
        Level::new(tiling, cpp, width, height)
    }

    fn utile(&self) -> (u32, u32) {
        // The constructors admit only the sizes that have a utile.
        utile(self.cpp).unwrap_or((4, 4))
    }

    /// Byte offset in the image of the utile in column `ux`, row `uy` of utiles (tiled layouts).
    fn utile_offset(&self, ux: u32, uy: u32) -> u32 {
        let per_row = self.padded_width / self.utile().0;
        let offset = match self.tiling {
            Tiling::T => {
                let (tx, ty) = (ux / TILE_UTILES, uy / TILE_UTILES);
                let (tiles, odd) = (per_row / TILE_UTILES, ty & 1);
                let column = if odd == 0 { tx } else { tiles - 1 - tx };
                let subtile = SUBTILES[odd as usize][((uy / 4) & 1) as usize][((ux / 4) & 1) as usize];
                (ty * tiles + column) * TILE_BYTES
                    + subtile * SUBTILE_BYTES
                    + ((uy & 3) * 4 + (ux & 3)) * UTILE_BYTES
            }
            Tiling::Lt | Tiling::Raster => (uy * per_row + ux) * UTILE_BYTES,
        };
        self.offset + offset
    }

    /// Byte offset in the image of the element at column `x`, row `y` of the padded area.
    ///
    /// # Panics
    /// If the element lies outside the padded area.
    pub fn offset_of(&self, x: u32, y: u32) -> u32 {
        assert!(x < self.padded_width && y < self.padded_height, "({x}, {y}) is outside the level");
        if self.tiling == Tiling::Raster {
            let (panel, column) = (x / MAX_SURFACE, x % MAX_SURFACE);
            return self.offset + panel * self.panel_stride + y * self.stride + column * self.cpp;
        }
        let (uw, uh) = self.utile();
        self.utile_offset(x / uw, y / uh) + ((y % uh) * uw + x % uw) * self.cpp
    }

    /// The element that byte `offset` of the image belongs to; `None` outside the level.
    pub fn element_at(&self, offset: u32) -> Option<(u32, u32)> {
        let at = offset.checked_sub(self.offset).filter(|&at| at < self.size)?;
        if self.tiling == Tiling::Raster {
            let panel = at.checked_div(self.panel_stride).unwrap_or(0);
            let at = at - panel * self.panel_stride;
            let x = panel * MAX_SURFACE + at % self.stride / self.cpp;
            return Some((x, at / self.stride))
                .filter(|(x, y)| *x < self.padded_width && *y < self.padded_height);
        }
        let (uw, uh) = self.utile();
        let per_row = self.padded_width / uw;
        let (ux, uy) = if self.tiling == Tiling::T {
            let tiles = per_row / TILE_UTILES;
            let (column, ty) = (at / TILE_BYTES % tiles, at / TILE_BYTES / tiles);
            let odd = ty & 1;
            let tx = if odd == 0 { column } else { tiles - 1 - column };
            let subtile = at % TILE_BYTES / SUBTILE_BYTES;
            let half = (0..4).find(|&half| SUBTILES[odd as usize][half >> 1][half & 1] == subtile)? as u32;
            let inner = at % SUBTILE_BYTES / UTILE_BYTES;
            (tx * TILE_UTILES + (half & 1) * 4 + inner % 4, ty * TILE_UTILES + (half >> 1) * 4 + inner / 4)
        } else {
            (at / UTILE_BYTES % per_row, at / UTILE_BYTES / per_row)
        };
        let inner = at % UTILE_BYTES / self.cpp;
        Some((ux * uw + inner % uw, uy * uh + inner / uw))
    }

    /// The whole area that the layout is made for.
    pub fn rect(&self) -> Rect {
        Rect { x: 0, y: 0, width: self.width, height: self.height }
    }

    /// Calls `visit` for every contiguous run of a rectangle, in an order that suits the image's memory.
    fn for_each_run(&self, rect: Rect, mut visit: impl FnMut(Run)) {
        let (right, bottom) = (rect.x + rect.width, rect.y + rect.height);
        if self.tiling == Tiling::Raster {
            for y in rect.y..bottom {
                let mut x = rect.x;
                while x < right {
                    let end = (x / MAX_SURFACE * MAX_SURFACE + MAX_SURFACE).min(right);
                    visit(Run { offset: self.offset_of(x, y), x: x - rect.x, y: y - rect.y, count: end - x });
                    x = end;
                }
            }
            return;
        }
        let (uw, uh) = self.utile();
        let (map, row_bytes) = (self.address_map(), uw * self.cpp);
        for uy in rect.y / uh..bottom.div_ceil(uh) {
            let (y0, y1) = (rect.y.max(uy * uh), bottom.min((uy + 1) * uh));
            let row = map.row(self.tiling, y0);
            for ux in rect.x / uw..right.div_ceil(uw) {
                let (x0, x1) = (rect.x.max(ux * uw), right.min((ux + 1) * uw));
                let base = row.meets(map.column(self.tiling, x0));
                for y in y0..y1 {
                    let offset = base + (y - y0) * row_bytes;
                    visit(Run { offset, x: x0 - rect.x, y: y - rect.y, count: x1 - x0 });
                }
            }
        }
    }

    /// Checks a rectangle against the level and linear memory of `have` bytes; false if there is nothing to copy.
    fn check_copy(&self, rect: Rect, have: usize, stride: usize) -> Result<bool, CopyError> {
        let inside = |at: u32, count: u32, limit: u32| at.checked_add(count).is_some_and(|end| end <= limit);
        if !inside(rect.x, rect.width, self.padded_width) || !inside(rect.y, rect.height, self.padded_height)
        {
            return Err(CopyError::Rect { rect, width: self.padded_width, height: self.padded_height });
        }
        if rect.width == 0 || rect.height == 0 {
            return Ok(false);
        }
        let row = (rect.width * self.cpp) as usize;
        if rect.height > 1 && stride < row {
            return Err(CopyError::Stride { stride, row });
        }
        let need = stride.saturating_mul(rect.height as usize - 1).saturating_add(row);
        if have < need {
            return Err(CopyError::Memory { what: "linear", need, have });
        }
        Ok(true)
    }

    /// Stores a rectangle: `store(offset, bytes)` gets every run with its byte offset in the image. `linear` holds
    /// the rectangle's rows, `stride` bytes apart.
    pub fn write_rect(
        &self,
        rect: Rect,
        linear: &[u8],
        stride: usize,
        mut store: impl FnMut(usize, &[u8]),
    ) -> Result<(), CopyError> {
        if self.check_copy(rect, linear.len(), stride)? {
            self.for_each_run(rect, |run| {
                let at = run.y as usize * stride + (run.x * self.cpp) as usize;
                store(run.offset as usize, &linear[at..at + (run.count * self.cpp) as usize]);
            });
        }
        Ok(())
    }

    /// Loads a rectangle: `load(offset, bytes)` fills every run from its byte offset in the image.
    pub fn read_rect(
        &self,
        rect: Rect,
        linear: &mut [u8],
        stride: usize,
        mut load: impl FnMut(usize, &mut [u8]),
    ) -> Result<(), CopyError> {
        if self.check_copy(rect, linear.len(), stride)? {
            self.for_each_run(rect, |run| {
                let at = run.y as usize * stride + (run.x * self.cpp) as usize;
                load(run.offset as usize, &mut linear[at..at + (run.count * self.cpp) as usize]);
            });
        }
        Ok(())
    }

    /// Checks that `image` holds the whole level.
    fn check_image(&self, have: usize) -> Result<(), CopyError> {
        let need = self.offset as usize + self.size as usize;
        if have < need { Err(CopyError::Memory { what: "image", need, have }) } else { Ok(()) }
    }

    /// Stores a rectangle into `image`, the memory of the whole image.
    pub fn copy_from_linear(
        &self,
        image: &mut [u8],
        rect: Rect,
        linear: &[u8],
        stride: usize,
    ) -> Result<(), CopyError> {
        self.check_image(image.len())?;
        self.write_rect(rect, linear, stride, |at, run| copy_run(&mut image[at..at + run.len()], run))
    }

    /// Loads a rectangle from `image`, the memory of the whole image.
    pub fn copy_to_linear(
        &self,
        image: &[u8],
        rect: Rect,
        linear: &mut [u8],
        stride: usize,
    ) -> Result<(), CopyError> {
        self.check_image(image.len())?;
        self.read_rect(rect, linear, stride, |at, run| copy_run(run, &image[at..at + run.len()]))
    }
}

/// The address map of a level for inner loops: [`Level::offset_of`] without its check and without divisions, in
/// parts that depend on a column or a row alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressMap {
    tiling: Tiling,
    /// Binary logarithms of an element's bytes and of a utile's columns and rows.
    shifts: [u32; 3],
    /// Bytes from one row of tiles (T), of utiles (LT) or of elements (raster) to the next.
    pitch: u32,
    /// Raster: bytes from panel to panel.
    panel: u32,
    offset: u32,
}

/// What a row contributes to an address.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    start: u32,
    /// Bits of the column's part that differ in this row: those inside of a tile or utile, and all above them where tiles run
    /// from right to left.
    flipped: u32,
}

impl Row {
    /// Where a column's part meets the row.
    #[inline(always)]
    fn meets(self, column: u32) -> u32 {
        self.start.wrapping_add(column ^ self.flipped)
    }
}

impl AddressMap {
    /// Bytes from row to row, of raster order in one panel.
    pub fn raster_stride(&self) -> Option<u32> {
        (self.tiling == Tiling::Raster && self.panel == 0).then_some(self.pitch)
    }
}

impl Level {
    /// The level's address map for inner loops.
    pub fn address_map(&self) -> AddressMap {
        let (uw, uh) = self.utile();
        let pitch = match self.tiling {
            Tiling::T => self.padded_width / uw / TILE_UTILES * TILE_BYTES,
            Tiling::Lt => self.padded_width / uw * UTILE_BYTES,
            Tiling::Raster => self.stride,
        };
        let shifts = [self.cpp.ilog2(), uw.ilog2(), uh.ilog2()];
        AddressMap { tiling: self.tiling, shifts, pitch, panel: self.panel_stride, offset: self.offset }
    }
}

impl AddressMap {
    /// What column `x` contributes to an address.
    #[inline(always)]
    fn column(&self, tiling: Tiling, x: u32) -> u32 {
        let [cpp, sx, _] = self.shifts;
        let ux = x >> sx;
        let inner = (x & ((1 << sx) - 1)) << cpp;
        match tiling {
            Tiling::Raster => {
                let panel = (x / MAX_SURFACE).wrapping_mul(self.panel);
                panel.wrapping_add((x % MAX_SURFACE) << cpp)
            }
            Tiling::Lt => ux.wrapping_mul(UTILE_BYTES) + inner,
            Tiling::T => {
                // SUBTILES as an exclusive or: 3 for the right half.
                let subtile = (ux >> 2 & 1) * (3 * SUBTILE_BYTES);
                (ux / TILE_UTILES).wrapping_mul(TILE_BYTES) + subtile + (ux & 3) * UTILE_BYTES + inner
            }
        }
    }

    #[inline(always)]
    fn row(&self, tiling: Tiling, y: u32) -> Row {
        let [cpp, sx, sy] = self.shifts;
        let uy = y >> sy;
        let inner = (y & ((1 << sy) - 1)) << (sx + cpp);
        let from = |row: u32| row.wrapping_mul(self.pitch).wrapping_add(self.offset);
        match tiling {
            Tiling::Raster => Row { start: from(y), flipped: 0 },
            Tiling::Lt => Row { start: from(uy), flipped: inner },
            Tiling::T => {
                let ty = uy / TILE_UTILES;
                let odd = ty & 1;
                // SUBTILES as an exclusive or: 1 for the lower half, 2 for odd rows of tiles.
                let subtile = ((uy >> 2 & 1) ^ (odd << 1)) * SUBTILE_BYTES;
                let bits = subtile + (uy & 3) * (4 * UTILE_BYTES) + inner;
                // Reversed tiles count -1 - tx, from the end of the row.
                Row { start: from(ty + odd), flipped: bits | odd.wrapping_neg().wrapping_mul(TILE_BYTES) }
            }
        }
    }

    /// Byte offset in the image of the element at column `x`, row `y`; meaningless outside the padded area.
    #[inline(always)]
    pub fn offset_of(&self, x: u32, y: u32) -> u32 {
        self.row(self.tiling, y).meets(self.column(self.tiling, x))
    }

    /// Where two columns meet two rows of images that begin at `starts`, N times: upper left, upper right, lower left, lower
    /// right, each as [`AddressMap::offset_of`]. Written so that vectors of any width do it.
    #[inline(always)]
    pub fn corners<const N: usize>(
        &self,
        starts: &[u32; N],
        x: [&[u32; N]; 2],
        y: [&[u32; N]; 2],
    ) -> [[u32; N]; 4] {
        // What decides about places is the same for all.
        match self.tiling {
            Tiling::Raster => self.corners_in(Tiling::Raster, starts, x, y),
            Tiling::Lt => self.corners_in(Tiling::Lt, starts, x, y),
            Tiling::T => self.corners_in(Tiling::T, starts, x, y),
        }
    }

    #[inline(always)]
    fn corners_in<const N: usize>(
        &self,
        tiling: Tiling,
        starts: &[u32; N],
        x: [&[u32; N]; 2],
        y: [&[u32; N]; 2],
    ) -> [[u32; N]; 4] {
        let mut at = [[0; N]; 4];
        for i in 0..N {
            let (left, right) = (self.column(tiling, x[0][i]), self.column(tiling, x[1][i]));
            let (mut upper, mut lower) = (self.row(tiling, y[0][i]), self.row(tiling, y[1][i]));
            upper.start = upper.start.wrapping_add(starts[i]);
            lower.start = lower.start.wrapping_add(starts[i]);
            at[0][i] = upper.meets(left);
            at[1][i] = upper.meets(right);
            at[2][i] = lower.meets(left);
            at[3][i] = lower.meets(right);
        }
        at
    }

    /// As [`AddressMap::offset_of`], N times, as [`AddressMap::corners`].
    #[inline(always)]
    pub fn places<const N: usize>(&self, starts: &[u32; N], x: &[u32; N], y: &[u32; N]) -> [u32; N] {
        match self.tiling {
            Tiling::Raster => self.places_in(Tiling::Raster, starts, x, y),
            Tiling::Lt => self.places_in(Tiling::Lt, starts, x, y),
            Tiling::T => self.places_in(Tiling::T, starts, x, y),
        }
    }

    #[inline(always)]
    fn places_in<const N: usize>(
        &self,
        tiling: Tiling,
        starts: &[u32; N],
        x: &[u32; N],
        y: &[u32; N],
    ) -> [u32; N] {
        let mut at = [0; N];
        for i in 0..N {
            at[i] = self.row(tiling, y[i]).meets(self.column(tiling, x[i])).wrapping_add(starts[i]);
        }
        at
    }
}

/// Copies a run; a whole utile row becomes one or two moves instead of a call.
fn copy_run(to: &mut [u8], from: &[u8]) {
    match (to.first_chunk_mut::<16>(), from.first_chunk::<16>()) {
        (Some(to), Some(from16)) if from.len() == 16 => *to = *from16,
        _ => to.copy_from_slice(from),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every row of the vectors that an independent implementation made.
    #[test]
    fn offsets_match_the_vectors() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/textures-vectors.tsv");
        let table = std::fs::read_to_string(path).unwrap();
        let mut rows = 0;
        for line in table.lines().skip(1) {
            let (name, numbers) = line.split_once('\t').unwrap();
            let n: Vec<u32> = numbers.split('\t').map(|text| text.parse().unwrap()).collect();
            let [cpp, width, height, padded_width, padded_height, stride, x, y, offset] = n[..] else {
                panic!("{line}")
            };
            let level = Level::sampled(cpp, width, height).unwrap();
            let tiling = if name == "T" { Tiling::T } else { Tiling::Lt };
            assert_eq!(level.tiling, tiling, "{line}");
            assert_eq!((level.padded_width, level.padded_height), (padded_width, padded_height), "{line}");
            assert_eq!((level.stride, level.offset_of(x, y)), (stride, offset), "{line}");
            assert_eq!(level.element_at(offset), Some((x, y)), "{line}");
            rows += 1;
        }
        assert_eq!(rows, 1421);
    }

    #[test]
    fn manual_examples() {
        // textures.md §4.5.
        assert_eq!(Level::sampled(4, 100, 60).unwrap().offset_of(70, 45), 23384);
        assert_eq!(Level::sampled(4, 16, 16).unwrap().offset_of(5, 6), 356);
        assert_eq!(Level::sampled(2, 128, 64).unwrap().offset_of(37, 33), 13338);
        let raster = Level::new(Tiling::Raster, 4, 1366, 768).unwrap();
        assert_eq!((raster.stride, raster.offset_of(3, 2)), (1368 * 4, 2 * 1368 * 4 + 12));
    }

    #[test]
    fn copies_refuse_what_does_not_fit() {
        let level = Level::sampled(4, 20, 20).unwrap();
        let rect = |x, width| Rect { x, y: 0, width, height: 2 };
        let store = |_: usize, _: &[u8]| panic!("nothing must be stored");
        assert!(matches!(level.write_rect(rect(30, 3), &[0; 99], 12, store), Err(CopyError::Rect { .. })));
        assert!(matches!(
            level.write_rect(rect(u32::MAX, 3), &[0; 99], 12, store),
            Err(CopyError::Rect { .. })
        ));
        assert_eq!(
            level.write_rect(rect(0, 3), &[0; 99], 11, store),
            Err(CopyError::Stride { stride: 11, row: 12 })
        );
        assert_eq!(
            level.write_rect(rect(0, 3), &[0; 23], 12, store),
            Err(CopyError::Memory { what: "linear", need: 24, have: 23 })
        );
        let image = &mut vec![0; level.size as usize - 1];
        assert!(level.copy_from_linear(image, rect(0, 3), &[0; 24], 12).is_err());
        assert_eq!(Level::new(Tiling::T, 3, 8, 8), Err(LayoutError::Cpp(3)));
        assert_eq!(Level::new(Tiling::T, 4, 0, 8), Err(LayoutError::Size { width: 0, height: 8 }));
    }

    proptest! {
        #[test]
        fn the_fast_map_is_the_map(
            cpp in prop::sample::select(vec![1u32, 2, 4, 8]),
            tiling in prop::sample::select(Tiling::ALL),
            (width, height) in (1..400u32, 1..400u32),
            (fx, fy) in (0.0..1.0f64, 0.0..1.0f64),
            offset in 0..1u32 << 20,
        ) {
            let width = if tiling == Tiling::Raster { 20 * width } else { width };
            let level = Level { offset, ..Level::new(tiling, cpp, width, height).unwrap() };
            let (x, y) = ((fx * f64::from(width)) as u32, (fy * f64::from(height)) as u32);
            prop_assert_eq!(level.address_map().offset_of(x, y), level.offset_of(x, y));
        }

        /// A copied rectangle lands where the address map says, touches nothing else, and comes back.
        #[test]
        fn copies_follow_the_map(
            cpp in prop::sample::select(vec![1u32, 2, 4, 8]),
            tiling in prop::sample::select(Tiling::ALL),
            (width, height) in (1..90u32, 1..90u32),
            (fx, fy, fw, fh) in (0.0..1.0f64, 0.0..1.0f64, 0.0..1.0f64, 0.0..1.0f64),
            extra in 0..9usize,
            wide: bool,
        ) {
            let width = if wide && tiling == Tiling::Raster { 4050 + width } else { width };
            let level = Level { offset: 64, ..Level::new(tiling, cpp, width, height).unwrap() };
            let (x, y) = ((fx * f64::from(width)) as u32, (fy * f64::from(height)) as u32);
            let (w, h) = ((fw * f64::from(width - x + 1)) as u32, (fh * f64::from(height - y + 1)) as u32);
            let rect = Rect { x, y, width: w, height: h };
            let stride = (w * cpp) as usize + extra;
            let linear: Vec<u8> = (0..stride * h as usize).map(|i| (i * 7 + i / 251) as u8 | 1).collect();
            let mut image = vec![0u8; (level.offset + level.size) as usize];
            level.copy_from_linear(&mut image, rect, &linear, stride).unwrap();
            let mut expected = vec![0u8; image.len()];
            for row in 0..h {
                for column in 0..w {
                    let to = level.offset_of(x + column, y + row) as usize;
                    let from = row as usize * stride + (column * cpp) as usize;
                    expected[to..to + cpp as usize].copy_from_slice(&linear[from..from + cpp as usize]);
                }
            }
            prop_assert!(image == expected, "the image differs");
            let mut back = vec![0u8; linear.len()];
            level.copy_to_linear(&image, rect, &mut back, stride).unwrap();
            for row in 0..h as usize {
                let bytes = row * stride..row * stride + (w * cpp) as usize;
                prop_assert_eq!(&back[bytes.clone()], &linear[bytes]);
            }
        }

        #[test]
        fn maps_are_inverse(
            cpp in prop::sample::select(vec![1u32, 2, 4, 8]),
            tiling in prop::sample::select(Tiling::ALL),
            (width, height) in (1..300u32, 1..300u32),
            at: u32,
        ) {
            let width = if tiling == Tiling::Raster { 27 * width } else { width };
            let level = Level::new(tiling, cpp, width, height).unwrap();
            let at = at % level.size;
            match level.element_at(at) {
                Some((x, y)) => prop_assert_eq!(level.offset_of(x, y), at - at % cpp),
                // The last panel has room for more columns than there are.
                None => prop_assert!(level.panel_stride > 0),
            }
            prop_assert_eq!(level.element_at(level.size), None);
        }
    }
}
