//! An invocation of the fragment stage for each sample, and inputs at places of the pixel.

use ash::vk;

use super::case::{Case, around, exact};
use super::draws::{Canvas, SIZE};
use super::multisample::Resolved;
use crate::picture::Picture;
use crate::vulkan::{Error, Lab, Pipeline, Vertex, area, color, rectangle};

/// The programs. Sample positions are the device's choice: pixels of edges differ.
pub const CASES: [Case; 4] = [
    around("sample-number", 0.04, number),
    around("sample-shading", 0.02, shading),
    around("sample-interpolation", 0.02, interpolation),
    exact("sample-interpolation-one", interpolation_one),
];

const NUMBERED: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/per_sample.frag.spv"));
const MOVED: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/interpolate.frag.spv"));

fn slope(alpha: f32, [left, top, right, bottom]: [f32; 4]) -> Vec<Vertex> {
    let mut vertices = rectangle([left, top, right, bottom], 0.5, [0.0, 0.0, 0.0, alpha]);
    for vertex in &mut vertices {
        let [x, y] = [vertex[0], vertex[1]];
        vertex[3..6].copy_from_slice(&[0.4 + 0.2 * x - 0.3 * y, 0.5 + 0.4 * y, 0.5 - 0.4 * x]);
    }
    vertices
}

/// Rectangles in columns, each of one alpha, on a target of four samples.
fn columns(lab: &Lab<'_>, state: Pipeline) -> Result<Picture, Error> {
    let resolved = Resolved::new(lab, vk::Format::R8G8B8A8_UNORM, false)?;
    let state = Pipeline { samples: vk::SampleCountFlags::TYPE_4, ..state };
    let size = super::multisample::SIZE;
    let pipeline = lab.pipeline(resolved.pass, size, &state)?;
    let vertices: Vec<Vertex> = (0..5)
        .flat_map(|n| {
            let left = -0.92 + 0.37 * n as f32;
            slope(0.2 * n as f32, [left, -0.8, left + 0.3, 0.8])
        })
        .collect();
    let count = vertices.len() as u32;
    let vertices = lab.vertices(&vertices)?;
    lab.run(|commands| {
        let grey = color([0.25, 0.25, 0.25, 1.0]);
        lab.begin(commands, resolved.pass, resolved.framebuffer, area(size), &[grey, grey]);
        lab.draw(commands, pipeline, vertices, count);
        // SAFETY: the handles live as long as the lab.
        unsafe { lab.device.cmd_end_render_pass(commands) };
    })?;
    lab.picture(&resolved.result)
}

/// What programs read makes them run per sample.
fn number(lab: &Lab<'_>) -> Result<Picture, Error> {
    columns(lab, Pipeline { fragment: NUMBERED, ..Pipeline::default() })
}

/// The pipeline makes them, blended.
fn shading(lab: &Lab<'_>) -> Result<Picture, Error> {
    let blend = vk::PipelineColorBlendAttachmentState::default()
        .blend_enable(true)
        .src_color_blend_factor(vk::BlendFactor::SRC_ALPHA)
        .dst_color_blend_factor(vk::BlendFactor::ONE_MINUS_SRC_ALPHA)
        .src_alpha_blend_factor(vk::BlendFactor::ONE)
        .dst_alpha_blend_factor(vk::BlendFactor::ZERO)
        .color_write_mask(vk::ColorComponentFlags::RGBA);
    columns(lab, Pipeline { sample_shading: Some(1.0), blend, ..Pipeline::default() })
}

fn interpolation(lab: &Lab<'_>) -> Result<Picture, Error> {
    columns(lab, Pipeline { fragment: MOVED, ..Pipeline::default() })
}

/// The only sample lies in the middle.
fn interpolation_one(lab: &Lab<'_>) -> Result<Picture, Error> {
    let canvas = Canvas::new(lab, false)?;
    let pipeline = lab.pipeline(canvas.pass, SIZE, &Pipeline { fragment: MOVED, ..Pipeline::default() })?;
    let vertices = lab.vertices(&slope(1.0, [-0.8, -0.7, 0.9, 0.6]))?;
    canvas.draw(lab, |commands| lab.draw(commands, pipeline, vertices, 6))
}
