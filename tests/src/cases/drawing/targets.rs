//! Several colours per subpass, and colours of more than 32 bits.

use ash::vk;

use super::case::{Case, around, exact};
use crate::picture::Picture;
use crate::vulkan::{
    Attachment, CLEAR_STORE, Error, Lab, Pipeline, Subpass, Target, Vertex, area, color, depth, first_level,
    flat, rectangle,
};

/// The programs.
pub const CASES: [Case; 10] = [
    exact("targets-three", three),
    exact("targets-locations", locations),
    exact("targets-wide", wide),
    // Sample positions are the device's choice: pixels of edges differ.
    around("targets-resolve", 0.001, resolve),
    exact("targets-load", load),
    exact("targets-many-draws", many_draws),
    exact("targets-other-formats", other_formats),
    // Depth lies otherwise than all colours, some colours otherwise than depth, and samples of both.
    exact("targets-unequal-depth", |lab| unequal(lab, [SIZE, SIZE, SIZE, [300, 100]])),
    exact("targets-unequal-colors", |lab| unequal(lab, [SIZE, [150, 90], [230, 75], [231, 130]])),
    around("targets-unequal-samples", 0.001, unequal_samples),
];

const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;
const FOUR: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;
const SIZE: [u32; 2] = [110, 70];
const BYTES: vk::Format = vk::Format::R8G8B8A8_UNORM;
const HALVES: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
const FLOATS: vk::Format = vk::Format::R32G32B32A32_SFLOAT;
const CLEARS: [[f32; 4]; 3] = [[0.25, 0.5, 0.75, 1.0], [0.75, 0.25, 0.5, 0.5], [0.5, 0.75, 0.25, 0.25]];

fn three_colors(samples: vk::SampleCountFlags) -> Pipeline {
    Pipeline {
        fragment: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/three_colors.frag.spv")),
        colors: 3,
        depth: Some(vk::CompareOp::LESS),
        samples,
        ..Pipeline::default()
    }
}

/// Three colours with depth: a subpass that draws to all of them, and the colours.
struct Canvas {
    pass: vk::RenderPass,
    framebuffer: vk::Framebuffer,
    colors: Vec<Target>,
}

impl Canvas {
    fn new(lab: &Lab<'_>, formats: [vk::Format; 3], load: vk::AttachmentLoadOp) -> Result<Canvas, Error> {
        let depth_format = lab.depth_stencil_format();
        let target = |format| lab.target(SIZE, format, ONE);
        let colors = formats.into_iter().map(target).collect::<Result<Vec<_>, Error>>()?;
        let mut attachments: Vec<_> =
            formats.map(|format| Attachment { format, load: [load; 2], ..CLEAR_STORE }).to_vec();
        attachments.push(Attachment { format: depth_format, ..CLEAR_STORE });
        let subpass = Subpass {
            color: Some(0),
            others: vec![[Some(1), None], [Some(2), None]],
            depth: Some(3),
            ..Subpass::default()
        };
        let pass = lab.pass(&attachments, &[subpass])?;
        let mut targets = colors.clone();
        targets.push(target(depth_format)?);
        Ok(Canvas { pass, framebuffer: lab.framebuffer(pass, &targets, SIZE)?, colors })
    }

    fn begin(&self, lab: &Lab<'_>, commands: vk::CommandBuffer) {
        let mut clears = CLEARS.map(color).to_vec();
        clears.push(depth(1.0, 0));
        lab.begin(commands, self.pass, self.framebuffer, area(SIZE), &clears);
    }

    /// All colours, one below the other.
    fn picture(&self, lab: &Lab<'_>) -> Result<Picture, Error> {
        below_each_other(lab, &self.colors)
    }
}

pub(super) fn below_each_other(lab: &Lab<'_>, targets: &[Target]) -> Result<Picture, Error> {
    let mut all = Picture { width: 0, height: 0, rgba: Vec::new() };
    for target in targets {
        let picture = lab.picture(target)?;
        all.width = picture.width;
        all.height += picture.height;
        all.rgba.extend(picture.rgba);
    }
    Ok(all)
}

