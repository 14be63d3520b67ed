//! Blocks in copies: they are kept as they are, in words, beside the texels that a program decodes them to.

use std::sync::Arc;

use vc4::image::Rect;
use vc4::image::etc2::BLOCK_PX;

use super::drawn::{Bytes, gathered_by};
use super::pieces::Piece;
use super::programs::decoded;
use super::strips::WORD;
use super::words::{Words, image_of_words};
use crate::foundation::format::Storage;
use crate::objects::buffer::Buffer;
use crate::objects::image::Image;
use crate::pipeline::Rectangles;
use crate::segments::{Rectangle, RenderSegment};

/// The blocks of a piece as words of an image of their own.
pub(super) struct BlockWords {
    /// That image.
    pub image: Arc<Image>,
    /// Where the piece lies in it.
    pub piece: Piece,
    /// Words of a block.
    words: u32,
}

impl BlockWords {
    /// Of a piece of an image of blocks, or why jobs do not get to them.
    pub fn new(piece: &Piece, image: &Image) -> Result<BlockWords, String> {
        let none = || format!("no job reaches the blocks of {:?}", image.row().format);
        let level =
            image.block_level(piece.part.level, piece.part.slice).map_err(|error| error.to_string())?;
        let level = level.ok_or_else(none)?;
        let words = image.row().bytes / WORD as u32;
        let image = image_of_words(image, level).ok_or_else(none)?;
        let rect = piece.part.rect;
        let mut piece = *piece;
        (piece.part.level, piece.part.slice) = (0, 0);
        piece.part.rect = Rect { x: rect.x * words, width: rect.width * words, ..rect };
        Ok(BlockWords { image, piece, words })
    }

    /// A part of the piece of words in blocks.
    pub fn in_blocks(&self, part: Piece, whole: &Piece) -> Piece {
        let rect = part.part.rect;
        let rect = Rect { x: rect.x / self.words, width: rect.width / self.words, ..rect };
        whole.within(rect)
    }
}

/// The job that decodes blocks of a buffer to the texels of a piece.
pub(super) fn decode(
    piece: &Piece,
    buffer: &Arc<Buffer>,
    image: &Arc<Image>,
    rectangles: &mut Rectangles,
) -> Result<RenderSegment, String> {
    let Storage::Blocks(format) = image.stored().storage else {
        return Err(format!("{:?} has no blocks", image.row().format));
    };
    let words = Words::new(image, piece.part.level, piece.part.slice, 0)
        .ok_or("tiles do not reach all of the level")?;
    let (width, height) = image.level_extent(piece.part.level);
    let blocks = piece.part.rect;
    // The last blocks reach beyond the level.
    let texels = |first: u32, count: u32, edge: u32| {
        let first = first * BLOCK_PX;
        (first, (count * BLOCK_PX).min(edge.saturating_sub(first)))
    };
    let (columns, rows) = (texels(blocks.x, blocks.width, width), texels(blocks.y, blocks.height, height));
    let rect = Rect { x: columns.0, width: columns.1, y: rows.0, height: rows.1 };
    let (area, keeps) = words.area(rect).ok_or("it ends inside of words")?;
    let skipped = u64::from(blocks.y)
        .wrapping_mul(piece.pitch)
        .wrapping_add(u64::from(blocks.x) * u64::from(format.bytes()));
    gathered_by(
        Rectangle { view: words.view, area, keeps },
        ("decoded", format as u32),
        || decoded(format),
        Bytes { buffer, first: piece.offset.wrapping_sub(skipped), pitch: piece.pitch },
        None,
        rectangles,
    )
}
