//! ETC2 and EAC blocks decoded by programs: what [`BlockFormat::decode`] does on the CPU, bit by bit.

use vc4::image::etc2::{BlockFormat, DISTANCES, EAC_MODIFIERS, MODIFIERS};
use vc4_shaders::ir::{Builder, Op, Value};

/// The word that a texel is decoded to (of 16 bits, its lower half): column and row in a block, whose words are as memory has them.
pub(super) fn texel(b: &mut Builder, format: BlockFormat, words: &[Value], [x, y]: [Value; 2]) -> Value {
    let column = shl(b, x, 2);
    let at = b.iadd(column, y);
    let mut halves = words.chunks_exact(2).map(|half| Half::new(b, [half[0], half[1]]));
    let (Some(first), second) = (halves.next(), halves.next()) else { return at };
    match (format, second) {
        (BlockFormat::EacRSigned, _) => eleven(b, &first, at, true),
        (BlockFormat::EacRg | BlockFormat::EacRgSigned, Some(second)) => {
            let signed = format == BlockFormat::EacRgSigned;
            let [red, green] = [first, second].map(|half| eleven(b, &half, at, signed));
            let green = shl(b, green, 16);
            or(b, red, green)
        }
        (BlockFormat::Etc2Rgba, Some(second)) => {
            let (alpha, color) = (alpha(b, &first, at), color(b, &second, at, [x, y], false));
            let color = masked(b, color, 0xff_ffff);
            let alpha = shl(b, alpha, 24);
            or(b, color, alpha)
        }
        (BlockFormat::Etc2Rgb, _) => color(b, &first, at, [x, y], false),
        (BlockFormat::Etc2RgbA1, _) => color(b, &first, at, [x, y], true),
        _ => eleven(b, &first, at, false),
    }
}

/// Eight bytes of a block, whose bits are counted from the last one's lowest.
struct Half {
    /// Bits 63 to 32.
    high: Value,
    /// Bits 31 to 0.
    low: Value,
}

impl Half {
    fn new(b: &mut Builder, words: [Value; 2]) -> Half {
        let [high, low] = words.map(|word| swapped(b, word));
        Half { high, low }
    }

    /// Bits `high` to `low`, both in one word.
    fn bits(&self, b: &mut Builder, high: u32, low: u32) -> Value {
        let word = if low >= 32 { self.high } else { self.low };
        let upper = shr(b, word, low % 32);
        masked(b, upper, (1 << (high - low + 1)) - 1)
    }

    /// Fields side by side, the upper ones first.
    fn joined<const N: usize>(&self, b: &mut Builder, fields: [[u32; 2]; N]) -> Value {
        let none = b.word(0);
        fields.into_iter().fold(none, |number, [high, low]| {
            let (upper, field) = (shl(b, number, high - low + 1), self.bits(b, high, low));
            or(b, upper, field)
        })
    }

    /// Whether a bit is set.
    fn is_set(&self, b: &mut Builder, bit: u32) -> Value {
        let (bit, none) = (self.bits(b, bit, bit), b.word(0));
        b.op(Op::INe, &[bit, none])
    }
}

/// The bytes of a word the other way round.
fn swapped(b: &mut Builder, word: Value) -> Value {
    let (first, last) = (shl(b, word, 24), shr(b, word, 24));
    let ends = or(b, first, last);
    let inner = [(8, Op::Shl, 0xff_0000), (8, Op::Shr, 0xff00)];
    inner.into_iter().fold(ends, |all, (bits, op, mask)| {
        let bits = b.word(bits);
        let moved = b.op(op, &[word, bits]);
        let byte = masked(b, moved, mask);
        or(b, all, byte)
    })
}

fn shl(b: &mut Builder, value: Value, bits: u32) -> Value {
    let bits = b.word(bits);
    b.op(Op::Shl, &[value, bits])
}

fn shr(b: &mut Builder, value: Value, bits: u32) -> Value {
    let bits = b.word(bits);
    b.op(Op::Shr, &[value, bits])
}

fn or(b: &mut Builder, one: Value, other: Value) -> Value {
    b.op(Op::Or, &[one, other])
}

