//! One case: what is done, and how two results of it are compared.

use ash::vk;
use vc4::image::TexelInfo;
use vc4::state::ColorKind;

use super::buffers;
use super::formats::{aspect, element, info};
use super::image::{Image, Rows, Shape};
use super::{parts, samples};
use crate::format::aspects;
use crate::vulkan::{Error, Harness, Lab};

/// From one 24-bit depth to the next.
const DEPTH_STEP: f32 = 1.0 / (1 << 24) as f32;

/// One case.
pub struct Case {
    /// Name, for messages.
    pub name: String,
    /// Format of the texels that it ends in.
    pub(super) format: vk::Format,
    pub(super) work: Work,
}

pub(super) enum Work {
    /// Texels go up, from image to image between levels and layers, whole and in parts, and down with gaps.
    Copy(Shape),
    /// Elements of a format become those of the case's, of as many bytes, at odd places: from image to image.
    CopyFrom(vk::Format),
    /// One aspect of two goes from image to image; the other one stays, which lavapipe does not see to.
    CopyAspect(vk::ImageAspectFlags),
    /// Texels go to another place of their own level.
    CopyWithin,
    /// Rectangles go up and others down, at any place.
    Parts(Shape),
    /// Samples go from image to image, which are cleared with such words before.
    Samples([[u32; 4]; 2]),
    /// Texels of a format are blitted into the case's: source corners, destination corners, filter.
    Blit { from: vk::Format, shape: Shape, src: [i32; 2], dst: [i32; 2], filter: vk::Filter },
    /// Texels go up, and down in rows of another kind.
    Down(Shape, Rows),
    /// The same of depth that may be drawn to, which the chip has in 24 bits.
    Depth(Rows),
    /// The same of both aspects of a format, one beside the other.
    Stencil(Rows),
    /// Bytes go from buffer to buffer.
    Bytes,
    /// A level, a layer and then all are cleared.
    Clear([u32; 4], Shape),
}

impl Case {
    /// Why results differ; `None` if they do not, or by no more than the format's rounding.
    pub fn difference(&self, ours: &[u8], theirs: &[u8]) -> Option<String> {
        if ours.len() != theirs.len() {
            return Some(format!("{} bytes beside {}", ours.len(), theirs.len()));
        }
        if matches!(self.work, Work::Depth(_)) && self.format == vk::Format::D32_SFLOAT {
            let float = |bytes: &[u8; 4]| f32::from_le_bytes(*bytes);
            let floats =
                |bytes: &[u8]| bytes.chunks_exact(4).filter_map(<[u8]>::first_chunk).map(float).collect();
            let (ours, theirs): (Vec<f32>, Vec<f32>) = (floats(ours), floats(theirs));
            let far = |(a, b): (&f32, &f32)| (a - b).abs() > DEPTH_STEP;
            let at = ours.iter().zip(&theirs).position(far)?;
            return Some(format!("depth {at} is {} beside {}", ours[at], theirs[at]));
        }
        let (ours, theirs) = match self.work {
            Work::CopyAspect(_) => match (ours.split_last(), theirs.split_last()) {
                (Some((1, ours)), Some((_, theirs))) => (ours, theirs),
                _ => return Some("the other aspect has changed".into()),
            },
            _ => (ours, theirs),
        };
        let exact = !matches!(self.work, Work::Blit { .. } | Work::Clear(..));
        let Some(info) = info(self.format).filter(|_| !exact) else {
            let at = ours.iter().zip(theirs).position(|(a, b)| a != b)?;
            return Some(format!("byte {at} is {:#x} beside {:#x}", ours[at], theirs[at]));
        };
        let bytes = info.bytes as usize;
        ours.chunks_exact(bytes).zip(theirs.chunks_exact(bytes)).enumerate().find_map(|(at, (a, b))| {
            let (a, b) = (info.decode(info.load(a)), info.decode(info.load(b)));
            let close = (0..4).all(|n| close(&info, n, a[n], b[n]));
            (!close).then(|| format!("texel {at} is {:?} beside {:?}", show(&info, a), show(&info, b)))
        })
    }

