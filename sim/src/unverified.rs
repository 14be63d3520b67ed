//! What [`Facts`] about the fixed-function blocks mean, those that are one value or rule; the others are asked where they
//! count.
//!
//! Nothing else in this crate may encode such a guess.

use vc4::cl::packets::Oversample;
use vc4::facts::*;
use vc4::hw::DEPTH_MAX;

/// UNVERIFIED: which triangle owns a sample exactly on a shared edge? Top-left rule: an edge owns
/// its samples when it is a left edge or a horizontal top edge, with row 0 at the top and (`dx`, `dy`)
/// running so that the inside lies on the side of positive edge values (v3d.md §9.2).
pub fn edge_owns_its_samples(fact: SharedEdges, dx: i64, dy: i64) -> bool {
    let (is_left, is_upper) = (dy < 0, dx > 0);
    match (fact, dy == 0) {
        (SharedEdges::TopLeft | SharedEdges::BottomLeft, false) => is_left,
        (SharedEdges::TopRight | SharedEdges::BottomRight, false) => !is_left,
        (SharedEdges::TopLeft | SharedEdges::TopRight, true) => is_upper,
        (SharedEdges::BottomLeft | SharedEdges::BottomRight, true) => !is_upper,
    }
}

/// UNVERIFIED: in 4x mode with oversample none, does the pixel centre decide for all four samples? It does
/// here (v3d.md §10.5). True when samples are covered one by one.
pub fn sample_coverage(fact: OversampleNone, multisample: bool, oversample: Oversample) -> bool {
    multisample && (oversample == Oversample::X4 || fact == OversampleNone::Samples)
}

/// UNVERIFIED: are tile coordinates above 127 unsigned? They are here (v3d.md §5.2).
/// Returns the first pixel of a tile with this edge; negative ones count from 2^32 down.
pub fn tile_coordinate(fact: TileCoordinates, byte: u8, edge: u32) -> u32 {
    match fact {
        TileCoordinates::Unsigned => u32::from(byte) * edge,
        TileCoordinates::Signed => (i32::from(byte as i8) as u32).wrapping_mul(edge),
    }
}

/// UNVERIFIED: which word of packet 106 is the scale? (v3d.md §5.6: first, in three of four sources.)
///
/// Returns (scale, offset).
pub fn packet_106(fact: Packet106, first: f32, second: f32) -> (f32, f32) {
    match fact {
        Packet106::ScaleFirst => (first, second),
        Packet106::OffsetFirst => (second, first),
    }
}

/// UNVERIFIED: how is the interpolated Zs rounded to 24 bits, and what happens outside of 0..1?
/// Clamped and rounded to nearest (v3d.md §9.7).
#[inline]
pub fn z_to_24_bits(facts: &Facts, zs: f64) -> u32 {
    if is_usual_z(facts) { usual_z(zs) } else { other_z(facts.depth_rounding, facts.depth_outside, zs) }
}

/// Whether depths are those of [`usual_z`].
pub fn is_usual_z(facts: &Facts) -> bool {
    (facts.depth_rounding, facts.depth_outside) == (DepthRounding::Nearest, DepthOutside::Clamped)
}

/// [`z_to_24_bits`] of the usual machine.
#[inline]
pub fn usual_z(zs: f64) -> u32 {
    // A float to integer cast saturates and sends NaN to 0.
    ((zs * f64::from(DEPTH_MAX) + 0.5) as u32).min(DEPTH_MAX)
}

/// [`usual_z`] without conversions, which hosts may have for single numbers only.
#[inline(always)]
pub fn usual_z_in_vectors(zs: f64) -> u32 {
    /// A float from here on ends with the bits of its whole part.
    const WHOLE: f64 = 4_503_599_627_370_496.0;
    let scaled = zs * f64::from(DEPTH_MAX) + 0.5;
    // What is no number becomes 0.
    let low = if scaled > 0.0 { scaled } else { 0.0 };
    let clamped = if low < f64::from(DEPTH_MAX) { low } else { f64::from(DEPTH_MAX) };
    (clamped.floor() + WHOLE).to_bits() as u32
}

