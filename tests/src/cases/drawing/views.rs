//! Passes of several views: each draws the same to a layer of its own. The picture has the layers one below the other.

use ash::vk;

use super::case::{Case, exact};
use crate::picture::Picture;
use crate::vulkan::{Error, Lab, Pipeline, area, color, depth, flat, rectangle};

/// The programs.
pub const CASES: [Case; 2] = [exact("views", one_pass), exact("views-samples", samples)];

pub(super) const SIZE: [u32; 2] = [96, 64];
const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;
const LAYERS: u32 = 6;
/// Views of the first subpass, and of the one that reads what it drew.
const DRAWN: u32 = 0b11_0111;
const READ: u32 = 0b10_0101;

macro_rules! shader {
    ($name:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $name, ".spv"))
    };
}

fn layers(aspect_mask: vk::ImageAspectFlags) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange { aspect_mask, level_count: 1, layer_count: LAYERS, ..Default::default() }
}

/// An image of six layers and a view of all of them.
pub(super) fn array(
    lab: &Lab<'_>,
    format: vk::Format,
    samples: vk::SampleCountFlags,
    usage: vk::ImageUsageFlags,
) -> Result<(vk::Image, vk::ImageView), Error> {
    let image = lab.image(&flat(SIZE, format, samples, usage).array_layers(LAYERS))?;
    let create = vk::ImageViewCreateInfo::default()
        .image(image)
        .view_type(vk::ImageViewType::TYPE_2D_ARRAY)
        .format(format)
        .subresource_range(layers(crate::format::aspects(format)));
    Ok((image, lab.image_view(&create)?))
}

/// All layers of colour images in layout GENERAL, one below the other.
pub(super) fn picture(lab: &Lab<'_>, images: &[vk::Image]) -> Result<Picture, Error> {
    let [width, height] = SIZE;
    let bytes = (4 * width * height * LAYERS) as usize;
    let mut rgba = Vec::new();
    for image in images {
        let buffer = lab.mapped(&vec![0; bytes], vk::BufferUsageFlags::TRANSFER_DST)?;
        let mut region = crate::vulkan::whole(SIZE);
        region.image_subresource.layer_count = LAYERS;
        lab.run(|commands| {
            lab.barrier(commands);
            // SAFETY: the handles live as long as the lab, the buffer holds all layers.
            unsafe {
                lab.device.cmd_copy_image_to_buffer(commands, *image, GENERAL, buffer.buffer, &[region])
            };
            lab.barrier(commands);
        })?;
        rgba.extend(lab.contents(&buffer, bytes)?);
    }
    Ok(Picture { width, height: height * LAYERS * images.len() as u32, rgba })
}

fn attachment(
    format: vk::Format,
    samples: vk::SampleCountFlags,
    load: vk::AttachmentLoadOp,
) -> vk::AttachmentDescription {
    let keeps = load == vk::AttachmentLoadOp::LOAD;
    vk::AttachmentDescription::default()
        .format(format)
        .samples(samples)
        .load_op(load)
        .store_op(vk::AttachmentStoreOp::STORE)
        .stencil_load_op(load)
        .initial_layout(if keeps { GENERAL } else { vk::ImageLayout::UNDEFINED })
        .final_layout(GENERAL)
}

fn place(attachment: u32) -> vk::AttachmentReference {
    vk::AttachmentReference { attachment, layout: GENERAL }
}

fn dependency(from: u32, to: u32, flags: vk::DependencyFlags) -> vk::SubpassDependency {
    let access = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
    let stages = |subpass| match subpass {
        vk::SUBPASS_EXTERNAL => vk::PipelineStageFlags::ALL_COMMANDS,
        _ => vk::PipelineStageFlags::ALL_GRAPHICS,
    };
    vk::SubpassDependency::default()
        .src_subpass(from)
        .dst_subpass(to)
        .src_stage_mask(stages(from))
        .dst_stage_mask(stages(to))
        .src_access_mask(access)
        .dst_access_mask(access)
        .dependency_flags(flags)
}

