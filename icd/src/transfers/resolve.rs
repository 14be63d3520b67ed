//! vkCmdResolveImage and the resolves of render passes that tiles cannot do: programs average colours, and choose depth and
//! stencil among samples.

use std::sync::Arc;

use ash::vk;
use vc4::image::Rect;
use vc4::image::layout::MSAA_SAMPLES;
use vc4::image::texel::TexelInfo;
use vc4::state::{ColorKind, PixelRect};

use super::conversion::Conversion;
use super::drawn::{self, Work};
use super::folds;
use super::programs::{self, COLUMN_AT, Choice, ROW_AT};
use super::texels::{Part, layers};
use super::words::Words;
use super::worth;
use crate::foundation::error::Error;
use crate::foundation::traffic::Cause;
use crate::objects::descriptor::Descriptor;
use crate::objects::device::Device;
use crate::objects::image::Image;
use crate::objects::image_view::ImageView;
use crate::pipeline::Rectangles;
use crate::segments::{CpuCommand, Drawing, Rectangle, RenderSegment, Touch};

/// Resolves parts of an image.
pub struct Resolve {
    src: Arc<Image>,
    dst: Arc<Image>,
    /// Source and destination, of equal size.
    parts: Vec<(Part, Part)>,
    /// What is resolved, and how.
    aspects: Vec<(vk::ImageAspectFlags, vk::ResolveModeFlags)>,
}

impl Resolve {
    /// vkCmdResolveImage.
    ///
    /// # Errors
    /// The images are not a multisampled one and one of the same format with one sample, or a region leaves them.
    pub fn new(src: &Arc<Image>, dst: &Arc<Image>, regions: &[vk::ImageResolve]) -> Result<Resolve, Error> {
        let (dst, regions) = folds::unfolded(
            dst,
            regions,
            |region| (region.dst_offset, region.extent),
            |region, skipped, dst_offset, extent| vk::ImageResolve {
                src_offset: folds::moved(region.src_offset, skipped),
                dst_offset,
                extent,
                ..*region
            },
        )?;
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
            let to_layers = layers(&dst, to.base_array_layer, to.layer_count);
            for (from_layer, to_layer) in from_layers.zip(to_layers) {
                parts.push((
                    Part::new(src, from.mip_level, from_layer, region.src_offset, region.extent)?,
                    Part::new(&dst, to.mip_level, to_layer, region.dst_offset, region.extent)?,
                ));
            }
        }
        Ok(Resolve { src: src.clone(), dst, parts, aspects: vec![COLOR] })
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
        Resolve { src: src.image.clone(), dst: dst.image.clone(), parts, aspects: vec![COLOR] }
    }

    /// As [`Resolve::of_views`], of depth and stencil, each in a way of its own; without one it stays as it was.
    pub fn of_depth_stencil_views(
        src: &ImageView,
        dst: &ImageView,
        area: PixelRect,
        layers: std::ops::Range<u32>,
        [depth, stencil]: [vk::ResolveModeFlags; 2],
    ) -> Resolve {
        let ways = [(vk::ImageAspectFlags::DEPTH, depth), (vk::ImageAspectFlags::STENCIL, stencil)];
        let both = src.row.aspects() & dst.row.aspects();
        let does = |(aspect, way): &(_, vk::ResolveModeFlags)| both.contains(*aspect) && !way.is_empty();
        let aspects = ways.into_iter().filter(does).collect();
        Resolve { aspects, ..Resolve::of_views(src, dst, area, layers) }
    }
}

