//! Requests to the texture unit.

use smallvec::SmallVec;

use super::image::{Axes, Components, Image};
use crate::binding::{Lookup, TextureValue};
use crate::ir::{ImageDim, Lod, Op, TmuR, Value};
use crate::state::TextureAccess;

impl Image<'_, '_> {
    /// The components of a lookup.
    pub fn looked_up(&mut self, at: &Axes, texels: bool, lod: Lod, argument: Option<Value>) -> Components {
        let cube = self.dim == ImageDim::Cube || matches!(self.key.access, TextureAccess::Faces { .. });
        let mut args: SmallVec<[Value; 4]> = SmallVec::from_slice(at);
        for (arg, mirrors) in args.iter_mut().zip(self.key.mirror_once) {
            if mirrors && !cube {
                *arg = self.b.fabs(*arg);
            }
        }
        let r = match cube {
            true => TmuR::Cube,
            false if self.key.border => {
                args.push(self.value(TextureValue::Border));
                TmuR::Border
            }
            false => TmuR::None,
        };
        args.extend(argument);
        let lookup = Lookup { texture: self.texture, texels };
        let word = self.b.op(Op::TmuSample { lookup, r, lod }, &args);
        self.decoded(&[word])
    }
}
