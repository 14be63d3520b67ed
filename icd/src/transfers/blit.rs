//! vkCmdBlitImage: scaled and mirrored copies with conversion, as the specification's equations say
//! (Vulkan 1.0 §18.5).

use std::ops::Range;
use std::sync::Arc;

use ash::vk;
use vc4::image::Rect;
use vc4::image::texel::{Color, TexelInfo};

use super::by_buffer;
use super::drawn::{self, Work};
use super::scaled::{self, Slice, Span, Way};
use super::texels::{Part, each, layers};
use crate::foundation::error::Error;
use crate::foundation::format::FormatRow;
use crate::foundation::traffic::Cause;
use crate::objects::device::Device;
use crate::objects::fold::FoldPiece;
use crate::objects::image::Image;
use crate::objects::image_view::WORDS;
use crate::objects::memory::{DeviceMemory, Origin};
use crate::objects::memory_type::MemoryType;
use crate::pipeline::Rectangles;
use crate::segments::{CpuCommand, Drawing, RenderSegment, Touch};

/// vkCmdBlitImage.
pub struct Blit {
    src: Arc<Image>,
    dst: Arc<Image>,
    regions: Vec<Region>,
    how: How,
}

/// What is blitted.
#[derive(Clone, Copy)]
struct Region {
    blit: vk::ImageBlit,
    /// The pixels that may be written: of a folded image, those of one strip.
    within: [[u32; 2]; 2],
}

/// What happens to a texel on its way.
#[derive(Clone, Copy)]
enum How {
    /// It is moved as it is.
    Move,
    /// It is unpacked and packed again, filtered if so.
    Convert { from: TexelInfo, to: TexelInfo, linear: bool },
}

impl Blit {
    /// A blit between images of colours, both of integers of one kind or both of none, or of one depth format.
    pub fn new(
        src: &Arc<Image>,
        dst: &Arc<Image>,
        regions: &[vk::ImageBlit],
        filter: vk::Filter,
    ) -> Result<Blit, Error> {
        let how = how(src.row(), dst.row(), filter == vk::Filter::LINEAR)?;
        let (src, dst) = (src.as_source()?.clone(), dst.clone());
        let Some(fold) = dst.unfolded().1 else {
            let region = |blit: &vk::ImageBlit| {
                let level = blit.dst_subresource.mip_level.min(dst.levels() - 1);
                let (width, height) = dst.level_extent(level);
                Region { blit: *blit, within: [[0, width], [0, height]] }
            };
            let regions = regions.iter().map(region).collect();
            return Ok(Blit { src, dst, regions, how });
        };
        let dst = dst.unfolded().0.clone();
        let mut pieces = Vec::new();
        for blit in regions {
            let [from, to] = blit.dst_offsets;
            let corner = [from.x.min(to.x), from.y.min(to.y)];
            let extent = [from.x.abs_diff(to.x), from.y.abs_diff(to.y)];
            for FoldPiece { skipped, rect } in fold.pieces(corner, extent)? {
                // The map to the source moves with the strip.
                let by = |axis: usize, at: u32| at as i32 - corner[axis] - skipped[axis] as i32;
                let (x, y) = (by(0, rect.x), by(1, rect.y));
                let dst_offsets = blit.dst_offsets.map(|at| vk::Offset3D { x: at.x + x, y: at.y + y, ..at });
                let within = [[rect.x, rect.x + rect.width], [rect.y, rect.y + rect.height]];
                pieces.push(Region { blit: vk::ImageBlit { dst_offsets, ..*blit }, within });
            }
        }
        Ok(Blit { src, dst, regions: pieces, how })
    }

