//! Requests to the texture unit.

use smallvec::SmallVec;

use super::decode;
use super::image::{Axes, Components, Image};
use super::level::Level;
use crate::binding::{Lookup, TextureValue};
use crate::ir::{ImageDim, Lod, Op, TmuR, Value};
use crate::state::TextureAccess;

/// The components of a lookup.
pub fn looked_up(
    image: &mut Image<'_, '_>,
    at: &Axes,
    texels: bool,
    lod: Lod,
    argument: Option<Value>,
) -> Components {
    let cube = image.dim == ImageDim::Cube || matches!(image.key.access, TextureAccess::Faces { .. });
    let mut args: SmallVec<[Value; 4]> = SmallVec::from_slice(at);
    for (arg, mirrors) in args.iter_mut().zip(image.key.mirror_once) {
        if mirrors && !cube && image.key.access == TextureAccess::Unit {
            *arg = image.b.fabs(*arg);
        }
    }
    let r = match cube {
        true => TmuR::Cube,
        false if image.key.border => {
            args.push(image.value(TextureValue::Border));
            TmuR::Border
        }
        false => TmuR::None,
    };
    args.extend(argument);
    let lookup = Lookup { texture: image.texture, texels };
    let word = image.b.op(Op::TmuSample { lookup, r, lod }, &args);
    decode::decoded(image, &[word])
}

/// The components of a single texel of a level.
pub fn at_level(image: &mut Image<'_, '_>, at: &Axes, level: &Level) -> Components {
    let base = image.value(TextureValue::BaseLevel);
    let number = match level.number {
        Some(number) => image.b.fadd(number, base),
        None => base,
    };
    looked_up(image, at, true, Lod::Explicit, Some(number))
}
