//! What wakes a present thread that waits for its display.

use std::collections::VecDeque;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::PoisonError;
use std::time::Duration;

use super::frame::Frame;
use crate::foundation::error::Error;
use crate::foundation::shared_flag::SharedFlag;
use crate::foundation::threads::{Mutex, MutexGuard};

/// How long a wait without limit may take: it is repeated anyway.
const LONG: Duration = Duration::from_secs(3600);

/// A descriptor that is readable while there is something new.
pub(super) struct Bell(SharedFlag);

impl Bell {
    fn new() -> Result<Bell, Error> {
        SharedFlag::new(false).map(Bell)
    }

    fn ring(&self) {
        self.0.set();
    }

    fn silence(&self) {
        self.0.clear();
    }

    /// Waits until it rings, or the time is over.
    pub fn wait(&self, limit: Option<Duration>) {
        self.0.wait(limit.unwrap_or(LONG));
    }

    /// What to poll.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[derive(Default)]
struct State {
    frames: VecDeque<Frame>,
    closed: bool,
}

/// Pictures on their way to a present thread, which are no more than its swapchain has images.
pub(super) struct Inbox {
    state: Mutex<State>,
    bell: Bell,
}

impl Inbox {
    /// An empty one.
    pub fn new() -> Result<Inbox, Error> {
        Ok(Inbox { state: Mutex::default(), bell: Bell::new()? })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a picture.
    pub fn push(&self, frame: Frame) {
        self.state().frames.push_back(frame);
        self.bell.ring();
    }

    /// Says that no more pictures come, and that those which are there are to be shown without pauses.
    pub fn close(&self) {
        self.state().closed = true;
        self.bell.ring();
    }

    /// Moves all pictures to the end of `frames`; whether no more come.
    pub fn take(&self, frames: &mut VecDeque<Frame>) -> bool {
        self.bell.silence();
        let mut state = self.state();
        frames.append(&mut state.frames);
        state.closed
    }

    /// Rings when there is something to take.
    pub fn bell(&self) -> &Bell {
        &self.bell
    }
}

/// Waits until one of some descriptors has something to read or lost its other end, or `limit` is over; which.
pub(super) fn poll<const N: usize>(fds: [BorrowedFd<'_>; N], limit: Option<Duration>) -> [bool; N] {
    let mut polls = fds.map(|fd| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 });
    let limit = limit.map_or(-1, |limit| i32::try_from(limit.as_millis()).unwrap_or(i32::MAX).max(1));
    // SAFETY: so many records, of descriptors that are borrowed for the call.
    unsafe { libc::poll(polls.as_mut_ptr(), N as libc::nfds_t, limit) };
    polls.map(|poll| poll.revents != 0)
}
