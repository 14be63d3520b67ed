//! Sixteen elements at once, step by step over all of them, which the host's vectors do side by side: all textures but ETC1,
//! filtered halves, and those of machines whose filters differ.

use vc4::cl::words::{TextureType, Wrap};
use vc4::facts::CubeNeighbours;
use vc4::hw::LANES;

use super::lod::NEXT_LEVEL;
use super::sample::{
    ONE, Selection, Selections, Source, USUAL, WEIGHT_BITS, cube_face, reduce, to_texels, wrap_index,
};
use super::texel::Channels;
use super::texture::{Level, Mip, Texture, element};
use crate::lanes::Lanes;
use crate::memory::Memory;
use crate::wide::on_wide_vectors;

/// Texels that the linear filter reads for an element.
const CORNERS: usize = 4;

/// Where elements look.
struct Places<'a> {
    /// Bytes from the first face to the element's.
    face: &'a Lanes,
    /// Positions on the image or face, floats.
    s: &'a Lanes,
    t: &'a Lanes,
    /// What is outside of a texture with a border.
    border: u32,
}

impl Texture {
    /// Looks up sixteen elements; `false` where they have to be looked up one by one.
    pub(super) fn sample_together(
        &self,
        memory: &Memory,
        selections: &Selections,
        [s, t, r]: [&Lanes; 3],
        out: &mut Lanes,
    ) -> bool {
        let usual = (self.facts.weight_bits, self.facts.nearest_texel) == USUAL
            && !(self.cube && self.facts.cube_neighbours == CubeNeighbours::Joined);
        let filtered = self.mag_linear || self.min_linear || self.mip == Mip::Linear;
        if !usual || self.ty == TextureType::Etc1 || self.ty == TextureType::S16F && filtered {
            return false;
        }
        if !self.cube {
            return self.of_places(
                memory,
                selections,
                &Places { face: &[0; LANES], s, t, border: r[0] },
                out,
            );
        }
        let (mut faces, mut on_s, mut on_t) = ([0; LANES], [0; LANES], [0; LANES]);
        for i in 0..LANES {
            let [x, y, z] = [s[i], t[i], r[i]].map(f32::from_bits);
            let (face, s, t) = cube_face(self.facts.cube_tie, x, y, z);
            faces[i] = face.wrapping_mul(self.cube_stride);
            (on_s[i], on_t[i]) = (s.to_bits(), t.to_bits());
        }
        self.of_places(memory, selections, &Places { face: &faces, s: &on_s, t: &on_t, border: r[0] }, out)
    }

    fn of_places(&self, memory: &Memory, selections: &Selections, places: &Places, out: &mut Lanes) -> bool {
        let level = |Source { level, linear }: Source, out: &mut Lanes| {
            sample_level(self, memory, &self.levels[usize::from(level)], linear, places, out)
        };
        let mut far = [0; LANES];
        match selections {
            Selections::Same(Selection { source, next }) => {
                if !level(*source, out) {
                    return false;
                }
                if *next != 0 {
                    if !level(source.next(), &mut far) {
                        return false;
                    }
                    between(out, &far, &[*next; LANES]);
                }
            }
            Selections::Each(all) => {
                let mut sources = all.map(|one| one.source);
                if !of_levels(level, &sources, out) {
                    return false;
                }
                let Some(blended) = all.iter().find(|one| one.next != 0) else { return true };
                // Who has no next level takes part in some other element's.
                for (source, one) in sources.iter_mut().zip(all) {
                    *source = if one.next == 0 { blended.source.next() } else { one.source.next() };
                }
                if !of_levels(level, &sources, &mut far) {
                    return false;
                }
                between(out, &far, &all.map(|one| one.next));
            }
        }
        true
    }
}

