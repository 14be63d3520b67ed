//! The calls from before atomic commits, each as such a commit.

use std::sync::Arc;

use nix::errno::Errno;

use super::commit::How;
use super::property::Effects;
use super::query;
use crate::drm::file::File;
use crate::drm::kms::display::Blob;
use crate::drm::kms::framebuffer::Framebuffer;
use crate::drm::kms::objects::{CONNECTOR, CRTC, CURSOR, PRIMARY};
use crate::drm::kms::scene::{Plane, Scene};
use crate::drm::kms::{mode, property};
use crate::drm::node::Answer;
use crate::drm::process::{Process, read_bytes};
use crate::drm::uapi::{
    Crtc, Cursor, Cursor2, FbCmd2, ModeInfo, ObjSetProperty, PageFlip, SetPlane, SetProperty,
};

/// `flags` of PAGE_FLIP.
const FLIP_EVENT: u32 = 1;
const FLIP_ASYNC: u32 = 2;
/// `fb_id` of SETCRTC: what is shown already.
const SAME_FB: u32 = u32::MAX;
/// `flags` of CURSOR.
const CURSOR_BO: u32 = 1;
const CURSOR_MOVE: u32 = 2;

impl File {
    pub(in super::super) fn set_crtc(&self, arg: &mut Crtc, process: &dyn Process) -> Answer {
        if arg.x > i32::MAX as u32 || arg.y > i32::MAX as u32 {
            return Err(Errno::ERANGE);
        }
        if arg.crtc_id != CRTC {
            return Err(Errno::ENOENT);
        }
        let how = How { modeset: true, ..How::default() };
        if arg.mode_valid == 0 {
            if arg.count_connectors > 0 {
                return Err(Errno::EINVAL);
            }
            let off = |scene: &mut Scene| {
                // The cursor stays, to be seen again with the next mode.
                let [_, cursor] = std::mem::take(&mut scene.planes);
                *scene = Scene { planes: [Plane::default(), cursor], ..Scene::default() };
                Ok(())
            };
            return self.commit(off, how, process);
        }
        let fb = {
            let state = self.display().state();
            match arg.fb_id {
                SAME_FB => state.scene.planes[0].fb.clone().ok_or(Errno::EINVAL)?,
                id => state.fb(id)?,
            }
        };
        mode::check(&arg.mode)?;
        let (width, height) = (u32::from(arg.mode.hdisplay), u32::from(arg.mode.vdisplay));
        if arg.x.saturating_add(width) > fb.width || arg.y.saturating_add(height) > fb.height {
            return Err(Errno::ENOSPC);
        }
        if arg.count_connectors == 0 || arg.count_connectors > 1 {
            return Err(Errno::EINVAL);
        }
        let connector = read_bytes(process, arg.connectors, 4)?;
        if connector != CONNECTOR.to_le_bytes() {
            return Err(Errno::ENOENT);
        }
        let blob = self.mode_blob(&arg.mode);
        let change = |scene: &mut Scene| {
            scene.mode = Some((blob, arg.mode));
            (scene.active, scene.connected) = (true, true);
            scene.planes[0] = Plane::covering(fb.clone(), arg.x, arg.y, width, height);
            Ok(())
        };
        self.commit(change, how, process)
    }

    /// The number of a blob with this mode, for those who ask what is shown.
    fn mode_blob(&self, mode: &ModeInfo) -> u32 {
        let mut state = self.display().state();
        let data = query::mode_bytes(mode);
        let is_it = |blob: &Blob| blob.owner.is_none() && !blob.destroyed && blob.data == data;
        let known = state.blobs.iter().find(|(_, blob)| is_it(blob));
        match known.map(|(&id, _)| id) {
            Some(id) => id,
            None => state.add_blob(Blob { data, owner: None, destroyed: false }),
        }
    }

    pub(in super::super) fn page_flip(&self, arg: &mut PageFlip, process: &dyn Process) -> Answer {
        if arg.flags & !(FLIP_EVENT | FLIP_ASYNC) != 0 || arg.reserved != 0 {
            return Err(Errno::EINVAL);
        }
        if arg.crtc_id != CRTC {
            return Err(Errno::ENOENT);
        }
        let new = {
            let state = self.display().state();
            let new = state.fb(arg.fb_id)?;
            let plane = &state.scene.planes[0];
            // Without a picture before, nothing can be flipped.
            let old = plane.fb.as_ref().ok_or(Errno::EBUSY)?;
            let [x, y, width, height] = plane.source.map(|value| value >> 16);
            if x + width > new.width || y + height > new.height {
                return Err(Errno::ENOSPC);
            }
            // Where the CRTC sleeps, drm_atomic_helper_page_flip refuses.
            if old.format != new.format || !state.scene.active {
                return Err(Errno::EINVAL);
            }
            new
        };
        let change = |scene: &mut Scene| {
            scene.planes[0].fb = Some(new.clone());
            Ok(())
        };
        let how = How {
            nonblocking: true,
            at_once: arg.flags & FLIP_ASYNC != 0,
            event: (arg.flags & FLIP_EVENT != 0).then_some(arg.user_data),
            ..How::default()
        };
        self.commit(change, how, process)
    }

