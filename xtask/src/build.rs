//! Building the driver and telling the loader where it is.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Error;

/// Builds the release driver and writes its manifest beside it; returns the manifest's path.
pub fn driver() -> Result<PathBuf, Error> {
    cargo(&["build", "--package", "vc4-icd", "--release"])?;
    write_manifest(&target_directory()?.join("release"))
}

/// As [`driver`], as tests have it.
pub fn test_driver() -> Result<PathBuf, Error> {
    cargo(&["build", "--package", "vc4-icd"])?;
    write_manifest(&target_directory()?.join("debug"))
}

/// Runs cargo in the workspace.
pub fn cargo(arguments: &[&str]) -> Result<(), Error> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(program).args(arguments).current_dir(workspace()).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("cargo {} failed ({status})", arguments.join(" ")).into())
    }
}

/// The workspace's root directory.
pub fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// `vc4_icd.<arch>.json` with a library path relative to itself, so that the directory can be moved.
pub fn write_manifest(directory: &Path) -> Result<PathBuf, Error> {
    let template = std::fs::read_to_string(workspace().join("icd/vc4_icd.json.in"))?;
    let manifest = directory.join(format!("vc4_icd.{}.json", std::env::consts::ARCH));
    std::fs::write(&manifest, template.replace("@library_path@", "./libvulkan_vc4.so"))?;
    Ok(manifest)
}

/// This program lies in `<target>/<profile>`, wherever the user put the target directory.
pub fn target_directory() -> Result<PathBuf, Error> {
    let executable = std::env::current_exe()?;
    let directory =
        executable.parent().and_then(Path::parent).ok_or("xtask does not lie in a target directory")?;
    Ok(directory.to_path_buf())
}

/// Where cargo keeps what it downloads.
pub fn cargo_home() -> Result<PathBuf, Error> {
    match std::env::var_os("CARGO_HOME") {
        Some(home) => Ok(home.into()),
        None => Ok(PathBuf::from(std::env::var_os("HOME").ok_or("neither CARGO_HOME nor HOME is set")?)
            .join(".cargo")),
    }
}
