//! ETC2 and EAC blocks decoded on the CPU (Khronos Data Format 1.3, chapters 22 and 23). The texture unit knows ETC1
//! only (textures.md §3), so these formats are sampled from decoded texels.

/// Texels along the edge of a block.
pub const BLOCK_PX: u32 = 4;
/// Texels of a block.
const TEXELS: usize = 16;

/// A block format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockFormat {
    /// ETC2 red, green, blue.
    Etc2Rgb,
    /// ETC2 with punch-through alpha.
    Etc2RgbA1,
    /// ETC2 with EAC alpha.
    Etc2Rgba,
    /// EAC red.
    EacR,
    /// EAC red, signed.
    EacRSigned,
    /// EAC red and green.
    EacRg,
    /// EAC red and green, signed.
    EacRgSigned,
}

impl BlockFormat {
    /// Bytes of a block.
    pub const fn bytes(self) -> u32 {
        match self {
            BlockFormat::Etc2Rgb | BlockFormat::Etc2RgbA1 | BlockFormat::EacR | BlockFormat::EacRSigned => 8,
            BlockFormat::Etc2Rgba | BlockFormat::EacRg | BlockFormat::EacRgSigned => 16,
        }
    }

    /// What decoded texels are, without the sRGB curve: a name for [`super::texel::TexelInfo::of_name`].
    pub const fn decoded(self) -> &'static str {
        match self {
            BlockFormat::Etc2Rgb | BlockFormat::Etc2RgbA1 | BlockFormat::Etc2Rgba => "R8G8B8A8_UNORM",
            BlockFormat::EacR => "R16_UNORM",
            BlockFormat::EacRSigned => "R16_SNORM",
            BlockFormat::EacRg => "R16G16_UNORM",
            BlockFormat::EacRgSigned => "R16G16_SNORM",
        }
    }

    /// Bytes of a decoded texel.
    pub const fn texel_bytes(self) -> usize {
        match self {
            BlockFormat::EacR | BlockFormat::EacRSigned => 2,
            _ => 4,
        }
    }

    /// Decodes a block: calls `texel` with column, row and the bytes of each texel.
    ///
    /// # Panics
    /// If `block` is shorter than [`Self::bytes`].
    pub fn decode(self, block: &[u8], mut texel: impl FnMut(usize, usize, &[u8])) {
        let half = |n: usize| u64::from_be_bytes(std::array::from_fn(|byte| block[8 * n + byte]));
        let mut colors = |colors: [[u8; 4]; TEXELS]| {
            for (at, color) in colors.iter().enumerate() {
                texel(at / 4, at % 4, color);
            }
        };
        match self {
            BlockFormat::Etc2Rgb => colors(rgb(half(0), false)),
            BlockFormat::Etc2RgbA1 => colors(rgb(half(0), true)),
            BlockFormat::Etc2Rgba => {
                let (alpha, mut rgba) = (alpha(half(0)), rgb(half(1), false));
                rgba.iter_mut().zip(alpha).for_each(|(color, alpha)| color[3] = alpha);
                colors(rgba);
            }
            BlockFormat::EacR | BlockFormat::EacRSigned => {
                let red = eleven(half(0), self == BlockFormat::EacRSigned);
                for (at, red) in red.iter().enumerate() {
                    texel(at / 4, at % 4, &red.to_le_bytes());
                }
            }
            BlockFormat::EacRg | BlockFormat::EacRgSigned => {
                let signed = self == BlockFormat::EacRgSigned;
                let (red, green) = (eleven(half(0), signed), eleven(half(1), signed));
                for (at, (red, green)) in red.iter().zip(green).enumerate() {
                    let word = u32::from(*red) | u32::from(green) << 16;
                    texel(at / 4, at % 4, &word.to_le_bytes());
                }
            }
        }
    }
}

/// Bits `high` to `low` of a block.
fn bits(block: u64, high: u32, low: u32) -> i32 {
    (block >> low & ((1 << (high - low + 1)) - 1)) as i32
}

/// Repeats the high bits of a number of `width` bits below it, up to 8 bits.
fn widen(value: i32, width: u32) -> i32 {
    match width {
        4 => value * 17,
        5 => value << 3 | value >> 2,
        6 => value << 2 | value >> 4,
        _ => value << 1 | value >> 6,
    }
}

type Rgb = [i32; 3];

