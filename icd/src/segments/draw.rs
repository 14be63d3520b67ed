//! One draw, as commands or memory give it.

use std::sync::Arc;

use ash::vk;

use crate::objects::buffer::Buffer;

/// Parameters of a draw.
#[derive(Clone, Copy, Debug)]
pub enum DrawCall {
    /// vkCmdDraw, vkCmdDrawIndexed.
    Direct(DrawParameters),
    /// An [`IndirectDraw`] of the draw's list.
    Indirect(u32),
}

/// vkCmdDrawIndirect, vkCmdDrawIndexedIndirect: read when the segment runs.
pub struct IndirectDraw {
    /// Parameters in memory.
    pub buffer: Arc<Buffer>,
    /// First byte.
    pub offset: u64,
    /// Draws, at most where memory says how many.
    pub count: u32,
    /// Where that is said, if it is: a word of a buffer.
    pub counted: Option<(Arc<Buffer>, u64)>,
    /// Bytes from draw to draw.
    pub stride: u32,
    /// Whether indices are used.
    pub indexed: bool,
}

/// One draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawParameters {
    /// Vertices, or indices.
    pub count: u32,
    /// Instances.
    pub instances: u32,
    /// First vertex, or first index.
    pub first: u32,
    /// Added to indices; `None` if vertices are drawn in order.
    pub vertex_offset: Option<i32>,
    /// First instance.
    pub first_instance: u32,
}

/// The index buffer of a draw.
#[derive(Clone)]
pub struct IndexBinding {
    /// The buffer.
    pub buffer: Arc<Buffer>,
    /// First byte.
    pub offset: u64,
    /// Size of an index.
    pub ty: vk::IndexType,
}
