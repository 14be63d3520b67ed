//! Blits and copies between images that the QPUs draw: a rectangle of the destination, filled by a program that samples or fetches the source.

use std::sync::Arc;

use ash::vk;
use vc4::image::{Rect, TexelInfo};

use super::drawn::{self, set};
use super::programs;
use super::sampling::{
    self, Becomes, FIRST_AT, LAST_AT, SCALE_AT, SCALED_WORDS, Scaled, Scaling, WEIGHT_AT, scaled,
};
use super::worth::pays;
use crate::foundation::format::{self, FormatRow, Storage};
use crate::objects::descriptor::Descriptor;
use crate::objects::image::Image;
use crate::objects::image_view::{ImageView, WORDS};
use crate::objects::sampler::Sampler;
use crate::pipeline::Rectangles;
use crate::segments::{Rectangle, RenderSegment};

/// What is added to places of nearest texels, in texels: those between two are the upper one's, whatever arithmetic rounds.
const TOWARDS_UPPER: f32 = 1.0 / 8192.0;

/// One layer of a level.
#[derive(Clone, Copy)]
pub(super) struct Slice<'a> {
    /// The image.
    pub image: &'a Arc<Image>,
    /// Level.
    pub level: u32,
    /// Layer.
    pub layer: u32,
}

/// What is seen: a layer, or of two the mixture.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    /// The layer.
    pub slice: Slice<'a>,
    /// The number of another one, and its weight.
    pub behind: Option<(u32, f32)>,
}

impl<'a> From<Slice<'a>> for Source<'a> {
    fn from(slice: Slice<'a>) -> Source<'a> {
        Source { slice, behind: None }
    }
}

/// Along one axis: the pixels that are drawn, and the place in the source of the first pixel of the level and how far it
/// advances from pixel to pixel, in texels.
pub(super) struct Span {
    /// The pixels.
    pub pixels: std::ops::Range<u32>,
    /// The place of the centre of pixel 0.
    pub first: f64,
    /// What a pixel adds.
    pub scale: f64,
}

impl Span {
    /// The same, of pixels from 0 on.
    pub fn at_start(&self) -> Span {
        let skipped = f64::from(self.pixels.start);
        let count = self.pixels.len() as u32;
        Span { pixels: 0..count, first: self.first + skipped * self.scale, scale: self.scale }
    }

    /// Whether every place is in the middle between two texels, as in the next level of a chain: the texture unit's weights
    /// are coarse, but a half they can say.
    fn is_between_two(&self) -> bool {
        self.scale == 2.0 && self.first.fract() == 0.0
    }
}

/// What happens to texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Words are moved.
    Move,
    /// The nearest texel becomes one of another format.
    Nearest,
    /// Texels are filtered.
    Linear,
}

