//! Tile loads and stores: between the tile buffer and surfaces in memory (v3d.md §5.3, §10.6).

use vc4::cl::packets::{FrameFormat, LoadStoreFormat, TileBuffer};
use vc4::facts::Facts;
use vc4::image::Level;
use vc4::image::layout::msaa_block_offset;
use vc4::image::tiling::{Tiling, utile as utile_of};

use super::tlb::{Samples, Tile};
use crate::memory::{BusError, Memory};
use crate::unverified::{
    from_565, resolve_4x, store_extent, to_565, to_565_dithered, unresolved_sample, unsampled_block_offset,
};

/// Bytes that are contiguous in every layout: a row of a utile (textures.md §4.1).
const RUN_BYTES: u32 = 16;

/// What a surface holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pixels {
    /// 32-bit colour.
    Rgba8888,
    /// 16-bit colour.
    Bgr565,
    /// 16-bit colour, stored with dither.
    Bgr565Dithered,
    /// Depth and stencil.
    ZStencil,
}

impl Pixels {
    /// Bytes per pixel.
    pub fn cpp(self) -> u32 {
        if self.is_565() { 2 } else { 4 }
    }

    fn is_565(self) -> bool {
        matches!(self, Pixels::Bgr565 | Pixels::Bgr565Dithered)
    }

    /// Of a general load or store; `None` for buffers that this simulator does not have.
    pub fn general(buffer: TileBuffer, format: LoadStoreFormat) -> Option<Pixels> {
        match (buffer, format) {
            (TileBuffer::Color, LoadStoreFormat::Rgba8888) => Some(Pixels::Rgba8888),
            (TileBuffer::Color, LoadStoreFormat::Bgr565) => Some(Pixels::Bgr565),
            (TileBuffer::Color, LoadStoreFormat::Bgr565Dithered) => Some(Pixels::Bgr565Dithered),
            (TileBuffer::DepthStencil, _) => Some(Pixels::ZStencil),
            _ => None,
        }
    }

    /// Of packet 113.
    pub fn frame(format: FrameFormat) -> Pixels {
        match format {
            FrameFormat::Rgba8888 => Pixels::Rgba8888,
            FrameFormat::Bgr565 => Pixels::Bgr565,
            FrameFormat::Bgr565Dithered => Pixels::Bgr565Dithered,
        }
    }
}

/// A surface that tiles are loaded from or stored to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surface {
    /// Bus address of the image.
    pub base: u32,
    /// Its layout; width and height are the frame's.
    pub level: Level,
    /// Its pixels.
    pub pixels: Pixels,
    /// The frame has no pixels.
    pub empty: bool,
}

impl Surface {
    /// A surface of the frame's size; the text says why there is none.
    pub fn new(
        base: u32,
        tiling: Tiling,
        pixels: Pixels,
        width: u16,
        height: u16,
    ) -> Result<Surface, String> {
        // The kernel admits frames without pixels (kernel-abi.md §10): nothing of them is loaded or stored.
        let empty = width == 0 || height == 0;
        let (columns, rows) = if empty { (1, 1) } else { (u32::from(width), u32::from(height)) };
        let level = Level::new(tiling, pixels.cpp(), columns, rows)
            .map_err(|error| format!("surface at {base:#010x}: {error}"))?;
        Ok(Surface { base, level, pixels, empty })
    }

    /// Columns and rows of the tile at (`left`, `top`) that lie on the surface.
    fn visible(&self, facts: &Facts, tile: &Tile, left: u32, top: u32) -> (u32, u32) {
        if self.empty {
            return (0, 0);
        }
        let (width, height) = store_extent(facts.store_extent, &self.level);
        (width.saturating_sub(left).min(tile.edge()), height.saturating_sub(top).min(tile.edge()))
    }

    /// Elements that are contiguous in a row of the surface.
    fn run(&self) -> u32 {
        if self.level.tiling == Tiling::Raster { u32::MAX } else { RUN_BYTES / self.level.cpp }
    }

