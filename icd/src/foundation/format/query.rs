//! Which images a format can be: what vkGetPhysicalDeviceImageFormatProperties answers and vkCreateImage relies on.

use std::ops::BitOr;

use ash::vk;
use vc4::hw::TEXTURE_MAX_PX;

use super::modifiers::modifier_features;
use super::table::{FormatRow, Stored, row};
use crate::foundation::error::Error;
use crate::foundation::facts::target_px;
use crate::foundation::limits;

/// What vkGetPhysicalDeviceImageFormatProperties and vkCreateImage ask about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageQuery {
    /// Format.
    pub format: vk::Format,
    /// 1D, 2D or 3D.
    pub ty: vk::ImageType,
    /// Optimal, linear, or as a modifier says.
    pub tiling: vk::ImageTiling,
    /// That modifier.
    pub modifier: Option<u64>,
    /// Usage.
    pub usage: vk::ImageUsageFlags,
    /// Flags.
    pub flags: vk::ImageCreateFlags,
}

/// Features of attachments.
const ATTACHMENTS: vk::FormatFeatureFlags = vk::FormatFeatureFlags::from_raw(
    vk::FormatFeatureFlags::COLOR_ATTACHMENT.as_raw()
        | vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT.as_raw(),
);

/// The usage may be that of any format which the image is seen in.
const EXTENDED_USAGE: vk::ImageCreateFlags = vk::ImageCreateFlags::from_raw(
    vk::ImageCreateFlags::MUTABLE_FORMAT.as_raw() | vk::ImageCreateFlags::EXTENDED_USAGE.as_raw(),
);

/// What holds of any image: texels lie in memory as the image's parameters say, so images of the same parameters may share it,
/// and an image of a group is one of its only device.
const ANY_IMAGE: vk::ImageCreateFlags = vk::ImageCreateFlags::from_raw(
    vk::ImageCreateFlags::ALIAS.as_raw() | vk::ImageCreateFlags::SPLIT_INSTANCE_BIND_REGIONS.as_raw(),
);

/// Features of which each usage needs one.
const USAGE_FEATURES: [(vk::ImageUsageFlags, vk::FormatFeatureFlags); 7] = [
    (vk::ImageUsageFlags::TRANSFER_SRC, vk::FormatFeatureFlags::TRANSFER_SRC),
    (vk::ImageUsageFlags::TRANSFER_DST, vk::FormatFeatureFlags::TRANSFER_DST),
    (vk::ImageUsageFlags::SAMPLED, vk::FormatFeatureFlags::SAMPLED_IMAGE),
    (vk::ImageUsageFlags::STORAGE, vk::FormatFeatureFlags::STORAGE_IMAGE),
    (vk::ImageUsageFlags::COLOR_ATTACHMENT, vk::FormatFeatureFlags::COLOR_ATTACHMENT),
    (vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT, vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT),
    (vk::ImageUsageFlags::INPUT_ATTACHMENT, ATTACHMENTS),
];

impl ImageQuery {
    /// The row of the format and what such images may be, or why there are none.
    pub fn answer(&self, heap_size: u64) -> Result<(&'static FormatRow, vk::ImageFormatProperties), Error> {
        let no = |why: &str| Error::FormatNotSupported(format!("{:?} images: {why}", self.format));
        let row = row(self.format).filter(|row| row.texture.is_some()).ok_or_else(|| no("not offered"))?;
        self.check_usage(row).map_err(no)?;
        self.check_shape(row).map_err(no)?;
        Ok((row, self.limits(row, heap_size)))
    }

