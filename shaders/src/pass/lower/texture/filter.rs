//! Filters that the program computes from texels, with comparisons where asked (T-SHADOW, T-GATHER, T-SEAMLESS).

use smallvec::{SmallVec, smallvec};
use vc4::cl::packets::CompareFunc;
use vc4::state::texture::MipMode;

use super::face::Face;
use super::image::{Axes, Components, Image, Operands};
use super::level::{Level, Place};
use super::{face, level, lod, texel};
use crate::binding::TextureValue;
use crate::ir::{ImageDim, Op, Value};
use crate::state::{TextureClass, TextureFilter};

/// What a position on a level is looked at for.
struct Taps {
    /// Coordinates 0..1, or in texels.
    at: Axes,
    /// They count texels.
    unnormalized: bool,
    face: Option<Face>,
    layer: Option<Value>,
    /// Whole floats to add.
    offset: Axes,
    /// Compared with each texel.
    reference: Option<Value>,
    /// Chooses one component of a gather.
    component: Option<u8>,
}

/// A sample whose texels the program weighs.
pub fn filtered(image: &mut Image<'_, '_>, operands: &Operands<'_>) -> Components {
    let (mag_linear, min_linear, mip, unnormalized) = match image.key.filter {
        TextureFilter::Program { mag_linear, min_linear, mip, unnormalized } => {
            (mag_linear, min_linear, mip, unnormalized)
        }
        // A comparison through a sampler that compares nothing: any result will do.
        TextureFilter::Unit | TextureFilter::Level => (false, false, MipMode::None, false),
    };
    let taps = taps(image, operands, unnormalized, None);
    if mip == MipMode::None && mag_linear == min_linear {
        let level = level::of(image, None);
        return at_level(image, &taps, &level, mag_linear);
    }
    let lambda = lod::level_of_detail(image, operands);
    let lambda = lod::limited(image, lambda);
    let (zero, last) = (image.float(0.0), image.value(TextureValue::LastLevel));
    let inside = image.clamp(lambda, zero, last);
    match mip {
        MipMode::None => minified(image, &taps, None, [mag_linear, min_linear], lambda),
        MipMode::Nearest => {
            let half = image.float(0.5);
            let number = image.b.fadd(inside, half);
            let number = image.b.op(Op::FFloor, &[number]);
            let number = image.b.fmin(number, last);
            minified(image, &taps, Some(number), [mag_linear, min_linear], lambda)
        }
        MipMode::Linear => {
            let near = image.b.op(Op::FFloor, &[inside]);
            let fraction = image.b.fsub(inside, near);
            let one = image.float(1.0);
            let far = image.b.fadd(near, one);
            let far = image.b.fmin(far, last);
            let [near, far] =
                [near, far].map(|n| minified(image, &taps, Some(n), [mag_linear, min_linear], lambda));
            image.lerp(&near, &far, fraction)
        }
    }
}

/// A level with the filter that the level of detail calls for.
fn minified(
    image: &mut Image<'_, '_>,
    taps: &Taps,
    number: Option<Value>,
    linear: [bool; 2],
    lambda: Value,
) -> Components {
    let level = level::of(image, number);
    let [mag, min] = linear;
    if mag == min {
        return at_level(image, taps, &level, mag);
    }
    let magnified = at_level(image, taps, &level, mag);
    let minified = at_level(image, taps, &level, min);
    let zero = image.float(0.0);
    let near = image.b.op(Op::FLe, &[lambda, zero]);
    magnified.iter().zip(&minified).map(|(&a, &b)| image.b.select(near, a, b)).collect()
}

fn taps(
    image: &mut Image<'_, '_>,
    operands: &Operands<'_>,
    unnormalized: bool,
    component: Option<u8>,
) -> Taps {
    let offset = operands.offset.iter().map(|&o| image.b.op(Op::SToF, &[o])).collect();
    let (at, face) = match image.dim {
        ImageDim::Cube => {
            let face = face::of(image, operands.coordinates);
            let half = image.float(0.5);
            let on_face = face::on_face(image, &face, operands.coordinates);
            (on_face.iter().map(|&c| image.b.fmad(c, half, half)).collect(), Some(face))
        }
        _ => (operands.coordinates.iter().copied().collect(), None),
    };
    let layer = operands.layer.map(|layer| level::nearest_layer(image, layer));
    let reference = operands.reference.map(|reference| match image.key.decode.class {
        // What fixed-point depths are compared with is brought into their range.
        TextureClass::Depth24 => image.b.saturate(reference),
        _ => reference,
    });
    Taps { at, unnormalized, face, layer, offset, reference, component }
}

