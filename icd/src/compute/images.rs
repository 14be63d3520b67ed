//! The image operations of a kernel, resolved for a dispatch: each knows its view, sampler and arguments.

use vc4_shaders::binding;
use vc4_shaders::ir::{Atomic, Fetch, ImageDim, Lod, Op, Sample, Texel};
use vc4_shaders_cpu::{Images, Rows, WIDTH, Words};

use super::bindings::Bound;
use super::sampler::{Detail, Lookup, Sampled, float};
use super::surface::{Level, Surface};
use crate::foundation::error::Error;
use crate::objects::descriptor::Descriptor;
use crate::objects::sampler::Sampler;

/// The image of an operation.
pub(super) fn image(op: &Op) -> Option<binding::Descriptor> {
    match op {
        Op::Sample(sample) | Op::ImageLod(sample) | Op::Gather { sample, .. } => Some(sample.texture.image),
        Op::Fetch(fetch) => Some(fetch.image),
        Op::ImageRead(texel) | Op::ImageWrite(texel) | Op::ImageAtomic(texel, _) => Some(texel.image),
        Op::ImageSize { image, .. } | Op::ImageLevels(image) | Op::ImageSamples(image) => Some(*image),
        _ => None,
    }
}

/// An operation on what is bound.
struct Access<'a> {
    op: Op,
    /// Nothing if it was never written: reads give 0, stores are lost.
    surface: Option<&'a Surface>,
    /// The same with a sampler, where there is one.
    sampled: Option<Sampled<'a>>,
}

/// The views of a dispatch, each once.
pub(super) struct Surfaces {
    surfaces: Vec<(binding::Descriptor, Option<Surface>)>,
}

impl Surfaces {
    /// Resolves what operations look at.
    pub fn new(ops: &[Op], bindings: &dyn Bound) -> Result<Surfaces, Error> {
        let mut places: Vec<_> = ops.iter().filter_map(image).collect();
        places.sort_unstable();
        places.dedup();
        let resolve = |place| {
            let surface = match bindings.find(place).0 {
                Descriptor::Image { view: Some(view), .. } => Some(Surface::of_image(view)?),
                Descriptor::Texels(view) => Some(Surface::of_buffer(view)?),
                _ => None,
            };
            Ok((place, surface))
        };
        Ok(Surfaces { surfaces: places.into_iter().map(resolve).collect::<Result<_, Error>>()? })
    }

    fn find(&self, place: binding::Descriptor) -> Option<&Surface> {
        let index = self.surfaces.binary_search_by_key(&place, |(known, _)| *known).ok()?;
        self.surfaces.get(index)?.1.as_ref()
    }
}

/// What the image operations of a kernel act on.
pub(super) struct BoundImages<'a> {
    accesses: Vec<Access<'a>>,
}

impl<'a> BoundImages<'a> {
    /// Puts operations, views and samplers together.
    pub fn new(ops: &[Op], surfaces: &'a Surfaces, bindings: &'a dyn Bound) -> BoundImages<'a> {
        let access = |op: &Op| {
            let surface = image(op).and_then(|place| surfaces.find(place));
            let sampled = surface.zip(sample_of(op)).and_then(|(surface, sample)| {
                let sampler = sampler(bindings, sample)?;
                Some(Sampled::new(surface, sampler, sample.dim.axes()))
            });
            Access { op: *op, surface, sampled }
        };
        BoundImages { accesses: ops.iter().map(access).collect() }
    }
}

/// What an operation with a sampler says.
fn sample_of(op: &Op) -> Option<&Sample> {
    match op {
        Op::Sample(sample) | Op::Gather { sample, .. } => Some(sample),
        _ => None,
    }
}

fn sampler<'a>(bindings: &'a dyn Bound, sample: &Sample) -> Option<&'a Sampler> {
    match bindings.find(sample.texture.sampler?).0 {
        Descriptor::Sampler(sampler) | Descriptor::Image { sampler: Some(sampler), .. } => Some(sampler),
        _ => None,
    }
}

