//! Pictures of a scene from two drivers.

use std::path::Path;

use crate::Error;

/// Channel differences up to this are rounding: filter weights, varyings and conversions have few bits on this chip.
pub const SMALL: u8 = 4;

/// An RGBA8 picture, rows from the top.
pub struct Picture {
    width: usize,
    height: usize,
    rgba: Vec<u8>,
}

/// How far two pictures are apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Pixels with a channel off by more than [`SMALL`].
    pub pixels: usize,
    /// The same in percent of the picture.
    pub percent: f64,
    /// Largest channel difference.
    pub worst: u8,
}

impl Picture {
    /// Reads a PNG file, or a PAM file of four 8-bit channels.
    pub fn load(path: &Path) -> Result<Picture, Error> {
        let data = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        if path.extension().is_some_and(|extension| extension == "png") {
            return Picture::decode(&data).map_err(|error| format!("{}: {error}", path.display()).into());
        }
        Picture::parse(&data).ok_or_else(|| format!("{} is no RGBA picture", path.display()).into())
    }

    fn parse(data: &[u8]) -> Option<Picture> {
        let end = data.windows(7).position(|window| window == b"ENDHDR\n")?;
        let header = std::str::from_utf8(&data[..end]).ok()?;
        let field = |name: &str| -> Option<usize> {
            header.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
        };
        let (width, height) = (field("WIDTH")?, field("HEIGHT")?);
        let rgba = data[end + 7..].to_vec();
        let complete = width.checked_mul(height)?.checked_mul(4)? == rgba.len() && field("DEPTH")? == 4;
        complete.then_some(Picture { width, height, rgba })
    }

    /// Reads PNG data of any kind as four 8-bit channels.
    fn decode(data: &[u8]) -> Result<Picture, Error> {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(data));
        decoder
            .set_transformations(png::Transformations::normalize_to_color8() | png::Transformations::ALPHA);
        let mut reader = decoder.read_info()?;
        let mut pixels = vec![0; reader.output_buffer_size().ok_or("larger than memory")?];
        let info = reader.next_frame(&mut pixels)?;
        pixels.truncate(info.buffer_size());
        let rgba = match info.color_type {
            png::ColorType::Rgba => pixels,
            _ => pixels.chunks_exact(2).flat_map(|p| [p[0], p[0], p[0], p[1]]).collect(),
        };
        Ok(Picture { width: info.width as usize, height: info.height as usize, rgba })
    }

    fn pixel(&self, x: usize, y: usize) -> [u8; 4] {
        let at = (y * self.width + x) * 4;
        [self.rgba[at], self.rgba[at + 1], self.rgba[at + 2], self.rgba[at + 3]]
    }

    /// The smallest difference of a pixel from one at most `reach` pixels away in this picture.
    fn nearest(&self, x: usize, y: usize, pixel: [u8; 4], reach: usize) -> u8 {
        let columns = x.saturating_sub(reach)..=(x + reach).min(self.width - 1);
        let rows = y.saturating_sub(reach)..=(y + reach).min(self.height - 1);
        let around = rows.flat_map(|y| columns.clone().map(move |x| (x, y)));
        around.map(|(x, y)| off(self.pixel(x, y), pixel)).min().unwrap_or(255)
    }

    /// Compares with `reference`; `reach` lets a pixel lie that far away (in both directions of comparison).
    /// `None` when the sizes differ.
    pub fn difference(&self, reference: &Picture, reach: usize) -> Option<Difference> {
        if (self.width, self.height) != (reference.width, reference.height) || self.rgba.is_empty() {
            return None;
        }
        let (mut pixels, mut worst) = (0, 0);
        for y in 0..self.height {
            for x in 0..self.width {
                let there = reference.nearest(x, y, self.pixel(x, y), reach);
                let back = self.nearest(x, y, reference.pixel(x, y), reach);
                let off = there.max(back);
                pixels += usize::from(off > SMALL);
                worst = worst.max(off);
            }
        }
        let percent = pixels as f64 * 100.0 / (self.width * self.height) as f64;
        Some(Difference { pixels, percent, worst })
    }

    /// Writes a PNG of three columns: this picture, the reference, and their difference (white: none). Rows are of
    /// colour and of alpha.
    pub fn save_sheet(&self, reference: &Picture, path: &Path) -> Result<(), Error> {
        const SCALE: usize = 2;
        const GAP: usize = 4;
        let (column, row) = (self.width * SCALE + GAP, self.height * SCALE + GAP);
        let (width, height) = (3 * column, 2 * row);
        let mut rgb = vec![96; width * height * 3];
        for y in 0..self.height * SCALE {
            for x in 0..self.width * SCALE {
                let a = self.pixel(x / SCALE, y / SCALE);
                let b = reference.pixel(x / SCALE, y / SCALE);
                let shown = |off: u8| 255 - if off > SMALL { off.max(64) } else { off * 4 };
                let color: [u8; 3] = std::array::from_fn(|c| shown(a[c].abs_diff(b[c])));
                let cells = [[a[0], a[1], a[2]], [b[0], b[1], b[2]], color];
                let alphas = [[a[3]; 3], [b[3]; 3], [shown(a[3].abs_diff(b[3])); 3]];
                for (at, cells) in [(0, cells), (row, alphas)] {
                    for (cell, value) in cells.iter().enumerate() {
                        let at = ((y + at) * width + x + cell * column) * 3;
                        rgb[at..at + 3].copy_from_slice(value);
                    }
                }
            }
        }
        let file = std::io::BufWriter::new(std::fs::File::create(path)?);
        let mut encoder = png::Encoder::new(file, width as u32, height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header()?.write_image_data(&rgb)?;
        Ok(())
    }
}