    fn region(&self, Region { blit: region, within }: &Region) -> Result<(), Error> {
        let (from, to) = (region.src_subresource, region.dst_subresource);
        let (src, dst) = (region.src_offsets, region.dst_offsets);
        let axes =
            [Axis::new(src.map(|o| o.x), dst.map(|o| o.x)), Axis::new(src.map(|o| o.y), dst.map(|o| o.y))];
        let pixels = [0, 1].map(|axis| axes[axis].pixels(within[axis]));
        if pixels.iter().any(Range::is_empty) {
            return Ok(());
        }
        let volume = self.src.is_volume() || self.dst.is_volume();
        for aspect in each(from.aspect_mask) {
            if volume {
                let depth = Axis::new(src.map(|o| o.z), dst.map(|o| o.z));
                let slices = self.dst.slices(to.mip_level.min(self.dst.levels() - 1));
                for slice in depth.pixels([0, slices]) {
                    let z = Some(depth.source(slice));
                    let source = Source::new(self, &from, aspect, from.base_array_layer, z)?;
                    self.slice(&source, &to, aspect, slice, axes, &pixels)?;
                }
                continue;
            }
            let from_layers = layers(&self.src, from.base_array_layer, from.layer_count);
            let to_layers = layers(&self.dst, to.base_array_layer, to.layer_count);
            for (from_layer, to_layer) in from_layers.zip(to_layers) {
                let source = Source::new(self, &from, aspect, from_layer, None)?;
                self.slice(&source, &to, aspect, to_layer, axes, &pixels)?;
            }
        }
        Ok(())
    }

    /// The jobs of a region, or why it is the CPU's.
    fn drawn(
        &self,
        Region { blit: region, within }: &Region,
        rectangles: &mut Rectangles,
    ) -> Result<Vec<RenderSegment>, String> {
        let (from, to) = (region.src_subresource, region.dst_subresource);
        let (src, dst) = (region.src_offsets, region.dst_offsets);
        if !from.aspect_mask.contains(self.src.row().aspects()) {
            return Err("it blits one aspect of two".into());
        }
        if from.mip_level >= self.src.levels() || to.mip_level >= self.dst.levels() {
            return Err("there is no such level".into());
        }
        let spans = [
            Axis::new(src.map(|o| o.x), dst.map(|o| o.x)).span(within[0]),
            Axis::new(src.map(|o| o.y), dst.map(|o| o.y)).span(within[1]),
        ];
        let mut jobs = Vec::new();
        for ((from_slice, behind), to_slice) in self.slices(region) {
            let slice = Slice { image: &self.src, level: from.mip_level, layer: from_slice };
            let to = Slice { image: &self.dst, level: to.mip_level, layer: to_slice };
            jobs.extend(self.slice_drawn(scaled::Source { slice, behind }, to, &spans, rectangles)?);
        }
        Ok(jobs)
    }

    /// What becomes what of layers or slices.
    fn slices(&self, region: &vk::ImageBlit) -> Vec<(Mixed, u32)> {
        let (from, to) = (region.src_subresource, region.dst_subresource);
        if !self.src.is_volume() && !self.dst.is_volume() {
            let from_layers = layers(&self.src, from.base_array_layer, from.layer_count);
            let to_layers = layers(&self.dst, to.base_array_layer, to.layer_count);
            return from_layers.map(|layer| (layer, None)).zip(to_layers).collect();
        }
        let depth = Axis::new(region.src_offsets.map(|o| o.z), region.dst_offsets.map(|o| o.z));
        let have = self.src.slices(from.mip_level) as usize;
        let source = |slice: u32| match (self.how, depth.source(slice)) {
            _ if !self.src.is_volume() => (from.base_array_layer, None),
            (How::Convert { linear: true, .. }, z) => match around(z, have) {
                (low, high, weight) if low == high || weight == 0.0 => (low as u32, None),
                (low, high, weight) => (low as u32, Some((high as u32, weight))),
            },
            (_, z) => (nearest(z, have) as u32, None),
        };
        depth.pixels([0, self.dst.slices(to.mip_level)]).map(|slice| (source(slice), slice)).collect()
    }

    /// The jobs of a layer or slice.
    fn slice_drawn(
        &self,
        from: scaled::Source<'_>,
        to: Slice<'_>,
        spans: &[Span; 2],
        rectangles: &mut Rectangles,
    ) -> Result<Vec<RenderSegment>, String> {
        let way = match self.how {
            How::Move => Way::Move,
            How::Convert { linear: false, .. } => Way::Nearest,
            How::Convert { linear: true, .. } => Way::Linear,
        };
        match scaled::scale(from, to, spans, way, None, rectangles) {
            Ok(job) => Ok(vec![job]),
            Err(why) if to.image.row().aspects() != vk::ImageAspectFlags::COLOR => Err(why),
            Err(why) => aside(from, to, spans, way, rectangles).map_err(|also| format!("{why}, and {also}")),
        }
    }

