//! The position of a vertex: viewport, depth range and the header of a shaded vertex (v3d.md §7.2–§7.3, §9.4).
//!
//! The hardware's raster is a rectangle whose centre it knows in sixteenths of a pixel within ±2048. Almost every
//! viewport is such a rectangle and has the depth range 0 to 1: then packets describe it, clip coordinates stay as they
//! are, and programs only scale ([`RasterMap::Viewport`]).
//!
//! For every other viewport the raster is a fixed window: its centre lies at 1024, 1024 and it reaches 1024 pixels to each
//! side, so it covers every target of up to 2048 pixels. A machine with a narrower guard band has a smaller one. The application's viewport is folded into two scales and two
//! biases that shaders apply in clip space (T-VIEWPORT), so viewports may be fractional or far outside the target
//! ([`RasterMap::Window`]).
//!
//! Larger targets are drawn in parts of that size, each as a target of its own whose viewport is seen from the part's
//! corner. Points and wide lines whose middle lies beside the part reach into it, so the window is larger then
//! ([`RasterMap::Part`], T-BIG).
//!
//! In each case the clip window removes what lies outside viewport and scissor.

use super::emitter::{Emitter, Flag, StateUniform};
use crate::cl::S12_4;
use crate::cl::packets::{ClipWindow, ClipperXyScaling, ClipperZScaleAndOffset, ViewportOffset};
use crate::facts::{GuardBand, NearPlane};
use crate::hw::guard_band_px;
use crate::qpu::AddOp;
use crate::state::raster::POINT_SIZE_RANGE;

/// Column and row of the centre of the raster that is a window: as far from its edges as a power of two may be that the guard
/// band leaves alone.
const fn center_px(guard_band: GuardBand) -> u16 {
    guard_band_px(guard_band).div_ceil(2)
}
/// Edge of the largest area that a window can be cut to, and of the parts of larger targets.
pub const fn window_px(guard_band: GuardBand) -> u32 {
    2 * center_px(guard_band) as u32
}
/// How far the raster of a part reaches beyond the part, where the guard band lets it.
const MARGIN_PX: u16 = 512;
/// Sixteenths of a pixel in one pixel.
const SUBPIXELS: f32 = crate::hw::SUBPIXELS as f32;
/// Furthest from pixel 0 that the raster's centre may lie: packet 103 is signed 12.4 (v3d.md §5.5).
const MAX_CENTER_PX: f64 = 2047.0;
/// Added to a coordinate in sixteenths before truncation to integer: 2^16 makes the sum positive and leaves bits
/// 15:0 alone, so that truncation plus 1/2 rounds halves up for either sign.
const ROUND_HALF_UP: f32 = 65536.5;

/// A viewport, in pixels and depth, with y growing downwards from row 0. The height may be negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    /// Left edge.
    pub x: f32,
    /// Edge where y in clip space is -1.
    pub y: f32,
    /// Width.
    pub width: f32,
    /// Height, of either sign.
    pub height: f32,
    /// Depth at z/w = 0.
    pub min_depth: f32,
    /// Depth at z/w = 1.
    pub max_depth: f32,
}

impl Viewport {
    /// The viewport as seen from a pixel.
    pub fn seen_from(&self, [x, y]: [u32; 2]) -> Viewport {
        Viewport { x: self.x - x as f32, y: self.y - y as f32, ..*self }
    }

