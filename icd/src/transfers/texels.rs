//! Texels of images as rows without gaps, in the form that buffers have, whatever form the image holds them in.

use std::ops::Range;

use ash::vk;
use vc4::image::layout::MSAA_SAMPLES;
use vc4::image::surface::{texel_of_tile_word, tile_word};
use vc4::image::tiling::CopyError;
use vc4::image::{FormatInfo, Rect, TileFormat};

use super::conversion::Conversion;
use super::fill::Fill;
use crate::foundation::error::Error;
use crate::foundation::format::Storage;
use crate::foundation::traffic::{Access, Cause};
use crate::objects::image::Image;
use crate::objects::placement::Placement;

/// Bytes of a word.
const WORD: usize = 4;

/// A rectangle of one level of one layer (of 3D images, one slice).
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// Level.
    pub level: u32,
    /// Layer or slice.
    pub slice: u32,
    /// Texels; of block formats, blocks.
    pub rect: Rect,
}

impl Part {
    /// The part of `image` at an API offset, in texels; an error if it leaves the level.
    pub fn new(
        image: &Image,
        level: u32,
        slice: u32,
        offset: vk::Offset3D,
        extent: vk::Extent3D,
    ) -> Result<Part, Error> {
        let (width, height) = image.level_extent(level.min(image.levels() - 1));
        let inside = |at: i32, count: u32, edge: u32| {
            u32::try_from(at).ok().and_then(|at| at.checked_add(count)).is_some_and(|end| end <= edge)
        };
        // The last blocks may reach beyond the edge.
        let block = image.row().block();
        let edge = |edge: u32| edge.next_multiple_of(block);
        let fits =
            inside(offset.x, extent.width, edge(width)) && inside(offset.y, extent.height, edge(height));
        if !fits || level >= image.levels() || slice >= image.slices(level) {
            return Err(Error::InvalidUse(format!(
                "{extent:?} at {offset:?} of level {level}, layer {slice} leaves an image of {:?}, {} levels, {} layers",
                image.extent(),
                image.levels(),
                image.slices(level.min(image.levels() - 1))
            )));
        }
        let rect = Rect {
            x: offset.x as u32 / block,
            y: offset.y as u32 / block,
            width: extent.width.div_ceil(block),
            height: extent.height.div_ceil(block),
        };
        Ok(Part { level, slice, rect })
    }

    /// A whole level, in texels.
    pub fn whole(image: &Image, level: u32, slice: u32) -> Part {
        let (width, height) = image.level_extent(level.min(image.levels() - 1));
        Part { level, slice, rect: Rect { x: 0, y: 0, width, height } }
    }

    /// The `count` rows from row `first` of the part on.
    pub fn rows(&self, first: u32, count: u32) -> Part {
        Part { rect: Rect { y: self.rect.y + first, height: count, ..self.rect }, ..*self }
    }

    /// Texels of the part where `place` is; of multisampled pixels every sample is one.
    fn texels(&self, place: &Placement) -> usize {
        let pixels = self.rect.width as usize * self.rect.height as usize;
        match place {
            Placement::Level(_) => pixels,
            Placement::Blocks { .. } => pixels * MSAA_SAMPLES as usize,
        }
    }

    /// The texels as the image holds them.
    fn load(&self, memory: &Access<'_>, place: &Placement, info: &FormatInfo) -> Result<Vec<u8>, Error> {
        let (level, cpp) = match place {
            Placement::Level(level) => (level, level.cpp as usize),
            Placement::Blocks { layout, offset, .. } => {
                let mut words = vec![0; 4 * self.texels(place)];
                let load = |at, word: &mut [u8]| memory.read(*offset as usize + at, word);
                layout.read_rect(self.rect, &mut words, load).map_err(wrong)?;
                return Ok(from_tile(info, words));
            }
        };
        let mut words = vec![0; self.texels(place) * cpp];
        let stride = self.rect.width as usize * cpp;
        level.read_rect(self.rect, &mut words, stride, |at, run| memory.read(at, run)).map_err(wrong)?;
        Ok(words)
    }

    fn store(
        &self,
        memory: &Access<'_>,
        place: &Placement,
        info: &FormatInfo,
        words: &[u8],
    ) -> Result<(), Error> {
        let level = match place {
            Placement::Level(level) => level,
            Placement::Blocks { layout, offset, .. } => {
                let store = |at, word: &[u8]| memory.write(*offset as usize + at, word);
                return layout.write_rect(self.rect, &to_tile(info, words), store).map_err(wrong);
            }
        };
        let stride = self.rect.width as usize * level.cpp as usize;
        level.write_rect(self.rect, words, stride, |at, run| memory.write(at, run)).map_err(wrong)
    }

    /// The texels or blocks of one aspect as buffers have them; of multisampled pixels one texel per sample, in order.
    pub fn read(&self, image: &Image, aspect: vk::ImageAspectFlags, cause: Cause) -> Result<Vec<u8>, Error> {
        let memory = image.binding()?.bo.access(cause)?;
        if let Some(level) = image.block_level(self.level, self.slice)? {
            return self.load(&memory, &Placement::Level(level), image.stored().texel.info());
        }
        let words = self.load_words(&memory, image)?;
        Ok(Conversion::new(image.row(), image.stored().storage, aspect).to_texels(words))
    }

