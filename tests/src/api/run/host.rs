//! What the host does with objects.

use ash::vk;

use super::Runner;
use crate::api::slot::Id;
use crate::api::step::*;
use crate::random::Random;

/// Bytes of a descriptor in the data of a template.
pub(super) const ITEM_BYTES: usize = 24;

/// Words that follow from a number: small ones for arguments of draws.
fn contents(size: u64, seed: u32, arguments: bool) -> Vec<u8> {
    let mut random = Random(u64::from(seed));
    let word = |_| if arguments { random.below(4) as u32 * 3 } else { random.word() };
    (0..size.div_ceil(4)).map(word).flat_map(u32::to_le_bytes).take(size as usize).collect()
}

// SAFETY (for every block): see the room's page. What is read or written through a mapping lies inside of the object, whose
// size the program knows.
impl Runner<'_> {
    pub(super) fn host(&mut self, what: &Host) {
        let device = self.device();
        // SAFETY: see above.
        unsafe {
            match what {
                Host::Write { buffer, offset, size, seed, arguments } => {
                    self.write(*buffer, *offset, &contents((*size).min(1 << 20), *seed, *arguments));
                }
                Host::Read { buffer } => {
                    if let Some(bytes) = self.read(*buffer) {
                        self.outcome.results.push((*buffer, bytes));
                    }
                }
                Host::Prepare { image, seed } => self.prepare(*image, *seed),
                Host::ReadImage { image } => self.read_image(*image),
                Host::Map { memory, offset, size } => {
                    let mapped =
                        device.map_memory(self.handle(*memory), *offset, *size, vk::MemoryMapFlags::empty());
                    if self.check("vkMapMemory", mapped).is_some() {
                        self.objects.entry(*memory).and_modify(|object| object.mapped = true);
                    }
                }
                Host::Unmap { memory } => {
                    device.unmap_memory(self.handle(*memory));
                    self.objects.entry(*memory).and_modify(|object| object.mapped = false);
                }
                Host::Flush { memory, offset, size, invalidate } => {
                    let ranges = [vk::MappedMemoryRange::default()
                        .memory(self.handle(*memory))
                        .offset(*offset)
                        .size(*size)];
                    let result = match invalidate {
                        true => device.invalidate_mapped_memory_ranges(&ranges),
                        false => device.flush_mapped_memory_ranges(&ranges),
                    };
                    self.check("vkFlushMappedMemoryRanges", result);
                }
                Host::WriteSet { set, writes } => {
                    self.with_writes(self.handle(*set), writes, |runner, writes| {
                        runner.device().update_descriptor_sets(writes, &[]);
                    });
                }
                Host::WriteByTemplate { set, template, items } => {
                    if !self.is_described(*template, items) {
                        return;
                    }
                    let mut data = vec![0u64; items.len() * ITEM_BYTES / 8];
                    for (words, item) in data.chunks_exact_mut(ITEM_BYTES / 8).zip(items) {
                        words.copy_from_slice(&self.item_words(item));
                    }
                    let (set, template) =
                        (self.handle(*set), self.handle::<vk::DescriptorUpdateTemplate>(*template));
                    device.update_descriptor_set_with_template(set, template, data.as_ptr().cast());
                }
                Host::CopySet { from, to, binding, count } => {
                    let copies = [vk::CopyDescriptorSet::default()
                        .src_set(self.handle(*from))
                        .dst_set(self.handle(*to))
                        .src_binding(*binding)
                        .dst_binding(*binding)
                        .descriptor_count(*count)];
                    device.update_descriptor_sets(&[], &copies);
                }
                Host::ResetSetPool { pool } => {
                    let flags = vk::DescriptorPoolResetFlags::empty();
                    let result = device.reset_descriptor_pool(self.handle(*pool), flags);
                    self.check("vkResetDescriptorPool", result);
                    self.end_sets(*pool);
                }
                Host::ResetCommandPool { pool, release } => {
                    let flags = match release {
                        true => vk::CommandPoolResetFlags::RELEASE_RESOURCES,
                        false => vk::CommandPoolResetFlags::empty(),
                    };
                    let result = device.reset_command_pool(self.handle(*pool), flags);
                    self.check("vkResetCommandPool", result);
                }
                Host::TrimCommandPool { pool } => {
                    device.trim_command_pool(self.handle(*pool), vk::CommandPoolTrimFlags::empty());
                }
                Host::ResetCommands { commands, release } => {
                    let Some(commands) = self.commands(*commands) else { return };
                    let flags = match release {
                        true => vk::CommandBufferResetFlags::RELEASE_RESOURCES,
                        false => vk::CommandBufferResetFlags::empty(),
                    };
                    let result = device.reset_command_buffer(commands, flags);
                    self.check("vkResetCommandBuffer", result);
                }
                _ => self.wait(what),
            }
        }
    }

    fn end_sets(&mut self, pool: Id) {
        for object in self.objects.values_mut() {
            object.live &= !matches!(object.what, Create::Set { pool: of, .. } if of == pool);
        }
    }

    fn wait(&mut self, what: &Host) {
        let device = self.device();
        // SAFETY: see above.
        unsafe {
            match what {
                Host::WaitFences { fences, all, timeout } => {
                    let fences: Vec<vk::Fence> = self.handles(fences);
                    // What never ends is a finding, and no reason to wait for it.
                    let result = device.wait_for_fences(&fences, *all, self.patience(*timeout));
                    self.check_wait("vkWaitForFences", result, *timeout);
                }
                Host::ResetFences { fences } => {
                    let fences: Vec<vk::Fence> = self.handles(fences);
                    let result = device.reset_fences(&fences);
                    self.check("vkResetFences", result);
                }
                Host::FenceStatus { fence } => {
                    let result = device.get_fence_status(self.handle(*fence));
                    self.check("vkGetFenceStatus", result);
                }
                Host::SetEvent { event } => {
                    let result = device.set_event(self.handle(*event));
                    self.check("vkSetEvent", result);
                }
                Host::ResetEvent { event } => {
                    let result = device.reset_event(self.handle(*event));
                    self.check("vkResetEvent", result);
                }
                Host::EventStatus { event } => {
                    let result = device.get_event_status(self.handle(*event));
                    self.check("vkGetEventStatus", result);
                }
                Host::SignalTimeline { semaphore, value } => {
                    let info =
                        vk::SemaphoreSignalInfo::default().semaphore(self.handle(*semaphore)).value(*value);
                    let result = device.signal_semaphore(&info);
                    self.check("vkSignalSemaphore", result);
                }
                Host::WaitTimeline { semaphore, value, timeout } => {
                    let (semaphores, values) = ([self.handle(*semaphore)], [*value]);
                    let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
                    let result = device.wait_semaphores(&info, self.patience(*timeout));
                    self.check_wait("vkWaitSemaphores", result, *timeout);
                }
                Host::Counter { semaphore } => {
                    let result = device.get_semaphore_counter_value(self.handle(*semaphore));
                    self.check("vkGetSemaphoreCounterValue", result);
                }
                Host::ResetQueries { queries, first, count } => {
                    device.reset_query_pool(self.handle(*queries), *first, *count);
                }
                Host::QueryResults { queries, first, count, stride, flags } => {
                    self.query_results(*queries, *first, *count, *stride, *flags);
                }
                Host::WaitIdle { device: false } => {
                    let queue = self.machine.queue();
                    let result = device.queue_wait_idle(*queue);
                    drop(queue);
                    self.check("vkQueueWaitIdle", result);
                }
                Host::WaitIdle { device: true } => {
                    // Nobody may use the queue meanwhile.
                    let queue = self.machine.queue();
                    let result = device.device_wait_idle();
                    drop(queue);
                    self.check("vkDeviceWaitIdle", result);
                }
                Host::CacheData { cache } => {
                    let result = device.get_pipeline_cache_data(self.handle(*cache));
                    self.check("vkGetPipelineCacheData", result);
                }
                Host::MergeCaches { into, from } => {
                    let from: Vec<vk::PipelineCache> = self.handles(from);
                    let result = device.merge_pipeline_caches(self.handle(*into), &from);
                    self.check("vkMergePipelineCaches", result);
                }
                Host::Frame { swapchain, word, present } => self.frame(*swapchain, *word, *present),
                Host::SetPrivate { slot, object, value } => {
                    let private = &self.machine.more.private;
                    let slot = self.handle(*slot);
                    let result = match self.objects.get(object).map(|object| &object.what) {
                        Some(Create::Buffer { .. }) => {
                            private.set_private_data(self.handle::<vk::Buffer>(*object), slot, *value)
                        }
                        _ => private.set_private_data(self.handle::<vk::Fence>(*object), slot, *value),
                    };
                    self.check("vkSetPrivateData", result);
                }
                Host::GetPrivate { slot, object } => {
                    let private = &self.machine.more.private;
                    let slot = self.handle(*slot);
                    match self.objects.get(object).map(|object| &object.what) {
                        Some(Create::Buffer { .. }) => {
                            private.get_private_data(self.handle::<vk::Buffer>(*object), slot)
                        }
                        _ => private.get_private_data(self.handle::<vk::Fence>(*object), slot),
                    };
                }
                Host::Ask { what, format, word } => self.ask(*what, *format, *word),
                _ => (),
            }
        }
    }
}
