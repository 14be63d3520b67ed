//! A picture on its way from the queue to a screen.

use std::os::fd::OwnedFd;

use vc4_kernel_abi::Seqno;

use super::timing::Tags;

/// A picture to be shown.
#[derive(Debug)]
pub(super) struct Frame {
    /// Which image.
    pub index: u32,
    /// The job after which it is complete.
    pub rendered: Option<Seqno>,
    /// A sync file of that job, for back ends that hand it on.
    pub fence: Option<OwnedFd>,
    /// What the application says of it.
    pub tags: Tags,
    /// When the queue handed it over, by CLOCK_MONOTONIC in nanoseconds.
    pub pushed: u64,
    /// Its number among those that its swapchain showed, by which back ends tell that it was seen.
    pub number: u64,
}
