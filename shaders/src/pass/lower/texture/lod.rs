//! Levels of detail that the program computes (T-LOD).

use smallvec::smallvec;

use super::image::{Axes, Components, Image, Operands};
use super::{face, level};
use crate::binding::TextureValue;
use crate::ir::{ImageDim, Lod, Op, Stage, Value};
use crate::pass::rewrite::emitter::recip;
use crate::state::TextureFilter;
use vc4::state::texture::MipMode;

/// Below every footprint; keeps the logarithm finite where nothing changes.
const LEAST_FOOTPRINT: f32 = 1e-30;

/// The level of detail that the operands ask for, without what the sampler adds.
pub fn level_of_detail(image: &mut Image<'_, '_>, operands: &Operands<'_>) -> Value {
    let count = image.dim.coordinates();
    match operands.sample.lod {
        Lod::Explicit => operands.lod[0],
        // Without quads there are no derivatives.
        Lod::Auto | Lod::Bias if image.stage == Stage::Vertex => image.float(0.0),
        Lod::Auto | Lod::Bias => {
            let at = operands.coordinates;
            let dx: Axes = at.iter().map(|&c| image.b.op(Op::Ddx, &[c])).collect();
            let dy: Axes = at.iter().map(|&c| image.b.op(Op::Ddy, &[c])).collect();
            let (dx, dy) = on_the_image(image, at, &dx, &dy);
            let lambda = logarithm(image, &dx, &dy);
            match operands.lod.first() {
                Some(&bias) => image.b.fadd(lambda, bias),
                None => lambda,
            }
        }
        Lod::Grad => {
            let (dx, dy) = operands.lod.split_at(count);
            let (dx, dy) = on_the_image(image, operands.coordinates, dx, dy);
            logarithm(image, &dx, &dy)
        }
    }
}

/// What the derivatives of coordinates are along the image: of directions, on the face that each element's points to,
/// even where its neighbours' point to another.
fn on_the_image(image: &mut Image<'_, '_>, at: &[Value], dx: &[Value], dy: &[Value]) -> (Axes, Axes) {
    match image.dim {
        ImageDim::Cube => (projected_gradient(image, at, dx), projected_gradient(image, at, dy)),
        _ => (dx.iter().copied().collect(), dy.iter().copied().collect()),
    }
}

/// log2 of the longer of two vectors, in texels.
fn logarithm(image: &mut Image<'_, '_>, dx: &Axes, dy: &Axes) -> Value {
    let sizes = level::of(image, None).size;
    let [x, y] = [dx, dy].map(|d| {
        let mut sum = None;
        for (axis, &d) in d.iter().enumerate() {
            let size = if image.dim == ImageDim::Cube {
                // A face is two units wide.
                let half = image.float(0.5);
                image.b.fmul(sizes[0], half)
            } else {
                sizes[axis]
            };
            let texels = image.b.fmul(d, size);
            let square = image.b.fmul(texels, texels);
            sum = Some(match sum {
                Some(sum) => image.b.fadd(sum, square),
                None => square,
            });
        }
        sum.unwrap_or_else(|| image.float(0.0))
    });
    let longer = image.b.fmax(x, y);
    let least = image.float(LEAST_FOOTPRINT);
    let longer = image.b.fmax(longer, least);
    let log = image.b.op(Op::SfuLog2, &[longer]);
    let half = image.float(0.5);
    image.b.fmul(log, half)
}

/// Derivative of a direction's projection to a cube's face: (d - p·dm)/m, with m the largest component, dm its
/// derivative and p the projection.
fn projected_gradient(image: &mut Image<'_, '_>, direction: &[Value], d: &[Value]) -> Axes {
    let face = face::of(image, direction);
    let magnitude = image.b.fabs(face.major);
    let scale = recip(image.b, magnitude);
    let along = face::by_axis(image, &face, d[0], d[1], d[2]);
    let zero = image.float(0.0);
    let negative = image.b.op(Op::FLt, &[face.major, zero]);
    let opposite = image.b.fneg(along);
    let along = image.b.select(negative, opposite, along);
    let mut out: Axes = smallvec![];
    for (&component, &d) in direction.iter().zip(d) {
        let projected = image.b.fmul(component, scale);
        let part = image.b.fmul(projected, along);
        let difference = image.b.fsub(d, part);
        out.push(image.b.fmul(difference, scale));
    }
    out
}

/// The level of detail with the sampler's bias, within its limits.
pub fn limited(image: &mut Image<'_, '_>, lambda: Value) -> Value {
    let bias = image.value(TextureValue::LodBias);
    let lambda = image.b.fadd(lambda, bias);
    let (low, high) = (image.value(TextureValue::LodMin), image.value(TextureValue::LodMax));
    image.clamp(lambda, low, high)
}

/// OpImageQueryLod: the level that would be accessed, and the level of detail before it is brought into the image.
pub fn query_lod(image: &mut Image<'_, '_>, operands: &Operands<'_>) -> Components {
    let raw = level_of_detail(image, operands);
    let lambda = limited(image, raw);
    let (zero, last) = (image.float(0.0), image.value(TextureValue::LastLevel));
    let level = image.clamp(lambda, zero, last);
    let whole = match image.key.filter {
        TextureFilter::Program { mip: MipMode::Linear, .. } => level,
        _ => {
            let rounding = image.value(TextureValue::MipRounding);
            let moved = image.b.fadd(level, rounding);
            let near = image.b.op(Op::FFloor, &[moved]);
            let fraction = image.b.fsub(moved, near);
            let blend = image.value(TextureValue::MipBlend);
            image.b.fmad(fraction, blend, near)
        }
    };
    smallvec![whole, raw]
}
