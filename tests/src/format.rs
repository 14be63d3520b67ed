//! What the suites know about Vulkan's formats.

use ash::vk;
use vc4::image::TexelInfo;

/// What a format's texels are made of; `None` if they are no colours, or blocks of them.
pub fn texel_info(format: vk::Format) -> Option<TexelInfo> {
    TexelInfo::of_name(&format!("{format:?}"))
}

/// The aspects that a format has.
pub fn aspects(format: vk::Format) -> vk::ImageAspectFlags {
    match format {
        vk::Format::D24_UNORM_S8_UINT | vk::Format::D32_SFLOAT_S8_UINT => {
            vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL
        }
        vk::Format::D16_UNORM | vk::Format::X8_D24_UNORM_PACK32 | vk::Format::D32_SFLOAT => {
            vk::ImageAspectFlags::DEPTH
        }
        _ => vk::ImageAspectFlags::COLOR,
    }
}

/// Bytes of a vertex attribute.
pub fn attribute_bytes(format: vk::Format) -> u32 {
    match format {
        vk::Format::R8_UNORM => 1,
        vk::Format::R8G8_UNORM | vk::Format::R16_UNORM | vk::Format::R16_SINT => 2,
        vk::Format::R8G8B8A8_UNORM
        | vk::Format::R8G8B8A8_SNORM
        | vk::Format::R8G8B8A8_UINT
        | vk::Format::R8G8B8A8_USCALED
        | vk::Format::R16G16_UNORM
        | vk::Format::R16G16_SINT
        | vk::Format::R16G16_SSCALED
        | vk::Format::A2B10G10R10_UNORM_PACK32
        | vk::Format::R32_SFLOAT => 4,
        vk::Format::R16G16B16A16_SNORM => 8,
        vk::Format::R32G32B32_UINT => 12,
        vk::Format::R32G32_SFLOAT => 8,
        vk::Format::R32G32B32_SFLOAT => 12,
        vk::Format::R32G32B32A32_SFLOAT => 16,
        other => panic!("scenes use no {other:?} attributes"),
    }
}
