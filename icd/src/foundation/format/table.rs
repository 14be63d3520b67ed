//! One row per format: how images, attachments and vertices hold it, and the features that follow.

use std::sync::LazyLock;

use ash::vk;
use vc4::image::etc2::BlockFormat;
use vc4::image::format::{Format as Texel, TileFormat};
use vc4::image::texel::TexelInfo;
use vc4::state::vertex_fetch::{Numeric, VertexFormat};
use vc4::state::{ColorKind, Encoding};

use super::planes::{PLANAR, Plane};
use super::vertex::VERTICES;

/// How a texel in a buffer (of the application, in a copy) becomes what an image holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    /// The same bytes.
    Plain,
    /// The same bits, at the bottom of a 32-bit word: what the tile buffer can store.
    Widened,
    /// A1R5G5B5 as bytes R, G, B, A: the texture unit knows alpha at the other end only. No other format can view it.
    Expanded1555,
    /// 16-bit depth, held with 24 bits: 65535 is 0xffffff.
    Depth16,
    /// 24-bit depth, in bits 23:0 of a buffer's word and 31:8 of an image's.
    Depth24,
    /// As above for the depth aspect; stencil is bytes in buffers and bits 7:0 in images.
    Depth24Stencil8,
    /// 32-bit float depth, held as 24-bit fractions: what a depth target can keep of it.
    DepthFloat,
    /// One after the other as many images of 32-bit words as a texel has words: the tile buffer stores no more at once
    /// (T-WIDE).
    Planes(u8),
    /// Blocks, kept as they are for copies, beside decoded texels for the texture unit.
    Blocks(BlockFormat),
}

/// How an image holds the texels of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stored {
    /// The texel format; of blocks, decoded.
    pub texel: Texel,
    /// What becomes of a texel on its way.
    pub storage: Storage,
}

impl Stored {
    const fn plain(texel: Texel) -> Stored {
        Stored { texel, storage: Storage::Plain }
    }

    const fn converted(texel: Texel, storage: Storage) -> Stored {
        Stored { texel, storage }
    }

    /// The same where applications read texels as they are in buffers. What other images hold in another form is bits there.
    pub fn unconverted(self) -> Stored {
        let texel = match self.storage {
            Storage::Expanded1555 => Texel::Word16,
            _ => self.texel,
        };
        Stored::plain(texel)
    }

    /// Images of words that hold a texel together.
    pub fn planes(&self) -> u8 {
        match self.storage {
            Storage::Planes(planes) => planes,
            _ => 1,
        }
    }
}

/// One row of the table.
#[derive(Clone, Debug)]
pub struct FormatRow {
    /// The API's name.
    pub format: vk::Format,
    /// Bytes per texel, or per block, in buffers (of the depth aspect, for depth formats).
    pub bytes: u32,
    /// What the bits of a colour mean; of blocks, decoded. `None` for depth and stencil.
    pub info: Option<TexelInfo>,
    /// How images hold it that are no attachments; `None` for formats that only vertices have.
    pub texture: Option<Stored>,
    /// How attachments hold it; `None` for formats that are no attachments.
    pub target: Option<Stored>,
    /// How vertex attributes are read; `None` if they cannot have this format.
    pub vertex: Option<VertexFormat>,
    /// Planes of an image, each one of its own format; none where an image is one plane. The rest of the row is the first
    /// plane's.
    pub planes: &'static [Plane],
    /// Aspects of images.
    aspects: vk::ImageAspectFlags,
}

/// Features of images of several planes: samplers that convert look at them, and copies move planes.
const PLANAR_FEATURES: vk::FormatFeatureFlags = vk::FormatFeatureFlags::from_raw(
    vk::FormatFeatureFlags::TRANSFER_SRC.as_raw()
        | vk::FormatFeatureFlags::TRANSFER_DST.as_raw()
        | vk::FormatFeatureFlags::SAMPLED_IMAGE.as_raw()
        | vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR.as_raw()
        | vk::FormatFeatureFlags::SAMPLED_IMAGE_YCBCR_CONVERSION_LINEAR_FILTER.as_raw()
        | vk::FormatFeatureFlags::SAMPLED_IMAGE_YCBCR_CONVERSION_SEPARATE_RECONSTRUCTION_FILTER.as_raw()
        | vk::FormatFeatureFlags::MIDPOINT_CHROMA_SAMPLES.as_raw()
        | vk::FormatFeatureFlags::COSITED_CHROMA_SAMPLES.as_raw(),
);

