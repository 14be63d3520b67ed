//! Draws a scene offscreen through the Vulkan loader: Vulkan 1.0, nothing optional.

mod resources;

use std::collections::BTreeMap;
use std::ffi::CStr;

use ash::{Device, Entry, Instance, vk};
use vc4::image::TexelInfo;
use vc4::state::ColorKind;

use crate::compare::Picture;
use crate::scenes::{Draw, Scene, Texture};

/// What can go wrong: the loader, or a Vulkan call.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// Names the call in the error of a Vulkan result.
pub(crate) trait Named<T> {
    /// The result, with `call` in its error.
    fn named(self, call: &'static str) -> Result<T, Error>;
}

impl<T> Named<T> for Result<T, vk::Result> {
    fn named(self, call: &'static str) -> Result<T, Error> {
        self.map_err(|result| format!("{call}: {result:?}").into())
    }
}

/// Fails instead of waiting forever for a driver that lost a fence, in nanoseconds.
const FENCE_TIMEOUT: u64 = 120_000_000_000;

/// Format of textures.
const COLOR_FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;
const DEPTH_FORMAT: vk::Format = vk::Format::D16_UNORM;

/// A device of the first driver that the loader finds.
pub struct Harness {
    _entry: Entry,
    pub(crate) instance: Instance,
    pub(crate) physical: vk::PhysicalDevice,
    /// The device, for calls that the harness does not wrap.
    pub device: Device,
    queue: vk::Queue,
    pool: vk::CommandPool,
}

/// A buffer with its own memory.
pub(crate) struct Buffer {
    /// The buffer.
    pub buffer: vk::Buffer,
    /// Its memory.
    pub memory: vk::DeviceMemory,
}

/// An image with its own memory and a view.
struct Image {
    image: vk::Image,
    memory: vk::DeviceMemory,
    view: vk::ImageView,
}

/// Pipeline, descriptors and buffers of one draw.
struct Prepared {
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    set_layout: vk::DescriptorSetLayout,
    descriptor_pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
    vertices: Option<Buffer>,
    indices: Option<Buffer>,
    uniforms: Vec<Buffer>,
    images: Vec<Image>,
    samplers: Vec<vk::Sampler>,
    resources: Vec<resources::Made>,
}

// SAFETY (for every block of this file): handles come from this device and live until `release` or
// `drop`; create infos point to locals that outlive the call; one thread uses the harness.
impl Harness {
    /// Opens the loader and the first physical device.
    pub fn new() -> Result<Harness, Error> {
        // SAFETY: see above.
        unsafe {
            let entry = Entry::load()?;
            let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_0);
            let create = vk::InstanceCreateInfo::default().application_info(&application);
            let instance = entry.create_instance(&create, None).named("vkCreateInstance")?;
            let devices = instance.enumerate_physical_devices().named("vkEnumeratePhysicalDevices")?;
            let physical = *devices.first().ok_or("no Vulkan device: check VK_DRIVER_FILES")?;
            let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
            let features = vk::PhysicalDeviceFeatures::default().image_cube_array(true);
            let extensions = [ash::khr::sampler_mirror_clamp_to_edge::NAME.as_ptr()];
            let create = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_features(&features)
                .enabled_extension_names(&extensions);
            let device = instance.create_device(physical, &create, None).named("vkCreateDevice")?;
            let queue = device.get_device_queue(0, 0);
            let create = vk::CommandPoolCreateInfo::default();
            let pool = device.create_command_pool(&create, None).named("vkCreateCommandPool")?;
            Ok(Harness { _entry: entry, instance, physical, device, queue, pool })
        }
    }

    /// The device's name.
    pub fn device_name(&self) -> String {
        // SAFETY: see above; the name is NUL-terminated by the specification.
        unsafe {
            let properties = self.instance.get_physical_device_properties(self.physical);
            CStr::from_ptr(properties.device_name.as_ptr()).to_string_lossy().into_owned()
        }
    }

    /// What images of a format in optimal tiling can be used for.
    pub fn optimal_features(&self, format: vk::Format) -> vk::FormatFeatureFlags {
        // SAFETY: see above.
        let properties =
            unsafe { self.instance.get_physical_device_format_properties(self.physical, format) };
        properties.optimal_tiling_features
    }