/// A pass of as many subpasses as there are masks of views; those of the first may be drawn together.
fn render_pass(
    lab: &Lab<'_>,
    attachments: &[vk::AttachmentDescription],
    subpasses: &[vk::SubpassDescription<'_>],
    dependencies: &[vk::SubpassDependency],
    masks: &[u32],
) -> Result<vk::RenderPass, Error> {
    let (together, offsets) = ([masks[0]], vec![0; dependencies.len()]);
    let mut views = vk::RenderPassMultiviewCreateInfo::default()
        .view_masks(masks)
        .view_offsets(&offsets)
        .correlation_masks(&together);
    let create = vk::RenderPassCreateInfo::default()
        .attachments(attachments)
        .subpasses(subpasses)
        .dependencies(dependencies)
        .push_next(&mut views);
    lab.render_pass(&create)
}

/// A pass of one subpass over the views of a mask, of an image that is cleared.
pub(super) fn pass_of(lab: &Lab<'_>, format: vk::Format, mask: u32) -> Result<vk::RenderPass, Error> {
    let attachments = [attachment(format, vk::SampleCountFlags::TYPE_1, vk::AttachmentLoadOp::CLEAR)];
    let drawn_to = [place(0)];
    let subpasses = [vk::SubpassDescription::default().color_attachments(&drawn_to)];
    let dependencies = [dependency(0, vk::SUBPASS_EXTERNAL, vk::DependencyFlags::empty())];
    render_pass(lab, &attachments, &subpasses, &dependencies, &[mask])
}

/// Gives all layers of a new image a colour, in layout GENERAL.
pub(super) fn clear(lab: &Lab<'_>, commands: vk::CommandBuffer, image: vk::Image, float32: [f32; 4]) {
    let range = [layers(vk::ImageAspectFlags::COLOR)];
    let undefined = [vk::ImageMemoryBarrier::default()
        .new_layout(GENERAL)
        .dst_access_mask(vk::AccessFlags::TRANSFER_WRITE)
        .image(image)
        .subresource_range(range[0])];
    let (top, transfer) = (vk::PipelineStageFlags::TOP_OF_PIPE, vk::PipelineStageFlags::TRANSFER);
    let (none, value) = (vk::DependencyFlags::empty(), vk::ClearColorValue { float32 });
    // SAFETY: the handles live as long as the lab.
    unsafe {
        lab.device.cmd_pipeline_barrier(commands, top, transfer, none, &[], &[], &undefined);
        lab.device.cmd_clear_color_image(commands, image, GENERAL, &value, &range);
    }
    lab.barrier(commands);
}

/// Five of six views, cleared, drawn with depth, cleared in a part, drawn again; three of them are read by the second
/// subpass, which finds the other layers of its target as they were. A last row says whether queries saw anything.
fn one_pass(lab: &Lab<'_>) -> Result<Picture, Error> {
    use vk::ImageUsageFlags as Usage;
    let one = vk::SampleCountFlags::TYPE_1;
    let depth_format = lab.depth_stencil_format();
    let shown = Usage::COLOR_ATTACHMENT | Usage::TRANSFER_SRC | Usage::TRANSFER_DST;
    let drawn = array(lab, FORMAT, one, shown | Usage::INPUT_ATTACHMENT)?;
    let depths = array(lab, depth_format, one, Usage::DEPTH_STENCIL_ATTACHMENT)?;
    let result = array(lab, FORMAT, one, shown)?;

    let (cleared, load) = (vk::AttachmentLoadOp::CLEAR, vk::AttachmentLoadOp::LOAD);
    // Layers that are of no view stay as they are, whatever a pass does first.
    let attachments = [
        attachment(FORMAT, one, cleared).initial_layout(GENERAL),
        attachment(depth_format, one, cleared),
        attachment(FORMAT, one, load),
    ];
    let (drawn_to, depth_to, result_to) = ([place(0)], place(1), [place(2)]);
    let subpasses = [
        vk::SubpassDescription::default().color_attachments(&drawn_to).depth_stencil_attachment(&depth_to),
        vk::SubpassDescription::default().color_attachments(&result_to).input_attachments(&drawn_to),
    ];
    let none = vk::DependencyFlags::empty();
    let dependencies = [
        dependency(vk::SUBPASS_EXTERNAL, 0, none),
        dependency(0, 1, vk::DependencyFlags::BY_REGION | vk::DependencyFlags::VIEW_LOCAL),
        dependency(1, vk::SUBPASS_EXTERNAL, none),
    ];
    let pass = render_pass(lab, &attachments, &subpasses, &dependencies, &[DRAWN, READ])?;
    let framebuffer = lab.framebuffer_of(pass, &[drawn.1, depths.1, result.1], SIZE)?;

    let inputs = lab.inputs(&[drawn.1], GENERAL)?;
    let writer = Pipeline {
        vertex: shader!("views.vert"),
        fragment: shader!("views.frag"),
        depth: Some(vk::CompareOp::LESS),
        ..Pipeline::default()
    };
    let writer = lab.pipeline(pass, SIZE, &writer)?;
    let reader = Pipeline {
        fragment: shader!("views_input.frag"),
        layout: Some(inputs.layout),
        subpass: 1,
        ..Pipeline::default()
    };
    let reader = lab.pipeline(pass, SIZE, &reader)?;
    let near = lab.vertices(&rectangle([-0.75, -0.5, -0.25, 0.5], 0.25, [1.0, 1.0, 0.0, 1.0]))?;
    let far = lab.vertices(&rectangle([-1.0, -0.25, 0.0, 0.75], 0.75, [0.2, 0.6, 1.0, 1.0]))?;
    let all = lab.vertices(&rectangle([-1.0, -1.0, 1.0, 1.0], 0.5, [1.0; 4]))?;
    let pool = lab.queries(vk::QueryType::OCCLUSION, 2 * DRAWN.count_ones())?;
    lab.run(|commands| {
        // SAFETY: the handles live as long as the lab.
        unsafe {
            let device = lab.device;
            device.cmd_reset_query_pool(commands, pool, 0, 2 * DRAWN.count_ones());
            clear(lab, commands, drawn.0, [0.5, 0.25, 0.75, 1.0]);
            clear(lab, commands, result.0, [0.75, 0.75, 0.5, 1.0]);
            let clears = [color([0.25, 0.5, 0.75, 1.0]), depth(1.0, 0), color([0.0; 4])];
            lab.begin(commands, pass, framebuffer, area(SIZE), &clears);
            let precise = vk::QueryControlFlags::empty();
            device.cmd_begin_query(commands, pool, 0, precise);
            lab.draw(commands, writer, near, 6);
            device.cmd_end_query(commands, pool, 0);
            let part = vk::ClearRect {
                rect: vk::Rect2D { offset: vk::Offset2D { x: 40, y: 10 }, extent: area([20, 30]).extent },
                base_array_layer: 0,
                layer_count: 1,
            };
            let black = vk::ClearAttachment {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                color_attachment: 0,
                clear_value: color([0.0, 0.0, 0.0, 1.0]),
            };
            device.cmd_clear_attachments(commands, &[black], &[part]);
            device.cmd_begin_query(commands, pool, DRAWN.count_ones(), precise);
            lab.draw(commands, writer, far, 6);
            device.cmd_end_query(commands, pool, DRAWN.count_ones());
            device.cmd_next_subpass(commands, vk::SubpassContents::INLINE);
            lab.bind_inputs(commands, &inputs);
            lab.draw(commands, reader, all, 6);
            device.cmd_end_render_pass(commands);
        }
    })?;
    // The results of a query lie in as many slots as there are views; all may be in the first.
    let first = |query| {
        let (mut count, flags) = ([0u64], vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT);
        // SAFETY: the pool has that query.
        unsafe { lab.device.get_query_pool_results(pool, query, &mut count, flags) }.map(|()| count[0] > 0)
    };
    let seen = [first(0)?, first(DRAWN.count_ones())?];
    let mut picture = picture(lab, &[drawn.0, result.0])?;
    let halves = seen.into_iter().flat_map(|seen| [if seen { 255 } else { 0 }; 2 * SIZE[0] as usize]);
    picture.rgba.extend(halves);
    picture.height += 1;
    Ok(picture)
}

/// Views of four samples that are resolved.
fn samples(lab: &Lab<'_>) -> Result<Picture, Error> {
    use vk::ImageUsageFlags as Usage;
    let (one, four) = (vk::SampleCountFlags::TYPE_1, vk::SampleCountFlags::TYPE_4);
    let drawn = array(lab, FORMAT, four, Usage::COLOR_ATTACHMENT)?;
    let result =
        array(lab, FORMAT, one, Usage::COLOR_ATTACHMENT | Usage::TRANSFER_SRC | Usage::TRANSFER_DST)?;
    let attachments = [
        attachment(FORMAT, four, vk::AttachmentLoadOp::CLEAR),
        attachment(FORMAT, one, vk::AttachmentLoadOp::LOAD),
    ];
    let (drawn_to, result_to) = ([place(0)], [place(1)]);
    let subpasses =
        [vk::SubpassDescription::default().color_attachments(&drawn_to).resolve_attachments(&result_to)];
    let none = vk::DependencyFlags::empty();
    let dependencies = [dependency(vk::SUBPASS_EXTERNAL, 0, none), dependency(0, vk::SUBPASS_EXTERNAL, none)];
    // Without a gap: lavapipe resolves every layer up to the last view.
    let pass = render_pass(lab, &attachments, &subpasses, &dependencies, &[0b11_1111])?;
    let framebuffer = lab.framebuffer_of(pass, &[drawn.1, result.1], SIZE)?;
    let writer = Pipeline {
        vertex: shader!("views.vert"),
        fragment: shader!("views.frag"),
        samples: four,
        ..Pipeline::default()
    };
    let writer = lab.pipeline(pass, SIZE, &writer)?;
    let rectangle = lab.vertices(&rectangle([-0.75, -0.5, -0.25, 0.5], 0.25, [1.0, 1.0, 0.0, 1.0]))?;
    lab.run(|commands| {
        clear(lab, commands, result.0, [0.75, 0.75, 0.5, 1.0]);
        // SAFETY: the handles live as long as the lab.
        unsafe {
            lab.begin(commands, pass, framebuffer, area(SIZE), &[color([0.25, 0.5, 0.75, 1.0])]);
            lab.draw(commands, writer, rectangle, 6);
            lab.device.cmd_end_render_pass(commands);
        }
    })?;
    picture(lab, &[result.0])
}
