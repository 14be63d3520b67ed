//! vkCmdCopyBufferToImage and vkCmdCopyImageToBuffer, with the conversions of depth and stencil.

use std::sync::Arc;

use ash::vk;

use super::place;
use super::texels::{Part, layers, merge};
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::Error;
use crate::format::Storage;
use crate::image::Image;
use crate::segment::{CpuCommand, Touch};

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

/// One layer of one region.
struct Piece {
    part: Part,
    /// First byte in the buffer.
    offset: u64,
    /// Bytes from row to row in the buffer.
    pitch: u64,
    /// Bytes of a row in the buffer.
    row: usize,
    convert: Conversion,
}

impl CpuCommand for CopyBufferImage {
    fn describe(&self) -> String {
        let way = if self.to_image { "buffer to image" } else { "image to buffer" };
        format!("copy {} regions from {way}", self.regions.len())
    }

    fn touches(&self) -> Touch {
        Touch::memory([self.buffer.binding(), self.image.binding()])
    }

    fn run(&self, _: &Arc<Device>) -> Result<(), Error> {
        for region in &self.regions {
            for piece in self.pieces(region)? {
                match self.to_image {
                    true => self.upload(&piece)?,
                    false => self.download(&piece)?,
                }
            }
        }
        Ok(())
    }
}

impl CopyBufferImage {
    fn pieces(&self, region: &vk::BufferImageCopy) -> Result<Vec<Piece>, Error> {
        let (from, image) = (region.image_subresource, &*self.image);
        let (format, extent) = (image.row(), region.image_extent);
        let bytes = u64::from(format.aspect_bytes(from.aspect_mask));
        let or = |value: u32, default: u32| u64::from(if value == 0 { default } else { value });
        let pitch = or(region.buffer_row_length, extent.width) * bytes;
        let layer_bytes = or(region.buffer_image_height, extent.height).saturating_mul(pitch);
        let piece = |(index, layer)| {
            Ok(Piece {
                part: Part::new(image, from.mip_level, layer, region.image_offset, extent)?,
                offset: region.buffer_offset.saturating_add(layer_bytes.saturating_mul(index as u64)),
                pitch,
                row: extent.width as usize * bytes as usize,
                convert: Conversion::new(format.storage, from.aspect_mask),
            })
        };
        layers(image, from.base_array_layer, from.layer_count).enumerate().map(piece).collect()
    }

    /// Calls `row` with every row's place in the buffer.
    fn rows(
        &self,
        piece: &Piece,
        mut row: impl FnMut(usize, &vc4_kernel_abi::Mapping, usize),
    ) -> Result<(), Error> {
        for y in 0..u64::from(piece.part.rect.height) {
            let (mapping, at) = {
                let offset = piece.offset.saturating_add(y * piece.pitch);
                place(&self.buffer, offset, piece.row as u64)?
            };
            row(y as usize * piece.row, &mapping, at);
        }
        Ok(())
    }

    fn upload(&self, piece: &Piece) -> Result<(), Error> {
        let mut bytes = vec![0; piece.row * piece.part.rect.height as usize];
        self.rows(piece, |to, mapping, at| mapping.read(at, &mut bytes[to..to + piece.row]))?;
        let Some(mask) = piece.convert.mask() else { return piece.part.write(&self.image, &bytes) };
        let words = piece.convert.to_words(&bytes);
        if mask == u32::MAX {
            return piece.part.write(&self.image, &words);
        }
        let mut old = piece.part.read(&self.image)?;
        merge(&mut old, &words, mask);
        piece.part.write(&self.image, &old)
    }

    fn download(&self, piece: &Piece) -> Result<(), Error> {
        let texels = piece.part.read(&self.image)?;
        let bytes = if piece.convert == Conversion::None { texels } else { piece.convert.to_bytes(&texels) };
        self.rows(piece, |from, mapping, at| mapping.write(at, &bytes[from..from + piece.row]))
    }
}

/// How buffer bytes and image words differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Conversion {
    None,
    Depth16,
    /// The word's low byte is left alone if it is stencil.
    Depth24 {
        stencil: bool,
    },
    Stencil,
}

impl Conversion {
    fn new(storage: Storage, aspect: vk::ImageAspectFlags) -> Conversion {
        match storage {
            Storage::Plain => Conversion::None,
            Storage::Depth16 => Conversion::Depth16,
            Storage::Depth24 => Conversion::Depth24 { stencil: false },
            Storage::Depth24Stencil8 if aspect == vk::ImageAspectFlags::STENCIL => Conversion::Stencil,
            Storage::Depth24Stencil8 => Conversion::Depth24 { stencil: true },
        }
    }

