//! All tests: what they need is installed, the driver built, a private display started.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use crate::build;
use crate::cross::{self, Target};
use crate::display::Display;
use crate::guest::{self, Extent};
use crate::{Error, cts, gles2, installed, mesa, oldest, packages, sanitize};

/// The crate without operating system or threads; on every machine in each run.
const CORE: &[&str] = &["vc4"];

/// What is tested for other machines on request.
const PORTABLE: &[&str] = &["vc4", "vc4-kernel-abi", "vc4-shaders", "vc4-shaders-cpu", "shader-containers"];

/// Where the core's tests run besides the host.
const MACHINES: &[&str] = &["armv7", "aarch64"];

#[derive(clap::Args)]
pub struct Options {
    /// Run the tests for other machines under QEMU instead of the host's: armv7, aarch64, armv6, arm1176.
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "no_qemu")]
    qemu: Vec<String>,
    /// Which crates to test under QEMU.
    #[arg(long, value_enum, default_value = "all", requires = "qemu")]
    qemu_packages: Set,
    /// Leave out what runs under QEMU: the core's tests for other machines, and Mesa's scenes.
    #[arg(long)]
    no_qemu: bool,
    /// Instead, draw with Debian's own arm64 Mesa on the simulated device and compare with a software renderer.
    #[arg(long, conflicts_with_all = ["qemu", "no_qemu"])]
    mesa: bool,
    /// Which scenes Mesa draws.
    #[arg(long, value_enum, default_value = "all", requires = "mesa")]
    mesa_scenes: mesa::Scenes,
    /// Instead, run Khronos' conformance tests: the path of deqp-vk.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["qemu", "no_qemu", "mesa"])]
    cts: Option<PathBuf>,
    #[command(flatten)]
    cts_options: cts::Options,
    /// Instead, run Khronos' OpenGL ES 2 tests with Mesa's driver on the simulated device: the path of deqp-gles2.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["qemu", "no_qemu", "mesa", "cts"])]
    gles2: Option<PathBuf>,
    #[command(flatten)]
    gles2_options: gles2::Options,
    /// Instead, this many random programs through the compiler in several forms that must mean the same.
    #[arg(long, value_name = "PROGRAMS", conflicts_with_all = ["qemu", "no_qemu", "mesa"])]
    metamorphic: Option<u64>,
    /// Instead, random programs of the API for so many minutes, from a fresh seed on: valid ones on the simulator, on a device that
    /// draws nothing, on several threads, under the validation layer and beside lavapipe, and ones that are not valid.
    #[arg(long, value_name = "MINUTES", conflicts_with_all = ["qemu", "no_qemu", "mesa", "metamorphic"])]
    api: Option<u64>,
    /// The first program's seed.
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// Instead, what shares memory with programs, kernel and other threads, under tools that watch it: all of them, or those that are
    /// named.
    #[arg(long, value_name = "TOOLS", value_delimiter = ',', num_args = 0..=1, default_missing_value = sanitize::ALL,
        conflicts_with_all = ["qemu", "no_qemu", "mesa"])]
    sanitize: Option<Vec<sanitize::Tool>>,
    /// Instead, faults at every place and soak at length: a quarter of an hour.
    #[arg(long, conflicts_with_all = ["qemu", "no_qemu", "mesa"])]
    reliability: bool,
    /// Instead, check that the oldest Rust that is promised, Debian 13's, builds the workspace.
    #[arg(long, conflicts_with_all = ["qemu", "no_qemu", "mesa"])]
    oldest_rust: bool,
    /// Instead, make Debian packages for arm64 or armhf, install them into a root of Debian for that machine, and let
    /// Debian's own programs use them under QEMU.
    #[arg(long, value_name = "MACHINE", conflicts_with_all = ["qemu", "no_qemu", "mesa"])]
    package: Option<String>,
    #[command(flatten)]
    installed: installed::Options,
    /// Arguments for `cargo test`.
    #[arg(last = true)]
    cargo: Vec<String>,
}

/// Crates to test under QEMU.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Set {
    /// The encoder core only.
    Core,
    /// Core, kernel interface, compiler, compute engine and containers.
    All,
    /// The driver: its own tests there, and the suites across crates with their programs there and lavapipe here.
    Driver,
}

pub fn run(options: &Options, install: bool) -> Result<(), Error> {
    if let Some(deqp) = &options.cts {
        return cts::run(deqp, &options.cts_options, install);
    }
    if let Some(deqp) = &options.gles2 {
        return gles2::run(deqp, &options.gles2_options, install);
    }
    if options.mesa {
        return mesa::run(options.mesa_scenes, install);
    }
    if let Some(programs) = options.metamorphic {
        return metamorphic(programs, options.seed.unwrap_or(1), install);
    }
    if let Some(minutes) = options.api {
        return api(minutes, options.seed, install);
    }
    if let Some(tools) = &options.sanitize {
        return sanitize::run(tools, &options.cargo, install);
    }
    if options.reliability {
        return reliability(install);
    }
    if let Some(machine) = &options.package {
        return installed::test(machine, &options.installed, install);
    }
    if options.oldest_rust {
        return oldest::check(install);
    }
    if options.qemu.is_empty() {
        host(options, install)?;
        if options.no_qemu {
            return Ok(());
        }
        emulated(MACHINES, CORE, &[], install)?;
        driver(&MACHINES[..1], Extent::Few, &[], install)?;
        return mesa::run(mesa::Scenes::Ci, install);
    }
    let packages = match options.qemu_packages {
        Set::Core => CORE,
        Set::All => PORTABLE,
        Set::Driver => return driver(&options.qemu, Extent::Whole, &options.cargo, install),
    };
    emulated(&options.qemu, packages, &options.cargo, install)
}

