//! A workbench for tests of one feature: the Vulkan objects that they need with sensible defaults, and everything
//! destroyed at its end. [`crate::drawing`] uses it on any driver.

use std::cell::RefCell;

use ash::{Device, vk};

use crate::compare::Picture;
use crate::harness::{Error, Harness, Named, range};

/// What a test draws with.
pub struct Lab<'a> {
    harness: &'a Harness,
    /// The device.
    pub device: &'a Device,
    objects: RefCell<Vec<Object>>,
}

/// Something to destroy.
enum Object {
    Image(vk::Image),
    View(vk::ImageView),
    Buffer(vk::Buffer),
    Memory(vk::DeviceMemory),
    Pass(vk::RenderPass),
    Framebuffer(vk::Framebuffer),
    Pipeline(vk::Pipeline),
    Layout(vk::PipelineLayout),
    Pool(vk::QueryPool),
    SetLayout(vk::DescriptorSetLayout),
    SetPool(vk::DescriptorPool),
}

/// Input attachments of pipelines: bindings 0 and up of set 0.
#[derive(Clone, Copy)]
pub struct Inputs {
    layout: vk::PipelineLayout,
    set: vk::DescriptorSet,
}

/// An image and a view of all of it.
#[derive(Clone, Copy)]
pub struct Target {
    /// The image.
    pub image: vk::Image,
    /// Its view.
    pub view: vk::ImageView,
    /// Its format.
    pub format: vk::Format,
    /// Samples.
    pub samples: vk::SampleCountFlags,
    /// Pixels.
    pub size: [u32; 2],
}

/// One attachment of [`Lab::pass`].
#[derive(Clone, Copy)]
pub struct Attachment {
    /// Format.
    pub format: vk::Format,
    /// Samples.
    pub samples: vk::SampleCountFlags,
    /// Load operations of colour or depth and of stencil.
    pub load: [vk::AttachmentLoadOp; 2],
    /// Store operations.
    pub store: [vk::AttachmentStoreOp; 2],
}

/// One subpass of [`Lab::pass`].
#[derive(Clone, Default)]
pub struct Subpass {
    /// Attachment of colour 0.
    pub color: Option<u32>,
    /// Its resolve attachment.
    pub resolve: Option<u32>,
    /// Attachments of colours 1 and up, with their resolve attachments.
    pub others: Vec<[Option<u32>; 2]>,
    /// Depth and stencil.
    pub depth: Option<u32>,
    /// Inputs.
    pub inputs: Vec<u32>,
    /// Kept.
    pub preserve: Vec<u32>,
}

/// A vertex with a colour.
pub type Vertex = [f32; 7];

/// State of a pipeline of position and colour.
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
    /// Sample mask.
    pub mask: u32,
    /// Alpha to coverage, alpha to one.
    pub alpha: [bool; 2],
    /// Depth comparison, if tested and written.
    pub depth: Option<vk::CompareOp>,
    /// Stencil of front and back.
    pub stencil: Option<[vk::StencilOpState; 2]>,
    /// Colours that the subpass has.
    pub colors: usize,
    /// Blending of each.
    pub blend: vk::PipelineColorBlendAttachmentState,
    /// Faces left out.
    pub cull: vk::CullModeFlags,
    /// The subpass that it draws in.
    pub subpass: u32,
    /// Bytes from vertex to vertex.
    pub stride: u32,
    /// What the fragment stage reads.
    pub inputs: Option<Inputs>,
}

impl Default for Pipeline {
    fn default() -> Self {
        Pipeline {
            vertex: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/pos_color.vert.spv")),
            fragment: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/pos_color.frag.spv")),
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            restart: false,
            samples: vk::SampleCountFlags::TYPE_1,
            mask: u32::MAX,
            alpha: [false; 2],
            depth: None,
            stencil: None,
            colors: 1,
            blend: vk::PipelineColorBlendAttachmentState::default()
                .color_write_mask(vk::ColorComponentFlags::RGBA),
            cull: vk::CullModeFlags::NONE,
            subpass: 0,
            stride: size_of::<Vertex>() as u32,
            inputs: None,
        }
    }
}