    /// Writes one layer or slice of the destination.
    fn slice(
        &self,
        source: &Source,
        to: &vk::ImageSubresourceLayers,
        aspect: vk::ImageAspectFlags,
        slice: u32,
        [columns, rows]: [Axis; 2],
        [xs, ys]: &[Range<u32>; 2],
    ) -> Result<(), Error> {
        let whole = Part::whole(&self.dst, to.mip_level, slice);
        let rect = Rect { x: xs.start, y: ys.start, width: xs.len() as u32, height: ys.len() as u32 };
        let sources: Vec<f32> = xs.clone().map(|x| columns.source(x)).collect();
        let mut texels = Vec::new();
        for y in ys.clone() {
            source.row(&sources, rows.source(y), &mut texels);
        }
        Part { rect, ..whole }.write(&self.dst, aspect, &texels, Cause::Blit)
    }
}

/// A layer or slice, and if it is mixed with another one, that one and its weight.
type Mixed = (u32, Option<(u32, f32)>);

/// The jobs of what tiles do not hold as its image does: they draw another image of the format, or one of its texels' bits if
/// nobody draws to the format, which is copied.
fn aside(
    from: scaled::Source<'_>,
    to: Slice<'_>,
    spans: &[Span; 2],
    way: Way,
    rectangles: &mut Rectangles,
) -> Result<Vec<RenderSegment>, String> {
    let [columns, rows] = spans.each_ref().map(|span| (span.pixels.start, span.pixels.len() as u32));
    if columns.1 == 0 || rows.1 == 0 {
        return Err("it is empty".into());
    }
    let row = to.image.row();
    let (format, way, bits) = match (row.target, row.bytes, way) {
        (None, 4, Way::Move) => (WORDS, Way::Move, None),
        (None, 4, way) => (WORDS, way, row.info),
        (None, _, Way::Move) => (vk::Format::R16_UINT, Way::Nearest, row.info),
        (None, _, way) => (vk::Format::R16_UINT, way, row.info),
        (Some(_), _, Way::Move) => (row.format, Way::Nearest, None),
        (Some(_), _, way) => (row.format, way, None),
    };
    let info = vk::ImageCreateInfo {
        image_type: vk::ImageType::TYPE_2D,
        format,
        extent: vk::Extent3D { width: columns.1, height: rows.1, depth: 1 },
        mip_levels: 1,
        array_layers: 1,
        samples: vk::SampleCountFlags::TYPE_1,
        usage: vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC,
        ..Default::default()
    };
    let device = rectangles.device();
    let make = || -> Result<_, Error> {
        let image = Image::new(device, &info)?;
        image.bind(
            &DeviceMemory::new(device, image.requirements().size, MemoryType::Device, Origin::Alone)?,
            0,
        )?;
        Ok(Arc::new(image))
    };
    let image = make().map_err(|error| error.to_string())?;
    let spans = spans.each_ref().map(Span::at_start);
    let to_image = Slice { image: &image, level: 0, layer: 0 };
    let drawn = scaled::scale(from, to_image, &spans, way, bits, rectangles)?;
    let rect = Rect { x: columns.0, y: rows.0, width: columns.1, height: rows.1 };
    let part = Part { level: to.level, slice: to.layer, rect };
    let aspect = vk::ImageAspectFlags::COLOR;
    let copied = by_buffer::copy((&image, Part::whole(&image, 0, 0)), (to.image, part), aspect, rectangles)?;
    Ok([drawn].into_iter().chain(copied).collect())
}

