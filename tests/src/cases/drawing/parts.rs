//! Targets that are larger than the machine's raster, which are drawn in parts (T-BIG).

use ash::vk;

use super::case::{Case, around, exact, lined};
use crate::picture::Picture;
use crate::vulkan::{
    Attachment, CLEAR_STORE, Error, Lab, Pipeline, Subpass, Vertex, area, color, depth, rectangle,
};

/// The programs.
pub const CASES: [Case; 15] = [
    around("parts-place", 0.0005, place),
    around("parts-samples", 0.003, samples),
    exact("parts-points", points),
    lined("parts-lines", 0.01, lines),
    exact("parts-inputs", |lab| inputs(lab, WIDE)),
    exact("parts-own", |lab| own(lab, WIDE, BYTES)),
    exact("parts-own-wide", |lab| own(lab, WIDE, vk::Format::R16G16B16A16_UNORM)),
    exact("parts-area", |lab| partial_area(lab, WIDE, [1003, 3204])),
    // Edges leave through a side almost along it, where no pixel beside them tells that they are some.
    lined("panels-place", 0.001, |lab| draw(lab, PANELS, &TRIANGLES, &placed(), area(PANELS))),
    lined("panels-high", 0.0005, |lab| draw(lab, TOWER, &TRIANGLES, &placed(), area(TOWER))),
    around("panels-samples", 0.006, |lab| four(lab, [4500, 300])),
    exact("panels-inputs", |lab| inputs(lab, PANELS)),
    exact("panels-own", |lab| own(lab, PANELS, BYTES)),
    exact("panels-own-wide", |lab| own(lab, PANELS, vk::Format::R16G16B16A16_UNORM)),
    exact("panels-area", |lab| partial_area(lab, PANELS, [3003, 6777])),
];

const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;
const FOUR: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;
const BYTES: vk::Format = vk::Format::R8G8B8A8_UNORM;
/// Larger than a part in both directions, and no multiple of tiles.
const LARGE: [u32; 2] = [2150, 2090];
/// What four samples of a pixel leave room for in the memory of a board.
const BROAD: [u32; 2] = [2150, 300];
const WIDE: [u32; 2] = [4096, 70];
const HIGH: [u32; 2] = [70, 4090];
/// Wider than a surface, so that columns lie in panels; and higher.
const PANELS: [u32; 2] = [8190, 40];
const TOWER: [u32; 2] = [300, 8190];
const GREY: [f32; 4] = [0.25, 0.25, 0.25, 1.0];

macro_rules! shader {
    ($name:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $name, ".spv"))
    };
}

/// One triangle behind, one in front; their edges go through all parts.
#[rustfmt::skip]
const TRIANGLES: [Vertex; 6] = [
    [-1.2, 0.9, 0.2, 1.0, 0.0, 0.0, 1.0],
    [1.1, 1.3, 0.7, 0.0, 1.0, 0.0, 0.5],
    [0.93, -0.97, 0.9, 0.0, 0.0, 1.0, 0.25],
    [-0.9, -0.99, 0.9, 1.0, 1.0, 0.0, 1.0],
    [0.98, 0.2, 0.6, 0.0, 1.0, 1.0, 0.75],
    [-0.2, 0.99, 0.1, 1.0, 0.0, 1.0, 0.5],
];

