//! Setting properties.

use nix::errno::Errno;

use crate::drm::fence::Fence;
use crate::drm::file::File;
use crate::drm::kms::display::State;
use crate::drm::kms::objects::{CONNECTOR, CRTC, CURSOR};
use crate::drm::kms::property::{
    ACTIVE, CRTC_ID, DPMS, IN_FENCE_FD, MODE_ID, Property, TYPE_ANY, mode_of, values,
};
use crate::drm::kms::scene::Scene;
use crate::drm::node::Answer;
use crate::drm::process::{Exported, Process};

/// What setting a property means besides the scene.
#[derive(Default)]
pub(super) struct Effects {
    pub fences: Vec<Fence>,
    /// Where a fence is to be put that signals when the change is visible.
    pub out_fence: Option<u64>,
}

impl File {
    /// Sets a property of an object in `scene`.
    ///
    /// # Errors
    /// `ENOENT` for an unknown object or a property that it has not, `EINVAL` for a value that it cannot have.
    pub(super) fn set_property(
        &self,
        state: &State,
        scene: &mut Scene,
        (object, id, value): (u32, u32, u64),
        effects: &mut Effects,
        process: &dyn Process,
    ) -> Answer {
        let has = values(state, object, TYPE_ANY).map_err(|_| Errno::ENOENT)?;
        let property = Property::find(id).filter(|_| has.iter().any(|&(known, _)| known == id));
        let property = property.ok_or(Errno::ENOENT)?;
        if !property.accepts(value, state) {
            return Err(Errno::EINVAL);
        }
        match (object, id) {
            (CONNECTOR, CRTC_ID) => scene.connected = value != 0,
            (CONNECTOR, DPMS) => scene.active = value == 0 && scene.mode.is_some(),
            (CONNECTOR, _) => {}
            (CRTC, ACTIVE) => scene.active = value != 0,
            (CRTC, MODE_ID) => scene.mode = mode_of(state, value as u32)?,
            (CRTC, _) => effects.out_fence = (value != 0).then_some(value),
            (_, IN_FENCE_FD) => match i32::try_from(value as i64) {
                Ok(-1) | Err(_) => {}
                Ok(fd) => match process.exported(fd) {
                    Ok(Exported::SyncFile(file)) => effects.fences.push(file.fence()),
                    _ => return Err(Errno::EINVAL),
                },
            },
            (plane, _) => scene.planes[usize::from(plane == CURSOR)].set(state, id, value)?,
        }
        Ok(())
    }
}
