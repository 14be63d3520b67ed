//! Command buffers: their life cycle, and how their commands become segments.

pub mod command_buffer;
mod list;
mod pass;
mod recorder;
mod state;

pub use list::{Bound, Draw, DrawList, Snapshot};
pub use recorder::{PassCommand, Recorded, Recording};
pub use state::{Dynamic, State, StencilFace};
