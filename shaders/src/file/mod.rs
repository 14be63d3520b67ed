//! Compiled programs as bytes: what `vc4 compile` writes, `vc4 inspect` opens and a pipeline cache holds.
//!
//! Little endian, every part a multiple of four bytes. Everything that is not listed must be zero, so that a file is
//! the only one with its contents: `write(read(file)) == file`.
//!
//! | bytes | header |
//! | --- | --- |
//! | 0–3 | `VC4P` |
//! | 4–7 | version of the layout, [`VERSION`] |
//! | 8–11 | size of the file |
//! | 12–15 | number of programs, 0–3 |
//! | 16–47 | SHA-256 of all bytes from 48 on |
//!
//! | words | interface, at byte 48 |
//! | --- | --- |
//! | 0, 1 | attribute bytes of the vertex and of the coordinate program |
//! | 2 | scalar varyings |
//! | 3 | flat ones of them, one bit each |
//! | 4 | bit 0 point size, 1 computes depth, 2 discards, 3 reads the tile's colour |
//! | 5, 6 | number of attribute arrays, of textures |
//!
//! Then three words per attribute array: source (0 location, 1 vertex index, 2 none; bit 8: the vertex program loads it,
//! bit 9: the coordinate program does; bit 10: it shares the record's array with the one before; bits 23:16 and 31:24 the VPM byte offsets there), location, bytes per vertex.
//! Then seven words per texture that the stages look at: bit 0 it has a sampler; set, binding and element of the image; those
//! of the sampler.
//!
//! Then the programs that there are, in the order vertex, coordinate, fragment:
//!
//! | words | program |
//! | --- | --- |
//! | 0 | bits 7:0 stage: 0 vertex, 1 coordinate, 2 fragment; bit 8 switches threads |
//! | 1, 2, 3 | number of instructions, uniforms, TMU requests |
//! | 2 each | instructions |
//! | 1–5 each | uniforms: bits 7:0 the kind, bits 15:8 a detail of it, then the words of the kind (`slot.rs`) |
//! | 4 each | TMU requests: 0 sampled image or 1 uniform buffer, descriptor set, binding, element |

mod read;
mod slot;
mod write;

use std::fmt::{self, Display, Formatter};

use crate::program::ProgramKind;

pub use read::{Contents, Place, read, read_intact, read_with_places};
pub use write::write;

/// The first bytes of a file.
pub const MAGIC: [u8; 4] = *b"VC4P";

/// The layout that this module writes, and the only one it reads.
pub const VERSION: u32 = 3;

/// Bytes before the interface.
const HEADER_BYTES: usize = 48;

/// Where the digest stands in the header.
const DIGEST_AT: usize = 16;

/// Words of an attribute array.
const ATTRIBUTE_WORDS: usize = 3;

/// Words of a texture.
const TEXTURE_WORDS: usize = 7;

/// Words of a TMU request.
const SAMPLE_WORDS: usize = 4;

/// The programs in the order of their stage numbers.
const STAGES: [ProgramKind; 3] = [ProgramKind::Vertex, ProgramKind::Coordinate, ProgramKind::Fragment];

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
    /// It does not begin with [`MAGIC`].
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

/// The bytes with a header whose size and digest fit them: for looking behind the header of a damaged file.
pub fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    if out.len() >= HEADER_BYTES {
        let contents = digest(&out[HEADER_BYTES..]);
        out[8..12].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
        out[DIGEST_AT..HEADER_BYTES].copy_from_slice(&contents);
    }
    out
}

/// SHA-256 of the contents.
fn digest(contents: &[u8]) -> [u8; 32] {
    use sha2::{Digest, Sha256};
    Sha256::digest(contents).into()
}
