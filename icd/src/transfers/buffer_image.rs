//! vkCmdCopyBufferToImage and vkCmdCopyImageToBuffer.

use std::sync::Arc;

use ash::vk;

use super::download::download;
use super::drawn::{self, Work};
use super::folds;
use super::pieces::{CopyPieces, Piece, way};
use super::planes;
use super::texels::{Part, slices};
use super::upload::upload;
use crate::foundation::error::Error;
use crate::objects::buffer::Buffer;
use crate::objects::device::Device;
use crate::objects::image::Image;
use crate::pipeline::Rectangles;
use crate::segments::{CpuCommand, Drawing, Touch};

/// Copies between a buffer and an image.
pub struct CopyBufferImage {
    /// The buffer.
    pub buffer: Arc<Buffer>,
    /// The image.
    pub image: Arc<Image>,
    /// What.
    pub regions: Vec<vk::BufferImageCopy>,
    /// Whether the image is written.
    pub to_image: bool,
}

impl CpuCommand for CopyBufferImage {
    fn describe(&self) -> String {
        let way = way(&self.buffer, &self.image, self.to_image);
        format!("copy {} regions from {way}", self.regions.len())
    }

    fn touches(&self) -> Touch {
        Touch::memory([self.buffer.binding(), self.image.binding()])
    }

    fn may_be_drawn(&self) -> bool {
        true
    }

    fn drawing(&self, rectangles: &mut Rectangles) -> Result<Option<Drawing>, Error> {
        let pieces: Result<Vec<_>, _> = self.regions.iter().map(|region| self.pieces(region)).collect();
        // The CPU says what is wrong with a region.
        let Ok(pieces) = pieces else { return Ok(None) };
        let (renders, left) = drawn::parts(self, pieces.concat(), |piece| match self.to_image {
            true => upload(piece, &self.buffer, &self.image, rectangles).map(Work::all),
            false => download(piece, &self.buffer, &self.image, rectangles),
        });
        let rest = (!left.is_empty()).then(|| -> Box<dyn CpuCommand> { Box::new(self.copy(left)) });
        let drawing = drawn::drawing(renders, rest);
        Ok(drawing.map(|drawing| Drawing { changes_buffers: !self.to_image, ..drawing }))
    }

    fn run(&self, device: &Arc<Device>) -> Result<(), Error> {
        self.regions.iter().try_for_each(|region| self.copy(self.pieces(region)?).run(device))
    }
}

impl CopyBufferImage {
    /// The copies of regions, which may name planes.
    pub fn by_planes(
        buffer: &Arc<Buffer>,
        image: &Arc<Image>,
        regions: &[vk::BufferImageCopy],
        to_image: bool,
    ) -> Result<impl Iterator<Item = CopyBufferImage>, Error> {
        let (image, regions) = match to_image {
            true => folds::unfolded(
                image,
                regions,
                |region| (region.image_offset, region.image_extent),
                |region, skipped, offset, extent| piece(image, region, skipped, offset, extent),
            )?,
            false => (image.as_source()?.clone(), regions.to_vec()),
        };
        let resolve =
            |region: &mut vk::BufferImageCopy| planes::resolve(&image, &mut region.image_subresource);
        let groups = planes::grouped(regions, |region| Ok([resolve(region)?]))?;
        let buffer = buffer.clone();
        Ok(groups.into_iter().map(move |([image], regions)| CopyBufferImage {
            buffer: buffer.clone(),
            image,
            regions,
            to_image,
        }))
    }

    /// What the CPU does.
    fn copy(&self, pieces: Vec<Piece>) -> CopyPieces {
        CopyPieces { buffer: self.buffer.clone(), image: self.image.clone(), pieces, to_image: self.to_image }
    }

    fn pieces(&self, region: &vk::BufferImageCopy) -> Result<Vec<Piece>, Error> {
        let (from, image) = (region.image_subresource, &*self.image);
        let (format, extent) = (image.row(), region.image_extent);
        let bytes = u64::from(format.aspect_bytes(from.aspect_mask));
        // Lengths of 0 stand for the extent; all count texels, of which blocks hold several.
        let elements = |texels: u32| u64::from(texels.div_ceil(format.block()));
        let or = |value: u32, default: u32| elements(if value == 0 { default } else { value });
        let pitch = or(region.buffer_row_length, extent.width) * bytes;
        let slice_bytes = or(region.buffer_image_height, extent.height).saturating_mul(pitch);
        let piece = |(index, slice)| {
            Ok(Piece {
                part: Part::new(image, from.mip_level, slice, region.image_offset, extent)?,
                offset: region.buffer_offset.saturating_add(slice_bytes.saturating_mul(index as u64)),
                pitch,
                row: (elements(extent.width) * bytes) as usize,
                aspect: from.aspect_mask,
            })
        };
        slices(image, &from, region.image_offset.z, extent.depth)?.enumerate().map(piece).collect()
    }
}

