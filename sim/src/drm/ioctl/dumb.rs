//! Dumb buffers (kernel-abi.md §13.5): BOs with a size in pixels.

use nix::errno::Errno;

use crate::drm::file::File;
use crate::drm::node::Answer;
use crate::drm::process::Process;
use crate::drm::uapi::{CreateDumb, DestroyDumb, MapDumb};
use crate::lock::lock;

impl File {
    pub(super) fn create_dumb(&self, arg: &mut CreateDumb, _: &dyn Process) -> Answer {
        let size = |arg: &CreateDumb| {
            let bytes_per_pixel = arg.bpp.div_ceil(8);
            // The core's limit counts whole bytes per pixel, the driver's pitch counts bits.
            bytes_per_pixel.checked_mul(arg.width)?.checked_mul(arg.height)?;
            let pitch = u32::try_from((u64::from(arg.width) * u64::from(arg.bpp)).div_ceil(8)).ok()?;
            let size = pitch.checked_mul(arg.height).filter(|&size| size > 0)?;
            Some((pitch, size))
        };
        let (pitch, size) = size(arg).ok_or(Errno::EINVAL)?;
        let object = self.device.make(|| self.device.simulator.new_bo(size))?;
        (arg.pitch, arg.size) = (pitch, object.size().into());
        arg.handle = lock(&self.bos).insert(object)?;
        Ok(())
    }

    pub(super) fn map_dumb(&self, arg: &mut MapDumb, _: &dyn Process) -> Answer {
        arg.offset = self.object(arg.handle).ok_or(Errno::ENOENT)?.mmap_offset();
        Ok(())
    }

    pub(super) fn destroy_dumb(&self, arg: &mut DestroyDumb, _: &dyn Process) -> Answer {
        let closed = lock(&self.bos).remove(arg.handle);
        closed.map(drop).ok_or(Errno::EINVAL)
    }
}
