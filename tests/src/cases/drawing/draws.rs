//! Draws whose vertices, indices or number the machine does not take as they are.

use ash::vk;

use super::case::{Case, exact};
use crate::picture::Picture;
use crate::vulkan::{
    Attachment, CLEAR_STORE, Error, Lab, Pipeline, Subpass, Target, Vertex, area, color, depth, rectangle,
};

/// The programs.
pub const CASES: [Case; 7] = [
    exact("draw-far-indices", far_indices),
    exact("draw-restart", restart),
    exact("draw-many", many),
    exact("draw-indirect", indirect),
    exact("draw-viewports", viewports),
    exact("pass-depth-then-color", depth_then_color),
    exact("stencil-two-sided", two_sided_stencil),
];

pub(super) const SIZE: [u32; 2] = [120, 80];
const GREY: [f32; 4] = [0.25, 0.25, 0.25, 1.0];

/// A colour target and the pass that clears it.
pub(super) struct Canvas {
    /// The pass.
    pub pass: vk::RenderPass,
    framebuffer: vk::Framebuffer,
    target: Target,
}

impl Canvas {
    pub fn new(lab: &Lab<'_>, with_depth: bool) -> Result<Canvas, Error> {
        let (format, depth_format) = (vk::Format::R8G8B8A8_UNORM, lab.depth_stencil_format());
        let target = lab.target(SIZE, format, vk::SampleCountFlags::TYPE_1)?;
        let mut targets = vec![target];
        let mut attachments = vec![Attachment { format, ..CLEAR_STORE }];
        if with_depth {
            targets.push(lab.target(SIZE, depth_format, vk::SampleCountFlags::TYPE_1)?);
            attachments.push(Attachment { format: depth_format, ..CLEAR_STORE });
        }
        let subpass = Subpass { color: Some(0), depth: with_depth.then_some(1), ..Subpass::default() };
        let pass = lab.pass(&attachments, &[subpass])?;
        Ok(Canvas { pass, framebuffer: lab.framebuffer(pass, &targets, SIZE)?, target })
    }

    /// Runs `draw` inside of the pass.
    pub fn draw(&self, lab: &Lab<'_>, draw: impl FnOnce(vk::CommandBuffer)) -> Result<Picture, Error> {
        lab.run(|commands| self.record(lab, commands, draw))?;
        self.picture(lab)
    }

    /// Records the pass with `draw` in it.
    pub fn record(&self, lab: &Lab<'_>, commands: vk::CommandBuffer, draw: impl FnOnce(vk::CommandBuffer)) {
        let clears = [color(GREY), depth(1.0, 0)];
        lab.begin(commands, self.pass, self.framebuffer, area(SIZE), &clears);
        draw(commands);
        // SAFETY: the handles live as long as the lab.
        unsafe { lab.device.cmd_end_render_pass(commands) };
    }

    /// What was drawn.
    pub fn picture(&self, lab: &Lab<'_>) -> Result<Picture, Error> {
        lab.picture(&self.target)
    }
}