impl Images for BoundImages<'_> {
    fn rows(&self, index: usize) -> Option<Rows> {
        self.accesses.get(index)?.surface?.rows()
    }

    fn access(&self, index: usize, arguments: &[Words], active: u8, results: &mut [Words]) {
        let Some((access, surface)) =
            self.accesses.get(index).and_then(|access| Some((access, access.surface?)))
        else {
            results.fill([0; WIDTH]);
            return;
        };
        let at = |element| Arguments { words: arguments, element };
        match access.op {
            Op::ImageRead(texel) => each(active, |element| {
                put(results, element, read(surface, &texel, &at(element)));
            }),
            Op::ImageWrite(texel) => each(active, |element| write(surface, &texel, &at(element))),
            Op::ImageAtomic(texel, action) => each(active, |element| {
                put(results, element, [change(surface, &texel, action, &at(element)), 0, 0, 0]);
            }),
            Op::Fetch(op) => each(active, |element| {
                put(results, element, fetch(surface, &op, &at(element)));
            }),
            Op::Sample(op) => each(active, |element| {
                let sample = |sampled: &Sampled<'_>| sampled.sample(&lookup(&op, true, &at(element)));
                put(results, element, access.sampled.as_ref().map(sample).unwrap_or_default());
            }),
            Op::Gather { sample, component } => each(active, |element| {
                let lookup = lookup(&sample, false, &at(element));
                let gather = |sampled: &Sampled<'_>| sampled.gather(&lookup, usize::from(component & 3));
                put(results, element, access.sampled.as_ref().map(gather).unwrap_or_default());
            }),
            Op::ImageSize { axis, .. } => each(active, |element| {
                put(results, element, [size(surface, axis, at(element).word(0)), 0, 0, 0]);
            }),
            Op::ImageLevels(_) => put_all(results, surface.levels().len() as u32),
            Op::ImageSamples(_) => put_all(results, surface.samples()),
            // Levels of detail are those of fragments.
            _ => results.fill([0; WIDTH]),
        }
    }
}

/// Does something for every element that is active.
#[inline(always)]
fn each(active: u8, mut work: impl FnMut(usize)) {
    for element in 0..WIDTH {
        if active >> element & 1 != 0 {
            work(element);
        }
    }
}

fn put_all(results: &mut [Words], word: u32) {
    results.iter_mut().for_each(|words| *words = [word; WIDTH]);
}

#[inline(always)]
fn put(results: &mut [Words], element: usize, color: [u32; 4]) {
    for (words, value) in results.iter_mut().zip(color) {
        words[element] = value;
    }
}

/// The arguments of one element. What is missing is 0.
struct Arguments<'a> {
    words: &'a [Words],
    element: usize,
}

impl Arguments<'_> {
    fn word(&self, index: usize) -> u32 {
        self.words.get(index).map_or(0, |words| words[self.element])
    }

    fn float(&self, index: usize) -> f32 {
        self.words.get(index).map_or(0.0, |words| float(words, self.element))
    }
}

/// Column, row and slice or layer of integer coordinates; how many there are.
#[inline(always)]
fn coordinates(dim: ImageDim, arrayed: bool, arguments: &Arguments<'_>) -> ([u32; 3], usize) {
    match (dim, arrayed) {
        (ImageDim::D1 | ImageDim::Buffer, false) => ([arguments.word(0), 0, 0], 1),
        (ImageDim::D1 | ImageDim::Buffer, true) => ([arguments.word(0), 0, arguments.word(1)], 2),
        (ImageDim::D2, false) => ([arguments.word(0), arguments.word(1), 0], 2),
        _ => ([arguments.word(0), arguments.word(1), arguments.word(2)], 3),
    }
}

fn is_inside(level: &Level, at: [u32; 3]) -> bool {
    at[0] < level.size[0] && at[1] < level.size[1] && at[2] < level.size[2]
}