/// The job that draws a rectangle of `to` with what `from` has there, or why there is none. `bits`: it gets the bits of texels of
/// that kind.
pub(super) fn scale<'a>(
    from: impl Into<Source<'a>>,
    to: Slice<'_>,
    spans: &[Span; 2],
    way: Way,
    bits: Option<TexelInfo>,
    rectangles: &mut Rectangles,
) -> Result<RenderSegment, String> {
    let Source { slice: from, behind } = from.into();
    let (width, height) = from.image.level_extent(from.level);
    pays(u64::from(width) * u64::from(height) * u64::from(from.image.row().bytes))?;
    if Arc::ptr_eq(from.image, to.image) && from.level == to.level && from.layer == to.layer {
        return Err("it reads the level that it writes".into());
    }
    let (source_row, row) = (from.image.row(), to.image.row());
    let seen = |layer| match way {
        Way::Move => words(Slice { layer, ..from }, to.image),
        Way::Nearest | Way::Linear => Ok(view(Slice { layer, ..from }, source_row)),
    };
    let target = if way == Way::Move { words(to, from.image)? } else { view(to, row) };
    let [columns, rows] = [&spans[0].pixels, &spans[1].pixels].map(|at| (at.start, at.len() as u32));
    let rect = Rect { x: columns.0, y: rows.0, width: columns.1, height: rows.1 };
    let (area, keeps) = drawn::area(&rect, &target)?;
    let what = match way {
        Way::Linear if behind.is_none() && spans.iter().all(Span::is_between_two) => Scaled::Unit,
        Way::Linear => Scaled::Mean,
        Way::Move | Way::Nearest => Scaled::Nearest,
    };
    let becomes = match (bits, row.info) {
        (Some(info), _) => Becomes::Bits(info),
        (None, Some(info)) if way == Way::Nearest && source_row.format != row.format && info.is_integer() => {
            Becomes::Limited(info)
        }
        _ => Becomes::Color,
    };
    let mut push = [0; SCALED_WORDS];
    for (axis, (span, size)) in spans.iter().zip([width, height]).enumerate() {
        let mut put = |at: u32, value: f32| push[(at / 4) as usize] = value.to_bits();
        // Samplers take fractions.
        let unit = if what == Scaled::Unit { f64::from(size) } else { 1.0 };
        let first = (span.first / unit) as f32;
        put(SCALE_AT[axis], (span.scale / unit) as f32);
        put(FIRST_AT[axis], if what == Scaled::Nearest { first + TOWARDS_UPPER } else { first });
        put(LAST_AT[axis], (size - 1) as f32);
    }
    push[(WEIGHT_AT / 4) as usize] = behind.map_or(0, |(_, weight)| weight.to_bits());
    let (sampler, ty) = match what {
        Scaled::Unit => (Some(clamped(rectangles)?), vk::DescriptorType::COMBINED_IMAGE_SAMPLER),
        Scaled::Nearest | Scaled::Mean => (None, vk::DescriptorType::SAMPLED_IMAGE),
    };
    let scaling = Scaling { what, mixes: behind.is_some(), becomes };
    let pipeline =
        rectangles.pipeline(("scaled", scaling.number()), target.row.format, || scaled(scaling))?;
    let descriptor = |layer, place| {
        let source = seen(layer)?;
        check_source(&source)?;
        set(place, ty, Descriptor::Image { view: Some(Arc::new(source)), sampler: sampler.clone() })
    };
    let first = descriptor(from.layer, programs::IMAGE)?;
    let second = behind.map(|(layer, _)| descriptor(layer, sampling::BEHIND)).transpose()?;
    let sets = [Some(&first), second.as_ref()];
    let rectangle = Rectangle { view: Arc::new(target), area, keeps };
    Ok(rectangle.segment(&pipeline, |number| Some((*sets.get(number)?.as_ref()?, &[][..])), &push))
}

fn clamped(rectangles: &Rectangles) -> Result<Arc<Sampler>, String> {
    let edge = vk::SamplerAddressMode::CLAMP_TO_EDGE;
    let info = vk::SamplerCreateInfo {
        mag_filter: vk::Filter::LINEAR,
        min_filter: vk::Filter::LINEAR,
        address_mode_u: edge,
        address_mode_v: edge,
        address_mode_w: edge,
        ..Default::default()
    };
    Sampler::new(rectangles.device(), &info).map(Arc::new).map_err(|error| error.to_string())
}

/// A slice as its image has it.
fn view(slice: Slice<'_>, row: &'static FormatRow) -> ImageView {
    ImageView::flat(slice.image.clone(), row, slice.image.stored(), slice.level, slice.layer)
}

/// A slice as words, which mean the same in another image.
fn words(slice: Slice<'_>, other: &Image) -> Result<ImageView, String> {
    let (stored, no_words) = (slice.image.stored(), || "its texels are no words".to_owned());
    let row = format::row(WORDS).ok_or_else(no_words)?;
    let target = row.target.ok_or_else(no_words)?;
    let same = stored.storage == other.stored().storage
        && (stored.storage == Storage::Plain || slice.image.row().format == other.row().format);
    // Linear images hold texels as buffers do, which may be shorter.
    let short = stored.texel.info().cpp != 4 || slice.image.layout().shape.cpp != 4;
    if !same || stored.planes() != 1 || short || slice.image.row().block() > 1 {
        return Err(no_words());
    }
    Ok(ImageView { stored: target, ..view(slice, row) })
}

fn check_source(view: &ImageView) -> Result<(), String> {
    let image = &view.image;
    match image.samples() != 1 || view.aspects != vk::ImageAspectFlags::COLOR {
        true => Err(format!("its source has several samples, or no colours: {:?}", view.row.format)),
        false => Ok(()),
    }
}