    /// Runs the case; `None` if the device has no such image or blit.
    pub fn run(&self, harness: &Harness) -> Result<Option<Vec<u8>>, Error> {
        let lab = Lab::new(harness);
        let optimal = |format| harness.optimal_features(format);
        let needed = vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR;
        match self.work {
            Work::Blit { from, filter, .. } => {
                let source = optimal(from).contains(vk::FormatFeatureFlags::BLIT_SRC);
                let target = optimal(self.format).contains(vk::FormatFeatureFlags::BLIT_DST);
                let linear = filter == vk::Filter::NEAREST || optimal(from).contains(needed);
                if !(source && target && linear) {
                    return Ok(None);
                }
            }
            Work::Bytes => return buffers::copied_and_filled(&lab).map(Some),
            Work::CopyFrom(from) if optimal(from).is_empty() => return Ok(None),
            _ if optimal(self.format).is_empty() => return Ok(None),
            _ => {}
        }
        match &self.work {
            Work::Copy(shape) => self.copy(&lab, *shape).map(Some),
            Work::CopyFrom(from) => {
                let source = Image::new(&lab, *from, Shape::Flat)?;
                source.upload()?;
                let target = Image::new(&lab, self.format, Shape::Flat)?;
                target.upload()?;
                self.copy_elements(&lab, &source, &target)?;
                let mut bytes = target.download()?;
                self.forget_undefined(&mut bytes);
                Ok(Some(bytes))
            }
            Work::CopyAspect(aspect) => self.copy_aspect(&lab, *aspect).map(Some),
            Work::CopyWithin => {
                let image = Image::new(&lab, self.format, Shape::Flat)?;
                image.upload()?;
                self.copy_elements(&lab, &image, &image)?;
                let mut bytes = image.download()?;
                self.forget_undefined(&mut bytes);
                Ok(Some(bytes))
            }
            Work::Down(shape, rows) => {
                let image = Image::new(&lab, self.format, *shape)?;
                image.upload()?;
                let mut bytes = image.download_as(*rows)?;
                self.forget_undefined(&mut bytes);
                Ok(Some(bytes))
            }
            Work::Depth(rows) => {
                let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
                let image = Image::with(&lab, self.format, Shape::Flat, usage)?;
                image.upload()?;
                let mut bytes = image.download_as(*rows)?;
                self.forget_undefined(&mut bytes);
                Ok(Some(bytes))
            }
            Work::Stencil(rows) => {
                let mut image = Image::new(&lab, self.format, Shape::Flat)?;
                image.upload()?;
                image.aspect = vk::ImageAspectFlags::STENCIL;
                image.upload()?;
                let stencil = image.download_as(*rows)?;
                image.aspect = vk::ImageAspectFlags::DEPTH;
                let mut depth = image.download_as(*rows)?;
                self.forget_undefined(&mut depth);
                Ok(Some([stencil, depth].concat()))
            }
            Work::Parts(shape) => {
                let (mut down, mut left) = parts::moved(&lab, self.format, *shape)?;
                for bytes in [&mut down, &mut left] {
                    self.forget_undefined(bytes);
                }
                Ok(Some([down, left].concat()))
            }
            Work::Samples(words) => samples::copied(&lab, self.format, *words).map(Some),
            Work::Bytes => Ok(None),
            Work::Clear(words, shape) => self.clear(&lab, *words, *shape).map(Some),
            Work::Blit { from, shape, src, dst, filter } => {
                self.blit(&lab, *from, *shape, *src, *dst, *filter).map(Some)
            }
        }
    }