fn how(from: &FormatRow, to: &FormatRow, linear: bool) -> Result<How, Error> {
    let wrong = || Error::InvalidUse(format!("a blit from {:?} to {:?}", from.format, to.format));
    if from.format == to.format && from.block() == 1 && !linear {
        return Ok(How::Move);
    }
    let (Some(source), Some(target)) = (from.info, to.info) else { return Err(wrong()) };
    let same_kind = if source.is_integer() { source.kind == target.kind } else { !target.is_integer() };
    match to.block() == 1 && same_kind && !(linear && source.is_integer()) {
        true => Ok(How::Convert { from: source, to: target, linear }),
        false => Err(wrong()),
    }
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

    /// Destination pixels between two edges.
    fn pixels(&self, [first, edge]: [u32; 2]) -> Range<u32> {
        let [a, b] = self.dst.map(|at| (at.max(0) as u32).clamp(first, edge));
        a.min(b)..a.max(b)
    }

    /// How far the source's coordinate advances from pixel to pixel.
    fn scale(&self) -> f64 {
        let [src, dst] = [self.src, self.dst].map(|[from, to]| f64::from(to) - f64::from(from));
        src / dst
    }

    /// The source's coordinate of a destination pixel's centre.
    fn place(&self, pixel: u32) -> f64 {
        f64::from(self.src[0]) + (f64::from(pixel) + 0.5 - f64::from(self.dst[0])) * self.scale()
    }

    fn source(&self, pixel: u32) -> f32 {
        self.place(pixel) as f32
    }

    /// The destination's pixels between two edges.
    fn span(&self, edges: [u32; 2]) -> Span {
        Span { pixels: self.pixels(edges), first: self.place(0), scale: self.scale() }
    }
}

/// The nearest element of an axis, clamped to its edge. Saturating: far outside is the edge, too.
fn nearest(at: f32, edge: usize) -> usize {
    (at.floor().max(0.0) as usize).min(edge - 1)
}

/// The two elements around a coordinate and the weight of the second.
fn around(at: f32, edge: usize) -> (usize, usize, f32) {
    let low = (at - 0.5).floor();
    (nearest(low, edge), nearest(low + 1.0, edge), at - 0.5 - low)
}

fn mix(a: [f32; 4], b: [f32; 4], t: f32) -> [f32; 4] {
    std::array::from_fn(|n| a[n] + (b[n] - a[n]) * t)
}

/// A level that is sampled, clamped to its edge.
struct Source {
    texels: Texels,
    width: usize,
    height: usize,
}

enum Texels {
    /// Texels of so many bytes, for moving.
    Raw(Vec<u8>, usize),
    /// Colours, for nearest texels, and the format that they become.
    Colors(Vec<Color>, TexelInfo),
    /// Colours, for filtering.
    Filtered(Vec<[f32; 4]>, TexelInfo),
}

impl Source {
    /// One layer, or what a volume has at coordinate `z`.
    fn new(
        blit: &Blit,
        from: &vk::ImageSubresourceLayers,
        aspect: vk::ImageAspectFlags,
        layer: u32,
        z: Option<f32>,
    ) -> Result<Source, Error> {
        let (src, level) = (&blit.src, from.mip_level);
        let slices = src.slices(level.min(src.levels() - 1)) as usize;
        let part = |slice: usize| Part::whole(src, level, slice as u32);
        let slice = z.map_or(layer as usize, |z| nearest(z, slices));
        let texels = match blit.how {
            How::Move => {
                let bytes = src.row().aspect_bytes(aspect) as usize;
                Texels::Raw(part(slice).read(src, aspect, Cause::Blit)?, bytes)
            }
            How::Convert { from, to, linear: false } => {
                Texels::Colors(colors(&part(slice).read_decoded(src, Cause::Blit)?, from), to)
            }
            How::Convert { from, to, linear: true } => {
                let floats = |slice: usize| -> Result<Vec<[f32; 4]>, Error> {
                    let colors = colors(&part(slice).read_decoded(src, Cause::Blit)?, from);
                    Ok(colors.into_iter().map(|color| color.map(f32::from_bits)).collect())
                };
                let (low, high, weight) = z.map_or((slice, slice, 0.0), |z| around(z, slices));
                let mut texels = floats(low)?;
                if low != high {
                    let above = floats(high)?;
                    texels.iter_mut().zip(above).for_each(|(a, b)| *a = mix(*a, b, weight));
                }
                Texels::Filtered(texels, to)
            }
        };
        let Rect { width, height, .. } = part(slice).rect;
        Ok(Source { texels, width: width as usize, height: height as usize })
    }

