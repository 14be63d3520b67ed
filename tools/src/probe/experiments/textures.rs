//! Experiments with the texture unit.

use vc4::cl::words::*;
use vc4::cl::{Addr, Bits, Count, Pages};
use vc4::image::{ImageLayout, ImageShape};
use vc4_kernel_abi::BoHandle;

use super::common::{CELL, EDGE, all, at_places, cells, draw, picture};
use crate::jobs::bench::{Bench, Failure};
use crate::jobs::job::Draw;
use crate::jobs::picture::Picture;
use crate::jobs::programs::fragment;

/// A texture in memory.
pub struct Texture {
    pub bo: BoHandle,
    pub words: TextureWords,
    /// Word p2.
    extra: u32,
}

/// What a texture is made of.
pub struct Form {
    ty: TextureType,
    cpp: u32,
    width: u32,
    height: u32,
    levels: u32,
    faces: u32,
}

impl Form {
    pub fn of(ty: TextureType, cpp: u32, edge: u32) -> Form {
        Form { ty, cpp, width: edge, height: edge, levels: 1, faces: 1 }
    }

    /// Puts texels (face, level, x, y) into memory.
    pub fn filled(
        self,
        bench: &Bench<'_>,
        texel: impl Fn(u32, u32, u32, u32) -> u32,
    ) -> Result<Texture, Failure> {
        let Form { ty, cpp, width, height, levels, faces } = self;
        let wrong = |error: &dyn std::fmt::Display| Failure::Wrong(error.to_string());
        let shape = ImageShape { levels, faces, ..ImageShape::plain(cpp, width, height) };
        let layout = ImageLayout::new(shape).map_err(|error| wrong(&error))?;
        let mut bytes = vec![0; layout.size as usize];
        for (face, level) in (0..faces).flat_map(|face| (0..levels).map(move |level| (face, level))) {
            let place = layout.level(level, face).ok_or_else(|| wrong(&"a level without a place"))?;
            let (columns, rows) = shape.level_el(level);
            for (x, y) in (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y))) {
                let at = place.offset_of(x, y) as usize;
                let word = texel(face, level, x, y).to_le_bytes();
                bytes[at..at + cpp as usize].copy_from_slice(&word[..cpp as usize]);
            }
        }
        let p0 = TextureP0 {
            base: Addr::new(layout.levels[0].offset).unwrap_or(Addr::ZERO),
            last_level: Bits::low(levels - 1),
            cube: faces == 6,
            ..TextureP0::default()
        };
        let p1 = TextureP1 {
            width: Count::new(width).unwrap_or(Count::ONE),
            height: Count::new(height).unwrap_or(Count::ONE),
            mag: MagFilter::Nearest,
            min: MinFilter::Nearest,
            wrap_s: Wrap::Clamp,
            wrap_t: Wrap::Clamp,
            ..TextureP1::default()
        };
        let stride = Pages::from_bytes(layout.face_stride).unwrap_or(Pages::ZERO);
        let cube = TextureExtra::Cube(TextureCube { stride, explicit_lod: false });
        let extra = if faces == 6 { cube.bits() } else { 0 };
        Ok(Texture { bo: bench.filled(&bytes)?, words: TextureWords { ty, p0, p1 }, extra })
    }
}

impl Texture {
    pub fn filters(mut self, mag: MagFilter, min: MinFilter) -> Texture {
        (self.words.p1.mag, self.words.p1.min) = (mag, min);
        self
    }

    fn repeated(mut self) -> Texture {
        (self.words.p1.wrap_s, self.words.p1.wrap_t) = (Wrap::Repeat, Wrap::Repeat);
        self
    }

