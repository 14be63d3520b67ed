//! Registers and sets of them.

use super::error::register_name;
use crate::qpu::isa::RegFile;
use crate::qpu::{Raddr, Waddr};
use std::fmt;

/// Place of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reg {
    /// Accumulator 0–3.
    Acc(u8),
    /// File A, 0–31.
    A(u8),
    /// File B, 0–31.
    B(u8),
}

/// Everything that an instruction can leave for a later one: both files, r0–r5 and the flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegSet(u128);

const FILE_B: u32 = 32;
const ACCUMULATORS: u32 = 64;
const FLAGS: u32 = 70;

impl RegSet {
    /// No register.
    pub const EMPTY: RegSet = RegSet(0);
    /// What a thread switch destroys (qpu.md §1.4).
    pub const LOST_IN_SWITCH: RegSet = RegSet(0x7f << ACCUMULATORS);

    /// Register `n` of a file.
    pub fn file(file: RegFile, n: u8) -> RegSet {
        RegSet(1 << (u32::from(n) + if file == RegFile::B { FILE_B } else { 0 }))
    }

    /// r0–r5 by the bits of `mask`.
    pub fn accumulators(mask: u8) -> RegSet {
        RegSet(u128::from(mask & 0x3f) << ACCUMULATORS)
    }

    /// The flags.
    pub fn flags() -> RegSet {
        RegSet(1 << FLAGS)
    }

    /// r4.
    pub fn r4() -> RegSet {
        RegSet::accumulators(1 << 4)
    }

    /// One register.
    pub fn one(reg: Reg) -> RegSet {
        match reg {
            Reg::Acc(n) => RegSet::accumulators(1 << n),
            Reg::A(n) => RegSet::file(RegFile::A, n),
            Reg::B(n) => RegSet::file(RegFile::B, n),
        }
    }

    /// Some register of both.
    pub fn meets(self, other: RegSet) -> bool {
        self.0 & other.0 != 0
    }

    /// Registers of either.
    #[must_use]
    pub fn and(self, other: RegSet) -> RegSet {
        RegSet(self.0 | other.0)
    }

    /// Registers of both.
    #[must_use]
    pub fn within(self, other: RegSet) -> RegSet {
        RegSet(self.0 & other.0)
    }

    /// Registers of the first only.
    #[must_use]
    pub fn without(self, other: RegSet) -> RegSet {
        RegSet(self.0 & !other.0)
    }

    /// Adds registers.
    pub fn add(&mut self, other: RegSet) {
        self.0 |= other.0;
    }

    /// Removes registers.
    pub fn remove(&mut self, other: RegSet) {
        self.0 &= !other.0;
    }

    fn names(self) -> Vec<String> {
        let bits = |from: u32, count: u32| (0..count).filter(move |n| self.0 >> (from + n) & 1 != 0);
        let file = |file, from| bits(from, 32).map(move |n| register_name(file, n as u8));
        let accumulators = bits(ACCUMULATORS, 6).map(|n| format!("r{n}"));
        let flags = bits(FLAGS, 1).map(|_| "flags".to_string());
        file(RegFile::A, 0).chain(file(RegFile::B, FILE_B)).chain(accumulators).chain(flags).collect()
    }
}

impl fmt::Display for RegSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names().join(" "))
    }
}

impl Reg {
    /// The address that writes it.
    pub(super) fn waddr(self) -> Waddr {
        match self {
            Reg::Acc(n) => Waddr::new(Waddr::R0.code() + n),
            Reg::A(n) | Reg::B(n) => Waddr::reg(n),
        }
    }

    /// The file that it belongs to; accumulators belong to none.
    pub(super) fn file(self) -> Option<RegFile> {
        match self {
            Reg::Acc(_) => None,
            Reg::A(_) => Some(RegFile::A),
            Reg::B(_) => Some(RegFile::B),
        }
    }

    /// The address that reads it, in its file.
    pub(super) fn raddr(self) -> Option<Raddr> {
        match self {
            Reg::Acc(_) => None,
            Reg::A(n) | Reg::B(n) => Some(Raddr::reg(n)),
        }
    }

    /// Whether there is such a register.
    pub(super) fn exists(self) -> bool {
        match self {
            Reg::Acc(n) => n < 4,
            Reg::A(n) | Reg::B(n) => n < 32,
        }
    }
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reg::Acc(n) => write!(f, "r{n}"),
            Reg::A(n) => write!(f, "ra{n}"),
            Reg::B(n) => write!(f, "rb{n}"),
        }
    }
}
