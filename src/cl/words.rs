//! Single words with fields: texture configuration (textures.md §2), stencil set-up (v3d.md §10.3), VPM set-up
//! (v3d.md §7.1) and the flags of the shader record (v3d.md §6.1). Each is drawn once, most significant bit
//! first; packing, unpacking and the listing of fields come from the drawing.

use super::field::{Addr, Bits, Count, FieldType, Pages, vocabulary};
use super::packets::{CompareFunc, FieldInfo, field_info};
use crate::picture::{Field, field, fixed, width};

/// Why a word cannot be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WordError {
    /// A field holds a reserved code.
    #[error("{word}: field {field} holds the reserved code {code}")]
    BadCode {
        /// The kind of word.
        word: &'static str,
        /// The field.
        field: &'static str,
        /// Its bits.
        code: u32,
    },
    /// Bits that are fixed have another value.
    #[error("{word}: bits {mask:#010x} are fixed and have another value")]
    FixedBits {
        /// The kind of word.
        word: &'static str,
        /// The offending bits.
        mask: u32,
    },
}

/// Checks a drawing against its fields: they must cover every bit that is not fixed.
const fn check_picture(picture: &str, fields: &[FieldInfo]) {
    let (mut used, mut i) = (fixed(picture).0, 0);
    while i < fields.len() {
        used |= ((1u64 << fields[i].width) - 1) << fields[i].bit;
        i += 1;
    }
    assert!(width(picture) <= 32 && used == (1u64 << width(picture)) - 1, "a drawn bit belongs to no field");
}

