//! The one pass of a scene: cleared, drawn to, left for a copy.

use ash::vk;

use crate::vulkan::{Error, Lab};

/// Format of the depth buffer.
pub(super) const DEPTH_FORMAT: vk::Format = vk::Format::D16_UNORM;

/// A pass with a colour attachment and perhaps depth.
pub(super) fn new(lab: &Lab<'_>, format: vk::Format, with_depth: bool) -> Result<vk::RenderPass, Error> {
    let attachment = |format, store, last| {
        vk::AttachmentDescription::default()
            .format(format)
            .samples(vk::SampleCountFlags::TYPE_1)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(store)
            .stencil_load_op(vk::AttachmentLoadOp::DONT_CARE)
            .stencil_store_op(vk::AttachmentStoreOp::DONT_CARE)
            .final_layout(last)
    };
    let attachments = [
        attachment(format, vk::AttachmentStoreOp::STORE, vk::ImageLayout::TRANSFER_SRC_OPTIMAL),
        attachment(
            DEPTH_FORMAT,
            vk::AttachmentStoreOp::DONT_CARE,
            vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
        ),
    ];
    let reference = |attachment, layout| vk::AttachmentReference { attachment, layout };
    let color = [reference(0, vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)];
    let depth = reference(1, vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL);
    let mut subpass = vk::SubpassDescription::default().color_attachments(&color);
    if with_depth {
        subpass = subpass.depth_stencil_attachment(&depth);
    }
    let dependencies = [vk::SubpassDependency::default()
        .src_subpass(0)
        .dst_subpass(vk::SUBPASS_EXTERNAL)
        .src_stage_mask(vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT)
        .dst_stage_mask(vk::PipelineStageFlags::TRANSFER)
        .src_access_mask(vk::AccessFlags::COLOR_ATTACHMENT_WRITE)
        .dst_access_mask(vk::AccessFlags::TRANSFER_READ)];
    let subpasses = [subpass];
    let create = vk::RenderPassCreateInfo::default()
        .attachments(&attachments[..1 + usize::from(with_depth)])
        .subpasses(&subpasses)
        .dependencies(&dependencies);
    lab.render_pass(&create)
}
