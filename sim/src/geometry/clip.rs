//! The PTB's clipper (v3d.md §9.4, §6.4): near, far, W and guard band.

use vc4::facts::Facts;
use vc4::hw::guard_band_px;

use crate::unverified::{clip_distances_zw, clipped_to_grid, is_line_beside};

const PLANES: usize = 7;

/// Packets 105 and 106: how the clipper makes window coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClipperScales {
    /// How the machine behaves.
    pub facts: Facts,
    /// Half width and half height in sixteenths of a pixel.
    pub xy: [f32; 2],
    /// Depth per Zc/Wc.
    pub z_scale: f32,
    /// Depth at Zc = 0.
    pub z_offset: f32,
}

/// A vertex that replaces an original one (v3d.md §6.4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewVertex {
    /// Sixteenths of a pixel from the viewport centre.
    pub xs: i16,
    /// Sixteenths of a pixel from the viewport centre.
    pub ys: i16,
    /// Window depth.
    pub zs: f32,
    /// 1/Wc.
    pub rw: f32,
    /// Share of each original vertex in the varyings.
    pub weights: [f32; 3],
}

/// A corner of a primitive after clipping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Corner {
    /// The primitive's own vertex with this number.
    Original(u8),
    /// A vertex on a clip plane.
    New(NewVertex),
}

/// What became of a primitive.
#[derive(Clone, Debug, PartialEq)]
pub enum Clipped {
    /// Nothing is left.
    Nothing,
    /// It lies inside of all planes.
    Whole,
    /// The primitives that are left, as corners (a line repeats its last one).
    Parts(Vec<[Corner; 3]>),
}

/// A corner on its way through the planes.
#[derive(Clone, Copy)]
struct Point {
    clip: [f64; 4],
    weights: [f64; 3],
    original: Option<u8>,
}

impl Point {
    fn between(self, other: Point, t: f64) -> Point {
        let mix = |a: f64, b: f64| a + (b - a) * t;
        Point {
            clip: std::array::from_fn(|i| mix(self.clip[i], other.clip[i])),
            weights: std::array::from_fn(|i| mix(self.weights[i], other.weights[i])),
            original: None,
        }
    }

    fn distances(&self, scales: &ClipperScales) -> [f64; PLANES] {
        let [x, y, z, w] = self.clip;
        let [dw, near, far] = clip_distances_zw(scales.facts.near_plane, z, w);
        let half = scales.xy.map(|scale| f64::from(scale) / 16.0);
        let (x, y) = (x * half[0], y * half[1]);
        let edge = f64::from(guard_band_px(scales.facts.guard_band)) * w;
        [dw, near, far, edge - x, edge + x, edge - y, edge + y]
    }

    fn corner(&self, scales: &ClipperScales) -> Corner {
        if let Some(original) = self.original {
            return Corner::Original(original);
        }
        let [x, y, z, w] = self.clip;
        Corner::New(NewVertex {
            xs: clipped_to_grid(scales.facts.clipped_grid, x / w * f64::from(scales.xy[0])),
            ys: clipped_to_grid(scales.facts.clipped_grid, y / w * f64::from(scales.xy[1])),
            zs: (z / w * f64::from(scales.z_scale) + f64::from(scales.z_offset)) as f32,
            rw: (1.0 / w) as f32,
            weights: self.weights.map(|weight| weight as f32),
        })
    }
}

/// Clips a point, line or triangle given by its vertices' clip coordinates.
pub fn clip(vertices: &[[f32; 4]], scales: &ClipperScales) -> Clipped {
    if let &[from, to] = vertices {
        if is_line_beside(scales.facts.lines_beside, [from, to]) {
            return Clipped::Nothing;
        }
    }
    let points: Vec<Point> = vertices
        .iter()
        .enumerate()
        .map(|(i, clip)| Point {
            clip: clip.map(f64::from),
            weights: std::array::from_fn(|k| if k == i { 1.0 } else { 0.0 }),
            original: Some(i as u8),
        })
        .collect();
    let distances: Vec<_> = points.iter().map(|point| point.distances(scales)).collect();
    // A NaN is inside of no plane.
    let any_inside = |plane: usize| distances.iter().any(|d| d[plane] >= 0.0);
    if distances.iter().flatten().all(|&d| d >= 0.0) {
        return Clipped::Whole;
    }
    if vertices.len() == 1 || !(0..PLANES).all(any_inside) {
        return Clipped::Nothing;
    }
    let left = cut(points, scales);
    let corners: Vec<Corner> = left.iter().map(|point| point.corner(scales)).collect();
    match (vertices.len(), corners.as_slice()) {
        (2, &[a, b]) => Clipped::Parts(vec![[a, b, b]]),
        (3, corners) if corners.len() >= 3 => {
            Clipped::Parts((1..corners.len() - 1).map(|i| [corners[0], corners[i], corners[i + 1]]).collect())
        }
        _ => Clipped::Nothing,
    }
}

