//! More components between the stages than the machine interpolates.

use ash::vk;

use super::case::{Case, around, exact, lined};
use super::draws::{Canvas, SIZE};
use super::multisample::{self, Resolved};
use crate::picture::Picture;
use crate::vulkan::{
    Attachment, CLEAR_STORE, Error, Lab, Pipeline, Subpass, Target, Vertex, area, color, flat,
};

/// The programs. Where lines end, and where samples lie, is the device's choice.
pub const CASES: [Case; 7] = [
    exact("varyings-triangles", triangles),
    lined("varyings-lines", 0.04, lines),
    exact("varyings-points", points),
    lined("varyings-edges", 0.09, edges),
    around("varyings-centroid", 0.07, centroid),
    exact("varyings-fetched", fetched),
    exact("varyings-most", most),
];

const ALL: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/varyings.vert.spv"));
const WEIGHED: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/varyings.frag.spv"));
const MOST: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/varyings_most.frag.spv"));
const CENTROID: &[u8] =
    include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/varyings_centroid.frag.spv"));

const FETCHED: &[u8] =
    include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/varyings_fetched.vert.spv"));

fn pipeline(topology: vk::PrimitiveTopology) -> Pipeline {
    Pipeline { vertex: ALL, fragment: WEIGHED, topology, line_width: 5.0, ..Pipeline::default() }
}

/// Vertex `n` of a zigzag into the depth.
fn zigzag(n: u32) -> Vertex {
    let (x, y, z) =
        (-0.85 + 0.24 * (n / 2) as f32, -0.8 + 0.75 * (n % 2) as f32 + 0.03 * n as f32, 0.3 * (n % 3) as f32);
    let w = 1.0 + 0.5 * z;
    [x * w, y * w, z, (n % 4) as f32 / 3.0, (n % 3) as f32 / 2.0, 0.1 * n as f32, 1.0]
}

/// Vertices in a row, a part of them by indices that begin anew, and two instances.
fn shapes(lab: &Lab<'_>, state: &Pipeline, list: vk::PrimitiveTopology) -> Result<Picture, Error> {
    let canvas = Canvas::new(lab, false)?;
    let strip = lab.pipeline(canvas.pass, SIZE, &Pipeline { restart: true, ..state.clone() })?;
    let list = lab.pipeline(canvas.pass, SIZE, &Pipeline { topology: list, ..state.clone() })?;
    let mut vertices: Vec<Vertex> = (0..12).map(zigzag).collect();
    for n in 0..12 {
        let [x, y, z, rgba @ ..] = zigzag(n);
        vertices.push([x * 0.9, 0.5 * y + 0.9, z, rgba[2], rgba[0], rgba[1], 1.0]);
    }
    let vertices = lab.vertices(&vertices)?;
    let indices: Vec<u8> =
        [0u16, 1, 2, 3, 4, 0xffff, 7, 6, 8, 9, 10, 11].iter().flat_map(|index| index.to_le_bytes()).collect();
    let indices = lab.buffer(&indices, vk::BufferUsageFlags::INDEX_BUFFER)?;
    canvas.draw(lab, |commands| {
        // SAFETY: the handles live as long as the lab.
        unsafe {
            lab.device.cmd_bind_vertex_buffers(commands, 0, &[vertices], &[0]);
            lab.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, strip);
            lab.device.cmd_bind_index_buffer(commands, indices, 0, vk::IndexType::UINT16);
            lab.device.cmd_draw_indexed(commands, 12, 1, 0, 0, 0);
            lab.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, list);
            lab.device.cmd_draw(commands, 6, 1, 12, 3);
            lab.device.cmd_draw(commands, 6, 2, 18, 0);
        }
    })
}

fn triangles(lab: &Lab<'_>) -> Result<Picture, Error> {
    let state = pipeline(vk::PrimitiveTopology::TRIANGLE_STRIP);
    shapes(lab, &state, vk::PrimitiveTopology::TRIANGLE_LIST)
}

/// As many as there may be, those of a position with them.
fn most(lab: &Lab<'_>) -> Result<Picture, Error> {
    let state = Pipeline { fragment: MOST, ..pipeline(vk::PrimitiveTopology::TRIANGLE_STRIP) };
    shapes(lab, &state, vk::PrimitiveTopology::TRIANGLE_LIST)
}

fn lines(lab: &Lab<'_>) -> Result<Picture, Error> {
    shapes(lab, &pipeline(vk::PrimitiveTopology::LINE_STRIP), vk::PrimitiveTopology::LINE_LIST)
}

fn points(lab: &Lab<'_>) -> Result<Picture, Error> {
    // A list has nothing to begin anew.
    let canvas = Canvas::new(lab, false)?;
    let pipeline = lab.pipeline(canvas.pass, SIZE, &pipeline(vk::PrimitiveTopology::POINT_LIST))?;
    let vertices = lab.vertices(&(0..12).map(zigzag).collect::<Vec<_>>())?;
    canvas.draw(lab, |commands| lab.draw(commands, pipeline, vertices, 12))
}

