//! Tests of what shares memory with programs, kernel or machine code, under LLVM's AddressSanitizer.

use std::process::Command;

use crate::display::Display;
use crate::{Error, build, packages};

/// Crates with `unsafe`, and what stands right on it.
const PACKAGES: &[&str] = &["vc4-jit", "vc4-kernel-abi", "vc4-shaders-cpu", "vc4-sim", "vc4-icd"];

/// Leaks of statics are none; what programs leave behind other suites count.
const OPTIONS: &str = "detect_leaks=0";

/// Builds and runs the crates' own tests.
pub fn run(arguments: &[String], install: bool) -> Result<(), Error> {
    packages::require(packages::TEST, install)?;
    let display = Display::open()?;
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.arg("test").args(["--lib", "--target", &target]);
    command.args(PACKAGES.iter().flat_map(|package| ["-p", package]));
    command
        .arg("--")
        .args(arguments)
        .current_dir(build::workspace())
        // Stable compilers have sanitizers under this name only.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", "-Zsanitizer=address")
        .env("CARGO_TARGET_DIR", build::workspace().join("target/sanitized"))
        .env("ASAN_OPTIONS", OPTIONS)
        .env("DISPLAY", &display.name);
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(format!("the tests failed ({status})").into()) }
}
