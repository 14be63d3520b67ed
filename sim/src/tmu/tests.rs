//! Lookups against a plain float model and the manual's statements (textures.md).

use proptest::prelude::*;
use vc4::cl::field::{Addr, Bits, Count, Pages};
use vc4::cl::words::{
    MagFilter, MinFilter, TextureCube, TextureExtra, TextureP0, TextureP1, TextureType, TextureWords, Wrap,
};
use vc4::image::{ImageLayout, ImageShape};

use super::fault::TmuFault;
use super::unit::{CACHED_SETUPS, Tmu};
use super::{etc1, texture};
use crate::lanes::Lanes;
use crate::memory::Memory;

const BASE: u32 = 0x1_0000;

/// A texture in memory whose pixels came from a function of (face, level, x, y) to an element.
struct Fixture {
    memory: Memory,
    words: TextureWords,
    extra: [TextureExtra; 2],
}

impl Fixture {
    fn new(ty: TextureType, shape: ImageShape, pixel: impl Fn(u32, u32, u32, u32) -> u64) -> Fixture {
        let layout = ImageLayout::new(shape).unwrap();
        let memory = Memory::new((BASE + layout.size).next_multiple_of(4096) + 8192);
        for face in 0..shape.faces {
            for level in 0..shape.levels {
                let place = layout.level(level, face).unwrap();
                let (width, height) = shape.level_el(level);
                for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
                    let bytes = pixel(face, level, x, y).to_le_bytes();
                    let at = BASE + place.offset_of(x, y);
                    memory.write_bytes(at, &bytes[..shape.cpp as usize]).unwrap();
                }
            }
        }
        let p0 = TextureP0 {
            base: Addr::new(BASE + layout.levels[0].offset).unwrap(),
            last_level: Bits::low(shape.levels - 1),
            cube: shape.faces == 6,
            ..TextureP0::default()
        };
        let p1 = TextureP1 {
            width: Count::new(shape.width).unwrap(),
            height: Count::new(shape.height).unwrap(),
            etc_flip: true,
            mag: MagFilter::Nearest,
            min: MinFilter::Nearest,
            wrap_s: Wrap::Clamp,
            wrap_t: Wrap::Clamp,
            ..TextureP1::default()
        };
        let stride = Pages::from_bytes(layout.face_stride).unwrap();
        let cube = TextureExtra::Cube(TextureCube { stride, explicit_lod: false });
        let extra = [if shape.faces == 6 { cube } else { TextureExtra::Unused }, TextureExtra::Unused];
        Fixture { memory, words: TextureWords { ty, p0, p1 }, extra }
    }

    fn linear(mut self) -> Fixture {
        (self.words.p1.mag, self.words.p1.min) = (MagFilter::Linear, MinFilter::Linear);
        self
    }

    fn wrap(mut self, wrap: Wrap) -> Fixture {
        (self.words.p1.wrap_s, self.words.p1.wrap_t) = (wrap, wrap);
        self
    }

    fn min(mut self, min: MinFilter) -> Fixture {
        self.words.p1.min = min;
        self
    }

    fn explicit(mut self) -> Fixture {
        self.extra[0] = match self.extra[0] {
            TextureExtra::Cube(cube) => TextureExtra::Cube(TextureCube { explicit_lod: true, ..cube }),
            _ => TextureExtra::Cube(TextureCube { explicit_lod: true, ..TextureCube::default() }),
        };
        self
    }

    /// Writes the parameters in the given order, s last.
    fn try_lookup(&self, params: &[(u8, Lanes)]) -> Result<Lanes, TmuFault> {
        let mut tmu = Tmu::default();
        let [p0, p1] = self.words.bits();
        let config = [p0, p1, self.extra[0].bits(), self.extra[1].bits()];
        for ((parameter, value), word) in params.iter().zip(config) {
            tmu.write(&self.memory, *parameter, value, word)?;
        }
        Ok(tmu.load().expect("s was written"))
    }

    fn at(&self, s: [f32; 16], t: [f32; 16]) -> Lanes {
        self.try_lookup(&[(1, t.map(f32::to_bits)), (0, s.map(f32::to_bits))]).unwrap()
    }

    /// One position for all elements.
    fn one(&self, s: f32, t: f32) -> u32 {
        self.at([s; 16], [t; 16])[0]
    }
}

