//! Whole images: mip chains, cube faces and multisampled blocks (textures.md §4.4, §4.6; v3d.md §10.6).

pub use super::error::LayoutError;
use super::tiling::{CopyError, Level, MAX_EDGE, MAX_SURFACE, Rect, Tiling};
use crate::hw::{TARGET_MAX_PX, TILE_PX};

/// Texture base addresses have no bits below this (textures.md §2).
const PAGE: u32 = 4096;
/// Bytes of one tile's block in a multisampled surface (v3d.md §10.6).
pub const MSAA_TILE_BYTES: u32 = 16384;
/// Edge in pixels of such a block.
const MSAA_TILE_PX: u32 = crate::hw::TILE_MS_PX;
/// Samples of a multisampled pixel.
pub const MSAA_SAMPLES: u32 = 4;

/// What an image is laid out from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageShape {
    /// Raster rows in every level, as for linear images, instead of what the texture unit assumes: for images that
    /// programs read by direct lookups.
    pub raster: bool,
    /// Bytes per element: per pixel, or per block for block formats.
    pub cpp: u32,
    /// Edge of an element in pixels: 1, or 4 for ETC1.
    pub block: u32,
    /// Pixels per row of level 0.
    pub width: u32,
    /// Rows of pixels of level 0.
    pub height: u32,
    /// Slices of level 0, each laid out by itself; 1 but for volumes, which may have levels for this edge.
    pub depth: u32,
    /// Mip levels.
    pub levels: u32,
    /// 1, or 6 for a cube in the order +X, -X, +Y, -Y, +Z, -Z.
    pub faces: u32,
    /// Edge of the largest area that is drawn at once ([`crate::state::viewport::window_px`]): wider images are drawn in parts.
    pub window: u32,
}

impl ImageShape {
    /// A single level of pixels in the texture unit's layout.
    pub fn plain(cpp: u32, width: u32, height: u32) -> Self {
        ImageShape {
            raster: false,
            cpp,
            block: 1,
            width,
            height,
            depth: 1,
            levels: 1,
            faces: 1,
            window: TARGET_MAX_PX,
        }
    }

    /// Pixels of a level as the API counts them: halved per level, at least 1.
    pub fn level_px(&self, level: u32) -> (u32, u32) {
        (shrink(self.width, level), shrink(self.height, level))
    }

    /// Elements of a level as the API counts them.
    pub fn level_el(&self, level: u32) -> (u32, u32) {
        let (width, height) = self.level_px(level);
        (width.div_ceil(self.block), height.div_ceil(self.block))
    }

    fn check(&self) -> Result<(), LayoutError> {
        let &ImageShape { width, height, depth, levels, .. } = self;
        if self.block == 0 || width == 0 || height == 0 || width > MAX_EDGE || height > MAX_EDGE {
            return Err(LayoutError::Size { width, height });
        }
        let most = width.max(height).max(depth).ilog2() + 1;
        if levels == 0 || levels > most {
            return Err(LayoutError::Levels { width, height, levels });
        }
        if self.faces != 1 && self.faces != 6 {
            return Err(LayoutError::Faces(self.faces));
        }
        Ok(())
    }
}

/// Halves an edge `level` times, never below 1.
fn shrink(edge: u32, level: u32) -> u32 {
    edge.checked_shr(level).unwrap_or(0).max(1)
}

/// The size in elements that level `level` of an image is laid out for: its own for level 0, halves of the next
/// powers of two for the others (textures.md §4.4).
///
/// UNVERIFIED: does the texture unit use these containers for images whose edges are no powers of two, and does it
/// scale coordinates by the level's own size?
pub fn container(width: u32, height: u32, level: u32) -> (u32, u32) {
    match level {
        0 => (width, height),
        _ => (shrink(width.next_power_of_two(), level), shrink(height.next_power_of_two(), level)),
    }
}

/// Twice the rows that level 0 of an image in raster order counts as in the places of its levels.
pub fn level_rows(height: u32) -> u32 {
    2 * height.next_power_of_two()
}