fn off(a: [u8; 4], b: [u8; 4]) -> u8 {
    a.into_iter().zip(b).map(|(a, b)| a.abs_diff(b)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(pixels: &[u8]) -> Picture {
        let rgba = pixels.iter().flat_map(|&value| [value, 0, 0, 255]).collect();
        Picture { width: pixels.len(), height: 1, rgba }
    }

    #[test]
    fn rounding_is_no_difference_and_a_shift_is_one_unless_allowed() {
        let reference = picture(&[0, 0, 100, 0, 0, 0, 0, 0]);
        let rounded = picture(&[4, 0, 104, 0, 0, 0, 0, 0]).difference(&reference, 0).expect("same size");
        assert_eq!(rounded, Difference { pixels: 0, percent: 0.0, worst: 4 });
        let shifted = picture(&[0, 0, 0, 100, 0, 0, 0, 0]);
        assert_eq!(shifted.difference(&reference, 0).map(|difference| difference.pixels), Some(2));
        assert_eq!(shifted.difference(&reference, 1).map(|difference| difference.pixels), Some(0));
        let far = picture(&[0, 0, 0, 0, 100, 0, 0, 0]).difference(&reference, 1);
        assert_eq!(far.map(|difference| (difference.pixels, difference.worst)), Some((2, 100)));
        assert_eq!(picture(&[0]).difference(&reference, 0), None);
    }

    #[test]
    fn png_files_of_every_kind_are_four_channels() {
        let png = |kind: png::ColorType, bytes: &[u8]| {
            let mut file = Vec::new();
            let mut encoder = png::Encoder::new(&mut file, 1, 2);
            encoder.set_color(kind);
            let mut writer = encoder.write_header().expect("memory");
            writer.write_image_data(bytes).expect("memory");
            writer.finish().expect("memory");
            Picture::decode(&file).expect("a picture").pixel(0, 1)
        };
        assert_eq!(png(png::ColorType::Rgba, &[1, 2, 3, 4, 5, 6, 7, 8]), [5, 6, 7, 8]);
        assert_eq!(png(png::ColorType::Rgb, &[1, 2, 3, 5, 6, 7]), [5, 6, 7, 255]);
        assert_eq!(png(png::ColorType::Grayscale, &[1, 9]), [9, 9, 9, 255]);
        assert!(Picture::decode(b"no picture").is_err());
    }

    #[test]
    fn files_are_read_whole_or_not_at_all() {
        let head = b"P7\nWIDTH 1\nHEIGHT 2\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n";
        let file = |bytes: &[u8]| [head.as_slice(), bytes].concat();
        let picture = Picture::parse(&file(&[1, 2, 3, 4, 5, 6, 7, 8])).expect("a picture");
        assert_eq!(picture.pixel(0, 1), [5, 6, 7, 8]);
        assert!(Picture::parse(&file(&[1, 2, 3])).is_none());
        assert!(Picture::parse(b"P7\nENDHDR\n").is_none());
    }
}
