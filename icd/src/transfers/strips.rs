//! Words of buffers as pictures that jobs draw: rectangles in raster order that have no byte beside them.
//!
//! The rows of a surface in raster order are whole utiles of 16 words and end with its height (kernel-abi.md §5.7). So
//! nothing but the words of a strip is written: what lies beside them may be the host's.

use std::ops::Range;
use std::sync::Arc;

use vc4::hw::TILE_PX;
use vc4::state::PixelRect;

use super::worth::worth_a_job;
use crate::foundation::facts::target_px;
use crate::objects::buffer::Buffer;
use crate::objects::device::Device;
use crate::objects::image_view::ImageView;
use crate::objects::placement::SURFACE_ALIGNMENT;

/// Bytes of a word.
pub(super) const WORD: u64 = 4;

/// Some words of a buffer, one behind the other, as a picture.
pub(super) struct Strip {
    /// The picture.
    pub view: Arc<ImageView>,
    /// The first byte in the buffer.
    pub start: u64,
    /// Words of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Strip {
    /// A strip of a buffer, whose first byte a surface may have.
    fn new(device: &Device, buffer: &Buffer, start: u64, [width, height]: [u32; 2]) -> Result<Strip, String> {
        let binding = buffer.binding().map_err(|error| error.to_string())?.from(start);
        let view =
            ImageView::of_words(device, &binding, [width, height]).map_err(|error| error.to_string())?;
        Ok(Strip { view, start, width, height })
    }

    /// The first byte behind it.
    pub fn end(&self) -> u64 {
        self.start + WORD * u64::from(self.width) * u64::from(self.height)
    }

    /// Its first columns.
    pub fn columns(&self, columns: u32) -> PixelRect {
        PixelRect { left: 0, top: 0, right: columns as i32, bottom: self.height as i32 }
    }

    /// All of it.
    pub fn area(&self) -> PixelRect {
        self.columns(self.width)
    }
}

/// Bytes of a buffer as strips, one behind the other. Some of the first and last bytes may belong to none.
///
/// # Errors
/// They are too few, or the buffer has not so many.
pub(super) fn strips(device: &Device, buffer: &Buffer, bytes: Range<u64>) -> Result<Vec<Strip>, String> {
    if bytes.end > buffer.size() {
        return Err(format!("{bytes:?} leave a buffer of {} bytes", buffer.size()));
    }
    let start = first_aligned(buffer, bytes.start)?;
    let words = bytes.end.saturating_sub(start) / WORD;
    let mut strips = Vec::new();
    for (first, size) in cut(words, worth_a_job() / WORD) {
        strips.push(Strip::new(device, buffer, start + WORD * first, size)?);
    }
    if strips.is_empty() { Err("it has too few whole words".into()) } else { Ok(strips) }
}

/// Rows of a buffer that are whole words, `pitch` bytes from one to the next, as strips of complete rows: as many as the buffer has
/// all of.
///
/// # Errors
/// Surfaces have no such rows.
pub(super) fn rows(
    device: &Device,
    buffer: &Buffer,
    start: u64,
    pitch: u64,
    rows: u32,
) -> Result<Vec<Strip>, String> {
    let width = pitch / WORD;
    if pitch % (WORD * u64::from(TILE_PX)) != 0 || !(1..=u64::from(target_px())).contains(&width) {
        return Err(format!("its rows are {pitch} bytes apart"));
    }
    if first_aligned(buffer, start)? != start {
        return Err(format!("its rows begin at byte {start}"));
    }
    let complete = u64::from(rows).min(buffer.size().saturating_sub(start) / pitch) as u32;
    let strip = |first: u32| {
        let height = (complete - first).min(target_px());
        Strip::new(device, buffer, start + pitch * u64::from(first), [width as u32, height])
    };
    (0..complete).step_by(target_px() as usize).map(strip).collect()
}

/// The first byte from `start` on that a surface may have.
fn first_aligned(buffer: &Buffer, start: u64) -> Result<u64, String> {
    if start > buffer.size() {
        return Err(format!("byte {start} lies behind a buffer of {} bytes", buffer.size()));
    }
    let offset = buffer.binding().map_err(|error| error.to_string())?.offset;
    Ok((offset + start).next_multiple_of(SURFACE_ALIGNMENT.into()) - offset)
}

