//! Occlusion queries and timestamps. Their results are drawn: a column per query.

use ash::vk;

use super::case::{Case, exact};
use crate::picture::Picture;
use crate::vulkan::{Attachment, CLEAR_STORE, Error, Lab, Pipeline, Subpass, area, color, depth, rectangle};

/// The programs.
pub const CASES: [Case; 3] = [
    exact("query-occlusion", occlusion),
    exact("query-without-attachments", without_attachments),
    exact("query-timestamps", timestamps),
];

const SIZE: [u32; 2] = [96, 64];

/// A picture of yes and no.
fn columns(answers: &[bool]) -> Picture {
    let (width, height) = (8 * answers.len() as u32, 8);
    let row = answers.iter().flat_map(|yes| [if *yes { 255 } else { 0 }; 8]);
    let rgba = row.flat_map(|value| [value, value, value, 255]).collect::<Vec<u8>>().repeat(height as usize);
    Picture { width, height, rgba }
}

/// What a query tells, and its availability.
fn results(lab: &Lab<'_>, pool: vk::QueryPool, count: u32) -> Result<Vec<[u64; 2]>, Error> {
    let mut values = vec![[0u64; 2]; count as usize];
    let flags =
        vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT | vk::QueryResultFlags::WITH_AVAILABILITY;
    // SAFETY: the pool has `count` queries.
    unsafe { lab.device.get_query_pool_results(pool, 0, &mut values, flags)? };
    Ok(values)
}

/// Draws that are seen, hidden by depth, culled, masked, outside; with depth and without; over several passes. What is
/// cleared between them counts for nothing.
fn occlusion(lab: &Lab<'_>) -> Result<Picture, Error> {
    const QUERIES: u32 = 7;
    let (format, depth_format) = (vk::Format::R8G8B8A8_UNORM, lab.depth_stencil_format());
    let targets = [
        lab.target(SIZE, format, vk::SampleCountFlags::TYPE_1)?,
        lab.target(SIZE, depth_format, vk::SampleCountFlags::TYPE_1)?,
    ];
    let attachments =
        [Attachment { format, ..CLEAR_STORE }, Attachment { format: depth_format, ..CLEAR_STORE }];
    let pass = lab.pass(&attachments, &[Subpass { color: Some(0), depth: Some(1), ..Subpass::default() }])?;
    let framebuffer = lab.framebuffer(pass, &targets, SIZE)?;
    let tested = Pipeline { depth: Some(vk::CompareOp::LESS), ..Pipeline::default() };
    let less = lab.pipeline(pass, SIZE, &tested)?;
    let plain = lab.pipeline(pass, SIZE, &Pipeline::default())?;
    let colorless = vk::PipelineColorBlendAttachmentState::default();
    let only_depth = lab.pipeline(pass, SIZE, &Pipeline { blend: colorless, ..tested.clone() })?;
    let culled = lab.pipeline(pass, SIZE, &Pipeline { cull: vk::CullModeFlags::FRONT_AND_BACK, ..tested })?;
    let near = lab.vertices(&rectangle([-0.5, -0.5, 0.5, 0.5], 0.2, [1.0; 4]))?;
    let far = lab.vertices(&rectangle([-0.3, -0.3, 0.3, 0.3], 0.6, [1.0; 4]))?;
    let outside = lab.vertices(&rectangle([1.5, -0.3, 1.9, 0.3], 0.1, [1.0; 4]))?;
    let pool = lab.queries(vk::QueryType::OCCLUSION, QUERIES)?;
    let none = vk::QueryControlFlags::empty();
    let aspect_mask = vk::ImageAspectFlags::COLOR;
    let clear =
        vk::ClearAttachment { aspect_mask, color_attachment: 0, clear_value: color([1.0, 0.5, 0.0, 1.0]) };
    let rect = vk::Rect2D { extent: vk::Extent2D { width: 40, height: 30 }, ..Default::default() };
    let part = vk::ClearRect { rect, base_array_layer: 0, layer_count: 1 };
    lab.run(|commands| {
        let asked = [
            // In a pass, in the order of drawing.
            (less, near),
            (less, far),
            (plain, far),
            (plain, outside),
            (culled, near),
            (only_depth, far),
        ];
        // SAFETY: the handles live as long as the lab.
        unsafe {
            lab.device.cmd_reset_query_pool(commands, pool, 0, QUERIES);
            lab.begin(commands, pass, framebuffer, area(SIZE), &[color([0.0; 4]), depth(1.0, 0)]);
            for (query, (pipeline, vertices)) in (0..).zip(asked) {
                lab.device.cmd_begin_query(commands, pool, query, none);
                lab.draw(commands, pipeline, vertices, 6);
                lab.device.cmd_clear_attachments(commands, &[clear], &[part]);
                lab.device.cmd_end_query(commands, pool, query);
            }
            lab.device.cmd_end_render_pass(commands);
            lab.barrier(commands);
            // Around a pass.
            lab.device.cmd_begin_query(commands, pool, QUERIES - 1, none);
            lab.begin(commands, pass, framebuffer, area(SIZE), &[color([0.0; 4]), depth(0.1, 0)]);
            lab.draw(commands, less, near, 6);
            lab.draw(commands, only_depth, far, 6);
            lab.device.cmd_clear_attachments(commands, &[clear], &[part]);
            lab.device.cmd_end_render_pass(commands);
            lab.device.cmd_end_query(commands, pool, QUERIES - 1);
        }
    })?;
    let results = results(lab, pool, QUERIES)?;
    Ok(columns(&results.into_iter().flat_map(|[value, there]| [value != 0, there == 1]).collect::<Vec<_>>()))
}

