//! What scenes are made of: surfaces, textures, matrices.

use std::f32::consts::TAU;

use super::frame::Attribute;
use crate::scene::matrix::{self, Matrix};

/// A surface: vertices one behind the other, and triangles.
pub(super) struct Mesh {
    pub vertices: Vec<u8>,
    pub indices: Vec<u8>,
    pub count: u32,
}

/// Position, normal, texture coordinate.
pub(super) const SURFACE: &[Attribute] = &[Attribute::Floats(3), Attribute::Floats(3), Attribute::Floats(2)];
/// Position in clip space, texture coordinate.
pub(super) const FLAT: &[Attribute] = &[Attribute::Floats(2), Attribute::Floats(2)];
/// Position in clip space, texture coordinate, colour.
pub(super) const COLORED: &[Attribute] = &[Attribute::Floats(2), Attribute::Floats(2), Attribute::Bytes];

pub(super) fn floats(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

fn shorts(values: impl IntoIterator<Item = u16>) -> Vec<u8> {
    values.into_iter().flat_map(u16::to_le_bytes).collect()
}

/// A grid of columns and rows over (u, v) in 0..1, each vertex made by a function.
pub(super) fn grid(columns: u16, rows: u16, vertex: impl Fn(f32, f32) -> Vec<f32>) -> Mesh {
    let places = (0..=rows).flat_map(|row| (0..=columns).map(move |column| (column, row)));
    let vertices = places.flat_map(|(column, row)| {
        vertex(f32::from(column) / f32::from(columns), f32::from(row) / f32::from(rows))
    });
    let vertices = floats(vertices);
    let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (column, row)));
    let indices = cells.flat_map(|(column, row)| {
        let at = |right: u16, down: u16| (row + down) * (columns + 1) + column + right;
        [at(0, 0), at(1, 0), at(0, 1), at(0, 1), at(1, 0), at(1, 1)]
    });
    let indices = shorts(indices);
    Mesh { vertices, count: indices.len() as u32 / 2, indices }
}

/// A ring with normals that look outwards, of [`SURFACE`]'s vertices; its front faces go around counterclockwise.
pub(super) fn torus(around: u16, across: u16) -> Mesh {
    grid(around, across, |u, v| {
        let ((su, cu), (sv, cv)) = ((u * TAU).sin_cos(), (v * TAU).sin_cos());
        let radius = 1.0 + 0.4 * cv;
        vec![radius * cu, radius * su, 0.4 * sv, cv * cu, cv * su, sv, 6.0 * u, 2.0 * v]
    })
}

/// A level floor of [`SURFACE`]'s vertices, with the texture so many times on each edge.
pub(super) fn floor(cells: u16, edge: f32, times: f32) -> Mesh {
    grid(cells, cells, |u, v| {
        vec![(u - 0.5) * edge, 0.0, (0.5 - v) * edge, 0.0, 1.0, 0.0, times * u, times * v]
    })
}

/// A cube of edge 1 of [`SURFACE`]'s vertices.
pub(super) fn cube() -> Mesh {
    let (mut vertices, mut indices) = (Vec::new(), Vec::new());
    for (axis, sign) in (0..3).flat_map(|axis| [-1.0, 1.0].map(|sign| (axis, sign))) {
        let first = (vertices.len() / 8) as u16;
        for (a, b) in [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)] {
            let (mut position, mut normal) = ([0.0; 3], [0.0; 3]);
            position[axis] = 0.5 * sign;
            position[(axis + 1) % 3] = a * sign;
            position[(axis + 2) % 3] = b;
            normal[axis] = sign;
            vertices.extend(position.into_iter().chain(normal).chain([a + 0.5, b + 0.5]));
        }
        indices.extend([0, 1, 2, 2, 1, 3].map(|corner| first + corner));
    }
    Mesh { vertices: floats(vertices), count: indices.len() as u32, indices: shorts(indices) }
}

/// Edges in clip space, those in the texture, and a colour.
pub(super) type Rectangle = ([f32; 4], [f32; 4], Option<[u8; 4]>);

