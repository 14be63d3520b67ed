//! Samples of images, moved and filled where they lie: the blocks of a surface are words one behind the other (v3d.md §10.6),
//! so that they are pictures as words of buffers are.

use std::sync::Arc;

use ash::vk;
use vc4::hw::TILE_MS_PX;
use vc4::image::layout::{MSAA_TILE_BYTES, MsaaLayout};
use vc4::image::surface::tile_word;
use vc4::state::PixelRect;
use vc4_shaders::ir::{Builder, Op, Shader, Value};

use super::by_buffer::PartOf;
use super::drawn::set;
use super::fill::Fill;
use super::programs::{self, divided, fragment, is_inside, load, merged, pixel, put_part, shifted};
use super::strips::WORD;
use crate::foundation::facts::target_px;
use crate::objects::buffer::Buffer;
use crate::objects::descriptor::Descriptor;
use crate::objects::image::Image;
use crate::objects::image_view::ImageView;
use crate::objects::placement::Placement;
use crate::pipeline::Rectangles;
use crate::segments::{Rectangle, RenderSegment};

/// Words of a row of the picture.
const ROW_WORDS: u32 = 1 << ROW_BITS;
const ROW_BITS: u32 = 10;
/// Rows of a block, a power of two.
const BLOCK_ROWS: u32 = MSAA_TILE_BYTES / WORD as u32 / ROW_WORDS;
/// Bits of a pixel's place in a block.
const BLOCK_BITS: u32 = TILE_MS_PX.trailing_zeros();

/// Push constants: the word that samples become, or the first byte of the blocks that they come from, …
const VALUE_AT: u32 = 0;
/// … blocks of a row of these, then the pixels that change ([`put_part`]), …
const FROM_TILES_AT: u32 = 4;
/// … the number of the first block, blocks of a row, and about how much of a row a block is, …
const FIRST_AT: u32 = 24;
const TILES_AT: u32 = 28;
const SHARE_AT: u32 = 32;
/// … and how far the pixels are that they come from.
const FURTHER_AT: [u32; 2] = [36, 40];
/// Words of all of them.
const SAMPLE_WORDS: usize = 11;

