//! What commands write of an image that is folded becomes pieces in the texture.

use std::sync::Arc;

use ash::vk;

use crate::foundation::error::Error;
use crate::objects::fold::FoldPiece;
use crate::objects::image::Image;

/// Regions as such of what holds an image's texels, pieces of them where the image is folded: `piece` makes a region begin
/// so many texels further on and have the extent that is written.
///
/// # Errors
/// A region leaves an image that is folded.
pub fn unfolded<R: Copy>(
    image: &Arc<Image>,
    regions: &[R],
    written: impl Fn(&R) -> (vk::Offset3D, vk::Extent3D),
    piece: impl Fn(&R, [u32; 2], vk::Offset3D, vk::Extent3D) -> R,
) -> Result<(Arc<Image>, Vec<R>), Error> {
    let (texture, fold) = image.unfolded();
    let Some(fold) = fold else { return Ok((image.clone(), regions.to_vec())) };
    let mut pieces = Vec::new();
    for region in regions {
        let (offset, extent) = written(region);
        for FoldPiece { skipped, rect } in fold.pieces([offset.x, offset.y], [extent.width, extent.height])? {
            let offset = vk::Offset3D { x: rect.x as i32, y: rect.y as i32, z: offset.z };
            let extent = vk::Extent3D { width: rect.width, height: rect.height, depth: extent.depth };
            pieces.push(piece(region, skipped, offset, extent));
        }
    }
    Ok((texture.clone(), pieces))
}

/// A place so many texels further on.
pub fn moved(offset: vk::Offset3D, [x, y]: [u32; 2]) -> vk::Offset3D {
    vk::Offset3D { x: offset.x.saturating_add_unsigned(x), y: offset.y.saturating_add_unsigned(y), ..offset }
}
