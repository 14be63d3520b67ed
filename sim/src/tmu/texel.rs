//! Texels as the unit returns them (textures.md §3).

use vc4::cl::words::TextureType;
use vc4::facts::{ChannelBits, Facts, SingleChannel};

use super::etc1;
use super::texture::{Level, Texture, element};
use crate::memory::{BusError, Memory};

/// UNVERIFIED: how are channels of 1, 4, 5 or 6 bits expanded to 8? By repeating their bits (textures.md §3).
#[inline(always)]
const fn expand(fact: ChannelBits, value: u32, bits: u32) -> u32 {
    match bits {
        1 => value * 255,
        _ if matches!(fact, ChannelBits::Zeros) => value << (8 - bits),
        4 => value * 17,
        5 => value << 3 | value >> 2,
        _ => value << 2 | value >> 4,
    }
}

/// UNVERIFIED: where in r4 do types 9, 10 and 11 put their sample? In the low half or byte (textures.md §3).
#[inline(always)]
const fn single(fact: SingleChannel, sample: u32, bits: u32) -> u32 {
    match fact {
        SingleChannel::Low => sample,
        SingleChannel::High => sample << (32 - bits),
    }
}

/// How a machine shows texels.
#[derive(Clone, Copy)]
pub(super) struct Channels {
    bits: ChannelBits,
    single: SingleChannel,
}

impl Channels {
    pub(super) const fn of(facts: &Facts) -> Channels {
        Channels { bits: facts.channel_bits, single: facts.single_channel }
    }

    /// The arrangement of r4, from an element of 1, 2 or 4 bytes.
    #[inline(always)]
    pub(super) fn texel(self, ty: TextureType, raw: u32) -> u32 {
        let channels = |fields| channels(self.bits, raw, fields);
        match ty {
            TextureType::Rgbx8888 => raw | 0xff00_0000,
            TextureType::Luminance => (raw * 0x01_0101) | 0xff00_0000,
            TextureType::Alpha => raw << 24,
            TextureType::S8 => single(self.single, raw, 8),
            TextureType::LumAlpha => ((raw & 255) * 0x01_0101) | (raw >> 8 << 24),
            TextureType::S16F | TextureType::S16 => single(self.single, raw, 16),
            TextureType::Rgba4444 => channels([(12, 4), (8, 4), (4, 4), (0, 4)]),
            TextureType::Rgba5551 => channels([(11, 5), (6, 5), (1, 5), (0, 1)]),
            TextureType::Rgb565 => channels([(11, 5), (5, 6), (0, 5), (0, 0)]) | 0xff00_0000,
            // The decoder admits no other type than the two plain ones.
            _ => raw,
        }
    }
}

impl Texture {
    /// Column and row in the whole level; a child image that reaches beyond it repeats the last ones.
    fn place(&self, level: &Level, x: u32, y: u32) -> (u32, u32) {
        let (x, y) = ((x + level.origin.0).min(level.last.0), (y + level.origin.1).min(level.last.1));
        (x, if self.flip_y { level.last.1 - y } else { y })
    }

    /// Bus address of the element that holds the texel at (x, y) of a level, both in range.
    pub(super) fn address(&self, level: &Level, face: u32, x: u32, y: u32) -> u32 {
        let (x, y) = self.place(level, x, y);
        let block = if self.ty == TextureType::Etc1 { 4 } else { 1 };
        let face = level.base.wrapping_add(face.wrapping_mul(self.cube_stride));
        face.wrapping_add(level.map.offset_of(x / block, y / block))
    }

    /// The texel at (x, y) of a level, both in range, in the arrangement of r4.
    pub(super) fn texel(
        &self,
        memory: &Memory,
        level: &Level,
        face: u32,
        x: u32,
        y: u32,
    ) -> Result<u32, BusError> {
        let at = self.address(level, face, x, y);
        let raw = match element(self.ty) {
            Some((8, _)) => {
                let (x, y) = self.place(level, x, y);
                let row = if self.etc_upright { y & 3 } else { 3 - (y & 3) };
                let mut block = [0; 8];
                memory.read_bytes(at, &mut block)?;
                return Ok(etc1::pixel(u64::from_be_bytes(block), x & 3, row));
            }
            Some((1, _)) => memory.read_u8(at)?.into(),
            Some((2, _)) => memory.read_u16(at)?.into(),
            _ => memory.read(at)?,
        };
        Ok(Channels::of(&self.facts).texel(self.ty, raw))
    }
}

/// R, G, B, A from fields of (lowest bit, width).
#[inline(always)]
fn channels(fact: ChannelBits, word: u32, fields: [(u32, u32); 4]) -> u32 {
    let channel = |(low, bits): (u32, u32)| expand(fact, word >> low & ((1 << bits) - 1), bits) & 255;
    u32::from_le_bytes(fields.map(|field| channel(field) as u8))
}
