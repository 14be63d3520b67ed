//! Formats of fields in memory, for vertices and for texels that no hardware decodes: their bytes, and the patch that
//! turns their words into four components.
//!
//! The fetch copies bytes; every conversion is the program's (v3d.md §6.1, T-VFMT).

use super::bits::extract;
use super::emitter::Emitter;
use super::error::StateError;
use super::model::Model;
use super::uniforms::StateWords;
use crate::qpu::{AddOp, Unpack};

/// How the bits of a component are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Numeric {
    /// Fraction of the largest number, 0..1.
    Unorm,
    /// Fraction of the largest number, -1..1.
    Snorm,
    /// Unsigned integer as a float.
    Uscaled,
    /// Signed integer as a float.
    Sscaled,
    /// Unsigned integer.
    Uint,
    /// Signed integer.
    Sint,
    /// Float.
    Float,
}

impl Numeric {
    /// Whether components are integers for the program.
    pub fn is_integer(self) -> bool {
        matches!(self, Numeric::Uint | Numeric::Sint)
    }

    fn is_signed(self) -> bool {
        matches!(self, Numeric::Snorm | Numeric::Sscaled | Numeric::Sint)
    }
}

/// Where components lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Packing {
    /// 1 to 4 bytes.
    Bytes(u8),
    /// 1 to 4 halves.
    Halves(u8),
    /// 1 to 4 words.
    Words(u8),
    /// 10, 10, 10 and 2 bits from the lowest bit up.
    Bits10_10_10_2,
    /// 11, 11 and 10 bits from the lowest bit up: floats of five bits of exponent without sign.
    Floats11_11_10,
    /// 9, 9 and 9 bits from the lowest bit up, and 5 bits of exponent for all of them (texels only).
    Floats9_9_9_5,
    /// 5, 6 and 5 bits from bit 15 down (texels only).
    Bits5_6_5,
    /// 5, 5, 5 and 1 bits from bit 15 down (texels only).
    Bits5_5_5_1,
    /// As `Bits5_5_5_1`, the last component in bit 15 and the others below it (texels only).
    Bits1_5_5_5,
    /// Four times 4 bits from bit 15 down (texels only).
    Bits4_4_4_4,
}

/// Format of a vertex attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VertexFormat {
    /// Where components lie.
    pub packing: Packing,
    /// How they are read; words are `Uint`, `Sint` or `Float`, bytes and 10-bit fields never `Float`.
    pub numeric: Numeric,
    /// The first and the third component are exchanged.
    pub swap_rb: bool,
}

impl VertexFormat {
    /// Bytes per vertex.
    pub fn bytes(&self) -> u32 {
        match self.packing {
            Packing::Bytes(count) => u32::from(count),
            Packing::Halves(count) => 2 * u32::from(count),
            Packing::Words(count) => 4 * u32::from(count),
            Packing::Bits10_10_10_2 | Packing::Floats11_11_10 | Packing::Floats9_9_9_5 => 4,
            Packing::Bits5_6_5 | Packing::Bits5_5_5_1 | Packing::Bits1_5_5_5 | Packing::Bits4_4_4_4 => 2,
        }
    }

    /// VPM rows, the words that the program reads per vertex; the last one may be part padding.
    pub fn words(&self) -> usize {
        self.bytes().div_ceil(4) as usize
    }

    /// Components that the attribute has.
    pub fn components(&self) -> usize {
        match self.packing {
            Packing::Bytes(count) | Packing::Halves(count) | Packing::Words(count) => {
                usize::from(count.min(4))
            }
            Packing::Bits10_10_10_2 => 4,
            Packing::Bits5_5_5_1 | Packing::Bits1_5_5_5 | Packing::Bits4_4_4_4 => 4,
            Packing::Floats11_11_10 | Packing::Floats9_9_9_5 | Packing::Bits5_6_5 => 3,
        }
    }
}

/// A component's place: word, lowest bit, width.
#[derive(Clone, Copy)]
struct Place {
    word: usize,
    bit: u32,
    width: u32,
}