const NOTHING: vk::FormatFeatureFlags = vk::FormatFeatureFlags::empty();

/// Whether texel buffers may have the fields of a vertex format: direct lookups find texels of 1, 2, 4, 8 and 16 bytes.
fn is_texel(format: &VertexFormat) -> bool {
    format.bytes().is_power_of_two() && !matches!(format.numeric, Numeric::Uscaled | Numeric::Sscaled)
}

/// Rows of colour formats: how textures hold them, and how attachments do.
macro_rules! colors {
    ($($format:ident $texture:expr, $target:expr;)*) => {
        [$((vk::Format::$format, stringify!($format), $texture, $target),)*]
    };
}

type ColorRow = (vk::Format, &'static str, Stored, Option<Stored>);

const fn same(texel: Texel) -> Option<Stored> {
    Some(Stored::plain(texel))
}

/// In the low bits of a word that programs pack.
pub const WIDENED: Stored = Stored::converted(Texel::Word32, Storage::Widened);
const WIDE: Option<Stored> = Some(WIDENED);
const BYTE: Stored = Stored::plain(Texel::Word8);
const HALF: Stored = Stored::plain(Texel::Word16);
const WORD: Stored = Stored::plain(Texel::Word32);
const TWO: Stored = Stored::plain(Texel::Word64);
const FOUR: Stored = Stored::plain(Texel::Word128);
const PLANES_2: Option<Stored> = Some(Stored::converted(Texel::Word32, Storage::Planes(2)));
const PLANES_4: Option<Stored> = Some(Stored::converted(Texel::Word32, Storage::Planes(4)));
const EXPANDED: Stored = Stored::converted(Texel::R8G8B8A8, Storage::Expanded1555);

/// Formats without a target in the table are no colour attachments: packed ones because widening would take native
/// sampling from them, floats of 11 and 10 bits because programs do not pack them.
const COLORS: [ColorRow; 56] = colors! {
    R4G4B4A4_UNORM_PACK16      Stored::plain(Texel::R4G4B4A4), None;
    B4G4R4A4_UNORM_PACK16      Stored::plain(Texel::B4G4R4A4), None;
    A4R4G4B4_UNORM_PACK16      Stored::plain(Texel::A4R4G4B4), None;
    R5G6B5_UNORM_PACK16        Stored::plain(Texel::R5G6B5), same(Texel::R5G6B5);
    B5G6R5_UNORM_PACK16        Stored::plain(Texel::B5G6R5), same(Texel::B5G6R5);
    R5G5B5A1_UNORM_PACK16      Stored::plain(Texel::R5G5B5A1), None;
    B5G5R5A1_UNORM_PACK16      Stored::plain(Texel::B5G5R5A1), None;
    A1R5G5B5_UNORM_PACK16      EXPANDED, Some(EXPANDED);
    R8_UNORM                   Stored::plain(Texel::R8), Some(Stored::converted(Texel::R8X24, Storage::Widened));
    R8_SNORM                   BYTE, WIDE;
    R8_UINT                    BYTE, WIDE;
    R8_SINT                    BYTE, WIDE;
    R8G8_UNORM                 Stored::plain(Texel::R8G8), Some(Stored::converted(Texel::R8G8X16, Storage::Widened));
    R8G8_SNORM                 HALF, WIDE;
    R8G8_UINT                  HALF, WIDE;
    R8G8_SINT                  HALF, WIDE;
    R8G8B8A8_UNORM             Stored::plain(Texel::R8G8B8A8), same(Texel::R8G8B8A8);
    R8G8B8A8_SNORM             WORD, Some(WORD);
    R8G8B8A8_UINT              WORD, Some(WORD);
    R8G8B8A8_SINT              WORD, Some(WORD);
    R8G8B8A8_SRGB              Stored::plain(Texel::R8G8B8A8), same(Texel::R8G8B8A8);
    B8G8R8A8_UNORM             Stored::plain(Texel::B8G8R8A8), same(Texel::B8G8R8A8);
    B8G8R8A8_SRGB              Stored::plain(Texel::B8G8R8A8), same(Texel::B8G8R8A8);
    A8B8G8R8_UNORM_PACK32      Stored::plain(Texel::R8G8B8A8), same(Texel::R8G8B8A8);
    A8B8G8R8_SNORM_PACK32      WORD, Some(WORD);
    A8B8G8R8_UINT_PACK32       WORD, Some(WORD);
    A8B8G8R8_SINT_PACK32       WORD, Some(WORD);
    A8B8G8R8_SRGB_PACK32       Stored::plain(Texel::R8G8B8A8), same(Texel::R8G8B8A8);
    A2R10G10B10_UNORM_PACK32   WORD, Some(WORD);
    A2B10G10R10_UNORM_PACK32   WORD, Some(WORD);
    A2B10G10R10_UINT_PACK32    WORD, Some(WORD);
    R16_UNORM                  HALF, WIDE;
    R16_SNORM                  HALF, WIDE;
    R16_UINT                   HALF, WIDE;
    R16_SINT                   HALF, WIDE;
    R16_SFLOAT                 HALF, WIDE;
    R16G16_UNORM               WORD, Some(WORD);
    R16G16_SNORM               WORD, Some(WORD);
    R16G16_UINT                WORD, Some(WORD);
    R16G16_SINT                WORD, Some(WORD);
    R16G16_SFLOAT              WORD, Some(WORD);
    R16G16B16A16_UNORM         TWO, PLANES_2;
    R16G16B16A16_SNORM         TWO, PLANES_2;
    R16G16B16A16_UINT          TWO, PLANES_2;
    R16G16B16A16_SINT          TWO, PLANES_2;
    R16G16B16A16_SFLOAT        TWO, PLANES_2;
    R32_UINT                   WORD, Some(WORD);
    R32_SINT                   WORD, Some(WORD);
    R32_SFLOAT                 WORD, Some(WORD);
    R32G32_UINT                TWO, PLANES_2;
    R32G32_SINT                TWO, PLANES_2;
    R32G32_SFLOAT              TWO, PLANES_2;
    R32G32B32A32_UINT          FOUR, PLANES_4;
    R32G32B32A32_SINT          FOUR, PLANES_4;
    R32G32B32A32_SFLOAT        FOUR, PLANES_4;
    B10G11R11_UFLOAT_PACK32    WORD, None;
};

/// Its exponent is a component of no colour.
const SHARED: ColorRow = (vk::Format::E5B9G9R9_UFLOAT_PACK32, "E5B9G9R9_UFLOAT_PACK32", WORD, None);

/// Formats that atomic operations are defined for, in compute stages: no other stage stores.
const ATOMICS: [vk::Format; 2] = [vk::Format::R32_UINT, vk::Format::R32_SINT];

/// Rows of depth formats: bytes of the depth aspect, how textures hold them, and how attachments do.
const DEPTHS: [(vk::Format, u32, Stored, Stored); 4] = {
    const fn both(
        format: vk::Format,
        bytes: u32,
        texel: Texel,
        storage: Storage,
    ) -> (vk::Format, u32, Stored, Stored) {
        let stored = Stored::converted(texel, storage);
        (format, bytes, stored, stored)
    }
    [
        both(vk::Format::D16_UNORM, 2, Texel::Z24X8, Storage::Depth16),
        both(vk::Format::X8_D24_UNORM_PACK32, 4, Texel::Z24X8, Storage::Depth24),
        both(vk::Format::D24_UNORM_S8_UINT, 4, Texel::Z24S8, Storage::Depth24Stencil8),
        (vk::Format::D32_SFLOAT, 4, WORD, Stored::converted(Texel::Z24X8, Storage::DepthFloat)),
    ]
};

/// Rows of block formats, the sRGB ones by the name of what their texels are.
const BLOCKS: [(vk::Format, BlockFormat, &str); 10] = {
    use BlockFormat::{EacR, EacRSigned, EacRg, EacRgSigned, Etc2Rgb, Etc2RgbA1, Etc2Rgba};
    const SRGB: &str = "R8G8B8A8_SRGB";
    [
        (vk::Format::ETC2_R8G8B8_UNORM_BLOCK, Etc2Rgb, Etc2Rgb.decoded()),
        (vk::Format::ETC2_R8G8B8_SRGB_BLOCK, Etc2Rgb, SRGB),
        (vk::Format::ETC2_R8G8B8A1_UNORM_BLOCK, Etc2RgbA1, Etc2RgbA1.decoded()),
        (vk::Format::ETC2_R8G8B8A1_SRGB_BLOCK, Etc2RgbA1, SRGB),
        (vk::Format::ETC2_R8G8B8A8_UNORM_BLOCK, Etc2Rgba, Etc2Rgba.decoded()),
        (vk::Format::ETC2_R8G8B8A8_SRGB_BLOCK, Etc2Rgba, SRGB),
        (vk::Format::EAC_R11_UNORM_BLOCK, EacR, EacR.decoded()),
        (vk::Format::EAC_R11_SNORM_BLOCK, EacRSigned, EacRSigned.decoded()),
        (vk::Format::EAC_R11G11_UNORM_BLOCK, EacRg, EacRg.decoded()),
        (vk::Format::EAC_R11G11_SNORM_BLOCK, EacRgSigned, EacRgSigned.decoded()),
    ]
};

/// Every row of images.
pub(super) fn images() -> Vec<FormatRow> {
    let row = |format, bytes, info, texture, target, aspects| FormatRow {
        format,
        bytes,
        info,
        texture: Some(texture),
        target,
        vertex: None,
        planes: &[],
        aspects,
    };
    let named = |name| TexelInfo::of_name(name).expect("a test reads every name");
    let color = |(format, name, texture, target): ColorRow| {
        let info = named(name);
        row(format, info.bytes, Some(info), texture, target, vk::ImageAspectFlags::COLOR)
    };
    let depth = |(format, bytes, texture, target): (_, _, Stored, _)| {
        let stencil = match texture.storage {
            Storage::Depth24Stencil8 => vk::ImageAspectFlags::STENCIL,
            _ => vk::ImageAspectFlags::empty(),
        };
        row(format, bytes, None, texture, Some(target), vk::ImageAspectFlags::DEPTH | stencil)
    };
    let blocks = |(format, block, name): (_, BlockFormat, _)| {
        let info: TexelInfo = named(name);
        let texel = match block {
            BlockFormat::EacR | BlockFormat::EacRSigned => Texel::Word16,
            BlockFormat::EacRg | BlockFormat::EacRgSigned => Texel::Word32,
            // Without alpha, which borders show as well.
            BlockFormat::Etc2Rgb => Texel::R8G8B8X8,
            BlockFormat::Etc2RgbA1 | BlockFormat::Etc2Rgba => Texel::R8G8B8A8,
        };
        let stored = Stored::converted(texel, Storage::Blocks(block));
        row(format, block.bytes(), Some(info), stored, None, vk::ImageAspectFlags::COLOR)
    };
    let colors = COLORS.into_iter().chain([SHARED]).map(color);
    let mut rows: Vec<FormatRow> =
        colors.chain(DEPTHS.into_iter().map(depth)).chain(BLOCKS.into_iter().map(blocks)).collect();
    for (format, planes) in PLANAR {
        let first = rows.iter().find(|row| row.format == planes[0].format);
        let first = first.expect("planes have formats of the table").clone();
        rows.push(FormatRow { format, target: None, planes, ..first });
    }
    rows
}

/// The whole table, by increasing format number.
static TABLE: LazyLock<Vec<FormatRow>> = LazyLock::new(|| {
    let mut rows = images();
    for &(format, vertex) in VERTICES {
        match rows.iter_mut().find(|row| row.format == format) {
            Some(row) => row.vertex = Some(vertex),
            None => rows.push(FormatRow {
                format,
                bytes: vertex.bytes(),
                info: None,
                texture: None,
                target: None,
                vertex: Some(vertex),
                planes: &[],
                aspects: vk::ImageAspectFlags::empty(),
            }),
        }
    }
    rows.sort_by_key(|row| row.format.as_raw());
    rows
});

impl FormatRow {
    /// Aspects of images.
    pub fn aspects(&self) -> vk::ImageAspectFlags {
        self.aspects
    }

    /// Whether images have a stencil aspect.
    pub fn has_stencil(&self) -> bool {
        self.aspects.contains(vk::ImageAspectFlags::STENCIL)
    }

    /// Whether images have several planes.
    pub fn is_planar(&self) -> bool {
        !self.planes.is_empty()
    }

    /// Red, green and blue are sRGB encoded.
    pub fn is_srgb(&self) -> bool {
        self.info.is_some_and(|info| info.kind == ColorKind::Srgb)
    }

    /// Edge of a block in texels; 1 for formats without blocks.
    pub fn block(&self) -> u32 {
        match self.texture.map(|stored| stored.storage) {
            Some(Storage::Blocks(_)) => vc4::image::etc2::BLOCK_PX,
            _ => 1,
        }
    }

    /// vkGetPhysicalDeviceFormatProperties.
    pub fn properties(&self) -> vk::FormatProperties {
        vk::FormatProperties {
            linear_tiling_features: self.linear_features(),
            optimal_tiling_features: self.optimal_features(),
            buffer_features: match self.vertex {
                // QPU programs read storage texel buffers, kernels of the CPU write them, too.
                Some(format) if is_texel(&format) => {
                    let all = vk::FormatFeatureFlags::VERTEX_BUFFER
                        | vk::FormatFeatureFlags::UNIFORM_TEXEL_BUFFER
                        | vk::FormatFeatureFlags::STORAGE_TEXEL_BUFFER;
                    match ATOMICS.contains(&self.format) {
                        true => all | vk::FormatFeatureFlags::STORAGE_TEXEL_BUFFER_ATOMIC,
                        false => all,
                    }
                }
                Some(_) => vk::FormatFeatureFlags::VERTEX_BUFFER,
                None => NOTHING,
            },
        }
    }

    /// Rows are for copies and blits; the texture unit does not read them.
    fn linear_features(&self) -> vk::FormatFeatureFlags {
        match self.block() == 1 && self.aspects == vk::ImageAspectFlags::COLOR {
            // Copies move single planes, and nothing blits images of several.
            true if self.is_planar() => PLANAR_FEATURES & self.transfers(),
            true => self.transfers(),
            false => NOTHING,
        }
    }

    fn optimal_features(&self) -> vk::FormatFeatureFlags {
        if self.texture.is_none() {
            return NOTHING;
        }
        if self.is_planar() {
            return PLANAR_FEATURES;
        }
        let mut features = self.transfers() | self.sampling();
        if self.aspects != vk::ImageAspectFlags::COLOR {
            return features | vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT;
        }
        if let Some(encoding) = self.encoding() {
            features |= vk::FormatFeatureFlags::COLOR_ATTACHMENT;
            // A plane's program does not see the alpha that another holds.
            if encoding.blends() && self.target.is_some_and(|target| target.planes() == 1) {
                features |= vk::FormatFeatureFlags::COLOR_ATTACHMENT_BLEND;
            }
        }
        // QPU programs read storage images, kernels of the CPU write them, too.
        if has_image_format(self.format) {
            features |= vk::FormatFeatureFlags::STORAGE_IMAGE;
        }
        if ATOMICS.contains(&self.format) {
            features |= vk::FormatFeatureFlags::STORAGE_IMAGE_ATOMIC;
        }
        features
    }

    /// Copies, and blits by the CPU; nothing encodes blocks.
    fn transfers(&self) -> vk::FormatFeatureFlags {
        let all = vk::FormatFeatureFlags::TRANSFER_SRC
            | vk::FormatFeatureFlags::TRANSFER_DST
            | vk::FormatFeatureFlags::BLIT_SRC;
        if self.block() == 1 { all | vk::FormatFeatureFlags::BLIT_DST } else { all }
    }

    /// What the texture unit cannot filter - sRGB, which is decoded first, floats, depths - programs do; integers have no
    /// filter.
    fn sampling(&self) -> vk::FormatFeatureFlags {
        match self.info.is_some_and(|info| info.is_integer()) {
            true => vk::FormatFeatureFlags::SAMPLED_IMAGE,
            false => {
                vk::FormatFeatureFlags::SAMPLED_IMAGE | vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR
            }
        }
    }

    /// Formats that can see an image of this one: colours of as many bytes, in forms that others have, too.
    pub fn compatible(&self) -> impl Iterator<Item = &'static FormatRow> + use<> {
        let bytes = self.bytes;
        let is_shared = |row: &FormatRow| {
            let own = |stored: Stored| matches!(stored.storage, Storage::Expanded1555 | Storage::Blocks(_));
            row.aspects == vk::ImageAspectFlags::COLOR && !row.texture.is_some_and(own) && !row.is_planar()
        };
        let shared = is_shared(self);
        TABLE.iter().filter(move |row| shared && is_shared(row) && row.bytes == bytes)
    }

    /// How an image holds its texels that may be drawn to through compatible formats, even if this is no attachment's.
    pub fn drawn_by_others(&self) -> Option<Stored> {
        self.target.or(if self.bytes < 4 { WIDE } else { self.texture })
    }

    /// How an image of this format and usage holds its texels; `None` for formats that only vertices have.
    pub fn stored(&self, usage: vk::ImageUsageFlags) -> Option<Stored> {
        let attachment =
            vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
        if usage.intersects(attachment) { self.target.or(self.texture) } else { self.texture }
    }

    /// What the words of a colour target of this format mean; `None` for formats that are no colour targets.
    pub fn encoding(&self) -> Option<Encoding> {
        let (target, TexelInfo { kind, fields, .. }) = (self.target?, self.info?);
        // Narrower fields become bytes in the tile.
        let bytes = || Encoding::of_format(target.texel.info());
        match (target.storage, target.texel.info().tile?) {
            (Storage::Expanded1555, _) | (_, TileFormat::Bgr565) => bytes(),
            _ => Some(Encoding { kind, fields, stores_565: false }),
        }
    }

    /// Bytes per texel or block of one aspect in buffers.
    pub fn aspect_bytes(&self, aspect: vk::ImageAspectFlags) -> u32 {
        if aspect == vk::ImageAspectFlags::STENCIL { 1 } else { self.bytes }
    }
}

