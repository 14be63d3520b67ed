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
    let Some(row) = row(format) else { return none };
    let optimal = row.properties().optimal_tiling_features;
    match modifier {
        MODIFIER_LINEAR if is_shareable(row) || row.is_planar() => optimal,
        // Tiles are held in another form.
        MODIFIER_LINEAR if is_read_alike(row) => optimal & !(KERNELS | TARGETS),
        // What kernels write lies in rows.
        MODIFIER_T_TILED if is_shareable(row) => optimal & !KERNELS,
        _ => none,
    }
}

/// Planes of images of a format, each with a layout of its own in memory.
pub fn memory_planes(format: vk::Format) -> u32 {
    row(format).map_or(1, |row| row.planes.len().max(1) as u32)
}

/// As [`modifier_features`], with those that the first form has no bits for.
pub fn modifier_features2(format: vk::Format, modifier: u64) -> vk::FormatFeatureFlags2 {
    features_of(format, modifier_features(format, modifier))
}

/// Features of images that kernels write.
const KERNELS: vk::FormatFeatureFlags = vk::FormatFeatureFlags::from_raw(
    vk::FormatFeatureFlags::STORAGE_IMAGE.as_raw() | vk::FormatFeatureFlags::STORAGE_IMAGE_ATOMIC.as_raw(),
);

/// Features of images that are drawn to.
const TARGETS: vk::FormatFeatureFlags = vk::FormatFeatureFlags::from_raw(
    vk::FormatFeatureFlags::COLOR_ATTACHMENT.as_raw()
        | vk::FormatFeatureFlags::COLOR_ATTACHMENT_BLEND.as_raw(),
);

/// Whether texels of one or two components of a byte, planes of a video as a rule, are held as others know them in images that
/// are only read and copied.
fn is_read_alike(row: &FormatRow) -> bool {
    matches!(row.format, vk::Format::R8_UNORM | vk::Format::R8G8_UNORM)
}

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
            vk::Format::R16_UNORM,
        ] {
            assert!(modifier_features(format, MODIFIER_LINEAR).is_empty(), "{format:?}");
        }
        // Videos, in planes of one image or in images of their own.
        for (format, planes) in [
            (vk::Format::R8_UNORM, 1),
            (vk::Format::R8G8_UNORM, 1),
            (vk::Format::G8_B8R8_2PLANE_420_UNORM, 2),
            (vk::Format::G8_B8_R8_3PLANE_420_UNORM, 3),
        ] {
            let linear = modifier_features(format, MODIFIER_LINEAR);
            assert!(linear.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE), "{format:?}");
            assert!(!linear.intersects(TARGETS | KERNELS), "{format:?}");
            assert!(modifier_features(format, MODIFIER_T_TILED).is_empty(), "{format:?}");
            assert_eq!(memory_planes(format), planes, "{format:?}");
            let texture = row(format).unwrap().texture.unwrap();
            assert_eq!(texture.storage, Storage::Plain, "{format:?}");
        }
    }
}
