//! Pictures that jobs leave: what must be there, and what is.

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
        assert_eq!(seen.difference(&expected).words.iter().filter(|word| **word == u32::MAX).count(), 2);
    }
}
