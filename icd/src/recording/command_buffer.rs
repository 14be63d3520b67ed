//! VkCommandBuffer: its life cycle (Vulkan 1.0 §5.1), and the commands, which [`super::recorder`] turns into segments.

use std::sync::Arc;

use ash::vk;

use super::labels::Labels;
use super::pass::{ClearAttachment, PassBegin};
use super::recorder::{PassCommand, Recorded, Recorder};
#[cfg(feature = "compute")]
use crate::compute::dispatch::Groups;
use crate::foundation::error::Error;
use crate::foundation::handle::Object;
use crate::foundation::latch::Latch;
use crate::objects::buffer::Buffer;
use crate::objects::descriptor::{Descriptor, DescriptorSet, SetLayout};
use crate::objects::device::Device;
use crate::objects::image::Image;
use crate::objects::query::{Asked, QueryCommand, QueryPool};
use crate::objects::render_pass::{Framebuffer, RenderPass};
use crate::objects::sync::Event;
use crate::pipeline::PipelineObject;
use crate::pipeline::dynamic::{Dynamic, StencilFace};
use crate::pipeline::kinds::{Switches, clamps_bias};
use crate::pipeline::layout::PipelineLayout;
use crate::segments::DrawList;
#[cfg(feature = "compute")]
use crate::segments::Part;
use crate::segments::{DrawParameters, IndirectDraw};
use crate::transfers::blit::Blit;
use crate::transfers::buffer::{CopyBuffer, FillBuffer, UpdateBuffer};
use crate::transfers::buffer_image::CopyBufferImage;
use crate::transfers::clear::FillParts;
use crate::transfers::event::{ChangeEvent, WaitEvents};
use crate::transfers::fill::ClearWords;
use crate::transfers::image::CopyImage;
use crate::transfers::query::CopyResults;
use crate::transfers::resolve::Resolve;

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

/// Where a command buffer is, and what it holds there.
enum Content {
    /// Nothing, and the memory for a list of draws.
    Initial(Box<DrawList>),
    Recording {
        recording: Box<Recorder>,
        /// The command that failed first, and its result.
        error: Option<(&'static str, vk::Result)>,
    },
    Executable(Recorded),
    Invalid,
}

impl Content {
    /// Ends what is there, for its memory.
    fn recycle(&mut self) -> DrawList {
        match std::mem::replace(self, Content::Invalid) {
            Content::Initial(draws) => *draws,
            Content::Executable(recorded) => recorded.recycle(),
            Content::Recording { .. } | Content::Invalid => DrawList::default(),
        }
    }
}

/// A command buffer.
pub struct CommandBuffer {
    device: Arc<Device>,
    level: vk::CommandBufferLevel,
    content: Latch<Content>,
}

impl Object for CommandBuffer {
    type Handle = vk::CommandBuffer;
}

impl CommandBuffer {
    /// An initial command buffer.
    pub fn new(device: &Arc<Device>, level: vk::CommandBufferLevel) -> CommandBuffer {
        CommandBuffer { device: device.clone(), level, content: Latch::new(Content::Initial(Box::default())) }
    }

    /// Its device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Primary or secondary.
    pub fn level(&self) -> vk::CommandBufferLevel {
        self.level
    }

    /// vkBeginCommandBuffer; resets what was recorded.
    pub fn begin(&self, usage: vk::CommandBufferUsageFlags, _: Option<Inheritance>) -> Result<(), Error> {
        let continues = self.level == vk::CommandBufferLevel::SECONDARY
            && usage.contains(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE);
        let mut content = self.content.take();
        let draws = content.recycle();
        *content = Content::Recording { recording: Box::new(Recorder::new(continues, draws)), error: None };
        Ok(())
    }