/// The tests of `packages` on other machines, one after the other.
fn emulated<S: AsRef<str>>(
    machines: &[S],
    packages: &[&str],
    cargo: &[String],
    install: bool,
) -> Result<(), Error> {
    let targets: Result<Vec<&Target>, Error> =
        machines.iter().map(|machine| cross::target(machine.as_ref())).collect();
    for target in targets? {
        cross::require(target, install)?;
        let start = Instant::now();
        cross::test(target, &cross::libraries(target), packages, cargo)?;
        println!("{}: {} passed in {:.0} s", target.name, packages.join(", "), start.elapsed().as_secs_f64());
    }
    Ok(())
}

/// The driver on other machines.
fn driver<S: AsRef<str>>(
    machines: &[S],
    extent: Extent,
    arguments: &[String],
    install: bool,
) -> Result<(), Error> {
    for machine in machines {
        let target = cross::target(machine.as_ref())?;
        cross::require(target, install)?;
        let start = Instant::now();
        guest::test(target, extent, arguments, install)?;
        println!("{}: the driver passed in {:.0} s", target.name, start.elapsed().as_secs_f64());
    }
    Ok(())
}

/// Every call of the kernel's fails at many places, and what is done again and again is done for long.
fn reliability(install: bool) -> Result<(), Error> {
    packages::require(packages::TEST, install)?;
    build::cargo(&["build", "-p", "vc4-icd", "-p", "vc4-drm-shim"])?;
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(program)
        .args(["test", "-p", "vc4-tests", "--test", "faults", "--test", "soak", "--", "--nocapture"])
        .current_dir(build::workspace())
        .env("FAULTS", "all")
        .env("SOAK", "long")
        .status()?;
    if status.success() { Ok(()) } else { Err(format!("the tests failed ({status})").into()) }
}

/// Random programs of the API. Two suites run beside each other, as most of them have one thread.
fn api(minutes: u64, seed: Option<u64>, install: bool) -> Result<(), Error> {
    packages::require(packages::TEST, install)?;
    let both = ["-p", "vc4-icd", "-p", "vc4-tests"];
    build::cargo(&[&["build"], &both[..], &["--lib", "--bins", "--tests"]].concat())?;
    // Seconds of the clock, so that no run repeats another one's programs.
    let now = std::time::UNIX_EPOCH.elapsed().map_or(1, |since| since.as_secs() << 20);
    let seed = seed.unwrap_or(now);
    println!("from seed {seed} on");
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(program)
        .arg("test")
        .args(both)
        .args(["--test", "api", "--", "--nocapture", "--test-threads", "2"])
        .current_dir(build::workspace())
        .env("API_MINUTES", minutes.to_string())
        .env("API_SEED", seed.to_string())
        .status()?;
    if status.success() { Ok(()) } else { Err(format!("programs fail ({status})").into()) }
}

/// Random programs, each plain, after spirv-opt, after changes that keep its meaning, and as kernels, which go through the driver.
fn metamorphic(programs: u64, seed: u64, install: bool) -> Result<(), Error> {
    packages::require(packages::TEST, install)?;
    let both = ["-p", "vc4-icd", "-p", "vc4-tests"];
    build::cargo(&[&["build"], &both[..], &["--lib", "--bins", "--tests"]].concat())?;
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(program)
        .arg("test")
        .args(both)
        .args(["--test", "metamorphic", "--", "--nocapture", "mean_the_same"])
        .current_dir(build::workspace())
        .env("METAMORPHIC", programs.to_string())
        .env("METAMORPHIC_SEED", seed.to_string())
        .status()?;
    if status.success() { Ok(()) } else { Err(format!("programs differ ({status})").into()) }
}

/// The whole workspace on this machine.
fn host(options: &Options, install: bool) -> Result<(), Error> {
    packages::require(packages::TEST, install)?;
    // The suites load the driver and the preload library; testing alone does not put them in place. Built with the tests, their
    // dependencies are the same.
    build::cargo(&["build", "--workspace", "--lib", "--bins", "--tests"])?;
    let display = Display::private()?;
    let test = |arguments: &[&str], debug: Option<&str>| -> Result<(), Error> {
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(program);
        command.arg("test").args(arguments).args(&options.cargo).current_dir(build::workspace());
        let status = command
            .env("DISPLAY", &display.name)
            .envs(debug.map(|words| ("VC4VK_DEBUG", words)))
            .status()
            .map_err(|error| format!("cargo: {error}"))?;
        if status.success() { Ok(()) } else { Err(format!("the tests failed ({status})").into()) }
    };
    test(&["--workspace"], None)?;
    if !options.cargo.is_empty() {
        return Ok(());
    }
    // Above, the simulator watches every program, which it has to interpret for that.
    test(&["-p", "vc4-tests", "--test", "scenes", "--test", "drawing"], Some("compile"))
}