fn plain(ty: TextureType, width: u32, height: u32, pixel: impl Fn(u32, u32) -> u32) -> Fixture {
    let cpp = texture::element(ty).unwrap().0;
    let raster = ty == TextureType::Rgba32R;
    let shape = ImageShape { raster, ..ImageShape::plain(cpp, width, height) };
    Fixture::new(ty, shape, |_, _, x, y| pixel(x, y).into())
}

/// A colour that tells where it comes from.
fn place(x: u32, y: u32) -> u32 {
    x.wrapping_mul(0x0101_0007).wrapping_add(y.wrapping_mul(0x0307_0b00)) ^ 0x5a00_00a5
}

fn channels(word: u32) -> [f64; 4] {
    word.to_le_bytes().map(f64::from)
}

/// The texel of a wrapped index, or `None` for the border; by the definition of each mode.
fn wrapped(wrap: Wrap, i: i64, n: i64) -> Option<u32> {
    let i = match wrap {
        Wrap::Repeat => i.rem_euclid(n),
        Wrap::Clamp => i.clamp(0, n - 1),
        Wrap::Mirror => {
            let m = i.rem_euclid(2 * n);
            if m < n { m } else { 2 * n - 1 - m }
        }
        Wrap::Border => i,
    };
    (0..n).contains(&i).then_some(i as u32)
}

fn wraps() -> impl Strategy<Value = Wrap> {
    prop::sample::select(vec![Wrap::Repeat, Wrap::Clamp, Wrap::Mirror, Wrap::Border])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn linear_filter_is_bilinear(
        (width, height) in (1..70u32, 1..70u32),
        (wrap_s, wrap_t) in (wraps(), wraps()),
        s: [i16; 16],
        t: [i16; 16],
        opaque: bool,
    ) {
        let ty = if opaque { TextureType::Rgbx8888 } else { TextureType::Rgba8888 };
        let mut fixture = plain(ty, width, height, place).linear();
        (fixture.words.p1.wrap_s, fixture.words.p1.wrap_t) = (wrap_s, wrap_t);
        let (s, t) = (s.map(|v| f32::from(v) / 8192.0), t.map(|v| f32::from(v) / 8192.0));
        let out = fixture.at(s, t);
        for i in 0..16 {
            // 256ths of a texel, of which the weight has 64ths.
            let axis = |c: f32, n: u32| {
                let at = ((f64::from(c) * f64::from(n) - 0.5) * 256.0).round_ties_even();
                ((at / 256.0).floor() as i64, (at.rem_euclid(256.0) / 4.0).floor() / 64.0)
            };
            let ((x, fx), (y, fy)) = (axis(s[i], width), axis(t[i], height));
            let mut expected = [0.0; 4];
            for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let weight = (if dx == 1 { fx } else { 1.0 - fx }) * (if dy == 1 { fy } else { 1.0 - fy });
                let x = wrapped(wrap_s, x + dx, width.into());
                let y = wrapped(wrap_t, y + dy, height.into());
                let texel = match (x, y) {
                    (Some(x), Some(y)) => place(x, y) | if opaque { 0xff00_0000 } else { 0 },
                    _ => 0,
                };
                for (sum, c) in expected.iter_mut().zip(channels(texel)) {
                    *sum += c * weight;
                }
            }
            for (got, wanted) in channels(out[i]).iter().zip(expected) {
                prop_assert!((got - wanted).abs() <= 0.5, "element {}: {} for {}", i, got, wanted);
            }
        }
    }

    #[test]
    fn nearest_filter_takes_the_texel(
        (width, height) in (1..70u32, 1..70u32),
        wrap in wraps(),
        s: [i16; 16],
        t: [i16; 16],
    ) {
        let fixture = plain(TextureType::Rgba8888, width, height, place).wrap(wrap);
        // Binary fractions, so that no texel edge is missed by rounding.
        let (s, t) = (s.map(|v| f32::from(v) / 8192.0), t.map(|v| f32::from(v) / 8192.0));
        let out = fixture.at(s, t);
        for i in 0..16 {
            let index = |c: f32, n: u32| wrapped(wrap, (f64::from(c) * f64::from(n)).floor() as i64, n.into());
            let expected = match (index(s[i], width), index(t[i], height)) {
                (Some(x), Some(y)) => place(x, y),
                _ => 0,
            };
            prop_assert_eq!(out[i], expected, "element {} at {} {}", i, s[i], t[i]);
        }
    }

    #[test]
    fn a_flipped_image_is_one_upside_down(
        (width, height) in (1..70u32, 1..70u32),
        wrap in prop::sample::select(vec![Wrap::Repeat, Wrap::Clamp, Wrap::Mirror]),
        s in prop::array::uniform16(-1e9f32..1e9),
        t in prop::array::uniform16(-3f32..3.0),
        linear: bool,
    ) {
        let direct = plain(TextureType::Rgba8888, width, height, place).wrap(wrap);
        let direct = if linear { direct.linear() } else { direct };
        let mut flipped = plain(TextureType::Rgba8888, width, height, |x, y| place(x, height - 1 - y)).wrap(wrap);
        flipped.words.p1 = direct.words.p1;
        flipped.words.p0.flip_y = true;
        prop_assert_eq!(direct.at(s, t), flipped.at(s, t));
    }

    /// No coordinate leaves the texture's memory.
    #[test]
    fn any_word_is_a_coordinate(s: [u32; 16], t: [u32; 16], wrap in wraps(), linear: bool) {
        let fixture = plain(TextureType::Rgb565, 33, 17, |_, _| 0).wrap(wrap);
        let fixture = if linear { fixture.linear() } else { fixture };
        prop_assert_eq!(fixture.at(s.map(f32::from_bits), t.map(f32::from_bits))[0] & 0xff_ffff, 0);
    }
}

