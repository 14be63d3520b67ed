//! Configuration words decoded into a texture (textures.md §2) with its mip levels placed (§4).

use super::TmuFault;
use super::texel::Format;

/// How many levels the largest texture has.
const MAX_LEVELS: usize = 12;

/// What happens to coordinates outside of the texture, in code order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrap {
    Repeat,
    Clamp,
    Mirror,
    Border,
}

/// How the minification filter uses the mip chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mip {
    /// Level 0 only.
    None,
    Nearest,
    Linear,
}

/// Arrangement of a level's pixels in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    Raster { stride: u32 },
    Lt { utiles_per_row: u32 },
    T { tiles_per_row: u32 },
}

/// One mip level.
///
/// UNVERIFIED: do the coordinates of an NPOT level scale by w >> i while pitch and placement follow the
/// power-of-two container? Assumed here, as Mesa's images demand (textures.md §4.4).
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    /// Bus address of the first face.
    pub base: u32,
    /// Size in pixels that coordinates are scaled to.
    pub width: u32,
    pub height: u32,
    pub layout: Layout,
}

/// A texture as one request describes it.
#[derive(Clone, Debug)]
pub(super) struct Texture {
    pub format: Format,
    pub cube: bool,
    pub flip_y: bool,
    /// Ordinary ETC1 blocks: the first row of a block is its upper one.
    pub etc_upright: bool,
    pub mag_linear: bool,
    pub min_linear: bool,
    pub mip: Mip,
    pub wrap_s: Wrap,
    pub wrap_t: Wrap,
    pub cube_stride: u32,
    /// The b parameter is the LOD, not a bias.
    pub explicit_lod: bool,
    pub levels: Vec<Level>,
}

fn bits(word: u32, high: u32, low: u32) -> u32 {
    word >> low & ((1 << (high - low + 1)) - 1)
}

fn wrap(code: u32) -> Wrap {
    [Wrap::Repeat, Wrap::Clamp, Wrap::Mirror, Wrap::Border][code as usize & 3]
}

impl Texture {
    /// Decodes P0 to P3; unwritten words are zero.
    pub fn decode(words: &[u32; 4]) -> Result<Texture, TmuFault> {
        let [p0, p1, ..] = *words;
        let code = bits(p0, 7, 4) | bits(p1, 31, 31) << 4;
        let format = Format::from_code(code).ok_or_else(|| {
            unsupported(format!("texture type {code} is refused by the kernel (TEX rules)"))
        })?;
        if bits(p0, 11, 10) != 0 {
            return Err(unsupported("cache swizzle is undocumented; write 0".into()));
        }
        let (min_linear, mip) = match bits(p1, 6, 4) {
            0 => (true, Mip::None),
            1 => (false, Mip::None),
            2 => (false, Mip::Nearest),
            3 => (false, Mip::Linear),
            4 => (true, Mip::Nearest),
            5 => (true, Mip::Linear),
            other => return Err(unsupported(format!("min filter {other} is undefined"))),
        };
        let size = |field: u32| if field == 0 { 2048 } else { field };
        let (width, height) = (size(bits(p1, 18, 8)), size(bits(p1, 30, 20)));
        let count = bits(p0, 3, 0) as usize + 1;
        if count > MAX_LEVELS {
            return Err(unsupported(format!("{count} mip levels; the largest texture has {MAX_LEVELS}")));
        }
        let mut texture = Texture {
            format,
            cube: bits(p0, 9, 9) != 0,
            flip_y: bits(p0, 8, 8) != 0,
            etc_upright: bits(p1, 19, 19) != 0,
            mag_linear: bits(p1, 7, 7) == 0,
            min_linear,
            mip,
            wrap_t: wrap(bits(p1, 3, 2)),
            wrap_s: wrap(bits(p1, 1, 0)),
            cube_stride: 0,
            explicit_lod: false,
            levels: levels(format, p0 & 0xffff_f000, width, height, count),
        };
        for &word in &words[2..] {
            match bits(word, 31, 30) {
                0 => {}
                1 => {
                    texture.cube_stride = word & 0x3fff_f000;
                    texture.explicit_lod |= word & 1 != 0;
                }
                _ => {
                    return Err(unsupported("child images are not simulated; sample the whole image".into()));
                }
            }
        }
        if format == Format::S16 {
            // The type cannot be filtered (textures.md §3).
            (texture.mag_linear, texture.min_linear) = (false, false);
        }
        Ok(texture)
    }
}