/// The load and store operations of an attachment that is cleared and kept.
pub const CLEAR_STORE: Attachment = Attachment {
    format: vk::Format::R8G8B8A8_UNORM,
    samples: vk::SampleCountFlags::TYPE_1,
    load: [vk::AttachmentLoadOp::CLEAR; 2],
    store: [vk::AttachmentStoreOp::STORE; 2],
};

/// A clear value of a colour.
pub fn color(float32: [f32; 4]) -> vk::ClearValue {
    vk::ClearValue { color: vk::ClearColorValue { float32 } }
}

/// A clear value of depth and stencil.
pub fn depth(depth: f32, stencil: u32) -> vk::ClearValue {
    vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth, stencil } }
}

/// Two triangles that fill a rectangle, given by its corners in clip space.
pub fn rectangle([left, top, right, bottom]: [f32; 4], z: f32, rgba: [f32; 4]) -> Vec<Vertex> {
    let [r, g, b, a] = rgba;
    [(left, top), (left, bottom), (right, top), (right, top), (left, bottom), (right, bottom)]
        .map(|(x, y)| [x, y, z, r, g, b, a])
        .to_vec()
}

/// A rectangle from the origin.
pub fn area([width, height]: [u32; 2]) -> vk::Rect2D {
    vk::Rect2D { offset: vk::Offset2D::default(), extent: vk::Extent2D { width, height } }
}

fn aspects(format: vk::Format) -> vk::ImageAspectFlags {
    match format {
        vk::Format::D24_UNORM_S8_UINT | vk::Format::D32_SFLOAT_S8_UINT => {
            vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL
        }
        vk::Format::D16_UNORM | vk::Format::X8_D24_UNORM_PACK32 => vk::ImageAspectFlags::DEPTH,
        _ => vk::ImageAspectFlags::COLOR,
    }
}

