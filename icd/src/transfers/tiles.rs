//! Copies and clears by the tile buffer: a job that draws nothing loads tiles from one image, or clears them, and stores
//! them to another (kernel-abi.md §5.2).
//!
//! Texels of 32 bits pass as they are. The CPU would do the same, but what it reads on a board comes from memory that it
//! does not cache, a word at a time; so it keeps what is small, and what does not end where tiles do.

use std::sync::Arc;

use ash::vk;
use vc4::hw::TILE_PX;
use vc4::state::PixelRect;

use super::fill::Fill;
use super::texels::{Part, slices};
use super::words::Words;
use crate::foundation::format::Storage;
use crate::objects::image::Image;
use crate::objects::image_view::ImageView;
use crate::objects::placement::common_width;
use crate::segments::{ColorTarget, RenderSegment, Segment, Segments, Start, Target};

/// Texels from which on a job takes less time than the CPU.
const WORTH_A_JOB: u32 = TILE_PX * TILE_PX;

/// A region of vkCmdCopyImage; `None` if it is not for the tile buffer, or for nobody: the CPU says what is wrong with it.
pub(super) fn copy(src: &Arc<Image>, dst: &Arc<Image>, region: &vk::ImageCopy) -> Option<Segments> {
    let single = src.samples() == 1 && dst.samples() == 1;
    if src.row().format != dst.row().format || Arc::ptr_eq(src, dst) || !single {
        return None;
    }
    let (from, to, extent) = (region.src_subresource, region.dst_subresource, region.extent);
    let from_slices = slices(src, &from, region.src_offset.z, extent.depth).ok()?;
    let to_slices = slices(dst, &to, region.dst_offset.z, extent.depth).ok()?;
    let slice = |(from_slice, to_slice)| {
        let from = view(src, from.mip_level, from_slice)?;
        let to = view(dst, to.mip_level, to_slice)?;
        let area = tiles_of(region, &from, &to)?;
        Some(Segment::Render(Arc::new(segment(from, |_| Start::Load, Some(to), area))))
    };
    from_slices.zip(to_slices).map(slice).collect()
}

/// Fills all of a colour image's level and slice; `None` if that is not for the tile buffer.
pub(super) fn clear(image: &Arc<Image>, fill: &Fill, part: &Part) -> Option<Segment> {
    let (view, fill) = match view(image, part.level, part.slice) {
        Some(view) => (view, *fill),
        None => words_of(image, fill, part)?,
    };
    let (width, height) = view.extent();
    let area = PixelRect { left: 0, top: 0, right: width as i32, bottom: height as i32 };
    let start = |plane| Start::Clear(fill.word(plane));
    is_worth_a_job(area).then(|| Segment::Render(Arc::new(segment(view, start, None, area))))
}

/// A slice of texels that are several words or share one, or of depth, and what they become in words.
fn words_of(image: &Arc<Image>, fill: &Fill, part: &Part) -> Option<(Arc<ImageView>, Fill)> {
    let (row, stored, cpp) = (image.row(), image.stored(), image.layout().shape.cpp);
    if part.level >= image.levels() || row.block() > 1 || fill.mask != u32::MAX || cpp > 4 {
        return None;
    }
    if matches!(stored.storage, Storage::Planes(_)) && cpp == 4 {
        let view = ImageView::flat(image.clone(), row, stored, part.level, part.slice);
        return Some((Arc::new(view), *fill));
    }
    let view = Words::new(image, part.level, part.slice, 0)?.view;
    let word = fill.in_all_of_a_word(0, cpp);
    (stored.texel.info().cpp == cpp).then_some((view, Fill { words: [word, 0, 0, 0], ..*fill }))
}

/// A job that fills pixels of a picture of words that ends where its tiles do, or has none beside it.
pub(super) fn fill(view: Arc<ImageView>, word: u32, area: PixelRect) -> RenderSegment {
    segment(view, |_| Start::Clear(word), None, area)
}