fn end(lab: &Lab<'_>, commands: vk::CommandBuffer) {
    // SAFETY: the handles live as long as the lab.
    unsafe { lab.device.cmd_end_render_pass(commands) };
}

/// Rectangles that hide parts of each other, the nearest first: what a pass leaves in the depth buffer is what the next
/// one must not begin with.
fn rectangles() -> Vec<Vertex> {
    let mut vertices = rectangle([-0.9, -0.8, 0.3, 0.5], 0.2, [1.0, 0.25, 0.0, 1.0]);
    vertices.extend(rectangle([-0.3, -0.4, 0.9, 0.8], 0.6, [0.0, 0.5, 1.0, 0.5]));
    vertices
}

fn draw(lab: &Lab<'_>, canvas: &Canvas, colors: usize) -> Result<(), Error> {
    let pipeline = lab.pipeline(canvas.pass, SIZE, &Pipeline { colors, ..three_colors(ONE) })?;
    let vertices = rectangles();
    let (buffer, count) = (lab.vertices(&vertices)?, vertices.len() as u32);
    lab.run(|commands| {
        canvas.begin(lab, commands);
        lab.draw(commands, pipeline, buffer, count);
        end(lab, commands);
    })
}

/// Bytes, halves and floats at once.
fn three(lab: &Lab<'_>) -> Result<Picture, Error> {
    let canvas = Canvas::new(lab, [BYTES, HALVES, FLOATS], vk::AttachmentLoadOp::CLEAR)?;
    draw(lab, &canvas, 3)?;
    canvas.picture(lab)
}

/// A subpass without a colour at location 0.
fn locations(lab: &Lab<'_>) -> Result<Picture, Error> {
    let target = lab.target(SIZE, BYTES, ONE)?;
    let subpass = Subpass { others: vec![[None; 2], [Some(0), None]], ..Subpass::default() };
    let pass = lab.pass(&[Attachment { format: BYTES, ..CLEAR_STORE }], &[subpass])?;
    let framebuffer = lab.framebuffer(pass, &[target], SIZE)?;
    let pipeline = lab.pipeline(pass, SIZE, &Pipeline { depth: None, ..three_colors(ONE) })?;
    let vertices = rectangles();
    let (buffer, count) = (lab.vertices(&vertices)?, vertices.len() as u32);
    lab.run(|commands| {
        lab.begin(commands, pass, framebuffer, area(SIZE), &[color(CLEARS[0])]);
        lab.draw(commands, pipeline, buffer, count);
        end(lab, commands);
    })?;
    lab.picture(&target)
}

/// One colour of 128 bits, blue and alpha of it masked, and a part of it cleared behind the draw.
fn wide(lab: &Lab<'_>) -> Result<Picture, Error> {
    let target = lab.target(SIZE, FLOATS, ONE)?;
    let subpass = Subpass { color: Some(0), ..Subpass::default() };
    let pass = lab.pass(&[Attachment { format: FLOATS, ..CLEAR_STORE }], &[subpass])?;
    let framebuffer = lab.framebuffer(pass, &[target], SIZE)?;
    let blend = vk::PipelineColorBlendAttachmentState::default()
        .color_write_mask(vk::ColorComponentFlags::R | vk::ColorComponentFlags::G);
    let pipeline = lab.pipeline(pass, SIZE, &Pipeline { blend, ..Pipeline::default() })?;
    let vertices = rectangles();
    let (buffer, count) = (lab.vertices(&vertices)?, vertices.len() as u32);
    let clear = vk::ClearAttachment {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        color_attachment: 0,
        clear_value: color([0.1, 0.9, 0.3, 0.7]),
    };
    let rect =
        vk::Rect2D { offset: vk::Offset2D { x: 13, y: 5 }, extent: vk::Extent2D { width: 30, height: 41 } };
    let rect = vk::ClearRect { rect, base_array_layer: 0, layer_count: 1 };
    lab.run(|commands| {
        lab.begin(commands, pass, framebuffer, area(SIZE), &[color(CLEARS[1])]);
        lab.draw(commands, pipeline, buffer, count);
        // SAFETY: the handles live as long as the lab.
        unsafe { lab.device.cmd_clear_attachments(commands, &[clear], &[rect]) };
        end(lab, commands);
    })?;
    lab.picture(&target)
}

