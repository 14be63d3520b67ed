//! Vulkan 1.1 and 1.2: what they require is there without extensions for an application that asks for it, and one that asks for 1.0
//! finds what it found before.

mod support;

use std::ffi::CStr;

use ash::vk;
use support::Vk;
use support::canvas::spirv_module;
use vulkan_vc4::entry::vk_icdGetInstanceProcAddr;

/// Commands of devices that 1.1 took over from extensions or made.
const DEVICE_COMMANDS: [&CStr; 16] = [
    c"vkBindBufferMemory2",
    c"vkBindImageMemory2",
    c"vkGetDeviceGroupPeerMemoryFeatures",
    c"vkCmdSetDeviceMask",
    c"vkCmdDispatchBase",
    c"vkGetImageMemoryRequirements2",
    c"vkGetBufferMemoryRequirements2",
    c"vkGetImageSparseMemoryRequirements2",
    c"vkTrimCommandPool",
    c"vkGetDeviceQueue2",
    c"vkCreateSamplerYcbcrConversion",
    c"vkDestroySamplerYcbcrConversion",
    c"vkCreateDescriptorUpdateTemplate",
    c"vkDestroyDescriptorUpdateTemplate",
    c"vkUpdateDescriptorSetWithTemplate",
    c"vkGetDescriptorSetLayoutSupport",
];

/// The same of 1.2.
const DEVICE_COMMANDS_OF_1_2: [&CStr; 13] = [
    c"vkCmdDrawIndirectCount",
    c"vkCmdDrawIndexedIndirectCount",
    c"vkCreateRenderPass2",
    c"vkCmdBeginRenderPass2",
    c"vkCmdNextSubpass2",
    c"vkCmdEndRenderPass2",
    c"vkResetQueryPool",
    c"vkGetSemaphoreCounterValue",
    c"vkWaitSemaphores",
    c"vkSignalSemaphore",
    c"vkGetBufferDeviceAddress",
    c"vkGetBufferOpaqueCaptureAddress",
    c"vkGetDeviceMemoryOpaqueCaptureAddress",
];

/// Device extensions that are part of 1.1; an application of 1.0 may go on enabling them.
const PROMOTED: [&CStr; 17] = [
    c"VK_KHR_bind_memory2",
    c"VK_KHR_dedicated_allocation",
    c"VK_KHR_descriptor_update_template",
    c"VK_KHR_device_group",
    c"VK_KHR_external_fence",
    c"VK_KHR_external_memory",
    c"VK_KHR_external_semaphore",
    c"VK_KHR_get_memory_requirements2",
    c"VK_KHR_maintenance1",
    c"VK_KHR_maintenance2",
    c"VK_KHR_maintenance3",
    c"VK_KHR_multiview",
    c"VK_KHR_relaxed_block_layout",
    c"VK_KHR_shader_draw_parameters",
    c"VK_KHR_storage_buffer_storage_class",
    // Of 1.2, but commands beside those of 1.1.
    c"VK_KHR_create_renderpass2",
    c"VK_KHR_timeline_semaphore",
];

fn entry() -> ash::Entry {
    // SAFETY: the driver's own functions.
    unsafe { ash::Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr: vk_icdGetInstanceProcAddr }) }
}

fn physical(vk: &Vk) -> vk::PhysicalDevice {
    // SAFETY: valid usage.
    unsafe { vk.instance.enumerate_physical_devices() }.unwrap()[0]
}

fn has(vk: &Vk, name: &CStr) -> bool {
    // SAFETY: the device is live, the name terminated.
    unsafe { vk.instance.get_device_proc_addr(vk.device.handle(), name.as_ptr()) }.is_some()
}

