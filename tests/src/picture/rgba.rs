//! A picture as bytes and as a file.

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
}
