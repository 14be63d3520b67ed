//! Images that transfers go between, and what is in them.

use ash::vk;
use vc4::state::ColorKind;

use super::formats::{BLOCKS, aspect, element, info};
use crate::format::aspects;
use crate::vulkan::{Error, Lab};

/// Pixels of level 0: no multiple of any tile, utile or block, and several tiles.
const SIZE: vk::Extent3D = vk::Extent3D { width: 150, height: 133, depth: 1 };
const VOLUME: vk::Extent3D = vk::Extent3D { width: 19, height: 13, depth: 7 };
/// Wider than a surface of a job, and no higher than two tiles: two such images of eight bytes a pixel are to fit into 128 MiB.
const BROAD: vk::Extent3D = vk::Extent3D { width: 4230, height: 67, depth: 1 };
/// Higher than a target of a job.
const TALL: vk::Extent3D = vk::Extent3D { width: 67, height: 2230, depth: 1 };
/// Narrow enough for a target of a job, with wide texels of more words than that.
const WIDE: vk::Extent3D = vk::Extent3D { width: 1366, height: 67, depth: 1 };
const LEVELS: u32 = 3;
const LAYERS: u32 = 2;

/// What an image looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Two layers of a picture.
    Flat,
    /// Slices.
    Volume,
    /// Two layers whose columns lie in panels.
    Broad,
    /// Two layers that jobs draw in parts.
    Tall,
    /// Two layers whose words they draw in parts.
    Wide,
    /// A picture in rows, of one level.
    Linear,
    /// Two layers of pixels of four samples, of one level.
    Samples,
}

/// How texels lie in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rows {
    /// Rows and slices are longer than needed.
    Gaps,
    /// Those of a part of the image follow each other from a texel on that begins no line of memory.
    Tight,
    /// Rows begin at multiples of 256 bytes, as some APIs demand.
    Padded,
}

/// The same bytes on every driver, meaningful in every format: no NaN, depths up to 1, no -128.
fn content(format: vk::Format, texels: usize) -> Vec<u8> {
    let mut state = 0x2545_f491u32;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    let (bytes, _) = element(format);
    let mut content = Vec::new();
    for _ in 0..texels {
        let fraction = (random() >> 8) as f32 / (1 << 24) as f32;
        let texel = match (format, info(format)) {
            (vk::Format::D32_SFLOAT, _) => fraction.to_bits().into(),
            (_, Some(info)) if !BLOCKS.contains(&format) => {
                let mut component = || match info.kind {
                    ColorKind::Uint => random() >> 3,
                    ColorKind::Sint => (random() as i32 >> 3) as u32,
                    _ => ((random() >> 8) as f32 / (1 << 24) as f32 * 2.0 - 0.6).to_bits(),
                };
                info.encode([component(), component(), component(), component()])
            }
            _ => [(); 4].map(|()| u128::from(random())).iter().fold(0, |all, word| all << 32 | word),
        };
        content.extend_from_slice(&texel.to_le_bytes()[..bytes as usize]);
    }
    content
}

/// An image in the general layout.
pub(super) struct Image<'a> {
    lab: &'a Lab<'a>,
    pub image: vk::Image,
    pub format: vk::Format,
    size: vk::Extent3D,
    pub levels: u32,
    pub layers: u32,
    /// What copies from and to buffers move.
    pub aspect: vk::ImageAspectFlags,
}

