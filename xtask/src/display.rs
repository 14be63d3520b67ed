//! A private X server where there is no display.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::Error;

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