    /// Stores the tile whose first pixel is (`left`, `top`). `resolve` averages the samples of a pixel.
    pub fn store(
        &self,
        memory: &Memory,
        facts: &Facts,
        tile: &Tile,
        left: u32,
        top: u32,
        resolve: bool,
    ) -> Result<(), BusError> {
        let (columns, rows) = self.visible(facts, tile, left, top);
        let map = self.level.address_map();
        if let Some(utiles) = self.utiles(tile, columns, rows) {
            let samples = self.samples(tile);
            for (x, y) in utiles {
                let at = self.base.wrapping_add(map.offset_of(left + x, top + y));
                memory.write_words(at, &utile(samples, tile, x, y))?;
            }
            return Ok(());
        }
        let mut row = [0; vc4::hw::TILE_PX as usize];
        for y in 0..rows {
            let row = &mut row[..columns as usize];
            self.row_of(facts, tile, y, resolve, row);
            match self.pixels {
                Pixels::Bgr565 => pack_565(row, |_, rgba| to_565(facts.store_565, rgba)),
                Pixels::Bgr565Dithered => pack_565(row, |x, rgba| {
                    to_565_dithered(facts.dither_565, facts.store_565, rgba, left + x, top + y)
                }),
                Pixels::Rgba8888 | Pixels::ZStencil => {}
            }
            let (words, words_per_run, run) = self.runs(columns);
            for (i, words) in row[..words].chunks(words_per_run).enumerate() {
                let at = self.base.wrapping_add(map.offset_of(left + i as u32 * run, top + y));
                memory.write_words(at, words)?;
            }
        }
        Ok(())
    }

    /// Words of a row of so many pixels, words of those that are contiguous, and their pixels.
    fn runs(&self, columns: u32) -> (usize, usize, u32) {
        let run = self.run().min(columns);
        let words = |pixels: u32| (pixels * self.level.cpp / 4) as usize;
        (words(columns), words(run).max(1), run)
    }

    /// The first pixels of the utiles that the visible part of a tile consists of; `None` where it has to be moved row by row.
    fn utiles(
        &self,
        tile: &Tile,
        columns: u32,
        rows: u32,
    ) -> Option<impl Iterator<Item = (u32, u32)> + use<>> {
        let whole = columns % UTILE_PX == 0 && rows % UTILE_PX == 0;
        let plain = self.level.cpp == 4 && !tile.multisample();
        let step = UTILE_PX as usize;
        (whole && plain && self.level.tiling != Tiling::Raster).then(|| {
            (0..rows).step_by(step).flat_map(move |y| (0..columns).step_by(step).map(move |x| (x, y)))
        })
    }

    /// The samples of a tile that go to this surface.
    fn samples<'t>(&self, tile: &'t Tile) -> &'t Samples {
        if self.pixels == Pixels::ZStencil { tile.zs() } else { tile.color() }
    }

    fn samples_mut<'t>(&self, tile: &'t mut Tile) -> &'t mut Samples {
        if self.pixels == Pixels::ZStencil { tile.zs_mut() } else { tile.color_mut() }
    }

    /// The pixels of one row of the tile as 32-bit values.
    fn row_of(&self, facts: &Facts, tile: &Tile, y: u32, resolve: bool, out: &mut [u32]) {
        let zs = self.pixels == Pixels::ZStencil;
        let samples = self.samples(tile);
        for (value, x) in out.iter_mut().zip(0..) {
            let first = tile.pixel(x, y);
            *value = match tile.multisample() {
                false => samples[first],
                true if resolve && !zs => {
                    let pixel = std::array::from_fn(|sample| samples[first + sample]);
                    resolve_4x(facts.resolve_rounding, pixel)
                }
                true => samples[first + unresolved_sample(facts.unresolved_sample)],
            };
        }
    }

    /// Loads the tile whose first pixel is (`left`, `top`); in multisample mode every sample gets its
    /// pixel's value. What lies outside of the surface stays as it is.
    pub fn load(
        &self,
        memory: &Memory,
        facts: &Facts,
        tile: &mut Tile,
        left: u32,
        top: u32,
    ) -> Result<(), BusError> {
        let (columns, rows) = self.visible(facts, tile, left, top);
        let map = self.level.address_map();
        if let Some(utiles) = self.utiles(tile, columns, rows) {
            let mut words = [0; UTILE_WORDS];
            for (x, y) in utiles {
                memory.read_words(self.base.wrapping_add(map.offset_of(left + x, top + y)), &mut words)?;
                set_utile(self, tile, x, y, &words);
            }
            return Ok(());
        }
        let mut row = [0; vc4::hw::TILE_PX as usize];
        let (words, words_per_run, run) = self.runs(columns);
        for y in 0..rows {
            for (i, words) in row[..words].chunks_mut(words_per_run).enumerate() {
                let at = self.base.wrapping_add(map.offset_of(left + i as u32 * run, top + y));
                memory.read_words(at, words)?;
            }
            if self.pixels.is_565() {
                unpack_565(&mut row[..columns as usize], |half| from_565(facts.load_565, half));
            }
            for (x, &value) in (0..columns).zip(&row) {
                let (first, samples) = (tile.pixel(x, y), tile.samples());
                self.samples_mut(tile)[first..first + samples].fill(value);
            }
        }
        Ok(())
    }
}

