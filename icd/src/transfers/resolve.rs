//! vkCmdResolveImage and the resolves of render passes that tiles cannot do.

use std::sync::Arc;

use ash::vk;
use vc4::image::Rect;
use vc4::image::layout::MSAA_SAMPLES;
use vc4::image::texel::TexelInfo;
use vc4::state::{ColorKind, PixelRect};

use super::texels::{Part, layers};
use crate::foundation::error::Error;
use crate::objects::device::Device;
use crate::objects::image::Image;
use crate::objects::image_view::ImageView;
use crate::segments::{CpuCommand, Touch};

/// Resolves parts of an image on the CPU.
pub struct Resolve {
    src: Arc<Image>,
    dst: Arc<Image>,
    /// Source and destination, of equal size.
    parts: Vec<(Part, Part)>,
}

impl Resolve {
    /// vkCmdResolveImage.
    ///
    /// # Errors
    /// The images are not a multisampled one and one of the same format with one sample, or a region leaves them.
    pub fn new(src: &Arc<Image>, dst: &Arc<Image>, regions: &[vk::ImageResolve]) -> Result<Resolve, Error> {
        let (from, to) = (src.row().format, dst.row().format);
        if src.samples() != MSAA_SAMPLES || dst.samples() != 1 || from != to {
            let (have, into) = (src.samples(), dst.samples());
            return Err(Error::InvalidUse(format!(
                "a resolve of {have} samples of {from:?} to {into} of {to:?}"
            )));
        }
        let mut parts = Vec::new();
        for region in regions {
            let (from, to) = (region.src_subresource, region.dst_subresource);
            let from_layers = layers(src, from.base_array_layer, from.layer_count);
            let to_layers = layers(dst, to.base_array_layer, to.layer_count);
            for (from_layer, to_layer) in from_layers.zip(to_layers) {
                parts.push((
                    Part::new(src, from.mip_level, from_layer, region.src_offset, region.extent)?,
                    Part::new(dst, to.mip_level, to_layer, region.dst_offset, region.extent)?,
                ));
            }
        }
        Ok(Resolve { src: src.clone(), dst: dst.clone(), parts })
    }

    /// A resolve attachment: `area` of some of the layers of two views.
    pub fn of_views(
        src: &ImageView,
        dst: &ImageView,
        area: PixelRect,
        layers: std::ops::Range<u32>,
    ) -> Resolve {
        let edge = |at: i32| at.max(0) as u32;
        let (x, y) = (edge(area.left), edge(area.top));
        let rect = Rect { x, y, width: edge(area.right) - x, height: edge(area.bottom) - y };
        let part =
            |view: &ImageView, layer| Part { level: view.base_level, slice: view.base_layer + layer, rect };
        let parts = layers.map(|layer| (part(src, layer), part(dst, layer))).collect();
        Resolve { src: src.image.clone(), dst: dst.image.clone(), parts }
    }
}

/// Whether the store of a tile can average samples of this view: unsigned fractions in bytes or RGB565. It knows
/// neither curves nor fields across bytes (v3d.md §10.5).
pub fn tiles_can_average(view: &ImageView) -> bool {
    let bytes = |encoding: vc4::state::Encoding| {
        let fields = encoding.fields.iter().flatten();
        encoding.kind == ColorKind::Unorm && fields.map(|field| field.width).all(|width| width == 8)
    };
    view.row.encoding().is_some_and(bytes)
}

impl CpuCommand for Resolve {
    fn describe(&self) -> String {
        format!("resolve {} parts of an image", self.parts.len())
    }

    fn touches(&self) -> Touch {
        Touch::memory([self.src.binding(), self.dst.binding()])
    }

    fn run(&self, _: &Arc<Device>) -> Result<(), Error> {
        let row = self.src.row();
        let info = row.info.ok_or_else(|| Error::InvalidUse(format!("a resolve of {:?}", row.format)))?;
        let bytes = row.bytes as usize;
        for (from, to) in &self.parts {
            let samples = from.read(&self.src, vk::ImageAspectFlags::COLOR)?;
            let pixels = samples.chunks_exact(bytes * MSAA_SAMPLES as usize);
            let mut texels = Vec::with_capacity(samples.len() / MSAA_SAMPLES as usize);
            for pixel in pixels {
                texels.extend_from_slice(&average(&info, pixel, bytes).to_le_bytes()[..bytes]);
            }
            to.write(&self.dst, vk::ImageAspectFlags::COLOR, &texels)?;
        }
        Ok(())
    }
}

/// The texel of a pixel's samples, `bytes` bytes each: their mean, of integers the first.
fn average(info: &TexelInfo, samples: &[u8], bytes: usize) -> u128 {
    let mut texels = samples.chunks_exact(bytes).map(|sample| info.load(sample));
    if info.is_integer() {
        return texels.next().unwrap_or(0);
    }
    let mut sum = [0.0; 4];
    for texel in texels {
        let color = info.decode(texel).map(f32::from_bits);
        sum.iter_mut().zip(color).for_each(|(sum, value)| *sum += value);
    }
    info.encode(sum.map(|sum| (sum / MSAA_SAMPLES as f32).to_bits()))
}
