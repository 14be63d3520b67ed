//! Passes whose attachments are said when they begin.

use ash::vk;

use super::case::{Case, exact};
use super::{targets, views};
use crate::picture::Picture;
use crate::vulkan::{Error, Lab, Pipeline, Rendering, area, color, depth, rectangle, rendered};

/// The programs.
pub const CASES: [Case; 3] = [
    exact("rendering-parts", parts),
    exact("rendering-resolves", resolves),
    exact("rendering-views", several_views),
];

/// As [`targets::below_each_other`] wants it.
const SIZE: [u32; 2] = [110, 70];
const BYTES: vk::Format = vk::Format::R8G8B8A8_UNORM;
const HALVES: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
const DEPTH: vk::Format = vk::Format::D16_UNORM;
const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;
const FOUR: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;
const CLEAR: vk::AttachmentLoadOp = vk::AttachmentLoadOp::CLEAR;
const LOAD: vk::AttachmentLoadOp = vk::AttachmentLoadOp::LOAD;
const COLOR_ASPECT: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;

macro_rules! shader {
    ($name:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $name, ".spv"))
    };
}

fn pass<'a>(
    colors: &'a [vk::RenderingAttachmentInfo<'a>],
    depth: Option<&'a vk::RenderingAttachmentInfo<'a>>,
) -> vk::RenderingInfo<'a> {
    let info = vk::RenderingInfo::default().render_area(area(SIZE)).layer_count(1).color_attachments(colors);
    match depth {
        Some(depth) => info.depth_attachment(depth),
        None => info,
    }
}

/// Two colours with an unused one between them, and depth: begun, drawn to, suspended, resumed, drawn to by a secondary
/// command buffer; then loaded in a part, cleared in a part of that, and drawn to again.
fn parts(lab: &Lab<'_>) -> Result<Picture, Error> {
    let (bytes, halves) = (lab.target(SIZE, BYTES, ONE)?, lab.target(SIZE, HALVES, ONE)?);
    let depths = lab.target(SIZE, DEPTH, ONE)?;
    let formats = vec![BYTES, vk::Format::UNDEFINED, HALVES];
    let state = Pipeline {
        fragment: shader!("three_colors.frag"),
        colors: 3,
        depth: Some(vk::CompareOp::LESS),
        rendering: Some(Rendering { colors: formats.clone(), depth: DEPTH, view_mask: 0 }),
        ..Pipeline::default()
    };
    let pipeline = lab.pipeline(vk::RenderPass::null(), SIZE, &state)?;
    let meshes = [
        rectangle([-0.9, -0.8, 0.3, 0.5], 0.2, [1.0, 0.25, 0.0, 1.0]),
        rectangle([-0.3, -0.4, 0.9, 0.8], 0.6, [0.0, 0.5, 1.0, 0.5]),
        // Inside of the area that is loaded.
        rectangle([-0.55, -0.65, 0.2, 0.55], 0.4, [0.5, 1.0, 0.25, 0.75]),
    ];
    let [first, second, third] = meshes.map(|vertices| lab.vertices(&vertices));
    let (first, second, third) = (first?, second?, third?);
    let mut inherited = vk::CommandBufferInheritanceRenderingInfo::default()
        .flags(vk::RenderingFlags::RESUMING)
        .color_attachment_formats(&formats)
        .depth_attachment_format(DEPTH)
        .rasterization_samples(ONE);
    let secondary = lab.inside(&mut inherited, |commands| lab.draw(commands, pipeline, second, 6))?;

    let colors = |load| {
        [
            rendered(bytes.view, load, color([0.25, 0.5, 0.75, 1.0])),
            vk::RenderingAttachmentInfo::default(),
            rendered(halves.view, load, color([0.75, 0.25, 0.5, 0.5])),
        ]
    };
    let depth_of = |load| rendered(depths.view, load, depth(1.0, 0));
    lab.run(|commands| {
        let all = [
            (bytes.image, COLOR_ASPECT),
            (halves.image, COLOR_ASPECT),
            (depths.image, vk::ImageAspectFlags::DEPTH),
        ];
        lab.to_general(commands, &all);
        let (cleared, depth) = (colors(CLEAR), depth_of(CLEAR));
        let info = pass(&cleared, Some(&depth));
        lab.render(commands, &info.flags(vk::RenderingFlags::SUSPENDING), |commands| {
            lab.draw(commands, pipeline, first, 6);
        });
        let resumed = vk::RenderingFlags::RESUMING | vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS;
        // SAFETY: the command buffer is executable and comes from this device.
        lab.render(commands, &info.flags(resumed), |commands| unsafe {
            lab.device.cmd_execute_commands(commands, &[secondary]);
        });
        lab.barrier(commands);
        let (loaded, depth) = (colors(LOAD), depth_of(LOAD));
        let mut info = pass(&loaded, Some(&depth));
        info.render_area.offset = vk::Offset2D { x: 21, y: 9 };
        info.render_area.extent = vk::Extent2D { width: 50, height: 51 };
        let part = vk::ClearRect {
            rect: vk::Rect2D {
                offset: vk::Offset2D { x: 30, y: 20 },
                extent: vk::Extent2D { width: 20, height: 15 },
            },
            base_array_layer: 0,
            layer_count: 1,
        };
        let value = vk::ClearAttachment {
            aspect_mask: COLOR_ASPECT,
            color_attachment: 2,
            clear_value: color([1.0, 1.0, 0.0, 1.0]),
        };
        lab.render(commands, &info, |commands| {
            lab.draw(commands, pipeline, third, 6);
            // SAFETY: the rectangle lies in the area.
            unsafe { lab.device.cmd_clear_attachments(commands, &[value], &[part]) };
        });
        lab.barrier(commands);
    })?;
    targets::below_each_other(lab, &[bytes, halves])
}

