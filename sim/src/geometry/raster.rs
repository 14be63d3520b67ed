//! Coverage: which samples of which 2x2 quads a primitive covers (v3d.md §9.1–§9.2).
//!
//! Exact integer edge functions on the grid of sixteenths of a pixel.

use vc4::facts::{Facts, SharedEdges};
use vc4::hw::{SUBPIXELS, sample_positions_4x};

use crate::unverified::edge_owns_its_samples;

/// A point of the window in sixteenths of a pixel, row 0 at the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridPoint {
    /// Rightwards.
    pub x: i64,
    /// Downwards.
    pub y: i64,
}

/// A half-open rectangle of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// First column.
    pub x0: i32,
    /// First row.
    pub y0: i32,
    /// Column after the last.
    pub x1: i32,
    /// Row after the last.
    pub y1: i32,
}

impl Rect {
    /// The common part; may be empty.
    pub fn intersect(self, other: Rect) -> Rect {
        Rect {
            x0: self.x0.max(other.x0),
            y0: self.y0.max(other.y0),
            x1: self.x1.min(other.x1),
            y1: self.y1.min(other.y1),
        }
    }

    /// Whether no pixel is inside.
    pub fn is_empty(self) -> bool {
        self.x0 >= self.x1 || self.y0 >= self.y1
    }
}

/// `a·x + b·y + c >= 0` inside, fill rule included in `c`.
#[derive(Clone, Copy, Debug)]
struct Edge {
    a: i64,
    b: i64,
    c: i64,
}

impl Edge {
    const EVERYWHERE: Edge = Edge { a: 0, b: 0, c: 0 };

    fn new(fact: SharedEdges, from: GridPoint, to: GridPoint) -> Edge {
        let (dx, dy) = (to.x - from.x, to.y - from.y);
        let c = dy * from.x - dx * from.y;
        Edge { a: -dy, b: dx, c: if edge_owns_its_samples(fact, dx, dy) { c } else { c - 1 } }
    }

    #[inline]
    fn at(&self, x: i64, y: i64) -> i64 {
        self.a * x + self.b * y + self.c
    }
}

/// A convex shape of three or four corners, ready to be scanned.
#[derive(Clone, Debug)]
pub struct Shape {
    edges: [Edge; 4],
    bounds: Rect,
    /// Of a pixel's samples.
    positions: &'static [(i64, i64); 4],
}

impl Shape {
    /// The shape with these corners (three or four), or `None` when its area is zero.
    pub fn new(facts: &Facts, corners: &[GridPoint]) -> Option<Shape> {
        let fact = facts.shared_edges;
        let area = twice_area(corners);
        if area == 0 {
            return None;
        }
        let mut edges = [Edge::EVERYWHERE; 4];
        let n = corners.len();
        for (i, edge) in edges.iter_mut().take(n).enumerate() {
            let (from, to) = (corners[i], corners[(i + 1) % n]);
            *edge = if area > 0 { Edge::new(fact, from, to) } else { Edge::new(fact, to, from) };
        }
        let (mut x, mut y) = ((i64::MAX, i64::MIN), (i64::MAX, i64::MIN));
        for corner in corners {
            x = (x.0.min(corner.x), x.1.max(corner.x));
            y = (y.0.min(corner.y), y.1.max(corner.y));
        }
        let bounds = Rect {
            x0: x.0.div_euclid(SUBPIXELS) as i32,
            y0: y.0.div_euclid(SUBPIXELS) as i32,
            x1: x.1.div_euclid(SUBPIXELS) as i32 + 1,
            y1: y.1.div_euclid(SUBPIXELS) as i32 + 1,
        };
        Some(Shape { edges, bounds, positions: sample_positions_4x(facts.sample_positions) })
    }

    /// Pixels that may be covered.
    pub fn bounds(&self) -> Rect {
        self.bounds
    }

