//! Pictures that the CPU copies.

use ash::vk;
use vc4::image::Rect;

use crate::foundation::error::Error;
use crate::foundation::traffic::Cause;
use crate::objects::image::Image;

/// What happens to pixels that are copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Conversion {
    /// Red and blue change places.
    pub exchange: bool,
    /// Alpha becomes one.
    pub opaque: bool,
}

impl Conversion {
    /// Of pixels of four bytes.
    pub fn apply(self, pixels: &mut [u8]) {
        if self == Conversion::default() {
            return;
        }
        for pixel in pixels.chunks_exact_mut(4) {
            if self.exchange {
                pixel.swap(0, 2);
            }
            if self.opaque {
                pixel[3] = u8::MAX;
            }
        }
    }
}

/// Copies level 0 of an image into rows without gaps.
pub(super) fn copy(image: &Image, pixels: &mut [u8]) -> Result<(), Error> {
    let memory = image.binding()?.bo.access(Cause::Present)?;
    let vk::Extent3D { width, height, .. } = image.extent();
    let rect = Rect { x: 0, y: 0, width, height };
    let level = image.level(0, 0)?;
    let stride = width as usize * level.cpp as usize;
    let copied = level.read_rect(rect, pixels, stride, |at, run| memory.read(at, run));
    copied.map_err(|error| Error::InvalidUse(error.to_string()))
}

/// As [`copy`], of pixels of 16 bits, too: red, green and blue of 5, 6 and 5 bits.
pub(super) fn copy_as_words(image: &Image, pixels: &mut [u8]) -> Result<(), Error> {
    let vk::Extent3D { width, height, .. } = image.extent();
    if image.level(0, 0)?.cpp == 4 {
        return copy(image, pixels);
    }
    let mut shorts = vec![0; width as usize * height as usize * 2];
    copy(image, &mut shorts)?;
    for (pixel, short) in pixels.chunks_exact_mut(4).zip(shorts.chunks_exact(2)) {
        let short = u16::from_le_bytes([short[0], short[1]]);
        let five = |first: u16| ((short >> first & 31) << 3 | (short >> first & 31) >> 2) as u8;
        let six = (short >> 5 & 63) << 2 | (short >> 5 & 63) >> 4;
        pixel.copy_from_slice(&[five(0), six as u8, five(11), u8::MAX]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_touch_only_their_bytes() {
        let convert = |exchange, opaque| {
            let mut pixels = [1, 2, 3, 4, 5, 6, 7, 8];
            Conversion { exchange, opaque }.apply(&mut pixels);
            pixels
        };
        assert_eq!(convert(false, false), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(convert(true, false), [3, 2, 1, 4, 7, 6, 5, 8]);
        assert_eq!(convert(false, true), [1, 2, 3, 255, 5, 6, 7, 255]);
    }
}
