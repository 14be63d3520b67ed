//! The formats of transfers, and what they are made of.

use ash::vk;
use vc4::image::TexelInfo;
use vc4::state::ColorKind;

use crate::format::{aspects, texel_info};

/// Formats whose copies are bitwise.
pub(super) const COLORS: [vk::Format; 31] = [
    vk::Format::R4G4B4A4_UNORM_PACK16,
    vk::Format::R5G6B5_UNORM_PACK16,
    vk::Format::A1R5G5B5_UNORM_PACK16,
    vk::Format::R8_UNORM,
    vk::Format::R8_SNORM,
    vk::Format::R8_UINT,
    vk::Format::R8G8_UNORM,
    vk::Format::R8G8_SINT,
    vk::Format::R8G8B8A8_UNORM,
    vk::Format::R8G8B8A8_SNORM,
    vk::Format::R8G8B8A8_SINT,
    vk::Format::R8G8B8A8_SRGB,
    vk::Format::B8G8R8A8_UNORM,
    vk::Format::B8G8R8A8_SRGB,
    vk::Format::A8B8G8R8_UINT_PACK32,
    vk::Format::A2B10G10R10_UNORM_PACK32,
    vk::Format::A2B10G10R10_UINT_PACK32,
    vk::Format::R16_UINT,
    vk::Format::R16_SFLOAT,
    vk::Format::R16G16_SINT,
    vk::Format::R16G16_SFLOAT,
    vk::Format::R16G16B16A16_UINT,
    vk::Format::R16G16B16A16_SFLOAT,
    vk::Format::R32_SINT,
    vk::Format::R32_SFLOAT,
    vk::Format::R32G32_UINT,
    vk::Format::R32G32_SFLOAT,
    vk::Format::R32G32B32A32_SINT,
    vk::Format::R32G32B32A32_SFLOAT,
    vk::Format::B10G11R11_UFLOAT_PACK32,
    vk::Format::E5B9G9R9_UFLOAT_PACK32,
];

pub(super) const DEPTHS: [vk::Format; 4] = [
    vk::Format::D16_UNORM,
    vk::Format::X8_D24_UNORM_PACK32,
    vk::Format::D24_UNORM_S8_UINT,
    vk::Format::D32_SFLOAT,
];

pub(super) const BLOCKS: [vk::Format; 4] = [
    vk::Format::ETC2_R8G8B8_UNORM_BLOCK,
    vk::Format::ETC2_R8G8B8A1_SRGB_BLOCK,
    vk::Format::ETC2_R8G8B8A8_UNORM_BLOCK,
    vk::Format::EAC_R11G11_SNORM_BLOCK,
];

/// What a format's texels are; of blocks, decoded.
pub(super) fn info(format: vk::Format) -> Option<TexelInfo> {
    let decoded = match format {
        vk::Format::ETC2_R8G8B8A1_SRGB_BLOCK => vk::Format::R8G8B8A8_SRGB,
        vk::Format::ETC2_R8G8B8_UNORM_BLOCK | vk::Format::ETC2_R8G8B8A8_UNORM_BLOCK => {
            vk::Format::R8G8B8A8_UNORM
        }
        vk::Format::EAC_R11G11_SNORM_BLOCK => vk::Format::R16G16_SNORM,
        _ => format,
    };
    texel_info(decoded)
}

/// 0 for what is no integer, else by sign.
pub(super) fn kind(format: vk::Format) -> u32 {
    match info(format).map(|info| info.kind) {
        Some(ColorKind::Uint) => 1,
        Some(ColorKind::Sint) => 2,
        _ => 0,
    }
}

/// Bytes of a texel or block in buffers, and the edge of a block.
pub(super) fn element(format: vk::Format) -> (u32, u32) {
    match format {
        vk::Format::D16_UNORM => (2, 1),
        vk::Format::ETC2_R8G8B8A8_UNORM_BLOCK | vk::Format::EAC_R11G11_SNORM_BLOCK => (16, 4),
        _ if BLOCKS.contains(&format) => (8, 4),
        _ => (info(format).map_or(4, |info| info.bytes), 1),
    }
}

/// The aspect that is copied.
pub(super) fn aspect(format: vk::Format) -> vk::ImageAspectFlags {
    aspects(format) & !vk::ImageAspectFlags::STENCIL
}
