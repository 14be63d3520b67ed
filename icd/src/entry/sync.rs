//! VkFence, VkSemaphore and VkEvent.

use ash::vk;

use super::guard::entry_points;
use super::read::{destroy, give, objects};
use crate::execution::open_device::OpenDevice;
use crate::foundation::handle::get;
use crate::objects::sync::{self, Event, Fence, Semaphore};

entry_points! {
    fn vkCreateFence(
        device: vk::Device,
        info: *const vk::FenceCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Fence,
    ) -> vk::Result {
        let device = get::<OpenDevice>(device);
        give(device.allocator(), callbacks, out, Fence::new(device, (*info).flags))
    }

    fn vkDestroyFence(_device: vk::Device, fence: vk::Fence, callbacks: *const vk::AllocationCallbacks<'_>) {
        destroy::<Fence>(fence, callbacks);
    }

    fn vkResetFences(_device: vk::Device, count: u32, fences: *const vk::Fence) -> vk::Result {
        objects::<Fence>(fences, count).iter().for_each(|fence| fence.reset());
        Ok(())
    }

    fn vkGetFenceStatus(device: vk::Device, fence: vk::Fence) -> vk::Result {
        sync::fence_status(get::<OpenDevice>(device), get::<Fence>(fence))
    }

    fn vkWaitForFences(
        device: vk::Device,
        count: u32,
        fences: *const vk::Fence,
        all: vk::Bool32,
        timeout: u64,
    ) -> vk::Result {
        sync::wait_for_fences(get::<OpenDevice>(device), &objects(fences, count), all != vk::FALSE, timeout)
    }

    fn vkCreateSemaphore(
        device: vk::Device,
        _info: *const vk::SemaphoreCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Semaphore,
    ) -> vk::Result {
        let device = get::<OpenDevice>(device);
        give(device.allocator(), callbacks, out, Semaphore::new(device))
    }

    fn vkDestroySemaphore(
        _device: vk::Device,
        semaphore: vk::Semaphore,
        callbacks: *const vk::AllocationCallbacks<'_>,
    ) {
        destroy::<Semaphore>(semaphore, callbacks);
    }

    fn vkCreateEvent(
        device: vk::Device,
        _info: *const vk::EventCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Event,
    ) -> vk::Result {
        let device = get::<OpenDevice>(device);
        give(device.allocator(), callbacks, out, Event::new(device))
    }

    fn vkDestroyEvent(_device: vk::Device, event: vk::Event, callbacks: *const vk::AllocationCallbacks<'_>) {
        destroy::<Event>(event, callbacks);
    }

    fn vkGetEventStatus(device: vk::Device, event: vk::Event) -> vk::Result {
        get::<OpenDevice>(device).check()?;
        match get::<Event>(event).is_set() {
            true => Ok(vk::Result::EVENT_SET),
            false => Ok(vk::Result::EVENT_RESET),
        }
    }

    fn vkSetEvent(_device: vk::Device, event: vk::Event) -> vk::Result {
        get::<Event>(event).set();
        Ok(())
    }

    fn vkResetEvent(_device: vk::Device, event: vk::Event) -> vk::Result {
        get::<Event>(event).reset();
        Ok(())
    }
}