/// The small and the large modifier of each table.
pub const MODIFIERS: [[i32; 2]; 8] =
    [[2, 8], [5, 17], [9, 29], [13, 42], [18, 60], [24, 80], [33, 106], [47, 183]];
/// Distances of the T and H modes.
pub const DISTANCES: [i32; 8] = [3, 6, 11, 16, 23, 32, 41, 64];

/// Texels of a colour block, column by column as the indices have them.
fn rgb(block: u64, punch_through: bool) -> [[u8; 4]; TEXELS] {
    // The bit that chooses the differential mode says "opaque" in punch-through blocks, which know no other mode.
    let flag = bits(block, 33, 33) != 0;
    let transparent = punch_through && !flag;
    if !punch_through && !flag {
        let base =
            [[63, 59], [55, 51], [47, 43]].map(|high| high.map(|high| widen(bits(block, high, high - 3), 4)));
        return halves(block, [base.map(|pair| pair[0]), base.map(|pair| pair[1])], false);
    }
    let first = [63, 55, 47].map(|high| bits(block, high, high - 4));
    let delta = [58, 50, 42].map(|high| (bits(block, high, high - 2) ^ 4) - 4);
    let second: Rgb = std::array::from_fn(|n| first[n] + delta[n]);
    // Sums that overflow name the other modes.
    match second.map(|sum| (0..32).contains(&sum)) {
        [false, ..] => painted(block, t_mode(block), transparent),
        [_, false, _] => painted(block, h_mode(block), transparent),
        [.., false] => planar(block),
        _ => {
            let base = [first, second].map(|color| color.map(|value| widen(value, 5)));
            halves(block, base, transparent)
        }
    }
}

/// The two-bit index of a texel.
fn index(block: u64, at: usize) -> usize {
    ((block >> (16 + at) & 1) << 1 | block >> at & 1) as usize
}

fn opaque(color: Rgb) -> [u8; 4] {
    let [r, g, b] = color.map(|value| value.clamp(0, 255) as u8);
    [r, g, b, 255]
}

/// Two halves with a base colour and a table each.
fn halves(block: u64, base: [Rgb; 2], transparent: bool) -> [[u8; 4]; TEXELS] {
    let tables = [bits(block, 39, 37), bits(block, 36, 34)].map(|table| MODIFIERS[table as usize]);
    let flipped = bits(block, 32, 32) != 0;
    std::array::from_fn(|at| {
        let half = usize::from(if flipped { at % 4 >= 2 } else { at / 4 >= 2 });
        let [small, large] = tables[half];
        let modifier = match index(block, at) {
            0 if transparent => 0,
            0 => small,
            1 => large,
            2 if transparent => return [0; 4],
            2 => -small,
            _ => -large,
        };
        opaque(base[half].map(|value| value + modifier))
    })
}

fn painted(block: u64, paint: [Rgb; 4], transparent: bool) -> [[u8; 4]; TEXELS] {
    std::array::from_fn(|at| match index(block, at) {
        2 if transparent => [0; 4],
        n => opaque(paint[n]),
    })
}

fn t_mode(block: u64) -> [Rgb; 4] {
    let red = bits(block, 60, 59) << 2 | bits(block, 57, 56);
    let first = [red, bits(block, 55, 52), bits(block, 51, 48)].map(|value| widen(value, 4));
    let second = [47, 43, 39].map(|high| widen(bits(block, high, high - 3), 4));
    let distance = DISTANCES[(bits(block, 35, 34) << 1 | bits(block, 32, 32)) as usize];
    [first, second.map(|value| value + distance), second, second.map(|value| value - distance)]
}

fn h_mode(block: u64) -> [Rgb; 4] {
    let green = bits(block, 58, 56) << 1 | bits(block, 52, 52);
    let blue = bits(block, 51, 51) << 3 | bits(block, 49, 47);
    let first = [bits(block, 62, 59), green, blue];
    let second = [46, 42, 38].map(|high| bits(block, high, high - 3));
    // The order of the two colours is the distance's lowest bit.
    let ordered = i32::from(first >= second);
    let distance = bits(block, 34, 34) << 2 | bits(block, 32, 32) << 1 | ordered;
    let distance = DISTANCES[distance as usize];
    let [first, second] = [first, second].map(|color| color.map(|value| widen(value, 4)));
    let add = |color: Rgb, distance: i32| color.map(|value| value + distance);
    [add(first, distance), add(first, -distance), add(second, distance), add(second, -distance)]
}

