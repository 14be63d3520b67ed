//! What a compilation is asked for besides the modules: the part of a pipeline's state that becomes code.
//!
//! Imports `binding` for the names of textures, and `ir` for what a stage reads.
//! The passes that lower inputs, outputs and lookups read it, and the first one, which wants to know whether buffers may be left.

mod texture;
mod ycbcr;

use std::collections::BTreeMap;

use vc4::facts::Facts;
use vc4::state::blend::ColorOutput;
use vc4::state::depth_stencil::DepthStencilPlan;
use vc4::state::multisample::Multisample;
use vc4::state::raster::FrontFace;
use vc4::state::vertex_fetch::{Numeric, Packing, VertexFormat};
use vc4::state::viewport::RasterMap;

use crate::binding::Texture;
use crate::ir::{Op, Shader};

pub use texture::{TextureAccess, TextureClass, TextureDecode, TextureFilter, TextureKey, TextureSwizzle};
pub use ycbcr::{ChromaPlanes, Conversions, YcbcrKey};

/// A vertex attribute of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VertexAttribute {
    /// Vertex input location.
    pub location: u32,
    /// Format in the vertex buffer.
    pub format: VertexFormat,
    /// Advances per instance: the words come from the uniform stream (T-INST a).
    pub per_instance: bool,
}

impl VertexAttribute {
    /// One to four floats per vertex.
    pub fn floats(location: u32, components: u8) -> VertexAttribute {
        let packing = Packing::Words(components);
        let format = VertexFormat { packing, numeric: Numeric::Float, swap_rb: false };
        VertexAttribute { location, format, per_instance: false }
    }

    /// Floats for all that a vertex stage reads, as many components as it does; by locations.
    pub fn read_by(vertex: &Shader) -> Vec<VertexAttribute> {
        let mut components: BTreeMap<u32, u8> = BTreeMap::new();
        for inst in vertex.insts_in_order() {
            if let Op::LoadInput { location, component, .. } = vertex.insts[inst].op {
                let count = components.entry(location).or_default();
                *count = (*count).max(component + 1);
            }
        }
        components.into_iter().map(|(location, count)| VertexAttribute::floats(location, count)).collect()
    }
}

/// Triangles of which edges or corners are drawn. The machine draws lines and points, which know nothing of their triangle:
/// the vertex program fetches its corners and computes what the whole triangle decides (T-NONSOLID).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Polygon {
    /// Front faces vanish.
    pub cull_front: bool,
    /// Back faces vanish.
    pub cull_back: bool,
    /// Which faces are front.
    pub front_face: FrontFace,
    /// Depth is moved by the slope of the triangle.
    pub slope_bias: bool,
}

/// Fragments beyond the near and the far plane are drawn, their depths clamped. The machine clips them, so the fragment program
/// computes depths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DepthClamp {
    /// Depths are moved by a constant and the slope of triangles.
    pub biased: bool,
    /// They are clamped to the viewport's range, not just to what depths can be, 0 to 1.
    pub to_viewport: bool,
}

/// How exact `exp2` and `log2` are, and with them powers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// As Vulkan wants them; estimates where nobody sees a difference.
    #[default]
    Vulkan,
    /// The SFU's estimates (qpu.md §4.4), as Mesa's OpenGL driver takes them.
    Gl,
}

/// What of a pipeline's state becomes code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PipelineState {
    /// Vertex attributes; at most one per location.
    pub attributes: Vec<VertexAttribute>,
    /// What the raster is.
    pub raster: RasterMap,
    /// The topology is points: point size is an output, and varyings begin with the point coordinate.
    pub points: bool,
    /// The topology is lines: varyings begin with the place across the line.
    pub lines: bool,
    /// Lines that may be wider than a pixel, whose middle decides where they are clipped.
    pub wide_lines: bool,
    /// The lines or points are those of triangles.
    pub polygon: Option<Polygon>,
    /// The colour attachment; `None` without one.
    pub color: Option<ColorOutput>,
    /// Location of the output that goes there. Others are left out: there is one colour in a tile (T-MRT).
    pub color_location: u32,
    /// Depth and stencil tests.
    pub depth_stencil: DepthStencilPlan,
    /// Depths are clamped, not clipped.
    pub depth_clamp: Option<DepthClamp>,
    /// The program moves the depths of triangles by their slope: where the machine's own slope is another, or where the bias has a
    /// clamp, which the machine knows none of (v3d.md §9.7).
    pub moves_depth: bool,
    /// What narrows the coverage of pixels, and alpha to one.
    pub multisample: Multisample,
    /// The sample that is shaded; all at once without one.
    pub sample: Option<u8>,
    /// One pixel of each quad is drawn, the one that [`vc4::state::StateUniform::QuadPixel`] says, and the samples of the mask: what the
    /// machine counts are quads (T-OCC).
    pub counted: bool,
    /// How images are looked at; what is missing is RGBA8 unorm with identity swizzle, left to the texture unit.
    pub textures: BTreeMap<Texture, TextureKey>,
    /// What the machine is like.
    pub machine: Facts,
    /// A place that leaves its buffer disturbs no lookup at another one (robustBufferAccess); else no place does.
    pub robust: bool,
    /// How exact powers are.
    pub precision: Precision,
    /// The CPU computes what a draw gives to all elements alike ([`crate::ir::computed`]).
    pub computes: bool,
}

impl Default for PipelineState {
    fn default() -> Self {
        PipelineState {
            attributes: Vec::new(),
            raster: RasterMap::default(),
            points: false,
            lines: false,
            wide_lines: false,
            polygon: None,
            color: None,
            color_location: 0,
            depth_stencil: DepthStencilPlan::OFF,
            depth_clamp: None,
            moves_depth: false,
            multisample: Multisample::default(),
            sample: None,
            counted: false,
            textures: BTreeMap::new(),
            machine: Facts::default(),
            robust: false,
            precision: Precision::Vulkan,
            computes: true,
        }
    }
}
