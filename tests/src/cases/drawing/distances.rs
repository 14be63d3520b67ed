//! Clip and cull distances.

use ash::vk;

use super::case::{Case, around, exact, lined};
use super::draws::{Canvas, SIZE};
use super::multisample::Resolved;
use crate::picture::Picture;
use crate::vulkan::{Error, Lab, Pipeline, Vertex, area, color, rectangle};

/// The programs.
pub const CASES: [Case; 7] = [
    // Distances are interpolated: pixels on the planes may lie on either side.
    around("clip-triangles", 0.002, clip),
    around("clip-samples", 0.02, clip_samples),
    around("cull-triangles", 0.002, cull_triangles),
    lined("cull-lines", 0.06, cull_lines),
    exact("cull-points", cull_points),
    exact("clip-wide-lines-beside", wide_lines_beside),
    lined("clip-wide-lines", 0.02, wide_lines),
];

fn clipping() -> Pipeline {
    Pipeline {
        vertex: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/clip.vert.spv")),
        fragment: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/clip.frag.spv")),
        ..Pipeline::default()
    }
}

/// Rectangles over both planes, one of them in perspective.
fn large() -> Vec<Vertex> {
    let mut vertices = rectangle([-0.9, -0.9, 0.4, 0.95], 0.25, [0.25, 1.0, 0.0, 1.0]);
    let mut steep = rectangle([-0.2, -0.4, 0.95, 0.9], 0.0, [0.5, 0.0, 0.0, 1.0]);
    steep.iter_mut().for_each(|vertex| vertex[2] = 0.4 + 0.4 * vertex[0]);
    vertices.extend(steep);
    vertices
}

fn clip(lab: &Lab<'_>) -> Result<Picture, Error> {
    let canvas = Canvas::new(lab, false)?;
    let pipeline = lab.pipeline(canvas.pass, SIZE, &clipping())?;
    let vertices = lab.vertices(&large())?;
    canvas.draw(lab, |commands| lab.draw(commands, pipeline, vertices, 12))
}

fn clip_samples(lab: &Lab<'_>) -> Result<Picture, Error> {
    let resolved = Resolved::new(lab, vk::Format::R8G8B8A8_UNORM, false)?;
    let samples = vk::SampleCountFlags::TYPE_4;
    let state = Pipeline { samples, ..clipping() };
    let size = super::multisample::SIZE;
    let pipeline = lab.pipeline(resolved.pass, size, &state)?;
    let vertices = lab.vertices(&large())?;
    lab.run(|commands| {
        let grey = color([0.25, 0.25, 0.25, 1.0]);
        lab.begin(commands, resolved.pass, resolved.framebuffer, area(size), &[grey, grey]);
        lab.draw(commands, pipeline, vertices, 12);
        // SAFETY: the handles live as long as the lab.
        unsafe { lab.device.cmd_end_render_pass(commands) };
    })?;
    lab.picture(&resolved.result)
}

/// A zigzag whose vertices have negative distances of either kind, alone, in pairs and in threes.
fn cull(lab: &Lab<'_>, topology: vk::PrimitiveTopology) -> Result<Picture, Error> {
    let canvas = Canvas::new(lab, false)?;
    let state = Pipeline {
        vertex: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/cull.vert.spv")),
        topology,
        line_width: 5.0,
        ..Pipeline::default()
    };
    let pipeline = lab.pipeline(canvas.pass, SIZE, &state)?;
    let negative = [0b00, 0b01, 0b01, 0b00, 0b01, 0b01, 0b01, 0b11, 0b10, 0b10, 0b00, 0b10, 0b01, 0b00, 0b00];
    let vertex = |(n, negative): (u32, u32)| {
        let (x, y) = (-0.55 + 0.1 * n as f32, -0.6 + 0.6 * (n % 2) as f32 + 0.01 * n as f32);
        let (first, second) = (negative & 1 != 0, negative & 2 != 0);
        let (r, a) = (if second { 1.0 } else { 0.0 }, if first { 0.0 } else { 1.0 });
        [x, y, 0.0, r, (n % 4) as f32 / 3.0, 0.0, a]
    };
    let vertices: Vec<Vertex> = (0..).zip(negative).map(vertex).collect();
    let count = vertices.len() as u32;
    let vertices = lab.vertices(&vertices)?;
    canvas.draw(lab, |commands| lab.draw(commands, pipeline, vertices, count))
}

fn cull_triangles(lab: &Lab<'_>) -> Result<Picture, Error> {
    cull(lab, vk::PrimitiveTopology::TRIANGLE_STRIP)
}

fn cull_lines(lab: &Lab<'_>) -> Result<Picture, Error> {
    cull(lab, vk::PrimitiveTopology::LINE_STRIP)
}

fn cull_points(lab: &Lab<'_>) -> Result<Picture, Error> {
    cull(lab, vk::PrimitiveTopology::POINT_LIST)
}

/// Lines of 24 pixels.
fn wide(lab: &Lab<'_>, ends: &[[f32; 2]]) -> Result<Picture, Error> {
    let canvas = Canvas::new(lab, false)?;
    let state =
        Pipeline { topology: vk::PrimitiveTopology::LINE_LIST, line_width: 24.0, ..Pipeline::default() };
    let pipeline = lab.pipeline(canvas.pass, SIZE, &state)?;
    let vertex = |&[x, y]: &[f32; 2]| [x, y, 0.5, 1.0, 0.25 + 0.5 * x.abs().min(1.0), 0.5, 1.0];
    let vertices: Vec<Vertex> = ends.iter().map(vertex).collect();
    let vertices = lab.vertices(&vertices)?;
    canvas.draw(lab, |commands| lab.draw(commands, pipeline, vertices, ends.len() as u32))
}

/// Lines whose middle passes the viewport's sides and corners, and whose width would reach in: nothing is drawn.
fn wide_lines_beside(lab: &Lab<'_>) -> Result<Picture, Error> {
    let (side, far) = (1.02, 2.04);
    wide(
        lab,
        &[
            [[-side, -0.9], [-side, 0.9]],
            [[-0.9, side], [0.9, side]],
            [[-far, 0.0], [0.0, -far]],
            [[0.0, -far], [far, 0.0]],
            [[far, 0.0], [0.0, far]],
            [[0.0, far], [-far, 0.0]],
        ]
        .concat(),
    )
}

/// Lines along the viewport's sides, of which the inner half is seen, and lines that enter and leave it.
fn wide_lines(lab: &Lab<'_>) -> Result<Picture, Error> {
    wide(
        lab,
        &[
            [[-1.0, -0.8], [-1.0, 0.8]],
            [[-0.7, 1.0], [0.7, 1.0]],
            [[-0.5, -1.5], [-0.5, 0.2]],
            [[0.2, -0.4], [1.8, -0.4]],
        ]
        .concat(),
    )
}
