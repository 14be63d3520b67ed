//! The objects that draws of the bench use.

use ash::vk;

#[path = "../../tests/support/quad.rs"]
mod quad;

/// Edge of the target.
const EDGE: u32 = 256;
/// Matrices in the uniform buffer.
const MATRICES: u32 = 256;
/// Bytes from matrix to matrix.
const MATRIX_STRIDE: u32 = 64;
/// Textures.
const TEXTURES: u32 = 8;

/// Device, pass, two pipelines, and what they read.
pub struct Scene {
    pub device: ash::Device,
    pub commands: vk::CommandBuffer,
    /// Takes a matrix by push constants.
    pub push: vk::Pipeline,
    /// Takes a matrix from a uniform buffer.
    pub uniform: vk::Pipeline,
    layout: vk::PipelineLayout,
    queue: vk::Queue,
    fence: vk::Fence,
    pass: vk::RenderPass,
    framebuffer: vk::Framebuffer,
    vertices: vk::Buffer,
    textures: Vec<vk::DescriptorSet>,
    matrices: vk::DescriptorSet,
    _instance: ash::Instance,
}

impl Scene {
    /// A scene on the driver behind `functions`.
    pub fn new(functions: ash::StaticFn) -> Scene {
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
        // SAFETY: valid usage; the functions are the driver's own.
        unsafe {
            let entry = ash::Entry::from_static_fn(functions);
            let instance = entry.create_instance(&vk::InstanceCreateInfo::default(), None).unwrap();
            let physical = instance.enumerate_physical_devices().unwrap()[0];
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
            let device = instance.create_device(physical, &info, None).unwrap();
            Scene::build(instance, device)
        }
    }