    /// The word of a viewport uniform for programs of a map; `None` for other state.
    pub fn word(&self, slot: StateUniform, map: RasterMap, guard_band: GuardBand) -> Option<u32> {
        let half_px = map.half_px(guard_band);
        let half = f64::from(half_px);
        let scale = |size: f32| (f64::from(size) / 2.0 / half) as f32;
        let bias = |start: f32, size: f32| {
            let middle = f64::from(start) + f64::from(size) / 2.0;
            ((middle - f64::from(center_px(guard_band))) / half) as f32
        };
        let value = match slot {
            StateUniform::ViewportXScale => scale(self.width),
            StateUniform::ViewportXBias => bias(self.x, self.width),
            StateUniform::ViewportYScale => scale(self.height),
            StateUniform::ViewportYBias => bias(self.y, self.height),
            StateUniform::RasterScale => f32::from(half_px) * SUBPIXELS,
            StateUniform::ScreenXScale => self.width / 2.0 * SUBPIXELS,
            StateUniform::ScreenYScale => self.height / 2.0 * SUBPIXELS,
            StateUniform::DepthScale => self.max_depth - self.min_depth,
            StateUniform::DepthBias => self.min_depth,
            _ => return None,
        };
        Some(value.to_bits())
    }

    /// Pixel coordinates of the middle.
    fn center(&self) -> [f64; 2] {
        [(self.x, self.width), (self.y, self.height)]
            .map(|(start, size)| f64::from(start) + f64::from(size) / 2.0)
    }

    /// The simplest map that draws this viewport exactly.
    pub fn raster_map(&self, guard_band: GuardBand) -> RasterMap {
        let on_grid = |at: f64| at.abs() <= MAX_CENTER_PX && (at * f64::from(SUBPIXELS)).fract() == 0.0;
        let small = |size: f32| size.abs() <= window_px(guard_band) as f32;
        let simple = self.center().into_iter().all(on_grid)
            && small(self.width)
            && small(self.height)
            && (self.min_depth, self.max_depth) == (0.0, 1.0);
        if simple { RasterMap::Viewport } else { RasterMap::Window }
    }

    /// The packet that gives the clipper its depth range (T-ZRANGE) for what [`emit_position`] makes of z: where that is
    /// 2z - w, the range's half and its middle.
    pub fn clipper_z(&self, near_plane: NearPlane) -> ClipperZScaleAndOffset {
        let (low, high) = (self.min_depth, self.max_depth);
        match near_plane {
            NearPlane::MinusW => {
                ClipperZScaleAndOffset { scale: (high - low) / 2.0, offset: (high + low) / 2.0 }
            }
            NearPlane::Zero => ClipperZScaleAndOffset { scale: high - low, offset: low },
        }
    }

    /// The pixels whose centres lie inside.
    pub fn pixels(&self) -> PixelRect {
        let edge = |at: f64| (at - 0.5).ceil().clamp(-1e9, 1e9) as i32;
        let span = |start: f32, size: f32| {
            let (a, b) = (f64::from(start), f64::from(start) + f64::from(size));
            (edge(a.min(b)), edge(a.max(b)))
        };
        let ((left, right), (top, bottom)) = (span(self.x, self.width), span(self.y, self.height));
        PixelRect { left, top, right, bottom }
    }
}

/// Which rectangle the hardware's raster is, and with it what programs do to positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RasterMap {
    /// The viewport, whose depth range is 0 to 1.
    #[default]
    Viewport,
    /// A fixed window that programs map the viewport into.
    Window,
    /// As [`RasterMap::Window`], for a part of a larger target: what lies a little outside of the part is not clipped, and
    /// fragments add the part's corner to the pixel that they see.
    Part,
}

impl RasterMap {
    /// Pixels from a window's centre to its edges.
    const fn half_px(self, guard_band: GuardBand) -> u16 {
        let (center, most) = (center_px(guard_band), guard_band_px(guard_band));
        match self {
            RasterMap::Viewport | RasterMap::Window => center,
            RasterMap::Part if most - center < MARGIN_PX => most,
            RasterMap::Part => center + MARGIN_PX,
        }
    }

    /// The packet that places the raster on the screen.
    pub fn offset(self, viewport: &Viewport, guard_band: GuardBand) -> ViewportOffset {
        match self {
            RasterMap::Viewport => {
                let [x, y] = viewport.center().map(|at| S12_4((at * f64::from(SUBPIXELS)).round() as i16));
                ViewportOffset { x, y }
            }
            RasterMap::Window | RasterMap::Part => {
                let center = S12_4(center_px(guard_band) as i16 * SUBPIXELS as i16);
                ViewportOffset { x: center, y: center }
            }
        }
    }

