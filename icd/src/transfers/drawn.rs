//! What transfers that the QPUs draw have in common: jobs and what they leave, and rectangles of words that a program fills with
//! a buffer's bytes.

use std::sync::Arc;

use ash::vk;
use vc4::hw::TILE_PX;
use vc4::image::Rect;
use vc4::state::PixelRect;
use vc4_shaders::binding::Descriptor as Place;
use vc4_shaders::ir::Shader;

use super::beside;
use super::lines::{Limits, Line, lines};
use super::programs::{self, BASE_AT, Filling, PART_WORDS, PITCH_AT, gather, put_limits};
use super::texels::Part;
use super::words::{Cover, Fold, Words};
use crate::foundation::debug::{Debug, flags, slow, tells_slow};
use crate::foundation::format;
use crate::objects::buffer::Buffer;
use crate::objects::descriptor::{Binding, Descriptor, DescriptorSet, SetLayout};
use crate::objects::image::Image;
use crate::objects::image_view::{ImageView, WORDS};
use crate::pipeline::{Rectangles, Task};
use crate::segments::{CpuCommand, Drawing, Rectangle, RenderSegment, Rest};

/// Jobs, and what they leave to the CPU.
pub(super) struct Work<R> {
    /// The jobs.
    pub jobs: Vec<RenderSegment>,
    /// What is left.
    pub rest: Vec<R>,
}

impl<R> Work<R> {
    /// Jobs that leave nothing.
    pub fn all(jobs: Vec<RenderSegment>) -> Work<R> {
        Work { jobs, rest: Vec::new() }
    }
}

/// The jobs of the parts of a command, and what is the CPU's. `jobs` says why there are none for one.
pub(super) fn parts<R>(
    command: &dyn CpuCommand,
    parts: Vec<R>,
    mut jobs: impl FnMut(&R) -> Result<Work<R>, String>,
) -> (Vec<RenderSegment>, Vec<R>) {
    let (mut renders, mut left) = (Vec::new(), Vec::new());
    for (number, part) in parts.into_iter().enumerate() {
        match jobs(&part) {
            Ok(work) => {
                renders.extend(work.jobs);
                left.extend(work.rest);
            }
            Err(why) => {
                if tells_slow() {
                    slow(format_args!("{}: part {number} is the CPU's: {why}", command.describe()));
                }
                left.push(part);
            }
        }
    }
    if flags().contains(Debug::PERF) && !renders.is_empty() {
        eprintln!("perf: {} is drawn by {} jobs", command.describe(), renders.len());
    }
    (renders, left)
}

/// What is drawn, beside the command that does the rest, if anything is.
pub(super) fn drawing(renders: Vec<RenderSegment>, rest: Option<Box<dyn CpuCommand>>) -> Option<Drawing> {
    let rest = rest.map(Rest::Command);
    (!renders.is_empty()).then_some(Drawing { renders, rest, changes_buffers: false, may_wait: false })
}

/// A buffer's bytes as rows: the byte of pixel (0, 0) of a view, and bytes from row to row.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a> {
    /// The buffer.
    pub buffer: &'a Arc<Buffer>,
    /// The first byte, modulo 2^32.
    pub first: u64,
    /// From row to row.
    pub pitch: u64,
}

/// The job that fills a rectangle of words with bytes of a buffer, as far as the limits go.
pub(super) fn gathered(
    rectangle: Rectangle,
    what: impl Into<Filling>,
    from: Bytes<'_>,
    limits: Option<Limits>,
    rectangles: &mut Rectangles,
) -> Result<RenderSegment, String> {
    let what = what.into();
    let task = ("gather", what.number());
    gathered_by(rectangle, task, || gather(what), from, limits, rectangles)
}

/// The same by a program of one's own.
pub(super) fn gathered_by(
    rectangle: Rectangle,
    task: Task,
    program: impl FnOnce() -> Shader,
    Bytes { buffer, first, pitch }: Bytes<'_>,
    limits: Option<Limits>,
    rectangles: &mut Rectangles,
) -> Result<RenderSegment, String> {
    let pipeline = rectangles.pipeline(task, rectangle.view.row.format, program)?;
    let mut push = [0; PART_WORDS];
    push[(PITCH_AT / 4) as usize] = pitch as u32;
    let skipped = limits.map_or(0, |limits| limits.skipped);
    push[(BASE_AT / 4) as usize] = first.wrapping_add(skipped) as u32;
    limits.into_iter().for_each(|limits| put_limits(&mut push, limits));
    let descriptor = Descriptor::Buffer { buffer: buffer.clone(), offset: 0, range: buffer.size() };
    let set = set(programs::BUFFER, vk::DescriptorType::STORAGE_BUFFER, descriptor)?;
    Ok(rectangle.segment(&pipeline, |number| (number == 0).then_some((&set, &[][..])), &push))
}

