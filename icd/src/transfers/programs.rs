//! Fragment programs of transfers.

use smallvec::SmallVec;
use vc4_shaders::binding::Descriptor;
use vc4_shaders::ir::{Builder, Fetch, ImageDim, Lod, Op, Output, Sample, Shader, Stage, Value};

use super::words::Fold;

/// The image that is read.
pub(super) const IMAGE: Descriptor = Descriptor { set: 0, binding: 0, element: 0 };
/// The buffer that is read.
pub(super) const BUFFER: Descriptor = Descriptor { set: 0, binding: 0, element: 0 };
/// Push constants: the byte of the buffer that pixel (0, 0) would have, modulo 2^32, …
pub(super) const BASE_AT: u32 = 0;
/// … and bytes from row to row.
pub(super) const PITCH_AT: u32 = 4;

/// What becomes of a buffer's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gather {
    /// Four bytes are a word, which lie in the image as the fold says. `aligned`: they are a word of the buffer.
    Words {
        /// How texels lie in words.
        fold: Fold,
        /// All of them begin at multiples of four bytes.
        aligned: bool,
    },
    /// So many bytes are the lower end of a word, one or two.
    Widened(u32),
}

impl Gather {
    /// Tells the programs apart.
    pub fn number(self) -> u32 {
        match self {
            Gather::Words { fold, aligned } => u32::from(fold == Fold::Utile) + 2 * u32::from(aligned),
            Gather::Widened(bytes) => 3 + bytes,
        }
    }
}

/// Fills words with what a buffer has for them.
pub(super) fn gather(what: Gather) -> Shader {
    fragment(|b| {
        let [x, y] = [Op::PixelX, Op::PixelY].map(|op| b.op(op, &[]));
        let (byte, row) = match what {
            Gather::Words { fold: Fold::Row, .. } => (shifted(b, Op::Shl, x, 2), y),
            Gather::Words { fold: Fold::Utile, .. } => {
                let (utile, half) = (shifted(b, Op::Shr, x, 2), shifted(b, Op::Shr, x, 1));
                let (one, y) = (b.word(1), shifted(b, Op::Shl, y, 1));
                let (column, line) = (b.and(x, one), b.and(half, one));
                let (utile, column) = (shifted(b, Op::Shl, utile, 3), shifted(b, Op::Shl, column, 2));
                (b.iadd(utile, column), b.iadd(y, line))
            }
            Gather::Widened(bytes) => (shifted(b, Op::Shl, x, bytes - 1), y),
        };
        let [base, pitch] = [BASE_AT, PITCH_AT].map(|at| b.op(Op::LoadPush(at), &[]));
        let rows = b.imul(row, pitch);
        let place = b.iadd(base, byte);
        let at = b.iadd(place, rows);
        match what {
            Gather::Words { aligned: true, .. } => load(b, at, 0),
            Gather::Words { aligned: false, .. } => {
                let (first, shift) = split(b, at);
                let (low, high) = (load(b, first, 0), load(b, first, 4));
                // A shift by 32 is one by nothing, so the upper part is shifted in two steps.
                let (low, mask) = (b.op(Op::Shr, &[low, shift]), b.word(31));
                let (rest, high) = (b.op(Op::Xor, &[shift, mask]), shifted(b, Op::Shl, high, 1));
                let high = b.op(Op::Shl, &[high, rest]);
                b.op(Op::Or, &[low, high])
            }
            Gather::Widened(bytes) => {
                let (first, shift) = split(b, at);
                let word = load(b, first, 0);
                let (word, mask) = (b.op(Op::Shr, &[word, shift]), b.word((1 << (8 * bytes)) - 1));
                b.and(word, mask)
            }
        }
    })
}

/// Push constants of what reads an image, along each of two axes: the factor of a pixel's number, …
pub(super) const SCALE_AT: [u32; 2] = [0, 4];
/// … what is added then, which is the place of pixel 0 …
pub(super) const FIRST_AT: [u32; 2] = [8, 12];
/// … and the last texel.
pub(super) const LAST_AT: [u32; 2] = [16, 20];
/// Words of all of them.
pub(super) const SCALED_WORDS: usize = 6;

/// What a pixel gets of an image whose texels it passes evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scaled {
    /// The texel that its place is in.
    Nearest,
    /// The mean of the texels around its place, as exact as floats are.
    Mean,
    /// As the texture unit filters, where places are fractions of the image.
    Unit,
}

