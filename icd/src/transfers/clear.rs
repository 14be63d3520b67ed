//! vkCmdClearColorImage, vkCmdClearDepthStencilImage, and the parts of render passes that tiles cannot clear.

use std::sync::Arc;

use ash::vk;
use vc4::image::Rect;
use vc4::image::layout::MSAA_PIXEL_BYTES;
use vc4::state::PixelRect;

use super::drawn::{self, Filled, Work};
use super::fill::{ClearWords, Fill};
use super::programs::{self, PART_OF_AT, PART_WORDS, WORDS_AT, put_limits};
use super::samples::{Becomes, samples};
use super::texels::{Part, layers};
use super::tiles;
use super::worth;
use crate::foundation::error::Error;
use crate::foundation::format::Storage;
use crate::objects::device::Device;
use crate::objects::image::Image;
use crate::objects::image_view::ImageView;
use crate::pipeline::Rectangles;
use crate::segments::{CpuCommand, Drawing, Rectangle, RenderSegment, Segments, Touch};

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
            // Nothing is in the byte that would be stencil.
            Storage::Depth16 | Storage::Depth24 | Storage::DepthFloat => {
                Fill { mask: u32::MAX, ..Fill::depth_stencil(vk::ImageAspectFlags::DEPTH, value) }
            }
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

    fn may_be_drawn(&self) -> bool {
        true
    }

    fn drawing(&self, rectangles: &mut Rectangles) -> Result<Option<Drawing>, Error> {
        let (renders, left) = drawn::parts(self, self.parts.clone(), |part| {
            filled(&self.image, &self.fill, part, rectangles).map(Work::all)
        });
        let rest = (!left.is_empty()).then(|| -> Box<dyn CpuCommand> {
            Box::new(FillParts { image: self.image.clone(), fill: self.fill, parts: left })
        });
        Ok(drawn::drawing(renders, rest))
    }

    fn run(&self, _: &Arc<Device>) -> Result<(), Error> {
        self.parts.iter().try_for_each(|part| part.fill(&self.image, &self.fill))
    }
}

/// The jobs that fill a part, or why it is the CPU's.
fn filled(
    image: &Arc<Image>,
    fill: &Fill,
    part: &Part,
    rectangles: &mut Rectangles,
) -> Result<Vec<RenderSegment>, String> {
    let planes = image.stored().planes();
    let cpp = image.layout().shape.cpp;
    let pixel = if image.samples() > 1 { MSAA_PIXEL_BYTES as u32 } else { cpp };
    let bytes =
        u64::from(pixel) * u64::from(planes) * u64::from(part.rect.width) * u64::from(part.rect.height);
    match fill.mask {
        u32::MAX => worth::pays_to_write(bytes)?,
        _ => worth::pays(bytes)?,
    }
    if image.samples() > 1 {
        return samples((image, *part), Becomes::Filled(fill), fill.mask, rectangles);
    }
    if image.row().block() > 1 {
        return Err(format!("{:?} has blocks", image.row().format));
    }
    let (stays, number) = (!fill.mask, cpp.div_ceil(4));
    let jobs = |plane| {
        drawn::covered(image, part, plane, rectangles, |rectangle, Filled { fold, limits }, rectangles| {
            let format = rectangle.view.row.format;
            let pipeline = match limits {
                Some(_) => {
                    let task = ("filled in part", cpp | (fold as u32) << 8);
                    rectangles.pipeline(task, format, || programs::filled_in_part(fold, cpp))
                }
                None => {
                    let task = ("filled", number | programs::kind_of(stays) << 8);
                    rectangles.pipeline(task, format, || programs::filled(number, stays))
                }
            }?;
            let mut push = [0; PART_WORDS];
            limits.into_iter().for_each(|limits| put_limits(&mut push, limits));
            let places = if limits.is_some() { &PART_OF_AT } else { &WORDS_AT };
            for (word, at) in (plane..).zip(&places[..number as usize]) {
                push[(at / 4) as usize] = fill.in_all_of_a_word(word, cpp);
            }
            let rectangle = Rectangle { keeps: rectangle.keeps || stays != 0, ..rectangle };
            Ok(rectangle.segment(&pipeline, |_| None, &push))
        })
    };
    let jobs: Vec<_> = (0..planes).map(jobs).collect::<Result<_, _>>()?;
    Ok(jobs.into_iter().flatten().collect())
}
