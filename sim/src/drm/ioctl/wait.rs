//! Waiting on behalf of a process.

use std::time::{Duration, Instant};

use nix::errno::Errno;

use crate::device::Finished;
use crate::drm::device::Device;
use crate::drm::node::Answer;
use crate::drm::process::Process;

/// How long to wait before looking whether the waiting process is still there.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// Waits until `ready`, as the simulator does, but not for a process that is gone.
pub(super) fn wait(
    device: &Device,
    process: &dyn Process,
    timeout: Option<Duration>,
    mut ready: impl FnMut(&Finished) -> bool,
) -> Answer {
    let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let part = left.map_or(LOOK_AGAIN, |left| left.min(LOOK_AGAIN));
        if device.simulator.wait_until(Some(part), &mut ready) {
            return Ok(());
        }
        if left.is_some_and(|left| left <= part) {
            return Err(Errno::ETIME);
        }
        if process.is_gone() {
            return Err(Errno::EINTR);
        }
    }
}
