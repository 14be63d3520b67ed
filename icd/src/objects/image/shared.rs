//! Images that others see, too: they lie as a DRM format modifier says (VK_EXT_image_drm_format_modifier).

use ash::vk;
use vc4::hw::TEXTURE_MAX_PX;
use vc4::image::Tiling;
use vc4::image::tiling::Level;
use vc4_kernel_abi::uapi::{MODIFIER_LINEAR, MODIFIER_T_TILED};

use super::{ALIGNMENT, Image};
use crate::foundation::error::Error;
use crate::foundation::facts::target_px;
use crate::foundation::format::MODIFIERS;
use crate::objects::device::Device;
use crate::objects::placement::SURFACE_ALIGNMENT;

impl Image {
    /// An image that lies as one of the modifiers says, the best of those that are offered; with `planes`, as many as the format has,
    /// as others have laid it out.
    ///
    /// # Errors
    /// None is offered for such images, or others have laid it out as the machine cannot read it.
    pub fn shared(
        device: &Device,
        info: &vk::ImageCreateInfo<'_>,
        modifiers: &[u64],
        planes: Option<&[vk::SubresourceLayout]>,
    ) -> Result<Image, Error> {
        let best = MODIFIERS.into_iter().filter(|modifier| modifiers.contains(modifier));
        let mut refused =
            Error::FormatNotSupported(format!("{:?} images: none of the modifiers", info.format));
        for modifier in best {
            match Image::in_order(device, info, modifier == MODIFIER_LINEAR, Some(modifier)) {
                Ok(image) => {
                    let image = match (image.row.is_planar(), planes) {
                        (true, planes) => image.with_planes(device, info, Some(modifier), planes)?,
                        (false, Some([plane])) => image.laid_out(plane)?,
                        (false, _) => image,
                    };
                    return image.that_fits(device);
                }
                Err(error) => refused = error,
            }
        }
        Err(refused)
    }

    /// The image as others have laid it out: rows may be longer.
    pub(super) fn laid_out(mut self, plane: &vk::SubresourceLayout) -> Result<Image, Error> {
        let level = self.layout.levels[0];
        let (pitch, offset) = (plane.row_pitch, plane.offset);
        let wrong = |why: String| Err(Error::PlaneLayout(why));
        // The texture unit takes pages only, but reads no rows of smaller texels, which programs find anywhere.
        let first = if level.cpp < 4 { u64::from(SURFACE_ALIGNMENT) } else { ALIGNMENT };
        if offset % first != 0 {
            return wrong(format!("byte {offset} as the first; such images begin at multiples of {first}"));
        }
        let same = pitch == u64::from(level.stride);
        if !same && level.tiling != Tiling::Raster {
            return wrong(format!("{pitch} bytes a row of tiles, which has {}", level.stride));
        }
        let longest = u64::from(TEXTURE_MAX_PX.min(target_px()) * level.cpp);
        let unit = u64::from(SURFACE_ALIGNMENT);
        if !same && (pitch % unit != 0 || !(u64::from(level.stride)..=longest).contains(&pitch)) {
            let least = level.stride;
            return wrong(format!("rows of {pitch} bytes; multiples of {unit} from {least} to {longest}"));
        }
        let (stride, rows) = (pitch as u32, level.height);
        let size = if same { level.size } else { stride * rows };
        let end = offset.checked_add(size.into());
        if end.is_none_or(|end| end > u32::MAX.into()) {
            return wrong(format!("{size} bytes from byte {offset} on; memory has less than 4 GiB"));
        }
        let padded_width = if same { level.padded_width } else { stride / level.cpp };
        self.layout.levels[0] = Level { stride, size, padded_width, ..level };
        self.layout.size = size;
        self.layer_stride = u64::from(size).next_multiple_of(ALIGNMENT);
        self.plane_stride = self.layer_stride;
        self.skipped = offset;
        Ok(self)
    }

    /// What others call the way that it lies, if they have a name for it. Small tiled images lie in rows of utiles, which goes
    /// without saying.
    pub fn modifier(&self) -> u64 {
        match self.layout.shape.raster {
            true => MODIFIER_LINEAR,
            false => MODIFIER_T_TILED,
        }
    }
}
