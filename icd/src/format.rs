//! VkFormat: one row per format that the driver offers, and what can be done with it.
//!
//! Adding a format: a row here; if the chip has no such texel format, a row in `vc4::image::format`
//! first. Feature bits appear only when the whole way works: compiler, draw building, copies.

use std::sync::LazyLock;

use ash::vk;
use vc4::hw;
use vc4::image::format::{Component, Decode, Format as Texel};
use vc4::state::vertex_fetch::{Numeric, Packing, VertexFormat};
use vc4::state::{ColorKind, Encoding};
use vc4_shaders::compile::{TextureClass, TextureDecode, TextureSwizzle};

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
#[derive(Clone, Debug)]
pub struct FormatRow {
    /// The API's name.
    pub format: vk::Format,
    /// Bytes per texel in buffers (of the depth aspect, for depth formats).
    pub bytes: u32,
    /// The texel format of images; `None` for formats that only vertices have.
    pub texel: Option<Texel>,
    /// How copies convert.
    pub storage: Storage,
    /// How vertex attributes are read; `None` if they cannot have this format.
    pub vertex: Option<VertexFormat>,
    /// Red, green and blue are sRGB encoded.
    pub srgb: bool,
    /// Features of images in VK_IMAGE_TILING_OPTIMAL.
    optimal: vk::FormatFeatureFlags,
}

const fn union(a: vk::FormatFeatureFlags, b: vk::FormatFeatureFlags) -> vk::FormatFeatureFlags {
    vk::FormatFeatureFlags::from_raw(a.as_raw() | b.as_raw())
}

const NOTHING: vk::FormatFeatureFlags = vk::FormatFeatureFlags::empty();
const TRANSFER: vk::FormatFeatureFlags =
    union(vk::FormatFeatureFlags::TRANSFER_SRC, vk::FormatFeatureFlags::TRANSFER_DST);
/// Blits are the CPU's, between any colours.
const BLIT: vk::FormatFeatureFlags =
    union(TRANSFER, union(vk::FormatFeatureFlags::BLIT_SRC, vk::FormatFeatureFlags::BLIT_DST));
const SAMPLED: vk::FormatFeatureFlags = union(
    BLIT,
    union(vk::FormatFeatureFlags::SAMPLED_IMAGE, vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR),
);
/// sRGB: the program decodes what the texture unit has filtered, which linear filtering must not show.
const NEAREST: vk::FormatFeatureFlags = union(BLIT, vk::FormatFeatureFlags::SAMPLED_IMAGE);
const ATTACHMENT: vk::FormatFeatureFlags =
    union(vk::FormatFeatureFlags::COLOR_ATTACHMENT, vk::FormatFeatureFlags::COLOR_ATTACHMENT_BLEND);
const COLOR: vk::FormatFeatureFlags = union(SAMPLED, ATTACHMENT);
const SRGB: vk::FormatFeatureFlags = union(NEAREST, ATTACHMENT);
/// Words that programs write and blend, and the CPU copies.
const WORD: vk::FormatFeatureFlags = union(BLIT, ATTACHMENT);
const DEPTH: vk::FormatFeatureFlags = union(
    TRANSFER,
    union(vk::FormatFeatureFlags::SAMPLED_IMAGE, vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT),
);

/// Rows of image formats.
macro_rules! images {
    ($($format:ident $bytes:literal $texel:ident $storage:ident $srgb:literal $optimal:ident;)*) => {
        &[$(FormatRow {
            format: vk::Format::$format,
            bytes: $bytes,
            texel: Some(Texel::$texel),
            storage: Storage::$storage,
            vertex: None,
            srgb: $srgb,
            optimal: $optimal,
        },)*]
    };
}

/// Rows of formats that vertex attributes have; some of them are image formats, too.
macro_rules! vertices {
    ($($format:ident $packing:ident $(($count:literal))? $numeric:ident $swap:literal;)*) => {
        &[$((vk::Format::$format, VertexFormat {
            packing: Packing::$packing $(($count))?,
            numeric: Numeric::$numeric,
            swap_rb: $swap,
        }),)*]
    };
}

