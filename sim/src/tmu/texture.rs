//! Configuration words decoded into a texture (textures.md §2) with its mip levels placed (§4).

use vc4::cl::words::{MagFilter, MinFilter, TextureExtra, TextureType, TextureWords, Wrap};
use vc4::facts::{Facts, LevelSizes, NpotLevels};
use vc4::image::layout::container;
use vc4::image::tiling::AddressMap;
use vc4::image::{ImageLayout, ImageShape};
use vc4::state::texture::magnified_until;

use super::fault::TmuFault;
use super::lod::Steps;

/// Bytes of an element and pixels along its edge: a pixel, or an ETC1 block. `None` for types that the
/// kernel refuses.
pub(super) const fn element(ty: TextureType) -> Option<(u32, u32)> {
    use TextureType::*;
    match ty {
        Rgba8888 | Rgbx8888 | Rgba32R => Some((4, 1)),
        Rgba4444 | Rgba5551 | Rgb565 | LumAlpha | S16F | S16 => Some((2, 1)),
        Luminance | Alpha | S8 => Some((1, 1)),
        Etc1 => Some((8, 4)),
        Bw1 | A4 | A1 | Rgba64 | Yuyv422R => None,
    }
}

/// How the minification filter uses the mip chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mip {
    /// Level 0 only.
    None,
    Nearest,
    Linear,
}

/// One mip level.
///
/// UNVERIFIED: do the coordinates of an NPOT level scale by w >> i while pitch and placement follow the
/// power-of-two container? Assumed here, as Mesa's images demand (textures.md §4.4).
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    /// Bus address of the level in the first face.
    pub base: u32,
    /// Size in pixels that coordinates are scaled to.
    pub width: u32,
    pub height: u32,
    /// Places of the elements, counted from `base`.
    pub map: AddressMap,
    /// First column and row that coordinates count from: those of a child image.
    pub origin: (u32, u32),
    /// Last column and row of the whole level.
    pub last: (u32, u32),
}

/// A texture as one request describes it.
#[derive(Clone, Debug)]
pub(super) struct Texture {
    /// How the machine behaves.
    pub facts: Facts,
    pub ty: TextureType,
    pub cube: bool,
    pub flip_y: bool,
    /// Ordinary ETC1 blocks: the first row of a block is its upper one.
    pub etc_upright: bool,
    pub mag_linear: bool,
    pub min_linear: bool,
    pub mip: Mip,
    /// The largest level of detail that is magnified.
    pub magnified_until: f32,
    /// Which differences of coordinates lead to which level.
    pub steps: Steps,
    pub wrap_s: Wrap,
    pub wrap_t: Wrap,
    /// Bytes from one cube face to the next.
    pub cube_stride: u32,
    /// The b parameter is the LOD, not a bias.
    pub explicit_lod: bool,
    /// Coordinates span a part of the image (textures.md §2).
    pub child: bool,
    /// At least one.
    pub levels: Vec<Level>,
}

