//! Release builds whose bytes do not tell on which machine and in which directory they were made.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::architecture::Architecture;
use crate::{Error, build, cross};

/// What ends up in the packages.
const CRATES: [&str; 3] = ["vc4-icd", "vc4-tools", "vc4-drm-shim"];
/// Where the sources are said to lie.
const SOURCES: &str = "/usr/src/vulkan-vc4";
const REGISTRY: &str = "/usr/share/cargo/registry";
/// Start of programs for ARMv6: those of Debian's C library are for ARMv7.
const START_ARMV6: &str = "xtask/src/package/start-armv6.s";

/// A finished build.
pub struct Built {
    directory: PathBuf,
}

impl Built {
    /// Builds the driver, the command and the preload library below `directory`.
    pub fn build(architecture: &Architecture, directory: &Path) -> Result<Built, Error> {
        let target = architecture.target;
        std::fs::create_dir_all(directory)?;
        let mut flags = remapping()?;
        if architecture.armv6 {
            flags.extend(armv6_start(directory, target.gnu)?);
        }
        let mut command = cross::cargo(target, "build")?;
        command
            .arg("--release")
            .arg("--locked")
            .args(CRATES.iter().flat_map(|name| ["--package", name]))
            .env("CARGO_TARGET_DIR", directory)
            .env("CARGO_INCREMENTAL", "0")
            // Stable compilers let their first object be chosen under this name only.
            .envs(architecture.armv6.then_some(("RUSTC_BOOTSTRAP", "1")))
            .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"))
            .env_remove("RUSTFLAGS");
        let status = command.status()?;
        if !status.success() {
            return Err(format!("building for {} failed ({status})", architecture.name()).into());
        }
        Ok(Built { directory: directory.join(target.triple).join("release") })
    }

    /// A program or library of the build.
    pub fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }
}

/// Flags that replace the directories of this machine in the messages and debug symbols of programs.
fn remapping() -> Result<Vec<String>, Error> {
    let mut pairs = vec![(build::workspace().to_path_buf(), SOURCES)];
    // A directory for each registry or mirror that this machine takes crates from.
    if let Ok(registries) = std::fs::read_dir(build::cargo_home()?.join("registry/src")) {
        for registry in registries {
            pairs.push((registry?.path(), REGISTRY));
        }
    }
    Ok(pairs.iter().map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display())).collect())
}

/// Assembles the start of programs, and says how to link it instead of the C library's.
fn armv6_start(directory: &Path, gnu: &str) -> Result<[String; 2], Error> {
    let object = directory.join("start.o");
    let mut command = Command::new(format!("{gnu}-as"));
    command.args(["-march=armv6", "-mfpu=vfp", "-o"]).arg(&object).arg(build::workspace().join(START_ARMV6));
    if !command.status()?.success() {
        return Err(format!("{START_ARMV6} does not assemble").into());
    }
    // The linker goes by the first object's interface, and one that rustc makes bears none.
    Ok(["-Clink-arg=-nostartfiles".into(), format!("-Zpre-link-args={}", object.display())])
}