#[test]
fn texel_centres_are_exact_with_the_linear_filter() {
    let fixture = plain(TextureType::Rgba8888, 100, 60, place).linear();
    for (x, y) in (0..60).flat_map(|y| (0..100).map(move |x| (x, y))) {
        assert_eq!(fixture.one((x as f32 + 0.5) / 100.0, (y as f32 + 0.5) / 60.0), place(x, y), "{x} {y}");
    }
}

#[test]
fn every_type_expands_as_the_manual_says() {
    use TextureType::*;
    // textures.md §3: memory word, r4.
    for (ty, memory, result) in [
        (Rgba8888, 0x8140_2010, 0x8140_2010),
        (Rgbx8888, 0x8140_2010, 0xff40_2010),
        (Rgba32R, 0x8140_2010, 0x8140_2010),
        (Rgba4444, 0x1248, 0x8844_2211),
        (Rgba5551, 0x8801, 0xff00_008c),
        (Rgb565, 0xf81f, 0xffff_00ff),
        (Rgb565, 0x0400, 0xff00_8200),
        (Luminance, 0x7b, 0xff7b_7b7b),
        (Alpha, 0x7b, 0x7b00_0000),
        (LumAlpha, 0x347b, 0x347b_7b7b),
        (S16F, 0x3c00, 0x0000_3c00),
        (S8, 0x7b, 0x0000_007b),
        (S16, 0x9c7b, 0x0000_9c7b),
    ] {
        // 64 x 64 pixels make every type tiled in T.
        let fixture = plain(ty, 64, 64, |x, y| if (x, y) == (37, 50) { memory } else { 0 });
        assert_eq!(fixture.one(37.5 / 64.0, 50.5 / 64.0), result, "{ty:?}");
    }
    for ty in [Bw1, A4, A1, Rgba64, Yuyv422R] {
        let mut fixture = plain(Rgba8888, 4, 4, place);
        fixture.words.ty = ty;
        let result = fixture.try_lookup(&[(1, [0; 16]), (0, [0; 16])]);
        assert!(matches!(result, Err(TmuFault::Unsupported(_))), "{ty:?}");
    }
}

#[test]
fn half_floats_filter_as_floats() {
    let fixture = plain(TextureType::S16F, 2, 1, |x, _| [0x3c00, 0x4400][x as usize]).linear();
    // Between 1.0 and 4.0.
    assert_eq!(fixture.one(0.5, 0.5), 0x4100);
}

