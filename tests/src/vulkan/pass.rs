//! Render passes with framebuffers, and how they begin.

use ash::vk;

use super::error::{Error, Named};
use super::image::Target;
use super::lab::{Lab, Object};
use crate::format::aspects;

/// One attachment of [`Lab::pass`].
#[derive(Clone, Copy)]
pub struct Attachment {
    /// Format.
    pub format: vk::Format,
    /// Samples.
    pub samples: vk::SampleCountFlags,
    /// Load operations of colour or depth and of stencil.
    pub load: [vk::AttachmentLoadOp; 2],
    /// Store operations.
    pub store: [vk::AttachmentStoreOp; 2],
}

/// One subpass of [`Lab::pass`].
#[derive(Clone, Default)]
pub struct Subpass {
    /// Attachment of colour 0.
    pub color: Option<u32>,
    /// Its resolve attachment.
    pub resolve: Option<u32>,
    /// Attachments of colours 1 and up, with their resolve attachments.
    pub others: Vec<[Option<u32>; 2]>,
    /// Depth and stencil.
    pub depth: Option<u32>,
    /// Inputs.
    pub inputs: Vec<u32>,
    /// Kept.
    pub preserve: Vec<u32>,
}

/// The load and store operations of an attachment that is cleared and kept.
pub const CLEAR_STORE: Attachment = Attachment {
    format: vk::Format::R8G8B8A8_UNORM,
    samples: vk::SampleCountFlags::TYPE_1,
    load: [vk::AttachmentLoadOp::CLEAR; 2],
    store: [vk::AttachmentStoreOp::STORE; 2],
};

/// A clear value of a colour.
pub fn color(float32: [f32; 4]) -> vk::ClearValue {
    vk::ClearValue { color: vk::ClearColorValue { float32 } }
}

/// A clear value of depth and stencil.
pub fn depth(depth: f32, stencil: u32) -> vk::ClearValue {
    vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth, stencil } }
}

/// A rectangle from the origin.
pub fn area([width, height]: [u32; 2]) -> vk::Rect2D {
    vk::Rect2D { offset: vk::Offset2D::default(), extent: vk::Extent2D { width, height } }
}