/// Four samples of each colour, resolved by the tiles and by the CPU; half of the samples are drawn.
fn resolve(lab: &Lab<'_>) -> Result<Picture, Error> {
    let formats = [BYTES, HALVES];
    let samples: Vec<_> =
        formats.into_iter().map(|format| lab.target(SIZE, format, FOUR)).collect::<Result<_, _>>()?;
    let results: Vec<_> =
        formats.into_iter().map(|format| lab.target(SIZE, format, ONE)).collect::<Result<_, _>>()?;
    let attachment = |samples| move |format| Attachment { format, samples, ..CLEAR_STORE };
    let attachments =
        [formats.map(attachment(FOUR)).as_slice(), formats.map(attachment(ONE)).as_slice()].concat();
    let subpass =
        Subpass { color: Some(0), resolve: Some(2), others: vec![[Some(1), Some(3)]], ..Subpass::default() };
    let pass = lab.pass(&attachments, &[subpass])?;
    let framebuffer = lab.framebuffer(pass, &[samples, results.clone()].concat(), SIZE)?;
    let state = Pipeline { colors: 2, depth: None, mask: Some(0b0110), ..three_colors(FOUR) };
    let pipeline = lab.pipeline(pass, SIZE, &state)?;
    let vertices = rectangles();
    let (buffer, count) = (lab.vertices(&vertices)?, vertices.len() as u32);
    lab.run(|commands| {
        lab.begin(
            commands,
            pass,
            framebuffer,
            area(SIZE),
            &[CLEARS[0], CLEARS[1], CLEARS[2], CLEARS[2]].map(color),
        );
        lab.draw(commands, pipeline, buffer, count);
        end(lab, commands);
    })?;
    below_each_other(lab, &results)
}

/// Colours that hold something already.
fn load(lab: &Lab<'_>) -> Result<Picture, Error> {
    let canvas = Canvas::new(lab, [HALVES, FLOATS, BYTES], vk::AttachmentLoadOp::LOAD)?;
    lab.run(|commands| {
        for (target, value) in canvas.colors.iter().zip(CLEARS) {
            let value = vk::ClearColorValue { float32: value };
            let (general, range) = (vk::ImageLayout::GENERAL, first_level(vk::ImageAspectFlags::COLOR));
            // SAFETY: the handles live as long as the lab.
            unsafe { lab.device.cmd_clear_color_image(commands, target.image, general, &value, &[range]) };
        }
        lab.barrier(commands);
    })?;
    draw(lab, &canvas, 3)?;
    canvas.picture(lab)
}

/// More draws than a job takes, each nearer than the one before, in a band that moves.
fn many_draws(lab: &Lab<'_>) -> Result<Picture, Error> {
    const DRAWS: u32 = 9000;
    let canvas = Canvas::new(lab, [BYTES, HALVES, BYTES], vk::AttachmentLoadOp::CLEAR)?;
    let pipeline = lab.pipeline(canvas.pass, SIZE, &three_colors(ONE))?;
    let mut vertices = rectangle([-0.5, -0.9, 0.5, 0.9], 0.5, [1.0, 0.0, 1.0, 1.0]);
    for n in 0..DRAWS {
        let along = n as f32 / DRAWS as f32;
        let (left, z) = (-0.95 + 1.8 * along, 0.9 - 0.8 * along);
        vertices.extend(rectangle([left, -0.6, left + 0.05, 0.6], z, [along, 1.0 - along, 0.5, 1.0]));
    }
    let buffer = lab.vertices(&vertices)?;
    lab.run(|commands| {
        canvas.begin(lab, commands);
        lab.draw(commands, pipeline, buffer, 6);
        for n in 0..DRAWS {
            // SAFETY: the handles live as long as the lab.
            unsafe { lab.device.cmd_draw(commands, 6, 1, 6 + 6 * n, 0) };
        }
        end(lab, commands);
    })?;
    canvas.picture(lab)
}