    /// A draw of the texture where s and t are sums of pixel coordinates times the first two numbers of each, and the third.
    fn at(&self, s: [f32; 3], t: [f32; 3], bias: Option<f32>) -> Draw {
        let axis = |register: &str| {
            format!(
                "sig_none ; nop = nop(r0, r0, uni) ; r2 = fmul.always(r0, a) ;\n\
                 sig_none ; nop = nop(r0, r0, uni) ; r3 = fmul.always(r1, a) ;\n\
                 sig_none ; r2 = fadd.always(r2, r3) ; nop = nop() ;\n\
                 sig_none ; {register} = fadd.always(r2, a, uni) ; nop = nop() ;\n"
            )
        };
        let add_bias = if bias.is_some() {
            "sig_none ; r1 = or.always(a, a, uni) ; nop = nop() ;\n\
             sig_none ; tmu0_b = or.always(r1, r1) ; nop = nop() ;\n"
        } else {
            ""
        };
        let code = format!(
            "sig_none ; r0 = or.always(a, a, x_pix) ; nop = nop() ;\n\
             sig_none ; r1 = or.always(b, b, nop, y_pix) ; nop = nop() ;\n\
             sig_none ; r0 = itof.always(r0, r0) ; nop = nop() ;\n\
             sig_none ; r1 = itof.always(r1, r1) ; nop = nop() ;\n\
             {}{}\
             sig_none ; r0 = or.always(a, a, ra1) ; nop = nop() ;\n\
             sig_none ; tmu0_t = or.always(r2, r2) ; nop = nop() ;\n\
             {add_bias}\
             sig_none ; tmu0_s = or.always(r0, r0) ; nop = nop() ;\n\
             sig_load_tmu0 ; nop = nop() ; nop = nop() ;\n\
             sig_none ; r0 = or.always(r4, r4) ; nop = nop() ;\n",
            axis("rx1"),
            axis("r2"),
        );
        let [p0, p1] = self.words.bits();
        let mut uniforms: Vec<u32> = s.into_iter().chain(t).map(f32::to_bits).collect();
        uniforms.push(p0);
        uniforms.extend(bias.into_iter().flat_map(|bias| [bias.to_bits(), p1]));
        // The word that goes with s.
        uniforms.push(if bias.is_some() { self.extra } else { p1 });
        Draw { fragment: fragment(&code), textures: vec![self.bo], uniforms, ..draw(all(0.5)) }
    }

    /// The texel at one place.
    fn fixed(&self, s: f32, t: f32) -> Draw {
        self.at([0.0, 0.0, s], [0.0, 0.0, t], None)
    }

    /// The texel in a direction, whose largest component is one.
    fn towards(&self, [s, t, r]: [f32; 3]) -> Draw {
        let code = "sig_none ; r0 = or.always(a, a, uni) ; nop = nop() ;\n\
            sig_none ; r1 = or.always(a, a, uni) ; nop = nop() ;\n\
            sig_none ; r2 = or.always(a, a, uni) ; nop = nop() ;\n\
            sig_none ; tmu0_t = or.always(r1, r1) ; nop = nop() ;\n\
            sig_none ; tmu0_r = or.always(r2, r2) ; nop = nop() ;\n\
            sig_none ; tmu0_s = or.always(r0, r0) ; nop = nop() ;\n\
            sig_load_tmu0 ; nop = nop() ; nop = nop() ;\n\
            sig_none ; r0 = or.always(r4, r4) ; nop = nop() ;\n";
        let [p0, p1] = self.words.bits();
        let mut uniforms = [s, t, r].map(f32::to_bits).to_vec();
        uniforms.extend([p0, p1, self.extra]);
        Draw { fragment: fragment(code), textures: vec![self.bo], uniforms, ..draw(all(0.5)) }
    }
}

/// A 256th of a texel before a border, with the nearest filter.
pub fn nearest_texel(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let texture = Form::of(TextureType::Rgba8888, 4, 8).filled(bench, |_, _, x, _| x + 1)?;
    let place = |texels: f32| texture.fixed(texels / 8.0, 0.5);
    cells(bench, [3.0, 4.0, 5.0].map(|border| place(border - 1.0 / 256.0)).into())
}

/// textures.md §3.
pub fn channel_bits(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let four = Form::of(TextureType::Rgba4444, 2, 8).filled(bench, |_, _, _, _| 0x1248)?;
    let five = Form::of(TextureType::Rgb565, 2, 8).filled(bench, |_, _, _, _| 0x8410 | 1 << 13)?;
    cells(bench, vec![four.fixed(0.5, 0.5), five.fixed(0.5, 0.5)])
}

/// textures.md §3.
pub fn single_channel(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let integer = Form::of(TextureType::S16, 2, 8).filled(bench, |_, _, _, _| 0x1234)?;
    let byte = Form::of(TextureType::S8, 1, 8).filled(bench, |_, _, _, _| 0x56)?;
    cells(bench, vec![integer.fixed(0.5, 0.5), byte.fixed(0.5, 0.5)])
}

