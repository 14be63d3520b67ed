//! Lookups through samplers, as Vulkan 1.0 §15 defines them.

use vc4::cl::packets::CompareFunc;
use vc4::cl::words::Wrap;
use vc4::image::texel::Color;
use vc4::state::texture::MipMode;
use vc4_shaders_cpu::Words;

use super::cube::{self, Corner};
use super::surface::{Level, Surface};
use crate::foundation::limits::MAX_LOD_BIAS;
use crate::objects::sampler::Sampler;

/// 1 as a float.
const ONE: u32 = 0x3f80_0000;

/// How a level of detail is given.
#[derive(Clone, Copy, Debug)]
pub(super) enum Detail {
    /// By number.
    Level(f32),
    /// By the derivatives of each coordinate by x and by y.
    Gradient([[f32; 3]; 2]),
}

/// One lookup.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lookup {
    /// Coordinates; of cubes a direction.
    pub place: [f32; 3],
    /// The layer, or the cube, before rounding.
    pub layer: f32,
    /// The level of detail.
    pub detail: Detail,
    /// What the instruction adds to it.
    pub bias: f32,
    /// Texels to move by.
    pub offset: [i32; 3],
    /// What texels are compared with.
    pub reference: Option<f32>,
}

/// A view and a sampler.
pub(super) struct Sampled<'a> {
    /// The view.
    pub surface: &'a Surface,
    /// The sampler.
    pub sampler: &'a Sampler,
    /// Coordinates that count: 1 to 3; cubes have 2 on a face.
    pub axes: usize,
    /// What lies outside.
    border: Color,
}

/// Where a lookup is in one level: texels, and how far it is between them and their neighbours.
struct Footprint {
    /// The texel with the smallest numbers.
    first: [i32; 3],
    /// The neighbours' weights.
    weights: [f32; 3],
    /// The layer or face.
    layer: u32,
}

