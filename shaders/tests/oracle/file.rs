//! What must hold for any bytes given as a program file. Fuzz target and tests share it.

use vc4_shaders::file::{FileError, Place, read, read_with_places, sealed, write};

/// Reads the bytes as they are, and with a header that fits them.
pub fn check(bytes: &[u8]) {
    let _ = one(bytes);
    let _ = one(&sealed(bytes));
}

/// Reads a file: an error lies within it and says something, programs give the same bytes again.
pub fn one(bytes: &[u8]) -> Result<(), FileError> {
    let contents = match read_with_places(bytes) {
        Ok(contents) => contents,
        Err(error) => {
            assert!(error.offset <= bytes.len(), "{error} in {} bytes", bytes.len());
            assert!(!error.fault.to_string().is_empty());
            return Err(error);
        }
    };
    assert!(write(&contents.pipeline) == bytes, "another file comes back");
    assert_eq!(read(bytes).as_ref(), Ok(&contents.pipeline));
    assert!(contents.places.iter().all(|place| within(place, bytes.len())));
    Ok(())
}

fn within(place: &Place, size: usize) -> bool {
    let Place { head, code, samples, .. } = *place;
    head < code && code < samples && samples <= size && place.uniforms.is_sorted()
}