    /// vkEndCommandBuffer: the first error of recording, if any.
    pub fn end(&self) -> Result<(), Error> {
        let mut content = self.content.take();
        let finished = match std::mem::replace(&mut *content, Content::Invalid) {
            Content::Recording { recording, error: None } => recording.finish(),
            Content::Recording { error: Some((command, result)), .. } => {
                Err(Error::Recording(command, result))
            }
            _ => Err(Error::InvalidUse("vkEndCommandBuffer without vkBeginCommandBuffer".into())),
        };
        *content = Content::Executable(finished?);
        Ok(())
    }

    /// vkResetCommandBuffer, vkResetCommandPool; whether the memory serves the next recording.
    pub fn reset(&self, keeps_memory: bool) {
        let mut content = self.content.take();
        let draws = content.recycle();
        *content = Content::Initial(if keeps_memory { Box::new(draws) } else { Box::default() });
    }

    /// vkTrimCommandPoolKHR: gives memory back that is kept for the next recording.
    pub fn trim(&self) {
        if let Content::Initial(draws) = &mut *self.content.take() {
            **draws = DrawList::default();
        }
    }

    /// What it recorded; `None` unless it is executable.
    pub fn recorded(&self) -> Option<Recorded> {
        match &*self.content.take() {
            Content::Executable(recorded) => Some(recorded.clone()),
            _ => None,
        }
    }

    /// Makes the recording fail; the first error counts, vkEndCommandBuffer returns it.
    pub fn fail(&self, command: &'static str, error: Error) {
        self.record(command, |_| Err(error));
    }

    #[cfg(not(feature = "compute"))]
    fn unsupported(&self, command: &'static str, instead: &'static str) {
        self.fail(command, Error::unsupported(format!("the command {command}"), instead));
    }

    /// Records something, unless the recording has failed before.
    #[inline]
    fn record(&self, command: &'static str, body: impl FnOnce(&mut Recorder) -> Result<(), Error>) {
        // SAFETY: who records a command sees to it that nobody else uses the command buffer (Vulkan 1.0 §2.6), and
        // no command records another.
        let mut content = unsafe { self.content.take_alone() };
        if let Content::Recording { recording, error: error @ None } = &mut *content {
            if let Err(why) = body(recording) {
                *error = Some(failed(command, why));
            }
        }
    }

    fn set(&self, command: &'static str, body: impl FnOnce(&mut Dynamic)) {
        self.record(command, |recording| {
            body(recording.state.dynamic());
            Ok(())
        });
    }
}

/// Reports a command that failed: out of line, for the sake of those that do not.
#[cold]
fn failed(command: &'static str, why: Error) -> (&'static str, vk::Result) {
    why.report(command);
    (command, why.result())
}

#[cold]
fn wrong_point(point: vk::PipelineBindPoint) -> Error {
    Error::InvalidUse(format!("a pipeline that is not for bind point {point:?}"))
}

fn faces(dynamic: &mut Dynamic, faces: vk::StencilFaceFlags, set: impl Fn(&mut StencilFace)) {
    for (index, face) in [vk::StencilFaceFlags::FRONT, vk::StencilFaceFlags::BACK].into_iter().enumerate() {
        if faces.contains(face) {
            set(&mut dynamic.stencil[index]);
        }
    }
}

/// The commands.
#[allow(missing_docs, reason = "each is the vkCmd… of its name")]
impl CommandBuffer {
    pub fn bind_pipeline(&self, point: vk::PipelineBindPoint, pipeline: &PipelineObject) {
        self.record("vkCmdBindPipeline", |recording| match (point, pipeline) {
            (vk::PipelineBindPoint::GRAPHICS, PipelineObject::Graphics(pipeline)) => {
                recording.bind_pipeline(pipeline)
            }
            #[cfg(feature = "compute")]
            (vk::PipelineBindPoint::COMPUTE, PipelineObject::Compute(pipeline)) => {
                recording.compute().bind_pipeline(pipeline);
                Ok(())
            }
            _ => Err(wrong_point(point)),
        });
    }

    /// vkCmdBeginDebugUtilsLabelEXT and the like.
    pub fn label(&self, command: &'static str, change: impl FnOnce(&mut Labels)) {
        self.record(command, |recording| {
            recording.label(change);
            Ok(())
        });
    }

