//! Building and testing for the machines that the driver is for, from a Debian desktop: cross compilers from Debian's
//! packages, programs run under QEMU's user mode.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::build;
use crate::{Error, packages};

/// A machine to build for.
pub struct Target {
    /// What people call it on the command line.
    pub name: &'static str,
    /// What rustc calls it.
    pub triple: &'static str,
    /// Prefix of the C tool chain, and the directory of its libraries under `/usr`.
    pub gnu: &'static str,
    /// Debian's name of the machine whose libraries its programs are linked with.
    pub debian: &'static str,
    /// The emulator of its programs.
    pub qemu: &'static str,
    /// The processor that is emulated, if not the newest.
    cpu: Option<&'static str>,
    /// What the compiler may use beyond the triple.
    features: &'static str,
    packages: &'static [&'static str],
}

/// Every target. `armv6` (Pi 1 and Zero) links against Debian's C library for ARMv7: packages link without its start files.
/// `arm1176` is the code of `armv6` on their processor: Debian's C library for `armel` runs there, and differs from theirs in
/// the registers that pass floats.
pub const TARGETS: &[Target] = &[
    Target {
        name: "armv7",
        triple: "armv7-unknown-linux-gnueabihf",
        gnu: "arm-linux-gnueabihf",
        debian: "armhf",
        qemu: "qemu-arm-static",
        cpu: None,
        features: "",
        packages: ARM,
    },
    Target {
        name: "aarch64",
        triple: "aarch64-unknown-linux-gnu",
        gnu: "aarch64-linux-gnu",
        debian: "arm64",
        qemu: "qemu-aarch64-static",
        cpu: None,
        features: "",
        packages: &["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "qemu-user-static"],
    },
    Target {
        name: "armv6",
        triple: "arm-unknown-linux-gnueabihf",
        gnu: "arm-linux-gnueabihf",
        debian: "armhf",
        qemu: "qemu-arm-static",
        cpu: None,
        features: "",
        packages: ARM,
    },
    Target {
        name: "arm1176",
        triple: "arm-unknown-linux-gnueabi",
        gnu: "arm-linux-gnueabi",
        debian: "armel",
        qemu: "qemu-arm-static",
        cpu: Some("arm1176"),
        features: "+vfp2",
        packages: &["gcc-arm-linux-gnueabi", "libc6-dev-armel-cross", "qemu-user-static"],
    },
];

/// The machine of most desktops, which needs no emulator; packages are made for it, too.
pub const DESKTOP: Target = Target {
    name: "x86_64",
    triple: "x86_64-unknown-linux-gnu",
    gnu: "x86_64-linux-gnu",
    debian: "amd64",
    qemu: "qemu-x86_64-static",
    cpu: None,
    features: "",
    packages: &["gcc-x86-64-linux-gnu", "libc6-dev-amd64-cross", "qemu-user-static"],
};

const ARM: &[&str] = &["gcc-arm-linux-gnueabihf", "libc6-dev-armhf-cross", "qemu-user-static"];

const NATIVE: &[&str] = &["gcc", "libc6-dev"];

/// Debian's Rust with the source of the standard library, which cargo builds for the target.
const RUST: &[&str] = &["rustc-web", "cargo-web", "rust-web-src"];

/// A hanging program must not hold up a CI run: seconds that one test program may take. The longest, transfers, is five minutes
/// of processor time; a machine that builds beside it needs several times that.
const TIMEOUT_SECONDS: u32 = 2400;

/// Emulated tests are about pointer widths and layouts; the many random cases run on the host.
const PROPTEST_CASES: &str = "16";

/// The target that people call `name` (or by its triple).
pub fn target(name: &str) -> Result<&'static Target, Error> {
    TARGETS.iter().find(|target| target.name == name || target.triple == name).ok_or_else(|| {
        let known: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        format!("no target is called {name}: there are {}", known.join(", ")).into()
    })
}

/// Makes sure that everything for building and running is there.
pub fn require(target: &Target, install: bool) -> Result<(), Error> {
    // A machine's own compilers bear the long names, too.
    let native = target.triple.starts_with(std::env::consts::ARCH);
    packages::require(if native { NATIVE } else { target.packages }, install)?;
    if own_toolchain(target) { Ok(()) } else { packages::require(RUST, install) }
}

