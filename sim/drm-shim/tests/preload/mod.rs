//! Tests that need the library in front of the C library run again in processes of their own that have it: once with
//! the device in that process, once with the device in this one, behind a socket.

#![allow(dead_code, reason = "each test file uses its part")]

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use vc4_sim::drm::host::Host;
use vc4_sim::drm::{screen, serve};
use vc4_sim::{Config, Mode};

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

/// A device in this process that others reach through a socket.
pub struct Server {
    pub path: PathBuf,
    pub host: Arc<Host>,
}

impl Server {
    pub fn start() -> Server {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("vc4-shim-test-{}-{number}", std::process::id()));
        let config = Config { mode: Mode::Faithful, ..Config::default() };
        let server = serve::Server::new(&path, config, screen::from_environment()).expect("the path is free");
        let host = server.host().clone();
        std::thread::spawn(move || server.run());
        Server { path, host }
    }

    /// The variable that leads there.
    pub fn variable(&self) -> (&'static str, &str) {
        ("VC4SIM_SERVER", self.path.to_str().expect("a path of letters"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Whether this process has the library.
pub fn is_preloaded() -> bool {
    std::env::var_os(MARK).is_some()
}

/// Runs `body` in processes that have the library; `name` is the test's.
pub fn preloaded(name: &str, body: impl FnOnce()) {
    preloaded_with(name, &[], body);
}

/// As [`preloaded`], with these variables.
pub fn preloaded_with(name: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    if is_preloaded() {
        return body();
    }
    run(name, variables);
    let server = Server::start();
    run(name, &[variables, &[server.variable()]].concat());
}

/// As [`preloaded_with`], with a device of the process's own only.
pub fn preloaded_alone(name: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    if is_preloaded() { body() } else { run(name, variables) }
}

/// A command that runs the test `name` again with the library.
pub fn again(name: &str, variables: &[(&str, &str)]) -> Command {
    let executable = std::env::current_exe().expect("a process knows its executable");
    let mut command = command(executable);
    command
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .env(MARK, "1")
        .envs(variables.iter().copied());
    command
}

/// Runs the test `name` again in a process that has the library.
pub fn run(name: &str, variables: &[(&str, &str)]) {
    let output = again(name, variables).output().expect("the test starts again");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    let passed = output.status.success() && out.contains("1 passed");
    assert!(passed, "with {variables:?}: {}\n{out}\n{err}", output.status);
}
