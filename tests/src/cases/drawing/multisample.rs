//! Four samples per pixel.

use ash::vk;

use super::case::{Case, around, exact};
use crate::picture::Picture;
use crate::vulkan::{
    Attachment, CLEAR_STORE, Error, Lab, Pipeline, Subpass, Target, Vertex, area, color, depth, first_level,
    rectangle,
};

/// The programs.
pub const CASES: [Case; 13] = [
    // Sample positions are the device's choice: pixels of edges differ.
    around("ms-edges", 0.01, edges),
    // Edges are as grey as what is around, or red; which pixels are green inside is a matter of roundings.
    around("ms-centroid", 0.002, centroid),
    exact("ms-sample-mask", |lab| sample_masks(lab, vk::Format::B8G8R8A8_UNORM)),
    // On a rectangle's diagonal either triangle tells of its samples, whose positions are the device's choice.
    around("ms-sample-mask-in", 0.012, |lab| {
        let fragment = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/mask_in.frag.spv"));
        masked_by(lab, vk::Format::R8G8B8A8_UNORM, Pipeline { fragment, ..Pipeline::default() })
    }),
    exact("ms-alpha-to-coverage", alpha_to_coverage),
    exact("ms-blend", blend),
    exact("ms-depth-stencil", depth_stencil),
    exact("ms-load-store", load_store),
    exact("ms-resolve-image", resolve_image),
    exact("ms-resolve-srgb", |lab| sample_masks(lab, vk::Format::B8G8R8A8_SRGB)),
    exact("ms-resolve-halves", |lab| sample_masks(lab, vk::Format::R16G16_SFLOAT)),
    exact("ms-resolve-wide", |lab| sample_masks(lab, vk::Format::R16G16B16A16_SFLOAT)),
    exact("ms-partial-area", partial_area),
];

const FOUR: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;
pub(super) const SIZE: [u32; 2] = [150, 100];
const GREY: [f32; 4] = [0.25, 0.25, 0.25, 1.0];

fn multisampled(format: vk::Format) -> Attachment {
    Attachment { format, samples: FOUR, ..CLEAR_STORE }
}

/// Colour that is resolved by the pass.
pub(super) struct Resolved {
    /// The pass.
    pub pass: vk::RenderPass,
    /// What it draws to.
    pub framebuffer: vk::Framebuffer,
    /// Where averages go.
    pub result: Target,
}

impl Resolved {
    pub fn new(lab: &Lab<'_>, format: vk::Format, with_depth: bool) -> Result<Resolved, Error> {
        let depth_format = lab.depth_stencil_format();
        let result = lab.target(SIZE, format, vk::SampleCountFlags::TYPE_1)?;
        let mut targets = vec![lab.target(SIZE, format, FOUR)?, result];
        let mut attachments = vec![multisampled(format), Attachment { format, ..CLEAR_STORE }];
        if with_depth {
            targets.push(lab.target(SIZE, depth_format, FOUR)?);
            attachments.push(multisampled(depth_format));
        }
        let subpass = Subpass {
            color: Some(0),
            resolve: Some(1),
            depth: with_depth.then_some(2),
            ..Subpass::default()
        };
        let pass = lab.pass(&attachments, &[subpass])?;
        Ok(Resolved { pass, framebuffer: lab.framebuffer(pass, &targets, SIZE)?, result })
    }

    pub fn draw(&self, lab: &Lab<'_>, draws: &[(Pipeline, Vec<Vertex>)]) -> Result<Picture, Error> {
        let prepared = draws
            .iter()
            .map(|(state, vertices)| {
                let state = Pipeline { samples: FOUR, ..state.clone() };
                Ok((lab.pipeline(self.pass, SIZE, &state)?, lab.vertices(vertices)?, vertices.len() as u32))
            })
            .collect::<Result<Vec<_>, Error>>()?;
        lab.run(|commands| {
            let clears = [color(GREY), color([1.0; 4]), depth(1.0, 0)];
            lab.begin(commands, self.pass, self.framebuffer, area(SIZE), &clears);
            for (pipeline, vertices, count) in &prepared {
                lab.draw(commands, *pipeline, *vertices, *count);
            }
            // SAFETY: the handles live as long as the lab.
            unsafe { lab.device.cmd_end_render_pass(commands) };
        })?;
        lab.picture(&self.result)
    }
}

