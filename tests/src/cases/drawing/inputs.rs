//! Input attachments: subpasses that read what earlier ones, or they themselves, drew.

use ash::vk;

use super::case::{Case, exact};
use crate::picture::Picture;
use crate::vulkan::{
    Attachment, CLEAR_STORE, Error, Lab, Pipeline, Subpass, Target, Vertex, area, color, depth, first_level,
    rectangle,
};

/// The programs.
pub const CASES: [Case; 9] = [
    exact("input-color-depth", color_and_depth),
    exact("input-partial-area", partial_area),
    exact("input-stencil", stencil),
    exact("input-own", |lab| own(lab, FORMAT, &[])),
    exact("input-own-wide", |lab| own(lab, vk::Format::R16G16B16A16_UNORM, &[])),
    // Neither colour lies as depth does.
    exact("input-own-unequal", |lab| own(lab, FORMAT, &[[260, 100], [400, 130]])),
    exact("input-first", first),
    exact("input-samples", |lab| samples(lab, SIZE)),
    exact("input-samples-panels", |lab| samples(lab, PANELS)),
];

const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;
const FOUR: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;
const SIZE: [u32; 2] = [150, 100];
/// Columns lie in panels; the edges of rectangles are between pixels as they are in the other size.
const PANELS: [u32; 2] = [4650, 20];
const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;
const READ: vk::ImageLayout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;

macro_rules! shader {
    ($name:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $name, ".frag.spv"))
    };
}

#[rustfmt::skip]
const TRIANGLE: [Vertex; 3] = [
    [-0.83, 0.71, 0.2, 1.0, 0.0, 0.0, 1.0],
    [0.79, 0.66, 0.7, 0.0, 1.0, 0.0, 1.0],
    [0.03, -0.87, 0.9, 0.0, 0.0, 1.0, 1.0],
];

fn everywhere(rgba: [f32; 4]) -> Vec<Vertex> {
    rectangle([-1.0, -1.0, 1.0, 1.0], 0.5, rgba)
}

/// A pass whose first subpass draws colour and depth, and whose second reads them.
struct Two {
    pass: vk::RenderPass,
    framebuffer: vk::Framebuffer,
    result: Target,
    drawn: Target,
    depths: Target,
    size: [u32; 2],
}

impl Two {
    fn new(
        lab: &Lab<'_>,
        size: [u32; 2],
        format: vk::Format,
        samples: vk::SampleCountFlags,
    ) -> Result<Two, Error> {
        let depth_format = lab.depth_stencil_format();
        let (drawn, depths) = (lab.input(size, format, samples)?, lab.input(size, depth_format, samples)?);
        let result = lab.target(size, FORMAT, ONE)?;
        let of = |format, samples| Attachment { format, samples, ..CLEAR_STORE };
        // What lies outside of the render area stays.
        let result_is_kept = Attachment { load: [vk::AttachmentLoadOp::LOAD; 2], ..of(FORMAT, ONE) };
        let attachments = [of(format, samples), of(depth_format, samples), result_is_kept];
        let subpasses = [
            Subpass { color: Some(0), depth: Some(1), ..Subpass::default() },
            Subpass { color: Some(2), inputs: vec![0, 1], ..Subpass::default() },
        ];
        let pass = lab.pass(&attachments, &subpasses)?;
        let framebuffer = lab.framebuffer(pass, &[drawn, depths, result], size)?;
        Ok(Two { pass, framebuffer, result, drawn, depths, size })
    }

    /// A view of one aspect of the depth attachment.
    fn depth_view(&self, lab: &Lab<'_>, aspect: vk::ImageAspectFlags) -> Result<vk::ImageView, Error> {
        lab.view(self.depths.image, self.depths.format, aspect)
    }

