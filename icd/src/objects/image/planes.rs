//! Images of several planes (VK_KHR_sampler_ycbcr_conversion): each is an image behind the others, in the same memory.

use std::sync::Arc;

use ash::vk;

use super::{ALIGNMENT, Image};
use crate::foundation::error::Error;
use crate::foundation::format::plane_of;
use crate::objects::device::Device;

impl Image {
    /// The image with its planes.
    pub(super) fn with_planes(
        mut self,
        device: &Device,
        info: &vk::ImageCreateInfo<'_>,
    ) -> Result<Image, Error> {
        let mut start = 0;
        for plane in self.row.planes {
            let info =
                vk::ImageCreateInfo { format: plane.format, extent: plane.extent(info.extent), ..*info };
            let image = Image::in_order(device, &info, false, None)?;
            let end = start + image.size();
            self.planes.push((start, Arc::new(image)));
            start = end.next_multiple_of(ALIGNMENT);
        }
        Ok(self)
    }

    /// The image that an aspect is: of several planes one of them, of any other image the whole.
    ///
    /// # Errors
    /// The aspect is a plane that there is not.
    pub fn aspect(self: &Arc<Image>, aspect: vk::ImageAspectFlags) -> Result<&Arc<Image>, Error> {
        let Some(number) = plane_of(aspect) else { return Ok(self) };
        let plane = self.planes.get(number).map(|(_, plane)| plane);
        plane.ok_or_else(|| {
            let format = self.row.format;
            Error::InvalidUse(format!("aspect {aspect:?} of an image of {format:?}"))
        })
    }

    /// The planes of an image that has several.
    pub fn planes(&self) -> impl Iterator<Item = &Arc<Image>> {
        self.planes.iter().map(|(_, plane)| plane)
    }
}
