//! A sampled image and its sampler as texture words (textures.md §2).

use crate::cl::words::{
    MagFilter, MinFilter, TextureCube, TextureP0, TextureP1, TextureType, TextureWords, Wrap,
};
use crate::cl::{Addr, Bits, Count, Pages};
use crate::facts::{Facts, LevelRounding, MagnifiedUntil, WeightBits};
use crate::hw::TEXTURE_MAX_PX;
use crate::image::format::{Component, Uses, depth_to_unorm24};
use crate::image::layout::container;
use crate::image::{Decode, FormatInfo, ImageLayout, Level};

/// How levels are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MipMode {
    /// The view's first level alone.
    None,
    /// The nearest level.
    Nearest,
    /// Two levels, blended.
    Linear,
}

/// What the texture unit can do of a sampler. LOD clamps, bias, comparison and anisotropy are not among it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sampler {
    /// Bilinear where a texel covers more than a pixel.
    pub mag_linear: bool,
    /// Bilinear where a pixel covers more than a texel.
    pub min_linear: bool,
    /// Levels.
    pub mip: MipMode,
    /// Outside 0..1 in s.
    pub wrap_s: Wrap,
    /// Outside 0..1 in t.
    pub wrap_t: Wrap,
}

impl Sampler {
    /// The magnification field.
    pub fn mag(&self) -> MagFilter {
        if self.mag_linear { MagFilter::Linear } else { MagFilter::Nearest }
    }

    /// The minification field.
    pub fn min(&self) -> MinFilter {
        match (self.min_linear, self.mip) {
            (true, MipMode::None) => MinFilter::Linear,
            (false, MipMode::None) => MinFilter::Nearest,
            (false, MipMode::Nearest) => MinFilter::NearestMipNearest,
            (false, MipMode::Linear) => MinFilter::NearestMipLinear,
            (true, MipMode::Nearest) => MinFilter::LinearMipNearest,
            (true, MipMode::Linear) => MinFilter::LinearMipLinear,
        }
    }
}

/// UNVERIFIED: up to which level of detail does the unit magnify? Up to 0, but up to 0.5 where the magnifying filter is linear
/// and the minifying one takes the nearest texel of levels (OpenGL ES 2.0 §3.7.8 calls this c): dEQP-GLES2's
/// `vertex.cube.filtering.nearest_mipmap_*_linear_*` pass on Raspberry Pi 3 boards only so.
pub fn magnified_until(fact: MagnifiedUntil, mag: MagFilter, min: MinFilter) -> f32 {
    match (mag, min) {
        (MagFilter::Linear, MinFilter::NearestMipNearest | MinFilter::NearestMipLinear)
            if fact == MagnifiedUntil::Half =>
        {
            0.5
        }
        _ => 0.0,
    }
}

/// Whether the filters of a machine's unit are Vulkan's for this sampler, as far as they go: it magnifies up to a level of
/// detail of 0, takes the nearest of levels, and weighs texels in 1/64 at least. With coarser weights what an 8-bit texture
/// gives is up to 8 steps of 255 off for each axis.
pub fn filters_exactly(facts: &Facts, sampler: &Sampler) -> bool {
    let is_late = magnified_until(facts.magnified_until, sampler.mag(), sampler.min()) > 0.0;
    let takes_lower = facts.level_rounding == LevelRounding::Down && sampler.mip == MipMode::Nearest;
    let is_coarse = facts.weight_bits == WeightBits::Five && (sampler.mag_linear || sampler.min_linear);
    !(is_late || takes_lower || is_coarse)
}

/// The part of an image that is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextureView {
    /// First level.
    pub base_level: u32,
    /// Levels.
    pub levels: u32,
    /// First face; 0 for a cube.
    pub face: u32,
    /// All six faces, addressed by direction.
    pub cube: bool,
}

/// The words of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextureParameters {
    /// Words p0 and p1.
    pub words: TextureWords,
    /// Word p2 of a cube.
    pub cube: Option<TextureCube>,
}