/// Images of formats that are no attachments, drawn to through views of formats that are.
fn other_formats(lab: &Lab<'_>) -> Result<Picture, Error> {
    const TWO: vk::Format = vk::Format::R8G8_UNORM;
    let formats = [
        (vk::Format::B4G4R4A4_UNORM_PACK16, TWO),
        (vk::Format::B10G11R11_UFLOAT_PACK32, BYTES),
        (vk::Format::E5B9G9R9_UFLOAT_PACK32, BYTES),
    ];
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
    let flags = vk::ImageCreateFlags::MUTABLE_FORMAT | vk::ImageCreateFlags::EXTENDED_USAGE;
    let vertices = rectangles();
    let (buffer, count) = (lab.vertices(&vertices)?, vertices.len() as u32);
    let mut targets = Vec::new();
    for (own, format) in formats {
        let image = lab.image(&flat(SIZE, own, ONE, usage).flags(flags))?;
        let view = lab.view(image, format, vk::ImageAspectFlags::COLOR)?;
        let target = Target { image, view, format, samples: ONE, size: SIZE };
        let subpass = Subpass { color: Some(0), ..Subpass::default() };
        let pass = lab.pass(&[Attachment { format, ..CLEAR_STORE }], &[subpass])?;
        let framebuffer = lab.framebuffer(pass, &[target], SIZE)?;
        let pipeline = lab.pipeline(pass, SIZE, &Pipeline::default())?;
        lab.run(|commands| {
            lab.begin(commands, pass, framebuffer, area(SIZE), &[color(CLEARS[0])]);
            lab.draw(commands, pipeline, buffer, count);
            end(lab, commands);
        })?;
        targets.push(target);
    }
    below_each_other(lab, &targets)
}

/// Colours and depth of several sizes, the last one depth's; all are at least as large as the framebuffer. A pass in the
/// middle, with a part cleared between two draws, and another one everywhere, which loads what the first left.
fn unequal(lab: &Lab<'_>, sizes: [[u32; 2]; 4]) -> Result<Picture, Error> {
    let depth_format = lab.depth_stencil_format();
    let formats = [BYTES, HALVES, BYTES];
    let mut targets = Vec::new();
    for (size, format) in sizes.into_iter().zip(formats.into_iter().chain([depth_format])) {
        targets.push(lab.target(size, format, ONE)?);
    }
    let (load, clear) = (vk::AttachmentLoadOp::LOAD, vk::AttachmentLoadOp::CLEAR);
    let subpass = Subpass {
        color: Some(0),
        others: vec![[Some(1), None], [Some(2), None]],
        depth: Some(3),
        ..Subpass::default()
    };
    let pass = |depth| {
        let of = |format, load| Attachment { format, load: [load; 2], ..CLEAR_STORE };
        let mut attachments = formats.map(|format| of(format, load)).to_vec();
        attachments.push(of(depth_format, depth));
        lab.pass(&attachments, std::slice::from_ref(&subpass))
    };
    let passes = [pass(clear)?, pass(load)?];
    let framebuffer = lab.framebuffer(passes[0], &targets, SIZE)?;
    let pipeline = lab.pipeline(passes[0], SIZE, &three_colors(ONE))?;
    let near = rectangles();
    let between = rectangle([-0.95, -0.2, 0.95, 0.95], 0.4, [1.0, 1.0, 0.0, 1.0]);
    let cleared = vk::ClearAttachment {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        color_attachment: 1,
        clear_value: color([0.1, 0.9, 0.3, 0.7]),
    };
    let rect = |x, y, width, height| vk::Rect2D {
        offset: vk::Offset2D { x, y },
        extent: vk::Extent2D { width, height },
    };
    let part = vk::ClearRect { rect: rect(20, 12, 40, 21), base_array_layer: 0, layer_count: 1 };
    let (buffers, counts) = ([lab.vertices(&near)?, lab.vertices(&between)?], [near.len(), between.len()]);
    lab.run(|commands| {
        let general = vk::ImageLayout::GENERAL;
        for (target, value) in targets.iter().zip(CLEARS) {
            let (value, range) =
                (vk::ClearColorValue { float32: value }, first_level(vk::ImageAspectFlags::COLOR));
            // SAFETY: the handles live as long as the lab.
            unsafe { lab.device.cmd_clear_color_image(commands, target.image, general, &value, &[range]) };
        }
        let aspects = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
        let value = vk::ClearDepthStencilValue { depth: 1.0, stencil: 0 };
        // SAFETY: as above.
        unsafe {
            let depths = targets[3].image;
            lab.device.cmd_clear_depth_stencil_image(
                commands,
                depths,
                general,
                &value,
                &[first_level(aspects)],
            );
        }
        lab.barrier(commands);
        let clears = [color(CLEARS[0]), color(CLEARS[1]), color(CLEARS[2]), depth(0.9, 3)];
        lab.begin(commands, passes[0], framebuffer, rect(5, 6, 101, 58), &clears);
        lab.draw(commands, pipeline, buffers[0], counts[0] as u32);
        // SAFETY: as above.
        unsafe { lab.device.cmd_clear_attachments(commands, &[cleared], &[part]) };
        lab.draw(commands, pipeline, buffers[0], 6);
        end(lab, commands);
        lab.barrier(commands);
        lab.begin(commands, passes[1], framebuffer, area(SIZE), &clears);
        lab.draw(commands, pipeline, buffers[1], counts[1] as u32);
        end(lab, commands);
    })?;
    let mut all = Picture { width: 240, height: 0, rgba: Vec::new() };
    for target in &targets[..3] {
        let picture = lab.picture(target)?;
        for row in picture.rgba.chunks_exact(4 * picture.width as usize) {
            all.rgba.extend_from_slice(row);
            all.rgba.resize(all.rgba.len() + 4 * (all.width - picture.width) as usize, 0);
        }
        all.height += picture.height;
    }
    Ok(all)
}

