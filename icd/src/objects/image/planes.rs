//! Images of several planes (VK_KHR_sampler_ycbcr_conversion): each is an image behind the others, in the same memory.

use std::sync::Arc;

use ash::vk;

use vc4_kernel_abi::uapi::MODIFIER_LINEAR;

use super::{ALIGNMENT, Image};
use crate::foundation::error::Error;
use crate::foundation::format::plane_of;
use crate::objects::device::Device;

impl Image {
    /// The image with its planes, in one memory; where they lie as a modifier says, perhaps as others have laid them out.
    pub(super) fn with_planes(
        mut self,
        device: &Device,
        info: &vk::ImageCreateInfo<'_>,
        modifier: Option<u64>,
        layouts: Option<&[vk::SubresourceLayout]>,
    ) -> Result<Image, Error> {
        let raster = modifier == Some(MODIFIER_LINEAR) || info.tiling == vk::ImageTiling::LINEAR;
        let mut start = 0;
        for (number, plane) in self.row.planes.iter().enumerate() {
            let info =
                vk::ImageCreateInfo { format: plane.format, extent: plane.extent(info.extent), ..*info };
            let mut image = Image::in_order(device, &info, raster, modifier)?;
            if let Some(layout) = layouts.and_then(|layouts| layouts.get(number)) {
                image = image.laid_out(layout)?;
                start = std::mem::take(&mut image.skipped);
            }
            let end = start + image.size();
            self.planes.push((start, Arc::new(image)));
            start = end.next_multiple_of(ALIGNMENT);
        }
        Ok(self)
    }

    /// Where a plane lies in memory.
    pub(super) fn plane_layout(&self, number: usize) -> vk::SubresourceLayout {
        let Some((start, plane)) = self.planes.get(number) else { return vk::SubresourceLayout::default() };
        let layout = plane.layout_of(0, 0);
        vk::SubresourceLayout { offset: start + layout.offset, ..layout }
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
