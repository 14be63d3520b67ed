//! What a viewer of the screen sees.

use std::sync::Arc;

use vc4::cl::packets::Tiling;
use vc4::image::tiling::Level;

use super::framebuffer::{Format, Framebuffer};
use super::scene::{Plane, Scene};
use crate::kernel::Bo;

/// A picture of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Red, green and blue of each pixel, 8 bits each, from bit 16 down.
    pub pixels: Vec<u32>,
}

/// Something that shows frames.
pub trait Screen: Send + Sync {
    /// Shows one; called for one after the other.
    fn show(&self, frame: &Frame);
}

/// A framebuffer whose pixels can be read.
struct Reader<'a> {
    fb: &'a Framebuffer,
    bo: Arc<Bo>,
    /// For T-tiled ones.
    level: Option<Level>,
}

impl Reader<'_> {
    fn new(fb: &Framebuffer) -> Option<Reader<'_>> {
        let bo = fb.object.bo()?;
        let level = match fb.tiled {
            true => Some(Level::new(Tiling::T, fb.format.cpp, fb.pitch / fb.format.cpp, fb.height).ok()?),
            false => None,
        };
        Some(Reader { fb, bo, level })
    }

    /// Alpha, red, green and blue, 8 bits each; outside of the BO is black.
    fn pixel(&self, x: u32, y: u32) -> u32 {
        let at = match &self.level {
            Some(level) => level.offset_of(x, y),
            None => y * self.fb.pitch + x * self.fb.format.cpp,
        };
        let at = u64::from(at) + u64::from(self.fb.offset);
        if at + u64::from(self.fb.format.cpp) > self.bo.pages.bytes().into() {
            return 0;
        }
        // Not a whole word: what lies behind the last pixel is another BO's.
        let mut word = [0; 4];
        let bytes = word.iter_mut().take(self.fb.format.cpp as usize);
        let memory = self.bo.pages.memory();
        for (byte, address) in bytes.zip(self.bo.pages.address() + at as u32..) {
            *byte = memory.read_u8(address).unwrap_or(0);
        }
        expand(self.fb.format, u32::from_le_bytes(word))
    }
}

/// The channels of a pixel with 8 bits each, the short ones by repeating their high bits.
fn expand(format: Format, word: u32) -> u32 {
    let channel = |(bits, first): (u32, u32)| match bits {
        0 => 0xff,
        1 => (word >> first & 1) * 0xff,
        _ => {
            let value = word >> first & ((1 << bits) - 1);
            (value << (8 - bits) | value >> (2 * bits).saturating_sub(8)) & 0xff
        }
    };
    let [red, green, blue, alpha] = format.channels.map(channel);
    alpha << 24 | red << 16 | green << 8 | blue
}

/// `over` with its colours multiplied by alpha already, as planes are shown unless told otherwise.
fn blend(under: u32, over: u32) -> u32 {
    let rest = 255 - (over >> 24);
    let channel = |shift: u32| {
        let (under, over) = (under >> shift & 0xff, over >> shift & 0xff);
        (over + (under * rest + 127) / 255).min(255) << shift
    };
    channel(16) | channel(8) | channel(0)
}

fn draw(frame: &mut Frame, plane: &Plane, reader: &Reader<'_>) {
    let [sx, sy, sw, sh] = plane.source.map(u64::from);
    let visible = |start: i32, length: u32, edge: u32| {
        let end = i64::from(start) + i64::from(length);
        (start.max(0) as u32, end.clamp(0, edge.into()) as u32)
    };
    let (left, right) = visible(plane.x, plane.width, frame.width);
    let (top, bottom) = visible(plane.y, plane.height, frame.height);
    for y in top..bottom {
        let row = (i64::from(y) - i64::from(plane.y)) as u64;
        let from_y = ((sy + row * sh / u64::from(plane.height)) >> 16) as u32;
        for x in left..right {
            let column = (i64::from(x) - i64::from(plane.x)) as u64;
            let from_x = ((sx + column * sw / u64::from(plane.width)) >> 16) as u32;
            let to = &mut frame.pixels[(y * frame.width + x) as usize];
            *to = blend(*to, reader.pixel(from_x, from_y));
        }
    }
}

/// What `scene` looks like; `None` while the screen is off.
pub(super) fn compose(scene: &Scene) -> Option<Frame> {
    let (_, mode) = scene.mode.filter(|_| scene.active)?;
    let (width, height) = (u32::from(mode.hdisplay), u32::from(mode.vdisplay));
    let mut frame = Frame { width, height, pixels: vec![0; (width * height) as usize] };
    for plane in &scene.planes {
        if let Some(reader) = plane.fb.as_deref().and_then(Reader::new) {
            draw(&mut frame, plane, &reader);
        }
    }
    Some(frame)
}

#[cfg(test)]
mod tests {
    use super::super::framebuffer::FORMATS;
    use super::*;

    #[test]
    fn formats_are_read_by_their_letters() {
        let read = |name: &[u8; 4], word| {
            expand(FORMATS.into_iter().find(|format| format.code.to_le_bytes() == *name).unwrap(), word)
        };
        assert_eq!(read(b"XR24", 0x0012_3456), 0xff12_3456);
        assert_eq!(read(b"AR24", 0x8012_3456), 0x8012_3456);
        assert_eq!(read(b"XB24", 0x0056_3412), 0xff12_3456);
        assert_eq!(read(b"RG16", 0xf800), 0xffff_0000);
        assert_eq!(read(b"RG16", 0x07e1), 0xff00_ff08);
        assert_eq!(read(b"BG16", 0xf800), 0xff00_00ff);
        assert_eq!(read(b"AR15", 0x03e0), 0x0000_ff00);
        assert_eq!(read(b"RG24", 0x9912_3456), 0xff12_3456);
    }

    #[test]
    fn blending_is_of_multiplied_colours() {
        assert_eq!(blend(0x123456, 0xff65_4321), 0x65_4321);
        assert_eq!(blend(0x123456, 0), 0x12_3456);
        assert_eq!(blend(0xffffff, 0x8000_0000), 0x7f_7f7f);
    }
}
