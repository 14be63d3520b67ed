//! Texture samples (kernel-abi.md §9): the configuration words against the BO they sample.

use super::bo::BoInfo;
use super::raw::RawField;
use super::rule::Rule;
use super::surface;
use super::violation::{Mode, Place, Violation};
use vc4::cl::packets::Tiling;
use vc4::cl::words::{TextureCube, TextureP0, TextureP1, TextureType};

/// Bytes of a direct lookup.
const WORD: u32 = 4;
/// Faces of a cube map behind the first.
const MORE_FACES: u32 = 5;

const fn p0_field(name: &str) -> RawField {
    RawField::of(TextureP0::FIELDS, name)
}
const fn p1_field(name: &str) -> RawField {
    RawField::of(TextureP1::FIELDS, name)
}

/// Checks one sample with its words P0 to P3 and answers the relocated P0.
pub fn check(
    bos: &[BoInfo<'_>],
    bo_index: u32,
    direct: bool,
    p: [Option<u32>; 4],
    place: Place,
    mode: Mode,
) -> Result<u32, Violation> {
    let fail = |rule, what: String| Err(Violation::new(rule, place, what));
    let bo = match bos.get(bo_index as usize) {
        Some(bo) if bo.shader.is_none() => bo,
        Some(_) => return fail(Rule::Tex1, format!("BO {bo_index} is a shader")),
        None => return fail(Rule::Tex1, format!("BO {bo_index} of {}", bos.len())),
    };
    let [p0, p1, p2, p3] = p.map(|word| word.unwrap_or(0));
    let result = if direct {
        direct_lookup(bo, p0, p1)
    } else {
        Texture::of(p0, p1, p2, p3).and_then(|texture| texture.fits(bo, mode))
    };
    match result {
        Ok(()) => Ok(bo.bus_address.wrapping_add(p0)),
        Err((rule, what)) => fail(
            rule,
            format!(
                "{what} (BO {bo_index} has {} bytes; p0 {p0:#010x} p1 {p1:#010x} p2 {p2:#010x} p3 {p3:#010x})",
                bo.size
            ),
        ),
    }
}

/// A broken rule before its place is known.
type Broken = (Rule, String);

/// TEX-2, TEX-3.
fn direct_lookup(bo: &BoInfo<'_>, offset: u32, clamp: u32) -> Result<(), Broken> {
    let Some(room) = bo.size.checked_sub(WORD).and_then(|last| last.checked_sub(offset)) else {
        return Err((Rule::Tex2, format!("direct lookup at offset {offset:#x}")));
    };
    if clamp > room {
        return Err((
            Rule::Tex3,
            format!("direct lookup at offset {offset:#x} clamped to {clamp:#x}, at most {room:#x} fits"),
        ));
    }
    Ok(())
}

/// A texture as the kernel sees it; ETC1 sizes are in blocks.
struct Texture {
    base: u32,
    cube_stride: u32,
    last_level: u32,
    width: u32,
    height: u32,
    cpp: u32,
    tiling: Tiling,
}

impl Texture {
    fn of(p0: u32, p1: u32, p2: u32, p3: u32) -> Result<Texture, Broken> {
        const BASE: RawField = p0_field("base");
        const LAST_LEVEL: RawField = p0_field("last_level");
        const CUBE: RawField = p0_field("cube");
        const WIDTH: RawField = p1_field("width");
        const HEIGHT: RawField = p1_field("height");
        let (p0, p1) = (u128::from(p0), u128::from(p1));
        let cube_stride = if CUBE.get(p0) != 0 { cube_stride(p2, p3)? } else { 0 };
        let (ty, cpp) = kind(p0, p1)?;
        let edge = |field: RawField| match field.get(p1) {
            0 => vc4::hw::TEXTURE_MAX_PX,
            edge => edge,
        };
        let blocks = |edge: u32| if ty == TextureType::Etc1 { edge.div_ceil(4) } else { edge };
        let (width, height) = (blocks(edge(WIDTH)), blocks(edge(HEIGHT)));
        let tiling = match ty {
            TextureType::Rgba32R => Tiling::Raster,
            _ => surface::sampled(width, height, cpp),
        };
        let base = BASE.get(p0) << 12;
        Ok(Texture { base, cube_stride, last_level: LAST_LEVEL.get(p0), width, height, cpp, tiling })
    }

    /// TEX-6, TEX-7.
    fn fits(&self, bo: &BoInfo<'_>, mode: Mode) -> Result<(), Broken> {
        let size = size(self.tiling, self.width, self.height, self.cpp);
        let faces = if mode == Mode::Strict {
            u64::from(self.cube_stride) * u64::from(MORE_FACES)
        } else {
            // The kernel computes this in 32 bits, and the sum with the base as well.
            u64::from(self.cube_stride.wrapping_mul(MORE_FACES))
        };
        let mut last_face = u64::from(self.base) + faces;
        if mode == Mode::Faithful {
            last_face &= u64::from(u32::MAX);
        }
        if last_face + u64::from(size) > u64::from(bo.size) {
            return Err((
                Rule::Tex6,
                format!(
                    "level 0, {}: {size} bytes at offset {last_face:#x}",
                    self.shape(self.width, self.height)
                ),
            ));
        }
        self.levels_fit()
    }

    /// The levels stand below the base, the largest next to it (textures.md §4.4).
    fn levels_fit(&self) -> Result<(), Broken> {
        let (mut offset, mut tiling) = (self.base, self.tiling);
        for level in 1..=self.last_level {
            let (width, height) = ((self.width >> level).max(1), (self.height >> level).max(1));
            if tiling == Tiling::T {
                tiling = surface::sampled(width, height, self.cpp);
            }
            let size = size(tiling, width, height, self.cpp);
            offset = offset.checked_sub(size).ok_or_else(|| {
                let what = format!("level {level}, {width}x{height}: {size} bytes below offset {offset:#x}");
                (Rule::Tex7, what)
            })?;
        }
        Ok(())
    }

    fn shape(&self, width: u32, height: u32) -> String {
        format!("{width}x{height} of {} bytes, {} layout", self.cpp, self.tiling.name())
    }
}

/// Bytes of a level; textures are too small to have no size.
fn size(tiling: Tiling, width: u32, height: u32, cpp: u32) -> u32 {
    surface::size(tiling, width, height, cpp).unwrap_or(u32::MAX)
}

/// TEX-4.
fn cube_stride(p2: u32, p3: u32) -> Result<u32, Broken> {
    const STRIDE: RawField = RawField::of(TextureCube::FIELDS, "stride");
    // The two highest bits say what such a word is (qpu.md §4.5).
    let kind = |word: u32| word >> 30;
    let stride = |word: u32| {
        let is_cube = kind(word) == kind(TextureCube::default().bits());
        is_cube.then(|| STRIDE.get(word.into()) << 12)
    };
    match (stride(p2).unwrap_or(0), stride(p3)) {
        (0, None | Some(0)) => Err((Rule::Tex4, "cube map without a stride".to_owned())),
        (0, Some(stride)) | (stride, None) => Ok(stride),
        (_, Some(_)) => Err((Rule::Tex4, "cube map with two strides".to_owned())),
    }
}

/// TEX-5: the type and its bytes per texel, or per block for ETC1.
fn kind(p0: u128, p1: u128) -> Result<(TextureType, u32), Broken> {
    const TYPE_LOW: RawField = p0_field("type_low");
    const TYPE_HIGH: RawField = p1_field("type_high");
    let code = TYPE_LOW.get(p0) | TYPE_HIGH.get(p1) << 4;
    let refused = |name: &str| (Rule::Tex5, format!("texture type {code} ({name})"));
    let ty = TextureType::from_code(code).ok_or_else(|| refused("reserved"))?;
    let cpp = match ty {
        TextureType::Rgba8888 | TextureType::Rgbx8888 | TextureType::Rgba32R => 4,
        TextureType::Rgba4444
        | TextureType::Rgba5551
        | TextureType::Rgb565
        | TextureType::LumAlpha
        | TextureType::S16F
        | TextureType::S16 => 2,
        TextureType::Luminance | TextureType::Alpha | TextureType::S8 => 1,
        TextureType::Etc1 => 8,
        TextureType::Bw1
        | TextureType::A4
        | TextureType::A1
        | TextureType::Rgba64
        | TextureType::Yuyv422R => return Err(refused(ty.name())),
    };
    Ok((ty, cpp))
}

#[cfg(test)]
mod tests {
    use super::*;
    use vc4::cl::{Bits, Count};

    /// A sample of `p0`, `p1` and more words in a BO of `size` bytes.
    fn rule(size: u32, p0: TextureP0, p1: TextureP1, more: [Option<u32>; 2], mode: Mode) -> Option<Rule> {
        let bos = [BoInfo { bus_address: 0x1000_0000, size, shader: None }];
        let p = [Some(p0.bits()), Some(p1.bits()), more[0], more[1]];
        match check(&bos, 0, false, p, Place::Sample(0, "FS", 0), mode) {
            Ok(relocated) => {
                assert_eq!(relocated, 0x1000_0000 + p0.bits());
                None
            }
            Err(violation) => Some(violation.rule),
        }
    }

    fn ty(code: u32) -> (TextureP0, TextureP1) {
        let p0 = TextureP0 { type_low: Bits::low(code), ..Default::default() };
        (p0, TextureP1 { type_high: code >= 16, ..Default::default() })
    }

    fn sized(p1: TextureP1, width: u32, height: u32) -> TextureP1 {
        TextureP1 { width: Count::new(width).unwrap(), height: Count::new(height).unwrap(), ..p1 }
    }

    #[test]
    fn types_of_tex_5() {
        for code in 0..32 {
            let (p0, p1) = ty(code);
            let expected = (!matches!(code, 0..=11 | 16)).then_some(Rule::Tex5);
            assert_eq!(rule(4096, p0, p1, [None; 2], Mode::Faithful), expected, "type {code}");
        }
    }

    #[test]
    fn sizes_of_level_0() {
        // Type, width, height, bytes: textures.md §4.1 and §4.2 by hand.
        let cases = [
            (0, 2048, 2048, 2048 * 2048 * 4),
            (5, 32, 32, 1024),
            (5, 33, 33, 4096),
            (4, 33, 17, 64 * 32 * 2),
            (8, 64, 64, 2048),
            (8, 1, 1, 64),
            (16, 5, 3, 8 * 4 * 3),
        ];
        for (code, width, height, bytes) in cases {
            let (p0, p1) = ty(code);
            let p1 = sized(p1, width, height);
            let rule = |size| rule(size, p0, p1, [None; 2], Mode::Strict);
            assert_eq!(rule(bytes), None, "type {code}, {width}x{height}");
            assert_eq!(rule(bytes - 1), Some(Rule::Tex6), "type {code}, {width}x{height}");
        }
    }

    #[test]
    fn cube_strides() {
        let p0 = TextureP0 { cube: true, ..Default::default() };
        let p1 = sized(TextureP1::default(), 4, 4);
        let word = |stride: u32| Some(1 << 30 | stride);
        let rule = |more| rule(5 * 4096 + 64, p0, p1, more, Mode::Strict);
        assert_eq!(rule([word(4096), None]), None);
        assert_eq!(rule([Some(0), word(4096)]), None);
        assert_eq!(rule([word(0), word(4096)]), None);
        assert_eq!(rule([word(8192), None]), Some(Rule::Tex6));
        assert_eq!(rule([None, None]), Some(Rule::Tex4));
        assert_eq!(rule([word(0), None]), Some(Rule::Tex4));
        assert_eq!(rule([word(4096), word(4096)]), Some(Rule::Tex4));
        assert_eq!(rule([Some(2 << 30 | 4096), None]), Some(Rule::Tex4));
    }

    #[test]
    fn the_chain_of_the_manual() {
        // textures.md §4.5: the kernel's levels are never larger than the real ones.
        let p1 = sized(TextureP1::default(), 100, 60);
        let at = |page: u32| TextureP0 {
            base: vc4::cl::Addr::new(page << 12).unwrap(),
            last_level: Bits::low(6),
            ..Default::default()
        };
        assert_eq!(rule(45056, at(3), p1, [None; 2], Mode::Strict), None);
        assert_eq!(rule(45055, at(3), p1, [None; 2], Mode::Strict), Some(Rule::Tex6));
        assert_eq!(rule(45056, at(2), p1, [None; 2], Mode::Strict), Some(Rule::Tex7));
    }
}
