//! Y'CBCR colours: from the numbers of an image to those of a shader ("Sampler Y'CBCR Conversion" in the chapter "Image
//! Operations" of the Vulkan specification).
//!
//! Range expansion and colour model are linear, so that both together are one row of factors for each component: a
//! multiplication and an addition for every factor that is not 0.

use super::emitter::Emitter;

/// The colour model of an image, which becomes R'G'B'.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ColorModel {
    /// The image has the shader's colours; no range is expanded.
    RgbIdentity,
    /// The shader sees Y', CB and CR, in G, B and R.
    YcbcrIdentity,
    /// That of BT.709.
    Bt709,
    /// That of BT.601.
    Bt601,
    /// That of BT.2020, without constant luminance.
    Bt2020,
}

impl ColorModel {
    /// What red and blue weigh in the luma (Khronos Data Format Specification, "Model Conversion").
    const fn luma(self) -> Option<[f64; 2]> {
        match self {
            ColorModel::RgbIdentity | ColorModel::YcbcrIdentity => None,
            ColorModel::Bt709 => Some([0.2126, 0.0722]),
            ColorModel::Bt601 => Some([0.299, 0.114]),
            ColorModel::Bt2020 => Some([0.2627, 0.0593]),
        }
    }

    /// Factors of CR, Y' and CB in R', G' and B'.
    fn factors(self) -> [[f64; 3]; 3] {
        let Some([kr, kb]) = self.luma() else {
            return [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        };
        let kg = 1.0 - kr - kb;
        let (red, blue) = (2.0 * (1.0 - kr), 2.0 * (1.0 - kb));
        [[red, 1.0, 0.0], [-kr * red / kg, 1.0, -kb * blue / kg], [0.0, 1.0, blue]]
    }
}

/// The numbers that an image has for the ends of its components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ColorRange {
    /// All numbers.
    Full,
    /// With headroom and footroom: of bytes 16 to 235 for luma and 16 to 240 for chroma.
    Narrow,
}

/// Where a chroma texel lies along an axis on which there are half as many as of luma.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChromaLocation {
    /// On the luma texel with an even number.
    CositedEven,
    /// Between the two luma texels.
    Midpoint,
}

impl ChromaLocation {
    /// Luma texels to move a sample by in front of lookups of the chroma plane, whose coordinates are halved behind it
    /// ("Implicit chroma reconstruction").
    pub const fn offset(self) -> f32 {
        match self {
            ChromaLocation::CositedEven => 0.5,
            ChromaLocation::Midpoint => 0.0,
        }
    }
}

/// How the components of an image become those of a shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Conversion {
    /// The colour model.
    pub model: ColorModel,
    /// The range of its numbers; without meaning for [`ColorModel::RgbIdentity`].
    pub range: ColorRange,
    /// Bits of a component, 8 at least for [`ColorRange::Narrow`].
    pub bits: u8,
}

impl Conversion {
    /// Factors of R (CR), G (Y') and B (CB) as the image has them, and what is added, for R, G and B of the shader. `None` where
    /// these are the same.
    fn rows(self) -> Option<[[f64; 4]; 3]> {
        if self.model == ColorModel::RgbIdentity {
            return None;
        }
        let most = 2f64.powi(i32::from(self.bits)) - 1.0;
        // A step of a number of eight bits.
        let step = 2f64.powi(i32::from(self.bits) - 8);
        // What a component is multiplied by, and what is added.
        let (luma, chroma) = match self.range {
            ColorRange::Full => ([1.0, 0.0], [1.0, -128.0 * step / most]),
            ColorRange::Narrow => {
                ([most / (219.0 * step), -16.0 / 219.0], [most / (224.0 * step), -128.0 / 224.0])
            }
        };
        Some(self.model.factors().map(|factors| {
            let terms = [(factors[0], chroma), (factors[1], luma), (factors[2], chroma)];
            let [red, green, blue] = terms.map(|(factor, [scale, _])| factor * scale);
            [red, green, blue, terms.iter().map(|(factor, [_, added])| factor * added).sum()]
        }))
    }