fn masked(b: &mut Builder, value: Value, mask: u32) -> Value {
    let mask = b.word(mask);
    b.and(value, mask)
}

fn plus(b: &mut Builder, value: Value, number: i32) -> Value {
    let number = b.word(number as u32);
    b.iadd(value, number)
}

fn negated(b: &mut Builder, value: Value) -> Value {
    let zero = b.word(0);
    b.op(Op::ISub, &[zero, value])
}

fn clamped(b: &mut Builder, value: Value, low: i32, high: i32) -> Value {
    let [low, high] = [low, high].map(|end| b.word(end as u32));
    let value = b.op(Op::SMax, &[value, low]);
    b.op(Op::SMin, &[value, high])
}

/// One of numbers of `bits` bits, a power of two, that constants hold side by side.
fn looked_up(b: &mut Builder, number: Value, bits: u32, table: &[u32]) -> Value {
    let per_word = 32 / bits;
    let words: Vec<u32> = table
        .chunks(per_word as usize)
        .map(|numbers| numbers.iter().rev().fold(0, |word, number| word << bits | number))
        .collect();
    let index = shr(b, number, per_word.trailing_zeros());
    let first = b.word(words[0]);
    let word = (0..).zip(&words).skip(1).fold(first, |chosen, (other, word)| {
        let (other, word) = (b.word(other), b.word(*word));
        let is = b.op(Op::IEq, &[index, other]);
        b.select(is, word, chosen)
    });
    let place = masked(b, number, per_word - 1);
    let place = shl(b, place, bits.trailing_zeros());
    let upper = b.op(Op::Shr, &[word, place]);
    if bits == 32 { upper } else { masked(b, upper, (1 << bits) - 1) }
}

/// Repeats the high bits of a number of `width` bits, four and more, below it, up to 8 bits.
fn widened(b: &mut Builder, value: Value, width: u32) -> Value {
    let (high, low) = (shl(b, value, 8 - width), shr(b, value, 2 * width - 8));
    or(b, high, low)
}

type Rgb = [Value; 3];

fn chosen(b: &mut Builder, condition: Value, then: Rgb, otherwise: Rgb) -> Rgb {
    [0, 1, 2].map(|n| b.select(condition, then[n], otherwise[n]))
}

/// Both of two conditions.
fn both(b: &mut Builder, one: Value, other: Value) -> Value {
    let never = b.truth(false);
    b.select(one, other, never)
}

fn not(b: &mut Builder, condition: Value) -> Value {
    let [always, never] = [true, false].map(|truth| b.truth(truth));
    b.select(condition, never, always)
}

/// The texel of a colour block, as bytes R, G, B, A.
fn color(b: &mut Builder, block: &Half, at: Value, place: [Value; 2], punch_through: bool) -> Value {
    let index = Index::new(b, block, at);
    // The bit that chooses the differential mode says "opaque" in punch-through blocks, which know no other mode.
    let flag = block.is_set(b, 33);
    let first = [63, 55, 47].map(|top| block.bits(b, top, top - 4));
    let second: Vec<Value> = [58, 50, 42]
        .into_iter()
        .zip(first)
        .map(|(top, first)| {
            let (bits, sign) = (block.bits(b, top, top - 2), b.word(4));
            let bits = b.op(Op::Xor, &[bits, sign]);
            let delta = plus(b, bits, -4);
            b.iadd(first, delta)
        })
        .collect();
    let second = [second[0], second[1], second[2]];
    let mut base = [first, second].map(|color| color.map(|value| widened(b, value, 5)));
    if !punch_through {
        let own = [[63, 55, 47], [59, 51, 43]].map(|tops| four_bits(b, block, tops));
        base = [0, 1].map(|half| chosen(b, flag, base[half], own[half]));
    }
    let transparent = if punch_through { not(b, flag) } else { b.truth(false) };
    let halves = in_halves(b, block, base, place, &index, transparent);
    let modes = [t_mode(b, block, &index), h_mode(b, block, &index), planar(b, block, place)];
    // Sums that overflow name the other modes.
    let [red, green, blue] = second.map(|sum| {
        let last = b.word(31);
        b.op(Op::ULt, &[last, sum])
    });
    let distant = [(blue, modes[2]), (green, modes[1]), (red, modes[0])];
    let rgb = distant.into_iter().fold(halves, |rgb, (is, mode)| chosen(b, is, mode, rgb));
    let rgb = if punch_through { rgb } else { chosen(b, flag, rgb, halves) };
    let opaque = b.word(0xff00_0000);
    let bytes = (0..).zip(rgb).fold(opaque, |word, (byte, value)| {
        let value = clamped(b, value, 0, 255);
        let value = shl(b, value, 8 * byte);
        or(b, word, value)
    });
    // Number 2 is no colour where blocks are not opaque; planes have no numbers.
    let (low, others) = (not(b, index.low), b.select(red, red, green));
    let two = both(b, index.high, low);
    let numbered = not(b, blue);
    let numbered = b.select(others, others, numbered);
    let hidden = both(b, two, numbered);
    let hidden = both(b, transparent, hidden);
    let none = b.word(0);
    b.select(hidden, none, bytes)
}

