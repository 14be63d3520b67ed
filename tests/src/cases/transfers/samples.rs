//! Copies between images of several samples.

use ash::vk;

use super::image::{Image, Shape};
use crate::vulkan::{Error, Lab};

/// What two images resolve to whose parts went from one to the other.
pub(super) fn copied(lab: &Lab<'_>, format: vk::Format, words: [[u32; 4]; 2]) -> Result<Vec<u8>, Error> {
    let make = || Image::new(lab, format, Shape::Samples);
    let (first, second) = (make()?, make()?);
    let seen = Image::new(lab, format, Shape::Flat)?;
    seen.upload()?;
    let general = vk::ImageLayout::GENERAL;
    let at = |x, y| vk::Offset3D { x, y, z: 0 };
    let region = |from: [i32; 3], to: [i32; 3], [width, height]: [u32; 2], count| vk::ImageCopy {
        src_subresource: first.layers(0, from[2] as u32, count),
        src_offset: at(from[0], from[1]),
        dst_subresource: first.layers(0, to[2] as u32, count),
        dst_offset: at(to[0], to[1]),
        extent: vk::Extent3D { width, height, depth: 1 },
    };
    // At places that suit nothing; where blocks begin; to the edge.
    let there = [
        region([3, 5, 0], [21, 17, 0], [60, 51], 2),
        region([0, 0, 1], [96, 64, 0], [32, 64], 1),
        region([1, 100, 0], [131, 99, 1], [19, 33], 1),
    ];
    let back = [region([20, 16, 0], [75, 63, 0], [71, 62], 2), region([0, 0, 0], [0, 0, 1], [64, 32], 1)];
    let clear = |commands, image: &Image<'_>, words| {
        let range = vk::ImageSubresourceRange {
            aspect_mask: image.aspect,
            level_count: 1,
            layer_count: vk::REMAINING_ARRAY_LAYERS,
            ..Default::default()
        };
        let value = vk::ClearColorValue { uint32: words };
        // SAFETY: the lab keeps the images to its end.
        unsafe { lab.device.cmd_clear_color_image(commands, image.image, general, &value, &[range]) };
    };
    let copy = |commands, from: &Image<'_>, to: &Image<'_>, regions: &[vk::ImageCopy]| {
        lab.barrier(commands);
        // SAFETY: as above; regions lie inside and apart.
        unsafe { lab.device.cmd_copy_image(commands, from.image, general, to.image, general, regions) };
    };
    lab.run(|commands| {
        clear(commands, &first, words[0]);
        clear(commands, &second, words[1]);
        copy(commands, &second, &first, &there);
        copy(commands, &first, &second, &back);
        lab.barrier(commands);
    })?;
    let mut bytes = Vec::new();
    for image in [&first, &second] {
        let whole = vk::ImageResolve {
            src_subresource: image.layers(0, 0, image.layers),
            src_offset: at(0, 0),
            dst_subresource: seen.layers(0, 0, seen.layers),
            dst_offset: at(0, 0),
            extent: image.extent(0),
        };
        // SAFETY: as above.
        lab.run(|commands| unsafe {
            lab.device.cmd_resolve_image(commands, image.image, general, seen.image, general, &[whole]);
            lab.barrier(commands);
        })?;
        bytes.extend(seen.download()?);
    }
    Ok(bytes)
}
