//! Copies from buffers to images that the QPUs draw: a rectangle whose pixels are words of the image, filled by a program
//! that looks its buffer's bytes up.

use std::sync::Arc;

use ash::vk;
use vc4::facts::Number;
use vc4_shaders::binding::Descriptor as Place;

use super::conversion::Conversion;
use super::programs::{self, BASE_AT, Gather, PITCH_AT, gather};
use super::texels::Part;
use super::words::Words;
use crate::foundation::debug::{Debug, flags};
use crate::foundation::engine::{Engine, transfers};
use crate::foundation::facts::numbers;
use crate::objects::buffer::Buffer;
use crate::objects::descriptor::{Binding, Descriptor, DescriptorSet, SetLayout};
use crate::objects::image::Image;
use crate::pipeline::Rectangles;
use crate::segments::{CpuCommand, Drawing, Rectangle, RenderSegment, Rest};

/// Bytes that a board's CPU reads of mapped memory in the time that a job takes, if not in less: a job is 200 us, and a
/// Pi 3 reads some hundred MB/s.
const WORTH_A_JOB: u64 = 16 << 10;

/// The same of this machine, where both were measured.
pub(super) fn worth_a_job() -> u64 {
    let measured = |number| numbers().measured(number);
    match (measured(Number::Job), measured(Number::BoRead)) {
        (Some(job), Some(read)) => (job * read) as u64,
        _ => WORTH_A_JOB,
    }
}

/// Bytes of a buffer, row by row.
pub(super) struct Rows<'a> {
    /// The buffer.
    pub buffer: &'a Arc<Buffer>,
    /// The first byte.
    pub offset: u64,
    /// Bytes from row to row.
    pub pitch: u64,
    /// Bytes of a row.
    pub row: u64,
}

/// The jobs of the regions of a command, and the regions that are the CPU's. `jobs` says why there are none for one.
pub(super) fn regions<R: Copy>(
    command: &str,
    regions: &[R],
    mut jobs: impl FnMut(&R) -> Result<Vec<RenderSegment>, String>,
) -> (Vec<RenderSegment>, Vec<R>) {
    let (mut renders, mut left) = (Vec::new(), Vec::new());
    let says = flags().contains(Debug::PERF);
    for (number, region) in regions.iter().enumerate() {
        match jobs(region) {
            Ok(jobs) => renders.extend(jobs),
            Err(why) => {
                if says {
                    eprintln!("perf: {command}: region {number} is the CPU's: {why}");
                }
                left.push(*region);
            }
        }
    }
    if says && !renders.is_empty() {
        eprintln!("perf: {command} is drawn by {} jobs", renders.len());
    }
    (renders, left)
}

/// What is drawn, beside the command that does the rest, if anything is.
pub(super) fn drawing(renders: Vec<RenderSegment>, rest: Option<Box<dyn CpuCommand>>) -> Option<Drawing> {
    let rest = rest.map(Rest::Command);
    (!renders.is_empty()).then_some(Drawing { renders, rest, changes_buffers: false, may_wait: false })
}

/// Whether so many bytes are worth a job, or why not.
pub(super) fn pays(bytes: u64) -> Result<(), String> {
    match transfers() {
        Engine::Cpu => Err("VC4VK_TRANSFERS says so".into()),
        Engine::Auto if bytes < worth_a_job() => Err(format!("{bytes} bytes are too few for a job")),
        Engine::Auto | Engine::Qpu => Ok(()),
    }
}

/// The job that fills a part of an image with rows of a buffer, or why there is none.
pub(super) fn upload(
    rows: &Rows<'_>,
    image: &Image,
    part: &Part,
    aspect: vk::ImageAspectFlags,
    rectangles: &mut Rectangles,
) -> Result<RenderSegment, String> {
    let (stored, rect) = (image.stored(), part.rect);
    pays(rows.row * u64::from(rect.height))?;
    if rect.width == 0 || rect.height == 0 {
        return Err("it is empty".into());
    }
    let conversion = Conversion::new(image.row(), stored.storage, aspect);
    if stored.planes() > 1 || image.row().block() > 1 {
        return Err(format!("texels of {:?} are not moved as they are", image.row().format));
    }
    let words = Words::new(image, part.level, part.slice, 0).ok_or("tiles do not reach all of the level")?;
    let (area, keeps) = words.area(rect).ok_or("it ends inside of words")?;
    let end = rows.offset.saturating_add(rows.pitch.saturating_mul(u64::from(rect.height - 1)) + rows.row);
    let size = rows.buffer.size();
    // Lookups take whole words.
    if end > size || end.next_multiple_of(4) > size {
        return Err("it ends where the buffer does, inside of a word".into());
    }
    let texel = rows.row / u64::from(rect.width);
    let what = match conversion {
        Conversion::None => {
            let aligned = rows.offset % 4 == 0 && rows.pitch % 4 == 0;
            Gather::Words { fold: words.fold, aligned }
        }
        Conversion::Widened(bytes) => Gather::Widened(bytes as u32),
        _ => return Err(format!("texels of {:?} are not moved as they are", image.row().format)),
    };
    let task = ("gather", what.number());
    let pipeline = rectangles.pipeline(task, words.view.row.format, || gather(what))?;
    // Where the level's first texel would lie.
    let skipped = u64::from(rect.y).wrapping_mul(rows.pitch).wrapping_add(u64::from(rect.x) * texel);
    let mut push = [0; 2];
    push[(BASE_AT / 4) as usize] = rows.offset.wrapping_sub(skipped) as u32;
    push[(PITCH_AT / 4) as usize] = rows.pitch as u32;
    let descriptor = Descriptor::Buffer { buffer: rows.buffer.clone(), offset: 0, range: rows.buffer.size() };
    let set = set(programs::BUFFER, vk::DescriptorType::STORAGE_BUFFER, descriptor)?;
    let rectangle = Rectangle { view: words.view.clone(), area, keeps };
    Ok(rectangle.segment(&pipeline, |number| (number == 0).then_some((&set, &[][..])), &push))
}

/// A set with one descriptor.
pub(super) fn set(
    place: Place,
    ty: vk::DescriptorType,
    descriptor: Descriptor,
) -> Result<Arc<DescriptorSet>, String> {
    let binding = Binding {
        number: place.binding,
        ty,
        count: 1,
        stages: vk::ShaderStageFlags::FRAGMENT,
        immutable: Vec::new(),
        slot: 0,
        dynamic: 0,
    };
    let set = DescriptorSet::new(&Arc::new(SetLayout::new(vec![binding])));
    set.write(place.binding, place.element, vec![descriptor]).map_err(|error| error.to_string())?;
    Ok(Arc::new(set))
}
