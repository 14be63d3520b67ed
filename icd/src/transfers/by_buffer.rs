//! Copies from image to image by way of a buffer: what is no word to word move, as texels that share words, slices of
//! volumes, one aspect of two, images of different forms.

use std::sync::Arc;

use ash::vk;
use vc4::hw::TILE_PX;
use vc4::image::Rect;

use super::download::download;
use super::pieces::Piece;
use super::strips::WORD;
use super::texels::Part;
use super::upload::upload;
use super::worth::pays;
use crate::foundation::error::Error;
use crate::foundation::facts::target_px;
use crate::objects::buffer::Buffer;
use crate::objects::device::Device;
use crate::objects::image::Image;
use crate::objects::memory::{DeviceMemory, Origin};
use crate::objects::memory_type::MemoryType;
use crate::pipeline::Rectangles;
use crate::segments::RenderSegment;

/// A part of an image.
pub(super) type PartOf<'a> = (&'a Arc<Image>, Part);

/// The jobs that copy an aspect of a part to one of equal size, or why there are none.
pub(super) fn copy(
    (src, from): PartOf<'_>,
    (dst, to): PartOf<'_>,
    aspect: vk::ImageAspectFlags,
    rectangles: &mut Rectangles,
) -> Result<Vec<RenderSegment>, String> {
    let texel = u64::from(src.row().aspect_bytes(aspect));
    // Two jobs.
    pays(texel * u64::from(to.rect.width) * u64::from(to.rect.height) / 2)?;
    // Rows of the buffer are rows of a surface.
    let tile = WORD * u64::from(TILE_PX);
    let columns = (WORD * u64::from(target_px()) / texel) as u32;
    let mut jobs = Vec::new();
    for left in (0..to.rect.width).step_by(columns as usize) {
        let (width, height) = (columns.min(to.rect.width - left), to.rect.height);
        let pitch = (texel * u64::from(width)).next_multiple_of(tile);
        let part = |part: Part, width: u32| Part {
            rect: Rect { x: part.rect.x + left, width, ..part.rect },
            ..part
        };
        let piece = |part: Part| Piece {
            part,
            offset: 0,
            pitch,
            row: (texel * u64::from(part.rect.width)) as usize,
            aspect,
        };
        let buffer = scratch(rectangles.device(), pitch * u64::from(height))?;
        // Whatever is in the image behind the part fills the rows.
        let down = download(&piece(part(from, (pitch / texel) as u32)), &buffer, src, rectangles)?;
        if !down.rest.is_empty() {
            return Err("the CPU would have to finish rows".into());
        }
        let up = upload(&piece(part(to, width)), &buffer, dst, rectangles)?;
        jobs.extend(down.jobs.into_iter().chain(up));
    }
    Ok(jobs)
}

/// A buffer of so many bytes, which lives as long as the jobs that use it.
fn scratch(device: &Arc<Device>, size: u64) -> Result<Arc<Buffer>, String> {
    let info = vk::BufferCreateInfo { size, ..Default::default() };
    let make = || -> Result<_, Error> {
        let buffer = Buffer::new(device, &info)?;
        buffer.bind(&DeviceMemory::new(device, size, MemoryType::Device, Origin::Alone)?, 0)?;
        Ok(Arc::new(buffer))
    };
    make().map_err(|error| error.to_string())
}
