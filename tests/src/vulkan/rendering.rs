//! Passes without a render pass: VK_KHR_dynamic_rendering.

use ash::vk;

use super::error::Error;
use super::lab::Lab;

/// The layout of everything.
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;

/// An attachment that is cleared or loaded, and kept.
pub fn rendered(
    view: vk::ImageView,
    load: vk::AttachmentLoadOp,
    clear: vk::ClearValue,
) -> vk::RenderingAttachmentInfo<'static> {
    vk::RenderingAttachmentInfo::default()
        .image_view(view)
        .image_layout(GENERAL)
        .load_op(load)
        .store_op(vk::AttachmentStoreOp::STORE)
        .clear_value(clear)
}

// SAFETY (for every block of this file): handles come from this device and live until the lab is dropped, when the
// queue is idle; structures point to locals that outlive the call; one thread uses the lab.
impl Lab<'_> {
    /// Makes whole images ready to be drawn to.
    pub fn to_general(&self, commands: vk::CommandBuffer, images: &[(vk::Image, vk::ImageAspectFlags)]) {
        let barriers: Vec<_> = images
            .iter()
            .map(|&(image, aspect_mask)| {
                let range = vk::ImageSubresourceRange {
                    aspect_mask,
                    level_count: vk::REMAINING_MIP_LEVELS,
                    layer_count: vk::REMAINING_ARRAY_LAYERS,
                    ..Default::default()
                };
                vk::ImageMemoryBarrier::default()
                    .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)
                    .new_layout(GENERAL)
                    .image(image)
                    .subresource_range(range)
            })
            .collect();
        let (top, all) = (vk::PipelineStageFlags::TOP_OF_PIPE, vk::PipelineStageFlags::ALL_COMMANDS);
        let none = vk::DependencyFlags::empty();
        // SAFETY: see above.
        unsafe { self.device.cmd_pipeline_barrier(commands, top, all, none, &[], &[], &barriers) }
    }

    /// Records what is inside of a pass.
    pub fn render(
        &self,
        commands: vk::CommandBuffer,
        info: &vk::RenderingInfo<'_>,
        record: impl FnOnce(vk::CommandBuffer),
    ) {
        let rendering = &self.harness.rendering;
        // SAFETY: see above.
        unsafe {
            rendering.cmd_begin_rendering(commands, info);
            record(commands);
            rendering.cmd_end_rendering(commands);
        }
    }

    /// A secondary command buffer that is inside of a pass.
    pub fn inside(
        &self,
        inherited: &mut vk::CommandBufferInheritanceRenderingInfo<'_>,
        record: impl FnOnce(vk::CommandBuffer),
    ) -> Result<vk::CommandBuffer, Error> {
        self.harness.secondary(Some(inherited), record)
    }
}
