//! Fragment programs of transfers.

use vc4_shaders::binding::Descriptor;
use vc4_shaders::ir::{Builder, Op, Output, Shader, Stage, Value};

use super::words::Fold;

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
    let mut shader = Shader::new(Stage::Fragment);
    if let Some(entry) = shader.entry() {
        let b = &mut Builder::new(&mut shader, entry);
        let word = word(b);
        b.store_output(Output::User { location: 0, component: 0 }, word);
    }
    shader
}
