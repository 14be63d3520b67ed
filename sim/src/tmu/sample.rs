//! Coordinates to filtered texels (textures.md §2).

use vc4::cl::words::{TextureType, Wrap};
use vc4::facts::*;
use vc4::hw::LANES;
use vc4::qpu::pack::{f16_to_f32, f32_to_f16_nearest};

use super::fault::TmuFault;
use super::lod::{LOD_BITS, NEXT_LEVEL, fixed_lod, lod_of, nearest_level};
use super::texture::{Level, Mip, Texture};
use crate::lanes::Lanes;
use crate::memory::Memory;

/// UNVERIFIED: how many bits has a filter weight, and how are filtered results rounded? Six bits per axis, the rest of the
/// coordinate's cut off, and results to nearest. With these, dEQP-GLES2's
/// `filtering.2d.nearest_mipmap_*_linear_{mirror,repeat}_rgba8888` end as they do on Raspberry Pi 3 boards, where they fail;
/// with seven bits they pass, as they do with coordinates rounded to six bits, with five others fail.
const fn weight_bits(fact: WeightBits) -> u32 {
    fact.count()
}

/// What all elements together compute with; textures of other machines are looked up one by one.
pub(super) const USUAL: (WeightBits, NearestTexel) = (WeightBits::Six, NearestTexel::Down);
pub(super) const WEIGHT_BITS: u32 = weight_bits(USUAL.0);
/// A weight of 1.
pub(super) const ONE: i32 = 1 << WEIGHT_BITS;

/// Fraction bits of a coordinate in texels ([`to_texels`]).
const TEXEL_BITS: u32 = 8;
const TEXEL: i32 = 1 << TEXEL_BITS;

/// UNVERIFIED: how many bits has the fraction of a level of detail, which is the weight of the next level? Eight, the rest cut off.
const fn lod_bits(fact: LodBits) -> u32 {
    fact.count()
}

/// Levels that one element reads. Sixteen of them are a few vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Selection {
    pub source: Source,
    /// Weight of the next level, of [`NEXT_LEVEL`].
    pub next: u16,
}

/// A level, and whether it is filtered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Source {
    pub level: u8,
    pub linear: bool,
}

impl Source {
    /// The same of the next level.
    pub fn next(self) -> Source {
        Source { level: self.level + 1, ..self }
    }
}

/// Levels that elements read.
#[derive(Clone, Copy)]
pub(super) enum Selections {
    /// All the same.
    Same(Selection),
    Each([Selection; LANES]),
}

impl Selections {
    pub(super) fn of(&self, element: usize) -> &Selection {
        match self {
            Selections::Same(one) => one,
            Selections::Each(all) => &all[element],
        }
    }
}

/// UNVERIFIED: which formula has the automatic LOD of a quad? Here: binary logarithm of the longer of the two
/// difference vectors between the quad's first element and its right and lower neighbours, in texels
/// of level 0 (textures.md §2). Positions are on the image, those of a cube on the face that the first element points to.
///
/// A coordinate's difference counts at most one width (height) of the image: so dEQP-GLES2's `mipmap.2d.basic.*_non_square`
/// end as on Raspberry Pi 3 boards. There `mipmap.cube.*.linear_{nearest,linear}` pass, and do here with one face for a quad;
/// with every element on its own face they pass if the differences' absolute values are added up instead.
///
/// Returns the square of that length in texels, of which [`lod_of`] is the LOD.
fn square_of_quad(facts: &Facts, at: [[f32; 2]; 3], size: [f32; 2]) -> f32 {
    let [first, right, lower] = at;
    let square = |to: [f32; 2]| {
        let limit = if facts.lod_limit == LodLimit::OneWidth { 1.0 } else { f32::MAX };
        let texels = |axis: usize| (to[axis] - first[axis]).abs().min(limit) * size[axis];
        let (x, y) = (texels(0), texels(1));
        match facts.lod_formula {
            LodFormula::Length => x * x + y * y,
            LodFormula::Sum => (x + y) * (x + y),
            LodFormula::Largest => x.max(y) * x.max(y),
        }
    };
    square(right).max(square(lower))
}