    pub(in super::super) fn set_plane(&self, arg: &mut SetPlane, process: &dyn Process) -> Answer {
        if ![PRIMARY, CURSOR].contains(&arg.plane_id) {
            return Err(Errno::ENOENT);
        }
        let number = usize::from(arg.plane_id == CURSOR);
        let plane = if arg.fb_id == 0 {
            Plane::default()
        } else {
            let fb = self.display().state().fb(arg.fb_id)?;
            if arg.crtc_id != CRTC {
                return Err(Errno::ENOENT);
            }
            Plane {
                crtc: CRTC,
                fb: Some(fb),
                x: arg.crtc_x,
                y: arg.crtc_y,
                width: arg.crtc_w,
                height: arg.crtc_h,
                source: [arg.src_x, arg.src_y, arg.src_w, arg.src_h],
            }
        };
        let change = |scene: &mut Scene| {
            scene.planes[number] = plane.clone();
            Ok(())
        };
        self.commit(change, How::default(), process)
    }

    pub(in super::super) fn set_cursor(&self, arg: &mut Cursor, process: &dyn Process) -> Answer {
        let Cursor { flags, crtc_id, x, y, width, height, handle } = *arg;
        let mut full = Cursor2 { flags, crtc_id, x, y, width, height, handle, hot_x: 0, hot_y: 0 };
        self.set_cursor2(&mut full, process)
    }

    /// Other changes wait for a blank and for those before them; the kernel's `legacy_cursor_update` for neither, but
    /// for a mode that is on its way.
    pub(in super::super) fn set_cursor2(&self, arg: &mut Cursor2, process: &dyn Process) -> Answer {
        if arg.flags == 0 || arg.flags & !(CURSOR_BO | CURSOR_MOVE) != 0 {
            return Err(Errno::EINVAL);
        }
        if arg.crtc_id != CRTC {
            return Err(Errno::ENOENT);
        }
        // A cursor of BO 0 is none.
        let picture = match arg.flags & CURSOR_BO != 0 {
            true if arg.handle != 0 => Some(Some(self.cursor_fb(arg)?)),
            true => Some(None),
            false => None,
        };
        self.wait_display(process, |state| !state.sets_mode())?;
        let mut state = self.display().state();
        // Where the cursor was moved last counts for the next one, too: drm_mode_cursor_universal.
        let (x, y) = if arg.flags & CURSOR_MOVE != 0 { (arg.x, arg.y) } else { state.cursor };
        let cursor = match picture.unwrap_or_else(|| state.scene.planes[1].fb.clone()) {
            Some(fb) => {
                let (width, height) = (fb.width, fb.height);
                Plane { x, y, ..Plane::covering(fb, 0, 0, width, height) }
            }
            None => Plane::default(),
        };
        let mut scene = state.scene.clone();
        scene.planes[1] = cursor.clone();
        scene.check(&state.scene, false)?;
        state.cursor = (x, y);
        state.move_cursor(&cursor);
        self.wake_display(state)
    }

    /// A framebuffer that only the cursor has.
    fn cursor_fb(&self, arg: &Cursor2) -> Result<Arc<Framebuffer>, Errno> {
        let fb = self.make_fb(&FbCmd2 {
            width: arg.width,
            height: arg.height,
            format: u32::from_le_bytes(*b"AR24"),
            handles: [arg.handle, 0, 0, 0],
            pitches: [arg.width.saturating_mul(4), 0, 0, 0],
            ..FbCmd2::default()
        })?;
        Ok(Arc::new(fb))
    }

    pub(in super::super) fn set_connector_property(
        &self,
        arg: &mut SetProperty,
        process: &dyn Process,
    ) -> Answer {
        self.set_one_property((arg.connector_id, arg.prop_id, arg.value), property::TYPE_CONNECTOR, process)
    }

    pub(in super::super) fn set_obj_property(
        &self,
        arg: &mut ObjSetProperty,
        process: &dyn Process,
    ) -> Answer {
        self.set_one_property((arg.obj_id, arg.prop_id, arg.value), arg.obj_type, process)
    }

    fn set_one_property(&self, what: (u32, u32, u64), kind: u32, process: &dyn Process) -> Answer {
        let atomic = property::Property::find(what.1).is_some_and(|it| it.flags & property::IS_ATOMIC != 0);
        if atomic && !self.caps().atomic {
            return Err(Errno::EINVAL);
        }
        let (scene, fences) = {
            let state = self.display().state();
            let has = property::values(&state, what.0, kind)?;
            // Other than MODE_ATOMIC, these have no error for what is missing.
            let old = has.iter().find(|&&(id, _)| id == what.1).ok_or(Errno::EINVAL)?.1;
            // What is so already costs no frame: drm_atomic_connector_commit_dpms, which knows on and off.
            if (what.0, what.1) == (CONNECTOR, property::DPMS) && (what.2 == 0) == (old == 0) && what.2 < 4 {
                return Ok(());
            }
            let mut scene = state.scene.clone();
            let mut effects = Effects::default();
            self.set_property(&state, &mut scene, what, &mut effects, process)?;
            (scene, effects.fences)
        };
        let how = How { modeset: true, fences, ..How::default() };
        let change = |to: &mut Scene| {
            *to = scene.clone();
            Ok(())
        };
        self.commit(change, how, process)
    }
}
