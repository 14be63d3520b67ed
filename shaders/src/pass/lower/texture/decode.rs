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

impl Image<'_, '_> {
    /// The components of a texel seen through the view's swizzle.
    pub fn decoded(&mut self, words: &[Value]) -> Components {
        let word = words[0];
        let texel: [Value; 4] = match self.key.decode.class {
            TextureClass::Unorm8 => BYTES.map(|byte| self.b.op(Op::UnpackFloat(byte), &[word])),
            TextureClass::Srgb8 => {
                let [red, green, blue, alpha] = BYTES.map(|byte| self.b.op(Op::UnpackFloat(byte), &[word]));
                let mut e = IrEmitter::new(self.b);
                let [red, green, blue] = [red, green, blue].map(|c| srgb::to_linear(&mut e, c));
                [red, green, blue, alpha]
            }
            TextureClass::Depth24 => {
                let eight = self.b.word(8);
                let depth = self.b.op(Op::Shr, &[word, eight]);
                let depth = self.b.op(Op::SToF, &[depth]);
                let unit = self.float(1.0 / vc4::hw::DEPTH_MAX as f32);
                let (zero, one) = (self.float(0.0), self.float(1.0));
                [self.b.fmul(depth, unit), zero, zero, one]
            }
            TextureClass::Stencil8 => {
                let (zero, one) = (self.b.word(0), self.b.word(1));
                [self.b.op(Op::UnpackInt(Unpack::Byte0), &[word]), zero, zero, one]
            }
            TextureClass::Word32 => {
                let (zero, one) = (self.b.word(0), self.float(1.0));
                [word, zero, zero, one]
            }
            TextureClass::Fields(format) => self.fields(&format, words),
            TextureClass::SplitFields(format) => {
                let (low, high) = (self.b.word(0xff), self.b.word(0xff00));
                let sixteen = self.b.word(16);
                let first = self.b.op(Op::And, &[word, low]);
                let second = self.b.op(Op::Shr, &[word, sixteen]);
                let second = self.b.op(Op::And, &[second, high]);
                let joined = self.b.op(Op::Or, &[first, second]);
                self.fields(&format, &[joined])
            }
        };
        self.swizzled(texel)
    }

    fn fields(&mut self, format: &VertexFormat, words: &[Value]) -> [Value; 4] {
        let zero = self.b.word(0);
        // A key whose format has more words than its texels is the driver's mistake, which shows as black.
        emit_fetch(&mut IrEmitter::new(self.b), format, words).unwrap_or([zero; 4])
    }

    fn swizzled(&mut self, texel: [Value; 4]) -> Components {
        let swizzle = self.key.decode.swizzle;
        let component = |swizzle: TextureSwizzle| match swizzle {
            TextureSwizzle::Component(n) => texel[usize::from(n & 3)],
            TextureSwizzle::Zero => self.b.word(0),
            TextureSwizzle::One => self.one(),
        };
        swizzle.into_iter().map(component).collect()
    }

    /// 1, in the kind of number that texels have.
    fn one(&mut self) -> Value {
        if self.key.decode.class.is_integer() { self.b.word(1) } else { self.float(1.0) }
    }

    /// The texel where `inside` holds, the border colour elsewhere, which has the format's components.
    pub fn or_border(&mut self, inside: Value, texel: Components) -> Components {
        let components = self.key.decode.class.components();
        let color = self.value(TextureValue::BorderColor);
        let zero = self.b.word(0);
        let green = if components > 1 { color } else { zero };
        let blue = if components > 2 { color } else { zero };
        let alpha = if components > 3 { self.value(TextureValue::BorderAlpha) } else { self.one() };
        let border = self.swizzled([color, green, blue, alpha]);
        texel.iter().zip(&border).map(|(&texel, &border)| self.b.select(inside, texel, border)).collect()
    }
}
