//! VkFormat: one row per format that the driver offers, and what can be done with it.
//!
//! Adding a format: a row here; if the chip has no such texel format, a row in `vc4::image::format`
//! first. Feature bits appear only when the whole way works: compiler, draw building, copies.

use ash::vk;
use vc4::hw;
use vc4::image::format::{Component, Decode, Format as Texel};

use crate::error::Error;
use crate::limits;

/// How a texel in a buffer (of the application, in a copy) becomes the word in an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// The same bytes.
    Plain,
    /// 16-bit depth, held with 24 bits: 65535 is 0xffffff.
    Depth16,
    /// 24-bit depth, in bits 23:0 of a buffer's word and 31:8 of an image's.
    Depth24,
    /// As above for the depth aspect; stencil is bytes in buffers and bits 7:0 in images.
    Depth24Stencil8,
}

/// One row of the table.
#[derive(Debug)]
pub struct FormatRow {
    /// The API's name.
    pub format: vk::Format,
    /// Bytes per texel in buffers (of the depth aspect, for depth formats).
    pub bytes: u32,
    /// The texel format of images; `None` for formats that only vertices have.
    pub texel: Option<Texel>,
    /// How copies convert.
    pub storage: Storage,
    /// Whether vertex attributes may have it.
    pub vertex: bool,
    /// Features of images in VK_IMAGE_TILING_OPTIMAL.
    optimal: vk::FormatFeatureFlags,
}

const fn union(a: vk::FormatFeatureFlags, b: vk::FormatFeatureFlags) -> vk::FormatFeatureFlags {
    vk::FormatFeatureFlags::from_raw(a.as_raw() | b.as_raw())
}

const NOTHING: vk::FormatFeatureFlags = vk::FormatFeatureFlags::empty();
const TRANSFER: vk::FormatFeatureFlags =
    union(vk::FormatFeatureFlags::TRANSFER_SRC, vk::FormatFeatureFlags::TRANSFER_DST);
const SAMPLED: vk::FormatFeatureFlags = union(
    TRANSFER,
    union(vk::FormatFeatureFlags::SAMPLED_IMAGE, vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR),
);
const COLOR: vk::FormatFeatureFlags = union(
    SAMPLED,
    union(vk::FormatFeatureFlags::COLOR_ATTACHMENT, vk::FormatFeatureFlags::COLOR_ATTACHMENT_BLEND),
);
const DEPTH: vk::FormatFeatureFlags = union(TRANSFER, vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT);

/// Rows of image formats.
macro_rules! images {
    ($($format:ident $bytes:literal $texel:ident $storage:ident $vertex:literal $optimal:ident;)*) => {
        &[$(FormatRow {
            format: vk::Format::$format,
            bytes: $bytes,
            texel: Some(Texel::$texel),
            storage: Storage::$storage,
            vertex: $vertex,
            optimal: $optimal,
        },)*]
    };
}

/// Rows of formats that only vertex attributes have.
macro_rules! vertices {
    ($($format:ident $bytes:literal;)*) => {
        &[$(FormatRow {
            format: vk::Format::$format,
            bytes: $bytes,
            texel: None,
            storage: Storage::Plain,
            vertex: true,
            optimal: NOTHING,
        },)*]
    };
}

const IMAGES: &[FormatRow] = images! {
    R8_UNORM                   1 R8       Plain           false SAMPLED;
    R8G8_UNORM                 2 R8G8     Plain           false SAMPLED;
    R4G4B4A4_UNORM_PACK16      2 R4G4B4A4 Plain           false SAMPLED;
    B4G4R4A4_UNORM_PACK16      2 B4G4R4A4 Plain           false SAMPLED;
    R5G6B5_UNORM_PACK16        2 R5G6B5   Plain           false SAMPLED;
    B5G6R5_UNORM_PACK16        2 B5G6R5   Plain           false SAMPLED;
    R5G5B5A1_UNORM_PACK16      2 R5G5B5A1 Plain           false SAMPLED;
    B5G5R5A1_UNORM_PACK16      2 B5G5R5A1 Plain           false SAMPLED;
    R8G8B8A8_UNORM             4 R8G8B8A8 Plain           true  COLOR;
    A8B8G8R8_UNORM_PACK32      4 R8G8B8A8 Plain           true  COLOR;
    B8G8R8A8_UNORM             4 B8G8R8A8 Plain           true  COLOR;
    D16_UNORM                  2 Z24X8    Depth16         false DEPTH;
    X8_D24_UNORM_PACK32        4 Z24X8    Depth24         false DEPTH;
    D24_UNORM_S8_UINT          4 Z24S8    Depth24Stencil8 false DEPTH;
};

