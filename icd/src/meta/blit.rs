//! vkCmdBlitImage: scaled and mirrored copies of colours, on floats, as the specification's equations say
//! (Vulkan 1.0 §18.5).

use std::ops::Range;
use std::sync::Arc;

use ash::vk;
use vc4::image::Rect;

use super::color::ColorCodec;
use super::texels::{Part, layers};
use crate::device::Device;
use crate::error::Error;
use crate::image::Image;
use crate::segment::{CpuCommand, Touch};

/// vkCmdBlitImage.
pub struct Blit {
    src: Arc<Image>,
    dst: Arc<Image>,
    regions: Vec<vk::ImageBlit>,
    linear: bool,
    decode: ColorCodec,
    encode: ColorCodec,
}

impl Blit {
    /// A blit between colour images.
    pub fn new(
        src: &Arc<Image>,
        dst: &Arc<Image>,
        regions: &[vk::ImageBlit],
        filter: vk::Filter,
    ) -> Result<Blit, Error> {
        Ok(Blit {
            src: src.clone(),
            dst: dst.clone(),
            regions: regions.to_vec(),
            linear: filter == vk::Filter::LINEAR,
            decode: ColorCodec::new(src.row())?,
            encode: ColorCodec::new(dst.row())?,
        })
    }

    fn region(&self, region: &vk::ImageBlit) -> Result<(), Error> {
        let (from, to) = (region.src_subresource, region.dst_subresource);
        let from_layers = layers(&self.src, from.base_array_layer, from.layer_count);
        let to_layers = layers(&self.dst, to.base_array_layer, to.layer_count);
        for (from_layer, to_layer) in from_layers.zip(to_layers) {
            let source = Source::read(self, whole(&self.src, from.mip_level, from_layer)?)?;
            let columns = Axis::new(region.src_offsets.map(|o| o.x), region.dst_offsets.map(|o| o.x));
            let rows = Axis::new(region.src_offsets.map(|o| o.y), region.dst_offsets.map(|o| o.y));
            let (width, height) = self.dst.level_extent(to.mip_level.min(self.dst.levels() - 1));
            let (xs, ys) = (columns.pixels(width), rows.pixels(height));
            let mut texels = Vec::with_capacity(xs.len() * ys.len() * self.encode.bytes);
            for y in ys.clone() {
                for x in xs.clone() {
                    let color = source.sample(columns.source(x), rows.source(y), self.linear);
                    texels.extend_from_slice(&self.encode.encode(color).to_le_bytes()[..self.encode.bytes]);
                }
            }
            let rect = Rect { x: xs.start, y: ys.start, width: xs.len() as u32, height: ys.len() as u32 };
            Part { rect, ..whole(&self.dst, to.mip_level, to_layer)? }.write(&self.dst, &texels)?;
        }
        Ok(())
    }
}

fn whole(image: &Image, level: u32, layer: u32) -> Result<Part, Error> {
    let (width, height) = image.level_extent(level.min(image.levels() - 1));
    Part::new(image, level, layer, vk::Offset3D::default(), vk::Extent3D { width, height, depth: 1 })
}

/// The map from destination to source along one axis.
#[derive(Clone, Copy)]
struct Axis {
    src: [i32; 2],
    dst: [i32; 2],
}

impl Axis {
    fn new(src: [i32; 2], dst: [i32; 2]) -> Axis {
        Axis { src, dst }
    }

    /// Destination pixels below `edge`.
    fn pixels(&self, edge: u32) -> Range<u32> {
        let [a, b] = self.dst.map(|at| (at.max(0) as u32).min(edge));
        a.min(b)..a.max(b)
    }

    /// Source coordinate of a destination pixel's centre.
    fn source(&self, pixel: u32) -> f32 {
        let [src, dst] = [self.src, self.dst].map(|[from, to]| (f64::from(from), f64::from(to)));
        let scale = (src.1 - src.0) / (dst.1 - dst.0);
        (src.0 + (f64::from(pixel) + 0.5 - dst.0) * scale) as f32
    }
}

/// A level that is sampled, clamped to its edge.
struct Source {
    colors: Vec<[f32; 4]>,
    width: usize,
    height: usize,
}

impl Source {
    fn read(blit: &Blit, part: Part) -> Result<Source, Error> {
        let texels = part.read(&blit.src)?;
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
        let colors = texels.chunks_exact(blit.decode.bytes).map(|bytes| blit.decode.decode(word(bytes)));
        let (width, height) = (part.rect.width as usize, part.rect.height as usize);
        Ok(Source { colors: colors.collect(), width, height })
    }

    fn texel(&self, x: f32, y: f32) -> [f32; 4] {
        // Saturating conversion: far outside is the edge, too.
        let clamp = |at: f32, edge: usize| (at.floor().max(0.0) as usize).min(edge - 1);
        self.colors[clamp(y, self.height) * self.width + clamp(x, self.width)]
    }

    fn sample(&self, x: f32, y: f32, linear: bool) -> [f32; 4] {
        if !linear {
            return self.texel(x, y);
        }
        let (x, y) = (x - 0.5, y - 0.5);
        let (fx, fy) = (x - x.floor(), y - y.floor());
        let mix = |a: [f32; 4], b: [f32; 4], t: f32| std::array::from_fn(|n| a[n] + (b[n] - a[n]) * t);
        let row = |y: f32| mix(self.texel(x, y), self.texel(x + 1.0, y), fx);
        mix(row(y), row(y + 1.0), fy)
    }
}

impl CpuCommand for Blit {
    fn describe(&self) -> String {
        format!("blit {} regions", self.regions.len())
    }

    fn touches(&self) -> Touch {
        Touch::memory([self.src.binding(), self.dst.binding()])
    }

    fn run(&self, _: &Arc<Device>) -> Result<(), Error> {
        self.regions.iter().try_for_each(|region| self.region(region))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_scale_and_mirror() {
        let double = Axis::new([0, 4], [10, 18]);
        assert_eq!(double.pixels(16), 10..16);
        assert_eq!((double.source(10), double.source(17)), (0.25, 3.75));
        let mirror = Axis::new([0, 4], [4, 0]);
        assert_eq!((mirror.pixels(9), mirror.source(0), mirror.source(3)), (0..4, 3.5, 0.5));
    }

    #[test]
    fn samples_are_texels_or_mixtures() {
        let grey = |v: f32| [v; 4];
        let source = Source { colors: vec![grey(0.0), grey(1.0), grey(2.0), grey(3.0)], width: 2, height: 2 };
        assert_eq!(source.sample(0.9, 1.2, false), grey(2.0));
        assert_eq!(source.sample(1.0, 1.0, true), grey(1.5));
        assert_eq!(source.sample(-9.0, 0.5, true), grey(0.0));
        assert_eq!(source.sample(9.0, 9.0, true), grey(3.0));
    }
}
