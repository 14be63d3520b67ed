//! VkRenderPass and VkFramebuffer, and what stands for them where there are none.

use std::sync::Arc;

use ash::vk;

use crate::foundation::error::Error;
use crate::foundation::format::{self, FormatRow};
use crate::foundation::handle::Object;
use crate::foundation::limits::{MAX_COLORS, SAMPLE_COUNTS};
use crate::objects::image_view::ImageView;

/// One attachment of a pass.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// The format's row.
    pub row: &'static FormatRow,
    /// Samples.
    pub samples: vk::SampleCountFlags,
    /// What happens to colour or depth at the start …
    pub load: vk::AttachmentLoadOp,
    /// … and at the end.
    pub store: vk::AttachmentStoreOp,
    /// What happens to stencil at the start …
    pub stencil_load: vk::AttachmentLoadOp,
    /// … and at the end.
    pub stencil_store: vk::AttachmentStoreOp,
}

/// Where depth and stencil of a pixel's samples go at the end of a subpass, and how: without a way they stay behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthStencilResolve {
    /// The attachment that gets them.
    pub attachment: u32,
    /// How depth is resolved, and how stencil.
    pub ways: [vk::ResolveModeFlags; 2],
}

impl DepthStencilResolve {
    /// Aspects that the attachment keeps as they were.
    pub fn left_alone(&self) -> vk::ImageAspectFlags {
        let aspects = [vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL];
        let kept = self.ways.iter().zip(aspects).filter(|(way, _)| way.is_empty());
        kept.fold(vk::ImageAspectFlags::empty(), |all, (_, aspect)| all | aspect)
    }
}

/// One subpass: indices of attachments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subpass {
    /// Inputs.
    pub inputs: Vec<Option<u32>>,
    /// Colours, by fragment output location.
    pub colors: Vec<Option<u32>>,
    /// Resolve targets, one per colour, or none at all.
    pub resolves: Vec<Option<u32>>,
    /// Depth and stencil.
    pub depth_stencil: Option<u32>,
    /// Where these are resolved to.
    pub depth_stencil_resolve: Option<DepthStencilResolve>,
    /// The views that everything is drawn for: bit n for view n, which has layer n of each attachment. Without any, it is
    /// drawn once.
    pub view_mask: u32,
}

/// What happens to attachments: VkRenderPass, or what vkCmdBeginRendering says.
#[derive(Debug)]
pub struct RenderPass {
    /// Attachments.
    pub attachments: Vec<Attachment>,
    /// Subpasses.
    pub subpasses: Vec<Subpass>,
}

impl Object for RenderPass {
    type Handle = vk::RenderPass;
}

impl Attachment {
    /// Whether a pass begins with what any of its aspects held before.
    pub fn loads(&self) -> bool {
        let load = vk::AttachmentLoadOp::LOAD;
        self.load == load || (self.row.has_stencil() && self.stencil_load == load)
    }

    /// Whether any of its aspects is kept.
    pub fn stores(&self) -> bool {
        let store = vk::AttachmentStoreOp::STORE;
        self.store == store || (self.row.has_stencil() && self.stencil_store == store)
    }

    /// Checks that the format is one that passes can draw to.
    pub fn new(info: &vk::AttachmentDescription2<'_>) -> Result<Attachment, Error> {
        // Formats that no attachment can have are refused where they would be drawn to: the specification asks for render
        // passes with any that images have.
        let row = format::row(info.format).filter(|row| row.texture.is_some()).ok_or_else(|| {
            Error::FormatNotSupported(format!("{:?} attachments are not offered", info.format))
        })?;
        if !SAMPLE_COUNTS.contains(info.samples) {
            let what = format!("an attachment of {:?}", info.samples);
            return Err(Error::unsupported(what, "use one sample or four, as the limits say"));
        }
        let first = (info.load_op, info.store_op);
        Ok(Attachment::of(row, info.samples, [first, (info.stencil_load_op, info.stencil_store_op)]))
    }

