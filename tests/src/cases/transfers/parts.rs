//! Rectangles of images that go up and down at places that suit nothing.

use ash::vk;

use super::formats::{aspect, element};
use super::image::{Image, Shape};
use crate::vulkan::{Error, Lab};

/// Rectangles each way.
const PARTS: u32 = 7;

/// What a buffer holds at the end, gaps included, and what the image does: some rectangles went up, others down.
pub(super) fn moved(lab: &Lab<'_>, format: vk::Format, shape: Shape) -> Result<(Vec<u8>, Vec<u8>), Error> {
    let image = Image::new(lab, format, shape)?;
    image.upload()?;
    let mut random = Random(0x1234_5678 ^ format.as_raw() as u32);
    let (up, bytes) = regions(&image, &mut random);
    let source = lab.buffer(&image.content(bytes), vk::BufferUsageFlags::TRANSFER_SRC)?;
    let (down, bytes) = regions(&image, &mut random);
    let before: Vec<u8> = (0..bytes).map(|at| ((at * 37) ^ (at >> 8)) as u8 & 0x3f).collect();
    let target = lab.mapped(&before, vk::BufferUsageFlags::TRANSFER_DST)?;
    let general = vk::ImageLayout::GENERAL;
    lab.run(|commands| {
        // What two of them hold is the later one's.
        for region in &up {
            // SAFETY: the lab keeps image and buffers to its end; regions lie inside.
            unsafe {
                lab.device.cmd_copy_buffer_to_image(commands, source, image.image, general, &[*region]);
            }
            lab.barrier(commands);
        }
        for region in &down {
            // SAFETY: as above.
            unsafe {
                let (image, buffer) = (image.image, target.buffer);
                lab.device.cmd_copy_image_to_buffer(commands, image, general, buffer, &[*region]);
            }
        }
        lab.barrier(commands);
    })?;
    Ok((lab.contents(&target, bytes)?, image.download()?))
}

/// Regions one behind the other in a buffer, and the bytes up to their end.
fn regions(image: &Image<'_>, random: &mut Random) -> (Vec<vk::BufferImageCopy>, usize) {
    let (bytes, block) = element(image.format);
    let step = match aspect(image.format) {
        vk::ImageAspectFlags::COLOR => bytes,
        _ => 4,
    };
    let mut end = 0;
    let region = |number| {
        let level = number % image.levels;
        let extent = image.extent(level);
        // Of blocks, whole ones, the last of which may be cut.
        let mut span = |edge: u32| {
            let count = edge.div_ceil(block);
            let first = random.below(count);
            let length = 1 + random.below(count - first);
            ((first * block) as i32, (length * block).min(edge - first * block), length)
        };
        let ((x, width, columns), (y, height, rows)) = (span(extent.width), span(extent.height));
        let z = random.below(extent.depth);
        let depth = 1 + random.below(extent.depth - z);
        let base = random.below(image.layers);
        let (gap, below) = (random.below(3) * random.below(9), random.below(2) * random.below(3));
        let layers = image.layers(level, base, 1 + random.below(image.layers - base));
        let start = (end + u64::from(random.below(5) * step)).next_multiple_of(step.into());
        let slices = layers.layer_count * depth;
        end = start + u64::from((columns + gap) * (rows + below) * slices * bytes);
        vk::BufferImageCopy {
            buffer_offset: start,
            buffer_row_length: if gap + below == 0 { 0 } else { (columns + gap) * block },
            buffer_image_height: if gap + below == 0 { 0 } else { (rows + below) * block },
            image_subresource: layers,
            image_offset: vk::Offset3D { x, y, z: z as i32 },
            image_extent: vk::Extent3D { width, height, depth },
        }
    };
    let regions = (0..PARTS).map(region).collect();
    (regions, end as usize)
}

/// Numbers that are the same on every driver.
struct Random(u32);

impl Random {
    fn below(&mut self, end: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        ((u64::from(self.0) * u64::from(end)) >> 32) as u32
    }
}
