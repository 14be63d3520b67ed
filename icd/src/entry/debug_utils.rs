//! VK_EXT_debug_utils: names of objects, labels of commands and queues, and messengers.

use ash::vk::{self, Handle};

use super::guard::entry_points;
use super::read::{destroy, extension, give, text};
use crate::execution::open_device::OpenDevice;
use crate::execution::queue::Queue;
use crate::foundation::handle::{Object, get, opt};
use crate::foundation::messages::{self, Listener, Messenger};
use crate::objects::buffer::Buffer;
use crate::objects::image::Image;
use crate::objects::instance::Instance;
use crate::objects::memory::DeviceMemory;
use crate::pipeline::PipelineObject;
use crate::recording::command_buffer::CommandBuffer;

/// Names the object if it is a `T`.
unsafe fn try_name<T: Object>(info: &vk::DebugUtilsObjectNameInfoEXT<'_>, set: fn(&T, &str)) {
    if info.object_type == T::Handle::TYPE {
        // SAFETY: the caller passes a live handle of that type and a terminated string, or null.
        unsafe {
            if let Some(object) = opt::<T>(T::Handle::from_raw(info.object_handle)) {
                set(object, &text(info.p_object_name));
            }
        }
    }
}

/// The messenger that the creation of an instance asks for.
///
/// # Safety
/// `next` is a valid chain.
pub(super) unsafe fn first_messenger(next: *const std::ffi::c_void) -> Option<Messenger> {
    // SAFETY: by the contract.
    let info = unsafe { extension::<vk::DebugUtilsMessengerCreateInfoEXT<'_>>(next) }?;
    // There is no instance yet.
    Some(Messenger::new(vk::Instance::null(), Listener::new(info)))
}

entry_points! {
    fn vkSetDebugUtilsObjectNameEXT(
        _device: vk::Device,
        info: *const vk::DebugUtilsObjectNameInfoEXT<'_>,
    ) -> vk::Result {
        let info = &*info;
        // Those that the driver speaks of.
        try_name(info, Buffer::set_name);
        try_name(info, Image::set_name);
        try_name(info, DeviceMemory::set_name);
        try_name(info, PipelineObject::set_name);
        Ok(())
    }

    fn vkSetDebugUtilsObjectTagEXT(
        device: vk::Device,
        _info: *const vk::DebugUtilsObjectTagInfoEXT<'_>,
    ) -> vk::Result {
        // Tags are for layers: what they mean only the application knows.
        get::<OpenDevice>(device);
        Ok(())
    }

    fn vkQueueBeginDebugUtilsLabelEXT(queue: vk::Queue, info: *const vk::DebugUtilsLabelEXT<'_>) {
        let label = text((*info).p_label_name);
        get::<Queue>(queue).label(|labels| labels.begin(&label));
    }

    fn vkQueueEndDebugUtilsLabelEXT(queue: vk::Queue) {
        get::<Queue>(queue).label(|labels| labels.end());
    }

    fn vkQueueInsertDebugUtilsLabelEXT(queue: vk::Queue, info: *const vk::DebugUtilsLabelEXT<'_>) {
        let label = text((*info).p_label_name);
        get::<Queue>(queue).label(|labels| labels.insert(&label));
    }

    fn vkCmdBeginDebugUtilsLabelEXT(buffer: vk::CommandBuffer, info: *const vk::DebugUtilsLabelEXT<'_>) {
        let label = text((*info).p_label_name);
        get::<CommandBuffer>(buffer).label("vkCmdBeginDebugUtilsLabelEXT", |labels| labels.begin(&label));
    }

    fn vkCmdEndDebugUtilsLabelEXT(buffer: vk::CommandBuffer) {
        get::<CommandBuffer>(buffer).label("vkCmdEndDebugUtilsLabelEXT", |labels| labels.end());
    }

    fn vkCmdInsertDebugUtilsLabelEXT(buffer: vk::CommandBuffer, info: *const vk::DebugUtilsLabelEXT<'_>) {
        let label = text((*info).p_label_name);
        get::<CommandBuffer>(buffer).label("vkCmdInsertDebugUtilsLabelEXT", |labels| labels.insert(&label));
    }

    fn vkCreateDebugUtilsMessengerEXT(
        instance: vk::Instance,
        info: *const vk::DebugUtilsMessengerCreateInfoEXT<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::DebugUtilsMessengerEXT,
    ) -> vk::Result {
        let messenger = Messenger::new(instance, Listener::new(&*info));
        give(get::<Instance>(instance).allocator(), callbacks, out, messenger)
    }

    fn vkDestroyDebugUtilsMessengerEXT(
        _instance: vk::Instance,
        messenger: vk::DebugUtilsMessengerEXT,
        callbacks: *const vk::AllocationCallbacks<'_>,
    ) {
        destroy::<Messenger>(messenger, callbacks);
    }

    fn vkSubmitDebugUtilsMessageEXT(
        instance: vk::Instance,
        severity: vk::DebugUtilsMessageSeverityFlagsEXT,
        kinds: vk::DebugUtilsMessageTypeFlagsEXT,
        data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    ) {
        messages::deliver(Some(instance), severity, kinds, &*data);
    }
}
