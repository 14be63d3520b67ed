//! Queries that count exactly: samples that pass, and what draws are made of. Their results are drawn as bits.

use ash::vk;

use super::case::{Case, exact};
use crate::picture::Picture;
use crate::vulkan::{
    Attachment, CLEAR_STORE, Error, Lab, Pipeline, Subpass, Vertex, area, color, depth, rectangle,
};

/// The programs.
pub const CASES: [Case; 6] = [
    exact("count-samples", |lab| samples(lab, ONE, 1)),
    exact("count-samples-four", |lab| samples(lab, FOUR, 1)),
    exact("count-samples-colors", |lab| samples(lab, ONE, 3)),
    exact("count-samples-colors-four", |lab| samples(lab, FOUR, 3)),
    exact("count-samples-without-attachments", without_attachments),
    exact("count-draws", statistics),
];

const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;
const FOUR: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;
const SIZE: [u32; 2] = [96, 64];
const PRECISE: vk::QueryControlFlags = vk::QueryControlFlags::PRECISE;
/// Bits of a number that are drawn.
const BITS: u32 = 24;

/// A row for each number, a column for each of its bits.
fn rows(numbers: impl IntoIterator<Item = u64>) -> Picture {
    const EDGE: u32 = 4;
    let mut rgba = Vec::new();
    let mut height = 0;
    for number in numbers {
        let bits = (0..BITS * EDGE).map(|x| number >> (x / EDGE) & 1);
        let row: Vec<u8> =
            bits.flat_map(|bit| [[0, 255][bit as usize]; 3].into_iter().chain([255])).collect();
        rgba.extend(row.repeat(EDGE as usize));
        height += EDGE;
    }
    Picture { width: BITS * EDGE, height, rgba }
}

/// A triangle of which no side meets the middle of a pixel.
fn triangle(z: f32) -> Vec<Vertex> {
    let corner = |x: f32, y: f32| [x / 48.0 - 1.0, y / 32.0 - 1.0, z, 1.0, 1.0, 1.0, 1.0];
    vec![corner(10.3125, 5.1875), corner(21.0625, 60.4375), corner(88.6875, 33.8125)]
}

/// Draws that pass in part, all of them on one picture.
fn samples(lab: &Lab<'_>, samples: vk::SampleCountFlags, colors: u32) -> Result<Picture, Error> {
    let (format, depth_format) = (vk::Format::R8G8B8A8_UNORM, lab.depth_stencil_format());
    let mut targets =
        (0..colors).map(|_| lab.target(SIZE, format, samples)).collect::<Result<Vec<_>, Error>>()?;
    targets.push(lab.target(SIZE, depth_format, samples)?);
    let attachment = |format| Attachment { format, samples, ..CLEAR_STORE };
    let mut attachments = vec![attachment(format); colors as usize];
    attachments.push(attachment(depth_format));
    let others = (1..colors).map(|color| [Some(color), None]).collect();
    let subpass = Subpass { color: Some(0), others, depth: Some(colors), ..Subpass::default() };
    let pass = lab.pass(&attachments, &[subpass])?;
    let framebuffer = lab.framebuffer(pass, &targets, SIZE)?;
    let plain = Pipeline { samples, colors: colors as usize, ..Pipeline::default() };
    let plain = match colors {
        1 => plain,
        _ => Pipeline {
            fragment: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/three_colors.frag.spv")),
            ..plain
        },
    };
    let tested = Pipeline { depth: Some(vk::CompareOp::LESS), ..plain.clone() };
    let invisible = vk::PipelineColorBlendAttachmentState::default();
    let blended = vk::PipelineColorBlendAttachmentState {
        blend_enable: vk::TRUE,
        src_color_blend_factor: vk::BlendFactor::SRC_ALPHA,
        dst_color_blend_factor: vk::BlendFactor::ONE,
        ..tested.blend
    };
    let checks: &'static [u8] = match colors {
        1 => include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/checks.frag.spv")),
        _ => tested.fragment,
    };
    let never = vk::StencilOpState { compare_op: vk::CompareOp::NEVER, ..Default::default() };
    let mut states = vec![
        tested.clone(),
        plain.clone(),
        Pipeline { blend: invisible, ..tested.clone() },
        Pipeline { blend: invisible, depth_write: false, ..plain.clone() },
        Pipeline { blend: blended, ..plain.clone() },
        Pipeline { fragment: checks, ..tested.clone() },
        Pipeline { stencil: Some([never; 2]), ..tested.clone() },
    ];
    if samples == FOUR {
        states.push(Pipeline { mask: Some(0b0110), ..plain.clone() });
        states.push(Pipeline { sample_shading: Some(1.0), ..plain });
    }
    let pipelines =
        states.iter().map(|state| lab.pipeline(pass, SIZE, state)).collect::<Result<Vec<_>, Error>>()?;
    // Where samples lie is the device's choice: shapes of four end between pixels.
    let leaning = |z| match samples {
        ONE => triangle(z),
        _ => rectangle([-0.75, -0.875, -0.25, 0.125], z, [0.8; 4]),
    };
    let shapes = [
        rectangle([-0.5, -0.5, 0.5, 0.5], 0.2, [1.0; 4]),
        rectangle([-0.25, -0.75, 0.375, 0.25], 0.6, [0.5; 4]),
        leaning(0.4),
        [leaning(0.1), rectangle([0.125, -0.875, 0.875, 0.875], 0.5, [0.3; 4])].concat(),
    ];
    let buffers = shapes.iter().map(|shape| lab.vertices(shape)).collect::<Result<Vec<_>, Error>>()?;
    let asked: Vec<_> = pipelines
        .iter()
        .flat_map(|pipeline| (0..shapes.len()).rev().map(move |shape| (*pipeline, shape)))
        .collect();
    let count = asked.len() as u32 + 1;
    let pool = lab.queries(vk::QueryType::OCCLUSION, count)?;
    let mut clears = vec![color([0.0; 4]); colors as usize];
    clears.push(depth(0.55, 0));
    lab.run(|commands| {
        // SAFETY: the handles live as long as the lab.
        unsafe {
            lab.device.cmd_reset_query_pool(commands, pool, 0, count);
            lab.begin(commands, pass, framebuffer, area(SIZE), &clears);
            for (query, (pipeline, shape)) in (0..).zip(&asked) {
                lab.device.cmd_begin_query(commands, pool, query, PRECISE);
                lab.draw(commands, *pipeline, buffers[*shape], shapes[*shape].len() as u32);
                lab.device.cmd_end_query(commands, pool, query);
            }
            lab.device.cmd_end_render_pass(commands);
            lab.barrier(commands);
            // Around a pass of several draws.
            lab.device.cmd_begin_query(commands, pool, count - 1, PRECISE);
            lab.begin(commands, pass, framebuffer, area(SIZE), &clears);
            for (pipeline, shape) in &asked {
                lab.draw(commands, *pipeline, buffers[*shape], shapes[*shape].len() as u32);
            }
            lab.device.cmd_end_render_pass(commands);
            lab.device.cmd_end_query(commands, pool, count - 1);
        }
    })?;
    Ok(rows(results::<1>(lab, pool, count)?.into_iter().flatten()))
}

