//! Command buffers: their life cycle, and how their commands become segments.

pub mod command_buffer;
pub mod pass;
pub mod recorder;
pub mod state;
