//! Pages of BOs: their hashes, and their form in a file.

use crate::memory::PAGE_BYTES;

/// Words of a page.
pub const PAGE_WORDS: usize = PAGE_BYTES as usize / 4;

/// Content of a page.
pub type Page = [u32; PAGE_WORDS];

/// 128 bits that stand for some content. Not meant against people who look for two contents with one hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub u128);

/// Odd, with about as many ones as zeros: fractional parts of the golden ratio and of roots of 2, 3 and 5.
const FACTORS: [u64; 4] =
    [0x9e37_79b9_7f4a_7c15, 0x6a09_e667_f3bc_c909, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b];

impl Hash {
    /// Of these words and their number.
    pub fn of(words: &[u32]) -> Hash {
        let mut lanes = FACTORS;
        let mut blocks = words.chunks_exact(8);
        for block in &mut blocks {
            for (i, lane) in lanes.iter_mut().enumerate() {
                step(lane, FACTORS[i], u64::from(block[2 * i]) | u64::from(block[2 * i + 1]) << 32);
            }
        }
        for (i, &word) in blocks.remainder().iter().enumerate() {
            step(&mut lanes[i % 4], FACTORS[i % 4], u64::from(word));
        }
        let mut halves = [words.len() as u64, !(words.len() as u64)];
        for lane in lanes {
            for (half, factor) in halves.iter_mut().zip(FACTORS) {
                step(half, factor, lane);
                *half ^= *half >> 31;
            }
        }
        Hash(u128::from(halves[0]) | u128::from(halves[1]) << 64)
    }

    /// Of bytes.
    pub fn of_bytes(bytes: &[u8]) -> Hash {
        let word = |chunk: &[u8]| {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            u32::from_le_bytes(word)
        };
        let mut words: Vec<u32> = bytes.chunks(4).map(word).collect();
        words.push(bytes.len() as u32);
        Hash::of(&words)
    }

    /// Of a BO with these pages.
    pub fn of_pages(pages: &[Hash]) -> Hash {
        let words: Vec<u32> =
            pages.iter().flat_map(|hash| (0..4).map(|i| (hash.0 >> (32 * i)) as u32)).collect();
        Hash::of(&words)
    }

    /// The low half.
    pub fn low(self) -> u64 {
        self.0 as u64
    }
}

/// Both halves of the product, so that every bit of the word reaches all of the lane at once.
#[inline(always)]
fn step(lane: &mut u64, factor: u64, word: u64) {
    let product = u128::from(*lane ^ word) * u128::from(factor);
    *lane = (product as u64).rotate_left(29) ^ (product >> 64) as u64;
}

/// A run header with this bit repeats one word.
const REPEAT: u16 = 0x8000;
/// Shorter runs of equal words are cheaper as they are.
const SHORTEST_RUN: usize = 3;

/// Appends the page as runs, each a `u16`, its low 15 bits the number of words: with the top bit one word follows,
/// which is repeated, else that many words. A page that would not get shorter is appended as it is; [`decode`] tells
/// both apart by their size.
pub fn encode(page: &Page, out: &mut Vec<u8>) {
    let start = out.len();
    let mut literal = 0;
    let mut at = 0;
    while at < PAGE_WORDS {
        let run = page[at..].iter().take_while(|&&word| word == page[at]).count();
        if run >= SHORTEST_RUN {
            put_literal(&page[literal..at], out);
            out.extend_from_slice(&(run as u16 | REPEAT).to_le_bytes());
            out.extend_from_slice(&page[at].to_le_bytes());
            literal = at + run;
        }
        at += run;
    }
    put_literal(&page[literal..], out);
    if out.len() - start >= PAGE_BYTES as usize {
        out.truncate(start);
        out.extend(page.iter().flat_map(|word| word.to_le_bytes()));
    }
}

fn put_literal(words: &[u32], out: &mut Vec<u8>) {
    if !words.is_empty() {
        out.extend_from_slice(&(words.len() as u16).to_le_bytes());
        out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }
}

/// The page that [`encode`] made these bytes of; `None` when they are no page.
pub fn decode(bytes: &[u8]) -> Option<Box<Page>> {
    let mut page = Box::new([0; PAGE_WORDS]);
    let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    if bytes.len() == PAGE_BYTES as usize {
        page.iter_mut().zip(bytes.chunks_exact(4)).for_each(|(out, bytes)| *out = word(bytes));
        return Some(page);
    }
    let (mut at, mut rest) = (0, bytes);
    while let Some((header, behind)) = rest.split_first_chunk::<2>() {
        let header = u16::from_le_bytes(*header);
        let count = usize::from(header & !REPEAT);
        let out = page.get_mut(at..at + count)?;
        let stored = if header & REPEAT != 0 { 1 } else { count };
        let words = behind.get(..stored * 4)?;
        if header & REPEAT != 0 {
            out.fill(word(words));
        } else {
            out.iter_mut().zip(words.chunks_exact(4)).for_each(|(out, bytes)| *out = word(bytes));
        }
        at += count;
        rest = &behind[stored * 4..];
    }
    (rest.is_empty() && at == PAGE_WORDS).then_some(page)
}