    /// Sets state that makes pipelines of other kinds.
    pub fn switch(&self, command: &'static str, body: impl FnOnce(&mut Switches)) {
        self.record(command, |recording| {
            body(recording.state.switches());
            Ok(())
        });
    }

    pub fn set_viewport(&self, first: u32, viewports: &[vk::Viewport]) {
        self.set("vkCmdSetViewport", |dynamic| {
            if let (0, Some(viewport)) = (first, viewports.first()) {
                dynamic.viewport = *viewport;
            }
        });
    }

    pub fn set_scissor(&self, first: u32, scissors: &[vk::Rect2D]) {
        self.set("vkCmdSetScissor", |dynamic| {
            if let (0, Some(scissor)) = (first, scissors.first()) {
                dynamic.scissor = *scissor;
            }
        });
    }

    pub fn set_line_width(&self, width: f32) {
        self.set("vkCmdSetLineWidth", |dynamic| dynamic.line_width = width);
    }

    pub fn set_depth_bias(&self, constant: f32, clamp: f32, slope: f32) {
        let bias = [constant, clamp, slope];
        self.set("vkCmdSetDepthBias", |dynamic| dynamic.depth_bias = bias);
        self.switch("vkCmdSetDepthBias", |switches| switches.clamps_bias = clamps_bias(bias));
    }

    pub fn set_blend_constants(&self, constants: [f32; 4]) {
        self.set("vkCmdSetBlendConstants", |dynamic| dynamic.blend_constants = constants);
    }

    /// Without effect: pipelines that test depth bounds are refused.
    pub fn set_depth_bounds(&self, _min: f32, _max: f32) {}

    pub fn set_stencil_compare_mask(&self, which: vk::StencilFaceFlags, mask: u32) {
        self.set("vkCmdSetStencilCompareMask", |dynamic| {
            faces(dynamic, which, |face| face.compare_mask = mask);
        });
    }

    pub fn set_stencil_write_mask(&self, which: vk::StencilFaceFlags, mask: u32) {
        self.set("vkCmdSetStencilWriteMask", |dynamic| {
            faces(dynamic, which, |face| face.write_mask = mask);
        });
    }

    pub fn set_stencil_reference(&self, which: vk::StencilFaceFlags, reference: u32) {
        self.set("vkCmdSetStencilReference", |dynamic| {
            faces(dynamic, which, |face| face.reference = reference);
        });
    }

    pub fn bind_descriptor_sets<'a>(
        &self,
        point: vk::PipelineBindPoint,
        _: &Arc<PipelineLayout>,
        first: u32,
        sets: impl Iterator<Item = &'a Arc<DescriptorSet>>,
        dynamic: &[u32],
    ) {
        self.record("vkCmdBindDescriptorSets", |recording| match point {
            vk::PipelineBindPoint::GRAPHICS => recording.state.bind_sets(first, sets, dynamic),
            #[cfg(feature = "compute")]
            vk::PipelineBindPoint::COMPUTE => recording.compute().bind_sets(first, sets, dynamic),
            _ => Ok(()),
        });
    }

    /// vkCmdPushDescriptorSetKHR and its sibling: writes of binding, first element and values.
    pub fn push_descriptors(
        &self,
        command: &'static str,
        point: vk::PipelineBindPoint,
        layout: &Arc<SetLayout>,
        set: u32,
        writes: Vec<(u32, u32, Vec<Descriptor>)>,
    ) {
        self.record(command, |recording| match point {
            vk::PipelineBindPoint::GRAPHICS => recording.state.push_descriptors(set, layout, writes),
            #[cfg(feature = "compute")]
            vk::PipelineBindPoint::COMPUTE => recording.compute().push_descriptors(set, layout, writes),
            _ => Ok(()),
        });
    }