#[cold]
fn other_z(rounding: DepthRounding, outside: DepthOutside, zs: f64) -> u32 {
    let scaled = match rounding {
        DepthRounding::Nearest => zs * f64::from(DEPTH_MAX) + 0.5,
        DepthRounding::Down => zs * f64::from(DEPTH_MAX),
        DepthRounding::Shifted => zs * f64::from(DEPTH_MAX + 1),
    };
    match outside {
        DepthOutside::Clamped => (scaled as u32).min(DEPTH_MAX),
        DepthOutside::Wrapped => scaled.floor() as i64 as u32 & DEPTH_MAX,
    }
}

/// UNVERIFIED: is the Z that a shader writes the base of per-sample Z in 4x mode? Assumed: each sample
/// adds its own distance times the primitive's slope (`offset`, in steps of depth), clamped to 24 bits. Where all samples take
/// it, `offset` is 0.
#[inline]
pub fn ms_sample_z(z: u32, offset: f64) -> u32 {
    ((f64::from(z) + offset).round() as u32).min(DEPTH_MAX)
}

/// UNVERIFIED: how are X and Y of a vertex that the clipper makes rounded to sixteenths? To nearest.
pub fn clipped_to_grid(fact: ClippedGrid, sixteenths: f64) -> i16 {
    match fact {
        ClippedGrid::Nearest => sixteenths.round() as i16,
        ClippedGrid::Down => sixteenths.floor() as i16,
    }
}

/// UNVERIFIED: are near and far clipped as -Wc <= Zc <= Wc, and is Wc > 0 a plane of its own?
/// Distances from the three planes, negative outside (v3d.md §9.4).
pub fn clip_distances_zw(fact: NearPlane, z: f64, w: f64) -> [f64; 3] {
    let near = match fact {
        NearPlane::MinusW => w + z,
        NearPlane::Zero => z,
    };
    [w - f64::from(f32::MIN_POSITIVE), near, w - z]
}

/// UNVERIFIED: which lines with both ends outside of the viewport are drawn? All but those that lie beside it, with both
/// ends beyond one of its sides, however wide they are: dEQP-GLES2's `wide_line_clip_viewport_{center,corner}` fail on
/// Raspberry Pi 3 boards, and do here only so. Cut at the viewport they would fail more tests than there.
pub fn is_line_beside(fact: LinesBeside, ends: [[f32; 4]; 2]) -> bool {
    if fact == LinesBeside::Drawn {
        return false;
    }
    [0, 1]
        .into_iter()
        .any(|axis| [1.0, -1.0].into_iter().any(|side| ends.iter().all(|end| end[axis] * side > end[3])))
}

/// UNVERIFIED: how wide can a point be, in pixels? dEQP-GLES2's `rasterization.limits.points` passes on Raspberry Pi 3
/// boards, where Mesa says 512 and leaves it to the chip to see to it.
pub fn max_point_px(fact: MaxPoint) -> f32 {
    match fact {
        MaxPoint::Px512 => 512.0,
        MaxPoint::Px256 => 256.0,
        MaxPoint::Px1024 => 1024.0,
        MaxPoint::Unlimited => 4096.0,
    }
}

/// A size in pixels on the sub-pixel grid; nonsense becomes nothing or the largest target.
fn sixteenths(px: f32) -> i64 {
    (f64::from(px).clamp(0.0, 4096.0) * 16.0).round() as i64
}

/// UNVERIFIED: are lines rectangles perpendicular to their direction, or along the minor axis? The
/// latter, as GL's non-antialiased lines; corners around the line, distances in sixteenths.
pub fn line_corners(fact: LineCorners, from: (i64, i64), to: (i64, i64), width: f32) -> [(i64, i64); 4] {
    let half = sixteenths(width) / 2;
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (ox, oy) = match fact {
        LineCorners::MinorAxis if dy.abs() > dx.abs() => (half, 0),
        LineCorners::MinorAxis => (0, half),
        LineCorners::Perpendicular => {
            let scale = half as f64 / (dx as f64).hypot(dy as f64).max(1.0);
            ((-dy as f64 * scale).round() as i64, (dx as f64 * scale).round() as i64)
        }
    };
    [(from.0 - ox, from.1 - oy), (to.0 - ox, to.1 - oy), (to.0 + ox, to.1 + oy), (from.0 + ox, from.1 + oy)]
}

