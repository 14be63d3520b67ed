//! Small pictures: a pass with its attachments, pipelines of one shader pair, meshes in pixels.

#![allow(dead_code, reason = "not every suite takes everything")]

use ash::vk;

use super::{Buffer, Image, RGBA, Vk, rect};

pub const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;
pub const GREY: u32 = 0xff80_8080;
pub const RED: u32 = 0xff00_00ff;
pub const GREEN: u32 = 0xff00_ff00;
pub const BLUE: u32 = 0xffff_0000;

pub fn color(word: u32) -> [f32; 4] {
    word.to_le_bytes().map(|byte| f32::from(byte) / 255.0)
}

/// A pass with one colour attachment, perhaps depth and stencil, and a framebuffer for it.
pub struct Canvas {
    pub pass: vk::RenderPass,
    pub framebuffer: vk::Framebuffer,
    pub image: Image,
    pub clears: Vec<vk::ClearValue>,
}

impl Canvas {
    pub fn new(vk: &Vk, size: u32, depth: bool, load: vk::AttachmentLoadOp) -> Canvas {
        let image = vk.image(RGBA, size, size, vk::ImageUsageFlags::COLOR_ATTACHMENT);
        let zs = vk::Format::D24_UNORM_S8_UINT;
        let attachment = |format| vk::AttachmentDescription {
            format,
            samples: vk::SampleCountFlags::TYPE_1,
            load_op: load,
            stencil_load_op: load,
            final_layout: GENERAL,
            ..Default::default()
        };
        let (mut attachments, mut views) = (vec![attachment(RGBA)], vec![image.view]);
        if depth {
            attachments.push(attachment(zs));
            views.push(vk.image(zs, size, size, vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT).view);
        }
        let reference = |attachment| vk::AttachmentReference { attachment, layout: GENERAL };
        let (colors, zs) = ([reference(0)], reference(1));
        let mut subpass = vk::SubpassDescription::default().color_attachments(&colors);
        if depth {
            subpass = subpass.depth_stencil_attachment(&zs);
        }
        let subpasses = [subpass];
        let info = vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpasses);
        let depth_stencil = vk::ClearDepthStencilValue { depth: 1.0, stencil: 0 };
        let clears = vec![
            vk::ClearValue { color: vk::ClearColorValue { float32: color(GREY) } },
            vk::ClearValue { depth_stencil },
        ];
        // SAFETY: valid usage.
        unsafe {
            let pass = vk.device.create_render_pass(&info, None).unwrap();
            let info = vk::FramebufferCreateInfo::default()
                .render_pass(pass)
                .attachments(&views)
                .width(size)
                .height(size)
                .layers(1);
            let framebuffer = vk.device.create_framebuffer(&info, None).unwrap();
            Canvas { pass, framebuffer, image, clears }
        }
    }

    pub fn whole(&self) -> vk::Rect2D {
        rect(0, 0, self.image.width, self.image.height)
    }

    pub fn begin(&self, area: vk::Rect2D) -> vk::RenderPassBeginInfo<'_> {
        vk::RenderPassBeginInfo::default()
            .render_pass(self.pass)
            .framebuffer(self.framebuffer)
            .render_area(area)
            .clear_values(&self.clears)
    }

    /// Runs commands inside of the pass and returns the picture.
    pub fn draw(
        &self,
        vk: &Vk,
        area: vk::Rect2D,
        body: impl FnOnce(&ash::Device, vk::CommandBuffer),
    ) -> Picture {
        // SAFETY: valid usage.
        vk.run(|device, commands| unsafe {
            device.cmd_begin_render_pass(commands, &self.begin(area), vk::SubpassContents::INLINE);
            body(device, commands);
            device.cmd_end_render_pass(commands);
        });
        Picture { width: self.image.width, words: vk.pixels(&self.image) }
    }
}

pub struct Picture {
    pub width: u32,
    pub words: Vec<u32>,
}

impl Picture {
    pub fn at(&self, x: u32, y: u32) -> u32 {
        self.words[(y * self.width + x) as usize]
    }

    /// Checks every pixel.
    #[track_caller]
    pub fn expect(&self, word: impl Fn(u32, u32) -> u32) {
        for (index, &got) in (0u32..).zip(&self.words) {
            let (x, y) = (index % self.width, index / self.width);
            assert_eq!(got, word(x, y), "{got:#010x} instead of {:#010x} at {x}, {y}", word(x, y));
        }
    }
}

/// Pipeline state that tests vary.
#[derive(Clone)]
pub struct Setup {
    pub topology: vk::PrimitiveTopology,
    pub blend: vk::PipelineColorBlendAttachmentState,
    pub stencil: Option<vk::StencilOpState>,
    pub depth: Option<vk::CompareOp>,
    pub cull: vk::CullModeFlags,
    pub input_rate: vk::VertexInputRate,
    /// After how many instances colours advance.
    pub divisor: Option<u32>,
    pub samples: vk::SampleCountFlags,
    /// Samples that may be covered.
    pub mask: u32,
    /// Flat inputs come from the last vertex.
    pub last_provokes: bool,
    pub cache: vk::PipelineCache,
    pub flags: vk::PipelineCreateFlags,
}