/// Each element from its level and by its filter.
fn of_levels(
    sample: impl Fn(Source, &mut Lanes) -> bool,
    sources: &[Source; LANES],
    out: &mut Lanes,
) -> bool {
    if !sample(sources[0], out) {
        return false;
    }
    let mut words = [0; LANES];
    let mut done: u32 = 0;
    let mut source = sources[0];
    loop {
        for (i, one) in sources.iter().enumerate() {
            done |= u32::from(*one == source) << i;
        }
        let next @ 0..LANES = done.trailing_ones() as usize else { return true };
        source = sources[next];
        if !sample(source, &mut words) {
            return false;
        }
        for i in 0..LANES {
            out[i] = if sources[i] == source { words[i] } else { out[i] };
        }
    }
}

on_wide_vectors! {
    /// All elements from one level; `false` if one is outside of memory.
    fn sample_level(
        texture: &Texture,
        memory: &Memory,
        level: &Level,
        linear: bool,
        places: &Places,
        out: &mut Lanes,
    ) -> bool {
        let x = axis(texture.wrap_s, places.s, level.width, linear);
        let y = axis(texture.wrap_t, places.t, level.height, linear);
        // Closures for arrays would not be compiled for wide vectors.
        let (mut columns, mut rows) = (x.texels, y.texels);
        if texture.wrap_s == Wrap::Border || level.origin.0 != 0 || level.last.0 != level.width - 1 {
            place(&mut columns[0], level.width, level.origin.0, level.last.0);
            place(&mut columns[1], level.width, level.origin.0, level.last.0);
        }
        if texture.wrap_t == Wrap::Border || level.origin.1 != 0 || level.last.1 != level.height - 1 {
            place(&mut rows[0], level.height, level.origin.1, level.last.1);
            place(&mut rows[1], level.height, level.origin.1, level.last.1);
        }
        if texture.flip_y {
            flip(&mut rows[0], level.last.1);
            flip(&mut rows[1], level.last.1);
        }
        let mut starts = [level.base; LANES];
        if texture.cube {
            for (start, face) in starts.iter_mut().zip(places.face) {
                *start = start.wrapping_add(*face);
            }
        }
        let mut corners = [[0; LANES]; CORNERS];
        if linear {
            let at = level.map.corners(&starts, [&columns[0], &columns[1]], [&rows[0], &rows[1]]);
            if !texels(texture, memory, &at, &mut corners) {
                return false;
            }
        } else {
            let at = [level.map.places(&starts, &columns[0], &rows[0])];
            let [first, ..] = &mut corners;
            if !texels(texture, memory, &at, std::array::from_mut(first)) {
                return false;
            }
        }
        if texture.wrap_s == Wrap::Border || texture.wrap_t == Wrap::Border {
            for (corner, texels) in corners.iter_mut().enumerate().take(if linear { CORNERS } else { 1 }) {
                let (column, row) = (&x.texels[corner & 1], &y.texels[corner >> 1]);
                for i in 0..LANES {
                    // Below 0 they are large.
                    let outside = (column[i] >= level.width) | (row[i] >= level.height);
                    texels[i] = if outside { places.border } else { texels[i] };
                }
            }
        }
        *out = if linear { blend(&corners, &x.weight, &y.weight) } else { corners[0] };
        true
    }
}

/// Columns or rows of the whole level from those of a part; those outside count as the last ones.
#[inline(always)]
fn place(texels: &mut Lanes, size: u32, origin: u32, last: u32) {
    for texel in texels {
        *texel = ((*texel).min(size - 1) + origin).min(last);
    }
}

/// Rows counted from the other end. Second rows that the nearest filter does not read may be outside.
#[inline(always)]
fn flip(rows: &mut Lanes, last: u32) {
    for row in rows {
        *row = last.wrapping_sub(*row);
    }
}

