//! Pipelines of two stages.

use ash::vk;

use super::error::{Error, Named};
use super::lab::{Lab, Object};
use super::mesh::Vertex;
use super::pass::area;
use crate::format::attribute_bytes;

/// What a pipeline without a render pass draws to.
#[derive(Clone, Default)]
pub struct Rendering {
    /// Formats of colours; of unused ones UNDEFINED.
    pub colors: Vec<vk::Format>,
    /// Format of depth.
    pub depth: vk::Format,
    /// Views that are drawn.
    pub view_mask: u32,
}

/// State of a pipeline; one of position and colour if nothing else is said.
#[derive(Clone)]
pub struct Pipeline {
    /// SPIR-V of the vertex stage.
    pub vertex: &'static [u8],
    /// SPIR-V of the fragment stage.
    pub fragment: &'static [u8],
    /// Assembly of vertices.
    pub topology: vk::PrimitiveTopology,
    /// The largest index restarts.
    pub restart: bool,
    /// Samples.
    pub samples: vk::SampleCountFlags,
    /// Sample mask, if one is given.
    pub mask: Option<u32>,
    /// Fraction of samples that are shaded apart, if said.
    pub sample_shading: Option<f32>,
    /// Alpha to coverage, alpha to one.
    pub alpha: [bool; 2],
    /// Depth comparison, if tested.
    pub depth: Option<vk::CompareOp>,
    /// Depths that pass are written.
    pub depth_write: bool,
    /// Depths are clamped, not clipped.
    pub depth_clamp: bool,
    /// Depths are clipped; without, as the clamp says.
    pub depth_clip: Option<bool>,
    /// Stencil of front and back.
    pub stencil: Option<[vk::StencilOpState; 2]>,
    /// Colours that the subpass has.
    pub colors: usize,
    /// Blending of each.
    pub blend: vk::PipelineColorBlendAttachmentState,
    /// Faces left out.
    pub cull: vk::CullModeFlags,
    /// Which way around a front face goes.
    pub front: vk::FrontFace,
    /// What is drawn of triangles.
    pub polygon_mode: vk::PolygonMode,
    /// Width of lines.
    pub line_width: f32,
    /// Constant, clamp and slope factor of the depth bias, if on.
    pub bias: Option<[f32; 3]>,
    /// Which pixels lines cover.
    pub lines: vk::LineRasterizationModeKHR,
    /// Which vertex gives flat varyings their values.
    pub provoking: vk::ProvokingVertexModeEXT,
    /// Viewports behind the first, each with a scissor of its place: what goes through none of them.
    pub others: Vec<vk::Rect2D>,
    /// The viewport has a negative height.
    pub mirrored: bool,
    /// The subpass that it draws in.
    pub subpass: u32,
    /// Bytes from vertex to vertex.
    pub stride: u32,
    /// Formats of locations 0.., interleaved without gaps.
    pub attributes: Vec<vk::Format>,
    /// Formats of the locations behind them, which instances have: binding 1, interleaved.
    pub of_instances: Vec<vk::Format>,
    /// Specialisation of both stages: constant id and word.
    pub specialization: Vec<(u32, u32)>,
    /// What the stages read; nothing without it.
    pub layout: Option<vk::PipelineLayout>,
    /// What it draws to, in place of a render pass.
    pub rendering: Option<Rendering>,
}

impl Default for Pipeline {
    fn default() -> Self {
        Pipeline {
            vertex: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/pos_color.vert.spv")),
            fragment: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/pos_color.frag.spv")),
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            restart: false,
            samples: vk::SampleCountFlags::TYPE_1,
            mask: Some(u32::MAX),
            sample_shading: None,
            alpha: [false; 2],
            depth: None,
            depth_write: true,
            depth_clamp: false,
            depth_clip: None,
            stencil: None,
            colors: 1,
            blend: vk::PipelineColorBlendAttachmentState::default()
                .color_write_mask(vk::ColorComponentFlags::RGBA),
            cull: vk::CullModeFlags::NONE,
            front: vk::FrontFace::COUNTER_CLOCKWISE,
            polygon_mode: vk::PolygonMode::FILL,
            line_width: 1.0,
            bias: None,
            lines: vk::LineRasterizationModeKHR::DEFAULT,
            provoking: vk::ProvokingVertexModeEXT::FIRST_VERTEX,
            others: Vec::new(),
            mirrored: false,
            subpass: 0,
            stride: size_of::<Vertex>() as u32,
            attributes: vec![vk::Format::R32G32B32_SFLOAT, vk::Format::R32G32B32A32_SFLOAT],
            of_instances: Vec::new(),
            specialization: Vec::new(),
            layout: None,
            rendering: None,
        }
    }
}

