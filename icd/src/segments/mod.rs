//! What a command buffer becomes: a list of segments, for the GPU or for the CPU, executed in order.
//!
//! A segment holds state, not packets: lists and uniform streams are built when it runs, because buffers may change
//! until then (vulkan-on-vc4.md §2, late binding).

mod draw;
mod labelled;
mod list;
mod memo;
mod merge;
mod rectangle;
mod segment;
mod target;
mod trim;

pub use draw::{DrawCall, DrawParameters, IndexBinding, IndirectDraw};
pub use labelled::Labelled;
pub use list::{Bound, Draw, DrawList, DrawState, Snapshot};
pub use merge::append;
pub use rectangle::{Rectangle, cover};
pub use segment::{CpuCommand, Drawing, Part, RenderSegment, Rest, Segment, Segments, Touch};
pub use target::{ColorTarget, DepthStencilWord, Start, Target, tile_px};