    /// The packet that gives the clipper the raster's size.
    pub fn clipper_xy(self, viewport: &Viewport, guard_band: GuardBand) -> ClipperXyScaling {
        let (width, height) = match self {
            RasterMap::Viewport => (viewport.width / 2.0, viewport.height / 2.0),
            RasterMap::Window | RasterMap::Part => {
                let half = f32::from(self.half_px(guard_band));
                (half, half)
            }
        };
        ClipperXyScaling { x: width * SUBPIXELS, y: height * SUBPIXELS }
    }
}

/// A rectangle of pixels, right and bottom exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PixelRect {
    /// First column.
    pub left: i32,
    /// First row.
    pub top: i32,
    /// Column behind the last.
    pub right: i32,
    /// Row behind the last.
    pub bottom: i32,
}

impl PixelRect {
    /// A rectangle by origin and size; saturates.
    pub fn new(x: i32, y: i32, width: u32, height: u32) -> Self {
        PixelRect {
            left: x,
            top: y,
            right: x.saturating_add_unsigned(width),
            bottom: y.saturating_add_unsigned(height),
        }
    }

    /// What lies in both.
    pub fn intersect(self, other: PixelRect) -> PixelRect {
        PixelRect {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        }
    }

    /// The smallest rectangle around both; one that is empty adds nothing.
    pub fn join(self, other: PixelRect) -> PixelRect {
        match (self.is_empty(), other.is_empty()) {
            (_, true) => self,
            (true, _) => other,
            _ => PixelRect {
                left: self.left.min(other.left),
                top: self.top.min(other.top),
                right: self.right.max(other.right),
                bottom: self.bottom.max(other.bottom),
            },
        }
    }

    /// The rectangle as seen from a pixel; saturates.
    pub fn seen_from(self, [x, y]: [u32; 2]) -> PixelRect {
        PixelRect {
            left: self.left.saturating_sub_unsigned(x),
            top: self.top.saturating_sub_unsigned(y),
            right: self.right.saturating_sub_unsigned(x),
            bottom: self.bottom.saturating_sub_unsigned(y),
        }
    }

    /// Whether no pixel lies inside.
    pub fn is_empty(self) -> bool {
        self.left >= self.right || self.top >= self.bottom
    }

    /// The clip window of this area within the raster; `None` if it is empty: then the draw is to be left out,
    /// because nobody knows what the machine makes of an empty window (v3d.md §5.6).
    ///
    /// The area must lie inside the viewport for triangles and lines (v3d.md §9.4). Points reach over the
    /// viewport's edge by half their size, so leave the viewport out for them.
    pub fn clip_window(self, guard_band: GuardBand) -> Option<ClipWindow> {
        let edge = window_px(guard_band) as i32;
        let area = self.intersect(PixelRect { left: 0, top: 0, right: edge, bottom: edge });
        (!area.is_empty()).then(|| ClipWindow {
            left: area.left as u16,
            bottom: area.top as u16,
            width: (area.right - area.left) as u16,
            height: (area.bottom - area.top) as u16,
        })
    }
}

const _: () = {
    // Points, and lines, which are narrower, reach into a part from beside it.
    let bands = [GuardBand::Px2047, GuardBand::Px1023, GuardBand::Px511];
    let mut at = 0;
    while at < bands.len() {
        let margin = RasterMap::Part.half_px(bands[at]) - center_px(bands[at]);
        assert!(margin as f32 >= POINT_SIZE_RANGE[1] / 2.0);
        at += 1;
    }
};

/// Which of the two programs of a vertex is made (v3d.md §2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VertexStage {
    /// For the binner: clip coordinates first, no varyings.
    Coordinate,
    /// For rendering: varyings follow.
    Vertex,
}