#[test]
fn the_version_is_claimed_whatever_is_asked_for() {
    // SAFETY: nothing is passed.
    let version = unsafe { entry().try_enumerate_instance_version() }.unwrap().unwrap();
    assert_eq!((vk::api_version_major(version), vk::api_version_minor(version)), (1, 2));
    for asked in [0, vk::API_VERSION_1_0, vk::API_VERSION_1_1, vk::make_api_version(0, 1, 3, 9)] {
        let vk = Vk::of_version(asked, &[]);
        // SAFETY: valid usage.
        let properties = unsafe { vk.instance.get_physical_device_properties(physical(&vk)) };
        assert_eq!(properties.api_version, version);
    }
}

#[test]
fn commands_are_there_for_who_asks_for_the_version() {
    let [old, new] = [vk::API_VERSION_1_0, vk::API_VERSION_1_1].map(|version| Vk::of_version(version, &[]));
    let newer = Vk::of_version(vk::API_VERSION_1_2, &[]);
    for name in DEVICE_COMMANDS {
        assert!(!has(&old, name), "{name:?} in 1.0");
        assert!(has(&new, name) && has(&newer, name), "{name:?} is missing");
    }
    for name in DEVICE_COMMANDS_OF_1_2 {
        assert!(!has(&old, name) && !has(&new, name), "{name:?} before 1.2");
        assert!(has(&newer, name), "{name:?} is missing");
    }
    // Names of extensions stay with them.
    assert!(!has(&new, c"vkTrimCommandPoolKHR") && has(&new, c"vkCmdDispatch"));
    for version in [vk::API_VERSION_1_0, vk::API_VERSION_1_1] {
        let both = Vk::of_version(version, &PROMOTED);
        assert!(has(&both, c"vkTrimCommandPoolKHR") && has(&both, c"vkBindImageMemory2KHR"));
    }
}

