//! How images that are longer than the texture unit counts, but not large, lie in one texture: strips of them beside each other.

use vc4::image::Rect;

use crate::foundation::error::Error;

/// How an image lies in a texture that is shorter. It is cut along one axis, and strip n lies n times the image's other
/// size further along the other one. Strips end with the texel that the next one begins with, so the texture unit filters
/// across cuts by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The axis that is cut: 0 for columns, 1 for rows.
    pub axis: usize,
    /// Texels from cut to cut.
    pub step: u32,
    /// The image's texels along both axes.
    pub extent: [u32; 2],
    strips: u32,
}

/// A part of an image that lies in one strip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldPiece {
    /// Texels along both axes from the corner of what was asked for.
    pub skipped: [u32; 2],
    /// Where it lies in the texture.
    pub rect: Rect,
}

impl Fold {
    /// How an image of so many texels lies in a texture of `most` along each axis; `None` if it needs no cut, or does not fit.
    pub fn new(extent: [u32; 2], most: u32) -> Option<Fold> {
        let axis = extent.iter().position(|texels| *texels > most)?;
        // No texel is in no strip but as its end.
        let strips = extent[axis].div_ceil(most.checked_sub(1)?);
        let fits = extent[1 - axis].checked_mul(strips)? <= most;
        fits.then_some(Fold { axis, step: extent[axis].div_ceil(strips), extent, strips })
    }

    /// The texture's texels along both axes.
    pub fn texture(&self) -> [u32; 2] {
        let mut texels = self.extent;
        texels[self.axis] = self.step + 1;
        texels[1 - self.axis] *= self.strips;
        texels
    }

    /// Where a texel lies in the texture, of two places the later one.
    pub fn place_of(&self, at: [u32; 2]) -> [u32; 2] {
        let strip = at[self.axis] / self.step;
        let mut place = at;
        place[self.axis] -= strip * self.step;
        place[1 - self.axis] += strip * self.extent[1 - self.axis];
        place
    }

    /// All places in the texture of a part of the image.
    ///
    /// # Errors
    /// It leaves the image.
    pub fn pieces(
        self,
        offset: [i32; 2],
        extent: [u32; 2],
    ) -> Result<impl Iterator<Item = FoldPiece>, Error> {
        let leaves = || {
            let [width, height] = self.extent;
            Error::InvalidUse(format!("{extent:?} texels at {offset:?} of an image of {width}x{height}"))
        };
        let end = |axis: usize| offset[axis].checked_add_unsigned(extent[axis]);
        let inside = |axis: usize| end(axis).is_some_and(|end| end.unsigned_abs() <= self.extent[axis]);
        let first: [Option<u32>; 2] = offset.map(|at| at.try_into().ok());
        let ([Some(x), Some(y)], true) = (first, inside(0) && inside(1)) else { return Err(leaves()) };
        let (first, axis) = ([x, y], self.axis);
        Ok((0..self.strips).filter_map(move |strip| {
            let cut = strip * self.step;
            let start = first[axis].max(cut);
            let end = (first[axis] + extent[axis]).min(cut + self.step + 1);
            let (mut skipped, mut at, mut size) = ([0; 2], first, extent);
            size[axis] = end.checked_sub(start).filter(|texels| *texels > 0)?;
            skipped[axis] = start - first[axis];
            at[axis] = start - cut;
            at[1 - axis] += strip * self.extent[1 - axis];
            let rect = Rect { x: at[0], y: at[1], width: size[0], height: size[1] };
            Some(FoldPiece { skipped, rect })
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_images_are_cut_and_large_ones_are_not() {
        let texture = |extent| Fold::new(extent, 2048).map(|fold| (fold.axis, fold.step, fold.texture()));
        assert_eq!(texture([2048, 2048]), None);
        assert_eq!(texture([2049, 100]), Some((0, 1025, [1026, 200])));
        assert_eq!(texture([8192, 64]), Some((0, 1639, [1640, 320])));
        assert_eq!(texture([30, 4094]), Some((1, 2047, [60, 2048])));
        assert_eq!(texture([4094, 1024]), Some((0, 2047, [2048, 2048])));
        assert_eq!(texture([4094, 1025]), None);
        assert_eq!(texture([4096, 4096]), None);
    }

    /// Every texel lies once in each strip that has it, and where [`Fold::place_of`] says.
    #[test]
    fn pieces_cover_what_is_asked_for() {
        for (extent, most) in [([23, 3], 10), ([2, 31], 9), ([11, 1], 10), ([30, 1], 11)] {
            let fold = Fold::new(extent, most).unwrap();
            let [width, height] = fold.texture();
            assert!(width <= most && height <= most);
            for (x, y, columns, rows) in [(0, 0, extent[0], extent[1]), (1, 0, extent[0] - 1, 1)] {
                let mut found = std::collections::BTreeMap::new();
                for FoldPiece { skipped, rect } in fold.pieces([x as i32, y as i32], [columns, rows]).unwrap()
                {
                    for (row, column) in (0..rect.height).flat_map(|y| (0..rect.width).map(move |x| (y, x))) {
                        let place = [rect.x + column, rect.y + row];
                        assert!(place[0] < width && place[1] < height);
                        let texel = [x + skipped[0] + column, y + skipped[1] + row];
                        assert_eq!(found.insert(place, texel), None);
                    }
                }
                for (x, y) in (x..x + columns).flat_map(|x| (y..y + rows).map(move |y| (x, y))) {
                    assert_eq!(found.get(&fold.place_of([x, y])), Some(&[x, y]));
                    let along = [x, y][fold.axis];
                    let places = found.values().filter(|texel| **texel == [x, y]).count();
                    let cut = along > 0 && along % fold.step == 0;
                    assert_eq!(places, 1 + usize::from(cut), "({x}, {y}) of {fold:?}");
                }
            }
            assert!(fold.pieces([0, 1], extent).is_err() && fold.pieces([-1, 0], [1, 1]).is_err());
        }
    }
}