const VERTICES: &[FormatRow] = vertices! {
    R32_SFLOAT 4;
    R32G32_SFLOAT 8;
    R32G32B32_SFLOAT 12;
    R32G32B32A32_SFLOAT 16;
    R32_UINT 4;
    R32G32_UINT 8;
    R32G32B32_UINT 12;
    R32G32B32A32_UINT 16;
    R32_SINT 4;
    R32G32_SINT 8;
    R32G32B32_SINT 12;
    R32G32B32A32_SINT 16;
};

impl FormatRow {
    /// Aspects of images.
    pub fn aspects(&self) -> vk::ImageAspectFlags {
        match self.storage {
            Storage::Plain => vk::ImageAspectFlags::COLOR,
            Storage::Depth16 | Storage::Depth24 => vk::ImageAspectFlags::DEPTH,
            Storage::Depth24Stencil8 => vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL,
        }
    }

    /// vkGetPhysicalDeviceFormatProperties.
    pub fn properties(&self) -> vk::FormatProperties {
        vk::FormatProperties {
            linear_tiling_features: match self.storage {
                Storage::Plain if self.texel.is_some() => TRANSFER,
                _ => NOTHING,
            },
            optimal_tiling_features: self.optimal,
            buffer_features: match self.vertex {
                true => vk::FormatFeatureFlags::VERTEX_BUFFER,
                false => NOTHING,
            },
        }
    }

    /// Bytes per texel of one aspect in buffers.
    pub fn aspect_bytes(&self, aspect: vk::ImageAspectFlags) -> u32 {
        if aspect == vk::ImageAspectFlags::STENCIL { 1 } else { self.bytes }
    }
}

/// The row of a format; `None` if it is not offered at all.
pub fn row(format: vk::Format) -> Option<&'static FormatRow> {
    IMAGES.iter().chain(VERTICES).find(|row| row.format == format)
}

/// vkGetPhysicalDeviceFormatProperties; all zero for formats that are not offered.
pub fn properties(format: vk::Format) -> vk::FormatProperties {
    row(format).map(FormatRow::properties).unwrap_or_default()
}

/// Features of buffers with texels or attributes of this format.
pub fn buffer_features(format: vk::Format) -> vk::FormatFeatureFlags {
    properties(format).buffer_features
}

/// What vkGetPhysicalDeviceImageFormatProperties and vkCreateImage ask about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageQuery {
    /// Format.
    pub format: vk::Format,
    /// 1D, 2D or 3D.
    pub ty: vk::ImageType,
    /// Optimal or linear.
    pub tiling: vk::ImageTiling,
    /// Usage.
    pub usage: vk::ImageUsageFlags,
    /// Flags.
    pub flags: vk::ImageCreateFlags,
}

/// Features that each usage needs.
const USAGE_FEATURES: [(vk::ImageUsageFlags, vk::FormatFeatureFlags); 6] = [
    (vk::ImageUsageFlags::TRANSFER_SRC, vk::FormatFeatureFlags::TRANSFER_SRC),
    (vk::ImageUsageFlags::TRANSFER_DST, vk::FormatFeatureFlags::TRANSFER_DST),
    (vk::ImageUsageFlags::SAMPLED, vk::FormatFeatureFlags::SAMPLED_IMAGE),
    (vk::ImageUsageFlags::STORAGE, vk::FormatFeatureFlags::STORAGE_IMAGE),
    (vk::ImageUsageFlags::COLOR_ATTACHMENT, vk::FormatFeatureFlags::COLOR_ATTACHMENT),
    (vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT, vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT),
];

