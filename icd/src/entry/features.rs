//! Features of extensions: structures in the chains of vkGetPhysicalDeviceFeatures2 and vkCreateDevice.

use std::ffi::c_void;

use ash::vk;

use super::read::{answer, extension};
use crate::foundation::error::Error;

/// Writes what reports the features, and what refuses those that are not offered.
macro_rules! features {
    ($($structure:ident { $($field:ident: $offered:expr),* $(,)? })*) => {
        /// Answers the structures of a chain that the driver knows.
        ///
        /// # Safety
        /// As for [`answer`].
        pub(super) unsafe fn report(next: *mut c_void) {
            // SAFETY: by the contract.
            unsafe {
                $(if let Some(features) = answer::<vk::$structure<'_>>(next) {
                    $(features.$field = vk::Bool32::from($offered);)*
                })*
            }
        }

        /// Refuses features of a chain that are not offered, naming the first.
        ///
        /// # Safety
        /// As for [`extension`].
        pub(super) unsafe fn check(next: *const c_void) -> Result<(), Error> {
            // SAFETY: by the contract.
            unsafe {
                $(if let Some(features) = extension::<vk::$structure<'_>>(next) {
                    $(if features.$field != vk::FALSE && !$offered {
                        return Err(Error::FeatureNotPresent(stringify!($field)));
                    })*
                })*
            }
            Ok(())
        }
    };
}