const IMAGES: &[FormatRow] = images! {
    R8_UNORM                   1 R8       Plain           false SAMPLED;
    R8G8_UNORM                 2 R8G8     Plain           false SAMPLED;
    R4G4B4A4_UNORM_PACK16      2 R4G4B4A4 Plain           false SAMPLED;
    B4G4R4A4_UNORM_PACK16      2 B4G4R4A4 Plain           false SAMPLED;
    R5G6B5_UNORM_PACK16        2 R5G6B5   Plain           false COLOR;
    B5G6R5_UNORM_PACK16        2 B5G6R5   Plain           false COLOR;
    R5G5B5A1_UNORM_PACK16      2 R5G5B5A1 Plain           false SAMPLED;
    B5G5R5A1_UNORM_PACK16      2 B5G5R5A1 Plain           false SAMPLED;
    R8G8B8A8_UNORM             4 R8G8B8A8 Plain           false COLOR;
    R8G8B8A8_SRGB              4 R8G8B8A8 Plain           true  SRGB;
    A8B8G8R8_UNORM_PACK32      4 R8G8B8A8 Plain           false COLOR;
    A8B8G8R8_SRGB_PACK32       4 R8G8B8A8 Plain           true  SRGB;
    B8G8R8A8_UNORM             4 B8G8R8A8 Plain           false COLOR;
    B8G8R8A8_SRGB              4 B8G8R8A8 Plain           true  SRGB;
    A2B10G10R10_UNORM_PACK32   4 A2B10G10R10 Plain        false WORD;
    R16G16_SFLOAT              4 R16G16F  Plain           false WORD;
    D16_UNORM                  2 Z24X8    Depth16         false DEPTH;
    X8_D24_UNORM_PACK32        4 Z24X8    Depth24         false DEPTH;
    D24_UNORM_S8_UINT          4 Z24S8    Depth24Stencil8 false DEPTH;
};

const VERTICES: &[(vk::Format, VertexFormat)] = vertices! {
    R8_UNORM Bytes(1) Unorm false;
    R8_SNORM Bytes(1) Snorm false;
    R8_USCALED Bytes(1) Uscaled false;
    R8_SSCALED Bytes(1) Sscaled false;
    R8_UINT Bytes(1) Uint false;
    R8_SINT Bytes(1) Sint false;
    R8G8_UNORM Bytes(2) Unorm false;
    R8G8_SNORM Bytes(2) Snorm false;
    R8G8_USCALED Bytes(2) Uscaled false;
    R8G8_SSCALED Bytes(2) Sscaled false;
    R8G8_UINT Bytes(2) Uint false;
    R8G8_SINT Bytes(2) Sint false;
    R8G8B8_UNORM Bytes(3) Unorm false;
    R8G8B8_SNORM Bytes(3) Snorm false;
    R8G8B8_USCALED Bytes(3) Uscaled false;
    R8G8B8_SSCALED Bytes(3) Sscaled false;
    R8G8B8_UINT Bytes(3) Uint false;
    R8G8B8_SINT Bytes(3) Sint false;
    B8G8R8_UNORM Bytes(3) Unorm true;
    B8G8R8_SNORM Bytes(3) Snorm true;
    B8G8R8_USCALED Bytes(3) Uscaled true;
    B8G8R8_SSCALED Bytes(3) Sscaled true;
    B8G8R8_UINT Bytes(3) Uint true;
    B8G8R8_SINT Bytes(3) Sint true;
    R8G8B8A8_UNORM Bytes(4) Unorm false;
    R8G8B8A8_SNORM Bytes(4) Snorm false;
    R8G8B8A8_USCALED Bytes(4) Uscaled false;
    R8G8B8A8_SSCALED Bytes(4) Sscaled false;
    R8G8B8A8_UINT Bytes(4) Uint false;
    R8G8B8A8_SINT Bytes(4) Sint false;
    B8G8R8A8_UNORM Bytes(4) Unorm true;
    B8G8R8A8_SNORM Bytes(4) Snorm true;
    B8G8R8A8_USCALED Bytes(4) Uscaled true;
    B8G8R8A8_SSCALED Bytes(4) Sscaled true;
    B8G8R8A8_UINT Bytes(4) Uint true;
    B8G8R8A8_SINT Bytes(4) Sint true;
    A8B8G8R8_UNORM_PACK32 Bytes(4) Unorm false;
    A8B8G8R8_SNORM_PACK32 Bytes(4) Snorm false;
    A8B8G8R8_USCALED_PACK32 Bytes(4) Uscaled false;
    A8B8G8R8_SSCALED_PACK32 Bytes(4) Sscaled false;
    A8B8G8R8_UINT_PACK32 Bytes(4) Uint false;
    A8B8G8R8_SINT_PACK32 Bytes(4) Sint false;
    A2B10G10R10_UNORM_PACK32 Bits10_10_10_2 Unorm false;
    A2B10G10R10_SNORM_PACK32 Bits10_10_10_2 Snorm false;
    A2B10G10R10_USCALED_PACK32 Bits10_10_10_2 Uscaled false;
    A2B10G10R10_SSCALED_PACK32 Bits10_10_10_2 Sscaled false;
    A2B10G10R10_UINT_PACK32 Bits10_10_10_2 Uint false;
    A2B10G10R10_SINT_PACK32 Bits10_10_10_2 Sint false;
    A2R10G10B10_UNORM_PACK32 Bits10_10_10_2 Unorm true;
    A2R10G10B10_SNORM_PACK32 Bits10_10_10_2 Snorm true;
    A2R10G10B10_USCALED_PACK32 Bits10_10_10_2 Uscaled true;
    A2R10G10B10_SSCALED_PACK32 Bits10_10_10_2 Sscaled true;
    A2R10G10B10_UINT_PACK32 Bits10_10_10_2 Uint true;
    A2R10G10B10_SINT_PACK32 Bits10_10_10_2 Sint true;
    B10G11R11_UFLOAT_PACK32 Floats11_11_10 Float false;
    R16_UNORM Halves(1) Unorm false;
    R16_SNORM Halves(1) Snorm false;
    R16_USCALED Halves(1) Uscaled false;
    R16_SSCALED Halves(1) Sscaled false;
    R16_UINT Halves(1) Uint false;
    R16_SINT Halves(1) Sint false;
    R16_SFLOAT Halves(1) Float false;
    R16G16_UNORM Halves(2) Unorm false;
    R16G16_SNORM Halves(2) Snorm false;
    R16G16_USCALED Halves(2) Uscaled false;
    R16G16_SSCALED Halves(2) Sscaled false;
    R16G16_UINT Halves(2) Uint false;
    R16G16_SINT Halves(2) Sint false;
    R16G16_SFLOAT Halves(2) Float false;
    R16G16B16_UNORM Halves(3) Unorm false;
    R16G16B16_SNORM Halves(3) Snorm false;
    R16G16B16_USCALED Halves(3) Uscaled false;
    R16G16B16_SSCALED Halves(3) Sscaled false;
    R16G16B16_UINT Halves(3) Uint false;
    R16G16B16_SINT Halves(3) Sint false;
    R16G16B16_SFLOAT Halves(3) Float false;
    R16G16B16A16_UNORM Halves(4) Unorm false;
    R16G16B16A16_SNORM Halves(4) Snorm false;
    R16G16B16A16_USCALED Halves(4) Uscaled false;
    R16G16B16A16_SSCALED Halves(4) Sscaled false;
    R16G16B16A16_UINT Halves(4) Uint false;
    R16G16B16A16_SINT Halves(4) Sint false;
    R16G16B16A16_SFLOAT Halves(4) Float false;
    R32_UINT Words(1) Uint false;
    R32_SINT Words(1) Sint false;
    R32_SFLOAT Words(1) Float false;
    R32G32_UINT Words(2) Uint false;
    R32G32_SINT Words(2) Sint false;
    R32G32_SFLOAT Words(2) Float false;
    R32G32B32_UINT Words(3) Uint false;
    R32G32B32_SINT Words(3) Sint false;
    R32G32B32_SFLOAT Words(3) Float false;
    R32G32B32A32_UINT Words(4) Uint false;
    R32G32B32A32_SINT Words(4) Sint false;
    R32G32B32A32_SFLOAT Words(4) Float false;
};