/// Passes without attachments, of one sample and of four.
fn without_attachments(lab: &Lab<'_>) -> Result<Picture, Error> {
    const QUERIES: u32 = 4;
    let pass = lab.pass(&[], &[Subpass::default()])?;
    let framebuffer = lab.framebuffer(pass, &[], SIZE)?;
    let pipeline = lab.pipeline(pass, SIZE, &Pipeline::default())?;
    let samples = Pipeline { samples: vk::SampleCountFlags::TYPE_4, ..Pipeline::default() };
    let samples = lab.pipeline(pass, SIZE, &samples)?;
    let inside = lab.vertices(&rectangle([-0.5, -0.5, 0.5, 0.5], 0.2, [1.0; 4]))?;
    let outside = lab.vertices(&rectangle([1.5, -0.3, 1.9, 0.3], 0.1, [1.0; 4]))?;
    let pool = lab.queries(vk::QueryType::OCCLUSION, QUERIES)?;
    lab.run(|commands| {
        // SAFETY: the handles live as long as the lab.
        unsafe { lab.device.cmd_reset_query_pool(commands, pool, 0, QUERIES) };
        let asked = [(pipeline, inside), (pipeline, outside), (samples, inside), (samples, outside)];
        for (query, (pipeline, vertices)) in (0..).zip(asked) {
            lab.begin(commands, pass, framebuffer, area(SIZE), &[]);
            // SAFETY: as above.
            unsafe {
                lab.device.cmd_begin_query(commands, pool, query, vk::QueryControlFlags::empty());
                lab.draw(commands, pipeline, vertices, 6);
                lab.device.cmd_end_query(commands, pool, query);
                lab.device.cmd_end_render_pass(commands);
            }
        }
    })?;
    Ok(columns(&results(lab, pool, QUERIES)?.into_iter().map(|[value, _]| value != 0).collect::<Vec<_>>()))
}

/// Timestamps never go backwards, in and outside of passes, and reset queries are unavailable.
fn timestamps(lab: &Lab<'_>) -> Result<Picture, Error> {
    const QUERIES: u32 = 4;
    let format = vk::Format::R8G8B8A8_UNORM;
    let target = lab.target(SIZE, format, vk::SampleCountFlags::TYPE_1)?;
    let pass = lab
        .pass(&[Attachment { format, ..CLEAR_STORE }], &[Subpass { color: Some(0), ..Subpass::default() }])?;
    let framebuffer = lab.framebuffer(pass, &[target], SIZE)?;
    let pipeline = lab.pipeline(pass, SIZE, &Pipeline::default())?;
    let vertices = lab.vertices(&rectangle([-0.5, -0.5, 0.5, 0.5], 0.2, [1.0; 4]))?;
    let pool = lab.queries(vk::QueryType::TIMESTAMP, QUERIES + 1)?;
    let (top, bottom) = (vk::PipelineStageFlags::TOP_OF_PIPE, vk::PipelineStageFlags::BOTTOM_OF_PIPE);
    lab.run(|commands| {
        // SAFETY: the handles live as long as the lab.
        unsafe {
            lab.device.cmd_reset_query_pool(commands, pool, 0, QUERIES + 1);
            lab.device.cmd_write_timestamp(commands, top, pool, 0);
            lab.begin(commands, pass, framebuffer, area(SIZE), &[color([0.0; 4])]);
            lab.draw(commands, pipeline, vertices, 6);
            lab.device.cmd_write_timestamp(commands, bottom, pool, 1);
            lab.draw(commands, pipeline, vertices, 6);
            lab.device.cmd_end_render_pass(commands);
            lab.device.cmd_write_timestamp(commands, bottom, pool, 2);
            lab.device.cmd_write_timestamp(commands, bottom, pool, 3);
        }
    })?;
    let times = results(lab, pool, QUERIES)?;
    let mut answers: Vec<bool> = times.windows(2).map(|pair| pair[0][0] <= pair[1][0]).collect();
    answers.extend(times.iter().map(|[_, there]| *there == 1));
    let mut missing = [[7u64; 2]];
    let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
    // SAFETY: as above.
    let answer = unsafe { lab.device.get_query_pool_results(pool, QUERIES, &mut missing, flags) };
    answers.extend([answer == Err(vk::Result::NOT_READY), missing[0] == [7, 0]]);
    Ok(columns(&answers))
}
