//! The oldest compiler that builds the workspace: Debian 13's, fetched as packages and unpacked below the target directory.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::build;
use crate::debian::{fresh, run};
use crate::{Error, packages};

/// As `rust-version` says in the workspace's manifest.
const VERSION: &str = env!("CARGO_PKG_RUST_VERSION");

/// Checks the workspace with it.
pub fn check(install: bool) -> Result<(), Error> {
    packages::require(&["gcc", "libc6-dev"], install)?;
    let start = Instant::now();
    let target = build::target_directory()?;
    let compiler = compiler(&target.join("oldest"), install)?;
    let libraries = compiler.join(format!("usr/lib/{}-linux-gnu", std::env::consts::ARCH));
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(program)
        .args(["check", "--workspace", "--locked"])
        .current_dir(build::workspace())
        .env("CARGO_TARGET_DIR", target.join("oldest/build"))
        .env("CARGO_INCREMENTAL", "0")
        .env("RUSTC", compiler.join("usr/bin/rustc"))
        .env("LD_LIBRARY_PATH", libraries)
        .status()?;
    if !status.success() {
        return Err(format!("Rust {VERSION} does not build the workspace ({status})").into());
    }
    println!("The workspace builds with Rust {VERSION}: {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// The directory with the compiler, fetched unless that was done before.
fn compiler(place: &Path, install: bool) -> Result<PathBuf, Error> {
    let root = place.join("root");
    let ready = place.join("ready");
    if std::fs::read_to_string(&ready).is_ok_and(|text| text == VERSION) {
        return Ok(root);
    }
    let mut found = listed()?;
    if found.is_none() && install {
        packages::update()?;
        found = listed()?;
    }
    let (compiler, version) = found.ok_or_else(|| {
        format!("this machine's package sources offer no Rust {VERSION}: Debian 12 and 13 do")
    })?;
    println!("Fetching Debian's {compiler} {version}");
    let debs = fresh(&place.join("debs"))?;
    let web = compiler.trim_start_matches("rustc");
    let names = [
        format!("{compiler}={version}"),
        format!("libstd-rust{web}-dev={version}"),
        format!("libstd-rust{web}-{VERSION}={version}"),
        // What Debian's build of this compiler links to.
        "libllvm19".to_owned(),
    ];
    run(
        Command::new("apt-get").args(["--quiet", "download"]).args(&names).current_dir(&debs),
        "apt-get download",
    )?;
    let root = fresh(&root)?;
    for package in std::fs::read_dir(&debs)? {
        run(Command::new("dpkg").arg("-x").arg(package?.path()).arg(&root), "dpkg -x")?;
    }
    std::fs::remove_dir_all(debs)?;
    std::fs::write(ready, VERSION)?;
    Ok(root)
}

/// Package and version of the wanted compiler, as far as apt knows.
fn listed() -> Result<Option<(String, String)>, Error> {
    let listed = Command::new("apt-cache").args(["madison", "rustc-web", "rustc"]).output();
    let listed = listed.map_err(|error| format!("apt-cache: {error} (a Debian machine is needed)"))?;
    Ok(offered(&String::from_utf8_lossy(&listed.stdout)))
}

/// Package and version of the wanted compiler in what `apt-cache madison` lists.
fn offered(listed: &str) -> Option<(String, String)> {
    listed.lines().find_map(|line| {
        let mut fields = line.split('|').map(str::trim);
        let (name, version) = (fields.next()?, fields.next()?);
        let wanted = version.strip_prefix(VERSION)?.starts_with(['.', '+', '-']);
        wanted.then(|| (name.to_owned(), version.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wanted_compiler_is_found_among_others() {
        let listed = format!(
            " rustc-web | 1.96.0+dfsg1-1 | x main amd64\n rustc-web | {VERSION}.0+dfsg3-1 | x main amd64\n rustc | {VERSION}0.0 | x"
        );
        assert_eq!(offered(&listed), Some(("rustc-web".to_owned(), format!("{VERSION}.0+dfsg3-1"))));
        assert_eq!(offered(" rustc | 1.63.0+dfsg1-2 | x main amd64\n"), None);
    }
}
