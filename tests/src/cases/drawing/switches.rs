//! One pipeline, and commands that set what pipelines else fix.

use ash::vk;

use super::case::{Case, exact};
use super::draws::{Canvas, SIZE};
use crate::picture::Picture;
use crate::vulkan::{Error, Lab, Pipeline, Vertex, area, rectangle};

/// The programs.
pub const CASES: [Case; 2] = [exact("switches", all), exact("switches-strides", strides)];

const STATES: [vk::DynamicState; 11] = [
    vk::DynamicState::CULL_MODE,
    vk::DynamicState::FRONT_FACE,
    vk::DynamicState::PRIMITIVE_TOPOLOGY,
    vk::DynamicState::PRIMITIVE_RESTART_ENABLE,
    vk::DynamicState::RASTERIZER_DISCARD_ENABLE,
    vk::DynamicState::DEPTH_BIAS_ENABLE,
    vk::DynamicState::DEPTH_TEST_ENABLE,
    vk::DynamicState::DEPTH_COMPARE_OP,
    vk::DynamicState::DEPTH_WRITE_ENABLE,
    vk::DynamicState::STENCIL_TEST_ENABLE,
    vk::DynamicState::STENCIL_OP,
];

/// Viewport and scissor of the whole target.
fn whole(lab: &Lab<'_>, commands: vk::CommandBuffer) {
    let [width, height] = SIZE.map(|edge| edge as f32);
    let viewport = vk::Viewport { x: 0.0, y: 0.0, width, height, min_depth: 0.0, max_depth: 1.0 };
    // SAFETY: the command buffer is being recorded.
    unsafe {
        lab.switches().0.cmd_set_viewport_with_count(commands, &[viewport]);
        lab.switches().0.cmd_set_scissor_with_count(commands, &[area(SIZE)]);
    }
}

/// A square of a grid of six by four.
fn square(n: u16, z: f32, rgba: [f32; 4]) -> Vec<Vertex> {
    let (left, top) = (-1.0 + f32::from(n % 6) / 3.0, -1.0 + f32::from(n / 6) / 2.0);
    rectangle([left + 0.05, top + 0.05, left + 0.3, top + 0.45], z, rgba)
}