/// The nearest level, or two of them: the weight of the next one is the LOD's fraction (textures.md §2), of as many bits as
/// [`lod_bits`] says.
fn select_levels(texture: &Texture, lod: f32) -> Selection {
    let last = texture.levels.len() as i32 - 1;
    if lod <= texture.magnified_until || lod.is_nan() {
        return Selection { source: Source { level: 0, linear: texture.mag_linear }, next: 0 };
    }
    let lod = fixed_lod(lod);
    let (level, next) = match texture.mip {
        Mip::None => (0, 0),
        Mip::Nearest => (nearest_level(texture.facts.level_rounding, lod), 0),
        Mip::Linear => {
            (lod >> LOD_BITS, lod & (NEXT_LEVEL - 1) & -(NEXT_LEVEL >> lod_bits(texture.facts.lod_bits)))
        }
    };
    let next = if level >= last { 0 } else { next as u16 };
    Selection { source: Source { level: level.min(last) as u8, linear: texture.min_linear }, next }
}

/// UNVERIFIED: which face wins when components are equally large? x, then y, then z.
///
/// Returns the face (+X, −X, +Y, −Y, +Z, −Z) and the position on it, 0 to 1. The direction is already divided by
/// its largest component, so that one component is ±1 (textures.md §1).
pub(super) fn cube_face(fact: CubeTie, x: f32, y: f32, z: f32) -> (u32, f32, f32) {
    let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
    let (axis, major) = if fact == CubeTie::Zyx {
        if az >= ay && az >= ax {
            (2, z)
        } else if ay >= ax {
            (1, y)
        } else {
            (0, x)
        }
    } else if ax >= ay && ax >= az {
        (0, x)
    } else if ay >= az {
        (1, y)
    } else {
        (2, z)
    };
    let face = 2 * axis + u32::from(major < 0.0);
    let [s, t] = on_face(face, [x, y, z]);
    (face, s, t)
}

/// Where a direction whose largest component is ±1 meets the plane of a face, 0 to 1 on the face.
fn on_face(face: u32, [x, y, z]: [f32; 3]) -> [f32; 2] {
    let (s, t) = match face {
        0 => (-z, -y),
        1 => (z, -y),
        2 => (x, z),
        3 => (x, -z),
        4 => (x, -y),
        _ => (-x, -y),
    };
    [s * 0.5 + 0.5, t * 0.5 + 0.5]
}

/// The texel of another face, all of them of one edge, that lies beyond a face's own.
fn neighbour(fact: CubeTie, face: u32, texel: [i32; 2], edge: i32) -> (u32, u32, u32) {
    let [s, t] = texel.map(|at| (at as f32 + 0.5) / edge as f32 * 2.0 - 1.0);
    let [x, y, z] = match face {
        0 => [1.0, -t, -s],
        1 => [-1.0, -t, s],
        2 => [s, 1.0, t],
        3 => [s, -1.0, -t],
        4 => [s, -t, 1.0],
        _ => [-s, -t, -1.0],
    };
    let largest = x.abs().max(y.abs()).max(z.abs());
    let (face, s, t) = cube_face(fact, x / largest, y / largest, z / largest);
    let [x, y] = [s, t].map(|at| ((at * edge as f32) as i32).clamp(0, edge - 1) as u32);
    (face, x, y)
}

/// Adding and subtracting this rounds a float below 2^22 to the nearest whole number, ties to even.
const ROUNDER: f32 = 12_582_912.0;

/// Whole part, downwards, of a number below 2^22. Unlike the library's, it vectorises.
#[inline(always)]
fn floor(v: f32) -> f32 {
    let near = (v + ROUNDER) - ROUNDER;
    near - if near > v { 1.0 } else { 0.0 }
}

/// The nearest integer to a number below 2^22.
#[inline(always)]
fn to_integer(v: f32) -> i32 {
    (v + ROUNDER).to_bits().wrapping_sub(ROUNDER.to_bits()) as i32
}

