//! Tests of what shares memory with programs, kernel, machine code and other threads, under tools that watch each access.
//!
//! | tool | what runs |
//! | --- | --- |
//! | LLVM's AddressSanitizer | unit tests of crates with `unsafe`, on a standard library that checks itself |
//! | LLVM's ThreadSanitizer | the same |
//! | Valgrind | what the driver does with C libraries, and a program that draws |
//! | shuttle | queue, fences, semaphores and presentation in many orders (`icd/src/model.rs`) |

use std::process::Command;

use crate::display::Display;
use crate::{Error, build, cross, packages};

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Tool {
    /// AddressSanitizer.
    Address,
    /// ThreadSanitizer.
    Thread,
    /// Valgrind.
    Valgrind,
    /// Threads in many orders.
    Model,
}

/// All of them.
pub const ALL: &str = "address,thread,valgrind,model";

/// Crates with `unsafe`, and what stands right on it.
const PACKAGES: &[&str] = &["vc4-jit", "vc4-kernel-abi", "vc4-shaders-cpu", "vc4-sim", "vc4-icd"];

/// Leaks of statics are none; what programs leave behind other suites count.
const ADDRESS: (&str, &str) = ("ASAN_OPTIONS", "detect_leaks=0");
const THREAD: (&str, &str) = ("TSAN_OPTIONS", "halt_on_error=1");

/// Machine code is written while programs run.
const VALGRIND: &str = "valgrind --quiet --error-exitcode=9 --smc-check=all-non-file --leak-check=full --show-leak-kinds=definite \
    --errors-for-leak-kinds=definite";

/// Builds and runs what each of the tools looks at.
pub fn run(tools: &[Tool], arguments: &[String], install: bool) -> Result<(), Error> {
    packages::require(packages::TEST, install)?;
    let display = Display::open()?;
    for tool in tools {
        println!("{tool:?}");
        match tool {
            Tool::Address => instrumented("address", ADDRESS, &display, arguments, install)?,
            Tool::Thread => instrumented("thread", THREAD, &display, arguments, install)?,
            Tool::Valgrind => valgrind(&display, arguments, install)?,
            Tool::Model => model(arguments)?,
        }
    }
    Ok(())
}

/// The crates' own tests, and the standard library, compiled with a sanitizer.
fn instrumented(
    name: &str,
    options: (&str, &str),
    display: &Display,
    arguments: &[String],
    install: bool,
) -> Result<(), Error> {
    cross::require_std(install)?;
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut command = cross::cargo_with_std("test");
    command.args(["--lib", "--target", &target]).args(PACKAGES.iter().flat_map(|package| ["-p", package]));
    command
        .arg("--")
        .args(arguments)
        .current_dir(build::workspace())
        .env("RUSTFLAGS", format!("-Zsanitizer={name}"))
        .env("CARGO_TARGET_DIR", build::target_directory()?.join("sanitized").join(name))
        .env(options.0, options.1)
        .env("DISPLAY", &display.name);
    done(&mut command)
}

/// The driver's tests of presentation, on xcb, libwayland and libdrm's calls; then a program that draws.
fn valgrind(display: &Display, arguments: &[String], install: bool) -> Result<(), Error> {
    packages::require(&["valgrind"], install)?;
    let runner = format!("CARGO_TARGET_{}_UNKNOWN_LINUX_GNU_RUNNER", std::env::consts::ARCH.to_uppercase());
    let mut command = cargo();
    command.args(["test", "-p", "vc4-icd", "--lib", "presentation::", "--"]).args(arguments);
    done(command.env(runner, VALGRIND).env("DISPLAY", &display.name))?;
    let driver = build::test_driver()?;
    done(cargo().args(["build", "-p", "vc4-tests", "--bin", "faults"]))?;
    let mut words = VALGRIND.split(' ');
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).arg(build::target_directory()?.join("debug/faults")).arg("1");
    done(command.env("VK_DRIVER_FILES", driver).env("VC4VK_DEVICE", "sim"))
}

/// The tests that shuttle runs.
fn model(arguments: &[String]) -> Result<(), Error> {
    let mut command = cargo();
    command.args(["test", "-p", "vc4-icd", "--lib", "--no-default-features", "--features", "model"]);
    command.args(["model::", "--"]).args(arguments);
    done(command.env("CARGO_TARGET_DIR", build::target_directory()?.join("model")))
}

fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(build::workspace());
    command
}

fn done(command: &mut Command) -> Result<(), Error> {
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(format!("the tests failed ({status})").into()) }
}