    /// Whether any part of the pixel rectangle may be covered; exact but for corners that lie
    /// outside of two edges.
    pub fn may_touch(&self, rect: Rect) -> bool {
        if self.bounds.intersect(rect).is_empty() {
            return false;
        }
        let (x0, x1) = (i64::from(rect.x0) * SUBPIXELS, i64::from(rect.x1) * SUBPIXELS);
        let (y0, y1) = (i64::from(rect.y0) * SUBPIXELS, i64::from(rect.y1) * SUBPIXELS);
        self.edges.iter().all(|edge| {
            let x = if edge.a > 0 { x1 } else { x0 };
            let y = if edge.b > 0 { y1 } else { y0 };
            edge.at(x, y) >= 0
        })
    }

    /// Calls `quads` for all 2x2 quads with a covered sample inside of `window`, row by row: the first one's left column and
    /// top row, how many lie side by side, and a mask of covered samples for each pixel of each in lane order (bit 0 alone
    /// without multisampling). Several at once are covered wholly.
    pub fn scan<E>(
        &self,
        window: Rect,
        multisample: bool,
        mut quads: impl FnMut(i32, i32, usize, [u8; 4]) -> Result<(), E>,
    ) -> Result<(), E> {
        let area = self.bounds.intersect(window);
        if area.is_empty() {
            return Ok(());
        }
        let (first_x, first_y) = (area.x0 & !1, area.y0 & !1);
        // Looking at a few quads is cheaper than dividing.
        let narrow = area.x1 - first_x <= 16;
        for y in (first_y..area.y1).step_by(2) {
            let (from, to) = if narrow { (first_x, area.x1) } else { self.span(y, first_x, area.x1) };
            let whole = !narrow && area.y0 <= y && y + 2 <= area.y1;
            let inner = if whole { self.inner_span(y, from, to) } else { (to, to) };
            let mut x = from;
            while x < to {
                // Quads from here on that are covered, and inside of the window.
                let count = ((inner.1 - x + 1) / 2).min((area.x1 - x) / 2);
                if inner.0.max(area.x0) <= x && count > 0 {
                    quads(x, y, count as usize, [if multisample { 0xf } else { 1 }; 4])?;
                    x += 2 * count;
                    continue;
                }
                let mut masks = if multisample { self.quad_samples(x, y) } else { self.quad_centres(x, y) };
                if x < area.x0 || y < area.y0 || x + 2 > area.x1 || y + 2 > area.y1 {
                    mask_border(&mut masks, x, y, area);
                }
                if masks != [0; 4] {
                    quads(x, y, 1, masks)?;
                }
                x += 2;
            }
        }
        Ok(())
    }

    /// The quads of a row of them that may be covered, of those from `from` to `to`.
    fn span(&self, y: i32, mut from: i32, mut to: i32) -> (i32, i32) {
        let (top, bottom) = (i64::from(y) * SUBPIXELS, i64::from(y + 2) * SUBPIXELS);
        for edge in &self.edges {
            // Inside is where a·x is at least this, at the row's better end.
            let least = -edge.at(0, if edge.b > 0 { bottom } else { top });
            if edge.a > 0 {
                let x = least.div_euclid(edge.a).div_euclid(SUBPIXELS);
                // A quad reaches two pixels to the right.
                let first = (x - 2).clamp(from.into(), to.into()) as i32;
                from = from.max(first & !1);
            } else if edge.a < 0 {
                let x = least.div_euclid(edge.a).div_euclid(SUBPIXELS) + 1;
                to = to.min(x.clamp(from.into(), to.into()) as i32);
            } else if least > 0 {
                return (from, from);
            }
        }
        (from, to)
    }

    /// The quads of a row of them that are covered wholly.
    fn inner_span(&self, y: i32, mut from: i32, mut to: i32) -> (i32, i32) {
        let (top, bottom) = (i64::from(y) * SUBPIXELS, i64::from(y + 2) * SUBPIXELS);
        for edge in &self.edges {
            // As above, at the row's worse end.
            let least = -edge.at(0, if edge.b > 0 { top } else { bottom });
            if edge.a > 0 {
                let x = -(-least).div_euclid(edge.a);
                let first = -(-x).div_euclid(SUBPIXELS);
                from = from.max(first.clamp(from.into(), to.into()) as i32);
            } else if edge.a < 0 {
                // Downwards: what is divided by the negative number is rounded up otherwise.
                let x = (-least).div_euclid(-edge.a);
                let behind = x.div_euclid(SUBPIXELS) - 1;
                to = to.min(behind.clamp(from.into(), to.into()) as i32);
            } else if least > 0 {
                return (from, from);
            }
        }
        (from, to)
    }

