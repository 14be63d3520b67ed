//! Programs for OpenGL ES on Debian's arm64 Mesa and the simulated device.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::root::Root;
use crate::counter::Counter;
use crate::{Error, build, cross, debian, packages};

/// For building and running both sides, besides the tool chain for arm64.
const PACKAGES: &[&str] =
    &["gcc", "libc6-dev", "libegl-dev", "libgl-dev", "libgles-dev", "libgl1-mesa-dri", "libegl-mesa0"];
/// The guest's.
pub const MACHINE: &str = "aarch64";
/// That long may a program take in the emulator.
const TIMEOUT_SECONDS: &str = "1200";
/// How programs are compiled for both machines.
const FLAGS: [&str; 5] = ["-std=c11", "-O1", "-Wall", "-Wextra", "-D_GNU_SOURCE"];

/// What shows the guest its device.
const SHIM: &str = "libvc4_drm_shim.so";

/// A machine with Mesa's driver.
pub struct Guest {
    root: Root,
    shim: PathBuf,
    program: PathBuf,
}

impl Guest {
    /// Fetches what is missing, and builds the preload library for the guest and `vc4` for this machine.
    pub fn prepare(target: &Path, install: bool) -> Result<Guest, Error> {
        let machine = cross::target(MACHINE)?;
        cross::require(machine, install)?;
        packages::require(PACKAGES, install)?;
        let root = Root::prepare(target)?;
        // It passes calls on to a server on this machine, and simulates nothing.
        let what = ["--package", "vc4-drm-shim", "--no-default-features", "--test", "process"];
        let shim = cross::build_for_tests(machine, &what, SHIM)?.join(SHIM);
        // As the tests before build it: for one package alone cargo chooses other features and builds much anew.
        build::cargo(&["build", "--workspace"])?;
        Ok(Guest { root, shim, program: target.join("debug/vc4") })
    }

    /// Compiles sources for this machine.
    pub fn compile_here(files: &[PathBuf], output: &Path) -> Result<(), Error> {
        let mut host = Command::new("gcc");
        host.args(FLAGS).args(files).args(["-lEGL", "-lGLESv2", "-lm", "-o"]).arg(output);
        debian::run(&mut host, "compiling for OpenGL ES")
    }

    /// Compiles sources for the guest.
    pub fn compile(&self, files: &[PathBuf], output: &Path) -> Result<(), Error> {
        let mut guest = Command::new("aarch64-linux-gnu-gcc");
        guest.args(FLAGS).args(["-idirafter", "/usr/include"]).args(files);
        let libraries = self.root.libraries();
        guest.arg(libraries.join("libEGL.so.1")).arg(libraries.join("libGLESv2.so.2"));
        for directory in [libraries, self.root.path().join("lib/aarch64-linux-gnu")] {
            guest.arg(format!("-Wl,-rpath-link,{}", directory.display()));
        }
        debian::run(guest.args(["-lm", "-o"]).arg(output), "compiling for OpenGL ES on arm64")
    }

    /// Starts a device for programs, which captures what they submit if a file is named.
    pub fn serve(&self, capture: Option<&Path>) -> Result<Server, Error> {
        Server::start(&self.program, capture)
    }

    /// A program in the guest, on a device.
    pub fn command(&self, server: &Server, program: &Path) -> Command {
        let mut command = Command::new("timeout");
        command.args([TIMEOUT_SECONDS, "qemu-aarch64-static", "-L"]).arg(self.root.path());
        for (name, value) in self.variables(server) {
            command.arg("-E").arg(format!("{name}={}", value.display()));
        }
        self.told(command.arg(program));
        command
    }

    /// Counts the instructions of programs in the guest, on a device; they are [`Guest::told`] more.
    pub fn counter(&self, server: &Server, install: bool) -> Result<Counter, Error> {
        let counter = Counter::emulated(cross::target(MACHINE)?, &self.root.path(), install)?;
        Ok(counter.within(&self.variables(server)))
    }

    /// What is not exported: programs of the host in between could not load it.
    fn variables(&self, server: &Server) -> [(&'static str, PathBuf); 3] {
        [
            ("LD_PRELOAD", self.shim.clone()),
            ("LD_LIBRARY_PATH", self.root.stub()),
            ("VC4SIM_SERVER", server.socket.clone()),
        ]
    }

    /// A command with what Mesa's libraries are told.
    pub fn told<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            // Without a device Mesa takes software in silence; llvmpipe would crash on the stub of LLVM.
            .env("GALLIUM_DRIVER", "softpipe")
            .env("MESA_SHADER_CACHE_DISABLE", "true")
            .env_remove("MESA_LOADER_DRIVER_OVERRIDE")
    }
}

/// The simulated device in a native process of its own: emulated code is slow, above all in floating point.
pub struct Server {
    child: Child,
    socket: PathBuf,
}

impl Server {
    /// Starts `vc4 sim serve`, and waits until it answers.
    fn start(program: &Path, capture: Option<&Path>) -> Result<Server, Error> {
        // Not in the target directory: names of sockets are short.
        let socket = std::env::temp_dir().join(format!("vc4-mesa-{}", std::process::id()));
        let mut command = Command::new(program);
        // Captures say nothing of this machine.
        command.arg0(program.file_name().unwrap_or_default());
        command.args(["sim", "serve"]).arg(&socket).stdin(Stdio::null()).stdout(Stdio::piped());
        match capture {
            // What Mesa does against the rules is for tests.
            Some(file) => command.env("VC4SIM_CAPTURE", file).stderr(Stdio::null()),
            None => command.env_remove("VC4SIM_CAPTURE"),
        };
        let mut child = command.spawn().map_err(|error| format!("{}: {error}", program.display()))?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        let server = Server { child, socket };
        if line.is_empty() { Err("vc4 sim serve ended at once".into()) } else { Ok(server) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.socket);
    }
}