    /// R, G and B of the shader from those of the image, whose components are where its format and the conversion's swizzle
    /// have put them: CR in R, Y' in G, CB in B. Nothing is clamped, as the specification leaves it to the implementation.
    pub fn convert<E: Emitter>(self, e: &mut E, texel: [E::Value; 3]) -> [E::Value; 3] {
        let Some(rows) = self.rows() else { return texel };
        rows.map(|[factors @ .., added]| {
            // The constant comes first: a sum of large parts of both signs ends near 0 where the colour does.
            let mut sum = (added != 0.0).then(|| e.float(added as f32));
            for (component, factor) in texel.into_iter().zip(factors).filter(|(_, factor)| *factor != 0.0) {
                let term = if factor == 1.0 {
                    component
                } else {
                    let factor = e.float(factor as f32);
                    e.fmul(component, factor)
                };
                sum = Some(match sum {
                    Some(sum) => e.fadd(sum, term),
                    None => term,
                });
            }
            // Every row of every model has a factor.
            sum.unwrap_or(texel[1])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{StateWords, model::Model};
    use super::*;

    const MODELS: [ColorModel; 5] = [
        ColorModel::RgbIdentity,
        ColorModel::YcbcrIdentity,
        ColorModel::Bt709,
        ColorModel::Bt601,
        ColorModel::Bt2020,
    ];

    /// The specification's formulas as they stand there, for unsigned numbers of R, G and B.
    fn specified(conversion: Conversion, numbers: [u32; 3]) -> [f64; 3] {
        let n = i32::from(conversion.bits);
        let most = 2f64.powi(n) - 1.0;
        let [r, g, b] = numbers.map(|number| f64::from(number) / most);
        if conversion.model == ColorModel::RgbIdentity {
            return [r, g, b];
        }
        let step = 2f64.powi(n - 8);
        let (y, cb, cr) = match conversion.range {
            ColorRange::Full => (g, b - 2f64.powi(n - 1) / most, r - 2f64.powi(n - 1) / most),
            ColorRange::Narrow => (
                (g * most - 16.0 * step) / (219.0 * step),
                (b * most - 128.0 * step) / (224.0 * step),
                (r * most - 128.0 * step) / (224.0 * step),
            ),
        };
        match conversion.model {
            ColorModel::RgbIdentity | ColorModel::YcbcrIdentity => [cr, y, cb],
            ColorModel::Bt709 => [
                y + 1.5748 * cr,
                y - (0.133_974_32 / 0.7152) * cb - (0.334_802_48 / 0.7152) * cr,
                y + 1.8556 * cb,
            ],
            ColorModel::Bt601 => {
                [y + 1.402 * cr, y - (0.202_008 / 0.587) * cb - (0.419_198 / 0.587) * cr, y + 1.772 * cb]
            }
            ColorModel::Bt2020 => [
                y + 1.4746 * cr,
                y - (0.111_567_02 / 0.6780) * cb - (0.387_377_42 / 0.6780) * cr,
                y + 1.8814 * cb,
            ],
        }
    }

    fn converted(conversion: Conversion, numbers: [u32; 3]) -> [f64; 3] {
        let most = 2f64.powi(i32::from(conversion.bits)) - 1.0;
        let texel = numbers.map(|number| ((f64::from(number) / most) as f32).to_bits());
        let mut model = Model::new(StateWords::default());
        conversion.convert(&mut model, texel).map(|word| f64::from(f32::from_bits(word)))
    }

    #[test]
    fn all_models_and_ranges_are_the_specifications() {
        for (model, bits) in MODELS.into_iter().flat_map(|model| [(model, 8), (model, 10), (model, 12)]) {
            for range in [ColorRange::Full, ColorRange::Narrow] {
                let conversion = Conversion { model, range, bits };
                let most = (1 << bits) - 1;
                let steps = [0, 16, 31, 64, 100, 128, 129, 200, 235, 240, 255].map(|n| n * most / 255);
                for (red, green) in steps.into_iter().flat_map(|red| steps.map(|green| (red, green))) {
                    for blue in steps {
                        let numbers = [red, green, blue];
                        let (have, want) = (converted(conversion, numbers), specified(conversion, numbers));
                        for (have, want) in have.into_iter().zip(want) {
                            // Each of four roundings toward zero takes less than 2^-22 of a number below 2.
                            let error = (have - want).abs();
                            assert!(error < 2e-6, "{conversion:?} of {numbers:?}: {have}, not {want}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_ends_of_a_narrow_range_are_black_and_white() {
        for model in [ColorModel::Bt709, ColorModel::Bt601, ColorModel::Bt2020] {
            let conversion = Conversion { model, range: ColorRange::Narrow, bits: 8 };
            for (luma, want) in [(16, 0.0), (235, 1.0)] {
                for have in converted(conversion, [128, luma, 128]) {
                    assert!((have - want).abs() < 1e-6, "{model:?}: {have}, not {want}");
                }
            }
        }
    }

    #[test]
    fn colours_of_no_model_stay_as_they_are() {
        let conversion = Conversion { model: ColorModel::RgbIdentity, range: ColorRange::Narrow, bits: 8 };
        assert_eq!(conversion.rows(), None);
    }
}