// SAFETY (for every block of this file): the lab keeps images and buffers to its end; regions lie inside.
impl<'a> Image<'a> {
    pub(super) fn new(lab: &'a Lab<'a>, format: vk::Format, shape: Shape) -> Result<Image<'a>, Error> {
        Image::with(lab, format, shape, vk::ImageUsageFlags::empty())
    }

    /// One for which more is done than copies.
    pub(super) fn with(
        lab: &'a Lab<'a>,
        format: vk::Format,
        shape: Shape,
        usage: vk::ImageUsageFlags,
    ) -> Result<Image<'a>, Error> {
        let (ty, size, layers) = match shape {
            Shape::Flat => (vk::ImageType::TYPE_2D, SIZE, LAYERS),
            Shape::Volume => (vk::ImageType::TYPE_3D, VOLUME, 1),
            Shape::Broad => (vk::ImageType::TYPE_2D, BROAD, LAYERS),
            Shape::Tall => (vk::ImageType::TYPE_2D, TALL, LAYERS),
            Shape::Wide => (vk::ImageType::TYPE_2D, WIDE, LAYERS),
            Shape::Linear => (vk::ImageType::TYPE_2D, SIZE, 1),
            Shape::Samples => (vk::ImageType::TYPE_2D, SIZE, LAYERS),
        };
        let (samples, usage) = match shape {
            Shape::Samples => (vk::SampleCountFlags::TYPE_4, usage | vk::ImageUsageFlags::COLOR_ATTACHMENT),
            _ => (vk::SampleCountFlags::TYPE_1, usage),
        };
        let (tiling, levels) = match shape {
            Shape::Linear => (vk::ImageTiling::LINEAR, 1),
            Shape::Samples => (vk::ImageTiling::OPTIMAL, 1),
            _ => (vk::ImageTiling::OPTIMAL, LEVELS),
        };
        let create = vk::ImageCreateInfo::default()
            .image_type(ty)
            .format(format)
            .extent(size)
            .mip_levels(levels)
            .tiling(tiling)
            .array_layers(layers)
            .samples(samples)
            .usage(usage | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST);
        let (image, aspect) = (lab.image(&create)?, aspect(format));
        let image = Image { lab, image, format, size, levels, layers, aspect };
        image.to_general()?;
        Ok(image)
    }

    fn to_general(&self) -> Result<(), Error> {
        let range = vk::ImageSubresourceRange {
            aspect_mask: aspects(self.format),
            base_mip_level: 0,
            level_count: vk::REMAINING_MIP_LEVELS,
            base_array_layer: 0,
            layer_count: vk::REMAINING_ARRAY_LAYERS,
        };
        let barrier = [vk::ImageMemoryBarrier::default()
            .image(self.image)
            .new_layout(vk::ImageLayout::GENERAL)
            .subresource_range(range)];
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        let flags = vk::DependencyFlags::empty();
        // SAFETY: see above.
        self.lab.run(|commands| unsafe {
            self.lab.device.cmd_pipeline_barrier(commands, all, all, flags, &[], &[], &barrier);
        })
    }

    pub(super) fn extent(&self, level: u32) -> vk::Extent3D {
        let vk::Extent3D { width, height, depth } = self.size;
        let [width, height, depth] = [width, height, depth].map(|edge| (edge >> level).max(1));
        vk::Extent3D { width, height, depth }
    }

    pub(super) fn layers(
        &self,
        mip_level: u32,
        base_array_layer: u32,
        layer_count: u32,
    ) -> vk::ImageSubresourceLayers {
        let aspect_mask = self.aspect;
        vk::ImageSubresourceLayers { aspect_mask, mip_level, base_array_layer, layer_count }
    }

    /// What buffers have of the aspect, as a format.
    fn texels(&self) -> vk::Format {
        if self.aspect == vk::ImageAspectFlags::STENCIL { vk::Format::R8_UINT } else { self.format }
    }

    /// A region per level, and the bytes of them all.
    fn regions(&self, order: Rows) -> (Vec<vk::BufferImageCopy>, usize) {
        let (bytes, block) = element(self.texels());
        let start = match order {
            Rows::Gaps => 16,
            Rows::Tight => 3 * u64::from(bytes.max(4)),
            Rows::Padded => 256,
        };
        let (mut regions, mut end) = (Vec::new(), start);
        for level in 0..self.levels {
            let mut extent = self.extent(level);
            let (mut row, mut rows) =
                (extent.width.next_multiple_of(block), extent.height.next_multiple_of(block));
            let mut image_offset = vk::Offset3D::default();
            match order {
                Rows::Gaps => {
                    row += 3 * block;
                    rows = (extent.height + 2 * block).next_multiple_of(block);
                }
                Rows::Tight => {
                    image_offset = vk::Offset3D { x: block as i32, y: 2 * block as i32, z: 0 };
                    (extent.width, extent.height) = (extent.width - block, extent.height - 2 * block);
                    (row, rows) = (0, 0);
                }
                Rows::Padded => row = (row / block * bytes).next_multiple_of(256) / bytes * block,
            }
            regions.push(vk::BufferImageCopy {
                buffer_offset: end,
                buffer_row_length: row,
                buffer_image_height: rows,
                image_subresource: self.layers(level, 0, self.layers),
                image_offset,
                image_extent: extent,
            });
            let or =
                |length: u32, texels: u32| if length == 0 { texels.div_ceil(block) } else { length / block };
            let elements = or(row, extent.width) * or(rows, extent.height) * self.layers * extent.depth;
            end = (end + u64::from(elements * bytes)).next_multiple_of(start);
        }
        (regions, end as usize)
    }

    /// So many bytes of texels.
    pub(super) fn content(&self, size: usize) -> Vec<u8> {
        let format = self.texels();
        let mut bytes = content(format, size / element(format).0 as usize);
        bytes.resize(size, 0);
        bytes
    }

    pub(super) fn upload(&self) -> Result<(), Error> {
        let (regions, size) = self.regions(Rows::Gaps);
        let buffer = self.lab.buffer(&self.content(size), vk::BufferUsageFlags::TRANSFER_SRC)?;
        let general = vk::ImageLayout::GENERAL;
        // SAFETY: see above.
        self.lab.run(|commands| unsafe {
            self.lab.device.cmd_copy_buffer_to_image(commands, buffer, self.image, general, &regions);
        })?;
        Ok(())
    }

    pub(super) fn download(&self) -> Result<Vec<u8>, Error> {
        self.download_as(Rows::Gaps)
    }

    pub(super) fn download_as(&self, order: Rows) -> Result<Vec<u8>, Error> {
        let (regions, size) = self.regions(order);
        // Something stands in the gaps.
        let before: Vec<u8> = (0..size).map(|at| ((at * 37) ^ (at >> 8)) as u8 & 0x3f).collect();
        let buffer = self.lab.mapped(&before, vk::BufferUsageFlags::TRANSFER_DST)?;
        let general = vk::ImageLayout::GENERAL;
        // SAFETY: see above.
        self.lab.run(|commands| unsafe {
            self.lab.device.cmd_copy_image_to_buffer(commands, self.image, general, buffer.buffer, &regions);
        })?;
        let bytes = self.lab.contents(&buffer, size)?;
        Ok(bytes)
    }
}
