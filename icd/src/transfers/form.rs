//! How programs change the form of texels: what [`Conversion`] does on the CPU, bit by bit.

use vc4::hw::DEPTH_MAX;
use vc4_shaders::ir::{Builder, Op, Value};

use super::conversion::Conversion;

/// The form in which words of an image hold texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As they are, or at their lower ends.
    Bits,
    /// A 24-bit depth in the upper three bytes.
    Depth24,
    /// The same of 16 bits.
    Depth16,
    /// The same of a float.
    DepthFloat,
    /// The lowest byte.
    Stencil,
    /// A1R5G5B5 as bytes R, G, B, A.
    Expanded1555,
}

impl From<Conversion> for Form {
    fn from(conversion: Conversion) -> Form {
        match conversion {
            Conversion::None | Conversion::Widened(_) => Form::Bits,
            Conversion::Expanded1555 => Form::Expanded1555,
            Conversion::Depth16 => Form::Depth16,
            Conversion::Depth24 { .. } => Form::Depth24,
            Conversion::DepthFloat => Form::DepthFloat,
            Conversion::Stencil => Form::Stencil,
        }
    }
}

impl Form {
    /// The word of a texel, which has no bits beside its own.
    pub fn word(self, b: &mut Builder, texel: Value) -> Value {
        let depth = match self {
            Form::Bits | Form::Stencil => return texel,
            Form::Expanded1555 => return expanded_1555(b, texel),
            Form::Depth24 => texel,
            Form::Depth16 => depth_of_16(b, texel),
            Form::DepthFloat => depth_of_float(b, texel),
        };
        shift(b, Op::Shl, depth, 8)
    }

    /// The texel of a word.
    pub fn texel(self, b: &mut Builder, word: Value) -> Value {
        match self {
            Form::Bits => word,
            Form::Expanded1555 => reduced_1555(b, word),
            Form::Stencil => {
                let byte = b.word(0xff);
                b.and(word, byte)
            }
            Form::Depth24 => shift(b, Op::Shr, word, 8),
            Form::Depth16 => {
                let depth = shift(b, Op::Shr, word, 8);
                depth_as_16(b, depth)
            }
            Form::DepthFloat => {
                let depth = shift(b, Op::Shr, word, 8);
                depth_as_float(b, depth)
            }
        }
    }
}

fn shift(b: &mut Builder, op: Op, value: Value, bits: u32) -> Value {
    let bits = b.word(bits);
    b.op(op, &[value, bits])
}

/// v / 65535 in steps of 1 / (2^24 - 1), to nearest.
fn depth_of_16(b: &mut Builder, depth: Value) -> Value {
    // 256 of the steps, and 255 / 65535 of the value to nearest; n / 65535 is (n + n / 65536 + 1) / 65536.
    let [part, half, one] = [0xff, 0x7fff, 1].map(|word| b.word(word));
    let product = b.imul(depth, part);
    let number = b.iadd(product, half);
    let carry = shift(b, Op::Shr, number, 16);
    let number = b.iadd(number, carry);
    let number = b.iadd(number, one);
    let (rest, whole) = (shift(b, Op::Shr, number, 16), shift(b, Op::Shl, depth, 8));
    b.iadd(whole, rest)
}

/// The inverse, to nearest.
fn depth_as_16(b: &mut Builder, depth: Value) -> Value {
    // A float's quotient is one too small where it should be whole, and the rest tells which way to round.
    let (float, scale) = (b.stof(depth), b.float((f64::from(0xffff) / f64::from(DEPTH_MAX)) as f32));
    let quotient = b.op(Op::FMul, &[float, scale]);
    let low = b.op(Op::FToS, &[quotient]);
    let [steps, max, half, one] = [0xffff, DEPTH_MAX, DEPTH_MAX / 2, 1].map(|word| b.word(word));
    let (all, taken) = (b.imul(depth, steps), b.imul(low, max));
    let rest = b.op(Op::ISub, &[all, taken]);
    let is_above = b.op(Op::SLt, &[half, rest]);
    let high = b.iadd(low, one);
    b.select(is_above, high, low)
}

fn depth_of_float(b: &mut Builder, depth: Value) -> Value {
    let [zero, one] = [0.0, 1.0].map(|float| b.float(float));
    // No number is no depth.
    let is_depth = b.op(Op::FLt, &[zero, depth]);
    let depth = b.select(is_depth, depth, zero);
    let depth = b.op(Op::FMin, &[depth, one]);
    // v * (2^24 - 1) is v * 2^24 less v, which decides only on the way that is rounded.
    let scale = b.float((1 << 24) as f32);
    let scaled = b.op(Op::FMul, &[depth, scale]);
    let whole = b.op(Op::FToS, &[scaled]);
    let float = b.stof(whole);
    let part = b.op(Op::FSub, &[scaled, float]);
    let half = b.float(0.5);
    let (above, below) = (b.op(Op::FSub, &[part, half]), b.fadd(part, half));
    let (up, down) = (b.op(Op::FLe, &[depth, above]), b.op(Op::FLt, &[below, depth]));
    let (step, none) = (b.word(1), b.word(0));
    let (up, down) = (b.select(up, step, none), b.select(down, step, none));
    let nearest = b.iadd(whole, up);
    b.op(Op::ISub, &[nearest, down])
}