    /// Draws with `first`, then reads with `fragment` everywhere in `rect`.
    fn draw(
        &self,
        lab: &Lab<'_>,
        first: &[(Pipeline, Vec<Vertex>)],
        views: &[vk::ImageView],
        fragment: &'static [u8],
        rect: vk::Rect2D,
    ) -> Result<Picture, Error> {
        let inputs = lab.inputs(views, READ)?;
        let prepared = first
            .iter()
            .map(|(state, vertices)| {
                let state = Pipeline { samples: self.drawn.samples, ..state.clone() };
                Ok((
                    lab.pipeline(self.pass, self.size, &state)?,
                    lab.vertices(vertices)?,
                    vertices.len() as u32,
                ))
            })
            .collect::<Result<Vec<_>, Error>>()?;
        let reader = Pipeline { fragment, layout: Some(inputs.layout), subpass: 1, ..Pipeline::default() };
        let reader = lab.pipeline(self.pass, self.size, &reader)?;
        let all = lab.vertices(&everywhere([0.0, 0.5, 0.25, 1.0]))?;
        lab.run(|commands| {
            // SAFETY: the handles live as long as the lab.
            unsafe {
                let range = first_level(vk::ImageAspectFlags::COLOR);
                let value = vk::ClearColorValue { float32: [0.5, 0.25, 0.75, 1.0] };
                let general = vk::ImageLayout::GENERAL;
                lab.device.cmd_clear_color_image(commands, self.result.image, general, &value, &[range]);
                lab.barrier(commands);
                let clears = [color([0.25, 0.5, 0.75, 1.0]), depth(1.0, 9)];
                lab.begin(commands, self.pass, self.framebuffer, rect, &clears);
                for (pipeline, vertices, count) in &prepared {
                    lab.draw(commands, *pipeline, *vertices, *count);
                }
                lab.device.cmd_next_subpass(commands, vk::SubpassContents::INLINE);
                lab.bind_inputs(commands, &inputs);
                lab.draw(commands, reader, all, 6);
                lab.device.cmd_end_render_pass(commands);
            }
        })?;
        lab.picture(&self.result)
    }
}

fn tested() -> Pipeline {
    Pipeline { depth: Some(vk::CompareOp::LESS), ..Pipeline::default() }
}

/// Colour of an order of its own, and depth.
fn color_and_depth(lab: &Lab<'_>) -> Result<Picture, Error> {
    let two = Two::new(lab, SIZE, vk::Format::B8G8R8A8_UNORM, ONE)?;
    let views = [two.drawn.view, two.depth_view(lab, vk::ImageAspectFlags::DEPTH)?];
    two.draw(lab, &[(tested(), TRIANGLE.to_vec())], &views, shader!("input"), area(SIZE))
}

/// A render area that cuts tiles, and a colour whose texels widen in tiles.
fn partial_area(lab: &Lab<'_>) -> Result<Picture, Error> {
    let two = Two::new(lab, SIZE, vk::Format::R8G8_UNORM, ONE)?;
    let views = [two.drawn.view, two.depth_view(lab, vk::ImageAspectFlags::DEPTH)?];
    two.draw(lab, &[(tested(), TRIANGLE.to_vec())], &views, shader!("input"), area([117, 81]))
}

fn stencil(lab: &Lab<'_>) -> Result<Picture, Error> {
    let two = Two::new(lab, SIZE, FORMAT, ONE)?;
    let face = vk::StencilOpState {
        fail_op: vk::StencilOp::KEEP,
        pass_op: vk::StencilOp::REPLACE,
        depth_fail_op: vk::StencilOp::INVERT,
        compare_op: vk::CompareOp::ALWAYS,
        compare_mask: 0xff,
        write_mask: 0xff,
        reference: 90,
    };
    let state = Pipeline { stencil: Some([face, face]), ..tested() };
    let near = rectangle([-0.5, -0.5, 0.25, 0.5], 0.1, [1.0; 4]);
    let views = [two.depth_view(lab, vk::ImageAspectFlags::STENCIL)?];
    let draws = [(state.clone(), near), (state, everywhere([1.0; 4]))];
    two.draw(lab, &draws, &views, shader!("input_stencil"), area(SIZE))
}

/// Samples of colour and depth, of which some draws reach a part; edges lie between pixels.
fn samples(lab: &Lab<'_>, size: [u32; 2]) -> Result<Picture, Error> {
    let two = Two::new(lab, size, FORMAT, FOUR)?;
    let views = [two.drawn.view, two.depth_view(lab, vk::ImageAspectFlags::DEPTH)?];
    let masked = |mask| Pipeline { mask: Some(mask), ..tested() };
    let draws = [
        (masked(0b0101), rectangle([-0.8, -0.7, 0.32, 0.6], 0.6, [1.0, 0.0, 0.5, 1.0])),
        (masked(0b1100), rectangle([-0.4, -0.9, 0.88, 0.2], 0.3, [0.0, 1.0, 1.0, 1.0])),
    ];
    two.draw(lab, &draws, &views, shader!("input_samples"), area(size))
}