/// Fills pixels with what an image has for them.
pub(super) fn scaled(what: Scaled) -> Shader {
    fragment_of(|b| {
        let mut place = |pixel: Op, axis: usize| {
            let pixel = b.op(pixel, &[]);
            let pixel = b.stof(pixel);
            let [scale, first] = [SCALE_AT[axis], FIRST_AT[axis]].map(|at| b.op(Op::LoadPush(at), &[]));
            b.fmad(pixel, scale, first)
        };
        let places = [place(Op::PixelX, 0), place(Op::PixelY, 1)];
        match what {
            Scaled::Unit => {
                let (level, [x, y]) = (b.word(0), places);
                let sample = Op::Sample(Sample::plain(IMAGE, ImageDim::D2, Lod::Explicit));
                b.emit(sample, &[x, y, level]).into_iter().collect()
            }
            Scaled::Nearest => {
                let [x, y] = [0, 1].map(|axis| inside(b, places[axis], axis));
                fetch(b, x, y)
            }
            Scaled::Mean => {
                let [x, y] = [0, 1].map(|axis| around(b, places[axis], axis));
                let rows = y.texels.map(|y| {
                    let [left, right] = x.texels.map(|x| fetch(b, x, y));
                    mix(b, &left, &right, x.weight)
                });
                mix(b, &rows[0], &rows[1], y.weight)
            }
        }
    })
}

/// The texel that a place is in, or the edge's.
fn inside(b: &mut Builder, place: Value, axis: usize) -> Value {
    let (zero, last) = (b.float(0.0), b.op(Op::LoadPush(LAST_AT[axis]), &[]));
    let place = b.op(Op::FMax, &[place, zero]);
    let place = b.op(Op::FMin, &[place, last]);
    b.op(Op::FToS, &[place])
}

/// Two neighbours and the weight of the second.
struct Around {
    texels: [Value; 2],
    weight: Value,
}

fn around(b: &mut Builder, place: Value, axis: usize) -> Around {
    let (half, one) = (b.float(0.5), b.float(1.0));
    let place = b.op(Op::FSub, &[place, half]);
    let low = b.op(Op::FFloor, &[place]);
    let high = b.fadd(low, one);
    let weight = b.op(Op::FSub, &[place, low]);
    Around { texels: [inside(b, low, axis), inside(b, high, axis)], weight }
}

fn fetch(b: &mut Builder, x: Value, y: Value) -> SmallVec<[Value; 4]> {
    let level = b.word(0);
    b.emit(Op::Fetch(Fetch::plain(IMAGE, ImageDim::D2)), &[x, y, level]).into_iter().collect()
}

fn mix(b: &mut Builder, from: &[Value], to: &[Value], weight: Value) -> SmallVec<[Value; 4]> {
    let mut one = |(from, to): (&Value, &Value)| {
        let way = b.op(Op::FSub, &[*to, *from]);
        b.fmad(way, weight, *from)
    };
    from.iter().zip(to).map(&mut one).collect()
}

/// The word that a byte lies in, and the bits in front of it.
fn split(b: &mut Builder, at: Value) -> (Value, Value) {
    let (words, rest) = (b.word(!3), b.word(3));
    let rest = b.and(at, rest);
    (b.and(at, words), shifted(b, Op::Shl, rest, 3))
}

fn load(b: &mut Builder, at: Value, offset: u32) -> Value {
    b.op(Op::LoadUboDynamic { buffer: BUFFER, offset, last: offset }, &[at])
}

fn shifted(b: &mut Builder, op: Op, value: Value, bits: u32) -> Value {
    let bits = b.word(bits);
    b.op(op, &[value, bits])
}

/// A fragment stage that writes a word.
fn fragment(word: impl FnOnce(&mut Builder) -> Value) -> Shader {
    fragment_of(|b| SmallVec::from_slice(&[word(b)]))
}

/// A fragment stage that writes components.
fn fragment_of(components: impl FnOnce(&mut Builder) -> SmallVec<[Value; 4]>) -> Shader {
    let mut shader = Shader::new(Stage::Fragment);
    if let Some(entry) = shader.entry() {
        let b = &mut Builder::new(&mut shader, entry);
        for (component, value) in (0..).zip(components(b)) {
            b.store_output(Output::User { location: 0, component }, value);
        }
    }
    shader
}