impl<'a> Sampled<'a> {
    /// A view with a sampler.
    pub fn new(surface: &'a Surface, sampler: &'a Sampler, axes: usize) -> Sampled<'a> {
        let border = surface.codec.border(sampler.border.color(surface.codec.one()));
        Sampled { surface, sampler, axes, border }
    }

    /// The result of a lookup; of comparisons the first component counts.
    pub fn sample(&self, lookup: &Lookup) -> Color {
        match lookup.detail {
            Detail::Gradient(gradient)
                if self.sampler.is_anisotropic() && !self.surface.codec.is_integer() =>
            {
                self.averaged(lookup, gradient)
            }
            _ => self.sampled(lookup),
        }
    }

    /// The average of samples along the longer axis of a footprint, as graphics programs take it.
    fn averaged(&self, lookup: &Lookup, gradient: [[f32; 3]; 2]) -> Color {
        let Some(base) = self.surface.levels().first() else { return [0; 4] };
        let [x, y] = self.lengths(lookup.place, gradient, base);
        let (longer, shorter) = (x.max(y), x.min(y).max(1.0));
        let along = gradient[usize::from(y > x)];
        // Of NaN the conversion makes 0.
        let taps = ((longer / shorter).min(self.sampler.anisotropy).round() as u32).max(1);
        let share = 1.0 / taps as f32;
        let detail = Detail::Level((longer * share).log2());
        let mut sum = [0.0; 4];
        for tap in 0..taps {
            let way = (tap as f32 + 0.5) * share - 0.5;
            let place = std::array::from_fn(|axis| lookup.place[axis] + along[axis] * way);
            let color = self.sampled(&Lookup { place, detail, ..*lookup });
            sum = std::array::from_fn(|n| sum[n] + f32::from_bits(color[n]));
        }
        sum.map(|sum| (sum * share).to_bits())
    }

    fn sampled(&self, lookup: &Lookup) -> Color {
        let Some(base) = self.surface.levels().first() else { return [0; 4] };
        let (place, layer) = self.on_layer(lookup);
        let detail = self.detail(lookup, base);
        let sampler = self.sampler;
        let linear = if detail <= 0.0 { sampler.unit.mag_linear } else { sampler.unit.min_linear };
        let linear = linear && !self.surface.codec.is_integer();
        let last = (self.surface.levels().len() - 1) as f32;
        let detail = detail.clamp(0.0, last);
        let at = |number: f32| {
            let level = &self.surface.levels()[(number as usize).min(last as usize)];
            self.filtered(level, place, layer, linear, lookup)
        };
        match sampler.unit.mip {
            _ if sampler.unnormalized => at(0.0),
            MipMode::None => at(0.0),
            MipMode::Nearest => at((detail + 0.5).ceil() - 1.0),
            MipMode::Linear => {
                let (low, part) = (detail.floor(), detail - detail.floor());
                match part > 0.0 && !self.surface.codec.is_integer() {
                    true => mix(at(low), at(low + 1.0), part),
                    false => at(low),
                }
            }
        }
    }

    /// The four texels that a linear filter of the first level would weigh: (0, 1), (1, 1), (1, 0), (0, 0).
    pub fn gather(&self, lookup: &Lookup, component: usize) -> Color {
        let Some(level) = self.surface.levels().first() else { return [0; 4] };
        let (place, layer) = self.on_layer(lookup);
        let footprint = self.footprint(level, place, layer, 0.5, lookup);
        [(0, 1), (1, 1), (1, 0), (0, 0)].map(|(x, y)| {
            let color = self.neighbour(level, &footprint, [x, y, 0], lookup.reference);
            color[if lookup.reference.is_some() { 0 } else { component }]
        })
    }

    /// Coordinates and layer in terms of flat layers.
    fn on_layer(&self, lookup: &Lookup) -> ([f32; 3], u32) {
        let layers = self.surface.layers();
        if !self.surface.is_cube() {
            return (lookup.place, round_layer(lookup.layer, layers));
        }
        let (face, s, t) = cube::project(lookup.place);
        let cube = round_layer(lookup.layer, layers / cube::FACES);
        ([s, t, 0.0], cube * cube::FACES + face)
    }

    /// The level of detail, clamped as the sampler says.
    fn detail(&self, lookup: &Lookup, base: &Level) -> f32 {
        let base = match lookup.detail {
            Detail::Level(level) => level,
            Detail::Gradient(gradient) => {
                let [x, y] = self.lengths(lookup.place, gradient, base);
                x.max(y).log2()
            }
        };
        let bias = (self.sampler.lod_bias + lookup.bias).clamp(-MAX_LOD_BIAS, MAX_LOD_BIAS);
        // A comparison with a NaN is false, which leaves the smallest.
        (base + bias).min(self.sampler.max_lod).max(self.sampler.min_lod)
    }

    /// Lengths of the derivatives by x and by y along the image, in texels.
    fn lengths(&self, place: [f32; 3], gradient: [[f32; 3]; 2], base: &Level) -> [f32; 2] {
        let (gradient, axes) = match self.surface.is_cube() {
            true => (gradient.map(|change| cube::project_change(place, change)), 2),
            false => (gradient, self.axes),
        };
        gradient.map(|change| {
            let texels = (0..axes).map(|axis| change[axis] * base.size[axis] as f32);
            texels.map(|texels| texels * texels).sum::<f32>().sqrt()
        })
    }

    fn filtered(&self, level: &Level, place: [f32; 3], layer: u32, linear: bool, lookup: &Lookup) -> Color {
        if !linear {
            let footprint = self.footprint(level, place, layer, 0.0, lookup);
            return self.neighbour(level, &footprint, [0; 3], lookup.reference);
        }
        let footprint = self.footprint(level, place, layer, 0.5, lookup);
        let axes = if self.surface.is_cube() { 2 } else { self.axes };
        self.weighed(level, &footprint, [0; 3], axes, lookup.reference)
    }

    /// The filter along the first `axes` axes from one neighbour on.
    fn weighed(
        &self,
        level: &Level,
        footprint: &Footprint,
        from: [i32; 3],
        axes: usize,
        reference: Option<f32>,
    ) -> Color {
        let Some(axis) = axes.checked_sub(1) else {
            return self.neighbour(level, footprint, from, reference);
        };
        let side = |side| {
            let mut from = from;
            from[axis] = side;
            self.weighed(level, footprint, from, axis, reference)
        };
        match footprint.weights[axis] {
            0.0 => side(0),
            weight => mix(side(0), side(1), weight),
        }
    }

    /// Where a lookup is in a level; `center` is 0.5 for filters that reach from texel to texel.
    fn footprint(
        &self,
        level: &Level,
        place: [f32; 3],
        layer: u32,
        center: f32,
        lookup: &Lookup,
    ) -> Footprint {
        let (mut first, mut weights) = ([0; 3], [0.0; 3]);
        let axes = if self.surface.is_cube() { 2 } else { self.axes };
        for axis in 0..axes {
            let scale = if self.sampler.unnormalized { 1.0 } else { level.size[axis] as f32 };
            let texels = place[axis] * scale - center;
            let floor = texels.floor();
            // Saturates, and NaN becomes 0.
            first[axis] = (floor as i32).saturating_add(lookup.offset[axis]);
            let weight = texels - floor;
            weights[axis] = if weight.is_finite() { weight } else { 0.0 };
        }
        Footprint { first, weights, layer }
    }

    /// A texel of a footprint, wrapped and compared.
    fn neighbour(
        &self,
        level: &Level,
        footprint: &Footprint,
        step: [i32; 3],
        reference: Option<f32>,
    ) -> Color {
        let texel = [0, 1, 2].map(|axis: usize| footprint.first[axis].saturating_add(step[axis]));
        let is_cube = self.surface.is_cube();
        if is_cube && !self.sampler.seams {
            return self.on_cube(level, texel, footprint.layer, reference);
        }
        let mut at = [0, 0, footprint.layer];
        for axis in 0..if is_cube { 2 } else { self.axes } {
            let mirror = self.sampler.mirror_once[axis];
            match wrapped(texel[axis], level.size[axis], self.sampler.wrap[axis], mirror) {
                Some(inside) => at[axis] = inside,
                None => return self.seen(self.border, reference),
            }
        }
        self.texel(level, at, reference)
    }

    /// A texel of a cube, which goes on behind a face's edge on its neighbour. Corners have three faces.
    fn on_cube(&self, level: &Level, texel: [i32; 3], layer: u32, reference: Option<f32>) -> Color {
        let (cube, face) = (layer / cube::FACES * cube::FACES, layer % cube::FACES);
        let look =
            |place: cube::FaceTexel| self.texel(level, [place.x, place.y, cube + place.face], reference);
        match cube::texel(face, [texel[0], texel[1]], level.size[0]) {
            Corner::None(place) => look(place),
            Corner::Of(places) => {
                let colors = places.map(|place| look(place).map(f32::from_bits));
                [0, 1, 2, 3].map(|n: usize| ((colors[0][n] + colors[1][n] + colors[2][n]) / 3.0).to_bits())
            }
        }
    }

    fn texel(&self, level: &Level, at: [u32; 3], reference: Option<f32>) -> Color {
        let inside = (0..3).all(|axis| at[axis] < level.size[axis]);
        let color = if inside { self.surface.stored(level, at, 0) } else { [0; 4] };
        self.seen(color, reference)
    }

    /// A texel's colour through the view, or the result of its comparison.
    fn seen(&self, color: Color, reference: Option<f32>) -> Color {
        let (Some(reference), Some(func)) = (reference, self.sampler.compare) else {
            return self.surface.mapped(color);
        };
        let reference = match self.surface.codec.is_fraction() {
            true => reference.clamp(0.0, 1.0),
            false => reference,
        };
        let passes = passes(func, reference, f32::from_bits(color[0]));
        [if passes { ONE } else { 0 }, 0, 0, ONE]
    }
}