/// A colour, perhaps depth, drawn to in one subpass.
fn draw(
    lab: &Lab<'_>,
    size: [u32; 2],
    vertices: &[Vertex],
    state: &Pipeline,
    rect: vk::Rect2D,
) -> Result<Picture, Error> {
    let samples = state.samples;
    let (resolved, with_depth) = (samples == FOUR, state.depth.is_some());
    let result = lab.target(size, BYTES, ONE)?;
    let mut targets = vec![result];
    let mut attachments = vec![Attachment { format: BYTES, ..CLEAR_STORE }];
    if resolved {
        targets.insert(0, lab.target(size, BYTES, samples)?);
        attachments.insert(0, Attachment { format: BYTES, samples, ..CLEAR_STORE });
    }
    if with_depth {
        let format = lab.depth_stencil_format();
        targets.push(lab.target(size, format, samples)?);
        attachments.push(Attachment { format, samples, ..CLEAR_STORE });
    }
    let subpass = Subpass {
        color: Some(0),
        resolve: resolved.then_some(1),
        depth: with_depth.then_some(attachments.len() as u32 - 1),
        ..Subpass::default()
    };
    let pass = lab.pass(&attachments, &[subpass])?;
    let framebuffer = lab.framebuffer(pass, &targets, size)?;
    let pipeline = lab.pipeline(pass, size, state)?;
    let (buffer, count) = (lab.vertices(vertices)?, vertices.len() as u32);
    let mut clears = vec![color(GREY); targets.len()];
    if let Some(last) = clears.last_mut().filter(|_| with_depth) {
        *last = depth(1.0, 0);
    }
    lab.run(|commands| {
        // SAFETY: the handles live as long as the lab.
        unsafe {
            if rect != area(size) {
                // What lies outside of the render area stays.
                let general = vk::ImageLayout::GENERAL;
                let value = vk::ClearColorValue { float32: [0.5, 0.25, 0.75, 1.0] };
                let range = crate::vulkan::first_level(vk::ImageAspectFlags::COLOR);
                lab.device.cmd_clear_color_image(commands, result.image, general, &value, &[range]);
                lab.barrier(commands);
            }
            lab.begin(commands, pass, framebuffer, rect, &clears);
            lab.draw(commands, pipeline, buffer, count);
            lab.device.cmd_end_render_pass(commands);
        }
    })?;
    lab.picture(&result)
}

fn placed() -> Pipeline {
    let fragment = shader!("parts.frag");
    Pipeline { fragment, depth: Some(vk::CompareOp::LESS), ..Pipeline::default() }
}

/// Fragments know where in the whole they are; depth is tested.
fn place(lab: &Lab<'_>) -> Result<Picture, Error> {
    draw(lab, LARGE, &TRIANGLES, &placed(), area(LARGE))
}

/// Four samples, resolved.
fn samples(lab: &Lab<'_>) -> Result<Picture, Error> {
    four(lab, BROAD)
}

fn four(lab: &Lab<'_>, size: [u32; 2]) -> Result<Picture, Error> {
    let state = Pipeline { samples: FOUR, depth: Some(vk::CompareOp::LESS), ..Pipeline::default() };
    draw(lab, size, &TRIANGLES, &state, area(size))
}

/// Points whose middles lie on both sides of the line between two parts, and beside the target.
fn points(lab: &Lab<'_>) -> Result<Picture, Error> {
    let at = |px: f32, color: [f32; 3]| -> Vertex {
        [px / WIDE[0] as f32 * 2.0 - 1.0, 0.0, 0.5, color[0], color[1], color[2], 1.0]
    };
    let vertices = [
        at(20.5, [1.0, 0.0, 0.0]),
        at(2030.5, [0.0, 1.0, 0.0]),
        at(2060.5, [0.0, 0.0, 1.0]),
        at(4095.5, [1.0, 1.0, 0.0]),
    ];
    let topology = vk::PrimitiveTopology::POINT_LIST;
    let state = Pipeline { vertex: shader!("points.vert"), topology, ..Pipeline::default() };
    draw(lab, WIDE, &vertices, &state, area(WIDE))
}

/// Lines along and across the line between two parts.
fn lines(lab: &Lab<'_>) -> Result<Picture, Error> {
    #[rustfmt::skip]
    let vertices: [Vertex; 6] = [
        [-0.5, -0.9, 0.5, 1.0, 0.0, 0.0, 1.0],
        [0.6, 0.95, 0.5, 0.0, 1.0, 0.0, 1.0],
        [-0.8, 2.0 * 2050.0 / 4090.0 - 1.0, 0.5, 0.0, 0.0, 1.0, 1.0],
        [0.9, 2.0 * 2050.0 / 4090.0 - 1.0, 0.5, 1.0, 0.0, 1.0, 1.0],
        [0.7, 2.0 * 2000.0 / 4090.0 - 1.0, 0.5, 1.0, 1.0, 1.0, 1.0],
        [0.3, 2.0 * 2100.0 / 4090.0 - 1.0, 0.5, 1.0, 1.0, 1.0, 1.0],
    ];
    let topology = vk::PrimitiveTopology::LINE_LIST;
    let state = Pipeline { topology, line_width: 7.0, ..Pipeline::default() };
    draw(lab, HIGH, &vertices, &state, area(HIGH))
}