fn planar(block: u64) -> [[u8; 4]; TEXELS] {
    let green = bits(block, 56, 56) << 6 | bits(block, 54, 49);
    let blue = bits(block, 48, 48) << 5 | bits(block, 44, 43) << 3 | bits(block, 41, 39);
    let widths = [6, 7, 6];
    let color = |values: Rgb| std::array::from_fn::<i32, 3, _>(|n| widen(values[n], widths[n]));
    let origin = color([bits(block, 62, 57), green, blue]);
    let red = bits(block, 38, 34) << 1 | bits(block, 32, 32);
    let right = color([red, bits(block, 31, 25), bits(block, 24, 19)]);
    let below = color([bits(block, 18, 13), bits(block, 12, 6), bits(block, 5, 0)]);
    std::array::from_fn(|at| {
        let (x, y) = ((at / 4) as i32, (at % 4) as i32);
        let value =
            |n: usize| (x * (right[n] - origin[n]) + y * (below[n] - origin[n]) + 4 * origin[n] + 2) >> 2;
        opaque([value(0), value(1), value(2)])
    })
}

/// Modifiers of EAC.
pub const EAC_MODIFIERS: [[i32; 8]; 16] = [
    [-3, -6, -9, -15, 2, 5, 8, 14],
    [-3, -7, -10, -13, 2, 6, 9, 12],
    [-2, -5, -8, -13, 1, 4, 7, 12],
    [-2, -4, -6, -13, 1, 3, 5, 12],
    [-3, -6, -8, -12, 2, 5, 7, 11],
    [-3, -7, -9, -11, 2, 6, 8, 10],
    [-4, -7, -8, -11, 3, 6, 7, 10],
    [-3, -5, -8, -11, 2, 4, 7, 10],
    [-2, -6, -8, -10, 1, 5, 7, 9],
    [-2, -5, -8, -10, 1, 4, 7, 9],
    [-2, -4, -8, -10, 1, 3, 7, 9],
    [-2, -5, -7, -10, 1, 4, 6, 9],
    [-3, -4, -7, -10, 2, 3, 6, 9],
    [-1, -2, -3, -10, 0, 1, 2, 9],
    [-4, -6, -8, -9, 3, 5, 7, 8],
    [-3, -5, -7, -9, 2, 4, 6, 8],
];

/// Base, multiplier and modifiers of an EAC block's texels.
fn eac(block: u64) -> (u8, i32, [i32; TEXELS]) {
    let table = EAC_MODIFIERS[bits(block, 51, 48) as usize];
    let modifiers = std::array::from_fn(|at| table[(block >> (45 - 3 * at) & 7) as usize]);
    ((block >> 56) as u8, bits(block, 55, 52), modifiers)
}

fn alpha(block: u64) -> [u8; TEXELS] {
    let (base, multiplier, modifiers) = eac(block);
    modifiers.map(|modifier| (i32::from(base) + modifier * multiplier).clamp(0, 255) as u8)
}

/// The 11 bits of each texel, as 16-bit UNORM or SNORM.
fn eleven(block: u64, signed: bool) -> [u16; TEXELS] {
    let (base, multiplier, modifiers) = eac(block);
    // A multiplier of 0 stands for 1/8.
    let step = if multiplier == 0 { 1 } else { 8 * multiplier };
    modifiers.map(|modifier| {
        if signed {
            let base = i32::from(base as i8).max(-127);
            let value = (base * 8 + modifier * step).clamp(-1023, 1023);
            let magnitude = value.abs() << 5 | value.abs() >> 5;
            (magnitude * value.signum()) as u16
        } else {
            let value = (i32::from(base) * 8 + 4 + modifier * step).clamp(0, 2047);
            (value << 5 | value >> 6) as u16
        }
    })
}

#[cfg(test)]
mod tests {
    #[cfg(target_pointer_width = "64")]
    use proptest::prelude::*;

    use super::*;

    #[cfg(target_pointer_width = "64")]
    type Decoder = fn(&[u8], usize, usize, &mut [u32]) -> Result<(), &'static str>;

    /// One block as the published decoder has it: B, G, R, A from the lowest byte.
    #[cfg(target_pointer_width = "64")]
    fn oracle(decode: Decoder, block: &[u8]) -> [[u8; 4]; TEXELS] {
        let mut texels = [0; TEXELS];
        decode(block, 4, 4, &mut texels).unwrap();
        texels.map(|texel| {
            let [b, g, r, a] = texel.to_le_bytes();
            [r, g, b, a]
        })
    }

