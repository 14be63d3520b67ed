//! Words of texels to components (textures.md §3; T-TEX-KEY).

use vc4::qpu::Unpack;
use vc4::state::vertex_fetch::emit_fetch;
use vc4::state::{VertexFormat, srgb};

use super::image::{Components, Image};
use crate::binding::TextureValue;
use crate::ir::{Op, Value};
use crate::pass::rewrite::emitter::IrEmitter;
use crate::state::{TextureClass, TextureSwizzle};

const BYTES: [Unpack; 4] = [Unpack::Byte0, Unpack::Byte1, Unpack::Byte2, Unpack::Byte3];

/// The components of a texel seen through the view's swizzle.
pub fn decoded(image: &mut Image<'_, '_>, words: &[Value]) -> Components {
    let word = words[0];
    let texel: [Value; 4] = match image.key.decode.class {
        TextureClass::Unorm8 => BYTES.map(|byte| image.b.op(Op::UnpackFloat(byte), &[word])),
        TextureClass::Srgb8 => {
            let [red, green, blue, alpha] = BYTES.map(|byte| image.b.op(Op::UnpackFloat(byte), &[word]));
            let mut e = IrEmitter::new(image.b);
            let [red, green, blue] = [red, green, blue].map(|c| srgb::texel_to_linear(&mut e, c));
            [red, green, blue, alpha]
        }
        TextureClass::Depth24 => {
            let eight = image.b.word(8);
            let depth = image.b.op(Op::Shr, &[word, eight]);
            let depth = image.b.op(Op::SToF, &[depth]);
            let unit = image.float(1.0 / vc4::hw::DEPTH_MAX as f32);
            let (zero, one) = (image.float(0.0), image.float(1.0));
            [image.b.fmul(depth, unit), zero, zero, one]
        }
        TextureClass::Stencil8 => {
            let (zero, one) = (image.b.word(0), image.b.word(1));
            [image.b.op(Op::UnpackInt(Unpack::Byte0), &[word]), zero, zero, one]
        }
        TextureClass::Word32 => {
            let (zero, one) = (image.b.word(0), image.float(1.0));
            [word, zero, zero, one]
        }
        TextureClass::Fields(format) => fields(image, &format, words),
        TextureClass::SplitFields(format) => {
            let (low, high) = (image.b.word(0xff), image.b.word(0xff00));
            let sixteen = image.b.word(16);
            let first = image.b.op(Op::And, &[word, low]);
            let second = image.b.op(Op::Shr, &[word, sixteen]);
            let second = image.b.op(Op::And, &[second, high]);
            let joined = image.b.op(Op::Or, &[first, second]);
            fields(image, &format, &[joined])
        }
    };
    swizzled(image, texel)
}

fn fields(image: &mut Image<'_, '_>, format: &VertexFormat, words: &[Value]) -> [Value; 4] {
    let zero = image.b.word(0);
    // A key whose format has more words than its texels is the driver's mistake, which shows as black.
    emit_fetch(&mut IrEmitter::new(image.b), format, words).unwrap_or([zero; 4])
}

fn swizzled(image: &mut Image<'_, '_>, texel: [Value; 4]) -> Components {
    let swizzle = image.key.decode.swizzle;
    let component = |swizzle: TextureSwizzle| match swizzle {
        TextureSwizzle::Component(n) => texel[usize::from(n & 3)],
        TextureSwizzle::Zero => image.b.word(0),
        TextureSwizzle::One => one(image),
    };
    swizzle.into_iter().map(component).collect()
}

/// 1, in the kind of number that texels have.
fn one(image: &mut Image<'_, '_>) -> Value {
    if image.key.decode.class.is_integer() { image.b.word(1) } else { image.float(1.0) }
}

/// The texel where `inside` holds, the border colour elsewhere, which has the format's components.
pub fn or_border(image: &mut Image<'_, '_>, inside: Value, texel: Components) -> Components {
    let components = image.key.decode.class.components();
    let (zero, one) = (image.b.word(0), one(image));
    let mut border = [zero, zero, zero, one];
    for (value, number) in border.iter_mut().zip(0..).take(components) {
        *value = image.value(TextureValue::BorderColor(number));
    }
    let border = swizzled(image, border);
    texel.iter().zip(&border).map(|(&texel, &border)| image.b.select(inside, texel, border)).collect()
}