/// The whole table, by increasing format number.
static TABLE: LazyLock<Vec<FormatRow>> = LazyLock::new(|| {
    let mut rows = IMAGES.to_vec();
    for &(format, vertex) in VERTICES {
        match rows.iter_mut().find(|row| row.format == format) {
            Some(row) => row.vertex = Some(vertex),
            None => rows.push(FormatRow {
                format,
                bytes: vertex.bytes(),
                texel: None,
                storage: Storage::Plain,
                vertex: Some(vertex),
                srgb: false,
                optimal: NOTHING,
            }),
        }
    }
    rows.sort_by_key(|row| row.format.as_raw());
    rows
});

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
                Some(_) => vk::FormatFeatureFlags::VERTEX_BUFFER,
                None => NOTHING,
            },
        }
    }

    /// What the words of a colour target of this format mean; `None` for formats that are no colour targets.
    pub fn encoding(&self) -> Option<Encoding> {
        match self.texel? {
            Texel::A2B10G10R10 => Encoding::bits_10_10_10_2(ColorKind::Unorm, false),
            Texel::R16G16F => Encoding::halves(ColorKind::Float, 2),
            texel => {
                let plain = Encoding::of_format(texel.info());
                if self.srgb { plain.and_then(Encoding::srgb) } else { plain }
            }
        }
    }

    /// Bytes per texel of one aspect in buffers.
    pub fn aspect_bytes(&self, aspect: vk::ImageAspectFlags) -> u32 {
        if aspect == vk::ImageAspectFlags::STENCIL { 1 } else { self.bytes }
    }
}

