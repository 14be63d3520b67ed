//! vkCmdCopyImage: texels and blocks from image to image, bit by bit.

use std::sync::Arc;

use ash::vk;

use super::by_buffer;
use super::conversion::Conversion;
use super::drawn::{self, Work};
use super::folds;
use super::planes;
use super::samples::{Becomes, samples};
use super::scaled::{self, Slice, Span, Way};
use super::texels::{Part, each, slices};
use super::tiles;
use super::worth;
use crate::foundation::error::Error;
use crate::foundation::traffic::Cause;
use crate::objects::device::Device;
use crate::objects::image::Image;
use crate::pipeline::Rectangles;
use crate::segments::{CpuCommand, Drawing, RenderSegment, Segments, Touch};

/// vkCmdCopyImage.
pub struct CopyImage {
    src: Arc<Image>,
    dst: Arc<Image>,
    regions: Vec<vk::ImageCopy>,
}

impl CopyImage {
    /// The copies of regions, which may name planes.
    pub fn by_planes(
        src: &Arc<Image>,
        dst: &Arc<Image>,
        regions: &[vk::ImageCopy],
    ) -> Result<Vec<CopyImage>, Error> {
        let (dst, regions) = folds::unfolded(
            dst,
            regions,
            |region| (region.dst_offset, region.extent),
            |region, skipped, dst_offset, extent| vk::ImageCopy {
                src_offset: folds::moved(region.src_offset, skipped),
                dst_offset,
                extent,
                ..*region
            },
        )?;
        let src = src.as_source()?;
        let groups = planes::grouped(regions, |region| {
            Ok([
                planes::resolve(src, &mut region.src_subresource)?,
                planes::resolve(&dst, &mut region.dst_subresource)?,
            ])
        })?;
        groups.into_iter().map(|([src, dst], regions)| CopyImage::new(&src, &dst, &regions)).collect()
    }

    /// Copies between images of compatible formats: texels or blocks of equal size, depth only to the same format.
    pub fn new(src: &Arc<Image>, dst: &Arc<Image>, regions: &[vk::ImageCopy]) -> Result<CopyImage, Error> {
        let (from, to) = (src.row(), dst.row());
        let colors = [from, to].iter().all(|row| row.aspects() == vk::ImageAspectFlags::COLOR);
        let compatible = if colors { from.bytes == to.bytes } else { from.format == to.format };
        if !compatible {
            return Err(Error::InvalidUse(format!("a copy from {:?} to {:?}", from.format, to.format)));
        }
        Ok(CopyImage { src: src.clone(), dst: dst.clone(), regions: regions.to_vec() })
    }
}

impl CopyImage {
    /// What the tile buffer copies, taken out of it.
    pub fn by_tiles(&mut self) -> Segments {
        let mut segments = Segments::new();
        self.regions.retain(|region| {
            let jobs = tiles::copy(&self.src, &self.dst, region);
            let stays = jobs.is_none();
            segments.extend(jobs.into_iter().flatten());
            stays
        });
        segments
    }

    /// Whether nothing is left to do.
    pub fn is_empty(&self) -> bool {
        self.regions.is_empty()
    }
}

impl CpuCommand for CopyImage {
    fn describe(&self) -> String {
        let (src, dst) = (self.src.name(), self.dst.name());
        format!("copy {} regions from image{src} to image{dst}", self.regions.len())
    }

    fn touches(&self) -> Touch {
        Touch::memory([self.src.binding(), self.dst.binding()])
    }

    fn may_be_drawn(&self) -> bool {
        true
    }

    fn drawing(&self, rectangles: &mut Rectangles) -> Result<Option<Drawing>, Error> {
        let (renders, left) =
            drawn::parts(self, self.regions.clone(), |region| self.drawn(region, rectangles).map(Work::all));
        let rest = (!left.is_empty()).then(|| -> Box<dyn CpuCommand> {
            Box::new(CopyImage { src: self.src.clone(), dst: self.dst.clone(), regions: left })
        });
        Ok(drawn::drawing(renders, rest))
    }

    fn run(&self, _: &Arc<Device>) -> Result<(), Error> {
        self.regions.iter().try_for_each(|region| self.region(region))
    }
}

