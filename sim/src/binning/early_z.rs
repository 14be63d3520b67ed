//! Which draws early Z may test (v3d.md §9.5). It must never be seen in a picture; what a driver gets wrong about it is
//! a finding.

use vc4::cl::packets::{CompareFunc, ConfigurationBits};

use crate::stats::Note;

/// Depth functions other than < and <= (Linux never sets the direction for > and >=).
pub const FUNCTION: Note = Note {
    id: "early-z-function",
    manual: "v3d.md §9.5",
    text: "early Z is off unless the depth function is < or <=: the update direction cannot be set through Linux",
};

/// 4x multisample jobs.
pub const MULTISAMPLE: Note = Note {
    id: "early-z-multisample",
    manual: "v3d.md §9.5, §12 HW-2905",
    text: "early Z is off in 4x multisample jobs",
};

/// Draws without updates that move the depth the other way.
pub const UPDATES: Note = Note {
    id: "early-z-updates",
    manual: "v3d.md §9.5",
    text: "early-Z updates stay on while depth is written, or later draws test against a stale copy",
};

/// Whether the configuration lets early Z test, and the test is sound.
pub fn tests(config: &ConfigurationBits, multisample: bool) -> bool {
    config.early_z
        && !multisample
        && matches!(config.depth_func, CompareFunc::Less | CompareFunc::LessOrEqual)
}
