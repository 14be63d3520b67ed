//! VkCommandBuffer: its life cycle and what is recorded.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::vk;

use crate::buffer::Buffer;
use crate::descriptor::DescriptorSet;
use crate::device::Device;
use crate::error::Error;
use crate::image::Image;
use crate::object::Object;
use crate::pipeline::{Pipeline, PipelineLayout};
use crate::query::QueryPool;
use crate::render_pass::{Framebuffer, RenderPass};
use crate::sync::Event;

/// Where a command buffer is in its life (Vulkan 1.0 §5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Initial,
    Recording,
    Executable,
    Invalid,
}

/// The four words of a clear value, whatever their type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClearWords(pub [u32; 4]);

impl ClearWords {
    /// As a float colour.
    pub fn color(&self) -> [f32; 4] {
        self.0.map(f32::from_bits)
    }

    /// As a depth.
    pub fn depth(&self) -> f32 {
        f32::from_bits(self.0[0])
    }

    /// As a stencil value.
    pub fn stencil(&self) -> u32 {
        self.0[1]
    }
}

/// What a secondary command buffer inherits.
#[derive(Clone)]
pub struct Inheritance {
    /// Pass, for buffers that continue one.
    pub render_pass: Option<Arc<RenderPass>>,
    /// Subpass.
    pub subpass: u32,
    /// Framebuffer, if known.
    pub framebuffer: Option<Arc<Framebuffer>>,
}

/// vkCmdBeginRenderPass.
pub struct PassBegin {
    /// The pass.
    pub render_pass: Arc<RenderPass>,
    /// The framebuffer.
    pub framebuffer: Arc<Framebuffer>,
    /// Pixels that are touched.
    pub area: vk::Rect2D,
    /// Clear values by attachment number.
    pub clears: Vec<ClearWords>,
}

/// One attachment of vkCmdClearAttachments.
#[derive(Clone, Copy, Debug)]
pub struct ClearAttachment {
    /// Aspects.
    pub aspects: vk::ImageAspectFlags,
    /// Index among the subpass's colours.
    pub color: u32,
    /// Value.
    pub value: ClearWords,
}

struct Recording {
    stage: Stage,
    /// The command that failed first, and its result.
    error: Option<(&'static str, vk::Result)>,
}

/// A command buffer.
pub struct CommandBuffer {
    device: Arc<Device>,
    level: vk::CommandBufferLevel,
    recording: Mutex<Recording>,
}

impl Object for CommandBuffer {
    type Handle = vk::CommandBuffer;
}

impl CommandBuffer {
    /// An initial command buffer.
    pub fn new(device: &Arc<Device>, level: vk::CommandBufferLevel) -> CommandBuffer {
        let recording = Mutex::new(Recording { stage: Stage::Initial, error: None });
        CommandBuffer { device: device.clone(), level, recording }
    }

    /// Its device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Primary or secondary.
    pub fn level(&self) -> vk::CommandBufferLevel {
        self.level
    }

    fn recording(&self) -> MutexGuard<'_, Recording> {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// vkBeginCommandBuffer; resets what was recorded.
    pub fn begin(&self, _: vk::CommandBufferUsageFlags, _: Option<Inheritance>) -> Result<(), Error> {
        *self.recording() = Recording { stage: Stage::Recording, error: None };
        Ok(())
    }

    /// vkEndCommandBuffer: the first error of recording, if any.
    pub fn end(&self) -> Result<(), Error> {
        let mut recording = self.recording();
        if recording.stage != Stage::Recording {
            return Err(Error::InvalidUse("vkEndCommandBuffer without vkBeginCommandBuffer".into()));
        }
        let error = recording.error.take();
        recording.stage = if error.is_some() { Stage::Invalid } else { Stage::Executable };
        error.map_or(Ok(()), |(command, result)| Err(Error::Recording(command, result)))
    }

    /// vkResetCommandBuffer, vkResetCommandPool.
    pub fn reset(&self) {
        *self.recording() = Recording { stage: Stage::Initial, error: None };
    }

    /// Whether it may be submitted.
    pub fn is_executable(&self) -> bool {
        self.recording().stage == Stage::Executable
    }

    /// Makes the recording fail; the first error counts, vkEndCommandBuffer returns it.
    pub fn fail(&self, command: &'static str, error: Error) {
        let mut recording = self.recording();
        if recording.error.is_none() {
            crate::entry::report(command, &error);
            recording.error = Some((command, error.result()));
        }
    }

    fn unsupported(&self, command: &'static str, instead: &'static str) {
        self.fail(command, Error::unsupported(format!("the command {command}"), instead));
    }
}

/// The commands.
#[allow(missing_docs, reason = "each is the vkCmd… of its name")]
impl CommandBuffer {
    pub fn bind_pipeline(&self, _: vk::PipelineBindPoint, _: &Arc<Pipeline>) {
        self.unsupported("vkCmdBindPipeline", NOT_YET);
    }

