//! Single texels of a level, by the texture unit or from memory, and what is made of them directly: fetches.

use smallvec::smallvec;
use vc4::cl::words::Wrap;

use super::image::{Axes, Components, Image};
use super::level::{Level, Place};
use crate::binding::TextureValue;
use crate::ir::{Fetch, ImageDim, Lod, Op, Value};
use crate::state::TextureAccess;

impl Image<'_, '_> {
    /// The components of a texel.
    pub fn texel(&mut self, place: &Place<'_>, level: &Level) -> Components {
        match self.key.access {
            TextureAccess::Unit => self.texel_of_unit(place, level),
            TextureAccess::Direct { bytes, wrap } => self.texel_in_memory(place, level, bytes, wrap),
            TextureAccess::Faces { wrap } => self.texel_of_face(place, level, wrap),
            // No sampler sees samples; a program that samples such an image all the same gets the first one.
            TextureAccess::Samples => {
                let at = [0, 1].map(|axis| self.whole(place.at[axis]));
                let layer = place.layer.map(|layer| self.whole(layer));
                let first = self.b.word(0);
                self.sample_in_memory(at, layer, first)
            }
        }
    }

    /// A texel by its centre (i + ½)/size, which is exact to 2^-22 of the texture (T-FETCH).
    fn texel_of_unit(&mut self, place: &Place<'_>, level: &Level) -> Components {
        let at: Axes = match (self.dim, place.face) {
            (ImageDim::Cube, Some(face)) => {
                let on_face = [0, 1].map(|axis| self.centre(place.at[axis], level, axis));
                self.direction_of(face, on_face, place.outside)
            }
            (ImageDim::D1 | ImageDim::Buffer, _) => {
                smallvec![self.centre(place.at[0], level, 0), self.float(0.5)]
            }
            _ => (0..2).map(|axis| self.centre(place.at[axis], level, axis)).collect(),
        };
        self.looked_up_at_level(&at, level)
    }

    /// A texel of a layer that is a face to the texture unit.
    fn texel_of_face(&mut self, place: &Place<'_>, level: &Level, wrap: [Wrap; 3]) -> Components {
        let (at, inside) = self.brought_inside(place, level, wrap);
        let first = self.value(TextureValue::BaseLayer);
        let number = match place.layer {
            Some(layer) => self.b.fadd(layer, first),
            None => first,
        };
        let face = self.numbered_face(number);
        let on_face = [0, 1].map(|axis| self.centre(at[axis], level, axis));
        let direction = self.direction_of(&face, on_face, false);
        let texel = self.looked_up_at_level(&direction, level);
        match inside {
            Some(inside) => self.or_border(inside, texel),
            None => texel,
        }
    }

    /// (i + ½)/size.
    fn centre(&mut self, texel: Value, level: &Level, axis: usize) -> Value {
        let half = self.float(0.5);
        let middle = self.b.fadd(texel, half);
        self.b.fmul(middle, level.inverse[axis])
    }

    fn looked_up_at_level(&mut self, at: &Axes, level: &Level) -> Components {
        let base = self.value(TextureValue::BaseLevel);
        let number = match level.number {
            Some(number) => self.b.fadd(number, base),
            None => base,
        };
        self.looked_up(at, true, Lod::Explicit, Some(number))
    }

    /// OpImageFetch and reads of storage images, input attachments and texel buffers.
    pub fn fetch(&mut self, fetch: &Fetch, args: &[Value]) -> Components {
        let (at, rest) = args.split_at(fetch.dim.coordinates());
        let (layer, rest) = rest.split_at(usize::from(fetch.arrayed));
        let (level, offset) = (rest[0], &rest[1..]);
        let mut at: Axes = at.iter().copied().collect();
        for (c, &offset) in at.iter_mut().zip(offset) {
            *c = self.b.iadd(*c, offset);
        }
        if fetch.dim == ImageDim::Buffer {
            return self.texel_of_buffer(at[0]);
        }
        if self.key.access == TextureAccess::Samples && fetch.dim == ImageDim::D2 {
            // In place of the level there is a sample.
            return self.sample_in_memory([at[0], at[1]], layer.first().copied(), level);
        }
        let mut whole = |v: Value| self.b.op(Op::SToF, &[v]);
        let at: Axes = at.iter().map(|&c| whole(c)).collect();
        let (layer, number) = (layer.first().map(|&layer| whole(layer)), whole(level));
        let level = self.level(Some(number));
        self.texel(&Place { at: &at, face: None, layer, outside: false }, &level)
    }
}
