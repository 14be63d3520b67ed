//! Debian packages: the driver, the `vc4` command, and debug symbols of both apart.
//!
//! `architecture` says for which machines, `compile` builds for them, `elf` reads what the results need and `copyright` what they
//! are made of, `licences` whether all that may be linked in, `instructions` whether their processor runs them, `contents` says which file lies where, `deb` makes packages of it. They are staged trees for dpkg-deb: the driver
//! has no maintainer scripts, and a packaging tool would have to be built first.

mod architecture;
mod compile;
mod contents;
mod copyright;
mod deb;
mod elf;
mod instructions;
mod licences;

use std::path::{Path, PathBuf};
use std::time::Instant;

pub use architecture::{Architecture, this_machine};
use compile::Built;
pub use contents::PRELOADED;

use crate::{Error, build, cross, packages};

/// For looking into programs and for making packages.
const TOOLS: &[&str] = &["binutils", "dpkg", "gzip", "xz-utils"];

#[derive(clap::Args)]
pub struct Options {
    /// Debian's name of the machine: armhf, arm64, amd64; this one by default.
    #[arg(long)]
    target: Option<String>,
    /// With armhf: code for ARMv6 and VFPv2, as the Pi 1 and Zero have.
    #[arg(long)]
    armv6: bool,
    /// Where the packages go: `target/package/NAME` by default.
    #[arg(long, value_name = "DIRECTORY")]
    output: Option<PathBuf>,
    /// cargo-deny looks at licences and sources of all dependencies, and nothing is built.
    #[arg(long)]
    check_licences: bool,
}

/// Makes the packages and prints what they are.
pub fn run(options: &Options, install: bool) -> Result<(), Error> {
    if options.check_licences {
        return licences::check(install);
    }
    let name = match &options.target {
        Some(name) => name.clone(),
        None => this_machine()?,
    };
    let architecture = Architecture::find(&name, options.armv6)?;
    let start = Instant::now();
    let made = make(&architecture, options.output.as_deref(), install)?;
    println!("{} packages in {:.0} s:", architecture.name(), start.elapsed().as_secs_f64());
    for package in &made {
        println!("  {} ({} KiB)", package.display(), std::fs::metadata(package)?.len().div_ceil(1024));
    }
    Ok(())
}

/// Builds everything for a machine and packs it; returns the packages.
pub fn make(
    architecture: &Architecture,
    output: Option<&Path>,
    install: bool,
) -> Result<Vec<PathBuf>, Error> {
    packages::require(TOOLS, install)?;
    cross::require(architecture.target, install)?;
    if architecture.armv6 {
        packages::require(instructions::TOOLS, install)?;
    }
    let place = build::target_directory()?.join("package");
    let output = output.map_or_else(|| place.join(architecture.name()), Path::to_path_buf);
    let time = deb::source_date()?;
    let built = Built::build(architecture, &place.join("build"))?;
    contents::pack(architecture, &built, &place.join("stage").join(architecture.name()), &output, &time)
}
