//! Files of a machine, below a directory: `/`, or a made-up tree.

use std::io::Read;
use std::path::{Path, PathBuf};

/// More than any file that is read here has.
const MOST: u64 = 1 << 20;

/// Where `/` is.
#[derive(Clone, Copy, Debug)]
pub struct Root<'a>(pub &'a Path);

impl Root<'_> {
    /// Where an absolute path is.
    pub fn path(&self, path: &str) -> PathBuf {
        self.0.join(path.trim_start_matches('/'))
    }

    /// A file's text; what is no UTF-8 is replaced.
    pub fn text(&self, path: &str) -> Option<String> {
        let mut bytes = Vec::new();
        std::fs::File::open(self.path(path)).ok()?.take(MOST).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The first string of a file of the device tree or of one line.
    pub fn word(&self, path: &str) -> Option<String> {
        let text = self.text(path)?;
        let word = text.split(['\0', '\n']).next()?.trim();
        (!word.is_empty()).then(|| word.to_owned())
    }

    pub fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// Names in a directory in the order in which it lists them; none if it cannot be read.
    pub fn names(&self, directory: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(directory)).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }
}
