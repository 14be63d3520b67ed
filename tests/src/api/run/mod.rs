//! Runs programs on a device through the loader.
//!
//! Steps whose objects are not there are left out, or, in programs that are not valid, go to the driver with null handles
//! or with those of objects that have ended. Dispatchable handles are always good ones: the loader itself reads what they
//! lead to.

mod bytes;
mod create;
mod descriptors;
mod destroy;
mod graphics;
pub mod host;
pub mod machine;
mod record;
mod show;
mod transfer;

use std::collections::BTreeMap;

use ash::Device;
use ash::vk::{self, Handle};

use super::slot::Id;
use super::step::*;
use crate::heap;
use machine::Machine;

/// What a program ended in.
#[derive(Default)]
pub struct Outcome {
    /// Contents of buffers and images.
    pub results: Vec<(Id, Vec<u8>)>,
    /// Calls that failed.
    pub errors: Vec<String>,
    /// Whether the device was lost.
    pub lost: bool,
    /// Whether something did not come that was to come.
    pub stuck: bool,
}

/// A program that runs.
pub struct Runner<'a> {
    machine: &'a Machine,
    callbacks: vk::AllocationCallbacks<'static>,
    /// Whether the program keeps to the specification.
    valid: bool,
    objects: BTreeMap<Id, Object>,
    /// Memory between the program's own, which nothing may touch.
    canaries: Vec<(vk::DeviceMemory, u64)>,
    /// What has been found.
    outcome: Outcome,
}

/// An object that was made.
struct Object {
    raw: u64,
    what: Create,
    live: bool,
    /// Memory, and where an object lies in it.
    place: Option<(vk::DeviceMemory, u64)>,
    /// Bytes of memory.
    size: u64,
    mapped: bool,
    /// Another runner's.
    common: bool,
}

impl Object {
    /// The same for others than its maker, who alone ends it.
    fn lent(&self) -> Object {
        Object { common: true, what: self.what.clone(), ..*self }
    }
}

/// Objects that a runner lends to others.
pub struct Lent(BTreeMap<Id, Object>);

/// Longest that anything is waited for, in nanoseconds.
const PATIENCE: u64 = 10_000_000_000;

// SAFETY (for every block of the files of this room): handles come from this device; those of valid programs live, those of
// others are null, or lead to blocks that the callbacks keep. Create infos point to locals that outlive the call. The queue
// is used under its lock, other objects by this thread only.
impl<'a> Runner<'a> {
    /// A program that has not begun.
    pub fn new(machine: &'a Machine, valid: bool) -> Runner<'a> {
        let callbacks = heap::callbacks();
        let (objects, outcome) = (BTreeMap::new(), Outcome::default());
        Runner { machine, callbacks, valid, objects, canaries: Vec::new(), outcome }
    }

    /// What it has made, for runners that may use it as long as this one lives.
    pub fn lent(&self) -> Lent {
        Lent(self.objects.iter().map(|(id, object)| (*id, object.lent())).collect())
    }

    /// Takes what another one lends.
    pub fn borrow(&mut self, lent: &Lent) {
        self.objects.extend(lent.0.iter().map(|(id, object)| (*id, object.lent())));
    }

    /// Takes a step.
    pub fn step(&mut self, step: &Step) {
        if self.outcome.lost || self.outcome.stuck {
            return;
        }
        match step {
            Step::Create { id, what } => self.create(*id, what),
            Step::Destroy { id } => self.destroy(*id),
            Step::Begin { commands, flags, pass, framebuffer } => {
                let Some(commands) = self.commands(*commands) else { return };
                let pass = pass.map_or(vk::RenderPass::null(), |pass| self.handle(pass));
                let framebuffer = framebuffer.map_or(vk::Framebuffer::null(), |id| self.handle(id));
                let inheritance =
                    vk::CommandBufferInheritanceInfo::default().render_pass(pass).framebuffer(framebuffer);
                let begin =
                    vk::CommandBufferBeginInfo::default().flags(*flags).inheritance_info(&inheritance);
                // SAFETY: see above.
                let result = unsafe { self.device().begin_command_buffer(commands, &begin) };
                self.check("vkBeginCommandBuffer", result);
            }
            Step::Record { commands, command } => {
                if let Some(commands) = self.commands(*commands) {
                    self.record(commands, command);
                }
            }
            Step::End { commands } => {
                let Some(commands) = self.commands(*commands) else { return };
                // SAFETY: see above.
                let result = unsafe { self.device().end_command_buffer(commands) };
                self.check("vkEndCommandBuffer", result);
            }
            Step::Submit { commands, waits, signals, fence, newer } => {
                self.submit(commands, waits, signals, *fence, *newer);
            }
            Step::Do { what } => self.host(what),
        }
    }

    /// Ends all that lives, and looks whether something was written where nothing should be.
    pub fn finish(mut self) -> Outcome {
        if self.outcome.stuck {
            // What does not end cannot be waited for, nor ended.
            return self.outcome;
        }
        // SAFETY: see above.
        let idle = unsafe {
            let queue = self.machine.queue();
            self.device().queue_wait_idle(*queue)
        };
        self.check("vkQueueWaitIdle", idle);
        self.destroy_all();
        self.check_canaries();
        self.outcome
    }

    /// The device, for one call.
    fn device(&self) -> &'a Device {
        self.machine.count();
        &self.machine.device
    }

