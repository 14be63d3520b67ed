//! Fragment programs of transfers.

use smallvec::SmallVec;
use vc4::image::Rect;
use vc4::image::etc2::{BLOCK_PX, BlockFormat};
use vc4::image::layout::MSAA_SAMPLES;
use vc4_shaders::binding::Descriptor;
use vc4_shaders::ir::{Builder, BuiltinInput, Fetch, ImageDim, Op, Output, Shader, Stage, Value};

use super::etc2;
use super::form::Form;
use super::lines::Limits;
use super::words::Fold;

/// The image that is read.
pub(super) const IMAGE: Descriptor = Descriptor { set: 0, binding: 0, element: 0 };
/// The buffer that is read.
pub(super) const BUFFER: Descriptor = Descriptor { set: 0, binding: 0, element: 0 };
/// Push constants: the byte of the buffer that pixel (0, 0) would have, modulo 2^32, …
pub(super) const BASE_AT: u32 = 0;
/// … and bytes from row to row.
pub(super) const PITCH_AT: u32 = 4;
/// Behind them, of words that are filled in part: the first column and the first row of texels that are, …
pub(super) const BEGIN_AT: [u32; 2] = [8, 12];
/// … and how many columns and rows.
pub(super) const COUNT_AT: [u32; 2] = [16, 20];
/// Behind these, of a strip ([`Fold::Line`]): words of the level in front of it, of its rows, and of the level's, …
const LINE_AT: [u32; 3] = [24, 28, 32];
/// … and about how much of the last a word is.
const SHARE_AT: u32 = 36;
/// Words of all of them.
pub(super) const PART_WORDS: usize = 14;
/// Push constants of [`filled_in_part`]: the words of a texel.
pub(super) const PART_OF_AT: [u32; 4] = [40, 44, 48, 52];

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
    /// As [`Gather::Words`], but only the words of some texels, or some of a word's, are filled ([`BEGIN_AT`], [`COUNT_AT`]).
    Part {
        /// How texels lie in words.
        fold: Fold,
        /// Bytes of a texel, a power of two up to 16.
        bytes: u32,
    },
    /// So many bytes are the lower end of a word, one or two.
    Widened(u32),
    /// Texels have so many bytes, a power of two above four, of which one word is taken.
    Word(u32),
}

/// What words are filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Filling {
    /// The buffer's bytes.
    pub bytes: Gather,
    /// How the image holds them.
    pub form: Form,
    /// Bits of a word that stay as they were.
    pub stays: u32,
}

impl From<Gather> for Filling {
    fn from(bytes: Gather) -> Filling {
        Filling { bytes, form: Form::Bits, stays: 0 }
    }
}

impl Filling {
    /// Tells the programs apart.
    pub fn number(self) -> u32 {
        let bytes = match self.bytes {
            Gather::Words { fold, aligned } => u32::from(fold == Fold::Utile) + 2 * u32::from(aligned),
            Gather::Widened(bytes) => 3 + bytes,
            Gather::Word(bytes) => 4 + bytes,
            Gather::Part { fold, bytes } => 32 + fold as u32 + 4 * bytes,
        };
        bytes | (self.form as u32) << 8 | kind_of(self.stays) << 16
    }
}

/// A number for bits that stay: only the lowest byte and all others do, each whole.
pub(super) fn kind_of(stays: u32) -> u32 {
    stays & 1 | stays >> 7 & 2
}

