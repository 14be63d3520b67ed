//! Samples that the texture unit filters (textures.md §1).

use smallvec::smallvec;

use super::image::{Axes, Components, Image, Operands};
use crate::binding::TextureValue;
use crate::ir::{ImageDim, Lod, Op, Stage, Value};
use crate::state::TextureFilter;

/// A level of detail that is magnified no more, yet chooses level 0.
const JUST_MINIFIED: f32 = 1.0 / 1024.0;

impl Image<'_, '_> {
    pub fn sampled_by_unit(&mut self, operands: &Operands<'_>) -> Components {
        let at = self.unit_coordinates(operands.coordinates);
        let lod = operands.sample.lod;
        if !operands.offset.is_empty() {
            return self.sampled_aside(operands, &at);
        }
        let native =
            self.key.filter == TextureFilter::Unit && lod != Lod::Grad && self.stage == Stage::Fragment;
        if native {
            return self.looked_up(&at, false, lod, operands.lod.first().copied());
        }
        let lambda = self.level_of_detail(operands);
        let lambda = if self.key.filter == TextureFilter::Level {
            let lambda = self.limited(lambda);
            let base = self.value(TextureValue::BaseLevel);
            self.b.fadd(lambda, base)
        } else {
            lambda
        };
        self.looked_up(&at, false, Lod::Explicit, Some(lambda))
    }

    /// A sample moved by texels. How far that is depends on the level, so each of the two levels that the filter may
    /// blend is asked for by itself.
    fn sampled_aside(&mut self, operands: &Operands<'_>, at: &Axes) -> Components {
        let lambda = self.level_of_detail(operands);
        let lambda = self.limited(lambda);
        let zero = self.float(0.0);
        let magnified = self.b.op(Op::FLe, &[lambda, zero]);
        let last = self.value(TextureValue::LastLevel);
        let level = self.clamp(lambda, zero, last);
        let rounding = self.value(TextureValue::MipRounding);
        let level = self.b.fadd(level, rounding);
        let near = self.b.op(Op::FFloor, &[level]);
        let fraction = self.b.fsub(level, near);
        let blend = self.value(TextureValue::MipBlend);
        let fraction = self.b.fmul(fraction, blend);
        let one = self.float(1.0);
        let far = self.b.fadd(near, one);
        let far = self.b.fmin(far, last);
        let nearer = self.moved(operands, at, magnified, near);
        if self.key.decode.class.is_integer() {
            // Levels of integers are not blended.
            return nearer;
        }
        let farther = self.moved(operands, at, magnified, far);
        self.lerp(&nearer, &farther, fraction)
    }

    /// A lookup at one level, moved by its texels.
    fn moved(&mut self, operands: &Operands<'_>, at: &Axes, magnified: Value, number: Value) -> Components {
        let level = self.level(Some(number));
        let mut at = at.clone();
        for ((c, &offset), &inverse) in at.iter_mut().zip(operands.offset).zip(&level.inverse) {
            let offset = self.b.op(Op::SToF, &[offset]);
            *c = self.b.fmad(offset, inverse, *c);
        }
        let (zero, just) = (self.float(0.0), self.float(JUST_MINIFIED));
        let least = self.b.select(magnified, zero, just);
        let mut number = self.b.fmax(number, least);
        if self.key.filter == TextureFilter::Level {
            let base = self.value(TextureValue::BaseLevel);
            number = self.b.fadd(number, base);
        }
        self.looked_up(&at, false, Lod::Explicit, Some(number))
    }

    /// S, t and a cube's r as the unit takes them.
    fn unit_coordinates(&mut self, given: &[Value]) -> Axes {
        match self.dim {
            ImageDim::D1 | ImageDim::Buffer => smallvec![given[0], self.float(0.5)],
            ImageDim::D2 | ImageDim::D3 => smallvec![given[0], given[1]],
            ImageDim::Cube => self.projected_to_cube(given),
        }
    }
}