/// What the vertex program computed about the position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position<V> {
    /// What the raster is.
    pub map: RasterMap,
    /// Where the machine's near plane is.
    pub near_plane: NearPlane,
    /// x, y, z, w with 0 <= z <= w in view.
    pub clip: [V; 4],
    /// z is w: the vertex lies on the far plane, as those of skies do.
    pub is_far: bool,
    /// Draws points: vertices outside the view volume vanish whole.
    pub points: bool,
    /// Point size in pixels; the record's flag must say that it is there.
    pub point_size: Option<V>,
}

/// Writes the header of a shaded vertex. Both stages do the same operations in the same order, as their results
/// must be bit-identical (v3d.md §2).
pub fn emit_position<E: Emitter>(e: &mut E, stage: VertexStage, position: &Position<E::Value>) {
    let [x, y, z, w] = position.clip;
    let inverse_w = e.recip(w);
    let (clip_x, clip_y, scales) = match position.map {
        RasterMap::Viewport => (x, y, [StateUniform::ScreenXScale, StateUniform::ScreenYScale]),
        RasterMap::Window | RasterMap::Part => (
            fold(e, x, w, StateUniform::ViewportXScale, StateUniform::ViewportXBias),
            fold(e, y, w, StateUniform::ViewportYScale, StateUniform::ViewportYBias),
            [StateUniform::RasterScale; 2],
        ),
    };
    let xs = sixteenths(e, clip_x, scales[0], inverse_w);
    let ys = sixteenths(e, clip_y, scales[1], inverse_w);
    let xy = e.pack_halves(xs, ys);
    // Products are truncated, so that w/w could be less than 1.
    let normal = if position.is_far { e.float(1.0) } else { e.fmul(z, inverse_w) };
    let depth = match position.map {
        RasterMap::Viewport if position.is_far => normal,
        RasterMap::Viewport => normal_depth(e, normal),
        RasterMap::Window | RasterMap::Part => depth(e, normal),
    };
    if stage == VertexStage::Coordinate {
        // The API's volume is 0 <= z <= w.
        let clip_z = match position.near_plane {
            // The clipper tests -w <= z <= w (v3d.md §9.4).
            NearPlane::MinusW if !position.is_far => {
                let doubled = e.fadd(z, z);
                e.fsub(doubled, w)
            }
            NearPlane::MinusW | NearPlane::Zero => z,
        };
        let clip_w = if position.points { kill_outside(e, x, y, w) } else { w };
        for value in [clip_x, clip_y, clip_z, clip_w] {
            e.write_vpm(value);
        }
    }
    for value in [xy, depth, inverse_w] {
        e.write_vpm(value);
    }
    if let Some(size) = position.point_size {
        let (low, high) = (e.float(POINT_SIZE_RANGE[0]), e.float(POINT_SIZE_RANGE[1]));
        let size = e.fmax(size, low);
        let size = e.fmin(size, high);
        e.write_vpm(size);
    }
}

/// A clip coordinate in terms of the raster.
fn fold<E: Emitter>(
    e: &mut E,
    at: E::Value,
    w: E::Value,
    scale: StateUniform,
    bias: StateUniform,
) -> E::Value {
    let (scale, bias) = (e.uniform(scale), e.uniform(bias));
    let scaled = e.fmul(at, scale);
    let shifted = e.fmul(w, bias);
    e.fadd(scaled, shifted)
}

/// The screen coordinate in sixteenths of a pixel, right in bits 15:0.
fn sixteenths<E: Emitter>(e: &mut E, clip: E::Value, scale: StateUniform, inverse_w: E::Value) -> E::Value {
    let scale = e.uniform(scale);
    let scaled = e.fmul(clip, scale);
    let scaled = e.fmul(scaled, inverse_w);
    let rounding = e.float(ROUND_HALF_UP);
    let positive = e.fadd(scaled, rounding);
    e.ftoi(positive)
}

/// The window depth of the range 0 to 1. Nothing in view is below 0, as z and 1/w are not negative there; what is not in
/// view the clipper computes itself.
fn normal_depth<E: Emitter>(e: &mut E, normal: E::Value) -> E::Value {
    let one = e.float(1.0);
    e.fmin(normal, one)
}

