//! Python's packages, each in an environment of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::debian::run;
use crate::{Error, packages};

/// Installs what pip is asked for into the environment at `directory`, and returns the folder of its programs.
pub fn environment(directory: &Path, wanted: &[&str], install: bool) -> Result<PathBuf, Error> {
    packages::require(&["python3-venv"], install)?;
    let programs = directory.join("bin");
    let python = programs.join("python");
    if !python.exists() {
        run(Command::new("python3").args(["-m", "venv"]).arg(directory), "python3 -m venv")?;
    }
    let shown = format!("pip install {}", wanted.join(" "));
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(wanted), &shown)?;
    Ok(programs)
}