/// Colours, whose way is a matter of their format.
const COLOR: (vk::ImageAspectFlags, vk::ResolveModeFlags) =
    (vk::ImageAspectFlags::COLOR, vk::ResolveModeFlags::AVERAGE);

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
        let (src, dst) = (self.src.name(), self.dst.name());
        format!("resolve {} parts of image{src} to image{dst}", self.parts.len())
    }

    fn touches(&self) -> Touch {
        Touch::memory([self.src.binding(), self.dst.binding()])
    }

    fn may_be_drawn(&self) -> bool {
        true
    }

    fn drawing(&self, rectangles: &mut Rectangles) -> Result<Option<Drawing>, Error> {
        let (renders, left) =
            drawn::parts(self, self.parts.clone(), |part| self.drawn(part, rectangles).map(Work::all));
        let rest = (!left.is_empty()).then(|| -> Box<dyn CpuCommand> {
            let (src, dst, aspects) = (self.src.clone(), self.dst.clone(), self.aspects.clone());
            Box::new(Resolve { src, dst, parts: left, aspects })
        });
        Ok(drawn::drawing(renders, rest))
    }

    fn run(&self, _: &Arc<Device>) -> Result<(), Error> {
        if (self.src.samples(), self.dst.samples()) != (MSAA_SAMPLES, 1) {
            let (have, into) = (self.src.samples(), self.dst.samples());
            return Err(Error::InvalidUse(format!("a resolve of {have} samples to {into}")));
        }
        for &(aspect, mode) in &self.aspects {
            for (from, to) in &self.parts {
                match aspect {
                    vk::ImageAspectFlags::COLOR => self.average(from, to)?,
                    _ => self.choose(from, to, aspect, mode)?,
                }
            }
        }
        Ok(())
    }
}

impl Resolve {
    /// The jobs of a part, or why it is the CPU's.
    fn drawn(
        &self,
        (from, to): &(Part, Part),
        rectangles: &mut Rectangles,
    ) -> Result<Vec<RenderSegment>, String> {
        let texels = u64::from(to.rect.width) * u64::from(to.rect.height);
        worth::pays(texels * u64::from(self.dst.row().bytes * MSAA_SAMPLES))?;
        if self.src.samples() != MSAA_SAMPLES {
            return Err(format!("its source has {} samples", self.src.samples()));
        }
        let job = |&(aspect, mode)| match aspect {
            vk::ImageAspectFlags::COLOR => self.averaged(from, to, rectangles),
            _ => self.chosen(from, to, aspect, mode, rectangles),
        };
        self.aspects.iter().map(job).collect()
    }

    /// The job of a part of colours.
    fn averaged(&self, from: &Part, to: &Part, rectangles: &mut Rectangles) -> Result<RenderSegment, String> {
        let (src, dst, row) = (&self.src, &self.dst, self.dst.row());
        let source = ImageView::flat(src.clone(), src.row(), src.stored(), from.level, from.slice);
        let target = ImageView::flat(dst.clone(), row, dst.stored(), to.level, to.slice);
        let (area, keeps) = drawn::area(&to.rect, &target)?;
        let is_integer = row.info.is_none_or(|info| info.is_integer());
        let task = ("resolved", is_integer.into());
        let pipeline = rectangles.pipeline(task, row.format, || programs::resolved(is_integer))?;
        let descriptor = Descriptor::Image { view: Some(Arc::new(source)), sampler: None };
        let set = drawn::set(programs::IMAGE, vk::DescriptorType::SAMPLED_IMAGE, descriptor)?;
        let rectangle = Rectangle { view: Arc::new(target), area, keeps };
        Ok(rectangle.segment(
            &pipeline,
            |number| (number == 0).then_some((&set, &[][..])),
            &further_on(from, to),
        ))
    }

