//! The driver through its own `vk_icdGetInstanceProcAddr`, as the loader calls it.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_void};
use std::sync::Mutex;

use ash::vk;
use vulkan_vc4::entry::vk_icdGetInstanceProcAddr;

/// An instance and a device of the simulator.
struct Fixture {
    _entry: ash::Entry,
    instance: ash::Instance,
    physical: vk::PhysicalDevice,
    device: ash::Device,
}

fn entry() -> ash::Entry {
    // The device must not depend on the machine that runs the tests. Set before any thread looks.
    static DEVICE: std::sync::Once = std::sync::Once::new();
    // SAFETY: every test comes here first, and nothing else in this process changes the environment.
    DEVICE.call_once(|| unsafe { std::env::set_var("VC4VK_DEVICE", "sim") });
    let functions = ash::StaticFn { get_instance_proc_addr: vk_icdGetInstanceProcAddr };
    // SAFETY: the function is the driver's own.
    unsafe { ash::Entry::from_static_fn(functions) }
}

fn create_device(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    features: &vk::PhysicalDeviceFeatures,
    extensions: &[&CStr],
) -> Result<ash::Device, vk::Result> {
    let priorities = [1.0];
    let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&priorities)];
    let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_features(features)
        .enabled_extension_names(&names);
    // SAFETY: the structures outlive the call.
    unsafe { instance.create_device(physical, &info, None) }
}