    pub fn set_viewport(&self, _first: u32, _: &[vk::Viewport]) {
        self.unsupported("vkCmdSetViewport", NOT_YET);
    }

    pub fn set_scissor(&self, _first: u32, _: &[vk::Rect2D]) {
        self.unsupported("vkCmdSetScissor", NOT_YET);
    }

    pub fn set_line_width(&self, _: f32) {
        self.unsupported("vkCmdSetLineWidth", NOT_YET);
    }

    pub fn set_depth_bias(&self, _constant: f32, _clamp: f32, _slope: f32) {
        self.unsupported("vkCmdSetDepthBias", NOT_YET);
    }

    pub fn set_blend_constants(&self, _: [f32; 4]) {
        self.unsupported("vkCmdSetBlendConstants", NOT_YET);
    }

    pub fn set_depth_bounds(&self, _min: f32, _max: f32) {
        self.unsupported("vkCmdSetDepthBounds", NOT_YET);
    }

    pub fn set_stencil_compare_mask(&self, _: vk::StencilFaceFlags, _: u32) {
        self.unsupported("vkCmdSetStencilCompareMask", NOT_YET);
    }

    pub fn set_stencil_write_mask(&self, _: vk::StencilFaceFlags, _: u32) {
        self.unsupported("vkCmdSetStencilWriteMask", NOT_YET);
    }

    pub fn set_stencil_reference(&self, _: vk::StencilFaceFlags, _: u32) {
        self.unsupported("vkCmdSetStencilReference", NOT_YET);
    }

    pub fn bind_descriptor_sets(
        &self,
        _: vk::PipelineBindPoint,
        _: &Arc<PipelineLayout>,
        _first: u32,
        _: &[Arc<DescriptorSet>],
        _dynamic: &[u32],
    ) {
        self.unsupported("vkCmdBindDescriptorSets", NOT_YET);
    }

    pub fn bind_index_buffer(&self, _: &Arc<Buffer>, _offset: u64, _: vk::IndexType) {
        self.unsupported("vkCmdBindIndexBuffer", NOT_YET);
    }

    pub fn bind_vertex_buffers(&self, _first: u32, _: &[(Arc<Buffer>, u64)]) {
        self.unsupported("vkCmdBindVertexBuffers", NOT_YET);
    }

    pub fn push_constants(&self, _: &Arc<PipelineLayout>, _: vk::ShaderStageFlags, _offset: u32, _: &[u8]) {
        self.unsupported("vkCmdPushConstants", NOT_YET);
    }

    pub fn draw(&self, _vertices: u32, _instances: u32, _first_vertex: u32, _first_instance: u32) {
        self.unsupported("vkCmdDraw", NOT_YET);
    }

    pub fn draw_indexed(
        &self,
        _indices: u32,
        _instances: u32,
        _first_index: u32,
        _vertex_offset: i32,
        _first_instance: u32,
    ) {
        self.unsupported("vkCmdDrawIndexed", NOT_YET);
    }

    pub fn draw_indirect(&self, _: &Arc<Buffer>, _offset: u64, _draws: u32, _stride: u32) {
        self.unsupported("vkCmdDrawIndirect", NOT_YET);
    }

    pub fn draw_indexed_indirect(&self, _: &Arc<Buffer>, _offset: u64, _draws: u32, _stride: u32) {
        self.unsupported("vkCmdDrawIndexedIndirect", NOT_YET);
    }

    pub fn dispatch(&self, _groups: [u32; 3]) {
        self.unsupported("vkCmdDispatch", "the only queue family has no compute");
    }

    pub fn dispatch_indirect(&self, _: &Arc<Buffer>, _offset: u64) {
        self.unsupported("vkCmdDispatchIndirect", "the only queue family has no compute");
    }

    pub fn begin_render_pass(&self, _: PassBegin, _: vk::SubpassContents) {
        self.unsupported("vkCmdBeginRenderPass", NOT_YET);
    }

    pub fn next_subpass(&self, _: vk::SubpassContents) {
        self.unsupported("vkCmdNextSubpass", NOT_YET);
    }

    pub fn end_render_pass(&self) {
        self.unsupported("vkCmdEndRenderPass", NOT_YET);
    }

    pub fn execute_commands(&self, _: &[Arc<CommandBuffer>]) {
        self.unsupported("vkCmdExecuteCommands", NOT_YET);
    }

    pub fn set_event(&self, _: &Arc<Event>, _: vk::PipelineStageFlags) {
        self.unsupported("vkCmdSetEvent", NOT_YET);
    }

    pub fn reset_event(&self, _: &Arc<Event>, _: vk::PipelineStageFlags) {
        self.unsupported("vkCmdResetEvent", NOT_YET);
    }

