//! VkSampler.

use std::sync::Arc;

use ash::vk;
use vc4::cl::packets::CompareFunc;
use vc4::cl::words::Wrap;
use vc4::image::texel::Color;
use vc4::state::texture::{self, MipMode};

use crate::foundation::demands;
use crate::foundation::error::Error;
use crate::foundation::handle::Object;
use crate::foundation::terms::compare;
use crate::objects::conversion::SamplerConversion;
use crate::objects::device::Device;

/// Nearest levels below this are level 0.
const FIRST_LEVEL_LOD: f32 = 0.5;

/// A sampler that may take fewer samples of a footprint than this, rounded to 2, is like any other.
const FIRST_ANISOTROPY: f32 = 1.5;

/// The colour outside of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    /// 0 in all components.
    Transparent,
    /// 0, and 1 in alpha.
    Black,
    /// 1 in all components.
    White,
    /// Any, as bits of the numbers that images have (VK_EXT_custom_border_color).
    Custom(Color),
}

impl Border {
    fn new(color: vk::BorderColor) -> Border {
        match color {
            vk::BorderColor::FLOAT_OPAQUE_BLACK | vk::BorderColor::INT_OPAQUE_BLACK => Border::Black,
            vk::BorderColor::FLOAT_OPAQUE_WHITE | vk::BorderColor::INT_OPAQUE_WHITE => Border::White,
            vk::BorderColor::FLOAT_CUSTOM_EXT | vk::BorderColor::INT_CUSTOM_EXT => Border::Custom([0; 4]),
            _ => Border::Transparent,
        }
    }

    /// Red, green, blue and alpha for images whose 1 is this.
    pub fn color(self, one: u32) -> Color {
        match self {
            Border::Transparent => [0; 4],
            Border::Black => [0, 0, 0, one],
            Border::White => [one; 4],
            Border::Custom(color) => color,
        }
    }
}

/// A sampler in the texture unit's terms, and what programs add.
#[derive(Clone, Debug)]
pub struct Sampler {
    /// Filters and wrapping along the first two axes.
    pub unit: texture::Sampler,
    /// Wrapping along all axes.
    pub wrap: [Wrap; 3],
    /// Along which axes the image is mirrored at its origin before it wraps (VK_KHR_sampler_mirror_clamp_to_edge).
    pub mirror_once: [bool; 3],
    /// Faces of cubes end at their edges, where they wrap (VK_EXT_non_seamless_cube_map).
    pub seams: bool,
    /// Added to levels of detail.
    pub lod_bias: f32,
    /// Smallest level of detail.
    pub min_lod: f32,
    /// Largest level of detail.
    pub max_lod: f32,
    /// Comparison with the reference, if it compares.
    pub compare: Option<CompareFunc>,
    /// Colour outside of the image.
    pub border: Border,
    /// Coordinates count texels.
    pub unnormalized: bool,
    /// Samples that a footprint longer than wide is given at most, 1 or more.
    pub anisotropy: f32,
    /// What makes colours of the planes of images, and the sampler of the planes behind the first one.
    conversion: Option<(Arc<SamplerConversion>, Arc<Sampler>)>,
}

impl Object for Sampler {
    type Handle = vk::Sampler;
}

impl Sampler {
    /// Translates a sampler; refuses what features that are off would allow.
    pub fn new(_: &Device, info: &vk::SamplerCreateInfo<'_>) -> Result<Sampler, Error> {
        let modes = [info.address_mode_u, info.address_mode_v, info.address_mode_w];
        let wrap = [wrap(modes[0])?, wrap(modes[1])?, wrap(modes[2])?];
        let mip = match info.mipmap_mode {
            vk::SamplerMipmapMode::LINEAR => MipMode::Linear,
            // The specification's note on emulating "no mipmaps".
            _ if info.max_lod < FIRST_LEVEL_LOD => MipMode::None,
            _ => MipMode::Nearest,
        };
        let unit = texture::Sampler {
            mag_linear: info.mag_filter == vk::Filter::LINEAR,
            min_linear: info.min_filter == vk::Filter::LINEAR,
            mip,
            wrap_s: wrap[0],
            wrap_t: wrap[1],
        };
        Ok(Sampler {
            unit,
            wrap,
            mirror_once: modes.map(|mode| mode == vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE),
            seams: info.flags.contains(vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT),
            lod_bias: info.mip_lod_bias,
            min_lod: info.min_lod,
            max_lod: info.max_lod,
            compare: (info.compare_enable != vk::FALSE).then(|| compare(info.compare_op)).transpose()?,
            border: Border::new(info.border_color),
            unnormalized: info.unnormalized_coordinates != vk::FALSE,
            anisotropy: match info.anisotropy_enable {
                vk::FALSE => 1.0,
                // No number is none above 1.
                _ if info.max_anisotropy > 1.0 => info.max_anisotropy.min(demands::anisotropy()),
                _ => 1.0,
            },
            conversion: None,
        })
    }
}

impl Sampler {
    /// With that colour outside of images, if the sampler asks for one of its own.
    pub fn with_border(self, color: Color) -> Sampler {
        let border = match self.border {
            Border::Custom(_) => Border::Custom(color),
            named => named,
        };
        Sampler { border, ..self }
    }

    /// For images of several planes, whose first one it samples as it is.
    pub fn with_conversion(self, conversion: &Arc<SamplerConversion>) -> Sampler {
        let linear = conversion.chroma_linear;
        let unit = texture::Sampler { mag_linear: linear, min_linear: linear, ..self.unit };
        let chroma = Sampler { unit, ..self.clone() };
        Sampler { conversion: Some((conversion.clone(), Arc::new(chroma))), ..self }
    }

    /// What makes colours of planes.
    pub fn conversion(&self) -> Option<&SamplerConversion> {
        self.conversion.as_ref().map(|(conversion, _)| &**conversion)
    }

    /// Planes of the images that it is for; 1 of most samplers.
    pub fn planes(&self) -> u32 {
        self.conversion().map_or(1, SamplerConversion::planes)
    }

    /// What samples a plane.
    pub fn of_plane(self: &Arc<Sampler>, plane: u32) -> &Arc<Sampler> {
        match &self.conversion {
            Some((_, chroma)) if plane > 0 => chroma,
            _ => self,
        }
    }

    /// Whether any footprint is given more than one sample.
    pub fn is_anisotropic(&self) -> bool {
        self.anisotropy >= FIRST_ANISOTROPY && !self.unnormalized
    }
}

fn wrap(mode: vk::SamplerAddressMode) -> Result<Wrap, Error> {
    match mode {
        vk::SamplerAddressMode::REPEAT => Ok(Wrap::Repeat),
        vk::SamplerAddressMode::MIRRORED_REPEAT => Ok(Wrap::Mirror),
        // The program does the mirroring, with coordinates' magnitudes.
        vk::SamplerAddressMode::CLAMP_TO_EDGE | vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE => {
            Ok(Wrap::Clamp)
        }
        vk::SamplerAddressMode::CLAMP_TO_BORDER => Ok(Wrap::Border),
        _ => Err(Error::unsupported(format!("address mode {mode:?}"), "one of those of Vulkan 1.0")),
    }
}