impl CopyImage {
    /// The jobs of a region, or why it is the CPU's.
    fn drawn(
        &self,
        region: &vk::ImageCopy,
        rectangles: &mut Rectangles,
    ) -> Result<Vec<RenderSegment>, String> {
        let texels = u64::from(region.extent.width) * u64::from(region.extent.height);
        worth::pays(texels * u64::from(self.src.row().bytes * self.src.samples()))?;
        if self.dst.samples() > 1 {
            return self.samples_moved(region, rectangles);
        }
        let moved = self.slices(region, |from, to| self.moved(from, to, region, rectangles));
        if moved.is_ok() {
            return moved;
        }
        let mut jobs = Vec::new();
        self.slices(region, |from, to| {
            for aspect in each(region.src_subresource.aspect_mask) {
                jobs.extend(by_buffer::copy((&self.src, from), (&self.dst, to), aspect, rectangles)?);
            }
            Ok(())
        })?;
        Ok(jobs)
    }

    /// The jobs of a region whose pixels have several samples.
    fn samples_moved(
        &self,
        region: &vk::ImageCopy,
        rectangles: &mut Rectangles,
    ) -> Result<Vec<RenderSegment>, String> {
        let bits = |aspect| Conversion::new(self.dst.row(), self.dst.stored().storage, aspect).mask();
        let mask = each(region.src_subresource.aspect_mask).map(bits).fold(0, |all, bits| all | bits);
        let jobs = self.slices(region, |from, to| {
            samples((&self.dst, to), Becomes::Moved((&self.src, from)), mask, rectangles)
        })?;
        Ok(jobs.into_iter().flatten().collect())
    }

    /// Does something with every slice's parts of source and destination.
    fn slices<R>(
        &self,
        region: &vk::ImageCopy,
        mut job: impl FnMut(Part, Part) -> Result<R, String>,
    ) -> Result<Vec<R>, String> {
        let (from, to, extent) = (region.src_subresource, region.dst_subresource, region.extent);
        let slices =
            |image, layers, z| slices(image, layers, z, extent.depth).map_err(|error| error.to_string());
        let part = |image, level, slice, offset, extent| {
            Part::new(image, level, slice, offset, extent).map_err(|error| error.to_string())
        };
        let to_extent = self.to_extent(extent);
        let from_slices = slices(&self.src, &from, region.src_offset.z)?;
        let to_slices = slices(&self.dst, &to, region.dst_offset.z)?;
        let each = |(from_slice, to_slice)| {
            job(
                part(&self.src, from.mip_level, from_slice, region.src_offset, extent)?,
                part(&self.dst, to.mip_level, to_slice, region.dst_offset, to_extent)?,
            )
        };
        from_slices.zip(to_slices).map(each).collect()
    }

    /// The job that moves the words of a part.
    fn moved(
        &self,
        from: Part,
        to: Part,
        region: &vk::ImageCopy,
        rectangles: &mut Rectangles,
    ) -> Result<RenderSegment, String> {
        if !region.src_subresource.aspect_mask.contains(self.src.row().aspects()) {
            return Err("it copies one aspect of two".into());
        }
        let span = |from: u32, to: u32, count: u32| Span {
            pixels: to..to + count,
            first: f64::from(from) - f64::from(to) + 0.5,
            scale: 1.0,
        };
        let (source, target) = (from.rect, to.rect);
        let spans = [span(source.x, target.x, target.width), span(source.y, target.y, target.height)];
        let from = Slice { image: &self.src, level: from.level, layer: from.slice };
        let to = Slice { image: &self.dst, level: to.level, layer: to.slice };
        scaled::scale(from, to, &spans, Way::Move, None, rectangles)
    }

    /// What a region's extent, which counts texels of the source, is in the destination: elements become elements.
    fn to_extent(&self, extent: vk::Extent3D) -> vk::Extent3D {
        let (from_block, to_block) = (self.src.row().block(), self.dst.row().block());
        let scaled = |count: u32| count.div_ceil(from_block).saturating_mul(to_block);
        vk::Extent3D { width: scaled(extent.width), height: scaled(extent.height), depth: extent.depth }
    }

    fn region(&self, region: &vk::ImageCopy) -> Result<(), Error> {
        let (from, to, extent) = (region.src_subresource, region.dst_subresource, region.extent);
        let to_extent = self.to_extent(extent);
        // A volume's slices may be another image's layers.
        let from_slices = slices(&self.src, &from, region.src_offset.z, extent.depth)?;
        let to_slices = slices(&self.dst, &to, region.dst_offset.z, extent.depth)?;
        for (from_slice, to_slice) in from_slices.zip(to_slices) {
            let src = Part::new(&self.src, from.mip_level, from_slice, region.src_offset, extent)?;
            let dst = Part::new(&self.dst, to.mip_level, to_slice, region.dst_offset, to_extent)?;
            for aspect in each(from.aspect_mask) {
                // All is read before anything is written, so an image may be copied within itself.
                let texels = src.read(&self.src, aspect, Cause::Copy)?;
                dst.write(&self.dst, aspect, &texels, Cause::Copy)?;
            }
        }
        Ok(())
    }
}
