//! MODE_ATOMIC: many properties of many objects at once.

use nix::errno::Errno;

use super::commit::How;
use super::property::Effects;
use crate::drm::fence::Fence;
use crate::drm::file::File;
use crate::drm::kms::property::{TYPE_ANY, values};
use crate::drm::kms::scene::Scene;
use crate::drm::node::Answer;
use crate::drm::process::{Exported, Process, read_bytes};
use crate::drm::sync_file::SyncFile;
use crate::drm::uapi::Atomic;

/// `flags`.
const EVENT: u32 = 1;
const ASYNC: u32 = 2;
const TEST_ONLY: u32 = 0x100;
const NONBLOCK: u32 = 0x200;
const ALLOW_MODESET: u32 = 0x400;

/// Objects and properties of one commit: more than there are.
const MAX_OBJECTS: u32 = 64;
const MAX_PROPERTIES: u32 = 1024;

fn words(process: &dyn Process, address: u64, count: u32) -> Result<Vec<u32>, Errno> {
    let bytes = read_bytes(process, address, count * 4)?;
    Ok(bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect())
}

impl File {
    pub(in super::super) fn atomic(&self, arg: &mut Atomic, process: &dyn Process) -> Answer {
        let known = EVENT | TEST_ONLY | NONBLOCK | ALLOW_MODESET;
        // Asynchronous flips are for PAGE_FLIP alone on this kernel.
        let flags_good = arg.flags & !(known | ASYNC) == 0 && arg.flags & ASYNC == 0;
        let both = arg.flags & EVENT != 0 && arg.flags & TEST_ONLY != 0;
        if !self.caps().atomic || !flags_good || both || arg.reserved != 0 {
            return Err(Errno::EINVAL);
        }
        let changes = self.changes(arg, process)?;
        let mut effects = Effects::default();
        let (old, scene) = {
            let state = self.display().state();
            let mut scene = state.scene.clone();
            for &change in &changes {
                self.set_property(&state, &mut scene, change, &mut effects, process)?;
            }
            (state.scene.clone(), scene)
        };
        // An event is that of a CRTC, and only what changes brings its own: prepare_signaling.
        let on_crtc = |object| old.is_on_crtc(object) || scene.is_on_crtc(object);
        if arg.flags & EVENT != 0 && !changes.iter().any(|&(object, ..)| on_crtc(object)) {
            return Err(Errno::EINVAL);
        }
        let how = How {
            test: arg.flags & TEST_ONLY != 0,
            // Who asks for a fence is given one that has signalled, which needs waiting.
            nonblocking: arg.flags & NONBLOCK != 0 && effects.out_fence.is_none(),
            modeset: arg.flags & ALLOW_MODESET != 0,
            event: (arg.flags & EVENT != 0).then_some(arg.user_data),
            fences: effects.fences,
            at_once: false,
        };
        let test = how.test;
        let change = |to: &mut Scene| {
            *to = scene.clone();
            Ok(())
        };
        self.commit(change, how, process)?;
        match effects.out_fence.filter(|_| !test) {
            None => Ok(()),
            Some(place) => {
                let file = Exported::SyncFile(SyncFile::new(&self.device, Fence::Signalled));
                process.write(place, &process.install(file, true)?.to_le_bytes())
            }
        }
    }

    /// Object, property and value of every change.
    fn changes(&self, arg: &Atomic, process: &dyn Process) -> Result<Vec<(u32, u32, u64)>, Errno> {
        // The kernel takes one after the other: what is wrong with the first ones is told whatever the count.
        let count = arg.count.min(MAX_OBJECTS);
        let objects = words(process, arg.objects, count)?;
        let counts = words(process, arg.prop_counts, count)?;
        let mut changes = Vec::new();
        for (object, count) in objects.into_iter().zip(counts) {
            // What has no properties is no object here.
            values(&self.display().state(), object, TYPE_ANY).map_err(|_| Errno::ENOENT)?;
            if count > MAX_PROPERTIES {
                return Err(Errno::EINVAL);
            }
            let done = changes.len() as u64;
            let at = |address: u64, size: u64| address.checked_add(done * size).ok_or(Errno::EFAULT);
            let numbers = words(process, at(arg.props, 4)?, count)?;
            let bytes = read_bytes(process, at(arg.values, 8)?, count * 8)?;
            let values = bytes
                .chunks_exact(8)
                .map(|value| u64::from_le_bytes(value.try_into().expect("chunks of eight bytes")));
            changes.extend(numbers.into_iter().zip(values).map(|(id, value)| (object, id, value)));
        }
        if count < arg.count { Err(Errno::EINVAL) } else { Ok(changes) }
    }
}
