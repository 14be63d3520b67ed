//! Command buffers: their life cycle, and how their commands become segments.

pub mod command_buffer;
#[cfg(feature = "compute")]
mod compute;
pub mod labels;
pub mod pass;
pub mod recorder;
mod stand_in;
pub mod state;
