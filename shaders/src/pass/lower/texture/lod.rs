//! Levels of detail that the program computes (T-LOD).

use smallvec::smallvec;

use super::image::{Axes, Components, Image, Operands};
use super::{face, level};
use crate::binding::TextureValue;
use crate::ir::{ImageDim, Lod, MAX_TAPS, Op, Stage, Value};
use crate::pass::rewrite::emitter::recip;
use crate::state::TextureFilter;
use vc4::state::texture::MipMode;

/// Below every footprint; keeps the logarithm finite where nothing changes.
const LEAST_FOOTPRINT: f32 = 1e-30;

/// What a pixel covers of an image.
pub struct Footprint {
    /// Derivatives of the coordinates by x.
    pub dx: Axes,
    /// By y.
    pub dy: Axes,
    /// Squared lengths of both along the image, in texels.
    pub squares: [Value; 2],
    /// The samples along the longer one, if there may be several.
    pub parts: Option<Parts>,
}

/// Samples that share a footprint.
#[derive(Clone, Copy)]
pub struct Parts {
    /// How many, an integer from 1 to [`MAX_TAPS`].
    pub count: Value,
    /// One by that.
    pub share: Value,
}

/// The level of detail that the operands ask for, without what the sampler adds.
pub fn level_of_detail(image: &mut Image<'_, '_>, operands: &Operands<'_>) -> Value {
    match footprint(image, operands) {
        Some(footprint) => of_footprint(image, operands, &footprint),
        None if operands.sample.lod == Lod::Explicit => operands.lod[0],
        None => biased(image, operands, None),
    }
}

/// The level of detail of each sample in a footprint.
pub fn of_footprint(image: &mut Image<'_, '_>, operands: &Operands<'_>, footprint: &Footprint) -> Value {
    let lambda = logarithm(image, footprint);
    biased(image, operands, Some(lambda))
}

/// What derivatives say, or 0, with the operand that is added to it.
fn biased(image: &mut Image<'_, '_>, operands: &Operands<'_>, lambda: Option<Value>) -> Value {
    match (lambda, operands.sample.lod) {
        (Some(lambda), Lod::Bias) => image.b.fadd(lambda, operands.lod[0]),
        (None, Lod::Bias) => operands.lod[0],
        (Some(lambda), _) => lambda,
        (None, _) => image.float(0.0),
    }
}

/// Whether a level of detail depends on a footprint: where there are no quads, only gradients make one.
pub fn has_footprint(stage: Stage, lod: Lod) -> bool {
    match lod {
        Lod::Explicit => false,
        Lod::Auto | Lod::Bias => stage == Stage::Fragment,
        Lod::Grad => true,
    }
}

/// The footprint of a sample that has one.
pub fn footprint(image: &mut Image<'_, '_>, operands: &Operands<'_>) -> Option<Footprint> {
    if !has_footprint(image.stage, operands.sample.lod) {
        return None;
    }
    let at = operands.coordinates;
    let (dx, dy): (Axes, Axes) = if operands.sample.lod == Lod::Grad {
        let (dx, dy) = operands.lod.split_at(image.dim.coordinates());
        (dx.iter().copied().collect(), dy.iter().copied().collect())
    } else {
        let mut derivatives = |op| at.iter().map(|&c| image.b.op(op, &[c])).collect();
        (derivatives(Op::Ddx), derivatives(Op::Ddy))
    };
    let squares = [&dx, &dy].map(|d| {
        let d = along_the_image(image, at, d);
        square_in_texels(image, &d)
    });
    let parts = image.key.anisotropic.then(|| parts(image, squares));
    Some(Footprint { dx, dy, squares, parts })
}

/// What a derivative of coordinates is along the image: of directions, on the face that each element's points to,
/// even where its neighbours' point to another.
fn along_the_image(image: &mut Image<'_, '_>, at: &[Value], d: &Axes) -> Axes {
    match image.dim {
        ImageDim::Cube => projected_gradient(image, at, d),
        _ => d.clone(),
    }
}

fn square_in_texels(image: &mut Image<'_, '_>, d: &Axes) -> Value {
    let sizes = level::of(image, None).size;
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
}

/// log2 of the longer axis of a footprint, or of the part of it that one of several samples stands for.
fn logarithm(image: &mut Image<'_, '_>, footprint: &Footprint) -> Value {
    let [x, y] = footprint.squares;
    let mut longer = image.b.fmax(x, y);
    if let Some(Parts { share, .. }) = footprint.parts {
        let square = image.b.fmul(share, share);
        longer = image.b.fmul(longer, square);
    }
    let least = image.float(LEAST_FOOTPRINT);
    let longer = image.b.fmax(longer, least);
    let log = image.b.op(Op::SfuLog2, &[longer]);
    let half = image.float(0.5);
    image.b.fmul(log, half)
}

/// How many samples a footprint takes whose axes have these squared lengths in texels: as many as it is longer than wide,
/// rounded, no more than the sampler allows, and none closer together than texels are.
fn parts(image: &mut Image<'_, '_>, [x, y]: [Value; 2]) -> Parts {
    let one = image.float(1.0);
    let (longer, shorter) = (image.b.fmax(x, y), image.b.fmin(x, y));
    let shorter = image.b.fmax(shorter, one);
    // Estimates of the SFU are enough to count by.
    let inverse = image.b.op(Op::SfuRecip, &[shorter]);
    let square = image.b.fmul(longer, inverse);
    let square = image.b.fmax(square, one);
    let inverse_root = image.b.op(Op::SfuRsqrt, &[square]);
    let half = image.float(0.5);
    let ratio = image.b.fmul(square, inverse_root);
    let most = image.value(TextureValue::Anisotropy);
    let ratio = image.b.fmin(ratio, most);
    let moved = image.b.fadd(ratio, half);
    let count = image.b.op(Op::FToS, &[moved]);
    // Whatever derivatives are, no numbers included, a loop of so many has an end.
    let (least, most) = (image.b.word(1), image.b.word(MAX_TAPS));
    let count = image.b.op(Op::SMax, &[count, least]);
    let count = image.b.op(Op::SMin, &[count, most]);
    let float = image.b.op(Op::SToF, &[count]);
    Parts { count, share: recip(image.b, float) }
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
