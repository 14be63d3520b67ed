//! Attachments that are cleared between draws: what was drawn before goes, what follows is tested against what was given.

use ash::vk;

use super::case::{Case, exact};
use super::targets::below_each_other;
use crate::picture::Picture;
use crate::vulkan::{
    Attachment, CLEAR_STORE, Error, Lab, Pipeline, Subpass, Target, area, color, depth, rectangle,
};

/// The programs.
pub const CASES: [Case; 8] = [
    exact("clears-depth", |lab| depths(lab, ONE)),
    exact("clears-depth-of-samples", |lab| depths(lab, FOUR)),
    exact("clears-stencil", stencils),
    exact("clears-colors", colors),
    exact("clears-colors-first", first),
    exact("clears-integers", integers),
    exact("clears-srgb", |lab| samples(lab, vk::Format::B8G8R8A8_SRGB)),
    exact("clears-samples", |lab| samples(lab, vk::Format::R8G8B8A8_UNORM)),
];

const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;
const FOUR: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;
/// Edges of rectangles are edges of pixels.
const SIZE: [u32; 2] = [100, 80];
const GREY: [f32; 4] = [0.25, 0.25, 0.25, 1.0];
const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];
const GREEN: [f32; 4] = [0.0, 1.0, 0.0, 1.0];
const BLUE: [f32; 4] = [0.0, 0.0, 1.0, 1.0];
const BYTES: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// Colours, depth and stencil of so many samples, and what a single colour is resolved to.
struct Canvas<'a> {
    lab: &'a Lab<'a>,
    pass: vk::RenderPass,
    framebuffer: vk::Framebuffer,
    samples: vk::SampleCountFlags,
    results: Vec<Target>,
}

impl<'a> Canvas<'a> {
    fn new(
        lab: &'a Lab<'a>,
        formats: &[vk::Format],
        samples: vk::SampleCountFlags,
    ) -> Result<Canvas<'a>, Error> {
        let depth_format = lab.depth_stencil_format();
        let target = |format| lab.target(SIZE, format, samples);
        let mut targets = formats.iter().map(|format| target(*format)).collect::<Result<Vec<_>, _>>()?;
        let colors = targets.len() as u32;
        let mut results = targets.clone();
        let attachment = |format| Attachment { format, samples, ..CLEAR_STORE };
        let mut attachments: Vec<_> =
            formats.iter().chain([&depth_format]).map(|format| attachment(*format)).collect();
        targets.push(target(depth_format)?);
        if samples != ONE {
            results = vec![lab.target(SIZE, formats[0], ONE)?];
            attachments.push(Attachment { format: formats[0], ..CLEAR_STORE });
            targets.push(results[0]);
        }
        let subpass = Subpass {
            color: Some(0),
            others: (1..colors).map(|n| [Some(n), None]).collect(),
            resolve: (samples != ONE).then_some(colors + 1),
            depth: Some(colors),
            ..Subpass::default()
        };
        let pass = lab.pass(&attachments, &[subpass])?;
        let framebuffer = lab.framebuffer(pass, &targets, SIZE)?;
        Ok(Canvas { lab, pass, framebuffer, samples, results })
    }

    fn pipeline(&self, pipeline: Pipeline) -> Result<vk::Pipeline, Error> {
        self.lab.pipeline(self.pass, SIZE, &Pipeline { samples: self.samples, ..pipeline })
    }

    fn clear(
        &self,
        commands: vk::CommandBuffer,
        clears: &[vk::ClearAttachment],
        [x, y, width, height]: [u32; 4],
    ) {
        let offset = vk::Offset2D { x: x as i32, y: y as i32 };
        let rect = vk::Rect2D { offset, extent: vk::Extent2D { width, height } };
        let rect = vk::ClearRect { rect, base_array_layer: 0, layer_count: 1 };
        // SAFETY: the rectangle lies inside of the pass's area.
        unsafe { self.lab.device.cmd_clear_attachments(commands, clears, &[rect]) }
    }

    fn run(&self, inside: impl FnOnce(vk::CommandBuffer)) -> Result<Picture, Error> {
        self.lab.run(|commands| {
            let mut clears = vec![color(GREY); self.results.len()];
            clears.push(depth(0.75, 3));
            self.lab.begin(commands, self.pass, self.framebuffer, area(SIZE), &clears);
            inside(commands);
            // SAFETY: the handles live as long as the lab.
            unsafe { self.lab.device.cmd_end_render_pass(commands) };
        })?;
        below_each_other(self.lab, &self.results)
    }
}

