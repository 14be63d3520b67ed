//! Every guess about the fixed-function blocks, with the question to ask a real board. Those that are one
//! value or rule live here; the others are named where they are.
//!
//! Nothing else in this crate may encode such a guess; whoever learns the answer changes it here.

/// Guesses about the fixed-function blocks: where they stand, and the question.
pub const UNVERIFIED: &[(&str, &str)] = &[
    ("unverified::edge_owns_its_samples", "Which triangle owns a sample that lies exactly on a shared edge?"),
    (
        "unverified::sample_coverage",
        "In 4x mode with oversample none: does the centre decide for all samples?",
    ),
    ("unverified::GUARD_BAND_PX", "How far from the viewport centre may X and Y reach before the PTB clips?"),
    ("unverified::clip_distances_zw", "Are near and far -Wc <= Zc <= Wc, and is Wc > 0 a plane of its own?"),
    ("unverified::packet_106", "Which word of CLIPPER_Z_SCALE_AND_OFFSET is the scale?"),
    ("unverified::clipped_to_grid", "How are X and Y of a clipper's vertex rounded to sixteenths?"),
    ("unverified::z_to_24_bits", "How is Zs rounded to 24 bits, and what happens outside of 0..1?"),
    ("unverified::ms_sample_z", "Is the Z that a shader writes the base of per-sample Z in 4x mode?"),
    ("unverified::provoking_vertex", "Which vertex of a primitive gives flat varyings their value?"),
    ("unverified::depth_offset", "What is one unit of depth offset, and how is a primitive's slope defined?"),
    ("unverified::is_line_beside", "Which lines with both ends outside of the viewport are drawn?"),
    ("unverified::MAX_POINT_PX", "How wide can a point be?"),
    ("unverified::line_corners", "Are lines rectangles across their direction, or along the minor axis?"),
    ("unverified::point_corners", "Is a point the half-open square of its size around the vertex?"),
    ("unverified::resolve_4x", "How does the multisample resolve round?"),
    ("unverified::to_565", "How does a 565 store round?"),
    ("unverified::to_565_dithered", "What does the dither of a 565 store add where?"),
    (
        "unverified::unsampled_block_offset",
        "Where does a full-resolution store without multisampling put a pixel?",
    ),
    ("unverified::from_565", "How are 5- and 6-bit channels expanded on a 565 load?"),
    ("unverified::store_extent", "What does a tile store write outside of width x height?"),
    ("unverified::ms_flags_from_coverage", "What does MS_FLAGS read without multisampling?"),
    ("unverified::UNRESOLVED_MS_STORE_SAMPLE", "Which sample does an unresolved store write in 4x mode?"),
    ("unverified::tile_coordinate", "Are tile coordinates above 127 unsigned?"),
    (
        "rendering::pse::Fit",
        "Which vertex supplies (x0, y0) of the varying planes, and with which precision?",
    ),
    ("geometry::state::State::reset", "Which values does the state of both threads have at power-up?"),
    ("geometry::state::State::window", "Does a clip window of zero width or height draw nothing?"),
    ("binning::ptb::Sequence::new", "What happens to a primitive with an index above the maximum index?"),
    ("binning::thread::BinningThread::indexed", "Does a 16-bit index list at an odd address work?"),
    ("stats::counters::Counters", "Which quads and primitives does each performance event count exactly?"),
    ("stats::counters::idle_clocks", "How long do the fixed-function blocks take beside the QPUs?"),
    ("stats::caches::SIZES", "How large and how associative are the caches of uniforms, textures and L2?"),
    (
        "binning::tile_alloc::TileAlloc::primitive",
        "Which encoding does the PTB choose, and when does it end a compressed list?",
    ),
    ("vertex::shade::tail", "What fills the last word of an attribute whose size is no multiple of four?"),
];

/// Guesses about the QPU around its ALUs.
const QPU: &[(&str, &str)] = &[
    ("qpu::exec::REGISTER_BRANCH_ELEMENT", "Which element of its register does a register branch go to?"),
    (
        "qpu::flatten::packs_file_a",
        "Does a pack with pm = 0 act on accumulators and peripherals written through file A?",
    ),
    ("qpu::exec::flags_of_mul", "Do flags follow the mul result before or after its rotation and pack?"),
    ("qpu::flatten::unmapped", "What do read addresses without a register return?"),
    ("qpu::flatten::reverse_from", "Which element's bit does a rev_flag write take?"),
];