/// The two-bit index of a texel.
struct Index {
    high: Value,
    low: Value,
}

impl Index {
    fn new(b: &mut Builder, block: &Half, at: Value) -> Index {
        let [high, low] = [16, 0].map(|first| {
            let (first, none) = (plus(b, at, first), b.word(0));
            let upper = b.op(Op::Shr, &[block.low, first]);
            let bit = masked(b, upper, 1);
            b.op(Op::INe, &[bit, none])
        });
        Index { high, low }
    }

    /// One of four.
    fn of(&self, b: &mut Builder, colors: [Rgb; 4]) -> Rgb {
        let [zero, one, two, three] = colors;
        let (even, odd) = (chosen(b, self.high, two, zero), chosen(b, self.high, three, one));
        chosen(b, self.low, odd, even)
    }
}

/// Numbers of four bits from these bits on down.
fn four_bits(b: &mut Builder, block: &Half, tops: [u32; 3]) -> Rgb {
    tops.map(|top| {
        let bits = block.bits(b, top, top - 3);
        widened(b, bits, 4)
    })
}

/// Two halves with a base colour and a table each.
fn in_halves(
    b: &mut Builder,
    block: &Half,
    base: [Rgb; 2],
    [x, y]: [Value; 2],
    index: &Index,
    transparent: Value,
) -> Rgb {
    let flipped = block.is_set(b, 32);
    let (along, two) = (b.select(flipped, y, x), b.word(2));
    let is_second = b.op(Op::ULe, &[two, along]);
    let tables = [[39, 37], [36, 34]].map(|[high, low]| block.bits(b, high, low));
    let table = b.select(is_second, tables[1], tables[0]);
    let [small, large] = [0, 1].map(|n| looked_up(b, table, 8, &MODIFIERS.map(|pair| pair[n] as u32)));
    let none = b.word(0);
    let small = b.select(transparent, none, small);
    let size = b.select(index.low, large, small);
    let negative = negated(b, size);
    let modifier = b.select(index.high, negative, size);
    chosen(b, is_second, base[1], base[0]).map(|value| b.iadd(value, modifier))
}

fn t_mode(b: &mut Builder, block: &Half, index: &Index) -> Rgb {
    let red = block.joined(b, [[60, 59], [57, 56]]);
    let first = [red, block.bits(b, 55, 52), block.bits(b, 51, 48)].map(|value| widened(b, value, 4));
    let second = four_bits(b, block, [47, 43, 39]);
    let distance = block.joined(b, [[35, 34], [32, 32]]);
    let distance = looked_up(b, distance, 8, &DISTANCES.map(|distance| distance as u32));
    let above = second.map(|value| b.iadd(value, distance));
    let below = second.map(|value| b.op(Op::ISub, &[value, distance]));
    index.of(b, [first, above, second, below])
}