    /// Draws the scene and reads the picture back.
    pub fn draw(&self, scene: &Scene) -> Result<Picture, Error> {
        let [width, height] = scene.size;
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        let color = self.image(scene.size, scene.format, usage, vk::ImageAspectFlags::COLOR)?;
        let depth = if scene.depth {
            let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
            Some(self.image(scene.size, DEPTH_FORMAT, usage, vk::ImageAspectFlags::DEPTH)?)
        } else {
            None
        };
        let render_pass = self.render_pass(scene.format, scene.depth)?;
        let views: Vec<_> = std::iter::once(&color).chain(&depth).map(|image| image.view).collect();
        let bytes = vec![0; (width * height) as usize * texel_bytes(scene.format)];
        let readback = self.buffer(&bytes, vk::BufferUsageFlags::TRANSFER_DST)?;
        let prepared: Vec<_> = scene
            .draws
            .iter()
            .map(|draw| self.prepare(draw, scene, render_pass))
            .collect::<Result<_, _>>()?;
        // SAFETY: see above.
        let framebuffer = unsafe {
            let create = vk::FramebufferCreateInfo::default()
                .render_pass(render_pass)
                .attachments(&views)
                .width(width)
                .height(height)
                .layers(1);
            self.device.create_framebuffer(&create, None).named("vkCreateFramebuffer")?
        };
        self.submit(|commands| {
            self.record(commands, scene, render_pass, framebuffer, &prepared);
            self.record_readback(commands, color.image, readback.buffer, scene.size);
        })?;
        let rgba = displayed(scene.format, &self.contents(&readback, bytes.len())?);
        // SAFETY: see above; the queue is idle.
        unsafe {
            self.device.destroy_framebuffer(framebuffer, None);
            self.device.destroy_render_pass(render_pass, None);
        }
        prepared.into_iter().for_each(|draw| self.release(draw));
        [Some(color), depth].into_iter().flatten().for_each(|image| self.destroy_image(image));
        self.destroy_buffer(readback);
        Ok(Picture { width, height, rgba })
    }

