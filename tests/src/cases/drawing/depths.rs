//! Depths that are moved: beyond the near and the far plane clamped or clipped, or by a bias, no further than a clamp.

use ash::vk;

use super::case::{Case, around, exact, lined};
use super::draws::{self, Canvas};
use crate::picture::Picture;
use crate::vulkan::{Attachment, CLEAR_STORE, Error, Lab, Pipeline, Subpass, Vertex, area, color, depth};

/// The programs. Where surfaces meet, the pixel is a matter of depths' last bits.
pub const CASES: [Case; 14] = [
    around("depth-clamp", 0.002, |lab| draw(lab, &clamped(), [0.0, 1.0])),
    around("depth-clamp-range", 0.002, |lab| draw(lab, &clamped(), [0.75, 0.25])),
    around("depth-clamp-bias", 0.002, |lab| draw(lab, &biased([9.0, 0.0, 1.5]), [0.0, 1.0])),
    around("depth-clamp-samples", 0.02, |lab| {
        draw(lab, &Pipeline { samples: FOUR, ..biased([-5.0, 0.0, -0.5]) }, [0.0, 1.0])
    }),
    // What the clipper makes has depths of its own.
    around("depth-clip-range", 0.002, |lab| {
        draw(lab, &Pipeline { depth_clamp: false, ..clamped() }, [0.75, 0.25])
    }),
    around("depth-unclipped", 0.002, |lab| draw(lab, &unclipped(), [0.0, 1.0])),
    around("depth-unclipped-range", 0.002, |lab| draw(lab, &unclipped(), [0.75, 0.25])),
    around("depth-clipped-and-clamped", 0.002, |lab| {
        draw(lab, &Pipeline { depth_clip: Some(true), ..clamped() }, [0.75, 0.25])
    }),
    exact("depth-bias-units", bias_units),
    exact("depth-bias-slope", bias_slope),
    // Unmoved: lavapipe clamps moved depths of edges at their ends.
    lined("depth-clamp-lines", 0.03, |lab| {
        let polygon_mode = vk::PolygonMode::LINE;
        draw(lab, &Pipeline { polygon_mode, line_width: 5.0, ..clamped() }, [0.0, 1.0])
    }),
    around("depth-bias-clamp", 0.002, |lab| draw(lab, &clipped([0.0, 0.02, 4.0]), [0.0, 1.0])),
    around("depth-bias-clamp-samples", 0.015, |lab| {
        draw(lab, &Pipeline { samples: FOUR, ..clipped([0.0, -0.01, -5.0]) }, [0.125, 0.75])
    }),
    around("depth-bias-clamp-commands", 0.002, by_commands),
];

const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;
const FOUR: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;
const SIZE: [u32; 2] = [160, 120];
const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;

fn clamped() -> Pipeline {
    Pipeline {
        vertex: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/perspective.vert.spv")),
        depth: Some(vk::CompareOp::LESS),
        depth_clamp: true,
        ..Pipeline::default()
    }
}

/// Neither clipped nor clamped to the viewport's range.
fn unclipped() -> Pipeline {
    Pipeline { depth_clamp: false, depth_clip: Some(false), ..clamped() }
}

fn clipped(bias: [f32; 3]) -> Pipeline {
    Pipeline { depth_clamp: false, ..biased(bias) }
}

fn biased(bias: [f32; 3]) -> Pipeline {
    Pipeline { bias: Some(bias), ..clamped() }
}

/// A triangle from before the near plane to behind the far one; one that reaches beyond the screen, too; and one at the near
/// plane, which is hidden by all that was clamped to it. Alpha is W.
#[rustfmt::skip]
const TRIANGLES: [Vertex; 9] = [
    [-0.9, 0.9, -0.7, 1.0, 0.0, 0.0, 0.5],
    [0.9, 0.8, 0.6, 0.0, 1.0, 0.0, 2.0],
    [0.1, -0.9, 1.8, 0.0, 0.0, 1.0, 1.0],
    [-1.9, -0.3, 1.4, 1.0, 1.0, 0.0, 1.5],
    [1.8, -0.7, -0.5, 0.0, 1.0, 1.0, 0.75],
    [0.3, 1.7, 0.4, 1.0, 0.0, 1.0, 1.0],
    [-0.8, -0.8, 0.0, 1.0, 1.0, 1.0, 1.0],
    [0.7, -0.6, 0.0, 0.5, 0.5, 0.5, 1.0],
    [-0.5, 0.95, 0.0, 0.25, 0.75, 0.5, 1.0],
];

fn draw(lab: &Lab<'_>, state: &Pipeline, [min_depth, max_depth]: [f32; 2]) -> Result<Picture, Error> {
    let (samples, depth_format) = (state.samples, lab.depth_stencil_format());
    let (drawn, result) = (lab.target(SIZE, FORMAT, samples)?, lab.target(SIZE, FORMAT, ONE)?);
    let of = |format, samples| Attachment { format, samples, ..CLEAR_STORE };
    let attachments = [of(FORMAT, samples), of(depth_format, samples), of(FORMAT, ONE)];
    let resolve = (samples == FOUR).then_some(2);
    let subpass = Subpass { color: Some(0), resolve, depth: Some(1), ..Subpass::default() };
    let pass = lab.pass(&attachments, &[subpass])?;
    let framebuffer =
        lab.framebuffer(pass, &[drawn, lab.target(SIZE, depth_format, samples)?, result], SIZE)?;
    let pipeline = lab.dynamic_pipeline(pass, state)?;
    let (buffer, count) = (lab.vertices(&TRIANGLES)?, TRIANGLES.len() as u32);
    let [width, height] = SIZE.map(|edge| edge as f32);
    lab.run(|commands| {
        // SAFETY: the handles live as long as the lab.
        unsafe {
            let viewport = vk::Viewport { x: 0.0, y: 0.0, width, height, min_depth, max_depth };
            lab.device.cmd_set_viewport(commands, 0, &[viewport]);
            lab.device.cmd_set_scissor(commands, 0, &[area(SIZE)]);
            let grey = color([0.25, 0.25, 0.25, 1.0]);
            lab.begin(commands, pass, framebuffer, area(SIZE), &[grey, depth(1.0, 0), grey]);
            lab.draw(commands, pipeline, buffer, count);
            lab.device.cmd_end_render_pass(commands);
        }
    })?;
    lab.picture(if samples == FOUR { &result } else { &drawn })
}

