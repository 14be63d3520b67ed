//! VkSampler, and what a sampler and a view make together for a draw (textures.md §2).

use ash::vk;
use vc4::cl::words::{TextureExtra, Wrap};
use vc4::state::texture::{self, MipMode, TextureView};
use vc4_shaders::compile::TextureDecode;

use crate::device::Device;
use crate::error::Error;
use crate::image::ImageView;
use crate::memory::Binding;
use crate::object::Object;

/// maxLod at or below which the specification's note on emulating "no mipmaps" applies.
const NO_MIPS_LOD: f32 = 0.25;

/// A sampler in the texture unit's terms.
#[derive(Debug)]
pub struct Sampler {
    /// Filters and wrapping.
    pub unit: texture::Sampler,
    /// Most levels below a view's first that lookups reach.
    pub max_level: u32,
}

impl Object for Sampler {
    type Handle = vk::Sampler;
}

impl Sampler {
    /// Translates a sampler; refuses what neither the texture unit nor the compiler does.
    pub fn new(_: &Device, info: &vk::SamplerCreateInfo<'_>) -> Result<Sampler, Error> {
        refuse(info.compare_enable != vk::FALSE, "a comparing sampler", "compare in the shader")?;
        let pixels = info.unnormalized_coordinates != vk::FALSE;
        refuse(pixels, "a sampler with pixel coordinates", "divide by the size in the shader")?;
        refuse(info.min_lod > 0.0, "a sampler with minLod above 0", "use an image without those levels")?;
        refuse(info.mip_lod_bias != 0.0, "a sampler with mipLodBias", "add the bias in the shader")?;
        let [wrap_s, wrap_t] = [wrap(info.address_mode_u)?, wrap(info.address_mode_v)?];
        // Without a border colour from the shader the texture unit has 0 (textures.md §2).
        let border = wrap_s == Wrap::Border || wrap_t == Wrap::Border;
        let black = vk::BorderColor::FLOAT_TRANSPARENT_BLACK;
        let opaque =
            info.border_color != black && info.border_color != vk::BorderColor::INT_TRANSPARENT_BLACK;
        refuse(border && opaque, "a border that is not transparent black", "clamp in the shader")?;
        let mip = match info.mipmap_mode {
            _ if info.max_lod <= NO_MIPS_LOD => MipMode::None,
            vk::SamplerMipmapMode::LINEAR => MipMode::Linear,
            _ => MipMode::Nearest,
        };
        let unit = texture::Sampler {
            mag_linear: info.mag_filter == vk::Filter::LINEAR,
            min_linear: info.min_filter == vk::Filter::LINEAR,
            mip,
            wrap_s,
            wrap_t,
        };
        Ok(Sampler { unit, max_level: max_level(info.max_lod) })
    }
}