    #[inline]
    fn quad_centres(&self, x: i32, y: i32) -> [u8; 4] {
        let (gx, gy) = (i64::from(x) * SUBPIXELS + SUBPIXELS / 2, i64::from(y) * SUBPIXELS + SUBPIXELS / 2);
        let mut outside = [0i64; 4];
        for edge in &self.edges {
            let base = edge.at(gx, gy);
            let (right, down) = (edge.a * SUBPIXELS, edge.b * SUBPIXELS);
            for (pixel, value) in [base, base + right, base + down, base + right + down].iter().enumerate() {
                outside[pixel] |= value;
            }
        }
        outside.map(|signs| u8::from(signs >= 0))
    }

    fn quad_samples(&self, x: i32, y: i32) -> [u8; 4] {
        let mut masks = [0; 4];
        for (pixel, mask) in masks.iter_mut().enumerate() {
            let gx = i64::from(x + (pixel as i32 & 1)) * SUBPIXELS;
            let gy = i64::from(y + (pixel as i32 >> 1)) * SUBPIXELS;
            for (sample, &(sx, sy)) in self.positions.iter().enumerate() {
                let inside = self.edges.iter().all(|edge| edge.at(gx + sx, gy + sy) >= 0);
                *mask |= u8::from(inside) << sample;
            }
        }
        masks
    }
}

fn mask_border(masks: &mut [u8; 4], x: i32, y: i32, area: Rect) {
    for (pixel, mask) in masks.iter_mut().enumerate() {
        let (px, py) = (x + (pixel as i32 & 1), y + (pixel as i32 >> 1));
        if px < area.x0 || px >= area.x1 || py < area.y0 || py >= area.y1 {
            *mask = 0;
        }
    }
}