/// Of triangles that are not filled.
fn edges(lab: &Lab<'_>) -> Result<Picture, Error> {
    let state = Pipeline {
        polygon_mode: vk::PolygonMode::LINE,
        cull: vk::CullModeFlags::BACK,
        ..pipeline(vk::PrimitiveTopology::TRIANGLE_STRIP)
    };
    shapes(lab, &state, vk::PrimitiveTopology::TRIANGLE_LIST)
}

/// At places that primitives cover, and their slopes.
fn centroid(lab: &Lab<'_>) -> Result<Picture, Error> {
    let resolved = Resolved::new(lab, vk::Format::R8G8B8A8_UNORM, false)?;
    let state = Pipeline {
        fragment: CENTROID,
        samples: vk::SampleCountFlags::TYPE_4,
        ..pipeline(vk::PrimitiveTopology::TRIANGLE_STRIP)
    };
    let size = multisample::SIZE;
    let pipeline = lab.pipeline(resolved.pass, size, &state)?;
    let vertices = lab.vertices(&(0..12).map(zigzag).collect::<Vec<_>>())?;
    lab.run(|commands| {
        let grey = color([0.25, 0.25, 0.25, 1.0]);
        lab.begin(commands, resolved.pass, resolved.framebuffer, area(size), &[grey, grey]);
        lab.draw(commands, pipeline, vertices, 12);
        // SAFETY: the handles live as long as the lab.
        unsafe { lab.device.cmd_end_render_pass(commands) };
    })?;
    lab.picture(&resolved.result)
}

/// A vertex stage that looks at what the pass before drew.
fn fetched(lab: &Lab<'_>) -> Result<Picture, Error> {
    let (format, samples) = (vk::Format::R8G8B8A8_UNORM, vk::SampleCountFlags::TYPE_1);
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::SAMPLED;
    let image = lab.image(&flat(SIZE, format, samples, usage))?;
    let view = lab.view(image, format, vk::ImageAspectFlags::COLOR)?;
    let drawn = Target { image, view, format, samples, size: SIZE };
    let general = vk::ImageLayout::GENERAL;
    let pass = lab
        .pass(&[Attachment { format, ..CLEAR_STORE }], &[Subpass { color: Some(0), ..Subpass::default() }])?;
    let framebuffer = lab.framebuffer(pass, &[drawn], SIZE)?;
    let painted = lab.pipeline(pass, SIZE, &Pipeline::default())?;

    let types = [vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::DescriptorType::UNIFORM_BUFFER];
    let sizes = types.map(|ty| vk::DescriptorPoolSize { ty, descriptor_count: 1 });
    let bindings = [0, 1].map(|binding: u32| {
        let ty = types[binding as usize];
        let binding = vk::DescriptorSetLayoutBinding::default().binding(binding).descriptor_type(ty);
        binding.descriptor_count(1).stage_flags(vk::ShaderStageFlags::VERTEX)
    });
    let set_layouts = [lab.set_layout(&bindings)?];
    let push = [vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::VERTEX, offset: 16, size: 4 }];
    let create =
        vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts).push_constant_ranges(&push);
    let layout = lab.pipeline_layout(&create)?;
    let set = lab.set(set_layouts[0], &sizes)?;
    let sampler = lab.sampler(&vk::SamplerCreateInfo::default())?;
    // A hundred times them is no whole number, which rounding would decide about.
    let rows: Vec<u8> = (0..32).flat_map(|n| (0.03 * (n % 31) as f32 + 0.0024).to_le_bytes()).collect();
    let table = lab.buffer(&rows, vk::BufferUsageFlags::UNIFORM_BUFFER)?;
    let images = [vk::DescriptorImageInfo { sampler, image_view: view, image_layout: general }];
    let buffers = [vk::DescriptorBufferInfo { buffer: table, offset: 0, range: vk::WHOLE_SIZE }];
    let write = vk::WriteDescriptorSet::default().dst_set(set);
    let writes = [
        write.descriptor_type(types[0]).image_info(&images),
        write.dst_binding(1).descriptor_type(types[1]).buffer_info(&buffers),
    ];

    let canvas = Canvas::new(lab, false)?;
    let state =
        Pipeline { vertex: FETCHED, layout: Some(layout), ..pipeline(vk::PrimitiveTopology::TRIANGLE_STRIP) };
    let fetching = lab.pipeline(canvas.pass, SIZE, &state)?;
    let vertices = lab.vertices(&(0..12).map(zigzag).collect::<Vec<_>>())?;
    lab.run(|commands| {
        // SAFETY: the handles live as long as the lab.
        unsafe {
            lab.device.update_descriptor_sets(&writes, &[]);
            lab.begin(commands, pass, framebuffer, area(SIZE), &[color([0.25, 0.5, 0.125, 1.0])]);
            lab.draw(commands, painted, vertices, 12);
            lab.device.cmd_end_render_pass(commands);
            lab.barrier(commands);
        }
        canvas.record(lab, commands, |commands| {
            let point = vk::PipelineBindPoint::GRAPHICS;
            // SAFETY: the handles live as long as the lab.
            unsafe {
                lab.device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]);
                let scale = 0.5f32.to_le_bytes();
                lab.device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::VERTEX, 16, &scale);
            }
            lab.draw(commands, fetching, vertices, 12);
        });
    })?;
    canvas.picture(lab)
}