features! {
    PhysicalDeviceImagelessFramebufferFeatures { imageless_framebuffer: true }
    PhysicalDeviceTimelineSemaphoreFeatures { timeline_semaphore: true }
    PhysicalDeviceSynchronization2Features { synchronization2: true }
    PhysicalDeviceDynamicRenderingFeatures { dynamic_rendering: true }
    PhysicalDeviceIndexTypeUint8FeaturesKHR { index_type_uint8: true }
    PhysicalDeviceShaderTerminateInvocationFeatures { shader_terminate_invocation: true }
    PhysicalDeviceZeroInitializeWorkgroupMemoryFeatures { shader_zero_initialize_workgroup_memory: true }
    PhysicalDeviceExtendedDynamicStateFeaturesEXT { extended_dynamic_state: true }
    PhysicalDeviceExtendedDynamicState2FeaturesEXT {
        extended_dynamic_state2: true,
        extended_dynamic_state2_logic_op: false,
        extended_dynamic_state2_patch_control_points: false,
    }
    PhysicalDeviceVertexAttributeDivisorFeaturesKHR {
        vertex_attribute_instance_rate_divisor: true,
        vertex_attribute_instance_rate_zero_divisor: true,
    }
    PhysicalDeviceCustomBorderColorFeaturesEXT {
        custom_border_colors: true,
        custom_border_color_without_format: true,
    }
    PhysicalDeviceBorderColorSwizzleFeaturesEXT {
        border_color_swizzle: true,
        border_color_swizzle_from_image: true,
    }
    PhysicalDeviceNonSeamlessCubeMapFeaturesEXT { non_seamless_cube_map: true }
    PhysicalDeviceDepthClipEnableFeaturesEXT { depth_clip_enable: true }
    PhysicalDeviceProvokingVertexFeaturesEXT {
        provoking_vertex_last: true,
        transform_feedback_preserves_provoking_vertex: false,
    }
    PhysicalDeviceLineRasterizationFeaturesKHR {
        rectangular_lines: false,
        bresenham_lines: true,
        smooth_lines: false,
        stippled_rectangular_lines: false,
        stippled_bresenham_lines: false,
        stippled_smooth_lines: false,
    }
    PhysicalDevicePrivateDataFeatures { private_data: true }
    PhysicalDevicePresentIdFeaturesKHR { present_id: true }
    PhysicalDevicePresentWaitFeaturesKHR { present_wait: true }
    PhysicalDevicePipelineCreationCacheControlFeatures { pipeline_creation_cache_control: true }
    PhysicalDeviceMaintenance4Features { maintenance4: true }
    PhysicalDevice4444FormatsFeaturesEXT { format_a4r4g4b4: true, format_a4b4g4r4: false }
    PhysicalDeviceHostQueryResetFeatures { host_query_reset: true }
    PhysicalDeviceSeparateDepthStencilLayoutsFeatures { separate_depth_stencil_layouts: true }
    PhysicalDeviceUniformBufferStandardLayoutFeatures { uniform_buffer_standard_layout: true }
    PhysicalDeviceScalarBlockLayoutFeatures { scalar_block_layout: true }
    PhysicalDeviceShaderDrawParametersFeatures { shader_draw_parameters: true }
    PhysicalDevice16BitStorageFeatures {
        storage_buffer16_bit_access: false,
        uniform_and_storage_buffer16_bit_access: false,
        storage_push_constant16: false,
        storage_input_output16: false,
    }
    PhysicalDeviceVariablePointersFeatures {
        variable_pointers_storage_buffer: false,
        variable_pointers: false,
    }
    PhysicalDeviceProtectedMemoryFeatures { protected_memory: false }
    PhysicalDeviceSamplerYcbcrConversionFeatures { sampler_ycbcr_conversion: true }
    PhysicalDeviceMultiviewFeatures {
        multiview: true,
        multiview_geometry_shader: false,
        multiview_tessellation_shader: false,
    }
    PhysicalDeviceVulkan11Features {
        storage_buffer16_bit_access: false,
        uniform_and_storage_buffer16_bit_access: false,
        storage_push_constant16: false,
        storage_input_output16: false,
        multiview: true,
        multiview_geometry_shader: false,
        multiview_tessellation_shader: false,
        variable_pointers_storage_buffer: false,
        variable_pointers: false,
        protected_memory: false,
        sampler_ycbcr_conversion: true,
        shader_draw_parameters: true,
    }
    PhysicalDevice8BitStorageFeatures {
        storage_buffer8_bit_access: false,
        uniform_and_storage_buffer8_bit_access: false,
        storage_push_constant8: false,
    }
    PhysicalDeviceShaderAtomicInt64Features {
        shader_buffer_int64_atomics: false,
        shader_shared_int64_atomics: false,
    }
    PhysicalDeviceShaderFloat16Int8Features { shader_float16: false, shader_int8: false }
    PhysicalDeviceDescriptorIndexingFeatures {
        shader_input_attachment_array_dynamic_indexing: true,
        shader_uniform_texel_buffer_array_dynamic_indexing: true,
        shader_storage_texel_buffer_array_dynamic_indexing: true,
        shader_uniform_buffer_array_non_uniform_indexing: true,
        shader_sampled_image_array_non_uniform_indexing: true,
        shader_storage_buffer_array_non_uniform_indexing: true,
        shader_storage_image_array_non_uniform_indexing: true,
        shader_input_attachment_array_non_uniform_indexing: false,
        shader_uniform_texel_buffer_array_non_uniform_indexing: true,
        shader_storage_texel_buffer_array_non_uniform_indexing: true,
        descriptor_binding_uniform_buffer_update_after_bind: false,
        descriptor_binding_sampled_image_update_after_bind: false,
        descriptor_binding_storage_image_update_after_bind: false,
        descriptor_binding_storage_buffer_update_after_bind: false,
        descriptor_binding_uniform_texel_buffer_update_after_bind: false,
        descriptor_binding_storage_texel_buffer_update_after_bind: false,
        descriptor_binding_update_unused_while_pending: false,
        descriptor_binding_partially_bound: false,
        descriptor_binding_variable_descriptor_count: false,
        runtime_descriptor_array: false,
    }
    PhysicalDeviceShaderSubgroupExtendedTypesFeatures { shader_subgroup_extended_types: true }
    PhysicalDeviceBufferDeviceAddressFeatures {
        buffer_device_address: false,
        buffer_device_address_capture_replay: false,
        buffer_device_address_multi_device: false,
    }
    PhysicalDeviceVulkanMemoryModelFeatures {
        vulkan_memory_model: true,
        vulkan_memory_model_device_scope: true,
        vulkan_memory_model_availability_visibility_chains: true,
    }
    PhysicalDeviceVulkan12Features {
        sampler_mirror_clamp_to_edge: true,
        draw_indirect_count: true,
        storage_buffer8_bit_access: false,
        uniform_and_storage_buffer8_bit_access: false,
        storage_push_constant8: false,
        shader_buffer_int64_atomics: false,
        shader_shared_int64_atomics: false,
        shader_float16: false,
        shader_int8: false,
        descriptor_indexing: false,
        shader_input_attachment_array_dynamic_indexing: true,
        shader_uniform_texel_buffer_array_dynamic_indexing: true,
        shader_storage_texel_buffer_array_dynamic_indexing: true,
        shader_uniform_buffer_array_non_uniform_indexing: true,
        shader_sampled_image_array_non_uniform_indexing: true,
        shader_storage_buffer_array_non_uniform_indexing: true,
        shader_storage_image_array_non_uniform_indexing: true,
        shader_input_attachment_array_non_uniform_indexing: false,
        shader_uniform_texel_buffer_array_non_uniform_indexing: true,
        shader_storage_texel_buffer_array_non_uniform_indexing: true,
        descriptor_binding_uniform_buffer_update_after_bind: false,
        descriptor_binding_sampled_image_update_after_bind: false,
        descriptor_binding_storage_image_update_after_bind: false,
        descriptor_binding_storage_buffer_update_after_bind: false,
        descriptor_binding_uniform_texel_buffer_update_after_bind: false,
        descriptor_binding_storage_texel_buffer_update_after_bind: false,
        descriptor_binding_update_unused_while_pending: false,
        descriptor_binding_partially_bound: false,
        descriptor_binding_variable_descriptor_count: false,
        runtime_descriptor_array: false,
        sampler_filter_minmax: false,
        scalar_block_layout: true,
        imageless_framebuffer: true,
        uniform_buffer_standard_layout: true,
        shader_subgroup_extended_types: true,
        separate_depth_stencil_layouts: true,
        host_query_reset: true,
        timeline_semaphore: true,
        buffer_device_address: false,
        buffer_device_address_capture_replay: false,
        buffer_device_address_multi_device: false,
        vulkan_memory_model: true,
        vulkan_memory_model_device_scope: true,
        vulkan_memory_model_availability_visibility_chains: true,
        shader_output_viewport_index: false,
        shader_output_layer: false,
        subgroup_broadcast_dynamic_id: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_are_answered_and_checked() {
        let mut timeline = vk::PhysicalDeviceTimelineSemaphoreFeatures::default();
        let mut multiview = vk::PhysicalDeviceMultiviewFeatures::default().multiview(true);
        // Something that the driver does not know lies between.
        let mut unknown = vk::PhysicalDeviceMaintenance5FeaturesKHR::default().maintenance5(true);
        let mut all = vk::PhysicalDeviceFeatures2::default()
            .push_next(&mut timeline)
            .push_next(&mut unknown)
            .push_next(&mut multiview);
        // SAFETY: a valid chain of structures that live here.
        unsafe { report((&raw mut all).cast()) };
        assert_eq!(timeline.timeline_semaphore, vk::TRUE);
        assert_eq!((multiview.multiview, multiview.multiview_geometry_shader), (vk::TRUE, vk::FALSE));
        assert_eq!(unknown.maintenance5, vk::TRUE);

        let mut wanted = vk::PhysicalDeviceMultiviewFeatures::default()
            .multiview(true)
            .multiview_tessellation_shader(true);
        let device = vk::DeviceCreateInfo::default().push_next(&mut wanted);
        // SAFETY: as above.
        let refused = unsafe { check(device.p_next) };
        assert!(matches!(refused, Err(Error::FeatureNotPresent("multiview_tessellation_shader"))));
        let device = vk::DeviceCreateInfo::default().push_next(&mut timeline);
        // SAFETY: as above.
        unsafe { check(device.p_next) }.unwrap();
    }
}
