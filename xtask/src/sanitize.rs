//! Tests of what shares memory with programs, kernel, machine code and other threads, under tools that watch each access.
//!
//! | tool | what runs |
//! | --- | --- |
//! | LLVM's AddressSanitizer | unit tests of crates with `unsafe` |
//! | LLVM's ThreadSanitizer | the same, on a standard library that checks itself |
//! | Valgrind | what the driver does with C libraries, and a program that draws |
//! | shuttle | queue, fences, semaphores and presentation in many orders (`icd/src/model.rs`) |

use std::path::Path;
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
const ADDRESS: &str = "detect_leaks=0";
const THREAD: &str = "halt_on_error=1";
const THREAD_RUNTIME: &str = "librustc-stable_rt.tsan.a";

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
            Tool::Address => address(&display, arguments)?,
            Tool::Thread => thread(&display, arguments, install)?,
            Tool::Valgrind => valgrind(&display, arguments, install)?,
            Tool::Model => model(arguments)?,
        }
    }
    Ok(())
}

/// The crates' own tests under AddressSanitizer.
fn address(display: &Display, arguments: &[String]) -> Result<(), Error> {
    let compile = |subcommand: &str| {
        let mut command = cargo();
        // Stable compilers have sanitizers under this name only.
        command.arg(subcommand).env("RUSTC_BOOTSTRAP", "1");
        command
    };
    instrumented(compile, "address", "-Zsanitizer=address", display, arguments)
}

/// The crates' own tests under ThreadSanitizer, which has to see what the standard library does between threads, too. That is
/// compiled as tests are: it checks what it is asked for.
fn thread(display: &Display, arguments: &[String], install: bool) -> Result<(), Error> {
    cross::require_std(install)?;
    // Debian's compiler, which has the library's sources, lacks the sanitizer's.
    let own = Command::new("rustc").args(["--print", "target-libdir"]).output()?;
    let runtime = Path::new(String::from_utf8_lossy(&own.stdout).trim()).join(THREAD_RUNTIME);
    if !runtime.is_file() {
        return Err(format!("{} is not there: use a toolchain of rustup's", runtime.display()).into());
    }
    // In front of the C library, which it stands before.
    let whole = format!("-Zpre-link-args=-Wl,--whole-archive,{},--no-whole-archive", runtime.display());
    let flags = format!("-Zsanitizer=thread -Zexternal-clangrt {whole}");
    // One thread's work, and 20 times as slow here.
    let arguments = [arguments, &["--skip".into(), "qpu::tests::native".into()]].concat();
    instrumented(cross::cargo_with_std, "thread", &flags, display, &arguments)
}

/// The crates' unit tests, as `cargo` builds them with these flags.
fn instrumented(
    cargo: impl Fn(&str) -> Command,
    name: &str,
    flags: &str,
    display: &Display,
    arguments: &[String],
) -> Result<(), Error> {
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let place = build::target_directory()?.join("sanitized").join(name);
    let mut command = cargo("test");
    command.args(["--lib", "--target", &target]).args(PACKAGES.iter().flat_map(|package| ["-p", package]));
    command
        .arg("--")
        .args(arguments)
        .current_dir(build::workspace())
        .env("RUSTFLAGS", flags)
        .env("CARGO_TARGET_DIR", &place)
        .env("ASAN_OPTIONS", ADDRESS)
        .env("TSAN_OPTIONS", THREAD)
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