#[test]
fn border_colour_is_element_0_of_r() {
    let fixture = plain(TextureType::Rgba8888, 8, 8, place).wrap(Wrap::Border);
    let border = std::array::from_fn(|i| if i == 0 { 0x1234_5678 } else { 9 });
    let (s, t) = ([1.5f32.to_bits(); 16], [0.5f32.to_bits(); 16]);
    assert_eq!(fixture.try_lookup(&[(2, border), (1, t), (0, s)]), Ok([0x1234_5678; 16]));
    let half = fixture.linear().try_lookup(&[(2, [0xff; 16]), (1, t), (0, [1.0f32.to_bits(); 16])]).unwrap();
    let edge = channels(place(7, 3)).map(|c| c * 0.5);
    let other = channels(place(7, 4));
    let expected = (edge[0] * 0.5 + other[0] * 0.25) + 127.5;
    assert!((channels(half[0])[0] - expected).abs() <= 1.0, "{half:x?}, {expected}");
}

/// Levels of one colour each: 0x10 × level in red.
fn chain(width: u32, height: u32, levels: u32) -> Fixture {
    let shape = ImageShape { levels, ..ImageShape::plain(4, width, height) };
    Fixture::new(TextureType::Rgba8888, shape, |_, level, _, _| u64::from(level * 0x10))
}

/// Coordinates whose quads span `step` texels of level 0 in both directions.
fn spread(step: f32, size: f32) -> ([f32; 16], [f32; 16]) {
    let at = |bit: usize| std::array::from_fn(|i| (i >> bit & 1) as f32 * step / size);
    (at(0), at(1))
}

#[test]
fn automatic_lod_picks_the_level() {
    for (step, nearest, linear) in
        [(0.5, 0, 0), (1.0, 0, 0), (2.0, 1, 16), (4.0, 2, 32), (1.5, 1, 9), (64.0, 6, 96), (500.0, 7, 112)]
    {
        let (s, t) = spread(step, 128.0);
        let fixture = chain(128, 128, 8).min(MinFilter::NearestMipNearest);
        assert_eq!(fixture.at(s, t), [nearest * 16; 16], "{step}");
        let fixture = chain(128, 128, 8).min(MinFilter::LinearMipLinear);
        assert_eq!(fixture.at(s, t), [linear; 16], "{step}");
        let fixture = chain(128, 128, 8);
        assert_eq!(fixture.at(s, t), [0; 16], "{step}: no mip filter");
    }
}

#[test]
fn a_difference_counts_at_most_one_width_in_the_lod() {
    // A quarter as high as wide: rows that span the height three times over do not reach the level of columns that do.
    let fixture = chain(128, 32, 8).min(MinFilter::NearestMipNearest);
    let along = |s: f32, t: f32| {
        let at = |bit: usize, step: f32| std::array::from_fn(|i| (i >> bit & 1) as f32 * step);
        fixture.at(at(0, s), at(1, t))[0] / 16
    };
    assert_eq!((along(1.0, 0.0), along(3.0, 0.0)), (7, 7));
    assert_eq!((along(0.0, 1.0), along(0.0, 3.0), along(0.0, 0.5)), (5, 5, 4));
}

#[test]
fn bias_and_explicit_lod() {
    let (s, t) = spread(2.0, 128.0);
    let (s, t) = (s.map(f32::to_bits), t.map(f32::to_bits));
    let b = |lod: f32| [lod.to_bits(); 16];
    let fixture = chain(128, 128, 8).min(MinFilter::NearestMipNearest);
    assert_eq!(fixture.try_lookup(&[(1, t), (3, b(1.0)), (0, s)]), Ok([32; 16]));
    assert_eq!(fixture.try_lookup(&[(1, t), (3, b(-1.0)), (0, s)]), Ok([0; 16]));
    let fixture = fixture.explicit();
    for level in 0..8 {
        assert_eq!(fixture.try_lookup(&[(1, t), (3, b(level as f32)), (0, s)]), Ok([level * 16; 16]));
    }
    let per_element = std::array::from_fn(|i| ((i % 8) as f32).to_bits());
    let expected = std::array::from_fn(|i| (i as u32 % 8) * 16);
    assert_eq!(fixture.try_lookup(&[(1, t), (3, per_element), (0, s)]), Ok(expected));
}