/// The first level and a texel of it that a storage operation names, with its sample and where the other arguments begin.
#[inline(always)]
fn texel<'a>(
    surface: &'a Surface,
    texel: &Texel,
    arguments: &Arguments<'_>,
) -> Option<(&'a Level, [u32; 3], u32, usize)> {
    let (at, count) = coordinates(texel.dim, texel.arrayed, arguments);
    let sample = if texel.multisampled { arguments.word(count) } else { 0 };
    let level = surface.levels().first().filter(|level| is_inside(level, at))?;
    (sample < surface.samples()).then_some((level, at, sample, texel.coordinates()))
}

#[inline(always)]
fn read(surface: &Surface, op: &Texel, arguments: &Arguments<'_>) -> [u32; 4] {
    match texel(surface, op, arguments) {
        Some((level, at, sample, _)) => surface.stored(level, at, sample),
        None => [0; 4],
    }
}

#[inline(always)]
fn write(surface: &Surface, op: &Texel, arguments: &Arguments<'_>) {
    if let Some((level, at, _, rest)) = texel(surface, op, arguments) {
        surface.store(level, at, [0, 1, 2, 3].map(|n| arguments.word(rest + n)));
    }
}

fn change(surface: &Surface, op: &Texel, action: Atomic, arguments: &Arguments<'_>) -> u32 {
    match texel(surface, op, arguments) {
        Some((level, at, _, rest)) => {
            surface.change(level, at, action, [arguments.word(rest), arguments.word(rest + 1)])
        }
        None => 0,
    }
}

fn fetch(surface: &Surface, op: &Fetch, arguments: &Arguments<'_>) -> [u32; 4] {
    let (mut at, count) = coordinates(op.dim, op.arrayed, arguments);
    if op.offset {
        for (axis, at) in at.iter_mut().enumerate().take(op.dim.axes()) {
            *at = at.wrapping_add(arguments.word(count + 1 + axis));
        }
    }
    // Of multisampled images the number behind the coordinates is the sample.
    let number = arguments.word(count);
    let (level, sample) = if surface.samples() > 1 { (0, number) } else { (number, 0) };
    let level = surface.levels().get(level as usize).filter(|level| is_inside(level, at));
    match level.filter(|_| sample < surface.samples()) {
        Some(level) => surface.mapped(surface.stored(level, at, sample)),
        None => [0; 4],
    }
}

/// The lookup that arguments describe. Behind the coordinates they are in the order of [`Sample`].
fn lookup(op: &Sample, has_detail: bool, arguments: &Arguments<'_>) -> Lookup {
    let axes = op.dim.coordinates();
    let vector = |first: usize| {
        let mut vector = [0.0; 3];
        (0..axes).for_each(|axis| vector[axis] = arguments.float(first + axis));
        vector
    };
    let mut next = axes + usize::from(op.arrayed);
    let layer = if op.arrayed { arguments.float(axes) } else { 0.0 };
    let (mut detail, mut bias) = (Detail::Level(0.0), 0.0);
    if has_detail {
        match op.lod {
            Lod::Auto => {}
            Lod::Bias => bias = arguments.float(next),
            Lod::Explicit => detail = Detail::Level(arguments.float(next)),
            Lod::Grad => detail = Detail::Gradient([vector(next), vector(next + axes)]),
        }
        next += op.lod_arguments();
    }
    let mut offset = [0; 3];
    if op.offset {
        (0..op.dim.axes()).for_each(|axis| offset[axis] = arguments.word(next + axis) as i32);
        next += op.dim.axes();
    }
    let reference = op.compare.then(|| arguments.float(next));
    Lookup { place: vector(0), layer, detail, bias, offset, reference }
}

/// Texels along an axis of a level, or layers.
fn size(surface: &Surface, axis: u8, level: u32) -> u32 {
    match axis {
        2 if !surface.is_volume() => {
            surface.layers() / if surface.is_cube() { super::cube::FACES } else { 1 }
        }
        axis => surface.levels().get(level as usize).map_or(0, |level| level.size[usize::from(axis.min(2))]),
    }
}
