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
use crate::draw::common_width;
use crate::error::Error;
use crate::format::Storage;
use crate::image::{Image, ImageView};
use crate::segment::{ColorTarget, RenderSegment, Segment, Segments, Start, Target};

/// Texels from which on a job takes less time than the CPU.
const WORTH_A_JOB: u32 = TILE_PX * TILE_PX;

/// A region of vkCmdCopyImage; `None` if it is not for the tile buffer.
///
/// # Errors
/// A range outside of an image.
pub fn copy(src: &Arc<Image>, dst: &Arc<Image>, region: &vk::ImageCopy) -> Result<Option<Segments>, Error> {
    if src.row().format != dst.row().format || Arc::ptr_eq(src, dst) || src.samples() != 1 {
        return Ok(None);
    }
    let (from, to, extent) = (region.src_subresource, region.dst_subresource, region.extent);
    let from_slices = slices(src, &from, region.src_offset.z, extent.depth)?;
    let to_slices = slices(dst, &to, region.dst_offset.z, extent.depth)?;
    let slice = |(from_slice, to_slice)| {
        let from = view(src, from.mip_level, from_slice)?;
        let to = view(dst, to.mip_level, to_slice)?;
        let area = tiles_of(region, &from, &to)?;
        Some(segment(from, Start::Load, Some(to), area))
    };
    Ok(from_slices.zip(to_slices).map(slice).collect())
}

/// Fills all of a colour image's level and slice; `None` if that is not for the tile buffer.
pub(super) fn clear(image: &Arc<Image>, fill: &Fill, part: &Part) -> Option<Segment> {
    let view = view(image, part.level, part.slice)?;
    let (width, height) = view.extent();
    let area = PixelRect { left: 0, top: 0, right: width as i32, bottom: height as i32 };
    is_worth_a_job(area).then(|| segment(view, Start::Clear(fill.word(0)), None, area))
}

/// A slice that the tile buffer holds texels of as they are.
fn view(image: &Arc<Image>, level: u32, slice: u32) -> Option<Arc<ImageView>> {
    let (row, stored) = (image.row(), image.stored());
    let words = matches!(stored.storage, Storage::Plain | Storage::Widened | Storage::Expanded1555);
    let info = stored.texel.info();
    let fits = words && info.tile.is_some() && info.cpp == 4 && row.aspects() == vk::ImageAspectFlags::COLOR;
    fits.then(|| {
        Arc::new(ImageView {
            image: image.clone(),
            ty: vk::ImageViewType::TYPE_2D,
            row,
            stored,
            components: vk::ComponentMapping::default(),
            aspects: row.aspects(),
            base_level: level,
            levels: 1,
            base_layer: slice,
            layers: 1,
        })
    })
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
fn segment(view: Arc<ImageView>, start: Start<u32>, to: Option<Arc<ImageView>>, area: PixelRect) -> Segment {
    let (size, samples) = (view.extent(), view.samples());
    let color = ColorTarget { view, location: 0, plane: 0, start, store: to.is_none(), resolve: to };
    let target = Target {
        colors: vec![color],
        depth_stencil: None,
        depth_stencil_start: Start::Any,
        depth_stencil_store: false,
        area,
        size,
        samples,
    };
    Segment::Render(Arc::new(RenderSegment { target, draws: Vec::new() }))
}
