//! Extensions: each is offered, hands its commands out where it is enabled, and does what it says.

mod support;

use std::ffi::{CStr, c_void};

use ash::vk;
use support::canvas::{Canvas, GREEN, Parts, RED, Setup, bind, build, bytes, spirv_module};
use support::resources::texture;
use support::{Image, Vk, quad};
use vulkan_vc4::entry::vk_icdGetInstanceProcAddr;

/// Device extensions and a command of each that has any.
const COMMANDS: &[(&CStr, &[&CStr])] = &[
    (c"VK_KHR_maintenance1", &[c"vkTrimCommandPoolKHR"]),
    (
        c"VK_KHR_get_memory_requirements2",
        &[
            c"vkGetBufferMemoryRequirements2KHR",
            c"vkGetImageMemoryRequirements2KHR",
            c"vkGetImageSparseMemoryRequirements2KHR",
        ],
    ),
    (c"VK_KHR_dedicated_allocation", &[]),
    (c"VK_KHR_bind_memory2", &[c"vkBindBufferMemory2KHR", c"vkBindImageMemory2KHR"]),
    (c"VK_KHR_storage_buffer_storage_class", &[]),
    (
        c"VK_KHR_descriptor_update_template",
        &[
            c"vkCreateDescriptorUpdateTemplateKHR",
            c"vkDestroyDescriptorUpdateTemplateKHR",
            c"vkUpdateDescriptorSetWithTemplateKHR",
        ],
    ),
    (c"VK_KHR_push_descriptor", &[c"vkCmdPushDescriptorSetKHR", c"vkCmdPushDescriptorSetWithTemplateKHR"]),
    (c"VK_KHR_image_format_list", &[]),
    (c"VK_KHR_incremental_present", &[]),
    (c"VK_KHR_swapchain_mutable_format", &[]),
    (c"VK_KHR_present_id", &[]),
    (c"VK_KHR_present_wait", &[c"vkWaitForPresentKHR"]),
    (
        c"VK_GOOGLE_display_timing",
        &[c"vkGetRefreshCycleDurationGOOGLE", c"vkGetPastPresentationTimingGOOGLE"],
    ),
    (c"VK_KHR_external_memory", &[]),
    (c"VK_KHR_external_memory_fd", &[c"vkGetMemoryFdKHR", c"vkGetMemoryFdPropertiesKHR"]),
    (c"VK_EXT_external_memory_dma_buf", &[]),
    (c"VK_EXT_memory_budget", &[]),
    (c"VK_KHR_vulkan_memory_model", &[]),
    (
        c"VK_KHR_device_group",
        &[c"vkGetDeviceGroupPeerMemoryFeaturesKHR", c"vkCmdSetDeviceMaskKHR", c"vkCmdDispatchBaseKHR"],
    ),
    (c"VK_KHR_shader_draw_parameters", &[]),
    (c"VK_KHR_multiview", &[]),
    (
        c"VK_KHR_synchronization2",
        &[
            c"vkQueueSubmit2KHR",
            c"vkCmdPipelineBarrier2KHR",
            c"vkCmdSetEvent2KHR",
            c"vkCmdResetEvent2KHR",
            c"vkCmdWaitEvents2KHR",
            c"vkCmdWriteTimestamp2KHR",
        ],
    ),
    (c"VK_EXT_queue_family_foreign", &[]),
    (c"VK_KHR_depth_stencil_resolve", &[]),
    (c"VK_KHR_spirv_1_4", &[]),
    (c"VK_EXT_4444_formats", &[]),
    (c"VK_KHR_vertex_attribute_divisor", &[]),
    (c"VK_EXT_vertex_attribute_divisor", &[]),
    (c"VK_EXT_non_seamless_cube_map", &[]),
    (c"VK_EXT_physical_device_drm", &[]),
    (c"VK_EXT_image_drm_format_modifier", &[c"vkGetImageDrmFormatModifierPropertiesEXT"]),
    (
        c"VK_KHR_maintenance4",
        &[
            c"vkGetDeviceBufferMemoryRequirementsKHR",
            c"vkGetDeviceImageMemoryRequirementsKHR",
            c"vkGetDeviceImageSparseMemoryRequirementsKHR",
        ],
    ),
    (c"VK_EXT_pipeline_creation_feedback", &[]),
    (c"VK_EXT_pipeline_creation_cache_control", &[]),
    (
        c"VK_EXT_private_data",
        &[
            c"vkCreatePrivateDataSlotEXT",
            c"vkDestroyPrivateDataSlotEXT",
            c"vkSetPrivateDataEXT",
            c"vkGetPrivateDataEXT",
        ],
    ),
    (
        c"VK_EXT_extended_dynamic_state",
        &[
            c"vkCmdSetCullModeEXT",
            c"vkCmdSetFrontFaceEXT",
            c"vkCmdSetPrimitiveTopologyEXT",
            c"vkCmdSetViewportWithCountEXT",
            c"vkCmdSetScissorWithCountEXT",
            c"vkCmdSetDepthTestEnableEXT",
            c"vkCmdSetDepthWriteEnableEXT",
            c"vkCmdSetDepthCompareOpEXT",
            c"vkCmdSetDepthBoundsTestEnableEXT",
            c"vkCmdSetStencilTestEnableEXT",
            c"vkCmdSetStencilOpEXT",
            c"vkCmdBindVertexBuffers2EXT",
        ],
    ),
    (
        c"VK_EXT_extended_dynamic_state2",
        &[
            c"vkCmdSetRasterizerDiscardEnableEXT",
            c"vkCmdSetDepthBiasEnableEXT",
            c"vkCmdSetPrimitiveRestartEnableEXT",
            c"vkCmdSetLogicOpEXT",
            c"vkCmdSetPatchControlPointsEXT",
        ],
    ),
    (c"VK_KHR_index_type_uint8", &[]),
    (c"VK_EXT_index_type_uint8", &[]),
    (c"VK_KHR_load_store_op_none", &[]),
    (c"VK_EXT_load_store_op_none", &[]),
    (c"VK_EXT_tooling_info", &[]),
    (c"VK_KHR_format_feature_flags2", &[]),
    (c"VK_KHR_shader_non_semantic_info", &[]),
    (c"VK_KHR_shader_terminate_invocation", &[]),
    (c"VK_KHR_zero_initialize_workgroup_memory", &[]),
    (c"VK_EXT_separate_stencil_usage", &[]),
    (c"VK_KHR_shader_subgroup_extended_types", &[]),
    (c"VK_KHR_shader_float_controls", &[]),
    (
        c"VK_KHR_copy_commands2",
        &[
            c"vkCmdCopyBuffer2KHR",
            c"vkCmdCopyImage2KHR",
            c"vkCmdCopyBufferToImage2KHR",
            c"vkCmdCopyImageToBuffer2KHR",
            c"vkCmdBlitImage2KHR",
            c"vkCmdResolveImage2KHR",
        ],
    ),
    (c"VK_KHR_dynamic_rendering", &[c"vkCmdBeginRenderingKHR", c"vkCmdEndRenderingKHR"]),
    (c"VK_KHR_draw_indirect_count", &[c"vkCmdDrawIndirectCountKHR", c"vkCmdDrawIndexedIndirectCountKHR"]),
    (c"VK_KHR_external_fence", &[]),
    (c"VK_KHR_external_fence_fd", &[c"vkImportFenceFdKHR", c"vkGetFenceFdKHR"]),
    (c"VK_KHR_external_semaphore", &[]),
    (c"VK_KHR_external_semaphore_fd", &[c"vkImportSemaphoreFdKHR", c"vkGetSemaphoreFdKHR"]),
];

