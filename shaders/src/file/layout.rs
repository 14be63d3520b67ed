//! Where things stand in a file, in numbers.

use crate::program::ProgramKind;

/// The first bytes of a file.
pub const MAGIC: [u8; 4] = *b"VC4P";

/// The layout that this module writes, and the only one it reads.
pub const VERSION: u32 = 4;

/// Bytes before the interface.
pub const HEADER_BYTES: usize = 48;

/// Where the digest stands in the header.
pub const DIGEST_AT: usize = 16;

/// Words of an attribute array.
pub const ATTRIBUTE_WORDS: usize = 3;

/// Words of a texture.
pub const TEXTURE_WORDS: usize = 7;

/// Words of a TMU request.
pub const SAMPLE_WORDS: usize = 4;

/// The kind of a step that is an operation; others are those of uniforms.
pub const STEP: u8 = 0xff;

/// The programs in the order of their stage numbers.
pub const STAGES: [ProgramKind; 3] = [ProgramKind::Vertex, ProgramKind::Coordinate, ProgramKind::Fragment];

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
pub fn digest(contents: &[u8]) -> [u8; 32] {
    use sha2::{Digest, Sha256};
    Sha256::digest(contents).into()
}
