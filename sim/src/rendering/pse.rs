//! Primitive set-up: vertex shading, edges, Z and 1/W planes, varying coefficients (v3d.md §2, §9).

use vc4::facts::{Facts, VaryingOrigin, VaryingPrecision};
use vc4::hw::SUBPIXELS;

use crate::binning::{BinnedPrimitive, Draw};
use crate::error::JobError;
use crate::geometry::{Corner, GridPoint, Kind, Shape, outline, unpack_xy, window_position};
use crate::memory::Memory;
use crate::qpu::{Coefficients, Fault, Qpu};
use crate::stats::{Note, Stats};
use crate::unverified::{depth_offset, provoking_vertex};
use crate::vertex::{ROWS, shade};

/// A quantity that is linear on the screen, about the primitive's reference point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Plane {
    /// Value at the reference point.
    pub at: f64,
    /// Per pixel to the right.
    pub dx: f64,
    /// Per pixel downwards.
    pub dy: f64,
}

impl Plane {
    /// Whether it has one value everywhere.
    #[inline]
    pub fn is_level(&self) -> bool {
        self.dx == 0.0 && self.dy == 0.0
    }
}

/// A primitive ready for the rasteriser.
#[derive(Clone, Debug)]
pub struct Primitive {
    /// Its outline.
    pub shape: Shape,
    /// Whether it faces backwards.
    pub reverse: bool,
    /// Reference point in pixels.
    pub reference: (f64, f64),
    /// Window depth, offset applied.
    pub z: Plane,
    /// 1/Wc.
    pub rw: Plane,
}

/// A draw after vertex shading. Its primitives are set up for each tile anew, as on the chip: a job's shaded vertices fit
/// into memory more easily than its set-up primitives.
pub struct Prepared {
    shaded: Shaded,
    /// Varyings of the program's own.
    own: usize,
}

/// The shaded vertices of a draw, as the VPM holds them (v3d.md §7.3).
struct Shaded {
    words: Vec<u32>,
    rows: usize,
    /// Words before the varyings.
    header: usize,
}

impl Shaded {
    fn vertex(&self, place: u32) -> &[u32] {
        &self.words[place as usize * self.rows..][..self.rows]
    }

    fn varying(&self, place: u32, n: usize) -> u32 {
        self.vertex(place)[self.header + n]
    }
}

/// One corner in window space.
#[derive(Clone, Copy)]
struct WindowVertex {
    position: GridPoint,
    zs: f64,
    rw: f64,
    /// Share of each of the primitive's vertices in the varyings.
    weights: [f64; 3],
}

impl WindowVertex {
    fn px(&self) -> (f64, f64) {
        (self.position.x as f64 / SUBPIXELS as f64, self.position.y as f64 / SUBPIXELS as f64)
    }
}

/// Shades the draw's vertices on a QPU.
pub fn prepare(memory: &Memory, draw: &Draw, qpu: &mut Qpu, stats: &mut Stats) -> Result<Prepared, JobError> {
    let header = if draw.record.flags.point_size { 4 } else { 3 };
    let own = usize::from(draw.record.varyings);
    let rows = header + own;
    if rows > ROWS {
        return Err(draw
            .vertex
            .fault(Fault::port(format!("{own} varyings do not fit the {ROWS} rows of the VPM"))));
    }
    let words = shade(memory, &draw.vertex, &draw.record, &draw.vertices, rows, qpu, stats)?;
    let shaded = Shaded { words, rows, header };
    note_different_positions(draw, &shaded, stats);
    Ok(Prepared { shaded, own })
}

impl Prepared {
    /// Sets a primitive of the draw up; its coefficients replace those in `coefficients`, the implicit varyings' first.
    /// `None` where the vertex program's positions leave nothing to draw.
    pub fn set_up(
        &self,
        draw: &Draw,
        primitive: &BinnedPrimitive,
        coefficients: &mut Vec<Coefficients>,
    ) -> Option<Primitive> {
        coefficients.clear();
        SetUp { draw, shaded: &self.shaded, own: self.own }.primitive(primitive, coefficients)
    }
}

