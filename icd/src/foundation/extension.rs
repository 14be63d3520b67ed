//! The extensions that the driver offers: one row each.

use std::ffi::CStr;

use ash::vk;

/// An extension that the driver knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Extension {
    /// VK_KHR_get_physical_device_properties2.
    GetPhysicalDeviceProperties2,
    /// VK_EXT_debug_utils.
    DebugUtils,
    /// VK_KHR_surface.
    Surface,
    /// VK_KHR_xcb_surface.
    XcbSurface,
    /// VK_KHR_xlib_surface.
    XlibSurface,
    /// VK_KHR_wayland_surface.
    WaylandSurface,
    /// VK_KHR_display.
    Display,
    /// VK_KHR_get_display_properties2.
    GetDisplayProperties2,
    /// VK_EXT_direct_mode_display.
    DirectModeDisplay,
    /// VK_EXT_acquire_drm_display.
    AcquireDrmDisplay,
    /// VK_EXT_headless_surface.
    HeadlessSurface,
    /// VK_EXT_swapchain_colorspace.
    SwapchainColorspace,
    /// VK_KHR_get_surface_capabilities2.
    GetSurfaceCapabilities2,
    /// VK_KHR_swapchain.
    Swapchain,
    /// VK_KHR_maintenance1.
    Maintenance1,
    /// VK_KHR_get_memory_requirements2.
    GetMemoryRequirements2,
    /// VK_KHR_dedicated_allocation.
    DedicatedAllocation,
    /// VK_KHR_bind_memory2.
    BindMemory2,
    /// VK_KHR_storage_buffer_storage_class.
    StorageBufferStorageClass,
    /// VK_KHR_descriptor_update_template.
    DescriptorUpdateTemplate,
    /// VK_KHR_push_descriptor.
    PushDescriptor,
    /// VK_KHR_image_format_list.
    ImageFormatList,
    /// VK_KHR_sampler_mirror_clamp_to_edge.
    SamplerMirrorClampToEdge,
    /// VK_KHR_incremental_present.
    IncrementalPresent,
    /// VK_KHR_swapchain_mutable_format.
    SwapchainMutableFormat,
    /// VK_KHR_present_id.
    PresentId,
    /// VK_KHR_present_wait.
    PresentWait,
    /// VK_GOOGLE_display_timing.
    DisplayTiming,
    /// VK_KHR_external_memory_capabilities.
    ExternalMemoryCapabilities,
    /// VK_KHR_external_memory.
    ExternalMemory,
    /// VK_KHR_external_memory_fd.
    ExternalMemoryFd,
    /// VK_EXT_physical_device_drm.
    PhysicalDeviceDrm,
    /// VK_EXT_image_drm_format_modifier.
    ImageDrmFormatModifier,
    /// VK_EXT_external_memory_dma_buf.
    ExternalMemoryDmaBuf,
    /// VK_KHR_maintenance2.
    Maintenance2,
    /// VK_KHR_sampler_ycbcr_conversion.
    SamplerYcbcrConversion,
    /// VK_KHR_maintenance3.
    Maintenance3,
    /// VK_KHR_create_renderpass2.
    CreateRenderPass2,
    /// VK_KHR_imageless_framebuffer.
    ImagelessFramebuffer,
    /// VK_KHR_timeline_semaphore.
    TimelineSemaphore,
    /// VK_EXT_host_query_reset.
    HostQueryReset,
    /// VK_KHR_separate_depth_stencil_layouts.
    SeparateDepthStencilLayouts,
    /// VK_KHR_relaxed_block_layout.
    RelaxedBlockLayout,
    /// VK_KHR_uniform_buffer_standard_layout.
    UniformBufferStandardLayout,
    /// VK_EXT_scalar_block_layout.
    ScalarBlockLayout,
    /// VK_KHR_vulkan_memory_model.
    VulkanMemoryModel,
    /// VK_EXT_memory_budget.
    MemoryBudget,
    /// VK_KHR_device_group_creation.
    DeviceGroupCreation,
    /// VK_KHR_device_group.
    DeviceGroup,
    /// VK_KHR_shader_draw_parameters.
    ShaderDrawParameters,
    /// VK_KHR_external_fence_capabilities.
    ExternalFenceCapabilities,
    /// VK_KHR_external_fence.
    ExternalFence,
    /// VK_KHR_external_fence_fd.
    ExternalFenceFd,
    /// VK_KHR_external_semaphore_capabilities.
    ExternalSemaphoreCapabilities,
    /// VK_KHR_external_semaphore.
    ExternalSemaphore,
    /// VK_KHR_external_semaphore_fd.
    ExternalSemaphoreFd,
    /// VK_KHR_multiview.
    Multiview,
    /// VK_KHR_synchronization2.
    Synchronization2,
    /// VK_KHR_draw_indirect_count.
    DrawIndirectCount,
    /// VK_EXT_queue_family_foreign.
    QueueFamilyForeign,
    /// VK_KHR_depth_stencil_resolve.
    DepthStencilResolve,
    /// VK_KHR_dynamic_rendering.
    DynamicRendering,
    /// VK_KHR_copy_commands2.
    CopyCommands2,
    /// VK_KHR_shader_float_controls.
    ShaderFloatControls,
    /// VK_KHR_spirv_1_4.
    Spirv14,
    /// VK_EXT_separate_stencil_usage.
    SeparateStencilUsage,
    /// VK_KHR_shader_subgroup_extended_types.
    ShaderSubgroupExtendedTypes,
    /// VK_KHR_index_type_uint8.
    IndexTypeUint8,
    /// VK_EXT_index_type_uint8.
    IndexTypeUint8Ext,
    /// VK_KHR_load_store_op_none.
    LoadStoreOpNone,
    /// VK_EXT_load_store_op_none.
    LoadStoreOpNoneExt,
    /// VK_EXT_tooling_info.
    ToolingInfo,
    /// VK_KHR_format_feature_flags2.
    FormatFeatureFlags2,
    /// VK_KHR_shader_non_semantic_info.
    ShaderNonSemanticInfo,
    /// VK_KHR_shader_terminate_invocation.
    ShaderTerminateInvocation,
    /// VK_KHR_zero_initialize_workgroup_memory.
    ZeroInitializeWorkgroupMemory,
    /// VK_EXT_extended_dynamic_state.
    ExtendedDynamicState,
    /// VK_EXT_extended_dynamic_state2.
    ExtendedDynamicState2,
    /// VK_EXT_pipeline_creation_feedback.
    PipelineCreationFeedback,
    /// VK_EXT_pipeline_creation_cache_control.
    PipelineCreationCacheControl,
    /// VK_EXT_private_data.
    PrivateData,
    /// VK_EXT_4444_formats.
    Formats4444,
    /// VK_KHR_maintenance4.
    Maintenance4,
    /// VK_KHR_vertex_attribute_divisor.
    VertexAttributeDivisor,
    /// VK_EXT_vertex_attribute_divisor.
    VertexAttributeDivisorExt,
    /// VK_EXT_custom_border_color.
    CustomBorderColor,
    /// VK_EXT_border_color_swizzle.
    BorderColorSwizzle,
    /// VK_EXT_non_seamless_cube_map.
    NonSeamlessCubeMap,
    /// VK_EXT_depth_clip_enable.
    DepthClipEnable,
    /// VK_EXT_provoking_vertex.
    ProvokingVertex,
    /// VK_KHR_line_rasterization.
    LineRasterization,
    /// VK_EXT_line_rasterization.
    LineRasterizationExt,
}