impl Fixture {
    fn new() -> Fixture {
        let entry = entry();
        // SAFETY: valid usage all through.
        unsafe {
            let instance = entry.create_instance(&vk::InstanceCreateInfo::default(), None).unwrap();
            let physical = instance.enumerate_physical_devices().unwrap()[0];
            let device = create_device(&instance, physical, &Default::default(), &[]).unwrap();
            Fixture { _entry: entry, instance, physical, device }
        }
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        // SAFETY: tests destroy their objects first.
        unsafe {
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

#[test]
fn creation_refuses_what_is_not_offered() {
    let entry = entry();
    // SAFETY: valid usage but for what is refused.
    unsafe {
        let create = |info: &vk::InstanceCreateInfo<'_>| entry.create_instance(info, None).map(|_| ());
        let names = [c"VK_KHR_nothing".as_ptr()];
        let info = vk::InstanceCreateInfo::default();
        assert_eq!(
            create(&info.enabled_extension_names(&names)),
            Err(vk::Result::ERROR_EXTENSION_NOT_PRESENT)
        );
        assert_eq!(create(&info.enabled_layer_names(&names)), Err(vk::Result::ERROR_LAYER_NOT_PRESENT));
        let fixture = Fixture::new();
        let features = vk::PhysicalDeviceFeatures { geometry_shader: vk::TRUE, ..Default::default() };
        let refused = create_device(&fixture.instance, fixture.physical, &features, &[]).map(|_| ());
        assert_eq!(refused, Err(vk::Result::ERROR_FEATURE_NOT_PRESENT));
        let refused =
            create_device(&fixture.instance, fixture.physical, &Default::default(), &[c"VK_KHR_nothing"]);
        assert_eq!(refused.map(|_| ()), Err(vk::Result::ERROR_EXTENSION_NOT_PRESENT));
    }
}

#[test]
fn the_device_tells_the_truth_about_itself() {
    let fixture = Fixture::new();
    // SAFETY: valid usage.
    unsafe {
        let properties = fixture.instance.get_physical_device_properties(fixture.physical);
        assert_eq!(properties.device_type, vk::PhysicalDeviceType::CPU);
        assert_eq!(properties.device_name_as_c_str().unwrap(), c"VideoCore IV (simulated)");
        assert_eq!(vk::api_version_minor(properties.api_version), 2);
        let memory = fixture.instance.get_physical_device_memory_properties(fixture.physical);
        let types = memory.memory_types_as_slice().iter().map(|ty| ty.property_flags);
        let visible = vk::MemoryPropertyFlags::DEVICE_LOCAL | vk::MemoryPropertyFlags::HOST_VISIBLE;
        let coherent = visible | vk::MemoryPropertyFlags::HOST_COHERENT;
        let cached = visible | vk::MemoryPropertyFlags::HOST_CACHED;
        assert!(types.eq([vk::MemoryPropertyFlags::DEVICE_LOCAL, coherent, coherent, coherent, cached]));
        assert_eq!(memory.memory_heap_count, 1);
        let families = fixture.instance.get_physical_device_queue_family_properties(fixture.physical);
        assert_eq!(families.len(), 1);
        // The CPU computes, unless the driver was built without.
        assert_eq!(families[0].queue_flags.contains(vk::QueueFlags::COMPUTE), cfg!(feature = "compute"));
        let queue = fixture.device.get_device_queue(0, 0);
        assert_ne!(queue, vk::Queue::null());
        assert_eq!(fixture.device.get_device_queue(0, 0), queue);
    }
}

/// Each mandatory bit of formats that the driver offers at all, whose absence would break common programs.
#[test]
fn formats_have_the_features_that_programs_count_on() {
    let fixture = Fixture::new();
    let optimal = |format| {
        // SAFETY: valid usage.
        unsafe { fixture.instance.get_physical_device_format_properties(fixture.physical, format) }
            .optimal_tiling_features
    };
    for format in [vk::Format::R8G8B8A8_UNORM, vk::Format::B8G8R8A8_UNORM] {
        assert!(optimal(format).contains(
            vk::FormatFeatureFlags::SAMPLED_IMAGE
                | vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR
                | vk::FormatFeatureFlags::COLOR_ATTACHMENT
                | vk::FormatFeatureFlags::COLOR_ATTACHMENT_BLEND
        ));
    }
    assert!(optimal(vk::Format::D16_UNORM).contains(vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT));
    assert!(optimal(vk::Format::ASTC_4X4_UNORM_BLOCK).is_empty());
}

#[test]
fn memory_is_shared_between_map_and_remap() {
    let fixture = Fixture::new();
    let device = &fixture.device;
    // SAFETY: valid usage.
    unsafe {
        let info = vk::MemoryAllocateInfo::default().allocation_size(100);
        let memory = device.allocate_memory(&info, None).unwrap();
        let first = device.map_memory(memory, 16, 4, Default::default()).unwrap().cast::<u32>();
        assert_eq!(*first, 0);
        *first = 7;
        device.unmap_memory(memory);
        let second = device.map_memory(memory, 0, vk::WHOLE_SIZE, Default::default()).unwrap().cast::<u32>();
        assert_eq!(*second.add(4), 7);
        device.free_memory(memory, None);
        let huge = vk::MemoryAllocateInfo::default().allocation_size(1 << 40);
        assert_eq!(device.allocate_memory(&huge, None), Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY));
    }
}

#[test]
fn broken_shaders_are_refused() {
    let fixture = Fixture::new();
    // SAFETY: valid usage but for what is refused.
    unsafe {
        let create = |words: &[u32]| {
            let info = vk::ShaderModuleCreateInfo::default().code(words);
            fixture.device.create_shader_module(&info, None)
        };
        assert_eq!(create(&[]), Err(vk::Result::ERROR_INVALID_SHADER_NV));
        assert_eq!(create(&[0xdead_beef; 8]), Err(vk::Result::ERROR_INVALID_SHADER_NV));
    }
}

#[test]
fn a_submission_signals_its_fence_and_semaphores_in_order() {
    let fixture = Fixture::new();
    let device = &fixture.device;
    // SAFETY: valid usage.
    unsafe {
        let queue = device.get_device_queue(0, 0);
        let fence = device.create_fence(&Default::default(), None).unwrap();
        let semaphore = device.create_semaphore(&Default::default(), None).unwrap();
        let semaphores = [semaphore];
        let stages = [vk::PipelineStageFlags::ALL_COMMANDS];
        let signal = vk::SubmitInfo::default().signal_semaphores(&semaphores);
        let wait = vk::SubmitInfo::default().wait_semaphores(&semaphores).wait_dst_stage_mask(&stages);
        assert_eq!(device.get_fence_status(fence), Ok(false));
        device.queue_submit(queue, &[signal, wait], fence).unwrap();
        device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
        device.reset_fences(&[fence]).unwrap();
        assert_eq!(device.wait_for_fences(&[fence], true, 0), Err(vk::Result::TIMEOUT));
        device.device_wait_idle().unwrap();
        device.destroy_semaphore(semaphore, None);
        device.destroy_fence(fence, None);
    }
}

#[test]
fn empty_command_buffers_and_events_work() {
    let fixture = Fixture::new();
    let device = &fixture.device;
    // SAFETY: valid usage.
    unsafe {
        let pool = device.create_command_pool(&Default::default(), None).unwrap();
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(3);
        let commands = device.allocate_command_buffers(&info).unwrap();
        device.begin_command_buffer(commands[0], &Default::default()).unwrap();
        device.end_command_buffer(commands[0]).unwrap();
        let batch = vk::SubmitInfo::default().command_buffers(&commands[..1]);
        device.queue_submit(device.get_device_queue(0, 0), &[batch], vk::Fence::null()).unwrap();
        device.device_wait_idle().unwrap();
        device.free_command_buffers(pool, &commands[..1]);
        device.destroy_command_pool(pool, None);
        let event = device.create_event(&Default::default(), None).unwrap();
        assert_eq!(device.get_event_status(event), Ok(false));
        device.set_event(event).unwrap();
        assert_eq!(device.get_event_status(event), Ok(true));
        device.destroy_event(event, None);
    }
}

/// A dispatch without a pipeline, or by a driver without compute, fails the recording, not the process.
#[test]
fn a_command_that_cannot_be_fails_the_recording() {
    let fixture = Fixture::new();
    let device = &fixture.device;
    // SAFETY: valid usage but for what is refused.
    unsafe {
        let pool = device.create_command_pool(&Default::default(), None).unwrap();
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let commands = device.allocate_command_buffers(&info).unwrap();
        device.begin_command_buffer(commands[0], &Default::default()).unwrap();
        device.cmd_dispatch(commands[0], 1, 1, 1);
        let expected = match cfg!(feature = "compute") {
            true => vk::Result::ERROR_VALIDATION_FAILED_EXT,
            false => vk::Result::ERROR_FEATURE_NOT_PRESENT,
        };
        assert_eq!(device.end_command_buffer(commands[0]), Err(expected));
        device.destroy_command_pool(pool, None);
    }
}

#[test]
fn descriptor_sets_come_from_their_pool() {
    let fixture = Fixture::new();
    let device = &fixture.device;
    let ty = vk::DescriptorType::UNIFORM_BUFFER;
    // SAFETY: valid usage.
    unsafe {
        let binding =
            vk::DescriptorSetLayoutBinding::default().binding(1).descriptor_type(ty).descriptor_count(1);
        let bindings = [binding.stage_flags(vk::ShaderStageFlags::VERTEX)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let layout = device.create_descriptor_set_layout(&info, None).unwrap();
        let sizes = [vk::DescriptorPoolSize { ty, descriptor_count: 2 }];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(2).pool_sizes(&sizes);
        let pool = device.create_descriptor_pool(&info, None).unwrap();
        let layouts = [layout; 3];
        let allocate = |count: usize| {
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool);
            device.allocate_descriptor_sets(&info.set_layouts(&layouts[..count]))
        };
        // All or nothing: the failure leaves room for two.
        assert_eq!(allocate(3), Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY));
        let sets = allocate(2).unwrap();
        assert_ne!(sets[0], sets[1]);
        let buffer = device.create_buffer(&vk::BufferCreateInfo::default().size(64), None).unwrap();
        let range = [vk::DescriptorBufferInfo { buffer, offset: 0, range: vk::WHOLE_SIZE }];
        let write = vk::WriteDescriptorSet::default().dst_set(sets[0]).dst_binding(1).descriptor_type(ty);
        let copy =
            vk::CopyDescriptorSet::default().src_set(sets[0]).src_binding(1).dst_set(sets[1]).dst_binding(1);
        device.update_descriptor_sets(&[write.buffer_info(&range)], &[copy.descriptor_count(1)]);
        device.reset_descriptor_pool(pool, Default::default()).unwrap();
        allocate(2).unwrap();
        device.destroy_descriptor_pool(pool, None);
        device.destroy_descriptor_set_layout(layout, None);
        device.destroy_buffer(buffer, None);
    }
}

/// Memory handed out by the callbacks below, by address.
#[derive(Default)]
struct Host {
    live: Mutex<BTreeMap<usize, std::alloc::Layout>>,
    /// Allocations until one is refused.
    left: std::sync::atomic::AtomicIsize,
}

unsafe extern "system" fn allocate(
    host: *mut c_void,
    size: usize,
    align: usize,
    _: vk::SystemAllocationScope,
) -> *mut c_void {
    // SAFETY: the user data is a `Host`; the layout is not empty.
    unsafe {
        let host = &*host.cast::<Host>();
        if host.left.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) <= 0 {
            return std::ptr::null_mut();
        }
        let layout = std::alloc::Layout::from_size_align(size, align).unwrap();
        let memory = std::alloc::alloc(layout);
        host.live.lock().unwrap().insert(memory as usize, layout);
        memory.cast()
    }
}

