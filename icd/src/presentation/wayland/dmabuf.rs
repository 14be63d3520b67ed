//! zwp_linux_dmabuf_v1: which layouts the compositor knows.
//!
//! Version 3 lists formats with modifiers once; from version 4 on a surface hears what is best for it, and hears of changes.

use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use drm::buffer::DrmFourcc;
use vc4_kernel_abi::uapi::{MODIFIER_LINEAR, MODIFIER_T_TILED};
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_dmabuf_feedback_v1;
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_dmabuf_v1::REQ_GET_SURFACE_FEEDBACK_SINCE;

/// The first version that tells modifiers, and the last one that is used here.
pub(super) const VERSIONS: std::ops::RangeInclusive<u32> = 3..=4;
/// The first version with feedback.
pub(super) const FEEDBACK_SINCE: u32 = REQ_GET_SURFACE_FEEDBACK_SINCE;

/// Bytes of an entry of a table: format, padding, modifier.
const ENTRY_BYTES: usize = 16;

/// Formats by their four letters, each with a modifier.
pub(super) type Formats = Vec<(u32, u64)>;

/// The layouts, of those that the driver has, that a list knows for a format.
pub(super) fn modifiers(formats: &Formats, format: DrmFourcc) -> Vec<u64> {
    let ours = [MODIFIER_T_TILED, MODIFIER_LINEAR];
    ours.into_iter().filter(|&modifier| formats.contains(&(format as u32, modifier))).collect()
}

/// What a compositor says of a surface.
#[derive(Default)]
pub(super) struct Feedback {
    table: Formats,
    /// Entries of the table in the tranches so far.
    coming: Formats,
    /// What holds, once it was told in full.
    pub formats: Option<Formats>,
}

impl Feedback {
    /// Takes in what is told.
    pub fn hear(&mut self, event: zwp_linux_dmabuf_feedback_v1::Event) {
        use zwp_linux_dmabuf_feedback_v1::Event;
        match event {
            Event::FormatTable { fd, size } => self.table = table(fd, size as usize).unwrap_or_default(),
            Event::TrancheFormats { indices } => {
                let indices = indices.chunks_exact(2).map(|index| u16::from_ne_bytes([index[0], index[1]]));
                self.coming.extend(indices.filter_map(|index| self.table.get(usize::from(index)).copied()));
            }
            Event::Done => self.formats = Some(std::mem::take(&mut self.coming)),
            _ => {}
        }
    }
}

/// The entries of a table that the compositor shares.
fn table(fd: OwnedFd, size: usize) -> std::io::Result<Formats> {
    let mut bytes = vec![0; size - size % ENTRY_BYTES];
    std::fs::File::from(fd).read_exact_at(&mut bytes, 0)?;
    let entry = |entry: &[u8]| {
        let word = |at: usize| {
            u64::from(u32::from_ne_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]]))
        };
        let (low, high) = if cfg!(target_endian = "little") { (8, 12) } else { (12, 8) };
        (word(0) as u32, word(low) | word(high) << 32)
    };
    Ok(bytes.chunks_exact(ENTRY_BYTES).map(entry).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_layout_comes_first() {
        let xr24 = DrmFourcc::Xrgb8888;
        let list = vec![(xr24 as u32, MODIFIER_LINEAR), (1, MODIFIER_T_TILED), (xr24 as u32, 5)];
        assert_eq!(modifiers(&list, xr24), [MODIFIER_LINEAR]);
        let list = [list, vec![(xr24 as u32, MODIFIER_T_TILED)]].concat();
        assert_eq!(modifiers(&list, xr24), [MODIFIER_T_TILED, MODIFIER_LINEAR]);
        assert!(modifiers(&list, DrmFourcc::Rgb565).is_empty());
    }
}
