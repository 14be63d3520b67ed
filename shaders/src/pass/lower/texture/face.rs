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

impl Image<'_, '_> {
    /// The face of a direction; of equally large components x wins, then y, as in the texture unit.
    pub fn face(&mut self, direction: &[Value]) -> Face {
        let [x, y, z] = [0, 1, 2].map(|n| self.b.fabs(direction[n]));
        let rest = self.b.fmax(y, z);
        let is_x = self.b.op(Op::FLe, &[rest, x]);
        let is_y = self.b.op(Op::FLe, &[z, y]);
        let mut face = Face { x: is_x, y: is_y, major: x };
        face.major = self.by_axis(&face, direction[0], direction[1], direction[2]);
        face
    }

    /// One of three values by the axis of a face.
    pub fn by_axis(&mut self, face: &Face, x: Value, y: Value, z: Value) -> Value {
        let other = self.b.select(face.y, y, z);
        self.b.select(face.x, x, other)
    }

    /// 1 or -1, as the face's axis points.
    fn sign(&mut self, face: &Face) -> Value {
        let (zero, one, minus) = (self.float(0.0), self.float(1.0), self.float(-1.0));
        let negative = self.b.op(Op::FLt, &[face.major, zero]);
        self.b.select(negative, minus, one)
    }

    /// Where on its face a direction points, -1 to 1 along s and t.
    pub fn on_face(&mut self, face: &Face, direction: &[Value]) -> [Value; 2] {
        let sign = self.sign(face);
        let magnitude = self.b.fabs(face.major);
        let scale = recip(self.b, magnitude);
        let [x, y, z]: [Value; 3] = [0, 1, 2].map(|n| self.b.fmul(direction[n], scale));
        let (back, down) = (self.b.fneg(sign), self.b.fneg(y));
        let (side, front) = (self.b.fmul(back, z), self.b.fmul(sign, x));
        let s = self.by_axis(face, side, x, front);
        let up = self.b.fmul(sign, z);
        let t = self.by_axis(face, down, up, down);
        [s, t]
    }

    /// The direction of a place on a face; s and t beyond it lead around the edge.
    pub fn direction(&mut self, face: &Face, [s, t]: [Value; 2]) -> Axes {
        let sign = self.sign(face);
        let down = self.b.fneg(t);
        let (signed_s, signed_t) = (self.b.fmul(sign, s), self.b.fmul(sign, t));
        let back = self.b.fneg(signed_s);
        let x = self.by_axis(face, sign, s, signed_s);
        let y = self.by_axis(face, down, sign, down);
        let z = self.by_axis(face, back, signed_t, sign);
        smallvec![x, y, z]
    }

    /// The face of a number, a whole float.
    pub fn numbered_face(&mut self, number: Value) -> Face {
        let [one, two, three, four, five] = [1.0, 2.0, 3.0, 4.0, 5.0].map(|n| self.float(n));
        let is = |image: &mut Self, n: Value| image.b.op(Op::FEq, &[number, n]);
        let x = self.b.op(Op::FLt, &[number, two]);
        let y = self.b.op(Op::FLt, &[number, four]);
        let odd = [one, three, five].map(|n| is(self, n));
        let negative = self.b.op(Op::BOr, &[odd[0], odd[1]]);
        let negative = self.b.op(Op::BOr, &[negative, odd[2]]);
        let minus = self.float(-1.0);
        Face { x, y, major: self.b.select(negative, minus, one) }
    }

    /// The face's number as a float.
    pub fn face_number(&mut self, face: &Face) -> Value {
        let (zero, one) = (self.float(0.0), self.float(1.0));
        let [x, y, z] = [0.0, 2.0, 4.0].map(|first| self.float(first));
        let first = self.by_axis(face, x, y, z);
        let negative = self.b.op(Op::FLt, &[face.major, zero]);
        let odd = self.b.select(negative, one, zero);
        self.b.fadd(first, odd)
    }

    /// A direction divided by its largest component.
    pub fn projected_to_cube(&mut self, direction: &[Value]) -> Axes {
        let magnitudes = [0, 1, 2].map(|n| self.b.fabs(direction[n]));
        let largest = self.b.fmax(magnitudes[0], magnitudes[1]);
        let largest = self.b.fmax(largest, magnitudes[2]);
        let scale = if self.b.relaxed { self.b.op(Op::SfuRecip, &[largest]) } else { recip(self.b, largest) };
        direction.iter().map(|&c| self.b.fmul(c, scale)).collect()
    }

    /// The direction of a place 0..1 on a face, its largest component 1.
    pub fn direction_of(&mut self, face: &Face, at: [Value; 2], outside: bool) -> Axes {
        let (two, minus) = (self.float(2.0), self.float(-1.0));
        let at = at.map(|c| self.b.fmad(c, two, minus));
        let direction = self.direction(face, at);
        if outside { self.projected_to_cube(&direction) } else { direction }
    }
}