unsafe extern "system" fn free(host: *mut c_void, memory: *mut c_void) {
    if memory.is_null() {
        return;
    }
    // SAFETY: the user data is a `Host` that handed the memory out.
    unsafe {
        let layout =
            (*host.cast::<Host>()).live.lock().unwrap().remove(&(memory as usize)).expect("known memory");
        std::alloc::dealloc(memory.cast(), layout);
    }
}

impl Host {
    fn callbacks(&self) -> vk::AllocationCallbacks<'_> {
        vk::AllocationCallbacks {
            p_user_data: std::ptr::from_ref(self).cast_mut().cast(),
            pfn_allocation: Some(allocate),
            pfn_free: Some(free),
            ..Default::default()
        }
    }
}

/// Makes one object after the other until one is refused, and ends them.
fn life(entry: &ash::Entry, callbacks: &vk::AllocationCallbacks<'_>) -> Result<(), vk::Result> {
    let callbacks = Some(callbacks);
    // SAFETY: valid usage.
    unsafe {
        let instance = entry.create_instance(&vk::InstanceCreateInfo::default(), callbacks)?;
        let result = (|| {
            let physical = instance.enumerate_physical_devices()?[0];
            let priorities = [1.0];
            let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
            let device = instance.create_device(physical, &info, callbacks)?;
            let result = (|| {
                let fence = device.create_fence(&Default::default(), callbacks)?;
                let pool = device.create_command_pool(&Default::default(), callbacks);
                let result = pool.and_then(|pool| {
                    let info =
                        vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(2);
                    let made = device.allocate_command_buffers(&info).map(|_| ());
                    device.destroy_command_pool(pool, callbacks);
                    made
                });
                device.destroy_fence(fence, callbacks);
                result
            })();
            device.destroy_device(callbacks);
            result
        })();
        instance.destroy_instance(callbacks);
        result
    }
}