#[test]
fn commands_are_there_only_where_their_extension_is_enabled() {
    let (none, all) = (Vk::new(), Vk::with(&COMMANDS.map_names()));
    for name in COMMANDS.iter().flat_map(|(_, commands)| commands.iter()) {
        // SAFETY: the device is live, the name terminated.
        let found = |vk: &Vk| unsafe { vk.instance.get_device_proc_addr(vk.device.handle(), name.as_ptr()) };
        assert!(found(&none).is_none(), "{name:?} without its extension");
        assert!(found(&all).is_some(), "{name:?} with its extension");
    }
}

trait Names {
    fn map_names(&self) -> Vec<&'static CStr>;
}

impl Names for &[(&'static CStr, &[&CStr])] {
    fn map_names(&self) -> Vec<&'static CStr> {
        self.iter().map(|(name, _)| *name).collect()
    }
}

/// A structure that no driver knows, in front of one that it should find.
fn unknown(next: *mut c_void) -> vk::BaseOutStructure<'static> {
    vk::BaseOutStructure {
        s_type: vk::StructureType::from_raw(0x7fff_0001),
        p_next: next.cast(),
        ..Default::default()
    }
}

#[test]
fn requirements_and_binding_answer_as_their_first_versions_do() {
    let vk = Vk::with(&[
        c"VK_KHR_get_memory_requirements2",
        c"VK_KHR_dedicated_allocation",
        c"VK_KHR_bind_memory2",
    ]);
    let requirements2 = ash::khr::get_memory_requirements2::Device::new(&vk.instance, &vk.device);
    let bind2 = ash::khr::bind_memory2::Device::new(&vk.instance, &vk.device);
    let usage = vk::BufferUsageFlags::TRANSFER_DST;
    // SAFETY: valid usage but for the last binding.
    unsafe {
        let info = vk::BufferCreateInfo::default().size(1000).usage(usage);
        let buffers =
            [vk.device.create_buffer(&info, None).unwrap(), vk.device.create_buffer(&info, None).unwrap()];
        let mut dedicated = vk::MemoryDedicatedRequirements {
            prefers_dedicated_allocation: 7,
            requires_dedicated_allocation: 7,
            ..Default::default()
        };
        let mut unknown = unknown((&raw mut dedicated).cast());
        let mut answer = vk::MemoryRequirements2 { p_next: (&raw mut unknown).cast(), ..Default::default() };
        let info = vk::BufferMemoryRequirementsInfo2::default().buffer(buffers[0]);
        requirements2.get_buffer_memory_requirements2(&info, &mut answer);
        let plain = vk.device.get_buffer_memory_requirements(buffers[0]);
        let both = |r: vk::MemoryRequirements| (r.size, r.alignment, r.memory_type_bits);
        assert_eq!(both(answer.memory_requirements), both(plain));
        assert_eq!((dedicated.prefers_dedicated_allocation, dedicated.requires_dedicated_allocation), (0, 0));

        let mut dedicated = vk::MemoryDedicatedAllocateInfo::default().buffer(buffers[0]);
        let info = vk::MemoryAllocateInfo::default().allocation_size(2048).push_next(&mut dedicated);
        let memory = vk.device.allocate_memory(&info, None).unwrap();
        let bind = |buffer, offset| {
            vk::BindBufferMemoryInfo::default().buffer(buffer).memory(memory).memory_offset(offset)
        };
        let bind_all = |infos: &[vk::BindBufferMemoryInfo<'_>]| {
            (bind2.fp().bind_buffer_memory2_khr)(vk.device.handle(), infos.len() as u32, infos.as_ptr())
                .result()
        };
        bind_all(&[bind(buffers[0], 0), bind(buffers[1], 1024)]).unwrap();
        assert!(bind_all(&[bind(buffers[0], 0)]).is_err());
        vk.run(|device, commands| {
            device.cmd_fill_buffer(commands, buffers[0], 0, 1000, 1);
            device.cmd_fill_buffer(commands, buffers[1], 0, 1000, 2);
        });
        let mapped = vk.device.map_memory(memory, 0, 2048, Default::default()).unwrap().cast::<u32>();
        assert_eq!((*mapped, *mapped.add(256)), (1, 2));
    }
}