/// A slice that the tile buffer holds texels of as they are.
fn view(image: &Arc<Image>, level: u32, slice: u32) -> Option<Arc<ImageView>> {
    let (row, stored) = (image.row(), image.stored());
    let words = matches!(stored.storage, Storage::Plain | Storage::Widened | Storage::Expanded1555);
    let info = stored.texel.info();
    // Linear images hold texels as buffers do, which may be shorter.
    let words = words && info.cpp == 4 && image.layout().shape.cpp == 4;
    let fits = words && info.tile.is_some() && row.aspects() == vk::ImageAspectFlags::COLOR;
    let view = || Arc::new(ImageView::flat(image.clone(), row, stored, level, slice));
    (fits && level < image.levels()).then(view)
}

/// The pixels of a region that lies at the same place in both images and ends where their tiles do.
fn tiles_of(region: &vk::ImageCopy, from: &ImageView, to: &ImageView) -> Option<PixelRect> {
    let (at, extent) = (region.src_offset, region.extent);
    let same = at.x == region.dst_offset.x && at.y == region.dst_offset.y;
    let ends = [
        (at.x, extent.width, from.extent().0, to.extent().0),
        (at.y, extent.height, from.extent().1, to.extent().1),
    ]
    .map(|(first, length, source, destination)| {
        let first = u32::try_from(first).ok().filter(|first| first % TILE_PX == 0)?;
        let end = first.checked_add(length).filter(|&end| end <= source.min(destination))?;
        (end % TILE_PX == 0 || (end == source && end == destination)).then_some(end as i32)
    });
    let area = PixelRect { left: at.x, top: at.y, right: ends[0]?, bottom: ends[1]? };
    let pitch = common_width(&[from.shape()?, to.shape()?]);
    (same && pitch.is_some() && is_worth_a_job(area)).then_some(area)
}

fn is_worth_a_job(area: PixelRect) -> bool {
    (area.right - area.left) as u32 * (area.bottom - area.top) as u32 >= WORTH_A_JOB
}

