//! Rendering: the draws of each tile are shaded against the tile buffer, which is loaded from and stored to surfaces.

pub mod early_z;
mod fragment;
mod pse;
mod surface;
mod tiles;
pub mod tlb;

pub use surface::{Pixels, Surface};
pub use tiles::{Segment, Step, Target, run};