#[rustfmt::skip]
const TRIANGLE: [Vertex; 3] = [
    [-0.83, 0.71, 0.3, 1.0, 0.0, 0.0, 1.0],
    [0.79, 0.66, 0.3, 0.0, 1.0, 0.0, 1.0],
    [0.03, -0.87, 0.3, 0.0, 0.0, 1.0, 1.0],
];

fn edges(lab: &Lab<'_>) -> Result<Picture, Error> {
    let target = Resolved::new(lab, vk::Format::R8G8B8A8_UNORM, false)?;
    target.draw(lab, &[(Pipeline::default(), TRIANGLE.to_vec())])
}

/// A triangle that tells where inputs were interpolated outside of it.
fn centroid(lab: &Lab<'_>) -> Result<Picture, Error> {
    let target = Resolved::new(lab, vk::Format::R8G8B8A8_UNORM, false)?;
    let fragment = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/centroid.frag.spv"));
    target.draw(lab, &[(Pipeline { fragment, ..Pipeline::default() }, TRIANGLE.to_vec())])
}

/// Columns with 0 to 4 samples; which samples, only their number shows.
fn sample_masks(lab: &Lab<'_>, format: vk::Format) -> Result<Picture, Error> {
    masked_by(lab, format, Pipeline::default())
}

/// The same by a pipeline.
fn masked_by(lab: &Lab<'_>, format: vk::Format, pipeline: Pipeline) -> Result<Picture, Error> {
    let target = Resolved::new(lab, format, false)?;
    let draws: Vec<_> = [0b0000, 0b0100, 0b1001, 0b1110, 0b1111]
        .into_iter()
        .enumerate()
        .map(|(n, mask)| {
            let left = -0.96 + 0.4 * n as f32;
            let vertices = rectangle([left, -0.8, left + 0.32, 0.8], 0.5, [1.0, 0.5, 0.0, 1.0]);
            (Pipeline { mask: Some(mask), ..pipeline.clone() }, vertices)
        })
        .collect();
    target.draw(lab, &draws)
}

/// Alphas that every rule makes the same number of samples of, with and without alpha to one.
fn alpha_to_coverage(lab: &Lab<'_>) -> Result<Picture, Error> {
    let target = Resolved::new(lab, vk::Format::R8G8B8A8_UNORM, false)?;
    let mut draws = Vec::new();
    for (row, one) in [false, true].into_iter().enumerate() {
        for (column, alpha) in [0.0, 1.0].into_iter().enumerate() {
            let (left, top) = (-0.96 + 0.64 * column as f32, -0.8 + 0.8 * row as f32);
            let vertices = rectangle([left, top, left + 0.48, top + 0.64], 0.5, [0.0, 1.0, 0.5, alpha]);
            draws.push((Pipeline { alpha: [true, one], ..Pipeline::default() }, vertices));
        }
        let top = -0.8 + 0.8 * row as f32;
        let vertices = rectangle([0.32, top, 0.8, top + 0.64], 0.5, [1.0, 0.0, 0.5, 0.25]);
        draws.push((Pipeline { alpha: [false, one], ..Pipeline::default() }, vertices));
    }
    target.draw(lab, &draws)
}

/// Blending, where samples of a pixel hold different colours.
fn blend(lab: &Lab<'_>) -> Result<Picture, Error> {
    let target = Resolved::new(lab, vk::Format::R8G8B8A8_UNORM, false)?;
    let blend = vk::PipelineColorBlendAttachmentState::default()
        .blend_enable(true)
        .src_color_blend_factor(vk::BlendFactor::SRC_ALPHA)
        .dst_color_blend_factor(vk::BlendFactor::ONE_MINUS_SRC_ALPHA)
        .src_alpha_blend_factor(vk::BlendFactor::ONE)
        .dst_alpha_blend_factor(vk::BlendFactor::ZERO)
        .color_write_mask(vk::ColorComponentFlags::RGBA);
    let masked = vk::PipelineColorBlendAttachmentState::default()
        .color_write_mask(vk::ColorComponentFlags::G | vk::ColorComponentFlags::A);
    let wide = |rgba| rectangle([-0.96, -0.8, 0.96, 0.8], 0.5, rgba);
    target.draw(
        lab,
        &[
            (Pipeline { mask: Some(0b0011), ..Pipeline::default() }, wide([1.0, 0.0, 0.0, 1.0])),
            (Pipeline { blend, mask: Some(0b0110), ..Pipeline::default() }, wide([0.0, 0.0, 1.0, 0.5])),
            (
                Pipeline { blend: masked, mask: Some(0b1101), ..Pipeline::default() },
                wide([0.0, 1.0, 0.0, 0.5]),
            ),
        ],
    )
}

