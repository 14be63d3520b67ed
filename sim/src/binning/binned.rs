//! What binning leaves to rendering.

use std::sync::Arc;

use vc4::cl::packets::TileBinningModeConfig;
use vc4::cl::records::ShaderRecord;

use crate::geometry::{Corner, Kind, State};
use crate::vertex::Shader;

/// A primitive that survived clipping and culling.
#[derive(Clone, Debug)]
pub struct BinnedPrimitive {
    /// Its vertices, as places in [`Draw::vertices`].
    pub vertices: [u32; 3],
    /// Its corners where the clipper made new ones; otherwise they are its vertices.
    pub(super) corners: Option<Box<[Corner; 3]>>,
}

/// The corners of a primitive that was not clipped.
pub(super) const WHOLE: [Corner; 3] = [Corner::Original(0), Corner::Original(1), Corner::Original(2)];

impl BinnedPrimitive {
    /// Its corners: its vertices or what the clipper put in their place.
    pub fn corners(&self) -> &[Corner; 3] {
        self.corners.as_deref().unwrap_or(&WHOLE)
    }
}

/// A draw as tile lists refer to it.
pub struct Draw {
    /// State of the rendering thread at this draw.
    pub state: State,
    /// The shader record.
    pub record: Arc<ShaderRecord>,
    /// Vertex program.
    pub vertex: Shader,
    /// Fragment program.
    pub fragment: Shader,
    /// What is drawn.
    pub kind: Kind,
    /// The distinct vertex indices, in order of first use.
    pub vertices: Vec<u32>,
    /// {Ys, Xs} of each vertex, by the coordinate program.
    pub positions: Vec<u32>,
    /// What is left of the primitives, in order.
    pub primitives: Vec<BinnedPrimitive>,
    /// Whether early Z drops quads of this draw.
    pub early_z: bool,
}

/// One entry of a tile's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileItem {
    /// Which draw.
    pub draw: u32,
    /// Which of its primitives.
    pub primitive: u32,
}

/// What a binning list left behind.
pub struct Binned {
    /// The list's first packet.
    pub config: TileBinningModeConfig,
    /// Draws in order.
    pub draws: Vec<Draw>,
    /// One list per tile, row by row.
    pub lists: Vec<Vec<TileItem>>,
    /// Increments of the rendering thread's semaphore.
    pub semaphore: u32,
}