/// Formats that shaders name, with StorageImageExtendedFormats those of [`EXTENDED`] (Vulkan 1.0 §30.3.3).
fn has_image_format(format: vk::Format) -> bool {
    matches!(
        format,
        vk::Format::R8G8B8A8_UNORM
            | vk::Format::R8G8B8A8_SNORM
            | vk::Format::R8G8B8A8_UINT
            | vk::Format::R8G8B8A8_SINT
            | vk::Format::R16G16B16A16_UINT
            | vk::Format::R16G16B16A16_SINT
            | vk::Format::R16G16B16A16_SFLOAT
            | vk::Format::R32_UINT
            | vk::Format::R32_SINT
            | vk::Format::R32_SFLOAT
            | vk::Format::R32G32_UINT
            | vk::Format::R32G32_SINT
            | vk::Format::R32G32_SFLOAT
            | vk::Format::R32G32B32A32_UINT
            | vk::Format::R32G32B32A32_SINT
            | vk::Format::R32G32B32A32_SFLOAT
    ) || EXTENDED.contains(&format)
}

/// What shaderStorageImageExtendedFormats adds.
const EXTENDED: [vk::Format; 23] = [
    vk::Format::R16G16B16A16_UNORM,
    vk::Format::R16G16B16A16_SNORM,
    vk::Format::R16G16_UNORM,
    vk::Format::R16G16_SNORM,
    vk::Format::R16G16_UINT,
    vk::Format::R16G16_SINT,
    vk::Format::R16G16_SFLOAT,
    vk::Format::R16_UNORM,
    vk::Format::R16_SNORM,
    vk::Format::R16_UINT,
    vk::Format::R16_SINT,
    vk::Format::R16_SFLOAT,
    vk::Format::R8G8_UNORM,
    vk::Format::R8G8_SNORM,
    vk::Format::R8G8_UINT,
    vk::Format::R8G8_SINT,
    vk::Format::R8_UNORM,
    vk::Format::R8_SNORM,
    vk::Format::R8_UINT,
    vk::Format::R8_SINT,
    vk::Format::A2B10G10R10_UNORM_PACK32,
    vk::Format::A2B10G10R10_UINT_PACK32,
    vk::Format::B10G11R11_UFLOAT_PACK32,
];