#[test]
fn required_features_and_limits_hold() {
    let vk = Vk::of_version(vk::API_VERSION_1_1, &[]);
    let mut multiview = vk::PhysicalDeviceMultiviewFeatures::default();
    let mut parameters = vk::PhysicalDeviceShaderDrawParametersFeatures::default();
    // What is not offered is said to be so.
    let mut storage = vk::PhysicalDevice16BitStorageFeatures::default()
        .storage_buffer16_bit_access(true)
        .uniform_and_storage_buffer16_bit_access(true)
        .storage_push_constant16(true)
        .storage_input_output16(true);
    let mut pointers = vk::PhysicalDeviceVariablePointersFeatures::default()
        .variable_pointers(true)
        .variable_pointers_storage_buffer(true);
    let mut protected = vk::PhysicalDeviceProtectedMemoryFeatures::default().protected_memory(true);
    let mut ycbcr = vk::PhysicalDeviceSamplerYcbcrConversionFeatures::default();
    let mut features = vk::PhysicalDeviceFeatures2::default()
        .push_next(&mut multiview)
        .push_next(&mut parameters)
        .push_next(&mut storage)
        .push_next(&mut pointers)
        .push_next(&mut protected)
        .push_next(&mut ycbcr);
    // SAFETY: valid usage.
    unsafe { vk.instance.get_physical_device_features2(physical(&vk), &mut features) };
    assert_eq!(features.features.robust_buffer_access, vk::TRUE);
    assert_eq!((multiview.multiview, parameters.shader_draw_parameters), (vk::TRUE, vk::TRUE));
    let geometry = [multiview.multiview_geometry_shader, multiview.multiview_tessellation_shader];
    assert_eq!(geometry, [vk::FALSE; 2]);
    let halves = [
        storage.storage_buffer16_bit_access,
        storage.uniform_and_storage_buffer16_bit_access,
        storage.storage_push_constant16,
        storage.storage_input_output16,
    ];
    assert_eq!(halves, [vk::FALSE; 4]);
    assert_eq!([pointers.variable_pointers, pointers.variable_pointers_storage_buffer], [vk::FALSE; 2]);
    assert_eq!([protected.protected_memory, ycbcr.sampler_ycbcr_conversion], [vk::FALSE, vk::TRUE]);
    // "Formats requiring sampler Y'CBCR conversion" in the tables of required features.
    use vk::FormatFeatureFlags as Feature;
    for format in [vk::Format::G8_B8R8_2PLANE_420_UNORM, vk::Format::G8_B8_R8_3PLANE_420_UNORM] {
        // SAFETY: valid usage.
        let properties = unsafe { vk.instance.get_physical_device_format_properties(physical(&vk), format) };
        let needed = Feature::SAMPLED_IMAGE | Feature::TRANSFER_SRC | Feature::TRANSFER_DST;
        let chroma = Feature::MIDPOINT_CHROMA_SAMPLES | Feature::COSITED_CHROMA_SAMPLES;
        assert!(properties.optimal_tiling_features.contains(needed), "{format:?}");
        assert!(properties.optimal_tiling_features.intersects(chroma), "{format:?}");
        assert!(!properties.optimal_tiling_features.contains(Feature::BLIT_SRC), "{format:?}");
    }

    let mut id = vk::PhysicalDeviceIDProperties::default();
    let mut subgroups = vk::PhysicalDeviceSubgroupProperties::default();
    let mut views = vk::PhysicalDeviceMultiviewProperties::default();
    let unset = vk::PointClippingBehavior::from_raw(7);
    let mut clipping = vk::PhysicalDevicePointClippingProperties::default().point_clipping_behavior(unset);
    let mut protection = vk::PhysicalDeviceProtectedMemoryProperties::default().protected_no_fault(true);
    let mut most = vk::PhysicalDeviceMaintenance3Properties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default()
        .push_next(&mut id)
        .push_next(&mut subgroups)
        .push_next(&mut views)
        .push_next(&mut clipping)
        .push_next(&mut protection)
        .push_next(&mut most);
    // SAFETY: valid usage.
    unsafe { vk.instance.get_physical_device_properties2(physical(&vk), &mut properties) };
    assert!(id.device_uuid != [0; 16] && id.driver_uuid != [0; 16] && id.device_luid_valid == vk::FALSE);
    assert!(subgroups.subgroup_size.is_power_of_two() && subgroups.subgroup_size <= 128);
    #[cfg(feature = "compute")]
    {
        assert!(subgroups.supported_stages.contains(vk::ShaderStageFlags::COMPUTE));
        assert!(subgroups.supported_operations.contains(vk::SubgroupFeatureFlags::BASIC));
    }
    assert!(views.max_multiview_view_count >= 6 && views.max_multiview_instance_index >= (1 << 27) - 1);
    let known =
        [vk::PointClippingBehavior::ALL_CLIP_PLANES, vk::PointClippingBehavior::USER_CLIP_PLANES_ONLY];
    assert!(known.contains(&clipping.point_clipping_behavior));
    assert_eq!(protection.protected_no_fault, vk::FALSE);
    assert!(most.max_per_set_descriptors >= 1024 && most.max_memory_allocation_size >= 1 << 30);
}

#[test]
fn what_is_not_offered_is_refused() {
    let vk = Vk::of_version(vk::API_VERSION_1_1, &[]);
    // SAFETY: valid usage but for features that are off.
    unsafe {
        vk.device.destroy_sampler_ycbcr_conversion(vk::SamplerYcbcrConversion::null(), None);
        let protected = vk::DeviceQueueCreateFlags::PROTECTED;
        let [same, other] = [vk::DeviceQueueCreateFlags::empty(), protected]
            .map(|flags| vk.device.get_device_queue2(&vk::DeviceQueueInfo2::default().flags(flags)));
        assert_eq!((same, other), (vk.queue, vk::Queue::null()));
        let queues = |flags| {
            [vk::DeviceQueueCreateInfo::default().flags(flags).queue_family_index(0).queue_priorities(&[1.0])]
        };
        let refused = |info: &vk::DeviceCreateInfo<'_>| {
            vk.instance.create_device(physical(&vk), info, None).err().expect("a device is not made")
        };
        let queue = queues(protected);
        let result = refused(&vk::DeviceCreateInfo::default().queue_create_infos(&queue));
        assert_eq!(result, vk::Result::ERROR_FEATURE_NOT_PRESENT);
        let queue = queues(vk::DeviceQueueCreateFlags::empty());
        let mut wanted = vk::PhysicalDeviceProtectedMemoryFeatures::default().protected_memory(true);
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queue).push_next(&mut wanted);
        assert_eq!(refused(&info), vk::Result::ERROR_FEATURE_NOT_PRESENT);
    }
}

