//! A triangle and a quad that programs in assembly must show as those in SPIR-V do.
#![allow(dead_code, reason = "not every suite draws with assembly")]

use ash::vk;
use vulkan_vc4::entry::assembly::{AssemblyInput, AssemblyProgram};

use super::Vk;
use super::assembly::{keep_log, log_of_this_thread, text};
use super::canvas::{Canvas, GREY, Mesh, Parts, Picture, Setup, WRITE, build, bytes, draw};

pub const SIZE: u32 = 96;
pub const POINTS: [(f32, f32); 3] = [(8.0, 10.0), (88.0, 20.0), (40.0, 90.0)];
pub const COLORS: [u32; 3] = [0xff20_40f0, 0x80f0_8020, 0x4010_e060];
pub const UNORM8_COLOR: (vk::Format, u32) = (vk::Format::R8G8B8A8_UNORM, 4);
pub const UV: (vk::Format, u32) = (vk::Format::R32G32_SFLOAT, 8);
pub const POSITION4: (vk::Format, u32) = (vk::Format::R32G32B32A32_SFLOAT, 16);

pub const BLEND: vk::PipelineColorBlendAttachmentState = vk::PipelineColorBlendAttachmentState {
    blend_enable: vk::TRUE,
    src_color_blend_factor: vk::BlendFactor::SRC_ALPHA,
    dst_color_blend_factor: vk::BlendFactor::ONE_MINUS_SRC_ALPHA,
    ..WRITE
};

pub fn start() -> (Vk, Canvas) {
    keep_log();
    let vk = Vk::new();
    let canvas = Canvas::new(&vk, SIZE, true, vk::AttachmentLoadOp::CLEAR);
    (vk, canvas)
}

pub static POSITION_ONLY: AssemblyInput = AssemblyInput { location: 0, components: 0 };

pub fn with_position(stage: u32, code: &str) -> AssemblyProgram {
    AssemblyProgram { input_count: 1, inputs: &POSITION_ONLY, ..text(stage, code) }
}

#[track_caller]
pub fn built(vk: &Vk, canvas: &Canvas, setup: &Setup, parts: &Parts) -> vk::Pipeline {
    let made = build(vk, canvas, setup, parts);
    made.unwrap_or_else(|error| panic!("{error}: {}", log_of_this_thread()))
}

/// Draws meshes one after the other.
pub fn shows(vk: &Vk, canvas: &Canvas, draws: &[(vk::Pipeline, &Mesh)]) -> Picture {
    canvas.draw(vk, canvas.whole(), |device, commands| {
        draws.iter().for_each(|(pipeline, mesh)| draw(device, commands, *pipeline, canvas, mesh));
    })
}

/// Pixels of the triangle's inside: what may differ at its edges is left out.
pub fn inner(x: u32, y: u32) -> bool {
    let (px, py) = (x as f32 + 0.5, y as f32 + 0.5);
    let distance = |(ax, ay): (f32, f32), (bx, by): (f32, f32)| {
        ((bx - ax) * (py - ay) - (by - ay) * (px - ax)) / (bx - ax).hypot(by - ay)
    };
    let [a, b, c] = POINTS;
    [distance(a, b), distance(b, c), distance(c, a)].iter().all(|d| *d > 1.0)
}

/// At most one step per channel apart, but for the triangle's edges.
#[track_caller]
pub fn same(got: &Picture, want: &Picture) {
    let mut shown = 0;
    for (x, y) in (0..SIZE).flat_map(|y| (0..SIZE).map(move |x| (x, y))) {
        let (got, want) = (got.at(x, y), want.at(x, y));
        shown += u32::from(want != GREY && inner(x, y));
        let channels = got.to_le_bytes().into_iter().zip(want.to_le_bytes());
        let worst = channels.map(|(a, b)| a.abs_diff(b)).max().unwrap_or(0);
        let edge = !inner(x, y) && (got == GREY) != (want == GREY);
        assert!(worst <= 1 || edge, "{got:#010x} instead of {want:#010x} at {x}, {y}");
    }
    assert!(shown > 1000, "the picture shows something");
}

/// A quad with texture coordinates, w from 1 to 2.
pub fn quad(vk: &Vk) -> Mesh {
    let corners = [(-0.8, -0.7, 1.0), (0.9, -0.8, 1.0), (0.8, 0.9, 2.0), (-0.9, 0.8, 2.0)];
    let uvs = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
    let order = [0, 1, 2, 0, 2, 3];
    let position = order.iter().flat_map(|&n| {
        let (x, y, w) = corners[n];
        [x * w, y * w, 0.5 * w, w]
    });
    let uv = order.iter().flat_map(|&n: &usize| [uvs[n].0, uvs[n].1]);
    Mesh { positions: vk.buffer_with(&bytes(position)), colors: vk.buffer_with(&bytes(uv)), count: 6 }
}

pub fn waves(x: u32, y: u32) -> u32 {
    u32::from_le_bytes([(16 * x) as u8, (16 * y) as u8, (8 * (x + y)) as u8, 255])
}

/// States whose pictures patched programs must share with SPIR-V.
pub fn states() -> Vec<Setup> {
    let keep = vk::StencilOp::KEEP;
    let stencil = vk::StencilOpState {
        compare_op: vk::CompareOp::NOT_EQUAL,
        fail_op: keep,
        pass_op: vk::StencilOp::REPLACE,
        depth_fail_op: keep,
        compare_mask: 0xff,
        write_mask: 0x35,
        reference: 0,
    };
    let masked = vk::PipelineColorBlendAttachmentState {
        color_write_mask: vk::ColorComponentFlags::R | vk::ColorComponentFlags::B,
        ..WRITE
    };
    let separate = vk::PipelineColorBlendAttachmentState {
        src_color_blend_factor: vk::BlendFactor::DST_COLOR,
        dst_color_blend_factor: vk::BlendFactor::ONE_MINUS_SRC_COLOR,
        color_blend_op: vk::BlendOp::REVERSE_SUBTRACT,
        src_alpha_blend_factor: vk::BlendFactor::ZERO,
        dst_alpha_blend_factor: vk::BlendFactor::ONE,
        ..BLEND
    };
    let depth = Some(vk::CompareOp::LESS);
    vec![
        Setup::default(),
        Setup { blend: BLEND, ..Setup::default() },
        Setup { blend: BLEND, depth, ..Setup::default() },
        Setup { blend: separate, ..Setup::default() },
        Setup { blend: masked, depth: Some(vk::CompareOp::GREATER), ..Setup::default() },
        Setup { blend: BLEND, depth, stencil: Some(stencil), ..Setup::default() },
    ]
}