fn refuse(condition: bool, what: &str, instead: &'static str) -> Result<(), Error> {
    if condition { Err(Error::unsupported(what, instead)) } else { Ok(()) }
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

/// maxLod as a number of levels: the texture unit clamps to the last level it is told of, so a whole
/// maxLod is exact and a fraction reaches the next level.
fn max_level(max_lod: f32) -> u32 {
    match max_lod <= NO_MIPS_LOD {
        true => 0,
        // No image has more than 12 levels; NaN becomes the largest.
        false => max_lod.min(15.0).ceil() as u32,
    }
}

/// What a sampled image contributes to a draw.
#[derive(Clone, Debug)]
pub struct Texture {
    /// The image's memory.
    pub binding: Binding,
    /// Words p0 and p1; p0's base is the byte offset in the BO.
    pub words: [u32; 2],
    /// Word p2 with the automatic level, and p2 with an explicit one.
    pub extra: [u32; 2],
    /// Texels of the first level.
    pub extent: (u32, u32),
    /// How lookups become colours: the pipeline's draw-time key.
    pub decode: TextureDecode,
}

impl Texture {
    /// What `view` seen through `sampler` is for the texture unit.
    pub fn new(view: &ImageView, sampler: &Sampler) -> Result<Texture, Error> {
        let flat = matches!(view.ty, vk::ImageViewType::TYPE_1D | vk::ImageViewType::TYPE_2D);
        let cube = view.ty == vk::ImageViewType::CUBE;
        refuse(!flat && !cube, "sampling an array of images", "use one image per layer")?;
        let stencil = view.aspects == vk::ImageAspectFlags::STENCIL;
        refuse(stencil, "sampling stencil", "copy the stencil aspect to a buffer")?;
        let image = &view.image;
        let binding = image.binding()?;
        // Faces of a cube are known to its layout, other layers are layouts of their own.
        let faces = image.layout().shape.faces;
        let (face, layer) = if faces == 1 { (0, view.base_layer) } else { (view.base_layer, 0) };
        let offset = binding.offset + u64::from(layer) * image.layer_stride();
        let levels = view.levels.min(sampler.max_level + 1);
        let part = TextureView { base_level: view.base_level, levels, face, cube };
        let words = texture::texture_parameters(
            view.stored.texel.info(),
            image.layout(),
            offset as u32,
            &part,
            &sampler.unit,
        )
        .map_err(|error| Error::unsupported(error.to_string(), "see the limits"))?;
        let extra = |explicit_lod| match words.cube {
            Some(cube) => TextureExtra::Cube(vc4::cl::words::TextureCube { explicit_lod, ..cube }).bits(),
            None if explicit_lod => {
                TextureExtra::Cube(vc4::cl::words::TextureCube { explicit_lod, ..Default::default() }).bits()
            }
            None => TextureExtra::Unused.bits(),
        };
        Ok(Texture {
            binding: binding.clone(),
            words: words.words.bits(),
            extra: [extra(false), extra(true)],
            extent: view.extent(),
            decode: view.decode,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Image;
    use crate::memory::DeviceMemory;
    use crate::testing::device;
    use std::sync::Arc;

    fn info() -> vk::SamplerCreateInfo<'static> {
        vk::SamplerCreateInfo {
            mag_filter: vk::Filter::LINEAR,
            min_filter: vk::Filter::NEAREST,
            mipmap_mode: vk::SamplerMipmapMode::LINEAR,
            address_mode_u: vk::SamplerAddressMode::CLAMP_TO_EDGE,
            address_mode_v: vk::SamplerAddressMode::MIRRORED_REPEAT,
            max_lod: vk::LOD_CLAMP_NONE,
            ..Default::default()
        }
    }

    fn texture(sampler: &Sampler, offset: u64) -> Texture {
        let device = device();
        let extent = vk::Extent3D { width: 100, height: 60, depth: 1 };
        let info = vk::ImageCreateInfo {
            image_type: vk::ImageType::TYPE_2D,
            format: vk::Format::R8G8B8A8_UNORM,
            extent,
            mip_levels: 7,
            array_layers: 1,
            samples: vk::SampleCountFlags::TYPE_1,
            usage: vk::ImageUsageFlags::SAMPLED,
            ..Default::default()
        };
        let image = Arc::new(Image::new(&device, &info).unwrap());
        image.bind(&DeviceMemory::new(&device, 1 << 20, 0).unwrap(), offset).unwrap();
        let subresource_range = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            level_count: vk::REMAINING_MIP_LEVELS,
            layer_count: 1,
            ..Default::default()
        };
        let view_type = vk::ImageViewType::TYPE_2D;
        let info = vk::ImageViewCreateInfo {
            view_type,
            format: info.format,
            subresource_range,
            ..Default::default()
        };
        Texture::new(&ImageView::new(&image, &info).unwrap(), sampler).unwrap()
    }

    /// The fields of textures.md §2, put together by hand.
    #[test]
    fn words_hold_place_size_and_filters() {
        let sampler = Sampler::new(&device(), &info()).unwrap();
        let texture = texture(&sampler, 8192);
        assert_eq!(texture.words[0], (8192 + 12288) | 6);
        assert_eq!(texture.words[1], 60 << 20 | 100 << 8 | 3 << 4 | 2 << 2 | 1);
        assert_eq!(texture.extra, [0, 0x4000_0001]);
    }

    #[test]
    fn max_lod_limits_the_levels() {
        let levels = |max_lod| {
            let sampler = Sampler::new(&device(), &vk::SamplerCreateInfo { max_lod, ..info() }).unwrap();
            texture(&sampler, 0).words[0] & 15
        };
        assert_eq!([0.0, 0.25, 1.0, 1.5, 100.0].map(levels), [0, 0, 1, 2, 6]);
    }

    #[test]
    fn what_the_unit_cannot_do_is_refused() {
        let refused = [
            vk::SamplerCreateInfo { compare_enable: vk::TRUE, ..info() },
            vk::SamplerCreateInfo { min_lod: 1.0, ..info() },
            vk::SamplerCreateInfo { mip_lod_bias: 1.0, ..info() },
            vk::SamplerCreateInfo { unnormalized_coordinates: vk::TRUE, ..info() },
            vk::SamplerCreateInfo {
                address_mode_u: vk::SamplerAddressMode::CLAMP_TO_BORDER,
                border_color: vk::BorderColor::FLOAT_OPAQUE_WHITE,
                ..info()
            },
        ];
        for info in refused {
            let error = Sampler::new(&device(), &info).unwrap_err();
            assert_eq!(error.result(), vk::Result::ERROR_FEATURE_NOT_PRESENT);
        }
    }
}
