//! Faces of cube maps: the largest component of a direction chooses one (+X, -X, +Y, -Y, +Z, -Z), the other two say
//! where on it.

use smallvec::smallvec;

use super::image::{Axes, Image};
use crate::ir::{Op, Value};
use crate::pass::rewrite::emitter::recip;

/// The face that a direction points to.
pub struct Face {
    /// `Bool`: the largest component is x …
    x: Value,
    /// … or else y.
    y: Value,
    /// That component.
    pub major: Value,
}

/// The face of a direction; of equally large components x wins, then y, as in the texture unit.
pub fn of(image: &mut Image<'_, '_>, direction: &[Value]) -> Face {
    let [x, y, z] = [0, 1, 2].map(|n| image.b.fabs(direction[n]));
    let rest = image.b.fmax(y, z);
    let is_x = image.b.op(Op::FLe, &[rest, x]);
    let is_y = image.b.op(Op::FLe, &[z, y]);
    let mut face = Face { x: is_x, y: is_y, major: x };
    face.major = by_axis(image, &face, direction[0], direction[1], direction[2]);
    face
}

/// One of three values by the axis of a face.
pub fn by_axis(image: &mut Image<'_, '_>, face: &Face, x: Value, y: Value, z: Value) -> Value {
    let other = image.b.select(face.y, y, z);
    image.b.select(face.x, x, other)
}

/// 1 or -1, as the face's axis points.
fn sign(image: &mut Image<'_, '_>, face: &Face) -> Value {
    let (zero, one, minus) = (image.float(0.0), image.float(1.0), image.float(-1.0));
    let negative = image.b.op(Op::FLt, &[face.major, zero]);
    image.b.select(negative, minus, one)
}

/// Where on its face a direction points, -1 to 1 along s and t.
pub fn on_face(image: &mut Image<'_, '_>, face: &Face, direction: &[Value]) -> [Value; 2] {
    let sign = sign(image, face);
    let magnitude = image.b.fabs(face.major);
    let scale = recip(image.b, magnitude);
    let [x, y, z]: [Value; 3] = [0, 1, 2].map(|n| image.b.fmul(direction[n], scale));
    let (back, down) = (image.b.fneg(sign), image.b.fneg(y));
    let (side, front) = (image.b.fmul(back, z), image.b.fmul(sign, x));
    let s = by_axis(image, face, side, x, front);
    let up = image.b.fmul(sign, z);
    let t = by_axis(image, face, down, up, down);
    [s, t]
}

/// The direction of a place on a face; s and t beyond it lead around the edge.
pub fn direction(image: &mut Image<'_, '_>, face: &Face, [s, t]: [Value; 2]) -> Axes {
    let sign = sign(image, face);
    let down = image.b.fneg(t);
    let (signed_s, signed_t) = (image.b.fmul(sign, s), image.b.fmul(sign, t));
    let back = image.b.fneg(signed_s);
    let x = by_axis(image, face, sign, s, signed_s);
    let y = by_axis(image, face, down, sign, down);
    let z = by_axis(image, face, back, signed_t, sign);
    smallvec![x, y, z]
}

/// The face of a number, a whole float.
pub fn numbered_face(image: &mut Image<'_, '_>, number: Value) -> Face {
    let [one, two, three, four, five] = [1.0, 2.0, 3.0, 4.0, 5.0].map(|n| image.float(n));
    let is = |image: &mut Image<'_, '_>, n: Value| image.b.op(Op::FEq, &[number, n]);
    let x = image.b.op(Op::FLt, &[number, two]);
    let y = image.b.op(Op::FLt, &[number, four]);
    let odd = [one, three, five].map(|n| is(image, n));
    let negative = image.b.op(Op::BOr, &[odd[0], odd[1]]);
    let negative = image.b.op(Op::BOr, &[negative, odd[2]]);
    let minus = image.float(-1.0);
    Face { x, y, major: image.b.select(negative, minus, one) }
}

/// The face's number as a float.
pub fn face_number(image: &mut Image<'_, '_>, face: &Face) -> Value {
    let (zero, one) = (image.float(0.0), image.float(1.0));
    let [x, y, z] = [0.0, 2.0, 4.0].map(|first| image.float(first));
    let first = by_axis(image, face, x, y, z);
    let negative = image.b.op(Op::FLt, &[face.major, zero]);
    let odd = image.b.select(negative, one, zero);
    image.b.fadd(first, odd)
}

/// A direction divided by its largest component.
pub fn projected_to_cube(image: &mut Image<'_, '_>, direction: &[Value]) -> Axes {
    let magnitudes = [0, 1, 2].map(|n| image.b.fabs(direction[n]));
    let largest = image.b.fmax(magnitudes[0], magnitudes[1]);
    let largest = image.b.fmax(largest, magnitudes[2]);
    let scale = if image.b.relaxed { image.b.op(Op::SfuRecip, &[largest]) } else { recip(image.b, largest) };
    direction.iter().map(|&c| image.b.fmul(c, scale)).collect()
}

/// The direction of a place 0..1 on a face, its largest component 1.
pub fn direction_of(image: &mut Image<'_, '_>, face: &Face, at: [Value; 2], outside: bool) -> Axes {
    let (two, minus) = (image.float(2.0), image.float(-1.0));
    let at = at.map(|c| image.b.fmad(c, two, minus));
    let direction = direction(image, face, at);
    if outside { projected_to_cube(image, &direction) } else { direction }
}