/// Whether a reference passes the comparison with a texel.
fn passes(func: CompareFunc, reference: f32, texel: f32) -> bool {
    match func {
        CompareFunc::Never => false,
        CompareFunc::Less => reference < texel,
        CompareFunc::Equal => reference == texel,
        CompareFunc::LessOrEqual => reference <= texel,
        CompareFunc::Greater => reference > texel,
        CompareFunc::NotEqual => reference != texel,
        CompareFunc::GreaterOrEqual => reference >= texel,
        CompareFunc::Always => true,
    }
}

/// The nearest layer that there is.
fn round_layer(layer: f32, layers: u32) -> u32 {
    (layer.round_ties_even() as u32).min(layers.saturating_sub(1))
}

/// The texel that stands for one along an axis; `None` for the border.
fn wrapped(texel: i32, size: u32, wrap: Wrap, mirror_once: bool) -> Option<u32> {
    let size = size as i32;
    let mirrored = |n: i32| if n >= 0 { n } else { -(1 + n) };
    let inside = match wrap {
        Wrap::Repeat => texel.rem_euclid(size),
        Wrap::Mirror => (size - 1) - mirrored(texel.rem_euclid(2 * size) - size),
        Wrap::Clamp => (if mirror_once { mirrored(texel) } else { texel }).clamp(0, size - 1),
        Wrap::Border => texel,
    };
    (0..size).contains(&inside).then_some(inside as u32)
}