/// Values of queries that have so many.
fn results<const N: usize>(lab: &Lab<'_>, pool: vk::QueryPool, count: u32) -> Result<Vec<[u64; N]>, Error> {
    let mut values = vec![[0u64; N]; count as usize];
    let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
    // SAFETY: the pool has `count` queries.
    unsafe { lab.device.get_query_pool_results(pool, 0, &mut values, flags)? };
    Ok(values)
}

/// Passes without attachments, of one sample, of four, and of both if the device has that: then as if each had a pass of its own,
/// also where pixels are covered in part.
fn without_attachments(lab: &Lab<'_>) -> Result<Picture, Error> {
    const QUERIES: u32 = 7;
    let pass = lab.pass(&[], &[Subpass::default()])?;
    let framebuffer = lab.framebuffer(pass, &[], SIZE)?;
    let pipeline = |samples| lab.pipeline(pass, SIZE, &Pipeline { samples, ..Pipeline::default() });
    let (one, four) = (pipeline(ONE)?, pipeline(FOUR)?);
    let shapes = [rectangle([-0.5, -0.25, 0.5, 0.625], 0.2, [1.0; 4]), triangle(0.4)];
    let buffers = shapes.iter().map(|shape| lab.vertices(shape)).collect::<Result<Vec<_>, Error>>()?;
    let pool = lab.queries(vk::QueryType::OCCLUSION, QUERIES)?;
    let mixes = lab.harness.mixes_samples;
    lab.run(|commands| {
        let draw = |pipeline, shape: usize| {
            lab.draw(commands, pipeline, buffers[shape], shapes[shape].len() as u32);
        };
        // SAFETY: the handles live as long as the lab.
        unsafe {
            lab.device.cmd_reset_query_pool(commands, pool, 0, QUERIES);
            for (query, pipeline, shape) in [(0, one, 0), (1, four, 0), (2, one, 1), (3, four, 1)] {
                lab.begin(commands, pass, framebuffer, area(SIZE), &[]);
                lab.device.cmd_begin_query(commands, pool, query, PRECISE);
                draw(pipeline, shape);
                lab.device.cmd_end_query(commands, pool, query);
                lab.device.cmd_end_render_pass(commands);
            }
            lab.begin(commands, pass, framebuffer, area(SIZE), &[]);
            for (query, pipelines) in [(4, [one, four]), (5, [four, one]), (6, [four, four])] {
                lab.device.cmd_begin_query(commands, pool, query, PRECISE);
                pipelines.into_iter().filter(|_| mixes).for_each(|pipeline| draw(pipeline, 1));
                lab.device.cmd_end_query(commands, pool, query);
            }
            lab.device.cmd_end_render_pass(commands);
        }
    })?;
    let counts: Vec<u64> = results::<1>(lab, pool, QUERIES)?.into_iter().flatten().collect();
    let (one, four) = (counts[2], counts[3]);
    let right = !mixes || counts[4..] == [one + four, one + four, four + four];
    // Where samples lie is the device's choice.
    Ok(rows([counts[0], counts[1], one, u64::from(right)]))
}