    fn copy(&self, lab: &Lab<'_>, shape: Shape) -> Result<Vec<u8>, Error> {
        let source = Image::new(lab, self.format, shape)?;
        let target = Image::new(lab, self.format, shape)?;
        source.upload()?;
        target.upload()?;
        let (_, block) = element(self.format);
        // From level 1 to level 0, and from level 0 to level 0 of another layer.
        let whole = source.extent(1);
        let cut = |edge: u32| (edge / 2).max(1) / block * block;
        let depth = if shape == Shape::Volume { 2 } else { 1 };
        let at = |x, y| vk::Offset3D { x, y, z: depth as i32 - 1 };
        let edge = block as i32;
        let regions = [
            vk::ImageCopy {
                src_subresource: source.layers(1, 0, source.layers),
                src_offset: at(0, edge),
                dst_subresource: source.layers(0, 0, source.layers),
                dst_offset: at(edge, 2 * edge),
                extent: vk::Extent3D { width: cut(whole.width), height: cut(whole.height), depth },
            },
            vk::ImageCopy {
                src_subresource: source.layers(0, source.layers - 1, 1),
                src_offset: at(3 * edge, edge),
                dst_subresource: source.layers(2, 0, 1),
                dst_offset: vk::Offset3D::default(),
                extent: vk::Extent3D { width: block, height: block, depth: 1 },
            },
        ];
        // Parts that begin and end where tiles do, and a whole level.
        let same = |mip_level, x, extent| vk::ImageCopy {
            src_subresource: source.layers(mip_level, 0, source.layers),
            src_offset: vk::Offset3D { x, y: 0, z: 0 },
            dst_subresource: source.layers(mip_level, 0, source.layers),
            dst_offset: vk::Offset3D { x, y: 0, z: 0 },
            extent,
        };
        let height = if shape == Shape::Broad { 64 } else { 128 };
        let tiles = vk::Extent3D { width: 64, height, depth: 1 };
        // The last one reaches from panel to panel.
        let parts = [
            same(1, 0, source.extent(1)),
            same(0, 64, tiles),
            same(0, 4032, vk::Extent3D { width: 128, ..tiles }),
        ];
        let parts = match shape {
            Shape::Volume => &parts[..1],
            Shape::Flat => &parts[..2],
            // It has no second column of tiles.
            Shape::Tall | Shape::Wide | Shape::Linear | Shape::Samples => &parts[..1],
            Shape::Broad => &parts,
        };
        // SAFETY: the lab keeps the images to its end; regions lie inside.
        lab.run(|commands| unsafe {
            let general = vk::ImageLayout::GENERAL;
            lab.device.cmd_copy_image(commands, source.image, general, target.image, general, &regions);
            lab.device.cmd_copy_image(commands, source.image, general, target.image, general, parts);
        })?;
        let mut bytes = target.download()?;
        self.forget_undefined(&mut bytes);
        Ok(bytes)
    }