/// Texels at addresses, all of them at once: what is decided is decided once. `false` if one is outside of memory.
#[inline(always)]
fn texels<const N: usize>(texture: &Texture, memory: &Memory, at: &[Lanes; N], raw: &mut [Lanes; N]) -> bool {
    if !memory.gather(at, raw) {
        return false;
    }
    let bytes = element(texture.ty).map_or(4, |(bytes, _)| bytes);
    if bytes < 4 {
        for n in 0..N {
            for i in 0..LANES {
                raw[n][i] = raw[n][i] >> (8 * (at[n][i] & 3 & !(bytes - 1))) & ((1 << (8 * bytes)) - 1);
            }
        }
    }
    let channels = Channels::of(&texture.facts);
    macro_rules! converted {
        ($($ty:ident),*) => {
            match texture.ty {
                // One loop per type, so that each vectorises.
                $(TextureType::$ty => for n in 0..N {
                    for i in 0..LANES {
                        raw[n][i] = channels.texel(TextureType::$ty, raw[n][i]);
                    }
                },)*
                _ => {}
            }
        };
    }
    converted!(Rgbx8888, Rgba4444, Rgba5551, Rgb565, Luminance, Alpha, LumAlpha, S8, S16, S16F);
    true
}

/// What one coordinate of each element meets: the lower and the upper texel, and the weight of the upper one.
struct Axis {
    texels: [Lanes; 2],
    weight: Lanes,
}

#[inline(always)]
fn axis(wrap: Wrap, at: &Lanes, size: u32, linear: bool) -> Axis {
    let (mut low, mut high, mut weight) = ([0; LANES], [0; LANES], [0; LANES]);
    let mut run = |wrap: Wrap| {
        for i in 0..LANES {
            let s = reduce(wrap, f32::from_bits(at[i]));
            let (index, fraction) = to_texels(s, size as f32, linear);
            low[i] = wrap_index(wrap, index, size as i32) as u32;
            high[i] = wrap_index(wrap, index + 1, size as i32) as u32;
            weight[i] = fraction as u32;
        }
    };
    // One loop per mode, so that each vectorises.
    match wrap {
        Wrap::Repeat => run(Wrap::Repeat),
        Wrap::Clamp => run(Wrap::Clamp),
        Wrap::Mirror => run(Wrap::Mirror),
        Wrap::Border => run(Wrap::Border),
    }
    Axis { texels: [low, high], weight }
}

/// Channels of all elements.
type Bytes = [u8; 4 * LANES];

/// [`Texture::blend`] on all elements, channel by channel in 16 bits.
#[inline(always)]
fn blend(texels: &[Lanes; CORNERS], fx: &Lanes, fy: &Lanes) -> Lanes {
    let (right, lower) = (for_channels(fx), for_channels(fy));
    let mut corners: [Bytes; CORNERS] = [[0; 4 * LANES]; CORNERS];
    for (bytes, words) in corners.iter_mut().zip(texels) {
        *bytes = bytemuck::cast(*words);
    }
    let mut out: Bytes = [0; 4 * LANES];
    for i in 0..4 * LANES {
        // 14 bits: texels times ONE.
        let row = |left: usize| {
            let (near, far) = (i16::from(corners[left][i]), i16::from(corners[left + 1][i]));
            near * ONE as i16 + (far - near) * right[i]
        };
        let (upper, under) = (row(0), row(2));
        // The difference times its weight, divided by ONE and rounded down: its upper half where twice the difference meets
        // the weight times 2^9. What is cut off cannot change the final rounding, which is that of whole parts of ONE.
        let twice = i32::from((under - upper) << 1);
        let more = ((twice * i32::from(lower[i] << (15 - WEIGHT_BITS))) >> 16) as i16;
        out[i] = ((upper + more + ONE as i16 / 2) >> WEIGHT_BITS) as u8;
    }
    bytemuck::cast(out)
}

/// An element's weight for each of its channels.
#[inline(always)]
fn for_channels(weights: &Lanes) -> [i16; 4 * LANES] {
    let mut out = [0u64; LANES];
    for i in 0..LANES {
        let pair = weights[i] | weights[i] << 16;
        out[i] = u64::from(pair) | u64::from(pair) << 32;
    }
    bytemuck::cast(out)
}

