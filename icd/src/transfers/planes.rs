//! Regions of copies that name planes become regions of the images that planes are, and what they write of an image that is
//! folded becomes regions of the texture.

use std::sync::Arc;

use ash::vk;

use crate::foundation::error::Error;
use crate::objects::fold::FoldPiece;
use crate::objects::image::Image;

/// Makes what a region says of an image say it of the image that its aspect is, and returns that.
pub fn resolve(
    image: &Arc<Image>,
    subresource: &mut vk::ImageSubresourceLayers,
) -> Result<Arc<Image>, Error> {
    let plane = image.aspect(subresource.aspect_mask)?;
    if !Arc::ptr_eq(plane, image) {
        subresource.aspect_mask = plane.row().aspects();
    } else if image.row().is_planar() {
        return Err(Error::InvalidUse(format!("a copy of all planes of {:?} at once", image.row().format)));
    }
    Ok(plane.clone())
}

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

/// Regions, and the images that they are of.
pub type Group<R, const N: usize> = ([Arc<Image>; N], Vec<R>);

/// Regions with the images that they are of, those of the same in one group as long as no other comes between.
pub fn grouped<R: Copy, const N: usize>(
    regions: impl IntoIterator<Item = R>,
    resolve: impl Fn(&mut R) -> Result<[Arc<Image>; N], Error>,
) -> Result<Vec<Group<R, N>>, Error> {
    let mut groups: Vec<Group<R, N>> = Vec::new();
    for mut region in regions {
        let images = resolve(&mut region)?;
        let is_same = |last: &[Arc<Image>; N]| last.iter().zip(&images).all(|(a, b)| Arc::ptr_eq(a, b));
        match groups.last_mut().filter(|(last, _)| is_same(last)) {
            Some((_, group)) => group.push(region),
            None => groups.push((images, vec![region])),
        }
    }
    Ok(groups)
}
