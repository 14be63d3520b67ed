//! Fences as files (drm-shim.md §3).

use std::sync::Arc;

use super::device::Device;
use super::fence::Fence;
use crate::device::Notice;

/// A fence as a file.
#[derive(Clone)]
pub struct SyncFile {
    pub(super) device: Arc<Device>,
    pub(super) fence: Fence,
    pub(super) name: [u8; 32],
}

/// A name as the kernel pads it.
pub(super) fn padded(text: &str) -> [u8; 32] {
    let mut field = [0; 32];
    for (to, from) in field[..31].iter_mut().zip(text.bytes()) {
        *to = from;
    }
    field
}

impl SyncFile {
    pub(super) fn new(device: &Arc<Device>, fence: Fence) -> SyncFile {
        SyncFile { device: device.clone(), fence, name: padded("vc4-v3d") }
    }

    /// The fence.
    pub fn fence(&self) -> Fence {
        self.fence
    }

    /// Runs `notice` once the fence has signalled, at once if it has: the file is then readable to poll.
    pub fn when_signalled(&self, notice: Notice) {
        self.device.when_signalled(self.fence, notice);
    }
}
