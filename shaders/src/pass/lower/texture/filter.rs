//! Filters that the program computes from texels, with comparisons where asked (T-SHADOW, T-GATHER, T-SEAMLESS).

use smallvec::{SmallVec, smallvec};
use vc4::cl::packets::CompareFunc;
use vc4::state::texture::MipMode;

use super::face::Face;
use super::image::{Axes, Components, Image, Operands};
use super::level::{Level, Place};
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

impl Image<'_, '_> {
    /// A sample whose texels the program weighs.
    pub fn filtered(&mut self, operands: &Operands<'_>) -> Components {
        let (mag_linear, min_linear, mip, unnormalized) = match self.key.filter {
            TextureFilter::Program { mag_linear, min_linear, mip, unnormalized } => {
                (mag_linear, min_linear, mip, unnormalized)
            }
            // A comparison through a sampler that compares nothing: any result will do.
            TextureFilter::Unit | TextureFilter::Level => (false, false, MipMode::None, false),
        };
        let taps = self.taps(operands, unnormalized, None);
        if mip == MipMode::None && mag_linear == min_linear {
            let level = self.level(None);
            return self.at_level(&taps, &level, mag_linear);
        }
        let lambda = self.level_of_detail(operands);
        let lambda = self.limited(lambda);
        let (zero, last) = (self.float(0.0), self.value(TextureValue::LastLevel));
        let inside = self.clamp(lambda, zero, last);
        match mip {
            MipMode::None => self.minified(&taps, None, [mag_linear, min_linear], lambda),
            MipMode::Nearest => {
                let half = self.float(0.5);
                let number = self.b.fadd(inside, half);
                let number = self.b.op(Op::FFloor, &[number]);
                let number = self.b.fmin(number, last);
                self.minified(&taps, Some(number), [mag_linear, min_linear], lambda)
            }
            MipMode::Linear => {
                let near = self.b.op(Op::FFloor, &[inside]);
                let fraction = self.b.fsub(inside, near);
                let one = self.float(1.0);
                let far = self.b.fadd(near, one);
                let far = self.b.fmin(far, last);
                let [near, far] =
                    [near, far].map(|n| self.minified(&taps, Some(n), [mag_linear, min_linear], lambda));
                self.lerp(&near, &far, fraction)
            }
        }
    }

    /// A level with the filter that the level of detail calls for.
    fn minified(
        &mut self,
        taps: &Taps,
        number: Option<Value>,
        linear: [bool; 2],
        lambda: Value,
    ) -> Components {
        let level = self.level(number);
        let [mag, min] = linear;
        if mag == min {
            return self.at_level(taps, &level, mag);
        }
        let magnified = self.at_level(taps, &level, mag);
        let minified = self.at_level(taps, &level, min);
        let zero = self.float(0.0);
        let near = self.b.op(Op::FLe, &[lambda, zero]);
        magnified.iter().zip(&minified).map(|(&a, &b)| self.b.select(near, a, b)).collect()
    }

    fn taps(&mut self, operands: &Operands<'_>, unnormalized: bool, component: Option<u8>) -> Taps {
        let offset = operands.offset.iter().map(|&o| self.b.op(Op::SToF, &[o])).collect();
        let (at, face) = match self.dim {
            ImageDim::Cube => {
                let face = self.face(operands.coordinates);
                let half = self.float(0.5);
                let on_face = self.on_face(&face, operands.coordinates);
                (on_face.iter().map(|&c| self.b.fmad(c, half, half)).collect(), Some(face))
            }
            _ => (operands.coordinates.iter().copied().collect(), None),
        };
        let layer = operands.layer.map(|layer| self.nearest_layer(layer));
        let reference = operands.reference.map(|reference| match self.key.decode.class {
            // What fixed-point depths are compared with is brought into their range.
            TextureClass::Depth24 => self.b.saturate(reference),
            _ => reference,
        });
        Taps { at, unnormalized, face, layer, offset, reference, component }
    }

