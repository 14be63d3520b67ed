//! vkCmdClearColorImage, vkCmdClearDepthStencilImage, and the parts of render passes that tiles cannot clear.

use std::sync::Arc;

use ash::vk;
use vc4::image::Rect;
use vc4::state::PixelRect;

use super::fill::{ClearWords, Fill};
use super::texels::{Part, layers};
use super::tiles;
use crate::foundation::error::Error;
use crate::foundation::format::Storage;
use crate::objects::device::Device;
use crate::objects::image::Image;
use crate::objects::image_view::ImageView;
use crate::segments::{CpuCommand, Segments, Touch};

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
        let fill = Fill::stored_color(image.row(), image.stored(), value)?;
        Ok(FillParts { image: image.clone(), fill, parts: parts(image, ranges) })
    }

    /// `area` of a view's first level, `layer` counted from its first.
    pub fn of_view(fill: Fill, view: &ImageView, layer: u32, area: PixelRect) -> FillParts {
        let edge = |at: i32| at.max(0) as u32;
        let (x, y) = (edge(area.left), edge(area.top));
        let rect = Rect { x, y, width: edge(area.right) - x, height: edge(area.bottom) - y };
        let part = Part { level: view.base_level, slice: view.base_layer + layer, rect };
        FillParts { image: view.image.clone(), fill, parts: vec![part] }
    }

    /// What the tile buffer clears, taken out of it.
    pub fn by_tiles(&mut self) -> Segments {
        let mut segments = Segments::new();
        self.parts.retain(|part| {
            let segment = tiles::clear(&self.image, &self.fill, part);
            let stays = segment.is_none();
            segments.extend(segment);
            stays
        });
        segments
    }

    /// Whether nothing is left to do.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// vkCmdClearDepthStencilImage, one range.
    pub fn depth_stencil(
        image: &Arc<Image>,
        value: ClearWords,
        range: &vk::ImageSubresourceRange,
    ) -> FillParts {
        let fill = match image.stored().storage {
            // Floats as they are, in an image that is no attachment.
            Storage::Plain => Fill { words: [value.depth().to_bits(), 0, 0, 0], mask: u32::MAX },
            _ => Fill::depth_stencil(range.aspect_mask & image.row().aspects(), value),
        };
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
            let slices = match image.is_volume() {
                true => 0..image.slices(level),
                false => layers(image, range.base_array_layer, range.layer_count),
            };
            parts.extend(slices.map(|slice| Part::whole(image, level, slice)));
        }
    }
    parts
}

impl CpuCommand for FillParts {
    fn describe(&self) -> String {
        let Fill { words, mask } = self.fill;
        format!("fill {} parts of an image with {words:x?}, bits {mask:#x}", self.parts.len())
    }

    fn touches(&self) -> Touch {
        Touch::memory([self.image.binding()])
    }

    fn run(&self, _: &Arc<Device>) -> Result<(), Error> {
        self.parts.iter().try_for_each(|part| part.fill(&self.image, &self.fill))
    }
}