const DIFFERENT_POSITIONS: Note = Note {
    id: "position-mismatch",
    manual: "v3d.md §2",
    text: "coordinate and vertex shader compute the same positions, or primitives miss tiles",
};

/// Both programs must compute the same positions, or primitives miss tiles (v3d.md §2).
fn note_different_positions(draw: &Draw, shaded: &Shaded, stats: &mut Stats) {
    let differ = |&(place, xy): &(usize, &u32)| shaded.vertex(place as u32)[0] != *xy;
    if let Some((place, xy)) = draw.positions.iter().enumerate().find(differ) {
        stats.note(DIFFERENT_POSITIONS, || {
            format!(
                "vertex {}: coordinate shader says position {xy:#010x}, vertex shader {:#010x}",
                draw.vertices[place],
                shaded.vertex(place as u32)[0],
            )
        });
    }
}

struct SetUp<'a> {
    draw: &'a Draw,
    shaded: &'a Shaded,
    own: usize,
}

impl SetUp<'_> {
    fn corner(&self, primitive: &BinnedPrimitive, corner: Corner) -> WindowVertex {
        let (xs, ys, zs, rw, weights) = match corner {
            Corner::Original(n) => {
                let vertex = self.shaded.vertex(primitive.vertices[usize::from(n)]);
                let (xs, ys) = unpack_xy(vertex[0]);
                let weights = std::array::from_fn(|i| if i == usize::from(n) { 1.0 } else { 0.0 });
                (xs, ys, f32::from_bits(vertex[1]), f32::from_bits(vertex[2]), weights)
            }
            Corner::New(new) => (new.xs, new.ys, new.zs, new.rw, new.weights.map(f64::from)),
        };
        let position = window_position(&self.draw.state, xs, ys);
        WindowVertex { position, zs: f64::from(zs), rw: f64::from(rw), weights }
    }

    fn size(&self, primitive: &BinnedPrimitive) -> f32 {
        match self.draw.kind {
            Kind::Point if self.draw.record.flags.point_size => {
                f32::from_bits(self.shaded.vertex(primitive.vertices[0])[3])
            }
            Kind::Point => self.draw.state.point_size.size,
            Kind::Line | Kind::Triangle => self.draw.state.line_width.width,
        }
    }

    fn primitive(&self, binned: &BinnedPrimitive, coefficients: &mut Vec<Coefficients>) -> Option<Primitive> {
        let corners = binned.corners().map(|corner| self.corner(binned, corner));
        let size = self.size(binned);
        let positions = corners.map(|corner| corner.position);
        let (shape, reverse) = outline(&self.draw.state, self.draw.kind, &positions, size)?;
        let corners = origin(&self.draw.state.facts, self.draw.kind, corners);
        let fit = Fit::new(self.draw.kind, &corners);
        let mut z = fit.plane(corners.map(|corner| corner.zs));
        if self.draw.state.config.depth_offset {
            let offset = self.draw.state.depth_offset;
            z.at += depth_offset(&self.draw.state.facts, offset.factor.get(), offset.units.get(), z.dx, z.dy);
        }
        let rw = fit.plane(corners.map(|corner| corner.rw));
        self.implicit(&fit, &corners, size, coefficients);
        for n in 0..self.own {
            coefficients.push(self.varying(binned, &fit, &corners, n));
        }
        Some(Primitive { shape, reverse, reference: fit.reference, z, rw })
    }

    fn varying(
        &self,
        binned: &BinnedPrimitive,
        fit: &Fit,
        corners: &[WindowVertex; 3],
        n: usize,
    ) -> Coefficients {
        let originals = binned.vertices.map(|place| self.shaded.varying(place, n));
        // Flags beyond 32 do not exist: the limit of varyings is 32 words (v3d.md §14).
        if n < 32 && self.draw.state.flat.flags >> n & 1 != 0 {
            // The word itself: integers whose bits are those of a NaN must not be quietened by a conversion.
            let word = originals
                [provoking_vertex(self.draw.state.facts.provoking_vertex, self.draw.kind.vertices())];
            return Coefficients { a: 0.0, b: 0.0, c: f32::from_bits(word) };
        }
        let originals = originals.map(|word| f64::from(f32::from_bits(word)));
        let values = corners.map(|corner| {
            // An original corner takes its value unmixed: 0 times infinity would be no number.
            let shares = corner.weights.iter().zip(originals);
            shares.filter(|(weight, _)| **weight != 0.0).map(|(weight, value)| weight * value).sum()
        });
        perspective(self.draw.state.facts.varying_precision, fit, corners, values)
    }

    /// The varyings that come before the program's own (v3d.md §9.6).
    fn implicit(
        &self,
        fit: &Fit,
        corners: &[WindowVertex; 3],
        size: f32,
        coefficients: &mut Vec<Coefficients>,
    ) {
        let (size, rw) = (f64::from(size), corners[0].rw);
        let per_pixel = (rw / size) as f32;
        match self.draw.kind {
            Kind::Triangle => {}
            Kind::Point => {
                coefficients.push(Coefficients { a: per_pixel, b: 0.0, c: 0.5 });
                // 1 at the smallest row (v3d.md §9.6).
                coefficients.push(Coefficients { a: 0.0, b: -per_pixel, c: 0.5 });
            }
            Kind::Line => {
                // Half at every point of the middle line.
                let (x, y) = fit.direction;
                let (a, b) = if fit.is_steep() {
                    (per_pixel, -per_pixel * (x / y) as f32)
                } else if x != 0.0 {
                    (-per_pixel * (y / x) as f32, per_pixel)
                } else {
                    (0.0, per_pixel)
                };
                coefficients.push(Coefficients { a, b, c: 0.5 });
            }
        }
    }
}

