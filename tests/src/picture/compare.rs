//! Two pictures of the same scene from two drivers.

use std::path::Path;

use super::rgba::Picture;

/// How far a picture is from its reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Share of pixels with a channel off by more than [`SMALL`].
    pub differing: f64,
    /// Largest channel difference of a pixel that lies on no edge of the reference.
    pub worst_inside: u8,
    /// Where that is.
    pub worst_at: (u32, u32),
}

/// Differences up to this are rounding.
pub const SMALL: u8 = 2;
/// Largest share of pixels that may differ by more than [`SMALL`].
pub const DIFFERING_LIMIT: f64 = 0.005;
/// Largest difference away from edges.
pub const INSIDE_LIMIT: u8 = 8;
/// Contrast within a 3x3 neighbourhood of the reference that makes its centre an edge pixel: there a
/// sub-pixel of rasterisation or a texel of sampling decides which side is seen.
const EDGE_CONTRAST: u8 = 8;

/// Whether a pixel lies on an edge of the picture.
fn is_edge(picture: &Picture, x: u32, y: u32) -> bool {
    let xs = x.saturating_sub(1)..=(x + 1).min(picture.width - 1);
    let ys = y.saturating_sub(1)..=(y + 1).min(picture.height - 1);
    let (mut low, mut high) = ([255; 4], [0; 4]);
    for (x, y) in ys.flat_map(|y| xs.clone().map(move |x| (x, y))) {
        for (channel, value) in picture.pixel(x, y).into_iter().enumerate() {
            low[channel] = value.min(low[channel]);
            high[channel] = value.max(high[channel]);
        }
    }
    low.iter().zip(high).any(|(low, high)| high - low > EDGE_CONTRAST)
}

impl Difference {
    /// Compares `picture` with `reference` of the same size.
    pub fn between(picture: &Picture, reference: &Picture) -> Difference {
        assert_eq!((picture.width, picture.height), (reference.width, reference.height), "picture sizes");
        let mut result = Difference { differing: 0.0, worst_inside: 0, worst_at: (0, 0) };
        let mut count = 0;
        for y in 0..picture.height {
            for x in 0..picture.width {
                let pairs = picture.pixel(x, y).into_iter().zip(reference.pixel(x, y));
                let off = pairs.map(|(a, b)| a.abs_diff(b)).max().unwrap_or(0);
                count += u32::from(off > SMALL);
                if off > result.worst_inside && !is_edge(reference, x, y) {
                    result.worst_inside = off;
                    result.worst_at = (x, y);
                }
            }
        }
        result.differing = f64::from(count) / f64::from(picture.width * picture.height);
        result
    }

    /// Compares the files `NAME.png` of two directories and prints what comes out.
    ///
    /// # Errors
    /// The file that is missing.
    pub fn of_files(name: &str, directory: &Path, reference: &Path) -> Result<Difference, String> {
        Difference::of_named(name, directory, (name, reference))
    }

    /// As [`Difference::of_files`], where the reference has another name.
    ///
    /// # Errors
    /// The file that is missing.
    pub fn of_named(
        name: &str,
        directory: &Path,
        (as_name, reference): (&str, &Path),
    ) -> Result<Difference, String> {
        let load = |directory: &Path, name: &str| {
            let path = directory.join(format!("{name}.png"));
            Picture::load_png(&path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let difference = Difference::between(&load(directory, name)?, &load(reference, as_name)?);
        println!(
            "{name:26} {:6.3} % of pixels differ, worst inside {:3} at {:?}",
            difference.differing * 100.0,
            difference.worst_inside,
            difference.worst_at
        );
        Ok(difference)
    }

    /// Whether the picture passes.
    pub fn acceptable(&self) -> bool {
        self.differing <= DIFFERING_LIMIT && self.worst_inside <= INSIDE_LIMIT
    }
}

/// How far a picture is from its reference, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distance {
    /// Largest difference of a channel.
    pub worst: u8,
    /// Pixels that differ at all.
    pub pixels: usize,
    /// A pixel with the largest difference.
    pub at: (u32, u32),
}

impl Distance {
    /// Between two pictures of the same size.
    pub fn between(a: &Picture, b: &Picture) -> Distance {
        assert_eq!((a.width, a.height), (b.width, b.height), "picture sizes");
        let mut distance = Distance::default();
        for (n, (p, q)) in (0u32..).zip(a.rgba.chunks_exact(4).zip(b.rgba.chunks_exact(4))) {
            let off = p.iter().zip(q).map(|(x, y)| x.abs_diff(*y)).max().unwrap_or(0);
            distance.pixels += usize::from(off > 0);
            if off > distance.worst {
                distance.worst = off;
                distance.at = (n % a.width, n / a.width);
            }
        }
        distance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(value: u8) -> Picture {
        Picture { width: 20, height: 20, rgba: vec![value; 1600] }
    }

    #[test]
    fn rounding_passes_and_a_wrong_pixel_fails() {
        assert!(Difference::between(&flat(100), &flat(102)).acceptable());
        let mut wrong = flat(100);
        wrong.rgba[4 * 30] = 120;
        let difference = Difference::between(&wrong, &flat(100));
        assert_eq!((difference.worst_inside, difference.worst_at), (20, (10, 1)));
        assert!(!difference.acceptable());
        assert!(!Difference::between(&flat(100), &flat(104)).acceptable());
    }

    #[test]
    fn an_edge_may_move_by_a_pixel() {
        let edge = |at: u32| {
            let mut picture = flat(0);
            for (i, pixel) in picture.rgba.chunks_exact_mut(4).enumerate() {
                pixel.fill(if i as u32 % 20 < at { 0 } else { 255 });
            }
            picture
        };
        assert_eq!(Difference::between(&edge(10), &edge(11)).worst_inside, 0);
        assert_eq!(Difference::between(&edge(10), &edge(13)).worst_inside, 255);
    }
}
