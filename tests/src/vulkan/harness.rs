//! The device that everything runs on: Vulkan 1.0 through the loader, nothing optional that scenes can do without.

use std::ffi::CStr;

use ash::{Device, Entry, Instance, vk};

use super::error::{Error, Named};

/// Fails instead of waiting forever for a driver that lost a fence, in nanoseconds.
const FENCE_TIMEOUT: u64 = 120_000_000_000;

/// The variable that puts all buffers of cases into memory that the host caches.
pub const CACHED_MEMORY: &str = "VC4_TESTS_CACHED_MEMORY";
/// Its value for cases that wait for the device and do not invalidate, though the specification asks for it.
pub const CARELESS: &str = "careless";

/// A device of the first driver that the loader finds.
pub struct Harness {
    _entry: Entry,
    instance: Instance,
    physical: vk::PhysicalDevice,
    /// The device.
    pub device: Device,
    /// Commands of passes without a render pass.
    pub rendering: ash::khr::dynamic_rendering::Device,
    /// Commands that set what pipelines else fix.
    pub switches: ash::ext::extended_dynamic_state::Device,
    /// More of them.
    pub more_switches: ash::ext::extended_dynamic_state2::Device,
    /// Programs may index arrays of all kinds of descriptors by what is not constant.
    pub indexes_descriptors: bool,
    /// Passes without attachments may change the number of samples.
    pub mixes_samples: bool,
    queue: vk::Queue,
    pool: vk::CommandPool,
}

