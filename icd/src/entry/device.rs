//! VkDevice and VkQueue.

use std::ffi::c_char;
use std::sync::Arc;

use ash::vk;

use super::features;
use super::group;
use super::guard::entry_points;
use super::read::{destroy, enumerate, enumerate_into, extension, names, objects, slice, text};
use crate::execution::open_device::OpenDevice;
use crate::execution::queue::{Batch, Queue};
use crate::foundation::error::Error;
use crate::foundation::extension::{self as extensions, Level};
use crate::foundation::handle::{self, HostAllocator, get, opt};
use crate::objects::device::Device;
use crate::objects::physical_device::PhysicalDevice;
use crate::objects::semaphore::Semaphore;
use crate::objects::sync::Fence;

/// The features that a device creation asks for, directly or through the chain.
unsafe fn wanted_features(info: &vk::DeviceCreateInfo<'_>) -> vk::PhysicalDeviceFeatures {
    // SAFETY: the caller passes a valid structure.
    unsafe {
        match extension::<vk::PhysicalDeviceFeatures2<'_>>(info.p_next) {
            Some(features) => features.features,
            None => info.p_enabled_features.as_ref().copied().unwrap_or_default(),
        }
    }
}

/// One queue of family 0 at most, which is not protected.
fn check_queues(infos: &[vk::DeviceQueueCreateInfo<'_>]) -> Result<(), Error> {
    if infos.iter().any(|info| info.flags.contains(vk::DeviceQueueCreateFlags::PROTECTED)) {
        return Err(Error::FeatureNotPresent("protected_memory"));
    }
    match infos.iter().find(|info| info.queue_family_index != 0 || info.queue_count != 1) {
        Some(info) => Err(Error::InvalidUse(format!(
            "{} queues of family {}; the device has one, of family 0",
            info.queue_count, info.queue_family_index
        ))),
        None => Ok(()),
    }
}

unsafe fn read_batch(info: &vk::SubmitInfo<'_>) -> Batch {
    // SAFETY: the caller passes a valid structure with live handles.
    unsafe {
        let values = extension::<vk::TimelineSemaphoreSubmitInfo<'_>>(info.p_next);
        let (waits, signals) = values.map_or((&[][..], &[][..]), |values| {
            (
                slice(values.p_wait_semaphore_values, values.wait_semaphore_value_count),
                slice(values.p_signal_semaphore_values, values.signal_semaphore_value_count),
            )
        });
        Batch {
            waits: semaphores(info.p_wait_semaphores, info.wait_semaphore_count, waits),
            command_buffers: objects(info.p_command_buffers, info.command_buffer_count),
            signals: semaphores(info.p_signal_semaphores, info.signal_semaphore_count, signals),
        }
    }
}

/// Semaphores with the values of timelines; binary ones may have none.
unsafe fn semaphores(first: *const vk::Semaphore, count: u32, values: &[u64]) -> Vec<(Arc<Semaphore>, u64)> {
    // SAFETY: the caller passes a valid array of live handles.
    let semaphores = unsafe { objects::<Semaphore>(first, count) };
    semaphores.into_iter().zip(values.iter().copied().chain(std::iter::repeat(0))).collect()
}

entry_points! {
    fn vkCreateDevice(
        physical: vk::PhysicalDevice,
        info: *const vk::DeviceCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Device,
    ) -> vk::Result {
        let info = &*info;
        if let Some(group) = extension::<vk::DeviceGroupDeviceCreateInfo<'_>>(info.p_next) {
            group::check(group, physical)?;
        }
        let physical = get::<PhysicalDevice>(physical);
        let mut extensions = Vec::new();
        for name in names(info.pp_enabled_extension_names, info.enabled_extension_count) {
            let found = extensions::find(Level::Device, name, physical.gpu().shares_bos());
            extensions.push(found.ok_or_else(|| Error::ExtensionNotPresent(name.to_string_lossy().into()))?);
        }
        features::check(info.p_next)?;
        check_queues(slice(info.p_queue_create_infos, info.queue_create_info_count))?;
        let allocator = HostAllocator::new(callbacks).or(physical.allocator());
        let device = Device::new(physical.clone(), extensions, wanted_features(info), allocator)?;
        let device = OpenDevice::new(Arc::new(device))?;
        out.write(handle::create(allocator, Arc::new(device))?);
        Ok(())
    }

    fn vkDestroyDevice(device: vk::Device, callbacks: *const vk::AllocationCallbacks<'_>) {
        destroy::<OpenDevice>(device, callbacks);
    }

    fn vkEnumerateDeviceExtensionProperties(
        device: vk::PhysicalDevice,
        layer: *const c_char,
        count: *mut u32,
        out: *mut vk::ExtensionProperties,
    ) -> vk::Result {
        if !layer.is_null() {
            return Err(Error::LayerNotPresent(text(layer)));
        }
        let shares = get::<PhysicalDevice>(device).gpu().shares_bos();
        Ok(enumerate(count, out, &extensions::properties(Level::Device, shares)))
    }

    fn vkEnumerateDeviceLayerProperties(
        _device: vk::PhysicalDevice,
        count: *mut u32,
        out: *mut vk::LayerProperties,
    ) -> vk::Result {
        Ok(enumerate(count, out, &[]))
    }

    fn vkGetPhysicalDeviceToolPropertiesEXT(
        _device: vk::PhysicalDevice,
        count: *mut u32,
        out: *mut vk::PhysicalDeviceToolProperties<'_>,
    ) -> vk::Result {
        // Tools are layers, which add themselves.
        Ok(enumerate_into(count, out, &[(); 0], |_, ()| {}))
    }

    fn vkGetDeviceQueue(device: vk::Device, family: u32, index: u32, out: *mut vk::Queue) {
        let queue = get::<OpenDevice>(device).queue().handle();
        out.write(if family == 0 && index == 0 { queue } else { vk::Queue::null() });
    }

    fn vkGetDeviceQueue2(device: vk::Device, info: *const vk::DeviceQueueInfo2<'_>, out: *mut vk::Queue) {
        let vk::DeviceQueueInfo2 { flags, queue_family_index, queue_index, .. } = *info;
        let is_there = flags.is_empty() && queue_family_index == 0 && queue_index == 0;
        let queue = get::<OpenDevice>(device).queue().handle();
        out.write(if is_there { queue } else { vk::Queue::null() });
    }

    fn vkQueueSubmit(
        queue: vk::Queue,
        count: u32,
        infos: *const vk::SubmitInfo<'_>,
        fence: vk::Fence,
    ) -> vk::Result {
        let batches = slice(infos, count).iter().map(|info| read_batch(info)).collect();
        get::<Queue>(queue).submit(batches, opt::<Fence>(fence).cloned())
    }

    fn vkQueueWaitIdle(queue: vk::Queue) -> vk::Result {
        get::<Queue>(queue).wait_idle()
    }

    fn vkDeviceWaitIdle(device: vk::Device) -> vk::Result {
        get::<OpenDevice>(device).queue().object().wait_idle()
    }

    fn vkQueueBindSparse(
        _queue: vk::Queue,
        _count: u32,
        _infos: *const vk::BindSparseInfo<'_>,
        _fence: vk::Fence,
    ) -> vk::Result {
        Err::<(), _>(Error::FeatureNotPresent("sparse_binding"))
    }
}
