//! Directories for what a suite leaves behind: below the `CARGO_TARGET_TMPDIR` that cargo tells each suite.

use std::path::{Path, PathBuf};

/// The directory `name` below `root`, made if it is not there.
///
/// # Panics
/// If the target directory is not writable.
pub fn directory(root: impl AsRef<Path>, name: impl AsRef<Path>) -> PathBuf {
    made(root.as_ref().join(name))
}

/// As [`directory`], with nothing of an earlier run in it.
///
/// # Panics
/// If the target directory is not writable.
pub fn empty(root: impl AsRef<Path>, name: impl AsRef<Path>) -> PathBuf {
    let directory = root.as_ref().join(name);
    // What is not there need not be removed; what cannot be is found out when it is written to.
    let _ = std::fs::remove_dir_all(&directory);
    made(directory)
}

fn made(directory: PathBuf) -> PathBuf {
    std::fs::create_dir_all(&directory).expect("the target directory is writable");
    directory
}
