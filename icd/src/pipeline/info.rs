//! What a graphics pipeline is made from, as the API says it.

use std::sync::Arc;

use ash::vk;

use vc4_shaders::state::Conversions;

use super::layout::PipelineLayout;
use super::module::ShaderModule;
use crate::foundation::error::Error;
use crate::foundation::name::Name;
use crate::objects::render_pass::Formats;

/// One stage of a pipeline.
#[derive(Clone)]
pub struct Stage {
    /// Which.
    pub stage: vk::ShaderStageFlags,
    /// The module.
    pub module: Arc<ShaderModule>,
    /// Entry point.
    pub entry: String,
    /// Specialisation: constant id and bytes.
    pub constants: Vec<(u32, Vec<u8>)>,
    /// What samplers of the layout make of images of several planes.
    pub conversions: Arc<Conversions>,
}

/// Vertices of a pipeline.
#[derive(Clone, Default)]
pub struct VertexInput {
    /// Bindings.
    pub bindings: Vec<vk::VertexInputBindingDescription>,
    /// Attributes.
    pub attributes: Vec<vk::VertexInputAttributeDescription>,
    /// Bindings that do not advance with every instance, and after how many they do: 0 for never.
    pub divisors: Vec<(u32, u32)>,
}

/// Rasterisation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Raster {
    /// Clamp depths, instead of clipping unless that is asked for.
    pub depth_clamp: bool,
    /// Clip depths; where the application does not say, as it is without a clamp.
    pub depth_clip: Option<bool>,
    /// Draw nothing.
    pub discard: bool,
    /// Fill, lines or points.
    pub polygon_mode: vk::PolygonMode,
    /// Faces that are dropped.
    pub cull: vk::CullModeFlags,
    /// Winding of front faces.
    pub front_face: vk::FrontFace,
    /// Constant factor, clamp and slope factor of depth bias, if on.
    pub depth_bias: Option<[f32; 3]>,
    /// Whether the bias depends on the slope and has a clamp, too.
    pub clamps_bias: bool,
    /// Width of lines in pixels.
    pub line_width: f32,
    /// Which pixels lines cover.
    pub lines: vk::LineRasterizationModeKHR,
    /// Lines have gaps.
    pub stippled: bool,
    /// Flat varyings have their values from the last vertex of a primitive, not from the first.
    pub last_provokes: bool,
}

/// Multisampling.
#[derive(Clone, Copy, Debug)]
pub struct Multisample {
    /// Samples.
    pub samples: vk::SampleCountFlags,
    /// Minimum fraction of samples shaded apart, if on.
    pub sample_shading: Option<f32>,
    /// Bit n: sample n may be covered.
    pub mask: u32,
    /// Coverage from alpha.
    pub alpha_to_coverage: bool,
    /// Alpha becomes 1.
    pub alpha_to_one: bool,
}

impl Multisample {
    /// A mask of every sample.
    pub fn all_samples(&self) -> u32 {
        (1 << self.samples.as_raw()) - 1
    }
}

/// Depth and stencil.
#[derive(Clone, Copy, Debug, Default)]
pub struct DepthStencil {
    /// Depth comparison, if tested.
    pub depth_test: Option<vk::CompareOp>,
    /// Depth is written (only with a test).
    pub depth_write: bool,
    /// Bounds, if tested.
    pub bounds: Option<[f32; 2]>,
    /// Stencil state of front and back faces, if tested.
    pub stencil: Option<[vk::StencilOpState; 2]>,
}

/// Blending.
#[derive(Clone, Debug, Default)]
pub struct ColorBlend {
    /// Logic operation, if on.
    pub logic_op: Option<vk::LogicOp>,
    /// Per colour attachment.
    pub attachments: Vec<vk::PipelineColorBlendAttachmentState>,
    /// Constants.
    pub constants: [f32; 4],
}

/// Everything that vkCreateGraphicsPipelines says about one pipeline.
#[derive(Clone)]
pub struct GraphicsInfo {
    /// Stages.
    pub stages: Vec<Stage>,
    /// Vertices.
    pub vertex: VertexInput,
    /// Topology.
    pub topology: vk::PrimitiveTopology,
    /// The largest index restarts a strip.
    pub restart: bool,
    /// Viewports; empty when dynamic.
    pub viewports: Vec<vk::Viewport>,
    /// Scissors; empty when dynamic.
    pub scissors: Vec<vk::Rect2D>,
    /// Rasterisation.
    pub raster: Raster,
    /// Multisampling; `None` when nothing is rasterised.
    pub multisample: Option<Multisample>,
    /// Depth and stencil; `None` without such an attachment.
    pub depth_stencil: Option<DepthStencil>,
    /// Blending; `None` without colour attachments.
    pub blend: Option<ColorBlend>,
    /// State that command buffers set.
    pub dynamic: Vec<vk::DynamicState>,
    /// Layout.
    pub layout: Arc<PipelineLayout>,
    /// What it draws to.
    pub formats: Formats,
    /// Programs that no cache has may be compiled.
    pub may_compile: bool,
    /// What the application calls it, and all that is made again from this.
    pub name: Arc<Name>,
}

impl GraphicsInfo {
    /// Of a rectangle over all that a subpass draws to, whose programs come from elsewhere.
    pub fn of_rectangle(formats: Formats) -> Result<GraphicsInfo, Error> {
        let samples = vk::SampleCountFlags::TYPE_1;
        Ok(GraphicsInfo {
            stages: Vec::new(),
            vertex: VertexInput::default(),
            topology: vk::PrimitiveTopology::TRIANGLE_STRIP,
            restart: false,
            viewports: Vec::new(),
            scissors: Vec::new(),
            raster: Raster { line_width: 1.0, ..Raster::default() },
            multisample: Some(Multisample {
                samples,
                sample_shading: None,
                mask: !0,
                alpha_to_coverage: false,
                alpha_to_one: false,
            }),
            depth_stencil: None,
            blend: None,
            dynamic: vec![vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR],
            layout: Arc::new(PipelineLayout::new(Vec::new(), &[])?),
            formats,
            may_compile: true,
            name: Arc::default(),
        })
    }

    /// Whether a stage is written in assembly.
    pub fn has_assembly(&self) -> bool {
        self.stages.iter().any(|stage| matches!(*stage.module, ShaderModule::Assembly(_)))
    }

    /// Whether a command buffer sets `state`.
    pub fn is_dynamic(&self, state: vk::DynamicState) -> bool {
        self.dynamic.contains(&state)
    }
}

/// The value of a specialisation constant.
pub(super) fn constant(bytes: &[u8]) -> Result<u32, Error> {
    match *bytes {
        [a] => Ok(u32::from(a)),
        [a, b] => Ok(u32::from(u16::from_le_bytes([a, b]))),
        [a, b, c, d] => Ok(u32::from_le_bytes([a, b, c, d])),
        _ => Err(Error::unsupported(
            format!("a specialisation constant of {} bytes", bytes.len()),
            "use constants of at most 32 bits",
        )),
    }
}
