//! What jobs draw to, and what tiles begin and end with.

use std::sync::Arc;

use vc4::hw::{TILE_MS_PX, TILE_PX};
use vc4::image::tiling::MAX_SURFACE;
use vc4::state::PixelRect;

use crate::foundation::facts::target_px;
use crate::objects::image_view::ImageView;

/// What a tile holds when drawing starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start<T> {
    /// This value.
    Clear(T),
    /// What memory holds.
    Load,
    /// Anything.
    Any,
}

impl<T> Start<T> {
    /// Whether memory is read.
    pub fn loads(&self) -> bool {
        matches!(self, Start::Load)
    }

    /// The start with another form of its value.
    pub fn map<U>(self, form: impl FnOnce(T) -> U) -> Start<U> {
        match self {
            Start::Clear(value) => Start::Clear(form(value)),
            Start::Load => Start::Load,
            Start::Any => Start::Any,
        }
    }

    /// Whether tiles are cleared.
    pub fn clears(&self) -> bool {
        matches!(self, Start::Clear(_))
    }
}

/// Depth and stencil in the tile buffer's terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DepthStencilWord {
    /// 24 bits.
    pub depth: u32,
    /// Stencil.
    pub stencil: u8,
}

/// A colour that a job draws to: all of a texel that the tile buffer holds.
#[derive(Clone)]
pub struct ColorTarget {
    /// The attachment.
    pub view: Arc<ImageView>,
    /// Location of the fragment stage's output.
    pub location: u32,
    /// Which word of its texels.
    pub plane: u8,
    /// Its start: a word of the tile buffer.
    pub start: Start<u32>,
    /// Whether it is kept.
    pub store: bool,
    /// What the averages of its samples are stored to.
    pub resolve: Option<Arc<ImageView>>,
    /// Whether the fragment stage may read the attachment, too.
    pub is_read: bool,
    /// Memory holds it already, and no draw changes it ([`Target::trimmed`]).
    pub is_idle: bool,
}

/// What a render segment draws to.
#[derive(Clone)]
pub struct Target {
    /// Colours: the segment is drawn once for each, and once without any (T-MRT, T-WIDE). Idle ones are not drawn.
    pub colors: Vec<ColorTarget>,
    /// Depth and stencil.
    pub depth_stencil: Option<Arc<ImageView>>,
    /// Its start.
    pub depth_stencil_start: Start<DepthStencilWord>,
    /// Whether it is kept.
    pub depth_stencil_store: bool,
    /// Pixels that may change.
    pub area: PixelRect,
    /// The framebuffer's pixel that is the first one to jobs: the corner of a part that is drawn by itself ([`Target::parts`]).
    pub corner: Option<[u32; 2]>,
    /// Size of the framebuffer.
    pub size: (u32, u32),
    /// Samples of a pixel, of all attachments; without any, of what is drawn.
    pub samples: u32,
    /// The view that is drawn: gl_ViewIndex.
    pub view: u32,
    /// An occlusion query wants to know how many samples pass.
    pub counts_samples: bool,
    /// A query wants to know what draws say of themselves.
    pub counts_draws: bool,
}

impl Target {
    /// A target without attachments, of one sample.
    pub fn empty(size: (u32, u32), area: PixelRect) -> Target {
        Target {
            colors: Vec::new(),
            depth_stencil: None,
            depth_stencil_start: Start::Any,
            depth_stencil_store: false,
            area,
            corner: None,
            size,
            samples: 1,
            view: 0,
            counts_samples: false,
            counts_draws: false,
        }
    }

    /// Makes what is drawn stay in memory, unresolved, for more to come.
    pub fn keep(&mut self) {
        for color in &mut self.colors {
            (color.store, color.resolve) = (true, None);
        }
        self.depth_stencil_store = self.depth_stencil.is_some();
    }

    /// Makes tiles begin with what memory holds.
    pub fn load(&mut self) {
        self.colors.iter_mut().for_each(|color| color.start = Start::Load);
        self.depth_stencil_start = Start::Load;
    }

    /// Whether pixels have four samples.
    pub fn is_multisampled(&self) -> bool {
        self.samples > 1
    }