#[test]
fn host_memory_comes_from_the_callbacks_and_its_end_is_reported() {
    let entry = entry();
    let mut refusals = 0;
    for count in 0.. {
        let host = Host { left: count.into(), ..Default::default() };
        let result = life(&entry, &host.callbacks());
        assert!(host.live.lock().unwrap().is_empty(), "memory is left after {count} allocations");
        match result {
            Ok(()) => break,
            Err(error) => assert_eq!(error, vk::Result::ERROR_OUT_OF_HOST_MEMORY),
        }
        refusals += 1;
    }
    // Instance, physical device, queue, device, fence, pool and two command buffers.
    assert_eq!(refusals, 8);
}

/// The least that a picture needs: memory, image, view, pass, framebuffer; and a texture beside it.
#[test]
fn a_target_and_a_texture_are_built_and_ended() {
    let fixture = Fixture::new();
    let device = &fixture.device;
    let format = vk::Format::B8G8R8A8_UNORM;
    // SAFETY: valid usage but for what is refused.
    unsafe {
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::SAMPLED;
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(vk::Extent3D { width: 100, height: 60, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(usage);
        let image = device.create_image(&info, None).unwrap();
        let sparse = info.flags(vk::ImageCreateFlags::SPARSE_BINDING);
        assert_eq!(device.create_image(&sparse, None), Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED));
        let needs = device.get_image_memory_requirements(image);
        let memory = vk::MemoryAllocateInfo::default().allocation_size(needs.size);
        let memory = device.allocate_memory(&memory, None).unwrap();
        device.bind_image_memory(image, memory, 0).unwrap();
        let range = vk::ImageSubresourceRange::default()
            .aspect_mask(vk::ImageAspectFlags::COLOR)
            .level_count(vk::REMAINING_MIP_LEVELS)
            .layer_count(vk::REMAINING_ARRAY_LAYERS);
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(range);
        let view = device.create_image_view(&info, None).unwrap();
        let attachment =
            [vk::AttachmentDescription::default().format(format).samples(vk::SampleCountFlags::TYPE_1)];
        let color = [vk::AttachmentReference::default()];
        let subpass = [vk::SubpassDescription::default().color_attachments(&color)];
        let info = vk::RenderPassCreateInfo::default().attachments(&attachment).subpasses(&subpass);
        let pass = device.create_render_pass(&info, None).unwrap();
        assert_eq!(device.get_render_area_granularity(pass).width, 64);
        let views = [view];
        let info = vk::FramebufferCreateInfo::default().render_pass(pass).attachments(&views).layers(1);
        let framebuffer = |width| device.create_framebuffer(&info.width(width).height(60), None);
        assert!(framebuffer(101).is_err());
        let framebuffer = framebuffer(100).unwrap();
        let sampler = device.create_sampler(&Default::default(), None).unwrap();
        // Layouts, modules and render passes may die before their users, the image's memory after it.
        device.destroy_render_pass(pass, None);
        device.destroy_sampler(sampler, None);
        device.destroy_framebuffer(framebuffer, None);
        device.destroy_image_view(view, None);
        device.destroy_image(image, None);
        device.free_memory(memory, None);
    }
}

/// The queries of VK_KHR_get_physical_device_properties2 give the answers of 1.0.
#[test]
fn extended_queries_agree_with_the_plain_ones() {
    let entry = entry();
    let names = [ash::khr::get_physical_device_properties2::NAME.as_ptr()];
    let info = vk::InstanceCreateInfo::default().enabled_extension_names(&names);
    // SAFETY: valid usage.
    unsafe {
        let instance = entry.create_instance(&info, None).unwrap();
        let physical = instance.enumerate_physical_devices().unwrap()[0];
        let extended = ash::khr::get_physical_device_properties2::Instance::new(&entry, &instance);
        let mut properties = vk::PhysicalDeviceProperties2::default();
        extended.get_physical_device_properties2(physical, &mut properties);
        let plain = instance.get_physical_device_properties(physical);
        assert_eq!(properties.properties.limits.max_image_dimension2_d, plain.limits.max_image_dimension2_d);
        let mut families = [vk::QueueFamilyProperties2::default()];
        extended.get_physical_device_queue_family_properties2(physical, &mut families);
        assert_eq!(families[0].queue_family_properties.queue_count, 1);
        let query = vk::PhysicalDeviceImageFormatInfo2::default()
            .format(vk::Format::R8G8B8_UNORM)
            .ty(vk::ImageType::TYPE_2D)
            .usage(vk::ImageUsageFlags::SAMPLED);
        let mut answer = vk::ImageFormatProperties2::default();
        let answer = extended.get_physical_device_image_format_properties2(physical, &query, &mut answer);
        assert_eq!(answer, Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED));
        instance.destroy_instance(None);
    }
}
