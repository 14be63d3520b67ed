//! The table of commands, and the two commands that hand them out.

use std::ffi::{CStr, c_char};

use ash::vk;

use super::{
    address, buffer, command, conversion, copy2, debug_utils, descriptor, device, display, external_sync,
    group, image, instance, memory, memory2, pass, pipeline, private_data, properties2, query, rendering,
    switches, sync, sync2, template, transfer, wsi,
};
use crate::execution::open_device::OpenDevice;
use crate::foundation::extension::Extension;
use crate::foundation::handle;

/// Which handle a command starts from; it decides who may hand the command out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// None: the instance does not exist yet.
    Global,
    /// VkInstance.
    Instance,
    /// VkPhysicalDevice.
    PhysicalDevice,
    /// VkDevice, VkQueue or VkCommandBuffer.
    Device,
}

/// What makes a command available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reveal {
    /// Vulkan 1.0.
    Core,
    /// Vulkan 1.1, where the application asks for that.
    Core11,
    /// Vulkan 1.2, where the application asks for that.
    Core12,
    /// An extension of instance or device.
    Extension(Extension),
}

/// One row of the table.
pub(crate) struct EntryPoint {
    /// The API's name.
    pub name: &'static str,
    /// Who hands it out.
    pub scope: Scope,
    /// What makes it available.
    pub reveal: Reveal,
    /// The function, typed by its row.
    pub function: unsafe extern "system" fn(),
}

/// The name that a row hands a function out under.
macro_rules! name {
    ($name:ident) => {
        stringify!($name)
    };
    ($name:ident $alias:ident) => {
        stringify!($alias)
    };
}

/// Writes rows, `as` another name than the function's where a version took an extension's command over. The assignment to
/// ash's function type makes a wrong signature a compile error.
macro_rules! table {
    ($($reveal:expr, $scope:ident: { $($module:ident::$name:ident $(as $alias:ident)?: $pfn:path),* $(,)? })*) => {
        &[$($(EntryPoint {
            name: name!($name $($alias)?),
            scope: Scope::$scope,
            reveal: $reveal,
            function: {
                const TYPED: $pfn = $module::$name;
                // SAFETY: function pointers of one ABI have one size; the loader casts back by name.
                unsafe { std::mem::transmute::<$pfn, unsafe extern "system" fn()>(TYPED) }
            },
        },)*)*]
    };
}

