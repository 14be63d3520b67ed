//! Passes one behind the other on the same attachments become one: tiles stay where they are between them, instead of going
//! to memory and back.

use std::sync::Arc;

use super::list::DrawList;
use super::segment::{RenderSegment, Segment, Segments};
use super::target::{ColorTarget, Start, Target};
use crate::objects::descriptor::Descriptor;
use crate::objects::image_view::ImageView;
use crate::objects::memory::{Binding, Span};

/// Appends a segment to a recording, or its draws to the last segment.
pub fn append(segments: &mut Segments, render: RenderSegment) {
    if let Some(Segment::Render(last)) = segments.last_mut() {
        // Another recording's stays as it is.
        if let Some(last) = Arc::get_mut(last).filter(|last| goes_on(last, &render)) {
            last.target = joined(&last.target, render.target);
            last.draws.extend(render.draws);
            return;
        }
    }
    segments.push(Segment::Render(Arc::new(render)));
}

/// Whether what `next` draws may go on in the tiles of `last`.
fn goes_on(last: &RenderSegment, next: &RenderSegment) -> bool {
    let (a, b) = (&last.target, &next.target);
    let frame = |target: &Target| {
        let Target { area, corner, size, samples, view, counts_samples, counts_draws, .. } = *target;
        (area, corner, size, samples, view, counts_samples, counts_draws)
    };
    let depth_stencils = match (&a.depth_stencil, &b.depth_stencil) {
        (None, None) => true,
        (Some(old), Some(new)) => is_same(old, new) && stays(a.depth_stencil_store, &b.depth_stencil_start),
        _ => false,
    };
    frame(a) == frame(b)
        && a.colors.len() == b.colors.len()
        && a.colors.iter().zip(&b.colors).all(|(old, new)| color_goes_on(old, new))
        && depth_stencils
        && a.views().next().is_some()
        && !reads(&next.draws, a)
}

fn color_goes_on(old: &ColorTarget, new: &ColorTarget) -> bool {
    (old.location, old.plane) == (new.location, new.plane)
        && is_same(&old.view, &new.view)
        && stays(old.store, &new.start)
        && old.resolve.is_none()
        && !(old.is_read || new.is_read)
}

/// Whether tiles that are stored, or not, hold what a pass is to begin with.
fn stays<T>(is_stored: bool, start: &Start<T>) -> bool {
    match start {
        Start::Load => is_stored,
        Start::Any => true,
        Start::Clear(_) => false,
    }
}

fn is_same(a: &Arc<ImageView>, b: &Arc<ImageView>) -> bool {
    let place = |view: &ImageView| (view.row.format, view.base_level, view.base_layer, view.aspects);
    Arc::ptr_eq(&a.image, &b.image) && place(a) == place(b)
}

/// The beginning of one with the end of another.
fn joined(first: &Target, mut last: Target) -> Target {
    for (color, before) in last.colors.iter_mut().zip(&first.colors) {
        color.start = before.start;
    }
    last.depth_stencil_start = first.depth_stencil_start;
    last
}

/// Whether draws may look at memory of the attachments. What cannot be known counts as such.
fn reads(draws: &[Arc<DrawList>], target: &Target) -> bool {
    let spans: Option<Vec<Span>> =
        target.views().map(|view| Some(view.image.binding().ok()?.span())).collect();
    let Some(spans) = spans else { return true };
    let meets = |memory: Option<&Binding>| {
        memory.is_none_or(|memory| spans.iter().any(|span| span.meets(&memory.span())))
    };
    let looks_there = |descriptor: &Descriptor| match descriptor {
        Descriptor::Empty | Descriptor::Sampler(_) | Descriptor::Image { view: None, .. } => false,
        Descriptor::Image { view: Some(view), .. } => {
            let planes = std::iter::once(view).chain(&view.planes);
            planes.into_iter().any(|view| meets(view.image.binding().ok()))
        }
        Descriptor::Buffer { buffer, .. } => meets(buffer.binding().ok()),
        Descriptor::Texels(view) => meets(view.buffer.binding().ok()),
    };
    draws.iter().any(|list| {
        list.buffers().any(|buffer| meets(buffer.binding().ok())) || list.descriptors().any(looks_there)
    })
}