    fn record(
        &self,
        commands: vk::CommandBuffer,
        scene: &Scene,
        render_pass: vk::RenderPass,
        framebuffer: vk::Framebuffer,
        prepared: &[Prepared],
    ) {
        let [width, height] = scene.size;
        let area = vk::Rect2D { offset: vk::Offset2D::default(), extent: vk::Extent2D { width, height } };
        let clears = [
            vk::ClearValue { color: vk::ClearColorValue { float32: scene.clear } },
            vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth: 1.0, stencil: 0 } },
        ];
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(render_pass)
            .framebuffer(framebuffer)
            .render_area(area)
            .clear_values(&clears[..1 + usize::from(scene.depth)]);
        let viewport = vk::Viewport {
            x: 0.0,
            y: 0.0,
            width: width as f32,
            height: height as f32,
            min_depth: 0.0,
            max_depth: 1.0,
        };
        let device = &self.device;
        // SAFETY: see above.
        unsafe {
            device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            device.cmd_set_viewport(commands, 0, &[viewport]);
            device.cmd_set_scissor(commands, 0, &[area]);
            for (draw, state) in scene.draws.iter().zip(prepared) {
                let graphics = vk::PipelineBindPoint::GRAPHICS;
                device.cmd_bind_pipeline(commands, graphics, state.pipeline);
                device.cmd_bind_descriptor_sets(commands, graphics, state.layout, 0, &[state.set], &[]);
                if !draw.push.is_empty() {
                    device.cmd_push_constants(commands, state.layout, PUSH_STAGES, 0, &draw.push);
                }
                if let Some(vertices) = &state.vertices {
                    device.cmd_bind_vertex_buffers(commands, 0, &[vertices.buffer], &[0]);
                }
                match &state.indices {
                    Some(indices) => {
                        device.cmd_bind_index_buffer(commands, indices.buffer, 0, vk::IndexType::UINT16);
                        device.cmd_draw_indexed(commands, draw.count, draw.instances, 0, 0, 0);
                    }
                    None => device.cmd_draw(commands, draw.count, draw.instances, 0, 0),
                }
            }
            device.cmd_end_render_pass(commands);
        }
    }

    /// What a format's images with optimal tiling can do.
    pub(crate) fn format_features(&self, format: vk::Format) -> vk::FormatFeatureFlags {
        // SAFETY: see above.
        let properties =
            unsafe { self.instance.get_physical_device_format_properties(self.physical, format) };
        properties.optimal_tiling_features
    }

    /// The picture of a colour image in layout TRANSFER_SRC_OPTIMAL or GENERAL.
    pub(crate) fn picture(
        &self,
        image: vk::Image,
        format: vk::Format,
        size: [u32; 2],
    ) -> Result<Picture, Error> {
        let [width, height] = size;
        let bytes = vec![0; (width * height) as usize * texel_bytes(format)];
        let readback = self.buffer(&bytes, vk::BufferUsageFlags::TRANSFER_DST)?;
        self.submit(|commands| self.record_readback(commands, image, readback.buffer, size))?;
        let rgba = displayed(format, &self.contents(&readback, bytes.len())?);
        self.destroy_buffer(readback);
        Ok(Picture { width, height, rgba })
    }

    fn record_readback(
        &self,
        commands: vk::CommandBuffer,
        image: vk::Image,
        buffer: vk::Buffer,
        size: [u32; 2],
    ) {
        let barrier = [vk::BufferMemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ)
            .buffer(buffer)
            .size(vk::WHOLE_SIZE)];
        let (transfer, host) = (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::HOST);
        let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        // SAFETY: see above.
        unsafe {
            self.device.cmd_copy_image_to_buffer(commands, image, layout, buffer, &[whole(size)]);
            let none = vk::DependencyFlags::empty();
            self.device.cmd_pipeline_barrier(commands, transfer, host, none, &[], &barrier, &[]);
        }
    }

    fn prepare(&self, draw: &Draw, scene: &Scene, render_pass: vk::RenderPass) -> Result<Prepared, Error> {
        let uniform = |(binding, data): &(u32, Vec<u8>)| {
            Ok((*binding, self.buffer(data, vk::BufferUsageFlags::UNIFORM_BUFFER)?))
        };
        let mut blocks: BTreeMap<u32, u32> = BTreeMap::new();
        draw.uniforms.iter().for_each(|(binding, _)| *blocks.entry(*binding).or_default() += 1);
        let uniforms = draw.uniforms.iter().map(uniform).collect::<Result<Vec<_>, Error>>()?;
        let mut textures = Vec::new();
        for (binding, texture, filter) in &draw.textures {
            textures.push((*binding, self.texture(texture)?, self.sampler(*filter)?));
        }
        let mut bindings = Vec::new();
        let stages = vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT;
        let binding = |number: u32, ty, count| {
            let binding = vk::DescriptorSetLayoutBinding::default();
            binding.binding(number).descriptor_type(ty).descriptor_count(count).stage_flags(stages)
        };
        bindings
            .extend(blocks.iter().map(|(&n, &count)| binding(n, vk::DescriptorType::UNIFORM_BUFFER, count)));
        bindings.extend(
            textures.iter().map(|(n, ..)| binding(*n, vk::DescriptorType::COMBINED_IMAGE_SAMPLER, 1)),
        );
        let mut resources = Vec::new();
        for (number, elements) in &draw.resources {
            let ty = elements.first().map(resources::descriptor_type).ok_or("a binding without elements")?;
            let made =
                elements.iter().map(|element| self.resource(element)).collect::<Result<Vec<_>, _>>()?;
            resources.push((*number, ty, made));
        }
        let samplers_of = |made: &[resources::Made]| made.iter().filter_map(|made| made.sampler).collect();
        let samplers: Vec<Vec<vk::Sampler>> =
            resources.iter().map(|(_, _, made)| samplers_of(made)).collect();
        for ((number, ty, made), samplers) in resources.iter().zip(&samplers) {
            let binding = binding(*number, *ty, made.len() as u32);
            bindings.push(match draw.immutable_samplers && !samplers.is_empty() {
                true => binding.immutable_samplers(samplers),
                false => binding,
            });
        }
        // SAFETY: see above.
        unsafe {
            let create = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let set_layout = self
                .device
                .create_descriptor_set_layout(&create, None)
                .named("vkCreateDescriptorSetLayout")?;
            let set_layouts = [set_layout];
            let push =
                [vk::PushConstantRange { stage_flags: PUSH_STAGES, offset: 0, size: draw.push.len() as u32 }];
            let mut create = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
            if !draw.push.is_empty() {
                create = create.push_constant_ranges(&push);
            }
            let layout = self.device.create_pipeline_layout(&create, None).named("vkCreatePipelineLayout")?;
            let pipeline = self.pipeline(draw, scene, layout, render_pass)?;
            let sizes = [
                vk::DescriptorType::UNIFORM_BUFFER,
                vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
                vk::DescriptorType::SAMPLED_IMAGE,
                vk::DescriptorType::STORAGE_IMAGE,
                vk::DescriptorType::SAMPLER,
                vk::DescriptorType::UNIFORM_TEXEL_BUFFER,
                vk::DescriptorType::STORAGE_BUFFER,
            ]
            .map(|ty| vk::DescriptorPoolSize { ty, descriptor_count: 8 });
            let create = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let descriptor_pool =
                self.device.create_descriptor_pool(&create, None).named("vkCreateDescriptorPool")?;
            let allocate = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(descriptor_pool)
                .set_layouts(&set_layouts);
            let set = self.device.allocate_descriptor_sets(&allocate).named("vkAllocateDescriptorSets")?[0];
            for (at, (number, buffer)) in uniforms.iter().enumerate() {
                let element = uniforms[..at].iter().filter(|(other, _)| other == number).count();
                let info =
                    [vk::DescriptorBufferInfo { buffer: buffer.buffer, offset: 0, range: vk::WHOLE_SIZE }];
                let write =
                    vk::WriteDescriptorSet::default().dst_set(set).dst_binding(*number).buffer_info(&info);
                let write = write
                    .dst_array_element(element as u32)
                    .descriptor_type(vk::DescriptorType::UNIFORM_BUFFER);
                self.device.update_descriptor_sets(&[write], &[]);
            }
            for (number, image, sampler) in &textures {
                let info = [vk::DescriptorImageInfo {
                    sampler: *sampler,
                    image_view: image.view,
                    image_layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
                }];
                let write =
                    vk::WriteDescriptorSet::default().dst_set(set).dst_binding(*number).image_info(&info);
                let write = write.descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER);
                self.device.update_descriptor_sets(&[write], &[]);
            }
            for (number, ty, made) in &resources {
                if draw.immutable_samplers && *ty == vk::DescriptorType::SAMPLER {
                    continue;
                }
                self.write_resources(set, *number, *ty, made);
            }
            let indices: Option<Vec<u8>> =
                draw.indices.as_ref().map(|list| list.iter().flat_map(|i| i.to_le_bytes()).collect());
            let mut samplers = Vec::new();
            let mut images = Vec::new();
            for (_, image, sampler) in textures {
                images.push(image);
                samplers.push(sampler);
            }
            Ok(Prepared {
                pipeline,
                layout,
                set_layout,
                descriptor_pool,
                set,
                vertices: (!draw.vertices.is_empty())
                    .then(|| self.buffer(&draw.vertices, vk::BufferUsageFlags::VERTEX_BUFFER))
                    .transpose()?,
                indices: indices
                    .map(|bytes| self.buffer(&bytes, vk::BufferUsageFlags::INDEX_BUFFER))
                    .transpose()?,
                uniforms: uniforms.into_iter().map(|(_, buffer)| buffer).collect(),
                images,
                samplers,
                resources: resources.into_iter().flat_map(|(.., made)| made).collect(),
            })
        }
    }

    /// A pipeline for a draw with neither descriptors nor push constants, made and destroyed again.
    pub fn try_pipeline(&self, draw: &Draw) -> Result<(), Error> {
        let scene = Scene::default();
        let render_pass = self.render_pass(scene.format, false)?;
        // SAFETY: see above.
        unsafe {
            let create = vk::PipelineLayoutCreateInfo::default();
            let layout = self.device.create_pipeline_layout(&create, None).named("vkCreatePipelineLayout")?;
            let made = self.pipeline(draw, &scene, layout, render_pass);
            if let Ok(pipeline) = made {
                self.device.destroy_pipeline(pipeline, None);
            }
            self.device.destroy_pipeline_layout(layout, None);
            self.device.destroy_render_pass(render_pass, None);
            made.map(|_| ())
        }
    }

    fn pipeline(
        &self,
        draw: &Draw,
        scene: &Scene,
        layout: vk::PipelineLayout,
        render_pass: vk::RenderPass,
    ) -> Result<vk::Pipeline, Error> {
        let vertex = self.shader(draw.vertex_shader)?;
        let fragment = self.shader(draw.fragment_shader)?;
        let entries: Vec<_> = (0..)
            .zip(&draw.specialization)
            .map(|(at, &(id, _))| vk::SpecializationMapEntry { constant_id: id, offset: 4 * at, size: 4 })
            .collect();
        let words: Vec<u8> = draw.specialization.iter().flat_map(|(_, word)| word.to_le_bytes()).collect();
        let special = vk::SpecializationInfo::default().map_entries(&entries).data(&words);
        let stage = |flag, module| {
            let stage = vk::PipelineShaderStageCreateInfo::default().stage(flag).module(module);
            stage.name(c"main").specialization_info(&special)
        };
        let stages =
            [stage(vk::ShaderStageFlags::VERTEX, vertex), stage(vk::ShaderStageFlags::FRAGMENT, fragment)];
        let bindings = [vk::VertexInputBindingDescription {
            binding: 0,
            stride: draw.stride,
            input_rate: vk::VertexInputRate::VERTEX,
        }];
        let mut offset = 0;
        let attributes: Vec<_> = (0..)
            .zip(&draw.attributes)
            .map(|(location, &format)| {
                let at = offset;
                offset += format_bytes(format);
                vk::VertexInputAttributeDescription { location, binding: 0, format, offset: at }
            })
            .collect();
        let mut input = vk::PipelineVertexInputStateCreateInfo::default();
        if !attributes.is_empty() {
            input = input.vertex_binding_descriptions(&bindings).vertex_attribute_descriptions(&attributes);
        }
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(draw.topology);
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
        let raster = vk::PipelineRasterizationStateCreateInfo::default()
            .cull_mode(draw.cull)
            .front_face(vk::FrontFace::COUNTER_CLOCKWISE)
            .line_width(1.0);
        let multisample = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let depth = vk::PipelineDepthStencilStateCreateInfo::default()
            .depth_test_enable(scene.depth)
            .depth_write_enable(scene.depth)
            .depth_compare_op(vk::CompareOp::LESS_OR_EQUAL);
        let plain =
            vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA);
        let targets = [scene.blend.unwrap_or(plain)];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&targets);
        let dynamic = vk::PipelineDynamicStateCreateInfo::default()
            .dynamic_states(&[vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR]);
        let create = [vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&multisample)
            .depth_stencil_state(&depth)
            .color_blend_state(&blend)
            .dynamic_state(&dynamic)
            .layout(layout)
            .render_pass(render_pass)];
        // SAFETY: see above.
        unsafe {
            let pipelines = self.device.create_graphics_pipelines(vk::PipelineCache::null(), &create, None);
            let pipelines = pipelines.map_err(|(_, result)| result).named("vkCreateGraphicsPipelines")?;
            self.device.destroy_shader_module(vertex, None);
            self.device.destroy_shader_module(fragment, None);
            Ok(pipelines[0])
        }
    }

    pub(crate) fn shader(&self, spirv: &[u8]) -> Result<vk::ShaderModule, Error> {
        let words = ash::util::read_spv(&mut std::io::Cursor::new(spirv))?;
        let create = vk::ShaderModuleCreateInfo::default().code(&words);
        // SAFETY: see above.
        unsafe { self.device.create_shader_module(&create, None).named("vkCreateShaderModule") }
    }

    fn render_pass(&self, format: vk::Format, with_depth: bool) -> Result<vk::RenderPass, Error> {
        let attachment = |format, store, last| {
            vk::AttachmentDescription::default()
                .format(format)
                .samples(vk::SampleCountFlags::TYPE_1)
                .load_op(vk::AttachmentLoadOp::CLEAR)
                .store_op(store)
                .stencil_load_op(vk::AttachmentLoadOp::DONT_CARE)
                .stencil_store_op(vk::AttachmentStoreOp::DONT_CARE)
                .final_layout(last)
        };
        let attachments = [
            attachment(format, vk::AttachmentStoreOp::STORE, vk::ImageLayout::TRANSFER_SRC_OPTIMAL),
            attachment(
                DEPTH_FORMAT,
                vk::AttachmentStoreOp::DONT_CARE,
                vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
            ),
        ];
        let reference = |attachment, layout| vk::AttachmentReference { attachment, layout };
        let color = [reference(0, vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)];
        let depth = reference(1, vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL);
        let mut subpass = vk::SubpassDescription::default().color_attachments(&color);
        if with_depth {
            subpass = subpass.depth_stencil_attachment(&depth);
        }
        let dependencies = [vk::SubpassDependency::default()
            .src_subpass(0)
            .dst_subpass(vk::SUBPASS_EXTERNAL)
            .src_stage_mask(vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT)
            .dst_stage_mask(vk::PipelineStageFlags::TRANSFER)
            .src_access_mask(vk::AccessFlags::COLOR_ATTACHMENT_WRITE)
            .dst_access_mask(vk::AccessFlags::TRANSFER_READ)];
        let subpasses = [subpass];
        let create = vk::RenderPassCreateInfo::default()
            .attachments(&attachments[..1 + usize::from(with_depth)])
            .subpasses(&subpasses)
            .dependencies(&dependencies);
        // SAFETY: see above.
        unsafe { self.device.create_render_pass(&create, None).named("vkCreateRenderPass") }
    }

    fn texture(&self, texture: &Texture) -> Result<Image, Error> {
        let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
        let size = [texture.size; 2];
        let image = self.image(size, COLOR_FORMAT, usage, vk::ImageAspectFlags::COLOR)?;
        let staging = self.buffer(&texture.rgba, vk::BufferUsageFlags::TRANSFER_SRC)?;
        let barrier = |old, new, src, dst| {
            vk::ImageMemoryBarrier::default()
                .old_layout(old)
                .new_layout(new)
                .src_access_mask(src)
                .dst_access_mask(dst)
                .image(image.image)
                .subresource_range(range(vk::ImageAspectFlags::COLOR))
        };
        let write = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
        let read = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
        let none = vk::AccessFlags::empty();
        let before = [barrier(vk::ImageLayout::UNDEFINED, write, none, vk::AccessFlags::TRANSFER_WRITE)];
        let after = [barrier(write, read, vk::AccessFlags::TRANSFER_WRITE, vk::AccessFlags::SHADER_READ)];
        let transfer = vk::PipelineStageFlags::TRANSFER;
        let shader = vk::PipelineStageFlags::FRAGMENT_SHADER;
        let top = vk::PipelineStageFlags::TOP_OF_PIPE;
        self.submit(|commands| {
            let flags = vk::DependencyFlags::empty();
            // SAFETY: see above.
            unsafe {
                self.device.cmd_pipeline_barrier(commands, top, transfer, flags, &[], &[], &before);
                let regions = [whole(size)];
                self.device.cmd_copy_buffer_to_image(commands, staging.buffer, image.image, write, &regions);
                self.device.cmd_pipeline_barrier(commands, transfer, shader, flags, &[], &[], &after);
            }
        })?;
        self.destroy_buffer(staging);
        Ok(image)
    }

    fn sampler(&self, filter: vk::Filter) -> Result<vk::Sampler, Error> {
        let create = vk::SamplerCreateInfo::default()
            .mag_filter(filter)
            .min_filter(filter)
            .address_mode_u(vk::SamplerAddressMode::REPEAT)
            .address_mode_v(vk::SamplerAddressMode::REPEAT)
            .address_mode_w(vk::SamplerAddressMode::REPEAT);
        // SAFETY: see above.
        unsafe { self.device.create_sampler(&create, None).named("vkCreateSampler") }
    }

    fn image(
        &self,
        [width, height]: [u32; 2],
        format: vk::Format,
        usage: vk::ImageUsageFlags,
        aspect: vk::ImageAspectFlags,
    ) -> Result<Image, Error> {
        let create = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(vk::Extent3D { width, height, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage);
        // SAFETY: see above.
        unsafe {
            let image = self.device.create_image(&create, None).named("vkCreateImage")?;
            let needs = self.device.get_image_memory_requirements(image);
            let memory = self.memory(needs, vk::MemoryPropertyFlags::DEVICE_LOCAL)?;
            self.device.bind_image_memory(image, memory, 0).named("vkBindImageMemory")?;
            let create = vk::ImageViewCreateInfo::default()
                .image(image)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(format)
                .subresource_range(range(aspect));
            let view = self.device.create_image_view(&create, None).named("vkCreateImageView")?;
            Ok(Image { image, memory, view })
        }
    }

    pub(crate) fn buffer(&self, content: &[u8], usage: vk::BufferUsageFlags) -> Result<Buffer, Error> {
        let create = vk::BufferCreateInfo::default().size(content.len() as u64).usage(usage);
        // SAFETY: see above; the mapping covers the content.
        unsafe {
            let buffer = self.device.create_buffer(&create, None).named("vkCreateBuffer")?;
            let needs = self.device.get_buffer_memory_requirements(buffer);
            let visible = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let memory = self.memory(needs, visible)?;
            self.device.bind_buffer_memory(buffer, memory, 0).named("vkBindBufferMemory")?;
            let flags = vk::MemoryMapFlags::empty();
            let mapped = self.device.map_memory(memory, 0, vk::WHOLE_SIZE, flags).named("vkMapMemory")?;
            std::ptr::copy_nonoverlapping(content.as_ptr(), mapped.cast(), content.len());
            self.device.unmap_memory(memory);
            Ok(Buffer { buffer, memory })
        }
    }

    pub(crate) fn contents(&self, buffer: &Buffer, length: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; length];
        // SAFETY: see above; the mapping covers `length` bytes.
        unsafe {
            let flags = vk::MemoryMapFlags::empty();
            let mapped =
                self.device.map_memory(buffer.memory, 0, vk::WHOLE_SIZE, flags).named("vkMapMemory")?;
            std::ptr::copy_nonoverlapping(mapped.cast(), bytes.as_mut_ptr(), length);
            self.device.unmap_memory(buffer.memory);
        }
        Ok(bytes)
    }

    pub(crate) fn memory(
        &self,
        needs: vk::MemoryRequirements,
        flags: vk::MemoryPropertyFlags,
    ) -> Result<vk::DeviceMemory, Error> {
        // SAFETY: see above.
        unsafe {
            let types = self.instance.get_physical_device_memory_properties(self.physical);
            let index = (0..types.memory_type_count)
                .find(|&i| {
                    needs.memory_type_bits & 1 << i != 0
                        && types.memory_types[i as usize].property_flags.contains(flags)
                })
                .ok_or("no memory type fits")?;
            let create =
                vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index);
            self.device.allocate_memory(&create, None).named("vkAllocateMemory")
        }
    }

    /// Records one command buffer, runs it and waits.
    pub(crate) fn submit(&self, record: impl FnOnce(vk::CommandBuffer)) -> Result<(), Error> {
        let device = &self.device;
        // SAFETY: see above.
        unsafe {
            let allocate =
                vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
            let commands = device.allocate_command_buffers(&allocate).named("vkAllocateCommandBuffers")?;
            let begin =
                vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
            device.begin_command_buffer(commands[0], &begin).named("vkBeginCommandBuffer")?;
            record(commands[0]);
            device.end_command_buffer(commands[0]).named("vkEndCommandBuffer")?;
            let fence = device.create_fence(&vk::FenceCreateInfo::default(), None).named("vkCreateFence")?;
            let submit = [vk::SubmitInfo::default().command_buffers(&commands)];
            device.queue_submit(self.queue, &submit, fence).named("vkQueueSubmit")?;
            device.wait_for_fences(&[fence], true, FENCE_TIMEOUT).named("vkWaitForFences")?;
            device.destroy_fence(fence, None);
            device.free_command_buffers(self.pool, &commands);
        }
        Ok(())
    }

    fn release(&self, draw: Prepared) {
        // SAFETY: see above; the queue is idle.
        unsafe {
            self.device.destroy_pipeline(draw.pipeline, None);
            self.device.destroy_pipeline_layout(draw.layout, None);
            self.device.destroy_descriptor_pool(draw.descriptor_pool, None);
            self.device.destroy_descriptor_set_layout(draw.set_layout, None);
            draw.samplers.into_iter().for_each(|sampler| self.device.destroy_sampler(sampler, None));
        }
        draw.images.into_iter().for_each(|image| self.destroy_image(image));
        draw.resources.into_iter().for_each(|resource| self.release_resource(resource));
        draw.uniforms
            .into_iter()
            .chain(draw.vertices)
            .chain(draw.indices)
            .for_each(|b| self.destroy_buffer(b));
    }

    fn destroy_image(&self, image: Image) {
        // SAFETY: see above; the queue is idle.
        unsafe {
            self.device.destroy_image_view(image.view, None);
            self.device.destroy_image(image.image, None);
            self.device.free_memory(image.memory, None);
        }
    }

    pub(crate) fn destroy_buffer(&self, buffer: Buffer) {
        // SAFETY: see above; the queue is idle.
        unsafe {
            self.device.destroy_buffer(buffer.buffer, None);
            self.device.free_memory(buffer.memory, None);
        }
    }
}

