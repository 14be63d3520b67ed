//! VK_KHR_synchronization2: what its commands do is what those of Vulkan 1.0 do.

mod support;

use ash::vk;
use support::Vk;

const ALL: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::ALL_COMMANDS;

#[test]
fn submissions_wait_and_signal_in_order() {
    let vk = Vk::with(&[c"VK_KHR_synchronization2", c"VK_KHR_timeline_semaphore"]);
    let sync2 = ash::khr::synchronization2::Device::new(&vk.instance, &vk.device);
    let timelines = ash::khr::timeline_semaphore::Device::new(&vk.instance, &vk.device);
    let buffer = vk.buffer_with(&[0; 8]);
    // SAFETY: valid usage.
    unsafe {
        let semaphore = |ty| {
            let mut ty = vk::SemaphoreTypeCreateInfo::default().semaphore_type(ty).initial_value(0);
            vk.device.create_semaphore(&vk::SemaphoreCreateInfo::default().push_next(&mut ty), None).unwrap()
        };
        let (timeline, binary) =
            (semaphore(vk::SemaphoreType::TIMELINE), semaphore(vk::SemaphoreType::BINARY));
        let event = vk.device.create_event(&vk::EventCreateInfo::default(), None).unwrap();
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(1);
        let pool = vk.device.create_query_pool(&info, None).unwrap();
        let dependency = vk::DependencyInfo::default();
        let first = vk.record(|device, commands| {
            device.cmd_reset_query_pool(commands, pool, 0, 1);
            device.cmd_fill_buffer(commands, buffer.handle, 0, 8, 1);
            sync2.cmd_pipeline_barrier2(commands, &dependency);
            device.cmd_fill_buffer(commands, buffer.handle, 0, 4, 2);
            sync2.cmd_set_event2(commands, event, &dependency);
        });
        let second = vk.record(|device, commands| {
            sync2.cmd_wait_events2(commands, &[event], &[dependency]);
            device.cmd_fill_buffer(commands, buffer.handle, 4, 4, 3);
            sync2.cmd_reset_event2(commands, event, ALL);
            sync2.cmd_write_timestamp2(commands, ALL, pool, 0);
        });
        let commands =
            [first, second].map(|commands| [vk::CommandBufferSubmitInfo::default().command_buffer(commands)]);
        let at = |semaphore, value| {
            [vk::SemaphoreSubmitInfo::default().semaphore(semaphore).value(value).stage_mask(ALL)]
        };
        let (started, between, done) = (at(timeline, 1), at(binary, 0), at(timeline, 7));
        let submits = [
            vk::SubmitInfo2::default()
                .wait_semaphore_infos(&started)
                .command_buffer_infos(&commands[0])
                .signal_semaphore_infos(&between),
            vk::SubmitInfo2::default()
                .wait_semaphore_infos(&between)
                .command_buffer_infos(&commands[1])
                .signal_semaphore_infos(&done),
        ];
        let fence = vk.device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
        sync2.queue_submit2(vk.queue, &submits, fence).unwrap();
        // Nothing runs before the host says so.
        assert_eq!(vk.device.wait_for_fences(&[fence], true, 20_000_000), Err(vk::Result::TIMEOUT));
        assert_eq!(buffer.words(), [0, 0]);
        timelines.signal_semaphore(&vk::SemaphoreSignalInfo::default().semaphore(timeline).value(1)).unwrap();
        vk.device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
        assert_eq!(buffer.words(), [2, 3]);
        assert_eq!(timelines.get_semaphore_counter_value(timeline), Ok(7));
        assert_eq!(vk.device.get_event_status(event), Ok(false));
        let mut time = [0u64];
        let flags = vk::QueryResultFlags::TYPE_64;
        vk.device.get_query_pool_results(pool, 0, &mut time, flags).unwrap();
        assert!(time[0] > 0);
        vk.device.destroy_semaphore(timeline, None);
        vk.device.destroy_semaphore(binary, None);
        vk.device.destroy_event(event, None);
        vk.device.destroy_query_pool(pool, None);
        vk.device.destroy_fence(fence, None);
    }
}