/// Brings a coordinate into a range where fixed point cannot overflow, without changing the texel. Coordinates from
/// 2^22 on have no fraction of a texture left and count as 0, as does NaN.
#[inline(always)]
pub(super) fn reduce(wrap: Wrap, s: f32) -> f32 {
    let known = if s.abs() < 4_194_304.0 { s } else { 0.0 };
    match wrap {
        Wrap::Repeat => known - floor(known),
        Wrap::Mirror => known - 2.0 * floor(known * 0.5),
        Wrap::Clamp | Wrap::Border => {
            let low = if s > -1.0 { s } else { -1.0 };
            if low < 2.0 { low } else { 2.0 }
        }
    }
}

/// UNVERIFIED: how are coordinates converted to fixed point? Here: scaled in float; for the linear filter rounded to
/// the nearest 1/256 texel relative to texel centres, for the nearest filter rounded down (textures.md §2).
///
/// What dEQP-GLES2 on Raspberry Pi 3 boards says: linear, 1/128 would do as well, while coordinates cut off at the weights'
/// bits fail `filtering.2d.nearest_mipmap_*_linear_clamp_rgba8888`, which pass there. Nearest, one case ends otherwise:
/// `wrap.clamp_clamp_nearest_npot_etc1` fails there. It does if coordinates of plain images are rounded to 1/64 or 1/128
/// texel (not 1/32 or 1/256) before they are rounded down, and those of cubes to 1/256 or not at all.
///
/// Returns the lower texel and the weight of the upper one.
#[inline(always)]
pub(super) fn to_texels(s: f32, size: f32, linear: bool) -> (i32, i32) {
    let u = s * size;
    if linear {
        let fixed = to_integer(u * TEXEL as f32 - (TEXEL / 2) as f32);
        (fixed >> TEXEL_BITS, (fixed & (TEXEL - 1)) >> (TEXEL_BITS - WEIGHT_BITS))
    } else {
        (to_integer(floor(u)), 0)
    }
}

/// [`to_texels`] of any machine.
pub(super) fn to_texels_of(facts: &Facts, s: f32, size: f32, linear: bool) -> (i32, i32) {
    let u = s * size;
    if linear {
        let fixed = to_integer(u * TEXEL as f32 - (TEXEL / 2) as f32);
        (fixed >> TEXEL_BITS, (fixed & (TEXEL - 1)) >> (TEXEL_BITS - weight_bits(facts.weight_bits)))
    } else if facts.nearest_texel == NearestTexel::Rounded64 {
        (to_integer(u * 64.0) >> 6, 0)
    } else {
        (to_integer(floor(u)), 0)
    }
}

/// The texel that a reduced coordinate's index stands for; outside of the texture for `Border` alone.
#[inline(always)]
pub(super) fn wrap_index(wrap: Wrap, i: i32, size: i32) -> i32 {
    match wrap {
        Wrap::Repeat => {
            let i = if i < 0 { i + size } else { i };
            if i >= size { i - size } else { i }
        }
        Wrap::Clamp => i.max(0).min(size - 1),
        Wrap::Mirror => {
            let i = if i < 0 { -1 - i } else { i };
            (if i >= size { 2 * size - 1 - i } else { i }).max(0)
        }
        Wrap::Border => i,
    }
}

impl Texture {
    /// Looks up sixteen elements; the parameters s, t, r and b are floats, r is the border colour of a 2D texture.
    pub(super) fn sample(
        &self,
        memory: &Memory,
        [s, t, r, b]: [&Lanes; 4],
        out: &mut Lanes,
    ) -> Result<(), TmuFault> {
        let selections = self.selections(s, t, r, b);
        if self.sample_together(memory, &selections, [s, t, r], out) {
            return Ok(());
        }
        for (i, word) in out.iter_mut().enumerate() {
            let at = [s[i], t[i], r[i]].map(f32::from_bits);
            *word = self.sample_one(memory, selections.of(i), at, r[0])?;
        }
        Ok(())
    }

