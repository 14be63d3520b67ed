//! Dispatches of kernels that are pictures, as jobs of the GPU: a rectangle for every layer of an image, or over the words of
//! a buffer, which is a picture in raster order then.
//!
//! What does not fit, or does not pay, is the CPU's.

use std::sync::Arc;

use ash::vk;
use vc4::hw::TILE_PX;
use vc4::state::PixelRect;
use vc4_shaders::binding;
use vc4_shaders::ir::{ImageDim, Texel};
use vc4_shaders::picture::{HostSum, HostWord, Order, PARAMETERS_AT, Picture, Target as Drawn};

use super::bindings::{Bindings, Bound};
use crate::foundation::engine::{Engine, kernels};
use crate::foundation::facts::target_px;
use crate::foundation::traffic::Cause;
use crate::objects::descriptor::Descriptor;
use crate::objects::device::Device;
use crate::objects::image_view::ImageView;
use crate::objects::memory::Binding;
use crate::objects::placement::SURFACE_ALIGNMENT;
use crate::pipeline::{ComputePipeline, Pipeline, Rectangles};
use crate::segments::{Drawing, Part, Rectangle, RenderSegment, Rest};

/// Layers that a dispatch may be drawn to: each is a job.
const MAX_LAYERS: u32 = 64;
const WORD: u64 = 4;

/// A dispatch whose groups are known.
pub(super) struct Request<'a> {
    pub pipeline: &'a Arc<ComputePipeline>,
    pub bindings: &'a Bindings,
    pub push: &'a [u32],
    pub groups: [u32; 3],
}

/// What a rectangle is drawn to.
struct Place {
    view: Arc<ImageView>,
    width: u32,
    height: u32,
    layer: u32,
    /// Pixels of the tiles stay as they were.
    keeps: bool,
    /// Words of a row, of a buffer in one line.
    row: u32,
}

/// The jobs that do what a dispatch does, or why it is the CPU's.
pub(super) fn drawing(request: &Request<'_>, rectangles: &mut Rectangles) -> Result<Drawing, String> {
    let drawn = request.pipeline.drawn().ok_or("the kernel is no picture")?;
    let picture = &drawn.picture;
    let device = rectangles.device().clone();
    let (places, rest) = match &picture.target {
        Drawn::Image(texel) => (request.layers(picture, texel)?, None),
        Drawn::Buffer { buffer, start, order } => request.words(picture, *buffer, (start, order), &device)?,
    };
    let invocations = places.iter().map(|r| u64::from(r.width) * u64::from(r.height)).sum();
    if !request.pipeline.pays(invocations, places.len() as u32) {
        return Err(format!("{invocations} invocations are too few"));
    }
    let renders = places.into_iter().map(|place| {
        let pipeline = request.pipeline.drawing(place.view.row, rectangles)?;
        Ok(request.render(&pipeline, place))
    });
    let changes_buffers = matches!(picture.target, Drawn::Buffer { .. });
    let rest = rest.map(Rest::Groups);
    let renders = renders.collect::<Result<_, String>>()?;
    // Whoever forces the QPUs wants all done by them, and the same each time.
    let may_wait = kernels() == Engine::Auto;
    Ok(Drawing { renders, rest, changes_buffers, may_wait })
}