/// The row of a format; `None` if it is not offered at all.
pub fn row(format: vk::Format) -> Option<&'static FormatRow> {
    let index = TABLE.binary_search_by_key(&format.as_raw(), |row| row.format.as_raw()).ok()?;
    TABLE.get(index)
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
        if !known.contains(self.flags) {
            return Err("sparse and other special images are not offered");
        }
        let cube = self.flags.contains(vk::ImageCreateFlags::CUBE_COMPATIBLE);
        match self.ty {
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

/// How a lookup in an image of this format becomes four components, seen through a component mapping.
pub fn texture_decode(row: &FormatRow, mapping: &vk::ComponentMapping) -> Option<TextureDecode> {
    let (class, native) = match row.texel?.info().decode {
        Decode::Unorm8(components) if row.srgb => (TextureClass::Srgb8, components.map(source)),
        Decode::Unorm8(components) => (TextureClass::Unorm8, components.map(source)),
        // Nobody samples them, but attachments have views.
        Decode::Word => {
            let word = TextureSwizzle::Component(0);
            (TextureClass::Word32, [word, TextureSwizzle::Zero, TextureSwizzle::Zero, TextureSwizzle::One])
        }
        Decode::Depth24 => {
            // Depth is red; the other components of a depth image are 0, 0 and 1.
            let components = [TextureSwizzle::Component(0), TextureSwizzle::Zero, TextureSwizzle::Zero];
            let [red, green, blue] = components;
            (TextureClass::Depth24, [red, green, blue, TextureSwizzle::One])
        }
    };
    let swizzles = [mapping.r, mapping.g, mapping.b, mapping.a];
    let mut swizzle = native;
    for (to, from) in swizzle.iter_mut().zip(swizzles) {
        match from {
            vk::ComponentSwizzle::ZERO => *to = TextureSwizzle::Zero,
            vk::ComponentSwizzle::ONE => *to = TextureSwizzle::One,
            vk::ComponentSwizzle::R => *to = native[0],
            vk::ComponentSwizzle::G => *to = native[1],
            vk::ComponentSwizzle::B => *to = native[2],
            vk::ComponentSwizzle::A => *to = native[3],
            _ => {}
        }
    }
    Some(TextureDecode { class, swizzle })
}

fn source(component: Component) -> TextureSwizzle {
    match component {
        Component::Byte(byte) => TextureSwizzle::Component(byte),
        Component::Zero => TextureSwizzle::Zero,
        Component::One => TextureSwizzle::One,
    }
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

    #[test]
    fn colour_targets_have_an_encoding() {
        for row in IMAGES {
            let target = row.optimal.contains(vk::FormatFeatureFlags::COLOR_ATTACHMENT);
            assert!(!target || row.encoding().is_some_and(|encoding| encoding.blends()), "{:?}", row.format);
        }
        let kind = |format| row(format).unwrap().encoding().unwrap().kind;
        assert_eq!(kind(vk::Format::B8G8R8A8_SRGB), ColorKind::Srgb);
        assert_eq!(kind(vk::Format::B8G8R8A8_UNORM), ColorKind::Unorm);
        assert!(row(vk::Format::R5G6B5_UNORM_PACK16).unwrap().encoding().unwrap().stores_565);
    }

    #[test]
    fn every_vertex_format_of_up_to_32_bits_a_component() {
        for format in (0..=vk::Format::B10G11R11_UFLOAT_PACK32.as_raw()).map(vk::Format::from_raw) {
            let name = format!("{format:?}");
            let listed = ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "SFLOAT", "UFLOAT"];
            // Packed formats of 8 and 16 bits are images', 64-bit components need a feature that is off.
            let other = name.contains("PACK8") || name.contains("PACK16") || name.contains("64");
            let vertex = listed.iter().any(|numeric| name.contains(numeric)) && !other;
            assert_eq!(row(format).is_some_and(|row| row.vertex.is_some()), vertex, "{name}");
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
        use TextureSwizzle::{Component, One};
        let (r, g) = (vk::ComponentSwizzle::A, vk::ComponentSwizzle::ONE);
        let mapping = vk::ComponentMapping { r, g, ..Default::default() };
        let decode = texture_decode(row(vk::Format::B8G8R8A8_SRGB).unwrap(), &mapping).unwrap();
        assert_eq!(decode.swizzle, [Component(3), One, Component(0), Component(3)]);
        assert_eq!(decode.class, TextureClass::Srgb8);
    }

    #[test]
    fn image_and_vertex_rows_of_a_format_are_one_row() {
        let rgba = row(vk::Format::R8G8B8A8_UNORM).unwrap();
        assert!(rgba.vertex.is_some() && rgba.texel.is_some());
        assert!(TABLE.windows(2).all(|pair| pair[0].format.as_raw() < pair[1].format.as_raw()));
    }
}
