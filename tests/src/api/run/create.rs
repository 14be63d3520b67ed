//! Makes objects.

use ash::vk::{self, Handle};

use super::{Object, Runner};
use crate::api::shaders::shader;
use crate::api::slot::Id;
use crate::api::step::*;

/// Bytes of a canary, and what it holds.
const CANARY: u64 = 4096;
const SONG: u8 = 0x5c;
/// Canaries of a program.
const CANARIES: usize = 12;
/// What fresh memory holds, so that contents are defined from the beginning.
const FRESH: u8 = 0x11;

// SAFETY (for every block): see the room's page.
impl Runner<'_> {
    pub(super) fn create(&mut self, id: Id, what: &Create) {
        if self.objects.get(&id).is_some_and(|object| object.live) {
            return;
        }
        let made = match what {
            Create::Memory { owners, spare, gap, newer } => {
                if let Some((memory, size)) = self.memory(owners, *spare, *gap, *newer) {
                    let place = Some((memory, 0));
                    let (raw, what) = (memory.as_raw(), what.clone());
                    self.objects.insert(
                        id,
                        Object { raw, what, live: true, place, size, mapped: false, common: false },
                    );
                }
                None
            }
            Create::Set { .. } | Create::Commands { .. } => self.pooled(what),
            Create::Graphics { pipeline } => self.graphics(pipeline),
            Create::RenderPass { pass, newer } => self.render_pass(pass, *newer),
            Create::Framebuffer { pass, views, extent, imageless } => {
                self.framebuffer(*pass, views, *extent, *imageless)
            }
            _ => self.plain(what),
        };
        if let Some(raw) = made.filter(|raw| *raw != 0) {
            let object = Object {
                raw,
                what: what.clone(),
                live: true,
                place: None,
                size: 0,
                mapped: false,
                common: false,
            };
            self.objects.insert(id, object);
        }
    }

    /// Memory for resources, which are bound to it.
    fn memory(
        &mut self,
        owners: &[Id],
        spare: u64,
        gap: u64,
        newer: bool,
    ) -> Option<(vk::DeviceMemory, u64)> {
        let (mut size, mut bits, mut places) = (0u64, u32::MAX, Vec::new());
        for owner in owners {
            let image = matches!(self.objects.get(owner).map(|one| &one.what), Some(Create::Image { .. }));
            // SAFETY: see above.
            let needs = unsafe {
                match image {
                    true => self.device().get_image_memory_requirements(self.handle(*owner)),
                    false => self.device().get_buffer_memory_requirements(self.handle(*owner)),
                }
            };
            let at = size.wrapping_add(gap).checked_next_multiple_of(needs.alignment.max(1)).unwrap_or(gap);
            places.push((*owner, image, at));
            size = at.wrapping_add(needs.size);
            bits &= needs.memory_type_bits;
        }
        // Without owners that answered, in programs that are not valid, the first type.
        let is_cached = owners.first().is_some_and(|owner| owner.0 % 2 == 1);
        let index = self.machine.memory_type(bits, is_cached).unwrap_or(0);
        let size = size.wrapping_add(spare);
        let allocate = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(index);
        // SAFETY: see above.
        let memory = unsafe { self.device().allocate_memory(&allocate, Some(&self.callbacks)) };
        let memory = self.check("vkAllocateMemory", memory)?;
        // More than programs ask for is as it is.
        if size <= 1 << 26 {
            self.fill(memory, size, FRESH);
        }
        for (owner, image, at) in places {
            // SAFETY: see above.
            let bound = unsafe {
                match (image, newer) {
                    (true, false) => self.device().bind_image_memory(self.handle(owner), memory, at),
                    (false, false) => self.device().bind_buffer_memory(self.handle(owner), memory, at),
                    (true, true) => self.device().bind_image_memory2(&[vk::BindImageMemoryInfo::default()
                        .image(self.handle(owner))
                        .memory(memory)
                        .memory_offset(at)]),
                    (false, true) => {
                        self.device().bind_buffer_memory2(&[vk::BindBufferMemoryInfo::default()
                            .buffer(self.handle(owner))
                            .memory(memory)
                            .memory_offset(at)])
                    }
                }
            };
            if self.check("vkBindMemory", bound).is_some() {
                if let Some(object) = self.objects.get_mut(&owner) {
                    object.place = Some((memory, at));
                }
            }
        }
        self.canary(index);
        Some((memory, size))
    }

    /// Memory that nobody uses, among that of the program.
    fn canary(&mut self, index: u32) {
        if self.canaries.len() >= CANARIES {
            return;
        }
        let allocate = vk::MemoryAllocateInfo::default().allocation_size(CANARY).memory_type_index(index);
        // SAFETY: see above.
        let memory = unsafe { self.device().allocate_memory(&allocate, Some(&self.callbacks)) };
        if let Some(memory) = self.check("vkAllocateMemory", memory) {
            self.fill(memory, CANARY, SONG);
            self.canaries.push((memory, CANARY));
        }
    }

    fn fill(&mut self, memory: vk::DeviceMemory, size: u64, byte: u8) {
        // SAFETY: see above; the mapping has the memory's size.
        unsafe {
            let mapped = self.device().map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty());
            if let Some(mapped) = self.check("vkMapMemory", mapped) {
                mapped.cast::<u8>().write_bytes(byte, size as usize);
                self.flush(memory);
                self.device().unmap_memory(memory);
            }
        }
    }

    /// Looks at the canaries and ends them.
    pub(super) fn check_canaries(&mut self) {
        for (memory, size) in std::mem::take(&mut self.canaries) {
            // SAFETY: see above; the mapping has the memory's size.
            unsafe {
                let mapped = self.device().map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty());
                if let Ok(mapped) = mapped {
                    self.invalidate(memory);
                    let bytes = std::slice::from_raw_parts(mapped.cast::<u8>(), size as usize);
                    if let Some(at) = bytes.iter().position(|byte| *byte != SONG) {
                        self.outcome.errors.push(format!("foreign memory was written to, at byte {at}"));
                    }
                    self.device().unmap_memory(memory);
                }
                self.device().free_memory(memory, Some(&self.callbacks));
            }
        }
    }

    /// Sets and command buffers.
    fn pooled(&mut self, what: &Create) -> Option<u64> {
        // SAFETY: see above; a pool that is null or has ended is for drivers to see.
        unsafe {
            match what {
                Create::Set { pool, layout } => {
                    let layouts = [self.handle(*layout)];
                    let allocate = vk::DescriptorSetAllocateInfo::default()
                        .descriptor_pool(self.handle(*pool))
                        .set_layouts(&layouts);
                    let sets = self.device().allocate_descriptor_sets(&allocate);
                    self.check("vkAllocateDescriptorSets", sets).map(|sets| sets[0].as_raw())
                }
                Create::Commands { pool, secondary } => {
                    let level = match secondary {
                        true => vk::CommandBufferLevel::SECONDARY,
                        false => vk::CommandBufferLevel::PRIMARY,
                    };
                    // The loader reads what comes back, even from a pool that is not there.
                    self.objects.get(pool).filter(|pool| pool.live)?;
                    let allocate = vk::CommandBufferAllocateInfo::default()
                        .command_pool(self.handle(*pool))
                        .level(level)
                        .command_buffer_count(1);
                    let buffers = self.device().allocate_command_buffers(&allocate);
                    self.check("vkAllocateCommandBuffers", buffers).map(|buffers| buffers[0].as_raw())
                }
                _ => None,
            }
        }
    }

    fn image(&mut self, image: &ImageShape) -> Option<u64> {
        let [width, height, depth] = image.extent;
        let tiling = if image.linear { vk::ImageTiling::LINEAR } else { vk::ImageTiling::OPTIMAL };
        let create = vk::ImageCreateInfo::default()
            .flags(image.flags)
            .image_type(image.kind)
            .format(image.format)
            .extent(vk::Extent3D { width, height, depth })
            .mip_levels(image.levels)
            .array_layers(image.layers)
            .samples(vk::SampleCountFlags::from_raw(image.samples))
            .tiling(tiling)
            .usage(image.usage);
        // SAFETY: see above.
        let made = unsafe { self.device().create_image(&create, Some(&self.callbacks)) };
        self.check("vkCreateImage", made).map(Handle::as_raw)
    }

    fn plain(&mut self, what: &Create) -> Option<u64> {
        let device = self.device();
        let callbacks = &self.callbacks.clone();
        let own = Some(callbacks);
        // SAFETY: see above.
        unsafe {
            match what {
                Create::Image { image } => self.image(image),
                Create::Buffer { size, usage } => {
                    let create = vk::BufferCreateInfo::default().size(*size).usage(*usage);
                    let made = device.create_buffer(&create, own);
                    self.check("vkCreateBuffer", made).map(Handle::as_raw)
                }
                Create::BufferView { buffer, format, offset, range } => {
                    let create = vk::BufferViewCreateInfo::default()
                        .buffer(self.handle(*buffer))
                        .format(*format)
                        .offset(*offset)
                        .range(*range);
                    let made = device.create_buffer_view(&create, own);
                    self.check("vkCreateBufferView", made).map(Handle::as_raw)
                }
                Create::View { image, kind, format, range } => {
                    let create = vk::ImageViewCreateInfo::default()
                        .image(self.handle(*image))
                        .view_type(*kind)
                        .format(*format)
                        .subresource_range(subresources(range));
                    let made = device.create_image_view(&create, own);
                    self.check("vkCreateImageView", made).map(Handle::as_raw)
                }
                Create::Sampler { filter, address, border, compare, anisotropy, lods } => {
                    let create = vk::SamplerCreateInfo::default()
                        .mag_filter(*filter)
                        .min_filter(*filter)
                        .address_mode_u(*address)
                        .address_mode_v(*address)
                        .border_color(*border)
                        .compare_enable(compare.is_some())
                        .compare_op(compare.unwrap_or_default())
                        .anisotropy_enable(*anisotropy > 1.0)
                        .max_anisotropy(*anisotropy)
                        .min_lod(lods[0])
                        .max_lod(lods[1]);
                    let made = device.create_sampler(&create, own);
                    self.check("vkCreateSampler", made).map(Handle::as_raw)
                }
                Create::SetLayout { bindings, pushed } => {
                    let one = |one: &Binding| {
                        let Binding { number, kind, count, stages } = *one;
                        vk::DescriptorSetLayoutBinding {
                            binding: number,
                            descriptor_type: kind,
                            descriptor_count: count,
                            stage_flags: stages,
                            ..Default::default()
                        }
                    };
                    let bindings: Vec<_> = bindings.iter().map(one).collect();
                    let flags = match pushed {
                        true => vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR,
                        false => vk::DescriptorSetLayoutCreateFlags::empty(),
                    };
                    let create =
                        vk::DescriptorSetLayoutCreateInfo::default().flags(flags).bindings(&bindings);
                    let made = device.create_descriptor_set_layout(&create, own);
                    self.check("vkCreateDescriptorSetLayout", made).map(Handle::as_raw)
                }
                Create::SetPool { sets, sizes, frees } => {
                    let one = |size: &PoolSize| vk::DescriptorPoolSize {
                        ty: size.kind,
                        descriptor_count: size.count,
                    };
                    let sizes: Vec<_> = sizes.iter().map(one).collect();
                    let flags = match frees {
                        true => vk::DescriptorPoolCreateFlags::FREE_DESCRIPTOR_SET,
                        false => vk::DescriptorPoolCreateFlags::empty(),
                    };
                    let create = vk::DescriptorPoolCreateInfo::default()
                        .flags(flags)
                        .max_sets(*sets)
                        .pool_sizes(&sizes);
                    let made = device.create_descriptor_pool(&create, own);
                    self.check("vkCreateDescriptorPool", made).map(Handle::as_raw)
                }
                Create::Template { layout, bindings } => {
                    let one = |(index, binding): (usize, &Binding)| {
                        vk::DescriptorUpdateTemplateEntry::default()
                            .dst_binding(binding.number)
                            .descriptor_count(binding.count)
                            .descriptor_type(binding.kind)
                            .offset(index * super::host::ITEM_BYTES)
                            .stride(super::host::ITEM_BYTES)
                    };
                    let entries: Vec<_> = bindings.iter().enumerate().map(one).collect();
                    let create = vk::DescriptorUpdateTemplateCreateInfo::default()
                        .descriptor_update_entries(&entries)
                        .descriptor_set_layout(self.handle(*layout));
                    let made = device.create_descriptor_update_template(&create, own);
                    self.check("vkCreateDescriptorUpdateTemplate", made).map(Handle::as_raw)
                }
                Create::PipelineLayout { sets, push } => {
                    let sets = self.handles(sets);
                    let ranges = [vk::PushConstantRange { stage_flags: STAGES, offset: 0, size: *push }];
                    let create = vk::PipelineLayoutCreateInfo::default()
                        .set_layouts(&sets)
                        .push_constant_ranges(&ranges);
                    let made = device.create_pipeline_layout(&create, own);
                    self.check("vkCreatePipelineLayout", made).map(Handle::as_raw)
                }
                Create::Module { shader: number } => {
                    let bytes = shader(*number).code.chunks_exact(4);
                    let code: Vec<u32> =
                        bytes.map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
                    let create = vk::ShaderModuleCreateInfo::default().code(&code);
                    let made = device.create_shader_module(&create, own);
                    self.check("vkCreateShaderModule", made).map(Handle::as_raw)
                }
                Create::Cache { from } => {
                    let from = from.filter(|from| self.objects.get(from).is_some_and(|from| from.live));
                    let data = from.map(|from| device.get_pipeline_cache_data(self.handle(from)));
                    let data =
                        data.and_then(|data| self.check("vkGetPipelineCacheData", data)).unwrap_or_default();
                    let create = vk::PipelineCacheCreateInfo::default().initial_data(&data);
                    let made = device.create_pipeline_cache(&create, own);
                    self.check("vkCreatePipelineCache", made).map(Handle::as_raw)
                }
                Create::Compute { layout, module, cache, group } => {
                    let entries = [vk::SpecializationMapEntry { constant_id: 1, offset: 0, size: 4 }];
                    let data = group.to_le_bytes();
                    let special = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
                    let stage = vk::PipelineShaderStageCreateInfo::default()
                        .stage(vk::ShaderStageFlags::COMPUTE)
                        .module(self.handle(*module))
                        .name(c"main")
                        .specialization_info(&special);
                    let create =
                        [vk::ComputePipelineCreateInfo::default().stage(stage).layout(self.handle(*layout))];
                    let made = device.create_compute_pipelines(self.some(*cache), &create, own);
                    let made = made.map_err(|(_, error)| error);
                    self.check("vkCreateComputePipelines", made).map(|all| all[0].as_raw())
                }
                Create::CommandPool { flags } => {
                    let create = vk::CommandPoolCreateInfo::default().flags(*flags);
                    let made = device.create_command_pool(&create, own);
                    self.check("vkCreateCommandPool", made).map(Handle::as_raw)
                }
                _ => self.signals(what),
            }
        }
    }

    /// What waits, counts and shows.
    fn signals(&mut self, what: &Create) -> Option<u64> {
        let device = self.device();
        let callbacks = &self.callbacks.clone();
        let own = Some(callbacks);
        // SAFETY: see above.
        unsafe {
            match what {
                Create::Fence { signaled } => {
                    let flags = if *signaled {
                        vk::FenceCreateFlags::SIGNALED
                    } else {
                        vk::FenceCreateFlags::empty()
                    };
                    let made = device.create_fence(&vk::FenceCreateInfo::default().flags(flags), own);
                    self.check("vkCreateFence", made).map(Handle::as_raw)
                }
                Create::Semaphore { timeline, value } => {
                    let mut kind = vk::SemaphoreTypeCreateInfo::default().initial_value(*value);
                    kind.semaphore_type =
                        if *timeline { vk::SemaphoreType::TIMELINE } else { vk::SemaphoreType::BINARY };
                    let create = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
                    let made = device.create_semaphore(&create, own);
                    self.check("vkCreateSemaphore", made).map(Handle::as_raw)
                }
                Create::Event {} => {
                    let made = device.create_event(&vk::EventCreateInfo::default(), own);
                    self.check("vkCreateEvent", made).map(Handle::as_raw)
                }
                Create::Queries { kind, count } => {
                    let mut create = vk::QueryPoolCreateInfo::default().query_type(*kind).query_count(*count);
                    if *kind == vk::QueryType::PIPELINE_STATISTICS {
                        // One number, like queries of the other types.
                        let number = vk::QueryPipelineStatisticFlags::FRAGMENT_SHADER_INVOCATIONS;
                        create = create.pipeline_statistics(number);
                    }
                    let made = device.create_query_pool(&create, own);
                    self.check("vkCreateQueryPool", made).map(Handle::as_raw)
                }
                Create::PrivateSlot {} => {
                    let create = vk::PrivateDataSlotCreateInfo::default();
                    let made = self.machine.more.private.create_private_data_slot(&create, own);
                    self.check("vkCreatePrivateDataSlot", made).map(Handle::as_raw)
                }
                Create::Surface {} if self.machine.surfaces => {
                    let create = vk::HeadlessSurfaceCreateInfoEXT::default();
                    let made = self.machine.more.headless.create_headless_surface(&create, own);
                    self.check("vkCreateHeadlessSurfaceEXT", made).map(Handle::as_raw)
                }
                Create::Swapchain { surface, images, extent: [width, height], mode, old }
                    if self.machine.surfaces =>
                {
                    // The loader reads what a surface leads to.
                    self.objects
                        .get(surface)
                        .filter(|surface| surface.live && matches!(surface.what, Create::Surface {}))?;
                    let create = vk::SwapchainCreateInfoKHR::default()
                        .surface(self.handle(*surface))
                        .min_image_count(*images)
                        .image_format(vk::Format::B8G8R8A8_UNORM)
                        .image_color_space(vk::ColorSpaceKHR::SRGB_NONLINEAR)
                        .image_extent(vk::Extent2D { width: *width, height: *height })
                        .image_array_layers(1)
                        .image_usage(
                            vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_DST,
                        )
                        .pre_transform(vk::SurfaceTransformFlagsKHR::IDENTITY)
                        .composite_alpha(vk::CompositeAlphaFlagsKHR::OPAQUE)
                        .present_mode(*mode)
                        .clipped(true)
                        .old_swapchain(self.some(*old));
                    let made = self.machine.more.swapchain.create_swapchain(&create, own);
                    self.check("vkCreateSwapchainKHR", made).map(Handle::as_raw)
                }
                _ => None,
            }
        }
    }
}

/// Stages of push constants.
pub(super) const STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::from_raw(
    vk::ShaderStageFlags::VERTEX.as_raw()
        | vk::ShaderStageFlags::FRAGMENT.as_raw()
        | vk::ShaderStageFlags::COMPUTE.as_raw(),
);

/// A range as the API has it.
pub(super) fn subresources(range: &Range) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask: range.aspects,
        base_mip_level: range.level,
        level_count: range.levels,
        base_array_layer: range.layer,
        layer_count: range.layers,
    }
}
