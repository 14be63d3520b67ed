//! Levels of detail that the program computes (T-LOD).

use smallvec::smallvec;

use super::image::{Axes, Components, Image, Operands};
use crate::binding::TextureValue;
use crate::ir::{ImageDim, Lod, Op, Stage, Value};
use crate::pass::rewrite::emitter::recip;
use crate::state::TextureFilter;
use vc4::state::texture::MipMode;

/// Below every footprint; keeps the logarithm finite where nothing changes.
const LEAST_FOOTPRINT: f32 = 1e-30;

impl Image<'_, '_> {
    /// The level of detail that the operands ask for, without what the sampler adds.
    pub fn level_of_detail(&mut self, operands: &Operands<'_>) -> Value {
        let count = self.dim.coordinates();
        match operands.sample.lod {
            Lod::Explicit => operands.lod[0],
            // Without quads there are no derivatives.
            Lod::Auto | Lod::Bias if self.stage == Stage::Vertex => self.float(0.0),
            Lod::Auto | Lod::Bias => {
                let at = operands.coordinates;
                let dx: Axes = at.iter().map(|&c| self.b.op(Op::Ddx, &[c])).collect();
                let dy: Axes = at.iter().map(|&c| self.b.op(Op::Ddy, &[c])).collect();
                let (dx, dy) = self.on_the_image(at, &dx, &dy);
                let lambda = self.logarithm(&dx, &dy);
                match operands.lod.first() {
                    Some(&bias) => self.b.fadd(lambda, bias),
                    None => lambda,
                }
            }
            Lod::Grad => {
                let (dx, dy) = operands.lod.split_at(count);
                let (dx, dy) = self.on_the_image(operands.coordinates, dx, dy);
                self.logarithm(&dx, &dy)
            }
        }
    }

    /// What the derivatives of coordinates are along the image: of directions, on the face that each element's points to,
    /// even where its neighbours' point to another.
    fn on_the_image(&mut self, at: &[Value], dx: &[Value], dy: &[Value]) -> (Axes, Axes) {
        match self.dim {
            ImageDim::Cube => (self.projected_gradient(at, dx), self.projected_gradient(at, dy)),
            _ => (dx.iter().copied().collect(), dy.iter().copied().collect()),
        }
    }

    /// log2 of the longer of two vectors, in texels.
    fn logarithm(&mut self, dx: &Axes, dy: &Axes) -> Value {
        let sizes = self.level(None).size;
        let [x, y] = [dx, dy].map(|d| {
            let mut sum = None;
            for (axis, &d) in d.iter().enumerate() {
                let size = if self.dim == ImageDim::Cube {
                    // A face is two units wide.
                    let half = self.float(0.5);
                    self.b.fmul(sizes[0], half)
                } else {
                    sizes[axis]
                };
                let texels = self.b.fmul(d, size);
                let square = self.b.fmul(texels, texels);
                sum = Some(match sum {
                    Some(sum) => self.b.fadd(sum, square),
                    None => square,
                });
            }
            sum.unwrap_or_else(|| self.float(0.0))
        });
        let longer = self.b.fmax(x, y);
        let least = self.float(LEAST_FOOTPRINT);
        let longer = self.b.fmax(longer, least);
        let log = self.b.op(Op::SfuLog2, &[longer]);
        let half = self.float(0.5);
        self.b.fmul(log, half)
    }

    /// Derivative of a direction's projection to a cube's face: (d - p·dm)/m, with m the largest component, dm its
    /// derivative and p the projection.
    fn projected_gradient(&mut self, direction: &[Value], d: &[Value]) -> Axes {
        let face = self.face(direction);
        let magnitude = self.b.fabs(face.major);
        let scale = recip(self.b, magnitude);
        let along = self.by_axis(&face, d[0], d[1], d[2]);
        let zero = self.float(0.0);
        let negative = self.b.op(Op::FLt, &[face.major, zero]);
        let opposite = self.b.fneg(along);
        let along = self.b.select(negative, opposite, along);
        let mut out: Axes = smallvec![];
        for (&component, &d) in direction.iter().zip(d) {
            let projected = self.b.fmul(component, scale);
            let part = self.b.fmul(projected, along);
            let difference = self.b.fsub(d, part);
            out.push(self.b.fmul(difference, scale));
        }
        out
    }

    /// The level of detail with the sampler's bias, within its limits.
    pub fn limited(&mut self, lambda: Value) -> Value {
        let bias = self.value(TextureValue::LodBias);
        let lambda = self.b.fadd(lambda, bias);
        let (low, high) = (self.value(TextureValue::LodMin), self.value(TextureValue::LodMax));
        self.clamp(lambda, low, high)
    }

    /// OpImageQueryLod: the level that would be accessed, and the level of detail before it is brought into the image.
    pub fn query_lod(&mut self, operands: &Operands<'_>) -> Components {
        let raw = self.level_of_detail(operands);
        let lambda = self.limited(raw);
        let (zero, last) = (self.float(0.0), self.value(TextureValue::LastLevel));
        let level = self.clamp(lambda, zero, last);
        let whole = match self.key.filter {
            TextureFilter::Program { mip: MipMode::Linear, .. } => level,
            _ => {
                let rounding = self.value(TextureValue::MipRounding);
                let moved = self.b.fadd(level, rounding);
                let near = self.b.op(Op::FFloor, &[moved]);
                let fraction = self.b.fsub(moved, near);
                let blend = self.value(TextureValue::MipBlend);
                self.b.fmad(fraction, blend, near)
            }
        };
        smallvec![whole, raw]
    }
}
