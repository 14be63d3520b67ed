//! A picture on its way from the queue to a screen.

use std::os::fd::OwnedFd;

use vc4_kernel_abi::Seqno;

/// A picture to be shown.
#[derive(Debug)]
pub(super) struct Frame {
    /// Which image.
    pub index: u32,
    /// The job after which it is complete.
    pub rendered: Option<Seqno>,
    /// A sync file of that job, for back ends that hand it on.
    pub fence: Option<OwnedFd>,
    /// The number that the application gave it, or 0.
    pub id: u64,
}
