//! Properties in the chain of vkGetPhysicalDeviceProperties2, of versions and of extensions. What several structures say stands
//! once, in those of the versions.

use std::ffi::{c_char, c_void};

use ash::vk;
use vc4_kernel_abi::Nodes;

use super::read::answer;
use crate::foundation::limits::{
    MAX_PUSH_DESCRIPTORS, MAX_SAMPLERS, MAX_SET_DESCRIPTORS, MAX_VIEWS, MIN_ALLOCATION_BYTES, RESOLVE_MODES,
    SAMPLE_COUNTS, SUB_PIXEL_BITS, SUBGROUP_SIZE,
};
use crate::objects::physical_device::{self, PhysicalDevice};

/// Answers the structures of a chain that are named; their other members stay as they are.
macro_rules! answers {
    ($next:expr; $($structure:ident { $($field:ident: $value:expr),* $(,)? })*) => {
        $(if let Some(out) = answer::<vk::$structure<'_>>($next) {
            $(out.$field = $value;)*
        })*
    };
}

/// A text as structures hold it.
fn text<const N: usize>(text: &str) -> [c_char; N] {
    let mut chars = [0; N];
    // The last one ends it.
    chars[..N - 1].iter_mut().zip(text.bytes()).for_each(|(to, from)| *to = from as c_char);
    chars
}

fn of_1_1(device: &PhysicalDevice) -> vk::PhysicalDeviceVulkan11Properties<'static> {
    let (device_uuid, driver_uuid) = device.uuids();
    let (subgroup_supported_stages, subgroup_supported_operations) = physical_device::subgroups();
    vk::PhysicalDeviceVulkan11Properties {
        device_uuid,
        driver_uuid,
        device_luid: [0; vk::LUID_SIZE],
        device_node_mask: 0,
        device_luid_valid: vk::FALSE,
        subgroup_size: SUBGROUP_SIZE,
        subgroup_supported_stages,
        subgroup_supported_operations,
        subgroup_quad_operations_in_all_stages: vk::FALSE,
        point_clipping_behavior: vk::PointClippingBehavior::ALL_CLIP_PLANES,
        max_multiview_view_count: MAX_VIEWS,
        max_multiview_instance_index: u32::MAX,
        protected_no_fault: vk::FALSE,
        max_per_set_descriptors: MAX_SET_DESCRIPTORS,
        max_memory_allocation_size: device.heap_size().max(MIN_ALLOCATION_BYTES),
        ..Default::default()
    }
}

/// What is left out is false or nothing: no mode of floats can be chosen, and there is no descriptor indexing. Its limits are
/// those of other sets all the same, as every pipeline layout of a 1.2 program is to keep to them.
fn of_1_2(device: &PhysicalDevice) -> vk::PhysicalDeviceVulkan12Properties<'static> {
    let limits = &device.properties().limits;
    let (supported_depth_resolve_modes, supported_stencil_resolve_modes) = RESOLVE_MODES;
    vk::PhysicalDeviceVulkan12Properties {
        // Nobody gave this driver a number, and it passed no conformance tests.
        driver_id: vk::DriverId::default(),
        conformance_version: vk::ConformanceVersion::default(),
        driver_name: text("vulkan-vc4"),
        driver_info: text(env!("CARGO_PKG_VERSION")),
        denorm_behavior_independence: vk::ShaderFloatControlsIndependence::NONE,
        rounding_mode_independence: vk::ShaderFloatControlsIndependence::NONE,
        supported_depth_resolve_modes,
        supported_stencil_resolve_modes,
        independent_resolve_none: vk::TRUE,
        independent_resolve: vk::TRUE,
        max_timeline_semaphore_value_difference: u64::MAX,
        framebuffer_integer_color_sample_counts: SAMPLE_COUNTS,
        max_update_after_bind_descriptors_in_all_pools: MAX_SET_DESCRIPTORS,
        max_per_stage_descriptor_update_after_bind_samplers: limits.max_per_stage_descriptor_samplers,
        max_per_stage_descriptor_update_after_bind_uniform_buffers: limits
            .max_per_stage_descriptor_uniform_buffers,
        max_per_stage_descriptor_update_after_bind_storage_buffers: limits
            .max_per_stage_descriptor_storage_buffers,
        max_per_stage_descriptor_update_after_bind_sampled_images: limits
            .max_per_stage_descriptor_sampled_images,
        max_per_stage_descriptor_update_after_bind_storage_images: limits
            .max_per_stage_descriptor_storage_images,
        max_per_stage_descriptor_update_after_bind_input_attachments: limits
            .max_per_stage_descriptor_input_attachments,
        max_per_stage_update_after_bind_resources: limits.max_per_stage_resources,
        max_descriptor_set_update_after_bind_samplers: limits.max_descriptor_set_samplers,
        max_descriptor_set_update_after_bind_uniform_buffers: limits.max_descriptor_set_uniform_buffers,
        max_descriptor_set_update_after_bind_uniform_buffers_dynamic: limits
            .max_descriptor_set_uniform_buffers_dynamic,
        max_descriptor_set_update_after_bind_storage_buffers: limits.max_descriptor_set_storage_buffers,
        max_descriptor_set_update_after_bind_storage_buffers_dynamic: limits
            .max_descriptor_set_storage_buffers_dynamic,
        max_descriptor_set_update_after_bind_sampled_images: limits.max_descriptor_set_sampled_images,
        max_descriptor_set_update_after_bind_storage_images: limits.max_descriptor_set_storage_images,
        max_descriptor_set_update_after_bind_input_attachments: limits.max_descriptor_set_input_attachments,
        ..Default::default()
    }
}

