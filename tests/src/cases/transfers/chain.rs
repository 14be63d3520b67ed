//! A texture and its mip levels, as engines make them: uploaded once, each level a blit of the one before.

use ash::vk;

use crate::vulkan::{Error, Harness, Lab, flat, whole};

/// Texels of an edge of the first level.
pub const EDGE: u32 = 256;
/// Levels down to a single texel.
pub const LEVELS: u32 = EDGE.ilog2() + 1;

/// The first level: four bytes a texel, whose neighbours differ in all of them.
pub fn content() -> Vec<u8> {
    let texel = |n: u32| n.wrapping_mul(0x9e37_79b9).rotate_left(n % 31).to_le_bytes();
    (0..EDGE * EDGE).flat_map(texel).collect()
}

/// All levels, one behind the other.
pub fn run(harness: &Harness) -> Result<Vec<u8>, Error> {
    let lab = Lab::new(harness);
    let (from, to) = (vk::ImageUsageFlags::TRANSFER_SRC, vk::ImageUsageFlags::TRANSFER_DST);
    let usage = vk::ImageUsageFlags::SAMPLED | from | to;
    let samples = vk::SampleCountFlags::TYPE_1;
    let image = vk::ImageCreateInfo {
        mip_levels: LEVELS,
        ..flat([EDGE; 2], vk::Format::R8G8B8A8_UNORM, samples, usage)
    };
    let image = lab.image(&image)?;
    let all = vk::ImageSubresourceRange {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        level_count: LEVELS,
        layer_count: 1,
        ..Default::default()
    };
    let general = vk::ImageLayout::GENERAL;
    lab.upload(image, all, &content(), &[whole([EDGE; 2])], general)?;
    let bytes: u32 = (0..LEVELS).map(|level| 4 * (EDGE >> level).pow(2)).sum();
    let down = lab.mapped(&vec![0; bytes as usize], vk::BufferUsageFlags::TRANSFER_DST)?;
    let layers = |mip_level| vk::ImageSubresourceLayers { mip_level, ..whole([1, 1]).image_subresource };
    let corners = |level: u32| {
        let edge = (EDGE >> level) as i32;
        [vk::Offset3D::default(), vk::Offset3D { x: edge, y: edge, z: 1 }]
    };
    lab.run(|commands| {
        for level in 1..LEVELS {
            let region = vk::ImageBlit {
                src_subresource: layers(level - 1),
                src_offsets: corners(level - 1),
                dst_subresource: layers(level),
                dst_offsets: corners(level),
            };
            lab.barrier(commands);
            // SAFETY: the image lives until the lab is dropped, when the queue is idle; the regions outlive the call.
            unsafe {
                let linear = vk::Filter::LINEAR;
                lab.device.cmd_blit_image(commands, image, general, image, general, &[region], linear);
            }
        }
        lab.barrier(commands);
        let mut buffer_offset = 0;
        for level in 0..LEVELS {
            let edge = EDGE >> level;
            let region =
                vk::BufferImageCopy { buffer_offset, image_subresource: layers(level), ..whole([edge; 2]) };
            buffer_offset += 4 * u64::from(edge).pow(2);
            // SAFETY: as above.
            unsafe { lab.device.cmd_copy_image_to_buffer(commands, image, general, down.buffer, &[region]) };
        }
        lab.barrier(commands);
    })?;
    lab.contents(&down, bytes as usize)
}
