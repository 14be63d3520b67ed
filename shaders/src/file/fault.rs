//! What can be wrong with a file.

use std::fmt::{self, Display, Formatter};

use super::layout::VERSION;

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {fault}")]
pub struct FileError {
    /// Byte offset from the start of the file.
    pub offset: usize,
    /// What is wrong there.
    pub fault: Fault,
}

/// What can be wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It does not begin with [`MAGIC`](super::MAGIC).
    Magic,
    /// Another layout than [`VERSION`].
    Version(u32),
    /// The header's size is not the file's.
    Size {
        /// In the header.
        stated: u32,
        /// Of the file.
        actual: usize,
    },
    /// The file ends within something.
    Truncated {
        /// Bytes wanted from here.
        wanted: u64,
        /// Bytes there are.
        left: usize,
    },
    /// The digest is not that of the contents.
    Digest,
    /// A number that means nothing.
    Unknown {
        /// What it is to be.
        what: &'static str,
        /// The number.
        value: u32,
    },
    /// Bits that must be zero.
    Reserved(u32),
    /// Programs are not in the order of their stages, or one appears twice.
    Order,
    /// Bytes behind the last program.
    Trailing(usize),
}

impl Fault {
    /// A stable name of the kind of fault.
    pub fn code(&self) -> &'static str {
        match self {
            Fault::Magic => "P01",
            Fault::Version(_) => "P02",
            Fault::Size { .. } => "P03",
            Fault::Truncated { .. } => "P04",
            Fault::Digest => "P05",
            Fault::Unknown { .. } => "P06",
            Fault::Reserved(_) => "P07",
            Fault::Order => "P08",
            Fault::Trailing(_) => "P09",
        }
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Magic => f.write_str("no program file: it does not begin with VC4P"),
            Fault::Version(version) => {
                write!(f, "layout {version}, this program reads {VERSION}: compile the shaders again")
            }
            Fault::Size { stated, actual } => {
                write!(f, "the header speaks of {stated} bytes, the file has {actual}")
            }
            Fault::Truncated { wanted, left } => write!(f, "{wanted} bytes wanted, {left} left"),
            Fault::Digest => f.write_str("the SHA-256 digest is not that of the contents"),
            Fault::Unknown { what, value } => write!(f, "{value} is no {what}"),
            Fault::Reserved(bits) => write!(f, "bits {bits:#010x} must be zero"),
            Fault::Order => f.write_str("a program that appears twice or out of order"),
            Fault::Trailing(bytes) => write!(f, "{bytes} bytes behind the last program"),
        }
    }
}
