//! Changing the screen: the checks of the kernel's atomic core, and when the change becomes visible.

use nix::errno::Errno;
use vc4_kernel_abi::Seqno;

use crate::drm::fence::Fence;
use crate::drm::file::File;
use crate::drm::kms::mode;
use crate::drm::kms::scene::Scene;
use crate::drm::node::Answer;
use crate::drm::process::Process;

/// How a scene is to be shown.
#[derive(Default)]
pub(super) struct How {
    /// Only check.
    pub test: bool,
    /// Do not wait until it is visible.
    pub nonblocking: bool,
    /// Do not wait for a blank.
    pub at_once: bool,
    /// Modes and connections may change.
    pub modeset: bool,
    /// The word of the event to send.
    pub event: Option<u64>,
    /// What to wait for besides the jobs that draw the framebuffers.
    pub fences: Vec<Fence>,
}

impl File {
    /// Checks `change` of what is shown, and shows it.
    ///
    /// # Errors
    /// The kernel's errno; `EBUSY` when a commit before is not visible yet and waiting is not wanted.
    pub(super) fn commit(
        &self,
        change: impl Fn(&mut Scene) -> Answer,
        how: How,
        process: &dyn Process,
    ) -> Answer {
        let display = self.display();
        let state = loop {
            let state = display.state();
            if how.test || !state.flipping {
                break state;
            }
            if how.nonblocking {
                // What is wrong is told first.
                let mut scene = state.scene.clone();
                change(&mut scene)?;
                scene.check(&state.scene, how.modeset)?;
                return Err(Errno::EBUSY);
            }
            drop(state);
            self.wait_display(process, |state| !state.flipping)?;
        };
        let mut state = state;
        let mut scene = state.scene.clone();
        change(&mut scene)?;
        scene.check(&state.scene, how.modeset)?;
        if how.test {
            return Ok(());
        }
        if how.event.is_some() && !scene.active && !state.scene.active {
            return Err(Errno::EINVAL);
        }
        if let Some((_, mode)) = &scene.mode {
            state.clock.set_period(mode::period_ns(mode));
        }
        let fence = how.fences.iter().fold(Fence::Job(scene.drawn_by()), |all, &fence| all.and(fence));
        let after = match fence {
            Fence::Job(seqno) => seqno,
            Fence::Signalled => Seqno(0),
        };
        // A CRTC that stays off has no blanks to wait for.
        let at_once = how.at_once || !(scene.active || state.scene.active);
        state.scene = scene.clone();
        state.drop_blobs();
        let told = how.event.and_then(|user_data| self.told_of_flip(user_data));
        state.show(scene, at_once, after, told);
        self.wake_display(state)?;
        if how.nonblocking { Ok(()) } else { self.wait_display(process, |state| !state.flipping) }
    }

    /// Shows the same once more: its content has changed.
    pub(super) fn show_again(&self, process: &dyn Process) -> Answer {
        self.commit(|_| Ok(()), How::default(), process)
    }
}
