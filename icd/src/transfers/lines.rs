//! Levels in rows that are no pictures of words: of short texels in rows that end anywhere, of wide ones beyond a surface's columns,
//! from panel to panel. Their memory is drawn as strips whose rows have nothing to do with the level's, and a program tells
//! what lies in each word.

use vc4::image::Rect;
use vc4::image::tiling::{Level, MAX_SURFACE, Tiling};
use vc4::state::PixelRect;

use super::beside;
use super::strips::{WORD, cut};
use super::texels::Part;
use crate::foundation::error::Error;
use crate::foundation::format::Storage;
use crate::objects::device::Device;
use crate::objects::image::Image;
use crate::objects::image_view::ImageView;
use crate::objects::placement::{Placement, SURFACE_ALIGNMENT};
use crate::segments::Rectangle;

/// What of the words of a picture is filled.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// These texels; of a panel, counted from its first column.
    pub rect: Rect,
    /// Of a strip, where its words lie.
    pub line: Line,
    /// Bytes of a row of the level in front of the panel.
    pub skipped: u64,
}

/// Where the words of a strip lie in rows.
#[derive(Clone, Copy, Default)]
pub(super) struct Line {
    /// Words of the level in front of the first one.
    pub first: u32,
    /// Words of a row of the strip.
    pub width: u32,
    /// Words of a row of the level.
    pub pitch: u32,
}

/// The strips that a part of a level in rows lies in, or why there are none.
pub(super) fn lines(device: &Device, image: &Image, part: &Part) -> Result<Vec<(Rectangle, Limits)>, String> {
    let unreached = || "tiles do not reach all of the level".to_owned();
    let wrong = |error: Error| error.to_string();
    let level = match image.placement(part.level, part.slice, 0).map_err(wrong)? {
        Placement::Level(level) if level.tiling == Tiling::Raster => level,
        _ => return Err(unreached()),
    };
    if image.stored().storage != Storage::Plain || level.stride % WORD as u32 != 0 {
        return Err(unreached());
    }
    let binding = image.binding().map_err(wrong)?;
    beside::of_image(image)?;
    let mut all = Vec::new();
    for (panel, rect) in panels(&level, part.rect) {
        let base = u64::from(level.offset + panel * level.panel_stride) - binding.offset;
        let place = |x: u32, y: u32| {
            base + u64::from(y) * u64::from(level.stride) + u64::from(x) * u64::from(level.cpp)
        };
        let (start, end) = (place(rect.x, rect.y), place(rect.x + rect.width, rect.y + rect.height - 1));
        let aligned = |byte: u64| byte / u64::from(SURFACE_ALIGNMENT) * u64::from(SURFACE_ALIGNMENT);
        let (start, end) = (aligned(start), aligned(end.next_multiple_of(SURFACE_ALIGNMENT.into())));
        let words = (end - start) / WORD;
        let mut pictures = cut(words, 0);
        let (next, size) = pictures.last().copied().ok_or("it has too few words")?;
        let next = next + u64::from(size[0]) * u64::from(size[1]);
        if next < words {
            // Less than a row is left, which gets some words twice.
            pictures.push((words - LEAST, [LEAST as u32, 1]));
        }
        for (first, size) in pictures {
            let start = start + WORD * first;
            let view = ImageView::of_words(device, &binding.from(start), size).map_err(wrong)?;
            let area = PixelRect { left: 0, top: 0, right: size[0] as i32, bottom: size[1] as i32 };
            // Behind a level's first row: parts of a level begin in it.
            let first = ((start as i64 - base as i64) / WORD as i64) as u32;
            let line = Line { first, width: size[0], pitch: level.stride / WORD as u32 };
            let skipped = u64::from(panel) * u64::from(MAX_SURFACE * level.cpp);
            all.push((Rectangle { view, area, keeps: true }, Limits { rect, line, skipped }));
        }
    }
    Ok(all)
}

/// Words of the smallest picture that [`cut`] makes.
const LEAST: u64 = 64;

/// What of a rectangle lies in each panel.
fn panels(level: &Level, rect: Rect) -> impl Iterator<Item = (u32, Rect)> {
    let (left, right) = (rect.x, rect.x + rect.width);
    let edge = if level.panel_stride == 0 { u32::MAX } else { MAX_SURFACE };
    (left / edge..=(right - 1) / edge).map(move |panel| {
        let (first, end) = (left.max(panel * edge), right.min((panel + 1).saturating_mul(edge)));
        (panel, Rect { x: first - panel * edge, width: end - first, ..rect })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rectangles_are_cut_where_panels_end() {
        let mut level = Level::new(Tiling::Raster, 8, 8192, 10).unwrap();
        let rect = |x, width| Rect { x, y: 3, width, height: 2 };
        let cut = |level: &Level, part| panels(level, part).collect::<Vec<_>>();
        assert_eq!(cut(&level, rect(4000, 4000)), [(0, rect(4000, 96)), (1, rect(0, 3904))]);
        assert_eq!(cut(&level, rect(4096, 4096)), [(1, rect(0, 4096))]);
        level.panel_stride = 0;
        assert_eq!(cut(&level, rect(4000, 4000)), [(0, rect(4000, 4000))]);
    }
}
