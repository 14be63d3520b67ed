//! The application's allocator refuses each of its calls in turn: every creation answers
//! VK_ERROR_OUT_OF_HOST_MEMORY and leaves nothing behind.

mod support;

use std::alloc::Layout;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::Mutex;

use ash::vk;
use support::canvas::spirv_module;
use support::{Vk, extent, quad};

/// Memory that is out, by address, and how many calls may still succeed.
#[derive(Default)]
struct Allocator {
    live: Mutex<HashMap<usize, Layout>>,
    left: Mutex<usize>,
}

unsafe extern "system" fn allocate(
    data: *mut c_void,
    size: usize,
    align: usize,
    _: vk::SystemAllocationScope,
) -> *mut c_void {
    // SAFETY: the callbacks below say so.
    let allocator = unsafe { &*data.cast::<Allocator>() };
    let mut left = allocator.left.lock().unwrap();
    let Some(rest) = left.checked_sub(1) else { return std::ptr::null_mut() };
    *left = rest;
    let layout = Layout::from_size_align(size, align).expect("a power of two");
    // SAFETY: objects are larger than nothing.
    let memory = unsafe { std::alloc::alloc(layout) };
    allocator.live.lock().unwrap().insert(memory as usize, layout);
    memory.cast()
}

unsafe extern "system" fn reallocate(
    _: *mut c_void,
    _: *mut c_void,
    _: usize,
    _: usize,
    _: vk::SystemAllocationScope,
) -> *mut c_void {
    std::ptr::null_mut()
}

unsafe extern "system" fn free(data: *mut c_void, memory: *mut c_void) {
    if memory.is_null() {
        return;
    }
    // SAFETY: the callbacks below say so.
    let allocator = unsafe { &*data.cast::<Allocator>() };
    let layout = allocator.live.lock().unwrap().remove(&(memory as usize)).expect("memory that is out");
    // SAFETY: the memory came from `allocate` with this layout.
    unsafe { std::alloc::dealloc(memory.cast(), layout) }
}

impl Allocator {
    fn callbacks(&self) -> vk::AllocationCallbacks<'_> {
        vk::AllocationCallbacks {
            p_user_data: std::ptr::from_ref(self).cast_mut().cast(),
            pfn_allocation: Some(allocate),
            pfn_reallocation: Some(reallocate),
            pfn_free: Some(free),
            ..Default::default()
        }
    }

    fn live(&self) -> usize {
        self.live.lock().unwrap().len()
    }
}