impl Drop for Harness {
    fn drop(&mut self) {
        // SAFETY: see above; nothing of the device is used afterwards.
        unsafe {
            let _ = self.device.device_wait_idle();
            self.device.destroy_command_pool(self.pool, None);
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

/// Both stages see one push-constant range.
const PUSH_STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::from_raw(
    vk::ShaderStageFlags::VERTEX.as_raw() | vk::ShaderStageFlags::FRAGMENT.as_raw(),
);

pub(crate) fn range(aspect: vk::ImageAspectFlags) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask: aspect,
        base_mip_level: 0,
        level_count: 1,
        base_array_layer: 0,
        layer_count: 1,
    }
}

/// The whole first level of a colour image.
fn whole([width, height]: [u32; 2]) -> vk::BufferImageCopy {
    vk::BufferImageCopy::default()
        .image_subresource(vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            mip_level: 0,
            base_array_layer: 0,
            layer_count: 1,
        })
        .image_extent(vk::Extent3D { width, height, depth: 1 })
}

/// Bytes of a texel of a colour attachment.
fn texel_info(format: vk::Format) -> TexelInfo {
    let info = TexelInfo::of_name(&format!("{format:?}"));
    info.unwrap_or_else(|| panic!("scenes draw to colours, not to {format:?}"))
}

