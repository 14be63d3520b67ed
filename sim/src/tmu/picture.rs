//! What a texture looks like to the unit, for people.

use vc4::facts::Facts;

use super::texture::Texture;
use crate::memory::Memory;

/// Longest edge of a picture; larger textures lose rows and columns.
const MOST: u32 = 256;

/// Level 0 of a texture's first face, as r4 would show its texels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TexturePicture {
    /// Columns of the texture.
    pub width: u32,
    /// Rows of the texture.
    pub height: u32,
    /// Every how manyeth column and row the picture has.
    pub step: u32,
    /// The pixels, row by row, red lowest.
    pub pixels: Vec<u32>,
}

impl TexturePicture {
    /// The texture that these configuration words describe; `None` when the unit would fault on it.
    pub fn of(memory: &Memory, words: &[u32; 4]) -> Option<TexturePicture> {
        let texture = Texture::decode(&Facts::default(), words).ok()?;
        let level = texture.levels.first()?;
        let (width, height) = (level.width, level.height);
        let step = width.max(height).div_ceil(MOST).max(1);
        let mut pixels = Vec::new();
        for y in (0..height).step_by(step as usize) {
            for x in (0..width).step_by(step as usize) {
                pixels.push(texture.texel(memory, level, 0, x, y).ok()?);
            }
        }
        Some(TexturePicture { width, height, step, pixels })
    }

    /// Columns and rows of the picture.
    pub fn size(&self) -> (u32, u32) {
        (self.width.div_ceil(self.step), self.height.div_ceil(self.step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::PAGE_BYTES;
    use vc4::cl::field::{Addr, Count};
    use vc4::cl::words::{TextureP0, TextureP1, TextureType, TextureWords};

    #[test]
    fn large_textures_lose_rows_and_columns() {
        let memory = Memory::new(1 << 20);
        let base = memory.allocate(512 * 4 * PAGE_BYTES / 4096).unwrap();
        let words = TextureWords {
            ty: TextureType::Luminance,
            p0: TextureP0 { base: Addr::new(base).unwrap(), ..Default::default() },
            p1: TextureP1 {
                width: Count::new(512).unwrap(),
                height: Count::new(4).unwrap(),
                ..Default::default()
            },
        };
        let [p0, p1] = words.bits();
        memory.write_bytes(base, &[7]).unwrap();
        let picture = TexturePicture::of(&memory, &[p0, p1, 0, 0]).unwrap();
        assert_eq!((picture.size(), picture.step), ((256, 2), 2));
        assert_eq!(picture.pixels[..2], [0xff07_0707, 0xff00_0000]);
        assert_eq!(picture.pixels.len(), 512);
        assert!(TexturePicture::of(&memory, &[0xffff_f000, p1, 0, 0]).is_none());
    }
}