/// A job that loads or clears tiles and stores them to where they came from, or to another image.
fn segment(
    view: Arc<ImageView>,
    start: impl Fn(u8) -> Start<u32>,
    to: Option<Arc<ImageView>>,
    area: PixelRect,
) -> RenderSegment {
    let (size, samples) = (view.extent(), view.samples());
    let store = to.is_none();
    let color = |plane| ColorTarget {
        view: view.clone(),
        location: 0,
        plane,
        start: start(plane),
        store,
        resolve: to.clone(),
        is_read: false,
        is_idle: false,
    };
    let colors = (0..view.stored.planes()).map(color).collect();
    let target = Target { colors, samples, ..Target::empty(size, area) };
    RenderSegment::new(target, Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::device;

    fn image(format: vk::Format, width: u32, height: u32) -> Arc<Image> {
        let info = vk::ImageCreateInfo {
            image_type: vk::ImageType::TYPE_2D,
            format,
            extent: vk::Extent3D { width, height, depth: 1 },
            mip_levels: 1,
            array_layers: 2,
            samples: vk::SampleCountFlags::TYPE_1,
            usage: vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST,
            ..Default::default()
        };
        Arc::new(Image::new(&device(), &info).unwrap())
    }

    /// From a place to a place, of both layers.
    fn region(from: [i32; 2], to: [i32; 2], width: u32, height: u32) -> vk::ImageCopy {
        let layers = vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            layer_count: 2,
            ..Default::default()
        };
        vk::ImageCopy {
            src_subresource: layers,
            src_offset: vk::Offset3D { x: from[0], y: from[1], z: 0 },
            dst_subresource: layers,
            dst_offset: vk::Offset3D { x: to[0], y: to[1], z: 0 },
            extent: vk::Extent3D { width, height, depth: 1 },
        }
    }

    #[test]
    fn linear_images_of_short_texels_are_no_words() {
        let clears = |tiling| {
            let info = vk::ImageCreateInfo {
                image_type: vk::ImageType::TYPE_2D,
                format: vk::Format::A1R5G5B5_UNORM_PACK16,
                extent: vk::Extent3D { width: 100, height: 100, depth: 1 },
                mip_levels: 1,
                array_layers: 1,
                samples: vk::SampleCountFlags::TYPE_1,
                usage: vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST,
                tiling,
                ..Default::default()
            };
            let image = Arc::new(Image::new(&device(), &info).unwrap());
            let fill = Fill { words: [0; 4], mask: u32::MAX };
            clear(&image, &fill, &Part::whole(&image, 0, 0)).is_some()
        };
        assert!(clears(vk::ImageTiling::OPTIMAL));
        assert!(!clears(vk::ImageTiling::LINEAR));
    }

    #[test]
    fn tiles_are_copied_where_nothing_else_would_change() {
        const COLOR: vk::Format = vk::Format::R8G8B8A8_UNORM;
        let (src, dst) = (image(COLOR, 200, 130), image(COLOR, 200, 130));
        let jobs = |dst: &Arc<Image>, region| copy(&src, dst, &region).map(|segments| segments.len());
        assert_eq!(jobs(&dst, region([0, 0], [0, 0], 200, 130)), Some(2), "a job for each layer");
        assert_eq!(jobs(&dst, region([64, 64], [64, 64], 64, 64)), Some(2), "a tile inside");
        assert_eq!(jobs(&dst, region([128, 0], [128, 0], 72, 128)), Some(2), "up to the edge of both");
        assert_eq!(jobs(&dst, region([64, 0], [0, 0], 64, 64)), None, "moved");
        assert_eq!(jobs(&dst, region([32, 0], [32, 0], 96, 64)), None, "inside of a tile");
        assert_eq!(jobs(&dst, region([0, 0], [0, 0], 100, 64)), None, "up to the middle of a tile");
        assert_eq!(jobs(&dst, region([0, 0], [0, 0], 64, 32)), None, "too little");
        assert_eq!(jobs(&src, region([0, 0], [0, 0], 200, 130)), None, "within one image");
        let wider = image(COLOR, 300, 130);
        assert_eq!(
            jobs(&wider, region([0, 0], [0, 0], 200, 130)),
            None,
            "the edge of one is inside of the other"
        );
    }

    #[test]
    fn regions_outside_of_an_image_are_left_to_who_refuses_them() {
        const COLOR: vk::Format = vk::Format::R8G8B8A8_UNORM;
        let (src, dst) = (image(COLOR, 128, 128), image(COLOR, 128, 128));
        let whole = region([0, 0], [0, 0], 128, 128);
        assert!(copy(&src, &dst, &whole).is_some());
        let mut level = whole;
        (level.src_subresource.mip_level, level.dst_subresource.mip_level) = (40, 40);
        let outside = [
            level,
            region([0, 0], [0, 0], 192, 128),
            region([-64, 0], [-64, 0], 128, 128),
            region([64, 0], [64, 0], u32::MAX, 128),
        ];
        assert!(outside.iter().all(|region| copy(&src, &dst, region).is_none()));
    }

    #[test]
    fn other_texels_are_left_to_the_cpu() {
        let jobs = |format| {
            let (src, dst) = (image(format, 128, 128), image(format, 128, 128));
            copy(&src, &dst, &region([0, 0], [0, 0], 128, 128)).is_some()
        };
        assert!(jobs(vk::Format::B8G8R8A8_SRGB) && jobs(vk::Format::R32_SFLOAT));
        assert!(!jobs(vk::Format::R8_UNORM) && !jobs(vk::Format::R16G16B16A16_SFLOAT));
        assert!(!jobs(vk::Format::D24_UNORM_S8_UINT) && !jobs(vk::Format::R5G6B5_UNORM_PACK16));
    }

    #[test]
    fn levels_that_are_worth_a_job_are_cleared_by_tiles() {
        let fill = Fill { words: [7, 0, 0, 0], mask: u32::MAX };
        let clears = |width, height| {
            let image = image(vk::Format::R8G8B8A8_UNORM, width, height);
            clear(&image, &fill, &Part::whole(&image, 0, 1)).is_some()
        };
        assert!(clears(64, 64) && clears(100, 50) && !clears(64, 63));
    }
}