fn of_color(location: u32, value: [f32; 4]) -> vk::ClearAttachment {
    let aspect_mask = vk::ImageAspectFlags::COLOR;
    vk::ClearAttachment { aspect_mask, color_attachment: location, clear_value: color(value) }
}

fn of_depth_stencil(aspect_mask: vk::ImageAspectFlags, value: f32, stencil: u32) -> vk::ClearAttachment {
    vk::ClearAttachment { aspect_mask, color_attachment: 0, clear_value: depth(value, stencil) }
}

/// Both ends of the range, and what lies between them.
fn depths(lab: &Lab<'_>, samples: vk::SampleCountFlags) -> Result<Picture, Error> {
    let canvas = Canvas::new(lab, &[BYTES], samples)?;
    let less = canvas.pipeline(Pipeline {
        depth: Some(vk::CompareOp::LESS),
        depth_write: true,
        ..Pipeline::default()
    })?;
    let near = lab.vertices(&rectangle([-0.9, -0.9, 0.9, 0.9], 0.25, RED))?;
    let far = lab.vertices(&rectangle([-1.0, -1.0, 1.0, 1.0], 0.5, GREEN))?;
    let nearest = lab.vertices(&rectangle([-0.7, -0.7, 0.7, 0.7], 0.125, BLUE))?;
    let only = |value| [of_depth_stencil(vk::ImageAspectFlags::DEPTH, value, 9)];
    canvas.run(|commands| {
        lab.draw(commands, less, near, 6);
        canvas.clear(commands, &only(1.0), [7, 5, 61, 40]);
        lab.draw(commands, less, far, 6);
        canvas.clear(commands, &only(0.0), [31, 3, 9, 64]);
        canvas.clear(commands, &only(0.1875), [50, 9, 13, 50]);
        canvas.clear(commands, &only(0.0625), [70, 9, 13, 50]);
        lab.draw(commands, less, nearest, 6);
    })
}

/// Stencil alone, and beside depth.
fn stencils(lab: &Lab<'_>) -> Result<Picture, Error> {
    let canvas = Canvas::new(lab, &[BYTES], ONE)?;
    let state = |compare_op, reference| {
        let keep = vk::StencilOpState {
            compare_op,
            compare_mask: 0xff,
            write_mask: 0xff,
            reference,
            pass_op: vk::StencilOp::INCREMENT_AND_CLAMP,
            ..Default::default()
        };
        canvas.pipeline(Pipeline {
            stencil: Some([keep; 2]),
            depth: Some(vk::CompareOp::LESS),
            depth_write: true,
            ..Pipeline::default()
        })
    };
    let [first, equal, greater] = [
        state(vk::CompareOp::ALWAYS, 0)?,
        state(vk::CompareOp::EQUAL, 201)?,
        state(vk::CompareOp::GREATER, 5)?,
    ];
    let half = lab.vertices(&rectangle([-1.0, -1.0, 0.1, 1.0], 0.5, RED))?;
    let [near, nearest] = [(0.25, GREEN), (0.125, BLUE)]
        .map(|(depth, color)| lab.vertices(&rectangle([-1.0, -1.0, 1.0, 1.0], depth, color)));
    let (near, nearest) = (near?, nearest?);
    canvas.run(|commands| {
        let (stencil, both) =
            (vk::ImageAspectFlags::STENCIL, vk::ImageAspectFlags::STENCIL | vk::ImageAspectFlags::DEPTH);
        lab.draw(commands, first, half, 6);
        canvas.clear(commands, &[of_depth_stencil(stencil, 0.0, 201)], [40, 5, 40, 30]);
        canvas.clear(commands, &[of_depth_stencil(both, 0.0, 201)], [50, 10, 10, 10]);
        lab.draw(commands, equal, near, 6);
        canvas.clear(commands, &[of_depth_stencil(both, 1.0, 4)], [20, 30, 70, 20]);
        lab.draw(commands, greater, nearest, 6);
    })
}

fn three_colors() -> Pipeline {
    Pipeline {
        fragment: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/three_colors.frag.spv")),
        colors: 3,
        depth: Some(vk::CompareOp::LESS),
        depth_write: true,
        ..Pipeline::default()
    }
}

const THREE: [vk::Format; 3] = [BYTES, vk::Format::R16G16B16A16_SFLOAT, vk::Format::A2B10G10R10_UNORM_PACK32];