    /// The result of a call.
    fn check<T>(&mut self, call: &str, result: Result<T, vk::Result>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.outcome.lost |= error == vk::Result::ERROR_DEVICE_LOST;
                self.outcome.stuck |= self.valid && error == vk::Result::TIMEOUT;
                self.outcome.errors.push(format!("{call}: {error:?}"));
                None
            }
        }
    }

    /// The handle of an object: null if it is not there, or, in programs that are not valid, of one that has ended.
    fn handle<T: Handle>(&self, id: Id) -> T {
        let object = self.objects.get(&id).filter(|object| {
            let dispatchable = matches!(object.what, Create::Commands { .. });
            (object.live || !self.valid) && !dispatchable
        });
        T::from_raw(object.map_or(0, |object| object.raw))
    }

    fn handles<T: Handle>(&self, ids: &[Id]) -> Vec<T> {
        ids.iter().map(|id| self.handle(*id)).collect()
    }

    fn some<T: Handle>(&self, id: Option<Id>) -> T {
        id.map_or(T::from_raw(0), |id| self.handle(id))
    }

    /// A command buffer that lives.
    fn commands(&self, id: Id) -> Option<vk::CommandBuffer> {
        let object = self.objects.get(&id)?;
        (object.live && matches!(object.what, Create::Commands { .. }))
            .then(|| vk::CommandBuffer::from_raw(object.raw))
    }

    fn all_commands(&self, ids: &[Id]) -> Vec<vk::CommandBuffer> {
        ids.iter().filter_map(|id| self.commands(*id)).collect()
    }

    /// The shape of an image; that of a small one if there is none.
    fn shape(&self, id: Id) -> ImageShape {
        match self.objects.get(&id).map(|object| &object.what) {
            Some(Create::Image { image }) => image.clone(),
            _ => ImageShape {
                kind: vk::ImageType::TYPE_2D,
                format: vk::Format::R8G8B8A8_UNORM,
                extent: [1; 3],
                levels: 1,
                layers: 1,
                samples: 1,
                linear: false,
                usage: vk::ImageUsageFlags::empty(),
                flags: vk::ImageCreateFlags::empty(),
            },
        }
    }

    fn submit(
        &mut self,
        commands: &[Id],
        waits: &[Signal],
        signals: &[Signal],
        fence: Option<Id>,
        newer: bool,
    ) {
        let buffers = self.all_commands(commands);
        let fence = self.some::<vk::Fence>(fence);
        let result = if newer {
            let semaphores = |all: &[Signal]| -> Vec<vk::SemaphoreSubmitInfo<'static>> {
                let one = |signal: &Signal| {
                    vk::SemaphoreSubmitInfo::default()
                        .semaphore(self.handle(signal.semaphore))
                        .value(signal.value)
                        .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
                };
                all.iter().map(one).collect()
            };
            let (waits, signals) = (semaphores(waits), semaphores(signals));
            let buffers: Vec<_> = buffers
                .iter()
                .map(|one| vk::CommandBufferSubmitInfo::default().command_buffer(*one))
                .collect();
            let submit = [vk::SubmitInfo2::default()
                .wait_semaphore_infos(&waits)
                .signal_semaphore_infos(&signals)
                .command_buffer_infos(&buffers)];
            self.machine.count();
            let queue = self.machine.queue();
            // SAFETY: see above.
            unsafe { self.machine.more.sync.queue_submit2(*queue, &submit, fence) }
        } else {
            let values = |all: &[Signal]| all.iter().map(|one| one.value).collect::<Vec<u64>>();
            let semaphores = |all: &[Signal]| {
                all.iter().map(|one| self.handle(one.semaphore)).collect::<Vec<vk::Semaphore>>()
            };
            let (wait_values, signal_values) = (values(waits), values(signals));
            let (wait_for, signalled) = (semaphores(waits), semaphores(signals));
            let stages = vec![vk::PipelineStageFlags::ALL_COMMANDS; wait_for.len()];
            let mut timeline = vk::TimelineSemaphoreSubmitInfo::default()
                .wait_semaphore_values(&wait_values)
                .signal_semaphore_values(&signal_values);
            let submit = [vk::SubmitInfo::default()
                .wait_semaphores(&wait_for)
                .wait_dst_stage_mask(&stages)
                .signal_semaphores(&signalled)
                .command_buffers(&buffers)
                .push_next(&mut timeline)];
            let queue = self.machine.queue();
            // SAFETY: see above.
            unsafe { self.device().queue_submit(*queue, &submit, fence) }
        };
        self.check("vkQueueSubmit", result);
    }

    /// Runs commands of the program's own at once.
    fn now(&mut self, record: impl FnOnce(&Runner<'a>, vk::CommandBuffer)) {
        // SAFETY: see above; everything that is made here ends here, whatever fails in between.
        unsafe {
            let create = vk::CommandPoolCreateInfo::default();
            let pool = self.device().create_command_pool(&create, Some(&self.callbacks));
            let fence = self.device().create_fence(&vk::FenceCreateInfo::default(), Some(&self.callbacks));
            let (pool, fence) = (self.check("vkCreateCommandPool", pool), self.check("vkCreateFence", fence));
            if let (Some(pool), Some(fence)) = (pool, fence) {
                self.now_in(pool, fence, record);
            }
            if !self.outcome.stuck {
                self.device().destroy_fence(fence.unwrap_or_default(), Some(&self.callbacks));
                self.device().destroy_command_pool(pool.unwrap_or_default(), Some(&self.callbacks));
            }
        }
    }

    unsafe fn now_in(
        &mut self,
        pool: vk::CommandPool,
        fence: vk::Fence,
        record: impl FnOnce(&Runner<'a>, vk::CommandBuffer),
    ) -> Option<()> {
        // SAFETY: see above.
        unsafe {
            let allocate =
                vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let buffers = self.device().allocate_command_buffers(&allocate);
            let buffers = self.check("vkAllocateCommandBuffers", buffers)?;
            let flags = vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT;
            let begin = vk::CommandBufferBeginInfo::default().flags(flags);
            let begun = self.device().begin_command_buffer(buffers[0], &begin);
            self.check("vkBeginCommandBuffer", begun)?;
            record(self, buffers[0]);
            let ended = self.device().end_command_buffer(buffers[0]);
            self.check("vkEndCommandBuffer", ended)?;
            let submit = [vk::SubmitInfo::default().command_buffers(&buffers)];
            let queue = self.machine.queue();
            let submitted = self.device().queue_submit(*queue, &submit, fence);
            drop(queue);
            self.check("vkQueueSubmit", submitted)?;
            let waited = self.device().wait_for_fences(&[fence], true, PATIENCE);
            self.check("vkWaitForFences", waited)
        }
    }
}

/// A barrier for everything.
fn everything<'a>() -> vk::MemoryBarrier<'a> {
    let all = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
    vk::MemoryBarrier::default().src_access_mask(all).dst_access_mask(all)
}
