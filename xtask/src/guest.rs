//! The driver on another machine: its own suites there, and the suites across crates, whose programs run there while lavapipe
//! and the comparing stay here.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cross::{self, Target};
use crate::debian::Debian;
use crate::{Error, build, packages};

/// What programs are linked to and load: the C library, the unwinder, the Vulkan loader; what the driver loads to reach displays, and
/// what that loads.
const LIBRARIES: &[&str] = &[
    "libc6",
    "libgcc-s1",
    "libvulkan1",
    "libwayland-client0",
    "libffi8",
    "libxcb1",
    "libxau6",
    "libxdmcp6",
    "libbsd0",
    "libmd0",
    "libx11-6",
    "libx11-xcb1",
];
/// Debian's release of the libraries, no older than the cross compilers'.
const RELEASE: &str = "bookworm";

/// Suites across crates whose programs are run there.
const SUITES: &[&str] = &["scenes", "drawing", "transfers", "features", "compute", "bad_input"];
/// The one of each run, and its test.
const FEW: (&str, &str) = ("scenes", "scenes_match_lavapipe");
/// Tests of what is not there: the layer, and the preload library, which is this machine's.
const LEFT_OUT: &[&str] = &["validation_layers", "the_cpu_runs_pictures_until_their_programs_are_compiled"];
/// A test of the driver's own for which the C compiler has to be the machine's.
const OWN_LEFT_OUT: &[&str] = &["the_header_is_c_and_cpp_with_the_drivers_layout"];

/// The driver.
const DRIVER: &str = "libvulkan_vc4.so";

/// How much is tested.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All suites.
    Whole,
    /// The pictures of scenes.
    Few,
}

/// Tests the driver on `target`; [`cross::require`] comes before.
pub fn test(target: &Target, extent: Extent, arguments: &[String], install: bool) -> Result<(), Error> {
    packages::require(packages::TEST, install)?;
    let programs = programs(target)?;
    let root = root(target)?;
    let runner = cross::runner(target, &root);
    match extent {
        Extent::Few => few(target, &programs, runner, arguments),
        Extent::Whole => {
            suites(target, SUITES, None, &programs, runner, arguments)?;
            // In front of what is for the tests themselves.
            let split = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
            let (cargo, tests) = arguments.split_at(split);
            let skips = OWN_LEFT_OUT.iter().flat_map(|test| ["--skip", test]).map(String::from);
            let rest = tests.iter().skip(1).cloned();
            let all: Vec<String> =
                cargo.iter().cloned().chain(["--".into()]).chain(skips).chain(rest).collect();
            cross::test(target, &root, &["vc4-icd"], &all)
        }
    }
}

/// The pictures of scenes, by a driver that was installed below `root`, with these variables in its programs.
pub fn test_installed(
    target: &Target,
    driver: &Path,
    root: &Path,
    variables: &[(&str, &str)],
    install: bool,
) -> Result<(), Error> {
    packages::require(packages::TEST, install)?;
    let place = cross::directory()?.join(target.triple).join("installed");
    std::fs::create_dir_all(&place)?;
    std::fs::copy(programs(target)?.join(FEW.0), place.join(FEW.0))?;
    std::fs::copy(driver, place.join(DRIVER))?;
    let mut runner = cross::runner(target, root);
    for (name, value) in variables {
        // Stronger than what the suite says, and not seen by the emulator itself.
        runner += &format!(" -E {name}={value}");
    }
    few(target, &place, runner, &[])
}

fn few(target: &Target, build: &Path, runner: String, arguments: &[String]) -> Result<(), Error> {
    suites(target, &[FEW.0], Some(FEW.1), build, runner, arguments)
}

/// Runs suites here, whose programs and driver lie in `build` and are run by `runner`.
fn suites(
    target: &Target,
    suites: &[&str],
    filter: Option<&str>,
    build: &Path,
    runner: String,
    arguments: &[String],
) -> Result<(), Error> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    // For one package alone cargo chooses other features and builds much anew.
    command
        .args(["test", "--workspace"])
        .args(suites.iter().flat_map(|suite| ["--test", suite]))
        .args(arguments)
        .args(filter)
        .arg("--")
        .args(LEFT_OUT.iter().flat_map(|test| ["--skip", test]))
        .current_dir(crate::build::workspace())
        .env("VC4_TESTS_BUILD", build)
        .env("VC4_TESTS_RUNNER", runner);
    let status = command.status()?;
    if status.success() {
        return Ok(());
    }
    Err(format!("{} with the driver on {} failed ({status})", suites.join(", "), target.name).into())
}

/// Builds the driver and the programs of the suites; where they lie.
fn programs(target: &Target) -> Result<PathBuf, Error> {
    let what = ["--package", "vc4-icd", "--test", "version", "--package", "vc4-tests", "--test", "bad_input"];
    cross::build_for_tests(target, &what, DRIVER)
}

/// A folder with Debian's libraries for `target`; what was fetched before is used again.
fn root(target: &Target) -> Result<PathBuf, Error> {
    root_with(target, &[])
}

/// The same with more packages.
pub fn root_with(target: &Target, packages: &[&str]) -> Result<PathBuf, Error> {
    let name = [&[target.debian], packages].concat().join("+");
    let packages = [LIBRARIES, packages].concat();
    let place = build::target_directory()?.join("cross/root").join(name);
    let (root, stamp) = (place.join("root"), place.join("ready"));
    let recipe = format!("{RELEASE} {}\n", packages.join(" "));
    if std::fs::read_to_string(&stamp).is_ok_and(|text| text == recipe) {
        return Ok(root);
    }
    let debian = Debian::new(place, target.debian, RELEASE);
    debian.download(&packages)?;
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
