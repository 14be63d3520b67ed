//! Programs that know nothing of us, through the Vulkan loader: Debian's vkcube and vulkaninfo, plain and
//! under the validation layers.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use vc4_tests::{driver, scratch, validation};

fn capture_directory(name: &str) -> PathBuf {
    scratch::empty(env!("CARGO_TARGET_TMPDIR"), name)
}

fn vkcube(frames: u32, capture: &Path) -> Command {
    assert!(
        std::env::var_os("DISPLAY").is_some(),
        "vkcube needs an X display: run `cargo xtask test`, or set DISPLAY"
    );
    let mut command = driver::command("vkcube", &driver::ours());
    command.args(["--suppress_popups", "--present_mode", "0", "--c", &frames.to_string()]);
    command.env("VC4VK_CAPTURE", capture);
    command
}

fn run(mut command: Command) -> Output {
    let output = command.output().unwrap_or_else(|error| {
        panic!("{command:?}: {error}: install Debian's vulkan-tools, or run `cargo xtask test`")
    });
    assert!(output.status.success(), "{command:?}: {}\n{}", output.status, text(&output));
    output
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A binary P6 picture: width, height, bytes.
fn load_ppm(path: &Path) -> (usize, usize, Vec<u8>) {
    let data = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut parts = data.splitn(4, |&byte| byte == b'\n');
    assert_eq!(parts.next(), Some(&b"P6"[..]));
    let size = String::from_utf8_lossy(parts.next().expect("a size line")).into_owned();
    let (width, height) = size.split_once(' ').expect("width and height");
    let pixels = parts.nth(1).expect("pixels").to_vec();
    (width.parse().expect("a number"), height.parse().expect("a number"), pixels)
}

#[test]
fn vkcube_draws_the_textured_cube() {
    let capture = capture_directory("vkcube-picture");
    run(vkcube(30, &capture));
    let (width, height, pixels) = load_ppm(&capture.join("last.ppm"));
    assert_eq!((width, height), (500, 500));
    let pixel = |x: usize, y: usize| &pixels[(y * width + x) * 3..][..3];
    for (x, y) in [(0, 0), (499, 0), (0, 499), (499, 499)] {
        assert_eq!(pixel(x, y), [51, 51, 51], "the clear colour 0.2 at ({x}, {y})");
    }
    // The cube covers the middle and shows many shades of its texture, lit by facet.
    let covered = pixels.chunks_exact(3).filter(|&p| p != [51, 51, 51]).count();
    assert!((30_000..150_000).contains(&covered), "{covered} pixels are not background");
    let shades: std::collections::BTreeSet<_> = pixels.chunks_exact(3).collect();
    assert!(shades.len() > 100, "only {} different colours", shades.len());
    let report = std::fs::read_to_string(capture.join("present.txt")).expect("a report");
    assert!(report.contains("frames=30\n"), "{report}");
}

#[test]
fn a_frame_of_vkcube_is_the_same_on_every_run() {
    let (first, second) = (capture_directory("vkcube-first"), capture_directory("vkcube-second"));
    run(vkcube(17, &first));
    run(vkcube(17, &second));
    assert!(load_ppm(&first.join("last.ppm")) == load_ppm(&second.join("last.ppm")));
}

/// Each picture is copied to where it is shown, and its matrix goes into uniform streams; the texture is the GPU's to copy.
#[test]
fn what_vkcube_makes_the_cpu_read_is_counted() {
    let capture = capture_directory("vkcube-counted");
    let mut command = vkcube(8, &capture);
    command.env("VC4VK_DEBUG", "perf");
    let output = text(&run(command));
    let frames = output.lines().filter(|line| line.starts_with("perf: frame "));
    assert_eq!(frames.count(), 8, "{output}");
    // Its uniform buffer lies where the CPU caches.
    let present = 8 * 500 * 500 * 4;
    let all = format!("perf: in all, the CPU reads {present} bytes of BOs (present {present}) and ");
    assert!(output.contains(&all), "{output}");
}

#[test]
fn vkcube_is_clean_under_the_validation_layers() {
    let directory = capture_directory("vkcube-validated");
    let mut command = vkcube(20, &directory);
    validation::watch(&mut command, &directory);
    validation::assert_silent(&run(command));
}

#[test]
fn vulkaninfo_runs_to_its_end() {
    let output = text(&run(driver::command("vulkaninfo", &driver::ours())));
    assert!(output.contains("VideoCore IV"), "{output}");
    let summary = text(&run({
        let mut command = driver::command("vulkaninfo", &driver::ours());
        command.arg("--summary");
        command
    }));
    assert!(summary.contains("PHYSICAL_DEVICE_TYPE_CPU"), "the simulator is a CPU:\n{summary}");
}

#[test]
fn devices_say_which_nodes_they_have() {
    let said = |device: &str, shim: Option<&std::path::Path>| {
        let mut command = driver::command("vulkaninfo", &driver::ours());
        command.env("VC4VK_DEVICE", device).envs(shim.map(|shim| ("LD_PRELOAD", shim)));
        let output = text(&run(command));
        let about = output.split("VkPhysicalDeviceDrmPropertiesEXT:").nth(1).expect("what nodes there are");
        let numbers = about.lines().filter_map(|line| line.split_once(" = ")).take(6);
        numbers.map(|(_, value)| value.trim().to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(said("drm", Some(&driver::drm_shim())), "true true 226 0 226 128");
    assert_eq!(said("sim", None), "false false 0 0 0 0");
}
