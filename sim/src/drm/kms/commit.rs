//! Changing the screen: the checks of the kernel's atomic core, and when the change becomes visible.

use std::sync::Arc;

use vc4_kernel_abi::Seqno;

use super::super::{Answer, Errno, Fence, File, Process};
use super::{CRTC, Plane, Scene, framebuffer::FORMATS, mode};

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

impl Plane {
    /// All of `fb` from this pixel on, over a screen of that size.
    pub(super) fn covering(
        fb: Arc<super::framebuffer::Framebuffer>,
        x: u32,
        y: u32,
        width: u32,
        height: u32,
    ) -> Plane {
        let source = [x, y, width, height].map(|pixels| pixels << 16);
        Plane { crtc: CRTC, fb: Some(fb), x: 0, y: 0, width, height, source }
    }

    fn check(&self, cursor: bool, enabled: bool) -> Answer {
        let Some(fb) = &self.fb else {
            return if self.crtc == 0 { Ok(()) } else { Err(Errno::EINVAL) };
        };
        if self.crtc != CRTC || !enabled {
            return Err(Errno::EINVAL);
        }
        if cursor && !FORMATS.iter().any(|format| *format == fb.format) {
            return Err(Errno::EINVAL);
        }
        let far = |start: i32, length: u32| i32::try_from(length).ok().and_then(|it| start.checked_add(it));
        if far(self.x, self.width).is_none() || far(self.y, self.height).is_none() {
            return Err(Errno::ERANGE);
        }
        if self.width == 0 || self.height == 0 {
            return Err(Errno::ERANGE);
        }
        let [x, y, width, height] = self.source.map(u64::from);
        let inside = |start: u64, length: u64, edge: u32| start + length <= u64::from(edge) << 16;
        if !inside(x, width, fb.width) || !inside(y, height, fb.height) {
            return Err(Errno::ENOSPC);
        }
        if width == 0 || height == 0 { Err(Errno::ERANGE) } else { Ok(()) }
    }
}

impl Scene {
    fn check(&self, old: &Scene, modeset: bool) -> Answer {
        let enabled = self.mode.is_some();
        if let Some((_, mode)) = &self.mode {
            mode::check(mode)?;
        }
        // An active CRTC has a mode, and a CRTC with a mode has a connector.
        if (self.active && !enabled) || enabled != self.connected {
            return Err(Errno::EINVAL);
        }
        let mode = |scene: &Scene| scene.mode.map(|(_, mode)| mode);
        let changes = mode(self) != mode(old) || self.active != old.active || self.connected != old.connected;
        if changes && !modeset {
            return Err(Errno::EINVAL);
        }
        self.planes[0].check(false, enabled)?;
        self.planes[1].check(true, enabled)
    }

    /// The last job that draws into what is shown.
    fn drawn_by(&self) -> Seqno {
        let jobs = self.planes.iter().filter_map(|plane| plane.fb.as_ref());
        jobs.map(|fb| fb.object.state().last_job).max().unwrap_or(Seqno(0))
    }
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
        state.scene = scene.clone();
        let told = how.event.and_then(|user_data| self.told_of_flip(user_data));
        state.show(scene, how.at_once, after, told);
        self.wake_display(state)?;
        if how.nonblocking { Ok(()) } else { self.wait_display(process, |state| !state.flipping) }
    }

    /// Shows the same once more: its content has changed.
    pub(super) fn show_again(&self, process: &dyn Process) -> Answer {
        self.commit(|_| Ok(()), How::default(), process)
    }
}