/// Four samples of colour and depth, resolved; what the resolved depth hides shows what it is.
fn resolves(lab: &Lab<'_>) -> Result<Picture, Error> {
    let (drawn, resolved) = (lab.target(SIZE, BYTES, FOUR)?, lab.target(SIZE, BYTES, ONE)?);
    let (depths, near) = (lab.target(SIZE, DEPTH, FOUR)?, lab.target(SIZE, DEPTH, ONE)?);
    let rendering = Rendering { colors: vec![BYTES], depth: DEPTH, view_mask: 0 };
    let state = |samples, op| Pipeline {
        samples,
        depth: Some(op),
        rendering: Some(rendering.clone()),
        ..Pipeline::default()
    };
    let writer = lab.pipeline(vk::RenderPass::null(), SIZE, &state(FOUR, vk::CompareOp::LESS))?;
    let reader = lab.pipeline(vk::RenderPass::null(), SIZE, &state(ONE, vk::CompareOp::GREATER))?;
    // Edges lie between pixels: which samples they cover is no matter of where these are.
    let pixels = |x: f32, y: f32| (x / SIZE[0] as f32 * 2.0 - 1.0, y / SIZE[1] as f32 * 2.0 - 1.0);
    let ((left, top), (right, bottom)) = (pixels(11.0, 7.0), pixels(64.0, 50.0));
    let mesh = lab.vertices(&rectangle([left, top, right, bottom], 0.25, [1.0, 0.5, 0.0, 1.0]))?;
    let ((left, top), (right, bottom)) = (pixels(30.0, 3.0), pixels(100.0, 40.0));
    let over = lab.vertices(&rectangle([left, top, right, bottom], 0.5, [0.0, 0.5, 1.0, 1.0]))?;
    lab.run(|commands| {
        let depth_aspect = vk::ImageAspectFlags::DEPTH;
        let all = [
            (drawn.image, COLOR_ASPECT),
            (resolved.image, COLOR_ASPECT),
            (depths.image, depth_aspect),
            (near.image, depth_aspect),
        ];
        lab.to_general(commands, &all);
        let colors = [rendered(drawn.view, CLEAR, color([0.25, 0.5, 0.75, 1.0]))
            .resolve_mode(vk::ResolveModeFlags::AVERAGE)
            .resolve_image_view(resolved.view)
            .resolve_image_layout(vk::ImageLayout::GENERAL)];
        let depths = rendered(depths.view, CLEAR, depth(1.0, 0))
            .store_op(vk::AttachmentStoreOp::DONT_CARE)
            .resolve_mode(vk::ResolveModeFlags::SAMPLE_ZERO)
            .resolve_image_view(near.view)
            .resolve_image_layout(vk::ImageLayout::GENERAL);
        let info = pass(&colors, Some(&depths));
        lab.render(commands, &info, |commands| lab.draw(commands, writer, mesh, 6));
        lab.barrier(commands);
        let (colors, depths) =
            ([rendered(resolved.view, LOAD, color([0.0; 4]))], rendered(near.view, LOAD, depth(0.0, 0)));
        let info = pass(&colors, Some(&depths));
        lab.render(commands, &info, |commands| lab.draw(commands, reader, over, 6));
        lab.barrier(commands);
    })?;
    lab.picture(&resolved)
}

/// Some views of six layers.
fn several_views(lab: &Lab<'_>) -> Result<Picture, Error> {
    use vk::ImageUsageFlags as Usage;
    const VIEWS: u32 = 0b10_0110;
    let usage = Usage::COLOR_ATTACHMENT | Usage::TRANSFER_SRC | Usage::TRANSFER_DST;
    let (image, view) = views::array(lab, BYTES, ONE, usage)?;
    let state = Pipeline {
        vertex: shader!("views.vert"),
        fragment: shader!("views.frag"),
        rendering: Some(Rendering { colors: vec![BYTES], view_mask: VIEWS, ..Rendering::default() }),
        ..Pipeline::default()
    };
    let pipeline = lab.pipeline(vk::RenderPass::null(), views::SIZE, &state)?;
    let mesh = lab.vertices(&rectangle([-0.75, -0.5, -0.25, 0.5], 0.25, [1.0, 1.0, 0.0, 1.0]))?;
    lab.run(|commands| {
        views::clear(lab, commands, image, [0.75, 0.75, 0.5, 1.0]);
        let colors = [rendered(view, CLEAR, color([0.25, 0.5, 0.75, 1.0]))];
        let info = vk::RenderingInfo { view_mask: VIEWS, ..pass(&colors, None) };
        let info = info.render_area(area(views::SIZE));
        lab.render(commands, &info, |commands| lab.draw(commands, pipeline, mesh, 6));
        lab.barrier(commands);
    })?;
    views::picture(lab, &[image])
}