/// Fills words with what a buffer has for them.
pub(super) fn gather(what: Filling) -> Shader {
    fragment(|b| {
        let (byte, row) = match what.bytes {
            Gather::Words { fold, .. } | Gather::Part { fold, .. } => place_of_word(b, fold),
            Gather::Widened(bytes) | Gather::Word(bytes) => along_row(b, bytes),
        };
        let [base, pitch] = [BASE_AT, PITCH_AT].map(|at| b.op(Op::LoadPush(at), &[]));
        let rows = b.imul(row, pitch);
        let place = b.iadd(base, byte);
        let at = b.iadd(place, rows);
        let texel = match what.bytes {
            Gather::Words { aligned: true, .. } | Gather::Word(_) => load(b, at, 0),
            Gather::Words { aligned: false, .. } => {
                let (first, shift) = split(b, at);
                let (low, high) = (load(b, first, 0), load(b, first, 4));
                // A shift by 32 is one by nothing, so the upper part is shifted in two steps.
                let (low, mask) = (b.op(Op::Shr, &[low, shift]), b.word(31));
                let (rest, high) = (b.op(Op::Xor, &[shift, mask]), shifted(b, Op::Shl, high, 1));
                let high = b.op(Op::Shl, &[high, rest]);
                b.op(Op::Or, &[low, high])
            }
            Gather::Part { bytes, .. } => {
                let mut all = b.word(0);
                for (offset, _) in texels_of_word(bytes) {
                    let step = b.word(offset);
                    let at = b.iadd(at, step);
                    let texel = load_bytes(b, at, bytes);
                    let texel = shifted(b, Op::Shl, texel, 8 * offset);
                    all = b.op(Op::Or, &[all, texel]);
                }
                let goes = goes(b, byte, row, bytes);
                return merged(b, all, goes);
            }
            Gather::Widened(bytes) => load_bytes(b, at, bytes),
        };
        let word = what.form.word(b, texel);
        beside_what_stays(b, word, what.stays)
    })
}

/// The byte of a row of texels, and the row, that a word begins with.
fn place_of_word(b: &mut Builder, fold: Fold) -> (Value, Value) {
    match fold {
        Fold::Row => along_row(b, 4),
        Fold::Utile => {
            let [x, y] = pixel(b);
            let (utile, half) = (shifted(b, Op::Shr, x, 2), shifted(b, Op::Shr, x, 1));
            let (one, y) = (b.word(1), shifted(b, Op::Shl, y, 1));
            let (column, line) = (b.and(x, one), b.and(half, one));
            let (utile, column) = (shifted(b, Op::Shl, utile, 3), shifted(b, Op::Shl, column, 2));
            (b.iadd(utile, column), b.iadd(y, line))
        }
        Fold::Line => {
            let [x, y] = pixel(b);
            let [first, width, pitch, share] =
                [LINE_AT[0], LINE_AT[1], LINE_AT[2], SHARE_AT].map(|at| b.op(Op::LoadPush(at), &[]));
            let before = b.imul(y, width);
            let number = b.iadd(before, x);
            let number = b.iadd(number, first);
            let [word, row] = divided(b, number, pitch, share);
            (shifted(b, Op::Shl, word, 2), row)
        }
    }
}

/// The same where a pixel stands for so many bytes, a power of two.
fn along_row(b: &mut Builder, bytes: u32) -> (Value, Value) {
    let [x, y] = pixel(b);
    (shifted(b, Op::Shl, x, bytes.trailing_zeros()), y)
}

/// The first bytes of the texels of a word, and their bits.
fn texels_of_word(bytes: u32) -> impl Iterator<Item = (u32, u32)> {
    let bytes = bytes.min(4);
    (0..4).step_by(bytes as usize).map(move |offset| (offset, (u32::MAX >> (32 - 8 * bytes)) << (8 * offset)))
}

/// The bits of those texels of a word that begins with a byte of a row that are filled ([`BEGIN_AT`], [`COUNT_AT`]).
fn goes(b: &mut Builder, byte: Value, row: Value, bytes: u32) -> Value {
    let first = shifted(b, Op::Shr, byte, bytes.trailing_zeros());
    let none = b.word(0);
    (0..).zip(texels_of_word(bytes)).fold(none, |all, (number, (_, bits))| {
        let (number, bits) = (b.word(number), b.word(bits));
        let column = b.iadd(first, number);
        let inside = is_inside(b, column, row);
        let bits = b.select(inside, bits, none);
        b.op(Op::Or, &[all, bits])
    })
}

