//! Numbers of the objects of the display, and its limits.

/// Numbers of the objects that are always there; properties are below, framebuffers and blobs above.
pub const PRIMARY: u32 = 40;
pub const CURSOR: u32 = 41;
pub const CRTC: u32 = 42;
pub const ENCODER: u32 = 43;
pub const CONNECTOR: u32 = 44;
pub const FIRST_FREE: u32 = 50;
/// Limits of framebuffers and modes (kernel-abi.md §13.2).
pub const MAX_EDGE: u32 = 2048;
/// Entries of the gamma table.
pub const GAMMA_SIZE: u32 = 256;