/// A square for each state, over a background that fills the depth and stencil buffers.
fn all(lab: &Lab<'_>) -> Result<Picture, Error> {
    const RED: [f32; 4] = [1.0, 0.25, 0.0, 1.0];
    let canvas = Canvas::new(lab, true)?;
    let face =
        vk::StencilOpState { compare_mask: 0xff, write_mask: 0xff, reference: 5, ..Default::default() };
    let state = Pipeline {
        // Commands say whether they hold.
        stencil: Some([face; 2]),
        bias: Some([-200_000.0, 0.0, 0.0]),
        ..Pipeline::default()
    };
    let pipeline = lab.switched_pipeline(canvas.pass, &STATES, &state)?;
    let mut vertices = rectangle([-1.0, -1.0, 1.0, 1.0], 0.5, [0.25, 0.5, 0.75, 1.0]);
    // Those of odd numbers are behind the background.
    (0..24).for_each(|n| vertices.extend(square(n, if n % 2 == 0 { 0.4 } else { 0.505 }, RED)));
    let buffer = lab.vertices(&vertices)?;
    let strips: Vec<u8> =
        [0u16, 1, 2, 5, 0xffff, 12, 13, 14, 17].iter().flat_map(|n| n.to_le_bytes()).collect();
    let indices = lab.buffer(&strips, vk::BufferUsageFlags::INDEX_BUFFER)?;
    let (one, two) = lab.switches();
    canvas.draw(lab, |commands| {
        let draw = |n: u32| {
            // SAFETY: the buffer has that many vertices.
            unsafe { lab.device.cmd_draw(commands, 6, 1, 6 + 6 * n, 0) }
        };
        let stencil = |pass, compare| {
            let (both, keep) = (vk::StencilFaceFlags::FRONT_AND_BACK, vk::StencilOp::KEEP);
            // SAFETY: the command buffer is being recorded.
            unsafe { one.cmd_set_stencil_op(commands, both, keep, pass, keep, compare) }
        };
        whole(lab, commands);
        // SAFETY: the handles live as long as the lab; everything is set before the first draw.
        unsafe {
            lab.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            lab.device.cmd_bind_vertex_buffers(commands, 0, &[buffer], &[0]);
            one.cmd_set_cull_mode(commands, vk::CullModeFlags::NONE);
            one.cmd_set_front_face(commands, vk::FrontFace::COUNTER_CLOCKWISE);
            one.cmd_set_primitive_topology(commands, vk::PrimitiveTopology::TRIANGLE_LIST);
            two.cmd_set_primitive_restart_enable(commands, false);
            two.cmd_set_rasterizer_discard_enable(commands, false);
            two.cmd_set_depth_bias_enable(commands, false);
            one.cmd_set_depth_test_enable(commands, true);
            one.cmd_set_depth_compare_op(commands, vk::CompareOp::ALWAYS);
            one.cmd_set_depth_write_enable(commands, true);
            one.cmd_set_stencil_test_enable(commands, true);
            stencil(vk::StencilOp::REPLACE, vk::CompareOp::ALWAYS);
            lab.device.cmd_draw(commands, 6, 1, 0, 0);
            one.cmd_set_stencil_test_enable(commands, false);
            one.cmd_set_depth_compare_op(commands, vk::CompareOp::LESS);
            // In front, behind, behind but moved, and without a test.
            (0..2).for_each(draw);
            two.cmd_set_depth_bias_enable(commands, true);
            draw(3);
            two.cmd_set_depth_bias_enable(commands, false);
            one.cmd_set_depth_test_enable(commands, false);
            draw(5);
            // Each winding, culled by either rule.
            one.cmd_set_cull_mode(commands, vk::CullModeFlags::BACK);
            draw(6);
            one.cmd_set_front_face(commands, vk::FrontFace::CLOCKWISE);
            draw(7);
            one.cmd_set_cull_mode(commands, vk::CullModeFlags::FRONT);
            draw(8);
            one.cmd_set_cull_mode(commands, vk::CullModeFlags::NONE);
            two.cmd_set_rasterizer_discard_enable(commands, true);
            draw(9);
            two.cmd_set_rasterizer_discard_enable(commands, false);
            // The stencil buffer holds 5, then 6 where something was drawn.
            one.cmd_set_stencil_test_enable(commands, true);
            stencil(vk::StencilOp::INCREMENT_AND_CLAMP, vk::CompareOp::EQUAL);
            draw(10);
            draw(10);
            stencil(vk::StencilOp::KEEP, vk::CompareOp::NOT_EQUAL);
            draw(11);
            draw(10);
            one.cmd_set_stencil_test_enable(commands, false);
            // Depth without a write hides nothing.
            one.cmd_set_depth_test_enable(commands, true);
            one.cmd_set_depth_write_enable(commands, false);
            one.cmd_set_depth_compare_op(commands, vk::CompareOp::GREATER);
            draw(13);
            draw(14);
            one.cmd_set_depth_test_enable(commands, false);
            // Strips of the vertices of squares 18 and 20, which begin anew between them.
            one.cmd_set_primitive_topology(commands, vk::PrimitiveTopology::TRIANGLE_STRIP);
            two.cmd_set_primitive_restart_enable(commands, true);
            lab.device.cmd_bind_index_buffer(commands, indices, 0, vk::IndexType::UINT16);
            lab.device.cmd_draw_indexed(commands, 9, 1, 0, 6 + 6 * 18, 0);
        }
    })
}

/// Vertices at distances that commands set.
fn strides(lab: &Lab<'_>) -> Result<Picture, Error> {
    let canvas = Canvas::new(lab, false)?;
    let states = [vk::DynamicState::VERTEX_INPUT_BINDING_STRIDE];
    let pipeline = lab.switched_pipeline(canvas.pass, &states, &Pipeline::default())?;
    let plain = square(2, 0.5, [1.0, 0.5, 0.0, 1.0]);
    // Every second vertex is another square's.
    let mixed: Vec<Vertex> = square(9, 0.5, [0.0, 0.5, 1.0, 1.0])
        .into_iter()
        .zip(square(16, 0.5, [0.5, 1.0, 0.0, 1.0]))
        .flat_map(|(a, b)| [a, b])
        .collect();
    let (plain, mixed) = (lab.vertices(&plain)?, lab.vertices(&mixed)?);
    let bytes = size_of::<Vertex>() as u64;
    canvas.draw(lab, |commands| {
        whole(lab, commands);
        // SAFETY: the handles live as long as the lab.
        unsafe {
            lab.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            for (buffer, offset, stride) in
                [(plain, 0, bytes), (mixed, 0, 2 * bytes), (mixed, bytes, 2 * bytes)]
            {
                let (buffers, offsets, strides) = ([buffer], [offset], [stride]);
                lab.switches().0.cmd_bind_vertex_buffers2(
                    commands,
                    0,
                    &buffers,
                    &offsets,
                    None,
                    Some(&strides),
                );
                lab.device.cmd_draw(commands, 6, 1, 0, 0);
            }
        }
    })
}
