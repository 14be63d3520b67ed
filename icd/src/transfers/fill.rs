//! What clears give to texels.

use ash::vk;
use vc4::image::format::depth_to_unorm24;

use super::conversion::Conversion;
use crate::foundation::error::Error;
use crate::foundation::format::{FormatRow, Stored};
use crate::objects::image_view::ImageView;

/// The four words of a clear value, whatever their type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClearWords(pub [u32; 4]);

impl ClearWords {
    /// As a float colour.
    pub fn color(&self) -> [f32; 4] {
        self.0.map(f32::from_bits)
    }

    /// As a depth.
    pub fn depth(&self) -> f32 {
        f32::from_bits(self.0[0])
    }

    /// As a stencil value.
    pub fn stencil(&self) -> u32 {
        self.0[1]
    }
}

/// What texels become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// The texel as the image holds it, from its first byte on.
    pub words: [u32; 4],
    /// Bits of each word that change.
    pub mask: u32,
}

impl Fill {
    /// A colour, as the view's image holds it.
    pub fn color(view: &ImageView, value: ClearWords) -> Result<Fill, Error> {
        Fill::stored_color(view.row, view.stored, value)
    }

    /// A colour of a format, as it is stored.
    pub(super) fn stored_color(row: &FormatRow, stored: Stored, value: ClearWords) -> Result<Fill, Error> {
        let info = row.info.filter(|_| row.block() == 1);
        let info = info.ok_or_else(|| Error::InvalidUse(format!("{:?} as a colour", row.format)))?;
        let texel = info.encode(value.0).to_le_bytes();
        let conversion = Conversion::new(row, stored.storage, vk::ImageAspectFlags::COLOR);
        let words = conversion.to_words(&texel[..row.bytes as usize]);
        let word = |n: usize| {
            let byte = |byte: usize| words.get(4 * n + byte).copied().unwrap_or(0);
            u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)])
        };
        Ok(Fill { words: [word(0), word(1), word(2), word(3)], mask: u32::MAX })
    }

    /// The word of an attachment's texel in a plane.
    pub fn word(&self, plane: u8) -> u32 {
        self.words.get(usize::from(plane)).copied().unwrap_or(0)
    }

    /// The word of a plane's texels of `cpp` bytes that it consists of.
    pub(super) fn in_all_of_a_word(&self, plane: u8, cpp: u32) -> u32 {
        match cpp {
            1 => (self.word(plane) & 0xff) * 0x0101_0101,
            2 => (self.word(plane) & 0xffff) * 0x0001_0001,
            _ => self.word(plane),
        }
    }

    /// Depth, stencil or both.
    pub fn depth_stencil(aspects: vk::ImageAspectFlags, value: ClearWords) -> Fill {
        let bits = |aspect, bits| if aspects.contains(aspect) { bits } else { 0 };
        let mask = bits(vk::ImageAspectFlags::DEPTH, !0xff) | bits(vk::ImageAspectFlags::STENCIL, 0xff);
        let word = depth_to_unorm24(value.depth()) << 8 | value.stencil() & 0xff;
        Fill { words: [word, 0, 0, 0], mask }
    }
}
