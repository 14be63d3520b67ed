//! `vc4 sim` as a shell sees it: captures made here, run again, and shown as a page.

#[path = "../../sim/tests/support/mod.rs"]
mod support;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use support::*;
use vc4::cl::packets::*;
use vc4_kernel_abi::Gpu;

fn vc4(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_vc4")).args(args).output().expect("vc4 starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Standard output of a run with this exit code.
fn output(code: i32, args: &[&str]) -> String {
    let output = vc4(args);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// A fresh directory.
fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sim").join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("the target directory is writable");
    directory
}

/// Two pictures with depth, a refused submission, and a job that only clears.
fn capture(directory: &Path) -> String {
    let path = directory.join("<a&b>.vc4cap");
    let gpu = simulator(2);
    assert!(gpu.record(&path));
    let target = Target::new(&gpu, 150, 100, Tiling::T);
    let triangle = |z: f32| vec![at(0.0, 0.0, z), at(64.0, 0.0, z), at(0.0, 64.0, z)];
    for frame in 0..2 {
        let draws = [
            Draw::color(triangle(0.5), 0xff00_00ff + frame),
            Draw { fragment: position_color(), ..Draw::color(triangle(0.25), 0) },
            Draw::varying(triangle(0.75)).indexed(IndexType::U16, &[0, 1, 2]),
        ];
        let mut job = target.draw_job(&gpu, 0xff20_2020, &draws);
        job.zs_write = Some(vc4_kernel_abi::Surface {
            bo_index: 1,
            offset: 0,
            bits: vc4::image::surface::zs_write_bits(Tiling::T),
            flags: 0,
        });
        run(&gpu, &job).expect("the job runs");
    }
    let mut wrong = target.draw_job(&gpu, 0, &[Draw::color(triangle(0.5), 0)]);
    wrong.bin_cl.truncate(20);
    gpu.submit(&wrong).expect_err("half a list is refused");
    run(&gpu, &target.clear_job(0xff80_4020)).expect("the job runs");
    path.to_str().expect("text").to_owned()
}

#[test]
fn assumptions_are_listed() {
    let table = output(0, &["sim", "unverified"]);
    assert_eq!(table.lines().count(), vc4::facts::ROWS.len() + 1);
    assert!(table.contains("[last | first]"), "{table}");
    let json = output(0, &["sim", "unverified", "--json", "SAMPLE_POSITIONS"]);
    assert!(json.starts_with("[{\"name\": \"sample-positions\", \"question\": \""), "{json}");
}

#[test]
fn replays_tell_what_happened_and_compare() {
    let directory = directory("replay");
    let file = capture(&directory);
    let all = output(0, &["sim", "replay", &file, "--check", "--threads", "1"]);
    assert_eq!(all.lines().filter(|line| line.ends_with("  done")).count(), 3, "{all}");
    assert!(all.contains("refused: ") && all.contains("every result is the recorded one"), "{all}");
    // A device that drops its jobs is a device.
    let dropped = output(1, &["sim", "replay", &file, "--check", "--device", "noop"]);
    assert!(dropped.contains("has other contents") && dropped.contains("4 results differ"), "{dropped}");
    let none = vc4(&["sim", "replay", &file, "--device", "drm:/dev/null"]);
    assert!(text(&none.stderr).contains("no usable VC4 device"), "{}", text(&none.stderr));
    let png = directory.join("png");
    let one = output(0, &["sim", "replay", &file, "--submission", "1", "--png", png.to_str().expect("text")]);
    assert_eq!(one.lines().count(), 2, "{one}");
    let mut names: Vec<_> = std::fs::read_dir(&png)
        .expect("made by --png")
        .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["0001-color.png", "0001-depth.png"]);
    output(1, &["sim", "replay", &file, "--submission", "4"]);
}

/// What every instruction left, up to the colour that the picture has there.
#[test]
fn a_pixel_is_followed_through_its_programs() {
    let directory = directory("pixel");
    let file = capture(&directory);
    let of = |pixel: &str| output(0, &["sim", "replay", &file, "--submission", "1", "--pixel", pixel]);
    let inside = of("10,10");
    assert!(inside.contains("\npixel (10, 10): 3 programs ran for it\n"), "{inside}");
    let begins: Vec<&str> = inside.lines().filter(|line| line.starts_with("draw ")).collect();
    assert!(begins[0].starts_with("draw 0, program at 0x"), "{inside}");
    assert!(begins[0].contains("ra15 3f800000") && begins[0].contains("colour ff202020"), "{inside}");
    assert!(begins[1].contains("colour ff000100"), "{inside}");
    // The last one lies behind: its depth test takes the coverage away, and its colour goes nowhere.
    let behind: Vec<&str> =
        inside.lines().filter(|line| line.contains(": sig_none ; tlb_")).skip(4).collect();
    assert!(behind[0].ends_with("coverage 00000000") && behind[1].ends_with(" ;"), "{behind:?}");
    assert!(of("149,99").contains("pixel (149, 99): no program ran for it"));
    let wrong = vc4(&["sim", "replay", &file, "--submission", "1", "--pixel", "10"]);
    assert!(text(&wrong.stderr).contains("a pixel is written X,Y"), "{}", text(&wrong.stderr));
    let which = vc4(&["sim", "replay", &file, "--pixel", "10,10"]);
    assert!(text(&which.stderr).contains("--submission"), "{}", text(&which.stderr));
}

