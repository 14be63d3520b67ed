//! What is spliced into programs, and how they agree to it.

use super::registers::Reg;
use crate::facts::NearPlane;
use crate::state::depth_stencil::DepthStencilPlan;
use crate::state::{ColorOutput, Multisample, VertexFormat};

/// How a fragment program gives its colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SourceColor {
    /// The word that it writes has red in bits 7:0, green, blue, and alpha in bits 31:24: the tile buffer's own order.
    #[default]
    Rgba8,
    /// The word has blue in bits 7:0 and red in bits 23:16, as programs for BGRA targets without a splicer have it.
    Bgra8,
    /// Red, green, blue and alpha are floats (integers for integer targets) in these registers where the program writes
    /// to the tile buffer; what it writes does not matter.
    Registers([Reg; 4]),
}

/// State that becomes part of a fragment program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FragmentState {
    /// The colour target; `None` drops the colour.
    pub color: Option<ColorOutput>,
    /// Depth and stencil.
    pub depth_stencil: DepthStencilPlan,
    /// Coverage. `four_samples` must agree with [`ColorOutput::multisample`].
    pub multisample: Multisample,
    /// How the program gives its colour.
    pub source: SourceColor,
    /// Where the second colour stands at the colour write, for blending with two sources.
    pub second: Option<[Reg; 4]>,
}

impl FragmentState {
    /// A target without blending, tests and multisampling.
    pub fn plain(color: ColorOutput) -> Self {
        FragmentState {
            color: Some(color),
            depth_stencil: DepthStencilPlan::OFF,
            multisample: Multisample::default(),
            source: SourceColor::default(),
            second: None,
        }
    }
}

/// An attribute that a vertex program reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VertexInput {
    /// Format in the vertex buffer.
    pub format: VertexFormat,
    /// How many components the program reads, 0–4. With 0 the attribute's words are only taken off the queue.
    pub components: u8,
}

impl VertexInput {
    /// An attribute of which the program reads the components that the format has.
    pub fn whole(format: VertexFormat) -> Self {
        VertexInput { format, components: format.components() as u8 }
    }
}

/// State that becomes part of a vertex or coordinate program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VertexState<'a> {
    /// The attributes in the order of their words in the VPM.
    pub inputs: &'a [VertexInput],
    /// Points are drawn: the program writes a point size behind the position.
    pub points: bool,
    /// Where the machine's near plane is.
    pub near_plane: NearPlane,
}
