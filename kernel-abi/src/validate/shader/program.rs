//! The program of a shader BO.

use super::word::Word;
use crate::validate::rule::Rule;
use crate::validate::violation::{Place, Violation};

/// Instructions of a page: BOs are rounded up to pages of zeros (kernel-abi.md §4.5).
const PAGE_WORDS: usize = 4096 / 8;
/// The words of a shader BO.
#[derive(Clone, Copy)]
pub struct Program<'a> {
    code: &'a [u64],
    /// Instructions including the zeros up to the page end.
    pub len: u32,
}

impl<'a> Program<'a> {
    /// The program of a BO that was given these words.
    pub fn new(code: &'a [u64]) -> Program<'a> {
        Program { code, len: code.len().next_multiple_of(PAGE_WORDS) as u32 }
    }

    /// An instruction's word.
    pub fn word(&self, ip: u32) -> Word {
        Word(self.code.get(ip as usize).copied().unwrap_or(0))
    }

    /// A rule that an instruction breaks.
    pub fn violation(&self, rule: Rule, ip: u32, what: impl AsRef<str>) -> Violation {
        Violation::new(rule, Place::Instruction(ip), format!("{}: {}", self.word(ip), what.as_ref()))
    }
}
