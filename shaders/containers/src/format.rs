//! Which container a file is, by content alone.

use crate::{Finding, mbs, metallib, shbin};

/// The containers this crate reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Mali-200/400 shader binary.
    Mbs,
    /// Nintendo 3DS shader binary (DVLB).
    Shbin,
    /// Apple Metal library.
    Metallib,
}

impl Format {
    /// The format whose magic begins `bytes`.
    pub fn detect(bytes: &[u8]) -> Option<Format> {
        match bytes.get(..4)? {
            b"MBS1" => Some(Format::Mbs),
            b"DVLB" => Some(Format::Shbin),
            b"MTLB" => Some(Format::Metallib),
            _ => None,
        }
    }

    /// The name used in text and JSON output: `mbs`, `shbin` or `metallib`.
    pub fn name(self) -> &'static str {
        match self {
            Format::Mbs => "mbs",
            Format::Shbin => "shbin",
            Format::Metallib => "metallib",
        }
    }
}

/// Everything wrong or odd in a file of any known format, in the order the checks run; `None` when the format is
/// not recognised.
pub fn check(bytes: &[u8]) -> Option<Vec<Finding>> {
    Some(match Format::detect(bytes)? {
        Format::Mbs => mbs::check(bytes),
        Format::Shbin => shbin::check(bytes),
        Format::Metallib => metallib::check(bytes),
    })
}