    /// The job of a part of one aspect.
    fn chosen(
        &self,
        from: &Part,
        to: &Part,
        aspect: vk::ImageAspectFlags,
        mode: vk::ResolveModeFlags,
        rectangles: &mut Rectangles,
    ) -> Result<RenderSegment, String> {
        let (choice, is_stencil) = (choice(mode)?, aspect == vk::ImageAspectFlags::STENCIL);
        let stays = !Conversion::new(self.dst.row(), self.dst.stored().storage, aspect).mask();
        let words = Words::new(&self.dst, to.level, to.slice, 0).ok_or("tiles do not reach all of it")?;
        let (area, keeps) = words.area(to.rect).ok_or("it is empty")?;
        let source = drawn::words_of(&self.src, from, programs::IMAGE)?;
        let number = choice as u32 | u32::from(is_stencil) << 8 | programs::kind_of(stays) << 9;
        let format = words.view.row.format;
        let pipeline = rectangles
            .pipeline(("chosen", number), format, || programs::chosen(choice, is_stencil, stays))?;
        let rectangle = Rectangle { view: words.view, area, keeps: keeps || stays != 0 };
        Ok(rectangle.segment(
            &pipeline,
            |number| (number == 0).then_some((&source, &[][..])),
            &further_on(from, to),
        ))
    }

    /// Averages the colours of a part.
    fn average(&self, from: &Part, to: &Part) -> Result<(), Error> {
        let row = self.src.row();
        let unknown = || Error::InvalidUse(format!("a resolve of {:?}", row.format));
        let (info, bytes) = (row.info.ok_or_else(unknown)?, row.bytes as usize);
        let samples = from.read(&self.src, vk::ImageAspectFlags::COLOR, Cause::Resolve)?;
        let mut texels = Vec::with_capacity(samples.len() / MSAA_SAMPLES as usize);
        for samples in samples.chunks_exact(bytes * MSAA_SAMPLES as usize) {
            let texel = average(&info, samples.chunks_exact(bytes));
            texels.extend_from_slice(&texel.to_le_bytes()[..bytes]);
        }
        to.write(&self.dst, vk::ImageAspectFlags::COLOR, &texels, Cause::Resolve)
    }

    /// Chooses depth or stencil of a part, in the form that images hold them.
    fn choose(
        &self,
        from: &Part,
        to: &Part,
        aspect: vk::ImageAspectFlags,
        mode: vk::ResolveModeFlags,
    ) -> Result<(), Error> {
        let choice = choice(mode).map_err(Error::InvalidUse)?;
        let samples = from.read_words(&self.src, Cause::Resolve)?;
        let mut words = Vec::with_capacity(samples.len() / MSAA_SAMPLES as usize);
        for pixel in samples.chunks_exact(4 * MSAA_SAMPLES as usize) {
            let mut samples = [0; MSAA_SAMPLES as usize];
            for (sample, word) in samples.iter_mut().zip(pixel.chunks_exact(4)) {
                *sample = word.first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
            }
            let word = match aspect {
                vk::ImageAspectFlags::STENCIL => choice.of(samples.map(|word| word & 0xff)),
                _ => choice.of(samples.map(|word| word >> 8)) << 8,
            };
            words.extend_from_slice(&word.to_le_bytes());
        }
        let mask = Conversion::new(self.dst.row(), self.dst.stored().storage, aspect).mask();
        to.write_words(&self.dst, &words, mask, Cause::Resolve)
    }
}

/// Push constants: how far the source's texels are from the destination's.
fn further_on(from: &Part, to: &Part) -> [u32; 2] {
    let mut push = [0; 2];
    push[(COLUMN_AT / 4) as usize] = from.rect.x.wrapping_sub(to.rect.x);
    push[(ROW_AT / 4) as usize] = from.rect.y.wrapping_sub(to.rect.y);
    push
}

fn choice(mode: vk::ResolveModeFlags) -> Result<Choice, String> {
    match mode {
        vk::ResolveModeFlags::SAMPLE_ZERO => Ok(Choice::First),
        vk::ResolveModeFlags::MIN => Ok(Choice::Min),
        vk::ResolveModeFlags::MAX => Ok(Choice::Max),
        vk::ResolveModeFlags::AVERAGE => Ok(Choice::Mean),
        _ => Err(format!("a resolve by {mode:?}")),
    }
}

/// The texel of a pixel's samples: their mean, of integers the first.
fn average<'a>(info: &TexelInfo, samples: impl Iterator<Item = &'a [u8]>) -> u128 {
    let mut texels = samples.map(|sample| info.load(sample));
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
