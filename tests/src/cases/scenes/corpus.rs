//! Typical shaders, each drawn once: the committed part of the shader corpus (`shaders/corpus`).

use ash::vk;

use super::basic::{cube_corners, cube_mvp};
use crate::scene::{Draw, Matrix, Scene, Texture, bytes, matrix};

/// Both stages of a corpus shader.
macro_rules! stages {
    ($name:literal) => {
        [
            include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/corpus/", $name, ".vert.spv"))
                .as_slice(),
            include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/corpus/", $name, ".frag.spv"))
                .as_slice(),
        ]
    };
}

/// What a corner of the mesh can carry.
#[derive(Clone, Copy)]
enum Input {
    Position2,
    Position3,
    Uv,
    Uv2,
    Normal,
    Color,
}

impl Input {
    fn format(self) -> vk::Format {
        match self {
            Input::Position2 | Input::Uv | Input::Uv2 => vk::Format::R32G32_SFLOAT,
            Input::Position3 | Input::Normal => vk::Format::R32G32B32_SFLOAT,
            Input::Color => vk::Format::R32G32B32A32_SFLOAT,
        }
    }

    fn of(self, (p, uv, n): ([f32; 3], [f32; 2], [f32; 3])) -> Vec<f32> {
        match self {
            Input::Position2 => vec![p[0], p[1]],
            Input::Position3 => p.to_vec(),
            Input::Uv => uv.to_vec(),
            Input::Uv2 => vec![uv[1] * 0.7 + 0.1, uv[0] * 0.8 + 0.15],
            Input::Normal => n.to_vec(),
            Input::Color => vec![p[0] * 0.4 + 0.5, p[1] * 0.4 + 0.5, uv[0] * 0.8 + 0.1, 0.25 + uv[1] * 0.5],
        }
    }
}

/// A mesh: corners with position, texture coordinates and normal.
type Mesh = Vec<([f32; 3], [f32; 2], [f32; 3])>;

/// Two triangles that fill most of the target.
fn quad() -> Mesh {
    let corner = |u: f32, v: f32| ([u * 1.86 - 0.93, v * 1.78 - 0.89, 0.0], [u, v], [0.0, 0.0, 1.0]);
    let [a, b, c, d] = [corner(0., 0.), corner(1., 0.), corner(1., 1.), corner(0., 1.)];
    vec![a, b, c, a, c, d]
}