/// What samples become.
#[derive(Clone, Copy)]
pub(super) enum Becomes<'a> {
    /// Those of a part of another image, or of another layer.
    Moved(PartOf<'a>),
    /// What a clear gives them.
    Filled(&'a Fill),
}

/// The jobs that give the samples of a part what they become, of each word the bits of a mask; or why there are none.
pub(super) fn samples(
    (image, part): PartOf<'_>,
    becomes: Becomes<'_>,
    mask: u32,
    rectangles: &mut Rectangles,
) -> Result<Vec<RenderSegment>, String> {
    let rect = part.rect;
    if rect.width == 0 || rect.height == 0 {
        return Err("it is empty".into());
    }
    let moves = match becomes {
        Becomes::Moved((from, of)) if Arc::ptr_eq(from, image) && of.slice == part.slice => {
            return Err("it reads the layer that it writes".into());
        }
        Becomes::Moved((from, _)) => {
            // Tiles hold the texels of both in the same form.
            let forms = [from, image].map(|image| (image.stored().storage, image.stored().texel.info().tile));
            if forms[0] != forms[1] {
                return Err("tiles hold samples of these formats in two forms".into());
            }
            true
        }
        Becomes::Filled(_) => false,
    };
    let mut jobs = Vec::new();
    for plane in 0..image.stored().planes() {
        let (layout, offset) = blocks(image, part.level, part.slice, plane)?;
        let binding = image.binding().map_err(|error| error.to_string())?;
        let mut push = [0; SAMPLE_WORDS];
        let mut put = |at: u32, word: u32| push[(at / 4) as usize] = word;
        let mut source = None;
        match becomes {
            Becomes::Filled(fill) => {
                let tile = image.stored().texel.info().tile;
                let word = fill.word(plane);
                put(VALUE_AT, tile.map_or(word, |tile| tile_word(tile, word)));
            }
            Becomes::Moved((from, of)) => {
                let (own, offset) = blocks(from, of.level, of.slice, plane)?;
                let binding = from.binding().map_err(|error| error.to_string())?;
                put(VALUE_AT, offset - binding.offset as u32);
                put(FROM_TILES_AT, own.tiles_x);
                put(FURTHER_AT[0], of.rect.x.wrapping_sub(rect.x));
                put(FURTHER_AT[1], of.rect.y.wrapping_sub(rect.y));
                source = Some(Arc::new(Buffer::over(binding.clone(), from.size())));
            }
        }
        put(TILES_AT, layout.tiles_x);
        put(SHARE_AT, (1.0 / layout.tiles_x as f32).to_bits());
        put_part(&mut push, rect);
        let set = source.map(|buffer| {
            let descriptor = Descriptor::Buffer { offset: 0, range: buffer.size(), buffer };
            set(programs::BUFFER, vk::DescriptorType::STORAGE_BUFFER, descriptor)
        });
        let set = set.transpose()?;
        // Rows of blocks that the part reaches, in pictures that a job may have.
        let [top, bottom] = [rect.y / TILE_MS_PX, (rect.y + rect.height).div_ceil(TILE_MS_PX)];
        let (first, end) = (top * layout.tiles_x, bottom * layout.tiles_x);
        let most = target_px() / BLOCK_ROWS;
        for first in (first..end).step_by(most as usize) {
            let height = BLOCK_ROWS * most.min(end - first);
            let start = u64::from(offset) - binding.offset + u64::from(MSAA_TILE_BYTES) * u64::from(first);
            let view = ImageView::of_words(rectangles.device(), &binding.from(start), [ROW_WORDS, height]);
            let view = view.map_err(|error| error.to_string())?;
            let task = ("samples", u32::from(moves) | programs::kind_of(!mask) << 1);
            let pipeline = rectangles.pipeline(task, view.row.format, || program(moves, mask))?;
            push[(FIRST_AT / 4) as usize] = first;
            let area = PixelRect { left: 0, top: 0, right: ROW_WORDS as i32, bottom: height as i32 };
            let rectangle = Rectangle { view, area, keeps: true };
            let sets = |number| Some((set.as_ref().filter(|_| number == 0)?, &[][..]));
            jobs.push(rectangle.segment(&pipeline, sets, &push));
        }
    }
    Ok(jobs)
}

/// The blocks of a layer and where they begin in the BO.
fn blocks(image: &Image, level: u32, slice: u32, plane: u8) -> Result<(MsaaLayout, u32), String> {
    match image.placement(level, slice, plane).map_err(|error| error.to_string())? {
        Placement::Blocks { layout, offset, .. } if layout.panels == 1 => Ok((layout, offset)),
        Placement::Blocks { .. } => Err("its columns lie in panels".into()),
        Placement::Level(_) => Err("it has one sample".into()),
    }
}

/// So many bits of a value from a bit on.
fn field(b: &mut Builder, value: Value, bit: u32, bits: u32) -> Value {
    let (value, mask) = (shifted(b, Op::Shr, value, bit), b.word((1 << bits) - 1));
    b.and(value, mask)
}

/// A value with others in the bits from one on.
fn with(b: &mut Builder, value: Value, high: Value, bit: u32) -> Value {
    let high = shifted(b, Op::Shl, high, bit);
    b.iadd(value, high)
}

/// Gives words of blocks what they become, if it is samples of pixels that change.
fn program(moves: bool, mask: u32) -> Shader {
    fragment(|b| {
        let [x, y] = pixel(b);
        let rows = BLOCK_ROWS.trailing_zeros();
        // In a block pairs of rows follow each other, in these quads, in a quad samples, each with four pixels.
        let (pair, line) = (field(b, x, 8, ROW_BITS - 8), field(b, y, 0, rows));
        let pair = with(b, pair, line, ROW_BITS - 8);
        let (first, block) = (b.op(Op::LoadPush(FIRST_AT), &[]), shifted(b, Op::Shr, y, rows));
        let block = b.iadd(block, first);
        let [tiles, share] = [TILES_AT, SHARE_AT].map(|at| b.op(Op::LoadPush(at), &[]));
        let [tile_x, tile_y] = divided(b, block, tiles, share);
        let place = |b: &mut Builder, low, middle, tile| {
            let place = with(b, low, middle, 1);
            with(b, place, tile, BLOCK_BITS)
        };
        let (quad, right, lower) = (field(b, x, 4, 4), field(b, x, 0, 1), field(b, x, 1, 1));
        let (column, row) = (place(b, right, quad, tile_x), place(b, lower, pair, tile_y));
        let word = match moves {
            false => b.op(Op::LoadPush(VALUE_AT), &[]),
            true => {
                let sample = field(b, x, 2, 2);
                source(b, [column, row], sample)
            }
        };
        let (inside, none) = (is_inside(b, column, row), b.word(0));
        let goes = b.word(mask);
        let goes = b.select(inside, goes, none);
        merged(b, word, goes)
    })
}

/// A sample of the pixel that one comes from.
fn source(b: &mut Builder, place: [Value; 2], sample: Value) -> Value {
    let further = FURTHER_AT.map(|at| b.op(Op::LoadPush(at), &[]));
    let [x, y] = [0, 1].map(|axis| b.iadd(place[axis], further[axis]));
    let [tile_x, tile_y] = [x, y].map(|at| shifted(b, Op::Shr, at, BLOCK_BITS));
    let [base, tiles] = [VALUE_AT, FROM_TILES_AT].map(|at| b.op(Op::LoadPush(at), &[]));
    let above = b.imul(tile_y, tiles);
    let block = b.iadd(above, tile_x);
    let [right, lower] = [x, y].map(|at| field(b, at, 0, 1));
    let [quad, pair] = [x, y].map(|at| field(b, at, 1, BLOCK_BITS - 1));
    let parts = [(right, 2), (lower, 3), (sample, 4), (quad, 6), (pair, 10), (block, 14)];
    let at = parts.into_iter().fold(base, |at, (part, bit)| with(b, at, part, bit));
    load(b, at, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the program takes words from is where they lie.
    #[test]
    fn words_of_blocks_are_those_of_the_layout() {
        let layout = MsaaLayout::new(100, 70, 2048).unwrap();
        assert_eq!((BLOCK_ROWS, 1 << 14), (4, MSAA_TILE_BYTES));
        for (x, y, sample) in [(0, 0, 0), (1, 0, 3), (0, 1, 2), (33, 47, 1), (99, 69, 3), (64, 31, 0)] {
            let block = (y >> BLOCK_BITS) * layout.tiles_x + (x >> BLOCK_BITS);
            let (quad, pair) = (x >> 1 & 15, y >> 1 & 15);
            let parts = [(x & 1, 2), (y & 1, 3), (sample, 4), (quad, 6), (pair, 10), (block, 14)];
            let at: u32 = parts.into_iter().map(|(part, bit)| part << bit).sum();
            assert_eq!(at, layout.offset_of(x, y, sample), "sample {sample} of ({x}, {y})");
            // The same from the picture's pixel.
            let word = at / 4;
            let (column, row) = (word % ROW_WORDS, word / ROW_WORDS);
            let pair = (row % BLOCK_ROWS) << (ROW_BITS - 8) | column >> 8;
            let tile = row / BLOCK_ROWS;
            let found_x = tile % layout.tiles_x * 32 + ((column >> 4 & 15) << 1) + (column & 1);
            let found_y = tile / layout.tiles_x * 32 + (pair << 1) + (column >> 1 & 1);
            assert_eq!((found_x, found_y, column >> 2 & 3), (x, y, sample));
        }
    }
}