fn bytes(words: impl IntoIterator<Item = u32>) -> Vec<u8> {
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Triangles whose vertices lie more than 65535 apart, and an offset that is added to them.
fn far_indices(lab: &Lab<'_>) -> Result<Picture, Error> {
    let canvas = Canvas::new(lab, false)?;
    let pipeline = lab.pipeline(canvas.pass, SIZE, &Pipeline::default())?;
    let mut vertices: Vec<Vertex> = vec![[9.0; 7]; 150_000];
    let corners = rectangle([-0.8, -0.7, 0.3, 0.6], 0.5, [1.0, 0.5, 0.0, 1.0]);
    let places = [5, 70_000, 149_000, 149_001, 70_001, 6];
    corners.iter().zip(places).for_each(|(corner, place)| vertices[place] = *corner);
    let small = rectangle([0.1, -0.2, 0.9, 0.9], 0.5, [0.0, 0.5, 1.0, 1.0]);
    vertices[100..106].copy_from_slice(&small);
    let vertices = lab.vertices(&vertices)?;
    let indices = bytes(places.map(|place| place as u32).into_iter().chain(90..96));
    let indices = lab.buffer(&indices, vk::BufferUsageFlags::INDEX_BUFFER)?;
    canvas.draw(lab, |commands| {
        // SAFETY: the handles live as long as the lab.
        unsafe {
            lab.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            lab.device.cmd_bind_vertex_buffers(commands, 0, &[vertices], &[0]);
            lab.device.cmd_bind_index_buffer(commands, indices, 0, vk::IndexType::UINT32);
            lab.device.cmd_draw_indexed(commands, 6, 1, 0, 0, 0);
            lab.device.cmd_draw_indexed(commands, 6, 1, 6, 10, 0);
        }
    })
}

/// Strips and fans that begin anew at the largest index, of 16 and of 32 bits, and a strip of bytes.
fn restart(lab: &Lab<'_>) -> Result<Picture, Error> {
    let canvas = Canvas::new(lab, false)?;
    let pipeline = |topology| {
        let state = Pipeline { topology, restart: true, ..Pipeline::default() };
        lab.pipeline(canvas.pass, SIZE, &state)
    };
    let strip = pipeline(vk::PrimitiveTopology::TRIANGLE_STRIP)?;
    let fan = pipeline(vk::PrimitiveTopology::TRIANGLE_FAN)?;
    let place = |n: u32| {
        let (x, y) = (-0.9 + 0.3 * (n / 2 % 6) as f32, -0.8 + 0.35 * (n % 2) as f32 + 0.8 * (n / 12) as f32);
        [x, y, 0.5, 0.1 * (n % 10) as f32, 1.0 - 0.04 * n as f32, 0.5, 1.0]
    };
    let vertices = lab.vertices(&(0..24).map(place).collect::<Vec<_>>())?;
    let short: Vec<u8> =
        [0u16, 1, 2, 3, 4, 0xffff, 6, 7, 8, 9].iter().flat_map(|index| index.to_le_bytes()).collect();
    let short = lab.buffer(&short, vk::BufferUsageFlags::INDEX_BUFFER)?;
    let long = bytes([12, 13, 15, 14, u32::MAX, 18, 19, 21, 23, 22]);
    let long = lab.buffer(&long, vk::BufferUsageFlags::INDEX_BUFFER)?;
    // The first two are passed over.
    let tiny = lab.buffer(&[9, 9, 17, 16, 11, 0xff, 5, 10, 4], vk::BufferUsageFlags::INDEX_BUFFER)?;
    canvas.draw(lab, |commands| {
        // SAFETY: the handles live as long as the lab.
        unsafe {
            lab.device.cmd_bind_vertex_buffers(commands, 0, &[vertices], &[0]);
            lab.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, strip);
            lab.device.cmd_bind_index_buffer(commands, short, 0, vk::IndexType::UINT16);
            lab.device.cmd_draw_indexed(commands, 10, 1, 0, 0, 0);
            lab.device.cmd_bind_index_buffer(commands, tiny, 1, vk::IndexType::UINT8_KHR);
            lab.device.cmd_draw_indexed(commands, 7, 1, 1, 0, 0);
            lab.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, fan);
            lab.device.cmd_bind_index_buffer(commands, long, 0, vk::IndexType::UINT32);
            lab.device.cmd_draw_indexed(commands, 10, 1, 0, 0, 0);
        }
    })
}

/// More draws than a bin list takes, blended, so that their order shows.
fn many(lab: &Lab<'_>) -> Result<Picture, Error> {
    const DRAWS: u32 = 8000;
    let canvas = Canvas::new(lab, true)?;
    let blend = vk::PipelineColorBlendAttachmentState::default()
        .blend_enable(true)
        .src_color_blend_factor(vk::BlendFactor::ONE)
        .dst_color_blend_factor(vk::BlendFactor::ONE_MINUS_SRC_ALPHA)
        .src_alpha_blend_factor(vk::BlendFactor::ONE)
        .dst_alpha_blend_factor(vk::BlendFactor::ZERO)
        .color_write_mask(vk::ColorComponentFlags::RGBA);
    let state = Pipeline { blend, depth: Some(vk::CompareOp::LESS_OR_EQUAL), ..Pipeline::default() };
    let pipeline = lab.pipeline(canvas.pass, SIZE, &state)?;
    let vertices: Vec<Vertex> = (0..DRAWS)
        .flat_map(|n| {
            // Whole pixels: nothing but the order decides.
            let (x, y) = (n % 110, n / 110);
            let clip = |px: u32, edge: u32| 2.0 * px as f32 / edge as f32 - 1.0;
            let corners = [clip(x, SIZE[0]), clip(y, SIZE[1]), clip(x + 6, SIZE[0]), clip(y + 5, SIZE[1])];
            let rgb = [7, 11, 13].map(|period| (n % period) as f32 / period as f32);
            rectangle(corners, 0.5, [rgb[0], rgb[1], rgb[2], 0.5])
        })
        .collect();
    let vertices = lab.vertices(&vertices)?;
    canvas.draw(lab, |commands| {
        // SAFETY: the handles live as long as the lab.
        unsafe {
            lab.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            lab.device.cmd_bind_vertex_buffers(commands, 0, &[vertices], &[0]);
            (0..DRAWS).for_each(|n| lab.device.cmd_draw(commands, 6, 1, 6 * n, 0));
        }
    })
}