/// What a process uses of the heap, and its budget.
fn usage_and_budget() -> (u64, u64) {
    let functions = ash::StaticFn { get_instance_proc_addr: vk_icdGetInstanceProcAddr };
    let names = [ash::khr::get_physical_device_properties2::NAME.as_ptr()];
    let info = vk::InstanceCreateInfo::default().enabled_extension_names(&names);
    // SAFETY: valid usage; the functions are the driver's own.
    unsafe {
        let entry = ash::Entry::from_static_fn(functions);
        let instance = entry.create_instance(&info, None).unwrap();
        let functions = ash::khr::get_physical_device_properties2::Instance::new(&entry, &instance);
        let physical = instance.enumerate_physical_devices().unwrap()[0];
        let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT {
            heap_usage: [7; vk::MAX_MEMORY_HEAPS],
            heap_budget: [7; vk::MAX_MEMORY_HEAPS],
            ..Default::default()
        };
        let mut unknown = unknown((&raw mut budget).cast());
        let mut answer =
            vk::PhysicalDeviceMemoryProperties2 { p_next: (&raw mut unknown).cast(), ..Default::default() };
        functions.get_physical_device_memory_properties2(physical, &mut answer);
        let heap = answer.memory_properties.memory_heaps[0].size;
        assert!(budget.heap_budget[0] <= heap && budget.heap_budget[0] > heap / 2, "of {heap}: {budget:?}");
        assert_eq!((budget.heap_usage[1], budget.heap_budget[1]), (0, 0), "there is one heap");
        instance.destroy_instance(None);
        (budget.heap_usage[0], budget.heap_budget[0])
    }
}

#[test]
fn the_budget_counts_what_the_process_has() {
    const BYTES: u64 = 64 << 20;
    // Tests beside this one allocate less than that.
    const OTHERS: u64 = 16 << 20;
    let vk = Vk::new();
    let (before, _) = usage_and_budget();
    let info = vk::MemoryAllocateInfo::default().allocation_size(BYTES);
    // SAFETY: valid usage.
    let memory = unsafe { vk.device.allocate_memory(&info, None) }.unwrap();
    let (with, budget) = usage_and_budget();
    // SAFETY: nothing uses it.
    unsafe { vk.device.free_memory(memory, None) };
    let (after, _) = usage_and_budget();
    assert!(with + OTHERS >= before + BYTES && after + BYTES <= with + OTHERS, "{before}, {with}, {after}");
    assert!(budget >= with, "{budget} with {with} in use");
}

