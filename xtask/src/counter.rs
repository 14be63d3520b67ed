//! Counting the instructions of programs: of this machine's by valgrind, of others' by QEMU with a plugin of ours.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cross::Target;
use crate::{Error, build, packages};

/// Machines that are emulated, and the processors of the boards: on newer ones the C library chooses other code.
const PROCESSORS: [(&str, &str); 2] = [("aarch64", "cortex-a53"), ("armv7", "cortex-a7")];
const PLUGIN: &str = "vc4-instruction-counter";

/// Counts what programs of one machine execute, on all threads.
pub struct Counter {
    /// What runs a program and counts.
    runner: Vec<OsString>,
    /// What it writes before the count.
    before: &'static str,
}

impl Counter {
    /// For programs of this machine.
    pub fn host(install: bool) -> Result<Counter, Error> {
        packages::require(&["valgrind"], install)?;
        let runner = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"];
        Ok(Counter { runner: runner.map(OsString::from).into(), before: "Collected :" })
    }

    /// For programs of `target` with the libraries below `root`; [`crate::cross::require`] comes before.
    pub fn emulated(target: &Target, root: &Path, install: bool) -> Result<Counter, Error> {
        let processor = PROCESSORS.iter().find(|(name, _)| *name == target.name);
        let known = PROCESSORS.map(|(name, _)| name).join(", ");
        let unknown = || format!("no processor to count on is named for {}: there are {known}", target.name);
        let &(_, processor) = processor.ok_or_else(unknown)?;
        // Static builds, which tests use, take no plugins.
        packages::require(&["qemu-user"], install)?;
        build::cargo(&["build", "--release", "--package", PLUGIN])?;
        let library = format!("release/lib{}.so", PLUGIN.replace('-', "_"));
        let runner: [OsString; 7] = [
            target.qemu.trim_end_matches("-static").into(),
            "-cpu".into(),
            processor.into(),
            "-L".into(),
            root.into(),
            "-plugin".into(),
            build::target_directory()?.join(library).into(),
        ];
        Ok(Counter { runner: runner.into(), before: "instructions" })
    }

    /// Sets variables in programs, but not in what emulates them.
    #[must_use]
    pub fn within(mut self, variables: &[(&str, PathBuf)]) -> Counter {
        for (name, value) in variables {
            let mut variable = OsString::from(name);
            variable.push("=");
            variable.push(value);
            self.runner.extend(["-E".into(), variable]);
        }
        self
    }

    /// The instructions of a run.
    pub fn count(&self, command: &Command) -> Result<u64, Error> {
        let mut counted = Command::new(&self.runner[0]);
        counted.args(&self.runner[1..]).arg(command.get_program()).args(command.get_args());
        if let Some(directory) = command.get_current_dir() {
            counted.current_dir(directory);
        }
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => counted.env(name, value),
                None => counted.env_remove(name),
            };
        }
        let output = counted.output()?;
        let text = String::from_utf8_lossy(&output.stderr);
        let count = text.lines().find_map(|line| line.split(self.before).nth(1)?.trim().parse().ok());
        let count = count.filter(|_| output.status.success());
        let runner = self.runner[0].to_string_lossy();
        count.ok_or_else(|| format!("{runner} failed ({}):\n{text}", output.status).into())
    }
}