    pub fn bind_index_buffer(&self, buffer: &Arc<Buffer>, offset: u64, ty: vk::IndexType) {
        self.record("vkCmdBindIndexBuffer", |recording| {
            recording.state.bind_indices(buffer, offset, ty);
            Ok(())
        });
    }

    pub fn bind_vertex_buffers<'a>(&self, first: u32, buffers: impl Iterator<Item = (&'a Arc<Buffer>, u64)>) {
        self.record("vkCmdBindVertexBuffers", |recording| recording.state.bind_vertices(first, buffers));
    }

    pub fn push_constants(
        &self,
        _: &Arc<PipelineLayout>,
        stages: vk::ShaderStageFlags,
        offset: u32,
        values: &[u8],
    ) {
        self.record("vkCmdPushConstants", |recording| {
            #[cfg(feature = "compute")]
            if stages.contains(vk::ShaderStageFlags::COMPUTE) {
                recording.compute().push(offset, values)?;
            }
            match stages.intersects(vk::ShaderStageFlags::ALL_GRAPHICS) {
                true => recording.state.push(offset, values),
                false => Ok(()),
            }
        });
    }

    pub fn draw(&self, vertices: u32, instances: u32, first_vertex: u32, first_instance: u32) {
        let (count, first, vertex_offset) = (vertices, first_vertex, None);
        let draw = DrawParameters { count, instances, first, vertex_offset, first_instance };
        self.record("vkCmdDraw", |recording| recording.draw(draw));
    }

    pub fn draw_indexed(
        &self,
        indices: u32,
        instances: u32,
        first_index: u32,
        vertex_offset: i32,
        first_instance: u32,
    ) {
        let (count, first, vertex_offset) = (indices, first_index, Some(vertex_offset));
        let draw = DrawParameters { count, instances, first, vertex_offset, first_instance };
        self.record("vkCmdDrawIndexed", |recording| recording.draw(draw));
    }

    /// A draw whose parameters lie in memory, by one of the commands for that.
    pub fn draw_indirect(&self, command: &'static str, draw: IndirectDraw) {
        self.record(command, |recording| recording.draw_indirect(draw));
    }

    #[cfg(feature = "compute")]
    pub fn dispatch(&self, first: [u32; 3], groups: [u32; 3]) {
        self.record("vkCmdDispatch", |recording| {
            let dispatch = recording.compute().dispatch(Groups::Direct(Part { first, groups }))?;
            recording.cpu(dispatch)
        });
    }

    #[cfg(feature = "compute")]
    pub fn dispatch_indirect(&self, buffer: &Arc<Buffer>, offset: u64) {
        self.record("vkCmdDispatchIndirect", |recording| {
            let groups = Groups::Indirect { buffer: buffer.clone(), offset };
            let dispatch = recording.compute().dispatch(groups)?;
            recording.cpu(dispatch)
        });
    }

    #[cfg(not(feature = "compute"))]
    pub fn dispatch(&self, _first: [u32; 3], _groups: [u32; 3]) {
        self.unsupported("vkCmdDispatch", "use a driver built with the cargo feature `compute`");
    }

    #[cfg(not(feature = "compute"))]
    pub fn dispatch_indirect(&self, _: &Arc<Buffer>, _offset: u64) {
        self.unsupported("vkCmdDispatchIndirect", "use a driver built with the cargo feature `compute`");
    }

    pub fn begin_render_pass(&self, begin: Result<PassBegin, Error>) {
        self.record("vkCmdBeginRenderPass", |recording| recording.begin_pass(&self.device, begin?));
    }

    pub fn begin_rendering(&self, begin: Result<PassBegin, Error>) {
        self.record("vkCmdBeginRendering", |recording| recording.begin_pass(&self.device, begin?));
    }

    pub fn end_rendering(&self) {
        self.record("vkCmdEndRendering", Recorder::end_pass);
    }

    pub fn next_subpass(&self) {
        self.record("vkCmdNextSubpass", Recorder::next_subpass);
    }

    pub fn end_render_pass(&self) {
        self.record("vkCmdEndRenderPass", Recorder::end_pass);
    }

    pub fn execute_commands(&self, secondaries: &[Arc<CommandBuffer>]) {
        // Looked at first: a buffer that (wrongly) executes itself must not lock itself out.
        let recorded: Vec<_> = secondaries.iter().map(|buffer| buffer.recorded()).collect();
        self.record("vkCmdExecuteCommands", |recording| {
            recorded.iter().try_for_each(|recorded| match recorded {
                Some(recorded) => recording.execute(recorded),
                None => Err(Error::InvalidUse("a secondary command buffer that is not executable".into())),
            })
        });
    }

    pub fn set_event(&self, event: &Arc<Event>, _: vk::PipelineStageFlags) {
        let command = ChangeEvent { event: event.clone(), set: true };
        self.record("vkCmdSetEvent", |recording| recording.cpu(command));
    }

    pub fn reset_event(&self, event: &Arc<Event>, _: vk::PipelineStageFlags) {
        let command = ChangeEvent { event: event.clone(), set: false };
        self.record("vkCmdResetEvent", |recording| recording.cpu(command));
    }

    pub fn wait_events(
        &self,
        events: &[Arc<Event>],
        _src: vk::PipelineStageFlags,
        _dst: vk::PipelineStageFlags,
    ) {
        self.record("vkCmdWaitEvents", |recording| {
            recording.cpu_anywhere(WaitEvents { events: events.to_vec() });
            Ok(())
        });
    }

    /// Images need no transitions, segments run in order, the kernel clears the caches before every job, and CPU
    /// commands wait for jobs: only a subpass that reads what it draws to has to store it.
    pub fn pipeline_barrier(&self, _src: vk::PipelineStageFlags, _dst: vk::PipelineStageFlags) {
        self.record("vkCmdPipelineBarrier", Recorder::barrier);
    }

    pub fn begin_query(&self, pool: &Arc<QueryPool>, _query: u32, flags: vk::QueryControlFlags) {
        const COMMAND: &str = "vkCmdBeginQuery";
        self.record(COMMAND, |recording| {
            let asked = match pool.ty() {
                vk::QueryType::OCCLUSION => {
                    Asked::Occlusion { exact: flags.contains(vk::QueryControlFlags::PRECISE) }
                }
                vk::QueryType::PIPELINE_STATISTICS => Asked::Statistics,
                ty => return Err(Error::InvalidUse(format!("{COMMAND} in a pool of {ty:?}"))),
            };
            recording.query(QueryCommand::Begin(asked))
        });
    }

    pub fn end_query(&self, pool: &Arc<QueryPool>, query: u32) {
        self.record("vkCmdEndQuery", |recording| recording.query(QueryCommand::End(pool.clone(), query)));
    }

    pub fn reset_query_pool(&self, pool: &Arc<QueryPool>, first: u32, count: u32) {
        let command = QueryCommand::Reset(pool.clone(), first, count);
        self.record("vkCmdResetQueryPool", |recording| recording.query(command));
    }

    pub fn write_timestamp(&self, pool: &Arc<QueryPool>, query: u32, _: vk::PipelineStageFlags) {
        let command = QueryCommand::Timestamp(pool.clone(), query);
        self.record("vkCmdWriteTimestamp", |recording| recording.query(command));
    }

    pub fn copy_query_pool_results(
        &self,
        pool: &Arc<QueryPool>,
        (first, count): (u32, u32),
        dst: &Arc<Buffer>,
        offset: u64,
        stride: u64,
        flags: vk::QueryResultFlags,
    ) {
        let (pool, dst) = (pool.clone(), dst.clone());
        let command = CopyResults { pool, first, count, dst, offset, stride, flags };
        self.record("vkCmdCopyQueryPoolResults", |recording| recording.cpu(command));
    }

    pub fn copy_buffer(&self, src: &Arc<Buffer>, dst: &Arc<Buffer>, regions: &[vk::BufferCopy]) {
        let command = CopyBuffer { src: src.clone(), dst: dst.clone(), regions: regions.to_vec() };
        self.record("vkCmdCopyBuffer", |recording| recording.cpu(command));
    }

    pub fn copy_image(&self, src: &Arc<Image>, dst: &Arc<Image>, regions: &[vk::ImageCopy]) {
        self.record("vkCmdCopyImage", |recording| {
            for mut command in CopyImage::by_planes(src, dst, regions)? {
                recording.transfer(command.by_tiles())?;
                if !command.is_empty() {
                    recording.cpu(command)?;
                }
            }
            Ok(())
        });
    }

    pub fn blit_image(
        &self,
        src: &Arc<Image>,
        dst: &Arc<Image>,
        regions: &[vk::ImageBlit],
        filter: vk::Filter,
    ) {
        self.record("vkCmdBlitImage", |recording| recording.cpu(Blit::new(src, dst, regions, filter)?));
    }

    pub fn copy_buffer_to_image(&self, src: &Arc<Buffer>, dst: &Arc<Image>, regions: &[vk::BufferImageCopy]) {
        self.record("vkCmdCopyBufferToImage", |recording| {
            let mut commands = CopyBufferImage::by_planes(src, dst, regions, true)?;
            commands.try_for_each(|command| recording.cpu(command))
        });
    }

    pub fn copy_image_to_buffer(&self, src: &Arc<Image>, dst: &Arc<Buffer>, regions: &[vk::BufferImageCopy]) {
        self.record("vkCmdCopyImageToBuffer", |recording| {
            let mut commands = CopyBufferImage::by_planes(dst, src, regions, false)?;
            commands.try_for_each(|command| recording.cpu(command))
        });
    }

    pub fn update_buffer(&self, dst: &Arc<Buffer>, offset: u64, data: &[u8]) {
        let command = UpdateBuffer { dst: dst.clone(), offset, data: data.to_vec() };
        self.record("vkCmdUpdateBuffer", |recording| recording.cpu(command));
    }

    pub fn fill_buffer(&self, dst: &Arc<Buffer>, offset: u64, size: u64, word: u32) {
        let size = if size == vk::WHOLE_SIZE { dst.clamp(offset, size) & !3 } else { size };
        let command = FillBuffer { dst: dst.clone(), offset, size, word };
        self.record("vkCmdFillBuffer", |recording| recording.cpu(command));
    }

    pub fn clear_color_image(
        &self,
        image: &Arc<Image>,
        value: ClearWords,
        ranges: &[vk::ImageSubresourceRange],
    ) {
        self.record("vkCmdClearColorImage", |recording| {
            recording.fill(FillParts::color(image.unfolded().0, value, ranges)?)
        });
    }

    pub fn clear_depth_stencil_image(
        &self,
        image: &Arc<Image>,
        value: ClearWords,
        ranges: &[vk::ImageSubresourceRange],
    ) {
        self.record("vkCmdClearDepthStencilImage", |recording| {
            ranges.iter().try_for_each(|range| recording.fill(FillParts::depth_stencil(image, value, range)))
        });
    }

    pub fn clear_attachments(&self, attachments: &[ClearAttachment], rects: &[vk::ClearRect]) {
        self.record("vkCmdClearAttachments", |recording| {
            let (attachments, rects) = (Arc::new(attachments.to_vec()), Arc::new(rects.to_vec()));
            recording.pass_command(PassCommand::Clear(attachments, rects))
        });
    }

    pub fn resolve_image(&self, src: &Arc<Image>, dst: &Arc<Image>, regions: &[vk::ImageResolve]) {
        self.record("vkCmdResolveImage", |recording| recording.cpu(Resolve::new(src, dst, regions)?));
    }
}

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
        assert!(buffer.recorded().is_none());
        buffer.begin(vk::CommandBufferUsageFlags::empty(), None).unwrap();
        buffer.end().unwrap();
        assert!(buffer.recorded().is_some());
        buffer.reset(true);
        assert!(buffer.recorded().is_none());
    }
}