/// Answers the structures of a chain that the driver knows.
///
/// # Safety
/// As for [`answer`].
pub(super) unsafe fn report(device: &PhysicalDevice, next: *mut c_void) {
    let (first, second) = (of_1_1(device), of_1_2(device));
    // SAFETY: by the contract.
    unsafe {
        of_extensions(&first, &second, device.gpu().nodes(), next);
        if let Some(out) = answer::<vk::PhysicalDeviceVulkan11Properties<'_>>(next) {
            *out = vk::PhysicalDeviceVulkan11Properties { p_next: out.p_next, ..first };
        }
        if let Some(out) = answer::<vk::PhysicalDeviceVulkan12Properties<'_>>(next) {
            *out = vk::PhysicalDeviceVulkan12Properties { p_next: out.p_next, ..second };
        }
    }
}

unsafe fn of_extensions(
    first: &vk::PhysicalDeviceVulkan11Properties<'_>,
    second: &vk::PhysicalDeviceVulkan12Properties<'_>,
    nodes: Nodes,
    next: *mut c_void,
) {
    // SAFETY: by the contract of `report`.
    unsafe {
        answers! {
            next;
            PhysicalDeviceVertexAttributeDivisorPropertiesEXT { max_vertex_attrib_divisor: u32::MAX }
            PhysicalDeviceVertexAttributeDivisorPropertiesKHR {
                max_vertex_attrib_divisor: u32::MAX,
                supports_non_zero_first_instance: vk::TRUE,
            }
            PhysicalDeviceCustomBorderColorPropertiesEXT {
                max_custom_border_color_samplers: MAX_SAMPLERS,
            }
            PhysicalDeviceProvokingVertexPropertiesEXT {
                provoking_vertex_mode_per_pipeline: vk::TRUE,
                transform_feedback_preserves_triangle_fan_provoking_vertex: vk::FALSE,
            }
            PhysicalDeviceLineRasterizationPropertiesKHR {
                line_sub_pixel_precision_bits: SUB_PIXEL_BITS,
            }
            PhysicalDeviceDrmPropertiesEXT {
                has_primary: nodes.primary.is_some().into(),
                has_render: nodes.render.is_some().into(),
                primary_major: nodes.primary.map_or(0, |(major, _)| major.into()),
                primary_minor: nodes.primary.map_or(0, |(_, minor)| minor.into()),
                render_major: nodes.render.map_or(0, |(major, _)| major.into()),
                render_minor: nodes.render.map_or(0, |(_, minor)| minor.into()),
            }
            PhysicalDevicePushDescriptorPropertiesKHR { max_push_descriptors: MAX_PUSH_DESCRIPTORS }
            PhysicalDeviceIDProperties {
                device_uuid: first.device_uuid,
                driver_uuid: first.driver_uuid,
                device_luid: first.device_luid,
                device_node_mask: first.device_node_mask,
                device_luid_valid: first.device_luid_valid,
            }
            PhysicalDeviceSubgroupProperties {
                subgroup_size: first.subgroup_size,
                supported_stages: first.subgroup_supported_stages,
                supported_operations: first.subgroup_supported_operations,
                quad_operations_in_all_stages: first.subgroup_quad_operations_in_all_stages,
            }
            PhysicalDevicePointClippingProperties { point_clipping_behavior: first.point_clipping_behavior }
            PhysicalDeviceMultiviewProperties {
                max_multiview_view_count: first.max_multiview_view_count,
                max_multiview_instance_index: first.max_multiview_instance_index,
            }
            PhysicalDeviceProtectedMemoryProperties { protected_no_fault: first.protected_no_fault }
            PhysicalDeviceMaintenance3Properties {
                max_per_set_descriptors: first.max_per_set_descriptors,
                max_memory_allocation_size: first.max_memory_allocation_size,
            }
            PhysicalDeviceMaintenance4Properties { max_buffer_size: first.max_memory_allocation_size }
            PhysicalDeviceDriverProperties {
                driver_id: second.driver_id,
                driver_name: second.driver_name,
                driver_info: second.driver_info,
                conformance_version: second.conformance_version,
            }
            PhysicalDeviceFloatControlsProperties {
                denorm_behavior_independence: second.denorm_behavior_independence,
                rounding_mode_independence: second.rounding_mode_independence,
                shader_signed_zero_inf_nan_preserve_float16: vk::FALSE,
                shader_signed_zero_inf_nan_preserve_float32: vk::FALSE,
                shader_signed_zero_inf_nan_preserve_float64: vk::FALSE,
                shader_denorm_preserve_float16: vk::FALSE,
                shader_denorm_preserve_float32: vk::FALSE,
                shader_denorm_preserve_float64: vk::FALSE,
                shader_denorm_flush_to_zero_float16: vk::FALSE,
                shader_denorm_flush_to_zero_float32: vk::FALSE,
                shader_denorm_flush_to_zero_float64: vk::FALSE,
                shader_rounding_mode_rte_float16: vk::FALSE,
                shader_rounding_mode_rte_float32: vk::FALSE,
                shader_rounding_mode_rte_float64: vk::FALSE,
                shader_rounding_mode_rtz_float16: vk::FALSE,
                shader_rounding_mode_rtz_float32: vk::FALSE,
                shader_rounding_mode_rtz_float64: vk::FALSE,
            }
            PhysicalDeviceDepthStencilResolveProperties {
                supported_depth_resolve_modes: second.supported_depth_resolve_modes,
                supported_stencil_resolve_modes: second.supported_stencil_resolve_modes,
                independent_resolve_none: second.independent_resolve_none,
                independent_resolve: second.independent_resolve,
            }
            PhysicalDeviceSamplerFilterMinmaxProperties {
                filter_minmax_single_component_formats: vk::FALSE,
                filter_minmax_image_component_mapping: vk::FALSE,
            }
            PhysicalDeviceTimelineSemaphoreProperties {
                max_timeline_semaphore_value_difference: second.max_timeline_semaphore_value_difference,
            }
        }
        if let Some(out) = answer::<vk::PhysicalDeviceDescriptorIndexingProperties<'_>>(next) {
            *out = vk::PhysicalDeviceDescriptorIndexingProperties { p_next: out.p_next, ..indexing(second) };
        }
    }
}