/// Why a view cannot be sampled by the texture unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextureError {
    /// The format is no texture format.
    #[error("{0} cannot be sampled")]
    Format(&'static str),
    /// The format has no filter.
    #[error("{0} can be sampled with nearest filters only")]
    Filter(&'static str),
    /// An edge is longer than the unit can address.
    #[error("{width} x {height} texels exceed 2048; sample the image in parts or through direct lookups")]
    Size {
        /// Texels per row.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// The view names levels or faces that the image lacks.
    #[error("the image has no level {level}, face {face}")]
    Missing {
        /// Level.
        level: u32,
        /// Face.
        face: u32,
    },
    /// The layout is not the one that the unit derives from the size (textures.md §4.3).
    #[error("level {0} is not laid out as the texture unit expects; copy it to a tiled image")]
    Layout(u32),
    /// The level does not begin at a page.
    #[error(
        "level {level} begins at {address:#x}, which is no multiple of 4096; sample from level 0 or copy it"
    )]
    Alignment {
        /// Level.
        level: u32,
        /// Its address.
        address: u32,
    },
    /// Faces are too far apart or not at pages.
    #[error("faces {0} bytes apart cannot be described")]
    FaceStride(u32),
}

/// The words for a view of an image that begins at byte `offset` of its BO; the kernel adds the BO's address.
///
/// A view whose first level is not level 0 becomes a texture of its own. That works where the level begins at a
/// page and its size alone gives the layout that it has, as levels in T layout of images with power-of-two edges do.
pub fn texture_parameters(
    format: &FormatInfo,
    layout: &ImageLayout,
    offset: u32,
    view: &TextureView,
    sampler: &Sampler,
) -> Result<TextureParameters, TextureError> {
    if !format.uses.contains(Uses::SAMPLED) {
        return Err(TextureError::Format(format.name));
    }
    let filtered = sampler.mag_linear || sampler.min_linear || sampler.mip == MipMode::Linear;
    if filtered && !format.uses.contains(Uses::FILTERED) {
        return Err(TextureError::Filter(format.name));
    }
    let base = base_level(layout, view)?;
    let (width, height) = layout.shape.level_px(view.base_level);
    let size = TextureError::Size { width, height };
    if width.max(height) > TEXTURE_MAX_PX {
        return Err(size);
    }
    let (Some(width), Some(height)) = (Count::new(width), Count::new(height)) else { return Err(size) };
    let address = offset.wrapping_add(base.offset);
    let base = Addr::new(address).ok_or(TextureError::Alignment { level: view.base_level, address })?;
    let last_level = if sampler.mip == MipMode::None { 0 } else { view.levels - 1 };
    let cube = view.cube.then(|| cube_word(layout)).transpose()?;
    let p0 = TextureP0 { base, cube: view.cube, last_level: Bits::low(last_level), ..Default::default() };
    let p1 = TextureP1 {
        height,
        width,
        etc_flip: format.texture == TextureType::Etc1,
        mag: sampler.mag(),
        min: sampler.min(),
        wrap_t: sampler.wrap_t,
        wrap_s: sampler.wrap_s,
        ..Default::default()
    };
    Ok(TextureParameters { words: TextureWords { ty: format.texture, p0, p1 }, cube })
}

/// The view's first level, checked to be where the unit will look for it.
fn base_level(layout: &ImageLayout, view: &TextureView) -> Result<Level, TextureError> {
    let last = view.base_level.saturating_add(view.levels.saturating_sub(1));
    let missing = |level| TextureError::Missing { level, face: view.face };
    if view.levels == 0 || (view.cube && layout.shape.faces != 6) {
        return Err(missing(view.base_level));
    }
    for level in view.base_level..=last {
        let place = layout.level(level, view.face).ok_or(missing(level))?;
        // What the unit assumes of this level when it sees the base level as level 0.
        let (width, height) = layout.shape.level_el(view.base_level);
        let (width, height) = container(width, height, level - view.base_level);
        let assumed = Level::sampled(place.cpp, width, height).map_err(|_| TextureError::Layout(level))?;
        if (assumed.tiling, assumed.stride, assumed.size) != (place.tiling, place.stride, place.size) {
            return Err(TextureError::Layout(level));
        }
    }
    layout.level(view.base_level, view.face).ok_or(missing(view.base_level))
}

