//! Scenes that each show one floor of the driver.

use ash::vk;

use crate::scene::{Draw, Matrix, Scene, Texture, bytes, matrix};

macro_rules! spirv {
    ($name:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $name, ".spv"))
    };
}

/// Clear, triangle, quad, depth, cube.
pub fn scenes() -> Vec<Scene> {
    vec![clear(), triangle(), quad(), depth(), cube()]
}

fn scene(name: &str, size: [u32; 2], draws: Vec<Draw>) -> Scene {
    Scene { name: name.into(), size, clear: [0.2, 0.2, 0.2, 1.0], draws, ..Scene::default() }
}

fn clear() -> Scene {
    // Odd sizes: the picture ends inside a tile, a utile and a quad.
    Scene { clear: [0.1, 0.6, 0.3, 0.5], ..scene("clear", [133, 77], Vec::new()) }
}

pub(super) fn colored(vertices: &[f32]) -> Draw {
    Draw {
        vertex_shader: spirv!("pos_color.vert"),
        fragment_shader: spirv!("pos_color.frag"),
        vertices: bytes(vertices),
        stride: 28,
        attributes: vec![vk::Format::R32G32B32_SFLOAT, vk::Format::R32G32B32A32_SFLOAT],
        count: vertices.len() as u32 / 7,
        ..Draw::default()
    }
}

fn triangle() -> Scene {
    #[rustfmt::skip]
    let draw = colored(&[
        -0.83, 0.71, 0.0, 1.0, 0.0, 0.0, 1.0,
        0.79, 0.66, 0.0, 0.0, 1.0, 0.0, 1.0,
        0.03, -0.87, 0.0, 0.0, 0.0, 1.0, 1.0,
    ]);
    scene("triangle", [200, 150], vec![draw])
}

fn quad() -> Scene {
    #[rustfmt::skip]
    let vertices = [
        -0.91, -0.83, 0.0, 1.0, 0.0, 0.0,
        1.27, -1.19, 0.0, 1.7, 1.0, 0.0,
        1.21, 1.33, 0.0, 1.7, 1.0, 1.0,
        -0.87, 0.89, 0.0, 1.0, 0.0, 1.0f32,
    ];
    let draw = Draw {
        vertex_shader: spirv!("quad.vert"),
        fragment_shader: spirv!("quad.frag"),
        vertices: bytes(&vertices),
        stride: 24,
        attributes: vec![vk::Format::R32G32B32A32_SFLOAT, vk::Format::R32G32_SFLOAT],
        indices: Some(vec![0, 1, 2, 2, 3, 0]),
        count: 6,
        textures: vec![(0, Texture::waves(64, 0), vk::Filter::LINEAR)],
        ..Draw::default()
    };
    scene("quad", [256, 256], vec![draw])
}

fn depth() -> Scene {
    #[rustfmt::skip]
    let near_left = colored(&[
        -0.93, -0.77, 0.2, 1.0, 0.6, 0.1, 1.0,
        0.67, 0.03, 0.8, 1.0, 0.6, 0.1, 1.0,
        -0.89, 0.81, 0.2, 1.0, 0.6, 0.1, 1.0,
    ]);
    #[rustfmt::skip]
    let near_right = colored(&[
        0.91, -0.83, 0.2, 0.1, 0.4, 1.0, 1.0,
        -0.71, -0.07, 0.8, 0.1, 0.4, 1.0, 1.0,
        0.87, 0.79, 0.2, 0.1, 0.4, 1.0, 1.0,
    ]);
    Scene { depth: true, ..scene("depth", [192, 192], vec![near_left, near_right]) }
}

/// Corners of the unit cube's faces, two triangles each, with texture coordinates.
pub(super) fn cube_corners() -> Vec<([f32; 3], [f32; 2], [f32; 3])> {
    let mut corners = Vec::new();
    for axis in 0..3 {
        for sign in [-1.0, 1.0f32] {
            let (u_axis, v_axis) = ((axis + 1) % 3, (axis + 2) % 3);
            for (u, v) in [(0, 0), (1, 0), (1, 1), (0, 0), (1, 1), (0, 1)] {
                // Outward faces wind the same way seen from outside.
                let u = if sign > 0.0 { u } else { 1 - u };
                let mut p = [sign; 3];
                p[u_axis] = 2.0 * u as f32 - 1.0;
                p[v_axis] = 2.0 * v as f32 - 1.0;
                let mut normal = [0.0; 3];
                normal[axis] = sign;
                corners.push((p, [u as f32, v as f32], normal));
            }
        }
    }
    corners
}

/// A view of the cube from above and aside.
pub(super) fn cube_mvp() -> Matrix {
    let view = matrix::mul(&matrix::translation(0.0, 0.0, -5.0), &matrix::rotation(0.61, 0.83));
    matrix::mul(&matrix::perspective(0.42, 0.1, 100.0), &view)
}

fn cube() -> Scene {
    let mut uniform: Vec<f32> = cube_mvp().concat();
    uniform.extend(cube_corners().iter().flat_map(|(p, ..)| [p[0], p[1], p[2], 1.0]));
    uniform.extend(cube_corners().iter().flat_map(|(_, uv, _)| [uv[0], uv[1], 0.0, 0.0]));
    let draw = Draw {
        vertex_shader: spirv!("cube.vert"),
        fragment_shader: spirv!("cube.frag"),
        count: 36,
        uniforms: vec![(0, bytes(&uniform))],
        textures: vec![(1, Texture::checker(64), vk::Filter::NEAREST)],
        cull: vk::CullModeFlags::BACK,
        ..Draw::default()
    };
    Scene { depth: true, ..scene("cube", [500, 500], vec![draw]) }
}
