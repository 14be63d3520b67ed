//! VkSampler, and the texture words that a sampler and a view make together (textures.md §2).

use ash::vk;
use vc4::cl::field::{Addr, Bits, Count};
use vc4::cl::words::{MagFilter, MinFilter, TextureP0, TextureP1, TextureWords, Wrap};

use crate::device::Device;
use crate::error::Error;
use crate::image::ImageView;
use crate::memory::Binding;
use crate::object::Object;

/// maxLod at or below which the specification's note on emulating "no mipmaps" applies.
const NO_MIPS_LOD: f32 = 0.25;

/// A sampler in the texture unit's terms.
pub struct Sampler {
    /// Filter between texels when magnified.
    pub mag: MagFilter,
    /// Filter between texels when minified, with levels.
    pub min: MinFilter,
    /// Wrapping of s.
    pub wrap_s: Wrap,
    /// Wrapping of t.
    pub wrap_t: Wrap,
    /// Most levels below the first that lookups reach.
    pub max_level: u32,
}

impl Object for Sampler {
    type Handle = vk::Sampler;
}

impl Sampler {
    /// Translates a sampler; refuses what neither the texture unit nor the compiler does.
    pub fn new(_: &Device, info: &vk::SamplerCreateInfo<'_>) -> Result<Sampler, Error> {
        refuse(info.compare_enable != vk::FALSE, "a comparing sampler", "compare in the shader")?;
        refuse(
            info.unnormalized_coordinates != vk::FALSE,
            "a sampler with pixel coordinates",
            "divide by the size",
        )?;
        refuse(info.min_lod > 0.0, "a sampler with minLod above 0", "use a view of the smaller levels")?;
        refuse(info.mip_lod_bias != 0.0, "a sampler with mipLodBias", "add the bias in the shader")?;
        let wraps = [info.address_mode_u, info.address_mode_v, info.address_mode_w];
        // Without a border colour from the shader the texture unit has 0 (textures.md §2).
        let opaque = !matches!(
            info.border_color,
            vk::BorderColor::FLOAT_TRANSPARENT_BLACK | vk::BorderColor::INT_TRANSPARENT_BLACK
        );
        let border = wraps[..2].contains(&vk::SamplerAddressMode::CLAMP_TO_BORDER);
        refuse(border && opaque, "a border that is not transparent black", "clamp in the shader")?;
        let mipped = info.max_lod > NO_MIPS_LOD;
        Ok(Sampler {
            mag: if info.mag_filter == vk::Filter::LINEAR { MagFilter::Linear } else { MagFilter::Nearest },
            min: min_filter(info.min_filter, mipped.then_some(info.mipmap_mode)),
            wrap_s: wrap(wraps[0])?,
            wrap_t: wrap(wraps[1])?,
            max_level: max_level(info.max_lod, mipped),
        })
    }
}

fn refuse(condition: bool, what: &str, instead: &'static str) -> Result<(), Error> {
    if condition { Err(Error::unsupported(what, instead)) } else { Ok(()) }
}

fn min_filter(filter: vk::Filter, mips: Option<vk::SamplerMipmapMode>) -> MinFilter {
    let linear = filter == vk::Filter::LINEAR;
    match (linear, mips) {
        (false, None) => MinFilter::Nearest,
        (true, None) => MinFilter::Linear,
        (false, Some(vk::SamplerMipmapMode::LINEAR)) => MinFilter::NearestMipLinear,
        (false, Some(_)) => MinFilter::NearestMipNearest,
        (true, Some(vk::SamplerMipmapMode::LINEAR)) => MinFilter::LinearMipLinear,
        (true, Some(_)) => MinFilter::LinearMipNearest,
    }
}

fn wrap(mode: vk::SamplerAddressMode) -> Result<Wrap, Error> {
    match mode {
        vk::SamplerAddressMode::REPEAT => Ok(Wrap::Repeat),
        vk::SamplerAddressMode::MIRRORED_REPEAT => Ok(Wrap::Mirror),
        vk::SamplerAddressMode::CLAMP_TO_EDGE => Ok(Wrap::Clamp),
        vk::SamplerAddressMode::CLAMP_TO_BORDER => Ok(Wrap::Border),
        _ => Err(Error::unsupported(format!("address mode {mode:?}"), "mirror in the shader")),
    }
}

/// maxLod as a number of levels: the texture unit clamps to the last level it knows of, so a whole
/// maxLod is exact and a fraction rounds up.
fn max_level(max_lod: f32, mipped: bool) -> u32 {
    match mipped {
        true => max_lod.min(15.0).ceil() as u32,
        false => 0,
    }
}

/// What a sampled image contributes to a draw.
#[derive(Clone, Debug)]
pub struct Texture {
    /// The image's memory.
    pub binding: Binding,
    /// Words p0 and p1; p0's base is the byte offset in the BO.
    pub words: [u32; 2],
    /// Bytes from one cube face to the next, 0 for a flat texture (word p2).
    pub face_stride: u32,
}

impl Texture {
    /// The words for `view` seen through `sampler`.
    pub fn new(view: &ImageView, sampler: &Sampler) -> Result<Texture, Error> {
        let cube = view.ty == vk::ImageViewType::CUBE;
        // The texture unit derives every level's place and size from level 0 (textures.md §2, §4.4).
        refuse(
            view.base_level != 0,
            "sampling a view that does not begin at level 0",
            "sample the whole chain",
        )?;
        let flat = cube || matches!(view.ty, vk::ImageViewType::TYPE_2D | vk::ImageViewType::TYPE_1D);
        refuse(!flat, "sampling an array", "use one image per layer")?;
        let level = view.level()?;
        let (width, height) = view.extent();
        let too_big = || Error::unsupported(format!("sampling {width}x{height} pixels"), "stay within 2048");
        let levels = (view.levels - 1).min(sampler.max_level);
        let words = TextureWords {
            ty: view.texel.info().texture,
            p0: TextureP0 {
                base: Addr::new(level.offset).ok_or_else(|| {
                    Error::InvalidUse(format!("a texture at byte {}, not at a page", level.offset))
                })?,
                cube,
                last_level: Bits::low(levels),
                ..Default::default()
            },
            p1: TextureP1 {
                height: Count::new(height).ok_or_else(too_big)?,
                width: Count::new(width).ok_or_else(too_big)?,
                mag: sampler.mag,
                min: sampler.min,
                wrap_t: sampler.wrap_t,
                wrap_s: sampler.wrap_s,
                ..Default::default()
            },
        };
        let face_stride = if cube { view.image.layer_stride() as u32 } else { 0 };
        Ok(Texture { binding: view.image.binding()?.clone(), words: words.bits(), face_stride })
    }
}