/// The row of a format; `None` if it is not offered at all.
pub fn row(format: vk::Format) -> Option<&'static FormatRow> {
    let index = TABLE.binary_search_by_key(&format.as_raw(), |row| row.format.as_raw()).ok()?;
    TABLE.get(index)
}

/// vkGetPhysicalDeviceFormatProperties; all zero for formats that are not offered.
pub fn properties(format: vk::Format) -> vk::FormatProperties {
    row(format).map(FormatRow::properties).unwrap_or_default()
}

/// Features of a format of images that are linear and optimal, and of buffers, with those that the first form has no bits for.
pub fn features2(
    format: vk::Format,
) -> (vk::FormatFeatureFlags2, vk::FormatFeatureFlags2, vk::FormatFeatureFlags2) {
    let properties = properties(format);
    (
        features_of(format, properties.linear_tiling_features),
        features_of(format, properties.optimal_tiling_features),
        features_of(format, properties.buffer_features),
    )
}

/// Features of a format with those that the first form has no bits for.
pub(super) fn features_of(format: vk::Format, features: vk::FormatFeatureFlags) -> vk::FormatFeatureFlags2 {
    use vk::FormatFeatureFlags as First;
    use vk::FormatFeatureFlags2 as Second;
    let mut all = Second::from_raw(features.as_raw().into());
    if features.intersects(First::STORAGE_IMAGE | First::STORAGE_TEXEL_BUFFER) {
        all |= Second::STORAGE_READ_WITHOUT_FORMAT | Second::STORAGE_WRITE_WITHOUT_FORMAT;
    }
    let is_depth = row(format).is_some_and(|row| row.aspects().contains(vk::ImageAspectFlags::DEPTH));
    if is_depth && features.contains(First::SAMPLED_IMAGE) {
        all |= Second::SAMPLED_IMAGE_DEPTH_COMPARISON;
    }
    all
}

