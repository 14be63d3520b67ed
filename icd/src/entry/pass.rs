//! VkRenderPass and VkFramebuffer.

use ash::vk;

use super::guard::entry_points;
use super::read::{destroy, give, objects, slice};
use crate::execution::open_device::OpenDevice;
use crate::foundation::error::Error;
use crate::foundation::handle::get;
use crate::objects::render_pass::{Attachment, Framebuffer, RenderPass, Subpass};

/// Attachment numbers of references.
fn numbers(references: &[vk::AttachmentReference]) -> Vec<Option<u32>> {
    let number = |reference: &vk::AttachmentReference| reference.attachment;
    references.iter().map(number).map(|index| (index != vk::ATTACHMENT_UNUSED).then_some(index)).collect()
}

unsafe fn read_subpass(info: &vk::SubpassDescription<'_>) -> Subpass {
    // SAFETY: the caller passes a valid structure.
    unsafe {
        let colors = info.color_attachment_count;
        Subpass {
            inputs: numbers(slice(info.p_input_attachments, info.input_attachment_count)),
            colors: numbers(slice(info.p_color_attachments, colors)),
            resolves: numbers(slice(info.p_resolve_attachments, colors)),
            depth_stencil: numbers(slice(info.p_depth_stencil_attachment, 1)).first().copied().flatten(),
        }
    }
}

unsafe fn read_pass(info: &vk::RenderPassCreateInfo<'_>) -> Result<RenderPass, Error> {
    // SAFETY: the caller passes a valid structure.
    unsafe {
        let attachments = slice(info.p_attachments, info.attachment_count).iter().map(Attachment::new);
        let subpasses =
            slice(info.p_subpasses, info.subpass_count).iter().map(|subpass| read_subpass(subpass));
        RenderPass::new(attachments.collect::<Result<_, _>>()?, subpasses.collect())
    }
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
        let views = objects(info.p_attachments, info.attachment_count);
        let framebuffer = Framebuffer::new(views, (info.width, info.height, info.layers))?;
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
