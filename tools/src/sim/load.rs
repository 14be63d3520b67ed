//! Captures from files.

use std::fs::File;
use std::io::{BufReader, ErrorKind};
use std::path::Path;

use vc4_sim::capture::read::{Capture, ReadError};

use crate::output::Error;

/// Reads a capture; says so when its end is missing.
pub fn capture(path: &Path) -> Result<Capture, Error> {
    let read_error = |error| Error::Read { path: path.to_path_buf(), error };
    let file = File::open(path).map_err(read_error)?;
    let capture = Capture::read(BufReader::new(file)).map_err(|error| match error {
        ReadError::Io(error) => read_error(error),
        error => Error::Input(format!("{} {error}", path.display())),
    })?;
    if let Some(offset) = capture.cut_at {
        eprintln!(
            "vc4: {} ends inside of the record at byte {offset:#x}; its program was probably killed",
            path.display()
        );
    }
    Ok(capture)
}

/// Whether a file is a capture; `false` when there is none.
pub fn is_capture(path: &Path) -> Result<bool, Error> {
    match File::open(path) {
        Ok(file) => Ok(!matches!(Capture::read(file), Err(ReadError::NoCapture | ReadError::Io(_)))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::Read { path: path.to_path_buf(), error }),
    }
}
