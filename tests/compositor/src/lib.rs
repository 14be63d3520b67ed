//! What compositors of the tests' own have in common: images that clients share, and how they are told which ones are taken.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;

use vc4::image::tiling::Level;
use vc4::image::{Rect, Tiling};
use vc4_kernel_abi::uapi::MODIFIER_T_TILED;
use wayland_protocols::wp::linux_dmabuf::zv1::server::zwp_linux_dmabuf_feedback_v1::{
    TrancheFlags, ZwpLinuxDmabufFeedbackV1,
};

/// Formats of 32 bits by their four letters; X is padding.
pub const XR24: u32 = u32::from_le_bytes(*b"XR24");
/// Blue is the first byte, alpha the last.
pub const AR24: u32 = u32::from_le_bytes(*b"AR24");
/// Red is the first byte, the last one is padding.
pub const XB24: u32 = u32::from_le_bytes(*b"XB24");
/// Red is the first byte, alpha the last.
pub const AB24: u32 = u32::from_le_bytes(*b"AB24");
/// All of them.
pub const FORMATS: [u32; 4] = [XR24, AR24, XB24, AB24];

/// Bytes of a pixel.
const PIXEL_BYTES: u32 = 4;

/// An image of a client's.
#[derive(Debug)]
pub struct Image {
    /// Its memory.
    pub memory: File,
    /// Where it begins, in bytes.
    pub offset: u32,
    /// Bytes from a row to the next.
    pub stride: u32,
    /// Pixels of a row.
    pub width: i32,
    /// Rows.
    pub height: i32,
    /// One of [`FORMATS`].
    pub format: u32,
    /// [`MODIFIER_LINEAR`](vc4_kernel_abi::uapi::MODIFIER_LINEAR) or [`MODIFIER_T_TILED`].
    pub modifier: u64,
}

impl Image {
    /// Whether alpha is to be seen through.
    pub fn has_alpha(&self) -> bool {
        matches!(self.format, AR24 | AB24)
    }

    /// The rows without gaps, blue first whatever the format.
    ///
    /// # Errors
    /// The memory does not hold the image, or cannot be read.
    pub fn rows(&self) -> std::io::Result<Vec<u8>> {
        let wrong = |error: &dyn std::fmt::Display| std::io::Error::other(error.to_string());
        let (width, height) = (self.width as u32, self.height as u32);
        let tiling = if self.modifier == MODIFIER_T_TILED { Tiling::T } else { Tiling::Raster };
        let level = Level::new(tiling, PIXEL_BYTES, self.stride / PIXEL_BYTES, height);
        let level = level.map_err(|error| wrong(&error))?;
        let row_bytes = (width * PIXEL_BYTES) as usize;
        let mut rows = vec![0; row_bytes * height as usize];
        let mut failed = None;
        let read = level.read_rect(Rect { x: 0, y: 0, width, height }, &mut rows, row_bytes, |at, run| {
            let at = u64::from(self.offset) + at as u64;
            failed = failed.take().or(self.memory.read_exact_at(run, at).err());
        });
        read.map_err(|error| wrong(&error))?;
        if matches!(self.format, XB24 | AB24) {
            rows.chunks_exact_mut(PIXEL_BYTES as usize).for_each(|pixel| pixel.swap(0, 2));
        }
        failed.map_or(Ok(rows), Err)
    }
}

/// Tells a surface which formats in which layouts are good for it: a table with a stranger in it, in two tranches.
///
/// # Errors
/// There is no memory for the table.
pub fn tell(
    feedback: &ZwpLinuxDmabufFeedbackV1,
    formats: impl IntoIterator<Item = (u32, u64)>,
) -> std::io::Result<()> {
    let entries: Vec<(u32, u64)> = std::iter::once((1, 2)).chain(formats).collect();
    let mut bytes = Vec::new();
    for (format, modifier) in &entries {
        bytes.extend_from_slice(&format.to_ne_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&modifier.to_ne_bytes());
    }
    let table = nix::sys::memfd::memfd_create("formats", nix::sys::memfd::MFdFlags::MFD_CLOEXEC)?;
    let mut table = File::from(table);
    table.write_all(&bytes)?;
    feedback.format_table(table.as_fd(), bytes.len() as u32);
    let device = 0u64.to_ne_bytes().to_vec();
    feedback.main_device(device.clone());
    let half = entries.len() / 2;
    for numbers in [0..half, half..entries.len()] {
        feedback.tranche_target_device(device.clone());
        feedback.tranche_flags(TrancheFlags::empty());
        feedback.tranche_formats(numbers.flat_map(|number| (number as u16).to_ne_bytes()).collect());
        feedback.tranche_done();
    }
    feedback.done();
    Ok(())
}
