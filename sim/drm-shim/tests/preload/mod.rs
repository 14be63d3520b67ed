//! Tests that need the library in front of the C library run again in a process of their own that has it.

#![allow(dead_code, reason = "each test file uses its part")]

use std::path::PathBuf;
use std::process::Command;

/// Set in the process that has the library.
const MARK: &str = "VC4SIM_TEST_PRELOADED";

/// The library of this build: a test executable lies beside it.
pub fn library() -> PathBuf {
    let executable = std::env::current_exe().expect("a process knows its executable");
    let library = executable.with_file_name("libvc4_drm_shim.so");
    assert!(library.exists(), "{} is not built", library.display());
    library
}

/// A command with the library.
pub fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env("LD_PRELOAD", library());
    command
}

/// Runs `body` in a process that has the library; `name` is the test's.
pub fn preloaded(name: &str, body: impl FnOnce()) {
    preloaded_with(name, &[], body);
}

/// As [`preloaded`], with these variables.
pub fn preloaded_with(name: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    if std::env::var_os(MARK).is_some() {
        body();
        return;
    }
    let executable = std::env::current_exe().expect("a process knows its executable");
    let output = command(executable)
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .env(MARK, "1")
        .envs(variables.iter().copied())
        .output()
        .expect("the test starts again");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success() && out.contains("1 passed"), "{}\n{out}\n{err}", output.status);
}
