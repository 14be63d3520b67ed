//! Configuration words decoded into a texture (textures.md §2) with its mip levels placed (§4).

use vc4::cl::words::{MagFilter, MinFilter, TextureExtra, TextureType, TextureWords, Wrap};
use vc4::image::tiling::AddressMap;
use vc4::image::{ImageLayout, ImageShape};

use super::TmuFault;
use super::texel;

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
}

/// A texture as one request describes it.
#[derive(Clone, Debug)]
pub(super) struct Texture {
    pub ty: TextureType,
    pub cube: bool,
    pub flip_y: bool,
    /// Ordinary ETC1 blocks: the first row of a block is its upper one.
    pub etc_upright: bool,
    pub mag_linear: bool,
    pub min_linear: bool,
    pub mip: Mip,
    pub wrap_s: Wrap,
    pub wrap_t: Wrap,
    /// Bytes from one cube face to the next.
    pub cube_stride: u32,
    /// The b parameter is the LOD, not a bias.
    pub explicit_lod: bool,
    /// At least one.
    pub levels: Vec<Level>,
}

impl Texture {
    /// Decodes P0 to P3; unwritten words are zero.
    pub fn decode(words: &[u32; 4]) -> Result<Texture, TmuFault> {
        let reason = |error: &dyn std::fmt::Display| TmuFault::Unsupported(error.to_string());
        let config = TextureWords::from_bits(words[0], words[1]).map_err(|error| reason(&error))?;
        let ty = config.ty;
        let Some((cpp, block)) = texel::element(ty) else {
            let what = format!("texture type {} is refused by the kernel; convert the image", ty.name());
            return Err(TmuFault::Unsupported(what));
        };
        if config.p0.cache_swizzle.get() != 0 {
            return Err(TmuFault::Unsupported("cache swizzle is undocumented; write 0".into()));
        }
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
            cpp,
            block,
            width: config.p1.width.get(),
            height: config.p1.height.get(),
            levels: config.levels(),
            faces: 1,
        };
        let mut texture = Texture {
            ty,
            cube: config.p0.cube,
            flip_y: config.p0.flip_y,
            etc_upright: config.p1.etc_flip,
            mag_linear: filters && config.p1.mag == MagFilter::Linear,
            min_linear: filters && min_linear,
            mip,
            wrap_s: config.p1.wrap_s,
            wrap_t: config.p1.wrap_t,
            cube_stride: 0,
            explicit_lod: false,
            levels: levels(shape, config.p0.base.get()).map_err(|error| reason(&error))?,
        };
        for &word in &words[2..] {
            match TextureExtra::from_bits(word).map_err(|error| reason(&error))? {
                TextureExtra::Unused => {}
                TextureExtra::Cube(cube) => {
                    texture.cube_stride = cube.stride.bytes();
                    texture.explicit_lod |= cube.explicit_lod;
                }
                TextureExtra::ChildSize(_) | TextureExtra::ChildOffset(_) => {
                    let what = "child images are not simulated; sample the whole image";
                    return Err(TmuFault::Unsupported(what.into()));
                }
            }
        }
        Ok(texture)
    }
}

/// The unit knows where level 0 starts and finds the others below it (textures.md §4.4).
fn levels(shape: ImageShape, base: u32) -> Result<Vec<Level>, vc4::image::LayoutError> {
    let layout = ImageLayout::new(shape)?;
    let start = base.wrapping_sub(layout.levels[0].offset);
    Ok(layout
        .levels
        .iter()
        .zip(0..)
        .map(|(level, i)| {
            let (width, height) = shape.level_px(i);
            let base = start.wrapping_add(level.offset);
            let map = vc4::image::Level { offset: 0, ..*level }.address_map();
            Level { base, width, height, map }
        })
        .collect())
}