/// Depth and stencil of each sample apart.
fn depth_stencil(lab: &Lab<'_>) -> Result<Picture, Error> {
    let target = Resolved::new(lab, vk::Format::R8G8B8A8_UNORM, true)?;
    let face = |compare_op, pass_op, reference| vk::StencilOpState {
        fail_op: vk::StencilOp::KEEP,
        pass_op,
        depth_fail_op: vk::StencilOp::KEEP,
        compare_op,
        compare_mask: 0xff,
        write_mask: 0xff,
        reference,
    };
    let write = face(vk::CompareOp::ALWAYS, vk::StencilOp::REPLACE, 5);
    let equal = face(vk::CompareOp::EQUAL, vk::StencilOp::INVERT, 5);
    let less = Pipeline { depth: Some(vk::CompareOp::LESS), ..Pipeline::default() };
    target.draw(
        lab,
        &[
            (
                Pipeline { mask: Some(0b0011), stencil: Some([write, write]), ..less.clone() },
                rectangle([-0.96, -0.8, 0.32, 0.8], 0.4, [1.0, 0.0, 0.0, 1.0]),
            ),
            (less.clone(), rectangle([-0.64, -0.6, 0.64, 0.4], 0.6, [0.0, 1.0, 0.0, 1.0])),
            (
                Pipeline { stencil: Some([equal, equal]), depth: None, ..less },
                rectangle([-0.32, -0.9, 0.96, 0.2], 0.5, [0.0, 0.0, 1.0, 1.0]),
            ),
        ],
    )
}

/// Multisampled colour and depth from pass to pass.
fn load_store(lab: &Lab<'_>) -> Result<Picture, Error> {
    let (format, depth_format) = (vk::Format::R8G8B8A8_UNORM, lab.depth_stencil_format());
    let samples = lab.target(SIZE, format, FOUR)?;
    let depths = lab.target(SIZE, depth_format, FOUR)?;
    let result = lab.target(SIZE, format, vk::SampleCountFlags::TYPE_1)?;
    let kept = |format| Attachment { load: [vk::AttachmentLoadOp::LOAD; 2], ..multisampled(format) };
    let subpass = Subpass { color: Some(0), depth: Some(1), ..Subpass::default() };
    let first =
        lab.pass(&[multisampled(format), multisampled(depth_format)], std::slice::from_ref(&subpass))?;
    let second = lab.pass(
        &[kept(format), kept(depth_format), Attachment { format, ..CLEAR_STORE }],
        &[Subpass { resolve: Some(2), ..subpass }],
    )?;
    let first_buffer = lab.framebuffer(first, &[samples, depths], SIZE)?;
    let second_buffer = lab.framebuffer(second, &[samples, depths, result], SIZE)?;
    let less = Pipeline { samples: FOUR, depth: Some(vk::CompareOp::LESS), ..Pipeline::default() };
    let masked = lab.pipeline(first, SIZE, &Pipeline { mask: Some(0b0111), ..less.clone() })?;
    let plain = lab.pipeline(second, SIZE, &less)?;
    let near = lab.vertices(&rectangle([-0.64, -0.6, 0.32, 0.4], 0.3, [1.0, 0.0, 0.0, 1.0]))?;
    let far = lab.vertices(&rectangle([-0.32, -0.9, 0.96, 0.2], 0.7, [0.0, 0.0, 1.0, 1.0]))?;
    lab.run(|commands| {
        // SAFETY: the handles live as long as the lab.
        unsafe {
            lab.begin(commands, first, first_buffer, area(SIZE), &[color(GREY), depth(1.0, 0)]);
            lab.draw(commands, masked, near, 6);
            lab.device.cmd_end_render_pass(commands);
            lab.begin(
                commands,
                second,
                second_buffer,
                area(SIZE),
                &[color(GREY), depth(1.0, 0), color(GREY)],
            );
            lab.draw(commands, plain, far, 6);
            lab.device.cmd_end_render_pass(commands);
        }
    })?;
    lab.picture(&result)
}