    /// The aspects that are cleared where a pass first uses it.
    pub fn cleared(&self) -> vk::ImageAspectFlags {
        let (first, stencil) = (self.row.aspects() & !vk::ImageAspectFlags::STENCIL, self.row.has_stencil());
        let mut aspects = vk::ImageAspectFlags::empty();
        if self.load == vk::AttachmentLoadOp::CLEAR {
            aspects |= first;
        }
        if stencil && self.stencil_load == vk::AttachmentLoadOp::CLEAR {
            aspects |= vk::ImageAspectFlags::STENCIL;
        }
        aspects
    }

    /// An attachment with what happens to colour or depth, and to stencil, at the start and at the end.
    pub fn of(
        row: &'static FormatRow,
        samples: vk::SampleCountFlags,
        ops: [(vk::AttachmentLoadOp, vk::AttachmentStoreOp); 2],
    ) -> Attachment {
        // What nobody is to touch is loaded where its neighbour in the same word is stored.
        let is_stored = ops.iter().any(|(_, store)| *store == vk::AttachmentStoreOp::STORE);
        let untouched = if is_stored { vk::AttachmentLoadOp::LOAD } else { vk::AttachmentLoadOp::DONT_CARE };
        let [(load, store), (stencil_load, stencil_store)] = ops;
        let [load, stencil_load] = [load, stencil_load]
            .map(|load| if load == vk::AttachmentLoadOp::NONE_EXT { untouched } else { load });
        Attachment { row, samples, load, store, stencil_load, stencil_store }
    }
}

/// What pipelines know of attachments.
#[derive(Clone, Debug, Default)]
pub struct Formats {
    /// Locations and formats of colours, in the order that they are drawn in.
    pub colors: Vec<(u32, &'static FormatRow)>,
    /// What can be tested.
    pub depth_stencil: vk::ImageAspectFlags,
}

impl RenderPass {
    /// Checks the subpasses against the attachments and against what can be drawn.
    pub fn new(attachments: Vec<Attachment>, subpasses: Vec<Subpass>) -> Result<RenderPass, Error> {
        for subpass in &subpasses {
            subpass.check(attachments.len())?;
        }
        Ok(RenderPass { attachments, subpasses })
    }

    /// What pipelines of a subpass draw to.
    pub fn formats(&self, subpass: u32) -> Result<Formats, Error> {
        let outside = || Error::InvalidUse(format!("subpass {subpass} of {}", self.subpasses.len()));
        let subpass = self.subpasses.get(subpass as usize).ok_or_else(outside)?;
        let row = |index: u32| self.attachments[index as usize].row;
        let colors = subpass.drawn_colors().map(|(location, index)| (location, row(index)));
        let depth_stencil = subpass.depth_stencil.map(|index| row(index).aspects()).unwrap_or_default();
        Ok(Formats { colors: colors.collect(), depth_stencil })
    }
}

impl Subpass {
    fn check(&self, attachments: usize) -> Result<(), Error> {
        if let Some(index) = self.used().find(|index| *index as usize >= attachments) {
            return Err(Error::InvalidUse(format!("a subpass uses attachment {index} of {attachments}")));
        }
        if self.colors.len() > MAX_COLORS as usize {
            let what = format!("{} colour attachments", self.colors.len());
            return Err(Error::unsupported(what, "use as many as the limits say"));
        }
        Ok(())
    }

    /// Locations and attachments of the colours, in the order that they are drawn in: those that shaders read, too, come
    /// last, because every pass before has to find them as they were.
    pub fn drawn_colors(&self) -> impl Iterator<Item = (u32, u32)> {
        let colors = (0..).zip(&self.colors).filter_map(|(location, index)| Some((location, (*index)?)));
        let is_input = |(_, index): &(u32, u32)| self.inputs.contains(&Some(*index));
        let (read, written): (Vec<_>, Vec<_>) = colors.partition(is_input);
        written.into_iter().chain(read)
    }

    /// Attachments that shaders read and nothing draws to.
    pub fn only_read(&self) -> impl Iterator<Item = u32> {
        let drawn = |index| self.depth_stencil == Some(index) || self.colors.contains(&Some(index));
        self.inputs.iter().flatten().copied().filter(move |&index| !drawn(index))
    }

