//! Finding files inside others; CGFX (`.bcsdr`) embeds them.

use super::block::{DVLB_HEADER, DVLP_HEADER};
use super::model::Shbin;

/// Offsets, on 4-byte boundaries, where a file seems to begin: `DVLB`, an offset table that fits, `DVLP` behind
/// it, and `DVLE` where the first offset points. Give the bytes from there to [`Shbin::parse`].
pub fn embedded(bytes: &[u8]) -> impl Iterator<Item = usize> + '_ {
    (0..bytes.len()).step_by(4).filter(|&at| is_plausible(&bytes[at..]))
}

fn is_plausible(bytes: &[u8]) -> bool {
    let word = |at: usize| {
        let word = bytes.get(at..)?.first_chunk()?;
        usize::try_from(u32::from_le_bytes(*word)).ok()
    };
    let begins = |at: usize, magic: &[u8]| bytes.get(at..).is_some_and(|rest| rest.starts_with(magic));
    let Some(count @ 1..) = word(4).filter(|_| bytes.starts_with(b"DVLB")) else {
        return false;
    };
    if count > (bytes.len() - DVLB_HEADER) / 4 {
        return false;
    }
    let dvlp = DVLB_HEADER + 4 * count;
    begins(dvlp, b"DVLP")
        && bytes.len() - dvlp >= DVLP_HEADER
        && word(DVLB_HEADER).is_some_and(|first| begins(first, b"DVLE"))
}

impl Shbin {
    /// Bytes the file takes: the largest end of any block. What lies behind is padding or another file.
    pub fn extent(&self) -> usize {
        self.blocks().map(|(at, size)| at + size).max().unwrap_or(0)
    }
}
