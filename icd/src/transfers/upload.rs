//! Copies from buffers to images that the QPUs draw: the words of an image are the picture, and a program looks up the bytes
//! that become theirs.

use std::sync::Arc;

use super::blocks::{BlockWords, decode};
use super::conversion::Conversion;
use super::drawn::{Work, gathered, pays, words_of};
use super::pieces::Piece;
use super::programs::{self, Filling, Gather};
use super::words::Words;
use crate::objects::buffer::Buffer;
use crate::objects::image::Image;
use crate::pipeline::Rectangles;
use crate::segments::{Rectangle, RenderSegment};

/// The jobs that fill a piece of an image with a buffer's bytes, and what they leave; or why there are none.
pub(super) fn upload(
    piece: &Piece,
    buffer: &Arc<Buffer>,
    image: &Arc<Image>,
    rectangles: &mut Rectangles,
) -> Result<Work<Piece>, String> {
    pays(piece.row as u64 * u64::from(piece.part.rect.height))?;
    if piece.is_empty() {
        return Err("it is empty".into());
    }
    if image.row().block() > 1 {
        let blocks = BlockWords::new(piece, image)?;
        let mut work = upload(&blocks.piece, buffer, &blocks.image, rectangles)?;
        if !work.rest.is_empty() {
            return Err("it has blocks inside of words".into());
        }
        work.jobs.push(decode(piece, buffer, image, rectangles)?);
        return Ok(Work::all(work.jobs));
    }
    let words = |plane| {
        let words = Words::new(image, piece.part.level, piece.part.slice, plane);
        words.ok_or_else(|| "tiles do not reach all of the level".to_owned())
    };
    let planes: Vec<Words> = (0..image.stored().planes()).map(words).collect::<Result<_, _>>()?;
    let whole = planes[0].whole(piece.part.rect).ok_or("it has no whole words")?;
    let inner = piece.within(whole);
    let end = inner.offset.saturating_add(inner.pitch.saturating_mul(u64::from(whole.height - 1)));
    // Lookups take whole words.
    let end = end.saturating_add(inner.row as u64).checked_next_multiple_of(4);
    if end.is_none_or(|end| end > buffer.size()) {
        return Err("it ends where the buffer does, inside of a word".into());
    }
    let job = |(plane, words): (u64, &Words)| plane_of(&inner, plane, words, buffer, image, rectangles);
    let jobs = (0..).zip(&planes).map(job).collect::<Result<_, _>>()?;
    Ok(Work { jobs, rest: piece.beside(whole).collect() })
}

/// The job that fills whole words of a plane.
fn plane_of(
    piece: &Piece,
    plane: u64,
    words: &Words,
    buffer: &Arc<Buffer>,
    image: &Arc<Image>,
    rectangles: &mut Rectangles,
) -> Result<RenderSegment, String> {
    let (rect, texel) = (piece.part.rect, piece.texel() as u64);
    let (area, keeps) = words.area(rect).ok_or("it ends inside of words")?;
    let conversion = Conversion::new(image.row(), image.stored().storage, piece.aspect);
    let aligned = piece.offset % 4 == 0 && piece.pitch % 4 == 0;
    let bytes = match (conversion, texel) {
        (Conversion::None, _) if image.stored().planes() > 1 => Gather::Word(texel as u32),
        (Conversion::None | Conversion::Depth24 { .. } | Conversion::DepthFloat, _) => {
            Gather::Words { fold: words.fold, aligned }
        }
        (Conversion::Widened(bytes), _) => Gather::Widened(bytes as u32),
        (Conversion::Depth16 | Conversion::Expanded1555, _) => Gather::Widened(2),
        (Conversion::Stencil, _) => Gather::Widened(1),
    };
    let filling = Filling { bytes, form: conversion.into(), stays: !conversion.mask() };
    let before =
        if filling.stays != 0 { Some(words_of(image, &piece.part, programs::BEFORE)?) } else { None };
    // Where the level's first texel would lie.
    let skipped = u64::from(rect.y).wrapping_mul(piece.pitch).wrapping_add(u64::from(rect.x) * texel);
    let first = (piece.offset + 4 * plane).wrapping_sub(skipped);
    gathered(
        Rectangle { view: words.view.clone(), area, keeps },
        filling,
        (buffer, first, piece.pitch),
        before.as_ref(),
        rectangles,
    )
}