/// Cuts a polygon, or a line when there are two points, at every plane in turn.
fn cut(mut points: Vec<Point>, scales: &ClipperScales) -> Vec<Point> {
    let edges = if points.len() == 2 { 1 } else { usize::MAX };
    for plane in 0..PLANES {
        let mut kept = Vec::with_capacity(points.len() + 1);
        for (i, &point) in points.iter().enumerate() {
            let next = points[(i + 1) % points.len()];
            let (here, there) = (point.distances(scales)[plane], next.distances(scales)[plane]);
            if here >= 0.0 {
                kept.push(point);
            }
            if i < edges && (here >= 0.0) != (there >= 0.0) {
                // From the inner end always, so that neighbours sharing this edge make the same vertex.
                kept.push(if here >= 0.0 {
                    point.between(next, here / (here - there))
                } else {
                    next.between(point, there / (there - here))
                });
            }
        }
        points = kept;
        if points.len() < 2 {
            return Vec::new();
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clip(vertices: &[[f32; 4]]) -> Clipped {
        let facts = Facts::default();
        super::clip(vertices, &ClipperScales { facts, xy: [512.0, 512.0], z_scale: 0.5, z_offset: 0.5 })
    }

    #[test]
    fn inside_outside_and_nan() {
        let inside = [[0.0, 0.0, 0.0, 1.0], [0.5, 0.0, 1.0, 1.0], [0.0, 0.5, -1.0, 1.0]];
        assert_eq!(clip(&inside), Clipped::Whole);
        let behind = inside.map(|[x, y, _, w]| [x, y, -2.0, w]);
        assert_eq!(clip(&behind), Clipped::Nothing);
        let nan = inside.map(|[x, y, z, _]| [x, y, z, f32::NAN]);
        assert_eq!(clip(&nan), Clipped::Nothing);
        assert_eq!(clip(&behind[..1]), Clipped::Nothing);
        assert_eq!(clip(&inside[..1]), Clipped::Whole);
    }

    #[test]
    fn far_outside_of_the_viewport_but_inside_of_the_guard_band_is_left_alone() {
        let wide = [[-60.0, 0.0, 0.0, 1.0], [60.0, 0.0, 0.0, 1.0], [0.0, 60.0, 0.0, 1.0]];
        assert_eq!(clip(&wide), Clipped::Whole);
        let wider = wide.map(|[x, y, z, w]| [x * 2.0, y, z, w]);
        assert!(matches!(clip(&wider), Clipped::Parts(_)));
    }

    #[test]
    fn one_vertex_behind_the_near_plane_makes_two_triangles() {
        let triangle = [[0.0, 0.0, -3.0, 1.0], [1.0, 0.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0]];
        let Clipped::Parts(parts) = clip(&triangle) else { panic!("must be cut") };
        assert_eq!(parts.len(), 2);
        // Halfway from vertex 1 to vertex 0: z = -1, x = 0.5.
        let new = parts
            .iter()
            .flatten()
            .find_map(|corner| match corner {
                Corner::New(new) if new.xs != 0 => Some(*new),
                _ => None,
            })
            .unwrap();
        assert_eq!(new, NewVertex { xs: 256, ys: 0, zs: 0.0, rw: 1.0, weights: [0.5, 0.5, 0.0] });
    }

    #[test]
    fn a_line_through_the_eye_is_cut_at_the_near_plane() {
        let line = [[0.0, 0.0, -5.0, -3.0], [2.0, 0.0, 1.0, 3.0]];
        let Clipped::Parts(parts) = clip(&line) else { panic!("must be cut") };
        assert_eq!(parts.len(), 1);
        assert_eq!(parts[0][1], Corner::Original(1));
        // w + z = -8 .. 4: crossed at t = 2/3 of the way from vertex 0.
        let Corner::New(new) = parts[0][0] else { panic!("vertex 0 lies behind") };
        assert!((new.weights[0] - 1.0 / 3.0).abs() < 1e-6, "{new:?}");
        assert!((new.rw - 1.0).abs() < 1e-6 && new.zs.abs() < 1e-6, "{new:?}");
    }

    #[test]
    fn a_line_beside_the_viewport_is_nothing_however_near_its_ends_are() {
        let line =
            |from: [f32; 2], to: [f32; 2]| clip(&[[from[0], from[1], 0.0, 1.0], [to[0], to[1], 0.0, 1.0]]);
        assert_eq!(line([1.01, -0.5], [1.01, 0.5]), Clipped::Nothing);
        assert_eq!(line([-0.5, -1.01], [0.5, -3.0]), Clipped::Nothing);
        // On the edge, across it, and beyond two sides but over a corner.
        assert_eq!(line([1.0, -0.5], [1.0, 0.5]), Clipped::Whole);
        assert_eq!(line([0.9, 0.0], [1.5, 0.0]), Clipped::Whole);
        assert_eq!(line([1.5, 0.0], [0.0, 1.5]), Clipped::Whole);
    }
}
