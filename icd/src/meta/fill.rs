//! vkCmdClearColorImage, vkCmdClearDepthStencilImage, and the parts of render passes that tiles cannot clear.

use std::sync::Arc;

use ash::vk;
use vc4::image::Rect;
use vc4::image::format::depth_to_unorm24;
use vc4::state::PixelRect;

use super::color::ColorCodec;
use super::texels::{Part, layers, merge};
use crate::command_buffer::ClearWords;
use crate::device::Device;
use crate::error::Error;
use crate::image::{Image, ImageView};
use crate::segment::{CpuCommand, Touch};

/// What texels become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// The texel.
    pub word: u32,
    /// Bits of it that change.
    pub mask: u32,
}

impl Fill {
    /// A colour, as the view's format holds it.
    pub fn color(view: &ImageView, value: ClearWords) -> Result<Fill, Error> {
        let word = ColorCodec::new(view.row)?.encode(value.color());
        Ok(Fill { word, mask: u32::MAX })
    }

    /// Depth, stencil or both.
    pub fn depth_stencil(aspects: vk::ImageAspectFlags, value: ClearWords) -> Fill {
        let bits = |aspect, bits| if aspects.contains(aspect) { bits } else { 0 };
        let mask = bits(vk::ImageAspectFlags::DEPTH, !0xff) | bits(vk::ImageAspectFlags::STENCIL, 0xff);
        Fill { word: depth_to_unorm24(value.depth()) << 8 | value.stencil() & 0xff, mask }
    }

    /// The command that fills `area` of a view's first level, `layer` counted from its first.
    pub fn of_view(self, view: &ImageView, layer: u32, area: PixelRect) -> FillParts {
        let edge = |at: i32| at.max(0) as u32;
        let (x, y) = (edge(area.left), edge(area.top));
        let rect = Rect { x, y, width: edge(area.right) - x, height: edge(area.bottom) - y };
        let part = Part { level: view.base_level, layer: view.base_layer + layer, rect };
        FillParts { image: view.image.clone(), fill: self, parts: vec![part] }
    }
}

/// Fills parts of an image.
pub struct FillParts {
    image: Arc<Image>,
    fill: Fill,
    parts: Vec<Part>,
}

impl FillParts {
    /// vkCmdClearColorImage.
    pub fn color(
        image: &Arc<Image>,
        value: ClearWords,
        ranges: &[vk::ImageSubresourceRange],
    ) -> Result<FillParts, Error> {
        let word = ColorCodec::new(image.row())?.encode(value.color());
        Ok(FillParts {
            image: image.clone(),
            fill: Fill { word, mask: u32::MAX },
            parts: parts(image, ranges),
        })
    }

    /// vkCmdClearDepthStencilImage, one range.
    pub fn depth_stencil(
        image: &Arc<Image>,
        value: ClearWords,
        range: &vk::ImageSubresourceRange,
    ) -> FillParts {
        let fill = Fill::depth_stencil(range.aspect_mask & image.row().aspects(), value);
        FillParts { image: image.clone(), fill, parts: parts(image, std::slice::from_ref(range)) }
    }
}

fn parts(image: &Image, ranges: &[vk::ImageSubresourceRange]) -> Vec<Part> {
    let mut parts = Vec::new();
    for range in ranges {
        let rest = image.levels().saturating_sub(range.base_mip_level);
        let levels =
            if range.level_count == vk::REMAINING_MIP_LEVELS { rest } else { range.level_count.min(rest) };
        for level in range.base_mip_level..range.base_mip_level + levels {
            let (width, height) = image.level_extent(level);
            for layer in layers(image, range.base_array_layer, range.layer_count) {
                parts.push(Part { level, layer, rect: Rect { x: 0, y: 0, width, height } });
            }
        }
    }
    parts
}

impl CpuCommand for FillParts {
    fn describe(&self) -> String {
        let Fill { word, mask } = self.fill;
        format!("fill {} parts of an image with {word:#x}, bits {mask:#x}", self.parts.len())
    }

    fn touches(&self) -> Touch {
        Touch::memory([self.image.binding()])
    }

    fn run(&self, _: &Arc<Device>) -> Result<(), Error> {
        let cpp = self.image.texel().info().cpp as usize;
        for part in &self.parts {
            let texels = part.rect.width as usize * part.rect.height as usize;
            let filled = self.fill.word.to_le_bytes()[..cpp].repeat(texels);
            if self.fill.mask == u32::MAX {
                part.write(&self.image, &filled)?;
            } else {
                let mut old = part.read(&self.image)?;
                merge(&mut old, &filled, self.fill.mask);
                part.write(&self.image, &old)?;
            }
        }
        Ok(())
    }
}
