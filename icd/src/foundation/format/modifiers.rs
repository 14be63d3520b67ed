//! DRM format modifiers: how images lie that others see, too (VK_EXT_image_drm_format_modifier).

use ash::vk;
use vc4::image::format::Uses;
use vc4::image::tiling::utile;
use vc4_kernel_abi::uapi::{MODIFIER_LINEAR, MODIFIER_T_TILED};

use super::table::{FormatRow, Storage, Stored, features_of, row};

/// The modifiers of images, the best first.
pub const MODIFIERS: [u64; 2] = [MODIFIER_T_TILED, MODIFIER_LINEAR];

/// Features of images of a format that lie as a modifier says; none where it is not offered.
pub fn modifier_features(format: vk::Format, modifier: u64) -> vk::FormatFeatureFlags {
    let none = vk::FormatFeatureFlags::empty();
    match row(format).filter(|row| is_shareable(row)) {
        Some(row) => match modifier {
            MODIFIER_LINEAR => row.properties().optimal_tiling_features,
            // What kernels write lies in rows.
            MODIFIER_T_TILED => row.properties().optimal_tiling_features & !KERNELS,
            _ => none,
        },
        None => none,
    }
}

/// As [`modifier_features`], with those that the first form has no bits for.
pub fn modifier_features2(format: vk::Format, modifier: u64) -> vk::FormatFeatureFlags2 {
    features_of(format, modifier_features(format, modifier))
}

/// Features of images that kernels write.
const KERNELS: vk::FormatFeatureFlags = vk::FormatFeatureFlags::from_raw(
    vk::FormatFeatureFlags::STORAGE_IMAGE.as_raw() | vk::FormatFeatureFlags::STORAGE_IMAGE_ATOMIC.as_raw(),
);

/// Whether texels are held as others know them, whatever the image is for, by texture unit and tile buffer alike.
fn is_shareable(row: &FormatRow) -> bool {
    let plain = |stored: Stored| {
        let texel = stored.texel.info();
        stored.storage == Storage::Plain
            && texel.cpp == row.bytes
            && texel.uses.contains(Uses::SAMPLED)
            && utile(texel.cpp).is_some()
            && texel.cpp <= 4
    };
    row.aspects() == vk::ImageAspectFlags::COLOR
        && !row.is_planar()
        && row.texture.is_some_and(plain)
        && row.target.is_none_or(|target| plain(target) && row.texture == Some(target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_is_held_as_others_know_it() {
        let rgba = vk::Format::R8G8B8A8_UNORM;
        let [tiled, linear] = MODIFIERS.map(|modifier| modifier_features(rgba, modifier));
        let drawn = vk::FormatFeatureFlags::COLOR_ATTACHMENT | vk::FormatFeatureFlags::SAMPLED_IMAGE;
        assert!(tiled.contains(drawn) && linear.contains(drawn));
        assert!(!tiled.intersects(KERNELS) && linear.intersects(KERNELS));
        assert!(modifier_features(rgba, 77).is_empty());
        assert!(!modifier_features(vk::Format::B8G8R8A8_SRGB, MODIFIER_LINEAR).is_empty());
        assert!(!modifier_features(vk::Format::R5G6B5_UNORM_PACK16, MODIFIER_LINEAR).is_empty());
        for format in [
            // Words in place of bytes, planes, blocks, depth, another order.
            vk::Format::R16G16B16A16_SFLOAT,
            vk::Format::ETC2_R8G8B8_UNORM_BLOCK,
            vk::Format::D16_UNORM,
            vk::Format::A1R5G5B5_UNORM_PACK16,
            vk::Format::R8_UNORM,
        ] {
            assert!(modifier_features(format, MODIFIER_LINEAR).is_empty(), "{format:?}");
        }
    }
}
