//! The modes of the virtual display.

use nix::errno::Errno;

use super::objects::MAX_EDGE;
use crate::drm::uapi::ModeInfo;

/// `kind` of a mode: from the display itself, and its favourite.
const DRIVER: u32 = 1 << 6;
const PREFERRED: u32 = 1 << 3;
/// `flags`: both synchronisation signals are positive.
const POSITIVE_SYNCS: u32 = 1 << 0 | 1 << 2;
/// Vertical frequency of our own modes in Hz.
const REFRESH: u32 = 60;
/// Clock of the largest mode of our own in kHz. The HDMI encoder's limit is 162 MHz (vc4_hdmi_encoder_atomic_check), but
/// whoever asks for a larger screen is to have it.
const MAX_CLOCK: u32 = clock_khz(MAX_EDGE + 160, MAX_EDGE + 30);
const SIZES: [(u16, u16); 3] = [(1920, 1080), (1280, 720), (640, 480)];

const fn clock_khz(htotal: u32, vtotal: u32) -> u32 {
    (htotal * vtotal * REFRESH).div_ceil(1000)
}

/// A mode of this size with plain blanking intervals.
fn of_size(width: u16, height: u16) -> ModeInfo {
    let (htotal, vtotal) = (width + 160, height + 30);
    let mut name = [0; 32];
    for (to, from) in name.iter_mut().zip(format!("{width}x{height}").bytes()) {
        *to = from;
    }
    ModeInfo {
        clock: clock_khz(htotal.into(), vtotal.into()),
        hdisplay: width,
        hsync_start: width + 48,
        hsync_end: width + 80,
        htotal,
        vdisplay: height,
        vsync_start: height + 3,
        vsync_end: height + 8,
        vtotal,
        vrefresh: REFRESH,
        flags: POSITIVE_SYNCS,
        kind: DRIVER,
        name,
        ..ModeInfo::default()
    }
}

/// All modes, the preferred one first.
pub fn all(preferred: Option<(u16, u16)>) -> Vec<ModeInfo> {
    let fits = |&(width, height): &(u16, u16)| {
        (1..=MAX_EDGE).contains(&width.into()) && (1..=MAX_EDGE).contains(&height.into())
    };
    let first = preferred.filter(fits).unwrap_or(SIZES[0]);
    let sizes = std::iter::once(first).chain(SIZES.into_iter().filter(|&size| size != first));
    let mut modes: Vec<ModeInfo> = sizes.map(|(width, height)| of_size(width, height)).collect();
    modes[0].kind |= PREFERRED;
    modes
}

/// Whether this display can be driven so.
///
/// # Errors
/// `EINVAL`; `ERANGE` when a number is out of the kernel's range (drm_mode_convert_umode).
pub fn check(mode: &ModeInfo) -> Result<(), Errno> {
    if mode.clock.max(mode.vrefresh) > i32::MAX as u32 {
        return Err(Errno::ERANGE);
    }
    let ordered = |display: u16, start: u16, end: u16, total: u16| {
        display > 0 && u32::from(display) <= MAX_EDGE && display <= start && start <= end && end <= total
    };
    let good = (1..=MAX_CLOCK).contains(&mode.clock)
        && ordered(mode.hdisplay, mode.hsync_start, mode.hsync_end, mode.htotal)
        && ordered(mode.vdisplay, mode.vsync_start, mode.vsync_end, mode.vtotal);
    if good { Ok(()) } else { Err(Errno::EINVAL) }
}

/// Nanoseconds from one vertical blank to the next.
pub fn period_ns(mode: &ModeInfo) -> u64 {
    let pixels = u64::from(mode.htotal) * u64::from(mode.vtotal);
    // At most 1000 a second, whatever clock was asked for.
    (pixels * 1_000_000 / u64::from(mode.clock.max(1))).clamp(1_000_000, 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preferred_mode_is_first_and_all_are_good() {
        let sizes = |modes: &[ModeInfo]| -> Vec<_> {
            modes.iter().map(|mode| (mode.hdisplay, mode.vdisplay, mode.kind)).collect()
        };
        assert_eq!(sizes(&all(None)), [(1920, 1080, 72), (1280, 720, 64), (640, 480, 64)]);
        assert_eq!(sizes(&all(Some((640, 480)))), [(640, 480, 72), (1920, 1080, 64), (1280, 720, 64)]);
        assert_eq!(all(Some((800, 600))).len(), 4);
        assert_eq!(all(Some((4000, 600)))[0].hdisplay, 1920);
        for mode in all(Some((1, 1))) {
            assert_eq!(check(&mode), Ok(()));
            assert!((16_600_000..16_700_000).contains(&period_ns(&mode)), "{}", period_ns(&mode));
        }
        assert_eq!(check(&ModeInfo::default()), Err(Errno::EINVAL));
        assert_eq!(check(&all(Some((2048, 2048)))[0]), Ok(()));
        // As igt-gpu-tools' kms_invalid_mode has them.
        for (clock, errno) in [(i32::MAX as u32, Errno::EINVAL), (u32::MAX, Errno::ERANGE)] {
            assert_eq!(check(&ModeInfo { clock, ..all(None)[0] }), Err(errno));
        }
    }
}