fn place(packing: Packing, component: usize) -> Place {
    let n = component as u32;
    match packing {
        Packing::Bytes(_) => Place { word: 0, bit: 8 * n, width: 8 },
        Packing::Halves(_) => Place { word: component / 2, bit: 16 * (n % 2), width: 16 },
        Packing::Words(_) => Place { word: component, bit: 0, width: 32 },
        Packing::Floats11_11_10 => Place { word: 0, bit: 11 * n, width: if n == 2 { 10 } else { 11 } },
        Packing::Bits10_10_10_2 => Place { word: 0, bit: 10 * n, width: if n == 3 { 2 } else { 10 } },
        Packing::Floats9_9_9_5 => Place { word: 0, bit: 9 * n, width: 9 },
        Packing::Bits5_6_5 => {
            Place { word: 0, bit: [11, 5, 0, 0][component], width: [5, 6, 5, 0][component] }
        }
        Packing::Bits5_5_5_1 => {
            Place { word: 0, bit: [11, 6, 1, 0][component], width: [5, 5, 5, 1][component] }
        }
        Packing::Bits1_5_5_5 => {
            Place { word: 0, bit: [10, 5, 0, 15][component], width: [5, 5, 5, 1][component] }
        }
        Packing::Bits4_4_4_4 => Place { word: 0, bit: 12 - 4 * n, width: 4 },
    }
}

/// The four components of an attribute from its words; what the format lacks is 0, 0, 0, 1 in the format's kind of
/// number. Fails if fewer words are given than the format has.
pub fn emit_fetch<E: Emitter>(
    e: &mut E,
    format: &VertexFormat,
    words: &[E::Value],
) -> Result<[E::Value; 4], StateError> {
    if words.len() < format.words() {
        return Err(StateError::AttributeWords { need: format.words(), have: words.len() });
    }
    let zero = e.word(0);
    let one = if format.numeric.is_integer() { e.word(1) } else { e.float(1.0) };
    let mut out = [zero, zero, zero, one];
    if format.packing == Packing::Floats9_9_9_5 {
        let [r, g, b] = shared_exponent(e, words[0]);
        return Ok([r, g, b, one]);
    }
    for (component, value) in out.iter_mut().enumerate().take(format.components()) {
        let at = place(format.packing, component);
        *value = convert(e, format.numeric, words[at.word], at);
    }
    if format.swap_rb {
        out.swap(0, 2);
    }
    Ok(out)
}

/// As [`emit_fetch`], of the words of one vertex on the host.
///
/// # Errors
/// Fewer words than the format has.
pub fn decode(format: &VertexFormat, words: &[u32]) -> Result<[u32; 4], StateError> {
    emit_fetch(&mut Model::new(StateWords::default()), format, words)
}

/// Three mantissas times 2^(exponent - 24).
fn shared_exponent<E: Emitter>(e: &mut E, word: E::Value) -> [E::Value; 3] {
    let exponent = e.shr(word, 27);
    let bias = e.word(127 - 24);
    let exponent = e.add(AddOp::Add, exponent, bias);
    let scale = e.shl(exponent, 23);
    [0, 9, 18].map(|bit| {
        let mantissa = extract(e, false, word, bit, 9);
        let mantissa = e.itof(mantissa);
        e.fmul(mantissa, scale)
    })
}

fn convert<E: Emitter>(e: &mut E, numeric: Numeric, word: E::Value, at: Place) -> E::Value {
    match (numeric, at.width) {
        (_, 32) => word,
        (Numeric::Float, width @ (10 | 11)) => {
            // A float16 that lacks its sign and its low bits; denormals count as 0 there, too.
            let zeros = 15 - width;
            let word = if at.bit < zeros { e.shl(word, zeros - at.bit) } else { e.shr(word, at.bit - zeros) };
            let mask = e.word(0x7fff & !((1 << zeros) - 1));
            let half = e.and(word, mask);
            e.unpack(half, Unpack::Half0, true)
        }
        (Numeric::Float, _) => e.unpack(word, half(at), true),
        (Numeric::Unorm, 8) => e.unpack(word, byte(at), true),
        (Numeric::Uint | Numeric::Sint, _) => integer(e, numeric.is_signed(), word, at),
        (Numeric::Uscaled | Numeric::Sscaled, _) => {
            let value = integer(e, numeric.is_signed(), word, at);
            e.itof(value)
        }
        (Numeric::Unorm, width) => {
            let value = integer(e, false, word, at);
            let value = e.itof(value);
            fraction(e, value, (1 << width) - 1)
        }
        (Numeric::Snorm, width) => {
            let value = integer(e, true, word, at);
            let value = e.itof(value);
            let value = fraction(e, value, (1 << (width - 1)) - 1);
            let low = e.float(-1.0);
            e.fmax(value, low)
        }
    }
}