/// Nearest texel or the weighed neighbours of a position on a level.
fn at_level(image: &mut Image<'_, '_>, taps: &Taps, level: &Level, linear: bool) -> Components {
    let (mut low, mut weights) = (Axes::new(), Axes::new());
    for (axis, &c) in taps.at.iter().enumerate() {
        let (texel, weight) = texel_and_weight(image, taps, level, axis, c, linear);
        low.push(texel);
        weights.push(weight);
    }
    if !linear {
        return tap(image, taps, level, &low);
    }
    let one = image.float(1.0);
    let high: Axes = low.iter().map(|&c| image.b.fadd(c, one)).collect();
    let count = 1 << low.len();
    let mut texels: Vec<Components> = Vec::with_capacity(count);
    for corner in 0..count {
        let at: Axes =
            (0..low.len()).map(|axis| if corner >> axis & 1 == 0 { low[axis] } else { high[axis] }).collect();
        texels.push(tap(image, taps, level, &at));
        // Neighbours are blended as soon as both are there, so that few stay in registers.
        for axis in 0..low.len() {
            if (corner + 1) % (1 << (axis + 1)) == 0 {
                let (far, near) = (texels.pop(), texels.pop());
                if let (Some(far), Some(near)) = (far, near) {
                    texels.push(image.lerp(&near, &far, weights[axis]));
                }
            }
        }
    }
    texels.pop().unwrap_or_default()
}

/// The texel below a coordinate and the weight of the one above.
fn texel_and_weight(
    image: &mut Image<'_, '_>,
    taps: &Taps,
    level: &Level,
    axis: usize,
    c: Value,
    linear: bool,
) -> (Value, Value) {
    let mut texels = if taps.unnormalized { c } else { image.b.fmul(c, level.size[axis]) };
    if linear {
        let half = image.float(0.5);
        texels = image.b.fsub(texels, half);
    }
    let whole = image.b.op(Op::FFloor, &[texels]);
    let weight = image.b.fsub(texels, whole);
    let whole = match taps.offset.get(axis) {
        Some(&offset) => image.b.fadd(whole, offset),
        None => whole,
    };
    (whole, weight)
}

fn tap(image: &mut Image<'_, '_>, taps: &Taps, level: &Level, at: &Axes) -> Components {
    let place = Place { at, face: taps.face.as_ref(), layer: taps.layer, outside: true };
    let texel = texel::texel(image, &place, level);
    match (taps.reference, taps.component) {
        (Some(reference), _) => smallvec![compared(image, reference, texel[0])],
        (None, Some(component)) => smallvec![texel[usize::from(component & 3)]],
        (None, None) => texel,
    }
}

/// 1.0 where `reference op depth` holds, 0.0 elsewhere.
fn compared(image: &mut Image<'_, '_>, reference: Value, depth: Value) -> Value {
    let (zero, one) = (image.float(0.0), image.float(1.0));
    let (op, a, b) = match image.key.compare.unwrap_or(CompareFunc::Less) {
        CompareFunc::Never => return zero,
        CompareFunc::Always => return one,
        CompareFunc::Less => (Op::FLt, reference, depth),
        CompareFunc::LessOrEqual => (Op::FLe, reference, depth),
        CompareFunc::Greater => (Op::FLt, depth, reference),
        CompareFunc::GreaterOrEqual => (Op::FLe, depth, reference),
        CompareFunc::Equal => (Op::FEq, reference, depth),
        CompareFunc::NotEqual => (Op::FNe, reference, depth),
    };
    let passes = image.b.op(op, &[a, b]);
    image.b.select(passes, one, zero)
}

/// The four texels of the view's first level around a position.
pub fn gather(image: &mut Image<'_, '_>, operands: &Operands<'_>, component: u8) -> Components {
    let unnormalized = matches!(image.key.filter, TextureFilter::Program { unnormalized: true, .. });
    let taps = taps(image, operands, unnormalized, Some(component));
    let level = level::of(image, None);
    let one = image.float(1.0);
    let low: Axes = (0..taps.at.len())
        .map(|axis| texel_and_weight(image, &taps, &level, axis, taps.at[axis], true).0)
        .collect();
    let high: Axes = low.iter().map(|&c| image.b.fadd(c, one)).collect();
    [(0, 1), (1, 1), (1, 0), (0, 0)]
        .into_iter()
        .flat_map(|(x, y)| {
            let at: SmallVec<[Value; 3]> =
                smallvec![if x == 1 { high[0] } else { low[0] }, if y == 1 { high[1] } else { low[1] }];
            tap(image, &taps, &level, &at)
        })
        .collect()
}