/// Pixels per edge of a utile of 32-bit pixels, and all of them (textures.md §4.1): two quads by two.
const UTILE_PX: u32 = match utile_of(4) {
    Some((4, 4)) => 4,
    _ => panic!("a utile is two quads by two"),
};
const UTILE_WORDS: usize = (UTILE_PX * UTILE_PX) as usize;

/// The words of a utile whose first pixel is (`x`, `y`) in the tile, row by row: two rows of two quads.
#[inline]
fn utile(samples: &Samples, tile: &Tile, x: u32, y: u32) -> [u32; UTILE_WORDS] {
    let mut words = [0; UTILE_WORDS];
    for (half, words) in words.chunks_exact_mut(8).enumerate() {
        let first = tile.pixel(x, y + 2 * half as u32);
        let quads = &samples[first..first + 8];
        let (left, right) = quads.split_at(4);
        for (row, words) in words.chunks_exact_mut(4).enumerate() {
            words[..2].copy_from_slice(&left[2 * row..2 * row + 2]);
            words[2..].copy_from_slice(&right[2 * row..2 * row + 2]);
        }
    }
    words
}

/// Undoes [`utile`].
#[inline]
fn set_utile(surface: &Surface, tile: &mut Tile, x: u32, y: u32, words: &[u32; UTILE_WORDS]) {
    for (half, words) in words.chunks_exact(8).enumerate() {
        let first = tile.pixel(x, y + 2 * half as u32);
        let quads = &mut surface.samples_mut(tile)[first..first + 8];
        let (left, right) = quads.split_at_mut(4);
        for (row, words) in words.chunks_exact(4).enumerate() {
            left[2 * row..2 * row + 2].copy_from_slice(&words[..2]);
            right[2 * row..2 * row + 2].copy_from_slice(&words[2..]);
        }
    }
}

/// Packs pixels in place: two per word, in the first half of the row.
fn pack_565(row: &mut [u32], pack: impl Fn(u32, u32) -> u16) {
    for i in 0..row.len() / 2 {
        let half = |k: usize| u32::from(pack(k as u32, row[k]));
        row[i] = half(2 * i) | half(2 * i + 1) << 16;
    }
}

/// Undoes [`pack_565`].
fn unpack_565(row: &mut [u32], unpack: impl Fn(u16) -> u32) {
    for i in (0..row.len() / 2).rev() {
        let word = row[i];
        row[2 * i] = unpack(word as u16);
        row[2 * i + 1] = unpack((word >> 16) as u16);
    }
}

/// Stores all samples of one buffer of a tile into its block.
pub fn store_full_res(
    memory: &Memory,
    facts: &Facts,
    tile: &Tile,
    zs: bool,
    block: u32,
) -> Result<(), BusError> {
    let samples = if zs { tile.zs() } else { tile.color() };
    for (at, offset) in block_samples(facts, tile) {
        memory.write(block.wrapping_add(offset), samples[at])?;
    }
    Ok(())
}