impl Texture {
    /// Decodes P0 to P3; unwritten words are zero.
    pub fn decode(facts: &Facts, words: &[u32; 4]) -> Result<Texture, TmuFault> {
        let reason = |error: &dyn std::fmt::Display| TmuFault::Unsupported(error.to_string());
        let config = TextureWords::from_bits(words[0], words[1]).map_err(|error| reason(&error))?;
        let ty = config.ty;
        let Some((cpp, block)) = element(ty) else {
            let what = format!("texture type {} is refused by the kernel; convert the image", ty.name());
            return Err(TmuFault::Unsupported(what));
        };
        let (min_linear, mip) = match config.p1.min {
            MinFilter::Linear => (true, Mip::None),
            MinFilter::Nearest => (false, Mip::None),
            MinFilter::NearestMipNearest => (false, Mip::Nearest),
            MinFilter::NearestMipLinear => (false, Mip::Linear),
            MinFilter::LinearMipNearest => (true, Mip::Nearest),
            MinFilter::LinearMipLinear => (true, Mip::Linear),
        };
        // A 16-bit integer cannot be filtered (textures.md §3).
        let filters = ty != TextureType::S16;
        let shape = ImageShape {
            raster: ty == TextureType::Rgba32R,
            block,
            ..ImageShape::plain(cpp, config.p1.width.get(), config.p1.height.get())
        };
        // The kernel admits more levels than the size has (kernel-abi.md §9, TEX-7); there are no more to go to.
        let deepest = shape.width.max(shape.height).ilog2() + 1;
        let shape = ImageShape { levels: config.levels().min(deepest), ..shape };
        let magnified_until = magnified_until(facts.magnified_until, config.p1.mag, config.p1.min);
        let mut texture = Texture {
            facts: *facts,
            ty,
            cube: config.p0.cube,
            flip_y: config.p0.flip_y,
            etc_upright: config.p1.etc_flip,
            mag_linear: filters && config.p1.mag == MagFilter::Linear,
            min_linear: filters && min_linear,
            mip,
            magnified_until,
            steps: Steps::of(facts, magnified_until),
            wrap_s: config.p1.wrap_s,
            wrap_t: config.p1.wrap_t,
            cube_stride: 0,
            explicit_lod: false,
            child: false,
            levels: levels(facts, shape, config.p0.base.get()).map_err(|error| reason(&error))?,
        };
        let mut child = Child::default();
        for &word in &words[2..] {
            match TextureExtra::from_bits(word).map_err(|error| reason(&error))? {
                TextureExtra::Unused => {}
                TextureExtra::Cube(cube) => {
                    texture.cube_stride = cube.stride.bytes();
                    texture.explicit_lod |= cube.explicit_lod;
                }
                TextureExtra::ChildSize(size) => {
                    child.size = Some((size.width.get(), size.height.get()));
                }
                TextureExtra::ChildOffset(offset) => {
                    child.offset = Some((offset.x.get(), offset.y.get()));
                }
            }
        }
        texture.cut(child);
        Ok(texture)
    }
}

/// A part of an image that coordinates span.
#[derive(Clone, Copy, Default)]
struct Child {
    size: Option<(u32, u32)>,
    offset: Option<(u32, u32)>,
}

impl Texture {
    /// UNVERIFIED: how do wrap modes and mip levels see a child image? Here it wraps at its own edges, and its size and place are halved per
    /// level; 0 is 2048, as in p1 (textures.md §2).
    fn cut(&mut self, child: Child) {
        if child.size.is_none() && child.offset.is_none() {
            return;
        }
        self.child = true;
        for (i, level) in self.levels.iter_mut().enumerate() {
            if let Some((width, height)) = child.size {
                let edge = |px: u32| (if px == 0 { 2048 } else { px } >> i).max(1);
                (level.width, level.height) = (edge(width), edge(height));
            }
            let (x, y) = child.offset.unwrap_or_default();
            level.origin = (x >> i, y >> i);
        }
    }
}

/// The unit knows where level 0 starts and finds the others below it (textures.md §4.4).
///
/// UNVERIFIED: how large are the places of levels of an image whose edges are no powers of two, and by which size do
/// coordinates in them scale?
fn levels(facts: &Facts, shape: ImageShape, base: u32) -> Result<Vec<Level>, vc4::image::LayoutError> {
    let mut layout = ImageLayout::new(shape)?;
    if facts.npot_levels == NpotLevels::Own {
        for (level, i) in layout.levels.iter_mut().zip(0..) {
            let (width, height) = shape.level_el(i);
            *level = vc4::image::Level::sampled(shape.cpp, width, height)?;
        }
        // The last level comes first.
        let mut offset = 0;
        for level in layout.levels.iter_mut().rev() {
            level.offset = offset;
            offset += level.size;
        }
    }
    let start = base.wrapping_sub(layout.levels[0].offset);
    Ok(layout
        .levels
        .iter()
        .zip(0..)
        .map(|(level, i)| {
            let (width, height) = match facts.level_sizes {
                LevelSizes::Containers if i > 0 => container(shape.width, shape.height, i),
                _ => shape.level_px(i),
            };
            let base = start.wrapping_add(level.offset);
            let map = vc4::image::Level { offset: 0, ..*level }.address_map();
            Level { base, width, height, map, origin: (0, 0), last: (width - 1, height - 1) }
        })
        .collect())
}