// SAFETY (for every block of this file): handles come from this device and live until the lab is dropped, when the
// queue is idle; create infos point to locals that outlive the call; one thread uses the lab.
impl<'a> Lab<'a> {
    /// A lab without objects.
    pub fn new(harness: &'a Harness) -> Lab<'a> {
        Lab { harness, device: &harness.device, objects: RefCell::default() }
    }

    fn keep(&self, object: Object) {
        self.objects.borrow_mut().push(object);
    }

    /// A depth and stencil format of the device.
    pub fn depth_stencil_format(&self) -> vk::Format {
        let formats = [vk::Format::D24_UNORM_S8_UINT, vk::Format::D32_SFLOAT_S8_UINT];
        let wanted = vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT;
        let usable = |format: &vk::Format| self.harness.format_features(*format).contains(wanted);
        formats.into_iter().find(usable).unwrap_or(formats[0])
    }

    /// An image with memory, to be drawn to and copied.
    pub fn target(
        &self,
        size: [u32; 2],
        format: vk::Format,
        samples: vk::SampleCountFlags,
    ) -> Result<Target, Error> {
        self.image(size, format, samples, vk::ImageUsageFlags::empty())
    }

    /// As [`Lab::target`], to be an input attachment too.
    pub fn input(
        &self,
        size: [u32; 2],
        format: vk::Format,
        samples: vk::SampleCountFlags,
    ) -> Result<Target, Error> {
        self.image(size, format, samples, vk::ImageUsageFlags::INPUT_ATTACHMENT)
    }

    fn image(
        &self,
        size: [u32; 2],
        format: vk::Format,
        samples: vk::SampleCountFlags,
        more: vk::ImageUsageFlags,
    ) -> Result<Target, Error> {
        let aspects = aspects(format);
        let usage = match aspects {
            vk::ImageAspectFlags::COLOR => vk::ImageUsageFlags::COLOR_ATTACHMENT,
            _ => vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
        };
        let usage = usage | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST | more;
        let create = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(vk::Extent3D { width: size[0], height: size[1], depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(samples)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage);
        // SAFETY: see above.
        unsafe {
            let image = self.device.create_image(&create, None).named("vkCreateImage")?;
            self.keep(Object::Image(image));
            let needs = self.device.get_image_memory_requirements(image);
            let memory = self.harness.memory(needs, vk::MemoryPropertyFlags::DEVICE_LOCAL)?;
            self.keep(Object::Memory(memory));
            self.device.bind_image_memory(image, memory, 0).named("vkBindImageMemory")?;
            Ok(Target { image, view: self.view(image, format, aspects)?, format, samples, size })
        }
    }

    /// A view of some aspects of an image.
    pub fn view(
        &self,
        image: vk::Image,
        format: vk::Format,
        aspects: vk::ImageAspectFlags,
    ) -> Result<vk::ImageView, Error> {
        let create = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(range(aspects));
        // SAFETY: see above.
        let view = unsafe { self.device.create_image_view(&create, None).named("vkCreateImageView")? };
        self.keep(Object::View(view));
        Ok(view)
    }

    /// Input attachments for [`Pipeline::inputs`], in `layout`.
    pub fn inputs(&self, views: &[vk::ImageView], layout: vk::ImageLayout) -> Result<Inputs, Error> {
        let ty = vk::DescriptorType::INPUT_ATTACHMENT;
        let bindings: Vec<_> = (0..views.len() as u32)
            .map(|binding| {
                let binding = vk::DescriptorSetLayoutBinding::default().binding(binding).descriptor_type(ty);
                binding.descriptor_count(1).stage_flags(vk::ShaderStageFlags::FRAGMENT)
            })
            .collect();
        // SAFETY: see above.
        unsafe {
            let create = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let set_layout = self.device.create_descriptor_set_layout(&create, None)?;
            self.keep(Object::SetLayout(set_layout));
            let set_layouts = [set_layout];
            let create = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
            let pipeline = self.device.create_pipeline_layout(&create, None)?;
            self.keep(Object::Layout(pipeline));
            let sizes = [vk::DescriptorPoolSize { ty, descriptor_count: views.len() as u32 }];
            let create = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = self.device.create_descriptor_pool(&create, None)?;
            self.keep(Object::SetPool(pool));
            let create =
                vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&set_layouts);
            let set = self.device.allocate_descriptor_sets(&create)?[0];
            for (binding, &image_view) in views.iter().enumerate() {
                let info =
                    [vk::DescriptorImageInfo { image_view, image_layout: layout, ..Default::default() }];
                let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding as u32);
                self.device.update_descriptor_sets(&[write.descriptor_type(ty).image_info(&info)], &[]);
            }
            Ok(Inputs { layout: pipeline, set })
        }
    }

    /// Binds input attachments for the draws that follow.
    pub fn bind_inputs(&self, commands: vk::CommandBuffer, inputs: &Inputs) {
        let point = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: see above.
        unsafe {
            self.device.cmd_bind_descriptor_sets(commands, point, inputs.layout, 0, &[inputs.set], &[]);
        }
    }

    /// A buffer with this content.
    pub fn buffer(&self, content: &[u8], usage: vk::BufferUsageFlags) -> Result<vk::Buffer, Error> {
        let buffer = self.harness.buffer(content, usage)?;
        self.keep(Object::Buffer(buffer.buffer));
        self.keep(Object::Memory(buffer.memory));
        Ok(buffer.buffer)
    }

    /// A vertex buffer.
    pub fn vertices(&self, vertices: &[Vertex]) -> Result<vk::Buffer, Error> {
        let bytes: Vec<u8> = vertices.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
        self.buffer(&bytes, vk::BufferUsageFlags::VERTEX_BUFFER)
    }

