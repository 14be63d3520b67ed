//! Single texels of a level, by the texture unit or from memory, and what is made of them directly: fetches.

use smallvec::smallvec;
use vc4::cl::words::Wrap;

use super::image::{Axes, Components, Image};
use super::level::{Level, Place};
use super::{decode, direct, face, folded, level, request};
use crate::binding::TextureValue;
use crate::ir::{Fetch, ImageDim, Op, Value};
use crate::state::TextureAccess;

/// The components of a texel.
pub fn texel(image: &mut Image<'_, '_>, place: &Place<'_>, level: &Level) -> Components {
    match image.key.access {
        TextureAccess::Unit => texel_of_unit(image, place, level),
        TextureAccess::Direct { bytes, wrap } => direct::texel_in_memory(image, place, level, bytes, wrap),
        TextureAccess::Faces { wrap } => texel_of_face(image, place, level, wrap),
        TextureAccess::Folded { axis, wrap } if image.dim == ImageDim::D2 => {
            folded::texel(image, place, level, axis, wrap)
        }
        // Views of other kinds are no folded ones.
        TextureAccess::Folded { .. } => texel_of_unit(image, place, level),
        // No sampler sees samples; a program that samples such an image all the same gets the first one.
        TextureAccess::Samples => {
            let at = [0, 1].map(|axis| direct::whole(image, place.at[axis]));
            let layer = place.layer.map(|layer| direct::whole(image, layer));
            let first = image.b.word(0);
            direct::sample_in_memory(image, at, layer, first)
        }
    }
}

/// A texel by its centre (i + ½)/size, which is exact to 2^-22 of the texture (T-FETCH).
fn texel_of_unit(image: &mut Image<'_, '_>, place: &Place<'_>, level: &Level) -> Components {
    let at: Axes = match (image.dim, place.face) {
        (ImageDim::Cube, Some(face)) => {
            let on_face = [0, 1].map(|axis| centre(image, place.at[axis], level, axis));
            face::direction_of(image, face, on_face, place.outside)
        }
        (ImageDim::D1 | ImageDim::Buffer, _) => {
            smallvec![centre(image, place.at[0], level, 0), image.float(0.5)]
        }
        _ => (0..2).map(|axis| centre(image, place.at[axis], level, axis)).collect(),
    };
    request::at_level(image, &at, level)
}

/// A texel of a face, or of a layer that is one to the texture unit.
fn texel_of_face(image: &mut Image<'_, '_>, place: &Place<'_>, level: &Level, wrap: [Wrap; 3]) -> Components {
    let (at, inside) = direct::brought_inside(image, place, level, wrap);
    let on_face = [0, 1].map(|axis| centre(image, at[axis], level, axis));
    let direction = match place.face {
        Some(face) => face::direction_of(image, face, on_face, false),
        None => {
            let first = image.value(TextureValue::BaseLayer);
            let number = match place.layer {
                Some(layer) => image.b.fadd(layer, first),
                None => first,
            };
            let face = face::numbered_face(image, number);
            face::direction_of(image, &face, on_face, false)
        }
    };
    let texel = request::at_level(image, &direction, level);
    match inside {
        Some(inside) => decode::or_border(image, inside, texel),
        None => texel,
    }
}

/// (i + ½)/size.
fn centre(image: &mut Image<'_, '_>, texel: Value, level: &Level, axis: usize) -> Value {
    let half = image.float(0.5);
    let middle = image.b.fadd(texel, half);
    image.b.fmul(middle, level.inverse[axis])
}

/// OpImageFetch and reads of storage images, input attachments and texel buffers.
pub fn fetch(image: &mut Image<'_, '_>, fetch: &Fetch, args: &[Value]) -> Components {
    let (at, rest) = args.split_at(fetch.dim.coordinates());
    let (layer, rest) = rest.split_at(usize::from(fetch.arrayed));
    let (level, offset) = (rest[0], &rest[1..]);
    let mut at: Axes = at.iter().copied().collect();
    for (c, &offset) in at.iter_mut().zip(offset) {
        *c = image.b.iadd(*c, offset);
    }
    if fetch.dim == ImageDim::Buffer {
        return direct::texel_of_buffer(image, at[0]);
    }
    if image.key.access == TextureAccess::Samples && fetch.dim == ImageDim::D2 {
        // In place of the level there is a sample.
        return direct::sample_in_memory(image, [at[0], at[1]], layer.first().copied(), level);
    }
    let mut whole = |v: Value| image.b.op(Op::SToF, &[v]);
    let at: Axes = at.iter().map(|&c| whole(c)).collect();
    let (layer, number) = (layer.first().map(|&layer| whole(layer)), whole(level));
    let level = level::of(image, Some(number));
    texel(image, &Place { at: &at, face: None, layer, outside: false }, &level)
}