#[test]
fn an_exhausted_pool_says_so_by_its_own_result() {
    let results = [&[][..], &[c"VK_KHR_maintenance1"]].map(|extensions| {
        let vk = Vk::with(extensions);
        let ty = vk::DescriptorType::UNIFORM_BUFFER;
        let sizes = [vk::DescriptorPoolSize { ty, descriptor_count: 1 }];
        let binding = [vk::DescriptorSetLayoutBinding::default().descriptor_type(ty).descriptor_count(1)];
        // SAFETY: valid usage.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&binding);
            let layouts = [vk.device.create_descriptor_set_layout(&info, None).unwrap(); 2];
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(2).pool_sizes(&sizes);
            let pool = vk.device.create_descriptor_pool(&info, None).unwrap();
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            vk.device.allocate_descriptor_sets(&info).unwrap_err()
        }
    });
    assert_eq!(results, [vk::Result::ERROR_OUT_OF_DEVICE_MEMORY, vk::Result::ERROR_OUT_OF_POOL_MEMORY]);
}

const EDGE: u32 = 64;
const TEXTURE: vk::DescriptorType = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
const UNIFORM: vk::DescriptorType = vk::DescriptorType::UNIFORM_BUFFER;

/// Textured quads with a matrix: set 0 holds the texture, set 1 the matrix.
struct Quad {
    canvas: Canvas,
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    set_layouts: [vk::DescriptorSetLayout; 2],
    vertices: support::Buffer,
    sampler: vk::Sampler,
}

impl Quad {
    fn new(vk: &Vk, flags: vk::DescriptorSetLayoutCreateFlags) -> Quad {
        let canvas = Canvas::new(vk, EDGE, false, vk::AttachmentLoadOp::CLEAR);
        let binding = |ty, stages| {
            [vk::DescriptorSetLayoutBinding::default()
                .descriptor_type(ty)
                .descriptor_count(1)
                .stage_flags(stages)]
        };
        let (texture, matrix) = (
            binding(TEXTURE, vk::ShaderStageFlags::FRAGMENT),
            binding(UNIFORM, vk::ShaderStageFlags::VERTEX),
        );
        // SAFETY: valid usage.
        unsafe {
            let set_layout = |bindings: &[vk::DescriptorSetLayoutBinding<'_>], flags| {
                let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(bindings).flags(flags);
                vk.device.create_descriptor_set_layout(&info, None).unwrap()
            };
            let set_layouts = [set_layout(&texture, flags), set_layout(&matrix, Default::default())];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
            let layout = vk.device.create_pipeline_layout(&info, None).unwrap();
            let module = |name: &[u8]| spirv_module(vk, name);
            let parts = Parts {
                vertex: module(include_bytes!("../../tests/shaders/mvp_uniform.vert.spv")),
                fragment: module(include_bytes!("../../tests/shaders/quad.frag.spv")),
                layout,
                bindings: vec![quad::BINDING],
                attributes: quad::ATTRIBUTES.to_vec(),
                constant: 0,
            };
            let pipeline = build(vk, &canvas, &Setup::default(), &parts).unwrap();
            let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
            let vertices =
                vk.buffer_with(&bytes(corners.iter().flat_map(|&(x, y)| [x, y, 0.0, 1.0, 0.5, 0.5])));
            let sampler = vk.device.create_sampler(&vk::SamplerCreateInfo::default(), None).unwrap();
            Quad { canvas, pipeline, layout, set_layouts, vertices, sampler }
        }
    }

    fn set(&self, vk: &Vk, number: usize) -> vk::DescriptorSet {
        let sizes = [TEXTURE, UNIFORM].map(|ty| vk::DescriptorPoolSize { ty, descriptor_count: 1 });
        let layouts = [self.set_layouts[number]];
        // SAFETY: valid usage.
        unsafe {
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = vk.device.create_descriptor_pool(&info, None).unwrap();
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            vk.device.allocate_descriptor_sets(&info).unwrap()[0]
        }
    }