    pub fn wait_events(&self, _: &[Arc<Event>], _src: vk::PipelineStageFlags, _dst: vk::PipelineStageFlags) {
        self.unsupported("vkCmdWaitEvents", NOT_YET);
    }

    /// Images need no transitions on this device: every layout is the same memory.
    pub fn pipeline_barrier(&self, _src: vk::PipelineStageFlags, _dst: vk::PipelineStageFlags) {
        self.unsupported("vkCmdPipelineBarrier", NOT_YET);
    }

    pub fn begin_query(&self, _: &Arc<QueryPool>, _query: u32, _: vk::QueryControlFlags) {
        self.unsupported("vkCmdBeginQuery", NOT_YET);
    }

    pub fn end_query(&self, _: &Arc<QueryPool>, _query: u32) {
        self.unsupported("vkCmdEndQuery", NOT_YET);
    }

    pub fn reset_query_pool(&self, _: &Arc<QueryPool>, _first: u32, _count: u32) {
        self.unsupported("vkCmdResetQueryPool", NOT_YET);
    }

    pub fn write_timestamp(&self, _: &Arc<QueryPool>, _query: u32, _: vk::PipelineStageFlags) {
        self.unsupported("vkCmdWriteTimestamp", NOT_YET);
    }

    pub fn copy_query_pool_results(
        &self,
        _: &Arc<QueryPool>,
        (_first, _count): (u32, u32),
        _: &Arc<Buffer>,
        _offset: u64,
        _stride: u64,
        _: vk::QueryResultFlags,
    ) {
        self.unsupported("vkCmdCopyQueryPoolResults", NOT_YET);
    }

    pub fn copy_buffer(&self, _src: &Arc<Buffer>, _dst: &Arc<Buffer>, _: &[vk::BufferCopy]) {
        self.unsupported("vkCmdCopyBuffer", NOT_YET);
    }

    pub fn copy_image(&self, _src: &Arc<Image>, _dst: &Arc<Image>, _: &[vk::ImageCopy]) {
        self.unsupported("vkCmdCopyImage", NOT_YET);
    }

    pub fn blit_image(&self, _src: &Arc<Image>, _dst: &Arc<Image>, _: &[vk::ImageBlit], _: vk::Filter) {
        self.unsupported("vkCmdBlitImage", NOT_YET);
    }

    pub fn copy_buffer_to_image(&self, _src: &Arc<Buffer>, _dst: &Arc<Image>, _: &[vk::BufferImageCopy]) {
        self.unsupported("vkCmdCopyBufferToImage", NOT_YET);
    }

    pub fn copy_image_to_buffer(&self, _src: &Arc<Image>, _dst: &Arc<Buffer>, _: &[vk::BufferImageCopy]) {
        self.unsupported("vkCmdCopyImageToBuffer", NOT_YET);
    }

    pub fn update_buffer(&self, _: &Arc<Buffer>, _offset: u64, _: &[u8]) {
        self.unsupported("vkCmdUpdateBuffer", NOT_YET);
    }

    pub fn fill_buffer(&self, _: &Arc<Buffer>, _offset: u64, _size: u64, _word: u32) {
        self.unsupported("vkCmdFillBuffer", NOT_YET);
    }

    pub fn clear_color_image(&self, _: &Arc<Image>, _: ClearWords, _: &[vk::ImageSubresourceRange]) {
        self.unsupported("vkCmdClearColorImage", NOT_YET);
    }

    pub fn clear_depth_stencil_image(&self, _: &Arc<Image>, _: ClearWords, _: &[vk::ImageSubresourceRange]) {
        self.unsupported("vkCmdClearDepthStencilImage", NOT_YET);
    }

    pub fn clear_attachments(&self, _: &[ClearAttachment], _: &[vk::ClearRect]) {
        self.unsupported("vkCmdClearAttachments", NOT_YET);
    }

    pub fn resolve_image(&self, _src: &Arc<Image>, _dst: &Arc<Image>, _: &[vk::ImageResolve]) {
        self.unsupported("vkCmdResolveImage", NOT_YET);
    }
}

const NOT_YET: &str = "the README's status table lists what is";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::device;

    #[test]
    fn the_life_cycle_carries_the_first_error_to_the_end() {
        let buffer = CommandBuffer::new(&device(), vk::CommandBufferLevel::PRIMARY);
        assert!(buffer.end().is_err());
        buffer.begin(vk::CommandBufferUsageFlags::empty(), None).unwrap();
        buffer.fail("vkCmdTest", Error::DeviceLost);
        buffer.fail("vkCmdTest", Error::OutOfHostMemory);
        assert_eq!(buffer.end().unwrap_err().result(), vk::Result::ERROR_DEVICE_LOST);
        assert!(!buffer.is_executable());
        buffer.begin(vk::CommandBufferUsageFlags::empty(), None).unwrap();
        buffer.end().unwrap();
        assert!(buffer.is_executable());
        buffer.reset();
        assert!(!buffer.is_executable());
    }
}