    /// Edge of a tile in pixels.
    pub fn tile_px(&self) -> u32 {
        tile_px(self.samples)
    }

    /// The attachments.
    pub fn views(&self) -> impl Iterator<Item = &Arc<ImageView>> {
        self.colors.iter().map(|color| &color.view).chain(&self.depth_stencil)
    }

    /// The first plane of the colour at a location.
    pub fn color_at(&self, location: u32) -> Option<&ColorTarget> {
        self.colors.iter().find(|color| color.location == location)
    }

    /// Makes tiles begin with a colour, given by plane.
    pub fn clear_color(&mut self, location: u32, word: impl Fn(u8) -> u32) {
        for color in self.colors.iter_mut().filter(|color| color.location == location) {
            color.start = Start::Clear(word(color.plane));
        }
    }

    /// Takes the attachments' number of samples.
    pub fn count_samples(&mut self) {
        let samples = self.views().map(|view| view.samples()).next();
        self.samples = samples.unwrap_or(1);
    }

    /// What is drawn by itself: all at once, or parts that the machine's raster can be cut to (T-BIG). No pixel of one
    /// concerns another.
    pub fn parts(&self) -> Vec<Target> {
        let whole = |end: i32| end <= target_px() as i32;
        let PixelRect { left, top, right, bottom } = self.area;
        if whole(right) && whole(bottom) {
            return vec![self.clone()];
        }
        // Tiles are whole in memory only where an image is wider than a target. No part reaches from panel to panel.
        let spans = |start: i32, end: i32| {
            let first = if whole(end) { 0 } else { start.max(0) as u32 / TILE_PX * TILE_PX };
            let last = end.max(0) as u32;
            let next = move |&(_, from): &(u32, u32)| {
                let panel = from / MAX_SURFACE * MAX_SURFACE + MAX_SURFACE;
                (from < last).then(|| (from, (from + target_px()).min(panel)))
            };
            std::iter::successors(next(&(0, first)), next)
        };
        let parts = spans(top, bottom).flat_map(|(top, bottom)| {
            spans(left, right).map(move |(left, right)| PixelRect {
                left: left as i32,
                top: top as i32,
                right: right as i32,
                bottom: bottom as i32,
            })
        });
        let part = |cell: PixelRect| {
            let corner = Some([cell.left as u32, cell.top as u32]);
            Target { area: self.area.intersect(cell), corner, ..self.clone() }
        };
        parts.map(part).collect()
    }

    /// The pixel that is the first one to jobs.
    pub fn origin(&self) -> [u32; 2] {
        self.corner.unwrap_or_default()
    }

    /// The area as jobs count pixels.
    pub fn job_area(&self) -> PixelRect {
        self.area.seen_from(self.origin())
    }

    /// The passes of the segment, by number: one for each colour that is not idle, and one where there is none.
    pub fn passes(&self) -> impl DoubleEndedIterator<Item = usize> + use<'_> {
        let alone = self.colors.iter().all(|color| color.is_idle);
        (0..self.colors.len().max(1)).filter(move |&pass| match alone {
            true => pass == 0,
            false => !self.colors[pass].is_idle,
        })
    }

    /// What pass number `pass` draws to: one colour. All begin with the same depth and stencil, so only the last stores
    /// them.
    pub fn pass(&self, pass: usize) -> Target {
        Target {
            colors: self.colors.get(pass).filter(|color| !color.is_idle).cloned().into_iter().collect(),
            depth_stencil_store: self.depth_stencil_store && self.is_last(pass),
            ..self.clone()
        }
    }

    /// Whether what a pass draws has to stay out of the attachment as long as others are drawn, which read it.
    pub fn is_aside(&self, pass: usize) -> bool {
        !self.is_last(pass) && self.colors.get(pass).is_some_and(|color| color.is_read)
    }

    /// Whether pass number `pass` is the last one.
    pub fn is_last(&self, pass: usize) -> bool {
        self.passes().next_back() == Some(pass)
    }
}

/// Edge in pixels of a tile whose pixels have this many samples.
pub fn tile_px(samples: u32) -> u32 {
    if samples > 1 { TILE_MS_PX } else { TILE_PX }
}