/// A node whose chip takes fewer bits for weights: the pictures beside it, and the instruction.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
fn what_a_gpu_draws_otherwise_is_explained() {
    let library = Path::new(env!("CARGO_BIN_EXE_vc4")).with_file_name("libvc4_drm_shim.so");
    assert!(library.exists(), "{} is not built: run `cargo build -p vc4-drm-shim`", library.display());
    let directory = directory("different");
    let (file, facts) = (directory.join("cube.vc4cap"), directory.join("facts.toml"));
    let packed = include_bytes!("../known/scenes/texture_trilinear.vc4cap.bz2");
    let mut capture = Vec::new();
    bzip2::read::BzDecoder::new(&packed[..]).read_to_end(&mut capture).expect("a capture");
    std::fs::write(&file, capture).expect("writable");
    std::fs::write(&facts, "weight-bits = \"5\"\n").expect("writable");
    let png = directory.join("png");
    let output = Command::new(env!("CARGO_BIN_EXE_vc4"))
        .args(["sim", "replay", "--check", "--device", "drm", "--png"])
        .args([&png, &file])
        .env("LD_PRELOAD", library)
        .env("VC4SIM_FACTS", &facts)
        .output()
        .expect("vc4 starts");
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}{}", text(&output.stderr));
    assert!(said.contains("it is so if weight-bits is \"5\"; instruction "), "{said}");
    for name in ["0001-color.png", "0001-color-expected.png", "0001-color-different.png"] {
        assert!(png.join(name).exists(), "{name}");
    }
}

#[test]
fn what_is_no_capture_is_named() {
    let directory = directory("damaged");
    let file = capture(&directory);
    let mut bytes = std::fs::read(&file).expect("just written");
    let damaged = directory.join("damaged.vc4cap");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&damaged, &bytes).expect("writable");
    for (path, what) in [
        (damaged.to_str().expect("text"), "checksum"),
        (file!(), "is no capture"),
        ("/nowhere", "No such file"),
    ] {
        let path = if path == file!() { concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml") } else { path };
        for command in ["replay", "report"] {
            let output = vc4(&["sim", command, path]);
            assert_eq!(output.status.code(), Some(1));
            assert!(text(&output.stderr).contains(what), "{}", text(&output.stderr));
        }
    }
}

#[test]
fn a_capture_passes_the_exit_code_on_and_spares_other_files() {
    let directory = directory("capture");
    let file = directory.join("x.vc4cap");
    let name = file.to_str().expect("text");
    let run = |args: &[&str]| vc4(&[&["sim", "capture", "--in-process", "-o", name, "--"], args].concat());
    let output = run(&["sh", "-c", "echo $VC4VK_DEVICE; test \"$VC4SIM_CAPTURE\" = \"$0\" && exit 7", name]);
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(7), "sim\n"));
    assert!(text(&output.stderr).contains("submitted nothing"));
    assert_eq!(run(&["sh", "-c", "kill -9 $$"]).status.code(), Some(137));
    std::fs::write(&file, "precious").expect("writable");
    let output = run(&["true"]);
    assert!(output.status.code() == Some(1) && text(&output.stderr).contains("is no capture"));
    assert_eq!(std::fs::read_to_string(&file).expect("still there"), "precious");
}

/// The page as headless Chromium builds it; `None` where there is no Chromium.
fn dom(page: &Path, fragment: &str) -> Option<String> {
    let profile = page.with_extension("profile");
    let output = Command::new("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
        ])
        .args(["--disable-dev-shm-usage", "--virtual-time-budget=10000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!(
            "file://{}{fragment}",
            page.display().to_string().replace('%', "%25").replace('#', "%23")
        ))
        .output();
    match output {
        Ok(output) => Some(text(&output.stdout)),
        Err(_) => {
            eprintln!("chromium is not installed: the page is only checked as a file");
            None
        }
    }
}

#[test]
fn a_report_shows_what_every_submission_did() {
    let directory = directory("report");
    let file = capture(&directory);
    let page = directory.join("out.html");
    output(0, &["sim", "report", &file, "-o", page.to_str().expect("text")]);
    let html = std::fs::read_to_string(&page).expect("just written");
    assert!(!html.contains("<a&b>") && html.contains("\\u003ca\\u0026b\\u003e.vc4cap"), "names are escaped");
    let Some(dom) = dom(&page, "#s1/d1/t0") else { return };
    // What the script made; style and data hold some of these words as well.
    let made = dom.split("</style>").nth(1).and_then(|body| body.split("<script").next()).expect("a page");
    for (what, count) in [
        ("aria-current=\"true\"", 1),
        ("<details id=\"draw", 3),
        ("class=\"tile\"", 5),
        ("class=\"tile on\"", 1),
        // Closed parts are made when they are opened.
        ("TILE_BINNING_MODE_CONFIG", 0),
        ("class=\"status done\"", 1),
        ("CONFIGURATION_BITS", 1),
    ] {
        assert_eq!(made.matches(what).count(), count, "{what} in\n{made}");
    }
    for what in
        ["Tile 0, 0", "tlb_color_all", "fragment program", "u16 indices up to 2", "&lt;a&amp;b&gt;.vc4cap"]
    {
        assert!(made.contains(what), "{what}");
    }
}

#[test]
fn a_page_holds_the_submissions_that_were_asked_for() {
    let directory = directory("range");
    let file = capture(&directory);
    let page = output(0, &["sim", "report", &file, "--submissions", "1-2", "--no-pictures"]);
    assert!(page.contains("\"n\":1,") && page.contains("\"n\":2,") && !page.contains("\"n\":0,"));
    assert!(!page.contains("data:image") && page.contains("\"status\":\"refused\""));
    output(1, &["sim", "report", &file, "--submissions", "9"]);
    output(2, &["sim", "report", &file, "--submissions", "2-1"]);
}