/// UNVERIFIED: which vertex supplies (x0, y0) of the varying planes, and with it what r5 holds? The first one.
///
/// The corners, that one in front.
fn origin(facts: &Facts, kind: Kind, corners: [WindowVertex; 3]) -> [WindowVertex; 3] {
    let [a, b, c] = corners;
    match (facts.varying_origin, kind) {
        (VaryingOrigin::First, _) | (_, Kind::Point) => corners,
        (VaryingOrigin::Last, Kind::Triangle) => [c, a, b],
        (VaryingOrigin::Last, Kind::Line) => [b, a, c],
    }
}

fn perspective(
    fact: VaryingPrecision,
    fit: &Fit,
    corners: &[WindowVertex; 3],
    values: [f64; 3],
) -> Coefficients {
    let c = values[0];
    let of_corners = std::array::from_fn(|i| (values[i] - c) * corners[i].rw);
    let plane = match fact {
        VaryingPrecision::Exact => fit.plane(of_corners),
        VaryingPrecision::Single => fit.rounded_plane(of_corners, |value| f64::from(value as f32)),
    };
    Coefficients { a: plane.dx as f32, b: plane.dy as f32, c: c as f32 }
}

/// Fits planes through a primitive's corners.
///
/// UNVERIFIED: how precise are the coefficients of varying planes? Here they are computed in double precision.
struct Fit {
    kind: Kind,
    reference: (f64, f64),
    /// From the first to the second corner, and to the third.
    direction: (f64, f64),
    other: (f64, f64),
    /// Reciprocal of the determinant (triangle).
    scale: f64,
}

impl Fit {
    fn new(kind: Kind, corners: &[WindowVertex; 3]) -> Fit {
        let reference = corners[0].px();
        let towards = |corner: &WindowVertex| (corner.px().0 - reference.0, corner.px().1 - reference.1);
        let (direction, other) = (towards(&corners[1]), towards(&corners[2]));
        let scale = match kind {
            Kind::Triangle => 1.0 / (direction.0 * other.1 - other.0 * direction.1),
            Kind::Line | Kind::Point => 0.0,
        };
        Fit { kind, reference, direction, other, scale }
    }

    /// Whether a line runs rather downwards than to the right: then its width is horizontal, as that of
    /// `line_corners`.
    fn is_steep(&self) -> bool {
        self.direction.1.abs() > self.direction.0.abs()
    }

    fn plane(&self, values: [f64; 3]) -> Plane {
        self.rounded_plane(values, |value| value)
    }