/// Pixels of a row in memory. Where images are wider than a target, so that they are drawn in parts, all tiles are whole:
/// those at the right end of a part would go on in the next row.
fn row_px(width: u32, window: u32) -> u32 {
    if width > window { width.next_multiple_of(TILE_PX) } else { width }
}

/// Where everything of an image lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageLayout {
    /// What was laid out.
    pub shape: ImageShape,
    /// The levels of the first face, level 0 first; in memory the last level comes first, except in raster order.
    pub levels: Vec<Level>,
    /// Bytes from one face to the next; 0 with a single face.
    pub face_stride: u32,
    /// Bytes of the whole image.
    pub size: u32,
}

impl ImageLayout {
    /// Lays out an image (textures.md §4.4).
    pub fn new(shape: ImageShape) -> Result<ImageLayout, LayoutError> {
        shape.check()?;
        if shape.raster {
            return ImageLayout::raster(shape);
        }
        let (width, height) = shape.level_el(0);
        let mut levels = Vec::with_capacity(shape.levels as usize);
        for level in 0..shape.levels {
            let (width, height) = container(width, height, level);
            levels.push(Level::sampled(shape.cpp, width, height)?);
        }
        let mut offset = 0;
        for level in levels.iter_mut().rev() {
            level.offset = offset;
            offset += level.size;
        }
        let base = levels[0].offset;
        let shift = base.next_multiple_of(PAGE) - base;
        levels.iter_mut().for_each(|level| level.offset += shift);
        let end = levels[0].offset + levels[0].size;
        let face_stride = if shape.faces == 6 { end.next_multiple_of(PAGE) } else { 0 };
        Ok(ImageLayout { shape, levels, face_stride, size: end + (shape.faces - 1) * face_stride })
    }

    /// Rows in raster order. Every level has the stride of level 0, and level n begins at row 2H - (2H >> n) + n, where H is
    /// the height's next power of two: programs find a texel of any level without a table.
    ///
    /// Wider images than a target are drawn in parts, each a surface that begins inside of a row and has the rows of the whole
    /// (T-BIG), so the last row of a part may go on behind the image. Wider ones than a surface lie in panels, which all have
    /// room for all levels.
    fn raster(shape: ImageShape) -> Result<ImageLayout, LayoutError> {
        let (width, height) = shape.level_el(0);
        // Checks the element, and makes a row.
        let row = Level::new(Tiling::Raster, shape.cpp, row_px(width, shape.window), 1)?;
        let rows = level_rows(height);
        let first_row = |level: u32| rows - (rows >> level) + level;
        let last = shape.levels - 1;
        let spare = u32::from(width > shape.window);
        let face_rows = first_row(last) + shape.level_el(last).1 + spare;
        let panels = row.padded_width.div_ceil(MAX_SURFACE);
        let panel = u64::from(face_rows) * u64::from(row.stride);
        let face = if panels > 1 { u64::from(panels) * panel.next_multiple_of(PAGE.into()) } else { panel };
        let bytes = u64::from(shape.faces) * face.next_multiple_of(PAGE.into());
        if bytes > u32::MAX.into() {
            return Err(LayoutError::Bytes(bytes));
        }
        // All fit, as their sum does.
        let (panel, face) = (panel as u32, face as u32);
        let mut levels = Vec::with_capacity(shape.levels as usize);
        for level in 0..shape.levels {
            let (width, height) = shape.level_el(level);
            let is_wide = width > MAX_SURFACE;
            let panel_stride = if is_wide { panel.next_multiple_of(PAGE) } else { 0 };
            levels.push(Level {
                width,
                height,
                padded_width: if is_wide { row.padded_width } else { row.stride / row.cpp },
                padded_height: height,
                offset: first_row(level) * row.stride,
                panel_stride,
                size: (width.div_ceil(MAX_SURFACE) - 1) * panel_stride + height * row.stride,
                ..row
            });
        }
        let face_stride = if shape.faces == 6 { face.next_multiple_of(PAGE) } else { 0 };
        Ok(ImageLayout { shape, levels, face_stride, size: face + (shape.faces - 1) * face_stride })
    }

