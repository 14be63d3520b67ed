//! A private X server where there is no display, and a private Wayland compositor.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
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

/// Debian's weston without a screen; ends with this value.
pub struct Compositor {
    /// For `XDG_RUNTIME_DIR`.
    directory: PathBuf,
    server: Child,
}

impl Compositor {
    const SOCKET: &str = "vc4";
    /// How long it may take to start.
    const PATIENCE: Duration = Duration::from_secs(20);

    /// A compositor of its own.
    pub fn private() -> Result<Compositor, Error> {
        let directory = build::target_directory()?.join(format!("weston-{}", std::process::id()));
        std::fs::create_dir_all(&directory)?;
        // It refuses directories that others may read.
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&directory, private)?;
        let server = Command::new("weston")
            .args(["--backend=headless-backend.so", "--use-pixman", "--no-config", "--idle-time=0"])
            .arg(format!("--socket={}", Compositor::SOCKET))
            .arg(format!("--log={}", directory.join("log").display()))
            .env("XDG_RUNTIME_DIR", &directory)
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("weston: {error}"))?;
        let mut compositor = Compositor { directory, server };
        let socket = compositor.directory.join(Compositor::SOCKET);
        let begin = Instant::now();
        while !socket.exists() {
            if compositor.server.try_wait()?.is_some() || begin.elapsed() > Compositor::PATIENCE {
                let log = std::fs::read_to_string(compositor.directory.join("log")).unwrap_or_default();
                return Err(format!("weston did not start; its log:\n{log}").into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(compositor)
    }

    /// Has a program show its pictures here.
    pub fn offer_to<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env("XDG_RUNTIME_DIR", &self.directory)
            .env("WAYLAND_DISPLAY", Compositor::SOCKET)
            .env_remove("DISPLAY")
    }
}

impl Drop for Compositor {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}