impl ImageQuery {
    /// The row of the format and what such images may be, or why there are none.
    pub fn answer(&self, heap_size: u64) -> Result<(&'static FormatRow, vk::ImageFormatProperties), Error> {
        let no = |why: &str| Error::FormatNotSupported(format!("{:?} images: {why}", self.format));
        let row = row(self.format).filter(|row| row.texel.is_some()).ok_or_else(|| no("not offered"))?;
        self.check_usage(row).map_err(no)?;
        self.check_shape().map_err(no)?;
        Ok((row, self.limits(heap_size)))
    }

    fn check_usage(&self, row: &FormatRow) -> Result<(), &'static str> {
        let properties = row.properties();
        let features = match self.tiling {
            vk::ImageTiling::OPTIMAL => properties.optimal_tiling_features,
            vk::ImageTiling::LINEAR => properties.linear_tiling_features,
            _ => return Err("the tiling is neither optimal nor linear"),
        };
        if features.is_empty() {
            return Err("the tiling offers nothing");
        }
        if self.usage.contains(vk::ImageUsageFlags::INPUT_ATTACHMENT) {
            return Err("input attachments are not supported");
        }
        let lacking = |(usage, needed): &&(_, _)| self.usage.contains(*usage) && !features.contains(*needed);
        match USAGE_FEATURES.iter().find(lacking) {
            Some(_) => Err("a usage is not among the format's features"),
            None => Ok(()),
        }
    }

    fn check_shape(&self) -> Result<(), &'static str> {
        let known = vk::ImageCreateFlags::MUTABLE_FORMAT | vk::ImageCreateFlags::CUBE_COMPATIBLE;
        let transfer = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
        if !known.contains(self.flags) {
            return Err("sparse and other special images are not offered");
        }
        let cube = self.flags.contains(vk::ImageCreateFlags::CUBE_COMPATIBLE);
        match self.ty {
            vk::ImageType::TYPE_1D if !transfer.contains(self.usage) => Err("1D images are for copies only"),
            vk::ImageType::TYPE_1D | vk::ImageType::TYPE_2D => Ok(()),
            _ => Err("3D images are not offered"),
        }?;
        match cube && (self.ty != vk::ImageType::TYPE_2D || self.tiling == vk::ImageTiling::LINEAR) {
            true => Err("cubes are optimal 2D images"),
            false => Ok(()),
        }
    }

    fn limits(&self, heap_size: u64) -> vk::ImageFormatProperties {
        let sampled = self.usage.contains(vk::ImageUsageFlags::SAMPLED);
        let cube = self.flags.contains(vk::ImageCreateFlags::CUBE_COMPATIBLE);
        let linear = self.tiling == vk::ImageTiling::LINEAR;
        let target = self.usage.intersects(
            vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
        );
        let copy = limits::MAX_COPY_PX;
        let width = copy.min(if sampled { hw::TEXTURE_MAX_PX } else { copy }).min(if target {
            hw::TARGET_MAX_PX
        } else {
            copy
        });
        vk::ImageFormatProperties {
            max_extent: vk::Extent3D {
                width,
                height: if self.ty == vk::ImageType::TYPE_1D { 1 } else { width },
                depth: 1,
            },
            // Levels of a chain never exceed what a texture may have (textures.md §5).
            max_mip_levels: if linear { 1 } else { hw::TEXTURE_MAX_PX.ilog2() + 1 },
            // The texture unit knows one layer, or the six of a cube.
            max_array_layers: match (linear, sampled, cube) {
                (true, _, _) | (false, true, false) => 1,
                (false, true, true) => 6,
                (false, false, _) => limits::MAX_LAYERS,
            },
            sample_counts: vk::SampleCountFlags::TYPE_1,
            max_resource_size: heap_size,
        }
    }
}

