//! Passes one behind the other on the same attachments become one: tiles stay where they are between them, instead of going
//! to memory and back. Commands between them that concern the first one in nothing, as uploads for the second, come before both.

use std::sync::Arc;

use super::list::DrawList;
use super::segment::{RenderSegment, Segment, Segments, Touch};
use super::target::{ColorTarget, Start, Target};
use crate::objects::descriptor::Descriptor;
use crate::objects::image_view::ImageView;
use crate::objects::memory::{Binding, Span};

/// Commands between two passes that are looked at: uploads of what the second one draws are few.
const MOST_COMMANDS: usize = 16;
/// Lists of draws of a segment that more are appended to: all that they read is looked at each time.
const MOST_LISTS: usize = 256;

/// Appends a segment to a recording, or its draws to the last segment that draws. Commands between them then come first.
pub fn append(segments: &mut Segments, render: RenderSegment) {
    let is_command = |segment: &&Segment| matches!(segment, Segment::Cpu(_));
    let between = segments.iter().rev().take(MOST_COMMANDS).take_while(is_command).count();
    let place = segments.len() - between;
    let (before, commands) = segments.split_at_mut(place);
    if let Some(Segment::Render(last)) = before.last_mut() {
        // Another recording's stays as it is.
        let last = Arc::get_mut(last).filter(|last| goes_on(last, &render));
        if let Some(last) = last.filter(|last| commands.iter().all(|command| can_go_first(command, last))) {
            last.target = joined(&last.target, render.target);
            last.draws.extend(render.draws);
            segments[place - 1..].rotate_left(1);
            return;
        }
    }
    segments.push(Segment::Render(Arc::new(render)));
}

/// Whether a command behind a pass concerns nothing that the pass reads or draws to.
fn can_go_first(command: &Segment, pass: &RenderSegment) -> bool {
    let Segment::Cpu(command) = command else { return false };
    match command.touches() {
        // Others wait for somebody, or somebody for them.
        Touch::Nothing | Touch::Everything => false,
        Touch::Memory(spans) => {
            let drawn = attachments(&pass.target);
            let is_drawn =
                |span: &Span| drawn.as_ref().is_none_or(|drawn| drawn.iter().any(|to| to.meets(span)));
            !spans.iter().any(is_drawn) && !read(&pass.draws, &spans)
        }
    }
}

/// Whether what `next` draws may go on in the tiles of `last`.
fn goes_on(last: &RenderSegment, next: &RenderSegment) -> bool {
    if last.draws.len() >= MOST_LISTS {
        return false;
    }
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
        && attachments(a).is_some_and(|drawn| !read(&next.draws, &drawn))
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

/// The memory of what is drawn to; `None` where there is no memory.
fn attachments(target: &Target) -> Option<Vec<Span>> {
    target.views().map(|view| Some(view.image.binding().ok()?.span())).collect()
}

/// Whether draws may look at some memory. What cannot be known counts as such.
fn read(draws: &[Arc<DrawList>], spans: &[Span]) -> bool {
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