#[test]
fn min_and_mag_filters_switch_at_lod_0() {
    let mut fixture = plain(TextureType::Rgba8888, 64, 64, |x, _| (x & 1) * 0xff);
    (fixture.words.p1.mag, fixture.words.p1.min) = (MagFilter::Nearest, MinFilter::Linear);
    let offset = |step: f32| {
        let (s, t) = spread(step, 64.0);
        fixture.at(s.map(|s| s + 8.0 / 64.0), t.map(|t| t + 8.5 / 64.0))[0]
    };
    assert_eq!(offset(0.25), 0);
    assert_eq!(offset(2.0), 0x80);
}

#[test]
fn a_linear_filter_magnifies_further_in_front_of_nearest_texels_of_levels() {
    for (min, from) in [
        (MinFilter::NearestMipNearest, 0.5),
        (MinFilter::NearestMipLinear, 0.5),
        (MinFilter::LinearMipNearest, 0.0),
        (MinFilter::Nearest, 0.0),
    ] {
        // Two levels: the magnified one is half a texel away from where its texels are exact.
        let shape = ImageShape { levels: 2, ..ImageShape::plain(4, 64, 64) };
        let pixel = |_, level: u32, x: u32, _| u64::from(if level == 0 { (x & 1) * 0xff } else { 0x20 });
        let mut fixture = Fixture::new(TextureType::Rgba8888, shape, pixel).min(min).explicit();
        fixture.words.p1.mag = MagFilter::Linear;
        let at = |lod: f32| {
            let (s, t) = ([(8.0f32 / 64.0).to_bits(); 16], [(8.5f32 / 64.0).to_bits(); 16]);
            fixture.try_lookup(&[(1, t), (3, [lod.to_bits(); 16]), (0, s)]).unwrap()[0]
        };
        let magnified = at(-1.0);
        assert_eq!(magnified, 0x80, "{min:?}");
        assert_eq!(at(from), magnified, "{min:?} up to {from}");
        if !matches!(min, MinFilter::LinearMipNearest) {
            assert_ne!(at(from + 0.01), magnified, "{min:?} above {from}");
        }
    }
}

#[test]
fn a_quad_of_a_cube_has_one_face_for_its_lod() {
    let shape = ImageShape { levels: 7, faces: 6, ..ImageShape::plain(4, 64, 64) };
    let fixture = Fixture::new(TextureType::Rgba8888, shape, |_, level, _, _| u64::from(level * 0x10))
        .min(MinFilter::NearestMipNearest);
    // Four texels apart, on face +X and over its edge onto face +Y, where programs divide by another component.
    let step = 4.0 * 2.0 / 64.0;
    let direction = |i: usize| {
        let (y, z) = (0.97 + (i >> 1 & 1) as f32 * step, (i & 1) as f32 * step);
        let largest = y.max(1.0);
        [1.0 / largest, y / largest, z / largest]
    };
    let axis = |axis: usize| std::array::from_fn(|i| direction(i)[axis].to_bits());
    let got = fixture.try_lookup(&[(2, axis(2)), (1, axis(1)), (0, axis(0))]).unwrap();
    assert_eq!(got, [2 * 0x10; 16]);
}

#[test]
fn mip_levels_lie_below_level_0_also_for_odd_sizes() {
    // Every texel of every level at its centre, through ImageLayout's placement.
    for (width, height, levels) in [(100, 60, 7), (64, 64, 7), (37, 5, 6)] {
        let shape = ImageShape { levels, ..ImageShape::plain(4, width, height) };
        let color = |level, x, y| place(x, y) ^ level;
        let fixture = Fixture::new(TextureType::Rgba8888, shape, |_, level, x, y| color(level, x, y).into())
            .min(MinFilter::NearestMipNearest)
            .explicit();
        for level in 0..levels {
            let (w, h) = shape.level_px(level);
            for (x, y) in [(0, 0), (w - 1, 0), (w / 2, h / 2), (0, h - 1), (w - 1, h - 1)] {
                let s = [((x as f32 + 0.5) / w as f32).to_bits(); 16];
                let t = [((y as f32 + 0.5) / h as f32).to_bits(); 16];
                let lod = [(level as f32).to_bits(); 16];
                let got = fixture.try_lookup(&[(1, t), (3, lod), (0, s)]).unwrap()[0];
                assert_eq!(got, color(level, x, y), "{width} x {height}, level {level}, {x} {y}");
            }
        }
    }
}

