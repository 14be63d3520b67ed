//! Whole frames on our driver (simulated VC4), held against Mesa's lavapipe. `cargo xtask bench frames` holds all of them against
//! Mesa's OpenGL ES driver.

use std::path::{Path, PathBuf};

use vc4_tests::picture::Difference;
use vc4_tests::{driver, frames, scratch};

/// What nothing else draws: several passes, skins, volumes of shadow, samples, points.
const DRAWN: [&str; 6] =
    ["post_processing", "shadow_map", "skinned", "stencil_shadows", "multisample", "particles"];

fn draw_all(manifest: &Path, name: &str) -> PathBuf {
    let directory = scratch::directory(env!("CARGO_TARGET_TMPDIR"), name);
    for frame in DRAWN {
        let mut command = driver::command(env!("CARGO_BIN_EXE_frames"), manifest);
        driver::run(command.args(["draw", frame, "2"]).arg(directory.join(format!("{frame}.png"))), frame);
    }
    directory
}

#[test]
fn frames_match_lavapipe() {
    let (ours, theirs) =
        (draw_all(&driver::ours(), "frames-vc4"), draw_all(&driver::lavapipe(), "frames-lavapipe"));
    for frame in DRAWN {
        let difference = Difference::of_files(frame, &ours, &theirs).expect("two pictures");
        assert!(
            difference.acceptable(),
            "{frame} in {} and {}: {difference:?}",
            ours.display(),
            theirs.display()
        );
    }
}

/// Lines of code of all programs of a frame that takes powers at pixels, by what `VC4VK_PRECISION` says.
fn lines_of_code(precision: &str) -> usize {
    let picture = scratch::directory(env!("CARGO_TARGET_TMPDIR"), "frames-precision").join("powers.png");
    let mut command = driver::command(env!("CARGO_BIN_EXE_frames"), &driver::ours());
    command.env("VC4VK_PRECISION", precision).env("VC4VK_DEBUG", "qpu");
    let output = driver::run(command.args(["draw", "normal_map", "1"]).arg(picture), precision);
    String::from_utf8_lossy(&output.stderr).lines().filter(|line| line.starts_with("sig_")).count()
}

#[test]
fn powers_are_as_short_as_the_user_likes() {
    let [exact, estimated] = ["vulkan", "gl"].map(lines_of_code);
    assert!(estimated > 0 && estimated + 12 <= exact, "{estimated} of {exact} lines");
}

#[test]
fn frames_are_written_for_the_other_player() {
    let all = frames::all();
    assert!(all.len() >= 20);
    for frame in &all {
        let file = frames::write(frame);
        assert_eq!(&file[..4], b"VC4F", "{}", frame.name);
        assert_eq!(file.len() % 4, 0, "{} is a list of words", frame.name);
        let names = all.iter().filter(|other| other.name == frame.name);
        assert_eq!(names.count(), 1, "{} is one frame", frame.name);
    }
}