/// `value / max`, exactly 1 for `max`: the reciprocal is rounded up and the excess cut off.
fn fraction<E: Emitter>(e: &mut E, value: E::Value, max: u32) -> E::Value {
    let mut reciprocal = 1.0 / max as f32;
    if f64::from(reciprocal) * f64::from(max) < 1.0 {
        reciprocal = f32::from_bits(reciprocal.to_bits() + 1);
    }
    let (reciprocal, one) = (e.float(reciprocal), e.float(1.0));
    let scaled = e.fmul(value, reciprocal);
    e.fmin(scaled, one)
}

fn integer<E: Emitter>(e: &mut E, signed: bool, word: E::Value, at: Place) -> E::Value {
    extract(e, signed, word, at.bit, at.width)
}

fn byte(at: Place) -> Unpack {
    [Unpack::Byte0, Unpack::Byte1, Unpack::Byte2, Unpack::Byte3][(at.bit / 8) as usize]
}

fn half(at: Place) -> Unpack {
    if at.bit == 0 { Unpack::Half0 } else { Unpack::Half1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetch(packing: Packing, numeric: Numeric, words: &[u32]) -> [u32; 4] {
        decode(&VertexFormat { packing, numeric, swap_rb: false }, words).unwrap()
    }

    fn floats(packing: Packing, numeric: Numeric, words: &[u32]) -> [f32; 4] {
        fetch(packing, numeric, words).map(f32::from_bits)
    }

    #[test]
    fn sizes() {
        let bytes = |packing| VertexFormat { packing, numeric: Numeric::Unorm, swap_rb: false }.bytes();
        assert_eq!(
            [Packing::Bytes(3), Packing::Halves(3), Packing::Words(4), Packing::Bits10_10_10_2].map(bytes),
            [3, 6, 16, 4]
        );
        let three_halves =
            VertexFormat { packing: Packing::Halves(3), numeric: Numeric::Sint, swap_rb: false };
        assert_eq!((three_halves.words(), three_halves.components()), (2, 3));
        let short = decode(&three_halves, &[0]);
        assert_eq!(short, Err(StateError::AttributeWords { need: 2, have: 1 }));
    }

    #[test]
    fn bytes_become_numbers() {
        let word = &[0xff80_7f01];
        assert_eq!(fetch(Packing::Bytes(4), Numeric::Uint, word), [1, 127, 128, 255]);
        let signed = fetch(Packing::Bytes(4), Numeric::Sint, word).map(|v| v as i32);
        assert_eq!(signed, [1, 127, -128, -1]);
        assert_eq!(floats(Packing::Bytes(4), Numeric::Sscaled, word), [1.0, 127.0, -128.0, -1.0]);
        assert_eq!(floats(Packing::Bytes(4), Numeric::Uscaled, word), [1.0, 127.0, 128.0, 255.0]);
        let unorm = fetch(Packing::Bytes(4), Numeric::Unorm, word);
        // qpu.md §2.11: v/255 truncated.
        assert_eq!(unorm, [0x3b80_8080, 0x3efe_fefe, 0x3f00_8080, 0x3f80_0000]);
        let snorm = floats(Packing::Bytes(4), Numeric::Snorm, word);
        assert_eq!((snorm[1], snorm[2]), (1.0, -1.0));
        assert_eq!(floats(Packing::Bytes(1), Numeric::Unorm, word)[1..], [0.0, 0.0, 1.0]);
        assert_eq!(fetch(Packing::Bytes(2), Numeric::Uint, word)[2..], [0, 1]);
    }

    #[test]
    fn halves_become_numbers() {
        let words = &[0x8000_7fff, 0xffff_3c00];
        assert_eq!(fetch(Packing::Halves(4), Numeric::Uint, words), [0x7fff, 0x8000, 0x3c00, 0xffff]);
        let signed = fetch(Packing::Halves(4), Numeric::Sint, words).map(|v| v as i32);
        assert_eq!(signed, [0x7fff, -0x8000, 0x3c00, -1]);
        let snorm = floats(Packing::Halves(4), Numeric::Snorm, words);
        assert_eq!((snorm[0], snorm[1]), (1.0, -1.0));
        assert_eq!(floats(Packing::Halves(4), Numeric::Unorm, words)[3], 1.0);
        assert_eq!(floats(Packing::Halves(3), Numeric::Float, words)[2..], [1.0, 1.0]);
    }

    #[test]
    fn every_unorm16_is_close() {
        for value in 0..=0xffffu32 {
            let float = floats(Packing::Halves(1), Numeric::Unorm, &[value])[0];
            let error = (f64::from(float) - f64::from(value) / 65535.0).abs();
            assert!(error <= f64::from(float) * 2f64.powi(-22), "{value}");
        }
    }

    #[test]
    fn words_pass() {
        assert_eq!(fetch(Packing::Words(3), Numeric::Float, &[5, 6, 7]), [5, 6, 7, 1f32.to_bits()]);
        assert_eq!(fetch(Packing::Words(1), Numeric::Sint, &[5]), [5, 0, 0, 1]);
    }

    #[test]
    fn small_floats() {
        // 1.5, the smallest normal number and the largest; infinity, 0 and 1.
        let pack = |r: u32, g: u32, b: u32| [r | g << 11 | b << 22];
        let word = pack(15 << 6 | 32, 1 << 6, 30 << 5 | 31);
        assert_eq!(
            floats(Packing::Floats11_11_10, Numeric::Float, &word),
            [1.5, 2f32.powi(-14), 64512.0, 1.0]
        );
        let word = pack(31 << 6, 0, 15 << 5);
        assert_eq!(floats(Packing::Floats11_11_10, Numeric::Float, &word), [f32::INFINITY, 0.0, 1.0, 1.0]);
    }

    #[test]
    fn shared_exponents() {
        let word = &[16 << 27 | 256 | 511 << 9 | 1 << 18];
        assert_eq!(
            floats(Packing::Floats9_9_9_5, Numeric::Float, word),
            [1.0, 511.0 / 256.0, 1.0 / 256.0, 1.0]
        );
        assert_eq!(floats(Packing::Floats9_9_9_5, Numeric::Float, &[31 << 27 | 511])[0], 65408.0);
    }

    #[test]
    fn sixteen_bit_fields() {
        let unorm = |packing, word| floats(packing, Numeric::Unorm, &[word]);
        assert_eq!(unorm(Packing::Bits5_6_5, 0xf800 | 0x1f), [1.0, 0.0, 1.0, 1.0]);
        assert_eq!(unorm(Packing::Bits5_5_5_1, 0x07c1), [0.0, 1.0, 0.0, 1.0]);
        assert_eq!(unorm(Packing::Bits1_5_5_5, 0x801f), [0.0, 0.0, 1.0, 1.0]);
        assert_eq!(unorm(Packing::Bits4_4_4_4, 0xf0f0), [1.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn ten_bit_fields() {
        let word = &[2 << 30 | 0x200 << 20 | 0x3ff << 10 | 1];
        assert_eq!(fetch(Packing::Bits10_10_10_2, Numeric::Uint, word), [1, 0x3ff, 0x200, 2]);
        let signed = fetch(Packing::Bits10_10_10_2, Numeric::Sint, word).map(|v| v as i32);
        assert_eq!(signed, [1, -1, -512, -2]);
        assert_eq!(floats(Packing::Bits10_10_10_2, Numeric::Unorm, word)[1], 1.0);
        assert_eq!(floats(Packing::Bits10_10_10_2, Numeric::Snorm, word)[2..], [-1.0, -1.0]);
        let format = VertexFormat { packing: Packing::Bits10_10_10_2, numeric: Numeric::Uint, swap_rb: true };
        let swapped = decode(&format, word).unwrap();
        assert_eq!(swapped, [0x200, 0x3ff, 1, 2]);
    }
}
