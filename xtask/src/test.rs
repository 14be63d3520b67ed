//! All tests: what they need is installed, the driver built, a private display started.

use std::process::Command;

use crate::build;
use crate::display::Display;
use crate::{Error, packages};

#[derive(clap::Args)]
pub struct Options {
    /// Arguments for `cargo test`.
    #[arg(last = true)]
    cargo: Vec<String>,
}

pub fn run(options: &Options, install: bool) -> Result<(), Error> {
    packages::require(packages::TEST, install)?;
    // The suites load the driver and the preload library; testing alone does not put them in place.
    build::cargo(&["build", "--workspace"])?;
    let display = Display::private()?;
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(program)
        .args(["test", "--workspace"])
        .args(&options.cargo)
        .current_dir(build::workspace())
        .env("DISPLAY", &display.name)
        .status()?;
    if status.success() { Ok(()) } else { Err(format!("the tests failed ({status})").into()) }
}
