//! Every program of `vc4_tests::drawing` through the Vulkan loader on our driver (simulated VC4), held against
//! Mesa's lavapipe.

use std::path::{Path, PathBuf};

use vc4_tests::picture::Difference;
use vc4_tests::{drawing, driver, scratch};

fn run_all(manifest: &Path, name: &str) -> PathBuf {
    let directory = scratch::directory(env!("CARGO_TARGET_TMPDIR"), name);
    let mut command = driver::command(env!("CARGO_BIN_EXE_drawing"), manifest);
    driver::run(command.arg(&directory).env("VC4VK_DEBUG", "strict"), name);
    directory
}

#[test]
fn pictures_match_lavapipe() {
    let ours = run_all(&driver::ours(), "drawing-vc4");
    let reference = run_all(&driver::lavapipe(), "drawing-lavapipe");
    let mut failures = Vec::new();
    for case in drawing::all() {
        let difference = Difference::of_files(case.name, &ours, &reference).expect("two pictures");
        if difference.differing > case.differing || difference.worst_inside > case.inside {
            failures.push(format!("{}: {difference:?}", case.name));
        }
    }
    let (ours, reference) = (ours.display(), reference.display());
    assert!(failures.is_empty(), "pictures in {ours} and {reference}:\n{}", failures.join("\n"));
}