// SAFETY (for every block of this file): handles come from this device and live until the lab is dropped, when the
// queue is idle; create infos point to locals that outlive the call; one thread uses the lab.
impl Lab<'_> {
    /// A pipeline whose viewport and scissor are those of `size`.
    pub fn pipeline(
        &self,
        pass: vk::RenderPass,
        size: [u32; 2],
        state: &Pipeline,
    ) -> Result<vk::Pipeline, Error> {
        let [width, height] = size.map(|edge| edge as f32);
        let (y, height) = if state.mirrored { (height, -height) } else { (0.0, height) };
        let first = vk::Viewport { x: 0.0, y, width, height, min_depth: 0.0, max_depth: 1.0 };
        let others = state.others.iter().map(|place| vk::Viewport {
            x: place.offset.x as f32,
            y: place.offset.y as f32,
            width: place.extent.width as f32,
            height: place.extent.height as f32,
            ..first
        });
        let viewports: Vec<_> = [first].into_iter().chain(others).collect();
        let scissors = [&[area(size)], &state.others[..]].concat();
        let viewport =
            vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
        self.pipeline_of(pass, &viewport, &[], state)
    }

    /// A pipeline whose viewport and scissor are set by commands.
    pub(crate) fn dynamic_pipeline(
        &self,
        pass: vk::RenderPass,
        state: &Pipeline,
    ) -> Result<vk::Pipeline, Error> {
        let count = 1 + state.others.len() as u32;
        let viewport =
            vk::PipelineViewportStateCreateInfo::default().viewport_count(count).scissor_count(count);
        self.pipeline_of(pass, &viewport, &[vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR], state)
    }

    /// A pipeline some of whose states, viewport and scissor among them, are set by commands that know their number.
    pub(crate) fn switched_pipeline(
        &self,
        pass: vk::RenderPass,
        states: &[vk::DynamicState],
        state: &Pipeline,
    ) -> Result<vk::Pipeline, Error> {
        let counted = [vk::DynamicState::VIEWPORT_WITH_COUNT, vk::DynamicState::SCISSOR_WITH_COUNT];
        let states = [&counted, states].concat();
        self.pipeline_of(pass, &vk::PipelineViewportStateCreateInfo::default(), &states, state)
    }

    fn pipeline_of(
        &self,
        pass: vk::RenderPass,
        viewport: &vk::PipelineViewportStateCreateInfo<'_>,
        dynamic: &[vk::DynamicState],
        state: &Pipeline,
    ) -> Result<vk::Pipeline, Error> {
        let mut bindings = vec![vk::VertexInputBindingDescription {
            binding: 0,
            stride: state.stride,
            input_rate: vk::VertexInputRate::VERTEX,
        }];
        if !state.of_instances.is_empty() {
            bindings.push(vk::VertexInputBindingDescription {
                binding: 1,
                stride: state.of_instances.iter().map(|format| attribute_bytes(*format)).sum(),
                input_rate: vk::VertexInputRate::INSTANCE,
            });
        }
        let mut attributes = interleaved(0, 0, &state.attributes);
        attributes.extend(interleaved(1, attributes.len() as u32, &state.of_instances));
        let mut input = vk::PipelineVertexInputStateCreateInfo::default();
        if !attributes.is_empty() {
            input = input.vertex_binding_descriptions(&bindings).vertex_attribute_descriptions(&attributes);
        }
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
            .topology(state.topology)
            .primitive_restart_enable(state.restart);
        let [constant, clamp, slope] = state.bias.unwrap_or_default();
        let mut lines =
            vk::PipelineRasterizationLineStateCreateInfoKHR::default().line_rasterization_mode(state.lines);
        let mut provoking = vk::PipelineRasterizationProvokingVertexStateCreateInfoEXT::default()
            .provoking_vertex_mode(state.provoking);
        let mut clip = vk::PipelineRasterizationDepthClipStateCreateInfoEXT::default()
            .depth_clip_enable(state.depth_clip.unwrap_or(false));
        let mut raster = vk::PipelineRasterizationStateCreateInfo::default()
            .push_next(&mut lines)
            .push_next(&mut provoking)
            .cull_mode(state.cull)
            .polygon_mode(state.polygon_mode)
            .front_face(state.front)
            .depth_clamp_enable(state.depth_clamp)
            .depth_bias_enable(state.bias.is_some())
            .depth_bias_constant_factor(constant)
            .depth_bias_clamp(clamp)
            .depth_bias_slope_factor(slope)
            .line_width(state.line_width);
        if state.depth_clip.is_some() {
            raster = raster.push_next(&mut clip);
        }
        let mask = state.mask.map(|mask| [mask]);
        let mut multisample = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(state.samples)
            .sample_shading_enable(state.sample_shading.is_some())
            .min_sample_shading(state.sample_shading.unwrap_or(0.0))
            .alpha_to_coverage_enable(state.alpha[0])
            .alpha_to_one_enable(state.alpha[1]);
        if let Some(mask) = &mask {
            multisample = multisample.sample_mask(mask);
        }
        let mut depth = vk::PipelineDepthStencilStateCreateInfo::default();
        if let Some(compare) = state.depth {
            depth =
                depth.depth_test_enable(true).depth_write_enable(state.depth_write).depth_compare_op(compare);
        }
        if let Some([front, back]) = state.stencil {
            depth = depth.stencil_test_enable(true).front(front).back(back);
        }
        let targets = vec![state.blend; state.colors];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&targets);
        let layout = match state.layout {
            Some(layout) => layout,
            None => self.pipeline_layout(&vk::PipelineLayoutCreateInfo::default())?,
        };
        let entries: Vec<_> = (0..)
            .zip(&state.specialization)
            .map(|(at, &(id, _))| vk::SpecializationMapEntry { constant_id: id, offset: 4 * at, size: 4 })
            .collect();
        let words: Vec<u8> = state.specialization.iter().flat_map(|(_, word)| word.to_le_bytes()).collect();
        let special = vk::SpecializationInfo::default().map_entries(&entries).data(&words);
        let modules = [self.shader(state.vertex)?, self.shader(state.fragment)?];
        let stage = |flag, module| {
            let stage = vk::PipelineShaderStageCreateInfo::default().stage(flag).module(module);
            stage.name(c"main").specialization_info(&special)
        };
        let stages = [
            stage(vk::ShaderStageFlags::VERTEX, modules[0]),
            stage(vk::ShaderStageFlags::FRAGMENT, modules[1]),
        ];
        let states = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(dynamic);
        let mut create = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&input)
            .input_assembly_state(&assembly)
            .viewport_state(viewport)
            .rasterization_state(&raster)
            .multisample_state(&multisample)
            .depth_stencil_state(&depth)
            .color_blend_state(&blend)
            .layout(layout)
            .render_pass(pass)
            .subpass(state.subpass);
        if !dynamic.is_empty() {
            create = create.dynamic_state(&states);
        }
        let drawn_to = state.rendering.clone().unwrap_or_default();
        let mut rendering = vk::PipelineRenderingCreateInfo::default()
            .color_attachment_formats(&drawn_to.colors)
            .depth_attachment_format(drawn_to.depth)
            .view_mask(drawn_to.view_mask);
        if state.rendering.is_some() {
            create = create.push_next(&mut rendering);
        }
        // SAFETY: see above.
        unsafe {
            let made = self.device.create_graphics_pipelines(vk::PipelineCache::null(), &[create], None);
            // Pipelines outlive their modules.
            modules.into_iter().for_each(|module| self.device.destroy_shader_module(module, None));
            let pipeline = made.map_err(|(_, result)| result).named("vkCreateGraphicsPipelines")?[0];
            self.keep(Object::Pipeline(pipeline));
            Ok(pipeline)
        }
    }

    fn shader(&self, spirv: &[u8]) -> Result<vk::ShaderModule, Error> {
        let words = ash::util::read_spv(&mut std::io::Cursor::new(spirv))?;
        let create = vk::ShaderModuleCreateInfo::default().code(&words);
        // SAFETY: see above.
        unsafe { self.device.create_shader_module(&create, None).named("vkCreateShaderModule") }
    }
}

/// Attributes that stand in one buffer, one behind the other.
fn interleaved(binding: u32, first: u32, formats: &[vk::Format]) -> Vec<vk::VertexInputAttributeDescription> {
    let mut end = 0;
    (first..)
        .zip(formats)
        .map(|(location, &format)| {
            let offset = end;
            end += attribute_bytes(format);
            vk::VertexInputAttributeDescription { location, binding, format, offset }
        })
        .collect()
}