#[test]
fn a_pool_that_is_empty_says_so_by_the_code_of_the_version() {
    for (version, expected) in [
        (vk::API_VERSION_1_0, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY),
        (vk::API_VERSION_1_1, vk::Result::ERROR_OUT_OF_POOL_MEMORY),
    ] {
        let vk = Vk::of_version(version, &[]);
        // SAFETY: valid usage.
        unsafe {
            let layouts = [vk.device.create_descriptor_set_layout(&Default::default(), None).unwrap(); 2];
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1);
            let pool = vk.device.create_descriptor_pool(&info, None).unwrap();
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            assert_eq!(vk.device.allocate_descriptor_sets(&info), Err(expected));
        }
    }
}

#[test]
fn modules_of_later_versions_of_spirv_are_refused() {
    const SHADER: &[u8] = include_bytes!("../../tests/shaders/pos_color.vert.spv");
    let vk = Vk::of_version(vk::API_VERSION_1_1, &[]);
    let mut bytes = SHADER.to_vec();
    bytes[5..7].copy_from_slice(&[5, 1]);
    spirv_module(&vk, &bytes);
    bytes[5] = 6;
    let words = ash::util::read_spv(&mut std::io::Cursor::new(&bytes)).unwrap();
    // SAFETY: valid usage but for the version.
    let made =
        unsafe { vk.device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None) };
    assert_eq!(made, Err(vk::Result::ERROR_INVALID_SHADER_NV));
}

/// The version that a device claims to an engine.
fn claimed_to(engine: &CStr) -> u32 {
    let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3).engine_name(engine);
    let info = vk::InstanceCreateInfo::default().application_info(&application);
    // SAFETY: valid usage.
    unsafe {
        let instance = entry().create_instance(&info, None).unwrap();
        let physical = instance.enumerate_physical_devices().unwrap()[0];
        let version = instance.get_physical_device_properties(physical).api_version;
        instance.destroy_instance(None);
        version
    }
}

#[test]
fn an_engine_that_asks_for_conformance_finds_a_version_without_it() {
    // It chooses the simulator for this process.
    let _device = Vk::new();
    assert_eq!(vk::api_version_minor(claimed_to(c"wgpu-hal")), 1);
    assert_eq!(vk::api_version_minor(claimed_to(c"libplacebo")), 2);
}

#[test]
fn what_1_2_requires_is_offered_and_enabled() {
    let vk = Vk::of_version(vk::API_VERSION_1_2, &[]);
    let (mut first, mut second) =
        (vk::PhysicalDeviceVulkan11Features::default(), vk::PhysicalDeviceVulkan12Features::default());
    let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut first).push_next(&mut second);
    // SAFETY: valid usage.
    unsafe { vk.instance.get_physical_device_features2(physical(&vk), &mut features) };
    let required = [
        first.multiview,
        second.uniform_buffer_standard_layout,
        second.subgroup_broadcast_dynamic_id,
        second.imageless_framebuffer,
        second.separate_depth_stencil_layouts,
        second.host_query_reset,
        second.timeline_semaphore,
        second.shader_subgroup_extended_types,
        // Of extensions that are offered.
        second.sampler_mirror_clamp_to_edge,
        second.draw_indirect_count,
        second.scalar_block_layout,
        second.vulkan_memory_model,
        second.vulkan_memory_model_device_scope,
        second.vulkan_memory_model_availability_visibility_chains,
    ];
    assert_eq!(required, [vk::TRUE; 14]);
    let absent = [
        second.descriptor_indexing,
        second.buffer_device_address,
        second.shader_float16,
        second.sampler_filter_minmax,
    ];
    assert_eq!(absent, [vk::FALSE; 4]);
    // All that is offered can be enabled, and nothing else.
    let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
    (first.p_next, second.p_next) = (std::ptr::null_mut(), std::ptr::null_mut());
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
    // SAFETY: valid usage but for the last feature.
    unsafe {
        let info = info.push_next(&mut first).push_next(&mut second);
        vk.instance.create_device(physical(&vk), &info, None).unwrap().destroy_device(None);
        let mut wanted = vk::PhysicalDeviceVulkan12Features::default().runtime_descriptor_array(true);
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).push_next(&mut wanted);
        let refused = vk.instance.create_device(physical(&vk), &info, None).err();
        assert_eq!(refused, Some(vk::Result::ERROR_FEATURE_NOT_PRESENT));
    }
}