fn depth_as_float(b: &mut Builder, depth: Value) -> Value {
    // v / (2^24 - 1) is v / 2^24 and a little more than half of the float's last step.
    let (float, scale) = (b.stof(depth), b.float(1.0 / (1 << 24) as f32));
    let below = b.op(Op::FMul, &[float, scale]);
    let (zero, one) = (b.word(0), b.word(1));
    let nearest = b.iadd(below, one);
    let is_zero = b.op(Op::IEq, &[depth, zero]);
    b.select(is_zero, zero, nearest)
}

/// Where fields of A1R5G5B5 begin, and their bytes.
const FIELDS_1555: [[u32; 2]; 3] = [[10, 0], [5, 8], [0, 16]];

/// Bits repeat below themselves, as the texture unit's expansion does.
fn expanded_1555(b: &mut Builder, texel: Value) -> Value {
    let [alpha, opaque, none] = [1 << 15, 0xff00_0000, 0].map(|word| b.word(word));
    let alpha = b.and(texel, alpha);
    let transparent = b.op(Op::IEq, &[alpha, none]);
    let alpha = b.select(transparent, none, opaque);
    FIELDS_1555.into_iter().fold(alpha, |word, [field, byte]| {
        let (five, upper) = (b.word(31), shift(b, Op::Shr, texel, field));
        let five = b.and(upper, five);
        let (high, low) = (shift(b, Op::Shl, five, byte + 3), shift(b, Op::Shr, five, 2));
        let low = shift(b, Op::Shl, low, byte);
        let eight = b.op(Op::Or, &[high, low]);
        b.op(Op::Or, &[word, eight])
    })
}

/// To nearest; what was expanded comes back.
fn reduced_1555(b: &mut Builder, word: Value) -> Value {
    let alpha = shift(b, Op::Shr, word, 31);
    let alpha = shift(b, Op::Shl, alpha, 15);
    FIELDS_1555.into_iter().fold(alpha, |texel, [field, byte]| {
        let [mask, steps, half, one] = [0xff, 31, 127, 1].map(|word| b.word(word));
        let eight = shift(b, Op::Shr, word, byte);
        let eight = b.and(eight, mask);
        let product = b.imul(eight, steps);
        let number = b.iadd(product, half);
        // n / 255 is (n + n / 256 + 1) / 256.
        let carry = shift(b, Op::Shr, number, 8);
        let number = b.iadd(number, carry);
        let number = b.iadd(number, one);
        let five = shift(b, Op::Shr, number, 8);
        let five = shift(b, Op::Shl, five, field);
        b.op(Op::Or, &[texel, five])
    })
}

#[cfg(test)]
mod tests {
    use vc4_shaders::ir::{Shader, Stage};

    use super::*;

    /// What a program makes of a word: with constants it is done when it is built.
    fn result(word: u32, program: impl Fn(&mut Builder, Value) -> Value) -> u32 {
        let mut shader = Shader::new(Stage::Fragment);
        let entry = shader.entry().unwrap();
        let b = &mut Builder::new(&mut shader, entry);
        let word = b.word(word);
        let value = program(b, word);
        shader.const_of(value).expect("computed from a constant")
    }

    /// A texel of up to four bytes as a word.
    fn word(bytes: &[u8]) -> u32 {
        bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
    }

    fn reads(stored: u32, conversion: Conversion) {
        let texel = word(&conversion.to_texels(stored.to_le_bytes().to_vec()));
        let made = result(stored, |b, word| Form::from(conversion).texel(b, word));
        assert_eq!(made, texel, "{conversion:?} of {stored:#x}");
    }

    fn fills(texel: u32, conversion: Conversion, bytes: usize) {
        let stored = word(&conversion.to_words(&texel.to_le_bytes()[..bytes]));
        let made = result(texel, |b, word| Form::from(conversion).word(b, word));
        assert_eq!(made, stored, "{conversion:?} of {texel:#x}");
    }

    #[test]
    fn depths_become_words_and_texels_as_on_the_cpu() {
        let ends = [0, 1, 2, 0x7f_ffff, 0x80_0000, 0x80_0001, 0xff_fffe, 0xff_ffff];
        for depth in ends.into_iter().chain((0..1 << 24).step_by(4099)) {
            let stored: u32 = depth << 8 | depth & 0xff;
            reads(stored, Conversion::Depth24 { stencil: true });
            reads(stored, Conversion::Depth16);
            reads(stored, Conversion::DepthFloat);
            reads(stored, Conversion::Stencil);
        }
        for depth in (0..=0xffff).step_by(7).chain([0xffff, 0x8000, 0x7fff]) {
            fills(depth, Conversion::Depth16, 2);
            fills(depth * 0x101, Conversion::Depth24 { stencil: false }, 4);
        }
        let floats = [0.0f32, 0.5, 1.0, 1.5, -1.0, f32::NAN, f32::INFINITY, 0.25, 1e-30];
        let some = (0..1.0f32.to_bits()).step_by(70_001).chain(floats.map(f32::to_bits));
        some.for_each(|depth| fills(depth, Conversion::DepthFloat, 4));
    }

    #[test]
    fn texels_of_1555_become_bytes_and_texels_as_on_the_cpu() {
        for texel in (0..=0xffff).step_by(11).chain([0xffff, 0x7fff, 0x8000]) {
            fills(texel, Conversion::Expanded1555, 2);
        }
        for byte in 0..=0xffu32 {
            let other = byte.wrapping_mul(31) & 0xff;
            reads(byte | other << 8 | (0xff - byte) << 16 | byte << 24, Conversion::Expanded1555);
        }
    }
}