    pub(super) fn selections(&self, s: &Lanes, t: &Lanes, r: &Lanes, b: &Lanes) -> Selections {
        let one_level = self.mip == Mip::None || self.levels.len() == 1;
        if one_level && self.mag_linear == self.min_linear {
            return Selections::Same(Selection {
                source: Source { level: 0, linear: self.mag_linear },
                next: 0,
            });
        }
        let size = [self.levels[0].width as f32, self.levels[0].height as f32];
        let of = |i: usize| [s[i], t[i], r[i]].map(f32::from_bits);
        let positions = |quad: [[f32; 3]; 3]| {
            if !self.cube {
                return quad.map(|[x, y, _]| [x, y]);
            }
            let [x, y, z] = quad[0];
            let (face, ..) = cube_face(self.facts.cube_tie, x, y, z);
            let major = face as usize / 2;
            quad.map(|at| {
                // The elements' own largest component is 1; what counts here is the first one's.
                let scale = at[major].abs().recip();
                on_face(face, at.map(|c| c * scale))
            })
        };
        let mut all = [Selection::default(); LANES];
        for quad in 0..LANES / 4 {
            let first = quad * 4;
            let quad = [of(first), of(first + 1), of(first + 2)];
            let square = (!self.explicit_lod).then(|| square_of_quad(&self.facts, positions(quad), size));
            // Programs mostly give quads one bias, or none.
            let is_unbiased = b[first..first + 4] == [0; 4];
            if let Some(selected) = square.filter(|_| is_unbiased).and_then(|of| self.by_steps(of)) {
                all[first..first + 4].fill(selected);
                continue;
            }
            let automatic = square.map_or(0.0, lod_of);
            let select = |bias: u32| select_levels(self, automatic + f32::from_bits(bias));
            let selected = select(b[first]);
            for i in first..first + 4 {
                all[i] = if b[i] == b[first] { selected } else { select(b[i]) };
            }
        }
        if all.iter().all(|one| *one == all[0]) { Selections::Same(all[0]) } else { Selections::Each(all) }
    }

    /// As [`select_levels`] of the square's LOD, if levels are not blended there: most quads need no logarithm.
    fn by_steps(&self, square: f32) -> Option<Selection> {
        let (level, linear) = match self.mip {
            _ if square < self.steps.minified => (0, self.mag_linear),
            Mip::None => (0, self.min_linear),
            Mip::Nearest => (self.steps.nearest(square, self.levels.len()), self.min_linear),
            Mip::Linear => return None,
        };
        Some(Selection { source: Source { level, linear }, next: 0 })
    }

    /// One element, any texture.
    pub(super) fn sample_one(
        &self,
        memory: &Memory,
        selection: &Selection,
        at: [f32; 3],
        border: u32,
    ) -> Result<u32, TmuFault> {
        let (face, s, t) =
            if self.cube { cube_face(self.facts.cube_tie, at[0], at[1], at[2]) } else { (0, at[0], at[1]) };
        let one = |Source { level, linear }| {
            let level = &self.levels[usize::from(level)];
            let (texels, fx, fy) = self.footprint(memory, level, linear, face, s, t, border)?;
            Ok::<u32, TmuFault>(if linear { self.blend(texels, fx, fy) } else { texels[0] })
        };
        let near = one(selection.source)?;
        if selection.next == 0 {
            return Ok(near);
        }
        Ok(self.between(near, one(selection.source.next())?, selection.next))
    }