fn draw(stages: [&'static [u8]; 2], mesh: &Mesh, inputs: &[Input]) -> Draw {
    let floats: Vec<f32> =
        mesh.iter().flat_map(|&corner| inputs.iter().flat_map(move |i| i.of(corner))).collect();
    Draw {
        vertex_shader: stages[0],
        fragment_shader: stages[1],
        stride: (floats.len() / mesh.len() * 4) as u32,
        vertices: bytes(&floats),
        attributes: inputs.iter().map(|i| i.format()).collect(),
        count: mesh.len() as u32,
        cull: vk::CullModeFlags::NONE,
        ..Draw::default()
    }
}

fn waves(binding: u32) -> (u32, Texture, vk::Filter) {
    (binding, Texture::waves(64, 7 * binding), vk::Filter::LINEAR)
}

/// std140: each element is a matrix, or a vector padded to 16 bytes.
fn std140(parts: &[&[f32]]) -> Vec<u8> {
    let mut floats: Vec<f32> = Vec::new();
    for part in parts {
        if part.len() > 1 {
            floats.resize(floats.len().next_multiple_of(4), 0.0);
        }
        floats.extend_from_slice(part);
    }
    floats.resize(floats.len().next_multiple_of(4), 0.0);
    bytes(&floats)
}

/// Every committed corpus shader with its inputs.
pub fn scenes() -> Vec<Scene> {
    use Input::*;
    let cube = cube_corners();
    let mvp = cube_mvp().concat();
    let model_view: Matrix = matrix::mul(&matrix::translation(0.0, 0.0, -5.0), &matrix::rotation(0.61, 0.83));
    let model_view = model_view.concat();
    let projection = matrix::perspective(0.42, 0.1, 100.0).concat();
    let flat = matrix::IDENTITY.concat();
    let culled = vk::CullModeFlags::BACK;

    let list = vec![
        (
            "vertex_color",
            Draw {
                push: bytes(&mvp),
                cull: culled,
                ..draw(stages!("vertex_color"), &cube, &[Position3, Color])
            },
        ),
        (
            "textured_quad",
            Draw { textures: vec![waves(2)], ..draw(stages!("textured_quad"), &quad(), &[Position2, Uv]) },
        ),
        (
            "textured_tint",
            Draw {
                push: bytes(&[flat.as_slice(), &[1.0, 0.8, 0.6, 0.9]].concat()),
                textures: vec![waves(2)],
                ..draw(stages!("textured_tint"), &quad(), &[Position2, Uv, Color])
            },
        ),
        (
            "color_matrix",
            Draw {
                push: bytes(&[
                    0.6, 0.2, 0.1, 0.0, 0.3, 0.5, 0.2, 0.0, 0.1, 0.2, 0.7, 0.0, 0.05, 0.0, 0.1, 0.9, 0.02,
                    0.03, -0.04, 0.05,
                ]),
                textures: vec![waves(2)],
                ..draw(stages!("color_matrix"), &quad(), &[Position2, Uv])
            },
        ),
        (
            "blinn_phong",
            Draw {
                uniforms: vec![
                    (0, std140(&[&model_view, &projection])),
                    (
                        1,
                        std140(&[
                            &[0.0, 0.0, 0.0, 0.0],
                            &[2.0, 3.0, -1.0, 0.0],
                            &[0.7, 0.5, 0.3, 0.0],
                            &[0.5, 0.5, 0.6],
                            &[12.0],
                        ]),
                    ),
                ],
                cull: culled,
                ..draw(stages!("blinn_phong"), &cube, &[Position3, Normal])
            },
        ),
        (
            "cube_pull",
            Draw {
                uniforms: vec![(0, {
                    let positions: Vec<f32> =
                        cube.iter().flat_map(|(p, ..)| [p[0], p[1], p[2], 1.0]).collect();
                    let uvs: Vec<f32> = cube.iter().flat_map(|(_, uv, _)| [uv[0], uv[1], 0.0, 0.0]).collect();
                    std140(&[&mvp, &positions, &uvs])
                })],
                textures: vec![waves(2)],
                cull: culled,
                ..draw(stages!("cube_pull"), &cube, &[])
            },
        ),
        (
            "cube_spin",
            Draw {
                uniforms: vec![(0, std140(&[&mvp])), (1, std140(&[&[0.42, 0.56, 0.71, 0.0]]))],
                textures: vec![waves(2)],
                cull: culled,
                ..draw(stages!("cube_spin"), &cube, &[Position3, Uv])
            },
        ),
        (
            "gouraud",
            Draw {
                uniforms: vec![(
                    0,
                    std140(&[
                        &mvp,
                        &model_view,
                        &[0.42, 0.56, 0.71, 0.0],
                        &[0.8, 0.7, 0.6, 0.0],
                        &[0.15, 0.15, 0.2],
                        &[8.0],
                    ]),
                )],
                cull: culled,
                ..draw(stages!("gouraud"), &cube, &[Position3, Normal, Color])
            },
        ),
        (
            "fog",
            Draw {
                uniforms: vec![
                    (0, std140(&[&model_view, &projection, &[-1.5]])),
                    (1, std140(&[&[0.6, 0.7, 0.8, 1.0], &[0.13], &[0.9]])),
                ],
                textures: vec![waves(2)],
                cull: culled,
                ..draw(stages!("fog"), &cube, &[Position3, Uv])
            },
        ),
        (
            "front_facing",
            Draw {
                uniforms: vec![
                    (0, std140(&[&mvp])),
                    (1, std140(&[&[0.9, 0.3, 0.2, 1.0], &[0.2, 0.4, 0.9, 1.0], &[0.42, 0.56, 0.71, 0.0]])),
                ],
                // Half of the cube's faces, so that some are seen from behind.
                ..draw(stages!("front_facing"), &cube[12..30].to_vec(), &[Position3, Normal])
            },
        ),
        (
            "checker_fragcoord",
            Draw {
                push: bytes(&[mvp.as_slice(), &[0.9, 0.8, 0.3, 1.0, 0.1, 0.2, 0.5, 1.0, 12.0]].concat()),
                cull: culled,
                ..draw(stages!("checker_fragcoord"), &cube, &[Position3])
            },
        ),
        (
            "crossfade",
            Draw {
                push: bytes(&[0.45]),
                textures: vec![waves(2), waves(3), waves(4)],
                ..draw(stages!("crossfade"), &quad(), &[Position2, Uv])
            },
        ),
        (
            "multitexture",
            Draw {
                uniforms: vec![(0, std140(&[&mvp, &[3.0]])), (1, std140(&[&[0.3]]))],
                textures: vec![waves(2), waves(3), waves(4)],
                cull: culled,
                ..draw(stages!("multitexture"), &cube, &[Position3, Uv, Uv2])
            },
        ),
        (
            "yuv_to_rgb",
            Draw {
                textures: vec![waves(2), waves(3), waves(4)],
                ..draw(stages!("yuv_to_rgb"), &quad(), &[Position2, Uv])
            },
        ),
        (
            "alpha_test",
            Draw {
                push: bytes(&[mvp.as_slice(), &[0.4]].concat()),
                textures: vec![waves(2)],
                cull: culled,
                ..draw(stages!("alpha_test"), &cube, &[Position3, Uv])
            },
        ),
    ];
    list.into_iter()
        .map(|(name, draw)| Scene {
            name: format!("corpus_{name}"),
            size: [256, 256],
            clear: [0.1, 0.15, 0.2, 1.0],
            depth: true,
            draws: vec![draw],
            ..Scene::default()
        })
        .collect()
}
