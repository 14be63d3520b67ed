//! Texels of images as rows without gaps.

use ash::vk;
use vc4::image::Rect;
use vc4::image::tiling::CopyError;

use crate::error::Error;
use crate::image::Image;

/// A rectangle of one level of one layer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// Level.
    pub level: u32,
    /// Layer.
    pub layer: u32,
    /// Texels.
    pub rect: Rect,
}

impl Part {
    /// The part of `image` at an API offset; an error if it leaves the level.
    pub fn new(
        image: &Image,
        level: u32,
        layer: u32,
        offset: vk::Offset3D,
        extent: vk::Extent3D,
    ) -> Result<Part, Error> {
        let (width, height) = image.level_extent(level.min(image.levels() - 1));
        let inside = |at: i32, count: u32, edge: u32| {
            u32::try_from(at).ok().and_then(|at| at.checked_add(count)).is_some_and(|end| end <= edge)
        };
        let fits = inside(offset.x, extent.width, width)
            && inside(offset.y, extent.height, height)
            && inside(offset.z, extent.depth, 1);
        if !fits || level >= image.levels() || layer >= image.layers() {
            return Err(Error::InvalidUse(format!(
                "{extent:?} at {offset:?} of level {level}, layer {layer} leaves an image of {:?}, {} levels, {} layers",
                image.extent(),
                image.levels(),
                image.layers()
            )));
        }
        let rect =
            Rect { x: offset.x as u32, y: offset.y as u32, width: extent.width, height: extent.height };
        Ok(Part { level, layer, rect })
    }

    /// Bytes of a row.
    pub fn row_bytes(&self, image: &Image) -> usize {
        self.rect.width as usize * image.texel().info().cpp as usize
    }

    /// The texels as the image holds them.
    pub fn read(&self, image: &Image) -> Result<Vec<u8>, Error> {
        let (mapping, stride) = (image.binding()?.bo.map()?, self.row_bytes(image));
        let mut texels = vec![0; stride * self.rect.height as usize];
        let level = image.level(self.level, self.layer)?;
        level.read_rect(self.rect, &mut texels, stride, |at, run| mapping.read(at, run)).map_err(wrong)?;
        Ok(texels)
    }

    /// Replaces the texels.
    pub fn write(&self, image: &Image, texels: &[u8]) -> Result<(), Error> {
        let (mapping, stride) = (image.binding()?.bo.map()?, self.row_bytes(image));
        let level = image.level(self.level, self.layer)?;
        level.write_rect(self.rect, texels, stride, |at, run| mapping.write(at, run)).map_err(wrong)
    }
}

fn wrong(error: CopyError) -> Error {
    Error::InvalidUse(error.to_string())
}

/// Replaces the bits of `mask` in every word.
pub(super) fn merge(words: &mut [u8], with: &[u8], mask: u32) {
    for (word, with) in words.chunks_exact_mut(4).zip(with.chunks_exact(4)) {
        let (Some(old), Some(new)) = (word.first_chunk::<4>(), with.first_chunk::<4>()) else { continue };
        let merged = u32::from_le_bytes(*old) & !mask | u32::from_le_bytes(*new) & mask;
        word.copy_from_slice(&merged.to_le_bytes());
    }
}

/// The layers that a subresource names.
pub(super) fn layers(image: &Image, base: u32, count: u32) -> std::ops::Range<u32> {
    let rest = image.layers().saturating_sub(base);
    base..base + if count == vk::REMAINING_ARRAY_LAYERS { rest } else { count.min(rest) }
}