/// Whether a place is in the rectangle that is filled ([`BEGIN_AT`], [`COUNT_AT`]).
pub(super) fn is_inside(b: &mut Builder, column: Value, row: Value) -> Value {
    let [left, top] = BEGIN_AT.map(|at| b.op(Op::LoadPush(at), &[]));
    let [width, height] = COUNT_AT.map(|at| b.op(Op::LoadPush(at), &[]));
    let (column, row) = (b.isub(column, left), b.isub(row, top));
    let (columns, rows) = (b.ult(column, width), b.ult(row, height));
    b.band(columns, rows)
}

/// The push constants of a rectangle that words are filled in a part of, where they are.
pub(super) fn put_part(push: &mut [u32], Rect { x, y, width, height }: Rect) {
    let places = BEGIN_AT.into_iter().chain(COUNT_AT);
    for (at, value) in places.zip([x, y, width, height]) {
        push[(at / 4) as usize] = value;
    }
}

/// Those of what words are filled with.
pub(super) fn put_limits(push: &mut [u32; PART_WORDS], Limits { rect, line, .. }: Limits) {
    put_part(push, rect);
    let share = 1.0 / line.pitch.max(1) as f32;
    let places = LINE_AT.into_iter().chain([SHARE_AT]);
    for (at, value) in places.zip([line.first, line.width, line.pitch, share.to_bits()]) {
        push[(at / 4) as usize] = value;
    }
}

/// Fills words with the texels that a buffer's blocks are decoded to.
pub(super) fn decoded(format: BlockFormat) -> Shader {
    fragment(|b| {
        let [x, y] = pixel(b);
        let texels = (4 / format.texel_bytes()) as u32;
        let first = shifted(b, Op::Shl, x, texels.trailing_zeros());
        let [column, row] = [first, y].map(|at| shifted(b, Op::Shr, at, BLOCK_PX.trailing_zeros()));
        let [base, pitch] = [BASE_AT, PITCH_AT].map(|at| b.op(Op::LoadPush(at), &[]));
        let (rows, columns) =
            (b.imul(row, pitch), shifted(b, Op::Shl, column, format.bytes().trailing_zeros()));
        let place = b.iadd(base, columns);
        let place = b.iadd(place, rows);
        let block: SmallVec<[Value; 4]> =
            (0..format.bytes()).step_by(4).map(|offset| load(b, place, offset)).collect();
        let inside = b.word(BLOCK_PX - 1);
        let row = b.and(y, inside);
        let none = b.word(0);
        (0..texels).fold(none, |word, number| {
            let number_ = b.word(number);
            let column = b.iadd(first, number_);
            let column = b.and(column, inside);
            let texel = etc2::texel(b, format, &block, [column, row]);
            let texel = shifted(b, Op::Shl, texel, 32 / texels * number);
            b.op(Op::Or, &[word, texel])
        })
    })
}

/// A word whose other bits, those of `stays`, are what the tile holds there.
fn beside_what_stays(b: &mut Builder, word: Value, stays: u32) -> Value {
    if stays == 0 {
        return word;
    }
    let goes = b.word(!stays);
    merged(b, word, goes)
}

/// A word whose bits outside of `goes` are what the tile holds there: those of a rectangle that keeps what is in its tiles.
pub(super) fn merged(b: &mut Builder, word: Value, goes: Value) -> Value {
    let before = b.emit(Op::TlbColorRead, &[])[0];
    let changes = b.op(Op::Xor, &[before, word]);
    let changes = b.and(changes, goes);
    b.op(Op::Xor, &[before, changes])
}

/// Push constants of [`filled`]: the words of a texel.
pub(super) const WORDS_AT: [u32; 4] = [0, 4, 8, 12];

/// Fills words with a texel, but for what lies beside a rectangle ([`BEGIN_AT`], [`COUNT_AT`]).
pub(super) fn filled_in_part(fold: Fold, bytes: u32) -> Shader {
    fragment(|b| {
        let (byte, row) = place_of_word(b, fold);
        let words = (bytes as usize).div_ceil(4);
        let texel: SmallVec<[Value; 4]> =
            PART_OF_AT[..words].iter().map(|at| b.op(Op::LoadPush(*at), &[])).collect();
        let number = shifted(b, Op::Shr, byte, 2);
        let word = component(b, &texel, number);
        let goes = goes(b, byte, row, bytes);
        merged(b, word, goes)
    })
}

