//! ETC1 blocks (textures.md §3): two base colours, a table of brightness steps and a step per pixel.

/// Brightness steps of each table: small and large.
const STEPS: [[i32; 2]; 8] = [[2, 8], [5, 17], [9, 29], [13, 42], [18, 60], [24, 80], [33, 106], [47, 183]];

/// The pixel at column `x`, row `y` (0–3) of a block read as a big-endian word; alpha is 255.
pub(super) fn pixel(block: u64, x: u32, y: u32) -> u32 {
    let flipped = block >> 32 & 1 != 0;
    let second = if flipped { y >= 2 } else { x >= 2 };
    let table = block >> (if second { 34 } else { 37 }) & 7;
    // Pixels are numbered down the columns.
    let number = x * 4 + y;
    let negative = block >> (16 + number) & 1 != 0;
    let large = block >> number & 1;
    let step = STEPS[table as usize][large as usize] * if negative { -1 } else { 1 };
    let channel = |shift: u32| (base(block, shift, second) + step).clamp(0, 255) as u32;
    channel(56) | channel(48) << 8 | channel(40) << 16 | 0xff00_0000
}

/// Base value of the channel whose byte starts at bit `shift`, for the first or second half of the block.
fn base(block: u64, shift: u32, second: bool) -> i32 {
    let byte = (block >> shift & 255) as i32;
    let differential = block >> 33 & 1 != 0;
    if differential {
        // Three bits in two's complement.
        let delta = ((byte & 7) ^ 4) - 4;
        let five = if second { (byte >> 3) + delta } else { byte >> 3 } & 31;
        five << 3 | five >> 2
    } else {
        let four = if second { byte & 15 } else { byte >> 4 };
        four * 17
    }
}
