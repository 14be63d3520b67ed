//! The driver on another machine: its own suites there, and the suites across crates, whose programs run there while lavapipe
//! and the comparing stay here.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cross::{self, Target};
use crate::debian::Debian;
use crate::{Error, build, packages};

/// What programs are linked to and load: the C library, the unwinder, the Vulkan loader.
const LIBRARIES: &[&str] = &["libc6", "libgcc-s1", "libvulkan1"];
/// Debian's release of the libraries, no older than the cross compilers'.
const RELEASE: &str = "bookworm";

/// Suites across crates whose programs are run there.
const SUITES: &[&str] = &["scenes", "drawing", "transfers", "features", "compute", "bad_input"];
/// Those of each run.
const FEW: &[&str] = &["scenes", "bad_input"];
/// The layer is not there.
const LEFT_OUT: &str = "validation_layers";

/// How much is tested.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All suites.
    Whole,
    /// Pictures and answers to bad input.
    Few,
}

/// Tests the driver on `target`; [`cross::require`] comes before.
pub fn test(target: &Target, extent: Extent, arguments: &[String], install: bool) -> Result<(), Error> {
    packages::require(packages::TEST, install)?;
    if extent == Extent::Whole {
        cross::test(target, &["vc4-icd"], arguments)?;
    }
    // In one go, so that cargo builds what they share once.
    let programs = cross::build(target, &["vc4-icd", "vc4-tests"], false)?;
    let root = root(target)?;
    let suites = if extent == Extent::Whole { SUITES } else { FEW };
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command
        .args(["test", "--package", "vc4-tests"])
        .args(suites.iter().flat_map(|suite| ["--test", suite]))
        .args(["--", "--skip", LEFT_OUT])
        .args(arguments)
        .current_dir(build::workspace())
        .env("VC4_TESTS_BUILD", programs)
        .env("VC4_TESTS_RUNNER", cross::runner(target, &root));
    let status = command.status()?;
    match status.success() {
        true => Ok(()),
        false => {
            Err(format!("{} with the driver on {} failed ({status})", suites.join(", "), target.name).into())
        }
    }
}

/// A folder with Debian's libraries for `target`; what was fetched before is used again.
fn root(target: &Target) -> Result<PathBuf, Error> {
    let place = build::target_directory()?.join("cross/root").join(target.debian);
    let (root, stamp) = (place.join("root"), place.join("ready"));
    let recipe = format!("{RELEASE} {}\n", LIBRARIES.join(" "));
    if std::fs::read_to_string(&stamp).is_ok_and(|text| text == recipe) {
        return Ok(root);
    }
    let debian = Debian::new(place, target.debian, RELEASE);
    debian.download(LIBRARIES)?;
    debian.unpack(&root)?;
    linked(&root)?;
    std::fs::write(stamp, recipe)?;
    Ok(root)
}

/// Releases of Debian have libraries in `/lib` or in `/usr/lib`: programs ask for `/lib`.
fn linked(root: &Path) -> Result<(), Error> {
    let old = root.join("lib");
    if !old.exists() {
        std::os::unix::fs::symlink("usr/lib", old)?;
    }
    Ok(())
}