    /// Appends the texels that a row of the destination gets.
    fn row(&self, xs: &[f32], y: f32, to: &mut Vec<u8>) {
        let line = nearest(y, self.height) * self.width;
        let places = xs.iter().map(|x| line + nearest(*x, self.width));
        let mut put = |info: &TexelInfo, color: Color| {
            to.extend_from_slice(&info.encode(color).to_le_bytes()[..info.bytes as usize]);
        };
        match &self.texels {
            Texels::Raw(texels, bytes) => {
                places.for_each(|at| to.extend_from_slice(&texels[at * bytes..(at + 1) * bytes]));
            }
            Texels::Colors(colors, info) => places.for_each(|at| put(info, colors[at])),
            Texels::Filtered(colors, info) => {
                let (top, bottom, fy) = around(y, self.height);
                for x in xs {
                    let (left, right, fx) = around(*x, self.width);
                    let row =
                        |y: usize| mix(colors[y * self.width + left], colors[y * self.width + right], fx);
                    put(info, mix(row(top), row(bottom), fy).map(f32::to_bits));
                }
            }
        }
    }
}

fn colors(texels: &[u8], info: TexelInfo) -> Vec<Color> {
    texels.chunks_exact(info.bytes as usize).map(|texel| info.decode(info.load(texel))).collect()
}

impl CpuCommand for Blit {
    fn describe(&self) -> String {
        let (src, dst) = (self.src.name(), self.dst.name());
        format!("blit {} regions from image{src} to image{dst}", self.regions.len())
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
            Box::new(Blit { src: self.src.clone(), dst: self.dst.clone(), regions: left, how: self.how })
        });
        Ok(drawn::drawing(renders, rest))
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
        assert_eq!([double.pixels([0, 16]), double.pixels([12, 17])], [10..16, 12..17]);
        assert_eq!((double.source(10), double.source(17)), (0.25, 3.75));
        let mirror = Axis::new([0, 4], [4, 0]);
        assert_eq!((mirror.pixels([0, 9]), mirror.source(0), mirror.source(3)), (0..4, 3.5, 0.5));
    }

    #[test]
    fn samples_are_texels_or_mixtures() {
        let info = TexelInfo::of_name("R32_SFLOAT").unwrap();
        let grey = |v: f32| [v; 4];
        let colors = vec![grey(0.0), grey(1.0), grey(2.0), grey(3.0)];
        let bits = colors.iter().map(|color| color.map(f32::to_bits)).collect();
        let source = |texels| Source { texels, width: 2, height: 2 };
        let (near, linear) =
            (source(Texels::Colors(bits, info)), source(Texels::Filtered(colors.clone(), info)));
        let sample = |source: &Source, x: f32, y: f32| {
            let mut texel = Vec::new();
            source.row(&[x], y, &mut texel);
            f32::from_le_bytes(texel.try_into().unwrap())
        };
        assert_eq!(sample(&near, 0.9, 1.2), 2.0);
        assert_eq!(sample(&linear, 1.0, 1.0), 1.5);
        assert_eq!(sample(&near, -9.0, 0.5), 0.0);
        assert_eq!(sample(&near, 9.0, 9.0), 3.0);
        assert_eq!(sample(&linear, 9.0, 9.0), 3.0);
    }

    #[test]
    fn only_colours_of_one_kind_are_converted() {
        let blit = |from, to, linear| {
            let row = |format| crate::foundation::format::row(format).unwrap();
            how(row(from), row(to), linear).is_ok()
        };
        assert!(blit(vk::Format::R8G8B8A8_UNORM, vk::Format::R16G16B16A16_SFLOAT, true));
        assert!(blit(vk::Format::R8_UINT, vk::Format::R32_UINT, false));
        assert!(!blit(vk::Format::R8_UINT, vk::Format::R32_SINT, false));
        assert!(!blit(vk::Format::R8_UINT, vk::Format::R8_UINT, true));
        assert!(!blit(vk::Format::R8_UINT, vk::Format::R8_UNORM, false));
        assert!(blit(vk::Format::D16_UNORM, vk::Format::D16_UNORM, false));
        assert!(!blit(vk::Format::D16_UNORM, vk::Format::X8_D24_UNORM_PACK32, false));
        assert!(blit(vk::Format::EAC_R11_UNORM_BLOCK, vk::Format::R8_UNORM, true));
        assert!(!blit(vk::Format::R8G8B8A8_UNORM, vk::Format::ETC2_R8G8B8_UNORM_BLOCK, false));
    }
}