// SAFETY (for every block of this file): handles come from this device and live until the lab is dropped, when the
// queue is idle; create infos point to locals that outlive the call; one thread uses the lab.
impl Lab<'_> {
    /// A render pass; every subpass waits for everything before.
    pub fn pass(&self, attachments: &[Attachment], subpasses: &[Subpass]) -> Result<vk::RenderPass, Error> {
        let layout = |format| match aspects(format) {
            vk::ImageAspectFlags::COLOR => vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
            _ => vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
        };
        let descriptions: Vec<_> = attachments
            .iter()
            .map(|attachment| {
                let keeps = attachment.load.contains(&vk::AttachmentLoadOp::LOAD);
                vk::AttachmentDescription::default()
                    .format(attachment.format)
                    .samples(attachment.samples)
                    .load_op(attachment.load[0])
                    .store_op(attachment.store[0])
                    .stencil_load_op(attachment.load[1])
                    .stencil_store_op(attachment.store[1])
                    .initial_layout(if keeps { vk::ImageLayout::GENERAL } else { vk::ImageLayout::UNDEFINED })
                    .final_layout(vk::ImageLayout::GENERAL)
            })
            .collect();
        let reference = |index: Option<u32>| match index {
            Some(index) => vk::AttachmentReference {
                attachment: index,
                layout: layout(attachments[index as usize].format),
            },
            None => vk::AttachmentReference { attachment: vk::ATTACHMENT_UNUSED, ..Default::default() },
        };
        let places = |subpass: &Subpass, which: usize| {
            let first = [subpass.color, subpass.resolve];
            std::iter::once(first).chain(subpass.others.clone()).map(move |place| place[which])
        };
        let general = |attachment| vk::AttachmentReference { attachment, layout: vk::ImageLayout::GENERAL };
        // What a subpass reads of itself lies in the general layout.
        let reads_own = |subpass: &Subpass| subpass.color.filter(|color| subpass.inputs.contains(color));
        struct Lists {
            colors: Vec<vk::AttachmentReference>,
            resolves: Vec<vk::AttachmentReference>,
            depth: vk::AttachmentReference,
            inputs: Vec<vk::AttachmentReference>,
        }
        let lists: Vec<Lists> = subpasses
            .iter()
            .map(|subpass| Lists {
                colors: places(subpass, 0)
                    .map(|place| match place.filter(|_| place == reads_own(subpass)) {
                        Some(own) => general(own),
                        None => reference(place),
                    })
                    .collect(),
                resolves: places(subpass, 1).map(reference).collect(),
                depth: reference(subpass.depth),
                inputs: subpass
                    .inputs
                    .iter()
                    .map(|&attachment| match reads_own(subpass) {
                        Some(own) if own == attachment => general(own),
                        _ => vk::AttachmentReference {
                            attachment,
                            layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
                        },
                    })
                    .collect(),
            })
            .collect();
        let described: Vec<_> = subpasses
            .iter()
            .zip(&lists)
            .map(|(subpass, lists)| {
                let mut description = vk::SubpassDescription::default()
                    .color_attachments(&lists.colors)
                    .depth_stencil_attachment(&lists.depth)
                    .input_attachments(&lists.inputs)
                    .preserve_attachments(&subpass.preserve);
                if places(subpass, 1).any(|resolve| resolve.is_some()) {
                    description = description.resolve_attachments(&lists.resolves);
                }
                description
            })
            .collect();
        // Subpasses are graphics, whatever is around the pass.
        let stages = |subpass| match subpass {
            vk::SUBPASS_EXTERNAL => vk::PipelineStageFlags::ALL_COMMANDS,
            _ => vk::PipelineStageFlags::ALL_GRAPHICS,
        };
        let access = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        let last = subpasses.len() as u32 - 1;
        let mut edges: Vec<(u32, u32)> = (0..last).map(|subpass| (subpass, subpass + 1)).collect();
        edges.extend([(vk::SUBPASS_EXTERNAL, 0), (last, vk::SUBPASS_EXTERNAL)]);
        let own = subpasses.iter().zip(0..).filter(|(subpass, _)| reads_own(subpass).is_some());
        let own = own.map(|(_, index)| vk::SubpassDependency {
            src_subpass: index,
            dst_subpass: index,
            src_stage_mask: vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT,
            dst_stage_mask: vk::PipelineStageFlags::FRAGMENT_SHADER,
            src_access_mask: vk::AccessFlags::COLOR_ATTACHMENT_WRITE,
            dst_access_mask: vk::AccessFlags::INPUT_ATTACHMENT_READ,
            dependency_flags: vk::DependencyFlags::BY_REGION,
        });
        let dependencies: Vec<_> = edges
            .into_iter()
            .map(|(from, to)| {
                vk::SubpassDependency::default()
                    .src_subpass(from)
                    .dst_subpass(to)
                    .src_stage_mask(stages(from))
                    .dst_stage_mask(stages(to))
                    .src_access_mask(access)
                    .dst_access_mask(access)
            })
            .chain(own)
            .collect();
        let create = vk::RenderPassCreateInfo::default()
            .attachments(&descriptions)
            .subpasses(&described)
            .dependencies(&dependencies);
        self.render_pass(&create)
    }

    /// A render pass of any kind.
    pub(crate) fn render_pass(&self, create: &vk::RenderPassCreateInfo<'_>) -> Result<vk::RenderPass, Error> {
        // SAFETY: see above.
        let pass = unsafe { self.device.create_render_pass(create, None).named("vkCreateRenderPass")? };
        self.keep(Object::Pass(pass));
        Ok(pass)
    }

    /// A framebuffer.
    pub fn framebuffer(
        &self,
        pass: vk::RenderPass,
        targets: &[Target],
        size: [u32; 2],
    ) -> Result<vk::Framebuffer, Error> {
        let views: Vec<_> = targets.iter().map(|target| target.view).collect();
        self.framebuffer_of(pass, &views, size)
    }

    /// A framebuffer of views.
    pub(crate) fn framebuffer_of(
        &self,
        pass: vk::RenderPass,
        views: &[vk::ImageView],
        size: [u32; 2],
    ) -> Result<vk::Framebuffer, Error> {
        let create = vk::FramebufferCreateInfo::default()
            .render_pass(pass)
            .attachments(views)
            .width(size[0])
            .height(size[1])
            .layers(1);
        // SAFETY: see above.
        let framebuffer =
            unsafe { self.device.create_framebuffer(&create, None).named("vkCreateFramebuffer")? };
        self.keep(Object::Framebuffer(framebuffer));
        Ok(framebuffer)
    }

    /// Begins a pass over all of a framebuffer.
    pub fn begin(
        &self,
        commands: vk::CommandBuffer,
        pass: vk::RenderPass,
        framebuffer: vk::Framebuffer,
        rect: vk::Rect2D,
        clears: &[vk::ClearValue],
    ) {
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(pass)
            .framebuffer(framebuffer)
            .render_area(rect)
            .clear_values(clears);
        // SAFETY: see above.
        unsafe { self.device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE) }
    }
}
