//! A broken rule, and how closely the kernel is followed.

use super::rule::Rule;
use std::fmt;

/// How closely the kernel is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// As the kernel, including what it lets through by mistake.
    Faithful,
    /// Also refuses what the kernel only accepts by mistake.
    Strict,
}

/// Where a rule is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the fields of the submission itself; the field's name.
    Frame(&'static str),
    /// In the bin list, at this byte.
    BinByte(u32),
    /// In the shader record with this number.
    Record(u32),
    /// In a texture sample: record, stage (`FS`, `VS`, `CS`), number of the sample.
    Sample(u32, &'static str, u32),
    /// In a shader, at this instruction.
    Instruction(u32),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Frame(field) => write!(f, "{field}"),
            Place::BinByte(byte) => write!(f, "bin list byte {byte:#x}"),
            Place::Record(record) => write!(f, "shader record {record}"),
            Place::Sample(record, stage, sample) => {
                write!(f, "shader record {record}, {stage} texture sample {sample}")
            }
            Place::Instruction(ip) => write!(f, "instruction {ip}"),
        }
    }
}

/// A broken rule: which, where, and what stands there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{rule} at {place}: {what} (rule: {})", rule.text())]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// The place.
    pub place: Place,
    /// What stands there: values, the packet or the instruction.
    pub what: String,
}

impl Violation {
    /// A violation of `rule` at `place`.
    pub fn new(rule: Rule, place: Place, what: impl Into<String>) -> Violation {
        Violation { rule, place, what: what.into() }
    }
}
