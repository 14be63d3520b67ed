//! A scene's draws inside of its pass.

use ash::vk;

use super::bindings::{Bindings, PUSH_STAGES};
use super::pass;
use crate::picture::Picture;
use crate::scene::{Draw, Scene};
use crate::vulkan::{Error, Harness, Lab, Pipeline, Readback, area, color, depth, flat};

/// Pipeline, descriptors and buffers of one draw.
struct Prepared {
    pipeline: vk::Pipeline,
    bindings: Bindings,
    vertices: Option<vk::Buffer>,
    indices: Option<vk::Buffer>,
}

/// Draws the scene and reads the picture back.
///
/// # Errors
/// What the driver refuses.
pub fn draw(harness: &Harness, scene: &Scene) -> Result<Picture, Error> {
    let lab = Lab::new(harness);
    let attachment = |format, usage, aspect| {
        let image = lab.image(&flat(scene.size, format, vk::SampleCountFlags::TYPE_1, usage))?;
        Ok::<_, Error>((image, lab.view(image, format, aspect)?))
    };
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
    let (image, view) = attachment(scene.format, usage, vk::ImageAspectFlags::COLOR)?;
    let mut views = vec![view];
    if scene.depth {
        let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
        views.push(attachment(pass::DEPTH_FORMAT, usage, vk::ImageAspectFlags::DEPTH)?.1);
    }
    let pass = pass::new(&lab, scene.format, scene.depth)?;
    let readback = Readback::new(&lab, scene.format, scene.size)?;
    let prepared: Vec<_> =
        scene.draws.iter().map(|draw| Prepared::new(&lab, draw, scene, pass)).collect::<Result<_, _>>()?;
    let framebuffer = lab.framebuffer_of(pass, &views, scene.size)?;
    lab.run(|commands| {
        record(&lab, commands, scene, pass, framebuffer, &prepared);
        readback.record(&lab, commands, image);
    })?;
    readback.picture(&lab)
}

/// Makes a pipeline for a draw with neither descriptors nor push constants.
///
/// # Errors
/// What the driver refuses.
pub fn try_pipeline(harness: &Harness, draw: &Draw) -> Result<(), Error> {
    let (lab, scene) = (Lab::new(harness), Scene::default());
    let pass = pass::new(&lab, scene.format, false)?;
    lab.dynamic_pipeline(pass, &state(draw, &scene, None)).map(|_| ())
}

/// The state of a draw's pipeline.
fn state(draw: &Draw, scene: &Scene, layout: Option<vk::PipelineLayout>) -> Pipeline {
    let plain = Pipeline::default();
    Pipeline {
        vertex: draw.vertex_shader,
        fragment: draw.fragment_shader,
        topology: draw.topology,
        mask: None,
        depth: scene.depth.then_some(vk::CompareOp::LESS_OR_EQUAL),
        blend: scene.blend.unwrap_or(plain.blend),
        cull: draw.cull,
        stride: draw.stride,
        attributes: draw.attributes.clone(),
        specialization: draw.specialization.clone(),
        layout,
        ..plain
    }
}

impl Prepared {
    fn new(lab: &Lab<'_>, draw: &Draw, scene: &Scene, pass: vk::RenderPass) -> Result<Prepared, Error> {
        let bindings = Bindings::new(lab, draw)?;
        let indices: Option<Vec<u8>> =
            draw.indices.as_ref().map(|list| list.iter().flat_map(|i| i.to_le_bytes()).collect());
        Ok(Prepared {
            pipeline: lab.dynamic_pipeline(pass, &state(draw, scene, Some(bindings.layout)))?,
            bindings,
            vertices: (!draw.vertices.is_empty())
                .then(|| lab.buffer(&draw.vertices, vk::BufferUsageFlags::VERTEX_BUFFER))
                .transpose()?,
            indices: indices
                .map(|bytes| lab.buffer(&bytes, vk::BufferUsageFlags::INDEX_BUFFER))
                .transpose()?,
        })
    }
}

fn record(
    lab: &Lab<'_>,
    commands: vk::CommandBuffer,
    scene: &Scene,
    pass: vk::RenderPass,
    framebuffer: vk::Framebuffer,
    prepared: &[Prepared],
) {
    let whole = area(scene.size);
    let clears = [color(scene.clear), depth(1.0, 0)];
    lab.begin(commands, pass, framebuffer, whole, &clears[..1 + usize::from(scene.depth)]);
    let [width, height] = scene.size.map(|edge| edge as f32);
    let viewport = vk::Viewport { x: 0.0, y: 0.0, width, height, min_depth: 0.0, max_depth: 1.0 };
    let (device, graphics) = (lab.device, vk::PipelineBindPoint::GRAPHICS);
    // SAFETY: all handles live as long as the lab.
    unsafe {
        device.cmd_set_viewport(commands, 0, &[viewport]);
        device.cmd_set_scissor(commands, 0, &[whole]);
        for (draw, state) in scene.draws.iter().zip(prepared) {
            let Bindings { layout, set } = state.bindings;
            device.cmd_bind_pipeline(commands, graphics, state.pipeline);
            device.cmd_bind_descriptor_sets(commands, graphics, layout, 0, &[set], &[]);
            if !draw.push.is_empty() {
                device.cmd_push_constants(commands, layout, PUSH_STAGES, 0, &draw.push);
            }
            if let Some(vertices) = state.vertices {
                device.cmd_bind_vertex_buffers(commands, 0, &[vertices], &[0]);
            }
            match state.indices {
                Some(indices) => {
                    device.cmd_bind_index_buffer(commands, indices, 0, vk::IndexType::UINT16);
                    device.cmd_draw_indexed(commands, draw.count, draw.instances, 0, 0, 0);
                }
                None => device.cmd_draw(commands, draw.count, draw.instances, 0, 0),
            }
        }
        device.cmd_end_render_pass(commands);
    }
}
