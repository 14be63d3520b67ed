//! Shader modules, pipeline layouts, and what a graphics pipeline is made from.

pub mod assembly;
mod attributes;
mod cache;
mod graphics;
mod link;
mod patch;
mod programs;
mod recipe;
mod resources;
mod translate;

use std::sync::{Arc, OnceLock};

use ash::vk;
use vc4_shaders::key::ModuleKey;

use crate::foundation::error::Error;
use crate::foundation::handle::Object;
use crate::foundation::limits;
use crate::objects::descriptor::SetLayout;
use crate::objects::render_pass::RenderPass;

pub(crate) use translate::compare;

pub use cache::PipelineCache;
pub use graphics::{Compiled, Pipeline, ProgramBo, Textures, Variant, VariantKey};
pub use recipe::{BLOCK_WORDS, Block, set_bit, set_bits};

/// VkShaderModule: compiled or linked when a pipeline asks.
pub enum ShaderModule {
    /// SPIR-V.
    Spirv(Spirv),
    /// QPU assembly.
    Assembly(assembly::Module),
}

/// A module of SPIR-V.
pub struct Spirv {
    /// Its words.
    pub words: Vec<u32>,
    key: OnceLock<ModuleKey>,
}

impl Spirv {
    /// What stands for the words in keys of pipeline caches.
    pub fn key(&self) -> ModuleKey {
        *self.key.get_or_init(|| ModuleKey::of(&self.words))
    }
}

impl Object for ShaderModule {
    type Handle = vk::ShaderModule;
}

/// First word of a SPIR-V module.
const SPIRV_MAGIC: u32 = 0x0723_0203;

impl ShaderModule {
    /// SPIR-V of at least a header.
    pub fn new(words: Vec<u32>) -> Result<ShaderModule, Error> {
        match words.first() {
            Some(&SPIRV_MAGIC) if words.len() >= 5 => {
                Ok(ShaderModule::Spirv(Spirv { words, key: OnceLock::new() }))
            }
            Some(first) if words.len() >= 5 => Err(Error::Shader(format!(
                "word 0 is {first:#010x}, not the SPIR-V magic number {SPIRV_MAGIC:#010x}"
            ))),
            _ => Err(Error::Shader(format!("{} words are no SPIR-V module; its header has 5", words.len()))),
        }
    }
}

/// VkPipelineLayout.
pub struct PipelineLayout {
    /// Set layouts by set number.
    pub sets: Vec<Arc<SetLayout>>,
    /// Bytes of push constants in use.
    pub push_bytes: u32,
}

impl Object for PipelineLayout {
    type Handle = vk::PipelineLayout;
}

impl PipelineLayout {
    /// A layout within the limits.
    pub fn new(sets: Vec<Arc<SetLayout>>, ranges: &[vk::PushConstantRange]) -> Result<PipelineLayout, Error> {
        let end = |range: &vk::PushConstantRange| range.offset.saturating_add(range.size);
        let push_bytes = ranges.iter().map(end).max().unwrap_or(0);
        if push_bytes > limits::MAX_PUSH_BYTES || sets.len() > limits::MAX_SETS as usize {
            let count = sets.len();
            let why = format!("a pipeline layout of {count} sets and {push_bytes} bytes of push constants");
            return Err(Error::InvalidUse(why));
        }
        Ok(PipelineLayout { sets, push_bytes })
    }
}

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
}

/// Vertices of a pipeline.
#[derive(Clone, Default)]
pub struct VertexInput {
    /// Bindings.
    pub bindings: Vec<vk::VertexInputBindingDescription>,
    /// Attributes.
    pub attributes: Vec<vk::VertexInputAttributeDescription>,
}

/// Rasterisation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Raster {
    /// Clamp depth instead of clipping.
    pub depth_clamp: bool,
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
    /// Width of lines in pixels.
    pub line_width: f32,
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
    /// Pass …
    pub render_pass: Arc<RenderPass>,
    /// … and subpass that it draws in.
    pub subpass: u32,
}

impl GraphicsInfo {
    /// Whether a stage is written in assembly.
    pub fn has_assembly(&self) -> bool {
        self.stages.iter().any(|stage| matches!(*stage.module, ShaderModule::Assembly(_)))
    }

    /// Whether a command buffer sets `state`.
    pub fn is_dynamic(&self, state: vk::DynamicState) -> bool {
        self.dynamic.contains(&state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_begins_with_a_header() {
        assert!(ShaderModule::new(vec![]).is_err());
        assert!(ShaderModule::new(vec![SPIRV_MAGIC; 4]).is_err());
        let error = ShaderModule::new(vec![1; 5]).err().unwrap();
        assert_eq!(error.result(), vk::Result::ERROR_INVALID_SHADER_NV);
        ShaderModule::new(vec![SPIRV_MAGIC, 0x10000, 0, 1, 0]).unwrap();
    }
}