// SAFETY (for every block of this file): handles come from this device and live until `drop`; create infos point to
// locals that outlive the call; one thread uses the harness.
impl Harness {
    /// Opens the loader and the first physical device.
    pub fn new() -> Result<Harness, Error> {
        // SAFETY: see above.
        unsafe {
            let entry = Entry::load()?;
            let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_0);
            let extensions = [ash::khr::get_physical_device_properties2::NAME.as_ptr()];
            let create = vk::InstanceCreateInfo::default()
                .application_info(&application)
                .enabled_extension_names(&extensions);
            let instance = entry.create_instance(&create, None).named("vkCreateInstance")?;
            let made = Harness::on(entry.clone(), instance.clone());
            made.inspect_err(|_| instance.destroy_instance(None))
        }
    }

    /// A device of an instance, which is not destroyed if that fails.
    fn on(_entry: Entry, instance: Instance) -> Result<Harness, Error> {
        // SAFETY: see above.
        unsafe {
            let devices = instance.enumerate_physical_devices().named("vkEnumeratePhysicalDevices")?;
            let physical = *devices.first().ok_or("no Vulkan device: check VK_DRIVER_FILES")?;
            let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
            let offered = instance.get_physical_device_features(physical);
            let indexes_descriptors = offered.shader_sampled_image_array_dynamic_indexing != vk::FALSE
                && offered.shader_storage_image_array_dynamic_indexing != vk::FALSE;
            let mixes_samples = offered.variable_multisample_rate != vk::FALSE;
            let features = vk::PhysicalDeviceFeatures::default()
                .fill_mode_non_solid(true)
                .occlusion_query_precise(true)
                .pipeline_statistics_query(true)
                .variable_multisample_rate(mixes_samples)
                .wide_lines(true)
                .multi_viewport(true)
                .depth_clamp(true)
                .depth_bias_clamp(true)
                .sample_rate_shading(true)
                .shader_clip_distance(true)
                .shader_cull_distance(true)
                .large_points(true)
                .sampler_anisotropy(true)
                .image_cube_array(true)
                .shader_image_gather_extended(true)
                .shader_storage_image_extended_formats(true)
                .shader_storage_image_write_without_format(true)
                .shader_uniform_buffer_array_dynamic_indexing(true)
                .shader_storage_buffer_array_dynamic_indexing(true)
                .shader_sampled_image_array_dynamic_indexing(indexes_descriptors)
                .shader_storage_image_array_dynamic_indexing(indexes_descriptors);
            let mut multiview = vk::PhysicalDeviceMultiviewFeatures::default().multiview(true);
            let mut rendering = vk::PhysicalDeviceDynamicRenderingFeatures::default().dynamic_rendering(true);
            let mut bytes = vk::PhysicalDeviceIndexTypeUint8FeaturesKHR::default().index_type_uint8(true);
            let mut zeros = vk::PhysicalDeviceZeroInitializeWorkgroupMemoryFeatures::default()
                .shader_zero_initialize_workgroup_memory(true);
            let mut order = vk::PhysicalDeviceVulkanMemoryModelFeatures::default()
                .vulkan_memory_model(true)
                .vulkan_memory_model_device_scope(true);
            let mut switches =
                vk::PhysicalDeviceExtendedDynamicStateFeaturesEXT::default().extended_dynamic_state(true);
            let mut more_switches =
                vk::PhysicalDeviceExtendedDynamicState2FeaturesEXT::default().extended_dynamic_state2(true);
            let mut borders = vk::PhysicalDeviceCustomBorderColorFeaturesEXT::default()
                .custom_border_colors(true)
                .custom_border_color_without_format(true);
            let mut provoking =
                vk::PhysicalDeviceProvokingVertexFeaturesEXT::default().provoking_vertex_last(true);
            let mut clips = vk::PhysicalDeviceDepthClipEnableFeaturesEXT::default().depth_clip_enable(true);
            let mut seams =
                vk::PhysicalDeviceNonSeamlessCubeMapFeaturesEXT::default().non_seamless_cube_map(true);
            let mut lines = vk::PhysicalDeviceLineRasterizationFeaturesKHR::default().bresenham_lines(true);
            let extensions = [
                ash::khr::sampler_mirror_clamp_to_edge::NAME,
                ash::khr::maintenance1::NAME,
                ash::khr::maintenance2::NAME,
                ash::khr::multiview::NAME,
                ash::khr::create_renderpass2::NAME,
                ash::khr::depth_stencil_resolve::NAME,
                ash::khr::dynamic_rendering::NAME,
                ash::ext::index_type_uint8::NAME,
                ash::ext::extended_dynamic_state::NAME,
                ash::ext::extended_dynamic_state2::NAME,
                ash::khr::zero_initialize_workgroup_memory::NAME,
                ash::khr::vulkan_memory_model::NAME,
                ash::ext::custom_border_color::NAME,
                ash::ext::depth_clip_enable::NAME,
                ash::ext::provoking_vertex::NAME,
                ash::ext::line_rasterization::NAME,
                ash::ext::non_seamless_cube_map::NAME,
            ]
            .map(CStr::as_ptr);
            let create = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_features(&features)
                .enabled_extension_names(&extensions)
                .push_next(&mut multiview)
                .push_next(&mut rendering)
                .push_next(&mut bytes)
                .push_next(&mut zeros)
                .push_next(&mut order)
                .push_next(&mut switches)
                .push_next(&mut more_switches)
                .push_next(&mut borders)
                .push_next(&mut clips)
                .push_next(&mut provoking)
                .push_next(&mut seams)
                .push_next(&mut lines);
            let device = instance.create_device(physical, &create, None).named("vkCreateDevice")?;
            let queue = device.get_device_queue(0, 0);
            let create = vk::CommandPoolCreateInfo::default();
            let pool = device.create_command_pool(&create, None).named("vkCreateCommandPool");
            let pool = pool.inspect_err(|_| device.destroy_device(None))?;
            let rendering = ash::khr::dynamic_rendering::Device::new(&instance, &device);
            let switches = ash::ext::extended_dynamic_state::Device::new(&instance, &device);
            let more_switches = ash::ext::extended_dynamic_state2::Device::new(&instance, &device);
            Ok(Harness {
                _entry,
                instance,
                physical,
                device,
                rendering,
                switches,
                more_switches,
                indexes_descriptors,
                mixes_samples,
                queue,
                pool,
            })
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

    /// What memory of buffers is that the host sees: coherent, unless [`CACHED_MEMORY`] is set.
    pub(super) fn host_memory(&self) -> vk::MemoryPropertyFlags {
        let way = match std::env::var_os(CACHED_MEMORY) {
            Some(_) => vk::MemoryPropertyFlags::HOST_CACHED,
            None => vk::MemoryPropertyFlags::HOST_COHERENT,
        };
        vk::MemoryPropertyFlags::HOST_VISIBLE | way
    }

    /// Whether what the host reads is invalidated first.
    pub(super) fn invalidates(&self) -> bool {
        std::env::var_os(CACHED_MEMORY).is_none_or(|value| value != CARELESS)
    }

    /// Memory of the first type that fits.
    pub(super) fn memory(
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

    /// Records a secondary command buffer, inside of a pass if one is inherited; it lives as long as the harness.
    pub(super) fn secondary(
        &self,
        inherited: Option<&mut vk::CommandBufferInheritanceRenderingInfo<'_>>,
        record: impl FnOnce(vk::CommandBuffer),
    ) -> Result<vk::CommandBuffer, Error> {
        let device = &self.device;
        // SAFETY: see above.
        unsafe {
            let allocate = vk::CommandBufferAllocateInfo::default()
                .command_pool(self.pool)
                .level(vk::CommandBufferLevel::SECONDARY)
                .command_buffer_count(1);
            let commands = device.allocate_command_buffers(&allocate).named("vkAllocateCommandBuffers")?[0];
            let mut flags = vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT;
            let mut inheritance = vk::CommandBufferInheritanceInfo::default();
            if let Some(inherited) = inherited {
                flags |= vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE;
                inheritance = inheritance.push_next(inherited);
            }
            let begin = vk::CommandBufferBeginInfo::default().flags(flags).inheritance_info(&inheritance);
            device.begin_command_buffer(commands, &begin).named("vkBeginCommandBuffer")?;
            record(commands);
            device.end_command_buffer(commands).named("vkEndCommandBuffer")?;
            Ok(commands)
        }
    }

    /// Records a command buffer that may be run any number of times; it lives as long as the harness.
    pub(super) fn primary(
        &self,
        flags: vk::CommandBufferUsageFlags,
        record: impl FnOnce(vk::CommandBuffer),
    ) -> Result<vk::CommandBuffer, Error> {
        let device = &self.device;
        // SAFETY: see above.
        unsafe {
            let allocate =
                vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
            let commands = device.allocate_command_buffers(&allocate).named("vkAllocateCommandBuffers")?[0];
            let begin = vk::CommandBufferBeginInfo::default().flags(flags);
            device.begin_command_buffer(commands, &begin).named("vkBeginCommandBuffer")?;
            record(commands);
            device.end_command_buffer(commands).named("vkEndCommandBuffer")?;
            Ok(commands)
        }
    }

    /// Runs a command buffer and waits.
    pub(super) fn run(&self, commands: vk::CommandBuffer) -> Result<(), Error> {
        let (device, commands) = (&self.device, [commands]);
        // SAFETY: see above.
        unsafe {
            let fence = device.create_fence(&vk::FenceCreateInfo::default(), None).named("vkCreateFence")?;
            let submit = [vk::SubmitInfo::default().command_buffers(&commands)];
            device.queue_submit(self.queue, &submit, fence).named("vkQueueSubmit")?;
            device.wait_for_fences(&[fence], true, FENCE_TIMEOUT).named("vkWaitForFences")?;
            device.destroy_fence(fence, None);
        }
        Ok(())
    }

    /// Records one command buffer, runs it and waits.
    pub(super) fn submit(&self, record: impl FnOnce(vk::CommandBuffer)) -> Result<(), Error> {
        let commands = self.primary(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, record)?;
        self.run(commands)?;
        // SAFETY: see above; it is complete.
        unsafe { self.device.free_command_buffers(self.pool, &[commands]) };
        Ok(())
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