/// Between two colours.
fn mix(a: Color, b: Color, part: f32) -> Color {
    let mix = |a: u32, b: u32| (f32::from_bits(a) * (1.0 - part) + f32::from_bits(b) * part).to_bits();
    [mix(a[0], b[0]), mix(a[1], b[1]), mix(a[2], b[2]), mix(a[3], b[3])]
}

/// The word of one element as a float.
pub(super) fn float(words: &Words, element: usize) -> f32 {
    f32::from_bits(words[element])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texels_wrap() {
        let row =
            |wrap, once| (-9..9).map(move |n| wrapped(n, 4, wrap, once).map_or(9, |n| n)).collect::<Vec<_>>();
        assert_eq!(row(Wrap::Repeat, false), [3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0]);
        assert_eq!(row(Wrap::Mirror, false), [0, 0, 1, 2, 3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 2, 1, 0, 0]);
        assert_eq!(row(Wrap::Clamp, false), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 3, 3, 3, 3, 3]);
        assert_eq!(row(Wrap::Clamp, true), [3, 3, 3, 3, 3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 3, 3, 3, 3]);
        assert_eq!(row(Wrap::Border, false), [9, 9, 9, 9, 9, 9, 9, 9, 9, 0, 1, 2, 3, 9, 9, 9, 9, 9]);
        // What floats that are too large or no numbers become.
        for wrap in [Wrap::Repeat, Wrap::Mirror, Wrap::Clamp] {
            assert!([i32::MIN, i32::MAX].iter().all(|n| wrapped(*n, 4096, wrap, true).is_some()));
        }
    }

    #[test]
    fn layers_round_to_the_nearest_that_is_there() {
        assert_eq!(
            [-3.0, 0.5, 1.5, 2.4, 99.0, f32::NAN].map(|layer| round_layer(layer, 4)),
            [0, 0, 2, 2, 3, 0]
        );
    }

    #[test]
    fn comparisons_stand_with_the_reference_first() {
        assert!(passes(CompareFunc::Less, 0.25, 0.5) && !passes(CompareFunc::Less, 0.5, 0.5));
        assert!(passes(CompareFunc::GreaterOrEqual, 0.5, 0.5) && !passes(CompareFunc::Greater, 0.25, 0.5));
    }
}