#[test]
fn cube_faces_follow_the_largest_component() {
    let shape = ImageShape { faces: 6, ..ImageShape::plain(4, 32, 32) };
    let fixture =
        Fixture::new(TextureType::Rgba8888, shape, |face, _, x, y| u64::from(face << 16 | y << 8 | x));
    let at = |d: [f32; 3]| {
        let [s, t, r] = d.map(|c| [c.to_bits(); 16]);
        fixture.try_lookup(&[(2, r), (1, t), (0, s)]).unwrap()[0]
    };
    // Position 3/4 along s and 1/4 along t on each face, by the Vulkan table of cube faces.
    let (u, v) = (0.5, -0.5);
    let expected = |face: u32| face << 16 | 8 << 8 | 24;
    assert_eq!(at([1.0, -v, -u]), expected(0));
    assert_eq!(at([-1.0, -v, u]), expected(1));
    assert_eq!(at([u, 1.0, v]), expected(2));
    assert_eq!(at([u, -1.0, -v]), expected(3));
    assert_eq!(at([u, -v, 1.0]), expected(4));
    assert_eq!(at([-u, -v, -1.0]), expected(5));
}

#[test]
fn etc1_blocks() {
    // Individual mode, halves side by side: bases 0x22/0x44 … and the largest steps in opposite directions.
    let individual = 0x24_46_68_00u32 | 7 << 2 | 7 << 5;
    // Pixel 0 (0, 0) adds 47, pixel 15 (3, 3) subtracts 183; all others add 47.
    let indices = 1 << 31 | 1 << 15;
    let block = u64::from(individual) << 32 | indices;
    assert_eq!(etc1::pixel(block, 0, 0), u32::from_le_bytes([0x22 + 47, 0x44 + 47, 0x66 + 47, 255]));
    assert_eq!(etc1::pixel(block, 2, 0), u32::from_le_bytes([0x44 + 47, 0x66 + 47, 0x88 + 47, 255]));
    assert_eq!(etc1::pixel(block, 3, 3), u32::from_le_bytes([0, 0, 0, 255]));
    // Differential mode, halves on top of each other: 16 → 132, 16 - 4 = 12 → 99.
    let differential = u32::from_be_bytes([16 << 3 | 4, 16 << 3 | 3, 16 << 3, 0b11]);
    let block = u64::from(differential) << 32;
    assert_eq!(etc1::pixel(block, 3, 1), u32::from_le_bytes([134, 134, 134, 255]));
    assert_eq!(etc1::pixel(block, 0, 2), u32::from_le_bytes([101, 158, 134, 255]));

    // In an image: 24 x 12 pixels, the block's number in its base colour.
    let shape = ImageShape { cpp: 8, block: 4, ..ImageShape::plain(8, 24, 12) };
    let fixture = Fixture::new(TextureType::Etc1, shape, |_, _, x, y| {
        (u64::from((y * 6 + x) * 0x11) << 56).swap_bytes()
    });
    // Block (4, 2) has number 16, which does not fit four bits twice: take (3, 1) = 9.
    assert_eq!(fixture.one(13.5 / 24.0, 5.5 / 12.0) & 0xff, 0x99 + 2);
}

