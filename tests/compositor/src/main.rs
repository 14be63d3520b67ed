//! A Wayland compositor without a screen that takes images as they are, in rows or tiles.
//!
//! `compositor SOCKET DIRECTORY` serves clients one after the other. When one ends, `last.ppm` in the directory is its last
//! image, and `seen.txt` tells how many pictures it committed, by images and by shared memory.

mod buffer;
mod desk;
mod requests;
mod seat;
mod shell;
mod surface;

use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use wayland_server::backend::{ClientData, ClientId, DisconnectReason};
use wayland_server::{Display, ListeningSocket};

use desk::Desk;

/// Time between two refreshes of the screen that there is not.
const REFRESH: Duration = Duration::from_nanos(1_000_000_000 / 60);

/// Set when its client is gone.
#[derive(Default)]
struct Gone(AtomicBool);

impl ClientData for Gone {
    fn disconnected(&self, _: ClientId, _: DisconnectReason) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn serve(socket: PathBuf, directory: PathBuf) -> Result<(), Box<dyn std::error::Error>> {
    let mut display = Display::<Desk>::new()?;
    Desk::offer(&display.handle());
    let socket = ListeningSocket::bind_absolute(socket)?;
    let mut clients: Vec<Arc<Gone>> = Vec::new();
    let mut desk = Desk::default();
    let mut next = Instant::now() + REFRESH;
    loop {
        let left = next.saturating_duration_since(Instant::now());
        let left = PollTimeout::try_from(left.as_millis() as i32 + 1)?;
        let (server, listener) = (display.as_fd().try_clone_to_owned()?, socket.as_fd());
        let mut sources =
            [PollFd::new(server.as_fd(), PollFlags::POLLIN), PollFd::new(listener, PollFlags::POLLIN)];
        match poll(&mut sources, left) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        while let Some(stream) = socket.accept()? {
            let gone = Arc::new(Gone::default());
            display.handle().insert_client(stream, gone.clone())?;
            clients.push(gone);
        }
        display.dispatch_clients(&mut desk)?;
        let now = Instant::now();
        if now >= next {
            // One that comes late starts a new count.
            next = (next + REFRESH).max(now);
            desk.refresh(REFRESH);
        }
        display.flush_clients()?;
        let before = clients.len();
        clients.retain(|client| !client.0.load(Ordering::SeqCst));
        if clients.is_empty() && before > 0 {
            std::mem::take(&mut desk).report(REFRESH, &directory)?;
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [socket, directory] = &arguments[..] else {
        eprintln!("usage: compositor SOCKET DIRECTORY");
        return ExitCode::from(2);
    };
    match serve(socket.clone(), directory.clone()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("compositor: {error}");
            ExitCode::FAILURE
        }
    }
}