/// Strips side by side, all of them over the whole height.
const STRIPS: u32 = 16;

/// Draws strips whose depth is `depth` of a strip's number and a place from 0 to 1, then white planes in front where their
/// biases let them.
fn strips(
    lab: &Lab<'_>,
    depth: impl Fn(f32, [f32; 2]) -> f32,
    planes: [(f32, [f32; 3]); 2],
) -> Result<Picture, Error> {
    let canvas = Canvas::new(lab, true)?;
    let pipeline = |bias| {
        let state = Pipeline { depth: Some(vk::CompareOp::LESS), bias, ..Pipeline::default() };
        lab.pipeline(canvas.pass, draws::SIZE, &state)
    };
    let plain = pipeline(None)?;
    let [upper, lower] = [pipeline(Some(planes[0].1))?, pipeline(Some(planes[1].1))?];
    let quad = |strip: f32, [left, right]: [f32; 2], [top, bottom]: [f32; 2], shade: f32| {
        let corner = |x: f32, y: f32| {
            let z = depth(strip, [x, y]);
            [2.0 * x - 1.0, 2.0 * y - 1.0, z, shade, strip / STRIPS as f32, shade, 1.0]
        };
        [(left, top), (right, top), (left, bottom), (left, bottom), (right, top), (right, bottom)]
            .map(|(x, y)| corner(x, y))
    };
    let edge = |n: u32| n as f32 / STRIPS as f32;
    let mut vertices: Vec<Vertex> =
        (0..STRIPS).flat_map(|n| quad(n as f32, [edge(n), edge(n + 1)], [0.0, 1.0], 0.2)).collect();
    let first = vertices.len() as u32;
    for ((strip, _), rows) in planes.into_iter().zip([[0.0, 0.5], [0.5, 1.0]]) {
        vertices.extend(quad(strip, [0.0, 1.0], rows, 1.0));
    }
    let vertices = lab.vertices(&vertices)?;
    canvas.draw(lab, |commands| {
        lab.draw(commands, plain, vertices, first);
        // SAFETY: the handles live as long as the lab.
        unsafe {
            for (pipeline, first) in [(upper, first), (lower, first + 6)] {
                lab.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
                lab.device.cmd_draw(commands, 6, 1, first, 0);
            }
        }
    })
}

/// Strips 64 steps of a 24-bit buffer apart, and biases that end between two of them whether a unit is a step or, as lavapipe
/// and Vulkan have it, two.
fn bias_units(lab: &Lab<'_>) -> Result<Picture, Error> {
    let step = 64.0 / 16_777_216.0;
    strips(lab, |strip, _| 0.25 + strip * step, [(0.0, [20.0, 0.0, 0.0]), (15.0, [-20.0, 0.0, 0.0])])
}

/// Planes that lean both ways, and biases by their slope.
fn bias_slope(lab: &Lab<'_>) -> Result<Picture, Error> {
    let plane = |strip, [x, y]: [f32; 2]| 0.3 + 0.2 * x + 0.2 * y + 0.003 * strip;
    strips(lab, plane, [(0.0, [0.0, 0.0, 8.0]), (15.0, [0.0, 0.0, -8.0])])
}

/// Each triangle with a bias that a command sets: with a clamp, without, and with another one.
fn by_commands(lab: &Lab<'_>) -> Result<Picture, Error> {
    let canvas = Canvas::new(lab, true)?;
    let pipeline = lab.switched_pipeline(canvas.pass, &[vk::DynamicState::DEPTH_BIAS], &clipped([0.0; 3]))?;
    let buffer = lab.vertices(&TRIANGLES)?;
    let [width, height] = draws::SIZE.map(|edge| edge as f32);
    canvas.draw(lab, |commands| {
        let viewport = vk::Viewport { x: 0.0, y: 0.0, width, height, min_depth: 0.0, max_depth: 1.0 };
        // SAFETY: the command buffer is being recorded, the handles live as long as the lab.
        unsafe {
            lab.switches().0.cmd_set_viewport_with_count(commands, &[viewport]);
            lab.switches().0.cmd_set_scissor_with_count(commands, &[area(draws::SIZE)]);
            lab.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            lab.device.cmd_bind_vertex_buffers(commands, 0, &[buffer], &[0]);
            for (first, clamp) in [(0, 0.01), (3, 0.0), (6, 0.05)] {
                lab.device.cmd_set_depth_bias(commands, 0.0, clamp, 6.0);
                lab.device.cmd_draw(commands, 3, 1, first, 0);
            }
        }
    })
}
