//! Samples that the texture unit filters (textures.md §1).

use smallvec::smallvec;

use super::image::{Axes, Components, Image, Operands};
use super::{face, folded, level, lod, request};
use crate::binding::TextureValue;
use crate::ir::{ImageDim, Lod, Op, Stage, Value};
use crate::state::{TextureAccess, TextureFilter};

/// A level of detail that is magnified no more, yet chooses level 0.
const JUST_MINIFIED: f32 = 1.0 / 1024.0;

/// A sample that the texture unit filters.
pub fn sampled(image: &mut Image<'_, '_>, operands: &Operands<'_>) -> Components {
    // Views of other kinds are no folded ones.
    if let (TextureAccess::Folded { axis, .. }, ImageDim::D2) = (image.key.access, image.dim) {
        return folded::sampled(image, operands, axis);
    }
    let at = unit_coordinates(image, operands.coordinates);
    let lod = operands.sample.lod;
    if !operands.offset.is_empty() {
        return sampled_aside(image, operands, &at);
    }
    let native =
        image.key.filter == TextureFilter::Unit && lod != Lod::Grad && image.stage == Stage::Fragment;
    if native {
        return request::looked_up(image, &at, false, lod, operands.lod.first().copied());
    }
    let lambda = lod::level_of_detail(image, operands);
    let lambda = if image.key.filter == TextureFilter::Level {
        let lambda = lod::limited(image, lambda);
        let base = image.value(TextureValue::BaseLevel);
        image.b.fadd(lambda, base)
    } else {
        lambda
    };
    request::looked_up(image, &at, false, Lod::Explicit, Some(lambda))
}

/// A sample moved by texels. How far that is depends on the level, so each of the two levels that the filter may
/// blend is asked for by itself.
fn sampled_aside(image: &mut Image<'_, '_>, operands: &Operands<'_>, at: &Axes) -> Components {
    let lambda = lod::level_of_detail(image, operands);
    let lambda = lod::limited(image, lambda);
    let zero = image.float(0.0);
    let magnified = image.b.op(Op::FLe, &[lambda, zero]);
    let last = image.value(TextureValue::LastLevel);
    let level = image.clamp(lambda, zero, last);
    let rounding = image.value(TextureValue::MipRounding);
    let level = image.b.fadd(level, rounding);
    let near = image.b.op(Op::FFloor, &[level]);
    let fraction = image.b.fsub(level, near);
    let blend = image.value(TextureValue::MipBlend);
    let fraction = image.b.fmul(fraction, blend);
    let one = image.float(1.0);
    let far = image.b.fadd(near, one);
    let far = image.b.fmin(far, last);
    let nearer = moved(image, operands, at, magnified, near);
    if image.key.decode.class.is_integer() {
        // Levels of integers are not blended.
        return nearer;
    }
    let farther = moved(image, operands, at, magnified, far);
    image.lerp(&nearer, &farther, fraction)
}

/// A lookup at one level, moved by its texels.
fn moved(
    image: &mut Image<'_, '_>,
    operands: &Operands<'_>,
    at: &Axes,
    magnified: Value,
    number: Value,
) -> Components {
    let level = level::of(image, Some(number));
    let mut at = at.clone();
    for ((c, &offset), &inverse) in at.iter_mut().zip(operands.offset).zip(&level.inverse) {
        let offset = image.b.op(Op::SToF, &[offset]);
        *c = image.b.fmad(offset, inverse, *c);
    }
    let (zero, just) = (image.float(0.0), image.float(JUST_MINIFIED));
    let least = image.b.select(magnified, zero, just);
    let mut number = image.b.fmax(number, least);
    if image.key.filter == TextureFilter::Level {
        let base = image.value(TextureValue::BaseLevel);
        number = image.b.fadd(number, base);
    }
    request::looked_up(image, &at, false, Lod::Explicit, Some(number))
}

/// S, t and a cube's r as the unit takes them.
fn unit_coordinates(image: &mut Image<'_, '_>, given: &[Value]) -> Axes {
    match image.dim {
        ImageDim::D1 | ImageDim::Buffer => smallvec![given[0], image.float(0.5)],
        ImageDim::D2 | ImageDim::D3 => smallvec![given[0], given[1]],
        ImageDim::Cube => face::projected_to_cube(image, given),
    }
}
