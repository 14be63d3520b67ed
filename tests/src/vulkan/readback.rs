//! Pictures of colour images: copied to a buffer, and as four bytes a pixel.

use ash::vk;
use vc4::image::TexelInfo;
use vc4::state::ColorKind;

use super::buffer::Buffer;
use super::error::Error;
use super::image::{Target, whole};
use super::lab::Lab;
use crate::format::texel_info;
use crate::picture::Picture;

/// A buffer for the texels of a colour image.
pub(crate) struct Readback {
    buffer: Buffer,
    texel: TexelInfo,
    size: [u32; 2],
}

impl Readback {
    /// For an image of this size and format.
    pub(crate) fn new(lab: &Lab<'_>, format: vk::Format, size: [u32; 2]) -> Result<Readback, Error> {
        let texel = texel_info(format).unwrap_or_else(|| panic!("scenes draw to colours, not to {format:?}"));
        let bytes = vec![0; (size[0] * size[1] * texel.bytes) as usize];
        let buffer = lab.mapped(&bytes, vk::BufferUsageFlags::TRANSFER_DST)?;
        Ok(Readback { buffer, texel, size })
    }

    /// Copies the image, which is in layout TRANSFER_SRC_OPTIMAL or GENERAL.
    pub(crate) fn record(&self, lab: &Lab<'_>, commands: vk::CommandBuffer, image: vk::Image) {
        let barrier = [vk::BufferMemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ)
            .buffer(self.buffer.buffer)
            .size(vk::WHOLE_SIZE)];
        let (transfer, host) = (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::HOST);
        let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        let none = vk::DependencyFlags::empty();
        let regions = [whole(self.size)];
        // SAFETY: image and buffer live as long as the lab; the image has the size of the region.
        unsafe {
            lab.device.cmd_copy_image_to_buffer(commands, image, layout, self.buffer.buffer, &regions);
            lab.device.cmd_pipeline_barrier(commands, transfer, host, none, &[], &barrier, &[]);
        }
    }

    /// What was copied.
    pub(crate) fn picture(&self, lab: &Lab<'_>) -> Result<Picture, Error> {
        let [width, height] = self.size;
        let texels = lab.contents(&self.buffer, (width * height * self.texel.bytes) as usize)?;
        Ok(Picture { width, height, rgba: displayed(self.texel, &texels) })
    }
}

impl Lab<'_> {
    /// A colour target's picture; it is in layout GENERAL.
    pub fn picture(&self, target: &Target) -> Result<Picture, Error> {
        let readback = Readback::new(self, target.format, target.size)?;
        self.run(|commands| readback.record(self, commands, target.image))?;
        readback.picture(self)
    }
}

/// Texels of a colour attachment as four bytes each; encoded colours stay encoded.
fn displayed(mut info: TexelInfo, texels: &[u8]) -> Vec<u8> {
    if info.kind == ColorKind::Srgb {
        info.kind = ColorKind::Unorm;
    }
    let byte = |component: u32| (f32::from_bits(component).clamp(0.0, 1.0) * 255.0).round() as u8;
    texels
        .chunks_exact(info.bytes as usize)
        .flat_map(|texel| info.decode(info.load(texel)).map(byte))
        .collect()
}