/// How words are filled with texels.
#[derive(Clone, Copy)]
pub(super) struct Filled {
    /// How these lie in them.
    pub fold: Fold,
    /// What is filled of words that are not all filled.
    pub limits: Option<Limits>,
}

/// The words of a part of a plane, by one job: those that it has all of, and those that it has a part of. Of what is no
/// picture of words, by a job for each strip. `job` tells the job of either from the words and what of their tiles is kept.
pub(super) fn covered(
    image: &Image,
    part: &Part,
    plane: u8,
    rectangles: &mut Rectangles,
    mut job: impl FnMut(Rectangle, Filled, &mut Rectangles) -> Result<RenderSegment, String>,
) -> Result<Vec<RenderSegment>, String> {
    let Some(words) = Words::new(image, part.level, part.slice, plane) else {
        let strips = lines(rectangles.device(), image, part)?;
        let filled = |limits| Filled { fold: Fold::Line, limits: Some(limits) };
        return strips.into_iter().map(|(strip, limits)| job(strip, filled(limits), rectangles)).collect();
    };
    let Cover { inner, edges, keeps } = words.cover(part.rect);
    if keeps {
        beside::of_image(image)?;
    }
    let limits = Limits { rect: part.rect, line: Line::default(), skipped: 0 };
    let inner = inner.into_iter().map(|area| (area, None));
    let edges = edges.into_iter().map(|area| (area, Some(limits)));
    let mut all: Vec<RenderSegment> = Vec::new();
    for (area, limits) in inner.chain(edges) {
        let rectangle = Rectangle { view: words.view.clone(), area, keeps };
        let one = job(rectangle, Filled { fold: words.fold, limits }, rectangles)?;
        match all.first_mut() {
            Some(all) => all.join(one),
            None => all.push(one),
        }
    }
    Ok(all)
}

/// A set with one descriptor.
pub(super) fn set(
    place: Place,
    ty: vk::DescriptorType,
    descriptor: Descriptor,
) -> Result<Arc<DescriptorSet>, String> {
    let binding = Binding::new(place.binding, ty, 1, vk::ShaderStageFlags::FRAGMENT, Vec::new());
    let set = DescriptorSet::new(&Arc::new(SetLayout::new(vec![binding])));
    set.write(place.binding, place.element, vec![descriptor]).map_err(|error| error.to_string())?;
    Ok(Arc::new(set))
}

/// The words of a slice of an image, to be fetched.
pub(super) fn words_of(image: &Arc<Image>, part: &Part, place: Place) -> Result<Arc<DescriptorSet>, String> {
    let none = || "no program reads words".to_owned();
    let row = format::row(WORDS).ok_or_else(none)?;
    let stored = row.texture.ok_or_else(none)?;
    let view = ImageView::flat(image.clone(), row, stored, part.level, part.slice);
    let descriptor = Descriptor::Image { view: Some(Arc::new(view)), sampler: None };
    set(place, vk::DescriptorType::SAMPLED_IMAGE, descriptor)
}

/// The pixels of a rectangle of a view and whether others lie in their tiles, or why it is not drawn.
pub(super) fn area(rect: &Rect, view: &ImageView) -> Result<(PixelRect, bool), String> {
    check_target(view)?;
    if rect.width == 0 || rect.height == 0 {
        return Err("it is empty".into());
    }
    let (width, height) = view.extent();
    let (right, bottom) = (rect.x + rect.width, rect.y + rect.height);
    let ends = |at: u32, edge: u32| at % TILE_PX == 0 || at == edge;
    let whole = rect.x % TILE_PX == 0 && rect.y % TILE_PX == 0 && ends(right, width) && ends(bottom, height);
    if !whole {
        beside::of_image(&view.image)?;
    }
    let area =
        PixelRect { left: rect.x as i32, top: rect.y as i32, right: right as i32, bottom: bottom as i32 };
    Ok((area, !whole))
}

/// Whether the tile buffer holds the texels of a view as they are.
fn check_target(view: &ImageView) -> Result<(), String> {
    let (image, info) = (&view.image, view.stored.texel.info());
    let holds = view.row.target == Some(view.stored) && view.row.encoding().is_some();
    if !holds || info.tile.is_none() {
        return Err(format!("tiles do not hold {:?} as its image does", view.row.format));
    }
    if image.samples() != 1 || image.is_volume() {
        return Err("its destination is no flat image of one sample".into());
    }
    Ok(())
}
