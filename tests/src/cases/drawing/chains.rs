//! Passes one after the other on the same attachments, by pipelines that look at some of them only: whatever stays in tiles, or in
//! memory, the pictures are those of passes that load and store everything.

use ash::vk;

use super::case::{Case, exact};
use super::targets::below_each_other;
use crate::picture::Picture;
use crate::random::Random;
use crate::vulkan::{Attachment, CLEAR_STORE, Error, Lab, Pipeline, Subpass, area, color, depth, rectangle};

/// The programs, which differ in what chance gives them.
pub const CASES: [Case; 4] = [
    exact("chains-1", |lab| chain(lab, 1)),
    exact("chains-2", |lab| chain(lab, 2)),
    exact("chains-3", |lab| chain(lab, 3)),
    exact("chains-4", |lab| chain(lab, 4)),
];

/// Several tiles.
const SIZE: [u32; 2] = [150, 100];
const BYTES: vk::Format = vk::Format::R8G8B8A8_UNORM;
const HALVES: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;
const OPERATIONS: [vk::AttachmentLoadOp; 2] = [vk::AttachmentLoadOp::CLEAR, vk::AttachmentLoadOp::LOAD];
const PASSES: usize = 24;

/// Pipelines that change all, no colour, no depth, nothing, or stencils; or that only draw where stencils are 0.
fn states() -> [Pipeline; 7] {
    let usual = || Pipeline {
        fragment: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/three_colors.frag.spv")),
        colors: 3,
        depth: Some(vk::CompareOp::LESS),
        ..Pipeline::default()
    };
    let masked = vk::PipelineColorBlendAttachmentState::default();
    let red = masked.color_write_mask(vk::ColorComponentFlags::R);
    let stencil = |op, compare| {
        let face = vk::StencilOpState { pass_op: op, compare_op: compare, ..Default::default() };
        Some([vk::StencilOpState { compare_mask: 0xff, write_mask: 0xff, ..face }; 2])
    };
    [
        usual(),
        Pipeline { blend: masked, ..usual() },
        Pipeline { depth: None, ..usual() },
        Pipeline { depth_write: false, blend: red, ..usual() },
        Pipeline { depth_write: false, blend: masked, ..usual() },
        Pipeline { stencil: stencil(vk::StencilOp::INVERT, vk::CompareOp::ALWAYS), ..usual() },
        Pipeline { stencil: stencil(vk::StencilOp::KEEP, vk::CompareOp::EQUAL), depth: None, ..usual() },
    ]
}

fn chain(lab: &Lab<'_>, seed: u64) -> Result<Picture, Error> {
    let mut random = Random(seed);
    let depth_format = lab.depth_stencil_format();
    let formats = [BYTES, HALVES, BYTES];
    let target = |format| lab.target(SIZE, format, ONE);
    let colors = formats.into_iter().map(target).collect::<Result<Vec<_>, Error>>()?;
    let subpass = Subpass {
        color: Some(0),
        others: vec![[Some(1), None], [Some(2), None]],
        depth: Some(3),
        ..Subpass::default()
    };
    let pass = |load, load_depth| {
        let of = |format, load| Attachment { format, load: [load; 2], ..CLEAR_STORE };
        let attachments = formats.map(|format| of(format, load)).into_iter();
        let all: Vec<_> = attachments.chain([of(depth_format, load_depth)]).collect();
        lab.pass(&all, std::slice::from_ref(&subpass))
    };
    let mut passes = Vec::new();
    for load in OPERATIONS {
        passes.push([pass(load, OPERATIONS[0])?, pass(load, OPERATIONS[1])?]);
    }
    let pipelines = states().map(|state| lab.pipeline(passes[0][0], SIZE, &state));
    let pipelines = pipelines.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut targets = colors.clone();
    targets.push(target(depth_format)?);
    let framebuffer = lab.framebuffer(passes[0][0], &targets, SIZE)?;
    // Edges lie between pixels, depths and colours are what all formats hold.
    let mut draws = Vec::new();
    for _ in 0..2 * PASSES {
        let [left, top] = SIZE.map(|size| random.below(size as usize - 20) as f32);
        let [width, height] = SIZE.map(|size| (5 + random.below(size as usize)) as f32);
        let place = |at: f32, axis: usize| (at / SIZE[axis] as f32).mul_add(2.0, -1.0);
        let corners = [place(left, 0), place(top, 1), place(left + width, 0), place(top + height, 1)];
        let mut step = |steps: usize| random.below(steps + 1) as f32 / steps as f32;
        let (z, shade) = (step(16), [step(4), step(4), step(4), step(4)]);
        let vertices = lab.vertices(&rectangle(corners.map(|at| at.min(1.0)), z, shade))?;
        draws.push((random.pick(&pipelines), vertices));
    }
    let scratch = lab.buffer(&[0; 64], vk::BufferUsageFlags::TRANSFER_DST)?;
    let mut clears =
        [[0.25, 0.5, 0.75, 1.0], [0.75, 0.25, 0.5, 0.5], [0.5, 0.75, 0.25, 0.25]].map(color).to_vec();
    clears.push(depth(0.75, 0));
    lab.run(|commands| {
        for number in 0..PASSES {
            // Most load what those before have left.
            let mut operation = || usize::from(number > 0 && !random.one_in(8));
            let pass = passes[operation()][operation()];
            let part = vk::Rect2D {
                offset: vk::Offset2D { x: 30, y: 20 },
                extent: vk::Extent2D { width: 64, height: 70 },
            };
            let area = if number > 0 && random.one_in(4) { part } else { area(SIZE) };
            lab.begin(commands, pass, framebuffer, area, &clears);
            for _ in 0..random.below(4) {
                let (pipeline, vertices) = draws[random.below(draws.len())];
                lab.draw(commands, pipeline, vertices, 6);
            }
            // SAFETY: the handles live as long as the lab.
            unsafe { lab.device.cmd_end_render_pass(commands) };
            lab.barrier(commands);
            if random.one_in(6) {
                // SAFETY: as above.
                unsafe { lab.device.cmd_fill_buffer(commands, scratch, 0, 64, number as u32) };
            }
        }
    })?;
    below_each_other(lab, &colors)
}