impl Request<'_> {
    /// Invocations along an axis that may write.
    fn extent(&self, picture: &Picture, axis: u8) -> Result<u32, String> {
        let number = usize::from(axis);
        let all = u64::from(self.groups[number]) * u64::from(picture.workgroup[number]);
        let mut extent = u32::try_from(all).map_err(|_| "it has too many invocations")?;
        for limit in picture.limits.iter().filter(|limit| limit.axis == axis) {
            let below = self.number(&limit.below)?;
            extent = extent.min(if limit.signed { (below as i32).max(0) as u32 } else { below });
        }
        Ok(extent)
    }

    fn number(&self, sum: &HostSum) -> Result<u32, String> {
        sum.evaluate(|word| self.word(word))
            .ok_or_else(|| "a word that its guard asks for is not bound".into())
    }

    /// A word that the kernel asks for.
    fn word(&self, word: &HostWord) -> Option<u32> {
        match *word {
            HostWord::Push(offset) => Some(self.push.get(offset as usize / 4).copied().unwrap_or(0)),
            HostWord::Groups(axis) => self.groups.get(usize::from(axis)).copied(),
            HostWord::Ubo { buffer, offset } => {
                let (Descriptor::Buffer { buffer, offset: start, range }, dynamic) =
                    self.bindings.find(buffer)
                else {
                    return None;
                };
                let start = start.checked_add(dynamic.into())?;
                let inside = u64::from(offset) + WORD <= buffer.clamp(start, *range);
                let (memory, at) = buffer.access(start + u64::from(offset), WORD, Cause::Indirect).ok()?;
                inside.then(|| memory.read_u32(at))
            }
            HostWord::Extent { image, axis } => {
                let Descriptor::Image { view: Some(view), .. } = self.bindings.find(image).0 else {
                    return None;
                };
                let (width, height) = view.extent();
                [width, height, view.depth_or_layers()].get(usize::from(axis)).copied()
            }
            HostWord::Elements { buffer, offset, stride } => {
                let range = self.bindings.range(buffer).ok()?;
                range.bytes.saturating_sub(offset).checked_div(stride)
            }
        }
    }

    /// The rectangles on the layers of an image.
    fn layers(&self, picture: &Picture, texel: &Texel) -> Result<Vec<Place>, String> {
        let Descriptor::Image { view: Some(view), .. } = self.bindings.find(texel.image).0 else {
            return Err("its image is not bound".into());
        };
        is_drawn_to(view)?;
        if !is_of(view, texel) {
            return Err(format!("its image is a view of type {:?}", view.ty));
        }
        let (columns, rows) = view.extent();
        let layers = if view.ty == vk::ImageViewType::TYPE_3D { view.depth_or_layers() } else { view.layers };
        let [x, y, z] = [self.extent(picture, 0)?, self.extent(picture, 1)?, self.extent(picture, 2)?];
        let axes = texel.coordinates();
        if (axes < 2 && y > 1) || (axes < 3 && z > 1) {
            return Err("several invocations write one texel".into());
        }
        let (width, height, depth) = (x.min(columns), y.min(rows), z.min(layers));
        if depth > MAX_LAYERS {
            return Err(format!("{depth} layers"));
        }
        if width == 0 || height == 0 {
            return Ok(Vec::new());
        }
        self.check_reads(picture, &Memory::of_image(view)?)?;
        let ends = |end: u32, whole: u32| end == whole || end % TILE_PX == 0;
        let keeps = picture.keeps || !ends(width, columns) || !ends(height, rows);
        if keeps && view.image.query().tiling == vk::ImageTiling::LINEAR {
            return Err("the host may write beside it".into());
        }
        let rectangle = |layer| {
            let view = Arc::new(slice(view, layer));
            Place { view, width, height, layer, keeps, row: 0 }
        };
        Ok((0..depth).map(rectangle).collect())
    }

    /// The rectangle over the words of a buffer: whole tiles, so that nothing beside it is touched. The rest is the CPU's.
    fn words(
        &self,
        picture: &Picture,
        place: binding::Descriptor,
        (start, order): (&HostSum, &Order),
        device: &Arc<Device>,
    ) -> Result<(Vec<Place>, Option<Part>), String> {
        let (Descriptor::Buffer { buffer, offset, range }, dynamic) = self.bindings.find(place) else {
            return Err("its buffer is not bound".into());
        };
        let first = offset.saturating_add(dynamic.into());
        let start = u64::from(self.number(start)?);
        let words = buffer.clamp(first, *range).saturating_sub(start) / WORD;
        let [x, y, z] = [self.extent(picture, 0)?, self.extent(picture, 1)?, self.extent(picture, 2)?];
        let [columns, rows, _] = picture.workgroup;
        let Grid { width, height, row, part } = match order {
            Order::Line if y <= 1 && z <= 1 => {
                line(x.min(u32::try_from(words).unwrap_or(u32::MAX)), columns)?
            }
            Order::Rows(row) if z <= 1 => rows_of(self.number(row)?, [x, y], words, rows)?,
            _ => return Err("several invocations write one word".into()),
        };
        let (binding, at) = (buffer.binding().map_err(|error| error.to_string())?, first + start);
        if (binding.offset + at) % u64::from(SURFACE_ALIGNMENT) != 0 {
            return Err(format!("its words begin at byte {}", binding.offset + at));
        }
        let memory = Memory {
            bytes: [at, at + WORD * u64::from(row.max(width)) * u64::from(height)],
            ..Memory::of(binding)
        };
        self.check_reads(picture, &memory)?;
        let view = ImageView::of_words(device, &binding.from(at), [row.max(width), height]);
        let view = view.map_err(|error| error.to_string())?;
        let rest = match part {
            0 => Part { first: [width * height / columns, 0, 0], groups: [x.div_ceil(columns), 1, 1] },
            _ => Part { first: [0, height / rows, 0], groups: [self.groups[0], y.div_ceil(rows), 1] },
        };
        let rest = Part { groups: [0, 1, 2].map(|n| rest.groups[n].saturating_sub(rest.first[n])), ..rest };
        let line = if part == 0 { width } else { 0 };
        let rectangle = Place { view, width, height, layer: 0, keeps: false, row: line };
        Ok((vec![rectangle], (!rest.groups.contains(&0)).then_some(rest)))
    }

    /// Refuses pictures that are drawn over what they read.
    fn check_reads(&self, picture: &Picture, target: &Memory<'_>) -> Result<(), String> {
        for place in &picture.reads {
            let (descriptor, dynamic) = self.bindings.find(*place);
            let read = match descriptor {
                Descriptor::Empty | Descriptor::Sampler(_) | Descriptor::Image { view: None, .. } => {
                    return Err("what it reads is not bound".into());
                }
                Descriptor::Image { view: Some(view), .. } => Memory::of_image(view)?,
                Descriptor::Buffer { buffer, offset, range } => {
                    let start = offset.saturating_add(dynamic.into());
                    let memory = Memory::of(buffer.binding().map_err(|error| error.to_string())?);
                    Memory { bytes: [start, start.saturating_add(buffer.clamp(start, *range))], ..memory }
                }
                Descriptor::Texels(view) => {
                    let memory = Memory::of(view.buffer.binding().map_err(|error| error.to_string())?);
                    Memory { bytes: [view.offset, view.offset.saturating_add(view.range)], ..memory }
                }
            };
            if read.overlaps(target) {
                return Err("it reads the memory that it writes".into());
            }
        }
        Ok(())
    }

    fn render(&self, pipeline: &Arc<Pipeline>, place: Place) -> RenderSegment {
        let Place { view, width, height, layer, keeps, row } = place;
        let area = PixelRect { left: 0, top: 0, right: width as i32, bottom: height as i32 };
        let mut push = self.push.to_vec();
        push.resize((PARAMETERS_AT / 4) as usize, 0);
        push.push(layer);
        push.extend(self.groups);
        push.push(row);
        let sets = |number: usize| {
            let bound = self.bindings.sets.get(number)?.as_ref()?;
            Some((&bound.set, &bound.offsets[..]))
        };
        Rectangle { view, area, keeps }.segment(pipeline, sets, &push)
    }
}

