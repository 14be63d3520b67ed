//! Modules: bitcode in its wrapper.

use sha2::{Digest, Sha256};

/// A module as it stands in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Module<'a> {
    /// Wrapper, bitcode and padding: what the digest covers.
    pub bytes: &'a [u8],
    /// The content of the wrapper.
    pub bitcode: &'a [u8],
    /// Wrapper version, 0 in every known file.
    pub version: u32,
    /// Wrapper CPU type, 0xFFFFFFFF in every known file.
    pub cpu_type: u32,
    /// Offset of `bytes` from the start of the file.
    pub at: usize,
}

/// First word of a wrapper.
pub(super) const WRAPPER_MAGIC: u32 = 0x0B17_C0DE;
/// Size of a wrapper's header.
pub(super) const WRAPPER_SIZE: usize = 20;
/// What bitcode begins with.
const BITCODE_MAGIC: [u8; 4] = *b"BC\xC0\xDE";

/// The header of a wrapper.
pub(super) struct Wrapper {
    pub magic: u32,
    pub version: u32,
    pub offset: u32,
    pub size: u32,
    pub cpu_type: u32,
}

impl Wrapper {
    pub(super) fn read(bytes: &[u8]) -> Option<Wrapper> {
        let bytes: &[u8; WRAPPER_SIZE] = bytes.first_chunk()?;
        let word = |i: usize| u32::from_le_bytes(std::array::from_fn(|byte| bytes[4 * i + byte]));
        Some(Wrapper { magic: word(0), version: word(1), offset: word(2), size: word(3), cpu_type: word(4) })
    }

    /// Just past the bitcode.
    pub(super) fn end(&self) -> u64 {
        u64::from(self.offset) + u64::from(self.size)
    }
}

impl Module<'_> {
    /// SHA-256 of the module, as `HASH` has it.
    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.bytes).into()
    }

    /// Whether the content of the wrapper begins as bitcode does.
    pub fn is_bitcode(&self) -> bool {
        self.bitcode.starts_with(&BITCODE_MAGIC)
    }
}

/// Bitcode in a wrapper, padded to a multiple of 16. Bytes that are wrapped already are taken as they are.
pub(super) fn wrap(bitcode: &[u8]) -> Vec<u8> {
    if Wrapper::read(bitcode).is_some_and(|wrapper| wrapper.magic == WRAPPER_MAGIC) {
        return bitcode.to_vec();
    }
    let size = bitcode.len() as u32;
    let mut out = Vec::with_capacity((WRAPPER_SIZE + bitcode.len()).next_multiple_of(16));
    for word in [WRAPPER_MAGIC, 0, WRAPPER_SIZE as u32, size, u32::MAX] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.extend_from_slice(bitcode);
    out.resize(out.len().next_multiple_of(16), 0);
    out
}
