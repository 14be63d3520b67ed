//! VK_KHR_display on the card node of the preload library: what reaches the screen, whose screen it is, and what is left.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use vc4_sim::Config;
use vc4_sim::drm::kms::{Display, Frame, Screen};
use vc4_sim::drm::serve::Server;
use vc4_tests::{driver, scratch};

/// The program on the driver and the preload library.
fn screen(arguments: &[&str]) -> Command {
    let mut command = driver::command(env!("CARGO_BIN_EXE_screen"), &driver::ours());
    command
        .args(arguments)
        .env("VC4VK_DEVICE", "drm")
        .env("VC4VK_DEBUG", "perf")
        .env("LD_PRELOAD", driver::drm_shim());
    command
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The pictures that were on the screen, in their order.
fn pictures(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("the directory was made");
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "png"));
    found.sort();
    found
}

fn load(path: &Path) -> (u32, u32, Vec<[u8; 3]>) {
    let file = std::io::BufReader::new(std::fs::File::open(path).expect("a picture"));
    let mut reader = png::Decoder::new(file).read_info().expect("a PNG");
    let mut bytes = vec![0; reader.output_buffer_size().expect("a small picture")];
    let info = reader.next_frame(&mut bytes).expect("a whole PNG");
    (info.width, info.height, bytes.chunks_exact(3).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect())
}

/// The colour that the program gives a pixel of picture `number`.
fn expected((width, height): (u32, u32), number: u32, x: u32, y: u32) -> [u8; 3] {
    if number % 3 == 0 {
        return [0, 1, 2].map(|bit| (number >> bit & 1) as u8 * 255);
    }
    let (left, top) = (number * 8 % (width - 8), height / 2 - 4);
    if (left..left + 8).contains(&x) && (top..top + 8).contains(&y) {
        return [0, 0, 0];
    }
    match (x < width / 2, y < height / 2) {
        (true, true) => [255, 0, 0],
        (false, true) => [0, 255, 0],
        (true, false) => [0, 0, 255],
        (false, false) => [255, 255, 255],
    }
}

/// Panics unless a picture of a screen of 640 x 480 is picture `number` of that size, made as large as the screen.
fn assert_shows(path: &Path, size: (u32, u32), number: u32) {
    let (width, height, pixels) = load(path);
    assert_eq!((width, height), (640, 480), "{}", path.display());
    for y in 0..height {
        for x in 0..width {
            let wanted = expected(size, number, x * size.0 / width, y * size.1 / height);
            assert_eq!(pixels[(y * width + x) as usize], wanted, "{} at ({x}, {y})", path.display());
        }
    }
}

#[test]
fn displays_are_listed() {
    let said = text(&driver::run(&mut screen(&["list"]), "screen list"));
    for line in [
        "display=HDMI-A-1 1920x1080",
        "mode=1920x1080 60",
        "mode=640x480 60",
        "strange_mode=Some(ERROR_INITIALIZATION_FAILED)",
        "plane=0 shown=false displays=1",
    ] {
        assert!(said.contains(line), "no {line:?}:\n{said}");
    }
    let said = text(&driver::run(screen(&["list"]).env("VC4SIM_DISPLAY", "none"), "screen list"));
    assert!(!said.contains("display=") && said.contains("plane=0 shown=false displays=0"), "{said}");
    // The simulator inside the driver has none.
    let mut inside = driver::command(env!("CARGO_BIN_EXE_screen"), &driver::ours());
    assert_eq!(text(&driver::run(inside.arg("list"), "screen list")), "");
}

#[test]
fn every_format_and_mode_reaches_the_screen() {
    let cases = [
        ("bgra", "fifo", "640x480", "tiles"),
        ("rgba", "mailbox", "640x480", "tiles"),
        ("rgb565", "fifo", "640x480", "tiles"),
        ("srgb", "immediate", "640x480", "tiles"),
        // Made twice as large by the plane.
        ("bgra", "fifo", "320x240", "tiles"),
        // The texture unit would have such a picture in an order of its own.
        ("bgra", "fifo", "32x16", "rows"),
        ("rgb565", "mailbox", "32x16", "rows"),
    ];
    for (format, mode, size, layout) in cases {
        let name = format!("display-{format}-{mode}-{size}");
        let directory = scratch::empty(env!("CARGO_TARGET_TMPDIR"), &name);
        let mut command = screen(&["show", format, mode, size, "640x480", "10"]);
        let said = text(&driver::run(command.env("VC4SIM_SCANOUT", &directory), &name));
        let path = format!("pixels: display, images shown as they are ({layout})");
        assert!(said.contains(&path), "no {path:?}:\n{said}");
        assert!(said.contains("perf: in all, the CPU reads 0 bytes of BOs "), "{said}");
        let found = pictures(&directory);
        let (width, height) = size.split_once('x').expect("a size");
        let size = (width.parse().expect("a number"), height.parse().expect("a number"));
        if mode == "fifo" {
            assert_eq!(found.len(), 10, "{name}: every picture has its turn");
            for (path, number) in found.iter().zip(1..) {
                assert_shows(path, size, number);
            }
        }
        assert_shows(found.last().expect("a picture"), size, 10);
    }
}

/// Runs the program in a device that others use, too, and gives what it said.
fn served(name: &str, check: impl FnOnce(&Path, &Display)) {
    let path = std::env::temp_dir().join(format!("vc4-{name}-{}", std::process::id()));
    let display = Display::new(None);
    let server = Server::new(&path, Config::default(), display.clone()).expect("the path is free");
    std::thread::spawn(move || server.run());
    check(&path, &display);
    let _ = std::fs::remove_file(&path);
}

