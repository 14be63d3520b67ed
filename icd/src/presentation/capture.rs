//! `VC4VK_CAPTURE=DIRECTORY`: what was presented, for tools and tests that run other people's programs.
//!
//! Whenever a swapchain ends, the directory gets two files: `last.ppm`, the frame presented last (binary
//! P6), and `present.txt`, one `name=value` a line. Counts go over all swapchains of the process, since
//! a resized window replaces its swapchain.

use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use vc4_kernel_abi::environment;

/// The environment variable.
const VARIABLE: &str = "VC4VK_CAPTURE";

/// The capture that the environment asks for.
pub(super) fn active() -> Option<&'static Capture> {
    static ACTIVE: OnceLock<Option<Capture>> = OnceLock::new();
    let from_environment = || environment::variable(VARIABLE).map(|directory| Capture::new(directory.into()));
    ACTIVE.get_or_init(from_environment).as_ref()
}

/// A directory being filled.
pub(super) struct Capture {
    directory: PathBuf,
    /// When the driver first looked; stands in for the process start where /proc does not tell.
    opened: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    frames: u64,
    first: Option<First>,
    last: Option<Instant>,
    /// Number of the frame in `last.ppm`.
    saved: u64,
}

#[derive(Clone, Copy)]
struct First {
    at: Instant,
    since_start: Duration,
}

/// A frame as presented: rows without gaps, four bytes a pixel: blue, green, red, unused.
pub(super) struct Picture<'a> {
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// The rows.
    pub bgrx: &'a [u8],
}

impl Capture {
    fn new(directory: PathBuf) -> Capture {
        Capture { directory, opened: Instant::now(), state: Mutex::default() }
    }

    /// Counts a frame and numbers it from 1.
    pub fn presented(&self) -> u64 {
        let now = Instant::now();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let since_start = || process_age().unwrap_or_else(|| now.duration_since(self.opened));
        state.first.get_or_insert_with(|| First { at: now, since_start: since_start() });
        state.last = Some(now);
        state.frames += 1;
        state.frames
    }

    /// Writes the files; `picture` is frame `number`, `device` what drew it.
    pub fn save(&self, picture: &Picture<'_>, number: u64, device: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let result = self.save_picture(&mut state, picture, number).and_then(|()| {
            let report = report(&state, device);
            std::fs::write(self.directory.join("present.txt"), report)
        });
        if let Err(error) = result {
            let directory = self.directory.display();
            log::error!(target: "vc4::wsi", "{VARIABLE}={directory}: {error}; name a writable directory");
        }
    }

    fn save_picture(&self, state: &mut State, picture: &Picture<'_>, number: u64) -> std::io::Result<()> {
        // A swapchain that was replaced may end after its successor.
        if number <= state.saved {
            return Ok(());
        }
        std::fs::create_dir_all(&self.directory)?;
        let file = std::fs::File::create(self.directory.join("last.ppm"))?;
        write_ppm(picture, &mut std::io::BufWriter::new(file))?;
        state.saved = number;
        Ok(())
    }
}

fn write_ppm(picture: &Picture<'_>, out: &mut impl Write) -> std::io::Result<()> {
    write!(out, "P6\n{} {}\n255\n", picture.width, picture.height)?;
    for pixel in picture.bgrx.chunks_exact(4) {
        out.write_all(&[pixel[2], pixel[1], pixel[0]])?;
    }
    out.flush()
}

fn report(state: &State, device: &str) -> String {
    let seconds = match (state.first, state.last) {
        (Some(first), Some(last)) => last.duration_since(first.at),
        _ => Duration::ZERO,
    };
    let first = state.first.map_or(Duration::ZERO, |first| first.since_start);
    format!(
        "frames={}\nseconds={:.6}\nfirst_frame_seconds={:.6}\ndevice={}\npeak_resident_kib={}\n",
        state.frames,
        seconds.as_secs_f64(),
        first.as_secs_f64(),
        device,
        peak_resident_kib().unwrap_or(0)
    )
}

/// Time since this process started, as far as the kernel tells.
fn process_age() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // SAFETY: asks for a constant of the system.
    let hertz = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    let hertz = u32::try_from(hertz).ok().filter(|&hertz| hertz > 0)?;
    let start = Duration::from_secs(1) * u32::try_from(start_ticks(&stat)? / u64::from(hertz)).ok()?
        + Duration::from_secs(1) * (start_ticks(&stat)? % u64::from(hertz)) as u32 / hertz;
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is ours.
    if unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &mut now) } != 0 {
        return None;
    }
    let now = Duration::new(u64::try_from(now.tv_sec).ok()?, u32::try_from(now.tv_nsec).ok()?);
    now.checked_sub(start)
}

/// Field 22 of proc(5)'s stat: ticks from boot to start. Field 2 is a name that may hold anything, so
/// counting begins behind its parenthesis.
fn start_ticks(stat: &str) -> Option<u64> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

/// The process' largest resident set so far, KiB.
fn peak_resident_kib() -> Option<u64> {
    peak_of(&std::fs::read_to_string("/proc/self/status").ok()?)
}

fn peak_of(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_written_in_the_order_of_ppm() {
        let mut out = Vec::new();
        let bgrx = [3, 2, 1, 255, 6, 5, 4, 0];
        write_ppm(&Picture { width: 2, height: 1, bgrx: &bgrx }, &mut out).unwrap();
        assert_eq!(out, b"P6\n2 1\n255\n\x01\x02\x03\x04\x05\x06");
    }

    #[test]
    fn the_start_is_found_behind_any_name() {
        let tail: Vec<String> = (3..=52).map(|field| field.to_string()).collect();
        assert_eq!(start_ticks(&format!("1 (a) b) {}", tail.join(" "))), Some(22));
        assert_eq!(start_ticks("1 (short) S 1"), None);
        assert!(process_age().is_some_and(|age| age < Duration::from_secs(86_400)));
    }

    #[test]
    fn the_peak_is_read_from_its_line() {
        assert_eq!(peak_of("VmPeak:\t 9 kB\nVmHWM:\t    1234 kB\n"), Some(1234));
        assert_eq!(peak_of("VmPeak: 9 kB\n"), None);
        assert!(peak_resident_kib().is_some_and(|kib| kib > 0));
    }

    #[test]
    fn the_newest_frame_stays_whatever_ends_last() {
        let directory = std::env::temp_dir().join(format!("vc4-capture-test-{}", std::process::id()));
        let capture = Capture::new(directory.clone());
        let numbers = [capture.presented(), capture.presented()];
        assert_eq!(numbers, [1, 2]);
        capture.save(&Picture { width: 1, height: 1, bgrx: &[9, 9, 9, 0] }, 2, "new");
        capture.save(&Picture { width: 1, height: 1, bgrx: &[1, 1, 1, 0] }, 1, "old");
        let picture = std::fs::read(directory.join("last.ppm")).unwrap();
        let report = std::fs::read_to_string(directory.join("present.txt")).unwrap();
        std::fs::remove_dir_all(directory).unwrap();
        assert_eq!(picture, b"P6\n1 1\n255\n\x09\x09\x09");
        let names: Vec<_> = report.lines().map(|line| line.split_once('=').unwrap().0).collect();
        assert_eq!(names, ["frames", "seconds", "first_frame_seconds", "device", "peak_resident_kib"]);
        assert!(report.starts_with("frames=2\n"), "{report}");
    }
}
