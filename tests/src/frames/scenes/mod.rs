//! The frames.

mod builder;
mod effects;
mod flat;
mod lit;
mod shadows;

use super::frame::Frame;

/// All of them.
pub fn all() -> Vec<Frame> {
    [lit::frames(), flat::frames(), effects::frames(), shadows::frames()].into_iter().flatten().collect()
}