    /// A set with a matrix that shrinks the quad to the left half.
    fn left_half(&self, vk: &Vk) -> vk::DescriptorSet {
        let set = self.set(vk, 1);
        let matrix =
            [[0.5, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [-0.5, 0.0, 0.0, 1.0]];
        let buffer = vk.buffer_with(&bytes(matrix.into_iter().flatten()));
        let info = [vk::DescriptorBufferInfo { buffer: buffer.handle, offset: 0, range: vk::WHOLE_SIZE }];
        let write =
            vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(UNIFORM).buffer_info(&info);
        // SAFETY: valid usage.
        unsafe { vk.device.update_descriptor_sets(&[write], &[]) };
        set
    }

    fn image(&self, image: &Image) -> vk::DescriptorImageInfo {
        let image_layout = vk::ImageLayout::GENERAL;
        vk::DescriptorImageInfo { sampler: self.sampler, image_view: image.view, image_layout }
    }

    /// Binds everything but set 0.
    fn bind(&self, device: &ash::Device, commands: vk::CommandBuffer, matrix: vk::DescriptorSet) {
        bind(device, commands, self.pipeline, &self.canvas);
        let graphics = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: valid usage.
        unsafe {
            device.cmd_bind_vertex_buffers(commands, 0, &[self.vertices.handle], &[0]);
            device.cmd_bind_descriptor_sets(commands, graphics, self.layout, 1, &[matrix], &[]);
        }
    }
}

/// The data of a template: something in front, so that offsets matter.
#[repr(C)]
struct Data {
    other: u64,
    image: vk::DescriptorImageInfo,
}

fn template_info<'a>(
    entries: &'a [vk::DescriptorUpdateTemplateEntry],
) -> vk::DescriptorUpdateTemplateCreateInfo<'a> {
    vk::DescriptorUpdateTemplateCreateInfo::default().descriptor_update_entries(entries)
}

unsafe fn create_template(
    vk: &Vk,
    templates: &ash::khr::descriptor_update_template::Device,
    info: &vk::DescriptorUpdateTemplateCreateInfo<'_>,
) -> vk::DescriptorUpdateTemplate {
    let mut template = vk::DescriptorUpdateTemplate::null();
    let create = templates.fp().create_descriptor_update_template_khr;
    // SAFETY: the caller passes valid structures.
    unsafe { create(vk.device.handle(), info, std::ptr::null(), &mut template) }.result().unwrap();
    template
}

const ENTRY: vk::DescriptorUpdateTemplateEntry = vk::DescriptorUpdateTemplateEntry {
    dst_binding: 0,
    dst_array_element: 0,
    descriptor_count: 1,
    descriptor_type: TEXTURE,
    offset: std::mem::offset_of!(Data, image),
    stride: 0,
};

#[test]
fn a_template_updates_a_set() {
    let vk = Vk::with(&[c"VK_KHR_descriptor_update_template"]);
    let templates = ash::khr::descriptor_update_template::Device::new(&vk.instance, &vk.device);
    let quad = Quad::new(&vk, Default::default());
    let (set, matrix, red) = (quad.set(&vk, 0), quad.left_half(&vk), texture(&vk, 4, |_, _| RED));
    let data = Data { other: u64::MAX, image: quad.image(&red) };
    // SAFETY: valid usage; the data are as the template says.
    unsafe {
        let entries = [ENTRY];
        let info = template_info(&entries).descriptor_set_layout(quad.set_layouts[0]);
        let (functions, device) = (templates.fp(), vk.device.handle());
        let template = create_template(&vk, &templates, &info);
        let data = (&raw const data).cast();
        (functions.update_descriptor_set_with_template_khr)(device, set, template, data);
        (functions.destroy_descriptor_update_template_khr)(device, template, std::ptr::null());
    }
    let picture = quad.canvas.draw(&vk, quad.canvas.whole(), |device, commands| {
        quad.bind(device, commands, matrix);
        let graphics = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: valid usage.
        unsafe {
            device.cmd_bind_descriptor_sets(commands, graphics, quad.layout, 0, &[set], &[]);
            device.cmd_draw(commands, 6, 1, 0, 0);
        }
    });
    assert_eq!(data.other, u64::MAX);
    picture.expect(|x, _| if x < EDGE / 2 { RED } else { support::canvas::GREY });
}