fn texel_bytes(format: vk::Format) -> usize {
    texel_info(format).bytes as usize
}

/// Texels of a colour attachment as four bytes each; encoded colours stay encoded.
fn displayed(format: vk::Format, texels: &[u8]) -> Vec<u8> {
    let mut info = texel_info(format);
    if info.kind == ColorKind::Srgb {
        info.kind = ColorKind::Unorm;
    }
    let byte = |component: u32| (f32::from_bits(component).clamp(0.0, 1.0) * 255.0).round() as u8;
    texels
        .chunks_exact(info.bytes as usize)
        .flat_map(|texel| info.decode(info.load(texel)).map(byte))
        .collect()
}

/// Bytes of a vertex attribute.
pub fn format_bytes(format: vk::Format) -> u32 {
    match format {
        vk::Format::R8_UNORM => 1,
        vk::Format::R8G8_UNORM | vk::Format::R16_UNORM | vk::Format::R16_SINT => 2,
        vk::Format::R8G8B8A8_UNORM
        | vk::Format::R8G8B8A8_SNORM
        | vk::Format::R8G8B8A8_UINT
        | vk::Format::R8G8B8A8_USCALED
        | vk::Format::R16G16_UNORM
        | vk::Format::R16G16_SINT
        | vk::Format::R16G16_SSCALED
        | vk::Format::A2B10G10R10_UNORM_PACK32
        | vk::Format::R32_SFLOAT => 4,
        vk::Format::R16G16B16A16_SNORM => 8,
        vk::Format::R32G32B32_UINT => 12,
        vk::Format::R32G32_SFLOAT => 8,
        vk::Format::R32G32B32_SFLOAT => 12,
        vk::Format::R32G32B32A32_SFLOAT => 16,
        other => panic!("scenes use no {other:?} attributes"),
    }
}
