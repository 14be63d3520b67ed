//! Images that are longer than the machine's textures, which programs only sample: everything that writes their texels.

use ash::vk;

use super::case::{Case, exact};
use crate::picture::Picture;
use crate::random::Random;
use crate::vulkan::{
    Attachment, CLEAR_STORE, Error, Lab, Pipeline, Subpass, area, color, first_level, flat, rectangle, whole,
};

/// The programs.
pub const CASES: [Case; 2] = [
    exact("long-written", |lab| written(lab, [5000, 40])),
    exact("long-written-high", |lab| written(lab, [40, 5000])),
];

const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;
const FOUR: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;
const BYTES: vk::Format = vk::Format::R8G8B8A8_UNORM;
const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;
/// What is copied and blitted from: long, and not longer than textures.
const SOURCE: [u32; 2] = [1000, 38];
const GREEN: [f32; 4] = [0.0, 0.75, 0.25, 1.0];

/// Columns and rows of a wide image; of a high one they are exchanged.
#[derive(Clone, Copy)]
struct Turned(bool);

impl Turned {
    fn at(self, x: i32, y: i32, z: i32) -> vk::Offset3D {
        let (x, y) = if self.0 { (y, x) } else { (x, y) };
        vk::Offset3D { x, y, z }
    }

    fn extent(self, width: u32, height: u32) -> vk::Extent3D {
        let (width, height) = if self.0 { (height, width) } else { (width, height) };
        vk::Extent3D { width, height, depth: 1 }
    }

    fn size(self, [width, height]: [u32; 2]) -> [u32; 2] {
        if self.0 { [height, width] } else { [width, height] }
    }
}

/// A clear, copies from rows and from another image, a blit that mirrors and filters, and a resolve, all across places
/// where textures end: 1667 and 3334 of 5000 if it is cut into three.
fn written(lab: &Lab<'_>, size: [u32; 2]) -> Result<Picture, Error> {
    let turned = Turned(size[1] > size[0]);
    let long =
        lab.image(&flat(size, BYTES, ONE, vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST))?;
    let source = lab.target(turned.size(SOURCE), BYTES, ONE)?;
    let samples = lab.target(turned.size([2000, 4]), BYTES, FOUR)?;
    let mut random = Random(7);
    let noise: Vec<u8> = (0..4 * 5000 * 40).map(|_| random.word() as u8).collect();
    let rows = lab.buffer(&noise, vk::BufferUsageFlags::TRANSFER_SRC)?;
    let layers = vk::ImageSubresourceLayers { aspect_mask: COLOR, layer_count: 1, ..Default::default() };
    // Rows with gaps, and rows that are as long as what is copied.
    let uploads = [(1600, 3, 100, 17, 130, 100), (100, 30, 3900, 3, 0, 7), (4990, 0, 10, 40, 0, 64)].map(
        |(x, y, width, height, gap, offset)| {
            let extent = turned.extent(width, height);
            vk::BufferImageCopy::default()
                .buffer_offset(4 * offset)
                .buffer_row_length(if gap == 0 { 0 } else { extent.width + gap })
                .image_subresource(layers)
                .image_offset(turned.at(x, y, 0))
                .image_extent(extent)
        },
    );
    let copy = vk::ImageCopy {
        src_subresource: layers,
        src_offset: turned.at(10, 5, 0),
        dst_subresource: layers,
        dst_offset: turned.at(3300, 2, 0),
        extent: turned.extent(80, 25),
    };
    let blit = vk::ImageBlit {
        src_subresource: layers,
        src_offsets: [turned.at(100, 3, 0), turned.at(201, 20, 1)],
        dst_subresource: layers,
        dst_offsets: [turned.at(1780, 20, 0), turned.at(1580, 29, 1)],
    };
    let resolve = vk::ImageResolve {
        src_subresource: layers,
        src_offset: turned.at(7, 1, 0),
        dst_subresource: layers,
        dst_offset: turned.at(1500, 34, 0),
        extent: turned.extent(1900, 3),
    };
    lab.run(|commands| {
        let range = [first_level(COLOR)];
        let clear = |image, float32| {
            let value = vk::ClearColorValue { float32 };
            // SAFETY: the images live as long as the lab.
            unsafe { lab.device.cmd_clear_color_image(commands, image, GENERAL, &value, &range) }
        };
        lab.to_general(commands, &[(long, COLOR), (source.image, COLOR), (samples.image, COLOR)]);
        clear(long, [1.0, 0.5, 0.25, 0.75]);
        clear(samples.image, GREEN);
        // SAFETY: the handles live as long as the lab; regions lie inside.
        unsafe {
            let texels = whole(source.size);
            lab.device.cmd_copy_buffer_to_image(commands, rows, source.image, GENERAL, &[texels]);
            lab.barrier(commands);
            lab.device.cmd_copy_buffer_to_image(commands, rows, long, GENERAL, &uploads);
            lab.barrier(commands);
            lab.device.cmd_copy_image(commands, source.image, GENERAL, long, GENERAL, &[copy]);
            lab.device.cmd_resolve_image(commands, samples.image, GENERAL, long, GENERAL, &[resolve]);
            let filter = vk::Filter::LINEAR;
            lab.device.cmd_blit_image(commands, source.image, GENERAL, long, GENERAL, &[blit], filter);
            lab.barrier(commands);
        }
    })?;
    fetched(lab, long, size)
}

/// All texels of an image, as a program fetches them.
fn fetched(lab: &Lab<'_>, image: vk::Image, size: [u32; 2]) -> Result<Picture, Error> {
    let ty = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
    let binding = vk::DescriptorSetLayoutBinding::default().descriptor_type(ty).descriptor_count(1);
    let set_layouts = [lab.set_layout(&[binding.stage_flags(vk::ShaderStageFlags::FRAGMENT)])?];
    let layout = lab.pipeline_layout(&vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts))?;
    let set = lab.set(set_layouts[0], &[vk::DescriptorPoolSize { ty, descriptor_count: 1 }])?;
    let sampler = lab.sampler(&vk::SamplerCreateInfo::default())?;
    let image_view = lab.view(image, BYTES, COLOR)?;
    let images = [vk::DescriptorImageInfo { sampler, image_view, image_layout: GENERAL }];
    let write = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(ty).image_info(&images);
    let result = lab.target(size, BYTES, ONE)?;
    let subpass = Subpass { color: Some(0), ..Subpass::default() };
    let pass = lab.pass(&[Attachment { format: BYTES, ..CLEAR_STORE }], &[subpass])?;
    let framebuffer = lab.framebuffer(pass, &[result], size)?;
    let fragment = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/fetched.frag.spv"));
    let state = Pipeline { fragment, layout: Some(layout), ..Pipeline::default() };
    let pipeline = lab.pipeline(pass, size, &state)?;
    let everywhere = rectangle([-1.0, -1.0, 1.0, 1.0], 0.5, GREEN);
    let vertices = lab.vertices(&everywhere)?;
    lab.run(|commands| {
        // SAFETY: the handles live as long as the lab, the set is not in use.
        unsafe {
            lab.device.update_descriptor_sets(&[write], &[]);
            lab.begin(commands, pass, framebuffer, area(size), &[color(GREEN)]);
            let point = vk::PipelineBindPoint::GRAPHICS;
            lab.device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]);
            lab.draw(commands, pipeline, vertices, everywhere.len() as u32);
            lab.device.cmd_end_render_pass(commands);
        }
    })?;
    lab.picture(&result)
}