    /// The aspect as it is then, and 1 if the other one is as it was.
    fn copy_aspect(&self, lab: &Lab<'_>, aspect: vk::ImageAspectFlags) -> Result<Vec<u8>, Error> {
        let [depth, stencil] = [vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL];
        let other = if aspect == depth { stencil } else { depth };
        let make = || {
            let mut image = Image::new(lab, self.format, Shape::Flat)?;
            for aspect in [other, aspect] {
                image.aspect = aspect;
                image.upload()?;
            }
            Ok::<_, Error>(image)
        };
        let (source, mut target) = (make()?, make()?);
        let seen = |target: &mut Image<'_>, aspect| {
            target.aspect = aspect;
            let mut bytes = target.download()?;
            if aspect == depth {
                self.forget_undefined(&mut bytes);
            }
            Ok::<_, Error>(bytes)
        };
        let before = seen(&mut target, other)?;
        target.aspect = aspect;
        self.copy_elements(lab, &source, &target)?;
        let mut bytes = seen(&mut target, aspect)?;
        bytes.push(u8::from(seen(&mut target, other)? == before));
        Ok(bytes)
    }

    /// Copies 15 x 14 elements of each layer, from and to places that are no multiples of anything.
    fn copy_elements(&self, lab: &Lab<'_>, source: &Image<'_>, target: &Image<'_>) -> Result<(), Error> {
        let [from, to] = [source, target].map(|image| element(image.format).1);
        let at = |x: u32, y: u32| vk::Offset3D { x: x as i32, y: y as i32, z: 0 };
        let region = vk::ImageCopy {
            src_subresource: source.layers(0, 0, source.layers),
            src_offset: at(3 * from, from),
            dst_subresource: target.layers(0, 0, target.layers),
            dst_offset: at(21 * to, 17 * to),
            extent: vk::Extent3D { width: 15 * from, height: 14 * from, depth: 1 },
        };
        // SAFETY: the lab keeps the images to its end; the region lies inside and does not overlap what it becomes.
        lab.run(|commands| unsafe {
            let general = vk::ImageLayout::GENERAL;
            lab.device.cmd_copy_image(commands, source.image, general, target.image, general, &[region]);
        })
    }

    /// The bits above a 24-bit depth are undefined.
    fn forget_undefined(&self, bytes: &mut [u8]) {
        if matches!(self.format, vk::Format::X8_D24_UNORM_PACK32 | vk::Format::D24_UNORM_S8_UINT) {
            bytes.iter_mut().skip(3).step_by(4).for_each(|byte| *byte = 0);
        }
    }

    fn clear(&self, lab: &Lab<'_>, words: [u32; 4], shape: Shape) -> Result<Vec<u8>, Error> {
        let image = Image::new(lab, self.format, shape)?;
        image.upload()?;
        let range = |base_mip_level, level_count, base_array_layer, layer_count| vk::ImageSubresourceRange {
            aspect_mask: aspects(self.format),
            base_mip_level,
            level_count,
            base_array_layer,
            layer_count,
        };
        let last = image.layers - 1;
        let ranges =
            [range(1, vk::REMAINING_MIP_LEVELS, 0, 1), range(0, 1, last, vk::REMAINING_ARRAY_LAYERS)];
        // SAFETY: the lab keeps the images to its end.
        lab.run(|commands| unsafe {
            let general = vk::ImageLayout::GENERAL;
            if aspect(self.format) == vk::ImageAspectFlags::COLOR {
                let value = vk::ClearColorValue { uint32: words };
                lab.device.cmd_clear_color_image(commands, image.image, general, &value, &ranges);
            } else {
                let value = vk::ClearDepthStencilValue { depth: f32::from_bits(words[0]), stencil: words[1] };
                lab.device.cmd_clear_depth_stencil_image(commands, image.image, general, &value, &ranges);
            }
        })?;
        let mut bytes = image.download()?;
        self.forget_undefined(&mut bytes);
        Ok(bytes)
    }

    fn blit(
        &self,
        lab: &Lab<'_>,
        from: vk::Format,
        shape: Shape,
        src: [i32; 2],
        dst: [i32; 2],
        filter: vk::Filter,
    ) -> Result<Vec<u8>, Error> {
        let source = Image::new(lab, from, shape)?;
        let target = Image::new(lab, self.format, shape)?;
        source.upload()?;
        target.upload()?;
        // The same map for all axes, cut down to what a volume has. Broad images have fewer rows than that.
        let above = if shape == Shape::Broad { 3941 } else { 0 };
        let corner = |image: &Image<'_>, at: i32, z: i32| {
            let edge = image.extent(0);
            let inside = |at: i32, edge: u32| at.min(edge as i32);
            let y = inside(at - above, edge.height);
            vk::Offset3D { x: inside(at, edge.width), y, z: inside(z, edge.depth) }
        };
        let depth = source.extent(0).depth as i32;
        // Fewer slices, between those of the source.
        let to_depth = if shape == Shape::Volume { depth - 2 } else { depth };
        let regions = [vk::ImageBlit {
            src_subresource: source.layers(0, 0, source.layers),
            src_offsets: [corner(&source, src[0], 0), corner(&source, src[1], depth)],
            dst_subresource: target.layers(0, 0, target.layers),
            dst_offsets: [corner(&target, dst[0], 0), corner(&target, dst[1], to_depth)],
        }];
        // SAFETY: the lab keeps the images to its end; regions lie inside.
        lab.run(|commands| unsafe {
            let general = vk::ImageLayout::GENERAL;
            lab.device.cmd_blit_image(
                commands,
                source.image,
                general,
                target.image,
                general,
                &regions,
                filter,
            );
        })?;
        let bytes = target.download()?;
        Ok(bytes)
    }
}

/// Whether a component is the same up to the rounding of conversions.
fn close(info: &TexelInfo, component: usize, a: u32, b: u32) -> bool {
    if a == b || info.is_integer() {
        return a == b;
    }
    let (a, b) = (f32::from_bits(a), f32::from_bits(b));
    let Some(field) = info.fields[component] else { return true };
    let step = match info.kind {
        ColorKind::Unorm => 1.0 / ((1u64 << field.width) - 1) as f32,
        // A step of the curve is at most 2.4 of a linear one.
        ColorKind::Srgb => 2.5 / 255.0,
        ColorKind::Snorm => 1.0 / ((1u64 << (field.width - 1)) - 1) as f32,
        _ if info.shared_exponent => 1.0 / 128.0,
        // Weights of filters have eight bits or more.
        _ => a.abs().max(b.abs()) / 32.0,
    };
    // Filters of eight-bit weights, beside the rounding of the result.
    (a - b).abs() <= step * 1.01 + 2.0 / 256.0
}

fn show(info: &TexelInfo, color: [u32; 4]) -> Vec<String> {
    let text = |word: &u32| match info.is_integer() {
        true => format!("{}", *word as i32),
        false => format!("{}", f32::from_bits(*word)),
    };
    color.iter().map(text).collect()
}
