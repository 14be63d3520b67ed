//! Finding drivers: ours as just built, and the reference.
//!
//! Ours may have been built for another machine, whose programs an emulator runs: `cargo xtask test --qemu` says so by two
//! variables, `VC4_TESTS_BUILD` (where that machine's programs and driver lie) and `VC4_TESTS_RUNNER` (the emulator with its
//! arguments). The suites' own work, and the reference's, is done here all the same.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

/// Mesa's software rasteriser as Debian's `mesa-vulkan-drivers` installs it.
pub fn lavapipe() -> PathBuf {
    let path = PathBuf::from(format!("/usr/share/vulkan/icd.d/lvp_icd.{}.json", std::env::consts::ARCH));
    assert!(
        path.exists(),
        "the reference driver is missing: install Debian's mesa-vulkan-drivers, or run `cargo xtask test`"
    );
    path
}

/// Manifest of the driver that this build made, written beside the library on demand.
pub fn ours() -> PathBuf {
    let directory = guest().map_or_else(build_directory, |guest| guest.build);
    let library = directory.join("libvulkan_vc4.so");
    assert!(
        library.exists(),
        "{} is not built: run `cargo build -p vc4-icd`, or run `cargo xtask test`",
        library.display()
    );
    // Tests of one process may ask at the same time.
    static WRITING: Mutex<()> = Mutex::new(());
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let manifest = directory.join(format!("vc4_icd.{}.test.json", std::env::consts::ARCH));
    let text = "{ \"file_format_version\": \"1.0.0\", \"ICD\": \
                { \"library_path\": \"./libvulkan_vc4.so\", \"api_version\": \"1.2.0\" } }\n";
    if std::fs::read_to_string(&manifest).is_ok_and(|old| old == text) {
        return manifest;
    }
    let fresh = manifest.with_extension(format!("{}.tmp", std::process::id()));
    std::fs::write(&fresh, text).expect("the build directory is writable");
    std::fs::rename(&fresh, &manifest).expect("the build directory is writable");
    manifest
}

/// The preload library that this build made: it shows the simulator as a render node.
pub fn drm_shim() -> PathBuf {
    let library = build_directory().join("libvc4_drm_shim.so");
    assert!(
        library.exists(),
        "{} is not built: run `cargo build -p vc4-drm-shim`, or run `cargo xtask test`",
        library.display()
    );
    library
}

/// The `vc4` command that this build made.
pub fn tool() -> PathBuf {
    let program = build_directory().join("vc4");
    assert!(
        program.exists(),
        "{} is not built: run `cargo build -p vc4-tools`, or run `cargo xtask test`",
        program.display()
    );
    program
}

/// A command that sees one driver only, ours on the simulator unless told otherwise.
pub fn command(program: impl AsRef<Path>, manifest: &Path) -> Command {
    let program = program.as_ref();
    let mut command = match guest().filter(|guest| manifest.starts_with(&guest.build)) {
        Some(guest) => guest.command(program),
        None => Command::new(program),
    };
    command
        .env("VK_DRIVER_FILES", manifest)
        .env("VK_ICD_FILENAMES", manifest)
        .env("VC4VK_DEVICE", "sim")
        .env_remove("VK_INSTANCE_LAYERS")
        .env_remove("VC4VK_COMPUTE")
        .env_remove("VC4VK_TRANSFERS")
        .env_remove("VC4VK_DEBUG")
        .env_remove("VC4VK_LOG")
        .env_remove("VC4VK_FACTS")
        .env_remove("VC4SIM_FACTS")
        .env_remove("VC4VK_IMAGE_LIMIT")
        .env_remove("VC4VK_ANISOTROPY")
        .env_remove("VC4VK_PRECISION")
        .env_remove("VC4VK_VERSION");
    command
}

/// Runs a command that must succeed; what it said.
///
/// # Panics
/// If it does not start, or fails: with all that it said.
#[track_caller]
pub fn run(command: &mut Command, what: &str) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{what} does not start: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{what} failed:\n{}{}", text(&output.stdout), text(&output.stderr));
    output
}

/// Another machine.
struct Guest {
    build: PathBuf,
    runner: String,
}

impl Guest {
    /// That machine's build of a program of this one.
    fn command(&self, program: &Path) -> Command {
        let name = program.file_name().expect("a program has a name");
        let mut words = self.runner.split(' ');
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).arg(self.build.join(name));
        command
    }
}

/// The machine that the driver was built for, if that is not this one.
fn guest() -> Option<Guest> {
    let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    Some(Guest { build: variable("VC4_TESTS_BUILD")?.into(), runner: variable("VC4_TESTS_RUNNER")? })
}

/// `target/<profile>`: test executables lie in its `deps`.
fn build_directory() -> PathBuf {
    let executable = std::env::current_exe().expect("a process knows its executable");
    let directory = executable.parent().expect("an executable lies in a directory");
    let directory =
        if directory.ends_with("deps") { directory.parent().unwrap_or(directory) } else { directory };
    directory.to_path_buf()
}