/// Every command that this driver has.
pub(crate) static TABLE: &[EntryPoint] = table! {
    Reveal::Core, Global: {
        instance::vkCreateInstance: vk::PFN_vkCreateInstance,
        instance::vkEnumerateInstanceExtensionProperties: vk::PFN_vkEnumerateInstanceExtensionProperties,
        instance::vkEnumerateInstanceLayerProperties: vk::PFN_vkEnumerateInstanceLayerProperties,
        self::vkGetInstanceProcAddr: vk::PFN_vkGetInstanceProcAddr,
    }
    Reveal::Core, Instance: {
        instance::vkDestroyInstance: vk::PFN_vkDestroyInstance,
        instance::vkEnumeratePhysicalDevices: vk::PFN_vkEnumeratePhysicalDevices,
    }
    Reveal::Core, PhysicalDevice: {
        instance::vkGetPhysicalDeviceFeatures: vk::PFN_vkGetPhysicalDeviceFeatures,
        instance::vkGetPhysicalDeviceFormatProperties: vk::PFN_vkGetPhysicalDeviceFormatProperties,
        instance::vkGetPhysicalDeviceImageFormatProperties: vk::PFN_vkGetPhysicalDeviceImageFormatProperties,
        instance::vkGetPhysicalDeviceProperties: vk::PFN_vkGetPhysicalDeviceProperties,
        instance::vkGetPhysicalDeviceQueueFamilyProperties: vk::PFN_vkGetPhysicalDeviceQueueFamilyProperties,
        instance::vkGetPhysicalDeviceMemoryProperties: vk::PFN_vkGetPhysicalDeviceMemoryProperties,
        instance::vkGetPhysicalDeviceSparseImageFormatProperties:
            vk::PFN_vkGetPhysicalDeviceSparseImageFormatProperties,
        device::vkCreateDevice: vk::PFN_vkCreateDevice,
        device::vkEnumerateDeviceExtensionProperties: vk::PFN_vkEnumerateDeviceExtensionProperties,
        device::vkEnumerateDeviceLayerProperties: vk::PFN_vkEnumerateDeviceLayerProperties,
    }
    Reveal::Core, Device: {
        self::vkGetDeviceProcAddr: vk::PFN_vkGetDeviceProcAddr,
        device::vkDestroyDevice: vk::PFN_vkDestroyDevice,
        device::vkGetDeviceQueue: vk::PFN_vkGetDeviceQueue,
        device::vkQueueSubmit: vk::PFN_vkQueueSubmit,
        device::vkQueueWaitIdle: vk::PFN_vkQueueWaitIdle,
        device::vkDeviceWaitIdle: vk::PFN_vkDeviceWaitIdle,
        device::vkQueueBindSparse: vk::PFN_vkQueueBindSparse,
        memory::vkAllocateMemory: vk::PFN_vkAllocateMemory,
        memory::vkFreeMemory: vk::PFN_vkFreeMemory,
        memory::vkMapMemory: vk::PFN_vkMapMemory,
        memory::vkUnmapMemory: vk::PFN_vkUnmapMemory,
        memory::vkFlushMappedMemoryRanges: vk::PFN_vkFlushMappedMemoryRanges,
        memory::vkInvalidateMappedMemoryRanges: vk::PFN_vkInvalidateMappedMemoryRanges,
        memory::vkGetDeviceMemoryCommitment: vk::PFN_vkGetDeviceMemoryCommitment,
        buffer::vkCreateBuffer: vk::PFN_vkCreateBuffer,
        buffer::vkDestroyBuffer: vk::PFN_vkDestroyBuffer,
        buffer::vkBindBufferMemory: vk::PFN_vkBindBufferMemory,
        buffer::vkGetBufferMemoryRequirements: vk::PFN_vkGetBufferMemoryRequirements,
        buffer::vkCreateBufferView: vk::PFN_vkCreateBufferView,
        buffer::vkDestroyBufferView: vk::PFN_vkDestroyBufferView,
        image::vkCreateImage: vk::PFN_vkCreateImage,
        image::vkDestroyImage: vk::PFN_vkDestroyImage,
        image::vkBindImageMemory: vk::PFN_vkBindImageMemory,
        image::vkGetImageMemoryRequirements: vk::PFN_vkGetImageMemoryRequirements,
        image::vkGetImageSparseMemoryRequirements: vk::PFN_vkGetImageSparseMemoryRequirements,
        image::vkGetImageSubresourceLayout: vk::PFN_vkGetImageSubresourceLayout,
        image::vkCreateImageView: vk::PFN_vkCreateImageView,
        image::vkDestroyImageView: vk::PFN_vkDestroyImageView,
        image::vkCreateSampler: vk::PFN_vkCreateSampler,
        image::vkDestroySampler: vk::PFN_vkDestroySampler,
        sync::vkCreateFence: vk::PFN_vkCreateFence,
        sync::vkDestroyFence: vk::PFN_vkDestroyFence,
        sync::vkResetFences: vk::PFN_vkResetFences,
        sync::vkGetFenceStatus: vk::PFN_vkGetFenceStatus,
        sync::vkWaitForFences: vk::PFN_vkWaitForFences,
        sync::vkCreateSemaphore: vk::PFN_vkCreateSemaphore,
        sync::vkDestroySemaphore: vk::PFN_vkDestroySemaphore,
        sync::vkCreateEvent: vk::PFN_vkCreateEvent,
        sync::vkDestroyEvent: vk::PFN_vkDestroyEvent,
        sync::vkGetEventStatus: vk::PFN_vkGetEventStatus,
        sync::vkSetEvent: vk::PFN_vkSetEvent,
        sync::vkResetEvent: vk::PFN_vkResetEvent,
        query::vkCreateQueryPool: vk::PFN_vkCreateQueryPool,
        query::vkDestroyQueryPool: vk::PFN_vkDestroyQueryPool,
        query::vkGetQueryPoolResults: vk::PFN_vkGetQueryPoolResults,
        pipeline::vkCreateShaderModule: vk::PFN_vkCreateShaderModule,
        pipeline::vkDestroyShaderModule: vk::PFN_vkDestroyShaderModule,
        pipeline::vkCreatePipelineCache: vk::PFN_vkCreatePipelineCache,
        pipeline::vkDestroyPipelineCache: vk::PFN_vkDestroyPipelineCache,
        pipeline::vkGetPipelineCacheData: vk::PFN_vkGetPipelineCacheData,
        pipeline::vkMergePipelineCaches: vk::PFN_vkMergePipelineCaches,
        pipeline::vkCreateGraphicsPipelines: vk::PFN_vkCreateGraphicsPipelines,
        pipeline::vkCreateComputePipelines: vk::PFN_vkCreateComputePipelines,
        pipeline::vkDestroyPipeline: vk::PFN_vkDestroyPipeline,
        pipeline::vkCreatePipelineLayout: vk::PFN_vkCreatePipelineLayout,
        pipeline::vkDestroyPipelineLayout: vk::PFN_vkDestroyPipelineLayout,
        descriptor::vkCreateDescriptorSetLayout: vk::PFN_vkCreateDescriptorSetLayout,
        descriptor::vkDestroyDescriptorSetLayout: vk::PFN_vkDestroyDescriptorSetLayout,
        descriptor::vkCreateDescriptorPool: vk::PFN_vkCreateDescriptorPool,
        descriptor::vkDestroyDescriptorPool: vk::PFN_vkDestroyDescriptorPool,
        descriptor::vkResetDescriptorPool: vk::PFN_vkResetDescriptorPool,
        descriptor::vkAllocateDescriptorSets: vk::PFN_vkAllocateDescriptorSets,
        descriptor::vkFreeDescriptorSets: vk::PFN_vkFreeDescriptorSets,
        descriptor::vkUpdateDescriptorSets: vk::PFN_vkUpdateDescriptorSets,
        pass::vkCreateFramebuffer: vk::PFN_vkCreateFramebuffer,
        pass::vkDestroyFramebuffer: vk::PFN_vkDestroyFramebuffer,
        pass::vkCreateRenderPass: vk::PFN_vkCreateRenderPass,
        pass::vkDestroyRenderPass: vk::PFN_vkDestroyRenderPass,
        pass::vkGetRenderAreaGranularity: vk::PFN_vkGetRenderAreaGranularity,
        command::vkCreateCommandPool: vk::PFN_vkCreateCommandPool,
        command::vkDestroyCommandPool: vk::PFN_vkDestroyCommandPool,
        command::vkResetCommandPool: vk::PFN_vkResetCommandPool,
        command::vkAllocateCommandBuffers: vk::PFN_vkAllocateCommandBuffers,
        command::vkFreeCommandBuffers: vk::PFN_vkFreeCommandBuffers,
        command::vkBeginCommandBuffer: vk::PFN_vkBeginCommandBuffer,
        command::vkEndCommandBuffer: vk::PFN_vkEndCommandBuffer,
        command::vkResetCommandBuffer: vk::PFN_vkResetCommandBuffer,
        command::vkCmdBindPipeline: vk::PFN_vkCmdBindPipeline,
        command::vkCmdSetViewport: vk::PFN_vkCmdSetViewport,
        command::vkCmdSetScissor: vk::PFN_vkCmdSetScissor,
        command::vkCmdSetLineWidth: vk::PFN_vkCmdSetLineWidth,
        command::vkCmdSetDepthBias: vk::PFN_vkCmdSetDepthBias,
        command::vkCmdSetBlendConstants: vk::PFN_vkCmdSetBlendConstants,
        command::vkCmdSetDepthBounds: vk::PFN_vkCmdSetDepthBounds,
        command::vkCmdSetStencilCompareMask: vk::PFN_vkCmdSetStencilCompareMask,
        command::vkCmdSetStencilWriteMask: vk::PFN_vkCmdSetStencilWriteMask,
        command::vkCmdSetStencilReference: vk::PFN_vkCmdSetStencilReference,
        command::vkCmdBindDescriptorSets: vk::PFN_vkCmdBindDescriptorSets,
        command::vkCmdBindIndexBuffer: vk::PFN_vkCmdBindIndexBuffer,
        command::vkCmdBindVertexBuffers: vk::PFN_vkCmdBindVertexBuffers,
        command::vkCmdPushConstants: vk::PFN_vkCmdPushConstants,
        command::vkCmdDraw: vk::PFN_vkCmdDraw,
        command::vkCmdDrawIndexed: vk::PFN_vkCmdDrawIndexed,
        command::vkCmdDrawIndirect: vk::PFN_vkCmdDrawIndirect,
        command::vkCmdDrawIndexedIndirect: vk::PFN_vkCmdDrawIndexedIndirect,
        command::vkCmdDispatch: vk::PFN_vkCmdDispatch,
        command::vkCmdDispatchIndirect: vk::PFN_vkCmdDispatchIndirect,
        command::vkCmdBeginRenderPass: vk::PFN_vkCmdBeginRenderPass,
        command::vkCmdNextSubpass: vk::PFN_vkCmdNextSubpass,
        command::vkCmdEndRenderPass: vk::PFN_vkCmdEndRenderPass,
        command::vkCmdExecuteCommands: vk::PFN_vkCmdExecuteCommands,
        command::vkCmdSetEvent: vk::PFN_vkCmdSetEvent,
        command::vkCmdResetEvent: vk::PFN_vkCmdResetEvent,
        command::vkCmdWaitEvents: vk::PFN_vkCmdWaitEvents,
        command::vkCmdPipelineBarrier: vk::PFN_vkCmdPipelineBarrier,
        transfer::vkCmdCopyBuffer: vk::PFN_vkCmdCopyBuffer,
        transfer::vkCmdCopyImage: vk::PFN_vkCmdCopyImage,
        transfer::vkCmdBlitImage: vk::PFN_vkCmdBlitImage,
        transfer::vkCmdCopyBufferToImage: vk::PFN_vkCmdCopyBufferToImage,
        transfer::vkCmdCopyImageToBuffer: vk::PFN_vkCmdCopyImageToBuffer,
        transfer::vkCmdUpdateBuffer: vk::PFN_vkCmdUpdateBuffer,
        transfer::vkCmdFillBuffer: vk::PFN_vkCmdFillBuffer,
        transfer::vkCmdClearColorImage: vk::PFN_vkCmdClearColorImage,
        transfer::vkCmdClearDepthStencilImage: vk::PFN_vkCmdClearDepthStencilImage,
        transfer::vkCmdClearAttachments: vk::PFN_vkCmdClearAttachments,
        transfer::vkCmdResolveImage: vk::PFN_vkCmdResolveImage,
        query::vkCmdBeginQuery: vk::PFN_vkCmdBeginQuery,
        query::vkCmdEndQuery: vk::PFN_vkCmdEndQuery,
        query::vkCmdResetQueryPool: vk::PFN_vkCmdResetQueryPool,
        query::vkCmdWriteTimestamp: vk::PFN_vkCmdWriteTimestamp,
        query::vkCmdCopyQueryPoolResults: vk::PFN_vkCmdCopyQueryPoolResults,
    }
    Reveal::Core11, Global: {
        instance::vkEnumerateInstanceVersion: vk::PFN_vkEnumerateInstanceVersion,
    }
    Reveal::Core11, Instance: {
        group::vkEnumeratePhysicalDeviceGroupsKHR as vkEnumeratePhysicalDeviceGroups:
            vk::PFN_vkEnumeratePhysicalDeviceGroups,
    }
    Reveal::Core11, PhysicalDevice: {
        properties2::vkGetPhysicalDeviceFeatures2KHR as vkGetPhysicalDeviceFeatures2:
            vk::PFN_vkGetPhysicalDeviceFeatures2,
        properties2::vkGetPhysicalDeviceProperties2KHR as vkGetPhysicalDeviceProperties2:
            vk::PFN_vkGetPhysicalDeviceProperties2,
        properties2::vkGetPhysicalDeviceFormatProperties2KHR as vkGetPhysicalDeviceFormatProperties2:
            vk::PFN_vkGetPhysicalDeviceFormatProperties2,
        properties2::vkGetPhysicalDeviceImageFormatProperties2KHR as vkGetPhysicalDeviceImageFormatProperties2:
            vk::PFN_vkGetPhysicalDeviceImageFormatProperties2,
        properties2::vkGetPhysicalDeviceQueueFamilyProperties2KHR as vkGetPhysicalDeviceQueueFamilyProperties2:
            vk::PFN_vkGetPhysicalDeviceQueueFamilyProperties2,
        properties2::vkGetPhysicalDeviceMemoryProperties2KHR as vkGetPhysicalDeviceMemoryProperties2:
            vk::PFN_vkGetPhysicalDeviceMemoryProperties2,
        properties2::vkGetPhysicalDeviceSparseImageFormatProperties2KHR
            as vkGetPhysicalDeviceSparseImageFormatProperties2:
            vk::PFN_vkGetPhysicalDeviceSparseImageFormatProperties2,
        properties2::vkGetPhysicalDeviceExternalBufferPropertiesKHR as vkGetPhysicalDeviceExternalBufferProperties:
            vk::PFN_vkGetPhysicalDeviceExternalBufferProperties,
        external_sync::vkGetPhysicalDeviceExternalFencePropertiesKHR as vkGetPhysicalDeviceExternalFenceProperties:
            vk::PFN_vkGetPhysicalDeviceExternalFenceProperties,
        external_sync::vkGetPhysicalDeviceExternalSemaphorePropertiesKHR
            as vkGetPhysicalDeviceExternalSemaphoreProperties:
            vk::PFN_vkGetPhysicalDeviceExternalSemaphoreProperties,
    }
    Reveal::Core11, Device: {
        device::vkGetDeviceQueue2: vk::PFN_vkGetDeviceQueue2,
        group::vkGetDeviceGroupPeerMemoryFeaturesKHR as vkGetDeviceGroupPeerMemoryFeatures:
            vk::PFN_vkGetDeviceGroupPeerMemoryFeatures,
        group::vkCmdSetDeviceMaskKHR as vkCmdSetDeviceMask: vk::PFN_vkCmdSetDeviceMask,
        group::vkCmdDispatchBaseKHR as vkCmdDispatchBase: vk::PFN_vkCmdDispatchBase,
        command::vkTrimCommandPoolKHR as vkTrimCommandPool: vk::PFN_vkTrimCommandPool,
        memory2::vkGetBufferMemoryRequirements2KHR as vkGetBufferMemoryRequirements2:
            vk::PFN_vkGetBufferMemoryRequirements2,
        memory2::vkGetImageMemoryRequirements2KHR as vkGetImageMemoryRequirements2:
            vk::PFN_vkGetImageMemoryRequirements2,
        memory2::vkGetImageSparseMemoryRequirements2KHR as vkGetImageSparseMemoryRequirements2:
            vk::PFN_vkGetImageSparseMemoryRequirements2,
        memory2::vkBindBufferMemory2KHR as vkBindBufferMemory2: vk::PFN_vkBindBufferMemory2,
        memory2::vkBindImageMemory2KHR as vkBindImageMemory2: vk::PFN_vkBindImageMemory2,
        template::vkCreateDescriptorUpdateTemplateKHR as vkCreateDescriptorUpdateTemplate:
            vk::PFN_vkCreateDescriptorUpdateTemplate,
        template::vkDestroyDescriptorUpdateTemplateKHR as vkDestroyDescriptorUpdateTemplate:
            vk::PFN_vkDestroyDescriptorUpdateTemplate,
        template::vkUpdateDescriptorSetWithTemplateKHR as vkUpdateDescriptorSetWithTemplate:
            vk::PFN_vkUpdateDescriptorSetWithTemplate,
        descriptor::vkGetDescriptorSetLayoutSupportKHR as vkGetDescriptorSetLayoutSupport:
            vk::PFN_vkGetDescriptorSetLayoutSupport,
        conversion::vkCreateSamplerYcbcrConversionKHR as vkCreateSamplerYcbcrConversion:
            vk::PFN_vkCreateSamplerYcbcrConversion,
        conversion::vkDestroySamplerYcbcrConversionKHR as vkDestroySamplerYcbcrConversion:
            vk::PFN_vkDestroySamplerYcbcrConversion,
    }
    Reveal::Core12, Device: {
        command::vkCmdDrawIndirectCountKHR as vkCmdDrawIndirectCount: vk::PFN_vkCmdDrawIndirectCount,
        command::vkCmdDrawIndexedIndirectCountKHR as vkCmdDrawIndexedIndirectCount:
            vk::PFN_vkCmdDrawIndexedIndirectCount,
        pass::vkCreateRenderPass2KHR as vkCreateRenderPass2: vk::PFN_vkCreateRenderPass2,
        command::vkCmdBeginRenderPass2KHR as vkCmdBeginRenderPass2: vk::PFN_vkCmdBeginRenderPass2,
        command::vkCmdNextSubpass2KHR as vkCmdNextSubpass2: vk::PFN_vkCmdNextSubpass2,
        command::vkCmdEndRenderPass2KHR as vkCmdEndRenderPass2: vk::PFN_vkCmdEndRenderPass2,
        query::vkResetQueryPoolEXT as vkResetQueryPool: vk::PFN_vkResetQueryPool,
        sync::vkGetSemaphoreCounterValueKHR as vkGetSemaphoreCounterValue: vk::PFN_vkGetSemaphoreCounterValue,
        sync::vkWaitSemaphoresKHR as vkWaitSemaphores: vk::PFN_vkWaitSemaphores,
        sync::vkSignalSemaphoreKHR as vkSignalSemaphore: vk::PFN_vkSignalSemaphore,
        address::vkGetBufferDeviceAddress: vk::PFN_vkGetBufferDeviceAddress,
        address::vkGetBufferOpaqueCaptureAddress: vk::PFN_vkGetBufferOpaqueCaptureAddress,
        address::vkGetDeviceMemoryOpaqueCaptureAddress: vk::PFN_vkGetDeviceMemoryOpaqueCaptureAddress,
    }
    Reveal::Extension(Extension::ToolingInfo), PhysicalDevice: {
        device::vkGetPhysicalDeviceToolPropertiesEXT: vk::PFN_vkGetPhysicalDeviceToolProperties,
    }
    Reveal::Extension(Extension::GetPhysicalDeviceProperties2), PhysicalDevice: {
        properties2::vkGetPhysicalDeviceFeatures2KHR: vk::PFN_vkGetPhysicalDeviceFeatures2,
        properties2::vkGetPhysicalDeviceProperties2KHR: vk::PFN_vkGetPhysicalDeviceProperties2,
        properties2::vkGetPhysicalDeviceFormatProperties2KHR: vk::PFN_vkGetPhysicalDeviceFormatProperties2,
        properties2::vkGetPhysicalDeviceImageFormatProperties2KHR:
            vk::PFN_vkGetPhysicalDeviceImageFormatProperties2,
        properties2::vkGetPhysicalDeviceQueueFamilyProperties2KHR:
            vk::PFN_vkGetPhysicalDeviceQueueFamilyProperties2,
        properties2::vkGetPhysicalDeviceMemoryProperties2KHR:
            vk::PFN_vkGetPhysicalDeviceMemoryProperties2,
        properties2::vkGetPhysicalDeviceSparseImageFormatProperties2KHR:
            vk::PFN_vkGetPhysicalDeviceSparseImageFormatProperties2,
    }
    Reveal::Extension(Extension::DeviceGroupCreation), Instance: {
        group::vkEnumeratePhysicalDeviceGroupsKHR: vk::PFN_vkEnumeratePhysicalDeviceGroups,
    }
    Reveal::Extension(Extension::DeviceGroup), Device: {
        group::vkGetDeviceGroupPeerMemoryFeaturesKHR: vk::PFN_vkGetDeviceGroupPeerMemoryFeatures,
        group::vkCmdSetDeviceMaskKHR: vk::PFN_vkCmdSetDeviceMask,
        group::vkCmdDispatchBaseKHR: vk::PFN_vkCmdDispatchBase,
    }
    Reveal::Extension(Extension::Surface), Instance: {
        wsi::vkDestroySurfaceKHR: vk::PFN_vkDestroySurfaceKHR,
    }
    Reveal::Extension(Extension::Surface), PhysicalDevice: {
        wsi::vkGetPhysicalDeviceSurfaceSupportKHR: vk::PFN_vkGetPhysicalDeviceSurfaceSupportKHR,
        wsi::vkGetPhysicalDeviceSurfaceCapabilitiesKHR: vk::PFN_vkGetPhysicalDeviceSurfaceCapabilitiesKHR,
        wsi::vkGetPhysicalDeviceSurfaceFormatsKHR: vk::PFN_vkGetPhysicalDeviceSurfaceFormatsKHR,
        wsi::vkGetPhysicalDeviceSurfacePresentModesKHR: vk::PFN_vkGetPhysicalDeviceSurfacePresentModesKHR,
        wsi::vkGetPhysicalDevicePresentRectanglesKHR: vk::PFN_vkGetPhysicalDevicePresentRectanglesKHR,
    }
    Reveal::Extension(Extension::XcbSurface), Instance: {
        wsi::vkCreateXcbSurfaceKHR: vk::PFN_vkCreateXcbSurfaceKHR,
    }
    Reveal::Extension(Extension::XcbSurface), PhysicalDevice: {
        wsi::vkGetPhysicalDeviceXcbPresentationSupportKHR: vk::PFN_vkGetPhysicalDeviceXcbPresentationSupportKHR,
    }
    Reveal::Extension(Extension::WaylandSurface), Instance: {
        wsi::vkCreateWaylandSurfaceKHR: vk::PFN_vkCreateWaylandSurfaceKHR,
    }
    Reveal::Extension(Extension::WaylandSurface), PhysicalDevice: {
        wsi::vkGetPhysicalDeviceWaylandPresentationSupportKHR:
            vk::PFN_vkGetPhysicalDeviceWaylandPresentationSupportKHR,
    }
    Reveal::Extension(Extension::XlibSurface), Instance: {
        wsi::vkCreateXlibSurfaceKHR: vk::PFN_vkCreateXlibSurfaceKHR,
    }
    Reveal::Extension(Extension::XlibSurface), PhysicalDevice: {
        wsi::vkGetPhysicalDeviceXlibPresentationSupportKHR:
            vk::PFN_vkGetPhysicalDeviceXlibPresentationSupportKHR,
    }
    Reveal::Extension(Extension::Display), Instance: {
        display::vkCreateDisplayPlaneSurfaceKHR: vk::PFN_vkCreateDisplayPlaneSurfaceKHR,
    }
    Reveal::Extension(Extension::Display), PhysicalDevice: {
        display::vkGetPhysicalDeviceDisplayPropertiesKHR: vk::PFN_vkGetPhysicalDeviceDisplayPropertiesKHR,
        display::vkGetPhysicalDeviceDisplayPlanePropertiesKHR:
            vk::PFN_vkGetPhysicalDeviceDisplayPlanePropertiesKHR,
        display::vkGetDisplayPlaneSupportedDisplaysKHR: vk::PFN_vkGetDisplayPlaneSupportedDisplaysKHR,
        display::vkGetDisplayModePropertiesKHR: vk::PFN_vkGetDisplayModePropertiesKHR,
        display::vkCreateDisplayModeKHR: vk::PFN_vkCreateDisplayModeKHR,
        display::vkGetDisplayPlaneCapabilitiesKHR: vk::PFN_vkGetDisplayPlaneCapabilitiesKHR,
    }
    Reveal::Extension(Extension::GetDisplayProperties2), PhysicalDevice: {
        display::vkGetPhysicalDeviceDisplayProperties2KHR: vk::PFN_vkGetPhysicalDeviceDisplayProperties2KHR,
        display::vkGetPhysicalDeviceDisplayPlaneProperties2KHR:
            vk::PFN_vkGetPhysicalDeviceDisplayPlaneProperties2KHR,
        display::vkGetDisplayModeProperties2KHR: vk::PFN_vkGetDisplayModeProperties2KHR,
        display::vkGetDisplayPlaneCapabilities2KHR: vk::PFN_vkGetDisplayPlaneCapabilities2KHR,
    }
    Reveal::Extension(Extension::DirectModeDisplay), PhysicalDevice: {
        display::vkReleaseDisplayEXT: vk::PFN_vkReleaseDisplayEXT,
    }
    Reveal::Extension(Extension::AcquireDrmDisplay), PhysicalDevice: {
        display::vkAcquireDrmDisplayEXT: vk::PFN_vkAcquireDrmDisplayEXT,
        display::vkGetDrmDisplayEXT: vk::PFN_vkGetDrmDisplayEXT,
    }
    Reveal::Extension(Extension::HeadlessSurface), Instance: {
        wsi::vkCreateHeadlessSurfaceEXT: vk::PFN_vkCreateHeadlessSurfaceEXT,
    }
    Reveal::Extension(Extension::GetSurfaceCapabilities2), PhysicalDevice: {
        wsi::vkGetPhysicalDeviceSurfaceCapabilities2KHR: vk::PFN_vkGetPhysicalDeviceSurfaceCapabilities2KHR,
        wsi::vkGetPhysicalDeviceSurfaceFormats2KHR: vk::PFN_vkGetPhysicalDeviceSurfaceFormats2KHR,
    }
    Reveal::Extension(Extension::PresentWait), Device: {
        wsi::vkWaitForPresentKHR: vk::PFN_vkWaitForPresentKHR,
    }
    Reveal::Extension(Extension::DisplayTiming), Device: {
        wsi::vkGetRefreshCycleDurationGOOGLE: vk::PFN_vkGetRefreshCycleDurationGOOGLE,
        wsi::vkGetPastPresentationTimingGOOGLE: vk::PFN_vkGetPastPresentationTimingGOOGLE,
    }
    Reveal::Extension(Extension::Maintenance1), Device: {
        command::vkTrimCommandPoolKHR: vk::PFN_vkTrimCommandPool,
    }
    Reveal::Extension(Extension::GetMemoryRequirements2), Device: {
        memory2::vkGetBufferMemoryRequirements2KHR: vk::PFN_vkGetBufferMemoryRequirements2,
        memory2::vkGetImageMemoryRequirements2KHR: vk::PFN_vkGetImageMemoryRequirements2,
        memory2::vkGetImageSparseMemoryRequirements2KHR: vk::PFN_vkGetImageSparseMemoryRequirements2,
    }
    Reveal::Extension(Extension::ExternalMemoryCapabilities), PhysicalDevice: {
        properties2::vkGetPhysicalDeviceExternalBufferPropertiesKHR:
            vk::PFN_vkGetPhysicalDeviceExternalBufferProperties,
    }
    Reveal::Extension(Extension::ExternalFenceCapabilities), PhysicalDevice: {
        external_sync::vkGetPhysicalDeviceExternalFencePropertiesKHR:
            vk::PFN_vkGetPhysicalDeviceExternalFenceProperties,
    }
    Reveal::Extension(Extension::ExternalSemaphoreCapabilities), PhysicalDevice: {
        external_sync::vkGetPhysicalDeviceExternalSemaphorePropertiesKHR:
            vk::PFN_vkGetPhysicalDeviceExternalSemaphoreProperties,
    }
    Reveal::Extension(Extension::ExternalFenceFd), Device: {
        external_sync::vkImportFenceFdKHR: vk::PFN_vkImportFenceFdKHR,
        external_sync::vkGetFenceFdKHR: vk::PFN_vkGetFenceFdKHR,
    }
    Reveal::Extension(Extension::ExternalSemaphoreFd), Device: {
        external_sync::vkImportSemaphoreFdKHR: vk::PFN_vkImportSemaphoreFdKHR,
        external_sync::vkGetSemaphoreFdKHR: vk::PFN_vkGetSemaphoreFdKHR,
    }
    Reveal::Extension(Extension::ExternalMemoryFd), Device: {
        memory::vkGetMemoryFdKHR: vk::PFN_vkGetMemoryFdKHR,
        memory::vkGetMemoryFdPropertiesKHR: vk::PFN_vkGetMemoryFdPropertiesKHR,
    }
    Reveal::Extension(Extension::ImageDrmFormatModifier), Device: {
        image::vkGetImageDrmFormatModifierPropertiesEXT: vk::PFN_vkGetImageDrmFormatModifierPropertiesEXT,
    }
    Reveal::Extension(Extension::BindMemory2), Device: {
        memory2::vkBindBufferMemory2KHR: vk::PFN_vkBindBufferMemory2,
        memory2::vkBindImageMemory2KHR: vk::PFN_vkBindImageMemory2,
    }
    Reveal::Extension(Extension::DescriptorUpdateTemplate), Device: {
        template::vkCreateDescriptorUpdateTemplateKHR: vk::PFN_vkCreateDescriptorUpdateTemplate,
        template::vkDestroyDescriptorUpdateTemplateKHR: vk::PFN_vkDestroyDescriptorUpdateTemplate,
        template::vkUpdateDescriptorSetWithTemplateKHR: vk::PFN_vkUpdateDescriptorSetWithTemplate,
    }
    Reveal::Extension(Extension::PushDescriptor), Device: {
        template::vkCmdPushDescriptorSetKHR: vk::PFN_vkCmdPushDescriptorSetKHR,
        template::vkCmdPushDescriptorSetWithTemplateKHR: vk::PFN_vkCmdPushDescriptorSetWithTemplateKHR,
    }
    Reveal::Extension(Extension::SamplerYcbcrConversion), Device: {
        conversion::vkCreateSamplerYcbcrConversionKHR: vk::PFN_vkCreateSamplerYcbcrConversion,
        conversion::vkDestroySamplerYcbcrConversionKHR: vk::PFN_vkDestroySamplerYcbcrConversion,
    }
    Reveal::Extension(Extension::Maintenance3), Device: {
        descriptor::vkGetDescriptorSetLayoutSupportKHR: vk::PFN_vkGetDescriptorSetLayoutSupport,
    }
    Reveal::Extension(Extension::CreateRenderPass2), Device: {
        pass::vkCreateRenderPass2KHR: vk::PFN_vkCreateRenderPass2,
        command::vkCmdBeginRenderPass2KHR: vk::PFN_vkCmdBeginRenderPass2,
        command::vkCmdNextSubpass2KHR: vk::PFN_vkCmdNextSubpass2,
        command::vkCmdEndRenderPass2KHR: vk::PFN_vkCmdEndRenderPass2,
    }
    Reveal::Extension(Extension::TimelineSemaphore), Device: {
        sync::vkGetSemaphoreCounterValueKHR: vk::PFN_vkGetSemaphoreCounterValue,
        sync::vkWaitSemaphoresKHR: vk::PFN_vkWaitSemaphores,
        sync::vkSignalSemaphoreKHR: vk::PFN_vkSignalSemaphore,
    }
    Reveal::Extension(Extension::DrawIndirectCount), Device: {
        command::vkCmdDrawIndirectCountKHR: vk::PFN_vkCmdDrawIndirectCount,
        command::vkCmdDrawIndexedIndirectCountKHR: vk::PFN_vkCmdDrawIndexedIndirectCount,
    }
    Reveal::Extension(Extension::Synchronization2), Device: {
        sync2::vkQueueSubmit2KHR: vk::PFN_vkQueueSubmit2,
        sync2::vkCmdPipelineBarrier2KHR: vk::PFN_vkCmdPipelineBarrier2,
        sync2::vkCmdSetEvent2KHR: vk::PFN_vkCmdSetEvent2,
        sync2::vkCmdResetEvent2KHR: vk::PFN_vkCmdResetEvent2,
        sync2::vkCmdWaitEvents2KHR: vk::PFN_vkCmdWaitEvents2,
        sync2::vkCmdWriteTimestamp2KHR: vk::PFN_vkCmdWriteTimestamp2,
    }
    Reveal::Extension(Extension::CopyCommands2), Device: {
        copy2::vkCmdCopyBuffer2KHR: vk::PFN_vkCmdCopyBuffer2,
        copy2::vkCmdCopyImage2KHR: vk::PFN_vkCmdCopyImage2,
        copy2::vkCmdCopyBufferToImage2KHR: vk::PFN_vkCmdCopyBufferToImage2,
        copy2::vkCmdCopyImageToBuffer2KHR: vk::PFN_vkCmdCopyImageToBuffer2,
        copy2::vkCmdBlitImage2KHR: vk::PFN_vkCmdBlitImage2,
        copy2::vkCmdResolveImage2KHR: vk::PFN_vkCmdResolveImage2,
    }
    Reveal::Extension(Extension::LineRasterization), Device: {
        command::vkCmdSetLineStippleEXT as vkCmdSetLineStippleKHR: vk::PFN_vkCmdSetLineStippleKHR,
    }
    Reveal::Extension(Extension::LineRasterizationExt), Device: {
        command::vkCmdSetLineStippleEXT: vk::PFN_vkCmdSetLineStippleKHR,
    }
    Reveal::Extension(Extension::ExtendedDynamicState), Device: {
        switches::vkCmdSetCullModeEXT: vk::PFN_vkCmdSetCullMode,
        switches::vkCmdSetFrontFaceEXT: vk::PFN_vkCmdSetFrontFace,
        switches::vkCmdSetPrimitiveTopologyEXT: vk::PFN_vkCmdSetPrimitiveTopology,
        switches::vkCmdSetViewportWithCountEXT: vk::PFN_vkCmdSetViewportWithCount,
        switches::vkCmdSetScissorWithCountEXT: vk::PFN_vkCmdSetScissorWithCount,
        switches::vkCmdBindVertexBuffers2EXT: vk::PFN_vkCmdBindVertexBuffers2,
        switches::vkCmdSetDepthTestEnableEXT: vk::PFN_vkCmdSetDepthTestEnable,
        switches::vkCmdSetDepthWriteEnableEXT: vk::PFN_vkCmdSetDepthWriteEnable,
        switches::vkCmdSetDepthCompareOpEXT: vk::PFN_vkCmdSetDepthCompareOp,
        switches::vkCmdSetDepthBoundsTestEnableEXT: vk::PFN_vkCmdSetDepthBoundsTestEnable,
        switches::vkCmdSetStencilTestEnableEXT: vk::PFN_vkCmdSetStencilTestEnable,
        switches::vkCmdSetStencilOpEXT: vk::PFN_vkCmdSetStencilOp,
    }
    Reveal::Extension(Extension::ExtendedDynamicState2), Device: {
        switches::vkCmdSetRasterizerDiscardEnableEXT: vk::PFN_vkCmdSetRasterizerDiscardEnable,
        switches::vkCmdSetDepthBiasEnableEXT: vk::PFN_vkCmdSetDepthBiasEnable,
        switches::vkCmdSetPrimitiveRestartEnableEXT: vk::PFN_vkCmdSetPrimitiveRestartEnable,
        switches::vkCmdSetLogicOpEXT: vk::PFN_vkCmdSetLogicOpEXT,
        switches::vkCmdSetPatchControlPointsEXT: vk::PFN_vkCmdSetPatchControlPointsEXT,
    }
    Reveal::Extension(Extension::PrivateData), Device: {
        private_data::vkCreatePrivateDataSlotEXT: vk::PFN_vkCreatePrivateDataSlot,
        private_data::vkDestroyPrivateDataSlotEXT: vk::PFN_vkDestroyPrivateDataSlot,
        private_data::vkSetPrivateDataEXT: vk::PFN_vkSetPrivateData,
        private_data::vkGetPrivateDataEXT: vk::PFN_vkGetPrivateData,
    }
    Reveal::Extension(Extension::Maintenance4), Device: {
        memory2::vkGetDeviceBufferMemoryRequirementsKHR: vk::PFN_vkGetDeviceBufferMemoryRequirements,
        memory2::vkGetDeviceImageMemoryRequirementsKHR: vk::PFN_vkGetDeviceImageMemoryRequirements,
        memory2::vkGetDeviceImageSparseMemoryRequirementsKHR: vk::PFN_vkGetDeviceImageSparseMemoryRequirements,
    }
    Reveal::Extension(Extension::DynamicRendering), Device: {
        rendering::vkCmdBeginRenderingKHR: vk::PFN_vkCmdBeginRendering,
        rendering::vkCmdEndRenderingKHR: vk::PFN_vkCmdEndRendering,
    }
    Reveal::Extension(Extension::DebugUtils), Instance: {
        debug_utils::vkCreateDebugUtilsMessengerEXT: vk::PFN_vkCreateDebugUtilsMessengerEXT,
        debug_utils::vkDestroyDebugUtilsMessengerEXT: vk::PFN_vkDestroyDebugUtilsMessengerEXT,
        debug_utils::vkSubmitDebugUtilsMessageEXT: vk::PFN_vkSubmitDebugUtilsMessageEXT,
    }
    Reveal::Extension(Extension::DebugUtils), Device: {
        debug_utils::vkSetDebugUtilsObjectNameEXT: vk::PFN_vkSetDebugUtilsObjectNameEXT,
        debug_utils::vkSetDebugUtilsObjectTagEXT: vk::PFN_vkSetDebugUtilsObjectTagEXT,
        debug_utils::vkQueueBeginDebugUtilsLabelEXT: vk::PFN_vkQueueBeginDebugUtilsLabelEXT,
        debug_utils::vkQueueEndDebugUtilsLabelEXT: vk::PFN_vkQueueEndDebugUtilsLabelEXT,
        debug_utils::vkQueueInsertDebugUtilsLabelEXT: vk::PFN_vkQueueInsertDebugUtilsLabelEXT,
        debug_utils::vkCmdBeginDebugUtilsLabelEXT: vk::PFN_vkCmdBeginDebugUtilsLabelEXT,
        debug_utils::vkCmdEndDebugUtilsLabelEXT: vk::PFN_vkCmdEndDebugUtilsLabelEXT,
        debug_utils::vkCmdInsertDebugUtilsLabelEXT: vk::PFN_vkCmdInsertDebugUtilsLabelEXT,
    }
    Reveal::Extension(Extension::HostQueryReset), Device: {
        query::vkResetQueryPoolEXT: vk::PFN_vkResetQueryPool,
    }
    Reveal::Extension(Extension::Swapchain), Device: {
        wsi::vkCreateSwapchainKHR: vk::PFN_vkCreateSwapchainKHR,
        wsi::vkDestroySwapchainKHR: vk::PFN_vkDestroySwapchainKHR,
        wsi::vkGetSwapchainImagesKHR: vk::PFN_vkGetSwapchainImagesKHR,
        wsi::vkAcquireNextImageKHR: vk::PFN_vkAcquireNextImageKHR,
        wsi::vkAcquireNextImage2KHR: vk::PFN_vkAcquireNextImage2KHR,
        group::vkGetDeviceGroupPresentCapabilitiesKHR: vk::PFN_vkGetDeviceGroupPresentCapabilitiesKHR,
        group::vkGetDeviceGroupSurfacePresentModesKHR: vk::PFN_vkGetDeviceGroupSurfacePresentModesKHR,
        wsi::vkQueuePresentKHR: vk::PFN_vkQueuePresentKHR,
    }
};

