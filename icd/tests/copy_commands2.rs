//! VK_KHR_copy_commands2: each command does with its structures what its first form does with arguments.

mod support;

use ash::vk;
use support::{COLOR, RGBA, Vk, extent};

const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;
const EDGE: u32 = 4;

fn corner(x: i32, y: i32) -> vk::Offset3D {
    vk::Offset3D { x, y, z: 0 }
}

#[test]
fn regions_arrive_whole() {
    let vk = Vk::with(&[c"VK_KHR_copy_commands2"]);
    let copies = ash::khr::copy_commands2::Device::new(&vk.instance, &vk.device);
    let words: Vec<u8> = (0..64u32).flat_map(|word| (0x0101_0101 * word).to_le_bytes()).collect();
    let (src, moved, back) = (vk.buffer_with(&words), vk.buffer_with(&[0; 256]), vk.buffer_with(&[0; 256]));
    let usage = vk::ImageUsageFlags::empty();
    let [first, second, third] = [(); 3].map(|()| vk.image(RGBA, EDGE, EDGE, usage));
    // SAFETY: valid usage.
    vk.run(|_, commands| unsafe {
        let regions = [vk::BufferCopy2::default().src_offset(16).dst_offset(32).size(64)];
        let info = vk::CopyBufferInfo2::default();
        let info = info.src_buffer(src.handle).dst_buffer(moved.handle).regions(&regions);
        copies.cmd_copy_buffer2(commands, &info);

        // Rows of six texels, the first of which lies behind ten words.
        let regions = [vk::BufferImageCopy2::default()
            .buffer_offset(40)
            .buffer_row_length(6)
            .image_subresource(COLOR)
            .image_extent(extent(EDGE, EDGE))];
        let info = vk::CopyBufferToImageInfo2::default().src_buffer(src.handle).dst_image(first.handle);
        let info = info.dst_image_layout(GENERAL).regions(&regions);
        copies.cmd_copy_buffer_to_image2(commands, &info);

        let regions = [vk::ImageCopy2::default()
            .src_subresource(COLOR)
            .dst_subresource(COLOR)
            .src_offset(corner(1, 2))
            .dst_offset(corner(2, 0))
            .extent(extent(2, 1))];
        let all = [vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            level_count: 1,
            layer_count: 1,
            ..Default::default()
        }];
        let black = vk::ClearColorValue { float32: [0.0; 4] };
        vk.device.cmd_clear_color_image(commands, second.handle, GENERAL, &black, &all);
        let info = vk::CopyImageInfo2::default().src_image(first.handle).dst_image(second.handle);
        let info = info.src_image_layout(GENERAL).dst_image_layout(GENERAL).regions(&regions);
        copies.cmd_copy_image2(commands, &info);

        // Upside down.
        let regions = [vk::ImageBlit2::default()
            .src_subresource(COLOR)
            .dst_subresource(COLOR)
            .src_offsets([corner(0, 0), vk::Offset3D { z: 1, ..corner(4, 4) }])
            .dst_offsets([corner(0, 4), vk::Offset3D { z: 1, ..corner(4, 0) }])];
        let info = vk::BlitImageInfo2::default().src_image(first.handle).dst_image(third.handle);
        let info = info.src_image_layout(GENERAL).dst_image_layout(GENERAL).regions(&regions);
        copies.cmd_blit_image2(commands, &info.filter(vk::Filter::NEAREST));

        let regions = [vk::BufferImageCopy2::default()
            .buffer_offset(8)
            .image_subresource(COLOR)
            .image_offset(corner(1, 1))
            .image_extent(extent(2, 2))];
        let info = vk::CopyImageToBufferInfo2::default().src_image(first.handle).dst_buffer(back.handle);
        let info = info.src_image_layout(GENERAL).regions(&regions);
        copies.cmd_copy_image_to_buffer2(commands, &info);
    });
    let word = |index: u32| 0x0101_0101 * index;
    let expected: Vec<u32> = (0..64).map(|at| if (8..24).contains(&at) { word(at - 4) } else { 0 }).collect();
    assert_eq!(moved.words(), expected);
    let texel = |x: u32, y: u32| word(10 + 6 * y + x);
    let rows = |texel: &dyn Fn(u32, u32) -> u32| -> Vec<u32> {
        (0..EDGE * EDGE).map(|at| texel(at % EDGE, at / EDGE)).collect()
    };
    assert_eq!(vk.pixels(&first), rows(&texel));
    assert_eq!(vk.pixels(&second)[..4], [0, 0, texel(1, 2), texel(2, 2)]);
    assert_eq!(vk.pixels(&second)[4..], [0; 12]);
    assert_eq!(vk.pixels(&third), rows(&|x, y| texel(x, EDGE - 1 - y)));
    assert_eq!(back.words()[..6], [0, 0, texel(1, 1), texel(2, 1), texel(1, 2), texel(2, 2)]);
}

#[test]
fn samples_are_resolved() {
    let vk = Vk::with(&[c"VK_KHR_copy_commands2"]);
    let copies = ash::khr::copy_commands2::Device::new(&vk.instance, &vk.device);
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT;
    let samples = vk.image_of(vk::SampleCountFlags::TYPE_4, RGBA, EDGE, EDGE, usage);
    let image = vk.image(RGBA, EDGE, EDGE, usage);
    // SAFETY: valid usage.
    vk.run(|device, commands| unsafe {
        let all = [vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            level_count: 1,
            layer_count: 1,
            ..Default::default()
        }];
        for (image, value) in [(&samples, 1.0), (&image, 0.0)] {
            let float32 = [value; 4];
            let value = vk::ClearColorValue { float32 };
            device.cmd_clear_color_image(commands, image.handle, GENERAL, &value, &all);
        }
        let regions = [vk::ImageResolve2::default()
            .src_subresource(COLOR)
            .dst_subresource(COLOR)
            .src_offset(corner(1, 0))
            .dst_offset(corner(0, 1))
            .extent(extent(3, 2))];
        let info = vk::ResolveImageInfo2::default().src_image(samples.handle).dst_image(image.handle);
        let info = info.src_image_layout(GENERAL).dst_image_layout(GENERAL).regions(&regions);
        copies.cmd_resolve_image2(commands, &info);
    });
    let inside = |at: u32| at % EDGE < 3 && (1..3).contains(&(at / EDGE));
    let expected: Vec<u32> = (0..EDGE * EDGE).map(|at| if inside(at) { !0 } else { 0 }).collect();
    assert_eq!(vk.pixels(&image), expected);
}