    fn ours<const N: usize>(format: BlockFormat, block: &[u8]) -> [[u8; N]; TEXELS] {
        let mut texels = [[0; N]; TEXELS];
        format.decode(block, |x, y, bytes| texels[y * 4 + x].copy_from_slice(bytes));
        texels
    }

    // The published decoder keeps the 48 bits of a channel's indices in a usize: on machines of 32 bits it loses some.
    #[cfg(target_pointer_width = "64")]
    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        /// Random blocks reach every mode: three of four sums of each channel overflow rarely, but often enough.
        #[test]
        fn colours_are_those_of_a_published_decoder(block: [u8; 16]) {
            let pairs: [(BlockFormat, Decoder); 3] = [
                (BlockFormat::Etc2Rgb, texture2ddecoder::decode_etc2_rgb),
                (BlockFormat::Etc2RgbA1, texture2ddecoder::decode_etc2_rgba1),
                (BlockFormat::Etc2Rgba, texture2ddecoder::decode_etc2_rgba8),
            ];
            for (format, decode) in pairs {
                let mut expected = oracle(decode, &block);
                // The other decoder leaves the colour of transparent texels in place; the specification has black.
                if format == BlockFormat::Etc2RgbA1 {
                    expected.iter_mut().filter(|color| color[3] == 0).for_each(|color| *color = [0; 4]);
                }
                prop_assert_eq!(ours::<4>(format, &block), expected, "{:?}", format);
            }
        }

        /// The high 8 of 11 unsigned bits are what the published decoder has for alpha, whose blocks look the same;
        /// a multiplier of 0 alone differs.
        #[test]
        fn high_bits_of_unsigned_channels_are_those_of_a_published_decoder(mut block: [u8; 16]) {
            block[1] |= 0x10;
            block[9] |= 0x10;
            let alpha = |half: &[u8]| {
                let whole: Vec<u8> = half.iter().chain(&[0; 8]).copied().collect();
                oracle(texture2ddecoder::decode_etc2_rgba8, &whole).map(|color| color[3])
            };
            let (red, green) = (alpha(&block[..8]), alpha(&block[8..]));
            for (at, texel) in ours::<4>(BlockFormat::EacRg, &block).iter().enumerate() {
                prop_assert_eq!([texel[1], texel[3]], [red[at], green[at]]);
            }
            let single = ours::<2>(BlockFormat::EacR, &block);
            prop_assert!(single.iter().zip(red).all(|(texel, red)| texel[1] == red));
        }
    }

    /// The equations of the Data Format specification on chosen numbers: base -128 counts as -127, and a multiplier
    /// of 0 adds the modifier itself.
    #[test]
    fn signed_channels() {
        let block = |base: u8, multiplier: u64, table: u64, index: u64| {
            let indices = (0..16).fold(0, |all, at| all | index << (3 * at));
            (u64::from(base) << 56 | multiplier << 52 | table << 48 | indices).to_be_bytes()
        };
        let first = |block: [u8; 8]| i16::from_le_bytes(ours::<2>(BlockFormat::EacRSigned, &block)[0]);
        let widened = |value: i16| value << 5 | value >> 5;
        assert_eq!(first(block(0x80, 1, 13, 4)), -widened(1016));
        assert_eq!(first(block(127, 15, 0, 7)), i16::MAX);
        assert_eq!(first(block(0x81, 15, 0, 3)), -i16::MAX);
        assert_eq!(first(block(10, 0, 0, 0)), widened(77));
        assert_eq!(first(block(10, 2, 0, 0)), widened(80 - 48));
    }

    #[test]
    fn signed_pairs_are_two_signed_blocks() {
        let block: [u8; 16] = std::array::from_fn(|n| (n * 37 + 11) as u8);
        let both = ours::<4>(BlockFormat::EacRgSigned, &block);
        let red = ours::<2>(BlockFormat::EacRSigned, &block[..8]);
        let green = ours::<2>(BlockFormat::EacRSigned, &block[8..]);
        for at in 0..TEXELS {
            assert_eq!(
                (both[at][..2].to_vec(), both[at][2..].to_vec()),
                (red[at].to_vec(), green[at].to_vec())
            );
        }
    }
}
