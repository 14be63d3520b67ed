//! Attachments of one subpass whose rows differ in length.
//!
//! All surfaces of a job get their row pitch from its width (v3d.md §10.6). Where no width serves all attachments, images
//! that lie as the others do are drawn to in the place of some; they take over what tiles load, and what is kept goes back.
//! Depth and stencil, which few passes keep, are replaced rather than colours.

use std::sync::Arc;

use ash::vk;
use vc4::state::PixelRect;

use crate::foundation::error::Error;
use crate::objects::device::Device;
use crate::objects::image::Image;
use crate::objects::image_view::ImageView;
use crate::objects::memory::Binding;
use crate::objects::placement::{Placement, common_width};
use crate::segments::Segment;
use crate::transfers::image::CopyImage;

/// The attachments of a subpass, as one view of it draws to them, by their numbers.
pub struct Attached {
    /// Colours.
    pub colors: Vec<(u32, Arc<ImageView>)>,
    /// Depth and stencil.
    pub depth_stencil: Option<(u32, Arc<ImageView>)>,
}

impl Attached {
    /// The attachments that are replaced, and the width that their rows get.
    pub fn replaced(&self) -> Option<(Vec<u32>, u32)> {
        let shape = |(_, view): &(u32, Arc<ImageView>)| view.shape();
        let colors: Vec<Placement> = self.colors.iter().filter_map(shape).collect();
        let (index, depth_stencil) = self.depth_stencil.as_ref()?;
        let depth_stencil = depth_stencil.shape()?;
        // Each colour is drawn in a job of its own, with depth and stencil.
        let differs = |color: &Placement| common_width(&[*color, depth_stencil]).is_none();
        if !colors.iter().any(differs) {
            return None;
        }
        if let Some(width) = common_width(&colors) {
            return Some((vec![*index], width));
        }
        let width = common_width(&[depth_stencil])?;
        let colors = self.colors.iter().filter(|color| shape(color).as_ref().is_some_and(differs));
        Some((colors.map(|(index, _)| *index).collect(), width))
    }
}

/// An image that is drawn to in the place of an attachment.
pub struct StandIn {
    /// What it is.
    pub view: Arc<ImageView>,
    /// The attachment.
    of: Arc<ImageView>,
}

impl StandIn {
    /// An image like `of`, of other width and height and with as many layers as are drawn to. Its texels are undefined.
    pub fn new(
        device: &Device,
        of: &Arc<ImageView>,
        [width, height]: [u32; 2],
        layers: u32,
    ) -> Result<StandIn, Error> {
        let like = of.image.query();
        let samples =
            if of.samples() > 1 { vk::SampleCountFlags::TYPE_4 } else { vk::SampleCountFlags::TYPE_1 };
        let views = vk::ImageCreateFlags::MUTABLE_FORMAT | vk::ImageCreateFlags::EXTENDED_USAGE;
        let info = vk::ImageCreateInfo {
            flags: like.flags & views,
            image_type: vk::ImageType::TYPE_2D,
            format: like.format,
            extent: vk::Extent3D { width, height, depth: 1 },
            mip_levels: 1,
            array_layers: layers,
            samples,
            tiling: vk::ImageTiling::OPTIMAL,
            usage: like.usage,
            ..Default::default()
        };
        let image = Image::new(device, &info)?;
        let bo = device
            .create_bo("what stands in for an attachment of another size", image.requirements().size)?;
        image.bind_to(Binding::whole(bo))?;
        let view = ImageView {
            image: Arc::new(image),
            ty: vk::ImageViewType::TYPE_2D_ARRAY,
            base_level: 0,
            levels: 1,
            base_layer: 0,
            layers,
            planes: Vec::new(),
            ..**of
        };
        Ok(StandIn { view: Arc::new(view), of: of.clone() })
    }

    /// Takes over what the attachment holds.
    pub fn take_over(&self, area: PixelRect) -> Result<Option<Segment>, Error> {
        copy(&self.of, &self.view, area)
    }

    /// Brings what was drawn to the attachment.
    pub fn bring_back(&self, area: PixelRect) -> Result<Option<Segment>, Error> {
        copy(&self.view, &self.of, area)
    }
}

/// Copies an area of the layers that both have.
fn copy(from: &ImageView, to: &ImageView, area: PixelRect) -> Result<Option<Segment>, Error> {
    if area.is_empty() {
        return Ok(None);
    }
    let layers = from.layers.min(to.layers);
    // Layers of a volume are its slices.
    let side = |view: &ImageView| {
        let sliced = view.image.is_volume();
        let (z, base_array_layer) = if sliced { (view.base_layer as i32, 0) } else { (0, view.base_layer) };
        let subresource = vk::ImageSubresourceLayers {
            aspect_mask: view.row.aspects(),
            mip_level: view.base_level,
            base_array_layer,
            layer_count: if sliced { 1 } else { layers },
        };
        (subresource, vk::Offset3D { x: area.left, y: area.top, z })
    };
    let ((src_subresource, src_offset), (dst_subresource, dst_offset)) = (side(from), side(to));
    let sliced = from.image.is_volume() || to.image.is_volume();
    let extent = vk::Extent3D {
        width: (area.right - area.left) as u32,
        height: (area.bottom - area.top) as u32,
        depth: if sliced { layers } else { 1 },
    };
    let region = vk::ImageCopy { src_subresource, src_offset, dst_subresource, dst_offset, extent };
    let copy = CopyImage::new(&from.image, &to.image, &[region])?;
    Ok(Some(Segment::Cpu(Arc::new(copy))))
}
