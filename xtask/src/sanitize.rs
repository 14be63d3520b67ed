//! Tests of what shares memory with programs, kernel, machine code and other threads, under tools that watch each access.
//!
//! | tool | what runs |
//! | --- | --- |
//! | LLVM's AddressSanitizer | unit tests of crates with `unsafe`, then the suites across crates with driver, preload library and programs |
//! | LLVM's ThreadSanitizer | the same tests of what has threads, on a standard library that is watched, too |
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

/// What the suites across crates start, and these.
const SUITES: &[&str] = &["vc4-drm-shim", "vc4-tools", "vc4-tests"];

/// Tests whose programs come from elsewhere: they cannot load what the sanitizer looks at.
const FOREIGN: &[&str] =
    &["vkcube", "vulkaninfo", "modetest", "through_a_shell", "the_example_draws", "a_display_in_use"];

/// Suites of one thread's work, which takes 20 times as long there.
const ALONE: &[&str] = &[
    "compiler",
    "docs",
    "metamorphic",
    "patches",
    "precision",
    "rules",
    "shaders",
    "splice",
    "compile",
    "inspect",
    "patch",
];

/// What looks like a race to ThreadSanitizer: the validation layers, whose own locks it does not see, and programs against the
/// rules, which may read what the device still writes.
const RACES: &[&str] = &["validation_layer", "invalid_programs"];

/// Leaks of statics are none; what programs leave behind other suites count. A test wants SIGBUS to end its process.
const ADDRESS: &str = "detect_leaks=0:handle_sigbus=0";
/// Children of programs with threads go on: they only start another program.
const THREAD: &str = "halt_on_error=1:die_after_fork=0:handle_sigbus=0";
/// Whose races it does not tell: lavapipe's, as it sees them.
const FOREIGN_RACES: &str = "tests/foreign.tsan";
/// Debian's package of the runtime, and where it is.
const THREAD_PACKAGE: &str = "libclang-rt-19-dev";
const THREAD_RUNTIME: &str = "/usr/lib/llvm-19/lib/clang/19/lib/linux";

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

/// The crates' own tests under AddressSanitizer, then the suites across crates.
fn address(display: &Display, arguments: &[String]) -> Result<(), Error> {
    let compile = |subcommand: &str| {
        let mut command = cargo();
        // Stable compilers have sanitizers under this name only.
        command.arg(subcommand).env("RUSTC_BOOTSTRAP", "1");
        command
    };
    // The driver takes the sanitizer's functions from the program that loads it.
    let build = Instrumented { name: "address", flags: "-Zsanitizer=address -Clink-arg=-rdynamic", display };
    // One set of packages for all: which features they have depends on what is built with them.
    let all = packages_of(&[PACKAGES, SUITES]);
    done(build.command(compile("build"))?.args(["--lib", "--bins", "--tests"]).args(&all))?;
    let test = |targets: &[&str]| -> Result<Command, Error> {
        let mut command = build.command(compile("test"))?;
        command.args(&all).args(targets).arg("--").args(arguments);
        Ok(command)
    };
    done(&mut test(&["--lib"])?)?;
    done(test(&["--no-fail-fast", "--test", "*"])?.args(FOREIGN.iter().flat_map(|name| ["--skip", name])))
}

/// As [`address`] under ThreadSanitizer, which has to see what the standard library does between threads, too. That is compiled
/// as tests are: it checks what it is asked for.
fn thread(display: &Display, arguments: &[String], install: bool) -> Result<(), Error> {
    cross::require_std(install)?;
    // A library that driver and programs share; rustc's own is for programs alone.
    packages::require(&[THREAD_PACKAGE], install)?;
    let runtime = format!("{THREAD_RUNTIME}/libclang_rt.tsan-{}.so", std::env::consts::ARCH);
    // In front of the C library, which it stands before.
    let link = format!("-Wl,--no-as-needed,{runtime},--as-needed,-rpath,{THREAD_RUNTIME}");
    let flags = format!("-Zsanitizer=thread -Zexternal-clangrt -Zpre-link-args={link}");
    let build = Instrumented { name: "thread", flags: &flags, display };
    let all = packages_of(&[PACKAGES, SUITES]);
    done(build.command(cross::cargo_with_std("build"))?.args(["--lib", "--bins", "--tests"]).args(&all))?;
    let test = |targets: &[String]| -> Result<Command, Error> {
        let mut command = build.command(cross::cargo_with_std("test"))?;
        command.args(&all).args(targets).arg("--").args(arguments);
        Ok(command)
    };
    // One thread's work, and 20 times as slow here.
    done(test(&["--lib".into()])?.args(["--skip", "qpu::tests::native"]))?;
    let suites = suites()?.into_iter().filter(|name| !ALONE.contains(&name.as_str()));
    let targets: Vec<String> = std::iter::once("--no-fail-fast".into())
        .chain(suites.flat_map(|name| ["--test".into(), name]))
        .collect();
    done(test(&targets)?.args(FOREIGN.iter().chain(RACES).flat_map(|name| ["--skip", name])))
}

/// The suites across crates.
fn suites() -> Result<Vec<String>, Error> {
    let mut names = Vec::new();
    for directory in ["tests/tests", "tools/tests", "icd/tests", "sim/tests", "sim/drm-shim/tests"] {
        let directory = build::workspace().join(directory);
        for entry in
            std::fs::read_dir(&directory).map_err(|error| format!("{}: {error}", directory.display()))?
        {
            let path = entry?.path();
            let is_suite = path.join("main.rs").is_file() || path.extension().is_some_and(|ext| ext == "rs");
            names.extend(
                path.file_stem().filter(|_| is_suite).map(|name| name.to_string_lossy().into_owned()),
            );
        }
    }
    names.sort();
    names.dedup();
    Ok(names)
}

/// A build with a sanitizer, in a directory of its own.
struct Instrumented<'a> {
    name: &'a str,
    flags: &'a str,
    display: &'a Display,
}

impl Instrumented<'_> {
    /// Lets `cargo` build so, and run what it built.
    fn command(&self, cargo: Command) -> Result<Command, Error> {
        let mut command = cargo;
        let place = build::target_directory()?.join("sanitized").join(self.name);
        command
            .args(["--target", &format!("{}-unknown-linux-gnu", std::env::consts::ARCH)])
            .current_dir(build::workspace())
            .env("RUSTFLAGS", self.flags)
            .env("CARGO_TARGET_DIR", place)
            .env("ASAN_OPTIONS", ADDRESS)
            .env(
                "TSAN_OPTIONS",
                format!("{THREAD}:suppressions={}", build::workspace().join(FOREIGN_RACES).display()),
            )
            .env("DISPLAY", &self.display.name);
        Ok(command)
    }
}

fn packages_of(lists: &[&[&'static str]]) -> Vec<&'static str> {
    lists.iter().copied().flatten().flat_map(|package| ["-p", package]).collect()
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