/// Whether an instance or a device enables the extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// vkCreateInstance.
    Instance,
    /// vkCreateDevice.
    Device,
}

struct Row {
    extension: Extension,
    level: Level,
    name: &'static CStr,
    version: u32,
}

const fn row(extension: Extension, level: Level, name: &'static CStr, version: u32) -> Row {
    Row { extension, level, name, version }
}

const ROWS: &[Row] = &[
    row(
        Extension::GetPhysicalDeviceProperties2,
        Level::Instance,
        ash::khr::get_physical_device_properties2::NAME,
        2,
    ),
    // Names and labels are in messages, in the kernel's debug output and in captures.
    row(Extension::DebugUtils, Level::Instance, ash::ext::debug_utils::NAME, 2),
    row(Extension::Surface, Level::Instance, ash::khr::surface::NAME, 25),
    row(Extension::XcbSurface, Level::Instance, ash::khr::xcb_surface::NAME, 6),
    row(Extension::XlibSurface, Level::Instance, ash::khr::xlib_surface::NAME, 6),
    row(Extension::WaylandSurface, Level::Instance, ash::khr::wayland_surface::NAME, 6),
    // Devices whose kernel driver has no display enumerate none.
    row(Extension::Display, Level::Instance, ash::khr::display::NAME, 23),
    row(Extension::GetDisplayProperties2, Level::Instance, ash::khr::get_display_properties2::NAME, 1),
    row(Extension::DirectModeDisplay, Level::Instance, ash::ext::direct_mode_display::NAME, 1),
    row(Extension::AcquireDrmDisplay, Level::Instance, ash::ext::acquire_drm_display::NAME, 1),
    row(Extension::HeadlessSurface, Level::Instance, ash::ext::headless_surface::NAME, 1),
    row(Extension::SwapchainColorspace, Level::Instance, ash::ext::swapchain_colorspace::NAME, 4),
    row(Extension::GetSurfaceCapabilities2, Level::Instance, ash::khr::get_surface_capabilities2::NAME, 1),
    row(Extension::Swapchain, Level::Device, ash::khr::swapchain::NAME, 70),
    row(Extension::Maintenance1, Level::Device, ash::khr::maintenance1::NAME, 2),
    row(Extension::GetMemoryRequirements2, Level::Device, ash::khr::get_memory_requirements2::NAME, 1),
    // A dedicated allocation is a BO of its own, which only sharing needs.
    row(Extension::DedicatedAllocation, Level::Device, ash::khr::dedicated_allocation::NAME, 3),
    row(Extension::BindMemory2, Level::Device, ash::khr::bind_memory2::NAME, 1),
    row(Extension::StorageBufferStorageClass, Level::Device, ash::khr::storage_buffer_storage_class::NAME, 1),
    row(Extension::DescriptorUpdateTemplate, Level::Device, ash::khr::descriptor_update_template::NAME, 1),
    row(Extension::PushDescriptor, Level::Device, ash::khr::push_descriptor::NAME, 2),
    // The list may be ignored: no image is compressed, so views of other formats cost nothing.
    row(Extension::ImageFormatList, Level::Device, ash::khr::image_format_list::NAME, 1),
    row(Extension::SamplerMirrorClampToEdge, Level::Device, ash::khr::sampler_mirror_clamp_to_edge::NAME, 3),
    // Whole pictures are shown; the rectangles are a hint.
    row(Extension::IncrementalPresent, Level::Device, ash::khr::incremental_present::NAME, 2),
    // Views of other formats cost nothing, so nothing has to be known of them.
    row(Extension::SwapchainMutableFormat, Level::Device, ash::khr::swapchain_mutable_format::NAME, 1),
    row(Extension::PresentId, Level::Device, ash::khr::present_id::NAME, 1),
    row(Extension::PresentWait, Level::Device, ash::khr::present_wait::NAME, 1),
    row(Extension::DisplayTiming, Level::Device, ash::google::display_timing::NAME, 1),
    row(
        Extension::ExternalMemoryCapabilities,
        Level::Instance,
        ash::khr::external_memory_capabilities::NAME,
        1,
    ),
    row(Extension::ExternalMemory, Level::Device, ash::khr::external_memory::NAME, 1),
    row(Extension::ExternalMemoryFd, Level::Device, ash::khr::external_memory_fd::NAME, 1),
    // Every file descriptor of a BO is a dma-buf.
    row(Extension::PhysicalDeviceDrm, Level::Device, ash::ext::physical_device_drm::NAME, 1),
    row(Extension::ImageDrmFormatModifier, Level::Device, ash::ext::image_drm_format_modifier::NAME, 2),
    row(Extension::ExternalMemoryDmaBuf, Level::Device, ash::ext::external_memory_dma_buf::NAME, 1),
    row(Extension::Maintenance2, Level::Device, ash::khr::maintenance2::NAME, 1),
    // Planes are textures, and programs convert.
    row(Extension::SamplerYcbcrConversion, Level::Device, ash::khr::sampler_ycbcr_conversion::NAME, 14),
    row(Extension::Maintenance3, Level::Device, ash::khr::maintenance3::NAME, 1),
    row(Extension::Maintenance4, Level::Device, ash::khr::maintenance4::NAME, 2),
    row(Extension::CreateRenderPass2, Level::Device, ash::khr::create_renderpass2::NAME, 1),
    row(Extension::ImagelessFramebuffer, Level::Device, ash::khr::imageless_framebuffer::NAME, 1),
    row(Extension::TimelineSemaphore, Level::Device, ash::khr::timeline_semaphore::NAME, 2),
    row(Extension::HostQueryReset, Level::Device, ash::ext::host_query_reset::NAME, 1),
    // Layouts of images mean nothing here.
    row(
        Extension::SeparateDepthStencilLayouts,
        Level::Device,
        ash::khr::separate_depth_stencil_layouts::NAME,
        1,
    ),
    // Blocks are read word by word, wherever a word lies.
    row(Extension::RelaxedBlockLayout, Level::Device, ash::khr::relaxed_block_layout::NAME, 1),
    row(
        Extension::UniformBufferStandardLayout,
        Level::Device,
        ash::khr::uniform_buffer_standard_layout::NAME,
        1,
    ),
    row(Extension::ScalarBlockLayout, Level::Device, ash::ext::scalar_block_layout::NAME, 1),
    // Invocations that see each other's stores run on the CPU, whose memory is the same for all.
    row(Extension::VulkanMemoryModel, Level::Device, ash::khr::vulkan_memory_model::NAME, 3),
    row(Extension::MemoryBudget, Level::Device, ash::ext::memory_budget::NAME, 1),
    row(Extension::DeviceGroupCreation, Level::Instance, ash::khr::device_group_creation::NAME, 1),
    // A group is one device.
    row(Extension::DeviceGroup, Level::Device, ash::khr::device_group::NAME, 4),
    row(Extension::ShaderDrawParameters, Level::Device, ash::khr::shader_draw_parameters::NAME, 1),
    // States that are shared are eventfds.
    row(
        Extension::ExternalFenceCapabilities,
        Level::Instance,
        ash::khr::external_fence_capabilities::NAME,
        1,
    ),
    row(Extension::ExternalFence, Level::Device, ash::khr::external_fence::NAME, 1),
    row(Extension::ExternalFenceFd, Level::Device, ash::khr::external_fence_fd::NAME, 1),
    row(
        Extension::ExternalSemaphoreCapabilities,
        Level::Instance,
        ash::khr::external_semaphore_capabilities::NAME,
        1,
    ),
    row(Extension::ExternalSemaphore, Level::Device, ash::khr::external_semaphore::NAME, 1),
    row(Extension::ExternalSemaphoreFd, Level::Device, ash::khr::external_semaphore_fd::NAME, 1),
    // A segment for each view.
    row(Extension::Multiview, Level::Device, ash::khr::multiview::NAME, 1),
    row(Extension::Synchronization2, Level::Device, ash::khr::synchronization2::NAME, 1),
    row(Extension::DrawIndirectCount, Level::Device, ash::khr::draw_indirect_count::NAME, 1),
    // There is one queue, and memory looks the same to all who share it: barriers between owners have nothing to do.
    row(Extension::QueueFamilyForeign, Level::Device, ash::ext::queue_family_foreign::NAME, 1),
    // The CPU does it: the tile buffer would store a sample that nobody can name.
    row(Extension::DepthStencilResolve, Level::Device, ash::khr::depth_stencil_resolve::NAME, 1),
    row(Extension::DynamicRendering, Level::Device, ash::khr::dynamic_rendering::NAME, 1),
    row(Extension::CopyCommands2, Level::Device, ash::khr::copy_commands2::NAME, 1),
    // No mode can be chosen, which the extension allows.
    row(Extension::ShaderFloatControls, Level::Device, ash::khr::shader_float_controls::NAME, 4),
    row(Extension::Spirv14, Level::Device, ash::khr::spirv_1_4::NAME, 1),
    row(Extension::SeparateStencilUsage, Level::Device, ash::ext::separate_stencil_usage::NAME, 1),
    // There are no other types.
    row(
        Extension::ShaderSubgroupExtendedTypes,
        Level::Device,
        ash::khr::shader_subgroup_extended_types::NAME,
        1,
    ),
    row(Extension::IndexTypeUint8, Level::Device, ash::khr::index_type_uint8::NAME, 1),
    row(Extension::IndexTypeUint8Ext, Level::Device, ash::ext::index_type_uint8::NAME, 1),
    row(Extension::LoadStoreOpNone, Level::Device, ash::khr::load_store_op_none::NAME, 1),
    row(Extension::LoadStoreOpNoneExt, Level::Device, ash::ext::load_store_op_none::NAME, 1),
    row(Extension::ToolingInfo, Level::Device, ash::ext::tooling_info::NAME, 1),
    row(Extension::FormatFeatureFlags2, Level::Device, ash::khr::format_feature_flags2::NAME, 2),
    row(Extension::ShaderNonSemanticInfo, Level::Device, ash::khr::shader_non_semantic_info::NAME, 1),
    row(Extension::ShaderTerminateInvocation, Level::Device, ash::khr::shader_terminate_invocation::NAME, 1),
    row(
        Extension::ZeroInitializeWorkgroupMemory,
        Level::Device,
        ash::khr::zero_initialize_workgroup_memory::NAME,
        1,
    ),
    // A pipeline for each kind of state that draws have.
    row(Extension::ExtendedDynamicState, Level::Device, ash::ext::extended_dynamic_state::NAME, 1),
    row(Extension::ExtendedDynamicState2, Level::Device, ash::ext::extended_dynamic_state2::NAME, 1),
    row(Extension::PipelineCreationFeedback, Level::Device, ash::ext::pipeline_creation_feedback::NAME, 1),
    row(
        Extension::PipelineCreationCacheControl,
        Level::Device,
        ash::ext::pipeline_creation_cache_control::NAME,
        3,
    ),
    row(Extension::PrivateData, Level::Device, ash::ext::private_data::NAME, 1),
    row(Extension::Formats4444, Level::Device, ash::ext::_4444_formats::NAME, 1),
    row(Extension::VertexAttributeDivisor, Level::Device, ash::khr::vertex_attribute_divisor::NAME, 1),
    row(Extension::VertexAttributeDivisorExt, Level::Device, ash::ext::vertex_attribute_divisor::NAME, 3),
    row(Extension::CustomBorderColor, Level::Device, ash::ext::custom_border_color::NAME, 12),
    // A border is a texel to the view, which swizzles it like any other.
    row(Extension::BorderColorSwizzle, Level::Device, ash::ext::border_color_swizzle::NAME, 1),
    row(Extension::NonSeamlessCubeMap, Level::Device, ash::ext::non_seamless_cube_map::NAME, 1),
    row(Extension::DepthClipEnable, Level::Device, ash::ext::depth_clip_enable::NAME, 1),
    row(Extension::ProvokingVertex, Level::Device, ash::ext::provoking_vertex::NAME, 1),
    row(Extension::LineRasterization, Level::Device, ash::khr::line_rasterization::NAME, 1),
    row(Extension::LineRasterizationExt, Level::Device, ash::ext::line_rasterization::NAME, 1),
];