/// Fills words, but for the bits that stay, with those of a texel in turn: as many as a power of two.
pub(super) fn filled(words: u32, stays: u32) -> Shader {
    fragment(|b| {
        let [x, _] = pixel(b);
        let texel: SmallVec<[Value; 4]> =
            WORDS_AT[..words as usize].iter().map(|at| b.op(Op::LoadPush(*at), &[])).collect();
        let word = component(b, &texel, x);
        beside_what_stays(b, word, stays)
    })
}

/// Push constants of what writes words of a buffer: the column of the first texel, …
pub(super) const COLUMN_AT: u32 = 0;
/// … its row, …
pub(super) const ROW_AT: u32 = 4;
/// … and in a line, whose texels are counted from the first row's, the column that rows begin with, …
pub(super) const LEFT_AT: u32 = 8;
/// … texels from row to row, …
pub(super) const WIDTH_AT: u32 = 12;
/// … about how much of that a texel is, …
pub(super) const PART_AT: u32 = 16;
/// … texels from one row of words to the next, …
pub(super) const TEXELS_AT: u32 = 20;
/// … and texels of a row in front of its gap.
pub(super) const FILLED_AT: u32 = 24;
/// Words of all of them.
pub(super) const TEXEL_WORDS: usize = 7;

/// Where the texels of words are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Rows of words are rows of texels.
    Rows,
    /// Rows of texels follow each other, wherever rows of words end.
    Line,
    /// The same of rows that have something else between them, which stays.
    Gaps,
}

/// Fills words with the bits of texels of `bytes` bytes, a power of two up to 16: several small ones, or one of the
/// components of a large one.
pub(super) fn texels(order: Order, bytes: u32, form: Form) -> Shader {
    fragment(|b| {
        let [x, y] = pixel(b);
        let per_word = (4 / bytes).max(1);
        let words = (bytes / 4).max(1);
        let first = match words {
            1 => shifted(b, Op::Shl, x, per_word.trailing_zeros()),
            _ => shifted(b, Op::Shr, x, words.trailing_zeros()),
        };
        let none = b.word(0);
        let [mut word, mut goes] = [none; 2];
        for number in 0..per_word {
            let number_ = b.word(number);
            let along = b.iadd(first, number_);
            let ([column, row], corner) = match order {
                Order::Rows => ([along, y], [COLUMN_AT, ROW_AT]),
                Order::Line | Order::Gaps => (place_in_line(b, along, y), [LEFT_AT, ROW_AT]),
            };
            let [left, top] = corner.map(|at| b.op(Op::LoadPush(at), &[]));
            let (x_, y_) = (b.iadd(column, left), b.iadd(row, top));
            let texel = fetch(b, x_, y_);
            let value = match words {
                1 => form.texel(b, texel[0]),
                _ => component(b, &texel[..words as usize], x),
            };
            let value = shifted(b, Op::Shl, value, 8 * bytes * number % 32);
            word = b.op(Op::Or, &[word, value]);
            if order == Order::Gaps {
                let (filled, bits) = (b.op(Op::LoadPush(FILLED_AT), &[]), u32::MAX >> (32 - 32 / per_word));
                let (is_filled, bits) = (b.ult(column, filled), b.word(bits << (8 * bytes * number % 32)));
                let bits = b.select(is_filled, bits, none);
                goes = b.op(Op::Or, &[goes, bits]);
            }
        }
        if order == Order::Gaps { merged(b, word, goes) } else { word }
    })
}

/// Of so many components, a power of two, the one that a column of words holds.
fn component(b: &mut Builder, texel: &[Value], x: Value) -> Value {
    let last = b.word(texel.len() as u32 - 1);
    let number = b.and(x, last);
    let mut chosen = texel[0];
    for (other, value) in (0..).zip(texel).skip(1) {
        let other = b.word(other);
        let is = b.op(Op::IEq, &[number, other]);
        chosen = b.select(is, *value, chosen);
    }
    chosen
}

