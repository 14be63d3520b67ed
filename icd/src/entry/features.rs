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
    PhysicalDeviceSamplerYcbcrConversionFeatures { sampler_ycbcr_conversion: false }
    PhysicalDeviceMultiviewFeatures {
        multiview: true,
        multiview_geometry_shader: false,
        multiview_tessellation_shader: false,
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
        let mut unknown = vk::PhysicalDeviceMaintenance4Features::default().maintenance4(true);
        let mut all = vk::PhysicalDeviceFeatures2::default()
            .push_next(&mut timeline)
            .push_next(&mut unknown)
            .push_next(&mut multiview);
        // SAFETY: a valid chain of structures that live here.
        unsafe { report((&raw mut all).cast()) };
        assert_eq!(timeline.timeline_semaphore, vk::TRUE);
        assert_eq!((multiview.multiview, multiview.multiview_geometry_shader), (vk::TRUE, vk::FALSE));
        assert_eq!(unknown.maintenance4, vk::TRUE);

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
