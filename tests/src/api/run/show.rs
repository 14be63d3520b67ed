//! Waits, answers and frames.

use ash::vk;

use super::{PATIENCE, Runner};
use crate::api::slot::Id;

// SAFETY (for every block): see the room's page.
impl Runner<'_> {
    /// How long a wait may take at most.
    pub(super) fn patience(&self, timeout: u64) -> u64 {
        // Programs that are not valid wait for what never comes.
        timeout.min(if self.valid { PATIENCE } else { PATIENCE / 2000 })
    }

    pub(super) fn check_wait(&mut self, call: &str, result: Result<(), vk::Result>, timeout: u64) {
        if result != Err(vk::Result::TIMEOUT) || timeout > 0 {
            self.check(call, result);
        }
    }

    pub(super) fn query_results(
        &mut self,
        queries: Id,
        first: u32,
        count: u32,
        stride: u64,
        flags: vk::QueryResultFlags,
    ) {
        // The call of the wrapper has one word per query; this one has whatever the program says, in room that is enough.
        let room = u64::from(count).saturating_mul(stride).saturating_add(64);
        // A pool that never counts is waited for without end.
        let flags = if self.valid { flags } else { flags & !vk::QueryResultFlags::WAIT };
        if room > 1 << 20 {
            return;
        }
        let mut bytes = vec![0u64; room.div_ceil(8) as usize];
        let device = self.device();
        // SAFETY: see above; there is room for all results at this stride.
        let result = unsafe {
            (device.fp_v1_0().get_query_pool_results)(
                device.handle(),
                self.handle(queries),
                first,
                count,
                bytes.len() * 8,
                bytes.as_mut_ptr().cast(),
                stride,
                flags,
            )
        };
        if result != vk::Result::NOT_READY {
            self.check("vkGetQueryPoolResults", result.result());
        }
    }

    pub(super) fn frame(&mut self, swapchain: Id, word: u32, present: bool) {
        if !self.machine.surfaces {
            return;
        }
        let loader = &self.machine.more.swapchain;
        let swapchain: vk::SwapchainKHR = self.handle(swapchain);
        // SAFETY: see above; semaphores and fence end when the queue is idle.
        unsafe {
            let info = vk::SemaphoreCreateInfo::default();
            let mut semaphores = Vec::new();
            for _ in 0..2 {
                let made = self.device().create_semaphore(&info, Some(&self.callbacks));
                semaphores.extend(self.check("vkCreateSemaphore", made));
            }
            let images = loader.get_swapchain_images(swapchain);
            let images = self.check("vkGetSwapchainImagesKHR", images).unwrap_or_default();
            self.machine.count();
            let timeout = self.patience(u64::MAX);
            if let [acquired, drawn] = semaphores[..] {
                let got = loader.acquire_next_image(swapchain, timeout, acquired, vk::Fence::null());
                let got = self.check("vkAcquireNextImageKHR", got);
                if let Some(image) =
                    got.and_then(|(index, _)| images.get(index as usize).map(|one| (index, *one)))
                {
                    self.draw_frame(swapchain, image, word, [acquired, drawn], present);
                }
            }
            for semaphore in semaphores {
                self.device().destroy_semaphore(semaphore, Some(&self.callbacks));
            }
        }
    }

    /// Clears an image that was got and presents it.
    unsafe fn draw_frame(
        &mut self,
        swapchain: vk::SwapchainKHR,
        (index, image): (u32, vk::Image),
        word: u32,
        [acquired, drawn]: [vk::Semaphore; 2],
        present: bool,
    ) {
        // SAFETY: see above.
        unsafe {
            let pool = self.device().create_command_pool(&Default::default(), Some(&self.callbacks));
            let Some(pool) = self.check("vkCreateCommandPool", pool) else { return };
            let allocate =
                vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let buffers = self.device().allocate_command_buffers(&allocate);
            if let Some(buffers) = self.check("vkAllocateCommandBuffers", buffers) {
                let begun = self.device().begin_command_buffer(buffers[0], &Default::default());
                self.check("vkBeginCommandBuffer", begun);
                self.clear_frame(buffers[0], image, word);
                let ended = self.device().end_command_buffer(buffers[0]);
                self.check("vkEndCommandBuffer", ended);
                let (waits, signals) = ([acquired], [drawn]);
                let stages = [vk::PipelineStageFlags::ALL_COMMANDS];
                let submit = [vk::SubmitInfo::default()
                    .wait_semaphores(&waits)
                    .wait_dst_stage_mask(&stages)
                    .command_buffers(&buffers)
                    .signal_semaphores(&signals)];
                let (swapchains, indices) = ([swapchain], [index]);
                let info = vk::PresentInfoKHR::default()
                    .wait_semaphores(&signals)
                    .swapchains(&swapchains)
                    .image_indices(&indices);
                let queue = self.machine.queue();
                let submitted = self.device().queue_submit(*queue, &submit, vk::Fence::null());
                let presented = match present {
                    true => self.machine.more.swapchain.queue_present(*queue, &info).map(|_| ()),
                    false => Ok(()),
                };
                self.machine.count();
                let idle = self.device().queue_wait_idle(*queue);
                drop(queue);
                self.check("vkQueueSubmit", submitted);
                self.check("vkQueuePresentKHR", presented);
                self.check("vkQueueWaitIdle", idle);
            }
            self.device().destroy_command_pool(pool, Some(&self.callbacks));
        }
    }

    fn clear_frame(&self, commands: vk::CommandBuffer, image: vk::Image, word: u32) {
        let range = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            level_count: 1,
            layer_count: 1,
            ..Default::default()
        };
        let barrier = |old, new, access| {
            [vk::ImageMemoryBarrier::default()
                .old_layout(old)
                .new_layout(new)
                .src_access_mask(access)
                .dst_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                .image(image)
                .subresource_range(range)]
        };
        let target = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
        let before = barrier(vk::ImageLayout::UNDEFINED, target, vk::AccessFlags::empty());
        let after = barrier(target, vk::ImageLayout::PRESENT_SRC_KHR, vk::AccessFlags::TRANSFER_WRITE);
        let (all, none) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::DependencyFlags::empty());
        let share = |shift: u32| f32::from((word >> shift) as u8) / 255.0;
        let value = vk::ClearColorValue { float32: [share(0), share(8), share(16), 1.0] };
        let device = self.device();
        // SAFETY: see above.
        unsafe {
            device.cmd_pipeline_barrier(commands, all, all, none, &[], &[], &before);
            device.cmd_clear_color_image(commands, image, target, &value, &[range]);
            device.cmd_pipeline_barrier(commands, all, all, none, &[], &[], &after);
        }
    }

    /// Questions, whose answers are the drivers' own.
    pub(super) fn ask(&mut self, what: u32, format: vk::Format, word: u32) {
        self.machine.count();
        let (instance, physical) = (&self.machine.instance, self.machine.physical);
        // SAFETY: see above.
        unsafe {
            match what {
                0 => drop(instance.get_physical_device_format_properties(physical, format)),
                1 => drop(instance.get_physical_device_properties(physical)),
                2 => drop(instance.get_physical_device_queue_family_properties(physical)),
                3 => {
                    // Not offered is an answer.
                    let usage = vk::ImageUsageFlags::from_raw((word & 0xff).max(1));
                    let _ = instance.get_physical_device_image_format_properties(
                        physical,
                        format,
                        vk::ImageType::TYPE_2D,
                        vk::ImageTiling::OPTIMAL,
                        usage,
                        vk::ImageCreateFlags::empty(),
                    );
                }
                4 => drop(self.machine.used_bytes()),
                _ => drop(instance.get_physical_device_features(physical)),
            }
        }
    }
}
