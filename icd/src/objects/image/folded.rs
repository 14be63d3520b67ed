//! Images that are folded into a texture, which is an image of its own in the same memory.

use std::sync::Arc;

use ash::vk;
use vc4::hw::TEXTURE_MAX_PX;

use super::{Image, is_cube};
use crate::foundation::error::Error;
use crate::foundation::facts::target_px;
use crate::objects::device::Device;
use crate::objects::fold::Fold;

impl Image {
    /// The image with the texture that it is folded into, where that serves: programs only sample it, and it is longer
    /// than textures are.
    pub(super) fn folded_if_long(
        mut self,
        device: &Device,
        info: &vk::ImageCreateInfo<'_>,
    ) -> Result<Image, Error> {
        // Whoever reads or draws to texels finds them in rows, and so does everyone else with the memory.
        let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
        let only_sampled = info.usage.contains(vk::ImageUsageFlags::SAMPLED) && usage.contains(info.usage);
        let plain = info.image_type == vk::ImageType::TYPE_2D
            && info.tiling == vk::ImageTiling::OPTIMAL
            && info.samples == vk::SampleCountFlags::TYPE_1
            && (info.mip_levels, info.array_layers) == (1, 1)
            && !is_cube(info)
            && vk::ImageCreateFlags::MUTABLE_FORMAT.contains(info.flags);
        let colors = self.row.aspects() == vk::ImageAspectFlags::COLOR && self.row.block() == 1;
        let most = TEXTURE_MAX_PX.min(target_px());
        let fold = Fold::new([info.extent.width, info.extent.height], most);
        let Some(fold) = fold.filter(|_| only_sampled && plain && colors) else { return Ok(self) };
        let [width, height] = fold.texture();
        let extent = vk::Extent3D { width, height, depth: 1 };
        let texture = Image::in_order(device, &vk::ImageCreateInfo { extent, ..*info }, false, None)?;
        if !texture.layout.shape.raster {
            self.folded = Some((fold, Arc::new(texture)));
        }
        Ok(self)
    }

    /// What holds the texels, and how it is folded into that if it is another image.
    pub fn unfolded(self: &Arc<Image>) -> (&Arc<Image>, Option<Fold>) {
        match &self.folded {
            Some((fold, texture)) => (texture, Some(*fold)),
            None => (self, None),
        }
    }

    /// The image, which commands read.
    ///
    /// # Errors
    /// It was made for no such command.
    pub fn as_source(self: &Arc<Image>) -> Result<&Arc<Image>, Error> {
        match self.folded {
            Some(_) => Err(Error::InvalidUse("an image read without usage TRANSFER_SRC".into())),
            None => Ok(self),
        }
    }
}