/// The piece of a region of a folded image that begins so many texels from its corner and becomes a part of the texture.
fn piece(
    image: &Image,
    region: &vk::BufferImageCopy,
    [columns, rows]: [u32; 2],
    image_offset: vk::Offset3D,
    image_extent: vk::Extent3D,
) -> vk::BufferImageCopy {
    let or = |value: u32, default: u32| if value == 0 { default } else { value };
    let buffer_row_length = or(region.buffer_row_length, region.image_extent.width);
    let texels = u64::from(rows) * u64::from(buffer_row_length) + u64::from(columns);
    vk::BufferImageCopy {
        buffer_offset: region.buffer_offset.saturating_add(texels * u64::from(image.row().bytes)),
        buffer_row_length,
        buffer_image_height: or(region.buffer_image_height, region.image_extent.height),
        image_offset,
        image_extent,
        ..*region
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foundation::traffic::{Bytes, Cause};
    use crate::objects::memory::{DeviceMemory, Origin};
    use crate::objects::memory_type::MemoryType;
    use crate::testing::device;

    fn image(device: &Arc<Device>, format: vk::Format) -> Arc<Image> {
        image_for(device, format, vk::ImageUsageFlags::TRANSFER_DST)
    }

    fn image_for(device: &Arc<Device>, format: vk::Format, usage: vk::ImageUsageFlags) -> Arc<Image> {
        let info = vk::ImageCreateInfo {
            image_type: vk::ImageType::TYPE_2D,
            format,
            extent: vk::Extent3D { width: 50, height: 40, depth: 1 },
            mip_levels: 1,
            array_layers: 2,
            samples: vk::SampleCountFlags::TYPE_1,
            usage,
            ..Default::default()
        };
        let image = Image::new(device, &info).unwrap();
        image
            .bind(&DeviceMemory::new(device, 1 << 20, MemoryType::Device, Origin::Alone).unwrap(), 0)
            .unwrap();
        Arc::new(image)
    }

    fn buffer(device: &Arc<Device>, content: &[u8]) -> Arc<Buffer> {
        let info = vk::BufferCreateInfo { size: content.len() as u64, ..Default::default() };
        let buffer = Buffer::new(device, &info).unwrap();
        buffer
            .bind(&DeviceMemory::new(device, 1 << 20, MemoryType::Device, Origin::Alone).unwrap(), 64)
            .unwrap();
        buffer.binding().unwrap().bo.map().unwrap().write(64, content);
        Arc::new(buffer)
    }

    fn region(aspect_mask: vk::ImageAspectFlags) -> vk::BufferImageCopy {
        vk::BufferImageCopy {
            buffer_offset: 8,
            buffer_row_length: 30,
            buffer_image_height: 20,
            image_subresource: vk::ImageSubresourceLayers {
                aspect_mask,
                mip_level: 0,
                base_array_layer: 0,
                layer_count: 2,
            },
            image_offset: vk::Offset3D { x: 7, y: 3, z: 0 },
            image_extent: vk::Extent3D { width: 25, height: 19, depth: 1 },
        }
    }

    /// Up and down again gives the region's bytes and leaves the gaps alone.
    fn round_trip(format: vk::Format, aspect: vk::ImageAspectFlags, texel: usize, clean: fn(usize) -> u8) {
        let row = crate::foundation::format::row(format).unwrap();
        for usage in [vk::ImageUsageFlags::TRANSFER_DST, vk::ImageUsageFlags::COLOR_ATTACHMENT] {
            let target = row.target.is_some() && aspect == vk::ImageAspectFlags::COLOR;
            if target || usage == vk::ImageUsageFlags::TRANSFER_DST {
                round_trip_of(format, usage, aspect, texel, clean);
            }
        }
    }

    fn round_trip_of(
        format: vk::Format,
        usage: vk::ImageUsageFlags,
        aspect: vk::ImageAspectFlags,
        texel: usize,
        clean: fn(usize) -> u8,
    ) {
        let device = device();
        let content: Vec<u8> = (0..8 + 30 * 20 * 2 * texel).map(clean).collect();
        let (image, up) = (image_for(&device, format, usage), buffer(&device, &content));
        let down = buffer(&device, &vec![0xee; content.len()]);
        let copy = |buffer: &Arc<Buffer>, to_image| CopyBufferImage {
            buffer: buffer.clone(),
            image: image.clone(),
            regions: vec![region(aspect)],
            to_image,
        };
        copy(&up, true).run(&device).unwrap();
        copy(&down, false).run(&device).unwrap();
        let mut got = vec![0; content.len()];
        down.binding().unwrap().bo.map().unwrap().read(64, &mut got);
        for (at, byte) in got.iter().enumerate() {
            let texel_at = at.checked_sub(8).map(|at| at / texel);
            let inside = texel_at.is_some_and(|at| at % 30 < 25 && at / 30 % 20 < 19);
            assert_eq!(*byte, if inside { content[at] } else { 0xee }, "byte {at} of {format:?}");
        }
    }

    #[test]
    fn regions_survive_the_way_up_and_down() {
        let (color, depth) = (vk::ImageAspectFlags::COLOR, vk::ImageAspectFlags::DEPTH);
        round_trip(vk::Format::R8G8B8A8_UNORM, color, 4, |at| (at * 7) as u8);
        round_trip(vk::Format::R5G6B5_UNORM_PACK16, color, 2, |at| (at * 5) as u8);
        round_trip(vk::Format::R8_UNORM, color, 1, |at| (at * 3) as u8);
        round_trip(vk::Format::R8G8_SINT, color, 2, |at| (at * 9) as u8);
        round_trip(vk::Format::A1R5G5B5_UNORM_PACK16, color, 2, |at| (at * 5) as u8);
        round_trip(vk::Format::R16G16B16A16_SFLOAT, color, 8, |at| (at * 3) as u8);
        round_trip(vk::Format::R32G32B32A32_UINT, color, 16, |at| (at * 5) as u8);
        round_trip(vk::Format::D32_SFLOAT, depth, 4, |at| (at * 7) as u8);
        round_trip(vk::Format::D16_UNORM, depth, 2, |at| (at * 11) as u8);
        let no_top = |at| if at % 4 == 3 { 0 } else { (at * 13) as u8 };
        round_trip(vk::Format::X8_D24_UNORM_PACK32, depth, 4, no_top);
        round_trip(vk::Format::D24_UNORM_S8_UINT, depth, 4, no_top);
        round_trip(vk::Format::D24_UNORM_S8_UINT, vk::ImageAspectFlags::STENCIL, 1, |at| at as u8);
    }

    /// A region is read once and written once, whatever gaps are between its rows, and on no other account.
    #[test]
    fn what_a_copy_moves_is_counted() {
        let device = device();
        let image = image(&device, vk::Format::R8G8B8A8_UNORM);
        let buffer = buffer(&device, &[7; 8 + 30 * 20 * 2 * 4]);
        let moved = |to_image| {
            let before = device.physical().traffic().total();
            let regions = vec![region(vk::ImageAspectFlags::COLOR)];
            let copy = CopyBufferImage { buffer: buffer.clone(), image: image.clone(), regions, to_image };
            copy.run(&device).unwrap();
            device.physical().traffic().total().since(&before)
        };
        let bytes = 25 * 19 * 2 * 4;
        let once = Bytes { read: bytes, written: bytes };
        for (to_image, cause) in [(true, Cause::Upload), (false, Cause::Copy)] {
            let moved = moved(to_image);
            assert_eq!((moved.of(cause), moved.sum()), (once, once), "{cause:?}");
        }
    }

    #[test]
    fn aspects_leave_each_other_alone() {
        let device = device();
        let image = image(&device, vk::Format::D24_UNORM_S8_UINT);
        for (aspect, byte) in [(vk::ImageAspectFlags::DEPTH, 0x11), (vk::ImageAspectFlags::STENCIL, 0x22)] {
            let buffer = buffer(&device, &[byte; 8 + 30 * 20 * 2 * 4]);
            let regions = vec![region(aspect)];
            CopyBufferImage { buffer, image: image.clone(), regions, to_image: true }.run(&device).unwrap();
        }
        let level = image.level(0, 1).unwrap();
        let word = image.binding().unwrap().bo.map().unwrap().read_u32(level.offset_of(7, 3) as usize);
        assert_eq!(word, 0x1111_1122);
    }

    #[test]
    fn what_leaves_buffer_or_image_is_refused() {
        let device = device();
        let (image, buffer) = (image(&device, vk::Format::R8_UNORM), buffer(&device, &[0; 100]));
        let run = |region| {
            let regions = vec![region];
            CopyBufferImage { buffer: buffer.clone(), image: image.clone(), regions, to_image: true }
                .run(&device)
        };
        let region = region(vk::ImageAspectFlags::COLOR);
        assert!(run(region).is_err());
        let image_offset = vk::Offset3D { x: 26, y: 0, z: 0 };
        assert!(run(vk::BufferImageCopy { image_offset, ..region }).is_err());
        assert!(run(vk::BufferImageCopy { buffer_offset: u64::MAX, ..region }).is_err());
    }

    /// A column of blocks in the middle of the image comes back as it went, and its texels are decoded.
    #[test]
    fn blocks_are_kept_and_decoded() {
        let device = device();
        let image = image(&device, vk::Format::ETC2_R8G8B8_UNORM_BLOCK);
        let content: Vec<u8> = (0..8 + 9 * 5 * 2 * 8).map(|at| (at * 7) as u8).collect();
        let up = buffer(&device, &content);
        let down = buffer(&device, &vec![0; content.len()]);
        let region = vk::BufferImageCopy {
            buffer_row_length: 36,
            buffer_image_height: 20,
            image_offset: vk::Offset3D { x: 16, y: 20, z: 0 },
            // To the edge, which cuts the last column of blocks.
            image_extent: vk::Extent3D { width: 34, height: 20, depth: 1 },
            ..region(vk::ImageAspectFlags::COLOR)
        };
        let copy = |buffer: &Arc<Buffer>, to_image| CopyBufferImage {
            buffer: buffer.clone(),
            image: image.clone(),
            regions: vec![region],
            to_image,
        };
        copy(&up, true).run(&device).unwrap();
        copy(&down, false).run(&device).unwrap();
        let mut got = vec![0; content.len()];
        down.binding().unwrap().bo.map().unwrap().read(64, &mut got);
        assert!(got[8..] == content[8..]);
        let block = &content[8 + (9 * 5 + 9 + 1) * 8..][..8];
        let (level, mapping) = (image.level(0, 1).unwrap(), image.binding().unwrap().bo.map().unwrap());
        vc4::image::etc2::BlockFormat::Etc2Rgb.decode(block, |x, y, texel| {
            let at = level.offset_of(20 + x as u32, 24 + y as u32) as usize;
            assert_eq!(mapping.read_u32(at).to_le_bytes(), *texel, "({x}, {y})");
        });
    }

    /// The last blocks of an image in rows reach beyond it, what they decode to does not.
    #[test]
    fn blocks_on_the_edge_stay_inside() {
        let device = device();
        let image = vk::ImageCreateInfo {
            image_type: vk::ImageType::TYPE_2D,
            format: vk::Format::EAC_R11_UNORM_BLOCK,
            extent: vk::Extent3D { width: 18, height: 5, depth: 1 },
            mip_levels: 2,
            array_layers: 2,
            samples: vk::SampleCountFlags::TYPE_1,
            usage: vk::ImageUsageFlags::SAMPLED,
            ..Default::default()
        };
        let image = Arc::new(Image::new(&device, &image).unwrap());
        image
            .bind(&DeviceMemory::new(&device, 1 << 20, MemoryType::Device, Origin::Alone).unwrap(), 0)
            .unwrap();
        assert!(image.layout().shape.raster);
        // Level 1 is 9 x 2; the copy takes whole blocks.
        let content: Vec<u8> = (0..8 + 3 * 8).map(|at| (at * 7) as u8).collect();
        let mut region = region(vk::ImageAspectFlags::COLOR);
        region.image_subresource.mip_level = 1;
        region.image_subresource.layer_count = 1;
        let region = vk::BufferImageCopy {
            buffer_row_length: 0,
            buffer_image_height: 0,
            image_offset: vk::Offset3D::default(),
            image_extent: vk::Extent3D { width: 12, height: 4, depth: 1 },
            ..region
        };
        let buffer = buffer(&device, &content);
        let copy = CopyBufferImage { buffer, image: image.clone(), regions: vec![region], to_image: true };
        copy.run(&device).unwrap();
        let (level, mapping) = (image.level(1, 0).unwrap(), image.binding().unwrap().bo.map().unwrap());
        vc4::image::etc2::BlockFormat::EacR.decode(&content[8 + 2 * 8..], |x, y, texel| {
            if x == 0 && y < 2 {
                let at = level.offset_of(8, y as u32) as usize;
                let mut found = [0; 2];
                mapping.read(at, &mut found);
                assert_eq!(found, *texel, "row {y}");
            }
        });
    }
}
