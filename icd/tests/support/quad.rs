//! The pipeline that draws textured quads under a matrix: `mvp_*.vert` and `quad.frag` of `tests/shaders`. Benches of
//! draws include this file without its neighbours.
#![allow(dead_code, reason = "not every suite takes everything")]

use ash::vk;

/// Position and texture coordinates stand together.
pub const BINDING: vk::VertexInputBindingDescription =
    vk::VertexInputBindingDescription { binding: 0, stride: 24, input_rate: vk::VertexInputRate::VERTEX };

pub const ATTRIBUTES: [vk::VertexInputAttributeDescription; 2] = [
    vk::VertexInputAttributeDescription {
        location: 0,
        binding: 0,
        format: vk::Format::R32G32B32A32_SFLOAT,
        offset: 0,
    },
    vk::VertexInputAttributeDescription {
        location: 1,
        binding: 0,
        format: vk::Format::R32G32_SFLOAT,
        offset: 16,
    },
];

/// Describes the pipeline with a viewport of `edge` pixels along both axes, for `make` to make it.
pub fn pipeline<T>(
    [vertex, fragment]: [vk::ShaderModule; 2],
    layout: vk::PipelineLayout,
    pass: vk::RenderPass,
    edge: u32,
    make: impl FnOnce(vk::GraphicsPipelineCreateInfo<'_>) -> T,
) -> T {
    let stage = |stage, module| {
        vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(c"main")
    };
    let stages =
        [stage(vk::ShaderStageFlags::VERTEX, vertex), stage(vk::ShaderStageFlags::FRAGMENT, fragment)];
    let bindings = [BINDING];
    let input = vk::PipelineVertexInputStateCreateInfo::default()
        .vertex_binding_descriptions(&bindings)
        .vertex_attribute_descriptions(&ATTRIBUTES);
    let topology = vk::PrimitiveTopology::TRIANGLE_LIST;
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(topology);
    let (width, height) = (edge as f32, edge as f32);
    let viewports = [vk::Viewport { width, height, max_depth: 1.0, ..Default::default() }];
    let extent = vk::Extent2D { width: edge, height: edge };
    let scissors = [vk::Rect2D { extent, ..Default::default() }];
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let samples = vk::SampleCountFlags::TYPE_1;
    let multisample = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(samples);
    let blends = [vk::PipelineColorBlendAttachmentState {
        color_write_mask: vk::ColorComponentFlags::RGBA,
        ..Default::default()
    }];
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
    make(
        vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&multisample)
            .color_blend_state(&blend)
            .layout(layout)
            .render_pass(pass),
    )
}