/// What draws are made of. Vertex stages may see a vertex once or as often as it is named, fragment stages pixels or quads.
fn statistics(lab: &Lab<'_>) -> Result<Picture, Error> {
    use vk::PrimitiveTopology as Topology;
    use vk::QueryPipelineStatisticFlags as Flags;
    const QUERIES: u32 = 9;
    let format = vk::Format::R8G8B8A8_UNORM;
    let target = lab.target(SIZE, format, ONE)?;
    let pass = lab
        .pass(&[Attachment { format, ..CLEAR_STORE }], &[Subpass { color: Some(0), ..Subpass::default() }])?;
    let framebuffer = lab.framebuffer(pass, &[target], SIZE)?;
    let vertices: Vec<Vertex> = std::iter::repeat_n(triangle(0.4), 5).flatten().collect();
    let buffer = lab.vertices(&vertices)?;
    let topologies = [
        Topology::POINT_LIST,
        Topology::LINE_LIST,
        Topology::LINE_STRIP,
        Topology::TRIANGLE_LIST,
        Topology::TRIANGLE_STRIP,
        Topology::TRIANGLE_FAN,
    ];
    let pipelines = topologies
        .iter()
        .map(|topology| lab.pipeline(pass, SIZE, &Pipeline { topology: *topology, ..Pipeline::default() }));
    let pipelines = pipelines.collect::<Result<Vec<_>, Error>>()?;
    let flags = Flags::INPUT_ASSEMBLY_VERTICES
        | Flags::INPUT_ASSEMBLY_PRIMITIVES
        | Flags::VERTEX_SHADER_INVOCATIONS
        | Flags::CLIPPING_INVOCATIONS
        | Flags::CLIPPING_PRIMITIVES
        | Flags::FRAGMENT_SHADER_INVOCATIONS
        | Flags::COMPUTE_SHADER_INVOCATIONS;
    let pool = lab.statistics(flags, QUERIES)?;
    let occlusion = lab.queries(vk::QueryType::OCCLUSION, 2)?;
    lab.run(|commands| {
        let device = &lab.device;
        // SAFETY: the handles live as long as the lab.
        unsafe {
            device.cmd_reset_query_pool(commands, pool, 0, QUERIES);
            device.cmd_reset_query_pool(commands, occlusion, 0, 2);
            lab.begin(commands, pass, framebuffer, area(SIZE), &[color([0.0; 4])]);
            for (query, pipeline) in (0..).zip(&pipelines) {
                device.cmd_begin_query(commands, pool, query, vk::QueryControlFlags::empty());
                lab.draw(commands, *pipeline, buffer, 12);
                device.cmd_end_query(commands, pool, query);
            }
            // Nothing; and a query beside one of the other type, which begins before and ends before.
            let triangles = pipelines[3];
            device.cmd_begin_query(commands, pool, 6, vk::QueryControlFlags::empty());
            device.cmd_end_query(commands, pool, 6);
            device.cmd_begin_query(commands, occlusion, 0, PRECISE);
            lab.draw(commands, triangles, buffer, 3);
            device.cmd_begin_query(commands, pool, 7, vk::QueryControlFlags::empty());
            lab.draw(commands, triangles, buffer, 3);
            device.cmd_end_query(commands, occlusion, 0);
            lab.draw(commands, triangles, buffer, 3);
            device.cmd_end_query(commands, pool, 7);
            device.cmd_end_render_pass(commands);
            lab.barrier(commands);
            // Instances, around a pass.
            device.cmd_begin_query(commands, pool, 8, vk::QueryControlFlags::empty());
            lab.begin(commands, pass, framebuffer, area(SIZE), &[color([0.0; 4])]);
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, triangles);
            device.cmd_bind_vertex_buffers(commands, 0, &[buffer], &[0]);
            device.cmd_draw(commands, 6, 3, 2, 0);
            device.cmd_end_render_pass(commands);
            device.cmd_end_query(commands, pool, 8);
        }
    })?;
    let mut numbers = Vec::new();
    for [vertices, primitives, shaded, clipped, left, fragments, computed] in
        results::<7>(lab, pool, QUERIES)?
    {
        let plausible = [
            (vertices > 0) == (shaded > 0) && shaded <= vertices,
            clipped == primitives,
            // Nothing is outside.
            left == primitives,
            (fragments > 0) == (primitives > 0),
            computed == 0,
        ];
        let plausible = plausible.into_iter().rev().fold(0, |bits, bit| bits << 1 | u64::from(bit));
        numbers.extend([vertices, primitives, plausible]);
    }
    let passed = results::<1>(lab, occlusion, 1)?;
    numbers.extend(passed.into_iter().flatten());
    Ok(rows(numbers))
}
