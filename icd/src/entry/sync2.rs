//! VK_KHR_synchronization2: barriers, events, timestamps and submissions whose parts are structures. Stages and accesses mean
//! nothing here: work is done in order.

use ash::vk;

use super::guard::entry_points;
use super::read::{objects, slice};
use crate::execution::queue::{Batch, Queue};
use crate::foundation::handle::{get, opt};
use crate::objects::query::QueryPool;
use crate::objects::semaphore::Semaphore;
use crate::objects::sync::{Event, Fence};
use crate::recording::command_buffer::CommandBuffer;

const STAGES: vk::PipelineStageFlags = vk::PipelineStageFlags::ALL_COMMANDS;

unsafe fn read_batch(info: &vk::SubmitInfo2<'_>) -> Batch {
    // SAFETY: the caller passes a valid structure with live handles.
    unsafe {
        let semaphores = |first, count| {
            let infos: &[vk::SemaphoreSubmitInfo<'_>] = slice(first, count);
            infos.iter().map(|info| (get::<Semaphore>(info.semaphore).clone(), info.value)).collect()
        };
        let commands = slice(info.p_command_buffer_infos, info.command_buffer_info_count).iter();
        Batch {
            waits: semaphores(info.p_wait_semaphore_infos, info.wait_semaphore_info_count),
            command_buffers: commands.map(|info| get::<CommandBuffer>(info.command_buffer).clone()).collect(),
            signals: semaphores(info.p_signal_semaphore_infos, info.signal_semaphore_info_count),
        }
    }
}

entry_points! {
    fn vkQueueSubmit2KHR(
        queue: vk::Queue,
        count: u32,
        infos: *const vk::SubmitInfo2<'_>,
        fence: vk::Fence,
    ) -> vk::Result {
        let batches = slice(infos, count).iter().map(|info| read_batch(info)).collect();
        get::<Queue>(queue).submit(batches, opt::<Fence>(fence).cloned())
    }

    fn vkCmdPipelineBarrier2KHR(commands: vk::CommandBuffer, _info: *const vk::DependencyInfo<'_>) {
        get::<CommandBuffer>(commands).pipeline_barrier(STAGES, STAGES);
    }

    fn vkCmdSetEvent2KHR(
        commands: vk::CommandBuffer,
        event: vk::Event,
        _info: *const vk::DependencyInfo<'_>,
    ) {
        get::<CommandBuffer>(commands).set_event(get::<Event>(event), STAGES);
    }

    fn vkCmdResetEvent2KHR(
        commands: vk::CommandBuffer,
        event: vk::Event,
        _stages: vk::PipelineStageFlags2,
    ) {
        get::<CommandBuffer>(commands).reset_event(get::<Event>(event), STAGES);
    }

    fn vkCmdWaitEvents2KHR(
        commands: vk::CommandBuffer,
        count: u32,
        events: *const vk::Event,
        _infos: *const vk::DependencyInfo<'_>,
    ) {
        get::<CommandBuffer>(commands).wait_events(&objects(events, count), STAGES, STAGES);
    }

    fn vkCmdWriteTimestamp2KHR(
        commands: vk::CommandBuffer,
        _stage: vk::PipelineStageFlags2,
        pool: vk::QueryPool,
        query: u32,
    ) {
        get::<CommandBuffer>(commands).write_timestamp(get::<QueryPool>(pool), query, STAGES);
    }
}