fn h_mode(b: &mut Builder, block: &Half, index: &Index) -> Rgb {
    let green = block.joined(b, [[58, 56], [52, 52]]);
    let blue = block.joined(b, [[51, 51], [49, 47]]);
    let first = [block.bits(b, 62, 59), green, blue];
    let second = [46, 42, 38].map(|top| block.bits(b, top, top - 3));
    // The order of the two colours is the distance's lowest bit.
    let [first_number, second_number] = [first, second].map(|[red, green, blue]| {
        let red = shl(b, red, 4);
        let number = or(b, red, green);
        let number = shl(b, number, 4);
        or(b, number, blue)
    });
    let ordered = b.op(Op::ULe, &[second_number, first_number]);
    let (one, none) = (b.word(1), b.word(0));
    let ordered = b.select(ordered, one, none);
    let distance = block.joined(b, [[34, 34], [32, 32]]);
    let distance = shl(b, distance, 1);
    let distance = or(b, distance, ordered);
    let distance = looked_up(b, distance, 8, &DISTANCES.map(|distance| distance as u32));
    let [first, second] = [first, second].map(|color| color.map(|value| widened(b, value, 4)));
    let color = [0, 1, 2].map(|n| b.select(index.high, second[n], first[n]));
    let negative = negated(b, distance);
    let distance = b.select(index.low, negative, distance);
    color.map(|value| b.iadd(value, distance))
}

fn planar(b: &mut Builder, block: &Half, [x, y]: [Value; 2]) -> Rgb {
    let origin = [
        block.bits(b, 62, 57),
        block.joined(b, [[56, 56], [54, 49]]),
        block.joined(b, [[48, 48], [44, 43], [41, 39]]),
    ];
    let right = [block.joined(b, [[38, 34], [32, 32]]), block.bits(b, 31, 25), block.bits(b, 24, 19)];
    let below = [block.bits(b, 18, 13), block.bits(b, 12, 6), block.bits(b, 5, 0)];
    [0, 1, 2].map(|n| {
        let width = if n == 1 { 7 } else { 6 };
        let [origin, right, below] = [origin, right, below].map(|color| widened(b, color[n], width));
        let steps = [(x, right), (y, below)].map(|(way, end)| {
            let step = b.op(Op::ISub, &[end, origin]);
            b.imul(way, step)
        });
        let start = shl(b, origin, 2);
        let sum = b.iadd(steps[0], steps[1]);
        let sum = b.iadd(sum, start);
        let (sum, two) = (plus(b, sum, 2), b.word(2));
        b.op(Op::Asr, &[sum, two])
    })
}

/// Base and multiplier of an EAC block, and a texel's modifier.
fn eac(b: &mut Builder, block: &Half, at: Value) -> [Value; 3] {
    // Three bits for each texel, from bit 47 down: 24 for each eight.
    let (upper, lower) = (masked(b, block.high, 0xffff), shr(b, block.low, 24));
    let upper = shl(b, upper, 8);
    let first = or(b, upper, lower);
    let (in_eight, seven) = (masked(b, at, 7), b.word(7));
    let is_first = b.op(Op::IEq, &[in_eight, at]);
    let eight = b.select(is_first, first, block.low);
    let (behind, three) = (b.op(Op::ISub, &[seven, in_eight]), b.word(3));
    let behind = b.imul(behind, three);
    let index = b.op(Op::Shr, &[eight, behind]);
    let index = masked(b, index, 7);
    let table = block.bits(b, 51, 48);
    let magnitudes: Vec<u32> =
        EAC_MODIFIERS.iter().flat_map(|row| row[..4].iter().map(|value| value.unsigned_abs())).collect();
    let (row, column) = (shl(b, table, 2), masked(b, index, 3));
    let entry = b.iadd(row, column);
    let magnitude = looked_up(b, entry, 4, &magnitudes);
    // The second four of a table are the first with all bits turned round.
    let (negative, positive) = (negated(b, magnitude), plus(b, magnitude, -1));
    let four = masked(b, index, 4);
    let none = b.word(0);
    let is_positive = b.op(Op::INe, &[four, none]);
    let modifier = b.select(is_positive, positive, negative);
    [block.bits(b, 63, 56), block.bits(b, 55, 52), modifier]
}