/// Rectangles (left, bottom, right, top in clip space; the same of the texture) of [`FLAT`]'s vertices, or with a colour each.
pub(super) fn rectangles(list: &[Rectangle]) -> Mesh {
    let (mut vertices, mut indices) = (Vec::new(), Vec::new());
    for (number, ([l, b, r, t], [u0, v0, u1, v1], color)) in (0u16..).zip(list) {
        for [x, y, u, v] in [[*l, *b, *u0, *v0], [*r, *b, *u1, *v0], [*l, *t, *u0, *v1], [*r, *t, *u1, *v1]] {
            vertices.extend(floats([x, y, u, v]));
            vertices.extend(color.iter().flatten());
        }
        indices.extend([0, 1, 2, 2, 1, 3].map(|corner| 4 * number + corner));
    }
    Mesh { vertices, count: indices.len() as u32, indices: shorts(indices) }
}

/// A rectangle that covers everything.
pub(super) fn screen() -> Mesh {
    rectangles(&[([-1.0, -1.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0], None)])
}

/// From a camera's view to GL's clip space: y up, depth -1 to 1.
fn perspective(tan_half: f32, near: f32, far: f32) -> Matrix {
    let depth = (far + near) / (near - far);
    [
        [1.0 / tan_half, 0.0, 0.0, 0.0],
        [0.0, 1.0 / tan_half, 0.0, 0.0],
        [0.0, 0.0, depth, -1.0],
        [0.0, 0.0, 2.0 * far * near / (near - far), 0.0],
    ]
}

/// A model at a place in front of the camera, turned about x and y.
pub(super) fn placed([x, y, z]: [f32; 3], [about_x, about_y]: [f32; 2], scale: f32) -> Matrix {
    let mut scaled = matrix::IDENTITY;
    (0..3).for_each(|axis| scaled[axis][axis] = scale);
    let turned = matrix::mul(&matrix::rotation(about_x, about_y), &scaled);
    let moved = matrix::mul(&matrix::translation(x, y, z), &turned);
    matrix::mul(&perspective(0.6, 0.5, 60.0), &moved)
}

/// Numbers that are the same everywhere.
pub(super) struct Random(u32);

impl Random {
    pub fn new(seed: u32) -> Random {
        Random(seed)
    }

    /// Below 1.
    pub fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as f32 / 16_777_216.0
    }

    /// Between two numbers.
    pub fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.next()
    }
}

/// Texels of a square by position and a number, four bytes each: soft stains on a checker.
pub(super) fn stains(edge: u32, number: u32) -> Vec<u8> {
    let wave = |at: u32, times: u32| (at as f32 * TAU * times as f32 / edge as f32).sin();
    let places = (0..edge).flat_map(|y| (0..edge).map(move |x| (x, y)));
    let texel = |(x, y): (u32, u32)| {
        let square = if (x / (edge / 8).max(1) + y / (edge / 8).max(1)) % 2 == 0 { 40.0 } else { 0.0 };
        let stain =
            |times: u32| (110.0 + square + 60.0 * wave(x, times + number % 3) * wave(y, times + 1)) as u8;
        [stain(1), stain(2), stain(3), (255.0 * (0.5 + 0.5 * wave(x + y, 2))) as u8]
    };
    places.flat_map(texel).collect()
}

/// A level of a quarter of the texels, each the mean of four.
fn halved(texels: &[u8], edge: usize) -> Vec<u8> {
    let half = edge / 2;
    let places = (0..half).flat_map(|y| (0..half).map(move |x| (x, y)));
    let texel = |(x, y): (usize, usize)| {
        [0, 1, 2, 3].map(|byte| {
            let at = |right, down| u32::from(texels[((2 * y + down) * edge + 2 * x + right) * 4 + byte]);
            ((at(0, 0) + at(1, 0) + at(0, 1) + at(1, 1) + 2) / 4) as u8
        })
    };
    places.flat_map(texel).collect()
}

/// All levels of a square.
pub(super) fn levels(edge: u32, texels: Vec<u8>) -> Vec<Vec<u8>> {
    let mut levels = vec![texels];
    let mut size = edge as usize;
    while size > 1 {
        let next = levels.last().map(|last| halved(last, size)).unwrap_or_default();
        levels.push(next);
        size /= 2;
    }
    levels
}
