//! VkRenderPass and VkFramebuffer.

use std::sync::Arc;

use ash::vk;

use super::guard::entry_points;
use super::read::{destroy, extension, give, objects, slice};
use crate::execution::open_device::OpenDevice;
use crate::foundation::error::Error;
use crate::foundation::handle::get;
use crate::objects::image_view::ImageView;
use crate::objects::render_pass::{Attachment, DepthStencilResolve, Framebuffer, RenderPass, Subpass};

/// The number of an attachment, if it is one.
fn number(attachment: u32) -> Option<u32> {
    (attachment != vk::ATTACHMENT_UNUSED).then_some(attachment)
}

/// Attachment numbers of references.
unsafe fn numbers(first: *const vk::AttachmentReference, count: u32) -> Vec<Option<u32>> {
    // SAFETY: the caller passes a valid array.
    unsafe { slice(first, count) }.iter().map(|reference| number(reference.attachment)).collect()
}

/// The same in the extensible form.
unsafe fn numbers2(first: *const vk::AttachmentReference2<'_>, count: u32) -> Vec<Option<u32>> {
    // SAFETY: the caller passes a valid array.
    unsafe { slice(first, count) }.iter().map(|reference| number(reference.attachment)).collect()
}

unsafe fn read_subpass(info: &vk::SubpassDescription<'_>, view_mask: u32) -> Subpass {
    // SAFETY: the caller passes a valid structure.
    unsafe {
        let colors = info.color_attachment_count;
        Subpass {
            inputs: numbers(info.p_input_attachments, info.input_attachment_count),
            colors: numbers(info.p_color_attachments, colors),
            resolves: numbers(info.p_resolve_attachments, colors),
            depth_stencil: numbers(info.p_depth_stencil_attachment, 1).first().copied().flatten(),
            depth_stencil_resolve: None,
            view_mask,
        }
    }
}

unsafe fn read_resolve(info: &vk::SubpassDescriptionDepthStencilResolve<'_>) -> Option<DepthStencilResolve> {
    // SAFETY: the caller passes a valid structure.
    let attachment = unsafe { numbers2(info.p_depth_stencil_resolve_attachment, 1) }.first().copied()??;
    let ways = [info.depth_resolve_mode, info.stencil_resolve_mode];
    Some(DepthStencilResolve { attachment, ways })
}

unsafe fn read_subpass2(info: &vk::SubpassDescription2<'_>) -> Subpass {
    // SAFETY: the caller passes a valid structure.
    unsafe {
        let colors = info.color_attachment_count;
        Subpass {
            inputs: numbers2(info.p_input_attachments, info.input_attachment_count),
            colors: numbers2(info.p_color_attachments, colors),
            resolves: numbers2(info.p_resolve_attachments, colors),
            depth_stencil: numbers2(info.p_depth_stencil_attachment, 1).first().copied().flatten(),
            depth_stencil_resolve: extension(info.p_next).and_then(|resolve| read_resolve(resolve)),
            view_mask: info.view_mask,
        }
    }
}

/// An attachment in the extensible form.
fn extensible(info: &vk::AttachmentDescription) -> vk::AttachmentDescription2<'static> {
    vk::AttachmentDescription2::default()
        .flags(info.flags)
        .format(info.format)
        .samples(info.samples)
        .load_op(info.load_op)
        .store_op(info.store_op)
        .stencil_load_op(info.stencil_load_op)
        .stencil_store_op(info.stencil_store_op)
        .initial_layout(info.initial_layout)
        .final_layout(info.final_layout)
}

unsafe fn read_pass(info: &vk::RenderPassCreateInfo<'_>) -> Result<RenderPass, Error> {
    // SAFETY: the caller passes a valid structure.
    unsafe {
        let attachments = slice(info.p_attachments, info.attachment_count).iter();
        let attachments = attachments.map(|attachment| Attachment::new(&extensible(attachment)));
        // Offsets between views and what they have in common are for machines that draw several at a time.
        let multiview = extension::<vk::RenderPassMultiviewCreateInfo<'_>>(info.p_next);
        let masks = multiview.map_or(&[][..], |views| slice(views.p_view_masks, views.subpass_count));
        let masks = masks.iter().copied().chain(std::iter::repeat(0));
        let subpasses = slice(info.p_subpasses, info.subpass_count).iter().zip(masks);
        let subpasses = subpasses.map(|(subpass, mask)| read_subpass(subpass, mask));
        RenderPass::new(attachments.collect::<Result<_, _>>()?, subpasses.collect())
    }
}

unsafe fn read_pass2(info: &vk::RenderPassCreateInfo2<'_>) -> Result<RenderPass, Error> {
    // SAFETY: the caller passes a valid structure.
    unsafe {
        let attachments = slice(info.p_attachments, info.attachment_count).iter().map(Attachment::new);
        let subpasses = slice(info.p_subpasses, info.subpass_count).iter();
        let subpasses = subpasses.map(|subpass| read_subpass2(subpass)).collect();
        RenderPass::new(attachments.collect::<Result<_, _>>()?, subpasses)
    }
}

/// The views of a framebuffer; an imageless one gets them when a pass begins.
unsafe fn read_views(info: &vk::FramebufferCreateInfo<'_>) -> Vec<Arc<ImageView>> {
    if info.flags.contains(vk::FramebufferCreateFlags::IMAGELESS) {
        return Vec::new();
    }
    // SAFETY: the caller passes a valid structure with live handles.
    unsafe { objects(info.p_attachments, info.attachment_count) }
}

entry_points! {
    fn vkCreateRenderPass(
        device: vk::Device,
        info: *const vk::RenderPassCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::RenderPass,
    ) -> vk::Result {
        give(get::<OpenDevice>(device).allocator(), callbacks, out, read_pass(&*info)?)
    }

    fn vkCreateRenderPass2KHR(
        device: vk::Device,
        info: *const vk::RenderPassCreateInfo2<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::RenderPass,
    ) -> vk::Result {
        give(get::<OpenDevice>(device).allocator(), callbacks, out, read_pass2(&*info)?)
    }

    fn vkDestroyRenderPass(
        _device: vk::Device,
        pass: vk::RenderPass,
        callbacks: *const vk::AllocationCallbacks<'_>,
    ) {
        destroy::<RenderPass>(pass, callbacks);
    }

    fn vkCreateFramebuffer(
        device: vk::Device,
        info: *const vk::FramebufferCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Framebuffer,
    ) -> vk::Result {
        let info = &*info;
        let framebuffer = Framebuffer::new(read_views(info), (info.width, info.height, info.layers))?;
        give(get::<OpenDevice>(device).allocator(), callbacks, out, framebuffer)
    }

    fn vkDestroyFramebuffer(
        _device: vk::Device,
        framebuffer: vk::Framebuffer,
        callbacks: *const vk::AllocationCallbacks<'_>,
    ) {
        destroy::<Framebuffer>(framebuffer, callbacks);
    }

    fn vkGetRenderAreaGranularity(_device: vk::Device, _pass: vk::RenderPass, out: *mut vk::Extent2D) {
        // A render area that ends on tiles needs no loading of what lies beside it.
        let tile = vc4::hw::TILE_PX;
        out.write(vk::Extent2D { width: tile, height: tile });
    }
}
