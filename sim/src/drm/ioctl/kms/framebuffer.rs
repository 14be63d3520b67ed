//! Making and removing framebuffers.

use std::sync::Arc;

use nix::errno::Errno;
use vc4_kernel_abi::uapi::{MODIFIER_LINEAR, MODIFIER_T_TILED};

use crate::drm::file::File;
use crate::drm::kms::framebuffer::{FORMATS, Framebuffer, fourcc};
use crate::drm::kms::objects::MAX_EDGE;
use crate::drm::node::Answer;
use crate::drm::process::Process;
use crate::drm::uapi::{FbCmd, FbCmd2, FbDirty, Id};
use crate::lock::lock;

/// `flags` of ADDFB2.
const WITH_MODIFIERS: u32 = 2;
/// `flags` of DIRTYFB.
const DIRTY_FLAGS: u32 = 3;
const DIRTY_COPY: u32 = 1;
const MAX_CLIPS: u32 = 256;

/// The four letters that ADDFB's numbers mean.
fn legacy_format(bpp: u32, depth: u32) -> Result<u32, Errno> {
    Ok(match (bpp, depth) {
        (32, 24) => fourcc(b"XR24"),
        (32, 32) => fourcc(b"AR24"),
        (24, 24) => fourcc(b"RG24"),
        (16, 16) => fourcc(b"RG16"),
        (16, 15) => fourcc(b"XR15"),
        _ => return Err(Errno::EINVAL),
    })
}

impl File {
    /// Checks and makes a framebuffer, which is in no list yet.
    pub(super) fn make_fb(&self, arg: &FbCmd2) -> Result<Framebuffer, Errno> {
        let format = FORMATS.into_iter().find(|format| format.code == arg.format).ok_or(Errno::EINVAL)?;
        let edges = 1..=MAX_EDGE;
        if arg.flags & !WITH_MODIFIERS != 0 || !edges.contains(&arg.width) || !edges.contains(&arg.height) {
            return Err(Errno::EINVAL);
        }
        // Of one plane, the other elements must be empty, but clients from before modifiers did not clear them: the
        // kernel's framebuffer_check.
        let modified = arg.flags & WITH_MODIFIERS != 0;
        let surplus = (1..4).any(|plane| {
            let used = arg.handles[plane] != 0 || arg.pitches[plane] != 0 || arg.offsets[plane] != 0;
            arg.modifiers[plane] != 0 || (modified && used)
        });
        if surplus
            || (!modified && arg.modifiers[0] != 0)
            || arg.handles[0] == 0
            || arg.pitches[0] < arg.width * format.cpp
        {
            return Err(Errno::EINVAL);
        }
        let object = self.object(arg.handles[0]).ok_or(Errno::ENOENT)?;
        let modifier = if modified { arg.modifiers[0] } else { object.state().modifier() };
        let tiled = match modifier {
            MODIFIER_LINEAR => false,
            MODIFIER_T_TILED if format.tiled => true,
            _ => return Err(Errno::EINVAL),
        };
        let last = u64::from(arg.height - 1) * u64::from(arg.pitches[0]) + u64::from(arg.width * format.cpp);
        if last + u64::from(arg.offsets[0]) > u64::from(object.size()) || object.is_shader() {
            return Err(Errno::EINVAL);
        }
        Ok(Framebuffer {
            id: 0,
            owner: self.seat.number,
            width: arg.width,
            height: arg.height,
            format,
            tiled,
            pitch: arg.pitches[0],
            offset: arg.offsets[0],
            object,
        })
    }

    pub(in super::super) fn add_fb2(&self, arg: &mut FbCmd2, _: &dyn Process) -> Answer {
        let fb = self.make_fb(arg)?;
        let mut state = self.display().state();
        arg.fb_id = state.free_number();
        state.fbs.insert(arg.fb_id, Arc::new(Framebuffer { id: arg.fb_id, ..fb }));
        Ok(())
    }

    pub(in super::super) fn add_fb(&self, arg: &mut FbCmd, process: &dyn Process) -> Answer {
        let mut full = FbCmd2 {
            width: arg.width,
            height: arg.height,
            format: legacy_format(arg.bpp, arg.depth)?,
            handles: [arg.handle, 0, 0, 0],
            pitches: [arg.pitch, 0, 0, 0],
            ..FbCmd2::default()
        };
        self.add_fb2(&mut full, process)?;
        arg.fb_id = full.fb_id;
        Ok(())
    }

    pub(in super::super) fn rm_fb(&self, arg: &mut Id, _: &dyn Process) -> Answer {
        let mut state = self.display().state();
        let fb = state.fb(arg.id).ok().filter(|fb| fb.owner == self.seat.number).ok_or(Errno::ENOENT)?;
        state.fbs.remove(&arg.id);
        state.forget(&fb);
        Ok(())
    }

    pub(in super::super) fn get_fb(&self, arg: &mut FbCmd, process: &dyn Process) -> Answer {
        let fb = self.display().state().fb(arg.fb_id)?;
        let (bpp, depth) = (1..=32)
            .flat_map(|depth| [16, 24, 32].map(|bpp| (bpp, depth)))
            .find(|&(bpp, depth)| legacy_format(bpp, depth) == Ok(fb.format.code))
            .ok_or(Errno::EINVAL)?;
        (arg.width, arg.height, arg.pitch) = (fb.width, fb.height, fb.pitch);
        (arg.bpp, arg.depth) = (bpp, depth);
        arg.handle = self.fb_handle(&fb, process)?;
        Ok(())
    }

    pub(in super::super) fn get_fb2(&self, arg: &mut FbCmd2, process: &dyn Process) -> Answer {
        let fb = self.display().state().fb(arg.fb_id)?;
        let modifier = if fb.tiled { MODIFIER_T_TILED } else { MODIFIER_LINEAR };
        *arg = FbCmd2 {
            fb_id: fb.id,
            width: fb.width,
            height: fb.height,
            format: fb.format.code,
            flags: WITH_MODIFIERS,
            handles: [self.fb_handle(&fb, process)?, 0, 0, 0],
            pitches: [fb.pitch, 0, 0, 0],
            offsets: [fb.offset, 0, 0, 0],
            modifiers: [modifier, 0, 0, 0],
            pad: 0,
        };
        Ok(())
    }

    /// Only who may change the screen is given what it shows: with a new handle each time, which the caller closes
    /// (the kernel's drm_gem_fb_create_handle).
    fn fb_handle(&self, fb: &Framebuffer, process: &dyn Process) -> Result<u32, Errno> {
        if self.is_master() || process.is_admin() { lock(&self.bos).insert(fb.object.clone()) } else { Ok(0) }
    }

    pub(in super::super) fn dirty_fb(&self, arg: &mut FbDirty, process: &dyn Process) -> Answer {
        let fb = self.display().state().fb(arg.fb_id)?;
        if (arg.count == 0) != (arg.clips == 0)
            || arg.flags & !DIRTY_FLAGS != 0
            || arg.count > MAX_CLIPS
            || (arg.flags & DIRTY_COPY != 0 && arg.count % 2 != 0)
        {
            return Err(Errno::EINVAL);
        }
        let scene = self.display().state().scene.clone();
        let shown = scene.planes.iter().any(|plane| plane.fb.as_ref().is_some_and(|it| Arc::ptr_eq(it, &fb)));
        if shown { self.show_again(process) } else { Ok(()) }
    }
}
