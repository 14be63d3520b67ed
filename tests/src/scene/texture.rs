//! Textures by their texels.

/// An RGBA8 texture.
pub struct Texture {
    /// Edge in texels.
    pub size: u32,
    /// Four bytes per texel.
    pub rgba: Vec<u8>,
}

impl Texture {
    /// Texels from a function of their position.
    pub fn from_fn(size: u32, texel: impl Fn(u32, u32) -> [u8; 4]) -> Texture {
        let rgba = (0..size * size).flat_map(|i| texel(i % size, i / size)).collect();
        Texture { size, rgba }
    }

    /// Coloured squares on slopes: shows position, orientation and filtering.
    pub fn checker(size: u32) -> Texture {
        Texture::from_fn(size, |x, y| {
            let square = if (x / (size / 8) + y / (size / 8)) % 2 == 0 { 255 } else { 96 };
            [(x * 255 / (size - 1)) as u8, (y * 255 / (size - 1)) as u8, square, 255]
        })
    }

    /// A smooth pattern, where filtering differences stay small.
    pub fn waves(size: u32, phase: u32) -> Texture {
        let wave = |v: u32| (127.5 + 110.0 * (v as f32 * std::f32::consts::TAU / size as f32).sin()) as u8;
        Texture::from_fn(size, |x, y| {
            [wave(x + phase), wave(y + 2 * phase), wave(x + y + 3 * phase), wave(x + 2 * y + phase)]
        })
    }
}