fn alpha(b: &mut Builder, block: &Half, at: Value) -> Value {
    let [base, multiplier, modifier] = eac(b, block, at);
    let step = b.imul(modifier, multiplier);
    let value = b.iadd(base, step);
    clamped(b, value, 0, 255)
}

/// The 11 bits of a texel, as 16-bit UNORM or SNORM.
fn eleven(b: &mut Builder, block: &Half, at: Value, signed: bool) -> Value {
    let [base, multiplier, modifier] = eac(b, block, at);
    // A multiplier of 0 stands for 1/8.
    let (none, one) = (b.word(0), b.word(1));
    let is_eighth = b.op(Op::IEq, &[multiplier, none]);
    let step = shl(b, multiplier, 3);
    let step = b.select(is_eighth, one, step);
    let distance = b.imul(modifier, step);
    if !signed {
        let base = shl(b, base, 3);
        let base = plus(b, base, 4);
        let value = b.iadd(base, distance);
        let value = clamped(b, value, 0, 2047);
        let (high, low) = (shl(b, value, 5), shr(b, value, 6));
        return or(b, high, low);
    }
    let sign = b.word(0x80);
    let base = b.op(Op::Xor, &[base, sign]);
    let base = plus(b, base, -0x80);
    let least = b.word(-127_i32 as u32);
    let base = b.op(Op::SMax, &[base, least]);
    let base = shl(b, base, 3);
    let value = b.iadd(base, distance);
    let value = clamped(b, value, -1023, 1023);
    let negative = negated(b, value);
    let magnitude = b.op(Op::SMax, &[value, negative]);
    let (high, low) = (shl(b, magnitude, 5), shr(b, magnitude, 5));
    let magnitude = or(b, high, low);
    let is_negative = b.op(Op::SLt, &[value, none]);
    let negative = negated(b, magnitude);
    let value = b.select(is_negative, negative, magnitude);
    masked(b, value, 0xffff)
}

#[cfg(test)]
mod tests {
    use vc4_shaders::ir::{Shader, Stage};

    use super::*;

    /// The texel of a program whose inputs are constants: it is done when it is built.
    fn decoded(format: BlockFormat, block: &[u8], [x, y]: [u32; 2]) -> u32 {
        let mut shader = Shader::new(Stage::Fragment);
        let entry = shader.entry().unwrap();
        let b = &mut Builder::new(&mut shader, entry);
        let words: Vec<Value> =
            block.chunks_exact(4).map(|word| b.word(u32::from_le_bytes(word.try_into().unwrap()))).collect();
        let place = [x, y].map(|at| b.word(at));
        let value = texel(b, format, &words, place);
        shader.const_of(value).expect("computed from constants")
    }

    fn assert_like_the_cpu(format: BlockFormat, block: &[u8]) {
        format.decode(block, |x, y, texel| {
            let expected = texel.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
            let got = decoded(format, block, [x as u32, y as u32]);
            assert_eq!(got, expected, "{format:?} ({x}, {y}) of {block:x?}: {got:#x}, not {expected:#x}");
        });
    }

    #[test]
    fn blocks_become_texels_as_on_the_cpu() {
        use BlockFormat::{EacR, EacRSigned, EacRg, EacRgSigned, Etc2Rgb, Etc2RgbA1, Etc2Rgba};
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()
        };
        for format in [EacR, EacRSigned, EacRg, EacRgSigned, Etc2Rgb, Etc2RgbA1, Etc2Rgba] {
            for number in 0..60 {
                let mut block = [random(), random()].concat();
                // Large colours with large differences overflow, which names the rarer modes: channel after channel.
                let half = if format == Etc2Rgba { 8 } else { 0 };
                block[half + number % 3] |= if number % 2 == 0 { 0xf8 } else { 0 };
                block[half + 3] |= ((number as u8 / 3) & 1) << 1;
                assert_like_the_cpu(format, &block[..format.bytes() as usize]);
            }
        }
        for byte in [0, 0xff, 0x80, 0x7f] {
            assert_like_the_cpu(EacRSigned, &[byte; 8]);
            assert_like_the_cpu(Etc2RgbA1, &[byte; 8]);
        }
    }
}
