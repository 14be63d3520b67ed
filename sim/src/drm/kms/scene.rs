//! What is on the screen, and the checks of the kernel's atomic core.

use std::sync::Arc;

use nix::errno::Errno;
use vc4_kernel_abi::Seqno;

use super::framebuffer::{FORMATS, Framebuffer};
use super::mode;
use super::objects::{CONNECTOR, CRTC, CURSOR, PRIMARY};
use crate::drm::node::Answer;
use crate::drm::uapi::ModeInfo;

/// What a plane shows, and where.
#[derive(Clone, Default)]
pub struct Plane {
    /// [`CRTC`] or 0.
    pub crtc: u32,
    pub fb: Option<Arc<Framebuffer>>,
    /// Pixels of the screen.
    pub x: i32,
    pub y: i32,
    pub width: u32,
    pub height: u32,
    /// Part of the framebuffer, in 16.16 pixels: x, y, width, height.
    pub source: [u32; 4],
}

/// All that the screen shows.
#[derive(Clone, Default)]
pub struct Scene {
    /// The mode, with the blob that it came in.
    pub mode: Option<(u32, ModeInfo)>,
    pub active: bool,
    /// Whether the connector is on the CRTC.
    pub connected: bool,
    /// Primary and cursor.
    pub planes: [Plane; 2],
}

impl Plane {
    /// All of `fb` from this pixel on, over a screen of that size.
    pub fn covering(fb: Arc<Framebuffer>, x: u32, y: u32, width: u32, height: u32) -> Plane {
        let source = [x, y, width, height].map(|pixels| pixels << 16);
        Plane { crtc: CRTC, fb: Some(fb), x: 0, y: 0, width, height, source }
    }

    /// Planes may be on a CRTC that is off, as vc4_plane_atomic_check allows.
    fn check(&self, cursor: bool) -> Answer {
        let Some(fb) = &self.fb else {
            return if self.crtc == 0 { Ok(()) } else { Err(Errno::EINVAL) };
        };
        if self.crtc != CRTC {
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
    /// Whether it may follow on `old`.
    pub fn check(&self, old: &Scene, modeset: bool) -> Answer {
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
        self.planes[0].check(false)?;
        self.planes[1].check(true)
    }

    /// Whether an object is the CRTC, or on it.
    pub fn is_on_crtc(&self, object: u32) -> bool {
        match object {
            CRTC => true,
            CONNECTOR => self.connected,
            PRIMARY => self.planes[0].crtc != 0,
            CURSOR => self.planes[1].crtc != 0,
            _ => false,
        }
    }

    /// The last job that draws into what is shown.
    pub fn drawn_by(&self) -> Seqno {
        let jobs = self.planes.iter().filter_map(|plane| plane.fb.as_ref());
        jobs.map(|fb| fb.object.state().last_job).max().unwrap_or(Seqno(0))
    }
}

impl Scene {
    /// Takes a framebuffer off the screen; without one on the primary plane, the CRTC is switched off.
    pub fn forget(&mut self, fb: &Arc<Framebuffer>) {
        for (number, plane) in self.planes.iter_mut().enumerate() {
            if plane.fb.as_ref().is_some_and(|shown| Arc::ptr_eq(shown, fb)) {
                *plane = Plane::default();
                if number == 0 {
                    (self.mode, self.active, self.connected) = (None, false, false);
                }
            }
        }
    }
}