#[test]
fn pushed_descriptors_hold_for_the_draws_behind_them() {
    let vk = Vk::with(&[c"VK_KHR_push_descriptor", c"VK_KHR_descriptor_update_template"]);
    let push = ash::khr::push_descriptor::Device::new(&vk.instance, &vk.device);
    let templates = ash::khr::descriptor_update_template::Device::new(&vk.instance, &vk.device);
    let quad = Quad::new(&vk, vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR);
    let matrix = quad.left_half(&vk);
    let [red, green] = [RED, GREEN].map(|word| texture(&vk, 4, |_, _| word));
    let picture = quad.canvas.draw(&vk, quad.canvas.whole(), |device, commands| {
        quad.bind(device, commands, matrix);
        let graphics = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: valid usage; the data are as the template says.
        unsafe {
            let image = [quad.image(&red)];
            let write = vk::WriteDescriptorSet::default().descriptor_type(TEXTURE).image_info(&image);
            push.cmd_push_descriptor_set(commands, graphics, quad.layout, 0, &[write]);
            device.cmd_set_scissor(commands, 0, &[support::rect(0, 0, EDGE, EDGE / 2)]);
            device.cmd_draw(commands, 6, 1, 0, 0);
            let entries = [ENTRY];
            let info = template_info(&entries)
                .template_type(vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR)
                .pipeline_bind_point(graphics)
                .pipeline_layout(quad.layout)
                .set(0);
            let template = create_template(&vk, &templates, &info);
            let data = Data { other: 0, image: quad.image(&green) };
            push.cmd_push_descriptor_set_with_template(
                commands,
                template,
                quad.layout,
                0,
                (&raw const data).cast(),
            );
            let destroy = templates.fp().destroy_descriptor_update_template_khr;
            destroy(device.handle(), template, std::ptr::null());
            device.cmd_set_scissor(commands, 0, &[support::rect(0, EDGE as i32 / 2, EDGE, EDGE / 2)]);
            device.cmd_draw(commands, 6, 1, 0, 0);
        }
    });
    picture.expect(|x, y| match (x < EDGE / 2, y < EDGE / 2) {
        (false, _) => support::canvas::GREY,
        (true, true) => RED,
        (true, false) => GREEN,
    });
}

#[test]
fn a_negative_viewport_height_turns_the_picture_over() {
    let vk = Vk::with(&[c"VK_KHR_maintenance1"]);
    let canvas = Canvas::new(&vk, EDGE, false, vk::AttachmentLoadOp::CLEAR);
    // The rectangle is clockwise, which is a back face, until it is turned over.
    let setup = Setup { cull: vk::CullModeFlags::BACK, ..Default::default() };
    let pipeline = support::canvas::pipeline(&vk, &canvas, &setup);
    let mesh = support::canvas::Mesh::rect(&vk, EDGE, [0.0, 0.0, 32.0, 16.0], 0.5, RED);
    let picture = canvas.draw(&vk, canvas.whole(), |device, commands| {
        bind(device, commands, pipeline, &canvas);
        mesh.bind(device, commands);
        let edge = EDGE as f32;
        let viewport =
            vk::Viewport { y: edge, width: edge, height: -edge, max_depth: 1.0, ..Default::default() };
        // SAFETY: valid usage.
        unsafe {
            device.cmd_set_viewport(commands, 0, &[viewport]);
            device.cmd_draw(commands, mesh.count, 1, 0, 0);
        }
    });
    picture.expect(|x, y| if x < 32 && y >= EDGE - 16 { RED } else { support::canvas::GREY });
}

#[test]
fn formats_say_what_the_first_form_has_no_bits_for() {
    let vk = Vk::of_version(vk::API_VERSION_1_1, &[c"VK_KHR_format_feature_flags2"]);
    let features = |format| {
        let mut more = vk::FormatProperties3::default();
        let mut properties = vk::FormatProperties2::default().push_next(&mut more);
        // SAFETY: valid usage.
        let plain = unsafe {
            let physical = vk.instance.enumerate_physical_devices().unwrap()[0];
            vk.instance.get_physical_device_format_properties2(physical, format, &mut properties);
            vk.instance.get_physical_device_format_properties(physical, format)
        };
        let has = |all: vk::FormatFeatureFlags2, first: vk::FormatFeatureFlags| {
            assert_eq!(all.as_raw() & 0xffff_ffff & u64::from(first.as_raw()), u64::from(first.as_raw()));
        };
        has(more.linear_tiling_features, plain.linear_tiling_features);
        has(more.optimal_tiling_features, plain.optimal_tiling_features);
        has(more.buffer_features, plain.buffer_features);
        more.optimal_tiling_features
    };
    use vk::FormatFeatureFlags2 as Feature;
    let without_format = Feature::STORAGE_READ_WITHOUT_FORMAT | Feature::STORAGE_WRITE_WITHOUT_FORMAT;
    assert!(features(support::RGBA).contains(without_format));
    let depth = features(vk::Format::D16_UNORM);
    assert!(depth.contains(Feature::SAMPLED_IMAGE_DEPTH_COMPARISON) && !depth.intersects(without_format));
    assert!(!features(support::RGBA).contains(Feature::SAMPLED_IMAGE_DEPTH_COMPARISON));
    assert!(features(vk::Format::R64_SFLOAT).is_empty());
}

#[test]
fn no_tool_is_at_work() {
    let vk = Vk::new();
    let name = c"vkGetPhysicalDeviceToolPropertiesEXT";
    // SAFETY: valid usage; the command has the type that its name says.
    unsafe {
        let function = vk_icdGetInstanceProcAddr(vk.instance.handle(), name.as_ptr());
        let get: vk::PFN_vkGetPhysicalDeviceToolProperties = std::mem::transmute(function.unwrap());
        let physical = vk.instance.enumerate_physical_devices().unwrap()[0];
        let mut count = 7;
        let result = get(physical, &raw mut count, std::ptr::null_mut());
        assert_eq!((result, count), (vk::Result::SUCCESS, 0));
    }
}