    /// Bits of an image's word that a copy replaces; `None` if bytes are copied as they are.
    fn mask(self) -> Option<u32> {
        match self {
            Conversion::None => None,
            Conversion::Depth16 | Conversion::Depth24 { stencil: false } => Some(u32::MAX),
            Conversion::Depth24 { stencil: true } => Some(!0xff),
            Conversion::Stencil => Some(0xff),
        }
    }

    fn to_words(self, bytes: &[u8]) -> Vec<u8> {
        let words = |chunk: usize, word: fn(&[u8]) -> u32| {
            bytes.chunks_exact(chunk).flat_map(|chunk| word(chunk).to_le_bytes()).collect()
        };
        match self {
            Conversion::None => bytes.to_vec(),
            Conversion::Depth16 => {
                words(2, |b| depth16_to_24(u32::from(u16::from_le_bytes([b[0], b[1]]))) << 8)
            }
            Conversion::Depth24 { .. } => words(4, |b| u32::from_le_bytes([0, b[0], b[1], b[2]])),
            Conversion::Stencil => words(1, |b| u32::from(b[0])),
        }
    }

    fn to_bytes(self, texels: &[u8]) -> Vec<u8> {
        let words = texels.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        match self {
            Conversion::None => texels.to_vec(),
            Conversion::Depth16 => {
                words.flat_map(|word| (depth24_to_16(word >> 8) as u16).to_le_bytes()).collect()
            }
            Conversion::Depth24 { .. } => words.flat_map(|word| (word >> 8).to_le_bytes()).collect(),
            Conversion::Stencil => words.map(|word| word as u8).collect(),
        }
    }
}

/// v / 65535 in steps of 1 / (2^24 - 1), to nearest.
fn depth16_to_24(depth: u32) -> u32 {
    ((u64::from(depth) * 0x00ff_ffff + 0x7fff) / 0xffff) as u32
}

/// The inverse, to nearest.
fn depth24_to_16(depth: u32) -> u32 {
    ((u64::from(depth) * 0xffff + 0x7f_ffff) / 0x00ff_ffff) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::DeviceMemory;
    use crate::testing::device;

    fn image(device: &Arc<Device>, format: vk::Format) -> Arc<Image> {
        let info = vk::ImageCreateInfo {
            image_type: vk::ImageType::TYPE_2D,
            format,
            extent: vk::Extent3D { width: 50, height: 40, depth: 1 },
            mip_levels: 1,
            array_layers: 2,
            samples: vk::SampleCountFlags::TYPE_1,
            usage: vk::ImageUsageFlags::TRANSFER_DST,
            ..Default::default()
        };
        let image = Image::new(device, &info).unwrap();
        image.bind(&DeviceMemory::new(device, 1 << 20, 0).unwrap(), 0).unwrap();
        Arc::new(image)
    }

    fn buffer(device: &Arc<Device>, content: &[u8]) -> Arc<Buffer> {
        let info = vk::BufferCreateInfo { size: content.len() as u64, ..Default::default() };
        let buffer = Buffer::new(device, &info).unwrap();
        buffer.bind(&DeviceMemory::new(device, 1 << 20, 0).unwrap(), 64).unwrap();
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
        let device = device();
        let content: Vec<u8> = (0..8 + 30 * 20 * 2 * texel).map(clean).collect();
        let (image, up) = (image(&device, format), buffer(&device, &content));
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
        round_trip(vk::Format::D16_UNORM, depth, 2, |at| (at * 11) as u8);
        let no_top = |at| if at % 4 == 3 { 0 } else { (at * 13) as u8 };
        round_trip(vk::Format::X8_D24_UNORM_PACK32, depth, 4, no_top);
        round_trip(vk::Format::D24_UNORM_S8_UINT, depth, 4, no_top);
        round_trip(vk::Format::D24_UNORM_S8_UINT, vk::ImageAspectFlags::STENCIL, 1, |at| at as u8);
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

    #[test]
    fn depths_round_to_nearest_and_back() {
        assert_eq!((depth16_to_24(0xffff), depth16_to_24(0x8000)), (0xff_ffff, 0x80_0080));
        assert!((0..=0xffff).all(|depth| depth24_to_16(depth16_to_24(depth)) == depth));
    }
}