/// vkCmdResolveImage of a region, for a format whose samples have to be averaged as fractions of 1023.
fn resolve_image(lab: &Lab<'_>) -> Result<Picture, Error> {
    let format = vk::Format::A2B10G10R10_UNORM_PACK32;
    let samples = lab.target(SIZE, format, FOUR)?;
    let result = lab.target([64, 64], format, vk::SampleCountFlags::TYPE_1)?;
    let pass = lab.pass(&[multisampled(format)], &[Subpass { color: Some(0), ..Subpass::default() }])?;
    let framebuffer = lab.framebuffer(pass, &[samples], SIZE)?;
    let state = Pipeline { samples: FOUR, mask: Some(0b0111), ..Pipeline::default() };
    let pipeline = lab.pipeline(pass, SIZE, &state)?;
    let vertices = lab.vertices(&rectangle([-0.64, -0.6, 0.32, 0.4], 0.3, [1.0, 0.0, 0.6, 1.0]))?;
    let layers = vk::ImageSubresourceLayers {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        mip_level: 0,
        base_array_layer: 0,
        layer_count: 1,
    };
    let region = vk::ImageResolve {
        src_subresource: layers,
        src_offset: vk::Offset3D { x: 13, y: 7, z: 0 },
        dst_subresource: layers,
        dst_offset: vk::Offset3D { x: 4, y: 9, z: 0 },
        extent: vk::Extent3D { width: 51, height: 40, depth: 1 },
    };
    lab.run(|commands| {
        let general = vk::ImageLayout::GENERAL;
        // SAFETY: the handles live as long as the lab.
        unsafe {
            let value = vk::ClearColorValue { float32: [0.0, 0.25, 0.75, 1.0] };
            let range = first_level(vk::ImageAspectFlags::COLOR);
            lab.device.cmd_clear_color_image(commands, result.image, general, &value, &[range]);
            lab.begin(commands, pass, framebuffer, area(SIZE), &[color(GREY)]);
            lab.draw(commands, pipeline, vertices, 6);
            lab.device.cmd_end_render_pass(commands);
            lab.barrier(commands);
            lab.device.cmd_resolve_image(commands, samples.image, general, result.image, general, &[region]);
        }
    })?;
    lab.picture(&result)
}

/// A render area that cuts tiles, and vkCmdClearAttachments of a part: what lies outside stays.
fn partial_area(lab: &Lab<'_>) -> Result<Picture, Error> {
    let format = vk::Format::R8G8B8A8_UNORM;
    let target = Resolved::new(lab, format, false)?;
    let state = Pipeline { samples: FOUR, mask: Some(0b0011), ..Pipeline::default() };
    let pipeline = lab.pipeline(target.pass, SIZE, &state)?;
    let vertices = lab.vertices(&rectangle([-1.0, -0.6, 1.0, 0.4], 0.3, [1.0, 0.0, 0.0, 1.0]))?;
    let rect =
        vk::Rect2D { offset: vk::Offset2D { x: 37, y: 21 }, extent: vk::Extent2D { width: 80, height: 60 } };
    let inner = vk::ClearRect {
        rect: vk::Rect2D {
            offset: vk::Offset2D { x: 50, y: 30 },
            extent: vk::Extent2D { width: 9, height: 33 },
        },
        base_array_layer: 0,
        layer_count: 1,
    };
    let clear = vk::ClearAttachment {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        color_attachment: 0,
        clear_value: color([0.0, 1.0, 1.0, 1.0]),
    };
    lab.run(|commands| {
        let general = vk::ImageLayout::GENERAL;
        // SAFETY: the handles live as long as the lab.
        unsafe {
            let value = vk::ClearColorValue { float32: [0.5, 0.25, 0.75, 1.0] };
            let range = first_level(vk::ImageAspectFlags::COLOR);
            lab.device.cmd_clear_color_image(commands, target.result.image, general, &value, &[range]);
            lab.barrier(commands);
            lab.begin(commands, target.pass, target.framebuffer, rect, &[color(GREY), color(GREY)]);
            lab.draw(commands, pipeline, vertices, 6);
            lab.device.cmd_clear_attachments(commands, &[clear], &[inner]);
            lab.device.cmd_end_render_pass(commands);
        }
    })?;
    lab.picture(&target.result)
}
