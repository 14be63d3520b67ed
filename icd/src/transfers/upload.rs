//! Copies from buffers to images that the QPUs draw: the words of an image are the picture, and a program looks up the bytes
//! that become theirs.

use std::sync::Arc;

use super::blocks::{BlockWords, decode};
use super::conversion::Conversion;
use super::drawn::{Bytes, covered, gathered, pays};
use super::pieces::Piece;
use super::programs::{Filling, Gather};
use super::strips::WORD;
use super::words::Words;
use crate::objects::buffer::Buffer;
use crate::objects::image::Image;
use crate::pipeline::Rectangles;
use crate::segments::{Rectangle, RenderSegment};

/// The jobs that fill a piece of an image with a buffer's bytes, or why there are none.
pub(super) fn upload(
    piece: &Piece,
    buffer: &Arc<Buffer>,
    image: &Arc<Image>,
    rectangles: &mut Rectangles,
) -> Result<Vec<RenderSegment>, String> {
    pays(piece.row as u64 * u64::from(piece.part.rect.height))?;
    if piece.is_empty() {
        return Err("it is empty".into());
    }
    if image.row().block() > 1 {
        let blocks = BlockWords::new(piece, image)?;
        let mut jobs = upload(&blocks.piece, buffer, &blocks.image, rectangles)?;
        jobs.push(decode(piece, buffer, image, rectangles)?);
        return Ok(jobs);
    }
    let last_row = piece.pitch.saturating_mul(u64::from(piece.part.rect.height - 1));
    let end = piece.offset.saturating_add(last_row).saturating_add(piece.row as u64);
    // Lookups take whole words.
    if end.checked_next_multiple_of(WORD).is_none_or(|end| end > buffer.size()) {
        return Err("it ends where the buffer does, inside of a word".into());
    }
    let job = |plane| {
        let words = Words::new(image, piece.part.level, piece.part.slice, plane);
        let words = words.ok_or("tiles do not reach all of the level")?;
        plane_of(piece, plane, &words, buffer, image, rectangles)
    };
    (0..image.stored().planes()).map(job).collect()
}

/// The job that fills the words of a plane.
fn plane_of(
    piece: &Piece,
    plane: u8,
    words: &Words,
    buffer: &Arc<Buffer>,
    image: &Arc<Image>,
    rectangles: &mut Rectangles,
) -> Result<RenderSegment, String> {
    let (rect, texel) = (piece.part.rect, piece.texel() as u64);
    let conversion = Conversion::new(image.row(), image.stored().storage, piece.aspect);
    // Where the level's first texel would lie.
    let skipped = u64::from(rect.y).wrapping_mul(piece.pitch).wrapping_add(u64::from(rect.x) * texel);
    let first = (piece.offset + WORD * u64::from(plane)).wrapping_sub(skipped);
    let (fold, aligned) = (words.fold, first % WORD == 0 && piece.pitch % WORD == 0);
    let bytes = match (conversion, texel) {
        (Conversion::None, _) if image.stored().planes() > 1 => Gather::Word(texel as u32),
        (Conversion::None | Conversion::Depth24 { .. } | Conversion::DepthFloat, _) => {
            Gather::Words { fold, aligned }
        }
        (Conversion::Widened(bytes), _) => Gather::Widened(bytes as u32),
        (Conversion::Depth16 | Conversion::Expanded1555, _) => Gather::Widened(2),
        (Conversion::Stencil, _) => Gather::Widened(1),
    };
    let whole = Filling { bytes, form: conversion.into(), stays: !conversion.mask() };
    let from = Bytes { buffer, first, pitch: piece.pitch };
    covered(words, rect, |rectangle, texels, is_part| {
        if is_part && (piece.offset % texel != 0 || piece.pitch % texel != 0) {
            return Err("texels begin inside of others".into());
        }
        let what = if is_part { Gather::Part { fold, bytes: texel as u32 }.into() } else { whole };
        let rectangle = Rectangle { keeps: rectangle.keeps || what.stays != 0, ..rectangle };
        gathered(rectangle, what, from, is_part.then_some(texels), rectangles)
    })
}