#[test]
fn structures_of_versions_say_what_those_of_extensions_say() {
    let vk = Vk::of_version(vk::API_VERSION_1_2, &[]);
    let (mut first, mut second) =
        (vk::PhysicalDeviceVulkan11Properties::default(), vk::PhysicalDeviceVulkan12Properties::default());
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut resolve = vk::PhysicalDeviceDepthStencilResolveProperties::default();
    let mut floats =
        vk::PhysicalDeviceFloatControlsProperties::default().shader_rounding_mode_rte_float32(true);
    let mut timeline = vk::PhysicalDeviceTimelineSemaphoreProperties::default();
    let mut id = vk::PhysicalDeviceIDProperties::default();
    let mut most = vk::PhysicalDeviceMaintenance3Properties::default();
    let mut subgroups = vk::PhysicalDeviceSubgroupProperties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default()
        .push_next(&mut first)
        .push_next(&mut driver)
        .push_next(&mut resolve)
        .push_next(&mut floats)
        .push_next(&mut timeline)
        .push_next(&mut id)
        .push_next(&mut most)
        .push_next(&mut subgroups)
        .push_next(&mut second);
    // SAFETY: valid usage.
    unsafe { vk.instance.get_physical_device_properties2(physical(&vk), &mut properties) };
    let name = driver.driver_name_as_c_str().unwrap();
    assert_eq!((name, second.driver_name_as_c_str().unwrap()), (c"vulkan-vc4", c"vulkan-vc4"));
    // The driver is not conformant, and does not say that it is.
    let version = driver.conformance_version;
    assert_eq!([version.major, version.minor, version.subminor, version.patch], [0; 4]);
    assert_eq!(second.supported_depth_resolve_modes, resolve.supported_depth_resolve_modes);
    assert!(resolve.supported_stencil_resolve_modes.contains(vk::ResolveModeFlags::SAMPLE_ZERO));
    assert_eq!(floats.shader_rounding_mode_rte_float32, vk::FALSE);
    assert_eq!(second.rounding_mode_independence, vk::ShaderFloatControlsIndependence::NONE);
    let difference = timeline.max_timeline_semaphore_value_difference;
    assert!(difference >= (1 << 31) - 1 && second.max_timeline_semaphore_value_difference == difference);
    assert_eq!((first.device_uuid, first.driver_uuid), (id.device_uuid, id.driver_uuid));
    assert_eq!(first.max_per_set_descriptors, most.max_per_set_descriptors);
    assert_eq!(first.subgroup_size, subgroups.subgroup_size);
    // What is said of integers holds for the images.
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT;
    // SAFETY: valid usage.
    let image = unsafe {
        let (format, ty, flags) =
            (vk::Format::R8G8B8A8_UINT, vk::ImageType::TYPE_2D, vk::ImageCreateFlags::empty());
        let tiling = vk::ImageTiling::OPTIMAL;
        vk.instance.get_physical_device_image_format_properties(
            physical(&vk),
            format,
            ty,
            tiling,
            usage,
            flags,
        )
    };
    assert_eq!(image.unwrap().sample_counts, second.framebuffer_integer_color_sample_counts);
}
