//! Images that are longer than textures: strips of them lie beside each other in one, and the texture unit is sent to the strip
//! that a place is in. As strips share a texel with the next one, it filters across their ends.

use smallvec::smallvec;
use vc4::cl::words::Wrap;

use super::image::{Axes, Components, Image, Operands};
use super::level::{Level, Place};
use super::{decode, direct, level, request};
use crate::binding::TextureValue;
use crate::ir::{Lod, Op, Stage, Value};

/// How far from the middle of the first and last texels lookups stay, away from the edge, in texels: where a coordinate is
/// rounded, the filter would see the strip behind the edge. Its weights are coarser than that (textures.md §2).
const MARGIN: f32 = 1.0 / 512.0;

/// A sample that the texture unit filters. There is one level.
pub fn sampled(image: &mut Image<'_, '_>, operands: &Operands<'_>, axis: u8) -> Components {
    let axis = usize::from(axis & 1);
    let level = level::of(image, None);
    let mut from_corner = |of: usize| {
        let at = image.b.fmul(operands.coordinates[of], level.size[of]);
        match operands.offset.get(of) {
            Some(&offset) => {
                let offset = image.b.op(Op::SToF, &[offset]);
                image.b.fadd(at, offset)
            }
            None => at,
        }
    };
    let (along, across) = (from_corner(axis), from_corner(1 - axis));
    let half = image.float(0.5);
    let along = image.b.fsub(along, half);
    let (zero, one) = (image.float(0.0), image.float(1.0));
    let last = image.b.fsub(level.size[axis], one);
    let along = image.clamp(along, zero, last);
    let edge = image.float(0.5 + MARGIN);
    let last = image.b.fsub(level.size[1 - axis], edge);
    let across = image.clamp(across, edge, last);
    let at = in_texture(image, along, across, axis, &level);
    match image.stage {
        Stage::Fragment => request::looked_up(image, &at, false, Lod::Auto, None),
        _ => request::looked_up(image, &at, false, Lod::Explicit, Some(zero)),
    }
}

/// A texel.
pub fn texel(
    image: &mut Image<'_, '_>,
    place: &Place<'_>,
    level: &Level,
    axis: u8,
    wrap: [Wrap; 3],
) -> Components {
    let axis = usize::from(axis & 1);
    let (at, inside) = direct::brought_inside(image, place, level, wrap);
    let half = image.float(0.5);
    let across = image.b.fadd(at[1 - axis], half);
    let at = in_texture(image, at[axis], across, axis, level);
    let texel = request::at_level(image, &at, level);
    match inside {
        Some(inside) => decode::or_border(image, inside, texel),
        None => texel,
    }
}

/// The unit's coordinates of a place in the image, in texels: along the axis that is cut from the middle of the first one, and
/// from the image's edge along the other.
fn in_texture(image: &mut Image<'_, '_>, along: Value, across: Value, axis: usize, level: &Level) -> Axes {
    let (step, strips) = (image.value(TextureValue::FoldStep), image.value(TextureValue::FoldStrips));
    // Next to a cut either strip will do.
    let strip = image.b.fmul(along, strips);
    let strip = direct::whole(image, strip);
    let strip = image.b.op(Op::SToF, &[strip]);
    let skipped = image.b.fmul(strip, step);
    let within = image.b.fsub(along, skipped);
    let half = image.float(0.5);
    let within = image.b.fadd(within, half);
    let in_front = image.b.fmul(strip, level.size[1 - axis]);
    let beside = image.b.fadd(across, in_front);
    let mut at: Axes = smallvec![within, beside];
    if axis == 1 {
        at.swap(0, 1);
    }
    for (c, of) in at.iter_mut().zip(0..) {
        let texel = image.value(TextureValue::FoldTexel(of));
        *c = image.b.fmul(*c, texel);
    }
    at
}