/// A render area of these columns, which begins inside of a part, on no edge of a tile.
fn partial_area(lab: &Lab<'_>, size: [u32; 2], [left, right]: [u32; 2]) -> Result<Picture, Error> {
    let rect = vk::Rect2D {
        offset: vk::Offset2D { x: left as i32, y: size[1] as i32 / 10 },
        extent: vk::Extent2D { width: right - left, height: size[1] * 51 / 70 },
    };
    // Where programs draw beside the area, drivers differ.
    let [left, right] = [left + 7, right - 14].map(|px| px as f32 / size[0] as f32 * 2.0 - 1.0);
    draw(lab, size, &rectangle([left, -0.7, right, 0.5], 0.5, [1.0, 0.5, 0.0, 1.0]), &placed(), rect)
}

/// A subpass that reads what the one before drew.
fn inputs(lab: &Lab<'_>, size: [u32; 2]) -> Result<Picture, Error> {
    let depth_format = lab.depth_stencil_format();
    let (drawn, depths) = (lab.input(size, BYTES, ONE)?, lab.input(size, depth_format, ONE)?);
    let result = lab.target(size, BYTES, ONE)?;
    let of = |format| Attachment { format, ..CLEAR_STORE };
    let subpasses = [
        Subpass { color: Some(0), depth: Some(1), ..Subpass::default() },
        Subpass { color: Some(2), inputs: vec![0, 1], ..Subpass::default() },
    ];
    let pass = lab.pass(&[of(BYTES), of(depth_format), of(BYTES)], &subpasses)?;
    let framebuffer = lab.framebuffer(pass, &[drawn, depths, result], size)?;
    let depth_view = lab.view(depths.image, depth_format, vk::ImageAspectFlags::DEPTH)?;
    let inputs = lab.inputs(&[drawn.view, depth_view], vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL)?;
    let writer = lab.pipeline(pass, size, &placed())?;
    let (fragment, layout) = (shader!("input.frag"), Some(inputs.layout));
    let reader = Pipeline { fragment, layout, subpass: 1, ..Pipeline::default() };
    let reader = lab.pipeline(pass, size, &reader)?;
    let near = lab.vertices(&rectangle([-0.95, -0.8, 0.9, 0.7], 0.25, [1.0; 4]))?;
    let all = lab.vertices(&rectangle([-1.0, -1.0, 1.0, 1.0], 0.5, [0.0, 0.5, 0.25, 1.0]))?;
    lab.run(|commands| {
        // SAFETY: the handles live as long as the lab.
        unsafe {
            let clears = [color(GREY), depth(1.0, 9), color(GREY)];
            lab.begin(commands, pass, framebuffer, area(size), &clears);
            lab.draw(commands, writer, near, 6);
            lab.device.cmd_next_subpass(commands, vk::SubpassContents::INLINE);
            lab.bind_inputs(commands, &inputs);
            lab.draw(commands, reader, all, 6);
            lab.device.cmd_end_render_pass(commands);
        }
    })?;
    lab.picture(&result)
}

/// A subpass that reads its own colour; of two words, so that one waits aside.
fn own(lab: &Lab<'_>, size: [u32; 2], format: vk::Format) -> Result<Picture, Error> {
    let target = lab.input(size, format, ONE)?;
    let subpass = Subpass { color: Some(0), inputs: vec![0], ..Subpass::default() };
    let pass = lab.pass(&[Attachment { format, ..CLEAR_STORE }], &[subpass])?;
    let framebuffer = lab.framebuffer(pass, &[target], size)?;
    let inputs = lab.inputs(&[target.view], vk::ImageLayout::GENERAL)?;
    let layout = Some(inputs.layout);
    let writer = lab.pipeline(pass, size, &Pipeline { depth: None, layout, ..placed() })?;
    let reader = Pipeline { fragment: shader!("input_own.frag"), layout, ..Pipeline::default() };
    let reader = lab.pipeline(pass, size, &reader)?;
    let first = lab.vertices(&rectangle([-0.99, -0.9, 0.8, 0.9], 0.5, [1.0; 4]))?;
    let again = lab.vertices(&rectangle([-0.9, -0.6, 0.9, 0.6], 0.5, [0.0, 1.0, 0.5, 1.0]))?;
    lab.run(|commands| {
        lab.begin(commands, pass, framebuffer, area(size), &[color([0.25, 0.5, 0.75, 1.0])]);
        lab.bind_inputs(commands, &inputs);
        lab.draw(commands, writer, first, 6);
        lab.read_own(commands);
        lab.draw(commands, reader, again, 6);
        // SAFETY: the handles live as long as the lab.
        unsafe { lab.device.cmd_end_render_pass(commands) };
    })?;
    lab.picture(&target)
}