on_wide_vectors! {
    /// [`Texture::between`] on all elements; those of weight 0 keep the nearer level's.
    fn between(near: &mut Lanes, far: &Lanes, next: &[u16; LANES]) -> () {
        for i in 0..LANES {
            let far_weight = u32::from(next[i]);
            let near_weight = NEXT_LEVEL as u32 - far_weight;
            let mut word = 0;
            for shift in [0, 8, 16, 24] {
                let sum = (near[i] >> shift & 255) * near_weight + (far[i] >> shift & 255) * far_weight;
                word |= ((sum + NEXT_LEVEL as u32 / 2) / NEXT_LEVEL as u32) << shift;
            }
            near[i] = word;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use vc4::facts::Facts;

    use super::*;

    const MEMORY_BYTES: u32 = 1 << 19;

    fn noise() -> Memory {
        let memory = Memory::new(MEMORY_BYTES);
        for word in 0..MEMORY_BYTES / 4 {
            memory.write(word * 4, word.wrapping_mul(0x9e37_79b9).rotate_left(word)).expect("inside");
        }
        memory
    }

    /// Any configuration words of small textures in the middle of the memory.
    fn words() -> impl Strategy<Value = [u32; 4]> {
        let extra = || prop_oneof![2 => Just(0u32), 1 => any::<u32>().prop_map(|word| word & 0xc003_f03f)];
        let edges = (prop_oneof![1..9u32, 1..70u32], prop_oneof![1..9u32, 1..70u32]);
        (any::<[u32; 2]>(), edges, extra(), extra()).prop_map(|([p0, p1], (width, height), p2, p3)| {
            let p1 = p1 & 0x8008_00ff | height << 20 | width << 8;
            [(MEMORY_BYTES / 2) | (p0 & 0xfff), p1, p2, p3]
        })
    }

    fn coordinates() -> impl Strategy<Value = Lanes> {
        let one = prop_oneof![
            4 => (-2f32..3.0).prop_map(f32::to_bits),
            1 => (-1e3f32..1e3).prop_map(f32::to_bits),
            1 => any::<u32>(),
        ];
        // Quads whose level of detail is small, and others.
        (prop::array::uniform16(one), 0..3, -0.1f32..0.1).prop_map(|(words, kind, step)| match kind {
            0 => words,
            _ => std::array::from_fn(|i| {
                let first = f32::from_bits(words[i / 4 * if kind == 1 { 4 } else { 0 }]);
                (first + step * (i % 4) as f32).to_bits()
            }),
        })
    }

    #[test]
    fn all_together_are_each_by_itself() {
        let memory = noise();
        let mut counts = [0; 3];
        let config = ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() };
        let mut runner = prop::test_runner::TestRunner::new_with_rng(
            config,
            prop::test_runner::TestRng::deterministic_rng(prop::test_runner::RngAlgorithm::ChaCha),
        );
        let counted = std::cell::RefCell::new(&mut counts);
        runner
            .run(
                &(words(), coordinates(), coordinates(), coordinates(), coordinates()),
                |(words, s, t, r, b)| {
                    let Ok(texture) = Texture::decode(&Facts::default(), &words) else { return Ok(()) };
                    let selections = texture.selections(&s, &t, &r, &b);
                    let mut out = [0; LANES];
                    let found = texture.sample_together(&memory, &selections, [&s, &t, &r], &mut out);
                    let together = found.then_some(out);
                    let blended = (0..LANES).any(|i| selections.of(i).next != 0);
                    counted.borrow_mut()[usize::from(together.is_some()) * (1 + usize::from(blended))] += 1;
                    let Some(together) = together else { return Ok(()) };
                    for i in 0..LANES {
                        let at = [s[i], t[i], r[i]].map(f32::from_bits);
                        let alone = texture.sample_one(&memory, selections.of(i), at, r[0]);
                        prop_assert_eq!(
                            Ok(together[i]),
                            alone.map_err(|_| ()),
                            "element {} of {:?}",
                            i,
                            texture
                        );
                    }
                    Ok(())
                },
            )
            .unwrap_or_else(|failure| panic!("{failure}"));
        assert!(counts[1] > 3000 && counts[2] > 500, "{counts:?}");
    }
}