/// A rectangle of whole tiles.
struct Grid {
    width: u32,
    height: u32,
    /// Words from row to row; 0 if it is the width.
    row: u32,
    /// The axis along which the CPU does the rest.
    part: usize,
}

/// Rows for words in a line, of which so many belong to a workgroup.
fn line(words: u32, group: u32) -> Result<Grid, String> {
    let width = words.div_ceil(TILE_PX * target_px()).max(1) * TILE_PX;
    let height = words / width / TILE_PX * TILE_PX;
    let fits = width <= target_px() && height > 0 && (width * height) % group == 0;
    fits.then_some(Grid { width, height, row: 0, part: 0 })
        .ok_or_else(|| format!("{words} words are no picture of whole tiles"))
}

/// Rows of so many words, of which so many rows belong to a workgroup.
fn rows_of(row: u32, [x, y]: [u32; 2], words: u64, group: u32) -> Result<Grid, String> {
    let whole = row % TILE_PX == 0 && x % TILE_PX == 0 && (TILE_PX..=target_px()).contains(&x);
    let complete = words.checked_div(row.into()).unwrap_or(0).min(target_px().into()) as u32;
    let height = y.min(complete) / TILE_PX * TILE_PX;
    let fits = whole && x <= row && row <= target_px() && height > 0 && height % group == 0;
    fits.then_some(Grid { width: x, height, row, part: 1 })
        .ok_or_else(|| format!("{x} x {y} of rows of {row} words are no picture of whole tiles"))
}

