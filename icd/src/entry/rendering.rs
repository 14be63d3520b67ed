//! VK_KHR_dynamic_rendering: passes whose attachments are said when they begin.

use std::sync::Arc;

use ash::vk;

use super::command::read_area;
use super::guard::entry_points;
use super::read::slice;
use super::transfer::words;
use crate::foundation::error::Error;
use crate::foundation::handle::{get, opt};
use crate::objects::image_view::ImageView;
use crate::objects::render_pass::{Attachment, DepthStencilResolve, Framebuffer, RenderPass, Subpass};
use crate::recording::command_buffer::CommandBuffer;
use crate::recording::pass::PassBegin;
use crate::transfers::fill::ClearWords;

type Ops = (vk::AttachmentLoadOp, vk::AttachmentStoreOp);

/// What stays as it is in memory.
const KEPT: Ops = (vk::AttachmentLoadOp::LOAD, vk::AttachmentStoreOp::STORE);

/// Attachments as they are found.
#[derive(Default)]
struct Found {
    attachments: Vec<Attachment>,
    views: Vec<Arc<ImageView>>,
    clears: Vec<ClearWords>,
}

impl Found {
    /// Adds a view; its number.
    fn add(&mut self, view: &Arc<ImageView>, ops: [Ops; 2], clear: ClearWords) -> u32 {
        let samples = vk::SampleCountFlags::from_raw(view.samples());
        self.attachments.push(Attachment::of(view.row, samples, ops));
        self.views.push(view.clone());
        self.clears.push(clear);
        self.views.len() as u32 - 1
    }

    /// Adds where an attachment is resolved to, if it is; its number.
    unsafe fn add_resolve(&mut self, info: &vk::RenderingAttachmentInfo<'_>) -> Option<u32> {
        // SAFETY: the caller passes a valid structure with live handles.
        let view = unsafe { opt::<ImageView>(info.resolve_image_view) };
        let view = view.filter(|_| !info.resolve_mode.is_empty())?;
        Some(self.add(view, [KEPT; 2], ClearWords::default()))
    }
}

/// What happens to an attachment: one that is resumed goes on with what memory holds.
fn ops(info: &vk::RenderingAttachmentInfo<'_>, resumes: bool) -> Ops {
    (if resumes { vk::AttachmentLoadOp::LOAD } else { info.load_op }, info.store_op)
}

/// An attachment, if it has a view.
unsafe fn attachment<'a>(
    info: *const vk::RenderingAttachmentInfo<'a>,
) -> Option<(&'a vk::RenderingAttachmentInfo<'a>, &'a Arc<ImageView>)> {
    // SAFETY: the caller passes null or a valid structure with live handles.
    unsafe {
        let info = info.as_ref()?;
        Some((info, opt::<ImageView>(info.image_view)?))
    }
}

unsafe fn read_rendering(info: &vk::RenderingInfo<'_>) -> Result<PassBegin, Error> {
    let resumes = info.flags.contains(vk::RenderingFlags::RESUMING);
    let (mut found, mut subpass) = (Found::default(), Subpass::default());
    subpass.view_mask = info.view_mask;
    // SAFETY: the caller passes a valid structure with live handles.
    unsafe {
        for color in slice(info.p_color_attachments, info.color_attachment_count) {
            let view = attachment(color).map(|(_, view)| view);
            let add = |view| found.add(view, [ops(color, resumes); 2], words(&color.clear_value.color));
            subpass.colors.push(view.map(add));
            subpass.resolves.push(view.and_then(|_| found.add_resolve(color)));
        }
        let depth = attachment(info.p_depth_attachment);
        let stencil = attachment(info.p_stencil_attachment);
        // Both have one view; an aspect that is not named stays as it is.
        if let Some((_, view)) = depth.or(stencil) {
            let mut resolved = [depth, stencil].into_iter().flatten().map(|(info, _)| info);
            let resolved = resolved.find(|info| !info.resolve_mode.is_empty());
            let aspect = |aspect: Option<(&vk::RenderingAttachmentInfo<'_>, _)>| {
                aspect.map_or((KEPT, ClearWords::default(), vk::ResolveModeFlags::NONE), |(info, _)| {
                    (ops(info, resumes), words(&info.clear_value.color), info.resolve_mode)
                })
            };
            let (depth, stencil) = (aspect(depth), aspect(stencil));
            let clear = ClearWords([depth.1.0[0], stencil.1.0[1], 0, 0]);
            subpass.depth_stencil = Some(found.add(view, [depth.0, stencil.0], clear));
            let ways = [depth.2, stencil.2];
            let resolve = resolved.and_then(|info| found.add_resolve(info));
            subpass.depth_stencil_resolve =
                resolve.map(|attachment| DepthStencilResolve { attachment, ways });
        }
        let area = read_area(info.p_next, info.render_area);
        let Found { attachments, views, clears } = found;
        let layers = if info.view_mask == 0 { info.layer_count } else { 1 };
        let (width, height) = common_extent(&views).unwrap_or_else(|| end(area));
        Ok(PassBegin {
            render_pass: Arc::new(RenderPass::new(attachments, vec![subpass])?),
            framebuffer: Arc::new(Framebuffer::new(views, (width, height, layers))?),
            area,
            clears,
            suspends: info.flags.contains(vk::RenderingFlags::SUSPENDING),
        })
    }
}

/// The pixels that all views have.
fn common_extent(views: &[Arc<ImageView>]) -> Option<(u32, u32)> {
    let extents = views.iter().map(|view| view.extent());
    extents.reduce(|(width, height), (w, h)| (width.min(w), height.min(h)))
}

/// Where an area ends, at least a pixel from the origin.
fn end(area: vk::Rect2D) -> (u32, u32) {
    let end =
        |from: i32, count: u32| (i64::from(from) + i64::from(count)).clamp(1, i64::from(u32::MAX)) as u32;
    (end(area.offset.x, area.extent.width), end(area.offset.y, area.extent.height))
}

entry_points! {
    fn vkCmdBeginRenderingKHR(commands: vk::CommandBuffer, info: *const vk::RenderingInfo<'_>) {
        get::<CommandBuffer>(commands).begin_rendering(read_rendering(&*info));
    }

    fn vkCmdEndRenderingKHR(commands: vk::CommandBuffer) {
        get::<CommandBuffer>(commands).end_rendering();
    }
}