/// The decode of a view: the format's, seen through a component mapping.
pub fn mapped(decode: Decode, mapping: &vk::ComponentMapping) -> Decode {
    let Decode::Unorm8(components) = decode else { return decode };
    let swizzles = [mapping.r, mapping.g, mapping.b, mapping.a];
    let mut out = components;
    for (to, swizzle) in out.iter_mut().zip(swizzles) {
        match swizzle {
            vk::ComponentSwizzle::ZERO => *to = Component::Zero,
            vk::ComponentSwizzle::ONE => *to = Component::One,
            vk::ComponentSwizzle::R => *to = components[0],
            vk::ComponentSwizzle::G => *to = components[1],
            vk::ComponentSwizzle::B => *to = components[2],
            vk::ComponentSwizzle::A => *to = components[3],
            _ => {}
        }
    }
    Decode::Unorm8(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vc4::image::format::Uses;

    #[test]
    fn rows_agree_with_what_the_chip_can_do() {
        for row in IMAGES {
            let texel = row.texel.unwrap().info();
            let needs = [
                (vk::FormatFeatureFlags::SAMPLED_IMAGE, Uses::SAMPLED),
                (vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR, Uses::FILTERED),
                (vk::FormatFeatureFlags::COLOR_ATTACHMENT, Uses::COLOR_TARGET),
                (vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT, Uses::DEPTH_TARGET),
            ];
            for (feature, uses) in needs {
                assert!(!row.optimal.contains(feature) || texel.uses.contains(uses), "{:?}", row.format);
            }
            assert!(row.storage != Storage::Plain || row.bytes == texel.cpp, "{:?}", row.format);
        }
    }

    fn query(format: vk::Format) -> ImageQuery {
        ImageQuery {
            format,
            ty: vk::ImageType::TYPE_2D,
            tiling: vk::ImageTiling::OPTIMAL,
            usage: vk::ImageUsageFlags::SAMPLED,
            flags: vk::ImageCreateFlags::empty(),
        }
    }

    #[test]
    fn the_answer_depends_on_usage_and_shape() {
        let rgba = query(vk::Format::R8G8B8A8_UNORM);
        assert_eq!(rgba.answer(1).unwrap().1.max_extent.width, 2048);
        let copied = ImageQuery { usage: vk::ImageUsageFlags::TRANSFER_SRC, ..rgba };
        assert_eq!(copied.answer(1).unwrap().1.max_extent.width, 4096);
        let refused = [
            ImageQuery { tiling: vk::ImageTiling::LINEAR, ..rgba },
            ImageQuery { ty: vk::ImageType::TYPE_3D, ..rgba },
            ImageQuery { usage: vk::ImageUsageFlags::STORAGE, ..rgba },
            ImageQuery { flags: vk::ImageCreateFlags::SPARSE_BINDING, ..rgba },
            ImageQuery { format: vk::Format::R32G32B32_SFLOAT, ..rgba },
            ImageQuery { format: vk::Format::R64_SFLOAT, ..rgba },
        ];
        for query in refused {
            assert_eq!(query.answer(1).unwrap_err().result(), vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
        }
        let cube = ImageQuery { flags: vk::ImageCreateFlags::CUBE_COMPATIBLE, ..rgba };
        assert_eq!(cube.answer(1).unwrap().1.max_array_layers, 6);
    }

    #[test]
    fn a_mapping_chooses_among_the_format_s_components() {
        let mapping = vk::ComponentMapping {
            r: vk::ComponentSwizzle::A,
            g: vk::ComponentSwizzle::ONE,
            ..Default::default()
        };
        let decode = Texel::B8G8R8A8.info().decode;
        let expected = [Component::Byte(3), Component::One, Component::Byte(0), Component::Byte(3)];
        assert_eq!(mapped(decode, &mapping), Decode::Unorm8(expected));
    }
}