/// Memory that is read or written.
struct Memory<'a> {
    binding: &'a Binding,
    /// First byte behind the binding's start, and the first behind the end.
    bytes: [u64; 2],
    /// The view, of an image.
    view: Option<&'a ImageView>,
}

impl<'a> Memory<'a> {
    fn of(binding: &'a Binding) -> Memory<'a> {
        Memory { binding, bytes: [0, 0], view: None }
    }

    fn of_image(view: &'a ImageView) -> Result<Memory<'a>, String> {
        let binding = view.image.binding().map_err(|error| error.to_string())?;
        Ok(Memory { binding, bytes: [0, view.image.size()], view: Some(view) })
    }

    /// Whether some byte is in both. Views of other levels or layers of one image have none in common.
    fn overlaps(&self, other: &Memory<'_>) -> bool {
        if self.binding.bo.handle() != other.binding.bo.handle() {
            return false;
        }
        if let (Some(a), Some(b)) = (self.view, other.view) {
            let meet = |a: u32, more: u32, b: u32, others: u32| a < b + others && b < a + more;
            if Arc::ptr_eq(&a.image, &b.image) {
                let volume = a.image.is_volume();
                return meet(a.base_level, a.levels, b.base_level, b.levels)
                    && (volume || meet(a.base_layer, a.layers, b.base_layer, b.layers));
            }
        }
        let [[a, a_end], [b, b_end]] = [self, other].map(|m| m.bytes.map(|byte| m.binding.offset + byte));
        a < b_end && b < a_end
    }
}

/// Whether the tile buffer holds texels of a view as they are.
fn is_drawn_to(view: &ImageView) -> Result<(), String> {
    let (stored, (width, height)) = (view.stored, view.extent());
    let info = stored.texel.info();
    let words = view.row.target == Some(stored) && view.row.encoding().is_some();
    if !words || info.tile.is_none() || info.cpp != 4 || stored.planes() != 1 || view.samples() != 1 {
        return Err(format!("tiles do not hold {:?} as its image does", view.row.format));
    }
    match width.max(height) > target_px() {
        true => Err(format!("its image has {width} x {height} texels")),
        false => Ok(()),
    }
}

/// Whether a view is of the shape that a kernel says.
fn is_of(view: &ImageView, texel: &Texel) -> bool {
    use vk::ImageViewType as Type;
    match (texel.dim, texel.arrayed) {
        (ImageDim::D1, false) => view.ty == Type::TYPE_1D,
        (ImageDim::D2, false) => view.ty == Type::TYPE_2D,
        (ImageDim::D2, true) => view.ty == Type::TYPE_2D_ARRAY,
        (ImageDim::D3, _) => view.ty == Type::TYPE_3D,
        (ImageDim::Cube, _) => view.is_cube(),
        _ => false,
    }
}

/// A layer or slice of a view.
fn slice(view: &ImageView, layer: u32) -> ImageView {
    let (layer, aspects) = (view.base_layer + layer, view.aspects);
    ImageView {
        aspects,
        ..ImageView::flat(view.image.clone(), view.row, view.stored, view.base_level, layer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_rows_of_whole_tiles() {
        let size = |words, group| line(words, group).ok().map(|grid| (grid.width, grid.height));
        assert_eq!(size(4096, 64), Some((64, 64)));
        assert_eq!(size(4095, 64), None);
        assert_eq!(size(1 << 20, 256), Some((512, 2048)));
        assert_eq!(size(1_000_003, 256), Some((512, 1920)), "the rest is the CPU's");
        assert_eq!(size(4 << 20, 256), Some((2048, 2048)));
        assert_eq!(size(4 << 20, 100), None, "tiles end inside of a workgroup");
        assert_eq!(size((4 << 20) + 64, 64), None);
    }

    #[test]
    fn rows_are_drawn_where_tiles_end_with_them() {
        let size =
            |row, x, y, words| rows_of(row, [x, y], words, 16).ok().map(|grid| (grid.width, grid.height));
        assert_eq!(size(256, 256, 200, 1 << 20), Some((256, 192)));
        assert_eq!(size(256, 128, 64, 1 << 20), Some((128, 64)));
        assert_eq!(size(250, 250, 64, 1 << 20), None);
        assert_eq!(size(128, 256, 64, 1 << 20), None, "rows overlap");
        assert_eq!(size(256, 256, 64, 256 * 63), None, "the buffer ends");
        assert_eq!(size(0, 64, 64, 1 << 20), None);
    }
}
