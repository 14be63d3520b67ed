//! Experiments with the clipper. The coordinate program's clip coordinates need not belong to the place that it and the vertex
//! program give: what is not clipped stands at the place, what is clipped where its clip coordinates are.

use vc4::cl::packets::*;

use super::common::{all, at_places, draw, drawn, picture, window};
use super::depth::show_z;
use crate::jobs::bench::{Bench, Failure};
use crate::jobs::job::{Draw, Vertex, at};

/// Half the target, in pixels.
const HALF: f32 = 32.0;

/// Clip coordinates of a pixel, in front of all planes.
fn inside(x: f32, y: f32) -> [f32; 4] {
    [(x - HALF) / HALF, (y - HALF) / HALF, 0.25, 1.0]
}

/// Covers the target, but the clipper is told that one corner lies so far to the left.
pub fn guard_band(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let of = |px: f32| {
        let [a, b, c] = [0, 1, 2].map(|n| all(0.5)[n]);
        let b = b.clip([-px / HALF, 0.0, 0.25, 1.0]);
        let vertices = vec![a.clip(inside(0.0, 0.0)), b, c.clip(inside(0.0, 64.0))];
        Draw { clipping: true, ..draw(vertices) }
    };
    let mut words = Vec::new();
    for px in [300.0, 700.0, 1500.0] {
        words.extend(drawn(&picture(bench, &[of(px)])?, &[(8, 8)]));
    }
    Ok(words)
}

/// All of it between -Wc and 0.
pub fn near_plane(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let [a, b, c] = [(0.0, 0.0), (64.0, 0.0), (0.0, 64.0)].map(|(x, y)| {
        let [x, y, _, w] = inside(x, y);
        [x, y, -0.5, w]
    });
    let vertices = all(0.5).into_iter().zip([a, b, c]).map(|(vertex, clip)| vertex.clip(clip)).collect();
    let seen = picture(bench, &[Draw { clipping: true, ..draw(vertices) }])?;
    Ok(drawn(&seen, &[(8, 8)]))
}

/// A vertex at a pixel with this Zc; its own depth is near the end.
fn deep(x: f32, y: f32, z: f32) -> Vertex {
    let [xc, yc, _, w] = inside(x, y);
    at(x, y, 0.875).clip([xc, yc, z, w])
}

/// Depth behind a corner that the clipper cuts off: the new vertices' depths are made of the packet's two numbers.
pub fn packet_106(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let cut = Draw {
        clipping: true,
        fragment: show_z(),
        uniforms: vec![],
        state: vec![ClipperZScaleAndOffset { scale: 0.25, offset: 0.375 }.into()],
        ..draw(vec![deep(0.0, 0.0, -1.2), deep(64.0, 0.0, 1.0), deep(0.0, 64.0, 1.0)])
    };
    let words = at_places(&picture(bench, &[cut])?, &[(26, 26)]);
    Ok(words.into_iter().map(|z| z >> 19).collect())
}

/// The far plane cuts the left side off, so that the new edge is upright; it lies so many sixteenths right of pixel 32's left
/// border, and its place is rounded before it is seen which pixels are covered.
pub fn grid(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let band = |(n, sixteenths): (u16, f32)| {
        // Half way between -4 and the corner inside.
        let right = 2.0 * (32.0 + sixteenths / 16.0) + 4.0;
        let vertices = vec![deep(-4.0, -96.0, 1.5), deep(-4.0, 160.0, 1.5), deep(right, 32.0, 0.5)];
        Draw { clipping: true, state: vec![window(0, 28 + 2 * n, 64, 2)], ..draw(vertices) }
    };
    let draws: Vec<_> = (0..).zip([6.7, 7.7, 8.7, 9.7]).map(band).collect();
    let seen = picture(bench, &draws)?;
    let places: Vec<_> = (0..4).map(|n| (32, 28 + 2 * n)).collect();
    let mut words = drawn(&seen, &places);
    words.extend(drawn(&seen, &places.iter().map(|(x, y)| (x + 1, *y)).collect::<Vec<_>>()));
    Ok(words)
}