/// Directions with two components of one, towards faces that tell their number.
pub fn cube_tie(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let form = Form { faces: 6, ..Form::of(TextureType::Rgba8888, 4, 8) };
    let cube = form.filled(bench, |face, _, _, _| face + 1)?;
    let directions = [[1.0, 0.5, 1.0], [1.0, 1.0, 0.5], [0.5, 1.0, 1.0], [-1.0, 0.25, -1.0]];
    cells(bench, directions.map(|direction| cube.towards(direction)).into())
}

/// How many values are between two texels, 0 and 255.
pub fn weight_bits(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let texture = Form::of(TextureType::Rgba8888, 4, 8)
        .filled(bench, |_, _, x, _| if x > 3 { 255 } else { 0 })?
        .filters(MagFilter::Linear, MinFilter::Linear);
    // Sixteen rows of 64 steps, from the middle of texel 3 to that of texel 4.
    let step = 1.0 / 8192.0;
    let seen = picture(bench, &[texture.at([step, 64.0 * step, 3.5 / 8.0], [0.0, 0.0, 0.5], None)])?;
    let mut values: Vec<u32> = seen.words[..16 * EDGE as usize].iter().map(|word| word & 255).collect();
    values.sort_unstable();
    values.dedup();
    // One more or less is no matter: what counts is the power of two.
    Ok(vec![(values.len() as u32 + 2).ilog2()])
}

/// Levels that tell their number in sixteenths: blended, they tell the level of detail.
fn levels(bench: &Bench<'_>, width: u32, height: u32) -> Result<Texture, Failure> {
    let levels = width.max(height).ilog2() + 1;
    let form = Form { width, height, levels, ..Form::of(TextureType::Rgba8888, 4, width) };
    Ok(form.filled(bench, |_, level, _, _| 16 * level)?.repeated())
}

fn middle(seen: &Picture) -> u32 {
    at_places(seen, &[(33, 35)])[0] & 255
}

/// Level 0 alone tells whether it was filtered: its columns are 0 and 255 in turn.
pub fn magnified_until(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let form = Form { levels: 7, ..Form::of(TextureType::Rgba8888, 4, 64) };
    let texture = form
        .filled(bench, |_, _, x, _| if x & 1 == 0 { 0 } else { 255 })?
        .repeated()
        .filters(MagFilter::Linear, MinFilter::NearestMipNearest);
    // Texels per pixel: a level of detail of 1/4.
    let step = 2f32.powf(0.25) / 64.0;
    let seen = picture(bench, &[texture.at([step, 0.0, 0.0], [0.0, step, 0.0], None)])?;
    let between = seen.words.iter().filter(|word| !matches!(*word & 255, 0..8 | 248..=255)).count();
    Ok(vec![u32::from(between > 100)])
}

/// Both coordinates change along both axes, by two texels.
pub fn lod_formula(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let texture = levels(bench, 64, 64)?.filters(MagFilter::Nearest, MinFilter::NearestMipLinear);
    let step = 2.0 / 64.0;
    let seen = picture(bench, &[texture.at([step, step, 0.0], [step, -step, 0.0], None)])?;
    Ok(vec![(middle(&seen) + 2) / 4])
}

/// Three widths of the image per pixel, and a bias that brings the result into the middle of the levels.
pub fn lod_limit(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let texture = levels(bench, 64, 64)?.filters(MagFilter::Nearest, MinFilter::NearestMipLinear);
    let seen = picture(bench, &[texture.at([3.0, 0.0, 0.125], [0.0, 1.0 / 64.0, 0.0], Some(-3.0))])?;
    Ok(vec![(middle(&seen) + 2) / 4])
}

/// A level of detail of 7/4, with the nearest level.
pub fn level_rounding(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let texture = levels(bench, 64, 64)?.filters(MagFilter::Nearest, MinFilter::NearestMipNearest);
    let step = 2f32.powf(1.75) / 64.0;
    let seen = picture(bench, &[texture.at([step, 0.0, 0.0], [0.0, step, 0.0], None)])?;
    Ok(vec![middle(&seen) / 16])
}