/// The first words and the sizes of pictures of so many words. What is less than `least` behind the first is left.
pub(super) fn cut(words: u64, least: u64) -> Vec<(u64, [u32; 2])> {
    let (mut pictures, mut first) = (Vec::new(), 0);
    loop {
        let left = words - first;
        let row = left.div_ceil(target_px().into()).next_multiple_of(TILE_PX.into());
        let width = row.min(target_px().into());
        let height = (left / width.max(1)).min(target_px().into());
        if height == 0 || (left < least && !pictures.is_empty()) {
            return pictures;
        }
        pictures.push((first, [width as u32, height as u32]));
        first += width * height;
    }
}

#[cfg(test)]
mod tests {
    use ash::vk;

    use super::*;
    use crate::objects::memory::{DeviceMemory, Origin};
    use crate::objects::memory_type::MemoryType;
    use crate::testing::device;

    #[test]
    fn words_are_cut_into_pictures_of_whole_rows() {
        assert_eq!(cut(0, 0), []);
        assert_eq!(cut(63, 0), []);
        assert_eq!(cut(64, 0), [(0, [64, 1])]);
        assert_eq!(cut(300_000, 4096), [(0, [192, 1562])]);
        // The largest, and what is behind it.
        let most = u64::from(target_px()).pow(2);
        assert_eq!(cut(most + 100_000, 4096), [(0, [2048, 2048]), (most, [64, 1562])]);
        assert_eq!(cut(most + 4000, 4096), [(0, [2048, 2048])]);
        for words in [4096, 12_345, 1_000_003, 9_999_999] {
            let mut next = 0;
            for (first, [width, height]) in cut(words, 4096) {
                assert_eq!(first, next);
                next += u64::from(width) * u64::from(height);
            }
            assert!(next <= words && words - next < 4096, "{} of {words} are left", words - next);
        }
    }

    fn buffer(size: u64, at: u64) -> Buffer {
        let buffer = Buffer::new(&device(), &vk::BufferCreateInfo { size, ..Default::default() }).unwrap();
        buffer
            .bind(&DeviceMemory::new(&device(), size + at, MemoryType::Device, Origin::Alone).unwrap(), at)
            .unwrap();
        buffer
    }

    #[test]
    fn strips_begin_where_surfaces_may_and_end_inside() {
        let buffer = buffer(100_000, 64);
        let strips = strips(&device(), &buffer, 4..100_000).unwrap();
        assert_eq!((strips[0].start, strips[0].width), (16, 64));
        assert!(strips.iter().all(|strip| strip.end() <= 100_000));
        let level = strips[0].view.image.level(0, 0).unwrap();
        assert_eq!((level.offset, level.stride), (64 + 16, 256));
    }

    #[test]
    fn bytes_outside_of_a_buffer_are_no_strips() {
        let buffer = buffer(8192, 0);
        assert!(strips(&device(), &buffer, 0..8193).is_err());
        assert!(strips(&device(), &buffer, 0..200).is_err());
        assert!(strips(&device(), &buffer, 8000..8000).is_err());
        let none =
            Buffer::new(&device(), &vk::BufferCreateInfo { size: 8192, ..Default::default() }).unwrap();
        assert!(strips(&device(), &none, 0..8192).is_err());
    }

    #[test]
    fn rows_are_as_many_as_there_are_all_of() {
        let buffer = buffer(256 * 10 + 100, 0);
        let heights = |start, pitch, count| {
            let rows = rows(&device(), &buffer, start, pitch, count);
            rows.map(|strips| strips.iter().map(|strip| strip.height).collect::<Vec<_>>())
        };
        assert_eq!(heights(0, 256, 10), Ok(vec![10]));
        assert_eq!(heights(0, 256, 11), Ok(vec![10]));
        assert_eq!(heights(256, 256, 4), Ok(vec![4]));
        assert_eq!(heights(2592, 256, 4), Ok(vec![]));
        assert!(heights(u64::MAX, 256, 4).is_err());
        assert!(heights(4, 256, 4).is_err());
        assert!(heights(0, 128, 4).is_err());
        assert!(heights(0, 0, 4).is_err());
        assert!(heights(0, 1 << 20, 4).is_err());
    }
}
