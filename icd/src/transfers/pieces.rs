//! Rows of texels that the CPU copies between a buffer and an image.

use std::ops::Range;
use std::sync::Arc;

use ash::vk;
use vc4::image::Rect;

use super::texels::{Part, bands};
use crate::foundation::error::Error;
use crate::foundation::traffic::{Access, Cause};
use crate::objects::buffer::Buffer;
use crate::objects::device::Device;
use crate::objects::image::Image;
use crate::segments::{CpuCommand, Touch};

/// A part of an image, which is one layer's, and where it lies in a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// The part.
    pub part: Part,
    /// First byte in the buffer.
    pub offset: u64,
    /// Bytes from row to row in the buffer.
    pub pitch: u64,
    /// Bytes of a row in the buffer.
    pub row: usize,
    /// One aspect.
    pub aspect: vk::ImageAspectFlags,
}

impl Piece {
    /// Some of its rows.
    pub fn rows(&self, rows: Range<u32>) -> Piece {
        let part = self.part.rows(rows.start, rows.end.saturating_sub(rows.start));
        Piece { part, offset: self.offset + self.pitch * u64::from(rows.start), ..*self }
    }

    /// Some of its columns.
    pub fn columns(&self, columns: Range<u32>) -> Piece {
        let (rect, width) = (self.part.rect, columns.end - columns.start);
        let texel = self.texel();
        Piece {
            part: Part { rect: Rect { x: rect.x + columns.start, width, ..rect }, ..self.part },
            offset: self.offset + texel as u64 * u64::from(columns.start),
            row: texel * width as usize,
            ..*self
        }
    }

    /// What lies in a rectangle of the image.
    pub fn within(&self, rect: Rect) -> Piece {
        let own = self.part.rect;
        let (left, top) = (rect.x - own.x, rect.y - own.y);
        self.rows(top..top + rect.height).columns(left..left + rect.width)
    }

    /// Bytes of a texel in the buffer.
    pub fn texel(&self) -> usize {
        self.row / self.part.rect.width.max(1) as usize
    }

    /// Whether it has no texels.
    pub fn is_empty(&self) -> bool {
        self.part.rect.width == 0 || self.part.rect.height == 0
    }
}

/// Copies pieces between a buffer and an image.
pub(super) struct CopyPieces {
    /// The buffer.
    pub buffer: Arc<Buffer>,
    /// The image.
    pub image: Arc<Image>,
    /// What.
    pub pieces: Vec<Piece>,
    /// Whether the image is written.
    pub to_image: bool,
}

/// From where to where.
pub(super) fn way(buffer: &Buffer, image: &Image, to_image: bool) -> String {
    let (buffer, image) = (buffer.name(), image.name());
    match to_image {
        true => format!("buffer{buffer} to image{image}"),
        false => format!("image{image} to buffer{buffer}"),
    }
}

impl CpuCommand for CopyPieces {
    fn describe(&self) -> String {
        let way = way(&self.buffer, &self.image, self.to_image);
        format!("copy {} pieces from {way}", self.pieces.len())
    }

    fn touches(&self) -> Touch {
        Touch::memory([self.buffer.binding(), self.image.binding()])
    }

    fn run(&self, _: &Arc<Device>) -> Result<(), Error> {
        self.pieces.iter().try_for_each(|piece| match self.to_image {
            true => self.upload(piece),
            false => self.download(piece),
        })
    }
}

impl CopyPieces {
    fn cause(&self) -> Cause {
        if self.to_image { Cause::Upload } else { Cause::Copy }
    }

    /// Calls `row` with the place in the buffer of every row of a band, and where the row stands in the band's bytes.
    fn rows(
        &self,
        piece: &Piece,
        band: Range<u32>,
        mut row: impl FnMut(Range<usize>, &Access<'_>, usize),
    ) -> Result<(), Error> {
        for (index, y) in band.enumerate() {
            let offset = piece.offset.saturating_add(u64::from(y).saturating_mul(piece.pitch));
            let (memory, at) = self.buffer.access(offset, piece.row as u64, self.cause())?;
            row(index * piece.row..(index + 1) * piece.row, &memory, at);
        }
        Ok(())
    }

    fn upload(&self, piece: &Piece) -> Result<(), Error> {
        let mut texels = Vec::new();
        for band in bands(piece.part.rect.height) {
            let part = piece.part.rows(band.start, band.len() as u32);
            texels.resize(piece.row * band.len(), 0);
            self.rows(piece, band, |bytes, memory, at| memory.read(at, &mut texels[bytes]))?;
            part.write(&self.image, piece.aspect, &texels, self.cause())?;
        }
        Ok(())
    }

    fn download(&self, piece: &Piece) -> Result<(), Error> {
        for band in bands(piece.part.rect.height) {
            let texels = piece.part.rows(band.start, band.len() as u32).read(
                &self.image,
                piece.aspect,
                self.cause(),
            )?;
            self.rows(piece, band, |bytes, memory, at| memory.write(at, &texels[bytes]))?;
        }
        Ok(())
    }
}
