//! Levels of images as pictures of 32-bit words, which the tile buffer holds as they are.
//!
//! Tiled layouts order utiles of 64 bytes, whatever their texels are (textures.md §4.1): 8 x 8 bytes, 8 x 4 half words or
//! 4 x 4 words. So a level of small texels is one of words, too, each of which holds a few neighbours.

use std::sync::Arc;

use vc4::hw::TILE_PX;
use vc4::image::tiling::{Level, MAX_SURFACE};
use vc4::image::{Rect, Tiling};
use vc4::state::PixelRect;

use crate::foundation::facts::target_px;
use crate::foundation::format;
use crate::objects::image::Image;
use crate::objects::image_view::{ImageView, WORDS};
use crate::objects::placement::{Placement, SURFACE_ALIGNMENT, common_width};

/// How texels lie in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Fold {
    /// Word x of a row is at byte 4x of a row of texels.
    Row,
    /// The words of a row are those of two rows of bytes, which share utiles: two of the first, two of the second.
    Utile,
    /// Words follow each other, wherever rows of texels end ([`super::lines`]).
    Line,
}

/// Texels along an axis that make so many words of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Axis {
    texels: u32,
    words: u32,
}

impl Axis {
    fn words_of(self, texels: u32) -> u32 {
        texels.div_ceil(self.texels) * self.words
    }
}

/// Words that a rectangle of texels has a part in.
pub(super) struct Cover {
    /// Words that it has all of.
    pub inner: Option<PixelRect>,
    /// Words that texels beside it lie in, too.
    pub edges: Vec<PixelRect>,
    /// Whether something else lies in the tiles of these words.
    pub keeps: bool,
}

/// A level as words.
pub(super) struct Words {
    /// The words.
    pub view: Arc<ImageView>,
    /// How texels lie in them.
    pub fold: Fold,
    axes: [Axis; 2],
    /// Texels of the level along each axis.
    size: [u32; 2],
}

impl Words {
    /// A plane of a level of a slice; `None` if the tile buffer does not get to all of it.
    pub fn new(image: &Image, level: u32, slice: u32, plane: u8) -> Option<Words> {
        match image.placement(level, slice, plane) {
            Ok(Placement::Level(place)) => Words::of(image, place, image.level_extent(level).into()),
            _ => None,
        }
    }

    /// What the image keeps as it lies in `place`, so many texels or blocks along each axis.
    fn of(image: &Image, place: Level, size: [u32; 2]) -> Option<Words> {
        let (fold, axes) = fold(&place)?;
        let image = image_of_words(image, place)?;
        let words = *image.layout().levels.first()?;
        // Larger ones are drawn in parts, which begin inside of rows, and whose last tiles would go on in the next row.
        let (is_large, whole) =
            (words.width.max(words.height) > target_px(), words.padded_width % TILE_PX == 0);
        let reaches_all =
            !is_large || (place.tiling == Tiling::Raster && (words.width <= target_px() || whole));
        let is_target = reaches_all && place.offset % SURFACE_ALIGNMENT == 0;
        common_width(&[Placement::Level(words)]).filter(|_| is_target)?;
        let view = Arc::new(ImageView::flat(image.clone(), image.row(), image.stored(), 0, 0));
        Some(Words { view, fold, axes, size })
    }

    /// The words of a rectangle of texels.
    pub fn cover(&self, rect: Rect) -> Cover {
        let inner = self.whole(rect).and_then(|whole| self.area(whole));
        let span = |axis: usize, first: u32, count: u32| {
            let (ratio, end) = (self.axes[axis], first + count);
            let (first, end) = (first / ratio.texels * ratio.words, ratio.words_of(end));
            (first, end - first)
        };
        let ((x, width), (y, height)) = (span(0, rect.x, rect.width), span(1, rect.y, rect.height));
        let outer = Rect { x, y, width, height };
        let edges: Vec<PixelRect> = match inner {
            Some((area, _)) => beside(outer, rect_of(area)).map(area_of).collect(),
            None => vec![area_of(outer)],
        };
        let keeps = !edges.is_empty() || inner.is_some_and(|(_, keeps)| keeps);
        Cover { inner: inner.map(|(area, _)| area), edges, keeps }
    }