    /// The texels as the image holds them, in words; of multisampled pixels one word per sample, in order.
    pub fn read_words(&self, image: &Image, cause: Cause) -> Result<Vec<u8>, Error> {
        self.load_words(&image.binding()?.bo.access(cause)?, image)
    }

    /// Replaces the bits of `mask` in every word.
    pub fn write_words(&self, image: &Image, words: &[u8], mask: u32, cause: Cause) -> Result<(), Error> {
        let (place, info) = (image.placement(self.level, self.slice, 0)?, image.stored().texel.info());
        self.store_masked(&image.binding()?.bo.access(cause)?, &place, info, words, mask)
    }

    /// The texels as the texture unit sees them, blocks decoded: what blits read. For colours.
    pub fn read_decoded(&self, image: &Image, cause: Cause) -> Result<Vec<u8>, Error> {
        match image.stored().storage {
            Storage::Blocks(_) => {
                let place = image.placement(self.level, self.slice, 0)?;
                self.load(&image.binding()?.bo.access(cause)?, &place, image.stored().texel.info())
            }
            _ => self.read(image, vk::ImageAspectFlags::COLOR, cause),
        }
    }

    /// Replaces the texels or blocks of one aspect.
    pub fn write(
        &self,
        image: &Image,
        aspect: vk::ImageAspectFlags,
        texels: &[u8],
        cause: Cause,
    ) -> Result<(), Error> {
        let memory = image.binding()?.bo.access(cause)?;
        if let Some(level) = image.block_level(self.level, self.slice)? {
            self.store(&memory, &Placement::Level(level), image.stored().texel.info(), texels)?;
            return self.write_decoded(&memory, image, texels);
        }
        let (place, info) = (image.placement(self.level, self.slice, 0)?, image.stored().texel.info());
        let conversion = Conversion::new(image.row(), image.stored().storage, aspect);
        if let Storage::Planes(planes) = image.stored().storage {
            return (0..planes).try_for_each(|plane| {
                let place = image.placement(self.level, self.slice, plane)?;
                self.store(&memory, &place, info, &take_plane(texels, plane, planes))
            });
        }
        if conversion == Conversion::None {
            return self.store(&memory, &place, info, texels);
        }
        self.store_masked(&memory, &place, info, &conversion.to_words(texels), conversion.mask())
    }

    /// The texels as the image holds them, planes side by side.
    fn load_words(&self, memory: &Access<'_>, image: &Image) -> Result<Vec<u8>, Error> {
        let (info, planes) = (image.stored().texel.info(), image.stored().planes());
        let load = |plane| self.load(memory, &image.placement(self.level, self.slice, plane)?, info);
        if planes == 1 {
            return load(0);
        }
        let planes = (0..planes).map(load).collect::<Result<Vec<_>, Error>>()?;
        Ok(join_planes(&planes))
    }

    /// Stores what blocks decode to, where it is inside of the level.
    fn write_decoded(&self, memory: &Access<'_>, image: &Image, blocks: &[u8]) -> Result<(), Error> {
        let Storage::Blocks(format) = image.stored().storage else { return Ok(()) };
        let edge = image.row().block();
        let (place, info) = (image.placement(self.level, self.slice, 0)?, image.stored().texel.info());
        let Rect { x, y, width, height } = self.rect;
        let clipped = |first: u32, count: u32, end: u32| (count * edge).min(end.saturating_sub(first * edge));
        let (right, lower) = (clipped(x, width, place.width()), clipped(y, height, place.height()));
        let (columns, bytes) = (width as usize, format.texel_bytes());
        let row = right as usize * bytes;
        let mut texels = vec![0; row * lower as usize];
        for (index, block) in blocks.chunks_exact(format.bytes() as usize).enumerate() {
            let (x, y) = (index % columns * edge as usize, index / columns * edge as usize);
            format.decode(block, |dx, dy, texel| {
                if x + dx < right as usize && y + dy < lower as usize {
                    let at = (y + dy) * row + (x + dx) * bytes;
                    texels[at..at + bytes].copy_from_slice(texel);
                }
            });
        }
        let rect = Rect { x: x * edge, y: y * edge, width: right, height: lower };
        Part { rect, ..*self }.store(memory, &place, info, &texels)
    }

    /// Replaces the bits of `mask` in every word.
    fn store_masked(
        &self,
        memory: &Access<'_>,
        place: &Placement,
        info: &FormatInfo,
        words: &[u8],
        mask: u32,
    ) -> Result<(), Error> {
        if mask == u32::MAX {
            return self.store(memory, place, info, words);
        }
        let mut old = self.load(memory, place, info)?;
        merge(&mut old, words, mask);
        self.store(memory, place, info, &old)
    }

