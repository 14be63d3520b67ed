//! The nodes of the device, and what calls of them answer.

use nix::errno::Errno;

/// Major number of all DRM nodes.
pub const DRM_MAJOR: u32 = 226;
/// Device-tree name of the GPU. UNVERIFIED: what does OF_FULLNAME of a Raspberry Pi's vc4 device say?
pub const OF_FULLNAME: &str = "/soc/gpu";
/// Device-tree compatible of the DRM device (kernel-abi.md §1).
pub const OF_COMPATIBLE: &str = "brcm,bcm2835-vc4";

/// What a handler answers.
pub type Answer = Result<(), Errno>;

/// The two nodes of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// `card0`.
    Primary,
    /// `renderD128`.
    Render,
}
