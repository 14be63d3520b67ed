//! Khronos' test programs through `deqp-runner`, held against committed lists.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Error;

/// Seconds without output after which a case counts as hung; the simulator takes seconds for all but a few.
pub const PATIENCE: u32 = 120;

/// Shell text that takes away the options of today's runner that this release does not know.
pub const WITHOUT_NEWER_OPTIONS: &str = "for a do shift; case $a in --deqp-log-flush=*|--deqp-shadercache-*) ;; *) set -- \"$@\" \"$a\" ;; esac; done";

/// An error that says what to install, unless the runner is there.
pub fn require_runner() -> Result<(), Error> {
    match Command::new("deqp-runner").arg("--version").stdout(Stdio::null()).status() {
        Ok(_) => Ok(()),
        Err(_) => Err("deqp-runner is not there; install it: cargo install deqp-runner".into()),
    }
}

/// The path of a test program that the user has built; `how` says what to do if it is not there.
pub fn program(path: &Path, how: &str) -> Result<PathBuf, Error> {
    path.canonicalize().map_err(|error| format!("{}: {error}\n  {how}", path.display()).into())
}

/// Writes a script that starts `program` in its directory, where it finds its data. `before` is shell text in front.
pub fn script(program: &Path, directory: &Path, before: &str) -> Result<PathBuf, Error> {
    let name = program.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let script = directory.join(format!("{name}.sh"));
    let home = program.parent().unwrap_or(Path::new(".")).display();
    let text = format!("#!/bin/sh\n{before}\ncd '{home}' && exec '{}' \"$@\"\n", program.display());
    fs::write(&script, text)?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    Ok(script)
}

/// One run of cases.
pub struct Run<'a> {
    /// Starts the tests.
    pub script: &'a Path,
    /// Names of cases, a line each.
    pub list: &'a Path,
    /// Where results go; what is there is removed.
    pub output: &'a Path,
    /// A directory with `fails.txt`, `flakes.txt` and `skips.txt`; without one, every case should pass.
    pub expectations: Option<&'a Path>,
    /// Cases that one process runs.
    pub cases_per_process: usize,
    /// Seconds without output after which a case counts as hung, [`PATIENCE`] as a rule.
    pub patience: u32,
    /// Arguments for the tests.
    pub arguments: &'a [&'a str],
}

impl Run<'_> {
    /// Runs the cases with what `prepare` adds to the environment; whether all ended as expected.
    pub fn run(&self, prepare: impl FnOnce(&mut Command)) -> Result<bool, Error> {
        if self.output.exists() {
            fs::remove_dir_all(self.output)?;
        }
        let mut command = Command::new("deqp-runner");
        command.arg("run").arg("--deqp").arg(self.script).arg("--caselist").arg(self.list);
        command.arg("--output").arg(self.output);
        command.args(["--timeout", &self.patience.to_string()]);
        command.args(["--tests-per-group", &self.cases_per_process.to_string()]);
        if let Some(lists) = self.expectations {
            command.arg("--baseline").arg(lists.join("fails.txt"));
            command.arg("--flakes").arg(lists.join("flakes.txt"));
            command.arg("--skips").arg(lists.join("skips.txt"));
        }
        command.arg("--").args(self.arguments);
        prepare(&mut command);
        Ok(command.status().map_err(|error| format!("deqp-runner: {error}"))?.success())
    }
}
