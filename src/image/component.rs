//! The components of a texel or of a word in the tile buffer.

/// How the bits of a component are a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColorKind {
    /// Fractions of the largest number, 0..1.
    Unorm,
    /// As `Unorm`, and red, green and blue are encoded with the sRGB curve.
    Srgb,
    /// Fractions of the largest number, -1..1.
    Snorm,
    /// float16 or float32.
    Float,
    /// Unsigned integers.
    Uint,
    /// Signed integers.
    Sint,
}

/// Place of a component in the bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// Lowest bit.
    pub bit: u8,
    /// Bits.
    pub width: u8,
}