    /// The plane where each step is rounded.
    #[inline(always)]
    fn rounded_plane(&self, values: [f64; 3], round: impl Fn(f64) -> f64) -> Plane {
        let (v1, v2) = (round(values[1] - values[0]), round(values[2] - values[0]));
        let products =
            |a: f64, b: f64, c: f64, d: f64| round(round(round(a * b) - round(c * d)) * round(self.scale));
        let (dx, dy) = match self.kind {
            Kind::Triangle => (
                products(v1, self.other.1, v2, self.direction.1),
                products(v2, self.direction.0, v1, self.other.0),
            ),
            // Across a wide line values stay, as GL ES has it (§3.4.2).
            Kind::Line if self.is_steep() => (0.0, round(v1 / self.direction.1)),
            Kind::Line if self.direction.0 != 0.0 => (round(v1 / self.direction.0), 0.0),
            Kind::Line | Kind::Point => (0.0, 0.0),
        };
        Plane { at: values[0], dx, dy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn corner(x: i64, y: i64, rw: f64) -> WindowVertex {
        WindowVertex { position: GridPoint { x, y }, zs: 0.0, rw, weights: [0.0; 3] }
    }

    fn near(a: f64, b: f64, tolerance: f64) -> bool {
        (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
    }

    proptest! {
        /// A plane takes each corner's value at that corner.
        #[test]
        fn planes_go_through_the_corners(xy in prop::array::uniform6(-2000i64..2000), v in prop::array::uniform3(-9.0f64..9.0)) {
            let corners = [corner(xy[0], xy[1], 1.0), corner(xy[2], xy[3], 1.0), corner(xy[4], xy[5], 1.0)];
            let positions = corners.map(|c| c.position);
            prop_assume!(crate::geometry::twice_area(&positions).abs() > 100);
            let fit = Fit::new(Kind::Triangle, &corners);
            let plane = fit.plane(v);
            for (corner, value) in corners.iter().zip(v) {
                let (x, y) = corner.px();
                let at = plane.at + plane.dx * (x - fit.reference.0) + plane.dy * (y - fit.reference.1);
                prop_assert!(near(at, value, 1e-6), "{at} {value}");
            }
        }

        /// A line's plane takes both ends' values there, and the same value across its width.
        #[test]
        fn lines_are_constant_across(x in -900i64..900, y in -900i64..900, v in prop::array::uniform3(-9.0f64..9.0)) {
            prop_assume!(x.abs().max(y.abs()) > 16);
            let corners = [corner(160, 320, 1.0), corner(160 + x, 320 + y, 1.0), corner(0, 0, 1.0)];
            let plane = Fit::new(Kind::Line, &corners).plane(v);
            let (dx, dy) = (x as f64 / 16.0, y as f64 / 16.0);
            prop_assert!(near(plane.at, v[0], 1e-9));
            prop_assert!(near(plane.at + plane.dx * dx + plane.dy * dy, v[1], 1e-9));
            prop_assert_eq!(if y.abs() > x.abs() { plane.dx } else { plane.dy }, 0.0);
        }

        /// VP·W + C is the perspective-correct value: at each corner it is that corner's.
        #[test]
        fn varyings_are_right_at_the_corners(v in prop::array::uniform3(-9.0f64..9.0), rw in prop::array::uniform3(0.1f64..4.0)) {
            let corners = [corner(0, 0, rw[0]), corner(640, 48, rw[1]), corner(80, 800, rw[2])];
            let fit = Fit::new(Kind::Triangle, &corners);
            let k = perspective(VaryingPrecision::Exact, &fit, &corners, v);
            for (corner, value) in corners.iter().zip(v) {
                let (x, y) = corner.px();
                let vp = f64::from(k.a) * x + f64::from(k.b) * y;
                prop_assert!(near(vp / corner.rw + f64::from(k.c), value, 1e-3));
            }
        }
    }

    #[test]
    fn a_line_varies_along_itself() {
        let corners = [corner(16, 16, 1.0), corner(80, 64, 1.0), corner(80, 64, 1.0)];
        let plane = Fit::new(Kind::Line, &corners).plane([2.0, 7.0, 7.0]);
        assert!(near(plane.at + plane.dx * 4.0 + plane.dy * 3.0, 7.0, 1e-12));
        // Its width is vertical.
        assert!(near(plane.dy, 0.0, 1e-12));
    }
}
