//! The bytes of a file, mapped when it is large.

use memmap2::Mmap;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::Path;

/// Below this a copy is as quick as a map.
const MAP_FROM: u64 = 1 << 20;

/// A file's bytes.
pub enum Source {
    /// Read into memory: small files, pipes and devices.
    Read(Vec<u8>),
    /// Mapped.
    Mapped(Mmap),
}

impl Source {
    /// Opens a file; `-` is standard input.
    ///
    /// # Errors
    /// It cannot be opened, read or mapped.
    pub fn open(path: &Path) -> io::Result<Source> {
        let mut bytes = Vec::new();
        if path == Path::new("-") {
            io::stdin().lock().read_to_end(&mut bytes)?;
            return Ok(Source::Read(bytes));
        }
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_file() && metadata.len() >= MAP_FROM {
            // SAFETY: the map is read only and private. Another process that changes or cuts the file meanwhile can
            // make this one read other bytes or end with SIGBUS; the readers trust no byte and keep nothing.
            return unsafe { Mmap::map(&file) }.map(Source::Mapped);
        }
        file.read_to_end(&mut bytes)?;
        Ok(Source::Read(bytes))
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Source::Read(bytes) => bytes,
            Source::Mapped(map) => map.deref(),
        }
    }
}
