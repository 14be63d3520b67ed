//! What must hold for any bytes given to the metallib reader; the tests and the fuzz target both call it.

use shader_containers::metallib::{self, Library};

/// Fails when reading panics, or a library does not write back what it was read from.
pub fn metallib(bytes: &[u8]) {
    if let Ok(library) = Library::parse(bytes) {
        library.check();
        assert!(library.write() == bytes, "a library writes back what it was read from");
    }
    metallib::embedded(bytes).for_each(|(at, size)| assert!(at + size <= bytes.len()));
}

/// The file with its size field and the sizes of sections made to fit what is there, as far as they are outside:
/// a mutation that changes the length would otherwise get no further than the first check.
pub fn resized(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let length = bytes.len() as u64;
    if let Some(field) = bytes.get_mut(16..24) {
        field.copy_from_slice(&length.to_le_bytes());
    }
    bytes
}