/// An aspect that a pass does not touch stays, though the other one lies in the same words.
#[test]
fn what_is_neither_loaded_nor_stored_stays() {
    let vk = Vk::with(&[c"VK_EXT_load_store_op_none"]);
    let format = vk::Format::D24_UNORM_S8_UINT;
    let image = vk.image(format, EDGE, EDGE, vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT);
    let attachments = [vk::AttachmentDescription::default()
        .format(format)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(vk::AttachmentLoadOp::NONE_EXT)
        .store_op(vk::AttachmentStoreOp::NONE)
        .stencil_load_op(vk::AttachmentLoadOp::CLEAR)
        .stencil_store_op(vk::AttachmentStoreOp::STORE)
        .initial_layout(vk::ImageLayout::GENERAL)
        .final_layout(vk::ImageLayout::GENERAL)];
    let place = vk::AttachmentReference { attachment: 0, layout: vk::ImageLayout::GENERAL };
    let subpasses = [vk::SubpassDescription::default().depth_stencil_attachment(&place)];
    let info = vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpasses);
    let both = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
    let range = [vk::ImageSubresourceRange {
        aspect_mask: both,
        level_count: 1,
        layer_count: 1,
        ..Default::default()
    }];
    let words = vk.buffer((EDGE * EDGE * 4) as usize);
    let bytes = vk.buffer((EDGE * EDGE) as usize);
    // SAFETY: valid usage.
    unsafe {
        let pass = vk.device.create_render_pass(&info, None).unwrap();
        let views = [image.view];
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(pass)
            .attachments(&views)
            .width(EDGE)
            .height(EDGE)
            .layers(1);
        let framebuffer = vk.device.create_framebuffer(&info, None).unwrap();
        vk.run(|device, commands| {
            let general = vk::ImageLayout::GENERAL;
            let before = vk::ClearDepthStencilValue { depth: 0.25, stencil: 3 };
            device.cmd_clear_depth_stencil_image(commands, image.handle, general, &before, &range);
            let depth_stencil = vk::ClearDepthStencilValue { depth: 1.0, stencil: 77 };
            let clears = [vk::ClearValue { depth_stencil }];
            let begin = vk::RenderPassBeginInfo::default()
                .render_pass(pass)
                .framebuffer(framebuffer)
                .render_area(support::rect(0, 0, EDGE, EDGE))
                .clear_values(&clears);
            device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            device.cmd_end_render_pass(commands);
            for (aspect_mask, buffer) in
                [(vk::ImageAspectFlags::DEPTH, words), (vk::ImageAspectFlags::STENCIL, bytes)]
            {
                let region = vk::BufferImageCopy {
                    image_subresource: vk::ImageSubresourceLayers { aspect_mask, ..support::COLOR },
                    image_extent: support::extent(EDGE, EDGE),
                    ..Default::default()
                };
                let to = buffer.handle;
                device.cmd_copy_image_to_buffer(commands, image.handle, general, to, &[region]);
            }
        });
    }
    assert!(words.words().iter().all(|word| (word & 0xff_ffff).abs_diff(0x40_0000) <= 1));
    assert!(bytes.read().iter().all(|stencil| *stencil == 77));
}

#[test]
fn words_beside_objects_end_with_them() {
    use ash::vk::Handle;
    let vk = Vk::with(&[c"VK_EXT_private_data"]);
    let private = ash::ext::private_data::Device::new(&vk.instance, &vk.device);
    // SAFETY: valid usage.
    unsafe {
        let info = vk::PrivateDataSlotCreateInfo::default();
        let slot = || private.create_private_data_slot(&info, None).unwrap();
        let (first, second) = (slot(), slot());
        let event = || vk.device.create_event(&vk::EventCreateInfo::default(), None).unwrap();
        let (one, other) = (event(), event());
        private.set_private_data(one, first, 7).unwrap();
        private.set_private_data(one, second, 8).unwrap();
        private.set_private_data(other, first, 9).unwrap();
        private.set_private_data(one, second, 10).unwrap();
        // Those that the loader knows are objects like others.
        private.set_private_data(vk.device.handle(), first, 11).unwrap();
        private.set_private_data(vk.queue, first, 12).unwrap();
        let words = [
            private.get_private_data(one, first),
            private.get_private_data(one, second),
            private.get_private_data(other, first),
            private.get_private_data(other, second),
            private.get_private_data(vk.device.handle(), first),
            private.get_private_data(vk.queue, first),
        ];
        assert_eq!(words, [7, 10, 9, 0, 11, 12]);
        // A new slot, and a new object, have nothing, wherever they lie.
        private.destroy_private_data_slot(first, None);
        assert_eq!(private.get_private_data(one, slot()), 0);
        let place = one.as_raw();
        vk.device.destroy_event(one, None);
        let again = event();
        assert_eq!(private.get_private_data(again, second), 0, "{place:#x}, {:#x}", again.as_raw());
    }
}