    /// Nearest texel or the weighed neighbours of a position on a level.
    fn at_level(&mut self, taps: &Taps, level: &Level, linear: bool) -> Components {
        let (mut low, mut weights) = (Axes::new(), Axes::new());
        for (axis, &c) in taps.at.iter().enumerate() {
            let (texel, weight) = self.texel_and_weight(taps, level, axis, c, linear);
            low.push(texel);
            weights.push(weight);
        }
        if !linear {
            return self.tap(taps, level, &low);
        }
        let one = self.float(1.0);
        let high: Axes = low.iter().map(|&c| self.b.fadd(c, one)).collect();
        let count = 1 << low.len();
        let mut texels: Vec<Components> = Vec::with_capacity(count);
        for corner in 0..count {
            let at: Axes = (0..low.len())
                .map(|axis| if corner >> axis & 1 == 0 { low[axis] } else { high[axis] })
                .collect();
            texels.push(self.tap(taps, level, &at));
            // Neighbours are blended as soon as both are there, so that few stay in registers.
            for axis in 0..low.len() {
                if (corner + 1) % (1 << (axis + 1)) == 0 {
                    let (far, near) = (texels.pop(), texels.pop());
                    if let (Some(far), Some(near)) = (far, near) {
                        texels.push(self.lerp(&near, &far, weights[axis]));
                    }
                }
            }
        }
        texels.pop().unwrap_or_default()
    }

    /// The texel below a coordinate and the weight of the one above.
    fn texel_and_weight(
        &mut self,
        taps: &Taps,
        level: &Level,
        axis: usize,
        c: Value,
        linear: bool,
    ) -> (Value, Value) {
        let mut texels = if taps.unnormalized { c } else { self.b.fmul(c, level.size[axis]) };
        if linear {
            let half = self.float(0.5);
            texels = self.b.fsub(texels, half);
        }
        let whole = self.b.op(Op::FFloor, &[texels]);
        let weight = self.b.fsub(texels, whole);
        let whole = match taps.offset.get(axis) {
            Some(&offset) => self.b.fadd(whole, offset),
            None => whole,
        };
        (whole, weight)
    }

    fn tap(&mut self, taps: &Taps, level: &Level, at: &Axes) -> Components {
        let place = Place { at, face: taps.face.as_ref(), layer: taps.layer, outside: true };
        let texel = self.texel(&place, level);
        match (taps.reference, taps.component) {
            (Some(reference), _) => smallvec![self.compared(reference, texel[0])],
            (None, Some(component)) => smallvec![texel[usize::from(component & 3)]],
            (None, None) => texel,
        }
    }

    /// 1.0 where `reference op depth` holds, 0.0 elsewhere.
    fn compared(&mut self, reference: Value, depth: Value) -> Value {
        let (zero, one) = (self.float(0.0), self.float(1.0));
        let (op, a, b) = match self.key.compare.unwrap_or(CompareFunc::Less) {
            CompareFunc::Never => return zero,
            CompareFunc::Always => return one,
            CompareFunc::Less => (Op::FLt, reference, depth),
            CompareFunc::LessOrEqual => (Op::FLe, reference, depth),
            CompareFunc::Greater => (Op::FLt, depth, reference),
            CompareFunc::GreaterOrEqual => (Op::FLe, depth, reference),
            CompareFunc::Equal => (Op::FEq, reference, depth),
            CompareFunc::NotEqual => (Op::FNe, reference, depth),
        };
        let passes = self.b.op(op, &[a, b]);
        self.b.select(passes, one, zero)
    }

    /// The four texels of the view's first level around a position.
    pub fn gather(&mut self, operands: &Operands<'_>, component: u8) -> Components {
        let unnormalized = matches!(self.key.filter, TextureFilter::Program { unnormalized: true, .. });
        let taps = self.taps(operands, unnormalized, Some(component));
        let level = self.level(None);
        let one = self.float(1.0);
        let low: Axes = (0..taps.at.len())
            .map(|axis| self.texel_and_weight(&taps, &level, axis, taps.at[axis], true).0)
            .collect();
        let high: Axes = low.iter().map(|&c| self.b.fadd(c, one)).collect();
        [(0, 1), (1, 1), (1, 0), (0, 0)]
            .into_iter()
            .flat_map(|(x, y)| {
                let at: SmallVec<[Value; 3]> =
                    smallvec![if x == 1 { high[0] } else { low[0] }, if y == 1 { high[1] } else { low[1] }];
                self.tap(&taps, &level, &at)
            })
            .collect()
    }
}
