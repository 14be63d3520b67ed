//! PNG files and data URIs of attachments.

use vc4_sim::capture::attachments::Picture;

/// A PNG file.
pub fn png(width: u32, height: u32, picture: &Picture) -> Result<Vec<u8>, png::EncodingError> {
    let (color, data) = match picture {
        Picture::Rgba(data) => (png::ColorType::Rgb, rgb(data)),
        Picture::Grey(data) => (png::ColorType::Grayscale, data.clone()),
    };
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width, height);
    encoder.set_color(color);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(&data)?;
    Ok(out)
}

/// Alpha says nothing about a render target and only makes files longer.
fn rgb(rgba: &[u8]) -> Vec<u8> {
    rgba.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect()
}

/// Exchanges red and blue.
pub fn swap_red_and_blue(picture: &mut Picture) {
    if let Picture::Rgba(data) = picture {
        data.chunks_exact_mut(4).for_each(|pixel| pixel.swap(0, 2));
    }
}

/// `data:image/png;base64,…`
pub fn data_uri(png: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(png.len() / 3 * 4 + 26);
    out.push_str("data:image/png;base64,");
    for chunk in png.chunks(3) {
        let bytes = [chunk[0], *chunk.get(1).unwrap_or(&0), *chunk.get(2).unwrap_or(&0)];
        let bits = u32::from(bytes[0]) << 16 | u32::from(bytes[1]) << 8 | u32::from(bytes[2]);
        for digit in 0..4 {
            let used = digit <= chunk.len();
            out.push(if used { DIGITS[(bits >> (18 - 6 * digit) & 63) as usize] as char } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_padded() {
        let digits = |bytes: &[u8]| data_uri(bytes).split_once(',').map(|(_, digits)| digits.to_owned());
        for (bytes, text) in
            [(&b""[..], ""), (b"f", "Zg=="), (b"fo", "Zm8="), (b"foo", "Zm9v"), (b"foobar", "Zm9vYmFy")]
        {
            assert_eq!(digits(bytes).as_deref(), Some(text));
        }
    }

    #[test]
    fn pictures_come_back_from_their_files() {
        let mut picture = Picture::Rgba(vec![1, 2, 3, 0, 4, 5, 6, 255]);
        swap_red_and_blue(&mut picture);
        let file = png(2, 1, &picture).expect("a picture");
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().expect("a PNG");
        let mut data = vec![0; reader.output_buffer_size().expect("a size")];
        reader.next_frame(&mut data).expect("pixels");
        assert_eq!(data, [3, 2, 1, 6, 5, 4]);
    }
}