    /// A render pass; every subpass waits for everything before.
    pub fn pass(&self, attachments: &[Attachment], subpasses: &[Subpass]) -> Result<vk::RenderPass, Error> {
        let layout = |format| match aspects(format) {
            vk::ImageAspectFlags::COLOR => vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
            _ => vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
        };
        let descriptions: Vec<_> = attachments
            .iter()
            .map(|attachment| {
                let keeps = attachment.load.contains(&vk::AttachmentLoadOp::LOAD);
                vk::AttachmentDescription::default()
                    .format(attachment.format)
                    .samples(attachment.samples)
                    .load_op(attachment.load[0])
                    .store_op(attachment.store[0])
                    .stencil_load_op(attachment.load[1])
                    .stencil_store_op(attachment.store[1])
                    .initial_layout(if keeps { vk::ImageLayout::GENERAL } else { vk::ImageLayout::UNDEFINED })
                    .final_layout(vk::ImageLayout::GENERAL)
            })
            .collect();
        let reference = |index: Option<u32>| match index {
            Some(index) => vk::AttachmentReference {
                attachment: index,
                layout: layout(attachments[index as usize].format),
            },
            None => vk::AttachmentReference { attachment: vk::ATTACHMENT_UNUSED, ..Default::default() },
        };
        let places = |subpass: &Subpass, which: usize| {
            let first = [subpass.color, subpass.resolve];
            std::iter::once(first).chain(subpass.others.clone()).map(move |place| place[which])
        };
        let general = |attachment| vk::AttachmentReference { attachment, layout: vk::ImageLayout::GENERAL };
        // What a subpass reads of itself lies in the general layout.
        let reads_own = |subpass: &Subpass| subpass.color.filter(|color| subpass.inputs.contains(color));
        struct Lists {
            colors: Vec<vk::AttachmentReference>,
            resolves: Vec<vk::AttachmentReference>,
            depth: vk::AttachmentReference,
            inputs: Vec<vk::AttachmentReference>,
        }
        let lists: Vec<Lists> = subpasses
            .iter()
            .map(|subpass| Lists {
                colors: places(subpass, 0)
                    .map(|place| match place.filter(|_| place == reads_own(subpass)) {
                        Some(own) => general(own),
                        None => reference(place),
                    })
                    .collect(),
                resolves: places(subpass, 1).map(reference).collect(),
                depth: reference(subpass.depth),
                inputs: subpass
                    .inputs
                    .iter()
                    .map(|&attachment| match reads_own(subpass) {
                        Some(own) if own == attachment => general(own),
                        _ => vk::AttachmentReference {
                            attachment,
                            layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
                        },
                    })
                    .collect(),
            })
            .collect();
        let described: Vec<_> = subpasses
            .iter()
            .zip(&lists)
            .map(|(subpass, lists)| {
                let mut description = vk::SubpassDescription::default()
                    .color_attachments(&lists.colors)
                    .depth_stencil_attachment(&lists.depth)
                    .input_attachments(&lists.inputs)
                    .preserve_attachments(&subpass.preserve);
                if places(subpass, 1).any(|resolve| resolve.is_some()) {
                    description = description.resolve_attachments(&lists.resolves);
                }
                description
            })
            .collect();
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        let access = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        let last = subpasses.len() as u32 - 1;
        let mut edges: Vec<(u32, u32)> = (0..last).map(|subpass| (subpass, subpass + 1)).collect();
        edges.extend([(vk::SUBPASS_EXTERNAL, 0), (last, vk::SUBPASS_EXTERNAL)]);
        let own = subpasses.iter().zip(0..).filter(|(subpass, _)| reads_own(subpass).is_some());
        let own = own.map(|(_, index)| vk::SubpassDependency {
            src_subpass: index,
            dst_subpass: index,
            src_stage_mask: vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT,
            dst_stage_mask: vk::PipelineStageFlags::FRAGMENT_SHADER,
            src_access_mask: vk::AccessFlags::COLOR_ATTACHMENT_WRITE,
            dst_access_mask: vk::AccessFlags::INPUT_ATTACHMENT_READ,
            dependency_flags: vk::DependencyFlags::BY_REGION,
        });
        let dependencies: Vec<_> = edges
            .into_iter()
            .map(|(from, to)| {
                vk::SubpassDependency::default()
                    .src_subpass(from)
                    .dst_subpass(to)
                    .src_stage_mask(all)
                    .dst_stage_mask(all)
                    .src_access_mask(access)
                    .dst_access_mask(access)
            })
            .chain(own)
            .collect();
        let create = vk::RenderPassCreateInfo::default()
            .attachments(&descriptions)
            .subpasses(&described)
            .dependencies(&dependencies);
        // SAFETY: see above.
        let pass = unsafe { self.device.create_render_pass(&create, None).named("vkCreateRenderPass")? };
        self.keep(Object::Pass(pass));
        Ok(pass)
    }