/// Loads all samples of one buffer of a tile from its block.
pub fn load_full_res(
    memory: &Memory,
    facts: &Facts,
    tile: &mut Tile,
    zs: bool,
    block: u32,
) -> Result<(), BusError> {
    for (at, offset) in block_samples(facts, tile) {
        let word = memory.read(block.wrapping_add(offset))?;
        (if zs { tile.zs_mut() } else { tile.color_mut() })[at] = word;
    }
    Ok(())
}

/// Places of all samples in the tile buffer and in a block.
fn block_samples(facts: &Facts, tile: &Tile) -> impl Iterator<Item = (usize, u32)> + use<> {
    let fact = facts.full_resolution;
    let (edge, samples, multisample) = (tile.edge(), tile.samples(), tile.multisample());
    let quad_rows = (0..edge).step_by(2);
    let quads = quad_rows.flat_map(move |y| (0..edge).step_by(2).map(move |x| (x, y)));
    let pixels = quads.flat_map(|(x, y)| (0..4).map(move |pixel| (x + (pixel & 1), y + (pixel >> 1))));
    // The tile buffer's own order.
    let places = pixels.flat_map(move |pixel| (0..samples as u32).map(move |sample| (pixel, sample)));
    places.enumerate().map(move |(at, ((x, y), sample))| {
        let offset =
            if multisample { msaa_block_offset(x, y, sample) } else { unsampled_block_offset(fact, x, y) };
        (at, offset)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tlb::ClearValues;
    use super::*;

    const SIZE: u32 = 1 << 17;

    fn painted() -> Tile {
        let mut tile = Tile::default();
        for y in 0..64 {
            for x in 0..64 {
                let at = tile.pixel(x, y);
                tile.color_mut()[at] = 0xff00_0000 | (x << 10) | (y << 2);
                tile.zs_mut()[at] = (x << 16) | (y << 8) | 7;
            }
        }
        tile
    }

    #[test]
    fn every_layout_places_pixels_where_the_map_says() {
        let memory = Memory::new(SIZE);
        let tile = painted();
        for tiling in [Tiling::Raster, Tiling::T, Tiling::Lt] {
            for pixels in [Pixels::Rgba8888, Pixels::ZStencil] {
                let surface = Surface::new(4096, tiling, pixels, 100, 90).unwrap();
                surface.store(&memory, &Facts::default(), &tile, 64, 64, false).unwrap();
                for (x, y) in [(0, 0), (5, 3), (35, 25)] {
                    let at = tile.pixel(x, y);
                    let word = memory.read(4096 + surface.level.offset_of(64 + x, 64 + y)).unwrap();
                    let expected = if pixels == Pixels::ZStencil { tile.zs()[at] } else { tile.color()[at] };
                    assert_eq!(word, expected, "{tiling:?} {pixels:?} {x},{y}");
                }
                let mut back = Tile::default();
                surface.load(&memory, &Facts::default(), &mut back, 64, 64).unwrap();
                let (restored, untouched) = (back.pixel(35, 25), back.pixel(36, 25));
                let buffer = if pixels == Pixels::ZStencil { back.zs() } else { back.color() };
                let source = if pixels == Pixels::ZStencil { tile.zs() } else { tile.color() };
                assert_eq!(buffer[restored], source[restored]);
                assert_eq!(buffer[untouched], 0);
            }
        }
    }

    #[test]
    fn sixteen_bit_pixels_share_words() {
        let memory = Memory::new(SIZE);
        let mut tile = Tile::default();
        tile.color_mut()[..2].copy_from_slice(&[0x0000_00ff, 0x00ff_0000]);
        for tiling in [Tiling::Raster, Tiling::T, Tiling::Lt] {
            let surface = Surface::new(4096, tiling, Pixels::Bgr565, 20, 2).unwrap();
            surface.store(&memory, &Facts::default(), &tile, 0, 0, false).unwrap();
            assert_eq!(memory.read(4096), Ok(0x001f_f800));
            let mut back = Tile::default();
            surface.load(&memory, &Facts::default(), &mut back, 0, 0).unwrap();
            assert_eq!(back.color()[..2], [0xff00_00ff, 0xffff_0000]);
        }
    }

    #[test]
    fn dither_keeps_the_mean_and_the_ends() {
        let memory = Memory::new(SIZE);
        let mut tile = Tile::default();
        // 100 of 255 in every channel: between 12 and 13 of 31, and between 24 and 25 of 63.
        tile.clear(Some(0xff64_6464), None);
        let surface = Surface::new(4096, Tiling::Raster, Pixels::Bgr565Dithered, 64, 64).unwrap();
        surface.store(&memory, &Facts::default(), &tile, 0, 0, false).unwrap();
        let pixels: Vec<u32> = (0..64 * 64).map(|i| memory.read_u16(4096 + 2 * i).unwrap().into()).collect();
        let mean = |shift: u32, max: u32| {
            let sum: u32 = pixels.iter().map(|p| p >> shift & max).sum();
            f64::from(sum) / pixels.len() as f64 / f64::from(max)
        };
        for (shift, max) in [(11, 31), (5, 63), (0, 31)] {
            assert!((mean(shift, max) - 100.0 / 255.0).abs() < 0.005, "{}", mean(shift, max));
        }
        assert!(pixels.iter().any(|&pixel| pixel != pixels[0]));
        for (color, stored) in [(0, 0), (u32::MAX, 0xffff_ffff)] {
            tile.clear(Some(color), None);
            surface.store(&memory, &Facts::default(), &tile, 0, 0, false).unwrap();
            assert!((0..64 * 32).all(|i| memory.read(4096 + 4 * i) == Ok(stored)));
        }
    }

    #[test]
    fn frames_without_pixels_store_nothing() {
        let memory = Memory::new(SIZE);
        let mut tile = Tile::default();
        tile.clear(Some(7), None);
        let surface = Surface::new(4096, Tiling::T, Pixels::Rgba8888, 64, 0).unwrap();
        surface.store(&memory, &Facts::default(), &tile, 0, 0, false).unwrap();
        assert_eq!(memory.read(4096), Ok(0));
    }

    #[test]
    fn full_resolution_blocks_go_both_ways_without_samples() {
        let memory = Memory::new(SIZE);
        let tile = painted();
        store_full_res(&memory, &Facts::default(), &tile, true, 4096).unwrap();
        let mut back = Tile::default();
        load_full_res(&memory, &Facts::default(), &mut back, true, 4096).unwrap();
        assert_eq!(back.zs(), tile.zs());
    }

    #[test]
    fn raster_stores_end_with_the_last_row() {
        let memory = Memory::new(SIZE);
        let mut tile = Tile::default();
        tile.clear(Some(1), None);
        let surface = Surface::new(4096, Tiling::Raster, Pixels::Rgba8888, 6, 3).unwrap();
        surface.store(&memory, &Facts::default(), &tile, 0, 0, false).unwrap();
        assert_eq!(memory.read(4096 + 3 * 32 - 4), Ok(1));
        assert_eq!(memory.read(4096 + 3 * 32), Ok(0));
    }

    #[test]
    fn samples_are_averaged_or_kept() {
        let memory = Memory::new(SIZE);
        let mut tile = Tile::default();
        tile.reset(true, ClearValues { color: 0, zs: 0 });
        tile.color_mut()[4..8].copy_from_slice(&[0x04, 0x0800, 0xff00_0000, 0xff00_0003]);
        let surface = Surface::new(4096, Tiling::Raster, Pixels::Rgba8888, 32, 32).unwrap();
        surface.store(&memory, &Facts::default(), &tile, 0, 0, true).unwrap();
        assert_eq!(memory.read(4100), Ok(0x8000_0202));
        surface.store(&memory, &Facts::default(), &tile, 0, 0, false).unwrap();
        assert_eq!(memory.read(4100), Ok(0x04));
        store_full_res(&memory, &Facts::default(), &tile, false, 8192).unwrap();
        assert_eq!(memory.read(8192 + 4 + 16), Ok(0x0800));
        let mut back = Tile::default();
        back.reset(true, ClearValues::default());
        load_full_res(&memory, &Facts::default(), &mut back, false, 8192).unwrap();
        assert_eq!(back.color(), tile.color());
    }
}
