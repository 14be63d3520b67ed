//! A workbench on a device: it remembers every object that is made on it and destroys them all at its end. What can be
//! made stands in the files beside this one.

use std::cell::RefCell;

use ash::{Device, vk};

use super::error::{Error, Named};
use super::harness::Harness;

/// What a test draws with.
pub struct Lab<'a> {
    /// Where it stands.
    pub(crate) harness: &'a Harness,
    /// The device.
    pub device: &'a Device,
    objects: RefCell<Vec<Object>>,
}

/// Something to destroy.
pub(super) enum Object {
    Image(vk::Image),
    View(vk::ImageView),
    Buffer(vk::Buffer),
    BufferView(vk::BufferView),
    Memory(vk::DeviceMemory),
    Sampler(vk::Sampler),
    Pass(vk::RenderPass),
    Framebuffer(vk::Framebuffer),
    Pipeline(vk::Pipeline),
    PipelineCache(vk::PipelineCache),
    Layout(vk::PipelineLayout),
    QueryPool(vk::QueryPool),
    SetLayout(vk::DescriptorSetLayout),
    SetPool(vk::DescriptorPool),
}

impl<'a> Lab<'a> {
    /// A lab without objects.
    pub fn new(harness: &'a Harness) -> Lab<'a> {
        Lab { harness, device: &harness.device, objects: RefCell::default() }
    }

    /// Commands that set what pipelines else fix.
    pub fn switches(
        &self,
    ) -> (&ash::ext::extended_dynamic_state::Device, &ash::ext::extended_dynamic_state2::Device) {
        (&self.harness.switches, &self.harness.more_switches)
    }

    pub(super) fn keep(&self, object: Object) {
        self.objects.borrow_mut().push(object);
    }

    /// A layout of pipelines.
    pub(crate) fn pipeline_layout(
        &self,
        create: &vk::PipelineLayoutCreateInfo<'_>,
    ) -> Result<vk::PipelineLayout, Error> {
        // SAFETY: the create info points to what lives longer than this call.
        let layout = unsafe { self.device.create_pipeline_layout(create, None) };
        let layout = layout.named("vkCreatePipelineLayout")?;
        self.keep(Object::Layout(layout));
        Ok(layout)
    }

    /// Records a command buffer, runs it and waits.
    pub fn run(&self, record: impl FnOnce(vk::CommandBuffer)) -> Result<(), Error> {
        self.harness.submit(record)
    }

    /// Records a command buffer that [`Lab::run_again`] runs any number of times.
    pub(crate) fn recorded(
        &self,
        record: impl FnOnce(vk::CommandBuffer),
    ) -> Result<vk::CommandBuffer, Error> {
        self.harness.primary(vk::CommandBufferUsageFlags::empty(), record)
    }

    /// Runs a command buffer and waits.
    pub(crate) fn run_again(&self, commands: vk::CommandBuffer) -> Result<(), Error> {
        self.harness.run(commands)
    }

    /// Records a secondary command buffer outside of any pass, runs it from a primary one and waits.
    pub(crate) fn run_secondary(&self, record: impl FnOnce(vk::CommandBuffer)) -> Result<(), Error> {
        let secondary = self.harness.secondary(None, record)?;
        self.run(|commands| {
            // SAFETY: the secondary command buffer is executable and comes from this device.
            unsafe { self.device.cmd_execute_commands(commands, &[secondary]) };
            self.barrier(commands);
        })
    }
}

impl Drop for Lab<'_> {
    fn drop(&mut self) {
        let device = self.device;
        // SAFETY: the objects come from this device, nobody else destroys them, and the queue is idle; they go in the
        // reverse order of their making, and memory behind all that is bound to it.
        unsafe {
            let _ = device.device_wait_idle();
            let mut memories = Vec::new();
            for object in self.objects.borrow_mut().drain(..).rev() {
                match object {
                    Object::Image(image) => device.destroy_image(image, None),
                    Object::View(view) => device.destroy_image_view(view, None),
                    Object::Buffer(buffer) => device.destroy_buffer(buffer, None),
                    Object::BufferView(view) => device.destroy_buffer_view(view, None),
                    Object::Memory(memory) => memories.push(memory),
                    Object::Sampler(sampler) => device.destroy_sampler(sampler, None),
                    Object::Pass(pass) => device.destroy_render_pass(pass, None),
                    Object::Framebuffer(framebuffer) => device.destroy_framebuffer(framebuffer, None),
                    Object::Pipeline(pipeline) => device.destroy_pipeline(pipeline, None),
                    Object::PipelineCache(cache) => device.destroy_pipeline_cache(cache, None),
                    Object::Layout(layout) => device.destroy_pipeline_layout(layout, None),
                    Object::QueryPool(pool) => device.destroy_query_pool(pool, None),
                    Object::SetLayout(layout) => device.destroy_descriptor_set_layout(layout, None),
                    Object::SetPool(pool) => device.destroy_descriptor_pool(pool, None),
                }
            }
            memories.into_iter().for_each(|memory| device.free_memory(memory, None));
        }
    }
}