/// How many values are in a quarter of the way between two levels, 0 and 255: each draw has a bias of its own.
pub fn lod_bits(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let form = Form { levels: 3, ..Form::of(TextureType::Rgba8888, 4, 8) };
    let texture = form
        .filled(bench, |_, level, _, _| if level == 2 { 255 } else { 0 })?
        .filters(MagFilter::Nearest, MinFilter::NearestMipLinear);
    // One texel to a pixel, so that the bias is the level of detail.
    let step = 1.0 / 8.0;
    const CELLS: u32 = (EDGE / CELL as u32).pow(2);
    let at = |n: u32| {
        let bias = 1.0 + (n as f32 + 0.5) / CELLS as f32 / 4.0;
        texture.at([step, 0.0, step / 2.0], [0.0, step, step / 2.0], Some(bias))
    };
    let mut values: Vec<u32> = cells(bench, (0..CELLS).map(at).collect())?;
    values.iter_mut().for_each(|word| *word &= 255);
    values.sort_unstable();
    values.dedup();
    // One more or less is no matter: what counts is the power of two.
    Ok(vec![(values.len() as u32 + 2).ilog2()])
}

/// An image whose edges are no powers of two, and whose texels tell their level, row and column.
fn uneven(bench: &Bench<'_>) -> Result<Texture, Failure> {
    let form = Form { width: 40, height: 24, levels: 3, ..Form::of(TextureType::Rgba8888, 4, 40) };
    let texture = form.filled(bench, |_, level, x, y| (level + 1) << 16 | y << 8 | x)?;
    Ok(texture.filters(MagFilter::Nearest, MinFilter::NearestMipNearest))
}

/// What [`cells`] shows of each level but the first at a place, where the level is clear: 2.2 texels, or 4.4, to a pixel.
fn of_levels(bench: &Bench<'_>, [s, t]: [f32; 2]) -> Result<Vec<u32>, Failure> {
    let image = uneven(bench)?;
    let place = |(column, texels): (f32, f32)| {
        let (across, down) = (texels / 40.0, texels / 24.0);
        image.at([across, 0.0, s - column * across], [0.0, down, t - 3.0 * down], None)
    };
    // The columns that count.
    cells(bench, [(3.0, 2.2), (11.0, 4.4)].map(place).into())
}

/// Near the first texel, which is the same one however coordinates scale.
pub fn npot_levels(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    of_levels(bench, [0.01, 0.01])
}

/// A place inside of both sizes.
pub fn level_sizes(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    of_levels(bench, [0.43, 0.32])
}

/// Directions to the last half texels of faces of one colour each: whether another one is there.
pub fn cube_neighbours(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let form = Form { faces: 6, ..Form::of(TextureType::Rgba8888, 4, 8) };
    let cube =
        form.filled(bench, |face, _, _, _| 40 * (face + 1))?.filters(MagFilter::Linear, MinFilter::Linear);
    let edges = [([1.0, 0.25, 0.98], 40), ([0.25, -0.98, -1.0], 240), ([-0.98, 1.0, 0.25], 120)];
    let seen = cells(bench, edges.map(|(direction, _)| cube.towards(direction)).into())?;
    Ok(seen.iter().zip(edges).map(|(word, (_, own))| u32::from(word & 255 != own)).collect())
}

/// Lookups of one texel, each taken by the next instruction: the cache of the texture unit has it but for the first one.
pub fn near_lookups(bench: &Bench<'_>) -> Result<Draw, Failure> {
    const LOOKUPS: usize = 16;
    let texture = Form::of(TextureType::Rgba8888, 4, 8).filled(bench, |_, _, _, _| 0x55)?;
    let one = "sig_none ; tmu0_t = or.always(r1, r1) ; nop = nop() ;\n\
        sig_none ; tmu0_s = or.always(r1, r1) ; nop = nop() ;\n\
        sig_load_tmu0 ; nop = nop() ; nop = nop() ;\n";
    let code = format!(
        "sig_small_imm ; r1 = or.always(b, b, nop, 0) ; nop = nop() ;\n{}\
         sig_none ; r0 = or.always(r4, r4) ; nop = nop() ;\n",
        one.repeat(LOOKUPS)
    );
    let uniforms = texture.words.bits().repeat(LOOKUPS);
    Ok(Draw { fragment: fragment(&code), textures: vec![texture.bo; LOOKUPS], uniforms, ..draw(all(0.5)) })
}

/// Lookups sixteen texels apart in an image that no cache holds.
pub fn far_lookups(bench: &Bench<'_>) -> Result<Draw, Failure> {
    let texture = Form::of(TextureType::Rgba8888, 4, 1024).filled(bench, |_, _, _, _| 0x55)?;
    let step = 16.0 / 1024.0;
    Ok(texture.at([step, 0.0, 0.0], [0.0, step, 0.0], None))
}