pub const WRITE: vk::PipelineColorBlendAttachmentState = vk::PipelineColorBlendAttachmentState {
    blend_enable: vk::FALSE,
    src_color_blend_factor: vk::BlendFactor::ONE,
    dst_color_blend_factor: vk::BlendFactor::ONE,
    color_blend_op: vk::BlendOp::ADD,
    src_alpha_blend_factor: vk::BlendFactor::ONE,
    dst_alpha_blend_factor: vk::BlendFactor::ZERO,
    alpha_blend_op: vk::BlendOp::ADD,
    color_write_mask: vk::ColorComponentFlags::RGBA,
};

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            blend: WRITE,
            stencil: None,
            depth: None,
            cull: vk::CullModeFlags::NONE,
            input_rate: vk::VertexInputRate::VERTEX,
            divisor: None,
            samples: vk::SampleCountFlags::TYPE_1,
            mask: !0,
            last_provokes: false,
            cache: vk::PipelineCache::null(),
            flags: vk::PipelineCreateFlags::empty(),
        }
    }
}

macro_rules! spirv {
    ($name:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/shaders/", $name, ".spv")).as_slice()
    };
}

/// A module of SPIR-V.
pub fn spirv_module(vk: &Vk, bytes: &[u8]) -> vk::ShaderModule {
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    // SAFETY: valid usage.
    unsafe {
        vk.device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None).unwrap()
    }
}

/// Shaders and what they read.
pub struct Parts {
    pub vertex: vk::ShaderModule,
    pub fragment: vk::ShaderModule,
    pub layout: vk::PipelineLayout,
    pub bindings: Vec<vk::VertexInputBindingDescription>,
    pub attributes: Vec<vk::VertexInputAttributeDescription>,
    /// Specialisation constant 0 of the fragment stage.
    pub constant: u32,
}

impl Parts {
    /// Attributes of these formats at locations 0.., each in a buffer of its own, tightly packed.
    pub fn new(
        vk: &Vk,
        vertex: vk::ShaderModule,
        fragment: vk::ShaderModule,
        formats: &[(vk::Format, u32)],
    ) -> Parts {
        let numbered = || (0..).zip(formats);
        let binding = |(binding, &(_, stride))| {
            let input_rate = vk::VertexInputRate::VERTEX;
            vk::VertexInputBindingDescription { binding, stride, input_rate }
        };
        let attribute = |(location, &(format, _))| vk::VertexInputAttributeDescription {
            location,
            binding: location,
            format,
            offset: 0,
        };
        // SAFETY: valid usage.
        let layout = unsafe { vk.device.create_pipeline_layout(&Default::default(), None).unwrap() };
        let (bindings, attributes) = (numbered().map(binding).collect(), numbered().map(attribute).collect());
        Parts { vertex, fragment, layout, bindings, attributes, constant: 0 }
    }
}

pub const POSITION: (vk::Format, u32) = (vk::Format::R32G32B32_SFLOAT, 12);
pub const FLOAT_COLOR: (vk::Format, u32) = (vk::Format::R32G32B32A32_SFLOAT, 16);

/// A pipeline of `pos_color`; viewport, scissor and stencil reference are dynamic. Colours advance at the input rate.
pub fn pipeline(vk: &Vk, canvas: &Canvas, setup: &Setup) -> vk::Pipeline {
    try_pipeline(vk, canvas, setup).unwrap()
}

/// As [`pipeline`], where that may fail.
pub fn try_pipeline(vk: &Vk, canvas: &Canvas, setup: &Setup) -> Result<vk::Pipeline, vk::Result> {
    let vertex = spirv_module(vk, spirv!("pos_color.vert"));
    let fragment = spirv_module(vk, spirv!("pos_color.frag"));
    let mut parts = Parts::new(vk, vertex, fragment, &[POSITION, FLOAT_COLOR]);
    parts.bindings[1].input_rate = setup.input_rate;
    build(vk, canvas, setup, &parts)
}