    fn check_usage(&self, row: &FormatRow) -> Result<(), &'static str> {
        let properties = row.properties();
        let in_tiling = |properties: vk::FormatProperties| match self.tiling {
            vk::ImageTiling::OPTIMAL => Some(properties.optimal_tiling_features),
            vk::ImageTiling::LINEAR => Some(properties.linear_tiling_features),
            vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT => {
                self.modifier.map(|modifier| modifier_features(self.format, modifier))
            }
            _ => None,
        };
        let mut features = in_tiling(properties).ok_or("the tiling is none that has images")?;
        if features.is_empty() {
            return Err("the tiling offers nothing");
        }
        if self.flags.contains(EXTENDED_USAGE) {
            let others = row.compatible().filter_map(|row| in_tiling(row.properties()));
            features = others.fold(features, BitOr::bitor);
        }
        let lacking =
            |(usage, needed): &&(_, _)| self.usage.contains(*usage) && !features.intersects(*needed);
        match USAGE_FEATURES.iter().find(lacking) {
            Some(_) => Err("a usage is not among the format's features"),
            None => Ok(()),
        }
    }

    /// How such an image, whose format has that row, holds its texels; `None` for formats that only vertices have.
    pub fn stored(&self, row: &FormatRow) -> Option<Stored> {
        let drawn = self.usage.contains(vk::ImageUsageFlags::COLOR_ATTACHMENT);
        match drawn && self.flags.contains(EXTENDED_USAGE) {
            true => row.drawn_by_others(),
            false => row.stored(self.usage),
        }
    }

    fn check_shape(&self, row: &FormatRow) -> Result<(), &'static str> {
        let sliced = vk::ImageCreateFlags::TYPE_2D_ARRAY_COMPATIBLE;
        let known = EXTENDED_USAGE | vk::ImageCreateFlags::CUBE_COMPATIBLE | sliced | ANY_IMAGE;
        if !known.contains(self.flags) {
            return Err("sparse and other special images are not offered");
        }
        if self.flags.contains(sliced) && self.ty != vk::ImageType::TYPE_3D {
            return Err("only volumes have slices to be seen as layers");
        }
        let cube = self.flags.contains(vk::ImageCreateFlags::CUBE_COMPATIBLE);
        if row.is_planar() && (self.ty != vk::ImageType::TYPE_2D || cube) {
            return Err("images of several planes are 2D");
        }
        let plain = vk::ImageCreateFlags::MUTABLE_FORMAT | ANY_IMAGE;
        if self.modifier.is_some() && !plain.contains(self.flags) {
            return Err("images with modifiers have no flags but that of a mutable format");
        }
        if self.modifier.is_some() && self.ty != vk::ImageType::TYPE_2D {
            return Err("images with modifiers are 2D");
        }
        if cube && (self.ty != vk::ImageType::TYPE_2D || self.tiling == vk::ImageTiling::LINEAR) {
            return Err("cubes are optimal 2D images");
        }
        match self.ty {
            vk::ImageType::TYPE_2D => Ok(()),
            vk::ImageType::TYPE_1D if row.block() > 1 => Err("blocks need two dimensions"),
            vk::ImageType::TYPE_1D => Ok(()),
            vk::ImageType::TYPE_3D if row.block() > 1 => Err("volumes of blocks are not offered"),
            vk::ImageType::TYPE_3D if row.aspects() != vk::ImageAspectFlags::COLOR => {
                Err("depth has no volumes")
            }
            vk::ImageType::TYPE_3D => Ok(()),
            _ => Err("the type is none of 1D, 2D and 3D"),
        }
    }

    /// Sample counts: what can be a target may have four.
    fn samples(&self, row: &FormatRow) -> vk::SampleCountFlags {
        // Programs may look at samples that only copies bring.
        let seen = vk::ImageUsageFlags::COLOR_ATTACHMENT
            | vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT
            | vk::ImageUsageFlags::SAMPLED;
        let optimal = self.tiling == vk::ImageTiling::OPTIMAL;
        let target = optimal && row.target.is_some() && self.usage.intersects(seen);
        let cube = self.flags.contains(vk::ImageCreateFlags::CUBE_COMPATIBLE);
        match target
            && self.ty == vk::ImageType::TYPE_2D
            && !cube
            && !self.usage.contains(vk::ImageUsageFlags::STORAGE)
        {
            true => limits::SAMPLE_COUNTS,
            false => vk::SampleCountFlags::TYPE_1,
        }
    }

    fn limits(&self, row: &FormatRow, heap_size: u64) -> vk::ImageFormatProperties {
        // One level of one layer.
        let single = self.tiling != vk::ImageTiling::OPTIMAL || row.is_planar();
        let width = match self.tiling {
            vk::ImageTiling::LINEAR => limits::MAX_ROW_PX,
            // Nobody else knows of parts and panels.
            vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT => TEXTURE_MAX_PX.min(target_px()),
            _ => limits::MAX_IMAGE_PX,
        };
        let max_extent = match self.ty {
            vk::ImageType::TYPE_1D => vk::Extent3D { width, height: 1, depth: 1 },
            vk::ImageType::TYPE_3D => {
                let edge = limits::MAX_VOLUME_PX;
                vk::Extent3D { width: edge, height: edge, depth: edge }
            }
            _ => vk::Extent3D { width, height: width, depth: 1 },
        };
        vk::ImageFormatProperties {
            max_extent,
            max_mip_levels: if single { 1 } else { max_extent.width.ilog2() + 1 },
            max_array_layers: match single || self.ty == vk::ImageType::TYPE_3D {
                true => 1,
                false => limits::MAX_LAYERS,
            },
            sample_counts: self.samples(row),
            max_resource_size: heap_size.max(limits::MIN_RESOURCE_BYTES),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vc4::image::format::Format as Texel;

    fn query(format: vk::Format) -> ImageQuery {
        ImageQuery {
            format,
            ty: vk::ImageType::TYPE_2D,
            tiling: vk::ImageTiling::OPTIMAL,
            modifier: None,
            usage: vk::ImageUsageFlags::SAMPLED,
            flags: vk::ImageCreateFlags::empty(),
        }
    }

    #[test]
    fn the_answer_depends_on_usage_and_shape() {
        let rgba = query(vk::Format::R8G8B8A8_UNORM);
        assert_eq!(rgba.answer(1).unwrap().1.max_extent.width, limits::MAX_IMAGE_PX);
        let copied = ImageQuery { usage: vk::ImageUsageFlags::TRANSFER_SRC, ..rgba };
        assert_eq!(copied.answer(1).unwrap().1.max_extent.width, limits::MAX_IMAGE_PX);
        let refused = [
            ImageQuery { tiling: vk::ImageTiling::LINEAR, ..rgba },
            ImageQuery { ty: vk::ImageType::TYPE_3D, format: vk::Format::D16_UNORM, ..rgba },
            ImageQuery { usage: vk::ImageUsageFlags::STORAGE, ..query(vk::Format::R5G6B5_UNORM_PACK16) },
            ImageQuery { flags: vk::ImageCreateFlags::SPARSE_BINDING, ..rgba },
            ImageQuery { format: vk::Format::R32G32B32_SFLOAT, ..rgba },
            ImageQuery { format: vk::Format::R64_SFLOAT, ..rgba },
        ];
        for query in refused {
            assert_eq!(query.answer(1).unwrap_err().result(), vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
        }
        // Stores to a format that has none, through a view of one that has.
        let packed = query(vk::Format::R5G6B5_UNORM_PACK16);
        let [stored, drawn] = [vk::ImageUsageFlags::STORAGE, vk::ImageUsageFlags::COLOR_ATTACHMENT];
        let seen = ImageQuery { usage: stored, flags: EXTENDED_USAGE, ..packed };
        assert!(seen.answer(1).is_ok());
        let flags = vk::ImageCreateFlags::MUTABLE_FORMAT;
        assert!(ImageQuery { flags, ..seen }.answer(1).is_err());
        // No other format sees blocks, or what is kept in a form of its own.
        for format in [vk::Format::ETC2_R8G8B8_UNORM_BLOCK, vk::Format::A1R5G5B5_UNORM_PACK16] {
            assert!(ImageQuery { format, ..seen }.answer(1).is_err(), "{format:?}");
        }
        for (format, texel) in [
            (vk::Format::R4G4B4A4_UNORM_PACK16, Texel::Word32),
            (vk::Format::B10G11R11_UFLOAT_PACK32, Texel::Word32),
            (vk::Format::R8G8B8A8_UNORM, Texel::R8G8B8A8),
        ] {
            let drawn = ImageQuery { format, usage: drawn, ..seen };
            let (row, _) = drawn.answer(1).unwrap();
            assert_eq!(drawn.stored(row).unwrap().texel, texel, "{format:?}");
        }
        let cube = ImageQuery { flags: vk::ImageCreateFlags::CUBE_COMPATIBLE, ..rgba };
        assert_eq!(cube.answer(1).unwrap().1.max_array_layers, limits::MAX_LAYERS);
        let of_group = vk::ImageCreateFlags::SPLIT_INSTANCE_BIND_REGIONS;
        for flags in [vk::ImageCreateFlags::ALIAS, vk::ImageCreateFlags::ALIAS | of_group] {
            assert!(ImageQuery { flags, ..rgba }.answer(1).is_ok(), "{flags:?}");
            assert!(ImageQuery { flags: flags | cube.flags, ..cube }.answer(1).is_ok(), "{flags:?}");
        }
        let sparse = vk::ImageCreateFlags::SPARSE_BINDING;
        assert!(ImageQuery { flags: sparse, ..rgba }.answer(1).is_err());
    }
}