/// Twice the signed area; positive is counter-clockwise when y is drawn upwards (v3d.md §9.3).
pub fn twice_area(corners: &[GridPoint]) -> i64 {
    let n = corners.len();
    (0..n)
        .map(|i| {
            let (p, q) = (corners[i], corners[(i + 1) % n]);
            p.x * q.y - q.x * p.y
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::convert::Infallible;

    const WINDOW: Rect = Rect { x0: 0, y0: 0, x1: 64, y1: 64 };

    fn cover(corners: &[GridPoint], window: Rect, multisample: bool, hits: &mut BTreeMap<(i32, i32), u32>) {
        let Some(shape) = Shape::new(&Facts::default(), corners) else { return };
        let done: Result<(), Infallible> = shape.scan(window, multisample, |x, y, quads, masks| {
            for (quad, (pixel, mask)) in
                (0..quads).flat_map(|quad| masks.iter().enumerate().map(move |m| (quad, m)))
            {
                if *mask != 0 {
                    let at = (x + 2 * quad as i32 + (pixel as i32 & 1), y + (pixel as i32 >> 1));
                    *hits.entry(at).or_default() += mask.count_ones();
                }
            }
            Ok(())
        });
        done.unwrap_or_else(|never| match never {});
    }

    fn px(x: i64, y: i64) -> GridPoint {
        GridPoint { x: x * SUBPIXELS, y: y * SUBPIXELS }
    }

    #[test]
    fn a_square_of_two_triangles_covers_its_pixels_once() {
        let mut hits = BTreeMap::new();
        cover(&[px(3, 5), px(10, 5), px(3, 9)], WINDOW, false, &mut hits);
        cover(&[px(10, 5), px(10, 9), px(3, 9)], WINDOW, false, &mut hits);
        let expected: BTreeMap<_, _> = (5..9).flat_map(|y| (3..10).map(move |x| ((x, y), 1))).collect();
        assert_eq!(hits, expected);
    }

    #[test]
    fn samples_on_top_and_left_edges_belong_and_others_do_not() {
        // Edges through pixel centres: 2.5..4.5 both ways.
        let half = |x: i64, y: i64| GridPoint { x: x * 8, y: y * 8 };
        let mut hits = BTreeMap::new();
        cover(&[half(5, 5), half(9, 5), half(9, 9), half(5, 9)], WINDOW, false, &mut hits);
        let expected: BTreeMap<_, _> = (2..4).flat_map(|y| (2..4).map(move |x| ((x, y), 1))).collect();
        assert_eq!(hits, expected);
    }

    #[test]
    fn the_window_cuts_quads() {
        let mut hits = BTreeMap::new();
        let window = Rect { x0: 1, y0: 1, x1: 4, y1: 2 };
        cover(&[px(-9, -9), px(99, -9), px(99, 99), px(-9, 99)], window, true, &mut hits);
        assert_eq!(hits, BTreeMap::from([((1, 1), 4), ((2, 1), 4), ((3, 1), 4)]));
    }

    fn grid_point() -> impl Strategy<Value = GridPoint> {
        (-600i64..1600, -600i64..1600).prop_map(|(x, y)| GridPoint { x, y })
    }

    proptest! {
        /// What a scan passes over is empty, and what it takes for full is.
        #[test]
        fn a_scan_finds_what_every_quad_says(
            corners in proptest::collection::vec(grid_point(), 3),
            multisample: bool,
            (left, top) in (-5i32..40, -5i32..40),
        ) {
            let Some(shape) = Shape::new(&Facts::default(), &corners) else { return Ok(()) };
            let window = Rect { x0: left, y0: top, x1: left + 59, y1: top + 37 };
            let mut found = BTreeMap::new();
            let done: Result<(), Infallible> = shape.scan(window, multisample, |x, y, quads, masks| {
                found.extend((0..quads as i32).map(|quad| ((x + 2 * quad, y), masks)));
                Ok(())
            });
            done.unwrap_or_else(|never| match never {});
            for y in ((top & !1)..window.y1).step_by(2) {
                for x in ((left & !1)..window.x1).step_by(2) {
                    let mut masks =
                        if multisample { shape.quad_samples(x, y) } else { shape.quad_centres(x, y) };
                    mask_border(&mut masks, x, y, window);
                    prop_assert_eq!(found.remove(&(x, y)).unwrap_or_default(), masks, "at {} {}", x, y);
                }
            }
            prop_assert!(found.is_empty());
        }

        /// Splitting a triangle at any inner or outer point of its plane never loses or doubles a sample:
        /// the signed sum of the parts is the whole.
        #[test]
        fn a_split_triangle_covers_the_same_samples(a in grid_point(), b in grid_point(), c in grid_point(), m in grid_point(), ms: bool) {
            let mut sum: BTreeMap<(i32, i32), i64> = BTreeMap::new();
            for (corners, sign) in [([a, b, c], -1), ([a, b, m], 1), ([b, c, m], 1), ([c, a, m], 1)] {
                let mut hits = BTreeMap::new();
                cover(&corners, WINDOW, ms, &mut hits);
                let orientation = twice_area(&corners).signum() * sign;
                for (at, n) in hits {
                    *sum.entry(at).or_default() += i64::from(n) * orientation;
                }
            }
            prop_assert!(sum.values().all(|&n| n == 0));
        }

        #[test]
        fn a_covered_pixel_lies_in_a_touched_rectangle(a in grid_point(), b in grid_point(), c in grid_point()) {
            let mut hits = BTreeMap::new();
            cover(&[a, b, c], WINDOW, false, &mut hits);
            if let Some(shape) = Shape::new(&Facts::default(), &[a, b, c]) {
                for (x, y) in hits.into_keys() {
                    let (x0, y0) = (x & !7, y & !7);
                    let touched = shape.may_touch(Rect { x0, y0, x1: x0 + 8, y1: y0 + 8 });
                    prop_assert!(touched, "pixel {}, {}", x, y);
                }
            }
        }
    }
}