    unsafe fn build(instance: ash::Instance, device: ash::Device) -> Scene {
        // SAFETY: valid usage throughout.
        unsafe {
            let queue = device.get_device_queue(0, 0);
            let flags = vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER;
            let info = vk::CommandPoolCreateInfo::default().flags(flags);
            let command_pool = device.create_command_pool(&info, None).unwrap();
            let info =
                vk::CommandBufferAllocateInfo::default().command_pool(command_pool).command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info).unwrap()[0];
            let fence = device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
            let (pass, framebuffer) = target(&device);
            let [sampler_layout, matrix_layout] = [
                (vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::ShaderStageFlags::FRAGMENT),
                (vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC, vk::ShaderStageFlags::VERTEX),
            ]
            .map(|(ty, stages)| {
                let binding = [vk::DescriptorSetLayoutBinding::default()
                    .descriptor_type(ty)
                    .descriptor_count(1)
                    .stage_flags(stages)];
                let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&binding);
                device.create_descriptor_set_layout(&info, None).unwrap()
            });
            let ranges = [vk::PushConstantRange { stage_flags: super::STAGES, offset: 0, size: 64 }];
            let layouts = [sampler_layout, matrix_layout];
            let info =
                vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts).push_constant_ranges(&ranges);
            let layout = device.create_pipeline_layout(&info, None).unwrap();
            let [push, uniform] = [
                &include_bytes!("../../../tests/shaders/mvp_push.vert.spv")[..],
                &include_bytes!("../../../tests/shaders/mvp_uniform.vert.spv")[..],
            ]
            .map(|vertex| pipeline(&device, vertex, layout, pass));
            let sizes = [
                vk::DescriptorPoolSize {
                    ty: vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
                    descriptor_count: TEXTURES,
                },
                vk::DescriptorPoolSize {
                    ty: vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC,
                    descriptor_count: 1,
                },
            ];
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(TEXTURES + 1).pool_sizes(&sizes);
            let pool = device.create_descriptor_pool(&info, None).unwrap();
            let set = |layout| {
                let layouts = [layout];
                let info =
                    vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
                device.allocate_descriptor_sets(&info).unwrap()[0]
            };
            let sampler = device.create_sampler(&vk::SamplerCreateInfo::default(), None).unwrap();
            let textures: Vec<_> = (0..TEXTURES)
                .map(|_| {
                    let set = set(sampler_layout);
                    let usage = vk::ImageUsageFlags::SAMPLED;
                    let image_view = image(&device, 16, usage);
                    let image_layout = vk::ImageLayout::GENERAL;
                    let info = [vk::DescriptorImageInfo { sampler, image_view, image_layout }];
                    let ty = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
                    let write =
                        vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(ty).image_info(&info);
                    device.update_descriptor_sets(&[write], &[]);
                    set
                })
                .collect();
            let matrices = set(matrix_layout);
            let size = u64::from(MATRICES * MATRIX_STRIDE);
            let (buffer, memory) = self::memory_of(&device, size, vk::BufferUsageFlags::UNIFORM_BUFFER);
            // Programs keep such memory mapped and write to it whenever they like.
            device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()).unwrap();
            let info = [vk::DescriptorBufferInfo { buffer, offset: 0, range: 64 }];
            let ty = vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC;
            let write =
                vk::WriteDescriptorSet::default().dst_set(matrices).descriptor_type(ty).buffer_info(&info);
            device.update_descriptor_sets(&[write], &[]);
            let usage = vk::BufferUsageFlags::VERTEX_BUFFER | vk::BufferUsageFlags::INDEX_BUFFER;
            let vertices = self::buffer(&device, 4096, usage);
            let _instance = instance;
            #[rustfmt::skip]
            return Scene {
                device, commands, push, uniform, layout, queue, fence, pass, framebuffer, vertices, textures, matrices,
                _instance,
            };
        }
    }

    /// Begins a frame.
    ///
    /// # Safety
    /// The frame before is complete.
    pub unsafe fn begin(&self, pipeline: vk::Pipeline) {
        let (device, commands) = (&self.device, self.commands);
        let extent = vk::Extent2D { width: EDGE, height: EDGE };
        let clears = [vk::ClearValue::default()];
        let info = vk::RenderPassBeginInfo::default()
            .render_pass(self.pass)
            .framebuffer(self.framebuffer)
            .render_area(vk::Rect2D { offset: Default::default(), extent })
            .clear_values(&clears);
        let usage =
            vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE);
        // SAFETY: valid usage.
        unsafe {
            device.begin_command_buffer(commands, &usage).unwrap();
            device.cmd_begin_render_pass(commands, &info, vk::SubpassContents::INLINE);
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            device.cmd_bind_vertex_buffers(commands, 0, &[self.vertices], &[0]);
            device.cmd_bind_index_buffer(commands, self.vertices, 0, vk::IndexType::UINT16);
            self.bind_matrix(0);
        }
    }

    /// # Safety
    /// Inside of a frame.
    pub unsafe fn bind_texture(&self, number: u32) {
        let set = self.textures[(number % TEXTURES) as usize];
        let point = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: valid usage.
        unsafe { self.device.cmd_bind_descriptor_sets(self.commands, point, self.layout, 0, &[set], &[]) }
    }

    /// # Safety
    /// Inside of a frame.
    pub unsafe fn bind_matrix(&self, number: u32) {
        let (point, offset) = (vk::PipelineBindPoint::GRAPHICS, number % MATRICES * MATRIX_STRIDE);
        // SAFETY: valid usage.
        unsafe {
            let sets = [self.matrices];
            self.device.cmd_bind_descriptor_sets(self.commands, point, self.layout, 1, &sets, &[offset]);
        }
    }

    /// # Safety
    /// Inside of a frame.
    pub unsafe fn push_matrix(&self, number: u32) {
        let mut matrix = [0; 64];
        matrix[..4].copy_from_slice(&number.to_le_bytes());
        // SAFETY: valid usage.
        unsafe { self.device.cmd_push_constants(self.commands, self.layout, super::STAGES, 0, &matrix) }
    }

    /// # Safety
    /// Inside of a frame, which ends.
    pub unsafe fn end(&self) {
        // SAFETY: valid usage.
        unsafe {
            self.device.cmd_end_render_pass(self.commands);
            self.device.end_command_buffer(self.commands).unwrap();
        }
    }

    /// Submits the frame so many times and waits for the last.
    pub fn submit(&self, times: u32) {
        let commands = [self.commands];
        let info = [vk::SubmitInfo::default().command_buffers(&commands)];
        // SAFETY: valid usage.
        unsafe {
            for _ in 1..times {
                self.device.queue_submit(self.queue, &info, vk::Fence::null()).unwrap();
            }
            self.device.queue_submit(self.queue, &info, self.fence).unwrap();
            self.device.wait_for_fences(&[self.fence], true, u64::MAX).unwrap();
            self.device.reset_fences(&[self.fence]).unwrap();
        }
    }
}