fn unsupported(what: String) -> TmuFault {
    TmuFault::Unsupported(what)
}

/// Places the levels backwards from level 0 (textures.md §4.4).
fn levels(format: Format, base: u32, width: u32, height: u32, count: usize) -> Vec<Level> {
    let (bw, bh) = (width.div_ceil(format.block()), height.div_ceil(format.block()));
    let mut base = base;
    (0..count)
        .map(|i| {
            let container = |size: u32| {
                if i == 0 { size } else { (size.next_power_of_two() >> i).max(1) }
            };
            let (layout, bytes) = place(format, container(bw), container(bh));
            if i > 0 {
                base = base.wrapping_sub(bytes);
            }
            Level { base, width: (width >> i).max(1), height: (height >> i).max(1), layout }
        })
        .collect()
}

/// Layout and size in bytes of a level of `w` × `h` elements (textures.md §4.2, §4.3).
fn place(format: Format, w: u32, h: u32) -> (Layout, u32) {
    let cpp = format.bytes();
    let (uw, uh) = utile(cpp);
    if format == Format::Rgba32Raster {
        let stride = w.next_multiple_of(uw) * cpp;
        (Layout::Raster { stride }, stride * h)
    } else if w <= 4 * uw || h <= 4 * uh {
        let (pw, ph) = (w.next_multiple_of(uw), h.next_multiple_of(uh));
        (Layout::Lt { utiles_per_row: pw / uw }, pw * ph * cpp)
    } else {
        let (pw, ph) = (w.next_multiple_of(8 * uw), h.next_multiple_of(8 * uh));
        (Layout::T { tiles_per_row: pw / (8 * uw) }, pw * ph * cpp)
    }
}

/// Utile size in elements of `cpp` bytes (textures.md §4.1).
fn utile(cpp: u32) -> (u32, u32) {
    match cpp {
        1 => (8, 8),
        2 => (8, 4),
        4 => (4, 4),
        _ => (2, 4),
    }
}

impl Level {
    /// Byte offset of element (x, y), both inside of the level (textures.md §4.2).
    #[inline(always)]
    pub fn offset(&self, format: Format, x: u32, y: u32) -> u32 {
        let (cpp, sx, sy) = format.utile_shifts();
        match self.layout {
            Layout::Raster { stride } => y * stride + (x << cpp),
            Layout::Lt { utiles_per_row } => {
                let utile = (y >> sy) * utiles_per_row + (x >> sx);
                (utile << 6) + inner(cpp, sx, sy, x, y)
            }
            Layout::T { tiles_per_row } => {
                let (ux, uy) = (x >> sx, y >> sy);
                let (tx, ty) = (ux >> 3, uy >> 3);
                // Odd tile rows run backwards, and their subtile numbers differ in bit 1.
                let odd = ty & 1;
                let column = (tx ^ odd.wrapping_neg()).wrapping_add(odd * tiles_per_row);
                let subtile = (uy >> 2 & 1) ^ (ux >> 2 & 1) * 3 ^ odd << 1;
                ((ty * tiles_per_row).wrapping_add(column) << 12)
                    + (subtile << 10)
                    + ((uy & 3) << 8)
                    + ((ux & 3) << 6)
                    + inner(cpp, sx, sy, x, y)
            }
        }
    }
}

/// Byte offset inside of a utile.
#[inline(always)]
fn inner(cpp: u32, sx: u32, sy: u32, x: u32, y: u32) -> u32 {
    (((y & ((1 << sy) - 1)) << sx) + (x & ((1 << sx) - 1))) << cpp
}