/// Guesses about the texture unit.
const TMU: &[(&str, &str)] = &[
    ("tmu::sample::lod_of_quad", "Which formula and how many fraction bits does the automatic LOD have?"),
    ("tmu::sample::select_levels", "How is the nearest mip level rounded, and how two levels blended?"),
    ("tmu::sample::WEIGHT_BITS", "How many bits has a filter weight, and how are results rounded?"),
    ("tmu::sample::to_texels", "How are texture coordinates converted to fixed point?"),
    ("tmu::sample::footprint", "Does the filter of a cube reach from a face to its neighbours?"),
    ("tmu::sample::cube_face", "Which face wins when two components of a cube direction are equally large?"),
    ("tmu::texel::expand", "How are 4-, 5- and 6-bit channels expanded to 8 bits?"),
    ("tmu::texture::cut", "How do wrap modes and mip levels see a child image?"),
    ("tmu::texel::single", "Where in r4 do the single-channel types 9, 10 and 11 put their sample?"),
    (
        "tmu::texture::Level",
        "Do coordinates of NPOT mip levels scale by w >> i while pitch follows the power of two?",
    ),
];

/// Guesses that the simulator takes over from the crates below it.
const CORE: &[(&str, &str)] = &[
    ("vc4_kernel_abi::Ident::REFERENCE", "Which IDENT1 and IDENT2 do real boards report?"),
    ("vc4::qpu::alu::FMUL_ROUNDING", "Does fmul round to nearest even or truncate?"),
    ("vc4::qpu::alu::MUL24_CARRY_ABOVE", "Above which product does mul24 set C?"),
    ("vc4::qpu::alu::fadd", "What are Inf - Inf, NaN + Inf, and sums beyond the largest float?"),
    ("vc4::qpu::alu::ftoi", "What does ftoi give for 2^31 <= |x| < 2^32 and for infinities?"),
    ("vc4::qpu::pack::f32_to_f16", "How are values between two float16 rounded?"),
    ("vc4::qpu::pack::saturated", "What do the saturating packs give when add overflows?"),
    (
        "vc4::qpu::pack::float_to_unorm8",
        "How does the mul pack round halves, and what of NaN and infinities?",
    ),
    ("vc4::qpu::sfu::exp2", "What is exp2(NaN)?"),
    ("vc4::state::texture::magnified_until", "Up to which level of detail does the texture unit magnify?"),
    ("vc4::hw::SAMPLE_POSITIONS_4X", "Where are the four samples of a pixel in 4x multisampling?"),
];

/// All guesses that a picture of this simulator rests on.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    [UNVERIFIED, TMU, QPU, CORE].into_iter().flatten().copied()
}

/// UNVERIFIED: which triangle owns a sample exactly on a shared edge? Top-left rule: an edge owns
/// its samples when it is a left edge or a horizontal top edge, with row 0 at the top and (`dx`, `dy`)
/// running so that the inside lies on the side of positive edge values (v3d.md §9.2).
pub fn edge_owns_its_samples(dx: i64, dy: i64) -> bool {
    dy < 0 || (dy == 0 && dx > 0)
}

/// UNVERIFIED: in 4x mode with oversample none, does the pixel centre decide for all four samples? It does
/// here (v3d.md §10.5). True when samples are covered one by one.
pub fn sample_coverage(multisample: bool, oversample: vc4::cl::packets::Oversample) -> bool {
    multisample && oversample == vc4::cl::packets::Oversample::X4
}

/// UNVERIFIED: are tile coordinates above 127 unsigned? They are here (v3d.md §5.2).
pub fn tile_coordinate(byte: u8) -> u32 {
    u32::from(byte)
}

/// UNVERIFIED: how far from the viewport centre may X and Y reach before the PTB clips them?
/// Anything inside ±2048 px keeps coordinates representable in s12.4 (v3d.md §9.4).
pub const GUARD_BAND_PX: f64 = 2047.0;

/// UNVERIFIED: which word of packet 106 is the scale? (v3d.md §5.6: first, in three of four sources.)
///
/// Returns (scale, offset).
pub fn packet_106(first: f32, second: f32) -> (f32, f32) {
    (first, second)
}

/// UNVERIFIED: how is the interpolated Zs rounded to 24 bits, and what happens outside of 0..1?
/// Clamped and rounded to nearest (v3d.md §9.7).
#[inline]
pub fn z_to_24_bits(zs: f64) -> u32 {
    let scaled = zs * f64::from(vc4::hw::DEPTH_MAX) + 0.5;
    // A float to integer cast saturates and sends NaN to 0.
    (scaled as u32).min(vc4::hw::DEPTH_MAX)
}