/// Features of buffers with texels or attributes of this format.
pub fn buffer_features(format: vk::Format) -> vk::FormatFeatureFlags {
    properties(format).buffer_features
}

#[cfg(test)]
mod tests {
    use super::*;
    use vc4::image::format::Uses;

    #[test]
    fn rows_agree_with_what_the_chip_can_do() {
        for row in images() {
            let texture = row.texture.unwrap();
            let (texel, optimal) = (texture.texel.info(), row.optimal_features());
            assert!(optimal.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE), "{:?}", row.format);
            if let Some(target) = row.target {
                let needed = match row.aspects == vk::ImageAspectFlags::COLOR {
                    true => Uses::COLOR_TARGET,
                    false => Uses::DEPTH_TARGET,
                };
                assert!(target.texel.info().uses.contains(needed), "{:?}", row.format);
            }
            if texture.storage == Storage::Plain {
                assert_eq!(row.bytes, texel.cpp, "{:?}", row.format);
            }
            if row.block() == 1 && row.info.is_some() && !row.is_planar() {
                assert!(format!("{:?}", row.format).starts_with(
                    COLORS.iter().chain([&SHARED]).find(|color| color.0 == row.format).unwrap().1
                ));
            }
        }
    }

    /// Where borders are sampled, alpha comes from the border colour otherwise.
    #[test]
    fn alpha_that_a_format_lacks_is_one() {
        use vc4::image::format::{Component, Decode};
        let mut seen = [0; 2];
        for row in images().iter().filter(|row| row.aspects == vk::ImageAspectFlags::COLOR) {
            let Decode::Unorm8(components) = row.texture.unwrap().texel.info().decode else { continue };
            let name = format!("{:?}", row.format);
            let has_alpha =
                name.as_bytes().windows(2).any(|pair| pair[0] == b'A' && pair[1].is_ascii_digit());
            assert_eq!(components[3] != Component::One, has_alpha, "{name}");
            seen[usize::from(has_alpha)] += 1;
        }
        assert!(seen[0] > 3 && seen[1] > 3, "{seen:?}");
    }

    #[test]
    fn colour_targets_have_an_encoding() {
        for row in images().iter().filter(|row| row.aspects == vk::ImageAspectFlags::COLOR) {
            assert_eq!(row.target.is_some(), row.encoding().is_some(), "{:?}", row.format);
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

    #[test]
    fn image_and_vertex_rows_of_a_format_are_one_row() {
        let rgba = row(vk::Format::R8G8B8A8_UNORM).unwrap();
        assert!(rgba.vertex.is_some() && rgba.texture.is_some());
        assert!(TABLE.windows(2).all(|pair| pair[0].format.as_raw() < pair[1].format.as_raw()));
    }
}