fn cube_word(layout: &ImageLayout) -> Result<TextureCube, TextureError> {
    let stride = Pages::from_bytes(layout.face_stride).ok_or(TextureError::FaceStride(layout.face_stride))?;
    Ok(TextureCube { stride, explicit_lod: false })
}

/// The border colour as the texture unit takes it: a word in the arrangement of the lookup's result
/// (textures.md §2). `color` is R, G, B, A as the API gives it.
pub fn border_word(format: &FormatInfo, color: [f32; 4]) -> u32 {
    match format.decode {
        Decode::Depth24 => depth_to_unorm24(color[0]) << 8,
        // Such formats are not sampled.
        Decode::Word => 0,
        Decode::Unorm8(components) => {
            let mut word = [0u8; 4];
            for (component, value) in components.into_iter().zip(color) {
                if let Component::Byte(byte) = component {
                    word[usize::from(byte)] = (value.clamp(0.0, 1.0) * 255.0).round() as u8;
                }
            }
            u32::from_le_bytes(word)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::{Format, ImageShape};

    const LINEAR: Sampler = Sampler {
        mag_linear: true,
        min_linear: true,
        mip: MipMode::Linear,
        wrap_s: Wrap::Clamp,
        wrap_t: Wrap::Repeat,
    };
    const WHOLE: TextureView = TextureView { base_level: 0, levels: 7, face: 0, cube: false };

    fn layout(width: u32, height: u32, levels: u32, faces: u32) -> ImageLayout {
        ImageLayout::new(ImageShape { levels, faces, ..ImageShape::plain(4, width, height) }).unwrap()
    }

    #[test]
    fn filters_are_exact_where_the_machine_s_are_vulkan_s() {
        use crate::facts::{LevelRounding, WeightBits};
        let (usual, nearest) = (Facts::default(), Sampler { mag_linear: false, min_linear: false, ..LINEAR });
        assert!(filters_exactly(&usual, &LINEAR) && filters_exactly(&usual, &nearest));
        let late = Sampler { mag_linear: true, ..nearest };
        assert!(!filters_exactly(&usual, &late));
        assert!(filters_exactly(&Facts { magnified_until: MagnifiedUntil::Zero, ..usual }, &late));
        let coarse = Facts { weight_bits: WeightBits::Five, ..usual };
        assert!(!filters_exactly(&coarse, &LINEAR) && filters_exactly(&coarse, &nearest));
        let lower = Facts { level_rounding: LevelRounding::Down, ..usual };
        assert!(filters_exactly(&lower, &LINEAR));
        assert!(!filters_exactly(&lower, &Sampler { mip: MipMode::Nearest, ..LINEAR }));
    }

    #[test]
    fn words_describe_the_view() {
        let layout = layout(100, 60, 7, 1);
        let info = Format::R8G8B8A8.info();
        let texture = texture_parameters(info, &layout, 0x10000, &WHOLE, &LINEAR).unwrap();
        // textures.md §4.5: level 0 at 12288; §2: fields.
        assert_eq!(texture.words.bits(), [0x13000 | 6, 60 << 20 | 100 << 8 | 5 << 4 | 1]);
        assert_eq!(texture.cube, None);
        let plain = Sampler { mag_linear: false, min_linear: false, mip: MipMode::None, ..LINEAR };
        let texture = texture_parameters(info, &layout, 0, &WHOLE, &plain).unwrap();
        assert_eq!(texture.words.bits(), [0x3000, 60 << 20 | 100 << 8 | 1 << 7 | 1 << 4 | 1]);
    }

    #[test]
    fn filters_match_the_manual() {
        let min = |min_linear, mip| Sampler { min_linear, mip, ..LINEAR }.min().code();
        let modes = [MipMode::None, MipMode::Nearest, MipMode::Linear];
        assert_eq!(modes.map(|mip| min(false, mip)), [1, 2, 3]);
        assert_eq!(modes.map(|mip| min(true, mip)), [0, 4, 5]);
    }

    #[test]
    fn cubes_have_a_stride() {
        let layout = layout(64, 64, 7, 6);
        let view = TextureView { cube: true, ..WHOLE };
        let info = Format::B8G8R8A8.info();
        let texture = texture_parameters(info, &layout, 0, &view, &LINEAR).unwrap();
        assert_eq!(texture.cube.unwrap().bits(), 1 << 30 | 24576);
        assert_eq!(texture.words.bits()[0], 8192 | 1 << 9 | 6);
        // A single face is a plain texture.
        let face = TextureView { face: 2, ..WHOLE };
        let texture = texture_parameters(info, &layout, 0, &face, &LINEAR).unwrap();
        assert_eq!(texture.words.bits()[0], (8192 + 2 * 24576) | 6);
    }

    #[test]
    fn later_levels_become_textures_where_they_can() {
        let layout256 = layout(256, 256, 9, 1);
        let info = Format::R8G8B8A8.info();
        let view = |base_level, levels| TextureView { base_level, levels, ..WHOLE };
        let from_one = texture_parameters(info, &layout256, 0, &view(1, 8), &LINEAR).unwrap();
        assert_eq!(from_one.words.bits()[0], 24576 | 7);
        assert_eq!(from_one.words.p1.width.get(), 128);
        let from_four = texture_parameters(info, &layout256, 0, &view(4, 1), &LINEAR);
        assert_eq!(from_four, Err(TextureError::Alignment { level: 4, address: 3072 }));
        // 100 x 60: level 1 is 50 x 30 in a container of 64 x 32, whose padding equals that of 50 x 30.
        let odd = layout(100, 60, 7, 1);
        assert!(texture_parameters(info, &odd, 0, &view(1, 1), &LINEAR).is_ok());
        // 130 x 130: level 1 is 65 x 65 in 128 x 128, but 65 x 65 alone would be padded to 96.
        let wide = layout(130, 130, 2, 1);
        assert_eq!(texture_parameters(info, &wide, 0, &view(1, 1), &LINEAR), Err(TextureError::Layout(1)));
    }

    #[test]
    fn what_cannot_be_sampled_is_refused() {
        let info = Format::R8G8B8A8.info();
        let one = TextureView { levels: 1, ..WHOLE };
        let big = ImageLayout::new(ImageShape::plain(4, 2049, 4)).unwrap();
        let size = TextureError::Size { width: 2049, height: 4 };
        assert_eq!(texture_parameters(info, &big, 0, &one, &LINEAR), Err(size));
        let raster = ImageLayout::new(ImageShape { raster: true, ..ImageShape::plain(4, 64, 64) }).unwrap();
        assert_eq!(texture_parameters(info, &raster, 0, &one, &LINEAR), Err(TextureError::Layout(0)));
        let depth = texture_parameters(Format::Z24S8.info(), &layout(64, 64, 1, 1), 0, &one, &LINEAR);
        assert_eq!(depth, Err(TextureError::Filter("z24s8")));
        let missing = texture_parameters(info, &layout(64, 64, 1, 1), 0, &WHOLE, &LINEAR);
        assert_eq!(missing, Err(TextureError::Missing { level: 1, face: 0 }));
        let unaligned = texture_parameters(info, &layout(64, 64, 1, 1), 64, &one, &LINEAR);
        assert_eq!(unaligned, Err(TextureError::Alignment { level: 0, address: 64 }));
    }

    #[test]
    fn border_colours_stand_as_lookups_do() {
        assert_eq!(border_word(Format::R8G8B8A8.info(), [1.0, 0.0, 0.0, 1.0]), 0xff00_00ff);
        assert_eq!(border_word(Format::R8G8.info(), [0.2, 1.0, 0.0, 1.0]), 0xff00_0033);
        assert_eq!(border_word(Format::Z24S8.info(), [1.0; 4]), 0xffff_ff00);
    }
}