/// Parameters in memory, among them those of an empty draw.
fn indirect(lab: &Lab<'_>) -> Result<Picture, Error> {
    let canvas = Canvas::new(lab, false)?;
    let pipeline = lab.pipeline(canvas.pass, SIZE, &Pipeline::default())?;
    let mut vertices = rectangle([-0.8, -0.7, 0.3, 0.6], 0.5, [1.0, 0.5, 0.0, 1.0]);
    vertices.extend(rectangle([0.1, -0.2, 0.9, 0.9], 0.5, [0.0, 0.5, 1.0, 1.0]));
    let vertices = lab.vertices(&vertices)?;
    let arguments = bytes([7, 6, 1, 0, 0, 0, 1, 0, 0, 3, 1, 3, 3, 0]);
    let arguments = lab.buffer(&arguments, vk::BufferUsageFlags::INDIRECT_BUFFER)?;
    let indices = lab.buffer(&bytes([0, 1, 2, 3, 4, 5]), vk::BufferUsageFlags::INDEX_BUFFER)?;
    canvas.draw(lab, |commands| {
        // SAFETY: the handles live as long as the lab.
        unsafe {
            lab.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            lab.device.cmd_bind_vertex_buffers(commands, 0, &[vertices], &[0]);
            lab.device.cmd_draw_indirect(commands, arguments, 4, 1, 16);
            lab.device.cmd_draw_indirect(commands, arguments, 20, 1, 16);
            lab.device.cmd_draw_indirect(commands, arguments, 4, 0, 16);
            lab.device.cmd_bind_index_buffer(commands, indices, 0, vk::IndexType::UINT32);
            lab.device.cmd_draw_indexed_indirect(commands, arguments, 36, 1, 20);
        }
    })
}

/// Several viewports and scissors, of pipelines and by commands: what no stage sends elsewhere goes through the first.
fn viewports(lab: &Lab<'_>) -> Result<Picture, Error> {
    let canvas = Canvas::new(lab, false)?;
    let [width, height] = SIZE;
    let half = vk::Rect2D {
        offset: vk::Offset2D { x: width as i32 / 2, y: 0 },
        extent: vk::Extent2D { width: width / 2, height },
    };
    let state = Pipeline { others: vec![half; 15], ..Pipeline::default() };
    let fixed = lab.pipeline(canvas.pass, SIZE, &state)?;
    let set = lab.dynamic_pipeline(canvas.pass, &Pipeline { others: vec![half], ..Pipeline::default() })?;
    let first = lab.vertices(&rectangle([-0.8, -0.7, 0.3, 0.6], 0.5, [1.0, 0.5, 0.0, 1.0]))?;
    let second = lab.vertices(&rectangle([0.0, -0.2, 0.8, 0.9], 0.5, [0.0, 0.5, 1.0, 1.0]))?;
    let place = |x, y, width, height| vk::Viewport { x, y, width, height, min_depth: 0.0, max_depth: 1.0 };
    let (width, height) = (width as f32, height as f32);
    canvas.draw(lab, |commands| {
        lab.draw(commands, fixed, first, 6);
        // SAFETY: the handles live as long as the lab.
        unsafe {
            let all = [place(width / 2.0, 0.0, width / 2.0, height), place(0.0, 0.0, width / 4.0, height)];
            lab.device.cmd_set_viewport(commands, 0, &all);
            lab.device.cmd_set_viewport(commands, 1, &[place(0.0, 0.0, width, height / 2.0)]);
            lab.device.cmd_set_scissor(commands, 1, &[area([8, 8])]);
            lab.device.cmd_set_scissor(commands, 0, &[half]);
        }
        lab.draw(commands, set, second, 6);
    })
}

