//! Formats that programs use: those that both drivers of a comparison offer for what the row says.

use ash::vk;

/// What texels are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Fractions of one.
    Unorm,
    /// The same, seen on a curve: clears and draws may round either way.
    Srgb,
    /// Whole numbers.
    Uint,
    /// Whole numbers with a sign.
    Sint,
    /// Floats.
    Float,
    /// Depth, or stencil, or both.
    Depth,
}

/// A format.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its name.
    pub format: vk::Format,
    /// Bytes of a texel.
    pub bytes: u32,
    /// Of what.
    pub numbers: Numbers,
    /// Whether it can be drawn to.
    pub target: bool,
    /// Whether kernels can store to it.
    pub storage: bool,
}

const fn row(format: vk::Format, bytes: u32, numbers: Numbers, target: bool, storage: bool) -> Row {
    Row { format, bytes, numbers, target, storage }
}

/// All of them.
pub const ROWS: [Row; 26] = [
    row(vk::Format::R8G8B8A8_UNORM, 4, Numbers::Unorm, true, true),
    row(vk::Format::B8G8R8A8_UNORM, 4, Numbers::Unorm, true, false),
    row(vk::Format::R8_UNORM, 1, Numbers::Unorm, true, false),
    row(vk::Format::R8G8_UNORM, 2, Numbers::Unorm, true, false),
    row(vk::Format::R5G6B5_UNORM_PACK16, 2, Numbers::Unorm, true, false),
    row(vk::Format::A1R5G5B5_UNORM_PACK16, 2, Numbers::Unorm, true, false),
    row(vk::Format::A2B10G10R10_UNORM_PACK32, 4, Numbers::Unorm, true, false),
    row(vk::Format::R8G8B8A8_SRGB, 4, Numbers::Srgb, true, false),
    row(vk::Format::B8G8R8A8_SRGB, 4, Numbers::Srgb, true, false),
    row(vk::Format::R8_UINT, 1, Numbers::Uint, true, false),
    row(vk::Format::R8G8B8A8_UINT, 4, Numbers::Uint, true, true),
    row(vk::Format::R16_UINT, 2, Numbers::Uint, true, false),
    row(vk::Format::R16G16_UINT, 4, Numbers::Uint, true, false),
    row(vk::Format::R32_UINT, 4, Numbers::Uint, true, true),
    row(vk::Format::R32G32_UINT, 8, Numbers::Uint, true, true),
    row(vk::Format::R32G32B32A32_UINT, 16, Numbers::Uint, true, true),
    row(vk::Format::R16G16B16A16_UINT, 8, Numbers::Uint, true, true),
    row(vk::Format::R8G8B8A8_SINT, 4, Numbers::Sint, true, true),
    row(vk::Format::R32_SINT, 4, Numbers::Sint, true, true),
    row(vk::Format::R16_SFLOAT, 2, Numbers::Float, true, false),
    row(vk::Format::R16G16B16A16_SFLOAT, 8, Numbers::Float, true, true),
    row(vk::Format::R32_SFLOAT, 4, Numbers::Float, true, true),
    row(vk::Format::R32G32B32A32_SFLOAT, 16, Numbers::Float, true, true),
    row(vk::Format::D16_UNORM, 2, Numbers::Depth, true, false),
    row(vk::Format::D32_SFLOAT, 4, Numbers::Depth, true, false),
    row(vk::Format::D24_UNORM_S8_UINT, 4, Numbers::Depth, true, false),
];

/// The row of a format; of one that is none of them the first, which only spoiled steps ask for.
pub fn row_of(format: vk::Format) -> Row {
    ROWS.into_iter().find(|row| row.format == format).unwrap_or(ROWS[0])
}

/// Bytes of a texel in a buffer, of one aspect.
pub fn copied_bytes(format: vk::Format, aspect: vk::ImageAspectFlags) -> u32 {
    if aspect == vk::ImageAspectFlags::STENCIL { 1 } else { row_of(format).bytes }
}