/// UNVERIFIED: is the Z that a shader writes the base of per-sample Z in 4x mode? Assumed: each sample
/// adds its own distance times the primitive's slope (`offset`, in steps of depth), clamped to 24 bits.
#[inline]
pub fn ms_sample_z(z: u32, offset: f64) -> u32 {
    ((f64::from(z) + offset).round() as u32).min(vc4::hw::DEPTH_MAX)
}

/// UNVERIFIED: how are X and Y of a vertex that the clipper makes rounded to sixteenths? To nearest.
pub fn clipped_to_grid(sixteenths: f64) -> i16 {
    sixteenths.round() as i16
}

/// UNVERIFIED: are near and far clipped as -Wc <= Zc <= Wc, and is Wc > 0 a plane of its own?
/// Distances from the three planes, negative outside (v3d.md §9.4).
pub fn clip_distances_zw(z: f64, w: f64) -> [f64; 3] {
    [w - f64::from(f32::MIN_POSITIVE), w + z, w - z]
}

/// UNVERIFIED: which lines with both ends outside of the viewport are drawn? All but those that lie beside it, with both
/// ends beyond one of its sides, however wide they are: dEQP-GLES2's `wide_line_clip_viewport_{center,corner}` fail on
/// Raspberry Pi 3 boards, and do here only so. Cut at the viewport they would fail more tests than there.
pub fn is_line_beside(ends: [[f32; 4]; 2]) -> bool {
    [0, 1]
        .into_iter()
        .any(|axis| [1.0, -1.0].into_iter().any(|side| ends.iter().all(|end| end[axis] * side > end[3])))
}

/// UNVERIFIED: how wide can a point be, in pixels? dEQP-GLES2's `rasterization.limits.points` passes on Raspberry Pi 3
/// boards, where Mesa says 512 and leaves it to the chip to see to it.
pub const MAX_POINT_PX: f32 = 512.0;

/// A size in pixels on the sub-pixel grid; nonsense becomes nothing or the largest target.
fn sixteenths(px: f32) -> i64 {
    (f64::from(px).clamp(0.0, 4096.0) * 16.0).round() as i64
}

/// UNVERIFIED: are lines rectangles perpendicular to their direction, or along the minor axis? The
/// latter, as GL's non-antialiased lines; corners around the line, distances in sixteenths.
pub fn line_corners(from: (i64, i64), to: (i64, i64), width: f32) -> [(i64, i64); 4] {
    let half = sixteenths(width) / 2;
    let steep = (to.1 - from.1).abs() > (to.0 - from.0).abs();
    let (ox, oy) = if steep { (half, 0) } else { (0, half) };
    [(from.0 - ox, from.1 - oy), (to.0 - ox, to.1 - oy), (to.0 + ox, to.1 + oy), (from.0 + ox, from.1 + oy)]
}

/// UNVERIFIED: is a point the half-open square of its size around the vertex? Corners in sixteenths.
pub fn point_corners(centre: (i64, i64), size: f32) -> [(i64, i64); 4] {
    let edge = sixteenths(size).min(sixteenths(MAX_POINT_PX));
    let (x0, y0) = (centre.0 - edge / 2, centre.1 - edge / 2);
    [(x0, y0), (x0 + edge, y0), (x0 + edge, y0 + edge), (x0, y0 + edge)]
}

/// UNVERIFIED: which vertex gives flat varyings their value? The last one of a line or triangle
/// (v3d.md §9.6).
pub fn provoking_vertex(vertices: usize) -> usize {
    vertices - 1
}

/// UNVERIFIED: what is one unit of depth offset, and how is the slope defined? GL's: one step of
/// the 24-bit buffer, and the larger of the two screen derivatives (v3d.md §9.7). Result in Zs.
pub fn depth_offset(factor: f32, units: f32, dzdx: f64, dzdy: f64) -> f64 {
    let slope = dzdx.abs().max(dzdy.abs());
    f64::from(factor) * slope + f64::from(units) / f64::from(vc4::hw::DEPTH_MAX)
}

/// UNVERIFIED: how does the multisample resolve round? To nearest, halves up (v3d.md §10.5).
pub fn resolve_4x(samples: [u32; 4]) -> u32 {
    let mut out = 0;
    for shift in [0, 8, 16, 24] {
        let sum: u32 = samples.iter().map(|s| (s >> shift) & 0xff).sum();
        out |= ((sum + 2) / 4) << shift;
    }
    out
}