/// Creates with ever fewer refusals, until it works; then destroys.
fn check<T>(
    what: &str,
    create: impl Fn(&vk::AllocationCallbacks<'_>) -> Result<T, vk::Result>,
    destroy: impl FnOnce(T, &vk::AllocationCallbacks<'_>),
) {
    let allocator = Allocator::default();
    let callbacks = allocator.callbacks();
    for allowed in 0..100 {
        *allocator.left.lock().unwrap() = allowed;
        match create(&callbacks) {
            Ok(made) => {
                assert!(allowed > 0, "{what} takes no memory of the application");
                assert!(allocator.live() > 0, "{what}");
                destroy(made, &callbacks);
                assert_eq!(allocator.live(), 0, "{what} was destroyed");
                return;
            }
            Err(error) => {
                assert_eq!(error, vk::Result::ERROR_OUT_OF_HOST_MEMORY, "{what}, {allowed} calls allowed");
                assert_eq!(allocator.live(), 0, "{what} failed after {allowed} calls");
            }
        }
    }
    panic!("{what} never works");
}

macro_rules! simple {
    ($vk:expr, $create:ident, $destroy:ident, $info:expr) => {
        check(
            stringify!($create),
            // SAFETY: valid usage.
            |callbacks| unsafe { $vk.device.$create(&$info, Some(callbacks)) },
            // SAFETY: nobody uses it.
            |made, callbacks| unsafe { $vk.device.$destroy(made, Some(callbacks)) },
        )
    };
}

#[allow(unused_unsafe, reason = "the macro stands inside and outside of unsafe blocks")]
#[test]
fn objects_without_others() {
    let vk = Vk::with(&[c"VK_KHR_descriptor_update_template"]);
    simple!(vk, allocate_memory, free_memory, vk::MemoryAllocateInfo::default().allocation_size(4096));
    let usage = vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER;
    simple!(vk, create_buffer, destroy_buffer, vk::BufferCreateInfo::default().size(64).usage(usage));
    let image = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(support::RGBA)
        .extent(extent(8, 8))
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::SAMPLED);
    simple!(vk, create_image, destroy_image, image);
    simple!(vk, create_sampler, destroy_sampler, vk::SamplerCreateInfo::default());
    simple!(vk, create_fence, destroy_fence, vk::FenceCreateInfo::default());
    simple!(vk, create_semaphore, destroy_semaphore, vk::SemaphoreCreateInfo::default());
    simple!(vk, create_event, destroy_event, vk::EventCreateInfo::default());
    let queries = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(4);
    simple!(vk, create_query_pool, destroy_query_pool, queries);
    simple!(vk, create_pipeline_cache, destroy_pipeline_cache, vk::PipelineCacheCreateInfo::default());
    simple!(vk, create_pipeline_layout, destroy_pipeline_layout, vk::PipelineLayoutCreateInfo::default());
    let layout = vk::DescriptorSetLayoutCreateInfo::default();
    simple!(vk, create_descriptor_set_layout, destroy_descriptor_set_layout, layout);
    let pool = vk::DescriptorPoolCreateInfo::default().max_sets(1);
    simple!(vk, create_descriptor_pool, destroy_descriptor_pool, pool);
    simple!(vk, create_command_pool, destroy_command_pool, vk::CommandPoolCreateInfo::default());
    let subpasses = [vk::SubpassDescription::default()];
    let pass = vk::RenderPassCreateInfo::default().subpasses(&subpasses);
    simple!(vk, create_render_pass, destroy_render_pass, pass);
    let words: Vec<u32> = include_bytes!("../../tests/shaders/quad.frag.spv")
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect();
    simple!(
        vk,
        create_shader_module,
        destroy_shader_module,
        vk::ShaderModuleCreateInfo::default().code(&words)
    );
    // SAFETY: valid usage.
    unsafe {
        let pass = vk.device.create_render_pass(&pass, None).unwrap();
        let info = vk::FramebufferCreateInfo::default().render_pass(pass).width(8).height(8).layers(1);
        simple!(vk, create_framebuffer, destroy_framebuffer, info);
        let image = vk.image(support::RGBA, 8, 8, vk::ImageUsageFlags::SAMPLED);
        let subresource_range = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            level_count: 1,
            layer_count: 1,
            ..Default::default()
        };
        let info = vk::ImageViewCreateInfo::default()
            .image(image.handle)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(support::RGBA)
            .subresource_range(subresource_range);
        simple!(vk, create_image_view, destroy_image_view, info);
        let buffer = vk.device.create_buffer(&vk::BufferCreateInfo::default().size(64).usage(usage), None);
        let info = vk::BufferViewCreateInfo::default()
            .buffer(buffer.unwrap())
            .format(vk::Format::R32_UINT)
            .range(vk::WHOLE_SIZE);
        simple!(vk, create_buffer_view, destroy_buffer_view, info);
        let set_layout = vk.device.create_descriptor_set_layout(&layout, None).unwrap();
        let templates = ash::khr::descriptor_update_template::Device::new(&vk.instance, &vk.device);
        let info = vk::DescriptorUpdateTemplateCreateInfo::default().descriptor_set_layout(set_layout);
        check(
            "create_descriptor_update_template",
            |callbacks| {
                let mut made = vk::DescriptorUpdateTemplate::null();
                let create = templates.fp().create_descriptor_update_template_khr;
                create(vk.device.handle(), &info, callbacks, &mut made).result().map(|()| made)
            },
            |made, callbacks| {
                let destroy = templates.fp().destroy_descriptor_update_template_khr;
                destroy(vk.device.handle(), made, callbacks);
            },
        );
    }
}

