//! Debian packages that a chore needs.

use std::process::{Command, Stdio};

use crate::Error;

/// For running programs through the loader without a desktop.
pub const RUN: &[&str] = &["vulkan-tools", "libvulkan1", "xvfb"];

/// For the tests besides [`RUN`]: the reference driver, the validation layers, the GLSL compiler and
/// the SPIR-V optimiser, the registry, and
/// compilers for the driver's C header, modetest.
pub const TEST: &[&str] = &[
    "vulkan-tools",
    "libvulkan1",
    "xvfb",
    "mesa-vulkan-drivers",
    "vulkan-validationlayers",
    "glslang-tools",
    "spirv-tools",
    "libvulkan-dev",
    "gcc",
    "g++",
    "libdrm-tests",
];

/// Makes sure that all `packages` are there, installing what is missing through apt.
pub fn require(packages: &[&str], install: bool) -> Result<(), Error> {
    let missing: Vec<&str> = packages.iter().copied().filter(|package| !is_installed(package)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let list = missing.join(" ");
    if !install {
        return Err(
            format!("missing Debian packages: {list}\n  install them: sudo apt-get install {list}").into()
        );
    }
    if !has("apt-get") {
        return Err(format!("this chore needs the Debian packages {list} (or what your distribution calls them), and there is no apt-get here").into());
    }
    println!("Installing Debian packages: {list}");
    update()?;
    apt(&[&["install", "--yes", "--no-install-recommends"], missing.as_slice()].concat())
}

/// Has apt read what its sources offer: a fresh machine knows of nothing.
pub fn update() -> Result<(), Error> {
    apt(&["update"])
}

fn is_installed(package: &str) -> bool {
    let query = Command::new("dpkg-query")
        .args(["-W", "-f=${db:Status-Abbrev}", package])
        .stderr(Stdio::null())
        .output();
    query.is_ok_and(|output| output.stdout.starts_with(b"ii"))
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Whether this is the superuser.
pub fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Runs apt-get, through sudo when this is not root.
fn apt(arguments: &[&str]) -> Result<(), Error> {
    let root = is_root();
    let mut command = if root { Command::new("apt-get") } else { Command::new("sudo") };
    if !root {
        command.arg("apt-get");
    }
    command.arg("--quiet").args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
    let shown = format!("{}apt-get {}", if root { "" } else { "sudo " }, arguments.join(" "));
    println!("> {shown}");
    let status = command.stdout(Stdio::null()).status().map_err(|error| format!("{shown}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{shown} failed ({status})").into()) }
}