/// Memory of the first type that the host sees: in front of those there is one that it does not.
unsafe fn memory(device: &ash::Device, needs: vk::MemoryRequirements) -> vk::DeviceMemory {
    let index = (needs.memory_type_bits & !1).trailing_zeros();
    let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index);
    // SAFETY: valid usage.
    unsafe { device.allocate_memory(&info, None) }.unwrap()
}

unsafe fn buffer(device: &ash::Device, size: u64, usage: vk::BufferUsageFlags) -> vk::Buffer {
    // SAFETY: the caller's contract is passed on.
    unsafe { memory_of(device, size, usage) }.0
}

/// A buffer and its memory.
unsafe fn memory_of(
    device: &ash::Device,
    size: u64,
    usage: vk::BufferUsageFlags,
) -> (vk::Buffer, vk::DeviceMemory) {
    let info = vk::BufferCreateInfo::default().size(size).usage(usage);
    // SAFETY: valid usage.
    unsafe {
        let buffer = device.create_buffer(&info, None).unwrap();
        let memory = memory(device, device.get_buffer_memory_requirements(buffer));
        device.bind_buffer_memory(buffer, memory, 0).unwrap();
        (buffer, memory)
    }
}

unsafe fn image(device: &ash::Device, edge: u32, usage: vk::ImageUsageFlags) -> vk::ImageView {
    let format = vk::Format::R8G8B8A8_UNORM;
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(vk::Extent3D { width: edge, height: edge, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(usage);
    // SAFETY: valid usage.
    unsafe {
        let image = device.create_image(&info, None).unwrap();
        let memory = memory(device, device.get_image_memory_requirements(image));
        device.bind_image_memory(image, memory, 0).unwrap();
        let range = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            level_count: 1,
            layer_count: 1,
            ..Default::default()
        };
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(range);
        device.create_image_view(&info, None).unwrap()
    }
}

unsafe fn target(device: &ash::Device) -> (vk::RenderPass, vk::Framebuffer) {
    let layout = vk::ImageLayout::GENERAL;
    let attachments = [vk::AttachmentDescription {
        format: vk::Format::R8G8B8A8_UNORM,
        samples: vk::SampleCountFlags::TYPE_1,
        load_op: vk::AttachmentLoadOp::CLEAR,
        final_layout: layout,
        ..Default::default()
    }];
    let colors = [vk::AttachmentReference { attachment: 0, layout }];
    let subpasses = [vk::SubpassDescription::default().color_attachments(&colors)];
    let info = vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpasses);
    // SAFETY: valid usage.
    unsafe {
        let pass = device.create_render_pass(&info, None).unwrap();
        let views = [image(device, EDGE, vk::ImageUsageFlags::COLOR_ATTACHMENT)];
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(pass)
            .attachments(&views)
            .width(EDGE)
            .height(EDGE)
            .layers(1);
        (pass, device.create_framebuffer(&info, None).unwrap())
    }
}

unsafe fn pipeline(
    device: &ash::Device,
    vertex: &[u8],
    layout: vk::PipelineLayout,
    render_pass: vk::RenderPass,
) -> vk::Pipeline {
    let module = |bytes: &[u8]| {
        let words: Vec<u32> =
            bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        // SAFETY: valid usage.
        unsafe { device.create_shader_module(&info, None) }.unwrap()
    };
    let modules = [module(vertex), module(include_bytes!("../../../tests/shaders/quad.frag.spv"))];
    quad::pipeline(modules, layout, render_pass, EDGE, |info| {
        // SAFETY: valid usage.
        unsafe { device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) }.unwrap()[0]
    })
}