    /// The texels of a rectangle that share their words with none beside it; `None` if there are none.
    fn whole(&self, rect: Rect) -> Option<Rect> {
        let span = |axis: usize, first: u32, count: u32| {
            let (ratio, end) = (self.axes[axis].texels, first + count);
            let end = if end == self.size[axis] { end } else { end / ratio * ratio };
            let first = first.next_multiple_of(ratio);
            (first < end).then(|| (first, end - first))
        };
        let ((x, width), (y, height)) = (span(0, rect.x, rect.width)?, span(1, rect.y, rect.height)?);
        Some(Rect { x, y, width, height })
    }

    /// The words of a rectangle of texels, and whether others lie in their tiles; `None` if a word has texels beside it.
    pub fn area(&self, rect: Rect) -> Option<(PixelRect, bool)> {
        let extent: [u32; 2] = self.view.extent().into();
        let mut keeps = false;
        let mut span = |axis: usize, first: u32, count: u32| {
            let (ratio, end) = (self.axes[axis], first + count);
            let whole = first % ratio.texels == 0 && (end % ratio.texels == 0 || end == self.size[axis]);
            let words = [first / ratio.texels * ratio.words, ratio.words_of(end)];
            keeps |= words[0] % TILE_PX != 0 || (words[1] % TILE_PX != 0 && words[1] != extent[axis]);
            whole.then_some(words.map(|word| word as i32))
        };
        let ([left, right], [top, bottom]) = (span(0, rect.x, rect.width)?, span(1, rect.y, rect.height)?);
        Some((PixelRect { left, top, right, bottom }, keeps))
    }
}

/// What an image keeps as it lies in `place`, as an image of words; `None` if it is none.
pub(super) fn image_of_words(image: &Image, place: Level) -> Option<Arc<Image>> {
    if image.samples() != 1 {
        return None;
    }
    let (_, axes) = fold(&place)?;
    let words = as_words(&place, axes);
    // Panels of other texels end elsewhere, and no job has longer rows.
    if place.cpp != 4 && (place.panel_stride != 0 || words.padded_width > MAX_SURFACE) {
        return None;
    }
    let binding = image.binding().ok()?;
    let start = u64::from(place.offset).checked_sub(binding.offset)?;
    let row = format::row(WORDS)?;
    Some(Arc::new(Image::of_level(row, row.target?, words, binding.from(start))))
}

/// What of a rectangle lies beside another that is inside of it: above and below, left and right.
pub(super) fn beside(outer: Rect, inner: Rect) -> impl Iterator<Item = Rect> {
    let (right, bottom) = (inner.x + inner.width, inner.y + inner.height);
    let rows = |y: u32, end: u32| Rect { y, height: end - y, ..outer };
    let columns = |x: u32, end: u32| Rect { x, width: end - x, ..rows(inner.y, bottom) };
    let parts = [
        rows(outer.y, inner.y),
        rows(bottom, outer.y + outer.height),
        columns(outer.x, inner.x),
        columns(right, outer.x + outer.width),
    ];
    parts.into_iter().filter(|rect| rect.width > 0 && rect.height > 0)
}

fn area_of(Rect { x, y, width, height }: Rect) -> PixelRect {
    PixelRect { left: x as i32, top: y as i32, right: (x + width) as i32, bottom: (y + height) as i32 }
}

fn rect_of(PixelRect { left, top, right, bottom }: PixelRect) -> Rect {
    Rect { x: left as u32, y: top as u32, width: (right - left) as u32, height: (bottom - top) as u32 }
}

/// How the texels of a level lie in words.
fn fold(level: &Level) -> Option<(Fold, [Axis; 2])> {
    let one = Axis { texels: 1, words: 1 };
    let row = |texels| (Fold::Row, [Axis { texels, words: 1 }, one]);
    match (level.cpp, level.tiling) {
        (1, Tiling::T | Tiling::Lt) => {
            Some((Fold::Utile, [Axis { texels: 8, words: 4 }, Axis { texels: 2, words: 1 }]))
        }
        (cpp @ (1 | 2 | 4), _) => Some(row(4 / cpp)),
        // A utile of 2 x 4 double words is one of 4 x 4 words.
        (cpp @ (8 | 16), _) => Some((Fold::Row, [Axis { texels: 1, words: cpp / 4 }, one])),
        _ => None,
    }
}