/// A pipeline of any shaders; viewport, scissor and stencil reference are dynamic.
pub fn build(vk: &Vk, canvas: &Canvas, setup: &Setup, parts: &Parts) -> Result<vk::Pipeline, vk::Result> {
    let stage = |stage, module| {
        vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(c"main")
    };
    let entry = [vk::SpecializationMapEntry { constant_id: 0, offset: 0, size: 4 }];
    let constant = parts.constant.to_le_bytes();
    let constants = vk::SpecializationInfo::default().map_entries(&entry).data(&constant);
    let stages = [
        stage(vk::ShaderStageFlags::VERTEX, parts.vertex),
        stage(vk::ShaderStageFlags::FRAGMENT, parts.fragment).specialization_info(&constants),
    ];
    let divisors =
        [vk::VertexInputBindingDivisorDescriptionKHR { binding: 1, divisor: setup.divisor.unwrap_or(1) }];
    let mut divided =
        vk::PipelineVertexInputDivisorStateCreateInfoKHR::default().vertex_binding_divisors(&divisors);
    let mut vertex = vk::PipelineVertexInputStateCreateInfo::default()
        .vertex_binding_descriptions(&parts.bindings)
        .vertex_attribute_descriptions(&parts.attributes);
    if setup.divisor.is_some() {
        vertex = vertex.push_next(&mut divided);
    }
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(setup.topology);
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
    let mut provoking = vk::PipelineRasterizationProvokingVertexStateCreateInfoEXT::default();
    if setup.last_provokes {
        provoking = provoking.provoking_vertex_mode(vk::ProvokingVertexModeEXT::LAST_VERTEX);
    }
    let raster = vk::PipelineRasterizationStateCreateInfo::default()
        .line_width(1.0)
        .cull_mode(setup.cull)
        .push_next(&mut provoking);
    let mask = [setup.mask];
    let multisample = vk::PipelineMultisampleStateCreateInfo::default()
        .rasterization_samples(setup.samples)
        .sample_mask(&mask);
    let mut depth = vk::PipelineDepthStencilStateCreateInfo::default();
    if let Some(op) = setup.depth {
        depth = depth.depth_test_enable(true).depth_write_enable(true).depth_compare_op(op);
    }
    if let Some(face) = setup.stencil {
        depth = depth.stencil_test_enable(true).front(face).back(face);
    }
    let blends = [setup.blend];
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
    let states = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR, vk::DynamicState::STENCIL_REFERENCE];
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&states);
    // SAFETY: valid usage.
    unsafe {
        let info = vk::GraphicsPipelineCreateInfo::default()
            .flags(setup.flags)
            .stages(&stages)
            .vertex_input_state(&vertex)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&multisample)
            .depth_stencil_state(&depth)
            .color_blend_state(&blend)
            .dynamic_state(&dynamic)
            .layout(parts.layout)
            .render_pass(canvas.pass);
        let made = vk.device.create_graphics_pipelines(setup.cache, &[info], None);
        made.map(|pipelines| pipelines[0]).map_err(|(_, result)| result)
    }
}

/// Positions and colours in buffers.
pub struct Mesh {
    pub positions: Buffer,
    pub colors: Buffer,
    pub count: u32,
}

pub fn bytes(floats: impl IntoIterator<Item = f32>) -> Vec<u8> {
    floats.into_iter().flat_map(f32::to_le_bytes).collect()
}

impl Mesh {
    /// Vertices in pixels of a canvas of `size`, at depth `z`.
    pub fn new(vk: &Vk, size: u32, points: &[(f32, f32)], z: f32, colors: &[u32]) -> Mesh {
        let clip = |at: f32| at / size as f32 * 2.0 - 1.0;
        let positions = bytes(points.iter().flat_map(|&(x, y)| [clip(x), clip(y), z]));
        let colors = bytes(colors.iter().flat_map(|&word| color(word)));
        let (positions, colors) = (vk.buffer_with(&positions), vk.buffer_with(&colors));
        Mesh { positions, colors, count: points.len() as u32 }
    }

    /// Two triangles.
    pub fn rect(vk: &Vk, size: u32, [x0, y0, x1, y1]: [f32; 4], z: f32, word: u32) -> Mesh {
        let points = [(x0, y0), (x1, y0), (x1, y1), (x0, y0), (x1, y1), (x0, y1)];
        Mesh::new(vk, size, &points, z, &[word; 6])
    }

    pub fn bind(&self, device: &ash::Device, commands: vk::CommandBuffer) {
        let buffers = [self.positions.handle, self.colors.handle];
        // SAFETY: valid usage.
        unsafe { device.cmd_bind_vertex_buffers(commands, 0, &buffers, &[0, 0]) }
    }
}

/// Binds the pipeline with a viewport and scissor of the whole canvas.
pub fn bind(device: &ash::Device, commands: vk::CommandBuffer, pipeline: vk::Pipeline, canvas: &Canvas) {
    let (width, height) = (canvas.image.width as f32, canvas.image.height as f32);
    let viewport = vk::Viewport { width, height, max_depth: 1.0, ..Default::default() };
    // SAFETY: valid usage.
    unsafe {
        device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
        device.cmd_set_viewport(commands, 0, &[viewport]);
        device.cmd_set_scissor(commands, 0, &[canvas.whole()]);
        device.cmd_set_stencil_reference(commands, vk::StencilFaceFlags::FRONT_AND_BACK, 1);
    }
}

pub fn draw(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    pipeline: vk::Pipeline,
    canvas: &Canvas,
    mesh: &Mesh,
) {
    bind(device, commands, pipeline, canvas);
    mesh.bind(device, commands);
    // SAFETY: valid usage.
    unsafe { device.cmd_draw(commands, mesh.count, 1, 0, 0) }
}

pub fn inside(x: u32, y: u32, [x0, y0, x1, y1]: [u32; 4]) -> bool {
    (x0..x1).contains(&x) && (y0..y1).contains(&y)
}