#[test]
fn objects_of_pools() {
    let vk = Vk::new();
    // SAFETY: valid usage.
    unsafe {
        check(
            "allocate_command_buffers",
            |callbacks| {
                let info = vk::CommandPoolCreateInfo::default();
                let pool = vk.device.create_command_pool(&info, Some(callbacks))?;
                let info =
                    vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(5);
                let made = vk.device.allocate_command_buffers(&info);
                made.map(|_| pool).inspect_err(|_| vk.device.destroy_command_pool(pool, Some(callbacks)))
            },
            |pool, callbacks| vk.device.destroy_command_pool(pool, Some(callbacks)),
        );
        let layout = vk::DescriptorSetLayoutCreateInfo::default();
        let layouts = [vk.device.create_descriptor_set_layout(&layout, None).unwrap(); 5];
        check(
            "allocate_descriptor_sets",
            |callbacks| {
                let info = vk::DescriptorPoolCreateInfo::default().max_sets(5);
                let pool = vk.device.create_descriptor_pool(&info, Some(callbacks))?;
                let info =
                    vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
                let made = vk.device.allocate_descriptor_sets(&info);
                made.map(|_| pool).inspect_err(|_| vk.device.destroy_descriptor_pool(pool, Some(callbacks)))
            },
            |pool, callbacks| vk.device.destroy_descriptor_pool(pool, Some(callbacks)),
        );
    }
}

#[test]
fn pipelines() {
    let vk = Vk::new();
    let (vertex, fragment) = (
        spirv_module(&vk, include_bytes!("../../tests/shaders/mvp_push.vert.spv")),
        spirv_module(&vk, include_bytes!("../../tests/shaders/quad.frag.spv")),
    );
    // SAFETY: valid usage.
    unsafe {
        let attachments = [vk::AttachmentDescription {
            format: support::RGBA,
            samples: vk::SampleCountFlags::TYPE_1,
            final_layout: vk::ImageLayout::GENERAL,
            ..Default::default()
        }];
        let colors = [vk::AttachmentReference { attachment: 0, layout: vk::ImageLayout::GENERAL }];
        let subpasses = [vk::SubpassDescription::default().color_attachments(&colors)];
        let info = vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpasses);
        let pass = vk.device.create_render_pass(&info, None).unwrap();
        let binding = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::FRAGMENT)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&binding);
        let sets = [vk.device.create_descriptor_set_layout(&info, None).unwrap()];
        let ranges =
            [vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::VERTEX, offset: 0, size: 64 }];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(&ranges);
        let layout = vk.device.create_pipeline_layout(&info, None).unwrap();
        quad::pipeline([vertex, fragment], layout, pass, 8, |info| {
            // Three at once: those that were made before the failure must be found in the answer.
            check(
                "create_graphics_pipelines",
                |callbacks| {
                    let infos = [info; 3];
                    let made = vk.device.create_graphics_pipelines(
                        vk::PipelineCache::null(),
                        &infos,
                        Some(callbacks),
                    );
                    made.map_err(|(made, error)| {
                        made.into_iter()
                            .for_each(|pipeline| vk.device.destroy_pipeline(pipeline, Some(callbacks)));
                        error
                    })
                },
                |made, callbacks| {
                    made.into_iter()
                        .for_each(|pipeline| vk.device.destroy_pipeline(pipeline, Some(callbacks)));
                },
            );
        });
    }
}

#[test]
fn instances_and_devices() {
    let vk = Vk::new();
    let functions = ash::StaticFn { get_instance_proc_addr: vulkan_vc4::entry::vk_icdGetInstanceProcAddr };
    let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
    // SAFETY: valid usage; the functions are the driver's own.
    unsafe {
        let entry = ash::Entry::from_static_fn(functions);
        let names = [c"VK_KHR_surface".as_ptr(), c"VK_EXT_headless_surface".as_ptr()];
        let info = vk::InstanceCreateInfo::default().enabled_extension_names(&names);
        check(
            "create_instance",
            |callbacks| entry.create_instance(&info, Some(callbacks)),
            |instance, callbacks| instance.destroy_instance(Some(callbacks)),
        );
        let physical = vk.instance.enumerate_physical_devices().unwrap()[0];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        check(
            "create_device",
            |callbacks| vk.instance.create_device(physical, &info, Some(callbacks)),
            |device, callbacks| device.destroy_device(Some(callbacks)),
        );
        let instance_info = vk::InstanceCreateInfo::default().enabled_extension_names(&names);
        let instance = entry.create_instance(&instance_info, None).unwrap();
        let headless = ash::ext::headless_surface::Instance::new(&entry, &instance);
        let surfaces = ash::khr::surface::Instance::new(&entry, &instance);
        let info = vk::HeadlessSurfaceCreateInfoEXT::default();
        check(
            "create_headless_surface",
            |callbacks| headless.create_headless_surface(&info, Some(callbacks)),
            |surface, callbacks| surfaces.destroy_surface(surface, Some(callbacks)),
        );
    }
}