/// The same memory in words.
fn as_words(level: &Level, [columns, rows]: [Axis; 2]) -> Level {
    Level {
        cpp: 4,
        width: columns.words_of(level.width),
        height: rows.words_of(level.height),
        padded_width: columns.words_of(level.padded_width),
        padded_height: rows.words_of(level.padded_height),
        ..*level
    }
}

#[cfg(test)]
mod tests {
    use ash::vk;

    use super::*;
    use crate::objects::memory::{DeviceMemory, Origin};
    use crate::objects::memory_type::MemoryType;
    use crate::testing::device;

    fn image(format: vk::Format, width: u32, height: u32, levels: u32) -> Image {
        let info = vk::ImageCreateInfo {
            image_type: vk::ImageType::TYPE_2D,
            format,
            extent: vk::Extent3D { width, height, depth: 1 },
            mip_levels: levels,
            array_layers: 1,
            samples: vk::SampleCountFlags::TYPE_1,
            usage: vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST,
            ..Default::default()
        };
        let device = device();
        let image = Image::new(&device, &info).unwrap();
        let bytes = image.requirements().size;
        image
            .bind(&DeviceMemory::new(&device, bytes + 4096, MemoryType::Device, Origin::Alone).unwrap(), 4096)
            .unwrap();
        image
    }

    /// Every byte of a texel lies in the word that the fold says, at the word's own place in memory.
    #[test]
    fn texels_lie_in_the_words_that_are_said() {
        for (format, cpp) in
            [(vk::Format::R8_UNORM, 1), (vk::Format::R5G6B5_UNORM_PACK16, 2), (vk::Format::R8G8B8A8_UNORM, 4)]
        {
            for (width, height, level) in [(200, 90, 0), (200, 90, 1), (20, 9, 0), (64, 64, 0), (6, 5, 0)] {
                let image = image(format, width, height, 2);
                let words = Words::new(&image, level, 0, 0).unwrap();
                let (bytes, drawn) = (image.level(level, 0).unwrap(), words.view.image.level(0, 0).unwrap());
                let (columns, rows) = image.level_extent(level);
                let mut seen = 0;
                let (edge_x, edge_y) = words.view.extent();
                for (x, y) in (0..edge_y).flat_map(|y| (0..edge_x).map(move |x| (x, y))) {
                    let (byte, row) = match words.fold {
                        Fold::Row => (4 * x, y),
                        Fold::Utile => (x / 4 * 8 + x % 2 * 4, 2 * y + x / 2 % 2),
                        Fold::Line => panic!("a picture in lines"),
                    };
                    if byte / cpp < columns && row < rows {
                        assert_eq!(
                            drawn.offset_of(x, y),
                            bytes.offset_of(byte / cpp, row),
                            "word ({x}, {y})"
                        );
                        seen += (columns - byte / cpp).min(4 / cpp);
                    }
                }
                assert_eq!(seen, columns * rows, "{format:?} {width} x {height} level {level}");
            }
        }
    }

    #[test]
    fn areas_are_whole_words_and_say_what_is_beside() {
        let rect = |x, y, width, height| Rect { x, y, width, height };
        let area = |words: &Words, rect| {
            words.area(rect).map(|(area, keeps)| ([area.left, area.top, area.right, area.bottom], keeps))
        };
        let bytes = image(vk::Format::R8_UNORM, 200, 100, 1);
        let bytes = Words::new(&bytes, 0, 0, 0).unwrap();
        assert_eq!(area(&bytes, rect(0, 0, 200, 100)), Some(([0, 0, 100, 50], false)));
        assert_eq!(area(&bytes, rect(128, 0, 72, 100)), Some(([64, 0, 100, 50], false)));
        assert_eq!(area(&bytes, rect(8, 2, 16, 4)), Some(([4, 1, 12, 3], true)));
        assert_eq!(area(&bytes, rect(4, 2, 16, 4)), None);
        assert_eq!(area(&bytes, rect(8, 2, 17, 4)), None);
        assert_eq!(area(&bytes, rect(8, 1, 16, 4)), None);
        assert_eq!(bytes.whole(rect(3, 1, 30, 8)), Some(rect(8, 2, 24, 6)));
        assert_eq!(bytes.whole(rect(3, 1, 197, 99)), Some(rect(8, 2, 192, 98)));
        assert_eq!(bytes.whole(rect(1, 0, 14, 8)), None);
        let halves = image(vk::Format::R5G6B5_UNORM_PACK16, 201, 100, 1);
        let halves = Words::new(&halves, 0, 0, 0).unwrap();
        assert_eq!(area(&halves, rect(0, 0, 201, 100)), Some(([0, 0, 101, 100], false)));
        assert_eq!(area(&halves, rect(2, 1, 199, 3)), Some(([1, 1, 101, 4], true)));
        assert_eq!(area(&halves, rect(1, 0, 2, 1)), None);
    }