/// Fills pixels with the mean of the samples of an image's, of integers with the first. They lie [`COLUMN_AT`] and [`ROW_AT`]
/// further on.
pub(super) fn resolved(is_integer: bool) -> Shader {
    fragment_of(|b| {
        let [x, y] = further_on(b);
        let sample = |b: &mut Builder, number: u32| {
            let number = b.word(number);
            let fetch = Op::Fetch(Fetch::plain(IMAGE, ImageDim::D2));
            b.emit(fetch, &[x, y, number]).into_iter().collect::<SmallVec<[Value; 4]>>()
        };
        let first = sample(b, 0);
        if is_integer {
            return first;
        }
        let mut sums = first;
        for number in 1..MSAA_SAMPLES {
            let more = sample(b, number);
            sums.iter_mut().zip(more).for_each(|(sum, value)| *sum = b.fadd(*sum, value));
        }
        let part = b.float(1.0 / MSAA_SAMPLES as f32);
        sums.iter().map(|sum| b.op(Op::FMul, &[*sum, part])).collect()
    })
}

/// How the samples of a pixel's depth or stencil become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// The first.
    First,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The mean, to nearest.
    Mean,
}

impl Choice {
    /// What becomes of samples, numbers of 24 bits at most.
    pub fn of(self, samples: [u32; MSAA_SAMPLES as usize]) -> u32 {
        match self {
            Choice::First => samples[0],
            Choice::Min => samples.into_iter().fold(u32::MAX, u32::min),
            Choice::Max => samples.into_iter().fold(0, u32::max),
            Choice::Mean => (samples.iter().sum::<u32>() + MSAA_SAMPLES / 2) / MSAA_SAMPLES,
        }
    }

    fn value(self, b: &mut Builder, samples: [Value; MSAA_SAMPLES as usize]) -> Value {
        let [first, rest @ ..] = samples;
        let mut all = |op| rest.into_iter().fold(first, |one, other| b.op(op, &[one, other]));
        match self {
            Choice::First => first,
            Choice::Min => all(Op::SMin),
            Choice::Max => all(Op::SMax),
            Choice::Mean => {
                let (sum, half) = (all(Op::IAdd), b.word(MSAA_SAMPLES / 2));
                let sum = b.iadd(sum, half);
                shifted(b, Op::Shr, sum, MSAA_SAMPLES.trailing_zeros())
            }
        }
    }
}

/// Fills words, but for the bits that stay, with what is chosen of the words of an image's samples: stencil, or depth.
/// They lie [`COLUMN_AT`] and [`ROW_AT`] further on.
pub(super) fn chosen(choice: Choice, is_stencil: bool, stays: u32) -> Shader {
    fragment(|b| {
        let [x, y] = further_on(b);
        let samples: [u32; MSAA_SAMPLES as usize] = std::array::from_fn(|number| number as u32);
        let samples = samples.map(|number| {
            let number = b.word(number);
            let fetch = Op::Fetch(Fetch::plain(IMAGE, ImageDim::D2));
            let word = b.emit(fetch, &[x, y, number]).into_iter().next().unwrap_or(number);
            let byte = b.word(0xff);
            if is_stencil { b.and(word, byte) } else { shifted(b, Op::Shr, word, 8) }
        });
        let value = choice.value(b, samples);
        let word = if is_stencil { value } else { shifted(b, Op::Shl, value, 8) };
        beside_what_stays(b, word, stays)
    })
}

/// Column and row of the texel that stands so far along row `y` of a line, from its rows' first on.
fn place_in_line(b: &mut Builder, along: Value, y: Value) -> [Value; 2] {
    let [first, width, part, texels] =
        [COLUMN_AT, WIDTH_AT, PART_AT, TEXELS_AT].map(|at| b.op(Op::LoadPush(at), &[]));
    let before = b.imul(y, texels);
    let number = b.iadd(before, along);
    let number = b.iadd(number, first);
    divided(b, number, width, part)
}