/// A cargo command (`build`, `test`, …) for `target`, in the workspace; [`require`] comes before.
pub fn cargo(target: &Target, subcommand: &str) -> Result<Command, Error> {
    let mut command = if own_toolchain(target) {
        let mut command = Command::new(host_cargo());
        command.arg(subcommand);
        command
    } else {
        cargo_with_std(subcommand)
    };
    let upper = target.triple.replace('-', "_").to_uppercase();
    command
        .args(["--target", target.triple])
        .current_dir(build::workspace())
        .env("CARGO_TARGET_DIR", directory()?)
        .env(format!("CARGO_TARGET_{upper}_LINKER"), format!("{}-gcc", target.gnu))
        .env(runner_variable(target), runner(target, &libraries(target)))
        .env("PROPTEST_CASES", PROPTEST_CASES)
        // For the few tests that see the emulator behind the machine.
        .env("VC4_QEMU_USER", "1");
    if !target.features.is_empty() {
        command
            .env(format!("CARGO_TARGET_{upper}_RUSTFLAGS"), format!("-Ctarget-feature={}", target.features));
    }
    Ok(command)
}

/// Makes sure that [`cargo_with_std`] can run.
pub fn require_std(install: bool) -> Result<(), Error> {
    packages::require(RUST, install)
}

/// A cargo command that compiles the standard library, too, by Debian's compiler, which has its sources.
pub fn cargo_with_std(subcommand: &str) -> Command {
    let mut command = Command::new("/usr/bin/cargo");
    command
        .args([subcommand, "-Zbuild-std"])
        // Stable compilers build the standard library under this name only.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTC", "/usr/bin/rustc")
        .env("RUSTDOC", "/usr/bin/rustdoc");
    // What the running cargo says about itself would mislead the other one.
    for variable in ["CARGO", "RUSTUP_TOOLCHAIN", "LD_LIBRARY_PATH"] {
        command.env_remove(variable);
    }
    command
}

/// Where cargo looks for that.
fn runner_variable(target: &Target) -> String {
    format!("CARGO_TARGET_{}_RUNNER", target.triple.replace('-', "_").to_uppercase())
}

/// Runs a program of `target` on this machine, with the libraries below `root`: `runner arguments… program`.
pub fn runner(target: &Target, root: &Path) -> String {
    let cpu = target.cpu.map(|cpu| format!(" -cpu {cpu}")).unwrap_or_default();
    format!("timeout {TIMEOUT_SECONDS} {}{cpu} -L {}", target.qemu, root.display())
}

/// Where the cross compiler's own libraries lie.
pub fn libraries(target: &Target) -> PathBuf {
    Path::new("/usr").join(target.gnu)
}

/// Builds one package for measuring, and returns the directory with its programs and libraries.
pub fn build(target: &Target, package: &str) -> Result<PathBuf, Error> {
    let mut command = cargo(target, "build")?;
    command.args(["--release", "--package", package]);
    status(&mut command, &format!("building {package} for {}", target.name))?;
    Ok(directory()?.join(target.triple).join("release"))
}

/// Builds what integration tests need of packages, and returns the directory with `library` and the packages' programs. `what` names
/// packages and one test of each. Where cargo builds the standard library along, tests and builds share nothing: what other tests
/// built is used again.
pub fn build_for_tests(target: &Target, what: &[&str], library: &str) -> Result<PathBuf, Error> {
    let mut command = cargo(target, "test")?;
    command.arg("--no-run").args(what);
    status(&mut command, &format!("building {library} for {}", target.name))?;
    let directory = directory()?.join(target.triple).join("debug");
    // Where cargo leaves libraries that tests depend on.
    std::fs::copy(directory.join("deps").join(library), directory.join(library))?;
    Ok(directory)
}

/// Builds an example of a package for measuring, and returns the program.
pub fn build_example(target: &Target, package: &str, example: &str) -> Result<PathBuf, Error> {
    let mut command = cargo(target, "build")?;
    command.args(["--release", "--package", package, "--example", example]);
    status(&mut command, &format!("building {example} of {package} for {}", target.name))?;
    Ok(directory()?.join(target.triple).join("release/examples").join(example))
}

/// Runs the tests of `packages`, with the libraries below `root`.
pub fn test(target: &Target, root: &Path, packages: &[&str], arguments: &[String]) -> Result<(), Error> {
    let mut command = cargo(target, "test")?;
    command.env(runner_variable(target), runner(target, root));
    command.args(packages.iter().flat_map(|package| ["--package", package])).args(arguments);
    status(&mut command, &format!("the tests for {} under {}", target.name, target.qemu))
}

fn status(command: &mut Command, what: &str) -> Result<(), Error> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().map_err(|error| format!("{program}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{what} failed ({status})").into()) }
}

/// Apart from the host's builds: another compiler wrote it.
pub fn directory() -> Result<PathBuf, Error> {
    Ok(build::target_directory()?.join("cross"))
}

fn host_cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Whether the running toolchain has the target's standard library (`rustup target add`).
fn own_toolchain(target: &Target) -> bool {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let query = Command::new(rustc)
        .args(["--print", "target-libdir", "--target", target.triple])
        .current_dir(build::workspace())
        .stderr(Stdio::null())
        .output();
    query.is_ok_and(|output| {
        output.status.success() && Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir()
    })
}