/// The window depth. Clamped, because 1/w is inexact and z = w must not leave the depth range.
fn depth<E: Emitter>(e: &mut E, normal: E::Value) -> E::Value {
    let (scale, offset) = (e.uniform(StateUniform::DepthScale), e.uniform(StateUniform::DepthBias));
    let scaled = e.fmul(normal, scale);
    let depth = e.fadd(scaled, offset);
    let (zero, one) = (e.word(0), e.float(1.0));
    let depth = e.fmax(depth, zero);
    e.fmin(depth, one)
}

/// w, or -1 for a vertex outside the view volume in x or y: no z is inside a negative w, so the clipper drops the
/// point instead of leaving it to the raster's edge.
fn kill_outside<E: Emitter>(e: &mut E, x: E::Value, y: E::Value, w: E::Value) -> E::Value {
    let far = e.add(AddOp::Fmaxabs, x, y);
    let room = e.fsub(w, far);
    let dead = e.float(-1.0);
    e.select(Flag::Negative, room, dead, w)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::state::model::Model;
    use crate::state::uniforms::StateWords;

    const USUAL: GuardBand = GuardBand::Px2047;
    const FULL: Viewport =
        Viewport { x: 0.0, y: 0.0, width: 64.0, height: 64.0, min_depth: 0.0, max_depth: 1.0 };

    fn run(viewport: Viewport, stage: VertexStage, clip: [f32; 4], points: bool) -> Vec<u32> {
        mapped(RasterMap::Window, viewport, stage, clip, points)
    }

    fn mapped(
        map: RasterMap,
        viewport: Viewport,
        stage: VertexStage,
        clip: [f32; 4],
        points: bool,
    ) -> Vec<u32> {
        placed(map, viewport, stage, clip, false, points)
    }

    fn placed(
        map: RasterMap,
        viewport: Viewport,
        stage: VertexStage,
        clip: [f32; 4],
        is_far: bool,
        points: bool,
    ) -> Vec<u32> {
        let mut model = Model::new(StateWords { viewport, raster: map, ..Default::default() });
        let clip = clip.map(f32::to_bits);
        emit_position(
            &mut model,
            stage,
            &Position {
                map,
                near_plane: NearPlane::default(),
                clip,
                is_far,
                points,
                point_size: points.then(|| 0f32.to_bits()),
            },
        );
        model.vpm
    }

    /// Column and row in pixels of a shaded vertex.
    fn screen(word: u32) -> (f32, f32) {
        let px = |half: u32| f32::from(half as u16 as i16) / 16.0 + f32::from(center_px(USUAL));
        (px(word), px(word >> 16))
    }

    #[test]
    fn corners_land_on_the_viewport() {
        let vertex = |x, y, z| run(FULL, VertexStage::Vertex, [x, y, z, 1.0], false);
        assert_eq!(screen(vertex(-1.0, -1.0, 0.0)[0]), (0.0, 0.0));
        assert_eq!(screen(vertex(1.0, 1.0, 1.0)[0]), (64.0, 64.0));
        assert_eq!(screen(vertex(0.5, -0.25, 1.0)[0]), (48.0, 24.0));
        assert_eq!(vertex(0.0, 0.0, 1.0)[1..], [1f32.to_bits(), 1f32.to_bits()]);
        let flipped = Viewport { y: 64.0, height: -64.0, ..FULL };
        let word = run(flipped, VertexStage::Vertex, [-1.0, -1.0, 0.5, 1.0], false)[0];
        assert_eq!(screen(word), (0.0, 64.0));
    }

    #[test]
    fn clip_coordinates_describe_the_raster() {
        let rows = run(FULL, VertexStage::Coordinate, [1.0, -1.0, 0.25, 2.0], false);
        assert_eq!(rows.len(), 7);
        // x/w = 0.5: column 48 of 64, so (48 - 1024) / 1024 of w.
        let clip = [(48.0 - 1024.0) / 1024.0 * 2.0, (16.0 - 1024.0) / 1024.0 * 2.0, -1.5, 2.0];
        assert_eq!(rows[..4], clip.map(|v: f32| v.to_bits()));
        assert_eq!(screen(rows[4]), (48.0, 16.0));
        let header = run(FULL, VertexStage::Vertex, [1.0, -1.0, 0.25, 2.0], false);
        assert_eq!(rows[4..], header);
        // Products are truncated, so 1/2 is a unit in the last place too small.
        assert_eq!(header[1..], [0.125f32.to_bits() - 1, 0.5f32.to_bits() - 1]);
    }

    #[test]
    fn depth_range_is_applied() {
        let viewport = Viewport { min_depth: 0.25, max_depth: 0.75, ..FULL };
        let depth = |z| f32::from_bits(run(viewport, VertexStage::Vertex, [0.0, 0.0, z, 1.0], false)[1]);
        assert_eq!((depth(0.0), depth(0.5), depth(1.0)), (0.25, 0.5, 0.75));
        let packet = |scale, offset| ClipperZScaleAndOffset { scale, offset };
        assert_eq!(viewport.clipper_z(NearPlane::MinusW), packet(0.25, 0.5));
        assert_eq!(viewport.clipper_z(NearPlane::Zero), packet(0.5, 0.25));
        assert_eq!(FULL.clipper_z(NearPlane::MinusW), ClipperZScaleAndOffset::default());
    }

    #[test]
    fn what_is_far_lies_on_the_far_plane() {
        let viewport = Viewport { min_depth: 0.25, max_depth: 0.75, ..FULL };
        for (map, far) in [(RasterMap::Viewport, 1f32), (RasterMap::Window, 0.75), (RasterMap::Part, 0.75)] {
            for w in [1.0, 3.0, 7.7f32] {
                let shaded = |stage| placed(map, viewport, stage, [0.0, 0.0, w, w], true, false);
                assert_eq!(shaded(VertexStage::Vertex)[1], far.to_bits(), "{map:?} {w}");
                // z of the clipper, whose far plane is w.
                assert_eq!(shaded(VertexStage::Coordinate)[2], w.to_bits(), "{map:?} {w}");
            }
        }
    }

    #[test]
    fn points_outside_the_view_die() {
        let w = |clip| f32::from_bits(run(FULL, VertexStage::Coordinate, clip, true)[3]);
        assert_eq!(w([1.0, -1.0, 0.5, 1.0]), 1.0);
        assert_eq!(w([1.01, 0.0, 0.5, 1.0]), -1.0);
        assert_eq!(w([0.0, -3.0, 0.5, 2.0]), -1.0);
        let rows = run(FULL, VertexStage::Coordinate, [0.0, 0.0, 0.0, 1.0], true);
        // HW-2726: no zero-sized points.
        assert_eq!((rows.len(), f32::from_bits(rows[7])), (8, 0.125));
    }

    #[test]
    fn packets_match_the_raster() {
        assert_eq!(RasterMap::Window.offset(&FULL, USUAL).x.px(), 1024.0);
        assert_eq!(RasterMap::Window.clipper_xy(&FULL, USUAL), ClipperXyScaling { x: 16384.0, y: 16384.0 });
        let flipped = Viewport { x: 8.5, y: 64.0, height: -32.0, ..FULL };
        let offset = RasterMap::Viewport.offset(&flipped, USUAL);
        assert_eq!((offset.x.px(), offset.y.px()), (40.5, 48.0));
        let half = ClipperXyScaling { x: 512.0, y: -256.0 };
        assert_eq!(RasterMap::Viewport.clipper_xy(&flipped, USUAL), half);
    }

    #[test]
    fn windows_stay_inside_of_the_guard_band() {
        let of = |band| {
            let part = RasterMap::Part.clipper_xy(&FULL, band).x / SUBPIXELS;
            (window_px(band), RasterMap::Window.offset(&FULL, band).x.px(), part)
        };
        assert_eq!(of(USUAL), (2048, 1024.0, 1536.0));
        assert_eq!(of(GuardBand::Px1023), (1024, 512.0, 1023.0));
        assert_eq!(of(GuardBand::Px511), (512, 256.0, 511.0));
        let wide = Viewport { width: 1026.0, ..FULL };
        assert_eq!(wide.raster_map(USUAL), RasterMap::Viewport);
        assert_eq!(wide.raster_map(GuardBand::Px1023), RasterMap::Window);
    }

    #[test]
    fn simple_viewports_are_the_raster() {
        let map = |viewport: Viewport| viewport.raster_map(USUAL);
        assert_eq!(map(FULL), RasterMap::Viewport);
        assert_eq!(map(Viewport { x: -3.0, y: 64.0, height: -64.0, ..FULL }), RasterMap::Viewport);
        for odd in [
            Viewport { x: 0.01, ..FULL },
            Viewport { x: 2040.0, ..FULL },
            Viewport { width: 4096.0, ..FULL },
            Viewport { max_depth: 0.5, ..FULL },
            Viewport { y: f32::NAN, ..FULL },
        ] {
            assert_eq!(map(odd), RasterMap::Window, "{odd:?}");
        }
    }

    /// Both maps put a vertex on the same sixteenth of a pixel and at the same depth.
    #[test]
    fn maps_agree() {
        let viewport = Viewport { x: 5.0, y: 60.0, width: 100.0, height: -48.0, ..FULL };
        for clip in [[0.5, -0.25, 1.0, 1.0], [-1.0, 3.0, 0.5, 4.0], [0.3, 0.7, 3.0, 3.0]] {
            let [window, direct] = [RasterMap::Window, RasterMap::Viewport].map(|map| {
                let rows = mapped(map, viewport, VertexStage::Vertex, clip, false);
                let offset = map.offset(&viewport, USUAL);
                let place = |half: u32, offset: f32| f32::from(half as u16 as i16) / 16.0 + offset;
                let (x, y) = (place(rows[0], offset.x.px()), place(rows[0] >> 16, offset.y.px()));
                (x, y, f32::from_bits(rows[1]))
            });
            let near = |a: f32, b: f32, step: f32| (a - b).abs() <= step;
            assert!(
                near(window.0, direct.0, 0.0625) && near(window.1, direct.1, 0.0625),
                "{window:?} {direct:?}"
            );
            assert!(near(window.2, direct.2, 1e-6) && direct.2 <= 1.0, "{window:?} {direct:?}");
        }
    }

    #[test]
    fn windows_are_intersections() {
        let viewport = Viewport { x: -8.0, y: 100.5, width: 40.25, height: -60.0, ..FULL };
        let pixels = viewport.pixels();
        assert_eq!(pixels, PixelRect { left: -8, top: 40, right: 32, bottom: 100 });
        let window = pixels.intersect(PixelRect::new(0, 0, 64, 64)).clip_window(USUAL);
        assert_eq!(window, Some(ClipWindow { left: 0, bottom: 40, width: 32, height: 24 }));
        assert_eq!(PixelRect::new(5, 5, 0, 9).clip_window(USUAL), None);
        assert_eq!(PixelRect::new(0, 0, u32::MAX, u32::MAX).clip_window(USUAL).unwrap().width, 2048);
        let huge = Viewport { x: f32::NAN, width: f32::INFINITY, ..FULL };
        let _ = huge.pixels().clip_window(USUAL);
    }

    proptest! {
        /// Rounding is to the nearest sixteenth, halves up, for both signs.
        #[test]
        fn coordinates_round_half_up(x in -1.0..1.0f32) {
            let mut model = Model::new(StateWords::default());
            let word = sixteenths(&mut model, x.to_bits(), StateUniform::RasterScale, 1f32.to_bits());
            let expected = (f64::from(x) * 16384.0 + 0.5).floor();
            prop_assert_eq!(f64::from(word as u16 as i16), expected);
        }
    }
}