    /// Gives all texels one value.
    pub fn fill(&self, image: &Image, fill: &Fill) -> Result<(), Error> {
        let cause = Cause::Clear;
        let memory = image.binding()?.bo.access(cause)?;
        let words: Vec<u8> = fill.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let (info, planes) = (image.stored().texel.info(), image.stored().planes());
        for plane in 0..planes {
            let place = image.placement(self.level, self.slice, plane)?;
            let cpp = match place {
                Placement::Level(level) => level.cpp,
                Placement::Blocks { .. } => info.cpp,
            };
            let texel = &words[WORD * usize::from(plane)..][..cpp as usize];
            for band in bands(self.rect.height) {
                let part = self.rows(band.start, band.len() as u32);
                part.store_masked(&memory, &place, info, &texel.repeat(part.texels(&place)), fill.mask)?;
            }
        }
        Ok(())
    }
}

/// Rows that are moved at a time: what stays in the cache on the way, and whole rows of tiles of any texel.
const BAND_ROWS: u32 = 64;

/// The rows of a part in bands.
pub(super) fn bands(rows: u32) -> impl Iterator<Item = Range<u32>> {
    (0..rows).step_by(BAND_ROWS as usize).map(move |first| first..rows.min(first + BAND_ROWS))
}

/// Words of multisampled memory as texels: they are as the tile holds them, RGB565 in 32 bits (v3d.md §10.6).
fn from_tile(info: &FormatInfo, words: Vec<u8>) -> Vec<u8> {
    let Some(format @ TileFormat::Bgr565) = info.tile else { return words };
    let texel = |word: &[u8]| {
        let word = word.first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
        (texel_of_tile_word(format, word) as u16).to_le_bytes()
    };
    words.chunks_exact(4).flat_map(texel).collect()
}

/// The inverse of [`from_tile`].
fn to_tile(info: &FormatInfo, texels: &[u8]) -> Vec<u8> {
    let Some(format @ TileFormat::Bgr565) = info.tile else { return texels.to_vec() };
    let word = |texel: &[u8]| {
        let texel = texel.first_chunk().map_or(0, |texel| u16::from_le_bytes(*texel));
        tile_word(format, texel.into()).to_le_bytes()
    };
    texels.chunks_exact(2).flat_map(word).collect()
}

/// The words of texels that lie in one of their planes.
fn take_plane(texels: &[u8], plane: u8, planes: u8) -> Vec<u8> {
    let texels = texels.chunks_exact(WORD * usize::from(planes));
    texels.flat_map(|texel| &texel[WORD * usize::from(plane)..][..WORD]).copied().collect()
}

/// The inverse of [`take_plane`] for all planes.
fn join_planes(planes: &[Vec<u8>]) -> Vec<u8> {
    let words = planes.first().map_or(0, Vec::len) / WORD;
    (0..words)
        .flat_map(|n| planes.iter().flat_map(move |plane| &plane[WORD * n..][..WORD]))
        .copied()
        .collect()
}

fn wrong(error: CopyError) -> Error {
    Error::InvalidUse(error.to_string())
}

/// Replaces the bits of `mask` in every word.
fn merge(words: &mut [u8], with: &[u8], mask: u32) {
    for (word, with) in words.chunks_exact_mut(4).zip(with.chunks_exact(4)) {
        let (Some(old), Some(new)) = (word.first_chunk::<4>(), with.first_chunk::<4>()) else { continue };
        let merged = u32::from_le_bytes(*old) & !mask | u32::from_le_bytes(*new) & mask;
        word.copy_from_slice(&merged.to_le_bytes());
    }
}

/// Layers of an image that a subresource names.
pub(super) fn layers(image: &Image, base: u32, count: u32) -> Range<u32> {
    let rest = image.layers().saturating_sub(base);
    base..base + if count == vk::REMAINING_ARRAY_LAYERS { rest } else { count.min(rest) }
}

/// Slices of a region: of 3D images those that offset and extent name, of others the subresource's layers.
pub(super) fn slices(
    image: &Image,
    subresource: &vk::ImageSubresourceLayers,
    z: i32,
    depth: u32,
) -> Result<Range<u32>, Error> {
    if !image.is_volume() {
        return Ok(layers(image, subresource.base_array_layer, subresource.layer_count));
    }
    let wrong = || Error::InvalidUse(format!("{depth} slices from {z} of an image of {:?}", image.extent()));
    let first = u32::try_from(z).map_err(|_| wrong())?;
    let end = first.checked_add(depth).ok_or_else(wrong)?;
    // Of levels that are not there nobody has slices.
    if subresource.mip_level >= image.levels() || end > image.slices(subresource.mip_level) {
        return Err(wrong());
    }
    Ok(first..end)
}

/// The aspects of a mask, one by one.
pub(super) fn each(aspects: vk::ImageAspectFlags) -> impl Iterator<Item = vk::ImageAspectFlags> {
    let all = [vk::ImageAspectFlags::COLOR, vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL];
    all.into_iter().filter(move |aspect| aspects.contains(*aspect))
}