/// How long programs are waited for that this machine starts beside others.
const PATIENCE: Duration = Duration::from_secs(60);

/// Says that there was something to see.
struct Watcher(Sender<()>);

impl Screen for Watcher {
    fn show(&self, _: &Frame) {
        // Nobody listens after the first.
        let _ = self.0.send(());
    }
}

#[test]
fn a_display_in_use_is_said_to_be() {
    served("display-busy", |server, display| {
        let (seen, frames) = channel();
        assert!(display.show_on(vec![Box::new(Watcher(seen))]));
        let mut modetest = Command::new("modetest");
        let modetest = modetest.args(["-M", "vc4", "-s", "44:640x480"]);
        modetest.env("LD_PRELOAD", driver::drm_shim()).env("VC4SIM_SERVER", server);
        let modetest = modetest.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut other = modetest.spawn().expect("modetest starts: install Debian's libdrm-tests");
        let show = || {
            let mut command = screen(&["show", "bgra", "fifo", "640x480", "640x480", "2"]);
            command.env("VC4SIM_SERVER", server).output().expect("the program starts")
        };
        frames.recv_timeout(PATIENCE).expect("modetest shows its picture");
        let said = text(&show());
        assert!(said.contains("vkCreateSwapchainKHR=ERROR_NATIVE_WINDOW_IN_USE_KHR"), "{said}");
        let lines: Vec<&str> = said.lines().filter(|line| line.contains("master")).collect();
        assert_eq!(lines.len(), 1, "one line says why:\n{said}");
        let mut keys = other.stdin.take().expect("piped");
        let _ = keys.write_all(b"\n");
        drop(keys);
        let _ = other.wait();
        // The server may learn a little later that the process has gone.
        let begin = Instant::now();
        let output = loop {
            let output = show();
            if output.status.success() || begin.elapsed() > PATIENCE {
                break output;
            }
        };
        assert!(output.status.success(), "{}", text(&output));
    });
}

/// The program wants a picture at every third refresh. A busy machine may be late by whole refreshes, but never early.
#[test]
fn pictures_are_seen_in_the_refresh_that_they_are_for() {
    let said = text(&driver::run(&mut screen(&["pace", "8"]), "screen pace"));
    let field =
        |name: &'static str| said.lines().filter_map(move |line| line.strip_prefix(name)?.strip_prefix('='));
    let refresh: u64 = field("refresh").next().expect("a rate").parse().expect("a number");
    assert!((16_600_000..16_700_000).contains(&refresh), "{said}");
    let times: Vec<Vec<u64>> = field("time")
        .map(|row| row.split(' ').map(|number| number.parse().expect("a number")).collect())
        .collect();
    assert_eq!(times.len(), 8, "{said}");
    let first = times[0][3];
    for (row, number) in times.iter().zip(1..) {
        let [id, desired, earliest, actual] = row[..] else { panic!("{row:?}") };
        assert_eq!(id, number);
        // The display's times are in microseconds.
        assert!(actual + 2000 >= desired, "picture {number} is seen before its time:\n{said}");
        assert!(earliest <= actual);
        let ticks = (actual - first + refresh / 2) / refresh;
        assert!((first + ticks * refresh).abs_diff(actual) < 5000, "seen within a refresh:\n{said}");
    }
}

#[test]
fn an_unplugged_display_is_lost() {
    served("display-unplugged", |server, display| {
        let run = |arguments: &[&str]| {
            text(&screen(arguments).env("VC4SIM_SERVER", server).output().expect("the program starts"))
        };
        display.plug(false);
        let said = run(&["show", "bgra", "fifo", "640x480", "640x480", "2"]);
        assert!(said.contains("displays=none"), "{said}");
        display.plug(true);
        assert!(run(&["show", "bgra", "fifo", "640x480", "640x480", "2"]).contains("milliseconds="));
    });
}

#[test]
fn what_was_on_the_screen_comes_back() {
    let said = text(&driver::run(&mut screen(&["restore"]), "screen restore"));
    for line in [
        "while_master=Some(\"vkCreateSwapchainKHR=ERROR_NATIVE_WINDOW_IN_USE_KHR\")",
        "restored=true",
        "master_again=true",
    ] {
        assert!(said.contains(line), "no {line:?}:\n{said}");
    }
}

#[test]
fn a_master_lends_its_display() {
    let said = text(&driver::run(&mut screen(&["lend"]), "screen lend"));
    for line in [
        "unknown=Some(ERROR_UNKNOWN)",
        "same=true",
        "strange=Some(ERROR_INITIALIZATION_FAILED)",
        "twice=Some(ERROR_INITIALIZATION_FAILED)",
        "still_master=true",
        "after_release=Some(\"vkCreateSwapchainKHR=ERROR_NATIVE_WINDOW_IN_USE_KHR\")",
    ] {
        assert!(said.contains(line), "no {line:?}:\n{said}");
    }
}

#[test]
fn a_thousand_swapchains_leave_nothing() {
    let said = text(&driver::run(&mut screen(&["storm", "1000"]), "screen storm"));
    let counts = said.lines().find_map(|line| line.strip_prefix("descriptors=")).expect("a count");
    let (before, after) = counts.split_once(' ').expect("two numbers");
    assert_eq!(before, after, "descriptors before and after:\n{counts}");
}