    /// A framebuffer.
    pub fn framebuffer(
        &self,
        pass: vk::RenderPass,
        targets: &[Target],
        size: [u32; 2],
    ) -> Result<vk::Framebuffer, Error> {
        let views: Vec<_> = targets.iter().map(|target| target.view).collect();
        let create = vk::FramebufferCreateInfo::default()
            .render_pass(pass)
            .attachments(&views)
            .width(size[0])
            .height(size[1])
            .layers(1);
        // SAFETY: see above.
        let framebuffer =
            unsafe { self.device.create_framebuffer(&create, None).named("vkCreateFramebuffer")? };
        self.keep(Object::Framebuffer(framebuffer));
        Ok(framebuffer)
    }

    /// A pipeline without descriptors; viewport and scissor are those of `size`.
    pub fn pipeline(
        &self,
        pass: vk::RenderPass,
        size: [u32; 2],
        state: &Pipeline,
    ) -> Result<vk::Pipeline, Error> {
        let bindings = [vk::VertexInputBindingDescription {
            binding: 0,
            stride: state.stride,
            input_rate: vk::VertexInputRate::VERTEX,
        }];
        let attribute = |location, format, offset| vk::VertexInputAttributeDescription {
            location,
            binding: 0,
            format,
            offset,
        };
        let attributes = [
            attribute(0, vk::Format::R32G32B32_SFLOAT, 0),
            attribute(1, vk::Format::R32G32B32A32_SFLOAT, 12),
        ];
        let input = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&bindings)
            .vertex_attribute_descriptions(&attributes);
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
            .topology(state.topology)
            .primitive_restart_enable(state.restart);
        let [width, height] = size.map(|edge| edge as f32);
        let viewports = [vk::Viewport { x: 0.0, y: 0.0, width, height, min_depth: 0.0, max_depth: 1.0 }];
        let scissors = [area(size)];
        let viewport =
            vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
        let raster =
            vk::PipelineRasterizationStateCreateInfo::default().cull_mode(state.cull).line_width(1.0);
        let mask = [state.mask];
        let multisample = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(state.samples)
            .sample_mask(&mask)
            .alpha_to_coverage_enable(state.alpha[0])
            .alpha_to_one_enable(state.alpha[1]);
        let mut depth = vk::PipelineDepthStencilStateCreateInfo::default();
        if let Some(compare) = state.depth {
            depth = depth.depth_test_enable(true).depth_write_enable(true).depth_compare_op(compare);
        }
        if let Some([front, back]) = state.stencil {
            depth = depth.stencil_test_enable(true).front(front).back(back);
        }
        let targets = vec![state.blend; state.colors];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&targets);
        // SAFETY: see above.
        unsafe {
            let layout = match state.inputs {
                Some(inputs) => inputs.layout,
                None => {
                    let create = vk::PipelineLayoutCreateInfo::default();
                    let layout = self.device.create_pipeline_layout(&create, None);
                    let layout = layout.named("vkCreatePipelineLayout")?;
                    self.keep(Object::Layout(layout));
                    layout
                }
            };
            let modules = [self.harness.shader(state.vertex)?, self.harness.shader(state.fragment)?];
            let stage = |flag, module| {
                vk::PipelineShaderStageCreateInfo::default().stage(flag).module(module).name(c"main")
            };
            let stages = [
                stage(vk::ShaderStageFlags::VERTEX, modules[0]),
                stage(vk::ShaderStageFlags::FRAGMENT, modules[1]),
            ];
            let create = [vk::GraphicsPipelineCreateInfo::default()
                .stages(&stages)
                .vertex_input_state(&input)
                .input_assembly_state(&assembly)
                .viewport_state(&viewport)
                .rasterization_state(&raster)
                .multisample_state(&multisample)
                .depth_stencil_state(&depth)
                .color_blend_state(&blend)
                .layout(layout)
                .render_pass(pass)
                .subpass(state.subpass)];
            let made = self.device.create_graphics_pipelines(vk::PipelineCache::null(), &create, None);
            modules.into_iter().for_each(|module| self.device.destroy_shader_module(module, None));
            let pipeline = made.map_err(|(_, result)| result).named("vkCreateGraphicsPipelines")?[0];
            self.keep(Object::Pipeline(pipeline));
            Ok(pipeline)
        }
    }

    /// A pool of queries.
    pub fn queries(&self, ty: vk::QueryType, count: u32) -> Result<vk::QueryPool, Error> {
        let create = vk::QueryPoolCreateInfo::default().query_type(ty).query_count(count);
        // SAFETY: see above.
        let pool = unsafe { self.device.create_query_pool(&create, None).named("vkCreateQueryPool")? };
        self.keep(Object::Pool(pool));
        Ok(pool)
    }

    /// Begins a pass over all of a framebuffer.
    pub fn begin(
        &self,
        commands: vk::CommandBuffer,
        pass: vk::RenderPass,
        framebuffer: vk::Framebuffer,
        rect: vk::Rect2D,
        clears: &[vk::ClearValue],
    ) {
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(pass)
            .framebuffer(framebuffer)
            .render_area(rect)
            .clear_values(clears);
        // SAFETY: see above.
        unsafe { self.device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE) }
    }

    /// Draws all of a vertex buffer.
    pub fn draw(
        &self,
        commands: vk::CommandBuffer,
        pipeline: vk::Pipeline,
        vertices: vk::Buffer,
        count: u32,
    ) {
        // SAFETY: see above.
        unsafe {
            self.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            self.device.cmd_bind_vertex_buffers(commands, 0, &[vertices], &[0]);
            self.device.cmd_draw(commands, count, 1, 0, 0);
        }
    }

    /// A barrier between everything before and after.
    pub fn barrier(&self, commands: vk::CommandBuffer) {
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        let access = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        let barrier = [vk::MemoryBarrier::default().src_access_mask(access).dst_access_mask(access)];
        let none = vk::DependencyFlags::empty();
        // SAFETY: see above.
        unsafe { self.device.cmd_pipeline_barrier(commands, all, all, none, &barrier, &[], &[]) }
    }

    /// The barrier of a subpass between drawing and reading what it drew.
    pub fn read_own(&self, commands: vk::CommandBuffer) {
        let (from, to) =
            (vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT, vk::PipelineStageFlags::FRAGMENT_SHADER);
        let barrier = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::COLOR_ATTACHMENT_WRITE)
            .dst_access_mask(vk::AccessFlags::INPUT_ATTACHMENT_READ)];
        let region = vk::DependencyFlags::BY_REGION;
        // SAFETY: see above.
        unsafe { self.device.cmd_pipeline_barrier(commands, from, to, region, &barrier, &[], &[]) }
    }

    /// Records a command buffer, runs it and waits.
    pub fn run(&self, record: impl FnOnce(vk::CommandBuffer)) -> Result<(), Error> {
        self.harness.submit(record)
    }

    /// A colour target's picture; it is in layout GENERAL.
    pub fn picture(&self, target: &Target) -> Result<Picture, Error> {
        self.harness.picture(target.image, target.format, target.size)
    }
}

impl Drop for Lab<'_> {
    fn drop(&mut self) {
        let device = self.device;
        // SAFETY: see above; objects go in the reverse order of their making.
        unsafe {
            let _ = device.device_wait_idle();
            for object in self.objects.borrow_mut().drain(..).rev() {
                match object {
                    Object::Image(image) => device.destroy_image(image, None),
                    Object::View(view) => device.destroy_image_view(view, None),
                    Object::Buffer(buffer) => device.destroy_buffer(buffer, None),
                    Object::Memory(memory) => device.free_memory(memory, None),
                    Object::Pass(pass) => device.destroy_render_pass(pass, None),
                    Object::Framebuffer(framebuffer) => device.destroy_framebuffer(framebuffer, None),
                    Object::Pipeline(pipeline) => device.destroy_pipeline(pipeline, None),
                    Object::Layout(layout) => device.destroy_pipeline_layout(layout, None),
                    Object::Pool(pool) => device.destroy_query_pool(pool, None),
                    Object::SetLayout(layout) => device.destroy_descriptor_set_layout(layout, None),
                    Object::SetPool(pool) => device.destroy_descriptor_pool(pool, None),
                }
            }
        }
    }
}