macro_rules! words {
    ($(
        $(#[$meta:meta])*
        $name:ident $picture:literal {
            $( $(#[$fmeta:meta])* $letter:literal $field:ident : $ty:ty = $default:expr, )*
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name { $( $(#[$fmeta])* pub $field: $ty, )* }

        impl Default for $name {
            fn default() -> Self { $name { $($field: $default,)* } }
        }

        impl $name {
            /// The word as drawn.
            pub const PICTURE: &'static str = $picture;

            /// Its fields.
            pub const FIELDS: &'static [FieldInfo] = &[$({
                const FIELD: Field = field($picture, $letter);
                field_info::<$ty>(stringify!($field), FIELD.shift, FIELD.width)
            },)*];

            /// The word.
            pub fn bits(&self) -> u32 {
                let mut bits = const { check_picture($picture, Self::FIELDS); fixed($picture).1 };
                $(
                    const { assert!(field($picture, $letter).width <= 32) };
                    // Else every call would read the picture again.
                    bits |= const { field($picture, $letter) }.put(u64::from(FieldType::to_bits(self.$field)));
                )*
                bits as u32
            }

            /// Appends ` name=value` for every field.
            pub fn put_fields(&self, out: &mut String) {
                $(
                    out.push_str(concat!(" ", stringify!($field), "="));
                    FieldType::put_text(self.$field, out);
                )*
            }

            /// Sets the field `name` from its text; false if the word lacks the field or the text is no value of it.
            pub fn set_field(&mut self, name: &str, text: &str) -> bool {
                match name {
                    $(stringify!($field) => {
                        <$ty as FieldType>::from_text(text).map(|value| self.$field = value).is_some()
                    })*
                    _ => false,
                }
            }

            /// The fields of a word.
            pub fn from_bits(bits: u32) -> Result<Self, WordError> {
                const FIXED: (u64, u64) = fixed($picture);
                let wrong = (u64::from(bits) ^ FIXED.1) & (FIXED.0 | !((1 << width($picture)) - 1));
                if wrong != 0 {
                    return Err(WordError::FixedBits { word: stringify!($name), mask: wrong as u32 });
                }
                Ok($name {
                    $($field: {
                        const FIELD: Field = field($picture, $letter);
                        let code = FIELD.get(u64::from(bits)) as u32;
                        <$ty as FieldType>::from_bits(code).ok_or(WordError::BadCode {
                            word: stringify!($name), field: stringify!($field), code,
                        })?
                    },)*
                })
            }
        }
    )*};
}

vocabulary! {
    /// What the texture unit makes of memory (textures.md §3).
    TextureType 5 {
        /// R in the lowest byte.
        0 Rgba8888 "rgba8888",
        /// As above with A read as 1.
        1 Rgbx8888 "rgbx8888",
        /// R in bits 15:12.
        2 Rgba4444 "rgba4444",
        /// R in bits 15:11, A in bit 0.
        3 Rgba5551 "rgba5551",
        /// R in bits 15:11.
        4 Rgb565 "rgb565",
        /// One byte to R, G and B.
        5 Luminance "luminance",
        /// One byte to A.
        6 Alpha "alpha",
        /// L in the low byte, A in the high one.
        7 LumAlpha "lumalpha",
        /// 4x4 blocks of 8 bytes.
        8 Etc1 "etc1",
        /// Half float.
        9 S16F "s16f",
        /// Byte sample.
        10 S8 "s8",
        /// 16-bit integer sample.
        11 S16 "s16",
        /// One bit per texel; Linux refuses it.
        12 Bw1 "bw1",
        /// Four bits of alpha; Linux refuses it.
        13 A4 "a4",
        /// One bit of alpha; Linux refuses it.
        14 A1 "a1",
        /// Four halves in two results; Linux refuses it.
        15 Rgba64 "rgba64",
        /// As 0 in raster layout.
        16 Rgba32R "rgba32r",
        /// Y, U, Y, V bytes in raster layout; Linux refuses it.
        17 Yuyv422R "yuyv422r",
    }
    /// Filter where a texel covers more than a pixel (textures.md §2).
    MagFilter 1 {
        /// Bilinear.
        0 Linear "linear",
        /// Nearest texel.
        1 Nearest "nearest",
    }
    /// Filter where a pixel covers more than a texel (textures.md §2).
    MinFilter 3 {
        /// Bilinear in level 0.
        0 Linear "linear",
        /// Nearest texel of level 0.
        1 Nearest "nearest",
        /// Nearest texel of the nearest level.
        2 NearestMipNearest "near_mip_near",
        /// Nearest texels of two levels, blended.
        3 NearestMipLinear "near_mip_lin",
        /// Bilinear in the nearest level.
        4 LinearMipNearest "lin_mip_near",
        /// Bilinear in two levels, blended.
        5 LinearMipLinear "lin_mip_lin",
    }
    /// What lies outside 0..1 (textures.md §2).
    Wrap 2 {
        /// The texture again.
        0 Repeat "repeat",
        /// The edge texel.
        1 Clamp "clamp",
        /// The texture mirrored, every second time.
        2 Mirror "mirror",
        /// The border colour.
        3 Border "border",
    }
    /// Faces that a stencil word sets up (v3d.md §10.3).
    StencilFace 2 {
        /// Front faces.
        1 Front "front",
        /// Back faces.
        2 Back "back",
        /// Both.
        3 Both "both",
    }
    /// Write masks that fit a stencil word (v3d.md §10.3).
    StencilWriteMask 2 {
        /// 0x01
        0 Low1 "0x01",
        /// 0x03
        1 Low2 "0x03",
        /// 0x0f
        2 Low4 "0x0f",
        /// 0xff
        3 All "0xff",
    }
    /// What happens to the stored stencil (v3d.md §10.3).
    StencilOp 3 {
        /// Becomes 0.
        0 Zero "zero",
        /// Stays.
        1 Keep "keep",
        /// Becomes the reference.
        2 Replace "replace",
        /// Plus one, at most 255.
        3 IncrementClamp "inc_sat",
        /// Minus one, at least 0.
        4 DecrementClamp "dec_sat",
        /// All bits inverted.
        5 Invert "invert",
        /// Plus one, 255 becomes 0.
        6 IncrementWrap "inc_wrap",
        /// Minus one, 0 becomes 255.
        7 DecrementWrap "dec_wrap",
    }
    /// Width of the elements of a VPM access (v3d.md §7.1).
    VpmSize 2 {
        /// 8 bits.
        0 Bits8 "8",
        /// 16 bits.
        1 Bits16 "16",
        /// 32 bits.
        2 Bits32 "32",
    }
}

words! {
    /// Texture word p0 (textures.md §2).
    TextureP0 "aaaa aaaa aaaa aaaa aaaa ss c f tttt llll" {
        /// Level 0.
        'a' base: Addr<12> = Addr::ZERO,
        /// Undocumented; 0.
        's' cache_swizzle: Bits<2> = Bits::low(0),
        /// Six faces.
        'c' cube: bool = false,
        /// Rows in reverse order.
        'f' flip_y: bool = false,
        /// Low bits of the type.
        't' type_low: Bits<4> = Bits::low(0),
        /// Mip levels minus one.
        'l' last_level: Bits<4> = Bits::low(0),
    }
    /// Texture word p1 (textures.md §2).
    TextureP1 "t hhhhhhhhhhh e wwwwwwwwwww m nnn yy xx" {
        /// High bit of the type.
        't' type_high: bool = false,
        /// Height of level 0 in texels, 1 to 2048.
        'h' height: Count<11> = Count::ONE,
        /// Set for ETC1 whose first row of a block comes first in memory.
        'e' etc_flip: bool = false,
        /// Width of level 0 in texels, 1 to 2048.
        'w' width: Count<11> = Count::ONE,
        /// Magnification.
        'm' mag: MagFilter = MagFilter::Linear,
        /// Minification.
        'n' min: MinFilter = MinFilter::Linear,
        /// Wrapping of t.
        'y' wrap_t: Wrap = Wrap::Repeat,
        /// Wrapping of s.
        'x' wrap_s: Wrap = Wrap::Repeat,
    }
    /// Texture word p2 or p3, kind 1: cube stride and explicit LOD (textures.md §2).
    TextureCube "01 ssssssssssssssssss 00000000000 b" {
        /// Distance between faces; zero for explicit LOD on a 2D texture.
        's' stride: Pages<18> = Pages::ZERO,
        /// Use the B coordinate as the LOD instead of adding it.
        'b' explicit_lod: bool = false,
    }
    /// Texture word p2 or p3, kind 2: size of a child image (textures.md §2).
    TextureChildSize "10 0000000 hhhhhhhhhhh 0 wwwwwwwwwww" {
        /// Rows.
        'h' height: Bits<11> = Bits::low(0),
        /// Columns.
        'w' width: Bits<11> = Bits::low(0),
    }
    /// Texture word p2 or p3, kind 3: place of a child image (textures.md §2).
    TextureChildOffset "11 0000000 yyyyyyyyyyy 0 xxxxxxxxxxx" {
        /// First row.
        'y' y: Bits<11> = Bits::low(0),
        /// First column.
        'x' x: Bits<11> = Bits::low(0),
    }
    /// Stencil set-up of one or both faces (v3d.md §10.3). Writing it enables the test for those faces.
    StencilSetup "ff ww ddd zzz sss ccc rrrrrrrr mmmmmmmm" {
        /// Faces.
        'f' face: StencilFace = StencilFace::Both,
        /// Bits that change; other masks need [`StencilMasks`].
        'w' write_mask: StencilWriteMask = StencilWriteMask::All,
        /// Stencil passes, depth fails.
        'd' depth_fail: StencilOp = StencilOp::Keep,
        /// Both pass.
        'z' depth_pass: StencilOp = StencilOp::Keep,
        /// Stencil fails.
        's' stencil_fail: StencilOp = StencilOp::Keep,
        /// (reference & mask) func (stored & mask).
        'c' func: CompareFunc = CompareFunc::Always,
        /// Reference.
        'r' reference: u8 = 0,
        /// Bits that are compared.
        'm' compare_mask: u8 = 0xff,
    }
    /// Full stencil write masks, after the set-up words (v3d.md §10.3).
    StencilMasks "00 00000000000000 bbbbbbbb ffffffff" {
        /// Of back faces.
        'b' back: u8 = 0xff,
        /// Of front faces.
        'f' front: u8 = 0xff,
    }
    /// VPM read set-up (v3d.md §7.1).
    VpmRead "00 000000 nnnn 00 ssssss h l zz aaaaaaaa" {
        /// Vectors to read.
        'n' count: Count<4> = Count::MAX,
        /// Rows or columns between vectors.
        's' stride: Count<6> = Count::ONE,
        /// A vector is a row.
        'h' horizontal: bool = true,
        /// Elements below 32 bits are interleaved, not packed.
        'l' laned: bool = false,
        /// Size of elements.
        'z' size: VpmSize = VpmSize::Bits32,
        /// First vector; the row for horizontal 32-bit access.
        'a' address: u8 = 0,
    }
    /// VPM write set-up (v3d.md §7.1).
    VpmWrite "00 000000000000 ssssss h l zz aaaaaaaa" {
        /// Rows or columns between vectors.
        's' stride: Count<6> = Count::ONE,
        /// A vector is a row.
        'h' horizontal: bool = true,
        /// Elements below 32 bits are interleaved, not packed.
        'l' laned: bool = false,
        /// Size of elements.
        'z' size: VpmSize = VpmSize::Bits32,
        /// First vector; the row for horizontal 32-bit access.
        'a' address: u8 = 0,
    }
    /// Flags of the GL shader record, its first 16 bits (v3d.md §6.1).
    ShaderFlags "0000000000000 c p s" {
        /// Clip primitives.
        'c' clipping: bool = false,
        /// Shaded vertices carry a point size.
        'p' point_size: bool = false,
        /// The fragment program runs alone in its QPU.
        's' single_threaded: bool = false,
    }
}

/// A texture as words p0 and p1 describe it, with the type in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextureWords {
    /// The type.
    pub ty: TextureType,
    /// Word p0; its `type_low` is ignored when packing.
    pub p0: TextureP0,
    /// Word p1; its `type_high` is ignored when packing.
    pub p1: TextureP1,
}

impl TextureWords {
    /// Words p0 and p1.
    pub fn bits(&self) -> [u32; 2] {
        let p0 = TextureP0 { type_low: Bits::low(self.ty.code()), ..self.p0 };
        let p1 = TextureP1 { type_high: self.ty.code() & 16 != 0, ..self.p1 };
        [p0.bits(), p1.bits()]
    }

    /// Reads words p0 and p1.
    pub fn from_bits(p0: u32, p1: u32) -> Result<Self, WordError> {
        let (p0, p1) = (TextureP0::from_bits(p0)?, TextureP1::from_bits(p1)?);
        let code = p0.type_low.get() | u32::from(p1.type_high) << 4;
        let ty = TextureType::from_code(code).ok_or(WordError::BadCode {
            word: "TextureWords",
            field: "ty",
            code,
        })?;
        Ok(TextureWords { ty, p0, p1 })
    }

    /// Mip levels, 1 to 16.
    pub fn levels(&self) -> u32 {
        self.p0.last_level.get() + 1
    }
}

/// Texture word p2 or p3 (textures.md §2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextureExtra {
    /// Kind 0: nothing.
    Unused,
    /// Kind 1.
    Cube(TextureCube),
    /// Kind 2.
    ChildSize(TextureChildSize),
    /// Kind 3.
    ChildOffset(TextureChildOffset),
}

impl TextureExtra {
    /// The word.
    pub fn bits(&self) -> u32 {
        match self {
            TextureExtra::Unused => 0,
            TextureExtra::Cube(word) => word.bits(),
            TextureExtra::ChildSize(word) => word.bits(),
            TextureExtra::ChildOffset(word) => word.bits(),
        }
    }

    /// Reads the word by its kind in bits 31:30; the other bits of kind 0 have no meaning.
    pub fn from_bits(bits: u32) -> Result<Self, WordError> {
        match bits >> 30 {
            0 => Ok(TextureExtra::Unused),
            1 => TextureCube::from_bits(bits).map(TextureExtra::Cube),
            2 => TextureChildSize::from_bits(bits).map(TextureExtra::ChildSize),
            _ => TextureChildOffset::from_bits(bits).map(TextureExtra::ChildOffset),
        }
    }
}

/// A word written to the stencil set-up register (v3d.md §10.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StencilWord {
    /// Set-up of faces.
    Setup(StencilSetup),
    /// Full write masks.
    Masks(StencilMasks),
}

impl StencilWord {
    /// The word.
    pub fn bits(&self) -> u32 {
        match self {
            StencilWord::Setup(word) => word.bits(),
            StencilWord::Masks(word) => word.bits(),
        }
    }

    /// Reads the word by its kind in bits 31:30.
    pub fn from_bits(bits: u32) -> Result<Self, WordError> {
        match bits >> 30 {
            0 => StencilMasks::from_bits(bits).map(StencilWord::Masks),
            _ => StencilSetup::from_bits(bits).map(StencilWord::Setup),
        }
    }
}

impl StencilWriteMask {
    /// The mask in bits.
    pub const fn mask(self) -> u8 {
        match self {
            StencilWriteMask::Low1 => 0x01,
            StencilWriteMask::Low2 => 0x03,
            StencilWriteMask::Low4 => 0x0f,
            StencilWriteMask::All => 0xff,
        }
    }

    /// The code of a mask; `None` if it needs the full form.
    pub fn from_mask(mask: u8) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.mask() == mask)
    }
}
