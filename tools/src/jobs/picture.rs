//! Pictures that jobs leave: what must be there, and what is.

use std::collections::BTreeMap;

/// Pixels by rows, red in the lowest byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    pub words: Vec<u32>,
}

impl Picture {
    pub fn from_fn(width: u32, height: u32, pixel: impl Fn(u32, u32) -> u32) -> Picture {
        let pixel = &pixel;
        let words = (0..height).flat_map(|y| (0..width).map(move |x| pixel(x, y))).collect();
        Picture { width, height, words }
    }

    /// Where channels are further apart than `tolerance`.
    fn differing<'a>(&'a self, other: &'a Picture, tolerance: u8) -> impl Iterator<Item = usize> + 'a {
        let far = move |a: u32, b: u32| {
            a.to_le_bytes().iter().zip(b.to_le_bytes()).any(|(a, b)| a.abs_diff(b) > tolerance)
        };
        let pairs = self.words.iter().zip(&other.words).enumerate();
        pairs.filter(move |(_, (a, b))| far(**a, **b)).map(|(at, _)| at)
    }

    /// What is different from the picture that must be there, in words.
    pub fn compare(&self, expected: &Picture, tolerance: u8) -> Result<(), String> {
        let mut differing = self.differing(expected, tolerance);
        let Some(first) = differing.next() else { return Ok(()) };
        let count = 1 + differing.count();
        let (x, y) = (first as u32 % self.width, first as u32 / self.width);
        Err(format!(
            "{count} of {} pixels are wrong; the first is ({x}, {y}): {:08x} instead of {:08x}",
            self.words.len(),
            self.words[first],
            expected.words[first]
        ))
    }

    /// The first pixel that is different.
    pub fn first_difference(&self, expected: &Picture) -> Option<(u32, u32)> {
        let first = self.differing(expected, 0).next()? as u32;
        Some((first % self.width, first / self.width))
    }

    /// How many pixels of which tiles of `edge` pixels are different, in words; the first few tiles by name.
    pub fn tiles(&self, expected: &Picture, edge: u32) -> String {
        const NAMED: usize = 4;
        let mut tiles = BTreeMap::<(u32, u32), u32>::new();
        for at in self.differing(expected, 0) {
            let (x, y) = (at as u32 % self.width, at as u32 / self.width);
            *tiles.entry((y / edge, x / edge)).or_default() += 1;
        }
        let named =
            tiles.iter().take(NAMED).map(|((row, column), count)| format!("({column}, {row}) {count}"));
        let more = if tiles.len() > NAMED { ", …" } else { "" };
        let all = self.width.div_ceil(edge) * self.height.div_ceil(edge);
        format!("in {} of {all} tiles: {}{more}", tiles.len(), named.collect::<Vec<_>>().join(", "))
    }

    /// White where the pictures differ.
    pub fn difference(&self, expected: &Picture) -> Picture {
        let mut out = Picture::from_fn(self.width, self.height, |_, _| 0xff00_0000);
        self.differing(expected, 0).for_each(|at| out.words[at] = 0xffff_ffff);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_wrong_pixel_is_named() {
        let expected = Picture::from_fn(4, 2, |x, y| x | y << 8);
        let mut seen = expected.clone();
        assert_eq!(seen.compare(&expected, 0), Ok(()));
        seen.words[5] = 0x103;
        seen.words[7] = 0;
        assert_eq!(
            seen.compare(&expected, 1),
            Err("2 of 8 pixels are wrong; the first is (1, 1): 00000103 instead of 00000101".into())
        );
        assert!(seen.compare(&expected, 2).unwrap_err().starts_with("1 of 8"));
        assert_eq!(seen.first_difference(&expected), Some((1, 1)));
        assert_eq!(seen.tiles(&expected, 2), "in 2 of 2 tiles: (0, 0) 1, (1, 0) 1");
        assert_eq!(seen.tiles(&expected, 64), "in 1 of 1 tiles: (0, 0) 2");
        assert_eq!(seen.difference(&expected).words.iter().filter(|word| **word == u32::MAX).count(), 2);
    }
}
