//! Who may change the screen, and what clients say that they know.

use std::sync::Arc;

use nix::errno::Errno;

use crate::drm::file::File;
use crate::drm::kms::Display;
use crate::drm::kms::display::Caps;
use crate::drm::node::Answer;
use crate::drm::process::Process;
use crate::drm::uapi::{Cap, Nothing};
use crate::lock::lock;

/// Client capabilities of SET_CLIENT_CAP, by number.
const STEREO_3D: u64 = 1;
const UNIVERSAL_PLANES: u64 = 2;
const ATOMIC: u64 = 3;
const ASPECT_RATIO: u64 = 4;
const WRITEBACK_CONNECTORS: u64 = 5;

impl File {
    pub(super) fn display(&self) -> &Arc<Display> {
        &self.device.display
    }

    pub(super) fn caps(&self) -> Caps {
        *lock(&self.seat.caps)
    }

    pub(in super::super) fn is_master(&self) -> bool {
        self.display().state().master == Some(self.seat.number)
    }

    pub(in super::super) fn has_unique(&self) -> bool {
        self.display().state().unique
    }

    pub(in super::super) fn set_unique(&self) {
        self.display().state().unique = true;
    }

    /// Who was master may become so again and leave it, but not with a descriptor that another process opened: the
    /// kernel's drm_master_check_perm.
    fn check_master(&self, caps: &Caps, process: &dyn Process) -> Answer {
        let may = (caps.was_master && self.opener == process.pid()) || process.is_admin();
        if may { Ok(()) } else { Err(Errno::EACCES) }
    }

    pub(in super::super) fn set_master(&self, _: &mut Nothing, process: &dyn Process) -> Answer {
        let mut caps = lock(&self.seat.caps);
        let mut state = self.display().state();
        self.check_master(&caps, process)?;
        match state.master {
            Some(number) if number == self.seat.number => Ok(()),
            Some(_) => Err(Errno::EBUSY),
            None => {
                state.master = Some(self.seat.number);
                if !caps.was_master {
                    state.new_master(&self.seat, &mut caps);
                }
                Ok(())
            }
        }
    }

    pub(in super::super) fn drop_master(&self, _: &mut Nothing, process: &dyn Process) -> Answer {
        let caps = lock(&self.seat.caps);
        let mut state = self.display().state();
        self.check_master(&caps, process)?;
        if state.master != Some(self.seat.number) {
            return Err(Errno::EINVAL);
        }
        state.master = None;
        Ok(())
    }

    pub(in super::super) fn set_client_cap(&self, arg: &mut Cap, _: &dyn Process) -> Answer {
        let mut caps = lock(&self.seat.caps);
        match (arg.capability, arg.value) {
            (STEREO_3D | ASPECT_RATIO, 0 | 1) => Ok(()),
            (UNIVERSAL_PLANES, value @ (0 | 1)) => {
                caps.universal_planes = value == 1;
                Ok(())
            }
            // 2 is what clients ask for that know of a fault in the names of one kind of driver.
            (ATOMIC, value @ (0..=2)) => {
                (caps.atomic, caps.universal_planes) = (value > 0, value > 0);
                Ok(())
            }
            (WRITEBACK_CONNECTORS, 0 | 1) if caps.atomic => Ok(()),
            _ => Err(Errno::EINVAL),
        }
    }
}