    #[test]
    fn words_of_two_sides_are_edges() {
        let rect = |x, y, width, height| Rect { x, y, width, height };
        let cover = |words: &Words, part| {
            let Cover { inner, edges, keeps } = words.cover(part);
            (inner.map(rect_of), edges.into_iter().map(rect_of).collect::<Vec<_>>(), keeps)
        };
        let bytes = image(vk::Format::R8_UNORM, 200, 100, 1);
        let bytes = Words::new(&bytes, 0, 0, 0).unwrap();
        assert_eq!(cover(&bytes, rect(0, 0, 200, 100)), (Some(rect(0, 0, 100, 50)), vec![], false));
        assert_eq!(cover(&bytes, rect(8, 2, 16, 4)), (Some(rect(4, 1, 8, 2)), vec![], true));
        // Rows 1 and 9 share words with rows 0 and 8, columns 3..8 are a half of utiles.
        let edges = vec![rect(0, 0, 20, 1), rect(0, 4, 20, 1), rect(0, 1, 4, 3), rect(16, 1, 4, 3)];
        assert_eq!(cover(&bytes, rect(3, 1, 30, 8)), (Some(rect(4, 1, 12, 3)), edges, true));
        assert_eq!(cover(&bytes, rect(1, 1, 5, 1)), (None, vec![rect(0, 0, 4, 1)], true));
        let halves = image(vk::Format::R5G6B5_UNORM_PACK16, 201, 100, 1);
        let halves = Words::new(&halves, 0, 0, 0).unwrap();
        assert_eq!(cover(&halves, rect(2, 1, 199, 3)), (Some(rect(1, 1, 100, 3)), vec![], true));
        assert_eq!(cover(&halves, rect(1, 0, 3, 2)), (Some(rect(1, 0, 1, 2)), vec![rect(0, 0, 1, 2)], true));
    }

    #[test]
    fn a_rectangle_is_what_is_inside_and_beside() {
        let outer = Rect { x: 3, y: 5, width: 20, height: 10 };
        for (x, y, width, height) in [(3, 5, 20, 10), (4, 7, 8, 2), (3, 6, 1, 9), (22, 5, 1, 10)] {
            let inner = Rect { x, y, width, height };
            let mut covered = vec![0; 30 * 30];
            for rect in beside(outer, inner).chain([inner]) {
                for y in rect.y..rect.y + rect.height {
                    (rect.x..rect.x + rect.width).for_each(|x| covered[(y * 30 + x) as usize] += 1);
                }
            }
            for (at, count) in (0..).zip(covered) {
                let is_inside = (3..23).contains(&(at % 30)) && (5..15).contains(&(at / 30));
                assert_eq!(count, u32::from(is_inside), "{at} beside {inner:?}");
            }
        }
    }

    #[test]
    fn what_tiles_do_not_reach_is_no_picture() {
        let wide = image(vk::Format::R8G8B8A8_UNORM, 2049, 4, 1);
        let wide = Words::new(&wide, 0, 0, 0).expect("large images lie in rows");
        assert_eq!(wide.view.image.layout().levels[0].tiling, Tiling::Raster);
        let bytes = image(vk::Format::R8G8B8A8_UNORM, 16, 16, 1);
        assert!(Words::new(&bytes, 0, 0, 0).is_some() && Words::new(&bytes, 1, 0, 0).is_none());
    }
}
