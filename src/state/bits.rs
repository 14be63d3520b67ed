//! Fields of words as integers.

use super::emitter::Emitter;
use crate::qpu::Unpack;

/// The bits of a field, zero- or sign-extended.
pub(super) fn extract<E: Emitter>(e: &mut E, signed: bool, word: E::Value, bit: u32, width: u32) -> E::Value {
    match (signed, width) {
        (_, 32) => word,
        (false, 8) if bit % 8 == 0 => e.unpack(
            word,
            [Unpack::Byte0, Unpack::Byte1, Unpack::Byte2, Unpack::Byte3][bit as usize / 8],
            false,
        ),
        (true, 16) if bit % 16 == 0 => {
            e.unpack(word, if bit == 0 { Unpack::Half0 } else { Unpack::Half1 }, false)
        }
        (true, _) => {
            let top = 32 - bit - width;
            let word = if top == 0 { word } else { e.shl(word, top) };
            e.asr(word, 32 - width)
        }
        (false, width) => {
            let word = if bit == 0 { word } else { e.shr(word, bit) };
            if bit + width == 32 {
                return word;
            }
            let mask = e.word((1 << width) - 1);
            e.and(word, mask)
        }
    }
}