    /// Bytes of the mip chain of a face.
    pub fn face_bytes(&self) -> u32 {
        self.size - (self.shape.faces - 1) * self.face_stride
    }

    /// A level of one face, with its offset in the image; `None` if the image lacks it.
    pub fn level(&self, level: u32, face: u32) -> Option<Level> {
        let place = *self.levels.get(level as usize)?;
        (face < self.shape.faces).then(|| Level { offset: place.offset + face * self.face_stride, ..place })
    }
}

/// A 4x multisampled surface: full-resolution blocks (v3d.md §10.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MsaaLayout {
    /// Blocks per row of a panel.
    pub tiles_x: u32,
    /// Rows of blocks.
    pub tiles_y: u32,
    /// Panels of columns, one behind the other ([`MAX_SURFACE`]).
    pub panels: u32,
    /// Bytes of the surface.
    pub size: u32,
}

impl MsaaLayout {
    /// The surface of an image of this many pixels, 32 bits per sample, of which `window` columns are drawn at once.
    pub fn new(width: u32, height: u32, window: u32) -> Result<MsaaLayout, LayoutError> {
        if width == 0 || height == 0 || width > MAX_EDGE || height > MAX_EDGE {
            return Err(LayoutError::Size { width, height });
        }
        let tiles_y = height.div_ceil(MSAA_TILE_PX);
        let tiles_x = row_px(width, window).min(MAX_SURFACE).div_ceil(MSAA_TILE_PX);
        let panels = width.div_ceil(MAX_SURFACE);
        Ok(MsaaLayout { tiles_x, tiles_y, panels, size: panels * tiles_x * tiles_y * MSAA_TILE_BYTES })
    }

    /// Bytes from one panel to the next; 0 if there is one.
    pub fn panel_stride(&self) -> u32 {
        if self.panels > 1 { self.size / self.panels } else { 0 }
    }

    /// Byte offset of a sample (0–3) of the pixel at column `x`, row `y`.
    pub fn offset_of(&self, x: u32, y: u32, sample: u32) -> u32 {
        let (panel, column) = (x / MAX_SURFACE, x % MAX_SURFACE);
        let tile = (y / MSAA_TILE_PX) * self.tiles_x + column / MSAA_TILE_PX;
        panel * self.panel_stride()
            + tile * MSAA_TILE_BYTES
            + msaa_block_offset(x % MSAA_TILE_PX, y % MSAA_TILE_PX, sample)
    }
}

/// Bytes of a pixel whose samples stand one after the other.
pub const MSAA_PIXEL_BYTES: usize = 4 * MSAA_SAMPLES as usize;

impl MsaaLayout {
    /// Checks a rectangle against the surface and memory of `have` bytes.
    fn check_copy(&self, rect: Rect, have: usize) -> Result<(), CopyError> {
        let (width, height) = (self.panels * self.tiles_x * MSAA_TILE_PX, self.tiles_y * MSAA_TILE_PX);
        let inside = |at: u32, count: u32, limit: u32| at.checked_add(count).is_some_and(|end| end <= limit);
        if !inside(rect.x, rect.width, width) || !inside(rect.y, rect.height, height) {
            return Err(CopyError::Rect { rect, width, height });
        }
        let need = rect.width as usize * rect.height as usize * MSAA_PIXEL_BYTES;
        if have < need { Err(CopyError::Memory { what: "linear", need, have }) } else { Ok(()) }
    }

    /// Calls `visit` with the byte offset of every sample of a rectangle, row by row, samples innermost.
    fn for_each_sample(&self, rect: Rect, mut visit: impl FnMut(usize)) {
        for y in rect.y..rect.y + rect.height {
            for x in rect.x..rect.x + rect.width {
                (0..MSAA_SAMPLES).for_each(|sample| visit(self.offset_of(x, y, sample) as usize));
            }
        }
    }