/// UNVERIFIED: how is a channel rounded on a 565 store? To nearest.
pub fn to_565(rgba: u32) -> u16 {
    let round = |value: u32, max: u32| (value * max + 127) / 255;
    let (r, g, b) = (rgba & 0xff, (rgba >> 8) & 0xff, (rgba >> 16) & 0xff);
    ((round(r, 31) << 11) | (round(g, 63) << 5) | round(b, 31)) as u16
}

/// Thresholds of ordered dither, sixteenths of a step.
const DITHER: [[u32; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];

/// UNVERIFIED: what does the dither of a 565 store add where? Here: the fraction of a step is compared with
/// the thresholds of a 4x4 Bayer matrix that counts from pixel (0, 0) of the frame, alike for all channels; values that 565 can hold
/// stay (v3d.md §15).
pub fn to_565_dithered(rgba: u32, x: u32, y: u32) -> u16 {
    let threshold = DITHER[(y & 3) as usize][(x & 3) as usize];
    let round = |value: u32, max: u32| (value * max * 16 + (2 * threshold + 1) * 255 / 2) / (255 * 16);
    let (r, g, b) = (rgba & 0xff, (rgba >> 8) & 0xff, (rgba >> 16) & 0xff);
    ((round(r, 31) << 11) | (round(g, 63) << 5) | round(b, 31)) as u16
}

/// UNVERIFIED: where does a full-resolution store without multisampling put a pixel? As with samples: quads row by
/// row, here of four words (v3d.md §10.6).
pub fn unsampled_block_offset(x: u32, y: u32) -> u32 {
    (y / 2 * (vc4::hw::TILE_PX / 2) + x / 2) * 16 + (y & 1) * 8 + (x & 1) * 4
}

/// UNVERIFIED: how are 5- and 6-bit channels expanded on a 565 load? By repeating the high bits;
/// alpha is 255.
pub fn from_565(pixel: u16) -> u32 {
    let p = u32::from(pixel);
    let (r, g, b) = (p >> 11, (p >> 5) & 63, p & 31);
    let five = |v: u32| (v << 3) | (v >> 2);
    five(r) | (((g << 2) | (g >> 4)) << 8) | (five(b) << 16) | 0xff00_0000
}

/// UNVERIFIED: what does MS_FLAGS read without multisampling? All four bits follow the one sample
/// (v3d.md §9.6).
#[inline]
pub fn ms_flags_from_coverage(covered: bool) -> u32 {
    if covered { 0xf } else { 0 }
}

/// UNVERIFIED: what does a tile store write outside of width x height? Whole utiles, but no further
/// row in raster layout (v3d.md §10.6). Returns columns and rows.
pub fn store_extent(level: &vc4::image::Level) -> (u32, u32) {
    let (columns, rows) = vc4::image::tiling::utile(level.cpp).unwrap_or((1, 1));
    match level.tiling {
        vc4::image::Tiling::Raster => (level.width.next_multiple_of(columns), level.height),
        _ => (level.width.next_multiple_of(columns), level.height.next_multiple_of(rows)),
    }
}

/// UNVERIFIED: which sample does a general Z/S or non-decimated colour store write in 4x mode?
pub const UNRESOLVED_MS_STORE_SAMPLE: usize = 0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_stands_in_this_file_once() {
        let source = include_str!("unverified.rs");
        let mut names: Vec<_> = all().map(|(name, _)| name).collect();
        for name in names.iter().filter_map(|name| name.strip_prefix("unverified::")) {
            let defined =
                ["pub fn ", "pub const "].iter().any(|kind| source.contains(&format!("{kind}{name}")));
            assert!(defined, "{name}");
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        let guesses = source.matches("\n/// UNVERIFIED: ").count();
        assert_eq!(guesses, UNVERIFIED.iter().filter(|(name, _)| name.starts_with("unverified::")).count());
    }

    #[test]
    fn depth_endpoints_are_exact() {
        assert_eq!(z_to_24_bits(0.0), 0);
        assert_eq!(z_to_24_bits(1.0), 0x00ff_ffff);
        assert_eq!(z_to_24_bits(7.0), 0x00ff_ffff);
        assert_eq!(z_to_24_bits(-1.0), 0);
        assert_eq!(z_to_24_bits(f64::NAN), 0);
    }

    #[test]
    fn expanded_565_goes_back_to_itself() {
        for pixel in 0..=u16::MAX {
            assert_eq!(to_565(from_565(pixel)), pixel);
        }
    }
}