/// Four samples, depth wider than the colour, and a result that is wider than both.
fn unequal_samples(lab: &Lab<'_>) -> Result<Picture, Error> {
    let depth_format = lab.depth_stencil_format();
    let targets = [
        lab.target(SIZE, BYTES, FOUR)?,
        lab.target([190, 80], depth_format, FOUR)?,
        lab.target([330, 90], BYTES, ONE)?,
    ];
    let of = |format, samples, load| Attachment { format, samples, load: [load; 2], ..CLEAR_STORE };
    let clear = vk::AttachmentLoadOp::CLEAR;
    let attachments = [of(BYTES, FOUR, clear), of(depth_format, FOUR, clear), of(BYTES, ONE, clear)];
    let subpass = Subpass { color: Some(0), depth: Some(1), resolve: Some(2), ..Subpass::default() };
    let pass = lab.pass(&attachments, &[subpass])?;
    let framebuffer = lab.framebuffer(pass, &targets, SIZE)?;
    let state = Pipeline { depth: Some(vk::CompareOp::LESS), samples: FOUR, ..Pipeline::default() };
    let pipeline = lab.pipeline(pass, SIZE, &state)?;
    let vertices = rectangles();
    let (buffer, count) = (lab.vertices(&vertices)?, vertices.len() as u32);
    lab.run(|commands| {
        let value = vk::ClearColorValue { float32: CLEARS[2] };
        let range = first_level(vk::ImageAspectFlags::COLOR);
        let general = vk::ImageLayout::GENERAL;
        // SAFETY: the handles live as long as the lab.
        unsafe { lab.device.cmd_clear_color_image(commands, targets[2].image, general, &value, &[range]) };
        lab.barrier(commands);
        let clears = [color(CLEARS[0]), depth(1.0, 0), color(CLEARS[1])];
        lab.begin(commands, pass, framebuffer, area(SIZE), &clears);
        lab.draw(commands, pipeline, buffer, count);
        end(lab, commands);
    })?;
    lab.picture(&targets[2])
}
