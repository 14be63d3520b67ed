//! VkFence, VkSemaphore and VkEvent.

use std::sync::Arc;

use ash::vk;

use super::external_sync;
use super::guard::entry_points;
use super::read::{destroy, give, objects, slice};
use crate::execution::open_device::OpenDevice;
use crate::foundation::error::Error;
use crate::foundation::handle::get;
use crate::objects::semaphore::Semaphore;
use crate::objects::sync::{self, Event, Fence};
use crate::objects::timeline::{Timeline, wait};

/// What only a timeline semaphore has.
fn timeline(semaphore: &Semaphore) -> Result<&Arc<Timeline>, Error> {
    match semaphore {
        Semaphore::Timeline(timeline) => Ok(timeline),
        Semaphore::Binary(_) => Err(Error::InvalidUse("the value of a binary semaphore".into())),
    }
}

entry_points! {
    fn vkCreateFence(
        device: vk::Device,
        info: *const vk::FenceCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Fence,
    ) -> vk::Result {
        let device = get::<OpenDevice>(device);
        give(device.allocator(), callbacks, out, external_sync::new_fence(device, &*info)?)
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
        info: *const vk::SemaphoreCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Semaphore,
    ) -> vk::Result {
        let device = get::<OpenDevice>(device);
        give(device.allocator(), callbacks, out, external_sync::new_semaphore(device, &*info)?)
    }

    fn vkGetSemaphoreCounterValueKHR(device: vk::Device, semaphore: vk::Semaphore, out: *mut u64) -> vk::Result {
        get::<OpenDevice>(device).check()?;
        out.write(timeline(get::<Semaphore>(semaphore))?.value());
        Ok(())
    }

    fn vkSignalSemaphoreKHR(_device: vk::Device, info: *const vk::SemaphoreSignalInfo<'_>) -> vk::Result {
        timeline(get::<Semaphore>((*info).semaphore))?.complete((*info).value);
        Ok(())
    }

    fn vkWaitSemaphoresKHR(
        device: vk::Device,
        info: *const vk::SemaphoreWaitInfo<'_>,
        timeout: u64,
    ) -> vk::Result {
        let info = &*info;
        let semaphores = objects::<Semaphore>(info.p_semaphores, info.semaphore_count);
        let values = slice(info.p_values, info.semaphore_count);
        let timelines = semaphores.iter().zip(values);
        let timelines = timelines.map(|(semaphore, value)| Ok((timeline(semaphore)?.clone(), *value)));
        let timelines: Vec<_> = timelines.collect::<Result<_, Error>>()?;
        let any = info.flags.contains(vk::SemaphoreWaitFlags::ANY);
        wait(get::<OpenDevice>(device), &timelines, any, timeout)
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
