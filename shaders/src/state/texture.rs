//! How images are looked at through samplers: the draw-time key of a pipeline (T-TEX-KEY).

use vc4::cl::packets::CompareFunc;
use vc4::cl::words::Wrap;
use vc4::state::texture::MipMode;
use vc4::state::vertex_fetch::VertexFormat;

/// How the word that the TMU returns, or the words of a texel in memory, become four components.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TextureClass {
    /// Four bytes as fractions of 255: all types that the TMU expands to RGBA8888.
    #[default]
    Unorm8,
    /// As `Unorm8`, red, green and blue sRGB encoded.
    Srgb8,
    /// Z24 in bits 31:8, as a fraction of its largest value.
    Depth24,
    /// Bits 7:0 as an integer.
    Stencil8,
    /// The 32-bit word itself, which is a float or an integer.
    Word32,
    /// Fields as they lie in memory.
    Fields(VertexFormat),
    /// The same of a 16-bit texel whose bytes the TMU returns as bytes 0 and 3 (type LUMALPHA).
    SplitFields(VertexFormat),
}

impl TextureClass {
    /// Whether components are integers.
    pub fn is_integer(self) -> bool {
        match self {
            TextureClass::Stencil8 => true,
            TextureClass::Fields(format) | TextureClass::SplitFields(format) => format.numeric.is_integer(),
            _ => false,
        }
    }

    /// Components of a texel; what a lookup has beyond them is 0, and 1 in alpha.
    pub fn components(self) -> usize {
        match self {
            TextureClass::Unorm8 | TextureClass::Srgb8 => 4,
            TextureClass::Depth24 | TextureClass::Stencil8 | TextureClass::Word32 => 1,
            TextureClass::Fields(format) | TextureClass::SplitFields(format) => format.components(),
        }
    }
}

/// Where a component of a sample result comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TextureSwizzle {
    /// Component 0–3 of the texel.
    Component(u8),
    /// 0.
    Zero,
    /// 1, in the kind of number that the texel has.
    One,
}

/// How the texels of an image are decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextureDecode {
    /// Meaning of the word.
    pub class: TextureClass,
    /// View swizzle, after the exchange of red and blue that BGRA images need.
    pub swizzle: [TextureSwizzle; 4],
}

impl Default for TextureDecode {
    fn default() -> Self {
        let [r, g, b, a] = [0, 1, 2, 3].map(TextureSwizzle::Component);
        TextureDecode { class: TextureClass::default(), swizzle: [r, g, b, a] }
    }
}

/// Who finds a texel in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TextureAccess {
    /// The texture unit; arrays have one layer.
    #[default]
    Unit,
    /// The program, by direct lookups: rows in raster order, levels below each other
    /// ([`crate::binding::TextureValue::LevelRows`]).
    Direct {
        /// Bytes per texel (of a plane): 1, 2, 4, and in texel buffers 8 or 16.
        bytes: u8,
        /// Outside of the image along each axis.
        wrap: [Wrap; 3],
    },
    /// The program: samples of four in blocks of tiles, by direct lookups. Only fetches see such images.
    Samples,
    /// The texture unit, to which layers are the faces of a cube; it knows no wrapping there (T-ARRAY c). So are faces of
    /// cubes that have seams.
    Faces {
        /// Outside of the image along each axis.
        wrap: [Wrap; 3],
    },
    /// The texture unit, in a texture where strips of the image lie beside each other; the last texel of each is the next
    /// one's first ([`crate::binding::TextureValue::FoldStep`]).
    Folded {
        /// The axis that is cut into strips: 0 or 1.
        axis: u8,
        /// Outside of the image along each axis, where programs filter. The unit's filter clamps.
        wrap: [Wrap; 3],
    },
}

/// Who chooses levels and weighs texels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TextureFilter {
    /// The texture unit.
    #[default]
    Unit,
    /// The texture unit weighs texels at a level of detail that the program computes, with what it cannot do: bias,
    /// clamps, and levels that begin in the middle of an image (T-LOD).
    Level,
    /// The program: formats that the texture unit cannot filter, comparisons, decoding in front of the filter.
    Program {
        /// Magnified: weighs the texels around.
        mag_linear: bool,
        /// Minified: weighs the texels around.
        min_linear: bool,
        /// Levels.
        mip: MipMode,
        /// Coordinates count texels.
        unnormalized: bool,
    },
}

/// How an image is looked at through a sampler: the draw-time key of a pipeline (T-TEX-KEY).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextureKey {
    /// What texels mean.
    pub decode: TextureDecode,
    /// Images that hold a texel together, a word each: 1, or 2 or 4 of wide formats that were drawn to, by direct lookups.
    pub planes: u8,
    /// Columns lie in panels of rows ([`vc4::image::tiling::MAX_SURFACE`]), where programs find texels.
    pub panels: bool,
    /// Who finds them.
    pub access: TextureAccess,
    /// Who filters.
    pub filter: TextureFilter,
    /// Comparison with the reference, of samples that have one. Without, they pass where the reference is less.
    pub compare: Option<CompareFunc>,
    /// Coordinates outside of the image give the border colour.
    pub border: bool,
    /// Along which axes the image is mirrored at its origin, in front of all other wrapping.
    pub mirror_once: [bool; 3],
    /// Faces of cubes end at their edges, where they wrap as the access says.
    pub seams: bool,
    /// Samples of footprints that are longer than wide are averages of several.
    pub anisotropic: bool,
}

impl Default for TextureKey {
    fn default() -> Self {
        TextureKey {
            decode: TextureDecode::default(),
            planes: 1,
            panels: false,
            access: TextureAccess::Unit,
            filter: TextureFilter::Unit,
            compare: None,
            border: false,
            mirror_once: [false; 3],
            seams: false,
            anisotropic: false,
        }
    }
}

impl From<TextureDecode> for TextureKey {
    fn from(decode: TextureDecode) -> TextureKey {
        TextureKey { decode, ..TextureKey::default() }
    }
}
