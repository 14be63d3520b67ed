//! VkSamplerYcbcrConversion.

use ash::vk;
use vc4::state::ycbcr::{ChromaLocation, ColorModel, ColorRange, Conversion};
use vc4_shaders::binding::Texture;
use vc4_shaders::state::{ChromaPlanes, TextureSwizzle, YcbcrKey};

use crate::foundation::error::Error;
use crate::foundation::format::{self, Plane};
use crate::foundation::handle::Object;

/// Bits of the components of all formats with planes.
const BITS: u8 = 8;

/// How images of a format with planes become colours.
#[derive(Clone, Copy, Debug)]
pub struct SamplerConversion {
    /// The planes of the format.
    planes: &'static [Plane],
    location: [ChromaLocation; 2],
    swizzle: [TextureSwizzle; 4],
    conversion: Conversion,
    /// Chroma is filtered linearly.
    pub chroma_linear: bool,
}

impl Object for SamplerConversion {
    type Handle = vk::SamplerYcbcrConversion;
}

impl SamplerConversion {
    /// Translates a conversion.
    ///
    /// # Errors
    /// The format has no planes, or a value is none of Vulkan 1.1's.
    pub fn new(info: &vk::SamplerYcbcrConversionCreateInfo<'_>) -> Result<SamplerConversion, Error> {
        let row = format::row(info.format).filter(|row| row.is_planar()).ok_or_else(|| {
            Error::unsupported(
                format!("a conversion of {:?}", info.format),
                "one of the formats of two or three planes of eight bits",
            )
        })?;
        Ok(SamplerConversion {
            planes: row.planes,
            location: [location(info.x_chroma_offset)?, location(info.y_chroma_offset)?],
            swizzle: format::swizzled([0, 1, 2, 3].map(TextureSwizzle::Component), &info.components),
            conversion: Conversion {
                model: model(info.ycbcr_model)?,
                range: range(info.ycbcr_range)?,
                bits: BITS,
            },
            chroma_linear: info.chroma_filter == vk::Filter::LINEAR,
        })
    }

    /// Planes of the images that it is for.
    pub fn planes(&self) -> u32 {
        self.planes.len() as u32
    }

    /// What of it becomes code; `plane` names the texture of a plane.
    pub fn key(&self, plane: impl Fn(u32) -> Texture) -> YcbcrKey {
        let halved = self.planes[1].halved;
        YcbcrKey {
            chroma: match self.planes.len() {
                2 => ChromaPlanes::Together(plane(1)),
                _ => ChromaPlanes::Apart { blue: plane(1), red: plane(2) },
            },
            location: [0, 1].map(|axis| halved[axis].then_some(self.location[axis])),
            swizzle: self.swizzle,
            conversion: self.conversion,
        }
    }
}

fn location(location: vk::ChromaLocation) -> Result<ChromaLocation, Error> {
    match location {
        vk::ChromaLocation::COSITED_EVEN => Ok(ChromaLocation::CositedEven),
        vk::ChromaLocation::MIDPOINT => Ok(ChromaLocation::Midpoint),
        other => Err(Error::InvalidUse(format!("chroma location {other:?}"))),
    }
}

fn model(model: vk::SamplerYcbcrModelConversion) -> Result<ColorModel, Error> {
    match model {
        vk::SamplerYcbcrModelConversion::RGB_IDENTITY => Ok(ColorModel::RgbIdentity),
        vk::SamplerYcbcrModelConversion::YCBCR_IDENTITY => Ok(ColorModel::YcbcrIdentity),
        vk::SamplerYcbcrModelConversion::YCBCR_709 => Ok(ColorModel::Bt709),
        vk::SamplerYcbcrModelConversion::YCBCR_601 => Ok(ColorModel::Bt601),
        vk::SamplerYcbcrModelConversion::YCBCR_2020 => Ok(ColorModel::Bt2020),
        other => Err(Error::InvalidUse(format!("colour model {other:?}"))),
    }
}

fn range(range: vk::SamplerYcbcrRange) -> Result<ColorRange, Error> {
    match range {
        vk::SamplerYcbcrRange::ITU_FULL => Ok(ColorRange::Full),
        vk::SamplerYcbcrRange::ITU_NARROW => Ok(ColorRange::Narrow),
        other => Err(Error::InvalidUse(format!("range {other:?}"))),
    }
}
