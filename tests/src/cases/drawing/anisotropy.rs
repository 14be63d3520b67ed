//! Samplers that look along what a pixel covers: a floor whose stripes stay visible far away.

use std::f32::consts::TAU;

use ash::vk;

use super::case::Case;
use super::draws::{Canvas, SIZE};
use crate::picture::Picture;
use crate::vulkan::{Error, Lab, Pipeline, flat};

/// The programs. How many samples a pixel takes, and how they are weighed, is the driver's choice; waves as long as these are
/// much the same to all that look along the floor, and grey far away to those that do not: without anisotropy more than 0.3 of
/// the pixels differ, of the biased picture 0.65.
pub const CASES: [Case; 6] = [
    floor("anisotropy", 0.23, |lab| draw(lab, &PLAIN)),
    floor("anisotropy-turned", 0.23, |lab| draw(lab, &Floor { turn: 0.6, ..PLAIN })),
    floor("anisotropy-biased", 0.5, |lab| draw(lab, &Floor { mode: BIAS, ..PLAIN })),
    floor("anisotropy-gradients", 0.23, |lab| draw(lab, &Floor { turn: 0.3, mode: GRADIENTS, ..PLAIN })),
    floor("anisotropy-nowhere", 0.23, |lab| draw(lab, &Floor { mode: NOWHERE, ..PLAIN })),
    // Filtered by the program.
    floor("anisotropy-floats", 0.23, |lab| {
        draw(lab, &Floor { limit: 8.0, format: vk::Format::R16G16B16A16_SFLOAT, ..PLAIN })
    }),
];

const fn floor(name: &'static str, differing: f64, run: fn(&Lab<'_>) -> Result<Picture, Error>) -> Case {
    Case { name, differing, inside: 32, run }
}

/// Values of the fragment shader's MODE.
const BIAS: u32 = 1;
const GRADIENTS: u32 = 2;
const NOWHERE: u32 = 3;

const EDGE: u32 = 128;
const LEVELS: u32 = 8;
const PLAIN: Floor = Floor { limit: 16.0, turn: 0.0, mode: 0, format: vk::Format::R8G8B8A8_UNORM };

/// What is drawn.
struct Floor {
    limit: f32,
    turn: f32,
    mode: u32,
    format: vk::Format,
}

/// Texels of all levels, each the average of four of the level before, as red to alpha in 0..1.
fn levels() -> Vec<Vec<[f32; 4]>> {
    let wave = |n: u32, period: f32| 0.5 + 0.45 * (TAU * (n as f32 + 0.5) / period).sin();
    let texel = |n: u32| [wave(n % EDGE, 32.0), wave(n / EDGE, 64.0), 0.25, 1.0];
    let mut levels = vec![(0..EDGE * EDGE).map(texel).collect::<Vec<_>>()];
    for level in 1..LEVELS {
        let (edge, finer) = (EDGE >> level, &levels[level as usize - 1]);
        let average = |n: u32| {
            let first = (2 * (n / edge) * 2 * edge + 2 * (n % edge)) as usize;
            let below = first + 2 * edge as usize;
            std::array::from_fn(|c| {
                [first, first + 1, below, below + 1].map(|at| finer[at][c]).iter().sum::<f32>() / 4.0
            })
        };
        let texels = (0..edge * edge).map(average).collect();
        levels.push(texels);
    }
    levels
}

fn bytes(format: vk::Format, texel: [f32; 4]) -> Vec<u8> {
    match format {
        vk::Format::R16G16B16A16_SFLOAT => {
            texel.iter().flat_map(|&c| half::f16::from_f32(c).to_le_bytes()).collect()
        }
        _ => texel.map(|c| (c * 255.0).round() as u8).to_vec(),
    }
}

fn texture(lab: &Lab<'_>, format: vk::Format) -> Result<vk::ImageView, Error> {
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
    let create = flat([EDGE; 2], format, vk::SampleCountFlags::TYPE_1, usage).mip_levels(LEVELS);
    let image = lab.image(&create)?;
    let all = vk::ImageSubresourceRange { level_count: LEVELS, ..crate::vulkan::first_level(COLOR) };
    let (mut texels, mut regions) = (Vec::new(), Vec::new());
    for (level, of_level) in (0..).zip(levels()) {
        let mut region = crate::vulkan::whole([EDGE >> level; 2]).buffer_offset(texels.len() as u64);
        region.image_subresource.mip_level = level;
        regions.push(region);
        texels.extend(of_level.into_iter().flat_map(|texel| bytes(format, texel)));
    }
    lab.upload(image, all, &texels, &regions, READ)?;
    let view = vk::ImageViewCreateInfo::default()
        .image(image)
        .view_type(vk::ImageViewType::TYPE_2D)
        .format(format)
        .subresource_range(all);
    lab.image_view(&view)
}

const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;
const READ: vk::ImageLayout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;

fn draw(lab: &Lab<'_>, floor: &Floor) -> Result<Picture, Error> {
    let sampler = vk::SamplerCreateInfo::default()
        .mag_filter(vk::Filter::LINEAR)
        .min_filter(vk::Filter::LINEAR)
        .mipmap_mode(vk::SamplerMipmapMode::LINEAR)
        .anisotropy_enable(true)
        .max_anisotropy(floor.limit)
        .max_lod(LEVELS as f32);
    let ty = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
    let binding = vk::DescriptorSetLayoutBinding::default().descriptor_type(ty).descriptor_count(1);
    let set_layouts = [lab.set_layout(&[binding.stage_flags(vk::ShaderStageFlags::FRAGMENT)])?];
    let layout = lab.pipeline_layout(&vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts))?;
    let set = lab.set(set_layouts[0], &[vk::DescriptorPoolSize { ty, descriptor_count: 1 }])?;
    let image_view = texture(lab, floor.format)?;
    let images =
        [vk::DescriptorImageInfo { sampler: lab.sampler(&sampler)?, image_view, image_layout: READ }];
    let write = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(ty).image_info(&images);
    let canvas = Canvas::new(lab, false)?;
    let state = Pipeline {
        fragment: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/floor.frag.spv")),
        specialization: vec![(0, floor.mode), (1, floor.turn.to_bits())],
        layout: Some(layout),
        ..Pipeline::default()
    };
    let pipeline = lab.pipeline(canvas.pass, SIZE, &state)?;
    let corner = |x: f32, y: f32| [x, y, 0.0, 1.0, 1.0, 1.0, 1.0];
    let vertices = lab.vertices(&[corner(-1.0, -1.0), corner(3.0, -1.0), corner(-1.0, 3.0)])?;
    canvas.draw(lab, |commands| {
        let point = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: the handles live as long as the lab, the set is not in use.
        unsafe {
            lab.device.update_descriptor_sets(&[write], &[]);
            lab.device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]);
        }
        lab.draw(commands, pipeline, vertices, 3);
    })
}