/// A subpass of depth alone, one that it hides parts of, one that leaves the depth aside, and a target in between
/// that is only preserved.
fn depth_then_color(lab: &Lab<'_>) -> Result<Picture, Error> {
    let (format, depth_format) = (vk::Format::R8G8B8A8_UNORM, lab.depth_stencil_format());
    let target = lab.target(SIZE, format, vk::SampleCountFlags::TYPE_1)?;
    let depths = lab.target(SIZE, depth_format, vk::SampleCountFlags::TYPE_1)?;
    let dropped = [vk::AttachmentStoreOp::DONT_CARE; 2];
    let attachments = [
        Attachment { format, ..CLEAR_STORE },
        Attachment { format: depth_format, store: dropped, ..CLEAR_STORE },
    ];
    let pass = lab.pass(
        &attachments,
        &[
            Subpass { depth: Some(1), ..Subpass::default() },
            Subpass { color: Some(0), preserve: vec![1], ..Subpass::default() },
            Subpass { color: Some(0), depth: Some(1), ..Subpass::default() },
        ],
    )?;
    let framebuffer = lab.framebuffer(pass, &[target, depths], SIZE)?;
    let less = Pipeline { depth: Some(vk::CompareOp::LESS), ..Pipeline::default() };
    let first = lab.pipeline(pass, SIZE, &less)?;
    let second = lab.pipeline(pass, SIZE, &Pipeline { subpass: 1, ..Pipeline::default() })?;
    let third = lab.pipeline(pass, SIZE, &Pipeline { subpass: 2, ..less })?;
    let near = lab.vertices(&rectangle([-0.8, -0.7, 0.0, 0.6], 0.3, [1.0; 4]))?;
    let flat = lab.vertices(&rectangle([-0.5, -0.9, 0.5, 0.1], 0.9, [0.0, 1.0, 0.0, 1.0]))?;
    let far = lab.vertices(&rectangle([-0.4, -0.3, 0.9, 0.9], 0.6, [0.0, 0.0, 1.0, 1.0]))?;
    lab.run(|commands| {
        let next = || {
            // SAFETY: the handles live as long as the lab.
            unsafe { lab.device.cmd_next_subpass(commands, vk::SubpassContents::INLINE) }
        };
        lab.begin(commands, pass, framebuffer, area(SIZE), &[color(GREY), depth(1.0, 0)]);
        lab.draw(commands, first, near, 6);
        next();
        lab.draw(commands, second, flat, 6);
        next();
        lab.draw(commands, third, far, 6);
        // SAFETY: as above.
        unsafe { lab.device.cmd_end_render_pass(commands) };
    })?;
    lab.picture(&target)
}

/// Front and back faces with different stencil state side by side, in triangles so small that they share batches.
fn two_sided_stencil(lab: &Lab<'_>) -> Result<Picture, Error> {
    let canvas = Canvas::new(lab, true)?;
    let face = |compare_op, pass_op, reference, write_mask| vk::StencilOpState {
        fail_op: vk::StencilOp::KEEP,
        pass_op,
        depth_fail_op: vk::StencilOp::KEEP,
        compare_op,
        compare_mask: 0xff,
        write_mask,
        reference,
    };
    let front = face(vk::CompareOp::ALWAYS, vk::StencilOp::REPLACE, 3, 0xff);
    let back = face(vk::CompareOp::ALWAYS, vk::StencilOp::INVERT, 0, 0x5a);
    let marks = Pipeline { stencil: Some([front, back]), ..Pipeline::default() };
    let marks = lab.pipeline(canvas.pass, SIZE, &marks)?;
    let shown = |reference| {
        let equal = face(vk::CompareOp::EQUAL, vk::StencilOp::KEEP, reference, 0);
        lab.pipeline(canvas.pass, SIZE, &Pipeline { stencil: Some([equal, equal]), ..Pipeline::default() })
    };
    let (three, inverted) = (shown(3)?, shown(0x5a)?);
    // Two by two pixels each, turning this way and that.
    let mut small = Vec::new();
    for n in 0..600u32 {
        let (x, y) = (-1.0 + (n % 30) as f32 / 15.0, -1.0 + (n / 30) as f32 / 10.0);
        let (w, h) = (1.0 / 30.0, 1.0 / 20.0);
        let mut corners = [(x, y), (x, y + 2.0 * h), (x + 2.0 * w, y)];
        if n % 3 == 0 {
            corners.swap(1, 2);
        }
        small.extend(corners.map(|(x, y)| [x, y, 0.5, 0.5, 0.5, 0.5, 1.0]));
    }
    let count = small.len() as u32;
    let small = lab.vertices(&small)?;
    let red = lab.vertices(&rectangle([-1.0, -1.0, 1.0, 1.0], 0.5, [1.0, 0.0, 0.0, 1.0]))?;
    let blue = lab.vertices(&rectangle([-1.0, -1.0, 1.0, 1.0], 0.5, [0.0, 0.0, 1.0, 1.0]))?;
    canvas.draw(lab, |commands| {
        lab.draw(commands, marks, small, count);
        lab.draw(commands, three, red, 6);
        lab.draw(commands, inverted, blue, 6);
    })
}
