//! Clearing, drawing and blending on every kind of colour attachment.

use ash::vk;

use super::basic::colored;
use crate::scene::{Draw, Scene};

/// A name, a format.
const FORMATS: [(&str, vk::Format); 9] = [
    ("bgra8_blend", vk::Format::B8G8R8A8_UNORM),
    ("rgba8_srgb_blend", vk::Format::R8G8B8A8_SRGB),
    ("bgra8_srgb_blend", vk::Format::B8G8R8A8_SRGB),
    ("a2b10g10r10_blend", vk::Format::A2B10G10R10_UNORM_PACK32),
    ("rg16f_blend", vk::Format::R16G16_SFLOAT),
    ("r16f_blend", vk::Format::R16_SFLOAT),
    ("r8_blend", vk::Format::R8_UNORM),
    ("rg8_blend", vk::Format::R8G8_UNORM),
    ("r5g6b5_add", vk::Format::R5G6B5_UNORM_PACK16),
];

/// One scene per format.
pub fn scenes() -> Vec<Scene> {
    FORMATS.iter().map(|&(name, format)| scene(name, format)).collect()
}

fn blend(src: vk::BlendFactor, dst: vk::BlendFactor) -> vk::PipelineColorBlendAttachmentState {
    vk::PipelineColorBlendAttachmentState::default()
        .color_write_mask(vk::ColorComponentFlags::RGBA)
        .blend_enable(true)
        .src_color_blend_factor(src)
        .dst_color_blend_factor(dst)
        .src_alpha_blend_factor(vk::BlendFactor::ONE)
        .dst_alpha_blend_factor(vk::BlendFactor::ONE_MINUS_SRC_ALPHA)
}

fn triangle(corners: [[f32; 2]; 3], colors: [[f32; 4]; 3]) -> Draw {
    let vertices: Vec<f32> = corners
        .iter()
        .zip(colors)
        .flat_map(|(at, color)| [at[0], at[1], 0.0].into_iter().chain(color))
        .collect();
    colored(&vertices)
}

/// Two triangles over each other and over the cleared background.
fn scene(name: &str, format: vk::Format) -> Scene {
    let left = [[-0.91, -0.83], [0.71, 0.07], [-0.87, 0.89]];
    let right = [[0.93, -0.79], [-0.73, 0.03], [0.87, 0.83]];
    // Drivers may round 5 and 6 bits as they like: numbers that need no rounding.
    let exact = |r: u32, g: u32, b: u32| [r as f32 / 31.0, g as f32 / 63.0, b as f32 / 31.0, 1.0];
    let (colors, blend, clear) = match format {
        vk::Format::R5G6B5_UNORM_PACK16 => (
            [[exact(8, 16, 24); 3], [exact(7, 40, 3); 3]],
            blend(vk::BlendFactor::ONE, vk::BlendFactor::ONE),
            exact(1, 2, 3),
        ),
        _ => (
            [
                [[1.0, 0.1, 0.05, 0.9], [0.1, 0.8, 0.1, 0.5], [0.02, 0.2, 1.0, 0.3]],
                [[0.9, 0.9, 0.1, 0.2], [0.1, 0.7, 0.9, 1.0], [0.6, 0.01, 0.4, 0.6]],
            ],
            blend(vk::BlendFactor::SRC_ALPHA, vk::BlendFactor::ONE_MINUS_SRC_ALPHA),
            [0.25, 0.05, 0.6, 1.0],
        ),
    };
    Scene {
        name: name.into(),
        size: [150, 110],
        clear,
        format,
        blend: Some(blend),
        draws: vec![triangle(left, colors[0]), triangle(right, colors[1])],
        ..Scene::default()
    }
}