    /// The four texels around a position (the first alone for the nearest filter) and the weights of the
    /// right and lower ones.
    ///
    /// UNVERIFIED: does the filter of a cube reach from a face to its neighbours? Assumed that it does not: a face wraps like
    /// any other image (T-SEAMLESS).
    #[expect(clippy::too_many_arguments, reason = "one position in one level of one texture")]
    fn footprint(
        &self,
        memory: &Memory,
        level: &Level,
        linear: bool,
        face: u32,
        s: f32,
        t: f32,
        border: u32,
    ) -> Result<([u32; 4], i32, i32), TmuFault> {
        let (w, h) = (level.width as i32, level.height as i32);
        let (x, fx) = to_texels_of(&self.facts, reduce(self.wrap_s, s), w as f32, linear);
        let (y, fy) = to_texels_of(&self.facts, reduce(self.wrap_t, t), h as f32, linear);
        let mut texels = [0; 4];
        for (i, texel) in texels.iter_mut().enumerate().take(if linear { 4 } else { 1 }) {
            let (x, y) = (x + (i as i32 & 1), y + (i as i32 >> 1));
            let is_beyond = linear && !((0..w).contains(&x) && (0..h).contains(&y));
            if self.cube && self.facts.cube_neighbours == CubeNeighbours::Joined && is_beyond {
                let (face, x, y) = neighbour(self.facts.cube_tie, face, [x, y], w);
                *texel = self.texel(memory, level, face, x, y)?;
                continue;
            }
            let (x, y) = (wrap_index(self.wrap_s, x, w), wrap_index(self.wrap_t, y, h));
            let inside = (0..w).contains(&x) && (0..h).contains(&y);
            *texel = if inside { self.texel(memory, level, face, x as u32, y as u32)? } else { border };
        }
        Ok((texels, fx, fy))
    }

    /// Weighs four texels; `fx` and `fy` are the weights of the right and lower ones.
    fn blend(&self, texels: [u32; 4], fx: i32, fy: i32) -> u32 {
        let bits = weight_bits(self.facts.weight_bits);
        let one = 1 << bits;
        let weights = [(one - fx) * (one - fy), fx * (one - fy), (one - fx) * fy, fx * fy];
        self.weighed(texels.into_iter().zip(weights), 2 * bits)
    }

    /// Weighs the results of two levels; `next` is the weight of the second.
    fn between(&self, near: u32, far: u32, next: u16) -> u32 {
        let next = i32::from(next);
        self.weighed([(near, NEXT_LEVEL - next), (far, next)].into_iter(), LOD_BITS)
    }

    /// The sum of texels by their weights, which together are 1 << `bits`.
    fn weighed(&self, parts: impl Iterator<Item = (u32, i32)> + Clone, bits: u32) -> u32 {
        if self.ty == TextureType::S16F {
            // Where the half lies in r4.
            let shift = if self.facts.single_channel == SingleChannel::High { 16 } else { 0 };
            let part = |(texel, weight): (u32, i32)| {
                f32::from_bits(f16_to_f32(texel >> shift & 0xffff)) * weight as f32
            };
            let sum: f32 = parts.map(part).sum();
            return f32_to_f16_nearest((sum / (1 << bits) as f32).to_bits()) << shift;
        }
        [0, 8, 16, 24].into_iter().fold(0, |word, shift| {
            let sum: u32 = parts.clone().map(|(texel, weight)| (texel >> shift & 255) * weight as u32).sum();
            word | (((sum + (1 << (bits - 1))) >> bits) << shift)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20_000) })]

        /// Squares lead to the levels that their logarithms lead to.
        #[test]
        fn steps_are_those_of_the_logarithm(
            [p0, p1]: [u32; 2],
            (exponent, fraction) in (0u32..255, 0u32..1 << 23),
            near in 0i32..3,
            rounds_down: bool,
        ) {
            let level_rounding = if rounds_down { LevelRounding::Down } else { LevelRounding::HalfUp };
            let facts = Facts { level_rounding, ..Facts::default() };
            let Ok(texture) = Texture::decode(&facts, &[p0 & 0xffff_0fff, p1, 0, 0]) else { return Ok(()) };
            // Anywhere, or next to where levels change.
            let square = match near {
                0 => f32::from_bits(exponent << 23 | fraction),
                _ => f32::from_bits((f32::exp2((exponent % 28) as f32 - 2.0).to_bits() + fraction % 5) - 2),
            };
            let selected = texture.by_steps(square);
            prop_assert_eq!(selected.is_none(), texture.mip == Mip::Linear && square >= texture.steps.minified);
            if let Some(selected) = selected {
                prop_assert_eq!(selected, select_levels(&texture, lod_of(square)), "{} of {:?}", square, texture);
            }
        }
    }
}