/// UNVERIFIED: is a point the half-open square of its size around the vertex? Corners in sixteenths.
pub fn point_corners(facts: &Facts, centre: (i64, i64), size: f32) -> [(i64, i64); 4] {
    let size = match facts.point_size {
        PointSize::Exact => size,
        PointSize::Whole => size.round(),
    };
    let edge = sixteenths(size).min(sixteenths(max_point_px(facts.max_point)));
    let (x0, y0) = (centre.0 - edge / 2, centre.1 - edge / 2);
    [(x0, y0), (x0 + edge, y0), (x0 + edge, y0 + edge), (x0, y0 + edge)]
}

/// UNVERIFIED: which vertex gives flat varyings their value? The last one of a line or triangle
/// (v3d.md §9.6).
pub fn provoking_vertex(fact: ProvokingVertex, vertices: usize) -> usize {
    match fact {
        ProvokingVertex::Last => vertices - 1,
        ProvokingVertex::First => 0,
    }
}

/// UNVERIFIED: what is one unit of depth offset, and how is the slope defined? GL's: one step of
/// the 24-bit buffer, and the larger of the two screen derivatives (v3d.md §9.7). Is the offset added before the depth is rounded? It is.
/// Result in Zs.
pub fn depth_offset(facts: &Facts, factor: f32, units: f32, dzdx: f64, dzdy: f64) -> f64 {
    let slope = match facts.depth_slope {
        DepthSlope::Largest => dzdx.abs().max(dzdy.abs()),
        DepthSlope::Sum => dzdx.abs() + dzdy.abs(),
        DepthSlope::Length => dzdx.hypot(dzdy),
    };
    let unit = match facts.depth_unit {
        DepthUnit::Step => 1.0 / f64::from(DEPTH_MAX),
        DepthUnit::TwoSteps => 2.0 / f64::from(DEPTH_MAX),
        DepthUnit::Coarse => 1.0 / 65535.0,
    };
    let offset = f64::from(factor) * slope + f64::from(units) * unit;
    match facts.bias_order {
        BiasOrder::Before => offset,
        // Whole steps stay what they are, whatever they are added to.
        BiasOrder::After => (offset * f64::from(DEPTH_MAX)).round() / f64::from(DEPTH_MAX),
    }
}

/// UNVERIFIED: how does the multisample resolve round? To nearest, halves up (v3d.md §10.5).
pub fn resolve_4x(fact: ResolveRounding, samples: [u32; 4]) -> u32 {
    let half = if fact == ResolveRounding::Nearest { 2 } else { 0 };
    let mut out = 0;
    for shift in [0, 8, 16, 24] {
        let sum: u32 = samples.iter().map(|s| (s >> shift) & 0xff).sum();
        out |= ((sum + half) / 4) << shift;
    }
    out
}

/// UNVERIFIED: how is a channel rounded on a 565 store? To nearest.
pub fn to_565(fact: Store565, rgba: u32) -> u16 {
    let round = |value: u32, max: u32| match fact {
        Store565::Nearest => (value * max + 127) / 255,
        Store565::Cut => value * (max + 1) / 256,
    };
    let (r, g, b) = (rgba & 0xff, (rgba >> 8) & 0xff, (rgba >> 16) & 0xff);
    ((round(r, 31) << 11) | (round(g, 63) << 5) | round(b, 31)) as u16
}

