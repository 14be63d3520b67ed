//! Copies from buffers to images that the QPUs draw: the words of an image are the picture, and a program looks up the bytes
//! that become theirs.

use std::sync::Arc;

use super::blocks::{BlockWords, decode};
use super::conversion::Conversion;
use super::drawn::{Bytes, Filled, covered, gathered};
use super::pieces::Piece;
use super::programs::{Filling, Gather};
use super::strips::WORD;
use super::worth::pays;
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
    let jobs = |plane| plane_of(piece, plane, buffer, image, rectangles);
    let jobs: Vec<_> = (0..image.stored().planes()).map(jobs).collect::<Result<_, _>>()?;
    Ok(jobs.into_iter().flatten().collect())
}

/// The jobs that fill the words of a plane.
fn plane_of(
    piece: &Piece,
    plane: u8,
    buffer: &Arc<Buffer>,
    image: &Arc<Image>,
    rectangles: &mut Rectangles,
) -> Result<Vec<RenderSegment>, String> {
    let (rect, texel) = (piece.part.rect, piece.texel() as u64);
    let conversion = Conversion::new(image.row(), image.stored().storage, piece.aspect);
    // Where the level's first texel would lie.
    let skipped = u64::from(rect.y).wrapping_mul(piece.pitch).wrapping_add(u64::from(rect.x) * texel);
    let first = (piece.offset + WORD * u64::from(plane)).wrapping_sub(skipped);
    let aligned = first % WORD == 0 && piece.pitch % WORD == 0;
    let whole = |fold| match (conversion, texel) {
        (Conversion::None, _) if image.stored().planes() > 1 => Gather::Word(texel as u32),
        (Conversion::None | Conversion::Depth24 { .. } | Conversion::DepthFloat, _) => {
            Gather::Words { fold, aligned }
        }
        (Conversion::Widened(bytes), _) => Gather::Widened(bytes as u32),
        (Conversion::Depth16 | Conversion::Expanded1555, _) => Gather::Widened(2),
        (Conversion::Stencil, _) => Gather::Widened(1),
    };
    let from = Bytes { buffer, first, pitch: piece.pitch };
    covered(image, &piece.part, plane, rectangles, |rectangle, Filled { fold, limits }, rectangles| {
        let lookup = texel.min(WORD);
        if limits.is_some() && (piece.offset % lookup != 0 || piece.pitch % lookup != 0) {
            return Err("texels begin inside of others".into());
        }
        let what = match limits {
            Some(_) => Gather::Part { fold, bytes: texel as u32 }.into(),
            None => Filling { bytes: whole(fold), form: conversion.into(), stays: !conversion.mask() },
        };
        let rectangle = Rectangle { keeps: rectangle.keeps || what.stays != 0, ..rectangle };
        gathered(rectangle, what, from, limits, rectangles)
    })
}
