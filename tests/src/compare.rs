//! Two pictures of the same scene from two drivers.

/// An RGBA8 picture, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Four bytes per pixel.
    pub rgba: Vec<u8>,
}

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

impl Picture {
    /// The four bytes of a pixel.
    pub fn pixel(&self, x: u32, y: u32) -> [u8; 4] {
        let at = ((y * self.width + x) * 4) as usize;
        [self.rgba[at], self.rgba[at + 1], self.rgba[at + 2], self.rgba[at + 3]]
    }

    /// Writes a PNG.
    pub fn save_png(&self, path: &std::path::Path) -> std::io::Result<()> {
        let file = std::io::BufWriter::new(std::fs::File::create(path)?);
        let mut encoder = png::Encoder::new(file, self.width, self.height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.rgba)?;
        writer.finish()?;
        Ok(())
    }

    /// Reads an RGBA8 PNG, as [`Picture::save_png`] writes them.
    pub fn load_png(path: &std::path::Path) -> std::io::Result<Picture> {
        let mut reader =
            png::Decoder::new(std::io::BufReader::new(std::fs::File::open(path)?)).read_info()?;
        let size = reader.output_buffer_size().ok_or_else(|| std::io::Error::other("picture too large"))?;
        let mut rgba = vec![0; size];
        let info = reader.next_frame(&mut rgba)?;
        if info.color_type != png::ColorType::Rgba {
            return Err(std::io::Error::other("not an RGBA picture"));
        }
        Ok(Picture { width: info.width, height: info.height, rgba })
    }

    fn is_edge(&self, x: u32, y: u32) -> bool {
        let xs = x.saturating_sub(1)..=(x + 1).min(self.width - 1);
        let ys = y.saturating_sub(1)..=(y + 1).min(self.height - 1);
        let (mut low, mut high) = ([255; 4], [0; 4]);
        for (x, y) in ys.flat_map(|y| xs.clone().map(move |x| (x, y))) {
            for (channel, value) in self.pixel(x, y).into_iter().enumerate() {
                low[channel] = value.min(low[channel]);
                high[channel] = value.max(high[channel]);
            }
        }
        low.iter().zip(high).any(|(low, high)| high - low > EDGE_CONTRAST)
    }
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
                if off > result.worst_inside && !reference.is_edge(x, y) {
                    result.worst_inside = off;
                    result.worst_at = (x, y);
                }
            }
        }
        result.differing = f64::from(count) / f64::from(picture.width * picture.height);
        result
    }

    /// Whether the picture passes.
    pub fn acceptable(&self) -> bool {
        self.differing <= DIFFERING_LIMIT && self.worst_inside <= INSIDE_LIMIT
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