/// A subpass that reads what the pass clears and nothing has drawn to.
fn first(lab: &Lab<'_>) -> Result<Picture, Error> {
    let depth_format = lab.depth_stencil_format();
    let (read, depths) = (lab.input(SIZE, FORMAT, ONE)?, lab.input(SIZE, depth_format, ONE)?);
    let result = lab.target(SIZE, FORMAT, ONE)?;
    let of = |format| Attachment { format, ..CLEAR_STORE };
    let subpass = Subpass { color: Some(2), inputs: vec![0, 1], ..Subpass::default() };
    let pass = lab.pass(&[of(FORMAT), of(depth_format), of(FORMAT)], &[subpass])?;
    let framebuffer = lab.framebuffer(pass, &[read, depths, result], SIZE)?;
    let depth_view = lab.view(depths.image, depth_format, vk::ImageAspectFlags::DEPTH)?;
    let inputs = lab.inputs(&[read.view, depth_view], READ)?;
    let reader = Pipeline { fragment: shader!("input"), layout: Some(inputs.layout), ..Pipeline::default() };
    let reader = lab.pipeline(pass, SIZE, &reader)?;
    let triangle = lab.vertices(&TRIANGLE)?;
    lab.run(|commands| {
        let clears = [color([0.25, 0.5, 0.75, 1.0]), depth(0.375, 9), color([0.0, 0.25, 0.0, 1.0])];
        lab.begin(commands, pass, framebuffer, area(SIZE), &clears);
        lab.bind_inputs(commands, &inputs);
        lab.draw(commands, reader, triangle, 3);
        // SAFETY: the handles live as long as the lab.
        unsafe { lab.device.cmd_end_render_pass(commands) };
    })?;
    lab.picture(&result)
}

/// A subpass that reads its own colour, twice; beside it may be another colour and depth, of these sizes.
fn own(lab: &Lab<'_>, format: vk::Format, beside: &[[u32; 2]]) -> Result<Picture, Error> {
    let target = lab.input(SIZE, format, ONE)?;
    let mut targets = vec![target];
    for (size, format) in beside.iter().zip([FORMAT, lab.depth_stencil_format()]) {
        targets.push(lab.target(*size, format, ONE)?);
    }
    let attachments: Vec<Attachment> =
        targets.iter().map(|target| Attachment { format: target.format, ..CLEAR_STORE }).collect();
    let more = !beside.is_empty();
    let subpass = Subpass {
        color: Some(0),
        others: if more { vec![[Some(1), None]] } else { Vec::new() },
        depth: more.then_some(2),
        inputs: vec![0],
        ..Subpass::default()
    };
    let pass = lab.pass(&attachments, &[subpass])?;
    let framebuffer = lab.framebuffer(pass, &targets, SIZE)?;
    let inputs = lab.inputs(&[target.view], vk::ImageLayout::GENERAL)?;
    let state =
        Pipeline { layout: Some(inputs.layout), colors: 1 + usize::from(more), ..Pipeline::default() };
    let writer = lab.pipeline(pass, SIZE, &state)?;
    let reader = lab.pipeline(pass, SIZE, &Pipeline { fragment: shader!("input_own"), ..state })?;
    let triangle = lab.vertices(&TRIANGLE)?;
    let all = lab.vertices(&rectangle([-0.9, -0.6, 0.9, 0.6], 0.5, [0.0, 1.0, 0.5, 1.0]))?;
    lab.run(|commands| {
        let clears = [color([0.25, 0.5, 0.75, 1.0]), color([0.0; 4]), depth(1.0, 0)];
        lab.begin(commands, pass, framebuffer, area(SIZE), &clears[..targets.len()]);
        lab.bind_inputs(commands, &inputs);
        lab.draw(commands, writer, triangle, 3);
        for _ in 0..2 {
            lab.read_own(commands);
            lab.draw(commands, reader, all, 6);
        }
        // SAFETY: the handles live as long as the lab.
        unsafe { lab.device.cmd_end_render_pass(commands) };
    })?;
    lab.picture(&target)
}
