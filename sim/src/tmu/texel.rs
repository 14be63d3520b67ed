//! Texture types and their texels as the unit returns them (textures.md §3).

use super::etc1;
use super::texture::{Level, Texture};
use crate::memory::{BusError, Memory};

/// Texture types that the kernel accepts, with their codes.
///
/// UNVERIFIED: where in r4 do types 9, 10 and 11 put their sample? The low half or byte is assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Format {
    Rgba8888 = 0,
    Rgbx8888 = 1,
    Rgba4444 = 2,
    Rgba5551 = 3,
    Rgb565 = 4,
    Luminance = 5,
    Alpha = 6,
    LumAlpha = 7,
    Etc1 = 8,
    S16F = 9,
    S8 = 10,
    S16 = 11,
    Rgba32Raster = 16,
}

impl Format {
    pub fn from_code(code: u32) -> Option<Format> {
        use Format::*;
        [
            Rgba8888,
            Rgbx8888,
            Rgba4444,
            Rgba5551,
            Rgb565,
            Luminance,
            Alpha,
            LumAlpha,
            Etc1,
            S16F,
            S8,
            S16,
            Rgba32Raster,
        ]
        .into_iter()
        .find(|&format| format as u32 == code)
    }

    /// Bytes of an element: a pixel, or an ETC1 block.
    pub const fn bytes(self) -> u32 {
        1 << self.utile_shifts().0
    }

    /// Pixels along the edge of an element.
    pub const fn block(self) -> u32 {
        if matches!(self, Format::Etc1) { 4 } else { 1 }
    }

    /// Binary logarithms of the bytes of an element and of the elements of a utile's row and column.
    #[inline(always)]
    pub const fn utile_shifts(self) -> (u32, u32, u32) {
        match self {
            Format::Rgba8888 | Format::Rgbx8888 | Format::Rgba32Raster => (2, 2, 2),
            Format::Luminance | Format::Alpha | Format::S8 => (0, 3, 3),
            Format::Etc1 => (3, 1, 2),
            _ => (1, 3, 2),
        }
    }
}

/// UNVERIFIED: how are channels of `bits` bits expanded to 8? By repeating their high bits (textures.md §3).
pub(super) const fn expand(value: u32, bits: u32) -> u32 {
    match bits {
        1 => value * 255,
        4 => value * 17,
        5 => value << 3 | value >> 2,
        _ => value << 2 | value >> 4,
    }
}

const fn rgba(r: u32, g: u32, b: u32, a: u32) -> u32 {
    r | g << 8 | b << 16 | a << 24
}

impl Texture {
    /// The texel at (x, y) of a level, both in range, in the arrangement of r4.
    pub(super) fn texel(
        &self,
        memory: &Memory,
        level: &Level,
        face: u32,
        x: u32,
        y: u32,
    ) -> Result<u32, BusError> {
        let y = if self.flip_y { level.height - 1 - y } else { y };
        let block = self.format.block();
        let offset = level.offset(self.format, x / block, y / block);
        let at = level.base.wrapping_add(face * self.cube_stride).wrapping_add(offset);
        Ok(match self.format {
            Format::Rgba8888 | Format::Rgba32Raster => memory.read(at)?,
            Format::Rgbx8888 => memory.read(at)? | 0xff00_0000,
            Format::Etc1 => {
                let row = if self.etc_upright { y & 3 } else { 3 - (y & 3) };
                let mut bytes = [0; 8];
                memory.read_bytes(at, &mut bytes)?;
                etc1::pixel(u64::from_be_bytes(bytes), x & 3, row)
            }
            Format::Luminance => u32::from(memory.read_u8(at)?) * 0x01_0101 | 0xff00_0000,
            Format::Alpha => u32::from(memory.read_u8(at)?) << 24,
            Format::S8 => u32::from(memory.read_u8(at)?),
            Format::LumAlpha => {
                let word = u32::from(memory.read_u16(at)?);
                (word & 255) * 0x01_0101 | word >> 8 << 24
            }
            Format::S16F | Format::S16 => u32::from(memory.read_u16(at)?),
            Format::Rgba4444 | Format::Rgba5551 | Format::Rgb565 => {
                unpack_16(self.format, u32::from(memory.read_u16(at)?))
            }
        })
    }
}

fn unpack_16(format: Format, w: u32) -> u32 {
    let field = |low: u32, bits: u32| expand(w >> low & ((1 << bits) - 1), bits);
    match format {
        Format::Rgba4444 => rgba(field(12, 4), field(8, 4), field(4, 4), field(0, 4)),
        Format::Rgba5551 => rgba(field(11, 5), field(6, 5), field(1, 5), field(0, 1)),
        _ => rgba(field(11, 5), field(5, 6), field(0, 5), 255),
    }
}
