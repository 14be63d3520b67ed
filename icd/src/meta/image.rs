//! vkCmdCopyImage: words from image to image.

use std::sync::Arc;

use ash::vk;

use super::texels::{Part, layers, merge};
use crate::device::Device;
use crate::error::Error;
use crate::format::Storage;
use crate::image::Image;
use crate::segment::{CpuCommand, Touch};

/// vkCmdCopyImage.
pub struct CopyImage {
    src: Arc<Image>,
    dst: Arc<Image>,
    regions: Vec<vk::ImageCopy>,
}

impl CopyImage {
    /// Copies between images of compatible formats: texels of equal size, depth only to the same format.
    pub fn new(src: &Arc<Image>, dst: &Arc<Image>, regions: &[vk::ImageCopy]) -> Result<CopyImage, Error> {
        let (from, to) = (src.row(), dst.row());
        let plain = from.storage == Storage::Plain && to.storage == Storage::Plain;
        let compatible = if plain { from.bytes == to.bytes } else { from.format == to.format };
        if !compatible {
            return Err(Error::InvalidUse(format!("a copy from {:?} to {:?}", from.format, to.format)));
        }
        Ok(CopyImage { src: src.clone(), dst: dst.clone(), regions: regions.to_vec() })
    }
}

impl CpuCommand for CopyImage {
    fn describe(&self) -> String {
        format!("copy {} regions from image to image", self.regions.len())
    }

    fn touches(&self) -> Touch {
        Touch::memory([self.src.binding(), self.dst.binding()])
    }

    fn run(&self, _: &Arc<Device>) -> Result<(), Error> {
        for region in &self.regions {
            let (from, to) = (region.src_subresource, region.dst_subresource);
            let from_layers = layers(&self.src, from.base_array_layer, from.layer_count);
            let to_layers = layers(&self.dst, to.base_array_layer, to.layer_count);
            for (from_layer, to_layer) in from_layers.zip(to_layers) {
                let src = Part::new(&self.src, from.mip_level, from_layer, region.src_offset, region.extent)?;
                let dst = Part::new(&self.dst, to.mip_level, to_layer, region.dst_offset, region.extent)?;
                // All is read before anything is written, so an image may be copied within itself.
                let mut texels = src.read(&self.src)?;
                if from.aspect_mask != self.src.row().aspects() {
                    let mask = if from.aspect_mask == vk::ImageAspectFlags::STENCIL { 0xff } else { !0xff };
                    let mut old = dst.read(&self.dst)?;
                    merge(&mut old, &texels, mask);
                    texels = old;
                }
                dst.write(&self.dst, &texels)?;
            }
        }
        Ok(())
    }
}