/// What is left of a number below 2^24 or so, and how often it has a width, of which one is about such a part.
pub(super) fn divided(b: &mut Builder, number: Value, width: Value, part: Value) -> [Value; 2] {
    // A float's quotient is one too large or too small where rows begin and end, so the rest says how to mend it.
    let float = b.stof(number);
    let quotient = b.op(Op::FMul, &[float, part]);
    let row = b.op(Op::FToS, &[quotient]);
    let whole = b.imul(row, width);
    let rest = b.op(Op::ISub, &[number, whole]);
    let (zero, one) = (b.word(0), b.word(1));
    let below = b.op(Op::SLt, &[rest, zero]);
    let above = b.op(Op::SLt, &[rest, width]);
    let (less, more) = (b.op(Op::ISub, &[row, one]), b.iadd(row, one));
    let row = b.select(above, row, more);
    let row = b.select(below, less, row);
    let (back, on) = (b.iadd(rest, width), b.op(Op::ISub, &[rest, width]));
    let rest = b.select(above, rest, on);
    [b.select(below, back, rest), row]
}

/// A texel of an image's first level.
pub(super) fn fetch_of(b: &mut Builder, image: Descriptor, x: Value, y: Value) -> SmallVec<[Value; 4]> {
    let level = b.word(0);
    b.emit(Op::Fetch(Fetch::plain(image, ImageDim::D2)), &[x, y, level]).into_iter().collect()
}

fn fetch(b: &mut Builder, x: Value, y: Value) -> SmallVec<[Value; 4]> {
    fetch_of(b, IMAGE, x, y)
}

/// The word that a byte lies in, and the bits in front of it.
fn split(b: &mut Builder, at: Value) -> (Value, Value) {
    let (words, rest) = (b.word(!3), b.word(3));
    let rest = b.and(at, rest);
    (b.and(at, words), shifted(b, Op::Shl, rest, 3))
}

/// A texel that lies in one word, or a word of one.
fn load_bytes(b: &mut Builder, at: Value, bytes: u32) -> Value {
    if bytes >= 4 {
        return load(b, at, 0);
    }
    let (first, shift) = split(b, at);
    let word = load(b, first, 0);
    let (word, mask) = (b.op(Op::Shr, &[word, shift]), b.word(u32::MAX >> (32 - 8 * bytes)));
    b.and(word, mask)
}

pub(super) fn load(b: &mut Builder, at: Value, offset: u32) -> Value {
    b.op(Op::LoadUboDynamic { buffer: BUFFER, offset, last: offset }, &[at])
}

/// Column and row of the pixel, also of targets that are drawn in parts.
pub(super) fn pixel(b: &mut Builder) -> [Value; 2] {
    [0, 1].map(|axis| b.op(Op::LoadBuiltin(BuiltinInput::Pixel(axis)), &[]))
}

/// The same, [`COLUMN_AT`] and [`ROW_AT`] further on.
fn further_on(b: &mut Builder) -> [Value; 2] {
    let [x, y] = pixel(b);
    let [column, row] = [COLUMN_AT, ROW_AT].map(|at| b.op(Op::LoadPush(at), &[]));
    [b.iadd(x, column), b.iadd(y, row)]
}

pub(super) fn shifted(b: &mut Builder, op: Op, value: Value, bits: u32) -> Value {
    let bits = b.word(bits);
    b.op(op, &[value, bits])
}

/// A fragment stage that writes a word.
pub(super) fn fragment(word: impl FnOnce(&mut Builder) -> Value) -> Shader {
    fragment_of(|b| SmallVec::from_slice(&[word(b)]))
}

/// A fragment stage that writes components.
pub(super) fn fragment_of(components: impl FnOnce(&mut Builder) -> SmallVec<[Value; 4]>) -> Shader {
    let mut shader = Shader::new(Stage::Fragment);
    if let Some(entry) = shader.entry() {
        let b = &mut Builder::new(&mut shader, entry);
        for (component, value) in (0..).zip(components(b)) {
            b.store_output(Output::User { location: 0, component }, value);
        }
    }
    shader
}