#[test]
fn results_queue_up_and_overflow_is_a_fault() {
    let memory = Memory::new(1 << 14);
    for i in 0..64 {
        memory.write(0x1000 + 4 * i, i).unwrap();
    }
    let mut tmu = Tmu::default();
    let direct = |i: u32| [0x1003 + 4 * i; 16];
    for i in 0..12 {
        assert!(tmu.is_direct(0) && !tmu.is_direct(1));
        tmu.write(&memory, 0, &direct(i), 0).unwrap();
    }
    assert!(matches!(tmu.write(&memory, 0, &direct(0), 0), Err(TmuFault::Unsupported(_))));
    for i in 0..12 {
        assert_eq!(tmu.load(), Some([i; 16]));
    }
    assert_eq!(tmu.load(), None);
    assert!(matches!(tmu.write(&memory, 0, &[0x10_0000; 16], 0), Err(TmuFault::Bus(_))));
}

#[test]
fn set_ups_are_told_apart() {
    // More different textures than a unit remembers, twice.
    let fixture = plain(TextureType::Rgba8888, 4, 4, place);
    let mut tmu = Tmu::default();
    for round in 0..2 {
        for width in 1..=4 {
            let mut words = fixture.words;
            words.p1.width = Count::new(width).unwrap();
            let [p0, p1] = words.bits();
            tmu.write(&fixture.memory, 1, &[0; 16], p0).unwrap();
            tmu.write(&fixture.memory, 0, &[(1.5f32 / width as f32).to_bits(); 16], p1).unwrap();
            let expected = place(1.min(width - 1), 0);
            assert_eq!(tmu.load(), Some([expected; 16]), "{round} {width}");
        }
        for height in 1..=2 * CACHED_SETUPS as u32 {
            let mut words = fixture.words;
            words.p1.height = Count::new(height).unwrap();
            let [p0, p1] = words.bits();
            tmu.write(&fixture.memory, 1, &[0; 16], p0).unwrap();
            tmu.write(&fixture.memory, 0, &[0; 16], p1).unwrap();
            assert_eq!(tmu.load(), Some([place(0, 0); 16]), "{round} {height}");
        }
    }
}

#[test]
fn unsupported_set_ups_are_named() {
    let lookup = |change: fn(&mut Fixture)| {
        let mut fixture = plain(TextureType::Rgba8888, 4, 4, place);
        change(&mut fixture);
        fixture.try_lookup(&[(1, [0; 16]), (2, [0; 16]), (0, [0; 16])])
    };
    assert!(lookup(|_| ()).is_ok());
    let unsupported = |change| assert!(matches!(lookup(change), Err(TmuFault::Unsupported(_))));
    unsupported(|fixture| fixture.words.ty = TextureType::Rgba64);
    // The kernel lets these through.
    assert!(lookup(|fixture| fixture.words.p0.last_level = Bits::low(15)).is_ok());
    assert!(lookup(|fixture| fixture.words.p0.cache_swizzle = Bits::low(1)).is_ok());
    let mut tmu = Tmu::default();
    let fixture = plain(TextureType::Rgba8888, 4, 4, place);
    let write = |tmu: &mut Tmu| tmu.write(&fixture.memory, 1, &[0; 16], 0);
    for _ in 0..4 {
        write(&mut tmu).unwrap();
    }
    assert!(matches!(write(&mut tmu), Err(TmuFault::Unsupported(_))));
}

#[test]
fn child_images_have_their_own_edges() {
    let mut fixture = plain(TextureType::Rgba8888, 32, 32, place);
    // 8 x 4 pixels at (5, 9).
    fixture.extra[0] = TextureExtra::from_bits(2 << 30 | 4 << 12 | 8).unwrap();
    fixture.extra[1] = TextureExtra::from_bits(3 << 30 | 9 << 12 | 5).unwrap();
    fixture.words.p1.mag = MagFilter::Nearest;
    fixture.words.p1.min = MinFilter::Nearest;
    fixture.words.p1.wrap_s = Wrap::Repeat;
    fixture.words.p1.wrap_t = Wrap::Clamp;
    let at = |s: f32, t: f32| {
        let word = |v: f32| [v.to_bits(); 16];
        fixture.try_lookup(&[(1, word(t)), (2, word(0.0)), (3, word(0.0)), (0, word(s))]).unwrap()[0]
    };
    assert_eq!(at(0.0, 0.0), place(5, 9));
    assert_eq!(at(1.0 - 1.0 / 16.0, 0.9), place(12, 12));
    assert_eq!(at(1.0 + 1.0 / 16.0, 2.0), place(5, 12));
}