#[test]
fn a_pipeline_says_how_long_it_took() {
    let vk = Vk::with(&[c"VK_EXT_pipeline_creation_feedback"]);
    let canvas = Canvas::new(&vk, EDGE, false, vk::AttachmentLoadOp::CLEAR);
    let module = spirv_module(&vk, include_bytes!("../../tests/shaders/pos_color.vert.spv"));
    let parts = Parts::new(&vk, module, module, &[support::canvas::POSITION, support::canvas::FLOAT_COLOR]);
    let stages = [vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::VERTEX)
        .module(module)
        .name(c"main")];
    let vertex = vk::PipelineVertexInputStateCreateInfo::default()
        .vertex_binding_descriptions(&parts.bindings)
        .vertex_attribute_descriptions(&parts.attributes);
    let assembly =
        vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let raster =
        vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0).rasterizer_discard_enable(true);
    let unset = vk::PipelineCreationFeedback {
        flags: vk::PipelineCreationFeedbackFlags::APPLICATION_PIPELINE_CACHE_HIT,
        duration: u64::MAX,
    };
    let (mut whole, mut of_stages) = (unset, [unset]);
    let mut feedback = vk::PipelineCreationFeedbackCreateInfo::default()
        .pipeline_creation_feedback(&mut whole)
        .pipeline_stage_creation_feedbacks(&mut of_stages);
    let info = vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&vertex)
        .input_assembly_state(&assembly)
        .rasterization_state(&raster)
        .layout(parts.layout)
        .render_pass(canvas.pass)
        .push_next(&mut feedback);
    // SAFETY: valid usage.
    unsafe { vk.device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) }.unwrap();
    assert_eq!(whole.flags, vk::PipelineCreationFeedbackFlags::VALID);
    // Less than a minute, and not nothing.
    assert!((1..60_000_000_000).contains(&whole.duration), "{}", whole.duration);
    assert!(of_stages[0].flags.is_empty());
}

#[test]
fn four_bits_with_alpha_first_are_sampled_and_blitted() {
    const WORD: u16 = 0xfa30;
    const SEEN: u32 = 0xff00_33aa;
    let vk = Vk::with(&[c"VK_KHR_push_descriptor", c"VK_EXT_4444_formats"]);
    let push = ash::khr::push_descriptor::Device::new(&vk.instance, &vk.device);
    let quad = Quad::new(&vk, vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR);
    let matrix = quad.left_half(&vk);
    let image = vk.image(vk::Format::A4R4G4B4_UNORM_PACK16, 4, 4, vk::ImageUsageFlags::SAMPLED);
    let blitted = vk.image(support::RGBA, 4, 4, vk::ImageUsageFlags::empty());
    let words = vk.buffer_with(&WORD.to_le_bytes().repeat(16));
    let whole = [vk::Offset3D::default(), vk::Offset3D { x: 4, y: 4, z: 1 }];
    // SAFETY: valid usage.
    vk.run(|device, commands| unsafe {
        let general = vk::ImageLayout::GENERAL;
        let region = vk::BufferImageCopy {
            image_subresource: support::COLOR,
            image_extent: support::extent(4, 4),
            ..Default::default()
        };
        device.cmd_copy_buffer_to_image(commands, words.handle, image.handle, general, &[region]);
        let blit = vk::ImageBlit {
            src_subresource: support::COLOR,
            src_offsets: whole,
            dst_subresource: support::COLOR,
            dst_offsets: whole,
        };
        let (from, to) = (image.handle, blitted.handle);
        device.cmd_blit_image(commands, from, general, to, general, &[blit], vk::Filter::NEAREST);
    });
    assert_eq!(vk.pixels(&blitted), [SEEN; 16]);
    let picture = quad.canvas.draw(&vk, quad.canvas.whole(), |device, commands| {
        quad.bind(device, commands, matrix);
        let image = [quad.image(&image)];
        let write = vk::WriteDescriptorSet::default().descriptor_type(TEXTURE).image_info(&image);
        let graphics = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: valid usage.
        unsafe {
            push.cmd_push_descriptor_set(commands, graphics, quad.layout, 0, &[write]);
            device.cmd_draw(commands, 6, 1, 0, 0);
        }
    });
    picture.expect(|x, _| if x < EDGE / 2 { SEEN } else { support::canvas::GREY });
}