fn find(name: &CStr) -> Option<&'static EntryPoint> {
    let name = name.to_str().ok()?;
    TABLE.iter().find(|row| row.name == name)
}

pub(super) fn named(
    name: *const c_char,
    allowed: impl FnOnce(&EntryPoint) -> bool,
) -> vk::PFN_vkVoidFunction {
    if name.is_null() {
        return None;
    }
    // SAFETY: a name is a terminated string by valid usage.
    let row = find(unsafe { CStr::from_ptr(name) })?;
    allowed(row).then_some(row.function)
}

/// Global commands without an instance, everything with one. An instance does not gate extension
/// commands: the loader asks for all of them and hides what was not enabled.
#[allow(non_snake_case, reason = "the API's own name")]
pub(crate) unsafe extern "system" fn vkGetInstanceProcAddr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    let global = instance == vk::Instance::null();
    named(name, |row| !global || row.scope == Scope::Global)
}

/// Device-level commands of the version that the application asked for and of extensions that the device enabled.
#[allow(non_snake_case, reason = "the API's own name")]
pub(crate) unsafe extern "system" fn vkGetDeviceProcAddr(
    device: vk::Device,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the device handle is live by valid usage.
    let device = unsafe { handle::opt::<OpenDevice>(device) }?;
    named(name, |row| {
        row.scope == Scope::Device
            && match row.reveal {
                Reveal::Core => true,
                Reveal::Core11 => device.is_of(vk::API_VERSION_1_1),
                Reveal::Core12 => device.is_of(vk::API_VERSION_1_2),
                // Those of the instance the loader hides where it was made without them.
                Reveal::Extension(extension) => device.has(extension) || extension.is_of_instance(),
            }
    })
}