/// Some of several colours, of one word and of two, and all at once with depth.
fn colors(lab: &Lab<'_>) -> Result<Picture, Error> {
    let canvas = Canvas::new(lab, &THREE, ONE)?;
    let pipeline = canvas.pipeline(three_colors())?;
    let left = lab.vertices(&rectangle([-0.9, -0.8, 0.3, 0.5], 0.25, RED))?;
    let right = lab.vertices(&rectangle([-0.3, -0.4, 0.9, 0.8], 0.5, BLUE))?;
    canvas.run(|commands| {
        lab.draw(commands, pipeline, left, 6);
        canvas.clear(commands, &[of_color(1, [0.5, 0.125, 0.75, 0.25])], [3, 9, 80, 21]);
        let all = [
            of_color(0, [0.3, 0.6, 0.9, 0.4]),
            of_color(2, [0.7, 0.1, 0.2, 0.0]),
            of_depth_stencil(vk::ImageAspectFlags::DEPTH, 1.0, 0),
        ];
        canvas.clear(commands, &all, [33, 17, 31, 33]);
        lab.draw(commands, pipeline, right, 6);
    })
}

/// Parts, before anything is drawn.
fn first(lab: &Lab<'_>) -> Result<Picture, Error> {
    let canvas = Canvas::new(lab, &THREE, ONE)?;
    let pipeline = canvas.pipeline(three_colors())?;
    let right = lab.vertices(&rectangle([-0.3, -0.4, 0.9, 0.8], 0.5, BLUE))?;
    canvas.run(|commands| {
        canvas.clear(commands, &[of_color(0, RED), of_color(1, GREEN)], [1, 1, 98, 30]);
        canvas.clear(commands, &[of_depth_stencil(vk::ImageAspectFlags::DEPTH, 0.0, 0)], [60, 20, 20, 20]);
        lab.draw(commands, pipeline, right, 6);
    })
}

/// Integers, which are seen as bytes.
fn integers(lab: &Lab<'_>) -> Result<Picture, Error> {
    let canvas = Canvas::new(lab, &[vk::Format::R8G8B8A8_SINT, vk::Format::R32_UINT], ONE)?;
    let of = |location, color: vk::ClearColorValue| vk::ClearAttachment {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        color_attachment: location,
        clear_value: vk::ClearValue { color },
    };
    let signed = of(0, vk::ClearColorValue { int32: [-100, 7, 120, -1] });
    let word = of(1, vk::ClearColorValue { uint32: [0xf0a0_5081, 1, 2, 3] });
    canvas.run(|commands| canvas.clear(commands, &[signed, word], [9, 13, 64, 32]))?;
    let bytes = [lab.target(SIZE, BYTES, ONE)?, lab.target(SIZE, BYTES, ONE)?];
    let layers = vk::ImageSubresourceLayers {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        layer_count: 1,
        ..Default::default()
    };
    let extent = vk::Extent3D { width: SIZE[0], height: SIZE[1], depth: 1 };
    let region =
        vk::ImageCopy { src_subresource: layers, dst_subresource: layers, extent, ..Default::default() };
    lab.run(|commands| {
        for (from, to) in canvas.results.iter().zip(&bytes) {
            let general = vk::ImageLayout::GENERAL;
            // SAFETY: the images live as long as the lab and have the region's size.
            unsafe { lab.device.cmd_copy_image(commands, from.image, general, to.image, general, &[region]) };
        }
        lab.barrier(commands);
    })?;
    below_each_other(lab, &bytes)
}

/// All samples of pixels of a part.
fn samples(lab: &Lab<'_>, format: vk::Format) -> Result<Picture, Error> {
    let canvas = Canvas::new(lab, &[format], FOUR)?;
    let pipeline = canvas.pipeline(Pipeline { mask: Some(0b0101), ..Pipeline::default() })?;
    let part = lab.vertices(&rectangle([-0.9, -0.9, 0.9, 0.9], 0.25, RED))?;
    let above = lab.vertices(&rectangle([-0.2, -1.0, 0.2, 1.0], 0.25, BLUE))?;
    canvas.run(|commands| {
        lab.draw(commands, pipeline, part, 6);
        canvas.clear(commands, &[of_color(0, [0.2, 0.7, 0.4, 0.6])], [13, 11, 70, 31]);
        lab.draw(commands, pipeline, above, 6);
    })
}