impl Extension {
    /// Whether instances enable it.
    pub fn is_of_instance(self) -> bool {
        ROWS.iter().any(|row| row.extension == self && row.level == Level::Instance)
    }

    /// Whether it is about memory that devices share.
    fn needs_sharing(self) -> bool {
        use Extension::{ExternalMemory, ExternalMemoryDmaBuf, ExternalMemoryFd, ImageDrmFormatModifier};
        matches!(self, ExternalMemory | ExternalMemoryFd | ExternalMemoryDmaBuf | ImageDrmFormatModifier)
            || self == Extension::QueueFamilyForeign
    }
}

/// The extensions of a level as applications enumerate them; `shares`: the device can share memory.
pub fn properties(level: Level, shares: bool) -> Vec<vk::ExtensionProperties> {
    let rows = ROWS.iter().filter(|row| row.level == level && (shares || !row.extension.needs_sharing()));
    rows.map(|row| {
        let mut properties = vk::ExtensionProperties { spec_version: row.version, ..Default::default() };
        for (to, from) in properties.extension_name.iter_mut().zip(row.name.to_bytes()) {
            *to = *from as std::ffi::c_char;
        }
        properties
    })
    .collect()
}

/// The offered extension of that level and name; `shares` as for [`properties`].
pub fn find(level: Level, name: &CStr, shares: bool) -> Option<Extension> {
    let row = ROWS.iter().find(|row| row.level == level && row.name == name)?;
    Some(row.extension).filter(|extension| shares || !extension.needs_sharing())
}
