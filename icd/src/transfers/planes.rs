//! Regions of copies that name planes become regions of the images that planes are.

use std::sync::Arc;

use ash::vk;

use crate::foundation::error::Error;
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
