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