    /// Loads the pixels of a rectangle without gaps, the words of a pixel's samples in order: `load(offset, word)`
    /// fills each word from its byte offset in the surface.
    pub fn read_rect(
        &self,
        rect: Rect,
        pixels: &mut [u8],
        mut load: impl FnMut(usize, &mut [u8]),
    ) -> Result<(), CopyError> {
        self.check_copy(rect, pixels.len())?;
        let mut words = pixels.chunks_exact_mut(4);
        self.for_each_sample(rect, |at| words.next().into_iter().for_each(|word| load(at, word)));
        Ok(())
    }

    /// Stores the pixels of a rectangle, which lie as [`MsaaLayout::read_rect`] gives them.
    pub fn write_rect(
        &self,
        rect: Rect,
        pixels: &[u8],
        mut store: impl FnMut(usize, &[u8]),
    ) -> Result<(), CopyError> {
        self.check_copy(rect, pixels.len())?;
        let mut words = pixels.chunks_exact(4);
        self.for_each_sample(rect, |at| words.next().into_iter().for_each(|word| store(at, word)));
        Ok(())
    }
}

/// Byte offset of a sample in its tile's block; `x` and `y` count from the tile's corner (v3d.md §10.6).
pub const fn msaa_block_offset(x: u32, y: u32, sample: u32) -> u32 {
    (y >> 1) * 1024 + (x >> 1) * 64 + sample * 16 + (y & 1) * 8 + (x & 1) * 4
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Row<'a> {
        kind: &'a str,
        tiling: &'a str,
        n: Vec<u32>,
    }

    fn row(line: &str) -> Row<'_> {
        let columns: Vec<&str> = line.split('\t').collect();
        let numbers = |range: std::ops::Range<usize>| columns[range].iter().map(|text| text.parse().unwrap());
        Row { kind: columns[1], tiling: columns[12], n: numbers(2..12).chain(numbers(13..18)).collect() }
    }

    /// Every row of the vectors that an independent implementation made.
    #[test]
    fn placement_matches_the_vectors() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/textures-mips.tsv");
        let table = std::fs::read_to_string(path).unwrap();
        let mut rows = 0;
        for line in table.lines().skip(1) {
            let Row { kind, tiling, n } = row(line);
            let [cpp, width, height, levels, faces, level, lw, lh, pw, ph, offset, stride, size, cube, total] =
                n[..]
            else {
                panic!("{line}")
            };
            rows += 1;
            if kind == "msaa4" {
                let layout = MsaaLayout::new(width, height, TARGET_MAX_PX).unwrap();
                assert_eq!((layout.tiles_x * 32, layout.tiles_y * 32), (pw, ph), "{line}");
                assert_eq!((layout.size, stride), (total, pw * cpp * 4), "{line}");
                continue;
            }
            let block = if kind == "etc1" { 4 } else { 1 };
            let shape = ImageShape {
                raster: kind == "raster",
                block,
                levels,
                faces,
                ..ImageShape::plain(cpp, width, height)
            };
            let layout = ImageLayout::new(shape).unwrap();
            let place = layout.levels[level as usize];
            let expected = match tiling {
                "T" => Tiling::T,
                "LT" => Tiling::Lt,
                _ => Tiling::Raster,
            };
            assert_eq!(place.tiling, expected, "{line}");
            assert_eq!((place.width, place.height), (lw, lh), "{line}");
            assert_eq!((place.padded_width, place.padded_height), (pw, ph), "{line}");
            assert_eq!((place.offset, place.stride, place.size), (offset, stride, size), "{line}");
            assert_eq!((layout.face_stride, layout.size), (cube, total), "{line}");
            if faces == 6 {
                assert_eq!(layout.level(level, 5).unwrap().offset, offset + 5 * cube, "{line}");
            }
        }
        assert_eq!(rows, 129);
    }

    #[test]
    fn rectangles_of_samples_come_back() {
        let layout = MsaaLayout::new(70, 40, TARGET_MAX_PX).unwrap();
        let mut memory = vec![0u8; layout.size as usize];
        let rect = Rect { x: 31, y: 3, width: 3, height: 2 };
        let pixels: Vec<u8> = (1..=6 * MSAA_PIXEL_BYTES as u8).collect();
        layout.write_rect(rect, &pixels, |at, word| memory[at..at + 4].copy_from_slice(word)).unwrap();
        let at = layout.offset_of(33, 4, 2) as usize;
        assert_eq!(memory[at..at + 4], pixels[5 * MSAA_PIXEL_BYTES + 8..][..4]);
        assert_eq!(memory.iter().filter(|byte| **byte != 0).count(), pixels.len());
        let mut back = vec![0; pixels.len()];
        layout.read_rect(rect, &mut back, |at, word| word.copy_from_slice(&memory[at..at + 4])).unwrap();
        assert_eq!(back, pixels);
        assert!(layout.read_rect(Rect { x: 95, ..rect }, &mut back, |_, _| ()).is_err());
        assert!(layout.read_rect(rect, &mut back[1..], |_, _| ()).is_err());
    }

    #[test]
    fn samples_fill_the_block_without_overlap() {
        let layout = MsaaLayout::new(33, 40, TARGET_MAX_PX).unwrap();
        assert_eq!((layout.tiles_x, layout.tiles_y, layout.size), (2, 2, 4 * 16384));
        let mut seen = vec![false; layout.size as usize / 4];
        for (y, x) in (0..64).flat_map(|y| (0..64).map(move |x| (y, x))) {
            for sample in 0..MSAA_SAMPLES {
                let at = layout.offset_of(x, y, sample) as usize / 4;
                assert!(!seen[at], "({x}, {y}) sample {sample}");
                seen[at] = true;
            }
        }
        assert!(seen.iter().all(|&seen| seen));
        // Pixel (35, 1), sample 2: second block, quad 1, row 1 of the quad, odd column.
        assert_eq!(layout.offset_of(35, 1, 2), 16384 + 64 + 32 + 8 + 4);
    }

    #[test]
    fn raster_levels_lie_below_each_other() {
        for (width, height) in [(64, 64), (100, 60), (5, 33), (33, 1), (1, 300)] {
            let levels = 32 - u32::leading_zeros(width.max(height));
            let shape = ImageShape { raster: true, levels, ..ImageShape::plain(4, width, height) };
            let layout = ImageLayout::new(shape).unwrap();
            assert_eq!(layout.levels[0].offset, 0);
            for pair in layout.levels.windows(2) {
                assert!(pair[1].offset >= pair[0].offset + pair[0].size, "{width} x {height}");
                assert_eq!(pair[1].stride, pair[0].stride);
            }
            let last = layout.levels.last().unwrap();
            assert_eq!((last.width, last.height, layout.size), (1, 1, last.offset + last.size));
        }
    }

    #[test]
    fn shapes_that_cannot_be_are_refused() {
        let shape = ImageShape::plain(4, 64, 64);
        let error = |shape| ImageLayout::new(shape).unwrap_err();
        assert_eq!(
            error(ImageShape { levels: 8, ..shape }),
            LayoutError::Levels { width: 64, height: 64, levels: 8 }
        );
        assert_eq!(error(ImageShape { faces: 2, ..shape }), LayoutError::Faces(2));
        assert_eq!(error(ImageShape { cpp: 16, ..shape }), LayoutError::Cpp(16));
        assert_eq!(error(ImageShape { width: 4097, ..shape }), LayoutError::Size { width: 4097, height: 64 });
        let layout = ImageLayout::new(shape).unwrap();
        assert_eq!((layout.level(1, 0), layout.level(0, 1)), (None, None));
    }
}
