//! A private X server where there is no display, and private Wayland compositors.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Error;
use crate::build;

/// The display that programs draw to; a private server ends with this value.
pub struct Display {
    /// For the `DISPLAY` variable.
    pub name: String,
    server: Option<Child>,
}

impl Display {
    /// The user's display, or a private Xvfb when `DISPLAY` is not set.
    pub fn open() -> Result<Display, Error> {
        match std::env::var("DISPLAY") {
            Ok(name) if !name.is_empty() => Ok(Display { name, server: None }),
            _ => Display::private(),
        }
    }

    /// A private Xvfb.
    pub fn private() -> Result<Display, Error> {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x1024x24", "-noreset", "-nolisten", "tcp"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("Xvfb: {error}"))?;
        // Xvfb picks a free display number and says it once it accepts clients.
        let mut number = String::new();
        if let Some(stdout) = server.stdout.take() {
            BufReader::new(stdout).read_line(&mut number)?;
        }
        let number = number.trim();
        if number.is_empty() {
            let _ = server.kill();
            let _ = server.wait();
            return Err("Xvfb did not start: run it by hand to see why".into());
        }
        Ok(Display { name: format!(":{number}"), server: Some(server) })
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        if let Some(server) = &mut self.server {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

/// A Wayland compositor without a screen; ends with this value.
pub struct Compositor {
    /// For `XDG_RUNTIME_DIR`.
    directory: PathBuf,
    server: Child,
}

impl Compositor {
    const SOCKET: &str = "vc4";
    /// How long it may take to start.
    const PATIENCE: Duration = Duration::from_secs(20);

    /// Debian's weston, which composes by the CPU and takes shared memory only.
    pub fn weston() -> Result<Compositor, Error> {
        Compositor::start("weston", |directory| {
            let mut weston = Command::new("weston");
            weston
                .args(["--backend=headless-backend.so", "--use-pixman", "--no-config", "--idle-time=0"])
                .arg(format!("--socket={}", Compositor::SOCKET))
                .arg(format!("--log={}", directory.join("log").display()));
            weston
        })
    }

    /// The tests' own, which takes images as they are.
    pub fn of_images() -> Result<Compositor, Error> {
        build::cargo(&["build", "--package", "vc4-compositor"])?;
        let program = build::target_directory()?.join("debug/compositor");
        Compositor::start("compositor", |directory| {
            let mut compositor = Command::new(program);
            compositor.arg(directory.join(Compositor::SOCKET)).arg(directory);
            compositor
        })
    }

    fn start(name: &str, command: impl FnOnce(&Path) -> Command) -> Result<Compositor, Error> {
        let directory = build::target_directory()?.join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&directory)?;
        // Weston refuses directories that others may read.
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&directory, private)?;
        let server = command(&directory)
            .env("XDG_RUNTIME_DIR", &directory)
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{name}: {error}"))?;
        let mut compositor = Compositor { directory, server };
        let socket = compositor.directory.join(Compositor::SOCKET);
        compositor.wait_for(&socket).map_err(|_| {
            let log = std::fs::read_to_string(compositor.directory.join("log")).unwrap_or_default();
            format!("{name} did not start; its log:\n{log}")
        })?;
        Ok(compositor)
    }

    /// Waits until it has made a file.
    fn wait_for(&mut self, file: &Path) -> Result<(), Error> {
        let begin = Instant::now();
        while !file.exists() {
            if self.server.try_wait()?.is_some() || begin.elapsed() > Compositor::PATIENCE {
                return Err(format!("the compositor made no {}", file.display()).into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Has a program show its pictures here.
    pub fn offer_to<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env("XDG_RUNTIME_DIR", &self.directory)
            .env("WAYLAND_DISPLAY", Compositor::SOCKET)
            .env_remove("DISPLAY")
    }

    /// What [`Compositor::of_images`] saw of the program that ended last: the number of its images, if none was copied, and the
    /// last one, a PPM.
    pub fn seen(&mut self) -> Result<(u64, Vec<u8>), Error> {
        let file = self.directory.join("seen.txt");
        self.wait_for(&file)?;
        let text = std::fs::read_to_string(&file)?;
        std::fs::remove_file(&file)?;
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            line.and_then(|number| number.parse().ok()).unwrap_or(0)
        };
        match (field("images"), field("copies")) {
            (0, copies) => Err(format!("it showed no image, and {copies} copies").into()),
            (images, 0) => Ok((images, std::fs::read(self.directory.join("last.ppm"))?)),
            (images, copies) => Err(format!("{copies} pictures were copied, {images} were not").into()),
        }
    }
}

impl Drop for Compositor {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}
