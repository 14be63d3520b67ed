//! The patch that writes a fragment program's colour, sample by sample where the destination takes part: on four bytes at
//! once where that is exact enough (`bytes.rs`), else on floats (`floats.rs`).

use super::logic::logic;
use super::output::ColorOutput;
use super::sources::Sources;
use super::{bytes, floats};
use crate::image::layout::MSAA_SAMPLES;
use crate::state::emitter::{Emitter, SampleEmitter};
use crate::state::error::StateError;

/// Writes the colour of a fragment program to the tile buffer. `src` and `src1` are R, G, B, A as floats, or as
/// integers for integer targets. A multisampled target whose destination takes part needs [`emit_color_samples`].
///
/// Emits nothing if no component is written; such a program must touch the tile buffer in another way, by its depth
/// (UNVERIFIED: what does the machine do with a fragment program that never touches the tile buffer?).
pub fn emit_color<E: Emitter>(
    e: &mut E,
    output: &ColorOutput,
    src: [E::Value; 4],
    src1: Option<[E::Value; 4]>,
) -> Result<(), StateError> {
    output.check(src1.is_some())?;
    if output.multisample && output.reads_destination() {
        return Err(StateError::Samples);
    }
    if output.writes_color() {
        let mut sources = Sources::new(src, src1);
        let dst = if output.reads_destination() { Some(e.tlb_color()) } else { None };
        let word = finish(e, output, &mut sources, dst);
        e.write_tlb_color(word);
    }
    Ok(())
}

/// As [`emit_color`], for every target: where the destination takes part, each of the four samples is read, combined
/// and written in turn.
pub fn emit_color_samples<E: SampleEmitter>(
    e: &mut E,
    output: &ColorOutput,
    src: [E::Value; 4],
    src1: Option<[E::Value; 4]>,
) -> Result<(), StateError> {
    if !output.multisample || !output.reads_destination() {
        return emit_color(e, output, src, src1);
    }
    output.check(src1.is_some())?;
    if output.writes_color() {
        let mut sources = Sources::new(src, src1);
        for _ in 0..MSAA_SAMPLES {
            let dst = e.tlb_color();
            let word = finish(e, output, &mut sources, Some(dst));
            e.write_tlb_color_sample(word);
        }
    }
    Ok(())
}

/// The word of one sample.
fn finish<E: Emitter>(
    e: &mut E,
    output: &ColorOutput,
    sources: &mut Sources<E::Value>,
    dst: Option<E::Value>,
) -> E::Value {
    let mut word = match output.logic() {
        Some(op) => {
            let src = sources.word(e, &output.encoding);
            let src = if output.encoding.stores_565 { round_565(e, src) } else { src };
            logic(e, op, src, dst)
        }
        None if bytes::blends_bytes(output) => bytes::emit(e, output, sources, dst),
        None if output.blends() => floats::emit(e, output, sources, dst),
        None => sources.word(e, &output.encoding),
    };
    if output.encoding.stores_565 {
        word = if output.logic().is_some() { fill_565(e, word) } else { expand_565(e, word) };
    }
    match dst {
        Some(dst) if output.masks() => merge(e, output, word, dst),
        _ => word,
    }
}

/// Keeps the destination's bits of the components that are not written.
fn merge<E: Emitter>(e: &mut E, output: &ColorOutput, word: E::Value, dst: E::Value) -> E::Value {
    let kept = output.encoding.mask(output.write.map(|write| !write));
    let (written, kept) = (e.word(!kept), e.word(kept));
    let new = e.and(word, written);
    let old = e.and(dst, kept);
    e.or(new, old)
}

/// Largest numbers of five-, six- and five-bit fields, in the bytes of the fields.
const MOST_565: u32 = 0x001f_3f1f;
/// The bits of bytes that RGB565 keeps.
const KEPT_565: u32 = 0x00f8_fcf8;

/// The high bits of the bytes 0 to 2 rounded to what RGB565 can keep, with zeros below them.
fn round_565<E: Emitter>(e: &mut E, word: E::Value) -> E::Value {
    let (most, fives) = (e.word(MOST_565), e.word(0x00ff_00ff));
    // Rounds to nearest (qpu.md §2.4).
    let fields = e.mul(crate::qpu::MulOp::V8muld, word, most);
    let green = e.shl(fields, 2);
    let again = e.and(green, fives);
    e.add(crate::qpu::AddOp::Add, green, again)
}

/// Repeats the high bits of the fields of `word` below them: however the store rounds and the load expands, the
/// pixel in memory is this one, and blending in the tile sees what a load would bring.
fn fill_565<E: Emitter>(e: &mut E, word: E::Value) -> E::Value {
    let kept = e.word(KEPT_565);
    let word = e.and(word, kept);
    let (fives, six) = (e.word(0x0007_0007), e.word(0x0000_0300));
    let low_fives = e.shr(word, 5);
    let low_six = e.shr(word, 6);
    let low_fives = e.and(low_fives, fives);
    let low_six = e.and(low_six, six);
    let low = e.or(low_fives, low_six);
    e.or(word, low)
}

/// Bytes 0 to 2 as RGB565 keeps them.
fn expand_565<E: Emitter>(e: &mut E, word: E::Value) -> E::Value {
    let word = round_565(e, word);
    fill_565(e, word)
}