    /// Numbers of the views that are drawn: 0 where there are none.
    pub fn views(&self) -> impl Iterator<Item = u32> {
        let mask = self.view_mask.max(1);
        (0..u32::BITS).filter(move |view| mask >> view & 1 != 0)
    }

    /// Whether a view of the subpass reads or writes an attachment.
    pub fn uses(&self, attachment: u32, view: u32) -> bool {
        if !self.views().any(|drawn| drawn == view) {
            return false;
        }
        self.used().any(|used| used == attachment)
    }

    /// Attachments that it reads or writes.
    fn used(&self) -> impl Iterator<Item = u32> {
        let lists = self.inputs.iter().chain(&self.colors).chain(&self.resolves);
        let resolve = self.depth_stencil_resolve.map(|resolve| resolve.attachment);
        lists.copied().chain([self.depth_stencil, resolve]).flatten()
    }
}

/// What a pass is over: VkFramebuffer, or the views of vkCmdBeginRendering.
pub struct Framebuffer {
    /// Views, by attachment number; none of an imageless one.
    pub attachments: Vec<Arc<ImageView>>,
    /// Pixels per row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Layers.
    pub layers: u32,
}

impl Object for Framebuffer {
    type Handle = vk::Framebuffer;
}

impl Framebuffer {
    /// A framebuffer that stays inside its attachments.
    pub fn new(attachments: Vec<Arc<ImageView>>, size: (u32, u32, u32)) -> Result<Framebuffer, Error> {
        let (width, height, layers) = size;
        let most = crate::foundation::limits::MAX_IMAGE_PX;
        if width == 0 || height == 0 || layers == 0 || width > most || height > most {
            return Err(Error::InvalidUse(format!("a framebuffer of {width}x{height}, {layers} layers")));
        }
        for view in &attachments {
            let (have_width, have_height) = view.extent();
            if have_width < width || have_height < height || view.layers < layers {
                return Err(Error::InvalidUse(format!(
                    "a framebuffer of {width}x{height}, {layers} layers over an attachment of {have_width}x{have_height}, {} layers",
                    view.layers
                )));
            }
        }
        Ok(Framebuffer { attachments, width, height, layers })
    }

    /// The same with views that a pass begins with, of an imageless one.
    pub fn with(&self, attachments: Vec<Arc<ImageView>>) -> Result<Framebuffer, Error> {
        Framebuffer::new(attachments, (self.width, self.height, self.layers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attachment(format: vk::Format) -> Result<Attachment, Error> {
        let samples = vk::SampleCountFlags::TYPE_1;
        Attachment::new(&vk::AttachmentDescription2 { format, samples, ..Default::default() })
    }

    #[test]
    fn what_cannot_be_drawn_is_refused_by_name() {
        assert!(attachment(vk::Format::R32G32B32_SFLOAT).is_err());
        let color = attachment(vk::Format::B8G8R8A8_UNORM).unwrap();
        let pass = |subpass| RenderPass::new(vec![color.clone(), color.clone()], vec![subpass]);
        pass(Subpass { colors: vec![Some(0), None], ..Default::default() }).unwrap();
        let result = |subpass| pass(subpass).unwrap_err().result();
        pass(Subpass { colors: vec![Some(0), Some(1)], ..Default::default() }).unwrap();
        let many = Subpass { colors: vec![Some(0); MAX_COLORS as usize + 1], ..Default::default() };
        assert_eq!(result(many), vk::Result::ERROR_FEATURE_NOT_PRESENT);
        // What shaders read, too, is drawn last.
        let inputs = vec![Some(0)];
        let colors = Subpass { colors: vec![Some(0), None, Some(1)], inputs, ..Default::default() };
        assert_eq!(colors.drawn_colors().collect::<Vec<_>>(), [(2, 1), (0, 0)]);
        let inputs = vec![Some(1), None, Some(0), Some(2)];
        let read =
            Subpass { colors: vec![None, Some(2)], depth_stencil: Some(1), inputs, ..Default::default() };
        assert_eq!(read.only_read().collect::<Vec<_>>(), [0]);
        let outside = Subpass { depth_stencil: Some(2), ..Default::default() };
        assert_eq!(result(outside), vk::Result::ERROR_VALIDATION_FAILED_EXT);
    }
}
