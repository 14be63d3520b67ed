//! Levels of a view, and places in them.

use super::face::Face;
use super::image::{Axes, Image, value};
use crate::binding::TextureValue;
use crate::ir::{Op, Value};
use crate::pass::rewrite::emitter::recip;

/// A level of the view.
#[derive(Clone)]
pub struct Level {
    /// Its number, a whole float; `None` is the first.
    pub number: Option<Value>,
    /// Texels along each axis, floats.
    pub size: Axes,
    /// Their reciprocals.
    pub inverse: Axes,
}

/// Where a texel is: whole floats along each axis.
pub struct Place<'p> {
    /// Columns, rows and slices; of a face for cubes.
    pub at: &'p [Value],
    /// The face of a cube.
    pub face: Option<&'p Face>,
    /// The layer, a whole float that may lie outside.
    pub layer: Option<Value>,
    /// Whether `at` may lie outside of the level.
    pub outside: bool,
}

/// A level's sizes: max(1, size >> number).
pub fn of(image: &mut Image<'_, '_>, number: Option<Value>) -> Level {
    let number = number.filter(|&number| image.b.shader.const_of(number) != Some(0));
    let shift = number.map(|number| image.b.op(Op::FToS, &[number]));
    let size: Axes = (0..image.dim.axes() as u8)
        .map(|axis| match shift {
            None if axis < 2 => image.value(TextureValue::Size(axis)),
            None => {
                let whole = image.value(TextureValue::Extent(axis));
                image.b.op(Op::SToF, &[whole])
            }
            Some(shift) => {
                let whole = image.value(TextureValue::Extent(axis));
                let shifted = image.b.op(Op::Shr, &[whole, shift]);
                let one = image.b.word(1);
                let shifted = image.b.op(Op::SMax, &[shifted, one]);
                image.b.op(Op::SToF, &[shifted])
            }
        })
        .collect();
    let inverse = size.iter().map(|&size| recip(image.b, size)).collect();
    Level { number, size, inverse }
}

/// The nearest layer: round(layer), brought into the view.
pub fn nearest_layer(image: &mut Image<'_, '_>, layer: Value) -> Value {
    let whole = image.b.op(Op::FRoundEven, &[layer]);
    let count = value(image.b, image.texture, TextureValue::Extent(2));
    let count = image.b.op(Op::SToF, &[count]);
    let (zero, one) = (image.float(0.0), image.float(1.0));
    let last = image.b.fsub(count, one);
    image.clamp(whole, zero, last)
}