fn indexing(
    second: &vk::PhysicalDeviceVulkan12Properties<'_>,
) -> vk::PhysicalDeviceDescriptorIndexingProperties<'static> {
    vk::PhysicalDeviceDescriptorIndexingProperties {
        max_update_after_bind_descriptors_in_all_pools: second.max_update_after_bind_descriptors_in_all_pools,
        max_per_stage_descriptor_update_after_bind_samplers: second
            .max_per_stage_descriptor_update_after_bind_samplers,
        max_per_stage_descriptor_update_after_bind_uniform_buffers: second
            .max_per_stage_descriptor_update_after_bind_uniform_buffers,
        max_per_stage_descriptor_update_after_bind_storage_buffers: second
            .max_per_stage_descriptor_update_after_bind_storage_buffers,
        max_per_stage_descriptor_update_after_bind_sampled_images: second
            .max_per_stage_descriptor_update_after_bind_sampled_images,
        max_per_stage_descriptor_update_after_bind_storage_images: second
            .max_per_stage_descriptor_update_after_bind_storage_images,
        max_per_stage_descriptor_update_after_bind_input_attachments: second
            .max_per_stage_descriptor_update_after_bind_input_attachments,
        max_per_stage_update_after_bind_resources: second.max_per_stage_update_after_bind_resources,
        max_descriptor_set_update_after_bind_samplers: second.max_descriptor_set_update_after_bind_samplers,
        max_descriptor_set_update_after_bind_uniform_buffers: second
            .max_descriptor_set_update_after_bind_uniform_buffers,
        max_descriptor_set_update_after_bind_uniform_buffers_dynamic: second
            .max_descriptor_set_update_after_bind_uniform_buffers_dynamic,
        max_descriptor_set_update_after_bind_storage_buffers: second
            .max_descriptor_set_update_after_bind_storage_buffers,
        max_descriptor_set_update_after_bind_storage_buffers_dynamic: second
            .max_descriptor_set_update_after_bind_storage_buffers_dynamic,
        max_descriptor_set_update_after_bind_sampled_images: second
            .max_descriptor_set_update_after_bind_sampled_images,
        max_descriptor_set_update_after_bind_storage_images: second
            .max_descriptor_set_update_after_bind_storage_images,
        max_descriptor_set_update_after_bind_input_attachments: second
            .max_descriptor_set_update_after_bind_input_attachments,
        ..Default::default()
    }
}