/// Thresholds of ordered dither, sixteenths of a step.
const DITHER_4: [[u32; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];
const DITHER_2: [[u32; 4]; 4] = [[2, 10, 2, 10], [14, 6, 14, 6], [2, 10, 2, 10], [14, 6, 14, 6]];

/// UNVERIFIED: what does the dither of a 565 store add where? Here: the fraction of a step is compared with
/// the thresholds of a 4x4 Bayer matrix that counts from pixel (0, 0) of the frame, alike for all channels; values that 565 can hold
/// stay (v3d.md §15).
pub fn to_565_dithered(fact: Dither565, plain: Store565, rgba: u32, x: u32, y: u32) -> u16 {
    let matrix = match fact {
        Dither565::Bayer4 => &DITHER_4,
        Dither565::Bayer2 => &DITHER_2,
        Dither565::None => return to_565(plain, rgba),
    };
    let threshold = matrix[(y & 3) as usize][(x & 3) as usize];
    let round = |value: u32, max: u32| (value * max * 16 + (2 * threshold + 1) * 255 / 2) / (255 * 16);
    let (r, g, b) = (rgba & 0xff, (rgba >> 8) & 0xff, (rgba >> 16) & 0xff);
    ((round(r, 31) << 11) | (round(g, 63) << 5) | round(b, 31)) as u16
}

/// UNVERIFIED: where does a full-resolution store without multisampling put a pixel? As with samples: quads row by
/// row, here of four words (v3d.md §10.6).
pub fn unsampled_block_offset(fact: FullResolution, x: u32, y: u32) -> u32 {
    if fact == FullResolution::Rows {
        return (y * vc4::hw::TILE_PX + x) * 4;
    }
    (y / 2 * (vc4::hw::TILE_PX / 2) + x / 2) * 16 + (y & 1) * 8 + (x & 1) * 4
}

/// UNVERIFIED: how are 5- and 6-bit channels expanded on a 565 load? By repeating the high bits;
/// alpha is 255.
pub fn from_565(fact: Load565, pixel: u16) -> u32 {
    let p = u32::from(pixel);
    let (r, g, b) = (p >> 11, (p >> 5) & 63, p & 31);
    let low = |bits: u32| if fact == Load565::Repeated { bits } else { 0 };
    let five = |v: u32| (v << 3) | low(v >> 2);
    five(r) | (((g << 2) | low(g >> 4)) << 8) | (five(b) << 16) | 0xff00_0000
}

/// UNVERIFIED: what does MS_FLAGS read without multisampling? All four bits follow the one sample
/// (v3d.md §9.6).
#[inline]
pub fn ms_flags_from_coverage(fact: MsFlags, covered: bool) -> u32 {
    match (fact, covered) {
        (_, false) => 0,
        (MsFlags::All, true) => 0xf,
        (MsFlags::First, true) => 1,
    }
}

/// UNVERIFIED: what does a tile store write outside of width x height? Whole utiles, but no further
/// row in raster layout (v3d.md §10.6). Returns columns and rows.
pub fn store_extent(fact: StoreExtent, level: &vc4::image::Level) -> (u32, u32) {
    if fact == StoreExtent::Exact {
        return (level.width, level.height);
    }
    let (columns, rows) = vc4::image::tiling::utile(level.cpp).unwrap_or((1, 1));
    match level.tiling {
        vc4::image::Tiling::Raster => (level.width.next_multiple_of(columns), level.height),
        _ => (level.width.next_multiple_of(columns), level.height.next_multiple_of(rows)),
    }
}

/// UNVERIFIED: which sample does a general Z/S or non-decimated colour store write in 4x mode?
pub fn unresolved_sample(fact: UnresolvedSample) -> usize {
    match fact {
        UnresolvedSample::First => 0,
        UnresolvedSample::Last => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_endpoints_are_exact() {
        for depth_rounding in [DepthRounding::Nearest, DepthRounding::Down, DepthRounding::Shifted] {
            let facts = Facts { depth_rounding, ..Facts::default() };
            let of = |zs| z_to_24_bits(&facts, zs);
            assert_eq!([0.0, 1.0, 7.0, -1.0, f64::NAN].map(of), [0, DEPTH_MAX, DEPTH_MAX, 0, 0]);
        }
        assert_eq!(other_z(DepthRounding::Down, DepthOutside::Wrapped, 1.5), 0x7f_fffe);
    }

    #[test]
    fn depths_in_vectors_are_those_of_single_numbers() {
        let odd = [0.0, -0.0, 1.0, -1.0, 7.0, 1e300, -1e300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        let steps = (0..3_000_000).map(|n| (f64::from(n) - 500_000.0) / 2_000_003.0);
        let halves = (0..=DEPTH_MAX).step_by(997).map(|n| (f64::from(n) + 0.5) / f64::from(DEPTH_MAX));
        for zs in odd.into_iter().chain(steps).chain(halves) {
            assert_eq!(usual_z_in_vectors(zs), usual_z(zs), "{zs}");
        }
    }

    #[test]
    fn expanded_565_goes_back_to_itself() {
        for pixel in 0..=u16::MAX {
            assert_eq!(to_565(Store565::Nearest, from_565(Load565::Repeated, pixel)), pixel);
            assert_eq!(to_565(Store565::Cut, from_565(Load565::Zeros, pixel)), pixel);
        }
    }
}
